/* newton.c - semismooth Newton in a proximal-point loop: exact Coulomb and convex law.
 *
 * Finds r = Phi(r - rho u), u = W r + q: Alart and Curnier's equation for Coulomb's law, the
 * natural map for the convex one (problem/local_parts.c). W is mostly singular, so each round
 * solves the problem with W + alpha D instead, D = trace(W_jj)/d, pulled towards the last answer:
 *   (1) begin with a few sweeps of Gauss-Seidel, unless they are done, and alpha = 1/1000;
 *   (2) centre = r: u = W r + q + alpha D (r - centre);
 *   (3) Newton steps J dr = -F, whole ones (newton_system.c), until |F| has fallen tenfold;
 *   (4) if that was reached in time: the centre moves there, and alpha is divided by 10 if it took
 *       few steps, else by 2;
 *   (5) if not: back to the centre, alpha grows fivefold, and a few sweeps bring contacts to other
 *       states; their result is kept unless the residual grew much;
 *   (6) stop on the judge's residual of P_K(r) after each round.
 * Steps are whole because what matters is which contacts are open, stick or slide; a line search
 * on |F| lets them change one by one, and took ten times the steps on the problems of FCLib.
 * There |F| may grow a thousandfold and vanish in the next step. The loop is safe because of alpha:
 * with a large one the problem is nearly diagonal. There is no proof of convergence for Coulomb's
 * law; a loop that finds nothing better for long gives up, and the report says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "problem/operator.h"
#include "solve/systems.h"

enum { SWEEPS = 20, STEPS = 8, FEW_STEPS = 3, PATIENCE = 200 };

static const double first_alpha = 1e-3, least_alpha = 1e-12, largest_alpha = 1e3;
static const double enough = 0.1;   /* |F| of a round over |F| at its centre          */
static const double much_worse = 3; /* growth of the residual that sweeps may cause   */

typedef struct search {
    cairn_task *task;
    cairn_newton_system system;
    double residual; /* the judge's residual of r            */
    double *kept;    /* r to go back to                      */
    double *judged;  /* P_K(r)                               */
    int64_t rounds_at_best;
    double halved;     /* the best residual when it was last halved, */
    int64_t halved_at; /* and the iterations then                    */
} search;

/* (6) */
static void judge(search *s, const double *r)
{
    const cairn_system *system = s->task->system;
    double best = s->task->best_relative;
    memcpy(s->judged, r, system->r_count * sizeof(double));
    cairn_host_project(system, s->judged);
    s->task->report->converged = cairn_task_judge_array(s->task, s->judged);
    s->residual = s->task->report->judgement.asked.relative;
    if (s->task->best_relative < best)
        s->rounds_at_best = s->task->report->outer_iterations;
    if (s->task->best_relative > 0.5 * s->halved)
        return;
    s->halved = s->task->best_relative;
    s->halved_at = s->task->report->iterations;
}

/* Sweeps from r; the judge's velocities may be those of another r. */
static void sweep(search *s, double *r)
{
    cairn_task *task = s->task;
    const cairn_system *system = task->system;
    memcpy(s->judged, r, system->r_count * sizeof(double));
    cairn_problem_velocity(task->p, r, task->host.v);
    for (int k = 0; k < SWEEPS && cairn_task_may_go_on(task); k++) {
        cairn_host_sweep(system, task->options->law, s->judged, r, task->host.v);
        task->report->iterations++;
    }
    judge(s, r);
}

/* (2) and (3); *reached tells whether |F| fell enough */
static cairn_status solve_proximal(search *s, double *r, bool *reached, int *steps)
{
    cairn_newton_system *system = &s->system;
    memcpy(system->centre, r, system->n * sizeof(double));
    double target = enough * cairn_newton_system_residual(system, r);
    bool good = true;
    *reached = false;
    for (*steps = 0; *steps < STEPS && good && !*reached; ++*steps) {
        if (!cairn_task_may_go_on(s->task))
            return CAIRN_OK;
        TRY(cairn_newton_system_step(system, r, &good));
        s->task->report->iterations++;
        *reached = good && cairn_newton_system_residual(system, r) <= target;
    }
    return CAIRN_OK;
}

/* (5) */
static void step_back(search *s, double before, double *r)
{
    size_t bytes = s->system.n * sizeof(double);
    s->system.alpha = fmin(largest_alpha, 5 * fmax(s->system.alpha, 1e-9));
    if (!(s->residual <= before)) { /* true for NaN as well */
        memcpy(r, s->kept, bytes);
        s->residual = before;
    }
    before = s->residual;
    memcpy(s->kept, r, bytes);
    sweep(s, r);
    if (s->residual <= much_worse * before)
        return;
    memcpy(r, s->kept, bytes);
    s->residual = before;
}

/* (2) to (6) once */
static cairn_status go_round(search *s, double *r)
{
    bool reached;
    int steps;
    double before = s->residual;
    memcpy(s->kept, r, s->system.n * sizeof(double));
    TRY(solve_proximal(s, r, &reached, &steps));
    s->task->report->outer_iterations++;
    judge(s, r);
    if (s->task->report->converged)
        return CAIRN_OK;
    if (!reached || !isfinite(s->residual))
        step_back(s, before, r);
    else /* (4) */
        s->system.alpha = fmax(least_alpha, s->system.alpha * (steps <= FEW_STEPS ? 0.1 : 0.5));
    return CAIRN_OK;
}

/* Whether another round is worthwhile; if not, the remark of the report says why. */
static bool is_stuck(search *s)
{
    cairn_solve_report *report = s->task->report;
    bool impatient = s->task->patience > 0 && report->iterations - s->halved_at > s->task->patience;
    bool stuck = report->outer_iterations - s->rounds_at_best >= PATIENCE ||
                 s->system.alpha >= largest_alpha || impatient;
    if (stuck)
        snprintf(report->remark, sizeof report->remark,
                 "stuck after %lld rounds; the problem may have no solution",
                 (long long)report->outer_iterations);
    return stuck;
}

static cairn_status iterate(search *s, double *r)
{
    cairn_task *task = s->task;
    s->system.alpha = first_alpha;
    TRY(cairn_host_diagonals(task->system, task->arena));
    if (task->swept)
        judge(s, r);
    else
        sweep(s, r); /* (1) */
    if (!isfinite(s->residual))
        return CAIRN_NOT_FINITE;
    while (!task->report->converged && cairn_task_may_go_on(task) && !is_stuck(s))
        TRY(go_round(s, r));
    return CAIRN_OK;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    search s = { .task = task, .halved = INFINITY };
    task->report->converged = cairn_task_judge_array(task, r);
    if (task->report->converged)
        return CAIRN_OK;
    task->report->outer_iterations = 0;
    s.kept = cairn_arena_take(task->arena, task->system->r_count, sizeof(double));
    s.judged = cairn_arena_take(task->arena, task->system->r_count, sizeof(double));
    if (!s.kept || !s.judged)
        return CAIRN_NO_MEMORY;
    cairn_status status = cairn_newton_system_create(task, &s.system);
    if (status == CAIRN_OK)
        status = iterate(&s, r);
    cairn_newton_system_destroy(&s.system);
    return status;
}

const cairn_solver cairn_solver_newton = {
    .name = "newton",
    .summary = "semismooth Newton in a proximal-point loop; few contacts, high accuracy",
    .laws = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) | CAIRN_TREATS_ROWS |
            CAIRN_TREATS_ROLLING,
    .run_on_host = run,
    .most_contacts = 20000,
    .alone = true,
};
