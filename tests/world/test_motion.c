/* test_motion.c - how bodies move within a step: turning, swinging, and how far they may go. */
#include <math.h>
#include <string.h>

#include "cairn/cairn.h"
#include "cairn/joint.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/worlds.h"

/* ==== how a rigid body turns, by Runge and Kutta's rule of fourth order: what tests compare
 * time steps with. */

/* Angular velocity in the body's frame, and orientation; also their rates of change. */
typedef struct turning {
    cairn_vec3 w;
    cairn_quat q;
} turning;

/* J w' = torque - w x J w, q' = q (0, w)/2: the torque, in the body's frame, of an orientation. */
typedef cairn_vec3 turning_torque(cairn_quat q, cairn_vec3 given);

static inline turning turning_rate(turning s, cairn_vec3 J, turning_torque *torque,
                                   cairn_vec3 given)
{
    cairn_vec3 t = cairn_sub(torque(s.q, given), cairn_cross(s.w, cairn_times(J, s.w)));
    cairn_quat w = { 0, 0.5 * s.w.x, 0.5 * s.w.y, 0.5 * s.w.z };
    return (turning){ cairn_vec(t.x / J.x, t.y / J.y, t.z / J.z), cairn_quat_multiply(s.q, w) };
}

static inline turning turning_along(turning s, double h, turning k)
{
    s.w = cairn_add_scaled(s.w, h, k.w);
    s.q =
        (cairn_quat){ s.q.w + h * k.q.w, s.q.x + h * k.q.x, s.q.y + h * k.q.y, s.q.z + h * k.q.z };
    return s;
}

/* The orientation after so many steps of h. */
static inline cairn_quat turning_follow(turning s, cairn_vec3 J, turning_torque *torque,
                                        cairn_vec3 given, double h, int steps)
{
    for (int k = 0; k < steps; k++) {
        turning a = turning_rate(s, J, torque, given);
        turning b = turning_rate(turning_along(s, h / 2, a), J, torque, given);
        turning c = turning_rate(turning_along(s, h / 2, b), J, torque, given);
        turning d = turning_rate(turning_along(s, h, c), J, torque, given);
        s = turning_along(turning_along(s, h / 6, a), h / 3, b);
        s = turning_along(turning_along(s, h / 3, c), h / 6, d);
        s.q = cairn_quat_normalised(s.q);
    }
    return s.q;
}

/* ==== test_free_turn: bodies that nothing pushes: second order, and the angular momentum stays */

static const cairn_vec3 moments = { 1, 2, 2.5 }; /* kg m^2 */
static const cairn_vec3 start = { 3, -4, 5 };    /* rad/s: |L| = 15.1 */

/* A ball of mass 1 at x with these moments; a constant torque in space. */
static void add_top(cairn_world *world, cairn_vec3 x, cairn_vec3 omega, cairn_vec3 torque)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = cairn_body_def_default();
    load.torque = torque;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = 0.1;
    def.mass = 1;
    def.inertia = moments;
    def.position = x;
    def.angular_velocity = omega;
    def.loads = &load;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
}

static cairn_vec3 momentum(const cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    return cairn_rotate(b.q[0], cairn_times(moments, b.omega[0]));
}

static cairn_vec3 run_top(cairn_vec3 torque, double h, double time, cairn_quat *q)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(h, "coulomb", 1e-8);
    add_top(world, (cairn_vec3){ 0, 0, 0 }, start, torque);
    advance(world, &options, (int)round(time / h));
    cairn_vec3 L = momentum(world);
    *q = cairn_world_bodies(world).q[0];
    cairn_world_destroy(world);
    return L;
}

TEST(the_angular_momentum_of_a_free_body_stays_to_rounding)
{
    const cairn_vec3 none = { 0, 0, 0 };
    cairn_vec3 before = cairn_times(moments, start);
    cairn_quat q;
    for (double h = 0.002; h < 0.05; h *= 2) {
        cairn_vec3 after = run_top(none, h, 8, &q);
        CHECK(cairn_norm(cairn_sub(after, before)) <= 1e-12 * cairn_norm(before));
    }
}

