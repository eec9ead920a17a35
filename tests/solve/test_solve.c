/* test_solve.c - problems x solvers: contacts, and contacts with rolling and spinning friction. */
#include <stdlib.h>

#include "base/common.h"
#include "base/parallel.h"
#include "cairn/cairn.h"
#include "cairn/solve.h"
#include "tests/check.h"
#include "tests/problems/random_problem.h"

/* ==== test_solve: problems x solvers: every solver on every problem of a law it claims to
 * treat */

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double r[MOST_CONTACTS * 3], v[MOST_BLOCKS * 6], u[MOST_CONTACTS * 3];
} answer;

static answer solve_within(const cairn_problem *p, const char *solver, cairn_law law,
                           double tolerance, int iterations)
{
    answer a = { 0 };
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.law = law;
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    CHECK_OK(cairn_workspace_create(&workspace));
    a.status = cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report);
    cairn_workspace_destroy(workspace);
    return a;
}

static answer solve(const cairn_problem *p, const char *solver, cairn_law law, double tolerance)
{
    return solve_within(p, solver, law, tolerance, 200000);
}

/* Largest difference of velocities. */
static double distance(const cairn_problem *p, const double *v, const double *w)
{
    double largest = 0;
    for (int i = 0; i < p->blocks * p->block_size; i++)
        largest = fmax(largest, fabs(v[i] - w[i]));
    return largest;
}

TEST(every_solver_meets_the_convex_law_and_finds_the_same_velocity)
{
    for (uint64_t seed = 1; seed <= 12; seed += CHECKED ? 3 : 1) {
        random_problem random;
        int dimension = seed % 2 ? 2 : 3;
        make_random_problem(&random, dimension, 12 + 4 * (int)seed, 4 + 4 * (int)seed, seed);
        answer reference = solve(&random.p, "pgs", CAIRN_LAW_CONVEX, 1e-12);
        CHECK(reference.report.converged);
        const char *name;
        for (int i = 0; (name = cairn_solver_name(i)); i++) {
            if (!cairn_solver_accepts(name, CAIRN_LAW_CONVEX, &random.p))
                continue;
            answer a = solve(&random.p, name, CAIRN_LAW_CONVEX, 1e-9);
            CHECK_OK(a.status);
            CHECK(a.report.converged);
            CHECK(a.report.judgement.asked.relative <= 1e-9);
            CHECK_NEAR(a.report.judgement.cone_violation, 0, 1e-12);
            CHECK_NEAR(distance(&random.p, a.v, reference.v), 0, 1e-6);
        }
    }
}

TEST(gauss_seidel_meets_the_coulomb_law)
{
    static const char *const solvers[] = { "pgs", "ngs", "auto" };
    for (uint64_t seed = 1; seed <= 12; seed += CHECKED ? 3 : 1) {
        random_problem random;
        make_random_problem(&random, seed % 2 ? 2 : 3, 40, 30, seed);
        for (int i = 0; i < 3; i++) {
            answer a = solve(&random.p, solvers[i], CAIRN_LAW_COULOMB, 1e-9);
            CHECK_OK(a.status);
            CHECK(a.report.converged);
            CHECK(a.report.judgement.coulomb.relative <= 1e-9);
        }
    }
}

TEST(fixed_point_meets_the_coulomb_law)
{
    cairn_workspace *workspace;
    CHECK_OK(cairn_workspace_create(&workspace));
    for (uint64_t seed = 1; seed <= 12; seed += CHECKED ? 3 : 1) {
        random_problem random;
        make_random_problem(&random, seed % 2 ? 2 : 3, 40, 30, seed);
        answer direct = solve(&random.p, "pgs", CAIRN_LAW_COULOMB, 1e-10), a = { 0 };
        cairn_solve_options options = cairn_solve_options_default();
        options.tolerance = 1e-9;
        double s[MOST_CONTACTS] = { 0 };
        const cairn_sliding_loop loop = { 0, 1000, s, a.r, a.v, a.u };
        CHECK_OK(cairn_solve_fixed_point(&random.p, &options, &loop, workspace, &a.report));
        CHECK(a.report.converged);
        CHECK(a.report.judgement.coulomb.relative <= 1e-9);
        CHECK(a.report.outer_iterations > 1);
        CHECK_NEAR(distance(&random.p, a.v, direct.v), 0, 1e-6);
    }
    cairn_workspace_destroy(workspace);
}

