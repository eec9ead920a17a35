/* local.c - the one-contact problem, solved exactly, for the convex law and for Coulomb's.
 *
 * Three cases, tried in this order:
 *   take-off  r = 0               when q is in K* (convex) or q_N >= 0 (Coulomb);
 *   stick     r = -W^-1 q         when that lies in K;
 *   slide     r on the boundary of K.
 * Sliding has a closed form when W = diag(W_N, W_T, W_T), as for spheres. Otherwise, convex law:
 * r = rho a(phi), a = (1, mu cos phi, mu sin phi), rho = -q.a/(a'Wa), and phi is the root of
 * u.a' = 0 where the energy -(q.a)^2/(2 a'Wa) is least. Coulomb: u = (0, -lambda r_T), so
 * r(lambda) = -(W + lambda diag(0,1,1))^-1 q with |r_T| = mu r_N, one equation for lambda >= 0, by
 * Newton's method. */
#include "problem/cone.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/factor.h"
#include "problem/operator.h"

/* ---- two dimensions ------------------------------------------------------------------------- */

ANYWHERE static bool stick_2d(const double *W, double mu, const double *q, double *r)
{
    double determinant = W[0] * W[2] - W[1] * W[1];
    /* singular to rounding: then it slides, or nothing moves */
    if (determinant <= 4 * DBL_EPSILON * W[0] * W[2])
        return false;
    r[0] = (-W[2] * q[0] + W[1] * q[1]) / determinant;
    r[1] = (W[1] * q[0] - W[0] * q[1]) / determinant;
    return fabs(r[1]) <= mu * r[0];
}

/* Sliding with r_T = side * mu r_N. The convex law takes the edge on which the energy
 * 1/2 r'W r + q'r = -along^2/(2 stiffness) is lower. */
ANYWHERE static void slide_convex_2d(const double *W, double mu, const double *q, double *r)
{
    double best = 0;
    r[0] = r[1] = 0;
    for (int side = -1; side <= 1; side += 2) {
        double along = q[0] + side * mu * q[1];
        double stiffness = W[0] + 2 * side * mu * W[1] + mu * mu * W[2];
        if (along < 0 && stiffness > 0 && along * along / stiffness > best) {
            best = along * along / stiffness;
            r[0] = -along / stiffness;
            r[1] = side * mu * r[0];
        }
    }
}

/* Coulomb's law: u_N = 0 gives r_N = -q_N/(W_N + side mu W_TN), and friction must oppose
 * sliding. */
ANYWHERE static void slide_coulomb_2d(const double *W, double mu, const double *q, double *r)
{
    for (int side = -1; side <= 1; side += 2) {
        double stiffness = W[0] + side * mu * W[1];
        double normal = stiffness > 0 ? -q[0] / stiffness : -1;
        double sliding = q[1] + W[1] * normal + W[2] * side * mu * normal;
        if (normal >= 0 && sliding * side <= 0) {
            r[0] = normal;
            r[1] = side * mu * normal;
            return;
        }
    }
    slide_convex_2d(W, mu, q, r); /* no sliding solution with u_N = 0: the associated one */
}

ANYWHERE static void solve_2d(cairn_law law, const double *W, double mu, const double *q, double *r)
{
    if (stick_2d(W, mu, q, r))
        return;
    if (law == CAIRN_LAW_COULOMB)
        slide_coulomb_2d(W, mu, q, r);
    else
        slide_convex_2d(W, mu, q, r);
}

/* ---- three dimensions ----------------------------------------------------------------------- */

ANYWHERE static void multiply_3d(const double *W, const double *x, double *y)
{
    y[0] = W[0] * x[0] + W[1] * x[1] + W[3] * x[2];
    y[1] = W[1] * x[0] + W[2] * x[1] + W[4] * x[2];
    y[2] = W[3] * x[0] + W[4] * x[1] + W[5] * x[2];
}

