/* test_surface_laws.c - friction beyond Coulomb's with one mu, against exact solutions (derived in
 * docs/friction.md): belts, elliptic friction, adhesion, rolling and spinning friction. */
#include "tests/check.h"
#include "tests/problems/worlds.h"

static const double G = 9.81, EXACT = 1e-9;

/* A world with one material of many properties, and a floor. */
static cairn_world *floor_world(int dimension, const cairn_material_def *material)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world;
    def.dimension = dimension;
    def.gravity = dimension == 2 ? (cairn_vec3){ 0, -G, 0 } : (cairn_vec3){ 0, 0, -G };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    return world;
}

static cairn_vec3 up(int dimension, double height)
{
    return dimension == 2 ? (cairn_vec3){ 0, height, 0 } : (cairn_vec3){ 0, 0, height };
}

/* A body of mass 1 that turns: sphere of a radius, or a point (radius 0) with a load. */
typedef struct mover {
    double radius;
    cairn_vec3 position, velocity, angular_velocity, force;
} mover;

static int add_mover(cairn_world *world, mover m)
{
    int d = cairn_world_dimension(world);
    cairn_body_def def = cairn_body_def_default();
    cairn_load push = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_id id;
    def.shape = cairn_shape_default(m.radius > 0 ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_POINT, d);
    def.shape.radius = m.radius;
    def.mass = 1;
    def.position = m.position;
    def.velocity = m.velocity;
    def.angular_velocity = m.angular_velocity;
    push.force = m.force;
    def.loads = &push;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

/* A floor whose surface moves, and which has an axis for friction. */
static int add_belt(cairn_world *world, cairn_vec3 surface, cairn_vec3 axis)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, cairn_world_dimension(world));
    def.surface_velocity = surface;
    def.friction_axis = axis;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

static cairn_world *bare_world(int dimension, const cairn_material_def *material)
{
    cairn_world *world = new_world(dimension, G, 0, 0);
    CHECK_OK(cairn_material_pair_set(world, 0, 0, material));
    return world;
}

/* Steps, the sums of the ledger, and how far it is from closed. */
static cairn_energy ledger(cairn_world *world, const cairn_step_options *options, int steps)
{
    cairn_energy sum = { 0 };
    double before = total_energy(world);
    for (int k = 0; k < steps; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(world, options, &report));
        CHECK(report.solve.converged);
        sum.driver_work += report.energy.driver_work;
        sum.load_work += report.energy.load_work;
        sum.friction_loss += report.energy.friction_loss;
        sum.impact_loss += report.energy.impact_loss;
        sum.numerical_loss += report.energy.numerical_loss;
        sum.correction += report.energy.correction;
    }
    double change = sum.load_work + sum.driver_work + sum.correction - sum.friction_loss -
                    sum.impact_loss - sum.numerical_loss;
    CHECK_NEAR(total_energy(world) - before, change, 1e-10);
    return sum;
}

/* ---- belts ---------------------------------------------------------------------------------- */

