/* scalar.h - the back end "scalar": the formulas written out in plain C, in double, on one thread.
 * It is the oracle of the others. Of the rest of the library it takes the formulas of one contact
 * only: projections (problem/cone.h), exact solves (problem/local.h) and the rows of a contact. */
#ifndef CAIRN_BACKEND_SCALAR_H
#define CAIRN_BACKEND_SCALAR_H

#include "backend/backend.h"

/* What residuals are relative to: sums over contacts of the velocities q without impulses. */
typedef struct cairn_scalar_norms {
    bool known;
    double closing2[CAIRN_LAW_COUNT]; /* the closing part of q under each law, squared */
    double q2, terms2;                /* |q|^2, squares of all terms of q              */
} cairn_scalar_norms;

/* A problem's copy: rows of all contacts written out, and their own W_jj. */
typedef struct cairn_scalar_system {
    const cairn_problem *p;
    cairn_room room;
    int contacts, d, blocks, n; /* contacts of d components, blocks of n */
    double *H;                  /* per contact and side a d x n matrix; none in the local form */
    double *W;                  /* per contact W_jj with the compliance, d x d                 */
    double *shift;              /* per contact b + mu s; 0 for rows with bounds                */
    uint8_t *kind;              /* per contact: a cairn_contact_kind                           */
    cairn_scalar_norms norms;
} cairn_scalar_system;

/* Numbers in an array of their own. */
typedef struct cairn_scalar_vector {
    double *x, *home;
    int count;
} cairn_scalar_vector;

/* The other way round from the names that the table gives them. */
static inline const cairn_scalar_system *cairn_scalar_of(const cairn_system *s)
{
    return (const cairn_scalar_system *)s;
}

static inline double *cairn_scalar_numbers(const cairn_vector *x)
{
    return ((const cairn_scalar_vector *)x)->x;
}

/* `count` numbers, 0. NULL: no memory. */
double *cairn_scalar_take(const cairn_scalar_system *s, size_t count);

/* v = v_free + M^-1 H' r */
void cairn_scalar_velocity(const cairn_scalar_system *s, const double *r, double *v);
/* u_j = H_j v + w_j, in the local form (W r)_j + q_j */
void cairn_scalar_relative(const cairn_scalar_system *s, int j, const double *r, const double *v,
                           double *u);
/* v += M^-1 H_j' r_j */
void cairn_scalar_push(const cairn_scalar_system *s, int j, const double *r_j, double *v);
/* r_j = P_K(r_j) */
void cairn_scalar_project(const cairn_problem *p, int j, double *r_j);
/* y_j += eps r_j for rows with bounds */
void cairn_scalar_comply(const cairn_scalar_system *s, int j, const double *r_j, double *y_j);
/* A scale > 0 of each component of contact j, kg^-1. */
void cairn_scalar_scales(const cairn_scalar_system *s, int j, double *w);
bool cairn_scalar_is_bounded(const cairn_scalar_system *s, int j);
/* b of a contact; 0 for rows with bounds. */
double cairn_scalar_bias(const cairn_scalar_system *s, int j);

/* system.c, judge.c and sweep.c: as in the table. */
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
