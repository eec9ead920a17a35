/* test_step.c - steps: what they do, schemes, integration, energy. */
#include <stdlib.h>
#include <string.h>

#include "tests/problems/worlds.h"

/* ==== test_step: what a step does: impacts, rest, sliding off, margins, repeatability ========= */

static const cairn_vec3 zero = { 0, 0, 0 };

TEST(inelastic_balls_go_on_together)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    add_ball(world, 0.5, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ 2, 0, 0 });
    add_ball(world, 0.5, (cairn_vec3){ 1, 0, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    advance(world, &options, 100);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.v[0].x, 1, 1e-12);
    CHECK_NEAR(b.v[1].x, 1, 1e-12);
    CHECK_NEAR(b.x[1].x - b.x[0].x, 1, 1e-12); /* they touch: the gap was closed exactly */
    cairn_world_destroy(world);
}

TEST(elastic_balls_exchange_velocities)
{
    cairn_world *world = new_world(2, 0, 0, 1);
    add_ball(world, 0.5, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ 2, 0, 0 });
    add_ball(world, 0.5, (cairn_vec3){ 1, 0, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    advance(world, &options, 100);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.v[0].x, 0, 1e-12);
    CHECK_NEAR(b.v[1].x, 2, 1e-12);
    cairn_world_destroy(world);
}

/* dropped from 1 m with e = 0.5 a ball rises to 0.25 m, then to 0.0625 m */
TEST(bounces_follow_the_coefficient_of_restitution)
{
    cairn_world *world = new_world(2, 10, 0, 0.5);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 1.1, 0 }, zero);
    cairn_step_options options = step_by(1e-4, "convex", 1e-12);
    double previous = 2, speed, tops[2] = { 0, 0 };
    for (int k = 0, top = 0; k < 12000 && top < 2; k++) {
        advance(world, &options, 1);
        speed = cairn_world_bodies(world).v[1].y;
        if (previous > 0 && speed <= 0 && k > 10)
            tops[top++] = cairn_world_bodies(world).x[1].y - 0.1;
        previous = speed;
    }
    CHECK_NEAR(tops[0], 0.25, 1e-3);
    CHECK_NEAR(tops[1], 0.0625, 1e-3);
    cairn_world_destroy(world);
}

/* a ball at rest pushes with its weight: r_N = m g h, and does not sink */
TEST(resting_ball_pushes_with_its_weight)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    cairn_step_options options = step_by(0.01, "fixed-point", 1e-12);
    cairn_step_report report = advance(world, &options, 1000);
    cairn_contacts c = cairn_world_contacts(world);
    CHECK_INT(c.count, 1);
    CHECK_NEAR(c.impulse[0], 0.0981, 1e-13);
    CHECK_NEAR(cairn_world_bodies(world).x[1].z, 0.1, 1e-13);
    CHECK_INT(report.solve.iterations, 0); /* the last step's impulse is the answer */
    cairn_world_destroy(world);
}

/* a frictionless disk slides off a fixed one; it leaves where cos = 2/3 of the start's */
TEST(disk_leaves_a_disk_at_the_angle_of_the_textbook)
{
    const double start = 0.2;
    cairn_world *world = new_world(2, 1, 0, 0);
    add_fixed(world, CAIRN_SHAPE_SPHERE, 1, zero);
    add_ball(world, 1, (cairn_vec3){ 2 * sin(start), 2 * cos(start), 0 }, zero);
    cairn_step_options options = step_by(1e-3, "frictionless", 1e-12);
    double cosine = 0;
    for (int k = 0; k < 100000; k++) {
        cairn_step_report report = advance(world, &options, 1);
        cairn_vec3 x = cairn_world_bodies(world).x[1];
        if (k > 10 && report.active == 0)
            break;
        cosine = x.y / hypot(x.x, x.y);
    }
    CHECK_NEAR(cosine, 2.0 / 3 * cos(start), 2e-3);
    cairn_world_destroy(world);
}

/* 3D incline of 30 degrees, gravity 1: a ball rolls with 5/7 g sin, slips with g (sin - mu cos);
 * v grows by h a each step, so x = a T (T + h)/2 exactly */
static double roll_down(double mu, double h)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = { .friction = mu };
    cairn_world *world;
    def.gravity = (cairn_vec3){ 0.3, 0.4, -sqrt(0.75) }; /* downhill along (3, 4, 0)/5 */
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.2, (cairn_vec3){ 0, 0, 0.2 }, zero);
    cairn_step_options options = step_by(h, "fixed-point", 1e-11);
    advance(world, &options, (int)round(2 / h));
    cairn_vec3 x = cairn_world_bodies(world).x[1];
    CHECK_NEAR(x.z, 0.2, 1e-9);
    CHECK_NEAR(0.8 * x.x - 0.6 * x.y, 0, 1e-9);
    cairn_world_destroy(world);
    return 0.6 * x.x + 0.8 * x.y;
}

