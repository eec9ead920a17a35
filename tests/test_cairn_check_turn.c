/* test_cairn_check_turn.c - cairn-check computes free turning and swinging again, by the
 * rules of the file. */
#include "check_runs.h"

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

/* Files before there were other rules have no such attribute. */
static void forget_rules(const folder *f)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0);
    CHECK(H5Adelete(file, "rules") >= 0);
    CHECK(H5Fclose(file) >= 0);
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

TEST(files_of_the_rules_before_are_certified_by_those)
{
    folder f = folder_create();
    run_into(&f, scene_spinner, NULL);
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

int main(void)
{
    RUN(CASE(free_turning_is_certified_by_its_own_rule),
        CASE(what_swings_is_certified_by_its_own_rule),
        CASE(files_of_the_rules_before_are_certified_by_those));
}
