/* test_hdf5.c - attributes, and HDF5's failures as cairn errors. */
#include "io/hdf5.h"

#include "io/hdf5_sink.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(every_type_has_its_size), CASE(a_text_attribute_may_be_long_and_may_be_replaced),
        CASE(a_failure_says_the_reason_of_the_system), CASE(quiet_ends_as_it_began),
        CASE(nothing_stays_open));
}
