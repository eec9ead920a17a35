/* test_driver.c - functions of time: the motions of driven bodies and the loads on dynamic ones. */
#include <math.h>

#include "check.h"
#include "math/vec.h"
#include "small_world.h"
#include "world/world.h"

#define CHECK_VEC(found, ex, ey, ez, tolerance)                                                    \
    do {                                                                                           \
        cairn_vec3 vec_ = (found);                                                                 \
        CHECK_NEAR(vec_.x, ex, tolerance);                                                         \
        CHECK_NEAR(vec_.y, ey, tolerance);                                                         \
        CHECK_NEAR(vec_.z, ez, tolerance);                                                         \
    } while (0)

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)  \
    }

/* A world with one driven ball (body 0) at (1, 2, 3) (2D: (1, 2)). */
static cairn_world *driven_world(int dimension, const cairn_driver *drivers, int count)
{
    cairn_world *world = world_create(dimension);
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, dimension);
    def.shape.radius = 0.5;
    def.position = cairn_vec(1, 2, dimension == 3 ? 3 : 0);
    def.angle = 0.1;
    def.drivers = drivers;
    def.driver_count = count;
    if (cairn_body_create(world, &def, NULL) != CAIRN_OK)
        fail_msg("%s: %s", cairn_world_error(world)->key, cairn_world_error(world)->message);
    return world;
}

typedef struct pose {
    cairn_vec3 x;
    cairn_quat q;
    double angle;
} pose;

static pose pose_at(const cairn_world *world, double time)
{
    pose p = { .q = { 1, 0, 0, 0 } };
    cairn_driven_pose(world, 0, time, &p.x, &p.q, &p.angle);
    return p;
}

/* ---- motions -------------------------------------------------------------------------------- */

/* 2 m/s along x from 1 s to 4 s */
TEST(constant_velocity_between_start_and_stop)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    d.velocity = cairn_vec(2, 0, -1);
    d.start = 1;
    d.stop = 4;
    cairn_world *world = driven_world(3, &d, 1);
    CHECK_VEC(pose_at(world, 0).x, 1, 2, 3, 0);
    CHECK_VEC(pose_at(world, 1).x, 1, 2, 3, 0);
    CHECK_VEC(pose_at(world, 2.5).x, 4, 2, 1.5, 1e-15);
    CHECK_VEC(pose_at(world, 4).x, 7, 2, 0, 1e-15);
    CHECK_VEC(pose_at(world, 100).x, 7, 2, 0, 1e-15);
    CHECK_NEAR(pose_at(world, 2).q.w, 1, 0);
    cairn_world_destroy(world);
}

/* 0.3 sin(2 pi 5 t + pi/6) - 0.3 sin(pi/6), counted from the start at 1 s */
TEST(shaking_starts_without_a_jump)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    d.amplitude = cairn_vec(0, 0.3, 0);
    d.frequency = 5;
    d.phase = M_PI / 6;
    d.start = 1;
    cairn_world *world = driven_world(3, &d, 1);
    CHECK_VEC(pose_at(world, 0.5).x, 1, 2, 3, 0);
    CHECK_VEC(pose_at(world, 1).x, 1, 2, 3, 0);
    CHECK_VEC(pose_at(world, 1 + 1.0 / 30).x, 1, 2.15, 3, 1e-14); /* phase 30 + 60 degrees */
    CHECK_VEC(pose_at(world, 1.2).x, 1, 2, 3, 1e-14);             /* a whole turn */
    CHECK_VEC(pose_at(world, 1.1).x, 1, 1.7, 3, 1e-14);           /* half a turn: -0.15 - 0.15 */
    cairn_world_destroy(world);
}

TEST(shaking_that_stops_stays_where_it_is)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    d.amplitude = cairn_vec(1, 0, 0);
    d.frequency = 1;
    d.stop = 0.25;
    cairn_world *world = driven_world(3, &d, 1);
    CHECK_VEC(pose_at(world, 0.25).x, 2, 2, 3, 1e-15);
    CHECK_VEC(pose_at(world, 7).x, 2, 2, 3, 1e-15);
    cairn_world_destroy(world);
}

