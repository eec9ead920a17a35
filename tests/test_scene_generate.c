/* test_scene_generate.c - generators and inlets in scenes. */
#include "scene_text.h"

#define MANY            "pour: {count: 1e9, rate: 1, radius: 1, centre: [0, 0, 0], size: [9, 9, 9]}"
#define GENERATOR(text) HEAD "generators:\n  - " text "\n"

TEST(a_radius_is_a_number_or_a_distribution)
{
    static const char *const same[] = {
        GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: 0.25}"),
        GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: {constant: {value: "
                  "0.25}}}"),
        GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: {list: {values: "
                  "[0.25]}}}"),
    };
    for (int i = 0; i < 3; i++) {
        cairn_scene *s = scene_text_good(same[i], NULL);
        CHECK_NEAR(cairn_world_bodies(s->world).shapes[0].radius, 0.25, 0);
        cairn_scene_destroy(s);
    }
}

TEST(generators_work_in_file_order)
{
    cairn_scene *s = scene_text_good(
        GENERATOR(
            "pile: {rows: 2, radius: 1}\n"
            "  - pile: {rows: 1, radius: 3, origin: [9, 0]}") "dimension: 2\nbodies: [{shape: "
                                                              "{sphere: {radius: 2}}, "
                                                              "position: [-9, 0]}]\n",
        NULL);
    const cairn_bodies bodies = cairn_world_bodies(s->world);
    CHECK_INT(bodies.count, 5);
    CHECK_NEAR(cairn_bodies_shape(&bodies, 0)->radius, 2, 0);
    CHECK_NEAR(cairn_bodies_shape(&bodies, 1)->radius, 1, 0);
    CHECK_NEAR(cairn_bodies_shape(&bodies, 4)->radius, 3, 0);
    cairn_scene_destroy(s);
}

TEST(an_inlet_is_poured_while_the_scene_runs)
{
    cairn_scene *s = scene_text_good(GENERATOR("pour: {count: 3, rate: 1000, centre: [0, 0, 0], "
                                               "size: [1, 1, 1], radius: 0.1, mass: 2}"),
                                     NULL);
    cairn_step_report report;
    CHECK_INT(cairn_world_bodies(s->world).count, 0);
    CHECK_INT(cairn_world_inlet_pending(s->world), 3);
    for (int i = 0; i < 5; i++)
        CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_INT(cairn_world_bodies(s->world).count, 3);
    CHECK_NEAR(cairn_world_bodies(s->world).mass[2], 2, 0);
    cairn_scene_destroy(s);
}

TEST(an_inlet_pours_any_shape)
{
    cairn_scene *s = scene_text_good(
        GENERATOR("pour: {count: 3, rate: 1000, centre: [0, 0, 0], size: [9, 9, 9], turned: true, "
                  "shape: {box: {size: [1, 2, 3]}}}"),
        NULL);
    cairn_step_report report;
    for (int i = 0; i < 5; i++)
        CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_INT(cairn_world_bodies(s->world).count, 3);
    CHECK_NEAR(cairn_world_bodies(s->world).shapes[0].size.z, 3, 0);
    CHECK(fabs(cairn_world_bodies(s->world).q[2].w) < 0.999);
    cairn_scene_destroy(s);
}

TEST(impossible_generators_are_refused)
{
    static const refused table[] = {
        { GENERATOR("grid: {count: [1.5, 1, 1], spacing: [1, 1, 1], radius: 1}"), 4, 19,
          "generators.0.grid.count", "expected whole numbers" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 0, 1], radius: 1}"), 4, 43,
          "generators.0.grid.spacing.1", "found 0, expected a number > 0 in m" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: -1}"), 4, 58,
          "generators.0.grid.radius", "-1" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: 0}"), 4, 58,
          "generators.0.grid.radius", "found 0" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: {unifrom: {}}}"), 4, 59,
          "generators.0.grid.radius.unifrom", "did you mean 'uniform'?" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: uniform}"), 4, 58,
          "generators.0.grid.radius", "expected a number or a mapping {uniform: {...}}" },
        { GENERATOR("pile: {rows: 2, radius: {uniform: {minimum: 2, maximum: 1}}}"), 4, 61,
          "generators.0.pile.radius.uniform.maximum", "found 1, expected at least 2" },
        { GENERATOR("pile: {rows: 2, radius: {uniform: {minimum: 1, maximum: 2}}}"), 4, 29,
          "generators.0.pile.radius", "expected one number" },
        { GENERATOR("pile: {rows: 0, radius: 1}"), 4, 18, "generators.0.pile.rows",
          "found 0, expected a whole number between 1 and" },
        { GENERATOR("pile: {rows: 2, radius: 1, mass: 1, density: 1}"), 4, 41,
          "generators.0.pile.density", "found both 'mass' and 'density'" },
        { GENERATOR("pile: {rows: 1000000, radius: 1}"), 4, 11, "generators.0.pile",
          "expected at most 2147483647" },
        { GENERATOR("fill: {bodies: 2, size: [1, 1, 1], radius: 0.5}"), 4, 20,
          "generators.0.fill.bodies", "no room for body 2 of 2 after 1000 tries" },
        { GENERATOR("pour: {count: 9, rate: -1, centre: [0, 0, 0], size: [1, 1, 1], radius: 0.5}"),
          4, 28, "generators.0.pour.rate", "found -1" },
        { GENERATOR("pour: {count: 9, rate: 1, centre: [0, 0, 0]}"), 4, 11,
          "generators.0.pour.radius", "the key 'radius' is missing" },
        { GENERATOR("pour: {count: 9, rate: 1, centre: [0, 0, 0], shape: {funnel: {bottom_radius: "
                    "1, top_radius: 2, height: 1}}}"),
          4, 57, "generators.0.pour.shape", "found a funnel, expected a shape with a size" },
        { GENERATOR("pile: {rows: 2}"), 4, 11, "generators.0.pile.radius",
          "the key 'radius' is missing" },
        { GENERATOR("pile: {rows: 2, shape: {half_space: {}}}"), 4, 28, "generators.0.pile.shape",
          "found a half_space, expected a shape with a size" },
        { GENERATOR("[pile]"), 4, 5, "generators.0", "found a list of 1, expected a generator" },
        { HEAD "generators: 5\n", 3, 13, "generators", "found 5, expected a list of generators" },
        { GENERATOR(MANY "\n  - " MANY "\n  - " MANY), 6, 19, "generators.2.pour.count",
          "found more than 2147483647 bodies in all" },
    };
    CHECK_REFUSED(table);
}

int main(void)
{
    RUN(CASE(a_radius_is_a_number_or_a_distribution), CASE(generators_work_in_file_order),
        CASE(an_inlet_is_poured_while_the_scene_runs), CASE(an_inlet_pours_any_shape),
        CASE(impossible_generators_are_refused));
}
