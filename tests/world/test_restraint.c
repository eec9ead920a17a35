/* test_restraint.c - impacts make no energy: restitution is reduced where it would. */
#include <math.h>
#include <string.h>

#include "cairn/scene.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };
static const char *const laws[] = { "newton", "poisson" };

static cairn_vec3 random_vector(uint64_t *state, int dimension, double most)
{
    double v[3];
    for (int k = 0; k < 3; k++)
        v[k] = most * (2 * cairn_random_uniform(state) - 1);
    return (cairn_vec3){ v[0], v[1], dimension == 3 ? v[2] : 0 };
}

static void add_solid(cairn_world *world, cairn_shape shape, double mass, cairn_vec3 x,
                      cairn_vec3 v)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = shape;
    def.mass = mass;
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

static cairn_shape box_of(cairn_shape_kind kind, int dimension, cairn_vec3 size)
{
    cairn_shape shape = cairn_shape_default(kind, dimension);
    shape.size = (cairn_vec3){ size.x, size.y, dimension == 3 ? size.z : 0 };
    return shape;
}

/* A row of balls of radius 0.5 m in a box that is `wide` m wide, `gap` apart. */
static void add_row(cairn_world *world, int balls, double gap, uint64_t *state)
{
    int d = cairn_world_dimension(world);
    double wide = balls + gap * (balls + 1);
    add_wall(world, box_of(CAIRN_SHAPE_INSIDE_BOX, d, (cairn_vec3){ wide, 4, 4 }), zero);
    for (int i = 0; i < balls; i++) {
        cairn_vec3 x = { 0.5 - 0.5 * wide + gap + (1 + gap) * i,
                         2e-3 * cairn_random_uniform(state) - 1e-3, 0 };
        double mass = *state % 3 == 0 ? 1000 : 1;
        add_solid(world, ball_of(d, 0.5), mass, x, random_vector(state, d, 2));
    }
}

/* sum m (v^2/2 + g x - h g v/2) of all bodies, J, which free fall keeps; g > 0 points down. */
static double kept_energy(const cairn_world *world, double g, double h)
{
    double energy = total_energy(world);
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < b.count; i++)
        if (b.motion[i] == CAIRN_MOTION_DYNAMIC)
            energy -= 0.5 * h * g * b.mass[i] *
                      (cairn_world_dimension(world) == 2 ? b.v[i].y : b.v[i].z);
    return energy;
}

/* sum m (g h)^2, J: the energy within which a step can tell rest from motion. */
static double least_energy(const cairn_world *world, double g, double h)
{
    double sum = 0;
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < b.count; i++)
        sum += b.motion[i] == CAIRN_MOTION_DYNAMIC ? b.mass[i] * g * g * h * h : 0;
    return sum;
}

/* Some steps, of which none that met its tolerance adds more than a millionth of the kinetic
 * energy. Returns the number of contacts with reduced restitution. */
static int check_no_gain(cairn_world *world, const cairn_step_options *options, double g, int steps)
{
    int reduced = 0;
    cairn_step_report report;
    for (int k = 0; k < steps; k++) {
        double kinetic, potential, before = kept_energy(world, g, options->time_step);
        cairn_world_energy(world, &kinetic, &potential);
        CHECK_OK(cairn_world_step(world, options, &report));
        double gain = kept_energy(world, g, options->time_step) - before - report.energy.correction;
        double most = 1e-6 * kinetic + least_energy(world, g, options->time_step) + 1e-12;
        if (report.solve.converged && !(gain <= most))
            fail_msg("step %d makes %g J of %g J", k, gain, kinetic);
        reduced += report.impacts_reduced;
    }
    return reduced;
}

/* Three balls that touch each other and two walls: no speeds of separation are possible. The step
 * made 8,190 J of 10.8 J. */
TEST(a_row_that_just_fits_makes_no_energy)
{
    const double masses[] = { 1, 1e-3 };
    const cairn_vec3 v[3] = { { -1.9, -0.44, -0.18 }, { 0, -1, -0.1 }, { 0, -0.55, 0.07 } };
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(3, 0, 0.1, 0.9);
        add_wall(world, box_of(CAIRN_SHAPE_INSIDE_BOX, 3, (cairn_vec3){ 3, 4, 4 }), zero);
        for (int i = 0; i < 3; i++)
            add_solid(world, ball_of(3, 0.5), i == 0 ? masses[k] : 1,
                      (cairn_vec3){ i - 1, i == 1 ? -1e-3 : -5e-4, 0 }, v[i]);
        cairn_step_options options = step_by(5e-4, "coulomb", 1e-3);
        CHECK(check_no_gain(world, &options, 0, 40) > 0);
        CHECK(total_energy(world) > 0.1);
        cairn_world_destroy(world);
    }
}

/* Rows of 3 to 8 balls, which touch or nearly do, with equal masses and a thousand times heavier
 * ones, mu to 0.5, e from 0.2. */
