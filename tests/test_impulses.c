/* test_impulses.c - friction laws and Poisson's impacts within a step, against answers by hand. */
#include "world_memory.h"

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
        for (int i = 0; i < 20; i++) {
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
            e.load_work + e.driver_work - e.friction_loss - e.impact_loss - e.numerical_loss;
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

int main(void)
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