TEST(balls_roll_and_slip_down_an_incline)
{
    double way = 2 * 2.01 / 2, slipping = 0.5 - 0.1 * sqrt(0.75);
    CHECK_NEAR(roll_down(0.5, 0.01), 5.0 / 7 * 0.5 * way, 1e-9);
    CHECK_NEAR(roll_down(0.1, 0.01), slipping * way, 1e-8); /* 0.1 < 2/7 tan(30) */
}

/* Sum of m v, and of x x m v + J w about the origin (in z). */
static cairn_vec3 momentum_of(const cairn_world *world, double *angular)
{
    cairn_bodies b = cairn_world_bodies(world);
    cairn_vec3 sum = zero;
    *angular = 0;
    for (int i = 0; i < b.count; i++) {
        sum.x += b.v[i].x;
        sum.y += b.v[i].y;
        *angular += b.x[i].x * b.v[i].y - b.x[i].y * b.v[i].x + b.inertia[i].z * b.omega[i].z;
    }
    return sum;
}

/* 36 disks that come together and rub. */
static cairn_world *new_crowd(void)
{
    cairn_world *world = new_world(2, 0, 0.5, 0.3);
    uint64_t state = 9;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            cairn_vec3 v = { 1 - 0.4 * i + cairn_random_uniform(&state), 1 - 0.4 * j, 0 };
            add_ball(world, 0.45, (cairn_vec3){ i, j, 0 }, v);
        }
    return world;
}

/* No outside force. The impulse acts at one witness point and its opposite at the other, a gap
 * apart: momentum is kept, and angular momentum changes by the sum of gap times r_T, exactly. */
TEST(collisions_keep_momentum_and_account_for_angular_momentum)
{
    cairn_world *world = new_crowd();
    cairn_step_options options = step_by(0.01, "fixed-point", 1e-9);
    options.impact_rounds = 0;
    double before, after, expected = 0;
    cairn_vec3 start = momentum_of(world, &before);
    int active = 0;
    for (int k = 0; k < 60; k++) {
        active += advance(world, &options, 1).active;
        cairn_contacts c = cairn_world_contacts(world);
        for (int j = 0; j < c.count; j++)
            expected += c.gap[j] * c.impulse[2 * j + 1];
    }
    cairn_vec3 end = momentum_of(world, &after);
    CHECK(active > 30);
    CHECK_NEAR(end.x, start.x, 1e-12);
    CHECK_NEAR(end.y, start.y, 1e-12);
    CHECK(fabs(expected) > 1e-6);
    CHECK_NEAR(after - before, expected, 1e-12);
    cairn_world_destroy(world);
}

/* What impacts at times t within the step add: p acts where the bodies are at its time, along the
 * normal of the start, and takes t p/m off their ways: - t p x (va - vb), v after the step. */
static double turned_by_impacts(const cairn_world *world)
{
    cairn_step_inputs in = cairn_world_step_inputs(world);
    cairn_contacts c = cairn_world_contacts(world);
    cairn_bodies b = cairn_world_bodies(world);
    double sum = 0;
    for (int i = 0; i < in.impacts; i++) {
        int j = in.impact_contact[i];
        const double *r = in.impact_impulse + 2 * i;
        cairn_vec3 va = b.v[c.body[2 * j]], vb = b.v[c.body[2 * j + 1]];
        double px = r[0] * c.normal[j].x + r[1] * c.tangent[j].x,
               py = r[0] * c.normal[j].y + r[1] * c.tangent[j].y;
        sum -= in.impact_time[i] * (px * (va.y - vb.y) - py * (va.x - vb.x));
    }
    return sum;
}

/* The same crowd, one impact after the other: momentum is kept, and of angular momentum every bit is
 * known. */
TEST(impacts_within_a_step_keep_momentum_and_account_for_angular_momentum)
{
    cairn_world *world = new_crowd();
    cairn_step_options options = step_by(0.01, "fixed-point", 1e-9);
    options.impact_rounds = 100;
    options.overlaps = "keep"; /* what moves them apart turns them as well */
    double before, after, expected = 0;
    cairn_vec3 start = momentum_of(world, &before);
    int impacts = 0;
    for (int k = 0; k < 60; k++) {
        impacts += advance(world, &options, 1).impacts;
        cairn_contacts c = cairn_world_contacts(world);
        for (int j = 0; j < c.count; j++)
            expected += c.gap[j] * c.impulse[2 * j + 1];
        expected += turned_by_impacts(world);
    }
    cairn_vec3 end = momentum_of(world, &after);
    CHECK(impacts > 30);
    CHECK_NEAR(end.x, start.x, 1e-12);
    CHECK_NEAR(end.y, start.y, 1e-12);
    CHECK_NEAR(after - before, expected, 1e-11);
    cairn_world_destroy(world);
}

