/* test_run.c - runs from beginning to end: what is computed, what is written, how they end. */
#include "run_scene.h"

#include <sys/wait.h>

/* Runs the scene into a folder and destroys its world. */
static cairn_run_summary run_scene(cairn_scene *s, const char *into)
{
    cairn_run_summary summary;
    cairn_error error;
    cairn_status status = cairn_run(s, into, NULL, NULL, &summary, &error);
    if (status != CAIRN_OK)
        fail_msg("%s: %s", error.file, error.message);
    scene_destroy(s);
    return summary;
}

TEST(a_run_of_0_1_s_in_steps_of_5_ms_has_20_steps_and_6_frames)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary = run_scene(&s, f.path);
    double time[20], step[20];
    CHECK_INT(summary.steps, 20);
    CHECK_NEAR(summary.time, 0.1, 1e-12);
    CHECK_INT(summary.bodies, 4);
    CHECK_INT(summary.frames, 6);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/time", time, 20), 6);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/step", step, 20), 6);
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(time[k], 0.02 * k, 1e-12);
        CHECK_INT(step[k], 4 * k);
    }
    folder_remove(f.path);
}

TEST(steps_are_rounded_to_the_nearest)
{
    const double durations[3] = { 0.005, 0.0124, 0.0126 };
    const int steps[3] = { 1, 2, 3 };
    for (int i = 0; i < 3; i++) {
        cairn_scene s = scene_create(3);
        s.run.duration = durations[i];
        CHECK_INT(run_scene(&s, NULL).steps, steps[i]);
    }
}

TEST(a_step_longer_than_the_run_is_refused)
{
    cairn_scene s = scene_create(3);
    cairn_error error;
    s.run.duration = 1e-4;
    CHECK_INT(cairn_run(&s, NULL, NULL, NULL, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "run.time_step");
    CHECK_TEXT(error.message,
               "found 0.005 s for a duration of 0.0001 s, expected at most the duration");
    scene_destroy(&s);
}

TEST(an_interval_that_is_no_multiple_of_the_step_gives_the_first_step_past_it)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.run.frame_interval = 0.012; /* due at 12, 24, 36, ... ms: steps 3, 5, 8, 10, 12, 15, 17, 20 */
    const int steps[9] = { 0, 3, 5, 8, 10, 12, 15, 17, 20 };
    double found[20];
    run_scene(&s, f.path);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/step", found, 20), 9);
    for (int k = 0; k < 9; k++)
        CHECK_INT(found[k], steps[k]);
    folder_remove(f.path);
}

TEST(interval_0_stores_every_step_and_a_long_one_only_the_ends)
{
    const double intervals[2] = { 0, 1e300 };
    const int frames[2] = { 21, 2 };
    for (int i = 0; i < 2; i++) {
        folder f = folder_create();
        cairn_scene s = scene_create(3);
        s.run.frame_interval = intervals[i];
        CHECK_INT(run_scene(&s, f.path).frames, frames[i]);
        folder_remove(f.path);
    }
}

TEST(the_last_frame_is_the_world_as_it_ended)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    double x[100], offset[20];
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, &summary, NULL));
    CHECK(summary.hash == cairn_world_hash(s.world));
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/body_offset", offset, 20), 7);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/bodies/x", x, 100), 3 * 24);
    CHECK_INT(offset[0], 0);
    CHECK_INT(offset[5], 20);
    CHECK_INT(offset[6], 24);
    CHECK(memcmp(x + 60, cairn_world_bodies(s.world).x, 4 * sizeof(cairn_vec3)) == 0);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(the_energy_ledger_of_the_summary_closes)
{
    cairn_scene s = scene_create(3);
    cairn_run_summary m = run_scene(&s, NULL);
    double mass = 1000 * 4.0 / 3 * M_PI * 1e-3;
    double gain = m.energy.load_work + m.energy.driver_work - m.energy.friction_loss -
                  m.energy.impact_loss - m.energy.numerical_loss;
    CHECK_CLOSE(m.initial_energy, mass * 9.81 * (0.1 + 0.11 + 0.4), 1e-12);
    CHECK_NEAR(m.energy.kinetic + m.energy.potential, m.initial_energy + gain, 1e-9);
    CHECK(m.energy.impact_loss > 0); /* sphere 2 fell 0.01 m: m g 0.01 J went */
    CHECK_CLOSE(m.energy.impact_loss, mass * 9.81 * 0.01, 0.3);
}

