/* test_run_joints.c - what joints are and their rows, as a frame holds them. */
#include "small_world.h"

#include "io/run_columns.h"

/* Two balls, 0 and 1 m along x. */
static cairn_world *two_balls(cairn_body_id ids[2])
{
    cairn_world *world = world_create(3);
    for (int i = 0; i < 2; i++)
        ids[i] = add_sphere(world, 0.1, (cairn_vec3){ i, 0, 0 });
    return world;
}

/* The number of the column `name` of the first fresh joint. */
static double number_of(const cairn_run_frame *frame, const char *name)
{
    const cairn_run_sources list = cairn_run_joint_sources();
    for (int i = 0; i < list.count; i++) {
        const cairn_run_source *column = &list.items[i];
        const double *numbers;
        if (strcmp(column->name, name) != 0 || column->type != CAIRN_HDF5_REAL)
            continue;
        memcpy(&numbers, (const char *)frame + column->offset, sizeof numbers);
        return numbers[0];
    }
    fail_msg("there is no column %s", name);
    return 0;
}

/* A slider with a motor: 5 rows that hold, an upper limit, the motor and friction. */
TEST(a_joint_is_stored_with_all_that_its_rows_are_made_of)
{
    cairn_body_id ids[2];
    cairn_world *world = two_balls(ids);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_PRISMATIC;
    def.a = ids[0];
    def.b = ids[1];
    def.anchor = (cairn_vec3){ 0.25, 0, 0 };
    def.slide.upper = 0.5;
    def.slide.motor = "velocity";
    def.slide.target = 2;
    def.slide.effort = 7;
    def.slide.friction = 0.125;
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    CHECK_OK(cairn_run_frame_take(world, &roll, &arena, &frame));
    CHECK_NEAR(frame.joint.anchor_a[0].x, 0.25, 0);
    CHECK_NEAR(frame.joint.anchor_b[0].x, -0.75, 0);
    CHECK_INT(frame.joint.slide_motor[0], CAIRN_MOTOR_VELOCITY);
    CHECK_INT(frame.joint.turn_motor[0], CAIRN_MOTOR_NONE);
    CHECK_NEAR(number_of(&frame, "slide_upper"), 0.5, 0);
    CHECK_NEAR(number_of(&frame, "slide_effort"), 7, 0);
    CHECK_NEAR(number_of(&frame, "slide_friction"), 0.125, 0);
    CHECK(number_of(&frame, "slide_lower") == -INFINITY);
    CHECK_NEAR(frame.joint.slide_target[0], 2, 0);
    CHECK_INT(frame.joint.rows, 0); /* no step yet */

    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = 1e-2;
    options.tolerance = 1e-10;
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK_OK(cairn_run_frame_take(world, &roll, &arena, &frame));
    CHECK_INT(frame.joint.fresh, 0);
    CHECK_INT(frame.joint.rows, 8);
    CHECK_INT(frame.joint.row_joint[7], 0);
    /* friction against the motion, at its bound: -h 0.125 N */
    CHECK_NEAR(frame.joint.row_impulse[7], -1.25e-3, 1e-12);
    CHECK_NEAR(frame.joint.row_correction[0], 0, 0);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

TEST(a_joint_that_is_not_there_has_the_default_setup)
{
    cairn_body_id ids[2];
    cairn_world *world = two_balls(ids);
    cairn_joint_setup setup = cairn_world_joint_setup(world, 3);
    CHECK_INT(setup.def.kind, CAIRN_JOINT_BALL);
    CHECK(setup.def.a.uid == CAIRN_NO_BODY);
    CHECK_NEAR(setup.frame[1].w, 1, 0);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(a_joint_is_stored_with_all_that_its_rows_are_made_of),
        CASE(a_joint_that_is_not_there_has_the_default_setup));
}
