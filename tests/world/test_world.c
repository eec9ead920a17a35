/* test_world.c - a world as a whole, the order of its bodies, what touches what. */
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
#include "world/step.h"
#include "world/touch.h"
#include "world/world.h"

/* ==== test_world: a world as a whole: creation, hash, overlap, and life without memory ======== */

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)  \
    }

/* ---- creation ------------------------------------------------------------------------------- */

TEST(the_default_world_has_three_dimensions_and_gravity)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world;
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_INT(cairn_world_dimension(world), 3);
    CHECK_NEAR(cairn_world_gravity(world).z, -9.81, 0);
    CHECK_NEAR(cairn_world_time(world), 0, 0);
    CHECK_INT(cairn_world_bodies(world).count, 0);
    CHECK_INT(cairn_world_contacts(world).count, 0);
    CHECK_INT(cairn_world_inlet_pending(world), 0);
    CHECK_TEXT(cairn_world_error(world)->message, "");
    cairn_world_destroy(world);
}

TEST(other_worlds_are_refused)
{
    const int64_t dimensions[] = { 0, 1, 4, -2, INT64_MAX };
    cairn_world *world = (cairn_world *)1;
    for (int i = 0; i < 5; i++) {
        cairn_world_def def = cairn_world_def_default();
        def.dimension = dimensions[i];
        CHECK_INT(cairn_world_create(&def, &world), CAIRN_BAD_INPUT);
        CHECK(world == NULL);
    }
    cairn_world_def def = cairn_world_def_default();
    def.gravity.x = NAN;
    CHECK_INT(cairn_world_create(&def, &world), CAIRN_NOT_FINITE);
    def.gravity.x = INFINITY;
    CHECK_INT(cairn_world_create(&def, &world), CAIRN_NOT_FINITE);
    CHECK(world == NULL);
}

TEST(in_2d_gravity_lies_in_the_plane)
{
    cairn_world_def def = { .dimension = 2, .gravity = { 1, 2, 3 } };
    cairn_world *world;
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_NEAR(cairn_world_gravity(world).x, 1, 0);
    CHECK_NEAR(cairn_world_gravity(world).y, 2, 0);
    CHECK_NEAR(cairn_world_gravity(world).z, 0, 0);
    cairn_world_destroy(world);
}

TEST(destroying_no_world_is_allowed)
{
    cairn_world_destroy(NULL);
}

/* 1000 steps of 1 ms make exactly 1000 * 1 ms, whatever the rounding of a sum would be. */
TEST(time_is_steps_times_length)
{
    cairn_world *world = world_create(3);
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = 1e-3;
    for (int k = 0; k < 1000; k++)
        CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK(cairn_world_time(world) == 1000 * 1e-3);
    options.time_step = 0.5;
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK_NEAR(cairn_world_time(world), 1.5, 1e-15);
    cairn_world_destroy(world);
}

/* ---- hash ----------------------------------------------------------------------------------- */

TEST(equal_states_have_equal_hashes)
{
    cairn_world *a = world_create(3), *b = world_create(3);
    CHECK(cairn_world_hash(a) == cairn_world_hash(b));
    add_sphere(a, 0.5, cairn_vec(1, 2, 3));
    CHECK(cairn_world_hash(a) != cairn_world_hash(b));
    add_sphere(b, 0.5, cairn_vec(1, 2, 3));
    CHECK(cairn_world_hash(a) == cairn_world_hash(b));
    cairn_world_destroy(a);
    cairn_world_destroy(b);
}

/* One unit in the last place of any number. */
TEST(the_hash_sees_the_last_bit_of_every_number)
{
    cairn_world *world = world_create(3);
    for (int i = 0; i < 3; i++)
        add_sphere(world, 0.5, cairn_vec(i, 2, 3));
    cairn_body_store *b = &world->bodies;
    double *numbers[] = { &world->time,   &b->x[1].x,     &b->x[1].y,     &b->x[1].z,
                          &b->q[1].w,     &b->q[1].x,     &b->q[1].y,     &b->q[1].z,
                          &b->angle[1],   &b->v[1].x,     &b->v[1].y,     &b->v[1].z,
                          &b->omega[1].x, &b->omega[1].y, &b->omega[1].z, &b->x[0].x,
                          &b->omega[2].z };
    uint64_t before = cairn_world_hash(world);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double kept = *numbers[i];
        *numbers[i] = nextafter(kept, 1e9);
        CHECK(cairn_world_hash(world) != before);
        *numbers[i] = kept;
        CHECK(cairn_world_hash(world) == before);
    }
    cairn_world_destroy(world);
}

