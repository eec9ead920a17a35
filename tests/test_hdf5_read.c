/* test_hdf5_read.c - numbers and texts out of HDF5 files that may be anything. */
#include "io/hdf5_read.h"

#include "io/fclib_matrix.h"
#include "run_scene.h"

/* A file with a few datasets, open for reading. */
typedef struct sample {
    folder f;
    path p;
    hid_t file;
    cairn_arena arena;
    cairn_hdf5_quiet quiet;
} sample;

static void put(hid_t file, const char *name, hid_t type, hsize_t count, const void *data)
{
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data)
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Sclose(space);
}

static sample sample_create(void)
{
    sample s = { .f = folder_create() };
    const int32_t whole[3] = { 1, -2, 3 };
    const double real[2] = { 0.1, 1e300 };
    const int64_t big[1] = { INT64_C(1) << 40 };
    const char *text = "of any length", *const several[3] = { "one", "", "three" };
    s.p = path_in(&s.f, "a.h5");
    hid_t file = H5Fcreate(s.p.text, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "whole", H5T_NATIVE_INT32, 3, whole);
    put(file, "one", H5T_NATIVE_INT32, 1, whole);
    put(file, "real", H5T_NATIVE_DOUBLE, 2, real);
    put(file, "big", H5T_NATIVE_INT64, 1, big);
    put(file, "nothing", H5T_NATIVE_DOUBLE, 0, NULL);
    put(file, "claimed", H5T_NATIVE_DOUBLE, (hsize_t)1 << 30, NULL); /* never written */
    cairn_fclib_text_write(file, "fixed", "of fixed length", NULL);
    cairn_hdf5_text_dataset(file, "variable", &text, 1, NULL);
    cairn_hdf5_text_dataset(file, "several", several, 3, NULL);
    cairn_hdf5_real(file, "error", 2.5, NULL);
    cairn_hdf5_text(file, "solver", "by hand", NULL);
    H5Fclose(file);
    s.quiet = cairn_hdf5_quiet_begin();
    CHECK_OK(cairn_hdf5_open(s.p.text, &s.file, NULL));
    return s;
}

static void sample_destroy(sample *s)
{
    H5Fclose(s->file);
    cairn_hdf5_quiet_end(s->quiet);
    cairn_arena_destroy(&s->arena);
    folder_remove(s->f.path);
}

TEST(numbers_come_back_whole_ones_as_reals_too)
{
    sample s = sample_create();
    cairn_hdf5_numbers n;
    CHECK_OK(cairn_hdf5_read(s.file, "whole", CAIRN_HDF5_INT, &s.arena, &n, NULL));
    CHECK_INT(n.count, 3);
    CHECK_INT(((const int32_t *)n.data)[1], -2);
    CHECK_OK(cairn_hdf5_read(s.file, "whole", CAIRN_HDF5_REAL, &s.arena, &n, NULL));
    CHECK(((const double *)n.data)[2] == 3);
    CHECK_OK(cairn_hdf5_read(s.file, "real", CAIRN_HDF5_REAL, &s.arena, &n, NULL));
    CHECK(((const double *)n.data)[0] == 0.1 && ((const double *)n.data)[1] == 1e300);
    CHECK_OK(cairn_hdf5_read(s.file, "nothing", CAIRN_HDF5_REAL, &s.arena, &n, NULL));
    CHECK_INT(n.count, 0);
    sample_destroy(&s);
}

TEST(what_is_not_a_list_of_the_kind_is_refused_by_name)
{
    sample s = sample_create();
    cairn_hdf5_numbers n;
    cairn_error error;
    const char *const names[] = { "real", "fixed", "missing", "claimed" };
    for (int i = 0; i < 4; i++) {
        CHECK_INT(cairn_hdf5_read(s.file, names[i], CAIRN_HDF5_INT, &s.arena, &n, &error),
                  CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, names[i]);
        CHECK_CONTAINS(error.message, "expected a");
    }
    /* 2^30 numbers that were never written must not cost 8 GiB */
    CHECK_INT(cairn_hdf5_read(s.file, "claimed", CAIRN_HDF5_REAL, &s.arena, &n, &error),
              CAIRN_BAD_INPUT);
    sample_destroy(&s);
}

TEST(one_integer_is_one_integer)
{
    sample s = sample_create();
    int32_t value = 0;
    cairn_error error;
    CHECK_OK(cairn_hdf5_read_int(s.file, "one", &value, &error));
    CHECK_INT(value, 1);
    CHECK_INT(cairn_hdf5_read_int(s.file, "whole", &value, &error), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_hdf5_read_int(s.file, "real", &value, &error), CAIRN_BAD_INPUT);
    CHECK_OK(cairn_hdf5_read_int(s.file, "big", &value, &error));
    CHECK_INT(value, INT32_MAX); /* HDF5 clips what does not fit */
    sample_destroy(&s);
}

TEST(texts_of_both_kinds_are_read_and_none_is_empty)
{
    sample s = sample_create();
    const char *text;
    CHECK_OK(cairn_hdf5_read_text(s.file, "fixed", &s.arena, &text, NULL));
    CHECK_TEXT(text, "of fixed length");
    CHECK_OK(cairn_hdf5_read_text(s.file, "variable", &s.arena, &text, NULL));
    CHECK_TEXT(text, "of any length");
    CHECK_OK(cairn_hdf5_read_text(s.file, "missing", &s.arena, &text, NULL));
    CHECK_TEXT(text, "");
    CHECK_INT(cairn_hdf5_read_text(s.file, "real", &s.arena, &text, NULL), CAIRN_BAD_INPUT);
    sample_destroy(&s);
}

