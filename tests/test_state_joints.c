/* test_state_joints.c - joints to bytes and back: turns counted, gears slipped, springs wound up,
 * one of them torn. */
#include "saved_world.h"

#include "cairn/joint.h"

TEST(joints_go_on_with_the_same_bits)
{
    static const int before[] = { 0, 1, 25, 40 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        cairn_scene *scene = scene_text_good(scene_machine, NULL);
        check_goes_on(scene, before[i], 30);
        cairn_scene_destroy(scene);
    }
}

/* What joints alone hold starts from the joint forces of the step before. */
TEST(swinging_bodies_go_on_with_the_same_bits)
{
    static const char *const text =
        "cairn: 1\n"
        "bodies:\n"
        "  - {name: top, shape: {sphere: {radius: 0.02}}, mass: 1, inertia: [0.004, 0.005, "
        "0.002],\n"
        "     position: [0, 0.1, 2], velocity: [0.1, 0, 0], angular_velocity: [0, 40, 60]}\n"
        "joints: [{ball: {a: top, anchor: [0, 0, 2]}}]\n"
        "run: {scheme: coulomb, tolerance: 1e-8, time_step: 1e-3, duration: 1}\n";
    cairn_scene *scene = scene_text_good(text, NULL);
    check_goes_on(scene, 25, 30);
    cairn_scene_destroy(scene);
}

static bool same_vector(cairn_vec3 a, cairn_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

TEST(joints_look_the_same)
{
    cairn_scene *scene = scene_text_good(scene_machine, NULL);
    advance(scene->world, &scene->step, 40);
    saved s = save(scene->world);
    cairn_world *copy = load(&s);
    int torn = 0, moved = 0, count = cairn_world_joint_count(scene->world);
    CHECK_INT(count, 10);
    CHECK_INT(cairn_world_joint_count(copy), 10);
    for (int i = 0; i < count; i++) {
        cairn_joint_state a = cairn_world_joint(scene->world, i), b = cairn_world_joint(copy, i);
        CHECK(a.alive == b.alive && a.broken == b.broken && a.kind == b.kind);
        CHECK(a.turn == b.turn && a.slide == b.slide && a.elastic == b.elastic);
        CHECK(same_vector(a.force, b.force) && same_vector(a.torque, b.torque));
        CHECK(same_vector(a.point, b.point) && same_vector(a.point_b, b.point_b));
        CHECK(a.drift == b.drift && a.turn_drift == b.turn_drift);
        torn += a.broken;
        moved += a.turn != 0;
    }
    CHECK_INT(torn, 1);
    CHECK(moved >= 3);
    cairn_world_destroy(copy);
    cairn_scene_destroy(scene);
    free(s.data);
}

/* A pendulum that was turned round three times knows it; a joint that was removed stays away, and
 * ids keep their meaning. */
TEST(ids_and_counted_turns_stay)
{
    cairn_world *world = world_create(2);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id kept, gone;
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-2;
    options.scheme = "coulomb";
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a = add_sphere(world, 0.1, (cairn_vec3){ 0, 0, 0 });
    def.turn.motor = "velocity";
    def.turn.target = 20;
    CHECK_OK(cairn_joint_create(world, &def, &kept));
    CHECK_OK(cairn_joint_create(world, &def, &gone));
    CHECK_OK(cairn_joint_destroy(world, gone));
    advance(world, &options, 100);
    saved s = save(world);
    cairn_world *copy = load(&s);
    CHECK_NEAR(cairn_world_joint(copy, kept.index).turn, 20, 1e-6);
    CHECK_INT(cairn_joint_destroy(copy, gone), CAIRN_NOT_FOUND);
    CHECK_OK(cairn_joint_aim(copy, kept, true, -20));
    advance(copy, &options, 100);
    CHECK_NEAR(cairn_world_joint(copy, kept.index).turn, 0, 1e-6);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
    free(s.data);
}

TEST(damaged_bytes_of_joints_do_no_harm)
{
    cairn_scene *scene = scene_text_good(scene_machine, NULL);
    advance(scene->world, &scene->step, 30);
    saved s = save(scene->world);
    check_damage_does_no_harm(&s, 211);
    cairn_scene_destroy(scene);
    free(s.data);
}

TEST(without_memory_no_joint_is_left)
{
    cairn_scene *scene = scene_text_good(scene_machine, NULL);
    saved s = save(scene->world);
    check_without_memory(&s);
    cairn_scene_destroy(scene);
    free(s.data);
}

int main(void)
{
    RUN(CASE(joints_go_on_with_the_same_bits), CASE(swinging_bodies_go_on_with_the_same_bits),
        CASE(joints_look_the_same), CASE(ids_and_counted_turns_stay),
        CASE(damaged_bytes_of_joints_do_no_harm), CASE(without_memory_no_joint_is_left));
}
