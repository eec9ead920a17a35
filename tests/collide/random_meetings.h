/* brute_force.h - shapes in space by their definitions alone: how far they reach along a direction,
 * how far a point is from their surface. Shares nothing with src/collide and nothing with the
 * support maps of src/shape: the oracle of the random tests of containers and of faces. */
#ifndef CAIRN_TESTS_BRUTE_FORCE_H
#define CAIRN_TESTS_BRUTE_FORCE_H

#include "collide/collide.h"
#include "math/vec.h"

enum { BRUTE_CORNERS = 64, BRUTE_PIECES = 256 };

/* A convex piece: either the hull of its corners swept by a ball, or curved (`count` 0). */
typedef struct brute_piece {
    const cairn_shape *shape; /* NULL: a face                                          */
    cairn_pose pose;
    cairn_vec3 axis; /* unit: of a cylinder or cone, in space                 */
    cairn_vec3 corner[BRUTE_CORNERS];
    int count;
    double rounding;
} brute_piece;

/* A body as its pieces. */
typedef struct brute_body {
    brute_piece piece[BRUTE_PIECES];
    int count;
    int dimension;
} brute_body;

/* ---- making --------------------------------------------------------------------------------- */

static inline void brute_add_corner(brute_piece *p, cairn_vec3 local)
{
    p->corner[p->count++] = cairn_pose_apply(&p->pose, local);
}

static inline void brute_add_box(brute_piece *p, int dimension)
{
    cairn_vec3 s = p->shape->size;
    double r = p->shape->rounding;
    for (int k = 0; k < (dimension == 2 ? 4 : 8); k++)
        brute_add_corner(p, cairn_vec((k & 1 ? 1 : -1) * (0.5 * s.x - r),
                                      (k & 2 ? 1 : -1) * (0.5 * s.y - r),
                                      dimension == 2 ? 0 : (k & 4 ? 1 : -1) * (0.5 * s.z - r)));
    p->rounding = r;
}

static inline brute_piece brute_convex(const cairn_shape *shape, cairn_pose pose, int dimension)
{
    brute_piece p = { .shape = shape, .pose = pose };
    p.axis = cairn_rotate(pose.q, cairn_unit(shape->axis));
    if (shape->kind == CAIRN_SHAPE_BOX)
        brute_add_box(&p, dimension);
    if (shape->kind == CAIRN_SHAPE_SPHERE || shape->kind == CAIRN_SHAPE_POINT)
        brute_add_corner(&p, cairn_vec(0, 0, 0));
    if (shape->kind == CAIRN_SHAPE_CAPSULE)
        for (int k = -1; k <= 1; k += 2)
            brute_add_corner(&p, cairn_scale(0.5 * k * shape->length, cairn_unit(shape->axis)));
    if (shape->kind == CAIRN_SHAPE_SPHERE || shape->kind == CAIRN_SHAPE_CAPSULE)
        p.rounding = shape->radius;
    if (shape->kind == CAIRN_SHAPE_POLYHEDRON) {
        cairn_geometry_view view = cairn_geometry_look(shape->geometry);
        for (int k = 0; k < view.vertex_count && k < BRUTE_CORNERS; k++)
            brute_add_corner(&p, view.vertices[k]);
        p.rounding = shape->rounding;
    }
    return p;
}

static inline void brute_add(brute_body *b, const cairn_shape *shape, cairn_pose pose)
{
    cairn_geometry_view view = { 0 };
    if (shape->geometry)
        view = cairn_geometry_look(shape->geometry);
    if (shape->kind == CAIRN_SHAPE_COMPOUND) {
        for (int k = 0; k < view.part_count; k++)
            brute_add(b, &view.parts[k].shape, cairn_pose_compose(&pose, &view.parts[k].pose));
        return;
    }
    bool faces = shape->geometry && shape->kind != CAIRN_SHAPE_POLYHEDRON;
    for (int f = 0; faces && f < view.face_count && b->count < BRUTE_PIECES; f++) {
        brute_piece *p = &b->piece[b->count++];
        *p = (brute_piece){ .pose = pose };
        for (int k = view.face_first[f]; k < view.face_first[f + 1]; k++)
            brute_add_corner(p, view.vertices[view.face_vertex[k]]);
    }
    if (!faces && b->count < BRUTE_PIECES)
        b->piece[b->count++] = brute_convex(shape, pose, b->dimension);
}

/* The body of a collider. */
static inline void brute_make(const cairn_collider *c, int dimension, brute_body *out)
{
    out->count = 0;
    out->dimension = dimension;
    brute_add(out, c->shape, (cairn_pose){ c->x, c->q });
}

/* ---- reach ---------------------------------------------------------------------------------- */

