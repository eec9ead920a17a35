/* test_pivoting.c - the methods that pivot: Lemke's, and active sets. */
#include "math/factor.h"
#include "problem/forms.h"
#include "solve/solver.h"
#include "solve/systems.h"
#include "studies/classic_problems.h"
#include "tests/check.h"
#include "tests/problems/random_problem.h"

/* ==== test_lemke: Lemke's algorithm on complementarity problems, and the solver on contact
 * problems */

/* ---- complementarity problems --------------------------------------------------------------- */

typedef struct outcome {
    cairn_lemke_end end;
    int64_t pivots;
    double z[64];
} outcome;

static outcome pivot(int size, double *A, double *a, const bool *is_free)
{
    outcome out = { 0 };
    cairn_arena arena = { 0 };
    cairn_solve_report report = { 0 };
    cairn_solve_options options = cairn_solve_options_default();
    cairn_task task = { .options = &options, .arena = &arena, .report = &report };
    cairn_lcp lcp = { size, A, a, is_free };
    CHECK_OK(cairn_lemke(&lcp, &task, out.z, &out.end));
    out.pivots = report.iterations;
    cairn_arena_destroy(&arena);
    return out;
}

TEST(two_unknowns_by_hand)
{
    /* 2x + y = 5, x + 2y = 6 has both positive: x = 4/3, y = 7/3 */
    double A[4] = { 2, 1, 1, 2 }, a[2] = { -5, -6 };
    outcome out = pivot(2, A, a, NULL);
    CHECK_INT(out.end, CAIRN_LEMKE_SOLVED);
    CHECK_NEAR(out.z[0], 4.0 / 3, 1e-15);
    CHECK_NEAR(out.z[1], 7.0 / 3, 1e-15);
}

TEST(no_pivot_where_zero_is_the_answer)
{
    double A[4] = { 2, 1, 1, 2 }, a[2] = { 5, 0 };
    outcome out = pivot(2, A, a, NULL);
    CHECK_INT(out.end, CAIRN_LEMKE_SOLVED);
    CHECK_INT(out.pivots, 0);
    CHECK_NEAR(out.z[0], 0, 0);
}

TEST(an_infeasible_problem_ends_on_a_ray)
{
    /* w = -z - 1 is never >= 0 */
    double A[1] = { -1 }, a[1] = { -1 };
    CHECK_INT(pivot(1, A, a, NULL).end, CAIRN_LEMKE_RAY);
    double zero[4] = { 0, 0, 0, 1 }, b[2] = { -1, -1 };
    CHECK_INT(pivot(2, zero, b, NULL).end, CAIRN_LEMKE_RAY);
}

/* a mass of 2 on a joint row x and a stop y: 2x + y + 1 = 0, 0 <= x + 3y - 2 ⟂ y >= 0:
 * x = -(1 + y)/2, so 2.5 y = 2.5: y = 1, x = -1 */
TEST(a_free_unknown_may_be_negative)
{
    double A[4] = { 2, 1, 1, 3 }, a[2] = { 1, -2 };
    const bool is_free[2] = { true, false };
    outcome out = pivot(2, A, a, is_free);
    CHECK_INT(out.end, CAIRN_LEMKE_SOLVED);
    CHECK_NEAR(out.z[0], -1, 1e-15);
    CHECK_NEAR(out.z[1], 1, 1e-15);
}

/* the same joint row twice: consistent, so any split is an answer; with another constant, none */
TEST(redundant_free_rows_are_found)
{
    double A[9] = { 2, 2, 1, 2, 2, 1, 1, 1, 3 }, a[3] = { 1, 1, -2 };
    const bool is_free[3] = { true, true, false };
    outcome out = pivot(3, A, a, is_free);
    CHECK_INT(out.end, CAIRN_LEMKE_SOLVED);
    CHECK_NEAR(out.z[0] + out.z[1], -1, 1e-15);
    CHECK_NEAR(out.z[2], 1, 1e-15);
    a[1] = 2;
    CHECK_INT(pivot(3, A, a, is_free).end, CAIRN_LEMKE_SINGULAR);
}

