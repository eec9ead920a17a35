/* test_probes.c - forces, torques and works that the options of a step ask for. */
#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

/* A probe of one body, by its row, with the torque about a point. */
static cairn_probe probe_of(const cairn_world *world, int row, cairn_vec3 about)
{
    static uint64_t uids[16];
    static int next;
    cairn_probe probe = cairn_probe_default();
    uids[next % 16] = world->bodies.uid[row];
    probe.bodies = &uids[next++ % 16];
    probe.body_count = 1;
    probe.about_point = true;
    probe.about = about;
    return probe;
}

static void ask(cairn_step_options *options, const cairn_probe *probes, int count)
{
    options->probes = probes;
    options->probe_count = count;
}

static cairn_body_id id_of(const cairn_world *world, int row)
{
    return (cairn_body_id){ world->bodies.uid[row] };
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* Five balls of 1 kg in a row rest on a floor: 5 m g downwards, and the torque of a lever: the
 * balls stand at x = 1 ... 5, so about the origin it is sum x m g = 15 m g about y. */
TEST(a_floor_carries_the_weight_of_what_rests_on_it)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-12);
    int floor = add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, cairn_vec(0, 0, 0));
    for (int i = 1; i <= 5; i++)
        add_ball(world, 0.25, cairn_vec(i, 0, 0.25), cairn_vec(0, 0, 0));
    const cairn_probe probe = probe_of(world, floor, cairn_vec(0, 0, 0));
    ask(&options, &probe, 1);
    cairn_step_report report = advance(world, &options, 20);
    CHECK_NEAR(report.readings[0].force.x, 0, 1e-12);
    CHECK_NEAR(report.readings[0].force.z, -5 * 9.81, 1e-9);
    CHECK_NEAR(report.readings[0].torque.y, 15 * 9.81, 1e-9);
    CHECK_NEAR(report.readings[0].torque.x, 0, 1e-9);
    CHECK_NEAR(report.readings[0].work, 0, 0); /* a fixed body does not move */
    cairn_world_destroy(world);
}

/* A heap with friction and rolling friction falls into a cylinder. In every step the momentum of
 * the balls changes by gravity and by minus what acts on floor and cylinder, and each ball's own
 * momenta by what acts on it; to rounding, whatever the tolerance. */
TEST(momenta_change_by_what_acts)
{
    cairn_world *world = new_heap(3, 0.4, 3);
    cairn_material_def material = { .friction = 0.4, .restitution = 0.3, .rolling_friction = 0.01,
                                    .spinning_friction = 0.005 };
    CHECK_OK(cairn_material_set(world, 0, &material));
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-3);
    const cairn_body_store *b = &world->bodies;
    double h = options.time_step;
    for (int k = 0; k < 150; k++) {
        cairn_probe probes[3] = { probe_of(world, 0, cairn_vec(0, 0, 0)),
                                  probe_of(world, 1, cairn_vec(0, 0, 0)),
                                  probe_of(world, 5, b->x[5]) };
        cairn_step_report report;
        cairn_vec3 before = { 0, 0, 0 }, after = before, v = b->v[5];
        cairn_vec3 spin = cairn_rotate(b->q[5], b->omega[5]);
        cairn_quat q = b->q[5];
        for (int i = b->held; i < b->count; i++)
            before = cairn_add_scaled(before, b->mass[i], b->v[i]);
        ask(&options, probes, 3);
        CHECK_OK(cairn_world_step(world, &options, &report));
        const cairn_probe_reading *r = report.readings;
        for (int i = b->held; i < b->count; i++)
            after = cairn_add_scaled(after, b->mass[i], b->v[i]);
        double mass = b->count - b->held;
        cairn_vec3 change = cairn_scale(1 / h, cairn_sub(after, before));
        CHECK_NEAR(change.x, -r[0].force.x - r[1].force.x, 1e-8);
        CHECK_NEAR(change.z, -r[0].force.z - r[1].force.z - mass * 9.81, 1e-8);
        CHECK_NEAR((b->v[5].z - v.z) / h + 9.81, r[2].force.z, 1e-9);
        cairn_vec3 turned = cairn_sub(cairn_rotate(q, b->omega[5]), spin);
        CHECK_NEAR(b->inertia[5].x * turned.x / h, r[2].torque.x, 1e-9);
        CHECK_NEAR(b->inertia[5].x * turned.y / h, r[2].torque.y, 1e-9);
        CHECK_NEAR(b->inertia[5].x * turned.z / h, r[2].torque.z, 1e-9);
    }
    cairn_world_destroy(world);
}

