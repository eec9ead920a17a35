/* test_sweeps.c - sweeps over contacts, the loops around them, and the ladder that picks a
 * solver. */
#include <math.h>
#include <stdlib.h>

#include "cairn/cairn.h"
#include "problem/forms.h"
#include "solve/solver.h"
#include "tests/check.h"
#include "tests/problems/hard_problems.h"
#include "tests/problems/random_problem.h"
#include "tests/problems/worlds.h"

/* ==== test_auto: the ladder: what it picks, that it climbs, and what it says ================== */

enum { ROOM = 8000 };

static cairn_solve_report solve_limited(const cairn_problem *p, cairn_law law, double tolerance,
                                        int64_t most)
{
    static double r[ROOM], v[ROOM], u[ROOM];
    cairn_solve_report report;
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.law = law;
    options.tolerance = tolerance;
    options.max_iterations = most;
    CHECK(p->contacts * p->dimension <= ROOM && p->blocks * p->block_size <= ROOM);
    memset(r, 0, sizeof r);
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(p, &options, workspace, r, v, u, &report));
    cairn_workspace_destroy(workspace);
    return report;
}

static cairn_solve_report solve_auto(const cairn_problem *p, cairn_law law, double tolerance)
{
    return solve_limited(p, law, tolerance, 20000);
}

TEST(an_easy_problem_stays_on_the_first_rung)
{
    random_problem random;
    make_random_problem(&random, 3, 60, 50, 3);
    cairn_solve_report a = solve_auto(&random.p, CAIRN_LAW_COULOMB, 1e-4);
    CHECK(a.converged);
    CHECK_TEXT(a.solver, "ngs");
    CHECK_CONTAINS(a.remark, "ngs ");
    CHECK(strstr(a.remark, "newton") == NULL);
}

/* a column of 50 cubes to 1e-8: sweeps would take thousands, an interior point a dozen steps */
TEST(a_tall_stack_climbs_to_a_second_order_method)
{
    hard_problem column = make_column(50, 1, 0.3);
    cairn_solve_report convex = solve_auto(&column.p, CAIRN_LAW_CONVEX, 1e-8);
    CHECK(convex.converged);
    CHECK_CONTAINS(convex.remark, "ipm");
    cairn_solve_report coulomb = solve_auto(&column.p, CAIRN_LAW_COULOMB, 1e-8);
    CHECK(coulomb.converged);
    CHECK_CONTAINS(coulomb.remark, "newton");
    hard_problem_free(&column);
}

/* 12 cubes, 48 contacts given by W: sweeps of a first stage, (10 + 48)/2, and Newton's method, which
 * costs about 58 of them. Without a path of its own such a problem had 50 and 100 sweeps first. */
TEST(few_contacts_given_by_their_matrix_are_climbed_from_at_once)
{
    hard_problem column = make_column(12, 1, 0.3);
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    CHECK_OK(cairn_delassus_localise(&column.p, &arena, &W, &local));
    CHECK_INT(local.contacts, 48);
    cairn_solve_report a = solve_auto(&local, CAIRN_LAW_COULOMB, 1e-8);
    CHECK(a.converged);
    CHECK_TEXT(a.solver, "newton");
    CHECK(a.iterations < 100);
    cairn_arena_destroy(&arena);
    hard_problem_free(&column);
}

/* the same sweeps, asked for by a solve and by a step: that goes on below its tolerance while there
 * are few contacts, to lift nothing that slides */
TEST(only_steps_go_on_below_their_tolerance)
{
    random_problem random;
    cairn_solve_report report[2];
    make_random_problem(&random, 3, 12, 10, 3);
    for (int step = 0; step < 2; step++) {
        static double r[ROOM], v[ROOM], u[ROOM];
        cairn_workspace *workspace;
        cairn_solve_options options = cairn_solve_options_default();
        options.law = CAIRN_LAW_COULOMB;
        options.approach = step ? 1e9 : 0;
        memset(r, 0, sizeof r);
        CHECK_OK(cairn_workspace_create(&workspace));
        CHECK_OK(cairn_solve(&random.p, &options, workspace, r, v, u, &report[step]));
        CHECK(report[step].converged);
        cairn_workspace_destroy(workspace);
    }
    CHECK(report[1].iterations > report[0].iterations);
    CHECK(report[1].judgement.asked.relative < report[0].judgement.asked.relative);
}

/* 900 bricks in the plane, the top row 1,000 times heavier: 60 + 29 x 118 = 3,482 contacts. Sweeps
 * hardly move; Newton's method counts as 100 + 3,482 of them there, not 9,644 as in space, a
 * prediction that is far beyond it counts before a quarter is spent, and it takes some 30 steps */