/* random mixed problems: a positive definite matrix has exactly one answer */
TEST(random_mixed_problems_are_solved_to_rounding)
{
    enum { N = 24 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double R[N * N], A[N * N] = { 0 }, a[N];
        bool is_free[N];
        uint64_t state = seed;
        for (int i = 0; i < N * N; i++)
            R[i] = cairn_random_normal(&state);
        for (int i = 0; i < N * N; i++)
            for (int k = 0; k < N; k++)
                A[i] += R[k * N + i / N] * R[k * N + i % N] / N;
        for (int i = 0; i < N; i++) {
            A[i * N + i] += 0.1;
            a[i] = cairn_random_normal(&state);
            is_free[i] = i % 3 == 0;
        }
        outcome out = pivot(N, A, a, is_free);
        CHECK_INT(out.end, CAIRN_LEMKE_SOLVED);
        for (int i = 0; i < N; i++) {
            double w = a[i];
            for (int j = 0; j < N; j++)
                w += A[i * N + j] * out.z[j];
            CHECK_NEAR(is_free[i] ? w : fmin(w, out.z[i]), 0, 1e-12);
        }
    }
}

/* ---- contact problems ----------------------------------------------------------------------- */

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double r[3 * PILE_CONTACTS], v[6 * PILE_BODIES], u[3 * PILE_CONTACTS];
} answer;

static void solve(const cairn_problem *p, const char *solver, cairn_law law, answer *a)
{
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    memset(a, 0, sizeof *a);
    options.solver = solver;
    options.law = law;
    options.tolerance = 1e-10;
    options.max_iterations = 200000;
    CHECK_OK(cairn_workspace_create(&workspace));
    a->status = cairn_solve(p, &options, workspace, a->r, a->v, a->u, &a->report);
    cairn_workspace_destroy(workspace);
}

TEST(slides_piles_have_the_expected_contacts)
{
    static const int rows[] = { 4, 6, 8, 10, 20 }, contacts[] = { 22, 51, 92, 145, 590 };
    static pile p;
    for (int i = 0; i < 5; i++) {
        make_pile(&p, rows[i], 0.2);
        CHECK_INT(p.p.contacts, contacts[i]);
        CHECK_INT(p.p.blocks, rows[i] * (rows[i] + 1) / 2);
        CHECK_OK(cairn_problem_check(&p.p, NULL));
    }
}

/* the velocity of a pile under Coulomb's law is not unique: only the residual is asked */
TEST(piles_are_solved_under_coulombs_law)
{
    static const double mu[] = { 0, 0.2, 0.8 };
    static pile p;
    static answer a;
    for (int rows = 2; rows <= 8; rows++)
        for (int i = 0; i < 3; i++) {
            make_pile(&p, rows, mu[i]);
            solve(&p.p, "lemke", CAIRN_LAW_COULOMB, &a);
            CHECK_OK(a.status);
            CHECK(a.report.converged);
            CHECK(a.report.judgement.coulomb.relative <= 1e-12);
        }
}

TEST(piles_are_solved_under_the_convex_law)
{
    static pile p;
    static answer a;
    for (int rows = 2; rows <= 6; rows++) {
        make_pile(&p, rows, 0.8);
        solve(&p.p, "lemke", CAIRN_LAW_CONVEX, &a);
        CHECK(a.report.converged);
        for (int i = 0; i < 3 * p.p.blocks; i++)
            CHECK_NEAR(a.v[i], 0, 1e-12);
    }
}

TEST(six_leg_table_stands)
{
    table legs;
    static answer a;
    for (int directions = 4; directions <= 8; directions += 2) {
        make_table(&legs, directions);
        solve(&legs.p, "lemke", CAIRN_LAW_COULOMB, &a);
        CHECK(a.report.converged);
        double load = 0;
        for (int j = 0; j < 6; j++)
            load += a.r[3 * j];
        CHECK_NEAR(load, 0.05 * 9.81, 1e-13);
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(a.v[i], 0, 1e-14);
    }
}

/* where the answer is unique, it is that of other methods */
TEST(random_problems_agree_with_gauss_seidel_in_2d)
{
    static answer a, b;
    for (uint64_t seed = 1; seed <= 10; seed++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            random_problem random;
            make_random_problem(&random, 2, 30, 25, seed);
            solve(&random.p, "lemke", (cairn_law)law, &a);
            solve(&random.p, "pgs", (cairn_law)law, &b);
            CHECK(a.report.converged && b.report.converged);
            CHECK(a.report.iterations > 0 && a.report.judgement.asked.relative <= 1e-13);
            for (int i = 0; i < 90; i++)
                CHECK_NEAR(a.v[i], b.v[i], 1e-8);
        }
}

