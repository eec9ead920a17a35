/* test_cairn_check_chain.c - cairn-check certifies runs with several impacts in a step, and notices
 * when they are not what they should be. */
#include "check_tampering.h"

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
    "run: {impact_rounds: 100, time_step: 8e-3, duration: 0.4, frame_interval: 0.04, certificate: full, scheme: "
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
    "run: {impact_rounds: 100, time_step: 3e-3, duration: 0.12, frame_interval: 0.02, certificate: full,\n"
    "      paraview: false, picture: false}\n";

static const char *const schemes[] = { "frictionless", "convex",  "convex-polyhedral", "auto",
                                       "lcp",          "coulomb", "fixed-point" };

TEST(impacts_within_a_step_are_certified_in_every_scheme)
{
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        char override[64];
        snprintf(override, sizeof override, "run.scheme=%s", schemes[i]);
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

int main(void)
{
    RUN(CASE(impacts_within_a_step_are_certified_in_every_scheme),
        CASE(the_scenes_have_many_of_them), CASE(rounds_that_were_not_enough_are_certified_as_told),
        CASE(no_number_of_an_impact_changes_unnoticed));
}
