/* test_auto.c - the ladder: what it picks, that it climbs, and what it says. */
#include "hard_problems.h"
#include "lattice_problem.h"
#include "problem/delassus.h"
#include "random_problem.h"

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
    hard_problem pile = make_pile(20, 0.5);
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

int main(void)
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
