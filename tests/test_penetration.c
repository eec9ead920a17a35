/* test_penetration.c - the penetration that a step reports is the deepest overlap of any two bodies
 * where it leaves them, as a search over all pairs finds it afterwards. */
#include "run_scene.h"
#include "worlds.h"

static const char *const compounds =
    "cairn: 1\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {inside_box: {size: [1, 1, 1]}}}\n"
    "  - shape: {compound: {parts: [{shape: {box: {size: [0.3, 0.1, 0.1]}}},\n"
    "                               {shape: {sphere: {radius: 0.08}}, position: [0.2, 0, 0]}]}}\n"
    "    position: [0, 0, -0.2]\n"
    "    velocity: [1, 0.7, -1]\n"
    "    angular_velocity: [4, 3, 2]\n"
    "  - shape: {compound: {parts: [{shape: {capsule: {radius: 0.05, length: 0.2}}},\n"
    "                               {shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, "
    "0.15]}]}}\n"
    "    position: [0.2, 0.1, 0.2]\n"
    "    velocity: [-1, 0, -2]\n"
    "    angular_velocity: [1, -6, 2]\n"
    "run: {time_step: 4e-3, duration: 1, tolerance: 1e-6}\n";

static const char *const faces =
    "cairn: 1\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - motion: fixed\n"
    "    shape: {height_field: {spacing: 0.5, heights: [[0, 0, 0.05], [0, 0.02, 0], [0.05, 0, "
    "0]]}}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0.3, 0.3, 0.3], angular_velocity: [1, "
    "2, 3]}\n"
    "  - {shape: {cylinder: {radius: 0.1, height: 0.2}}, position: [0.6, 0.7, 0.3],\n"
    "     angular_velocity: [3, -2, 1]}\n"
    "run: {time_step: 4e-3, duration: 1, tolerance: 1e-6}\n";

/* Balls on a plane that turns about the x axis by 0.08 rad a step. */
static const char *const turning =
    "cairn: 1\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - motion: driven\n"
    "    shape: half_space\n"
    "    drivers: [{rotation: {angular_velocity: [8, 0, 0]}}]\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0, 1, 0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0.3, 0.5, 0.1]}\n"
    "run: {time_step: 0.01, duration: 1, tolerance: 1e-9}\n";

/* The largest error of the penetration of a step, and the deepest of all, over some steps. */
static double worst_error(const char *text, const char *scheme, int steps, double *most)
{
    folder f = folder_create();
    cairn_scene *scene;
    cairn_error error = { 0 };
    double worst = 0;
    *most = 0;
    file_write(&f, "scene.yaml", text);
    if (cairn_scene_load(path_in(&f, "scene.yaml").text, NULL, 0, &scene, &error) != CAIRN_OK)
        fail_msg("%d: %s: %s", error.line, error.key, error.message);
    scene->step.scheme = scheme;
    for (int k = 0; k < steps; k++) {
        cairn_step_report report;
        double depth, share;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK_OK(cairn_world_overlap_share(scene->world, &share, &depth, NULL, NULL));
        CHECK_NEAR(report.overlap, share, 1e-14);
        CHECK_OK(cairn_world_overlap(scene->world, &depth, NULL, NULL));
        worst = fmax(worst, fabs(report.certificate.penetration - depth));
        *most = fmax(*most, depth);
    }
    cairn_scene_destroy(scene);
    folder_remove(f.path);
    return worst;
}

/* Its contacts are those that overlap at mid-step: others were left out. */
TEST(penetration_is_true_where_contacts_are_left_out)
{
    double most;
    CHECK(worst_error(compounds, "moreau-jean", 250, &most) <= 1e-15);
    CHECK(most > 1e-3);
}

TEST(penetration_is_true_between_parts)
{
    double most;
    CHECK(worst_error(compounds, "coulomb", 250, &most) <= 1e-15);
    CHECK(worst_error(compounds, "convex", 250, &most) <= 1e-15);
}

TEST(penetration_is_true_on_faces)
{
    double most;
    CHECK(worst_error(faces, "coulomb", 250, &most) <= 1e-15);
    CHECK(worst_error(faces, "moreau-jean", 250, &most) <= 1e-15);
    CHECK(most > 1e-4);
}

/* 0.08 rad at 1 m: the ball is lifted from z = 0.1 to 0.18 m, as far as the gap along the old normal
 * asks, and is then 0.18 cos 0.08 - sin 0.08 = 0.0995 m from the plane: 5e-4 m deep. */
TEST(penetration_is_true_on_a_plane_that_turns)
{
    double most;
    CHECK(worst_error(turning, "convex", 20, &most) <= 1e-15);
    CHECK(most > 1e-4);
}

int main(void)
{
    RUN(CASE(penetration_is_true_where_contacts_are_left_out),
        CASE(penetration_is_true_between_parts), CASE(penetration_is_true_on_faces),
        CASE(penetration_is_true_on_a_plane_that_turns));
}
