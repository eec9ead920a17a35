/* test_surface.c - the free surface of known shapes. */
#include "grain_sample.h"

TEST(the_surface_of_one_disk_is_its_upper_half)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = cairn_measure_options_default();
    heap_ball(h, 2, (cairn_vec3){ 5, 1, 0 });
    heap_ball(h, 0.5, (cairn_vec3){ 5, 0, 0 }); /* hidden below */
    o.bins = 8;
    cairn_statistic_table t = heap_measure(h, "surface", &o);
    CHECK_INT(t.rows, 8);
    for (size_t k = 0; k < 8; k++) {
        double x = 3 + 0.5 * (double)k + 0.25;
        CHECK_NEAR(table_at(&t, k, "position"), x, 1e-12);
        CHECK_NEAR(table_at(&t, k, "height"), 1 + sqrt(4 - (x - 5) * (x - 5)), 1e-12);
        CHECK_NEAR(table_at(&t, k, "cover"), 1, 0);
    }
    cairn_statistic_table_destroy(&t);
}

/* Columns of 1, 2, ... 6 disks: steps up of one diameter each. */
TEST(a_staircase_of_disks_rises_by_one_a_step)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = box_options((cairn_vec3){ 0, -1e30, 0 }, (cairn_vec3){ 7, 1e30, 1 });
    for (int column = 0; column < 6; column++)
        for (int k = 0; k <= column; k++)
            heap_ball(h, 0.5, (cairn_vec3){ column + 0.5, k + 0.5, 0 });
    o.bins = 7; /* the middles of the columns, and a place where there is nothing */
    cairn_statistic_table t = heap_measure(h, "surface", &o);
    for (size_t k = 0; k < 6; k++)
        CHECK_NEAR(table_at(&t, k, "height"), (double)k + 1, 1e-12);
    CHECK(isnan(table_at(&t, 6, "height")));
    CHECK_NEAR(table_at(&t, 6, "cover"), 0, 0);
    cairn_statistic_table_destroy(&t);
}

/* A floor of 4 x 4 balls with one more on top, probed above the centres. */
TEST(in_3d_a_row_sums_up_the_points_across)
{
    heap *h = heap_empty(3);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, -1e30 }, (cairn_vec3){ 4, 4, 1e30 });
    for (int k = 0; k < 16; k++)
        heap_ball(h, 0.5, (cairn_vec3){ k % 4 + 0.5, k / 4 + 0.5, 0.5 });
    heap_ball(h, 0.5, (cairn_vec3){ 2.5, 1.5, 1.5 });
    o.bins = 4;
    cairn_statistic_table t = heap_measure(h, "surface", &o);
    CHECK_NEAR(table_at(&t, 1, "height"), 1, 1e-12);
    CHECK_NEAR(table_at(&t, 2, "height"), 1.25, 1e-12);
    CHECK_NEAR(table_at(&t, 2, "top"), 2, 1e-12);
    cairn_statistic_table_destroy(&t);
}

TEST(up_is_against_gravity)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = cairn_measure_options_default();
    h->sample.gravity = (cairn_vec3){ 10, 1, 0 }; /* up is -x, so the surface goes along y */
    heap_ball(h, 1, (cairn_vec3){ -4, 2, 0 });
    o.bins = 1;
    cairn_statistic_table t = heap_measure(h, "surface", &o);
    CHECK_NEAR(table_at(&t, 0, "position"), 2, 1e-12);
    CHECK_NEAR(table_at(&t, 0, "height"), 5, 1e-12);
    cairn_statistic_table_destroy(&t);
}

int main(void)
{
    RUN(CASE(the_surface_of_one_disk_is_its_upper_half),
        CASE(a_staircase_of_disks_rises_by_one_a_step), CASE(in_3d_a_row_sums_up_the_points_across),
        CASE(up_is_against_gravity));
}