TEST(attributes_are_read_or_left_out)
{
    sample s = sample_create();
    double value = 7;
    char text[5] = "";
    CHECK(cairn_hdf5_read_real_attribute(s.file, "error", &value));
    CHECK_NEAR(value, 2.5, 0);
    CHECK(!cairn_hdf5_read_real_attribute(s.file, "solver", &value));
    CHECK(!cairn_hdf5_read_real_attribute(s.file, "missing", &value));
    CHECK_OK(cairn_hdf5_read_text_attribute(s.file, "solver", text, sizeof text));
    CHECK_TEXT(text, "by h");
    CHECK_INT(cairn_hdf5_read_text_attribute(s.file, "error", text, sizeof text), CAIRN_BAD_INPUT);
    sample_destroy(&s);
}

TEST(groups_are_opened_and_missing_ones_named)
{
    sample s = sample_create();
    hid_t group;
    cairn_error error;
    CHECK(cairn_hdf5_has(s.file, "real"));
    CHECK(!cairn_hdf5_has(s.file, "missing"));
    CHECK_INT(cairn_hdf5_open_group(s.file, "missing", &group, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "expected a group 'missing'");
    CHECK_INT(cairn_hdf5_open_group(s.file, "real", &group, &error), CAIRN_BAD_INPUT);
    sample_destroy(&s);
}

TEST(files_that_are_not_there_or_not_hdf5_are_told_apart)
{
    folder f = folder_create();
    hid_t file;
    cairn_error error;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    CHECK_INT(cairn_hdf5_open(path_in(&f, "none.h5").text, &file, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "No such file");
    file_write(&f, "text.h5", "this is no HDF5 file\n");
    CHECK_INT(cairn_hdf5_open(path_in(&f, "text.h5").text, &file, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "not an HDF5 file");
    CHECK_INT(cairn_hdf5_open(f.path, &file, &error), CAIRN_BAD_INPUT);
    cairn_hdf5_quiet_end(quiet);
    folder_remove(f.path);
}

TEST(rows_are_read_from_anywhere_and_not_beyond_the_end)
{
    sample s = sample_create();
    const void *data;
    cairn_error error = { 0 };
    cairn_hdf5_slab slab = { "whole", CAIRN_HDF5_INT, 1, 1, 2 };
    CHECK_OK(cairn_hdf5_read_slab(s.file, &slab, &s.arena, &data, &error));
    CHECK_INT(((const int32_t *)data)[0], -2);
    CHECK_INT(((const int32_t *)data)[1], 3);
    slab.rows = 0;
    CHECK_OK(cairn_hdf5_read_slab(s.file, &slab, &s.arena, &data, &error));
    const cairn_hdf5_slab bad[] = {
        { "whole", CAIRN_HDF5_INT, 1, 1, 3 },  /* a row too many         */
        { "whole", CAIRN_HDF5_INT, 1, -1, 1 }, /* before the first       */
        { "whole", CAIRN_HDF5_INT, 1, 0, INT64_MAX },
        { "whole", CAIRN_HDF5_INT, 2, 0, 1 }, /* not two numbers a row   */
        { "real", CAIRN_HDF5_INT, 1, 0, 1 },  /* no integers             */
        { "claimed", CAIRN_HDF5_REAL, 1, 0, 9 },
        { "missing", CAIRN_HDF5_REAL, 1, 0, 1 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(cairn_hdf5_read_slab(s.file, &bad[i], &s.arena, &data, &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, bad[i].name);
    }
    sample_destroy(&s);
}

TEST(lists_of_texts_are_read_and_nothing_else)
{
    sample s = sample_create();
    cairn_hdf5_text_list found;
    cairn_error error = { 0 };
    CHECK_OK(cairn_hdf5_read_texts(s.file, "several", &s.arena, &found, &error));
    CHECK_INT(found.count, 3);
    CHECK_TEXT(found.items[0], "one");
    CHECK_TEXT(found.items[1], "");
    CHECK_TEXT(found.items[2], "three");
    static const char *const bad[] = { "whole", "claimed", "missing" };
    for (int i = 0; i < 3; i++) {
        CHECK_INT(cairn_hdf5_read_texts(s.file, bad[i], &s.arena, &found, &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, bad[i]);
    }
    sample_destroy(&s);
}

int main(void)
{
    RUN(CASE(lists_of_texts_are_read_and_nothing_else),
        CASE(rows_are_read_from_anywhere_and_not_beyond_the_end),
        CASE(numbers_come_back_whole_ones_as_reals_too),
        CASE(what_is_not_a_list_of_the_kind_is_refused_by_name), CASE(one_integer_is_one_integer),
        CASE(texts_of_both_kinds_are_read_and_none_is_empty), CASE(attributes_are_read_or_left_out),
        CASE(groups_are_opened_and_missing_ones_named),
        CASE(files_that_are_not_there_or_not_hdf5_are_told_apart));
}
