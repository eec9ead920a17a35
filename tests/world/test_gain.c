/* test_gain.c - contacts create no energy, also without restitution; where they do because the
 * solver is stopped, the step says so. */
#include <math.h>

#include "cairn/scene.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

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
        CASE(energy_that_is_made_does_not_depend_on_the_number_of_threads),
        CASE(every_failed_allocation_of_a_step_that_gains_is_told_and_nothing_leaks));
}
