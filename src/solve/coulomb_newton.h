/* coulomb_newton.h - the Newton step of the outer loop on s. */
#ifndef CAIRN_SOLVE_COULOMB_NEWTON_H
#define CAIRN_SOLVE_COULOMB_NEWTON_H

#include "base/arena.h"
#include "cairn/problem.h"
#include "math/lu.h"

/* What the step needs from one call to the next. */
typedef struct cairn_newton_step {
    const cairn_problem *p; /* in the local form                    */
    cairn_arena *arena;     /* reset at each step                   */
    cairn_lu *lu;
} cairn_newton_step;

/* s+ with F(s) + F'(s)(s+ - s) = s+, where F(s) = |u_T(s)|, at the solution r, u of the convex
 * problem with s. Entries may be negative. *regular is false when there is no such step. */
cairn_status cairn_newton_step_take(cairn_newton_step *step, const double *s, const double *r,
                                    const double *u, double *s_plus, bool *regular);

#endif
