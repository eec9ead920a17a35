/* ipm.c - a primal-dual interior point method for the convex law, circular cones or cones with
 * edges: Nesterov-Todd scaling, Mehrotra's predictor and corrector, sparse Cholesky by CHOLMOD.
 *
 * With r = A'x (ipm.h), u^ = H v + w + (b + mu s) n and v the velocity of r, it follows
 *     z = A u^,   x and z in the cones,   x o z = t e
 * to t = 0. One iteration, in scaled variables l = P z = P^-1 x:
 *   (1) the scaling P of x and z; c = (1 + delta w P^2)^-1/2 damps it
 *   (2) factor S = I + L'W L, L = A'P c (ipm_system.c)
 *   (3) predictor: d = -l, then the direction of d:
 *           s = S^-1 c (d + P g),   dx' = c s,   dz' = d - dx',    g = z - A u^
 *   (4) its step to the boundary a gives the centring (1 - a)^3
 *   (5) corrector: l o d = (1 - a)^3 t e - l o l - dx' o dz', t = l'l/rank; direction of d;
 *       up to three times, with the products of the last direction, while its step grows
 *   (6) x += a P dx', z += a P^-1 dz' with 0.995 of the step to the boundary, at most 1
 *   (7) judge r = A'x
 *   (8) where impulse and velocity of a contact vanish together, x converges only linearly,
 *       by the same ratio in each iteration. Two iterates and the ratio q of their residuals give
 *       the limit r + (r - r_previous) q/(1 - q); it is projected on the cones and judged too.
 * Start: x and z are multiples of the units of the cones: x 30 times what the closing velocities
 * suggest, z as large as the velocities that x leaves or makes.
 *
 * delta is the regularisation: it acts like a proximal term delta w/2 |x - x_now|^2, so it slows
 * steps along impulses that have no effect (redundant contacts) and does not change the solution.
 * It grows a hundredfold if the factorisation breaks down. If no velocity is feasible, impulses may
 * grow without bound: the method then stops, and the report says so. */
#include "solve/systems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "solve/solver.h"

enum { REFINEMENTS = 1, CORRECTIONS = 3, PATIENCE = 15, BREAKDOWNS = 5 };

static const double start_impulse = 30, nearly_all = 0.995;
static const double first_delta = 1e-12, boundless = 1e10, long_step = 0.9, slow_ratio = 0.7;

/* The state of the method. Arrays have one number for each variable of the cones, unless stated. */
typedef struct iterate {
    cairn_cones cones;
    cairn_normal normal;
    double *x, *z, *l;         /* impulses and velocities of the cones; both scaled              */
    double *g;                 /* z - A u^                                                       */
    double *d, *h;             /* right-hand side; scratch                                       */
    double *last_dx, *last_dz; /* direction before the last correction */
    double *dx, *dz;           /* direction, scaled                                              */
    double *u;                 /* u^, dimension per contact                                      */
    double *last, *trial;      /* r of the last iteration and of (8), dimension per contact      */
    double size;     /* sqrt(J): impulse times sqrt(w) that the closing velocities suggest */
    double delta;    /* regularisation                                                 */
    double t;        /* l'l/rank, J                                                    */
    double affine;   /* step of the predictor                                          */
    double residual; /* the judge's residual of `last`; INFINITY: none                 */
    double best, least_t, least_gap; /* iteration of the last progress                      */
    const char *trouble; /* why it stopped; NULL: it has not                               */
} iterate;

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static cairn_status take_arrays(cairn_task *task, iterate *i)
{
    size_t n = i->cones.count, m = task->system->r_count;
    struct {
        double **array;
        size_t count;
    } wanted[] = {
        { &i->x, n }, { &i->z, n },    { &i->l, n },     { &i->g, n },       { &i->d, n },
        { &i->h, n }, { &i->dx, n },   { &i->dz, n },    { &i->last_dx, n }, { &i->last_dz, n },
        { &i->u, m }, { &i->last, m }, { &i->trial, m },
    };
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        *wanted[k].array = cairn_arena_doubles(task->arena, wanted[k].count);
        if (!*wanted[k].array)
            return CAIRN_NO_MEMORY;
    }
    return CAIRN_OK;
}

/* r of x, and the gap g = z - A u^ */
static void measure(cairn_task *task, iterate *i, double *r)
{
    const cairn_system *s = task->system;
    cairn_cones_place(&i->cones, i->x, r);
    cairn_host_gradient(s, r, task->host.v, i->u);
    cairn_cones_rows(&i->cones, i->u, i->g);
    for (size_t k = 0; k < i->cones.count; k++)
        i->g[k] = i->z[k] - i->g[k];
}

/* The first x and z: multiples of the units, x from the closing velocities, z from the velocities
 * that remain or result with x. */
