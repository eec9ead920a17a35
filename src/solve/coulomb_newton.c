/* coulomb_newton.c - exact Coulomb friction by Newton's method on the sliding speeds [C09].
 *
 * F(s) = |u_T(s)|, u(s) from the convex problem with s as data; wanted F(s) = s, s >= 0.
 * phi(s) = 1/2 sum (s - F(s))^2.
 *   (1) s = max(s, s0), s0 such that standing still is feasible ([C09] 4.2): u = w, or 0 in the
 *       local form; if the convex problem has no solution still, such that r = 0 is feasible
 *   (2) solve the convex problem with s. Stop when max |F - s|/(F + 1) <= the tolerance given, or
 *       when the judge's Coulomb residual meets the solver's; the answer is then s = F
 *   (3) ds from F(s) + F'(s) ds = s + ds (coulomb_newton_step.c)
 *   (4) s+ = max(0, s + ds), clipped at 0; ds is halved until the convex problem has a solution
 *       and phi(s+) <= (1 - 2e-4 part) phi(s), `part` of ds being left (Armijo). Go to (2) with it
 *   (5) no such s+: phi is at a local minimum that is no solution, or at the accuracy of the inner
 *       solver. Reported as not converged
 * The paper halves until s + ds >= 0; that stalls at once where s = 0 and ds < 0, so (4) clips.
 * phi falls at every step, so the method is stable; it may fail, the 'bad boy' of [C09] 5.4 shows
 * it. Inner solves are a tenth as accurate as the result is to be. */
#include "solve/coulomb_newton.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "problem/delassus.h"
#include "problem/operator.h"
#include "solve/solver.h"

enum { HALVINGS = 20 };

/* A value of s with what the convex problem says there. */
typedef struct point {
    double *s, *r, *v, *u;
    bool solved; /* the convex problem was */
    double phi;
    cairn_solve_report report;
} point;

typedef struct newton {
    const cairn_problem *p;
    cairn_solve_options inner;
    double tolerance, increment_tolerance;
    int64_t max_outer;
    cairn_workspace *workspace;
    cairn_arena arena, step_arena;
    cairn_problem local;
    cairn_matrix W;
    cairn_newton_step step;
    point now, next;
    double *s_plus;
    int64_t steps, outer, iterations; /* Newton steps, convex solves, their iterations */
} newton;

static cairn_status take_point(const cairn_problem *p, cairn_arena *arena, point *x)
{
    size_t contacts = (size_t)p->contacts, rows = contacts * (size_t)p->dimension;
    x->s = cairn_arena_doubles(arena, contacts);
    x->r = cairn_arena_doubles(arena, rows);
    x->v = cairn_arena_doubles(arena, (size_t)p->blocks * (size_t)p->block_size);
    x->u = cairn_arena_doubles(arena, rows);
    return x->s && x->r && x->v && x->u ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status start(newton *x)
{
    TRY(take_point(x->p, &x->arena, &x->next));
    x->s_plus = cairn_arena_doubles(&x->arena, (size_t)x->p->contacts);
    if (!x->s_plus)
        return CAIRN_NO_MEMORY;
    TRY(cairn_delassus_localise(x->p, &x->arena, &x->W, &x->local));
    x->step = (cairn_newton_step){ .p = &x->local, .arena = &x->step_arena };
    return cairn_lu_create(&x->step.lu);
}

/* ---- (1) and (2) ---------------------------------------------------------------------------- */

/* s_j = max(s_j, what makes the velocity `u` (NULL: 0) feasible) */
static void raise_start(const cairn_problem *p, const double *u, double *s)
{
    const double still[3] = { 0, 0, 0 };
    int d = p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        if (cairn_is_bounded(p, j)) {
            s[j] = 0;
            continue;
        }
        const double *at = u ? u + (size_t)j * (size_t)d : still;
        double normal = at[0] + (p->b ? p->b[j] : 0);
        double needed = p->mu[j] > 0 ? cairn_sliding_speed(d, 0, at) - normal / p->mu[j] : 0;
        s[j] = fmax(fmax(0, s[j]), needed);
    }
}

static double speed_of(const newton *n, const point *x, int j)
{
    int d = n->p->dimension;
    bool rows = cairn_is_bounded(n->p, j); /* nothing slides there */
    return rows ? 0 : cairn_sliding_speed(d, 0, x->u + (size_t)j * (size_t)d);
}

/* What the tolerance means. */
static double measured(const newton *n, const cairn_residual *residual)
{
    return n->inner.fclib_measure ? residual->fclib : residual->relative;
}

/* The convex problem at x->s; x->r is its warm start. */
static cairn_status evaluate(newton *n, point *x)
{
    cairn_problem convex = *n->p;
    convex.s = x->s;
    TRY(cairn_solve(&convex, &n->inner, n->workspace, x->r, x->v, x->u, &x->report));
    x->solved = x->report.converged || measured(n, &x->report.judgement.asked) <= n->tolerance;
    x->phi = 0;
    for (int j = 0; j < convex.contacts; j++) {
        double miss = x->s[j] - speed_of(n, x, j);
        x->phi += 0.5 * miss * miss;
    }
    n->outer++;
    n->iterations += x->report.iterations;
    return CAIRN_OK;
}

