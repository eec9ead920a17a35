/* newton_map.c - the nonsmooth equation of one contact, r = Phi(y), y = r - rho u.
 *
 * Convex law, natural map: Phi = P_K, the projection on the friction cone.
 * Coulomb's law, Alart and Curnier's map: the normal part as without friction, then the tangent
 * part on the disk that the normal part allows,
 *     Phi_N = max(0, y_N),    Phi_T = projection of y_T on the disk of radius mu Phi_N.
 * Where y_T sticks out of the disk, with t = y_T/|y_T|:
 *     Phi_T = mu y_N t,    dPhi_T = mu t dy_N + mu y_N/|y_T| (I - t t') dy_T.
 * Both maps are piecewise smooth; G is the derivative of one of the pieces that meet at y. */
#include "solve/newton_map.h"

#include <math.h>
#include <string.h>

static double length(int d, const double *y)
{
    return d == 3 ? sqrt(y[1] * y[1] + y[2] * y[2]) : fabs(y[1]);
}

/* Phi = y, G = I: sticking. */
static void keep(int d, const double *y, double *phi, double *G)
{
    for (int i = 0; i < d; i++) {
        phi[i] = y[i];
        G[i * d + i] = 1;
    }
}

/* Sliding with normal part `normal` of derivative `row`: Phi_T = mu normal t. */
static void slide(int d, double mu, double normal, const double *row, const double *y, double *phi,
                  double *G)
{
    double tangent = length(d, y);
    phi[0] = normal;
    memcpy(G, row, sizeof(double) * (size_t)d);
    for (int i = 1; i < d; i++) {
        double t = y[i] / tangent;
        phi[i] = mu * normal * t;
        for (int k = 0; k < d; k++) {
            double across = k == 0 ? 0 : (i == k) - t * y[k] / tangent;
            G[i * d + k] = mu * t * row[k] + mu * normal / tangent * across;
        }
    }
}

static bool alart_curnier(int d, double mu, const double *y, double *phi, double *G)
{
    if (!(y[0] > 0))
        return false;
    const double row[3] = { 1, 0, 0 };
    if (length(d, y) <= mu * y[0])
        keep(d, y, phi, G);
    else
        slide(d, mu, y[0], row, y, phi, G);
    return true;
}

static bool natural(int d, double mu, const double *y, double *phi, double *G)
{
    double tangent = length(d, y), along = y[0] + mu * tangent;
    if (y[0] >= 0 && tangent <= mu * y[0]) {
        keep(d, y, phi, G);
        return y[0] > 0;
    }
    if (!(along > 0))
        return false;
    double row[3] = { 1 / (1 + mu * mu), 0, 0 };
    for (int i = 1; i < d; i++)
        row[i] = mu * y[i] / tangent / (1 + mu * mu);
    slide(d, mu, along / (1 + mu * mu), row, y, phi, G);
    return true;
}

bool cairn_newton_map(int dimension, cairn_law law, double mu, const double *y, double *phi,
                      double *G)
{
    memset(phi, 0, sizeof(double) * (size_t)dimension);
    memset(G, 0, sizeof(double) * (size_t)(dimension * dimension));
    if (mu == 0) { /* the cone is a ray: tangents play no part */
        if (!(y[0] > 0))
            return false;
        phi[0] = y[0];
        G[0] = 1;
        return true;
    }
    return law == CAIRN_LAW_COULOMB ? alart_curnier(dimension, mu, y, phi, G)
                                    : natural(dimension, mu, y, phi, G);
}
