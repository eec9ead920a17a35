/* test_duality.c - the duality certificate: exact where the answer is known by hand, and a bound
 * that holds against accurate solutions. */
#include "cairn/solve.h"
#include "check.h"
#include "failing_allocator.h"
#include "hard_problems.h"
#include "problem/delassus.h"
#include "random_problem.h"

/* A mass 1 that falls with speed 1 on a floor without friction: r* = 1, v* = 0. */
static hard_problem falling_mass(double mu)
{
    hard_problem h = hard_problem_new(2, 2, 1, 1);
    h.mass_inverse[0] = h.mass_inverse[1] = 1;
    h.v_free[0] = -1;
    h.H[0] = h.H[3] = 1;
    h.block[1] = -1;
    h.mu[0] = mu;
    h.p.contacts = 1;
    return h;
}

TEST(the_solution_has_no_gap)
{
    hard_problem h = falling_mass(0);
    const double r[2] = { 1, 0 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&h.p, r, &found));
    CHECK(found.feasible);
    CHECK_NEAR(found.primal, 0.5, 1e-15);
    CHECK_NEAR(found.dual, 0.5, 1e-15);
    CHECK_NEAR(found.gap, 0, 1e-15);
    CHECK_NEAR(found.error_bound, 0, 1e-15);
    CHECK_NEAR(found.infeasibility, 0, 1e-15);
    hard_problem_free(&h);
}

/* r = 0.9: v = -0.1, d = 0.9 - 0.405 = 0.495, v_f = 0 is the nearest feasible velocity */
TEST(a_tenth_missing_is_seen_as_a_tenth)
{
    hard_problem h = falling_mass(0);
    const double r[2] = { 0.9, 0 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&h.p, r, &found));
    CHECK(found.feasible);
    CHECK_NEAR(found.infeasibility, 0.1, 1e-15);
    CHECK_NEAR(found.primal, 0.5, 1e-14);
    CHECK_NEAR(found.dual, 0.495, 1e-15);
    CHECK_NEAR(found.gap, 0.005, 1e-14);
    CHECK_NEAR(found.error_bound, 0.1, 1e-13); /* and |v - v*| is 0.1 */
    hard_problem_free(&h);
}

/* r = 1.5 bounces: v = 0.5 is feasible itself, p = 1.125, d = 1.5 - 1.125 = 0.375 */
TEST(too_much_impulse_is_seen_by_complementarity)
{
    hard_problem h = falling_mass(0);
    const double r[2] = { 1.5, 0 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&h.p, r, &found));
    CHECK_NEAR(found.infeasibility, 0, 0);
    CHECK_NEAR(found.primal, 1.125, 1e-15);
    CHECK_NEAR(found.dual, 0.375, 1e-15);
    CHECK_NEAR(found.gap, 0.75, 1e-15);
    CHECK_NEAR(found.error_bound, sqrt(1.5), 1e-15); /* |v - v*| is 0.5 */
    hard_problem_free(&h);
}

TEST(impulses_outside_of_the_cone_are_projected_first)
{
    hard_problem h = falling_mass(0);
    const double r[2] = { 1, 7 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&h.p, r, &found));
    CHECK_NEAR(found.gap, 0, 1e-15);
    hard_problem_free(&h);
}

/* velocity of r, and |v - v_reference|_M */
static double distance(const cairn_problem *p, const double *r, const double *reference)
{
    double v[MOST_BLOCKS * 6], u[MOST_CONTACTS * 3], sum = 0;
    cairn_problem_apply(p, r, v, u);
    for (int i = 0; i < p->blocks * p->block_size; i++)
        sum += (v[i] - reference[i]) * (v[i] - reference[i]) / p->mass_inverse[i];
    return sqrt(sum);
}

static void solve_accurately(const cairn_problem *p, double *r, double *v)
{
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    double u[MOST_CONTACTS * 3];
    options.solver = p->directions ? "apgd-asr" : "pgs";
    options.tolerance = 1e-12;
    options.max_iterations = 1000000;
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(p, &options, workspace, r, v, u, &report));
    CHECK(report.converged);
    cairn_workspace_destroy(workspace);
}

