/* test_compound.c - shapes joined rigidly. */
#include "failing_allocator.h"
#include "solids.h"

static const cairn_quat none = { 1, 0, 0, 0 };

static cairn_part ball(double radius, cairn_vec3 x)
{
    cairn_part part = { cairn_shape_default(CAIRN_SHAPE_SPHERE, 3), { x, none } };
    part.shape.radius = radius;
    return part;
}

static cairn_part box(cairn_vec3 size, cairn_vec3 x, cairn_quat q)
{
    cairn_part part = { cairn_shape_default(CAIRN_SHAPE_BOX, 3), { x, q } };
    part.shape.size = size;
    return part;
}

/* balls of volume V at +-d on x: J_x = 2 2/5 V r^2, J_y = J_x + 2 V d^2 */
TEST(a_dumbbell)
{
    const cairn_part parts[] = { ball(0.5, cairn_vec(2, 0, 0)), ball(0.5, cairn_vec(-2, 0, 0)) };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    cairn_mass m;
    CHECK_OK(cairn_compound_create(parts, 2, 3, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    double volume = M_PI / 6;
    CHECK_CLOSE(m.mass, 2 * volume, 1e-15);
    CHECK_CLOSE(m.inertia.xx, 0.2 * volume, 1e-14);
    CHECK_CLOSE(m.inertia.yy, 0.2 * volume + 8 * volume, 1e-14);
    CHECK_CLOSE(cairn_shape_extent(&shape), 2.5, 1e-15);
    cairn_geometry_release(shape.geometry);
}

/* a box cut in two turned halves is the box */
TEST(turned_parts_make_the_whole)
{
    const cairn_quat quarter = { sqrt(0.5), 0, 0, sqrt(0.5) }; /* x -> y about z */
    const cairn_part parts[] = { box(cairn_vec(1, 3, 4), cairn_vec(0.5, 0, 0), none),
                                 box(cairn_vec(3, 1, 4), cairn_vec(-0.5, 0, 0), quarter) };
    cairn_part whole = box(cairn_vec(2, 3, 4), cairn_vec(0, 0, 0), none);
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    cairn_mass found, expected;
    CHECK_OK(cairn_compound_create(parts, 2, 3, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &found));
    CHECK_OK(cairn_shape_mass_tensor(&whole.shape, 3, &expected));
    check_mass_equal(&found, &expected, 1e-13);
    cairn_geometry_release(shape.geometry);
}

TEST(a_compound_in_a_compound_is_dissolved_and_lives_on_alone)
{
    const cairn_part pair[] = { ball(0.5, cairn_vec(1, 0, 0)), ball(0.25, cairn_vec(-1, 0, 0)) };
    cairn_part parts[2] = { ball(1, cairn_vec(0, 0, 0)) };
    const cairn_geometry *outer;
    parts[1].shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    parts[1].pose = (cairn_pose){ { 0, 0, 5 }, { sqrt(0.5), 0, 0, sqrt(0.5) } };
    CHECK_OK(cairn_compound_create(pair, 2, 3, &parts[1].shape.geometry, NULL));
    CHECK_OK(cairn_compound_create(parts, 2, 3, &outer, NULL));
    cairn_geometry_release(parts[1].shape.geometry);
    cairn_geometry_view v = cairn_geometry_look(outer);
    CHECK_INT(v.part_count, 3);
    CHECK_NEAR(cairn_norm(cairn_sub(v.parts[1].pose.x, cairn_vec(0, 1, 5))), 0, 1e-15);
    CHECK_NEAR(v.parts[2].shape.radius, 0.25, 0);
    cairn_geometry_release(outer);
}

/* the hull of a part is held by the compound */
TEST(the_data_of_parts_are_held)
{
    const cairn_vec3 corners[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    cairn_part part = { cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2), { { 0, 0, 0 }, none } };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 2);
    cairn_mass m;
    CHECK_OK(cairn_hull_create(corners, 3, 2, &part.shape.geometry, NULL));
    CHECK_OK(cairn_compound_create(&part, 1, 2, &shape.geometry, NULL));
    cairn_geometry_release(part.shape.geometry);
    CHECK_OK(cairn_shape_mass_tensor(&cairn_geometry_look(shape.geometry).parts[0].shape, 2, &m));
    CHECK_CLOSE(m.mass, 0.5, 1e-15);
    cairn_geometry_release(shape.geometry);
}

TEST(impossible_parts_are_refused)
{
    cairn_part wall = { cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), { { 0, 0, 0 }, none } };
    cairn_part small = ball(0, cairn_vec(0, 0, 0)), turned = ball(1, cairn_vec(0, 0, 0));
    cairn_part far = ball(1, cairn_vec(NAN, 0, 0));
    turned.pose.q.w = 2;
    const cairn_part *const bad[] = { &wall, &small, &turned, &far };
    const char *const keys[] = { "shape", "radius", "orientation", "position" };
    for (int i = 0; i < 4; i++) {
        const cairn_geometry *g;
        cairn_error error = { 0 };
        CHECK(cairn_compound_create(bad[i], 1, 3, &g, &error) != CAIRN_OK);
        CHECK(g == NULL);
        CHECK_TEXT(error.key, keys[i]);
    }
    const cairn_geometry *g;
    CHECK_INT(cairn_compound_create(NULL, 0, 3, &g, NULL), CAIRN_BAD_INPUT);
}

TEST(nothing_leaks_when_an_allocation_fails)
{
    const cairn_part parts[] = { ball(0.5, cairn_vec(2, 0, 0)), ball(0.5, cairn_vec(-2, 0, 0)) };
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK && n < 50; n++) {
        meter m = { .fail_at = n };
        const cairn_geometry *g;
        meter_install(&m);
        status = cairn_compound_create(parts, 2, 3, &g, NULL);
        cairn_geometry_release(g);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

int main(void)
{
    RUN(CASE(a_dumbbell), CASE(turned_parts_make_the_whole),
        CASE(a_compound_in_a_compound_is_dissolved_and_lives_on_alone),
        CASE(the_data_of_parts_are_held), CASE(impossible_parts_are_refused),
        CASE(nothing_leaks_when_an_allocation_fails));
}
