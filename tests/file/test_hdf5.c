/* test_hdf5.c - HDF5 files. */
#include "file/formats.h"
#include "file/hdf5.h"
#include "tests/problems/run_scene.h"

/* ==== test_hdf5: attributes, and HDF5's failures as cairn errors ============================== */

TEST(every_type_has_its_size)
{
    CHECK_INT(cairn_hdf5_size(CAIRN_HDF5_REAL), 8);
    CHECK_INT(cairn_hdf5_size(CAIRN_HDF5_INT), 4);
    CHECK_INT(cairn_hdf5_size(CAIRN_HDF5_LONG), 8);
    CHECK_INT(cairn_hdf5_size(CAIRN_HDF5_ULONG), 8);
    CHECK_INT(cairn_hdf5_size(CAIRN_HDF5_BYTE), 1);
}

TEST(a_text_attribute_may_be_long_and_may_be_replaced)
{
    enum { LONG = 200000 }; /* more than an object header holds */
    static char text[LONG + 1], found[LONG + 1];
    folder f = folder_create();
    path p = path_in(&f, "a.h5");
    hid_t file;
    cairn_hdf5_sink sink;
    memset(text, 'y', LONG);
    CHECK_OK(cairn_hdf5_create(p.text, &sink, &file, NULL));
    CHECK_OK(cairn_hdf5_text(file, "scene", NULL, NULL));
    CHECK_OK(cairn_hdf5_text(file, "scene", text, NULL));
    CHECK_OK(cairn_hdf5_flush(file, NULL));
    CHECK_OK(cairn_hdf5_close(file, &sink, NULL));
    h5_text(p.text, "/", "scene", found, sizeof found);
    CHECK_TEXT(found, text);
    folder_remove(f.path);
}

TEST(a_failure_says_the_reason_of_the_system)
{
    cairn_error error = { 0 };
    hid_t file;
    cairn_hdf5_sink sink;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = cairn_hdf5_create("/nowhere/at/all.h5", &sink, &file, &error);
    cairn_hdf5_quiet_end(quiet);
    CHECK_INT(status, CAIRN_IO_FAILED);
    CHECK_TEXT(error.message, "cannot create: No such file or directory");
}

TEST(quiet_ends_as_it_began)
{
    H5E_auto2_t before, after;
    void *context;
    H5Eget_auto2(H5E_DEFAULT, &before, &context);
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    H5Eget_auto2(H5E_DEFAULT, &after, &context);
    CHECK(after == NULL);
    cairn_hdf5_quiet_end(quiet);
    H5Eget_auto2(H5E_DEFAULT, &after, &context);
    CHECK(before != NULL && after == before);
}

