/* operator.h - products with the rows of one contact, for fixed small sizes.
 *
 * The loops are written for any size and called with constants, so that the compiler unrolls them
 * for the two sizes that worlds make: (2, 3) and (3, 6). */
#ifndef CAIRN_PROBLEM_OPERATOR_H
#define CAIRN_PROBLEM_OPERATOR_H

#include "cairn/problem.h"

#define CAIRN_INLINE static inline __attribute__((always_inline))

/* The rows of contact j on side 0 (a) or 1 (b). */
CAIRN_INLINE const double *cairn_rows(const cairn_problem *p, int d, int n, int j, int side)
{
    return p->H + ((size_t)j * 2 + (size_t)side) * (size_t)(d * n);
}

/* terms += H_ik v_k, kept apart so that the compiler may use wide registers. */
CAIRN_INLINE void cairn_rows_apply(int d, int n, const double *H, const double *v, double *terms)
{
    for (int i = 0; i < d; i++)
        for (int k = 0; k < n; k++)
            terms[i * n + k] += H[i * n + k] * v[k];
}

/* v += M^-1 H' r for one side. */
CAIRN_INLINE void cairn_rows_push(int d, int n, const double *H, const double *mass_inverse,
                                  const double *r, double *v)
{
    for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int i = 0; i < d; i++)
            sum += H[i * n + k] * r[i];
        v[k] += mass_inverse[k] * sum;
    }
}

/* u_j = H_j v + w_j, block form. */
CAIRN_INLINE void cairn_contact_relative(const cairn_problem *p, int d, int n, int j,
                                         const double *v, double *u)
{
    double terms[18] = { 0 };
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block >= 0)
            cairn_rows_apply(d, n, cairn_rows(p, d, n, j, side), v + (size_t)block * (size_t)n,
                             terms);
    }
    for (int i = 0; i < d; i++) {
        u[i] = p->w ? p->w[(size_t)j * (size_t)d + (size_t)i] : 0;
        for (int k = 0; k < n; k++)
            u[i] += terms[i * n + k];
    }
}

/* v += M^-1 H_j' r_j. */
CAIRN_INLINE void cairn_contact_push(const cairn_problem *p, int d, int n, int j, const double *r,
                                     double *v)
{
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        size_t first = (size_t)block * (size_t)n;
        if (block >= 0)
            cairn_rows_push(d, n, cairn_rows(p, d, n, j, side), p->mass_inverse + first, r,
                            v + first);
    }
}

/* The normal shift b + mu s of contact j. */
CAIRN_INLINE double cairn_contact_shift(const cairn_problem *p, int j)
{
    return (p->b ? p->b[j] : 0) + (p->s ? p->mu[j] * p->s[j] : 0);
}

/* Projection of contact j's vector onto its cone. */
CAIRN_INLINE void cairn_contact_project(const cairn_problem *p, int j, double *r)
{
    if (p->directions)
        cairn_cone_project_polygon(p->directions, p->mu[j], r);
    else
        cairn_cone_project(p->dimension, p->mu[j], r);
}

/* u_j = (W r)_j + q_j, local form. */
void cairn_contact_relative_local(const cairn_problem *p, int j, const double *r, double *u);
/* u_j when v and r belong together, any form. */
void cairn_contact_velocity(const cairn_problem *p, int j, const double *r, const double *v,
                            double *u);
/* v = v_free + M^-1 H' r; nothing in the local form. */
void cairn_problem_velocity(const cairn_problem *p, const double *r, double *v);
/* u = H v + w, in the local form W r + q. */
void cairn_problem_relative(const cairn_problem *p, const double *r, const double *v, double *u);
/* trace(W_jj)/d: the contact's own inverse mass, kg^-1. */
double cairn_contact_inverse_mass(const cairn_problem *p, int j);
/* W_jj = H_j M^-1 H_j' as a lower triangle (see local.h); the symmetric part in the local form. */
void cairn_contact_delassus(const cairn_problem *p, int j, double *W);

#endif
