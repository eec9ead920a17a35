/* test_fclib_read.c - FCLib files, read; and their matrices. */
#include "file/formats.h"
#include "math/factor.h"
#include "tests/problems/random_problem.h"
#include "tests/problems/run_scene.h"

/* ==== test_fclib_matrix: the three ways a matrix is stored, and what is wrong with bad ones */

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

static void check_lists_refused(lists bad, cairn_status expected, const char *key,
                                const char *reason)
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
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/m", "found 2147483647 x 3, expected 2 x 3");
    bad.m = -2;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/m", "found a matrix of -2 x 3");
    bad = triplets;
    bad.nz = -3;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/nz", "found -3");
    bad.nz = 5;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/nz", "found 5 triplets");
}

TEST(indices_out_of_range_are_refused)
{
    lists bad = triplets;
    bad.p[1] = 3;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/p", "entry 1 has index 3, expected 0 to 2");
    bad = triplets;
    bad.i[3] = -1;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/i", "entry 3 has index -1, expected 0 to 1");
    bad = by_rows;
    bad.i[1] = 3;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/i", "entry 1 has index 3, expected 0 to 2");
    bad = by_columns;
    bad.i[1] = 2;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/i", "entry 1 has index 2, expected 0 to 1");
}

TEST(starts_that_lie_are_refused)
{
    lists bad = by_rows;
    bad.p[2] = 5; /* one more than i and x hold */
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/p", "start 2 is 5");
    bad.p[2] = 1; /* falls */
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/p", "start 2 is 1, expected 2 to 4");
    bad = by_rows;
    bad.p[0] = 1;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/p", "the first is 1");
    bad = by_rows;
    bad.p_count = 2;
    check_lists_refused(bad, CAIRN_BAD_INPUT, "A/p", "found 2 numbers, expected 3");
}

