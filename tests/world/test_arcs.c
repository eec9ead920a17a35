/* test_arcs.c - contacts that move along round walls, to second order. */
#include "base/common.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

static cairn_step_options exact_step(double h, bool arcs)
{
    cairn_step_options options = step_by(h, "coulomb", 1e-8);
    options.arcs = arcs;
    return options;
}

/* A body that does not move, with its axis along z. */
static void add_round(cairn_world *world, cairn_shape_kind kind, double radius, cairn_vec3 axis)
{
    cairn_shape shape = cairn_shape_default(kind, cairn_world_dimension(world));
    shape.radius = radius;
    shape.half_angle = 0.6;
    if (cairn_norm(axis) > 0)
        shape.axis = axis;
    add_wall(world, shape, zero);
}

/* Kinetic energy, and the potential energy at mid-step: x - h v/2. A step gives gravity its share
 * before it moves, so the energy with x itself swings by h g v/2. */
static double steady_energy(const cairn_world *world, double gravity, double h)
{
    cairn_bodies b = cairn_world_bodies(world);
    double kinetic, potential;
    cairn_world_energy(world, &kinetic, &potential);
    for (int i = 0; i < b.count; i++)
        if (b.motion[i] == CAIRN_MOTION_DYNAMIC)
            kinetic += b.mass[i] * gravity * (b.x[i].z - 0.5 * h * b.v[i].z);
    return kinetic;
}

/* What a run loses and gains at most, in J. */
typedef struct course {
    double loss, gain;
} course;

static course follow(cairn_world *world, double gravity, const cairn_step_options *options,
                     double duration)
{
    double h = options->time_step, start = steady_energy(world, gravity, 0), now = start;
    course c = { 0, 0 };
    for (int k = 0; k < (int)(duration / h + 0.5); k++) {
        advance(world, options, 1);
        now = steady_energy(world, gravity, h);
        c.gain = fmax(c.gain, now - start);
    }
    c.loss = start - now;
    return c;
}

/* ==== test_arcs: along round walls speed is kept ============================================== */

/* A ball of 1 kg at 6 m/s, 13.3 rad/s, around the inside of a cylinder; in 2D a disk in a ring. */
static cairn_world *new_circle(int dimension, double mu, double restitution)
{
    cairn_world *world = new_world(dimension, 0, mu, restitution);
    cairn_vec3 axis = { 0, 0, dimension == 3 };
    add_round(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.5, axis);
    add_ball(world, 0.05, cairn_vec(0.45, 0, 0), cairn_vec(0, 6, 0));
    return world;
}

static double loss_on_circle(int dimension, double restitution, const cairn_step_options *options,
                             double duration)
{
    cairn_world *world = new_circle(dimension, 0, restitution);
    course c = follow(world, 0, options, duration);
    CHECK_NEAR(c.gain, 0, 18e-12);
    CHECK_NEAR(cairn_norm(cairn_world_bodies(world).omega[1]), 0, 1e-9);
    cairn_world_destroy(world);
    return c.loss;
}

/* What is lost is the first step, in which nothing approaches yet: 3/8 (h w v)^2. */
TEST(a_ball_without_friction_keeps_its_speed)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        double loss[3];
        for (int k = 0; k < 3; k++) {
            cairn_step_options options = exact_step(4e-3 / (1 << k), true);
            loss[k] = loss_on_circle(dimension, 0, &options, 4);
        }
        CHECK(loss[2] < 18 * 2e-4); /* h = 1 ms */
        CHECK(loss[1] < loss[0] / 3.5 && loss[2] < loss[1] / 3.5);
    }
}

/* An ellipsoid that is round about the axis of the cylinder goes around it like a ball, whether it
 * spins or not, although its point of contact moves over it. */
TEST(an_ellipsoid_keeps_its_speed)
{
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(3, 0, 0, 0);
        cairn_step_options options = exact_step(1e-3, true);
        cairn_body_def pill = cairn_body_def_default();
        add_round(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.5, cairn_vec(0, 0, 1));
        pill.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
        pill.shape.semi_axes = cairn_vec(0.05, 0.05, 0.03);
        pill.mass = 1;
        pill.position.x = 0.45;
        pill.velocity.y = 6;
        pill.angular_velocity.z = 40 * k;
        CHECK_OK(cairn_body_create(world, &pill, NULL));
        double start = total_energy(world);
        course c = follow(world, 0, &options, 2);
        CHECK_NEAR(c.gain, 0, 18e-12);
        CHECK(c.loss < 18 * 2e-4);
        CHECK_NEAR(total_energy(world), start, 18 * 2e-4);
        cairn_world_destroy(world);
    }
}

