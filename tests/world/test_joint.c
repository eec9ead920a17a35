/* test_joint.c - joints: making them, their rows, what they bear. */
#include <math.h>

#include "cairn/cairn.h"
#include "cairn/joint.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
#include "world/joint.h"

/* ==== test_joint: joints in worlds: what they hold, drive and feel, with answers known by hand */

static const cairn_vec3 zero = { 0, 0, 0 };

static cairn_body_id id_of(const cairn_world *world, int index)
{
    return (cairn_body_id){ cairn_world_bodies(world).uid[index] };
}

/* A body with mass 1 and moments of inertia (1, 2, 2.5) (2D: 2.5). */
static int add_brick(cairn_world *world, cairn_vec3 x)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = 0.01;
    def.mass = 1;
    def.inertia = (cairn_vec3){ 1, 2, 2.5 };
    if (cairn_world_dimension(world) == 2)
        def.inertia = (cairn_vec3){ 0, 0, 2.5 };
    def.position = x;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

static cairn_joint_def joint_of(const cairn_world *world, cairn_joint_kind kind, int a, int b)
{
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.a = id_of(world, a);
    if (b >= 0)
        def.b = id_of(world, b);
    return def;
}

static cairn_joint_id join(cairn_world *world, const cairn_joint_def *def)
{
    cairn_joint_id id;
    CHECK_OK(cairn_joint_create(world, def, &id));
    return id;
}

static cairn_step_report go(cairn_world *world, double h, int steps)
{
    cairn_step_options options = step_by(h, "coulomb", 1e-12);
    return advance(world, &options, steps);
}

/* ---- holding -------------------------------------------------------------------------------- */

/* Exact angle of a pendulum, angle'' = -pull sin(angle) from 1 rad, by small Runge-Kutta steps. */
static double pendulum_angle(double pull, double time)
{
    double angle = 1, speed = 0, h = 1e-4;
    for (int k = 0; k < (int)round(time / h); k++) {
        double a1 = -pull * sin(angle), a2 = -pull * sin(angle + 0.5 * h * speed);
        double a3 = -pull * sin(angle + 0.5 * h * (speed + 0.5 * h * a1));
        double a4 = -pull * sin(angle + h * (speed + 0.5 * h * a2));
        angle += h * (speed + h * (a1 + a2 + a3) / 6);
        speed += h * (a1 + 2 * a2 + 2 * a3 + a4) / 6;
    }
    return angle;
}

/* Angle at 1 s of a ball of radius 0.1 on a joint of a kind, in the plane x-z (2D: x-y). */
static double swing(int dimension, cairn_joint_kind kind, double h)
{
    cairn_world *world = new_world(dimension, 9.81, 0, 0);
    cairn_vec3 start = { sin(1.0), 0, -cos(1.0) };
    if (dimension == 2)
        start = (cairn_vec3){ sin(1.0), -cos(1.0), 0 };
    int ball = add_ball(world, 0.1, start, zero);
    cairn_joint_def def = joint_of(world, kind, ball, -1);
    def.anchor = kind == CAIRN_JOINT_DISTANCE ? start : zero;
    def.axis = (cairn_vec3){ 0, 1, 0 };
    join(world, &def);
    go(world, h, (int)round(1 / h));
    cairn_vec3 x = cairn_world_bodies(world).x[ball];
    cairn_world_destroy(world);
    return atan2(x.x, dimension == 2 ? -x.y : -x.z);
}

TEST(pendulums_are_right_to_second_order)
{
    static const struct {
        int dimension;
        cairn_joint_kind kind;
        double inertia; /* that turns along, kg m^2 */
    } cases[] = { { 2, CAIRN_JOINT_DISTANCE, 0 },
                  { 2, CAIRN_JOINT_REVOLUTE, 0.005 },
                  { 3, CAIRN_JOINT_DISTANCE, 0 },
                  { 3, CAIRN_JOINT_REVOLUTE, 0.004 },
                  { 3, CAIRN_JOINT_BALL, 0.004 } };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double exact = pendulum_angle(9.81 / (1 + cases[k].inertia), 1);
        double coarse = swing(cases[k].dimension, cases[k].kind, 0.004) - exact;
        double fine = swing(cases[k].dimension, cases[k].kind, 0.002) - exact;
        CHECK(fabs(fine) < 2e-6);
        CHECK(coarse / fine > 3.4); /* more where it turns back, near 1 s: phase hardly counts */
    }
}