TEST(the_steps_of_the_file_add_up_to_the_summary)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary m = run_scene(&s, f.path);
    double loss[64], penetration[64], active[64], sum = 0, worst = 0, most = 0, mean = 0;
    path p = path_in(&f, "run.h5");
    CHECK_INT(h5_numbers(p.text, "steps/impact_loss", loss, 64), 20);
    CHECK_INT(h5_numbers(p.text, "steps/penetration", penetration, 64), 20);
    CHECK_INT(h5_numbers(p.text, "steps/active", active, 64), 20);
    for (int i = 0; i < 20; i++) {
        sum += loss[i];
        mean += penetration[i] / 20;
        worst = fmax(worst, penetration[i]);
        most = fmax(most, active[i]);
    }
    CHECK_NEAR(m.energy.impact_loss, sum, 1e-12);
    CHECK_NEAR(m.worst.penetration, worst, 0);
    CHECK_NEAR(m.mean.penetration, mean, 1e-15);
    CHECK_INT(m.max_active, most);
    CHECK_INT(m.max_active, 2);
    CHECK_INT(m.uncertified, 0);
    CHECK_INT(m.first_uncertified, -1);
    folder_remove(f.path);
}

TEST(every_file_is_there_and_no_part_is_left)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    path inner = path_in(&f, "deep/folder");
    run_scene(&s, inner.text);
    const char *const names[] = { "run.h5",
                                  "summary.json",
                                  "paraview/bodies.pvd",
                                  "paraview/contacts.pvd",
                                  "paraview/walls.pvd",
                                  "paraview/bodies_000005.vtp",
                                  "paraview/contacts_000005.vtp",
                                  "paraview/walls_000000.vtp" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "deep/folder/%s", names[i]);
        if (!file_exists(&f, name))
            fail_msg("%s is missing", name);
    }
    CHECK(!file_exists(&f, "deep/folder/run.h5.part"));
    folder_remove(f.path);
}

TEST(without_paraview_and_contacts_only_two_files_are_written)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    double none[1];
    s.run.paraview = s.run.contacts = false;
    run_scene(&s, f.path);
    CHECK(file_exists(&f, "run.h5") && file_exists(&f, "summary.json"));
    CHECK(!file_exists(&f, "paraview"));
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/contact_offset", none, 1), -1);
    folder_remove(f.path);
}

TEST(in_2d_the_frames_have_angles_and_contacts_two_components)
{
    folder f = folder_create();
    cairn_scene s = scene_create(2);
    path p = path_in(&f, "run.h5");
    double angle[200], impulse[400], gap[200];
    run_scene(&s, f.path);
    CHECK_INT(h5_numbers(p.text, "frames/bodies/angle", angle, 200), 24);
    long contacts = h5_numbers(p.text, "frames/contacts/gap", gap, 200);
    CHECK(contacts > 0);
    CHECK_INT(h5_numbers(p.text, "frames/contacts/impulse", impulse, 400), 2 * contacts);
    folder_remove(f.path);
}

/* ---- how runs end --------------------------------------------------------------------------- */

static bool stop_after(const cairn_progress *progress, void *context)
{
    CHECK_NEAR(progress->time, 5e-3 * (double)progress->step, 1e-12);
    CHECK_NEAR(progress->duration, 0.1, 0);
    CHECK_INT(progress->bodies, 4);
    CHECK(progress->report != NULL);
    return progress->step < *(int *)context;
}

TEST(an_interrupted_run_keeps_what_was_computed)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_error error;
    char ending[32];
    double step[20];
    int last = 7;
    CHECK_OK(cairn_run(&s, f.path, stop_after, &last, &summary, &error));
    CHECK(summary.interrupted);
    CHECK_INT(summary.steps, 7);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/step", step, 20), 3);
    CHECK_INT(step[1], 4);
    CHECK_INT(step[2], 7); /* the state it ended with, though no frame was due */
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "steps/time", step, 20), 7);
    h5_text(path_in(&f, "run.h5").text, "/", "ending", ending, sizeof ending);
    CHECK_TEXT(ending, "interrupted");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"interrupted\": true");
    CHECK_CONTAINS(file_text(&f, "paraview/bodies.pvd"), "bodies_000002.vtp");
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(a_step_that_misses_its_tolerance_stops_the_run_when_asked)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_error error;
    char ending[32];
    s.run.on_uncertified = "stop";
    add_sphere(s.world, 0.1, (cairn_vec3){ 0, 0, 0.3 }); /* a tower: one sweep is not enough */
    s.step.solver = "pgs";
    s.step.tolerance = 1e-30;
    s.step.max_iterations = 1;
    s.step.warm_start = false;
    CHECK_INT(cairn_run(&s, f.path, NULL, NULL, &summary, &error), CAIRN_STOPPED);
    CHECK_CONTAINS(error.message, "missed its tolerance");
    CHECK_INT(summary.uncertified, 1);
    CHECK_INT(summary.first_uncertified, summary.steps);
    CHECK(!summary.interrupted);
    h5_text(path_in(&f, "run.h5").text, "/", "ending", ending, sizeof ending);
    CHECK_TEXT(ending, "stopped");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "missed its tolerance");
    scene_destroy(&s);
    folder_remove(f.path);
}

