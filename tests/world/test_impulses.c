/* test_impulses.c - impacts: in one go, and one after the other within a step. */
#include "base/common.h"
#include "tests/problems/worlds.h"

/* ==== test_impulses: friction laws and Poisson's impacts within a step, against answers by
 * hand */

static const cairn_vec3 zero = { 0, 0, 0 };
static const char *const exact_schemes[] = { "coulomb", "fixed-point", "coulomb-newton", "lcp",
                                             "moreau-jean" };

/* ---- friction laws -------------------------------------------------------------------------- */

/* From 0.5 to 0.3 around 0.2 m/s. */
static double mu_at(double speed)
{
    return 0.3 + 0.2 * exp(-(speed / 0.2) * (speed / 0.2));
}

static cairn_material_def stribeck(void)
{
    cairn_material_def material = cairn_material_def_default();
    material.friction_law = cairn_friction_law_default(CAIRN_FRICTION_STRIBECK);
    material.friction_law.mu_static = 0.5;
    material.friction_law.mu_dynamic = 0.3;
    material.friction_law.speed = 0.2;
    return material;
}

/* A block: a point of mass 2 on a floor, gravity 10, pulled along (3, 4)/5 (2D: x) with `force`. */
static cairn_world *new_block(int dimension, const cairn_material_def *material, double speed,
                              double force)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_body_def body = cairn_body_def_default();
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_vec3 way = dimension == 3 ? (cairn_vec3){ 0.6, 0.8, 0 } : (cairn_vec3){ 1, 0, 0 };
    cairn_world *world;
    def.dimension = dimension;
    def.gravity = (cairn_vec3){ 0, dimension == 2 ? -10 : 0, dimension == 3 ? -10 : 0 };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    load.force = (cairn_vec3){ force * way.x, force * way.y, 0 };
    body.shape = cairn_shape_default(CAIRN_SHAPE_POINT, dimension);
    body.mass = 2;
    body.velocity = (cairn_vec3){ speed * way.x, speed * way.y, 0 };
    body.loads = &load;
    body.load_count = 1;
    CHECK_OK(cairn_body_create(world, &body, NULL));
    return world;
}

static double speed_of(const cairn_world *world)
{
    cairn_vec3 v = cairn_world_bodies(world).v[1];
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

/* the step is v+ = v - h g mu(v+): checked as an equation, in every exact scheme, 2D and 3D */
TEST(every_exact_scheme_finds_mu_and_speed_together)
{
    const cairn_material_def material = stribeck();
    for (int k = 0; k < 10; k++) {
        int dimension = 2 + k % 2;
        cairn_world *world = new_block(dimension, &material, 0.5, 0);
        cairn_step_options options = step_by(0.004, exact_schemes[k / 2], 1e-11);
        options.directions = 1000; /* lcp in 3D: nearly circular */
        for (int i = 0; i < (CHECKED ? 5 : 20); i++) {
            double before = speed_of(world);
            cairn_step_report report = advance(world, &options, 1);
            double after = speed_of(world), mu = cairn_world_contacts(world).mu[0];
            CHECK_NEAR(after, before - 0.04 * mu, dimension == 3 && k / 2 == 3 ? 1e-6 : 1e-9);
            CHECK_NEAR(mu, mu_at(after), 1e-9);
            CHECK(report.certificate.friction_law < 1e-9);
        }
        cairn_world_destroy(world);
    }
}

/* v' = -g mu(v) by Runge-Kutta */
static double speed_after(double v, double time)
{
    const int steps = 2000;
    double h = time / steps;
    for (int i = 0; i < steps; i++) {
        double a = -10 * mu_at(v), b = -10 * mu_at(v + h * a / 2), c = -10 * mu_at(v + h * b / 2);
        v += h * (a + 2 * b + 2 * c - 10 * mu_at(v + h * c)) / 6;
    }
    return v;
}

static double braking_error(double h)
{
    const cairn_material_def material = stribeck();
    cairn_world *world = new_block(2, &material, 0.5, 0);
    cairn_step_options options = step_by(h, "coulomb", 1e-12);
    advance(world, &options, (int)round(0.12 / h));
    double error = speed_of(world) - speed_after(0.5, 0.12);
    cairn_world_destroy(world);
    return fabs(error);
}

TEST(a_braking_block_follows_the_differential_equation_to_first_order)
{
    double coarse = braking_error(0.002), fine = braking_error(0.001);
    CHECK(coarse > 1e-6 && coarse < 2e-3);
    CHECK_CLOSE(coarse / fine, 2, 0.05);
}

/* mu_s m g = 10 N: 9.9 N hold it, 10.1 N move it, and then v' = F/m - g mu(v) */
TEST(a_block_sticks_up_to_static_friction)
{
    const cairn_material_def material = stribeck();
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_world *held = new_block(dimension, &material, 0, 9.9);
        cairn_world *moved = new_block(dimension, &material, 0, 10.1);
        cairn_step_options options = step_by(0.001, "coulomb", 1e-12);
        advance(held, &options, 200);
        CHECK_NEAR(speed_of(held), 0, 1e-12);
        for (int i = 0; i < 900; i++) {
            double before = speed_of(moved);
            advance(moved, &options, 1);
            double after = speed_of(moved);
            CHECK_NEAR(after, before + 0.001 * (10.1 / 2 - 10 * mu_at(after)), 1e-9);
        }
        CHECK(speed_of(moved) > 0.15); /* with mu_s for ever it would be 0.045 */
        cairn_world_destroy(held);
        cairn_world_destroy(moved);
    }
}