/* pi rad/s about (0, 0, 1): x goes to y after half a second. */
TEST(rotation_about_the_bodys_position)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    d.angular_velocity = cairn_vec(0, 0, M_PI);
    cairn_world *world = driven_world(3, &d, 1);
    pose p = pose_at(world, 0.5);
    CHECK_VEC(p.x, 1, 2, 3, 0);
    CHECK_VEC(cairn_rotate(p.q, cairn_vec(1, 0, 0)), 0, 1, 0, 1e-15);
    p = pose_at(world, 2000.5); /* a thousand turns later */
    CHECK_VEC(cairn_rotate(p.q, cairn_vec(1, 0, 0)), 0, 1, 0, 1e-12);
    cairn_world_destroy(world);
}

TEST(in_2d_the_angle_counts_whole_turns)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    d.angular_velocity = cairn_vec(0, 0, 2);
    cairn_world *world = driven_world(2, &d, 1);
    CHECK_NEAR(pose_at(world, 10).angle, 20.1, 1e-14);
    CHECK_NEAR(fabs(pose_at(world, 10).q.w), fabs(cos(10.05)), 1e-14);
    cairn_world_destroy(world);
}

/* Times 0, 1, 3 counted from 10 s: x 0, 2, 0; angle 0, 1, 1 about (0, 3, 0) */
TEST(a_table_is_linear_in_between_and_constant_outside)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_TABLE);
    d.start = 10;
    d.time = (cairn_list)LIST(0, 1, 3);
    d.x = (cairn_list)LIST(0, 2, 0);
    d.angle = (cairn_list)LIST(0, 1, 1);
    d.axis = cairn_vec(0, 3, 0);
    cairn_world *world = driven_world(3, &d, 1);
    CHECK_VEC(pose_at(world, 0).x, 1, 2, 3, 0);
    CHECK_VEC(pose_at(world, 10.5).x, 2, 2, 3, 1e-15);
    CHECK_VEC(pose_at(world, 11).x, 3, 2, 3, 1e-15);
    CHECK_VEC(pose_at(world, 12.5).x, 1.5, 2, 3, 1e-14);
    CHECK_VEC(pose_at(world, 13).x, 1, 2, 3, 1e-15);
    CHECK_VEC(pose_at(world, 1000).x, 1, 2, 3, 1e-15);
    CHECK_NEAR(pose_at(world, 10.5).q.y, sin(0.25), 1e-15);
    CHECK_NEAR(pose_at(world, 50).q.y, sin(0.5), 1e-15);
    cairn_world_destroy(world);
}

/* what counts is the change since the body was made: it never jumps */
TEST(a_table_that_starts_elsewhere_does_not_jump)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_TABLE);
    d.time = (cairn_list)LIST(5, 6);
    d.y = (cairn_list)LIST(0.25, 1);
    cairn_world *world = driven_world(3, &d, 1);
    CHECK_VEC(pose_at(world, 0).x, 1, 2, 3, 0);
    CHECK_VEC(pose_at(world, 9).x, 1, 2.75, 3, 0);
    cairn_world_destroy(world);
}

TEST(a_body_made_late_or_with_an_early_start_does_not_jump)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    d.velocity = cairn_vec(1, 0, 0);
    d.start = -3;
    cairn_world *world = driven_world(3, &d, 1);
    CHECK_VEC(pose_at(world, 0).x, 1, 2, 3, 0);
    CHECK_VEC(pose_at(world, 2).x, 3, 2, 3, 0);
    cairn_world_destroy(world);
}

TEST(a_table_without_angles_needs_no_axis)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_TABLE);
    d.time = (cairn_list)LIST(0, 1);
    d.z = (cairn_list)LIST(0, -1);
    d.axis = cairn_vec(0, 0, 0);
    cairn_world *world = driven_world(3, &d, 1);
    CHECK_VEC(pose_at(world, 1).x, 1, 2, 2, 0);
    CHECK_NEAR(pose_at(world, 1).q.w, 1, 0);
    cairn_world_destroy(world);
}

