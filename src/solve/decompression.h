/* decompression.h - the second phase of an impact by Poisson's law. */
#ifndef CAIRN_SOLVE_DECOMPRESSION_H
#define CAIRN_SOLVE_DECOMPRESSION_H

#include "base/arena.h"
#include "cairn/solve.h"

/* M (v - v_free) = H' r,  r = compression + x,  and for each contact
 *     x in C = {|x_T| <= mu x_N, x_N >= floor},  x_N - floor ⟂ u_N + b >= 0,
 * friction by the requested law with the velocity at the end. Cones are circular. Either form of
 * the problem; its s is ignored. */
typedef struct cairn_decompression {
    const cairn_problem *p;
    const double *compression; /* N s, dimension per contact: impulses of the first phase    */
    const double *floor;       /* N s, per contact: least normal impulse of the second phase */
    cairn_arena *arena;        /* scratch, for problems that are cut into parts; may be NULL */
} cairn_decompression;

/* Judge r like cairn_judge, with P_C of x in place of P_K of r. The denominator of `relative` is
 * the norm of q of the contacts with q_N < 0, as there, and of the velocities by the floors
 * alone. */
void cairn_decompression_judge(const cairn_decompression *d, cairn_law law, const double *r,
                               double *v, double *u, cairn_judgement *out);

/* Solve by block Gauss-Seidel sweeps; options->solver is ignored. On entry r is the start, on
 * return the solution. */
cairn_status cairn_decompression_solve(const cairn_decompression *d,
                                       const cairn_solve_options *options, double *r, double *v,
                                       double *u, cairn_solve_report *report);

/* Add the report of the compression to that of the decompression: sums of the work, the worse of
 * the residuals. */
void cairn_decompression_report(const cairn_solve_report *first, cairn_solve_report *report);

#endif