TEST(slow_sweeps_in_the_plane_are_climbed_from_early)
{
    hard_problem wall = make_plane_wall(30, 1000, 0.5);
    CHECK_INT(wall.p.contacts, 3482);
    cairn_solve_report a = solve_limited(&wall.p, CAIRN_LAW_COULOMB, 1e-8, 1000);
    CHECK(a.converged);
    CHECK_TEXT(a.solver, "newton");
    CHECK(a.iterations < 896);
    hard_problem_free(&wall);
}

/* a pile of 590 contacts that gives way is beyond all methods at 1e-8: Newton's gives up, and the
 * sweeps go on from the better impulses, in turn with it */
TEST(newton_that_stands_still_hands_over_to_sweeps)
{
    hard_problem pile = make_hard_pile(20, 0.5);
    CHECK_INT(pile.p.contacts, 590);
    cairn_solve_report a = solve_limited(&pile.p, CAIRN_LAW_COULOMB, 1e-8, 5000);
    const char *newton = strstr(a.remark, "newton");
    CHECK(newton && strstr(newton, "gs "));
    CHECK(a.iterations <= 5000);
    hard_problem_free(&pile);
}

TEST(a_heavy_top_is_solved_too)
{
    hard_problem column = make_column(10, 1000, 0.3);
    CHECK(solve_auto(&column.p, CAIRN_LAW_CONVEX, 1e-8).converged);
    CHECK(solve_auto(&column.p, CAIRN_LAW_COULOMB, 1e-8).converged);
    hard_problem_free(&column);
}

/* iterations are counted over all rungs, and the limit holds over all of them */
TEST(the_iteration_limit_holds_over_all_rungs)
{
    hard_problem column = make_column(50, 1, 0.3);
    cairn_solve_report a = solve_limited(&column.p, CAIRN_LAW_CONVEX, 1e-10, 60);
    CHECK(!a.converged);
    CHECK_INT(a.iterations, 60);
    CHECK(a.judgement.asked.relative < 1); /* the best it saw, not the last */
    hard_problem_free(&column);
}

/* 1,408 contacts: newton counts as 100 + 1,408 + 0.0005 x 1,408^2 = 2,499 sweeps, so 600 of them
 * are a fair try, whatever the first 150 promise */
TEST(a_large_problem_is_not_climbed_from_at_the_first_slow_stage)
{
    cairn_arena arena = { 0 };
    lattice_problem lattice;
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    CHECK(make_lattice_problem(8, 1, &arena, &lattice));
    CHECK_INT(lattice.p.contacts, 1408);
    double *r = cairn_arena_doubles(&arena, 3 * 1408);
    double *v = cairn_arena_doubles(&arena, 6 * 512);
    double *u = cairn_arena_doubles(&arena, 3 * 1408);
    CHECK(r && v && u);
    memset(r, 0, 3 * 1408 * sizeof *r);
    options.law = CAIRN_LAW_COULOMB;
    options.tolerance = 1e-13;
    options.max_iterations = 600;
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&lattice.p, &options, workspace, r, v, u, &report));
    CHECK_INT(report.iterations, 600);
    CHECK(strstr(report.remark, "newton") == NULL);
    cairn_workspace_destroy(workspace);
    cairn_arena_destroy(&arena);
}

TEST(cones_with_edges_go_to_the_exact_methods)
{
    hard_problem column = make_column(3, 1, 0.3);
    cairn_problem p = column.p;
    p.directions = 4;
    cairn_solve_report coulomb = solve_auto(&p, CAIRN_LAW_COULOMB, 1e-9);
    CHECK(coulomb.converged);
    CHECK_TEXT(coulomb.solver, "lemke");
    cairn_solve_report convex = solve_auto(&p, CAIRN_LAW_CONVEX, 1e-9);
    CHECK(convex.converged);
    CHECK_TEXT(convex.solver, "active-set");
    hard_problem_free(&column);
}

GROUP(test_auto)
{
    RUN(CASE(an_easy_problem_stays_on_the_first_rung),
        CASE(a_tall_stack_climbs_to_a_second_order_method),
        CASE(few_contacts_given_by_their_matrix_are_climbed_from_at_once),
        CASE(only_steps_go_on_below_their_tolerance),
        CASE(slow_sweeps_in_the_plane_are_climbed_from_early),
        CASE(newton_that_stands_still_hands_over_to_sweeps), CASE(a_heavy_top_is_solved_too),
        CASE(the_iteration_limit_holds_over_all_rungs),
        CASE(a_large_problem_is_not_climbed_from_at_the_first_slow_stage),
        CASE(cones_with_edges_go_to_the_exact_methods));
}

/* ==== test_decompression: contacts with a least normal impulse: known answers, and the law itself
 * checked from outside on random problems. */

static cairn_solve_options exact(cairn_law law)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.law = law;
    options.tolerance = 1e-12;
    return options;
}

