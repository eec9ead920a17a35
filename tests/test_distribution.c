/* test_distribution.c - distributions of positive numbers: moments, cuts, refusals. */
#include "base/random.h"
#include "cairn/world.h"
#include "check.h"

enum { DRAWS = 100000 };

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)  \
    }

static cairn_distribution make(cairn_distribution_kind kind, double mean, double deviation)
{
    cairn_distribution d = cairn_distribution_default(kind);
    d.mean = mean;
    d.deviation = deviation;
    return d;
}

typedef struct moments {
    double mean, deviation, smallest, largest;
} moments;

static moments draw_many(const cairn_distribution *d, uint64_t seed)
{
    moments m = { .smallest = INFINITY, .largest = -INFINITY };
    uint64_t state = seed;
    double squares = 0;
    CHECK_OK(cairn_distribution_check(d, NULL));
    for (int i = 0; i < DRAWS; i++) {
        double x = cairn_distribution_draw(d, &state);
        m.mean += x / DRAWS;
        squares += x * x / DRAWS;
        m.smallest = fmin(m.smallest, x);
        m.largest = fmax(m.largest, x);
    }
    m.deviation = sqrt(squares - m.mean * m.mean);
    return m;
}

TEST(a_constant_is_always_the_same)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    d.value = 0.03;
    moments m = draw_many(&d, 1);
    CHECK_NEAR(m.smallest, 0.03, 0);
    CHECK_NEAR(m.largest, 0.03, 0);
}

/* [2, 5]: mean 3.5, deviation 3/sqrt(12) */
TEST(uniform_draws_fill_their_interval)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    d.minimum = 2;
    d.maximum = 5;
    moments m = draw_many(&d, 2);
    double deviation = 3 / sqrt(12);
    CHECK_NEAR(m.mean, 3.5, 5 * deviation / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, deviation, 5 * sqrt(0.2 / DRAWS)); /* (kurtosis 1.8 - 1)/4 = 0.2 */
    CHECK(m.smallest >= 2 && m.smallest < 2.001);
    CHECK(m.largest < 5 && m.largest > 4.999);
}

TEST(uniform_between_equal_bounds_is_a_constant)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    d.minimum = d.maximum = 0.7;
    CHECK_NEAR(draw_many(&d, 3).smallest, 0.7, 0);
    CHECK_NEAR(draw_many(&d, 3).largest, 0.7, 0);
}

TEST(normal_draws_have_their_mean_and_deviation)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 10, 1); /* 0 is 10 deviations away */
    moments m = draw_many(&d, 4);
    CHECK_NEAR(m.mean, 10, 5 / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, 1, 5 * sqrt(0.5 / DRAWS));
}

/* Cut to [mean - s, mean + s] the deviation is s sqrt(1 - 2 phi(1)/(2 Phi(1) - 1)) = 0.5396 s. */
TEST(normal_draws_outside_the_cut_are_drawn_again)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 10, 2);
    d.minimum = 8;
    d.maximum = 12;
    moments m = draw_many(&d, 5);
    CHECK_NEAR(m.mean, 10, 5 * 1.0792 / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, 2 * 0.53956, 0.01);
    CHECK(m.smallest >= 8 && m.largest <= 12);
}

TEST(normal_draws_are_positive_without_being_told)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 1, 5);
    CHECK(draw_many(&d, 6).smallest > 0);
}

/* Mean and deviation are those of the values, not of their logarithms. The standard error of the
 * mean is 0.5/sqrt(n); the median is mean/sqrt(1 + (0.5)^2). */
TEST(lognormal_draws_have_their_mean_deviation_and_median)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, 0.5);
    moments m = draw_many(&d, 7);
    CHECK_NEAR(m.mean, 1, 5 * 0.5 / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, 0.5, 0.02);
    CHECK(m.smallest > 0);
    uint64_t state = 7;
    int below = 0;
    for (int i = 0; i < DRAWS; i++)
        below += cairn_distribution_draw(&d, &state) < 1 / sqrt(1.25);
    CHECK_NEAR((double)below / DRAWS, 0.5, 5 * 0.5 / sqrt(DRAWS));
}

TEST(lognormal_draws_keep_to_their_cut)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 0.03, 0.01);
    d.minimum = 0.02;
    d.maximum = 0.04;
    moments m = draw_many(&d, 8);
    CHECK(m.smallest >= 0.02 && m.smallest < 0.0201);
    CHECK(m.largest <= 0.04 && m.largest > 0.0399);
}

TEST(without_deviation_all_draws_are_the_mean)
{
    const cairn_distribution_kind kinds[2] = { CAIRN_DISTRIBUTION_NORMAL,
                                               CAIRN_DISTRIBUTION_LOGNORMAL };
    for (int k = 0; k < 2; k++) {
        cairn_distribution d = make(kinds[k], 0.25, 0);
        moments m = draw_many(&d, 9);
        CHECK_NEAR(m.smallest, 0.25, 1e-15);
        CHECK_NEAR(m.largest, 0.25, 1e-15);
    }
}

static void count_draws(const cairn_distribution *d, int counts[3])
{
    uint64_t state = 10;
    CHECK_OK(cairn_distribution_check(d, NULL));
    counts[0] = counts[1] = counts[2] = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = cairn_distribution_draw(d, &state);
        CHECK(x == 1 || x == 2 || x == 3);
        counts[(int)x - 1]++;
    }
}

