/* test_driver.c - functions of time: the motions of driven bodies, the loads on dynamic ones, and
 * numbers of the world that vary. */
#include <math.h>

#include "base/expression.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
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

static cairn_vec3 force_at(cairn_world *world, double time)
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
    static const char *const drivers[] = { "velocity", "shake", "rotation", "table", "motion" };
    static const char *const loads[] = { "constant", "sine", "table", "function" };
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

GROUP(test_driver)
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

/* ==== test_function: values, integrals, and all that may be a function of time ================ */

static cairn_function formula(const char *text)
{
    cairn_function f = cairn_function_default(CAIRN_FUNCTION_EXPRESSION);
    f.text = text;
    return f;
}

static cairn_function harmonic(double mean, double amplitude, double frequency)
{
    cairn_function f = cairn_function_default(CAIRN_FUNCTION_HARMONIC);
    f.mean = mean;
    f.amplitude = amplitude;
    f.frequency = frequency;
    return f;
}

static double square(void *context, double t)
{
    return *(double *)context * t * t;
}

/* The value at t = 0.5, and the integral from 0.25 to 2. */
static void check_function(cairn_function f, double value, double integral, double tolerance)
{
    CHECK_OK(cairn_function_check(&f, NULL));
    CHECK_NEAR(cairn_function_value(&f, 0.5), value, 1e-15);
    CHECK_OK(cairn_function_own(&f, NULL));
    CHECK_NEAR(cairn_function_value(&f, 0.5), value, 1e-15);
    CHECK_NEAR(cairn_function_integral(&f, 0.25, 2), integral, tolerance);
    CHECK_NEAR(cairn_function_mean(&f, 0.25, 2), integral / 1.75, tolerance);
    cairn_function_release(&f);
}

/* int 3 = 5.25; int t^2 = (8 - 1/64)/3; a ramp from 1 at 0 to 3 at 1: 0.75 (1.5 + 3)/2 + 3;
 * 2 + sin(2 pi t): 3.5 + (cos(pi/2) - cos(4 pi))/(2 pi) */
TEST(functions_have_exact_integrals)
{
    double factor = 1;
    cairn_function constant = { .value = 3 }, call = { .kind = CAIRN_FUNCTION_CALL };
    cairn_function ramp = cairn_function_default(CAIRN_FUNCTION_RAMP), table = ramp;
    call.call = square;
    call.context = &factor;
    ramp.from = 1;
    ramp.to = 3;
    table.kind = CAIRN_FUNCTION_TABLE;
    table.time = (cairn_list)LIST(0, 1);
    table.values = (cairn_list)LIST(1, 3);
    check_function(constant, 3, 5.25, 0);
    check_function(ramp, 2, 4.6875, 1e-15);
    check_function(table, 2, 4.6875, 1e-15);
    check_function(harmonic(2, 1, 1), 2, 3.5 - 1 / (2 * M_PI), 1e-14);
    check_function(formula("t^2"), 0.25, (8 - 1.0 / 64) / 3, 1e-15);
    check_function(call, 0.25, (8 - 1.0 / 64) / 3, 1e-15);
}

