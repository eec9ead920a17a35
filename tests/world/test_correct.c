/* test_correct.c - overlaps are mended by moving: nothing is thrown, no law becomes infeasible. */
#include "base/random.h"
#include "cairn/joint.h"
#include "failing_allocator.h"
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

static double speed_of(const cairn_world *world, int i)
{
    cairn_vec3 v = cairn_world_bodies(world).v[i];
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

static double largest_speed(const cairn_world *world)
{
    double largest = 0;
    for (int i = 0; i < cairn_world_bodies(world).count; i++)
        largest = fmax(largest, speed_of(world, i));
    return largest;
}

static bool mends(const char *scheme)
{
    return strcmp(scheme, "moreau-jean") != 0;
}

/* Schemes that hold the gap where the step ends push whatever stands in its way. */
static bool pushes(const char *scheme)
{
    return strcmp(scheme, "stewart-trinkle") == 0;
}

/* Balls of mass 1 and 3 and radius 0.1 that overlap by 0.01 m = 5 % of the sum of radii. */
static cairn_world *new_pair(double gravity)
{
    cairn_world *world = new_world(3, gravity, 0.5, 0);
    cairn_body_def heavy = cairn_body_def_default();
    add_ball(world, 0.1, zero, zero);
    heavy.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    heavy.shape.radius = 0.1;
    heavy.mass = 3;
    heavy.position.x = 0.19;
    CHECK_OK(cairn_body_create(world, &heavy, NULL));
    return world;
}

/* Without forces: apart, at rest all the time, and the centre of mass, 3/4 of 0.19, stays. */
TEST(two_balls_part_without_velocity)
{
    const char *scheme;
    for (int i = 0; (scheme = cairn_scheme_name(i)); i++) {
        if (pushes(scheme))
            continue;
        cairn_world *world = new_pair(0);
        cairn_step_options options = step_by(0.001, scheme, 1e-8);
        advance(world, &options, mends(scheme) ? 40 : 1);
        cairn_bodies b = cairn_world_bodies(world);
        CHECK(largest_speed(world) == 0);
        CHECK_NEAR(b.x[1].x - b.x[0].x, mends(scheme) ? 0.2 : 0.19, 1e-9);
        CHECK_NEAR(0.25 * b.x[0].x + 0.75 * b.x[1].x, 0.1425, 1e-15);
        cairn_world_destroy(world);
    }
}

/* A motor elsewhere pushes by velocity alone: x = h v, with and without overlaps to be mended. */
TEST(motors_do_not_move_bodies_when_overlaps_are_mended)
{
    cairn_world *world = new_pair(0);
    int pushed = add_ball(world, 0.1, (cairn_vec3){ 5, 0, 0 }, zero);
    cairn_joint_def guide = cairn_joint_def_default();
    guide.kind = CAIRN_JOINT_PRISMATIC;
    guide.a = (cairn_body_id){ cairn_world_bodies(world).uid[pushed] };
    guide.anchor.x = 5;
    guide.axis = (cairn_vec3){ 1, 0, 0 };
    guide.slide.motor = "force";
    guide.slide.target = 1000;
    CHECK_OK(cairn_joint_create(world, &guide, NULL));
    cairn_step_options options = step_by(0.001, "coulomb", 1e-10);
    advance(world, &options, 1);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK(b.x[1].x - b.x[0].x > 0.19 + 1e-4); /* the overlap was being mended */
    CHECK_NEAR(b.v[pushed].x, 1, 1e-9);
    CHECK_NEAR(b.x[pushed].x - 5, 0.001, 1e-12);
    cairn_world_destroy(world);
}

/* In free fall: v = g t to rounding at every step, so kinetic energy is that of free fall. */
TEST(two_balls_that_part_fall_as_if_alone)
{
    cairn_world *world = new_pair(10);
    cairn_step_options options = step_by(0.001, "coulomb", 1e-8);
    for (int k = 1; k <= 20; k++) {
        cairn_step_report report = advance(world, &options, 1);
        CHECK_CLOSE(report.energy.kinetic, 0.5 * 4 * 1e-4 * k * k, 1e-12);
        CHECK_NEAR(report.energy.correction, 0, 1e-15); /* sideways */
    }
    CHECK(cairn_world_bodies(world).x[1].x - cairn_world_bodies(world).x[0].x > 0.199);
    cairn_world_destroy(world);
}

/* A ball of mass 1 sunk into the floor by 0.005 m: it comes up by 2 % of its radius a step, so in
 * 3 steps, at rest; the ledger has 1 * 10 * 0.005 J under `correction`. */
TEST(a_sunken_ball_comes_up_at_rest)
{
    cairn_world *world = new_world(2, 10, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.095, 0 }, zero);
    cairn_step_options options = step_by(0.001, "convex", 1e-10);
    const double depth[4] = { 0.003, 0.001, 0, 0 };
    double correction = 0;
    for (int k = 0; k < 4; k++) {
        cairn_step_report report = advance(world, &options, 1);
        CHECK_NEAR(report.certificate.penetration, depth[k], 1e-12);
        CHECK_NEAR(largest_speed(world), 0, 1e-15);
        correction += report.energy.correction;
    }
    CHECK_NEAR(correction, 0.05, 1e-12);
    cairn_world_destroy(world);
}