/* a step too long for the law: h g |mu'| > 1, so that from rest with 9.8 N both v = 0 and v = 0.366
 * solve v = h (F/m - g mu(v)); what rests goes on resting, what slides goes on sliding */
TEST(where_two_speeds_are_possible_the_motion_so_far_decides)
{
    const cairn_material_def material = stribeck();
    cairn_step_options options = step_by(0.2, "coulomb", 1e-12);
    cairn_world *resting = new_block(2, &material, 0, 9.8);
    cairn_world *sliding = new_block(2, &material, 0.1, 9.8);
    CHECK_NEAR(0.2 * (4.9 - 10 * mu_at(0.366)), 0.366, 1e-3);
    advance(resting, &options, 1);
    CHECK_NEAR(speed_of(resting), 0, 1e-12);
    advance(sliding, &options, 1);
    double v = speed_of(sliding);
    CHECK(v > 0.2);
    CHECK_NEAR(v, 0.1 + 0.2 * (4.9 - 10 * mu_at(v)), 1e-9);
    cairn_world_destroy(resting);
    cairn_world_destroy(sliding);
}

/* a table of one value is a constant law by another way */
TEST(a_flat_table_gives_constant_friction)
{
    const double at = 0, value = 0.4;
    cairn_material_def flat = { .friction_law = { .kind = CAIRN_FRICTION_TABLE,
                                                  .speeds = { &at, 1 },
                                                  .values = { &value, 1 } } };
    cairn_material_def constant = { .friction = 0.4 };
    cairn_step_options options = step_by(0.01, "coulomb", 1e-12);
    cairn_world *one = new_block(3, &flat, 3, 1), *other = new_block(3, &constant, 3, 1);
    advance(one, &options, 50);
    advance(other, &options, 50);
    CHECK_NEAR(speed_of(one), speed_of(other), 1e-11);
    CHECK_NEAR(speed_of(other), 3 + 0.5 * (0.5 - 4), 1e-9);
    cairn_world_destroy(one);
    cairn_world_destroy(other);
}

TEST(convex_schemes_refuse_friction_laws_and_say_why)
{
    const cairn_material_def material = stribeck();
    cairn_world *world = new_block(2, &material, 1, 0);
    uint64_t before = cairn_world_hash(world);
    const char *const schemes[] = { "convex", "convex-polyhedral" };
    for (int i = 0; i < 2; i++) {
        cairn_step_options options = step_by(0.01, schemes[i], 1e-9);
        cairn_step_report report;
        CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_UNSUPPORTED);
        CHECK_TEXT(cairn_world_error(world)->key, "scheme");
        CHECK_CONTAINS(cairn_world_error(world)->message, "depends on the sliding speed");
    }
    CHECK(cairn_world_hash(world) == before);
    cairn_step_options options = step_by(0.01, "frictionless", 1e-9);
    advance(world, &options, 1);
    CHECK_NEAR(speed_of(world), 1, 1e-15);
    cairn_world_destroy(world);
}

/* one update is not enough for a steep law: said so, with the change of mu */
TEST(too_few_updates_are_reported)
{
    const cairn_material_def material = stribeck();
    cairn_world *world = new_block(2, &material, 0.3, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-12);
    cairn_step_report report;
    options.max_fixed_point = 1;
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK(!report.solve.converged);
    CHECK_CONTAINS(report.solve.remark, "friction law: mu changed by");
    CHECK_NEAR(report.certificate.friction_law, mu_at(0.3 - 0.1 * mu_at(0.3)) - mu_at(0.3), 1e-9);
    CHECK(report.certificate.judgement.asked.relative > 1e-12);
    cairn_world_destroy(world);
}

