/* test_gain.c - contacts create no energy, also without restitution; where they do because the
 * solver is stopped, the step says so. */
#include <math.h>

#include "cairn/scene.h"
#include "problem/operator.h"
#include "tests/check.h"
#include "tests/problems/hard_problems.h"
#include "tests/problems/worlds.h"
#include "world/step.h"

static const cairn_vec3 zero = { 0, 0, 0 };

static void add_solid(cairn_world *world, cairn_shape shape, cairn_vec3 x, cairn_vec3 v)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = shape;
    def.mass = 1;
    def.position = x;
    def.velocity = v;
    CHECK_OK(cairn_body_create(world, &def, NULL));
}

static cairn_shape ball_of(int dimension, double radius)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, dimension);
    shape.radius = radius;
    return shape;
}

/* Steps, of which none that is certified adds more than `most` of the kinetic energy. Returns the
 * number of steps that count energy made; none of them is certified. */
static int check_counted(cairn_world *world, const cairn_step_options *options, int steps,
                         double most)
{
    int counted = 0;
    for (int k = 0; k < steps; k++) {
        double before, after, potential;
        cairn_step_report report;
        cairn_world_energy(world, &before, &potential);
        CHECK_OK(cairn_world_step(world, options, &report));
        cairn_world_energy(world, &after, &potential);
        CHECK((report.energy_made > 0) == (report.energy_made_groups > 0));
        CHECK(report.energy_made == 0 || !report.solve.converged);
        if (report.energy_made == 0 && after > before * (1 + most))
            fail_msg("step %d makes %g J of %g J", k, after - before, before);
        counted += report.energy_made > 0;
    }
    return counted;
}

/* Balls that touch each other and go round in a tube with 6 m/s, without friction and gravity. */
static cairn_world *new_tube(int balls)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_shape tube = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 2);
    tube.radius = 1;
    add_wall(world, tube, zero);
    double apart = 2 * asin(0.1 / 0.9);
    for (int i = 0; i < balls; i++) {
        double c = cos(apart * i), s = sin(apart * i), v = 6 + 2 * sin(3.0 * i);
        add_solid(world, ball_of(2, 0.1), (cairn_vec3){ 0.9 * c, 0.9 * s, 0 },
                  (cairn_vec3){ -v * s, v * c, 0 });
    }
    return world;
}

/* Steps that count energy made, of 100. */
static int counted_in_tube(const char *solver, int max_iterations)
{
    cairn_world *world = new_tube(24);
    cairn_step_options options = step_by(2e-3, "coulomb", 1e-6);
    options.solver = solver;
    options.max_iterations = max_iterations;
    int counted = check_counted(world, &options, 100, 1e-5);
    cairn_world_destroy(world);
    return counted;
}

/* From r = 0, sweeps and gradient steps take energy away, wherever they are stopped. ADMM does not:
 * then the step counts it. */
TEST(a_tube_with_a_solver_that_is_stopped_makes_no_energy_unsaid)
{
    for (int most = 1; most <= 4; most++) {
        CHECK_INT(counted_in_tube("ngs", most), 0);
        CHECK_INT(counted_in_tube("apgd", most), 0);
    }
    CHECK(counted_in_tube("admm", 1) > 50);
}

/* Every entry of a report is a sum over the substeps. */
TEST(substeps_add_up_what_they_made)
{
    cairn_step_report first = { .energy_made = 2, .energy_made_groups = 1, .impacts_reduced = 3 };
    cairn_step_report second = { .energy_made = 5, .energy_made_groups = 2, .impacts_reduced = 4 };
    cairn_step_report_add(&first, &second);
    CHECK_NEAR(second.energy_made, 7, 0);
    CHECK_INT(second.energy_made_groups, 3);
    CHECK_INT(second.impacts_reduced, 7);
}

/* Boxes on each other, pushed, without gravity: friction and normal impulses of a solver that ends
 * at a residual of `tolerance`. */
static int slide(const char *scheme, double tolerance, bool warm)
{
    cairn_world *world = new_world(2, 0, 0.6, 0);
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 2);
    box.size = (cairn_vec3){ 0.4, 0.2, 0 };
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 6; i++)
        add_solid(world, box, (cairn_vec3){ 0.03 * (i % 2), 0.1 + 0.2 * i, 0 },
                  (cairn_vec3){ i % 2 ? 3 : -2, -1, 0 });
    cairn_step_options options = step_by(2e-3, scheme, tolerance);
    options.warm_start = warm;
    int counted = check_counted(world, &options, 60, 1e-5);
    cairn_world_destroy(world);
    return counted;
}

TEST(a_loose_tolerance_makes_no_energy)
{
    static const double tolerances[] = { 1e-3, 0.1, 0.5, 0.9 };
    for (int k = 0; cairn_scheme_name(k); k++)
        for (int i = 0; i < 4; i++)
            for (int warm = 0; warm < 2; warm++)
                CHECK_INT(slide(cairn_scheme_name(k), tolerances[i], warm), 0);
}

/* ---- joints --------------------------------------------------------------------------------- */

/* J: what impulses r of a rope make by the judgement of a step. The rope is taut, without a defect,
 * between two bodies of 1 kg that fly apart with 1 m/s each. */
