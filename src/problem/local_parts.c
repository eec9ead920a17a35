/* local_parts.c - the one-contact problem with rolling and spinning friction.
 *
 *   take-off  r = 0          when q is in K* (convex) or q_N >= 0 (Coulomb)
 *   stick     r = -W^-1 q    when that lies in K
 *   slide     else: Newton's method on F(r) = r - Phi(r - rho u) (map.c), whole steps,
 *                 (I - G + rho G W) dr = -F,    rho = 1/(mean of W's diagonal);
 *             where it does not settle, some steps r = P_K(r - t (W r + q + shift n)) with
 *             t = 1/trace W, which for the convex law never go uphill, and Newton again.
 * All in units in which rolling and spinning are speeds (cone.h), so that W has one scale.
 * The best r by |F| is what is returned: exact to rounding when Newton settles, as it nearly always
 * does; else as good as the steps made it, and the next sweep goes on from there. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "problem/local.h"
#include "problem/map.h"
#include "problem/operator.h"

enum { MOST = CAIRN_MAX_DIMENSION, ROUNDS = 8, STEPS = 12, RELAXATIONS = 40 };

typedef struct contact {
    cairn_scaled_contact scaled;
    const cairn_problem *p; /* scaled.p */
    int d;
    cairn_law law;
    double q[MOST];
    double W[MOST * MOST], F[MOST], G[MOST * MOST];
    double trace;
    double best[MOST], least; /* the best r so far, its |F| */
} contact;

static void load(const double *W, const double *q, contact *c)
{
    const double *length = c->scaled.length;
    for (int i = 0, entry = 0; i < c->d; i++) {
        for (int k = 0; k <= i; k++, entry++)
            c->W[i * c->d + k] = c->W[k * c->d + i] = length[i] * length[k] * W[entry];
        c->q[i] = length[i] * q[i];
        c->trace += c->W[i * c->d + i];
    }
}

static void find_velocity(const contact *c, const double *r, double *u)
{
    for (int i = 0; i < c->d; i++) {
        u[i] = c->q[i];
        for (int k = 0; k < c->d; k++)
            u[i] += c->W[i * c->d + k] * r[k];
    }
}

static bool takes_off(const contact *c)
{
    double needed = c->law == CAIRN_LAW_CONVEX ? cairn_contact_sliding(c->p, 0, c->q) : 0;
    return c->q[0] >= needed;
}

static bool sticks(const contact *c, double *r)
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
    return memcmp(inside, r, sizeof(double) * (size_t)c->d) == 0;
}

/* F and G at r; true when F is rounding. */
static bool measure(contact *c, const double *r)
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

/* r += dr; false when there is no such step */
static bool newton_step(const contact *c, double *r)
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

static void relax(const contact *c, double *r)
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

static void slide(contact *c, double *r)
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

void cairn_local_solve_parts(const cairn_problem *p, int j, cairn_law law, const double *W,
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
    cairn_cone_project_parts(p, j, r); /* rounding only */
}
