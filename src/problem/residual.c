/* residual.c - the only judge: how well impulses satisfy a law, recomputed from r alone.
 *
 * The error of a contact, in m/s. With w = trace(W_jj)/d and
 *     u^ = u + (b + mu s) n,     s given (convex law) or s = |u_T| (Coulomb),
 *     e_j = max(w |r_j - P_K(r_j - u^_j / w)|, |e_N|, |e_T|)
 * with Signorini's condition and the friction law measured separately:
 *     o   = u_N + b + mu (s - |u_T|)          opening velocity by the law; Coulomb: u_N + b
 *     e_N = min(w r_N, o)             if that is positive: a contact that pushes and opens,
 *           min(w r_N, max(o, u_N + b), 0)     otherwise: it pulls, or its bodies approach
 *     e_T = w r_T - P_D(w r_T - u_T),  D the disk (polygon, interval) of radius w mu max(r_N, 0)
 *
 * The relative residual, to which every tolerance refers, has no unit. The problem of a step has a
 * velocity for each contact, to which its error is related (S_j and C_j: world/scales.c):
 *     T_j = max(S_j, min(w |r_j|, C_j)),      x_j = e_j / T_j,
 *     relative = max_j f(x_j),     f(x) = x/(10 - 9 x) for x < 1, else x.
 * f increases with f(0) = 0 and f(1) = 1, and f(x) <= tol is x <= 10 tol/(1 + 9 tol). The factor 10
 * is about the ratio of the largest error to the root mean square, so that a tolerance asks for
 * about as much work as one of the norm below; f(1) = 1 leaves "nothing was done" at 1.
 *
 * What a tolerance promises: relative <= tol implies, at every contact j, with
 *     E_j = 10 tol/(1 + 9 tol) T_j      (m/s),
 *     -(u_N + b) <= E_j for Coulomb's law, and for the convex law with s = 0 or s <= |u_T|;
 *     -r_N <= E_j/w,   min(w r_N, o) <= E_j,   |r_T| - mu r_N <= E_j/w   if r_N >= 0,
 *     |u_T| <= E_j, or |r_T| >= mu r_N - E_j/w and r_T opposes u_T,
 *     the distance of r_j from K, and from the law's P_K(r_j - u^_j/w), <= E_j/w,
 * none of them with a factor that depends on mu, on other groups, or on tangential speeds.
 * Proof. f(x_j) <= tol gives e_j <= E_j. The first three follow directly from |e_N| <= E_j. With
 * x = P_D(w r_T - u_T), |x| <= w mu r_N, |w r_T| <= |x| + |e_T| is the fourth. For the next,
 * either x = w r_T - u_T and |e_T| = |u_T|; or |x| = w mu r_N, so that |w r_T| >= w mu r_N - |e_T|,
 * and x is a positive multiple, at most 1, of w r_T - u_T = x + e_T - u_T: then u_T - e_T is a
 * multiple of x and points against it, and w r_T is x up to e_T. The last is the natural map.
 * All of them vanish if the law holds, which is 0 <= r_N, 0 <= o, r_N o = 0,
 * r_T = P_D(r_T - u_T/w): K* requires o >= 0, and r.u^ = r_N o + (mu r_N |u_T| + r_T.u_T) is a sum
 * of terms that are never negative. The natural map alone measures an approach velocity as
 * -(u_N + b)/sqrt(1 + mu^2), and for mu tol > 1 it would let bodies fall through floors.
 *
 * How large E_j can be. In a world S_j <= max(h |g|, C_j), and C_j is the largest velocity at which
 * a contact of the group closes beyond its gap without impulses, so that
 *     E_j <= 10 tol max(h |g|, C_j),   and   E_j <= 10 tol max(h |g|, c_j, C_j/1000) if r_j = 0.
 * - Closing: bodies approach by at most E_j, h E_j in a step. In a heap at rest that gravity alone
 *   presses together, without overlaps, no contact closes faster than h |g|, so that
 *   E_j <= 10 tol h |g|, whatever happens in other groups.
 * - Sliding: c_j is a normal velocity. A body that slides past at any speed raises no E_j, and one
 *   of the group does by mu/1000 of its speed, and only where impulses arrive (scales.c). Without
 *   friction |r_T| <= E_j/w, so the spin it gets is at most 10 tol of what the contact itself does.
 * - Cones: an impulse leaves its cone by at most E_j/w, which is 10 tol |r_j| where w |r_j| is T_j.
 * Nothing is said of sums: in a chain of n contacts the errors may add to n E_j.
 *
 * The norm over all contacts, `whole`, is kept beside it, and is what tolerances refer to where a
 * problem has no scales (files, problems made by hand, Lagrangian systems):
 *     whole = |e|_2 / |q_closing|_2
 * whole <= tol implies the same conditions with E = tol |q_closing| for every j. In a world that is
 * the larger bound: |q_closing| contains whole velocities, sliding ones too, of all contacts.
 * Here q = H v_free + w + (b + mu s) n, and q_closing consists of the contacts that would act if
 * all others were absent: those with q_N < 0 count fully; for the convex law also those with
 * q_N >= 0 outside K*, by the part P_K(-q) that violates it. Open candidates have gap/h in b and do
 * not count. Coulomb's norm is taken as at least 1/1000 of the convex one, so that its residual has
 * a meaning for a convex solution in which no contact closes.
 *
 * Rounding. An |e|_2 within the rounding of the sums H v and H v_free (or W r and q) counts as 0:
 * no solver can do better. The rounding of r itself, 2 eps w |r|, is added to |e|_2 unless it is
 * within that of the sums: if impulses are so large that u is lost in their rounding, u proves
 * nothing. (Where nothing closes and e = 0 exactly, as between two walls that pinch a ball at rest,
 * there is nothing to prove.)
 *
 * In problems with scales errors are related contact by contact instead, and so is the rounding of
 * r; either counts as 0 within the rounding of the terms of u_j, 32 eps |terms|_2. (A sum over
 * contacts must not decide about this: S_j may be as small as rounding where nothing closes, and
 * what is rounding there would depend on groups elsewhere.)
 *     x = max e_j / S_j [+ 2 eps max w |r_j| / S_j],  S_j raised by w |r_j|; relative: cone.h.
 *
 * Contacts with rolling or spinning friction are judged in units in which these are speeds (cone.h:
 * a length for each part), so that rad/s are not added to m/s.
 *
 * Rows with bounds do not depend on the law. With y = u + eps r, row by row, w = W_ii + eps:
 *     e = w |r - P(r - y/w)|,  for a row without bounds |y|;  closing: the same at r = 0, with q.
 *
 * fclib, the measure of the literature: |r - P_K(r - u^)|_2 / max(|q|, |r|, |u|), with the bias b
 * in q and u. It adds N s to m/s, so that it depends on units. Nothing here refers to it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "problem/cut.h"
#include "problem/judge.h"
#include "problem/operator.h"

/* Coulomb's norm as a share of the convex one, at least; the rounding of r that is ignored,
 * relative to |q_closing|. */
