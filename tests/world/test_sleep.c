/* test_sleep.c - bodies that sleep, what a step says about itself, and what a caller applies. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/common.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"
#include "tests/problems/worlds.h"
#include "world/step.h"

/* ==== test_sleep: groups at rest are not solved again, and wake when something happens to them */

static const cairn_vec3 zero = { 0, 0, 0 };

enum { STACKS = 4, HIGH = 4, CUBES = STACKS * HIGH };

/* Stacks of cubes of edge 0.2 on a floor, 2 m apart, dropped by a few millimetres: each is a group.
 * Body 0 is the floor, then cube by cube from below. */
static cairn_world *new_stacks(void)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_body_def def = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.2, 0.2, 0.2 };
    for (int k = 0; k < STACKS; k++)
        for (int i = 0; i < HIGH; i++) {
            def.position = (cairn_vec3){ 2 * k, 0.001 * i * k, 0.1 + 0.203 * i };
            CHECK_OK(cairn_body_create(world, &def, NULL));
        }
    return world;
}

static cairn_step_options options_with(const char *scheme, bool sleep)
{
    cairn_step_options options = step_by(0.005, scheme, 1e-4);
    options.sleep = sleep;
    options.threads = 1;
    return options;
}

/* Steps until all dynamic bodies sleep; fails after 800. */
static void advance_to_sleep(cairn_world *world, const cairn_step_options *options, int bodies)
{
    int steps = 0;
    while (advance(world, options, 1).asleep < bodies && steps < 800)
        steps++;
    CHECK(steps < 800);
}

/* Steps in which all sleep on: nobody wakes, nothing is solved, the certificate stands. */
static void check_sleeps_on(cairn_world *world, const cairn_step_options *options, int bodies,
                            int steps)
{
    size_t bytes = (size_t)world->bodies.count * sizeof(cairn_vec3);
    cairn_vec3 *places = malloc(bytes);
    memcpy(places, world->bodies.x, bytes);
    for (int k = 0; k < steps; k++) {
        cairn_step_report report = advance(world, options, 1);
        CHECK_INT(report.asleep, bodies);
        CHECK_INT(report.woken, 0);
        CHECK_INT(report.solve.iterations, 0);
        CHECK(report.certificate.judgement.asked.relative <= options->tolerance);
        CHECK_NEAR(report.energy.kinetic, 0, 0);
        CHECK_NEAR(report.energy.sleep_loss, 0, 0);
    }
    CHECK(memcmp(places, world->bodies.x, bytes) == 0); /* not a bit */
    free(places);
}

TEST(stacks_fall_asleep_and_stay_so_by_every_scheme)
{
    for (int i = 0; cairn_scheme_name(i); i++) {
        cairn_step_options options = options_with(cairn_scheme_name(i), true);
        if (strcmp(options.scheme, "auto") == 0)
            continue;
        cairn_world *world = new_stacks();
        advance_to_sleep(world, &options, CUBES);
        advance(world, &options, 2); /* the first steps from v = 0 may still be solved */
        check_sleeps_on(world, &options, CUBES, strcmp(options.scheme, "convex") ? 20 : 200);
        cairn_world_destroy(world);
    }
}

/* 30 balls of 80 to 100 mm with rolling and spinning friction that fall into a cylinder of 0.6 m */
static cairn_world *new_bed(void)
{
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    cairn_material_def rough = { .friction = 0.4,
                                 .rolling_friction = 0.004,
                                 .spinning_friction = 0.002 };
    uint64_t state = 5;
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &rough));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.3, zero);
    for (int k = 0; k < 30; k++) {
        double angle = 1.3 * k, from_axis = k % 5 == 4 ? 0 : 0.18;
        double radius = 0.08 + 0.02 * cairn_random_uniform(&state);
        double jitter = 0.02 * cairn_random_uniform(&state);
        cairn_vec3 at = { from_axis * cos(angle) + jitter, from_axis * sin(angle),
                          0.12 + 0.21 * (k / 2) };
        add_ball(world, radius, at, zero);
    }
    return world;
}

TEST(a_heap_of_balls_falls_asleep_and_stays_so)
{
    cairn_world *world = new_bed();
    cairn_step_options options = options_with("coulomb", true);
    options.tolerance = 1e-3;
    advance_to_sleep(world, &options, 30);
    advance(world, &options, 2);
    check_sleeps_on(world, &options, 30, 200);
    cairn_world_destroy(world);
}

