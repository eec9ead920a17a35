/* test_cairn_check.c - cairn-check certifies what the library computed. */
#include "run/output.h"
#include "tests/check/check_runs.h"

/* ==== test_cairn_check: the program cairn-check certifies what the library computed, with every
 * scheme in 2D and 3D, and refuses what it cannot check. Its exit code is what is tested. */

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
                                             "run.linearisations=1", "run.stabilisation=0.3",
                                             "run.arcs=false" };
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        check_verdict(scene_3d, overrides[i], "certified: 60 steps");
        check_verdict(scene_2d, overrides[i], "certified: 60 steps");
    }
}

/* The scenes of the repository, their first steps, of which the sanitizers see fewer. */
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
        "laboratory/biaxial_2d",
        "laboratory/triaxial",
        "laboratory/oedometer",
        "laboratory/direct_shear_2d",
        "periodic/layer",
        "ball_mill",
        "periodic/chains",
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
        bool falls = i + 2 >= sizeof names / sizeof names[0]; /* for 58 and 66 steps */
        int steps = large ? 3 : falls ? 120 : CHECKED ? 12 : 50;
        scene->run.duration = steps * scene->step.time_step;
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
        CHECK_OK(
            cairn_run_output_step(&output, step, cairn_world_time(scene->world), &report, NULL));
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

GROUP(test_cairn_check)
{
    RUN(CASE(runs_of_every_scheme_are_certified), CASE(options_that_change_the_step_are_known),
        CASE(every_scene_is_certified), CASE(a_pair_that_was_left_out_is_found),
        CASE(a_finding_tells_step_contact_and_both_numbers),
        CASE(a_summary_is_checked_as_far_as_it_goes),
        CASE(a_step_that_missed_its_tolerance_is_not_certified),
        CASE(a_run_that_did_not_end_is_checked_as_far_as_it_goes), CASE(what_is_no_run_is_refused),
        CASE(damaged_files_do_no_harm));
}

/* ==== test_cairn_check_motor: cairn-check finds the gains of motors and what they feel by
 * itself */

/* An arm of two links with a load on a ball joint, a spindle, a crank in a loop, and
 * motors with every choice of stiffness and damping. */
static const char *const scene_motors =
    "cairn: 1\n"
    "bodies:\n"
    "  - {name: upper, mass: 1, inertia: [0.01, 0.1, 0.1], shape: {sphere: {radius: 0.1}}, "
    "position: [0.5, 0, 1]}\n"
    "  - {name: lower, mass: 1, inertia: [0.01, 0.1, 0.1], shape: {sphere: {radius: 0.1}}, "
    "position: [1.5, 0, 1]}\n"
    "  - {name: load, mass: 0.5, shape: {sphere: {radius: 0.1}}, position: [2, 0, 0.9]}\n"
    "  - {name: nut, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: 0.1}}, "
    "position: [0, 3, 1]}\n"
    "  - {name: crank, mass: 1, shape: {sphere: {radius: 0.1}}, position: [0, 6, 1]}\n"
    "  - {name: rod, mass: 1, shape: {sphere: {radius: 0.1}}, position: [1, 6, 1]}\n"
    "  - {name: first, mass: 1, shape: {sphere: {radius: 0.1}}, position: [0, 9, 1]}\n"
    "  - {name: second, mass: 2, shape: {sphere: {radius: 0.1}}, position: [1, 9, 1]}\n"
    "  - {name: third, mass: 2, shape: {sphere: {radius: 0.1}}, position: [2, 9, 1]}\n"
    "joints:\n"
    "  - revolute: {a: upper, anchor: [0, 0, 1], axis: [0, -1, 0], turn: {motor: position, target: "
    "0.5, effort: 30}}\n"
    "  - revolute: {a: lower, b: upper, anchor: [1, 0, 1], axis: [0, -1, 0], turn: {motor: "
    "position, target: -0.4, effort: 20, stiffness: 300}}\n"
    "  - ball: {a: load, b: lower, anchor: [2, 0, 1]}\n"
    "  - screw: {a: nut, axis: [0, 0, 1], pitch: 0.05, slide: {motor: position, target: 0.02, "
    "effort: 100}, turn: {motor: velocity, target: 1, effort: 0.1, damping: 0.05}}\n"
    "  - revolute: {a: crank, anchor: [0, 6, 1.3], axis: [0, 1, 0], turn: {motor: position, "
    "target: "
    "0.3, effort: 3, damping: 1}}\n"
    "  - revolute: {a: rod, b: crank, anchor: [0, 6, 0.7], axis: [0, 1, 0]}\n"
    "  - revolute: {a: rod, anchor: [2, 6, 1], axis: [0, 1, 0]}\n"
    "  - prismatic: {a: first, b: second, axis: [1, 0, 0], slide: {motor: position, target: 0.1, "
    "effort: 5, stiffness: 100, damping: 5}}\n"
    "  - prismatic: {a: third, b: second, axis: [1, 0, 0], slide: {motor: position, target: 0.1, "
    "effort: 5}}\n"
    "run: {scheme: coulomb, solver: auto, tolerance: 1e-8, time_step: 4e-3, duration: 0.4,\n"
    "      frame_interval: 0.1, certificate: full, paraview: false, picture: false}\n";

