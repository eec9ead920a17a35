/* test_fclib_matrix.c - the three ways a matrix is stored, and what is wrong with bad ones. */
#include "io/fclib_matrix.h"

#include "math/sparse.h"
#include "run_scene.h"

/* [ 1 0 2 ]
 * [ 3 4 0 ] */
typedef struct lists {
    int32_t m, n, nz, nzmax;
    int p_count, i_count, x_count;
    int32_t p[8], i[8];
    double x[8];
} lists;

static const lists triplets = {
    2, 3, 4, 4, 4, 4, 4, { 2, 0, 1, 0 }, { 0, 1, 1, 0 }, { 2, 3, 4, 1 }
};
static const lists by_columns = {
    2, 3, -1, 4, 4, 4, 4, { 0, 2, 3, 4 }, { 0, 1, 1, 0 }, { 1, 3, 4, 2 }
};
static const lists by_rows = { 2, 3, -2, 4, 3, 4, 4, { 0, 2, 4 }, { 0, 2, 0, 1 }, { 1, 2, 3, 4 } };

static void put_list(hid_t group, const char *name, cairn_hdf5_type type, int count,
                     const void *data)
{
    CHECK_OK(cairn_fclib_list_write(group, name, (cairn_hdf5_values){ type, count, data }, NULL));
}

static hid_t write_lists(const char *name, const lists *l)
{
    hid_t group, file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK_OK(cairn_hdf5_group(file, "A", &group, NULL));
    put_list(group, "m", CAIRN_HDF5_INT, 1, &l->m);
    put_list(group, "n", CAIRN_HDF5_INT, 1, &l->n);
    put_list(group, "nz", CAIRN_HDF5_INT, 1, &l->nz);
    put_list(group, "nzmax", CAIRN_HDF5_INT, 1, &l->nzmax);
    put_list(group, "p", CAIRN_HDF5_INT, l->p_count, l->p);
    put_list(group, "i", CAIRN_HDF5_INT, l->i_count, l->i);
    put_list(group, "x", CAIRN_HDF5_REAL, l->x_count, l->x);
    H5Gclose(group);
    return file;
}

static cairn_status read_lists(const lists *l, cairn_arena *arena, cairn_matrix *out,
                               cairn_error *error)
{
    folder f = folder_create();
    hid_t file = write_lists(path_in(&f, "a.h5").text, l);
    cairn_status status =
        cairn_fclib_matrix_read(file, "A", (cairn_fclib_size){ 2, 3 }, arena, out, error);
    H5Fclose(file);
    folder_remove(f.path);
    return status;
}

static void check_sample(const cairn_matrix *A)
{
    const double dense[2][3] = { { 1, 0, 2 }, { 3, 4, 0 } };
    CHECK_INT(A->start[2], 4);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            CHECK(cairn_sparse_entry(A, i, j) == dense[i][j]);
}

TEST(triplets_columns_and_rows_are_the_same_matrix)
{
    const lists *const ways[3] = { &triplets, &by_columns, &by_rows };
    for (int k = 0; k < 3; k++) {
        cairn_arena arena = { 0 };
        cairn_matrix A;
        CHECK_OK(read_lists(ways[k], &arena, &A, NULL));
        check_sample(&A);
        cairn_arena_destroy(&arena);
    }
}

TEST(lists_may_be_longer_than_what_they_hold)
{
    const lists *const ways[3] = { &triplets, &by_columns, &by_rows };
    for (int k = 0; k < 3; k++) {
        cairn_arena arena = { 0 };
        cairn_matrix A;
        lists longer = *ways[k];
        longer.nzmax = longer.i_count = longer.x_count = 7;
        longer.i[5] = -9; /* not looked at */
        if (k == 0)
            longer.p_count = 7;
        CHECK_OK(read_lists(&longer, &arena, &A, NULL));
        check_sample(&A);
        cairn_arena_destroy(&arena);
    }
}

static void check_refused(lists bad, cairn_status expected, const char *key, const char *reason)
{
    cairn_arena arena = { 0 };
    cairn_matrix A;
    cairn_error error = { 0 };
    CHECK_INT(read_lists(&bad, &arena, &A, &error), expected);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, reason);
    cairn_arena_destroy(&arena);
}