/* a ball of 50 mm falls from 0.4 m onto the first stack: in the step in which it comes near, the
 * stack is one group with it, and awake; the others sleep on */
TEST(a_hit_wakes_the_group_that_is_hit_and_no_other)
{
    cairn_world *world = new_stacks();
    cairn_step_options options = options_with("convex", true);
    advance_to_sleep(world, &options, CUBES);
    int ball = add_ball(world, 0.05, (cairn_vec3){ 0.02, 0, 0.2 * HIGH + 0.45 }, zero);
    bool touched = false;
    for (int k = 0; k < 80 && !touched; k++) {
        cairn_step_report report = advance(world, &options, 1);
        cairn_contacts c = cairn_world_contacts(world);
        for (int j = 0; j < 2 * c.count; j++)
            touched = touched || (c.body[j] == ball);
        CHECK_INT(report.asleep, touched ? CUBES - HIGH : CUBES);
        CHECK_INT(report.woken, touched ? HIGH : 0);
    }
    CHECK(touched);
    double fastest = 0;
    for (int k = 0; k < 5; k++) {
        CHECK_INT(advance(world, &options, 1).asleep, CUBES - HIGH);
        for (int i = 1; i <= HIGH; i++)
            fastest = fmax(fastest, fabs(world->bodies.v[i].z) + fabs(world->bodies.v[i].x));
    }
    CHECK(fastest > 1e-6);                           /* 1e-4 g h is 5e-6: the cubes feel it */
    advance_to_sleep(world, &options, CUBES - HIGH); /* the ball may roll on for long */
    cairn_world_destroy(world);
}

/* gravity that turns by 0.03 is held by friction 0.5, by other impulses: solved again, and asleep;
 * turned by 1, beyond the angle of friction, it wakes everyone in that step */
TEST(another_load_is_solved_again_and_wakes_who_moves)
{
    cairn_world *world = new_stacks();
    cairn_step_options options = options_with("coulomb", true);
    advance_to_sleep(world, &options, CUBES);
    advance(world, &options, 5);
    world->gravity.x = 0.3;
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.solve.iterations > 0);
    CHECK_INT(report.asleep, CUBES);
    check_sleeps_on(world, &options, CUBES, 10);
    world->gravity.x = 9.81;
    report = advance(world, &options, 1);
    CHECK_INT(report.asleep, 0);
    CHECK_INT(report.woken, CUBES);
    CHECK(world->bodies.v[HIGH].x > 0.1 * 9.81 * 0.005); /* the top tips over */
    cairn_world_destroy(world);
}

/* without a floor all fall with g h at once */
TEST(what_loses_its_support_wakes)
{
    cairn_world *world = new_stacks();
    cairn_step_options options = options_with("convex", true);
    advance_to_sleep(world, &options, CUBES);
    CHECK_OK(cairn_body_destroy(world, (cairn_body_id){ world->bodies.uid[0] }));
    cairn_step_report report = advance(world, &options, 1);
    CHECK_INT(report.woken, CUBES);
    for (int i = 0; i < CUBES; i++)
        CHECK_NEAR(world->bodies.v[i].z, -9.81 * 0.005, 1e-3 * 9.81 * 0.005);
    cairn_world_destroy(world);
}

/* a velocity given from outside counts: the group goes on as one that is awake */
TEST(who_is_pushed_is_awake)
{
    cairn_world *world = new_stacks();
    cairn_step_options options = options_with("convex", true);
    advance_to_sleep(world, &options, CUBES);
    world->bodies.v[HIGH].x = 0.5; /* the top of the first stack */
    cairn_step_report report = advance(world, &options, 1);
    CHECK_INT(report.woken, HIGH);
    CHECK_INT(report.asleep, CUBES - HIGH);
    CHECK(world->bodies.v[HIGH].x > 0.3); /* friction and tipping take some of it */
    cairn_world_destroy(world);
}

