/* test_run.c - runs as a whole, and their folders. */
#include <sys/wait.h>
#include <time.h>

#include "run/output.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"

/* ==== test_run: runs from beginning to end: what is computed, what is written, how they end */

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
    for (long n = 1;; n += CHECKED ? 13 : 1) {
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

GROUP(test_run)
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

/* ==== test_run_folder: whether a folder can take a new run ==================================== */

static cairn_error error;

static cairn_status check(const folder *f)
{
    error = (cairn_error){ 0 };
    return cairn_run_folder_check(f->path, &error);
}

static bool stop(const cairn_progress *progress, void *context)
{
    (void)context;
    return progress->step < 5;
}

/* Runs three spheres into the folder, to the end or until `progress` says so, and checks it. */
static cairn_status check_after_run(const folder *f, cairn_progress_fn *progress)
{
    cairn_scene s = scene_create(3);
    CHECK_OK(cairn_run(&s, f->path, progress, NULL, NULL, NULL));
    scene_destroy(&s);
    return check(f);
}

TEST(a_folder_without_a_run_can_take_one)
{
    folder f = folder_create();
    CHECK_OK(check(&f));
    file_write(&f, "notes.txt", "mine");
    CHECK_OK(check(&f));
    CHECK_OK(cairn_run_folder_check("no/such/folder", &error));
    folder_remove(f.path);
}

TEST(a_finished_run_is_told_with_its_ending)
{
    folder f = folder_create();
    CHECK_INT(check_after_run(&f, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.file, f.path);
    CHECK_TEXT(error.message, "this folder holds a run (complete, t = 0.1 s): --force replaces it, "
                              "--out names another folder");
    CHECK_INT(cairn_run_folder_check(f.path, NULL), CAIRN_BAD_INPUT);
    folder_remove(f.path);
}

TEST(a_run_that_can_go_on_says_how)
{
    folder f = folder_create();
    CHECK_INT(check_after_run(&f, stop), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message,
                   "this folder holds a run (interrupted, t = 0.025 s): 'cairn resume ");
    CHECK_CONTAINS(error.message, "' goes on with it, --force replaces it");
    folder_remove(f.path);
}

/* A cube that a first step of 10 s would take too far. */
TEST(a_run_without_a_step_may_be_replaced)
{
    folder f = folder_create();
    cairn_scene *s =
        scene_text_good("cairn: 1\nrun: {time_step: 10, duration: 100, max_substeps: 1}\nbodies:\n"
                        "  - {motion: fixed, shape: {half_space: {}}}\n"
                        "  - {shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, 0.2]}\n",
                        NULL);
    CHECK_INT(cairn_run(s, f.path, NULL, NULL, NULL, NULL), CAIRN_BAD_INPUT);
    CHECK(file_exists(&f, "run.h5"));
    CHECK_OK(check(&f));
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

TEST(what_is_left_of_a_run_counts_too)
{
    folder f = folder_create();
    file_write(&f, "run.h5.part", "not much");
    CHECK_INT(check(&f), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "this folder holds a run (it cannot be read): --force");
    folder_remove(f.path);
}

GROUP(test_run_folder)
{
    RUN(CASE(a_folder_without_a_run_can_take_one), CASE(a_finished_run_is_told_with_its_ending),
        CASE(a_run_that_can_go_on_says_how), CASE(a_run_without_a_step_may_be_replaced),
        CASE(what_is_left_of_a_run_counts_too));
}

/* ==== test_run_output: the three outputs together ============================================= */

TEST(without_a_folder_every_call_does_nothing)
{
    cairn_scene s = scene_create(3);
    cairn_run_output output;
    cairn_step_report report = { .solve.converged = true };
    cairn_run_summary summary = { 0 };
    cairn_run_ending ending = { "complete", "" };
    CHECK_OK(cairn_run_output_create(NULL, &s, &output, NULL));
    CHECK_OK(cairn_run_output_step(&output, 1, 0.1, &report, NULL));
    CHECK_OK(cairn_run_output_frame(&output, 1, NULL));
    CHECK_OK(cairn_run_output_commit(&output, &summary, &ending, NULL));
    CHECK_INT(output.frames, 0);
    cairn_run_output_destroy(&output);
    scene_destroy(&s);
}

TEST(the_first_frame_is_on_the_disk_before_the_run_ends)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_output output;
    cairn_run_info info;
    CHECK_OK(cairn_run_output_create(f.path, &s, &output, NULL));
    CHECK_OK(cairn_run_output_frame(&output, 0, NULL));
    CHECK_CONTAINS(file_text(&f, "paraview/bodies.pvd"), "bodies_000000.vtp");
    CHECK_OK(cairn_run_read_info(file_copy(&f, "run.h5.part").text, &info, NULL));
    CHECK_INT(info.frames, 1);
    CHECK_INT(info.bodies, 4);
    cairn_run_output_destroy(&output);
    scene_destroy(&s);
    folder_remove(f.path);
}

/* The next flush is begun with a frame and ended by a later step, when all is packed. */
TEST(a_flush_ends_while_steps_go_on)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_output output;
    cairn_run_info info = { .frames = 1 };
    cairn_step_report report = { .solve.converged = true };
    CHECK_OK(cairn_run_output_create(f.path, &s, &output, NULL));
    CHECK_OK(cairn_run_output_frame(&output, 0, NULL));
    output.flush_costs = 0; /* it is time for one */
    CHECK_OK(cairn_run_output_frame(&output, 1, NULL));
    for (int k = 0, looks = 0; looks < 100 && info.frames == 1; k++) {
        CHECK_OK(cairn_run_output_step(&output, k + 2, 0.1, &report, NULL));
        bool flushes = cairn_run_file_is_flushing(output.file);
        looks += !flushes;
        if (!flushes)
            CHECK_OK(cairn_run_read_info(file_copy(&f, "run.h5.part").text, &info, NULL));
        else
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    CHECK_INT(info.frames, 2);
    cairn_run_output_destroy(&output);
    scene_destroy(&s);
    folder_remove(f.path);
}

GROUP(test_run_output)
{
    RUN(CASE(without_a_folder_every_call_does_nothing),
        CASE(the_first_frame_is_on_the_disk_before_the_run_ends),
        CASE(a_flush_ends_while_steps_go_on));
}

/* ==== test_run_events: what happens once, and where it is told =============================== */

/* Balls on a gate: it opens when they have settled, they leave, a lid starts to rise at 0.1 s and
 * stops when pushed, and the run ends when nothing leaves any more. */
static const char *const scene_events =
    "cairn: 1\n"
    "bodies:\n"
    "  - {name: gate, motion: fixed, shape: {box: {size: [2, 2, 0.2]}}, position: [0, 0, -0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.11]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0.5, 0, 0.12]}\n"
    "  - {name: lid, motion: driven, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [5, 0, 0],\n"
    "     drivers: [velocity: {velocity: [0, 0, 1], start: .inf}]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [5, 0, 0.5], mass: 2}\n"
    "outlets: [box: {name: pit, centre: [0, 0, -1], size: [9, 9, 1]}]\n"
    "events:\n"
    "  - {when: {time: {at: 0.1}}, do: {start_driver: lid}}\n"
    "  - {when: {force_above: {body: lid, force: 15}}, do: {stop_driver: lid}}\n"
    "  - {when: {settled: {speed: 0.01, for: 0.05, from: 0.3}}, do: {open: gate}}\n"
    "  - {when: {mass_below: {mass: 2.5}}, do: {save_state: empty}}\n"
    "  - {when: {flow_stops: {outlet: pit, for: 0.2}}, do: stop_run}\n"
    "run: {time_step: 5e-3, duration: 3, tolerance: 1e-8, certificate: full, paraview: false,\n"
    "      picture: false, checkpoint_every: 0.1}\n";

static bool stop_at_step(const cairn_progress *progress, void *context)
{
    return progress->step < *(const int64_t *)context;
}

TEST(events_happen_once_in_their_order)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_events, NULL);
    cairn_run_summary summary;
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, &summary, NULL));
    const cairn_event *e = scene->events;
    CHECK_INT(scene->event_count, 5);
    CHECK_INT(e[0].step, 20); /* 0.1 s */
    /* the lid rises by 1 m/s from 0.1 s on, and the ball falls from 0.35 m above it */
    CHECK(e[1].step > 20 && e[1].step < 80);
    CHECK(e[2].time >= 0.35 && e[2].step > e[1].step);
    /* both balls fall from 0.1 m to -0.5 m in 0.35 s */
    CHECK_NEAR(e[3].time - e[2].time, sqrt(2 * 0.6 / 9.81), 0.02);
    CHECK_NEAR(e[4].time - e[3].time, 0.2, 0.006);
    CHECK_INT(summary.steps, e[4].step);
    CHECK_INT(summary.bodies, 2); /* lid and ball */
    CHECK(file_exists(&f, "empty.state"));
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"ending\": \"event\"");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"do\": \"open\"");
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

