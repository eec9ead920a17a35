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
 * gives Coulomb's. Without friction all vectors are of normal impulses alone (normals.h). */
#include <math.h>
#include <string.h>

#include "backend/host/normals.h"
#include "base/status.h"
#include "problem/operator.h"
#include "solve/solver.h"

enum { PATIENCE = 50, DOUBLINGS = 10, POWER_STEPS = 40 };

/* What a member of the family does beyond (1) and (3). */
enum { ACCELERATE = 1, ADAPT_STEP = 2, ADAPT_RESTART = 4, SCALE = 8 };

typedef struct descent {
    cairn_system space; /* of the task, or of its normals                  */
    bool normals;
    double L; /* 1/step, kg^-1                                  */
    double theta;
    double *y, *g;         /* where the gradient is taken, and the gradient  */
    double *r, *r_g;       /* the newest point, and the gradient there       */
    double *last, *last_g; /* the one before                                 */
    double *weight;        /* of each component: w_j; NULL: 1                */
} descent;

/* Sums over all components at a new point. */
typedef struct measures {
    double curvature, length2; /* (r - y)'W(r - y), where W(r - y) is the difference of gradients;
                                  sum w (r - y)^2                                              */
    double change, size;       /* |r - last|_inf, |last|_inf                                   */
    double way2;               /* sum (w (r - y))^2                                            */
    double uphill;             /* g.(r - last)                                                 */
} measures;

static void gradient_at(const descent *d, cairn_task *task, const double *r, double *g)
{
    d->space.kernels->gradient(&d->space, r, task->v, g);
}

/* Largest eigenvalue of W by the power method from a fixed start, with a tenth to spare. */
static double estimate_largest(cairn_task *task, descent *d)
{
    const cairn_system *s = &d->space;
    double *x = d->y, *Wx = d->g, *q = d->last_g, largest = 0;
    memset(x, 0, s->r_count * sizeof(double));
    gradient_at(d, task, x, q);
    for (size_t i = 0; i < s->r_count; i++)
        x[i] = 1 + 0.5 * (double)(i % 7); /* not orthogonal to any simple mode */
    for (int k = 0; k < POWER_STEPS; k++) {
        double length = sqrt(s->kernels->dot(s->r_count, x, x));
        s->kernels->axpby(s->r_count, 0, x, length > 0 ? 1 / length : 0, x);
        gradient_at(d, task, x, Wx);
        s->kernels->axpby(s->r_count, -1, q, 1, Wx);
        largest = sqrt(s->kernels->dot(s->r_count, Wx, Wx));
        memcpy(x, Wx, s->r_count * sizeof(double));
    }
    return largest > 0 ? 1.1 * largest : 1;
}

/* With SCALE, the scales of the contacts. */
static cairn_status take_weights(unsigned does, cairn_task *task, descent *d)
{
    const cairn_problem *p = task->system.p;
    size_t each = d->normals ? 1 : (size_t)p->dimension;
    double scale[CAIRN_MAX_DIMENSION];
    if (!(does & SCALE))
        return CAIRN_OK;
    d->weight = cairn_arena_take(task->arena, d->space.r_count, sizeof(double));
    if (!d->weight)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < p->contacts; j++) {
        cairn_contact_scales(p, j, scale);
        memcpy(d->weight + (size_t)j * each, scale, each * sizeof(double));
    }
    return CAIRN_OK;
}

static cairn_status take_space(cairn_task *task, descent *d)
{
    d->normals = cairn_problem_is_normal(task->system.p);
    d->space = task->system;
    if (d->normals)
        TRY(cairn_system_create(task->system.p, &cairn_kernels_normals, task->arena, &d->space));
    double **arrays[] = { &d->y, &d->g, &d->r, &d->r_g, &d->last, &d->last_g };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = cairn_arena_take(task->arena, d->space.r_count, sizeof(double));
        if (!*arrays[i])
            return CAIRN_NO_MEMORY;
    }
    return CAIRN_OK;
}

