/* test_recording.c - rows of any column of a run, what cannot be asked for, and a run that is under
 * way. */
#include "cairn/recording.h"

#include <signal.h>
#include <sys/wait.h>

#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(rows_come_one_range_after_the_other_from_multiples_of_8_bytes),
        CASE(a_column_is_told_by_rows_width_and_kind), CASE(what_is_not_there_is_refused_by_name),
        CASE(a_folder_without_a_run_is_refused),
        CASE(the_description_names_columns_attributes_and_texts),
        CASE(a_run_under_way_is_read_by_another_process_and_then_as_the_finished_one),
        CASE(a_run_that_was_killed_is_not_under_way_and_can_be_read),
        CASE(a_run_that_is_killed_while_it_is_watched_is_found_out),
        CASE(a_journal_that_a_killed_run_left_does_not_hold_up_readers),
        CASE(no_memory_is_told_and_nothing_is_lost));
}
