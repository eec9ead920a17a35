/* test_spg.c - spectral projected gradient. */
#include "solver_checks.h"

TEST(random_problems_agree_with_gauss_seidel)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        random_problem random;
        make_random_problem(&random, seed % 2 ? 2 : 3, 40, 30, seed);
        checked a = solve_checked(&random.p, "spg", CAIRN_LAW_CONVEX, 1e-10, 2000);
        checked b = solve_checked(&random.p, "pgs", CAIRN_LAW_CONVEX, 1e-12, 100000);
        CHECK_OK(a.status);
        CHECK(a.report.converged && b.report.converged);
        for (int i = 0; i < 30 * random.p.dimension; i++)
            CHECK_NEAR(a.r[i], b.r[i], 1e-7);
    }
}

TEST(cones_with_edges_agree_with_projected_gradients)
{
    for (int directions = 4; directions <= 12; directions += 4) {
        random_problem random;
        make_random_problem(&random, 3, 20, 15, 9);
        random.p.directions = directions;
        checked a = solve_checked(&random.p, "spg", CAIRN_LAW_CONVEX, 1e-10, 20000);
        checked b = solve_checked(&random.p, "apgd-asr", CAIRN_LAW_CONVEX, 1e-11, 100000);
        CHECK(a.report.converged && b.report.converged);
        for (int i = 0; i < 45; i++)
            CHECK_NEAR(a.r[i], b.r[i], 1e-7);
    }
}

/* Two free bodies of masses 1 and 1e6, a contact each: the scaling makes them alike. */
TEST(masses_far_apart_cost_nothing_when_uncoupled)
{
    random_problem random;
    make_random_problem(&random, 3, 2, 2, 4);
    random.block[1] = random.block[3] = -1;
    for (int i = 0; i < 6; i++) {
        random.mass_inverse[i] = 1;
        random.mass_inverse[6 + i] = 1e-6;
    }
    checked a = solve_checked(&random.p, "spg", CAIRN_LAW_CONVEX, 1e-12, 10);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    CHECK(a.report.iterations <= 2);
}

TEST(coulomb_is_refused)
{
    random_problem random;
    make_random_problem(&random, 3, 4, 4, 1);
    CHECK_INT(solve_checked(&random.p, "spg", CAIRN_LAW_COULOMB, 1e-3, 10).status,
              CAIRN_UNSUPPORTED);
}

TEST(degenerate_problems_are_solved)
{
    check_degenerate("spg", CAIRN_LAW_CONVEX);
}

TEST(an_infeasible_problem_is_not_passed_off)
{
    check_infeasible("spg", CAIRN_LAW_CONVEX);
}

TEST(no_memory_is_told_and_nothing_is_lost)
{
    random_problem random;
    make_random_problem(&random, 3, 64, 60, 33);
    check_memory(&random.p, "spg", CAIRN_LAW_CONVEX);
}

int main(void)
{
    RUN(CASE(random_problems_agree_with_gauss_seidel),
        CASE(cones_with_edges_agree_with_projected_gradients),
        CASE(masses_far_apart_cost_nothing_when_uncoupled), CASE(coulomb_is_refused),
        CASE(degenerate_problems_are_solved), CASE(an_infeasible_problem_is_not_passed_off),
        CASE(no_memory_is_told_and_nothing_is_lost));
}