/* 0.002 g h below the limit of 10 tolerance g h a floor that moves would carry the ball for ever */
TEST(what_is_moved_or_joined_never_sleeps)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_driver driver = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    cairn_body_def def = cairn_body_def_default();
    driver.velocity.x = 1e-5;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.motion = CAIRN_MOTION_DRIVEN;
    def.drivers = &driver;
    def.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    cairn_step_options options = options_with("coulomb", true);
    for (int k = 0; k < 40; k++)
        CHECK_INT(advance(world, &options, 1).asleep, 0);
    cairn_world_destroy(world);
    /* two balls on the floor, tied to each other: at rest from the start */
    cairn_scene *scene = scene_text_good(
        "cairn: 1\n"
        "bodies:\n"
        "  - {motion: fixed, shape: half_space}\n"
        "  - {name: a, shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}\n"
        "  - {name: b, shape: {sphere: {radius: 0.1}}, position: [0.5, 0, 0.1]}\n"
        "joints: [distance: {a: a, b: b, anchor: [0, 0, 0.1], anchor_b: [0.5, 0, 0.1]}]\n"
        "run: {time_step: 5e-3, duration: 1, sleep: true}\n",
        NULL);
    for (int k = 0; k < 60; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK_INT(report.asleep, 0);
    }
    cairn_scene_destroy(scene);
}

/* with and without: each of n steps may differ by the limit 10 tolerance g h, while awake ones add
 * up to as much */
TEST(sleep_changes_nothing_beyond_the_tolerance)
{
    enum { STEPS = 200 };
    cairn_world *worlds[2];
    for (int k = 0; k < 2; k++) {
        worlds[k] = new_stacks();
        add_ball(worlds[k], 0.05, (cairn_vec3){ 0.02, 0, 0.2 * HIGH + 1.5 }, zero);
        cairn_step_options options = options_with("convex", k == 1);
        advance(worlds[k], &options, STEPS);
    }
    cairn_bodies a = cairn_world_bodies(worlds[0]), b = cairn_world_bodies(worlds[1]);
    double most = STEPS * 10 * 1e-4 * 9.81 * 0.005 * 0.005; /* 5e-5 m */
    for (int i = 1 + HIGH; i <= CUBES; i++) {               /* the first stack is hit */
        CHECK(b.asleep[i] && !a.asleep[i]);
        CHECK_NEAR(a.x[i].x, b.x[i].x, most);
        CHECK_NEAR(a.x[i].y, b.x[i].y, most);
        CHECK_NEAR(a.x[i].z, b.x[i].z, most);
    }
    cairn_world_destroy(worlds[0]);
    cairn_world_destroy(worlds[1]);
}

/* what stopping takes is in the ledger, and is next to nothing: at most (10 tolerance g h)^2/2 a kg */
TEST(the_ledger_closes_when_bodies_fall_asleep)
{
    cairn_world *world = new_stacks();
    cairn_step_options options = options_with("moreau-jean", true);
    double lost = 0, mass = CUBES * 8, slow = 10 * 1e-4 * 9.81 * 0.005;
    for (int k = 0; k < 150; k++) {
        double before = total_energy(world);
        cairn_step_report report = advance(world, &options, 1);
        const cairn_energy *e = &report.energy;
        double flow = e->load_work + e->driver_work + e->correction - e->friction_loss -
                      e->impact_loss - e->numerical_loss - e->sleep_loss;
        CHECK_NEAR(total_energy(world) - before, flow, 1e-12 * fabs(before));
        lost += fabs(e->sleep_loss);
    }
    CHECK_INT(advance(world, &options, 1).asleep, CUBES);
    CHECK(lost > 0 && lost < 0.5 * mass * slow * slow);
    cairn_world_destroy(world);
}

