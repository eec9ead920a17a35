/* test_grid.c - every broad phase against the oracle, and how much the grid looks at.
 *
 * The cost is counted, not timed: grid.c is compiled here a second time, with a box test that
 * counts its calls. */
#include <stdlib.h>

#include "base/common.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/random_shapes.h"

static long box_tests;

static bool counted_overlap(const cairn_zone *a, const cairn_zone *b)
{
    box_tests++;
    return cairn_zones_overlap(a, b);
}

#define cairn_zones_overlap    counted_overlap
#define cairn_broad_phase_grid counted_grid
extern const cairn_broad_phase counted_grid;
#include "collide/grid.c"
#undef cairn_zones_overlap
#undef cairn_broad_phase_grid

enum { MOST = 70000 };

/* Random colliders. Radii are between `smallest` and `largest`, evenly in their logarithm. */
typedef struct cloud {
    const char *text;
    int count;
    double width;                   /* m: of the square or cube               */
    double smallest, largest;       /* m: radii; 0: points                    */
    cairn_vec3 centre;              /* m                                      */
    double reach;                   /* m: at most                             */
    double clusters;                /* > 0: bodies sit at this many places    */
    double holes, unmovable, walls; /* shares                                 */
    double slimness;                /* > 0: boxes shorter by up to this factor, box off centre */
} cloud;

static const cairn_shape ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 1 };
static const cairn_shape floor_shape = { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } };

static cairn_vec3 random_place(int dimension, double width, uint64_t *state)
{
    double x = cairn_random_between(state, -0.5, 0.5), y = cairn_random_between(state, -0.5, 0.5);
    double z = dimension == 3 ? cairn_random_between(state, -0.5, 0.5) : 0;
    return cairn_scale(width, cairn_vec(x, y, z));
}

static void enclose(cairn_collider *c, int count)
{
    for (int i = 0; i < count; i++)
        cairn_collider_enclose(&c[i]);
}

/* Half lengths of the box between 1 and 1/slimness of what they are, and the box a little aside. */
static void make_slim(cairn_collider *c, double slimness, int dimension, uint64_t *state)
{
    cairn_vec3 shares = { pow(slimness, -cairn_random_uniform(state)),
                          pow(slimness, -cairn_random_uniform(state)),
                          pow(slimness, -cairn_random_uniform(state)) };
    c->box.half = cairn_times(shares, c->box.half);
    c->box.centre = cairn_add(c->x, random_place(dimension, c->extent, state));
}

static cairn_collider *fill_cloud(const cloud *c, int dimension, uint64_t seed)
{
    static cairn_collider colliders[MOST];
    uint64_t state = seed;
    cairn_vec3 places[16];
    for (int i = 0; i < 16; i++)
        places[i] = random_place(dimension, c->width, &state);
    for (int i = 0; i < c->count; i++) {
        double ratio = c->smallest > 0 ? c->largest / c->smallest : 1;
        double radius = c->smallest * pow(ratio, cairn_random_uniform(&state));
        cairn_vec3 x = random_place(dimension, c->width, &state);
        if (c->clusters > 0)
            x = cairn_add_scaled(places[(int)(c->clusters * cairn_random_uniform(&state))], 1e-3,
                                 x);
        x = cairn_add(x, c->centre);
        if (dimension == 2)
            x.z = 0;
        colliders[i] = (cairn_collider){ .shape = &ball, .x = x, .q = { 1, 0, 0, 0 } };
        colliders[i].extent = radius;
        colliders[i].reach = c->reach * cairn_random_uniform(&state);
        colliders[i].movable = cairn_random_uniform(&state) >= c->unmovable;
        if (cairn_random_uniform(&state) < c->walls) {
            colliders[i].shape = &floor_shape;
            colliders[i].extent = INFINITY;
            colliders[i].movable = false;
        }
        if (cairn_random_uniform(&state) < c->holes)
            colliders[i].shape = NULL;
        cairn_collider_enclose(&colliders[i]);
        if (c->slimness > 0)
            make_slim(&colliders[i], c->slimness, dimension, &state);
    }
    return colliders;
}

/* The pairs of a broad phase are exactly those of the oracle; returns their number. */
static size_t check_against_oracle(const cairn_broad_phase *broad, const cairn_collider *c,
                                   int count, const char *what)
{
    cairn_arena scratch = { 0 };
    cairn_pair_list found = { 0 }, expected = { 0 };
    CHECK_OK(pairs_of(broad, c, count, &scratch, &found));
    CHECK_OK(pairs_of(&cairn_broad_phase_all_pairs, c, count, &scratch, &expected));
    size_t pairs = expected.count;
    bool same = found.count == pairs;
    for (size_t k = 0; same && k < pairs; k++)
        same = found.items[k].first == expected.items[k].first &&
               found.items[k].second == expected.items[k].second;
    if (!same)
        fail_msg("%s, %s: %zu pairs, the oracle has %zu", broad->name, what, found.count, pairs);
    cairn_pair_list_destroy(&found);
    cairn_pair_list_destroy(&expected);
    cairn_arena_destroy(&scratch);
    return pairs;
}

