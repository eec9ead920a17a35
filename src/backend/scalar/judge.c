/* judge.c - the judge of the scalar back end: the formulas of problem/residual.c and
 * docs/notation.md implemented a second time, contact by contact, so that tests can compare the
 * two.
 *
 * With w = trace(W_jj)/d and u^ = u + (b + mu s) n (below, u already contains the bias b):
 *     e_j = max(w |r - P_K(r - u^/w)|, |e_N|, |e_T|),      relative = |e|/|q_closing|.
 * Contacts with rolling or spinning friction are judged in the units of cairn_contact_scale. */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "backend/scalar/scalar.h"
#include "problem/operator.h"

enum { WIDEST = CAIRN_MAX_DIMENSION };

ANYWHERE static double squared(int count, const double *x)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

/* |r - P_K(r - scale u)|^2 of contact j */
ANYWHERE static double natural_map2(const cairn_problem *p, int j, const double *r, const double *u,
                                    double scale)
{
    double x[WIDEST];
    for (int i = 0; i < p->dimension; i++)
        x[i] = r[i] - scale * u[i];
    cairn_scalar_project(p, j, x);
    for (int i = 0; i < p->dimension; i++)
        x[i] = r[i] - x[i];
    return squared(p->dimension, x);
}

/* ---- Signorini's condition and the law of friction ------------------------------------------ */

/* The point nearest to x of the segment from a to b; returns the distance squared. */
ANYWHERE static double nearest_of_segment(const double *a, const double *b, const double *x,
                                          double *out)
{
    double t[2] = { b[0] - a[0], b[1] - a[1] }, length2 = squared(2, t);
    double along = length2 > 0 ? ((x[0] - a[0]) * t[0] + (x[1] - a[1]) * t[1]) / length2 : 0;
    along = fmax(0.0, fmin(1.0, along));
    for (int i = 0; i < 2; i++)
        out[i] = a[i] + along * t[i];
    return (x[0] - out[0]) * (x[0] - out[0]) + (x[1] - out[1]) * (x[1] - out[1]);
}

/* Corner k of the regular polygon with circumradius `bound`, counter-clockwise. */
ANYWHERE static void corner(int edges, double bound, int k, double *out)
{
    out[0] = bound * cos(2 * M_PI * k / edges);
    out[1] = bound * sin(2 * M_PI * k / edges);
}

/* x = the nearest point of the polygon with corners bound d_k: x itself if it lies to the left of
 * all sides, else the nearest point of any side. With bound = 0 all corners coincide and every
 * point would count as inside, hence the condition on bound. */
ANYWHERE static void into_polygon(int edges, double bound, double *x)
{
    double best[2] = { x[0], x[1] }, least2 = INFINITY;
    bool inside = bound > 0;
    for (int k = 0; k < edges; k++) {
        double a[2], b[2], near[2];
        corner(edges, bound, k, a);
        corner(edges, bound, k + 1, b);
        inside = inside && (b[0] - a[0]) * (x[1] - a[1]) >= (b[1] - a[1]) * (x[0] - a[0]);
        double distance2 = nearest_of_segment(a, b, x, near);
        if (distance2 < least2) {
            least2 = distance2;
            best[0] = near[0];
            best[1] = near[1];
        }
    }
    x[0] = inside ? x[0] : best[0];
    x[1] = inside ? x[1] : best[1];
}

/* |w r_k - P_D(w r_k - u_k)|^2 of one part of the cone, D = {|x| <= w mu max(r_N, 0)} */
ANYWHERE static double friction2(const cairn_cone_part *part, int edges, double w, const double *r,
                                 const double *u)
{
    double x[2] = { 0, 0 }, off[2] = { 0, 0 }, bound = w * part->mu * fmax(r[0], 0.0);
    for (int i = 0; i < part->count; i++)
        x[i] = w * r[part->first + i] - u[part->first + i];
    /* the second entry stays 0 for parts of one component, so that squared(2, ...) fits both */
    double length = sqrt(squared(2, x)), cut = length > bound ? bound / length : 1;
    if (edges)
        into_polygon(edges, bound, x);
    for (int i = 0; i < part->count; i++)
        off[i] = w * r[part->first + i] - (edges ? 1 : cut) * x[i];
    return squared(2, off);
}

/* max(e_N^2, e_T^2) of docs/notation.md. `lift` is mu s; `opens` is o = u_N + b + mu (s - |u_T|),
 * which for Coulomb's law is u_N + b, because there mu s = mu |u_T|. */
