/* test_polygons.c - sets of polygons as viewers read them. */
#include "io/polygons.h"
#include "small_world.h"

TEST(cells_follow_each_other)
{
    cairn_polygons p = { 0 };
    const cairn_vec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 } };
    CHECK_OK(cairn_polygons_add(&p, corners, 3, 7));
    CHECK_OK(cairn_polygons_add(&p, corners, 4, 8));
    CHECK_INT(p.cells, 2);
    CHECK_INT(p.offsets[0], 3);
    CHECK_INT(p.offsets[1], 7);
    CHECK_INT(p.connectivity[6], 6);
    CHECK_INT(p.body[1], 8);
    CHECK_NEAR(p.x[6].y, 1, 0);
    cairn_polygons_clear(&p);
    CHECK_INT(p.cells + p.points + p.corners, 0);
    cairn_polygons_destroy(&p);
}

/* as a line the outline of a square ends where it began: five corners, four points */
TEST(an_outline_is_closed)
{
    cairn_world *world = world_create(2);
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 2);
    cairn_polygons p = { 0 };
    box.size = (cairn_vec3){ 2, 2, 0 };
    int index = cairn_body_row(world, add_wall(world, box, (cairn_vec3){ 5, 0, 0 }));
    const cairn_bodies bodies = cairn_world_bodies(world);
    const cairn_polygons_of filled = { 2, 3, false }, lines = { 2, 4, true };
    CHECK_OK(cairn_polygons_add_body(&p, &bodies, index, &filled));
    CHECK_OK(cairn_polygons_add_body(&p, &bodies, index, &lines));
    CHECK_INT(p.points, 8);
    CHECK_INT(p.offsets[0], 4);
    CHECK_INT(p.offsets[1], 9);
    CHECK_INT(p.connectivity[8], p.connectivity[4]);
    CHECK_NEAR(fabs(p.x[0].x - 5), 1, 1e-15);
    cairn_polygons_destroy(&p);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(cells_follow_each_other), CASE(an_outline_is_closed));
}