static const double least_share = 1e-3, negligible = 1e-13;

CAIRN_INLINE double square(int d, const double *x)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += x[i] * x[i];
    return sum;
}

/* |r - P_K(r - scale u)|^2 */
CAIRN_INLINE double natural_map(const cairn_problem *p, int d, int j, const double *r,
                                const double *u, double scale)
{
    double step[CAIRN_MAX_DIMENSION], sum = 0;
    for (int i = 0; i < d; i++)
        step[i] = r[i] - scale * u[i];
    cairn_contact_project(p, d, j, step);
    for (int i = 0; i < d; i++)
        sum += (r[i] - step[i]) * (r[i] - step[i]);
    return sum;
}

/* |P_K(-q)|^2: by how much q fails to be in K*. */
CAIRN_INLINE double dual_violation(const cairn_problem *p, int d, int j, const double *q)
{
    const double zero[CAIRN_MAX_DIMENSION] = { 0 };
    return natural_map(p, d, j, zero, q, 1);
}

/* S_j, raised to w |r_j|, but not beyond the most; 0: the problem has no scales. */
CAIRN_INLINE double scale_of(const cairn_problem *p, int j, double weighed2)
{
    if (!p->scale)
        return 0;
    return cairn_larger(p->scale[j], cairn_smaller(sqrt(weighed2), p->most[j]));
}

/* w |r_j| related to the same velocity as its error; 0: its rounding is within that of u. */
CAIRN_INLINE double burden_of(const cairn_problem *p, int j, double weighed2, double noise)
{
    double carried = p->scale ? sqrt(weighed2) : 0;
    return 2 * DBL_EPSILON * carried <= noise ? 0 : carried / scale_of(p, j, weighed2);
}

static void add_error(int j, double e, double scale, double noise, cairn_law_sums *sums)
{
    double share = e <= noise ? 0 : e / scale;
    sums->e2 += e * e;
    sums->share = share <= sums->share ? sums->share : share; /* NaN stays */
    if (!(e <= sums->worst)) {
        sums->worst = e;
        sums->worst_contact = j;
    }
}