/* r off the solution by noise of a given size: the bound holds, and goes to 0 with the noise */
static void check_bound(const cairn_problem *p, uint64_t seed)
{
    double exact[MOST_CONTACTS * 3] = { 0 }, v[MOST_BLOCKS * 6], last = INFINITY;
    solve_accurately(p, exact, v);
    for (double noise = 1; noise > 1e-9; noise *= 1e-2) {
        double r[MOST_CONTACTS * 3];
        uint64_t state = seed;
        cairn_duality found;
        for (int i = 0; i < p->contacts * p->dimension; i++)
            r[i] = exact[i] + noise * cairn_random_normal(&state);
        for (int j = 0; j < p->contacts; j++)
            p->directions ? cairn_cone_project_polygon(p->directions, p->mu[j], r + 3 * j)
                          : cairn_cone_project(p->dimension, p->mu[j], r + j * p->dimension);
        CHECK_OK(cairn_problem_duality(p, r, &found));
        CHECK(found.feasible);
        CHECK(found.primal >= found.dual);
        CHECK_NEAR(found.primal - found.dual, found.gap, 1e-12 * (1 + fabs(found.primal)));
        CHECK(distance(p, r, v) <= found.error_bound);
        CHECK(found.error_bound < last);
        last = found.error_bound;
    }
    CHECK(last < 1e-2);
}

TEST(the_bound_holds_on_random_problems_and_closes)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_problem random;
        make_random_problem(&random, seed % 2 ? 2 : 3, 30, 20, seed);
        check_bound(&random.p, seed);
        if (random.p.dimension == 3) {
            random.p.directions = 8;
            check_bound(&random.p, seed);
        }
    }
}

TEST(both_forms_say_the_same)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    cairn_duality found, found_local;
    double r[45];
    uint64_t state = 3;
    make_random_problem(&random, 3, 20, 15, 22);
    for (int i = 0; i < 45; i++)
        r[i] = 1 + cairn_random_normal(&state);
    CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
    CHECK_OK(cairn_problem_duality(&random.p, r, &found));
    CHECK_OK(cairn_problem_duality(&local, r, &found_local));
    CHECK(found.feasible && found.gap > 0);
    CHECK_CLOSE(found_local.primal, found.primal, 1e-9);
    CHECK_CLOSE(found_local.dual, found.dual, 1e-9);
    CHECK_CLOSE(found_local.gap, found.gap, 1e-9);
    CHECK_CLOSE(found_local.infeasibility, found.infeasibility, 1e-9);
    cairn_arena_destroy(&arena);
}

/* a wall without impulses: all bricks fall with 0.03, and standing still is feasible */
TEST(redundant_contacts_do_not_matter)
{
    hard_problem h = make_wall(5, 1, 0.3);
    double *r = calloc((size_t)h.p.contacts * 3, sizeof(double));
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&h.p, r, &found));
    CHECK(found.feasible);
    CHECK_NEAR(found.infeasibility, 0.03, 1e-15);
    CHECK_NEAR(found.dual, 0, 1e-15);
    CHECK(found.gap >= 25 * 0.5 * 0.03 * 0.03); /* the energy that standing still takes away */
    free(r);
    hard_problem_free(&h);
}

TEST(without_a_feasible_velocity_the_gap_is_infinite)
{
    hard_problem vice = make_vice(0.3);
    const double r[4] = { 0 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&vice.p, r, &found));
    CHECK(!found.feasible);
    CHECK(found.gap == INFINITY && found.primal == INFINITY && found.error_bound == INFINITY);
    CHECK_NEAR(found.infeasibility, 1, 1e-15);
    CHECK_NEAR(found.dual, 0, 0);
    hard_problem_free(&vice);
}

/* the corner at s = 0: v = 0 is feasible, but no velocity opens both contacts */
TEST(a_corner_without_room_is_said_to_have_none)
{
    hard_problem bead = make_bead(M_PI / 6, 1);
    const double r[4] = { 0 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&bead.p, r, &found));
    CHECK(!found.feasible);
    CHECK_NEAR(found.infeasibility, 1 - tan(M_PI / 6), 1e-12);
    hard_problem_free(&bead);
}