TEST(the_motions_of_a_body_add_up)
{
    cairn_driver d[3] = { cairn_driver_default(CAIRN_DRIVER_VELOCITY),
                          cairn_driver_default(CAIRN_DRIVER_SHAKE),
                          cairn_driver_default(CAIRN_DRIVER_ROTATION) };
    d[0].velocity = cairn_vec(1, 0, 0);
    d[1].amplitude = cairn_vec(0.5, 0, 0.5);
    d[1].frequency = 0.25;
    d[2].angular_velocity = cairn_vec(0.5, 0, 0);
    cairn_world *world = driven_world(3, d, 3);
    pose p = pose_at(world, 1); /* sin(90 degrees) = 1 */
    CHECK_VEC(p.x, 1 + 1 + 0.5, 2, 3 + 0.5, 1e-15);
    CHECK_NEAR(p.q.x, sin(0.25), 1e-15);
    cairn_world_destroy(world);
}

TEST(turns_about_one_axis_add_up_too)
{
    cairn_driver d[2] = { cairn_driver_default(CAIRN_DRIVER_ROTATION),
                          cairn_driver_default(CAIRN_DRIVER_ROTATION) };
    d[0].angular_velocity = cairn_vec(0, 0, 0.5);
    d[1].angular_velocity = cairn_vec(0, 0, -0.2);
    cairn_world *world = driven_world(2, d, 2);
    CHECK_NEAR(pose_at(world, 1).angle, 0.1 + 0.3, 1e-15);
    cairn_world_destroy(world);
}

TEST(tables_are_copied)
{
    double time[2] = { 0, 1 }, x[2] = { 0, 4 };
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_TABLE);
    d.time = (cairn_list){ time, 2 };
    d.x = (cairn_list){ x, 2 };
    cairn_world *world = driven_world(3, &d, 1);
    time[1] = x[1] = NAN;
    CHECK_VEC(pose_at(world, 0.5).x, 3, 2, 3, 1e-15);
    cairn_world_destroy(world);
}

TEST(a_driven_body_without_drivers_stands_still)
{
    cairn_world *world = driven_world(3, NULL, 0);
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = 0.1;
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK_VEC(cairn_world_bodies(world).x[0], 1, 2, 3, 0);
    cairn_world_destroy(world);
}

/* The step moves it to where the function says, and tells the mean velocity of the step. */
TEST(a_step_takes_a_driven_body_along_its_function)
{
    cairn_driver d[2] = { cairn_driver_default(CAIRN_DRIVER_SHAKE),
                          cairn_driver_default(CAIRN_DRIVER_ROTATION) };
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    d[0].amplitude = cairn_vec(0.2, 0, 0);
    d[0].frequency = 3;
    d[1].angular_velocity = cairn_vec(0, 0, 4);
    options.time_step = 0.01;
    cairn_world *world = driven_world(3, d, 2);
    for (int k = 1; k <= 50; k++) {
        double t = 0.01 * k, before = 0.01 * (k - 1);
        double x = 0.2 * sin(6 * M_PI * t), last = 0.2 * sin(6 * M_PI * before);
        CHECK_OK(cairn_world_step(world, &options, &report));
        cairn_bodies b = cairn_world_bodies(world);
        CHECK_NEAR(b.x[0].x, 1 + x, 1e-13);
        CHECK_NEAR(b.v[0].x, (x - last) / 0.01, 1e-11);
        CHECK_NEAR(b.omega[0].z, 4, 1e-11);
        CHECK_NEAR(fabs(b.q[0].w), fabs(cos(2 * t)), 1e-13);
    }
    cairn_world_destroy(world);
}

/* ---- refused drivers ------------------------------------------------------------------------ */

