/* auto.c - the default: accelerated Gauss-Seidel, and plain Gauss-Seidel when that one got stuck.
 * The report says which one gave the answer. */
#include <string.h>

#include "base/status.h"
#include "solve/solver.h"

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    task->report->solver = cairn_solver_ngs.name;
    TRY(cairn_solver_ngs.run(&cairn_solver_ngs, task, r));
    if (task->report->converged || task->best_relative <= 1)
        return CAIRN_OK;
    /* momentum made it worse than doing nothing: go on from the best without it */
    memcpy(r, task->best, task->system.r_count * sizeof(double));
    int64_t spent = task->report->iterations;
    task->report->iterations = 0;
    task->report->solver = cairn_solver_pgs.name;
    TRY(cairn_solver_pgs.run(&cairn_solver_pgs, task, r));
    task->report->iterations += spent;
    return CAIRN_OK;
}

const cairn_solver cairn_solver_auto = {
    "auto", "picks: accelerated Gauss-Seidel, then plain Gauss-Seidel where that one fails",
    CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB), 0, run
};
