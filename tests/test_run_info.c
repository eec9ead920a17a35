/* test_run_info.c - reading what a run file says, and refusing what is no run file. */
#include "run_scene.h"

static void run_into(const folder *f)
{
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    CHECK_OK(cairn_run(&s, f->path, NULL, NULL, &summary, NULL));
    scene_destroy(&s);
}

TEST(a_run_tells_what_it_is_by_folder_or_file)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_run_info info;
    cairn_error error;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, &summary, NULL));
    CHECK_OK(cairn_run_read_info(f.path, &info, &error));
    CHECK_TEXT(info.title, "three spheres");
    CHECK_TEXT(info.version, cairn_version());
    CHECK_TEXT(info.scheme, s.step.scheme);
    CHECK_TEXT(info.solver, s.step.solver);
    CHECK_INT(info.dimension, 3);
    CHECK_INT(info.steps, 20);
    CHECK_INT(info.frames, 6);
    CHECK_INT(info.bodies, 4);
    CHECK_INT(info.max_contacts, 2);
    CHECK_INT(info.uncertified, 0);
    CHECK_NEAR(info.time, 0.1, 1e-12);
    CHECK_NEAR(info.time_step, 5e-3, 0);
    CHECK_NEAR(info.tolerance, s.step.tolerance, 0);
    CHECK_NEAR(info.worst_relative, summary.worst.judgement.asked.relative, 0);
    CHECK(info.hash == summary.hash && info.hash != 0);
    CHECK_OK(cairn_run_read_info(path_in(&f, "run.h5").text, &info, NULL));
    CHECK_INT(info.steps, 20);
    scene_destroy(&s);
    folder_remove(f.path);
}

/* Reads a path that must be refused; the message holds `piece`. */
static void refuse(const char *name, cairn_status status, const char *piece)
{
    cairn_run_info info;
    cairn_error error;
    CHECK_INT(cairn_run_read_info(name, &info, &error), status);
    CHECK_CONTAINS(error.message, piece);
    CHECK(error.file[0] != '\0');
    CHECK_INT(info.steps, 0);
}

TEST(what_is_not_there_is_refused)
{
    folder f = folder_create();
    refuse(path_in(&f, "nothing").text, CAIRN_NOT_FOUND, "No such file");
    refuse(f.path, CAIRN_NOT_FOUND, "no run.h5 in this folder");
    folder_remove(f.path);
}

TEST(a_text_file_is_refused)
{
    folder f = folder_create();
    file_write(&f, "run.h5", "hello");
    refuse(f.path, CAIRN_BAD_INPUT, "not an HDF5 file");
    folder_remove(f.path);
}

TEST(an_hdf5_file_of_another_program_is_refused)
{
    folder f = folder_create();
    hid_t file = H5Fcreate(path_in(&f, "run.h5").text, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    refuse(f.path, CAIRN_BAD_INPUT, "not a run of cairn");
    folder_remove(f.path);
}

TEST(a_truncated_file_is_refused_wherever_it_was_cut)
{
    folder f = folder_create();
    path p = path_in(&f, "run.h5");
    struct stat found;
    run_into(&f);
    CHECK_INT(stat(p.text, &found), 0);
    for (off_t size = found.st_size - 1; size > 0; size -= found.st_size / 25) {
        cairn_run_info info;
        cairn_error error;
        CHECK_INT(truncate(p.text, size), 0);
        CHECK(cairn_run_read_info(f.path, &info, &error) != CAIRN_OK);
        CHECK(error.message[0] != '\0');
    }
    folder_remove(f.path);
}

/* An attribute or dataset with another type, in a file that is otherwise right. */
static void spoil(const char *name, const char *removed)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR);
    CHECK(file >= 0);
    H5Adelete(file, removed);
    hid_t type = strcmp(removed, "title") == 0 ? H5T_NATIVE_CHAR : H5T_C_S1;
    hid_t attribute = H5Acreate2(file, removed, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, "x");
    H5Aclose(attribute);
    H5Sclose(space);
    H5Fclose(file);
}

