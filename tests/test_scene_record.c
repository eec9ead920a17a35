/* test_scene_record.c - values and keys that an option table refuses, with their place. */
#include "scene_text.h"

#define BODY(keys) HEAD "bodies:\n  - {" keys "}\n"

TEST(unknown_keys_are_refused_with_the_nearest_one)
{
    static const refused table[] = {
        { HEAD "gravitiy: [0, 0, 0]\n", 3, 1, "gravitiy", "did you mean 'gravity'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, tolerence: 1}\n", 2, 34, "run.tolerence",
          "unknown key 'tolerence'; did you mean 'tolerance'?" },
        { "cairn: 1\nrun:\n  time_step: 1\n  duration: 1\n  frame_intervall: 1\n", 5, 3,
          "run.frame_intervall", "did you mean 'frame_interval'?" },
        { HEAD "materials:\n  rock: {frcition: 1}\n", 4, 10, "materials.rock.frcition",
          "did you mean 'friction'?" },
        { BODY("shape: {sphere: {radus: 1}}"), 4, 23, "bodies.0.shape.sphere.radus",
          "did you mean 'radius'?" },
        { BODY("shape: {sphere: {zzzzzzzz: 1}}"), 4, 23, "bodies.0.shape.sphere.zzzzzzzz",
          "unknown key 'zzzzzzzz', expected one of radius" },
        { BODY("shape: {shpere: {radius: 1}}"), 4, 14, "bodies.0.shape.shpere",
          "unknown shape 'shpere'; did you mean 'sphere'?" },
        { BODY("motion: driven, shape: half_space, drivers: [{shaek: {}}]"), 4, 52,
          "bodies.0.drivers.0.shaek", "unknown driver 'shaek'; did you mean 'shake'?" },
        { BODY("shape: half_spaec, motion: fixed"), 4, 13, "bodies.0.shape",
          "unknown shape 'half_spaec'; did you mean 'half_space'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, backend: hots}\n", 2, 43, "run.backend",
          "unknown back end 'hots'; did you mean 'host'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, backend: ../x}\n", 2, 43, "run.backend",
          "unknown backend '../x', expected one of host, scalar" },
        { HEAD "generators:\n  - grit: {}\n", 4, 5, "generators.0.grit",
          "unknown generator 'grit'; did you mean 'grid'?" },
    };
    CHECK_REFUSED(table);
}

TEST(missing_keys_are_named)
{
    static const refused table[] = {
        { "title: x\n", 1, 1, "cairn", "the key 'cairn' is missing" },
        { "cairn: 1\n", 1, 1, "run", "the key 'run' is missing" },
        { "cairn: 1\nrun:\n  duration: 1\n", 3, 3, "run.time_step",
          "the key 'time_step' is missing: a number > 0" },
        { "cairn: 1\nrun: {time_step: 1}\n", 2, 6, "run.duration", "'duration' is missing" },
        { "cairn: 1\nrun:\n", 2, 5, "run.time_step", "'time_step' is missing" },
        { BODY("mass: 1"), 4, 5, "bodies.0.shape", "the key 'shape' is missing" },
        { BODY("shape: {sphere: {}}"), 4, 22, "bodies.0.shape.sphere.radius",
          "the key 'radius' is missing" },
        { BODY("shape: sphere"), 4, 13, "bodies.0.shape.radius", "the key 'radius' is missing" },
        { HEAD "generators:\n  - grid: {count: [1, 1, 1], spacing: [1, 1, 1]}\n", 4, 11,
          "generators.0.grid.radius", "the key 'radius' is missing" },
        { HEAD "generators:\n  - fill: {bodies: 3, radius: 1}\n", 4, 11, "generators.0.fill.size",
          "the key 'size' is missing" },
    };
    CHECK_REFUSED(table);
}

