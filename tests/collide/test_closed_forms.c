/* test_closed_forms.c - pairs of shapes with formulas of their own. */
#include "collide/narrow.h"
#include "tests/collide/meetings.h"

/* ==== test_balls: balls against boxes and capsules: closed forms, and the general method ====== */

static const cairn_shape ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 };

static cairn_witness meet(cairn_couple_fn *couple, const cairn_collider *a, const cairn_collider *b,
                          int dimension)
{
    cairn_witness w;
    CHECK_INT(couple(a, b, dimension, INFINITY, &w), 1);
    CHECK_NEAR(cairn_norm(cairn_sub(w.on_a, cairn_add_scaled(w.on_b, w.gap, w.normal))), 0, 1e-14);
    return w;
}

/* Over a face, an edge (3-4-5), a corner; a box of 2 x 2 x 2. */
TEST(a_ball_outside_a_box)
{
    cairn_shape box = box_of(2, 2, 2);
    cairn_collider b = upright(&box, 0, 0, 0), a = upright(&ball, 0.3, -0.2, 2);
    cairn_witness w = meet(cairn_ball_box, &a, &b, 3);
    CHECK_NEAR(w.gap, 0.5, 1e-15);
    CHECK_VEC(w.normal, 0, 0, 1, 0);
    a.x = cairn_vec(0.3, 1 + 3, 1 + 4);
    w = meet(cairn_ball_box, &a, &b, 3);
    CHECK_NEAR(w.gap, 4.5, 1e-15);
    CHECK_VEC(w.normal, 0, 0.6, 0.8, 1e-15);
    a.x = cairn_vec(2, 3, 3);
    w = meet(cairn_ball_box, &a, &b, 3);
    CHECK_NEAR(w.gap, 2.5, 1e-15);
    CHECK_VEC(w.on_b, 1, 1, 1, 1e-15);
}

/* The centre 0.1 below the face x = -1; with edges rounded by 0.25 the same. */
TEST(a_ball_inside_a_box)
{
    cairn_shape box = box_of(2, 2, 2);
    cairn_collider b = upright(&box, 0, 0, 0), a = upright(&ball, -0.9, 0.3, 0.2);
    for (int k = 0; k < 2; k++) {
        cairn_witness w = meet(cairn_ball_box, &a, &b, 3);
        CHECK_NEAR(w.gap, -0.6, 1e-15);
        CHECK_VEC(w.normal, -1, 0, 0, 0);
        box.rounding = 0.25;
    }
}

/* A capsule from z = -1 to 1 of radius 0.25: beside it, over its end, on its axis. */
TEST(a_ball_and_a_capsule)
{
    const cairn_shape capsule = {
        .kind = CAIRN_SHAPE_CAPSULE, .radius = 0.25, .length = 2, .axis = { 0, 0, 3 }
    };
    cairn_collider b = upright(&capsule, 0, 0, 0), a = upright(&ball, 3, 0, 0.7);
    cairn_witness w = meet(cairn_ball_capsule, &a, &b, 3);
    CHECK_NEAR(w.gap, 2.25, 1e-15);
    CHECK_VEC(w.on_b, 0.25, 0, 0.7, 1e-15);
    a.x = cairn_vec(3, 0, 5);
    w = meet(cairn_ball_capsule, &a, &b, 3);
    CHECK_NEAR(w.gap, 4.25, 1e-15);
    a.x = cairn_vec(0, 0, 0.5);
    w = meet(cairn_ball_capsule, &a, &b, 3);
    CHECK_NEAR(w.gap, -0.75, 1e-15);
    CHECK_NEAR(w.normal.z, 0, 0);
}

