/* solve.c - cairn_solve: find the solver, run it, judge what it returns. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "backend/host/host.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "problem/cone.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/operator.h"
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

/* The bits of all features that a problem has. */
static unsigned needed(cairn_law law, const cairn_problem *p)
{
    unsigned bits = p->directions ? CAIRN_TREATS_EDGES(law) : CAIRN_TREATS(law);
    if (p->rolling + p->spinning)
        bits |= CAIRN_TREATS_ROLLING;
    return p->bounded && cairn_problem_has(p, CAIRN_KIND_ROWS) ? bits | CAIRN_TREATS_ROWS : bits;
}

static bool is_host(const char *backend)
{
    return !backend || strcmp(backend, cairn_backend_host.name) == 0;
}

/* Whether a solver treats all features of a problem, on the host or, if required, on other back
 * ends. */
static bool accepts(const cairn_solver *solver, bool on_host, cairn_law law, const cairn_problem *p)
{
    unsigned bits = needed(law, p), treated = on_host ? solver->laws : solver->elsewhere;
    return (treated & bits) == bits &&
           (solver->most_contacts == 0 || p->contacts <= solver->most_contacts) &&
           (!solver->accepts || solver->accepts(law, p));
}

bool cairn_solver_accepts(const char *name, cairn_law law, const cairn_problem *p)
{
    const cairn_solver *solver = find(name);
    return solver && accepts(solver, true, law, p);
}

/* ---- solvers and back ends ------------------------------------------------------------------ */

bool cairn_solver_runs_elsewhere(const char *name)
{
    const cairn_solver *solver = find(name);
    return solver && solver->elsewhere != 0;
}

bool cairn_solver_accepts_on(const char *backend, const char *name, cairn_law law,
                             const cairn_problem *p)
{
    const cairn_solver *solver = find(name);
    return solver && accepts(solver, is_host(backend), law, p);
}

/* "ngs, pgs, ..." */
static void list_elsewhere(char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < SOLVERS; i++)
        if (solvers[i]->elsewhere && used < capacity)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? ", " : "",
                                     solvers[i]->name);
}

cairn_status cairn_solver_check(const char *name, const char *backend, cairn_error *error)
{
    char others[160];
    TRY(cairn_backend_check(backend, error));
    if (is_host(backend) || cairn_solver_runs_elsewhere(name))
        return CAIRN_OK;
    list_elsewhere(others, sizeof others);
    return cairn_fail(error, CAIRN_UNSUPPORTED, "solver",
                      "%s factorises and runs on the back end host only; on %s run %s", name,
                      backend, others);
}

/* ---- options -------------------------------------------------------------------------------- */

cairn_solve_options cairn_solve_options_default(void)
{
    return (cairn_solve_options){ .solver = "auto",
                                  .backend = cairn_backend_host.name,
                                  .law = CAIRN_LAW_CONVEX,
                                  .tolerance = 1e-3,
                                  .max_iterations = 20000 };
}

static void set_default(void *options)
{
    *(cairn_solve_options *)options = cairn_solve_options_default();
}