/* Add the errors of contact j by one law; u contains the bias, and lift is mu s. */
CAIRN_INLINE void add_contact(const cairn_judging *judge, int d, int j, double w, const double *u,
                              double lift, cairn_law_sums *sums)
{
    const cairn_problem *p = judge->p;
    const double *r = judge->r + (size_t)j * (size_t)d;
    double lifted[CAIRN_MAX_DIMENSION], r2 = square(d, r);
    memcpy(lifted, u, sizeof(double) * (size_t)d);
    lifted[0] += lift;
    bool plain = r2 == 0 || !(w > 0);
    double violation2 = plain ? dual_violation(p, d, j, lifted) : 0;
    /* without an impulse, or if nothing can move, the map is |P_K(-u)| for any w */
    double e2 = plain ? violation2 : w * w * natural_map(p, d, j, r, lifted, 1 / w);
    double apart2 = cairn_contact_conditions2(p, j, w, 0, r, u, lift);
    double e = sqrt(apart2 > e2 ? apart2 : e2); /* NaN stays */
    add_error(j, e, scale_of(p, j, w * w * r2), judge->noise, sums);
    if (!judge->brief)
        sums->fclib2 += r2 == 0 ? violation2 : natural_map(p, d, j, r, lifted, 1);
}

/* mu s of the law: s = |u_T| for exact Coulomb, the s of the problem for the convex one. */
CAIRN_INLINE double lift_of(const cairn_problem *p, cairn_law law, int j, const double *u)
{
    if (law == CAIRN_LAW_COULOMB)
        return cairn_contact_sliding(p, j, u);
    return p->s ? p->mu[j] * p->s[j] : 0;
}

/* Coulomb's law always, the convex law unless `exact`; u contains the bias. */
CAIRN_INLINE void judge_laws(cairn_judging *judge, int d, int j, double w, const double *u)
{
    const cairn_problem *p = judge->p;
    add_contact(judge, d, j, w, u, lift_of(p, CAIRN_LAW_COULOMB, j, u), &judge->coulomb);
    if (!judge->exact)
        add_contact(judge, d, j, w, u, lift_of(p, CAIRN_LAW_CONVEX, j, u), &judge->convex);
}

/* Add the closing part of q by both laws; q contains the bias. */
CAIRN_INLINE void measure_cone(const cairn_problem *p, int d, int j, const double *q,
                               cairn_norms *norms)
{
    double free[CAIRN_MAX_DIMENSION];
    memcpy(free, q, sizeof(double) * (size_t)d);
    norms->coulomb2 += q[0] < 0 ? square(d, q) : 0;
    free[0] += lift_of(p, CAIRN_LAW_CONVEX, j, q);
    norms->convex2 += free[0] < 0 ? square(d, free) : dual_violation(p, d, j, free);
}

/* ---- rows with bounds ----------------------------------------------------------------------- */

/* sum over the rows of (w |r - P(r - y/w)|)^2; the closing part with r = 0 and q for y */
static double rows_error2(const cairn_problem *p, int j, const double *w, const double *r,
                          const double *y)
{
    double step[CAIRN_MAX_DIMENSION], sum = 0;
    for (int i = 0; i < p->dimension; i++)
        step[i] = r[i] - y[i] / w[i];
    cairn_rows_project(p, j, step);
    for (int i = 0; i < p->dimension; i++)
        sum += w[i] * w[i] * (r[i] - step[i]) * (r[i] - step[i]);
    return sum;
}

/* Both laws. Returns sum (w r)^2. */
static double judge_rows(cairn_judging *judge, int j, const double *y)
{
    const cairn_problem *p = judge->p;
    int d = p->dimension;
    const double *r = judge->r + (size_t)j * (size_t)d;
    double w[CAIRN_MAX_DIMENSION], weighed2 = 0;
    cairn_contact_scales(p, j, w);
    cairn_law_sums *laws[2] = { &judge->convex, &judge->coulomb };
    for (int i = 0; i < p->dimension; i++)
        weighed2 += w[i] * w[i] * r[i] * r[i];
    for (int k = 0; k < 2; k++) {
        double e = sqrt(rows_error2(p, j, w, r, y));
        add_error(j, e, scale_of(p, j, weighed2), judge->noise, laws[k]);
        laws[k]->fclib2 += natural_map(p, d, j, r, y, 1);
    }
    return weighed2;
}

static void measure_rows(const cairn_problem *p, int j, const double *q, cairn_norms *norms)
{
    double w[CAIRN_MAX_DIMENSION], zero[CAIRN_MAX_DIMENSION] = { 0 };
    cairn_contact_scales(p, j, w);
    double closing2 = rows_error2(p, j, w, zero, q);
    norms->convex2 += closing2;
    norms->coulomb2 += closing2;
}