/* Closed form and general method agree on random pairs in both dimensions. */
TEST(closed_forms_agree_with_the_general_method)
{
    static const cairn_shape_kind kinds[2] = { CAIRN_SHAPE_BOX, CAIRN_SHAPE_CAPSULE };
    static cairn_couple_fn *const couples[2] = { cairn_ball_box, cairn_ball_capsule };
    uint64_t state = 6;
    for (int k = 0; k < 8000; k++) {
        int i = k % 2, dimension = 2 + k / 2 % 2;
        cairn_shape shape = draw_shape(kinds[i], dimension, &state);
        cairn_collider b = draw_collider(&shape, dimension, 3, &state);
        cairn_collider a = draw_collider(&ball, dimension, 3, &state);
        cairn_witness w = meet(couples[i], &a, &b, dimension), v[4];
        CHECK_INT(cairn_convex_convex(&a, &b, dimension, INFINITY, v), 1);
        CHECK_NEAR(v[0].gap, w.gap, 1e-13);
        CHECK_NEAR(cairn_norm(cairn_sub(v[0].normal, w.normal)), 0, 1e-7);
        CHECK_NEAR(cairn_norm(cairn_sub(v[0].on_b, w.on_b)), 0, 1e-7);
    }
}

TEST(beyond_the_margin_there_is_no_witness)
{
    cairn_shape box = box_of(2, 2, 2);
    cairn_collider b = upright(&box, 0, 0, 0), a = upright(&ball, 0, 0, 2);
    cairn_witness w;
    CHECK_INT(cairn_ball_box(&a, &b, 3, 0.4, &w), 0);
    CHECK_INT(cairn_ball_box(&a, &b, 3, 0.5, &w), 1);
}

GROUP(test_balls)
{
    RUN(CASE(a_ball_outside_a_box), CASE(a_ball_inside_a_box), CASE(a_ball_and_a_capsule),
        CASE(closed_forms_agree_with_the_general_method),
        CASE(beyond_the_margin_there_is_no_witness));
}

/* ==== test_capsules: two capsules, each 2 long between the middles of its ends, radius 0.25 */

static const cairn_shape along_x = {
    .kind = CAIRN_SHAPE_CAPSULE, .radius = 0.25, .length = 2, .axis = { 1, 0, 0 }
};
static const cairn_shape along_y = {
    .kind = CAIRN_SHAPE_CAPSULE, .radius = 0.25, .length = 2, .axis = { 0, 1, 0 }
};

/* Crossed, 1 above each other. */
TEST(crossed_capsules_have_one_point)
{
    cairn_collider a = upright(&along_x, 0.2, 0.1, 1), b = upright(&along_y, 0, 0, 0);
    cairn_witness w[4];
    CHECK_INT(cairn_capsule_capsule(&a, &b, 3, 0.6, w), 1);
    CHECK_NEAR(w[0].gap, 0.5, 1e-15);
    CHECK_VEC(w[0].normal, 0, 0, 1, 0);
    CHECK_VEC(w[0].on_b, 0, 0.1, 0.25, 1e-15);
}

/* Side by side, shifted by 0.5: they lie along each other from -0.5 to 1. */
TEST(parallel_capsules_have_two_points)
{
    cairn_collider a = upright(&along_x, 0.5, 0, 0.5), b = upright(&along_x, 0, 0, 0);
    cairn_witness w[4];
    CHECK_INT(cairn_capsule_capsule(&a, &b, 3, 0.1, w), 2);
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(w[k].gap, 0, 1e-15);
        CHECK_VEC(w[k].normal, 0, 0, 1, 1e-15);
    }
    CHECK_NEAR(w[0].on_a.x, -0.5, 1e-15);
    CHECK_NEAR(w[1].on_a.x, 1, 1e-15);
    CHECK(w[0].feature < w[1].feature);
}

/* One turned by 0.01 rad about the vertical above the middle of the other: the middle is nearest, and
 * the ends at y = +-0.01 are over the other where its surface is sqrt(0.25^2 - 0.01^2) high. All
 * points are on both surfaces, with one normal. */