/* 1 m a step past balls of 2 cm: the candidates must cover what the impact sets in motion */
TEST(a_bullet_does_not_tunnel)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int i = 0; i < 5; i++)
        add_ball(world, 0.01, (cairn_vec3){ 0.025 * i, 0, 0 }, zero);
    int bullet = add_ball(world, 0.01, (cairn_vec3){ -0.5, 0, 0 }, (cairn_vec3){ 100, 0, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-10);
    int attempts = 0;
    for (int k = 0; k < 20; k++) {
        cairn_step_report report = advance(world, &options, 1);
        attempts += report.attempts;
        CHECK_NEAR(report.certificate.penetration, 0, 1e-9);
    }
    cairn_bodies b = cairn_world_bodies(world);
    double previous = b.x[bullet].x;
    for (int i = 0; i < 5; i++) {
        CHECK(b.x[i].x >= previous + 0.02 - 1e-9); /* still in line, none passed another */
        previous = b.x[i].x;
    }
    CHECK(attempts > 20); /* the first contact set was too small, and that was noticed */
    CHECK_NEAR(b.v[0].x, 100.0 / 6, 1e-6);
    cairn_world_destroy(world);
}

TEST(every_scheme_and_solver_settles_a_heap_without_gaining_energy)
{
    const char *scheme, *solver;
    for (int i = 0; (scheme = cairn_scheme_name(i)); i++)
        for (int j = 0; (solver = cairn_solver_name(j)); j++)
            for (int dimension = 2; dimension <= 3; dimension++) {
                cairn_step_options options = step_by(0.005, scheme, 1e-3);
                options.solver = solver;
                if (cairn_step_options_check(&options, dimension, NULL) != CAIRN_OK)
                    continue;
                /* the sanitizers see each in one dimension */
                if (CHECKED && (i + j + dimension) % 2)
                    continue;
                cairn_world *world = new_heap(dimension, 0.3, 2);
                double before = total_energy(world), start = before;
                for (int k = 0; k < 60; k++) {
                    cairn_step_report report = advance(world, &options, 1);
                    double after = report.energy.kinetic + report.energy.potential;
                    CHECK(after <= before + 1e-4 * start);
                    CHECK(report.certificate.judgement.asked.relative <= 1e-3);
                    before = after;
                }
                CHECK(before < 0.9 * start);
                cairn_world_destroy(world);
            }
}

TEST(repeated_runs_and_thread_counts_give_the_same_hash)
{
    uint64_t hashes[4];
    for (int run = 0; run < 4; run++) {
        cairn_world *world = new_heap(3, 0.3, 4);
        cairn_step_options options = step_by(0.005, "fixed-point", 1e-3);
        options.threads = run; /* 0: all, then 1, 2, 3 */
        advance(world, &options, CHECKED ? 50 : 100);
        hashes[run] = cairn_world_hash(world);
        cairn_world_destroy(world);
    }
    CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2] && hashes[2] == hashes[3]);
}

/* 4,913 touching balls have 26,000 pairs: enough for several threads to get work */
TEST(a_large_pile_has_the_same_hash_for_any_number_of_threads)
{
    uint64_t hashes[4];
    for (int run = 0; run < 4; run++) {
        cairn_world *world = new_world(3, 9.81, 0.3, 0);
        cairn_generator pile = cairn_generator_default(CAIRN_GENERATOR_HEXAGONAL, 3);
        cairn_step_options options = step_by(0.002, "convex", 1e-2);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        pile.count = (cairn_vec3){ 17, 17, 17 };
        pile.origin.z = 0.05;
        pile.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
        pile.radius.value = 0.05;
        CHECK_OK(cairn_generate(world, &pile, NULL, NULL));
        options.threads = 1 + run;
        options.max_iterations = 20;
        for (int k = 0; k < (CHECKED ? 2 : 3); k++) {
            cairn_step_report report; /* converged or not: the same bits */
            CHECK_OK(cairn_world_step(world, &options, &report));
            CHECK(report.candidates > 4 * 4096);
        }
        hashes[run] = cairn_world_hash(world);
        cairn_world_destroy(world);
    }
    CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2] && hashes[2] == hashes[3]);
}