/* What adhesion pulls is part of the force: a ball hangs below a ceiling that pulls with 20 N and
 * carries 9.81 N. */
TEST(a_ceiling_that_pulls_carries_the_weight)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_material_def material = { .friction = 0.5, .adhesion = 20 };
    CHECK_OK(cairn_material_set(world, 0, &material));
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    shape.axis = cairn_vec(0, 0, -1);
    int ceiling = cairn_body_row(world, add_wall(world, shape, cairn_vec(0, 0, 1)));
    add_ball(world, 0.25, cairn_vec(0, 0, 0.75), cairn_vec(0, 0, 0));
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-12);
    const cairn_probe probe = probe_of(world, ceiling, cairn_vec(0, 0, 0));
    ask(&options, &probe, 1);
    cairn_step_report report = advance(world, &options, 10);
    CHECK_NEAR(report.readings[0].force.z, -9.81, 1e-9);
    cairn_world_destroy(world);
}

/* A driven wall that pushes, turns and has a belt: minus its work is the driver work of the ledger.
 * It is the only driven body, so that the ledger has nothing else in it. */
TEST(the_work_on_a_driven_wall_is_minus_the_driver_work)
{
    cairn_world *world = new_heap(3, 0.4, 3);
    cairn_driver drivers[2] = { cairn_driver_default(CAIRN_DRIVER_VELOCITY),
                                cairn_driver_default(CAIRN_DRIVER_ROTATION) };
    cairn_body_def def = cairn_body_def_default();
    double sum = 0, all = 0;
    drivers[0].velocity = cairn_vec(-0.3, 0, 0);
    drivers[1].angular_velocity = cairn_vec(0, 0, 1);
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = cairn_vec(0.1, 1.2, 1.2);
    def.position = cairn_vec(0.45, 0, 0.7);
    def.surface_velocity = cairn_vec(0, 0.5, 0.25);
    def.drivers = drivers;
    def.driver_count = 2;
    cairn_body_id wall;
    CHECK_OK(cairn_body_create(world, &def, &wall));
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-6);
    const cairn_probe probe = probe_of(world, cairn_body_row(world, wall), cairn_vec(0, 0, 0));
    ask(&options, &probe, 1);
    for (int k = 0; k < 400; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(world, &options, &report));
        double work = report.energy.driver_work;
        CHECK_NEAR(report.readings[0].work, -work, 1e-12 * (1 + fabs(work)));
        sum += fabs(work);
        all += report.readings[0].work;
    }
    CHECK(sum > 0.01 && all != 0); /* it did push */
    cairn_world_destroy(world);
}

/* ---- sets ----------------------------------------------------------------------------------- */

/* Forces within a set cancel: everything together feels nothing. The dynamic bodies below and above
 * a plane feel together what all of them feel; so do those of the list of both walls, with the
 * opposite sign. */
