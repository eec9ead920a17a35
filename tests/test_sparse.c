/* test_sparse.c - matrices by compressed rows: gathered from entries, transposed, checked. */
#include "math/sparse.h"

#include "base/random.h"
#include "check.h"
#include "failing_allocator.h"

/* [ 1 0 2 ]
 * [ 0 0 0 ]
 * [ 3 4 0 ] */
static const int32_t rows[] = { 2, 0, 2, 0 }, columns[] = { 1, 2, 0, 0 };
static const double values[] = { 4, 2, 3, 1 };

TEST(entries_in_any_order_become_rows_with_ascending_columns)
{
    cairn_arena arena = { 0 };
    cairn_matrix A;
    cairn_entries entries = { 4, rows, columns, values };
    const int64_t start[] = { 0, 2, 2, 4 };
    const int32_t column[] = { 0, 2, 0, 1 };
    const double value[] = { 1, 2, 3, 4 };
    CHECK_OK(cairn_sparse_gather(3, 3, &entries, &arena, &A));
    CHECK_INT(A.rows, 3);
    CHECK_INT(A.columns, 3);
    CHECK(memcmp(A.start, start, sizeof start) == 0);
    CHECK(memcmp(A.column, column, sizeof column) == 0);
    CHECK(memcmp(A.value, value, sizeof value) == 0);
    CHECK_OK(cairn_sparse_check(&A, "A", NULL));
    cairn_arena_destroy(&arena);
}

TEST(entries_at_one_place_are_added)
{
    cairn_arena arena = { 0 };
    cairn_matrix A;
    const int32_t row[] = { 1, 0, 1, 1 }, column[] = { 1, 0, 1, 1 };
    const double value[] = { 1, 7, 2, 4 };
    cairn_entries entries = { 4, row, column, value };
    CHECK_OK(cairn_sparse_gather(2, 2, &entries, &arena, &A));
    CHECK_INT(A.start[2], 2);
    CHECK_NEAR(cairn_sparse_entry(&A, 1, 1), 7, 0);
    CHECK_NEAR(cairn_sparse_entry(&A, 0, 0), 7, 0);
    CHECK_NEAR(cairn_sparse_entry(&A, 0, 1), 0, 0);
    cairn_arena_destroy(&arena);
}

TEST(the_transpose_swaps_indices_and_twice_is_the_same)
{
    cairn_arena arena = { 0 };
    cairn_matrix A, T, back;
    int32_t row[60], column[60];
    double value[60];
    uint64_t state = 5;
    for (int k = 0; k < 60; k++) {
        row[k] = (int32_t)(7 * cairn_random_uniform(&state));
        column[k] = (int32_t)(11 * cairn_random_uniform(&state));
        value[k] = cairn_random_normal(&state);
    }
    cairn_entries entries = { 60, row, column, value };
    CHECK_OK(cairn_sparse_gather(7, 11, &entries, &arena, &A));
    CHECK_OK(cairn_sparse_transpose(&A, &arena, &T));
    CHECK_OK(cairn_sparse_check(&T, "T", NULL));
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 11; j++)
            CHECK(cairn_sparse_entry(&A, i, j) == cairn_sparse_entry(&T, j, i));
    CHECK_OK(cairn_sparse_transpose(&T, &arena, &back));
    CHECK_INT(back.start[7], A.start[7]);
    CHECK(memcmp(back.value, A.value, sizeof(double) * (size_t)A.start[7]) == 0);
    cairn_arena_destroy(&arena);
}

TEST(a_matrix_without_entries_or_rows_is_fine)
{
    cairn_arena arena = { 0 };
    cairn_matrix A, T;
    cairn_entries none = { 0, NULL, NULL, NULL };
    CHECK_OK(cairn_sparse_gather(0, 4, &none, &arena, &A));
    CHECK_OK(cairn_sparse_check(&A, "A", NULL));
    CHECK_OK(cairn_sparse_transpose(&A, &arena, &T));
    CHECK_INT(T.rows, 4);
    CHECK_INT(T.start[4], 0);
    CHECK_OK(cairn_sparse_check(&T, "T", NULL));
    cairn_arena_destroy(&arena);
}

TEST(what_is_wrong_is_named)
{
    int64_t start[] = { 0, 1, 2 };
    int32_t column[] = { 0, 1 };
    double value[] = { 1, 2 };
    cairn_matrix A = { 2, 2, start, column, value };
    cairn_error error;
    CHECK_OK(cairn_sparse_check(&A, "A", &error));
    column[1] = 2;
    CHECK_INT(cairn_sparse_check(&A, "A", &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "row 1 names column 2 of 2");
    CHECK_TEXT(error.key, "A");
    column[1] = 1;
    start[1] = 3;
    CHECK_INT(cairn_sparse_check(&A, "A", &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "row 1 ends before it begins");
    start[1] = 0;
    column[0] = 1;
    CHECK_INT(cairn_sparse_check(&A, "A", &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "row 1 do not ascend");
    start[0] = 1;
    CHECK_INT(cairn_sparse_check(&A, "A", &error), CAIRN_BAD_INPUT);
    start[0] = 0;
    start[1] = 1;
    column[0] = 0;
    value[1] = NAN;
    CHECK_INT(cairn_sparse_check(&A, "A", &error), CAIRN_NOT_FINITE);
    CHECK_CONTAINS(error.message, "entry (1, 1) of A is nan");
}

TEST(no_memory_at_any_place_is_reported)
{
    cairn_entries entries = { 4, rows, columns, values };
    int failures = 0;
    for (long n = 1; n < 50; n++) {
        meter m = { .fail_at = n };
        cairn_arena arena = { 0 };
        cairn_matrix A;
        meter_install(&m);
        cairn_status status = cairn_sparse_gather(3, 3, &entries, &arena, &A);
        cairn_arena_destroy(&arena);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        failures += status != CAIRN_OK;
    }
    CHECK(failures >= 2);
}

int main(void)
{
    RUN(CASE(entries_in_any_order_become_rows_with_ascending_columns),
        CASE(entries_at_one_place_are_added),
        CASE(the_transpose_swaps_indices_and_twice_is_the_same),
        CASE(a_matrix_without_entries_or_rows_is_fine), CASE(what_is_wrong_is_named),
        CASE(no_memory_at_any_place_is_reported));
}