/* ---- three balls in a row ------------------------------------------------------------------- */

/* Unit masses on a line; contact j between balls j and j + 1, u_N = v_(j+1) - v_j. After the
 * compression of (1, 0, 0) all go on with 1/3: r_c = (2/3, 1/3). */
static const double masses[3] = { 1, 1, 1 }, before[3] = { 1, 0, 0 };
static const double rows[8] = { -1, 0, 1, 0, -1, 0, 1, 0 };
static const int32_t neighbours[4] = { 0, 1, 1, 2 };
static const double compressed[4] = { 2.0 / 3, 0, 1.0 / 3, 0 }, no_friction[2] = { 0, 0 };

static void throw_balls(double e_first, double e_second, double *v)
{
    const cairn_problem p = { .dimension = 2,
                              .block_size = 1,
                              .blocks = 3,
                              .contacts = 2,
                              .mass_inverse = masses,
                              .v_free = before,
                              .block = neighbours,
                              .H = rows,
                              .mu = no_friction };
    const double least[2] = { e_first * 2 / 3, e_second / 3 };
    const cairn_decompression d = { &p, compressed, least };
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    double r[4], u[4];
    cairn_solve_report report;
    memcpy(r, compressed, sizeof r);
    CHECK_OK(cairn_decompression_solve(&d, &options, r, v, u, &report));
    CHECK(report.converged);
    CHECK(report.judgement.asked.relative <= 1e-12);
}

/* e = (1, 1): r = (4/3, 2/3), v = (-1/3, 2/3, 2/3).
 * e = (0, 1): the second contact throws ball 3 with 1/3 more; balls 1 and 2 share the recoil of
 * 1/3, held together by an impulse of 1/6: v = (1/6, 1/6, 2/3).
 * e = (1, 0): r_1 = 4/3; ball 2 would run into ball 3, so x_2 = 1/3: as for e = (1, 1). */
TEST(balls_in_a_row_share_the_decompression)
{
    const double e[3][2] = { { 1, 1 }, { 0, 1 }, { 1, 0 } };
    const double expected[3][3] = { { -1.0 / 3, 2.0 / 3, 2.0 / 3 },
                                    { 1.0 / 6, 1.0 / 6, 2.0 / 3 },
                                    { -1.0 / 3, 2.0 / 3, 2.0 / 3 } };
    for (int k = 0; k < 3; k++) {
        double v[3];
        throw_balls(e[k][0], e[k][1], v);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(v[i], expected[k][i], 1e-11);
    }
}

/* ---- one contact with friction -------------------------------------------------------------- */

/* A point of mass 1 over a floor in 3D, compressed to (0, 3, 4) m/s: thrown up with 0.5 N s, and
 * slowed by at most mu 0.5 N s along (3, 4)/5. */
static void throw_point(double mu, double *r, double *v)
{
    const double mass[3] = { 1, 1, 1 }, H[18] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const double free[3] = { 0, 3, 4 }, nothing[3] = { 0, 0, 0 }, least = 0.5;
    const int32_t block[2] = { 0, -1 };
    const cairn_problem p = { .dimension = 3,
                              .block_size = 3,
                              .blocks = 1,
                              .contacts = 1,
                              .mass_inverse = mass,
                              .v_free = free,
                              .block = block,
                              .H = H,
                              .mu = &mu };
    const cairn_decompression d = { &p, nothing, &least };
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    double u[3];
    cairn_solve_report report;
    memset(r, 0, 3 * sizeof(double));
    CHECK_OK(cairn_decompression_solve(&d, &options, r, v, u, &report));
    CHECK(report.converged);
}

TEST(friction_is_bounded_by_the_impulse_of_the_decompression)
{
    double r[3], v[3];
    throw_point(0.2, r, v);
    CHECK_NEAR(v[0], 0.5, 1e-14);
    CHECK_NEAR(r[1], -0.1 * 0.6, 1e-14);
    CHECK_NEAR(r[2], -0.1 * 0.8, 1e-14);
    throw_point(20, r, v); /* 10 N s at most: 5 are enough to stop it */
    CHECK_NEAR(v[1], 0, 1e-13);
    CHECK_NEAR(v[2], 0, 1e-13);
    CHECK_NEAR(v[0], 0.5, 1e-14);
}

/* Thrown with the least impulse, 1/2 N s, it still approaches at 1 m/s and slides at 5: whatever mu
 * is, that is an error of 1 m/s. The natural map has 1e-3. */
