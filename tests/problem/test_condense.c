/* test_condense.c - problems in other forms: condensed, as a minimum, as complementarity. */
#include "base/common.h"
#include "cairn/global.h"
#include "cairn/solve.h"
#include "math/factor.h"
#include "problem/forms.h"
#include "studies/classic_problems.h"
#include "tests/check.h"
#include "tests/problems/hard_problems.h"
#include "tests/problems/random_problem.h"

/* ==== test_duality: the duality certificate: exact where the answer is known by hand, and a bound
 * that holds against accurate solutions. */

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
    hard_problem cornered = make_hard_bead(M_PI / 6, 1);
    const double r[4] = { 0 };
    cairn_duality found;
    CHECK_OK(cairn_problem_duality(&cornered.p, r, &found));
    CHECK(!found.feasible);
    CHECK_NEAR(found.infeasibility, 1 - tan(M_PI / 6), 1e-12);
    hard_problem_free(&cornered);
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

GROUP(test_duality)
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

/* ==== test_lcp: the complementarity problem says the same as the one-step problem ============= */

enum { MOST_ROWS = 6 * 10 };

static double w_of(const cairn_lcp *lcp, const double *z, int i)
{
    double sum = lcp->a[i];
    for (int j = 0; j < lcp->size; j++)
        sum += lcp->A[i * lcp->size + j] * z[j];
    return sum;
}

/* One contact of mass 2 falling at 3 m/s and sliding at 1 m/s, mu = 0.5, b = 0.25, in 2D. */
static void make_slider(random_problem *out)
{
    make_random_problem(out, 2, 1, 1, 1);
    const double H[6] = { 1, 0, 0, 0, 1, 0 };
    memcpy(out->H, H, sizeof H);
    out->block[1] = -1;
    out->mass_inverse[0] = out->mass_inverse[1] = 0.5;
    out->v_free[0] = -3;
    out->v_free[1] = 1;
    out->w[0] = out->w[1] = 0;
    out->b[0] = 0.25;
    out->mu[0] = 0.5;
}

TEST(coulomb_matrix_by_hand)
{
    /* unknowns c_n, beta(+t), beta(-t), lambda; W = 1/2 */
    static const double A[16] = { 0.5, 0,    0,   0, /**/ 0,   0.5, -0.5, 1, /**/
                                  0,   -0.5, 0.5, 1, /**/ 0.5, -1,  -1,   0 };
    static const double a[4] = { -2.75, 1, -1, 0 };
    random_problem slider;
    cairn_arena arena = { 0 };
    cairn_lcp lcp;
    make_slider(&slider);
    CHECK_INT(cairn_lcp_unknowns(&slider.p, CAIRN_LAW_COULOMB), 4);
    CHECK_OK(cairn_lcp_create(&slider.p, CAIRN_LAW_COULOMB, &arena, &lcp));
    CHECK_INT(lcp.size, 4);
    for (int i = 0; i < 16; i++)
        CHECK_NEAR(lcp.A[i], A[i], 1e-15);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(lcp.a[i], a[i], 1e-15);
    cairn_arena_destroy(&arena);
}

TEST(convex_matrix_by_hand)
{
    /* edges (1, 1/2) and (1, -1/2): A = (1 + 1/4, 1 - 1/4; ...)/2, a = -2.75 +- 1/2 */
    static const double A[4] = { 0.625, 0.375, 0.375, 0.625 }, a[2] = { -2.25, -3.25 };
    random_problem slider;
    cairn_arena arena = { 0 };
    cairn_lcp lcp;
    const double s[1] = { 2 };
    make_slider(&slider);
    CHECK_OK(cairn_lcp_create(&slider.p, CAIRN_LAW_CONVEX, &arena, &lcp));
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(lcp.A[i], A[i], 1e-15);
    for (int i = 0; i < 2; i++)
        CHECK_NEAR(lcp.a[i], a[i], 1e-15);
    slider.p.s = s; /* mu s = 1 is added to the convex law's rows, not to Coulomb's */
    CHECK_OK(cairn_lcp_create(&slider.p, CAIRN_LAW_CONVEX, &arena, &lcp));
    CHECK_NEAR(lcp.a[0], a[0] + 1, 1e-15);
    CHECK_OK(cairn_lcp_create(&slider.p, CAIRN_LAW_COULOMB, &arena, &lcp));
    CHECK_NEAR(lcp.a[0], -2.75, 1e-15);
    cairn_arena_destroy(&arena);
}

