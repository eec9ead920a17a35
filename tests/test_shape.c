/* test_shape.c - all shape kinds: tables, defaults, refusals, mass, extent. */
#include "check.h"
#include "math/vec.h"
#include "shape/shape.h"

/* Whether a kind exists in a dimension and needs no data. */
static bool plain(int kind, int dimension)
{
    int only = cairn_shape_dimension((cairn_shape_kind)kind);
    cairn_shape shape = { .kind = (cairn_shape_kind)kind };
    return (only == 0 || only == dimension) && !cairn_shape_class_of(&shape)->has_geometry;
}

/* A good shape of each kind. */
static cairn_shape good(cairn_shape_kind kind, int dimension)
{
    cairn_shape shape = cairn_shape_default(kind, dimension);
    shape.size = shape.semi_axes = cairn_vec(0.5, 0.6, dimension == 3 ? 0.7 : 0);
    shape.length = 0.3;
    shape.exponent = 3;
    shape.radius = 0.5;
    shape.half_angle = 0.6;
    shape.bottom_radius = 0.1;
    shape.top_radius = 0.4;
    shape.height = 0.7;
    return shape;
}

static void check_refused(const cairn_shape *shape, int dimension, cairn_status status,
                          const char *key)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_shape_check(shape, dimension, &error), status);
    CHECK_TEXT(error.key, key);
    CHECK(strlen(error.message) > 0);
}

TEST(the_kinds_have_these_names_and_a_summary)
{
    static const char *const names[] = { "sphere",          "point",        "half_space",
                                         "inside_cylinder", "inside_cone",  "funnel",
                                         "inside_box",      "box",          "capsule",
                                         "cylinder",        "cone",         "ellipsoid",
                                         "superellipsoid",  "polyhedron",   "mesh",
                                         "polyline",        "height_field", "compound" };
    CHECK_INT(CAIRN_SHAPE_COUNT, sizeof names / sizeof names[0]);
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        const cairn_record *record = cairn_shape_record(kind);
        CHECK_TEXT(record->name, names[kind]);
        CHECK(strlen(record->summary) > 0);
        CHECK_INT(record->size, sizeof(cairn_shape));
        cairn_shape shape = { .radius = 9 };
        record->set_default(&shape);
        CHECK_NEAR(shape.radius, 0, 0);
        CHECK_NEAR(shape.axis.z, 1, 0);
    }
    CHECK(cairn_shape_record(CAIRN_SHAPE_COUNT) == NULL);
    CHECK(cairn_shape_record(-1) == NULL);
}

TEST(sizes_must_be_given_and_axes_need_not)
{
    static const char *const free[] = { "axis", "rounding", "exponent_z" };
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        const cairn_record *record = cairn_shape_record(kind);
        for (int i = 0; i < record->option_count; i++) {
            bool may_miss = false;
            for (int k = 0; k < 3; k++)
                may_miss = may_miss || strcmp(record->options[i].name, free[k]) == 0;
            CHECK_INT(record->options[i].required, !may_miss);
        }
    }
}

TEST(axes_point_up_but_a_circle_has_its_axis_across_the_plane)
{
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        cairn_shape in_space = cairn_shape_default((cairn_shape_kind)kind, 3);
        cairn_shape in_plane = cairn_shape_default((cairn_shape_kind)kind, 2);
        CHECK_INT(in_space.kind, kind);
        CHECK_NEAR(in_space.axis.z, 1, 0);
        CHECK_NEAR(in_plane.axis.y, kind == CAIRN_SHAPE_INSIDE_CYLINDER ? 0 : 1, 0);
        CHECK_NEAR(in_plane.axis.z, kind == CAIRN_SHAPE_INSIDE_CYLINDER ? 1 : 0, 0);
    }
}