TEST(random_problems_with_edges_are_solved_in_3d)
{
    static answer a;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            random_problem random;
            make_random_problem(&random, 3, 20, 12, seed);
            random.p.directions = 4 + 2 * (int)(seed % 3);
            solve(&random.p, "lemke", (cairn_law)law, &a);
            CHECK_OK(a.status);
            CHECK(a.report.converged);
            CHECK(a.report.judgement.asked.relative <= 1e-13);
            CHECK_NEAR(a.report.judgement.cone_violation, 0, 1e-13);
        }
}

/* b < 0 between walls: the convex law has no velocity, see test_active_set.c */
TEST(an_infeasible_contact_problem_is_reported)
{
    bead b;
    static answer a;
    const double bias[2] = { -0.1, -0.1 };
    make_bead(&b, M_PI / 6, 2);
    b.p.b = bias;
    solve(&b.p, "lemke", CAIRN_LAW_CONVEX, &a);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK_CONTAINS(a.report.remark, "ray");
}

TEST(degenerate_problems_end_well)
{
    static answer a;
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        random_problem random;
        make_random_problem(&random, 2, 8, 8, 3);
        random.mu[0] = 0;
        random.mu[1] = 10;
        for (int i = 0; i < 12; i++) /* contact 3 is contact 2 again */
            random.H[3 * 12 + i] = random.H[2 * 12 + i];
        random.block[6] = random.block[4];
        random.block[7] = random.block[5];
        random.b[3] = random.b[2];
        random.mu[3] = random.mu[2];
        random.w[6] = random.w[4];
        random.w[7] = random.w[5];
        random.block[8] = random.block[9] = -1; /* contact 4 is between nothing, and open */
        random.b[4] = 1;
        solve(&random.p, "lemke", (cairn_law)law, &a);
        CHECK_OK(a.status);
        CHECK(a.report.converged);
        random.b[4] = -1; /* and closing, which nothing can stop */
        solve(&random.p, "lemke", (cairn_law)law, &a);
        CHECK_OK(a.status);
        CHECK(!a.report.converged);
    }
}

TEST(bodies_that_do_not_move_are_no_obstacle)
{
    static answer a;
    random_problem random;
    make_random_problem(&random, 2, 6, 6, 9);
    for (int i = 0; i < 9; i++)
        random.mass_inverse[i] = 0;
    for (int j = 0; j < 3; j++)
        random.b[j] = 20; /* the contacts of the fixed bodies are open */
    solve(&random.p, "lemke", CAIRN_LAW_COULOMB, &a);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
}

TEST(not_a_number_and_nothing_to_do)
{
    static answer a;
    random_problem random;
    make_random_problem(&random, 2, 4, 4, 1);
    random.v_free[0] = NAN;
    solve(&random.p, "lemke", CAIRN_LAW_COULOMB, &a);
    CHECK_INT(a.status, CAIRN_NOT_FINITE);
    random.p.contacts = 0;
    random.v_free[0] = 1;
    solve(&random.p, "lemke", CAIRN_LAW_COULOMB, &a);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
}

TEST(what_does_not_fit_is_refused)
{
    random_problem random;
    make_random_problem(&random, 3, 4, 4, 1);
    CHECK(!cairn_solver_accepts("lemke", CAIRN_LAW_COULOMB, &random.p)); /* circular, 3D */
    random.p.directions = 8;
    CHECK(cairn_solver_accepts("lemke", CAIRN_LAW_COULOMB, &random.p));
    random.p.contacts = 350; /* 10 unknowns each */
    CHECK(cairn_solver_accepts("lemke", CAIRN_LAW_COULOMB, &random.p));
    random.p.contacts = 351;
    CHECK(!cairn_solver_accepts("lemke", CAIRN_LAW_COULOMB, &random.p));
    random.p.dimension = 2;
    random.p.directions = 0; /* 4 unknowns each */
    random.p.contacts = 875;
    CHECK(cairn_solver_accepts("lemke", CAIRN_LAW_COULOMB, &random.p));
}

TEST(too_few_pivots_are_reported)
{
    random_problem random;
    static answer a;
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    make_random_problem(&random, 2, 20, 15, 2);
    memset(&a, 0, sizeof a);
    options.solver = "lemke";
    options.tolerance = 1e-10;
    options.max_iterations = 3;
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&random.p, &options, workspace, a.r, a.v, a.u, &a.report));
    CHECK(!a.report.converged);
    CHECK_INT(a.report.iterations, 3);
    CHECK_CONTAINS(a.report.remark, "used up");
    cairn_workspace_destroy(workspace);
}