/* What a kind holds stays held while loads pull at it. */
TEST(every_kind_holds_what_it_should)
{
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int kind = 0; kind < CAIRN_JOINT_COUNT; kind++) {
            if (!cairn_joint_exists((cairn_joint_kind)kind, dimension))
                continue;
            cairn_world *world = new_world(dimension, 9.81, 0, 0);
            cairn_vec3 there = { 1, 0.5, dimension == 3 ? 0.25 : 0 };
            int a = add_brick(world, zero), b = add_brick(world, there);
            cairn_joint_def def = joint_of(world, (cairn_joint_kind)kind, a, b);
            def.anchor = (cairn_vec3){ 0.5, 0, 0 };
            def.axis = dimension == 2 ? (cairn_vec3){ 1, 0, 0 } : (cairn_vec3){ 0, 0, 1 };
            def.axis_b = (cairn_vec3){ 1, 0, 0 };
            def.anchor_b = there;
            def.pitch = 0.1;
            def.stiffness = def.turn_stiffness = 10;
            join(world, &def);
            cairn_joint_def hook = joint_of(world, CAIRN_JOINT_SPRING, a, -1);
            hook.anchor_b = (cairn_vec3){ 0.2, 1, 0 };
            hook.slide.stiffness = 20;
            join(world, &hook);
            cairn_certificate c = go(world, 0.001, 300).certificate;
            CHECK(c.joint_drift < 2e-5);
            CHECK(c.joint_turn_drift < 2e-5);
            cairn_world_destroy(world);
        }
}

/* A hanging weight pulls with m g, and the world pulls back. */
TEST(a_joint_tells_its_reaction)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    int brick = add_brick(world, (cairn_vec3){ 2, 0, 0 });
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_FIXED, brick, -1);
    join(world, &def);
    go(world, 0.01, 10);
    cairn_joint_state s = cairn_world_joint(world, 0);
    CHECK_NEAR(s.force.z, 9.81, 1e-9);
    CHECK_NEAR(s.torque.y, -2 * 9.81, 1e-9); /* against 2 m g about the anchor at the origin */
    CHECK_NEAR(cairn_world_bodies(world).x[brick].z, 0, 1e-12);
    cairn_world_destroy(world);
}

TEST(a_joint_breaks_above_its_force_and_holds_below)
{
    for (int strong = 0; strong < 2; strong++) {
        cairn_world *world = new_world(3, 9.81, 0, 0);
        int brick = add_brick(world, zero);
        cairn_joint_def def = joint_of(world, CAIRN_JOINT_BALL, brick, -1);
        def.break_force = strong ? 9.82 : 9.80;
        join(world, &def);
        cairn_step_report report = go(world, 0.01, 1);
        CHECK_INT(report.broken, !strong);
        go(world, 0.01, 10);
        CHECK_INT(cairn_world_joint(world, 0).broken, !strong);
        CHECK((cairn_world_bodies(world).v[brick].z < -0.5) == !strong);
        cairn_world_destroy(world);
    }
}

/* ---- driving -------------------------------------------------------------------------------- */

/* Effort 5 N m on a moment of 2.5: 2 rad/s^2 until the target of 1 rad/s. */
TEST(a_motor_gives_its_effort_until_it_has_its_speed)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    int brick = add_brick(world, zero);
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_REVOLUTE, brick, -1);
    def.turn.motor = "velocity";
    def.turn.target = 1;
    def.turn.effort = 5;
    join(world, &def);
    go(world, 0.01, 25);
    CHECK_NEAR(cairn_world_bodies(world).omega[brick].z, 0.5, 1e-9);
    CHECK_NEAR(cairn_world_joint(world, 0).torque.z, 5, 1e-9);
    go(world, 0.01, 75);
    CHECK_NEAR(cairn_world_bodies(world).omega[brick].z, 1, 1e-9);
    CHECK_NEAR(cairn_world_joint(world, 0).torque.z, 0, 1e-9);
    cairn_world_destroy(world);
}

