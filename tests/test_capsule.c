/* test_capsule.c - capsules in space and plane, and the segment. */
#include "solids.h"

static cairn_shape capsule(int dimension, double radius, double length, cairn_vec3 axis)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_CAPSULE, dimension);
    shape.radius = radius;
    shape.length = length;
    shape.axis = axis;
    return shape;
}

static bool inside(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double half = 0.5 * shape->length, z = fmin(half, fmax(-half, cairn_dot(p, axis)));
    return cairn_norm(cairn_add_scaled(p, -z, axis)) <= shape->radius;
}

/* r = 1, l = 3: V = 3 pi + 4 pi/3 = 13 pi/3; about the axis J = 2 int x^2 = 2 (3 pi/4 + 4 pi/15) */
TEST(mass_of_a_capsule)
{
    cairn_shape shape = capsule(3, 1, 3, cairn_vec(0, 0, 2));
    cairn_mass m;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    CHECK_CLOSE(m.mass, 13 * M_PI / 3, 1e-14);
    CHECK_CLOSE(m.inertia.zz, 2 * (3 * M_PI / 4 + 4 * M_PI / 15), 1e-14);
    CHECK_CLOSE(m.inertia.xx, m.inertia.yy, 1e-15);
}

TEST(mass_agrees_with_counting_along_any_axis)
{
    cairn_shape solid = capsule(3, 0.4, 0.9, cairn_vec(1, 2, -1));
    cairn_shape flat = capsule(2, 0.4, 0.9, cairn_vec(1, 2, 0));
    check_counted(&solid, 3, inside, 3e-3);
    check_counted(&flat, 2, inside, 1e-3);
}

TEST(a_segment_has_a_side_but_no_mass)
{
    cairn_shape shape = capsule(2, 0, 2, cairn_vec(1, 0, 0));
    cairn_mass m;
    cairn_face face;
    CHECK_OK(cairn_shape_check(&shape, 2, NULL));
    CHECK_INT(cairn_shape_check(&shape, 3, NULL), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_shape_mass_tensor(&shape, 2, &m), CAIRN_UNSUPPORTED);
    cairn_shape_face(&shape, cairn_vec(0.2, 1, 0), &face);
    CHECK_INT(face.count, 2);
    CHECK_NEAR(face.point[0].x, 1, 0);
    CHECK_NEAR(face.point[1].x, -1, 0);
    shape.length = 0;
    CHECK_INT(cairn_shape_check(&shape, 2, NULL), CAIRN_BAD_INPUT);
}

TEST(support_and_faces)
{
    cairn_shape solid = capsule(3, 0.4, 0.9, cairn_vec(1, 2, -1));
    cairn_shape flat = capsule(2, 0.4, 0.9, cairn_vec(1, 2, 0));
    check_support(&solid, 3);
    check_support(&flat, 2);
    /* an end is a ball: its normal is the direction, so the plane test holds there too */
    check_faces(&solid, 3);
    check_faces(&flat, 2);
}

int main(void)
{
    RUN(CASE(mass_of_a_capsule), CASE(mass_agrees_with_counting_along_any_axis),
        CASE(a_segment_has_a_side_but_no_mass), CASE(support_and_faces));
}
