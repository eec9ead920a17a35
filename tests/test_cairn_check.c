/* test_cairn_check.c - the program cairn-check certifies what the library computed, with every
 * scheme in 2D and 3D, and refuses what it cannot check. Its exit code is what is tested. */
#include "check_runs.h"

#include "io/run_output.h"

TEST(runs_of_every_scheme_are_certified)
{
    char override[64];
    for (int i = 0; cairn_scheme_name(i); i++) {
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        check_verdict(scene_3d, override, "certified: 60 steps");
        check_verdict(scene_2d, override, "certified: 60 steps");
        if (cairn_scheme_law(cairn_scheme_name(i)) == CAIRN_LAW_COULOMB)
            check_verdict(scene_bounce, override,
                          "certified: 60 steps"); /* friction laws: exact friction alone */
    }
}

TEST(options_that_change_the_step_are_known)
{
    static const char *const overrides[] = { "run.overlaps=push", "run.overlaps=keep",
                                             "run.linearisations=1", "run.stabilisation=0.3" };
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        check_verdict(scene_3d, overrides[i], "certified: 60 steps");
        check_verdict(scene_2d, overrides[i], "certified: 60 steps");
    }
}

/* The scenes of the repository, their first steps. */
TEST(every_scene_is_certified)
{
    static const char *const names[] = {
        "ball_drop",
        "bouncing_ball",
        "box_of_spheres",
        "column_collapse_2d",
        "four_balls",
        "newton_cradle",
        "pebble_bed",
        "rotating_drum_2d",
        "incline_disk_2d",
        "shaken_box_2d",
        "stribeck_block",
        "chain",
        "clearance",
        "four_bar",
        "gripper",
        "slider_crank_2d",
        "pebbles_on_a_belt",
        "rolling_heap_2d",
        "arch_2d",
        "box_stack",
        "box_stack_2d",
        "ellipse_2d",
        "ellipse_collapse_2d",
        "hook",
        "gears",
        "plank_tower",
        "rod_2d",
        "superellipsoid_drum",
        "arch_three_stones_2d",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        folder f = folder_create();
        char file[512];
        cairn_scene *scene = NULL;
        cairn_error error = { 0 };
        snprintf(file, sizeof file, CAIRN_SOURCE_DIR "/scenes/%s.yaml", names[i]);
        if (cairn_scene_load(file, NULL, 0, &scene, &error) != CAIRN_OK)
            fail_msg("%s: %s", file, error.message);
        scene->run.certificate = "full";
        scene->run.paraview = scene->run.picture = false;
        bool large = strcmp(names[i], "plank_tower") == 0;
        scene->run.duration = (large ? 3 : 50) * scene->step.time_step;
        CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
        cairn_scene_destroy(scene);
        if (full_verdict(&f) != CERTIFIED)
            fail_msg("%s: %s", names[i], file_text(&f, "said.txt"));
        folder_remove(f.path);
    }
}

/* ---- what else a file can be --------------------------------------------------------------- */

/* Only the search for overlaps sees this: the particle that touches nothing becomes a large ball. */
TEST(a_pair_that_was_left_out_is_found)
{
    static const char *const scene =
        HEAD "bodies:\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0]}\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [1, 0, 0]}\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [2, 0, 0]}\n";
    folder f = folder_create();
    double large = 0.95;
    cairn_scene *s = scene_text_good(scene, "run.certificate=full");
    s->run.duration = 5e-3;
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    CHECK_INT(verdict(&f), CERTIFIED);
    swap_number(&f, "bodies/radius", 1, &large);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "not certified: step 1: candidates: bodies 0 and 1 ");
    CHECK_CONTAINS(file_text(&f, "said.txt"), "bodies 1 and 2 overlap by 5.000e-02 m");
    folder_remove(f.path);
}

TEST(a_finding_tells_step_contact_and_both_numbers)
{
    folder f = folder_create();
    double gap = 0.25;
    run_into(&f, scene_2d, "run.scheme=coulomb");
    swap_number(&f, "certificate/contacts/gap", 0, &gap);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "contact 0: gap: stored 0.25, recomputed ");
    folder_remove(f.path);
}

TEST(a_summary_is_checked_as_far_as_it_goes)
{
    folder f = folder_create();
    double old, loss = 1;
    run_into(&f, scene_2d, "run.certificate=summary");
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "the run keeps a summary");
    old = swap_number(&f, "steps/friction_loss", 30, &loss);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"),
                   "step 31: kinetic + potential + elastic by the ledger");
    swap_number(&f, "steps/friction_loss", 30, &old);
    run_into(&f, scene_2d, "run.certificate=off");
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "certificate: off");
    folder_remove(f.path);
}

TEST(a_step_that_missed_its_tolerance_is_not_certified)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_3d, "run.scheme=coulomb");
    scene->step.solver = "pgs";
    scene->step.max_iterations = 1;
    scene->step.tolerance = 1e-9;
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "the step missed its tolerance");
    folder_remove(f.path);
}

/* What a crash leaves: a file without its end. */
TEST(a_run_that_did_not_end_is_checked_as_far_as_it_goes)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_2d, "run.scheme=coulomb");
    cairn_run_output output;
    cairn_step_report report;
    CHECK_OK(cairn_run_output_create(f.path, scene, &output, NULL));
    CHECK_OK(cairn_run_output_frame(&output, 0, NULL));
    for (int64_t step = 1; step <= 12; step++) {
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK_OK(cairn_run_output_step(&output, step, &report, NULL));
    }
    CHECK_OK(cairn_run_file_flush(output.file, NULL));
    cairn_run_output_destroy(&output); /* not committed */
    cairn_scene_destroy(scene);
    CHECK_INT(rename(path_in(&f, "run.h5.part").text, path_in(&f, "run.h5").text), 0);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "certified: 12 steps");
    CHECK_CONTAINS(file_text(&f, "said.txt"), "the run did not end");
    folder_remove(f.path);
}

TEST(what_is_no_run_is_refused)
{
    folder f = folder_create();
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "there is no run.h5 in this folder");
    file_write(&f, "run.h5", "cairn run");
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "/run.h5: not an HDF5 file");
    folder_remove(f.path);
}

/* Cut anywhere, or with bytes overwritten: some exit code of ours, never a crash. */
TEST(damaged_files_do_no_harm)
{
    folder f = folder_create();
    uint64_t state = 11;
    struct stat about;
    run_into(&f, scene_2d, "run.duration=0.04");
    CHECK_INT(stat(path_in(&f, "run.h5").text, &about), 0);
    for (int i = 0; i < 20; i++) {
        FILE *file = fopen(path_in(&f, "run.h5").text, "r+b");
        fseek(file, (long)(draw(&state) % (uint64_t)about.st_size), SEEK_SET);
        for (int k = 0; k < 8; k++)
            fputc((int)(draw(&state) % 256), file);
        fclose(file);
        CHECK(verdict(&f) <= CANNOT_CHECK);
    }
    CHECK_INT(truncate(path_in(&f, "run.h5").text, about.st_size / 2), 0);
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(runs_of_every_scheme_are_certified), CASE(options_that_change_the_step_are_known),
        CASE(every_scene_is_certified), CASE(a_pair_that_was_left_out_is_found),
        CASE(a_finding_tells_step_contact_and_both_numbers),
        CASE(a_summary_is_checked_as_far_as_it_goes),
        CASE(a_step_that_missed_its_tolerance_is_not_certified),
        CASE(a_run_that_did_not_end_is_checked_as_far_as_it_goes), CASE(what_is_no_run_is_refused),
        CASE(damaged_files_do_no_harm));
}
