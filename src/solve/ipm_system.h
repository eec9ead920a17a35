/* ipm_system.h - the linear system of an interior point step, S = I + L'W L, L = A'P c.
 *
 * S has one row for each variable of the cones, and is positive definite as W is never negative:
 *   block form   W = G G' with G = H M^-1/2, so S^-1 = I - L'G (I + G'L L'G)^-1 G'L: the matrix to
 *                factor has the size of the velocities, and a block for each pair in touch;
 *   local form   S itself, with the blocks of the symmetric part of W.
 * The pattern stays the same from step to step and is analysed once. */
#ifndef CAIRN_SOLVE_IPM_SYSTEM_H
#define CAIRN_SOLVE_IPM_SYSTEM_H

#include "math/cholesky.h"
#include "solve/ipm_cone.h"

/* A symmetric matrix in blocks of different sizes, upper triangle. */
typedef struct cairn_blocks {
    int count;       /* block rows                                                  */
    int32_t *first;  /* count + 1: first scalar row of each                         */
    int64_t *start;  /* count + 1: first pair of each block row                     */
    int64_t *pair;   /* row * count + column, ascending, column >= row              */
    int64_t *offset; /* of each pair: where its columns begin in a scalar row       */
    int64_t *scalar; /* scalar rows + 1: where they begin in `value`                */
    int32_t *column;
    double *value;
} cairn_blocks;

typedef struct cairn_normal {
    const cairn_cones *cones;
    cairn_problem linear; /* the problem without v_free, w, q: u = W r               */
    cairn_blocks blocks;
    cairn_cholesky *factor;
    double *mass_root;         /* block form: M^-1/2                                       */
    int64_t *where;            /* block form: pair of a and b of each contact, -1: none    */
    double *W;                 /* local form: 9 numbers a pair, symmetric part             */
    double *r, *u, *v;         /* scratch: impulses, relative velocities, velocities       */
    double *zero;              /* the v_free or q of `linear`                              */
    double *residual, *change; /* scratch: one per variable                            */
    double *L[2], *side[2];    /* scratch: factors of one contact                      */
} cairn_normal;

/* Lay out the system. `normal` can be destroyed even when this fails. */
cairn_status cairn_normal_create(const cairn_system *system, const cairn_cones *cones,
                                 cairn_arena *arena, cairn_normal *normal);
void cairn_normal_destroy(cairn_normal *normal);

/* Factor S for the scaling that the cones have now. */
cairn_status cairn_normal_factor(cairn_normal *normal, bool *positive);
/* s = S^-1 h, refined `refinements` times at most. */
cairn_status cairn_normal_solve(cairn_normal *normal, int refinements, const double *h, double *s);

#endif
