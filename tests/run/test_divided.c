/* test_divided.c - runs in which bodies move too far for the time step: their steps are divided,
 * each substep is a row of the run, and all else is as if no step had been divided. */
#include "cairn/run.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"

/* Boxes that come down at 20 m/s, 0.2 m in a step, on a floor and a paddle that shakes; balls that
 * are poured onto them; friction that changes with time. */
static const char *const scene_fast =
    "cairn: 1\n"
    "materials:\n"
    "  a: {friction: {ramp: {from: 0.6, to: 0.2, start: 0, stop: 0.2}}, restitution: 0.2}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: half_space}\n"
    "  - {motion: driven, shape: {box: {size: [1, 1, 0.1]}}, position: [1.5, 0, 0.1],\n"
    "     drivers: [{shake: {amplitude: [0.05, 0, 0.02], frequency: 3}}]}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 1, position: [0, 0, 0.29],\n"
    "     velocity: [1, 0, -20], angular_velocity: [1, 2, 0]}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 2, position: [0.03, 0, 0.69],\n"
    "     velocity: [0, 0, -20]}\n"
    "  - {shape: {box: {size: [0.2, 0.3, 0.2]}}, mass: 2, position: [1.3, 0, 2.5],\n"
    "     velocity: [0, 0, -20], angular_velocity: [0, 3, 0],\n"
    "     loads: [{constant: {force: [0, 2, 0]}}]}\n"
    "generators:\n"
    "  - pour: {count: 6, rate: 40, centre: [0.5, 0, 2], size: [1, 0.5, 0.1], radius: 0.05,\n"
    "           velocity: [0, 0, -25], seed: 2}\n"
    "series: [{name: all, low: [-9, -9, -9], high: [9, 9, 9]},\n"
    "         {name: mean, low: [-9, -9, -9], high: [9, 9, 0.5], interval: 0.037}]\n"
    "run: {time_step: 0.01, duration: 0.3, frame_interval: 0.05, certificate: full,\n"
    "      statistics: [energy, centre], checkpoint_every: 0.02, paraview: false, picture: false}\n";

enum { STEPS = 30, MOST_ROWS = 1000 };

static bool stop_after(const cairn_progress *progress, void *context)
{
    const int *rows = context;
    return progress->step < *rows;
}

/* As far as `rows` steps and substeps; its summary. */
static cairn_run_summary run_until(const folder *f, const char *override, int rows)
{
    cairn_scene *scene = scene_text_good(scene_fast, override);
    cairn_run_summary summary;
    cairn_error error = { 0 };
    if (cairn_run(scene, f ? f->path : NULL, stop_after, &rows, &summary, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    cairn_scene_destroy(scene);
    return summary;
}

static uint64_t resume(const folder *f)
{
    cairn_scene *scene;
    cairn_run_summary summary;
    const cairn_resume_options options = { .threads = 1 };
    CHECK_OK(cairn_run_resume(f->path, &options, &scene, &summary, NULL));
    cairn_scene_destroy(scene);
    return summary.hash;
}

static long read_steps(const folder *f, const char *name, double numbers[MOST_ROWS])
{
    return h5_numbers(path_in(f, "run.h5").text, name, numbers, MOST_ROWS);
}

/* Each substep is a row with its own length, certified like any other; frames are where they were
 * asked for; times of whole steps are n h to the bit, and the totals say what was done. */
TEST(substeps_are_rows_of_the_run_and_certified)
{
    folder f = folder_create();
    double length[MOST_ROWS], time[MOST_ROWS], frame[MOST_ROWS];
    cairn_run_summary s = run_until(&f, NULL, MOST_ROWS);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    CHECK(s.divided >= 2 && s.substeps >= 2 * s.divided && s.finest >= 2);
    CHECK_INT(s.steps - s.substeps + s.divided, STEPS);
    CHECK_INT(read_steps(&f, "steps/time_step", length), s.steps);
    CHECK_INT(read_steps(&f, "steps/time", time), s.steps);
    double done = 0;
    for (int i = 0; i < s.steps; i++) {
        done += length[i] / 0.01;
        CHECK_NEAR(time[i], done * 0.01, 0);
    }
    CHECK_NEAR(done, STEPS, 0);
    CHECK_INT(read_steps(&f, "frames/time", frame), 7);
    for (int k = 0; k < 7; k++)
        CHECK_NEAR(frame[k], 5 * k * 0.01, 0);
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"divided\": ");
    folder_remove(f.path);
}

TEST(threads_change_no_bit_of_it)
{
    CHECK(run_until(NULL, "run.threads=1", MOST_ROWS).hash ==
          run_until(NULL, "run.threads=2", MOST_ROWS).hash);
}

/* Stopped within a divided step and after it, and killed later: the file is that of a run that was
 * left alone. */
TEST(a_run_that_stops_within_a_step_goes_on_to_the_same_end)
{
    folder whole = folder_create();
    double length[MOST_ROWS];
    cairn_run_summary s = run_until(&whole, NULL, MOST_ROWS);
    read_steps(&whole, "steps/time_step", length);
    int first = 1;
    while (length[first - 1] == 0.01)
        first++;
    for (int rows = first; rows < first + 3; rows++) {
        folder f = folder_create(), later = folder_create();
        run_until(&f, NULL, rows);
        CHECK(file_exists(&f, "checkpoint"));
        run_until(&later, NULL, rows + 4);
        CHECK_INT(rename(path_in(&f, "checkpoint").text, path_in(&later, "checkpoint").text), 0);
        CHECK(resume(&later) == s.hash);
        CHECK(check_same_h5(&whole, &later) > 80);
        CHECK_INT(full_verdict(&later), CERTIFIED);
        folder_remove(f.path);
        folder_remove(later.path);
    }
    folder_remove(whole.path);
}

/* The rest of a world that was left within a step belongs to no step of a new run. */
TEST(a_run_begins_with_a_whole_step)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_fast, NULL);
    CHECK_OK(cairn_world_substep(scene->world, &scene->step, NULL));
    CHECK(cairn_world_in_step(scene->world));
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    CHECK_INT(full_verdict(&f), CERTIFIED);
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