TEST(capsules_that_are_almost_parallel_have_points_on_their_surfaces)
{
    cairn_collider a = upright(&along_x, 0, 0, 0.5), b = upright(&along_x, 0, 0, 0);
    a.q = cairn_quat_exp(cairn_vec(0, 0, 0.01));
    cairn_witness w[4];
    int count = cairn_capsule_capsule(&a, &b, 3, 0.1, w);
    CHECK(count >= 3);
    for (int k = 0; k < count; k++) {
        CHECK_VEC(w[k].normal, 0, 0, 1, 1e-15);
        CHECK_NEAR(hypot(w[k].on_b.y, w[k].on_b.z), 0.25, 1e-15);
        double aside = w[k].on_a.y * cos(0.01) - w[k].on_a.x * sin(0.01);
        CHECK_NEAR(hypot(aside, w[k].on_a.z - 0.5), 0.25, 1e-15);
        CHECK_NEAR(w[k].on_a.z - w[k].on_b.z, w[k].gap, 1e-15);
        double y = fmax(fabs(aside), fabs(w[k].on_b.y)); /* beside the axis of the other */
        CHECK_NEAR(w[k].gap, 0.25 - sqrt(0.0625 - y * y), 1e-12);
    }
}

/* End to end: one point. */
TEST(capsules_in_line)
{
    cairn_collider a = upright(&along_x, 3, 0, 0), b = upright(&along_x, 0, 0, 0);
    cairn_witness w[4];
    CHECK_INT(cairn_capsule_capsule(&a, &b, 3, 1, w), 1);
    CHECK_NEAR(w[0].gap, 0.5, 1e-15);
    CHECK_VEC(w[0].normal, 1, 0, 0, 0);
}

/* In the plane: 2 points side by side. */
TEST(capsules_in_the_plane)
{
    cairn_collider a = upright(&along_x, 0.5, 0.4, 0), b = upright(&along_x, 0, 0, 0);
    cairn_witness w[4];
    CHECK_INT(cairn_capsule_capsule(&a, &b, 2, 0, w), 2);
    CHECK_NEAR(w[0].gap, -0.1, 1e-15);
    CHECK_NEAR(w[1].gap, -0.1, 1e-15);
}

/* Axes that cross: the general method answers, and the normal is across both. */
TEST(crossing_axes)
{
    cairn_collider a = upright(&along_x, 0.1, 0.1, 0), b = upright(&along_y, 0, 0, 0);
    cairn_witness w[4];
    CHECK(cairn_capsule_capsule(&a, &b, 3, 0, w) >= 1);
    CHECK_NEAR(w[0].gap, -0.5, 1e-14);
    CHECK_NEAR(fabs(w[0].normal.z), 1, 1e-14);
}

/* The least gap is that of the general method. */
TEST(random_capsules_agree_with_the_general_method)
{
    uint64_t state = 12;
    for (int k = 0; k < 8000; k++) {
        int dimension = 2 + k % 2;
        cairn_shape p = draw_shape(CAIRN_SHAPE_CAPSULE, dimension, &state);
        cairn_shape q = draw_shape(CAIRN_SHAPE_CAPSULE, dimension, &state);
        cairn_collider a = draw_collider(&p, dimension, 3, &state);
        cairn_collider b = draw_collider(&q, dimension, 3, &state);
        cairn_witness v[4], w[4];
        int count = cairn_capsule_capsule(&a, &b, dimension, INFINITY, w);
        int general = cairn_convex_convex(&a, &b, dimension, INFINITY, v);
        double least = INFINITY, expected = INFINITY;
        for (int i = 0; i < count; i++)
            least = fmin(least, w[i].gap);
        for (int i = 0; i < general; i++)
            expected = fmin(expected, v[i].gap);
        CHECK_NEAR(least, expected, 1e-8);
    }
}

GROUP(test_capsules)
{
    RUN(CASE(crossed_capsules_have_one_point), CASE(parallel_capsules_have_two_points),
        CASE(capsules_that_are_almost_parallel_have_points_on_their_surfaces),
        CASE(capsules_in_line), CASE(capsules_in_the_plane), CASE(crossing_axes),
        CASE(random_capsules_agree_with_the_general_method));
}

/* ==== test_planes: convex shapes over half-spaces and inside boxes ============================ */

static const cairn_shape ground = { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } };

