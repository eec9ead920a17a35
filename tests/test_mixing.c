/* test_mixing.c - the mixing index where it is known: separated, at random, a chessboard. */
#include "grain_sample.h"

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

int main(void)
{
    RUN(CASE(two_halves_are_0), CASE(classes_dealt_at_random_are_1),
        CASE(a_chessboard_is_better_mixed_than_random),
        CASE(lift_is_the_height_of_the_large_over_the_small), CASE(far_too_many_cells_are_refused),
        CASE(one_class_has_no_index));
}