TEST(elastic_rows_by_hand)
{
    random_problem slider;
    cairn_arena arena = { 0 };
    cairn_lcp lcp;
    make_slider(&slider);
    CHECK_OK(cairn_lcp_create_elastic(&slider.p, 7, &arena, &lcp));
    static const double A[9] = { 0.625, 0.375, 1, 0.375, 0.625, 1, -1, -1, 0 };
    CHECK_INT(lcp.size, 3);
    for (int i = 0; i < 9; i++)
        CHECK_NEAR(lcp.A[i], A[i], 1e-15);
    CHECK_NEAR(lcp.a[2], 7, 0);
    cairn_arena_destroy(&arena);
}

/* rows of the LCP are the products of u with the generators, for any z */
TEST(rows_are_velocities_along_the_edges)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_lcp lcp;
    double z[6 * 6], w[6 * 6], r[18], v[36], u[18];
    uint64_t state = 3;
    make_random_problem(&random, 3, 6, 6, 4);
    random.p.directions = 6;
    CHECK_OK(cairn_lcp_create(&random.p, CAIRN_LAW_CONVEX, &arena, &lcp));
    CHECK_INT(lcp.size, 36);
    for (int i = 0; i < 36; i++)
        z[i] = cairn_random_uniform(&state);
    cairn_lcp_impulses(&random.p, CAIRN_LAW_CONVEX, z, r);
    cairn_problem_apply(&random.p, r, v, u);
    cairn_lcp_slacks(&random.p, u, w);
    for (int j = 0; j < 6; j++)
        for (int k = 0; k < 6; k++) {
            double angle = 2 * M_PI * k / 6, mu = random.mu[j];
            double along = u[3 * j] + random.b[j] +
                           mu * (cos(angle) * u[3 * j + 1] + sin(angle) * u[3 * j + 2]);
            CHECK_NEAR(w_of(&lcp, z, 6 * j + k), along, 1e-12);
            CHECK_NEAR(w[6 * j + k], along, 1e-12);
        }
    cairn_arena_destroy(&arena);
}

TEST(impulses_are_split_into_edges_and_back)
{
    for (int directions = 0; directions <= 8; directions += 4) {
        random_problem random;
        double r[30], back[30], z[80];
        uint64_t state = 5;
        int d = directions ? 3 : 2;
        make_random_problem(&random, d, 10, 10, 6);
        random.p.directions = directions;
        random.mu[3] = 0;
        for (int j = 0; j < 10; j++) {
            double *own = r + d * j;
            for (int i = 0; i < d; i++)
                own[i] = cairn_random_normal(&state) + (i == 0);
            if (directions)
                cairn_cone_project_polygon(directions, random.mu[j], own);
            else
                cairn_cone_project(2, random.mu[j], own);
        }
        cairn_lcp_edges(&random.p, r, z);
        for (int i = 0; i < 10 * (directions ? directions : 2); i++)
            CHECK(z[i] >= 0);
        cairn_lcp_impulses(&random.p, CAIRN_LAW_CONVEX, z, back);
        for (int i = 0; i < d * 10; i++)
            CHECK_NEAR(back[i], r[i], 1e-14);
    }
}

/* ---- the table with six legs [A05]: the solutions of the LCP are no convex set --------------- */

/* c_n on every other leg, lambda = 1 on those that carry nothing */
static void load_legs(int parity, double load, int per, double *z)
{
    memset(z, 0, (size_t)per * 6 * sizeof(double));
    for (int j = 0; j < 6; j++)
        z[per * j + (j % 2 == parity ? 0 : per - 1)] = j % 2 == parity ? load : 1;
}

/* z.w, and the largest violation of z, w >= 0 */
static double gap(const cairn_lcp *lcp, const double *z, double *violation)
{
    double sum = 0;
    *violation = 0;
    for (int i = 0; i < lcp->size; i++) {
        double w = w_of(lcp, z, i);
        sum += z[i] * w;
        *violation = fmax(*violation, fmax(-z[i], -w));
    }
    return sum;
}

