/* test_run_output.c - the three outputs together. */
#include "io/run_output.h"
#include "run_scene.h"

TEST(without_a_folder_every_call_does_nothing)
{
    cairn_scene s = scene_create(3);
    cairn_run_output output;
    cairn_step_report report = { 0 };
    cairn_run_summary summary = { 0 };
    cairn_run_ending ending = { "complete", "" };
    CHECK_OK(cairn_run_output_create(NULL, &s, &output, NULL));
    CHECK_OK(cairn_run_output_step(&output, 1, &report, NULL));
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
    /* HDF5 does not open a file twice in two ways in one program, so look at a copy */
    FILE *from = fopen(path_in(&f, "run.h5.part").text, "rb");
    FILE *to = fopen(path_in(&f, "copy.h5").text, "wb");
    for (int c = fgetc(from); c != EOF; c = fgetc(from))
        fputc(c, to);
    fclose(from);
    fclose(to);
    CHECK_OK(cairn_run_read_info(path_in(&f, "copy.h5").text, &info, NULL));
    CHECK_INT(info.frames, 1);
    CHECK_INT(info.bodies, 4);
    cairn_run_output_destroy(&output);
    scene_destroy(&s);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(without_a_folder_every_call_does_nothing),
        CASE(the_first_frame_is_on_the_disk_before_the_run_ends));
}