TEST(every_failing_allocation_ends_cleanly)
{
    random_problem random;
    static answer a;
    long calls = 1;
    make_random_problem(&random, 2, 20, 15, 2);
    for (long n = 1; n <= calls; n++) {
        meter m = { .fail_at = n };
        cairn_workspace *workspace = NULL;
        cairn_solve_options options = cairn_solve_options_default();
        options.solver = "lemke";
        options.law = CAIRN_LAW_COULOMB;
        options.tolerance = 1e-10;
        memset(&a, 0, sizeof a);
        meter_install(&m);
        cairn_status status = cairn_workspace_create(&workspace);
        if (status == CAIRN_OK)
            status = cairn_solve(&random.p, &options, workspace, a.r, a.v, a.u, &a.report);
        cairn_workspace_destroy(workspace);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        calls = m.calls >= n ? n + 1 : n - 1;
    }
    CHECK(calls >= 2);
}

GROUP(test_lemke)
{
    RUN(CASE(two_unknowns_by_hand), CASE(no_pivot_where_zero_is_the_answer),
        CASE(an_infeasible_problem_ends_on_a_ray), CASE(a_free_unknown_may_be_negative),
        CASE(redundant_free_rows_are_found), CASE(random_mixed_problems_are_solved_to_rounding),
        CASE(slides_piles_have_the_expected_contacts), CASE(piles_are_solved_under_coulombs_law),
        CASE(piles_are_solved_under_the_convex_law), CASE(six_leg_table_stands),
        CASE(random_problems_agree_with_gauss_seidel_in_2d),
        CASE(random_problems_with_edges_are_solved_in_3d),
        CASE(an_infeasible_contact_problem_is_reported), CASE(degenerate_problems_end_well),
        CASE(bodies_that_do_not_move_are_no_obstacle), CASE(not_a_number_and_nothing_to_do),
        CASE(what_does_not_fit_is_refused), CASE(too_few_pivots_are_reported),
        CASE(every_failing_allocation_ends_cleanly));
}

/* ==== test_active_set: the active-set solver: exact velocities, hot starts, elastic mode ====== */

/* from the impulses in a->r */
static void go_on(const cairn_problem *p, const char *solver, answer *a)
{
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.tolerance = 1e-10;
    options.max_iterations = 200000;
    CHECK_OK(cairn_workspace_create(&workspace));
    a->status = cairn_solve(p, &options, workspace, a->r, a->v, a->u, &a->report);
    cairn_workspace_destroy(workspace);
}

static void solve_active_set(const cairn_problem *p, const char *solver, answer *a)
{
    memset(a, 0, sizeof *a);
    go_on(p, solver, a);
}

/* ---- the factor ----------------------------------------------------------------------------- */

/* a positive definite 8 x 8 matrix */
static void make_gram(double *G)
{
    double R[64];
    uint64_t state = 12;
    for (int i = 0; i < 64; i++)
        R[i] = cairn_random_normal(&state);
    for (int i = 0; i < 64; i++) {
        G[i] = 0;
        for (int k = 0; k < 8; k++)
            G[i] += R[8 * (i / 8) + k] * R[8 * (i % 8) + k];
    }
}

TEST(the_factor_follows_members_that_come_and_go)
{
    double G[64], d[8], x[8], sub[64];
    int pivot[8];
    cairn_arena arena = { 0 };
    cairn_active a;
    make_gram(G);
    CHECK_OK(cairn_active_create(8, G, 8, &arena, &a));
    static const int in[] = { 5, 2, 7, 0, 3 };
    for (int i = 0; i < 5; i++)
        cairn_active_add(&a, in[i], cairn_active_probe(&a, in[i], d));
    cairn_active_drop(&a, 1); /* 2 leaves */
    cairn_active_drop(&a, 0); /* 5 leaves */
    cairn_active_add(&a, 6, cairn_active_probe(&a, 6, d));
    cairn_active_drop(&a, 3); /* 6, the last, leaves: 7, 0, 3 are left */
    CHECK_INT(a.count, 3);
    CHECK_INT(a.member[0], 7);
    CHECK_INT(a.member[2], 3);
    for (int i = 0; i < 3; i++) {
        x[i] = d[i] = i + 1;
        for (int j = 0; j < 3; j++)
            sub[3 * i + j] = G[8 * a.member[i] + a.member[j]];
    }
    CHECK(cairn_dense_factor(3, sub, pivot));
    cairn_dense_solve(3, sub, pivot, d);
    cairn_active_solve(&a, x);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(x[i], d[i], 1e-12 * (1 + fabs(d[i])));
    cairn_arena_destroy(&arena);
}

