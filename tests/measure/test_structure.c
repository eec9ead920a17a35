/* test_structure.c - how grains lie: packing, surface, mixing, pair correlation. */
#include "tests/measure/grain_sample.h"

/* ==== test_slices: packing fractions of lattices, and slices ================================== */

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

/* In a sheared cell all of each disk counts, in part as images, whichever image is listed; those
 * above the upper face move with the edge. */
TEST(slices_of_a_periodic_cell_wrap)
{
    cairn_measure_options o = cairn_measure_options_default();
    o.bins = 4;
    o.axis = "y";
    for (int k = 0; k < 2; k++) {
        heap *h = heap_empty(2);
        double solid = 0, grains = 0, mean[4] = { 0 };
        for (int i = 0; i < 8; i++) { /* v_x = 3 y */
            heap_ball(h, 0.1 + 0.01 * i, (cairn_vec3){ 0.13 * i, 0.05 + 0.25 * i, 0 });
            h->v[i].x = 3 * h->x[i].y;
            mean[i / 2] += 3 * h->x[i].y / 2;
        }
        h->sample.lattice = (cairn_lattice){ .corner = { 0.2, 0, 0 },
                                             .edge = { { 1, 0, 0 }, { 0.3, 2, 0 } },
                                             .rate = { { 0, 0, 0 }, { 6, 0, 0 } } };
        for (int i = 0; k == 1 && i < 8; i += 3) { /* list the image x + 2 e_1 - e_2 */
            h->x[i] = cairn_add(h->x[i], (cairn_vec3){ 1.7, -2, 0 });
            h->v[i].x -= 6;
        }
        cairn_statistic_table t = heap_measure(h, "slices", &o);
        CHECK_INT(t.rows, 4);
        for (size_t row = 0; row < 4; row++) {
            CHECK_CLOSE(table_at(&t, row, "position"), 0.25 + 0.5 * (double)row, 1e-14);
            CHECK_NEAR(table_at(&t, row, "grains"), 2, 0);
            CHECK_NEAR(table_at(&t, row, "vx"), mean[row], 1e-13);
            solid += table_at(&t, row, "fraction") * 1 * 0.5;
            grains += table_at(&t, row, "grains");
        }
        for (int i = 0; i < 8; i++)
            solid -= M_PI * h->radius[i] * h->radius[i];
        CHECK_NEAR(solid, 0, 1e-13);
        CHECK_NEAR(grains, 8, 0);
        cairn_statistic_table_destroy(&t);
    }
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

GROUP(test_slices)
{
    RUN(CASE(a_simple_cubic_lattice_fills_pi_over_6),
        CASE(face_centred_cubic_fills_pi_over_sqrt_18),
        CASE(a_square_lattice_of_disks_fills_pi_over_4), CASE(walls_and_points_fill_nothing),
        CASE(other_shapes_fill_their_volume), CASE(slices_tell_layers_apart),
        CASE(slices_go_along_the_axis_asked_for), CASE(slices_of_a_periodic_cell_wrap),
        CASE(nothing_has_no_rows));
}

/* ==== test_surface: the free surface of known shapes ========================================== */

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

GROUP(test_surface)
{
    RUN(CASE(the_surface_of_one_disk_is_its_upper_half),
        CASE(a_staircase_of_disks_rises_by_one_a_step), CASE(in_3d_a_row_sums_up_the_points_across),
        CASE(up_is_against_gravity));
}

/* ==== test_mixing: the mixing index where it is known: separated, at random, a chessboard ===== */

enum { SIDE = 40 };

/* A square lattice whose grains are large where `is_large` says so. */
static heap *mixture(bool (*is_large)(int x, int y, uint64_t *state))
{
    heap *h = heap_simple_cubic(2, SIDE);
    uint64_t state = 3;
    for (int i = 0; i < h->sample.count; i++) {
        bool large = is_large(i % SIDE, i / SIDE, &state);
        h->radius[i] = large ? 0.5 : 0.3;
        h->material[i] = large ? 1 : 4;
    }
    return h;
}

static bool left_half(int x, int y, uint64_t *state)
{
    (void)y, (void)state;
    return x < SIDE / 2;
}

static bool at_random(int x, int y, uint64_t *state)
{
    (void)x, (void)y;
    return cairn_random_uniform(state) < 0.5;
}

static bool chessboard(int x, int y, uint64_t *state)
{
    (void)state;
    return (x + y) % 2;
}

/* Contacts of 1 N with the neighbours on the right and above. */
static void touch_neighbours(heap *h)
{
    for (int i = 0; i < h->sample.count; i++) {
        if (i % SIDE + 1 < SIDE)
            heap_touch(h, i + 1, i, 1);
        if (i / SIDE + 1 < SIDE)
            heap_touch(h, i + SIDE, i, 1);
    }
}

/* Cells of 4 x 4 grains: 4 wide, so that no cell has both halves in it. */
static cairn_measure_options cells_of_16(void)
{
    cairn_measure_options o = cairn_measure_options_default();
    o.cell = 4;
    return o;
}

TEST(two_halves_are_0)
{
    heap *h = mixture(left_half);
    cairn_measure_options o = cells_of_16();
    touch_neighbours(h);
    CHECK_NEAR(heap_number(h, "mixing", "lacey", &o), 0, 1e-12);
    CHECK_NEAR(heap_number(h, "mixing", "share", &o), 0.5, 0);
    CHECK_NEAR(heap_number(h, "mixing", "cells", &o), 100, 0);
    /* 40 of 2 * 40 * 39 contacts are between the halves */
    double expected = 0.5 * 1600 / 1599;
    CHECK_CLOSE(heap_number(h, "mixing", "neighbours", &o), 40 / 3120.0 / expected, 1e-12);
    o.classes = "material";
    CHECK_NEAR(heap_number(h, "mixing", "lacey", &o), 0, 1e-12);
}

/* 100 cells: the variance scatters by sqrt(2/99) of itself, so the index by 0.14/15 about 1. */
TEST(classes_dealt_at_random_are_1)
{
    heap *h = mixture(at_random);
    cairn_measure_options o = cells_of_16();
    touch_neighbours(h);
    CHECK_NEAR(heap_number(h, "mixing", "lacey", &o), 1, 0.03);
    CHECK_NEAR(heap_number(h, "mixing", "neighbours", &o), 1, 0.05);
}

/* Every cell has the same share: s = 0, M = s0^2/(s0^2 - sr^2) = 1/(1 - 99/1599). */
TEST(a_chessboard_is_better_mixed_than_random)
{
    heap *h = mixture(chessboard);
    cairn_measure_options o = cells_of_16();
    touch_neighbours(h);
    CHECK_CLOSE(heap_number(h, "mixing", "lacey", &o), 1 / (1 - 99.0 / 1599), 1e-12);
    CHECK_CLOSE(heap_number(h, "mixing", "neighbours", &o), 2 * 1599.0 / 1600, 1e-12);
    CHECK_NEAR(heap_number(h, "mixing", "lift", &o), 0, 1e-12);
}

/* 1,600 grains on a line of 39 m, 40 in each of 40 places: cells of 20 grains are 0.49 m long, and
 * 40 of them have grains. */
TEST(grains_in_a_flat_layer_have_cells_by_default)
{
    heap *h = mixture(chessboard);
    cairn_measure_options o = cairn_measure_options_default();
    for (int i = 0; i < h->sample.count; i++)
        ((cairn_vec3 *)h->sample.x)[i].y = 0;
    CHECK_NEAR(heap_number(h, "mixing", "cells", &o), 40, 0);
    for (int i = 0; i < h->sample.count; i++)
        ((cairn_vec3 *)h->sample.x)[i].x = 0;
    CHECK_NEAR(heap_number(h, "mixing", "cells", &o), 1, 0);
}

/* One large ball 3 m above the mean of the small ones. */
TEST(lift_is_the_height_of_the_large_over_the_small)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = cairn_measure_options_default();
    heap_ball(h, 2, (cairn_vec3){ 0, 5, 0 });
    heap_ball(h, 1, (cairn_vec3){ 1, 1, 0 });
    heap_ball(h, 1, (cairn_vec3){ 2, 3, 0 });
    CHECK_NEAR(heap_number(h, "mixing", "lift", &o), 3, 1e-14);
}