/* A brick of 2 x 4 x 6 on its smallest face, 0.25 above the ground. */
TEST(a_brick_over_the_ground)
{
    cairn_shape brick = box_of(2, 4, 6);
    cairn_collider a = upright(&brick, 1, 1, 3.25), b = upright(&ground, 0, 0, 0);
    cairn_witness w[4];
    CHECK_INT(cairn_convex_half_space(&a, &b, 3, 0.3, w), 4);
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(w[k].gap, 0.25, 1e-15);
        CHECK_NEAR(w[k].on_b.z, 0, 1e-15);
        CHECK_NEAR(fabs(w[k].on_a.x - 1), 1, 1e-15);
        CHECK_NEAR(fabs(w[k].on_a.y - 1), 2, 1e-15);
    }
    CHECK_INT(cairn_convex_half_space(&a, &b, 3, 0.2, w), 0);
}

/* On its edge 2, on its corner 1. */
TEST(on_an_edge_and_on_a_corner)
{
    cairn_shape cube = box_of(1, 1, 1);
    cairn_collider a = upright(&cube, 0, 0, sqrt(0.5)), b = upright(&ground, 0, 0, 0);
    cairn_witness w[4];
    a.q = cairn_quat_exp(cairn_vec(M_PI / 4, 0, 0));
    CHECK_INT(cairn_convex_half_space(&a, &b, 3, 0.1, w), 2);
    a.q = cairn_quat_multiply(cairn_quat_exp(cairn_vec(0, atan(sqrt(0.5)), 0)), a.q);
    a.x.z = 0.5 * sqrt(3);
    CHECK_INT(cairn_convex_half_space(&a, &b, 3, 0.1, w), 1);
    CHECK_NEAR(w[0].gap, 0, 1e-15);
}

/* A cylinder of radius 1, height 2, tilted by t: the lowest point is at cos t + sin t below. */
TEST(a_tilted_cylinder_stands_on_its_rim)
{
    const cairn_shape can = {
        .kind = CAIRN_SHAPE_CYLINDER, .radius = 1, .height = 2, .axis = { 0, 0, 1 }
    };
    for (int k = 0; k < 20; k++) {
        double t = 0.01 + 0.07 * k, least = INFINITY;
        cairn_collider a = upright(&can, 0, 0, 0), b = upright(&ground, 0, 0, 0);
        a.q = cairn_quat_exp(cairn_vec(t * cos(k), t * sin(k), 0));
        cairn_witness w[4];
        int count = cairn_convex_half_space(&a, &b, 3, INFINITY, w);
        for (int i = 0; i < count; i++)
            least = fmin(least, w[i].gap);
        CHECK_NEAR(least, -cos(t) - sin(t), 1e-14);
    }
}

/* The deepest point of every shape is its support point. */
TEST(the_deepest_point_of_every_shape)
{
    uint64_t state = 5;
    for (int k = 0; k < 4000; k++) {
        cairn_shape shape = draw_shape(convex_kinds_3d[k % 7], 3, &state);
        cairn_collider a = draw_collider(&shape, 3, 3, &state), b = upright(&ground, 0, 0, 0);
        b.q = draw_turn(&state, 3);
        cairn_convex convex;
        CHECK(cairn_convex_make(&a, &convex));
        cairn_vec3 n = cairn_rotate(b.q, cairn_vec(0, 0, 1)), down = cairn_scale(-1, n);
        double exact = cairn_dot(n, cairn_add(a.x, cairn_convex_support(&convex, down)));
        cairn_witness w[4];
        int count = cairn_convex_half_space(&a, &b, 3, INFINITY, w);
        double least = INFINITY;
        for (int i = 0; i < count; i++)
            least = fmin(least, w[i].gap);
        CHECK_NEAR(least, exact - convex.rounding, 2e-9);
    }
}

