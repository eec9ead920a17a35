/* test_run_read.c - frames out of run files, and files that are not right. */
#include "io/run_read.h"

#include "run_scene.h"

static folder run_create(bool contacts, const char *certificate)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.run.contacts = contacts;
    s.run.certificate = certificate;
    s.run.paraview = s.run.picture = false;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    scene_destroy(&s);
    return f;
}

TEST(a_frame_is_what_the_world_was)
{
    folder f = run_create(true, "summary");
    cairn_run_reader r;
    cairn_sample s;
    CHECK_OK(cairn_run_reader_open(f.path, &r, NULL));
    CHECK_INT(r.frames, 6);
    CHECK_OK(cairn_run_reader_frame(&r, 0, &s));
    CHECK_INT(s.count, 4);
    CHECK(!s.has_contacts);
    CHECK_NEAR(s.x[3].z, 0.4, 0);
    CHECK_NEAR(s.radius[0], 0, 0);
    CHECK_NEAR(s.radius[3], 0.1, 0);
    CHECK_NEAR(s.volume[0], 0, 0);
    CHECK_CLOSE(s.volume[3], 4.0 / 3 * M_PI * 1e-3, 1e-12);
    CHECK_INT(s.is_grain[0], 0);
    CHECK_INT(s.is_grain[3], 1);
    CHECK_NEAR(s.totals->friction_loss, 0, 0);
    CHECK_OK(cairn_run_reader_frame(&r, 1, &s));
    CHECK(s.has_contacts && s.contacts >= 1);
    CHECK_NEAR(s.time, 0.02, 1e-12);
    /* ball 1 rests: the force on it is its weight */
    int ball = s.pair[0] == 1 ? 1 : -1;
    CHECK_CLOSE(ball * s.force[0].z, -s.mass[1] * s.gravity.z, 1e-3);
    cairn_run_reader_close(&r);
    folder_remove(f.path);
}

TEST(what_a_run_did_not_keep_is_not_known)
{
    folder f = run_create(false, "off");
    cairn_run_reader r;
    cairn_sample s;
    CHECK_OK(cairn_run_reader_open(path_in(&f, "run.h5").text, &r, NULL));
    CHECK_OK(cairn_run_reader_frame(&r, 3, &s));
    CHECK(!s.has_contacts);
    CHECK(s.totals == NULL);
    cairn_run_reader_close(&r);
    folder_remove(f.path);
}

TEST(files_from_before_there_were_volumes_are_read)
{
    folder f = run_create(false, "off");
    cairn_run_reader r;
    cairn_sample s;
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, "bodies/volume", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    CHECK_OK(cairn_run_reader_open(f.path, &r, NULL));
    CHECK_OK(cairn_run_reader_frame(&r, 3, &s));
    CHECK_NEAR(s.volume[3], 0, 0);
    cairn_run_reader_close(&r);
    folder_remove(f.path);
}

/* ---- files that are not right --------------------------------------------------------------- */

/* Write one number over number `place` of a dataset. */
static void spoil(const folder *f, const char *name, hsize_t place, double value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t one = 1, at[2] = { place, 0 }, single[2] = { 1, 1 };
    hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, single, NULL);
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

TEST(numbers_that_lead_nowhere_are_refused)
{
    static const struct {
        const char *dataset;
        hsize_t place;
        double value;
        const char *key;
    } wrong[] = {
        { "frames/body_offset", 3, 1e9, "index" },
        { "frames/body_offset", 3, -1, "body_offset" },
        { "frames/contact_offset", 4, 1e15, "contact_offset" },
        { "frames/bodies/index", 5, 4, "index" },
        { "frames/bodies/index", 5, -1, "index" },
        { "frames/contacts/body", 1, 99, "body" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        folder f = run_create(true, "summary");
        cairn_measure_options o = cairn_measure_options_default();
        cairn_names names = { { "stress", "centre" }, 2 };
        cairn_statistic_table t[2];
        cairn_error error = { 0 };
        spoil(&f, wrong[i].dataset, wrong[i].place, wrong[i].value);
        CHECK_INT(cairn_run_measure(f.path, &names, &o, t, &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, wrong[i].key);
        CHECK_CONTAINS(error.file, "run.h5");
        CHECK(t[0].values == NULL && t[1].values == NULL);
        folder_remove(f.path);
    }
}

TEST(what_is_not_there_is_said)
{
    folder f = run_create(true, "summary");
    cairn_measure_options o = cairn_measure_options_default();
    cairn_names names = { { "strees" }, 1 };
    cairn_statistic_table t[1];
    cairn_error error = { 0 };
    CHECK_INT(cairn_run_measure(f.path, &names, &o, t, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "there is no statistic 'strees'");
    names.items[0] = "stress";
    o.trim = 2;
    CHECK_INT(cairn_run_measure(f.path, &names, &o, t, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "trim");
    o.trim = 0.1;
    CHECK_INT(cairn_run_measure(path_in(&f, "none").text, &names, &o, t, &error), CAIRN_NOT_FOUND);
    folder_remove(f.path);
}

TEST(no_memory_at_any_point_is_reported)
{
    folder f = run_create(true, "summary");
    cairn_measure_options o = cairn_measure_options_default();
    cairn_names names = { { "stress", "slices" }, 2 };
    cairn_status status = CAIRN_NO_MEMORY;
    for (long fail = 1; status != CAIRN_OK && fail < 1000; fail++) {
        cairn_statistic_table t[2];
        meter m = { .fail_at = fail };
        meter_install(&m);
        status = cairn_run_measure(f.path, &names, &o, t, NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        cairn_statistic_table_destroy(&t[0]);
        cairn_statistic_table_destroy(&t[1]);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(a_frame_is_what_the_world_was), CASE(what_a_run_did_not_keep_is_not_known),
        CASE(files_from_before_there_were_volumes_are_read),
        CASE(numbers_that_lead_nowhere_are_refused), CASE(what_is_not_there_is_said),
        CASE(no_memory_at_any_point_is_reported));
}
