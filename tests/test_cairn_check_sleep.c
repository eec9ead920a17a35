/* test_cairn_check_sleep.c - cairn-check certifies runs in which bodies sleep, and notices when they
 * do not do so as they should. */
#include "check_tampering.h"

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

int main(void)
{
    RUN(CASE(runs_in_which_bodies_sleep_are_certified),
        CASE(the_scene_has_sleepers_and_one_group_that_wakes),
        CASE(a_sleeper_that_moves_or_is_not_marked_is_noticed), CASE(changed_numbers_are_noticed));
}
