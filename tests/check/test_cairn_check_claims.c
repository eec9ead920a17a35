/* test_cairn_check_claims.c - what a run says of its bodies, laws, events and attempts contradicts
 * the rest of the file if it is changed. */
#include <math.h>

#include "tests/check/check_runs.h"

/* A gate opens, balls come, leave and come back; walls and solids that nothing touches. */
static const char *const scene_claims =
    "cairn: 1\n"
    "materials: {a: {friction: 0.3}, b: {friction: 0.5, restitution: 0.2}, c: {friction: 0.1}}\n"
    "pairs: [{materials: [a, c], friction: 0.25}]\n"
    "bodies:\n"
    "  - {name: gate, motion: fixed, material: a, shape: {box: {size: [1, 1, 0.2]}},\n"
    "     position: [0, 0, -1]}\n"
    "  - {motion: fixed, material: a, shape: {inside_cylinder: {radius: 30}}}\n"
    "  - {motion: fixed, material: a, shape: {inside_cone: {half_angle: 1}}, position: [0, 0, -50]}\n"
    "  - {motion: fixed, material: a, shape: half_space, position: [0, 0, -60]}\n"
    "  - {motion: fixed, material: a, shape: {inside_box: {size: [100, 100, 200]}}}\n"
    "  - {material: b, shape: {sphere: {radius: 0.1}}, position: [0, 0, -0.1922]}\n"
    "  - {material: c, shape: {capsule: {radius: 0.1, length: 0.3}}, position: [3, 0, 1]}\n"
    "  - {material: c, shape: {ellipsoid: {semi_axes: [0.1, 0.2, 0.3]}}, position: [7, 0, 1]}\n"
    "  - {material: c, shape: point, mass: 1, position: [2, 1, 1]}\n"
    "  - {material: c, shape: {compound: {parts: [{shape: {sphere: {radius: 0.1}}},\n"
    "     {shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0.2, 0, 0]}]}}, position: [10, 0, 1]}\n"
    "generators:\n"
    "  - pour: {name: top, material: b, count: 3, rate: 100, centre: [0, 0, 0.3],\n"
    "           size: [0.6, 0.4, 0.1], velocity: [0, 0, -5], radius: 0.04}\n"
    "outlets: [height: {below: -0.2, to: top}]\n"
    "events:\n"
    "  - {when: {time: {at: 0.04}}, do: {open: gate}}\n"
    "  - {when: {time: {at: 0.2}}, do: {save_state: x}}\n"
    "  - {when: {time: {at: 0.2}}, do: stop_run}\n"
    "run: {time_step: 1e-2, duration: 1, frame_interval: 0.03, certificate: full,\n"
    "      paraview: false, picture: false}\n";

/* Rows: 0 gate, 1 to 4 walls, 5 ball, 6 capsule, 7 ellipsoid, 8 point, 9 compound, 10 to 12 poured,
 * then those that came back. */