/* Stopped before, between and after the events: the same end, and each event is in the file once. */
TEST(events_go_on_after_a_resume)
{
    static const int64_t stops[] = { 5, 40, 60, 100, 150 };
    cairn_scene *scene = scene_text_good(scene_events, NULL);
    cairn_run_summary whole, summary;
    CHECK_OK(cairn_run(scene, NULL, NULL, NULL, &whole, NULL));
    cairn_scene_destroy(scene);
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        folder f = folder_create();
        int64_t stop = stops[i];
        const cairn_resume_options options = { .threads = 1 };
        scene = scene_text_good(scene_events, NULL);
        CHECK_OK(cairn_run(scene, f.path, stop_at_step, &stop, &summary, NULL));
        CHECK(summary.interrupted);
        cairn_scene_destroy(scene);
        CHECK_OK(cairn_run_resume(f.path, &options, &scene, &summary, NULL));
        CHECK(summary.hash == whole.hash && summary.steps == whole.steps);
        cairn_recording *recording;
        cairn_recording_column column;
        char place[600];
        snprintf(place, sizeof place, "%s/run.h5", f.path);
        CHECK_OK(cairn_recording_open(place, &recording, NULL));
        CHECK_OK(cairn_recording_look(recording, "events/step", &column, NULL));
        CHECK_INT(column.rows, 5);
        cairn_recording_close(recording);
        cairn_scene_destroy(scene);
        folder_remove(f.path);
    }
}