TEST(six_leg_table_has_two_solutions_and_their_mean_is_none)
{
    table legs;
    cairn_arena arena = { 0 };
    cairn_lcp lcp;
    double odd[MOST_ROWS], even[MOST_ROWS], mean[MOST_ROWS], violation;
    make_table(&legs, 8);
    CHECK_OK(cairn_problem_check(&legs.p, NULL));
    CHECK_OK(cairn_lcp_create(&legs.p, CAIRN_LAW_COULOMB, &arena, &lcp));
    CHECK_INT(lcp.size, MOST_ROWS);
    load_legs(0, 0.05 * 9.81 / 3, 10, even);
    load_legs(1, 0.05 * 9.81 / 3, 10, odd);
    for (int i = 0; i < MOST_ROWS; i++)
        mean[i] = 0.5 * (even[i] + odd[i]);
    CHECK_NEAR(gap(&lcp, even, &violation), 0, 1e-12);
    CHECK_NEAR(violation, 0, 1e-12);
    CHECK_NEAR(gap(&lcp, odd, &violation), 0, 1e-12);
    CHECK_NEAR(violation, 0, 1e-12);
    /* feasible, but z.w = 6 mu (h m g/6)/2 */
    CHECK_NEAR(gap(&lcp, mean, &violation), 0.122625, 1e-12);
    CHECK_NEAR(violation, 0, 1e-12);
    cairn_arena_destroy(&arena);
}

TEST(both_solutions_of_the_table_satisfy_coulomb_for_the_judge)
{
    table legs;
    double z[MOST_ROWS], r[18], v[6], u[18];
    make_table(&legs, 8);
    for (int parity = 0; parity < 2; parity++) {
        cairn_judgement judgement;
        load_legs(parity, 0.05 * 9.81 / 3, 10, z);
        cairn_lcp_impulses(&legs.p, CAIRN_LAW_COULOMB, z, r);
        cairn_judge(&legs.p, CAIRN_LAW_COULOMB, r, v, u, &judgement);
        CHECK_NEAR(judgement.asked.relative, 0, 1e-14);
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(v[i], 0, 1e-15);
    }
}

TEST(circular_cones_in_3d_are_not_polyhedral)
{
    random_problem random;
    make_random_problem(&random, 3, 2, 2, 1);
    CHECK(!cairn_lcp_possible(&random.p));
    random.p.directions = 4;
    CHECK(cairn_lcp_possible(&random.p));
    make_random_problem(&random, 2, 2, 2, 1);
    CHECK(cairn_lcp_possible(&random.p));
}

GROUP(test_lcp)
{
    RUN(CASE(coulomb_matrix_by_hand), CASE(convex_matrix_by_hand), CASE(elastic_rows_by_hand),
        CASE(rows_are_velocities_along_the_edges), CASE(impulses_are_split_into_edges_and_back),
        CASE(six_leg_table_has_two_solutions_and_their_mean_is_none),
        CASE(both_solutions_of_the_table_satisfy_coulomb_for_the_judge),
        CASE(circular_cones_in_3d_are_not_polyhedral));
}

/* ==== test_condense: W = H' M^-1 H and q = H' M^-1 f + w against sums written out ============= */

enum { MOST = 60 };

/* A global problem with dense M and H of some random zeros. */
typedef struct full {
    int n, d, contacts;
    double M[MOST][MOST], H[MOST][MOST], f[MOST], w[MOST], mu[MOST];
    cairn_arena arena;
    cairn_global g;
} full;

static cairn_matrix gather(full *p, int columns, const double (*a)[MOST])
{
    int32_t row[MOST * MOST], column[MOST * MOST];
    double value[MOST * MOST];
    cairn_triplets e = { 0, row, column, value };
    cairn_matrix out;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < columns; j++)
            if (a[i][j] != 0) {
                row[e.count] = i;
                column[e.count] = j;
                value[e.count++] = a[i][j];
            }
    CHECK_OK(cairn_sparse_gather(p->n, columns, &e, &p->arena, &out));
    return out;
}

static void pose(full *p)
{
    p->g = (cairn_global){ .dimension = p->d,
                           .contacts = p->contacts,
                           .M = gather(p, p->n, (const double(*)[MOST])p->M),
                           .H = gather(p, p->d * p->contacts, (const double(*)[MOST])p->H),
                           .f = p->f,
                           .w = p->w,
                           .mu = p->mu };
}