TEST(numbers_that_are_none_are_refused)
{
    lists bad = by_rows;
    bad.x[2] = NAN;
    check_lists_refused(bad, CAIRN_NOT_FINITE, "A/x", "entry (1, 0)");
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

GROUP(test_fclib_matrix)
{
    RUN(CASE(triplets_columns_and_rows_are_the_same_matrix),
        CASE(lists_may_be_longer_than_what_they_hold),
        CASE(sizes_that_are_not_expected_are_refused_before_anything_is_allocated),
        CASE(indices_out_of_range_are_refused), CASE(starts_that_lie_are_refused),
        CASE(numbers_that_are_none_are_refused), CASE(what_is_written_is_read_back));
}

/* ==== test_fclib_read: problem files of other laboratories, and files that are not right ====== */

/* ---- real files ----------------------------------------------------------------------------- */

static file_list files;

static bool are_there(void)
{
    if (files.count == 0) {
        const char *const folders[] = { "local2d", "local3d", "global2d", "global3d" };
        for (int i = 0; i < 4; i++)
            list_files(&files, folders[i]);
    }
    if (files.count == 0)
        print_message("skipped: there is no folder %s\n", FCLIB_FOLDER);
    return files.count > 0;
}

/* The norm that the literature's measure divides by. */
static double largest_norm(const cairn_fclib *file, const double *u)
{
    const cairn_problem *p = &file->problem;
    double q2 = 0, r2 = 0, u2 = 0;
    for (int i = 0; i < p->dimension * p->contacts; i++) {
        q2 += p->q[i] * p->q[i];
        r2 += file->solution->r[i] * file->solution->r[i];
        u2 += u[i] * u[i];
    }
    return sqrt(fmax(q2, fmax(r2, u2)));
}

/* Accuracies of 1e-13 are rounding, where two programs may differ. Of a problem that is zero up to
 * 1e-15 the makers state the absolute error. */
static void check_solution(const cairn_fclib *file, const char *name)
{
    static double u[3 * 4096], v[16384];
    const cairn_problem *p = &file->problem;
    cairn_judgement judgement;
    cairn_judge(p, CAIRN_LAW_COULOMB, file->solution->r, NULL, u, &judgement);
    double size = largest_norm(file, u), error = judgement.coulomb.fclib;
    if (size < 1e-15)
        error *= size;
    if (!(error <= fmax(2 * file->solution->fclib_error, 1e-13)))
        fail_msg("%s: judged %g, stated %g", name, error, file->solution->fclib_error);
    for (int i = 0; i < p->dimension * p->contacts; i++)
        CHECK_NEAR(u[i], file->solution->u[i], 1e-12);
    if (!file->global)
        return;
    CHECK_OK(cairn_condensed_velocity(file->condensed, file->solution->r, v));
    for (int i = 0; i < file->global->M.rows; i++)
        CHECK_NEAR(v[i], file->solution->v[i], 1e-12);
}

TEST(every_file_is_read_and_its_solution_is_as_good_as_it_says)
{
    int guesses = 0, globals = 0;
    for (int i = 0; are_there() && i < files.count; i += CHECKED ? 4 : 1) {
        cairn_fclib *file = NULL;
        cairn_error error = { 0 };
        if (cairn_fclib_load(files.path[i], &file, &error) != CAIRN_OK)
            fail_msg("%s: %s: %s", files.path[i], error.key, error.message);
        CHECK_OK(cairn_problem_check(&file->problem, NULL));
        CHECK(file->problem.W != NULL);
        CHECK(file->title[0] != '\0');
        if (file->solution)
            check_solution(file, files.path[i]);
        CHECK(file->solution != NULL || file->problem.contacts == 0);
        guesses += file->guess_count;
        globals += file->global != NULL;
        cairn_fclib_destroy(file);
    }
    if (files.count > 0)
        CHECK(files.count >= 54);
    if (files.count > 0 && !CHECKED) {
        CHECK(globals >= 15);
        CHECK(guesses >= 2);
    }
}

/* Solved to 1e-8 by every solver that treats Coulomb's law with rolling friction; the solutions in
 * the files are as good as they say. */
TEST(files_with_rolling_friction_are_read_and_solved)
{
    static file_list rolling;
    list_files(&rolling, "rolling_local3d");
    list_files(&rolling, "rolling_global3d");
    for (int i = 0; i < rolling.count; i++) {
        static double r[5 * 64], u[5 * 64];
        cairn_fclib *file = NULL;
        cairn_error error = { 0 };
        if (cairn_fclib_load(rolling.path[i], &file, &error) != CAIRN_OK)
            fail_msg("%s: %s: %s", rolling.path[i], error.key, error.message);
        CHECK_INT(file->problem.dimension, 5);
        CHECK_INT(file->problem.rolling, 2);
        CHECK(file->problem.contacts <= 64);
        if (file->solution)
            check_solution(file, rolling.path[i]);
        for (int k = 0; cairn_solver_name(k); k++) {
            cairn_solve_options options = cairn_solve_options_default();
            options.solver = cairn_solver_name(k);
            options.law = CAIRN_LAW_COULOMB;
            options.tolerance = 1e-8;
            cairn_solve_report report;
            cairn_workspace *workspace;
            if (!cairn_solver_accepts(options.solver, options.law, &file->problem))
                continue;
            memset(r, 0, sizeof r);
            CHECK_OK(cairn_workspace_create(&workspace));
            CHECK_OK(cairn_solve(&file->problem, &options, workspace, r, NULL, u, &report));
            cairn_workspace_destroy(workspace);
            if (!report.converged)
                fail_msg("%s: %s stops at %g", rolling.path[i], options.solver,
                         report.judgement.asked.relative);
        }
        cairn_fclib_destroy(file);
    }
    if (rolling.count == 0)
        print_message("skipped: there is no folder %s\n", FCLIB_FOLDER);
}

/* ---- files made wrong ----------------------------------------------------------------------- */

/* A good file of the block form (global) or of W (local), to be spoilt. */
static path make_good(const folder *f, bool global)
{
    static const int64_t start[] = { 0, 2, 4 };
    static const int32_t column[] = { 0, 1, 0, 1 };
    static const double W[] = { 2, 0.5, 0.5, 1 }, q[] = { -1, 0.2 }, mu[] = { 0.3 },
                        r[] = { 0.5, 0 };
    cairn_matrix matrix = { 2, 2, start, column, W };
    cairn_problem local = { .dimension = 2, .contacts = 1, .W = &matrix, .q = q, .mu = mu };
    random_problem random;
    path p = path_in(f, global ? "global.hdf5" : "local.hdf5");
    make_random_problem(&random, 3, 3, 2, 1);
    CHECK_OK(cairn_fclib_save_problem(p.text, global ? &random.p : &local, "good", NULL,
                                      global ? NULL : r, NULL));
    return p;
}

static hid_t reopen(const path *p)
{
    hid_t file = H5Fopen(p->text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0);
    return file;
}

/* Replace a list of the file. */
static void replace(const path *p, const char *name, cairn_hdf5_type type, int count,
                    const void *data)
{
    hid_t file = reopen(p);
    if (H5Lexists(file, name, H5P_DEFAULT) > 0)
        H5Ldelete(file, name, H5P_DEFAULT);
    CHECK_OK(cairn_fclib_list_write(file, name, (cairn_hdf5_values){ type, count, data }, NULL));
    H5Fclose(file);
}

static void check_file_refused(const folder *f, const path *p, cairn_status expected,
                               const char *key, const char *reason)
{
    cairn_fclib *file;
    cairn_error error = { 0 };
    CHECK_INT(cairn_fclib_load(p->text, &file, &error), expected);
    CHECK(file == NULL);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, reason);
    CHECK_TEXT(error.file, p->text);
    folder_remove(f->path);
}

