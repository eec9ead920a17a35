/* test_grains.c - the worlds of many grains that `cairn reproduce` runs. */
#include "check.h"
#include "reproduce/grains.h"

static double overlap(cairn_world *world)
{
    double depth;
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    return depth;
}

/* radius 0.8 to 0.9 of half the grid step, jitter 0.05 of it: nothing overlaps */
TEST(the_box_holds_n_cubed_spheres_apart)
{
    cairn_world *world;
    CHECK_OK(cairn_grains_box(6, &world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 5 + 216);
    for (int i = 5; i < b.count; i++) {
        CHECK(cairn_bodies_shape(&b, i)->radius >= 0.8 * 10 / 12 &&
              cairn_bodies_shape(&b, i)->radius <= 0.9 * 10 / 12);
        CHECK(b.mass[i] >= 1 && b.mass[i] <= 2);
    }
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

/* n = 8: 0.02516, n = 50: 0.004025 in the authors' demos */
TEST(the_step_of_the_box_is_that_of_the_authors)
{
    CHECK_CLOSE(cairn_grains_box_step(8), 0.02516, 1e-3);
    CHECK_CLOSE(cairn_grains_box_step(50), 0.004025, 1e-3);
}

TEST(the_column_has_its_lowest_row_shifted_by_half_a_radius)
{
    cairn_world *world;
    double r = 10.0 / 62;
    CHECK_NEAR(cairn_grains_column_radius(30), r, 1e-15);
    CHECK_OK(cairn_grains_column(2, 30, 0.1, &world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 901);
    CHECK_NEAR(b.x[1].x - b.x[31].x, r / 2, 1e-12);
    CHECK_NEAR(b.x[31].y - b.x[1].y, 1.0 / 3, 1e-12);
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

/* dt = 0.0086 for N = 1728, as printed in [BL23] 3.3.2 */
TEST(spheres_on_a_plane_have_the_printed_step)
{
    cairn_world *world;
    CHECK_CLOSE(cairn_grains_column_step(12), 0.0086, 1e-2);
    CHECK_OK(cairn_grains_column(3, 4, 1, &world));
    CHECK_INT(cairn_world_bodies(world).count, 65);
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

/* vertical semi-axis 0.45, floor of disks of radius 0.045 with its top at 0 */
TEST(ellipses_start_apart_over_glued_disks)
{
    cairn_world *world;
    CHECK_OK(cairn_grains_ellipses(&world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, ELLIPSE_GLUED + ELLIPSES);
    CHECK_NEAR(b.x[0].y + cairn_bodies_shape(&b, 0)->radius, 0, 1e-15);
    CHECK_NEAR(b.x[1].x - b.x[0].x, 2 * cairn_bodies_shape(&b, 0)->radius, 1e-12);
    for (int i = ELLIPSE_GLUED; i < b.count; i++) {
        CHECK_NEAR(cairn_bodies_shape(&b, i)->semi_axes.y, 0.45, 0);
        CHECK(cairn_bodies_shape(&b, i)->semi_axes.x >= 0.22 &&
              cairn_bodies_shape(&b, i)->semi_axes.x <= 0.68);
    }
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

TEST(all_small_disks_but_those_beside_it_start_above_the_big_one)
{
    cairn_world *world;
    cairn_nut_box box = { .width = 14, .amplitude = 3, .period = 1.5, .disks = 200, .big = 1.5 };
    box.seed = 1;
    CHECK_OK(cairn_grains_nut(&box, &world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, NUT_WALLS + 201);
    CHECK_NEAR(cairn_bodies_shape(&b, NUT_BIG)->radius, 1.5, 0);
    CHECK_NEAR(b.mass[NUT_BIG], 9, 1e-12);
    CHECK_NEAR(overlap(world), 0, 0);
    CHECK(cairn_grains_above(world) > 180 && cairn_grains_above(world) < 200);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(the_box_holds_n_cubed_spheres_apart), CASE(the_step_of_the_box_is_that_of_the_authors),
        CASE(the_column_has_its_lowest_row_shifted_by_half_a_radius),
        CASE(spheres_on_a_plane_have_the_printed_step), CASE(ellipses_start_apart_over_glued_disks),
        CASE(all_small_disks_but_those_beside_it_start_above_the_big_one));
}