TEST(dependent_members_have_no_curvature)
{
    /* rows (1,0), (0,1), (1,1) of a plane */
    const double G[9] = { 1, 0, 1, 0, 1, 1, 1, 1, 2 };
    double d[3];
    cairn_arena arena = { 0 };
    cairn_active a;
    CHECK_OK(cairn_active_create(3, G, 3, &arena, &a));
    cairn_active_add(&a, 0, cairn_active_probe(&a, 0, d));
    CHECK_NEAR(cairn_active_probe(&a, 2, d), 1, 1e-15);
    cairn_active_add(&a, 1, cairn_active_probe(&a, 1, d));
    CHECK_NEAR(cairn_active_probe(&a, 2, d), 0, 0);
    CHECK_NEAR(d[0], -1, 1e-15);
    CHECK_NEAR(d[1], -1, 1e-15);
    cairn_arena_destroy(&arena);
}

/* ---- piles ---------------------------------------------------------------------------------- */

static double kinetic_energy(const pile *p, const double *v)
{
    double sum = 0;
    for (int i = 0; i < 3 * p->p.blocks; i++)
        sum += 0.5 * v[i] * v[i] / p->mass_inverse[i];
    return sum;
}

TEST(piles_fall_with_the_known_energies)
{
    static const int rows[] = { 2, 3, 4, 6 };
    static const double smooth[] = { 0.017185018, 0.053464500, 0.109359205, 0.280688625 };
    static const double rough[] = { 0.000686857, 0.009040422, 0.020428384, 0.062510804 };
    static pile p;
    static answer a;
    for (int i = 0; i < 4; i++) {
        make_pile(&p, rows[i], 0);
        solve_active_set(&p.p, "active-set", &a);
        CHECK(a.report.converged);
        CHECK_NEAR(kinetic_energy(&p, a.v), smooth[i], 1e-9);
        make_pile(&p, rows[i], 0.2);
        solve_active_set(&p.p, "active-set", &a);
        CHECK(a.report.converged);
        CHECK_NEAR(kinetic_energy(&p, a.v), rough[i], 1e-9);
    }
}

TEST(piles_with_enough_friction_stay)
{
    static pile p;
    static answer a;
    static const int sizes[] = { 2, 4, 6, 8, 10, 12, 16 };
    for (int i = 0; i < 7; i++) {
        int rows = sizes[i];
        double ground = 0;
        make_pile(&p, rows, 0.8);
        solve_active_set(&p.p, "active-set", &a);
        CHECK(a.report.converged);
        for (int k = 0; k < 3 * p.p.blocks; k++)
            CHECK_NEAR(a.v[k], 0, 1e-12);
        for (int j = 0; j < rows; j++) /* the floor's contacts come first */
            ground += a.r[2 * j];
        CHECK_NEAR(ground, p.p.blocks * 9.81 * 0.05, 1e-11);
    }
}

TEST(a_hot_start_needs_few_steps)
{
    static pile p;
    static answer a, cold;
    for (int friction = 0; friction < 2; friction++) {
        make_pile(&p, 6, friction ? 0.8 : 0.2);
        solve_active_set(&p.p, "active-set", &a);
        CHECK(a.report.iterations >= 51); /* cold: at least one for each contact */
        for (int i = 0; i < p.p.blocks; i++)
            p.v_free[3 * i + 1] *= 1.01;
        go_on(&p.p, "active-set", &a);
        CHECK(a.report.converged);
        CHECK_INT(a.report.iterations, 0); /* the same edges carry 1 % more */
        /* one disk gets a push */
        p.v_free[3] += 0.01;
        go_on(&p.p, "active-set", &a);
        CHECK(a.report.converged);
        CHECK(a.report.iterations <= 12);
        solve_active_set(&p.p, "active-set", &cold);
        for (int i = 0; i < 3 * p.p.blocks; i++)
            CHECK_NEAR(a.v[i], cold.v[i], 1e-11);
    }
}