/* The squares of the terms that compliance adds. */
static double compliance_squares(const cairn_problem *p, int j, const double *r)
{
    double terms[CAIRN_MAX_DIMENSION] = { 0 };
    cairn_contact_comply(p, j, r, terms);
    return square(p->dimension, terms);
}

/* ---- contact by contact --------------------------------------------------------------------- */

/* Distance of r_j from its cone. */
CAIRN_INLINE double outside_cone(const cairn_problem *p, int d, int j, const double *r)
{
    const double zero[CAIRN_MAX_DIMENSION] = { 0 };
    return sqrt(natural_map(p, d, j, r, zero, 0));
}

/* Sums of squares of a contact's rows: the squares of the terms of H_j v and of the bias, to which
 * rounding errors are relative, and w = trace(H_j M^-1 H_j')/d. */
typedef struct row_squares {
    double terms2, w;
} row_squares;

CAIRN_INLINE row_squares square_rows(const cairn_problem *p, int d, int n, int j, const double *v)
{
    double bias = cairn_contact_bias(p, j), trace = 0;
    row_squares out = { .terms2 = bias * bias };
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block < 0)
            continue;
        const double *H = cairn_rows_stored(p, d, n, j, side);
        size_t first = (size_t)block * (size_t)n;
        for (int k = 0; k < n; k++) {
            double sum = 0, x = v[first + (size_t)k];
            for (int i = 0; i < d; i++)
                sum += H[i * n + k] * H[i * n + k];
            out.terms2 += sum * x * x;
            trace += sum * p->mass_inverse[first + (size_t)k];
        }
    }
    bool with_itself = p->block[2 * j] == p->block[2 * j + 1] && p->block[2 * j] >= 0;
    out.w = with_itself ? cairn_contact_inverse_mass(p, j) : trace / d;
    return out;
}

/* The same for balls: |v|^2 + R^2 |w|^2, which is a little more than the terms are, and
 * w = wN + 2/3 (Ra^2/Ja + Rb^2/Jb). */
CAIRN_INLINE row_squares square_balls(const cairn_problem *p, int j, const double *v)
{
    double bias = cairn_contact_bias(p, j);
    row_squares out = { .terms2 = bias * bias };
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block < 0)
            continue;
        size_t first = (size_t)block * 6;
        double R2 = p->radius[block] * p->radius[block];
        out.terms2 += square(3, v + first) + R2 * square(3, v + first + 3);
        out.w += p->mass_inverse[first] + 2.0 / 3 * R2 * p->mass_inverse[first + 3];
    }
    return out;
}

/* Squares of the terms of (W r)_j, local form. */
static double local_term_squares(const cairn_problem *p, int j, const double *r)
{
    double sum = 0;
    for (int i = 0; i < p->dimension; i++) {
        size_t row = (size_t)j * (size_t)p->dimension + (size_t)i;
        for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++) {
            double term = p->W->value[k] * r[p->W->column[k]];
            sum += term * term;
        }
    }
    return sum;
}

double cairn_contact_terms2(const cairn_problem *p, int j, const double *r, const double *v)
{
    if (p->W) {
        double bias = cairn_contact_bias(p, j);
        return local_term_squares(p, j, r) + bias * bias;
    }
    if (cairn_problem_kind(p, j) == CAIRN_KIND_BALLS)
        return square_balls(p, j, v).terms2;
    return square_rows(p, p->dimension, p->block_size, j, v).terms2;
}

/* With the velocities v of impulses r. */
CAIRN_INLINE row_squares squares_of(const cairn_judging *judge, bool balls, int d, int n, int j)
{
    const cairn_problem *p = judge->p;
    if (p->W)
        return (row_squares){ local_term_squares(p, j, judge->r),
                              cairn_contact_inverse_mass(p, j) };
    if (balls)
        return square_balls(p, j, judge->v);
    return square_rows(p, d, n, j, judge->v);
}

/* Without impulses. */
CAIRN_INLINE double free_squares(const cairn_problem *p, bool balls, int d, int n, int j)
{
    double bias = cairn_contact_bias(p, j);
    if (p->W)
        return bias * bias + square(d, p->q + (size_t)j * (size_t)d);
    if (balls)
        return square_balls(p, j, p->v_free).terms2;
    return square_rows(p, d, n, j, p->v_free).terms2;
}

/* Add the error of one contact; fclib2 is added elsewhere, in the original units. */
static void merge(const cairn_law_sums *one, int j, double scale, double noise, cairn_law_sums *all)
{
    add_error(j, sqrt(one->e2), scale, noise, all);
}