/* (x^p + y^p)^(1/p) */
static inline double brute_norm(double x, double y, double p)
{
    double most = fmax(fabs(x), fabs(y));
    if (most == 0)
        return 0;
    return most * pow(pow(fabs(x) / most, p) + pow(fabs(y) / most, p), 1 / p);
}

/* The dual norm of the superellipsoid's; 2 and 2 for an ellipsoid. */
static inline double brute_dual(cairn_vec3 d, cairn_vec3 semi_axes, double n, double k)
{
    double flat = brute_norm(d.x * semi_axes.x, d.y * semi_axes.y, n / (n - 1));
    return brute_norm(flat, d.z * semi_axes.z, k / (k - 1));
}

static inline double brute_exponent_z(const cairn_shape *s)
{
    return s->exponent_z > 0 ? s->exponent_z : s->exponent;
}

/* max over the piece of n.p, n of length 1. */
static inline double brute_reach_of(const brute_piece *p, cairn_vec3 n)
{
    double most = -INFINITY;
    for (int k = 0; k < p->count; k++)
        most = fmax(most, cairn_dot(n, p->corner[k]));
    if (p->count > 0)
        return most + p->rounding;
    const cairn_shape *s = p->shape;
    double centre = cairn_dot(n, p->pose.x), z = cairn_dot(n, p->axis);
    double across = sqrt(fmax(0, 1 - z * z));
    cairn_vec3 local = cairn_rotate_back(p->pose.q, n);
    switch (s->kind) {
    case CAIRN_SHAPE_CYLINDER:
        return centre + 0.5 * s->height * fabs(z) + s->radius * across;
    case CAIRN_SHAPE_CONE:
        return centre + fmax(0.75 * s->height * z, -0.25 * s->height * z + s->radius * across);
    case CAIRN_SHAPE_ELLIPSOID:
        return centre + brute_dual(local, s->semi_axes, 2, 2);
    default:
        return centre + brute_dual(local, s->semi_axes, s->exponent, brute_exponent_z(s));
    }
}

static inline double brute_reach(const brute_body *b, cairn_vec3 n)
{
    double most = -INFINITY;
    for (int k = 0; k < b->count; k++)
        most = fmax(most, brute_reach_of(&b->piece[k], n));
    return most;
}

/* ---- distances of points -------------------------------------------------------------------- */

/* The point of the segment a-b nearest to p. */
static inline cairn_vec3 brute_on_segment(cairn_vec3 a, cairn_vec3 b, cairn_vec3 p)
{
    cairn_vec3 d = cairn_sub(b, a);
    double square = cairn_dot(d, d), t = square > 0 ? cairn_dot(cairn_sub(p, a), d) / square : 0;
    return cairn_add_scaled(a, fmin(fmax(t, 0), 1), d);
}

static inline double brute_apart(cairn_vec3 a, cairn_vec3 b)
{
    return cairn_norm(cairn_sub(a, b));
}

/* The point of a triangle nearest to p: its foot where that is inside, else on an edge. */
static inline cairn_vec3 brute_on_triangle(const cairn_vec3 c[3], cairn_vec3 p)
{
    cairn_vec3 n = cairn_unit(cairn_cross(cairn_sub(c[1], c[0]), cairn_sub(c[2], c[0])));
    cairn_vec3 foot = cairn_add_scaled(p, -cairn_dot(n, cairn_sub(p, c[0])), n), best = c[0];
    bool inside = cairn_dot(n, n) > 0;
    for (int k = 0; k < 3; k++) {
        cairn_vec3 from = c[k], to = c[(k + 1) % 3], near = brute_on_segment(from, to, p);
        inside &= cairn_dot(cairn_cross(cairn_sub(to, from), cairn_sub(foot, from)), n) >= 0;
        best = k == 0 || brute_apart(near, p) < brute_apart(best, p) ? near : best;
    }
    return inside ? foot : best;
}

/* The point of a face (a triangle, 2D: a segment) nearest to p. */
static inline cairn_vec3 brute_on_face(const brute_piece *face, cairn_vec3 p)
{
    return face->count == 2 ? brute_on_segment(face->corner[0], face->corner[1], p)
                            : brute_on_triangle(face->corner, p);
}

/* Signed distance of (u, v) from a convex polygon that runs counterclockwise. */
static inline double brute_from_polygon(const double (*c)[2], int count, double u, double v)
{
    double beyond = -INFINITY, least = INFINITY;
    for (int k = 0; k < count; k++) {
        const double *a = c[k], *b = c[(k + 1) % count];
        double du = b[0] - a[0], dv = b[1] - a[1], length = hypot(du, dv);
        if (length == 0)
            continue;
        beyond = fmax(beyond, (dv * (u - a[0]) - du * (v - a[1])) / length);
        cairn_vec3 near = brute_on_segment(cairn_vec(a[0], a[1], 0), cairn_vec(b[0], b[1], 0),
                                           cairn_vec(u, v, 0));
        least = fmin(least, hypot(near.x - u, near.y - v));
    }
    return beyond <= 0 ? beyond : least;
}

