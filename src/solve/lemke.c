/* lemke.c - exact solutions of small problems with polyhedral cones: the LCP of problem/lcp.c,
 * solved by Lemke's algorithm (lemke_tableau.c).
 *
 *   (1) the warm start is judged; if it will do, nothing is done
 *   (2) build the LCP of the law
 *   (3) Lemke's algorithm; each pivot is an iteration
 *   (4) r from z, judged
 * Rows with bounds are unknowns of their own, those without bounds free ones.
 * 2D problems, where the two-sided cone is Coulomb's own, and 3D ones with edges. For Coulomb's law
 * solutions need not be unique, velocities included. */
#include <stdio.h>

#include "base/status.h"
#include "solve/lemke.h"

static bool accepts(cairn_law law, const cairn_problem *p)
{
    return cairn_lcp_possible(p) && cairn_lemke_fits(cairn_lcp_size(p, law));
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    const cairn_problem *p = task->p;
    cairn_law law = task->options->law;
    cairn_solve_report *report = task->report;
    cairn_lcp lcp;
    cairn_lemke_end end = CAIRN_LEMKE_SOLVED;
    report->converged = cairn_task_judge_array(task, r);
    if (report->converged)
        return CAIRN_OK;
    TRY(cairn_lcp_create(p, law, task->arena, &lcp));
    double *z = cairn_arena_take(task->arena, (size_t)lcp.size, sizeof(double));
    if (!z)
        return CAIRN_NO_MEMORY;
    TRY(cairn_lemke(&lcp, task, z, &end));
    cairn_lcp_impulses(p, law, z, r);
    report->converged = cairn_task_judge_array(task, r);
    const char *words = cairn_lemke_words(end);
    if (!report->converged)
        snprintf(report->remark, sizeof report->remark, "%s",
                 words ? words : "solved up to rounding, which misses the tolerance");
    return CAIRN_OK;
}

const cairn_solver cairn_solver_lemke = {
    .name = "lemke",
    .summary = "Lemke's pivoting on the complementarity problem; exact, small, polyhedral cones",
    .laws = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) |
            CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_COULOMB) |
            CAIRN_TREATS_ROWS,
    .run_on_host = run,
    .accepts = accepts,
};
