/* decompression.c - contacts with a least normal impulse, by block Gauss-Seidel.
 *
 *   (1) visit the contacts in order: with c = u - W_jj x the velocity without the contact's own x,
 *   (2) solve its problem without the floor (problem/local.c); that is the answer when it has
 *       x_N >= floor;
 *   (3) else x_N = floor, the contact opens, and x_T is friction of a known bound R = mu floor:
 *           min 1/2 x_T'W_TT x_T + g'x_T,  |x_T| <= R,  g = c_T + W_TN floor,
 *       x_T = -(W_TT + lambda)^-1 g with lambda >= 0 from |x_T| = R where it slides;
 *   (4) update the velocities at once.
 * Convex law: (3) is right because the energy is convex and its least value over K lies below the
 * floor. Coulomb's: u_T = -lambda x_T is its law with the bound known. Velocities are recomputed
 * from r at every judgement. No proof of convergence for Coulomb's law: not meeting the tolerance
 * is reported. */
#include "solve/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "problem/cone.h"
#include "problem/cut.h"
#include "problem/judge.h"
#include "problem/operator.h"

static double square(int d, const double *x)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += x[i] * x[i];
    return sum;
}

/* ---- the judge ------------------------------------------------------------------------------ */

/* Projection onto C: onto K, and where that is below the floor onto the disk at the floor. */
static void project(int d, double mu, double least, double *x)
{
    double tangent[3] = { 0, x[1], d == 3 ? x[2] : 0 }, length = sqrt(square(3, tangent));
    cairn_cone_project(d, mu, x);
    if (x[0] >= least)
        return;
    double share = length > mu * least ? mu * least / length : 1;
    x[0] = least;
    for (int i = 1; i < d; i++)
        x[i] = share * tangent[i];
}

/* |x - P_C(x - scale u)|^2 */
static double natural_map(const cairn_decompression *d, int j, const double *x, const double *u,
                          double scale)
{
    int n = d->p->dimension;
    double step[3], sum = 0;
    for (int i = 0; i < n; i++)
        step[i] = x[i] - scale * u[i];
    project(n, d->p->mu[j], d->floor[j], step);
    for (int i = 0; i < n; i++)
        sum += (x[i] - step[i]) * (x[i] - step[i]);
    return sum;
}

/* Sums over contacts. */
typedef struct sums {
    double e2[CAIRN_LAW_COUNT], fclib2[CAIRN_LAW_COUNT], worst[CAIRN_LAW_COUNT];
    double share[CAIRN_LAW_COUNT]; /* largest e_j related to the scale of the contact */
    int worst_contact[CAIRN_LAW_COUNT];
    int holder[CAIRN_LAW_COUNT]; /* the member that has the worst contact */
    double scale2;               /* (m/s)^2: denominators of residuals       */
    double q2, r2, u2;           /* squared norms, bias included             */
    double terms2;               /* sizes that rounding is relative to       */
    double outside;              /* N s: largest distance of x from C        */
} sums;

static double bias(const cairn_problem *p, int j)
{
    return p->b ? p->b[j] : 0;
}

/* Velocity of contact j without any impulse, bias included. */
static void free_velocity(const cairn_problem *p, int j, double *q)
{
    if (p->W)
        for (int i = 0; i < p->dimension; i++)
            q[i] = p->q[(size_t)j * (size_t)p->dimension + (size_t)i];
    else
        cairn_contact_relative(p, p->dimension, p->block_size, j, p->v_free, q);
    q[0] += bias(p, j);
}

/* What the error of a contact is related to, m/s; all 0: the problem has no scales. */
typedef struct reference {
    double scale; /* max(S_j, min(w |r_j|, C_j))           */
    double noise; /* the rounding of u_j and of r_j - r_c  */
} reference;

/* As residual.c has it, with the impulse of both phases. */
static reference refer(const cairn_problem *p, int j, double w, const double *r, const double *v)
{
    const double *own = r + (size_t)j * (size_t)p->dimension;
    if (!p->scale)
        return (reference){ 0, 0 };
    double carried = w * sqrt(square(p->dimension, own));
    double terms2 = cairn_contact_terms2(p, j, r, v) + carried * carried;
    return (reference){ cairn_larger(p->scale[j], cairn_smaller(carried, p->most[j])),
                        cairn_own_rounding * sqrt(terms2) };
}

