/* solve.c - cairn_solve: find the solver, run it, judge what it returns. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "problem/rescale.h"
#include "solve/small.h"
#include "solve/solver.h"

static const cairn_solver *const solvers[] = {
    &cairn_solver_auto,   &cairn_solver_ngs,     &cairn_solver_pgs,     &cairn_solver_apgd_asr,
    &cairn_solver_apgd,   &cairn_solver_apgd_as, &cairn_solver_apgd_ar, &cairn_solver_pgd,
    &cairn_solver_apgd_d, &cairn_solver_ipm,     &cairn_solver_lemke,   &cairn_solver_active_set,
    &cairn_solver_newton, &cairn_solver_admm,    &cairn_solver_spg,
};

enum { SOLVERS = sizeof solvers / sizeof solvers[0] };

const char *cairn_solver_name(int index)
{
    return index >= 0 && index < SOLVERS ? solvers[index]->name : NULL;
}

static const cairn_solver *find(const char *name)
{
    for (int i = 0; i < SOLVERS; i++)
        if (name && strcmp(solvers[i]->name, name) == 0)
            return solvers[i];
    return NULL;
}

const char *cairn_solver_summary(const char *name)
{
    const cairn_solver *solver = find(name);
    return solver ? solver->summary : NULL;
}

bool cairn_solver_treats(const char *name, cairn_law law)
{
    const cairn_solver *solver = find(name);
    return solver && (solver->laws & CAIRN_TREATS(law)) != 0;
}

bool cairn_solver_treats_rows(const char *name)
{
    const cairn_solver *solver = find(name);
    return solver && (solver->laws & CAIRN_TREATS_ROWS) != 0;
}

bool cairn_solver_treats_rolling(const char *name)
{
    const cairn_solver *solver = find(name);
    return solver && (solver->laws & CAIRN_TREATS_ROLLING) != 0;
}

/* All bits that a problem asks for. */
static unsigned needed(cairn_law law, const cairn_problem *p)
{
    unsigned bits = p->directions ? CAIRN_TREATS_EDGES(law) : CAIRN_TREATS(law);
    if (p->rolling + p->spinning)
        bits |= CAIRN_TREATS_ROLLING;
    for (int j = 0; p->bounded && j < p->contacts; j++)
        if (p->bounded[j])
            return bits | CAIRN_TREATS_ROWS;
    return bits;
}

bool cairn_solver_accepts(const char *name, cairn_law law, const cairn_problem *p)
{
    const cairn_solver *solver = find(name);
    unsigned bits = needed(law, p);
    return solver && (solver->laws & bits) == bits &&
           (solver->most_contacts == 0 || p->contacts <= solver->most_contacts) &&
           (!solver->accepts || solver->accepts(law, p));
}

/* ---- options -------------------------------------------------------------------------------- */

cairn_solve_options cairn_solve_options_default(void)
{
    return (cairn_solve_options){
        .solver = "auto", .law = CAIRN_LAW_CONVEX, .tolerance = 1e-3, .max_iterations = 20000
    };
}

static void set_default(void *options)
{
    *(cairn_solve_options *)options = cairn_solve_options_default();
}

#define FIELD(name) offsetof(cairn_solve_options, name)

static const cairn_option options[] = {
    { "solver", CAIRN_OPTION_NAME, false, FIELD(solver), 0, 0, "",
      "method for the one-step problem", cairn_solver_name },
    { "tolerance", CAIRN_OPTION_REAL, false, FIELD(tolerance), 0, 1, "",
      "relative residual at which a solve ends", NULL },
    { "fclib_measure", CAIRN_OPTION_FLAG, false, FIELD(fclib_measure), 0, 1, "",
      "the tolerance means the measure of the literature instead", NULL },
    { "max_iterations", CAIRN_OPTION_INTEGER, false, FIELD(max_iterations), 0, 1e12, "",
      "sweeps or gradient steps after which a solve gives up and says so", NULL },
    { "time_limit", CAIRN_OPTION_REAL, false, FIELD(time_limit), 0, CAIRN_UNBOUNDED, "s",
      "after which a solve gives up and says so; 0: never", NULL },
    { "approach", CAIRN_OPTION_REAL, false, FIELD(approach), 0, CAIRN_UNBOUNDED, "m/s",
      "> 0: exact friction ends when it stalls and contacts approach no faster; 0: never", NULL },
    { "step_length", CAIRN_OPTION_REAL, false, FIELD(step_length), 0, CAIRN_UNBOUNDED, "kg",
      "first step of gradient methods; 0: chosen from the problem", NULL },
    { "increment_tolerance", CAIRN_OPTION_REAL, false, FIELD(increment_tolerance), 0, 1, "",
      "> 0: stop gradient methods on the change of r instead of the residual", NULL },
};