TEST(functions_that_make_no_sense_are_refused)
{
    cairn_error error = { 0 };
    cairn_function f = cairn_function_default(CAIRN_FUNCTION_RAMP);
    f.stop = 0;
    CHECK_INT(cairn_function_check(&f, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "stop");
    f = cairn_function_default(CAIRN_FUNCTION_TABLE);
    CHECK_INT(cairn_function_check(&f, &error), CAIRN_BAD_INPUT);
    f.time = f.values = (cairn_list)LIST(0, 0);
    CHECK_INT(cairn_function_check(&f, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "expected more than 0 before it");
    f = harmonic(0, NAN, 1);
    CHECK_INT(cairn_function_check(&f, &error), CAIRN_NOT_FINITE);
    f = formula("2 * x");
    CHECK_INT(cairn_function_check(&f, &error), CAIRN_BAD_INPUT);
    CHECK_INT(error.column, 5);
    CHECK(isnan(cairn_function_value(&f, 0)));
    f = (cairn_function){ .kind = CAIRN_FUNCTION_CALL };
    CHECK_INT(cairn_function_check(&f, &error), CAIRN_BAD_INPUT);
    f = (cairn_function){ .kind = CAIRN_FUNCTION_COUNT };
    CHECK_INT(cairn_function_check(&f, &error), CAIRN_BAD_INPUT);
}

/* 300 steps of 0.01 s: x(t) = 0.2 t^3 to rounding, y from its velocity 3 t^2 - 1 by Gauss's rule,
 * and an angle of 0.5 t^2 about an axis along z through (0, 2, 0), at a distance of 1 m; the axis
 * moves with the displacement. */
TEST(a_motion_ends_where_its_functions_say)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_MOTION);
    d.path[0] = formula("0.2 * t^3");
    d.speed[1] = formula("3 * t^2 - 1");
    d.spin = formula("t");
    d.point = cairn_vec(0, 2, 0);
    cairn_world *world = driven_world(3, &d, 1);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    for (int k = 1; k <= 300; k++) {
        cairn_world_step(world, &options, NULL);
        double t = world->time, a = 0.5 * t * t;
        CHECK_VEC(world->bodies.x[0], cos(a) + 0.2 * t * t * t, 2 + sin(a) + t * t * t - t, 3,
                  1e-12);
        CHECK_NEAR(world->bodies.q[0].w, cos(0.5 * a), 1e-12);
    }
    cairn_world_destroy(world);
}

/* A velocity that stops at 0.255 s, within a step: 2 m/s for 0.255 s. */
TEST(a_motion_that_stops_within_a_step_is_exact)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_MOTION);
    d.speed[0] = (cairn_function){ .value = 2 };
    d.stop = 0.255;
    cairn_world *world = driven_world(2, &d, 1);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    for (int k = 0; k < 50; k++)
        cairn_world_step(world, &options, NULL);
    CHECK_NEAR(world->bodies.x[0].x, 1.51, 1e-15);
    cairn_world_destroy(world);
}

/* Two bodies turned about one point: their distance and their relative pose stay. */
TEST(bodies_with_one_point_turn_as_one)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    d.angular_velocity = cairn_vec(0, 2, 0);
    d.point = cairn_vec(5, 0, 0);
    cairn_world *world = driven_world(3, &d, 1);
    cairn_body_def def = cairn_body_def_default();
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape.radius = 0.1;
    def.drivers = &d;
    def.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    for (int k = 0; k < 100; k++)
        cairn_world_step(world, &options, NULL);
    cairn_vec3 apart = cairn_sub(world->bodies.x[0], world->bodies.x[1]);
    CHECK_VEC(cairn_rotate_back(world->bodies.q[0], apart), 1, 2, 3, 1e-13);
    /* 2 rad about y: (-5, 0, 0) becomes (-5 cos 2, 0, 5 sin 2) */
    CHECK_VEC(world->bodies.x[1], 5 - 5 * cos(2), 0, 5 * sin(2), 1e-13);
    cairn_world_destroy(world);
}

/* A driver that waits starts when told, and counts from then; another one stops. */
TEST(drivers_start_and_stop_when_told)
{
    cairn_driver d = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    d.velocity = cairn_vec(1, 0, 0);
    d.start = INFINITY;
    cairn_world *world = driven_world(3, &d, 1);
    cairn_step_options options = step_by(0.1, "coulomb", 1e-6);
    for (int k = 0; k < 9; k++) {
        if (k == 3)
            CHECK_OK(cairn_body_start(world, (cairn_body_id){ 0 }));
        if (k == 8)
            CHECK_OK(cairn_body_stop(world, (cairn_body_id){ 0 }));
        cairn_world_step(world, &options, NULL);
    }
    CHECK_VEC(world->bodies.x[0], 1.5, 2, 3, 1e-14);
    CHECK_INT(cairn_body_start(world, (cairn_body_id){ 7 }), CAIRN_NOT_FOUND);
    cairn_world_destroy(world);
}

