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
 * masses w_j: (1) r+_j = P_K(y_j - g_j/(L w_j)), (2) with w_j |r+_j - y_j|^2. Cones are invariant
 * under this scaling, and unequal masses no longer limit the step; each row with bounds has its own
 * w. One application of W per trial. Convex law only; the fixed point of fixed_point.c around it
 * gives Coulomb's. All vectors are reduced: without friction a back end may store normal impulses
 * only. */
#include <math.h>

#include "base/common.h"
#include "solve/solver.h"

enum { PATIENCE = 50, DOUBLINGS = 10, POWER_STEPS = 40 };

/* What a method of the family does beyond (1) and (3). */
enum { ACCELERATE = 1, ADAPT_STEP = 2, ADAPT_RESTART = 4, SCALE = 8 };

typedef struct descent {
    double L; /* 1/step, kg^-1                                  */
    double theta;
    cairn_vector *y, *g;         /* where the gradient is taken, and the gradient  */
    cairn_vector *r, *r_g;       /* the newest point, and the gradient there       */
    cairn_vector *last, *last_g; /* the one before                                 */
    cairn_vector *weight;        /* of each component: w_j; NULL: 1                */
} descent;

static void gradient_at(cairn_task *task, const cairn_vector *r, cairn_vector *g)
{
    task->backend->gradient(task->system, r, task->v, g);
}

/* Largest eigenvalue of W by the power method from a fixed start, with a tenth to spare. */
static double estimate_largest(cairn_task *task, descent *d)
{
    const cairn_backend *b = task->backend;
    cairn_system *s = task->system;
    cairn_vector *x = d->y, *Wx = d->g, *q = d->last_g;
    double largest = 0;
    b->clear(s, x);
    gradient_at(task, x, q);
    b->probe(s, x);
    for (int k = 0; k < POWER_STEPS; k++) {
        double length = sqrt(b->dot(s, x, x));
        b->combine(s, 0, x, length > 0 ? 1 / length : 0, x);
        gradient_at(task, x, Wx);
        b->combine(s, -1, q, 1, Wx);
        largest = sqrt(b->dot(s, Wx, Wx));
        b->copy(s, Wx, x);
    }
    return largest > 0 ? 1.1 * largest : 1;
}

static cairn_status take_vectors(unsigned does, cairn_task *task, descent *d)
{
    cairn_vector **vectors[] = { &d->y, &d->g, &d->r, &d->r_g, &d->last, &d->last_g };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        TRY(cairn_task_vector(task, CAIRN_SPACE_REDUCED, vectors[i]));
    if (!(does & SCALE))
        return CAIRN_OK;
    TRY(cairn_task_vector(task, CAIRN_SPACE_REDUCED, &d->weight));
    task->backend->scales(task->system, d->weight);
    return CAIRN_OK;
}

static cairn_status start(unsigned does, cairn_task *task, const cairn_vector *r, descent *d)
{
    const cairn_backend *b = task->backend;
    TRY(take_vectors(does, task, d));
    double step = task->options->step_length;
    d->L = step > 0 ? 1 / step : does & SCALE ? 1 : estimate_largest(task, d);
    d->theta = 1;
    b->copy(task->system, r, d->r);
    gradient_at(task, d->r, d->r_g);
    b->copy(task->system, d->r, d->y);
    b->copy(task->system, d->r_g, d->g);
    return CAIRN_OK;
}

/* Copy the newest point to r and judge it. */
static bool judged(const descent *d, cairn_task *task, cairn_vector *r)
{
    task->backend->copy(task->system, d->r, r);
    return cairn_task_judge(task, r);
}

/* The newest point becomes the previous one; its vector is reused for the next. */
static void make_room(descent *d)
{
    cairn_vector *r = d->r, *r_g = d->r_g;
    d->r = d->last;
    d->r_g = d->last_g;
    d->last = r;
    d->last_g = r_g;
}