static size_t check_all_phases(const cairn_collider *c, int count, const char *what)
{
    size_t pairs = 0;
    for (int i = 0; cairn_broad_phase_name(i); i++)
        pairs =
            check_against_oracle(cairn_broad_phase_find(cairn_broad_phase_name(i)), c, count, what);
    return pairs;
}

TEST(every_broad_phase_agrees_with_the_oracle_on_random_clouds)
{
    static const cloud clouds[] = {
        { "equal sizes", 500, 10, 0.5, 0.5 },
        { "equal sizes with reach", 500, 10, 0.3, 0.3, .reach = 0.4 },
        { "sparse", 300, 1000, 5, 5 },
        { "dense", 300, 1, 0.5, 0.5 },
        { "sizes 1:100", 500, 20, 0.02, 2 },
        { "sizes 1:10000", 500, 20, 2e-4, 2 },
        { "sizes 1:10000, far away", 500, 20, 2e-4, 2, { -1e6, 1e6, 5e5 } },
        { "sizes 1:1e15", 300, 10, 1e-15, 1 },
        { "sizes 1:1e30", 300, 10, 1e-30, 1 },
        { "clusters", 400, 100, 0.01, 0.03, .clusters = 16 },
        { "two clusters of all sizes", 300, 1e6, 1e-4, 1, .clusters = 2 },
        { "all at one point", 100, 0, 1, 1, { 3, -4, 5 } },
        { "all at the origin, all sizes", 100, 0, 1e-3, 1e3 },
        { "points", 300, 1, 0, 0 },
        { "points that move", 300, 1, 0, 0, .reach = 0.1 },
        { "points at one place", 50, 0, 0, 0, { 1, 1, 1 } },
        { "half of them unmovable", 500, 10, 0.5, 0.5, .unmovable = 0.5 },
        { "all unmovable", 200, 2, 0.5, 0.5, .unmovable = 2 },
        { "a third holes", 500, 10, 0.5, 0.5, .holes = 0.33 },
        { "all holes", 100, 1, 0.5, 0.5, .holes = 2 },
        { "walls, holes and unmovable ones", 300, 10, 0.1, 1, { 0 }, 0.1, 0, 0.2, 0.3, 0.1 },
        { "negative coordinates", 500, 10, 0.5, 0.5, { -100, -200, -300 } },
        { "at 1e12 m", 300, 10, 0.5, 0.5, { 1e12, -1e12, 1e12 } },
        { "at 1e15 m, where numbers are 1/8 m apart", 300, 10, 0.5, 0.5, { 1e15, -1e15, 1e15 } },
        { "at 1e17 m, where they are 16 m apart", 300, 100, 5, 5, { 1e17, -1e17, 1e17 } },
        { "planks", 400, 10, 0.5, 0.5, .slimness = 20 },
        { "planks of all sizes", 400, 10, 1e-3, 2, .slimness = 100, .reach = 0.05 },
        { "atoms", 300, 1e-9, 5e-11, 1e-10 },
        { "galaxies", 300, 1e24, 1e21, 1e23 },
    };
    for (size_t k = 0; k < sizeof clouds / sizeof clouds[0]; k++)
        for (int dimension = 2; dimension <= 3; dimension++)
            for (uint64_t seed = 1; seed <= 5; seed++)
                check_all_phases(fill_cloud(&clouds[k], dimension, seed), clouds[k].count,
                                 clouds[k].text);
}

/* A third collider somewhere at random distances of powers of ten, so that scales mix freely. */
TEST(every_broad_phase_agrees_with_the_oracle_on_wild_scales)
{
    cairn_collider c[40];
    uint64_t state = 99;
    size_t pairs = 0;
    for (int round = 0; round < 500; round++) {
        int count = 2 + (int)(38 * cairn_random_uniform(&state));
        for (int i = 0; i < count; i++) {
            double far = pow(10, cairn_random_between(&state, -6, 8));
            c[i] = (cairn_collider){ .shape = &ball, .q = { 1, 0, 0, 0 }, .movable = true };
            c[i].x = random_place(3, far, &state);
            c[i].extent = pow(10, cairn_random_between(&state, -8, 8));
            c[i].reach = far * cairn_random_uniform(&state) * (i % 2);
        }
        enclose(c, count);
        pairs += check_all_phases(c, count, "wild");
    }
    CHECK(pairs > 1000);
}

/* A row of balls of diameter 1 at places 0, 0.75, 1.5, ... in a unit of 1e-310 m, 1/unit of which is
 * infinite: each meets the next. */