/* A cube of edge 1 in the corner of a room of 4 x 4 x 4: 3 faces with 4 points each. */
TEST(a_cube_in_the_corner_of_a_room)
{
    const cairn_shape room = { .kind = CAIRN_SHAPE_INSIDE_BOX, .size = { 4, 4, 4 } };
    cairn_shape cube = box_of(1, 1, 1);
    cairn_collider a = upright(&cube, -1.5, -1.5, 1.5), b = upright(&room, 0, 0, 0);
    cairn_witness w[CAIRN_WITNESSES];
    int count = cairn_convex_inside_box(&a, &b, 3, 0.01, w);
    CHECK_INT(count, 12);
    for (int k = 0; k < count; k++) {
        CHECK_NEAR(w[k].gap, 0, 1e-15);
        if (k > 0)
            CHECK(w[k].feature > w[k - 1].feature);
    }
    a.x = cairn_vec(0, 0, 0);
    CHECK_INT(cairn_convex_inside_box(&a, &b, 3, 1.4, w), 0);
    CHECK_INT(cairn_convex_inside_box(&a, &b, 3, 1.6, w), 24);
}

/* A disk in the corner of a square room touches two walls. */
TEST(a_disk_in_the_corner_of_a_room)
{
    const cairn_shape room = { .kind = CAIRN_SHAPE_INSIDE_BOX, .size = { 4, 4, 0 } };
    const cairn_shape disk = { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 };
    cairn_collider a = upright(&disk, 1.5, -1.4, 0), b = upright(&room, 0, 0, 0);
    cairn_witness w[CAIRN_WITNESSES];
    CHECK_INT(cairn_convex_inside_box(&a, &b, 2, 0.2, w), 2);
    CHECK_NEAR(w[0].gap, 0, 1e-15);
    CHECK_VEC(w[0].normal, -1, 0, 0, 0);
    CHECK_NEAR(w[1].gap, 0.1, 1e-15);
    CHECK_VEC(w[1].normal, 0, 1, 0, 0);
}

GROUP(test_planes)
{
    RUN(CASE(a_brick_over_the_ground), CASE(on_an_edge_and_on_a_corner),
        CASE(a_tilted_cylinder_stands_on_its_rim), CASE(the_deepest_point_of_every_shape),
        CASE(a_cube_in_the_corner_of_a_room), CASE(a_disk_in_the_corner_of_a_room));
}

/* ==== test_revolution: convex shapes in cylinders and cones. Balls: see test_narrow.c ========= */

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

GROUP(test_revolution)
{
    RUN(CASE(a_cube_in_a_tube), CASE(a_capsule_in_a_tube), CASE(an_ellipse_in_a_circle),
        CASE(no_point_is_nearer_to_the_wall), CASE(a_cube_in_a_cone), CASE(a_square_in_a_wedge),
        CASE(the_corner_of_a_mesh_is_where_its_triangles_are),
        CASE(the_corner_of_a_polyline_is_where_its_sides_are),
        CASE(a_corner_between_both_walls_of_a_wedge_meets_both));
}

/* ==== test_common_normal: smooth pairs: closed forms, and the conditions at the witnesses ===== */

/* |x/a|^n + |y/b|^n at a point of the surface, as the length it is off along the ray. */
static double off_surface(const cairn_convex *c, cairn_vec3 p)
{
    cairn_vec3 q = { cairn_dot(c->axes[0], p), cairn_dot(c->axes[1], p), cairn_dot(c->axes[2], p) };
    const cairn_shape *s = c->shape;
    bool super = s->kind == CAIRN_SHAPE_SUPERELLIPSOID;
    double n = super ? s->exponent : 2, k = super ? s->exponent_z : 2;
    double flat =
        pow(pow(fabs(q.x / s->semi_axes.x), n) + pow(fabs(q.y / s->semi_axes.y), n), k / n);
    return fabs(pow(flat + pow(fabs(q.z / s->semi_axes.z), k), 1 / k) - 1);
}

/* Ellipsoids with ends at 2 and 7 - 3 on the x axis. */
TEST(ellipsoids_tip_to_tip)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 3, 1, 2 } },
                            { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 2, 1.5, 1 } } } };
    cairn_distance d = { .normal = { 0.8, 0.6, 0 } };
    put(&p, 3, 7, 0, 0);
    CHECK(cairn_common_normal(&p.couple, &d));
    CHECK_NEAR(d.gap, 2, 1e-13);
    CHECK_VEC(d.normal, 1, 0, 0, 1e-12);
    CHECK_VEC(d.on_a, 4, 0, 0, 1e-11);
    CHECK_VEC(d.on_b, 2, 0, 0, 1e-11);
}

