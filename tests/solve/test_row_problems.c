/* test_row_problems.c - rows with bounds, problems x solvers: joints, loops, motors, limits, dry
 * friction, springs, and contacts among them, each against what is known. */
#include "tests/problems/random_problem.h"

#include "base/memory.h"
#include "cairn/solve.h"
#include "math/factor.h"
#include "problem/forms.h"
#include "tests/check.h"

enum { NUMBERS = 6 * ROW_CONTACTS };

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double r[NUMBERS], v[NUMBERS], u[NUMBERS];
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
    a->status = cairn_workspace_create(&workspace);
    if (a->status == CAIRN_OK)
        a->status = cairn_solve(p, &options, workspace, a->r, a->v, a->u, &a->report);
    cairn_workspace_destroy(workspace);
}

static void check_solved(const answer *a, const char *solver, double tolerance)
{
    CHECK_OK(a->status);
    if (!a->report.converged)
        fail_msg("%s stops at %g: %s", solver, a->report.judgement.asked.relative,
                 a->report.remark);
    CHECK(a->report.judgement.asked.relative <= tolerance);
    CHECK_NEAR(a->report.judgement.cone_violation, 0, 1e-13);
}

static row_problem x;
static answer a, b;

/* Calls `check` on the answer of every solver that accepts x, to 1e-10. */
static void for_all_solvers(void (*check)(void))
{
    CHECK_OK(cairn_problem_check(&x.p, NULL));
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        for (int i = 0; cairn_solver_name(i); i++) {
            const char *name = cairn_solver_name(i);
            if (!cairn_solver_accepts(name, (cairn_law)law, &x.p))
                continue;
            solve(&x.p, name, (cairn_law)law, 1e-10, &a);
            check_solved(&a, name, 1e-10);
            check();
        }
}

/* ---- one body ------------------------------------------------------------------------------- */

/* A body of 2 kg that moves with `speed` along x, and one row on that velocity. */
static void one_row(double speed, double target, double lower, double upper)
{
    const double centre[3] = { 0, 0, 0 };
    rows_begin(&x);
    rows_body(&x, 2, 1, 0);
    rows_block(&x, 0, -1);
    rows_set(&x, 0, 0, row_axes[0], centre, centre);
    rows_bound(&x, 0, 0, lower, upper);
    x.v_free[0] = speed;
    x.w[0] = -target;
}

static double expected_v, expected_r;

static void as_expected(void)
{
    CHECK_NEAR(a.v[0], expected_v, 1e-9);
    CHECK_NEAR(a.r[0], expected_r, 1e-9);
    CHECK(a.r[1] == 0 && a.r[2] == 0); /* unused rows */
}

static void check_row(double speed, double target, double lower, double upper, double v, double r)
{
    one_row(speed, target, lower, upper);
    expected_v = v;
    expected_r = r;
    for_all_solvers(as_expected);
}

TEST(a_motor_reaches_its_target_or_its_bound)
{
    check_row(0, 3, -10, 10, 3, 6);
    check_row(0, 3, -1, 1, 0.5, 1);
    check_row(0, -3, -1, 1, -0.5, -1);
}

TEST(a_limit_holds_and_opens)
{
    check_row(-1, 0, 0, INFINITY, 0, 2);
    check_row(1, 0, 0, INFINITY, 1, 0);
    check_row(1, 0, -INFINITY, 0, 0, -2);
    check_row(-1, 0.25, 0, INFINITY, 0.25, 2.5);
}

TEST(dry_friction_slides_or_sticks)
{
    check_row(1, 0, -0.5, 0.5, 0.75, -0.5);
    check_row(-1, 0, -0.5, 0.5, -0.75, 0.5);
    check_row(1, 0, -3, 3, 0, -2);
}

TEST(an_impulse_may_be_given)
{
    check_row(1, 0, 1.5, 1.5, 1.75, 1.5);
    check_row(1, 0, 1, 2, 1.5, 1); /* y > 0: the lower bound */
}

/* eps = 1/8, u = v - 0 with v = 1 + r/2: 0 = 1 + r/2 + r/8 */
TEST(compliance_gives_way)
{
    one_row(1, 0, -INFINITY, INFINITY);
    x.compliance[0] = 0.125;
    expected_r = -1.6;
    expected_v = 0.2;
    for_all_solvers(as_expected);
    rows_bound(&x, 0, 0, -1, 1);
    expected_r = -1;
    expected_v = 0.5;
    for_all_solvers(as_expected);
}

/* ---- joints --------------------------------------------------------------------------------- */