TEST(cells_of_boxes_near_the_smallest_number_are_counted)
{
    cairn_collider c[20];
    for (int i = 0; i < 20; i++) {
        c[i] = (cairn_collider){ .shape = &ball, .extent = 0.5e-310, .movable = true };
        c[i].x = cairn_vec(0.75e-310 * i, -0.75e-310 * i, 1e-310);
    }
    enclose(c, 20);
    CHECK_INT(check_all_phases(c, 20, "subnormal"), 19);
}

/* Of four balls in a row the third is nowhere: at infinity, or at no number. It meets nobody, and the
 * first two meet. */
TEST(a_box_that_is_nowhere_meets_nobody)
{
    const double nowhere[3] = { INFINITY, -INFINITY, NAN };
    for (int k = 0; k < 3; k++) {
        cairn_collider c[4];
        for (int i = 0; i < 4; i++) {
            c[i] = (cairn_collider){ .shape = &ball, .extent = 0.5, .movable = true };
            c[i].x = i == 2 ? cairn_vec(nowhere[k], 0, nowhere[k]) : cairn_vec(0.9 * i, 0, 0);
        }
        enclose(c, 4);
        CHECK_INT(check_against_oracle(&counted_grid, c, 4, "nowhere"), 1);
    }
}

/* Balls of diameter 0.1 on a lattice of step 0.1: whether neighbours touch is decided by the last
 * bit of their places, and the grid has to decide the same way. */
TEST(touching_balls_on_a_lattice_are_found_as_the_oracle_finds_them)
{
    const double starts[4] = { 0, -0.75, 1e3, -1.0 / 3 };
    static cairn_collider c[1000];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 1000; i++) {
            c[i] = (cairn_collider){ .shape = &ball, .extent = 0.05, .movable = true };
            c[i].x = cairn_vec(starts[s] + 0.1 * (i % 10), starts[s] + 0.1 * (i / 10 % 10),
                               starts[s] + 0.1 * (i / 100));
        }
        enclose(c, 1000);
        CHECK(check_all_phases(c, 1000, "lattice") > 300);
    }
}

/* 2 - (1 - 2^-53) rounds to 1: by the numbers at hand these boxes touch, although there is a cell
 * between the cells of their centres if cells are exactly as wide as boxes. */
TEST(boxes_that_touch_by_rounding_are_found)
{
    cairn_collider c[2] = { { .shape = &ball, .x = { 1 - 0x1p-53, 0, 0 }, .extent = 0.5 },
                            { .shape = &ball, .x = { 2, 0, 0 }, .extent = 0.5, .movable = true } };
    enclose(c, 2);
    CHECK_INT(check_all_phases(c, 2, "rounding"), 1);
}

TEST(an_infinite_reach_meets_everything)
{
    cairn_collider c[3] = { { .shape = &ball, .extent = 0.5, .movable = true },
                            { .shape = &ball, .x = { 1e9, 0, 0 }, .extent = 1e-9, .movable = true },
                            { .shape = &ball, .x = { 0, -7, 0 }, .extent = 3, .movable = true } };
    enclose(c, 3);
    CHECK_INT(check_all_phases(c, 3, "finite"), 0);
    c[0].reach = INFINITY;
    CHECK_INT(check_all_phases(c, 3, "infinite"), 2);
}

/* ---- cost ----------------------------------------------------------------------------------- */

static double tests_per_body(const cairn_collider *c, int count)
{
    cairn_arena scratch = { 0 };
    cairn_pair_list list = { 0 };
    const cairn_zone *zones = zones_of(c, count, &scratch);
    box_tests = 0;
    cairn_parallel_threads(1); /* one counter */
    CHECK(zones != NULL);
    CHECK_OK(counted_grid.run(zones, count, &scratch, &list));
    CHECK((size_t)box_tests >= list.count);
    cairn_pair_list_destroy(&list);
    cairn_arena_destroy(&scratch);
    return (double)box_tests / count;
}

/* One body per cell and m cells a side: a body sees (3 - 2/m)^3 cells and tests half of what is
 * in them. m = 10, 20, 40: 11.0, 12.2, 12.8 tests a body, while all pairs need 500 to 32000. */
TEST(equal_sizes_cost_half_the_neighbourhood_however_many_they_are)
{
    const int sides[3] = { 10, 20, 40 };
    for (int k = 0; k < 3; k++) {
        int m = sides[k];
        cloud c = { "equal", m * m * m, m, 0.5, 0.5 };
        double expected = 0.5 * pow(3 - 2.0 / m, 3);
        CHECK_CLOSE(tests_per_body(fill_cloud(&c, 3, 1), c.count), expected, 0.05);
    }
}

