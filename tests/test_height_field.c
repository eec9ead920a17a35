/* test_height_field.c - ground over a grid. */
#include "solids.h"

/* 3 columns 0.5 m apart, 2 rows 2 m apart: z = x + y/4 at x = -0.5, 0, 0.5 and y = -1, 1 */
static const double slope[6] = { -0.75, -0.25, 0.25, -0.25, 0.25, 0.75 };

TEST(a_plane_slope_has_one_normal)
{
    const cairn_height_field_def def = { 3, 2, { 0.5, 2 }, slope };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    cairn_mass m;
    CHECK_OK(cairn_height_field_create(&def, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    cairn_vec3 up = cairn_unit(cairn_vec(-1, -0.25, 1));
    CHECK_INT(v.face_count, 4);
    CHECK_INT(v.vertex_count, 6);
    for (int f = 0; f < 4; f++)
        CHECK_NEAR(cairn_norm(cairn_sub(v.face_normal[f], up)), 0, 1e-15);
    for (int i = 0; i < 6; i++)
        CHECK_CLOSE(v.vertices[i].z, v.vertices[i].x + v.vertices[i].y / 4, 1e-15);
    CHECK(!v.closed);
    CHECK_INT(cairn_shape_mass_tensor(&shape, 3, &m), CAIRN_UNSUPPORTED);
    CHECK_CLOSE(cairn_shape_extent(&shape), sqrt(0.25 + 1 + 0.5625), 1e-15);
    cairn_geometry_release(shape.geometry);
}

TEST(impossible_grids_are_refused)
{
    const double bad[4] = { 0, 0, NAN, 0 };
    const cairn_height_field_def defs[] = { { 1, 2, { 1, 1 }, slope },
                                            { 2, 2, { 1, 0 }, slope },
                                            { 2, 2, { 1, 1 }, bad },
                                            { 1 << 20, 1 << 20, { 1, 1 }, slope } };
    const char *const pieces[] = { "found 1 x 2 heights", "expected a number > 0",
                                   "row 2, column 1 is not finite", "expected at most" };
    for (int i = 0; i < 4; i++) {
        const cairn_geometry *g;
        cairn_error error = { 0 };
        CHECK(cairn_height_field_create(&defs[i], &g, &error) != CAIRN_OK);
        CHECK(g == NULL);
        CHECK_CONTAINS(error.message, pieces[i]);
    }
}

int main(void)
{
    RUN(CASE(a_plane_slope_has_one_normal), CASE(impossible_grids_are_refused));
}
