/* test_box.c - boxes and rectangles, sharp and rounded. */
#include "solids.h"

static cairn_shape box(double x, double y, double z, double rounding)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_BOX, z > 0 ? 3 : 2);
    shape.size = cairn_vec(x, y, z);
    shape.rounding = rounding;
    return shape;
}

static bool inside(const cairn_shape *shape, cairn_vec3 p)
{
    double r = shape->rounding;
    double flat = shape->size.z > 0 ? fabs(p.z) - 0.5 * shape->size.z + r : 0;
    cairn_vec3 beyond = { fmax(0, fabs(p.x) - 0.5 * shape->size.x + r),
                          fmax(0, fabs(p.y) - 0.5 * shape->size.y + r), fmax(0, flat) };
    return cairn_norm(beyond) <= r;
}

/* 2 x 3 x 4 m: V = 24, J = 24/12 (9 + 16, 16 + 4, 4 + 9) = (50, 40, 26) */
TEST(mass_of_a_box)
{
    cairn_shape shape = box(2, 3, 4, 0);
    double mass;
    cairn_vec3 inertia;
    CHECK_OK(cairn_shape_mass(&shape, 3, 1, &mass, &inertia));
    CHECK_CLOSE(mass, 24, 1e-14);
    CHECK_CLOSE(inertia.x, 50, 1e-14);
    CHECK_CLOSE(inertia.y, 40, 1e-14);
    CHECK_CLOSE(inertia.z, 26, 1e-14);
}

/* 2 x 3 m: A = 6, J = 6/12 (4 + 9) = 6.5 */
TEST(mass_of_a_rectangle)
{
    cairn_shape shape = box(2, 3, 0, 0);
    cairn_mass m;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 2, &m));
    CHECK_CLOSE(m.mass, 6, 1e-14);
    CHECK_CLOSE(m.inertia.zz, 6.5, 1e-14);
    CHECK_NEAR(m.inertia.xx, 0, 0);
}

TEST(a_cube_rounded_to_the_full_is_a_ball)
{
    cairn_shape cube = box(1, 1, 1, 0.5), ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_mass found, expected;
    ball.radius = 0.5;
    CHECK_OK(cairn_shape_mass_tensor(&cube, 3, &found));
    CHECK_OK(cairn_shape_mass_tensor(&ball, 3, &expected));
    check_mass_equal(&found, &expected, 1e-15);
}

TEST(a_rectangle_rounded_to_the_full_is_a_capsule)
{
    cairn_shape flat = box(0.6, 1.6, 0, 0.3), rod = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 2);
    cairn_mass found, expected;
    rod.radius = 0.3;
    rod.length = 1;
    CHECK_OK(cairn_shape_mass_tensor(&flat, 2, &found));
    CHECK_OK(cairn_shape_mass_tensor(&rod, 2, &expected));
    check_mass_equal(&found, &expected, 1e-15);
}

TEST(mass_of_a_rounded_box_agrees_with_counting)
{
    cairn_shape solid = box(1, 1.4, 0.8, 0.25), flat = box(1, 1.4, 0, 0.25);
    check_counted(&solid, 3, inside, 2e-3);
    check_counted(&flat, 2, inside, 1e-3);
}

TEST(support_and_faces)
{
    cairn_shape shapes[] = { box(2, 3, 4, 0), box(2, 3, 4, 0.4), box(1, 2, 0, 0),
                             box(1, 2, 0, .2) };
    for (int i = 0; i < 4; i++) {
        check_support(&shapes[i], i < 2 ? 3 : 2);
        check_faces(&shapes[i], i < 2 ? 3 : 2);
    }
}

TEST(the_top_face_has_four_corners_and_its_own_number)
{
    cairn_shape shape = box(2, 3, 4, 0.5);
    cairn_face top, bottom;
    cairn_shape_face(&shape, cairn_vec(0.1, 0.2, 1), &top);
    cairn_shape_face(&shape, cairn_vec(0.1, 0.2, -1), &bottom);
    CHECK_INT(top.count, 4);
    CHECK_INT(top.id, 4);
    CHECK_INT(bottom.id, 5);
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(fabs(top.point[k].x), 0.5, 0);
        CHECK_NEAR(fabs(top.point[k].y), 1.0, 0);
        CHECK_NEAR(top.point[k].z, 1.5, 0);
        CHECK_INT(top.vertex[k] & 4, 4);
    }
}

TEST(sizes_that_make_no_box_are_refused)
{
    cairn_shape shapes[] = { box(1, 0, 1, 0), box(1, 1, 1, 0.6), box(1, 1, 0, 0) };
    const char *const keys[] = { "size", "rounding", "size" };
    for (int i = 0; i < 3; i++) {
        cairn_error error = { 0 };
        CHECK_INT(cairn_shape_check(&shapes[i], 3, &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, keys[i]);
    }
    CHECK_OK(cairn_shape_check(&shapes[2], 2, NULL));
    shapes[2].size.z = 1;
    CHECK_INT(cairn_shape_check(&shapes[2], 2, NULL), CAIRN_BAD_INPUT);
}

int main(void)
{
    RUN(CASE(mass_of_a_box), CASE(mass_of_a_rectangle), CASE(a_cube_rounded_to_the_full_is_a_ball),
        CASE(a_rectangle_rounded_to_the_full_is_a_capsule),
        CASE(mass_of_a_rounded_box_agrees_with_counting), CASE(support_and_faces),
        CASE(the_top_face_has_four_corners_and_its_own_number),
        CASE(sizes_that_make_no_box_are_refused));
}