TEST(sets_of_bodies_feel_what_comes_from_outside)
{
    cairn_world *world = new_heap(3, 0.4, 4);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-4);
    const uint64_t both[] = { 0, 1 };
    cairn_probe probes[6];
    for (int k = 0; k < 6; k++)
        probes[k] = cairn_probe_default();
    for (int k = 1; k < 4; k++) {
        probes[k].boxed = true;
        probes[k].low = cairn_vec(-1e30, -1e30, k == 2 ? 0.3 : -1e30);
        probes[k].high = cairn_vec(1e30, 1e30, k == 1 ? 0.3 : 1e30);
    }
    probes[4].bodies = both;
    probes[4].body_count = 2;
    probes[5].material = 1; /* no body has it */
    ask(&options, probes, 6);
    cairn_step_report report = { 0 };
    for (int k = 0; k < 200; k++)
        CHECK_OK(cairn_world_step(world, &options, &report));
    const cairn_probe_reading *r = report.readings;
    CHECK_NEAR(r[0].force.z, 0, 0);
    CHECK_NEAR(r[0].work, 0, 0);
    CHECK(fabs(r[1].force.z) > 10 && fabs(r[2].force.z) > 1);
    CHECK_NEAR(r[1].force.z + r[2].force.z, r[3].force.z, 1e-9);
    CHECK_NEAR(r[1].torque.y + r[2].torque.y, r[3].torque.y, 1e-6); /* arms differ by a gap */
    CHECK_NEAR(r[3].force.z, -r[4].force.z, 1e-9);
    CHECK_NEAR(r[5].force.z, 0, 0);
    cairn_world_destroy(world);
}

/* More probes than one pass takes, of a heap with more contacts than one range: on any number of
 * threads the same bits, and each as if it were alone. */
TEST(threads_and_company_change_no_bit)
{
    enum { PROBES = 20 };
    cairn_probe probes[PROBES];
    cairn_probe_reading first[PROBES];
    for (int k = 0; k < PROBES; k++) {
        probes[k] = cairn_probe_default();
        probes[k].boxed = true;
        probes[k].low = cairn_vec(-1e30, -1e30, -1e30);
        probes[k].high = cairn_vec(1e30, 1e30, 0.3 * k);
    }
    for (int pass = 0; pass < 3; pass++) {
        cairn_world *world = new_heap(3, 0.4, 90);
        cairn_step_options options = step_by(1e-2, "convex", 1e-2);
        cairn_step_report report;
        options.threads = pass == 1 ? 4 : 1;
        ask(&options, pass == 2 ? &probes[17] : probes, pass == 2 ? 1 : PROBES);
        for (int k = 0; k < 8; k++)
            CHECK_OK(cairn_world_step(world, &options, &report));
        if (pass == 0)
            memcpy(first, report.readings, sizeof first);
        else if (pass == 1)
            CHECK(memcmp(first, report.readings, sizeof first) == 0);
        else
            CHECK(memcmp(&first[17], report.readings, sizeof first[17]) == 0);
        CHECK(first[17].force.z != 0);
        cairn_world_destroy(world);
    }
}

/* ---- joints --------------------------------------------------------------------------------- */

/* A chain of three balls of 1 kg hangs on the world: 3, 2 and 1 times the weight, upwards on the
 * upper ball of each joint's bodies, which is b; a is the ball below. */
TEST(a_joint_carries_what_hangs_on_it)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-12);
    cairn_probe probes[4];
    int last = -1;
    for (int i = 0; i < 3; i++) {
        int row = add_ball(world, 0.1, cairn_vec(0, 0, -0.5 * i), cairn_vec(0, 0, 0));
        cairn_joint_def def = cairn_joint_def_default();
        def.kind = CAIRN_JOINT_BALL;
        def.a = id_of(world, row);
        if (last >= 0)
            def.b = id_of(world, last);
        def.anchor = cairn_vec(0, 0, -0.5 * i + 0.25);
        CHECK_OK(cairn_joint_create(world, &def, NULL));
        probes[i] = cairn_probe_default();
        probes[i].joint = i;
        last = row;
    }
    probes[3] = probe_of(world, 1, cairn_vec(0, 0, 0)); /* the ball in the middle */
    ask(&options, probes, 4);
    cairn_step_report report = advance(world, &options, 10);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(report.readings[i].force.z, (3 - i) * 9.81, 1e-9);
    CHECK_NEAR(report.readings[3].force.z, 9.81, 1e-9);
    cairn_world_destroy(world);
}

/* A beam of 2 kg and 1 m on a hinge at its left end, held level by a motor: the couple of the joint
 * is that of the weight, m g L/2 = 9.81 N m, about the y axis and against it; about the centre of
 * the beam, half a metre to the right, nothing is left of it. */