/* |r - P_K(r - u - shift n)|^2 */
static double raw_map(const cairn_problem *p, int j, const double *r, const double *u, double shift)
{
    double shifted[CAIRN_MAX_DIMENSION];
    memcpy(shifted, u, sizeof(double) * (size_t)p->dimension);
    shifted[0] += shift;
    return natural_map(p, p->dimension, j, r, shifted, 1);
}

/* Judge a contact with a cone; u contains the bias. Returns (w |r|)^2. */
CAIRN_INLINE double judge_cone(cairn_judging *judge, int d, int j, double w, const double *u)
{
    judge_laws(judge, d, j, w, u);
    return w * w * square(d, judge->r + (size_t)j * (size_t)d);
}

/* A contact with rolling or spinning friction in the units of cone.h; returns its w. */
static double scale_parts(const cairn_problem *p, int j, cairn_scaled_contact *own)
{
    double W[CAIRN_TRIANGLE], w = 0;
    cairn_contact_delassus(p, j, W);
    cairn_contact_scale(p, j, W, own);
    for (int i = 0; i < p->dimension; i++)
        w += own->length[i] * own->length[i] * W[i * (i + 3) / 2] / p->dimension;
    return w;
}

/* Judge a contact with rolling or spinning friction, as a scaled problem of one contact. The
 * measure of the literature is taken in the original units. */
static double judge_parts(cairn_judging *judge, int j, const double *u)
{
    const cairn_problem *p = judge->p;
    const double *r = judge->r + (size_t)j * (size_t)p->dimension;
    double scaled[2][CAIRN_MAX_DIMENSION];
    int d = p->dimension;
    cairn_scaled_contact own;
    double w = scale_parts(p, j, &own);
    for (int i = 0; i < d; i++) {
        scaled[0][i] = r[i] / own.length[i];
        scaled[1][i] = own.length[i] * u[i];
    }
    cairn_judging view = { .p = &own.p, .r = scaled[0], .exact = judge->exact };
    judge_laws(&view, d, 0, w, scaled[1]);
    double weighed2 = w * w * square(d, scaled[0]), scale = scale_of(p, j, weighed2);
    merge(&view.coulomb, j, scale, judge->noise, &judge->coulomb);
    if (!judge->exact)
        merge(&view.convex, j, scale, judge->noise, &judge->convex);
    judge->coulomb.fclib2 += raw_map(p, j, r, u, lift_of(p, CAIRN_LAW_COULOMB, j, u));
    judge->convex.fclib2 += raw_map(p, j, r, u, lift_of(p, CAIRN_LAW_CONVEX, j, u));
    return weighed2;
}

static void measure_parts(const cairn_problem *p, int j, const double *q, cairn_norms *norms)
{
    double scaled[CAIRN_MAX_DIMENSION] = { 0 };
    cairn_scaled_contact own;
    scale_parts(p, j, &own);
    for (int i = 0; i < p->dimension; i++)
        scaled[i] = own.length[i] * q[i];
    measure_cone(&own.p, p->dimension, 0, scaled, norms);
}

/* Add q_j, the velocity without any impulse, to the norms. */
CAIRN_INLINE void measure_contact(cairn_judging *judge, cairn_contact_kind kind, int d, int n,
                                  int j)
{
    const cairn_problem *p = judge->p;
    bool balls = d == 3 && n == 6 && kind == CAIRN_KIND_BALLS;
    double q[CAIRN_MAX_DIMENSION];
    if (p->W)
        memcpy(q, p->q + (size_t)j * (size_t)d, sizeof(double) * (size_t)d);
    else
        cairn_kind_relative(p, balls, d, n, j, p->v_free, q);
    q[0] += cairn_contact_bias(p, j);
    if (kind == CAIRN_KIND_ROWS)
        measure_rows(p, j, q, &judge->norms);
    else if (kind == CAIRN_KIND_ROLLING)
        measure_parts(p, j, q, &judge->norms);
    else
        measure_cone(p, d, j, q, &judge->norms);
    judge->norms.q2 += square(d, q);
    judge->norms.terms2 += free_squares(p, balls, d, n, j);
}

