/* test_correct.c - penetration: measured, corrected, avoided. */
#include "base/common.h"
#include "cairn/joint.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/worlds.h"

/* ==== test_correct: overlaps are mended by moving: nothing is thrown, no law becomes
 * infeasible */

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
    options.arcs = false; /* the heap whose numbers docs/steps.md tells */
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

GROUP(test_correct)
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

/* ==== test_penetration: the penetration that a step reports is the deepest overlap of any two
 * bodies where it leaves them, as a search over all pairs finds it afterwards. */

static const char *const compounds =
    "cairn: 1\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {inside_box: {size: [1, 1, 1]}}}\n"
    "  - shape: {compound: {parts: [{shape: {box: {size: [0.3, 0.1, 0.1]}}},\n"
    "                               {shape: {sphere: {radius: 0.08}}, position: [0.2, 0, 0]}]}}\n"
    "    position: [0, 0, -0.2]\n"
    "    velocity: [1, 0.7, -1]\n"
    "    angular_velocity: [4, 3, 2]\n"
    "  - shape: {compound: {parts: [{shape: {capsule: {radius: 0.05, length: 0.2}}},\n"
    "                               {shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, "
    "0.15]}]}}\n"
    "    position: [0.2, 0.1, 0.2]\n"
    "    velocity: [-1, 0, -2]\n"
    "    angular_velocity: [1, -6, 2]\n"
    "run: {time_step: 4e-3, duration: 1, tolerance: 1e-6}\n";

static const char *const faces =
    "cairn: 1\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - motion: fixed\n"
    "    shape: {height_field: {spacing: 0.5, heights: [[0, 0, 0.05], [0, 0.02, 0], [0.05, 0, "
    "0]]}}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0.3, 0.3, 0.3], angular_velocity: [1, "
    "2, 3]}\n"
    "  - {shape: {cylinder: {radius: 0.1, height: 0.2}}, position: [0.6, 0.7, 0.3],\n"
    "     angular_velocity: [3, -2, 1]}\n"
    "run: {time_step: 4e-3, duration: 1, tolerance: 1e-6}\n";

/* Balls on a plane that turns about the x axis by 0.08 rad a step. */
static const char *const turning =
    "cairn: 1\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - motion: driven\n"
    "    shape: half_space\n"
    "    drivers: [{rotation: {angular_velocity: [8, 0, 0]}}]\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0, 1, 0.1]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0.3, 0.5, 0.1]}\n"
    "run: {time_step: 0.01, duration: 1, tolerance: 1e-9}\n";

/* The largest error of the penetration of a step, and the deepest of all, over some steps. */
static double worst_error(const char *text, const char *scheme, int steps, double *most)
{
    folder f = folder_create();
    cairn_scene *scene;
    cairn_error error = { 0 };
    double worst = 0;
    *most = 0;
    file_write(&f, "scene.yaml", text);
    if (cairn_scene_load(path_in(&f, "scene.yaml").text, NULL, 0, &scene, &error) != CAIRN_OK)
        fail_msg("%d: %s: %s", error.line, error.key, error.message);
    scene->step.scheme = scheme;
    for (int k = 0; k < steps; k++) {
        cairn_step_report report;
        double depth, share;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK_OK(cairn_world_overlap_share(scene->world, &share, &depth, NULL, NULL));
        CHECK_NEAR(report.overlap, share, 1e-14);
        CHECK_OK(cairn_world_overlap(scene->world, &depth, NULL, NULL));
        worst = fmax(worst, fabs(report.certificate.penetration - depth));
        *most = fmax(*most, depth);
    }
    cairn_scene_destroy(scene);
    folder_remove(f.path);
    return worst;
}

/* Its contacts are those that overlap at mid-step: others were left out. */
TEST(penetration_is_true_where_contacts_are_left_out)
{
    double most;
    CHECK(worst_error(compounds, "moreau-jean", 250, &most) <= 1e-15);
    CHECK(most > 1e-3);
}

TEST(penetration_is_true_between_parts)
{
    double most;
    CHECK(worst_error(compounds, "coulomb", 250, &most) <= 1e-15);
    CHECK(worst_error(compounds, "convex", 250, &most) <= 1e-15);
}