/* 5 standard errors of a share p: 5 sqrt(p (1 - p) n) */
TEST(lists_are_drawn_equally_or_by_weight)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    int counts[3];
    d.values = (cairn_list)LIST(1, 2, 3);
    count_draws(&d, counts);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(counts[k], DRAWS / 3.0, 5 * sqrt(2.0 / 9 * DRAWS));
    d.weights = (cairn_list)LIST(10, 0, 30);
    count_draws(&d, counts);
    CHECK_NEAR(counts[0], 0.25 * DRAWS, 5 * sqrt(0.1875 * DRAWS));
    CHECK_INT(counts[1], 0);
    CHECK_INT(counts[0] + counts[2], DRAWS);
}

TEST(equal_seeds_give_equal_draws)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, 0.5);
    uint64_t a = 1, b = 1, c = 2;
    for (int i = 0; i < 100; i++) {
        double x = cairn_distribution_draw(&d, &a);
        CHECK(x == cairn_distribution_draw(&d, &b));
        CHECK(x != cairn_distribution_draw(&d, &c));
    }
}

/* A cut that next to nothing passes ends, within the cut. */
TEST(a_draw_always_ends)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 1, 1);
    d.minimum = d.maximum = 1.5;
    uint64_t state = 1;
    CHECK_OK(cairn_distribution_check(&d, NULL));
    CHECK_NEAR(cairn_distribution_draw(&d, &state), 1.5, 0);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refuse(const cairn_distribution *d, cairn_status status, const char *key,
                   const char *piece)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_distribution_check(d, &error), status);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, piece);
    CHECK_INT(cairn_distribution_check(d, NULL), status);
}

TEST(impossible_parameters_are_refused)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    d.value = -1;
    refuse(&d, CAIRN_BAD_INPUT, "value", "found -1");
    d.value = NAN;
    refuse(&d, CAIRN_NOT_FINITE, "value", "nan");
    d = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    d.maximum = 1;
    refuse(&d, CAIRN_BAD_INPUT, "minimum", "found 0");
    d.minimum = 2;
    refuse(&d, CAIRN_BAD_INPUT, "maximum", "found 1, expected at least 2");
    d.maximum = INFINITY;
    refuse(&d, CAIRN_NOT_FINITE, "maximum", "inf");
    d = make(CAIRN_DISTRIBUTION_NORMAL, 0, 1);
    refuse(&d, CAIRN_BAD_INPUT, "mean", "found 0");
    d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, -1);
    refuse(&d, CAIRN_BAD_INPUT, "deviation", "found -1");
    d.kind = CAIRN_DISTRIBUTION_COUNT;
    refuse(&d, CAIRN_BAD_INPUT, "", "unknown distribution 5");
}

TEST(cuts_that_leave_nothing_are_refused)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 1, 0.1);
    d.minimum = 1.2;
    d.maximum = 1.1;
    refuse(&d, CAIRN_BAD_INPUT, "maximum", "at least 1.2");
    d.minimum = 1.36;
    d.maximum = 2;
    refuse(&d, CAIRN_BAD_INPUT, "minimum", "3.5 deviations");
    d.minimum = 0;
    d.maximum = 0.6;
    refuse(&d, CAIRN_BAD_INPUT, "minimum", "3.5 deviations");
    d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, 0);
    d.minimum = 1.01;
    refuse(&d, CAIRN_BAD_INPUT, "minimum", "3.5 deviations");
}

TEST(bad_lists_are_refused)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    refuse(&d, CAIRN_BAD_INPUT, "values", "empty");
    d.values = (cairn_list)LIST(1, 0);
    refuse(&d, CAIRN_BAD_INPUT, "values", "found 0");
    d.values = (cairn_list)LIST(1, 2);
    d.weights = (cairn_list)LIST(1);
    refuse(&d, CAIRN_BAD_INPUT, "weights", "found 1 numbers, expected 2");
    d.weights = (cairn_list)LIST(1, -1);
    refuse(&d, CAIRN_BAD_INPUT, "weights", "found -1");
    d.weights = (cairn_list)LIST(0, 0);
    refuse(&d, CAIRN_BAD_INPUT, "weights", "all are 0");
}

TEST(kinds_have_names)
{
    static const char *const names[] = { "constant", "uniform", "normal", "lognormal", "list" };
    for (int k = 0; k < CAIRN_DISTRIBUTION_COUNT; k++) {
        cairn_distribution d;
        CHECK_TEXT(cairn_distribution_record(k)->name, names[k]);
        cairn_distribution_record(k)->set_default(&d);
        CHECK_INT(d.kind, k);
    }
    CHECK(cairn_distribution_record(CAIRN_DISTRIBUTION_COUNT) == NULL);
    CHECK(cairn_distribution_record(-1) == NULL);
}

int main(void)
{
    RUN(CASE(a_constant_is_always_the_same), CASE(uniform_draws_fill_their_interval),
        CASE(uniform_between_equal_bounds_is_a_constant),
        CASE(normal_draws_have_their_mean_and_deviation),
        CASE(normal_draws_outside_the_cut_are_drawn_again),
        CASE(normal_draws_are_positive_without_being_told),
        CASE(lognormal_draws_have_their_mean_deviation_and_median),
        CASE(lognormal_draws_keep_to_their_cut), CASE(without_deviation_all_draws_are_the_mean),
        CASE(lists_are_drawn_equally_or_by_weight), CASE(equal_seeds_give_equal_draws),
        CASE(a_draw_always_ends), CASE(impossible_parameters_are_refused),
        CASE(cuts_that_leave_nothing_are_refused), CASE(bad_lists_are_refused),
        CASE(kinds_have_names));
}