CAIRN_INLINE void judge_contact(cairn_judging *judge, cairn_contact_kind kind, int d, int n, int j)
{
    const cairn_problem *p = judge->p;
    bool balls = d == 3 && n == 6 && kind == CAIRN_KIND_BALLS, rows = kind == CAIRN_KIND_ROWS;
    size_t first = (size_t)j * (size_t)d;
    const double *r = judge->r + first;
    double u[CAIRN_MAX_DIMENSION];
    if (p->W)
        cairn_contact_relative_local(p, j, judge->r, u);
    else
        cairn_kind_relative(p, balls, d, n, j, judge->v, u);
    memcpy(judge->u + first, u, sizeof(double) * (size_t)d);
    u[0] += cairn_contact_bias(p, j);
    cairn_contact_comply(p, j, r, u);
    row_squares squares = squares_of(judge, balls, d, n, j);
    double terms2 = squares.terms2 + (p->compliance ? compliance_squares(p, j, r) : 0);
    judge->noise = p->scale ? cairn_own_rounding * sqrt(terms2) : 0;
    double weighed2 = rows                         ? judge_rows(judge, j, u)
                      : kind == CAIRN_KIND_ROLLING ? judge_parts(judge, j, u)
                                                   : judge_cone(judge, d, j, squares.w, u);
    judge->terms2 += terms2;
    double r2 = square(d, r);
    judge->r2 += r2;
    judge->drowned2 += weighed2 * (2 * DBL_EPSILON) * (2 * DBL_EPSILON);
    judge->burden = cairn_larger(judge->burden, burden_of(p, j, weighed2, judge->noise));
    judge->u2 += square(d, u);
    if (!judge->brief && (r2 > 0 || rows)) /* r = 0 may violate bounds */
        judge->cone_violation = cairn_larger(judge->cone_violation, outside_cone(p, d, j, r));
    if (judge->measures)
        measure_contact(judge, kind, d, n, j);
}

cairn_judged cairn_judge_one(const cairn_judging *judge, cairn_law law, int j)
{
    const cairn_problem *p = judge->p;
    bool exact = law == CAIRN_LAW_COULOMB;
    cairn_judging one = {
        .p = p, .r = judge->r, .v = judge->v, .u = judge->u, .measures = true, .exact = exact
    };
    judge_contact(&one, cairn_problem_kind(p, j), p->dimension, p->block_size, j);
    const cairn_law_sums *sums = exact ? &one.coulomb : &one.convex;
    return (cairn_judged){ .e2 = sums->e2,
                           .q2 = exact ? one.norms.coulomb2 : one.norms.convex2,
                           .relative = cairn_share_residual(sums->share) };
}

double cairn_judge_relative(const cairn_judging *judge, cairn_law law, int j)
{
    const cairn_problem *p = judge->p;
    bool exact = law == CAIRN_LAW_COULOMB;
    cairn_judging one = {
        .p = p, .r = judge->r, .v = judge->v, .u = judge->u, .exact = exact, .brief = true
    };
    judge_contact(&one, cairn_problem_kind(p, j), p->dimension, p->block_size, j);
    return cairn_share_residual(exact ? one.coulomb.share : one.convex.share);
}

/* ---- all contacts --------------------------------------------------------------------------- */

/* Contacts are judged in parts, and the sums of the parts are added in their order. The size of a
 * part depends on the number of contacts alone, and so do the bits of the result. */
enum { MOST_PARTS = 64, SMALLEST_PART = 1024 };

/* Contacts of a segment are judged side by side if their cones are circular. Those that do not fill
 * a group, and contacts of other kinds, are judged one by one. */
CAIRN_INLINE void judge_segments(cairn_judging *judge, bool circular, int d, int n, int begin,
                                 int end)
{
    for (cairn_walk w = cairn_walk_over(judge->p, begin, end); cairn_walk_next(&w);) {
        int j = w.now.begin;
        if (circular && w.now.kind == CAIRN_KIND_BALLS)
            j = cairn_judge_balls(cairn_width_best(), judge, j, w.at);
        else if (circular && w.now.kind == CAIRN_KIND_GENERAL)
            j = cairn_judge_rows(cairn_width_best(), judge, j, w.at);
        for (; j < w.at; j++)
            judge_contact(judge, w.now.kind, d, n, j);
    }
}

static void judge_part(int begin, int end, void *context, void *value)
{
    cairn_judging judge = *(const cairn_judging *)value; /* a local copy: sums stay in registers */
    const cairn_problem *p = judge.p;
    (void)context;
    bool circular = !p->W && !p->directions && p->rolling + p->spinning == 0;
    if (circular && p->dimension == 3 && p->block_size == 6)
        judge_segments(&judge, true, 3, 6, begin, end);
    else if (circular && p->dimension == 2 && p->block_size == 3)
        judge_segments(&judge, true, 2, 3, begin, end);
    else if (p->W && p->dimension == 3) /* a given W has no blocks: n is not used */
        judge_segments(&judge, false, 3, 6, begin, end);
    else if (p->W && p->dimension == 2)
        judge_segments(&judge, false, 2, 3, begin, end);
    else
        judge_segments(&judge, false, p->dimension, p->block_size, begin, end);
    *(cairn_judging *)value = judge;
}

