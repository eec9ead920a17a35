/* test_default_scheme.c - what friction does when nothing is set: it neither throws what slides, nor
 * stalls, nor lets a pile fall that can stand. */
#include <math.h>
#include <string.h>

#include "cairn/cairn.h"
#include "check.h"
#include "scene_text.h"

/* What a run showed of one body. */
typedef struct travel {
    double lift;            /* m: above where it was, at most         */
    double way;             /* m: along x                             */
    int64_t missed, sweeps; /* steps; most in one          */
} travel;

static cairn_vec3 place_of(const cairn_world *world, int body)
{
    return cairn_world_bodies(world).x[body];
}

static travel travel_of(cairn_scene *scene, int body, int up)
{
    cairn_vec3 start = place_of(scene->world, body);
    travel t = { 0 };
    int64_t steps = llround(scene->run.duration / scene->step.time_step);
    for (int64_t k = 0; k < steps; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        cairn_vec3 x = place_of(scene->world, body);
        t.lift = fmax(t.lift, up == 1 ? x.y - start.y : x.z - start.z);
        t.way = x.x - start.x;
        t.missed += !report.solve.converged;
        t.sweeps = report.solve.iterations > t.sweeps ? report.solve.iterations : t.sweeps;
    }
    cairn_scene_destroy(scene);
    return t;
}

TEST(exact_friction_is_the_default_everywhere)
{
    cairn_scene *scene = scene_text_good(HEAD, NULL);
    CHECK_TEXT(scene->step.scheme, "coulomb");
    CHECK_INT(scene->step.max_iterations, 1000);
    cairn_scene_destroy(scene);
    CHECK_TEXT(cairn_step_options_default().scheme, "coulomb");
    CHECK_TEXT(cairn_lagrange_options_default().scheme, "coulomb");
}

static const char *const sliding_box =
    "cairn: 1\n"
    "materials: {m: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {axis: [0, 0, 1]}}}\n"
    "  - {shape: {box: {size: [0.4, 0.4, 0.05]}}, position: [0, 0, 0.025], velocity: [3, 0, 0]}\n"
    "run: {time_step: 1e-3, duration: 1.2}\n";

/* v^2/(2 mu g) = 1.52905 m; a step of friction more or less is v h/2. The convex law lifts it by
 * 35 mm, whatever the time step. */
TEST(a_box_that_slides_is_not_lifted)
{
    static const char *const steps[] = { "run.time_step=1e-2", "run.time_step=2.5e-3",
                                         "run.time_step=1e-3", "run.time_step=2e-4" };
    static const double h[] = { 1e-2, 2.5e-3, 1e-3, 2e-4 };
    for (int k = 0; k < 4; k++) {
        travel t = travel_of(scene_text_good(sliding_box, steps[k]), 1, 2);
        CHECK(t.lift < 1e-6);
        CHECK_NEAR(t.way, 9 / (2 * 0.3 * 9.81), 3 * h[k]);
        CHECK_INT(t.missed, 0);
    }
    CHECK(travel_of(scene_text_good(sliding_box, "run.scheme=convex"), 1, 2).lift > 0.03);
}

/* The gap that scheme auto allows and the height to which its lift throws are both at most
 * run.model_tolerance = 0.1 mm, also where the time step is small. */
TEST(the_mixed_scheme_bounds_the_height_of_a_throw)
{
    cairn_scene *scene = scene_text_good(sliding_box, "run.scheme=auto");
    scene->step.time_step = 2e-4;
    CHECK(travel_of(scene, 1, 2).lift < 2.5e-4);
}

static const char *const hit_block =
    "cairn: 1\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {axis: [0, 0, 1]}}}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.1], mass: 1}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [-0.25, 0, 0.1], mass: 2, velocity: [4, 0, "
    "0]}\n"
    "run: {time_step: 1e-3, duration: 0.8}\n";

/* With the convex law it flew 52 mm high. */
TEST(a_block_that_is_hit_does_not_fly)
{
    travel t = travel_of(scene_text_good(hit_block, NULL), 1, 2);
    CHECK(t.lift < 1e-5);
    CHECK(t.way > 0.5);
}

static const char *const pile = "cairn: 1\n"
                                "dimension: 2\n"
                                "materials: {m: {friction: 0.8}}\n"
                                "bodies:\n"
                                "  - {motion: fixed, shape: {half_space: {axis: [0, 1]}}}\n"
                                "generators:\n"
                                "  - pile: {rows: 8, origin: [0, 1], radius: 1, density: 1000}\n"
                                "run: {time_step: 5e-3, duration: 1}\n";

/* Eight rows of disks can stand from friction 0.53 on; exact friction has solutions in which they fall
 * as well. Body 1 is the first of the lowest row. */
TEST(a_pile_that_can_stand_stands)
{
    static const char *const frictions[] = { "materials.m.friction=0.8",
                                             "materials.m.friction=1.2" };
    for (int k = 0; k < 2; k++) {
        travel t = travel_of(scene_text_good(pile, frictions[k]), 1, 1);
        CHECK(fabs(t.way) < 1e-3);
        CHECK_INT(t.missed, 0);
    }
}

int main(void)
{
    RUN(CASE(exact_friction_is_the_default_everywhere), CASE(a_box_that_slides_is_not_lifted),
        CASE(the_mixed_scheme_bounds_the_height_of_a_throw), CASE(a_block_that_is_hit_does_not_fly),
        CASE(a_pile_that_can_stand_stands));
}