/* A force of 2 N cos(3 t) on 1 kg from 0.105 s on: v = 2/3 (sin(3 (t - 0.105))) at every step, as the
 * time of the function counts from the start. */
TEST(the_impulse_of_a_load_is_the_integral_of_its_function)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_FUNCTION);
    load.force = cairn_vec(2, 0, 0);
    load.course = formula("cos(3 * t)");
    load.start = 0.105;
    cairn_world *world = loaded_world(3, &load, 1, upright);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    double mass = world->bodies.mass[0];
    for (int k = 0; k < 100; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_NEAR(mass * world->bodies.v[0].x, 2.0 / 3 * sin(3 * 0.895), 1e-12);
    cairn_world_destroy(world);
}

/* Gravity that turns about y, 9.81 (-sin wt, 0, -cos wt): the velocity of a body in free flight is
 * its integral to rounding, and the ledger of energy is closed. */
TEST(gravity_that_turns_gives_its_integral_and_balances)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    const cairn_function x = formula("-9.81 * sin(2 * t)"), z = formula("-9.81 * cos(2 * t)");
    add_ball(world, 0.1, cairn_vec(1, 0, 5), cairn_vec(0, 0, 0));
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_X, 0, &x));
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_Z, 0, &z));
    double energy = total_energy(world), worked = 0;
    for (int k = 0; k < 100; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(world, &options, &report));
        energy += report.energy.gravity_work - report.energy.numerical_loss;
        worked += fabs(report.energy.gravity_work);
        CHECK_NEAR(total_energy(world), energy, 1e-12);
    }
    CHECK_VEC(world->bodies.v[0], 4.905 * (cos(2) - 1), 0, -4.905 * sin(2), 1e-13);
    CHECK(worked > 10);
    cairn_world_destroy(world);
}

/* A ball of 1 kg pressed on a belt of 1 m/s by its weight, mu = 0.1 + 0.2 t: the belt gives it
 * 9.81 (0.1 t + 0.1 t^2) m/s as long as it slides. It cannot turn. */
TEST(friction_follows_its_function)
{
    cairn_world *world = new_world(3, 9.81, 0.1, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-10);
    cairn_body_def belt = cairn_body_def_default(), block = belt;
    const cairn_function mu = formula("0.1 + 0.2 * t");
    belt.motion = CAIRN_MOTION_FIXED;
    belt.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    belt.surface_velocity = cairn_vec(1, 0, 0);
    block.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    block.shape.size = cairn_vec(0.5, 0.5, 0.1);
    block.position = cairn_vec(0, 0, 0.05);
    CHECK_OK(cairn_body_create(world, &belt, NULL));
    CHECK_OK(cairn_body_create(world, &block, NULL));
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_FRICTION, 0, &mu));
    for (int k = 0; k < 50; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_NEAR(world->bodies.v[1].x, 9.81 * (0.05 + 0.025), 1e-7);
    CHECK_INT(cairn_world_vary(world, CAIRN_VARIED_FRICTION, 1, &mu), CAIRN_NOT_FOUND);
    cairn_world_destroy(world);
}

/* A cart on a slide without gravity. By a velocity motor x is the integral of the target, 0.1 t^3;
 * by a force motor of 1 kg v is; by a position motor the target is that of the end. */
static cairn_world *cart(cairn_motor_kind kind, const char *target)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id id;
    const cairn_function f = formula(target);
    add_ball(world, 0.1, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    def.kind = CAIRN_JOINT_PRISMATIC;
    def.a = (cairn_body_id){ 0 };
    def.b = cairn_body_none();
    def.axis = cairn_vec(1, 0, 0);
    def.slide.motor = cairn_motor_name((int)kind);
    def.slide.effort = 1e6;
    CHECK_OK(cairn_joint_create(world, &def, &id));
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_SLIDE, id.index, &f));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-12);
    for (int k = 0; k < 100; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    return world;
}