TEST(events_with_unknown_names_are_refused)
{
#define EVENTS(line) "cairn: 1\nevents: [" line "]\nrun: {time_step: 0.01, duration: 1}\n"
    static const refused wrong[] = {
        { EVENTS("{when: {time: {at: 1}}, do: {open: gate}}"), 2, 45, "events.0.do.open",
          "unknown body 'gate': none has a name" },
        { EVENTS("{when: {sometime: {at: 1}}, do: stop_run}"), 2, 18, "events.0.when.sometime",
          "unknown condition 'sometime'" },
        { EVENTS("{when: {time: {at: 1}}, do: stop}"), 2, 38, "events.0.do",
          "unknown action 'stop'" },
        { EVENTS("{when: {time: {at: 1}}, do: {save_state: ../up}}"), 2, 51,
          "events.0.do.save_state", "expected letters, digits, - and _" },
        { EVENTS("{when: {flow_stops: {for: 1, outlet: pit}}, do: stop_run}"), 2, 47,
          "events.0.when.flow_stops.outlet", "unknown outlet 'pit'" },
    };
    CHECK_REFUSED(wrong);
}

GROUP(test_run_events)
{
    RUN(CASE(events_happen_once_in_their_order), CASE(events_go_on_after_a_resume),
        CASE(events_with_unknown_names_are_refused));
}

/* ==== test_start: scenes that start from the state of a run ================================== */