TEST(a_position_motor_goes_there_and_counts_turns)
{
    cairn_world *world = new_world(2, 9.81, 0, 0);
    int brick = add_brick(world, (cairn_vec3){ 1, 0, 0 });
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_REVOLUTE, brick, -1);
    def.turn.motor = "position";
    cairn_joint_id joint = join(world, &def);
    for (int k = 1; k <= 100; k++) {
        CHECK_OK(cairn_joint_aim(world, joint, true, 0.1 * k));
        go(world, 0.01, 1);
    }
    CHECK_NEAR(cairn_world_joint(world, 0).turn, 10, 1e-9);
    CHECK_NEAR(cairn_world_bodies(world).angle[brick], 10, 1e-9);
    cairn_world_destroy(world);
}

TEST(a_force_motor_pushes)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    int brick = add_brick(world, zero);
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_PRISMATIC, brick, -1);
    def.axis = (cairn_vec3){ 1, 1, 0 };
    def.slide.motor = "force";
    def.slide.target = 3;
    join(world, &def);
    go(world, 0.01, 100);
    CHECK_NEAR(cairn_norm(cairn_world_bodies(world).v[brick]), 3, 1e-9);
    CHECK_NEAR(cairn_world_joint(world, 0).slide, 3 * 0.5 * 1.01, 1e-9);
    cairn_world_destroy(world);
}

/* Falls 0.1 m to its stop and stays there. */
TEST(a_limit_stops_and_holds)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    int brick = add_brick(world, zero);
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_PRISMATIC, brick, -1);
    def.slide.lower = -0.1;
    join(world, &def);
    go(world, 0.01, 100);
    CHECK_NEAR(cairn_world_bodies(world).x[brick].z, -0.1, 1e-10);
    CHECK_NEAR(cairn_world_joint(world, 0).force.z, 9.81, 1e-8);
    cairn_world_destroy(world);
}

/* Weight 9.81 N along the guide: friction of 10 N holds, of 5 N leaves 4.81 m/s^2. */
TEST(dry_friction_holds_or_brakes)
{
    static const double bound[2] = { 10, 5 }, speed[2] = { 0, -4.81 };
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(3, 9.81, 0, 0);
        int brick = add_brick(world, zero);
        cairn_joint_def def = joint_of(world, CAIRN_JOINT_PRISMATIC, brick, -1);
        def.slide.friction = bound[k];
        join(world, &def);
        go(world, 0.01, 100);
        CHECK_NEAR(cairn_world_bodies(world).v[brick].z, speed[k], 1e-9);
        cairn_world_destroy(world);
    }
}

/* ---- coupling ------------------------------------------------------------------------------- */

/* A weight on a screw turns it: (m + J (2 pi/p)^2) a = m g. */
TEST(a_screw_turns_as_it_falls)
{
    const double pitch = 2 * M_PI;
    cairn_world *world = new_world(3, 9.81, 0, 0);
    int brick = add_brick(world, zero);
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_SCREW, brick, -1);
    def.pitch = pitch;
    join(world, &def);
    go(world, 0.01, 100);
    CHECK_NEAR(cairn_world_bodies(world).v[brick].z, -9.81 / 3.5, 1e-9);
    CHECK_NEAR(cairn_world_bodies(world).omega[brick].z, -9.81 / 3.5, 1e-9);
    cairn_world_destroy(world);
}