/* An impulse x of the second phase. */
static void add_residual(const cairn_decompression *d, int j, const double *x, const double *u,
                         reference to, sums *sum)
{
    int n = d->p->dimension;
    double w = cairn_contact_inverse_mass(d->p, j);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        double lift = law == CAIRN_LAW_COULOMB ? cairn_contact_sliding(d->p, j, u) : 0;
        double shifted[3] = { u[0] + lift, u[1], n == 3 ? u[2] : 0 };
        double e2 = w > 0 ? w * w * natural_map(d, j, x, shifted, 1 / w) : 0;
        double apart2 = w > 0 ? cairn_contact_conditions2(d->p, j, w, d->floor[j], x, u, lift) : 0;
        double e = sqrt(apart2 > e2 ? apart2 : e2);
        double share = e <= to.noise ? 0 : e / to.scale;
        sum->e2[law] += e * e;
        sum->share[law] = share <= sum->share[law] ? sum->share[law] : share; /* NaN stays */
        sum->fclib2[law] += natural_map(d, j, x, shifted, 1);
        if (!(e <= sum->worst[law])) {
            sum->worst[law] = e;
            sum->worst_contact[law] = j;
        }
    }
}

typedef struct judge_job {
    const cairn_decompression *d;
    const double *r, *v;
    double *u;
    int member;
} judge_job;

static void judge_contact(const judge_job *job, int j, sums *sum)
{
    const cairn_decompression *d = job->d;
    int n = d->p->dimension;
    const double *r = job->r + (size_t)j * (size_t)n;
    double *u = job->u + (size_t)j * (size_t)n;
    double w = cairn_contact_inverse_mass(d->p, j), x[3], q[3] = { 0 }, shifted[3] = { 0 };
    for (int i = 0; i < n; i++) {
        x[i] = r[i] - d->compression[(size_t)j * (size_t)n + (size_t)i];
        shifted[i] = u[i] + (i == 0 ? bias(d->p, j) : 0);
    }
    free_velocity(d->p, j, q);
    add_residual(d, j, x, shifted, refer(d->p, j, w, job->r, job->v), sum);
    double thrown = w * d->floor[j];
    sum->scale2 += (q[0] < 0 ? square(n, q) : 0) + thrown * thrown;
    sum->q2 += square(n, q);
    sum->r2 += square(n, x);
    sum->u2 += square(n, shifted);
    sum->terms2 += square(n, q) + square(n, shifted) + w * w * square(n, r);
    sum->outside = fmax(sum->outside, sqrt(natural_map(d, j, x, shifted, 0)));
}

static cairn_residual conclude(const sums *sum, bool scaled, int law)
{
    double rounding = 8 * DBL_EPSILON;
    double size = sqrt(fmax(sum->q2, fmax(sum->r2, sum->u2)));
    if (!isfinite(sum->e2[law] + sum->fclib2[law] + sum->terms2 + sum->scale2 + size))
        return (cairn_residual){ INFINITY, INFINITY, INFINITY, INFINITY, sum->worst_contact[law] };
    bool noise = sum->e2[law] <= rounding * rounding * sum->terms2;
    double error = noise ? 0 : sqrt(sum->e2[law]);
    double whole = error == 0 ? 0 : fmin(error / sqrt(sum->scale2), DBL_MAX);
    return (cairn_residual){ .worst = sum->worst[law],
                             .relative = scaled ? cairn_share_residual(sum->share[law]) : whole,
                             .whole = whole,
                             .fclib = size > 0 ? sqrt(sum->fclib2[law]) / size : 0,
                             .worst_contact = sum->worst_contact[law] };
}

static void judge_range(int begin, int end, void *context, void *value)
{
    const judge_job *job = context;
    for (int j = begin; j < end; j++)
        judge_contact(job, j, value);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        ((sums *)value)->holder[law] = job->member;
}

static void add_sums(void *result, const void *value)
{
    sums *sum = result;
    const sums *part = value;
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        sum->e2[law] += part->e2[law];
        sum->share[law] = part->share[law] <= sum->share[law] ? sum->share[law] : part->share[law];
        sum->fclib2[law] += part->fclib2[law];
        if (part->worst_contact[law] >= 0 && !(part->worst[law] <= sum->worst[law])) {
            sum->worst[law] = part->worst[law];
            sum->worst_contact[law] = part->worst_contact[law];
            sum->holder[law] = part->holder[law];
        }
    }
    sum->scale2 += part->scale2;
    sum->q2 += part->q2;
    sum->r2 += part->r2;
    sum->u2 += part->u2;
    sum->terms2 += part->terms2;
    sum->outside = fmax(sum->outside, part->outside);
}