TEST(the_broad_phase_does_not_change_the_result)
{
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        cairn_world *world = new_heap(3, 0.3, 3);
        cairn_step_options options = step_by(0.005, "convex", 1e-3);
        options.broad_phase = cairn_broad_phase_name(i);
        advance(world, &options, 100);
        hashes[i] = cairn_world_hash(world);
        cairn_world_destroy(world);
    }
    CHECK(hashes[0] == hashes[1]);
}

TEST(bad_options_leave_the_world_alone)
{
    cairn_world *world = new_heap(2, 0.3, 1);
    cairn_step_options options = step_by(0, "convex", 1e-3);
    cairn_step_report report;
    uint64_t before = cairn_world_hash(world);
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "time_step");
    options = step_by(0.01, "convex", 1e-3);
    options.solver = "nonsense";
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "solver");
    CHECK_CONTAINS(cairn_world_error(world)->message, "ngs");
    CHECK(cairn_world_hash(world) == before);
    cairn_world_destroy(world);
    /* in 3D cones are round: a pivoting method cannot treat them, and that is told in time */
    cairn_error error = { 0 };
    options.solver = "lemke";
    CHECK_OK(cairn_step_options_check(&options, 2, &error));
    CHECK_INT(cairn_step_options_check(&options, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "solver");
    CHECK_CONTAINS(error.message, "lemke does not treat the circular cones in 3D");
}

/* A heavy ball goes 0.3 m in a step and drives a row of 60 balls before it, 6 mm apart: each attempt
 * finds one or two more that move, until the step is refused and says which one is needed. */
TEST(a_step_that_is_too_long_says_which_one_is_needed)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(1, "frictionless", 1e-6);
    cairn_step_report report;
    options.max_substeps = 1;
    cairn_body_def heavy = cairn_body_def_default();
    heavy.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    heavy.shape.radius = 0.1;
    heavy.mass = 1e6;
    heavy.velocity.x = 0.3;
    CHECK_OK(cairn_body_create(world, &heavy, NULL));
    for (int i = 1; i <= 60; i++)
        add_ball(world, 0.1, (cairn_vec3){ 0.206 * i, 0, 0 }, zero);
    uint64_t before = cairn_world_hash(world);
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_BAD_INPUT);
    const cairn_error *error = cairn_world_error(world);
    CHECK_TEXT(error->key, "run.time_step");
    CHECK_CONTAINS(error->message, "bodies move too far in one step of 1 s (first of all body 0)");
    CHECK_CONTAINS(error->message, "expected at most 0.33 s"); /* by its radius */
    CHECK(cairn_world_hash(world) == before);
    options.time_step = 0.1;
    CHECK_OK(cairn_world_step(world, &options, &report));
    cairn_world_destroy(world);
}

/* warm start pays: at rest a step needs next to no sweeps */
TEST(a_settled_heap_needs_few_sweeps)
{
    cairn_world *world = new_heap(3, 0.3, 3);
    cairn_step_options options = step_by(0.005, "convex", 1e-3);
    advance(world, &options, 1200);
    int64_t sweeps = 0;
    for (int k = 0; k < 50; k++)
        sweeps += advance(world, &options, 1).solve.iterations;
    CHECK(sweeps <= 50 * 5);
    cairn_world_destroy(world);
}

TEST(a_step_needs_no_report)
{
    cairn_world *told = new_heap(2, 0.3, 2), *untold = new_heap(2, 0.3, 2);
    cairn_step_options options = step_by(0.005, "convex", 1e-6);
    advance(told, &options, 50);
    for (int k = 0; k < 50; k++)
        CHECK_OK(cairn_world_step(untold, &options, NULL));
    CHECK(cairn_world_hash(told) == cairn_world_hash(untold));
    cairn_world_destroy(told);
    cairn_world_destroy(untold);
}

/* A heap that falls and a bullet that makes steps find their candidates again, to a tolerance that is
 * out of reach. The outer loops of papers allow as many in each of their convex solves. */