TEST(far_too_many_cells_are_refused)
{
    heap *h = mixture(left_half);
    cairn_measure_options o = cairn_measure_options_default();
    cairn_statistic_table t;
    cairn_arena arena = { 0 };
    o.cell = 1e-4; /* 390,000^2 of them */
    CHECK_OK(cairn_statistic_table_create("mixing", 2, &t));
    CHECK_INT(cairn_statistic_measure(&h->sample, &o, &arena, &t), CAIRN_BAD_INPUT);
    o.cell = 1e-300;
    CHECK_INT(cairn_statistic_measure(&h->sample, &o, &arena, &t), CAIRN_BAD_INPUT);
    CHECK_INT(t.rows, 0);
    cairn_arena_destroy(&arena);
}

TEST(one_class_has_no_index)
{
    heap *h = heap_simple_cubic(2, 4);
    cairn_measure_options o = cairn_measure_options_default();
    cairn_statistic_table t = heap_measure(h, "mixing", &o);
    CHECK_INT(t.rows, 0);
    cairn_statistic_table_destroy(&t);
}

GROUP(test_mixing)
{
    RUN(CASE(two_halves_are_0), CASE(classes_dealt_at_random_are_1),
        CASE(a_chessboard_is_better_mixed_than_random),
        CASE(grains_in_a_flat_layer_have_cells_by_default),
        CASE(lift_is_the_height_of_the_large_over_the_small), CASE(far_too_many_cells_are_refused),
        CASE(one_class_has_no_index));
}