/* ---- Poisson's impacts ---------------------------------------------------------------------- */

static cairn_material_def bouncy(const char *law, double mu, double e)
{
    return (cairn_material_def){ .friction = mu, .restitution = e, .restitution_law = law };
}

/* A ball of mass 1 above a floor at height `up`, gravity g along the last axis. */
static cairn_world *new_bounce(int dimension, double g, const cairn_material_def *material,
                               cairn_vec3 v)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world;
    cairn_vec3 at = { 0, dimension == 2 ? 0.1001 : 0, dimension == 3 ? 0.1001 : 0 };
    def.dimension = dimension;
    def.gravity = (cairn_vec3){ 0, dimension == 2 ? -g : 0, dimension == 3 ? -g : 0 };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, at, v);
    return world;
}

/* -2 m/s, e = 0.75, without gravity: +1.5 m/s, in every scheme and both dimensions; ledger:
 * 1/2 (4 - 2.25) = 0.875 J lost in the impact */
TEST(a_ball_bounces_by_poissons_law_in_every_scheme)
{
    const cairn_material_def material = bouncy("poisson", 0.3, 0.75);
    const char *scheme;
    for (int i = 0; (scheme = cairn_scheme_name(i)); i++)
        for (int d = 2; d <= 3; d++) {
            cairn_vec3 down = { 0, d == 2 ? -2 : 0, d == 3 ? -2 : 0 };
            cairn_world *world = new_bounce(d, 0, &material, down);
            cairn_step_options options = step_by(0.01, scheme, 1e-11);
            cairn_step_report report = advance(world, &options, 1);
            cairn_vec3 v = cairn_world_bodies(world).v[1];
            CHECK_NEAR(d == 2 ? v.y : v.z, 1.5, 1e-10);
            CHECK_NEAR(report.energy.impact_loss, 0.875, 1e-10);
            CHECK_NEAR(report.certificate.gap_error, 0, 1e-12);
            CHECK_NEAR(report.certificate.complementarity, 0, 1e-10);
            CHECK(report.certificate.judgement.asked.relative <= 1e-11);
            CHECK_NEAR(cairn_world_contacts(world).impulse[0], 3.5, 1e-10);
            CHECK_INT(report.active, 1);
            cairn_world_destroy(world);
        }
}

/* spin and slip: in the compression of 2 N s friction gives mu 2, in the decompression mu e 2, all
 * of it against sliding: v_x = 5 - 0.1 * 3.5, spin 0.1 * 3.5 * R/J with J = 2/5 m R^2 */
TEST(friction_acts_in_both_phases)
{
    const cairn_material_def material = bouncy("poisson", 0.1, 0.75);
    cairn_world *world = new_bounce(3, 0, &material, (cairn_vec3){ 5, 0, -2 });
    cairn_step_options options = step_by(0.01, "coulomb", 1e-12);
    cairn_step_report report = advance(world, &options, 1);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.v[1].x, 4.65, 1e-11);
    CHECK_NEAR(b.v[1].z, 1.5, 1e-11);
    CHECK_NEAR(b.omega[1].y, 0.35 * 0.1 / 0.004, 1e-9);
    CHECK_NEAR(report.certificate.friction_direction, 0, 1e-9);
    CHECK_NEAR(report.certificate.cone_violation, 0, 1e-12);
    cairn_world_destroy(world);
}

/* at rest there is nothing to bounce from, and rounding is not thrown up as an impact */
TEST(a_resting_ball_does_not_hop)
{
    for (int i = 0; i < 2; i++) {
        const cairn_material_def material = bouncy("poisson", 0.3, 0.9);
        cairn_world *world = new_world(2, 10, 0.3, 0);
        CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        /* the second one comes down with 1e-14 m/s */
        add_ball(world, 0.1, (cairn_vec3){ 0, 0.1, 0 }, (cairn_vec3){ 0, i ? -1e-14 : 0, 0 });
        cairn_step_options options = step_by(0.01, "coulomb", 1e-14);
        advance(world, &options, 100);
        CHECK_NEAR(cairn_world_bodies(world).v[1].y, 0, 1e-13);
        CHECK_NEAR(cairn_world_bodies(world).x[1].y, 0.1, 1e-13);
        cairn_world_destroy(world);
    }
}

/* a ball that overlaps by 1 mm and comes down with 1 m/s, e = 1: what mends the overlap, 0.1 m/s,
 * is not thrown back twice */
TEST(overlap_does_not_bounce)
{
    const cairn_material_def material = bouncy("poisson", 0, 1);
    cairn_world *world = new_world(2, 0, 0, 0);
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.099, 0 }, (cairn_vec3){ 0, -1, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, 1, 1e-12);
    cairn_world_destroy(world);
}

