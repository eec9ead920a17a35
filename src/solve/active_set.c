/* active_set.c - the convex law with polyhedral cones as a quadratic program, by the dual
 * active-set method of Goldfarb and Idnani, started from the last step; elastic mode as in [A05].
 *
 * Primal:  min 1/2 |v - v_free|_M^2  subject to  (u + (b + mu s) n).(1, mu d_k) >= 0, each edge.
 * With beta >= 0 the multipliers of the edges, G beta + g the left-hand sides (problem/lcp.c):
 *   (1) A = edges that the warm start uses, as far as independent; beta_A = -G_AA^-1 g_A; while
 *       one is negative, the most negative leaves A. (From 0: A is empty.)
 *   (2) sigma = G beta + g; p = the most violated edge, sigma_p < 0; none: done, go to (6)
 *   (3) d_A = -G_AA^-1 G_Ap and the curvature kappa = G_pp + G_pA d_A
 *   (4) beta_p grows by t, beta_A by t d_A; t = the smaller of -sigma_p/kappa (sigma_p becomes 0; p
 *       joins A, beta_A = -G_AA^-1 g_A anew as in (1), go to (2)) and the first t at which a beta_i
 *       becomes 0 (i leaves A, go to (3))
 *   (5) kappa = 0 and no beta_i falls: the constraints contradict each other. Elastic mode: each
 *       contact's constraints may be missed by zeta_j >= 0 at the price C zeta_j, which bounds its
 *       normal impulse by C = max(20 max |q_j|/w_j, 5 max r_N of the warm start). That program
 *       always has a solution, found by Lemke's algorithm; the remark of the report says that it
 *       is not the original one
 *   (6) beta_A refined, by LU of G_AA as given (W may be a little unsymmetric), against the
 *       velocities that the judge computes from r: exact to its rounding
 * The velocity is that of the dual's current minimum and the dual grows at each (4) with t > 0, so
 * the method ends. Exact for small problems; dense, so not for large ones. */

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "math/factor.h"
#include "problem/operator.h"
#include "solve/systems.h"

/* ---- the factor -------------------------------------------------------------------------- */

/* A Cholesky factor to which members are added and from which they are removed.
 *
 * join: the new row of L is (l', sqrt(curvature)) with l = L^-1 G_Ap, curvature = G_pp - l'l
 * leave: L without row k has one entry too many in each later row; plane rotations of neighbouring
 * columns take them off. Both cost the square of the number of members. */

/* A curvature below this share of G_pp is due to rounding. */
static const double dependent = 1e-10;

static double *row_of(const cairn_active *a, int i)
{
    return a->L + (size_t)i * (size_t)a->most;
}