static void refuse_driver(int dimension, const cairn_driver *d, cairn_status status,
                          const char *key, const char *piece)
{
    cairn_world *world = world_create(dimension);
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, dimension);
    def.drivers = d;
    def.driver_count = 1;
    CHECK_INT(cairn_body_create(world, &def, NULL), status);
    CHECK_TEXT(cairn_world_error(world)->key, key);
    CHECK_CONTAINS(cairn_world_error(world)->message, piece);
    CHECK_INT(world->driven.count, 0);
    cairn_world_destroy(world);
}

TEST(drivers_with_impossible_numbers_are_refused)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    d.velocity.y = NAN;
    refuse_driver(3, &d, CAIRN_NOT_FINITE, "velocity", "nan");
    d = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    d.frequency = -2;
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "frequency", "found -2");
    d = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    d.angular_velocity.x = INFINITY;
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "angular_velocity", "inf");
    d = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    d.start = NAN;
    refuse_driver(3, &d, CAIRN_NOT_FINITE, "start", "nan");
    d = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    d.start = 2;
    d.stop = 1;
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "stop", "found 1, expected at least start, 2");
    d = cairn_driver_default((cairn_driver_kind)17);
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "drivers", "unknown driver 17");
}

TEST(bad_tables_are_refused)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_TABLE);
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "time", "empty");
    d.time = (cairn_list)LIST(0, 1, 1);
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "time", "entry 3 is 1, expected more than 1");
    d.time = (cairn_list)LIST(0, NAN);
    refuse_driver(3, &d, CAIRN_NOT_FINITE, "time", "nan");
    d.time = (cairn_list)LIST(0, 1);
    d.y = (cairn_list)LIST(0, 1, 2);
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "y", "found 3 numbers, expected 2");
    d.y = (cairn_list)LIST(0, NAN);
    refuse_driver(3, &d, CAIRN_NOT_FINITE, "y", "nan");
    d.y.count = 0;
    d.angle = (cairn_list)LIST(0, 1);
    d.axis = cairn_vec(0, 0, 0);
    refuse_driver(3, &d, CAIRN_BAD_INPUT, "axis", "expected a direction");
}

TEST(in_2d_drivers_stay_in_the_plane)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    d.velocity.z = 1;
    refuse_driver(2, &d, CAIRN_BAD_INPUT, "velocity", "in 2D z must be 0");
    d = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    d.amplitude.z = 1;
    refuse_driver(2, &d, CAIRN_BAD_INPUT, "amplitude", "in 2D z must be 0");
    d = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    d.angular_velocity.x = 1;
    refuse_driver(2, &d, CAIRN_BAD_INPUT, "angular_velocity", "only the z component");
    d = cairn_driver_default(CAIRN_DRIVER_TABLE);
    d.time = (cairn_list)LIST(0, 1);
    d.z = (cairn_list)LIST(0, 1);
    refuse_driver(2, &d, CAIRN_BAD_INPUT, "z", "in 2D z must be 0");
    d.z.count = 0;
    d.angle = (cairn_list)LIST(0, 1);
    d.axis = cairn_vec(1, 0, 0);
    refuse_driver(2, &d, CAIRN_BAD_INPUT, "axis", "only the z component");
}

/* ---- loads ---------------------------------------------------------------------------------- */

static cairn_world *loaded_world(int dimension, const cairn_load *loads, int count, cairn_quat q)
{
    cairn_world *world = world_create(dimension);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, dimension);
    def.shape.radius = 0.5;
    def.orientation = q;
    def.loads = loads;
    def.load_count = count;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    return world;
}

static const cairn_quat upright = { 1, 0, 0, 0 };

static cairn_vec3 force_at(const cairn_world *world, double time)
{
    cairn_vec3 force = { 0 }, torque = { 0 };
    CHECK_OK(cairn_loads_at(world, time, &force, &torque));
    return force;
}

TEST(a_constant_load_acts_from_start_to_stop)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    load.force = cairn_vec(1, -2, 3);
    load.start = 1;
    load.stop = 2;
    cairn_world *world = loaded_world(3, &load, 1, upright);
    CHECK_VEC(force_at(world, 0.999), 0, 0, 0, 0);
    CHECK_VEC(force_at(world, 1), 1, -2, 3, 0);
    CHECK_VEC(force_at(world, 2), 1, -2, 3, 0);
    CHECK_VEC(force_at(world, 2.001), 0, 0, 0, 0);
    cairn_world_destroy(world);
}

