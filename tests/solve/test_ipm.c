/* test_ipm.c - the interior point method: iterations on hard problems, known answers, agreement
 * with Gauss-Seidel, both forms, cones with edges, and what it says where it cannot succeed. */
#include "cairn/fclib.h"
#include "cairn/solve.h"
#include "check.h"
#include "failing_allocator.h"
#include "fclib_files.h"
#include "hard_problems.h"
#include "problem/delassus.h"
#include "random_problem.h"

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double *r, *v, *u;
} answer;

static answer solve(const cairn_problem *p, const char *solver, double tolerance)
{
    size_t n = (size_t)p->dimension * (size_t)p->contacts;
    size_t m = (size_t)p->block_size * (size_t)p->blocks;
    answer a = { .r = calloc(n + 1, sizeof(double)),
                 .v = calloc(m + 1, sizeof(double)),
                 .u = calloc(n + 1, sizeof(double)) };
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.tolerance = tolerance;
    options.max_iterations = 1000000;
    CHECK_OK(cairn_workspace_create(&workspace));
    a.status = cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report);
    cairn_workspace_destroy(workspace);
    return a;
}

static void release(answer *a)
{
    free(a->r);
    free(a->v);
    free(a->u);
}

static double largest_difference(size_t n, const double *a, const double *b)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

static double kinetic_energy(const cairn_problem *p, const double *v)
{
    double sum = 0;
    for (int i = 0; i < p->blocks * p->block_size; i++)
        sum += 0.5 * v[i] * v[i] / p->mass_inverse[i];
    return sum;
}

/* Solve to 1e-8 in at most so many iterations; all stays at rest. */
static void check_hard(hard_problem h, int most_iterations)
{
    answer a = solve(&h.p, "ipm", 1e-8);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    CHECK(a.report.judgement.asked.relative <= 1e-8);
    CHECK(a.report.iterations <= most_iterations);
    CHECK_NEAR(kinetic_energy(&h.p, a.v), 0, 1e-12);
    release(&a);
    hard_problem_free(&h);
}

TEST(stacks_and_walls_take_at_most_12_iterations_at_any_mass_ratio)
{
    check_hard(make_column(50, 1, 0.3), 12);
    check_hard(make_column(10, 1000, 0.3), 12);
    check_hard(make_column(10, 1e6, 0.3), 12);
    check_hard(make_column(10, 1e-6, 0.3), 12);
    check_hard(make_wall(5, 1, 0.3), 12);
    check_hard(make_wall(20, 1, 0.3), 12);
    check_hard(make_wall(20, 1000, 0.3), 12);
}

/* a frictionless column stands as well, and friction of 10 changes nothing */
TEST(friction_from_none_to_huge_on_a_column)
{
    check_hard(make_column(10, 1, 0), 12);
    check_hard(make_column(10, 1, 1e-9), 12);
    check_hard(make_column(10, 1, 10), 12);
}

TEST(duplicated_contacts_change_nothing)
{
    hard_problem once = make_wall(4, 1, 0.3);
    hard_problem twice = make_duplicated(&once.p);
    check_hard(twice, 12);
    hard_problem_free(&once);
}

TEST(settled_heaps_take_at_most_35_iterations)
{
    static const double friction[] = { 0, 0.1, 0.3 };
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int i = 0; i < 3; i++) {
            cairn_world *world;
            cairn_problem p =
                settled_heap(dimension, friction[i], dimension == 3 ? 8 : 20, 300, &world);
            CHECK(p.contacts > 80);
            answer a = solve(&p, "ipm", 1e-8);
            CHECK(a.report.converged);
            CHECK(a.report.iterations <= 35);
            release(&a);
            cairn_world_destroy(world);
        }
}

/* kinetic energies after the first step of a triangular pile, known to 9 digits */
TEST(triangular_piles_move_as_known)
{
    static const struct {
        int rows;
        double mu, energy;
    } known[] = {
        { 2, 0, 0.017185018 },   { 3, 0, 0.053464500 },   { 4, 0, 0.109359205 },
        { 6, 0, 0.280688625 },   { 2, 0.2, 0.000686857 }, { 3, 0.2, 0.009040422 },
        { 4, 0.2, 0.020428384 }, { 6, 0.2, 0.062510804 }, { 2, 0.8, 0 },
        { 4, 0.8, 0 },           { 6, 0.8, 0 },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        hard_problem h = make_pile(known[i].rows, known[i].mu);
        answer a = solve(&h.p, "ipm", 1e-9);
        CHECK(a.report.converged);
        CHECK_NEAR(kinetic_energy(&h.p, a.v), known[i].energy, 1e-9);
        release(&a);
        hard_problem_free(&h);
    }
}

TEST(agrees_with_gauss_seidel_to_1e_10)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        random_problem random;
        make_random_problem(&random, seed % 2 ? 2 : 3, 40, 30, seed);
        answer by_sweeps = solve(&random.p, "pgs", 1e-10), a = solve(&random.p, "ipm", 1e-10);
        size_t n = (size_t)random.p.blocks * (size_t)random.p.block_size;
        CHECK(by_sweeps.report.converged && a.report.converged);
        CHECK(a.report.iterations <= 15);
        CHECK_NEAR(largest_difference(n, a.v, by_sweeps.v), 0, 1e-8);
        release(&by_sweeps);
        release(&a);
    }
}