/* Joint j carries what hangs below: 0.1 m/s times 1000 kg and the links between. */
static void check_chain(const char *solver, cairn_law law)
{
    enum { LINKS = 100 };
    rows_chain(&x, LINKS);
    solve(&x.p, solver, law, 1e-10, &a);
    check_solved(&a, solver, 1e-10);
    for (int j = 0; j < LINKS; j++)
        CHECK_NEAR(a.r[3 * j + 2], 0.1 * (1000 + LINKS - 1 - j), 1e-5);
    for (int i = 0; i < 3 * LINKS; i++)
        CHECK_NEAR(a.u[i], 0, 1e-9);
}

TEST(a_chain_of_a_hundred_links_carries_a_thousandfold_mass)
{
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        check_chain("newton", (cairn_law)law);
        CHECK(a.report.iterations <= 20 + 4); /* 20 sweeps to begin with */
        check_chain("auto", (cairn_law)law);
        CHECK_TEXT(a.report.solver, law == CAIRN_LAW_CONVEX ? "ipm" : "newton");
        check_chain("admm", (cairn_law)law);
    }
    check_chain("ipm", CAIRN_LAW_CONVEX);
    CHECK(a.report.iterations <= 5);
}

/* Sweeps do not get there, and say so. */
TEST(sweeps_stall_on_the_chain)
{
    rows_chain(&x, 100);
    solve(&x.p, "pgs", CAIRN_LAW_CONVEX, 1e-10, &a);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK(a.report.judgement.asked.relative > 1e-3);
}

/* Bars turn with omega about their feet: (2 + 2 (2/4 + 0.2)) omega = 2 * 1, so 1/1.7. */
static void check_four_bar(void)
{
    CHECK_NEAR(a.v[6 * 1], 1 / 1.7, 1e-8);
    CHECK_NEAR(a.v[6 * 0], 0.5 / 1.7, 1e-8);
    CHECK_NEAR(a.v[6 * 2 + 4], 1 / 1.7, 1e-8);
    for (int i = 0; i < 3 * x.p.contacts; i++)
        CHECK_NEAR(a.u[i], 0, 1e-8);
}

TEST(a_four_bar_with_redundant_rows_has_one_velocity)
{
    rows_four_bar(&x);
    for_all_solvers(check_four_bar);
}

/* Every joint twice: half of all rows are redundant. */
TEST(a_joint_given_twice_does_no_harm)
{
    rows_chain(&x, 5);
    for (int i = 0; i < 5; i++) {
        const double top[3] = { 0, 0, 0.5 }, bottom[3] = { 0, 0, -0.5 };
        rows_ball(&x, i, i - 1, top, bottom);
    }
    const char *const solvers[] = { "newton", "ipm", "admm", "auto" };
    for (int k = 0; k < 4; k++) {
        solve(&x.p, solvers[k], CAIRN_LAW_CONVEX, 1e-10, &a);
        check_solved(&a, solvers[k], 1e-10);
        for (int j = 0; j < 5; j++)
            CHECK_NEAR(a.r[3 * j + 2] + a.r[3 * (j + 5) + 2], 0.1 * (1000 + 4 - j), 1e-6);
    }
}

/* ---- springs -------------------------------------------------------------------------------- */

/* Three bodies in a row along x, spring and damper from each to the one before (the first to the
 * world), stretched by `stretch`: as rows, and as M^ v = M v_free - h sum J' k stretch with
 * M^ = M + sum J'(h c + h^2 k) J. */
TEST(springs_are_the_implicit_mass_matrix)
{
    const double h = 0.01, k[3] = { 1e3, 1e6, 1e9 }, c[3] = { 0, 5, 100 };
    const double stretch[3] = { 0.1, -0.02, 1e-3 }, mass[3] = { 1, 2, 3 };
    const double centre[3] = { 0, 0, 0 };
    double M[9] = { 0 }, v[3];
    int pivot[3];
    rows_begin(&x);
    for (int i = 0; i < 3; i++) {
        rows_body(&x, mass[i], 1, 0);
        rows_block(&x, i, i - 1);
        rows_set(&x, i, 0, row_axes[0], centre, centre);
        x.v_free[6 * i] = i - 0.5;
        x.w[3 * i] = k[i] * stretch[i] / (c[i] + h * k[i]);
        x.compliance[3 * i] = 1 / (h * (c[i] + h * k[i]));
        double stiff = h * c[i] + h * h * k[i], push = h * k[i] * stretch[i];
        M[4 * i] += mass[i] + stiff;
        v[i] = mass[i] * (i - 0.5) - push;
        if (i > 0) {
            M[4 * (i - 1)] += stiff;
            M[3 * i + i - 1] = M[3 * (i - 1) + i] = -stiff;
            v[i - 1] += push;
        }
    }
    CHECK(cairn_dense_factor(3, M, pivot));
    cairn_dense_solve(3, M, pivot, v);
    const char *const solvers[] = { "newton", "ipm", "pgs", "admm", "apgd-d" };
    for (int s = 0; s < 5; s++) {
        solve(&x.p, solvers[s], CAIRN_LAW_CONVEX, 1e-11, &a);
        check_solved(&a, solvers[s], 1e-11);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(a.v[6 * i], v[i], 1e-9);
    }
}