TEST(what_cannot_sleep_is_refused_by_name)
{
    cairn_error error = { 0 };
    cairn_step_options options = options_with("auto", true);
    CHECK_INT(cairn_step_options_check(&options, 3, &error), CAIRN_UNSUPPORTED);
    CHECK_TEXT(error.key, "sleep");
    CHECK_CONTAINS(error.message, "found true with the scheme auto, expected another scheme");
    options.scheme = "convex";
    CHECK_OK(cairn_step_options_check(&options, 3, NULL));
    options.warm_start = false;
    CHECK_INT(cairn_step_options_check(&options, 3, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "found true with warm_start false, expected true");
}

/* switching it off wakes everyone */
TEST(sleep_can_be_switched_off)
{
    cairn_world *world = new_stacks();
    cairn_step_options options = options_with("convex", true);
    advance_to_sleep(world, &options, CUBES);
    options.sleep = false;
    cairn_step_report report = advance(world, &options, 1);
    CHECK_INT(report.asleep, 0);
    CHECK_INT(report.woken, CUBES);
    cairn_world_destroy(world);
}

GROUP(test_sleep)
{
    RUN(CASE(stacks_fall_asleep_and_stay_so_by_every_scheme),
        CASE(a_heap_of_balls_falls_asleep_and_stays_so),
        CASE(a_hit_wakes_the_group_that_is_hit_and_no_other),
        CASE(another_load_is_solved_again_and_wakes_who_moves), CASE(what_loses_its_support_wakes),
        CASE(who_is_pushed_is_awake), CASE(what_is_moved_or_joined_never_sleeps),
        CASE(sleep_changes_nothing_beyond_the_tolerance),
        CASE(the_ledger_closes_when_bodies_fall_asleep), CASE(what_cannot_sleep_is_refused_by_name),
        CASE(sleep_can_be_switched_off));
}

/* ==== test_certificate: what a step says about itself, against what one can see from outside */

/* a ball that sinks into a curved wall by the curvature of its path: (h v)^2/(2 R) */
TEST(penetration_is_the_overlap_after_the_step)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 1, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0.9, 0, 0 }, (cairn_vec3){ 0, 1, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    double seen = advance(world, &options, 1).certificate.penetration;
    CHECK_NEAR(seen, hypot(0.9, 0.01) - 0.9, 1e-15);
    CHECK_CLOSE(seen, 0.01 * 0.01 / (2 * 0.9), 1e-4);
    cairn_world_destroy(world);
}

TEST(a_loose_solve_shows_in_the_certificate)
{
    cairn_step_report loose = { 0 }, tight = { 0 };
    for (int i = 0; i < 2; i++) {
        cairn_world *world = new_heap(3, 0.3, 4);
        cairn_step_options options = step_by(0.005, "fixed-point", i ? 1e-8 : 1e-1);
        *(i ? &tight : &loose) = advance(world, &options, 100);
        cairn_world_destroy(world);
    }
    CHECK(tight.certificate.judgement.asked.relative <= 1e-8);
    CHECK(loose.certificate.judgement.asked.relative > 1e-6);
    CHECK(tight.certificate.gap_error < 1e-3 * loose.certificate.gap_error);
    CHECK(tight.certificate.complementarity < 1e-3 * loose.certificate.complementarity);
}

/* The largest h |min(o, w r_N)| and |r_N o| of all contacts, each with its own weight. */
static void worst_entries(const cairn_world *world, bool convex, double h, double worst[2])
{
    const double *r;
    const cairn_problem *p = cairn_world_problem(world, &r);
    cairn_contacts c = cairn_world_contacts(world);
    worst[0] = worst[1] = 0;
    for (int j = 0; j < c.count; j++) {
        const double *u = c.velocity + 3 * j;
        double open = u[0] + p->b[j] - (convex ? p->mu[j] * hypot(u[1], u[2]) : 0);
        double push = cairn_contact_inverse_mass(p, j) * r[3 * j];
        worst[0] = fmax(worst[0], h * fabs(fmin(open, push)));
        worst[1] = fmax(worst[1], fabs(r[3 * j] * open));
    }
}

/* The certificate looks up a weight only where it can matter: what it says is the worst of all. */
TEST(the_gap_error_is_the_worst_of_all_contacts)
{
    const char *const schemes[3] = { "frictionless", "convex", "fixed-point" };
    for (int i = 0; i < 3; i++) {
        cairn_world *world = new_heap(3, 0.3, 4);
        cairn_step_options options = step_by(0.005, schemes[i], 3e-2);
        for (int k = 0; k < 60; k++) {
            cairn_certificate seen = advance(world, &options, 1).certificate;
            double worst[2];
            worst_entries(world, i == 1, 0.005, worst);
            CHECK_NEAR(seen.gap_error, worst[0], 1e-12 * worst[0]);
            CHECK_NEAR(seen.complementarity, worst[1], 1e-12 * worst[1]);
        }
        CHECK(cairn_world_contacts(world).count > 20);
        cairn_world_destroy(world);
    }
}

/* friction opposes sliding exactly in a converged step */
TEST(friction_direction_is_right_when_solved)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 0.6, 0.8, 0 });
    cairn_step_options options = step_by(0.001, "fixed-point", 1e-12);
    cairn_step_report report = advance(world, &options, 10);
    cairn_contacts c = cairn_world_contacts(world);
    CHECK_NEAR(report.certificate.friction_direction, 0, 1e-12);
    CHECK_NEAR(hypot(c.impulse[1], c.impulse[2]), 0.2 * 0.01, 1e-12);
    CHECK_INT(report.active, 1);
    CHECK_INT(report.candidates, 1);
    cairn_world_destroy(world);
}

