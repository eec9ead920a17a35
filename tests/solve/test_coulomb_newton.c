/* test_coulomb_newton.c - a few contacts, given by their matrix: Newton's method for Coulomb's
 * law, and modes. */
#include <math.h>
#include <string.h>

#include "cairn/cairn.h"
#include "cairn/solve.h"
#include "problem/forms.h"
#include "solve/solver.h"
#include "studies/classic_problems.h"
#include "tests/check.h"
#include "tests/problems/random_problem.h"

/* ==== test_coulomb_newton: the classic problems of [C09], and its random instances by a
 * generator of our own: see the table below. */

typedef cairn_newton_answer answer;

static answer solve(const cairn_problem *p, const char *inner, double increment, double *s)
{
    answer a;
    CHECK_OK(cairn_newton_solve(p, inner, increment, s, &a));
    return a;
}

static double phi(const cairn_problem *p, const double *s, double *u)
{
    double out;
    CHECK_OK(cairn_phi(p, s, u, &out));
    return out;
}

/* ---- bad boy -------------------------------------------------------------------------------- */

TEST(bad_boy_has_a_local_minimum_at_zero_and_a_solution_at_five)
{
    static const double expected[][2] = { { 0, 0.5 }, { 1, 2 }, { 2, 4.5 }, { 5, 0 }, { 8, 4.5 } };
    bad_boy bad;
    double u[2];
    make_bad_boy(&bad);
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(phi(&bad.p, &expected[i][0], u), expected[i][1], 1e-10);
    phi(&bad.p, &expected[0][0], u);
    CHECK_NEAR(u[0], 1, 1e-10);
    CHECK_NEAR(u[1], 1, 1e-10);
    phi(&bad.p, &expected[3][0], u);
    CHECK_NEAR(u[0], 3, 1e-10);
    CHECK_NEAR(u[1], 5, 1e-10);
}

TEST(bad_boy_from_above_two_is_solved_in_one_step)
{
    static const double starts[] = { 2.01, 3, 8 };
    for (int i = 0; i < 3; i++) {
        bad_boy bad;
        double s[1] = { starts[i] };
        make_bad_boy(&bad);
        answer a = solve(&bad.p, "active-set", 1e-10, s);
        CHECK(a.report.converged);
        CHECK_INT(a.report.outer_iterations, 2); /* one step, two convex solves */
        CHECK_NEAR(s[0], 5, 1e-10);
        CHECK_NEAR(a.report.judgement.coulomb.relative, 0, 1e-10);
    }
}

TEST(bad_boy_from_below_two_fails_and_says_so)
{
    static const double starts[] = { 0, 0.5, 1.99 };
    for (int i = 0; i < 3; i++)
        for (int mode = 0; mode < 2; mode++) {
            bad_boy bad;
            double s[1] = { starts[i] };
            make_bad_boy(&bad);
            answer a = solve(&bad.p, mode ? "pgs" : "active-set", mode ? 0 : 1e-10, s);
            CHECK(!a.report.converged);
            CHECK_NEAR(s[0], 0, 0);
            CHECK_CONTAINS(a.report.remark, "stuck");
            CHECK_CONTAINS(a.report.remark, "phi = 0.5 ");
            CHECK(a.report.judgement.coulomb.relative > 1e-3);
        }
}

/* ---- bead in a corner ----------------------------------------------------------------------- */

TEST(bead_has_the_phi_of_the_paper)
{
    static const double grid[][3] = { { 0.25, 0.25, 0.11662659 },
                                      { 0.5, 0.25, 0.26868988 },
                                      { 0.5, 0.5, 0.25 },
                                      { 0.75, 0.5, 0.15625 },
                                      { 1, 0, 0.31399577 },
                                      { 0, 0.25, 0.03543671 },
                                      { 0, 0.75, 0.31893036 },
                                      { 1.25, 1.25, 0.0625 },
                                      { 0, 0, 0 },
                                      { 1, 1, 0 } };
    bead b;
    double u[4];
    make_bead(&b, M_PI / 6, 1);
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(phi(&b.p, grid[i], u), grid[i][2], 6e-9);
    double edge = 1 - tan(M_PI / 6), at_edge[2] = { edge, edge };
    CHECK_NEAR(edge, 0.4226497308, 1e-10);
    CHECK_NEAR(phi(&b.p, at_edge, u), 0.5 * 2 * (1 - edge) * (1 - edge), 1e-9); /* = 1/3 */
}

