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

#include "base/common.h"
#include "solve/solver.h"

enum { PATIENCE = 50, MEMORY = 10 };

static const double shortest = 1e-10, longest = 1e10; /* bounds of lambda */

typedef struct spectral {
    cairn_vector *w;          /* components: D                                       */
    cairn_vector *direction;  /* d                                                   */
    cairn_vector *g, *next_g; /* gradients at r and at r + d                        */
    double lambda;
    double f;              /* f(r) - f(first r)                                     */
    double recent[MEMORY]; /* the last values of f                                  */
} spectral;

static cairn_status start(cairn_task *task, const cairn_vector *r, spectral *s)
{
    cairn_vector **vectors[] = { &s->w, &s->direction, &s->g, &s->next_g };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        TRY(cairn_task_vector(task, CAIRN_SPACE_IMPULSES, vectors[i]));
    task->backend->scales(task->system, s->w);
    s->lambda = 1;
    s->f = 0;
    for (int i = 0; i < MEMORY; i++)
        s->recent[i] = 0;
    task->backend->gradient(task->system, r, task->v, s->g);
    return CAIRN_OK;
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

/* (4) */
static double choose_lambda(const cairn_spectral_sums *sums)
{
    if (!(sums->curvature > 0))
        return longest;
    double steady = sums->own / sums->curvature, quick = sums->curvature / sums->inverse;
    return fmin(longest, fmax(shortest, quick < 0.5 * steady ? quick : steady));
}

/* (1) to (4) once; returns |D d|/lambda, about what the judge will say */
static double iterate(cairn_task *task, spectral *s, cairn_vector *r)
{
    const cairn_backend *b = task->backend;
    const cairn_spectral at = { r, s->g, s->direction, s->next_g, s->w };
    double estimate = sqrt(b->aim(task->system, s->lambda, &at)) / s->lambda;
    b->copy(task->system, r, task->u); /* the judge's u is scratch in between */
    b->combine(task->system, 1, s->direction, 1, task->u);
    b->gradient(task->system, task->u, task->v, s->next_g);
    cairn_spectral_sums sums = b->measure_spectral(task->system, &at);
    double t = choose_step(s, sums.slope, sums.curvature);
    b->follow(task->system, t, &at); /* (3) */
    s->lambda = choose_lambda(&sums);
    s->recent[task->report->iterations++ % MEMORY] = s->f;
    return estimate;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, cairn_vector *r)
{
    (void)self;
    cairn_solve_report *report = task->report;
    cairn_judge_timer timer = { .patience = PATIENCE };
    spectral s;
    report->converged = cairn_task_judge(task, r);
    if (report->converged)
        return CAIRN_OK;
    task->backend->project(task->system, r); /* a warm start may lie outside the cones */
    TRY(start(task, r, &s));
    while (!report->converged && cairn_task_may_go_on(task)) {
        double estimate = iterate(task, &s, r);
        if (!isfinite(estimate))
            return CAIRN_NOT_FINITE;
        if (!cairn_judge_timer_due(&timer, task, estimate))
            continue;
        report->converged = cairn_task_judge(task, r); /* (5) */
        cairn_judge_timer_learn(&timer, task, estimate);
        /* the updates of g in (3) accumulate rounding errors: recompute it */
        task->backend->gradient(task->system, r, task->v, s.g);
    }
    if (!report->converged && timer.judged_at < report->iterations)
        report->converged = cairn_task_judge(task, r);
    return CAIRN_OK;
}

enum {
    CONVEX = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) |
             CAIRN_TREATS_ROWS | CAIRN_TREATS_ROLLING
};

const cairn_solver cairn_solver_spg = {
    "spg", "spectral projected gradient (Barzilai-Borwein), diagonally scaled", CONVEX, CONVEX, 0,
    run
};
