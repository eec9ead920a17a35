/* test_run_frame.c - bodies packed into rows that they keep. */
#include "io/run_frame.h"
#include "run_scene.h"

TEST(rows_equal_indices_while_nothing_is_removed)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.bodies, 4);
    CHECK_INT(frame.fresh, 4);
    CHECK_INT(frame.contacts, 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(frame.index[i], i);
    CHECK_INT(frame.kind[0], CAIRN_SHAPE_HALF_SPACE);
    CHECK_INT(frame.facts.motion[0], CAIRN_MOTION_FIXED);
    CHECK_NEAR(frame.radius[3], 0.1, 0);
    CHECK_NEAR(frame.state.x[3].z, 0.4, 0);
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.fresh, 0);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(a_body_in_the_place_of_a_removed_one_gets_a_row_of_its_own)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_body_id old = add_sphere(s.world, 0.2, (cairn_vec3){ 5, 0, 1 });
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_OK(cairn_body_destroy(s.world, old));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.bodies, 4);
    cairn_body_id young = add_sphere(s.world, 0.3, (cairn_vec3){ 5, 0, 1 });
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.bodies, 5);
    CHECK_INT(frame.fresh, 1);
    CHECK_NEAR(frame.radius[0], 0.3, 0);
    CHECK_INT(frame.index[4], 5); /* row 4 was the old one's */
    CHECK_INT(frame.slot[4], cairn_body_row(s.world, young));
    CHECK_INT(frame.facts.uid[0], young.uid);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(contacts_name_rows)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s.world, &s.step, &report));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.contacts, report.candidates);
    CHECK(frame.contacts >= 1);
    for (size_t k = 0; k < 2 * frame.contacts; k++)
        CHECK_INT(frame.pair[k], frame.touch.body[k]);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(detail_holds_biases_loads_and_poses_of_driven_bodies)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_step_report report;
    cairn_body_id id;
    cairn_driver drive = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = cairn_body_def_default();
    drive.velocity = (cairn_vec3){ 2, 0, 0 };
    load.force = (cairn_vec3){ 0, 7, 0 };
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.position = (cairn_vec3){ 8, 0, 3 };
    def.loads = &load;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(s.world, &def, &id)); /* body 4 */
    def.position.x = 9;
    def.motion = CAIRN_MOTION_DRIVEN;
    def.load_count = 0;
    def.drivers = &drive;
    def.driver_count = 1;
    CHECK_OK(cairn_body_create(s.world, &def, &id)); /* body 5 */
    s.step.scheme = "moreau-jean";
    CHECK_OK(cairn_world_step(s.world, &s.step, &report));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_OK(cairn_run_frame_detail(s.world, &arena, &frame));
    CHECK_INT(frame.loads, 1);
    CHECK_INT(frame.load_body[0], 4);
    CHECK_NEAR(frame.force[0].y, 7, 0);
    CHECK_INT(frame.poses, 1);
    CHECK_INT(frame.pose_body[0], 5);
    CHECK_NEAR(frame.pose_x[0].x, 9 + 2 * 2.5e-3, 1e-15); /* half a step of 5 ms on */
    CHECK(frame.contacts == 0 || frame.bias != NULL);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

/* Joint 0 between bodies 1 and 2, joint 1 between body 3 and the world. */
TEST(joints_name_rows_and_keep_theirs)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_bodies bodies = cairn_world_bodies(s.world);
    cairn_joint_def def = cairn_joint_def_default();
    def.a = (cairn_body_id){ bodies.uid[1] };
    def.b = (cairn_body_id){ bodies.uid[2] };
    CHECK_OK(cairn_joint_create(s.world, &def, NULL));
    def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_FIXED;
    def.a = (cairn_body_id){ bodies.uid[3] };
    def.anchor = (cairn_vec3){ 2, 0, 0.9 };
    CHECK_OK(cairn_joint_create(s.world, &def, NULL));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.joint.count, 2);
    CHECK_INT(frame.joint.fresh, 2);
    CHECK_INT(frame.joint.kind[1], CAIRN_JOINT_FIXED);
    const int pairs[4] = { 1, 2, 3, -1 };
    for (int k = 0; k < 4; k++)
        CHECK_INT(frame.joint.pair[k], pairs[k]);
    CHECK_NEAR(frame.joint.point[1].z, 0.9, 1e-15);
    CHECK_NEAR(frame.joint.point_b[1].z, 0.9, 1e-15);
    CHECK_OK(cairn_body_destroy(s.world, def.a)); /* takes joint 1 along */
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.joint.count, 1);
    CHECK_INT(frame.joint.index[0], 0);
    CHECK_INT(frame.joint.fresh, 0);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}
int main(void)
{
    RUN(CASE(rows_equal_indices_while_nothing_is_removed),
        CASE(a_body_in_the_place_of_a_removed_one_gets_a_row_of_its_own), CASE(contacts_name_rows),
        CASE(detail_holds_biases_loads_and_poses_of_driven_bodies),
        CASE(joints_name_rows_and_keep_theirs));
}