/* A torque T on a: (Ja + Jb/ratio^2) alpha = T; b turns by -alpha/ratio. */
TEST(a_gear_shares_a_torque)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    int a = add_brick(world, zero), b = add_brick(world, (cairn_vec3){ 1, 0, 0 });
    for (int k = 0; k < 2; k++) {
        cairn_joint_def bearing = joint_of(world, CAIRN_JOINT_REVOLUTE, k ? b : a, -1);
        bearing.anchor.x = k;
        bearing.turn.motor = k ? "none" : "force";
        bearing.turn.target = 7;
        join(world, &bearing);
    }
    cairn_joint_def gear = joint_of(world, CAIRN_JOINT_GEAR, a, b);
    gear.ratio = 2;
    join(world, &gear);
    go(world, 0.01, 100);
    double alpha = 7 / (2.5 + 2.5 / 4);
    CHECK_NEAR(cairn_world_bodies(world).omega[a].z, alpha, 1e-9);
    CHECK_NEAR(cairn_world_bodies(world).omega[b].z, -alpha / 2, 1e-9);
    cairn_world_destroy(world);
}

/* Free fall until the rope of 1 m is taut after 0.45 s, then it hangs. */
TEST(a_rope_is_slack_then_taut)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    int brick = add_brick(world, (cairn_vec3){ 0, 0, -0.01 });
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_ROPE, brick, -1);
    def.anchor.z = -0.01;
    def.length = 1;
    join(world, &def);
    go(world, 0.01, 40);
    CHECK_NEAR(cairn_world_bodies(world).v[brick].z, -9.81 * 0.4, 1e-9);
    CHECK_NEAR(cairn_norm(cairn_world_joint(world, 0).force), 0, 1e-12);
    go(world, 0.01, 60);
    CHECK_NEAR(cairn_world_bodies(world).x[brick].z, -1, 1e-9);
    CHECK_NEAR(cairn_world_joint(world, 0).force.z, 9.81, 1e-8);
    cairn_world_destroy(world);
}

/* ---- springs -------------------------------------------------------------------------------- */

/* Explicit stepping needs h < 2/sqrt(k/m); here h is 1e6 times that, and the weight goes to rest
 * where the spring is stretched by m g/k. */
TEST(stiff_springs_are_stable_a_million_times_beyond_the_explicit_limit)
{
    const double h = 0.01, limit = h / 1e6, k = 4 / (limit * limit);
    cairn_world *world = new_world(3, 9.81, 0, 0);
    int brick = add_brick(world, (cairn_vec3){ 0, 0, -1 });
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_SPRING, brick, -1);
    def.anchor.z = -1;
    def.slide.stiffness = k;
    def.slide.rest = 1;
    join(world, &def);
    go(world, h, 200);
    CHECK_NEAR(cairn_world_bodies(world).x[brick].z, -1, 1e-9);
    CHECK_NEAR(cairn_world_joint(world, 0).force.z, 9.81, 1e-6);
    cairn_world_destroy(world);
}

/* Small steps: the period of an undamped oscillator is 2 pi sqrt(m/k), here 1 s. */
TEST(a_soft_spring_swings_with_its_period)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    int brick = add_brick(world, (cairn_vec3){ 1.1, 0, 0 });
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_SPRING, brick, -1);
    def.anchor.x = 1.1;
    def.slide.stiffness = 4 * M_PI * M_PI;
    def.slide.rest = 1;
    join(world, &def);
    go(world, 1e-4, 10000);
    CHECK_NEAR(cairn_world_bodies(world).x[brick].x, 1.1, 1e-3);
    CHECK(cairn_world_bodies(world).x[brick].x < 1.1); /* implicit: loses a little */
    cairn_world_destroy(world);
}

/* ---- bookkeeping ---------------------------------------------------------------------------- */

TEST(joined_bodies_do_not_collide_unless_they_should)
{
    for (int collide = 0; collide < 2; collide++) {
        cairn_world *world = new_world(3, 0, 0, 0);
        int a = add_ball(world, 0.5, zero, zero);
        int b = add_ball(world, 0.5, (cairn_vec3){ 1, 0, 0 }, zero);
        cairn_joint_def def = joint_of(world, CAIRN_JOINT_BALL, a, b);
        def.collide = collide;
        join(world, &def);
        CHECK_INT(go(world, 0.01, 1).candidates, collide);
        cairn_world_destroy(world);
    }
}

