/* test_rolling_problems.c - rolling and spinning friction, problems x solvers. */
#include "base/random.h"
#include "cairn/solve.h"
#include "check.h"
#include "failing_allocator.h"

enum { CONTACTS = 12, SIZE = 6 * CONTACTS };

typedef struct answer {
    cairn_solve_report report;
    double r[SIZE], v[SIZE], u[SIZE];
} answer;

static void solve(const cairn_problem *p, const char *solver, cairn_law law, double tolerance,
                  answer *a)
{
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.law = law;
    options.tolerance = tolerance;
    memset(a, 0, sizeof *a);
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(p, &options, workspace, a->r, a->v, a->u, &a->report));
    cairn_workspace_destroy(workspace);
    if (!a->report.converged)
        fail_msg("%s stops at %g: %s", solver, a->report.judgement.asked.relative,
                 a->report.remark);
    CHECK_NEAR(a->report.judgement.cone_violation, 0, 1e-12);
}

/* Every solver that accepts the problem; the convex velocity is the same for all. */
static void check_all(const cairn_problem *p, cairn_law law, double tolerance)
{
    static answer first, a;
    CHECK_OK(cairn_problem_check(p, NULL));
    solve(p, "newton", law, 1e-11, &first);
    for (int i = 0; cairn_solver_name(i); i++) {
        if (!cairn_solver_accepts(cairn_solver_name(i), law, p))
            continue;
        solve(p, cairn_solver_name(i), law, tolerance, &a);
        for (int k = 0; law == CAIRN_LAW_CONVEX && k < p->contacts * p->dimension; k++)
            CHECK_NEAR(a.u[k], first.u[k], 1e3 * tolerance);
    }
}

/* ---- random problems ------------------------------------------------------------------------ */

static double W[SIZE * SIZE], q[SIZE], mu[CONTACTS], mu_rolling[CONTACTS], mu_spinning[CONTACTS];
static int64_t start[SIZE + 1];
static int32_t column[SIZE * SIZE];

/* W = I + A A'/(3 n), full. */
static cairn_problem random_local(const int *shape, cairn_matrix *matrix, uint64_t seed)
{
    static double A[SIZE * SIZE];
    int d = 1 + shape[0] + shape[1] + shape[2], n = d * CONTACTS;
    uint64_t state = seed;
    for (int i = 0; i < n * n; i++)
        A[i] = cairn_random_normal(&state);
    for (int i = 0; i < n; i++) {
        start[i + 1] = (int64_t)(i + 1) * n;
        q[i] = cairn_random_normal(&state) - (i % d == 0);
        for (int l = 0; l < n; l++) {
            double sum = i == l;
            for (int k = 0; k < n; k++)
                sum += A[i * n + k] * A[l * n + k] / (3 * n);
            W[i * n + l] = sum;
            column[i * n + l] = l;
        }
    }
    for (int j = 0; j < CONTACTS; j++) {
        mu[j] = cairn_random_between(&state, 0.1, 0.5);
        mu_rolling[j] = cairn_random_between(&state, 0, 0.3);
        mu_spinning[j] = cairn_random_between(&state, 0, 0.3);
    }
    *matrix = (cairn_matrix){ n, n, start, column, W };
    return (cairn_problem){ .dimension = d,
                            .rolling = shape[1],
                            .spinning = shape[2],
                            .contacts = CONTACTS,
                            .W = matrix,
                            .q = q,
                            .mu = mu,
                            .mu_rolling = mu_rolling,
                            .mu_spinning = mu_spinning };
}

TEST(random_problems_of_every_shape)
{
    static const int shapes[4][3] = { { 1, 1, 0 }, { 2, 2, 0 }, { 2, 0, 1 }, { 2, 2, 1 } };
    for (int k = 0; k < 4; k++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            cairn_matrix matrix;
            cairn_problem p = random_local(shapes[k], &matrix, 40 + (uint64_t)k);
            check_all(&p, (cairn_law)law, 1e-9);
        }
}

/* ---- exact answers, block form -------------------------------------------------------------- */

/* A cylinder of mass 2, radius 1/2, J = 1/4 rolls on a plane with speed v; 0.1 m/s downwards in
 * the step. Components N, T = v_x + omega/2, R = omega. */
