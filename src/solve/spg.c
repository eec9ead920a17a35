/* spg.c - spectral projected gradient on the dual, diagonally scaled.
 *
 * Minimises f(r) = 1/2 r'W r + q'r over the product of friction cones, circular or with edges. With
 * D = trace(W_jj)/d, one number for each contact (rows with bounds: their W_ii), and g = W r + q:
 *   (1) d = P_K(r - lambda D^-1 g) - r
 *   (2) the whole step when f(r + d) <= max of the last 10 values of f + 1e-4 g.d (Grippo,
 *       Lampariello and Lucidi); else the best step along d, exactly: t = -g.d/(d'W d) < 1
 *   (3) r = r + t d, g = g + t W d: one application of W for each step
 *   (4) lambda of Barzilai and Borwein from the step s = t d and its y = W s:
 *       s'D s/s'y, or s'y/y'D^-1 y when that is much shorter
 *   (5) stop on the judge
 * Convex law only: around it, the fixed point of fixed_point.c gives Coulomb's. */
#include <math.h>

#include "base/status.h"
#include "problem/operator.h"
#include "solve/solver.h"

enum { PATIENCE = 50, MEMORY = 10 };

static const double shortest = 1e-10, longest = 1e10; /* bounds of lambda */

typedef struct spectral {
    double *w;          /* components: D                                            */
    double *direction;  /* d                                                        */
    double *g, *next_g; /* gradients at r and at r + d                              */
    double lambda;
    double f;              /* f(r) - f(first r)                                     */
    double recent[MEMORY]; /* the last values of f                                  */
} spectral;

static cairn_status start(cairn_task *task, const double *r, spectral *s)
{
    const cairn_system *system = &task->system;
    double **arrays[] = { &s->w, &s->direction, &s->g, &s->next_g };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = cairn_arena_take(task->arena, system->r_count, sizeof(double))))
            return CAIRN_NO_MEMORY;
    for (int j = 0; j < system->p->contacts; j++)
        cairn_contact_scales(system->p, j, s->w + (size_t)j * (size_t)system->p->dimension);
    s->lambda = 1;
    s->f = 0;
    for (int i = 0; i < MEMORY; i++)
        s->recent[i] = 0;
    system->kernels->gradient(system, r, task->v, s->g);
    return CAIRN_OK;
}

/* (1); returns |D d|/lambda, about what the judge will say */
static double choose_direction(const cairn_task *task, spectral *s, const double *r)
{
    const cairn_system *system = &task->system;
    double sum = 0;
    for (size_t i = 0; i < system->r_count; i++)
        s->direction[i] = r[i] - s->lambda / s->w[i] * s->g[i];
    system->kernels->project(system, s->direction);
    for (size_t i = 0; i < system->r_count; i++) {
        s->direction[i] -= r[i];
        sum += s->w[i] * s->w[i] * s->direction[i] * s->direction[i];
    }
    return sqrt(sum) / s->lambda;
}

/* (2) */
static double choose_step(spectral *s, double slope, double curvature)
{
    double highest = s->recent[0];
    for (int i = 1; i < MEMORY; i++)
        highest = fmax(highest, s->recent[i]);
    double t = 1;
    if (!(s->f + slope + 0.5 * curvature <= highest + 1e-4 * slope) && curvature > 0)
        t = fmin(1, -slope / curvature);
    s->f += t * slope + 0.5 * t * t * curvature;
    return t;
}

/* (3) and the sums of (4): s'D s, s'y, y'D^-1 y without the factor t^2 */
static void move(const cairn_task *task, spectral *s, double t, double *r, double *sums)
{
    sums[0] = sums[1] = sums[2] = 0;
    for (size_t i = 0; i < task->system.r_count; i++) {
        double w = s->w[i], step = s->direction[i], y = s->next_g[i] - s->g[i];
        sums[0] += w * step * step;
        sums[1] += step * y;
        sums[2] += y * y / w;
        r[i] += t * step;
        s->g[i] += t * y;
    }
}

/* (4) */
static double choose_lambda(const double *sums)
{
    if (!(sums[1] > 0))
        return longest;
    double steady = sums[0] / sums[1], quick = sums[1] / sums[2];
    return fmin(longest, fmax(shortest, quick < 0.5 * steady ? quick : steady));
}

/* (1) to (4) once; returns the estimate of (1) */
static double iterate(cairn_task *task, spectral *s, double *r)
{
    const cairn_system *system = &task->system;
    size_t n = system->r_count;
    double sums[3], slope = 0, curvature = 0, estimate = choose_direction(task, s, r);
    for (size_t i = 0; i < n; i++)
        task->u[i] = r[i] + s->direction[i]; /* the judge's u is scratch in between */
    system->kernels->gradient(system, task->u, task->v, s->next_g);
    for (size_t i = 0; i < n; i++) {
        slope += s->g[i] * s->direction[i];
        curvature += (s->next_g[i] - s->g[i]) * s->direction[i];
    }
    double t = choose_step(s, slope, curvature);
    move(task, s, t, r, sums);
    s->lambda = choose_lambda(sums);
    s->recent[task->report->iterations++ % MEMORY] = s->f;
    return estimate;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    cairn_solve_report *report = task->report;
    cairn_watch watch = { .patience = PATIENCE };
    spectral s;
    report->converged = cairn_task_judge(task, r);
    if (report->converged)
        return CAIRN_OK;
    task->system.kernels->project(&task->system, r); /* a warm start may lie outside */
    TRY(start(task, r, &s));
    while (!report->converged && cairn_task_may_go_on(task)) {
        double estimate = iterate(task, &s, r);
        if (!isfinite(estimate))
            return CAIRN_NOT_FINITE;
        if (!cairn_watch_due(&watch, task, estimate))
            continue;
        report->converged = cairn_task_judge(task, r); /* (5) */
        cairn_watch_learn(&watch, task, estimate);
        task->system.kernels->gradient(&task->system, r, task->v, s.g); /* rounding adds up */
    }
    if (!report->converged && watch.judged_at < report->iterations)
        report->converged = cairn_task_judge(task, r);
    return CAIRN_OK;
}

const cairn_solver cairn_solver_spg = {
    "spg", "spectral projected gradient (Barzilai-Borwein), diagonally scaled",
    CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) | CAIRN_TREATS_ROWS |
        CAIRN_TREATS_ROLLING,
    0, run
};