/* a ball that falls askew onto another needs more than two turns to find where they meet */
TEST(a_step_that_does_not_settle_stops_the_run_when_asked)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_error error;
    s.run.on_uncertified = "stop";
    add_sphere(s.world, 0.1, (cairn_vec3){ 0.05, 0, 0.3 });
    s.step.scheme = "stewart-trinkle";
    s.step.linearisations = 2;
    s.step.tolerance = 1e-9;
    CHECK_INT(cairn_run(&s, f.path, NULL, NULL, &summary, &error), CAIRN_STOPPED);
    CHECK_CONTAINS(error.message, "did not settle in 2 linearisations");
    CHECK_INT(summary.uncertified, 1);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(a_run_ends_at_rest_before_its_duration)
{
    cairn_scene s = scene_create(3);
    s.run.duration = 1e9;
    s.run.rest_speed = 0.05; /* one step of free fall is slower than this and is no rest */
    cairn_run_summary summary = run_scene(&s, NULL);
    double fall = sqrt(2 * 0.3 / 9.81); /* s, of sphere 3 */
    CHECK(summary.time > fall);
    CHECK(summary.time < fall + 20 * 5e-3);
}

/* Makes the world refuse step 7. */
static bool spoil_world(const cairn_progress *progress, void *context)
{
    cairn_scene *s = context;
    if (progress->step == 6)
        s->step.solver = "no such solver";
    return true;
}

TEST(a_failing_step_keeps_what_was_computed_and_says_why)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_error error;
    char ending[32];
    double step[20];
    cairn_status status = cairn_run(&s, f.path, spoil_world, &s, &summary, &error);
    CHECK(status != CAIRN_OK && status != CAIRN_STOPPED);
    CHECK_CONTAINS(error.message, "step 7 from t = 0.03 s failed");
    CHECK_INT(summary.steps, 6);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "frames/step", step, 20), 3);
    CHECK_INT(step[2], 6);
    h5_text(path_in(&f, "run.h5").text, "/", "ending", ending, sizeof ending);
    CHECK_TEXT(ending, "failed");
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(settings_out_of_range_are_refused_before_anything_is_written)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_error error;
    s.step.time_step = -1;
    CHECK_INT(cairn_run(&s, path_in(&f, "out").text, NULL, NULL, &summary, &error),
              CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "time_step");
    CHECK(!file_exists(&f, "out"));
    scene_destroy(&s);
    folder_remove(f.path);
}

/* ---- disks that refuse ---------------------------------------------------------------------- */

TEST(a_folder_that_cannot_be_made_is_named)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_error error;
    file_write(&f, "file", "");
    CHECK_INT(cairn_run(&s, path_in(&f, "file/out").text, NULL, NULL, &summary, &error),
              CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "file/out");
    CHECK_CONTAINS(error.message, "Not a directory");
    CHECK_INT(summary.steps, 0);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(a_run_file_that_cannot_be_created_is_named)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_error error;
    CHECK_INT(mkdir(path_in(&f, "run.h5.part").text, 0777), 0);
    CHECK_INT(cairn_run(&s, f.path, NULL, NULL, &summary, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "run.h5.part");
    CHECK_CONTAINS(error.message, "cannot create: Is a directory");
    scene_destroy(&s);
    folder_remove(f.path);
}

