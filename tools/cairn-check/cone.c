/* cone.c - friction cones: projections, the natural map, and the conditions of the law. */
#include <math.h>

#include "law.h"

double cone_dot(int d, const double *a, const double *b)
{
    double sum = a[0] * b[0];
    for (int i = 1; i < d; i++)
        sum += a[i] * b[i];
    return sum;
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
static void ray(const double *p, const double *r, double *out)
{
    double s = fmax(0, cone_dot(3, p, r) / cone_dot(3, p, p));
    for (int i = 0; i < 3; i++)
        out[i] = s * p[i];
}

/* Nearest point of the plane through two edges, when it lies between them; else the apex. */
static void face(const double *a, const double *b, const double *r, double *out)
{
    double aa = cone_dot(3, a, a), ab = cone_dot(3, a, b), bb = cone_dot(3, b, b),
           all = aa * bb - ab * ab;
    double ra = cone_dot(3, r, a), rb = cone_dot(3, r, b);
    double s = (ra * bb - rb * ab) / all, t = (rb * aa - ra * ab) / all;
    bool between = s >= 0 && t >= 0;
    for (int i = 0; i < 3; i++)
        out[i] = between ? s * a[i] + t * b[i] : 0;
}

/* |r - x|^2 = |r|^2 - |x|^2 for the nearest points x of rays and planes. Where r is much longer
 * than x, rounding of the left side hides which x is nearest; then it is the longest. */
static bool is_nearer(const double *r, const double *x, const double *known)
{
    double far[2] = { 0, 0 }, length[2] = { cone_dot(3, x, x), cone_dot(3, known, known) };
    for (int i = 0; i < 3; i++) {
        far[0] += (r[i] - x[i]) * (r[i] - x[i]);
        far[1] += (r[i] - known[i]) * (r[i] - known[i]);
    }
    bool by_distance = fmax(far[0], far[1]) < fmin(length[0], length[1]);
    return by_distance ? far[0] < far[1] : length[0] > length[1];
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
    double near[3], a[3], b[3];
    for (int i = 0; i < 3; i++)
        out[i] = inside_edges(k, r) ? r[i] : 0;
    if (inside_edges(k, r))
        return;
    for (int i = 0; i < 2 * k->edges; i++) {
        edge_of(k, i / 2, a);
        edge_of(k, i / 2 + 1, b);
        if (i % 2)
            face(a, b, r, near);
        else
            ray(a, r, near);
        bool nearer = is_nearer(r, near, out);
        for (int c = 0; c < 3 && nearer; c++)
            out[c] = near[c];
    }
}

/* ---- rolling and spinning ------------------------------------------------------------------- */

/* A part of the cone: `count` components from `first` on, no longer than mu r_N. */
typedef struct part {
    int first, count;
    double mu;
} part;

static int parts_of(const cone *k, part out[3])
{
    int count = 1, first = k->d;
    out[0] = (part){ 1, k->d - 1, k->mu };
    if (k->rolling)
        out[count++] = (part){ first, k->rolling, k->mu_rolling };
    if (k->spinning)
        out[count++] = (part){ first + k->rolling, 1, k->mu_spinning };
    return count;
}

static double length_of(const part *p, const double *a)
{
    return p->count == 2 ? hypot(a[p->first], a[p->first + 1]) : fabs(a[p->first]);
}

/* The nearest point has the normal part x that solves x - r_N = sum mu max(0, |r_part| - mu x):
 * Newton's method from below, where the right side is steepest, ends after a step for each part. */
static void project_parts(const cone *k, const double *r, double *out)
{
    part parts[3];
    int count = parts_of(k, parts);
    double x = fmax(0, r[0]);
    for (int turn = 0; turn <= count; turn++) {
        double value = x - r[0], slope = 1;
        for (int i = 0; i < count; i++) {
            double over = length_of(&parts[i], r) - parts[i].mu * x;
            value -= over > 0 ? parts[i].mu * over : 0;
            slope += over > 0 ? parts[i].mu * parts[i].mu : 0;
        }
        x = fmax(0, x - value / slope);
    }
    out[0] = x;
    for (int i = 0; i < count; i++) {
        double length = length_of(&parts[i], r), most = parts[i].mu * x;
        for (int c = parts[i].first; c < parts[i].first + parts[i].count; c++)
            out[c] = length > most ? most / length * r[c] : r[c];
    }
}

double cone_turning(const cone *k, const double *u)
{
    part parts[3];
    double sum = 0;
    for (int i = 1, count = parts_of(k, parts); i < count; i++)
        sum += parts[i].mu * length_of(&parts[i], u);
    return sum;
}

double cone_against(const cone *k, const double *r, const double *u)
{
    part parts[3];
    double largest = 0;
    for (int i = 1, count = parts_of(k, parts); i < count; i++) {
        double sum = length_of(&parts[i], r) * length_of(&parts[i], u);
        for (int c = parts[i].first; c < parts[i].first + parts[i].count; c++)
            sum += r[c] * u[c];
        largest = fmax(largest, sum);
    }
    return largest;
}

/* ---- all kinds ------------------------------------------------------------------------------ */

/* The disk of friction at the least normal impulse. */
static void project_disk(const cone *k, const double *r, double *out)
{
    double t = cone_tangent(k->d, r), bound = k->mu * k->least;
    out[0] = k->least;
    for (int i = 1; i < k->d; i++)
        out[i] = t > bound ? bound / t * r[i] : r[i];
}

static void project(const cone *k, const double *r, double *out)
{
    if (k->rolling + k->spinning > 0)
        project_parts(k, r, out);
    else if (k->edges > 0 && k->mu > 0)
        project_edges(k, r, out);
    else
        project_circle(k, r, out);
    if (out[0] < k->least)
        project_disk(k, r, out);
}

double cone_natural_map(const cone *k, const double *r, const double *u, double scale)
{
    double moved[CONE_COMPONENTS], nearest[CONE_COMPONENTS], sum = 0;
    int n = cone_components(k);
    for (int i = 0; i < n; i++)
        moved[i] = r[i] - scale * u[i];
    project(k, moved, nearest);
    for (int i = 0; i < n; i++)
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

/* ---- conditions ----------------------------------------------------------------------------- */

/* Distance between x and the segment from a to b; `near` becomes the nearest point of it. */
static double segment(const double *a, const double *b, const double *x, double *near)
{
    double along[2] = { b[0] - a[0], b[1] - a[1] };
    double length2 = along[0] * along[0] + along[1] * along[1];
    double s = ((x[0] - a[0]) * along[0] + (x[1] - a[1]) * along[1]) / length2;
    s = length2 > 0 ? fmin(1, fmax(0, s)) : 0;
    near[0] = a[0] + s * along[0];
    near[1] = a[1] + s * along[1];
    return hypot(x[0] - near[0], x[1] - near[1]);
}

/* The nearest point to x of the polygon with corners at `bound`, side by side. */
static void into_polygon(int edges, double bound, const double *x, double *out)
{
    double best = HUGE_VAL;
    bool inside = true;
    for (int i = 0; i < edges; i++) {
        double from = 2 * M_PI * i / edges, to = 2 * M_PI * (i + 1) / edges;
        double a[2] = { bound * cos(from), bound * sin(from) }, near[2];
        double b[2] = { bound * cos(to), bound * sin(to) };
        double far = segment(a, b, x, near);
        double left = (b[0] - a[0]) * (x[1] - a[1]) - (b[1] - a[1]) * (x[0] - a[0]);
        inside = inside && left >= 0 && bound > 0;
        if (far < best) {
            best = far;
            out[0] = near[0];
            out[1] = near[1];
        }
    }
    for (int i = 0; i < 2 && inside; i++)
        out[i] = x[i];
}

/* Squared distance of w r from the nearest impulse to w r - u that the bound of a part allows. */
static double slip2(const part *p, int edges, const double *r, const double *u, double w,
                    double bound)
{
    double x[2] = { 0, 0 }, near[2], sum = 0;
    for (int i = 0; i < p->count; i++)
        x[i] = w * r[p->first + i] - u[p->first + i];
    double length = hypot(x[0], x[1]);
    for (int i = 0; i < 2; i++)
        near[i] = length > bound ? bound / length * x[i] : x[i];
    if (edges > 0)
        into_polygon(edges, bound, x, near);
    for (int i = 0; i < p->count; i++)
        sum += (w * r[p->first + i] - near[i]) * (w * r[p->first + i] - near[i]);
    return sum;
}

double cone_conditions(const cone *k, const double *r, const double *u, double lift, double w)
{
    part parts[3];
    double slide = k->mu * cone_sliding(k, u) + cone_turning(k, u), friction2 = 0;
    double push = w * (r[0] - k->least), opening = u[0] - slide, speed = u[0] - lift;
    double pull = -push, approach = -fmax(opening, speed), both = fmin(push, opening);
    for (int i = 0, count = parts_of(k, parts); i < count; i++)
        friction2 += slip2(&parts[i], i == 0 ? k->edges : 0, r, u, w,
                           w * parts[i].mu * fmax(r[0], k->least));
    double normal = fmax(fmax(pull, approach), fmax(both, 0));
    return fmax(normal, sqrt(friction2));
}
