/* meetings.h - two convex shapes placed by hand; and a body and a wall at random poses: their contacts
 * as a world has them, and their shapes by definition alone. */
#ifndef CAIRN_TESTS_MEETINGS_H
#define CAIRN_TESTS_MEETINGS_H

#include <stdlib.h>

#include "collide/collide.h"
#include "collide/convex.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/random_shapes.h"
#include "world/touch.h"

/* ==== two convex shapes placed by hand ========================================================= */

#define CHECK_VEC(found, ex, ey, ez, tolerance)                                                    \
    do {                                                                                           \
        cairn_vec3 vec_ = (found);                                                                 \
        CHECK_NEAR(vec_.x, ex, tolerance);                                                         \
        CHECK_NEAR(vec_.y, ey, tolerance);                                                         \
        CHECK_NEAR(vec_.z, ez, tolerance);                                                         \
    } while (0)

typedef struct placed {
    cairn_shape shape[2];
    cairn_collider at[2];
    cairn_convex convex[2];
    cairn_couple couple;
} placed;

static inline cairn_collider upright(const cairn_shape *shape, double x, double y, double z)
{
    return (cairn_collider){ .shape = shape,
                             .x = { x, y, z },
                             .q = { 1, 0, 0, 0 },
                             .extent = cairn_shape_extent(shape),
                             .movable = true };
}

/* Make the couple once shapes and poses are there. */
static inline void couple_up(placed *p, int dimension)
{
    for (int k = 0; k < 2; k++)
        CHECK(cairn_convex_make(&p->at[k], &p->convex[k]));
    p->couple = cairn_couple_make(&p->convex[0], &p->convex[1], dimension);
}

/* Shape a at (x, y, z), shape b at the origin, neither turned. */
static inline void put(placed *p, int dimension, double x, double y, double z)
{
    p->at[0] = upright(&p->shape[0], x, y, z);
    p->at[1] = upright(&p->shape[1], 0, 0, 0);
    couple_up(p, dimension);
}

static inline cairn_shape box_of(double x, double y, double z)
{
    return (cairn_shape){ .kind = CAIRN_SHAPE_BOX, .size = { x, y, z } };
}

/* ==== shapes in space by their definitions alone: how far they reach along a direction,
 * how far a point is from their surface. Shares nothing with src/collide and nothing with the
 * support maps of src/shape: the oracle of the random tests of containers and of faces. */

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

/* ==== a body and a wall at random poses, and their contacts as a world has them:
 * pieces, narrow phase, merged. For the random tests of containers and of faces, which compare them
 * with brute_force.h. CAIRN_RANDOM_POSES sets how many poses of each pair of kinds are tried; without
 * it the sanitizers see a third of the usual number. */

enum { MEETING_CONTACTS = 2048 };

/* A contact, body first: `on_a` is on the body, the normal from the wall to the body. */
typedef struct meeting {
    int dimension;
    cairn_shape body, wall;
    cairn_world *world; /* lends its arena to the merging                        */
    cairn_collider a, b;
    double margin; /* m: contacts with larger gaps are not asked for             */
    double size;   /* m: of the body                                             */
    brute_body *brute;
    cairn_witness contact[MEETING_CONTACTS];
    int count;
    bool resolved; /* false: the distance was not found                          */
} meeting;

static inline int poses_of_a_pair(int usual)
{
    const char *text = getenv("CAIRN_RANDOM_POSES");
    return text ? atoi(text) : CHECKED ? usual / 3 : usual;
}

/* ---- shapes with geometry ------------------------------------------------------------------- */

/* A closed surface about the origin: an octahedron, its triangles split in four, corners at random
 * distances between `low` and `high`. */
static inline const cairn_geometry *draw_star(uint64_t *state, double low, double high)
{
    static const cairn_vec3 tips[6] = { { 1, 0, 0 },  { 0, 1, 0 },  { 0, 0, 1 },
                                        { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } };
    /* 0-5 tips, then the middles of the 12 edges between tips i and j that are not opposite */
    cairn_vec3 v[18];
    int middle[6][6], count = 6;
    int32_t triangles[32 * 3];
    for (int i = 0; i < 6; i++)
        v[i] = tips[i];
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++)
            if (j != i + 3) {
                middle[i][j] = middle[j][i] = count;
                v[count++] = cairn_unit(cairn_add(tips[i], tips[j]));
            }
    int corners = 0;
    for (int k = 0; k < 8; k++) {
        int x = k & 1 ? 3 : 0, y = k & 2 ? 4 : 1, z = k & 4 ? 5 : 2;
        bool turned = ((k & 1) + (k >> 1 & 1) + (k >> 2 & 1)) % 2;
        const int t[3] = { x, turned ? z : y, turned ? y : z };
        const int m[3] = { middle[t[0]][t[1]], middle[t[1]][t[2]], middle[t[2]][t[0]] };
        const int four[12] = { t[0], m[0], m[2], t[1], m[1], m[0],
                               t[2], m[2], m[1], m[0], m[1], m[2] };
        for (int i = 0; i < 12; i++)
            triangles[corners++] = four[i];
    }
    for (int i = 0; i < count; i++)
        v[i] = cairn_scale(draw(state, low, high), v[i]);
    const cairn_mesh_def def = { v, count, triangles, corners / 3 };
    const cairn_geometry *mesh = NULL;
    CHECK_OK(cairn_mesh_create(&def, &mesh, NULL));
    return mesh;
}