/* The scene of a start from folder `f`; `rest` are its other keys, without `run`. */
static const char *start_text(const folder *f, const char *more, const char *rest)
{
    static char text[2000];
    snprintf(text, sizeof text,
             "cairn: 1\nstart: {run: %s%s}\n%s"
             "run: {time_step: 4e-3, duration: 0.12, frame_interval: 0.02, certificate: full,\n"
             "      tolerance: %s, scheme: coulomb, paraview: false, picture: false}\n",
             f->path, more, rest, "1e-4");
    return text;
}

static cairn_run_summary run_text(const char *text, const char *override, const char *into)
{
    cairn_scene *scene = scene_text_good(text, override);
    cairn_run_summary summary;
    cairn_error said;
    if (cairn_run(scene, into, NULL, NULL, &summary, &said) != CAIRN_OK)
        fail_msg("%s: %s", said.key, said.message);
    cairn_scene_destroy(scene);
    return summary;
}

/* Gravity, friction and a rate that vary, a driver with a speed, bodies that leave and come back. */
static const char *const scene_flow =
    "cairn: 1\n"
    "gravity: [2 * sin(9 * t), 0, {ramp: {from: -9.81, to: -12, stop: 0.2}}]\n"
    "materials: {rock: {friction: {harmonic: {mean: 0.3, amplitude: 0.2, frequency: 9}}}}\n"
    "bodies:\n"
    "  - {name: floor, motion: driven, shape: {box: {size: [0.5, 0.5, 0.1]}},\n"
    "     drivers: [motion: {vz: 0.3 * cos(30 * t)}]}\n"
    "generators:\n"
    "  - pour: {name: top, count: 8, rate: 400 * t, centre: [0, 0, 0.2], size: [0.6, 0.4, 0.1],\n"
    "           velocity: [1, 0, -2], radius: 0.04, group: 3}\n"
    "outlets: [height: {name: pit, below: 0, to: top}]\n"
    "run: {time_step: 4e-3, duration: 0.12, frame_interval: 0.02, paraview: false}\n";

/* The same scene in one run of 60 steps, and in two of 30, of which the second starts from the
 * first. */
TEST(a_start_that_changes_nothing_goes_on_bit_for_bit)
{
    const char *const texts[] = { scene_3d, scene_2d, scene_machine, scene_shapes, scene_flow };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        folder f = folder_create(), g = folder_create();
        char whole[8000], half[8000];
        const char *run = strstr(texts[i], "run: {");
        int head = (int)(run - texts[i]);
        const char *same = "run: {time_step: 4e-3, certificate: full, scheme: coulomb, tolerance: "
                           "1e-4, paraview: false, duration: ";
        snprintf(whole, sizeof whole, "%.*s%s0.24}\n", head, texts[i], same);
        snprintf(half, sizeof half, "%.*s%s0.12}\n", head, texts[i], same);
        uint64_t hash = run_text(whole, NULL, NULL).hash;
        CHECK(run_text(half, NULL, f.path).hash != hash);
        snprintf(half, sizeof half, "cairn: 1\nstart: {run: %s, time: last}\n%s0.12}\n", f.path,
                 same);
        cairn_run_summary second = run_text(half, NULL, g.path);
        CHECK_INT(second.steps, 30);
        CHECK_NEAR(second.time, 0.24, 1e-15);
        CHECK(second.hash == hash);
        if (getenv("CAIRN_CHECK"))
            CHECK_INT(full_verdict(&g), CERTIFIED);
        folder_remove(f.path);
        folder_remove(g.path);
    }
}

/* A cube rests on a floor in a gravity that is tilted by atan 0.3. With mu 0.5 it stays; with 0.2
 * it slides at a = g cos (0.3 - 0.2), g cos = 10. */
static const char *const slope =
    "cairn: 1\ngravity: [3, 0, -10]\nmaterials: {rock: {friction: 0.5}, other: {}}\n"
    "bodies:\n  - {name: floor, motion: fixed, material: rock, shape: half_space}\n"
    "  - {name: cube, material: rock, shape: {box: {size: [1, 1, 1]}}, position: [0, 0, 0.5]}\n"
    "run: {time_step: 4e-3, duration: 0.12, tolerance: 1e-9, paraview: false, picture: false}\n";