TEST(warm_start_from_the_answer_needs_no_iteration)
{
    random_problem random;
    make_random_problem(&random, 3, 40, 30, 7);
    const char *name;
    for (int i = 0; (name = cairn_solver_name(i)); i++) {
        if (!cairn_solver_accepts(name, CAIRN_LAW_CONVEX, &random.p))
            continue;
        answer a = solve(&random.p, name, CAIRN_LAW_CONVEX, 1e-8);
        cairn_workspace *workspace;
        cairn_solve_options options = cairn_solve_options_default();
        options.solver = name;
        options.tolerance = 1e-8;
        CHECK_OK(cairn_workspace_create(&workspace));
        CHECK_OK(cairn_solve(&random.p, &options, workspace, a.r, a.v, a.u, &a.report));
        CHECK(a.report.converged);
        CHECK_INT(a.report.iterations, 0);
        cairn_workspace_destroy(workspace);
    }
}

TEST(too_few_iterations_are_reported_not_hidden)
{
    random_problem random;
    make_random_problem(&random, 3, 40, 30, 5);
    const char *name;
    for (int i = 0; (name = cairn_solver_name(i)); i++) {
        if (!cairn_solver_accepts(name, CAIRN_LAW_CONVEX, &random.p))
            continue;
        cairn_workspace *workspace;
        cairn_solve_options options = cairn_solve_options_default();
        answer a = { 0 };
        options.solver = name;
        options.tolerance = 1e-12;
        options.max_iterations = 2;
        CHECK_OK(cairn_workspace_create(&workspace));
        CHECK_OK(cairn_solve(&random.p, &options, workspace, a.r, a.v, a.u, &a.report));
        CHECK(!a.report.converged);
        CHECK(a.report.judgement.asked.relative > 1e-12);
        cairn_workspace_destroy(workspace);
    }
}

TEST(an_empty_problem_is_solved)
{
    const double mass_inverse[3] = { 1, 1, 1 }, v_free[3] = { 1, 2, 3 };
    cairn_problem p = {
        .dimension = 2, .block_size = 3, .blocks = 1, .mass_inverse = mass_inverse, .v_free = v_free
    };
    answer a = solve(&p, "auto", CAIRN_LAW_CONVEX, 1e-3);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    CHECK(a.v[0] == 1 && a.v[1] == 2 && a.v[2] == 3);
}

/* two contacts at the same place share the load: the velocity is unique, the impulses are not */
TEST(duplicate_contacts_share_the_load)
{
    random_problem twice;
    make_random_problem(&twice, 2, 1, 1, 1);
    const double row[6] = { 1, 0, 0, 0, 1, 0 };
    for (int j = 0; j < 2; j++) {
        memcpy(&twice.H[j * 12], row, sizeof row);
        twice.block[2 * j] = 0;
        twice.block[2 * j + 1] = -1;
        twice.b[j] = 0;
        twice.mu[j] = 0.3;
        twice.w[2 * j] = twice.w[2 * j + 1] = 0;
    }
    twice.v_free[0] = -1;
    twice.v_free[1] = 0.1;
    twice.p.contacts = 2;
    for (int i = 0; cairn_solver_name(i); i++) {
        answer a = solve(&twice.p, cairn_solver_name(i), CAIRN_LAW_CONVEX, 1e-10);
        CHECK(a.report.converged);
        CHECK_NEAR(a.v[0], 0, 1e-9);
        CHECK_NEAR(a.v[1], 0, 1e-9);
        CHECK_NEAR(a.r[0] + a.r[2], 1 / twice.mass_inverse[0], 1e-8);
    }
}

/* s is data of the convex law; exact Coulomb friction finds its own */
TEST(the_coulomb_law_ignores_a_given_s)
{
    random_problem random;
    make_random_problem(&random, 3, 40, 30, 9);
    double s[30];
    for (int j = 0; j < 30; j++)
        s[j] = 0.5 * j;
    answer plain = solve(&random.p, "pgs", CAIRN_LAW_COULOMB, 1e-10);
    random.p.s = s;
    for (int i = 0; cairn_solver_name(i); i++) {
        if (!cairn_solver_accepts(cairn_solver_name(i), CAIRN_LAW_COULOMB, &random.p))
            continue;
        answer a = solve(&random.p, cairn_solver_name(i), CAIRN_LAW_COULOMB, 1e-9);
        CHECK(a.report.converged);
        CHECK_NEAR(distance(&random.p, a.v, plain.v), 0, 1e-6);
    }
}

