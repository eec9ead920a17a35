/* coulomb_newton.c - exact Coulomb friction by Newton's method on the sliding speeds [C09].
 *
 * F(s) = |u_T(s)|, u(s) from the convex problem with s as data; wanted F(s) = s, s >= 0.
 * phi(s) = 1/2 sum (s - F(s))^2.
 *   (1) s = max(s, s0), s0 such that standing still is feasible ([C09] 4.2): u = w, or 0 in the
 *       local form; if the convex problem has no solution still, such that r = 0 is feasible
 *   (2) solve the convex problem with s. Stop when max |F - s|/(F + 1) <= the tolerance given, or
 *       when the judge's Coulomb residual meets the solver's; the answer is then s = F
 *   (3) ds from F(s) + F'(s) ds = s + ds (Newton's step, below)
 *   (4) s+ = max(0, s + ds), clipped at 0; ds is halved until the convex problem has a solution
 *       and phi(s+) <= (1 - 2e-4 part) phi(s), `part` of ds being left (Armijo). Go to (2) with it
 *   (5) no such s+: phi is at a local minimum that is no solution, or at the accuracy of the inner
 *       solver. Reported as not converged
 * The paper halves until s + ds >= 0; that stalls at once where s = 0 and ds < 0, so (4) clips.
 * phi decreases at every step, so that the method is stable; it may fail, as the 'bad boy' of [C09]
 * 5.4 shows. The tolerance of inner solves is a tenth of that of the result. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/problem.h"
#include "math/factor.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "solve/solver.h"

/* ---- Newton's step on s ------------------------------------------------------------------ */

/* The derivative of u(s), and Newton's step with it ([C09] 4.1, 4.3).
 *
 * The optimality conditions of the convex problem are differentiated with the constraints that are
 * active. With u^ = u + (b + mu s) n, w = trace(W_jj)/d and F = |u_T|, t = u_T/F, a contact is
 *   off   where P_K(r - u^/w) = 0:                  dr = 0
 *   stuck where r - u^/w is in K, so u^ = 0:        du^ = 0
 *   slid  else, u^_N = mu |u_T|, r_T = -mu r_N t:   du^_N = mu t.du_T
 *                                     dr_T + mu t dr_N + mu r_N/F (I - t t') du_T = 0
 * where du = W dr and du^ = du + mu ds n. Newton's equation ds = F - s + t.du_T (stuck: ds = -s)
 * eliminates ds, and leaves one linear system in dr, with d rows for each contact:
 *   off:   w dr = 0
 *   stuck: du = -(u + b n)
 *   slid:  du_N = -(u_N + b)
 *          w t (dr_t + mu dr_N) + (I - t t')(share w dr_T + (1 - share) du_T) = 0,
 *          share = F/(F + w mu r_N), dr_t = t.dr_T
 * Rows with bounds do not slide; between their bounds they are like stuck ones, with compliance.
 * Redundant contacts make it singular without affecting du: w epsilon is added to the diagonal, and
 * iterative refinement with the original system removes its effect. */

/* Data that the step keeps from one call to the next. */
typedef struct newton_step {
    const cairn_problem *p; /* in the local form                    */
    cairn_arena *arena;     /* reset at each step                   */
    cairn_lu *lu;
} newton_step;

static const double epsilon = 1e-9;
enum { REFINEMENTS = 4 };

/* d rows for one contact: C du + D dr = side, D with `added` on its diagonal. */
typedef struct equations {
    double C[9], D[9], side[3], added[3];
} equations;

static double sliding(int d, const double *u, double *t)
{
    double F = cairn_sliding_speed(d, 0, u);
    for (int i = 1; i < d; i++)
        t[i] = F > 0 ? u[i] / F : 0;
    return F;
}

static void off_rows(int d, double w, equations *out)
{
    for (int i = 0; i < d; i++)
        out->D[i * d + i] = w;
}

static void stuck_rows(int d, double w, const double *u, equations *out)
{
    for (int i = 0; i < d; i++) {
        out->C[i * d + i] = 1;
        out->side[i] = -u[i];
        out->added[i] = epsilon * w;
    }
}