/* 6 N sin(2 pi 2 (t - 1) + pi/6): 3 N at 1 s, 6 N a twelfth of a second later */
TEST(a_sine_load_counts_from_its_start)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_SINE);
    load.force = cairn_vec(6, 0, 0);
    load.frequency = 2;
    load.phase = M_PI / 6;
    load.start = 1;
    cairn_world *world = loaded_world(3, &load, 1, upright);
    CHECK_VEC(force_at(world, 1), 3, 0, 0, 1e-14);
    CHECK_VEC(force_at(world, 1 + 1.0 / 12), 6, 0, 0, 1e-13);
    cairn_world_destroy(world);
}

TEST(a_table_load_is_linear_in_between_and_loads_add_up)
{
    cairn_load loads[2] = { cairn_load_default(CAIRN_LOAD_TABLE),
                            cairn_load_default(CAIRN_LOAD_CONSTANT) };
    loads[0].force = cairn_vec(0, 10, 0);
    loads[0].start = 1;
    loads[0].time = (cairn_list)LIST(0, 2);
    loads[0].factor = (cairn_list)LIST(1, 3);
    loads[1].force = cairn_vec(0, -1, 0);
    cairn_world *world = loaded_world(3, loads, 2, upright);
    CHECK_VEC(force_at(world, 0.5), 0, -1, 0, 0);
    CHECK_VEC(force_at(world, 1), 0, 9, 0, 1e-14);
    CHECK_VEC(force_at(world, 1.5), 0, 14, 0, 1e-14);
    CHECK_VEC(force_at(world, 9), 0, 29, 0, 1e-14);
    cairn_world_destroy(world);
}

/* The world's x axis is -y for a body turned by 90 degrees about z. */
TEST(torques_are_given_in_the_world_frame)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    load.torque = cairn_vec(5, 0, 0);
    cairn_world *world = loaded_world(3, &load, 1, cairn_quat_exp(cairn_vec(0, 0, M_PI / 2)));
    cairn_vec3 force = { 0 }, torque = { 0 };
    cairn_loads_at(world, 0, &force, &torque);
    CHECK_VEC(torque, 0, -5, 0, 1e-14);
    cairn_world_destroy(world);
}

static void refuse_load(int dimension, const cairn_load *load, cairn_status status, const char *key,
                        const char *piece)
{
    cairn_world *world = world_create(dimension);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, dimension);
    def.shape.radius = 0.5;
    def.loads = load;
    def.load_count = 1;
    CHECK_INT(cairn_body_create(world, &def, NULL), status);
    CHECK_TEXT(cairn_world_error(world)->key, key);
    CHECK_CONTAINS(cairn_world_error(world)->message, piece);
    CHECK_INT(world->loaded.count, 0);
    cairn_world_destroy(world);
}

TEST(bad_loads_are_refused)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    load.force.x = NAN;
    refuse_load(3, &load, CAIRN_NOT_FINITE, "force", "nan");
    load = cairn_load_default(CAIRN_LOAD_SINE);
    load.frequency = -1;
    refuse_load(3, &load, CAIRN_BAD_INPUT, "frequency", "found -1");
    load = cairn_load_default(CAIRN_LOAD_TABLE);
    refuse_load(3, &load, CAIRN_BAD_INPUT, "time", "empty");
    load.time = (cairn_list)LIST(0, 1);
    load.factor = (cairn_list)LIST(0);
    refuse_load(3, &load, CAIRN_BAD_INPUT, "factor", "found 1 numbers, expected 2");
    load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    load.stop = -1;
    refuse_load(3, &load, CAIRN_BAD_INPUT, "stop", "expected at least start, 0");
    load = cairn_load_default((cairn_load_kind)-3);
    refuse_load(3, &load, CAIRN_BAD_INPUT, "loads", "unknown load -3");
    load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    load.force.z = 1;
    refuse_load(2, &load, CAIRN_BAD_INPUT, "force", "in 2D z must be 0");
    load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    load.torque.x = 1;
    refuse_load(2, &load, CAIRN_BAD_INPUT, "torque", "only the z component");
}

