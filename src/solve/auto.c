/* auto.c - the default solver: a ladder from cheap sweeps to exact methods.
 *
 *   (1) Gauss-Seidel with momentum in stages of 50, 100, 200, ... sweeps. After each stage the rate
 *       of the residual predicts how many more the tolerance would take.
 *   (2) If that is more than a second-order method costs (in sweeps, estimated from the size), or
 *       the residual no longer falls, a second-order method is tried, but not before a quarter of
 *       its cost was spent: `newton` for exact Coulomb friction, `ipm` for the convex law, and
 *       `newton` there, too, if `ipm` fails. With rows with bounds, which are mostly linear and on
 *       which sweeps are slow, this happens early.
 *       For exact friction the method must not cost more than the sweeps allowed, unless the
 *       tolerance is below 1e-4: in flowing packings it stalls like sweeps.
 *   (3) The remaining iterations go to plain Gauss-Seidel from the best impulses.
 * Exact friction to a tolerance below 1e-4 is out of reach of sweeps on many structures, and of
 * `newton` in many packings: a poor prediction takes effect early in (2), `newton` gives up if it
 * makes no progress, and in (3) sweeps and `newton` alternate.
 * Polyhedral cones: `lemke` or `active-set` if they accept the problem, else projected gradients
 * and `ipm`. On back ends other than the host, and if the problem is cut into parts, nothing can be
 * factorised: only sweeps and gradient methods are available. Every rung starts from the best
 * impulses so far, and the best are returned. The report names the rung that found them; the remark
 * lists all rungs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "problem/operator.h"
#include "solve/solver.h"

static const double fine_tolerance = 1e-4; /* sweeps with exact friction rarely reach less */

enum { FIRST_STAGE = 50, SHORT_STAGE = 15, FEW_SWEEPS = 100, MOST_FOR_IPM = 30000 };
enum { MOST_FOR_NEWTON = 8000, MOST_IN_THE_PLANE = 20000 };

/* ---- one rung ------------------------------------------------------------------------------- */

static void add_remark(cairn_solve_report *report, const char *name, int64_t iterations,
                       double residual)
{
    size_t used = strlen(report->remark), room = sizeof report->remark - used;
    snprintf(report->remark + used, room, "%s%s %lld: %.1e", used ? ", " : "", name,
             (long long)iterations, residual);
}

static const cairn_vector *best_so_far(const cairn_task *task, const cairn_vector *r)
{
    return task->best_relative < INFINITY ? task->best : r;
}

/* Run a solver from given impulses (NULL: the best so far) for at most `budget` iterations. A rung
 * that fails does not end the solve: the next one is tried, from the best impulses that are finite,
 * or from none. */