/* d(kinetic + potential) minus what the ledger says, relative; the largest of some steps */
static double ledger_gap(cairn_world *world, const cairn_step_options *options, int steps)
{
    double worst = 0, before = total_energy(world);
    for (int k = 0; k < steps; k++) {
        cairn_energy e = advance(world, options, 1).energy;
        double after = e.kinetic + e.potential;
        double said =
            e.load_work + e.driver_work + e.correction - e.friction_loss - e.impact_loss -
            e.numerical_loss;
        worst = fmax(worst, fabs(after - before - said) / (1 + e.kinetic + fabs(e.potential)));
        before = after;
    }
    return worst;
}

/* heaps of bouncing balls, with a friction law on top in the exact schemes */
TEST(the_ledger_closes_through_impacts)
{
    const char *scheme;
    for (int i = 0; (scheme = cairn_scheme_name(i)); i++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            cairn_world *world = new_heap(dimension, 0.4, 2);
            cairn_material_def material = stribeck();
            if (cairn_scheme_law(scheme) == CAIRN_LAW_CONVEX)
                material = cairn_material_def_default();
            material.restitution = 0.6;
            material.restitution_law = "poisson";
            CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
            cairn_step_options options = step_by(0.005, scheme, 1e-4);
            CHECK_NEAR(ledger_gap(world, &options, 100), 0, 1e-13);
            cairn_world_destroy(world);
        }
}

/* the problem lent after an impact is that of the compression, solved by its impulses: 2 m/s and half
 * a step of gravity, 0.05 m/s, are stopped; e = 0.5 of that comes back, and gravity takes 0.1 m/s in
 * all: 1.5 * 2.05 N s together */
TEST(the_problem_of_an_impact_is_its_compression)
{
    cairn_material_def material = stribeck(); /* mu differs between the phases */
    material.restitution = 0.5;
    material.restitution_law = "poisson";
    cairn_world *world = new_bounce(2, 10, &material, (cairn_vec3){ 3, -2, 0 });
    cairn_step_options options = step_by(0.01, "coulomb", 1e-11);
    advance(world, &options, 1);
    const double *r;
    const cairn_problem *p = cairn_world_problem(world, &r);
    double v[3], u[2];
    cairn_judgement said;
    cairn_judge(p, CAIRN_LAW_COULOMB, r, v, u, &said);
    CHECK(said.asked.relative <= 1e-11);
    CHECK_NEAR(r[0], 2.05, 1e-10);
    CHECK_NEAR(cairn_world_contacts(world).impulse[0], 3.075, 1e-10);
    cairn_world_destroy(world);
}

static cairn_world *new_poisson(void)
{
    const cairn_material_def material = bouncy("poisson", 0.3, 0.5);
    return new_bounce(2, 10, &material, (cairn_vec3){ 1, -2, 0 });
}

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    const cairn_step_options options = step_by(0.01, "coulomb", 1e-9);
    check_step_without_memory(new_poisson, &options);
}

GROUP(test_impulses)
{
    RUN(CASE(every_exact_scheme_finds_mu_and_speed_together),
        CASE(a_braking_block_follows_the_differential_equation_to_first_order),
        CASE(a_block_sticks_up_to_static_friction),
        CASE(where_two_speeds_are_possible_the_motion_so_far_decides),
        CASE(a_flat_table_gives_constant_friction),
        CASE(convex_schemes_refuse_friction_laws_and_say_why), CASE(too_few_updates_are_reported),
        CASE(a_ball_bounces_by_poissons_law_in_every_scheme), CASE(friction_acts_in_both_phases),
        CASE(a_resting_ball_does_not_hop), CASE(overlap_does_not_bounce),
        CASE(the_ledger_closes_through_impacts), CASE(the_problem_of_an_impact_is_its_compression),
        CASE(every_failed_allocation_is_told_and_nothing_leaks));
}

/* ==== test_chain: impacts one after the other within a step: rows of balls, a gas, balls under
 * gravity, what rests, and what is told when the rounds are over. */

/* Steps that resolve impacts one after the other. */
static cairn_step_options rounds_of(double h, const char *scheme, double tolerance)
{
    cairn_step_options options = step_by(h, scheme, tolerance);
    options.impact_rounds = 100;
    return options;
}

static void add_plane(cairn_world *world, cairn_vec3 axis, cairn_vec3 x)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, cairn_world_dimension(world));
    shape.axis = axis;
    add_wall(world, shape, x);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Bodies 2 to 9: balls of mass 1 and radius 5 cm in a row between two walls, all 1 mm apart, the
 * first one with 1 m/s. */