TEST(motors_with_every_choice_of_gains_are_certified)
{
    folder f = folder_create();
    const char *const schemes[] = { "run.scheme=coulomb", "run.scheme=moreau-jean",
                                    "run.scheme=stewart-trinkle" };
    for (int k = 0; k < 3; k++) {
        run_into(&f, scene_motors, schemes[k]);
        CHECK_INT(full_verdict(&f), CERTIFIED);
    }
    folder_remove(f.path);
}

/* Effort, stiffness and damping of motors, of a screw's too, make their gains. */
TEST(no_gain_of_a_motor_changes_unnoticed)
{
    static const struct {
        const char *name;
        hsize_t joint;
    } numbers[] = { { "joints/turn_effort", 0 },
                    { "joints/turn_spring", 1 },
                    { "joints/turn_damper", 3 },
                    { "joints/turn_damper", 4 } };
    const double other = 0.75;
    folder f = folder_create();
    run_into(&f, scene_motors, NULL);
    for (int k = 0; k < 4; k++) {
        double old = swap_number(&f, numbers[k].name, numbers[k].joint, &other);
        CHECK_INT(verdict(&f), NOT_CERTIFIED);
        swap_number(&f, numbers[k].name, numbers[k].joint, &old);
    }
    CHECK_INT(full_verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

GROUP(test_cairn_check_motor)
{
    RUN(CASE(motors_with_every_choice_of_gains_are_certified),
        CASE(no_gain_of_a_motor_changes_unnoticed));
}

/* ==== test_cairn_check_turn: cairn-check computes free turning and swinging again, by the
 * rules of the file. */

/* A top under a torque, one that flies past a wall, and one that lands on it. */
static const char *const scene_tops =
    "cairn: 1\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {axis: [0, 0, 1]}}}\n"
    "  - {shape: {box: {size: [0.2, 0.1, 0.05]}}, mass: 1, position: [0, 0, 2],\n"
    "     angular_velocity: [5, 1, 8], loads: [{constant: {torque: [0.05, 0.01, 0.02]}}]}\n"
    "  - {shape: {box: {size: [0.2, 0.1, 0.05]}}, mass: 1, position: [1, 0, 0.4],\n"
    "     velocity: [0, 1, 1], angular_velocity: [5, -3, 8]}\n"
    "  - {shape: {box: {size: [0.2, 0.1, 0.05]}}, mass: 1, position: [2, 0, 0.13],\n"
    "     angular_velocity: [5, -3, 8]}\n"
    "run: {scheme: coulomb, time_step: 4e-3, duration: 0.2, frame_interval: 0.05,\n"
    "      certificate: full, paraview: false, picture: false}\n";

/* A heavy top, a double pendulum that comes down on a floor, and a swinging door: what joints
 * alone hold, until the floor is near. */
static const char *const scene_swings =
    "cairn: 1\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {axis: [0, 0, 1]}}}\n"
    "  - {name: top, shape: {sphere: {radius: 0.02}}, mass: 1, inertia: [0.004, 0.005, 0.002],\n"
    "     position: [0, 0.1, 2], velocity: [0.1, 0, 0], angular_velocity: [0, 40, 60]}\n"
    "  - {name: upper, shape: {sphere: {radius: 0.1}}, mass: 1, position: [3, 0, 1]}\n"
    "  - {name: lower, shape: {sphere: {radius: 0.1}}, mass: 2, position: [3.5, 0, 1]}\n"
    "  - {name: door, shape: {box: {size: [0.8, 0.05, 1]}}, mass: 1, position: [6, 0, 2],\n"
    "     velocity: [0, 0.8, 0], angular_velocity: [0, 0, 2],\n"
    "     loads: [{constant: {torque: [0, 0, 0.5]}}]}\n"
    "joints:\n"
    "  - ball: {a: top, anchor: [0, 0, 2]}\n"
    "  - ball: {a: upper, anchor: [2.5, 0, 1]}\n"
    "  - ball: {a: lower, b: upper, anchor: [3.2, 0, 1]}\n"
    "  - revolute: {a: door, anchor: [5.6, 0, 2], axis: [0, 0, 1]}\n"
    "run: {scheme: coulomb, tolerance: 1e-8, time_step: 4e-3, duration: 0.8, frame_interval: 0.1,\n"
    "      certificate: full, paraview: false, picture: false}\n";

/* A spinner about its axis, for which both rules are the same. */
static const char *const scene_spinner =
    "cairn: 1\n"
    "bodies:\n"
    "  - {shape: {box: {size: [0.2, 0.1, 0.05]}}, mass: 1, angular_velocity: [0, 0, 8]}\n"
    "run: {scheme: coulomb, time_step: 4e-3, duration: 0.2, frame_interval: 0.05,\n"
    "      certificate: full, paraview: false, picture: false}\n";

/* Rods that tumble and bounce, with a torque, gravity and friction, or without. */
static const char *const scene_rods =
    "cairn: 1\n"
    "gravity: [0, 0, -2]\n"
    "materials: {a: {friction: 0.2, restitution: 1}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {inside_box: {size: [0.5, 0.5, 0.5]}}}\n"
    "  - {shape: {box: {size: [0.3, 0.02, 0.02]}}, mass: 1, velocity: [1, 2, -1],\n"
    "     angular_velocity: [5, 20, -20], loads: [{constant: {torque: [0.1, 0.2, -0.3]}}]}\n"
    "run: {scheme: coulomb, tolerance: 1e-8, time_step: 1e-3, duration: 0.3, frame_interval: 0.1,\n"
    "      certificate: full, paraview: false, picture: false}\n";

/* Files before there were other rules have no such attribute. */
static void forget_rules(const folder *f)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0);
    CHECK(H5Adelete(file, "rules") >= 0);
    CHECK(H5Fclose(file) >= 0);
}

