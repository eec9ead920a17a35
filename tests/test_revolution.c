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
    int count = cairn_convex_inside_cylinder(&a, &b, 3, 1, w);
    CHECK(count >= 4);
    for (int k = 0; k < count; k++) {
        CHECK_NEAR(w[k].gap, 2 - sqrt(2), 1e-14);
        CHECK_NEAR(w[k].normal.z, 0, 1e-15);
    }
    a.x = cairn_vec(1, 0, 7);
    count = cairn_convex_inside_cylinder(&a, &b, 3, 0.1, w);
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
    CHECK_INT(cairn_convex_inside_cylinder(&a, &b, 3, 0.2, w), 2);
    CHECK_NEAR(w[0].gap, 0.1, 1e-15);
    CHECK_NEAR(w[1].gap, 0.1, 1e-15);
    rod.axis = cairn_vec(1, 0, 0);
    a.x.x = 0.4;
    CHECK_INT(cairn_convex_inside_cylinder(&a, &b, 3, 0.2, w), 1);
    CHECK_NEAR(w[0].gap, 0.1, 1e-15);
    CHECK_VEC(w[0].normal, -1, 0, 0, 1e-15);
}

/* An ellipse of semi-axes 1.5 and 0.5 in a circle of radius 2: 0.5 at both ends. */
TEST(an_ellipse_in_a_circle)
{
    const cairn_shape ellipse = { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 1.5, 0.5, 0 } };
    cairn_collider a = upright(&ellipse, 0.25, 0, 0), b = upright(&tube, 0, 0, 0);
    cairn_witness w[CAIRN_WALL_WITNESSES];
    int count = cairn_convex_inside_cylinder(&a, &b, 2, 1, w);
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
        int count = cairn_convex_inside_cylinder(&a, &b, 3, INFINITY, w);
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
    int count = cairn_convex_inside_cone(&a, &b, 3, 1, w);
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
    CHECK_INT(cairn_convex_inside_cone(&a, &b, 2, 0.5, w), 2);
    CHECK_NEAR(w[0].gap, 0.4, 1e-14);
    CHECK_NEAR(w[1].gap, 0.4, 1e-14);
    CHECK_NEAR(w[0].normal.x + w[1].normal.x, 0, 1e-15);
}

int main(void)
{
    RUN(CASE(a_cube_in_a_tube), CASE(a_capsule_in_a_tube), CASE(an_ellipse_in_a_circle),
        CASE(no_point_is_nearer_to_the_wall), CASE(a_cube_in_a_cone), CASE(a_square_in_a_wedge));
}
