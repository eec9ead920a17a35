/* scalar.h - the back end "scalar": the formulas written out in plain C, in double, on one thread.
 * It is the reference that the other back ends are tested against. For this reason it shares only
 * the formulas of a single contact with the rest of the library: projections (problem/cone.h),
 * exact solves (problem/cone.h) and the rows of a contact. */
#ifndef CAIRN_BACKEND_SCALAR_H
#define CAIRN_BACKEND_SCALAR_H

#include "backend/backend.h"

/* The denominators of relative residuals: sums over contacts of the velocities q that they would
 * have without impulses. They depend on the problem alone and are computed once. */
typedef struct cairn_scalar_norms {
    bool known;                       /* computed already */
    double closing2[CAIRN_LAW_COUNT]; /* the closing part of q under each law, squared */
    double q2, terms2;                /* |q|^2; sum of squares of all terms of q       */
} cairn_scalar_norms;

/* A problem prepared for this back end: the rows of all contacts written out, and the diagonal
 * blocks W_jj. The problem itself is not copied and must outlive the system. */
typedef struct cairn_scalar_system {
    const cairn_problem *p;
    cairn_room room;
    int contacts, d, blocks, n; /* contacts of d components, blocks of n */
    double *H;                  /* per contact and side a d x n matrix; none in the local form.
                                   NULL: all are of balls, and rows follow from the normals    */
    double *W;                  /* per contact W_jj with the compliance, d x d; NULL likewise  */
    double *shift;              /* per contact b + mu s; 0 for rows with bounds                */
    cairn_scalar_norms norms;
} cairn_scalar_system;

/* A vector in an array of its own; `home` is the caller's array that upload reads and download
 * writes, NULL if the vector has none. */
typedef struct cairn_scalar_vector {
    double *x, *home;
    int count;
} cairn_scalar_vector;

/* Impulses and velocities of sweeps, v = v_free + M^-1 H' r up to rounding, and the points from
 * which their momentum is measured (cairn_momentum). */
typedef struct cairn_scalar_state {
    const cairn_scalar_system *s;
    double *r, *v, *r_point, *v_point;
} cairn_scalar_state;

/* Sums over contacts by one law: sum e_j^2; the sum of the natural map without scaling, as in
 * FCLib; the largest e_j, m/s, and its contact, -1 if none has an error. */
typedef struct cairn_scalar_law_sums {
    double e2, fclib2, worst, share;
    int worst_contact;
} cairn_scalar_law_sums;

/* What one pass over all contacts finds. Both laws are judged at once.
 *   r2, u2     |r|^2, |u + b n|^2
 *   terms2     squares of all terms of u: its rounding errors are relative to them
 *   drowned2   sum (w_j |r_j|)^2: the rounding of r itself, as a speed
 *   burden     with scales: largest w_j |r_j| over what the error of j is related to
 *   noise2     the rounding of u of the contact that is judged now, squared
 *   violation  largest distance of an r_j from its cone, N s */
typedef struct cairn_scalar_verdict {
    cairn_scalar_law_sums law[CAIRN_LAW_COUNT];
    double r2, u2, terms2, drowned2, burden, noise2, violation;
} cairn_scalar_verdict;

/* The table declares opaque types; these functions convert them back to this back end's types. */
static inline const cairn_scalar_system *cairn_scalar_of(const cairn_system *s)
{
    return (const cairn_scalar_system *)s;
}

static inline double *cairn_scalar_numbers(const cairn_vector *x)
{
    return ((const cairn_scalar_vector *)x)->x;
}

/* `count` doubles, all zero. NULL: no memory. */
double *cairn_scalar_take(const cairn_scalar_system *s, size_t count);

/* ---- one contact: contact.c and judge.c ---------------------------------------------------- */

/* H of one side of contact j, d x n by rows, and W_jj; written to `room`, of 18 and of 9 numbers,
 * if they are not stored. */