TEST(a_speed_of_approach_above_the_floor_is_not_divided_by_friction)
{
    const double mass[3] = { 1, 1, 1 }, H[18] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, mu = 1000;
    const double free[3] = { -1.5, 303, 404 }, nothing[3] = { 0, 0, 0 }, least = 0.5;
    const double r[3] = { 0.5, -300, -400 }; /* friction at its bound and against the sliding */
    const int32_t block[2] = { 0, -1 };
    const cairn_problem p = { .dimension = 3,
                              .block_size = 3,
                              .blocks = 1,
                              .contacts = 1,
                              .mass_inverse = mass,
                              .v_free = free,
                              .block = block,
                              .H = H,
                              .mu = &mu };
    const cairn_decompression d = { &p, nothing, &least };
    double v[3], u[3];
    cairn_judgement said;
    cairn_decompression_judge(&d, CAIRN_LAW_COULOMB, r, v, u, &said);
    CHECK_NEAR(said.coulomb.worst, 1, 1e-9);
}

/* ---- random problems ------------------------------------------------------------------------ */

typedef struct thrown {
    random_problem random;
    double least[MOST_CONTACTS], compression[3 * MOST_CONTACTS];
    double r[3 * MOST_CONTACTS], v[6 * MOST_BLOCKS], u[3 * MOST_CONTACTS];
    cairn_decompression d;
    cairn_solve_report report;
} thrown;

static void make_thrown(thrown *t, int dimension, uint64_t seed)
{
    uint64_t state = seed;
    make_random_problem(&t->random, dimension, 20, 16, seed);
    for (int j = 0; j < 16; j++) {
        t->least[j] = j % 3 ? cairn_random_uniform(&state) : 0;
        for (int i = 0; i < dimension; i++)
            t->compression[j * dimension + i] = i ? 0 : cairn_random_uniform(&state);
    }
    memcpy(t->r, t->compression, sizeof t->r);
    t->d = (cairn_decompression){ &t->random.p, t->compression, t->least };
}

static double tangent_norm(int d, const double *x)
{
    return d == 3 ? hypot(x[1], x[2]) : fabs(x[1]);
}

/* Coulomb's law with the floor, said without any projection. */
static void check_contact(const thrown *t, int j, int *at_floor, int *above)
{
    int d = t->random.p.dimension;
    const double *u = t->u + j * d;
    double x[3] = { 0 }, power = 0, mu = t->random.mu[j], open = u[0] + t->random.b[j];
    for (int i = 0; i < d; i++)
        x[i] = t->r[j * d + i] - t->compression[j * d + i];
    for (int i = 1; i < d; i++)
        power += x[i] * u[i];
    CHECK(x[0] >= t->least[j] - 1e-10);
    CHECK(open >= -1e-9);
    CHECK(fabs((x[0] - t->least[j]) * open) < 1e-9);
    CHECK(tangent_norm(d, x) <= mu * x[0] + 1e-10);
    CHECK_NEAR(power, -tangent_norm(d, x) * tangent_norm(d, u), 1e-9); /* opposes sliding */
    CHECK(fabs((mu * x[0] - tangent_norm(d, x)) * tangent_norm(d, u)) < 1e-9);
    *at_floor += t->least[j] > 0 && open > 1e-6;
    *above += x[0] > t->least[j] + 1e-6;
}

TEST(random_problems_satisfy_coulombs_law_above_their_floors)
{
    static thrown t;
    int at_floor = 0, above = 0;
    for (int k = 0; k < 40; k++) {
        const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
        make_thrown(&t, 2 + k % 2, 100 + (uint64_t)k);
        CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
        CHECK(t.report.converged);
        for (int j = 0; j < 16; j++)
            check_contact(&t, j, &at_floor, &above);
    }
    CHECK(at_floor > 100 && above > 50); /* both cases were met */
}

/* convex law: no x' in C has less energy 1/2 r'Wr + q'r; tried at x + (a random way inside C) */
TEST(the_convex_law_has_least_energy)
{
    static thrown t;
    for (int k = 0; k < 20; k++) {
        const cairn_solve_options options = exact(CAIRN_LAW_CONVEX);
        uint64_t state = 7;
        int d = 2 + k % 2;
        make_thrown(&t, d, 300 + (uint64_t)k);
        CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
        CHECK(t.report.converged);
        for (int j = 0; j < 16; j++) { /* u^.(y - x) >= 0 for y in C */
            double y[3], slope = 0, least = t.least[j];
            double normal = least + cairn_random_uniform(&state);
            double share = cairn_random_uniform(&state), angle = 6 * share;
            y[0] = normal;
            y[1] = share * t.random.mu[j] * normal * (d == 3 ? cos(angle) : 1);
            y[2] = share * t.random.mu[j] * normal * sin(angle);
            for (int i = 0; i < d; i++)
                slope += (t.u[j * d + i] + (i ? 0 : t.random.b[j])) *
                         (y[i] - (t.r[j * d + i] - t.compression[j * d + i]));
            CHECK(slope >= -1e-9);
        }
    }
}