/* v' = mu g up to the speed V of the belt; the belt does m V^2, half of it is lost. */
static void belt_carries_a_point(int dimension, const char *scheme)
{
    const cairn_material_def material = { .friction = 0.5 };
    const double V = 2, h = 1e-3;
    cairn_world *world = bare_world(dimension, &material);
    cairn_step_options options = step_by(h, scheme, EXACT);
    add_belt(world, (cairn_vec3){ V, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    int point = add_mover(world, (mover){ 0 });
    cairn_energy first = ledger(world, &options, 200);
    CHECK_NEAR(cairn_world_bodies(world).v[point].x, 0.5 * G * 0.2, 1e-8);
    cairn_energy rest = ledger(world, &options, 300); /* V/(mu g) = 0.4077 s */
    CHECK_NEAR(cairn_world_bodies(world).v[point].x, V, 1e-8);
    CHECK_NEAR(first.driver_work + rest.driver_work, V * V, 1e-7);
    CHECK_NEAR(first.friction_loss + rest.friction_loss, V * V / 2, 1e-7);
    cairn_world_destroy(world);
}

TEST(a_belt_carries_a_point_to_its_speed_at_mu_g)
{
    belt_carries_a_point(2, "coulomb");
    belt_carries_a_point(3, "coulomb");
    belt_carries_a_point(3, "moreau-jean");
}

/* The convex law keeps a gap h mu |u_T| while the point slides: 1e-3 * 0.5 * 2 m at the start. */
TEST(the_convex_law_lifts_what_slides_on_a_belt)
{
    const cairn_material_def material = { .friction = 0.5 };
    cairn_world *world = bare_world(2, &material);
    cairn_step_options options = step_by(1e-3, "convex", EXACT);
    add_belt(world, (cairn_vec3){ 2, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    int point = add_mover(world, (mover){ 0 });
    cairn_step_report report = advance(world, &options, 1);
    double u = 2 - cairn_world_bodies(world).v[point].x;
    CHECK_NEAR(cairn_world_bodies(world).v[point].y, 0.5 * u, 1e-8);
    CHECK_NEAR(report.certificate.dilatation, 1e-3 * 0.5 * u, 1e-10);
    cairn_world_destroy(world);
}

/* A belt that stands upright and one turned by a quarter: only what lies in the contact counts. */
TEST(the_part_of_a_surface_velocity_along_the_contact_counts)
{
    const cairn_material_def material = { .friction = 0.5 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(1e-3, "coulomb", EXACT);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.orientation = (cairn_quat){ sqrt(0.5), 0, 0, sqrt(0.5) }; /* x of the body is y */
    def.surface_velocity = (cairn_vec3){ 0.1, 0, 7 };
    CHECK_OK(cairn_body_create(world, &def, &id));
    int point = add_mover(world, (mover){ 0 });
    advance(world, &options, 100);
    CHECK_NEAR(cairn_world_bodies(world).v[point].x, 0, 1e-8);
    CHECK_NEAR(cairn_world_bodies(world).v[point].y, 0.1, 1e-8);
    CHECK_NEAR(cairn_world_bodies(world).v[point].z, 0, 1e-8);
    cairn_world_destroy(world);
}

/* ---- elliptic friction ---------------------------------------------------------------------- */

/* A point thrown with (1, 1): its velocity after 0.1 s. */
static cairn_vec3 slide(double h, const char *scheme)
{
    const cairn_material_def material = { .friction = 0.2, .friction_2 = 0.4 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(h, scheme, 1e-11);
    add_belt(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 3, 0, 0 });
    int point = add_mover(world, (mover){ .velocity = { 1, 1, 0 } });
    advance(world, &options, (int)lround(0.1 / h));
    cairn_vec3 v = cairn_world_bodies(world).v[point];
    cairn_world_destroy(world);
    return v;
}

/* u' = - g (mu_1^2 u_1, mu_2^2 u_2)/sqrt(mu_1^2 u_1^2 + mu_2^2 u_2^2): the first acceleration. */
TEST(elliptic_friction_turns_the_velocity_as_maximal_dissipation_says)
{
    double h = 1e-5, norm = sqrt(0.04 + 0.16);
    const cairn_material_def material = { .friction = 0.2, .friction_2 = 0.4 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(h, "coulomb", 1e-12);
    add_belt(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 1, 0, 0 });
    int point = add_mover(world, (mover){ .velocity = { 1, 1, 0 } });
    advance(world, &options, 1);
    cairn_vec3 v = cairn_world_bodies(world).v[point];
    CHECK_NEAR((v.x - 1) / h, -G * 0.04 / norm, 1e-3);
    CHECK_NEAR((v.y - 1) / h, -G * 0.16 / norm, 1e-3);
    cairn_contacts c = cairn_world_contacts(world);
    CHECK_NEAR(c.mu[0], 0.2, 0);
    CHECK_NEAR(c.mu_2[0], 0.4, 0);
    CHECK_NEAR(fabs(c.tangent[0].x), 1, 1e-15);
    /* stored are the true numbers: on the ellipse, and the velocity of the body */
    CHECK_NEAR(hypot(c.impulse[1] / 0.2, c.impulse[2] / 0.4), c.impulse[0], 1e-12);
    CHECK_NEAR(c.velocity[1], v.x, 1e-12);
    CHECK_NEAR(c.velocity[2], v.y, 1e-12);
    cairn_world_destroy(world);
}

/* The solution has u_1/u_1(0) = (u_2/u_2(0))^(mu_1^2/mu_2^2); the error halves with h. */
static void slides_along_the_exact_path(const char *scheme)
{
    cairn_vec3 coarse = slide(1e-3, scheme), fine = slide(5e-4, scheme);
    double wrong = fabs(coarse.x - pow(coarse.y, 0.25)), better = fabs(fine.x - pow(fine.y, 0.25));
    CHECK(wrong < 2e-3);
    CHECK_NEAR(wrong / better, 2, 0.1);
}

TEST(elliptic_sliding_follows_its_exact_path_to_first_order)
{
    slides_along_the_exact_path("coulomb");
    slides_along_the_exact_path("fixed-point");
}

/* The convex law lifts by the support function of the ellipse: h sqrt(0.04 u_1^2 + 0.16 u_2^2). */
TEST(the_convex_law_lifts_by_the_support_function_of_the_ellipse)
{
    const cairn_material_def material = { .friction = 0.2, .friction_2 = 0.4 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(1e-3, "convex", 1e-11);
    add_belt(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 1, 0, 0 });
    int point = add_mover(world, (mover){ .velocity = { 1, 1, 0 } });
    cairn_step_report report = advance(world, &options, 1);
    cairn_vec3 v = cairn_world_bodies(world).v[point];
    double lift = hypot(0.2 * v.x, 0.4 * v.y);
    CHECK_NEAR(v.z, lift, 1e-9);
    CHECK_NEAR(report.certificate.dilatation, 1e-3 * lift, 1e-12);
    cairn_world_destroy(world);
}

/* A point that is pushed at 45 degrees with `force` on a floor with mu 0.2 and 0.4: its speed. */
static double pushed(double force)
{
    const cairn_material_def material = { .friction = 0.2, .friction_2 = 0.4 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(1e-3, "coulomb", EXACT);
    add_belt(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 1, 0, 0 });
    double part = force * sqrt(0.5);
    int point = add_mover(world, (mover){ .force = { part, part, 0 } });
    advance(world, &options, 100);
    cairn_vec3 v = cairn_world_bodies(world).v[point];
    cairn_world_destroy(world);
    return hypot(v.x, v.y);
}

/* (F/sqrt2)^2 (1/0.2^2 + 1/0.4^2) = (m g)^2 is the edge of the ellipse at 45 degrees. */
TEST(elliptic_friction_holds_up_to_the_ellipse)
{
    double edge = G * sqrt(2 / (1 / 0.04 + 1 / 0.16));
    CHECK_NEAR(pushed(0.99 * edge), 0, 1e-8);
    CHECK(pushed(1.01 * edge) > 1e-3 * edge * 0.1);
}

/* A runner: no friction along the axis, which is turned by 45 degrees. It slides along it alone. */
TEST(a_skate_slides_along_its_axis)
{
    const cairn_material_def material = { .friction = 0, .friction_2 = 1 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(1e-3, "coulomb", EXACT);
    add_belt(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 1, 1, 0 });
    int point = add_mover(world, (mover){ .force = { 1, 0, 0 } });
    advance(world, &options, 200);
    cairn_vec3 v = cairn_world_bodies(world).v[point];
    CHECK_NEAR(v.x, 0.1, 1e-5); /* half of F t/m along each */
    CHECK_NEAR(v.y, 0.1, 1e-5);
    cairn_world_destroy(world);
}

/* Without an axis there is one mu; with an axis on both bodies that of the first counts. */
TEST(friction_2_needs_an_axis_and_takes_the_first)
{
    const cairn_material_def material = { .friction = 0.2, .friction_2 = 0.4 };
    cairn_world *world = floor_world(3, &material);
    cairn_step_options options = step_by(1e-3, "coulomb", EXACT);
    add_mover(world, (mover){ .velocity = { 1, 1, 0 } });
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_contacts(world).mu_2[0], 0.2, 0);
    cairn_world_destroy(world);
    world = bare_world(3, &material);
    add_belt(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 0, 1, 5 });
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_POINT, 3);
    def.mass = 1;
    def.friction_axis = (cairn_vec3){ 1, 0, 0 };
    CHECK_OK(cairn_body_create(world, &def, &id));
    advance(world, &options, 1);
    CHECK_NEAR(fabs(cairn_world_contacts(world).tangent[0].y), 1, 1e-15);
    cairn_world_destroy(world);
}

/* Held bodies have the first rows, but here the floor is the younger one. */
TEST(the_axis_of_the_body_created_first_counts_whatever_its_row)
{
    const cairn_material_def material = { .friction = 0.2, .friction_2 = 0.4 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(1e-3, "coulomb", EXACT);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_POINT, 3);
    def.mass = 1;
    def.friction_axis = (cairn_vec3){ 1, 0, 0 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    add_belt(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 0, 1, 5 });
    advance(world, &options, 1);
    CHECK_NEAR(fabs(cairn_world_contacts(world).tangent[0].x), 1, 1e-15);
    cairn_world_destroy(world);
}

/* 0 is no range but the default one. */
TEST(an_adhesion_range_that_one_material_gives_counts)
{
    const double range[3][3] = { { 0, 1e-3, 1e-3 }, { 2e-3, 1e-3, 1e-3 }, { 0, 0, 0 } };
    for (int k = 0; k < 3; k++) {
        cairn_world *world = new_world(3, G, 0, 0);
        cairn_material_def one = { .adhesion = 1, .adhesion_range = range[k][0] };
        cairn_material_def two = { .adhesion = 1, .adhesion_range = range[k][1] };
        cairn_material_def pair;
        int a, b;
        CHECK_OK(cairn_material_create(world, &one, &a));
        CHECK_OK(cairn_material_create(world, &two, &b));
        CHECK_OK(cairn_material_pair_get(world, a, b, &pair));
        CHECK_NEAR(pair.adhesion_range, range[k][2], 0);
        cairn_world_destroy(world);
    }
}

/* ---- adhesion ------------------------------------------------------------------------------- */

/* A ball of weight `share` times the adhesion under a ceiling; what it fell in 0.3 s. */
static double hang(int dimension, double share, const char *scheme)
{
    const cairn_material_def material = { .friction = 0.5, .adhesion = G / share };
    cairn_world *world = bare_world(dimension, &material);
    cairn_step_options options = step_by(1e-3, scheme, EXACT);
    cairn_shape ceiling = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, dimension);
    ceiling.axis = up(dimension, -1);
    add_wall(world, ceiling, (cairn_vec3){ 0, 0, 0 });
    int ball = add_mover(world, (mover){ .radius = 0.1, .position = up(dimension, -0.1) });
    ledger(world, &options, 300);
    cairn_vec3 x = cairn_world_bodies(world).x[ball];
    cairn_contacts c = cairn_world_contacts(world);
    if (share < 1) /* the normal impulse is a pull */
        CHECK_NEAR(c.impulse[0], -1e-3 * G, 1e-9);
    cairn_world_destroy(world);
    return -0.1 - (dimension == 2 ? x.y : x.z);
}

TEST(a_ball_hangs_up_to_the_adhesion_and_falls_beyond)
{
    const char *const schemes[] = { "coulomb", "convex", "moreau-jean", "lcp" };
    for (int i = 0; i < 4; i++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            CHECK_NEAR(hang(dimension, 0.99, schemes[i]), 0, 1e-9);
            CHECK(hang(dimension, 1.01, schemes[i]) > 0.2); /* free fall: 0.44 m */
        }
}

/* 1e30 N for 0.01 s is 1e28 N s, of which rounding leaves 1e12: no motion of 1 kg is seen in that. At
 * most 1e-9 of 0.1 m may be lost: 1e-9 0.1 1 / (2.2e-16 1e-4) = 4.5e9 N. */
TEST(a_pull_that_drowns_the_motion_in_rounding_is_refused)
{
    const double pulls[] = { 1e30, 4.6e9, 4.4e9 };
    for (int i = 0; i < 3; i++) {
        const cairn_material_def material = { .friction = 0.5, .adhesion = pulls[i] };
        cairn_world *world = bare_world(3, &material);
        cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
        cairn_step_report report;
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
        add_ball(world, 0.1, up(3, 0.1), (cairn_vec3){ 0, 0, 0 });
        cairn_status status = cairn_world_step(world, &options, &report);
        CHECK_INT(status, pulls[i] < 4.5e9 ? CAIRN_OK : CAIRN_BAD_INPUT);
        if (status != CAIRN_OK)
            CHECK(strstr(cairn_world_error(world)->message, "expected at most 4.5e+09 N"));
        cairn_world_destroy(world);
    }
}

/* Under a ceiling with c = 3 m g friction holds mu (r_N + h c)/h = mu 2 m g. */
TEST(adhesion_gives_friction_its_share)
{
    const cairn_material_def material = { .friction = 0.5, .adhesion = 3 * G };
    for (int slips = 0; slips < 2; slips++) {
        cairn_world *world = bare_world(3, &material);
        cairn_step_options options = step_by(1e-3, "coulomb", EXACT);
        cairn_shape ceiling = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
        ceiling.axis = up(3, -1);
        add_wall(world, ceiling, (cairn_vec3){ 0, 0, 0 });
        double force = 0.5 * 2 * G * (slips ? 1.01 : 0.99);
        int point = add_mover(world, (mover){ .force = { force, 0, 0 } });
        advance(world, &options, 100);
        double v = cairn_world_bodies(world).v[point].x;
        CHECK_NEAR(v, slips ? 0.1 * 0.01 * G : 0, 1e-7);
        cairn_world_destroy(world);
    }
}

/* 1 mm below the ceiling nothing pulls, unless the range says so: then g - c/m is the acceleration
 * of the first step. */
TEST(adhesion_pulls_within_its_range)
{
    for (int within = 0; within < 2; within++) {
        const cairn_material_def material = { .adhesion = 0.5 * G,
                                              .adhesion_range = within ? 2e-3 : 0 };
        cairn_world *world = bare_world(3, &material);
        cairn_step_options options = step_by(1e-3, "coulomb", EXACT);
        options.margin = 0.01;
        cairn_shape ceiling = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
        ceiling.axis = up(3, -1);
        add_wall(world, ceiling, (cairn_vec3){ 0, 0, 0 });
        int ball = add_mover(world, (mover){ .radius = 0.1, .position = up(3, -0.101) });
        advance(world, &options, 1);
        double a = -cairn_world_bodies(world).v[ball].z / 1e-3;
        CHECK_NEAR(a, within ? 0.5 * G : G, 1e-9);
        CHECK_NEAR(cairn_world_contacts(world).adhesion[0], within ? 0.5 * G : 0, 0);
        cairn_world_destroy(world);
    }
}

/* ---- rolling and spinning ------------------------------------------------------------------- */

static const double RADIUS = 0.1, MU_R = 0.002;

/* A ball (2D: disk) rolling along x with `speed`, mu_R = 2 mm; its velocity after some steps of
 * 1 ms. */
static cairn_vec3 roll(int dimension, const char *scheme, double speed, int steps)
{
    const cairn_material_def material = { .friction = 0.5, .rolling_friction = MU_R };
    cairn_world *world = floor_world(dimension, &material);
    cairn_step_options options = step_by(1e-3, scheme, 1e-10);
    double turn = speed / RADIUS;
    mover m = { .radius = RADIUS, .position = up(dimension, RADIUS), .velocity = { speed, 0, 0 } };
    m.angular_velocity = dimension == 2 ? (cairn_vec3){ 0, 0, -turn } : (cairn_vec3){ 0, turn, 0 };
    int ball = add_mover(world, m);
    cairn_energy sum = ledger(world, &options, steps);
    CHECK_NEAR(sum.driver_work, 0, 0);
    cairn_vec3 v = cairn_world_bodies(world).v[ball];
    CHECK_INT(cairn_world_contacts(world).moments, dimension == 2 ? 1 : 3);
    cairn_world_destroy(world);
    return v;
}

/* v' = - (mu_R/R) g/(1 + J/(m R^2)): 5/7 for a ball, 2/3 for a disk. */
static double slowing(int dimension)
{
    return (dimension == 2 ? 2.0 / 3 : 5.0 / 7) * MU_R / RADIUS * G;
}

TEST(a_rolling_ball_slows_down_and_comes_to_rest)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        double a = slowing(dimension);
        CHECK_NEAR(roll(dimension, "coulomb", 0.1, 300).x, 0.1 - 0.3 * a, 1e-8);
        int stop = (int)ceil(0.1 / a / 1e-3);
        CHECK(roll(dimension, "coulomb", 0.1, stop - 1).x > 1e-6);
        CHECK_NEAR(roll(dimension, "coulomb", 0.1, stop).x, 0, 1e-8);
    }
}