TEST(no_scheme_takes_more_iterations_than_a_step_may)
{
    enum { MOST = 30 };
    int again = 0, missed = 0;
    for (int i = 0; cairn_scheme_name(i); i++) {
        cairn_world *heap = new_heap(3, 0.3, 3);
        add_ball(heap, 0.05, (cairn_vec3){ 0, 0, 1.2 }, (cairn_vec3){ 0, 0, -30 });
        cairn_step_options options = step_by(0.005, cairn_scheme_name(i), 1e-15);
        bool loops = strcmp(options.scheme, "fixed-point") == 0 ||
                     strcmp(options.scheme, "coulomb-newton") == 0;
        options.max_iterations = MOST;
        for (int k = 0; k < 40; k++) {
            cairn_step_report report;
            CHECK_OK(cairn_world_step(heap, &options, &report));
            CHECK(loops || report.solve.iterations <= MOST);
            again += report.attempts > 1;
            missed += !report.solve.converged;
        }
        cairn_world_destroy(heap);
    }
    CHECK(again > 0 && missed > 100);
}

GROUP(test_step)
{
    RUN(CASE(inelastic_balls_go_on_together), CASE(elastic_balls_exchange_velocities),
        CASE(bounces_follow_the_coefficient_of_restitution),
        CASE(resting_ball_pushes_with_its_weight),
        CASE(disk_leaves_a_disk_at_the_angle_of_the_textbook),
        CASE(balls_roll_and_slip_down_an_incline),
        CASE(collisions_keep_momentum_and_account_for_angular_momentum),
        CASE(impacts_within_a_step_keep_momentum_and_account_for_angular_momentum),
        CASE(a_bullet_does_not_tunnel),
        CASE(every_scheme_and_solver_settles_a_heap_without_gaining_energy),
        CASE(repeated_runs_and_thread_counts_give_the_same_hash),
        CASE(a_large_pile_has_the_same_hash_for_any_number_of_threads),
        CASE(the_broad_phase_does_not_change_the_result), CASE(bad_options_leave_the_world_alone),
        CASE(a_step_that_is_too_long_says_which_one_is_needed),
        CASE(a_settled_heap_needs_few_sweeps), CASE(a_step_needs_no_report),
        CASE(no_scheme_takes_more_iterations_than_a_step_may));
}

/* ==== test_scheme: schemes by name, and what sets them apart ================================== */

TEST(schemes_have_names_texts_and_laws)
{
    CHECK_TEXT(cairn_scheme_name(0), "convex");
    for (int i = 0; cairn_scheme_name(i); i++)
        CHECK(strlen(cairn_scheme_summary(cairn_scheme_name(i))) > 20);
    CHECK_INT(cairn_scheme_law("convex"), CAIRN_LAW_CONVEX);
    CHECK_INT(cairn_scheme_law("fixed-point"), CAIRN_LAW_COULOMB);
    CHECK_INT(cairn_scheme_law("nonsense"), CAIRN_LAW_COUNT);
    CHECK(cairn_scheme_summary("nonsense") == NULL);
    CHECK(cairn_scheme_name(-1) == NULL);
}

/* A ball sliding at 1 m/s on a floor, mu = 0.2: its height above the floor after a while. */
static double height_while_sliding(const char *scheme, double *dilatation)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 1, 0, 0 });
    cairn_step_options options = step_by(0.001, scheme, 1e-10);
    *dilatation = advance(world, &options, 100).certificate.dilatation;
    double height = cairn_world_bodies(world).x[1].z - 0.1;
    cairn_world_destroy(world);
    return height;
}

/* after 0.1 s the surface slides with 1 - 0.1 * 0.2 * 10 * 3.5 = 0.3 m/s: gap 0.001 * 0.2 * 0.3 */
TEST(the_convex_scheme_lifts_what_slides_and_says_so)
{
    double lift, none;
    CHECK_NEAR(height_while_sliding("convex", &lift), 6e-5, 1e-6);
    CHECK_NEAR(lift, 6e-5, 1e-6);
    CHECK_NEAR(height_while_sliding("fixed-point", &none), 0, 1e-9);
    CHECK(none == 0);
}

TEST(frictionless_ignores_the_materials)
{
    cairn_world *world = new_world(3, 10, 0.9, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 1, 0, 0 });
    cairn_step_options options = step_by(0.001, "frictionless", 1e-10);
    advance(world, &options, 100);
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, 1, 1e-12);
    CHECK_NEAR(cairn_world_bodies(world).omega[1].y, 0, 1e-12);
    cairn_world_destroy(world);
}

/* On an incline of 30 degrees along x, mu 0.1: the exact schemes slide alike and keep no gap; cones
 * with edges are exact along an edge, so lcp agrees too; the convex ones agree with each other. */
