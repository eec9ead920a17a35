/* test_grading.c - sizes by mass: lists and sieve curves. */
#include <stdlib.h>

#include "base/common.h"
#include "cairn/generate.h"
#include "cairn/world.h"
#include "tests/check.h"
#include "tests/problems/saved_world.h"
#include "tests/problems/worlds.h"
#include "world/lists.h"

/* ==== test_grading: shares of mass, order, refusals ============================================ */

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)  \
    }

static cairn_distribution by_mass(void)
{
    static const double values[] = { 1, 2, 5 }, weights[] = { 20, 50, 30 };
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    d.values = (cairn_list){ values, 3 };
    d.weights = (cairn_list){ weights, 3 };
    d.by = "mass";
    return d;
}

/* Openings in m: radii from 0.5 to 8. */
static cairn_distribution sieves(const char *between)
{
    static const double sizes[] = { 1, 2, 4, 8, 16 }, passing[] = { 0, 10, 45, 45, 100 };
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_SIEVE);
    d.values = (cairn_list){ sizes, 5 };
    d.weights = (cairn_list){ passing, 5 };
    d.between = between;
    return d;
}

/* The share of the mass in bodies of at most this radius, of equal density. */
static double passing(const cairn_bodies *b, double radius)
{
    double all = 0, small = 0;
    for (int i = 0; i < b->count; i++) {
        all += b->mass[i];
        small += cairn_bodies_shape(b, i)->radius <= radius ? b->mass[i] : 0;
    }
    return small / all;
}

static double radius_of(const cairn_bodies *b, int i)
{
    return cairn_bodies_shape(b, i)->radius;
}

/* Bodies far apart on a grid, valid until the world is destroyed. */
static cairn_bodies made_on_grid(const cairn_distribution *radius, int dimension, int64_t count,
                                 int64_t seed, cairn_world **world)
{
    cairn_generator g = cairn_generator_default(CAIRN_GENERATOR_GRID, dimension);
    cairn_error error = { 0 };
    g.count.x = (double)count;
    g.spacing.x = 100;
    g.radius = *radius;
    g.seed = seed;
    *world = world_create(dimension);
    if (cairn_generate(*world, &g, NULL, &error) != CAIRN_OK)
        fail_msg("%s: %s", error.key, error.message);
    return cairn_world_bodies(*world);
}

/* 20,000 bodies have 20, 50 and 30 % of the mass in three sizes; by number these weights give
 * 20*1 : 50*8 : 30*125, which is 0.5, 9.6 and 89.9 %. */
TEST(weights_by_mass_are_shares_of_the_mass)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        const cairn_distribution d = by_mass();
        cairn_world *world;
        const cairn_bodies b = made_on_grid(&d, dimension, 20000, 1, &world);
        CHECK_NEAR(passing(&b, 1), 0.2, 2e-3);
        CHECK_NEAR(passing(&b, 2), 0.7, 2e-3);
        cairn_world_destroy(world);
    }
}

TEST(weights_are_by_number_if_nothing_is_said)
{
    cairn_distribution d = by_mass();
    cairn_world *world;
    d.by = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST).by;
    CHECK_TEXT(d.by, "number");
    const cairn_bodies b = made_on_grid(&d, 3, 20000, 1, &world);
    CHECK_NEAR(passing(&b, 1), 0.0048, 1e-3);
    CHECK_NEAR(passing(&b, 2), 0.1007, 1e-2);
    cairn_world_destroy(world);
}

/* Masses of 1, 2 and 5 kg: as many bodies as the shares over these. */
TEST(a_list_of_masses_by_mass_gives_these_shares)
{
    cairn_generator g = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    cairn_world *world = world_create(3);
    double sums[6] = { 0 };
    g.count.x = 2000;
    g.spacing.x = 3;
    g.radius.value = 1;
    g.mass = by_mass();
    CHECK_OK(cairn_generate(world, &g, NULL, NULL));
    const cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < b.count; i++)
        sums[(int)b.mass[i]] += b.mass[i];
    double all = sums[1] + sums[2] + sums[5];
    CHECK_NEAR(sums[1] / all, 0.2, 2e-3);
    CHECK_NEAR(sums[2] / all, 0.5, 2e-3);
    cairn_world_destroy(world);
}

/* Half-way between two sieves in the logarithm: 2^1/2 of the lower one. Nothing is between 4 and
 * 8 m. One body of 8 m radius is 0.1 % of the mass. */