/* The convex law keeps the gap h mu_R |u_R|. It closes at constant speed as the ball slows down, so
 * the ball slows down as it should, once it has risen. */
TEST(a_rolling_ball_by_the_convex_law_keeps_a_gap)
{
    const cairn_material_def material = { .friction = 0.5, .rolling_friction = MU_R };
    cairn_world *world = floor_world(3, &material);
    cairn_step_options options = step_by(1e-3, "convex", 1e-10);
    mover m = { .radius = RADIUS, .position = up(3, RADIUS), .velocity = { 0.1, 0, 0 } };
    m.angular_velocity = (cairn_vec3){ 0, 1, 0 };
    int ball = add_mover(world, m);
    advance(world, &options, 100);
    cairn_bodies b = cairn_world_bodies(world);
    double turning = b.omega[ball].y, speed = b.v[ball].x;
    CHECK_NEAR(b.x[ball].z - RADIUS, 1e-3 * MU_R * turning, 1e-11);
    cairn_step_report report = advance(world, &options, 100);
    CHECK_NEAR(speed - cairn_world_bodies(world).v[ball].x, 0.1 * slowing(3), 1e-8);
    CHECK_NEAR(report.certificate.dilatation, 1e-3 * MU_R * cairn_world_bodies(world).omega[ball].y,
               1e-11);
    cairn_world_destroy(world);
}

