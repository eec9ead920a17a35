/* test_swing.c - what joints hold and nothing else pushes moves to second order. */
#include "cairn/joint.h"

#include <math.h>
#include <string.h>

#include "turning.h"
#include "worlds.h"

/* A heavy top: 1 kg, its centre 0.1 m from the point that it stands on, moments (A, A, C) about the
 * centre. It leans by 0.5 rad, spins about its axis and precesses about the vertical, rad/s. */
static const double A = 0.004, C = 0.002, LENGTH = 0.1, LEAN = 0.5;

static cairn_world *new_top(double spin, double precession)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_joint_def joint = cairn_joint_def_default();
    cairn_quat q = cairn_quat_exp(cairn_vec(LEAN, 0, 0));
    cairn_vec3 up = cairn_rotate_back(q, cairn_vec(0, 0, 1)); /* body frame */
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.02;
    def.mass = 1;
    def.inertia = cairn_vec(A, A, C);
    def.orientation = q;
    def.position = cairn_rotate(q, cairn_vec(0, 0, LENGTH));
    def.angular_velocity = cairn_add_scaled(cairn_vec(0, 0, spin), precession, up);
    def.velocity = cairn_cross(cairn_rotate(q, def.angular_velocity), def.position);
    CHECK_OK(cairn_body_create(world, &def, &joint.a));
    joint.kind = CAIRN_JOINT_BALL;
    CHECK_OK(cairn_joint_create(world, &joint, NULL));
    return world;
}

/* ---- steady precession ---------------------------------------------------------------------- */

/* Of the two precessions W that leave the lean as it is the slow one:
 *     (C spin + (C - I) W cos(lean)) W = m g LENGTH,   I = A + m LENGTH^2. */
static double steady(double spin)
{
    double a = (C - A - LENGTH * LENGTH) * cos(LEAN), b = C * spin, c = -9.81 * LENGTH;
    return (-b + sqrt(b * b - 4 * a * c)) / (2 * a);
}

typedef struct course {
    double turned;   /* rad: about the vertical     */
    double nutation; /* rad: largest - least lean   */
    double drift;    /* m: of the joint, at most    */
    double energy;   /* its change, of what it was  */
} course;

static course follow(double spin, double h, double time)
{
    cairn_world *world = new_top(spin, steady(spin));
    cairn_step_options options = step_by(h, "coulomb", 1e-12);
    double at = -0.5 * M_PI, least = LEAN, largest = LEAN, before = total_energy(world);
    course c = { 0 };
    for (int k = 0; k < (int)round(time / h); k++) {
        cairn_step_report report = advance(world, &options, 1);
        cairn_vec3 x = cairn_world_bodies(world).x[0];
        double lean = atan2(hypot(x.x, x.y), x.z), way = remainder(atan2(x.y, x.x) - at, 2 * M_PI);
        at += way;
        c.turned += way;
        least = fmin(least, lean);
        largest = fmax(largest, lean);
        c.drift = fmax(c.drift, report.certificate.joint_drift);
    }
    c.nutation = largest - least;
    c.energy = total_energy(world) / before - 1;
    cairn_world_destroy(world);
    return c;
}

/* 300 rad/s, 0.15 rad in a step of 0.5 ms: 20.2 rad of precession in 12 s. By x += h v+ it nutated
 * by 4.3 degrees. */
TEST(a_heavy_top_precesses_steadily)
{
    course c = follow(300, 5e-4, 12);
    CHECK_NEAR(c.turned, 12 * steady(300), 1e-3);
    CHECK(c.nutation < 0.15 * M_PI / 180);
    CHECK(c.drift < 1e-6);
    CHECK_NEAR(c.energy, 0, 1e-5);
}

/* ---- order ---------------------------------------------------------------------------------- */

/* The weight about the point that the top stands on: LENGTH e x R'm g. */
static cairn_vec3 weight(cairn_quat q, cairn_vec3 force)
{
    return cairn_cross(cairn_vec(0, 0, LENGTH), cairn_rotate_back(q, force));
}

/* Where the centre is after a time; the top is let go without precession, so that it nutates. */
static cairn_vec3 reference(double spin, double time)
{
    const double I = A + LENGTH * LENGTH, h = 2e-5;
    const turning s = { { 0, 0, spin }, cairn_quat_exp(cairn_vec(LEAN, 0, 0)) };
    cairn_quat q = turning_follow(s, cairn_vec(I, I, C), weight, cairn_vec(0, 0, -9.81), h,
                                  (int)round(time / h));
    return cairn_rotate(q, cairn_vec(0, 0, LENGTH));
}