/* ---- contacts and rows ---------------------------------------------------------------------- */

/* Exact methods to 1e-10, the others to 1e-8; the convex velocity is the same for all. */
static void check_mixed(const cairn_problem *p, cairn_law law)
{
    CHECK_OK(cairn_problem_check(p, NULL));
    solve(p, "newton", law, 1e-12, &b);
    check_solved(&b, "newton", 1e-12);
    for (int i = 0; cairn_solver_name(i); i++) {
        const char *name = cairn_solver_name(i);
        if (!cairn_solver_accepts(name, law, p))
            continue;
        double tolerance = strcmp(name, "ipm") == 0 ? 1e-10 : 1e-8;
        solve(p, name, law, tolerance, &a);
        check_solved(&a, name, tolerance);
        for (int k = 0; law == CAIRN_LAW_CONVEX && k < p->contacts * p->dimension; k++)
            CHECK_NEAR(a.u[k], b.u[k], 1e-6);
    }
}

TEST(contacts_and_rows_in_both_forms)
{
    static mixed_problem mixed;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            cairn_arena arena = { 0 };
            cairn_problem local;
            cairn_matrix W;
            make_mixed_problem(&mixed, dimension, 40, 7);
            check_mixed(&mixed.random.p, (cairn_law)law);
            CHECK_OK(cairn_delassus_localise(&mixed.random.p, &arena, &W, &local));
            check_mixed(&local, (cairn_law)law);
            cairn_arena_destroy(&arena);
        }
}

/* Joints, motors, limits, springs and contacts together, masses from 0.01 to 100 kg. */
TEST(machines_reach_1e_10)
{
    for (int n = 20; n <= 50; n += 10) {
        rows_machine(&x, n, (uint64_t)n);
        CHECK_OK(cairn_problem_check(&x.p, NULL));
        const char *const solvers[] = { "newton", "auto", "ipm" };
        for (int s = 0; s < 3; s++)
            for (int law = 0; law < (s < 2 ? 2 : 1); law++) {
                solve(&x.p, solvers[s], (cairn_law)law, 1e-10, &a);
                check_solved(&a, solvers[s], 1e-10);
            }
    }
}

/* The convex law on cones with edges. */
TEST(cones_with_edges_and_rows)
{
    static mixed_problem mixed;
    make_mixed_problem(&mixed, 3, 20, 8);
    mixed.random.p.directions = 8;
    solve(&mixed.random.p, "ipm", CAIRN_LAW_CONVEX, 1e-10, &b);
    check_solved(&b, "ipm", 1e-10);
    const char *const solvers[] = { "auto", "apgd-d", "spg", "admm" };
    for (int s = 0; s < 4; s++) {
        solve(&mixed.random.p, solvers[s], CAIRN_LAW_CONVEX, 1e-9, &a);
        check_solved(&a, solvers[s], 1e-9);
        for (int k = 0; k < 60; k++)
            CHECK_NEAR(a.u[k], b.u[k], 1e-6);
    }
}

/* Exact friction on cones with edges, as the scheme lcp has it. */
TEST(lemke_takes_rows_among_cones_with_edges)
{
    static mixed_problem mixed;
    make_mixed_problem(&mixed, 3, 12, 10);
    mixed.random.p.directions = 8;
    const char *const solvers[] = { "lemke", "auto" };
    for (int s = 0; s < 2; s++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            solve(&mixed.random.p, solvers[s], (cairn_law)law, 1e-10, &a);
            check_solved(&a, solvers[s], 1e-10);
        }
}

/* The redundant rows of the four-bar are found out by pivoting; edges let `lemke` accept it. */
TEST(lemke_finds_redundant_rows_out)
{
    rows_four_bar(&x);
    x.p.directions = 4;
    solve(&x.p, "lemke", CAIRN_LAW_COULOMB, 1e-10, &a);
    check_solved(&a, "lemke", 1e-10);
    check_four_bar();
}