/* What a child process leaves when it runs the scene on a disk with room for `bytes` a file. */
static int run_on_small_disk(const folder *f, rlim_t bytes, bool paraview)
{
    pid_t child = fork();
    if (child == 0) {
        cairn_scene s = scene_create(3);
        cairn_run_summary summary;
        cairn_error error;
        s.run.frame_interval = 0;
        s.run.paraview = paraview;
        disk_limit(bytes);
        cairn_status status = cairn_run(&s, f->path, NULL, NULL, &summary, &error);
        bool told = error.message[0] && error.file[0];
        scene_destroy(&s);
        exit(status == CAIRN_IO_FAILED && told ? 7 : status == CAIRN_OK ? 0 : 1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

TEST(a_full_disk_is_an_error_and_an_older_run_stays)
{
    const rlim_t sizes[] = { 100, 3000, 20000, 60000, 150000, 300000 };
    folder f = folder_create();
    file_write(&f, "run.h5", "the older run");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int code = run_on_small_disk(&f, sizes[i], i % 2 == 0);
        if (code != 7)
            fail_msg("with room for %d bytes the run ended with code %d", (int)sizes[i], code);
        CHECK_TEXT(file_text(&f, "run.h5"), "the older run");
        CHECK(!file_exists(&f, "summary.json"));
    }
    CHECK_INT(run_on_small_disk(&f, 100000000, true), 0);
    CHECK(strncmp(file_text(&f, "run.h5"), "\x89HDF", 4) == 0);
    folder_remove(f.path);
}

static bool die_at_step_10(const cairn_progress *progress, void *context)
{
    (void)context;
    if (progress->step == 10)
        kill(getpid(), SIGKILL);
    return true;
}

TEST(a_killed_run_leaves_a_part_that_can_be_read)
{
    folder f = folder_create();
    cairn_run_info info;
    cairn_error error;
    pid_t child = fork();
    if (child == 0) {
        cairn_scene s = scene_create(3);
        cairn_run_summary summary;
        cairn_run(&s, f.path, die_at_step_10, NULL, &summary, NULL);
        exit(1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    CHECK(!file_exists(&f, "run.h5"));
    CHECK_INT(cairn_run_read_info(f.path, &info, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "run.h5.part");
    CHECK_OK(cairn_run_read_info(path_in(&f, "run.h5.part").text, &info, &error));
    CHECK(info.frames >= 1 && info.frames <= 3);
    CHECK_INT(info.bodies, 4);
    folder_remove(f.path);
}

/* ---- memory --------------------------------------------------------------------------------- */

TEST(a_run_survives_the_failure_of_any_allocation)
{
    folder f = folder_create();
    long failures = 0;
    for (long n = 1;; n++) {
        meter m = { .fail_at = 0 };
        cairn_run_summary summary;
        cairn_error error;
        meter_install(&m);
        cairn_scene s = scene_create(3);
        const char *const names[] = { "floor", NULL, "ball" };
        const char *const materials[] = { "default" };
        s.body_names = names;
        s.body_count = 3;
        s.material_names = materials;
        s.material_count = 1;
        s.run.duration = 0.02;
        s.run.frame_interval = 0.01;
        s.run.certificate = "full";
        m.fail_at = m.calls + n;
        cairn_status status = cairn_run(&s, f.path, NULL, NULL, &summary, &error);
        bool reached = m.calls >= m.fail_at;
        scene_destroy(&s);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, reached ? CAIRN_NO_MEMORY : CAIRN_OK);
        CHECK(status == CAIRN_OK || error.message[0]);
        if (!reached)
            break;
        failures++;
    }
    cairn_allocator_set(NULL);
    CHECK(failures > 10);
    CHECK_INT(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    folder_remove(f.path);
}

TEST(a_run_without_folder_and_error_only_computes)
{
    cairn_scene s = scene_create(3);
    CHECK_OK(cairn_run(&s, NULL, NULL, NULL, NULL, NULL));
    CHECK_NEAR(cairn_world_time(s.world), 0.1, 1e-12);
    scene_destroy(&s);
    CHECK_INT(cairn_run(&s, NULL, NULL, NULL, NULL, NULL), CAIRN_BAD_INPUT);
}

int main(void)
{
    RUN(CASE(a_run_of_0_1_s_in_steps_of_5_ms_has_20_steps_and_6_frames),
        CASE(steps_are_rounded_to_the_nearest), CASE(a_step_longer_than_the_run_is_refused),
        CASE(an_interval_that_is_no_multiple_of_the_step_gives_the_first_step_past_it),
        CASE(interval_0_stores_every_step_and_a_long_one_only_the_ends),
        CASE(the_last_frame_is_the_world_as_it_ended),
        CASE(the_energy_ledger_of_the_summary_closes),
        CASE(the_steps_of_the_file_add_up_to_the_summary),
        CASE(every_file_is_there_and_no_part_is_left),
        CASE(without_paraview_and_contacts_only_two_files_are_written),
        CASE(in_2d_the_frames_have_angles_and_contacts_two_components),
        CASE(an_interrupted_run_keeps_what_was_computed),
        CASE(a_step_that_misses_its_tolerance_stops_the_run_when_asked),
        CASE(a_step_that_does_not_settle_stops_the_run_when_asked),
        CASE(a_run_ends_at_rest_before_its_duration),
        CASE(a_failing_step_keeps_what_was_computed_and_says_why),
        CASE(settings_out_of_range_are_refused_before_anything_is_written),
        CASE(a_folder_that_cannot_be_made_is_named),
        CASE(a_run_file_that_cannot_be_created_is_named),
        CASE(a_full_disk_is_an_error_and_an_older_run_stays),
        CASE(a_killed_run_leaves_a_part_that_can_be_read),
        CASE(a_run_survives_the_failure_of_any_allocation),
        CASE(a_run_without_folder_and_error_only_computes));
}