static void slid_rows(int d, double w, double mu, const double *r, const double *u, equations *out)
{
    double t[3], F = sliding(d, u, t), grip = w * mu * fmax(0, r[0]);
    double share = F + grip > 0 ? F / (F + grip) : 1;
    out->C[0] = 1;
    out->side[0] = -u[0];
    out->added[0] = epsilon * w;
    for (int i = 1; i < d; i++) {
        out->D[i * d] = w * mu * t[i];
        for (int k = 1; k < d; k++) {
            double across = (i == k) - t[i] * t[k];
            out->D[i * d + k] = w * (t[i] * t[k] + share * across);
            out->C[i * d + k] = (1 - share) * across;
        }
    }
}

/* Rows with bounds: dr = 0 at a bound, d(u + eps r) = -y between; y comes with the compliance. */
static void bounded_rows(const cairn_problem *p, int j, const double *r, const double *y,
                         equations *out)
{
    int d = p->dimension;
    double w[3], z[3], inside[3];
    cairn_contact_scales(p, j, w);
    for (int i = 0; i < d; i++)
        z[i] = inside[i] = r[i] - y[i] / w[i];
    cairn_rows_project(p, j, inside);
    for (int i = 0; i < d; i++) {
        size_t row = (size_t)j * (size_t)d + (size_t)i;
        bool held = inside[i] != z[i] || p->lower[row] == p->upper[row];
        double eps = p->compliance ? p->compliance[row] : 0;
        out->C[i * d + i] = held ? 0 : 1;
        out->D[i * d + i] = held ? w[i] : eps;
        out->side[i] = held ? 0 : -y[i];
        out->added[i] = held ? 0 : epsilon * w[i];
    }
}

/* The state of a contact, and its rows; u contains the bias b. True if it is stuck. */
static bool contact_rows(const cairn_problem *p, int j, double s, const double *r, const double *u,
                         equations *out)
{
    int d = p->dimension;
    double w = cairn_contact_inverse_mass(p, j), mu = p->mu[j], z[3], cone[3];
    *out = (equations){ .side = { 0 } };
    if (cairn_is_bounded(p, j)) {
        bounded_rows(p, j, r, u, out);
        return true; /* s stays 0 */
    }
    for (int i = 0; i < d; i++)
        z[i] = cone[i] = w > 0 ? r[i] - (u[i] + (i == 0 ? mu * s : 0)) / w : 0;
    cairn_cone_project(d, mu, cone);
    bool stuck = w > 0 && memcmp(z, cone, (size_t)d * sizeof(double)) == 0;
    if (stuck)
        stuck_rows(d, w, u, out);
    else if (cone[0] <= 0)
        off_rows(d, w > 0 ? w : 1, out);
    else
        slid_rows(d, w, mu, r, u, out);
    return stuck;
}

/* ---- the system ----------------------------------------------------------------------------- */

typedef struct assembly {
    int32_t *row, *column;
    double *value;
    int64_t count;
    double *side, *added; /* right-hand side; what `epsilon` added to the diagonal */
    bool *stuck;          /* of each contact                                       */
} assembly;

static cairn_status take_assembly(const cairn_problem *p, cairn_arena *arena, assembly *a)
{
    size_t d = (size_t)p->dimension, size = d * (size_t)p->contacts;
    size_t most = d * (size_t)p->W->start[size] + d * size;
    a->count = 0;
    a->row = cairn_arena_take(arena, most, sizeof(int32_t));
    a->column = cairn_arena_take(arena, most, sizeof(int32_t));
    a->value = cairn_arena_take(arena, most, sizeof(double));
    a->side = cairn_arena_take(arena, size, sizeof(double));
    a->added = cairn_arena_take(arena, size, sizeof(double));
    a->stuck = cairn_arena_take(arena, (size_t)p->contacts, sizeof(bool));
    bool taken = a->row && a->column && a->value && a->side && a->added && a->stuck;
    return taken ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void put(assembly *a, int row, int column, double value)
{
    a->row[a->count] = row;
    a->column[a->count] = column;
    a->value[a->count++] = value;
}

static void put_rows(const cairn_problem *p, int j, const equations *x, assembly *a)
{
    int d = p->dimension, first = j * d;
    for (int i = 0; i < d; i++) {
        a->side[first + i] = x->side[i];
        a->added[first + i] = x->added[i];
        for (int k = 0; k < d; k++) {
            int64_t end = x->C[i * d + k] != 0 ? p->W->start[first + k + 1] : 0;
            for (int64_t e = p->W->start[first + k]; e < end; e++)
                put(a, first + i, p->W->column[e], x->C[i * d + k] * p->W->value[e]);
            put(a, first + i, first + k, x->D[i * d + k] + (i == k ? x->added[i] : 0));
        }
    }
}

static void assemble(const cairn_problem *p, const double *s, const double *r, const double *u,
                     assembly *a)
{
    size_t d = (size_t)p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        equations x;
        double biased[3] = { 0 };
        memcpy(biased, u + (size_t)j * d, d * sizeof(double));
        biased[0] += cairn_contact_bias(p, j);
        cairn_contact_comply(p, j, r + (size_t)j * d, biased);
        a->stuck[j] = contact_rows(p, j, s[j], r + (size_t)j * d, biased, &x);
        put_rows(p, j, &x, a);
    }
}