/* the same answer from W and q alone */
TEST(the_local_form_gives_the_same)
{
    static thrown t;
    double none, u[3 * MOST_CONTACTS], r[3 * MOST_CONTACTS];
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    cairn_solve_report report;
    make_thrown(&t, 3, 11);
    memcpy(r, t.r, sizeof r);
    CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
    CHECK_OK(cairn_delassus_localise(&t.random.p, &arena, &W, &local));
    const cairn_decompression d = { &local, t.compression, t.least };
    CHECK_OK(cairn_decompression_solve(&d, &options, r, &none, u, &report));
    CHECK(report.converged);
    for (int i = 0; i < 48; i++)
        CHECK_NEAR(r[i], t.r[i], 1e-9);
    cairn_arena_destroy(&arena);
}

/* 1e-3 N s too much at one contact of inverse mass about 1 shows as about 1e-3 m/s there */
TEST(the_judge_sees_a_wrong_impulse)
{
    static thrown t;
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    cairn_judgement said;
    make_thrown(&t, 3, 12);
    CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
    t.r[3 * 5] += 1e-3;
    cairn_decompression_judge(&t.d, CAIRN_LAW_COULOMB, t.r, t.v, t.u, &said);
    CHECK(said.asked.worst > 3e-4 && said.asked.worst < 3e-3);
    CHECK_INT(said.asked.worst_contact, 5);
    t.r[3 * 5] -= 1e-3 + 0.1 * (t.least[5] + 1); /* below the floor: outside C */
    cairn_decompression_judge(&t.d, CAIRN_LAW_COULOMB, t.r, t.v, t.u, &said);
    CHECK(said.cone_violation > 0.05);
}

TEST(too_few_sweeps_are_reported)
{
    static thrown t;
    cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    make_thrown(&t, 3, 13);
    options.max_iterations = 1;
    CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
    CHECK(!t.report.converged);
    CHECK_INT(t.report.iterations, 1);
    CHECK(t.report.judgement.asked.relative > 1e-12);
}

TEST(reports_of_both_phases_are_joined_by_the_worse)
{
    cairn_solve_report first = { .converged = true,
                                 .iterations = 3,
                                 .outer_iterations = 2,
                                 .solver = "ngs",
                                 .remark = "first" };
    cairn_solve_report second = { .converged = true, .iterations = 4, .outer_iterations = 1 };
    first.judgement.asked = (cairn_residual){ .worst = 2, .relative = 0.1, .worst_contact = 7 };
    second.judgement.asked = (cairn_residual){ .worst = 1, .relative = 0.5, .worst_contact = 1 };
    cairn_decompression_report(&first, &second);
    CHECK_INT(second.iterations, 7);
    CHECK_INT(second.outer_iterations, 3);
    CHECK_TEXT(second.solver, "ngs");
    CHECK_TEXT(second.remark, "first");
    CHECK_NEAR(second.judgement.asked.worst, 2, 0);
    CHECK_INT(second.judgement.asked.worst_contact, 7);
    CHECK_NEAR(second.judgement.asked.relative, 0.5, 0);
    first.converged = false;
    cairn_decompression_report(&first, &second);
    CHECK(!second.converged);
}

GROUP(test_decompression)
{
    RUN(CASE(balls_in_a_row_share_the_decompression),
        CASE(friction_is_bounded_by_the_impulse_of_the_decompression),
        CASE(a_speed_of_approach_above_the_floor_is_not_divided_by_friction),
        CASE(random_problems_satisfy_coulombs_law_above_their_floors),
        CASE(the_convex_law_has_least_energy), CASE(the_local_form_gives_the_same),
        CASE(the_judge_sees_a_wrong_impulse), CASE(too_few_sweeps_are_reported),
        CASE(reports_of_both_phases_are_joined_by_the_worse));
}

/* ==== test_gauss_seidel: plain and accelerated sweeps: how many, and that they end ============ */

/* Sweeps that a scene needs over some steps, cold in each step. */
static int64_t cold_sweeps(const char *solver, const char *scheme)
{
    cairn_world *world = new_heap(3, 0.3, 10);
    cairn_step_options options = step_by(0.005, scheme, 1e-3);
    int64_t sweeps = 0;
    advance(world, &options, 400); /* at rest, or nearly */
    options.solver = solver;
    options.max_iterations = 20000; /* of plain sweeps */
    options.warm_start = false;
    for (int k = 0; k < 5; k++)
        sweeps += advance(world, &options, 1).solve.iterations;
    cairn_world_destroy(world);
    return sweeps;
}

TEST(acceleration_saves_sweeps_on_a_heap_at_rest)
{
    int64_t plain = cold_sweeps("pgs", "convex"), fast = cold_sweeps("ngs", "convex");
    CHECK(fast > 5); /* cold starts do need work */
    CHECK(2 * fast <= plain);
}

