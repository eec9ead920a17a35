/* test_solid_cone.c - the solid cone, whose origin is its centre of mass. */
#include "solids.h"

static cairn_shape cone(double radius, double height, cairn_vec3 axis)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_CONE, 3);
    shape.radius = radius;
    shape.height = height;
    shape.axis = axis;
    return shape;
}

static bool inside(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(p, axis), above = z + 0.25 * shape->height;
    double at = shape->radius * (1 - above / shape->height);
    return above >= 0 && cairn_norm(cairn_add_scaled(p, -z, axis)) <= at;
}

/* r = 2, h = 4: V = 16 pi/3, J = 0.3 V 4 about the axis, V (0.15 4 + 3/80 16) = 1.2 V across */
TEST(mass_of_a_cone)
{
    cairn_shape shape = cone(2, 4, cairn_vec(0, 0, 1));
    cairn_mass m;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    CHECK_CLOSE(m.mass, 16 * M_PI / 3, 1e-14);
    CHECK_CLOSE(m.inertia.zz, 1.2 * m.mass, 1e-14);
    CHECK_CLOSE(m.inertia.xx, 1.2 * m.mass, 1e-14);
    CHECK_NEAR(cairn_norm(m.centre), 0, 0);
}

/* counting also finds the centre at the origin */
TEST(mass_agrees_with_counting_along_any_axis)
{
    cairn_shape shape = cone(0.5, 1.1, cairn_vec(1, -1, 2));
    check_counted(&shape, 3, inside, 4e-3);
}

TEST(support_and_faces)
{
    cairn_shape sharp = cone(0.5, 1.1, cairn_vec(1, -1, 2)),
                blunt = cone(2, 0.3, cairn_vec(0, 1, 0));
    check_support(&sharp, 3);
    check_faces(&sharp, 3);
    check_support(&blunt, 3);
    check_faces(&blunt, 3);
}

TEST(upwards_the_apex_is_farthest)
{
    cairn_shape shape = cone(1, 4, cairn_vec(0, 0, 1));
    cairn_face base;
    CHECK_NEAR(cairn_shape_support(&shape, cairn_vec(0.1, 0, 1)).z, 3, 0);
    CHECK_NEAR(cairn_shape_support(&shape, cairn_vec(1, 0, 0.1)).z, -1, 0);
    cairn_shape_face(&shape, cairn_vec(0, 0.1, -1), &base);
    CHECK_INT(base.count, 8);
    CHECK_INT(base.id, 0);
}

int main(void)
{
    RUN(CASE(mass_of_a_cone), CASE(mass_agrees_with_counting_along_any_axis),
        CASE(support_and_faces), CASE(upwards_the_apex_is_farthest));
}