static cairn_vec3 slide(const char *scheme, int dimension)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = { .friction = 0.1 };
    cairn_world *world;
    double down = -sqrt(0.75);
    def.dimension = dimension;
    def.gravity = dimension == 2 ? (cairn_vec3){ 0.5, down, 0 } : (cairn_vec3){ 0.5, 0, down };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.2, dimension == 2 ? (cairn_vec3){ 0, 0.2, 0 } : (cairn_vec3){ 0, 0, 0.2 },
             zero);
    cairn_step_options options = step_by(0.01, scheme, 1e-9);
    advance(world, &options, 100);
    cairn_vec3 x = cairn_world_bodies(world).x[1];
    cairn_world_destroy(world);
    return dimension == 2 ? (cairn_vec3){ x.x, 0, x.y } : x;
}

TEST(schemes_of_one_law_agree)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_vec3 exact = slide("fixed-point", dimension), convex = slide("convex", dimension);
        const char *const same[] = { "coulomb", "coulomb-newton", "lcp", "moreau-jean" };
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(slide(same[i], dimension).x, exact.x, 1e-7);
            CHECK_NEAR(slide(same[i], dimension).z, 0.2, 1e-7);
        }
        CHECK_NEAR(exact.x, (0.5 - 0.1 * sqrt(0.75)) * 1.01 / 2, 1e-7);
        CHECK_NEAR(slide("convex-polyhedral", dimension).x, convex.x, 1e-7);
        CHECK(convex.z > 0.2 + 1e-4);
    }
}

/* sliding between two edges of a four-sided cone friction is weaker: mu cos(45 degrees) */
TEST(few_edges_make_friction_depend_on_the_direction)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 2, 2, 0 });
    cairn_step_options options = step_by(0.001, "lcp", 1e-9);
    options.directions = 4;
    advance(world, &options, 10);
    cairn_contacts c = cairn_world_contacts(world);
    double friction = hypot(c.impulse[1], c.impulse[2]) / c.impulse[0];
    CHECK(friction <= 0.2 + 1e-12 && friction >= 0.2 * sqrt(0.5) - 1e-12);
    options.directions = 32;
    advance(world, &options, 10);
    c = cairn_world_contacts(world);
    CHECK_NEAR(hypot(c.impulse[1], c.impulse[2]) / c.impulse[0], 0.2, 1e-3);
    cairn_world_destroy(world);
}

/* Velocity level: a falling disk is stopped when it overlaps at mid-step, and what it overlaps then
 * stays: no more, no less. The position-level schemes touch exactly. */
TEST(moreau_jean_stops_the_fall_and_keeps_the_overlap)
{
    cairn_world *world = new_world(2, 10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.5, 0 }, zero);
    cairn_step_options options = step_by(0.01, "moreau-jean", 1e-10);
    double deepest = 0;
    for (int k = 0; k < 100; k++)
        deepest = fmax(deepest, advance(world, &options, 1).certificate.penetration);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, 0, 1e-12);
    CHECK(deepest <= 0.01 * sqrt(2 * 10 * 0.4)); /* at most one step of the fall */
    CHECK(deepest > 0);
    CHECK_NEAR(0.1 - cairn_world_bodies(world).x[1].y, deepest, 1e-12);
    cairn_world_destroy(world);
}

/* e = 0.5: the speed after the impact is half of the speed before, to rounding */
TEST(moreau_jean_restores_the_speed)
{
    cairn_world *world = new_world(2, 0, 0, 0.5);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.5, 0 }, (cairn_vec3){ 0, -2, 0 });
    cairn_step_options options = step_by(0.01, "moreau-jean", 1e-10);
    advance(world, &options, 40);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, 1, 1e-12);
    cairn_world_destroy(world);
}

GROUP(test_scheme)
{
    RUN(CASE(schemes_have_names_texts_and_laws),
        CASE(the_convex_scheme_lifts_what_slides_and_says_so),
        CASE(frictionless_ignores_the_materials), CASE(schemes_of_one_law_agree),
        CASE(few_edges_make_friction_depend_on_the_direction),
        CASE(moreau_jean_stops_the_fall_and_keeps_the_overlap),
        CASE(moreau_jean_restores_the_speed));
}

/* ==== test_integrate: motion without contact: free flight, free turning, loads ================ */

/* x += h v+ gives y = y0 + v T - g T (T + h)/2: the error is g T h/2, first order */
TEST(free_flight_is_first_order_with_a_known_error)
{
    for (int dimension = 2; dimension <= 3; dimension++)
        for (double h = 0.1; h > 0.001; h /= 2) {
            cairn_world *world = new_world(dimension, 9.81, 0, 0);
            add_ball(world, 0.1, zero, (cairn_vec3){ 3, 0, 0 });
            cairn_step_options options = step_by(h, "convex", 1e-3);
            advance(world, &options, (int)round(1.6 / h));
            cairn_vec3 x = cairn_world_bodies(world).x[0];
            double exact = -0.5 * 9.81 * 1.6 * 1.6, height = dimension == 2 ? x.y : x.z;
            CHECK_NEAR(x.x, 4.8, 1e-12);
            CHECK_NEAR(exact - height, 0.5 * 9.81 * 1.6 * h, 1e-10);
            cairn_world_destroy(world);
        }
}