const double *cairn_scalar_rows(const cairn_scalar_system *s, int j, int side, double *room);
const double *cairn_scalar_block(const cairn_scalar_system *s, int j, double *room);
/* Write out the rows of contact j and W_jj, if they are to be stored, and its shift. */
void cairn_scalar_fill(const cairn_scalar_system *s, int j);
/* u_j = H_j v + w_j, in the local form (W r)_j + q_j */
void cairn_scalar_relative(const cairn_scalar_system *s, int j, const double *r, const double *v,
                           double *u);
/* One side of the same: v += M^-1 H_j' r_j for the velocity v of its block. */
void cairn_scalar_push_side(const cairn_scalar_system *s, int j, int side, const double *r_j,
                            double *v);
/* v += M^-1 H_j' r_j */
void cairn_scalar_push(const cairn_scalar_system *s, int j, const double *r_j, double *v);
/* r_j = P_K(r_j) */
void cairn_scalar_project(const cairn_problem *p, int j, double *r_j);
/* y_j += eps r_j for rows with bounds */
void cairn_scalar_comply(const cairn_scalar_system *s, int j, const double *r_j, double *y_j);
/* A scale > 0 for each component of contact j, in 1/kg: W_ii for rows with bounds, the mean of the
 * diagonal of W_jj for contacts, 1 if nothing can move. */
void cairn_scalar_scales(const cairn_scalar_system *s, int j, double *w);
/* b of a contact; 0 for rows with bounds. */
double cairn_scalar_bias(const cairn_scalar_system *s, int j);

/* Replace r_j by its solution, update the velocities, and add to the sums of a sweep. */
void cairn_scalar_visit(const cairn_scalar_state *own, int j, cairn_law law, cairn_sweep *out);
/* Judge contact j: u_j is written, the sums are added to. */
void cairn_scalar_judge_contact(const cairn_scalar_system *s, int j, const double *r,
                                const double *v, double *u, cairn_scalar_verdict *out);
/* Add the velocity q that contact j has without impulses to the norms. `zero` are impulses of 0. */
void cairn_scalar_measure_contact(const cairn_scalar_system *s, int j, const double *zero,
                                  cairn_scalar_norms *norms);

/* ---- all contacts -------------------------------------------------------------------------- */

/* v = v_free + M^-1 H' r */
void cairn_scalar_velocity(const cairn_scalar_system *s, const double *r, double *v);
/* S_j, to which the error of contact j is related, raised to w |r_j|; 0: there are no scales. */
double cairn_scalar_error_scale(const cairn_problem *p, int j, double weighed2);
/* w |r_j|, related to the same velocity, counts among the largest; not if its rounding is within
 * that of u. */
void cairn_scalar_take_burden(const cairn_problem *p, double weighed2, double scale,
                              cairn_scalar_verdict *out);
/* The denominator of the relative residual of a law. */
double cairn_scalar_scale_of(const cairn_scalar_norms *norms, cairn_law law);
/* The judgement from the sums over all contacts. */
void cairn_scalar_conclude(const cairn_scalar_norms *norms, cairn_law law, bool scaled,
                           const cairn_scalar_verdict *found, cairn_judgement *out);

/* Functions of the table that are implemented below it, and in judge.c. */
cairn_status cairn_scalar_create(const cairn_problem *p, const cairn_room *room,
                                 cairn_system **out);
void cairn_scalar_judge(cairn_system *s, cairn_law law, const cairn_vector *r, cairn_vector *v,
                        cairn_vector *u, cairn_judgement *out);
double cairn_scalar_scale(const cairn_system *s, cairn_law law);
cairn_status cairn_scalar_begin(cairn_system *s, bool coarse, const cairn_vector *r,
                                const cairn_vector *v, cairn_sweeping **out);
cairn_sweep cairn_scalar_sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum);
void cairn_scalar_unload(const cairn_sweeping *state, cairn_vector *r);
void cairn_scalar_load_velocities(cairn_sweeping *state, const cairn_vector *v);
void cairn_scalar_refresh(cairn_sweeping *state);

#endif