TEST(motors_follow_their_functions)
{
    cairn_world *world = cart(CAIRN_MOTOR_VELOCITY, "0.3 * t^2");
    CHECK_NEAR(world->bodies.x[0].x, 0.1, 1e-9);
    cairn_world_destroy(world);
    world = cart(CAIRN_MOTOR_FORCE, "0.3 * t^2");
    CHECK_NEAR(world->bodies.v[0].x, 0.1, 1e-9);
    cairn_world_destroy(world);
    world = cart(CAIRN_MOTOR_POSITION, "0.5 * t");
    CHECK_NEAR(world->joints.items[0].def.slide.target, 0.5, 1e-15);
    cairn_world_destroy(world);
}

/* A function that leaves its range or is not finite stops the step, and the world is as before. */
TEST(a_function_out_of_range_fails_the_step)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    cairn_function z = formula("-9.81 - t"), mu = formula("0.5 - t");
    add_ball(world, 0.1, cairn_vec(0, 0, 1), cairn_vec(0, 0, 0));
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_Z, 0, &z));
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_FRICTION, 0, &mu));
    for (int k = 0; k < 50; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    uint64_t hash = cairn_world_hash(world);
    double energy = total_energy(world);
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(cairn_world_error(world)->message, "negative at t = 0.5 s");
    CHECK_TEXT(cairn_world_error(world)->key, "friction");
    CHECK(cairn_world_hash(world) == hash && total_energy(world) == energy);
    mu = formula("0.5");
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_FRICTION, 0, &mu)); /* replaces */
    z = formula("-1 / (0.6 - t)^0.5 * step(0.6 - t) + log(0.6 - t)");
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_Z, 0, &z));
    for (int k = 0; k < 10; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_NOT_FINITE);
    CHECK_TEXT(cairn_world_error(world)->key, "gravity");
    cairn_world_destroy(world);
}

/* Likewise of a load: the message names the body and the time. */
TEST(a_load_that_is_no_number_fails_the_step)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_FUNCTION);
    load.force = cairn_vec(2, 0, 0);
    load.course = formula("log(0.105 - t)");
    cairn_world *world = loaded_world(3, &load, 1, upright);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    for (int k = 0; k < 10; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    uint64_t hash = cairn_world_hash(world);
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_NOT_FINITE);
    CHECK_TEXT(cairn_world_error(world)->key, "loads");
    CHECK_CONTAINS(cairn_world_error(world)->message, "not a finite number between 0.1 and 0.11 s");
    CHECK(cairn_world_hash(world) == hash);
    cairn_world_destroy(world);
}

static cairn_status count_bytes(const void *data, size_t bytes, void *context)
{
    (void)data;
    *(size_t *)context += bytes;
    return CAIRN_OK;
}

TEST(a_world_with_a_callback_works_and_is_not_saved)
{
    double factor = 3;
    size_t bytes = 0;
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_function f = { .kind = CAIRN_FUNCTION_CALL, .call = square, .context = &factor };
    cairn_step_options options = step_by(0.1, "coulomb", 1e-6);
    add_ball(world, 0.1, cairn_vec(0, 0, 1), cairn_vec(0, 0, 0));
    CHECK_OK(cairn_world_save(world, count_bytes, &bytes));
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_Y, 0, &f));
    for (int k = 0; k < 10; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_NEAR(world->bodies.v[0].y, 1, 1e-14);
    CHECK_INT(cairn_world_save(world, count_bytes, &bytes), CAIRN_UNSUPPORTED);
    cairn_world_destroy(world);
}

GROUP(test_function)
{
    RUN(CASE(functions_have_exact_integrals), CASE(functions_that_make_no_sense_are_refused),
        CASE(a_motion_ends_where_its_functions_say),
        CASE(a_motion_that_stops_within_a_step_is_exact), CASE(bodies_with_one_point_turn_as_one),
        CASE(drivers_start_and_stop_when_told),
        CASE(the_impulse_of_a_load_is_the_integral_of_its_function),
        CASE(gravity_that_turns_gives_its_integral_and_balances),
        CASE(friction_follows_its_function), CASE(motors_follow_their_functions),
        CASE(a_function_out_of_range_fails_the_step), CASE(a_load_that_is_no_number_fails_the_step),
        CASE(a_world_with_a_callback_works_and_is_not_saved));
}