static const struct change {
    const char *name;
    hsize_t place;
    double value;
} changes[] = {
    { "bodies/shape", 0, 6 }, /* the inside of a box */
    { "bodies/shape", 1, 0 }, /* a ball */
    { "bodies/shape", 1, 8 }, /* a capsule */
    { "bodies/shape", 2, 2 }, /* a half-space */
    { "bodies/shape", 3, 8 },
    { "bodies/shape", 4, 7 }, /* a box */
    { "bodies/shape", 5, 1 }, /* a point */
    { "bodies/shape", 5, 3 }, /* the inside of a cylinder */
    { "bodies/shape", 6, 9 }, /* a cylinder */
    { "bodies/shape", 7, 12 }, /* a superellipsoid */
    { "bodies/shape", 8, 2 },
    { "bodies/shape", 9, 14 }, /* a mesh */
    { "bodies/shape", 13, 1 },
    { "bodies/radius", 0, 0.01 },
    { "bodies/radius", 3, 0.01 },
    { "bodies/radius", 5, 0.1001 },
    { "bodies/radius", 6, 0.1001 },
    { "bodies/radius", 8, 0.01 },
    { "bodies/radius", 9, 0.01 },
    { "bodies/radius", 1, 0 },
    { "bodies/half_angle", 5, 0.01 },
    { "bodies/bottom_radius", 5, 0.01 },
    { "bodies/top_radius", 2, 0.01 },
    { "bodies/height", 6, 0.01 },
    { "bodies/length", 5, 0.01 },
    { "bodies/rounding", 5, 0.01 },
    { "bodies/exponents", 2 * 7, 2 },
    { "bodies/size", 3 * 5 + 1, 0.1 },
    { "bodies/semi_axes", 3 * 5 + 2, -0.1 },
    { "bodies/geometry", 5, 0 },
    { "bodies/geometry", 9, -1 },
    { "bodies/born", 5, 1e-9 },
    { "bodies/born", 7, -1e-9 },
    { "bodies/born", 10, 0 },
    { "bodies/born", 12, 0.03 },
    { "bodies/passes", 5, 1 },
    { "bodies/passes", 10, 1 },
    { "bodies/passes", 13, 0 },
    { "bodies/passes", 13, 2 },
    { "bodies/passes", 13, 0.5 },
    { "bodies/first", 7, 6 },
    { "bodies/first", 10, 5 },
    { "bodies/first", 13, 13 },
    { "bodies/first", 13, 6 },
    { "events/event", 0, 1 },
    { "events/event", 1, 2 },
    { "events/event", 2, 1 },
    { "events/event", 0, -1 },
    { "events/step", 0, 5 },
    { "events/step", 1, 19 },
    { "events/step", 1, 21 },
    { "events/step", 1, 4.5 },
    { "events/time", 0, 0.05 },
    { "events/time", 2, 0.2 + 1e-9 },
    { "certificate/law_first", 0, 1 },
    { "certificate/law_first", 4, 2 },
    { "certificate/law_first", 2, 0 },
    { "certificate/law_first", 6, 2 },
    { "certificate/law_first", 8, 3 },
    { "certificate/law_second", 1, 3 },
    { "certificate/law_second", 4, 0 },
    { "certificate/law_second", 6, 0 },
    { "certificate/friction", 4, 0.50001 },
    { "certificate/friction", 7, 0.10001 },
    { "certificate/restitution", 1, 0.3 },
    { "certificate/poisson", 3, 1 },
    { "certificate/poisson", 8, 0.5 },
    { "certificate/laws", 8, 0.50001 },
    { "frames/contact_offset", 0, 1 },
    { "frames/contact_offset", 1, 1 },
    { "frames/body_offset", 0, 1 },
    { "frames/joint_offset", 0, 1 },
    { "steps/attempts", 3, 0 },
    { "steps/attempts", 3, 21 },
};

TEST(no_claim_of_a_run_that_contradicts_it_is_believed)
{
    folder f = folder_create();
    run_into(&f, scene_claims, NULL);
    if (full_verdict(&f) != CERTIFIED)
        fail_msg("%s", file_text(&f, "said.txt"));
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++)
        check_noticed(&f, changes[k].name, changes[k].place, changes[k].value);
    CHECK_INT(verdict(&f), CERTIFIED); /* all was put back */
    folder_remove(f.path);
}

/* Numbers that a shape does not use, and a clock that went back: made in C. */
TEST(what_c_programs_leave_behind_is_not_stored)
{
    folder f = folder_create();
    cairn_scene scene = scene_create(3);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.shape.height = def.shape.size.y = 7;
    def.density = 1000;
    def.position = (cairn_vec3){ 0, 0, 5 };
    scene.run.certificate = "full";
    CHECK_OK(cairn_world_restart(scene.world, 3));
    CHECK_OK(cairn_body_create(scene.world, &def, NULL));
    CHECK_OK(cairn_world_restart(scene.world, 1));
    CHECK_OK(cairn_run(&scene, f.path, NULL, NULL, NULL, NULL));
    if (full_verdict(&f) != CERTIFIED)
        fail_msg("%s", file_text(&f, "said.txt"));
    scene_destroy(&scene);
    folder_remove(f.path);
}