/* gamma is the share that a step mends: 0.001 m, halved by each step. */
TEST(stabilisation_is_the_share_that_a_step_mends)
{
    cairn_world *world = new_world(2, 10, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.099, 0 }, zero);
    cairn_step_options options = step_by(0.001, "convex", 1e-10);
    options.stabilisation = 0.5;
    CHECK_NEAR(advance(world, &options, 1).certificate.penetration, 5e-4, 1e-12);
    CHECK_NEAR(advance(world, &options, 2).certificate.penetration, 1.25e-4, 1e-12);
    cairn_world_destroy(world);
}

/* The other ways: push gives -g/h = 1 m/s, which stays; keep leaves it. */
TEST(overlaps_can_be_pushed_or_kept)
{
    static const struct {
        const char *overlaps;
        double speed, depth;
    } table[] = { { "move", 0, 0 }, { "push", 1, 0 }, { "keep", 0, 0.001 } };
    for (int k = 0; k < 3; k++) {
        cairn_world *world = new_world(2, 10, 0.5, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, 0.099, 0 }, zero);
        cairn_step_options options = step_by(0.001, "convex", 1e-10);
        options.overlaps = table[k].overlaps;
        CHECK_NEAR(advance(world, &options, 1).certificate.penetration, table[k].depth, 1e-12);
        CHECK_NEAR(largest_speed(world), table[k].speed, 1e-12);
        cairn_world_destroy(world);
    }
}

/* Balls in the air: b is gamma g/h to the bit, and nothing is moved. */
/* a row of 12 balls without gravity, the first two 1e-3 m in each other: in one step the bodies up
 * to three contacts beyond them move, and nobody further away; step by step all find room */
TEST(few_overlaps_move_what_is_near_them)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    for (int i = 0; i < 12; i++)
        add_ball(world, 0.1, (cairn_vec3){ 0.2 * i - (i > 0 ? 1e-3 : 0), 0, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    advance(world, &options, 1);
    const cairn_vec3 *x = cairn_world_bodies(world).x;
    CHECK(x[0].x < -1e-5);
    CHECK(x[4].x > 0.8 - 1e-3 + 1e-5);
    for (int i = 5; i < 12; i++)
        CHECK(x[i].x == 0.2 * i - 1e-3);
    CHECK(advance(world, &options, 200).certificate.penetration < 1e-5);
    CHECK_NEAR(cairn_world_bodies(world).v[4].x, 0, 1e-15);
    cairn_world_destroy(world);
}

TEST(what_does_not_overlap_is_not_moved)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 5; i++)
        add_ball(world, 0.1, (cairn_vec3){ 0.3 * i, 0, 0.11 + 0.05 * i }, (cairn_vec3){ 1, 0, 0 });
    cairn_step_options options = step_by(0.004, "convex", 1e-9);
    for (int k = 0; k < 5; k++) { /* the lowest lands: gaps are >= 0 until then */
        cairn_step_report report = advance(world, &options, 1);
        cairn_contacts c = cairn_world_contacts(world);
        const cairn_problem *p = cairn_world_problem(world, NULL);
        CHECK(report.energy.correction == 0);
        for (int j = 0; j < c.count; j++)
            CHECK(c.gap[j] >= 0 && p->b[j] == 1.0 * c.gap[j] / 0.004);
    }
    cairn_world_destroy(world);
}

/* ---- piles ---------------------------------------------------------------------------------- */

/* layers of 6 x 6 balls of radius 0.1 in a box that just holds them, each out of place by up to
 * `share` of its radius in every direction */
static cairn_world *new_pile(double mu, int layers, double share)
{
    cairn_world *world = new_world(3, 9.81, mu, 0);
    const cairn_vec3 inwards[] = {
        { 0, 0, 1 }, { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }
    };
    uint64_t state = 3;
    for (int k = 0; k < 5; k++) {
        cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
        wall.axis = inwards[k];
        add_wall(world, wall, (cairn_vec3){ k == 2 ? 1.2 : 0, k == 4 ? 1.2 : 0, 0 });
    }
    for (int i = 0; i < 36 * layers; i++) {
        double off[3];
        for (int k = 0; k < 3; k++)
            off[k] = 0.1 * share * (2 * cairn_random_uniform(&state) - 1);
        cairn_vec3 at = { 0.1 + 0.2 * (i % 6) + off[0], 0.1 + 0.2 * (i / 6 % 6) + off[1],
                          0.1 + 0.2 * (i / 36) * (1 - 0.5 * share) + off[2] };
        add_ball(world, 0.1, at, zero);
    }
    return world;
}

