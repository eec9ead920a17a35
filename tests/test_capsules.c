/* test_capsules.c - two capsules, each 2 long between the middles of its ends, radius 0.25. */
#include "collide/narrow.h"
#include "couples.h"
#include "random_shapes.h"

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

int main(void)
{
    RUN(CASE(crossed_capsules_have_one_point), CASE(parallel_capsules_have_two_points),
        CASE(capsules_that_are_almost_parallel_have_points_on_their_surfaces),
        CASE(capsules_in_line), CASE(capsules_in_the_plane), CASE(crossing_axes),
        CASE(random_capsules_agree_with_the_general_method));
}
