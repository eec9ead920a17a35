/* test_collider.c - placing a shape in space. */
#include "check.h"
#include "collide/collide.h"
#include "math/vec.h"

TEST(placing_sets_pose_extent_and_box)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cairn_collider c = { .shape = &box };
    box.size = cairn_vec(2, 2, 4);
    cairn_collider_place(&c, (cairn_pose){ { 1, 0, 0 }, { 1, 0, 0, 0 } });
    CHECK_NEAR(c.x.x, 1, 0);
    CHECK_NEAR(c.extent, sqrt(6), 1e-15);
    CHECK_NEAR(c.box.half.z, 2, 1e-15);
    CHECK(cairn_collider_bounded(&c));
}

TEST(a_half_space_has_no_bounds_and_a_hole_neither)
{
    cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    cairn_collider c = { .shape = &wall }, hole = { .shape = NULL };
    cairn_collider_place(&c, (cairn_pose){ { 0, 0, 0 }, { 1, 0, 0, 0 } });
    CHECK(!cairn_collider_bounded(&c));
    CHECK(!cairn_collider_bounded(&hole));
}

TEST(enclosing_takes_the_ball_of_the_extent)
{
    cairn_collider c = { .x = { 1, 2, 3 }, .extent = 0.5 };
    cairn_collider_enclose(&c);
    CHECK_NEAR(c.box.centre.y, 2, 0);
    CHECK_NEAR(c.box.half.x, 0.5, 0);
}

int main(void)
{
    RUN(CASE(placing_sets_pose_extent_and_box), CASE(a_half_space_has_no_bounds_and_a_hole_neither),
        CASE(enclosing_takes_the_ball_of_the_extent));
}