/* Not in the plane of a tangent: the moment opposes the turning whatever its direction. */
TEST(rolling_friction_is_the_same_in_all_directions)
{
    const cairn_material_def material = { .friction = 0.5, .rolling_friction = MU_R };
    cairn_world *world = floor_world(3, &material);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-10);
    mover m = { .radius = RADIUS, .position = up(3, RADIUS), .velocity = { 0.06, 0.08, 0 } };
    m.angular_velocity = (cairn_vec3){ -0.8, 0.6, 0 };
    int ball = add_mover(world, m);
    cairn_step_report report = advance(world, &options, 300);
    cairn_vec3 v = cairn_world_bodies(world).v[ball];
    double left = 1 - 0.3 * slowing(3) / 0.1;
    CHECK_NEAR(v.x, 0.06 * left, 1e-8);
    CHECK_NEAR(v.y, 0.08 * left, 1e-8);
    cairn_contacts c = cairn_world_contacts(world);
    CHECK_NEAR(hypot(c.moment[0], c.moment[1]), MU_R * c.impulse[0], 1e-12);
    CHECK_NEAR(hypot(c.turning[0], c.turning[1]), hypot(v.x, v.y) / RADIUS, 1e-6);
    CHECK(report.certificate.friction_direction < 1e-8);
    cairn_world_destroy(world);
}

