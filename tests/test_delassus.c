/* test_delassus.c - W formed equals W applied, and the local form is the same problem. */
#include "problem/delassus.h"

#include "cairn/solve.h"
#include "check.h"
#include "random_problem.h"

TEST(formed_and_applied_agree_in_2d_and_3d)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        cairn_arena arena = { 0 };
        cairn_matrix W;
        cairn_problem local;
        double r[45] = { 0 }, v[120], u[45], u_local[45];
        uint64_t state = 1;
        make_random_problem(&random, dimension, 20, 15, 21);
        CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
        CHECK_OK(cairn_problem_check(&local, NULL));
        for (int i = 0; i < 15 * dimension; i++)
            r[i] = cairn_random_normal(&state);
        cairn_problem_apply(&random.p, r, v, u);
        cairn_problem_apply(&local, r, NULL, u_local);
        for (int i = 0; i < 15 * dimension; i++)
            CHECK_NEAR(u[i], u_local[i], 1e-12);
        cairn_arena_destroy(&arena);
    }
}

TEST(every_solver_solves_the_local_form_too)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    cairn_workspace *workspace;
    make_random_problem(&random, 3, 20, 15, 22);
    CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int i = 0; cairn_solver_name(i); i++) {
        cairn_solve_options options = cairn_solve_options_default();
        cairn_solve_report report;
        double r[45] = { 0 }, r_local[45] = { 0 }, v[120], u[45], u_local[45];
        options.solver = cairn_solver_name(i);
        options.tolerance = 1e-9;
        if (!cairn_solver_accepts(options.solver, CAIRN_LAW_CONVEX, &local))
            continue;
        CHECK_OK(cairn_solve(&random.p, &options, workspace, r, v, u, &report));
        CHECK_OK(cairn_solve(&local, &options, workspace, r_local, NULL, u_local, &report));
        CHECK(report.converged);
        for (int k = 0; k < 45; k++)
            CHECK_NEAR(u[k], u_local[k], 1e-7);
    }
    cairn_workspace_destroy(workspace);
    cairn_arena_destroy(&arena);
}

int main(void)
{
    RUN(CASE(formed_and_applied_agree_in_2d_and_3d), CASE(every_solver_solves_the_local_form_too));
}