/* M connects degrees of freedom of the same block of `block`; `skew` makes it unsymmetric. */
static void make(full *p, int n, int block, int d, double skew)
{
    uint64_t state = 11;
    memset(p, 0, sizeof *p);
    *p = (full){ .n = n, .d = d, .contacts = 6 };
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            if (i / block == j / block)
                p->M[i][j] = i == j ? 2 + block : 1.0 / (1 + abs(i - j)) + (i < j ? skew : 0);
        for (int a = 0; a < d * p->contacts; a++)
            if (cairn_random_uniform(&state) < 0.2)
                p->H[i][a] = cairn_random_normal(&state);
        p->f[i] = cairn_random_normal(&state);
    }
    for (int a = 0; a < d * p->contacts; a++)
        p->w[a] = cairn_random_normal(&state);
    for (int j = 0; j < p->contacts; j++)
        p->mu[j] = 0.1 * j;
    pose(p);
}

/* x = M^-1 b by Gauss without pivots. */
static void solve_dense(const full *p, const double *b, double *x)
{
    double A[MOST][MOST];
    memcpy(A, p->M, sizeof A);
    memcpy(x, b, sizeof(double) * (size_t)p->n);
    for (int k = 0; k < p->n; k++)
        for (int i = k + 1; i < p->n; i++) {
            double ratio = A[i][k] / A[k][k];
            for (int j = k; j < p->n; j++)
                A[i][j] -= ratio * A[k][j];
            x[i] -= ratio * x[k];
        }
    for (int i = p->n - 1; i >= 0; i--) {
        for (int j = i + 1; j < p->n; j++)
            x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
}

static double column_product(const full *p, int a, const double *x)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++)
        sum += p->H[i][a] * x[i];
    return sum;
}

/* Every entry of W and q, and the velocity of some impulses. */
static void check_condensed(full *p)
{
    cairn_condensed *c;
    int size = p->d * p->contacts;
    double x[MOST], b[MOST], v[MOST], r[MOST];
    CHECK_OK(cairn_condense(&p->g, &c, NULL));
    const cairn_problem *local = cairn_condensed_problem(c);
    CHECK_OK(cairn_problem_check(local, NULL));
    for (int k = 0; k < size; k++) {
        for (int i = 0; i < p->n; i++)
            b[i] = p->H[i][k];
        solve_dense(p, b, x);
        for (int a = 0; a < size; a++)
            CHECK_NEAR(cairn_sparse_entry(local->W, a, k), column_product(p, a, x), 1e-13);
    }
    solve_dense(p, p->f, x);
    for (int a = 0; a < size; a++) {
        CHECK_NEAR(local->q[a], column_product(p, a, x) + p->w[a], 1e-13);
        r[a] = a - 3.5;
    }
    for (int i = 0; i < p->n; i++) {
        b[i] = p->f[i];
        for (int a = 0; a < size; a++)
            b[i] += p->H[i][a] * r[a];
    }
    solve_dense(p, b, x);
    CHECK_OK(cairn_condensed_velocity(c, r, v));
    for (int i = 0; i < p->n; i++)
        CHECK_NEAR(v[i], x[i], 1e-12);
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p->arena);
}

static full p;

TEST(every_structure_of_M_gives_the_same_as_the_dense_formula)
{
    const int blocks[] = { 1, 3, 6, 20, 60 };
    for (int k = 0; k < 5; k++)
        for (int d = 2; d <= 3; d++) {
            make(&p, 60, blocks[k], d, 0);
            check_condensed(&p);
        }
}

TEST(an_unsymmetric_M_is_taken_as_it_is)
{
    make(&p, 60, 60, 3, 1e-3);
    check_condensed(&p);
    make(&p, 60, 6, 3, 0.1);
    check_condensed(&p);
}

TEST(a_symmetric_M_gives_a_W_symmetric_to_the_last_bit)
{
    cairn_condensed *c;
    make(&p, 60, 6, 3, 0);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    const cairn_matrix *W = cairn_condensed_problem(c)->W;
    for (int a = 0; a < 18; a++)
        for (int b = 0; b < 18; b++)
            CHECK(cairn_sparse_entry(W, a, b) == cairn_sparse_entry(W, b, a));
    CHECK(cairn_condensed_asymmetry(c) == 0);
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p.arena);
}