TEST(good_shapes_pass_in_2d_and_3d)
{
    cairn_error error = { 0 };
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            if (!plain(kind, dimension))
                continue;
            cairn_shape shape = good((cairn_shape_kind)kind, dimension);
            CHECK_OK(cairn_shape_check(&shape, dimension, &error));
            CHECK_TEXT(error.message, "");
        }
}

TEST(sizes_out_of_range_are_refused_with_their_key)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 3);
    shape.radius = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "radius");
    shape.radius = NAN;
    check_refused(&shape, 3, CAIRN_NOT_FINITE, "radius");
    shape = good(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    shape.radius = -1;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "radius");
    shape = good(CAIRN_SHAPE_INSIDE_CONE, 3);
    shape.half_angle = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "half_angle");
    shape.half_angle = M_PI / 2;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "half_angle");
    shape = good(CAIRN_SHAPE_FUNNEL, 3);
    shape.bottom_radius = -0.1;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "bottom_radius");
    shape = good(CAIRN_SHAPE_FUNNEL, 3);
    shape.height = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "height");
}

TEST(a_funnel_may_be_a_tube_or_end_in_a_tip_but_not_be_a_line)
{
    cairn_shape shape = good(CAIRN_SHAPE_FUNNEL, 3);
    shape.top_radius = shape.bottom_radius;
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    shape.bottom_radius = 0;
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    shape.top_radius = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "top_radius");
}

TEST(an_axis_needs_a_direction_that_lies_in_the_plane_in_2d)
{
    for (int kind = CAIRN_SHAPE_HALF_SPACE; kind < CAIRN_SHAPE_COUNT; kind++) {
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        if (!cairn_shape_class_of(&shape)->has_axis || !plain(kind, 2))
            continue;
        shape.axis = cairn_vec(0, 0, 0);
        check_refused(&shape, 3, CAIRN_BAD_INPUT, "axis");
        shape.axis = cairn_vec(0, NAN, 0);
        check_refused(&shape, 3, CAIRN_NOT_FINITE, "axis");
        shape.axis = cairn_vec(0, 1, 1);
        CHECK_OK(cairn_shape_check(&shape, 3, NULL));
        check_refused(&shape, 2, CAIRN_BAD_INPUT, "axis");
    }
}

TEST(a_kind_that_does_not_exist_is_refused)
{
    cairn_shape shape = { .kind = CAIRN_SHAPE_COUNT };
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "shape");
    shape.kind = (cairn_shape_kind)-1;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "shape");
}

/* r = 0.5 m, 1000 kg/m^3: m = 4/3 pi 0.125 1000 = 523.6 kg, J = 0.4 m 0.25 = 52.36 kg m^2 */
TEST(mass_of_a_ball)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 3);
    cairn_vec3 inertia;
    double mass;
    CHECK_OK(cairn_shape_mass(&shape, 3, 1000, &mass, &inertia));
    CHECK_CLOSE(mass, 500 * M_PI / 3, 1e-14);
    CHECK_CLOSE(inertia.x, 50 * M_PI / 3, 1e-14);
    CHECK_CLOSE(inertia.y, 50 * M_PI / 3, 1e-14);
    CHECK_CLOSE(inertia.z, 50 * M_PI / 3, 1e-14);
}

/* r = 0.5 m, 8 kg/m^2: m = pi 0.25 8 = 2 pi kg, J = m r^2/2 = pi/4 kg m^2 about z */
TEST(mass_of_a_disk)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 2);
    cairn_vec3 inertia;
    double mass;
    CHECK_OK(cairn_shape_mass(&shape, 2, 8, &mass, &inertia));
    CHECK_CLOSE(mass, 2 * M_PI, 1e-14);
    CHECK_CLOSE(inertia.z, M_PI / 4, 1e-14);
    CHECK_NEAR(inertia.x, 0, 0);
    CHECK_NEAR(inertia.y, 0, 0);
}

