/* test_run_paraview.c - the files of the series; tests/check_vtk.py reads what is in them. */
#include "io/run_paraview.h"
#include "run_scene.h"

/* Draws `frames` frames of a scene, a step between each two. */
static void write_series(const folder *f, bool contacts, int frames)
{
    cairn_scene s = scene_create(3);
    cairn_run_paraview p;
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    CHECK_OK(cairn_run_paraview_create(f->path, contacts, &p, NULL));
    for (int k = 0; k < frames; k++) {
        cairn_step_report report;
        cairn_run_frame frame;
        CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
        frame.time_step = s.step.time_step;
        CHECK_OK(cairn_run_paraview_frame(&p, &frame, &arena, NULL));
        CHECK_OK(cairn_world_step(s.world, &s.step, &report));
    }
    CHECK_OK(cairn_run_paraview_finish(&p, NULL));
    cairn_run_paraview_destroy(&p);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(walls_that_stand_still_are_written_once)
{
    folder f = folder_create();
    write_series(&f, true, 3);
    CHECK(file_exists(&f, "paraview/bodies_000002.vtp"));
    CHECK(file_exists(&f, "paraview/contacts_000002.vtp"));
    CHECK(file_exists(&f, "paraview/walls_000000.vtp"));
    CHECK(!file_exists(&f, "paraview/walls_000001.vtp"));
    const char *text = file_text(&f, "paraview/walls.pvd");
    CHECK_CONTAINS(text, "timestep=\"0.01\" part=\"0\" file=\"walls_000000.vtp\"");
    folder_remove(f.path);
}

TEST(a_shorter_run_removes_what_a_longer_one_left_and_nothing_else)
{
    folder f = folder_create();
    write_series(&f, true, 4);
    const char *const mine[] = { "bodies_x.vtp", "bodies_7.vtp", "bodies_000009.vtp.txt",
                                 "notes.txt" };
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "paraview/%s", mine[i]);
        file_write(&f, name, "mine");
    }
    write_series(&f, false, 2);
    CHECK(file_exists(&f, "paraview/bodies_000001.vtp"));
    CHECK(!file_exists(&f, "paraview/bodies_000002.vtp"));
    CHECK(!file_exists(&f, "paraview/contacts_000000.vtp"));
    CHECK(!file_exists(&f, "paraview/contacts.pvd"));
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "paraview/%s", mine[i]);
        CHECK(file_exists(&f, name));
    }
    folder_remove(f.path);
}

/* moving boxes have a series of their own; a run without them has none, and removes an old one */
TEST(moving_shapes_have_a_series)
{
    folder f = folder_create();
    write_series(&f, false, 1);
    CHECK(!file_exists(&f, "paraview/shapes.pvd"));
    file_write(&f, "paraview/shapes_000000.vtp", "old");
    write_series(&f, false, 1);
    CHECK(!file_exists(&f, "paraview/shapes_000000.vtp"));
    cairn_scene s = scene_create(3);
    cairn_run_paraview p;
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 1, 1, 1 };
    CHECK_OK(cairn_body_create(s.world, &def, NULL));
    CHECK_OK(cairn_run_paraview_create(f.path, false, &p, NULL));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_OK(cairn_run_paraview_frame(&p, &frame, &arena, NULL));
    CHECK_INT(p.shapes.cells, 6);
    CHECK_OK(cairn_run_paraview_finish(&p, NULL));
    CHECK(file_exists(&f, "paraview/shapes_000000.vtp"));
    CHECK(file_exists(&f, "paraview/shapes.pvd"));
    cairn_run_paraview_destroy(&p);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(walls_that_stand_still_are_written_once),
        CASE(a_shorter_run_removes_what_a_longer_one_left_and_nothing_else),
        CASE(moving_shapes_have_a_series));
}