TEST(unknown_solver_and_untreated_law_are_refused)
{
    random_problem random;
    make_random_problem(&random, 3, 4, 4, 1);
    CHECK_INT(solve(&random.p, "nonsense", CAIRN_LAW_CONVEX, 1e-3).status, CAIRN_NOT_FOUND);
    CHECK_INT(solve(&random.p, "apgd-asr", CAIRN_LAW_COULOMB, 1e-3).status, CAIRN_UNSUPPORTED);
}

TEST(not_a_number_is_an_error_not_an_answer)
{
    random_problem random;
    make_random_problem(&random, 3, 4, 4, 1);
    random.v_free[5] = NAN;
    for (int i = 0; cairn_solver_name(i); i++)
        if (cairn_solver_accepts(cairn_solver_name(i), CAIRN_LAW_CONVEX, &random.p))
            CHECK_INT(solve(&random.p, cairn_solver_name(i), CAIRN_LAW_CONVEX, 1e-3).status,
                      CAIRN_NOT_FINITE);
}

/* 1e155 squared is more than a double holds: sums of squares were infinite, ratios of them 0, and
 * the start was the answer. */
TEST(an_impulse_whose_square_overflows_is_no_start)
{
    random_problem random;
    make_random_problem(&random, 3, 4, 4, 1);
    for (int i = 0; cairn_solver_name(i); i++) {
        double r[MOST_CONTACTS * 3] = { 1e155 }, v[MOST_BLOCKS * 6], u[MOST_CONTACTS * 3];
        cairn_solve_options options = cairn_solve_options_default();
        cairn_solve_report report;
        cairn_workspace *workspace;
        options.solver = cairn_solver_name(i);
        if (!cairn_solver_accepts(options.solver, CAIRN_LAW_CONVEX, &random.p))
            continue;
        CHECK_OK(cairn_workspace_create(&workspace));
        CHECK_INT(cairn_solve(&random.p, &options, workspace, r, v, u, &report), CAIRN_NOT_FINITE);
        cairn_workspace_destroy(workspace);
    }
}

TEST(a_velocity_whose_square_overflows_has_no_answer)
{
    random_problem random;
    make_random_problem(&random, 3, 4, 4, 1);
    random.v_free[5] = -1e155;
    for (int i = 0; cairn_solver_name(i); i++)
        if (cairn_solver_accepts(cairn_solver_name(i), CAIRN_LAW_CONVEX, &random.p))
            CHECK_INT(
                solve_within(&random.p, cairn_solver_name(i), CAIRN_LAW_CONVEX, 1e-3, 1000).status,
                CAIRN_NOT_FINITE);
}

/* ---- many balls ----------------------------------------------------------------------------- */

typedef struct large_answer {
    double *r, *v, *u;
    cairn_solve_report report;
} large_answer;

static large_answer solve_lattice(const lattice_problem *l, const char *solver, int threads,
                                  cairn_arena *arena)
{
    large_answer a = { .r = cairn_arena_doubles(arena, 3 * (size_t)l->p.contacts),
                       .v = cairn_arena_doubles(arena, 6 * (size_t)l->p.blocks),
                       .u = cairn_arena_doubles(arena, 3 * (size_t)l->p.contacts) };
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.tolerance = 1e-4; /* float first, then double */
    cairn_parallel_threads(threads);
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&l->p, &options, workspace, a.r, a.v, a.u, &a.report));
    cairn_parallel_threads(1);
    cairn_workspace_destroy(workspace);
    return a;
}

/* 9,900 contacts: batches in slabs, the judge in parts. What is reported is what the judge says of
 * the impulses returned, to the last bit. */
