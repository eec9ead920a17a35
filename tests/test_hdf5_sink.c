/* test_hdf5_sink.c - a disk that refuses is found out by asking the sink. */
#include "io/hdf5_sink.h"

#include "io/hdf5_column.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(what_fits_is_written_and_readable_without_the_sink),
        CASE(what_does_not_fit_is_an_error_of_the_sink_alone),
        CASE(two_writers_of_one_file_are_kept_apart));
}