cairn_status cairn_active_create(int size, const double *G, int most, cairn_arena *arena,
                                 cairn_active *out)
{
    *out = (cairn_active){ .size = size, .G = G, .most = most };
    out->member = cairn_arena_take(arena, (size_t)most, sizeof(int));
    out->L = cairn_arena_take(arena, (size_t)most * (size_t)most, sizeof(double));
    out->row = cairn_arena_take(arena, (size_t)most, sizeof(double));
    return out->member && out->L && out->row ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* x = L^-1 x */
static void solve_lower(const cairn_active *a, double *x)
{
    for (int i = 0; i < a->count; i++) {
        const double *L = row_of(a, i);
        for (int k = 0; k < i; k++)
            x[i] -= L[k] * x[k];
        x[i] /= L[i];
    }
}

/* x = L'^-1 x */
static void solve_upper(const cairn_active *a, double *x)
{
    for (int i = a->count - 1; i >= 0; i--) {
        const double *L = row_of(a, i);
        x[i] /= L[i];
        for (int k = 0; k < i; k++)
            x[k] -= L[k] * x[i];
    }
}

void cairn_active_solve(const cairn_active *a, double *x)
{
    solve_lower(a, x);
    solve_upper(a, x);
}

double cairn_active_probe(cairn_active *a, int p, double *d)
{
    const double *G = a->G + (size_t)p * (size_t)a->size;
    double curvature = G[p];
    for (int i = 0; i < a->count; i++)
        a->row[i] = G[a->member[i]];
    solve_lower(a, a->row);
    for (int i = 0; i < a->count; i++) {
        curvature -= a->row[i] * a->row[i];
        d[i] = -a->row[i];
    }
    solve_upper(a, d);
    return a->count < a->most && curvature > dependent * G[p] ? curvature : 0;
}

void cairn_active_add(cairn_active *a, int p, double curvature)
{
    double *L = row_of(a, a->count);
    memcpy(L, a->row, (size_t)a->count * sizeof(double));
    L[a->count] = sqrt(curvature);
    a->member[a->count++] = p;
}

/* The rotation of columns k and k + 1 that makes entry (i = k, k + 1) zero, in the rows from k. */
static void rotate(cairn_active *a, int k)
{
    double *first = row_of(a, k), length = hypot(first[k], first[k + 1]);
    double c = first[k] / length, s = first[k + 1] / length;
    for (int i = k; i < a->count; i++) {
        double *L = row_of(a, i), x = L[k], y = L[k + 1];
        L[k] = c * x + s * y;
        L[k + 1] = c * y - s * x;
    }
}

void cairn_active_drop(cairn_active *a, int k)
{
    a->count--;
    for (int i = k; i < a->count; i++) {
        a->member[i] = a->member[i + 1];
        memcpy(row_of(a, i), row_of(a, i + 1), ((size_t)i + 2) * sizeof(double));
    }
    for (int i = k; i < a->count; i++)
        rotate(a, i);
}

/* ---- the method -------------------------------------------------------------------------- */

/* The state of the method. */
typedef struct program {
    cairn_lcp given;     /* G and g, not symmetrised        */
    double *G;           /* the symmetric part of G         */
    double *beta, *d;    /* all edges; direction of members */
    cairn_active active; /* A                               */
} program;

enum { POLISHINGS = 2 };

typedef enum verdict { SOLVED, INFEASIBLE, STOPPED } verdict;

static bool accepts(cairn_law law, const cairn_problem *p)
{
    /* the elastic program has one unknown more per contact */
    return cairn_lcp_possible(p) &&
           cairn_lemke_fits((int64_t)(cairn_lcp_unknowns(p, law) + 1) * p->contacts);
}

static cairn_status start_program(const cairn_problem *p, cairn_arena *arena, program *x)
{
    TRY(cairn_lcp_create(p, CAIRN_LAW_CONVEX, arena, &x->given));
    size_t n = (size_t)x->given.size;
    x->G = cairn_arena_take(arena, n * n, sizeof(double));
    x->beta = cairn_arena_doubles(arena, n);
    x->d = cairn_arena_take(arena, n, sizeof(double));
    if (!x->G || !x->beta || !x->d)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            x->G[i * n + j] = 0.5 * (x->given.A[i * n + j] + x->given.A[j * n + i]);
    return cairn_active_create((int)n, x->G, p->dimension * p->contacts, arena, &x->active);
}

/* ---- (1) ------------------------------------------------------------------------------------ */

/* Remove the member at position k and set its multiplier to 0. */
static void leave(program *x, int k)
{
    x->beta[x->active.member[k]] = 0;
    cairn_active_drop(&x->active, k);
}

/* d = -G_AA^-1 g_A; the position of its least entry, -1 when none is negative beyond rounding */
static int least_multiplier(program *x)
{
    int least = -1;
    double largest = 0;
    for (int i = 0; i < x->active.count; i++)
        x->d[i] = -x->given.a[x->active.member[i]];
    cairn_active_solve(&x->active, x->d);
    for (int i = 0; i < x->active.count; i++)
        largest = fmax(largest, fabs(x->d[i]));
    for (int i = 0; i < x->active.count; i++)
        if (x->d[i] < (least < 0 ? -1e-12 * largest : x->d[least]))
            least = i;
    return least;
}

/* beta_A = -G_AA^-1 g_A; members with a negative multiplier leave */
static void settle(program *x, int64_t *iterations)
{
    for (int k; (k = least_multiplier(x)) >= 0; (*iterations)++)
        leave(x, k);
    for (int i = 0; i < x->active.count; i++)
        x->beta[x->active.member[i]] = fmax(0, x->d[i]);
}

static void start_hot(const cairn_problem *p, const double *r, program *x, int64_t *iterations)
{
    cairn_lcp_edges(p, r, x->beta);
    double largest = 0;
    for (int i = 0; i < x->given.size; i++)
        largest = fmax(largest, x->beta[i]);
    for (int i = 0; i < x->given.size; i++) {
        double curvature =
            x->beta[i] > 1e-9 * largest ? cairn_active_probe(&x->active, i, x->d) : 0;
        if (curvature > 0)
            cairn_active_add(&x->active, i, curvature);
        x->beta[i] = 0;
    }
    settle(x, iterations);
}

/* ---- (2) to (5) ----------------------------------------------------------------------------- */

/* sigma_i, and the size of its terms */
static double slack_of(const program *x, int i, double *terms)
{
    const double *G = x->G + (size_t)i * (size_t)x->given.size;
    double sum = x->given.a[i];
    *terms = fabs(sum);
    for (int k = 0; k < x->active.count; k++) {
        double term = G[x->active.member[k]] * x->beta[x->active.member[k]];
        sum += term;
        *terms += fabs(term);
    }
    return sum;
}

/* (2) the edge violated most for its inverse mass; -1: none beyond rounding */
static int most_violated(const program *x, double *sigma)
{
    double worst = 0, terms;
    int found = -1;
    for (int i = 0; i < x->given.size; i++) {
        double own = x->G[(size_t)i * (size_t)x->given.size + (size_t)i];
        double slack = slack_of(x, i, &terms);
        double measure = slack / (own > 0 ? sqrt(own) : DBL_MIN);
        if (slack < -32 * DBL_EPSILON * terms && measure < worst) {
            worst = measure;
            found = i;
            *sigma = slack;
        }
    }
    return found;
}

/* The first t at which a multiplier becomes 0 along d, and its position. */
static double first_to_vanish(const program *x, int *which)
{
    double first = INFINITY;
    for (int k = 0; k < x->active.count; k++) {
        double t = x->d[k] < 0 ? x->beta[x->active.member[k]] / -x->d[k] : INFINITY;
        if (t < first) {
            first = t;
            *which = k;
        }
    }
    return first;
}

/* (3) and (4) until edge p is a member */
static verdict enforce(program *x, int p, double sigma, cairn_task *task)
{
    while (cairn_task_may_go_on(task)) {
        int which = -1;
        double curvature = cairn_active_probe(&x->active, p, x->d);
        double partial = first_to_vanish(x, &which);
        double full = curvature > 0 ? -sigma / curvature : INFINITY;
        double t = fmin(partial, full);
        if (isinf(t))
            return INFEASIBLE;
        task->report->iterations++;
        for (int k = 0; k < x->active.count; k++)
            x->beta[x->active.member[k]] += t * x->d[k];
        x->beta[p] += t;
        sigma += t * curvature;
        if (full <= partial) {
            cairn_active_add(&x->active, p, curvature);
            return SOLVED;
        }
        leave(x, which);
    }
    return STOPPED;
}

static verdict enforce_all(program *x, cairn_task *task)
{
    double sigma = 0;
    for (int p; (p = most_violated(x, &sigma)) >= 0;) {
        verdict v = cairn_task_may_go_on(task) ? enforce(x, p, sigma, task) : STOPPED;
        if (v != SOLVED)
            return v;
        settle(x, &task->report->iterations); /* removes accumulated rounding errors */
    }
    return SOLVED;
}

/* ---- (5) elastic mode ----------------------------------------------------------------------- */

/* C = max(20 max |q_j|/w_j, 5 max r_N) */
static double penalty(const cairn_task *task, const double *r)
{
    const cairn_problem *p = task->p;
    double most = 0;
    int d = p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        double w = cairn_contact_inverse_mass(p, j), bias = cairn_contact_shift(p, j);
        double q[3] = { 0 };
        if (p->W)
            memcpy(q, p->q + (size_t)j * (size_t)d, (size_t)d * sizeof(double));
        else
            cairn_contact_relative(p, d, p->block_size, j, p->v_free, q);
        double size = hypot(hypot(q[0] + bias, q[1]), d == 3 ? q[2] : 0);
        most = fmax(most, fmax(w > 0 ? 20 * size / w : 0, 5 * r[(size_t)j * (size_t)d]));
    }
    return most > 0 ? most : 1;
}