TEST(a_sieve_curve_has_its_masses_to_one_per_cent)
{
    const double low[] = { 1, 2, 8 }, from[] = { 0, 0.1, 0.45 }, to[] = { 0.1, 0.45, 1 };
    for (int dimension = 2; dimension <= 3; dimension++) {
        const cairn_distribution d = sieves("log");
        cairn_world *world;
        const cairn_bodies b = made_on_grid(&d, dimension, 30000, 1, &world);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(passing(&b, low[i]), to[i], 1e-2);
            CHECK_NEAR(passing(&b, low[i] / 2 * sqrt(2)), (from[i] + to[i]) / 2, 1e-2);
        }
        CHECK_NEAR(passing(&b, 2), passing(&b, 3.99), 0);
        cairn_world_destroy(world);
    }
}

/* A sand from 63 um to 2 mm: 22 of 10,000 bodies are coarser than 0.63 mm, and the largest alone is
 * 7 % of the mass. The curve is met to 0.3 %; independent draws miss it by 4 %. */
TEST(twenty_coarse_bodies_are_enough_for_one_per_cent)
{
    static const double sizes[] = { 0.063, 0.2, 0.63, 2 }, shares[] = { 0, 12, 70, 100 };
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_SIEVE);
    cairn_world *world;
    int coarse = 0;
    d.values = (cairn_list){ sizes, 4 };
    d.weights = (cairn_list){ shares, 4 };
    const cairn_bodies b = made_on_grid(&d, 3, 10000, 1, &world);
    for (int i = 0; i < b.count; i++)
        coarse += radius_of(&b, i) > 0.315;
    CHECK_INT(coarse, 22);
    CHECK_NEAR(passing(&b, 0.1), 0.12, 5e-3);
    CHECK_NEAR(passing(&b, 0.315), 0.7, 5e-3);
    cairn_world_destroy(world);
}

/* Half-way between two sieves in the size: 1.5 times the lower one. */
TEST(a_sieve_curve_may_be_linear_in_the_size)
{
    const cairn_distribution d = sieves("linear");
    cairn_world *world;
    const cairn_bodies b = made_on_grid(&d, 3, 30000, 1, &world);
    CHECK_NEAR(passing(&b, 0.75), 0.05, 2e-3);
    CHECK_NEAR(passing(&b, 1.5), 0.275, 5e-3);
    CHECK_NEAR(passing(&b, 6), 0.725, 1e-2);
    cairn_world_destroy(world);
}

/* A pour of 1e9 bodies that ends after 20,000: the shares of those that came. */
TEST(a_pour_that_ends_early_has_the_grading)
{
    const cairn_distribution d = sieves("log");
    double all = 0, small = 0;
    for (int64_t k = 0; k < 20000; k++) {
        double r = cairn_distribution_pick(&d, 1, k, 1000000000, 4096), mass = r * r * r;
        all += mass;
        small += r <= 2 ? mass : 0;
    }
    CHECK_NEAR(small / all, 0.45, 1e-2);
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorted, the sizes of another seed are the same: a seed decides their order. For every number of
 * bodies each part of the quantiles is used once, so all sizes differ. */
TEST(seeds_change_the_order_of_the_sizes_alone)
{
    enum { MOST = 37 };
    const cairn_distribution d = sieves("log");
    for (int count = 1; count <= MOST; count++) {
        double one[MOST], other[MOST];
        for (int k = 0; k < count; k++) {
            one[k] = cairn_distribution_pick(&d, 1, k, count, 16);
            other[k] = cairn_distribution_pick(&d, 2, k, count, 16);
        }
        qsort(one, (size_t)count, sizeof *one, by_size);
        qsort(other, (size_t)count, sizeof *other, by_size);
        for (int k = 0; k < count; k++) {
            CHECK_NEAR(one[k], other[k], 0);
            CHECK(k == 0 || one[k] > one[k - 1]);
        }
    }
}

/* The correlation of the ranks of bodies that follow one another, at 1 to 20 places: within 5
 * standard errors, n^-1/2. */
TEST(sizes_follow_one_another_at_random)
{
    enum { COUNT = 4096 };
    static double rank[COUNT];
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_SIEVE);
    d.values = (cairn_list)LIST(1, 2);
    d.weights = (cairn_list)LIST(0, 100);
    d.between = "linear";
    d.power = 1e-9; /* sizes are even in [0.5, 1] */
    for (int k = 0; k < COUNT; k++)
        rank[k] = (cairn_distribution_pick(&d, 3, k, COUNT, COUNT) - 0.75) / sqrt(1.0 / 48);
    for (int away = 1; away <= 20; away++) {
        double sum = 0;
        for (int k = 0; k + away < COUNT; k++)
            sum += rank[k] * rank[k + away];
        CHECK_NEAR(sum / COUNT, 0, 5 / sqrt(COUNT));
    }
}

