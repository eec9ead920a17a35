/* cone.c - projections onto friction cones: circular, K = {|r_T| <= mu r_N}, polyhedral (with
 * edges), and with parts for rolling and spinning friction; and onto bounds. */
#include "problem/cone.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

ANYWHERE void cairn_cone_project(int dimension, double mu, double *r)
{
    cairn_circle_project(dimension, mu, r);
}

/* ---- cones with edges ----------------------------------------------------------------------- */

/* Edge k of the polyhedral cone: (1, mu d_k). */
ANYWHERE static void edge_of(int directions, double mu, double k, double *a)
{
    double angle = 2 * M_PI * k / directions;
    a[0] = 1;
    a[1] = mu * cos(angle);
    a[2] = mu * sin(angle);
}

ANYWHERE static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The point of the face between edges a and b nearest to r. In the face c = (a + b)/2 and
 * t = (b - a)/2 are at right angles, and the face is {x c + y t, |y| <= x}. */
ANYWHERE static void nearest_on_face(const double *a, const double *b, const double *r, double *out)
{
    double c[3], t[3];
    for (int i = 0; i < 3; i++) {
        c[i] = 0.5 * (a[i] + b[i]);
        t[i] = 0.5 * (b[i] - a[i]);
    }
    double x = dot3(c, r) / dot3(c, c), y = dot3(t, r) / dot3(t, t);
    if (!(fabs(y) <= x)) { /* on the edge of that side, or at the apex */
        const double *edge = y < 0 ? a : b;
        x = fmax(0.0, dot3(edge, r) / dot3(edge, edge));
        y = y < 0 ? -x : x;
    }
    for (int i = 0; i < 3; i++)
        out[i] = x * c[i] + y * t[i];
}

/* r is inside if it is on the inner side of all faces: r_T.e <= r_N mu cos(pi/m), with e the
 * direction to the middle of a face. */
ANYWHERE static bool inside_polygon(int directions, double mu, const double *r)
{
    double support = -HUGE_VAL, apothem = cos(M_PI / directions);
    for (int k = 0; k < directions; k++) {
        double angle = 2 * M_PI * (k + 0.5) / directions;
        support = fmax(support, cos(angle) * r[1] + sin(angle) * r[2]);
    }
    return r[0] >= 0 && support <= mu * apothem * r[0];
}

/* The cone is its own image in each plane through the axis and an edge, so the nearest point lies
 * in the sector of r. A search for the least distance over all faces could not tell an edge from a
 * point of a face next to it: where they are d apart, distances differ by d^2. */
ANYWHERE void cairn_cone_project_polygon(int directions, double mu, double *r)
{
    double a[3], b[3], near[3];
    if (mu == 0) {
        cairn_cone_project(3, 0, r);
        return;
    }
    if (inside_polygon(directions, mu, r))
        return;
    double sector = floor(atan2(r[2], r[1]) * directions / (2 * M_PI));
    edge_of(directions, mu, sector, a);
    edge_of(directions, mu, sector + 1, b);
    nearest_on_face(a, b, r, near);
    for (int i = 0; i < 3; i++)
        r[i] = near[i];
}

/* The norm dual to the shape of the cone: mu times it is the largest -r_T.u_T/r_N over the cone.
 * For a polygon it is the largest d_k.u_T. */
ANYWHERE double cairn_sliding_speed(int dimension, int directions, const double *u)
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

/* ---- cones of several parts ----------------------------------------------------------------- */

/* The components are in the order N, T, R, S of docs/notation.md. */
ANYWHERE int cairn_cone_parts(const cairn_problem *p, int j, cairn_cone_part *part)
{
    int count = 0, first = 1 + cairn_tangents(p);
    part[count++] = (cairn_cone_part){ 1, first - 1, p->mu[j] };
    if (p->rolling)
        part[count++] =
            (cairn_cone_part){ first, p->rolling, p->mu_rolling ? p->mu_rolling[j] : 0 };
    if (p->spinning)
        part[count++] =
            (cairn_cone_part){ first + p->rolling, 1, p->mu_spinning ? p->mu_spinning[j] : 0 };
    return count;
}

