/* apgd.c - projected gradient descent on the dual, plain and accelerated ([BL23], Algorithms 1-2).
 *
 * Minimises f(r) = 1/2 r'W r + q'r over the product of friction cones. With g = W y + q:
 *   (1) r+ = P_K(y - g/L)
 *   (2) adaptive step (-as, -asr): while (r+ - y)'W(r+ - y) > L |r+ - y|^2, at most 10 times,
 *       L = 2 L and (1) again. This is the paper's test f(r+) > f(y) + g.(r+ - y) + L/2 |r+ - y|^2
 *       written without the cancellation.
 *   (3) stop on the judge, or, when asked, on |r+ - r|_inf/(|r|_inf + 1) < tolerance
 *   (4) theta+ = (theta sqrt(4 + theta^2) - theta^2)/2
 *       beta = theta (1 - theta)/(theta^2 + theta+)
 *       y = r+ + beta (r+ - r); its gradient by the same linear rule
 *   (5) adaptive restart (-ar, -asr): theta = 1 and y = r+ when g.(r+ - r) > 0
 *   (6) adaptive step: L = 0.97 L
 * pgd is (1) and (3) with y = r. apgd-d is apgd-asr in the metric of the contacts' own inverse
 * masses w_j: (1) r+_j = P_K(y_j - g_j/(L w_j)), (2) with w_j |r+_j - y_j|^2; cones do not mind the
 * scaling, and unequal masses no longer spoil the step; rows with bounds have one each.
 * One application of W per trial. Convex law only: around it, the fixed point of fixed_point.c
 * gives Coulomb's. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "problem/operator.h"
#include "solve/solver.h"

enum { PATIENCE = 50, DOUBLINGS = 10, POWER_STEPS = 40 };

/* What a member of the family does beyond (1) and (3). */
enum { ACCELERATE = 1, ADAPT_STEP = 2, ADAPT_RESTART = 4, SCALE = 8 };

typedef struct descent {
    double L; /* 1/step, kg^-1                                  */
    double theta;
    double *y, *g;               /* where the gradient is taken, and the gradient  */
    double *old_r, *r_g, *old_g; /* last r; gradients at r and at old_r        */
    double *weight;              /* of each component: w_j, or 1               */
} descent;

static void gradient_at(cairn_task *task, const double *r, double *g)
{
    const cairn_system *s = &task->system;
    s->kernels->gradient(s, r, task->v, g);
}

/* Largest eigenvalue of W by the power method from a fixed start, with a tenth to spare. */
static double estimate_largest(cairn_task *task, descent *d)
{
    const cairn_system *s = &task->system;
    double *x = d->y, *Wx = d->g, *q = d->old_g, largest = 0;
    memset(x, 0, s->r_count * sizeof(double));
    gradient_at(task, x, q);
    for (size_t i = 0; i < s->r_count; i++)
        x[i] = 1 + 0.5 * (double)(i % 7); /* not orthogonal to any simple mode */
    for (int k = 0; k < POWER_STEPS; k++) {
        double length = sqrt(s->kernels->dot(s->r_count, x, x));
        s->kernels->axpby(s->r_count, 0, x, length > 0 ? 1 / length : 0, x);
        gradient_at(task, x, Wx);
        s->kernels->axpby(s->r_count, -1, q, 1, Wx);
        largest = sqrt(s->kernels->dot(s->r_count, Wx, Wx));
        memcpy(x, Wx, s->r_count * sizeof(double));
    }
    return largest > 0 ? 1.1 * largest : 1;
}

/* 1, or the scales of the contacts with SCALE */
static cairn_status take_weights(unsigned does, cairn_task *task, descent *d)
{
    const cairn_problem *p = task->system.p;
    d->weight = cairn_arena_take(task->arena, task->system.r_count, sizeof(double));
    if (!d->weight)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < task->system.r_count; i++)
        d->weight[i] = 1;
    for (int j = 0; (does & SCALE) && j < p->contacts; j++)
        cairn_contact_scales(p, j, d->weight + (size_t)j * (size_t)p->dimension);
    return CAIRN_OK;
}

static cairn_status start(unsigned does, cairn_task *task, const double *r, descent *d)
{
    size_t n = task->system.r_count;
    TRY(take_weights(does, task, d));
    double **arrays[] = { &d->y, &d->g, &d->old_r, &d->r_g, &d->old_g };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = cairn_arena_take(task->arena, n, sizeof(double));
        if (!*arrays[i])
            return CAIRN_NO_MEMORY;
    }
    double step = task->options->step_length;
    d->L = step > 0 ? 1 / step : does & SCALE ? 1 : estimate_largest(task, d);
    d->theta = 1;
    memcpy(d->y, r, n * sizeof(double));
    memcpy(d->old_r, r, n * sizeof(double));
    gradient_at(task, r, d->r_g);
    memcpy(d->g, d->r_g, n * sizeof(double));
    memcpy(d->old_g, d->r_g, n * sizeof(double));
    return CAIRN_OK;
}

/* (1) r = P_K(y - g/L), and the gradient there */
static void gradient_step(cairn_task *task, descent *d, double *r)
{
    const cairn_system *s = &task->system;
    for (size_t i = 0; i < s->r_count; i++)
        r[i] = d->y[i] - d->g[i] / (d->L * d->weight[i]);
    s->kernels->project(s, r);
    gradient_at(task, r, d->r_g);
}