TEST(bead_is_wedged_or_taken_off_depending_on_the_start)
{
    /* start; end; convex solves: one more than Newton steps */
    static const struct {
        double s[2], end;
        int solves;
    } cases[] = { { { 0.42, 0.42 }, 0, 2 },
                  { { 0.43, 0.43 }, 1, 2 },
                  { { 0, 1 }, 1, 3 },
                  { { 0.3, 0.9 }, 1, 3 },
                  { { 0, 0 }, 0, 1 } };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) {
            bead b;
            double s[2] = { cases[i].s[0], cases[i].s[1] };
            make_bead(&b, M_PI / 6, 1);
            answer a = solve(&b.p, k ? "pgs" : "active-set", 1e-10, s);
            CHECK(a.report.converged);
            CHECK_INT(a.report.outer_iterations, cases[i].solves);
            CHECK_NEAR(s[0], cases[i].end, 1e-10);
            CHECK_NEAR(s[1], cases[i].end, 1e-10);
            CHECK_NEAR(a.v[0], 0, 1e-10);
            CHECK_NEAR(a.v[1], cases[i].end * 1.1547005384, 1e-9);
        }
}

/* ---- random instances ----------------------------------------------------------------------- */

typedef struct expected {
    cairn_instance_def def;
    int steps;
    double phi, speed, sum_s, sum_r;
    int off, stuck, slid;
} expected;

/* phi(0) etc. by an independent implementation */
static const expected table_of[] = {
    { { 2, 10, 0.5, 2, 2001 },
      3,
      7.99787316,
      13.2392729881,
      20.0267346945,
      11.6889759119,
      5,
      3,
      2 },
    { { 2, 20, 0.5, 2, 2011 },
      2,
      3.13574759,
      13.8432858235,
      16.4099342660,
      32.1807765526,
      7,
      6,
      7 },
    { { 2, 30, 0.5, 2, 2021 },
      2,
      13.02516545,
      22.2609955255,
      26.9592671997,
      39.8276181517,
      13,
      7,
      10 },
    { { 2, 40, 0.2, 3, 2031 },
      4,
      17.69559137,
      24.1006004978,
      39.9367336578,
      41.5907944801,
      22,
      12,
      6 },
    { { 3, 10, 0.5, 2, 3001 }, 3, 4.05089868, 7.7316657565, 6.8647191427, 21.1769131276, 4, 4, 2 },
    { { 3, 20, 0.5, 2, 3011 },
      3,
      15.89107371,
      14.2604872690,
      33.2543836549,
      43.7318222469,
      6,
      5,
      9 },
    { { 3, 30, 0.5, 2, 3021 },
      3,
      29.27427055,
      18.7996011009,
      62.3444926571,
      22.7382152057,
      13,
      3,
      14 },
    { { 3, 40, 0.2, 3, 3031 },
      4,
      34.29703957,
      22.5940659980,
      69.6698619415,
      43.7981439357,
      23,
      4,
      13 },
};

/* off: no impulse; stuck: an impulse and no sliding */
static void count_states(const cairn_problem *p, const answer *a, int *count)
{
    count[0] = count[1] = count[2] = 0;
    for (int j = 0; j < p->contacts; j++) {
        const double *r = a->r + p->dimension * j, *u = a->u + p->dimension * j;
        bool slides = cairn_sliding_speed(p->dimension, 0, u) > 1e-7;
        count[r[0] < 1e-7 ? 0 : slides ? 2 : 1]++;
    }
}

static double speed(const cairn_instance *x, const double *r)
{
    double out;
    CHECK_OK(cairn_instance_speed(x, r, &out));
    return out;
}

