/* test_scene_world.c - version, title, space and materials. */
#include "scene_text.h"

/* A ball rests on a plane that slides away below it at 1 m/s: friction starts to move it. */
#define MOVING                                                                                     \
    "bodies:\n"                                                                                    \
    "  - {motion: driven, material: a, shape: half_space, drivers: [velocity: {velocity: [1, 0, "  \
    "0]}]}\n"                                                                                      \
    "  - {material: b, shape: {sphere: {radius: 1}}, mass: 1, position: [0, 0, 1]}\n"

/* Speed of the ball after one step of 1 ms: mu g h while it slides. */
static double speed_after_a_step(const char *text)
{
    cairn_scene *s = scene_text_good(text, NULL);
    cairn_step_report report;
    s->step.tolerance = 1e-12;
    s->step.scheme = "fixed-point";
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    double speed = cairn_world_bodies(s->world).v[1].x;
    cairn_scene_destroy(s);
    return speed;
}

TEST(a_pair_of_materials_overrules_the_smaller_values)
{
    CHECK_CLOSE(
        speed_after_a_step(HEAD "materials: {a: {friction: 0.1}, b: {friction: 0.3}}\n" MOVING),
        0.1 * 9.81e-3, 1e-6);
    CHECK_CLOSE(speed_after_a_step(HEAD "materials: {a: {friction: 0.1}, b: {friction: 0.3}}\n"
                                        "pairs: [{materials: [b, a], friction: 0.2}]\n" MOVING),
                0.2 * 9.81e-3, 1e-6);
    /* a pair that does not speak of friction leaves it */
    CHECK_CLOSE(speed_after_a_step(HEAD "materials: {a: {friction: 0.1}, b: {friction: 0.3}}\n"
                                        "pairs: [{materials: [b, a], restitution: 0.2}]\n" MOVING),
                0.1 * 9.81e-3, 1e-6);
}

TEST(without_materials_there_is_one_called_default)
{
    cairn_scene *s = scene_text_good(HEAD, NULL);
    CHECK_INT(s->material_count, 1);
    CHECK_TEXT(s->material_names[0], "default");
    cairn_scene_destroy(s);
}

TEST(gravity_points_down_in_2d_too)
{
    cairn_scene *s =
        scene_text_good(HEAD "dimension: 2\nbodies: [{shape: {sphere: {radius: 1}}}]\n", NULL);
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_NEAR(cairn_world_bodies(s->world).v[0].y, -9.81e-3, 1e-15);
    cairn_scene_destroy(s);
}

TEST(bad_tops_are_refused)
{
    static const refused table[] = {
        { "cairn: 2\nnew_key: 1\n", 1, 8, "cairn", "found 2, expected 1" },
        { "cairn: one\n", 1, 8, "cairn", "found 'one', expected 1" },
        { HEAD "title: [a]\n", 3, 8, "title", "found a list of 1, expected a text" },
        { HEAD "title: 0123456789012345678901234567890123456789012345678901234567890123456789"
               "0123456789012345678901234567890123456789012345678901234567\n",
          3, 8, "title", "found 128 bytes of text, expected at most 127" },
        { HEAD "materials: [rock]\n", 3, 12, "materials", "expected a mapping" },
        { HEAD "materials: {rock: 3}\n", 3, 19, "materials.rock", "found 3, expected a mapping" },
        { HEAD "materials: {\"\": {}}\n", 3, 13, "materials.", "expected a name" },
        { HEAD "materials:\n  a: {}\n  b: {}\n  a: {}\n", 6, 3, "materials.a",
          "the key 'a' is given twice" },
        { HEAD "materials: {a: {}, b: {}}\nbodies: [{shape: {sphere: {radius: 1}}}]\n", 4, 10,
          "bodies.0.material", "the key 'material' is missing: there are 2 materials" },
        { HEAD "materials: {rock: {}}\nbodies: [{shape: {sphere: {radius: 1}}, material: rok}]\n",
          4, 51, "bodies.0.material", "unknown material 'rok'; did you mean 'rock'?" },
        { HEAD "pairs: [{materials: [default], friction: 1}]\n", 3, 21, "pairs.0.materials",
          "expected a list of two materials" },
        { HEAD "pairs: [{materials: [default, stone]}]\n", 3, 31, "pairs.0.materials.1",
          "unknown material 'stone'" },
        { HEAD "pairs: [{friction: 1}]\n", 3, 9, "pairs.0.materials", "'materials' is missing" },
        { HEAD "pairs:\n  - {materials: [default, default]}\n  - {materials: [default, default]}\n",
          5, 17, "pairs.1.materials", "the pair 'default', 'default' is given twice" },
        { HEAD "pairs: {a: 1}\n", 3, 8, "pairs", "expected a list of pairs of materials" },
    };
    CHECK_REFUSED(table);
}