/* The residual of exact friction that so many sweeps from nothing leave of the last problem. */
static double left_by_exact_friction(const cairn_world *world, int64_t sweeps)
{
    cairn_solve_options ask = cairn_solve_options_default();
    cairn_workspace *workspace;
    cairn_solve_report report = { 0 };
    const double *r_last;
    const cairn_problem *p = cairn_world_problem(world, &r_last);
    size_t n = 3 * (size_t)p->contacts;
    double *numbers = calloc(2 * n + 6 * (size_t)p->blocks, sizeof(double));
    ask.solver = "ngs";
    ask.law = CAIRN_LAW_COULOMB;
    ask.tolerance = 1e-9;
    ask.max_iterations = sweeps;
    CHECK_INT(cairn_workspace_create(&workspace), CAIRN_OK);
    CHECK_INT(cairn_solve(p, &ask, workspace, numbers, numbers + 2 * n, numbers + n, &report),
              CAIRN_OK);
    free(numbers);
    cairn_workspace_destroy(workspace);
    return report.judgement.asked.relative;
}

/* Likewise in a heap at rest, the geometric mean of five steps: single ones differ sevenfold. */
static double left_in_a_heap(double mu, int64_t sweeps)
{
    cairn_world *world = new_heap(3, mu, 20);
    cairn_step_options options = step_by(0.005, "convex", 1e-3);
    double sum = 0;
    advance(world, &options, 370);
    for (int k = 0; k < 5; k++) {
        advance(world, &options, 10);
        sum += log(left_by_exact_friction(world, sweeps));
    }
    cairn_world_destroy(world);
    return exp(sum / 5);
}

/* Without its bounds momentum leaves 4.2e-2 and 1.7e-1 here. */
TEST(momentum_of_exact_friction_is_bounded)
{
    CHECK(left_in_a_heap(0.4, 200) < 1e-2); /* 5.2e-3 */
    CHECK(left_in_a_heap(0.8, 200) < 2e-2); /* 1.4e-2 */
}

/* one contact: the first sweep is the exact answer */
TEST(a_single_contact_takes_one_sweep)
{
    static const char *const solvers[] = { "pgs", "ngs" };
    for (int i = 0; i < 2; i++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            cairn_world *world = new_world(dimension, 9.81, 0.3, 0);
            cairn_vec3 up = { 0, dimension == 2 ? 0.1 : 0, dimension == 3 ? 0.1 : 0 };
            add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
            add_ball(world, 0.1, up, (cairn_vec3){ 0.01, 0, 0 });
            cairn_step_options options = step_by(0.01, "convex", 1e-12);
            options.solver = solvers[i];
            CHECK_INT(advance(world, &options, 1).solve.iterations, 1);
            cairn_world_destroy(world);
        }
}

/* A body between two plates that both push: there is no feasible velocity, the dual has no bound. */
static cairn_solve_report solve_vice(const char *solver, int64_t iterations, double seconds)
{
    const double mass[3] = { 1, 1, 1 }, v_free[3] = { 0, 0, 0 }, b[2] = { -1, -1 };
    const double H[24] = { 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0 };
    const double mu[2] = { 0.3, 0.3 };
    const int32_t block[4] = { 0, -1, 0, -1 };
    cairn_problem p = { .dimension = 2,
                        .block_size = 3,
                        .blocks = 1,
                        .contacts = 2,
                        .mass_inverse = mass,
                        .v_free = v_free,
                        .block = block,
                        .H = H,
                        .b = b,
                        .mu = mu };
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    cairn_workspace *workspace;
    double r[4] = { 0 }, v[3], u[4];
    options.solver = solver;
    options.max_iterations = iterations;
    options.time_limit = seconds;
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&p, &options, workspace, r, v, u, &report));
    cairn_workspace_destroy(workspace);
    return report;
}

TEST(an_infeasible_problem_ends_and_is_reported)
{
    static const char *const solvers[] = { "pgs", "ngs", "auto", "apgd-asr" };
    for (int i = 0; i < 4; i++) {
        cairn_solve_report report = solve_vice(solvers[i], 2000, 0);
        CHECK(!report.converged);
        CHECK(report.judgement.asked.relative > 0.1);
    }
}

/* A thousand million sweeps would take minutes: only the limit can end this. A busy machine may let
 * a short one pass before the first sweep. */
TEST(the_time_limit_ends_a_solve)
{
    static const char *const solvers[] = { "pgs", "ngs", "apgd-asr" };
    for (int i = 0; i < 3; i++) {
        cairn_solve_report report = { .iterations = 0 };
        for (double limit = 0.02; report.iterations == 0 && limit < 100; limit *= 2)
            report = solve_vice(solvers[i], 1000000000, limit);
        CHECK(!report.converged);
        CHECK(report.iterations > 0 && report.iterations < 1000000000);
    }
}