static void check_instance(const expected *e)
{
    static cairn_instance x;
    double s[INSTANCE_CONTACTS] = { 0 }, u[INSTANCE_ROWS], sum_s = 0, sum_r = 0;
    int count[3], d = e->def.dimension;
    CHECK_OK(cairn_instance_make(&e->def, &x));
    CHECK_OK(cairn_problem_check(x.p, NULL));
    CHECK_NEAR(phi(x.p, s, u), e->phi, 1e-7);
    answer a = solve(x.p, "pgs", 0, s);
    CHECK(a.report.converged);
    /* in 2D the last step is exact; in 3D the reference may have stopped one step earlier */
    CHECK(a.steps == e->steps || (d == 3 && a.steps == e->steps + 1));
    for (int j = 0; j < e->def.contacts; j++) {
        sum_s += s[j];
        sum_r += a.r[d * j];
    }
    CHECK_NEAR(speed(&x, a.r), e->speed, 1e-7);
    CHECK_NEAR(sum_s, e->sum_s, 1e-7);
    CHECK_NEAR(sum_r, e->sum_r, 1e-7);
    count_states(x.p, &a, count);
    CHECK_INT(count[0], e->off);
    CHECK_INT(count[1], e->stuck);
    CHECK_INT(count[2], e->slid);
    cairn_instance_clear(&x);
}

TEST(random_instances_are_solved_as_tabulated)
{
    for (size_t i = 0; i < sizeof table_of / sizeof table_of[0]; i++)
        check_instance(&table_of[i]);
}

TEST(more_random_instances_in_3d)
{
    static const struct {
        cairn_instance_def def;
        double speed;
    } more[] = { { { 3, 10, 0.5, 2, 3002 }, 10.1502656175 },
                 { { 3, 20, 0.5, 2, 3012 }, 16.2079405660 },
                 { { 3, 30, 0.5, 2, 3022 }, 22.2289624421 },
                 { { 3, 40, 0.2, 3, 3032 }, 17.6787451654 } };
    static cairn_instance x;
    for (int i = 0; i < 4; i++) {
        double s[INSTANCE_CONTACTS] = { 0 };
        CHECK_OK(cairn_instance_make(&more[i].def, &x));
        answer a = solve(x.p, "pgs", 0, s);
        CHECK(a.report.converged);
        CHECK_NEAR(speed(&x, a.r), more[i].speed, 1e-7);
        cairn_instance_clear(&x);
    }
}

/* ---- in general ----------------------------------------------------------------------------- */

TEST(block_form_agrees_with_gauss_seidel_on_the_coulomb_law)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_problem random;
        double s[MOST_CONTACTS] = { 0 };
        make_random_problem(&random, seed % 2 ? 2 : 3, 40, 30, seed);
        answer a = solve(&random.p, "pgs", 0, s), b = { 0 };
        cairn_workspace *workspace;
        cairn_solve_options options = cairn_solve_options_default();
        options.solver = "pgs";
        options.law = CAIRN_LAW_COULOMB;
        options.tolerance = 1e-11;
        CHECK_OK(cairn_workspace_create(&workspace));
        CHECK_OK(cairn_solve(&random.p, &options, workspace, b.r, b.v, b.u, &b.report));
        cairn_workspace_destroy(workspace);
        CHECK(a.report.converged && b.report.converged);
        CHECK(a.report.outer_iterations <= 7);
        for (int i = 0; i < random.p.blocks * random.p.block_size; i++)
            CHECK_NEAR(a.v[i], b.v[i], 1e-8);
    }
}

/* b = -0.1, mu = 2: with s < 0.05 the walls leave no velocity at all; from s = 0 the method begins at
 * s0 = -b/mu = 0.05, where only v = 0 is left, cannot leave and says so; from 0.5 it finds the bead
 * moving out at u_N = 0.1, v_y = 0.1/sin 30 */
