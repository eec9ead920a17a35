/* test_assemble.c - what goes into the one-step problem, seen through its effects.
 * The rows of H are the derivatives of relative velocities, the bias closes gaps, restitution
 * bounces, driven bodies impose their velocity. */
#include <stdlib.h>

#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* the linearised gap is closed exactly in one step: g + h u_N = 0 */
TEST(the_bias_closes_a_gap_in_one_step)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.5, (cairn_vec3){ 0, 0.51, 0 }, (cairn_vec3){ 0, -3, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, -1, 1e-12); /* -0.01 m / 0.01 s */
    CHECK_NEAR(cairn_world_bodies(world).x[1].y, 0.5, 1e-14);
    cairn_world_destroy(world);
}

TEST(stabilisation_closes_a_share_of_the_gap)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.5, (cairn_vec3){ 0, 0.51, 0 }, (cairn_vec3){ 0, -3, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    options.stabilisation = 0.25;
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_bodies(world).x[1].y, 0.5075, 1e-14);
    cairn_world_destroy(world);
}

TEST(restitution_acts_only_where_the_contact_closes)
{
    cairn_world *world = new_world(2, 0, 0, 0.5);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.5, (cairn_vec3){ 0, 0.55, 0 }, (cairn_vec3){ 0, -3, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    advance(world, &options, 1); /* 0.05 m away: 0.03 m a step */
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, -3, 1e-12);
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, 1.5, 1e-12);
    cairn_world_destroy(world);
}

/* a belt: a driven floor moving sideways drags a ball until it rolls with 2/7 of its speed */
TEST(a_driven_floor_drags_a_ball)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    cairn_driver belt = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    cairn_body_def floor = cairn_body_def_default();
    belt.velocity.x = 0.7;
    floor.motion = CAIRN_MOTION_DRIVEN;
    floor.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    floor.drivers = &belt;
    floor.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &floor, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    cairn_step_options options = step_by(0.001, "fixed-point", 1e-10);
    advance(world, &options, 50); /* sliding: 0.05 s * mu g = 0.1 m/s */
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, 0.1, 1e-9);
    advance(world, &options, 500);
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, 0.2, 1e-9); /* 2/7 * 0.7 */
    CHECK_NEAR(cairn_world_bodies(world).omega[1].y * 0.1, -0.5, 1e-9);
    cairn_world_destroy(world);
}

/* a turning drum carries a disk up its wall: surface speed = omega R */
TEST(a_turning_drum_imposes_its_surface_speed)
{
    cairn_world *world = new_world(2, 0.001, 1, 0);
    cairn_driver turn = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    cairn_body_def drum = cairn_body_def_default();
    turn.angular_velocity.z = 2;
    drum.motion = CAIRN_MOTION_DRIVEN;
    drum.shape = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 2);
    drum.shape.radius = 1;
    drum.drivers = &turn;
    drum.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &drum, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, -0.9, 0 }, zero);
    cairn_step_options options = step_by(0.001, "fixed-point", 1e-10);
    advance(world, &options, 1);
    cairn_contacts c = cairn_world_contacts(world);
    CHECK_INT(c.count, 1);
    /* normal up, tangent z x n = -x: the drum's bottom moves with +2 m/s along x, so the disk's
     * point moves with +2 along the tangent relative to it, but for what friction took */
    CHECK_NEAR(c.velocity[1], 2, 1e-4);
    cairn_world_destroy(world);
}

/* unequal inertia and a turned body: the angular rows are in the body frame */
TEST(angular_rows_follow_the_orientation)
{
    cairn_world *world = new_world(3, 10, 1, 0);
    cairn_body_def ball = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    ball.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.shape.radius = 1;
    ball.mass = 1;
    ball.inertia = (cairn_vec3){ 0.2, 0.3, 0.4 };
    ball.orientation = (cairn_quat){ sqrt(0.5), 0, 0, sqrt(0.5) }; /* x of the body = y */
    ball.position.z = 1;
    ball.velocity.x = 1e-3;
    CHECK_OK(cairn_body_create(world, &ball, NULL));
    cairn_step_options options = step_by(1e-3, "fixed-point", 1e-12);
    advance(world, &options, 1);
    /* it sticks: r_T = -1e-3/(1/m + 1/J_x), turning about world y = body x with J = 0.2 */
    double speed = 1e-3 - 1e-3 / (1 + 1 / 0.2);
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, speed, 1e-12);
    CHECK_NEAR(cairn_world_bodies(world).omega[1].x, speed, 1e-12);
    CHECK_NEAR(cairn_world_bodies(world).omega[1].y, 0, 1e-12);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(the_bias_closes_a_gap_in_one_step), CASE(stabilisation_closes_a_share_of_the_gap),
        CASE(restitution_acts_only_where_the_contact_closes), CASE(a_driven_floor_drags_a_ball),
        CASE(a_turning_drum_imposes_its_surface_speed), CASE(angular_rows_follow_the_orientation));
}
