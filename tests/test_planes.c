/* test_planes.c - convex shapes over half-spaces and inside boxes. */
#include "collide/narrow.h"
#include "couples.h"
#include "random_shapes.h"

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

int main(void)
{
    RUN(CASE(a_brick_over_the_ground), CASE(on_an_edge_and_on_a_corner),
        CASE(a_tilted_cylinder_stands_on_its_rim), CASE(the_deepest_point_of_every_shape),
        CASE(a_cube_in_the_corner_of_a_room), CASE(a_disk_in_the_corner_of_a_room));
}