TEST(an_infeasible_start_is_raised)
{
    bead b;
    const double bias[2] = { -0.1, -0.1 };
    double s[2] = { 0, 0 };
    make_bead(&b, M_PI / 6, 2);
    b.p.b = bias;
    answer a = solve(&b.p, "active-set", 0, s);
    CHECK(!a.report.converged);
    CHECK_CONTAINS(a.report.remark, "stuck");
    CHECK_NEAR(s[0], 0.05, 1e-12);
    CHECK_NEAR(a.v[1], 0, 1e-12);
    s[0] = s[1] = 0.5;
    a = solve(&b.p, "active-set", 0, s);
    CHECK(a.report.converged);
    CHECK_INT(a.steps, 1);
    CHECK_NEAR(a.v[1], 0.2, 1e-10);
    CHECK_NEAR(s[0], 0.2 * cos(M_PI / 6), 1e-10);
}

TEST(redundant_contacts_are_no_obstacle)
{
    /* the bead between each wall twice: W is singular */
    bead single;
    double H[32], mu[4] = { 0.3, 0.3, 0.3, 0.3 }, s[4] = { 0 };
    const int32_t block[8] = { 0, -1, 0, -1, 0, -1, 0, -1 };
    make_bead(&single, M_PI / 6, 0.3);
    memcpy(H, single.H, sizeof single.H);
    memcpy(H + 16, single.H, sizeof single.H);
    cairn_problem p = single.p;
    p.contacts = 4;
    p.H = H;
    p.mu = mu;
    p.block = block;
    single.v_free[0] = 1;
    single.v_free[1] = -2;
    answer a = solve(&p, "active-set", 0, s);
    CHECK(a.report.converged);
    CHECK(a.report.judgement.coulomb.relative <= 1e-11);
}

TEST(cones_with_edges_are_refused)
{
    random_problem random;
    double s[MOST_CONTACTS] = { 0 };
    make_random_problem(&random, 3, 4, 4, 1);
    random.p.directions = 8;
    answer a;
    CHECK_INT(cairn_newton_solve(&random.p, "pgs", 0, s, &a), CAIRN_UNSUPPORTED);
}

TEST(an_empty_problem_is_solved)
{
    const double mass_inverse[3] = { 1, 1, 1 }, v_free[3] = { 1, 2, 3 };
    cairn_problem p = {
        .dimension = 2, .block_size = 3, .blocks = 1, .mass_inverse = mass_inverse, .v_free = v_free
    };
    double s[1] = { 0 };
    answer a = solve(&p, "pgs", 0, s);
    CHECK(a.report.converged);
    CHECK(a.v[1] == 2);
}

TEST(every_failing_allocation_ends_cleanly)
{
    long calls = 1;
    for (long n = 1; n <= calls; n++) {
        meter m = { .fail_at = n };
        bead b;
        double s[2] = { 0, 1 }, r[4] = { 0 }, v[2], u[4];
        cairn_workspace *workspace = NULL;
        cairn_solve_options options = cairn_solve_options_default();
        cairn_solve_report report;
        const cairn_sliding_loop loop = { 1e-10, 50, s, r, v, u };
        make_bead(&b, M_PI / 6, 1);
        options.solver = "active-set";
        meter_install(&m);
        cairn_status status = cairn_workspace_create(&workspace);
        if (status == CAIRN_OK)
            status = cairn_solve_coulomb_newton(&b.p, &options, &loop, workspace, &report);
        cairn_workspace_destroy(workspace);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        calls = m.calls >= n ? n + 1 : n - 1;
    }
    CHECK(calls >= 4);
}

TEST(not_a_number_is_an_error)
{
    random_problem random;
    double s[MOST_CONTACTS] = { 0 };
    make_random_problem(&random, 3, 4, 4, 1);
    random.v_free[5] = NAN;
    answer a;
    CHECK_INT(cairn_newton_solve(&random.p, "pgs", 0, s, &a), CAIRN_NOT_FINITE);
}

GROUP(test_coulomb_newton)
{
    RUN(CASE(bad_boy_has_a_local_minimum_at_zero_and_a_solution_at_five),
        CASE(bad_boy_from_above_two_is_solved_in_one_step),
        CASE(bad_boy_from_below_two_fails_and_says_so), CASE(bead_has_the_phi_of_the_paper),
        CASE(bead_is_wedged_or_taken_off_depending_on_the_start),
        CASE(random_instances_are_solved_as_tabulated), CASE(more_random_instances_in_3d),
        CASE(block_form_agrees_with_gauss_seidel_on_the_coulomb_law),
        CASE(an_infeasible_start_is_raised), CASE(redundant_contacts_are_no_obstacle),
        CASE(cones_with_edges_are_refused), CASE(an_empty_problem_is_solved),
        CASE(every_failing_allocation_ends_cleanly), CASE(not_a_number_is_an_error));
}