TEST(points_and_walls_have_no_mass_of_their_own)
{
    for (int kind = CAIRN_SHAPE_POINT; kind <= CAIRN_SHAPE_INSIDE_BOX; kind++) {
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        cairn_vec3 inertia = { 1, 1, 1 };
        double mass = 1;
        CHECK_INT(cairn_shape_mass(&shape, 3, 1000, &mass, &inertia), CAIRN_UNSUPPORTED);
        CHECK_NEAR(mass, 0, 0);
        CHECK_NEAR(cairn_norm(inertia), 0, 0);
    }
}

TEST(only_solids_are_bounded)
{
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        if (!plain(kind, 3))
            continue;
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        double extent = cairn_shape_extent(&shape);
        bool wall = kind >= CAIRN_SHAPE_HALF_SPACE && kind <= CAIRN_SHAPE_INSIDE_BOX;
        CHECK_INT(isinf(extent), wall);
        CHECK_INT(cairn_shape_bounded(&shape), !wall);
        if (kind == CAIRN_SHAPE_SPHERE)
            CHECK_NEAR(extent, 0.5, 0);
        if (kind == CAIRN_SHAPE_POINT)
            CHECK_NEAR(extent, 0, 0);
    }
}

/* a sphere is a point that a ball sweeps */
TEST(the_core_of_a_ball_is_its_centre)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 3);
    const cairn_shape_class *class = cairn_shape_class_of(&shape);
    cairn_face face;
    cairn_symmetric h;
    CHECK_NEAR(cairn_norm(cairn_shape_support(&shape, cairn_vec(1, 2, 3))), 0, 0);
    CHECK_NEAR(cairn_shape_rounding(&shape), 0.5, 0);
    cairn_shape_face(&shape, cairn_vec(0, 3, 0), &face);
    CHECK_INT(face.count, 1);
    CHECK_NEAR(face.normal.y, 1, 0);
    CHECK(class->smooth);
    class->curvature(&shape, cairn_vec(0, 3, 0), &h);
    CHECK_NEAR(h.xx, 0, 0);
    CHECK_NEAR(class->normal_at(&shape, cairn_vec(0, 0, 0.2)).z, 1, 0);
}

TEST(a_shape_without_its_data_is_refused)
{
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        bool flat = cairn_shape_dimension((cairn_shape_kind)kind) == 2;
        if (cairn_shape_class_of(&shape)->has_geometry)
            check_refused(&shape, flat ? 2 : 3, CAIRN_BAD_INPUT, "geometry");
    }
}

TEST(the_data_of_another_kind_or_dimension_are_refused)
{
    const cairn_vec3 corners[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    cairn_shape shape = good(CAIRN_SHAPE_POLYHEDRON, 2);
    CHECK_OK(cairn_hull_create(corners, 3, 2, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 2, NULL));
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "geometry");
    shape.kind = CAIRN_SHAPE_POLYLINE;
    check_refused(&shape, 2, CAIRN_BAD_INPUT, "geometry");
    cairn_geometry_release(shape.geometry);
}

int main(void)
{
    RUN(CASE(the_kinds_have_these_names_and_a_summary), CASE(sizes_must_be_given_and_axes_need_not),
        CASE(axes_point_up_but_a_circle_has_its_axis_across_the_plane),
        CASE(good_shapes_pass_in_2d_and_3d), CASE(sizes_out_of_range_are_refused_with_their_key),
        CASE(a_funnel_may_be_a_tube_or_end_in_a_tip_but_not_be_a_line),
        CASE(an_axis_needs_a_direction_that_lies_in_the_plane_in_2d),
        CASE(a_kind_that_does_not_exist_is_refused), CASE(mass_of_a_ball), CASE(mass_of_a_disk),
        CASE(points_and_walls_have_no_mass_of_their_own), CASE(only_solids_are_bounded),
        CASE(the_core_of_a_ball_is_its_centre), CASE(a_shape_without_its_data_is_refused),
        CASE(the_data_of_another_kind_or_dimension_are_refused));
}
