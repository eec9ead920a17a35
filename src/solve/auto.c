/* auto.c - the default solver: a ladder from cheap sweeps to exact methods.
 *
 *   (1) Gauss-Seidel with momentum in stages of 50, 100, 200, ... sweeps. After each stage the rate
 *       of the residual predicts how many more the tolerance would take.
 *   (2) When that is more than a second-order method costs (in sweeps, from the size), or the
 *       residual no longer falls, climb, but not before a quarter of that cost: `newton` for exact
 *       Coulomb friction, `ipm` for the convex law; `newton` also there when `ipm` fails. With rows
 *       of bounds, which are mostly linear and on which sweeps are slow, climb early.
 *       For exact friction the method must not cost more than the sweeps allowed, unless the
 *       tolerance is below 1e-4: where packings flow it stalls as sweeps do.
 *   (3) What is left of the iterations goes to plain Gauss-Seidel from the best impulses.
 * Cones with edges: `lemke` or `active-set` where they accept the problem, else projected gradients
 * and `ipm`. Every rung starts from the best impulses so far, and the best are what is
 * returned. The report names the rung that gave them; the remark lists all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "solve/solver.h"

static const double fine_tolerance = 1e-4; /* sweeps with exact friction hardly get below */

enum { FIRST_STAGE = 50, FEW_SWEEPS = 100, MOST_FOR_NEWTON = 8000, MOST_FOR_IPM = 30000 };

/* ---- one rung ------------------------------------------------------------------------------- */

static void add_remark(cairn_solve_report *report, const char *name, int64_t iterations,
                       double residual)
{
    size_t used = strlen(report->remark), room = sizeof report->remark - used;
    snprintf(report->remark + used, room, "%s%s %lld: %.1e", used ? ", " : "", name,
             (long long)iterations, residual);
}

/* Run a solver from the best impulses for at most `budget` iterations. A rung that breaks is no
 * failure: the next one is tried. */
static cairn_status climb(cairn_task *task, const cairn_solver *solver, int64_t budget, double *r)
{
    const cairn_solve_options *asked = task->options;
    cairn_solve_report *report = task->report;
    cairn_solve_options options = *asked;
    char remark[sizeof report->remark];
    int64_t spent = report->iterations, left = asked->max_iterations - spent;
    double before = task->best_relative;
    memcpy(remark, report->remark, sizeof remark);
    options.max_iterations = budget < left ? budget : left;
    if (before < INFINITY && task->system.r_count)
        memcpy(r, task->best, task->system.r_count * sizeof(double));
    task->options = &options;
    report->iterations = 0;
    task->kept = false;
    cairn_status status = solver->run(solver, task, r);
    int64_t used = report->iterations;
    task->options = asked;
    report->iterations = spent + used;
    memcpy(report->remark, remark, sizeof remark);
    if (status == CAIRN_NO_MEMORY)
        return status;
    add_remark(report, solver->name, used, task->best_relative);
    report->converged = task->best_relative <= asked->tolerance;
    if (task->best_relative < before)
        report->solver = solver->name;
    return CAIRN_OK;
}

static bool goes_on(const cairn_task *task)
{
    return !task->report->converged && cairn_task_may_go_on(task);
}

/* ---- circular cones ------------------------------------------------------------------------- */

/* Sweeps that cost as much as a second-order method, by size. Measured on the FCLib problems and on
 * settled boxes of spheres: some 20 to 30 factorisations, whose fill grows faster than the size. */
static double second_order_cost(int contacts)
{
    double c = contacts;
    return 100 + c + 5e-4 * c * c;
}

/* Momentum makes residuals fall unevenly, so a prediction counts only once a quarter of the other
 * method's cost has been spent. */
static bool sweeps_promise(int64_t spent, double expected, double cost)
{
    double sweeps = (double)spent;
    return sweeps <= cost && (expected <= cost || 4 * sweeps <= cost);
}

/* (1) sweeps in growing stages while they promise to get there cheaply */
static cairn_status sweep_in_stages(cairn_task *task, double cost, double *r)
{
    double residual = INFINITY, expected = 0;
    int64_t stage = cost < INFINITY ? FIRST_STAGE : task->options->max_iterations;
    while (sweeps_promise(task->report->iterations, expected, cost)) {
        double before = residual;
        TRY(climb(task, &cairn_solver_ngs, stage, r));
        residual = task->best_relative;
        if (!goes_on(task) || residual == INFINITY) /* done, or the sweeps broke */
            return CAIRN_OK;
        if (task->report->stalled)
            return CAIRN_OK;
        double rate = log(before / residual) / (double)stage; /* infinite at first */
        expected = rate > 0 ? log(residual / task->options->tolerance) / rate : INFINITY;
        stage *= 2;
    }
    return CAIRN_OK;
}

static bool has_rows(const cairn_problem *p)
{
    for (int j = 0; p->bounded && j < p->contacts; j++)
        if (p->bounded[j])
            return true;
    return false;
}