TEST(contacts_without_common_bodies_are_not_coupled)
{
    /* two bodies of one degree of freedom, a contact on each */
    cairn_condensed *c;
    memset(&p, 0, sizeof p);
    p = (full){ .n = 2, .d = 2, .contacts = 2 };
    p.M[0][0] = 2;
    p.M[1][1] = 4;
    p.H[0][0] = 1;
    p.H[1][2] = 3;
    p.f[0] = 8;
    pose(&p);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    const cairn_problem *local = cairn_condensed_problem(c);
    CHECK_INT(local->W->start[4], 2);
    CHECK(cairn_sparse_entry(local->W, 0, 0) == 0.5);
    CHECK(cairn_sparse_entry(local->W, 2, 2) == 2.25);
    CHECK(local->q[0] == 4 && local->q[2] == 0);
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p.arena);
}

/* A joint between parts of a mesh is rows of the condensed problem, bounds and all. */
TEST(rows_with_bounds_come_along)
{
    const uint8_t bounded[6] = { 0, 1, 0, 0, 0, 0 };
    double lower[18] = { 0 }, upper[18] = { 0 }, compliance[18] = { 0 };
    cairn_condensed *condensed;
    cairn_error error = { 0 };
    make(&p, 12, 4, 3, 0);
    pose(&p);
    p.g.bounded = bounded;
    CHECK_INT(cairn_condense(&p.g, &condensed, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "lower");
    p.g.lower = lower;
    p.g.upper = upper;
    p.g.compliance = compliance;
    CHECK_OK(cairn_condense(&p.g, &condensed, &error));
    const cairn_problem *found = cairn_condensed_problem(condensed);
    CHECK(found->bounded == bounded && found->lower == lower && found->upper == upper);
    CHECK(found->compliance == compliance);
    cairn_condensed_destroy(condensed);
    cairn_arena_destroy(&p.arena);
}

TEST(no_contacts_and_nothing_at_all_are_problems_too)
{
    cairn_condensed *c;
    double v[2];
    memset(&p, 0, sizeof p);
    p = (full){ .n = 2, .d = 3 };
    p.M[0][0] = p.M[1][1] = 2;
    p.f[1] = 6;
    pose(&p);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    CHECK_INT(cairn_condensed_problem(c)->contacts, 0);
    CHECK_OK(cairn_condensed_velocity(c, NULL, v));
    CHECK(v[0] == 0 && v[1] == 3);
    cairn_condensed_destroy(c);
    p.n = 0;
    pose(&p);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p.arena);
}

TEST(what_does_not_fit_is_refused)
{
    cairn_condensed *c;
    cairn_error error;
    make(&p, 12, 3, 3, 0);
    p.g.dimension = 4;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    p.g.dimension = 2;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "found 12 x 18, expected 12 x 12");
    p.g.dimension = 3;
    p.g.M.rows = 9;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    p.g.M.rows = 12;
    p.f[4] = INFINITY;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_NOT_FINITE);
    CHECK_CONTAINS(error.message, "entry 4 of f");
    p.f[4] = 0;
    p.mu[2] = -1;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "mu");
    CHECK(c == NULL);
    cairn_arena_destroy(&p.arena);
}

TEST(no_memory_at_any_place_is_reported_and_nothing_leaks)
{
    int failures = 0;
    make(&p, 60, 60, 3, 1e-3);
    for (long n = 1; n < 200; n++) {
        meter m = { .fail_at = n };
        cairn_condensed *c = NULL;
        meter_install(&m);
        cairn_status status = cairn_condense(&p.g, &c, NULL);
        cairn_condensed_destroy(c);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        failures += status != CAIRN_OK;
    }
    CHECK(failures >= 5 && failures < 199);
    cairn_arena_destroy(&p.arena);
}

GROUP(test_condense)
{
    RUN(CASE(every_structure_of_M_gives_the_same_as_the_dense_formula),
        CASE(an_unsymmetric_M_is_taken_as_it_is),
        CASE(a_symmetric_M_gives_a_W_symmetric_to_the_last_bit),
        CASE(contacts_without_common_bodies_are_not_coupled), CASE(rows_with_bounds_come_along),
        CASE(no_contacts_and_nothing_at_all_are_problems_too), CASE(what_does_not_fit_is_refused),
        CASE(no_memory_at_any_place_is_reported_and_nothing_leaks));
}