/* A polygon about the origin of nine corners; `sense` -1: clockwise, a container. */
static inline const cairn_geometry *draw_ring(uint64_t *state, double low, double high, int sense)
{
    cairn_vec3 v[9];
    for (int k = 0; k < 9; k++) {
        double angle = sense * (k + draw(state, -0.3, 0.3)) * 2 * M_PI / 9;
        v[k] = cairn_scale(draw(state, low, high), cairn_vec(cos(angle), sin(angle), 0));
    }
    const cairn_geometry *line = NULL;
    CHECK_OK(cairn_polyline_create(v, 9, true, &line, NULL));
    return line;
}

/* Three convex parts of any kind. */
static inline const cairn_geometry *draw_compound(uint64_t *state, int dimension)
{
    cairn_part parts[3] = { 0 };
    const cairn_geometry *compound = NULL;
    for (int k = 0; k < 3; k++) {
        cairn_shape_kind kind = dimension == 2
                                    ? convex_kinds_2d[cairn_random_next(state) % KINDS_2D]
                                    : convex_kinds_3d[cairn_random_next(state) % KINDS_3D];
        parts[k].shape = draw_shape(kind, dimension, state);
        parts[k].pose.x = cairn_scale(0.7, draw_unit(state, dimension));
        parts[k].pose.q = draw_turn(state, dimension);
    }
    CHECK_OK(cairn_compound_create(parts, 3, dimension, &compound, NULL));
    for (int k = 0; k < 3; k++)
        cairn_geometry_release(parts[k].shape.geometry);
    return compound;
}

/* A bounded body of any kind. */
static inline cairn_shape draw_body(cairn_shape_kind kind, int dimension, uint64_t *state)
{
    cairn_shape s = draw_shape(kind, dimension, state);
    if (kind == CAIRN_SHAPE_MESH)
        s.geometry = draw_star(state, 0.4, 0.9);
    if (kind == CAIRN_SHAPE_POLYLINE)
        s.geometry = draw_ring(state, 0.4, 0.9, 1);
    if (kind == CAIRN_SHAPE_COMPOUND)
        s.geometry = draw_compound(state, dimension);
    return s;
}

static const cairn_shape_kind body_kinds_3d[] = {
    CAIRN_SHAPE_SPHERE,     CAIRN_SHAPE_POINT, CAIRN_SHAPE_BOX,       CAIRN_SHAPE_CAPSULE,
    CAIRN_SHAPE_CYLINDER,   CAIRN_SHAPE_CONE,  CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_SUPERELLIPSOID,
    CAIRN_SHAPE_POLYHEDRON, CAIRN_SHAPE_MESH,  CAIRN_SHAPE_COMPOUND,
};
static const cairn_shape_kind body_kinds_2d[] = {
    CAIRN_SHAPE_SPHERE,     CAIRN_SHAPE_POINT,     CAIRN_SHAPE_BOX,
    CAIRN_SHAPE_CAPSULE,    CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_SUPERELLIPSOID,
    CAIRN_SHAPE_POLYHEDRON, CAIRN_SHAPE_POLYLINE,  CAIRN_SHAPE_COMPOUND,
};

enum { BODIES_3D = 11, BODIES_2D = 9 };

/* ---- contacts ------------------------------------------------------------------------------- */

/* A world with both shapes, for their patches and for scratch. */
static inline void meeting_open(meeting *m)
{
    static brute_body brute;
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    def.dimension = m->dimension;
    CHECK_OK(cairn_world_create(&def, &m->world));
    CHECK_OK(cairn_material_create(m->world, &material, NULL));
    const cairn_shape shapes[2] = { m->body, m->wall };
    for (int k = 0; k < 2; k++) {
        cairn_body_def body = cairn_body_def_default();
        body.motion = CAIRN_MOTION_FIXED;
        body.shape = shapes[k];
        CHECK_OK(cairn_body_create(m->world, &body, NULL));
    }
    m->brute = &brute;
    m->size = cairn_shape_extent(&m->body);
}

static inline void meeting_close(meeting *m)
{
    cairn_world_destroy(m->world);
}

static inline void meeting_add(meeting *m, const cairn_witness *w, bool swapped)
{
    CHECK(m->count < MEETING_CONTACTS);
    cairn_witness c = *w;
    if (swapped) {
        c.on_a = w->on_b;
        c.on_b = w->on_a;
        c.normal = cairn_scale(-1, w->normal);
    }
    m->contact[m->count++] = c;
}