/* A torque that stands still in space adds T t, whichever way the body turns: to second order, as
 * the torque is turned into the body's frame by a guess of where it is at mid-step. */
TEST(a_torque_adds_to_the_angular_momentum_in_space)
{
    const cairn_vec3 T = { 2, 1, -3 };
    cairn_vec3 expected = cairn_add(cairn_times(moments, start), T); /* after 1 s */
    cairn_quat q;
    double error[2];
    for (int k = 0; k < 2; k++)
        error[k] = cairn_norm(cairn_sub(run_top(T, k ? 0.002 : 0.004, 1, &q), expected));
    CHECK(error[0] < 1e-3 * cairn_norm(expected));
    CHECK_NEAR(error[0] / error[1], 4, 0.2);
}

/* A torque that stands still in space. */
static cairn_vec3 from_space(cairn_quat q, cairn_vec3 torque)
{
    return cairn_rotate_back(q, torque);
}

static cairn_quat reference(cairn_vec3 T, double time)
{
    const turning s = { start, { 1, 0, 0, 0 } };
    return turning_follow(s, moments, from_space, T, 1e-4, (int)round(time / 1e-4));
}

static double angle_between(cairn_quat a, cairn_quat b)
{
    return cairn_norm(cairn_quat_log(cairn_quat_multiply(cairn_quat_conjugate(a), b)));
}

/* It turns by some 14 rad in 2 s. Half the time step, a quarter of the error. */
TEST(turning_freely_is_of_second_order)
{
    const cairn_vec3 torques[] = { { 0, 0, 0 }, { 2, 1, -3 } };
    for (int i = 0; i < 2; i++) {
        cairn_quat exact = reference(torques[i], 2), q;
        double last = 0;
        for (double h = 0.008; h > 0.0009; h /= 2) {
            run_top(torques[i], h, 2, &q);
            double error = angle_between(q, exact);
            if (last > 0)
                CHECK_NEAR(last / error, 4, 0.2);
            last = error;
        }
        CHECK(last < 1e-5); /* rad, at 1 ms */
    }
}

/* angle = T t^2/(2 J), without an error of the time step */
TEST(a_torque_turns_a_disk_exactly)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-8);
    add_top(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 0, 0, 5 });
    advance(world, &options, 100);
    CHECK_NEAR(cairn_world_bodies(world).angle[0], 5 / (2 * 2.5), 1e-12);
    cairn_world_destroy(world);
}

/* Lying on the floor it is pushed: q+ = q exp(h w+), to the last bit, as gaps are linear in w+. */
TEST(what_a_contact_pushes_turns_by_its_new_velocity)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(0.004, "coulomb", 1e-8);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    add_top(world, (cairn_vec3){ 0, 0, 0.1 }, start, (cairn_vec3){ 0, 0, 0 });
    for (int k = 0; k < 50; k++) {
        cairn_quat before = cairn_world_bodies(world).q[1];
        advance(world, &options, 1);
        cairn_bodies b = cairn_world_bodies(world);
        cairn_quat turn = cairn_quat_exp(cairn_scale(0.004, b.omega[1]));
        cairn_quat q = cairn_quat_normalised(cairn_quat_multiply(before, turn));
        CHECK(memcmp(&q, &b.q[1], sizeof q) == 0);
    }
    cairn_world_destroy(world);
}

GROUP(test_free_turn)
{
    RUN(CASE(the_angular_momentum_of_a_free_body_stays_to_rounding),
        CASE(a_torque_adds_to_the_angular_momentum_in_space),
        CASE(turning_freely_is_of_second_order), CASE(a_torque_turns_a_disk_exactly),
        CASE(what_a_contact_pushes_turns_by_its_new_velocity));
}

/* ==== test_swing: what joints hold and nothing else pushes moves to second order ============== */

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
static cairn_vec3 swing_reference(double spin, double time)
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
    cairn_vec3 exact = swing_reference(100, 0.5);
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

GROUP(test_swing)
{
    RUN(CASE(a_heavy_top_precesses_steadily), CASE(a_heavy_top_is_right_to_second_order),
        CASE(pendulums_hardly_gain_or_lose_energy),
        CASE(what_touches_or_is_driven_moves_as_before));
}