TEST(many_balls_are_solved_with_the_same_bits_on_threads_and_honestly)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_judgement said;
    CHECK(make_lattice_problem(15, 0.3, &arena, &l));
    l.p = lattice_of_balls(&l);
    size_t r_bytes = 3 * (size_t)l.p.contacts * sizeof(double);
    size_t v_bytes = 6 * (size_t)l.p.blocks * sizeof(double);
    large_answer one = solve_lattice(&l, "ngs", 1, &arena);
    large_answer other = solve_lattice(&l, "ngs", 3, &arena);
    CHECK(one.report.converged);
    CHECK(memcmp(one.r, other.r, r_bytes) == 0);
    CHECK(memcmp(one.v, other.v, v_bytes) == 0);
    cairn_judge(&l.p, CAIRN_LAW_CONVEX, one.r, other.v, other.u, &said);
    CHECK(said.asked.relative == one.report.judgement.asked.relative);
    CHECK(said.coulomb.relative == one.report.judgement.coulomb.relative);
    CHECK(memcmp(one.v, other.v, v_bytes) == 0);
    CHECK(memcmp(one.u, other.u, r_bytes) == 0);
    cairn_arena_destroy(&arena);
}

/* 27 balls: the velocity of the convex law is unique, so every solver finds the same one from rows,
 * from normals alone, and from some of both. */
TEST(every_solver_solves_contacts_of_balls_like_their_rows)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(3, 0.3, &arena, &l));
    cairn_problem both = lattice_of_both(&l), balls = lattice_of_balls(&l);
    const cairn_problem *forms[3] = { &l.p, &balls, &both };
    for (int i = 0; cairn_solver_name(i); i++) {
        double *v[3] = { NULL };
        if (!cairn_solver_accepts(cairn_solver_name(i), CAIRN_LAW_CONVEX, &l.p))
            continue;
        for (int k = 0; k < 3; k++) {
            lattice_problem posed = l;
            posed.p = *forms[k];
            large_answer a = solve_lattice(&posed, cairn_solver_name(i), 1, &arena);
            CHECK(a.report.converged);
            v[k] = a.v;
        }
        for (int c = 0; c < 6 * l.p.blocks; c++)
            CHECK(fabs(v[1][c] - v[0][c]) < 1e-4 && fabs(v[2][c] - v[0][c]) < 1e-4);
    }
    cairn_arena_destroy(&arena);
}

/* An allocator that notes how many threads loops may use whenever memory is asked for. */
static void *note_width(void *context, void *block, size_t bytes)
{
    int *last = context;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    *last = cairn_parallel_width();
    return realloc(block, bytes);
}

/* their work is a factor on one thread: a team of two only spins between its short loops, and took
 * twice to five times the time where cores were busy */
TEST(methods_with_factors_run_on_one_thread_and_leave_the_number_as_it_was)
{
    static const char *const names[] = { "admm", "newton", "ipm", "ngs" };
    random_problem random;
    make_random_problem(&random, 3, 60, 50, 3);
    cairn_parallel_threads(2);
    for (int i = 0; i < 4; i++) {
        int last = 0;
        cairn_allocator noting = { note_width, &last };
        cairn_allocator_set(&noting);
        answer a = solve(&random.p, names[i], CAIRN_LAW_CONVEX, 1e-6);
        cairn_allocator_set(NULL);
        CHECK_OK(a.status);
        CHECK_INT(last, strcmp(names[i], "ngs") == 0 ? 2 : 1);
        CHECK_INT(cairn_parallel_width(), 2);
    }
    cairn_parallel_threads(1);
}

GROUP(test_solve)
{
    RUN(CASE(every_solver_meets_the_convex_law_and_finds_the_same_velocity),
        CASE(gauss_seidel_meets_the_coulomb_law), CASE(fixed_point_meets_the_coulomb_law),
        CASE(warm_start_from_the_answer_needs_no_iteration),
        CASE(too_few_iterations_are_reported_not_hidden), CASE(an_empty_problem_is_solved),
        CASE(duplicate_contacts_share_the_load), CASE(the_coulomb_law_ignores_a_given_s),
        CASE(unknown_solver_and_untreated_law_are_refused),
        CASE(not_a_number_is_an_error_not_an_answer),
        CASE(an_impulse_whose_square_overflows_is_no_start),
        CASE(a_velocity_whose_square_overflows_has_no_answer),
        CASE(many_balls_are_solved_with_the_same_bits_on_threads_and_honestly),
        CASE(every_solver_solves_contacts_of_balls_like_their_rows),
        CASE(methods_with_factors_run_on_one_thread_and_leave_the_number_as_it_was));
}