/* A second-order solver, where it accepts the problem and that is not too large for it. */
static cairn_status try_solver(cairn_task *task, const cairn_solver *solver, int most, double *r)
{
    const cairn_problem *p = task->system.p;
    bool fits = p->contacts <= most && cairn_solver_accepts(solver->name, task->options->law, p);
    return fits && goes_on(task) ? climb(task, solver, INT64_MAX, r) : CAIRN_OK;
}

/* (2) */
static cairn_status second_order(cairn_task *task, double *r)
{
    TRY(try_solver(task, &cairn_solver_ipm, MOST_FOR_IPM, r));
    return try_solver(task, &cairn_solver_newton, MOST_FOR_NEWTON, r);
}

/* Whether a second-order method may be tried. For exact friction, where it may fail as well, it
 * must not cost more than the sweeps that are allowed, unless the tolerance is beyond sweeps. */
static bool may_climb(const cairn_task *task)
{
    const cairn_problem *p = task->system.p;
    const cairn_solve_options *o = task->options;
    bool ipm = cairn_solver_accepts(cairn_solver_ipm.name, o->law, p);
    bool affordable = o->law == CAIRN_LAW_CONVEX || o->tolerance < fine_tolerance ||
                      second_order_cost(p->contacts) <= (double)o->max_iterations;
    return affordable && p->contacts <= (ipm ? MOST_FOR_IPM : MOST_FOR_NEWTON);
}

static cairn_status run_circular(cairn_task *task, double *r)
{
    bool can_climb = may_climb(task);
    double cost = can_climb ? second_order_cost(task->system.p->contacts) : INFINITY;
    if (can_climb && has_rows(task->system.p))
        cost = fmin(cost, FEW_SWEEPS);
    TRY(sweep_in_stages(task, cost, r));
    if (!can_climb && task->report->stalled)
        return CAIRN_OK;
    if (goes_on(task) && can_climb)
        TRY(second_order(task, r));
    if (goes_on(task)) /* (3) */
        TRY(climb(task, &cairn_solver_pgs, INT64_MAX, r));
    return CAIRN_OK;
}

/* ---- cones with edges ----------------------------------------------------------------------- */

/* Pivoting that fails says nothing of the impulses, and none at all lets bodies fall through each
 * other. The convex law on the same cones always has an answer, as far as rows allow: it is taken
 * when it is the better one by the law asked for. */
static cairn_status relax(cairn_task *task, double *r)
{
    const cairn_solve_options *asked = task->options;
    cairn_solve_options options = *asked;
    size_t bytes = task->system.r_count * sizeof(double);
    double *best = cairn_arena_doubles(task->arena, task->system.r_count);
    double before = task->best_relative;
    const char *solver = task->report->solver;
    if (!best)
        return CAIRN_NO_MEMORY;
    memcpy(best, task->best, bytes);
    memcpy(r, task->best, bytes);
    task->best_relative = INFINITY; /* by the other law */
    options.law = CAIRN_LAW_CONVEX;
    task->options = &options;
    cairn_status status = climb(task, &cairn_solver_apgd_asr, INT64_MAX, r);
    task->options = asked;
    TRY(status);
    memcpy(r, task->best, bytes);
    memcpy(task->best, best, bytes);
    task->best_relative = before;
    task->report->converged = cairn_task_judge(task, r);
    if (!(task->best_relative < before))
        task->report->solver = solver;
    return CAIRN_OK;
}

static cairn_status run_edges(cairn_task *task, double *r)
{
    const cairn_problem *p = task->system.p;
    cairn_law law = task->options->law;
    const cairn_solver *exact =
        law == CAIRN_LAW_COULOMB ? &cairn_solver_lemke : &cairn_solver_active_set;
    if (cairn_solver_accepts(exact->name, law, p))
        TRY(climb(task, exact, INT64_MAX, r));
    if (goes_on(task) && law == CAIRN_LAW_CONVEX)
        TRY(climb(task, &cairn_solver_apgd_asr, has_rows(p) ? FEW_SWEEPS : INT64_MAX, r));
    if (has_rows(p))
        TRY(try_solver(task, &cairn_solver_ipm, MOST_FOR_IPM, r));
    if (goes_on(task) && law == CAIRN_LAW_COULOMB)
        TRY(relax(task, r));
    return CAIRN_OK;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    task->report->solver = cairn_solver_ngs.name;
    return task->system.p->directions ? run_edges(task, r) : run_circular(task, r);
}

/* Exact Coulomb friction on cones with edges only while `lemke` can hold the problem. */
static bool accepts(cairn_law law, const cairn_problem *p)
{
    return !p->directions || law == CAIRN_LAW_CONVEX ||
           cairn_solver_accepts(cairn_solver_lemke.name, law, p);
}

const cairn_solver cairn_solver_auto = {
    .name = "auto",
    .summary =
        "picks and climbs: accelerated Gauss-Seidel, then newton or ipm where that is cheaper",
    .laws = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) |
            CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_COULOMB) |
            CAIRN_TREATS_ROWS | CAIRN_TREATS_ROLLING,
    .run = run,
    .accepts = accepts,
};