/* A ball that rolls down holds on a slope with tan(angle) < mu_R/R: here gravity has a part along x
 * of 0.99 and 1.01 of that. */
TEST(a_ball_rests_on_a_slope_up_to_mu_R_over_R)
{
    for (int rolls = 0; rolls < 2; rolls++) {
        const cairn_material_def material = { .friction = 0.5, .rolling_friction = MU_R };
        cairn_world *world = floor_world(3, &material);
        cairn_step_options options = step_by(1e-3, "coulomb", 1e-11);
        double pull = G * MU_R / RADIUS * (rolls ? 1.01 : 0.99);
        int ball = add_mover(
            world, (mover){ .radius = RADIUS, .position = up(3, RADIUS), .force = { pull, 0, 0 } });
        advance(world, &options, 200);
        double v = cairn_world_bodies(world).v[ball].x;
        double a = 5.0 / 7 * 0.01 * G * MU_R / RADIUS;
        CHECK_NEAR(v, rolls ? 0.2 * a : 0, 1e-8);
        cairn_world_destroy(world);
    }
}

/* A ball spinning about the vertical: w' = - mu_S m g/J, J = 2/5 m R^2. */
TEST(a_spinning_ball_stops_at_its_exact_time)
{
    const char *const schemes[] = { "coulomb", "moreau-jean" };
    const cairn_material_def material = { .friction = 0.5, .spinning_friction = 0.001 };
    for (int i = 0; i < 2; i++) {
        cairn_world *world = floor_world(3, &material);
        cairn_step_options options = step_by(1e-3, schemes[i], 1e-10);
        mover m = { .radius = RADIUS, .position = up(3, RADIUS), .angular_velocity = { 0, 0, 1 } };
        int ball = add_mover(world, m);
        double slowing_down =
            0.001 * G / (0.4 * RADIUS * RADIUS); /* 2.4525: stops after 0.4077 s */
        cairn_energy sum = ledger(world, &options, 400);
        CHECK_NEAR(cairn_world_bodies(world).omega[ball].z, 1 - 0.4 * slowing_down, 1e-8);
        cairn_contacts c = cairn_world_contacts(world);
        CHECK_NEAR(c.moment[2], -0.001 * c.impulse[0], 1e-12);
        CHECK_NEAR(c.moment[0], 0, 0);
        cairn_energy rest = ledger(world, &options, 8);
        CHECK_NEAR(cairn_world_bodies(world).omega[ball].z, 0, 1e-8);
        CHECK_NEAR(sum.friction_loss + rest.friction_loss, 0.5 * 0.4 * RADIUS * RADIUS, 1e-9);
        cairn_world_destroy(world);
    }
}