TEST(cones_with_edges_agree_with_projected_gradients)
{
    for (int directions = 4; directions <= 12; directions += 4) {
        random_problem random;
        make_random_problem(&random, 3, 30, 20, (uint64_t)directions);
        random.p.directions = directions;
        random.mu[0] = 0; /* one contact without friction among them */
        answer by_steps = solve(&random.p, "apgd-asr", 1e-10), a = solve(&random.p, "ipm", 1e-10);
        size_t n = (size_t)random.p.blocks * (size_t)random.p.block_size;
        CHECK(by_steps.report.converged && a.report.converged);
        CHECK(a.report.iterations <= 15);
        CHECK_NEAR(largest_difference(n, a.v, by_steps.v), 0, 1e-8);
        release(&by_steps);
        release(&a);
    }
}

/* The local form of a problem: same u, in about as many iterations. */
static void check_local(const cairn_problem *p)
{
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    CHECK_OK(cairn_delassus_localise(p, &arena, &W, &local));
    answer a = solve(p, "ipm", 1e-9), b = solve(&local, "ipm", 1e-9);
    CHECK(a.report.converged && b.report.converged);
    CHECK(b.report.iterations <= a.report.iterations + 5);
    CHECK_NEAR(largest_difference((size_t)p->dimension * (size_t)p->contacts, a.u, b.u), 0, 1e-7);
    release(&a);
    release(&b);
    cairn_arena_destroy(&arena);
}

TEST(both_forms_find_the_same_with_full_and_with_singular_W)
{
    random_problem random;
    hard_problem wall = make_wall(4, 1, 0.3);
    make_random_problem(&random, 3, 30, 20, 4);
    check_local(&random.p);
    random.p.directions = 8;
    check_local(&random.p);
    make_random_problem(&random, 2, 30, 20, 5);
    check_local(&random.p);
    check_local(&wall.p); /* 100 contacts, 96 degrees of freedom: W has at most rank 96 of 300 */
    hard_problem_free(&wall);
}

/* W a little unsymmetric, as other codes store it: the judge takes W as it is */
TEST(a_slightly_unsymmetric_W_is_solved)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    uint64_t state = 9;
    make_random_problem(&random, 3, 30, 20, 6);
    CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
    double *value = calloc((size_t)W.start[W.rows], sizeof(double));
    for (int64_t k = 0; k < W.start[W.rows]; k++)
        value[k] = W.value[k] * (1 + 1e-6 * cairn_random_normal(&state));
    W.value = value;
    answer a = solve(&local, "ipm", 1e-9);
    CHECK(a.report.converged);
    release(&a);
    free(value);
    cairn_arena_destroy(&arena);
}

/* the feasible set is {0}: no velocity opens both contacts, and still v = 0 is found */
TEST(a_bead_wedged_in_a_corner_is_found_without_interior)
{
    hard_problem bead = make_bead(M_PI / 6, 1);
    const double s[2] = { 0, 0 }, take_off[2] = { 1, 1 };
    bead.p.s = s;
    answer wedged = solve(&bead.p, "ipm", 1e-8);
    CHECK(wedged.report.converged);
    CHECK_NEAR(wedged.v[0], 0, 1e-7);
    CHECK_NEAR(wedged.v[1], 0, 1e-7);
    bead.p.s = take_off;
    answer away = solve(&bead.p, "ipm", 1e-8);
    CHECK(away.report.converged);
    CHECK_NEAR(away.v[1], 1.1547005384, 1e-9);
    release(&wedged);
    release(&away);
    hard_problem_free(&bead);
}

TEST(an_infeasible_problem_ends_and_is_called_so)
{
    hard_problem vice = make_vice(0.3);
    answer a = solve(&vice.p, "ipm", 1e-8);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK(a.report.iterations < 100);
    CHECK_CONTAINS(a.report.remark, "feasible");
    CHECK(a.report.judgement.asked.relative <= 1); /* no worse than doing nothing */
    release(&a);
    hard_problem_free(&vice);
}

/* one contact of three cannot move and is violated: the others are solved all the same */
TEST(a_contact_between_nothing_does_not_spoil_the_rest)
{
    random_problem random;
    make_random_problem(&random, 3, 3, 3, 2);
    random.block[2] = random.block[3] = -1;
    for (int i = 0; i < 3; i++)
        random.w[3 + i] = 0;
    random.b[1] = 0.1;
    answer a = solve(&random.p, "ipm", 1e-9);
    CHECK(a.report.converged); /* satisfied: u_N = 0.1 */
    random.b[1] = -0.1;
    answer b = solve(&random.p, "ipm", 1e-9);
    CHECK(!b.report.converged);
    CHECK_INT(b.report.judgement.asked.worst_contact, 1);
    CHECK_NEAR(b.report.judgement.asked.worst, 0.1, 1e-9);
    CHECK_NEAR(largest_difference(18, a.v, b.v), 0, 1e-7);
    release(&a);
    release(&b);
}