TEST(the_hash_knows_who_is_who_and_who_is_gone)
{
    cairn_world *a = world_create(3), *b = world_create(3);
    cairn_body_id gone = add_sphere(a, 0.5, cairn_vec(0, 0, 0));
    add_sphere(a, 0.5, cairn_vec(5, 0, 0));
    add_sphere(b, 0.5, cairn_vec(5, 0, 0));
    uint64_t with = cairn_world_hash(a);
    CHECK_OK(cairn_body_destroy(a, gone));
    CHECK(cairn_world_hash(a) != with);
    CHECK(cairn_world_hash(a) != cairn_world_hash(b)); /* the same ball, but number 1 and 0 */
    cairn_world_destroy(a);
    cairn_world_destroy(b);
}

/* ---- overlap -------------------------------------------------------------------------------- */

/* Balls of radius 0.5 at 0, 0.9 and 1.6: overlaps 0.1 and 0.3. */
TEST(the_deepest_overlap_is_found_with_its_bodies)
{
    cairn_world *world = world_create(3);
    cairn_body_id a, b;
    double depth = 9;
    CHECK_OK(cairn_world_overlap(world, &depth, &a, &b)); /* nobody there */
    CHECK_NEAR(depth, 0, 0);
    CHECK(a.uid == CAIRN_NO_BODY && b.uid == CAIRN_NO_BODY);
    cairn_body_id first = add_sphere(world, 0.5, cairn_vec(0, 0, 0));
    add_sphere(world, 0.5, cairn_vec(0.9, 0, 0));
    cairn_body_id last = add_sphere(world, 0.5, cairn_vec(1.6, 0, 0));
    CHECK_OK(cairn_world_overlap(world, &depth, &a, &b));
    CHECK_NEAR(depth, 0.3, 1e-15);
    CHECK_INT(a.uid, 1);
    CHECK_INT(b.uid, 2);
    CHECK_OK(cairn_body_destroy(world, last));
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    CHECK_NEAR(depth, 0.1, 1e-15);
    CHECK_OK(cairn_body_destroy(world, first));
    last = add_sphere(world, 0.5, cairn_vec(1.5, 0, 0));
    CHECK_OK(cairn_world_overlap(world, &depth, &a, &b));
    CHECK_NEAR(depth, 0.4, 1e-15);
    CHECK_INT(a.uid, 1);
    CHECK_INT(b.uid, last.uid);
    cairn_world_destroy(world);
}

/* A ball of radius 1 is 0.1 in the floor, one of radius 0.1 only 0.05, but that is half of it. */
TEST(the_largest_share_need_not_be_the_deepest)
{
    cairn_world *world = world_create(3);
    double share, depth;
    cairn_body_id a, b;
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), (cairn_vec3){ 0, 0, 0 });
    add_sphere(world, 1, (cairn_vec3){ 0, 0, 0.9 });
    CHECK_OK(cairn_world_overlap_share(world, &share, &depth, &a, &b));
    CHECK_NEAR(share, 0.1, 1e-12);
    add_sphere(world, 0.1, (cairn_vec3){ 5, 0, 0.05 });
    CHECK_OK(cairn_world_overlap_share(world, &share, &depth, &a, &b));
    CHECK_NEAR(share, 0.5, 1e-12);
    CHECK_NEAR(depth, 0.05, 1e-12);
    CHECK_INT(a.uid + b.uid, 0 + 2);
    cairn_world_destroy(world);
}

