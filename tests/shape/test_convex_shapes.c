/* test_convex_shapes.c - the convex shapes one by one, and volume integrals. */
#include "tests/shape/solids.h"

/* ==== test_box: boxes and rectangles, sharp and rounded ======================================= */

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

GROUP(test_box)
{
    RUN(CASE(mass_of_a_box), CASE(mass_of_a_rectangle), CASE(a_cube_rounded_to_the_full_is_a_ball),
        CASE(a_rectangle_rounded_to_the_full_is_a_capsule),
        CASE(mass_of_a_rounded_box_agrees_with_counting), CASE(support_and_faces),
        CASE(the_top_face_has_four_corners_and_its_own_number),
        CASE(sizes_that_make_no_box_are_refused));
}

/* ==== test_capsule: capsules in space and plane, and the segment ============================== */

static cairn_shape capsule(int dimension, double radius, double length, cairn_vec3 axis)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_CAPSULE, dimension);
    shape.radius = radius;
    shape.length = length;
    shape.axis = axis;
    return shape;
}

static bool inside_capsule(const cairn_shape *shape, cairn_vec3 p)
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
    check_counted(&solid, 3, inside_capsule, 3e-3);
    check_counted(&flat, 2, inside_capsule, 1e-3);
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

TEST(capsule_support_and_faces)
{
    cairn_shape solid = capsule(3, 0.4, 0.9, cairn_vec(1, 2, -1));
    cairn_shape flat = capsule(2, 0.4, 0.9, cairn_vec(1, 2, 0));
    check_support(&solid, 3);
    check_support(&flat, 2);
    /* an end is a ball: its normal is the direction, so the plane test holds there too */
    check_faces(&solid, 3);
    check_faces(&flat, 2);
}

GROUP(test_capsule)
{
    RUN(CASE(mass_of_a_capsule), CASE(mass_agrees_with_counting_along_any_axis),
        CASE(a_segment_has_a_side_but_no_mass), CASE(capsule_support_and_faces));
}

/* ==== test_cylinder: the solid cylinder ======================================================= */

static cairn_shape cylinder(double radius, double height, cairn_vec3 axis)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_CYLINDER, 3);
    shape.radius = radius;
    shape.height = height;
    shape.axis = axis;
    return shape;
}

static bool inside_cylinder(const cairn_shape *shape, cairn_vec3 p)
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

TEST(cylinder_mass_agrees_with_counting_along_any_axis)
{
    cairn_shape shape = cylinder(0.5, 1.1, cairn_vec(1, -1, 2));
    check_counted(&shape, 3, inside_cylinder, 3e-3);
}

TEST(cylinder_support_and_faces)
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

GROUP(test_cylinder)
{
    RUN(CASE(mass_of_a_cylinder), CASE(cylinder_mass_agrees_with_counting_along_any_axis),
        CASE(cylinder_support_and_faces),
        CASE(a_cap_shows_eight_rim_points_and_the_side_a_generator), CASE(there_is_none_in_2d));
}

/* ==== test_solid_cone: the solid cone, whose origin is its centre of mass ===================== */

static cairn_shape cone(double radius, double height, cairn_vec3 axis)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_CONE, 3);
    shape.radius = radius;
    shape.height = height;
    shape.axis = axis;
    return shape;
}

static bool inside_solid_cone(const cairn_shape *shape, cairn_vec3 p)
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
TEST(cone_mass_agrees_with_counting_along_any_axis)
{
    cairn_shape shape = cone(0.5, 1.1, cairn_vec(1, -1, 2));
    check_counted(&shape, 3, inside_solid_cone, 4e-3);
}

TEST(cone_support_and_faces)
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

GROUP(test_solid_cone)
{
    RUN(CASE(mass_of_a_cone), CASE(cone_mass_agrees_with_counting_along_any_axis),
        CASE(cone_support_and_faces), CASE(upwards_the_apex_is_farthest));
}

/* ==== test_ellipsoid: ellipsoids and ellipses ================================================= */

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

GROUP(test_ellipsoid)
{
    RUN(CASE(mass_of_an_ellipsoid), CASE(mass_of_an_ellipse), CASE(support_normal_and_curvature),
        CASE(curvature_at_the_end_of_an_axis), CASE(support_points_lie_on_the_surface));
}