static cairn_status climb(cairn_task *task, const cairn_solver *solver, int64_t budget,
                          const cairn_vector *from, cairn_vector *r)
{
    const cairn_solve_options *asked = task->options;
    cairn_solve_report *report = task->report;
    cairn_solve_options options = *asked;
    char remark[sizeof report->remark];
    int64_t spent = report->iterations, left = asked->max_iterations - spent;
    double before = task->best_relative;
    memcpy(remark, report->remark, sizeof remark);
    options.max_iterations = budget < left ? budget : left;
    from = from ? from : best_so_far(task, r);
    if (from != r)
        task->backend->copy(task->system, from, r);
    task->options = &options;
    report->iterations = 0;
    task->kept = false;
    cairn_status status = cairn_solver_run(solver, task, r);
    int64_t used = report->iterations;
    task->options = asked;
    report->iterations = spent + used;
    memcpy(report->remark, remark, sizeof remark);
    if (status == CAIRN_NO_MEMORY)
        return status;
    task->broke = status != CAIRN_OK;
    cairn_task_start_over(task, r);
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

static bool is_plane(const cairn_problem *p)
{
    return p->dimension - p->rolling - p->spinning == 2;
}

/* With exact friction and few contacts in the local form, the factors of Newton's method are dense:
 * it takes the time of 25 to 55 sweeps at 23 to 52 contacts. */
static bool is_small(const cairn_task *task)
{
    enum { MOST_UNKNOWNS = 180 };
    const cairn_problem *p = task->p;
    return cairn_task_is_on_host(task) && p->W && task->options->law == CAIRN_LAW_COULOMB &&
           p->rolling + p->spinning == 0 && p->contacts * p->dimension <= MOST_UNKNOWNS;
}

/* Sweeps that cost as much as a second-order method, by size. Measured on the FCLib problems and on
 * settled boxes of spheres: some 20 to 30 factorisations, whose fill grows faster than the size.
 * Contacts in 2D form a planar graph, with hardly any fill: walls and boxes of 7,000 contacts in 2D
 * took 400 to 1,400 sweeps. */
static double second_order_cost(const cairn_task *task)
{
    const cairn_problem *p = task->p;
    double c = p->contacts;
    if (is_small(task))
        return 10 + c;
    return 100 + c + (is_plane(p) ? 0 : 5e-4 * c * c);
}

static int most_for_newton(const cairn_problem *p)
{
    return is_plane(p) ? MOST_IN_THE_PLANE : MOST_FOR_NEWTON;
}

/* Exact friction to a tolerance that sweeps rarely reach. */
static bool is_fine(const cairn_task *task)
{
    const cairn_solve_options *o = task->options;
    return o->law == CAIRN_LAW_COULOMB && o->tolerance < fine_tolerance;
}

/* With momentum residuals decrease unevenly, so that a prediction is used only after a quarter of
 * the other method's cost has been spent. If sweeps rarely reach the tolerance, a worse prediction
 * is used earlier, but after the first three stages: from 8 times the cost on in proportion, down
 * to a 64th. */
static bool sweeps_promise(const cairn_task *task, double expected, double cost)
{
    double sweeps = (double)task->report->iterations;
    bool early = is_fine(task) && sweeps >= 7 * FIRST_STAGE;
    double share = is_small(task) ? 0 : early ? fmax(1.0 / 16, fmin(1, 8 * cost / expected)) : 1;
    return sweeps <= cost && (expected <= cost || 4 * sweeps <= share * cost);
}

/* (1) sweeps in growing stages, while the prediction is good enough */
static cairn_status sweep_in_stages(cairn_task *task, double cost, cairn_vector *r)
{
    bool small = is_small(task);
    double residual = small ? 1 : INFINITY, expected = 0; /* 1: that of no impulses */
    int64_t stage = small             ? (int64_t)fmax(SHORT_STAGE, cost / 2)
                    : cost < INFINITY ? FIRST_STAGE
                                      : task->options->max_iterations;
    if (small && task->report->iterations > 0) { /* small.c found that sweeps would take too long */
        task->report->converged = cairn_task_judge(task, r);
        return CAIRN_OK;
    }
    while (sweeps_promise(task, expected, cost)) {
        double before = residual;
        TRY(climb(task, &cairn_solver_ngs, stage, NULL, r));
        residual = task->best_relative;
        if (!goes_on(task) || task->broke || task->report->stalled)
            return CAIRN_OK;
        double rate = log(before / residual) / (double)stage; /* infinite at first */
        expected = rate > 0 ? log(residual / task->options->tolerance) / rate : INFINITY;
        stage *= 2;
    }
    return CAIRN_OK;
}

static bool has_rows(const cairn_problem *p)
{
    return cairn_problem_has(p, CAIRN_KIND_ROWS);
}

static bool fits(const cairn_task *task, const cairn_solver *solver, int most)
{
    const cairn_problem *p = task->p;
    return p->contacts <= most &&
           cairn_solver_accepts_on(task->backend->name, solver->name, task->options->law, p);
}

/* The interior point method, if it accepts the problem and its size. */
static cairn_status try_ipm(cairn_task *task, cairn_vector *r)
{
    bool worth = goes_on(task) && fits(task, &cairn_solver_ipm, MOST_FOR_IPM);
    return worth ? climb(task, &cairn_solver_ipm, INT64_MAX, NULL, r) : CAIRN_OK;
}

/* Newton's method, from the best impulses. If these are far from a solution, they are no better
 * than the start, since momentum may have spoilt them: then from `start`, if there is one. With a
 * fine tolerance it gives up if the residual was not halved in some iterations; more of them are
 * allowed the cheaper they are. */
static cairn_status try_newton(cairn_task *task, const cairn_vector *start, cairn_vector *r)
{
    enum { PATIENCE = 150, CONTACTS = 400000 };
    static const double far_off = 0.1;
    const cairn_problem *p = task->p;
    if (!goes_on(task) || !fits(task, &cairn_solver_newton, most_for_newton(p)))
        return CAIRN_OK;
    const cairn_vector *from = task->best_relative > far_off ? start : NULL;
    task->patience = is_fine(task) ? PATIENCE + CONTACTS / (1 + p->contacts) : 0;
    task->swept = is_small(task);
    cairn_status status = climb(task, &cairn_solver_newton, INT64_MAX, from, r);
    task->patience = 0;
    task->swept = false;
    return status;
}

/* Whether a second-order method may be tried. For exact friction, where it may fail as well, it
 * must not cost more than the sweeps that are allowed, unless the tolerance is beyond sweeps. A
 * problem that is cut into parts may be shared by members, none of which can factorise it. */
static bool may_climb(const cairn_task *task)
{
    const cairn_problem *p = task->p;
    const cairn_solve_options *o = task->options;
    bool ipm = cairn_solver_accepts(cairn_solver_ipm.name, o->law, p);
    bool affordable = o->law == CAIRN_LAW_CONVEX || is_fine(task) ||
                      second_order_cost(task) <= (double)o->max_iterations;
    return cairn_task_is_on_host(task) && !p->cut && affordable &&
           p->contacts <= (ipm ? MOST_FOR_IPM : most_for_newton(p));
}

/* (3) the remaining iterations as plain sweeps */
static cairn_status sweep_on(cairn_task *task, cairn_vector *r)
{
    return goes_on(task) ? climb(task, &cairn_solver_pgs, INT64_MAX, NULL, r) : CAIRN_OK;
}

/* (3) sweeps and Newton's method in turn; the sweeps with or without momentum, whichever helps */
static cairn_status take_turns(cairn_task *task, cairn_vector *r)
{
    const cairn_solver *sweeps = &cairn_solver_ngs;
    int64_t spent = 0;
    task->report->stalled = false;
    while (goes_on(task) && !task->report->stalled && task->report->iterations > spent) {
        double before = task->best_relative;
        spent = task->report->iterations;
        TRY(climb(task, sweeps, 2 * spent, NULL, r));
        TRY(try_newton(task, NULL, r));
        if (task->best_relative > 0.5 * before)
            sweeps = sweeps == &cairn_solver_pgs ? &cairn_solver_ngs : &cairn_solver_pgs;
    }
    return CAIRN_OK;
}

/* A copy of the impulses that a task starts from. */
static cairn_status keep_start(cairn_task *task, const cairn_vector *r, cairn_vector **start)
{
    TRY(cairn_task_vector(task, CAIRN_SPACE_IMPULSES, start));
    task->backend->copy(task->system, r, *start);
    return CAIRN_OK;
}

static cairn_status run_circular(cairn_task *task, cairn_vector *r)
{
    bool can_climb = may_climb(task), fine = can_climb && is_fine(task);
    double cost = can_climb ? second_order_cost(task) : INFINITY;
    cairn_vector *start = NULL;
    if (can_climb && has_rows(task->p))
        cost = fmin(cost, FEW_SWEEPS);
    if (fine)
        TRY(keep_start(task, r, &start));
    TRY(sweep_in_stages(task, cost, r));
    if (fine) {
        TRY(try_newton(task, start, r));
        return take_turns(task, r);
    }
    if (!can_climb && task->report->stalled)
        return CAIRN_OK;
    if (can_climb)
        TRY(try_ipm(task, r));
    if (can_climb)
        TRY(try_newton(task, NULL, r));
    return sweep_on(task, r);
}

/* ---- cones with edges ----------------------------------------------------------------------- */

/* If pivoting fails, it gives no impulses, and without impulses bodies would fall through each
 * other. The convex law on the same cones always has a solution, as far as the rows allow: it is
 * used if its residual by the requested law is smaller. */
static cairn_status relax(cairn_task *task, cairn_vector *r)
{
    const cairn_backend *b = task->backend;
    const cairn_solve_options *asked = task->options;
    cairn_solve_options options = *asked;
    cairn_vector *best;
    double before = task->best_relative;
    const char *solver = task->report->solver;
    TRY(cairn_task_vector(task, CAIRN_SPACE_IMPULSES, &best));
    b->copy(task->system, task->best, best);
    b->copy(task->system, task->best, r);
    task->best_relative = INFINITY; /* by the other law */
    options.law = CAIRN_LAW_CONVEX;
    task->options = &options;
    cairn_status status = climb(task, &cairn_solver_apgd_asr, INT64_MAX, NULL, r);
    task->options = asked;
    TRY(status);
    b->copy(task->system, task->best, r);
    b->copy(task->system, best, task->best);
    task->best_relative = before;
    task->report->converged = cairn_task_judge(task, r);
    if (!(task->best_relative < before))
        task->report->solver = solver;
    return CAIRN_OK;
}

static cairn_status run_edges(cairn_task *task, cairn_vector *r)
{
    const cairn_problem *p = task->p;
    cairn_law law = task->options->law;
    const cairn_solver *exact =
        law == CAIRN_LAW_COULOMB ? &cairn_solver_lemke : &cairn_solver_active_set;
    if (cairn_solver_accepts_on(task->backend->name, exact->name, law, p))
        TRY(climb(task, exact, INT64_MAX, NULL, r));
    if (goes_on(task) && law == CAIRN_LAW_CONVEX)
        TRY(climb(task, &cairn_solver_apgd_asr, has_rows(p) ? FEW_SWEEPS : INT64_MAX, NULL, r));
    if (has_rows(p))
        TRY(try_ipm(task, r));
    if (goes_on(task) && law == CAIRN_LAW_COULOMB)
        TRY(relax(task, r));
    return CAIRN_OK;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, cairn_vector *r)
{
    (void)self;
    task->report->solver = cairn_solver_ngs.name;
    return task->p->directions ? run_edges(task, r) : run_circular(task, r);
}

/* Exact Coulomb friction on polyhedral cones only if the problem is small enough for `lemke`. */
static bool accepts(cairn_law law, const cairn_problem *p)
{
    return !p->directions || law == CAIRN_LAW_CONVEX ||
           cairn_solver_accepts(cairn_solver_lemke.name, law, p);
}

enum {
    ALWAYS = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) |
             CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) | CAIRN_TREATS_ROWS | CAIRN_TREATS_ROLLING,
    BY_LEMKE = CAIRN_TREATS_EDGES(CAIRN_LAW_COULOMB)
};

const cairn_solver cairn_solver_auto = {
    .name = "auto",
    .summary =
        "picks and climbs: accelerated Gauss-Seidel, then newton or ipm where that is cheaper",
    .laws = ALWAYS | BY_LEMKE,
    .elsewhere = ALWAYS,
    .run = run,
    .accepts = accepts,
};