/* ==== test_rolling_problems: rolling and spinning friction, problems x solvers ================ */

enum { CONTACTS = 12, SIZE = 6 * CONTACTS };

typedef struct rolling_answer {
    cairn_solve_report report;
    double r[SIZE], v[SIZE], u[SIZE];
} rolling_answer;

static void solve_rolling(const cairn_problem *p, const char *solver, cairn_law law,
                          double tolerance, rolling_answer *a)
{
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.law = law;
    options.tolerance = tolerance;
    memset(a, 0, sizeof *a);
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(p, &options, workspace, a->r, a->v, a->u, &a->report));
    cairn_workspace_destroy(workspace);
    if (!a->report.converged)
        fail_msg("%s stops at %g: %s", solver, a->report.judgement.asked.relative,
                 a->report.remark);
    CHECK_NEAR(a->report.judgement.cone_violation, 0, 1e-12);
}

/* Every solver that accepts the problem; the convex velocity is the same for all. */
static void check_all(const cairn_problem *p, cairn_law law, double tolerance)
{
    static rolling_answer first, a;
    CHECK_OK(cairn_problem_check(p, NULL));
    solve_rolling(p, "newton", law, 1e-11, &first);
    for (int i = 0; cairn_solver_name(i); i++) {
        if (!cairn_solver_accepts(cairn_solver_name(i), law, p))
            continue;
        solve_rolling(p, cairn_solver_name(i), law, tolerance, &a);
        for (int k = 0; law == CAIRN_LAW_CONVEX && k < p->contacts * p->dimension; k++)
            CHECK_NEAR(a.u[k], first.u[k], 1e3 * tolerance);
    }
}

/* ---- random problems ------------------------------------------------------------------------ */

static double W[SIZE * SIZE], q[SIZE], mu[CONTACTS], mu_rolling[CONTACTS], mu_spinning[CONTACTS];
static int64_t start[SIZE + 1];
static int32_t column[SIZE * SIZE];

/* W = I + A A'/(3 n), full. */
static cairn_problem random_local(const int *shape, cairn_matrix *matrix, uint64_t seed)
{
    static double A[SIZE * SIZE];
    int d = 1 + shape[0] + shape[1] + shape[2], n = d * CONTACTS;
    uint64_t state = seed;
    for (int i = 0; i < n * n; i++)
        A[i] = cairn_random_normal(&state);
    for (int i = 0; i < n; i++) {
        start[i + 1] = (int64_t)(i + 1) * n;
        q[i] = cairn_random_normal(&state) - (i % d == 0);
        for (int l = 0; l < n; l++) {
            double sum = i == l;
            for (int k = 0; k < n; k++)
                sum += A[i * n + k] * A[l * n + k] / (3 * n);
            W[i * n + l] = sum;
            column[i * n + l] = l;
        }
    }
    for (int j = 0; j < CONTACTS; j++) {
        mu[j] = cairn_random_between(&state, 0.1, 0.5);
        mu_rolling[j] = cairn_random_between(&state, 0, 0.3);
        mu_spinning[j] = cairn_random_between(&state, 0, 0.3);
    }
    *matrix = (cairn_matrix){ n, n, start, column, W };
    return (cairn_problem){ .dimension = d,
                            .rolling = shape[1],
                            .spinning = shape[2],
                            .contacts = CONTACTS,
                            .W = matrix,
                            .q = q,
                            .mu = mu,
                            .mu_rolling = mu_rolling,
                            .mu_spinning = mu_spinning };
}

TEST(random_problems_of_every_shape)
{
    static const int shapes[4][3] = { { 1, 1, 0 }, { 2, 2, 0 }, { 2, 0, 1 }, { 2, 2, 1 } };
    for (int k = 0; k < 4; k++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            cairn_matrix matrix;
            cairn_problem p = random_local(shapes[k], &matrix, 40 + (uint64_t)k);
            check_all(&p, (cairn_law)law, 1e-9);
        }
}

/* ---- exact answers, block form -------------------------------------------------------------- */