static void follow_rules(const folder *f, long long rules)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0);
    hid_t number = H5Aopen(file, "rules", H5P_DEFAULT);
    CHECK(number >= 0);
    CHECK(H5Awrite(number, H5T_NATIVE_LLONG, &rules) >= 0);
    CHECK(H5Aclose(number) >= 0);
    CHECK(H5Fclose(file) >= 0);
}

/* What counts as the velocity before an impact is a rule of its own, in every scheme. */
TEST(impacts_of_what_tumbles_are_certified_by_their_own_rule)
{
    static const char *const choices[] = { "run.scheme=coulomb", "run.scheme=moreau-jean",
                                           "materials.a.restitution_law=poisson",
                                           "run.impact_rounds=0", "run.sleep=true" };
    folder f = folder_create();
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        run_into(&f, scene_rods, choices[i]);
        CHECK_INT(full_verdict(&f), CERTIFIED);
        follow_rules(&f, 3);
        CHECK_INT(verdict(&f), NOT_CERTIFIED);
    }
    folder_remove(f.path);
}

TEST(free_turning_is_certified_by_its_own_rule)
{
    folder f = folder_create();
    run_into(&f, scene_tops, NULL);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    forget_rules(&f);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    folder_remove(f.path);
}

/* Products of such numbers are 0, and so are sizes formed with them. */
TEST(next_to_no_turning_is_certified)
{
    static const char *const speeds[] = {
        "0, 0, 1e-30",  "0, 0, 1e-120",           "0, 0, 1e-160",
        "0, 0, 1e-300", "3e-163, 7e-163, 1e-163", "3e-178, 7e-178, 1e-178"
    };
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        char override[160];
        snprintf(override, sizeof override,
                 "bodies.0={shape: {box: {size: [0.2, 0.1, 0.05]}}, mass: 1, angular_velocity: "
                 "[%s], loads: [{constant: {torque: [%s]}}]}",
                 speeds[i], speeds[i]);
        check_verdict(scene_spinner, override, "certified: 50 steps");
    }
}

