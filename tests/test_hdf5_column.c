/* test_hdf5_column.c - columns that grow, short ones in place and long ones through a packer. */
#include "io/hdf5_column.h"

#include "io/hdf5_sink.h"
#include "run_scene.h"

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

TEST(nothing_stays_open)
{
    CHECK_INT(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

int main(void)
{
    RUN(CASE(a_short_column_grows_row_by_row), CASE(a_long_column_goes_through_the_packer),
        CASE(a_chunk_may_be_written_before_it_is_full), CASE(a_column_that_was_cut_goes_on),
        CASE(a_full_packer_is_emptied_first), CASE(another_layout_is_refused),
        CASE(nothing_stays_open));
}