static cairn_problem rolling_cylinder(const double *v_free, const double *friction)
{
    static const double mass_inverse[3] = { 0.5, 0.5, 4 };
    static const double H[18] = { 0, 1, 0, 1, 0, 0.5, 0, 0, 1 };
    static const int32_t block[2] = { 0, -1 };
    return (cairn_problem){ .dimension = 3,
                            .rolling = 1,
                            .block_size = 3,
                            .blocks = 1,
                            .contacts = 1,
                            .mass_inverse = mass_inverse,
                            .v_free = v_free,
                            .block = block,
                            .H = H,
                            .mu = friction,
                            .mu_rolling = friction + 1 };
}

/* r_N = 0.2, r_R = 0.01 * 0.2 = 0.002 against omega = -2 v; no slip: r_T/2 + (r_T/2 + r_R) 2 = 0,
 * so r_T = -4/3 r_R, and v falls by r_T/2. At v = 1/1000 it stands still. */
TEST(a_rolling_cylinder_slows_down_and_stops)
{
    const double friction[2] = { 0.5, 0.01 };
    const double fast[3] = { 1, -0.1, -2 }, slow[3] = { 1e-3, -0.1, -2e-3 };
    const char *const solvers[] = { "newton", "pgs", "ngs", "admm", "auto" };
    static answer a;
    for (int i = 0; i < 5; i++) {
        cairn_problem p = rolling_cylinder(fast, friction);
        solve(&p, solvers[i], CAIRN_LAW_COULOMB, 1e-11, &a);
        CHECK_NEAR(a.r[0], 0.2, 1e-10);
        CHECK_NEAR(a.r[2], 0.002, 1e-10);
        CHECK_NEAR(a.v[0], 1 - 2.0 / 3 * 0.002, 1e-10);
        CHECK_NEAR(a.v[1], 0, 1e-10);
        p = rolling_cylinder(slow, friction);
        solve(&p, solvers[i], CAIRN_LAW_COULOMB, 1e-11, &a);
        CHECK_NEAR(a.v[0], 0, 1e-10);
        CHECK_NEAR(a.v[2], 0, 1e-10);
    }
}

/* The convex law lifts it: u_N = mu_R |omega| there, and mu |u_T| = 0. */
TEST(the_convex_law_opens_by_the_rolling_speed)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    static answer a;
    cairn_problem p = rolling_cylinder(fast, friction);
    solve(&p, "apgd-d", CAIRN_LAW_CONVEX, 1e-10, &a);
    CHECK_NEAR(a.u[0], 0.01 * fabs(a.u[2]), 1e-9);
    CHECK_NEAR(a.u[1], 0, 1e-9);
    CHECK(a.u[0] > 0.01);
}

/* A ball (m = 1, J = 0.4) that spins with 5 rad/s about the normal: J domega = mu_S r_N. */
TEST(a_spinning_ball_slows_down)
{
    const double mass_inverse[6] = { 1, 1, 1, 2.5, 2.5, 2.5 }, v_free[6] = { 0, 0, -0.1, 0, 0, 5 };
    const double friction[2] = { 0.5, 0.02 };
    const int32_t block[2] = { 0, -1 };
    double H[48] = { 0 };
    static answer a;
    H[0 + 2] = 1;              /* N = v_z            */
    H[6 + 0] = H[12 + 1] = 1;  /* T1 = v_x - omega_y */
    H[6 + 4] = -1;             /* T2 = v_y + omega_x */
    H[12 + 3] = H[18 + 5] = 1; /* S = omega_z        */
    const cairn_problem p = { .dimension = 4,
                              .spinning = 1,
                              .block_size = 6,
                              .blocks = 1,
                              .contacts = 1,
                              .mass_inverse = mass_inverse,
                              .v_free = v_free,
                              .block = block,
                              .H = H,
                              .mu = friction,
                              .mu_spinning = friction + 1 };
    solve(&p, "pgs", CAIRN_LAW_COULOMB, 1e-11, &a);
    CHECK_NEAR(a.r[3], -0.02 * 0.1, 1e-12);
    CHECK_NEAR(a.v[5], 5 - 2.5 * 0.002, 1e-12);
    CHECK_NEAR(a.v[0], 0, 1e-12);
}