TEST(a_table_of_times_without_factors_is_refused)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_TABLE);
    load.time = (cairn_list)LIST(0, 1);
    refuse_load(3, &load, CAIRN_BAD_INPUT, "factor", "found 0 numbers, expected 2");
}

/* ---- tables of options ---------------------------------------------------------------------- */

TEST(kinds_have_names_and_defaults_that_pass_their_own_check)
{
    static const char *const drivers[] = { "velocity", "shake", "rotation", "table" };
    static const char *const loads[] = { "constant", "sine", "table" };
    for (int k = 0; k < CAIRN_DRIVER_COUNT; k++) {
        cairn_driver d;
        CHECK_TEXT(cairn_driver_record(k)->name, drivers[k]);
        cairn_driver_record(k)->set_default(&d);
        CHECK_INT(d.kind, k);
        CHECK(isinf(d.stop));
        CHECK_OK(cairn_record_check(cairn_driver_record(k), &d, NULL));
    }
    for (int k = 0; k < CAIRN_LOAD_COUNT; k++) {
        cairn_load load;
        CHECK_TEXT(cairn_load_record(k)->name, loads[k]);
        cairn_load_record(k)->set_default(&load);
        CHECK_INT(load.kind, k);
        CHECK_OK(cairn_record_check(cairn_load_record(k), &load, NULL));
    }
    CHECK(cairn_driver_record(CAIRN_DRIVER_COUNT) == NULL && cairn_driver_record(-1) == NULL);
    CHECK(cairn_load_record(CAIRN_LOAD_COUNT) == NULL && cairn_load_record(-1) == NULL);
}

/* ---- while the world runs ------------------------------------------------------------------- */

static cairn_step_options tenth(void)
{
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 0.1;
    return options;
}

/* 1 m/s along x for 0.2 s, then 2 m/s along y for 0.1 s: from (1, 2, 3) to (1.2, 2.2, 3) */
TEST(a_driven_body_takes_other_drivers_from_where_it_is)
{
    cairn_driver first = cairn_driver_default(CAIRN_DRIVER_VELOCITY), second = first, bad = first;
    first.velocity = cairn_vec(1, 0, 0);
    second.velocity = cairn_vec(0, 2, 0);
    bad.stop = -1;
    cairn_world *world = driven_world(3, &first, 1);
    cairn_body_id body = { 0 };
    cairn_step_options options = tenth();
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_OK(cairn_body_drive(world, body, &second, 1));
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_VEC(cairn_world_bodies(world).x[0], 1.2, 2.2, 3, 1e-14);
    /* refused: as before */
    const cairn_driver both[] = { second, bad };
    CHECK_INT(cairn_body_drive(world, body, both, 2), CAIRN_BAD_INPUT);
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_VEC(cairn_world_bodies(world).x[0], 1.2, 2.4, 3, 1e-14);
    CHECK_OK(cairn_body_drive(world, body, NULL, 0));
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_VEC(cairn_world_bodies(world).x[0], 1.2, 2.4, 3, 1e-14);
    CHECK_OK(cairn_body_destroy(world, body));
    CHECK_INT(cairn_body_drive(world, body, NULL, 0), CAIRN_NOT_FOUND);
    cairn_world_destroy(world);
}

TEST(only_driven_bodies_take_drivers)
{
    cairn_world *world = loaded_world(3, NULL, 0, upright);
    cairn_body_id body = { 0 };
    CHECK_INT(cairn_body_drive(world, body, NULL, 0), CAIRN_BAD_INPUT);
    cairn_world_destroy(world);
}