/* The witnesses of all leaves, merged where one of the two has faces. */
static inline void meeting_gather(meeting *m, const cairn_leaf_list *list, size_t *first,
                                  int8_t *number, bool *swapped, cairn_witness *found)
{
    const cairn_pair pair = { 0, 1 };
    cairn_touches t = { .pairs = &pair,
                        .leaves = list->items,
                        .count = list->count,
                        .first = first,
                        .number = number,
                        .swapped = swapped,
                        .found = found };
    bool faces = false;
    for (size_t k = 0; k < list->count; k++)
        faces |= cairn_leaf_has_face(&list->items[k]);
    for (size_t k = 0; k < list->count && !faces; k++)
        for (int i = 0; i < number[k]; i++)
            meeting_add(m, &found[first[k] + (size_t)i], swapped[k]);
    if (!faces)
        return;
    cairn_touch *merged;
    size_t count;
    cairn_arena_reset(&m->world->scratch);
    CHECK_OK(cairn_touches_merge(m->world, &t, 0, list->count, &merged, &count));
    for (size_t k = 0; k < count; k++)
        meeting_add(m, merged[k].found, swapped[merged[k].leaf]);
}

/* Find the contacts of a at its pose with b, and make the brute-force body. */
static inline void meeting_find(meeting *m)
{
    enum { LEAVES = 4096 };
    static size_t first[LEAVES];
    static int8_t number[LEAVES];
    static bool swapped[LEAVES];
    static cairn_witness found[LEAVES * 4];
    static cairn_leaf_list list;
    m->a.shape = &m->body;
    m->b.shape = &m->wall;
    cairn_collider_place(&m->a, (cairn_pose){ m->a.x, m->a.q });
    cairn_collider_place(&m->b, (cairn_pose){ m->b.x, m->b.q });
    m->a.movable = true;
    m->a.reach = m->margin;
    m->count = 0;
    m->resolved = true;
    list.count = 0;
    brute_make(&m->a, m->dimension, m->brute);
    CHECK_OK(cairn_leaves_add(&m->a, &m->b, 0, &list));
    size_t total = 0;
    for (size_t k = 0; k < list.count; k++) {
        cairn_collider one, two;
        CHECK(k < LEAVES && total + CAIRN_WITNESSES <= LEAVES * 4);
        int count = cairn_witnesses_find(cairn_collider_piece(&m->a, list.items[k].first, &one),
                                         cairn_collider_piece(&m->b, list.items[k].second, &two),
                                         m->dimension, &swapped[k], found + total);
        m->resolved &= count >= 0;
        first[k] = total;
        number[k] = (int8_t)(count > 0 ? count : 0);
        total += (size_t)number[k];
    }
    meeting_gather(m, &list, first, number, swapped, found);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

/* What was wrong with the poses of one pair of kinds. */
typedef struct verdicts {
    long poses, contacts, wrong;
} verdicts;

static inline const char *kind_name(const cairn_shape *s)
{
    return cairn_shape_record((int)s->kind)->name;
}

/* A fact about one pose: the first that does not hold is printed, all are counted. */
static inline bool meeting_fact(const meeting *m, verdicts *v, bool holds, const char *what,
                                double found, double expected)
{
    if (holds)
        return true;
    if (v->wrong++ < 3)
        print_message("%dD %s - %s, pose %ld: %s: found %.12g, expected %.12g\n", m->dimension,
                      kind_name(&m->body), kind_name(&m->wall), v->poses, what, found, expected);
    return false;
}

/* gap = (a - b).n = +-|a - b|, the normal is a unit vector, a is on the body. */
static inline bool meeting_points(const meeting *m, verdicts *v, double tolerance)
{
    tolerance += 1e-13; /* m: rounding of places some metres from the origin */
    bool good = meeting_fact(m, v, m->resolved, "the distance is found", 0, 1);
    for (int k = 0; k < m->count && good; k++) {
        const cairn_witness *w = &m->contact[k];
        cairn_vec3 apart = cairn_sub(w->on_a, w->on_b);
        double off = cairn_norm(cairn_add_scaled(apart, -w->gap, w->normal));
        good = meeting_fact(m, v, off <= 1e-12 * (m->size + cairn_norm(w->on_a)), "a - b - gap n",
                            off, 0) &&
               meeting_fact(m, v, fabs(cairn_norm(w->normal) - 1) <= 1e-12, "length of the normal",
                            cairn_norm(w->normal), 1) &&
               meeting_fact(m, v, w->gap <= m->margin * (1 + 1e-12), "gap within the margin",
                            w->gap, m->margin);
        if (good) {
            off = brute_off_surface(m->brute, w->on_a);
            good = meeting_fact(m, v, off <= tolerance, "a is off the body", off, 0);
        }
    }
    v->contacts += m->count;
    return good;
}

#endif