static cairn_status start_point(newton *n)
{
    raise_start(n->p, n->p->W ? NULL : n->p->w, n->now.s);
    TRY(evaluate(n, &n->now));
    if (n->now.solved)
        return CAIRN_OK;
    raise_start(n->p, n->local.q, n->now.s);
    memset(n->now.r, 0, (size_t)n->W.rows * sizeof(double));
    return evaluate(n, &n->now);
}

static bool is_done(const newton *n)
{
    double worst = 0;
    if (n->increment_tolerance <= 0)
        return measured(n, &n->now.report.judgement.coulomb) <= n->tolerance;
    for (int j = 0; j < n->p->contacts; j++) {
        double F = speed_of(n, &n->now, j);
        worst = fmax(worst, fabs(F - n->now.s[j]) / (F + 1));
    }
    return worst <= n->increment_tolerance;
}

/* ---- (4) ------------------------------------------------------------------------------------ */

/* next.s = max(0, s + part ds); false when nothing moves */
static bool move(newton *n, double part)
{
    bool moved = false;
    for (int j = 0; j < n->p->contacts; j++) {
        double s = n->now.s[j];
        n->next.s[j] = fmax(0, s + part * (n->s_plus[j] - s));
        moved = moved || n->next.s[j] != s;
    }
    return moved;
}

/* The caller's arrays always hold the current point. */
static void accept(newton *n)
{
    const cairn_problem *p = n->p;
    size_t contacts = (size_t)p->contacts, rows = contacts * (size_t)p->dimension;
    size_t velocities = (size_t)p->blocks * (size_t)p->block_size;
    memcpy(n->now.s, n->next.s, contacts * sizeof(double));
    memcpy(n->now.r, n->next.r, rows * sizeof(double));
    memcpy(n->now.u, n->next.u, rows * sizeof(double));
    if (velocities)
        memcpy(n->now.v, n->next.v, velocities * sizeof(double));
    n->now.phi = n->next.phi;
    n->now.solved = n->next.solved;
    n->now.report = n->next.report;
    n->steps++;
}

static cairn_status search(newton *n, bool *found)
{
    double part = 1;
    *found = false;
    for (int k = 0; k < HALVINGS && n->outer < n->max_outer && move(n, part); k++, part /= 2) {
        memcpy(n->next.r, n->now.r, (size_t)n->W.rows * sizeof(double));
        TRY(evaluate(n, &n->next));
        *found = n->next.solved && n->next.phi <= (1 - 2e-4 * part) * n->now.phi;
        if (*found)
            break;
    }
    if (*found)
        accept(n);
    return CAIRN_OK;
}

/* ---- the call ------------------------------------------------------------------------------- */

static cairn_status iterate(newton *n, bool *converged)
{
    bool regular = true, found = true;
    TRY(start(n));
    TRY(start_point(n));
    *converged = n->now.solved && is_done(n);
    while (n->now.solved && !*converged && found && n->outer < n->max_outer) {
        TRY(cairn_newton_step_take(&n->step, n->now.s, n->now.r, n->now.u, n->s_plus, &regular));
        found = regular;
        if (regular)
            TRY(search(n, &found));
        *converged = is_done(n);
    }
    return CAIRN_OK;
}

static void write_report(const newton *n, bool converged, cairn_solve_report *report)
{
    *report = n->now.report;
    report->converged = converged;
    report->iterations = n->iterations;
    report->outer_iterations = n->outer;
    const char *why = converged                  ? ""
                      : !n->now.solved           ? "the convex problem was not solved; "
                      : n->outer >= n->max_outer ? "outer iterations used up; "
                                                 : "stuck: phi does not fall any more; ";
    snprintf(report->remark, sizeof report->remark, "%s%lld Newton steps, phi = %.6g (m/s)^2", why,
             (long long)n->steps, n->now.phi);
    cairn_judge(n->p, CAIRN_LAW_COULOMB, n->now.r, n->now.v, n->now.u, &report->judgement);
}

cairn_status cairn_solve_coulomb_newton(const cairn_problem *p, const cairn_solve_options *options,
                                        const cairn_sliding_loop *loop, cairn_workspace *workspace,
                                        cairn_solve_report *report)
{
    if (p->directions || p->rolling + p->spinning)
        return CAIRN_UNSUPPORTED;
    newton n = { .p = p,
                 .inner = *options,
                 .tolerance = options->tolerance,
                 .increment_tolerance = loop->increment_tolerance,
                 .max_outer = loop->max_outer,
                 .workspace = workspace,
                 .now = { .s = loop->s, .r = loop->r, .v = loop->v, .u = loop->u } };
    bool converged = false;
    n.inner.law = CAIRN_LAW_CONVEX;
    n.inner.tolerance = 0.1 * options->tolerance;
    cairn_status status = iterate(&n, &converged);
    if (status == CAIRN_OK)
        write_report(&n, converged, report);
    for (int j = 0; converged && j < p->contacts; j++)
        loop->s[j] = speed_of(&n, &n.now, j);
    cairn_lu_destroy(n.step.lu);
    cairn_arena_destroy(&n.step_arena);
    cairn_arena_destroy(&n.arena);
    return status;
}
