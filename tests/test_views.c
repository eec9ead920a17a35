/* test_views.c - pictures of worlds in the figures of `cairn reproduce`. */
#include "check.h"
#include "reproduce/bodies.h"
#include "reproduce/views.h"

/* radius 5, cut 3 from the centre: a circle of radius 4; the other ball is 6 away */
TEST(a_plane_cuts_balls_into_circles)
{
    cairn_world *world;
    cairn_study study = { 0 };
    CHECK_OK(cairn_plain_world(3, (cairn_vec3){ 0, 0, -1 }, 0, &world));
    CHECK_OK(cairn_add_ball(world, &(cairn_ball){ .radius = 5, .mass = 1, .x = { 1, 3, 2 } }));
    CHECK_OK(cairn_add_ball(world, &(cairn_ball){ .radius = 5, .mass = 1, .x = { 20, 6, 2 } }));
    cairn_view_balls(&study, world, &(cairn_figure){ .name = "cut", .title = "cut" }, 0, 0);
    CHECK_INT(study.figure_count, 1);
    CHECK(study.figures[0].equal);
    CHECK_TEXT(study.figures[0].y_label, "z (m)");
    CHECK_INT(study.series[0].count, 1);
    CHECK_NEAR(study.series[0].points[0][0], 1, 0);
    CHECK_NEAR(study.series[0].points[0][1], 2, 0);
    CHECK_NEAR(study.series[0].points[0][2], 4, 1e-15);
    cairn_study_clear(&study);
    cairn_world_destroy(world);
}

TEST(disks_are_all_shown)
{
    cairn_world *world;
    cairn_study study = { 0 };
    CHECK_OK(cairn_plain_world(2, (cairn_vec3){ 0, -1, 0 }, 0, &world));
    for (int i = 0; i < 3; i++)
        CHECK_OK(cairn_add_ball(world, &(cairn_ball){ .radius = 1, .mass = 1, .x = { 3 * i, i } }));
    cairn_view_balls(&study, world, &(cairn_figure){ .name = "all", .title = "all" }, 1, 0);
    CHECK_INT(study.series[0].count, 2);
    CHECK_NEAR(study.series[0].points[1][1], 2, 0);
    CHECK_NEAR(study.series[0].points[1][2], 1, 0);
    cairn_study_clear(&study);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(a_plane_cuts_balls_into_circles), CASE(disks_are_all_shown));
}