GROUP(test_gauss_seidel)
{
    RUN(CASE(momentum_of_exact_friction_is_bounded),
        CASE(acceleration_saves_sweeps_on_a_heap_at_rest), CASE(a_single_contact_takes_one_sweep),
        CASE(an_infeasible_problem_ends_and_is_reported), CASE(the_time_limit_ends_a_solve));
}

/* ==== test_fixed_point: the fixed point on the sliding speeds ================================= */

/* One ball of mass 1 (J = 2/5, radius 1) on a plane, sliding with 1 m/s, pressed with 1 m/s:
 * W = diag(1, 3.5, 3.5). The convex solve with s gives |u_T| as a function F(s). */
static const double mass[6] = { 1, 1, 1, 2.5, 2.5, 2.5 };
static const double v_free[6] = { 1, 0, -1, 0, 0, 0 };
static const double block_H[36] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, -1, 0, 0 };
static const int32_t block[2] = { 0, -1 };

static cairn_problem sliding_ball(const double *mu)
{
    return (cairn_problem){ .dimension = 3,
                            .block_size = 6,
                            .blocks = 1,
                            .contacts = 1,
                            .mass_inverse = mass,
                            .v_free = v_free,
                            .block = block,
                            .H = block_H,
                            .mu = mu };
}

static cairn_solve_report solve(double mu, double increment, int64_t most, double *s, double *r)
{
    cairn_problem p = sliding_ball(&mu);
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    cairn_workspace *workspace;
    double v[6], u[3];
    options.solver = "pgs";
    options.tolerance = 1e-12;
    CHECK_OK(cairn_workspace_create(&workspace));
    const cairn_sliding_loop loop = { increment, most, s, r, v, u };
    CHECK_OK(cairn_solve_fixed_point(&p, &options, &loop, workspace, &report));
    cairn_workspace_destroy(workspace);
    return report;
}

/* mu = 0.1: Coulomb's impulse is (1, -0.1, 0), it goes on sliding with 1 - 0.35 = 0.65 m/s */
TEST(a_sliding_ball_reaches_coulombs_answer)
{
    double s = 0, r[3] = { 0 };
    cairn_solve_report report = solve(0.1, 0, 100, &s, r);
    CHECK(report.converged);
    CHECK_NEAR(r[0], 1, 1e-11);
    CHECK_NEAR(r[1], -0.1, 1e-12);
    CHECK_NEAR(s, 0.65, 1e-11);
}

/* mu = 0.5 > 1/3.5: it sticks, and the first convex solve is already right */
TEST(a_sticking_ball_takes_one_solve)
{
    double s = 0, r[3] = { 0 };
    cairn_solve_report report = solve(0.5, 0, 100, &s, r);
    CHECK(report.converged);
    CHECK_INT(report.outer_iterations, 1);
    CHECK_NEAR(r[1], -1 / 3.5, 1e-12);
}

/* starting from the answer: one solve to confirm it */
TEST(the_answer_is_a_fixed_point)
{
    double s = 0.65, r[3] = { 1, -0.1, 0 };
    CHECK_INT(solve(0.1, 0, 100, &s, r).outer_iterations, 1);
    CHECK_NEAR(s, 0.65, 1e-12);
}

TEST(the_test_on_s_stops_early_when_asked)
{
    double s = 0, r[3] = { 0 }, loose = 0, rough[3] = { 0 };
    int64_t strict = solve(0.1, 1e-12, 100, &s, r).outer_iterations;
    cairn_solve_report report = solve(0.1, 1e-2, 100, &loose, rough);
    CHECK(report.converged);
    CHECK(report.outer_iterations < strict);
    CHECK_NEAR(loose, 0.65, 1e-2);
}

TEST(too_few_outer_iterations_are_reported)
{
    double s = 0, r[3] = { 0 };
    cairn_solve_report report = solve(0.1, 0, 2, &s, r);
    CHECK(!report.converged);
    CHECK(report.judgement.coulomb.relative > 1e-12);
    CHECK_INT(report.outer_iterations, 2);
}

GROUP(test_fixed_point)
{
    RUN(CASE(a_sliding_ball_reaches_coulombs_answer), CASE(a_sticking_ball_takes_one_solve),
        CASE(the_answer_is_a_fixed_point), CASE(the_test_on_s_stops_early_when_asked),
        CASE(too_few_outer_iterations_are_reported));
}

/* ==== test_upgrade: exact friction at some contacts, the convex law at the others ============= */