/* ==== test_motion: a number that is not finite ends the step that makes it, and nothing else */

static const cairn_vec3 zero = { 0, 0, 0 };

static cairn_status load(const folder *f, const char *text, cairn_scene **scene, cairn_error *error)
{
    file_write(f, "scene.yaml", text);
    return cairn_scene_load(path_in(f, "scene.yaml").text, NULL, 0, scene, error);
}

/* A ball of 1 kg that a force F pushes for 0.01 s gets 0.01 F m/s: the square of 1e153 is 1e306,
 * that of 1e155 is more than a number holds. */
TEST(a_step_that_overflows_fails_and_leaves_the_world_as_it_was)
{
    cairn_world *world = new_world(3, 10, 0.3, 0);
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = cairn_body_def_default();
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    cairn_step_report report;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    load.force = (cairn_vec3){ 1e157, 0, 0 };
    load.start = 0.015;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.mass = 1;
    def.position.z = 0.1;
    def.loads = &load;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    advance(world, &options, 1);
    uint64_t before = cairn_world_hash(world);
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_NOT_FINITE);
    CHECK(strstr(cairn_world_error(world)->message, "body 1 would get a velocity of 1e+155 m/s"));
    CHECK(cairn_world_hash(world) == before);
    CHECK_NEAR(cairn_world_time(world), 0.01, 1e-15);
    cairn_world_destroy(world);
}

/* The wall pushes with 1e160 N s: the ball's speed, and what the impact takes, overflow. */
TEST(a_driven_wall_that_moves_faster_than_numbers_is_refused)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    cairn_driver drive = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    cairn_body_def wall = cairn_body_def_default();
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    cairn_step_report report;
    drive.velocity = (cairn_vec3){ 0, 0, 1e160 };
    wall.motion = CAIRN_MOTION_DRIVEN;
    wall.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    wall.drivers = &drive;
    wall.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &wall, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_NOT_FINITE);
    CHECK(strstr(cairn_world_error(world)->message, "body 0"));
    cairn_world_destroy(world);
}

/* The force begins after 0.05 s: five steps and their frames are in the file, all finite, and the
 * checkpoint of 0.04 s is there to go on from. */
TEST(a_run_that_overflows_keeps_all_before)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    cairn_run_summary summary;
    cairn_scene *scene;
    CHECK_OK(
        load(&f,
             "cairn: 1\n"
             "bodies:\n"
             "  - {motion: fixed, shape: half_space}\n"
             "  - {shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.1],\n"
             "     loads: [{constant: {force: [1e200, 0, 0], start: 0.05}}]}\n"
             "run: {time_step: 0.01, duration: 0.1, checkpoint_every: 0.02, paraview: false}\n",
             &scene, &error));
    CHECK_INT(cairn_run(scene, f.path, NULL, NULL, &summary, &error), CAIRN_NOT_FINITE);
    CHECK(strstr(error.message, "step 6 from t = 0.05 s failed: body 1 would get"));
    CHECK_INT(summary.steps, 5);
    CHECK(file_exists(&f, "checkpoint"));
    double kinetic[8], x[64];
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "steps/kinetic", kinetic, 8), 5);
    for (int k = 0; k < 5; k++)
        CHECK(isfinite(kinetic[k]));
    long count = h5_numbers(path_in(&f, "run.h5").text, "frames/position", x, 64);
    for (int k = 0; k < count; k++)
        CHECK(isfinite(x[k]));
    CHECK(!strstr(file_text(&f, "picture.svg"), "nan"));
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

/* A world that starts with numbers of 1e155 has an infinite energy before any step. */
TEST(a_scene_cannot_start_beyond_what_numbers_hold)
{
    static const char *const beyond[][2] = {
        { "bodies: [{shape: {sphere: {radius: 1}}, velocity: [1e155, 0, 0]}]",
          "bodies.0.velocity.0" },
        { "bodies: [{shape: {sphere: {radius: 1}}, position: [0, 1e155, 0]}]",
          "bodies.0.position.1" },
        { "gravity: [0, 0, 1e155]", "gravity.2" },
    };
    folder f = folder_create();
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        char text[256];
        cairn_scene *scene;
        cairn_error error = { 0 };
        snprintf(text, sizeof text, "cairn: 1\nrun: {time_step: 1e-3, duration: 1}\n%s\n",
                 beyond[i][0]);
        CHECK_INT(load(&f, text, &scene, &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, beyond[i][1]);
        CHECK(strstr(error.message, "found 1e155, expected a number between -1e+30 and 1e+30"));
    }
    folder_remove(f.path);
}

