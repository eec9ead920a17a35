/* test_scene_body.c - bodies: motion, pose, drivers, loads, names. */
#include "scene_text.h"

#define BALL       "shape: {sphere: {radius: 1}}"
#define BODY(keys) HEAD "bodies:\n  - {" keys "}\n"
#define FLAT(keys) HEAD "dimension: 2\nbodies:\n  - {" keys "}\n"

TEST(keys_that_do_not_fit_the_motion_are_refused)
{
    static const refused table[] = {
        { BODY(BALL ", motion: fixd"), 4, 44, "bodies.0.motion", "did you mean 'fixed'?" },
        { BODY(BALL ", drivers: [{velocity: {velocity: [1, 0, 0]}}]"), 4, 36, "bodies.0.drivers",
          "only with motion: driven" },
        { BODY(BALL ", motion: fixed, velocity: [1, 0, 0]"), 4, 51, "bodies.0.velocity",
          "only with motion: dynamic" },
        { BODY(BALL ", motion: driven, loads: []"), 4, 52, "bodies.0.loads",
          "only with motion: dynamic" },
        { BODY("shape: half_space"), 4, 5, "bodies.0.motion", "half_space" },
        { BODY("shape: point"), 4, 5, "bodies.0.mass", "expected a mass > 0 kg" },
        { BODY(BALL ", density: 1, mass: 1"), 4, 36, "bodies.0.density", "found both" },
    };
    CHECK_REFUSED(table);
}

TEST(impossible_poses_are_refused)
{
    static const refused table[] = {
        { BODY(BALL ", angle: 1"), 4, 36, "bodies.0.angle", "only in 2D" },
        { FLAT(BALL ", orientation: [1, 0, 0, 0]"), 5, 36, "bodies.0.orientation", "only in 3D" },
        { BODY(BALL ", orientation: [0, 0, 0, 0]"), 4, 49, "bodies.0.orientation",
          "found a quaternion of length 0" },
        { BODY(BALL ", orientation: [1, 0, 0]"), 4, 49, "bodies.0.orientation",
          "found a list of 3, expected {axis: [x, y, z], angle: rad} or a quaternion" },
        { BODY(BALL ", orientation: [1, 0, 0, a]"), 4, 59, "bodies.0.orientation.3",
          "found 'a', expected a number" },
        { BODY(BALL ", orientation: {axis: [0, 0, 0], angle: 1}"), 4, 56,
          "bodies.0.orientation.axis", "expected a direction" },
        { BODY(BALL ", orientation: {angle: 1}"), 4, 49, "bodies.0.orientation.axis",
          "the key 'axis' is missing" },
        { BODY(BALL ", inertia: [1, 1, 5]"), 4, 45, "bodies.0.inertia", "no body has these" },
    };
    CHECK_REFUSED(table);
}

TEST(impossible_tables_are_refused)
{
    static const refused table[] = {
        { BODY(BALL ", motion: driven, drivers: [{table: {time: [1, 1], x: [0, 1]}}]"), 4, 77,
          "bodies.0.drivers.0.table.time", "entry 2 is 1, expected more than 1" },
        { BODY(BALL ", motion: driven, drivers: [{table: {time: [0, 1], x: [0]}}]"), 4, 88,
          "bodies.0.drivers.0.table.x", "found 1 numbers, expected 2" },
        { BODY(BALL ", loads: [{table: {time: [0, a], factor: [1, 1]}}]"), 4, 63,
          "bodies.0.loads.0.table.time.1", "found 'a', expected a number in s" },
        { BODY(BALL ", loads: [{sine: {force: [1, 0, 0]}}]"), 4, 51,
          "bodies.0.loads.0.sine.frequency", "'frequency' is missing" },
        { BODY(BALL ", loads: {}"), 4, 43, "bodies.0.loads", "expected a list of loads" },
        { BODY("motion: fixed, shape: {half_space: {axis: [0, 0, 0]}}"), 4, 48,
          "bodies.0.shape.half_space.axis", "expected a direction" },
    };
    CHECK_REFUSED(table);
}

TEST(names_are_names_and_unique)
{
    static const refused table[] = {
        { BODY(BALL ", name: [a]"), 4, 42, "bodies.0.name", "found a list of 1, expected a name" },
        { BODY(BALL ", name: \"a\\nb\""), 4, 42, "bodies.0.name", "printable" },
        { HEAD "bodies:\n  - {name: a, " BALL "}\n  - {name: a, " BALL ", position: [5, 0, 0]}\n",
          5, 12, "bodies.1.name", "the name 'a' is given twice" },
    };
    CHECK_REFUSED(table);
}

/* Turned by 0.5 rad about z after 1 s of a driver with 0.5 rad/s, in 2D. */
TEST(drivers_move_bodies)
{
    cairn_scene *s = scene_text_good(
        FLAT(BALL ", motion: driven, angle: 0.25, drivers: [rotation: {angular_velocity: 0.5}]"),
        "run.time_step=1");
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_NEAR(cairn_world_bodies(s->world).angle[0], 0.75, 1e-14);
    cairn_scene_destroy(s);
}

/* Load 6 N on 2 kg for one step of 1 ms, no gravity. */
TEST(loads_push_bodies)
{
    cairn_scene *s = scene_text_good(
        BODY(BALL ", mass: 2, loads: [constant: {force: [6, 0, 0]}]") "gravity: [0, 0, 0]\n", NULL);
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_NEAR(cairn_world_bodies(s->world).v[0].x, 3e-3, 1e-15);
    cairn_scene_destroy(s);
}

int main(void)
{
    RUN(CASE(keys_that_do_not_fit_the_motion_are_refused), CASE(impossible_poses_are_refused),
        CASE(impossible_tables_are_refused), CASE(names_are_names_and_unique),
        CASE(drivers_move_bodies), CASE(loads_push_bodies));
}