TEST(penetration_is_true_on_faces)
{
    double most;
    CHECK(worst_error(faces, "coulomb", 250, &most) <= 1e-15);
    CHECK(worst_error(faces, "moreau-jean", 250, &most) <= 1e-15);
    CHECK(most > 1e-4);
}

/* 0.08 rad at 1 m: the ball is lifted from z = 0.1 to 0.18 m, as far as the gap along the old normal
 * asks, and is then 0.18 cos 0.08 - sin 0.08 = 0.0995 m from the plane: 5e-4 m deep. */
TEST(penetration_is_true_on_a_plane_that_turns)
{
    double most;
    CHECK(worst_error(turning, "convex", 20, &most) <= 1e-15);
    CHECK(most > 1e-4);
}

GROUP(test_penetration)
{
    RUN(CASE(penetration_is_true_where_contacts_are_left_out),
        CASE(penetration_is_true_between_parts), CASE(penetration_is_true_on_faces),
        CASE(penetration_is_true_on_a_plane_that_turns));
}

/* ==== test_linearise: contacts linearised where the step ends: gaps hold there to rounding ==== */

/* A ball or disk, radius 0.1, slides along the bottom of a tube of radius 1 at 3 m/s for 20 steps:
 * the largest overlap, and in *apart the largest gap. The axis of the tube is y in 3D. */
static double slide_in_tube(int dimension, const cairn_step_options *options, double *apart)
{
    cairn_world *world = new_world(dimension, 10, 0.3, 0);
    cairn_shape tube = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, dimension);
    double deepest = 0;
    tube.radius = 1;
    if (dimension == 3)
        tube.axis = (cairn_vec3){ 0, 1, 0 };
    add_wall(world, tube, zero);
    cairn_vec3 bottom = dimension == 3 ? (cairn_vec3){ 0, 0, -0.9 } : (cairn_vec3){ 0, -0.9, 0 };
    add_ball(world, 0.1, bottom, (cairn_vec3){ 3, 0, 0 });
    *apart = 0;
    for (int k = 0; k < 20; k++) {
        advance(world, options, 1);
        cairn_vec3 x = cairn_world_bodies(world).x[1];
        double gap = 0.9 - hypot(x.x, dimension == 3 ? x.z : x.y);
        deepest = fmax(deepest, -gap);
        *apart = fmax(*apart, gap);
    }
    cairn_world_destroy(world);
    return deepest;
}

/* lcp leaves (3 h)^2/(2 0.9) of the first step's chord, of second order in h */
TEST(gap_in_a_tube_is_zero_after_each_step_and_of_second_order_without)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_step_options ahead = step_by(0.01, "stewart-trinkle", 1e-11);
        cairn_step_options plain = step_by(0.01, "lcp", 1e-11);
        double apart;
        CHECK(slide_in_tube(dimension, &ahead, &apart) <= 1e-13);
        CHECK(apart <= 1e-13);
        double deep = slide_in_tube(dimension, &plain, &apart);
        CHECK_CLOSE(deep, 0.03 * 0.03 / 1.8, 0.1);
        plain.time_step = 0.005;
        CHECK_CLOSE(deep / slide_in_tube(dimension, &plain, &apart), 4, 0.1);
    }
}

/* any scheme of gap level can do it: circular cones, and the convex law, which floats instead */
TEST(option_linearises_ahead_in_other_schemes)
{
    static const char *const schemes[] = { "coulomb", "fixed-point", "frictionless", "convex" };
    for (int i = 0; i < 4; i++) {
        cairn_step_options options = step_by(0.01, schemes[i], 1e-10);
        double apart;
        options.linearisations = 50;
        CHECK(slide_in_tube(3, &options, &apart) <= 1e-11);
        CHECK(i == 3 ? apart > 1e-3 : apart <= 1e-11);
    }
}

