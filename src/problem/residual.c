/* residual.c - the one judge: how well impulses satisfy a law, recomputed from r alone.
 *
 * strict, unit free, what a tolerance means: with w = trace(W_jj)/d and
 *     u^ = u + (b + mu s) n,     s given (convex law) or s = |u_T| (Coulomb),
 *     e_j = w |r_j - P_K(r_j - u^_j / w)|                             (m/s)
 *     relative = |e|_2 / |q_closing|_2
 * where q = H v_free + w + (b + mu s) n and q_closing takes the contacts that would act if all
 * others were absent: those with q_N < 0, whole; for the convex law also those with q_N >= 0
 * outside K*, by the part P_K(-q) that violates it. Open candidates carry gap/h and count nothing.
 * So that a residual of Coulomb's law means something for a convex solution in which no contact
 * closes, its norm is at least 1/1000 of the convex one. An |e| within the rounding of the sums
 * H v and H v_free (or W r and q) counts as 0: no solver can do better. The rounding of r itself,
 * 2 eps w |r|, is added to the measure unless it lies within that of the sums: impulses so large
 * that u drowns in them prove nothing.
 *
 * Contacts with rolling or spinning friction are judged in units in which these are speeds (cone.h:
 * a length for each part), so that rad/s are not added to m/s.
 *
 * Rows with bounds obey one law under either name. With y = u + eps r, row by row, w = W_ii + eps:
 *     e = w |r - P(r - y/w)|,  for a row without bounds |y|;  closing: the same at r = 0, with q.
 *
 * fclib, the literature's: |r - P_K(r - u^)|_2 / max(|q|, |r|, |u|), q and u with the bias b. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "problem/operator.h"

static const double rounding = 8 * DBL_EPSILON, least_share = 1e-3, negligible = 1e-13;

/* Sums over contacts for one law. */
typedef struct law_sums {
    double e2;       /* sum e_j^2                                  */
    double fclib2;   /* sum |r - P_K(r - u^)|^2                    */
    double closing2; /* sum of the closing part of q, squared     */
    double worst;
    int worst_contact;
} law_sums;

/* One judgement while it is made. */
typedef struct judging {
    const cairn_problem *p;
    const double *r, *v;
    double *u;
    law_sums convex, coulomb;
    double q2, r2, u2; /* squared norms, bias included              */
    double terms2;     /* squares of all terms of H v and H v_free  */
    double drowned2;   /* sum (2 eps w |r|)^2, (m/s)^2              */
    double cone_violation;
} judging;

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

static void add_error(int j, double e, law_sums *sums)
{
    sums->e2 += e * e;
    if (!(e <= sums->worst)) {
        sums->worst = e;
        sums->worst_contact = j;
    }
}

CAIRN_INLINE void add_contact(const judging *judge, int d, int j, double w, const double *u,
                              law_sums *sums)
{
    const cairn_problem *p = judge->p;
    const double *r = judge->r + (size_t)j * (size_t)d;
    double r2 = square(d, r), violation2 = r2 == 0 || !(w > 0) ? dual_violation(p, d, j, u) : 0;
    /* without an impulse, or where nothing can move, e = |P_K(-u)| whatever w is */
    double e = r2 == 0 || !(w > 0) ? sqrt(violation2) : w * sqrt(natural_map(p, d, j, r, u, 1 / w));
    add_error(j, e, sums);
    sums->fclib2 += r2 == 0 ? violation2 : natural_map(p, d, j, r, u, 1);
}

/* Exact Coulomb: s = |u_T|; a contact closes when q_N + b < 0. q and u carry the bias. */
CAIRN_INLINE void judge_coulomb(judging *judge, int d, int j, double w, const double *q,
                                const double *u)
{
    const cairn_problem *p = judge->p;
    double shifted[CAIRN_MAX_DIMENSION];
    memcpy(shifted, u, sizeof(double) * (size_t)d);
    shifted[0] += cairn_contact_sliding(p, j, u);
    add_contact(judge, d, j, w, shifted, &judge->coulomb);
    judge->coulomb.closing2 += q[0] < 0 ? square(d, q) : 0;
}

