/* test_superellipsoid.c - superellipsoids and superellipses. */
#include "solids.h"

static cairn_shape super(cairn_vec3 semi_axes, double n, double k)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_SUPERELLIPSOID, semi_axes.z > 0 ? 3 : 2);
    shape.semi_axes = semi_axes;
    shape.exponent = n;
    shape.exponent_z = k;
    return shape;
}

static double level(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_vec3 a = shape->semi_axes;
    double n = shape->exponent, k = shape->exponent_z > 0 ? shape->exponent_z : n;
    double inner = pow(pow(fabs(p.x) / a.x, n) + pow(fabs(p.y) / a.y, n), 1 / n);
    return a.z > 0 ? pow(pow(inner, k) + pow(fabs(p.z) / a.z, k), 1 / k) : inner;
}

static bool inside(const cairn_shape *shape, cairn_vec3 p)
{
    return level(shape, p) <= 1;
}

TEST(exponents_of_2_make_an_ellipsoid)
{
    cairn_shape found = super(cairn_vec(1, 2, 0.5), 2, 0);
    cairn_shape expected = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
    cairn_mass a, b;
    uint64_t state = 3;
    expected.semi_axes = found.semi_axes;
    CHECK_OK(cairn_shape_mass_tensor(&found, 3, &a));
    CHECK_OK(cairn_shape_mass_tensor(&expected, 3, &b));
    check_mass_equal(&a, &b, 1e-14);
    for (int i = 0; i < 100; i++) {
        cairn_vec3 d = random_direction(&state, 3);
        cairn_symmetric h, g;
        CHECK_NEAR(cairn_norm(cairn_sub(cairn_shape_support(&found, d),
                                        cairn_shape_support(&expected, d))),
                   0, 1e-14);
        cairn_shape_class_of(&found)->curvature(&found, d, &h);
        cairn_shape_class_of(&expected)->curvature(&expected, d, &g);
        check_tensor(&h, &g, 1e-11);
    }
}

/* along an axis the nested norms have a corner that the lift must round off */
TEST(the_curvature_of_an_ellipsoid_is_found_along_its_axes_too)
{
    cairn_shape shape = super(cairn_vec(1, 2, 0.5), 2, 0);
    cairn_symmetric h;
    cairn_shape_class_of(&shape)->curvature(&shape, cairn_vec(0, 0, 1), &h);
    CHECK_CLOSE(h.xx, 1 / 0.5, 1e-9);
    CHECK_CLOSE(h.yy, 4 / 0.5, 1e-9);
    CHECK_NEAR(h.xy, 0, 1e-9);
    CHECK_NEAR(h.zz, 0, 1e-9);
}

TEST(mass_agrees_with_counting)
{
    cairn_shape shapes[] = { super(cairn_vec(0.8, 1, 0.6), 4, 3),
                             super(cairn_vec(0.8, 1, 0.6), 1.5, 6),
                             super(cairn_vec(0.8, 1, 0), 5, 0) };
    check_counted(&shapes[0], 3, inside, 3e-3);
    check_counted(&shapes[1], 3, inside, 3e-3);
    check_counted(&shapes[2], 2, inside, 1e-3);
}

TEST(support_points_lie_on_the_surface_and_are_farthest)
{
    const double exponents[][2] = { { 1.2, 1.3 }, { 3, 6 }, { 8, 0 }, { 20, 2 } };
    for (int i = 0; i < 4; i++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            cairn_shape shape =
                super(cairn_vec(1, 2, dimension == 3 ? 0.5 : 0), exponents[i][0], exponents[i][1]);
            uint64_t state = 1;
            CHECK_OK(cairn_shape_check(&shape, dimension, NULL));
            check_support(&shape, dimension);
            check_faces(&shape, dimension);
            for (int k = 0; k < 200; k++) {
                cairn_vec3 d = random_direction(&state, dimension);
                CHECK_CLOSE(level(&shape, cairn_shape_support(&shape, d)), 1, 1e-12);
            }
        }
}

TEST(normal_and_curvature)
{
    cairn_shape shapes[] = { super(cairn_vec(1, 2, 0.5), 3, 2.5),
                             super(cairn_vec(1, 2, 0), 2.5, 0) };
    check_smooth(&shapes[0], 3, 1e-3);
    check_smooth(&shapes[1], 2, 1e-3);
}

TEST(along_an_axis_everything_is_finite)
{
    const cairn_vec3 axes[] = { { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, 1 } };
    cairn_shape shape = super(cairn_vec(1, 2, 0.5), 8, 4);
    for (int i = 0; i < 3; i++) {
        cairn_symmetric h;
        cairn_vec3 p = cairn_shape_support(&shape, axes[i]);
        CHECK_CLOSE(cairn_dot(p, axes[i]), i == 0 ? 1 : i == 1 ? 2 : 0.5, 1e-9);
        CHECK_NEAR(
            cairn_norm(cairn_sub(cairn_shape_class_of(&shape)->normal_at(&shape, p), axes[i])), 0,
            1e-9);
        cairn_shape_class_of(&shape)->curvature(&shape, axes[i], &h);
        CHECK(isfinite(h.xx + h.yy + h.zz + h.xy + h.yz + h.zx));
    }
}

/* n = 4: the square of the farthest point of |x|^4 + |y|^4 = 1 is sqrt 2, on the diagonal */
TEST(extent_is_the_farthest_point)
{
    cairn_shape flat = super(cairn_vec(1, 1, 0), 4, 0);
    CHECK_CLOSE(cairn_shape_extent(&flat), pow(2, 0.25), 1e-15);
    cairn_shape solid = super(cairn_vec(1, 1, 1), 4, 4);
    CHECK_CLOSE(cairn_shape_extent(&solid), pow(3, 0.25), 1e-15);
    cairn_shape sharp = super(cairn_vec(1, 3, 2), 1.5, 0);
    CHECK_CLOSE(cairn_shape_extent(&sharp), 3, 0);
}

TEST(exponents_out_of_range_are_refused)
{
    cairn_shape shape = super(cairn_vec(1, 2, 0.5), 1, 0);
    CHECK_INT(cairn_shape_check(&shape, 3, NULL), CAIRN_BAD_INPUT);
    shape.exponent = 21;
    CHECK_INT(cairn_shape_check(&shape, 3, NULL), CAIRN_BAD_INPUT);
    shape.exponent = 4;
    shape.exponent_z = 1;
    CHECK_INT(cairn_shape_check(&shape, 3, NULL), CAIRN_BAD_INPUT);
    shape.exponent_z = 2;
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
}

int main(void)
{
    RUN(CASE(exponents_of_2_make_an_ellipsoid),
        CASE(the_curvature_of_an_ellipsoid_is_found_along_its_axes_too),
        CASE(mass_agrees_with_counting), CASE(support_points_lie_on_the_surface_and_are_farthest),
        CASE(normal_and_curvature), CASE(along_an_axis_everything_is_finite),
        CASE(extent_is_the_farthest_point), CASE(exponents_out_of_range_are_refused));
}
