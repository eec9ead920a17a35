/* test_checkpoint.c - runs that stop and go on, and what is read from runs. */
#include <signal.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "cairn/run.h"
#include "run/output.h"
#include "run/run_file.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"

/* ==== test_checkpoint: a run that stops and goes on, and checkpoints that cannot be used ====== */

/* Stops after `steps` steps. */
static bool stop_after(const cairn_progress *progress, void *context)
{
    const int *steps = context;
    return progress->step < *steps;
}

/* A run of 60 steps that is stopped cleanly after `steps`. */
static void run_partly(const folder *f, const char *text, const char *override, int steps)
{
    cairn_scene *scene = scene_text_good(text, override);
    cairn_run_summary summary;
    CHECK_OK(cairn_run(scene, f->path, stop_after, &steps, &summary, NULL));
    CHECK(summary.interrupted);
    cairn_scene_destroy(scene);
}

static cairn_status resume(const folder *f, cairn_run_summary *summary, cairn_error *error)
{
    cairn_scene *scene;
    const cairn_resume_options options = { .threads = 1 };
    cairn_status status = cairn_run_resume(f->path, &options, &scene, summary, error);
    cairn_scene_destroy(scene);
    return status;
}

static uint64_t whole_hash(const char *text, const char *override)
{
    cairn_scene *scene = scene_text_good(text, override);
    cairn_run_summary summary;
    CHECK_OK(cairn_run(scene, NULL, NULL, NULL, &summary, NULL));
    cairn_scene_destroy(scene);
    return summary.hash;
}

TEST(a_run_that_was_stopped_goes_on_to_the_same_end)
{
    static const int steps[] = { 1, 7, 33, 59 };
    uint64_t hash = whole_hash(scene_3d, NULL);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        folder f = folder_create();
        cairn_run_summary summary;
        run_partly(&f, scene_3d, NULL, steps[i]);
        CHECK(file_exists(&f, "checkpoint"));
        CHECK_OK(resume(&f, &summary, NULL));
        CHECK(summary.hash == hash);
        CHECK_INT(summary.steps, 60);
        CHECK_INT(summary.frames, 13);
        CHECK(!file_exists(&f, "checkpoint"));
        CHECK_INT(full_verdict(&f), CERTIFIED); /* every row of the file, across the seam */
        folder_remove(f.path);
    }
}

/* Everything there is to write, of the scenes with joints and with shapes. */
static const char *const all[] = { "run.paraview=true",
                                   "run.certificate=full",
                                   "run.statistics=[centre, coordination, surface, energy]",
                                   "run.checkpoint_every=0.05",
                                   "measure={bins: 5}",
                                   "series=[{name: box, low: [-1, -1, -1], high: [1, 1, 0.5]}, "
                                   "{name: mean, low: [-9, -9, -9], high: [9, 9, 9], interval: "
                                   "0.037}]" };

static cairn_scene *load_with_all(const char *text)
{
    cairn_scene *scene = NULL;
    cairn_error error = { 0 };
    scene_text_write(text, strlen(text));
    if (cairn_scene_load(scene_text_path(), all, 6, &scene, &error) != CAIRN_OK)
        fail_msg("%s: %s", error.key, error.message);
    remove(scene_text_path());
    return scene;
}

static void run_with_all(const folder *f, const char *text, int steps)
{
    cairn_scene *scene = load_with_all(text);
    CHECK_OK(cairn_run(scene, f->path, stop_after, &steps, NULL, NULL));
    cairn_scene_destroy(scene);
}

/* Stopped at a frame, between frames, before the first checkpoint, twice: run.h5, statistics,
 * ParaView and totals are those of the run that was left alone. */
TEST(every_file_is_that_of_a_run_that_never_stopped)
{
    const char *const scenes[] = { scene_machine, scene_shapes };
    static const int steps[] = { 1, 20, 33 };
    for (size_t k = 0; k < 2; k++) {
        folder whole = folder_create();
        run_with_all(&whole, scenes[k], 1000);
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            folder f = folder_create();
            run_with_all(&f, scenes[k], steps[i]);
            CHECK_OK(resume(&f, NULL, NULL));
            CHECK(check_same_h5(&whole, &f) > 80);
            CHECK_INT(check_same_files(&whole, &f, "statistics"), 4);
            CHECK_INT(check_same_files(&whole, &f, "series"), 2);
            CHECK(check_same_files(&whole, &f, "paraview") > 40);
            check_same_lines(&whole, &f, "summary.json");
            folder_remove(f.path);
        }
        folder_remove(whole.path);
    }
}