TEST(touching_and_walls_among_themselves_are_no_overlap)
{
    cairn_world *world = world_create(3);
    double depth;
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.radius = 5;
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), cairn_vec(0, 0, 0));
    add_wall(world, ball, cairn_vec(0, 0, 0)); /* fixed, and deep in the floor */
    add_sphere(world, 0.5, cairn_vec(20, 0, 0.5));
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    CHECK_NEAR(depth, 0, 0);
    add_sphere(world, 0.5, cairn_vec(30, 0, 0.25));
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    CHECK_NEAR(depth, 0.25, 1e-15);
    cairn_world_destroy(world);
}

/* ---- life without memory -------------------------------------------------------------------- */

static cairn_status add_bodies(cairn_world *world)
{
    for (int i = 0; i < 12; i++) { /* two layers that fall and touch */
        cairn_load load = cairn_load_default(CAIRN_LOAD_TABLE);
        cairn_body_def def = cairn_body_def_default();
        load.force = cairn_vec(1, 0, 0);
        load.time = (cairn_list)LIST(0, 1);
        load.factor = (cairn_list)LIST(0, 1);
        def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        def.shape.radius = 0.1;
        def.position = cairn_vec(0.21 * (i % 3), 0.2 * (i / 3 % 2), 0.1 + 0.199 * (i / 6));
        def.loads = &load;
        def.load_count = i == 4;
        TRY(cairn_body_create(world, &def, NULL));
    }
    return CAIRN_OK;
}

static cairn_status add_driven_wall(cairn_world *world)
{
    cairn_driver drivers[2] = { cairn_driver_default(CAIRN_DRIVER_SHAKE),
                                cairn_driver_default(CAIRN_DRIVER_TABLE) };
    cairn_body_def def = cairn_body_def_default();
    drivers[0].amplitude = cairn_vec(0.001, 0, 0);
    drivers[0].frequency = 10;
    drivers[1].time = (cairn_list)LIST(0, 1, 2);
    drivers[1].y = (cairn_list)LIST(0, 0.1, 0);
    drivers[1].angle = (cairn_list)LIST(0, 0.01, 0);
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.drivers = drivers;
    def.driver_count = 2;
    return cairn_body_create(world, &def, NULL);
}

static cairn_status add_vessel(cairn_world *world)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    def.shape.radius = 1;
    return cairn_body_create(world, &def, NULL);
}

/* A world with everything: materials, driven and fixed walls, loads, an inlet. What was made
 * before a failure is in *out. */
static cairn_status build(cairn_world **out)
{
    cairn_world_def def = cairn_world_def_default();
    const cairn_material_def materials[2] = { { .friction = 0.5 },
                                              { .friction = 0.2, .restitution = 0.3 } };
    cairn_inlet_def inlet = cairn_inlet_def_default();
    TRY(cairn_world_create(&def, out));
    TRY(cairn_material_create(*out, &materials[0], NULL));
    TRY(cairn_material_create(*out, &materials[1], NULL));
    TRY(cairn_material_pair_set(*out, 0, 1, &materials[1]));
    TRY(add_driven_wall(*out));
    TRY(add_vessel(*out));
    TRY(add_bodies(*out));
    inlet.count = 100;
    inlet.rate = 4000;
    inlet.centre = cairn_vec(0, 0, 2);
    inlet.size = cairn_vec(1, 1, 1);
    inlet.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    inlet.radius.values = (cairn_list)LIST(0.03, 0.05);
    inlet.radius.weights = (cairn_list)LIST(1, 2);
    return cairn_inlet_create(*out, &inlet);
}

/* Bytes are counted where they are: bodies at once, the rest with the first step that needs them. */
TEST(the_memory_of_a_world_is_told)
{
    cairn_world *world;
    cairn_world_def def = cairn_world_def_default();
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_INT(cairn_world_memory(world).bodies, 0);
    CHECK_OK(cairn_material_create(world, &(cairn_material_def){ .friction = 0.3 }, NULL));
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), (cairn_vec3){ 0, 0, 0 });
    cairn_body_def ball = cairn_body_def_default();
    ball.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.position.z = ball.shape.radius = 0.1;
    CHECK_OK(cairn_body_create(world, &ball, NULL));
    cairn_memory_use before = cairn_world_memory(world);
    CHECK(before.bodies > 400 && before.contacts == 0 && before.step == 0);
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = 0.01;
    CHECK_OK(cairn_world_step(world, &options, &report));
    cairn_memory_use after = cairn_world_memory(world);
    CHECK(after.bodies == before.bodies);
    CHECK_INT(after.contacts, 156); /* of one contact without any law but friction */
    CHECK(after.step > 0 && after.solver > 0 && after.pairs > 0);
    cairn_world_destroy(world);
}

