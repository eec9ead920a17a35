/* rounded.c - what a ball of radius r adds to a convex hull that it sweeps, exactly.
 *
 * Outside the hull lie a prism of height r on each face, a wedge of a cylinder along each edge and
 * a sector of a ball at each vertex (2D: a rectangle on each side, a sector of a disk at each).
 * The sector at a vertex is spanned by the spherical polygon O of the normals there. With w its
 * area, t the unit vectors along the edges away from the vertex, and s the integral of the unit
 * normal along the arc over an edge (angle a between the normals n1, n2 of its faces):
 *   w        = 2 pi - sum of the angles of the faces at the vertex       (Gauss-Bonnet)
 *   int_O u   = -1/2 sum a t                    (divergence of the projection of a fixed vector)
 *   int_O u u' = 1/3 (w 1 - sum t s'),  s = 2 sin(a/2) (n1 + n2)/|n1 + n2|
 * All three are sums over face corners and edge ends, so no walk around a vertex is needed. */
#include "shape/rounded.h"

#include <math.h>

#include "math/vec.h"

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
    /* the sides follow each other: b is where the next one begins */
    int next = (side + 1) % hull->face_count;
    const cairn_moments sector = disk_sector(n, hull->face_normal[next], r);
    add_at(sum, &sector, b);
}

/* ---- space ---------------------------------------------------------------------------------- */

static cairn_moments ball_part(double solid_angle, double r)
{
    double s = solid_angle * pow(r, 5) / 15;
    return cairn_moments_symmetric(solid_angle * r * r * r / 3, s, s, s);
}

/* The side of a prism over a -> b, and at a the angle of the face taken from the ball there. */
static void add_corner(cairn_moments *sum, const cairn_vec3 corner[3], cairn_vec3 up, double r)
{
    cairn_vec3 before = corner[0], a = corner[1], b = corner[2];
    cairn_vec3 c = cairn_add(b, up), d = cairn_add(a, up);
    cairn_moments_add_tetrahedron(sum, a, b, c);
    cairn_moments_add_tetrahedron(sum, a, c, d);
    const cairn_moments lost = ball_part(-angle_between(cairn_sub(before, a), cairn_sub(b, a)), r);
    add_at(sum, &lost, a);
}

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

/* The share of an edge in the sector at its end `place`; t points away from there. */
static void add_end(cairn_moments *sum, cairn_vec3 place, cairn_vec3 t, const cairn_vec3 n[2],
                    double r)
{
    double a = angle_between(n[0], n[1]);
    cairn_vec3 s = cairn_scale(2 * sin(a / 2), cairn_unit(cairn_add(n[0], n[1])));
    cairn_moments m = { .first = cairn_scale(-0.5 * a * r * r * r * r / 4, t) };
    cairn_symmetric_add(&m.second, -pow(r, 5) / 15, t, s);
    add_at(sum, &m, place);
}

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

void cairn_rounded_add(const cairn_geometry_view *hull, double radius, cairn_moments *sum)
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
    const cairn_moments whole = ball_part(2 * M_PI, radius);
    for (int k = 0; k < hull->vertex_count; k++)
        add_at(sum, &whole, hull->vertices[k]);
}
