/* test_limit.c - a step in which a body moves by more than its size relative to what it may meet is
 * refused, unless it is right; who meets nothing may fly as far as it likes. */
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* A cube of edge 0.2 (a ball of radius 0.173 holds it), its centre at a height. */
static int add_cube(cairn_world *world, double height, cairn_vec3 omega)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.2, 0.2, 0.2 };
    def.mass = 1;
    def.position.z = height;
    def.angular_velocity = omega;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

static bool is_refused(cairn_world *world, const cairn_step_options *options)
{
    cairn_step_report report;
    uint64_t before = cairn_world_hash(world);
    cairn_status status = cairn_world_step(world, options, &report);
    if (status == CAIRN_OK)
        return false;
    CHECK_INT(status, CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "run.time_step");
    CHECK(cairn_world_hash(world) == before);
    return true;
}

/* The cube falls by 0.4 m onto the floor in one step of 10 s, and would sink by 0.5 m later. */
TEST(a_cube_that_falls_further_than_its_size_is_refused_by_every_scheme)
{
    const char *scheme;
    for (int i = 0; (scheme = cairn_scheme_name(i)); i++) {
        cairn_world *world = new_world(3, 9.81, 0.5, 0);
        cairn_step_options options = step_by(10, scheme, 1e-3);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_cube(world, 0.5, (cairn_vec3){ 0.1, 0.2, 0 });
        CHECK(is_refused(world, &options));
        const char *told = strstr(cairn_world_error(world)->message, "body 1 would move by");
        CHECK(told && strstr(told, "relative to body 0 in one step of 10 s"));
        CHECK(strstr(told, "its size of 0.173 m"));
        cairn_world_destroy(world);
    }
}

/* h (h g) = 0.173 m for h = 0.133 s: nine tenths of it are recommended, and do. */
TEST(the_step_that_is_recommended_does)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(10, "coulomb", 1e-6);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_cube(world, 0.15, zero);
    CHECK(!is_refused(world, &options)); /* 0.05 m: less than its size */
    cairn_world_destroy(world);
    world = new_world(3, 9.81, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_cube(world, 0.3, zero);
    CHECK(is_refused(world, &options));
    CHECK(strstr(cairn_world_error(world)->message, "expected at most 0.12 s"));
    options.time_step = 0.12;
    CHECK(!is_refused(world, &options));
    cairn_world_destroy(world);
}

/* 10 m and 5 rad a step, 1 km above the floor and from each other. */
TEST(who_meets_nothing_flies_on)
{
    const char *scheme;
    for (int i = 0; (scheme = cairn_scheme_name(i)); i++) {
        cairn_world *world = new_world(3, 0, 0.5, 0);
        cairn_step_options options = step_by(0.1, scheme, 1e-3);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_cube(world, 1000, (cairn_vec3){ 50, 0, 0 });
        add_ball(world, 0.01, (cairn_vec3){ 0, 0, 2000 }, (cairn_vec3){ 100, 0, 0 });
        for (int k = 0; k < 5; k++)
            CHECK(!is_refused(world, &options));
        cairn_world_destroy(world);
    }
}

/* A ball that comes down by 1 m onto a plane in a step is stopped where it should be. */
TEST(a_fast_ball_on_a_plane_is_right_and_goes_on)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-10);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    int ball = add_ball(world, 0.01, (cairn_vec3){ 0, 0, 0.51 }, (cairn_vec3){ 0, 0, -100 });
    CHECK(!is_refused(world, &options));
    CHECK_NEAR(cairn_world_bodies(world).x[ball].z, 0.01, 1e-12);
    cairn_world_destroy(world);
}

/* 0.5 m before a ball of 1 cm and 3 cm beside it: the tangent plane would stop what passes by. */
TEST(a_ball_that_is_stopped_by_what_it_does_not_touch_is_refused)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-10);
    add_ball(world, 0.01, zero, zero);
    add_ball(world, 0.01, (cairn_vec3){ -0.5, 0.05, 0 }, (cairn_vec3){ 100, 0, 0 });
    CHECK(is_refused(world, &options));
    options.time_step = 1e-4;
    for (int k = 0; k < 100; k++)
        CHECK(!is_refused(world, &options));
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, 100, 1e-9); /* it passed */
    cairn_world_destroy(world);
}

/* Contacts of velocity level are those of mid-step: a ball behind the wall by then has none. */
TEST(moreau_jean_refuses_what_it_would_not_see)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_step_options options = step_by(0.01, "moreau-jean", 1e-10);
    cairn_body_def wall = cairn_body_def_default();
    wall.motion = CAIRN_MOTION_FIXED;
    wall.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    wall.shape.size = (cairn_vec3){ 0.01, 1, 1 };
    CHECK_OK(cairn_body_create(world, &wall, NULL));
    int ball = add_ball(world, 0.01, (cairn_vec3){ -0.1, 0, 0 }, (cairn_vec3){ 100, 0, 0 });
    CHECK(is_refused(world, &options));
    options.time_step = 9e-5;
    for (int k = 0; k < 100; k++)
        CHECK(!is_refused(world, &options));
    CHECK(cairn_world_bodies(world).x[ball].x < 0); /* it was stopped */
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(a_cube_that_falls_further_than_its_size_is_refused_by_every_scheme),
        CASE(the_step_that_is_recommended_does), CASE(who_meets_nothing_flies_on),
        CASE(a_fast_ball_on_a_plane_is_right_and_goes_on),
        CASE(a_ball_that_is_stopped_by_what_it_does_not_touch_is_refused),
        CASE(moreau_jean_refuses_what_it_would_not_see));
}