const cairn_record *cairn_solve_record(void)
{
    static const cairn_record record = { .name = "solve",
                                         .summary = "how a one-step problem is solved",
                                         .size = sizeof(cairn_solve_options),
                                         .set_default = set_default,
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0] };
    return &record;
}

/* ---- workspace ------------------------------------------------------------------------------ */

cairn_status cairn_workspace_create(cairn_workspace **out)
{
    *out = cairn_memory_zeroed(1, sizeof(cairn_workspace));
    return *out ? CAIRN_OK : CAIRN_NO_MEMORY;
}

void cairn_workspace_destroy(cairn_workspace *workspace)
{
    if (workspace)
        cairn_arena_destroy(&workspace->arena);
    cairn_memory_free(workspace);
}

/* ---- judging -------------------------------------------------------------------------------- */

/* Whether x.x is a number: neither x nor its square overflows. Four sums, so that they overlap. */
static bool has_length(const double *x, size_t count)
{
    double sum[4] = { 0, 0, 0, 0 };
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += x[i + k] * x[i + k];
    for (; i < count; i++)
        sum[0] += x[i] * x[i];
    return isfinite(sum[0] + sum[1] + sum[2] + sum[3]);
}

/* A residual is a ratio of sums of squares: where one of them overflows it means nothing, and may
 * well be 0. */
static bool is_judged(const cairn_task *task, const double *r)
{
    const cairn_problem *p = task->system.p;
    size_t rows = task->system.r_count, velocities = (size_t)p->blocks * (size_t)p->block_size;
    return has_length(r, rows) && has_length(task->u, rows) && has_length(task->v, velocities);
}

/* The residual that the tolerance means. */
static double measured(const cairn_task *task)
{
    const cairn_residual *asked = &task->report->judgement.asked;
    return task->options->fclib_measure ? asked->fclib : asked->relative;
}

bool cairn_task_judge(cairn_task *task, const double *r)
{
    cairn_judge_again(task->system.p, task->options->law, r, task->v, task->u, &task->norms,
                      &task->report->judgement);
    double residual = measured(task);
    if (residual < task->best_relative && !is_judged(task, r))
        residual = INFINITY;
    task->best_is_last = residual < task->best_relative;
    task->kept = false;
    if (task->best_is_last) {
        task->best_relative = residual;
        memcpy(task->best, r, task->system.r_count * sizeof(double));
    }
    return residual <= task->options->tolerance;
}

bool cairn_task_may_go_on(const cairn_task *task)
{
    double limit = task->options->time_limit;
    return task->report->iterations < task->options->max_iterations &&
           !(limit > 0 && cairn_clock_seconds() - task->started > limit);
}

bool cairn_watch_due(const cairn_watch *watch, const cairn_task *task, double estimate)
{
    enum { CLOSE_PATIENCE = 50 };
    int64_t waited = task->report->iterations - watch->judged_at;
    double residual = watch->ratio * estimate, tolerance = task->options->tolerance;
    bool close = residual <= 3 * tolerance && waited >= CLOSE_PATIENCE;
    return residual <= tolerance || close || waited >= watch->patience;
}

void cairn_watch_learn(cairn_watch *watch, const cairn_task *task, double estimate)
{
    double residual = measured(task);
    watch->ratio = estimate > 0 && isfinite(residual) ? residual / estimate : 0;
    watch->judged_at = task->report->iterations;
}

/* ---- the call ------------------------------------------------------------------------------- */

