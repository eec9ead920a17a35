/* test_random.c - splitmix64 against its published numbers, and what is made of it. */
#include "base/random.h"
#include "check.h"

enum { DRAWS = 100000 };

/* The reference sequence of seed 1234567. */
TEST(the_bits_are_those_of_splitmix64)
{
    const uint64_t expected[5] = { 6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u };
    uint64_t state = 1234567;
    for (int i = 0; i < 5; i++)
        CHECK(cairn_random_next(&state) == expected[i]);
}

TEST(uniform_is_the_upper_53_bits)
{
    uint64_t state = 42, copy = 42;
    for (int i = 0; i < 1000; i++) {
        double u = cairn_random_uniform(&state);
        CHECK(u == (double)(cairn_random_next(&copy) >> 11) / 9007199254740992.0);
        CHECK(u >= 0 && u < 1);
    }
}

/* mean 1/2, variance 1/12; standard errors sqrt(1/12/n) and sqrt(1/180/n) */
TEST(uniform_has_mean_a_half_and_variance_a_twelfth)
{
    uint64_t state = 7;
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        double u = cairn_random_uniform(&state) - 0.5;
        sum += u;
        squares += u * u;
    }
    CHECK_NEAR(sum / DRAWS, 0, 5 * sqrt(1.0 / 12 / DRAWS));
    CHECK_NEAR(squares / DRAWS, 1.0 / 12, 5 * sqrt(1.0 / 180 / DRAWS));
}

TEST(between_fills_its_interval_and_stays_in_it)
{
    uint64_t state = 3;
    double low = 1e9, high = -1e9;
    for (int i = 0; i < DRAWS; i++) {
        double x = cairn_random_between(&state, -2, 5);
        CHECK(x >= -2 && x < 5);
        low = fmin(low, x);
        high = fmax(high, x);
    }
    CHECK_NEAR(low, -2, 1e-3); /* of 1e5 draws one falls into each 1e-3 but for exp(-14) */
    CHECK_NEAR(high, 5, 1e-3);
}

/* E z = 0, E z^2 = 1, E z^4 = 3; standard errors 1, sqrt 2, sqrt 96 over sqrt n */
TEST(normal_has_moments_0_1_and_3)
{
    uint64_t state = 11;
    double m1 = 0, m2 = 0, m4 = 0;
    for (int i = 0; i < DRAWS; i++) {
        double z = cairn_random_normal(&state), z2 = z * z;
        CHECK(isfinite(z));
        m1 += z;
        m2 += z2;
        m4 += z2 * z2;
    }
    CHECK_NEAR(m1 / DRAWS, 0, 5 / sqrt(DRAWS));
    CHECK_NEAR(m2 / DRAWS, 1, 5 * sqrt(2) / sqrt(DRAWS));
    CHECK_NEAR(m4 / DRAWS, 3, 5 * sqrt(96) / sqrt(DRAWS));
}

TEST(equal_seeds_give_equal_numbers_and_others_do_not)
{
    uint64_t a = 5, b = 5, c = 6;
    for (int i = 0; i < 100; i++) {
        double x = cairn_random_uniform(&a);
        CHECK(x == cairn_random_uniform(&b));
        CHECK(x != cairn_random_uniform(&c));
    }
}

int main(void)
{
    RUN(CASE(the_bits_are_those_of_splitmix64), CASE(uniform_is_the_upper_53_bits),
        CASE(uniform_has_mean_a_half_and_variance_a_twelfth),
        CASE(between_fills_its_interval_and_stays_in_it), CASE(normal_has_moments_0_1_and_3),
        CASE(equal_seeds_give_equal_numbers_and_others_do_not));
}