/* ==== test_small: a few contacts given by W: sweeps alone, modes in 2D, and when others go on */

/* The same problem given by W. */
static cairn_problem local_form(const cairn_problem *p, cairn_arena *arena, cairn_matrix *W)
{
    cairn_problem local;
    CHECK_OK(cairn_delassus_localise(p, arena, W, &local));
    return local;
}

typedef struct small_answer {
    double r[MOST_CONTACTS * 3], u[MOST_CONTACTS * 3], v[MOST_BLOCKS * 6];
    cairn_solve_report report;
} small_answer;

static cairn_solve_options options_of(cairn_law law, double tolerance)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.law = law;
    options.tolerance = tolerance;
    return options;
}

static void solve_few(const cairn_problem *p, const cairn_solve_options *options, small_answer *a)
{
    cairn_workspace *workspace;
    *a = (small_answer){ 0 };
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(p, options, workspace, a->r, a->v, a->u, &a->report));
    cairn_workspace_destroy(workspace);
}

/* By small.c alone. */
static void solve_alone(const cairn_problem *p, const cairn_solve_options *options, small_answer *a)
{
    cairn_arena arena = { 0 };
    *a = (small_answer){ 0 };
    CHECK(cairn_small_accepts(p, options));
    CHECK_OK(cairn_small_solve(p, options, &arena, a->r, a->u, &a->report));
    cairn_arena_destroy(&arena);
}

/* Velocities of the convex law are unique; those of Coulomb's are, with little friction. */
TEST(random_contacts_move_as_with_plain_sweeps)
{
    for (int seed = 0; seed < 20; seed++)
        for (int dimension = 2; dimension <= 3; dimension++)
            for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
                cairn_arena arena = { 0 };
                cairn_matrix W;
                random_problem random;
                small_answer small, plain;
                make_random_problem(&random, dimension, 12, 10, seed);
                cairn_problem p = local_form(&random.p, &arena, &W);
                cairn_solve_options options = options_of((cairn_law)law, 1e-9);
                CHECK(cairn_small_accepts(&p, &options));
                solve_few(&p, &options, &small);
                options.solver = "pgs";
                CHECK(!cairn_small_accepts(&p, &options));
                solve_few(&p, &options, &plain);
                CHECK(small.report.converged && plain.report.converged);
                for (int i = 0; i < p.contacts * dimension; i++)
                    CHECK_NEAR(small.u[i], plain.u[i], 1e-6);
                cairn_arena_destroy(&arena);
            }
}

/* Two contacts of one body that are all but the same, W = (1, c; c, 1) in the normals with
 * c = SHARED: a sweep takes off 0.2 % of the error. Frictionless, q = (-1, -1): r_N = 1/(1 + c). */
static const double SHARED = 0.999;

enum { PAIRS = 10 }; /* 20 contacts are too many for their modes to be guessed */

typedef struct pairs {
    int64_t start[4 * PAIRS + 1];
    int32_t column[8 * PAIRS];
    double value[8 * PAIRS], q[4 * PAIRS], b[2 * PAIRS], mu[2 * PAIRS];
    cairn_matrix W;
    cairn_problem p;
} pairs;

/* `count` such pairs, each alone. */
static void make_pairs(int count, double mu, pairs *x)
{
    static const double q[4] = { -1, 0.1, -1, 0.2 };
    *x = (pairs){ 0 };
    for (int row = 0; row < 4 * count; row++) {
        int other = row % 4 < 2 ? row + 2 : row - 2;
        x->start[row + 1] = 2 * row + 2;
        for (int k = 0; k < 2; k++) {
            bool own = (row < other) == (k == 0);
            x->column[2 * row + k] = own ? row : other;
            x->value[2 * row + k] = own ? 1 : SHARED;
        }
        x->q[row] = q[row % 4];
        x->mu[row / 2] = mu;
    }
    x->W = (cairn_matrix){ 4 * count, 4 * count, x->start, x->column, x->value };
    x->p = (cairn_problem){
        .dimension = 2, .contacts = 2 * count, .W = &x->W, .q = x->q, .b = x->b, .mu = x->mu
    };
}

