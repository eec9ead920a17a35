/* test_slices.c - packing fractions of lattices, and slices. */
#include "grain_sample.h"

TEST(a_simple_cubic_lattice_fills_pi_over_6)
{
    heap *h = heap_simple_cubic(3, 8);
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_CLOSE(heap_number(h, "packing", "fraction", &o), M_PI / 6, 1e-12);
    /* a box of whole cells anywhere */
    o = box_options((cairn_vec3){ 1.3, 2.4, 1.9 }, (cairn_vec3){ 4.3, 4.4, 5.9 });
    CHECK_CLOSE(heap_number(h, "packing", "fraction", &o), M_PI / 6, 1e-6);
    CHECK_CLOSE(heap_number(h, "packing", "volume", &o), 24, 1e-12);
}

TEST(face_centred_cubic_fills_pi_over_sqrt_18)
{
    heap *h = heap_fcc(6);
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_CLOSE(heap_number(h, "packing", "fraction", &o), 0.7404804896930610, 1e-12);
}

TEST(a_square_lattice_of_disks_fills_pi_over_4)
{
    heap *h = heap_simple_cubic(2, 9);
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_CLOSE(heap_number(h, "packing", "fraction", &o), M_PI / 4, 1e-12);
}

TEST(walls_and_points_fill_nothing)
{
    heap *h = heap_simple_cubic(2, 3);
    cairn_measure_options o = box_options((cairn_vec3){ -1, -1, 0 }, (cairn_vec3){ 3, 3, 1 });
    h->is_grain[0] = 0;
    h->radius[1] = 0;
    CHECK_CLOSE(heap_number(h, "packing", "solid", &o), 7 * M_PI / 4, 1e-12);
}

/* Squares of area 0.5 on a square lattice of step 1: half is filled, and one diameter is
 * 2 sqrt(0.5/pi). */
TEST(other_shapes_fill_their_volume)
{
    heap *h = heap_simple_cubic(2, 9);
    cairn_measure_options o = cairn_measure_options_default();
    for (int i = 0; i < h->sample.count; i++) {
        h->radius[i] = 0;
        h->volume[i] = 0.5;
    }
    CHECK_CLOSE(heap_number(h, "packing", "fraction", &o), 0.5, 1e-12);
    CHECK_CLOSE(cairn_measure_radius(&h->sample, 0), sqrt(0.5 / M_PI), 1e-12);
    h->sample.dimension = 3;
    CHECK_CLOSE(cairn_measure_radius(&h->sample, 0), cbrt(0.375 / M_PI), 1e-12);
}

/* Four layers of disks at y = 0, 1, 2, 3: slices of one diameter each fill pi/4, and the layers
 * move at their own speed. */
TEST(slices_tell_layers_apart)
{
    heap *h = heap_simple_cubic(2, 4);
    cairn_measure_options o =
        box_options((cairn_vec3){ -0.5, -1e30, 0 }, (cairn_vec3){ 3.5, 1e30, 1 });
    for (int i = 0; i < h->sample.count; i++)
        h->v[i] = (cairn_vec3){ h->x[i].y, h->x[i].x > 1 ? 0.5 : -0.5, 0 };
    heap_touch(h, 0, -1, 1);
    heap_touch(h, 4, 0, 1);
    o.bins = 4;
    cairn_statistic_table t = heap_measure(h, "slices", &o);
    CHECK_INT(t.rows, 4);
    for (size_t k = 0; k < 4; k++) {
        CHECK_CLOSE(table_at(&t, k, "position") + 1, (double)k + 1, 1e-12);
        CHECK_CLOSE(table_at(&t, k, "fraction"), M_PI / 4, 1e-12);
        CHECK_NEAR(table_at(&t, k, "grains"), 4, 0);
        CHECK_NEAR(table_at(&t, k, "vx"), (double)k, 1e-12);
        CHECK_NEAR(table_at(&t, k, "vy"), 0, 1e-12);
        /* T = (0 + 0.25)/2 */
        CHECK_CLOSE(table_at(&t, k, "temperature"), 0.125, 1e-12);
    }
    CHECK_NEAR(table_at(&t, 0, "coordination"), 2.0 / 4, 1e-12);
    CHECK_NEAR(table_at(&t, 1, "coordination"), 1.0 / 4, 1e-12);
    cairn_statistic_table_destroy(&t);
}

TEST(slices_go_along_the_axis_asked_for)
{
    heap *h = heap_empty(3);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 1, 1 });
    heap_ball(h, 0.5, (cairn_vec3){ 1.5, 0.5, 0.5 });
    o.bins = 4;
    o.axis = "x";
    cairn_statistic_table t = heap_measure(h, "slices", &o);
    CHECK_CLOSE(table_at(&t, 1, "fraction"), M_PI / 6, 1e-12);
    CHECK_NEAR(table_at(&t, 2, "fraction"), 0, 0);
    CHECK(isnan(table_at(&t, 2, "vx")));
    cairn_statistic_table_destroy(&t);
}

TEST(nothing_has_no_rows)
{
    heap *h = heap_empty(3);
    cairn_measure_options o = cairn_measure_options_default();
    const char *const names[] = { "packing", "slices", "surface", "pair-correlation" };
    for (int i = 0; i < 4; i++) {
        cairn_statistic_table t = heap_measure(h, names[i], &o);
        CHECK_INT(t.rows, 0);
        cairn_statistic_table_destroy(&t);
    }
}

int main(void)
{
    RUN(CASE(a_simple_cubic_lattice_fills_pi_over_6),
        CASE(face_centred_cubic_fills_pi_over_sqrt_18),
        CASE(a_square_lattice_of_disks_fills_pi_over_4), CASE(walls_and_points_fill_nothing),
        CASE(other_shapes_fill_their_volume), CASE(slices_tell_layers_apart),
        CASE(slices_go_along_the_axis_asked_for), CASE(nothing_has_no_rows));
}
