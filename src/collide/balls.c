/* balls.c - closed forms: balls (a point has radius 0) against shapes whose distance to a point is
 * known, and two capsules. */
#include "collide/convex.h"
#include "collide/narrow.h"
#include "math/vec.h"

/* ---- balls ------------------------------------------------------------------------------- */

/* Balls (a point has radius 0) against shapes whose distance to a point is closed form.
 *
 *   ball        n = d/|d|, gap = |d| - R_a - R_b
 *   half-space  gap = d.n - R
 *   box         outside: from the nearest point of the (smaller, when rounded) box;
 *               inside: through the nearest face
 *   capsule     from the nearest point of its segment */

double cairn_ball_radius(const cairn_collider *c)
{
    return c->shape->kind == CAIRN_SHAPE_SPHERE ? c->shape->radius : 0;
}

cairn_witness cairn_ball_witness(const cairn_collider *a, cairn_vec3 normal, double distance,
                                 int feature)
{
    cairn_witness found = cairn_point_witness(a->x, cairn_ball_radius(a), normal, distance);
    found.feature = feature;
    return found;
}

static cairn_zone zone_of_ball(const cairn_collider *c)
{
    return (cairn_zone){ .centre = c->x, .radius = cairn_ball_radius(c) };
}

int cairn_ball_ball(const cairn_collider *a, const cairn_collider *b, int dimension, double margin,
                    cairn_witness *out)
{
    const cairn_zone one = zone_of_ball(a), two = zone_of_ball(b);
    out[0] = cairn_balls_witness(&one, &two, dimension);
    return out[0].gap <= margin;
}

