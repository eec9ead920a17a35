/* map.c - the nonsmooth equation of one contact, r = Phi(y), y = r - rho u.
 *
 * Convex law, natural map: Phi = P_K, the projection on the friction cone (cone.c).
 * Coulomb's law, Alart and Curnier's map: the normal part as without friction, Phi_N = max(0, y_N).
 * In both, each further part of the cone (friction, rolling, spinning) is then cut to the length
 * mu Phi_N. Where it is, with l = |y_k| and t = y_k/l:
 *     Phi_k = mu Phi_N t,    dPhi_k = mu t dPhi_N + mu Phi_N/l (I - t t') dy_k,
 * and for the projection dPhi_N = (dy_N + sum mu_k t_k.dy_k)/(1 + sum mu_k^2) over the parts cut.
 * Rows with bounds: Phi is y cut to the bounds, under both laws.
 * The maps are piecewise smooth; G is the derivative of one of the pieces that meet at y. */
#include "problem/map.h"

#include <math.h>
#include <string.h>

#include "problem/operator.h"

/* The cone at one y. */
typedef struct pieces {
    int parts;
    cairn_cone_part part[CAIRN_CONE_PARTS];
    double length[CAIRN_CONE_PARTS];
    bool cut[CAIRN_CONE_PARTS];
} pieces;

/* Which parts the normal part x cuts. A part without friction always is. */
static void find_cuts(double x, const double *y, pieces *c)
{
    for (int k = 0; k < c->parts; k++) {
        c->length[k] = cairn_cone_length(&c->part[k], y);
        c->cut[k] = c->part[k].mu == 0 || c->length[k] > c->part[k].mu * x;
    }
}

/* t_i of a part; 0 where its length is. */
static double direction(const pieces *c, int k, int i, const double *y)
{
    return c->length[k] > 0 ? y[c->part[k].first + i] / c->length[k] : 0;
}

/* dPhi_N of the projection */
static void projected_row(const pieces *c, const double *y, double *row)
{
    double weight = 1;
    for (int k = 0; k < c->parts; k++)
        weight += c->cut[k] ? c->part[k].mu * c->part[k].mu : 0;
    row[0] = 1 / weight;
    for (int k = 0; k < c->parts; k++)
        for (int i = 0; c->cut[k] && i < c->part[k].count; i++)
            row[c->part[k].first + i] = c->part[k].mu * direction(c, k, i, y) / weight;
}

/* Phi_k and its rows of G, with the normal part and its derivative in phi[0] and the first row. */
static void map_part(int d, const pieces *c, int k, const double *y, double *phi, double *G)
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

static bool map_cone(const cairn_problem *p, int j, cairn_law law, const double *y, double *phi,
                     double *G)
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

bool cairn_contact_map(const cairn_problem *p, int j, cairn_law law, const double *y, double *phi,
                       double *G)
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