TEST(step_that_runs_out_of_linearisations_says_so)
{
    cairn_world *world = new_heap(3, 0.3, 2);
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-9);
    cairn_step_report report;
    int unsettled = 0;
    options.linearisations = 2;
    for (int k = 0; k < 40; k++) {
        CHECK_OK(cairn_world_step(world, &options, &report));
        CHECK(report.linearisations <= 2);
        CHECK(report.solve.judgement.asked.relative <= 1e-9); /* what was asked is solved */
        CHECK(report.solve.converged || report.linearisation_error > 1e-12);
        unsettled += !report.solve.converged;
    }
    CHECK(unsettled > 5);
    options.linearisations = 1; /* the linearised scheme, which has nothing to settle */
    report = advance(world, &options, 1);
    CHECK_INT(report.linearisations, 1);
    CHECK(report.linearisation_error > 1e-9);
    cairn_world_destroy(world);
}

/* 18 balls fall into a cylinder: no contact overlaps after any step, and no step gains energy */
TEST(heap_in_a_cylinder_never_overlaps)
{
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-9);
    cairn_world *world = new_heap(3, 0.3, 2), *plain = new_heap(3, 0.3, 2);
    double before = total_energy(world), overlap = 0;
    int most = 0;
    for (int k = 0; k < 80; k++) {
        cairn_step_report report = advance(world, &options, 1);
        double depth, after = total_energy(world);
        CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
        CHECK(depth <= 1e-10);
        CHECK(after <= before);
        before = after;
        most = report.linearisations > most ? report.linearisations : most;
    }
    CHECK(most > 3 && most < 15);
    options.scheme = "lcp";
    for (int k = 0; k < 80; k++)
        overlap = fmax(overlap, advance(plain, &options, 1).certificate.penetration);
    CHECK(overlap > 1e-6);
    cairn_world_destroy(world);
    cairn_world_destroy(plain);
}

/* The first look is at q + h v: the gap of the contact list is the one found there. */
TEST(contacts_are_those_of_the_predicted_configuration)
{
    cairn_world *world = new_world(2, 10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.105, 0 }, (cairn_vec3){ 0, -1, 0 });
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-12);
    options.linearisations = 1;
    cairn_step_report report = advance(world, &options, 1);
    CHECK_NEAR(cairn_world_contacts(world).gap[0], -0.005, 1e-15);
    /* it lands: v = -0.5, r = m (v - (v - h g)), and ends 0.005 m from where it was linearised */
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, -0.5, 1e-12);
    CHECK_NEAR(cairn_world_contacts(world).impulse[0], 0.6, 1e-12);
    CHECK_NEAR(report.linearisation_error, 0.005, 1e-12);
    cairn_world_destroy(world);
}

/* 1 m a step towards a ball 0.5 m away: it is caught, and both go on with half the speed */
TEST(bullet_does_not_tunnel)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_ball(world, 0.1, (cairn_vec3){ 0.5, 0, 0 }, (cairn_vec3){ -100, 0, 0 });
    add_ball(world, 0.1, zero, zero);
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-9);
    advance(world, &options, 2);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.x[0].x - b.x[1].x, 0.2, 1e-12);
    CHECK_NEAR(b.v[0].x, -50, 1e-9);
    CHECK_NEAR(b.v[1].x, -50, 1e-9);
    cairn_world_destroy(world);
}

/* a floor that shakes by 5 cm, 2 Hz: 8 m/s^2 at most, so the ball stays on it */
TEST(ball_stays_on_a_shaken_floor)
{
    cairn_world *world = new_world(3, 10, 0.3, 0);
    cairn_driver shake = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    cairn_body_def floor = cairn_body_def_default();
    shake.amplitude = (cairn_vec3){ 0.02, 0, 0.05 };
    shake.frequency = 2;
    floor.motion = CAIRN_MOTION_DRIVEN;
    floor.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    floor.drivers = &shake;
    floor.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &floor, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-12);
    for (int k = 0; k < 100; k++) {
        advance(world, &options, 1);
        cairn_bodies b = cairn_world_bodies(world);
        CHECK_NEAR(b.x[1].z - b.x[0].z, 0.1, 1e-13);
    }
    cairn_world_destroy(world);
}

static cairn_vec3 spin(const cairn_world *world, int i)
{
    cairn_bodies b = cairn_world_bodies(world);
    return cairn_rotate(b.q[i], cairn_times(b.inertia[i], b.omega[i]));
}

