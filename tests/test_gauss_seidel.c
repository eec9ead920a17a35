/* test_gauss_seidel.c - plain and accelerated sweeps: how many, and that they end. */
#include <math.h>
#include <stdlib.h>

#include "cairn/cairn.h"
#include "check.h"
#include "worlds.h"

/* Sweeps that a scene needs over some steps, cold in each step. */
static int64_t cold_sweeps(const char *solver, const char *scheme)
{
    cairn_world *world = new_heap(3, 0.3, 10);
    cairn_step_options options = step_by(0.005, scheme, 1e-3);
    int64_t sweeps = 0;
    advance(world, &options, 400); /* at rest, or nearly */
    options.solver = solver;
    options.max_iterations = 20000; /* of plain sweeps */
    options.warm_start = false;
    for (int k = 0; k < 5; k++)
        sweeps += advance(world, &options, 1).solve.iterations;
    cairn_world_destroy(world);
    return sweeps;
}

TEST(acceleration_saves_sweeps_on_a_heap_at_rest)
{
    int64_t plain = cold_sweeps("pgs", "convex"), fast = cold_sweeps("ngs", "convex");
    CHECK(fast > 5); /* cold starts do need work */
    CHECK(2 * fast <= plain);
}

/* The residual of exact friction that so many sweeps from nothing leave of the last problem. */
static double left_by_exact_friction(const cairn_world *world, int64_t sweeps)
{
    cairn_solve_options ask = cairn_solve_options_default();
    cairn_workspace *workspace;
    cairn_solve_report report = { 0 };
    const double *r_last;
    const cairn_problem *p = cairn_world_problem(world, &r_last);
    size_t n = 3 * (size_t)p->contacts;
    double *numbers = calloc(2 * n + 6 * (size_t)p->blocks, sizeof(double));
    ask.solver = "ngs";
    ask.law = CAIRN_LAW_COULOMB;
    ask.tolerance = 1e-9;
    ask.max_iterations = sweeps;
    CHECK_INT(cairn_workspace_create(&workspace), CAIRN_OK);
    CHECK_INT(cairn_solve(p, &ask, workspace, numbers, numbers + 2 * n, numbers + n, &report),
              CAIRN_OK);
    free(numbers);
    cairn_workspace_destroy(workspace);
    return report.judgement.asked.relative;
}

/* Likewise in a heap at rest, the geometric mean of five steps: single ones differ sevenfold. */
static double left_in_a_heap(double mu, int64_t sweeps)
{
    cairn_world *world = new_heap(3, mu, 20);
    cairn_step_options options = step_by(0.005, "convex", 1e-3);
    double sum = 0;
    advance(world, &options, 370);
    for (int k = 0; k < 5; k++) {
        advance(world, &options, 10);
        sum += log(left_by_exact_friction(world, sweeps));
    }
    cairn_world_destroy(world);
    return exp(sum / 5);
}

/* Without its bounds momentum leaves 4.2e-2 and 1.7e-1 here. */
TEST(momentum_of_exact_friction_is_bounded)
{
    CHECK(left_in_a_heap(0.4, 200) < 1e-2); /* 5.2e-3 */
    CHECK(left_in_a_heap(0.8, 200) < 2e-2); /* 1.4e-2 */
}

/* one contact: the first sweep is the exact answer */
TEST(a_single_contact_takes_one_sweep)
{
    static const char *const solvers[] = { "pgs", "ngs" };
    for (int i = 0; i < 2; i++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            cairn_world *world = new_world(dimension, 9.81, 0.3, 0);
            cairn_vec3 up = { 0, dimension == 2 ? 0.1 : 0, dimension == 3 ? 0.1 : 0 };
            add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
            add_ball(world, 0.1, up, (cairn_vec3){ 0.01, 0, 0 });
            cairn_step_options options = step_by(0.01, "convex", 1e-12);
            options.solver = solvers[i];
            CHECK_INT(advance(world, &options, 1).solve.iterations, 1);
            cairn_world_destroy(world);
        }
}

/* A body between two plates that both push: there is no feasible velocity, the dual has no bound. */
static cairn_solve_report solve_vice(const char *solver, int64_t iterations, double seconds)
{
    const double mass[3] = { 1, 1, 1 }, v_free[3] = { 0, 0, 0 }, b[2] = { -1, -1 };
    const double H[24] = { 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0 };
    const double mu[2] = { 0.3, 0.3 };
    const int32_t block[4] = { 0, -1, 0, -1 };
    cairn_problem p = { .dimension = 2,
                        .block_size = 3,
                        .blocks = 1,
                        .contacts = 2,
                        .mass_inverse = mass,
                        .v_free = v_free,
                        .block = block,
                        .H = H,
                        .b = b,
                        .mu = mu };
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    cairn_workspace *workspace;
    double r[4] = { 0 }, v[3], u[4];
    options.solver = solver;
    options.max_iterations = iterations;
    options.time_limit = seconds;
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&p, &options, workspace, r, v, u, &report));
    cairn_workspace_destroy(workspace);
    return report;
}

TEST(an_infeasible_problem_ends_and_is_reported)
{
    static const char *const solvers[] = { "pgs", "ngs", "auto", "apgd-asr" };
    for (int i = 0; i < 4; i++) {
        cairn_solve_report report = solve_vice(solvers[i], 2000, 0);
        CHECK(!report.converged);
        CHECK(report.judgement.asked.relative > 0.1);
    }
}

/* a thousand million sweeps would take minutes: only the limit can end this */
TEST(the_time_limit_ends_a_solve)
{
    static const char *const solvers[] = { "pgs", "ngs", "apgd-asr" };
    for (int i = 0; i < 3; i++) {
        cairn_solve_report report = solve_vice(solvers[i], 1000000000, 0.02);
        CHECK(!report.converged);
        CHECK(report.iterations > 0 && report.iterations < 1000000000);
    }
}

int main(void)
{
    RUN(CASE(momentum_of_exact_friction_is_bounded),
        CASE(acceleration_saves_sweeps_on_a_heap_at_rest), CASE(a_single_contact_takes_one_sweep),
        CASE(an_infeasible_problem_ends_and_is_reported), CASE(the_time_limit_ends_a_solve));
}