/* Draws without a number of bodies, as of a C program: 0.002 is 5 standard errors of the share of
 * bodies of radius 1, 0.744 by number. */
TEST(single_draws_of_a_grading_are_independent)
{
    enum { DRAWS = 1000000 };
    const cairn_distribution d = by_mass();
    uint64_t state = 1;
    int small = 0;
    for (int k = 0; k < DRAWS; k++)
        small += cairn_distribution_draw(&d, &state) == 1;
    CHECK_NEAR((double)small / DRAWS, 20 / (20 + 50 / 8.0 + 30 / 125.0), 2.2e-3);
}

/* An inlet with a sieve curve brings the same bodies after its state was saved and read. */
TEST(a_saved_inlet_goes_on_with_its_grading)
{
    cairn_inlet_def def = cairn_inlet_def_default();
    cairn_world *world = world_create(3);
    def.count = 100;
    def.rate = 1000;
    def.size = (cairn_vec3){ 1000, 1000, 1000 };
    def.radius = sieves("linear");
    CHECK_OK(cairn_inlet_create(world, &def));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    CHECK_OK(cairn_world_step(world, &options, NULL));
    saved s = save(world);
    cairn_world *copy = load(&s);
    free(s.data);
    for (int k = 0; k < 5; k++) {
        CHECK_OK(cairn_world_step(world, &options, NULL));
        CHECK_OK(cairn_world_step(copy, &options, NULL));
    }
    const cairn_bodies one = cairn_world_bodies(world), other = cairn_world_bodies(copy);
    CHECK(one.count > 50);
    CHECK_INT(one.count, other.count);
    for (int i = 0; i < one.count; i++)
        CHECK_NEAR(radius_of(&one, i), radius_of(&other, i), 0);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refuse(const cairn_distribution *d, const char *key, const char *piece)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_distribution_check(d, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, piece);
}

TEST(curves_that_do_not_say_where_the_mass_is_are_refused)
{
    cairn_distribution d = sieves("log");
    d.weights = (cairn_list)LIST(0, 10, 100);
    refuse(&d, "passing", "found 3 numbers, expected 5 as in sizes");
    d.weights = (cairn_list)LIST(5, 10, 45, 45, 100);
    refuse(&d, "passing", "found 5 % at the smallest size, expected 0");
    d.weights = (cairn_list)LIST(0, 0.1, 0.45, 0.45, 1);
    refuse(&d, "passing", "found 1 % at the largest size, expected 100: shares are in percent");
    d.weights = (cairn_list)LIST(0, 10, 45, 44, 100);
    refuse(&d, "passing", "found 44 after 45, expected numbers that never fall");
    d = sieves("log");
    d.values = (cairn_list)LIST(1, 2, 2, 8, 16);
    refuse(&d, "sizes", "found 2 after 2, expected sizes that rise");
    d.values = (cairn_list)LIST(1);
    refuse(&d, "sizes", "found 1 sizes, expected 2 or more");
    d = by_mass();
    d.by = "volume";
    refuse(&d, "by", "number, mass");
}

TEST(a_grading_needs_bodies_of_one_density)
{
    cairn_generator g = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    cairn_inlet_def def = cairn_inlet_def_default();
    cairn_world *world = world_create(3);
    cairn_error error = { 0 };
    g.radius = sieves("log");
    g.mass.value = 2;
    CHECK_INT(cairn_generate(world, &g, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "mass");
    CHECK_CONTAINS(error.message, "expected a density");
    g.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    g.radius.value = 1;
    g.mass = sieves("log");
    CHECK_INT(cairn_generate(world, &g, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "a distribution of the radius");
    def.radius = by_mass();
    def.mass = 2;
    CHECK_INT(cairn_inlet_create(world, &def), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(cairn_world_error(world)->message, "expected a density");
    cairn_world_destroy(world);
}

GROUP(test_grading)
{
    RUN(CASE(weights_by_mass_are_shares_of_the_mass),
        CASE(weights_are_by_number_if_nothing_is_said),
        CASE(a_list_of_masses_by_mass_gives_these_shares),
        CASE(a_sieve_curve_has_its_masses_to_one_per_cent),
        CASE(twenty_coarse_bodies_are_enough_for_one_per_cent),
        CASE(a_sieve_curve_may_be_linear_in_the_size), CASE(a_pour_that_ends_early_has_the_grading),
        CASE(seeds_change_the_order_of_the_sizes_alone), CASE(sizes_follow_one_another_at_random),
        CASE(single_draws_of_a_grading_are_independent),
        CASE(a_saved_inlet_goes_on_with_its_grading),
        CASE(curves_that_do_not_say_where_the_mass_is_are_refused),
        CASE(a_grading_needs_bodies_of_one_density));
}
