/* test_joint_felt.c - the inertia that motors feel, and motors that settle with gains made of it. */
#include <math.h>

#include "cairn/joint.h"
#include "math/vec.h"
#include "world/world.h"
#include "worlds.h"

/* A slim rod of 1 m in the plane: mass, centre, moment m/12. */
static cairn_body_id add_rod(cairn_world *world, double mass, double x)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 2);
    def.shape.radius = 0.01;
    def.mass = mass;
    def.inertia = (cairn_vec3){ 0, 0, mass / 12 };
    def.position = (cairn_vec3){ x, 0, 0 };
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

/* A hinge at x with a position motor; returns its number. */
static int add_hinge(cairn_world *world, cairn_body_id a, cairn_body_id b, double x,
                     cairn_joint_drive drive)
{
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id id;
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a = a;
    def.b = b;
    def.anchor = (cairn_vec3){ x, 0, 0 };
    def.turn = drive;
    CHECK_OK(cairn_joint_create(world, &def, &id));
    return id.index;
}

static cairn_joint_drive to_position(double target, double effort)
{
    cairn_joint_drive drive = cairn_joint_drive_default();
    drive.motor = "position";
    drive.target = target;
    drive.effort = effort;
    return drive;
}

/* ---- inertia -------------------------------------------------------------------------------- */

static double felt(cairn_world *world, int joint)
{
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-10);
    advance(world, &options, 1);
    return world->joints.items[joint].felt_turn;
}

/* Rods of 3 kg and 6 kg in a row: the shoulder at x = 0 turns 3/3 + 6/12 + 6 * 1.5^2 = 15 kg m^2,
 * the elbow at x = 1 the second rod alone, 6/3, as the first one holds on to the world. */
TEST(a_motor_feels_what_hangs_on_it)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_body_id first = add_rod(world, 3, 0.5), second = add_rod(world, 6, 1.5);
    int shoulder = add_hinge(world, first, cairn_body_none(), 0, to_position(0, 1));
    int elbow = add_hinge(world, second, first, 1, to_position(0, 1));
    CHECK_CLOSE(felt(world, shoulder), 15, 1e-12);
    CHECK_CLOSE(felt(world, elbow), 2, 1e-12);
    cairn_world_destroy(world);
}

/* Nothing holds on to the world: 1/(1/1 + 1/2) of the two rods about the hinge. */
TEST(a_motor_between_two_free_bodies_feels_both)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_body_id first = add_rod(world, 3, 0.5), second = add_rod(world, 6, 1.5);
    int hinge = add_hinge(world, second, first, 1, to_position(0, 1));
    CHECK_CLOSE(felt(world, hinge), 2.0 / 3, 1e-12);
    cairn_world_destroy(world);
}

/* The far end of the second rod is pinned as well: a loop, in which the crank counts alone. */
TEST(a_motor_in_a_loop_feels_its_own_body)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_body_id first = add_rod(world, 3, 0.5), second = add_rod(world, 6, 1.5);
    int crank = add_hinge(world, first, cairn_body_none(), 0, to_position(0, 1));
    add_hinge(world, second, first, 1, cairn_joint_drive_default());
    add_hinge(world, second, cairn_body_none(), 2, cairn_joint_drive_default());
    CHECK_CLOSE(felt(world, crank), 1, 1e-12);
    cairn_world_destroy(world);
}

/* ---- motors that settle --------------------------------------------------------------------- */

typedef struct course {
    double overshoot; /* of the way to the target, the worse of both joints       */
    double settled;   /* s: since when both are within 2 % of their way of the targets */
} course;

static void follow(cairn_world *world, const double target[2], double way, double time, course *c)
{
    for (int k = 0; k < 2; k++) {
        double past = cairn_world_joint(world, k).turn - target[k];
        past *= target[k] < 0 ? -1 : 1;
        c->overshoot = fmax(c->overshoot, past / way);
        if (fabs(past) > 0.02 * way)
            c->settled = time;
    }
}

/* An arm of two rods of 0.6116 kg, held out along x, whose weight pulls at the shoulder with
 * 0.6116 * 9.81 * (0.5 + 1.5) = 12 N m: raised or lowered by `way`, with the elbow bent back. */
static course swing_arm(double way, double h, double duration, cairn_joint_drive drive)
{
    cairn_world *world = new_world(2, 9.81, 0, 0);
    const double target[2] = { way, -way };
    cairn_step_options options = step_by(h, "coulomb", 1e-8);
    course c = { 0, 0 };
    cairn_body_id first = add_rod(world, 0.6116, 0.5), second = add_rod(world, 0.6116, 1.5);
    drive.target = target[0];
    add_hinge(world, first, cairn_body_none(), 0, drive);
    drive.target = target[1];
    add_hinge(world, second, first, 1, drive);
    for (int k = 1; k <= (int)round(duration / h); k++) {
        advance(world, &options, 1);
        follow(world, target, fabs(way), h * k, &c);
    }
    cairn_world_destroy(world);
    return c;
}

