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