TEST(a_world_can_be_built_or_given_up_at_any_allocation)
{
    cairn_status status = CAIRN_NO_MEMORY;
    long n = 0;
    while (status != CAIRN_OK) {
        meter m = { .fail_at = ++n };
        cairn_world *world = NULL;
        meter_install(&m);
        status = build(&world);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        cairn_world_destroy(world);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK(n > 30);
}

/* Make the driven wall (two drivers, three lists); allocation n fails. False: it made fewer. */
static bool fail_in_wall(long n, uint64_t expected)
{
    meter m = { 0 };
    const cairn_world_def def = cairn_world_def_default();
    const cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    meter_install(&m);
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    uint64_t before = cairn_world_hash(world);
    m.fail_at = m.calls + n;
    cairn_status status = add_driven_wall(world);
    bool failed = status != CAIRN_OK;
    if (failed) {
        CHECK_INT(status, CAIRN_NO_MEMORY);
        CHECK_INT(cairn_world_bodies(world).count, 0);
        CHECK_INT(world->driven.count, 0);
        CHECK(cairn_world_hash(world) == before);
        CHECK_OK(add_driven_wall(world));
    }
    CHECK(cairn_world_hash(world) == expected);
    CHECK_INT(world->driven.count, 2);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
    return failed;
}

TEST(a_body_that_found_no_memory_is_not_there_and_can_be_made_again)
{
    cairn_world *reference = world_create(3);
    CHECK_OK(add_driven_wall(reference));
    uint64_t expected = cairn_world_hash(reference);
    cairn_world_destroy(reference);
    long n = 1;
    while (fail_in_wall(n, expected))
        n++;
    CHECK(n > 15); /* 13 columns of bodies, the drivers, their tables */
}

static cairn_status step(cairn_world *world)
{
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = 2e-3;
    options.threads = 1;
    return cairn_world_step(world, &options, &report);
}

enum { STEPS = 6 };

/* Hashes after each step of an undisturbed run. */
static void run_undisturbed(uint64_t hashes[STEPS])
{
    cairn_world *world = NULL;
    CHECK_OK(build(&world));
    for (int k = 0; k < STEPS; k++) {
        CHECK_OK(step(world));
        hashes[k] = cairn_world_hash(world);
    }
    CHECK(cairn_world_contacts(world).count > 10);
    cairn_world_destroy(world);
}

/* In step `bad` allocation n fails; returns false when the step made fewer. A step may succeed all
 * the same: scratch memory that cannot be joined starts anew. */
static bool fail_in_step(int bad, long n, const uint64_t hashes[STEPS])
{
    meter m = { 0 };
    cairn_world *world = NULL;
    bool reached = false;
    meter_install(&m);
    CHECK_OK(build(&world));
    for (int k = 0; k < STEPS; k++) {
        uint64_t before = cairn_world_hash(world);
        int contacts = cairn_world_contacts(world).count;
        int64_t pending = cairn_world_inlet_pending(world);
        m.fail_at = k == bad ? m.calls + n : 0;
        cairn_status status = step(world);
        reached = reached || (k == bad && m.calls >= m.fail_at);
        if (status != CAIRN_OK) {
            CHECK_INT(k, bad);
            CHECK_INT(status, CAIRN_NO_MEMORY);
            CHECK(cairn_world_hash(world) == before);
            CHECK_INT(cairn_world_contacts(world).count, contacts);
            CHECK_INT(cairn_world_inlet_pending(world), pending);
            CHECK_OK(step(world));
        }
        CHECK(cairn_world_hash(world) == hashes[k]);
    }
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
    return reached;
}

/* The failed step leaves the world as it was; done again it gives the same bits, and so do all
 * steps after it: impulses for the warm start, inlets and time included. */
TEST(a_step_without_memory_changes_nothing_and_can_be_done_again)
{
    uint64_t hashes[STEPS];
    run_undisturbed(hashes);
    int failures = 0;
    for (int bad = 0; bad < STEPS; bad++)
        for (long n = 1; n < 200; n++) {
            if (!fail_in_step(bad, n, hashes))
                break;
            failures++;
        }
    CHECK(failures > 30);
}

/* A ball is put at z = 5 with a velocity, at t = 3 s, in a gravity of 2 m/s^2, and falls for 0.1 s;
 * what is wrong changes nothing. */
TEST(bodies_gravity_and_clock_can_be_set)
{
    cairn_world *world = world_create(3);
    cairn_material_def rock = cairn_material_def_default(), found;
    cairn_step_options step = cairn_step_options_default();
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = (cairn_shape){ .kind = CAIRN_SHAPE_SPHERE, .radius = 0.1 };
    CHECK_OK(cairn_body_create(world, &def, &id));
    cairn_body_state state = { .x = { 0, 0, 5 }, .q = { 1, 0, 0, 0 }, .v = { 1, 0, 0 } };
    CHECK_OK(cairn_body_put(world, id, &state));
    CHECK_OK(cairn_world_set_gravity(world, (cairn_vec3){ 0, 0, -2 }));
    CHECK_OK(cairn_world_restart(world, 3));
    rock.friction = 0.7;
    CHECK_OK(cairn_material_set(world, 0, &rock));
    CHECK_OK(cairn_material_get(world, 0, &found));
    CHECK_NEAR(found.friction, 0.7, 0);
    uint64_t hash = cairn_world_hash(world);
    state.v.x = NAN;
    CHECK(cairn_body_put(world, id, &state) != CAIRN_OK);
    state = (cairn_body_state){ .q = { 2, 0, 0, 0 } };
    CHECK_INT(cairn_body_put(world, id, &state), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_body_put(world, (cairn_body_id){ 9 }, &state), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_world_restart(world, NAN), CAIRN_NOT_FINITE);
    CHECK_INT(cairn_world_set_gravity(world, (cairn_vec3){ INFINITY, 0, 0 }), CAIRN_NOT_FINITE);
    CHECK_INT(cairn_material_set(world, 7, &rock), CAIRN_NOT_FOUND);
    rock.friction = -1;
    CHECK_INT(cairn_material_set(world, 0, &rock), CAIRN_BAD_INPUT);
    /* a law that depends on the speed, and one that depends on time, exclude each other */
    cairn_function half = cairn_function_default(CAIRN_FUNCTION_CONSTANT);
    half.value = 0.5;
    rock.friction = 0.7;
    rock.friction_law = cairn_friction_law_default(CAIRN_FRICTION_STRIBECK);
    rock.friction_law.speed = 0.1;
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_FRICTION, 0, &half));
    CHECK_INT(cairn_material_set(world, 0, &rock), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "friction_law");
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_FRICTION, 0, NULL));
    CHECK(!cairn_world_varies(world, CAIRN_VARIED_FRICTION));
    CHECK(cairn_world_hash(world) == hash);
    step.time_step = 0.1;
    CHECK_OK(cairn_world_step(world, &step, NULL));
    CHECK_NEAR(cairn_world_time(world), 3.1, 1e-15);
    CHECK_NEAR(cairn_world_bodies(world).v[0].z, -0.2, 1e-15);
    CHECK_NEAR(cairn_world_bodies(world).x[0].x, 0.1, 1e-15);
    cairn_world_destroy(world);
}