/* A cylinder of mass 2, radius 1/2, J = 1/4 rolls on a plane with speed v; 0.1 m/s downwards in
 * the step. Components N, T = v_x + omega/2, R = omega. */
static cairn_problem rolling_cylinder(const double *v_free, const double *friction)
{
    static const double mass_inverse[3] = { 0.5, 0.5, 4 };
    static const double H[18] = { 0, 1, 0, 1, 0, 0.5, 0, 0, 1 };
    static const int32_t block[2] = { 0, -1 };
    return (cairn_problem){ .dimension = 3,
                            .rolling = 1,
                            .block_size = 3,
                            .blocks = 1,
                            .contacts = 1,
                            .mass_inverse = mass_inverse,
                            .v_free = v_free,
                            .block = block,
                            .H = H,
                            .mu = friction,
                            .mu_rolling = friction + 1 };
}

/* r_N = 0.2, r_R = 0.01 * 0.2 = 0.002 against omega = -2 v; no slip: r_T/2 + (r_T/2 + r_R) 2 = 0,
 * so r_T = -4/3 r_R, and v falls by r_T/2. At v = 1/1000 it stands still. */
TEST(a_rolling_cylinder_slows_down_and_stops)
{
    const double friction[2] = { 0.5, 0.01 };
    const double fast[3] = { 1, -0.1, -2 }, slow[3] = { 1e-3, -0.1, -2e-3 };
    const char *const solvers[] = { "newton", "pgs", "ngs", "admm", "auto" };
    static rolling_answer a;
    for (int i = 0; i < 5; i++) {
        cairn_problem p = rolling_cylinder(fast, friction);
        solve_rolling(&p, solvers[i], CAIRN_LAW_COULOMB, 1e-11, &a);
        CHECK_NEAR(a.r[0], 0.2, 1e-10);
        CHECK_NEAR(a.r[2], 0.002, 1e-10);
        CHECK_NEAR(a.v[0], 1 - 2.0 / 3 * 0.002, 1e-10);
        CHECK_NEAR(a.v[1], 0, 1e-10);
        p = rolling_cylinder(slow, friction);
        solve_rolling(&p, solvers[i], CAIRN_LAW_COULOMB, 1e-11, &a);
        CHECK_NEAR(a.v[0], 0, 1e-10);
        CHECK_NEAR(a.v[2], 0, 1e-10);
    }
}

/* The convex law lifts it: u_N = mu_R |omega| there, and mu |u_T| = 0. */
TEST(the_convex_law_opens_by_the_rolling_speed)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    static rolling_answer a;
    cairn_problem p = rolling_cylinder(fast, friction);
    solve_rolling(&p, "apgd-d", CAIRN_LAW_CONVEX, 1e-10, &a);
    CHECK_NEAR(a.u[0], 0.01 * fabs(a.u[2]), 1e-9);
    CHECK_NEAR(a.u[1], 0, 1e-9);
    CHECK(a.u[0] > 0.01);
}

/* A ball (m = 1, J = 0.4) that spins with 5 rad/s about the normal: J domega = mu_S r_N. */
TEST(a_spinning_ball_slows_down)
{
    const double mass_inverse[6] = { 1, 1, 1, 2.5, 2.5, 2.5 }, v_free[6] = { 0, 0, -0.1, 0, 0, 5 };
    const double friction[2] = { 0.5, 0.02 };
    const int32_t block[2] = { 0, -1 };
    double H[48] = { 0 };
    static rolling_answer a;
    H[0 + 2] = 1;              /* N = v_z            */
    H[6 + 0] = H[12 + 1] = 1;  /* T1 = v_x - omega_y */
    H[6 + 4] = -1;             /* T2 = v_y + omega_x */
    H[12 + 3] = H[18 + 5] = 1; /* S = omega_z        */
    const cairn_problem p = { .dimension = 4,
                              .spinning = 1,
                              .block_size = 6,
                              .blocks = 1,
                              .contacts = 1,
                              .mass_inverse = mass_inverse,
                              .v_free = v_free,
                              .block = block,
                              .H = H,
                              .mu = friction,
                              .mu_spinning = friction + 1 };
    solve_rolling(&p, "pgs", CAIRN_LAW_COULOMB, 1e-11, &a);
    CHECK_NEAR(a.r[3], -0.02 * 0.1, 1e-12);
    CHECK_NEAR(a.v[5], 5 - 2.5 * 0.002, 1e-12);
    CHECK_NEAR(a.v[0], 0, 1e-12);
}

