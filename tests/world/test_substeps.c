/* test_substeps.c - steps in which bodies would move too far are divided; the test of members is in
 * test_exchange.c, that of a device in tests/backend/test_pile.c. */
#include <string.h>

#include "cairn/cairn.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* Two cubes of 0.2 m (a ball of radius 0.173 m holds one), one above the other, and a floor at rest
 * under them. They come down at 20 m/s, each 0.19 m above what it will hit when a step of 0.01 s
 * begins. */
static cairn_world *new_fall(void)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_body_def def = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.2, 0.2, 0.2 };
    def.mass = 1;
    def.velocity.z = -20;
    def.angular_velocity.x = 1;
    for (int i = 0; i < 2; i++) {
        def.position = (cairn_vec3){ 0.03 * i, 0, 0.29 + 0.4 * i };
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    return world;
}

static bool is_same(cairn_world *one, cairn_world *two)
{
    const cairn_bodies a = cairn_world_bodies(one), b = cairn_world_bodies(two);
    size_t bytes = (size_t)a.count * sizeof *a.x;
    return a.count == b.count && memcmp(a.x, b.x, bytes) == 0 && memcmp(a.v, b.v, bytes) == 0 &&
           memcmp(a.omega, b.omega, bytes) == 0;
}

/* 0.2 m in a step of 0.01 s: two substeps of 0.1 m, which are steps of 0.005 s bit for bit. Steps
 * after it are whole again, and times are n h to the bit. */
TEST(a_step_that_is_too_long_is_two_steps_of_half_its_length)
{
    cairn_world *divided = new_fall(), *halved = new_fall();
    cairn_step_options whole = step_by(0.01, "coulomb", 1e-6);
    cairn_step_options half = step_by(0.005, "coulomb", 1e-6);
    cairn_step_report report;
    int divisions = 0;
    for (int k = 1; k <= 30; k++) {
        CHECK_OK(cairn_world_step(divided, &whole, &report));
        CHECK(report.substeps <= 2);
        CHECK_NEAR(report.length, 0.01, 1e-17);
        CHECK_NEAR(cairn_world_last_length(divided), 0.01 / report.substeps, 0);
        CHECK_NEAR(cairn_world_time(divided), k * 0.01, 0);
        divisions += report.substeps == 2;
        advance(halved, report.substeps == 2 ? &half : &whole, report.substeps);
        CHECK(is_same(divided, halved));
    }
    CHECK(divisions >= 2);
    CHECK_INT(report.substeps, 1);
    cairn_world_destroy(divided);
    cairn_world_destroy(halved);
}

/* At 2,000 m/s a step of 0.01 s is 20 m. Substeps of 0.6 m will do until the ball comes near the
 * other one; there they are at most its size, 0.2 m. The report adds up: losses of all substeps are
 * the change of the energy. */
TEST(a_step_is_divided_as_often_as_it_has_to_be)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    cairn_step_report report;
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.radius = 0.2;
    add_wall(world, ball, (cairn_vec3){ 5, 0.3, 0 }); /* its tangent plane would stop the ball */
    add_ball(world, 0.2, zero, (cairn_vec3){ 2000, 0, 0 });
    double before = total_energy(world), shortest = 1;
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK(report.substeps > 32 && report.substeps <= 128);
    shortest = cairn_world_last_length(world);
    CHECK(shortest <= 0.01 / 64 && shortest >= 0.01 / 128);
    const cairn_energy *e = &report.energy;
    CHECK(e->impact_loss > 1);
    CHECK_NEAR(before - e->impact_loss - e->friction_loss - e->numerical_loss + e->correction,
               e->kinetic, 1e-9 * before);
    CHECK_NEAR(total_energy(world), e->kinetic, 1e-9 * before);
    CHECK_NEAR(cairn_world_time(world), 0.01, 0);
    cairn_world_destroy(world);
}

/* A bound of 15 is one of 8, and 2.5 m are still too far: the step is refused as without division,
 * the message says what was tried, and nothing has changed. */
TEST(what_no_division_helps_is_refused)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    cairn_step_report report;
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.radius = 0.2;
    options.max_substeps = 15;
    add_wall(world, ball, (cairn_vec3){ 0.5, 0.3, 0 });
    add_ball(world, 0.2, zero, (cairn_vec3){ 2000, 0, 0 });
    uint64_t before = cairn_world_hash(world);
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_BAD_INPUT);
    const cairn_error *error = cairn_world_error(world);
    CHECK_TEXT(error->key, "run.time_step");
    CHECK_CONTAINS(error->message, "body 1 would move by");
    CHECK_CONTAINS(error->message, "; this is 1/8 of the time step, the shortest substep that "
                                   "run.max_substeps allows");
    CHECK(cairn_world_hash(world) == before);
    CHECK(!cairn_world_in_step(world));
    CHECK_NEAR(cairn_world_time(world), 0, 0);
    cairn_world_destroy(world);
}

static cairn_status keep(const void *data, size_t bytes, void *context)
{
    struct {
        unsigned char at[65536];
        size_t bytes;
    } *to = context;
    CHECK(bytes < sizeof to->at);
    memcpy(to->at, data, bytes);
    to->bytes = bytes;
    return CAIRN_OK;
}