/* sliding between two edges of a four-sided cone: the scheme's law holds, Coulomb's does not */
TEST(edges_show_in_the_residual_of_exact_coulomb)
{
    double coulomb[2];
    for (int i = 0; i < 2; i++) {
        cairn_world *world = new_world(3, 10, 0.2, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 2, 1, 0 });
        cairn_step_options options = step_by(0.001, "lcp", 1e-9);
        options.directions = i ? 64 : 4;
        cairn_certificate c = advance(world, &options, 10).certificate;
        CHECK(c.judgement.asked.relative <= 1e-9);
        coulomb[i] = c.judgement.coulomb.relative;
        cairn_world_destroy(world);
    }
    CHECK(coulomb[0] > 1e-4); /* of the sliding speed, 2 m/s */
    CHECK(coulomb[1] < 0.2 * coulomb[0]);
}

/* Without gravity nothing closes where a ball slides along a floor, and so nothing is to be removed
 * by Coulomb's law; the convex law lets it lift, which is no error without measure. */
TEST(sliding_without_gravity_has_a_finite_residual)
{
    const char *const schemes[2] = { "convex", "coulomb" };
    for (int i = 0; i < 2; i++) {
        cairn_world *world = new_world(3, 0, 0.2, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 0.6, 0.8, 0 });
        cairn_step_options options = step_by(0.001, schemes[i], 1e-6);
        cairn_step_report report = advance(world, &options, 1);
        CHECK(report.solve.converged && report.candidates == 1);
        CHECK(report.certificate.judgement.asked.relative <= 1e-6);
        double coulomb = report.certificate.judgement.coulomb.relative;
        CHECK(i ? coulomb == 0 : coulomb > 1 && coulomb < 1e4);
        cairn_world_destroy(world);
    }
}

/* The largest number says that there was nothing to divide by: the step missed, and is a step. */
TEST(residuals_without_measure_are_no_failure)
{
    cairn_step_report report = { 0 };
    cairn_judgement *said = &report.certificate.judgement;
    said->asked.relative = said->coulomb.relative = DBL_MAX;
    CHECK(cairn_report_is_finite(&report));
    said->coulomb.relative = INFINITY;
    CHECK(!cairn_report_is_finite(&report));
}

TEST(an_empty_world_is_perfect)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    cairn_step_options options = step_by(0.001, "convex", 1e-12);
    cairn_step_report report = advance(world, &options, 3);
    CHECK(report.certificate.penetration == 0 && report.certificate.gap_error == 0);
    CHECK(report.certificate.judgement.asked.relative == 0);
    CHECK_INT(report.certificate.judgement.asked.worst_contact, -1);
    cairn_world_destroy(world);
}

GROUP(test_certificate)
{
    RUN(CASE(penetration_is_the_overlap_after_the_step),
        CASE(a_loose_solve_shows_in_the_certificate),
        CASE(the_gap_error_is_the_worst_of_all_contacts),
        CASE(friction_direction_is_right_when_solved),
        CASE(edges_show_in_the_residual_of_exact_coulomb),
        CASE(sliding_without_gravity_has_a_finite_residual),
        CASE(residuals_without_measure_are_no_failure), CASE(an_empty_world_is_perfect));
}

/* ==== test_applied: what a caller does to bodies between steps ================================ */

static const cairn_vec3 nothing = { 0, 0, 0 };

/* m v = F t and I omega = T t: a ball of 1 kg, radius 0.5 m, I = 0.4 m r^2, pushed for 1 s and then
 * not any more. The work of the pushes is its kinetic energy. */
TEST(a_push_for_a_time_gives_a_velocity)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    int row = add_ball(world, 0.5, nothing, nothing);
    cairn_body_id id = { cairn_world_bodies(world).uid[row] };
    cairn_step_options step = step_by(0.01, "coulomb", 1e-10);
    double work = 0;
    for (int k = 0; k < 100; k++) {
        CHECK_OK(cairn_body_push(world, id, cairn_vec(1, -1, 2), nothing));
        CHECK_OK(cairn_body_push(world, id, cairn_vec(2, 0, 0), cairn_vec(0, 0, 0.3)));
        cairn_step_report report = advance(world, &step, 1);
        work += report.energy.load_work;
        CHECK_INT(report.changed, 0);
    }
    advance(world, &step, 10);
    cairn_body_state state;
    CHECK_OK(cairn_body_get(world, id, &state));
    CHECK_NEAR(cairn_norm(cairn_sub(state.v, cairn_vec(3, -1, 2))), 0, 1e-13);
    CHECK_NEAR(cairn_norm(cairn_sub(state.omega, cairn_vec(0, 0, 0.3 / 0.1))), 0, 1e-13);
    CHECK_NEAR(work, 0.5 * (9 + 1 + 4) + 0.5 * 0.1 * 9, 1e-12);
    cairn_world_destroy(world);
}