static double made_by_rope(double r)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_joint_def rope = cairn_joint_def_default();
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-6);
    rope.kind = CAIRN_JOINT_ROPE;
    rope.anchor.x = -1;
    rope.anchor_b.x = 1;
    for (int side = 0; side < 2; side++) {
        cairn_body_def def = cairn_body_def_default();
        def.shape = ball_of(2, 0.1);
        def.mass = 1;
        def.position.x = def.velocity.x = side ? 1 : -1;
        CHECK_OK(cairn_body_create(world, &def, side ? &rope.b : &rope.a));
    }
    CHECK_OK(cairn_joint_create(world, &rope, NULL));
    cairn_step_report report = { 0 };
    stages of = stages_of(world, &options, &report);
    const cairn_problem *p = &of.posed.problem;
    double impulse[2] = { r, 0 }, v[6], u[2];
    uint8_t gains[1];
    cairn_gain gain;
    CHECK_INT(p->contacts, 1);
    cairn_problem_velocity(p, impulse, v);
    cairn_problem_relative(p, impulse, v, u);
    const cairn_work work = { .p = p,
                              .r = impulse,
                              .u = u,
                              .before = of.posed.v_old,
                              .demand = of.posed.demand,
                              .share = 1e-9 };
    CHECK_OK(cairn_work_gains(&of.step, &work, gains, &gain));
    cairn_world_destroy(world);
    return gain.made;
}

/* 1 N s stops both bodies, 2 N s turn them round. 3 N s give them 2 m/s, 4 J in place of 1 J: as
 * the rope may not push, that is an error, and no supply of the rope. */
TEST(what_a_rope_errs_is_energy_made)
{
    CHECK_NEAR(made_by_rope(1), 0, 0);
    CHECK_NEAR(made_by_rope(2), 0, 0);
    CHECK_NEAR(made_by_rope(3), 3, 1e-6);
}

/* A rod of unit mass, half length 1 and J = 1/3 at 45 degrees that hits the floor: by Newton's law
 * with e = 0.9 it gains 0.053 J. On it sits a wheel with a motor that turns with up to 1 N m, and
 * would like to turn with 1e5 rad/s: in a step of 1 ms it could do 100 J of work at that speed, but
 * it does 5 mJ: its 1e-3 N m s turn the wheel, J = 1e-4 kg m^2, from 0 to 10 rad/s. */
TEST(a_motor_pays_for_no_more_than_it_does)
{
    cairn_world *world = new_world(2, 0, 0.6, 0.9);
    cairn_body_def def = cairn_body_def_default();
    cairn_joint_def joint = cairn_joint_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 2);
    def.shape.size = (cairn_vec3){ 2, 1e-6, 0 };
    def.mass = 1;
    def.inertia = (cairn_vec3){ 0, 0, 1.0 / 3 };
    def.position = (cairn_vec3){ 0, sqrt(0.5), 0 };
    def.angle = atan(1);
    def.velocity = (cairn_vec3){ 0.6, -1, 0 };
    CHECK_OK(cairn_body_create(world, &def, &joint.b));
    def.shape = ball_of(2, 0.1);
    def.mass = 1e-3;
    def.inertia = (cairn_vec3){ 0, 0, 1e-4 };
    CHECK_OK(cairn_body_create(world, &def, &joint.a));
    joint.kind = CAIRN_JOINT_REVOLUTE;
    joint.anchor = def.position;
    joint.turn.motor = "velocity";
    joint.turn.target = 1e5;
    joint.turn.effort = 1;
    CHECK_OK(cairn_joint_create(world, &joint, NULL));
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-10);
    double before = total_energy(world);
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.impacts_reduced > 0);
    CHECK(report.solve.converged);
    CHECK_NEAR(report.energy.motor_work, 5e-3, 2e-3);
    CHECK(total_energy(world) <= before + report.energy.motor_work);
    cairn_world_destroy(world);
}

static uint64_t hash_of_tube(int threads)
{
    cairn_world *world = new_tube(24);
    cairn_step_options options = step_by(2e-3, "coulomb", 1e-6);
    options.solver = "admm";
    options.max_iterations = 1;
    options.threads = threads;
    CHECK(check_counted(world, &options, 50, 1e-5) > 0);
    uint64_t hash = cairn_world_hash(world);
    cairn_world_destroy(world);
    return hash;
}

TEST(energy_that_is_made_does_not_depend_on_the_number_of_threads)
{
    CHECK(hash_of_tube(1) == hash_of_tube(4));
}

static cairn_world *new_full_tube(void)
{
    return new_tube(24);
}

TEST(every_failed_allocation_of_a_step_that_gains_is_told_and_nothing_leaks)
{
    cairn_step_options options = step_by(2e-3, "coulomb", 1e-6);
    options.solver = "admm";
    options.max_iterations = 1;
    check_step_without_memory(new_full_tube, &options);
}

GROUP(test_gain)
{
    RUN(CASE(a_tube_with_a_solver_that_is_stopped_makes_no_energy_unsaid),
        CASE(substeps_add_up_what_they_made), CASE(a_loose_tolerance_makes_no_energy),
        CASE(what_a_rope_errs_is_energy_made), CASE(a_motor_pays_for_no_more_than_it_does),
        CASE(energy_that_is_made_does_not_depend_on_the_number_of_threads),
        CASE(every_failed_allocation_of_a_step_that_gains_is_told_and_nothing_leaks));
}