/* Edges from 0.8 to 1, one body in each cube of edge 1: cells are as long as the largest box, and
 * the cost is that of equal sizes. Cells twice as long as the smallest would make it 4 times so. */
TEST(sizes_that_are_alike_cost_as_much_as_equal_ones)
{
    cloud c = { "alike", 20 * 20 * 20, 20, 0.4, 0.5 };
    CHECK_CLOSE(tests_per_body(fill_cloud(&c, 3, 1), c.count), 0.5 * pow(2.9, 3), 0.05);
}

TEST(the_cost_does_not_depend_on_the_unit_of_length)
{
    const double scales[3] = { 1e-9, 1, 1e9 };
    for (int k = 0; k < 3; k++) {
        cloud c = { "scaled", 8000, 20 * scales[k], 0.5 * scales[k], 0.5 * scales[k] };
        CHECK_CLOSE(tests_per_body(fill_cloud(&c, 3, 1), 8000), 0.5 * pow(2.9, 3), 0.05);
    }
}

/* In the plane (3 - 2/m)^2 cells: 4.35 and 4.45 tests a body. */
TEST(in_the_plane_it_is_half_of_nine_cells)
{
    const int sides[2] = { 40, 200 };
    for (int k = 0; k < 2; k++) {
        int m = sides[k];
        cloud c = { "plane", m * m, m, 0.5, 0.5 };
        CHECK_CLOSE(tests_per_body(fill_cloud(&c, 2, 1), c.count), 0.5 * pow(3 - 2.0 / m, 2), 0.05);
    }
}

/* Sizes 1 : ratio with equal volume in each size class (number of radius r falls as r^-3), at a
 * given number of bodies per cubic metre. */
static cairn_collider *mixed_sizes(int count, double ratio, double density)
{
    cloud shape_only = { "mixed", count, cbrt(count / density), 1, 1 };
    cairn_collider *c = fill_cloud(&shape_only, 3, 5);
    uint64_t state = 17;
    double least = pow(ratio, -3);
    for (int i = 0; i < count; i++) /* r^-3 evenly in [ratio^-3, 1] */
        c[i].extent = 0.5 * cbrt(1 / cairn_random_between(&state, least, 1));
    enclose(c, count);
    return c;
}

/* With 0.05 balls in a smallest cell, a cell of each coarser level holds 7 * 0.05 = 0.35 of its
 * own: 27 cells make 9.5 tests for each doubling of size, and 1:100 has 7 doublings, 1:10000 has
 * 14. Eight times the bodies make one more level of rare giants, not eight times the work. */
TEST(mixed_sizes_cost_ten_tests_for_each_doubling_of_size_however_many_they_are)
{
    const double ratios[2] = { 100, 10000 }, bounds[2] = { 7 * 9.5 + 1, 14 * 9.5 + 1 };
    for (int k = 0; k < 2; k++) {
        double few = tests_per_body(mixed_sizes(8000, ratios[k], 0.05), 8000);
        double many = tests_per_body(mixed_sizes(64000, ratios[k], 0.05), 64000);
        CHECK(few > 10 && few < bounds[k]);
        CHECK(many < bounds[k]);
        CHECK(many < few + 2 * 9.5);
    }
}

/* One ball a million times the size of 20000 others costs each of them at most one test more. */
TEST(one_giant_among_many_costs_one_test_each)
{
    cloud c = { "dust", 20000, 27.2, 0.5, 0.5 };
    cairn_collider *colliders = fill_cloud(&c, 3, 2);
    double without = tests_per_body(colliders, c.count);
    colliders[c.count] = colliders[0];
    colliders[c.count].extent = 5e5;
    cairn_collider_enclose(&colliders[c.count]);
    CHECK(tests_per_body(colliders, c.count + 1) <= without + 1.001);
}

GROUP(test_grid)
{
    RUN(CASE(every_broad_phase_agrees_with_the_oracle_on_random_clouds),
        CASE(every_broad_phase_agrees_with_the_oracle_on_wild_scales),
        CASE(cells_of_boxes_near_the_smallest_number_are_counted),
        CASE(a_box_that_is_nowhere_meets_nobody),
        CASE(touching_balls_on_a_lattice_are_found_as_the_oracle_finds_them),
        CASE(boxes_that_touch_by_rounding_are_found), CASE(an_infinite_reach_meets_everything),
        CASE(equal_sizes_cost_half_the_neighbourhood_however_many_they_are),
        CASE(sizes_that_are_alike_cost_as_much_as_equal_ones),
        CASE(the_cost_does_not_depend_on_the_unit_of_length),
        CASE(in_the_plane_it_is_half_of_nine_cells),
        CASE(mixed_sizes_cost_ten_tests_for_each_doubling_of_size_however_many_they_are),
        CASE(one_giant_among_many_costs_one_test_each));
}