/* Of a cylinder or cone, by its meridian, doubled so that the axis is no side. */
static inline double brute_from_lathe(const cairn_shape *s, double across, double z)
{
    double r = s->radius, h = s->height;
    const double cylinder[4][2] = { { -r, -h / 2 }, { r, -h / 2 }, { r, h / 2 }, { -r, h / 2 } };
    const double cone[3][2] = { { -r, -h / 4 }, { r, -h / 4 }, { 0, 3 * h / 4 } };
    return s->kind == CAIRN_SHAPE_CYLINDER ? brute_from_polygon(cylinder, 4, across, z)
                                           : brute_from_polygon(cone, 3, across, z);
}

/* Along the ray from the centre: 0 on the surface, and of the right sign. */
static inline double brute_from_oval(const cairn_shape *s, cairn_vec3 p)
{
    bool oval = s->kind == CAIRN_SHAPE_ELLIPSOID;
    double n = oval ? 2 : s->exponent, k = oval ? 2 : brute_exponent_z(s);
    cairn_vec3 a = s->semi_axes;
    double norm = brute_norm(brute_norm(p.x / a.x, p.y / a.y, n), a.z > 0 ? p.z / a.z : 0, k);
    return norm > 0 ? cairn_norm(p) * (1 - 1 / norm) : -fmin(a.x, a.y);
}

/* Signed distance from the hull of corners, by the largest of n.p - reach(n) over the normals of all
 * planes through three corners (2D: lines through two) that have all others on one side; exact within
 * it and next to it. */
static inline double brute_from_hull(const brute_piece *p, cairn_vec3 x, int dimension)
{
    double most = -INFINITY;
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < p->count; j++)
            for (int k = dimension == 3 ? 0 : p->count - 1; k < p->count; k++) {
                cairn_vec3 e = cairn_sub(p->corner[j], p->corner[i]);
                cairn_vec3 n = dimension == 2
                                   ? cairn_vec(e.y, -e.x, 0)
                                   : cairn_cross(e, cairn_sub(p->corner[k], p->corner[i]));
                double size = cairn_norm(n);
                if (!(size > 1e-12 * cairn_dot(e, e)))
                    continue;
                n = cairn_scale(1 / size, n);
                double level = cairn_dot(n, p->corner[i]);
                if (brute_reach_of(p, n) - p->rounding <= level + 1e-12 * (1 + fabs(level)))
                    most = fmax(most, cairn_dot(n, x) - level);
            }
    return most;
}

/* How far x is outside (< 0: inside) of a piece. */
static inline double brute_outside(const brute_piece *p, cairn_vec3 x, int dimension)
{
    cairn_vec3 d = cairn_sub(x, p->pose.x);
    double z = cairn_dot(d, p->axis);
    if (!p->shape)
        return brute_apart(brute_on_face(p, x), x);
    if (p->shape->kind == CAIRN_SHAPE_CYLINDER || p->shape->kind == CAIRN_SHAPE_CONE)
        return brute_from_lathe(p->shape, cairn_norm(cairn_add_scaled(d, -z, p->axis)), z);
    if (p->count == 0)
        return brute_from_oval(p->shape, cairn_rotate_back(p->pose.q, d));
    if (p->count == 1)
        return brute_apart(x, p->corner[0]) - p->rounding;
    if (p->count == 2)
        return brute_apart(brute_on_segment(p->corner[0], p->corner[1], x), x) - p->rounding;
    if (p->shape->kind == CAIRN_SHAPE_BOX) {
        cairn_vec3 q = cairn_rotate_back(p->pose.q, d), s = p->shape->size;
        double r = p->rounding, u = fabs(q.x) - 0.5 * s.x + r, v = fabs(q.y) - 0.5 * s.y + r;
        double w = dimension == 3 ? fabs(q.z) - 0.5 * s.z + r : -INFINITY;
        double out = cairn_norm(cairn_vec(fmax(u, 0), fmax(v, 0), fmax(w, 0)));
        return (out > 0 ? out : fmax(u, fmax(v, w))) - r;
    }
    return brute_from_hull(p, x, dimension) - p->rounding;
}

/* How far a point is off the surface of a body: of the piece that fits best. Within a core that is
 * swept by a ball a point may be inside by the ball's radius: the corner of a core is moved along the
 * normal of the contact, wherever the surface is. */
static inline double brute_off_surface(const brute_body *b, cairn_vec3 x)
{
    double least = INFINITY;
    for (int k = 0; k < b->count; k++) {
        double out = brute_outside(&b->piece[k], x, b->dimension);
        double ball = b->piece[k].count > 1 ? b->piece[k].rounding : 0;
        least = fmin(least, fmax(0, fmax(out, -out - ball)));
    }
    return least;
}

#endif