/* A driven floor that turns about the vertical carries the ball's spin along: J w' = mu_S m g. */
TEST(spinning_friction_takes_its_speed_from_a_turning_floor)
{
    const cairn_material_def material = { .friction = 0.5, .spinning_friction = 0.001 };
    cairn_world *world = bare_world(3, &material);
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-10);
    cairn_driver turn = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    turn.angular_velocity = (cairn_vec3){ 0, 0, 3 };
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.drivers = &turn;
    def.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &def, &id));
    int ball = add_mover(world, (mover){ .radius = RADIUS, .position = up(3, RADIUS) });
    cairn_energy sum = ledger(world, &options, 100);
    double speed = 0.1 * 0.001 * G / (0.4 * RADIUS * RADIUS);
    CHECK_NEAR(cairn_world_bodies(world).omega[ball].z, speed, 1e-8);
    CHECK_NEAR(sum.driver_work, 3 * 0.001 * G * 0.1, 1e-9); /* moment times turning */
    cairn_world_destroy(world);
}

/* Balls with all laws at once in a heap: certified, closed, and no energy out of nothing. */
static void heap_is_certified(int dimension, const char *scheme)
{
    cairn_world *world = new_heap(dimension, 0.4, 4);
    const cairn_material_def material = { .friction = 0.4,
                                          .friction_2 = dimension == 3 ? 0.2 : 0,
                                          .rolling_friction = 0.01,
                                          .spinning_friction = dimension == 3 ? 0.004 : 0,
                                          .adhesion = 2 };
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
    cairn_step_options options = step_by(2e-3, scheme, 1e-6);
    ledger(world, &options, 150);
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.active >= 12);
    CHECK(report.certificate.judgement.asked.relative <= 1e-6);
    CHECK(report.certificate.cone_violation < 1e-9);
    cairn_world_destroy(world);
}

TEST(a_heap_with_all_laws_is_certified)
{
    heap_is_certified(2, "convex");
    heap_is_certified(2, "coulomb");
    heap_is_certified(3, "convex");
    heap_is_certified(3, "coulomb");
}

/* In 2D cones have no edges, so their schemes roll as well. */
TEST(schemes_with_edges_roll_in_2d)
{
    CHECK_NEAR(roll(2, "lcp", 0.1, 300).x, 0.1 - 0.3 * slowing(2), 1e-8);
    CHECK_NEAR(roll(2, "stewart-trinkle", 0.1, 300).x, 0.1 - 0.3 * slowing(2), 1e-8);
    CHECK_NEAR(roll(2, "frictionless", 0.1, 300).x, 0.1, 1e-12);
}

/* Every solver that says so finds the same velocity of the rolling ball. */
TEST(solvers_that_treat_rolling_agree)
{
    int tried = 0;
    for (int i = 0; cairn_solver_name(i); i++) {
        const char *solver = cairn_solver_name(i);
        if (!cairn_solver_treats_rolling(solver))
            continue;
        const cairn_material_def material = { .friction = 0.5, .rolling_friction = MU_R };
        cairn_world *world = floor_world(3, &material);
        cairn_step_options options = step_by(1e-3, "convex", 1e-8);
        options.solver = solver;
        mover m = { .radius = RADIUS, .position = up(3, RADIUS), .velocity = { 0.1, 0, 0 } };
        m.angular_velocity.y = 1;
        int ball = add_mover(world, m);
        advance(world, &options, 50);
        double v = cairn_world_bodies(world).v[ball].x;
        CHECK_NEAR(v, 0.1 - 0.05 * slowing(3), 1e-5);
        cairn_world_destroy(world);
        tried++;
    }
    CHECK(tried >= 6);
}

