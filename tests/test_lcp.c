/* test_lcp.c - the complementarity problem says the same as the one-step problem. */
#include "problem/lcp.h"

#include "check.h"
#include "random_problem.h"
#include "reproduce/classic_problems.h"

enum { MOST = 6 * 10 };

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
    double odd[MOST], even[MOST], mean[MOST], violation;
    make_table(&legs, 8);
    CHECK_OK(cairn_problem_check(&legs.p, NULL));
    CHECK_OK(cairn_lcp_create(&legs.p, CAIRN_LAW_COULOMB, &arena, &lcp));
    CHECK_INT(lcp.size, MOST);
    load_legs(0, 0.05 * 9.81 / 3, 10, even);
    load_legs(1, 0.05 * 9.81 / 3, 10, odd);
    for (int i = 0; i < MOST; i++)
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
    double z[MOST], r[18], v[6], u[18];
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

int main(void)
{
    RUN(CASE(coulomb_matrix_by_hand), CASE(convex_matrix_by_hand), CASE(elastic_rows_by_hand),
        CASE(rows_are_velocities_along_the_edges), CASE(impulses_are_split_into_edges_and_back),
        CASE(six_leg_table_has_two_solutions_and_their_mean_is_none),
        CASE(both_solutions_of_the_table_satisfy_coulomb_for_the_judge),
        CASE(circular_cones_in_3d_are_not_polyhedral));
}
