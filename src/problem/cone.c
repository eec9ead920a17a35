/* cone.c - projections on friction cones: circular, K = {|r_T| <= mu r_N}, and with edges. */
#include <math.h>

#include "cairn/problem.h"

void cairn_cone_project(int dimension, double mu, double *r)
{
    double tangent = dimension == 3 ? sqrt(r[1] * r[1] + r[2] * r[2]) : fabs(r[1]);
    if (r[0] >= 0 && tangent <= mu * r[0])
        return;
    /* in the polar cone: to the apex; else to the nearest point of the generator through r_T */
    double along = r[0] + mu * tangent;
    double normal = along > 0 ? along / (1 + mu * mu) : 0;
    double scale = tangent > 0 ? mu * normal / tangent : 0;
    r[0] = normal;
    for (int i = 1; i < dimension; i++)
        r[i] *= scale;
}

/* ---- cones with edges ----------------------------------------------------------------------- */

static void edge_of(int directions, double mu, int k, double *a)
{
    double angle = 2 * M_PI * k / directions;
    a[0] = 1;
    a[1] = mu * cos(angle);
    a[2] = mu * sin(angle);
}

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The point of the face between edges a and b nearest to r. In the face c = (a + b)/2 and
 * t = (b - a)/2 are at right angles, and the face is {x c + y t, |y| <= x}. */
static void nearest_on_face(const double *a, const double *b, const double *r, double *out)
{
    double c[3], t[3];
    for (int i = 0; i < 3; i++) {
        c[i] = 0.5 * (a[i] + b[i]);
        t[i] = 0.5 * (b[i] - a[i]);
    }
    double x = dot3(c, r) / dot3(c, c), y = dot3(t, r) / dot3(t, t);
    if (!(fabs(y) <= x)) { /* on the edge of that side, or at the apex */
        const double *edge = y < 0 ? a : b;
        x = fmax(0, dot3(edge, r) / dot3(edge, edge));
        y = y < 0 ? -x : x;
    }
    for (int i = 0; i < 3; i++)
        out[i] = x * c[i] + y * t[i];
}

/* r lies inside when it is inside of all faces: r_N mu cos(pi/m) >= r_T.e, e to a face's middle. */
static bool inside_polygon(int directions, double mu, const double *r)
{
    double support = -HUGE_VAL, apothem = cos(M_PI / directions);
    for (int k = 0; k < directions; k++) {
        double angle = 2 * M_PI * (k + 0.5) / directions;
        support = fmax(support, cos(angle) * r[1] + sin(angle) * r[2]);
    }
    return r[0] >= 0 && support <= mu * apothem * r[0];
}

void cairn_cone_project_polygon(int directions, double mu, double *r)
{
    double best[3] = { 0, 0, 0 }, least = dot3(r, r);
    if (mu == 0) {
        cairn_cone_project(3, 0, r);
        return;
    }
    if (inside_polygon(directions, mu, r))
        return;
    for (int k = 0; k < directions; k++) {
        double a[3], b[3], near[3], away[3];
        edge_of(directions, mu, k, a);
        edge_of(directions, mu, k + 1, b);
        nearest_on_face(a, b, r, near);
        for (int i = 0; i < 3; i++)
            away[i] = near[i] - r[i];
        if (dot3(away, away) < least) {
            least = dot3(away, away);
            for (int i = 0; i < 3; i++)
                best[i] = near[i];
        }
    }
    for (int i = 0; i < 3; i++)
        r[i] = best[i];
}

double cairn_sliding_speed(int dimension, int directions, const double *u)
{
    if (dimension == 2)
        return fabs(u[1]);
    if (directions == 0)
        return sqrt(u[1] * u[1] + u[2] * u[2]);
    double largest = 0;
    for (int k = 0; k < directions; k++) {
        double angle = 2 * M_PI * k / directions;
        largest = fmax(largest, cos(angle) * u[1] + sin(angle) * u[2]);
    }
    return largest;
}