static cairn_world *new_row(void)
{
    cairn_world *world = new_world(2, 0, 0, 1);
    add_plane(world, (cairn_vec3){ 1, 0, 0 }, zero);
    add_plane(world, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ 0.809, 0, 0 });
    for (int i = 0; i < 8; i++)
        add_ball(world, 0.05, (cairn_vec3){ 0.051 + 0.101 * i, 0, 0 },
                 (cairn_vec3){ i ? 0 : 1, 0, 0 });
    return world;
}

/* One ball moves at a time, with 1 m/s, and passes it on every millisecond: up to eight impacts in a
 * step. After 2.0005 s, in which the motion has gone 2000.5 mm, 9 mm one way, it is on the way
 * back (2000.5 = 222 * 9 + 2.5) for the even number 222: on the way there, between balls 2 and 3. */
TEST(a_row_keeps_its_energy_at_every_time_step)
{
    const double steps[] = { 8e-3, 4e-3, 2e-3, 1e-3, 0.5e-3 };
    for (int k = 0; k < 5; k++) {
        cairn_world *world = new_row();
        cairn_step_options options = rounds_of(steps[k], "coulomb", 1e-3);
        int rounds = 0;
        for (int i = 0; i < (int)round(2 / steps[k]); i++) {
            cairn_step_report report = advance(world, &options, 1);
            rounds = report.impact_rounds > rounds ? report.impact_rounds : rounds;
            CHECK_INT(report.impacts_left, 0);
        }
        options.time_step = 0.5e-3;
        advance(world, &options, 1);
        CHECK_NEAR(total_energy(world), 0.5, 1e-12);
        for (int i = 0; i < 8; i++)
            CHECK_NEAR(cairn_world_bodies(world).v[2 + i].x, i == 2, 1e-9);
        CHECK(k > 2 || rounds > 1);
        cairn_world_destroy(world);
    }
}

/* all at once: the balls of a step of 4 ms are stopped where they touch, and it ends at rest */
TEST(without_rounds_the_row_loses_it)
{
    cairn_world *world = new_row();
    cairn_step_options options = rounds_of(4e-3, "coulomb", 1e-10);
    options.impact_rounds = 0;
    cairn_step_report report = advance(world, &options, 500);
    CHECK(total_energy(world) < 0.05);
    CHECK_INT(report.impacts, 0);
    cairn_world_destroy(world);
}

/* Five balls that touch; the first `coming` come with 1 m/s: as many leave, as in a real cradle. */
TEST(as_many_balls_leave_a_cradle_as_come)
{
    for (int coming = 1; coming < 5; coming++) {
        cairn_world *world = new_world(3, 0, 0, 1);
        for (int i = 0; i < 5; i++)
            add_ball(world, 0.1, (cairn_vec3){ 0.2 * i, 0, 0 },
                     (cairn_vec3){ i < coming ? 1 : 0, 0, 0 });
        cairn_step_options options = rounds_of(1e-3, "coulomb", 1e-10);
        cairn_step_report report = advance(world, &options, 1);
        CHECK_INT(report.impacts, coming * (5 - coming));
        for (int i = 0; i < 5; i++)
            CHECK_NEAR(cairn_world_bodies(world).v[i].x, i >= 5 - coming, 1e-12);
        cairn_world_destroy(world);
    }
}

/* The cradle needs four rounds. With fewer, some contact hits when they are over, and says so. */
TEST(rounds_that_are_not_enough_are_told)
{
    for (int rounds = 1; rounds <= 4; rounds++) {
        cairn_world *world = new_world(3, 0, 0, 1);
        for (int i = 0; i < 5; i++)
            add_ball(world, 0.1, (cairn_vec3){ 0.2 * i, 0, 0 }, (cairn_vec3){ i ? 0 : 1, 0, 0 });
        cairn_step_options options = rounds_of(1e-3, "coulomb", 1e-10);
        options.impact_rounds = rounds;
        cairn_step_report report = advance(world, &options, 1);
        CHECK_INT(report.impact_rounds, rounds);
        CHECK_INT(report.impacts_left, rounds < 4);
        cairn_world_destroy(world);
    }
}

/* ---- three and more bodies ------------------------------------------------------------------ */

/* A ball with 1 m/s hits two that touch each other, at once: the lines of centres are at 30 degrees,
 * so it leaves with -1/5 and they with 2 sqrt(3)/5 along these lines. */