static void start(cairn_task *task, iterate *i, double *r)
{
    measure(task, i, r); /* x = z = 0: u^ is that of v_free */
    cairn_cones_rows(&i->cones, i->u, i->h);
    i->size = cairn_cones_closing(&i->cones, i->h);
    cairn_cones_add_unit(&i->cones, start_impulse * i->size, -0.5, i->dx);
    cairn_cones_start_rows(&i->cones, start_impulse * i->size, i->dx);
    cairn_cones_move(&i->cones, CAIRN_CONE_X, 1, i->dx, i->x);
    measure(task, i, r);
    cairn_cones_rows(&i->cones, i->u, i->h);
    double closing = fmax(i->size, cairn_cones_closing(&i->cones, i->h));
    cairn_cones_add_unit(&i->cones, closing, 0.5, i->dz);
    cairn_cones_start_sides(&i->cones, start_impulse * i->size * closing, i->h, i->dz);
    cairn_cones_move(&i->cones, CAIRN_CONE_Z, 1, i->dz, i->z);
    i->delta = first_delta;
    i->residual = INFINITY;
    measure(task, i, r);
}

/* (1), (2); with more regularisation if the factorisation breaks down */
static cairn_status scale_and_factor(iterate *i)
{
    bool positive = false;
    for (int k = 0; k < BREAKDOWNS && !positive; k++) {
        if (!cairn_cones_scale(&i->cones, i->delta, i->x, i->z, i->l)) {
            i->trouble = "rounding ends the progress";
            return CAIRN_OK;
        }
        TRY(cairn_normal_factor(&i->normal, &positive));
        i->delta *= positive ? 1 : 100;
    }
    if (!positive)
        i->trouble = "no factorisation in spite of regularisation";
    double sum = dot(i->cones.count, i->l, i->l) + cairn_cones_product_rows(&i->cones);
    i->t = i->cones.rank > 0 ? sum / i->cones.rank : 0; /* rank 0: equations alone, no path */
    return CAIRN_OK;
}

/* s = S^-1 c (d + P g), dx' = c s, dz' = d - dx' */
static cairn_status find_direction(iterate *i)
{
    size_t n = i->cones.count;
    cairn_cones_map(&i->cones, CAIRN_CONE_P, i->g, i->h);
    for (size_t k = 0; k < n; k++)
        i->h[k] += i->d[k];
    cairn_cones_map(&i->cones, CAIRN_CONE_DAMP, i->h, i->h);
    TRY(cairn_normal_solve(&i->normal, REFINEMENTS, i->h, i->dx));
    cairn_cones_map(&i->cones, CAIRN_CONE_DAMP, i->dx, i->dx);
    for (size_t k = 0; k < n; k++)
        i->dz[k] = i->d[k] - i->dx[k];
    return CAIRN_OK;
}

/* The longest step that keeps x and z in their cones, at most 1. */
static double longest_step(iterate *i)
{
    double cones =
        fmin(cairn_cones_step(&i->cones, i->l, i->dx), cairn_cones_step(&i->cones, i->l, i->dz));
    return fmin(cones, 1 / cairn_cones_reach_rows(&i->cones, i->dx));
}

/* (5) the right-hand side d with the product of the direction at hand, and the direction of d */
static cairn_status correct(iterate *i, double centring)
{
    size_t n = i->cones.count;
    cairn_cones_product(&i->cones, i->dx, i->dz, i->h);
    cairn_cones_product(&i->cones, i->l, i->l, i->d);
    for (size_t k = 0; k < n; k++)
        i->d[k] = -i->d[k] - i->h[k];
    cairn_cones_add_unit(&i->cones, centring * i->t, 0, i->d);
    cairn_cones_divide(&i->cones, i->l, i->d, i->d);
    cairn_cones_aim_rows(&i->cones, centring * i->t, true, i->dx, i->d);
    return find_direction(i);
}

/* (3), (4), (5) */
static cairn_status predict_and_correct(iterate *i)
{
    size_t bytes = i->cones.count * sizeof(double);
    for (size_t k = 0; k < i->cones.count; k++)
        i->d[k] = -i->l[k];
    cairn_cones_aim_rows(&i->cones, 0, false, i->dx, i->d);
    TRY(find_direction(i));
    i->affine = longest_step(i);
    double centring = pow(1 - i->affine, 3), reach = 0;
    for (int k = 0; k < CORRECTIONS; k++) {
        memcpy(i->last_dx, i->dx, bytes);
        memcpy(i->last_dz, i->dz, bytes);
        cairn_cones_keep_rows(&i->cones);
        TRY(correct(i, centring));
        double length = longest_step(i);
        if (k > 0 && length < reach) { /* the previous direction allowed a longer step */
            memcpy(i->dx, i->last_dx, bytes);
            memcpy(i->dz, i->last_dz, bytes);
            cairn_cones_restore_rows(&i->cones);
            break;
        }
        reach = length;
    }
    return CAIRN_OK;
}

