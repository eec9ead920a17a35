/* active_set_factor.c - a Cholesky factor that members join and leave.
 *
 * join: the new row of L is (l', sqrt(curvature)) with l = L^-1 G_Ap, curvature = G_pp - l'l
 * leave: L without row k has one entry too many in each later row; plane rotations of neighbouring
 * columns take them off. Both cost the square of the number of members. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "solve/active_set.h"

/* A curvature below this part of G_pp is rounding. */
static const double dependent = 1e-10;

static double *row_of(const cairn_active *a, int i)
{
    return a->L + (size_t)i * (size_t)a->most;
}

cairn_status cairn_active_create(int size, const double *G, int most, cairn_arena *arena,
                                 cairn_active *out)
{
    *out = (cairn_active){ .size = size, .G = G, .most = most };
    out->member = cairn_arena_take(arena, (size_t)most, sizeof(int));
    out->L = cairn_arena_take(arena, (size_t)most * (size_t)most, sizeof(double));
    out->row = cairn_arena_take(arena, (size_t)most, sizeof(double));
    return out->member && out->L && out->row ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* x = L^-1 x */
static void solve_lower(const cairn_active *a, double *x)
{
    for (int i = 0; i < a->count; i++) {
        const double *L = row_of(a, i);
        for (int k = 0; k < i; k++)
            x[i] -= L[k] * x[k];
        x[i] /= L[i];
    }
}

/* x = L'^-1 x */
static void solve_upper(const cairn_active *a, double *x)
{
    for (int i = a->count - 1; i >= 0; i--) {
        const double *L = row_of(a, i);
        x[i] /= L[i];
        for (int k = 0; k < i; k++)
            x[k] -= L[k] * x[i];
    }
}

void cairn_active_solve(const cairn_active *a, double *x)
{
    solve_lower(a, x);
    solve_upper(a, x);
}

double cairn_active_probe(cairn_active *a, int p, double *d)
{
    const double *G = a->G + (size_t)p * (size_t)a->size;
    double curvature = G[p];
    for (int i = 0; i < a->count; i++)
        a->row[i] = G[a->member[i]];
    solve_lower(a, a->row);
    for (int i = 0; i < a->count; i++) {
        curvature -= a->row[i] * a->row[i];
        d[i] = -a->row[i];
    }
    solve_upper(a, d);
    return a->count < a->most && curvature > dependent * G[p] ? curvature : 0;
}

void cairn_active_add(cairn_active *a, int p, double curvature)
{
    double *L = row_of(a, a->count);
    memcpy(L, a->row, (size_t)a->count * sizeof(double));
    L[a->count] = sqrt(curvature);
    a->member[a->count++] = p;
}

/* The rotation of columns k and k + 1 that makes entry (i = k, k + 1) zero, in the rows from k. */
static void rotate(cairn_active *a, int k)
{
    double *first = row_of(a, k), length = hypot(first[k], first[k + 1]);
    double c = first[k] / length, s = first[k + 1] / length;
    for (int i = k; i < a->count; i++) {
        double *L = row_of(a, i), x = L[k], y = L[k + 1];
        L[k] = c * x + s * y;
        L[k + 1] = c * y - s * x;
    }
}

void cairn_active_drop(cairn_active *a, int k)
{
    a->count--;
    for (int i = k; i < a->count; i++) {
        a->member[i] = a->member[i + 1];
        memcpy(row_of(a, i), row_of(a, i + 1), ((size_t)i + 2) * sizeof(double));
    }
    for (int i = k; i < a->count; i++)
        rotate(a, i);
}