TEST(a_start_changes_materials)
{
    folder f = folder_create();
    CHECK(run_text(slope, NULL, f.path).displacement < 1e-6);
    cairn_scene *s = scene_text_good(
        start_text(&f, "", "materials: {rock: {friction: 0.2}, new: {friction: 1}}\n"),
        "run.tolerance=1e-9");
    CHECK_INT(s->material_count, 3);
    CHECK_TEXT(s->material_names[0], "rock");
    CHECK_TEXT(s->material_names[2], "new");
    CHECK_NEAR(cairn_world_time(s->world), 0.12, 1e-15);
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    int row = cairn_body_row(s->world, (cairn_body_id){ 1 });
    CHECK_NEAR(cairn_world_bodies(s->world).v[row].x, 1.0 * 0.12, 1e-6);
    cairn_scene_destroy(s);
    /* and gravity: without a slope it stays, with any friction */
    s = scene_text_good(start_text(&f, "", "gravity: [0, 0, -10]\n"), NULL);
    CHECK_NEAR(cairn_world_gravity(s->world).x, 0, 0);
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

TEST(a_start_removes_replaces_and_adds_bodies)
{
    folder f = folder_create();
    run_text(slope, NULL, f.path);
    /* without the floor the cube falls freely: v = g t */
    cairn_scene *s = scene_text_good(
        start_text(&f, ", remove: [floor]",
                   "bodies:\n  - {name: ball, material: other, shape: {sphere: {radius: 0.1}},\n"
                   "     position: [5, 0, 0]}\n"),
        NULL);
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    cairn_bodies b = cairn_world_bodies(s->world);
    CHECK_INT(b.count, 2);
    CHECK_NEAR(b.v[cairn_body_row(s->world, (cairn_body_id){ 1 })].z, -10 * 0.12, 1e-5);
    CHECK_TEXT(s->body_names[2], "ball");
    CHECK(s->body_names[0] == NULL);
    cairn_scene_destroy(s);
    /* a body of the same name takes the place of the old one */
    s = scene_text_good(start_text(&f, "",
                                   "bodies:\n  - {name: floor, motion: driven, material: other,\n"
                                   "     shape: half_space, drivers: [{velocity: {velocity: [0, 0, "
                                   "-1]}}]}\njoints: [{ball: {a: cube, anchor: [0, 0, 1]}}]\n"),
                        NULL);
    CHECK_INT(cairn_world_bodies(s->world).count, 2);
    CHECK_INT(cairn_body_row(s->world, (cairn_body_id){ 0 }), -1);
    CHECK_TEXT(s->body_names[2], "floor");
    CHECK_INT(cairn_world_joint_count(s->world), 1);
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

/* A number takes the place of a function of time; what the scene does not name still varies. */
TEST(a_start_changes_functions_of_time)
{
    folder f = folder_create();
    run_text(scene_flow, NULL, f.path);
    cairn_scene *s = scene_text_good(start_text(&f, "", ""), NULL);
    CHECK(cairn_world_varies(s->world, CAIRN_VARIED_GRAVITY_X));
    CHECK(cairn_world_varies(s->world, CAIRN_VARIED_FRICTION));
    cairn_scene_destroy(s);
    s = scene_text_good(start_text(&f, "",
                                   "gravity: [0, 4 * t, -5]\n"
                                   "materials: {rock: {friction: 0.7}}\n"),
                        NULL);
    cairn_material_def rock;
    CHECK(!cairn_world_varies(s->world, CAIRN_VARIED_GRAVITY_X));
    CHECK(!cairn_world_varies(s->world, CAIRN_VARIED_GRAVITY_Z));
    CHECK(!cairn_world_varies(s->world, CAIRN_VARIED_FRICTION));
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    CHECK_NEAR(cairn_world_gravity(s->world).y, 4 * (0.24 - 0.002), 1e-12); /* of the last step */
    CHECK_NEAR(cairn_world_gravity(s->world).z, -5, 0);
    CHECK_OK(cairn_material_get(s->world, 0, &rock));
    CHECK_NEAR(rock.friction, 0.7, 0);
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

/* New inlets and outlets are numbered after those of the state, which keep their names. */
TEST(a_start_keeps_inlets_and_outlets)
{
    folder f = folder_create();
    run_text(scene_flow, NULL, f.path);
    cairn_scene *s = scene_text_good(
        start_text(&f, "",
                   "generators: [{pour: {name: side, count: 2, rate: 9 * t, centre: [5, 0, 9],\n"
                   "  size: [1, 1, 1], radius: 0.1}}]\n"
                   "outlets: [{height: {name: deep, below: -3, to: top}}]\n"
                   "drivers: [{bodies: [floor], drivers: [velocity: {velocity: [0, 0, 1]}]}]\n"
                   "events: [{when: {flow_stops: {outlet: deep, for: 1}}, do: {open: floor}}]\n"),
        NULL);
    CHECK_INT(s->inlet_count, 2);
    CHECK_TEXT(s->inlet_names[0], "top");
    CHECK_TEXT(s->inlet_names[1], "side");
    CHECK_INT(cairn_world_outlet_count(s->world), 2);
    CHECK_INT(s->events[0].outlet, 1);
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    CHECK_NEAR(cairn_world_bodies(s->world).v[0].z, 1, 1e-12); /* the floor's new driver */
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

/* The state that an event saved: the gate is gone, and its name with it. */
TEST(a_start_from_the_state_of_an_event)
{
    folder f = folder_create();
    cairn_scene *s;
    cairn_error said = { 0 };
    run_text(scene_events, NULL, f.path);
    s = scene_text_good(start_text(&f, "/empty.state", ""), NULL);
    CHECK_INT(cairn_world_bodies(s->world).count, 2); /* lid and ball */
    CHECK_TEXT(s->body_names[3], "lid");
    CHECK_TEXT(s->outlet_names[0], "pit");
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    CHECK(scene_text_load(start_text(&f, "/empty.state",
                                     "events: [{when: {time: {at: 1}}, do: {open: gate}}]\n"),
                          NULL, &s, &said) != CAIRN_OK);
    CHECK_CONTAINS(said.message, "unknown body 'gate'");
    folder_remove(f.path);
}

/* What frames do not have: counts of outlets, and integrals of speeds. */
TEST(a_start_does_not_go_back_without_what_it_needs)
{
    folder f = folder_create();
    cairn_scene *s;
    cairn_error said = { 0 };
    run_text(scene_events, NULL, f.path);
    CHECK(scene_text_load(start_text(&f, ", time: 0", ""), NULL, &s, &said) == CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(said.message, "the run has outlets");
    run_text("cairn: 1\nbodies:\n  - {motion: driven, shape: {sphere: {radius: 1}},\n"
             "     drivers: [motion: {vz: cos(t)}]}\n"
             "run: {time_step: 4e-3, duration: 0.12, frame_interval: 0.02, paraview: false}\n",
             NULL, f.path);
    CHECK(scene_text_load(start_text(&f, ", time: 0.06", ""), NULL, &s, &said) ==
          CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(said.message, "a driver follows a speed");
    folder_remove(f.path);
}

/* Balls that are thrown; one more comes through an inlet after the frame at 0.06 s. */
TEST(a_start_goes_back_to_a_frame)
{
    folder f = folder_create();
    run_text(
        "cairn: 1\ndimension: 2\nbodies:\n"
        "  - {name: a, shape: {sphere: {radius: 0.1}}, velocity: [1, 2], angular_velocity: 3}\n"
        "generators: [{pour: {count: 1, rate: 10, start: 0.08, centre: [9, 0], size: [1, 1], "
        "radius: 0.1}}]\n"
        "run: {time_step: 4e-3, duration: 0.12, frame_interval: 0.02, paraview: false}\n",
        NULL, f.path);
    cairn_scene *s = scene_text_good(start_text(&f, ", time: 0.06", ""), NULL);
    cairn_bodies b = cairn_world_bodies(s->world);
    CHECK_INT(b.count, 1);
    CHECK_NEAR(cairn_world_time(s->world), 0.06, 1e-15);
    CHECK_NEAR(b.v[0].y, 2 - 9.81 * 0.06, 1e-14);
    CHECK_NEAR(b.x[0].x, 0.06, 1e-15);
    CHECK_NEAR(b.angle[0], 0.18, 1e-15);
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    b = cairn_world_bodies(s->world);
    CHECK_NEAR(b.v[0].y, 2 - 9.81 * 0.18, 1e-14);
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

TEST(wrong_starts_are_refused_at_their_place)
{
    folder f = folder_create();
    static const struct {
        const char *more, *rest;
        int line, column;
        const char *message;
    } wrong[] = {
        { ", time: 5", "", 2, 0, "no frame at 5 s; the nearest is at 0.12 s (4 frames" },
        { ", time: soon", "", 2, 0, "found 'soon', expected last or a time in s" },
        { ", remove: [flor]", "", 2, 0, "unknown body 'flor'; did you mean 'floor'?" },
        { ", remove: floor", "", 2, 0, "expected a list of names of bodies" },
        { ", frame: 3", "", 2, 0, "unknown key 'frame'" },
        { "", "dimension: 2\n", 3, 12, "expected 3, the dimension of the state" },
        { "/none", "", 2, 14, "there is no folder" },
        { "/run.h5", "", 2, 14, "this is not a state" },
        { "/paraview", "", 2, 14, "has no file 'state'" },
    };
    run_text(slope, NULL, f.path);
    CHECK_INT(mkdir(path_in(&f, "paraview").text, 0777), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cairn_scene *s;
        cairn_error said = { 0 };
        CHECK(scene_text_load(start_text(&f, wrong[i].more, wrong[i].rest), NULL, &s, &said) !=
              CAIRN_OK);
        CHECK_CONTAINS(said.message, wrong[i].message);
        CHECK_INT(said.line, wrong[i].line);
        CHECK(wrong[i].column == 0 || wrong[i].column == said.column);
    }
    run_text(slope, "run.state=false", f.path);
    CHECK(!file_exists(&f, "state"));
    folder_remove(f.path);
}

/* Every file that is cut short or has a changed byte is refused, and nothing crashes. */
TEST(damaged_states_are_refused)
{
    folder f = folder_create();
    struct stat about;
    uint64_t random = 7;
    run_text(slope, NULL, f.path);
    CHECK_INT(stat(path_in(&f, "state").text, &about), 0);
    const path kept = path_in(&f, "kept"), state = path_in(&f, "state");
    CHECK_INT(rename(state.text, kept.text), 0);
    for (int i = 0; i < 60; i++) {
        cairn_scene *s;
        cairn_error said = { 0 };
        FILE *from = fopen(kept.text, "rb"), *to = fopen(state.text, "wb");
        long size = i < 30 ? (long)(draw(&random) % (uint64_t)about.st_size) : about.st_size;
        long changed = i < 30 ? -1 : (long)(draw(&random) % (uint64_t)about.st_size);
        for (long k = 0; k < size; k++)
            fputc(fgetc(from) ^ (k == changed ? 1 + (int)(draw(&random) % 255) : 0), to);
        fclose(from);
        fclose(to);
        CHECK(scene_text_load(start_text(&f, "", ""), NULL, &s, &said) != CAIRN_OK);
        CHECK_INT(said.line, 2);
        CHECK_CONTAINS(said.message, f.path);
    }
    folder_remove(f.path);
}

GROUP(test_start)
{
    RUN(CASE(a_start_that_changes_nothing_goes_on_bit_for_bit), CASE(a_start_changes_materials),
        CASE(a_start_removes_replaces_and_adds_bodies), CASE(a_start_goes_back_to_a_frame),
        CASE(wrong_starts_are_refused_at_their_place), CASE(damaged_states_are_refused),
        CASE(a_start_changes_functions_of_time), CASE(a_start_keeps_inlets_and_outlets),
        CASE(a_start_from_the_state_of_an_event),
        CASE(a_start_does_not_go_back_without_what_it_needs));
}