static void add_law(const cairn_law_sums *part, cairn_law_sums *sums)
{
    sums->e2 += part->e2;
    sums->fclib2 += part->fclib2;
    sums->share = part->share <= sums->share ? sums->share : part->share;
    if (part->worst_contact >= 0 && !(part->worst <= sums->worst)) {
        sums->worst = part->worst;
        sums->worst_contact = part->worst_contact;
        sums->holder = part->holder;
    }
}

/* A member has no indices for contacts of others. */
static void forget_others(cairn_law_sums *sums, const cairn_link *link)
{
    if (sums->holder != link->member)
        sums->worst_contact = -1;
}

static void add_part(void *result, const void *value)
{
    cairn_judging *sum = result;
    const cairn_judging *part = value;
    add_law(&part->convex, &sum->convex);
    add_law(&part->coulomb, &sum->coulomb);
    sum->norms.convex2 += part->norms.convex2;
    sum->norms.coulomb2 += part->norms.coulomb2;
    sum->norms.q2 += part->norms.q2;
    sum->norms.terms2 += part->norms.terms2;
    sum->r2 += part->r2;
    sum->u2 += part->u2;
    sum->terms2 += part->terms2;
    sum->drowned2 += part->drowned2;
    sum->burden = cairn_larger(sum->burden, part->burden);
    sum->cone_violation = fmax(sum->cone_violation, part->cone_violation);
}

/* `neutral` is the judging itself with all sums 0, so that each part has the arrays as well. */
static void judge_all(cairn_judging *judge)
{
    cairn_judging parts[MOST_PARTS];
    const cairn_link *link = cairn_problem_link(judge->p);
    judge->convex.holder = judge->coulomb.holder = link ? link->member : 0;
    const cairn_judging none = *judge;
    int contacts = judge->p->contacts, least = (contacts + MOST_PARTS - 1) / MOST_PARTS;
    const cairn_reduction all = { .count = contacts,
                                  .grain = least > SMALLEST_PART ? least : SMALLEST_PART,
                                  .parted = cairn_problem_parted(judge->p),
                                  .work = judge_part,
                                  .join = add_part,
                                  .neutral = &none,
                                  .size = sizeof none };
    cairn_reduce(&all, parts, judge);
    if (link) {
        forget_others(&judge->convex, link);
        forget_others(&judge->coulomb, link);
    }
}

double cairn_norms_scale(const cairn_norms *norms, cairn_law law)
{
    double closing2 = law == CAIRN_LAW_CONVEX ? norms->convex2 : norms->coulomb2;
    return fmax(sqrt(closing2), least_share * sqrt(norms->convex2));
}

/* The residual from the sums. If a sum overflows or contains a NaN, nothing is proved, and the
 * residual is infinite. */
static cairn_residual conclude(const cairn_judging *judge, const cairn_norms *norms, cairn_law law)
{
    const cairn_law_sums *sums = law == CAIRN_LAW_CONVEX ? &judge->convex : &judge->coulomb;
    double scale = cairn_norms_scale(norms, law);
    double size = sqrt(fmax(norms->q2, fmax(judge->r2, judge->u2)));
    double terms2 = judge->terms2 + norms->terms2;
    if (!isfinite(sums->e2 + sums->fclib2 + terms2 + size + scale + judge->drowned2))
        return (cairn_residual){ INFINITY, INFINITY, INFINITY, INFINITY, sums->worst_contact };
    bool noise = sums->e2 <= cairn_sum_rounding * cairn_sum_rounding * terms2;
    double error = noise ? 0 : sqrt(sums->e2);
    double doubt = sqrt(judge->drowned2), least = cairn_sum_rounding * sqrt(terms2);
    bool still = sums->e2 == 0 && scale == 0; /* nothing closes, and nothing is wrong */
    bool doubtful = !still && !(doubt <= fmax(negligible * scale, least));
    if (doubtful)
        error += doubt;
    double whole = error == 0 ? 0 : fmin(error / scale, DBL_MAX);
    double share = sums->share + (doubtful ? 2 * DBL_EPSILON * judge->burden : 0);
    return (cairn_residual){
        .worst = sums->worst,
        .relative = judge->p->scale ? cairn_share_residual(share) : whole,
        .whole = whole,
        .fclib = size > 0 ? sqrt(sums->fclib2) / size : 0,
        .worst_contact = sums->worst_contact,
    };
}

double cairn_residual_share(double relative)
{
    const double most = cairn_largest_share;
    return relative < 1 ? most * relative / (1 + (most - 1) * relative) : relative;
}

