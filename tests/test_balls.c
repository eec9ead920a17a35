/* test_balls.c - balls against boxes and capsules: closed forms, and the general method. */
#include "collide/narrow.h"
#include "couples.h"
#include "random_shapes.h"

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

int main(void)
{
    RUN(CASE(a_ball_outside_a_box), CASE(a_ball_inside_a_box), CASE(a_ball_and_a_capsule),
        CASE(closed_forms_agree_with_the_general_method),
        CASE(beyond_the_margin_there_is_no_witness));
}