/* d(kinetic + potential + elastic) = motor - friction - impact - damping - numerical */
TEST(the_energy_ledger_closes_with_joints)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    int a = add_brick(world, (cairn_vec3){ 0, 0, 1 });
    int b = add_brick(world, (cairn_vec3){ 1, 0, 1 });
    cairn_joint_def hinge = joint_of(world, CAIRN_JOINT_REVOLUTE, a, b);
    hinge.anchor = (cairn_vec3){ 0.5, 0, 1 };
    hinge.axis = (cairn_vec3){ 0, 1, 0 };
    hinge.turn.motor = "velocity";
    hinge.turn.target = 2;
    hinge.turn.effort = 3;
    hinge.turn.friction = 0.5;
    hinge.turn.upper = 0.4;
    join(world, &hinge);
    cairn_joint_def spring = joint_of(world, CAIRN_JOINT_SPRING, a, -1);
    spring.anchor.z = 1;
    spring.anchor_b = (cairn_vec3){ 0, 0, 3 };
    spring.slide.stiffness = 50;
    spring.slide.damping = 1;
    spring.slide.rest = 1.5;
    join(world, &spring);
    double before = total_energy(world) + 0.5 * 50 * 0.25;
    for (int k = 0; k < 200; k++) {
        cairn_energy e = go(world, 0.005, 1).energy;
        double now = e.kinetic + e.potential + e.elastic;
        double flow = e.motor_work - e.friction_loss - e.impact_loss - e.damping_loss;
        CHECK_NEAR(now - before, flow - e.numerical_loss, 1e-11);
        CHECK(e.damping_loss >= 0);
        before = now;
    }
    cairn_world_destroy(world);
}

/* 100 links of 1 kg and 0.1 m, a weight of 1000 kg at the end: each joint at its place. */
TEST(a_chain_with_a_heavy_end_does_not_drift)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    cairn_body_def heavy = cairn_body_def_default();
    cairn_body_id id;
    int last = -1;
    for (int k = 0; k < 100; k++) {
        int link = add_brick(world, (cairn_vec3){ 0, 0, -0.1 * k - 0.05 });
        cairn_joint_def def = joint_of(world, CAIRN_JOINT_BALL, link, last);
        def.anchor.z = -0.1 * k;
        join(world, &def);
        last = link;
    }
    heavy.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    heavy.shape.radius = 0.01;
    heavy.mass = 1000;
    heavy.position.z = -10;
    CHECK_OK(cairn_body_create(world, &heavy, &id));
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_BALL, cairn_body_row(world, id), last);
    def.anchor.z = -10;
    join(world, &def);
    double energy = total_energy(world);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-9);
    cairn_certificate c = advance(world, &options, 50).certificate;
    CHECK(c.joint_drift < 1e-9);
    CHECK(total_energy(world) <= energy + 1e-6);
    CHECK_NEAR(cairn_world_joint(world, 0).force.z, 1100 * 9.81, 1e-3);
    cairn_world_destroy(world);
}

/* ---- refused -------------------------------------------------------------------------------- */