/* v += J/m; omega += I^-1 (r x J), here computed in the world frame: the body is turned by 90
 * degrees about z, so that its x axis is the y axis of the world. */
TEST(a_strike_gives_a_velocity_at_once)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    double half = sqrt(0.5);
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.2;
    def.mass = 2;
    def.inertia = cairn_vec(0.004, 0.006, 0.009);
    def.position = cairn_vec(1, 2, 3);
    def.orientation = (cairn_quat){ half, 0, 0, half };
    CHECK_OK(cairn_body_create(world, &def, &id));
    cairn_vec3 J = cairn_vec(0.1, -0.2, 0.3), r = cairn_vec(0.1, 0.05, -0.1);
    double before = total_energy(world);
    CHECK_OK(cairn_body_strike(world, id, J, cairn_add(def.position, r)));
    cairn_body_state state;
    CHECK_OK(cairn_body_get(world, id, &state));
    CHECK_NEAR(cairn_norm(cairn_sub(state.v, cairn_scale(0.5, J))), 0, 1e-15);
    cairn_vec3 turn = cairn_cross(r, J), omega = cairn_rotate(state.q, state.omega);
    CHECK_NEAR(omega.x, turn.x / 0.006, 1e-13);
    CHECK_NEAR(omega.y, turn.y / 0.004, 1e-13);
    CHECK_NEAR(omega.z, turn.z / 0.009, 1e-13);
    double given = total_energy(world) - before;
    cairn_step_options step = step_by(1e-3, "coulomb", 1e-10);
    cairn_step_report report = advance(world, &step, 1);
    CHECK_INT(report.changed, 1);
    CHECK_NEAR(report.energy.applied, given, 1e-13);
    CHECK_NEAR(total_energy(world), before + given - report.energy.numerical_loss, 1e-12);
    report = advance(world, &step, 1);
    CHECK_INT(report.changed, 0);
    CHECK_NEAR(report.energy.applied, 0, 0);
    cairn_world_destroy(world);
}

/* In 2D: a disk of 1 kg, radius 0.5 m, I = m r^2/2, struck at its rim. */
TEST(a_strike_turns_a_disk)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    int row = add_ball(world, 0.5, nothing, nothing);
    cairn_body_id id = { cairn_world_bodies(world).uid[row] };
    CHECK_OK(cairn_body_strike(world, id, cairn_vec(0, 2, 0), cairn_vec(0.5, 0, 0)));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.v[row].y, 2, 1e-15);
    CHECK_NEAR(b.omega[row].z, 0.5 * 2 / 0.125, 1e-13);
    cairn_world_destroy(world);
}

/* A crate slides with mu g: 0.3, and after its material was changed 0.1. */
TEST(another_material_changes_the_deceleration)
{
    cairn_world *world = new_world(3, 9.81, 1, 0);
    cairn_material_def slippery = { .friction = 0.1 }, rough = { .friction = 0.3 };
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    double h = 1e-3;
    int first, second;
    CHECK_OK(cairn_material_create(world, &rough, &first));
    CHECK_OK(cairn_material_create(world, &slippery, &second));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, nothing);
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = cairn_vec(0.4, 0.4, 0.1);
    def.position = cairn_vec(0, 0, 0.05);
    def.velocity = cairn_vec(3, 0, 0);
    def.material = first;
    CHECK_OK(cairn_body_create(world, &def, &id));
    cairn_step_options step = step_by(h, "coulomb", 1e-12);
    step.max_iterations = 100000;
    advance(world, &step, 100);
    int row = cairn_body_row(world, id);
    double v = cairn_world_bodies(world).v[row].x;
    CHECK_NEAR(v, 3 - 0.3 * 9.81 * 100 * h, 1e-9);
    CHECK_OK(cairn_body_set_material(world, id, second));
    advance(world, &step, 100);
    CHECK_NEAR(cairn_world_bodies(world).v[row].x, v - 0.1 * 9.81 * 100 * h, 1e-9);
    cairn_world_destroy(world);
}