TEST(wrong_types_are_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: fast, duration: 1}\n", 2, 18, "run.time_step",
          "found 'fast', expected a number > 0" },
        { "cairn: 1\nrun: {time_step: \"1\", duration: 1}\n", 2, 18, "run.time_step",
          "found '1', expected a number" },
        { "cairn: 1\nrun: {time_step: [1], duration: 1}\n", 2, 18, "run.time_step",
          "found a list of 1, expected a number" },
        { "cairn: 1\nrun: {time_step: , duration: 1}\n", 2, 18, "run.time_step", "found nothing" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, threads: 1.5}\n", 2, 43, "run.threads",
          "found 1.5, expected a whole number" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, paraview: yes}\n", 2, 44, "run.paraview",
          "found 'yes', expected true or false" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, solver: lemke}\n", 2, 42, "run.solver",
          "lemke does not treat the circular cones in 3D" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, scheme: convexe}\n", 2, 42, "run.scheme",
          "unknown scheme 'convexe'; did you mean 'convex'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, on_uncertified: [a]}\n", 2, 50,
          "run.on_uncertified", "expected one of warn, stop" },
        { "cairn: 1\nrun: 5\n", 2, 6, "run", "found 5, expected a mapping" },
        { HEAD "gravity: 9.81\n", 3, 10, "gravity", "found 9.81, expected a list of 3 numbers" },
        { HEAD "gravity: [0, -9.81]\n", 3, 10, "gravity",
          "found a list of 2, expected a list of 3 numbers in m/s^2 in 3D" },
        { HEAD "gravity: [0, 0, down]\n", 3, 17, "gravity.2", "found 'down', expected" },
        { BODY("shape: {sphere: {radius: {a: 1}}}"), 4, 31, "bodies.0.shape.sphere.radius",
          "found a mapping, expected a number" },
        { BODY("shape: {sphere: {}, point: {}}"), 4, 13, "bodies.0.shape",
          "found a mapping with several keys, expected a shape as a mapping with one key" },
        { BODY("shape: [sphere]"), 4, 13, "bodies.0.shape", "found a list of 1, expected a shape" },
        { HEAD "bodies: {}\n", 3, 9, "bodies", "found a mapping, expected a list of bodies" },
        { HEAD "bodies:\n  - 5\n", 4, 5, "bodies.0", "found 5, expected a mapping" },
        { "- cairn\n", 1, 1, "", "found a list of 1, expected a mapping" },
    };
    CHECK_REFUSED(table);
}

TEST(values_out_of_range_are_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: 0, duration: 1}\n", 2, 18, "run.time_step",
          "found 0, expected a number > 0" },
        { "cairn: 1\nrun: {time_step: 1, duration: -1}\n", 2, 31, "run.duration",
          "found -1, expected a number > 0" },
        { HEAD "materials: {rock: {friction: -0.1}}\n", 3, 30, "materials.rock.friction",
          "found -0.1, expected a number" },
        { HEAD "materials: {rock: {restitution: 1.5}}\n", 3, 33, "materials.rock.restitution",
          "found 1.5, expected a number between 0 and 1" },
        { HEAD "dimension: 4\n", 3, 12, "dimension", "found 4, expected a whole number between 2" },
        { BODY("shape: {sphere: {radius: -1}}"), 4, 31, "bodies.0.shape.sphere.radius",
          "found -1, expected a number > 0" },
        { BODY("mass: -2, shape: {sphere: {radius: 1}}"), 4, 12, "bodies.0.mass",
          "found -2, expected a number" },
    };
    CHECK_REFUSED(table);
}

TEST(what_is_not_finite_is_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: .nan, duration: 1}\n", 2, 18, "run.time_step",
          "found .nan, expected a number" },
        { "cairn: 1\nrun: {time_step: .inf, duration: 1}\n", 2, 18, "run.time_step",
          "found .inf, expected a number" },
        { "cairn: 1\nrun: {time_step: 1e999, duration: 1}\n", 2, 18, "run.time_step",
          "found 1e999, expected a number" },
        { BODY("position: [0, .nan, 0], shape: {sphere: {radius: 1}}"), 4, 20,
          "bodies.0.position.1", "found .nan, expected a number between -1e+30 and 1e+30 in m" },
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_refused(&table[i], CAIRN_NOT_FINITE, NULL);
}