/* The point (0, 4) and the ellipse x^2/9 + y^2 = 1: nearest is (0, 1). From (0.5, 0) inside, the
 * common normal is the way out at x = 9/8 0.5, y = sqrt(1 - x^2/9). */
TEST(a_point_and_an_ellipse)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_POINT },
                            { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 3, 1, 0 } } } };
    cairn_distance d = { .normal = { 0.6, 0.8, 0 } };
    put(&p, 2, 0, 4, 0);
    CHECK(cairn_common_normal(&p.couple, &d));
    CHECK_NEAR(d.gap, 3, 1e-13);
    put(&p, 2, 0.5, 0, 0);
    d = (cairn_distance){ .normal = { 0, 1, 0 } };
    CHECK(cairn_common_normal(&p.couple, &d));
    double x = 9.0 / 8 * 0.5, y = sqrt(1 - x * x / 9);
    CHECK_NEAR(d.gap, -hypot(x - 0.5, y), 1e-12);
    CHECK_VEC(d.on_b, x, y, 0, 1e-10);
}

/* Over the flat end of a superellipsoid of exponent 6 the slope at y is y^5: the nearest point is
 * found to 1e-10 although its normal differs from z by 3e-9 only. */
TEST(flat_ends)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 },
                            { .kind = CAIRN_SHAPE_SUPERELLIPSOID,
                              .semi_axes = { 1, 1, 1 },
                              .exponent = 6,
                              .exponent_z = 6 } } };
    cairn_distance d = { .normal = { 0.01, 0.02, 1 } };
    put(&p, 3, 0.01, 0.02, 3);
    d.normal = cairn_unit(d.normal);
    CHECK(cairn_common_normal(&p.couple, &d));
    CHECK_NEAR(d.gap, 2, 1e-9);
    CHECK_VEC(d.on_b, 0.01, 0.02 - 2 * pow(0.02, 5), 1, 3e-10);
}

/* At the witnesses of random pairs: on both surfaces, on one line, along both normals. */
static void check_conditions(const cairn_couple *c, const cairn_distance *d)
{
    cairn_vec3 between = cairn_sub(d->on_a, d->on_b);
    cairn_vec3 p = cairn_sub(d->on_a, c->offset);
    CHECK(d->residual <= 1e-10);
    CHECK_NEAR(cairn_norm(cairn_sub(between, cairn_scale(d->gap, d->normal))), 0, 1e-10 * c->size);
    CHECK_NEAR(off_surface(c->a, p), 0, 1e-9);
    CHECK_NEAR(off_surface(c->b, d->on_b), 0, 1e-9);
    CHECK_NEAR(cairn_couple_gap_along(c, d->normal), d->gap, 1e-10 * c->size);
}

TEST(conditions_hold_at_the_witnesses)
{
    static const cairn_shape_kind kinds[2] = { CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_SUPERELLIPSOID };
    uint64_t state = 4;
    for (int k = 0; k < 2000; k++) {
        placed p;
        for (int i = 0; i < 2; i++) {
            p.shape[i] = draw_shape(kinds[(k >> i) % 2], 3, &state);
            p.at[i] = draw_collider(&p.shape[i], 3, 4, &state);
        }
        couple_up(&p, 3);
        cairn_distance d;
        CHECK(cairn_distance_find(&p.couple, 1e9, &d));
        check_conditions(&p.couple, &d);
    }
}

GROUP(test_common_normal)
{
    RUN(CASE(ellipsoids_tip_to_tip), CASE(a_point_and_an_ellipse), CASE(flat_ends),
        CASE(conditions_hold_at_the_witnesses));
}

/* ==== test_triangles: which normals of a triangle belong to it. The triangles (0,0) (4,0)
 * (0,4) and (4,0) (4,4) (0,4) make a square of edge 4 in the plane z = 0. */

