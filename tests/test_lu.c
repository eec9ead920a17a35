/* test_lu.c - factors of unsymmetric matrices, small and large. */
#include "math/lu.h"

#include "base/random.h"
#include "check.h"

enum { MOST = 300 };

/* Bidiagonal and unsymmetric: 2 on the diagonal, -1 to the right, and 1 in the first column. */
static cairn_matrix comb(int n, double diagonal, int64_t *start, int32_t *column, double *value)
{
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        const int columns[3] = { 0, i, i + 1 };
        const double values[3] = { 1, diagonal, -1 };
        start[i] = at;
        for (int k = i == 0; k < 3 && columns[k] < n; k++) {
            column[at] = columns[k];
            value[at++] = values[k];
        }
    }
    start[n] = at;
    return (cairn_matrix){ n, n, start, column, value };
}

/* small (dense), large (sparse), large with the same pattern, small again */
TEST(solves_systems_of_changing_size)
{
    static const int sizes[5] = { 7, MOST, MOST, 200, 7 };
    static int64_t start[MOST + 1];
    static int32_t column[3 * MOST];
    static double value[3 * MOST], b[MOST], x[MOST];
    uint64_t state = 3;
    cairn_lu *lu;
    CHECK_OK(cairn_lu_create(&lu));
    for (int k = 0; k < 5; k++) {
        bool regular;
        cairn_matrix A = comb(sizes[k], 2 + k, start, column, value);
        CHECK_OK(cairn_lu_factor(lu, &A, &regular));
        CHECK(regular);
        for (int i = 0; i < A.rows; i++)
            b[i] = x[i] = cairn_random_normal(&state);
        CHECK_OK(cairn_lu_solve(lu, x, x)); /* in place */
        for (int i = 0; i < A.rows; i++) {
            double sum = 0;
            for (int64_t e = start[i]; e < start[i + 1]; e++)
                sum += value[e] * x[column[e]];
            CHECK_NEAR(sum, b[i], 1e-11);
        }
    }
    cairn_lu_destroy(lu);
}

TEST(a_singular_matrix_is_told_small_and_large)
{
    static int64_t start[MOST + 1];
    static int32_t column[3 * MOST];
    static double value[3 * MOST];
    cairn_lu *lu;
    CHECK_OK(cairn_lu_create(&lu));
    for (int n = 10; n <= MOST; n += 290) {
        bool regular = true;
        cairn_matrix A = comb(n, 2, start, column, value);
        for (int64_t e = start[n - 1]; e < start[n]; e++)
            value[e] = 0; /* an empty last row */
        CHECK_OK(cairn_lu_factor(lu, &A, &regular));
        CHECK(!regular);
    }
    cairn_lu_destroy(lu);
}

TEST(an_empty_matrix_is_fine)
{
    const int64_t start[1] = { 0 };
    double x[1] = { 5 };
    bool regular = false;
    cairn_lu *lu;
    CHECK_OK(cairn_lu_create(&lu));
    CHECK_OK(cairn_lu_factor(lu, &(cairn_matrix){ 0, 0, start, NULL, NULL }, &regular));
    CHECK(regular);
    CHECK_OK(cairn_lu_solve(lu, x, x));
    CHECK(x[0] == 5);
    cairn_lu_destroy(lu);
}

int main(void)
{
    RUN(CASE(solves_systems_of_changing_size), CASE(a_singular_matrix_is_told_small_and_large),
        CASE(an_empty_matrix_is_fine));
}
