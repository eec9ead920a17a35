/* operator.c - v = v_free + M^-1 H' r and u = H v + w without forming W. */
#include "problem/operator.h"

#include <string.h>

static inline __attribute__((always_inline)) void push_all(const cairn_problem *p, int d, int n,
                                                           const double *r, double *v)
{
    for (int j = 0; j < p->contacts; j++)
        cairn_contact_push(p, d, n, j, r + (size_t)j * (size_t)d, v);
}

void cairn_problem_velocity(const cairn_problem *p, const double *r, double *v)
{
    memcpy(v, p->v_free, sizeof(double) * (size_t)p->blocks * (size_t)p->block_size);
    if (p->dimension == 3 && p->block_size == 6)
        push_all(p, 3, 6, r, v);
    else if (p->dimension == 2 && p->block_size == 3)
        push_all(p, 2, 3, r, v);
    else
        push_all(p, p->dimension, p->block_size, r, v);
}

static inline __attribute__((always_inline)) void relative_all(const cairn_problem *p, int d, int n,
                                                               const double *v, double *u)
{
    for (int j = 0; j < p->contacts; j++)
        cairn_contact_relative(p, d, n, j, v, u + (size_t)j * (size_t)d);
}

void cairn_problem_relative(const cairn_problem *p, const double *v, double *u)
{
    if (p->dimension == 3 && p->block_size == 6)
        relative_all(p, 3, 6, v, u);
    else if (p->dimension == 2 && p->block_size == 3)
        relative_all(p, 2, 3, v, u);
    else
        relative_all(p, p->dimension, p->block_size, v, u);
}

void cairn_contact_delassus(const cairn_problem *p, int j, double *W)
{
    int d = p->dimension, n = p->block_size;
    memset(W, 0, sizeof(double) * (size_t)(d * (d + 1) / 2));
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block < 0)
            continue;
        const double *H = cairn_rows(p, d, n, j, side);
        const double *inverse = p->mass_inverse + (size_t)block * (size_t)n;
        for (int i = 0, entry = 0; i < d; i++)
            for (int l = 0; l <= i; l++, entry++)
                for (int k = 0; k < n; k++)
                    W[entry] += H[i * n + k] * inverse[k] * H[l * n + k];
    }
}

double cairn_contact_inverse_mass(const cairn_problem *p, int j)
{
    int d = p->dimension, n = p->block_size;
    double trace = 0;
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block < 0)
            continue;
        const double *H = cairn_rows(p, d, n, j, side);
        const double *inverse = p->mass_inverse + (size_t)block * (size_t)n;
        for (int i = 0; i < d; i++)
            for (int k = 0; k < n; k++)
                trace += H[i * n + k] * inverse[k] * H[i * n + k];
    }
    return trace / d;
}