TEST(two_balls_hit_at_once_share_the_impact)
{
    cairn_world *world = new_world(3, 0, 0, 1);
    double far = 0.2 * cos(M_PI / 6);
    add_ball(world, 0.1, (cairn_vec3){ -0.002, 0, 0 }, (cairn_vec3){ 1, 0, 0 });
    add_ball(world, 0.1, (cairn_vec3){ far, 0.1, 0 }, zero);
    add_ball(world, 0.1, (cairn_vec3){ far, -0.1, 0 }, zero);
    cairn_step_options options = rounds_of(5e-3, "coulomb", 1e-9);
    cairn_step_report report = advance(world, &options, 1);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(report.impacts, 2);
    CHECK_INT(report.impact_rounds, 1);
    CHECK_NEAR(total_energy(world), 0.5, 1e-11);
    CHECK_NEAR(b.v[0].x, -0.2, 0.01); /* normals are those of 2 mm before */
    CHECK_NEAR(b.v[1].x, 0.6, 0.01);
    CHECK_NEAR(b.v[1].y, 0.2 * sqrt(3), 0.01);
    CHECK_NEAR(b.v[2].y, -b.v[1].y, 1e-12);
    cairn_world_destroy(world);
}

/* A ball of 3 kg falls on one of 1 kg that lies on the floor: in one step, without gravity, they and
 * the floor hit each other until both leave, and no energy is lost: w = v/2 and 3v/2, floor, ... */
TEST(a_ball_that_lies_on_the_floor_bounces_when_it_is_hit)
{
    cairn_world *world = new_world(3, 0, 0, 1);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    cairn_body_def heavy = cairn_body_def_default();
    heavy.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    heavy.shape.radius = 0.1;
    heavy.mass = 3;
    heavy.position.z = 0.301;
    heavy.velocity.z = -1;
    CHECK_OK(cairn_body_create(world, &heavy, NULL));
    cairn_step_options options = rounds_of(2e-3, "coulomb", 1e-10);
    double before = total_energy(world);
    cairn_step_report report = advance(world, &options, 1);
    cairn_bodies b = cairn_world_bodies(world);
    /* (0, -1), (-3/2, -1/2), (3/2, -1/2), (-3/2, 1/2), (3/2, 1/2): the light one is faster still
       and hits once more, (0, 1) */
    CHECK_INT(report.impacts, 5);
    CHECK_NEAR(b.v[1].z, 0, 1e-12);
    CHECK_NEAR(b.v[2].z, 1, 1e-12);
    CHECK_NEAR(total_energy(world), before, 1e-12);
    cairn_world_destroy(world);
}

/* ---- a gas ---------------------------------------------------------------------------------- */

/* Balls of radius 4 cm in a box of 0.5 m, with speeds of the order of 1 m/s. */
static cairn_world *new_crowd(double gravity, double mu, double e)
{
    cairn_world *world = new_world(3, gravity, mu, e);
    uint64_t state = 11;
    for (int i = 0; i < 3; i++) {
        const double a[3] = { i == 0, i == 1, i == 2 };
        add_plane(world, (cairn_vec3){ a[0], a[1], a[2] }, zero);
        add_plane(world, (cairn_vec3){ -a[0], -a[1], -a[2] },
                  (cairn_vec3){ 0.5 * a[0], 0.5 * a[1], 0.5 * a[2] });
    }
    for (int i = 0; i < 125; i++) {
        double v[3];
        for (int k = 0; k < 3; k++)
            v[k] = 4 * cairn_random_uniform(&state) - 2;
        add_ball(
            world, 0.04,
            (cairn_vec3){ 0.05 + 0.1 * (i % 5), 0.05 + 0.1 * (i / 5 % 5), 0.05 + 0.1 * (i / 25) },
            (cairn_vec3){ v[0], v[1], v[2] });
    }
    return world;
}

static cairn_world *new_gas(double mu, double e)
{
    return new_crowd(0, mu, e);
}

/* a third of the box is full of balls: thousands of impacts, many of them in one step with others */
TEST(a_gas_keeps_its_energy_to_rounding)
{
    cairn_world *world = new_gas(0, 1);
    cairn_step_options options = rounds_of(4e-3, "coulomb", 1e-3);
    double before = total_energy(world);
    int impacts = 0, rounds = 0;
    for (int k = 0; k < 100; k++) {
        cairn_step_report report = advance(world, &options, 1);
        impacts += report.impacts;
        rounds = report.impact_rounds > rounds ? report.impact_rounds : rounds;
        CHECK_INT(report.impacts_left, 0);
    }
    CHECK(impacts > 1000 && rounds > 3);
    CHECK_CLOSE(total_energy(world), before, 1e-12);
    cairn_world_destroy(world);
}