/* e = v exp(-w^2 h t/2) without the term: 18 -> 10.5 J. */
TEST(to_first_order_speed_is_lost)
{
    cairn_step_options options = exact_step(1e-3, false);
    CHECK_NEAR(18 - loss_on_circle(3, 0, &options, 4), 10.52, 0.1);
}

/* A contact along an arc is no impact: the same with restitution. */
TEST(restitution_does_not_matter_along_an_arc)
{
    cairn_step_options options = exact_step(1e-3, true);
    CHECK(loss_on_circle(3, 0.5, &options, 4) < 18 * 2e-4);
}

/* Schemes without gaps in the bias, or with those at the end of the step, are as they were. */
static bool follows_arcs(const char *scheme)
{
    return strcmp(scheme, "moreau-jean") != 0 && strcmp(scheme, "stewart-trinkle") != 0;
}

TEST(all_schemes_that_linearise_at_the_start_keep_it)
{
    const char *scheme;
    for (int i = 0; (scheme = cairn_scheme_name(i)); i++) {
        cairn_step_options options = exact_step(1e-3, true);
        options.scheme = scheme;
        if (follows_arcs(scheme))
            CHECK(loss_on_circle(3, 0, &options, 0.3) < 18 * 2e-4);
    }
}

/* A point swings in a lying cylinder: the work of gravity is kept to second order, and the wall
 * never adds to it by more than that. */
TEST(a_ball_swings_in_a_lying_cylinder)
{
    double loss[2], gain[2], a = M_PI / 3, energy = 9.81 * 0.9 * (1 - cos(a));
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(3, 9.81, 0, 0);
        cairn_step_options options = exact_step(2e-3 / (1 << k), true);
        add_round(world, CAIRN_SHAPE_INSIDE_CYLINDER, 1, cairn_vec(0, 1, 0));
        add_ball(world, 0.1, cairn_vec(0.9 * sin(a), 0, -0.9 * cos(a)), zero);
        course c = follow(world, 9.81, &options, 10);
        loss[k] = c.loss / energy;
        gain[k] = c.gain / energy;
        cairn_world_destroy(world);
    }
    CHECK(gain[0] < 4e-5 && gain[1] < 1e-5);
    CHECK(loss[1] < 2e-4 && loss[1] < loss[0] / 3.5);
}

/* Up and down in a cone, 4 m/s around its axis. */
TEST(a_ball_circles_in_a_cone)
{
    double loss[2];
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(3, 9.81, 0, 0);
        cairn_step_options options = exact_step(2e-3 / (1 << k), true);
        add_round(world, CAIRN_SHAPE_INSIDE_CONE, 0, cairn_vec(0, 0, 1));
        add_ball(world, 0.05, cairn_vec((sin(0.6) - 0.05) / cos(0.6), 0, 1), cairn_vec(0, 4, 0));
        course c = follow(world, 9.81, &options, 2);
        CHECK_NEAR(c.gain, 0, 1e-10);
        loss[k] = c.loss;
        cairn_world_destroy(world);
    }
    CHECK(loss[1] < 2e-3 && loss[1] < loss[0] / 3.5);
}

/* The golfer's ball rolls around the inside of an upright cylinder and swings up and down in it;
 * its speed around the axis stays: 6 m/s. */
TEST(the_ball_in_the_hole_keeps_its_speed_around)
{
    double lost[3];
    for (int k = 0; k < 3; k++) {
        cairn_world *world = new_world(3, 9.81, 2, 0);
        cairn_step_options options = exact_step(4e-3 / (1 << k), true);
        cairn_body_def ball = cairn_body_def_default();
        add_round(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.5, cairn_vec(0, 0, 1));
        ball.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        ball.shape.radius = 0.05;
        ball.mass = 1;
        ball.position.x = 0.45;
        ball.velocity.y = 6;
        ball.angular_velocity.z = -6 / 0.05;
        CHECK_OK(cairn_body_create(world, &ball, NULL));
        advance(world, &options, 500 << k);
        cairn_vec3 v = cairn_world_bodies(world).v[1];
        lost[k] = 6 - sqrt(v.x * v.x + v.y * v.y);
        cairn_world_destroy(world);
    }
    CHECK(lost[2] > 0 && lost[2] < 5e-4); /* h = 1 ms */
    CHECK(lost[1] < lost[0] / 3.5 && lost[2] < lost[1] / 3.5);
}