/* A spring to the origin, 10 N/m, and a torque about the world's x axis; `context` counts. */
static cairn_status spring(void *context, const cairn_world *world, double time, cairn_vec3 *force,
                           cairn_vec3 *torque)
{
    cairn_bodies b = cairn_world_bodies(world);
    int *calls = context;
    CHECK_NEAR(time, cairn_world_time(world) + 0.05, 1e-15);
    for (int i = 0; i < b.count; i++) {
        force[i] = cairn_add_scaled(force[i], -10, b.x[i]);
        torque[i] = cairn_vec(2, 0, 0);
    }
    return ++*calls < 3 ? CAIRN_OK : CAIRN_STOPPED;
}

/* m = 1 kg at (1, 0, 0) without gravity: v_x = -10 N * 0.1 s = -1 m/s after one step. The ball is
 * turned by 90 degrees about z, so the torque acts about its -y axis: J = 0.1 kg m^2 makes 2 rad/s
 * of 2 N m in 0.1 s. */
TEST(forces_follow_the_state)
{
    cairn_world *world = NULL;
    cairn_world_def def = { 3, { 0, 0, 0 } };
    cairn_material_def material = cairn_material_def_default();
    cairn_body_def ball = cairn_body_def_default();
    cairn_step_options options = tenth();
    int calls = 0;
    ball.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.shape.radius = 0.5; /* J = 2/5 m R^2 */
    ball.mass = 1;
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    ball.motion = CAIRN_MOTION_FIXED;
    ball.position = cairn_vec(0, 9, 0);
    CHECK_OK(cairn_body_create(world, &ball, NULL));
    ball.motion = CAIRN_MOTION_DYNAMIC;
    ball.position = cairn_vec(1, 0, 0);
    ball.orientation = cairn_quat_exp(cairn_vec(0, 0, M_PI / 2));
    CHECK_OK(cairn_body_create(world, &ball, NULL));
    cairn_world_on_force(world, spring, &calls);
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_VEC(cairn_world_bodies(world).v[1], -1, 0, 0, 1e-14);
    CHECK_VEC(cairn_world_bodies(world).omega[1], 0, -2, 0, 1e-13);
    CHECK_VEC(cairn_world_step_inputs(world).force[0], 0, 0, 0, 0); /* it does not move */
    CHECK_OK(cairn_world_step(world, &options, NULL));
    /* the third call says stop: the step fails, the world is as before */
    double time = cairn_world_time(world);
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_STOPPED);
    CHECK_NEAR(cairn_world_time(world), time, 0);
    cairn_world_on_force(world, NULL, NULL);
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_NEAR(calls, 3, 0);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(constant_velocity_between_start_and_stop), CASE(shaking_starts_without_a_jump),
        CASE(shaking_that_stops_stays_where_it_is), CASE(rotation_about_the_bodys_position),
        CASE(in_2d_the_angle_counts_whole_turns),
        CASE(a_table_is_linear_in_between_and_constant_outside),
        CASE(a_table_that_starts_elsewhere_does_not_jump),
        CASE(a_body_made_late_or_with_an_early_start_does_not_jump),
        CASE(a_table_without_angles_needs_no_axis), CASE(the_motions_of_a_body_add_up),
        CASE(turns_about_one_axis_add_up_too), CASE(tables_are_copied),
        CASE(a_driven_body_without_drivers_stands_still),
        CASE(a_step_takes_a_driven_body_along_its_function),
        CASE(drivers_with_impossible_numbers_are_refused), CASE(bad_tables_are_refused),
        CASE(in_2d_drivers_stay_in_the_plane), CASE(a_constant_load_acts_from_start_to_stop),
        CASE(a_sine_load_counts_from_its_start),
        CASE(a_table_load_is_linear_in_between_and_loads_add_up),
        CASE(torques_are_given_in_the_world_frame), CASE(bad_loads_are_refused),
        CASE(a_table_of_times_without_factors_is_refused),
        CASE(kinds_have_names_and_defaults_that_pass_their_own_check),
        CASE(a_driven_body_takes_other_drivers_from_where_it_is),
        CASE(only_driven_bodies_take_drivers), CASE(forces_follow_the_state));
}
