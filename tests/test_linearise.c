/* test_linearise.c - contacts linearised where the step ends: gaps hold there to rounding. */
#include "math/vec.h"
#include "tests/failing_allocator.h"
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* A ball or disk, radius 0.1, slides along the bottom of a tube of radius 1 at 3 m/s for 20 steps:
 * the largest overlap, and in *apart the largest gap. The axis of the tube is y in 3D. */
static double slide_in_tube(int dimension, const cairn_step_options *options, double *apart)
{
    cairn_world *world = new_world(dimension, 10, 0.3, 0);
    cairn_shape tube = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, dimension);
    double deepest = 0;
    tube.radius = 1;
    if (dimension == 3)
        tube.axis = (cairn_vec3){ 0, 1, 0 };
    add_wall(world, tube, zero);
    cairn_vec3 bottom = dimension == 3 ? (cairn_vec3){ 0, 0, -0.9 } : (cairn_vec3){ 0, -0.9, 0 };
    add_ball(world, 0.1, bottom, (cairn_vec3){ 3, 0, 0 });
    *apart = 0;
    for (int k = 0; k < 20; k++) {
        advance(world, options, 1);
        cairn_vec3 x = cairn_world_bodies(world).x[1];
        double gap = 0.9 - hypot(x.x, dimension == 3 ? x.z : x.y);
        deepest = fmax(deepest, -gap);
        *apart = fmax(*apart, gap);
    }
    cairn_world_destroy(world);
    return deepest;
}

/* lcp leaves (3 h)^2/(2 0.9) of the first step's chord, of second order in h */
TEST(gap_in_a_tube_is_zero_after_each_step_and_of_second_order_without)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_step_options ahead = step_by(0.01, "stewart-trinkle", 1e-11);
        cairn_step_options plain = step_by(0.01, "lcp", 1e-11);
        double apart;
        CHECK(slide_in_tube(dimension, &ahead, &apart) <= 1e-13);
        CHECK(apart <= 1e-13);
        double deep = slide_in_tube(dimension, &plain, &apart);
        CHECK_CLOSE(deep, 0.03 * 0.03 / 1.8, 0.1);
        plain.time_step = 0.005;
        CHECK_CLOSE(deep / slide_in_tube(dimension, &plain, &apart), 4, 0.1);
    }
}

/* any scheme of gap level can do it: circular cones, and the convex law, which floats instead */
TEST(option_linearises_ahead_in_other_schemes)
{
    static const char *const schemes[] = { "coulomb", "fixed-point", "frictionless", "convex" };
    for (int i = 0; i < 4; i++) {
        cairn_step_options options = step_by(0.01, schemes[i], 1e-10);
        double apart;
        options.linearisations = 50;
        CHECK(slide_in_tube(3, &options, &apart) <= 1e-11);
        CHECK(i == 3 ? apart > 1e-3 : apart <= 1e-11);
    }
}

TEST(step_that_runs_out_of_linearisations_says_so)
{
    cairn_world *world = new_heap(3, 0.3, 2);
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-9);
    cairn_step_report report;
    int unsettled = 0;
    options.linearisations = 2;
    for (int k = 0; k < 40; k++) {
        CHECK_OK(cairn_world_step(world, &options, &report));
        CHECK(report.linearisations <= 2);
        CHECK(report.solve.judgement.asked.relative <= 1e-9); /* what was asked is solved */
        CHECK(report.solve.converged || report.linearisation_error > 1e-12);
        unsettled += !report.solve.converged;
    }
    CHECK(unsettled > 5);
    options.linearisations = 1; /* the linearised scheme, which has nothing to settle */
    report = advance(world, &options, 1);
    CHECK_INT(report.linearisations, 1);
    CHECK(report.linearisation_error > 1e-9);
    cairn_world_destroy(world);
}

/* 18 balls fall into a cylinder: no contact overlaps after any step, and no step gains energy */
TEST(heap_in_a_cylinder_never_overlaps)
{
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-9);
    cairn_world *world = new_heap(3, 0.3, 2), *plain = new_heap(3, 0.3, 2);
    double before = total_energy(world), overlap = 0;
    int most = 0;
    for (int k = 0; k < 80; k++) {
        cairn_step_report report = advance(world, &options, 1);
        double depth, after = total_energy(world);
        CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
        CHECK(depth <= 1e-10);
        CHECK(after <= before);
        before = after;
        most = report.linearisations > most ? report.linearisations : most;
    }
    CHECK(most > 3 && most < 15);
    options.scheme = "lcp";
    for (int k = 0; k < 80; k++)
        overlap = fmax(overlap, advance(plain, &options, 1).certificate.penetration);
    CHECK(overlap > 1e-6);
    cairn_world_destroy(world);
    cairn_world_destroy(plain);
}

/* The first look is at q + h v: the gap of the contact list is the one found there. */
TEST(contacts_are_those_of_the_predicted_configuration)
{
    cairn_world *world = new_world(2, 10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.105, 0 }, (cairn_vec3){ 0, -1, 0 });
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-12);
    options.linearisations = 1;
    cairn_step_report report = advance(world, &options, 1);
    CHECK_NEAR(cairn_world_contacts(world).gap[0], -0.005, 1e-15);
    /* it lands: v = -0.5, r = m (v - (v - h g)), and ends 0.005 m from where it was linearised */
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, -0.5, 1e-12);
    CHECK_NEAR(cairn_world_contacts(world).impulse[0], 0.6, 1e-12);
    CHECK_NEAR(report.linearisation_error, 0.005, 1e-12);
    cairn_world_destroy(world);
}