TEST(sizes_that_are_not_expected_are_refused_before_anything_is_allocated)
{
    lists bad = triplets;
    bad.m = INT32_MAX;
    check_refused(bad, CAIRN_BAD_INPUT, "A/m", "found 2147483647 x 3, expected 2 x 3");
    bad.m = -2;
    check_refused(bad, CAIRN_BAD_INPUT, "A/m", "found a matrix of -2 x 3");
    bad = triplets;
    bad.nz = -3;
    check_refused(bad, CAIRN_BAD_INPUT, "A/nz", "found -3");
    bad.nz = 5;
    check_refused(bad, CAIRN_BAD_INPUT, "A/nz", "found 5 triplets");
}

TEST(indices_out_of_range_are_refused)
{
    lists bad = triplets;
    bad.p[1] = 3;
    check_refused(bad, CAIRN_BAD_INPUT, "A/p", "entry 1 has index 3, expected 0 to 2");
    bad = triplets;
    bad.i[3] = -1;
    check_refused(bad, CAIRN_BAD_INPUT, "A/i", "entry 3 has index -1, expected 0 to 1");
    bad = by_rows;
    bad.i[1] = 3;
    check_refused(bad, CAIRN_BAD_INPUT, "A/i", "entry 1 has index 3, expected 0 to 2");
    bad = by_columns;
    bad.i[1] = 2;
    check_refused(bad, CAIRN_BAD_INPUT, "A/i", "entry 1 has index 2, expected 0 to 1");
}

TEST(starts_that_lie_are_refused)
{
    lists bad = by_rows;
    bad.p[2] = 5; /* one more than i and x hold */
    check_refused(bad, CAIRN_BAD_INPUT, "A/p", "start 2 is 5");
    bad.p[2] = 1; /* falls */
    check_refused(bad, CAIRN_BAD_INPUT, "A/p", "start 2 is 1, expected 2 to 4");
    bad = by_rows;
    bad.p[0] = 1;
    check_refused(bad, CAIRN_BAD_INPUT, "A/p", "the first is 1");
    bad = by_rows;
    bad.p_count = 2;
    check_refused(bad, CAIRN_BAD_INPUT, "A/p", "found 2 numbers, expected 3");
}

TEST(numbers_that_are_none_are_refused)
{
    lists bad = by_rows;
    bad.x[2] = NAN;
    check_refused(bad, CAIRN_NOT_FINITE, "A/x", "entry (1, 0)");
}

TEST(what_is_written_is_read_back)
{
    for (int as_triplets = 0; as_triplets < 2; as_triplets++) {
        folder f = folder_create();
        cairn_arena arena = { 0 };
        cairn_matrix A, back;
        double list[8];
        CHECK_OK(read_lists(&by_columns, &arena, &A, NULL));
        path p = path_in(&f, "b.h5");
        hid_t file = H5Fcreate(p.text, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        CHECK_OK(cairn_fclib_matrix_write(file, "B", &A, as_triplets, NULL));
        CHECK_OK(
            cairn_fclib_matrix_read(file, "B", (cairn_fclib_size){ 2, 3 }, &arena, &back, NULL));
        check_sample(&back);
        H5Fclose(file);
        h5_numbers(p.text, "B/nz", list, 8);
        CHECK_NEAR(list[0], as_triplets ? 4 : -2, 0);
        CHECK_INT(h5_numbers(p.text, "B/p", list, 8), as_triplets ? 4 : 3);
        if (as_triplets) /* sorted by column */
            CHECK(list[0] == 0 && list[1] == 0 && list[2] == 1 && list[3] == 2);
        cairn_arena_destroy(&arena);
        folder_remove(f.path);
    }
}

int main(void)
{
    RUN(CASE(triplets_columns_and_rows_are_the_same_matrix),
        CASE(lists_may_be_longer_than_what_they_hold),
        CASE(sizes_that_are_not_expected_are_refused_before_anything_is_allocated),
        CASE(indices_out_of_range_are_refused), CASE(starts_that_lie_are_refused),
        CASE(numbers_that_are_none_are_refused), CASE(what_is_written_is_read_back));
}