ANYWHERE static double conditions2(const cairn_problem *p, int j, double w, const double *r,
                                   const double *u, double lift)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    int parts = cairn_cone_parts(p, j, part);
    double pushes = w * r[0], opens = u[0] + lift - cairn_contact_sliding(p, j, u), e_T2 = 0;
    double e_N = fmin(pushes, opens);
    if (e_N <= 0)
        e_N = fmin(fmin(pushes, fmax(opens, u[0])), 0.0);
    for (int k = 0; k < parts; k++)
        e_T2 += friction2(&part[k], k == 0 ? p->directions : 0, w, r, u);
    return fmax(e_N * e_N, e_T2);
}

/* ---- one contact ---------------------------------------------------------------------------- */

ANYWHERE static void add_error(cairn_scalar_law_sums *sums, int j, double e2, double scale,
                               double noise2)
{
    double e = sqrt(e2), share = e2 <= noise2 ? 0 : e / scale;
    sums->e2 += e2;
    sums->share = share <= sums->share ? sums->share : share;
    /* written so that NaN counts as worse */
    if (!(e <= sums->worst)) {
        sums->worst = e;
        sums->worst_contact = j;
    }
}

/* max(S_j, min(w |r_j|, C_j)); 0: the problem has no scales */
ANYWHERE double cairn_scalar_error_scale(const cairn_problem *p, int j, double weighed2)
{
    return p->scale ? fmax(p->scale[j], fmin(sqrt(weighed2), p->most[j])) : 0;
}

ANYWHERE void cairn_scalar_take_burden(const cairn_problem *p, double weighed2, double scale,
                                       cairn_scalar_verdict *out)
{
    if (p->scale && 4 * DBL_EPSILON * DBL_EPSILON * weighed2 > out->noise2)
        out->burden = fmax(out->burden, sqrt(weighed2) / scale);
}

/* mu s: s = |u_T| for exact Coulomb, the s of the problem for the convex law */
ANYWHERE static double lift_of(const cairn_problem *p, cairn_law law, int j, const double *u)
{
    if (law == CAIRN_LAW_COULOMB)
        return cairn_contact_sliding(p, j, u);
    return p->s ? p->mu[j] * p->s[j] : 0;
}

/* e_j^2 = max(natural map, conditions)^2 of a law. */
ANYWHERE static double error2(const cairn_problem *p, cairn_law law, int j, double w,
                              const double *r, const double *u)
{
    double lifted[WIDEST] = { 0 }, lift = lift_of(p, law, j, u);
    for (int i = 0; i < p->dimension; i++)
        lifted[i] = u[i];
    lifted[0] += lift;
    bool plain = squared(p->dimension, r) == 0 || !(w > 0); /* then |P_K(-u^)| for any w > 0 */
    double map2 = plain ? natural_map2(p, j, (const double[WIDEST]){ 0 }, lifted, 1)
                        : w * w * natural_map2(p, j, r, lifted, 1 / w);
    double apart2 = conditions2(p, j, w, r, u, lift);
    return apart2 > map2 ? apart2 : map2; /* NaN stays */
}

/* |r - P_K(r - u^)|^2: the measure of the literature and of FCLib. It has no scale, so that it adds
 * impulses and velocities; it is reported for comparison and never used as a criterion. */
ANYWHERE static double literature2(const cairn_problem *p, cairn_law law, int j, const double *r,
                                   const double *u)
{
    double lifted[WIDEST] = { 0 };
    for (int i = 0; i < p->dimension; i++)
        lifted[i] = u[i];
    lifted[0] += lift_of(p, law, j, u);
    return natural_map2(p, j, r, lifted, 1);
}

/* The contribution of a contact to |q|_c^2: |q|^2 if q_N < 0; otherwise |P_K(-q)|^2 for the convex
 * law, the part that violates K*, and nothing for Coulomb's. */
ANYWHERE static double closing2(const cairn_problem *p, cairn_law law, int j, const double *q)
{
    double free[WIDEST] = { 0 };
    for (int i = 0; i < p->dimension; i++)
        free[i] = q[i];
    if (law == CAIRN_LAW_CONVEX)
        free[0] += lift_of(p, law, j, q);
    if (free[0] < 0)
        return squared(p->dimension, free);
    return law == CAIRN_LAW_CONVEX ? natural_map2(p, j, (const double[WIDEST]){ 0 }, free, 1) : 0;
}

/* sum (w |r - P(r - y/w)|)^2 over the rows of a block with bounds, each row with its own w */
ANYWHERE static double rows_error2(const cairn_problem *p, int j, const double *w, const double *r,
                                   const double *y)
{
    double x[WIDEST];
    for (int i = 0; i < p->dimension; i++)
        x[i] = r[i] - y[i] / w[i];
    cairn_scalar_project(p, j, x);
    for (int i = 0; i < p->dimension; i++)
        x[i] = w[i] * (r[i] - x[i]);
    return squared(p->dimension, x);
}

