/* test_fixed_point.c - the fixed point on the sliding speeds. */
#include "cairn/cairn.h"
#include "check.h"

/* One ball of mass 1 (J = 2/5, radius 1) on a plane, sliding with 1 m/s, pressed with 1 m/s:
 * W = diag(1, 3.5, 3.5). The convex solve with s gives |u_T| as a function F(s). */
static const double mass[6] = { 1, 1, 1, 2.5, 2.5, 2.5 };
static const double v_free[6] = { 1, 0, -1, 0, 0, 0 };
static const double H[36] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, -1, 0, 0 };
static const int32_t block[2] = { 0, -1 };

static cairn_problem sliding_ball(const double *mu)
{
    return (cairn_problem){ .dimension = 3,
                            .block_size = 6,
                            .blocks = 1,
                            .contacts = 1,
                            .mass_inverse = mass,
                            .v_free = v_free,
                            .block = block,
                            .H = H,
                            .mu = mu };
}

static cairn_solve_report solve(double mu, double increment, int64_t most, double *s, double *r)
{
    cairn_problem p = sliding_ball(&mu);
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    cairn_workspace *workspace;
    double v[6], u[3];
    options.solver = "pgs";
    options.tolerance = 1e-12;
    CHECK_OK(cairn_workspace_create(&workspace));
    const cairn_sliding_loop loop = { increment, most, s, r, v, u };
    CHECK_OK(cairn_solve_fixed_point(&p, &options, &loop, workspace, &report));
    cairn_workspace_destroy(workspace);
    return report;
}

/* mu = 0.1: Coulomb's impulse is (1, -0.1, 0), it goes on sliding with 1 - 0.35 = 0.65 m/s */
TEST(a_sliding_ball_reaches_coulombs_answer)
{
    double s = 0, r[3] = { 0 };
    cairn_solve_report report = solve(0.1, 0, 100, &s, r);
    CHECK(report.converged);
    CHECK_NEAR(r[0], 1, 1e-11);
    CHECK_NEAR(r[1], -0.1, 1e-12);
    CHECK_NEAR(s, 0.65, 1e-11);
}

/* mu = 0.5 > 1/3.5: it sticks, and the first convex solve is already right */
TEST(a_sticking_ball_takes_one_solve)
{
    double s = 0, r[3] = { 0 };
    cairn_solve_report report = solve(0.5, 0, 100, &s, r);
    CHECK(report.converged);
    CHECK_INT(report.outer_iterations, 1);
    CHECK_NEAR(r[1], -1 / 3.5, 1e-12);
}

/* starting from the answer: one solve to confirm it */
TEST(the_answer_is_a_fixed_point)
{
    double s = 0.65, r[3] = { 1, -0.1, 0 };
    CHECK_INT(solve(0.1, 0, 100, &s, r).outer_iterations, 1);
    CHECK_NEAR(s, 0.65, 1e-12);
}

TEST(the_test_on_s_stops_early_when_asked)
{
    double s = 0, r[3] = { 0 }, loose = 0, rough[3] = { 0 };
    int64_t strict = solve(0.1, 1e-12, 100, &s, r).outer_iterations;
    cairn_solve_report report = solve(0.1, 1e-2, 100, &loose, rough);
    CHECK(report.converged);
    CHECK(report.outer_iterations < strict);
    CHECK_NEAR(loose, 0.65, 1e-2);
}

TEST(too_few_outer_iterations_are_reported)
{
    double s = 0, r[3] = { 0 };
    cairn_solve_report report = solve(0.1, 0, 2, &s, r);
    CHECK(!report.converged);
    CHECK(report.judgement.coulomb.relative > 1e-12);
    CHECK_INT(report.outer_iterations, 2);
}

int main(void)
{
    RUN(CASE(a_sliding_ball_reaches_coulombs_answer), CASE(a_sticking_ball_takes_one_solve),
        CASE(the_answer_is_a_fixed_point), CASE(the_test_on_s_stops_early_when_asked),
        CASE(too_few_outer_iterations_are_reported));
}
