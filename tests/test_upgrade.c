/* test_upgrade.c - exact friction at some contacts, the convex law at the others. */
#include "cairn/cairn.h"
#include "check.h"

/* Two balls of mass 1 (J = 2/5, radius 1) on a plane, apart from each other, pressed with 1 m/s and
 * sliding with 1 and 3 m/s; W = diag(1, 3.5, 3.5) for each, mu = 0.1. With n = (1 + mu |u|)/(1 +
 * 3.5 mu^2) the convex law gives r_N = (1 + 0.1)/1.035 = 1.06280 and (1 + 0.3)/1.035 = 1.25604, and
 * |u_T| = 1 - 0.35 r_N = 0.62802 and 3 - 0.35 r_N = 2.56039; Coulomb's r_N = 1 and 0.65, 2.65. */
static const double mass[12] = { 1, 1, 1, 2.5, 2.5, 2.5, 1, 1, 1, 2.5, 2.5, 2.5 };
static const double v_free[12] = { 1, 0, -1, 0, 0, 0, 3, 0, -1, 0, 0, 0 };
static const int32_t block[4] = { 0, -1, 1, -1 };
static const double mu[2] = { 0.1, 0.1 };

typedef struct answer {
    uint8_t exact[2];
    double s[2], r[6], u[6];
    int count;
    cairn_solve_report report;
} answer;

static void solve(double allowed, int64_t most, answer *a)
{
    const double rows[18] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, -1, 0, 0 };
    double H[72] = { 0 }, v[12];
    memcpy(H, rows, sizeof rows);
    memcpy(H + 36, rows, sizeof rows);
    cairn_problem p = { .dimension = 3,
                        .block_size = 6,
                        .blocks = 2,
                        .contacts = 2,
                        .mass_inverse = mass,
                        .v_free = v_free,
                        .block = block,
                        .H = H,
                        .mu = mu };
    cairn_solve_options options = cairn_solve_options_default();
    cairn_upgrade upgrade = { .allowed = allowed,
                              .exact = a->exact,
                              .loop = { 0, most, a->s, a->r, v, a->u } };
    cairn_workspace *workspace;
    options.solver = "pgs";
    options.tolerance = 1e-12;
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve_upgrade(&p, &options, &upgrade, workspace, &a->report));
    a->count = upgrade.count;
    cairn_workspace_destroy(workspace);
}

/* Both glide by less than 0.3 m/s: one solve, the convex answer. */
TEST(nothing_is_upgraded_where_all_is_allowed)
{
    answer a = { 0 };
    solve(0.3, 100, &a);
    CHECK(a.report.converged);
    CHECK_INT(a.count, 0);
    CHECK_INT(a.report.outer_iterations, 1);
    CHECK_NEAR(a.r[0], 1.1 / 1.035, 1e-11);
    CHECK_NEAR(a.r[3], 1.3 / 1.035, 1e-11);
}

/* 0.1 * 2.56 > 0.2 > 0.1 * 0.63: the second ball obeys Coulomb's law, the first stays convex. */
TEST(only_what_glides_too_much_is_upgraded)
{
    answer a = { 0 };
    solve(0.2, 100, &a);
    CHECK(a.report.converged);
    CHECK_INT(a.count, 1);
    CHECK(!a.exact[0] && a.exact[1]);
    CHECK_NEAR(a.r[0], 1.1 / 1.035, 1e-11);
    CHECK_NEAR(a.r[3], 1, 1e-11);
    CHECK_NEAR(a.s[0], 0, 0);
    CHECK_NEAR(a.s[1], 2.65, 1e-10);
    CHECK(a.report.judgement.asked.relative <= 1e-12);
    CHECK(a.report.judgement.coulomb.relative > 0.01); /* of the first ball */
}

TEST(with_nothing_allowed_it_is_coulombs_law)
{
    answer a = { 0 };
    solve(0, 100, &a);
    CHECK_INT(a.count, 2);
    CHECK_NEAR(a.r[0], 1, 1e-11);
    CHECK_NEAR(a.r[3], 1, 1e-11);
    CHECK(a.report.judgement.coulomb.relative <= 1e-11);
}

/* What comes in upgraded stays so. */
TEST(the_set_only_grows)
{
    answer a = { .exact = { 1, 0 } };
    solve(0.2, 100, &a);
    CHECK_INT(a.count, 2);
}

TEST(too_few_outer_iterations_are_reported)
{
    answer a = { 0 };
    solve(0.2, 2, &a);
    CHECK(!a.report.converged);
    CHECK_INT(a.report.outer_iterations, 2);
}

int main(void)
{
    RUN(CASE(nothing_is_upgraded_where_all_is_allowed), CASE(only_what_glides_too_much_is_upgraded),
        CASE(with_nothing_allowed_it_is_coulombs_law), CASE(the_set_only_grows),
        CASE(too_few_outer_iterations_are_reported));
}