/* The shoulder feels 0.6116 (1/3 + 1/12 + 1.5^2) = 1.63 kg m^2: a quarter of 20 N m brakes it by
 * a = 3.07 rad/s^2, and the way of 1 rad takes 2 sqrt(1/(2 a)) = 0.8 s, in the last 15 % of which
 * 2 % of it are left: it is there after 0.7 s. */
TEST(a_two_link_arm_settles_with_an_effort_alone)
{
    for (double way = -1; way <= 1; way += 2)
        for (double h = 0.001; h < 0.005; h *= 2) {
            course c = swing_arm(way, h, 3, to_position(0, 20));
            CHECK(c.overshoot < 0.001);
            CHECK(c.settled < 0.7);
        }
}

/* 2000 N m/rad: the weight, 12 N m, bends it by 0.6 % of a radian; effort enough for both. */
TEST(a_two_link_arm_with_a_stiffness_is_damped_critically)
{
    cairn_joint_drive drive = to_position(0, INFINITY);
    drive.stiffness = 2000;
    course c = swing_arm(1, 0.002, 2, drive);
    CHECK(c.overshoot < 0.005);
    CHECK(c.settled < 0.2);
}

/* ---- the law of a motor --------------------------------------------------------------------- */

/* A mass of 2 kg in a guide along x: its speed after one step of 0.1 s from rest at 0. */
static double first_speed(cairn_joint_drive drive)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_step_options options = step_by(0.1, "coulomb", 1e-12);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_PRISMATIC;
    def.a = add_rod(world, 2, 0);
    def.axis = (cairn_vec3){ 1, 0, 0 };
    def.slide = drive;
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    advance(world, &options, 1);
    double speed = cairn_world_bodies(world).v[0].x;
    cairn_world_destroy(world);
    return speed;
}

/* m v = -h k (h v - target) - h c v: v = h k target/(m + h c + h^2 k) */
TEST(a_position_motor_has_stiffness_and_damping_implicit_in_time)
{
    cairn_joint_drive drive = to_position(3, INFINITY);
    drive.stiffness = 50;
    drive.damping = 10;
    CHECK_CLOSE(first_speed(drive), 15 / (2 + 1 + 0.5), 1e-9);
    drive.effort = 20; /* less than 50 * 3 - ...: v = h effort/m */
    CHECK_CLOSE(first_speed(drive), 0.1 * 20 / 2, 1e-9);
}

/* c = 2 sqrt(k m): 20 N s/m goes with 50 N/m at 2 kg, whichever of them is left out */
TEST(the_gain_that_is_left_out_makes_a_motor_critically_damped)
{
    cairn_joint_drive stiff = to_position(3, INFINITY), damped = stiff;
    stiff.stiffness = 50;
    damped.damping = 20;
    CHECK_CLOSE(first_speed(stiff), 15 / (2 + 2 + 0.5), 1e-9);
    CHECK_CLOSE(first_speed(damped), 15 / (2 + 2 + 0.5), 1e-9);
}

/* m v = h c (target - v) */
TEST(a_velocity_motor_may_have_a_damping)
{
    cairn_joint_drive drive = cairn_joint_drive_default();
    drive.motor = "velocity";
    drive.target = 3;
    CHECK_CLOSE(first_speed(drive), 3, 1e-9);
    drive.damping = 10;
    CHECK_CLOSE(first_speed(drive), 3.0 / (2 + 1), 1e-9);
}

/* Stiffness and damping pull to the target: there is no other place at rest. */
TEST(rest_beside_a_position_motor_is_refused)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a = add_rod(world, 1, 0);
    def.turn = to_position(1, 1);
    def.turn.rest = 0.5;
    CHECK_INT(cairn_joint_create(world, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(cairn_world_error(world)->message, "found rest 0.5 beside a position motor");
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(a_motor_feels_what_hangs_on_it), CASE(a_motor_between_two_free_bodies_feels_both),
        CASE(a_motor_in_a_loop_feels_its_own_body),
        CASE(a_two_link_arm_settles_with_an_effort_alone),
        CASE(a_two_link_arm_with_a_stiffness_is_damped_critically),
        CASE(a_position_motor_has_stiffness_and_damping_implicit_in_time),
        CASE(the_gain_that_is_left_out_makes_a_motor_critically_damped),
        CASE(a_velocity_motor_may_have_a_damping), CASE(rest_beside_a_position_motor_is_refused));
}