static cairn_status start(unsigned does, cairn_task *task, const double *r, descent *d)
{
    TRY(take_space(task, d));
    TRY(take_weights(does, task, d));
    size_t bytes = d->space.r_count * sizeof(double);
    double step = task->options->step_length;
    d->L = step > 0 ? 1 / step : does & SCALE ? 1 : estimate_largest(task, d);
    d->theta = 1;
    if (d->normals)
        cairn_normals_pack(task->system.p, r, d->r);
    else
        memcpy(d->r, r, bytes);
    gradient_at(d, task, d->r, d->r_g);
    memcpy(d->y, d->r, bytes);
    memcpy(d->g, d->r_g, bytes);
    return CAIRN_OK;
}

/* The newest point into r, and the judge's word on it. */
static bool judged(const descent *d, cairn_task *task, double *r)
{
    if (d->normals)
        cairn_normals_unpack(task->system.p, d->r, r);
    else
        memcpy(r, d->r, d->space.r_count * sizeof(double));
    return cairn_task_judge(task, r);
}

/* The newest point becomes the one before; its place is free for the next. */
static void make_room(descent *d)
{
    double *r = d->r, *r_g = d->r_g;
    d->r = d->last;
    d->r_g = d->last_g;
    d->last = r;
    d->last_g = r_g;
}

/* (1) r = P_K(y - g/L), and the gradient there */
static void gradient_step(cairn_task *task, descent *d)
{
    for (size_t i = 0; i < d->space.r_count; i++)
        d->r[i] = d->y[i] - d->g[i] / (d->weight ? d->L * d->weight[i] : d->L);
    d->space.kernels->project(&d->space, d->r);
    gradient_at(d, task, d->r, d->r_g);
}

static measures measure(const descent *d)
{
    measures m = { 0 };
    const double *r = d->r, *last = d->last, *y = d->y, *g = d->g, *r_g = d->r_g;
    for (size_t i = 0; i < d->space.r_count; i++) {
        double move = r[i] - y[i], weight = d->weight ? d->weight[i] : 1, way = weight * move;
        double change = r[i] - last[i];
        m.curvature += move * (r_g[i] - g[i]);
        m.length2 += way * move;
        m.way2 += way * way;
        m.uphill += g[i] * change;
        m.change = fabs(change) > m.change ? fabs(change) : m.change;
        m.size = fabs(last[i]) > m.size ? fabs(last[i]) : m.size;
    }
    return m;
}

/* (4) and (5) */
static void extrapolate(unsigned does, descent *d, double uphill)
{
    double theta = d->theta, theta2 = theta * theta;
    double next = 0.5 * (theta * sqrt(4 + theta2) - theta2);
    double beta = does & ACCELERATE ? theta * (1 - theta) / (theta2 + next) : 0;
    bool restart = (does & ADAPT_RESTART) && uphill > 0;
    if (restart)
        beta = 0;
    d->theta = restart ? 1 : next;
    for (size_t i = 0; i < d->space.r_count; i++) {
        d->y[i] = d->r[i] + beta * (d->r[i] - d->last[i]);
        d->g[i] = d->r_g[i] + beta * (d->r_g[i] - d->last_g[i]);
    }
}

/* (1) to (6) once; returns whether (3) said stop */
static bool iterate(unsigned does, cairn_task *task, descent *d, cairn_watch *watch, double *r)
{
    double by_increment = task->options->increment_tolerance;
    make_room(d);
    gradient_step(task, d);
    measures m = measure(d);
    for (int k = 0; (does & ADAPT_STEP) && k < DOUBLINGS && m.curvature > d->L * m.length2; k++) {
        d->L *= 2;
        gradient_step(task, d);
        m = measure(d);
    }
    double estimate = d->L * sqrt(m.way2); /* m/s, for the watch */
    task->report->iterations++;
    if (by_increment > 0 && m.change / (m.size + 1) < by_increment)
        return true;
    extrapolate(does, d, m.uphill);
    if (does & ADAPT_STEP)
        d->L *= 0.97;
    if (by_increment > 0 || !cairn_watch_due(watch, task, estimate))
        return false;
    bool converged = judged(d, task, r);
    cairn_watch_learn(watch, task, estimate);
    return converged;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    cairn_solve_report *report = task->report;
    cairn_watch watch = { .patience = PATIENCE };
    descent d = { .L = 0 };
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
    judged(&d, task, r);
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