/* ---- the judge and the gap ------------------------------------------------------------------ */

/* Rolling in other units: the row of omega times c, its impulse and mu_R divided by c. */
TEST(the_residual_does_not_know_the_unit_of_rolling)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    cairn_problem p = rolling_cylinder(fast, friction);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        double expected = 0;
        for (int k = 0; k < 3; k++) {
            double c = pow(1000, k - 1), H[18], other[2] = { 0.5, 0.01 / c }, v[3], u[3];
            double r[3] = { 0.1, -0.02, 0.001 / c };
            cairn_judgement found;
            memcpy(H, p.H, sizeof H);
            H[8] *= c;
            cairn_problem same = rolling_cylinder(fast, other);
            same.H = H;
            cairn_judge(&same, (cairn_law)law, r, v, u, &found);
            if (k == 0)
                expected = found.asked.relative;
            CHECK(found.asked.relative > 0.01);
            CHECK_CLOSE(found.asked.relative, expected, 1e-12);
        }
    }
}

TEST(the_convex_answer_has_no_duality_gap)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    static rolling_answer a;
    cairn_duality found;
    cairn_problem p = rolling_cylinder(fast, friction);
    solve_rolling(&p, "newton", CAIRN_LAW_CONVEX, 1e-12, &a);
    CHECK_OK(cairn_problem_duality(&p, a.r, &found));
    CHECK(found.feasible);
    CHECK_NEAR(found.gap, 0, 1e-12);
    a.r[0] *= 0.9;
    CHECK_OK(cairn_problem_duality(&p, a.r, &found));
    CHECK(found.gap > 1e-6);
}

/* ---- refusals ------------------------------------------------------------------------------- */

TEST(what_does_not_treat_rolling_friction_refuses)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    cairn_problem p = rolling_cylinder(fast, friction);
    double s[1] = { 0 }, r[3] = { 0 }, v[3], u[3];
    const cairn_sliding_loop loop = { 0, 10, s, r, v, u };
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    cairn_workspace *workspace;
    CHECK(cairn_solver_treats_rolling("pgs") && !cairn_solver_treats_rolling("ipm"));
    for (int i = 0; cairn_solver_name(i); i++)
        CHECK(cairn_solver_accepts(cairn_solver_name(i), CAIRN_LAW_CONVEX, &p) ==
              cairn_solver_treats_rolling(cairn_solver_name(i)));
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_INT(cairn_solve_fixed_point(&p, &options, &loop, workspace, &report), CAIRN_UNSUPPORTED);
    CHECK_INT(cairn_solve_coulomb_newton(&p, &options, &loop, workspace, &report),
              CAIRN_UNSUPPORTED);
    cairn_workspace_destroy(workspace);
}

/* Fails the n-th allocation for every n. */
TEST(memory_runs_out_cleanly)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    cairn_problem p = rolling_cylinder(fast, friction);
    bool done = false;
    for (long n = 1; !done; n++) {
        double r[3] = { 0 }, v[3], u[3];
        cairn_workspace *workspace;
        cairn_solve_report report;
        cairn_solve_options options = cairn_solve_options_default();
        meter m = { .fail_at = n };
        meter_install(&m);
        cairn_status status = cairn_workspace_create(&workspace);
        if (status == CAIRN_OK)
            status = cairn_solve(&p, &options, workspace, r, v, u, &report);
        cairn_workspace_destroy(workspace);
        cairn_allocator_set(NULL);
        done = m.calls < n;
        CHECK_INT(status, done ? CAIRN_OK : CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
}

GROUP(test_rolling_problems)
{
    RUN(CASE(random_problems_of_every_shape), CASE(a_rolling_cylinder_slows_down_and_stops),
        CASE(the_convex_law_opens_by_the_rolling_speed), CASE(a_spinning_ball_slows_down),
        CASE(the_residual_does_not_know_the_unit_of_rolling),
        CASE(the_convex_answer_has_no_duality_gap),
        CASE(what_does_not_treat_rolling_friction_refuses), CASE(memory_runs_out_cleanly));
}
