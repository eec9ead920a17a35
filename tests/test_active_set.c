/* test_active_set.c - the active-set solver: exact velocities, hot starts, elastic mode. */
#include "solve/active_set.h"

#include "check.h"
#include "failing_allocator.h"
#include "math/dense.h"
#include "problem/delassus.h"
#include "random_problem.h"
#include "reproduce/classic_problems.h"
#include "solve/solver.h"

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double r[3 * PILE_CONTACTS], v[6 * PILE_BODIES], u[3 * PILE_CONTACTS];
} answer;

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

static void solve(const cairn_problem *p, const char *solver, answer *a)
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
        solve(&p.p, "active-set", &a);
        CHECK(a.report.converged);
        CHECK_NEAR(kinetic_energy(&p, a.v), smooth[i], 1e-9);
        make_pile(&p, rows[i], 0.2);
        solve(&p.p, "active-set", &a);
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
        solve(&p.p, "active-set", &a);
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
        solve(&p.p, "active-set", &a);
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
        solve(&p.p, "active-set", &cold);
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
        solve(&random.p, "active-set", &a);
        solve(&random.p, "pgs", &b);
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
        solve(&random.p, "active-set", &a);
        solve(&random.p, "apgd-asr", &b);
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
    solve(&legs.p, "active-set", &a);
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
    solve(&random.p, "active-set", &a);
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
    solve(&local, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    cairn_arena_destroy(&arena);
}

TEST(degenerate_problems_end_well)
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
    solve(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    random.b[4] = -1; /* and closing, which nothing can stop */
    solve(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK_CONTAINS(a.report.remark, "elastic");
    random.p.contacts = 0;
    solve(&random.p, "active-set", &a);
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
    solve(&random.p, "active-set", &a);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK_CONTAINS(a.report.remark, "C = 3 N s, misses them by 0.15 m/s");
    CHECK_NEAR(a.v[0], 0.05, 1e-12);
    /* with one wall moved back to 0.02 it is feasible: v = 0.1 */
    random.b[1] = 0.2;
    solve(&random.p, "active-set", &a);
    CHECK(a.report.converged);
    CHECK_NEAR(a.v[0], 0.1, 1e-14);
}

TEST(what_does_not_fit_is_refused)
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

TEST(every_failing_allocation_ends_cleanly)
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

int main(void)
{
    RUN(CASE(the_factor_follows_members_that_come_and_go),
        CASE(dependent_members_have_no_curvature), CASE(piles_fall_with_the_known_energies),
        CASE(piles_with_enough_friction_stay), CASE(a_hot_start_needs_few_steps),
        CASE(random_problems_agree_with_gauss_seidel_to_rounding),
        CASE(cones_with_edges_agree_with_the_gradient_method),
        CASE(six_leg_table_stands_on_dependent_legs),
        CASE(a_stack_with_masses_of_one_to_a_million_is_exact),
        CASE(a_slightly_unsymmetric_operator_is_solved_as_given),
        CASE(degenerate_problems_end_well), CASE(contradicting_constraints_are_relaxed_and_said_so),
        CASE(what_does_not_fit_is_refused), CASE(every_failing_allocation_ends_cleanly));
}