/* ==== test_pair_correlation: g(r) of lattices, where every number is known, and of an ideal
 * gas */

/* The rows where g is not 0, at most 8: their r and the neighbours found up to there. */
typedef struct peaks {
    int count;
    double r[8], neighbours[8];
} peaks;

static peaks find_peaks(const heap *h, const cairn_measure_options *o)
{
    peaks p = { 0 };
    cairn_statistic_table t = heap_measure(h, "pair-correlation", o);
    for (size_t k = 0; k < t.rows && p.count < 8; k++)
        if (table_at(&t, k, "g") > 0) {
            p.r[p.count] = table_at(&t, k, "r");
            p.neighbours[p.count++] = table_at(&t, k, "neighbours");
        }
    cairn_statistic_table_destroy(&t);
    return p;
}

/* Neighbours of a site at 1, sqrt 2, sqrt 3, 2, sqrt 5, sqrt 6: 6, 12, 8, 6, 24, 24. The edges are corrected, so the
 * numbers are those of the endless lattice though the box has only 5^3 sites. */
TEST(a_simple_cubic_lattice_has_its_shells)
{
    heap *h = heap_simple_cubic(3, 7);
    cairn_measure_options o = box_options((cairn_vec3){ 1, 1, 1 }, (cairn_vec3){ 6, 6, 6 });
    o.range = 4;
    o.bins = 80; /* shells of 0.05 */
    peaks p = find_peaks(h, &o);
    CHECK_INT(p.count, 6);
    const double r[6] = { 1, sqrt(2), sqrt(3), 2, sqrt(5), sqrt(6) };
    const double neighbours[6] = { 6, 18, 26, 32, 56, 80 };
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(p.r[k], r[k], 0.025);
        CHECK_CLOSE(p.neighbours[k], neighbours[k], 1e-12);
    }
}

/* Half of its cell: 12 at 1/sqrt 2, 6 at 1, 24 at sqrt(3/2). */
TEST(face_centred_cubic_has_its_shells)
{
    heap *h = heap_fcc(5);
    cairn_measure_options o = box_options((cairn_vec3){ 1, 1, 1 }, (cairn_vec3){ 4, 4, 4 });
    o.range = 2;
    o.bins = 40;
    peaks p = find_peaks(h, &o);
    const double r[3] = { sqrt(0.5), 1, sqrt(1.5) }, neighbours[3] = { 12, 18, 42 };
    CHECK(p.count >= 3);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(p.r[k], r[k], 0.02);
        CHECK_CLOSE(p.neighbours[k], neighbours[k], 1e-12);
    }
}

/* g of the first peak of a square lattice: 4 neighbours over rho times the ring, 2 pi r w. */
TEST(in_2d_the_shell_is_a_ring)
{
    heap *h = heap_simple_cubic(2, 12);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 12, 12, 1 });
    o.range = 2;
    o.bins = 20;
    cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
    CHECK_INT(t.rows, 20);
    CHECK_NEAR(table_at(&t, 9, "r"), 1, 1e-12);
    CHECK_CLOSE(table_at(&t, 9, "g"), 4 / (2 * M_PI * 1 * 0.1), 1e-12);
    CHECK_NEAR(table_at(&t, 10, "g"), 0, 0);
    cairn_statistic_table_destroy(&t);
}