/* A ball that is put 1 cm into the floor: the step tells the overlap and moves it out, without a
 * velocity. */
TEST(a_body_put_into_another_is_moved_out)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, nothing);
    int row = add_ball(world, 0.1, cairn_vec(0, 0, 0.1), nothing);
    cairn_body_id id = { cairn_world_bodies(world).uid[row] };
    cairn_step_options step = step_by(1e-3, "coulomb", 1e-10);
    cairn_body_state state;
    double depth;
    advance(world, &step, 5);
    CHECK_OK(cairn_body_get(world, id, &state));
    state.x.z = 0.09;
    CHECK_OK(cairn_body_put(world, id, &state));
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    CHECK_NEAR(depth, 0.01, 1e-9);
    cairn_step_report report = advance(world, &step, 1);
    CHECK_NEAR(report.energy.applied, -9.81 * 0.01, 1e-9);
    CHECK_NEAR(report.certificate.penetration, 0.008, 1e-9); /* a fifth in each step */
    report = advance(world, &step, 100);
    CHECK_NEAR(report.certificate.penetration, 0, 1e-6);
    CHECK_NEAR(cairn_norm(cairn_world_bodies(world).v[row]), 0, 1e-9);
    cairn_world_destroy(world);
}

/* A ball that sleeps on the floor wakes up, whatever moves it. */
TEST(what_is_applied_wakes_a_sleeping_body)
{
    for (int way = 0; way < 3; way++) {
        cairn_world *world = new_world(3, 9.81, 0.5, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, nothing);
        int row = add_ball(world, 0.1, cairn_vec(0, 0, 0.1), nothing);
        cairn_body_id id = { cairn_world_bodies(world).uid[row] };
        cairn_step_options step = step_by(1e-2, "coulomb", 1e-6);
        step.sleep = true;
        CHECK_INT(advance(world, &step, 200).asleep, 1);
        if (way == 0)
            CHECK_OK(cairn_body_push(world, id, cairn_vec(0, 0, 20), nothing));
        if (way == 1)
            CHECK_OK(cairn_body_strike(world, id, cairn_vec(0, 0, 1), cairn_vec(0, 0, 0.1)));
        if (way == 2)
            CHECK_OK(cairn_body_put(world, id, &(cairn_body_state){ { 0, 0, 1 }, { 1, 0, 0, 0 } }));
        CHECK_INT(advance(world, &step, 1).asleep, 0);
        CHECK(fabs(cairn_world_bodies(world).v[row].z) > 0.05);
        cairn_world_destroy(world);
    }
}

/* What a push was to be is part of a saved world. */
TEST(a_saved_world_keeps_its_pushes)
{
    cairn_world *world = new_heap(3, 0.5, 2);
    cairn_step_options step = step_by(1e-3, "coulomb", 1e-6);
    cairn_bodies b = cairn_world_bodies(world);
    advance(world, &step, 3);
    CHECK_OK(cairn_body_push(world, (cairn_body_id){ b.uid[b.held] }, cairn_vec(5, 0, 0),
                             cairn_vec(0, 1, 0)));
    saved s = save(world);
    cairn_world *copy = load(&s);
    CHECK_OK(cairn_world_step(world, &step, NULL));
    CHECK_OK(cairn_world_step(copy, &step, NULL));
    CHECK_INT(cairn_world_hash(world), cairn_world_hash(copy));
    free(s.data);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
}