/* Saved after the first of two substeps, a world goes on with the second one. */
TEST(a_world_saved_within_a_step_goes_on_there)
{
    static struct {
        unsigned char at[65536];
        size_t bytes;
    } state;
    cairn_world *world = new_fall(), *loaded;
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_OK(cairn_world_substep(world, &options, NULL));
    CHECK(cairn_world_in_step(world));
    CHECK_NEAR(cairn_world_time(world), 0.015, 1e-17);
    CHECK_OK(cairn_world_save(world, keep, &state));
    CHECK_OK(cairn_world_load(state.at, state.bytes, &loaded, NULL));
    CHECK(cairn_world_in_step(loaded));
    cairn_world *both[] = { world, loaded };
    for (int k = 0; k < 2; k++) {
        CHECK_OK(cairn_world_substep(both[k], &options, NULL));
        CHECK(!cairn_world_in_step(both[k]));
        CHECK_NEAR(cairn_world_time(both[k]), 2 * 0.01, 0);
        CHECK_OK(cairn_world_step(both[k], &options, NULL));
    }
    CHECK(cairn_world_hash(world) == cairn_world_hash(loaded));
    cairn_world_destroy(world);
    cairn_world_destroy(loaded);
}

/* What is left of a step may be given up; the next one is whole, and begins where the world is. */
TEST(the_rest_of_a_step_can_be_given_up)
{
    cairn_world *world = new_fall();
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    CHECK_OK(cairn_world_substep(world, &options, NULL));
    cairn_world_end_step(world);
    CHECK(!cairn_world_in_step(world));
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_NEAR(cairn_world_time(world), 0.015, 1e-17);
    cairn_world_destroy(world);
}

/* 3 N push a ball far away for the whole step, with substeps or without: 0.03 N s. */
TEST(a_push_lasts_through_all_substeps)
{
    cairn_world *world = new_fall();
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    cairn_step_report report;
    int far = add_ball(world, 0.1, (cairn_vec3){ 500, 0, 500 }, zero);
    const cairn_body_id id = { cairn_world_bodies(world).uid[far] };
    for (int k = 0; k < 2; k++) { /* and the second step has no push */
        if (k == 0)
            CHECK_OK(cairn_body_push(world, id, (cairn_vec3){ 3, 0, 0 }, zero));
        CHECK_OK(cairn_world_step(world, &options, &report));
        CHECK_INT(report.substeps, 2);
        cairn_body_state state;
        CHECK_OK(cairn_body_get(world, id, &state));
        CHECK_NEAR(state.v.x, 0.03, 1e-15);
    }
    cairn_world_destroy(world);
}

/* A free body that turns 19 rad in a step: its own rotation is found in shorter ones. */
TEST(a_body_that_turns_too_far_divides_the_step)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(0.05, "convex", 1e-3);
    cairn_step_report report;
    cairn_body_def def = cairn_body_def_default();
    int divided = 0;
    def.shape.kind = CAIRN_SHAPE_SPHERE;
    def.shape.radius = 0.1;
    def.mass = 1;
    def.inertia = (cairn_vec3){ 2, 1.7, 0.5 };
    def.angular_velocity = (cairn_vec3){ 300, 200, 100 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    double before = total_energy(world);
    for (int k = 0; k < 10; k++) {
        CHECK_OK(cairn_world_step(world, &options, &report));
        divided += report.substeps > 1;
    }
    CHECK(divided > 0);
    CHECK_NEAR(total_energy(world), before, 1e-9 * before);
    cairn_world_destroy(world);
}

/* A ball on an arm of 0.2 m that turns by 1.5 rad in a step would come off its pin by 0.2 m, whether
 * it moves along the tangent or the chord. */
TEST(a_step_that_pulls_a_joint_apart_is_divided)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(5e-3, "coulomb", 1e-6);
    cairn_body_def def = cairn_body_def_default();
    cairn_joint_def pin = cairn_joint_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.density = 1000;
    def.position.x = 0.2;
    def.angular_velocity.y = 300;
    def.velocity.z = -60;
    pin.kind = CAIRN_JOINT_BALL;
    CHECK_OK(cairn_body_create(world, &def, &pin.a));
    CHECK_OK(cairn_joint_create(world, &pin, NULL));
    double before = total_energy(world);
    int divided = 0;
    for (int k = 0; k < 20; k++) {
        cairn_step_report report = advance(world, &options, 1);
        divided += report.substeps > 1;
        CHECK(report.certificate.joint_drift < 0.1);
    }
    CHECK(divided > 0);
    CHECK(total_energy(world) < before);
    cairn_world_destroy(world);
}

/* Who puts a body elsewhere pulls its joint apart, not the step, which draws it together again. */
TEST(a_body_that_is_put_off_its_joint_divides_no_step)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(5e-3, "coulomb", 1e-6);
    cairn_step_report report;
    cairn_body_def def = cairn_body_def_default();
    cairn_joint_def pin = cairn_joint_def_default();
    cairn_body_state state;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.density = 1000;
    pin.kind = CAIRN_JOINT_BALL;
    CHECK_OK(cairn_body_create(world, &def, &pin.a));
    CHECK_OK(cairn_joint_create(world, &pin, NULL));
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK_OK(cairn_body_get(world, pin.a, &state));
    state.x = cairn_vec(0.05, 0, 0);
    CHECK_OK(cairn_body_put(world, pin.a, &state));
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK_INT(report.substeps, 1);
    CHECK(cairn_world_bodies(world).x[0].x < 0.05 + 1e-9);
    cairn_world_destroy(world);
}

GROUP(test_substeps)
{
    RUN(CASE(a_step_that_pulls_a_joint_apart_is_divided),
        CASE(a_body_that_is_put_off_its_joint_divides_no_step),
        CASE(a_step_that_is_too_long_is_two_steps_of_half_its_length),
        CASE(a_step_is_divided_as_often_as_it_has_to_be), CASE(what_no_division_helps_is_refused),
        CASE(a_world_saved_within_a_step_goes_on_there), CASE(the_rest_of_a_step_can_be_given_up),
        CASE(a_push_lasts_through_all_substeps), CASE(a_body_that_turns_too_far_divides_the_step));
}
