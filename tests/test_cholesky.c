/* test_cholesky.c - the sparse factorisation behind the second-order methods. */
#include "math/cholesky.h"

#include "check.h"

/* A = tridiagonal (-1, 2 + shift, -1) of size n; only the upper triangle is given. */
static cairn_matrix tridiagonal(int n, double shift, int64_t *start, int32_t *column, double *value)
{
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        start[i] = at;
        column[at] = i;
        value[at++] = 2 + shift;
        if (i + 1 < n) {
            column[at] = i + 1;
            value[at++] = -1;
        }
    }
    start[n] = at;
    return (cairn_matrix){ n, n, start, column, value };
}

TEST(solves_a_tridiagonal_system_again_and_again)
{
    enum { N = 50 };
    int64_t start[N + 1];
    int32_t column[2 * N];
    double value[2 * N], b[N], x[N];
    cairn_cholesky *c;
    CHECK_OK(cairn_cholesky_create(&c));
    for (int k = 0; k < 3; k++) {
        bool positive;
        cairn_matrix A = tridiagonal(N - 10 * k, 0.1 * k, start, column, value);
        CHECK_OK(cairn_cholesky_factor(c, &A, &positive));
        CHECK(positive);
        for (int i = 0; i < A.rows; i++)
            b[i] = 1;
        CHECK_OK(cairn_cholesky_solve(c, b, x));
        for (int i = 0; i < A.rows; i++) {
            double left = i ? x[i - 1] : 0, right = i + 1 < A.rows ? x[i + 1] : 0;
            CHECK_NEAR((2 + 0.1 * k) * x[i] - left - right, 1, 1e-12);
        }
    }
    CHECK(cairn_cholesky_fill(c) >= 30);
    cairn_cholesky_destroy(c);
}

TEST(the_same_size_with_another_pattern_is_noticed)
{
    int64_t start[4] = { 0, 2, 3, 4 };
    int32_t first[4] = { 0, 1, 1, 2 }, second[4] = { 0, 2, 1, 2 };
    double value[4] = { 2, 1, 2, 2 }, b[3] = { 3, 3, 2 }, x[3];
    bool positive;
    cairn_cholesky *c;
    CHECK_OK(cairn_cholesky_create(&c));
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 3, 3, start, first, value }, &positive));
    CHECK_OK(cairn_cholesky_solve(c, b, x));
    CHECK_NEAR(x[0], 1, 1e-14);
    CHECK_NEAR(x[1], 1, 1e-14);
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 3, 3, start, second, value }, &positive));
    CHECK_OK(cairn_cholesky_solve(c, b, x));
    CHECK_NEAR(x[1], 1.5, 1e-14); /* row 1 stands alone now */
    CHECK_NEAR(2 * x[0] + x[2], 3, 1e-14);
    cairn_cholesky_destroy(c);
}

TEST(an_indefinite_matrix_is_told)
{
    int64_t start[3] = { 0, 2, 3 };
    int32_t column[3] = { 0, 1, 1 };
    double value[3] = { 1, 2, 1 };
    bool positive = true;
    cairn_cholesky *c;
    CHECK_OK(cairn_cholesky_create(&c));
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 2, 2, start, column, value }, &positive));
    CHECK(!positive);
    value[1] = 0.5; /* and it recovers */
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 2, 2, start, column, value }, &positive));
    CHECK(positive);
    cairn_cholesky_destroy(c);
}

int main(void)
{
    RUN(CASE(solves_a_tridiagonal_system_again_and_again),
        CASE(the_same_size_with_another_pattern_is_noticed), CASE(an_indefinite_matrix_is_told));
}