/* Two balls of mass 1 (J = 2/5, radius 1) on a plane, apart from each other, pressed with 1 m/s and
 * sliding with 1 and 3 m/s; W = diag(1, 3.5, 3.5) for each, mu = 0.1. With n = (1 + mu |u|)/(1 +
 * 3.5 mu^2) the convex law gives r_N = (1 + 0.1)/1.035 = 1.06280 and (1 + 0.3)/1.035 = 1.25604, and
 * |u_T| = 1 - 0.35 r_N = 0.62802 and 3 - 0.35 r_N = 2.56039; Coulomb's r_N = 1 and 0.65, 2.65. */
static const double block_mass[12] = { 1, 1, 1, 2.5, 2.5, 2.5, 1, 1, 1, 2.5, 2.5, 2.5 };
static const double block_v_free[12] = { 1, 0, -1, 0, 0, 0, 3, 0, -1, 0, 0, 0 };
static const int32_t upgraded_block[4] = { 0, -1, 1, -1 };
static const double mu[2] = { 0.1, 0.1 };

typedef struct answer {
    uint8_t exact[2];
    double s[2], r[6], u[6];
    int count;
    cairn_solve_report report;
} answer;

static void solve_upgraded(double allowed, int64_t most, answer *a)
{
    const double first_rows[18] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, -1, 0, 0 };
    double all_H[72] = { 0 }, v[12];
    memcpy(all_H, first_rows, sizeof first_rows);
    memcpy(all_H + 36, first_rows, sizeof first_rows);
    cairn_problem p = { .dimension = 3,
                        .block_size = 6,
                        .blocks = 2,
                        .contacts = 2,
                        .mass_inverse = block_mass,
                        .v_free = block_v_free,
                        .block = upgraded_block,
                        .H = all_H,
                        .mu = mu };
    cairn_solve_options options = cairn_solve_options_default();
    cairn_upgrade upgrade = { .allowed = allowed,
                              .exact = a->exact,
                              .loop = { 0, most, a->s, a->r, v, a->u } };
    cairn_workspace *workspace;
    options.solver = "pgs";
    options.tolerance = 1e-12;
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve_upgrade(&p, &options, &upgrade, workspace, &a->report));
    a->count = upgrade.count;
    cairn_workspace_destroy(workspace);
}

/* Both glide by less than 0.3 m/s: one solve, the convex answer. */
TEST(nothing_is_upgraded_where_all_is_allowed)
{
    answer a = { 0 };
    solve_upgraded(0.3, 100, &a);
    CHECK(a.report.converged);
    CHECK_INT(a.count, 0);
    CHECK_INT(a.report.outer_iterations, 1);
    CHECK_NEAR(a.r[0], 1.1 / 1.035, 1e-11);
    CHECK_NEAR(a.r[3], 1.3 / 1.035, 1e-11);
}

/* 0.1 * 2.56 > 0.2 > 0.1 * 0.63: the second ball obeys Coulomb's law, the first stays convex. */
TEST(only_what_glides_too_much_is_upgraded)
{
    answer a = { 0 };
    solve_upgraded(0.2, 100, &a);
    CHECK(a.report.converged);
    CHECK_INT(a.count, 1);
    CHECK(!a.exact[0] && a.exact[1]);
    CHECK_NEAR(a.r[0], 1.1 / 1.035, 1e-11);
    CHECK_NEAR(a.r[3], 1, 1e-11);
    CHECK_NEAR(a.s[0], 0, 0);
    CHECK_NEAR(a.s[1], 2.65, 1e-10);
    CHECK(a.report.judgement.asked.relative <= 1e-12);
    CHECK(a.report.judgement.coulomb.relative > 0.01); /* of the first ball */
}

TEST(with_nothing_allowed_it_is_coulombs_law)
{
    answer a = { 0 };
    solve_upgraded(0, 100, &a);
    CHECK_INT(a.count, 2);
    CHECK_NEAR(a.r[0], 1, 1e-11);
    CHECK_NEAR(a.r[3], 1, 1e-11);
    CHECK(a.report.judgement.coulomb.relative <= 1e-11);
}

/* What comes in upgraded stays so. */
TEST(the_set_only_grows)
{
    answer a = { .exact = { 1, 0 } };
    solve_upgraded(0.2, 100, &a);
    CHECK_INT(a.count, 2);
}

TEST(too_few_upgrades_are_reported)
{
    answer a = { 0 };
    solve_upgraded(0.2, 2, &a);
    CHECK(!a.report.converged);
    CHECK_INT(a.report.outer_iterations, 2);
}

GROUP(test_upgrade)
{
    RUN(CASE(nothing_is_upgraded_where_all_is_allowed), CASE(only_what_glides_too_much_is_upgraded),
        CASE(with_nothing_allowed_it_is_coulombs_law), CASE(the_set_only_grows),
        CASE(too_few_upgrades_are_reported));
}
