/* test_cairn_check_restraint.c - cairn-check certifies steps whose restitution was reduced, and
 * recomputes that impacts make no energy. */
#include "tests/check/check_runs.h"

/* Three balls that just fit between two walls. */
static const char *const scene_tight =
    "cairn: 1\n"
    "gravity: [0, 0, 0]\n"
    "materials: {m: {friction: 0.1, restitution: 0.9}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: {inside_box: {size: [3, 4, 4]}}}\n"
    "  - {mass: 1, material: m, shape: &ball {sphere: {radius: 0.5}}, position: [-1, -0.0005, 0],\n"
    "     velocity: [-1.9, -0.44, -0.18]}\n"
    "  - {mass: 1, material: m, shape: *ball, position: [0, -0.001, 0], velocity: [0, -1, -0.1]}\n"
    "  - {mass: 1, material: m, shape: *ball, position: [1, -0.0005, 0],\n"
    "     velocity: [0, -0.55, 0.07]}\n"
    "run: {time_step: 5e-4, duration: 0.01, certificate: full, paraview: false, picture: false}\n";

static double total_reduced(const folder *f, int steps)
{
    double column[128], sum = 0;
    CHECK_INT(h5_numbers(path_in(f, "run.h5").text, "steps/impacts_reduced", column, 128), steps);
    for (int k = 0; k < steps; k++)
        sum += column[k];
    return sum;
}

TEST(reduced_restitution_is_certified_in_every_scheme)
{
    for (int i = 0; cairn_scheme_name(i); i++) {
        char override[64];
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        check_verdict(scene_tight, override, "certified: 20 steps");
    }
    check_verdict(scene_tight, "run.impact_rounds=0", "certified: 20 steps");
    check_verdict(scene_tight, "materials.m.restitution_law=poisson", "certified: 20 steps");
}

TEST(reduced_restitution_does_not_change_unnoticed)
{
    static const target reals[] = { { "certificate/contacts/bias", 1 },
                                    { "certificate/contacts/impulse", 1 },
                                    { "certificate/impacts/impulse", 1 },
                                    { "steps/impact_loss", 1 },
                                    { NULL, 0 } };
    static const char *const integers[] = { "steps/impacts_reduced", "steps/impacts_left",
                                            "certificate/impacts/contact", NULL };
    folder f = folder_create();
    run_into(&f, scene_tight, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK(total_reduced(&f, 20) > 0);
    tamper_with_reals(&f, reals, "nothing is left out", 3);
    tamper_with_integers(&f, integers, 3);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

/* Two rods that hang on each other and swing onto the floor: one step made 957 J into 2,050 J. What
 * joints supply is not the work of contacts. */
TEST(a_double_pendulum_that_hits_the_floor_makes_no_energy)
{
    static const char *const scene =
        "cairn: 1\n"
        "dimension: 2\n"
        "gravity: [0, -9.81]\n"
        "materials: {m: {friction: 0.2, restitution: 1}}\n"
        "bodies:\n"
        "  - {motion: fixed, material: m, shape: half_space, position: [0, -1.6]}\n"
        "  - {name: a, material: m, mass: 25, shape: {box: {size: [1, 0.1]}}, position: [0.5, 0],\n"
        "     velocity: [0, -10], angular_velocity: -20}\n"
        "  - {name: b, material: m, mass: 2, shape: {box: {size: [1, 0.1]}}, position: [1.5, 0],\n"
        "     velocity: [0, -20]}\n"
        "joints:\n"
        "  - {revolute: {a: a, anchor: [0, 0], collide: false}}\n"
        "  - {revolute: {a: b, b: a, anchor: [1, 0], collide: false}}\n"
        "run: {time_step: 1e-2, duration: 1, certificate: full, paraview: false, picture: false}\n";
    folder f = folder_create();
    run_into(&f, scene, "run.scheme=coulomb");
    CHECK(strstr(said_of(&f), "the law does not allow") == NULL);
    CHECK(strstr(said_of(&f), "energy_made") == NULL);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

/* The rod of a_motor_pays_for_no_more_than_it_does (tests/world/test_gain.c): the run must not gain
 * on account of a motor that could do far more work than it does, and the program must see that. */
TEST(a_motor_pays_for_no_more_than_it_does)
{
    static const char *const scene =
        "cairn: 1\n"
        "dimension: 2\n"
        "gravity: [0, 0]\n"
        "materials: {m: {friction: 0.6, restitution: 0.9}}\n"
        "bodies:\n"
        "  - {motion: fixed, material: m, shape: half_space}\n"
        "  - {name: rod, material: m, mass: 1, shape: {box: {size: [2, 0.001]}},\n"
        "     position: [0, 0.7075], angle: 0.785398, velocity: [0.6, -1]}\n"
        "  - {name: wheel, material: m, mass: 0.001, shape: {sphere: {radius: 0.1}},\n"
        "     position: [0, 0.7075], velocity: [0.6, -1]}\n"
        "joints:\n"
        "  - {revolute: {a: wheel, b: rod, anchor: [0, 0.7075],\n"
        "     turn: {motor: velocity, target: 1.0e+5, effort: 0.1}}}\n"
        "run: {time_step: 1e-3, duration: 0.01, tolerance: 1e-9, certificate: full,\n"
        "      paraview: false, picture: false}\n";
    folder f = folder_create();
    run_into(&f, scene, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK(total_reduced(&f, 10) > 0);
    folder_remove(f.path);
}

GROUP(test_cairn_check_restraint)
{
    RUN(CASE(reduced_restitution_is_certified_in_every_scheme),
        CASE(reduced_restitution_does_not_change_unnoticed),
        CASE(a_double_pendulum_that_hits_the_floor_makes_no_energy),
        CASE(a_motor_pays_for_no_more_than_it_does));
}