static const cairn_option options[] = {
    { "solver", CAIRN_OPTION_NAME, false, offsetof(cairn_solve_options, solver), 0, 0, "",
      "method for the one-step problem", cairn_solver_name },
    { "backend", CAIRN_OPTION_WORD, false, offsetof(cairn_solve_options, backend), 0, 0, "",
      "where the one-step problem is solved", cairn_backend_name },
    { "tolerance", CAIRN_OPTION_REAL, false, offsetof(cairn_solve_options, tolerance), 0, 1, "",
      "relative residual at which a solve ends", NULL },
    { "fclib_measure", CAIRN_OPTION_FLAG, false, offsetof(cairn_solve_options, fclib_measure), 0, 1,
      "", "the tolerance means the measure of the literature instead", NULL },
    { "max_iterations", CAIRN_OPTION_INTEGER, false, offsetof(cairn_solve_options, max_iterations),
      0, 1e12, "", "sweeps or gradient steps after which a solve gives up and says so", NULL },
    { "time_limit", CAIRN_OPTION_REAL, false, offsetof(cairn_solve_options, time_limit), 0,
      CAIRN_UNBOUNDED, "s", "after which a solve gives up and says so; 0: never", NULL },
    { "approach", CAIRN_OPTION_REAL, false, offsetof(cairn_solve_options, approach), 0,
      CAIRN_UNBOUNDED, "m/s",
      "> 0: exact friction ends when it stalls and contacts approach no faster; 0: never", NULL },
    { "step_length", CAIRN_OPTION_REAL, false, offsetof(cairn_solve_options, step_length), 0,
      CAIRN_UNBOUNDED, "kg", "first step of gradient methods; 0: chosen from the problem", NULL },
    { "increment_tolerance", CAIRN_OPTION_REAL, false,
      offsetof(cairn_solve_options, increment_tolerance), 0, 1, "",
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

/* A pile ends with its back end. */
static void forget_pile(cairn_workspace *workspace)
{
    if (workspace->pile)
        workspace->use.backend->pile->destroy(workspace->pile);
    workspace->pile = NULL;
    workspace->pile_is_last = false;
}

void cairn_workspace_destroy(cairn_workspace *workspace)
{
    if (workspace) {
        forget_pile(workspace);
        cairn_arena_destroy(&workspace->arena);
        cairn_backend_close(&workspace->use);
    }
    cairn_memory_free(workspace);
}

/* ---- judging -------------------------------------------------------------------------------- */

/* Whether x.x is a number: neither x nor its square overflows. */
static bool has_length(const cairn_task *task, const cairn_vector *x)
{
    return isfinite(task->backend->dot(task->system, x, x));
}

/* A residual is a ratio of sums of squares: if one of them overflows, it has no meaning and may
 * even be 0. */
static bool is_judged(const cairn_task *task, const cairn_vector *r)
{
    bool here = has_length(task, r) && has_length(task, task->u) && has_length(task, task->v);
    return cairn_link_all(cairn_problem_link(task->p), here);
}

/* The residual to which the tolerance refers. */
static double measured(const cairn_task *task)
{
    const cairn_residual *asked = &task->report->judgement.asked;
    return task->options->fclib_measure ? asked->fclib : asked->relative;
}

static void ask_judge(cairn_task *task, const cairn_vector *r)
{
    task->backend->judge(task->system, task->options->law, r, task->v, task->u,
                         &task->report->judgement);
}

/* What counts when impulses are compared. The residual of a problem with scales is that of its
 * worst contact, by which no impulses at all may be better than good ones: until the tolerance is
 * met, the residual over all contacts decides. */
static double rank_of(const cairn_task *task, double residual)
{
    const cairn_solve_options *o = task->options;
    bool one_contact = task->p->scale && !o->fclib_measure && residual > o->tolerance;
    return one_contact ? o->tolerance + task->report->judgement.asked.whole : residual;
}

bool cairn_task_judge(cairn_task *task, const cairn_vector *r)
{
    ask_judge(task, r);
    double residual = measured(task), rank = rank_of(task, residual);
    if (rank < task->best_rank && !is_judged(task, r))
        residual = rank = INFINITY;
    task->best_is_last = rank < task->best_rank;
    task->kept = false;
    if (task->best_is_last) {
        task->best_relative = residual;
        task->best_rank = rank;
        task->backend->copy(task->system, r, task->best);
    }
    return residual <= task->options->tolerance;
}

bool cairn_task_judge_array(cairn_task *task, const double *r)
{
    cairn_vector view = cairn_host_view(r, task->system->r_count);
    return cairn_task_judge(task, &view);
}

bool cairn_task_is_on_host(const cairn_task *task)
{
    return task->backend == &cairn_backend_host;
}

cairn_status cairn_task_vector(cairn_task *task, cairn_space space, cairn_vector **out)
{
    return task->backend->vector(task->system, space, NULL, out);
}

bool cairn_task_may_go_on(const cairn_task *task)
{
    double limit = task->options->time_limit;
    if (task->link && task->link->status != CAIRN_OK)
        return false;
    return task->report->iterations < task->options->max_iterations &&
           !(limit > 0 && cairn_clock_seconds() - task->started > limit);
}

/* Whether tolerances refer to the share of the worst contact. */
static bool has_shares(const cairn_task *task)
{
    return task->p->scale && !task->options->fclib_measure;
}

double cairn_task_residual(const cairn_task *task, double share)
{
    return has_shares(task) ? cairn_share_residual(share) : share;
}

double cairn_judge_timer_residual(const cairn_judge_timer *timer, const cairn_task *task,
                                  double estimate)
{
    return cairn_task_residual(task, timer->ratio * estimate);
}

void cairn_judge_timer_set(cairn_judge_timer *timer, const cairn_task *task, double residual,
                           double estimate)
{
    double now = has_shares(task) ? cairn_residual_share(residual) : residual;
    timer->ratio = estimate > 0 ? now / estimate : 0;
}

bool cairn_judge_timer_due(const cairn_judge_timer *timer, const cairn_task *task, double estimate)
{
    enum { CLOSE_PATIENCE = 50 };
    int64_t waited = task->report->iterations - timer->judged_at;
    double residual = cairn_judge_timer_residual(timer, task, estimate);
    double tolerance = task->options->tolerance;
    bool close = residual <= 3 * tolerance && waited >= CLOSE_PATIENCE;
    return residual <= tolerance || close || waited >= timer->patience;
}

void cairn_judge_timer_learn(cairn_judge_timer *timer, const cairn_task *task, double estimate)
{
    double residual = measured(task);
    cairn_judge_timer_set(timer, task, residual, isfinite(residual) ? estimate : 0);
    timer->judged_at = task->report->iterations;
}

/* ---- problems ------------------------------------------------------------------------------- */

double cairn_problem_largest_friction(const cairn_problem *p)
{
    double mu = 0;
    if (p->resident)
        return p->resident->friction;
    for (int j = 0; j < p->contacts; j++)
        mu = fmax(mu, p->mu[j]);
    return cairn_link_largest(cairn_problem_link(p), mu);
}

/* ---- the call ------------------------------------------------------------------------------- */

/* The caller's arrays: impulses, and memory for their velocities. */
typedef struct caller {
    double *r, *v, *u;
} caller;

static void *take_from_arena(void *from, size_t count, size_t size)
{
    return cairn_arena_take(from, count, size);
}

/* The system on the back end, with vectors at home in the caller's arrays. */
static cairn_status place(const cairn_problem *p, const caller *home, cairn_task *task)
{
    const cairn_backend *b = task->backend;
    const cairn_room room = { take_from_arena, task->arena };
    task->p = p;
    task->contacts = cairn_problem_size(p);
    task->link = cairn_problem_link(p);
    task->system = NULL;
    TRY(b->create(p, &room, &task->system));
    TRY(b->vector(task->system, CAIRN_SPACE_IMPULSES, home->r, &task->r));
    TRY(b->vector(task->system, CAIRN_SPACE_VELOCITIES, home->v, &task->v));
    TRY(b->vector(task->system, CAIRN_SPACE_IMPULSES, home->u, &task->u));
    b->upload(task->system, task->r);
    return CAIRN_OK;
}

static void fetch(const cairn_task *task)
{
    task->backend->download(task->system, task->r);
    task->backend->download(task->system, task->v);
    task->backend->download(task->system, task->u);
}

static void leave(cairn_task *task)
{
    if (task->system)
        task->backend->destroy(task->system);
    task->system = NULL;
}

static cairn_status start_task(const cairn_problem *p, const caller *home, cairn_task *task)
{
    TRY(place(p, home, task));
    TRY(cairn_task_vector(task, CAIRN_SPACE_IMPULSES, &task->best));
    if (cairn_task_is_on_host(task))
        task->host = (cairn_host_arrays){ task->r->x, task->v->x, task->u->x, task->best->x };
    task->backend->project(task->system, task->r); /* a start that passes is the answer */
    task->best_relative = task->best_rank = INFINITY;
    task->started = cairn_clock_seconds();
    return CAIRN_OK;
}

bool cairn_task_start_over(cairn_task *task, cairn_vector *r)
{
    if (task->best_relative < DBL_MAX)
        return false;
    task->backend->clear(task->system, r);
    task->report->converged = cairn_task_judge(task, r);
    return true;
}

/* The caller gets the best impulses that were judged, with their velocities. A method that broke
 * off has only not converged: numbers are refused if even those of no impulses are not finite. */
static cairn_status finish_task(bool broke, cairn_task *task)
{
    bool over = cairn_task_start_over(task, task->r);
    if (!(task->best_relative < INFINITY))
        return CAIRN_NOT_FINITE;
    if (broke)
        task->report->converged = task->best_relative <= task->options->tolerance;
    if (task->best_is_last && task->kept)
        return CAIRN_OK; /* judged already */
    if (broke || over || task->options->increment_tolerance <= 0)
        task->backend->copy(task->system, task->best, task->r);
    ask_judge(task, task->r);
    return is_judged(task, task->r) ? CAIRN_OK : CAIRN_NOT_FINITE;
}

/* Threads that wait for short loops between long serial work spin; on a busy machine the working
 * thread then has to wait for threads that have lost their core. */
cairn_status cairn_solver_factorise(const cairn_solver *solver, cairn_task *task, cairn_vector *r)
{
    int width = cairn_parallel_width();
    if (solver->alone)
        cairn_parallel_threads(1);
    cairn_status status = solver->run_on_host(solver, task, r->x);
    if (solver->alone)
        cairn_parallel_threads(width);
    return status;
}

static cairn_status run_solver(const cairn_solver *solver, const cairn_problem *p,
                               const caller *home, cairn_task *task)
{
    cairn_status status = start_task(p, home, task);
    if (status == CAIRN_OK)
        status = cairn_solver_run(solver, task, task->r);
    if (status == CAIRN_OK || status == CAIRN_NOT_FINITE)
        status = finish_task(status == CAIRN_NOT_FINITE, task);
    if (status == CAIRN_OK)
        fetch(task);
    leave(task);
    const cairn_link *link = cairn_problem_link(p);
    return status == CAIRN_OK && link ? link->status : status;
}

/* Judge the caller's impulses for a problem. */
static cairn_status judge_anew(const cairn_problem *p, const caller *home, cairn_task *task)
{
    cairn_status status = place(p, home, task);
    if (status == CAIRN_OK) {
        ask_judge(task, task->r);
        fetch(task);
    }
    leave(task);
    return status;
}

/* Rolling and spinning friction in units of sliding, so that no method depends on the size of the
 * bodies; not if the tolerance refers to a measure that does. */
static bool needs_units(const cairn_problem *p, const cairn_solve_options *o)
{
    return p->rolling + p->spinning && !o->fclib_measure;
}

static cairn_status enter_units(const cairn_problem *p, const caller *home, cairn_task *task,
                                cairn_rescaled *scaled)
{
    TRY(cairn_problem_rescale(p, task->arena, scaled));
    for (size_t i = 0; i < (size_t)p->dimension * (size_t)p->contacts; i++)
        home->r[i] /= scaled->length[i];
    return CAIRN_OK;
}

/* Clean up after a solve that ended with `status`. */
static cairn_status leave_units(const cairn_problem *p, const caller *home,
                                const cairn_rescaled *scaled, cairn_status status, cairn_task *task)
{
    for (size_t i = 0; i < (size_t)p->dimension * (size_t)p->contacts; i++)
        home->r[i] *= scaled->length[i];
    TRY(status);
    TRY(judge_anew(p, home, task));
    if (task->options->increment_tolerance <= 0 && !(measured(task) <= task->options->tolerance))
        task->report->converged = false; /* met in the other units, to rounding, but not in these */
    return CAIRN_OK;
}

static cairn_status change_backend(const char *name, cairn_workspace *workspace,
                                   cairn_solve_report *report)
{
    cairn_error error = { 0 };
    forget_pile(workspace);
    cairn_backend_close(&workspace->use);
    cairn_status status = cairn_backend_open(name, &workspace->use, &error);
    snprintf(report->remark, sizeof report->remark, "%s", error.message);
    return status;
}

/* The requested back end; it is kept open for later calls with the same one. */
static cairn_status use_backend(cairn_workspace *workspace, const char *asked,
                                cairn_solve_report *report)
{
    const char *name = asked ? asked : cairn_backend_host.name;
    const cairn_backend *now = workspace->use.backend;
    if (now && strcmp(now->name, name) == 0)
        return CAIRN_OK;
    return change_backend(name, workspace, report);
}

const cairn_backend *cairn_workspace_backend(cairn_workspace *workspace, const char *name)
{
    cairn_solve_report unread;
    return use_backend(workspace, name, &unread) == CAIRN_OK ? workspace->use.backend : NULL;
}

/* The reason why a solver does not run on the requested back end. */
static cairn_status refuse(const cairn_solver *solver, const cairn_solve_options *o,
                           const cairn_problem *p, cairn_solve_report *report)
{
    cairn_error error = { 0 };
    if (!accepts(solver, true, o->law, p))
        return CAIRN_UNSUPPORTED; /* nowhere */
    cairn_status status = cairn_solver_check(solver->name, o->backend, &error);
    if (status == CAIRN_OK) /* auto: exact friction on cones with edges is for lemke */
        snprintf(error.message, sizeof error.message,
                 "%s treats this problem on the back end host only", solver->name);
    snprintf(report->remark, sizeof report->remark, "%s", error.message);
    return status == CAIRN_OK ? CAIRN_UNSUPPORTED : status;
}

/* Whether the starting impulses and their squares are finite. */
static bool is_finite_start(const cairn_problem *p, const double *r)
{
    if (p->resident)
        return true; /* r is on a device; the first judgement finds out */
    double square = cairn_host_dot((size_t)p->dimension * (size_t)p->contacts, r, r);
    return cairn_link_all(cairn_problem_link(p), isfinite(square));
}

/* Few contacts are solved without a back end; report->converged says whether this succeeded. */
static cairn_status try_small(const cairn_problem *p, const cairn_solve_options *o,
                              cairn_workspace *workspace, const caller *home,
                              cairn_solve_report *report)
{
    cairn_arena_reset(&workspace->arena);
    if (!is_host(o->backend) || p->cut || !cairn_small_accepts(p, o))
        return CAIRN_OK;
    TRY(cairn_small_solve(p, o, &workspace->arena, home->r, home->u, report));
    cairn_arena_reset(&workspace->arena);
    if (report->converged)
        report->solver = cairn_solver_pgs.name;
    return CAIRN_OK;
}

cairn_status cairn_solve(const cairn_problem *p, const cairn_solve_options *solve_options,
                         cairn_workspace *workspace, double *r, double *v, double *u,
                         cairn_solve_report *report)
{
    const cairn_solver *solver = find(solve_options->solver);
    if (!solver)
        return CAIRN_NOT_FOUND;
    *report = (cairn_solve_report){ .solver = solver->name, .outer_iterations = 1 };
    if (!accepts(solver, is_host(solve_options->backend), solve_options->law, p))
        return refuse(solver, solve_options, p, report);
    TRY(use_backend(workspace, solve_options->backend, report));
    if (!is_finite_start(p, r))
        return CAIRN_NOT_FINITE; /* no method can recover from that */
    cairn_task task = { .backend = workspace->use.backend,
                        .options = solve_options,
                        .arena = &workspace->arena,
                        .report = report,
                        .horizon = solve_options->max_iterations };
    const caller home = { r, v, u };
    cairn_problem asked = *p;
    if (solve_options->law == CAIRN_LAW_COULOMB)
        asked.s = NULL; /* exact friction finds its own s */
    TRY(try_small(&asked, solve_options, workspace, &home, report));
    if (report->converged)
        return CAIRN_OK;
    if (!p->resident)
        TRY(cairn_problem_find_segments(&asked, task.arena));
    cairn_rescaled scaled;
    bool rescaled = needs_units(p, solve_options);
    if (rescaled)
        TRY(enter_units(&asked, &home, &task, &scaled));
    cairn_status status = run_solver(solver, rescaled ? &scaled.p : &asked, &home, &task);
    if (rescaled)
        status = leave_units(&asked, &home, &scaled, status, &task);
    /* The judge takes contacts side by side where a part counts enough of them in a row, which may
     * differ by rounding from one by one; a contact between two parts must be the same for both. */
    if (status == CAIRN_OK && p->cut)
        cairn_problem_relative(&asked, r, v, u);
    return status;
}