/* In one range, or by the parts of the problem. */
void cairn_decompression_judge(const cairn_decompression *d, cairn_law law, const double *r,
                               double *v, double *u, cairn_judgement *out)
{
    static const sums none = { .worst_contact = { -1, -1 } };
    sums sum = none, room;
    cairn_problem p = *d->p;
    const cairn_decompression circular = { &p, d->compression, d->floor, NULL };
    const cairn_link *link = cairn_problem_link(d->p);
    judge_job job = { &circular, r, v, u, link ? link->member : 0 };
    const cairn_reduction all = { .count = p.contacts,
                                  .grain = p.contacts + 1,
                                  .parted = cairn_problem_parted(d->p),
                                  .work = judge_range,
                                  .join = add_sums,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    p.directions = 0; /* polyhedral cones are used in the first phase only */
    cairn_problem_velocity(d->p, r, v);
    cairn_problem_relative(d->p, r, v, u);
    cairn_reduce(&all, &room, &sum);
    for (int k = 0; k < CAIRN_LAW_COUNT && link; k++)
        if (sum.holder[k] != link->member) /* a member has no indices for contacts of others */
            sum.worst_contact[k] = -1;
    bool scaled = d->p->scale != NULL;
    out->coulomb = conclude(&sum, scaled, CAIRN_LAW_COULOMB);
    out->asked = conclude(&sum, scaled, law);
    out->cone_violation = sum.outside;
}

/* ---- (3) friction of a known bound ---------------------------------------------------------- */

/* x_T in 3D: Newton on 1/|x(lambda)| - 1/R, which is nearly a line. A, B, C: W_TT = (A, B; B, C) */
static void bounded_friction_3d(const double *W, double bound, const double *g, double *x)
{
    enum { STEPS = 60 };
    double A = W[2], B = W[4], C = W[5], lambda = 0;
    if (A * C - B * B <= 4 * DBL_EPSILON * A * C) /* singular: start a little inside */
        lambda = 1e-12 * (A + C) + sqrt(square(2, g)) / (1e12 * bound);
    for (int k = 0; k < STEPS; k++) {
        double a = A + lambda, c = C + lambda, det = a * c - B * B;
        x[0] = -(c * g[0] - B * g[1]) / det;
        x[1] = -(a * g[1] - B * g[0]) / det;
        double length2 = square(2, x), length = sqrt(length2);
        /* d|x|/dlambda = -x'(W_TT + lambda)^-1 x/|x| */
        double fall = (c * x[0] * x[0] - 2 * B * x[0] * x[1] + a * x[1] * x[1]) / det;
        double change = fall > 0 ? (length / bound - 1) * length2 / fall : 0;
        if ((k == 0 && length <= bound) || fabs(change) <= 1e-15 * (a + c))
            break;
        lambda = fmax(0, lambda + change);
    }
    double length = sqrt(square(2, x));
    for (int i = 0; length > bound && i < 2; i++)
        x[i] *= bound / length;
}

static void bounded_friction(int d, const double *W, double bound, const double *g, double *x)
{
    if (bound == 0) {
        x[0] = 0;
        x[d - 2] = 0;
    } else if (d == 3) {
        bounded_friction_3d(W, bound, g, x);
    } else {
        double stick = W[2] > 0 ? -g[0] / W[2] : g[0] > 0 ? -INFINITY : g[0] < 0 ? INFINITY : 0;
        x[0] = fmax(-bound, fmin(bound, stick));
    }
}

/* ---- the sweep ------------------------------------------------------------------------------ */

/* (2) and (3): x with velocity c + W x, c with the bias */
static void solve_contact(const cairn_decompression *d, int j, cairn_law law, const double *c,
                          double *x)
{
    int n = d->p->dimension;
    double W[6], least = d->floor[j], g[2];
    cairn_contact_delassus(d->p, j, W);
    cairn_local_solve(n, law, W, d->p->mu[j], c, x);
    if (x[0] >= least)
        return;
    x[0] = least;
    g[0] = c[1] + W[1] * least;
    g[1] = n == 3 ? c[2] + W[3] * least : 0;
    bounded_friction(n, W, d->p->mu[j] * least, g, x + 1);
}

/* y = W x, W a lower triangle by rows */
static void multiply(int n, const double *W, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = 0; k < n; k++)
            y[i] += W[i >= k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i] * x[k];
    }
}

