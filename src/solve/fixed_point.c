/* fixed_point.c - exact Coulomb friction around convex solves: by a fixed point, everywhere or
 * only where the convex law is too far from it. */
#include <math.h>

#include "base/common.h"
#include "problem/cut.h"
#include "problem/operator.h"
#include "solve/solver.h"

/* ---- everywhere -------------------------------------------------------------------------- */

/* Exact Coulomb friction by a fixed point around convex solves ([BL23], 2.2.4).
 *
 *   (1) solve the convex problem with the sliding correction s
 *   (2) s+ = |u_T|
 *   (3) stop when max |s+ - s|/(s+ + 1) <= tolerance ([BL23]), or when the judge's Coulomb
 *       residual of (1) meets the solver's tolerance
 * A fixed point s = |u_T(s)| turns the convex constraint into Coulomb's law. In the second mode
 * the inner solves are only as accurate as the outer progress deserves. No proof of convergence
 * for large friction: not reaching the tolerance is reported, and the loop ends after MOST_MISSED
 * inner solves in a row that brought the law no nearer. */
enum { MOST_MISSED = 20 };
static const double better = 0.9; /* of the best residual so far: nearer */

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
    return cairn_link_largest(cairn_problem_link(p), largest);
}

/* The tolerance of the next inner solve. */
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
    double coulomb = 1, best = INFINITY;
    int missed = 0;
    while (!converged && outer < loop->max_outer && (by_change || missed < MOST_MISSED)) {
        if (!by_change)
            inner.tolerance = inner_tolerance(options, coulomb);
        TRY(cairn_solve(&convex, &inner, workspace, loop->r, loop->v, loop->u, report));
        double change = update_sliding(p, loop->u, loop->s);
        coulomb = report->judgement.coulomb.relative;
        converged = by_change ? change <= loop->increment_tolerance : coulomb <= options->tolerance;
        missed = coulomb < better * best ? 0 : missed + 1;
        best = coulomb < best ? coulomb : best;
        iterations += report->iterations;
        outer++;
    }
    report->converged = converged && report->converged;
    report->iterations = iterations;
    report->outer_iterations = outer;
    cairn_judge(p, CAIRN_LAW_COULOMB, loop->r, loop->v, loop->u, &report->judgement);
    return CAIRN_OK;
}

/* ---- where it is worth its price --------------------------------------------------------- */

/* Exact Coulomb friction only where the convex law is too far from it.
 *
 * The convex law opens a contact that slides and pushes with the speed mu |u_T|. Contacts where
 * that is more than allowed are upgraded: they get the sliding correction s = |u_T|, which makes
 * the law Coulomb's, all others keep s = 0.
 *
 *   (1) solve the convex problem with s
 *   (2) s = |u_T| at the upgraded contacts; the mixed law is the convex one with this s
 *   (3) once the mixed law meets the tolerance: upgrade what pushes with mu |u_T| > allowed; the
 *       set only grows
 *   (4) stop when (3) found none
 * With every contact upgraded this is the fixed point above, and as little is proved about it. */

/* |u_T| of contact j */
static double sliding(const cairn_problem *p, const double *u, int j)
{
    return cairn_sliding_speed(p->dimension, p->directions, u + (size_t)j * (size_t)p->dimension);
}

/* (2), and the residual of the mixed law */
static double judge_mixed(const cairn_problem *mixed, cairn_upgrade *upgrade,
                          cairn_solve_report *report)
{
    const cairn_sliding_loop *loop = &upgrade->loop;
    for (int j = 0; j < mixed->contacts; j++)
        loop->s[j] = upgrade->exact[j] ? sliding(mixed, loop->u, j) : 0;
    cairn_judge(mixed, CAIRN_LAW_CONVEX, loop->r, loop->v, loop->u, &report->judgement);
    return report->judgement.asked.relative;
}

/* (3): how many were added, by all members */
static int grow(const cairn_problem *p, cairn_upgrade *upgrade)
{
    const double *r = upgrade->loop.r, *u = upgrade->loop.u;
    int64_t added = 0;
    for (int j = 0; j < p->contacts; j++) {
        bool pushes = r[(size_t)j * (size_t)p->dimension] > 0;
        if (upgrade->exact[j] || !pushes || !(p->mu[j] * sliding(p, u, j) > upgrade->allowed))
            continue;
        upgrade->exact[j] = 1;
        added += cairn_contact_counts(p, j);
    }
    added = cairn_link_sum(cairn_problem_link(p), added);
    upgrade->count += (int)added;
    return (int)added;
}

/* Without upgraded contacts one solve is all; else as accurate as the outer progress deserves. */
static double upgrade_tolerance(const cairn_upgrade *upgrade, double asked, double residual)
{
    return upgrade->count == 0 ? asked : fmin(0.1, fmax(0.5 * asked, 0.2 * residual));
}

static void count_upgraded(const cairn_problem *p, cairn_upgrade *upgrade)
{
    int64_t count = 0;
    for (int j = 0; j < p->contacts; j++)
        count += upgrade->exact[j] && cairn_contact_counts(p, j);
    upgrade->count = (int)cairn_link_sum(cairn_problem_link(p), count);
}

cairn_status cairn_solve_upgrade(const cairn_problem *p, const cairn_solve_options *options,
                                 cairn_upgrade *upgrade, cairn_workspace *workspace,
                                 cairn_solve_report *report)
{
    const cairn_sliding_loop *loop = &upgrade->loop;
    cairn_problem mixed = *p;
    cairn_solve_options inner = *options;
    int64_t outer = 0, iterations = 0;
    bool converged = false;
    double residual = 1;
    mixed.s = loop->s;
    inner.law = CAIRN_LAW_CONVEX;
    count_upgraded(p, upgrade);
    while (!converged && outer < loop->max_outer && (outer == 0 || inner.max_iterations > 0)) {
        inner.tolerance = upgrade_tolerance(upgrade, options->tolerance, residual);
        TRY(cairn_solve(&mixed, &inner, workspace, loop->r, loop->v, loop->u, report));
        iterations += report->iterations;
        inner.max_iterations -= report->iterations;
        outer++;
        residual = judge_mixed(&mixed, upgrade, report);
        if (residual > options->tolerance)
            continue;
        converged = grow(p, upgrade) == 0;
        if (!converged) /* the residual with the larger set */
            residual = judge_mixed(&mixed, upgrade, report);
    }
    report->converged = converged;
    report->iterations = iterations;
    report->outer_iterations = outer;
    return CAIRN_OK;
}