TEST(files_of_the_rules_before_are_certified_by_those)
{
    folder f = folder_create();
    run_into(&f, scene_spinner, NULL);
    for (long long rules = 4; rules >= 2; rules--) {
        follow_rules(&f, rules);
        CHECK_INT(verdict(&f), CERTIFIED);
    }
    forget_rules(&f);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

TEST(what_swings_is_certified_by_its_own_rule)
{
    folder f = folder_create();
    run_into(&f, scene_swings, NULL);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    forget_rules(&f);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    folder_remove(f.path);
}

/* Bodies that joints connect through the faces of a sheared cell. */
static const char *const scene_joined =
    "cairn: 1\n"
    "gravity: [0, 0, -1]\n"
    "parameters: {rate: 3}\n"
    "periodic: {axes: [x, y, z], high: [1, 1, 1], gradient_x: [0, $rate, 0], gradient_z: "
    "[0, $(0.5 * rate), 0]}\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {name: a, shape: {sphere: {radius: 0.1}}, position: [0.95, 0.1, 0.1], velocity: "
    "[1, 3, 0]}\n"
    "  - {name: b, shape: {box: {size: [0.12, 0.15, 0.14]}}, position: [0.15, 0.1, 0.1], "
    "velocity: [0, 2, 1]}\n"
    "  - {name: c, shape: {sphere: {radius: 0.09}}, position: [0.4, 0.1, 0.1], velocity: "
    "[0, 2, -1]}\n"
    "  - {name: d, shape: {sphere: {radius: 0.09}}, position: [0.65, 0.1, 0.1], "
    "velocity: [1, 1, 0]}\n"
    "  - {name: e, shape: {box: {size: [0.12, 0.15, 0.14]}}, position: [0.45, 0.9, "
    "0.72], velocity: [-2, 2, 1]}\n"
    "  - {name: f, shape: {sphere: {radius: 0.09}}, position: [0.45, 0.15, 0.72], "
    "velocity: [1, 0, 2]}\n"
    "  - {name: g, shape: {sphere: {radius: 0.05}}, position: [0.45, 0.5, 0.72], "
    "velocity: [1, 0, 2]}\n"
    "  - {name: h, shape: {sphere: {radius: 0.05}}, position: [0.45, 0.6, 0.72], "
    "velocity: [1, 1, 2]}\n"
    "joints:\n"
    "  - ball: {a: a, b: b, anchor: [1.05, 0.1, 0.1]}\n"
    "  - distance: {a: b, b: c, anchor: [0.2, 0.1, 0.1], anchor_b: [0.35, 0.1, 0.1]}\n"
    "  - spring: {a: c, b: d, anchor: [0.4, 0.1, 0.1], anchor_b: [0.65, 0.1, 0.1], "
    "slide: {stiffness: 100, damping: 1, rest: 0.2}}\n"
    "  - rope: {a: d, b: a, anchor: [0.7, 0.1, 0.1], anchor_b: [0.9, 0.1, 0.1]}\n"
    "  - revolute: {a: f, b: e, anchor: [0.45, 1.05, 0.72], axis: [1, 0, 0], turn: "
    "{motor: position, target: 3, effort: 1}}\n"
    "  - distance: {a: g, b: h, anchor: [0.45, 0.5, 0.72], anchor_b: [0.45, 0.6, 0.72]}\n"
    "generators: [grid: {count: [3, 3, 2], spacing: [0.3, 0.3, 0.3], radius: 0.08, seed: "
    "3, origin: [0.3, 0.3, 0.27], velocity: [1, -1, 0.5]}]\n"
    "run: {time_step: 4e-3, duration: 0.3, tolerance: 1e-6, scheme: coulomb, "
    "certificate: full,\n"
    "      frame_interval: 0.1, paraview: false, picture: false}\n";

TEST(joints_through_the_faces_of_a_cell_are_certified)
{
    folder f = folder_create();
    const char *const schemes[] = { "run.scheme=coulomb", "run.scheme=moreau-jean",
                                    "run.scheme=stewart-trinkle", "parameters.rate=0" };
    for (int k = 0; k < (CHECKED ? 2 : 4); k++) {
        run_into(&f, scene_joined, schemes[k]);
        CHECK_INT(full_verdict(&f), CERTIFIED);
    }
    /* the last image of the last step */
    const double other = 3;
    hsize_t last = count_numbers(&f, "certificate/joints/image") - 1;
    double old = swap_number(&f, "certificate/joints/image", last, &other);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    swap_number(&f, "certificate/joints/image", last, &old);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

GROUP(test_cairn_check_turn)
{
    RUN(CASE(impacts_of_what_tumbles_are_certified_by_their_own_rule),
        CASE(free_turning_is_certified_by_its_own_rule), CASE(next_to_no_turning_is_certified),
        CASE(what_swings_is_certified_by_its_own_rule),
        CASE(joints_through_the_faces_of_a_cell_are_certified),
        CASE(files_of_the_rules_before_are_certified_by_those));
}

/* ==== test_cairn_check_chain: cairn-check certifies runs with several impacts in a step, and
 * notices when they are not what they should be. */

/* Five balls that touch, hit by a sixth, between a wall and nothing; steps of 8 mm of motion. */
static const char *const scene_row =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, 0]\n"
    "materials: {steel: {friction: 0, restitution: 1}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {axis: [-1, 0]}}, position: [1.105, 0]}\n"
    "  - {shape: &ball {sphere: {radius: 0.1}}, mass: 1, position: [-0.23, 0], velocity: [1, 0]}\n"
    "  - {shape: *ball, mass: 1, position: [0, 0]}\n"
    "  - {shape: *ball, mass: 2, position: [0.2, 0]}\n"
    "  - {shape: *ball, mass: 1, position: [0.4, 0]}\n"
    "  - {shape: *ball, mass: 1, position: [0.601, 0]}\n"
    "  - {shape: *ball, mass: 0.5, position: [0.803, 0]}\n"
    "run: {impact_rounds: 100, time_step: 8e-3, duration: 0.4, frame_interval: 0.04, certificate: "
    "full, scheme: "
    "coulomb,\n"
    "      paraview: false, picture: false}\n";

/* Balls and boxes in a box, with friction, gravity and a wall that moves: everything hits. */
static const char *const scene_crowd =
    "cairn: 1\n"
    "materials: {rock: {friction: 0.4, restitution: 0.95}, putty: {friction: 0.2}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: rock, shape: {inside_box: {size: [0.6, 0.6, 1.2]}},\n"
    "     position: [0.3, 0.3, 0.6]}\n"
    "  - {motion: driven, material: rock, shape: {box: {size: [0.6, 0.6, 0.1]}},\n"
    "     position: [0.3, 0.3, 0.05],\n"
    "     drivers: [{shake: {amplitude: [0, 0, 0.05], frequency: 5}}]}\n"
    "  - {material: rock, shape: {box: {size: [0.15, 0.1, 0.12]}}, density: 1000,\n"
    "     position: [0.3, 0.3, 0.35], velocity: [0, 1, -3], angular_velocity: [3, 2, 1]}\n"
    "  - {material: putty, shape: {box: {size: [0.1, 0.1, 0.1]}}, density: 1000,\n"
    "     position: [0.15, 0.3, 0.55], velocity: [1, 0, -4]}\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 2], origin: [0.08, 0.08, 0.18], spacing: [0.14, 0.14, 0.5],\n"
    "           radius: 0.06, density: 1000, velocity: [0.5, 0.2, -3], material: rock}\n"
    "run: {impact_rounds: 100, time_step: 3e-3, duration: 0.12, frame_interval: 0.02, certificate: "
    "full,\n"
    "      paraview: false, picture: false}\n";

static const char *const chained_schemes[] = { "frictionless", "convex", "convex-polyhedral",
                                               "auto",         "lcp",    "coulomb",
                                               "fixed-point" };

TEST(impacts_within_a_step_are_certified_in_every_scheme)
{
    for (size_t i = 0; i < sizeof chained_schemes / sizeof chained_schemes[0]; i++) {
        char override[64];
        snprintf(override, sizeof override, "run.scheme=%s", chained_schemes[i]);
        check_verdict(scene_crowd, override, "certified: 40 steps");
        check_verdict(scene_row, override, "certified: 50 steps");
    }
}

/* Sums of a column of /steps. */
static double total(const folder *f, const char *name, int steps)
{
    double column[50], sum = 0;
    CHECK_INT(h5_numbers(path_in(f, "run.h5").text, name, column, steps), steps);
    for (int k = 0; k < steps; k++)
        sum += column[k];
    return sum;
}

TEST(the_scenes_have_many_of_them)
{
    folder f = folder_create();
    run_into(&f, scene_crowd, "run.scheme=coulomb");
    CHECK(total(&f, "steps/impacts", 40) > 80);
    CHECK(total(&f, "steps/impact_rounds", 40) > 20);
    folder_remove(f.path);
    f = folder_create();
    run_into(&f, scene_row, NULL);
    CHECK(total(&f, "steps/impacts", 50) > 5);
    CHECK_NEAR(total(&f, "steps/impacts_left", 50), 0, 0);
    folder_remove(f.path);
}

/* Rounds that were over too early are certified, since the step says what was left. */
TEST(rounds_that_were_not_enough_are_certified_as_told)
{
    folder f = folder_create();
    run_into(&f, scene_row, "run.impact_rounds=1");
    CHECK_INT(full_verdict(&f), CERTIFIED);
    CHECK(total(&f, "steps/impacts_left", 50) > 0);
    folder_remove(f.path);
    check_verdict(scene_crowd, "run.impact_rounds=0", "certified: 40 steps");
}

static const target reals[] = {
    { "certificate/impacts/time", 1e-3 },
    { "certificate/impacts/impulse", 1 },
    { "certificate/contacts/bias", 1 },
    { "certificate/contacts/impulse", 1 },
    { "certificate/bodies/x", 1 },
    { "certificate/bodies/v", 1 },
    { "steps/impact_loss", 1 },
    { "steps/numerical_loss", 1 },
    { NULL, 0 },
};

static const char *const integers[] = { "certificate/impacts/round",
                                        "certificate/impacts/contact",
                                        "certificate/impact_offset",
                                        "steps/impacts",
                                        "steps/impact_rounds",
                                        "steps/impacts_left",
                                        NULL };

TEST(no_number_of_an_impact_changes_unnoticed)
{
    const char *const scenes[] = { scene_row, scene_crowd };
    for (int k = 0; k < 2; k++) {
        folder f = folder_create();
        run_into(&f, scenes[k], "run.scheme=coulomb");
        CHECK_INT(verdict(&f), CERTIFIED);
        tamper_with_reals(&f, reals, "nothing is left out", 3);
        tamper_with_integers(&f, integers, 3);
        CHECK_INT(verdict(&f), CERTIFIED);
        folder_remove(f.path);
    }
}

GROUP(test_cairn_check_chain)
{
    RUN(CASE(impacts_within_a_step_are_certified_in_every_scheme),
        CASE(the_scenes_have_many_of_them), CASE(rounds_that_were_not_enough_are_certified_as_told),
        CASE(no_number_of_an_impact_changes_unnoticed));
}

/* ==== test_cairn_check_cell: cairn-check certifies walls of cells, and notices when they do not
 * move as they should. */

/* A press that first pushes with a force and then moves at a rate, with a wall that pushes
 * sideways. Both are overdamped. */
static const char *const scene_press =
    "cairn: 1\n"
    "materials: {a: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: half_space}\n"
    "  - {name: left, motion: fixed, position: [-0.3, 0, 0],\n"
    "     shape: {half_space: {axis: [1, 0, 0]}}}\n"
    "  - {name: right, position: [0.35, 0, 0.5], shape: {box: {size: [0.1, 1, 1]}}}\n"
    "  - {name: lid, position: [0, 0, 0.5], shape: {box: {size: [1, 1, 0.1]}}}\n"
    "generators:\n"
    "  - grid: {count: [3, 3, 2], spacing: [0.19, 0.19, 0.19], origin: [-0.2, -0.19, 0.1],\n"
    "           radius: 0.09, jitter: 0.004}\n"
    "cells:\n"
    "  - x: {low: left, high: right, force: 20}\n"
    "    z: {low: floor, high: lid, force: 50, strain_rate: 0.2}\n"
    "    strain_from: 0.1\n"
    "run: {time_step: 4e-3, duration: 0.2, frame_interval: 0.04, certificate: full,\n"
    "      max_iterations: 20000, paraview: false, picture: false, statistics: [cell, centre]}\n";

TEST(walls_of_cells_are_certified_in_every_scheme)
{
    for (int i = 0; cairn_scheme_name(i); i++) {
        char override[64];
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        check_verdict(scene_press, override, "certified: 50 steps");
    }
    check_verdict(scene_press, "cells.0.mass=10", "certified: 50 steps");
}

TEST(no_number_of_a_wall_changes_unnoticed)
{
    static const target numbers[] = { { "certificate/loads/force", 1 }, { NULL, 0 } };
    folder f = folder_create();
    run_into(&f, scene_press, NULL);
    CHECK_INT(verdict(&f), CERTIFIED);
    tamper_with_reals(&f, numbers, "nothing is left out", 8);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

GROUP(test_cairn_check_cell)
{
    RUN(CASE(walls_of_cells_are_certified_in_every_scheme),
        CASE(no_number_of_a_wall_changes_unnoticed));
}

/* ==== test_cairn_check_sleep: cairn-check certifies runs in which bodies sleep, and notices
 * when they do not do so as they should. */

/* Two stacks that fall asleep within 30 steps; a ball hits one of them in step 60 or so. */
static const char *const scene_sleep =
    "cairn: 1\n"
    "materials: {rock: {friction: 0.5}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: half_space}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.1]}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0.01, 0, 0.302]}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [1, 0, 0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [1.01, 0.02, 0.302]}\n"
    "  - {shape: {sphere: {radius: 0.05}}, mass: 1, position: [0, 0, 0.8]}\n"
    "run: {time_step: 5e-3, duration: 0.4, tolerance: 1e-4, sleep: true, certificate: full,\n"
    "      threads: 1, frame_interval: 0.05, picture: false, paraview: false}\n";

/* Three balls at rest, one of which is hit by a fourth: every number of these is checked. */
static const char *const scene_balls =
    "cairn: 1\n"
    "materials: {rock: {friction: 0.5}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: half_space}\n"
    "  - {shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, mass: 1, position: [1, 0, 0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, mass: 1, position: [1, 0.5, 0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, mass: 1, position: [-0.6, 0, 0.1], velocity: [2, 0, 0]}\n"
    "run: {time_step: 5e-3, duration: 0.25, tolerance: 1e-4, sleep: true, certificate: full,\n"
    "      threads: 1, frame_interval: 0.05, picture: false, paraview: false}\n";

TEST(runs_in_which_bodies_sleep_are_certified)
{
    static const char *const schemes[] = { "convex",      "coulomb", "stewart-trinkle",
                                           "moreau-jean", "lcp",     "frictionless" };
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        char override[64];
        snprintf(override, sizeof override, "run.scheme=%s", schemes[i]);
        check_verdict(scene_sleep, override, "certified: 80 steps");
    }
}

TEST(the_scene_has_sleepers_and_one_group_that_wakes)
{
    double asleep[80], woken[80], most = 0, wakings = 0;
    folder f = folder_create();
    run_into(&f, scene_sleep, "run.scheme=coulomb");
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "steps/asleep", asleep, 80), 80);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "steps/woken", woken, 80), 80);
    for (int k = 0; k < 80; k++) {
        most = fmax(most, asleep[k]);
        wakings += woken[k];
    }
    CHECK_NEAR(most, 5, 0); /* in the end the ball, too */
    CHECK_NEAR(wakings, 2, 0);
    folder_remove(f.path);
}