/* Each is refused with a message and changes nothing. */
TEST(what_cannot_be_applied_is_refused)
{
    cairn_world *world = new_heap(3, 0.5, 1);
    cairn_bodies b = cairn_world_bodies(world);
    cairn_body_id ball = { b.uid[b.held] }, wall = { b.uid[0] }, none = { 999 };
    cairn_vec3 one = { 1, 0, 0 }, bad = { 0, NAN, 0 };
    cairn_body_state state;
    uint64_t hash = cairn_world_hash(world);
    const struct {
        cairn_status found, expected;
    } calls[] = {
        { cairn_body_push(world, none, one, one), CAIRN_NOT_FOUND },
        { cairn_body_push(world, wall, one, one), CAIRN_BAD_INPUT },
        { cairn_body_push(world, ball, bad, one), CAIRN_NOT_FINITE },
        { cairn_body_push(world, ball, one, cairn_vec(0, 0, INFINITY)), CAIRN_NOT_FINITE },
        { cairn_body_strike(world, none, one, one), CAIRN_NOT_FOUND },
        { cairn_body_strike(world, wall, one, one), CAIRN_BAD_INPUT },
        { cairn_body_strike(world, ball, bad, one), CAIRN_NOT_FINITE },
        { cairn_body_strike(world, ball, one, bad), CAIRN_NOT_FINITE },
        { cairn_body_set_material(world, none, 0), CAIRN_NOT_FOUND },
        { cairn_body_set_material(world, ball, 1), CAIRN_BAD_INPUT },
        { cairn_body_set_material(world, ball, -1), CAIRN_BAD_INPUT },
        { cairn_body_get(world, none, &state), CAIRN_NOT_FOUND },
    };
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
        CHECK_INT(calls[k].found, calls[k].expected);
    CHECK(cairn_body_strike(world, ball, cairn_vec(1e308, 0, 0), one) != CAIRN_OK);
    CHECK(cairn_world_error(world)->message[0]);
    CHECK_INT(cairn_body_push(world, none, one, one), CAIRN_NOT_FOUND);
    CHECK_TEXT(cairn_world_error(world)->message, "there is no body 999");
    CHECK_INT(cairn_body_push(world, wall, one, one), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(cairn_world_error(world)->message, "is not dynamic");
    CHECK_INT(cairn_world_hash(world), hash);
    cairn_step_options step = step_by(1e-3, "coulomb", 1e-6);
    CHECK_INT(advance(world, &step, 1).changed, 0);
    cairn_world_destroy(world);
    world = new_world(2, 9.81, 0.5, 0);
    int row = add_ball(world, 0.1, nothing, nothing);
    ball.uid = cairn_world_bodies(world).uid[row];
    CHECK_INT(cairn_body_push(world, ball, cairn_vec(0, 0, 1), nothing), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_body_push(world, ball, nothing, one), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_body_strike(world, ball, cairn_vec(0, 0, 1), nothing), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_body_strike(world, ball, one, cairn_vec(0, 0, 1)), CAIRN_BAD_INPUT);
    cairn_world_destroy(world);
}

TEST(without_memory_nothing_is_applied)
{
    for (int way = 0; way < 2; way++) {
        cairn_world *world = new_world(3, 9.81, 0.5, 0);
        int row = add_ball(world, 0.1, nothing, nothing);
        cairn_body_id id = { cairn_world_bodies(world).uid[row] };
        uint64_t hash = cairn_world_hash(world);
        meter m = { .fail_at = 1 };
        meter_install(&m);
        cairn_status status = way ? cairn_body_push(world, id, nothing, nothing)
                                  : cairn_body_strike(world, id, cairn_vec(1, 0, 0), nothing);
        cairn_allocator_set(NULL);
        CHECK_INT(status, CAIRN_NO_MEMORY);
        CHECK_INT(cairn_world_hash(world), hash);
        cairn_world_destroy(world);
    }
}

/* A force that follows the state does work as well. */
static cairn_status pull_along_x(void *context, const cairn_world *world, double time,
                                 cairn_vec3 *force, cairn_vec3 *torque)
{
    (void)context, (void)time, (void)torque;
    for (int i = 0; i < cairn_world_bodies(world).count; i++)
        force[i].x += 2;
    return CAIRN_OK;
}

TEST(the_work_of_a_force_function_is_in_the_ledger)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    add_ball(world, 0.1, nothing, nothing);
    cairn_step_options step = step_by(0.1, "coulomb", 1e-10);
    cairn_world_on_force(world, pull_along_x, NULL);
    CHECK_NEAR(advance(world, &step, 1).energy.load_work, 0.5 * 0.2 * 0.2, 1e-15);
    cairn_world_destroy(world);
}

GROUP(test_applied)
{
    RUN(CASE(a_push_for_a_time_gives_a_velocity), CASE(a_strike_gives_a_velocity_at_once),
        CASE(a_strike_turns_a_disk), CASE(another_material_changes_the_deceleration),
        CASE(a_body_put_into_another_is_moved_out), CASE(what_is_applied_wakes_a_sleeping_body),
        CASE(a_saved_world_keeps_its_pushes), CASE(what_cannot_be_applied_is_refused),
        CASE(without_memory_nothing_is_applied),
        CASE(the_work_of_a_force_function_is_in_the_ledger));
}