TEST(a_motor_holds_a_lever)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-12);
    cairn_body_def body = cairn_body_def_default();
    cairn_body_id beam;
    body.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    body.shape.size = cairn_vec(1, 0.1, 0.1);
    body.mass = 2;
    body.position = cairn_vec(0.5, 0, 0);
    CHECK_OK(cairn_body_create(world, &body, &beam));
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a = beam;
    def.axis = cairn_vec(0, 1, 0);
    def.turn.motor = "velocity";
    def.turn.effort = 100;
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    cairn_probe probes[2] = { cairn_probe_default(), cairn_probe_default() };
    probes[0].joint = probes[1].joint = 0;
    probes[1].about_point = true;
    probes[1].about = cairn_vec(0.5, 0, 0);
    ask(&options, probes, 2);
    cairn_step_report report = advance(world, &options, 10);
    CHECK_NEAR(report.readings[0].force.z, 2 * 9.81, 1e-8);
    CHECK_NEAR(report.readings[0].torque.y, -9.81, 1e-8);
    CHECK_NEAR(report.readings[1].torque.y, 0, 1e-8);
    cairn_world_destroy(world);
}

/* A motor that turns a wheel: the work of the joint is the motor work of the ledger. */
TEST(the_work_of_a_joint_is_that_of_its_motor)
{
    cairn_world *world = new_world(2, 9.81, 0.5, 0);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-12);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a = id_of(world, add_ball(world, 0.2, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0)));
    def.turn.motor = "force";
    def.turn.target = 0.3;
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    cairn_probe probe = cairn_probe_default();
    probe.joint = 0;
    ask(&options, &probe, 1);
    for (int k = 0; k < 50; k++) {
        cairn_step_report report = advance(world, &options, 1);
        CHECK_NEAR(report.readings[0].torque.z, 0.3, 1e-9);
        CHECK_NEAR(report.readings[0].work, report.energy.motor_work, 1e-12);
        CHECK(k == 0 || report.readings[0].work > 0);
    }
    cairn_world_destroy(world);
}

/* ---- what is refused ------------------------------------------------------------------------ */

TEST(probes_of_joints_that_do_not_exist_are_refused)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-6);
    cairn_probe probe = cairn_probe_default();
    probe.joint = 0;
    ask(&options, &probe, 1);
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_BAD_INPUT);
    CHECK(strstr(cairn_world_error(world)->message, "joint 0"));
    probe = cairn_probe_default();
    probe.about.x = NAN;
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_NOT_FINITE);
    probe = cairn_probe_default();
    probe.boxed = true;
    probe.low = cairn_vec(-INFINITY, 0, 0);
    probe.high = cairn_vec(INFINITY, 1, NAN);
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_NOT_FINITE);
    probe.high.z = 1;
    CHECK_OK(cairn_world_step(world, &options, NULL));
    options.probe_count = CAIRN_MOST_PROBES + 1;
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_BAD_INPUT);
    cairn_world_destroy(world);
}

static cairn_world *heap_for_memory(void)
{
    return new_heap(3, 0.4, 1);
}

TEST(a_step_with_probes_survives_the_failure_of_any_allocation)
{
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-3);
    const cairn_probe probe = cairn_probe_default();
    ask(&options, &probe, 1);
    check_step_without_memory(heap_for_memory, &options);
}

GROUP(test_probes)
{
    RUN(CASE(a_floor_carries_the_weight_of_what_rests_on_it), CASE(momenta_change_by_what_acts),
        CASE(a_ceiling_that_pulls_carries_the_weight),
        CASE(the_work_on_a_driven_wall_is_minus_the_driver_work),
        CASE(sets_of_bodies_feel_what_comes_from_outside), CASE(threads_and_company_change_no_bit),
        CASE(a_joint_carries_what_hangs_on_it), CASE(a_motor_holds_a_lever),
        CASE(the_work_of_a_joint_is_that_of_its_motor),
        CASE(probes_of_joints_that_do_not_exist_are_refused),
        CASE(a_step_with_probes_survives_the_failure_of_any_allocation));
}