static const cairn_vec3 up = { 0, 0, 1 };
static const cairn_shape small_ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 };

/* The edge from corner 1 to corner 2, x + y = 4, has a neighbour with the normal given. */
static cairn_triangle lower_half(cairn_vec3 beyond)
{
    return (cairn_triangle){ .corner = { { 0, 0, 0 }, { 4, 0, 0 }, { 0, 4, 0 } },
                             .beyond = { { 0, 0, 0 }, beyond, { 0, 0, 0 } } };
}

static int touch(const cairn_shape *shape, cairn_vec3 x, const cairn_triangle *t, cairn_witness *w)
{
    cairn_collider at = upright(shape, x.x, x.y, x.z);
    cairn_convex a;
    CHECK(cairn_convex_make(&at, &a));
    return cairn_triangle_witnesses(&a, t, 3, 0.2, w);
}

TEST(a_ball_over_a_triangle)
{
    cairn_triangle t = lower_half(up);
    cairn_witness w[4];
    CHECK_INT(touch(&small_ball, cairn_vec(1, 1, 0.6), &t, w), 1);
    CHECK_NEAR(w[0].gap, 0.1, 1e-15);
    CHECK_VEC(w[0].normal, 0, 0, 1, 1e-15);
}

/* 0.1 beyond the edge: open, it is touched; flat or hollow, it is the neighbour's business. */
TEST(inner_edges_are_not_touched)
{
    cairn_vec3 x = { 2 + 0.1 * sqrt(0.5), 2 + 0.1 * sqrt(0.5), 0.5 };
    cairn_vec3 out = { sqrt(0.5), sqrt(0.5), 0 };
    cairn_witness w[4];
    cairn_triangle open = lower_half(cairn_vec(0, 0, 0)), flat = lower_half(up);
    cairn_triangle hollow = lower_half(cairn_unit(cairn_add_scaled(up, -0.5, out)));
    CHECK_INT(touch(&small_ball, x, &open, w), 1);
    CHECK_NEAR(w[0].gap, hypot(0.1, 0.5) - 0.5, 1e-14);
    CHECK_INT(touch(&small_ball, x, &flat, w), 0);
    CHECK_INT(touch(&small_ball, x, &hollow, w), 0);
}

/* An edge that bends away by 45 degrees: normals up to 45 degrees are its own. */
TEST(ridges_have_the_normals_between_their_sides)
{
    cairn_vec3 out = { sqrt(0.5), sqrt(0.5), 0 };
    cairn_triangle ridge = lower_half(cairn_unit(cairn_add(up, out)));
    cairn_witness w[4];
    cairn_vec3 near = cairn_add_scaled(cairn_vec(2, 2, 0.5), 0.2, out);
    cairn_vec3 far = cairn_add_scaled(cairn_vec(2, 2, 0.2), 0.5, out);
    CHECK_INT(touch(&small_ball, near, &ridge, w), 1);
    CHECK_INT(touch(&small_ball, far, &ridge, w), 0);
}

TEST(the_back_of_a_triangle)
{
    cairn_triangle t = lower_half(up);
    cairn_witness w[4];
    CHECK_INT(touch(&small_ball, cairn_vec(1, 1, -0.4), &t, w), 0);
    t.two_sided = true;
    CHECK_INT(touch(&small_ball, cairn_vec(1, 1, -0.4), &t, w), 1);
    CHECK_VEC(w[0].normal, 0, 0, -1, 1e-15);
    CHECK_NEAR(w[0].gap, -0.1, 1e-15);
    /* its edges are turned over as well: flat stays flat */
    CHECK_INT(touch(&small_ball, cairn_vec(2.1, 2.1, -0.4), &t, w), 0);
}

/* A point has no thickness: rounding puts it behind the face it lies on. It is seen down to half of
 * 0.02 of the edge of 4, which is 0.04, however small the margin. */