GROUP(test_world)
{
    RUN(CASE(bodies_gravity_and_clock_can_be_set),
        CASE(the_default_world_has_three_dimensions_and_gravity), CASE(other_worlds_are_refused),
        CASE(in_2d_gravity_lies_in_the_plane), CASE(destroying_no_world_is_allowed),
        CASE(time_is_steps_times_length), CASE(equal_states_have_equal_hashes),
        CASE(the_hash_sees_the_last_bit_of_every_number),
        CASE(the_hash_knows_who_is_who_and_who_is_gone),
        CASE(the_deepest_overlap_is_found_with_its_bodies),
        CASE(the_largest_share_need_not_be_the_deepest),
        CASE(touching_and_walls_among_themselves_are_no_overlap),
        CASE(the_memory_of_a_world_is_told),
        CASE(a_world_can_be_built_or_given_up_at_any_allocation),
        CASE(a_body_that_found_no_memory_is_not_there_and_can_be_made_again),
        CASE(a_step_without_memory_changes_nothing_and_can_be_done_again));
}

/* ==== test_order: rows of bodies: along a curve through space, and named anew when they change */

/* 13^3 balls a little apart, created in an order that jumps about; each has a speed of its own. */
static cairn_world *scattered_lattice(void)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int k = 0; k < 2197; k++) {
        int i = k * 1201 % 2197; /* every i once */
        cairn_vec3 at = { 1.01 * (i % 13), 1.01 * (i / 13 % 13), 1.01 * (i / 169) };
        add_ball(world, 0.5, at, (cairn_vec3){ 1e-6 * k, 0, 0 });
    }
    return world;
}

