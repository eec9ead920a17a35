/* upgrade.c - exact Coulomb friction only where the convex law is too far from it.
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
 * With every contact upgraded this is fixed_point.c, and has no more of a proof than that. */
#include <math.h>

#include "base/status.h"
#include "solve/solver.h"

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

/* (3): how many were added */
static int grow(const cairn_problem *p, cairn_upgrade *upgrade)
{
    const double *r = upgrade->loop.r, *u = upgrade->loop.u;
    int added = 0;
    for (int j = 0; j < p->contacts; j++) {
        bool pushes = r[(size_t)j * (size_t)p->dimension] > 0;
        if (upgrade->exact[j] || !pushes || !(p->mu[j] * sliding(p, u, j) > upgrade->allowed))
            continue;
        upgrade->exact[j] = 1;
        added++;
    }
    upgrade->count += added;
    return added;
}

/* Without upgraded contacts one solve is all; else as accurate as the outer progress deserves. */
static double inner_tolerance(const cairn_upgrade *upgrade, double asked, double residual)
{
    return upgrade->count == 0 ? asked : fmin(0.1, fmax(0.5 * asked, 0.2 * residual));
}

static void count_upgraded(int contacts, cairn_upgrade *upgrade)
{
    upgrade->count = 0;
    for (int j = 0; j < contacts; j++)
        upgrade->count += upgrade->exact[j] != 0;
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
    count_upgraded(p->contacts, upgrade);
    while (!converged && outer < loop->max_outer && (outer == 0 || inner.max_iterations > 0)) {
        inner.tolerance = inner_tolerance(upgrade, options->tolerance, residual);
        TRY(cairn_solve(&mixed, &inner, workspace, loop->r, loop->v, loop->u, report));
        iterations += report->iterations;
        inner.max_iterations -= report->iterations;
        outer++;
        residual = judge_mixed(&mixed, upgrade, report);
        if (residual > options->tolerance)
            continue;
        converged = grow(p, upgrade) == 0;
        if (!converged) /* by how much the larger set is off */
            residual = judge_mixed(&mixed, upgrade, report);
    }
    report->converged = converged;
    report->iterations = iterations;
    report->outer_iterations = outer;
    return CAIRN_OK;
}