/* body 4, the ball on the second stack, sleeps in the last step: rows go by steps of 6 bodies */
TEST(a_sleeper_that_moves_or_is_not_marked_is_noticed)
{
    folder f = folder_create();
    run_into(&f, scene_sleep, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    hsize_t row = 80 * 6 + 4;
    CHECK_NEAR(swap_number(&f, "certificate/bodies/asleep", row, NULL), 1, 0);
    CHECK_NEAR(swap_number(&f, "certificate/bodies/v", 3 * row, NULL), 0, 0);
    check_noticed(&f, "certificate/bodies/asleep", row, 0);
    check_noticed(&f, "certificate/bodies/v", 3 * row, 1e-30);
    check_noticed(&f, "certificate/bodies/omega", 3 * row + 1, 1e-30);
    check_noticed(&f, "certificate/bodies/x", 3 * row, 1.0101);
    check_noticed(&f, "steps/sleep_loss", 40, 1e-3);
    folder_remove(f.path);
}

TEST(changed_numbers_are_noticed)
{
    folder f = folder_create();
    run_into(&f, scene_balls, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK(tamper_with_reals(&f, all_reals, "angle", 2) >= 60);
    CHECK(tamper_with_integers(&f, all_integers, 2) >= 25);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

GROUP(test_cairn_check_sleep)
{
    RUN(CASE(runs_in_which_bodies_sleep_are_certified),
        CASE(the_scene_has_sleepers_and_one_group_that_wakes),
        CASE(a_sleeper_that_moves_or_is_not_marked_is_noticed), CASE(changed_numbers_are_noticed));
}

/* ==== test_cairn_check_processes: functions of time, and bodies that leave =================== */

/* Gravity and friction that vary, a motion by its velocity, and bodies that leave and come back. */
static const char *const scene_process =
    "cairn: 1\n"
    "gravity: [2 * sin(9 * t), 0, {ramp: {from: -9.81, to: -12, stop: 0.2}}]\n"
    "materials:\n"
    "  floor: {friction: {harmonic: {mean: 0.3, amplitude: 0.2, frequency: 9}}}\n"
    "  ball: {friction: 0.6}\n"
    "bodies:\n"
    "  - {motion: driven, material: floor, shape: {box: {size: [0.5, 0.5, 0.1]}},\n"
    "     drivers: [motion: {vz: 0.3 * cos(30 * t), spin: t, axis: [0, 1, 0]}]}\n"
    "generators:\n"
    "  - pour: {name: top, material: ball, count: 8, rate: 200 * t, centre: [0, 0, 0.3],\n"
    "           size: [0.6, 0.4, 0.1], velocity: [1, 0, -2], radius: 0.04}\n"
    "outlets: [height: {below: -0.1, to: top}]\n"
    "run: {time_step: 5e-3, duration: 0.6, tolerance: 1e-8, certificate: full, contacts: true,\n"
    "      statistics: [flow, height], paraview: false, picture: false}\n";

TEST(functions_of_time_and_outlets_are_certified)
{
    folder f = folder_create();
    run_into(&f, scene_process, "run.scheme=coulomb");
    CHECK_INT(full_verdict(&f), CERTIFIED);
    CHECK(count_numbers(&f, "steps/gravity") == 360 && count_numbers(&f, "steps/friction") == 240);
    folder_remove(f.path);
}

static bool stop_at_40(const cairn_progress *progress, void *context)
{
    (void)context;
    return progress->step < 40;
}

/* The gravity and the friction of the start, and a row for each step, are those of one run. */
TEST(a_process_that_went_on_from_a_checkpoint_is_certified)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_process, "run.scheme=coulomb");
    const cairn_resume_options options = { .threads = 1 };
    CHECK_OK(cairn_run(scene, f.path, stop_at_40, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_OK(cairn_run_resume(f.path, &options, &scene, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "certified: 120 steps");
    CHECK(count_numbers(&f, "steps/gravity") == 360 && count_numbers(&f, "steps/friction") == 240);
    folder_remove(f.path);
}

TEST(no_number_of_a_process_changes_unnoticed)
{
    static const target changed[] = {
        { "steps/gravity", 1 },
        { "steps/gravity_work", 1 },
        { "steps/entered_energy", 1 },
        { "steps/left_mass", 1 },
        { "steps/entered_mass", 1 },
        { "certificate/bodies/v", 1 },
        { NULL, 0 },
    };
    static const char *const counts[] = { "steps/left", "steps/entered", NULL };
    folder f = folder_create();
    run_into(&f, scene_process, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_INT(tamper_with_reals(&f, changed, "nothing", 1), 6);
    CHECK_INT(tamper_with_integers(&f, counts, 2), 4);
    check_noticed(&f, "steps/friction", 2 * 80, 0.7); /* of the floor, in a step with contacts */
    folder_remove(f.path);
}

/* A ball on a gate that opens at 0.05 s; the run ends when it has left. */
static const char *const scene_gate =
    "cairn: 1\n"
    "bodies:\n"
    "  - {name: gate, motion: driven, shape: {box: {size: [1, 1, 0.2]}}, position: [0, 0, -0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}\n"
    "outlets: [height: {below: -0.2}]\n"
    "events:\n"
    "  - {when: {time: {at: 0.05}}, do: {open: gate}}\n"
    "  - {when: {mass_below: {mass: 1}}, do: stop_run}\n"
    "run: {time_step: 5e-3, duration: 1, certificate: full, paraview: false, picture: false}\n";

TEST(a_gate_that_opens_is_certified_and_none_without_an_event)
{
    folder f = folder_create();
    run_into(&f, scene_gate, NULL);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    check_noticed(&f, "events/step", 0, 9);  /* the gate is gone after step 10 */
    check_noticed(&f, "events/step", 1, 12); /* nothing ended the run */
    folder_remove(f.path);
}

/* A gate opens, and a ball leaves, after the last step, which is a frame only because it is the
 * last: by its duration, or by an event that comes after the gate's. */
static const char *const scene_last =
    "cairn: 1\n"
    "bodies:\n"
    "  - {name: gate, motion: fixed, shape: {box: {size: [1, 1, 0.2]}}, position: [0, 0, -1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, -0.1922]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [2, 0, 1]}\n"
    "outlets: [height: {below: -0.2}]\n"
    "events:\n"
    "  - {when: {time: {at: 0.04}}, do: {open: gate}}\n"
    "  - {when: {time: {at: 0.04}}, do: stop_run}\n"
    "run: {time_step: 1e-2, duration: 1, frame_interval: 0.03, certificate: full,\n"
    "      statistics: [energy, flow], paraview: false, picture: false}\n";

TEST(events_and_outlets_after_the_last_step_are_certified)
{
    static const char *const overrides[] = {
        NULL, "run.duration=0.04", "events=[{when: {time: {at: 0.04}}, do: {open: gate}}]"
    };
    for (int k = 0; k < 3; k++) {
        folder f = folder_create();
        run_into(&f, scene_last, overrides[k]);
        if (full_verdict(&f) != CERTIFIED)
            fail_msg("%s", file_text(&f, "said.txt"));
        CHECK(k == 2 || count_numbers(&f, "frames/step") == 3);
        folder_remove(f.path);
    }
}

static bool stop_at_4(const cairn_progress *progress, void *context)
{
    (void)context;
    return progress->step < 4;
}

/* The state after the gate opened is not that of the step: a run that is interrupted then has no
 * frame of it, and goes on like one that was not. */
TEST(a_run_that_is_interrupted_when_a_gate_opens_is_certified)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_last, "run.duration=0.06");
    const cairn_resume_options options = { .threads = 1 };
    scene->events[1].from = 9;
    CHECK_OK(cairn_run(scene, f.path, stop_at_4, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    CHECK_OK(cairn_run_resume(f.path, &options, &scene, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    CHECK_INT(count_numbers(&f, "frames/step"), 3);
    folder_remove(f.path);
}

/* An outlet takes a ball before step 5, which fails. */
TEST(a_run_that_failed_when_a_ball_had_left_is_certified)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_last, "gravity=[0, 0, -9.81 + 0 * log(0.0401 - t)]");
    scene->event_count = 0;
    CHECK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL) != CAIRN_OK);
    cairn_scene_destroy(scene);
    if (full_verdict(&f) != CERTIFIED)
        fail_msg("%s", file_text(&f, "said.txt"));
    CHECK_CONTAINS(file_text(&f, "said.txt"), "certified: 4 steps");
    folder_remove(f.path);
}

GROUP(test_cairn_check_processes)
{
    RUN(CASE(a_gate_that_opens_is_certified_and_none_without_an_event),
        CASE(events_and_outlets_after_the_last_step_are_certified),
        CASE(a_run_that_is_interrupted_when_a_gate_opens_is_certified),
        CASE(a_run_that_failed_when_a_ball_had_left_is_certified),
        CASE(functions_of_time_and_outlets_are_certified),
        CASE(a_process_that_went_on_from_a_checkpoint_is_certified),
        CASE(no_number_of_a_process_changes_unnoticed));
}

/* ==== test_groups: bodies that their groups keep apart ======================================== */

/* Three balls above a floor of group 1. The first meets all; the second does not meet group 1; the
 * third, of group 2, is not in the mask of the floor. The last two fall through the floor, and the
 * second, which does not meet group 2 either, through the third. */
static const char *const scene_groups =
    "cairn: 1\n"
    "gravity: [0, 0, -10]\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, group: 1, mask: 1, shape: half_space}\n"
    "  - {name: rests, shape: {sphere: {radius: 0.1}}, position: [1, 0, 0.1]}\n"
    "  - {name: sieve, mask: 1, shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.2],\n"
    "     velocity: [0, 0, -2]}\n"
    "generators:\n"
    "  - grid: {count: [1, 1, 1], spacing: [1, 1, 1], origin: [0, 0, 0.05], radius: 0.1, group: "
    "2}\n"
    "run: {time_step: 4e-3, duration: 0.2, certificate: full, paraview: false, picture: false}\n";

TEST(groups_keep_bodies_apart)
{
    folder f = folder_create();
    cairn_scene *s = scene_text_good(scene_groups, NULL);
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    const cairn_bodies b = cairn_world_bodies(s->world);
    int row[4];
    for (uint64_t i = 0; i < 4; i++)
        row[i] = cairn_body_row(s->world, (cairn_body_id){ i });
    CHECK_NEAR(b.x[row[1]].z, 0.1, 1e-9);
    CHECK_NEAR(b.v[row[2]].z, -2 - 10 * 0.2, 1e-12); /* free fall */
    CHECK_NEAR(b.v[row[3]].z, -10 * 0.2, 1e-12);
    cairn_scene_destroy(s);
    CHECK_INT(full_verdict(&f), CERTIFIED);
    /* without its group the third ball would have had to touch: the checker looks for it */
    double other = 0;
    swap_number(&f, "bodies/group", 3, &other);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    folder_remove(f.path);
}

/* A contact that the groups exclude is noticed. */
TEST(contacts_against_the_groups_are_noticed)
{
    folder f = folder_create();
    double other = 1;
    run_into(&f, scene_groups, NULL);
    swap_number(&f, "bodies/ignores", 1, &other); /* the ball at rest ignores group 0 ... */
    CHECK_INT(verdict(&f), CERTIFIED);
    other = 2; /* ... or that of the floor */
    swap_number(&f, "bodies/ignores", 1, &other);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "groups of its two bodies exclude it");
    folder_remove(f.path);
}

/* scenes/sieve.yaml: 5 large grains of a table stay above the sieve at 0.5 m, 48 small ones fall
 * through. */
TEST(a_sieve_lets_small_grains_through)
{
    cairn_scene *s = NULL;
    int above = 0, below = 0;
    CHECK_OK(cairn_scene_load(CAIRN_SOURCE_DIR "/scenes/sieve.yaml", NULL, 0, &s, NULL));
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    const cairn_bodies b = cairn_world_bodies(s->world);
    for (int i = b.held; i < b.count; i++) {
        above += b.x[i].z > 0.5 && b.ball[i] > 0.05;
        below += b.x[i].z < 0.2 && b.ball[i] < 0.05;
    }
    CHECK_INT(above, 5);
    CHECK_INT(below, 48);
    cairn_scene_destroy(s);
}

TEST(groups_survive_saving)
{
    cairn_scene *s = scene_text_good(scene_groups, NULL);
    folder f = folder_create();
    CHECK_OK(cairn_state_write(s, path_in(&f, "state").text, NULL));
    char text[400];
    snprintf(text, sizeof text,
             "cairn: 1\nstart: {run: %s}\nrun: {time_step: 4e-3, duration: 0.2}\n",
             path_in(&f, "state").text);
    cairn_scene *t = scene_text_good(text, NULL);
    CHECK_OK(cairn_run(s, NULL, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_run(t, NULL, NULL, NULL, NULL, NULL));
    CHECK(cairn_world_hash(s->world) == cairn_world_hash(t->world));
    CHECK(cairn_world_surface_laws(t->world).grouped);
    cairn_scene_destroy(s);
    cairn_scene_destroy(t);
    folder_remove(f.path);
}

TEST(wrong_groups_are_refused)
{
    cairn_scene *s;
    cairn_error error;
    CHECK_INT(scene_text_load(HEAD "bodies:\n  - {group: 31, shape: {sphere: {radius: 1}}}\n", NULL,
                              &s, &error),
              CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "bodies.0.group");
    CHECK_INT(error.line, 4);
    CHECK_CONTAINS(error.message, "found 31, expected a whole number");
}

GROUP(test_groups)
{
    RUN(CASE(groups_keep_bodies_apart), CASE(contacts_against_the_groups_are_noticed),
        CASE(a_sieve_lets_small_grains_through), CASE(groups_survive_saving),
        CASE(wrong_groups_are_refused));
}