ANYWHERE double cairn_cone_length(const cairn_cone_part *part, const double *r)
{
    double first = r[part->first];
    return part->count == 1 ? fabs(first) : hypot(first, r[part->first + 1]);
}

/* The normal component x of the projection. Parts longer than mu_k x are cut to that length. x >= 0
 * minimises (x - r_N)^2 + sum_k max(0, |r_k| - mu_k x)^2, so that with the sum over the parts cut
 *     x = (r_N + sum mu_k |r_k|)/(1 + sum mu_k^2).
 * Parts are added in descending order of |r_k|/mu_k. x grows with each, until the next part is not
 * longer than mu_k x and stays uncut. */
ANYWHERE static double cut_normal(int parts, const cairn_cone_part *part, const double *length,
                                  double r_N)
{
    double sum = r_N, weight = 1;
    bool cut[CAIRN_CONE_PARTS] = { false };
    for (int taken = 0; taken < parts; taken++) {
        int next = -1;
        for (int k = 0; k < parts; k++) /* the largest |r_k|/mu_k that is not cut yet */
            if (!cut[k] && (next < 0 || length[k] * part[next].mu > length[next] * part[k].mu))
                next = k;
        if (sum > 0 && length[next] * weight <= part[next].mu * sum)
            break;
        cut[next] = true;
        sum += part[next].mu * length[next];
        weight += part[next].mu * part[next].mu;
    }
    return fmax(0.0, sum / weight);
}

ANYWHERE void cairn_cone_project_parts(const cairn_problem *p, int j, double *r)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    double length[CAIRN_CONE_PARTS];
    int parts = cairn_cone_parts(p, j, part);
    for (int k = 0; k < parts; k++)
        length[k] = cairn_cone_length(&part[k], r);
    r[0] = cut_normal(parts, part, length, r[0]);
    for (int k = 0; k < parts; k++) {
        double most = part[k].mu * r[0];
        for (int i = 0; length[k] > most && i < part[k].count; i++)
            r[part[k].first + i] *= most / length[k];
    }
}

ANYWHERE double cairn_contact_sliding(const cairn_problem *p, int j, const double *u)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    if (p->bounded && p->bounded[j])
        return 0;
    double sum = p->mu[j] * cairn_sliding_speed(1 + cairn_tangents(p), p->directions, u);
    if (p->rolling + p->spinning == 0)
        return sum;
    int parts = cairn_cone_parts(p, j, part);
    for (int k = 1; k < parts; k++)
        sum += part[k].mu * cairn_cone_length(&part[k], u);
    return sum;
}

/* ---- the conditions of a contact, measured separately ---------------------------------------- */

/* Projection onto the regular polygon with corners bound d_k, in place. If x is outside, the side
 * of its own sector is the one that it is farthest beyond, and the nearest point lies on that
 * side. */
ANYWHERE static void project_on_polygon(int directions, double bound, double *x)
{
    double sector = floor(atan2(x[1], x[0]) * directions / (2 * M_PI)) + 0.5;
    double angle = 2 * M_PI * sector / directions, apothem = bound * cos(M_PI / directions);
    double out[2] = { cos(angle), sin(angle) }, half = bound * sin(M_PI / directions);
    double height = out[0] * x[0] + out[1] * x[1], along = out[0] * x[1] - out[1] * x[0];
    if (height <= apothem)
        return;
    along = fmax(-half, fmin(half, along));
    x[0] = apothem * out[0] - along * out[1];
    x[1] = apothem * out[1] + along * out[0];
}

/* The same for the disk, or in one dimension the interval, of that radius. */
ANYWHERE static void project_on_disk(int count, double bound, double *x)
{
    double length = count == 1 ? fabs(x[0]) : sqrt(x[0] * x[0] + x[1] * x[1]);
    for (int i = 0; length > bound && i < count; i++)
        x[i] *= bound / length;
}