TEST(a_point_that_sank_a_little)
{
    cairn_triangle t = lower_half(up);
    cairn_shape point = { .kind = CAIRN_SHAPE_POINT };
    cairn_collider at = upright(&point, 1, 1, 0);
    cairn_witness w[4];
    for (double depth = 0; depth <= 0.039; depth = depth > 0 ? 10 * depth : 1e-12) {
        cairn_convex a;
        at.x.z = -depth;
        CHECK(cairn_convex_make(&at, &a));
        CHECK_INT(cairn_triangle_witnesses(&a, &t, 3, 0, w), 1);
        CHECK_NEAR(w[0].gap, -depth, 1e-15);
        CHECK_VEC(w[0].normal, 0, 0, 1, 1e-15);
    }
    CHECK_INT(touch(&point, cairn_vec(1, 1, -0.041), &t, w), 0);
}

/* A tetrahedron whose origin lies 1 below its base: the base is 0.1 above the triangle. */
TEST(a_hull_beside_its_origin)
{
    const cairn_vec3 corner[4] = { { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 0, 0, 2 } };
    cairn_shape hull = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 3);
    cairn_error error;
    cairn_triangle t = lower_half(up);
    cairn_witness w[4];
    CHECK_INT(cairn_hull_create(corner, 4, 3, &hull.geometry, &error), CAIRN_OK);
    CHECK_INT(touch(&hull, cairn_vec(1, 1, -0.9), &t, w), 3);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(w[k].gap, 0.1, 1e-14);
    cairn_geometry_release(hull.geometry);
}

/* A cube that sinks 0.01 into the square, over the diagonal: all normals are up, and no triangle
 * pushes it aside although that way out is shorter for the smaller part. */
TEST(a_cube_slides_over_an_inner_edge)
{
    cairn_triangle low = lower_half(up);
    cairn_triangle high = { .corner = { { 4, 0, 0 }, { 4, 4, 0 }, { 0, 4, 0 } },
                            .beyond = { { 0, 0, 0 }, { 0, 0, 0 }, up } };
    cairn_shape cube = box_of(1, 1, 1);
    for (int k = -20; k <= 20; k++) {
        cairn_vec3 x = { 2 + 0.05 * k, 2 + 0.05 * k, 0.49 };
        cairn_witness w[8];
        int count = touch(&cube, x, &low, w);
        count += touch(&cube, x, &high, w + count);
        CHECK(count >= 3);
        for (int i = 0; i < count; i++) {
            CHECK_VEC(w[i].normal, 0, 0, 1, 1e-12);
            CHECK_NEAR(w[i].gap, -0.01, 1e-12);
        }
    }
}

/* In the plane: a disk over the joint of two sides in line. */
TEST(sides_of_a_polyline)
{
    /* outside is on the right: walking along -x, above */
    cairn_triangle side = { .corner = { { 2, 0, 0 }, { 0, 0, 0 } },
                            .beyond = { { 0, 1, 0 }, { 0, 1, 0 } } };
    cairn_collider at = upright(&small_ball, 1, 0.6, 0);
    cairn_convex a;
    cairn_witness w[4];
    CHECK(cairn_convex_make(&at, &a));
    CHECK_INT(cairn_triangle_witnesses(&a, &side, 2, 0.2, w), 1);
    CHECK_VEC(w[0].normal, 0, 1, 0, 1e-15);
    a.x = cairn_vec(2.1, 0.5, 0);
    CHECK_INT(cairn_triangle_witnesses(&a, &side, 2, 0.2, w), 0);
    side.beyond[0] = cairn_vec(0, 0, 0);
    CHECK_INT(cairn_triangle_witnesses(&a, &side, 2, 0.2, w), 1);
}

GROUP(test_triangles)
{
    RUN(CASE(a_ball_over_a_triangle), CASE(inner_edges_are_not_touched),
        CASE(ridges_have_the_normals_between_their_sides), CASE(the_back_of_a_triangle),
        CASE(a_point_that_sank_a_little), CASE(a_hull_beside_its_origin),
        CASE(a_cube_slides_over_an_inner_edge), CASE(sides_of_a_polyline));
}
