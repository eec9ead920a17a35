/* test_loops.c - mechanisms with loops and redundant joints, and joints that begin where they
 * cannot stay. */
#include <math.h>

#include "cairn/cairn.h"
#include "cairn/joint.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

typedef struct block {
    cairn_vec3 size, x, v, w; /* m, m, m/s, rad/s */
    double mass;              /* kg               */
} block;

static cairn_body_id add_block(cairn_world *world, int dimension, block b)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, dimension);
    def.shape.size = b.size;
    def.mass = b.mass;
    def.position = b.x;
    def.velocity = b.v;
    def.angular_velocity = b.w;
    def.group = 1;
    def.mask = 0;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

static void join(cairn_world *world, cairn_joint_kind kind, cairn_body_id a, cairn_body_id b,
                 cairn_vec3 anchor)
{
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.a = a;
    def.b = b;
    def.anchor = anchor;
    CHECK_OK(cairn_joint_create(world, &def, NULL));
}

static const cairn_body_id world_itself = { CAIRN_NO_BODY };

/* ---- loops ------------------------------------------------------------------------------------ */

/* Three blocks welded in a ring, one weld too many, that fly and turn with w about their centre of
 * mass. At mid-step the welds contradicted each other by h^2, and the solution of all of them was
 * that nothing moves: within 2 s the ring stood still, certified. */
TEST(a_welded_ring_goes_on_turning)
{
    const cairn_vec3 at[] = { { 0, 0, 0 }, { 0.35, 0.05, 0.02 }, { 0.2, 0.3, 0.1 } };
    const double mass[] = { 1, 2, 1.5 };
    const cairn_vec3 w = { 1, 2, 3 }, centre = { 1 / 4.5, 0.55 / 4.5, 0.19 / 4.5 };
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(8e-3, "coulomb", 1e-3);
    cairn_body_id id[3];
    for (int k = 0; k < 3; k++)
        id[k] = add_block(world, 3,
                          (block){ .size = { 0.3, 0.1, 0.06 },
                                   .x = at[k],
                                   .v = cairn_cross(w, cairn_sub(at[k], centre)),
                                   .w = w,
                                   .mass = mass[k] });
    join(world, CAIRN_JOINT_FIXED, id[0], id[1], (cairn_vec3){ 0.17, 0, 0 });
    join(world, CAIRN_JOINT_FIXED, id[1], id[2], (cairn_vec3){ 0.3, 0.2, 0.05 });
    join(world, CAIRN_JOINT_FIXED, id[2], id[0], (cairn_vec3){ 0.1, 0.2, 0.1 });
    double before = total_energy(world);
    advance(world, &options, 250);
    CHECK_NEAR(total_energy(world), before, 0.01 * before);
    cairn_world_destroy(world);
}

/* A bar on three parallel cranks, one too many, in 2D. It stood still after 2 s with 61 J gone. */
TEST(a_bar_on_three_cranks_swings)
{
    static const double at[] = { 0, 0.5, 1.2 };
    cairn_world *world = new_world(2, 9.81, 0, 0);
    cairn_step_options options = step_by(2e-3, "coulomb", 1e-3);
    cairn_body_id bar = add_block(
        world, 2,
        (block){ .size = { 1.3, 0.05, 0 }, .x = { 0.5, -0.4, 0 }, .v = { 1.2, 0, 0 }, .mass = 65 });
    for (int k = 0; k < 3; k++) {
        const block crank = { .size = { 0.05, 0.4, 0 },
                              .x = { at[k], -0.2, 0 },
                              .v = { 0.6, 0, 0 },
                              .w = { 0, 0, 3 },
                              .mass = 20 };
        cairn_body_id id = add_block(world, 2, crank);
        join(world, CAIRN_JOINT_REVOLUTE, id, world_itself, (cairn_vec3){ at[k], 0, 0 });
        join(world, CAIRN_JOINT_REVOLUTE, id, bar, (cairn_vec3){ at[k], -0.4, 0 });
    }
    double before = total_energy(world), kinetic = 0;
    advance(world, &options, 500);
    for (int k = 0; k < 500; k++)
        kinetic = fmax(kinetic, advance(world, &options, 1).energy.kinetic);
    CHECK_NEAR(total_energy(world), before, 1);
    CHECK(kinetic > 50);
    cairn_world_destroy(world);
}

/* A body that two hinges about different axes lock, without gravity: what rounding leaves of their
 * defects is nothing that moves, and no step misses its tolerance. */