/* The convex law with the s of the problem. */
CAIRN_INLINE void judge_convex(judging *judge, int d, int j, double w, const double *q,
                               const double *u)
{
    const cairn_problem *p = judge->p;
    double s = p->s ? p->mu[j] * p->s[j] : 0;
    double shifted[CAIRN_MAX_DIMENSION], free[CAIRN_MAX_DIMENSION];
    memcpy(shifted, u, sizeof(double) * (size_t)d);
    memcpy(free, q, sizeof(double) * (size_t)d);
    shifted[0] += s;
    free[0] += s;
    add_contact(judge, d, j, w, shifted, &judge->convex);
    judge->convex.closing2 += free[0] < 0 ? square(d, free) : dual_violation(p, d, j, free);
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

/* Both laws; y and q as they are without impulses. Returns sum (w r)^2. */
static double judge_rows(judging *judge, int j, const double *q, const double *y)
{
    const cairn_problem *p = judge->p;
    int d = p->dimension;
    const double *r = judge->r + (size_t)j * (size_t)d;
    double w[CAIRN_MAX_DIMENSION], zero[CAIRN_MAX_DIMENSION] = { 0 }, weighed2 = 0;
    cairn_contact_scales(p, j, w);
    law_sums *laws[2] = { &judge->convex, &judge->coulomb };
    for (int k = 0; k < 2; k++) {
        add_error(j, sqrt(rows_error2(p, j, w, r, y)), laws[k]);
        laws[k]->fclib2 += natural_map(p, d, j, r, y, 1);
        laws[k]->closing2 += rows_error2(p, j, w, zero, q);
    }
    for (int i = 0; i < p->dimension; i++)
        weighed2 += w[i] * w[i] * r[i] * r[i];
    return weighed2;
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

/* What the squares of a contact's rows give: the terms of H_j v and H_j v_free, squared - the size
 * that rounding is relative to - and w = trace(H_j M^-1 H_j')/d. */
typedef struct row_squares {
    double terms2, w;
} row_squares;

CAIRN_INLINE row_squares square_rows(const judging *judge, int d, int n, int j)
{
    const cairn_problem *p = judge->p;
    double bias = cairn_contact_bias(p, j), trace = 0;
    row_squares out = { .terms2 = 2 * bias * bias };
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block < 0)
            continue;
        const double *H = cairn_rows_stored(p, d, n, j, side);
        size_t first = (size_t)block * (size_t)n;
        const double *v = judge->v + first, *v_free = p->v_free + first;
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int i = 0; i < d; i++)
                sum += H[i * n + k] * H[i * n + k];
            out.terms2 += sum * (v[k] * v[k] + v_free[k] * v_free[k]);
            trace += sum * p->mass_inverse[first + (size_t)k];
        }
    }
    bool with_itself = p->block[2 * j] == p->block[2 * j + 1] && p->block[2 * j] >= 0;
    out.w = with_itself ? cairn_contact_inverse_mass(p, j) : trace / d;
    return out;
}

/* u_j, and q_j: the same without any impulse. */
CAIRN_INLINE void relative_and_free(const judging *judge, int d, int n, int j, double *u, double *q)
{
    const cairn_problem *p = judge->p;
    if (p->W) {
        cairn_contact_relative_local(p, j, judge->r, u);
        memcpy(q, p->q + (size_t)j * (size_t)d, sizeof(double) * (size_t)d);
    } else {
        cairn_contact_relative(p, d, n, j, judge->v, u);
        cairn_contact_relative(p, d, n, j, p->v_free, q);
    }
}

/* Squares of the terms of u_j = (W r)_j + q_j, local form. */
static double local_term_squares(const cairn_problem *p, int j, const double *r)
{
    double bias = cairn_contact_bias(p, j), sum = bias * bias;
    for (int i = 0; i < p->dimension; i++) {
        size_t row = (size_t)j * (size_t)p->dimension + (size_t)i;
        sum += p->q[row] * p->q[row];
        for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++) {
            double term = p->W->value[k] * r[p->W->column[k]];
            sum += term * term;
        }
    }
    return sum;
}

/* The same for balls: |v|^2 + R^2 |n x w|^2, and w = wN + 2/3 (Ra^2/Ja + Rb^2/Jb). */
CAIRN_INLINE row_squares square_balls(const judging *judge, int j)
{
    const cairn_problem *p = judge->p;
    double bias = cairn_contact_bias(p, j);
    row_squares out = { .terms2 = 2 * bias * bias };
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block < 0)
            continue;
        size_t first = (size_t)block * 6;
        double R2 = p->radius[block] * p->radius[block];
        const double *states[2] = { judge->v + first, p->v_free + first };
        for (int k = 0; k < 2; k++) {
            const double *v = states[k];
            cairn_vec3 w = cairn_cross(p->normal[j], cairn_vec(v[3], v[4], v[5]));
            out.terms2 += square(3, v) + R2 * cairn_dot(w, w);
        }
        out.w += p->mass_inverse[first] + 2.0 / 3 * R2 * p->mass_inverse[first + 3];
    }
    return out;
}