/* with friction and e = 0.8 energy is lost, step by step, and the ledger says where */
TEST(impacts_with_friction_lose_what_the_ledger_says)
{
    cairn_world *world = new_gas(0.3, 0.8);
    cairn_step_options options = rounds_of(4e-3, "coulomb", 1e-3);
    for (int k = 0; k < 50; k++) {
        double before = total_energy(world);
        cairn_step_report report = advance(world, &options, 1);
        const cairn_energy *e = &report.energy;
        double lost = e->impact_loss + e->friction_loss + e->numerical_loss - e->correction;
        CHECK_CLOSE(total_energy(world), before - lost, 1e-12);
        CHECK(e->impact_loss + e->friction_loss >= 0);
    }
    cairn_world_destroy(world);
}

/* The balls fall on each other, up to 4 mm a step. Those that bounce within a step and are held by
 * others at its end do not sink in: by 0.008 % of a radius at most, and not by 0.1 %. */
TEST(a_crowd_that_falls_hardly_overlaps)
{
    const double e[] = { 0.3, 0.7, 0.95 };
    for (int i = 0; i < 3; i++) {
        cairn_world *world = new_crowd(9.81, 0.5, e[i]);
        cairn_step_options options = rounds_of(2e-3, "coulomb", 1e-3);
        double most = 0;
        for (int k = 0; k < 250; k++)
            most = fmax(most, advance(world, &options, 1).overlap);
        CHECK(most < 3e-4);
        cairn_world_destroy(world);
    }
}

/* The gas after 30 steps. */
static uint64_t hash_of_gas(double e, const cairn_step_options *options, int *impacts)
{
    cairn_world *world = new_gas(0.3, e);
    *impacts = 0;
    for (int k = 0; k < 30; k++)
        *impacts += advance(world, options, 1).impacts;
    uint64_t hash = cairn_world_hash(world);
    cairn_world_destroy(world);
    return hash;
}

TEST(impacts_do_not_depend_on_the_number_of_threads)
{
    cairn_step_options one = rounds_of(4e-3, "coulomb", 1e-3), four = one;
    int impacts;
    one.threads = 1;
    four.threads = 4;
    CHECK(hash_of_gas(0.8, &one, &impacts) == hash_of_gas(0.8, &four, &impacts));
    CHECK(impacts > 100);
}

/* e = 0: the option changes no bit */
TEST(without_restitution_there_are_no_rounds)
{
    cairn_step_options with = rounds_of(4e-3, "coulomb", 1e-3), without = with;
    int impacts;
    without.impact_rounds = 0;
    CHECK(hash_of_gas(0, &without, &impacts) == hash_of_gas(0, &with, &impacts));
    CHECK_INT(impacts, 0);
}

/* ---- gravity -------------------------------------------------------------------------------- */

/* Free fall by v+ = v - h g, x+ = x + h v+ keeps v^2/2 + g x - h g v/2 exactly. A bounce with e = 1
 * does so as well, by both laws: 20 s at 2 ms, 22 bounces, without any drift. */
TEST(a_bouncing_ball_keeps_the_energy_of_the_time_stepping)
{
    const char *const laws[] = { "newton", "poisson" };
    for (int k = 0; k < 4; k++) {
        int dimension = 2 + k % 2, bounces = 0;
        cairn_world *world = new_world(dimension, 9.81, 0, 0);
        const cairn_material_def material = { .restitution = 1, .restitution_law = laws[k / 2] };
        CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, dimension == 2, dimension == 3 }, zero);
        double h = 2e-3, last = 0;
        cairn_step_options options = rounds_of(h, "coulomb", 1e-10);
        for (int i = 0; i < 10000; i++) {
            advance(world, &options, 1);
            cairn_bodies b = cairn_world_bodies(world);
            double x = dimension == 2 ? b.x[1].y : b.x[1].z,
                   v = dimension == 2 ? b.v[1].y : b.v[1].z;
            CHECK_NEAR(0.5 * v * v + 9.81 * x - 0.5 * h * 9.81 * v, 9.81, 1e-9);
            bounces += v > 0 && last < 0;
            last = v;
        }
        CHECK(bounces == 23 || bounces == 22);
        cairn_world_destroy(world);
    }
}

/* Eight balls of 1, 1.3 and 1.6 kg above each other fall on a floor and on each other: thousands of
 * impacts, several of them in a step. Of sum m (v^2/2 + g x - h g v/2), 67.4 J, nothing is lost. All
 * at once, 40 % of it were gone in 20 s. */