/* (1) to (4) */
static void visit(const cairn_decompression *d, cairn_law law, int j, double *r, double *v)
{
    const cairn_problem *p = d->p;
    int n = p->dimension;
    size_t first = (size_t)j * (size_t)n;
    double W[6], c[3], x[3], own[3], change[3];
    cairn_contact_velocity(p, j, r, v, c);
    cairn_contact_delassus(p, j, W);
    for (int i = 0; i < n; i++)
        x[i] = r[first + (size_t)i] - d->compression[first + (size_t)i];
    multiply(n, W, x, own);
    for (int i = 0; i < n; i++)
        c[i] -= own[i];
    c[0] += bias(p, j);
    solve_contact(d, j, law, c, x);
    for (int i = 0; i < n; i++) {
        change[i] = x[i] + d->compression[first + (size_t)i] - r[first + (size_t)i];
        r[first + (size_t)i] += change[i];
    }
    if (!p->W)
        cairn_contact_push(p, n, p->block_size, j, change, v);
}

/* All contacts once. */
static void sweep(const cairn_decompression *d, const cairn_visits *visits, cairn_law law,
                  double *r, double *v)
{
    for (int round = 0, k = 0; round < visits->rounds; round++)
        for (cairn_visits_meet(visits, round, v); k < cairn_visits_end(visits, round); k++)
            visit(d, law, cairn_visits_contact(visits, k), r, v);
}

/* Few contacts are judged after every sweep, many after some. */
static int64_t sweeps_between_judgements(int64_t contacts)
{
    int64_t sweeps = 1 + contacts / 8;
    return sweeps < 20 ? sweeps : 20;
}

cairn_status cairn_decompression_solve(const cairn_decompression *d,
                                       const cairn_solve_options *options, double *r, double *v,
                                       double *u, cairn_solve_report *report)
{
    const cairn_judgement *said = &report->judgement;
    int64_t between = sweeps_between_judgements(cairn_problem_size(d->p));
    cairn_visits visits;
    TRY(cairn_visits_find(d->p, d->arena, &visits));
    *report = (cairn_solve_report){ .solver = "pgs", .outer_iterations = 1 };
    cairn_decompression_judge(d, options->law, r, v, u, &report->judgement);
    report->converged = said->asked.relative <= options->tolerance;
    while (!report->converged && report->iterations < options->max_iterations) {
        for (int64_t k = 0; k < between && report->iterations < options->max_iterations; k++) {
            sweep(d, &visits, options->law, r, v);
            report->iterations++;
        }
        cairn_decompression_judge(d, options->law, r, v, u, &report->judgement);
        if (!isfinite(said->asked.worst))
            return CAIRN_NOT_FINITE;
        report->converged = said->asked.relative <= options->tolerance;
    }
    const cairn_link *link = cairn_problem_link(d->p);
    return link ? link->status : CAIRN_OK;
}

/* ---- both phases ---------------------------------------------------------------------------- */

static void keep_worse(const cairn_residual *other, cairn_residual *residual)
{
    if (other->worst > residual->worst)
        residual->worst_contact = other->worst_contact;
    residual->worst = fmax(residual->worst, other->worst);
    residual->relative = fmax(residual->relative, other->relative);
    residual->whole = fmax(residual->whole, other->whole);
    residual->fclib = fmax(residual->fclib, other->fclib);
}

void cairn_decompression_report(const cairn_solve_report *first, cairn_solve_report *report)
{
    report->solver = first->solver;
    report->converged = report->converged && first->converged;
    report->iterations += first->iterations;
    report->outer_iterations += first->outer_iterations;
    report->step_length = first->step_length;
    if (first->remark[0])
        memcpy(report->remark, first->remark, sizeof report->remark);
    keep_worse(&first->judgement.asked, &report->judgement.asked);
    keep_worse(&first->judgement.coulomb, &report->judgement.coulomb);
    report->judgement.cone_violation =
        fmax(report->judgement.cone_violation, first->judgement.cone_violation);
}