/* Two balls with a rod between their centres, the first pulled with 1 N: 2 (m + J/R^2) v' =
 * F - 2 mu_R m g/R, and the rod pulls the second with (m + J/R^2) v' + mu_R m g/R. */
TEST(balls_roll_at_a_rod)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        const cairn_material_def material = { .friction = 0.5, .rolling_friction = MU_R };
        cairn_world *world = floor_world(dimension, &material);
        cairn_step_options options = step_by(1e-3, "coulomb", 1e-10);
        mover m = { .radius = RADIUS, .position = up(dimension, RADIUS), .force = { 1, 0, 0 } };
        int first = add_mover(world, m);
        m.position.x = -1;
        m.force.x = 0;
        int second = add_mover(world, m);
        cairn_joint_def rod = cairn_joint_def_default();
        cairn_joint_id id;
        rod.kind = CAIRN_JOINT_DISTANCE;
        rod.a = (cairn_body_id){ cairn_world_bodies(world).uid[first] };
        rod.b = (cairn_body_id){ cairn_world_bodies(world).uid[second] };
        rod.anchor = up(dimension, RADIUS);
        rod.anchor_b = m.position;
        CHECK_OK(cairn_joint_create(world, &rod, &id));
        ledger(world, &options, 100);
        double heavy = dimension == 2 ? 1.5 : 1.4, drag = MU_R * G / RADIUS;
        double a = (1 - 2 * drag) / (2 * heavy);
        CHECK_NEAR(cairn_world_bodies(world).v[second].x, 0.1 * a, 1e-8);
        CHECK_NEAR(fabs(cairn_world_joint(world, id.index).force.x), heavy * a + drag, 1e-7);
        cairn_world_destroy(world);
    }
}

/* ---- without memory ------------------------------------------------------------------------- */

enum { STEPS = 4 };

/* A heap with rolling friction and adhesion: hashes after each step; in step `bad` allocation n
 * fails (0: none) and the step is done again. False: the step made fewer allocations. */
static bool run_without_memory(int bad, long n, uint64_t hashes[STEPS])
{
    meter m = { 0 };
    meter_install(&m);
    cairn_world *world = new_heap(3, 0.4, 2);
    const cairn_material_def material = { .friction = 0.4,
                                          .rolling_friction = 0.01,
                                          .adhesion = 2 };
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
    cairn_step_options options = step_by(0.03, "convex", 1e-6);
    bool reached = false;
    for (int k = 0; k < STEPS; k++) {
        cairn_step_report report;
        m.fail_at = n > 0 && k == bad ? m.calls + n : 0;
        cairn_status status = cairn_world_step(world, &options, &report);
        reached = reached || (m.fail_at > 0 && m.calls >= m.fail_at);
        m.fail_at = 0;
        if (status == CAIRN_NO_MEMORY)
            status = cairn_world_step(world, &options, &report);
        CHECK_OK(status);
        if (n > 0)
            CHECK(cairn_world_hash(world) == hashes[k]);
        hashes[k] = cairn_world_hash(world);
    }
    CHECK(n > 0 || cairn_world_contacts(world).count > 10);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
    return reached;
}

TEST(a_step_without_memory_can_be_done_again)
{
    uint64_t hashes[STEPS];
    int failures = 0;
    run_without_memory(0, 0, hashes);
    for (int bad = 0; bad < STEPS; bad++)
        for (long n = 1; run_without_memory(bad, n, hashes); n++)
            failures++;
    CHECK(failures > 20);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void check_refused(const cairn_world *world, const char *scheme, const char *solver,
                          const char *key, const char *piece)
{
    cairn_error error = { 0 };
    cairn_step_options options = step_by(1e-3, scheme, 1e-6);
    options.solver = solver;
    CHECK_INT(cairn_world_step_check(world, &options, &error), CAIRN_UNSUPPORTED);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, piece);
}

TEST(what_does_not_treat_rolling_is_refused)
{
    const cairn_material_def material = { .friction = 0.5, .rolling_friction = 0.01 };
    cairn_world *world = floor_world(3, &material);
    cairn_error error;
    const char *const schemes[] = { "fixed-point", "coulomb-newton",    "auto",
                                    "lcp",         "convex-polyhedral", "stewart-trinkle" };
    for (int i = 0; i < 6; i++)
        check_refused(world, schemes[i], "auto", "scheme", schemes[i]);
    check_refused(world, "convex", "ipm", "solver", "ipm does not treat rolling");
    check_refused(world, "coulomb", "apgd", "solver", "apgd does not treat rolling");
    cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    CHECK_OK(cairn_world_step_check(world, &options, &error));
    options.scheme = "frictionless";
    CHECK_OK(cairn_world_step_check(world, &options, &error));
    const cairn_material_def bouncy = { .restitution = 0.5, .restitution_law = "poisson" };
    CHECK_OK(cairn_material_create(world, &bouncy, NULL));
    check_refused(world, "convex", "auto", "scheme", "Poisson");
    cairn_world_destroy(world);
}