/* 288 balls with overlaps up to 7 % of their radius. As velocities the overlaps would be up to
 * 0.007/0.002 = 3.5 m/s. The pile parts with less than 5 cm/s, and what energy it has at any time
 * came from `correction`. */
static void part_pile(const char *scheme)
{
    cairn_world *world = new_pile(0.5, 8, 0.03);
    cairn_step_options options = step_by(0.002, scheme, 1e-5);
    double depth, fastest = 0, rise = 0, before = total_energy(world);
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    CHECK(depth > 0.006 && depth < 0.0085);
    for (int k = 0; k < 60; k++) {
        cairn_step_report report = advance(world, &options, 1);
        double after = report.energy.kinetic + report.energy.potential;
        rise = fmax(rise, after - before - report.energy.correction);
        fastest = fmax(fastest, largest_speed(world));
        before = after;
    }
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    CHECK(depth < 2e-5);
    CHECK(fastest < 0.05);
    CHECK(rise < 1e-6); /* J, of 2000 */
    cairn_world_destroy(world);
}

TEST(a_pile_with_overlaps_is_not_thrown)
{
    part_pile("convex");
    part_pile("coulomb");
}

/* A heap of 90 balls that settled without friction, then grown by 1e-5 of their radii. */
static cairn_world *new_jam(double mu)
{
    cairn_world *heap = new_heap(3, 0, 10), *world = new_world(3, 9.81, mu, 0);
    cairn_step_options options = step_by(0.01, "frictionless", 1e-3);
    advance(heap, &options, 150);
    cairn_bodies b = cairn_world_bodies(heap);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.45, zero);
    for (int i = 2; i < b.count; i++)
        add_ball(world, cairn_bodies_shape(&b, i)->radius * (1 + 1e-5), b.x[i], zero);
    cairn_world_destroy(heap);
    return world;
}

/* One step of that at friction 1; `total` receives the sum of the normal impulses over m g h. */
static cairn_step_report jam_step(const char *overlaps, double *total)
{
    cairn_world *world = new_jam(1);
    cairn_step_options options = step_by(0.002, "convex", 1e-3);
    cairn_step_report report;
    options.overlaps = overlaps;
    options.solver = "ngs";
    options.max_iterations = 2000;
    CHECK_OK(cairn_world_step(world, &options, &report));
    cairn_contacts c = cairn_world_contacts(world);
    *total = 0;
    for (int j = 0; j < c.count; j++)
        *total += c.impulse[3 * j] / (90 * 9.81 * 0.002);
    cairn_world_destroy(world);
    return report;
}

/* Pushed by velocities, such overlaps leave no velocity that obeys the convex law: the impulses grow
 * without end. Moved, the step is solved with impulses of the order of the weight on each layer. */
TEST(a_tight_packing_with_large_friction_stays_solvable)
{
    double moved, pushed;
    cairn_step_report report = jam_step("move", &moved);
    CHECK(report.solve.converged);
    CHECK(report.solve.iterations < 500);
    CHECK(moved > 1 && moved < 10);
    report = jam_step("push", &pushed);
    CHECK(!report.solve.converged);
    CHECK(pushed > 1000);
}

/* Whether allocation `n` of the first step failed; the step then left the world as it was. */
static bool fails_at(const char *scheme, long n)
{
    meter m = { 0 };
    meter_install(&m);
    cairn_world *world = new_pile(0.5, 2, 0.03);
    cairn_step_options options = step_by(0.002, scheme, 1e-3);
    cairn_step_report report;
    uint64_t before = cairn_world_hash(world);
    m.fail_at = m.calls + n;
    cairn_status status = cairn_world_step(world, &options, &report);
    if (status != CAIRN_OK) {
        CHECK_INT(status, CAIRN_NO_MEMORY);
        CHECK(cairn_world_hash(world) == before);
        CHECK_OK(cairn_world_step(world, &options, &report));
    }
    CHECK(report.energy.correction > 0);
    cairn_world_destroy(world);
    CHECK_INT(m.alive, 0);
    cairn_allocator_set(NULL);
    return status != CAIRN_OK;
}

TEST(without_memory_nothing_is_moved)
{
    const char *const schemes[] = { "convex", "auto" };
    for (int k = 0; k < 2; k++) {
        long n = 1;
        while (fails_at(schemes[k], n))
            n++;
        CHECK(n > 10);
    }
}

int main(void)
{
    RUN(CASE(two_balls_part_without_velocity),
        CASE(motors_do_not_move_bodies_when_overlaps_are_mended),
        CASE(two_balls_that_part_fall_as_if_alone), CASE(a_sunken_ball_comes_up_at_rest),
        CASE(stabilisation_is_the_share_that_a_step_mends), CASE(overlaps_can_be_pushed_or_kept),
        CASE(few_overlaps_move_what_is_near_them), CASE(what_does_not_overlap_is_not_moved),
        CASE(a_pile_with_overlaps_is_not_thrown),
        CASE(a_tight_packing_with_large_friction_stays_solvable),
        CASE(without_memory_nothing_is_moved));
}