/* Every total that a step adds to, as summary.json tells them: one that no table of checkpoint.c
 * names is seen here. */
TEST(every_total_is_kept)
{
    folder f = folder_create(), g = folder_create();
    const cairn_run_ending ending = { "complete", "" };
    cairn_scene *scene = scene_text_good(scene_2d, NULL), *again = NULL;
    cairn_run_output none = { .folder = NULL }, output = { .folder = NULL };
    cairn_run_marks marks = { .start = 0.5, .next_frame = 3, .stored = 7, .slow_steps = 2 };
    cairn_run_marks found = { .team = NULL };
    memset(&marks.summary, 0x11, sizeof marks.summary);
    marks.summary.interrupted = marks.summary.has_packing = false;
    CHECK_OK(cairn_checkpoint_write(f.path, scene, &marks, &none, NULL));
    CHECK_OK(cairn_checkpoint_read(f.path, &again, &found, &output, NULL));
    CHECK(found.start == 0.5 && found.next_frame == 3 && found.stored == 7);
    CHECK_INT(found.slow_steps, 2);
    /* found at the end of a run */
    found.summary.displacement = marks.summary.displacement;
    found.summary.displaced = marks.summary.displaced;
    found.summary.hash = marks.summary.hash;
    found.summary.ranks = marks.summary.ranks;
    found.summary.inlets = marks.summary.inlets;
    CHECK_OK(cairn_run_summary_write(&marks.summary, scene, &ending, f.path, NULL));
    CHECK_OK(cairn_run_summary_write(&found.summary, again, &ending, g.path, NULL));
    check_same_lines(&f, &g, "summary.json");
    CHECK_INT(found.summary.worst.judgement.asked.worst_contact, 0x11111111);
    cairn_memory_free(found.places);
    cairn_run_output_destroy(&output);
    cairn_scene_destroy(scene);
    cairn_scene_destroy(again);
    folder_remove(f.path);
    folder_remove(g.path);
}

/* The state at a checkpoint counts, not what was written later. */
TEST(what_was_written_after_the_checkpoint_is_written_again)
{
    folder f = folder_create();
    cairn_run_summary summary;
    run_partly(&f, scene_2d, "run.checkpoint_every=0.04", 33);
    /* the checkpoint of step 30, as a kill at step 33 would leave it: from a run of 30 steps */
    folder early = folder_create();
    run_partly(&early, scene_2d, "run.checkpoint_every=0.04", 30);
    CHECK_INT(rename(path_in(&early, "checkpoint").text, path_in(&f, "checkpoint").text), 0);
    CHECK_OK(resume(&f, &summary, NULL));
    CHECK(summary.hash == whole_hash(scene_2d, NULL));
    CHECK_INT(full_verdict(&f), CERTIFIED);
    folder_remove(early.path);
    folder_remove(f.path);
}

TEST(a_finished_run_says_so)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    run_into(&f, scene_2d, "run.checkpoint_every=0.1");
    CHECK_INT(resume(&f, NULL, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "this run is finished (complete, t = 0.24 s)");
    folder_remove(f.path);
}

/* Killed after run.h5 got its name, before the checkpoint was removed. */
TEST(a_checkpoint_of_a_finished_run_is_removed)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    run_partly(&f, scene_2d, NULL, 20);
    CHECK_INT(rename(path_in(&f, "checkpoint").text, path_in(&f, "kept").text), 0);
    run_into(&f, scene_2d, NULL);
    CHECK_INT(rename(path_in(&f, "kept").text, path_in(&f, "checkpoint").text), 0);
    CHECK_INT(resume(&f, NULL, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "this run is finished");
    CHECK(!file_exists(&f, "checkpoint"));
    folder_remove(f.path);
}

TEST(a_folder_without_a_checkpoint_says_what_makes_one)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    CHECK_INT(resume(&f, NULL, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "run.checkpoint_every");
    folder_remove(f.path);
}

