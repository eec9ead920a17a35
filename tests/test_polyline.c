/* test_polyline.c - chains of segments in the plane. */
#include "failing_allocator.h"
#include "solids.h"

/* an L: 2 x 2 less the upper right 1 x 1, counterclockwise */
static const cairn_vec3 corner[] = { { 0, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 },
                                     { 1, 1, 0 }, { 1, 2, 0 }, { 0, 2, 0 } };

/* A = 3, centre (5/6, 5/6); int x^2 = 8/3 + 1/3 = 3 and the same for y */
TEST(a_closed_counterclockwise_chain_is_a_solid)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    cairn_mass m;
    CHECK_OK(cairn_polyline_create(corner, 6, true, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 2, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 2, &m));
    CHECK_CLOSE(m.mass, 3, 1e-15);
    CHECK_CLOSE(m.centre.x, 5.0 / 6, 1e-15);
    CHECK_CLOSE(m.inertia.zz, 6 - 3 * 2 * 25.0 / 36, 1e-14);
    CHECK_CLOSE(cairn_shape_extent(&shape), sqrt(5), 1e-15);
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    CHECK_INT(v.face_count, 6);
    CHECK_NEAR(v.face_normal[0].y, -1, 0);
    CHECK_NEAR(v.face_normal[5].x, -1, 0);
    cairn_geometry_release(shape.geometry);
}

TEST(open_and_clockwise_chains_are_walls)
{
    cairn_vec3 back[6];
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    cairn_mass m;
    for (int i = 0; i < 6; i++)
        back[i] = corner[5 - i];
    for (int closed = 0; closed < 2; closed++) {
        CHECK_OK(cairn_polyline_create(closed ? back : corner, 6, closed, &shape.geometry, NULL));
        CHECK_INT(cairn_geometry_look(shape.geometry).face_count, 5 + closed);
        CHECK_INT(cairn_shape_mass_tensor(&shape, 2, &m), CAIRN_UNSUPPORTED);
        cairn_geometry_release(shape.geometry);
    }
}

TEST(impossible_chains_are_refused)
{
    const cairn_vec3 twice[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 } };
    const cairn_vec3 away[] = { { 0, 0, 0 }, { 1, 0, 1 } };
    const cairn_geometry *g;
    cairn_error error = { 0 };
    CHECK_INT(cairn_polyline_create(corner, 1, false, &g, &error), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_polyline_create(corner, 2, true, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "found 2 points, expected at least 3");
    CHECK_INT(cairn_polyline_create(twice, 3, false, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "points 2 and 3 coincide");
    CHECK_INT(cairn_polyline_create(away, 2, false, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "point 2 has z = 1");
    CHECK(g == NULL);
}

TEST(nothing_leaks_when_an_allocation_fails)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK && n < 50; n++) {
        meter m = { .fail_at = n };
        const cairn_geometry *g;
        meter_install(&m);
        status = cairn_polyline_create(corner, 6, true, &g, NULL);
        cairn_geometry_release(g);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

int main(void)
{
    RUN(CASE(a_closed_counterclockwise_chain_is_a_solid), CASE(open_and_clockwise_chains_are_walls),
        CASE(impossible_chains_are_refused), CASE(nothing_leaks_when_an_allocation_fails));
}