TEST(a_plane_has_two_numbers)
{
    static const refused table[] = {
        { HEAD "dimension: 2\ngravity: [0, -1, 2]\n", 4, 18, "gravity.2",
          "found 2, expected 0 in 2D" },
        { HEAD "dimension: 2\ngravity: [1]\n", 4, 10, "gravity", "expected a list of 2 numbers" },
        { HEAD "dimension: 2\nbodies:\n"
               "  - {shape: {sphere: {radius: 1}}, angular_velocity: [1, 2]}\n",
          5, 54, "bodies.0.angular_velocity", "expected a number (about z)" },
        { HEAD "dimension: 2\nbodies:\n"
               "  - {shape: {sphere: {radius: 1}}, angular_velocity: [1, 0, 2]}\n",
          5, 55, "bodies.0.angular_velocity.0", "found 1, expected 0 in 2D" },
    };
    CHECK_REFUSED(table);
    cairn_scene *s = scene_text_good(HEAD "dimension: 2\ngravity: [0, -1, 0]\nbodies:\n"
                                          "  - shape: {sphere: {radius: 1}}\n"
                                          "    angular_velocity: 3\n"
                                          "    inertia: [0, 0, 5]\n",
                                     NULL);
    const cairn_bodies bodies = cairn_world_bodies(s->world);
    CHECK_NEAR(bodies.omega[0].z, 3, 0);
    CHECK_NEAR(bodies.inertia[0].z, 5, 0);
    cairn_scene_destroy(s);
}

TEST(overridden_values_name_the_override)
{
    static const refused table[] = {
        { HEAD, 0, 0, "run.time_step", "found 0, expected a number > 0" },
        { HEAD, 0, 0, "run.tolerence", "did you mean 'tolerance'?" },
        { HEAD, 0, 0, "rum.tolerance", "the path leads nowhere: there is no 'rum'" },
        { HEAD, 0, 0, "bodies.0.shape", "the key 'shape' is missing" },
    };
    static const char *const overrides[] = { "run.time_step=0", "run.tolerence=1",
                                             "rum.tolerance=1", "bodies=[{mass: 1}]" };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_refused(&table[i], CAIRN_BAD_INPUT, overrides[i]);
}

TEST(statistics_are_names_each_once_with_their_own_part)
{
    cairn_scene *s =
        scene_text_good("cairn: 1\nmeasure: {bins: 7, low: [0, 0, 1]}\nrun: {time_step: "
                        "1e-3, duration: 1, statistics: [stress, centre]}\n",
                        NULL);
    CHECK_INT(s->run.statistics.count, 2);
    CHECK_TEXT(s->run.statistics.items[1], "centre");
    CHECK_INT(s->measure.bins, 7);
    CHECK_NEAR(s->measure.low.z, 1, 0);
    CHECK_NEAR(s->measure.high.z, 1e30, 0);
    cairn_scene_destroy(s);
    static const refused table[] = {
        { HEAD, 0, 0, "run.statistics.0", "did you mean 'stress'?" },
        { HEAD, 0, 0, "run.statistics.1", "found stress twice" },
        { HEAD, 0, 0, "run.statistics", "expected a list of some of packing, slices" },
        { HEAD, 0, 0, "measure.bins", "expected a whole number between 1 and 4096" },
        { HEAD, 0, 0, "measure.bims", "did you mean 'bins'?" },
    };
    static const char *const overrides[] = { "run.statistics=[stres]",
                                             "run.statistics=[stress, stress]",
                                             "run.statistics=stress", "measure={bins: 0}",
                                             "measure={bims: 3}" };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_refused(&table[i], CAIRN_BAD_INPUT, overrides[i]);
}

TEST(a_box_that_is_empty_is_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: 1, duration: 1}\nmeasure:\n  low: [0, 0, 2]\n  high: [1, 1, "
          "2]\n",
          5, 9, "measure.high", "found 2, expected more than the lower corner's 2" },
    };
    check_refused(&table[0], CAIRN_BAD_INPUT, NULL);
}

int main(void)
{
    RUN(CASE(statistics_are_names_each_once_with_their_own_part),
        CASE(a_box_that_is_empty_is_refused), CASE(unknown_keys_are_refused_with_the_nearest_one),
        CASE(missing_keys_are_named), CASE(wrong_types_are_refused),
        CASE(values_out_of_range_are_refused), CASE(what_is_not_finite_is_refused),
        CASE(a_plane_has_two_numbers), CASE(overridden_values_name_the_override));
}