TEST(no_row_makes_energy_in_any_scheme)
{
    const double gaps[] = { 0, 0, 1e-9, 1e-6, 1e-4 };
    uint64_t state = 1;
    int reduced = 0;
    for (int k = 0; k < (CHECKED ? 20 : 80); k++) {
        const char *scheme = cairn_scheme_name(k % 10);
        bool ahead = strcmp(scheme, "stewart-trinkle") == 0; /* it pushes overlaps apart */
        double mu = k % 4 ? 0.5 * cairn_random_uniform(&state) : 0;
        double e = 0.2 + 0.8 * cairn_random_uniform(&state);
        cairn_world *world = new_world(2 + k % 2, 0, 0, 0);
        const cairn_material_def material = { .friction = mu, .restitution = e,
                                              .restitution_law = laws[k % 3 == 2] };
        CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
        add_row(world, 3 + k % 6, gaps[k % 5], &state);
        cairn_step_options options = step_by(k % 2 ? 5e-4 : 2e-3, ahead ? "coulomb" : scheme,
                                             k % 7 ? 1e-3 : 1e-8);
        options.impact_rounds = k % 5 == 4 ? 0 : 100;
        options.warm_start = false;
        reduced += check_no_gain(world, &options, 0, 20);
        cairn_world_destroy(world);
    }
    CHECK(reduced > (CHECKED ? 0 : 30));
}

/* A mill that is exactly four balls wide, e = 0.2: it threw a ball at 39 m/s. None is faster than
 * all the energy in one ball. */
TEST(a_mill_that_just_fits_throws_no_ball)
{
    cairn_world *world = new_world(2, 9.81, 0.3, 0.2);
    uint64_t state = 7;
    add_wall(world, box_of(CAIRN_SHAPE_INSIDE_BOX, 2, (cairn_vec3){ 0.8, 0.8, 0 }), zero);
    for (int i = 0; i < 12; i++)
        add_solid(world, ball_of(2, 0.1), 1,
                  (cairn_vec3){ -0.3 + 0.2 * (i % 4), -0.3 + 0.2 * (i / 4), 0 },
                  random_vector(&state, 2, 3));
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-3);
    check_no_gain(world, &options, 9.81, 100);
    cairn_world_destroy(world);
}

/* Boxes on each other with friction, hit by a ball: Newton's law with friction. */
TEST(towers_that_are_hit_make_no_energy)
{
    uint64_t state = 5;
    int reduced = 0;
    for (int k = 0; k < (CHECKED ? 12 : 24); k++) {
        int d = 2 + k % 2, boxes = 2 + k % 4;
        cairn_world *world = new_world(d, 9.81, 0.1 + 0.4 * cairn_random_uniform(&state),
                                       0.3 + 0.7 * cairn_random_uniform(&state));
        cairn_shape box = box_of(CAIRN_SHAPE_BOX, d, (cairn_vec3){ 0.4, d == 2 ? 0.2 : 0.4, 0.2 });
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        for (int i = 0; i < boxes; i++) {
            double up = 0.1 + 0.2 * i;
            cairn_vec3 x = { 0.02 * (i % 2), d == 2 ? up : 0, d == 3 ? up : 0 };
            add_solid(world, box, 1, x, zero);
        }
        double up = 0.1 + 0.2 * boxes * cairn_random_uniform(&state);
        add_solid(world, ball_of(d, 0.1), 1 + 10 * cairn_random_uniform(&state),
                  (cairn_vec3){ -0.35, d == 2 ? up : 0.03, d == 3 ? up : 0 },
                  (cairn_vec3){ 8, d == 2 ? -2 : 0, d == 3 ? -2 : 0 });
        cairn_step_options options = step_by(2e-3, "coulomb", 1e-3);
        reduced += check_no_gain(world, &options, 9.81, 60);
        cairn_world_destroy(world);
    }
    CHECK(CHECKED || reduced > 0);
}

/* ---- one body, and two on joints ------------------------------------------------------------ */

/* The rod of test_restitution.c as a body, unit mass, half length 1, J = 1/3: by Newton's law it
 * gains 0.053 J of 0.68 J. With 3/4 of e, 0.675, r = (0.8219, 0.2531) gives u+ = (0.675, 0):
 * r.(u + u+)/2 = -0.0576 J. */
TEST(a_rod_that_would_gain_bounces_with_less_restitution)
{
    cairn_world *world = new_world(2, 0, 0.6, 0.9);
    cairn_body_def def = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = box_of(CAIRN_SHAPE_BOX, 2, (cairn_vec3){ 2, 1e-6, 0 });
    def.mass = 1;
    def.inertia = (cairn_vec3){ 0, 0, 1.0 / 3 };
    def.position = (cairn_vec3){ 0, sqrt(0.5), 0 };
    def.angle = atan(1);
    def.velocity = (cairn_vec3){ 0.6, -1, 0 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-12);
    double before = total_energy(world);
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.impacts_reduced > 0);
    CHECK_NEAR(total_energy(world) - before, 0.5 * (0.8219 * (-1 + 0.675) + 0.2531 * 0.6), 1e-3);
    cairn_world_destroy(world);
}