CAIRN_INLINE row_squares squares_of(const judging *judge, int d, int n, int j)
{
    const cairn_problem *p = judge->p;
    if (d == 3 && n == 6 && cairn_is_of_balls(p, j))
        return square_balls(judge, j);
    if (p->W)
        return (row_squares){ local_term_squares(p, j, judge->r),
                              cairn_contact_inverse_mass(p, j) };
    return square_rows(judge, d, n, j);
}

/* Add what one contact alone came to, without its fclib2. */
static void merge(const law_sums *one, int j, law_sums *all)
{
    add_error(j, sqrt(one->e2), all);
    all->closing2 += one->closing2;
}

/* |r - P_K(r - u - shift n)|^2 */
static double raw_map(const cairn_problem *p, int j, const double *r, const double *u, double shift)
{
    double shifted[CAIRN_MAX_DIMENSION];
    memcpy(shifted, u, sizeof(double) * (size_t)p->dimension);
    shifted[0] += shift;
    return natural_map(p, p->dimension, j, r, shifted, 1);
}

/* A contact under both laws; u and q carry the bias. Returns (w |r|)^2. */
CAIRN_INLINE double judge_cone(judging *judge, int d, int j, double w, const double *q,
                               const double *u)
{
    judge_coulomb(judge, d, j, w, q, u);
    judge_convex(judge, d, j, w, q, u);
    return w * w * square(d, judge->r + (size_t)j * (size_t)d);
}

/* With rolling or spinning friction: the same in the units of cone.h. The literature's measure
 * keeps the units it has. */
static double judge_parts(judging *judge, int j, const double *q, const double *u)
{
    const cairn_problem *p = judge->p;
    const double *r = judge->r + (size_t)j * (size_t)p->dimension;
    double W[CAIRN_TRIANGLE], scaled[3][CAIRN_MAX_DIMENSION], w = 0;
    int d = p->dimension;
    cairn_scaled_contact own;
    cairn_contact_delassus(p, j, W);
    cairn_contact_scale(p, j, W, &own);
    for (int i = 0; i < d; i++) {
        double length = own.length[i];
        scaled[0][i] = r[i] / length;
        scaled[1][i] = length * q[i];
        scaled[2][i] = length * u[i];
        w += length * length * W[i * (i + 3) / 2] / d;
    }
    judging view = { .p = &own.p, .r = scaled[0] };
    judge_coulomb(&view, d, 0, w, scaled[1], scaled[2]);
    judge_convex(&view, d, 0, w, scaled[1], scaled[2]);
    merge(&view.coulomb, j, &judge->coulomb);
    merge(&view.convex, j, &judge->convex);
    judge->coulomb.fclib2 += raw_map(p, j, r, u, cairn_contact_sliding(p, j, u));
    judge->convex.fclib2 += raw_map(p, j, r, u, p->s ? p->mu[j] * p->s[j] : 0);
    return w * w * square(d, scaled[0]);
}

CAIRN_INLINE void judge_contact(judging *judge, int d, int n, int j)
{
    const cairn_problem *p = judge->p;
    size_t first = (size_t)j * (size_t)d;
    const double *r = judge->r + first;
    double q[CAIRN_MAX_DIMENSION], u[CAIRN_MAX_DIMENSION], bias = cairn_contact_bias(p, j);
    bool rows = cairn_is_bounded(p, j);
    relative_and_free(judge, d, n, j, u, q);
    memcpy(judge->u + first, u, sizeof(double) * (size_t)d);
    u[0] += bias;
    q[0] += bias;
    cairn_contact_comply(p, j, r, u);
    bool parts = p->rolling + p->spinning > 0;
    row_squares squares = squares_of(judge, d, n, j);
    double weighed2 = rows    ? judge_rows(judge, j, q, u)
                      : parts ? judge_parts(judge, j, q, u)
                              : judge_cone(judge, d, j, squares.w, q, u);
    judge->terms2 += squares.terms2 + compliance_squares(p, j, r);
    judge->q2 += square(d, q);
    judge->r2 += square(d, r);
    judge->drowned2 += weighed2 * (2 * DBL_EPSILON) * (2 * DBL_EPSILON);
    judge->u2 += square(d, u);
    judge->cone_violation = fmax(judge->cone_violation, outside_cone(p, d, j, r));
}