/* (6) */
static void move(iterate *i)
{
    double length = fmin(1, nearly_all * longest_step(i));
    cairn_cones_map(&i->cones, CAIRN_CONE_P, i->dx, i->dx);
    cairn_cones_map(&i->cones, CAIRN_CONE_INVERSE, i->dz, i->dz);
    cairn_cones_move(&i->cones, CAIRN_CONE_X, length, i->dx, i->x);
    cairn_cones_move(&i->cones, CAIRN_CONE_Z, length, i->dz, i->z);
}

/* (8); true when the judge accepts the limit, which is then in r */
static bool extrapolate(cairn_task *task, iterate *i, double *r)
{
    size_t n = task->system->r_count;
    double residual = task->report->judgement.asked.relative, ratio = residual / i->residual;
    bool steady = i->affine > long_step && ratio < slow_ratio, accepted = false;
    for (size_t k = 0; steady && k < n; k++)
        i->trial[k] = r[k] + (r[k] - i->last[k]) * ratio / (1 - ratio);
    if (steady) {
        cairn_host_project(task->system, i->trial);
        accepted = cairn_task_judge_array(task, i->trial);
    }
    i->residual = residual;
    memcpy(i->last, r, n * sizeof(double));
    if (accepted)
        memcpy(r, i->trial, n * sizeof(double));
    return accepted;
}

/* (1) to (8) once, unless the method has stopped */
static cairn_status advance(cairn_task *task, iterate *i, double *r)
{
    TRY(scale_and_factor(i));
    if (i->trouble)
        return CAIRN_OK;
    TRY(predict_and_correct(i));
    move(i);
    measure(task, i, r);
    task->report->iterations++;
    if (!(cairn_cones_largest(&i->cones, i->x) <= boundless * i->size))
        i->trouble = "impulses grow without bound: no velocity may be feasible";
    else
        task->report->converged = cairn_task_judge_array(task, r) || extrapolate(task, i, r);
    return CAIRN_OK;
}

/* Progress is a better residual, or a decrease of both x'z and the gap g. */
static bool progresses(const cairn_task *task, iterate *i)
{
    double gap = sqrt(dot(i->cones.count, i->g, i->g));
    bool better = task->best_relative < 0.9 * i->best;
    if (!better && !(i->t < 0.9 * i->least_t && gap < 0.9 * i->least_gap))
        return false;
    i->best = task->best_relative;
    i->least_t = i->t;
    i->least_gap = gap;
    return true;
}

/* Iterate until the judge accepts r, the method stops, or there is no progress. */
static cairn_status follow_path(cairn_task *task, iterate *i, double *r)
{
    cairn_solve_report *report = task->report;
    int64_t since = 0;
    i->best = task->best_relative;
    i->least_t = i->least_gap = INFINITY;
    while (!report->converged && !i->trouble && cairn_task_may_go_on(task)) {
        TRY(advance(task, i, r));
        since = progresses(task, i) ? 0 : since + 1;
        if (since >= PATIENCE)
            i->trouble = "no progress; the problem may have no feasible velocity";
    }
    return CAIRN_OK;
}

static void remark(const iterate *i, cairn_solve_report *report)
{
    bool regularised = i->delta > first_delta;
    const char *trouble = !report->converged && i->trouble ? i->trouble : "";
    if (regularised)
        snprintf(report->remark, sizeof report->remark, "regularised by %.0e%s%s", i->delta,
                 trouble[0] ? "; " : "", trouble);
    else
        snprintf(report->remark, sizeof report->remark, "%s", trouble);
}

static cairn_status solve_cones(cairn_task *task, iterate *i, double *r)
{
    TRY(cairn_normal_create(task->system, &i->cones, task->arena, &i->normal));
    TRY(take_arrays(task, i));
    start(task, i, r);
    TRY(follow_path(task, i, r));
    remark(i, task->report);
    return CAIRN_OK;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    iterate i = { 0 };
    cairn_status status = CAIRN_OK;
    task->report->converged = cairn_task_judge_array(task, r);
    if (task->report->converged)
        return CAIRN_OK;
    TRY(cairn_cones_create(task->system, task->arena, &i.cones));
    if (i.cones.count > 0) {
        status = solve_cones(task, &i, r);
    } else {
        cairn_host_project(task->system, r);
        task->report->converged = cairn_task_judge_array(task, r);
        snprintf(task->report->remark, sizeof task->report->remark, "nothing here can move");
    }
    cairn_normal_destroy(&i.normal);
    if (task->best_relative < INFINITY)
        memcpy(r, task->host.best, task->system->r_count * sizeof(double));
    return status;
}

const cairn_solver cairn_solver_ipm = {
    .name = "ipm",
    .summary = "interior point with sparse Cholesky: stacks, mass ratios, high accuracy",
    .laws =
        CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) | CAIRN_TREATS_ROWS,
    .run_on_host = run,
    .alone = true,
};