TEST(a_body_without_answer_to_impulses_stays)
{
    random_problem random;
    make_random_problem(&random, 3, 12, 8, 3);
    for (int i = 0; i < 6; i++)
        random.mass_inverse[6 + i] = 0;
    random.mass_inverse[13] = 0;
    answer a = solve(&random.p, "ipm", 1e-9), b = solve(&random.p, "pgs", 1e-12);
    CHECK(a.report.converged && b.report.converged);
    CHECK_NEAR(largest_difference(6, a.v + 6, random.v_free + 6), 0, 0);
    CHECK_NEAR(largest_difference(72, a.v, b.v), 0, 1e-7);
    release(&a);
    release(&b);
}

TEST(a_contact_of_a_body_with_itself_is_solved)
{
    random_problem random;
    make_random_problem(&random, 3, 6, 4, 8);
    random.block[2] = random.block[3] = 1;
    answer a = solve(&random.p, "ipm", 1e-9), b = solve(&random.p, "pgs", 1e-11);
    CHECK(a.report.converged && b.report.converged);
    CHECK_NEAR(largest_difference(36, a.v, b.v), 0, 1e-7);
    release(&a);
    release(&b);
}

TEST(the_time_limit_is_respected)
{
    hard_problem h = make_wall(20, 1, 0.3);
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    double *r = calloc(9132, sizeof(double)), *v = calloc(2400, sizeof(double));
    double *u = calloc(9132, sizeof(double));
    options.solver = "ipm";
    options.tolerance = 1e-8;
    options.time_limit = 1e-9;
    CHECK_INT(h.p.contacts, 3044);
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&h.p, &options, workspace, r, v, u, &report));
    CHECK(!report.converged);
    CHECK(report.iterations <= 1);
    cairn_workspace_destroy(workspace);
    free(r);
    free(v);
    free(u);
    hard_problem_free(&h);
}

TEST(no_memory_is_an_error_and_nothing_leaks)
{
    random_problem random;
    cairn_status status = CAIRN_NO_MEMORY;
    make_random_problem(&random, 3, 60, 60, 4);
    for (long n = 1; status == CAIRN_NO_MEMORY; n++) {
        meter m = { .fail_at = n };
        double r[180] = { 0 }, v[360], u[180];
        cairn_workspace *workspace = NULL;
        cairn_solve_options options = cairn_solve_options_default();
        cairn_solve_report report;
        options.solver = "ipm";
        meter_install(&m);
        status = cairn_workspace_create(&workspace);
        if (status == CAIRN_OK)
            status = cairn_solve(&random.p, &options, workspace, r, v, u, &report);
        cairn_workspace_destroy(workspace);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK(n < 1000);
    }
    CHECK_OK(status);
}

/* real problems, with the convex law: W singular, unsymmetric, badly scaled */
TEST(every_problem_of_fclib_takes_at_most_35_iterations_to_1e_8)
{
    static const char *const folders[] = { "local2d", "local3d", "global2d", "global3d" };
    static file_list files;
    for (int i = 0; i < 4; i++)
        list_files(&files, folders[i]);
    if (files.count == 0) {
        print_message("skipped: %s is not there\n", FCLIB_FOLDER);
        skip();
    }
    for (int i = 0; i < files.count; i++) {
        cairn_fclib *file;
        CHECK_OK(cairn_fclib_load(files.path[i], &file, NULL));
        answer a = solve(&file->problem, "ipm", 1e-8);
        if (!a.report.converged || a.report.iterations > 35)
            fail_msg("%s: residual %.1e after %lld", files.path[i],
                     a.report.judgement.asked.relative, (long long)a.report.iterations);
        release(&a);
        cairn_fclib_destroy(file);
    }
}

int main(void)
{
    RUN(CASE(stacks_and_walls_take_at_most_12_iterations_at_any_mass_ratio),
        CASE(friction_from_none_to_huge_on_a_column), CASE(duplicated_contacts_change_nothing),
        CASE(settled_heaps_take_at_most_35_iterations), CASE(triangular_piles_move_as_known),
        CASE(agrees_with_gauss_seidel_to_1e_10),
        CASE(cones_with_edges_agree_with_projected_gradients),
        CASE(both_forms_find_the_same_with_full_and_with_singular_W),
        CASE(a_slightly_unsymmetric_W_is_solved),
        CASE(a_bead_wedged_in_a_corner_is_found_without_interior),
        CASE(an_infeasible_problem_ends_and_is_called_so),
        CASE(a_contact_between_nothing_does_not_spoil_the_rest),
        CASE(a_body_without_answer_to_impulses_stays),
        CASE(a_contact_of_a_body_with_itself_is_solved), CASE(the_time_limit_is_respected),
        CASE(no_memory_is_an_error_and_nothing_leaks),
        CASE(every_problem_of_fclib_takes_at_most_35_iterations_to_1e_8));
}
