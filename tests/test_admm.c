/* test_admm.c - alternating directions with a factorised system. */
#include "hard_problems.h"
#include "solver_checks.h"

TEST(random_problems_agree_with_gauss_seidel)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        random_problem random;
        make_random_problem(&random, seed % 2 ? 2 : 3, 40, 30, seed);
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            checked a = solve_checked(&random.p, "admm", law, 1e-10, 2000);
            checked b = solve_checked(&random.p, "pgs", law, 1e-12, 100000);
            CHECK_OK(a.status);
            CHECK(a.report.converged && b.report.converged);
            for (int i = 0; i < 30 * random.p.dimension; i++)
                CHECK_NEAR(a.r[i], b.r[i], 1e-7);
        }
    }
}

/* Stacks are where first-order methods need thousands of sweeps: a column of 50 cubes, and one of
 * 10 cubes with 1000 times the mass on top. */
TEST(columns_of_cubes_take_few_iterations_at_any_mass_ratio)
{
    const int counts[2] = { 50, 10 };
    const double ratios[2] = { 1, 1000 };
    for (int i = 0; i < 2; i++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            hard_problem h = make_column(counts[i], ratios[i], 0.3);
            static double r[600], v[300], u[600];
            cairn_workspace *workspace;
            cairn_solve_report report;
            cairn_solve_options options = cairn_solve_options_default();
            options.solver = "admm";
            options.law = law;
            options.tolerance = 1e-8;
            memset(r, 0, sizeof r);
            CHECK_OK(cairn_workspace_create(&workspace));
            CHECK_OK(cairn_solve(&h.p, &options, workspace, r, v, u, &report));
            CHECK(report.converged);
            CHECK(report.iterations <= 150); /* 59 and 79 when this was written */
            for (int k = 0; k < h.p.blocks * 6; k++)
                CHECK_NEAR(v[k], 0, 1e-6); /* it stands */
            cairn_workspace_destroy(workspace);
            hard_problem_free(&h);
        }
}

/* Cones with edges: the answer of the projected gradient. */
TEST(cones_with_edges_agree_with_projected_gradients)
{
    random_problem random;
    make_random_problem(&random, 3, 20, 15, 9);
    random.p.directions = 6;
    checked a = solve_checked(&random.p, "admm", CAIRN_LAW_CONVEX, 1e-10, 20000);
    checked b = solve_checked(&random.p, "apgd-asr", CAIRN_LAW_CONVEX, 1e-11, 100000);
    CHECK(a.report.converged && b.report.converged);
    for (int i = 0; i < 45; i++)
        CHECK_NEAR(a.r[i], b.r[i], 1e-7);
}

TEST(degenerate_problems_are_solved)
{
    check_degenerate("admm", CAIRN_LAW_CONVEX);
    check_degenerate("admm", CAIRN_LAW_COULOMB);
}

TEST(an_infeasible_problem_is_not_passed_off)
{
    check_infeasible("admm", CAIRN_LAW_CONVEX);
    check_infeasible("admm", CAIRN_LAW_COULOMB);
}

/* u = W r + q with W = I + a large unsymmetric part: a small penalty would diverge */
TEST(an_unsymmetric_operator_is_solved)
{
    int64_t start[5] = { 0, 4, 8, 12, 16 };
    int32_t column[16];
    double value[16], q[4] = { -1, 0.5, -2, 0.1 }, mu[2] = { 0.4, 0.4 };
    for (int i = 0; i < 16; i++) {
        column[i] = i % 4;
        value[i] = (i / 4 == i % 4) + (i % 4 > i / 4 ? 0.3 : i % 4 < i / 4 ? -0.3 : 0);
    }
    cairn_matrix W = { 4, 4, start, column, value };
    cairn_problem p = { .dimension = 2, .block_size = 1, .contacts = 2, .W = &W, .q = q, .mu = mu };
    check_solved(&p, "admm", CAIRN_LAW_CONVEX, 1e-9);
    check_solved(&p, "admm", CAIRN_LAW_COULOMB, 1e-9);
}

TEST(no_memory_is_told_and_nothing_is_lost)
{
    random_problem random;
    make_random_problem(&random, 3, 64, 60, 33);
    check_memory(&random.p, "admm", CAIRN_LAW_CONVEX);
}

int main(void)
{
    RUN(CASE(random_problems_agree_with_gauss_seidel),
        CASE(columns_of_cubes_take_few_iterations_at_any_mass_ratio),
        CASE(cones_with_edges_agree_with_projected_gradients), CASE(degenerate_problems_are_solved),
        CASE(an_infeasible_problem_is_not_passed_off), CASE(an_unsymmetric_operator_is_solved),
        CASE(no_memory_is_told_and_nothing_is_lost));
}