/* A caller's step is a whole one, with one report. */
TEST(a_loop_of_the_caller_takes_whole_steps)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_fast, NULL);
    cairn_running *run;
    cairn_run_summary summary;
    cairn_step_report report;
    int steps = 0, substeps = 0;
    CHECK_OK(cairn_run_begin(scene, f.path, &run, NULL));
    while (cairn_run_goes_on(run)) {
        CHECK_OK(cairn_run_step(run, &report, NULL));
        steps++;
        substeps += report.substeps;
        CHECK_NEAR(cairn_world_time(scene->world), steps * 0.01, 0);
    }
    CHECK_OK(cairn_run_end(&run, &summary, NULL));
    CHECK_INT(steps, STEPS);
    CHECK_INT(substeps, summary.steps);
    CHECK(summary.hash == run_until(NULL, NULL, MOST_ROWS).hash);
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

/* A length that is no substep, one that is another one, and a bound that forbids it. */
TEST(lengths_of_steps_cannot_be_changed)
{
    folder f = folder_create();
    run_until(&f, NULL, MOST_ROWS);
    CHECK_INT(verdict(&f), CERTIFIED);
    const double wrong[] = { 0.004999, 0.0025, 0.01 };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        double old = swap_number(&f, "steps/time_step", 0, &wrong[i]);
        CHECK_NEAR(old, 0.005, 0);
        CHECK(verdict(&f) != CERTIFIED);
        swap_number(&f, "steps/time_step", 0, &old);
    }
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

/* Without division, and where none is fine enough, the run ends as it did before. */
TEST(a_run_that_no_division_helps_ends_and_is_kept)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_fast, "run.max_substeps=1");
    cairn_run_summary summary;
    cairn_error error = { 0 };
    CHECK_INT(cairn_run(scene, f.path, NULL, NULL, &summary, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "step 1 from t = 0 s failed: body 2 would move by 0.312 m relative to body 3 in one step");
    CHECK(file_exists(&f, "run.h5"));
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

GROUP(test_divided)
{
    RUN(CASE(substeps_are_rows_of_the_run_and_certified), CASE(threads_change_no_bit_of_it),
        CASE(a_run_that_stops_within_a_step_goes_on_to_the_same_end),
        CASE(a_run_begins_with_a_whole_step), CASE(a_loop_of_the_caller_takes_whole_steps),
        CASE(lengths_of_steps_cannot_be_changed),
        CASE(a_run_that_no_division_helps_ends_and_is_kept));
}