static cairn_status solve_elastic(cairn_task *task, double *r)
{
    const cairn_problem *p = task->p;
    cairn_lcp lcp;
    cairn_lemke_end end;
    double most = penalty(task, r);
    TRY(cairn_lcp_create_elastic(p, most, task->arena, &lcp));
    double *z = cairn_arena_take(task->arena, (size_t)lcp.size, sizeof(double));
    if (!z)
        return CAIRN_NO_MEMORY;
    TRY(cairn_lemke(&lcp, task, z, &end));
    cairn_lcp_impulses(p, CAIRN_LAW_CONVEX, z, r);
    task->report->converged = cairn_task_judge_array(task, r);
    const double *zeta = z + (lcp.size - p->contacts);
    double worst = 0;
    for (int j = 0; j < p->contacts; j++)
        worst = fmax(worst, zeta[j]);
    const char *words = cairn_lemke_words(end);
    snprintf(task->report->remark, sizeof task->report->remark,
             "no velocity meets all constraints; elastic mode, C = %.3g N s, misses them by %.3g "
             "m/s%s%s",
             most, worst, words ? "; " : "", words ? words : "");
    return CAIRN_OK;
}

/* ---- (6) and the call ----------------------------------------------------------------------- */

/* The factors of G_AA as given; false when it is singular. */
static bool factor_members(const program *x, double *factors, int *pivot)
{
    const cairn_active *a = &x->active;
    size_t count = (size_t)a->count, n = (size_t)x->given.size;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            factors[i * count + j] = x->given.A[(size_t)a->member[i] * n + (size_t)a->member[j]];
    return cairn_dense_factor(a->count, factors, pivot);
}