/* ---- other problems ------------------------------------------------------------------------- */

TEST(random_problems_agree_with_gauss_seidel_to_rounding)
{
    static answer a, b;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        random_problem random;
        make_random_problem(&random, 2, 40, 30, seed);
        solve_active_set(&random.p, "active-set", &a);
        solve_active_set(&random.p, "pgs", &b);
        CHECK(a.report.converged);
        CHECK(a.report.judgement.asked.relative <= 1e-14);
        for (int i = 0; i < 120; i++)
            CHECK_NEAR(a.v[i], b.v[i], 1e-8);
    }
}

TEST(cones_with_edges_agree_with_the_gradient_method)
{
    static answer a, b;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_problem random;
        make_random_problem(&random, 3, 20, 16, seed);
        random.p.directions = 4 + 4 * (int)(seed % 3);
        solve_active_set(&random.p, "active-set", &a);
        solve_active_set(&random.p, "apgd-asr", &b);
        CHECK(a.report.converged && b.report.converged);
        CHECK(a.report.judgement.asked.relative <= 1e-13);
        CHECK_NEAR(a.report.judgement.cone_violation, 0, 1e-13);
        for (int i = 0; i < 120; i++)
            CHECK_NEAR(a.v[i], b.v[i], 1e-7);
    }
}

TEST(six_leg_table_stands_on_dependent_legs)
{
    table legs;
    static answer a;
    make_table(&legs, 8);
    solve_active_set(&legs.p, "active-set", &a);
    CHECK(a.report.converged);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(a.v[i], 0, 1e-14);
}

/* ten points above each other, the heaviest on top; the floor carries all. The impulses are up to
 * 1e5 N s, so what they leave of the lightest one's velocity is known to 1e5 * 1e-16 m/s at best */