int cairn_ball_half_space(const cairn_collider *a, const cairn_collider *b, int dimension,
                          double margin, cairn_witness *out)
{
    (void)dimension;
    cairn_vec3 axis = b->shape->axis;
    const cairn_zone ball = zone_of_ball(a);
    const cairn_zone plane = { .centre = b->x,
                               .half =
                                   cairn_rotate(b->q, cairn_scale(1 / cairn_norm(axis), axis)) };
    out[0] = cairn_plane_witness(&ball, &plane);
    return out[0].gap <= margin;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

int cairn_ball_box(const cairn_collider *a, const cairn_collider *b, int dimension, double margin,
                   cairn_witness *out)
{
    const cairn_shape *box = b->shape;
    double r = box->rounding;
    cairn_vec3 half = { 0.5 * box->size.x - r, 0.5 * box->size.y - r,
                        dimension == 3 ? 0.5 * box->size.z - r : 0 };
    cairn_vec3 p = cairn_rotate_back(b->q, cairn_sub(a->x, b->x));
    cairn_vec3 n;
    double distance = cairn_box_distance(p, half, dimension, &n);
    out[0] = cairn_ball_witness(a, cairn_rotate(b->q, n), distance - r, 0);
    return out[0].gap <= margin;
}

/* ---- capsules ------------------------------------------------------------------------------- */

int cairn_ball_capsule(const cairn_collider *a, const cairn_collider *b, int dimension,
                       double margin, cairn_witness *out)
{
    cairn_vec3 axis = cairn_rotate(b->q, cairn_unit(b->shape->axis));
    cairn_vec3 d = cairn_sub(a->x, b->x);
    double t = cairn_clamped(cairn_dot(d, axis), 0.5 * b->shape->length);
    cairn_vec3 side = dimension == 2 ? cairn_vec(-axis.y, axis.x, 0) : cairn_perpendicular(axis);
    const cairn_zone ball = zone_of_ball(a);
    out[0] = cairn_centre_witness(&ball, cairn_add_scaled(d, -t, axis), b->shape->radius, side);
    return out[0].gap <= margin;
}

/* ---- capsules ---------------------------------------------------------------------------- */

/* Two capsules: segments swept by balls.
 *
 * The closest points of the segments give the gap and the normal n. Every end of one segment that
 * lies over the other along n is a contact point as well: the line through it along n meets both
 * surfaces, and the gap is measured between them. Capsules side by side therefore have two points,
 * and all points of a pair have the same normal. */

/* A segment { middle + t direction, |t| <= half } relative to the middle of b. */
typedef struct segment {
    cairn_vec3 middle, direction;
    double half, radius;
} segment;

static segment segment_of(const cairn_collider *c, cairn_vec3 origin)
{
    return (segment){ .middle = cairn_sub(c->x, origin),
                      .direction = cairn_rotate(c->q, cairn_unit(c->shape->axis)),
                      .half = 0.5 * c->shape->length,
                      .radius = c->shape->radius };
}

static cairn_vec3 point_at(const segment *s, double t)
{
    return cairn_add_scaled(s->middle, t, s->direction);
}

/* Parameter of the nearest point of the line through s. */
static double project(const segment *s, cairn_vec3 p)
{
    return cairn_dot(cairn_sub(p, s->middle), s->direction);
}

/* The parameters of the closest points: on the lines, then clamped one after the other. */
static void closest(const segment *a, const segment *b, double *s, double *t)
{
    cairn_vec3 d = cairn_sub(a->middle, b->middle);
    double c = cairn_dot(a->direction, b->direction), sine = 1 - c * c;
    double da = cairn_dot(d, a->direction), db = cairn_dot(d, b->direction);
    *s = sine > 1e-12 ? cairn_clamped((c * db - da) / sine, a->half) : 0;
    *t = cairn_clamped(project(b, point_at(a, *s)), b->half);
    *s = cairn_clamped(project(a, point_at(b, *t)), a->half);
    *t = cairn_clamped(project(b, point_at(a, *s)), b->half);
}

/* The witness of points s and t; false when they coincide. */
static bool pair_at(const segment *a, const segment *b, double s, double t, cairn_witness *out)
{
    cairn_vec3 p = point_at(a, s), q = point_at(b, t), d = cairn_sub(p, q);
    double distance = cairn_norm(d);
    out->normal = cairn_scale(1 / distance, d);
    out->gap = distance - a->radius - b->radius;
    out->on_a = cairn_add_scaled(p, -a->radius, out->normal);
    out->on_b = cairn_add_scaled(q, b->radius, out->normal);
    return distance > 1e-9 * (a->half + b->half);
}

/* How far the line from p along the unit vector n runs until it enters the round side of a capsule:
 * with w and v the parts of p - middle and n across its axis, the smaller root of
 * |w + x v|^2 = r^2. False: it enters an end, or passes more than half the radius beside the axis,
 * where the surface is steep. */
static bool distance_to_side(const segment *to, cairn_vec3 p, cairn_vec3 n, double *x)
{
    cairn_vec3 d = cairn_sub(p, to->middle), e = to->direction;
    double along = cairn_dot(d, e), slant = cairn_dot(n, e);
    cairn_vec3 w = cairn_add_scaled(d, -along, e), v = cairn_add_scaled(n, -slant, e);
    double vv = cairn_dot(v, v), half = cairn_dot(w, v), r = to->radius;
    double beside = cairn_dot(w, w) - half * half / vv;
    /* in 2D this offset is only rounding, also for segments with r = 0 */
    if (!(vv > 0.5 && beside <= 0.25 * r * r + 1e-24 * cairn_dot(d, d)))
        return false;
    *x = (-half - sqrt(fmax(0, vv * (r * r - beside)))) / vv;
    return fabs(along + *x * slant) <= to->half;
}

/* The ends of segment a that lie over b along the normal of `nearest`; `flip`: a and b are
 * swapped. */
static int add_ends(const segment *a, const segment *b, const cairn_witness *nearest, bool flip,
                    cairn_witness *out)
{
    int found = 0;
    cairn_vec3 n = nearest->normal, ahead = cairn_scale(flip ? 1 : -1, n);
    for (int k = -1; k <= 1; k += 2) {
        double x;
        cairn_vec3 end = point_at(a, k * a->half);
        if (!distance_to_side(b, end, ahead, &x))
            continue;
        cairn_vec3 here = cairn_add_scaled(end, a->radius, ahead);
        cairn_vec3 there = cairn_add_scaled(end, x, ahead);
        out[found++] = (cairn_witness){ .on_a = flip ? there : here,
                                        .on_b = flip ? here : there,
                                        .normal = n,
                                        .gap = x - a->radius,
                                        .feature = (flip ? 3 : 1) + (k > 0) };
    }
    return found;
}

/* Drop witnesses beyond the margin and duplicates; convert the rest to world coordinates. */
static int tidy(cairn_witness *points, int count, double margin, cairn_vec3 origin, double size)
{
    int kept = 0;
    for (int k = 0; k < count; k++) {
        bool twice = false;
        for (int i = 0; i < kept; i++)
            twice |= cairn_norm(cairn_sub(points[i].on_a, points[k].on_a)) <= 1e-9 * size;
        if (!twice && points[k].gap <= margin)
            points[kept++] = points[k];
    }
    for (int k = 0; k < kept; k++) {
        points[k].on_a = cairn_add(points[k].on_a, origin);
        points[k].on_b = cairn_add(points[k].on_b, origin);
    }
    return kept;
}

int cairn_capsule_capsule(const cairn_collider *a, const cairn_collider *b, int dimension,
                          double margin, cairn_witness *out)
{
    segment p = segment_of(a, b->x), q = segment_of(b, b->x);
    cairn_witness points[5], nearest = { .feature = 0 };
    double s, t, least = INFINITY, size = p.half + q.half + p.radius + q.radius;
    closest(&p, &q, &s, &t);
    if (!pair_at(&p, &q, s, t, &nearest))
        return cairn_convex_convex(a, b, dimension, margin, out);
    int count = add_ends(&p, &q, &nearest, false, points);
    count += add_ends(&q, &p, &nearest, true, points + count);
    for (int k = 0; k < count; k++)
        least = fmin(least, points[k].gap);
    if (least > nearest.gap + 1e-9 * size)
        points[count++] = nearest;
    count = tidy(points, count, margin, b->x, size);
    count = cairn_witnesses_reduce(points, count, dimension == 2 ? 2 : 4);
    for (int k = 0; k < count; k++)
        out[k] = points[k];
    return count;
}