TEST(time_does_not_drift)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_step_options options = step_by(0.1, "convex", 1e-3);
    advance(world, &options, 100000);
    CHECK_NEAR(cairn_world_time(world), 10000, 1e-11);
    cairn_world_destroy(world);
}

static int add_spinner(cairn_world *world, cairn_vec3 inertia, cairn_vec3 omega)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape.kind = CAIRN_SHAPE_SPHERE;
    def.shape.radius = 0.1;
    def.mass = 1;
    def.inertia = inertia;
    def.angular_velocity = omega;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

/* the turn about a principal axis is the exponential map: exact for any step */
TEST(turning_about_a_principal_axis_is_exact)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    add_spinner(world, (cairn_vec3){ 1, 2, 2.5 }, (cairn_vec3){ 0, 0, 2 });
    cairn_step_options options = step_by(0.05, "convex", 1e-3);
    advance(world, &options, 20);
    cairn_quat q = cairn_world_bodies(world).q[0];
    CHECK_NEAR(q.w, cos(1), 1e-13); /* angle 2 rad: half of it */
    CHECK_NEAR(q.z, sin(1), 1e-13);
    cairn_world_destroy(world);
}

/* about the middle axis the turn is unstable (Dzhanibekov); energy stays all the same */
TEST(free_turning_keeps_energy)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    add_spinner(world, (cairn_vec3){ 1, 2, 2.5 }, (cairn_vec3){ 0.01, 5, 0.01 });
    double before = total_energy(world), lowest = 5;
    cairn_step_options options = step_by(0.01, "convex", 1e-3);
    for (int k = 0; k < 2000; k++) {
        advance(world, &options, 1);
        lowest = fmin(lowest, cairn_world_bodies(world).omega[0].y);
    }
    CHECK_CLOSE(total_energy(world), before, 1e-11);
    CHECK(lowest < -4.9); /* it did flip over */
    cairn_world_destroy(world);
}

TEST(constant_load_accelerates)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = cairn_body_def_default();
    load.force = (cairn_vec3){ 6, 0, 0 };
    load.torque = (cairn_vec3){ 0, 0, 0.5 };
    def.shape.kind = CAIRN_SHAPE_SPHERE;
    def.shape.radius = 1;
    def.mass = 2; /* J = 0.8 */
    def.loads = &load;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_step_options options = step_by(0.01, "convex", 1e-3);
    cairn_step_report report = advance(world, &options, 100);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.v[0].x, 3, 1e-12);
    CHECK_NEAR(b.omega[0].z, 0.5 / 0.8, 1e-12);
    /* the last step's work is F.v at mid-step: 6 * 2.985 * 0.01 and 0.5 * 0.621875 * 0.01 */
    CHECK_NEAR(report.energy.load_work, 0.1791 + 0.003109375, 1e-12);
    cairn_world_destroy(world);
}

/* 374 rad/s are 19 rad in a step of 0.05 s: the midpoint rule has no answer there that Newton's
 * method finds, and a step without one is refused; half a radian a step is no trouble. */
TEST(turning_that_cannot_be_found_is_refused)
{
    const cairn_vec3 inertia = { 2, 1.7, 0.5 }, omega = { 300, 200, 100 };
    cairn_step_options options = step_by(0.05, "convex", 1e-3);
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_report report;
    cairn_status status = CAIRN_OK;
    add_spinner(world, inertia, omega);
    uint64_t before = 0;
    options.max_substeps = 1;
    for (int k = 0; k < 10 && status == CAIRN_OK; k++) {
        before = cairn_world_hash(world);
        status = cairn_world_step(world, &options, &report);
    }
    CHECK_INT(status, CAIRN_BAD_INPUT);
    CHECK(strstr(cairn_world_error(world)->message, "body 0 turns too far in one step of 0.05 s"));
    CHECK(cairn_world_hash(world) == before);
    options.time_step = 0.0013;
    advance(world, &options, 100);
    cairn_world_destroy(world);
}

GROUP(test_integrate)
{
    RUN(CASE(turning_that_cannot_be_found_is_refused),
        CASE(free_flight_is_first_order_with_a_known_error), CASE(time_does_not_drift),
        CASE(turning_about_a_principal_axis_is_exact), CASE(free_turning_keeps_energy),
        CASE(constant_load_accelerates));
}

