/* polyhedron.c - a convex hull, in 2D a convex polygon, that may be swept by a ball. The points
 * are the core, so the solid is larger than their hull by the rounding.
 *
 * Moments: the divergence theorem over the faces; the parts that the sweep adds are summed piece
 * by piece. */
#include <math.h>

#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

/* ---- what a ball adds to a hull that it sweeps ------------------------------------------- */

/* What a ball of radius r adds, exactly.
 *
 * Outside the hull there are a prism of height r on each face, a wedge of a cylinder along each
 * edge and a sector of a ball at each vertex (2D: a rectangle on each side, a sector of a disk
 * at each vertex). The sector at a vertex is spanned by the spherical polygon O of the normals
 * there. With w its area, t the unit vectors along the edges away from the vertex, and s the
 * integral of the unit normal along the arc over an edge (angle a between the normals n1, n2 of
 * its faces):
 *   w        = 2 pi - sum of the angles of the faces at the vertex       (Gauss-Bonnet)
 *   int_O u   = -1/2 sum a t                    (divergence of the projection of a fixed vector)
 *   int_O u u' = 1/3 (w 1 - sum t s'),  s = 2 sin(a/2) (n1 + n2)/|n1 + n2|
 * All three are sums over face corners and edge ends, so no walk around a vertex is needed. */

/* atan2 is accurate also for small angles, where acos loses half of the digits. */
static double angle_between(cairn_vec3 a, cairn_vec3 b)
{
    return atan2(cairn_norm(cairn_cross(a, b)), cairn_dot(a, b));
}

static void add_at(cairn_moments *sum, const cairn_moments *piece, cairn_vec3 place)
{
    const cairn_pose pose = { place, { 1, 0, 0, 0 } };
    const cairn_moments there = cairn_moments_placed(piece, &pose);
    cairn_moments_add(sum, &there);
}

/* Sector of a disk about the origin between the unit vectors n1 and n2, less than half a turn.
 * With e at right angles to n1: int u u' = (a/2 + sin 2a/4) n1 n1' + (a/2 - sin 2a/4) e e' +
 * sin^2 a/2 (n1 e' + e n1') */
static cairn_moments disk_sector(cairn_vec3 n1, cairn_vec3 n2, double r)
{
    double a = angle_between(n1, n2), sine = sin(a), twice = sin(2 * a) / 4;
    cairn_vec3 e = cairn_unit(cairn_add_scaled(n2, -cairn_dot(n1, n2), n1));
    cairn_moments m = { .volume = a * r * r / 2 };
    m.first = cairn_scale(r * r * r / 3, cairn_add_scaled(cairn_scale(sine, n1), 1 - cos(a), e));
    double r4 = r * r * r * r / 4;
    cairn_symmetric_add(&m.second, r4 * (a / 2 + twice), n1, n1);
    cairn_symmetric_add(&m.second, r4 * (a / 2 - twice), e, e);
    cairn_symmetric_add(&m.second, r4 * sine * sine, n1, e);
    return m;
}

/* ---- plane ---------------------------------------------------------------------------------- */

static void add_side(const cairn_geometry_view *hull, int side, double r, cairn_moments *sum)
{
    cairn_vec3 a = hull->vertices[hull->face_vertex[2 * side]];
    cairn_vec3 b = hull->vertices[hull->face_vertex[2 * side + 1]];
    cairn_vec3 n = hull->face_normal[side];
    cairn_vec3 c = cairn_add_scaled(b, r, n), d = cairn_add_scaled(a, r, n);
    cairn_moments_add_triangle(sum, a, d);
    cairn_moments_add_triangle(sum, d, c);
    cairn_moments_add_triangle(sum, c, b);
    cairn_moments_add_triangle(sum, b, a);
    /* the sides follow each other: b is where the next one begins, and a sector fills the corner */
    int next = (side + 1) % hull->face_count;
    const cairn_moments sector = disk_sector(n, hull->face_normal[next], r);
    add_at(sum, &sector, b);
}