/* 1 s in steps of 2^-53 s = 1.1e-16 s are as many as can be counted; half of that is refused, and
 * so are all those that never end. */
TEST(steps_that_cannot_be_counted_are_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: 1e-300, duration: 1}\n", 2, 18, "run.time_step",
          "found 1e-300 s for a duration of 1 s, expected at least 1.11e-16 s" },
        { "cairn: 1\nrun: {time_step: 5.5e-17, duration: 1}\n", 2, 18, "run.time_step",
          "a run has at most 2^53 (9e15) steps" },
        { "cairn: 1\nrun: {time_step: 1e-3, duration: 1e300}\n", 2, 18, "run.time_step",
          "found 0.001 s for a duration of 1e+300 s" },
    };
    CHECK_REFUSED(table);
    cairn_scene_destroy(
        scene_text_good("cairn: 1\nrun: {time_step: 1.2e-16, duration: 1}\n", NULL));
}

/* An exact scheme for friction laws; the ball of MOVING gets h g mu(1 m/s), the plane's speed. */
#define EXACT   "cairn: 1\nrun: {time_step: 1e-3, duration: 1, scheme: coulomb, tolerance: 1e-10}\n"
#define FALLING "{friction_law: {stribeck: {static: 0.5, dynamic: 0.1, speed: 0.3, exponent: 1}}}"

TEST(friction_laws_are_read_and_the_smaller_one_counts_at_each_speed)
{
    double fast = 0.1 + 0.4 * exp(-1 / 0.3), push = 9.81e-3;
    const char *const texts[] = {
        EXACT "materials: {a: " FALLING ", b: {friction: 0.9}}\n" MOVING,
        EXACT "materials: {a: " FALLING ", b: {friction: 0.05}}\n" MOVING,
        EXACT "materials: {a: {friction: 0.9}, b: {friction_law: {table: {speeds: [0, 2], values: "
              "[0.6, 0.2]}}}}\n" MOVING,
        EXACT "materials: {a: {friction: 0.9}, b: " FALLING "}\n"
              "pairs: [{materials: [a, b], restitution: 0.1}]\n" MOVING,
        EXACT "materials: {a: {friction: 0.9}, b: " FALLING "}\n"
              "pairs: [{materials: [a, b], friction: 0.3}]\n" MOVING,
        EXACT "materials: {a: {}, b: {}}\n"
              "pairs: [{materials: [a, b], friction_law: {stribeck: {static: 0.7, dynamic: 0.2, "
              "speed: 1e-3}}}]\n" MOVING,
        EXACT
        "materials: {a: {friction: 0.4, friction_law: constant}, b: {friction: 0.9}}\n" MOVING,
    };
    const double mu[] = { fast, 0.05, 0.4, fast, 0.3, 0.2, 0.4 };
    for (int i = 0; i < 7; i++) /* sliding slows down by 1 % in the step */
        CHECK_CLOSE(speed_after_a_step(texts[i]), push * mu[i], 0.02);
}

TEST(bad_friction_laws_are_refused_at_their_place)
{
    static const refused table[] = {
        { EXACT
          "materials:\n  a: {friction: 1, friction_law: {table: {speeds: [0], values: [1]}}}\n",
          4, 20, "materials.a.friction_law", "found both 'friction' and 'friction_law'" },
        { EXACT "materials:\n  a: {friction_law: {table: {speeds: [0, 1], values: [1, 2]}}}\n", 4,
          54, "materials.a.friction_law.table.values",
          "entry 2 is 2, expected at most 1 before it" },
        { EXACT "materials:\n  a: {friction_law: {stribeck: {static: 1, dynamic: 2, speed: 1}}}\n",
          4, 53, "materials.a.friction_law.stribeck.dynamic", "found 2, expected at most 1" },
        { EXACT "materials: {a: {friction_law: stribek}}\n", 3, 31, "materials.a.friction_law",
          "unknown friction_law 'stribek'; did you mean 'stribeck'?" },
        { EXACT "materials: {a: {friction_law: stribeck}}\n", 3, 31,
          "materials.a.friction_law.static", "the key 'static' is missing" },
        { EXACT "materials: {a: {restitution_law: poison}}\n", 3, 34, "materials.a.restitution_law",
          "unknown restitution_law 'poison'; did you mean 'poisson'?" },
    };
    CHECK_REFUSED(table);
}