/* ==== test_superellipsoid: superellipsoids and superellipses ================================== */

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

static bool inside_superellipsoid(const cairn_shape *shape, cairn_vec3 p)
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
    check_counted(&shapes[0], 3, inside_superellipsoid, 3e-3);
    check_counted(&shapes[1], 3, inside_superellipsoid, 3e-3);
    check_counted(&shapes[2], 2, inside_superellipsoid, 1e-3);
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

GROUP(test_superellipsoid)
{
    RUN(CASE(exponents_of_2_make_an_ellipsoid),
        CASE(the_curvature_of_an_ellipsoid_is_found_along_its_axes_too),
        CASE(mass_agrees_with_counting), CASE(support_points_lie_on_the_surface_and_are_farthest),
        CASE(normal_and_curvature), CASE(along_an_axis_everything_is_finite),
        CASE(extent_is_the_farthest_point), CASE(exponents_out_of_range_are_refused));
}

/* ==== test_rounded: hulls swept by a ball ===================================================== */

static cairn_shape hull(const cairn_vec3 *points, int count, int dimension, double rounding)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, dimension);
    CHECK_OK(cairn_hull_create(points, count, dimension, &shape.geometry, NULL));
    shape.rounding = rounding;
    return shape;
}

/* The core has half lengths 1, 1.5, 2 (2D: 1, 1.5) and sits at `centre`. */
static cairn_shape box_hull(int dimension, cairn_vec3 centre, double rounding)
{
    cairn_vec3 points[8];
    for (int i = 0; i < 8; i++)
        points[i] = cairn_add(centre, cairn_vec(i & 1 ? 1 : -1, i & 2 ? 1.5 : -1.5,
                                                dimension == 2 ? 0
                                                : i & 4        ? 2
                                                               : -2));
    return hull(points, dimension == 2 ? 4 : 8, dimension, rounding);
}

/* box.c has its own closed form */
TEST(a_swept_box_is_the_rounded_box)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_shape swept = box_hull(dimension, cairn_vec(0, 0, 0), 0.3);
        cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, dimension);
        cairn_mass found, expected;
        box.size = cairn_vec(2.6, 3.6, dimension == 3 ? 4.6 : 0);
        box.rounding = 0.3;
        CHECK_OK(cairn_shape_mass_tensor(&swept, dimension, &found));
        CHECK_OK(cairn_shape_mass_tensor(&box, dimension, &expected));
        check_mass_equal(&found, &expected, 1e-12);
        CHECK_CLOSE(cairn_shape_extent(&swept), cairn_shape_extent(&box), 1e-15);
        cairn_geometry_release(swept.geometry);
    }
}

TEST(its_place_changes_the_centre_alone)
{
    cairn_shape here = box_hull(3, cairn_vec(0, 0, 0), 0.3);
    cairn_shape there = box_hull(3, cairn_vec(1, -2, 3), 0.3);
    cairn_mass a, b;
    CHECK_OK(cairn_shape_mass_tensor(&here, 3, &a));
    CHECK_OK(cairn_shape_mass_tensor(&there, 3, &b));
    CHECK_NEAR(cairn_norm(cairn_sub(b.centre, cairn_vec(1, -2, 3))), 0, 1e-13);
    check_tensor(&b.inertia, &a.inertia, 1e-10);
    cairn_geometry_release(here.geometry);
    cairn_geometry_release(there.geometry);
}

static const cairn_vec3 tetrahedron[] = {
    { 0, 0, 0 }, { 1, 0, 0 }, { 0.2, 0.8, 0 }, { 0.1, 0.1, 0.7 }
};
static const cairn_vec3 triangle[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0.2, 0.8, 0 } };

/* Distance from p to the segment a b. */
static double to_segment(cairn_vec3 p, cairn_vec3 a, cairn_vec3 b)
{
    cairn_vec3 d = cairn_sub(b, a), e = cairn_sub(p, a);
    double t = fmin(1, fmax(0, cairn_dot(e, d) / cairn_dot(d, d)));
    return cairn_norm(cairn_add_scaled(e, -t, d));
}