/* ---- space ---------------------------------------------------------------------------------- */

/* The part of int_O u u' that is proportional to w: r^5/5 w/3, and the volume w r^3/3. */
static cairn_moments ball_part(double solid_angle, double r)
{
    double s = solid_angle * pow(r, 5) / 15;
    return cairn_moments_symmetric(solid_angle * r * r * r / 3, s, s, s);
}

/* Add the side of a prism over a -> b, and subtract the angle of the face at a from the ball
 * there. */
static void add_corner(cairn_moments *sum, const cairn_vec3 corner[3], cairn_vec3 up, double r)
{
    cairn_vec3 before = corner[0], a = corner[1], b = corner[2];
    cairn_vec3 c = cairn_add(b, up), d = cairn_add(a, up);
    cairn_moments_add_tetrahedron(sum, a, b, c);
    cairn_moments_add_tetrahedron(sum, a, c, d);
    const cairn_moments lost = ball_part(-angle_between(cairn_sub(before, a), cairn_sub(b, a)), r);
    add_at(sum, &lost, a);
}

/* The prism over a face: its sides, its bottom (the face, inverted, because it bounds the prism
 * from below) and its top. */
static void add_face(const cairn_geometry_view *hull, int face, double r, cairn_moments *sum)
{
    const int32_t *v = hull->face_vertex + hull->face_first[face];
    int count = hull->face_first[face + 1] - hull->face_first[face];
    cairn_vec3 up = cairn_scale(r, hull->face_normal[face]);
    for (int k = 0; k < count; k++) {
        const cairn_vec3 corner[3] = { hull->vertices[v[(k + count - 1) % count]],
                                       hull->vertices[v[k]], hull->vertices[v[(k + 1) % count]] };
        add_corner(sum, corner, up, r);
    }
    for (int k = 1; k + 1 < count; k++) {
        cairn_vec3 a = hull->vertices[v[0]], b = hull->vertices[v[k]];
        cairn_vec3 c = hull->vertices[v[k + 1]];
        cairn_moments_add_tetrahedron(sum, a, c, b);
        cairn_moments_add_tetrahedron(sum, cairn_add(a, up), cairn_add(b, up), cairn_add(c, up));
    }
}

/* Add the contribution of an edge to the sector at its end `place`; t points away from there. */
static void add_end(cairn_moments *sum, cairn_vec3 place, cairn_vec3 t, const cairn_vec3 n[2],
                    double r)
{
    double a = angle_between(n[0], n[1]);
    cairn_vec3 s = cairn_scale(2 * sin(a / 2), cairn_unit(cairn_add(n[0], n[1])));
    cairn_moments m = { .first = cairn_scale(-0.5 * a * r * r * r * r / 4, t) };
    cairn_symmetric_add(&m.second, -pow(r, 5) / 15, t, s);
    add_at(sum, &m, place);
}

/* The wedge is the sector of a disk extended along the edge, about the middle of the edge; along
 * t the second moment of a segment is length^3/12. */
static void add_edge(const cairn_geometry_view *hull, int edge, double r, cairn_moments *sum)
{
    const int32_t *e = hull->edge + 4 * edge;
    cairn_vec3 from = hull->vertices[e[0]], to = hull->vertices[e[1]];
    cairn_vec3 t = cairn_unit(cairn_sub(to, from));
    double length = cairn_norm(cairn_sub(to, from));
    const cairn_vec3 n[2] = { hull->face_normal[e[2]], hull->face_normal[e[3]] };
    const cairn_moments section = disk_sector(n[0], n[1], r);
    cairn_moments wedge = { .volume = length * section.volume,
                            .first = cairn_scale(length, section.first) };
    wedge.second = (cairn_symmetric){ length * section.second.xx, length * section.second.yy,
                                      length * section.second.zz, length * section.second.xy,
                                      length * section.second.yz, length * section.second.zx };
    cairn_symmetric_add(&wedge.second, section.volume * length * length * length / 12, t, t);
    add_at(sum, &wedge, cairn_scale(0.5, cairn_add(from, to)));
    add_end(sum, from, t, n, r);
    add_end(sum, to, cairn_scale(-1, t), n, r);
}