/* A contact as it is judged: as it is, or, with rolling or spinning friction, as a problem of one
 * contact (`own`) whose components were all converted to the units of sliding. */
typedef struct view {
    cairn_scaled_contact own; /* set with rolling or spinning friction only */
    const cairn_problem *p;   /* p and j determine its cone                 */
    int j;
    double w, length[WIDEST]; /* 1/kg; the conversion: r/length, u length    */
} view;

ANYWHERE static void look_at(const cairn_scalar_system *s, int j, view *out)
{
    int d = s->d;
    double room[9];
    const double *W = cairn_scalar_block(s, j, room);
    double lower[WIDEST * (WIDEST + 1) / 2] = { 0 };
    bool parts = s->p->rolling + s->p->spinning > 0;
    for (int i = 0, entry = 0; i < d; i++)
        for (int k = 0; k <= i; k++)
            lower[entry++] = W[i * d + k];
    if (parts)
        cairn_contact_scale(s->p, j, lower, &out->own);
    out->p = parts ? &out->own.p : s->p;
    out->j = parts ? 0 : j;
    out->w = 0;
    for (int i = 0; i < d; i++) {
        out->length[i] = parts ? out->own.length[i] : 1;
        out->w += out->length[i] * out->length[i] * W[i * d + i] / d;
    }
}

ANYWHERE static void judge_cone(const cairn_scalar_system *s, int j, const double *r,
                                const double *u, cairn_scalar_verdict *out)
{
    view at;
    double own_r[WIDEST], own_u[WIDEST];
    look_at(s, j, &at);
    for (int i = 0; i < s->d; i++) {
        own_r[i] = r[i] / at.length[i];
        own_u[i] = u[i] * at.length[i];
    }
    double weighed2 = at.w * at.w * squared(s->d, own_r);
    double scale = cairn_scalar_error_scale(s->p, j, weighed2);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        double e2 = error2(at.p, (cairn_law)law, at.j, at.w, own_r, own_u);
        add_error(&out->law[law], j, e2, scale, out->noise2);
        out->law[law].fclib2 += literature2(s->p, (cairn_law)law, j, r, u);
    }
    out->drowned2 += weighed2;
    cairn_scalar_take_burden(s->p, weighed2, scale, out);
}

ANYWHERE static void judge_rows(const cairn_scalar_system *s, int j, const double *r,
                                const double *y, cairn_scalar_verdict *out)
{
    double w[WIDEST], weighed2 = 0;
    cairn_scalar_scales(s, j, w);
    for (int i = 0; i < s->d; i++)
        weighed2 += w[i] * w[i] * r[i] * r[i];
    double scale = cairn_scalar_error_scale(s->p, j, weighed2);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        add_error(&out->law[law], j, rows_error2(s->p, j, w, r, y), scale, out->noise2);
        out->law[law].fclib2 += natural_map2(s->p, j, r, y, 1);
    }
    out->drowned2 += weighed2;
    cairn_scalar_take_burden(s->p, weighed2, scale, out);
}

/* Sum of the squares of all terms that are added up in H_j v + b, or in (W r)_j + b in the local
 * form. The rounding error of u is relative to these terms, not to u, which may be a small
 * difference of large numbers. */
ANYWHERE static double term_squares(const cairn_scalar_system *s, int j, const double *r,
                                    const double *v)
{
    double bias = cairn_scalar_bias(s, j), sum = bias * bias;
    const cairn_matrix *W = s->p->W;
    for (int64_t k = W ? W->start[j * s->d] : 0; W && k < W->start[(j + 1) * s->d]; k++)
        sum += W->value[k] * W->value[k] * r[W->column[k]] * r[W->column[k]];
    for (int side = 0; side < 2 && !W; side++) {
        ptrdiff_t block = s->p->block[2 * j + side];
        double room[18];
        const double *H = cairn_scalar_rows(s, j, side, room);
        for (int i = 0; block >= 0 && i < s->d * s->n; i++) {
            double term = H[i] * v[block * s->n + i % s->n];
            sum += term * term;
        }
    }
    return sum;
}