/* Within the rounding of the hull: inside, near the inner part of a face, or near an edge. */
static bool inside_rounded(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_geometry_view v = cairn_geometry_look(shape->geometry);
    double nearest = INFINITY, deepest = -INFINITY;
    for (int f = 0; f < v.face_count; f++) {
        const int32_t *c = v.face_vertex + v.face_first[f];
        int count = v.face_first[f + 1] - v.face_first[f];
        double height = cairn_dot(v.face_normal[f], cairn_sub(p, v.vertices[c[0]]));
        bool over = count > 2;
        deepest = fmax(deepest, height);
        for (int k = 0; k < count; k++) {
            cairn_vec3 a = v.vertices[c[k]], b = v.vertices[c[(k + 1) % count]];
            nearest = fmin(nearest, to_segment(p, a, b));
            cairn_vec3 in = cairn_cross(v.face_normal[f], cairn_sub(b, a));
            over = over && cairn_dot(in, cairn_sub(p, a)) >= 0;
        }
        nearest = over && height >= 0 ? fmin(nearest, height) : nearest;
    }
    return deepest <= 0 || nearest <= shape->rounding;
}

TEST(a_swept_tetrahedron_agrees_with_counting)
{
    cairn_shape solid = hull(tetrahedron, 4, 3, 0.2), flat = hull(triangle, 3, 2, 0.2);
    check_counted(&solid, 3, inside_rounded, 1e-2);
    check_counted(&flat, 2, inside_rounded, 5e-3);
    cairn_geometry_release(solid.geometry);
    cairn_geometry_release(flat.geometry);
}

/* Steiner: V(r) = V + A r + (1/2) sum of edge length x angle r^2 + 4/3 pi r^3, so for a large ball
 * the volume tends to that of the ball about the hull */
TEST(a_great_ball_swallows_the_hull)
{
    cairn_shape shape = hull(tetrahedron, 4, 3, 1000);
    cairn_mass m;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    double volume = 4.0 / 3 * M_PI * 1e9;
    CHECK_CLOSE(m.mass, volume, 3e-3);
    CHECK_CLOSE(m.inertia.xx, 0.4 * m.mass * 1e6, 3e-3);
    cairn_geometry_release(shape.geometry);
}

GROUP(test_rounded)
{
    RUN(CASE(a_swept_box_is_the_rounded_box), CASE(its_place_changes_the_centre_alone),
        CASE(a_swept_tetrahedron_agrees_with_counting), CASE(a_great_ball_swallows_the_hull));
}

/* ==== test_moments: volume integrals and the frame of a body ================================== */

/* corners 0, (1,0,0), (0,2,0), (0,0,3): V = 1, centre (1, 2, 3)/4, int x^2 = V 1/10 */
TEST(integrals_of_a_tetrahedron)
{
    cairn_moments m = { 0 };
    cairn_moments_add_tetrahedron(&m, cairn_vec(1, 0, 0), cairn_vec(0, 2, 0), cairn_vec(0, 0, 3));
    CHECK_CLOSE(m.volume, 1, 1e-15);
    CHECK_CLOSE(m.first.y, 0.5, 1e-15);
    CHECK_CLOSE(m.second.xx, 0.1, 1e-15);
    CHECK_CLOSE(m.second.zz, 0.9, 1e-15);
    CHECK_CLOSE(m.second.xy, 2.0 / 20, 1e-15);
    cairn_moments_add_tetrahedron(&m, cairn_vec(1, 0, 0), cairn_vec(0, 0, 3), cairn_vec(0, 2, 0));
    CHECK_NEAR(m.volume, 0, 1e-16);
    CHECK_NEAR(m.second.xy, 0, 1e-16);
}

/* corners 0, (2, 0), (0, 2): A = 2, centre (2, 2)/3, int x^2 = 4/3, int x y = 2/3 */
TEST(integrals_of_a_triangle)
{
    cairn_moments m = { 0 };
    cairn_moments_add_triangle(&m, cairn_vec(2, 0, 0), cairn_vec(0, 2, 0));
    CHECK_CLOSE(m.volume, 2, 1e-15);
    CHECK_CLOSE(m.first.x, 4.0 / 3, 1e-15);
    CHECK_CLOSE(m.second.xx, 4.0 / 3, 1e-15);
    CHECK_CLOSE(m.second.xy, 2.0 / 3, 1e-15);
}