TEST(what_joints_lock_is_at_rest_exactly)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(1e-2, "coulomb", 1e-3);
    cairn_body_id id = add_block(world, 3, (block){ .size = { 0.3, 0.1, 0.06 }, .mass = 1 });
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a = id;
    def.anchor = (cairn_vec3){ 0.1, 0.2, 0.3 };
    def.axis = (cairn_vec3){ 1, 2, 3 };
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    def.anchor.x = -0.1;
    def.axis = (cairn_vec3){ 0, 1, 1 };
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    for (int k = 0; k < 20; k++) {
        cairn_step_report report = advance(world, &options, 1);
        CHECK_NEAR(report.energy.kinetic, 0, 0);
    }
    cairn_world_destroy(world);
}

/* ---- joints apart ------------------------------------------------------------------------------ */

/* Two blocks on a ball joint that turn by 0.45 rad in a step. The joint may correct only a part of
 * what it drifts, and drifted on to 0.47 m: steps in which it does so beyond a tenth of the block
 * are divided. */
TEST(a_joint_that_drifts_on_divides_the_step)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(16e-3, "coulomb", 1e-10);
    const block one = { .size = { 0.3, 0.1, 0.06 },
                        .v = { 0, 0.5438447, -0.55263236 },
                        .w = { 24.936, 12.5257, 5.144 },
                        .mass = 1 };
    const block two = { .size = { 0.3, 0.1, 0.06 },
                        .x = { 0.32, 0, 0 },
                        .v = { 0, -0.05438447, 0.055263236 },
                        .w = { 8.1256, -16.325, -8.883 },
                        .mass = 10 };
    cairn_body_id a = add_block(world, 3, one), b = add_block(world, 3, two);
    join(world, CAIRN_JOINT_BALL, a, b, (cairn_vec3){ 0.16, 0, 0 });
    double before = total_energy(world);
    for (int k = 0; k < 250; k++)
        CHECK(advance(world, &options, 1).certificate.joint_drift < 0.03);
    CHECK(total_energy(world) < before);
    cairn_world_destroy(world);
}

/* A rope that is 0.1 m too short: it draws its bodies together slowly, and makes no energy. (100 J
 * in a step of 5 ms.) */
TEST(a_rope_that_is_too_short_makes_no_energy)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(5e-3, "coulomb", 1e-3);
    cairn_joint_def rope = cairn_joint_def_default();
    rope.kind = CAIRN_JOINT_ROPE;
    rope.a = add_block(world, 3, (block){ .size = { 0.3, 0.1, 0.1 }, .x = { 2, 0, 0 }, .mass = 1 });
    rope.b = add_block(world, 3, (block){ .size = { 0.3, 0.1, 0.1 }, .mass = 1 });
    rope.anchor.x = 2;
    rope.length = 1.9;
    CHECK_OK(cairn_joint_create(world, &rope, NULL));
    double fastest = 0;
    for (int k = 0; k < 2000; k++)
        fastest = fmax(fastest, advance(world, &options, 1).energy.kinetic);
    CHECK(fastest < 1e-3);
    CHECK(cairn_world_bodies(world).x[0].x - cairn_world_bodies(world).x[1].x < 1.91);
    cairn_world_destroy(world);
}

/* A position motor with all defaults is at its target after one step. That is divided, and its
 * substeps go there together: with 1/h of a substep for its speed no division helped, and the run
 * was refused. */
TEST(a_position_motor_without_bounds_arrives_in_a_step)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    cairn_step_options options = step_by(5e-3, "coulomb", 1e-3);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a =
        add_block(world, 3, (block){ .size = { 0.3, 0.1, 0.1 }, .x = { 0.3, 0, 0 }, .mass = 1 });
    def.axis = (cairn_vec3){ 0, 1, 0 };
    def.turn.motor = "position";
    def.turn.target = 1;
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.substeps > 1);
    advance(world, &options, 20);
    CHECK_NEAR(cairn_world_joint(world, 0).turn, 1, 1e-6);
    cairn_world_destroy(world);
}

GROUP(test_loops)
{
    RUN(CASE(a_welded_ring_goes_on_turning), CASE(a_bar_on_three_cranks_swings),
        CASE(what_joints_lock_is_at_rest_exactly), CASE(a_joint_that_drifts_on_divides_the_step),
        CASE(a_rope_that_is_too_short_makes_no_energy),
        CASE(a_position_motor_without_bounds_arrives_in_a_step));
}