ANYWHERE void cairn_scalar_judge_contact(const cairn_scalar_system *s, int j, const double *r,
                                         const double *v, double *u, cairn_scalar_verdict *out)
{
    const double *r_j = r + (ptrdiff_t)j * s->d, *u_j = u + (ptrdiff_t)j * s->d;
    double y[WIDEST], pull[WIDEST] = { 0 };
    cairn_scalar_relative(s, j, r, v, u + (ptrdiff_t)j * s->d);
    for (int i = 0; i < s->d; i++)
        y[i] = u_j[i];
    y[0] += cairn_scalar_bias(s, j);
    cairn_scalar_comply(s, j, r_j, y);
    cairn_scalar_comply(s, j, r_j, pull);
    /* y = u + b n + eps r; `pull` is its part eps r alone, for the estimate of rounding */
    double terms2 = term_squares(s, j, r, v) + squared(s->d, pull);
    out->noise2 = 1024 * DBL_EPSILON * DBL_EPSILON * terms2; /* (32 eps)^2: problem/judge.h */
    (cairn_is_bounded(s->p, j) ? judge_rows : judge_cone)(s, j, r_j, y, out);
    out->r2 += squared(s->d, r_j);
    out->u2 += squared(s->d, y);
    out->terms2 += terms2;
    out->violation =
        fmax(out->violation, sqrt(natural_map2(s->p, j, r_j, (const double[WIDEST]){ 0 }, 0)));
}

/* ---- all contacts --------------------------------------------------------------------------- */

ANYWHERE void cairn_scalar_measure_contact(const cairn_scalar_system *s, int j, const double *zero,
                                           cairn_scalar_norms *norms)
{
    double q[WIDEST], w[WIDEST];
    view at;
    cairn_scalar_relative(s, j, zero, s->p->v_free, q);
    norms->terms2 += term_squares(s, j, zero, s->p->v_free) + (s->p->W ? squared(s->d, q) : 0);
    q[0] += cairn_scalar_bias(s, j);
    norms->q2 += squared(s->d, q);
    if (!cairn_is_bounded(s->p, j)) {
        look_at(s, j, &at);
        for (int i = 0; i < s->d; i++)
            q[i] *= at.length[i];
    }
    cairn_scalar_scales(s, j, w);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        norms->closing2[law] += cairn_is_bounded(s->p, j)
                                    ? rows_error2(s->p, j, w, (const double[WIDEST]){ 0 }, q)
                                    : closing2(at.p, (cairn_law)law, at.j, q);
}

/* |q|_c of a law. Coulomb's norm is taken as at least 1/1000 of the convex one: if no contact
 * closes by Coulomb's law, its relative residual would otherwise have no meaning. */
double cairn_scalar_scale_of(const cairn_scalar_norms *norms, cairn_law law)
{
    return fmax(sqrt(norms->closing2[law]), 1e-3 * sqrt(norms->closing2[CAIRN_LAW_CONVEX]));
}

/* The residual from the sums. An error within the rounding of the sums counts as 0, so that an
 * exact answer has the residual 0. Impulses can be so large that their own rounding, `drowned`,
 * exceeds this: then it is added, because no answer in double can be trusted further. If any sum is
 * not finite, the residual is infinite. */
static cairn_residual residual_of(const cairn_scalar_norms *norms, cairn_law law, bool scaled,
                                  const cairn_scalar_verdict *found)
{
    const cairn_scalar_law_sums *sums = &found->law[law];
    double scale = cairn_scalar_scale_of(norms, law),
           drowned = 2 * DBL_EPSILON * sqrt(found->drowned2);
    double size = sqrt(fmax(norms->q2, fmax(found->r2, found->u2)));
    double rounding = 8 * DBL_EPSILON * sqrt(found->terms2 + norms->terms2);
    if (!isfinite(sums->e2 + sums->fclib2 + rounding + size + scale + drowned))
        return (cairn_residual){ INFINITY, INFINITY, INFINITY, INFINITY, sums->worst_contact };
    bool noise = sqrt(sums->e2) <= rounding;
    double error = noise ? 0 : sqrt(sums->e2);
    bool doubtful = drowned > fmax(1e-13 * scale, rounding);
    if (doubtful)
        error += drowned;
    double whole = error == 0 ? 0 : fmin(error / scale, DBL_MAX);
    double share = sums->share + (doubtful ? 2 * DBL_EPSILON * found->burden : 0);
    return (cairn_residual){ .worst = sums->worst,
                             .relative = scaled ? cairn_share_residual(share) : whole,
                             .whole = whole,
                             .fclib = size > 0 ? sqrt(sums->fclib2) / size : 0,
                             .worst_contact = sums->worst_contact };
}

void cairn_scalar_conclude(const cairn_scalar_norms *norms, cairn_law law, bool scaled,
                           const cairn_scalar_verdict *found, cairn_judgement *out)
{
    out->coulomb = residual_of(norms, CAIRN_LAW_COULOMB, scaled, found);
    out->asked = law == CAIRN_LAW_COULOMB ? out->coulomb : residual_of(norms, law, scaled, found);
    out->cone_violation = found->violation;
}