/* |w r_k - P(w r_k - u_k)|^2 of a part, P the projection onto {|x| <= bound}, bound = w mu r_N. */
ANYWHERE static double part_error2(int edges, const cairn_cone_part *part, double w, double bound,
                                   const double *r, const double *u)
{
    double x[2] = { 0, 0 }, sum = 0;
    for (int i = 0; i < part->count; i++)
        x[i] = w * r[part->first + i] - u[part->first + i];
    if (edges)
        project_on_polygon(edges, bound, x);
    else
        project_on_disk(part->count, bound, x);
    for (int i = 0; i < part->count; i++) {
        double off = w * r[part->first + i] - x[i];
        sum += off * off;
    }
    return sum;
}

/* min(a, b), rounded like a - max(0, a - b), so that it equals the natural map bit by bit. */
ANYWHERE static double least_of(double a, double b)
{
    return a - cairn_larger(0, a - b);
}

ANYWHERE double cairn_contact_conditions2(const cairn_problem *p, int j, double w, double least,
                                          const double *r, const double *u, double lift)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    int parts = cairn_cone_parts(p, j, part);
    double excess = lift - cairn_contact_sliding(p, j, u), friction2 = 0;
    double pushes = w * (r[0] - least), opens = u[0] + excess;
    double both = least_of(pushes, opens), approach = least_of(pushes, cairn_larger(u[0], opens));
    double normal = both > 0 ? both : cairn_smaller(0, approach);
    for (int k = 0; k < parts; k++)
        friction2 += part_error2(k == 0 ? p->directions : 0, &part[k], w,
                                 w * part[k].mu * cairn_larger(r[0], least), r, u);
    return cairn_larger(normal * normal, friction2);
}

/* ---- units ---------------------------------------------------------------------------------- */

/* sqrt(W_NN/mean W_kk), m; 1 if one of them is 0. W[i (i + 3)/2] is a diagonal entry. */
ANYWHERE static double length_of(const cairn_cone_part *part, const double *W)
{
    double sum = 0;
    for (int i = part->first; i < part->first + part->count; i++)
        sum += W[i * (i + 3) / 2];
    return W[0] > 0 && sum > 0 ? sqrt(W[0] * part->count / sum) : 1;
}

ANYWHERE void cairn_contact_scale(const cairn_problem *p, int j, const double *W,
                                  cairn_scaled_contact *out)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    int parts = cairn_cone_parts(p, j, part);
    out->p = (cairn_problem){ .dimension = p->dimension,
                              .rolling = p->rolling,
                              .spinning = p->spinning,
                              .contacts = 1,
                              .s = p->s ? p->s + j : NULL,
                              .mu = out->mu,
                              .mu_rolling = out->mu + 1,
                              .mu_spinning = out->mu + (p->rolling ? 2 : 1) };
    out->length[0] = 1;
    for (int k = 0; k < parts; k++) {
        double length = k ? length_of(&part[k], W) : 1;
        out->mu[k] = part[k].mu / length;
        for (int i = part[k].first; i < part[k].first + part[k].count; i++)
            out->length[i] = length;
    }
}

/* ---- bounds --------------------------------------------------------------------------------- */

/* Comparisons rather than fmin and fmax, which would drop a NaN. */
ANYWHERE void cairn_rows_project(const cairn_problem *p, int j, double *r)
{
    size_t first = (size_t)j * (size_t)p->dimension;
    for (int i = 0; i < p->dimension; i++) /* NaN stays */
        if (r[i] < p->lower[first + (size_t)i])
            r[i] = p->lower[first + (size_t)i];
        else if (r[i] > p->upper[first + (size_t)i])
            r[i] = p->upper[first + (size_t)i];
}

ANYWHERE bool cairn_row_is_free(const cairn_problem *p, int j, int i)
{
    size_t at = (size_t)j * (size_t)p->dimension + (size_t)i;
    return p->lower[at] == -INFINITY && p->upper[at] == INFINITY;
}