TEST(impossible_joints_are_refused_by_key)
{
    cairn_world *world = new_world(3, 9.81, 0, 0), *flat = new_world(2, 9.81, 0, 0);
    int a = add_brick(world, zero), b = add_brick(world, (cairn_vec3){ 1, 0, 0 });
    int in_plane = add_brick(flat, zero), wall = add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    cairn_joint_def def = joint_of(world, CAIRN_JOINT_REVOLUTE, a, b);
    def.axis = zero;
    CHECK_INT(cairn_joint_create(world, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "axis");
    def = joint_of(world, CAIRN_JOINT_BALL, a, a);
    CHECK_INT(cairn_joint_create(world, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "b");
    def = joint_of(world, CAIRN_JOINT_BALL, a, b);
    def.turn.friction = 1;
    CHECK_INT(cairn_joint_create(world, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "turn");
    def = joint_of(world, CAIRN_JOINT_BALL, wall, -1);
    CHECK_INT(cairn_joint_create(world, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "a");
    def = joint_of(flat, CAIRN_JOINT_SCREW, in_plane, -1);
    CHECK_INT(cairn_joint_create(flat, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(cairn_world_error(flat)->message, "screw joint does not exist in 2D");
    CHECK_INT(cairn_world_joint_count(world), 0);
    cairn_world_destroy(world);
    cairn_world_destroy(flat);
}

GROUP(test_joint)
{
    RUN(CASE(pendulums_are_right_to_second_order), CASE(every_kind_holds_what_it_should),
        CASE(a_joint_tells_its_reaction), CASE(a_joint_breaks_above_its_force_and_holds_below),
        CASE(a_motor_gives_its_effort_until_it_has_its_speed),
        CASE(a_position_motor_goes_there_and_counts_turns), CASE(a_force_motor_pushes),
        CASE(a_limit_stops_and_holds), CASE(dry_friction_holds_or_brakes),
        CASE(a_screw_turns_as_it_falls), CASE(a_gear_shares_a_torque),
        CASE(a_rope_is_slack_then_taut),
        CASE(stiff_springs_are_stable_a_million_times_beyond_the_explicit_limit),
        CASE(a_soft_spring_swings_with_its_period),
        CASE(joined_bodies_do_not_collide_unless_they_should),
        CASE(the_energy_ledger_closes_with_joints), CASE(a_chain_with_a_heavy_end_does_not_drift),
        CASE(impossible_joints_are_refused_by_key));
}

/* ==== test_joint_rows: a row is the derivative of its defect, for every kind of joint ========= */

static double draw(uint64_t *state)
{
    return 2 * cairn_random_uniform(state) - 1;
}

static cairn_vec3 draw_vector(uint64_t *state, int dimension)
{
    cairn_vec3 v = { draw(state), draw(state), draw(state) };
    return dimension == 2 ? cairn_vec(v.x, v.y, 0) : v;
}

static cairn_vec3 draw_turn(uint64_t *state, int dimension, double size)
{
    cairn_vec3 v = cairn_scale(size, draw_vector(state, 3));
    return dimension == 2 ? cairn_vec(0, 0, v.z) : v;
}

/* A joint of a kind between two bodies with random frames; all drives at work. */
static cairn_joint random_joint(cairn_joint_kind kind, int dimension, uint64_t *state)
{
    cairn_joint j = { .alive = true, .def = cairn_joint_def_default() };
    const cairn_joint_drive busy = { .lower = -2,
                                     .upper = 3,
                                     .friction = 1,
                                     .motor = "position",
                                     .target = 0.5,
                                     .effort = 7,
                                     .stiffness = 2,
                                     .damping = 3,
                                     .rest = 0.25 };
    j.def.kind = kind;
    j.def.pitch = 0.3;
    j.def.ratio = -2;
    j.def.stiffness = j.def.damping = j.def.turn_stiffness = j.def.turn_damping = 5;
    j.def.turn = j.def.slide = busy;
    for (int side = 0; side < 2; side++) {
        j.anchor[side] = draw_vector(state, dimension);
        j.frame[side] = cairn_quat_exp(draw_turn(state, dimension, 1));
    }
    return j;
}

typedef struct motion {
    cairn_vec3 v[2], omega[2]; /* world frame */
} motion;

static cairn_joint_view moved(const cairn_joint_view *view, const motion *m, double time)
{
    cairn_joint_view out = *view;
    for (int side = 0; side < 2; side++) {
        out.x[side] = cairn_add_scaled(view->x[side], time, m->v[side]);
        out.q[side] =
            cairn_quat_multiply(cairn_quat_exp(cairn_scale(time, m->omega[side])), view->q[side]);
    }
    return out;
}

static double rate(const cairn_row *row, const motion *m)
{
    cairn_vec3 a = cairn_add(m->v[0], cairn_cross(m->omega[0], row->arm_a));
    cairn_vec3 b = cairn_add(m->v[1], cairn_cross(m->omega[1], row->arm_b));
    return cairn_dot(row->e, cairn_sub(a, b)) + cairn_dot(row->turn_a, m->omega[0]) -
           cairn_dot(row->turn_b, m->omega[1]);
}

/* Bodies placed so that the joint's frames are parallel and only free motion has happened: the
 * angle of a turning row is defined there. */
static cairn_joint_view aligned_view(const cairn_joint *j, int dimension, uint64_t *state)
{
    cairn_joint_view view = { .dimension = dimension, .h = 0.01, .gamma = 1 };
    view.q[1] = cairn_quat_exp(draw_turn(state, dimension, 1));
    view.x[1] = draw_vector(state, dimension);
    view.x[0] = draw_vector(state, dimension);
    cairn_quat frame = cairn_quat_multiply(view.q[1], j->frame[1]);
    view.q[0] = cairn_quat_multiply(frame, cairn_quat_conjugate(j->frame[0]));
    return view;
}

static void check_derivatives(cairn_joint_kind kind, int dimension, uint64_t *state)
{
    enum { ROWS = CAIRN_JOINT_ROWS };
    const double step = 1e-5;
    cairn_joint j = random_joint(kind, dimension, state);
    cairn_joint_view view = aligned_view(&j, dimension, state);
    cairn_row rows[ROWS], before[ROWS], after[ROWS];
    motion m;
    for (int side = 0; side < 2; side++) {
        m.v[side] = draw_vector(state, dimension);
        m.omega[side] = draw_turn(state, dimension, 1);
    }
    cairn_joint_view early = moved(&view, &m, -step), late = moved(&view, &m, step);
    int count = cairn_joint_rows(&j, &view, rows);
    CHECK_INT(cairn_joint_rows(&j, &early, before), count);
    CHECK_INT(cairn_joint_rows(&j, &late, after), count);
    CHECK(count > 0 && count <= ROWS);
    for (int i = 0; i < count; i++) {
        double derivative = (after[i].defect - before[i].defect) / (2 * step);
        if (kind != CAIRN_JOINT_GEAR) /* its defect is a sum over the steps */
            CHECK_NEAR(rate(&rows[i], &m), derivative, 1e-8);
    }
}

TEST(rows_are_the_derivatives_of_their_defects)
{
    uint64_t state = 7;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int kind = 0; kind < CAIRN_JOINT_COUNT; kind++)
            for (int k = 0; k < 20; k++)
                if (cairn_joint_exists((cairn_joint_kind)kind, dimension))
                    check_derivatives((cairn_joint_kind)kind, dimension, &state);
}

/* A gear adds the turning of both bodies about their own axes. */
TEST(gear_row_is_turning_of_a_plus_ratio_times_turning_of_b)
{
    cairn_joint j = { .def = { .kind = CAIRN_JOINT_GEAR, .ratio = 3 },
                      .frame = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } };
    cairn_joint_view view = {
        .dimension = 3, .h = 1, .gamma = 1, .q = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } }
    };
    cairn_row rows[CAIRN_JOINT_ROWS];
    motion m = { .omega = { { 2, 5, 5 }, { -0.5, 5, 5 } } };
    CHECK_INT(cairn_joint_rows(&j, &view, rows), 1);
    CHECK_NEAR(rate(&rows[0], &m), 2 - 3 * 0.5, 1e-15);
}

/* Rows held by each kind alone: degrees of freedom removed. */
TEST(kinds_hold_as_many_motions_as_their_name_says)
{
    static const struct {
        cairn_joint_kind kind;
        int in_2d, in_3d;
    } expected[] = {
        { CAIRN_JOINT_BALL, -1, 3 },        { CAIRN_JOINT_FIXED, 3, 6 },
        { CAIRN_JOINT_REVOLUTE, 2, 5 },     { CAIRN_JOINT_PRISMATIC, 2, 5 },
        { CAIRN_JOINT_CYLINDRICAL, -1, 4 }, { CAIRN_JOINT_UNIVERSAL, -1, 4 },
        { CAIRN_JOINT_PLANAR, -1, 3 },      { CAIRN_JOINT_SCREW, -1, 5 },
        { CAIRN_JOINT_DISTANCE, 1, 1 },     { CAIRN_JOINT_ROPE, 1, 1 },
        { CAIRN_JOINT_GEAR, 1, 1 },         { CAIRN_JOINT_SPRING, 0, 0 },
        { CAIRN_JOINT_BUSHING, 0, 0 },
    };
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            cairn_joint j = { .def = cairn_joint_def_default(),
                              .anchor = { { 1, 0, 0 }, { 0, 0, 0 } },
                              .frame = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } };
            cairn_joint_view view = {
                .dimension = dimension, .h = 1, .gamma = 1, .q = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } }
            };
            cairn_row rows[CAIRN_JOINT_ROWS];
            int count = dimension == 2 ? expected[k].in_2d : expected[k].in_3d;
            j.def.kind = expected[k].kind;
            if (count >= 0)
                CHECK_INT(cairn_joint_rows(&j, &view, rows), count);
            else
                CHECK(!cairn_joint_exists(j.def.kind, dimension));
        }
}