TEST(nothing_stays_open)
{
    CHECK_INT(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

GROUP(test_hdf5)
{
    RUN(CASE(every_type_has_its_size), CASE(a_text_attribute_may_be_long_and_may_be_replaced),
        CASE(a_failure_says_the_reason_of_the_system), CASE(quiet_ends_as_it_began),
        CASE(nothing_stays_open));
}

/* ==== test_hdf5_column: columns that grow, short ones in place and long ones through a packer */

/* A file with one column "x" of 3 numbers a row and chunks of 4 rows; `writer` NULL: a short one. */
typedef struct fixture {
    folder folder;
    path path;
    hid_t file;
    cairn_hdf5_sink sink;
    cairn_hdf5_column column;
} fixture;

static const cairn_hdf5_column_def triple = { "x", "m", CAIRN_HDF5_REAL, 3, 4, NULL };

static void start(fixture *f, cairn_hdf5_writer *writer)
{
    cairn_hdf5_column_def def = triple;
    def.writer = writer;
    *f = (fixture){ .folder = folder_create() };
    f->path = path_in(&f->folder, "a.h5");
    CHECK_OK(cairn_hdf5_create(f->path.text, &f->sink, &f->file, NULL));
    CHECK_OK(cairn_hdf5_column_create(f->file, &def, &f->column, NULL));
}

/* Open it again, to go on. */
static void go_on(fixture *f, cairn_hdf5_writer *writer)
{
    cairn_hdf5_column_def def = triple;
    def.writer = writer;
    CHECK_OK(cairn_hdf5_go_on(f->path.text, &f->sink, &f->file, NULL));
    CHECK_OK(cairn_hdf5_column_create(f->file, &def, &f->column, NULL));
}

static void end(fixture *f)
{
    cairn_hdf5_column_close(&f->column);
    CHECK_OK(cairn_hdf5_close(f->file, &f->sink, NULL));
}

/* Rows [first, first + count) of the numbers 0, 1, 2, ... */
static void append(fixture *f, int first, int count)
{
    double rows[300];
    for (int i = 0; i < 3 * count; i++)
        rows[i] = 3 * first + i;
    CHECK_OK(cairn_hdf5_column_append(&f->column, (size_t)count, rows, NULL));
}

static void write_all(cairn_hdf5_writer *writer)
{
    CHECK_OK(cairn_hdf5_writer_push(writer, NULL));
    CHECK_OK(cairn_hdf5_writer_collect(writer, true, NULL));
    CHECK(!cairn_hdf5_writer_waits(writer));
}

/* The file holds `rows` rows of 0, 1, 2, ... */
static void check_rows(const fixture *f, int rows)
{
    double found[300];
    CHECK_INT(h5_numbers(file_copy(&f->folder, "a.h5").text, "x", found, 300), 3 * rows);
    for (int i = 0; i < 3 * rows; i++)
        CHECK_NEAR(found[i], i, 0);
}

TEST(a_short_column_grows_row_by_row)
{
    fixture f;
    char unit[8];
    start(&f, NULL);
    append(&f, 0, 1);
    CHECK_OK(cairn_hdf5_column_append(&f.column, 0, NULL, NULL));
    append(&f, 1, 2);
    CHECK_INT(f.column.rows, 3);
    end(&f);
    check_rows(&f, 3);
    h5_text(f.path.text, "x", "unit", unit, sizeof unit);
    CHECK_TEXT(unit, "m");
    folder_remove(f.folder.path);
}

/* chunks of 4: 1 + 9 + 2 rows are three of them, in one append or over several */
TEST(a_long_column_goes_through_the_packer)
{
    fixture f;
    cairn_hdf5_writer writer;
    CHECK_OK(cairn_hdf5_writer_create(&writer));
    start(&f, &writer);
    append(&f, 0, 1);
    append(&f, 1, 9);
    append(&f, 10, 2);
    CHECK_INT(f.column.rows, 12);
    write_all(&writer);
    end(&f);
    cairn_hdf5_writer_destroy(&writer);
    check_rows(&f, 12);
    folder_remove(f.folder.path);
}

/* a flush in the middle of a chunk: the chunk is written, and written again when it has more */
TEST(a_chunk_may_be_written_before_it_is_full)
{
    fixture f;
    cairn_hdf5_writer writer;
    CHECK_OK(cairn_hdf5_writer_create(&writer));
    start(&f, &writer);
    for (int k = 0; k < 10; k++) {
        append(&f, k, 1);
        write_all(&writer);
        CHECK_OK(cairn_hdf5_flush(f.file, NULL));
        check_rows(&f, k + 1);
    }
    end(&f);
    cairn_hdf5_writer_destroy(&writer);
    check_rows(&f, 10);
    folder_remove(f.folder.path);
}

/* 70 rows in, of which a later writer keeps 5 and 10: within the second and the third chunk */
TEST(a_column_that_was_cut_goes_on)
{
    fixture f;
    cairn_hdf5_writer writer;
    CHECK_OK(cairn_hdf5_writer_create(&writer));
    start(&f, &writer);
    append(&f, 0, 70);
    write_all(&writer);
    end(&f);
    for (int keep = 10; keep >= 5; keep -= 5) {
        go_on(&f, &writer);
        CHECK_INT(f.column.rows, keep == 10 ? 70 : 13);
        CHECK_OK(cairn_hdf5_column_cut(&f.column, keep, NULL));
        append(&f, keep, 3);
        write_all(&writer);
        end(&f);
        check_rows(&f, keep + 3);
    }
    cairn_hdf5_writer_destroy(&writer);
    folder_remove(f.folder.path);
}

/* more chunks than the packer has room for */
TEST(a_full_packer_is_emptied_first)
{
    fixture f;
    cairn_hdf5_writer writer;
    CHECK_OK(cairn_hdf5_writer_create(&writer));
    start(&f, &writer);
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < 4; i++)
            append(&f, k, 1); /* numbers do not matter: rows do */
    CHECK(cairn_packer_count(writer.packer) <= CAIRN_PACKER_ROOM);
    write_all(&writer);
    CHECK_INT(f.column.rows, 400);
    end(&f);
    cairn_hdf5_writer_destroy(&writer);
    folder_remove(f.folder.path);
}

TEST(another_layout_is_refused)
{
    fixture f;
    cairn_error error = { 0 };
    cairn_hdf5_column_def other = triple;
    start(&f, NULL);
    end(&f);
    other.chunk = 8;
    CHECK_OK(cairn_hdf5_go_on(f.path.text, &f.sink, &f.file, NULL));
    CHECK_INT(cairn_hdf5_column_create(f.file, &other, &f.column, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.message, "expected chunks of 8 rows");
    CHECK_TEXT(error.key, "x");
    end(&f);
    folder_remove(f.folder.path);
}

GROUP(test_hdf5_column)
{
    RUN(CASE(a_short_column_grows_row_by_row), CASE(a_long_column_goes_through_the_packer),
        CASE(a_chunk_may_be_written_before_it_is_full), CASE(a_column_that_was_cut_goes_on),
        CASE(a_full_packer_is_emptied_first), CASE(another_layout_is_refused),
        CASE(nothing_stays_open));
}

/* ==== test_hdf5_record: options as attributes of a run file =================================== */

TEST(every_option_of_a_run_is_an_attribute)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.measure = cairn_measure_options_default();
    s.run.statistics = (cairn_names){ { "centre", "energy" }, 2 };
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    const cairn_record *records[2] = { cairn_step_record(), cairn_run_record() };
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < records[r]->option_count; i++)
            CHECK(H5Aexists(file, records[r]->options[i].name) > 0);
    for (int i = 0; i < cairn_measure_record()->option_count; i++)
        CHECK(H5Aexists_by_name(file, "statistics", cairn_measure_record()->options[i].name,
                                H5P_DEFAULT) > 0);
    hid_t names = H5Aopen(file, "statistics", H5P_DEFAULT), space = H5Aget_space(names);
    CHECK_INT(H5Sget_simple_extent_npoints(space), 2);
    H5Sclose(space);
    H5Aclose(names);
    H5Fclose(file);
    scene_destroy(&s);
    folder_remove(f.path);
}