/* A ball slides off a ball where the cosine is 2/3 of that at the start. */
TEST(a_ball_leaves_a_ball_in_time)
{
    for (int k = 0; k < 3; k++) {
        double h = 2e-3 / (1 << 2 * k), cosine = 1;
        cairn_world *world = new_world(3, 9.81, 0, 0);
        cairn_step_options options = exact_step(h, true);
        cairn_step_report report = { .active = 1 };
        add_fixed(world, CAIRN_SHAPE_SPHERE, 1, zero);
        add_ball(world, 0.1, cairn_vec(1.1 * sin(0.05), 0, 1.1 * cos(0.05)), zero);
        while (report.active > 0 || cosine > 0.9) {
            cairn_vec3 x = cairn_world_bodies(world).x[1];
            cosine = x.z / cairn_norm(x);
            report = advance(world, &options, 1);
        }
        CHECK_NEAR(cosine, 2 * cos(0.05) / 3, 2 * h);
        cairn_world_destroy(world);
    }
}

/* ---- what is asked of a contact -------------------------------------------------------------- */

/* A ball that flies at the wall stops there, and none leaves faster than it came. */
TEST(what_closes_does_not_bounce)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = exact_step(1e-3, true);
    add_round(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.5, cairn_vec(0, 0, 1));
    add_ball(world, 0.05, cairn_vec(0.44, 0, 0), cairn_vec(3, 0, 0));
    add_ball(world, 0.05, cairn_vec(-0.45, 0, 1), cairn_vec(-3, 2, 0));
    advance(world, &options, 20);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(cairn_norm(b.v[1]), 0, 1e-6);
    CHECK_NEAR(b.x[1].x, 0.45, 1e-6);
    CHECK_NEAR(cairn_norm(b.v[2]), 2, 1e-4);
    cairn_world_destroy(world);
}

/* Seven disks that fill a ring but for 1e-3 of its radius, and turn without friction: what
 * the wall asks of all of them together is possible, and adds no energy. */
TEST(a_full_ring_gains_nothing)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_step_options options = exact_step(1e-3, true);
    add_round(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.15015, zero);
    add_ball(world, 0.05, zero, zero);
    for (int k = 0; k < 6; k++) {
        double c = cos(k * M_PI / 3), s = sin(k * M_PI / 3);
        add_ball(world, 0.05, cairn_vec(0.1 * c, 0.1 * s, 0), cairn_vec(-s, c, 0));
    }
    for (int k = 0; k < 200; k++) {
        double before = total_energy(world);
        advance(world, &options, 1);
        CHECK(total_energy(world) < before + 3e-8);
    }
    CHECK(total_energy(world) > 2.8); /* of 3 J */
    cairn_world_destroy(world);
}

/* Poses along the free motion, at time t. */
typedef struct flight {
    cairn_shape shape, wall;
    cairn_vec3 x, v, w; /* of the body, in world axes                */
    cairn_vec3 W;       /* of the wall, which turns about the origin */
} flight;

/* What a step from there knows of a contact. */
typedef struct sight {
    int32_t feature;
    double gap, bias;
} sight;

/* The contact of a feature; of -1: the one with the smallest gap. */
static sight seen_at(const flight *f, double t, double h, int32_t feature)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = exact_step(h, true);
    cairn_body_def wall = cairn_body_def_default(), body = wall;
    cairn_driver turn = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    options.margin = 1; /* lists contacts that are far */
    turn.angular_velocity = f->W;
    wall.motion = CAIRN_MOTION_DRIVEN;
    wall.shape = f->wall;
    wall.orientation = cairn_quat_exp(cairn_scale(t, f->W));
    wall.drivers = &turn;
    wall.driver_count = 1;
    body.shape = f->shape;
    body.position = cairn_add_scaled(f->x, t, f->v);
    body.orientation = cairn_quat_exp(cairn_scale(t, f->w));
    body.velocity = f->v;
    body.angular_velocity = f->w; /* in body axes, equal to those of the world at t = 0 */
    CHECK_OK(cairn_body_create(world, &wall, NULL));
    CHECK_OK(cairn_body_create(world, &body, NULL));
    advance(world, &options, 1);
    cairn_contacts c = cairn_world_contacts(world);
    int at = 0;
    for (int j = 1; j < c.count; j++)
        at = (feature < 0 ? c.gap[j] < c.gap[at] : c.feature[j] == feature) ? j : at;
    CHECK(c.count > 0 && (feature < 0 || c.feature[at] == feature));
    sight seen = { c.feature[at], c.gap[at], cairn_world_step_inputs(world).bias[at] };
    cairn_world_destroy(world);
    return seen;
}