/* Half the time step, a quarter of the error, which is 0.14 % of the length at 1 ms. */
TEST(a_heavy_top_is_right_to_second_order)
{
    cairn_vec3 exact = reference(100, 0.5);
    double last = 0;
    for (double h = 0.001; h > 0.0001; h /= 2) {
        cairn_world *world = new_top(100, 0);
        cairn_step_options options = step_by(h, "coulomb", 1e-12);
        advance(world, &options, (int)round(0.5 / h));
        double error = cairn_norm(cairn_sub(cairn_world_bodies(world).x[0], exact));
        if (last > 0)
            CHECK_NEAR(last / error, 4, 0.4);
        else
            CHECK(error < 2e-4);
        last = error;
        cairn_world_destroy(world);
    }
}

/* ---- energy --------------------------------------------------------------------------------- */

/* `links` rods of 1 m and 1 kg in a row, hinged, let go where they are level. */
static cairn_world *new_chain(int links)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    cairn_body_id last = cairn_body_none();
    for (int k = 0; k < links; k++) {
        cairn_body_def def = cairn_body_def_default();
        cairn_joint_def joint = cairn_joint_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        def.shape.radius = 0.01;
        def.mass = 1;
        def.inertia = cairn_vec(0.001, 1.0 / 12, 1.0 / 12);
        def.position = cairn_vec(0.5 + k, 0, 0);
        CHECK_OK(cairn_body_create(world, &def, &joint.a));
        joint.kind = CAIRN_JOINT_REVOLUTE;
        joint.axis = cairn_vec(0, 1, 0);
        joint.anchor = cairn_vec(k, 0, 0);
        joint.b = last;
        last = joint.a;
        CHECK_OK(cairn_joint_create(world, &joint, NULL));
    }
    return world;
}

/* 20 s at 2.5 ms: neither 1 nor 2 links gain energy that counts, or lose more than 1 %. */
TEST(pendulums_hardly_gain_or_lose_energy)
{
    for (int links = 1; links <= 2; links++) {
        cairn_world *world = new_chain(links);
        cairn_step_options options = step_by(0.0025, "coulomb", 1e-10);
        double highest = 0, lowest = 0, fall = 9.81 * 0.5 * links * links;
        for (int k = 0; k < 8000; k++) {
            advance(world, &options, 1);
            highest = fmax(highest, total_energy(world));
            lowest = fmin(lowest, total_energy(world));
        }
        CHECK(highest < 0.001 * fall);
        CHECK(lowest > -0.01 * fall);
        cairn_world_destroy(world);
    }
}

/* ---- who does not --------------------------------------------------------------------------- */

/* A candidate contact, or a joint that does more than hold: x += h v+ to the last bit. */
static void check_moves_by_new_velocity(cairn_world *world)
{
    cairn_step_options options = step_by(0.004, "coulomb", 1e-8);
    for (int k = 0; k < 20; k++) {
        cairn_vec3 before = cairn_world_bodies(world).x[0];
        advance(world, &options, 1);
        cairn_bodies b = cairn_world_bodies(world);
        cairn_vec3 x = cairn_add_scaled(before, 0.004, b.v[0]);
        CHECK(memcmp(&x, &b.x[0], sizeof x) == 0);
    }
    cairn_world_destroy(world);
}

TEST(what_touches_or_is_driven_moves_as_before)
{
    cairn_world *world = new_chain(1);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, cairn_vec(0, 0, -0.01));
    check_moves_by_new_velocity(world);
    world = new_chain(1);
    cairn_joint_def damper = cairn_joint_def_default();
    damper.kind = CAIRN_JOINT_TORSION_SPRING;
    damper.a = (cairn_body_id){ cairn_world_bodies(world).uid[0] };
    damper.axis = cairn_vec(0, 1, 0);
    damper.turn.damping = 0.1;
    CHECK_OK(cairn_joint_create(world, &damper, NULL));
    check_moves_by_new_velocity(world);
}

int main(void)
{
    RUN(CASE(a_heavy_top_precesses_steadily), CASE(a_heavy_top_is_right_to_second_order),
        CASE(pendulums_hardly_gain_or_lose_energy),
        CASE(what_touches_or_is_driven_moves_as_before));
}