/* 1 m a step towards a ball 0.5 m away: it is caught, and both go on with half the speed */
TEST(bullet_does_not_tunnel)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_ball(world, 0.1, (cairn_vec3){ 0.5, 0, 0 }, (cairn_vec3){ -100, 0, 0 });
    add_ball(world, 0.1, zero, zero);
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-9);
    advance(world, &options, 2);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.x[0].x - b.x[1].x, 0.2, 1e-12);
    CHECK_NEAR(b.v[0].x, -50, 1e-9);
    CHECK_NEAR(b.v[1].x, -50, 1e-9);
    cairn_world_destroy(world);
}

/* a floor that shakes by 5 cm, 2 Hz: 8 m/s^2 at most, so the ball stays on it */
TEST(ball_stays_on_a_shaken_floor)
{
    cairn_world *world = new_world(3, 10, 0.3, 0);
    cairn_driver shake = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    cairn_body_def floor = cairn_body_def_default();
    shake.amplitude = (cairn_vec3){ 0.02, 0, 0.05 };
    shake.frequency = 2;
    floor.motion = CAIRN_MOTION_DRIVEN;
    floor.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    floor.drivers = &shake;
    floor.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &floor, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-12);
    for (int k = 0; k < 100; k++) {
        advance(world, &options, 1);
        cairn_bodies b = cairn_world_bodies(world);
        CHECK_NEAR(b.x[1].z - b.x[0].z, 0.1, 1e-13);
    }
    cairn_world_destroy(world);
}

static cairn_vec3 spin(const cairn_world *world, int i)
{
    cairn_bodies b = cairn_world_bodies(world);
    return cairn_rotate(b.q[i], cairn_times(b.inertia[i], b.omega[i]));
}

/* Two fast spinning balls meet: the spin R J omega of both changes by exactly p x r, p = -0.1 n,
 * although it turns by 0.4 rad in the step, because the rows use the frame of the start. */
TEST(impulses_turn_spinning_balls_by_their_torque)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_vec3 before[2];
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.mass = 1;
    for (int i = 0; i < 2; i++) {
        def.position = (cairn_vec3){ 0.105 - 0.21 * i, 0.02 * i, 0 };
        def.velocity = (cairn_vec3){ 2 * i - 1, 0.3, 0.1 * i };
        def.angular_velocity = (cairn_vec3){ 5, 30 * i, -20 };
        CHECK_OK(cairn_body_create(world, &def, NULL));
        before[i] = spin(world, i);
    }
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-12);
    CHECK_INT(advance(world, &options, 1).active, 1);
    cairn_contacts c = cairn_world_contacts(world);
    cairn_vec3 other = cairn_cross(c.normal[0], c.tangent[0]);
    cairn_vec3 r =
        cairn_add(cairn_scale(c.impulse[1], c.tangent[0]), cairn_scale(c.impulse[2], other));
    cairn_vec3 torque = cairn_scale(-0.1, cairn_cross(c.normal[0], r));
    CHECK(cairn_norm(torque) > 0.01);
    for (int i = 0; i < 2; i++)
        CHECK_NEAR(cairn_norm(cairn_sub(cairn_sub(spin(world, i), before[i]), torque)), 0, 1e-15);
    cairn_world_destroy(world);
}

/* 30 steps of a falling heap; allocation n after the first 5 fails, and the step is then made again.
 * The final hash; *failed tells whether a step failed. */
static uint64_t hash_of_run(long n, bool *failed)
{
    meter m = { 0 };
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-6);
    cairn_step_report report;
    int linearised = 0;
    meter_install(&m);
    cairn_world *world = new_heap(2, 0.3, 3);
    for (int k = 0; k < 30; k++) {
        uint64_t before = cairn_world_hash(world);
        m.fail_at = k == 5 ? m.calls + n : m.fail_at;
        cairn_status status = cairn_world_step(world, &options, &report);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK(status == CAIRN_OK || cairn_world_hash(world) == before);
        if (status != CAIRN_OK)
            CHECK_OK(cairn_world_step(world, &options, &report));
        linearised += report.linearisations;
        *failed = m.fail_at > 0 && m.calls >= m.fail_at;
    }
    CHECK(linearised > 50);
    uint64_t hash = cairn_world_hash(world);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
    return hash;
}

TEST(step_that_finds_no_memory_between_linearisations_can_be_made_again)
{
    bool failed = true;
    uint64_t expected = hash_of_run(1000000, &failed);
    int tried = 0;
    CHECK(!failed);
    for (failed = true; failed; tried++)
        CHECK(hash_of_run(tried + 1, &failed) == expected);
    CHECK(tried > 20);
}

TEST(velocity_level_refuses_linearisations)
{
    cairn_step_options options = step_by(0.01, "moreau-jean", 1e-9);
    cairn_error error;
    options.linearisations = 2;
    CHECK_INT(cairn_step_options_check(&options, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "linearisations");
    CHECK_CONTAINS(error.message, "moreau-jean");
}

int main(void)
{
    RUN(CASE(gap_in_a_tube_is_zero_after_each_step_and_of_second_order_without),
        CASE(option_linearises_ahead_in_other_schemes),
        CASE(step_that_runs_out_of_linearisations_says_so), CASE(heap_in_a_cylinder_never_overlaps),
        CASE(contacts_are_those_of_the_predicted_configuration), CASE(bullet_does_not_tunnel),
        CASE(ball_stays_on_a_shaken_floor), CASE(impulses_turn_spinning_balls_by_their_torque),
        CASE(step_that_finds_no_memory_between_linearisations_can_be_made_again),
        CASE(velocity_level_refuses_linearisations));
}
