/* test_motion.c - a number that is not finite ends the step that makes it, and nothing else. */
#include "run_scene.h"
#include "worlds.h"

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

int main(void)
{
    RUN(CASE(a_step_that_overflows_fails_and_leaves_the_world_as_it_was),
        CASE(a_driven_wall_that_moves_faster_than_numbers_is_refused),
        CASE(a_run_that_overflows_keeps_all_before),
        CASE(a_scene_cannot_start_beyond_what_numbers_hold));
}
