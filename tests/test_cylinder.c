/* test_cylinder.c - the solid cylinder. */
#include "solids.h"

static cairn_shape cylinder(double radius, double height, cairn_vec3 axis)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_CYLINDER, 3);
    shape.radius = radius;
    shape.height = height;
    shape.axis = axis;
    return shape;
}

static bool inside(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(p, axis);
    return fabs(z) <= 0.5 * shape->height &&
           cairn_norm(cairn_add_scaled(p, -z, axis)) <= shape->radius;
}

/* r = 2, h = 3: V = 12 pi, J = V 4/2 about the axis, V (12 + 9)/12 across */
TEST(mass_of_a_cylinder)
{
    cairn_shape shape = cylinder(2, 3, cairn_vec(0, 1, 0));
    double mass;
    cairn_vec3 inertia;
    CHECK_OK(cairn_shape_mass(&shape, 3, 1, &mass, &inertia));
    CHECK_CLOSE(mass, 12 * M_PI, 1e-14);
    CHECK_CLOSE(inertia.y, 24 * M_PI, 1e-14);
    CHECK_CLOSE(inertia.x, 21 * M_PI, 1e-14);
    CHECK_CLOSE(inertia.z, 21 * M_PI, 1e-14);
}

TEST(mass_agrees_with_counting_along_any_axis)
{
    cairn_shape shape = cylinder(0.5, 1.1, cairn_vec(1, -1, 2));
    check_counted(&shape, 3, inside, 3e-3);
}

TEST(support_and_faces)
{
    cairn_shape shape = cylinder(0.5, 1.1, cairn_vec(1, -1, 2));
    check_support(&shape, 3);
    check_faces(&shape, 3);
}

TEST(a_cap_shows_eight_rim_points_and_the_side_a_generator)
{
    cairn_shape shape = cylinder(0.5, 1, cairn_vec(0, 0, 1));
    cairn_face cap, side, below;
    cairn_shape_face(&shape, cairn_vec(0.3, 0, 1), &cap);
    cairn_shape_face(&shape, cairn_vec(1, 1, 0.5), &side);
    cairn_shape_face(&shape, cairn_vec(0.3, 0, -1), &below);
    CHECK_INT(cap.count, 8);
    CHECK_INT(cap.id, 0);
    CHECK_INT(below.id, 1);
    CHECK_INT(below.vertex[7], 8);
    CHECK_INT(side.count, 2);
    CHECK_INT(side.id, 2);
    CHECK_NEAR(side.point[0].x, 0.5 * sqrt(0.5), 1e-15);
    CHECK_NEAR(side.point[0].z, 0.5, 0);
    CHECK_NEAR(side.point[1].z, -0.5, 0);
}

TEST(there_is_none_in_2d)
{
    cairn_shape shape = cylinder(0.5, 1, cairn_vec(0, 1, 0));
    cairn_error error = { 0 };
    CHECK_INT(cairn_shape_check(&shape, 2, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "cylinder exists only in 3D");
    CHECK_OK(cairn_shape_check(&shape, 3, &error));
}

int main(void)
{
    RUN(CASE(mass_of_a_cylinder), CASE(mass_agrees_with_counting_along_any_axis),
        CASE(support_and_faces), CASE(a_cap_shows_eight_rim_points_and_the_side_a_generator),
        CASE(there_is_none_in_2d));
}