enum { GASES = 20, GAS_POINTS = 2000, GAS_SHELLS = 10 };

/* g of points at random in a unit box, mean over several gases, by shell. */
static void gas_mean(int dimension, double mean[GAS_SHELLS])
{
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 1, 1, 1 });
    uint64_t state = 7;
    o.bins = GAS_SHELLS; /* of 0.02 each */
    for (int gas = 0; gas < GASES; gas++) {
        heap *h = heap_empty(dimension);
        for (int i = 0; i < GAS_POINTS; i++) {
            double x = cairn_random_uniform(&state), y = cairn_random_uniform(&state);
            double z = cairn_random_uniform(&state);
            heap_ball(h, 0.02, (cairn_vec3){ x, y, dimension == 3 ? z : 0 });
        }
        cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
        CHECK_INT(t.rows, GAS_SHELLS);
        for (size_t k = 0; k < t.rows; k++)
            mean[k] += table_at(&t, k, "g") / GASES;
        cairn_statistic_table_destroy(&t);
    }
}

/* g = 1 at every r, also where a fifth of the box is near an edge. With P pairs in a shell over all
 * gases the deviation is about 1/sqrt(P); 5 of them are allowed, and 0.7 % for the scatter of points
 * near edges. */
static void check_gas(int dimension)
{
    double mean[GAS_SHELLS] = { 0 };
    const double n = GAS_POINTS, w = 0.02;
    gas_mean(dimension, mean);
    for (int k = 0; k < GAS_SHELLS; k++) {
        double r = (k + 1) * w, shell = dimension == 3 ? 4 * M_PI * r * r * w : 2 * M_PI * r * w;
        CHECK_NEAR(mean[k], 1, 5 / sqrt(GASES * n * n * shell / 2) + 0.007);
    }
}

TEST(an_ideal_gas_is_1_in_3d)
{
    check_gas(3);
}

TEST(an_ideal_gas_is_1_in_2d)
{
    check_gas(2);
}

TEST(distances_end_at_half_the_shortest_side)
{
    heap *h = heap_simple_cubic(2, 12);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 12, 3, 1 });
    o.range = 5;
    o.bins = 50;
    cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
    CHECK_INT(t.rows, 14); /* 1.4 + 0.05 <= 1.5 */
    cairn_statistic_table_destroy(&t);
}

TEST(shells_may_be_as_thin_as_can_be)
{
    heap *h = heap_simple_cubic(2, 4);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 1 });
    o.range = CAIRN_POSITIVE;
    cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
    for (size_t k = 0; k < t.rows; k++)
        CHECK(!(table_at(&t, k, "neighbours") > 0));
    cairn_statistic_table_destroy(&t);
}

GROUP(test_pair_correlation)
{
    RUN(CASE(a_simple_cubic_lattice_has_its_shells), CASE(face_centred_cubic_has_its_shells),
        CASE(in_2d_the_shell_is_a_ring), CASE(an_ideal_gas_is_1_in_3d),
        CASE(an_ideal_gas_is_1_in_2d), CASE(distances_end_at_half_the_shortest_side),
        CASE(shells_may_be_as_thin_as_can_be));
}

/* ==== test_fields: coarse graining on a grid =================================================== */

/* Balls at random places with random velocities; contacts between neighbours in the list, every
 * fifth with a wall, with forces that are not along the normal. */
static heap *random_heap(int dimension, int count)
{
    heap *h = heap_empty(dimension);
    uint64_t state = 11;
    for (int i = 0; i < count; i++) {
        double n[7];
        for (int k = 0; k < 7; k++)
            n[k] = cairn_random_uniform(&state);
        double deep = dimension == 3;
        heap_ball(h, 0.1 + 0.1 * n[6], (cairn_vec3){ n[0], 2 * n[1], deep * n[2] });
        h->v[i] = (cairn_vec3){ n[3] - 0.3, n[4], deep * (n[5] - 0.7) };
        h->mass[i] = 1 + n[6];
    }
    for (int i = 1; i < count; i++) {
        int c = heap_touch(h, i, i % 5 ? i - 1 : -1, 1 + 0.1 * i);
        h->force[c].x += 0.3;
    }
    return h;
}