TEST(balls_that_fall_on_each_other_keep_it_as_well)
{
    cairn_world *world = new_world(2, 9.81, 0, 1);
    double h = 4e-3, energy[2], expected = 0;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 8; i++) {
        cairn_body_def def = cairn_body_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 2);
        def.shape.radius = 0.05;
        def.mass = 1 + 0.3 * (i % 3);
        def.position.y = 0.2 + 0.13 * i + 0.01 * (i * i % 7);
        expected += def.mass * 9.81 * def.position.y;
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    cairn_step_options options = rounds_of(h, "coulomb", 1e-3);
    for (int k = 0; k < 2000; k++) {
        CHECK_INT(advance(world, &options, 1).impacts_left, 0);
        cairn_bodies b = cairn_world_bodies(world);
        energy[0] = total_energy(world);
        energy[1] = energy[0];
        for (int i = 1; i <= 8; i++)
            energy[1] -= b.mass[i] * 0.5 * h * 9.81 * b.v[i].y;
        CHECK_NEAR(energy[1], expected, 1e-9);
    }
    CHECK_NEAR(energy[0], expected, 0.01 * expected);
    cairn_world_destroy(world);
}

/* e < 1: the speed after is e times the speed at the impact; 0.64 m, to second order in h between the
 * time of the step and that of the top */
TEST(a_ball_rises_to_the_height_that_restitution_allows)
{
    for (int k = 0; k < 2; k++) {
        double h = k ? 1e-3 : 4e-3, top = 0;
        cairn_world *world = new_world(2, 10, 0, 0.8);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, 1.1, 0 }, zero);
        cairn_step_options options = rounds_of(h, "coulomb", 1e-10);
        for (int i = 0; i < (int)(1 / h); i++) {
            advance(world, &options, 1);
            cairn_bodies b = cairn_world_bodies(world);
            top = b.v[1].y > 0 ? fmax(top, b.x[1].y - 0.1) : top;
        }
        CHECK_NEAR(top, 0.64, 30 * h * h + 1e-5);
        cairn_world_destroy(world);
    }
}

/* Five balls that lie on the floor and on each other, e = 1, beside two that hit each other and the
 * floor again and again: those at rest stay where they are. */
TEST(what_rests_does_not_bounce)
{
    const char *const laws[] = { "newton", "poisson" };
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(3, 9.81, 0, 0);
        const cairn_material_def material = { .restitution = 1, .restitution_law = laws[k] };
        CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        for (int i = 0; i < 5; i++)
            add_ball(world, 0.1, (cairn_vec3){ i < 3 ? 0 : 1, 0, 0.1 + 0.2 * (i % 3) }, zero);
        add_ball(world, 0.1, (cairn_vec3){ 2, 0, 0.15 }, zero);
        add_ball(world, 0.1, (cairn_vec3){ 2, 0, 0.4 }, zero);
        cairn_step_options options = rounds_of(2e-3, "coulomb", 1e-10);
        advance(world, &options, 1000);
        cairn_bodies b = cairn_world_bodies(world);
        for (int i = 0; i < 5; i++) {
            CHECK_NEAR(b.x[1 + i].z, 0.1 + 0.2 * (i % 3), 1e-8);
            CHECK_NEAR(b.v[1 + i].z, 0, 1e-8);
        }
        cairn_world_destroy(world);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

TEST(every_failed_allocation_of_a_chain_is_told_and_nothing_leaks)
{
    const cairn_step_options options = rounds_of(8e-3, "coulomb", 1e-9);
    check_step_without_memory(new_row, &options);
}

GROUP(test_chain)
{
    RUN(CASE(a_row_keeps_its_energy_at_every_time_step), CASE(without_rounds_the_row_loses_it),
        CASE(as_many_balls_leave_a_cradle_as_come), CASE(rounds_that_are_not_enough_are_told),
        CASE(two_balls_hit_at_once_share_the_impact),
        CASE(a_ball_that_lies_on_the_floor_bounces_when_it_is_hit),
        CASE(a_gas_keeps_its_energy_to_rounding),
        CASE(impacts_with_friction_lose_what_the_ledger_says),
        CASE(a_crowd_that_falls_hardly_overlaps),
        CASE(impacts_do_not_depend_on_the_number_of_threads),
        CASE(without_restitution_there_are_no_rounds),
        CASE(a_bouncing_ball_keeps_the_energy_of_the_time_stepping),
        CASE(balls_that_fall_on_each_other_keep_it_as_well),
        CASE(a_ball_rises_to_the_height_that_restitution_allows), CASE(what_rests_does_not_bounce),
        CASE(every_failed_allocation_of_a_chain_is_told_and_nothing_leaks));
}