static cairn_status start_task(const cairn_problem *p, cairn_workspace *workspace, cairn_task *task)
{
    task->arena = &workspace->arena;
    TRY(cairn_system_create(p, &cairn_kernels_cpu, task->arena, &task->system));
    task->best = cairn_arena_take(task->arena, task->system.r_count, sizeof(double));
    task->best_relative = INFINITY;
    task->started = cairn_clock_seconds();
    return task->best ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* The caller gets the best impulses that were judged, with their velocities. */
static cairn_status finish_task(cairn_task *task, double *r)
{
    if (!(task->best_relative < INFINITY))
        return CAIRN_NOT_FINITE;
    bool is_best = memcmp(r, task->best, task->system.r_count * sizeof(double)) == 0;
    if (is_best && task->best_is_last && task->kept)
        return CAIRN_OK; /* judged already */
    if (!is_best && task->options->increment_tolerance <= 0)
        memcpy(r, task->best, task->system.r_count * sizeof(double));
    cairn_judge_again(task->system.p, task->options->law, r, task->v, task->u, &task->norms,
                      &task->report->judgement);
    return is_judged(task, r) ? CAIRN_OK : CAIRN_NOT_FINITE;
}

/* Threads that wait for short loops between long serial work spin, and where cores are busy the one
 * that works waits for those that have lost theirs. */
cairn_status cairn_solver_run(const cairn_solver *solver, cairn_task *task, double *r)
{
    int width = cairn_parallel_width();
    if (solver->alone)
        cairn_parallel_threads(1);
    cairn_status status = solver->run(solver, task, r);
    if (solver->alone)
        cairn_parallel_threads(width);
    return status;
}

static cairn_status run_solver(const cairn_solver *solver, const cairn_problem *p,
                               cairn_workspace *workspace, cairn_task *task, double *r)
{
    TRY(start_task(p, workspace, task));
    TRY(cairn_solver_run(solver, task, r));
    return finish_task(task, r);
}

/* Rolling and spinning friction in units of sliding, so that no method depends on the size of the
 * bodies; not where the tolerance means a measure that does. */
static cairn_status run_rescaled(const cairn_solver *solver, const cairn_problem *p,
                                 cairn_workspace *workspace, cairn_task *task, double *r)
{
    cairn_rescaled scaled;
    TRY(cairn_problem_rescale(p, &workspace->arena, &scaled));
    size_t size = (size_t)p->dimension * (size_t)p->contacts;
    for (size_t i = 0; i < size; i++)
        r[i] /= scaled.length[i];
    cairn_status status = run_solver(solver, &scaled.p, workspace, task, r);
    for (size_t i = 0; i < size; i++)
        r[i] *= scaled.length[i];
    TRY(status);
    cairn_judge(p, task->options->law, r, task->v, task->u, &task->report->judgement);
    if (task->options->increment_tolerance <= 0 && !(measured(task) <= task->options->tolerance))
        task->report->converged = false; /* met in the other units, to rounding, but not in these */
    return CAIRN_OK;
}

cairn_status cairn_solve(const cairn_problem *p, const cairn_solve_options *solve_options,
                         cairn_workspace *workspace, double *r, double *v, double *u,
                         cairn_solve_report *report)
{
    const cairn_solver *solver = find(solve_options->solver);
    if (!solver)
        return CAIRN_NOT_FOUND;
    if (!cairn_solver_accepts(solver->name, solve_options->law, p))
        return CAIRN_UNSUPPORTED;
    *report = (cairn_solve_report){ .solver = solver->name, .outer_iterations = 1 };
    if (!has_length(r, (size_t)p->dimension * (size_t)p->contacts))
        return CAIRN_NOT_FINITE; /* no method finds back from there */
    cairn_task task = { .options = solve_options,
                        .v = v,
                        .u = u,
                        .report = report,
                        .horizon = solve_options->max_iterations };
    cairn_problem asked = *p;
    if (solve_options->law == CAIRN_LAW_COULOMB)
        asked.s = NULL; /* exact friction finds its own s */
    cairn_arena_reset(&workspace->arena);
    if (cairn_small_accepts(&asked, solve_options)) {
        TRY(cairn_small_solve(&asked, solve_options, &workspace->arena, r, u, report));
        cairn_arena_reset(&workspace->arena);
    }
    if (report->converged) {
        report->solver = cairn_solver_pgs.name;
        return CAIRN_OK;
    }
    bool rescaled = p->rolling + p->spinning && !solve_options->fclib_measure;
    return (rescaled ? run_rescaled : run_solver)(solver, &asked, workspace, &task, r);
}
