/* test_hdf5_probe.c - a child dies of a damaged file so that this process does not. */
#include "io/hdf5_probe.h"

#include "io/hdf5_read.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(formats_are_told_apart), CASE(a_good_file_is_survived),
        CASE(what_cannot_be_opened_is_damage), CASE(what_is_not_a_plain_file_is_not_opened));
}