/* (1) r = P_K(y - g/L), the gradient there, and the sums of this step */
static cairn_descent_sums gradient_step(cairn_task *task, descent *d)
{
    const cairn_descent step = { d->y, d->g, d->r, d->r_g, d->last, d->weight };
    task->backend->descend(task->system, d->L, d->weight, d->y, d->g, d->r);
    gradient_at(task, d->r, d->r_g);
    return task->backend->measure_descent(task->system, &step);
}

/* (4) and (5) */
static void extrapolate(unsigned does, const cairn_task *task, descent *d, double uphill)
{
    double theta = d->theta, theta2 = theta * theta;
    double next = 0.5 * (theta * sqrt(4 + theta2) - theta2);
    double beta = does & ACCELERATE ? theta * (1 - theta) / (theta2 + next) : 0;
    bool restart = (does & ADAPT_RESTART) && uphill > 0;
    if (restart)
        beta = 0;
    d->theta = restart ? 1 : next;
    task->backend->extrapolate(task->system, beta, d->r, d->last, d->y);
    task->backend->extrapolate(task->system, beta, d->r_g, d->last_g, d->g);
}

/* (1) to (6) once; returns whether the test (3) was met */
static bool iterate(unsigned does, cairn_task *task, descent *d, cairn_judge_timer *timer,
                    cairn_vector *r)
{
    double by_increment = task->options->increment_tolerance;
    make_room(d);
    cairn_descent_sums m = gradient_step(task, d);
    for (int k = 0; (does & ADAPT_STEP) && k < DOUBLINGS && m.curvature > d->L * m.length2; k++) {
        d->L *= 2;
        m = gradient_step(task, d);
    }
    double estimate = d->L * sqrt(m.way2); /* m/s, for the timer */
    task->report->iterations++;
    if (by_increment > 0 && m.change / (m.size + 1) < by_increment)
        return true;
    extrapolate(does, task, d, m.uphill);
    if (does & ADAPT_STEP)
        d->L *= 0.97;
    if (by_increment > 0 || !cairn_judge_timer_due(timer, task, estimate))
        return false;
    bool converged = judged(d, task, r);
    cairn_judge_timer_learn(timer, task, estimate);
    return converged;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, cairn_vector *r)
{
    cairn_solve_report *report = task->report;
    cairn_judge_timer timer = { .patience = PATIENCE };
    descent d = { .L = 0 };
    report->converged = cairn_task_judge(task, r) && task->options->increment_tolerance <= 0;
    if (report->converged)
        return CAIRN_OK;
    TRY(start(self->variant, task, r, &d));
    while (!report->converged && cairn_task_may_go_on(task)) {
        report->converged = iterate(self->variant, task, &d, &timer, r);
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

const cairn_solver cairn_solver_pgd = { "pgd",  "projected gradient with a fixed step [BL23]",
                                        CONVEX, CONVEX,
                                        0,      run };
const cairn_solver cairn_solver_apgd = {
    "apgd", "Nesterov's accelerated projected gradient [BL23]", CONVEX, CONVEX, ACCELERATE, run
};
const cairn_solver cairn_solver_apgd_as = { "apgd-as",
                                            "accelerated projected gradient with adaptive step",
                                            CONVEX,
                                            CONVEX,
                                            ACCELERATE | ADAPT_STEP,
                                            run };
const cairn_solver cairn_solver_apgd_ar = { "apgd-ar",
                                            "accelerated projected gradient with adaptive restart",
                                            CONVEX,
                                            CONVEX,
                                            ACCELERATE | ADAPT_RESTART,
                                            run };
const cairn_solver cairn_solver_apgd_d = {
    "apgd-d", "apgd-asr scaled by the contacts' own inverse masses", CONVEX,
    CONVEX,   ACCELERATE | ADAPT_STEP | ADAPT_RESTART | SCALE,       run
};
const cairn_solver cairn_solver_apgd_asr = {
    "apgd-asr",
    "accelerated projected gradient with adaptive step and restart",
    CONVEX,
    CONVEX,
    ACCELERATE | ADAPT_STEP | ADAPT_RESTART,
    run
};
