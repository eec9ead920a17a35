/* gauss_seidel.c - block Gauss-Seidel with an exact one-contact solve, plain and accelerated.
 *
 * pgs: (1) visit the contacts in order; (2) at each, solve its own problem exactly with the others
 * held (problem/local.c) and pass the change on to the velocities at once.
 *
 * ngs: Nesterov's extrapolation around the same sweep:
 *   (1) y = r + beta (r - r_previous), and the velocities by the same linear rule;
 *   (2) r+ = one sweep from y;
 *   (3) theta+ = (theta sqrt(4 + theta^2) - theta^2)/2
 *       beta = theta (1 - theta)/(theta^2 + theta+);
 *   (4) restart (theta = 1) when (y - r+).(r+ - r) > 0, or after a period that adapts: longer while
 *       the residual falls slowly but surely, shorter when it grew.
 * Both solve the convex law and, with Coulomb's local solve, the exact one (then known as NSGS);
 * for Coulomb's there is no proof of convergence, and ngs goes on without momentum when it does
 * harm. Velocities are recomputed from r at every judgement, so rounding does not add up. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "solve/solver.h"

enum { PLAIN, ACCELERATED };
enum { MOST_PATIENCE = 50, FIRST_PERIOD = 100, SHORTEST_PERIOD = 10, LONGEST_PERIOD = 1600 };

/* Momentum of ngs; pgs runs with `off`. */
typedef struct momentum {
    bool off;
    double theta, beta;
    int64_t age, period; /* sweeps since the restart, and when to force one   */
    double residual;     /* the judge's at the last forced restart            */
    double *r_previous, *v_previous;
} momentum;

static void restart(momentum *m)
{
    m->theta = 1;
    m->beta = 0;
    m->age = 0;
}

static cairn_status start_momentum(cairn_task *task, const double *r, bool off, momentum *m)
{
    const cairn_system *s = &task->system;
    *m = (momentum){ .off = off, .period = FIRST_PERIOD, .residual = INFINITY };
    m->r_previous = cairn_arena_take(task->arena, s->r_count, sizeof(double));
    m->v_previous = cairn_arena_take(task->arena, s->v_count, sizeof(double));
    if (!m->r_previous || !m->v_previous)
        return CAIRN_NO_MEMORY;
    memcpy(m->r_previous, r, s->r_count * sizeof(double));
    if (s->v_count) /* the local form has none */
        memcpy(m->v_previous, task->v, s->v_count * sizeof(double));
    restart(m);
    return CAIRN_OK;
}

/* (1) extrapolate, (2) sweep */
static cairn_sweep accelerated_sweep(cairn_task *task, const momentum *m, double *r)
{
    const cairn_system *s = &task->system;
    if (!m->off) {
        s->kernels->extrapolate(s->r_count, m->beta, m->r_previous, r);
        s->kernels->extrapolate(s->v_count, m->beta, m->v_previous, task->v);
    }
    return s->kernels->sweep(s, task->options->law, m->r_previous, r, task->v);
}

/* (3) the next beta, (4) restart when momentum points uphill */
static void advance(momentum *m, const cairn_sweep *sweep)
{
    double theta = m->theta, theta2 = theta * theta;
    double next = 0.5 * (theta * sqrt(4 + theta2) - theta2);
    m->beta = theta * (1 - theta) / (theta2 + next);
    m->theta = next;
    m->age++;
    if (sweep->uphill > 0)
        restart(m);
}

/* (4) the forced restart; a residual that grew tenfold over its best ends momentum for good */
static void adapt_period(const cairn_task *task, momentum *m)
{
    double residual = task->report->judgement.asked.relative;
    if (residual > 10 * task->best_relative && residual > 1)
        m->off = true;
    if (m->age < m->period)
        return;
    if (residual > m->residual && m->period > SHORTEST_PERIOD)
        m->period /= 2;
    else if (residual > 0.37 * m->residual && m->period < LONGEST_PERIOD)
        m->period *= 2;
    m->residual = residual;
    restart(m);
}

/* Few contacts are judged after every sweep: one or two sweeps may do. */
static int64_t patience_for(int contacts)
{
    int64_t patience = 1 + contacts / 8;
    return patience < MOST_PATIENCE ? patience : MOST_PATIENCE;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    cairn_solve_report *report = task->report;
    cairn_watch watch = { .patience = patience_for(task->system.p->contacts) };
    momentum m;
    report->converged = cairn_task_judge(task, r);
    double first = report->judgement.asked.relative;
    TRY(start_momentum(task, r, self->variant == PLAIN, &m));
    while (!report->converged && cairn_task_may_go_on(task)) {
        cairn_sweep sweep = accelerated_sweep(task, &m, r);
        double estimate = sqrt(sweep.change2);
        if (!isfinite(estimate))
            return CAIRN_NOT_FINITE;
        if (report->iterations++ == 0 && estimate > 0)
            watch.ratio = first / estimate;
        advance(&m, &sweep);
        if (!cairn_watch_due(&watch, task, estimate))
            continue;
        report->converged = cairn_task_judge(task, r);
        cairn_watch_learn(&watch, task, estimate);
        adapt_period(task, &m);
    }
    if (!report->converged && watch.judged_at < report->iterations)
        report->converged = cairn_task_judge(task, r);
    return CAIRN_OK;
}

enum {
    ALL = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) | CAIRN_TREATS_ROWS |
          CAIRN_TREATS_ROLLING
};

const cairn_solver cairn_solver_pgs = {
    "pgs", "block Gauss-Seidel, exact one-contact solves (projected; NSGS for exact Coulomb)", ALL,
    PLAIN, run
};

const cairn_solver cairn_solver_ngs = {
    "ngs", "Gauss-Seidel with Nesterov's acceleration and adaptive restart; large problems", ALL,
    ACCELERATED, run
};
