/* test_checkpoint.c - a run that stops and goes on, and checkpoints that cannot be used. */
#include "io/checkpoint.h"

#include "base/memory.h"
#include "io/run_summary.h"

#include "same_runs.h"
#include "saved_world.h"

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
static const char *const all[] = { "run.paraview=true", "run.certificate=full",
                                   "run.statistics=[centre, coordination, surface, energy]",
                                   "run.checkpoint_every=0.05", "measure={bins: 5}" };

static cairn_scene *load_with_all(const char *text)
{
    cairn_scene *scene = NULL;
    cairn_error error = { 0 };
    scene_text_write(text, strlen(text));
    if (cairn_scene_load(scene_text_path(), all, 5, &scene, &error) != CAIRN_OK)
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
    cairn_run_marks marks = { .start = 0.5, .next_frame = 3, .stored = 7, .slow_steps = 2 }, found;
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
    change_byte(&f, 16, 9);
    CHECK_INT(resume(&f, NULL, &error), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "version 9, expected 5");
    CHECK_CONTAINS(error.file, "checkpoint");
    change_byte(&f, 16, 5);
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

int main(void)
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