TEST(modes_of_contacts_in_the_plane_are_guessed_when_sweeps_are_slow)
{
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        for (int slides = 0; slides < 2; slides++) {
            pairs x;
            small_answer a;
            make_pairs(1, slides ? 0.01 : 0, &x);
            cairn_solve_options options = options_of((cairn_law)law, 1e-12);
            solve_alone(&x.p, &options, &a);
            CHECK(a.report.converged);
            CHECK(a.report.iterations <= 5);
            if (!slides)
                CHECK_NEAR(a.r[0] + a.r[2], 2 / (1 + SHARED), 1e-12);
            if (slides && law == CAIRN_LAW_COULOMB) { /* u_N = 0, r_T = -mu r_N */
                CHECK_NEAR(a.u[0], 0, 1e-12);
                CHECK_NEAR(a.r[1], -0.01 * a.r[0], 1e-15);
            }
        }
}

TEST(sweeps_that_are_slow_are_left_to_other_methods)
{
    pairs x;
    small_answer alone, all;
    make_pairs(PAIRS, 0.01, &x);
    cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-10);
    solve_alone(&x.p, &options, &alone);
    CHECK(!alone.report.converged);
    CHECK(alone.report.iterations >= 3 && alone.report.iterations <= 4 * (10 + 20));
    for (int i = 0; i < 4 * PAIRS; i++)
        CHECK(isfinite(alone.r[i]));
    solve_few(&x.p, &options, &all);
    CHECK(all.report.converged);
    CHECK(strcmp(all.report.solver, "newton") == 0);
    CHECK(all.report.iterations > alone.report.iterations);
}

TEST(no_more_sweeps_than_allowed)
{
    pairs x;
    small_answer a;
    make_pairs(1, 0.3, &x);
    for (int most = 0; most <= 2; most++) {
        cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-12);
        options.max_iterations = most;
        solve_few(&x.p, &options, &a);
        CHECK(!a.report.converged);
        CHECK_INT(a.report.iterations, most);
    }
}

TEST(numbers_that_overflow_leave_the_start_alone)
{
    pairs x;
    small_answer a = { .r = { 1, 0, 2, 0 } };
    cairn_arena arena = { 0 };
    make_pairs(1, 0.3, &x);
    x.q[0] = -1e308;
    x.value[0] = 1e-300;
    cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-6);
    CHECK_OK(cairn_small_solve(&x.p, &options, &arena, a.r, a.u, &a.report));
    CHECK(!a.report.converged);
    CHECK(a.r[0] == 1 && a.r[2] == 2);
    cairn_arena_destroy(&arena);
}

TEST(no_memory_is_reported_and_nothing_leaks)
{
    pairs x;
    make_pairs(1, 0.3, &x);
    cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-6);
    cairn_status status = CAIRN_NO_MEMORY;
    for (int n = 1; status == CAIRN_NO_MEMORY; n++) {
        meter m = { .fail_at = n };
        small_answer a = { 0 };
        cairn_arena arena = { 0 };
        meter_install(&m);
        status = cairn_small_solve(&x.p, &options, &arena, a.r, a.u, &a.report);
        cairn_arena_destroy(&arena);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK(n > 1 || status == CAIRN_NO_MEMORY);
    }
    CHECK_OK(status);
}

GROUP(test_small)
{
    RUN(CASE(random_contacts_move_as_with_plain_sweeps),
        CASE(modes_of_contacts_in_the_plane_are_guessed_when_sweeps_are_slow),
        CASE(sweeps_that_are_slow_are_left_to_other_methods), CASE(no_more_sweeps_than_allowed),
        CASE(numbers_that_overflow_leave_the_start_alone),
        CASE(no_memory_is_reported_and_nothing_leaks));
}