GROUP(test_joint_rows)
{
    RUN(CASE(rows_are_the_derivatives_of_their_defects),
        CASE(gear_row_is_turning_of_a_plus_ratio_times_turning_of_b),
        CASE(kinds_hold_as_many_motions_as_their_name_says));
}

/* ==== test_joint_tension: long steps under high tension: scenes/chain.yaml, 100 links of 0.1 m and
 * 1 kg below which 1000 kg hang. Taken explicitly, tension would allow steps of 2 ms at most:
 * h^2 T l < 4 J with T = 10 kN, J = 6.4e-4 kg m^2. The scene steps by 10 ms. */

static cairn_scene *load(const char *override)
{
    cairn_scene *scene;
    cairn_error error;
    const char *path = CAIRN_SOURCE_DIR "/scenes/chain.yaml";
    if (cairn_scene_load(path, &override, override ? 1 : 0, &scene, &error) != CAIRN_OK)
        fail_msg("%d: %s: %s", error.line, error.key, error.message);
    return scene;
}

static double energy_of(const cairn_scene *scene)
{
    double kinetic, potential;
    cairn_world_energy(scene->world, &kinetic, &potential);
    return kinetic + potential;
}

/* 1e-8 of a link is 1e-9 m; a minute of it ends with 7e-13 m, measured by cairn run. */
TEST(a_hanging_chain_neither_drifts_nor_gains_energy)
{
    cairn_scene *scene = load(NULL);
    double start = energy_of(scene);
    for (int k = 0; k < 200; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK(report.solve.converged);
        CHECK(report.certificate.joint_drift < 1e-11);
        CHECK(energy_of(scene) <= start + 1e-12 * fabs(start));
    }
    CHECK_NEAR(cairn_world_joint(scene->world, 0).force.z, 1100 * 9.81, 1e-3);
    cairn_scene_destroy(scene);
}

/* The weight starts with 1 m/s, 500 J, and jerks the links along. The ledger says where each joule
 * goes, none comes from nowhere, and the joints close again after the jerk. */
TEST(a_swinging_chain_keeps_its_ledger)
{
    cairn_scene *scene = load("bodies.100.velocity=[1, 0, 0]");
    double before = energy_of(scene), start = before, drift = 0;
    for (int k = 0; k < 50; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK(report.solve.converged);
        const cairn_energy *e = &report.energy;
        double now = e->kinetic + e->potential;
        CHECK_NEAR(now - before, -e->impact_loss - e->numerical_loss, 1e-13 * fabs(start));
        CHECK(now <= start);
        before = now;
        drift = report.certificate.joint_drift;
    }
    CHECK(drift < 1e-4);
    CHECK(start - before < 50); /* of 500 J */
    cairn_scene_destroy(scene);
}

GROUP(test_joint_tension)
{
    RUN(CASE(a_hanging_chain_neither_drifts_nor_gains_energy),
        CASE(a_swinging_chain_keeps_its_ledger));
}