/* The lattice in the place of ball `uid`: i + 13 j + 169 k. */
static int place_of(uint64_t uid)
{
    return (int)(uid * 1201 % 2197);
}

/* In the order in which they were made, the blocks of a contact would be 2197/3 apart on average. */
TEST(rows_of_many_bodies_follow_space_and_belong_to_their_bodies)
{
    cairn_world *world = scattered_lattice();
    cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    options.margin = 0.05;
    advance(world, &options, 1);
    const cairn_problem *p = cairn_world_problem(world, NULL);
    double apart = 0;
    CHECK_INT(p->contacts, 3 * 13 * 13 * 12);
    for (int j = 0; j < p->contacts; j++)
        apart += abs(p->block[2 * j] - p->block[2 * j + 1]);
    CHECK(apart / p->contacts < 2197.0 / 9);
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < 2197; i++) {
        CHECK_NEAR(b.v[i].x, 1e-6 * (double)b.uid[i], 0);
        CHECK_INT(cairn_body_row(world, (cairn_body_id){ b.uid[i] }), i);
    }
    cairn_world_destroy(world);
}

/* Walls first, then the balls as they came: the first one made room for the wall. */
TEST(few_bodies_keep_their_rows)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int k = 0; k < 3; k++)
        add_ball(world, 0.5, (cairn_vec3){ -3 * k, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, -1 });
    add_ball(world, 0.5, (cairn_vec3){ 7, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    const uint64_t expected[5] = { 3, 1, 2, 0, 4 };
    cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    CHECK_OK(cairn_world_put_in_order(world, &options));
    cairn_step_report report;
    cairn_step step = cairn_step_begin(world, &options, &report);
    CHECK_INT(step.blocks, 4);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(cairn_world_bodies(world).uid[i], expected[i]);
        CHECK_INT(cairn_step_block(&step, i), i - 1);
    }
    cairn_world_destroy(world);
}

/* Along the diagonal of the lattice rows grow. */
TEST(many_bodies_stand_along_the_curve)
{
    const cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    cairn_world *world = scattered_lattice();
    CHECK_OK(cairn_world_put_in_order(world, &options));
    cairn_bodies b = cairn_world_bodies(world);
    int last = -1;
    for (int place = 0; place < 13; place++)
        for (int i = 0; i < 2197; i++)
            if (place_of(b.uid[i]) == place * (1 + 13 + 169)) {
                CHECK(i > last);
                last = i;
            }
    cairn_world_destroy(world);
}

/* Where they were sorted they stand as before when each has another one's place, all over again, and
 * do not when each tenth has the place of its neighbour. No two are in one cell. */
TEST(rows_are_sorted_again_when_neighbours_are_far_apart)
{
    const cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    cairn_world *world = scattered_lattice();
    static cairn_vec3 sorted[2197];
    cairn_body_store *b = &world->bodies;
    CHECK_OK(cairn_world_put_in_order(world, &options));
    memcpy(sorted, b->x, sizeof sorted);
    for (int i = 0; i + 1 < 2197; i += 10) {
        b->x[i] = sorted[i + 1];
        b->x[i + 1] = sorted[i];
    }
    CHECK_OK(cairn_world_put_in_order(world, &options));
    CHECK(memcmp(sorted, b->x, sizeof sorted) != 0);
    for (int i = 0; i < 2197; i++)
        b->x[i] = sorted[(i * 1201 + 7) % 2197];
    CHECK_OK(cairn_world_put_in_order(world, &options));
    CHECK(memcmp(sorted, b->x, sizeof sorted) == 0);
    cairn_world_destroy(world);
}

