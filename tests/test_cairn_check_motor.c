/* test_cairn_check_motor.c - cairn-check finds the gains of motors and what they feel by itself. */
#include "check_runs.h"

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

int main(void)
{
    RUN(CASE(motors_with_every_choice_of_gains_are_certified),
        CASE(no_gain_of_a_motor_changes_unnoticed));
}