/* The outer loops find Coulomb's law, and leave the rows alone. */
TEST(outer_loops_keep_s_zero_on_rows)
{
    static mixed_problem mixed;
    make_mixed_problem(&mixed, 3, 20, 9);
    const cairn_problem *p = &mixed.random.p;
    solve(p, "newton", CAIRN_LAW_COULOMB, 1e-12, &b);
    check_solved(&b, "newton", 1e-12);
    for (int loop = 0; loop < 2; loop++) {
        double s[20] = { 0 };
        cairn_workspace *workspace;
        cairn_solve_options options = cairn_solve_options_default();
        options.solver = "newton";
        options.tolerance = 1e-9;
        memset(&a, 0, sizeof a);
        CHECK_OK(cairn_workspace_create(&workspace));
        const cairn_sliding_loop on = { 0, 200, s, a.r, a.v, a.u };
        CHECK_OK((loop ? cairn_solve_coulomb_newton
                       : cairn_solve_fixed_point)(p, &options, &on, workspace, &a.report));
        cairn_workspace_destroy(workspace);
        CHECK(a.report.converged);
        CHECK(a.report.judgement.coulomb.relative <= 1e-9);
        for (int j = 0; j < 20; j++)
            CHECK(!mixed.bounded[j] || s[j] == 0);
        for (int k = 0; k < 60; k++)
            CHECK_NEAR(a.u[k], b.u[k], 1e-6);
    }
}

/* ---- what cannot be ------------------------------------------------------------------------- */

/* A motor of the world with itself and an equation nothing can satisfy. */
TEST(an_equation_that_cannot_hold_is_reported)
{
    rows_begin(&x);
    rows_body(&x, 2, 1, 0.1);
    rows_block(&x, -1, -1);
    rows_bound(&x, 0, 0, -INFINITY, INFINITY);
    x.w[0] = 1;
    for (int i = 0; cairn_solver_name(i); i++) {
        const char *name = cairn_solver_name(i);
        if (!cairn_solver_accepts(name, CAIRN_LAW_CONVEX, &x.p))
            continue;
        solve(&x.p, name, CAIRN_LAW_CONVEX, 1e-6, &a);
        CHECK_OK(a.status);
        CHECK(!a.report.converged);
        CHECK(isfinite(a.r[0]));
    }
}

/* Where nothing can move, a row with bounds goes to the one its velocity asks for. */
TEST(a_row_that_nothing_moves_goes_to_its_bound)
{
    rows_begin(&x);
    rows_body(&x, 2, 1, 0);
    rows_block(&x, -1, -1);
    rows_bound(&x, 0, 0, -3, 5);
    x.w[0] = 1;
    solve(&x.p, "pgs", CAIRN_LAW_CONVEX, 1e-10, &a);
    check_solved(&a, "pgs", 1e-10);
    CHECK_NEAR(a.r[0], -3, 0);
}

TEST(solvers_without_rows_refuse_them)
{
    rows_chain(&x, 2);
    CHECK(cairn_solver_treats_rows("newton"));
    for (int i = 0; cairn_solver_name(i); i++) {
        const char *name = cairn_solver_name(i);
        if (!cairn_solver_treats_rows(name))
            CHECK(!cairn_solver_accepts(name, CAIRN_LAW_CONVEX, &x.p));
    }
}

/* Fails the n-th allocation for every n. */
TEST(memory_runs_out_cleanly)
{
    const char *const solvers[] = { "newton", "ipm", "admm", "pgs", "auto" };
    rows_four_bar(&x);
    for (int s = 0; s < 5; s++) {
        bool done = false;
        for (long n = 1; !done; n++) {
            meter m = { .fail_at = n };
            meter_install(&m);
            solve(&x.p, solvers[s], CAIRN_LAW_CONVEX, 1e-6, &a);
            cairn_allocator_set(NULL);
            done = m.calls < n;
            CHECK_INT(a.status, done ? CAIRN_OK : CAIRN_NO_MEMORY);
            CHECK_INT(m.alive, 0);
        }
    }
}

GROUP(test_row_problems)
{
    RUN(CASE(a_motor_reaches_its_target_or_its_bound), CASE(a_limit_holds_and_opens),
        CASE(dry_friction_slides_or_sticks), CASE(an_impulse_may_be_given),
        CASE(compliance_gives_way), CASE(a_chain_of_a_hundred_links_carries_a_thousandfold_mass),
        CASE(sweeps_stall_on_the_chain), CASE(a_four_bar_with_redundant_rows_has_one_velocity),
        CASE(a_joint_given_twice_does_no_harm), CASE(springs_are_the_implicit_mass_matrix),
        CASE(contacts_and_rows_in_both_forms), CASE(machines_reach_1e_10),
        CASE(cones_with_edges_and_rows), CASE(lemke_takes_rows_among_cones_with_edges),
        CASE(lemke_finds_redundant_rows_out), CASE(outer_loops_keep_s_zero_on_rows),
        CASE(an_equation_that_cannot_hold_is_reported),
        CASE(a_row_that_nothing_moves_goes_to_its_bound), CASE(solvers_without_rows_refuse_them),
        CASE(memory_runs_out_cleanly));
}