/* The integral of a column over all cells. */
static double integral_of(const cairn_statistic_table *t, const char *column, double volume)
{
    double sum = 0;
    for (size_t row = 0; row < t->rows; row++)
        sum += table_at(t, row, column) * volume;
    return sum;
}

/* f_x l_y and m v_x v_y, summed over contacts and grains. */
static void sums_of(const heap *h, double *mass, double *momentum, double *stress, double *motion)
{
    *mass = *momentum = *stress = *motion = 0;
    for (int i = 0; i < h->sample.count; i++) {
        *mass += h->mass[i];
        *momentum += h->mass[i] * h->v[i].y;
        *motion += h->mass[i] * h->v[i].x * h->v[i].y;
    }
    for (int c = 0; c < h->sample.contacts; c++) {
        int a = h->pair[2 * c], b = h->pair[2 * c + 1];
        *stress += h->force[c].x * (h->x[a].y - (b >= 0 ? h->x[b].y : h->point[c].y));
    }
}

/* Two balls that touch across a face of a periodic cell that is sheared: the branch goes from the
 * image of b, at x_b - e_2, to a. */
TEST(branches_of_fields_go_to_images)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = cairn_measure_options_default();
    static const cairn_image image = { { 0, -1, 0 } };
    int a = heap_ball(h, 0.1, (cairn_vec3){ 0.5, 0.05, 0 });
    int b = heap_ball(h, 0.1, (cairn_vec3){ 0.75, 0.9, 0 });
    heap_touch(h, a, b, 1);
    h->sample.lattice.edge[0] = (cairn_vec3){ 1, 0, 0 };
    h->sample.lattice.edge[1] = (cairn_vec3){ 0.3, 1, 0 };
    h->sample.image = &image;
    h->point[0] = (cairn_vec3){ 0.475, -0.025, 0 };
    h->force[0] = (cairn_vec3){ 2, 3, 0 };
    o.width = 0.2;
    o.cell = 0.1;
    cairn_statistic_table t = heap_measure(h, "fields", &o);
    /* l = (0.5, 0.05) - (0.75 - 0.3, 0.9 - 1) = (0.05, 0.15) */
    CHECK_NEAR(integral_of(&t, "stress_xx", 0.01), 2 * 0.05, 1e-12);
    CHECK_NEAR(integral_of(&t, "stress_xy", 0.01), 2 * 0.15, 1e-12);
    CHECK_NEAR(integral_of(&t, "stress_yx", 0.01), 3 * 0.05, 1e-12);
    CHECK_NEAR(integral_of(&t, "stress_yy", 0.01), 3 * 0.15, 1e-12);
    cairn_statistic_table_destroy(&t);
}

/* In a sheared cell whose sides kernels cross: mass and stress to rounding; and it does not matter
 * which image of a grain or a contact is listed. */
TEST(fields_of_a_periodic_cell_wrap)
{
    static cairn_image images[60];
    cairn_measure_options o = cairn_measure_options_default();
    o.width = 0.2;
    o.cell = 0.13;
    cairn_statistic_table t[2];
    for (int k = 0; k < 2; k++) {
        heap *h = random_heap(3, 60);
        double mass, momentum, stress, motion;
        sums_of(h, &mass, &momentum, &stress, &motion);
        h->sample.lattice =
            (cairn_lattice){ .corner = { 0, 0, -0.2 },
                             .edge = { { 1, 0, 0 }, { 0.3, 2, 0 }, { -0.2, 0.7, 1 } } };
        for (int i = 0; k == 1 && i < 60; i += 3) /* to x + 2 e_1 - e_3 */
            h->x[i] = cairn_add(h->x[i], (cairn_vec3){ 2.2, -0.7, -1 });
        for (int c = 0; c < h->sample.contacts; c++) {
            int sides = (h->pair[2 * c] % 3 == 0) - (h->pair[2 * c + 1] % 3 == 0);
            images[c] = (cairn_image){ { 2 * sides * k, 0, -sides * k } };
            if (k == 1 && h->pair[2 * c] % 3 == 0) /* with its body a */
                h->point[c] = cairn_add(h->point[c], (cairn_vec3){ 2.2, -0.7, -1 });
        }
        h->sample.image = images;
        t[k] = heap_measure(h, "fields", &o);
        double volume = 2.0 / (8 * 15 * 8);
        CHECK_INT(t[k].rows, 8 * 15 * 8);
        CHECK_CLOSE(integral_of(&t[k], "density", volume), mass, 1e-13);
        CHECK_NEAR(integral_of(&t[k], "momentum_y", volume), momentum, 1e-12 * mass);
        CHECK_NEAR(integral_of(&t[k], "stress_xy", volume), stress, 1e-11);
        CHECK_CLOSE(integral_of(&t[k], "contacts", volume), 59, 1e-12);
    }
    for (size_t row = 0; row < t[0].rows; row++) {
        CHECK_NEAR(table_at(&t[0], row, "density"), table_at(&t[1], row, "density"), 1e-11);
        CHECK_NEAR(table_at(&t[0], row, "stress_xy"), table_at(&t[1], row, "stress_xy"), 1e-11);
        CHECK_NEAR(table_at(&t[0], row, "wall_x"), table_at(&t[1], row, "wall_x"), 1e-11);
    }
    for (int k = 0; k < 2; k++)
        cairn_statistic_table_destroy(&t[k]);
}