/* Add to the moments of a hull those of everything within `radius` outside it. */
static void add_rounding(const cairn_geometry_view *hull, double radius, cairn_moments *sum)
{
    if (hull->dimension == 2) {
        for (int k = 0; k < hull->face_count; k++)
            add_side(hull, k, radius, sum);
        return;
    }
    for (int k = 0; k < hull->face_count; k++)
        add_face(hull, k, radius, sum);
    for (int k = 0; k < hull->edge_count; k++)
        add_edge(hull, k, radius, sum);
    /* the 2 pi of w, from which add_face has subtracted the angles */
    const cairn_moments whole = ball_part(2 * M_PI, radius);
    for (int k = 0; k < hull->vertex_count; k++)
        add_at(sum, &whole, hull->vertices[k]);
}

/* ---- polyhedra --------------------------------------------------------------------------- */

static bool polyhedron_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    (void)dimension;
    *out = shape->geometry->moments;
    if (shape->rounding > 0)
        add_rounding(&shape->geometry->view, shape->rounding, out);
    return true;
}

static double extent(const cairn_shape *shape)
{
    return shape->geometry->extent + shape->rounding;
}

static bool corner(const cairn_shape *shape, int k, cairn_vec3 *out)
{
    const cairn_geometry_view *view = &shape->geometry->view;
    if (k < view->vertex_count)
        *out = view->vertices[k];
    return k < view->vertex_count;
}

/* A search over all vertices: the first of equal ones, so that the result does not depend on
 * history. */
static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    const cairn_geometry_view *view = &shape->geometry->view;
    double most = -INFINITY;
    int best = 0;
    for (int i = 0; i < view->vertex_count; i++) {
        double along = cairn_dot(d, view->vertices[i]);
        best = along > most ? i : best;
        most = along > most ? along : most;
    }
    return view->vertices[best];
}

static int facing(const cairn_geometry_view *view, cairn_vec3 d)
{
    double most = -INFINITY;
    int best = 0;
    for (int i = 0; i < view->face_count; i++) {
        double along = cairn_dot(d, view->face_normal[i]);
        best = along > most ? i : best;
        most = along > most ? along : most;
    }
    return best;
}

/* A face with too many corners is thinned out evenly: corner k of `count` is number k
 * corners/count. */
static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    const cairn_geometry_view *view = &shape->geometry->view;
    int id = facing(view, d), first = view->face_first[id];
    int corners = view->face_first[id + 1] - first;
    out->id = id;
    out->count = corners < CAIRN_FACE_POINTS ? corners : CAIRN_FACE_POINTS;
    out->normal = view->face_normal[id];
    for (int k = 0; k < out->count; k++) {
        int32_t vertex = view->face_vertex[first + (int64_t)k * corners / out->count];
        out->vertex[k] = vertex;
        out->point[k] = view->vertices[vertex];
    }
}

static double rounding(const cairn_shape *shape)
{
    return shape->rounding;
}

static const cairn_option options[] = {
    { "rounding", CAIRN_OPTION_REAL, false, offsetof(cairn_shape, rounding), 0, 1e12, "m",
      "radius of a ball that sweeps the hull and so makes it larger", NULL },
};

const cairn_shape_class cairn_shape_class_polyhedron = {
    .record = { "polyhedron", "convex hull of points, in 2D a polygon; may be rounded",
                sizeof(cairn_shape), cairn_shape_set_default, options, 1 },
    .moments = polyhedron_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .corner = corner,
    .rounding = rounding,
    .complete = cairn_hull_complete,
    .has_geometry = true,
};