GROUP(test_hdf5_record)
{
    RUN(CASE(every_option_of_a_run_is_an_attribute));
}

/* ==== test_hdf5_read: numbers and texts out of HDF5 files that may be anything ================ */

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

GROUP(test_hdf5_read)
{
    RUN(CASE(lists_of_texts_are_read_and_nothing_else),
        CASE(rows_are_read_from_anywhere_and_not_beyond_the_end),
        CASE(numbers_come_back_whole_ones_as_reals_too),
        CASE(what_is_not_a_list_of_the_kind_is_refused_by_name), CASE(one_integer_is_one_integer),
        CASE(texts_of_both_kinds_are_read_and_none_is_empty), CASE(attributes_are_read_or_left_out),
        CASE(groups_are_opened_and_missing_ones_named),
        CASE(files_that_are_not_there_or_not_hdf5_are_told_apart));
}

/* ==== test_hdf5_probe: a child dies of a damaged file so that this process does not =========== */

/* A file of HDF5's first format or of a later one, with a list of 1000 numbers. */
static path make_file(const folder *f, H5F_libver_t least)
{
    path p = path_in(f, "a.h5");
    hsize_t count = 1000;
    static double numbers[1000];
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, least, H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(p.text, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t list =
        H5Dcreate2(file, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(list, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    H5Dclose(list);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    return p;
}

TEST(formats_are_told_apart)
{
    folder f = folder_create();
    CHECK(cairn_hdf5_is_unsummed(make_file(&f, H5F_LIBVER_EARLIEST).text));
    CHECK(!cairn_hdf5_is_unsummed(make_file(&f, H5F_LIBVER_V18).text));
    CHECK(cairn_hdf5_is_unsummed(path_in(&f, "none.h5").text));
    folder_remove(f.path);
}

TEST(a_good_file_is_survived)
{
    folder f = folder_create();
    CHECK_OK(cairn_hdf5_probe(make_file(&f, H5F_LIBVER_EARLIEST).text, true, NULL));
    CHECK_OK(cairn_hdf5_probe(make_file(&f, H5F_LIBVER_V18).text, false, NULL));
    CHECK_OK(cairn_hdf5_probe(path_in(&f, "none.h5").text, true, NULL)); /* others say so */
    folder_remove(f.path);
}

/* The header of the list loses 64 bytes, wherever it is: its name is still there. */
TEST(what_cannot_be_opened_is_damage)
{
    folder f = folder_create();
    path p = make_file(&f, H5F_LIBVER_V18);
    cairn_error error = { 0 };
    static char bytes[20000];
    FILE *file = fopen(p.text, "r+b");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    int headers = 0;
    for (size_t at = 0; at + 64 < size; at++)
        if (memcmp(bytes + at, "OHDR", 4) == 0 && ++headers == 2) {
            fseek(file, (long)at + 8, SEEK_SET);
            fwrite("ruined", 1, 6, file);
        }
    CHECK_INT(headers, 2);
    fclose(file);
    CHECK_INT(cairn_hdf5_probe(p.text, false, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "the file is damaged: something in it cannot be opened");
    folder_remove(f.path);
}

/* A clock on which any time has passed at once: as slow as can be. */
unsigned alarm(unsigned seconds)
{
    if (seconds > 0)
        raise(SIGALRM);
    return 0;
}

TEST(a_good_file_is_survived_however_slow_the_machine_is)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    CHECK_OK(cairn_hdf5_probe(make_file(&f, H5F_LIBVER_EARLIEST).text, true, &error));
    folder_remove(f.path);
}

/* Twenty groups one in the other, each with two names: a million ways to the last. */
TEST(ways_without_number_come_to_an_end)
{
    folder f = folder_create();
    path p = path_in(&f, "many.h5");
    cairn_error error = { 0 };
    hid_t file = H5Fcreate(p.text, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), group = file;
    for (int level = 0; level < 20; level++) {
        hid_t inner = H5Gcreate2(group, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(H5Lcreate_hard(group, "a", group, "b", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        if (level > 0)
            H5Gclose(group);
        group = inner;
    }
    H5Gclose(group);
    H5Fclose(file);
    CHECK_INT(cairn_hdf5_probe(p.text, false, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "more is in it than it has room for");
    folder_remove(f.path);
}

/* A process that is not there any more tells nothing: a file that is a pipe is not even tried. */
TEST(what_is_not_a_plain_file_is_not_opened)
{
    folder f = folder_create();
    path p = path_in(&f, "pipe");
    cairn_error error = { 0 };
    hid_t file;
    CHECK_INT(mkfifo(p.text, 0600), 0);
    CHECK_INT(cairn_hdf5_open(p.text, &file, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "not a plain file");
    folder_remove(f.path);
}

GROUP(test_hdf5_probe)
{
    RUN(CASE(formats_are_told_apart), CASE(a_good_file_is_survived),
        CASE(what_cannot_be_opened_is_damage),
        CASE(a_good_file_is_survived_however_slow_the_machine_is),
        CASE(ways_without_number_come_to_an_end), CASE(what_is_not_a_plain_file_is_not_opened));
}

/* ==== test_hdf5_sink: a disk that refuses is found out by asking the sink ===================== */

/* Writes 8 kB into a file on a disk that takes `room` bytes a file; returns what the sink says. */
static cairn_status write_some(const char *name, rlim_t room, cairn_error *error)
{
    static const double numbers[1000] = { 1, 2, 3 };
    cairn_hdf5_sink sink;
    cairn_hdf5_column column = { 0 };
    cairn_hdf5_column_def def = { "x", "", CAIRN_HDF5_REAL, 1, 1000, NULL };
    hid_t file;
    disk_limit(room);
    CHECK_OK(cairn_hdf5_create(name, &sink, &file, error));
    CHECK_OK(cairn_hdf5_column_create(file, &def, &column, error));
    CHECK_OK(cairn_hdf5_column_append(&column, 1000, numbers, error));
    CHECK_OK(cairn_hdf5_flush(file, error)); /* HDF5 must believe that all is well */
    cairn_hdf5_column_close(&column);
    CHECK_OK(cairn_hdf5_close(file, &sink, error));
    disk_limit(RLIM_INFINITY);
    return cairn_hdf5_sink_check(&sink, error);
}

TEST(what_fits_is_written_and_readable_without_the_sink)
{
    folder f = folder_create();
    path p = path_in(&f, "a.h5");
    double found[1000];
    CHECK_OK(write_some(p.text, RLIM_INFINITY, NULL));
    CHECK_INT(h5_numbers(p.text, "x", found, 1000), 1000);
    CHECK_NEAR(found[2], 3, 0);
    folder_remove(f.path);
}

TEST(what_does_not_fit_is_an_error_of_the_sink_alone)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    CHECK_INT(write_some(path_in(&f, "a.h5").text, 500, &error), CAIRN_IO_FAILED);
    CHECK_TEXT(error.message, "cannot write: File too large");
    CHECK_INT(write_some(path_in(&f, "a.h5").text, 5000, &error), CAIRN_IO_FAILED);
    folder_remove(f.path);
}

TEST(two_writers_of_one_file_are_kept_apart)
{
    folder f = folder_create();
    path p = path_in(&f, "a.h5");
    cairn_hdf5_sink one, two;
    cairn_error error = { 0 };
    hid_t first, second;
    CHECK_OK(cairn_hdf5_create(p.text, &one, &first, &error));
    CHECK_OK(cairn_hdf5_flush(first, &error));
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = cairn_hdf5_create(p.text, &two, &second, &error);
    cairn_hdf5_quiet_end(quiet);
    CHECK_INT(status, CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "another run is writing this file");
    CHECK_OK(cairn_hdf5_close(first, &one, &error));
    struct stat found;
    CHECK_INT(stat(p.text, &found), 0);
    CHECK(found.st_size > 0); /* the second did not cut it to nothing */
    folder_remove(f.path);
}

GROUP(test_hdf5_sink)
{
    RUN(CASE(what_fits_is_written_and_readable_without_the_sink),
        CASE(what_does_not_fit_is_an_error_of_the_sink_alone),
        CASE(two_writers_of_one_file_are_kept_apart));
}

/* ==== test_hdf5_sums: checksums of a file follow what is written, and tell what was changed */

/* A file with one column of whole numbers, long or short, whose checksum runs. */
typedef struct sums_fixture {
    folder folder;
    path path;
    hid_t file;
    cairn_hdf5_sink sink;
    cairn_hdf5_writer writer;
    cairn_hdf5_sums sums;
    cairn_hdf5_column column;
} sums_fixture;

static void open_column(sums_fixture *f, bool packed)
{
    const cairn_hdf5_column_def def = { "x", "m", CAIRN_HDF5_INT, 1, 4, &f->writer, packed };
    CHECK_OK(cairn_hdf5_writer_create(&f->writer));
    f->writer.sums = &f->sums;
    CHECK_OK(cairn_hdf5_column_create(f->file, &def, &f->column, NULL));
}

static void start_sums(sums_fixture *f, bool packed)
{
    *f = (sums_fixture){ .folder = folder_create() };
    f->path = path_in(&f->folder, "a.h5");
    cairn_hdf5_sums_start(&f->sums);
    CHECK_OK(cairn_hdf5_create(f->path.text, &f->sink, &f->file, NULL));
    open_column(f, packed);
}

static void append_sums(sums_fixture *f, int from, int count)
{
    int32_t numbers[16];
    for (int i = 0; i < count; i++)
        numbers[i] = from + i;
    CHECK_OK(cairn_hdf5_column_append(&f->column, (size_t)count, numbers, NULL));
}

static void flush(sums_fixture *f)
{
    CHECK_OK(cairn_hdf5_writer_push(&f->writer, NULL));
    CHECK_OK(cairn_hdf5_writer_collect(&f->writer, true, NULL));
    CHECK_OK(cairn_hdf5_sums_write(&f->sums, f->file, NULL));
    CHECK_OK(cairn_hdf5_flush(f->file, NULL));
}

static void end_sums(sums_fixture *f)
{
    cairn_hdf5_column_close(&f->column);
    cairn_hdf5_writer_destroy(&f->writer);
    cairn_hdf5_sums_destroy(&f->sums);
    CHECK_OK(cairn_hdf5_close(f->file, &f->sink, NULL));
}

static void go_on_with_sums(sums_fixture *f)
{
    cairn_hdf5_sums_start(&f->sums);
    CHECK_OK(cairn_hdf5_go_on(f->path.text, &f->sink, &f->file, NULL));
}

static uint64_t sum_of(const sums_fixture *f, const char *name)
{
    for (size_t i = 0; i < f->sums.count; i++)
        if (strcmp(f->sums.items[i].path, name) == 0)
            return f->sums.items[i].data;
    fail_msg("%s has no checksum", name);
    return 0;
}

/* 6 numbers of 4 bytes, lowest first. */
TEST(the_sum_of_a_column_is_that_of_its_bytes)
{
    static const unsigned char bytes[24] = {
        [0] = 7, [4] = 8, [8] = 9, [12] = 10, [16] = 11, [20] = 12
    };
    for (int packed = 0; packed < 2; packed++) {
        sums_fixture f;
        start_sums(&f, packed);
        append_sums(&f, 7, 2);
        append_sums(&f, 9, 4);
        flush(&f);
        CHECK(sum_of(&f, "/x") == cairn_bytes_check(bytes, sizeof bytes));
        CHECK(sum_of(&f, "/") == 0); /* a group has no numbers */
        end_sums(&f);
        go_on_with_sums(&f);
        CHECK_OK(cairn_hdf5_sums_verify(&f.sums, f.file, NULL));
        CHECK(sum_of(&f, "/x") == cairn_bytes_check(bytes, sizeof bytes));
        cairn_hdf5_sums_destroy(&f.sums);
        CHECK_OK(cairn_hdf5_close(f.file, &f.sink, NULL));
        folder_remove(f.folder.path);
    }
}

TEST(a_column_that_is_cut_and_goes_on_has_the_sum_of_what_is_there)
{
    for (int packed = 0; packed < 2; packed++) {
        sums_fixture f;
        start_sums(&f, packed);
        append_sums(&f, 0, 9);
        flush(&f);
        end_sums(&f);
        go_on_with_sums(&f);
        CHECK_OK(cairn_hdf5_sums_verify(&f.sums, f.file, NULL));
        open_column(&f, packed);
        CHECK_OK(cairn_hdf5_column_cut(&f.column, 6, NULL));
        append_sums(&f, 6, 7);
        flush(&f);
        const int32_t all[13] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
        CHECK(sum_of(&f, "/x") == cairn_bytes_check(all, sizeof all));
        end_sums(&f);
        go_on_with_sums(&f);
        CHECK_OK(cairn_hdf5_sums_verify(&f.sums, f.file, NULL));
        cairn_hdf5_sums_destroy(&f.sums);
        CHECK_OK(cairn_hdf5_close(f.file, &f.sink, NULL));
        folder_remove(f.folder.path);
    }
}

/* What was done to the file, and the words of the refusal. */
static void check_sums_refused(void (*spoil)(hid_t file), const char *words)
{
    sums_fixture f;
    cairn_error error = { 0 };
    start_sums(&f, false);
    append_sums(&f, 0, 9);
    flush(&f);
    end_sums(&f);
    hid_t file = H5Fopen(f.path.text, H5F_ACC_RDWR, H5P_DEFAULT);
    spoil(file);
    H5Fclose(file);
    go_on_with_sums(&f);
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = cairn_hdf5_sums_verify(&f.sums, f.file, &error);
    cairn_hdf5_quiet_end(quiet);
    CHECK(status == CAIRN_BAD_INPUT || status == CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, words);
    cairn_hdf5_sums_destroy(&f.sums);
    CHECK_OK(cairn_hdf5_close(f.file, &f.sink, NULL));
    folder_remove(f.folder.path);
}

static void change_unit(hid_t file)
{
    hid_t x = H5Dopen2(file, "x", H5P_DEFAULT);
    CHECK_OK(cairn_hdf5_text(x, "unit", "k", NULL));
    H5Dclose(x);
}

static void take_away(hid_t file)
{
    H5Ldelete(file, "x", H5P_DEFAULT);
}

static void take_sums_away(hid_t file)
{
    H5Ldelete(file, "checksums", H5P_DEFAULT);
}

static void name_it(hid_t file)
{
    CHECK_OK(cairn_hdf5_text(file, "owner", "me", NULL));
}

TEST(what_was_changed_is_named)
{
    check_sums_refused(change_unit, "/x does not agree with its checksum");
    check_sums_refused(take_away, "/x has a checksum and is not there");
    check_sums_refused(name_it, "/ does not agree with its checksum");
    check_sums_refused(take_sums_away, "an older version of cairn began this run");
}

TEST(no_memory_at_any_point_is_reported)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long fail = 1; status != CAIRN_OK && fail < 1000; fail++) {
        sums_fixture f;
        start_sums(&f, false);
        append_sums(&f, 0, 9);
        meter m = { .fail_at = fail };
        meter_install(&m);
        status = cairn_hdf5_sums_write(&f.sums, f.file, NULL);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        end_sums(&f);
        folder_remove(f.folder.path);
    }
    CHECK_OK(status);
}

GROUP(test_hdf5_sums)
{
    RUN(CASE(the_sum_of_a_column_is_that_of_its_bytes),
        CASE(a_column_that_is_cut_and_goes_on_has_the_sum_of_what_is_there),
        CASE(what_was_changed_is_named), CASE(no_memory_at_any_point_is_reported));
}