/* beta_A -= G_AA^-1 sigma_A, sigma from the velocities of r as the judge computes them */
static cairn_status polish(cairn_task *task, program *x, double *r)
{
    const cairn_problem *p = task->p;
    const cairn_active *a = &x->active;
    size_t count = (size_t)a->count;
    double *factors = cairn_arena_take(task->arena, count * count, sizeof(double));
    double *sigma = cairn_arena_take(task->arena, (size_t)x->given.size, sizeof(double));
    int *pivot = cairn_arena_take(task->arena, count, sizeof(int));
    if (!factors || !sigma || !pivot)
        return CAIRN_NO_MEMORY;
    if (!factor_members(x, factors, pivot))
        return CAIRN_OK;
    for (int round = 0; round < POLISHINGS; round++) {
        cairn_lcp_impulses(p, CAIRN_LAW_CONVEX, x->beta, r);
        cairn_problem_apply(p, r, task->host.v, task->host.u);
        cairn_lcp_slacks(p, task->host.u, sigma);
        for (size_t i = 0; i < count; i++)
            x->d[i] = -sigma[a->member[i]];
        cairn_dense_solve(a->count, factors, pivot, x->d);
        for (size_t i = 0; i < count; i++)
            x->beta[a->member[i]] = fmax(0, x->beta[a->member[i]] + x->d[i]);
    }
    return CAIRN_OK;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    const cairn_problem *p = task->p;
    cairn_solve_report *report = task->report;
    program x;
    report->converged = cairn_task_judge_array(task, r);
    if (report->converged)
        return CAIRN_OK;
    TRY(start_program(p, task->arena, &x));
    if (!cairn_lcp_is_finite(&x.given))
        return CAIRN_NOT_FINITE;
    start_hot(p, r, &x, &report->iterations);
    verdict v = enforce_all(&x, task);
    if (v == INFEASIBLE)
        return solve_elastic(task, r);
    if (v == SOLVED)
        TRY(polish(task, &x, r));
    cairn_lcp_impulses(p, CAIRN_LAW_CONVEX, x.beta, r);
    report->converged = cairn_task_judge_array(task, r);
    if (!report->converged)
        snprintf(report->remark, sizeof report->remark, "%s",
                 v == SOLVED ? "solved up to rounding, which misses the tolerance"
                             : "iterations or time used up");
    return CAIRN_OK;
}

const cairn_solver cairn_solver_active_set = {
    .name = "active-set",
    .summary = "dual active set for polyhedral cones, hot-started; exact, small; elastic mode",
    .laws = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX),
    .run_on_host = run,
    .accepts = accepts,
};