static void change_byte(const folder *f, long at, int byte)
{
    FILE *file = fopen(path_in(f, "checkpoint").text, "r+b");
    fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(byte, file);
    fclose(file);
}

TEST(checkpoints_that_are_damaged_or_of_another_version_are_refused)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    struct stat about;
    run_partly(&f, scene_2d, NULL, 20);
    CHECK_INT(stat(path_in(&f, "checkpoint").text, &about), 0);
    change_byte(&f, 16, 11);
    CHECK_INT(resume(&f, NULL, &error), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "version 11, expected 10");
    CHECK_CONTAINS(error.file, "checkpoint");
    change_byte(&f, 16, 10);
    change_byte(&f, about.st_size / 2, 0x5a);
    change_byte(&f, about.st_size / 2 + 1, 0xa5);
    CHECK_INT(resume(&f, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "check sum");
    CHECK_INT(truncate(path_in(&f, "checkpoint").text, about.st_size - 100), 0);
    CHECK_INT(resume(&f, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "damaged: found ");
    CHECK_INT(truncate(path_in(&f, "checkpoint").text, 10), 0);
    CHECK_INT(resume(&f, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "not a checkpoint");
    CHECK(file_exists(&f, "run.h5")); /* untouched */
    folder_remove(f.path);
}

/* A checkpoint that cannot be written ends the run with an error; the one before stays. */
TEST(a_folder_that_cannot_be_written_to_is_an_error)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    cairn_scene *scene = scene_text_good(scene_2d, "run.checkpoint_every=0.1");
    CHECK_INT(mkdir(path_in(&f, "checkpoint.part").text, 0777), 0); /* in the way */
    CHECK_INT(cairn_run(scene, f.path, NULL, NULL, NULL, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "checkpoint");
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

TEST(a_new_run_forgets_the_checkpoint_of_an_old_one)
{
    folder f = folder_create();
    run_partly(&f, scene_2d, NULL, 20);
    cairn_scene *scene = scene_text_good(scene_2d, NULL);
    int steps = 1;
    scene->step.solver = "no such solver";
    CHECK(cairn_run(scene, f.path, stop_after, &steps, NULL, NULL) != CAIRN_OK);
    CHECK(file_exists(&f, "checkpoint")); /* it never began */
    scene->step.solver = "auto";
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    CHECK(!file_exists(&f, "checkpoint"));
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

GROUP(test_checkpoint)
{
    RUN(CASE(a_run_that_was_stopped_goes_on_to_the_same_end),
        CASE(every_file_is_that_of_a_run_that_never_stopped), CASE(every_total_is_kept),
        CASE(what_was_written_after_the_checkpoint_is_written_again), CASE(a_finished_run_says_so),
        CASE(a_checkpoint_of_a_finished_run_is_removed),
        CASE(a_folder_without_a_checkpoint_says_what_makes_one),
        CASE(checkpoints_that_are_damaged_or_of_another_version_are_refused),
        CASE(a_folder_that_cannot_be_written_to_is_an_error),
        CASE(a_new_run_forgets_the_checkpoint_of_an_old_one));
}

/* ==== test_recording: rows of any column of a run, what cannot be asked for, and a run that is
 * under way. */

/* Ball 3 begins at z = 0.4; six frames of a half-space and three balls. */
static folder run_create(void)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.run.paraview = s.run.picture = false;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    scene_destroy(&s);
    return f;
}

static const cairn_recording_rows first_places = { "frames/bodies/x", CAIRN_NUMBER_DOUBLE, 3, 1 };

TEST(rows_come_one_range_after_the_other_from_multiples_of_8_bytes)
{
    folder f = run_create();
    cairn_recording *r;
    const void *data;
    size_t bytes;
    CHECK_OK(cairn_recording_open(f.path, &r, NULL));
    CHECK(!cairn_recording_grows(r));
    const cairn_recording_rows rows[] = {
        { "frames/bodies/index", CAIRN_NUMBER_INT, 0, 3 }, /* 12 bytes, filled up to 16 */
        { "frames/bodies/x", CAIRN_NUMBER_FLOAT, 3, 1 },   /* the same                  */
        first_places,
    };
    CHECK_OK(cairn_recording_read(r, rows, 3, &data, &bytes, NULL));
    CHECK_INT(bytes, 16 + 16 + 24);
    CHECK_INT(((const int32_t *)data)[2], 2);
    CHECK_INT(((const int32_t *)data)[3], 0);
    CHECK_NEAR(((const float *)data)[4 + 2], 0.4, 1e-7);
    CHECK_NEAR(((const double *)data)[4 + 2], 0.4, 0);
    cairn_recording_close(r);
    folder_remove(f.path);
}

TEST(a_column_is_told_by_rows_width_and_kind)
{
    folder f = run_create();
    cairn_recording *r;
    cairn_recording_column c;
    CHECK_OK(cairn_recording_open(f.path, &r, NULL));
    CHECK_OK(cairn_recording_look(r, "frames/bodies/x", &c, NULL));
    CHECK_INT(c.rows, 24);
    CHECK_INT(c.width, 3);
    CHECK(!c.whole);
    CHECK_OK(cairn_recording_look(r, "bodies/motion", &c, NULL));
    CHECK(c.whole && c.rows == 4 && c.width == 1);
    CHECK_INT(cairn_recording_look(r, "bodies/nothing", &c, NULL), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_recording_look(r, "materials/name", &c, NULL), CAIRN_NOT_FOUND);
    cairn_recording_close(r);
    folder_remove(f.path);
}

/* The scene of the run has no names of materials; a column of numbers has no texts. */
TEST(names_are_texts)
{
    folder f = run_create();
    cairn_recording *r;
    const char *const *texts;
    int count;
    CHECK_OK(cairn_recording_open(f.path, &r, NULL));
    CHECK_OK(cairn_recording_texts(r, "checksums/name", &texts, &count, NULL));
    CHECK(count > 10);
    CHECK_INT(texts[0][0], '/');
    CHECK_OK(cairn_recording_texts(r, "materials/name", &texts, &count, NULL));
    CHECK_INT(count, 0);
    CHECK_INT(cairn_recording_texts(r, "steps/kinetic", &texts, &count, NULL), CAIRN_BAD_INPUT);
    cairn_recording_close(r);
    folder_remove(f.path);
}

TEST(what_is_not_there_is_refused_by_name)
{
    folder f = run_create();
    cairn_recording *r;
    const void *data;
    size_t bytes;
    CHECK_OK(cairn_recording_open(path_in(&f, "run.h5").text, &r, NULL));
    static const struct {
        cairn_recording_rows rows;
        cairn_status status;
    } cases[] = {
        { { "frames/bodies/nothing", CAIRN_NUMBER_FLOAT, 0, 1 }, CAIRN_BAD_INPUT },
        { { "nowhere/x", CAIRN_NUMBER_FLOAT, 0, 1 }, CAIRN_BAD_INPUT },
        { { "x", CAIRN_NUMBER_FLOAT, 0, 1 }, CAIRN_BAD_INPUT },
        { { "frames/bodies/x", CAIRN_NUMBER_FLOAT, 24, 1 }, CAIRN_BAD_INPUT },
        { { "frames/bodies/x", CAIRN_NUMBER_FLOAT, -1, 1 }, CAIRN_BAD_INPUT },
        { { "frames/bodies/x", CAIRN_NUMBER_INT, 0, 1 }, CAIRN_BAD_INPUT },
        { { "materials/name", CAIRN_NUMBER_FLOAT, 0, 1 }, CAIRN_BAD_INPUT },
        { { "frames/bodies/x", CAIRN_NUMBER_DOUBLE, 0, 3 << 20 }, CAIRN_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cairn_error error = { 0 };
        CHECK_INT(cairn_recording_read(r, &cases[i].rows, 1, &data, &bytes, &error),
                  cases[i].status);
        CHECK(error.message[0] != '\0');
    }
    cairn_recording_close(r);
    folder_remove(f.path);
}

TEST(a_folder_without_a_run_is_refused)
{
    folder f = folder_create();
    cairn_recording *r;
    cairn_error error = { 0 };
    CHECK_INT(cairn_recording_open(f.path, &r, &error), CAIRN_NOT_FOUND);
    CHECK(r == NULL);
    file_write(&f, "run.h5", "this is no HDF5");
    CHECK_INT(cairn_recording_open(f.path, &r, &error), CAIRN_BAD_INPUT);
    folder_remove(f.path);
}

TEST(the_description_names_columns_attributes_and_texts)
{
    folder f = run_create();
    cairn_recording *r;
    char text[60000];
    FILE *out = tmpfile();
    CHECK_OK(cairn_recording_open(f.path, &r, NULL));
    CHECK_OK(cairn_recording_describe(r, out, NULL));
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    CHECK_CONTAINS(text, "\"grows\": false");
    CHECK_CONTAINS(text, "\"gravity\": [0, 0, -9.81]");
    CHECK_CONTAINS(text, "\"ending\": \"complete\"");
    CHECK_CONTAINS(text, "\"frames/bodies/x\": {\n      \"rows\": 24,\n      \"width\": 3,\n      "
                         "\"whole\": false,\n      \"unit\": \"m\"\n    }");
    CHECK_CONTAINS(text, "\"names\": [\"dynamic\", \"fixed\", \"driven\"]");
    CHECK_CONTAINS(text, "\"materials/name\": [");
    CHECK(!strstr(text, "checksums"));
    cairn_recording_close(r);
    folder_remove(f.path);
}

/* ---- a run that is under way ---------------------------------------------------------------- */

static int64_t frames_now(cairn_recording *r)
{
    const cairn_recording_rows rows = { "frames/time", CAIRN_NUMBER_DOUBLE, 0, 1 };
    const void *data;
    size_t bytes;
    cairn_error error = { 0 };
    CHECK_OK(cairn_recording_read(r, &rows, 1, &data, &bytes, &error));
    return (int64_t)(bytes / 8);
}

/* The child holds a run in its middle until the pipe is closed. */
static bool wait_half_way(const cairn_progress *p, void *context)
{
    const int *pipe_ends = context;
    char byte = 0;
    if (p->step == 10) {
        CHECK_INT(write(pipe_ends[1], "x", 1), 1);
        CHECK_INT(read(pipe_ends[2], &byte, 1), 0);
    }
    return true;
}

static void run_in_child(const char *folder_path, int *ends)
{
    cairn_scene s = scene_create(3);
    s.run.paraview = s.run.picture = false;
    close(ends[0]);
    close(ends[3]);
    cairn_status status = cairn_run(&s, folder_path, wait_half_way, ends, NULL, NULL);
    scene_destroy(&s);
    _exit(status == CAIRN_OK ? 0 : 1);
}

/* A process with a run that is held in its middle. */
typedef struct held_run {
    folder folder;
    pid_t process;
    int hold; /* closed: it goes on */
} held_run;

static held_run begin_run(void)
{
    held_run run = { .folder = folder_create() };
    char byte;
    int ends[4];
    CHECK(pipe(ends) == 0 && pipe(ends + 2) == 0);
    run.process = fork();
    if (run.process == 0)
        run_in_child(run.folder.path, ends);
    close(ends[1]);
    close(ends[2]);
    CHECK_INT(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    run.hold = ends[3];
    CHECK(file_exists(&run.folder, "run.h5.part"));
    return run;
}

/* Let it go on, or kill it; the code that it ends with. */
static int end_run(held_run *run, bool killed)
{
    int code;
    if (killed)
        kill(run->process, SIGKILL);
    close(run->hold);
    CHECK_INT(waitpid(run->process, &code, 0), run->process);
    return code;
}

TEST(a_run_under_way_is_read_by_another_process_and_then_as_the_finished_one)
{
    held_run run = begin_run();
    cairn_recording *r;
    const void *data;
    size_t bytes;
    CHECK_OK(cairn_recording_open(run.folder.path, &r, NULL));
    CHECK(cairn_recording_grows(r));
    CHECK_INT(frames_now(r), 1);
    CHECK_OK(cairn_recording_read(r, &first_places, 1, &data, &bytes, NULL));
    CHECK_NEAR(((const double *)data)[2], 0.4, 0);
    CHECK_INT(end_run(&run, false), 0);
    CHECK_OK(cairn_recording_read(r, &first_places, 1, &data, &bytes, NULL));
    CHECK(!cairn_recording_grows(r) && !cairn_recording_interrupted(r));
    CHECK_NEAR(((const double *)data)[2], 0.4, 0);
    cairn_recording_close(r);
    folder_remove(run.folder.path);
}

TEST(a_run_that_was_killed_is_not_under_way_and_can_be_read)
{
    held_run run = begin_run();
    cairn_recording *r;
    const void *data;
    size_t bytes;
    end_run(&run, true);
    CHECK_OK(cairn_recording_open(run.folder.path, &r, NULL));
    CHECK(!cairn_recording_grows(r) && cairn_recording_interrupted(r));
    CHECK_INT(frames_now(r), 1);
    CHECK_OK(cairn_recording_read(r, &first_places, 1, &data, &bytes, NULL));
    CHECK_NEAR(((const double *)data)[2], 0.4, 0);
    cairn_recording_close(r);
    folder_remove(run.folder.path);
}

TEST(a_run_that_is_killed_while_it_is_watched_is_found_out)
{
    held_run run = begin_run();
    cairn_recording *r;
    CHECK_OK(cairn_recording_open(run.folder.path, &r, NULL));
    CHECK(cairn_recording_grows(r) && !cairn_recording_interrupted(r));
    end_run(&run, true);
    CHECK_INT(frames_now(r), 1);
    CHECK(!cairn_recording_grows(r) && cairn_recording_interrupted(r));
    cairn_recording_close(r);
    folder_remove(run.folder.path);
}

/* Killed before its journal was complete: the file is as the last flush left it. */
TEST(a_journal_that_a_killed_run_left_does_not_hold_up_readers)
{
    held_run run = begin_run();
    cairn_recording *r;
    end_run(&run, true);
    file_write(&run.folder, "run.h5.part.journal", "cairn journal 2\ncut off");
    CHECK_OK(cairn_recording_open(run.folder.path, &r, NULL));
    CHECK_INT(frames_now(r), 1);
    CHECK(!file_exists(&run.folder, "run.h5.part.journal"));
    cairn_recording_close(r);
    folder_remove(run.folder.path);
}

TEST(no_memory_is_told_and_nothing_is_lost)
{
    folder f = run_create();
    meter m = { .fail_at = 1 };
    cairn_status status;
    do {
        cairn_recording *r;
        const void *data;
        size_t bytes;
        m.calls = 0;
        meter_install(&m);
        status = cairn_recording_open(f.path, &r, NULL);
        if (status == CAIRN_OK)
            status = cairn_recording_read(r, &first_places, 1, &data, &bytes, NULL);
        cairn_recording_close(r);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
        m.fail_at++;
    } while (status != CAIRN_OK);
    CHECK(m.fail_at > 3);
    folder_remove(f.path);
}

GROUP(test_recording)
{
    RUN(CASE(rows_come_one_range_after_the_other_from_multiples_of_8_bytes),
        CASE(a_column_is_told_by_rows_width_and_kind), CASE(names_are_texts),
        CASE(what_is_not_there_is_refused_by_name), CASE(a_folder_without_a_run_is_refused),
        CASE(the_description_names_columns_attributes_and_texts),
        CASE(a_run_under_way_is_read_by_another_process_and_then_as_the_finished_one),
        CASE(a_run_that_was_killed_is_not_under_way_and_can_be_read),
        CASE(a_run_that_is_killed_while_it_is_watched_is_found_out),
        CASE(a_journal_that_a_killed_run_left_does_not_hold_up_readers),
        CASE(no_memory_is_told_and_nothing_is_lost));
}

/* ==== test_run_info: reading what a run file says, and refusing what is no run file =========== */

static void run_small_into(const folder *f)
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
    run_small_into(&f);
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
        run_small_into(&f);
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
    run_small_into(&f);
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
    run_small_into(&f);
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

GROUP(test_run_info)
{
    RUN(CASE(a_run_tells_what_it_is_by_folder_or_file), CASE(what_is_not_there_is_refused),
        CASE(a_text_file_is_refused), CASE(an_hdf5_file_of_another_program_is_refused),
        CASE(a_truncated_file_is_refused_wherever_it_was_cut),
        CASE(an_attribute_of_a_wrong_type_is_named), CASE(a_missing_column_is_named),
        CASE(joints_are_counted), CASE(a_run_without_joint_columns_is_read),
        CASE(nothing_stays_open), CASE(steps_that_missed_their_tolerance_are_listed),
        CASE(without_a_certificate_the_steps_are_still_judged));
}