GROUP(test_cairn_check_claims)
{
    RUN(CASE(no_claim_of_a_run_that_contradicts_it_is_believed),
        CASE(what_c_programs_leave_behind_is_not_stored));
}

/* ==== test_cairn_check_gain: energy that contacts make is counted ============================= */

/* A block that slides, a ball that rolls over a hill, balls that bounce off each other, one that is
 * carried by a belt: none of them gets energy from a contact. */
static const char *const scene_passive =
    "cairn: 1\n"
    "materials:\n"
    "  m: {friction: 0.3}\n"
    "  hard: {friction: 0, restitution: 0.9}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: half_space}\n"
    "  - {motion: fixed, material: m, shape: half_space, position: [0, 0, -0.01],\n"
    "     surface_velocity: [1, 0, 0]}\n"
    "  - {motion: fixed, material: m, shape: {sphere: {radius: 1}}, position: [0, 5, 1]}\n"
    "  - {material: m, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0.1, 5, 2.0955]}\n"
    "  - {material: m, shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 1, position: [0, -5, 0.1],\n"
    "     velocity: [1, 0, 0]}\n"
    "  - {material: hard, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, -9, 0.3]}\n"
    "  - {material: hard, shape: {sphere: {radius: 0.1}}, mass: 2, position: [1, -9, 0.301],\n"
    "     velocity: [-3, 0, 1]}\n"
    "run: {time_step: 2e-3, duration: 0.4, tolerance: 1e-8, certificate: full, paraview: false,\n"
    "      picture: false}\n";

TEST(what_loses_energy_makes_none)
{
    check_verdict(scene_passive, "run.scheme=coulomb", "energy: no step in which contacts made any");
    check_verdict(scene_passive, "run.scheme=convex", "energy: no step in which contacts made any");
}

/* A number of the step in which the block slides: contacts of the block are the last ones. */
TEST(friction_that_drives_is_counted)
{
    folder f = folder_create();
    run_into(&f, scene_passive, "run.scheme=coulomb");
    hsize_t last = (hsize_t)swap_number(&f, "certificate/contact_offset", 5, NULL);
    hsize_t first = (hsize_t)swap_number(&f, "certificate/contact_offset", 4, NULL);
    CHECK(last > first);
    for (hsize_t k = first; k < last; k++)
        for (hsize_t i = 3 * k + 1; i < 3 * k + 3; i++) {
            double turned = -swap_number(&f, "certificate/contacts/impulse", i, NULL);
            swap_number(&f, "certificate/contacts/impulse", i, &turned);
        }
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "energy: contacts made some in 1 step: ");
    CHECK_CONTAINS(file_text(&f, "said.txt"), " J in step 5 (normal impulses ");
    folder_remove(f.path);
}

/* Friction whose direction is turned in every number that follows from it, as far as these are
 * compared one by one, is still friction that drives. */
TEST(friction_that_drives_is_refused_by_its_energy)
{
    folder f = folder_create();
    run_into(&f, scene_passive, "run.scheme=coulomb");
    hsize_t last = (hsize_t)swap_number(&f, "certificate/contact_offset", 5, NULL);
    hsize_t first = (hsize_t)swap_number(&f, "certificate/contact_offset", 4, NULL);
    for (hsize_t k = first; k < last; k++)
        for (hsize_t i = 3 * k + 1; i < 3 * k + 3; i++) {
            double turned = -swap_number(&f, "certificate/contacts/impulse", i, NULL);
            swap_number(&f, "certificate/contacts/impulse", i, &turned);
        }
    CHECK_CONTAINS(said_of(&f), " J that the law does not allow, in a group of 1 body with ");
    CHECK_CONTAINS(said_of(&f), "energy: more than the law allows in 1 step, ");
    folder_remove(f.path);
}

