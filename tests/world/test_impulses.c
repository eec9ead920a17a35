/* test_chain.c - impacts one after the other within a step: rows of balls, a gas, balls under
 * gravity, what rests, and what is told when the rounds are over. */
#include "base/random.h"
#include "world_memory.h"

/* Steps that resolve impacts one after the other. */
static cairn_step_options rounds_of(double h, const char *scheme, double tolerance)
{
    cairn_step_options options = step_by(h, scheme, tolerance);
    options.impact_rounds = 100;
    return options;
}

static const cairn_vec3 zero = { 0, 0, 0 };

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

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    const cairn_step_options options = rounds_of(8e-3, "coulomb", 1e-9);
    check_step_without_memory(new_row, &options);
}

int main(void)
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
        CASE(every_failed_allocation_is_told_and_nothing_leaks));
}
