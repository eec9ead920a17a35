/* test_solve.c - problems x solvers: every solver on every problem of a law it claims to treat. */
#include <stdlib.h>

#include "base/parallel.h"
#include "cairn/cairn.h"
#include "check.h"
#include "lattice_problem.h"
#include "random_problem.h"

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double r[MOST_CONTACTS * 3], v[MOST_BLOCKS * 6], u[MOST_CONTACTS * 3];
} answer;

static answer solve(const cairn_problem *p, const char *solver, cairn_law law, double tolerance)
{
    answer a = { 0 };
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.law = law;
    options.tolerance = tolerance;
    options.max_iterations = 200000;
    CHECK_OK(cairn_workspace_create(&workspace));
    a.status = cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report);
    cairn_workspace_destroy(workspace);
    return a;
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
    for (uint64_t seed = 1; seed <= 12; seed++) {
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
    for (uint64_t seed = 1; seed <= 12; seed++) {
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
    for (uint64_t seed = 1; seed <= 12; seed++) {
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
            CHECK_INT(solve(&random.p, cairn_solver_name(i), CAIRN_LAW_CONVEX, 1e-3).status,
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

int main(void)
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