TEST(an_attribute_of_a_wrong_type_is_named)
{
    const char *const names[] = { "title", "tolerance", "format_version", "hash" };
    for (int i = 0; i < 4; i++) {
        folder f = folder_create();
        cairn_run_info info;
        cairn_error error;
        run_into(&f);
        spoil(path_in(&f, "run.h5").text, names[i]);
        CHECK_INT(cairn_run_read_info(f.path, &info, &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, names[i]);
        folder_remove(f.path);
    }
}

TEST(a_missing_column_is_named)
{
    folder f = folder_create();
    cairn_run_info info;
    cairn_error error;
    run_into(&f);
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "steps/active", H5P_DEFAULT);
    H5Fclose(file);
    CHECK_INT(cairn_run_read_info(f.path, &info, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "steps/active");
    folder_remove(f.path);
}

/* A ball hangs on a joint that breaks in the first step, another on one that holds. */
TEST(joints_are_counted)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_run_info info;
    for (int i = 2; i <= 3; i++) {
        cairn_joint_def def = cairn_joint_def_default();
        def.a = (cairn_body_id){ cairn_world_bodies(s.world).uid[i] };
        def.anchor = cairn_world_bodies(s.world).x[i];
        def.break_force = i == 2 ? 1 : 0;
        CHECK_OK(cairn_joint_create(s.world, &def, NULL));
    }
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, &summary, NULL));
    CHECK_INT(summary.joints, 1);
    CHECK_INT(summary.broken, 1);
    CHECK_OK(cairn_run_read_info(f.path, &info, NULL));
    CHECK_INT(info.joints, 2);
    CHECK_INT(info.broken, 1);
    CHECK_NEAR(info.joint_drift, summary.worst.joint_drift, 0);
    scene_destroy(&s);
    folder_remove(f.path);
}

/* As files from before there were joints are. */
TEST(a_run_without_joint_columns_is_read)
{
    folder f = folder_create();
    cairn_run_info info;
    run_into(&f);
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "joints", H5P_DEFAULT);
    H5Ldelete(file, "steps/joint_drift", H5P_DEFAULT);
    H5Fclose(file);
    CHECK_OK(cairn_run_read_info(f.path, &info, NULL));
    CHECK_INT(info.joints, 0);
    folder_remove(f.path);
}

TEST(nothing_stays_open)
{
    CHECK_INT(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

/* A tower that one sweep a step cannot hold, with the certificate given. */
static cairn_run_info tower_info(const folder *f, const char *certificate)
{
    cairn_scene s = scene_create(3);
    cairn_run_info info;
    add_sphere(s.world, 0.1, (cairn_vec3){ 0, 0, 0.3 });
    s.step.solver = "pgs";
    s.step.tolerance = 1e-30;
    s.step.max_iterations = 1;
    s.step.warm_start = false;
    s.run.certificate = certificate;
    CHECK_OK(cairn_run(&s, f->path, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_run_read_info(f->path, &info, NULL));
    scene_destroy(&s);
    return info;
}

TEST(steps_that_missed_their_tolerance_are_listed)
{
    folder f = folder_create();
    cairn_run_info info = tower_info(&f, "summary");
    int64_t listed = 0;
    CHECK_TEXT(info.certificate, "summary");
    CHECK(info.uncertified > 0);
    CHECK(info.missed.count >= 1 && info.missed.count <= CAIRN_RUN_MOST_SPANS);
    for (int64_t i = 0; i < info.missed.count; i++)
        listed += info.missed.span[i][1] - info.missed.span[i][0] + 1;
    CHECK_INT(listed, info.uncertified);
    CHECK(info.mean_relative > 0 && info.mean_relative <= info.worst_relative);
    folder_remove(f.path);
}

TEST(without_a_certificate_the_steps_are_still_judged)
{
    folder f = folder_create();
    cairn_run_info info = tower_info(&f, "off");
    double numbers[64];
    CHECK_TEXT(info.certificate, "off");
    CHECK(info.uncertified > 0);
    CHECK(isnan(info.worst_relative));
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "steps/penetration", numbers, 64), -1);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "steps/kinetic", numbers, 64), -1);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "steps/converged", numbers, 64), 20);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(a_run_tells_what_it_is_by_folder_or_file), CASE(what_is_not_there_is_refused),
        CASE(a_text_file_is_refused), CASE(an_hdf5_file_of_another_program_is_refused),
        CASE(a_truncated_file_is_refused_wherever_it_was_cut),
        CASE(an_attribute_of_a_wrong_type_is_named), CASE(a_missing_column_is_named),
        CASE(joints_are_counted), CASE(a_run_without_joint_columns_is_read),
        CASE(nothing_stays_open), CASE(steps_that_missed_their_tolerance_are_listed),
        CASE(without_a_certificate_the_steps_are_still_judged));
}
