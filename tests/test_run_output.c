/* test_run_output.c - the three outputs together. */
#include "io/run_output.h"
#include <time.h>

#include "run_scene.h"

TEST(without_a_folder_every_call_does_nothing)
{
    cairn_scene s = scene_create(3);
    cairn_run_output output;
    cairn_step_report report = { .solve.converged = true };
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
    for (int k = 0; k < 10000 && info.frames == 1; k++) {
        CHECK_OK(cairn_run_output_step(&output, k + 2, &report, NULL));
        if (!cairn_run_file_is_flushing(output.file))
            CHECK_OK(cairn_run_read_info(file_copy(&f, "run.h5.part").text, &info, NULL));
        else
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    CHECK_INT(info.frames, 2);
    cairn_run_output_destroy(&output);
    scene_destroy(&s);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(without_a_folder_every_call_does_nothing),
        CASE(the_first_frame_is_on_the_disk_before_the_run_ends),
        CASE(a_flush_ends_while_steps_go_on));
}
