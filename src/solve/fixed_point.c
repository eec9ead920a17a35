/* fixed_point.c - exact Coulomb friction by a fixed point around convex solves ([BL23], 2.2.4).
 *
 *   (1) solve the convex problem with the sliding correction s
 *   (2) s+ = |u_T|
 *   (3) stop when max |s+ - s|/(s+ + 1) <= tolerance ([BL23]), or when the judge's Coulomb
 *       residual of (1) meets the solver's tolerance
 * A fixed point s = |u_T(s)| turns the convex constraint into Coulomb's law. In the second mode
 * the inner solves are only as accurate as the outer progress deserves. No proof of convergence
 * for large friction: not reaching the tolerance is reported. */
#include <math.h>

#include "base/status.h"
#include "problem/segments.h"
#include "solve/solver.h"

/* (2), and the paper's measure of its change; where there are rows with bounds nothing slides */
static double update_sliding(const cairn_problem *p, const double *u, double *s)
{
    double largest = 0;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; j < w.at; j++) {
            const double *own = u + (size_t)j * (size_t)p->dimension;
            bool rows = w.now.kind == CAIRN_KIND_ROWS;
            double speed = rows ? 0 : cairn_sliding_speed(p->dimension, p->directions, own);
            largest = fmax(largest, fabs(speed - s[j]) / (speed + 1));
            s[j] = speed;
        }
    return largest;
}

/* How accurate the next inner solve should be. */
static double inner_tolerance(const cairn_solve_options *options, double coulomb)
{
    double deserved = 0.2 * coulomb;
    return fmin(0.1, fmax(0.5 * options->tolerance, deserved));
}

cairn_status cairn_solve_fixed_point(const cairn_problem *p, const cairn_solve_options *options,
                                     const cairn_sliding_loop *loop, cairn_workspace *workspace,
                                     cairn_solve_report *report)
{
    if (p->rolling + p->spinning)
        return CAIRN_UNSUPPORTED; /* s speaks of sliding only */
    cairn_problem convex = *p;
    cairn_solve_options inner = *options;
    convex.s = loop->s;
    inner.law = CAIRN_LAW_CONVEX;
    int64_t outer = 0, iterations = 0;
    bool converged = false, by_change = loop->increment_tolerance > 0;
    double coulomb = 1;
    while (!converged && outer < loop->max_outer) {
        if (!by_change)
            inner.tolerance = inner_tolerance(options, coulomb);
        TRY(cairn_solve(&convex, &inner, workspace, loop->r, loop->v, loop->u, report));
        double change = update_sliding(p, loop->u, loop->s);
        coulomb = report->judgement.coulomb.relative;
        converged = by_change ? change <= loop->increment_tolerance : coulomb <= options->tolerance;
        iterations += report->iterations;
        outer++;
    }
    report->converged = converged && report->converged;
    report->iterations = iterations;
    report->outer_iterations = outer;
    cairn_judge(p, CAIRN_LAW_COULOMB, loop->r, loop->v, loop->u, &report->judgement);
    return CAIRN_OK;
}