static const cairn_pose pose = { { 1, -2, 0.5 }, { 0.5, 0.5, 0.5, 0.5 } };

/* the quarter-turn quaternion sends x to y, y to z, z to x */
TEST(a_moved_solid_keeps_its_inertia_about_its_centre)
{
    const cairn_moments here = cairn_moments_symmetric(2, 0.3, 0.4, 0.5);
    const cairn_moments there = cairn_moments_placed(&here, &pose);
    const cairn_mass a = cairn_moments_mass(&here, 3), b = cairn_moments_mass(&there, 3);
    CHECK_NEAR(cairn_norm(cairn_sub(b.centre, pose.x)), 0, 1e-15);
    CHECK_CLOSE(b.inertia.yy, a.inertia.xx, 1e-14);
    CHECK_CLOSE(b.inertia.zz, a.inertia.yy, 1e-14);
    CHECK_CLOSE(b.inertia.xx, a.inertia.zz, 1e-14);
    CHECK_NEAR(b.inertia.xy, 0, 1e-14);
}

/* a point p of the shape is at x + R p in the body: the centre at 0, the tensor diagonal there */
TEST(the_body_frame_sits_in_the_centre_along_the_principal_axes)
{
    cairn_moments m = cairn_moments_symmetric(2, 0.3, 0.4, 0.5);
    const cairn_pose skew = { { 1, -2, 0.5 }, cairn_quat_exp(cairn_vec(0.3, -0.4, 1.1)) };
    m = cairn_moments_placed(&m, &skew);
    const cairn_mass mass = cairn_moments_mass(&m, 3);
    cairn_vec3 inertia;
    cairn_pose shape_in_body;
    cairn_mass_principal(&mass, 3, &inertia, &shape_in_body);
    const cairn_moments in_body = cairn_moments_placed(&m, &shape_in_body);
    const cairn_mass seen = cairn_moments_mass(&in_body, 3);
    CHECK_NEAR(cairn_norm(seen.centre), 0, 1e-14);
    const cairn_symmetric diagonal = { .xx = inertia.x, .yy = inertia.y, .zz = inertia.z };
    check_tensor(&seen.inertia, &diagonal, 1e-13);
    CHECK_CLOSE(inertia.x + inertia.y + inertia.z, 2 * (0.3 + 0.4 + 0.5), 1e-13);
}

TEST(in_the_plane_the_frame_moves_but_does_not_turn)
{
    cairn_moments m = { 0 };
    cairn_moments_add_triangle(&m, cairn_vec(2, 0, 0), cairn_vec(0, 2, 0));
    const cairn_mass mass = cairn_moments_mass(&m, 2);
    cairn_vec3 inertia;
    cairn_pose at;
    cairn_mass_principal(&mass, 2, &inertia, &at);
    CHECK_CLOSE(at.x.x, -2.0 / 3, 1e-15);
    CHECK(at.q.w == 1 && at.q.z == 0);
    /* 8/3 about the corner, less 2 (4/9 + 4/9) */
    CHECK_CLOSE(inertia.z, 8.0 / 3 - 16.0 / 9, 1e-14);
    CHECK(inertia.x == 0 && inertia.y == 0);
}

/* a cube has any axes: rounding must not choose some */
TEST(rounding_does_not_turn_the_frame_of_a_cube)
{
    const cairn_mass mass = { .mass = 1, .inertia = { 1, 1 + 1e-16, 1, 3e-17, -2e-17, 1e-17 } };
    cairn_vec3 inertia;
    cairn_pose at;
    cairn_mass_principal(&mass, 3, &inertia, &at);
    CHECK(at.q.w == 1 && at.q.x == 0 && at.q.y == 0 && at.q.z == 0);
}

GROUP(test_moments)
{
    RUN(CASE(integrals_of_a_tetrahedron), CASE(integrals_of_a_triangle),
        CASE(a_moved_solid_keeps_its_inertia_about_its_centre),
        CASE(the_body_frame_sits_in_the_centre_along_the_principal_axes),
        CASE(in_the_plane_the_frame_moves_but_does_not_turn),
        CASE(rounding_does_not_turn_the_frame_of_a_cube));
}