GROUP(test_motion)
{
    RUN(CASE(a_step_that_overflows_fails_and_leaves_the_world_as_it_was),
        CASE(a_driven_wall_that_moves_faster_than_numbers_is_refused),
        CASE(a_run_that_overflows_keeps_all_before),
        CASE(a_scene_cannot_start_beyond_what_numbers_hold));
}

/* ==== test_limit: a step in which a body moves by more than its size relative to what it may
 * meet is refused, unless it is right; who meets nothing may fly as far as it likes. */

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

/* Whether a step is refused that is not to be divided. */
static bool is_refused(cairn_world *world, const cairn_step_options *options)
{
    cairn_step_options whole = *options;
    cairn_step_report report;
    uint64_t before = cairn_world_hash(world);
    whole.max_substeps = 1;
    cairn_status status = cairn_world_step(world, &whole, &report);
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

GROUP(test_limit)
{
    RUN(CASE(a_cube_that_falls_further_than_its_size_is_refused_by_every_scheme),
        CASE(the_step_that_is_recommended_does), CASE(who_meets_nothing_flies_on),
        CASE(a_fast_ball_on_a_plane_is_right_and_goes_on),
        CASE(a_ball_that_is_stopped_by_what_it_does_not_touch_is_refused),
        CASE(moreau_jean_refuses_what_it_would_not_see));
}

/* ==== test_reach: how far candidates reach: far enough that steps are rarely solved twice, and no
 * further than what bodies can push each other. */

/* Balls of 10 mm, without friction, poured on a plate that may be driven sideways under them. */
static const char *const bed = "cairn: 1\n"
                               "materials: {m: {friction: 0, restitution: 0.3}}\n"
                               "bodies:\n"
                               "  - {name: plate, motion: driven, shape: {box: {size: [9, 9, "
                               "0.1]}}, position: [0, 0, -0.05],\n"
                               "     drivers: [{velocity: {velocity: [0, 0, 0], start: 0.2}}]}\n"
                               "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.04}}}\n"
                               "generators:\n"
                               "  - pour: {count: 300, rate: 4000, centre: [0, 0, 0.12], size: [0, "
                               "0, 0.08], disk_radius: 0.033,\n"
                               "           velocity: [0, 0, -1], radius: 0.005, seed: 3}\n"
                               "run: {time_step: 1e-3, duration: 0.2}\n";

/* Some steps: how many were solved again; the candidates of the last. */
static int repeats(cairn_scene *scene, int steps, int *candidates)
{
    int again = 0;
    for (int k = 0; k < steps; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        again += report.attempts > 1;
        *candidates = report.candidates;
    }
    return again;
}

/* 32 of 200 steps were solved twice when only the first ring of neighbours was counted with. */
TEST(balls_that_are_poured_rarely_outrun_their_candidates)
{
    int candidates;
    cairn_scene *scene = scene_text_good(bed, NULL);
    CHECK(repeats(scene, 200, &candidates) <= 5);
    cairn_scene_destroy(scene);
}

/* What a plate of 4 m/s slides past, 0.8 radii in a step, does not go along with it. */
TEST(a_plate_that_slides_past_makes_no_candidates_between_balls)
{
    int still, driven;
    cairn_scene *scene = scene_text_good(bed, NULL);
    repeats(scene, 201, &still);
    cairn_scene_destroy(scene);
    scene = scene_text_good(bed, "bodies.plate.drivers.0.velocity.velocity=[4, 0, 0]");
    repeats(scene, 201, &driven);
    cairn_scene_destroy(scene);
    CHECK(driven < 1.1 * still);
}

GROUP(test_reach)
{
    RUN(CASE(balls_that_are_poured_rarely_outrun_their_candidates),
        CASE(a_plate_that_slides_past_makes_no_candidates_between_balls));
}
