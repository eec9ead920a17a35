/* operator.h - products with the rows of one contact, for fixed small sizes.
 *
 * The loops are written for any size and called with constants, so that the compiler unrolls them
 * for the two sizes that worlds make: (2, 3) and (3, 6). */
#ifndef CAIRN_PROBLEM_OPERATOR_H
#define CAIRN_PROBLEM_OPERATOR_H

#include "problem/cone.h"

/* Numbers in the lower triangle of the largest W_jj. */
enum { CAIRN_TRIANGLE = CAIRN_MAX_DIMENSION * (CAIRN_MAX_DIMENSION + 1) / 2 };

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

/* u_j = H_j v + w_j, with d * n numbers of scratch that are 0. */
CAIRN_INLINE void cairn_contact_sum(const cairn_problem *p, int d, int n, int j, const double *v,
                                    double *terms, double *u)
{
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

/* u_j = H_j v + w_j, block form. */
CAIRN_INLINE void cairn_contact_relative(const cairn_problem *p, int d, int n, int j,
                                         const double *v, double *u)
{
    if (d * n <= 18) { /* what worlds make stays in registers */
        double terms[18] = { 0 };
        cairn_contact_sum(p, d, n, j, v, terms, u);
    } else {
        double terms[CAIRN_MAX_DIMENSION * 6] = { 0 };
        cairn_contact_sum(p, d, n, j, v, terms, u);
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

/* Whether contact j is a block of rows with bounds. */
CAIRN_INLINE bool cairn_is_bounded(const cairn_problem *p, int j)
{
    return p->bounded && p->bounded[j];
}

/* The normal bias b of contact j; rows with bounds have none. */
CAIRN_INLINE double cairn_contact_bias(const cairn_problem *p, int j)
{
    return p->b && !cairn_is_bounded(p, j) ? p->b[j] : 0;
}

/* The normal shift b + mu s of contact j. */
CAIRN_INLINE double cairn_contact_shift(const cairn_problem *p, int j)
{
    bool slides = p->s && !cairn_is_bounded(p, j);
    return cairn_contact_bias(p, j) + (slides ? p->mu[j] * p->s[j] : 0);
}

/* u += eps r for the rows of contact j: u becomes the y of the law. */
CAIRN_INLINE void cairn_contact_comply(const cairn_problem *p, int j, const double *r, double *u)
{
    if (!p->compliance || !cairn_is_bounded(p, j))
        return;
    const double *eps = p->compliance + (size_t)j * (size_t)p->dimension;
    for (int i = 0; i < p->dimension; i++)
        u[i] += eps[i] * r[i];
}

/* Projection of contact j's vector of d components onto its cone or its bounds. */
CAIRN_INLINE void cairn_contact_project(const cairn_problem *p, int d, int j, double *r)
{
    if (cairn_is_bounded(p, j))
        cairn_rows_project(p, j, r);
    else if (p->directions)
        cairn_cone_project_polygon(p->directions, p->mu[j], r);
    else if (p->rolling + p->spinning)
        cairn_cone_project_parts(p, j, r);
    else
        cairn_circle_project(d, p->mu[j], r);
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
/* W_jj = H_j M^-1 H_j' as a lower triangle (see local.h); the symmetric part in the local form.
 * Rows with bounds have their compliance on the diagonal. */
void cairn_contact_delassus(const cairn_problem *p, int j, double *W);
/* trace(W_jj)/d: the contact's own inverse mass, kg^-1. */
double cairn_contact_inverse_mass(const cairn_problem *p, int j);
/* A scale > 0 for each component of contact j, kg^-1: trace(W_jj)/d for a contact; W_ii for a row
 * with bounds, so that rows in m/s and in rad/s may share a block. 1 where nothing can move. */
void cairn_contact_scales(const cairn_problem *p, int j, double *scale);

#endif