/* Two rods that hang on each other and swing onto the floor, e = 1, mu = 0.2, in steps of 10 ms:
 * one step made 957 J into 2,050 J. What contacts add is of the order of the forces of a step. */
TEST(a_double_pendulum_that_hits_the_floor_makes_no_energy)
{
    uint64_t state = 3;
    int reduced = 0;
    for (int k = 0; k < (CHECKED ? 4 : 20); k++) {
        cairn_world *world = new_world(2, 9.81, 0.2, 1);
        double turn = 25 * (2 * cairn_random_uniform(&state) - 1);
        cairn_body_id id[2];
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, -1.6, 0 });
        for (int i = 0; i < 2; i++) {
            cairn_body_def def = cairn_body_def_default();
            def.shape = box_of(CAIRN_SHAPE_BOX, 2, (cairn_vec3){ 1, 0.1, 0 });
            def.mass = 1 + 29 * cairn_random_uniform(&state);
            def.position.x = 0.5 + i;
            def.velocity.y = i ? turn : 0.5 * turn;
            def.angular_velocity.z = i ? 0 : turn;
            CHECK_OK(cairn_body_create(world, &def, &id[i]));
            cairn_joint_def joint = cairn_joint_def_default();
            joint.kind = CAIRN_JOINT_REVOLUTE;
            joint.a = id[i];
            joint.anchor.x = i;
            joint.collide = false;
            if (i)
                joint.b = id[0];
            CHECK_OK(cairn_joint_create(world, &joint, NULL));
        }
        cairn_step_options options = step_by(1e-2, "coulomb", 1e-3);
        for (int step = 0; step < 150; step++) {
            cairn_step_report report = advance(world, &options, 1);
            const cairn_energy *e = &report.energy;
            CHECK(-e->impact_loss - e->friction_loss <= 0.03 * e->kinetic);
            CHECK(report.energy_made == 0 || !report.solve.converged);
            reduced += report.impacts_reduced;
        }
        cairn_world_destroy(world);
    }
    CHECK(reduced > 0);
}

/* ---- groups and bits ------------------------------------------------------------------------ */

/* What happens in a row that just fits does not change a ball 100 m away, which bounces by e. */
TEST(a_group_far_away_keeps_its_restitution)
{
    cairn_world *world = new_world(3, 0, 0.1, 0.9);
    uint64_t state = 2;
    add_row(world, 3, 0, &state);
    cairn_shape floor = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    floor.size = (cairn_vec3){ 1, 1, 1 };
    add_wall(world, floor, (cairn_vec3){ 100, 0, 0 });
    int ball = add_ball(world, 0.5, (cairn_vec3){ 100, 0, 1 }, (cairn_vec3){ 0, 0, -2 });
    cairn_step_options options = step_by(5e-4, "coulomb", 1e-6);
    options.impact_rounds = 0;
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.impacts_reduced > 0 && report.impacts_reduced <= 4);
    CHECK_NEAR(cairn_world_bodies(world).v[ball].z, 1.8, 1e-4);
    cairn_world_destroy(world);
}

static uint64_t hash_of_rows(int threads)
{
    cairn_world *world = new_world(3, 0, 0.3, 0.8);
    uint64_t state = 9;
    add_row(world, 8, 0, &state);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-3);
    options.threads = threads;
    check_no_gain(world, &options, 0, 20);
    uint64_t hash = cairn_world_hash(world);
    cairn_world_destroy(world);
    return hash;
}

TEST(reduced_restitution_does_not_depend_on_the_number_of_threads)
{
    CHECK(hash_of_rows(1) == hash_of_rows(4));
}

static cairn_world *new_tight_row(void)
{
    cairn_world *world = new_world(3, 0, 0.1, 0.9);
    uint64_t state = 2;
    add_row(world, 3, 0, &state);
    return world;
}

TEST(every_failed_allocation_of_a_reduced_step_is_told_and_nothing_leaks)
{
    cairn_step_options options = step_by(5e-4, "convex", 1e-3);
    options.solver = "ngs"; /* auto goes on with another method */
    check_step_without_memory(new_tight_row, &options);
}

GROUP(test_restraint)
{
    RUN(CASE(a_row_that_just_fits_makes_no_energy), CASE(no_row_makes_energy_in_any_scheme),
        CASE(a_mill_that_just_fits_throws_no_ball), CASE(towers_that_are_hit_make_no_energy),
        CASE(a_rod_that_would_gain_bounces_with_less_restitution),
        CASE(a_double_pendulum_that_hits_the_floor_makes_no_energy),
        CASE(a_group_far_away_keeps_its_restitution),
        CASE(reduced_restitution_does_not_depend_on_the_number_of_threads),
        CASE(every_failed_allocation_of_a_reduced_step_is_told_and_nothing_leaks));
}
