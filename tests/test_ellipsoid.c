/* test_ellipsoid.c - ellipsoids and ellipses. */
#include "solids.h"

static cairn_shape ellipsoid(double a, double b, double c)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, c > 0 ? 3 : 2);
    shape.semi_axes = cairn_vec(a, b, c);
    return shape;
}

/* a, b, c = 1, 2, 3: V = 8 pi, J_x = V (4 + 9)/5 */
TEST(mass_of_an_ellipsoid)
{
    cairn_shape shape = ellipsoid(1, 2, 3);
    cairn_mass m;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    CHECK_CLOSE(m.mass, 8 * M_PI, 1e-14);
    CHECK_CLOSE(m.inertia.xx, 8 * M_PI * 13 / 5, 1e-14);
    CHECK_CLOSE(m.inertia.yy, 8 * M_PI * 10 / 5, 1e-14);
    CHECK_CLOSE(m.inertia.zz, 8 * M_PI * 5 / 5, 1e-14);
}

/* a, b = 1, 2: A = 2 pi, J = A 5/4 */
TEST(mass_of_an_ellipse)
{
    cairn_shape shape = ellipsoid(1, 2, 0);
    cairn_mass m;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 2, &m));
    CHECK_CLOSE(m.mass, 2 * M_PI, 1e-14);
    CHECK_CLOSE(m.inertia.zz, 2.5 * M_PI, 1e-14);
}

TEST(support_normal_and_curvature)
{
    cairn_shape solid = ellipsoid(1, 2, 0.5), flat = ellipsoid(1, 2, 0);
    check_support(&solid, 3);
    check_faces(&solid, 3);
    check_smooth(&solid, 3, 1e-7);
    check_support(&flat, 2);
    check_faces(&flat, 2);
    check_smooth(&flat, 2, 1e-7);
}

/* at the end of the axis a of an ellipse the radius of curvature is b^2/a */
TEST(curvature_at_the_end_of_an_axis)
{
    cairn_shape shape = ellipsoid(2, 1, 0);
    cairn_symmetric h;
    cairn_shape_class_of(&shape)->curvature(&shape, cairn_vec(1, 0, 0), &h);
    CHECK_CLOSE(h.yy, 0.5, 1e-15);
    CHECK_NEAR(h.xx, 0, 0);
}

TEST(support_points_lie_on_the_surface)
{
    cairn_shape shape = ellipsoid(1, 2, 0.5);
    uint64_t state = 1;
    for (int i = 0; i < 100; i++) {
        cairn_vec3 p = cairn_shape_support(&shape, random_direction(&state, 3));
        CHECK_CLOSE(p.x * p.x + p.y * p.y / 4 + p.z * p.z * 4, 1, 1e-14);
    }
}

int main(void)
{
    RUN(CASE(mass_of_an_ellipsoid), CASE(mass_of_an_ellipse), CASE(support_normal_and_curvature),
        CASE(curvature_at_the_end_of_an_axis), CASE(support_points_lie_on_the_surface));
}