/* a contact between nothing cannot be mended, but harms only when it is violated */
TEST(a_contact_between_nothing)
{
    hard_problem h = falling_mass(0.5);
    const double r[2] = { 0 };
    cairn_duality found;
    h.block[0] = -1;
    h.b[0] = 0.5;
    CHECK_OK(cairn_problem_duality(&h.p, r, &found));
    CHECK(found.feasible && found.gap == 0);
    h.b[0] = -0.5;
    CHECK_OK(cairn_problem_duality(&h.p, r, &found));
    CHECK(!found.feasible);
    CHECK_NEAR(found.infeasibility, 0.5, 0);
    hard_problem_free(&h);
}

TEST(an_empty_problem_has_no_gap)
{
    const double mass_inverse[3] = { 1, 1, 1 }, v_free[3] = { 1, 2, 3 };
    cairn_problem p = {
        .dimension = 2, .block_size = 3, .blocks = 1, .mass_inverse = mass_inverse, .v_free = v_free
    };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&p, NULL, &found));
    CHECK(found.feasible && found.gap == 0 && found.primal == 0);
}

TEST(not_a_number_is_an_error)
{
    hard_problem h = falling_mass(0.5);
    const double r[2] = { NAN, 0 };
    cairn_duality found;
    CHECK_INT(cairn_problem_duality(&h.p, r, &found), CAIRN_NOT_FINITE);
    hard_problem_free(&h);
}

TEST(no_memory_is_an_error_and_nothing_leaks)
{
    random_problem random;
    double r[45] = { 0 };
    cairn_duality found;
    cairn_status status = CAIRN_NO_MEMORY;
    make_random_problem(&random, 3, 20, 15, 22);
    for (long n = 1; status == CAIRN_NO_MEMORY; n++) {
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_problem_duality(&random.p, r, &found);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK(n < 100);
    }
    CHECK_OK(status);
}

/* A body of 2 kg that an equation stops: r = 2 leaves nothing, r = 1.5 leaves 1/4 m/s. */
TEST(with_equations_the_gap_is_infinite_and_says_by_how_much_they_fail)
{
    const double mass_inverse[1] = { 0.5 }, v_free[1] = { -1 }, H[4] = { 1, 0, 0, 0 },
                 mu[1] = { 0 };
    const double lower[2] = { -INFINITY, 0 }, upper[2] = { INFINITY, 0 };
    const uint8_t bounded[1] = { 1 };
    const int32_t block[2] = { 0, -1 };
    const cairn_problem p = { .dimension = 2,
                              .block_size = 1,
                              .blocks = 1,
                              .contacts = 1,
                              .mass_inverse = mass_inverse,
                              .v_free = v_free,
                              .block = block,
                              .H = H,
                              .mu = mu,
                              .bounded = bounded,
                              .lower = lower,
                              .upper = upper };
    const double r[2] = { 1.5, 0 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&p, r, &found));
    CHECK(!found.feasible);
    CHECK(found.gap == INFINITY);
    CHECK_NEAR(found.infeasibility, 0.25, 1e-15);
}

int main(void)
{
    RUN(CASE(the_solution_has_no_gap), CASE(a_tenth_missing_is_seen_as_a_tenth),
        CASE(too_much_impulse_is_seen_by_complementarity),
        CASE(impulses_outside_of_the_cone_are_projected_first),
        CASE(the_bound_holds_on_random_problems_and_closes), CASE(both_forms_say_the_same),
        CASE(redundant_contacts_do_not_matter),
        CASE(without_a_feasible_velocity_the_gap_is_infinite),
        CASE(a_corner_without_room_is_said_to_have_none), CASE(a_contact_between_nothing),
        CASE(with_equations_the_gap_is_infinite_and_says_by_how_much_they_fail),
        CASE(an_empty_problem_has_no_gap), CASE(not_a_number_is_an_error),
        CASE(no_memory_is_an_error_and_nothing_leaks));
}