TEST(the_good_files_are_good)
{
    for (int global = 0; global < 2; global++) {
        folder f = folder_create();
        path p = make_good(&f, global);
        cairn_fclib *file;
        CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
        CHECK((file->global != NULL) == global);
        CHECK((file->solution != NULL) == !global);
        CHECK_TEXT(file->title, "good");
        cairn_fclib_destroy(file);
        folder_remove(f.path);
    }
}

/* 100 million numbers, of which a chunk of 16 was ever written: 800 MB, from a file of 10 kB. */
static void replace_by_a_claim(const path *p, const char *name)
{
    hsize_t claimed = 100000000, chunk = 16, one = 1, first = 0;
    double number = 0.3;
    hid_t file = reopen(p), layout = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(1, &claimed, NULL), memory = H5Screate_simple(1, &one, NULL);
    H5Pset_chunk(layout, 1, &chunk);
    H5Ldelete(file, name, H5P_DEFAULT);
    hid_t list = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &one, NULL);
    CHECK(H5Dwrite(list, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &number) >= 0);
    H5Dclose(list);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(layout);
    H5Fclose(file);
}

TEST(a_list_that_is_longer_than_the_file_is_refused_before_memory_is_taken)
{
    folder f = folder_create();
    path p = make_good(&f, false);
    struct stat found;
    replace_by_a_claim(&p, "fclib_local/vectors/mu");
    CHECK(stat(p.text, &found) == 0 && found.st_size < 20000);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "mu", "expected a list of numbers");
}

TEST(a_dimension_that_is_none_is_refused)
{
    const int32_t found[] = { 4, 5 };
    folder f = folder_create();
    path p = make_good(&f, false);
    replace(&p, "fclib_local/spacedim", CAIRN_HDF5_INT, 1, &found[0]);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "spacedim", "found 4, expected 2 or 3");
    f = folder_create();
    p = make_good(&f, false);
    replace(&p, "fclib_local/spacedim", CAIRN_HDF5_INT, 1, &found[1]);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "spacedim", "found 5, expected 2 or 3");
}

TEST(lists_of_the_wrong_length_are_refused)
{
    const double numbers[4] = { 1, 2, 3, 4 };
    folder f = folder_create();
    path p = make_good(&f, false);
    replace(&p, "fclib_local/vectors/q", CAIRN_HDF5_REAL, 3, numbers);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "q", "found 3 numbers, expected 2");
    f = folder_create();
    p = make_good(&f, false);
    replace(&p, "fclib_local/vectors/mu", CAIRN_HDF5_REAL, 2, numbers);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "q", "found 2 numbers, expected 4");
    f = folder_create();
    p = make_good(&f, false);
    replace(&p, "solution/r", CAIRN_HDF5_REAL, 1, numbers);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "r", "found 1 numbers, expected 2");
    f = folder_create();
    p = make_good(&f, true);
    replace(&p, "fclib_global/vectors/f", CAIRN_HDF5_REAL, 4, numbers);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "M/m", "found 18 x 18, expected 4 x 4");
}

TEST(files_with_numbers_that_are_none_are_refused)
{
    const double bad[2] = { 1, INFINITY }, negative = -0.1;
    folder f = folder_create();
    path p = make_good(&f, false);
    replace(&p, "fclib_local/vectors/q", CAIRN_HDF5_REAL, 2, bad);
    check_file_refused(&f, &p, CAIRN_NOT_FINITE, "q", "number 1 is inf");
    f = folder_create();
    p = make_good(&f, false);
    replace(&p, "fclib_local/vectors/mu", CAIRN_HDF5_REAL, 1, &negative);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "mu", "contact 0 has -0.1");
}

