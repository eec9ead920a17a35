/* test_dense.c - LU factors by hand, with a row exchange, and singular ones. */
#include "math/dense.h"

#include "base/random.h"
#include "check.h"

TEST(a_system_that_needs_a_row_exchange)
{
    double A[9] = { 0, 2, 1, 1, 1, 0, 2, 0, 3 }, x[3] = { 5, 3, 8 };
    int pivot[3];
    /* solution: 2y + z = 5, x + y = 3, 2x + 3z = 8: x = 11/8, y = 13/8, z = 7/4 */
    CHECK(cairn_dense_factor(3, A, pivot));
    cairn_dense_solve(3, A, pivot, x);
    CHECK_NEAR(x[0], 1.375, 1e-15);
    CHECK_NEAR(x[1], 1.625, 1e-15);
    CHECK_NEAR(x[2], 1.75, 1e-15);
}

TEST(random_systems_are_solved_to_rounding)
{
    enum { N = 40 };
    double A[N * N], factors[N * N], x[N], b[N];
    int pivot[N];
    uint64_t state = 8;
    for (int i = 0; i < N * N; i++)
        A[i] = factors[i] = cairn_random_normal(&state);
    for (int i = 0; i < N; i++)
        b[i] = x[i] = cairn_random_normal(&state);
    CHECK(cairn_dense_factor(N, factors, pivot));
    cairn_dense_solve(N, factors, pivot, x);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += A[i * N + j] * x[j];
        CHECK_NEAR(sum, b[i], 1e-11);
    }
}

TEST(singular_and_not_finite_matrices_have_no_factors)
{
    double twice[4] = { 1, 2, 1, 2 }, zero[1] = { 0 }, bad[1] = { NAN }, big[1] = { INFINITY };
    int pivot[2];
    CHECK(!cairn_dense_factor(2, twice, pivot));
    CHECK(!cairn_dense_factor(1, zero, pivot));
    CHECK(!cairn_dense_factor(1, bad, pivot));
    CHECK(!cairn_dense_factor(1, big, pivot));
    CHECK(cairn_dense_factor(0, zero, pivot));
}

int main(void)
{
    RUN(CASE(a_system_that_needs_a_row_exchange), CASE(random_systems_are_solved_to_rounding),
        CASE(singular_and_not_finite_matrices_have_no_factors));
}