/* b of a contact that overlaps a little and approaches fast is h g"/2, with the second derivative
 * of the gap, here by differences. */
static void check_bend(flight f, double depth)
{
    const double h = 1e-4, t = 1e-3;
    sight now = seen_at(&f, 0, h, -1);
    cairn_vec3 out = cairn_unit(cairn_vec(f.x.x, f.x.y, 0));
    for (int k = 0; k < 20 && fabs(now.gap + depth) > 0.1 * depth; k++) { /* cones taper */
        f.x = cairn_add_scaled(f.x, now.gap + depth, out);
        now = seen_at(&f, 0, h, -1);
    }
    CHECK_NEAR(now.gap, -depth, 0.1 * depth);
    double after = seen_at(&f, t, h, now.feature).gap, before = seen_at(&f, -t, h, now.feature).gap;
    double bend = (after - 2 * now.gap + before) / (t * t);
    CHECK(bend < -1);
    CHECK_NEAR(now.bias, 0.5 * h * bend, 1e-3 * h * fabs(bend));
}

TEST(the_term_is_the_second_derivative_of_the_gap)
{
    cairn_shape tube = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3), cone = tube;
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3), box = ball, rounded;
    cairn_shape pill = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3), round = pill;
    tube.radius = 0.5;
    cone = cairn_shape_default(CAIRN_SHAPE_INSIDE_CONE, 3);
    cone.half_angle = 0.3;
    ball.radius = 0.05;
    box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    box.size = cairn_vec(0.11, 0.12, 0.13);
    rounded = box;
    rounded.rounding = 0.02;
    pill.semi_axes = cairn_vec(0.04, 0.06, 0.09);
    round.semi_axes = cairn_vec(0.05, 0.05, 0.05);
    const cairn_shape shapes[] = { ball, box, rounded, pill, round };
    for (int k = 0; k < 5; k++) {
        flight f = { .shape = shapes[k],
                     .wall = tube,
                     .x = { 0.3, 0.2, 0.1 },
                     .v = { 2.5, 4, 1 },
                     .w = { 2, -1, 3 } };
        check_bend(f, 1e-6);
        f.W = cairn_vec(0.5, 0.3, 2); /* a tumbling cylinder */

        check_bend(f, 1e-6);
        f.wall = cone;
        f.x.z = 1.2;
        f.W = cairn_vec(0.2, 0.1, -1);
        check_bend(f, 1e-6);
    }
}

/* A ball that stays in place in a turning drum is asked for nothing. */
TEST(a_ball_that_stays_has_no_term)
{
    cairn_world *world = new_world(3, 9.81, 0, 0);
    cairn_step_options options = exact_step(1e-3, true);
    cairn_body_def drum = cairn_body_def_default();
    cairn_driver turn = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    turn.angular_velocity = cairn_vec(0, 6, 0);
    drum.motion = CAIRN_MOTION_DRIVEN;
    drum.shape = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    drum.shape.axis = cairn_vec(0, 1, 0);
    drum.shape.radius = 0.5;
    drum.drivers = &turn;
    drum.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &drum, NULL));
    add_ball(world, 0.05, cairn_vec(0, 0, -0.45), zero);
    advance(world, &options, 100);
    CHECK_NEAR(cairn_norm(cairn_world_bodies(world).v[1]), 0, 1e-7);
    CHECK_NEAR(cairn_world_step_inputs(world).bias[0], 0, 1e-9);
    cairn_world_destroy(world);
}

GROUP(test_arcs)
{
    RUN(CASE(a_ball_without_friction_keeps_its_speed), CASE(an_ellipsoid_keeps_its_speed),
        CASE(a_full_ring_gains_nothing),
        CASE(to_first_order_speed_is_lost), CASE(restitution_does_not_matter_along_an_arc),
        CASE(all_schemes_that_linearise_at_the_start_keep_it),
        CASE(a_ball_swings_in_a_lying_cylinder), CASE(a_ball_circles_in_a_cone),
        CASE(the_ball_in_the_hole_keeps_its_speed_around), CASE(a_ball_leaves_a_ball_in_time),
        CASE(what_closes_does_not_bounce), CASE(the_term_is_the_second_derivative_of_the_gap),
        CASE(a_ball_that_stays_has_no_term));
}