/* ---- all contacts --------------------------------------------------------------------------- */

/* Contacts are judged in parts, and what the parts come to is added up in their order. How contacts
 * are cut depends on their number alone, so threads change no bit. */
enum { MOST_PARTS = 64, SMALLEST_PART = 1024 };

typedef struct trial {
    judging part[MOST_PARTS];
    int size; /* contacts of a part */
} trial;

CAIRN_INLINE void judge_some(judging *judge, int d, int n, int begin, int end)
{
    for (int j = begin; j < end; j++)
        judge_contact(judge, d, n, j);
}

static void judge_part(int begin, int end, void *context)
{
    trial *t = context;
    judging judge = t->part[begin / t->size];
    if (judge.p->dimension == 3 && judge.p->block_size == 6)
        judge_some(&judge, 3, 6, begin, end);
    else if (judge.p->dimension == 2 && judge.p->block_size == 3)
        judge_some(&judge, 2, 3, begin, end);
    else
        judge_some(&judge, judge.p->dimension, judge.p->block_size, begin, end);
    t->part[begin / t->size] = judge;
}

static void add_law(const law_sums *part, law_sums *sums)
{
    sums->e2 += part->e2;
    sums->fclib2 += part->fclib2;
    sums->closing2 += part->closing2;
    if (part->worst_contact >= 0 && !(part->worst <= sums->worst)) {
        sums->worst = part->worst;
        sums->worst_contact = part->worst_contact;
    }
}

static void add_part(const judging *part, judging *sum)
{
    add_law(&part->convex, &sum->convex);
    add_law(&part->coulomb, &sum->coulomb);
    sum->q2 += part->q2;
    sum->r2 += part->r2;
    sum->u2 += part->u2;
    sum->terms2 += part->terms2;
    sum->drowned2 += part->drowned2;
    sum->cone_violation = fmax(sum->cone_violation, part->cone_violation);
}

static void judge_all(judging *judge)
{
    trial t;
    int contacts = judge->p->contacts, least = (contacts + MOST_PARTS - 1) / MOST_PARTS;
    t.size = least > SMALLEST_PART ? least : SMALLEST_PART;
    int parts = (contacts + t.size - 1) / t.size;
    for (int k = 0; k < parts; k++)
        t.part[k] = *judge;
    cairn_parallel_for(contacts, t.size, judge_part, &t);
    for (int k = 0; k < parts; k++)
        add_part(&t.part[k], judge);
}

static cairn_residual conclude(const judging *judge, const law_sums *sums)
{
    double scale = fmax(sqrt(sums->closing2), least_share * sqrt(judge->convex.closing2));
    double size = sqrt(fmax(judge->q2, fmax(judge->r2, judge->u2)));
    bool noise = sums->e2 <= rounding * rounding * judge->terms2;
    double error = noise ? 0 : sqrt(sums->e2); /* NaN stays NaN */
    double doubt = sqrt(judge->drowned2), least = rounding * sqrt(judge->terms2);
    if (!(doubt <= fmax(negligible * scale, least)))
        error += doubt;
    return (cairn_residual){
        .worst = sums->worst,
        .relative = error == 0 ? 0 : error / scale,
        .fclib = size > 0 ? sqrt(sums->fclib2) / size : 0,
        .worst_contact = sums->worst_contact,
    };
}

void cairn_judge(const cairn_problem *p, cairn_law law, const double *r, double *v, double *u,
                 cairn_judgement *out)
{
    judging judge = {
        .p = p, .r = r, .v = v, .u = u, .convex.worst_contact = -1, .coulomb.worst_contact = -1
    };
    cairn_problem_velocity(p, r, v);
    judge_all(&judge);
    out->coulomb = conclude(&judge, &judge.coulomb);
    out->asked = law == CAIRN_LAW_CONVEX ? conclude(&judge, &judge.convex) : out->coulomb;
    out->cone_violation = judge.cone_violation;
}

const char *cairn_law_name(cairn_law law)
{
    static const char *const names[CAIRN_LAW_COUNT] = { "convex", "coulomb" };
    return (unsigned)law < CAIRN_LAW_COUNT ? names[law] : NULL;
}
