/* test_revolution.c - convex shapes in cylinders and cones. Balls: see test_narrow.c. */
#include "collide/narrow.h"
#include "couples.h"
#include "random_shapes.h"

static const cairn_shape tube = { .kind = CAIRN_SHAPE_INSIDE_CYLINDER,
                                  .radius = 2,
                                  .axis = { 0, 0, 1 } };
/* walls at slopes of 3:4: sin = 0.6, cos = 0.8 */
static const cairn_shape cone = { .kind = CAIRN_SHAPE_INSIDE_CONE,
                                  .half_angle = 0.64350110879328438680,
                                  .axis = { 0, 0, 1 } };
static const cairn_shape wedge = { .kind = CAIRN_SHAPE_INSIDE_CONE,
                                   .half_angle = 0.64350110879328438680,
                                   .axis = { 0, 1, 0 } };

static double least_gap(const cairn_witness *w, int count)
{
    double least = INFINITY;
    for (int k = 0; k < count; k++)
        least = fmin(least, w[k].gap);
    return least;
}

/* A cube of edge 2 in a tube of radius 2: its corners are sqrt 2 from the axis. */
TEST(a_cube_in_a_tube)
{
    cairn_shape cube = box_of(2, 2, 2);
    cairn_collider a = upright(&cube, 0, 0, 7), b = upright(&tube, 0, 0, 0);
    cairn_witness w[CAIRN_WALL_WITNESSES];
    int count = cairn_convex_inside_round(&a, &b, 3, 1, w);
    CHECK(count >= 4);
    for (int k = 0; k < count; k++) {
        CHECK_NEAR(w[k].gap, 2 - sqrt(2), 1e-14);
        CHECK_NEAR(w[k].normal.z, 0, 1e-15);
    }
    a.x = cairn_vec(1, 0, 7);
    count = cairn_convex_inside_round(&a, &b, 3, 0.1, w);
    CHECK_INT(count, 4);
    CHECK_NEAR(least_gap(w, count), 2 - sqrt(5), 1e-14);
}

/* A capsule along the tube, 0.1 from the wall: both ends; across it: one end. */
TEST(a_capsule_in_a_tube)
{
    cairn_shape rod = {
        .kind = CAIRN_SHAPE_CAPSULE, .radius = 0.5, .length = 2, .axis = { 0, 0, 1 }
    };
    cairn_collider a = upright(&rod, 1.4, 0, 0), b = upright(&tube, 0, 0, 0);
    cairn_witness w[CAIRN_WALL_WITNESSES];
    CHECK_INT(cairn_convex_inside_round(&a, &b, 3, 0.2, w), 2);
    CHECK_NEAR(w[0].gap, 0.1, 1e-15);
    CHECK_NEAR(w[1].gap, 0.1, 1e-15);
    rod.axis = cairn_vec(1, 0, 0);
    a.x.x = 0.4;
    CHECK_INT(cairn_convex_inside_round(&a, &b, 3, 0.2, w), 1);
    CHECK_NEAR(w[0].gap, 0.1, 1e-15);
    CHECK_VEC(w[0].normal, -1, 0, 0, 1e-15);
}

/* An ellipse of semi-axes 1.5 and 0.5 in a circle of radius 2: 0.5 at both ends. */
TEST(an_ellipse_in_a_circle)
{
    const cairn_shape ellipse = { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 1.5, 0.5, 0 } };
    cairn_collider a = upright(&ellipse, 0.25, 0, 0), b = upright(&tube, 0, 0, 0);
    cairn_witness w[CAIRN_WALL_WITNESSES];
    int count = cairn_convex_inside_round(&a, &b, 2, 1, w);
    CHECK(count >= 2);
    CHECK_NEAR(least_gap(w, count), 0.25, 1e-13);
}

/* Every constraint is a true one: the farthest of many surface points from the axis decides. */
TEST(no_point_is_nearer_to_the_wall)
{
    uint64_t state = 3;
    for (int k = 0; k < 300; k++) {
        cairn_shape shape = draw_shape(convex_kinds_3d[1 + k % 6], 3, &state);
        cairn_collider a = draw_collider(&shape, 3, 3, &state), b = upright(&tube, 0, 0, 0);
        cairn_convex convex;
        CHECK(cairn_convex_make(&a, &convex));
        cairn_witness w[CAIRN_WALL_WITNESSES];
        int count = cairn_convex_inside_round(&a, &b, 3, INFINITY, w);
        CHECK(count >= 1);
        double farthest = 0;
        for (int i = 0; i < 2000; i++) {
            cairn_vec3 p = cairn_add(a.x, cairn_convex_support(&convex, draw_unit(&state, 3)));
            farthest = fmax(farthest, hypot(p.x, p.y));
        }
        CHECK(least_gap(w, count) <= 2 - farthest - convex.rounding + 1e-9);
    }
}

/* The lower edges of a cube of edge 2 in a cone: corners at (1, 1, z) are 0.6 z - 0.8 sqrt 2 from
 * the wall. */
TEST(a_cube_in_a_cone)
{
    cairn_shape cube = box_of(2, 2, 2);
    cairn_collider a = upright(&cube, 0, 0, 4), b = upright(&cone, 0, 0, 0);
    cairn_witness w[CAIRN_WALL_WITNESSES];
    int count = cairn_convex_inside_round(&a, &b, 3, 1, w);
    CHECK(count >= 4);
    for (int k = 0; k < count; k++) {
        CHECK_NEAR(w[k].gap, 0.6 * 3 - 0.8 * sqrt(2), 1e-14);
        CHECK_NEAR(w[k].normal.z, 0.6, 1e-15);
    }
}