TEST(friction_2_with_a_law_of_speed_is_refused)
{
    cairn_material_def material = { .friction = 0.5, .friction_2 = 0.2 };
    cairn_world *world = floor_world(3, &material);
    material =
        (cairn_material_def){ .friction_law = cairn_friction_law_default(CAIRN_FRICTION_STRIBECK) };
    material.friction_law.mu_static = 0.5;
    material.friction_law.speed = 1;
    CHECK_OK(cairn_material_create(world, &material, NULL));
    check_refused(world, "coulomb", "auto", "scheme", "friction_2");
    cairn_world_destroy(world);
}

TEST(bodies_and_materials_with_impossible_surfaces_are_refused)
{
    cairn_world *flat = new_world(2, G, 0.5, 0), *world = new_world(3, G, 0.5, 0);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 1;
    def.surface_velocity.x = 1;
    CHECK_INT(cairn_body_create(world, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "surface_velocity");
    def.surface_velocity.x = NAN;
    CHECK_INT(cairn_body_create(world, &def, NULL), CAIRN_NOT_FINITE);
    def.surface_velocity.x = 0;
    def.friction_axis.x = 1;
    CHECK_INT(cairn_body_create(flat, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(flat)->key, "friction_axis");
    cairn_material_def material = { .spinning_friction = 0.1 };
    CHECK_INT(cairn_material_create(flat, &material, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(flat)->key, "spinning_friction");
    material = (cairn_material_def){ .adhesion = -1 };
    CHECK_INT(cairn_material_create(world, &material, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "adhesion");
    cairn_world_destroy(flat);
    cairn_world_destroy(world);
}

/* The smaller of both, and what a pair says itself. */
TEST(where_two_materials_meet_the_smaller_values_count)
{
    const cairn_material_def one = { .friction = 0.5,
                                     .friction_2 = 0.9,
                                     .adhesion = 3,
                                     .rolling_friction = 0.01,
                                     .spinning_friction = 0.02 };
    const cairn_material_def other = { .friction = 0.7, .adhesion = 2, .rolling_friction = 0.03 };
    cairn_world *world = floor_world(3, &one);
    cairn_material_def pair;
    CHECK_OK(cairn_material_create(world, &other, NULL));
    CHECK_OK(cairn_material_pair_get(world, 0, 1, &pair));
    CHECK_NEAR(pair.friction, 0.5, 0);
    CHECK_NEAR(pair.friction_2, 0.7, 0);
    CHECK_NEAR(pair.adhesion, 2, 0);
    CHECK_NEAR(pair.rolling_friction, 0.01, 0);
    CHECK_NEAR(pair.spinning_friction, 0, 0);
    cairn_world_destroy(world);
}

GROUP(test_surface_laws)
{
    RUN(CASE(a_belt_carries_a_point_to_its_speed_at_mu_g),
        CASE(the_convex_law_lifts_what_slides_on_a_belt),
        CASE(the_part_of_a_surface_velocity_along_the_contact_counts),
        CASE(the_axis_of_the_body_created_first_counts_whatever_its_row),
        CASE(an_adhesion_range_that_one_material_gives_counts),
        CASE(elliptic_friction_turns_the_velocity_as_maximal_dissipation_says),
        CASE(elliptic_sliding_follows_its_exact_path_to_first_order),
        CASE(the_convex_law_lifts_by_the_support_function_of_the_ellipse),
        CASE(elliptic_friction_holds_up_to_the_ellipse), CASE(a_skate_slides_along_its_axis),
        CASE(friction_2_needs_an_axis_and_takes_the_first),
        CASE(a_ball_hangs_up_to_the_adhesion_and_falls_beyond),
        CASE(a_pull_that_drowns_the_motion_in_rounding_is_refused),
        CASE(adhesion_gives_friction_its_share), CASE(adhesion_pulls_within_its_range),
        CASE(a_rolling_ball_slows_down_and_comes_to_rest),
        CASE(a_rolling_ball_by_the_convex_law_keeps_a_gap),
        CASE(rolling_friction_is_the_same_in_all_directions),
        CASE(a_ball_rests_on_a_slope_up_to_mu_R_over_R),
        CASE(a_spinning_ball_stops_at_its_exact_time),
        CASE(spinning_friction_takes_its_speed_from_a_turning_floor),
        CASE(a_heap_with_all_laws_is_certified), CASE(schemes_with_edges_roll_in_2d),
        CASE(solvers_that_treat_rolling_agree), CASE(balls_roll_at_a_rod),
        CASE(a_step_without_memory_can_be_done_again), CASE(what_does_not_treat_rolling_is_refused),
        CASE(friction_2_with_a_law_of_speed_is_refused),
        CASE(bodies_and_materials_with_impossible_surfaces_are_refused),
        CASE(where_two_materials_meet_the_smaller_values_count));
}
