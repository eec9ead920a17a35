/* test_hdf5_sums.c - checksums of a file follow what is written, and tell what was changed. */
#include "io/hdf5_sums.h"

#include "io/hdf5_column.h"
#include "io/hdf5_sink.h"
#include "run_scene.h"

/* A file with one column of whole numbers, long or short, whose checksum runs. */
typedef struct fixture {
    folder folder;
    path path;
    hid_t file;
    cairn_hdf5_sink sink;
    cairn_hdf5_writer writer;
    cairn_hdf5_sums sums;
    cairn_hdf5_column column;
} fixture;

static void open_column(fixture *f, bool packed)
{
    const cairn_hdf5_column_def def = { "x", "m", CAIRN_HDF5_INT, 1, 4, &f->writer, packed };
    CHECK_OK(cairn_hdf5_writer_create(&f->writer));
    f->writer.sums = &f->sums;
    CHECK_OK(cairn_hdf5_column_create(f->file, &def, &f->column, NULL));
}

static void start(fixture *f, bool packed)
{
    *f = (fixture){ .folder = folder_create() };
    f->path = path_in(&f->folder, "a.h5");
    cairn_hdf5_sums_start(&f->sums);
    CHECK_OK(cairn_hdf5_create(f->path.text, &f->sink, &f->file, NULL));
    open_column(f, packed);
}

static void append(fixture *f, int from, int count)
{
    int32_t numbers[16];
    for (int i = 0; i < count; i++)
        numbers[i] = from + i;
    CHECK_OK(cairn_hdf5_column_append(&f->column, (size_t)count, numbers, NULL));
}

static void flush(fixture *f)
{
    CHECK_OK(cairn_hdf5_writer_push(&f->writer, NULL));
    CHECK_OK(cairn_hdf5_writer_collect(&f->writer, true, NULL));
    CHECK_OK(cairn_hdf5_sums_write(&f->sums, f->file, NULL));
    CHECK_OK(cairn_hdf5_flush(f->file, NULL));
}

static void end(fixture *f)
{
    cairn_hdf5_column_close(&f->column);
    cairn_hdf5_writer_destroy(&f->writer);
    cairn_hdf5_sums_destroy(&f->sums);
    CHECK_OK(cairn_hdf5_close(f->file, &f->sink, NULL));
}

static void go_on(fixture *f)
{
    cairn_hdf5_sums_start(&f->sums);
    CHECK_OK(cairn_hdf5_go_on(f->path.text, &f->sink, &f->file, NULL));
}

static uint64_t sum_of(const fixture *f, const char *name)
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
        fixture f;
        start(&f, packed);
        append(&f, 7, 2);
        append(&f, 9, 4);
        flush(&f);
        CHECK(sum_of(&f, "/x") == cairn_bytes_check(bytes, sizeof bytes));
        CHECK(sum_of(&f, "/") == 0); /* a group has no numbers */
        end(&f);
        go_on(&f);
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
        fixture f;
        start(&f, packed);
        append(&f, 0, 9);
        flush(&f);
        end(&f);
        go_on(&f);
        CHECK_OK(cairn_hdf5_sums_verify(&f.sums, f.file, NULL));
        open_column(&f, packed);
        CHECK_OK(cairn_hdf5_column_cut(&f.column, 6, NULL));
        append(&f, 6, 7);
        flush(&f);
        const int32_t all[13] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
        CHECK(sum_of(&f, "/x") == cairn_bytes_check(all, sizeof all));
        end(&f);
        go_on(&f);
        CHECK_OK(cairn_hdf5_sums_verify(&f.sums, f.file, NULL));
        cairn_hdf5_sums_destroy(&f.sums);
        CHECK_OK(cairn_hdf5_close(f.file, &f.sink, NULL));
        folder_remove(f.folder.path);
    }
}

/* What was done to the file, and the words of the refusal. */
static void check_refused(void (*spoil)(hid_t file), const char *words)
{
    fixture f;
    cairn_error error = { 0 };
    start(&f, false);
    append(&f, 0, 9);
    flush(&f);
    end(&f);
    hid_t file = H5Fopen(f.path.text, H5F_ACC_RDWR, H5P_DEFAULT);
    spoil(file);
    H5Fclose(file);
    go_on(&f);
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
    check_refused(change_unit, "/x does not agree with its checksum");
    check_refused(take_away, "/x has a checksum and is not there");
    check_refused(name_it, "/ does not agree with its checksum");
    check_refused(take_sums_away, "an older version of cairn began this run");
}

TEST(no_memory_at_any_point_is_reported)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long fail = 1; status != CAIRN_OK && fail < 1000; fail++) {
        fixture f;
        start(&f, false);
        append(&f, 0, 9);
        meter m = { .fail_at = fail };
        meter_install(&m);
        status = cairn_hdf5_sums_write(&f.sums, f.file, NULL);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        end(&f);
        folder_remove(f.folder.path);
    }
    CHECK_OK(status);
}

int main(void)
{
    RUN(CASE(the_sum_of_a_column_is_that_of_its_bytes),
        CASE(a_column_that_is_cut_and_goes_on_has_the_sum_of_what_is_there),
        CASE(what_was_changed_is_named), CASE(no_memory_at_any_point_is_reported));
}
