/* cone.c - see cone.h. */
#include "cone.h"

#include <math.h>

double cone_dot(int d, const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + (d == 3 ? a[2] * b[2] : 0);
}

double cone_tangent(int d, const double *a)
{
    return d == 3 ? hypot(a[1], a[2]) : fabs(a[1]);
}

static void project_circle(const cone *k, const double *r, double *out)
{
    double t = cone_tangent(k->d, r), along = (r[0] + k->mu * t) / (1 + k->mu * k->mu);
    bool inside = r[0] >= 0 && t <= k->mu * r[0];
    double normal = along > 0 ? along : 0, shrink = t > 0 ? k->mu * normal / t : 0;
    out[0] = inside ? r[0] : normal;
    for (int i = 1; i < k->d; i++)
        out[i] = inside ? r[i] : shrink * r[i];
}

/* Nearest point of the ray through p. */
static double ray(const double *p, const double *r, double *out)
{
    double s = fmax(0, cone_dot(3, p, r) / cone_dot(3, p, p)), far = 0;
    for (int i = 0; i < 3; i++) {
        out[i] = s * p[i];
        far += (r[i] - out[i]) * (r[i] - out[i]);
    }
    return far;
}

/* Nearest point of the plane through two edges, when it lies between them; else infinitely far. */
static double face(const double *a, const double *b, const double *r, double *out)
{
    double aa = cone_dot(3, a, a), ab = cone_dot(3, a, b), bb = cone_dot(3, b, b),
           all = aa * bb - ab * ab;
    double ra = cone_dot(3, r, a), rb = cone_dot(3, r, b), far = 0;
    double s = (ra * bb - rb * ab) / all, t = (rb * aa - ra * ab) / all;
    if (!(s >= 0 && t >= 0))
        return HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        out[i] = s * a[i] + t * b[i];
        far += (r[i] - out[i]) * (r[i] - out[i]);
    }
    return far;
}

static void edge_of(const cone *k, int i, double *out)
{
    double angle = 2 * M_PI * i / k->edges;
    out[0] = 1;
    out[1] = k->mu * cos(angle);
    out[2] = k->mu * sin(angle);
}

static bool inside_edges(const cone *k, const double *r)
{
    bool inside = r[0] >= 0;
    for (int i = 0; i < k->edges && inside; i++) {
        double angle = 2 * M_PI * (i + 0.5) / k->edges;
        double reach = cos(angle) * r[1] + sin(angle) * r[2];
        inside = reach <= k->mu * cos(M_PI / k->edges) * r[0];
    }
    return inside;
}

/* The nearest of all edges, faces and the apex. */
static void project_edges(const cone *k, const double *r, double *out)
{
    double best = cone_dot(3, r, r), near[3] = { 0, 0, 0 }, a[3], b[3];
    for (int i = 0; i < 3; i++)
        out[i] = inside_edges(k, r) ? r[i] : 0;
    if (inside_edges(k, r))
        return;
    for (int i = 0; i < 2 * k->edges; i++) {
        edge_of(k, i / 2, a);
        edge_of(k, i / 2 + 1, b);
        double far = i % 2 ? face(a, b, r, near) : ray(a, r, near);
        if (far >= best)
            continue;
        best = far;
        for (int c = 0; c < 3; c++)
            out[c] = near[c];
    }
}

/* The disk of friction at the least normal impulse. */
static void project_disk(const cone *k, const double *r, double *out)
{
    double t = cone_tangent(k->d, r), bound = k->mu * k->least;
    out[0] = k->least;
    for (int i = 1; i < k->d; i++)
        out[i] = t > bound ? bound / t * r[i] : r[i];
}

double cone_natural_map(const cone *k, const double *r, const double *u, double scale)
{
    double moved[3] = { 0, 0, 0 }, nearest[3] = { 0, 0, 0 }, sum = 0;
    for (int i = 0; i < k->d; i++)
        moved[i] = r[i] - scale * u[i];
    if (k->edges > 0 && k->mu > 0)
        project_edges(k, moved, nearest);
    else
        project_circle(k, moved, nearest);
    if (nearest[0] < k->least)
        project_disk(k, moved, nearest);
    for (int i = 0; i < k->d; i++)
        sum += (r[i] - nearest[i]) * (r[i] - nearest[i]);
    return sqrt(sum);
}

double cone_sliding(const cone *k, const double *u)
{
    double largest = 0;
    if (k->edges == 0)
        return cone_tangent(k->d, u);
    for (int i = 0; i < k->edges; i++) {
        double angle = 2 * M_PI * i / k->edges;
        largest = fmax(largest, cos(angle) * u[1] + sin(angle) * u[2]);
    }
    return largest;
}
