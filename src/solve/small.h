/* small.h - a few contacts given by W: sweeps with nothing around them. */
#ifndef CAIRN_SOLVE_SMALL_H
#define CAIRN_SOLVE_SMALL_H

#include "base/arena.h"
#include "cairn/solve.h"

/* Whether a problem is one for cairn_small_solve. */
bool cairn_small_accepts(const cairn_problem *p, const cairn_solve_options *options);

/* Solve it from r, or find out that sweeps take longer than other methods. report->converged says
 * which; then r is the answer, u its velocities, and all of the report but the solver's name is
 * filled. Otherwise r is where to go on, and only report->iterations counts. */
cairn_status cairn_small_solve(const cairn_problem *p, const cairn_solve_options *options,
                               cairn_arena *arena, double *r, double *u,
                               cairn_solve_report *report);

#endif