void cairn_judge_again(const cairn_problem *p, cairn_law law, const double *r, double *v, double *u,
                       cairn_norms *norms, cairn_judgement *out)
{
    cairn_judging judge = { .p = p,
                            .r = r,
                            .v = v,
                            .u = u,
                            .measures = !norms->known,
                            .exact = law == CAIRN_LAW_COULOMB,
                            .convex.worst_contact = -1,
                            .coulomb.worst_contact = -1 };
    cairn_problem_velocity(p, r, v);
    judge_all(&judge);
    if (!norms->known)
        *norms = judge.norms;
    norms->known = true;
    out->coulomb = conclude(&judge, norms, CAIRN_LAW_COULOMB);
    out->asked = law == CAIRN_LAW_CONVEX ? conclude(&judge, norms, law) : out->coulomb;
    out->cone_violation = judge.cone_violation;
}

void cairn_judge(const cairn_problem *p, cairn_law law, const double *r, double *v, double *u,
                 cairn_judgement *out)
{
    cairn_norms norms = { 0 };
    cairn_judge_again(p, law, r, v, u, &norms, out);
}

const char *cairn_law_name(cairn_law law)
{
    static const char *const names[CAIRN_LAW_COUNT] = { "convex", "coulomb" };
    return (unsigned)law < CAIRN_LAW_COUNT ? names[law] : NULL;
}

/* ---- contacts judged side by side -------------------------------------------------------- */

/* Contacts with circular cones judged side by side, of balls or of any bodies. The unit
 * (judge_lanes.c) is chosen by the registers of the machine; the sums of its lanes are added
 * here. */

extern const cairn_judges cairn_judges_baseline, cairn_judges_avx2, cairn_judges_avx512;

static const cairn_judges *const judges[CAIRN_WIDTH_COUNT] = { &cairn_judges_baseline,
                                                               &cairn_judges_avx2,
                                                               &cairn_judges_avx512 };

static double total(const double *lane)
{
    double sum = 0;
    for (int i = 0; i < CAIRN_JUDGED; i++)
        sum += lane[i];
    return sum;
}

/* Among equal errors the contact with the lowest index is reported, as in the loop one by one. */
static void add_lanes(const cairn_law_lanes *from, cairn_law_sums *to)
{
    to->e2 += total(from->e2);
    to->fclib2 += total(from->fclib2);
    for (int i = 0; i < CAIRN_JUDGED; i++) {
        double e = sqrt(from->worst2[i]), share = sqrt(from->share2[i]);
        to->share = share <= to->share ? to->share : share;
        int contact = (int)from->where[i];
        if (!(e <= to->worst) || (e == to->worst && e > 0 && contact < to->worst_contact)) {
            to->worst = e;
            to->worst_contact = contact;
        }
    }
}

static int judge_by(cairn_judge_fn *run, cairn_judging *judge, int begin, int end)
{
    cairn_judged_lanes all;
    int stop = run(judge, begin, end, &all);
    if (stop == begin)
        return stop;
    add_lanes(&all.convex, &judge->convex);
    add_lanes(&all.coulomb, &judge->coulomb);
    judge->terms2 += total(all.plain[CAIRN_SUM_TERMS2]);
    judge->r2 += total(all.plain[CAIRN_SUM_R2]);
    judge->u2 += total(all.plain[CAIRN_SUM_U2]);
    judge->drowned2 += total(all.plain[CAIRN_SUM_WEIGHED2]) * (2 * DBL_EPSILON) * (2 * DBL_EPSILON);
    judge->norms.terms2 += total(all.plain[CAIRN_SUM_FREE_TERMS2]);
    judge->norms.q2 += total(all.plain[CAIRN_SUM_Q2]);
    judge->norms.coulomb2 += total(all.plain[CAIRN_SUM_COULOMB2]);
    judge->norms.convex2 += total(all.plain[CAIRN_SUM_CONVEX2]);
    for (int i = 0; i < CAIRN_JUDGED; i++)
        judge->cone_violation = fmax(judge->cone_violation, sqrt(all.off_cone2[i]));
    for (int i = 0; i < CAIRN_JUDGED && judge->p->scale; i++)
        judge->burden = cairn_larger(judge->burden, sqrt(all.burden2[i]));
    return stop;
}

int cairn_judge_balls(cairn_width width, cairn_judging *judge, int begin, int end)
{
    return judge_by(judges[width]->balls, judge, begin, end);
}

int cairn_judge_rows(cairn_width width, cairn_judging *judge, int begin, int end)
{
    return judge_by(judges[width]->rows[judge->p->dimension == 3], judge, begin, end);
}
