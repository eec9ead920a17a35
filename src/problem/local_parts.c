/* local_parts.c - the one-contact problem beyond friction cones: its nonsmooth equation, rolling
 * and spinning friction, rows with bounds. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/factor.h"
#include "problem/cone.h"
#include "problem/operator.h"

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

ANYWHERE static bool takes_off(const contact *c)
{
    double needed = c->law == CAIRN_LAW_CONVEX ? cairn_contact_sliding(c->p, 0, c->q) : 0;
    return c->q[0] >= needed;
}

ANYWHERE static bool sticks(const contact *c, double *r)
{
    double factors[MOST * MOST], inside[MOST];
    int pivot[MOST];
    memcpy(factors, c->W, sizeof factors);
    if (!cairn_dense_factor(c->d, factors, pivot))
        return false;
    for (int i = 0; i < c->d; i++)
        r[i] = -c->q[i];
    cairn_dense_solve(c->d, factors, pivot, r);
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
    if (!(c.trace > 0) || takes_off(&c))
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