ANYWHERE static double dot_3d(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

ANYWHERE bool cairn_local_is_isotropic(const double *W)
{
    double small = 1e-14 * (W[0] + W[2] + W[5]);
    return fabs(W[1]) <= small && fabs(W[3]) <= small && fabs(W[4]) <= small &&
           fabs(W[2] - W[5]) <= small;
}

/* One generator of the cone's boundary: the impulse along it, and the quantities that determine
 * phi. */
typedef struct edge {
    double rho;    /* N s: normal impulse of the best point of this edge, >= 0    */
    double energy; /* 1/2 r'Wr + q'r there                                        */
    double normal; /* u_N there                                                   */
    double slope;  /* u.a': its root is the solution                              */
    double bend;   /* derivative of the slope by phi                              */
    double a[3];
} edge;

ANYWHERE static edge edge_at(const double *W, double mu, const double *q, double phi)
{
    edge e = { .a = { 1, mu * cos(phi), mu * sin(phi) } };
    double Wa[3], Wda[3], da[3] = { 0, -e.a[2], e.a[1] }, dda[3] = { 0, -e.a[1], -e.a[2] };
    multiply_3d(W, e.a, Wa);
    multiply_3d(W, da, Wda);
    double along = dot_3d(q, e.a), stiffness = dot_3d(e.a, Wa);
    e.rho = stiffness > 0 ? fmax(0.0, -along / stiffness) : 0;
    e.energy = 0.5 * e.rho * along;
    e.normal = q[0] + e.rho * Wa[0];
    e.slope = dot_3d(q, da) + e.rho * dot_3d(Wa, da);
    /* u' = rho' W a + rho W a',  rho' = -(q.a' + 2 rho a'Wa)/(a'Wa) with u.a = 0 */
    double drho = e.rho > 0 ? -(dot_3d(q, da) + 2 * e.rho * dot_3d(Wa, da)) / stiffness : 0;
    e.bend =
        drho * dot_3d(Wa, da) + e.rho * dot_3d(Wda, da) + dot_3d(q, dda) + e.rho * dot_3d(Wa, dda);
    return e;
}

/* Newton's method on the slope, from the direction of -q_T. A root is the solution if u_N >= 0
 * there: then u = alpha (mu, -r_T/|r_T|) with alpha >= 0, and the convex problem has only one. */
ANYWHERE static bool newton_edge(const double *W, double mu, const double *q, edge *out)
{
    enum { STEPS = 12 };
    double phi = atan2(-q[2], -q[1]), size = mu * (fabs(q[1]) + fabs(q[2]));
    for (int k = 0; k < STEPS; k++) {
        *out = edge_at(W, mu, q, phi);
        if (fabs(out->slope) <= 4 * DBL_EPSILON * size)
            return out->rho > 0 && out->normal >= 0;
        if (!(out->bend > 0))
            return false;
        phi -= out->slope / out->bend;
    }
    return false;
}

/* If Newton's method fails: the convex problem has one minimum on the boundary, and the neighbours
 * of the best direction of a coarse fan bracket it. Inside, secant steps alternate with bisection,
 * which guarantees progress. */
ANYWHERE static edge bracket_edge(const double *W, double mu, const double *q)
{
    enum { FAN = 24, STEPS = 120 };
    double step = 2 * M_PI / (double)FAN, start = atan2(-q[2], -q[1]), centre = start;
    edge best = edge_at(W, mu, q, start);
    for (int k = 1; k < FAN; k++) {
        edge e = edge_at(W, mu, q, start + k * step);
        if (e.energy < best.energy) {
            best = e;
            centre = start + k * step;
        }
    }
    /* energy falls towards the root from both sides: slope < 0 left of it, > 0 right of it */
    double low = centre - step, high = centre + step;
    double negligible = 1e-16 * mu * (fabs(q[1]) + fabs(q[2]));
    double slope_low = edge_at(W, mu, q, low).slope, slope_high = edge_at(W, mu, q, high).slope;
    for (int k = 0; k < STEPS && slope_low < 0 && slope_high > 0; k++) {
        double secant = low - slope_low * (high - low) / (slope_high - slope_low);
        double guess = k % 2 ? 0.5 * (low + high) : secant;
        best = edge_at(W, mu, q, guess);
        double *end = best.slope < 0 ? &low : &high;
        *end = guess;
        *(best.slope < 0 ? &slope_low : &slope_high) = best.slope;
        if (high - low < 1e-16 || fabs(best.slope) <= negligible)
            break;
    }
    return best;
}

ANYWHERE static void slide_convex_3d(const double *W, double mu, const double *q, double *r)
{
    edge best;
    if (!newton_edge(W, mu, q, &best))
        best = bracket_edge(W, mu, q);
    for (int i = 0; i < 3; i++)
        r[i] = best.rho * best.a[i];
}

/* The contact with its normal component eliminated: in W r + q + lambda (0, r_T) = 0 the first row
 * gives
 *     r_N = -q_N/W_N - lean.r_T,   lean = (W_10, W_20)/W_N,
 * and the others become (S + lambda) r_T = -g with S = W_TT - W_N lean lean', g = q_T - q_N
 * lean. */
typedef struct reduced {
    double W_N, q_N, lean[2], g[2];
    double S[3]; /* lower triangle                            */
    double size; /* trace of W                                */
} reduced;

ANYWHERE static bool is_tiny(double pivot, const reduced *f, double lambda)
{
    return !(pivot > 8 * DBL_EPSILON * (f->size + 2 * lambda));
}

/* False when W_N is numerically 0. */
ANYWHERE static bool reduce(const double *W, const double *q, reduced *out)
{
    double a = W[1] / W[0], b = W[3] / W[0];
    *out = (reduced){ .W_N = W[0],
                      .q_N = q[0],
                      .lean = { a, b },
                      .g = { q[1] - a * q[0], q[2] - b * q[0] },
                      .S = { W[2] - a * W[1], W[4] - a * W[3], W[5] - b * W[3] },
                      .size = W[0] + W[2] + W[5] };
    return !is_tiny(W[0], out, 0);
}

/* S + lambda = (1, 0; l, 1) diag(a, d) (1, l; 0, 1). Solving with factors leaves a residual of the
 * size of rounding even if the matrix is nearly singular; multiplying by an inverse would not. */
typedef struct factors {
    double a, d, l;
} factors;

/* False when S + lambda is numerically singular. */
ANYWHERE static bool factor(const reduced *f, double lambda, factors *out)
{
    out->a = f->S[0] + lambda;
    out->l = f->S[1] / out->a;
    out->d = f->S[2] + lambda - out->l * f->S[1];
    return !is_tiny(out->a, f, lambda) && !is_tiny(out->d, f, lambda);
}

/* x = -(S + lambda)^-1 y */
ANYWHERE static void solve_minus(const factors *c, const double *y, double *x)
{
    double first = -y[0];
    x[1] = (-y[1] - c->l * first) / c->d;
    x[0] = first / c->a - c->l * x[1];
}

ANYWHERE static void impulse_at(const reduced *f, const factors *c, double *r)
{
    solve_minus(c, f->g, r + 1);
    r[0] = -f->q_N / f->W_N - f->lean[0] * r[1] - f->lean[1] * r[2];
}

/* m = mu r_N/|r_T| - 1 at lambda, which is < 0 outside the cone, and dm/dlambda, with
 * r_T' = -(S + lambda)^-1 r_T. This form is used because 1/|r_T| is almost linear in lambda, so
 * that Newton's method takes few steps. */
ANYWHERE static double margin_at(const reduced *f, double mu, double lambda, double *r,
                                 double *slope)
{
    factors c;
    double d[2];
    *slope = 0;
    if (!factor(f, lambda, &c))
        return -1;
    impulse_at(f, &c, r);
    solve_minus(&c, r + 1, d);
    double T2 = r[1] * r[1] + r[2] * r[2], T = sqrt(T2);
    double dN = -f->lean[0] * d[0] - f->lean[1] * d[1];
    *slope = mu * (dN - r[0] * (r[1] * d[0] + r[2] * d[1]) / T2) / T;
    return mu * r[0] / T - 1;
}

/* Newton's method from lambda = 0, which is outside the cone, safeguarded by an interval that
 * contains the root. A step that leaves it, and every BISECT-th one, is replaced by bisection or,
 * while there is no upper end yet, by a larger lambda, since r_T tends to 0 for large lambda. */
ANYWHERE static void slide_coulomb_3d(const reduced *f, double mu, double *r)
{
    enum { STEPS = 200, BISECT = 8 };
    double low = 0, high = INFINITY, lambda = 0;
    for (int k = 1; k < STEPS; k++) {
        double slope, margin = margin_at(f, mu, lambda, r, &slope);
        if (fabs(margin) <= 2 * DBL_EPSILON)
            break;
        *(margin < 0 ? &low : &high) = lambda;
        double next = lambda - margin / slope;
        if (!(slope > 0 && next > low && next < high) || k % BISECT == 0)
            next = isfinite(high) ? 0.5 * (low + high) : fmax(4 * lambda, f->size / 3);
        if (next == lambda || (isfinite(high) && high - low <= 1e-16 * high))
            break;
        lambda = next;
    }
    cairn_cone_project(3, mu, r); /* removes rounding errors only */
}

/* Stick if -W^-1 q is in the cone, else slide. If W_N is 0 to rounding, no normal impulse can
 * change u_N: Coulomb's law then has no solution here, and r = 0. */
ANYWHERE static void solve_3d(cairn_law law, const double *W, double mu, const double *q, double *r)
{
    factors c;
    reduced f;
    if (cairn_local_is_isotropic(W)) {
        cairn_local_solve_isotropic(law, W, mu, q, r);
        return;
    }
    bool whole = reduce(W, q, &f);
    if (whole && factor(&f, 0, &c)) {
        impulse_at(&f, &c, r);
        if (sqrt(r[1] * r[1] + r[2] * r[2]) <= mu * r[0])
            return;
    }
    if (law == CAIRN_LAW_CONVEX)
        slide_convex_3d(W, mu, q, r);
    else if (whole)
        slide_coulomb_3d(&f, mu, r);
    else
        r[0] = r[1] = r[2] = 0;
}

/* ---- both ----------------------------------------------------------------------------------- */

ANYWHERE static bool takes_off(int dimension, cairn_law law, double mu, const double *q)
{
    if (law == CAIRN_LAW_COULOMB)
        return q[0] >= 0;
    double speed2 = q[1] * q[1] + (dimension == 3 ? q[2] * q[2] : 0);
    return q[0] >= 0 && mu * mu * speed2 <= q[0] * q[0];
}

ANYWHERE void cairn_local_solve(int dimension, cairn_law law, const double *W, double mu,
                                const double *q, double *r)
{
    for (int i = 0; i < dimension; i++)
        r[i] = 0;
    if (takes_off(dimension, law, mu, q))
        return;
    if (mu == 0)
        r[0] = W[0] > 0 ? fmax(0.0, -q[0] / W[0]) : 0;
    else if (dimension == 2)
        solve_2d(law, W, mu, q, r);
    else
        solve_3d(law, W, mu, q, r);
}

ANYWHERE void cairn_contact_solve(const cairn_problem *p, int j, cairn_law law, const double *W,
                                  const double *q, double *r)
{
    if (p->bounded && p->bounded[j])
        cairn_local_solve_rows(p, j, W, q, r);
    else if (p->rolling + p->spinning)
        cairn_local_solve_parts(p, j, law, W, q, r);
    else
        cairn_local_solve(p->dimension, law, W, p->mu[j], q, r);
}

/* ---- beyond friction cones ------------------------------------------------------------------- */

/* The one-contact problem beyond friction cones: its nonsmooth equation, rolling
 * and spinning friction, rows with bounds. */

/* ---- the nonsmooth equation of one contact ----------------------------------------------- */

/* The nonsmooth equation of one contact, r = Phi(y), y = r - rho u.
 *
 * Convex law, natural map: Phi = P_K, the projection on the friction cone (cone.c).
 * Coulomb's law, Alart and Curnier's map: the normal part as without friction, Phi_N = max(0, y_N).
 * In both, each further part of the cone (friction, rolling, spinning) is then cut to the length
 * mu Phi_N. Where it is, with l = |y_k| and t = y_k/l:
 *     Phi_k = mu Phi_N t,    dPhi_k = mu t dPhi_N + mu Phi_N/l (I - t t') dy_k,
 * and for the projection dPhi_N = (dy_N + sum mu_k t_k.dy_k)/(1 + sum mu_k^2) over the parts cut.
 * Rows with bounds: Phi is y cut to the bounds, under both laws.
 * The maps are piecewise smooth; G is the derivative of one of the pieces that meet at y. */

/* The cone at one y. */
typedef struct pieces {
    int parts;
    cairn_cone_part part[CAIRN_CONE_PARTS];
    double length[CAIRN_CONE_PARTS];
    bool cut[CAIRN_CONE_PARTS];
} pieces;

/* Which parts are cut to the length mu_k x. A part with mu = 0 always is. */
ANYWHERE static void find_cuts(double x, const double *y, pieces *c)
{
    for (int k = 0; k < c->parts; k++) {
        c->length[k] = cairn_cone_length(&c->part[k], y);
        c->cut[k] = c->part[k].mu == 0 || c->length[k] > c->part[k].mu * x;
    }
}

/* t_i of a part; 0 if its length is 0. */
ANYWHERE static double direction(const pieces *c, int k, int i, const double *y)
{
    return c->length[k] > 0 ? y[c->part[k].first + i] / c->length[k] : 0;
}

/* dPhi_N of the projection */
ANYWHERE static void projected_row(const pieces *c, const double *y, double *row)
{
    double weight = 1;
    for (int k = 0; k < c->parts; k++)
        weight += c->cut[k] ? c->part[k].mu * c->part[k].mu : 0;
    row[0] = 1 / weight;
    for (int k = 0; k < c->parts; k++)
        for (int i = 0; c->cut[k] && i < c->part[k].count; i++)
            row[c->part[k].first + i] = c->part[k].mu * direction(c, k, i, y) / weight;
}

/* Phi_k and its rows of G, given the normal part in phi[0] and its derivative in the first row. */
ANYWHERE static void map_part(int d, const pieces *c, int k, const double *y, double *phi,
                              double *G)
{
    const cairn_cone_part *part = &c->part[k];
    double share = c->length[k] > 0 ? part->mu * phi[0] / c->length[k] : 0;
    for (int i = 0; i < part->count; i++) {
        int at = part->first + i;
        double t = direction(c, k, i, y), *row = G + at * d;
        phi[at] = c->cut[k] ? part->mu * phi[0] * t : y[at];
        row[at] = !c->cut[k];
        for (int l = 0; c->cut[k] && l < d; l++)
            row[l] = part->mu * t * G[l];
        for (int l = 0; c->cut[k] && l < part->count; l++)
            row[part->first + l] += share * ((i == l) - t * direction(c, k, l, y));
    }
}

ANYWHERE static bool map_cone(const cairn_problem *p, int j, cairn_law law, const double *y,
                              double *phi, double *G)
{
    pieces c = { .parts = cairn_cone_parts(p, j, c.part) };
    double projected[CAIRN_MAX_DIMENSION];
    memcpy(projected, y, sizeof(double) * (size_t)p->dimension);
    if (law == CAIRN_LAW_CONVEX)
        cairn_cone_project_parts(p, j, projected);
    if (!(projected[0] > 0))
        return false;
    phi[0] = projected[0];
    find_cuts(phi[0], y, &c);
    G[0] = 1;
    if (law == CAIRN_LAW_CONVEX)
        projected_row(&c, y, G);
    for (int k = 0; k < c.parts; k++)
        map_part(p->dimension, &c, k, y, phi, G);
    return true;
}

ANYWHERE bool cairn_contact_map(const cairn_problem *p, int j, cairn_law law, const double *y,
                                double *phi, double *G)
{
    int d = p->dimension;
    memset(phi, 0, sizeof(double) * (size_t)d);
    memset(G, 0, sizeof(double) * (size_t)(d * d));
    if (!cairn_is_bounded(p, j))
        return map_cone(p, j, law, y, phi, G);
    memcpy(phi, y, sizeof(double) * (size_t)d);
    cairn_rows_project(p, j, phi);
    for (int i = 0; i < d; i++) {
        size_t row = (size_t)j * (size_t)d + (size_t)i;
        G[i * d + i] = phi[i] == y[i] && p->lower[row] < p->upper[row];
    }
    return true;
}

/* ---- rolling and spinning friction ------------------------------------------------------- */

/* The one-contact problem with rolling and spinning friction.
 *
 *   take-off  r = 0          when q is in K* (convex) or q_N >= 0 (Coulomb)
 *   stick     r = -W^-1 q    when that lies in K
 *   slide     else: Newton's method on F(r) = r - Phi(r - rho u) (above), whole steps,
 *                 (I - G + rho G W) dr = -F,    rho = 1/(mean of W's diagonal);
 *             if it does not converge, some steps r = P_K(r - t (W r + q + shift n)) with
 *             t = 1/trace W, which never increase the energy of the convex law, and Newton again.
 * All in units in which rolling and spinning are speeds (cone.h), so that W has one scale.
 * The r with the smallest |F| is returned. It is exact to rounding if Newton's method converges, as
 * it nearly always does; otherwise the next sweep continues from it. */

/* Rounds of up to STEPS Newton steps, each round followed by RELAXATIONS projected steps. */
enum { MOST = CAIRN_MAX_DIMENSION, ROUNDS = 8, STEPS = 12, RELAXATIONS = 40 };

typedef struct contact {
    cairn_scaled_contact scaled;
    const cairn_problem *p; /* scaled.p */
    int d;
    cairn_law law;
    double q[MOST];
    double W[MOST * MOST], F[MOST], G[MOST * MOST];
    double trace;
    double best[MOST], least; /* the best r so far, its |F|^2 */
} contact;

/* The full symmetric W and q in scaled units: W' = l W l, q' = l q. */
ANYWHERE static void load(const double *W, const double *q, contact *c)
{
    const double *length = c->scaled.length;
    for (int i = 0, entry = 0; i < c->d; i++) {
        for (int k = 0; k <= i; k++, entry++)
            c->W[i * c->d + k] = c->W[k * c->d + i] = length[i] * length[k] * W[entry];
        c->q[i] = length[i] * q[i];
        c->trace += c->W[i * c->d + i];
    }
}

ANYWHERE static void find_velocity(const contact *c, const double *r, double *u)
{
    for (int i = 0; i < c->d; i++) {
        u[i] = c->q[i];
        for (int k = 0; k < c->d; k++)
            u[i] += c->W[i * c->d + k] * r[k];
    }
}

ANYWHERE static bool contact_takes_off(const contact *c)
{
    double needed = c->law == CAIRN_LAW_CONVEX ? cairn_contact_sliding(c->p, 0, c->q) : 0;
    return c->q[0] >= needed;
}

ANYWHERE static bool sticks(const contact *c, double *r)
{
    double factored[MOST * MOST], inside[MOST];
    int pivot[MOST];
    memcpy(factored, c->W, sizeof factored);
    if (!cairn_dense_factor(c->d, factored, pivot))
        return false;
    for (int i = 0; i < c->d; i++)
        r[i] = -c->q[i];
    cairn_dense_solve(c->d, factored, pivot, r);
    memcpy(inside, r, sizeof(double) * (size_t)c->d);
    cairn_cone_project_parts(c->p, 0, inside);
    bool same = true;
    for (int i = 0; i < c->d; i++) /* a NaN stays what it is */
        same = same && !(inside[i] < r[i] || inside[i] > r[i]);
    return same;
}

/* F and G at r; true if F is within rounding. Keeps the best r. */
ANYWHERE static bool measure(contact *c, const double *r)
{
    double u[MOST], y[MOST], phi[MOST], rho = c->d / c->trace, size = 0, sum = 0;
    find_velocity(c, r, u);
    for (int i = 0; i < c->d; i++)
        y[i] = r[i] - rho * u[i];
    cairn_contact_map(c->p, 0, c->law, y, phi, c->G);
    for (int i = 0; i < c->d; i++) {
        c->F[i] = r[i] - phi[i];
        sum += c->F[i] * c->F[i];
        size += r[i] * r[i] + rho * rho * c->q[i] * c->q[i];
    }
    if (sum < c->least) {
        c->least = sum;
        memcpy(c->best, r, sizeof(double) * (size_t)c->d);
    }
    return sum <= 4 * DBL_EPSILON * DBL_EPSILON * size;
}

/* r += dr; false if the Jacobian is singular or the step is not finite */
ANYWHERE static bool newton_step(const contact *c, double *r)
{
    double J[MOST * MOST], step[MOST], rho = c->d / c->trace;
    int pivot[MOST], d = c->d;
    for (int i = 0; i < d; i++) {
        step[i] = -c->F[i];
        for (int l = 0; l < d; l++) {
            double sum = (i == l) - c->G[i * d + l];
            for (int k = 0; k < d; k++)
                sum += rho * c->G[i * d + k] * c->W[k * d + l];
            J[i * d + l] = sum;
        }
    }
    if (!cairn_dense_factor(d, J, pivot))
        return false;
    cairn_dense_solve(d, J, pivot, step);
    for (int i = 0; i < d; i++)
        r[i] += step[i];
    return isfinite(r[0]);
}

ANYWHERE static void relax(const contact *c, double *r)
{
    for (int k = 0; k < RELAXATIONS; k++) {
        double u[MOST];
        find_velocity(c, r, u);
        if (c->law == CAIRN_LAW_COULOMB)
            u[0] += cairn_contact_sliding(c->p, 0, u);
        for (int i = 0; i < c->d; i++)
            r[i] -= u[i] / c->trace;
        cairn_cone_project_parts(c->p, 0, r);
    }
}

ANYWHERE static void slide(contact *c, double *r)
{
    cairn_cone_project_parts(c->p, 0, r);
    for (int round = 0; round < ROUNDS; round++) {
        bool good = true;
        for (int k = 0; k < STEPS && good; k++) {
            if (measure(c, r))
                return;
            good = newton_step(c, r);
        }
        memcpy(r, c->best, sizeof(double) * (size_t)c->d);
        relax(c, r);
    }
    measure(c, r);
}

ANYWHERE void cairn_local_solve_parts(const cairn_problem *p, int j, cairn_law law, const double *W,
                                      const double *q, double *r)
{
    contact c = { .d = p->dimension, .law = law, .least = INFINITY };
    cairn_contact_scale(p, j, W, &c.scaled);
    c.p = &c.scaled.p;
    load(W, q, &c);
    for (int i = 0; i < c.d; i++)
        r[i] /= c.scaled.length[i];
    if (!(c.trace > 0) || contact_takes_off(&c))
        memset(r, 0, sizeof(double) * (size_t)c.d);
    else {
        if (!sticks(&c, c.best))
            slide(&c, r);
        memcpy(r, c.best, sizeof(double) * (size_t)c.d);
    }
    for (int i = 0; i < c.d; i++)
        r[i] *= c.scaled.length[i];
    cairn_cone_project_parts(p, j, r); /* removes rounding errors only */
}

/* ---- bounded rows ------------------------------------------------------------------------ */

/* The bounded rows of one contact, solved exactly: a primal active-set method.
 *
 * Minimises 1/2 r'W r + q'r over lower <= r <= upper, W positive semidefinite, at most 6 rows:
 *   (1) r is moved into its bounds; rows at a bound that y pushes against it are held
 *   (2) step s of the free rows: W_FF s = -(W r + q)_F
 *   (3) if the whole step is within the bounds: release the held row that is pulled back most, or
 *       stop if there is none; otherwise go to the first bound and hold its row from then on
 * The energy decreases with every round, so that no set of held rows occurs twice. Rows that depend
 * on others in W (redundant ones) keep their impulse; a row that nothing can move goes to the bound
 * that its velocity points to, if it is finite. */

enum { ROW_ROUNDS = 100 }; /* a safeguard against cycling by rounding */

static const double dependent = 1e-13; /* pivot over diagonal below which a row depends on others */

typedef struct rows {
    int d;
    const double *lower, *upper, *q;
    double W[MOST][MOST];
    bool held[MOST];
    double y[MOST]; /* W r + q */
    double s[MOST];
} rows;

ANYWHERE static void load_rows(const cairn_problem *p, int j, const double *W, const double *q,
                               rows *x)
{
    size_t first = (size_t)j * (size_t)p->dimension;
    x->d = p->dimension;
    x->lower = p->lower + first;
    x->upper = p->upper + first;
    x->q = q;
    for (int i = 0, entry = 0; i < x->d; i++)
        for (int k = 0; k <= i; k++, entry++)
            x->W[i][k] = x->W[k][i] = W[entry];
}

ANYWHERE static void find_row_velocities(rows *x, const double *r)
{
    for (int i = 0; i < x->d; i++) {
        x->y[i] = x->q[i];
        for (int k = 0; k < x->d; k++)
            x->y[i] += x->W[i][k] * r[k];
    }
}

/* Whether row i is at a bound and its y pushes it against it. */
ANYWHERE static bool is_pushed(const rows *x, int i, double r)
{
    return (r <= x->lower[i] && x->y[i] >= 0) || (r >= x->upper[i] && x->y[i] <= 0);
}

/* (1) */
ANYWHERE static void start(rows *x, double *r)
{
    for (int i = 0; i < x->d; i++) {
        bool fixed = !(x->W[i][i] > 0);
        if (fixed) /* nothing moves it: to the bound by the sign of q, or stay */
            r[i] = x->q[i] > 0 ? x->lower[i] : x->q[i] < 0 ? x->upper[i] : r[i];
        if (!isfinite(r[i]))
            r[i] = 0;
        r[i] = fmin(fmax(r[i], x->lower[i]), x->upper[i]);
        x->held[i] = fixed || x->lower[i] == x->upper[i];
    }
    find_row_velocities(x, r);
    for (int i = 0; i < x->d; i++)
        x->held[i] = x->held[i] || is_pushed(x, i, r[i]);
}

/* (2) by W = L D L' over the free rows. Held rows and rows with a negligible pivot, which depend on
 * earlier ones, are skipped: their s is 0. */
ANYWHERE static void find_step(rows *x)
{
    double L[MOST][MOST], D[MOST];
    bool used[MOST];
    for (int i = 0; i < x->d; i++) {
        double pivot = x->held[i] ? 0 : x->W[i][i];
        x->s[i] = -x->y[i];
        for (int k = 0; k < i; k++) {
            L[i][k] = used[k] ? x->W[i][k] : 0;
            for (int l = 0; used[k] && l < k; l++)
                L[i][k] -= used[l] ? L[i][l] * L[k][l] * D[l] : 0;
            L[i][k] = used[k] ? L[i][k] / D[k] : 0;
            pivot -= used[k] ? L[i][k] * L[i][k] * D[k] : 0;
            x->s[i] -= used[k] ? L[i][k] * x->s[k] : 0;
        }
        used[i] = !x->held[i] && pivot > dependent * x->W[i][i];
        D[i] = used[i] ? pivot : 1;
    }
    for (int i = x->d - 1; i >= 0; i--) {
        x->s[i] = used[i] ? x->s[i] / D[i] : 0;
        for (int k = i + 1; k < x->d; k++)
            x->s[i] -= used[i] && used[k] ? L[k][i] * x->s[k] : 0;
    }
}

/* The share of s that the bounds allow, and the row that limits it; -1: the whole step. */
ANYWHERE static double find_reach(const rows *x, const double *r, int *row)
{
    double reach = 1;
    *row = -1;
    for (int i = 0; i < x->d; i++) {
        double bound = x->s[i] < 0 ? x->lower[i] : x->upper[i];
        if (x->held[i] || x->s[i] == 0 || !(fabs(bound - r[i]) < reach * fabs(x->s[i])))
            continue;
        reach = fabs(bound - r[i]) / fabs(x->s[i]);
        *row = i;
    }
    return reach;
}

/* (3) The held row that y pulls away from its bound most, if by more than rounding; -1: none. The
 * pull is divided by sqrt(W_ii), since rows may have different units. */
ANYWHERE static int find_release(const rows *x, const double *r)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < x->d; i++) {
        double rounding = fabs(x->q[i]);
        for (int k = 0; k < x->d; k++)
            rounding += fabs(x->W[i][k] * r[k]);
        bool can_move = x->held[i] && x->W[i][i] > 0 && x->lower[i] < x->upper[i];
        double pull = can_move && !is_pushed(x, i, r[i]) ? fabs(x->y[i]) : 0;
        if (pull <= 8 * DBL_EPSILON * rounding || pull / sqrt(x->W[i][i]) <= most)
            continue;
        most = pull / sqrt(x->W[i][i]);
        best = i;
    }
    return best;
}

ANYWHERE static void advance(rows *x, double reach, int row, double *r)
{
    for (int i = 0; i < x->d; i++)
        r[i] = fmin(fmax(r[i] + reach * x->s[i], x->lower[i]), x->upper[i]);
    if (row >= 0) {
        r[row] = x->s[row] < 0 ? x->lower[row] : x->upper[row];
        x->held[row] = true;
    }
    find_row_velocities(x, r);
}

ANYWHERE void cairn_local_solve_rows(const cairn_problem *p, int j, const double *W,
                                     const double *q, double *r)
{
    rows x;
    load_rows(p, j, W, q, &x);
    start(&x, r);
    for (int round = 0; round < ROW_ROUNDS; round++) {
        int row;
        find_step(&x);
        double reach = find_reach(&x, r, &row);
        advance(&x, reach, row, r);
        if (row >= 0)
            continue;
        int release = find_release(&x, r);
        if (release < 0)
            return;
        x.held[release] = false;
    }
}