/* Two fast spinning balls meet: the spin R J omega of both changes by exactly p x r, p = -0.1 n,
 * although it turns by 0.4 rad in the step, because the rows use the frame of the start. */
TEST(impulses_turn_spinning_balls_by_their_torque)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_vec3 before[2];
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.mass = 1;
    for (int i = 0; i < 2; i++) {
        def.position = (cairn_vec3){ 0.105 - 0.21 * i, 0.02 * i, 0 };
        def.velocity = (cairn_vec3){ 2 * i - 1, 0.3, 0.1 * i };
        def.angular_velocity = (cairn_vec3){ 5, 30 * i, -20 };
        CHECK_OK(cairn_body_create(world, &def, NULL));
        before[i] = spin(world, i);
    }
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-12);
    CHECK_INT(advance(world, &options, 1).active, 1);
    cairn_contacts c = cairn_world_contacts(world);
    cairn_vec3 other = cairn_cross(c.normal[0], c.tangent[0]);
    cairn_vec3 r =
        cairn_add(cairn_scale(c.impulse[1], c.tangent[0]), cairn_scale(c.impulse[2], other));
    cairn_vec3 torque = cairn_scale(-0.1, cairn_cross(c.normal[0], r));
    CHECK(cairn_norm(torque) > 0.01);
    for (int i = 0; i < 2; i++)
        CHECK_NEAR(cairn_norm(cairn_sub(cairn_sub(spin(world, i), before[i]), torque)), 0, 1e-15);
    cairn_world_destroy(world);
}

/* 30 steps of a falling heap; allocation n after the first 5 fails, and the step is then made again.
 * The final hash; *failed tells whether a step failed. */
static uint64_t hash_of_run(long n, bool *failed)
{
    meter m = { 0 };
    cairn_step_options options = step_by(0.01, "stewart-trinkle", 1e-6);
    cairn_step_report report;
    int linearised = 0;
    meter_install(&m);
    cairn_world *world = new_heap(2, 0.3, 3);
    for (int k = 0; k < 30; k++) {
        uint64_t before = cairn_world_hash(world);
        m.fail_at = k == 5 ? m.calls + n : m.fail_at;
        cairn_status status = cairn_world_step(world, &options, &report);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK(status == CAIRN_OK || cairn_world_hash(world) == before);
        if (status != CAIRN_OK)
            CHECK_OK(cairn_world_step(world, &options, &report));
        linearised += report.linearisations;
        *failed = m.fail_at > 0 && m.calls >= m.fail_at;
    }
    CHECK(linearised > 50);
    uint64_t hash = cairn_world_hash(world);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
    return hash;
}

TEST(step_that_finds_no_memory_between_linearisations_can_be_made_again)
{
    bool failed = true;
    uint64_t expected = hash_of_run(1000000, &failed);
    int tried = 0;
    CHECK(!failed);
    for (failed = true; failed; tried++)
        CHECK(hash_of_run(tried + 1, &failed) == expected);
    CHECK(tried > 20);
}

TEST(velocity_level_refuses_linearisations)
{
    cairn_step_options options = step_by(0.01, "moreau-jean", 1e-9);
    cairn_error error;
    options.linearisations = 2;
    CHECK_INT(cairn_step_options_check(&options, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "linearisations");
    CHECK_CONTAINS(error.message, "moreau-jean");
}

GROUP(test_linearise)
{
    RUN(CASE(gap_in_a_tube_is_zero_after_each_step_and_of_second_order_without),
        CASE(option_linearises_ahead_in_other_schemes),
        CASE(step_that_runs_out_of_linearisations_says_so), CASE(heap_in_a_cylinder_never_overlaps),
        CASE(contacts_are_those_of_the_predicted_configuration), CASE(bullet_does_not_tunnel),
        CASE(ball_stays_on_a_shaken_floor), CASE(impulses_turn_spinning_balls_by_their_torque),
        CASE(step_that_finds_no_memory_between_linearisations_can_be_made_again),
        CASE(velocity_level_refuses_linearisations));
}
