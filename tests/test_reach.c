/* test_reach.c - how far candidates reach: far enough that steps are rarely solved twice, and no
 * further than what bodies can push each other. */
#include "cairn/cairn.h"
#include "check.h"
#include "scene_text.h"

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

int main(void)
{
    RUN(CASE(balls_that_are_poured_rarely_outrun_their_candidates),
        CASE(a_plate_that_slides_past_makes_no_candidates_between_balls));
}