/* m: how far bodies of rows side by side are, on average. */
static double mean_way(const cairn_body_store *b)
{
    double sum = 0;
    for (int i = 1; i < b->count; i++)
        sum += cairn_norm(cairn_sub(b->x[i], b->x[i - 1]));
    return sum / (b->count - 1);
}

/* One that flew off 2 km does not spoil the order of the others: they are 1.7 m apart with and
 * without it, and would be 8 m in the order in which they were made. */
TEST(one_body_far_away_does_not_spoil_the_order)
{
    const cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    for (int far = 0; far < 2; far++) {
        cairn_world *world = scattered_lattice();
        if (far)
            add_ball(world, 0.5, (cairn_vec3){ 2000, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
        CHECK_OK(cairn_world_put_in_order(world, &options));
        CHECK(mean_way(&world->bodies) < (far ? 4 : 2));
        CHECK(world->bodies.apart < 3);
        cairn_world_destroy(world);
    }
}

/* A heap at rest: a floor, and 12^3 balls upon each other that were made in an order that jumps. */
static cairn_world *heap(int *count)
{
    cairn_world *world = new_world(3, -10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    *count = 2197;
    for (int k = 0; k < *count; k++) {
        int i = place_of((uint64_t)k);
        add_ball(world, 0.5, (cairn_vec3){ 1.001 * (i % 13), 1.001 * (i / 13 % 13), 0.5 + i / 169 },
                 (cairn_vec3){ 0, 0, 0 });
    }
    return world;
}

/* Each contact is where the two bodies that it names touch. */
static void check_contacts(const cairn_world *world)
{
    cairn_contacts c = cairn_world_contacts(world);
    cairn_bodies b = cairn_world_bodies(world);
    for (int j = 0; j < c.count; j++)
        for (int side = 0; side < 2; side++) {
            int i = c.body[2 * j + side];
            CHECK(i >= 0 && i < b.count);
            double away = cairn_norm(cairn_sub(c.point[j], b.x[i]));
            CHECK(i < b.held ? fabs(c.point[j].z) < 1e-3 : fabs(away - 0.5) < 1e-3);
        }
}

typedef struct bytes {
    char *data;
    size_t size;
} bytes;

static cairn_status keep(const void *data, size_t size, void *context)
{
    bytes *all = context;
    all->data = realloc(all->data, all->size + size);
    memcpy(all->data + all->size, data, size);
    all->size += size;
    return CAIRN_OK;
}

/* A world that was saved and loaded. */
static cairn_world *copy_of(const cairn_world *world)
{
    bytes all = { NULL, 0 };
    cairn_world *copy;
    CHECK_OK(cairn_world_save(world, keep, &all));
    CHECK_OK(cairn_world_load(all.data, all.size, &copy, NULL));
    free(all.data);
    return copy;
}

/* Contacts of those that are gone go with them; the others name the rows as they are now, and the
 * next step starts from their impulses: a world that was saved and loaded meanwhile does the same. */
TEST(contacts_follow_bodies_to_their_new_rows)
{
    int count;
    cairn_world *world = heap(&count);
    cairn_step_options options = step_by(1e-3, "convex", 1e-4);
    advance(world, &options, 3);
    check_contacts(world);
    int before = cairn_world_contacts(world).count;
    for (uint64_t uid = 1; uid <= 100; uid++)
        CHECK_OK(cairn_body_destroy(world, (cairn_body_id){ 7 * uid }));
    CHECK(cairn_world_contacts(world).count < before - 100);
    check_contacts(world);
    cairn_world *copy = copy_of(world);
    CHECK_INT(advance(world, &options, 1).solve.iterations,
              advance(copy, &options, 1).solve.iterations);
    CHECK(cairn_world_hash(world) == cairn_world_hash(copy));
    check_contacts(world);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
}

/* The impulses of a heap at rest hold it. Its mirror image stands in other rows; the step still
 * starts from its impulses, and needs no more sweeps than before. */
TEST(impulses_are_found_again_after_rows_have_changed)
{
    int count;
    cairn_world *world = heap(&count);
    cairn_step_options options = step_by(1e-3, "convex", 1e-4);
    advance(world, &options, 30);
    int64_t usual = advance(world, &options, 1).solve.iterations;
    uint64_t before[3000];
    memcpy(before, world->bodies.uid, (size_t)(count + 1) * sizeof before[0]);
    for (int i = 1; i <= count; i++)
        world->bodies.x[i].x = -world->bodies.x[i].x;
    world->bodies.apart = 0; /* sort anew */
    CHECK(advance(world, &options, 1).solve.iterations <= usual + 2);
    CHECK(memcmp(before, world->bodies.uid, (size_t)(count + 1) * sizeof before[0]) != 0);
    cairn_world_destroy(world);
}

GROUP(test_order)
{
    RUN(CASE(rows_of_many_bodies_follow_space_and_belong_to_their_bodies),
        CASE(few_bodies_keep_their_rows), CASE(many_bodies_stand_along_the_curve),
        CASE(rows_are_sorted_again_when_neighbours_are_far_apart),
        CASE(one_body_far_away_does_not_spoil_the_order),
        CASE(contacts_follow_bodies_to_their_new_rows),
        CASE(impulses_are_found_again_after_rows_have_changed));
}

/* ==== test_touch: what touches what in a world, without a step ================================ */

static const cairn_vec3 zero = { 0, 0, 0 };

static cairn_shape box_of(double edge)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    box.size = (cairn_vec3){ edge, edge, edge };
    return box;
}

static cairn_collider at(const cairn_shape *shape, double x)
{
    cairn_collider c = { .shape = shape };
    cairn_collider_place(&c, (cairn_pose){ { x, 0, 0 }, { 1, 0, 0, 0 } });
    return c;
}

/* one witness within reach 0 is enough */
TEST(what_touches_or_overlaps_meets)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_shape box = box_of(1);
    cairn_collider a = at(&box, 0), touching = at(&box, 1), apart = at(&box, 1.001);
    CHECK(cairn_world_meet(world, &a, &a));
    CHECK(cairn_world_meet(world, &a, &touching));
    CHECK(!cairn_world_meet(world, &a, &apart));
    cairn_world_destroy(world);
}

/* a box 0.1 m in the floor, another 0.2 m in the first */
TEST(the_deepest_overlap_is_found_and_named)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id a, b;
    double depth;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = box_of(1);
    def.position.z = 0.4;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_OK(cairn_world_overlap(world, &depth, &a, &b));
    CHECK_NEAR(depth, 0.1, 1e-12);
    def.position.z = 1.2;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_OK(cairn_world_overlap(world, &depth, &a, &b));
    CHECK_NEAR(depth, 0.2, 1e-12);
    CHECK_INT(a.uid, 1);
    CHECK_INT(b.uid, 2);
    cairn_world_destroy(world);
}

/* A funnel meets balls only. */
TEST(a_pair_that_cannot_be_resolved_is_named)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_shape funnel = cairn_shape_default(CAIRN_SHAPE_FUNNEL, 3);
    cairn_body_def def = cairn_body_def_default();
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    cairn_step_report report;
    funnel.bottom_radius = funnel.top_radius = funnel.height = 1;
    add_wall(world, funnel, zero);
    add_ball(world, 0.1, zero, zero);
    CHECK_OK(cairn_world_step(world, &options, &report));
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 1, 1, 1 };
    def.position.x = 5;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(cairn_world_error(world)->message,
                   "the distance of body 0 (funnel) and body 2 (box) cannot be found: a funnel "
                   "meets balls only, expected a mesh");
    cairn_world_destroy(world);
}

GROUP(test_touch)
{
    RUN(CASE(what_touches_or_overlaps_meets), CASE(the_deepest_overlap_is_found_and_named),
        CASE(a_pair_that_cannot_be_resolved_is_named));
}