TEST(equality_constraints_are_refused_unless_empty)
{
    const double one = 1;
    folder f = folder_create();
    path p = make_good(&f, false);
    replace(&p, "fclib_local/vectors/s", CAIRN_HDF5_REAL, 1, &one);
    check_file_refused(&f, &p, CAIRN_UNSUPPORTED, "s", "equality constraints");
    f = folder_create();
    p = make_good(&f, true);
    replace(&p, "fclib_global/vectors/b", CAIRN_HDF5_REAL, 0, &one);
    cairn_fclib *file;
    CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
    cairn_fclib_destroy(file);
    const int64_t start[19] = { 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const int32_t column = 0;
    cairn_matrix G = { 18, 1, start, &column, &one };
    hid_t opened = reopen(&p), group = H5Gopen2(opened, "fclib_global", H5P_DEFAULT);
    CHECK_OK(cairn_fclib_matrix_write(group, "G", &G, true, NULL));
    H5Gclose(group);
    H5Fclose(opened);
    check_file_refused(&f, &p, CAIRN_UNSUPPORTED, "G", "equality constraints");
}

TEST(missing_parts_are_named)
{
    const char *const parts[][3] = { { "fclib_local/W", "W", "expected a group 'W'" },
                                     { "fclib_local/W/x", "W/x", "expected a dataset 'x'" },
                                     { "fclib_local/vectors", "vectors", "expected a group" },
                                     { "fclib_local/spacedim", "spacedim", "expected a dataset" },
                                     { "solution/r", "r", "expected a dataset 'r'" },
                                     { "fclib_local", "", "not an FCLib file" } };
    for (int i = 0; i < 6; i++) {
        folder f = folder_create();
        path p = make_good(&f, false);
        hid_t file = reopen(&p);
        H5Ldelete(file, parts[i][0], H5P_DEFAULT);
        H5Fclose(file);
        check_file_refused(&f, &p, CAIRN_BAD_INPUT, parts[i][1], parts[i][2]);
    }
}

TEST(an_indefinite_mass_is_refused)
{
    folder f = folder_create();
    path p = make_good(&f, true);
    double x[18];
    h5_numbers(p.text, "fclib_global/M/x", x, 18);
    x[7] = -x[7];
    replace(&p, "fclib_global/M/x", CAIRN_HDF5_REAL, 18, x);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "M", "not positive definite: entry (7, 7)");
}

TEST(more_guesses_announced_than_there_are_is_refused)
{
    const int32_t many = 1000000;
    folder f = folder_create();
    path p = make_good(&f, false);
    hid_t file = reopen(&p), group;
    CHECK_OK(cairn_hdf5_group(file, "guesses", &group, NULL));
    H5Gclose(group);
    H5Fclose(file);
    replace(&p, "guesses/number_of_guesses", CAIRN_HDF5_INT, 1, &many);
    check_file_refused(&f, &p, CAIRN_BAD_INPUT, "guesses",
                       "found 1000000 guesses announced, 0 there");
}

/* Whatever is cut off, the answer is an error and no crash. */
TEST(a_truncated_file_is_refused_wherever_it_is_cut)
{
    folder f = folder_create();
    path p = make_good(&f, true), cut = path_in(&f, "cut.hdf5");
    static char bytes[1 << 16];
    FILE *whole = fopen(p.text, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, whole);
    fclose(whole);
    CHECK(size > 2000 && size < sizeof bytes);
    for (size_t length = 0; length < size; length += CHECKED ? 397 : 97) {
        FILE *part = fopen(cut.text, "wb");
        fwrite(bytes, 1, length, part);
        fclose(part);
        cairn_fclib *file;
        cairn_error error = { 0 };
        CHECK(cairn_fclib_load(cut.text, &file, &error) != CAIRN_OK);
        CHECK(error.message[0] != '\0');
    }
    folder_remove(f.path);
}

TEST(no_memory_at_any_place_is_reported_and_nothing_leaks)
{
    folder f = folder_create();
    path paths[2] = { make_good(&f, true), make_good(&f, false) };
    for (int k = 0; k < 2; k++) {
        int failures = 0;
        bool reached = true; /* the allocation that fails */
        for (long n = 1; reached && n < 300; n++) {
            meter m = { .fail_at = n };
            cairn_fclib *file = NULL;
            meter_install(&m);
            cairn_status status = cairn_fclib_load(paths[k].text, &file, NULL);
            cairn_fclib_destroy(file);
            cairn_allocator_set(NULL);
            CHECK_INT(m.alive, 0);
            reached = m.calls >= n;
            CHECK((status == CAIRN_OK) == !reached);
            failures += status != CAIRN_OK;
        }
        CHECK(failures > 3 && failures < 299);
    }
    folder_remove(f.path);
}

GROUP(test_fclib_read)
{
    RUN(CASE(every_file_is_read_and_its_solution_is_as_good_as_it_says),
        CASE(files_with_rolling_friction_are_read_and_solved), CASE(the_good_files_are_good),
        CASE(a_list_that_is_longer_than_the_file_is_refused_before_memory_is_taken),
        CASE(a_dimension_that_is_none_is_refused), CASE(lists_of_the_wrong_length_are_refused),
        CASE(files_with_numbers_that_are_none_are_refused),
        CASE(equality_constraints_are_refused_unless_empty), CASE(missing_parts_are_named),
        CASE(an_indefinite_mass_is_refused), CASE(more_guesses_announced_than_there_are_is_refused),
        CASE(a_truncated_file_is_refused_wherever_it_is_cut),
        CASE(no_memory_at_any_place_is_reported_and_nothing_leaks));
}
