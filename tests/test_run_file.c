/* test_run_file.c - what stands in run.h5; tests/check_h5.py checks the whole schema. */
#include "io/run_file.h"
#include "run_scene.h"

/* A file with frames before and after `steps` steps; committed or not. */
static void write_file(const folder *f, cairn_scene *s, int steps, bool commit)
{
    cairn_run_file *file = NULL;
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_run_summary summary = { .hash = 42 };
    cairn_run_ending ending = { "complete", "" };
    CHECK_OK(cairn_run_file_open(f->path, s, NULL, &file, NULL));
    CHECK_OK(cairn_run_frame_take(s->world, &roll, &arena, &frame));
    CHECK_OK(cairn_run_file_frame(file, &frame, NULL));
    for (int k = 1; k <= steps; k++) {
        cairn_step_report report = { .candidates = k, .solve = { .solver = "pgs" } };
        report.energy.kinetic = k / 2.0;
        CHECK_OK(cairn_run_file_step(file, k, 0.1 * k, &report, NULL));
    }
    CHECK_OK(cairn_run_frame_take(s->world, &roll, &arena, &frame));
    CHECK_OK(cairn_run_file_frame(file, &frame, NULL));
    CHECK_OK(cairn_run_file_flush(file, NULL));
    if (commit) {
        CHECK_OK(cairn_run_file_finish(file, &summary, &ending, NULL));
        CHECK_OK(cairn_run_file_commit(file, NULL));
    }
    cairn_run_file_destroy(file);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
}

TEST(a_thousand_steps_are_a_thousand_rows)
{
    enum { STEPS = 1000 }; /* more than wait in memory */
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    path p = path_in(&f, "run.h5");
    static double found[STEPS];
    write_file(&f, &s, STEPS, true);
    CHECK_INT(h5_numbers(p.text, "steps/candidates", found, STEPS), STEPS);
    for (int k = 0; k < STEPS; k++)
        CHECK_INT(found[k], k + 1);
    CHECK_INT(h5_numbers(p.text, "steps/kinetic", found, STEPS), STEPS);
    CHECK_NEAR(found[STEPS - 1], STEPS / 2.0, 0);
    CHECK_INT(h5_numbers(p.text, "steps/solver", found, STEPS), STEPS);
    CHECK_TEXT(cairn_solver_name((int)found[0]), "pgs");
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(a_file_that_is_not_committed_stays_a_readable_part)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    char ending[32];
    double time[4];
    write_file(&f, &s, 3, false);
    CHECK(!file_exists(&f, "run.h5"));
    h5_text(path_in(&f, "run.h5.part").text, "/", "ending", ending, sizeof ending);
    CHECK_TEXT(ending, "unfinished");
    CHECK_INT(h5_numbers(path_in(&f, "run.h5.part").text, "steps/time", time, 4), 3);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(properties_are_stored_once_and_states_in_every_frame)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    path p = path_in(&f, "run.h5");
    double radius[8], index[16], x[32];
    write_file(&f, &s, 1, true);
    CHECK_INT(h5_numbers(p.text, "bodies/radius", radius, 8), 4);
    CHECK_NEAR(radius[1], 0.1, 0);
    CHECK_INT(h5_numbers(p.text, "frames/bodies/index", index, 16), 8);
    CHECK_INT(index[7], 3);
    CHECK_INT(h5_numbers(p.text, "frames/bodies/x", x, 32), 24);
    CHECK_NEAR(x[3 * 3 + 2], 0.4, 0);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(settings_are_attributes_and_datasets_have_units)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    path p = path_in(&f, "run.h5");
    char text[64];
    write_file(&f, &s, 1, true);
    h5_text(p.text, "/", "title", text, sizeof text);
    CHECK_TEXT(text, "three spheres");
    h5_text(p.text, "/", "scene", text, sizeof text);
    CHECK_TEXT(text, "# by hand\n");
    h5_text(p.text, "/", "scheme", text, sizeof text);
    CHECK_TEXT(text, s.step.scheme);
    h5_text(p.text, "frames/contacts/impulse", "unit", text, sizeof text);
    CHECK_TEXT(text, "N s");
    h5_text(p.text, "steps/friction_direction", "unit", text, sizeof text);
    CHECK_TEXT(text, "W");
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(names_of_bodies_are_listed_by_row)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    const char *const names[] = { "floor", NULL, "ball" };
    double rows[4];
    s.body_names = names;
    s.body_count = 3;
    write_file(&f, &s, 1, true);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "names/body", rows, 4), 2);
    CHECK_INT(rows[0], 0);
    CHECK_INT(rows[1], 2);
    scene_destroy(&s);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(a_thousand_steps_are_a_thousand_rows),
        CASE(a_file_that_is_not_committed_stays_a_readable_part),
        CASE(properties_are_stored_once_and_states_in_every_frame),
        CASE(settings_are_attributes_and_datasets_have_units),
        CASE(names_of_bodies_are_listed_by_row));
}