/* ==== test_energy: the energy ledger closes to rounding in every step, whatever happens ======= */

/* d(kinetic + potential) minus what the ledger says, relative to the energy at hand. */
static double worst_gap(cairn_world *world, const cairn_step_options *options, int steps)
{
    double worst = 0, before = total_energy(world);
    for (int k = 0; k < steps; k++) {
        cairn_step_report report; /* the ledger closes whether or not the tolerance was met */
        CHECK_OK(cairn_world_step(world, options, &report));
        cairn_energy e = report.energy;
        double after = e.kinetic + e.potential;
        double said = e.entered + e.load_work + e.driver_work + e.correction - e.friction_loss -
                      e.impact_loss - e.numerical_loss;
        double size = fabs(e.kinetic) + fabs(e.potential) + fabs(e.impact_loss) + 1;
        worst = fmax(worst, fabs(after - before - said) / size);
        before = after;
    }
    return worst;
}

TEST(ledger_closes_in_heaps)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        const char *scheme;
        for (int i = 0; (scheme = cairn_scheme_name(i)); i++) {
            cairn_world *world = new_heap(dimension, 0.4, 3);
            cairn_step_options options = step_by(0.005, scheme, 1e-3);
            CHECK_NEAR(worst_gap(world, &options, CHECKED ? 80 : 150), 0, 1e-13);
            cairn_world_destroy(world);
        }
    }
}

/* a shaken floor, an inlet, a load and a tumbling ellipsoid of inertia all at once */
TEST(ledger_closes_with_drivers_inlets_loads_and_tumbling)
{
    cairn_world *world = new_world(3, 9.81, 0.4, 0.5);
    cairn_driver shake = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    cairn_driver turn = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    cairn_load load = cairn_load_default(CAIRN_LOAD_SINE);
    cairn_body_def floor = cairn_body_def_default(), top = floor;
    shake.amplitude.z = 0.02;
    shake.frequency = 5;
    turn.angular_velocity = (cairn_vec3){ 0.1, 0.2, 0.5 };
    floor.motion = CAIRN_MOTION_DRIVEN;
    floor.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    floor.drivers = (cairn_driver[]){ shake, turn };
    floor.driver_count = 2;
    CHECK_OK(cairn_body_create(world, &floor, NULL));
    load.force = (cairn_vec3){ 1, 2, 3 };
    load.torque = (cairn_vec3){ 0.01, 0, 0.02 };
    load.frequency = 3;
    top.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    top.shape.radius = 0.1;
    top.mass = 1;
    top.inertia = (cairn_vec3){ 0.003, 0.004, 0.006 };
    top.angular_velocity = (cairn_vec3){ 3, 10, -5 };
    top.position.z = 0.3;
    top.loads = &load;
    top.load_count = 1;
    CHECK_OK(cairn_body_create(world, &top, NULL));
    cairn_inlet_def inlet = cairn_inlet_def_default();
    inlet.count = 20;
    inlet.rate = 40;
    inlet.centre.z = 1;
    inlet.size = (cairn_vec3){ 0.4, 0.4, 0.2 };
    inlet.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    inlet.radius.value = 0.05;
    CHECK_OK(cairn_inlet_create(world, &inlet));
    cairn_step_options options = step_by(0.002, "convex", 1e-4);
    CHECK_NEAR(worst_gap(world, &options, 500), 0, 1e-13);
    CHECK_INT(cairn_world_inlet_pending(world), 0);
    cairn_world_destroy(world);
}

/* 1 kg falling 1 m onto the floor: all of m g h is lost in the impact */
TEST(a_falling_ball_loses_its_energy_in_the_impact)
{
    cairn_world *world = new_world(3, 10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 1.1 }, zero);
    cairn_step_options options = step_by(1e-4, "convex", 1e-10);
    double impact = 0, friction = 0, numerical = 0;
    for (int k = 0; k < 6000; k++) {
        cairn_energy e = advance(world, &options, 1).energy;
        impact += e.impact_loss;
        friction += e.friction_loss;
        numerical += e.numerical_loss;
    }
    CHECK_NEAR(impact, 10, 0.01);
    CHECK_NEAR(impact + numerical, 10, 1e-9);
    CHECK_NEAR(friction, 0, 1e-12);
    cairn_world_destroy(world);
}

GROUP(test_energy)
{
    RUN(CASE(ledger_closes_in_heaps), CASE(ledger_closes_with_drivers_inlets_loads_and_tumbling),
        CASE(a_falling_ball_loses_its_energy_in_the_impact));
}