/* convex is the scheme when none is given */
TEST(a_convex_scheme_with_a_friction_law_is_refused_before_it_runs)
{
    const refused told = { "cairn: 1\nmaterials: {a: " FALLING "}\n"
                           "run: {time_step: 1e-3, duration: 1, scheme: convex}\n",
                           3, 45, "run.scheme", "expected a scheme of exact Coulomb friction" };
    check_refused(&told, CAIRN_UNSUPPORTED, NULL);
}

TEST(surfaces_are_read_with_materials_pairs_and_bodies)
{
    cairn_scene *s = scene_text_good(
        HEAD "materials:\n"
             "  a: {friction: 0.2, friction_2: 0.4, adhesion: 3, adhesion_range: 0.01}\n"
             "  b: {rolling_friction: 0.01, spinning_friction: 0.02}\n"
             "pairs: [{materials: [a, b], adhesion: 7}]\n"
             "bodies:\n"
             "  - {motion: fixed, material: a, shape: half_space, surface_velocity: [1, 2, 3],\n"
             "     friction_axis: [4, 5, 6]}\n",
        NULL);
    cairn_material_def a, pair;
    CHECK_OK(cairn_material_pair_get(s->world, 0, 0, &a));
    CHECK_OK(cairn_material_pair_get(s->world, 0, 1, &pair));
    CHECK_NEAR(a.friction_2, 0.4, 0);
    CHECK_NEAR(a.adhesion_range, 0.01, 0);
    CHECK_NEAR(pair.adhesion, 7, 0);
    CHECK_NEAR(pair.rolling_friction, 0, 0);
    cairn_surface_laws laws = cairn_world_surface_laws(s->world);
    CHECK(laws.anisotropic && laws.adhesive && laws.rolling && laws.spinning && laws.moving);
    CHECK_NEAR(cairn_world_bodies(s->world).surface_velocity[0].y, 2, 0);
    CHECK_NEAR(cairn_world_bodies(s->world).friction_axis[0].z, 6, 0);
    cairn_scene_destroy(s);
}

TEST(what_does_not_go_with_rolling_friction_is_refused_at_its_place)
{
    const refused scheme = { "cairn: 1\nmaterials: {a: {rolling_friction: 0.1}}\n"
                             "run: {time_step: 1e-3, duration: 1, scheme: fixed-point}\n",
                             3, 45, "run.scheme", "expected one that treats rolling" };
    const refused flat = { "cairn: 1\ndimension: 2\nrun: {time_step: 1e-3, duration: 1}\n"
                           "materials: {a: {spinning_friction: 0.1}}\n",
                           4, 36, "materials.a.spinning_friction", "found 0.1, expected 0 in 2D" };
    const refused belt = {
        HEAD "bodies: [{shape: {sphere: {radius: 1}}, surface_velocity: [1, 0, 0]}]\n", 3, 59,
        "bodies.0.surface_velocity", "only a fixed or driven body"
    };
    check_refused(&scheme, CAIRN_UNSUPPORTED, NULL);
    check_refused(&flat, CAIRN_BAD_INPUT, NULL);
    check_refused(&belt, CAIRN_BAD_INPUT, NULL);
}

int main(void)
{
    RUN(CASE(a_pair_of_materials_overrules_the_smaller_values),
        CASE(without_materials_there_is_one_called_default), CASE(gravity_points_down_in_2d_too),
        CASE(bad_tops_are_refused), CASE(steps_that_cannot_be_counted_are_refused),
        CASE(friction_laws_are_read_and_the_smaller_one_counts_at_each_speed),
        CASE(bad_friction_laws_are_refused_at_their_place),
        CASE(a_convex_scheme_with_a_friction_law_is_refused_before_it_runs),
        CASE(surfaces_are_read_with_materials_pairs_and_bodies),
        CASE(what_does_not_go_with_rolling_friction_is_refused_at_its_place));
}