/* ---- its solution --------------------------------------------------------------------------- */

/* y = A x */
static double product(const cairn_matrix *A, int row, const double *x)
{
    double sum = 0;
    for (int64_t e = A->start[row]; e < A->start[row + 1]; e++)
        sum += A->value[e] * x[A->column[e]];
    return sum;
}

/* dr with the factors of A, refined against A without what was added */
static cairn_status solve_refined(cairn_lu *lu, const cairn_matrix *A, const assembly *a,
                                  double *rest, double *dr)
{
    memset(dr, 0, (size_t)A->rows * sizeof(double));
    for (int k = 0; k <= REFINEMENTS; k++) {
        for (int i = 0; i < A->rows; i++)
            rest[i] = a->side[i] - product(A, i, dr) + a->added[i] * dr[i];
        TRY(cairn_lu_solve(lu, rest, rest));
        for (int i = 0; i < A->rows; i++)
            dr[i] += rest[i];
    }
    return CAIRN_OK;
}

/* s+ = F + t.du_T; 0 where stuck */
static void step_from(const cairn_problem *p, const assembly *a, const double *u, const double *dr,
                      double *s_plus)
{
    int d = p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        double t[3];
        s_plus[j] = sliding(d, u + (size_t)j * (size_t)d, t);
        for (int i = 1; i < d; i++)
            s_plus[j] += t[i] * product(p->W, j * d + i, dr);
        if (a->stuck[j])
            s_plus[j] = 0;
    }
}

/* s+ with F(s) + F'(s)(s+ - s) = s+, where F(s) = |u_T(s)|, at the solution r, u of the convex
 * problem with s. Entries may be negative. *regular is false when there is no such step. */
static cairn_status take_newton_step(newton_step *step, const double *s, const double *r,
                                     const double *u, double *s_plus, bool *regular)
{
    const cairn_problem *p = step->p;
    int size = p->dimension * p->contacts;
    assembly a;
    cairn_matrix A;
    cairn_arena_reset(step->arena);
    TRY(take_assembly(p, step->arena, &a));
    assemble(p, s, r, u, &a);
    const cairn_triplets entries = { a.count, a.row, a.column, a.value };
    TRY(cairn_sparse_gather(size, size, &entries, step->arena, &A));
    TRY(cairn_lu_factor(step->lu, &A, regular));
    if (!*regular)
        return CAIRN_OK;
    double *dr = cairn_arena_take(step->arena, (size_t)size, sizeof(double));
    double *rest = cairn_arena_take(step->arena, (size_t)size, sizeof(double));
    if (!dr || !rest)
        return CAIRN_NO_MEMORY;
    TRY(solve_refined(step->lu, &A, &a, rest, dr));
    step_from(p, &a, u, dr, s_plus);
    return CAIRN_OK;
}

/* ---- the loop on s ----------------------------------------------------------------------- */

enum { HALVINGS = 20 };

/* A value of s with the solution of its convex problem. */
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
    newton_step step;
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
    x->step = (newton_step){ .p = &x->local, .arena = &x->step_arena };
    return cairn_lu_create(&x->step.lu);
}

/* ---- (1) and (2) ---------------------------------------------------------------------------- */

/* s_j = max(s_j, the least s that makes the velocity `u` (NULL: 0) feasible) */
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

/* The residual to which the tolerance refers. */
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
        TRY(take_newton_step(&n->step, n->now.s, n->now.r, n->now.u, n->s_plus, &regular));
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