/* ---- the judge and the gap ------------------------------------------------------------------ */

/* Rolling in other units: the row of omega times c, its impulse and mu_R divided by c. */
TEST(the_residual_does_not_know_the_unit_of_rolling)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    cairn_problem p = rolling_cylinder(fast, friction);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        double expected = 0;
        for (int k = 0; k < 3; k++) {
            double c = pow(1000, k - 1), H[18], other[2] = { 0.5, 0.01 / c }, v[3], u[3];
            double r[3] = { 0.1, -0.02, 0.001 / c };
            cairn_judgement found;
            memcpy(H, p.H, sizeof H);
            H[8] *= c;
            cairn_problem same = rolling_cylinder(fast, other);
            same.H = H;
            cairn_judge(&same, (cairn_law)law, r, v, u, &found);
            if (k == 0)
                expected = found.asked.relative;
            CHECK(found.asked.relative > 0.01);
            CHECK_CLOSE(found.asked.relative, expected, 1e-12);
        }
    }
}

TEST(the_convex_answer_has_no_duality_gap)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    static answer a;
    cairn_duality found;
    cairn_problem p = rolling_cylinder(fast, friction);
    solve(&p, "newton", CAIRN_LAW_CONVEX, 1e-12, &a);
    CHECK_OK(cairn_problem_duality(&p, a.r, &found));
    CHECK(found.feasible);
    CHECK_NEAR(found.gap, 0, 1e-12);
    a.r[0] *= 0.9;
    CHECK_OK(cairn_problem_duality(&p, a.r, &found));
    CHECK(found.gap > 1e-6);
}

/* ---- refusals ------------------------------------------------------------------------------- */

TEST(what_does_not_treat_rolling_friction_refuses)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    cairn_problem p = rolling_cylinder(fast, friction);
    double s[1] = { 0 }, r[3] = { 0 }, v[3], u[3];
    const cairn_sliding_loop loop = { 0, 10, s, r, v, u };
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    cairn_workspace *workspace;
    CHECK(cairn_solver_treats_rolling("pgs") && !cairn_solver_treats_rolling("ipm"));
    for (int i = 0; cairn_solver_name(i); i++)
        CHECK(cairn_solver_accepts(cairn_solver_name(i), CAIRN_LAW_CONVEX, &p) ==
              cairn_solver_treats_rolling(cairn_solver_name(i)));
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_INT(cairn_solve_fixed_point(&p, &options, &loop, workspace, &report), CAIRN_UNSUPPORTED);
    CHECK_INT(cairn_solve_coulomb_newton(&p, &options, &loop, workspace, &report),
              CAIRN_UNSUPPORTED);
    cairn_workspace_destroy(workspace);
}

/* Fails the n-th allocation for every n. */
TEST(memory_runs_out_cleanly)
{
    const double friction[2] = { 0.5, 0.01 }, fast[3] = { 1, -0.1, -2 };
    cairn_problem p = rolling_cylinder(fast, friction);
    bool done = false;
    for (long n = 1; !done; n++) {
        double r[3] = { 0 }, v[3], u[3];
        cairn_workspace *workspace;
        cairn_solve_report report;
        cairn_solve_options options = cairn_solve_options_default();
        meter m = { .fail_at = n };
        meter_install(&m);
        cairn_status status = cairn_workspace_create(&workspace);
        if (status == CAIRN_OK)
            status = cairn_solve(&p, &options, workspace, r, v, u, &report);
        cairn_workspace_destroy(workspace);
        cairn_allocator_set(NULL);
        done = m.calls < n;
        CHECK_INT(status, done ? CAIRN_OK : CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
}

int main(void)
{
    RUN(CASE(random_problems_of_every_shape), CASE(a_rolling_cylinder_slows_down_and_stops),
        CASE(the_convex_law_opens_by_the_rolling_speed), CASE(a_spinning_ball_slows_down),
        CASE(the_residual_does_not_know_the_unit_of_rolling),
        CASE(the_convex_answer_has_no_duality_gap),
        CASE(what_does_not_treat_rolling_friction_refuses), CASE(memory_runs_out_cleanly));
}