TEST(a_stack_with_masses_of_one_to_a_million_is_exact)
{
    enum { N = 10 };
    random_problem random;
    static answer a;
    double mass = 0;
    make_random_problem(&random, 2, N, N, 1);
    for (int j = 0; j < N; j++) {
        const double rows[12] = { 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0 };
        double m = pow(10, 6.0 * j / (N - 1));
        memcpy(&random.H[12 * j], rows, sizeof rows);
        random.block[2 * j] = j;
        random.block[2 * j + 1] = j - 1;
        random.b[j] = random.w[2 * j] = random.w[2 * j + 1] = 0;
        for (int i = 0; i < 3; i++) {
            random.mass_inverse[3 * j + i] = 1 / m;
            random.v_free[3 * j + i] = i == 0 ? -0.1 : 0;
        }
        mass += m;
    }
    solve_active_set(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(a.report.judgement.asked.relative <= 1e-8);
    CHECK_CLOSE(a.r[0], 0.1 * mass, 1e-13);
    for (int i = 0; i < 3 * N; i++)
        CHECK_NEAR(a.v[i], 0, 1e-9);
}

/* W with a part of 1e-6 that is not symmetric: the answer is for W as given */
TEST(a_slightly_unsymmetric_operator_is_solved_as_given)
{
    random_problem random;
    static answer a;
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    make_random_problem(&random, 2, 20, 15, 31);
    CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
    double *value = cairn_arena_take(&arena, (size_t)W.start[W.rows], sizeof(double));
    uint64_t state = 1;
    for (int64_t e = 0; e < W.start[W.rows]; e++)
        value[e] = W.value[e] * (1 + 1e-6 * cairn_random_normal(&state));
    W.value = value;
    solve_active_set(&local, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    cairn_arena_destroy(&arena);
}

TEST(degenerate_problems_end_well_with_active_sets)
{
    static answer a;
    random_problem random;
    make_random_problem(&random, 2, 8, 8, 3);
    random.mu[0] = 0;
    random.mu[1] = 10;
    memcpy(&random.H[36], &random.H[24], 12 * sizeof(double)); /* contact 3 is contact 2 again */
    memcpy(&random.block[6], &random.block[4], 2 * sizeof(int32_t));
    random.b[3] = random.b[2];
    random.mu[3] = random.mu[2];
    memcpy(&random.w[6], &random.w[4], 2 * sizeof(double));
    random.block[8] = random.block[9] = -1; /* contact 4 is between nothing, and open */
    random.b[4] = 1;
    solve_active_set(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    random.b[4] = -1; /* and closing, which nothing can stop */
    solve_active_set(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK_CONTAINS(a.report.remark, "elastic");
    random.p.contacts = 0;
    solve_active_set(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
}

/* ---- elastic mode --------------------------------------------------------------------------- */

/* A point between two walls that overlap it by 0.1 m/s each, moving at 0.05: no velocity will do. The
 * elastic program leaves it alone, C = 20 |q|/w = 20 * 0.15, and misses 0.15 */
TEST(contradicting_constraints_are_relaxed_and_said_so)
{
    random_problem random;
    static answer a;
    make_random_problem(&random, 2, 2, 2, 1);
    for (int j = 0; j < 2; j++) {
        double side = j ? -1 : 1;
        const double rows[6] = { side, 0, 0, 0, 1, 0 };
        memcpy(&random.H[12 * j], rows, sizeof rows);
        random.block[2 * j] = 0;
        random.block[2 * j + 1] = -1;
        random.b[j] = -0.1;
        random.mu[j] = 0;
        random.w[2 * j] = random.w[2 * j + 1] = 0;
    }
    for (int i = 0; i < 3; i++) {
        random.mass_inverse[i] = 1;
        random.v_free[i] = i == 0 ? 0.05 : 0;
    }
    solve_active_set(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK_CONTAINS(a.report.remark, "C = 3 N s, misses them by 0.15 m/s");
    CHECK_NEAR(a.v[0], 0.05, 1e-12);
    /* with one wall moved back to 0.02 it is feasible: v = 0.1 */
    random.b[1] = 0.2;
    solve_active_set(&random.p, "active-set", &a);
    CHECK(a.report.converged);
    CHECK_NEAR(a.v[0], 0.1, 1e-14);
}

TEST(what_does_not_fit_active_sets_is_refused)
{
    random_problem random;
    make_random_problem(&random, 3, 4, 4, 1);
    CHECK(!cairn_solver_accepts("active-set", CAIRN_LAW_CONVEX, &random.p)); /* circular, 3D */
    random.p.directions = 8;
    CHECK(cairn_solver_accepts("active-set", CAIRN_LAW_CONVEX, &random.p));
    CHECK(!cairn_solver_accepts("active-set", CAIRN_LAW_COULOMB, &random.p));
    random.p.contacts = 400;
    CHECK(!cairn_solver_accepts("active-set", CAIRN_LAW_CONVEX, &random.p));
}

TEST(every_failing_allocation_of_active_sets_ends_cleanly)
{
    bead b;
    static answer a;
    const double bias[2] = { -0.1, -0.1 };
    long calls = 1;
    make_bead(&b, M_PI / 6, 2);
    b.p.b = bias; /* infeasible: all of the solver runs */
    for (long n = 1; n <= calls; n++) {
        meter m = { .fail_at = n };
        cairn_workspace *workspace = NULL;
        cairn_solve_options options = cairn_solve_options_default();
        options.solver = "active-set";
        memset(&a, 0, sizeof a);
        meter_install(&m);
        cairn_status status = cairn_workspace_create(&workspace);
        if (status == CAIRN_OK)
            status = cairn_solve(&b.p, &options, workspace, a.r, a.v, a.u, &a.report);
        cairn_workspace_destroy(workspace);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        calls = m.calls >= n ? n + 1 : n - 1;
    }
    CHECK(calls >= 2);
}

GROUP(test_active_set)
{
    RUN(CASE(the_factor_follows_members_that_come_and_go),
        CASE(dependent_members_have_no_curvature), CASE(piles_fall_with_the_known_energies),
        CASE(piles_with_enough_friction_stay), CASE(a_hot_start_needs_few_steps),
        CASE(random_problems_agree_with_gauss_seidel_to_rounding),
        CASE(cones_with_edges_agree_with_the_gradient_method),
        CASE(six_leg_table_stands_on_dependent_legs),
        CASE(a_stack_with_masses_of_one_to_a_million_is_exact),
        CASE(a_slightly_unsymmetric_operator_is_solved_as_given),
        CASE(degenerate_problems_end_well_with_active_sets),
        CASE(contradicting_constraints_are_relaxed_and_said_so),
        CASE(what_does_not_fit_active_sets_is_refused),
        CASE(every_failing_allocation_of_active_sets_ends_cleanly));
}