/* 24 balls that touch go round in a tube with 4 to 8 m/s; the solver is stopped at once. */
static void write_tube(char *text, size_t size)
{
    size_t n = (size_t)snprintf(
        text, size,
        "cairn: 1\ndimension: 2\ngravity: [0, 0]\nmaterials: {m: {friction: 0}}\nbodies:\n"
        "  - {motion: fixed, material: m, shape: {inside_cylinder: {radius: 1}}}\n");
    for (int i = 0; i < 24; i++) {
        double turn = 2 * asin(0.1 / 0.9) * i, c = cos(turn), s = sin(turn), v = 6 + 2 * sin(3. * i);
        n += (size_t)snprintf(text + n, size - n,
                              "  - {material: m, mass: 1, shape: {sphere: {radius: 0.1}},\n"
                              "     position: [%.17g, %.17g], velocity: [%.17g, %.17g]}\n",
                              0.9 * c, 0.9 * s, -v * s, v * c);
    }
    snprintf(text + n, size - n,
             "run: {time_step: 2e-3, duration: 0.04, scheme: coulomb, solver: admm,\n"
             "      tolerance: 1e-6, certificate: full, paraview: false, picture: false}\n");
}

/* A step that says so is missed; one that does not is refused, whatever else it says. */
TEST(energy_of_a_stopped_solver_is_named)
{
    static char scene[8192];
    double none = 0, yes = 1;
    folder f = folder_create();
    write_tube(scene, sizeof scene);
    run_into(&f, scene, NULL);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
    f = folder_create();
    run_into(&f, scene, "run.max_iterations=1");
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "energy: more than the law allows in ");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"energy_made\"");
    CHECK(strstr(said_of(&f), "that the law does not allow") == NULL);
    double groups = swap_number(&f, "steps/energy_made_groups", 0, NULL);
    CHECK(groups > 0 && swap_number(&f, "steps/energy_made", 0, NULL) > 0);
    swap_number(&f, "steps/energy_made_groups", 0, &none);
    swap_number(&f, "steps/energy_made", 0, &none);
    CHECK_CONTAINS(said_of(&f), "step 1: energy_made: stored 0, recomputed between ");
    swap_number(&f, "steps/converged", 0, &yes);
    CHECK_CONTAINS(said_of(&f), "that the law does not allow");
    folder_remove(f.path);
}

/* A normal impulse that leaves a body faster than it came: 1,000 times that of a bounce. */
TEST(impacts_that_give_energy_are_counted)
{
    static const char *const scene =
        "cairn: 1\n"
        "gravity: [0, 0, 0]\n"
        "materials: {m: {restitution: 1}}\n"
        "bodies:\n"
        "  - {motion: fixed, material: m, shape: half_space}\n"
        "  - {material: m, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.1],\n"
        "     velocity: [0, 0, -1]}\n"
        "run: {time_step: 1e-3, duration: 0.01, certificate: full, paraview: false,\n"
        "      picture: false}\n";
    double speed = 1.01;
    folder f = folder_create();
    run_into(&f, scene, NULL);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "energy: no step");
    swap_number(&f, "certificate/bodies/v", 3 * 3 + 2, &speed); /* of the ball after step 1 */
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "energy: contacts made some in 1 step: ");
    folder_remove(f.path);
}

/* Without details, from the sums of the ledger, which still closes. */
TEST(a_ledger_that_gives_energy_is_counted)
{
    folder f = folder_create();
    run_into(&f, scene_passive, "run.certificate=summary");
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    double friction = swap_number(&f, "steps/friction_loss", 20, NULL) - 1;
    double numerical = swap_number(&f, "steps/numerical_loss", 20, NULL) + 1;
    swap_number(&f, "steps/friction_loss", 20, &friction);
    swap_number(&f, "steps/numerical_loss", 20, &numerical);
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "of the energy of all bodies");
    CHECK_CONTAINS(file_text(&f, "said.txt"), " J in step 21 (normal impulses ");
    folder_remove(f.path);
}

GROUP(test_cairn_check_gain)
{
    RUN(CASE(what_loses_energy_makes_none), CASE(friction_that_drives_is_counted),
        CASE(friction_that_drives_is_refused_by_its_energy),
        CASE(energy_of_a_stopped_solver_is_named), CASE(impacts_that_give_energy_are_counted),
        CASE(a_ledger_that_gives_energy_is_counted));
}