/* For every width, edge and place of the grid: mass, momentum, branch times force and products of
 * velocities, to rounding. */
TEST(fields_integrate_to_the_sums_over_grains_and_contacts)
{
    static const double widths[] = { 0.2, 0.37 }, edges[] = { 0.13, 0.2, 0.5 };
    for (int k = 0; k < 12; k++) {
        int dimension = k < 6 ? 2 : 3;
        heap *h = random_heap(dimension, 60);
        cairn_measure_options o = cairn_measure_options_default();
        double mass, momentum, stress, motion, of_mean = 0;
        o.width = widths[k % 2];
        o.cell = edges[k % 3];
        if (k % 4 == 1) { /* a grid that begins somewhere else */
            o.low = (cairn_vec3){ -1.91 - 0.01 * k, -1.83, -1.7777 };
            o.high = (cairn_vec3){ 3.1, 4.1, 3.1 };
        }
        sums_of(h, &mass, &momentum, &stress, &motion);
        cairn_statistic_table t = heap_measure(h, "fields", &o);
        double volume = pow(o.cell, dimension);
        for (size_t row = 0; row < t.rows; row++)
            of_mean += table_at(&t, row, "momentum_x") * table_at(&t, row, "velocity_y") * volume;
        CHECK_CLOSE(integral_of(&t, "density", volume), mass, 1e-13);
        CHECK_NEAR(integral_of(&t, "momentum_y", volume), momentum, 1e-12 * mass);
        CHECK_NEAR(integral_of(&t, "stress_xy", volume), stress, 1e-11);
        CHECK_NEAR(integral_of(&t, "kinetic_xy", volume) + of_mean, motion, 1e-11);
        CHECK_CLOSE(integral_of(&t, "contacts", volume), 59, 1e-12);
        cairn_statistic_table_destroy(&t);
    }
}

/* A field is the mean over its cell: that of a cell is the mean of the eight halves of it. */
TEST(a_cell_is_the_mean_of_its_parts)
{
    heap *h = random_heap(3, 20);
    cairn_measure_options o =
        box_options((cairn_vec3){ 0.1, 0.2, -0.3 }, (cairn_vec3){ 0.9, 1.0, 0.5 });
    o.width = 0.25;
    o.cell = 0.4;
    cairn_statistic_table one = heap_measure(h, "fields", &o);
    o.cell = 0.2;
    cairn_statistic_table half = heap_measure(h, "fields", &o);
    CHECK_INT(one.rows, 8);
    CHECK_INT(half.rows, 64);
    for (int cell = 0; cell < 8; cell++) {
        double density = 0, stress = 0;
        for (int part = 0; part < 8; part++) {
            size_t x = (size_t)(2 * (cell & 1) + (part & 1));
            size_t y = (size_t)(2 * (cell >> 1 & 1) + (part >> 1 & 1));
            size_t z = (size_t)(2 * (cell >> 2) + (part >> 2));
            density += table_at(&half, 16 * z + 4 * y + x, "density") / 8;
            stress += table_at(&half, 16 * z + 4 * y + x, "stress_xz") / 8;
        }
        CHECK_CLOSE(table_at(&one, (size_t)cell, "density"), density, 1e-12);
        CHECK_NEAR(table_at(&one, (size_t)cell, "stress_xz"), stress, 1e-12);
    }
    cairn_statistic_table_destroy(&one);
    cairn_statistic_table_destroy(&half);
}

