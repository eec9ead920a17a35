/* test_run_folder.c - whether a folder can take a new run. */
#include "scene_text.h"

#include "run_scene.h"

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
        scene_text_good("cairn: 1\nrun: {time_step: 10, duration: 100}\nbodies:\n"
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

int main(void)
{
    RUN(CASE(a_folder_without_a_run_can_take_one), CASE(a_finished_run_is_told_with_its_ending),
        CASE(a_run_that_can_go_on_says_how), CASE(a_run_without_a_step_may_be_replaced),
        CASE(what_is_left_of_a_run_counts_too));
}