/* (2) (r - y)'W(r - y) > L |r - y|^2, where W(r - y) is the difference of gradients */
static bool step_too_long(const cairn_task *task, const descent *d, const double *r)
{
    double curvature = 0, length2 = 0;
    for (size_t i = 0; i < task->system.r_count; i++) {
        double move = r[i] - d->y[i];
        curvature += move * (d->r_g[i] - d->g[i]);
        length2 += d->weight[i] * move * move;
    }
    return curvature > d->L * length2;
}

/* |r+ - r|_inf/(|r|_inf + 1) and, for the watch, L |r+ - y|_2 in m/s */
static double increment(const cairn_task *task, const descent *d, const double *r, double *estimate)
{
    double largest = 0, size = 0, length2 = 0;
    for (size_t i = 0; i < task->system.r_count; i++) {
        largest = fmax(largest, fabs(r[i] - d->old_r[i]));
        size = fmax(size, fabs(d->old_r[i]));
        double way = d->weight[i] * (r[i] - d->y[i]);
        length2 += way * way;
    }
    *estimate = d->L * sqrt(length2);
    return largest / (size + 1);
}

/* (4) and (5) */
static void extrapolate(unsigned does, const cairn_task *task, descent *d, const double *r)
{
    double theta = d->theta, theta2 = theta * theta, uphill = 0;
    double next = 0.5 * (theta * sqrt(4 + theta2) - theta2);
    double beta = does & ACCELERATE ? theta * (1 - theta) / (theta2 + next) : 0;
    for (size_t i = 0; i < task->system.r_count; i++)
        uphill += d->g[i] * (r[i] - d->old_r[i]);
    bool restart = (does & ADAPT_RESTART) && uphill > 0;
    if (restart)
        beta = 0;
    d->theta = restart ? 1 : next;
    for (size_t i = 0; i < task->system.r_count; i++) {
        d->y[i] = r[i] + beta * (r[i] - d->old_r[i]);
        d->g[i] = d->r_g[i] + beta * (d->r_g[i] - d->old_g[i]);
        d->old_r[i] = r[i];
        d->old_g[i] = d->r_g[i];
    }
}

/* (1) to (6) once; returns whether (3) said stop */
static bool iterate(unsigned does, cairn_task *task, descent *d, cairn_watch *watch, double *r)
{
    double estimate, by_increment = task->options->increment_tolerance;
    gradient_step(task, d, r);
    for (int k = 0; (does & ADAPT_STEP) && k < DOUBLINGS && step_too_long(task, d, r); k++) {
        d->L *= 2;
        gradient_step(task, d, r);
    }
    double change = increment(task, d, r, &estimate);
    task->report->iterations++;
    if (by_increment > 0 && change < by_increment)
        return true;
    extrapolate(does, task, d, r);
    if (does & ADAPT_STEP)
        d->L *= 0.97;
    if (by_increment > 0 || !cairn_watch_due(watch, task, estimate))
        return false;
    bool converged = cairn_task_judge(task, r);
    cairn_watch_learn(watch, task, estimate);
    return converged;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    cairn_solve_report *report = task->report;
    cairn_watch watch = { .patience = PATIENCE };
    descent d = { 0 };
    report->converged = cairn_task_judge(task, r) && task->options->increment_tolerance <= 0;
    if (report->converged)
        return CAIRN_OK;
    TRY(start(self->variant, task, r, &d));
    while (!report->converged && cairn_task_may_go_on(task)) {
        report->converged = iterate(self->variant, task, &d, &watch, r);
        if (!isfinite(d.L))
            return CAIRN_NOT_FINITE;
    }
    report->step_length = 1 / d.L;
    cairn_task_judge(task, r);
    return CAIRN_OK;
}

enum {
    CONVEX = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) |
             CAIRN_TREATS_ROWS | CAIRN_TREATS_ROLLING
};

const cairn_solver cairn_solver_pgd = { "pgd", "projected gradient with a fixed step [BL23]",
                                        CONVEX, 0, run };
const cairn_solver cairn_solver_apgd = { "apgd", "Nesterov's accelerated projected gradient [BL23]",
                                         CONVEX, ACCELERATE, run };
const cairn_solver cairn_solver_apgd_as = { "apgd-as",
                                            "accelerated projected gradient with adaptive step",
                                            CONVEX, ACCELERATE | ADAPT_STEP, run };
const cairn_solver cairn_solver_apgd_ar = { "apgd-ar",
                                            "accelerated projected gradient with adaptive restart",
                                            CONVEX, ACCELERATE | ADAPT_RESTART, run };
const cairn_solver cairn_solver_apgd_d = { "apgd-d",
                                           "apgd-asr scaled by the contacts' own inverse masses",
                                           CONVEX, ACCELERATE | ADAPT_STEP | ADAPT_RESTART | SCALE,
                                           run };
const cairn_solver cairn_solver_apgd_asr = {
    "apgd-asr", "accelerated projected gradient with adaptive step and restart", CONVEX,
    ACCELERATE | ADAPT_STEP | ADAPT_RESTART, run
};