/* The mean square of d s_yy/dy - (rho g + t), as a root, of a column of 10 disks on a floor, gravity 10, by
 * differences of cells of an edge. */
static double imbalance(double edge)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = box_options((cairn_vec3){ 0.4, -4, 0 }, (cairn_vec3){ 0.6, 14, 0 });
    double sum = 0;
    for (int k = 0; k < 10; k++)
        heap_ball(h, 0.5, (cairn_vec3){ 0.5, k + 0.5, 0 });
    for (int k = 0; k < 10; k++)
        heap_touch(h, k, k - 1, 10 * (10 - k));
    o.width = 0.5;
    o.cell = edge;
    cairn_statistic_table t = heap_measure(h, "fields", &o);
    size_t across = (size_t)round(0.2 / edge);
    for (size_t row = across; row + across < t.rows; row++) {
        double slope =
            (table_at(&t, row + across, "stress_yy") - table_at(&t, row - across, "stress_yy")) /
            (2 * edge);
        double body = -10 * table_at(&t, row, "density") + table_at(&t, row, "wall_y");
        sum += (slope - body) * (slope - body);
    }
    double mean = sum / (double)t.rows;
    cairn_statistic_table_destroy(&t);
    return sqrt(mean);
}

/* At rest the divergence of the stress is the weight and the force of the floor, everywhere, also
 * at the floor: the error is that of the differences, which falls with the square of the edge.
 * rho g is 12 N/m^2 here. */
TEST(the_divergence_of_the_stress_is_the_weight)
{
    double coarse = imbalance(0.2), fine = imbalance(0.1), finer = imbalance(0.05);
    CHECK(coarse < 0.5);
    CHECK(imbalance(0.0125) < 0.01); /* what the rule along the branches leaves */
    CHECK_NEAR(log2(coarse / fine), 2, 0.1);
    CHECK_NEAR(log2(fine / finer), 2, 0.1);
}

/* Far inside a column of a lattice the solid fraction of a wide kernel is that of the lattice. */
TEST(a_wide_kernel_finds_the_packing)
{
    heap *h = heap_simple_cubic(3, 12);
    for (int i = 0; i < h->sample.count; i++)
        h->v[i] = (cairn_vec3){ 0, 0.5, 0 };
    cairn_measure_options o = box_options((cairn_vec3){ 5, 5, 5 }, (cairn_vec3){ 6, 6, 6 });
    o.width = 1;
    o.cell = 1;
    heap_touch_all(h);
    cairn_statistic_table t = heap_measure(h, "fields", &o);
    CHECK_INT(t.rows, 1);
    CHECK_NEAR(table_at(&t, 0, "solid"), M_PI / 6, 1e-5);
    CHECK_NEAR(table_at(&t, 0, "density"), 1, 1e-5);
    CHECK_NEAR(table_at(&t, 0, "velocity_y"), 0.5, 1e-12);
    CHECK_NEAR(table_at(&t, 0, "kinetic_yy"), 0, 1e-12);
    CHECK_NEAR(table_at(&t, 0, "fabric_xx"), 1, 1e-5); /* one contact along x for each ball */
    CHECK_NEAR(table_at(&t, 0, "stress_zz"), 1, 1e-5); /* 1 N along each line, 1 m^2 for each */
    cairn_statistic_table_destroy(&t);
}

TEST(too_many_cells_of_a_field_are_refused)
{
    heap *h = random_heap(3, 10);
    cairn_measure_options o = cairn_measure_options_default();
    cairn_statistic_table t;
    cairn_arena arena = { 0 };
    o.cell = 1e-3;
    CHECK_OK(cairn_statistic_table_create("fields", 3, &t));
    CHECK_INT(cairn_statistic_measure(&h->sample, &o, &arena, &t), CAIRN_BAD_INPUT);
    CHECK_INT(t.rows, 0);
    cairn_statistic_table_destroy(&t);
    cairn_arena_destroy(&arena);
}

GROUP(test_fields)
{
    RUN(CASE(branches_of_fields_go_to_images), CASE(fields_of_a_periodic_cell_wrap),
        CASE(fields_integrate_to_the_sums_over_grains_and_contacts),
        CASE(a_cell_is_the_mean_of_its_parts), CASE(the_divergence_of_the_stress_is_the_weight),
        CASE(a_wide_kernel_finds_the_packing), CASE(too_many_cells_of_a_field_are_refused));
}