/* A square of edge 2 between the walls of a wedge touches both: its lower corners at (+-1, y) are
 * 0.6 y - 0.8 from them. */
TEST(a_square_in_a_wedge)
{
    cairn_shape square = box_of(2, 2, 0);
    cairn_collider a = upright(&square, 0, 3, 0), b = upright(&wedge, 0, 0, 0);
    cairn_witness w[CAIRN_WALL_WITNESSES];
    CHECK_INT(cairn_convex_inside_round(&a, &b, 2, 0.5, w), 2);
    CHECK_NEAR(w[0].gap, 0.4, 1e-14);
    CHECK_NEAR(w[1].gap, 0.4, 1e-14);
    CHECK_NEAR(w[0].normal.x + w[1].normal.x, 0, 1e-15);
}

/* ---- faces of a mesh ------------------------------------------------------------------------ */

/* The least gap of all faces of a surface in a container. */
static double least_gap_of_faces(const cairn_collider *a, const cairn_collider *b, int faces,
                                 int dimension)
{
    double least = INFINITY;
    for (int32_t face = 0; face < faces; face++) {
        cairn_collider made;
        cairn_witness w[CAIRN_WALL_WITNESSES];
        int count = cairn_convex_inside_round(
            cairn_collider_piece(a, (cairn_piece){ -1, face }, &made), b, dimension, 10, w);
        CHECK(count >= 1);
        least = fmin(least, least_gap(w, count));
        for (int k = 0; k < count; k++) {
            CHECK_NEAR(cairn_dot(cairn_sub(w[k].on_a, w[k].on_b), w[k].normal), w[k].gap, 1e-14);
            CHECK(b->shape->kind != CAIRN_SHAPE_INSIDE_CYLINDER ||
                  fabs(hypot(w[k].on_b.x, w[k].on_b.y) - b->shape->radius) <= 1e-14);
        }
    }
    return least;
}

/* A tetrahedron with corners at the origin of its frame and 1 along each axis, moved by (0.5, 0, 0):
 * the corner at (1.5, 0, 0) is 0.5 from the wall of the tube, and 0.4 beyond that of a cone with its
 * apex at (0, 0, -4/3). */
TEST(the_corner_of_a_mesh_is_where_its_triangles_are)
{
    const cairn_vec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    static const int32_t faces[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    const cairn_mesh_def def = { corners, 4, faces, 4 };
    cairn_shape mesh = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    CHECK_OK(cairn_mesh_create(&def, &mesh.geometry, NULL));
    cairn_collider a = upright(&mesh, 0.5, 0, 0), b = upright(&tube, 0, 0, 0);
    CHECK_NEAR(least_gap_of_faces(&a, &b, 4, 3), 0.5, 1e-14);
    b = upright(&cone, 0, 0, -4.0 / 3);
    CHECK_NEAR(least_gap_of_faces(&a, &b, 4, 3), -0.4, 1e-14);
    cairn_geometry_release(mesh.geometry);
}

/* A triangle in a wedge, as polyline: its lowest corner at (0, 2) is 0.6 x 2 from both walls, the one
 * at (1, 3) 0.6 x 3 - 0.8 from the right one. */
TEST(the_corner_of_a_polyline_is_where_its_sides_are)
{
    const cairn_vec3 corners[3] = { { 0, 0, 0 }, { 1, 1, 0 }, { -0.5, 1, 0 } };
    cairn_shape line = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    CHECK_OK(cairn_polyline_create(corners, 3, true, &line.geometry, NULL));
    cairn_collider a = upright(&line, 0, 2, 0), b = upright(&wedge, 0, 0, 0);
    CHECK_NEAR(least_gap_of_faces(&a, &b, 3, 2), 1, 1e-14);
    cairn_geometry_release(line.geometry);
}

/* The lowest corner of a square of edge 1, turned by 45 degrees, is at (0.1, 0.2), in a wedge with
 * walls at slopes of 4:3 0.8 x 0.2 -+ 0.6 x 0.1 from them: a contact with each. */
TEST(a_corner_between_both_walls_of_a_wedge_meets_both)
{
    const cairn_shape flat = { .kind = CAIRN_SHAPE_INSIDE_CONE,
                               .half_angle = 0.92729521800161223243,
                               .axis = { 0, 1, 0 } };
    cairn_shape square = box_of(1, 1, 0);
    cairn_collider a = upright(&square, 0.1, 0.2 + sqrt(0.5), 0), b = upright(&flat, 0, 0, 0);
    a.q = cairn_quat_exp(cairn_vec(0, 0, 0.25 * M_PI));
    cairn_witness w[CAIRN_WALL_WITNESSES];
    CHECK_INT(cairn_convex_inside_round(&a, &b, 2, 0.23, w), 2);
    int right = w[0].normal.x < 0 ? 0 : 1; /* the wall on the right looks to the left */
    CHECK_NEAR(w[right].gap, 0.1, 1e-14);
    CHECK_NEAR(w[1 - right].gap, 0.22, 1e-14);
}

int main(void)
{
    RUN(CASE(a_cube_in_a_tube), CASE(a_capsule_in_a_tube), CASE(an_ellipse_in_a_circle),
        CASE(no_point_is_nearer_to_the_wall), CASE(a_cube_in_a_cone), CASE(a_square_in_a_wedge),
        CASE(the_corner_of_a_mesh_is_where_its_triangles_are),
        CASE(the_corner_of_a_polyline_is_where_its_sides_are),
        CASE(a_corner_between_both_walls_of_a_wedge_meets_both));
}
