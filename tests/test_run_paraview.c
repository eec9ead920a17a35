/* test_run_paraview.c - the files of the series; tests/check_vtk.py reads what is in them. */
#include "io/run_paraview.h"
#include "run_scene.h"

#include <sys/stat.h>

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

/* Draws `frames` frames of three boxes that fall, two of them equal. */
static void write_boxes(const folder *f, int frames)
{
    cairn_world_def world_def = cairn_world_def_default();
    const cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    cairn_run_paraview p;
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    CHECK_OK(cairn_world_create(&world_def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    for (int i = 0; i < 3; i++) {
        cairn_body_def def = cairn_body_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        def.shape.size = (cairn_vec3){ 1, 1, i == 1 ? 2 : 1 };
        def.position = (cairn_vec3){ 3 * i, 0, 0 };
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    CHECK_OK(cairn_run_paraview_create(f->path, false, &p, NULL));
    for (int k = 0; k < frames; k++) {
        cairn_run_frame frame;
        CHECK_OK(cairn_run_frame_take(world, &roll, &arena, &frame));
        CHECK_OK(cairn_run_paraview_frame(&p, &frame, &arena, NULL));
    }
    CHECK_OK(cairn_run_paraview_finish(&p, NULL));
    cairn_run_paraview_destroy(&p);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
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
    write_boxes(&f, 3);
    CHECK(file_exists(&f, "paraview/shapes_000002.vtp"));
    CHECK(file_exists(&f, "paraview/shapes.pvd"));
    folder_remove(f.path);
}

/* Two of three boxes are equal: 12 faces, 48 corners of 24 bytes; a frame has three bodies. */
TEST(the_geometry_of_shapes_is_written_once)
{
    folder f = folder_create();
    struct stat about;
    write_boxes(&f, 3);
    CHECK_INT(stat(path_in(&f, "paraview/shapes_geometry.vtp").text, &about), 0);
    CHECK(about.st_size > 48 * 24);
    CHECK_CONTAINS(file_text(&f, "paraview/shapes_geometry.vtp"), "NumberOfPolys=\"12\"");
    const char *frame = file_text(&f, "paraview/shapes_000002.vtp");
    CHECK_CONTAINS(frame, "NumberOfPoints=\"3\" NumberOfVerts=\"3\"");
    static const char *const arrays[] = { "geometry", "velocity", "force", "orientation" };
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "Name=\"%s\"", arrays[i]);
        CHECK_CONTAINS(frame, name);
    }
    write_series(&f, false, 1);
    CHECK(!file_exists(&f, "paraview/shapes_geometry.vtp")); /* a run without them removes it */
    folder_remove(f.path);
}

/* There is no ball among them, and so no series of balls; an old one goes. */
TEST(without_balls_there_are_no_files_of_them)
{
    folder f = folder_create();
    write_series(&f, false, 2);
    CHECK(file_exists(&f, "paraview/bodies.pvd"));
    write_boxes(&f, 2);
    CHECK(!file_exists(&f, "paraview/bodies.pvd"));
    CHECK(!file_exists(&f, "paraview/bodies_000000.vtp"));
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(walls_that_stand_still_are_written_once),
        CASE(a_shorter_run_removes_what_a_longer_one_left_and_nothing_else),
        CASE(moving_shapes_have_a_series), CASE(the_geometry_of_shapes_is_written_once),
        CASE(without_balls_there_are_no_files_of_them));
}
