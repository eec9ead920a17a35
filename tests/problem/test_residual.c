/* test_residual.c - the judge, contact by contact and in lanes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "cairn/cairn.h"
#include "problem/cone.h"
#include "problem/judge.h"
#include "problem/operator.h"
#include "tests/check.h"
#include "tests/problems/random_problem.h"

/* ==== test_residual: the judge, with numbers done by hand ===================================== */

/* One ball of mass 2 on a plane in 2D, radius 1, J = 1: W = diag(1/2, 1/2 + 1). */
static const double mass_inverse[3] = { 0.5, 0.5, 1 };
static const double H[12] = { 0, 1, 0, 1, 0, 1 };
static const int32_t block[2] = { 0, -1 };

static cairn_problem one_contact(const double *v_free, const double *b, const double *mu)
{
    return (cairn_problem){ .dimension = 2,
                            .block_size = 3,
                            .blocks = 1,
                            .contacts = 1,
                            .mass_inverse = mass_inverse,
                            .v_free = v_free,
                            .block = block,
                            .H = H,
                            .b = b,
                            .mu = mu };
}

static cairn_judgement judge(const cairn_problem *p, cairn_law law, double rn, double rt)
{
    double r[2] = { rn, rt }, v[3], u[2];
    cairn_judgement judgement;
    cairn_judge(p, law, r, v, u, &judgement);
    return judgement;
}

TEST(sticking_contact_has_no_residual)
{
    const double v_free[3] = { 0.15, -1, 0 }, mu[1] = { 0.3 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    cairn_judgement j = judge(&p, CAIRN_LAW_CONVEX, 2, -0.1); /* -W^-1 q = (2, -0.1) */
    CHECK_NEAR(j.asked.worst, 0, 1e-15);
    CHECK(j.asked.relative == 0 && j.coulomb.relative == 0);
    CHECK(j.cone_violation == 0);
}

/* no impulse: w = 1, e = |P_K(-q)|; q = (-1, 0) lies on the axis, so e = 1 and relative 1 */
TEST(doing_nothing_has_residual_one)
{
    const double v_free[3] = { 0, -1, 0 }, mu[1] = { 0.3 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    cairn_judgement j = judge(&p, CAIRN_LAW_CONVEX, 0, 0);
    CHECK_NEAR(j.asked.worst, 1, 1e-15);
    CHECK_NEAR(j.asked.relative, 1, 1e-15);
    CHECK_NEAR(j.asked.fclib, 1, 1e-15);
    CHECK_INT(j.asked.worst_contact, 0);
}

/* The example of docs/notation.md: the first contact closes, the second slides outside K* while its
 * bodies part. Without impulses, mu = 1/2:
 *     convex:  e = |P_K(3, -4)| = |(4, -2)| = sqrt(20) and |P_K(-0.1, -1)| = 0.32 sqrt(1.25),
 *              over the root of 5^2 and the square of the latter
 *     Coulomb: e = |e_N| = 3 and 0, over 5 */
TEST(the_norm_of_the_convex_law_is_that_of_the_manual)
{
    const int64_t start[] = { 0, 1, 2, 3, 4, 5, 6 };
    const int32_t column[] = { 0, 1, 2, 3, 4, 5 };
    const double ones[] = { 1, 1, 1, 1, 1, 1 }, q[] = { -3, 4, 0, 0.1, 1, 0 }, mu[] = { 0.5, 0.5 };
    const double r[6] = { 0 }, part2 = 0.32 * 0.32 * 1.25;
    cairn_matrix W = { 6, 6, start, column, ones };
    cairn_problem p = { .dimension = 3, .contacts = 2, .W = &W, .q = q, .mu = mu };
    double u[6];
    cairn_judgement j;
    cairn_judge(&p, CAIRN_LAW_CONVEX, r, NULL, u, &j);
    CHECK_NEAR(j.asked.relative, sqrt((20 + part2) / (25 + part2)), 1e-15);
    CHECK_NEAR(j.asked.relative, 0.895, 5e-4);
    CHECK_NEAR(j.asked.worst, sqrt(20), 1e-15);
    CHECK_NEAR(j.coulomb.relative, 0.6, 1e-15);
    CHECK_NEAR(j.coulomb.worst, 3, 1e-15);
}

/* One contact closes at 1 m/s and slides, the other, of another group, closes at 1 cm/s, 1 % of
 * which is left. Without friction: e = 1e-4 m/s there, whatever the first one does. */
TEST(with_scales_an_error_is_related_to_its_own_contact)
{
    const int64_t start[] = { 0, 1, 2, 3, 4 };
    const int32_t column[] = { 0, 1, 2, 3 };
    const double ones[] = { 1, 1, 1, 1 }, mu[] = { 0, 0 }, r[] = { 1, 0, 0.0099, 0 };
    const double scale[] = { 1, 0.01 }, slides[] = { 0, 50 };
    cairn_matrix W = { 4, 4, start, column, ones };
    for (int k = 0; k < 2; k++) {
        const double q[] = { -1, slides[k], -0.01, 0 };
        cairn_problem p = { .dimension = 2, .contacts = 2, .W = &W, .q = q, .mu = mu };
        cairn_judgement j;
        double u[4];
        p.scale = p.most = scale;
        cairn_judge(&p, CAIRN_LAW_COULOMB, r, NULL, u, &j);
        CHECK_NEAR(j.asked.worst, 1e-4, 1e-15);
        CHECK_INT(j.asked.worst_contact, 1);
        CHECK_NEAR(j.asked.relative, 0.01 / (10 - 9 * 0.01), 1e-12);
        CHECK_NEAR(j.asked.whole, 1e-4 / sqrt(1 + 1e-4 + slides[k] * slides[k]), 1e-12);
        CHECK_NEAR(cairn_residual_share(j.asked.relative), 0.01, 1e-12);
    }
    CHECK_NEAR(cairn_residual_share(1), 1, 0);
    CHECK_NEAR(cairn_residual_share(3), 3, 0);
    CHECK_NEAR(cairn_residual_share(1e-3), 1e-2 / 1.009, 1e-16);
}

/* half the impulse needed, by itself: e = 1/2 and q = (-1, 0) as above */
TEST(one_contact_can_be_judged_alone)
{
    const double v_free[3] = { 0, -1, 0 }, mu[1] = { 0.3 }, r[2] = { 1, 0 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    double v[3], u[2];
    cairn_problem_velocity(&p, r, v);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        const cairn_judging judging = { .p = &p, .r = r, .v = v, .u = u };
        cairn_judged one = cairn_judge_one(&judging, (cairn_law)law, 0);
        CHECK_NEAR(one.e2, 0.25, 1e-15);
        CHECK_NEAR(one.q2, 1, 1e-15);
        CHECK_NEAR(u[0], -0.5, 1e-15);
    }
}

/* half the impulse needed: u = (-1/2, 0), r - u/w = 1 + 1/2, e = 1/2 */
TEST(half_the_impulse_has_half_the_residual)
{
    const double v_free[3] = { 0, -1, 0 }, mu[1] = { 0.3 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    CHECK_NEAR(judge(&p, CAIRN_LAW_CONVEX, 1, 0).asked.relative, 0.5, 1e-15);
}

/* sliding: Coulomb's answer is (2, -0.2 * 2); the convex one pushes harder */
TEST(each_law_accepts_its_own_answer_and_not_the_other)
{
    const double v_free[3] = { 10, -1, 0 }, mu[1] = { 0.2 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    double convex = (1 + 0.2 * 10) / (0.5 + 0.04 * 1.5);
    cairn_judgement exact = judge(&p, CAIRN_LAW_COULOMB, 2, -0.4);
    cairn_judgement relaxed = judge(&p, CAIRN_LAW_CONVEX, convex, -0.2 * convex);
    CHECK_NEAR(exact.coulomb.worst, 0, 1e-14);
    CHECK_NEAR(relaxed.asked.worst, 0, 1e-14);
    CHECK(relaxed.coulomb.relative > 0.1);
    CHECK(judge(&p, CAIRN_LAW_CONVEX, 2, -0.4).asked.relative > 0.1);
}

/* an open candidate far away changes nothing: gap/h does not flatter the measure */
TEST(open_candidates_do_not_count)
{
    const double v_free[6] = { 0, -1, 0, 0, -1, 0 }, b[2] = { 0, 1000 }, mu[2] = { 0.3, 0.3 };
    const double two_H[24] = { 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1 };
    const double two_mass[6] = { 0.5, 0.5, 1, 0.5, 0.5, 1 };
    const int32_t two_block[4] = { 0, -1, 1, -1 };
    cairn_problem p = one_contact(v_free, b, mu);
    double r[4] = { 1, 0, 0, 0 }, v[6], u[4];
    cairn_judgement judgement;
    p.blocks = p.contacts = 2;
    p.H = two_H;
    p.mass_inverse = two_mass;
    p.block = two_block;
    cairn_judge(&p, CAIRN_LAW_CONVEX, r, v, u, &judgement);
    CHECK_NEAR(judgement.asked.relative, 0.5, 1e-15);
    CHECK(judgement.asked.fclib < 1e-3); /* the literature's measure is flattered */
}

TEST(impulses_outside_the_cone_are_seen)
{
    const double v_free[3] = { 0, -1, 0 }, mu[1] = { 1 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    CHECK_NEAR(judge(&p, CAIRN_LAW_CONVEX, 0, 1).cone_violation, sqrt(0.5), 1e-15);
}

TEST(not_a_number_is_never_small)
{
    const double v_free[3] = { NAN, -1, 0 }, mu[1] = { 1 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    cairn_judgement j = judge(&p, CAIRN_LAW_CONVEX, 2, 0);
    CHECK(!(j.asked.relative <= 1));
    CHECK(!(j.coulomb.relative <= 1));
}

/* ---- conditions, each by itself ---------------------------------------------------------------
 * W = diag(1/2, 3/2) and w = 1 as above, mu = 1000: the natural map alone shows each of these errors
 * as a thousandth of what it is, or as a half at most. */

/* u = (-1, 1/2), no impulse: the bodies approach at 1 m/s; natural map: 1e-3 */
TEST(a_speed_of_approach_is_not_divided_by_friction)
{
    const double v_free[3] = { 0.5, -1, 0 }, mu[1] = { 1000 }, s[1] = { 0.5 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    cairn_judgement exact = judge(&p, CAIRN_LAW_COULOMB, 0, 0);
    CHECK_NEAR(exact.coulomb.worst, 1, 1e-15);
    CHECK_NEAR(exact.coulomb.relative, 1 / sqrt(1.25), 1e-15);
    p.s = s; /* the convex law with s = |u_T| is Coulomb's */
    CHECK_NEAR(judge(&p, CAIRN_LAW_CONVEX, 0, 0).asked.worst, 1, 1e-12);
}

/* r = (1, -1000) on the edge of the cone, u = (1, 1/2): it pushes and opens; natural map: 1e-3 */
TEST(a_contact_that_pushes_must_not_open_whatever_the_friction)
{
    const double v_free[3] = { 1500.5, 0.5, 0 }, mu[1] = { 1000 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    CHECK_NEAR(judge(&p, CAIRN_LAW_COULOMB, 1, -1000).coulomb.worst, 1, 1e-12);
}

/* r = (1, -1100) leaves the cone by 100 N s, u = 0; natural map: 0.1 */
TEST(an_impulse_outside_the_cone_is_not_divided_by_friction)
{
    const double v_free[3] = { 1650, -0.5, 0 }, mu[1] = { 1000 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        CHECK_NEAR(judge(&p, (cairn_law)law, 1, -1100).asked.worst, 100, 1e-12);
}

/* r = (1, -500), half of the friction there is, sliding at 10 m/s; natural map: 0.5 */
TEST(friction_that_lets_slide_is_not_divided_by_friction)
{
    const double v_free[3] = { 760, -0.5, 0 }, mu[1] = { 1000 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    CHECK_NEAR(judge(&p, CAIRN_LAW_COULOMB, 1, -500).coulomb.worst, 10, 1e-12);
}

/* A mass of 1 kg in space, W = 1, u = 0. Of the cone with 8 edges 1000 cos(pi/8) is allowed towards
 * the middle of a face, and r has 990 there. */
TEST(an_impulse_outside_a_cone_with_edges_is_not_divided_by_friction)
{
    const double r_T = 990, a = M_PI / 8, inverse[3] = { 1, 1, 1 }, mu[1] = { 1000 };
    const double r[3] = { 1, r_T * cos(a), r_T * sin(a) }, v_free[3] = { -1, -r[1], -r[2] };
    const double eye[18] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double v[3], u[3];
    cairn_problem p = { .dimension = 3,
                        .directions = 8,
                        .block_size = 3,
                        .blocks = 1,
                        .contacts = 1,
                        .mass_inverse = inverse,
                        .v_free = v_free,
                        .block = block,
                        .H = eye,
                        .mu = mu };
    cairn_judgement j;
    cairn_judge(&p, CAIRN_LAW_CONVEX, r, v, u, &j);
    CHECK_NEAR(j.asked.worst, r_T - 1000 * cos(a), 1e-9);
    p.directions = 0; /* within the circle nothing is wrong */
    cairn_judge(&p, CAIRN_LAW_CONVEX, r, v, u, &j);
    CHECK_NEAR(j.asked.worst, 0, 1e-9);
}

/* 1e155 squared is more than any number: nothing is known of it then, least of all that it is 0. */
TEST(sums_that_overflow_are_never_small)
{
    const double v_free[3] = { 0, -1, 0 }, mu[1] = { 0.3 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        cairn_judgement j = judge(&p, (cairn_law)law, 1e155, 0);
        CHECK(isinf(j.asked.relative) && isinf(j.asked.fclib) && isinf(j.coulomb.relative));
    }
}

/* The ball flies away, nothing closes: what is left of an impulse by rounding is no error. */
TEST(an_impulse_of_rounding_at_an_open_contact_counts_as_none)
{
    const double v_free[3] = { 0.15, 1, 0 }, mu[1] = { 0.3 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    cairn_judgement j = judge(&p, CAIRN_LAW_COULOMB, 1e-36, 0);
    CHECK(j.asked.relative == 0 && j.coulomb.relative == 0);
    j = judge(&p, CAIRN_LAW_COULOMB, 1e-6, 0); /* this is one: there is nothing to divide by */
    CHECK(j.asked.relative == DBL_MAX);
}

/* The ball is wedged between a floor and a ceiling that push with R against each other: q = (-1, 0)
 * and (1, 0), w = 1. With 2 + 2d + R below, u_N = d and -d: e = d over S = 0.01, and the rounding
 * of R, 2 eps R/0.01, count; the norm over both contacts is sqrt(2) d. */
TEST(the_rounding_of_impulses_is_related_to_what_the_error_of_a_contact_is)
{
    const double v_free[3] = { 0, -1, 0 }, mu[2] = { 0, 0 }, R = 1 << 20, share = 1e-4;
    const double both[24] = { 0, 1, 0, 1, 0, 1, [12] = 0, -1, 0, -1, 0, 1 };
    const double scale[2] = { 0.01, 0.01 };
    const int32_t blocks[4] = { 0, -1, 0, -1 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    p.contacts = 2;
    p.H = both;
    p.block = blocks;
    p.scale = p.most = scale;
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        double r[4] = { 2 + R, 0, R, 0 }, v[3], u[4];
        cairn_judgement j;
        cairn_judge(&p, (cairn_law)law, r, v, u, &j);
        CHECK_NEAR(j.asked.relative, 2 * DBL_EPSILON * R / 0.01 / 10, 1e-12);
        r[0] += 2 * 0.01 * share;
        cairn_judge(&p, (cairn_law)law, r, v, u, &j);
        CHECK_NEAR(j.asked.relative, share / (10 - 9 * share), 1e-8);
        CHECK_NEAR(j.asked.whole, sqrt(2) * 0.01 * share, 1e-8);
    }
}

/* The ball rolls along the floor at 1000 m/s: u_T is lost in rounding by some 1e-13 m/s, and so is
 * u_N = -1e-13. Nothing else closes, so that S is as small: the quotient would say nothing. */
TEST(an_error_within_the_rounding_of_its_own_terms_has_no_share)
{
    const double v_free[3] = { 1000, -1e-13, -1000 }, mu[1] = { 0 }, scale[1] = { 1e-16 };
    const double b[2][2] = { { 0, 0 }, { 1e-13 - 1e-9, 0 } };
    double r[4] = { 0 }, v[6], u[4];
    cairn_problem p = one_contact(v_free, b[0], mu);
    p.scale = p.most = scale;
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        const cairn_judging judge = { .p = &p, .r = r, .v = v, .u = u };
        p.b = b[0];
        cairn_problem_velocity(&p, r, v);
        CHECK(cairn_judge_one(&judge, (cairn_law)law, 0).relative == 0);
        p.b = b[1]; /* this is no rounding */
        CHECK_CLOSE(cairn_judge_one(&judge, (cairn_law)law, 0).relative, 1e-9 / 1e-16, 1e-3);
    }
}

/* Two balls of different groups. The first rolls at 1 m/s and closes by 20 roundings, and nothing
 * else there closes, so that S is as small. The second keeps 1e-7 m/s of 1 m/s. What is rounding at
 * the first one does not depend on the second. */
TEST(what_is_rounding_at_a_contact_does_not_depend_on_others)
{
    enum { CONTACTS = 2 * CAIRN_JUDGED }; /* also side by side */
    static double both[12 * CONTACTS], mass[3 * CONTACTS], v_free[3 * CONTACTS], mu[CONTACTS];
    static double scale[CONTACTS], r[2 * CONTACTS], v[3 * CONTACTS], u[2 * CONTACTS];
    static int32_t blocks[2 * CONTACTS];
    cairn_problem p = one_contact(v_free, NULL, mu);
    for (int j = 0; j < CONTACTS; j++) {
        bool rolls = j % 2 == 0;
        memcpy(both + 12 * j, H, sizeof H);
        memcpy(mass + 3 * j, mass_inverse, sizeof mass_inverse);
        v_free[3 * j] = rolls ? 1 : 0;
        v_free[3 * j + 1] = rolls ? -20 * DBL_EPSILON : -1;
        v_free[3 * j + 2] = rolls ? -1 : 0;
        r[2 * j] = rolls ? 0 : 2 * (1 - 1e-7);
        scale[j] = rolls ? 1e-16 : 1;
        blocks[2 * j] = j;
        blocks[2 * j + 1] = -1;
    }
    p.H = both;
    p.mass_inverse = mass;
    p.block = blocks;
    p.scale = p.most = scale;
    for (int contacts = 1; contacts <= CONTACTS; contacts++) {
        cairn_judgement j;
        p.blocks = p.contacts = contacts;
        cairn_judge(&p, CAIRN_LAW_COULOMB, r, v, u, &j);
        CHECK_NEAR(j.asked.relative, contacts == 1 ? 0 : 1e-8, 1e-14);
    }
}

/* W = diag(1/2, 3/2), v_free = (0, -2, 0), so q = (-2, 0): an equation and a motor of 1 N s that
 * wants 3 m/s. r = (3, 1): y = (-1/2, 3/2 - 3); e = (1/2, 0), closing (2, w |P(3/w)| = 3/2). */
TEST(rows_are_judged_row_by_row)
{
    const double v_free[3] = { 0, -2, 0 }, mu[1] = { 0 }, b[1] = { 100 }, w[2] = { 0, -3 };
    const uint8_t bounded[1] = { 1 };
    const double lower[2] = { -INFINITY, -1 }, upper[2] = { INFINITY, 1 };
    cairn_problem p = one_contact(v_free, b, mu);
    p.w = w;
    p.bounded = bounded;
    p.lower = lower;
    p.upper = upper;
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        cairn_judgement found = judge(&p, (cairn_law)law, 3, 1);
        CHECK_NEAR(found.asked.worst, 0.5, 1e-15);
        CHECK_NEAR(found.asked.relative, 0.5 / 2.5, 1e-15);
        CHECK_NEAR(found.cone_violation, 0, 0);
        found = judge(&p, (cairn_law)law, 4, 1);
        CHECK_NEAR(found.asked.relative, 0, 0);
        found = judge(&p, (cairn_law)law, 4, 1.25);
        CHECK_NEAR(found.cone_violation, 0.25, 1e-15);
        CHECK_NEAR(found.asked.worst, 1.5 * 0.25, 1e-15);
    }
}

/* The same equation with eps = 1/2: 0 = -2 + r/2 + r/2. */
TEST(compliance_counts_in_the_residual)
{
    const double v_free[3] = { 0, -2, 0 }, mu[1] = { 0 }, eps[2] = { 0.5, 0 };
    const uint8_t bounded[1] = { 1 };
    const double lower[2] = { -INFINITY, 0 }, upper[2] = { INFINITY, 0 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    p.bounded = bounded;
    p.lower = lower;
    p.upper = upper;
    p.compliance = eps;
    CHECK_NEAR(judge(&p, CAIRN_LAW_CONVEX, 2, 0).asked.relative, 0, 0);
    CHECK_NEAR(judge(&p, CAIRN_LAW_CONVEX, 1, 0).asked.relative, 0.5, 1e-15);
}

/* 12,500 contacts are judged in 13 parts: an impulse that nothing asks for is found in the 7th. */
TEST(many_contacts_are_judged_in_parts_with_the_same_bits_on_threads)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_judgement said[2];
    CHECK(make_lattice_problem(16, 0.3, &arena, &l));
    CHECK(l.p.contacts > 11000);
    double *r = cairn_arena_doubles(&arena, 3 * (size_t)l.p.contacts);
    double *u = cairn_arena_doubles(&arena, 3 * (size_t)l.p.contacts);
    double *v = cairn_arena_doubles(&arena, 6 * (size_t)l.p.blocks);
    r[3 * 7000] = 5;
    memset(said, 0, sizeof said);
    for (int k = 0; k < 2; k++) {
        cairn_parallel_threads(k ? 3 : 1);
        cairn_judge(&l.p, CAIRN_LAW_CONVEX, r, v, u, &said[k]);
    }
    cairn_parallel_threads(1);
    CHECK_INT(said[0].asked.worst_contact, 7000);
    CHECK(said[0].asked.relative > 0.1);
    CHECK(memcmp(&said[0], &said[1], sizeof said[0]) == 0);
    cairn_arena_destroy(&arena);
}

static void check_same_residual(const cairn_residual *a, const cairn_residual *b)
{
    CHECK_NEAR(a->worst, b->worst, 1e-13);
    CHECK_NEAR(a->relative, b->relative, 1e-12);
    CHECK_NEAR(a->fclib, b->fclib, 1e-12);
    CHECK_INT(a->worst_contact, b->worst_contact);
}

/* Rows or normals: one verdict, whatever r is - nothing, a guess, or outside its cone. */
TEST(contacts_of_balls_are_judged_like_their_rows)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(6, 0.3, &arena, &l));
    cairn_problem forms[2] = { lattice_of_balls(&l), lattice_of_balls(&l) };
    double *r = cairn_arena_doubles(&arena, 3 * (size_t)l.p.contacts);
    double *u = cairn_arena_doubles(&arena, 3 * (size_t)l.p.contacts);
    double *v = cairn_arena_doubles(&arena, 6 * (size_t)l.p.blocks);
    double *s = cairn_arena_doubles(&arena, (size_t)l.p.contacts);
    for (int k = 0; k < 8; k++) {
        cairn_judgement stored, compact;
        for (int i = 0; i < 3 * l.p.contacts && k % 4; i++)
            r[i] = i % 3 == 0 ? 0.2 * (1 + sin(i)) * (i % 5 > 0) : 0.02 * k * cos(i);
        for (int j = 0; j < l.p.contacts; j++)
            s[j] = 0.1 * (j % 3);
        l.p.s = forms[0].s = forms[1].s = k % 2 ? s : NULL;
        if (k == 4)
            forms[1] = lattice_of_both(&l);
        cairn_judge(&l.p, CAIRN_LAW_CONVEX, r, v, u, &stored);
        cairn_judge(&forms[k / 4], CAIRN_LAW_CONVEX, r, v, u, &compact);
        check_same_residual(&compact.asked, &stored.asked);
        check_same_residual(&compact.coulomb, &stored.coulomb);
        CHECK_NEAR(compact.cone_violation, stored.cone_violation, 1e-14);
    }
    cairn_arena_destroy(&arena);
}

GROUP(test_residual)
{
    RUN(CASE(sticking_contact_has_no_residual), CASE(doing_nothing_has_residual_one),
        CASE(the_norm_of_the_convex_law_is_that_of_the_manual),
        CASE(with_scales_an_error_is_related_to_its_own_contact),
        CASE(one_contact_can_be_judged_alone), CASE(half_the_impulse_has_half_the_residual),
        CASE(each_law_accepts_its_own_answer_and_not_the_other), CASE(open_candidates_do_not_count),
        CASE(impulses_outside_the_cone_are_seen), CASE(not_a_number_is_never_small),
        CASE(a_speed_of_approach_is_not_divided_by_friction),
        CASE(a_contact_that_pushes_must_not_open_whatever_the_friction),
        CASE(an_impulse_outside_the_cone_is_not_divided_by_friction),
        CASE(friction_that_lets_slide_is_not_divided_by_friction),
        CASE(an_impulse_outside_a_cone_with_edges_is_not_divided_by_friction),
        CASE(sums_that_overflow_are_never_small),
        CASE(an_impulse_of_rounding_at_an_open_contact_counts_as_none),
        CASE(the_rounding_of_impulses_is_related_to_what_the_error_of_a_contact_is),
        CASE(an_error_within_the_rounding_of_its_own_terms_has_no_share),
        CASE(what_is_rounding_at_a_contact_does_not_depend_on_others),
        CASE(rows_are_judged_row_by_row), CASE(compliance_counts_in_the_residual),
        CASE(many_contacts_are_judged_in_parts_with_the_same_bits_on_threads),
        CASE(contacts_of_balls_are_judged_like_their_rows));
}

/* ==== test_judge_balls: contacts judged side by side: the same bits for every width, and to
 * rounding what they come to one by one. */

/* 325 contacts of 125 balls with impulses of all kinds: none, inside, outside and beyond the cone. */
static cairn_problem sample(cairn_arena *arena, lattice_problem *l, double **r)
{
    CHECK(make_lattice_problem(5, 0.3, arena, l));
    *r = cairn_arena_doubles(arena, 3 * (size_t)l->p.contacts);
    for (int i = 0; i < 3 * l->p.contacts; i++) {
        (*r)[i] = i / 3 % 4 ? (i % 3 ? 0.3 : 1) * cos(i) : 0;
        l->w[i] = 0.01 * sin(i);
    }
    for (int j = 0; j < l->p.contacts; j++)
        l->mu[j] = j % 5 == 0 || j < 5 * CAIRN_JUDGED ? 0 : l->mu[j]; /* also in whole groups */
    double *scale = cairn_arena_doubles(arena, (size_t)l->p.contacts);
    for (int j = 0; j < l->p.contacts; j++)
        scale[j] = 1 + 0.5 * sin(j);
    l->p.scale = l->p.most = scale;
    return lattice_of_balls(l);
}

static cairn_judging judged(const cairn_problem *p, const double *r, int width, cairn_arena *arena)
{
    double *v = cairn_arena_doubles(arena, 6 * (size_t)p->blocks);
    double *u = cairn_arena_doubles(arena, 3 * (size_t)p->contacts);
    cairn_problem_apply(p, r, v, u);
    cairn_judging judge = { .p = p, .r = r, .v = v, .u = u, .measures = true };
    judge.convex.worst_contact = judge.coulomb.worst_contact = -1;
    int stop = cairn_judge_balls((cairn_width)width, &judge, 0, p->contacts);
    CHECK_INT(stop, p->contacts - p->contacts % CAIRN_JUDGED);
    return judge;
}

TEST(all_widths_give_the_same_bits)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r;
    cairn_problem p = sample(&arena, &l, &r);
    cairn_judging one = judged(&p, r, 0, &arena);
    CHECK(one.convex.e2 > 0 && one.cone_violation > 0 && one.norms.convex2 > 0);
    for (int width = 1; width <= (int)cairn_width_best(); width++) {
        cairn_judging other = judged(&p, r, width, &arena);
        CHECK(memcmp(&one.norms, &other.norms, sizeof one.norms) == 0);
        CHECK(memcmp(&one.convex, &other.convex, sizeof one.convex) == 0);
        CHECK(memcmp(&one.coulomb, &other.coulomb, sizeof one.coulomb) == 0);
        CHECK(one.r2 == other.r2 && one.u2 == other.u2 && one.terms2 == other.terms2);
        CHECK(one.drowned2 == other.drowned2 && one.cone_violation == other.cone_violation);
        CHECK(memcmp(one.u, other.u, 3 * (size_t)p.contacts * sizeof(double)) == 0);
    }
    cairn_arena_destroy(&arena);
}

/* Impulses that leave no velocity are larger than the rounding of u: the largest w |r_j|, over what
 * the error of j is related to, here max(S_j, min(w |r_j|, S_j)) = S_j. */
TEST(the_largest_burden_is_found_in_every_width)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r, largest = 0;
    cairn_problem p = sample(&arena, &l, &r);
    double *v = cairn_arena_doubles(&arena, 6 * (size_t)p.blocks);
    double *u = cairn_arena_doubles(&arena, 3 * (size_t)p.contacts);
    p.b = NULL;
    for (int j = 0; j < p.contacts - p.contacts % CAIRN_JUDGED; j++) {
        double length =
            sqrt(r[3 * j] * r[3 * j] + r[3 * j + 1] * r[3 * j + 1] + r[3 * j + 2] * r[3 * j + 2]);
        largest = fmax(largest, cairn_contact_inverse_mass(&p, j) * length / p.scale[j]);
    }
    CHECK(largest > 0);
    for (int width = 0; width <= (int)cairn_width_best(); width++) {
        cairn_judging judge = { .p = &p, .r = r, .v = v, .u = u };
        cairn_judge_balls((cairn_width)width, &judge, 0, p.contacts);
        CHECK_CLOSE(judge.burden, largest, 1e-12);
    }
    cairn_arena_destroy(&arena);
}

/* Groups without friction are judged by fewer operations; a friction that is lost in rounding takes
 * the others. */
TEST(without_friction_both_laws_are_one_and_give_the_bits_of_hardly_any)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r;
    cairn_problem p = sample(&arena, &l, &r);
    cairn_judging of[2];
    for (int k = 0; k < 2; k++) {
        for (int j = 0; j < p.contacts; j++)
            l.mu[j] = k ? 1e-300 : 0;
        of[k] = judged(&p, r, (int)cairn_width_best(), &arena);
        CHECK(memcmp(&of[k].convex, &of[k].coulomb, sizeof of[k].convex) == 0);
    }
    CHECK(of[0].convex.e2 > 0 && of[0].cone_violation > 0);
    CHECK(memcmp(&of[0].convex, &of[1].convex, sizeof of[0].convex) == 0);
    CHECK(memcmp(&of[0].norms, &of[1].norms, sizeof of[0].norms) == 0);
    CHECK(of[0].u2 == of[1].u2 && of[0].terms2 == of[1].terms2 && of[0].r2 == of[1].r2);
    CHECK(of[0].drowned2 == of[1].drowned2 && of[0].cone_violation == of[1].cone_violation);
    cairn_arena_destroy(&arena);
}

/* What is not a number is never taken for good. */
TEST(not_a_number_is_told_without_friction_too)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r;
    cairn_problem p = sample(&arena, &l, &r);
    CHECK(p.block[0] >= 0 && p.mu[0] == 0);
    l.v_free[6 * p.block[0]] = NAN;
    cairn_judging one = judged(&p, r, (int)cairn_width_best(), &arena);
    CHECK(isnan(one.convex.e2) && isnan(one.coulomb.e2));
    cairn_arena_destroy(&arena);
}

/* The contact problem of balls by their normals, and by rows that are stored: to rounding the same. */
TEST(rows_are_judged_as_balls_are)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r;
    cairn_problem balls = sample(&arena, &l, &r);
    stand_lattice_upright(&l);
    cairn_judging one = judged(&balls, r, 0, &arena);
    for (int width = 0; width <= (int)cairn_width_best(); width++) {
        cairn_judging rows = one;
        rows.p = &l.p;
        rows.convex = rows.coulomb = (cairn_law_sums){ .worst_contact = -1 };
        rows.r2 = rows.u2 = rows.drowned2 = rows.cone_violation = 0;
        rows.norms = (cairn_norms){ 0 };
        cairn_judge_rows((cairn_width)width, &rows, 0, l.p.contacts);
        CHECK_NEAR(rows.convex.e2, one.convex.e2, 1e-12 * one.convex.e2);
        CHECK_NEAR(rows.coulomb.e2, one.coulomb.e2, 1e-12 * one.coulomb.e2);
        CHECK_NEAR(rows.coulomb.fclib2, one.coulomb.fclib2, 1e-12 * one.coulomb.fclib2);
        CHECK_NEAR(rows.u2, one.u2, 1e-12 * one.u2);
        CHECK_NEAR(rows.drowned2, one.drowned2, 1e-12 * one.drowned2);
        CHECK_NEAR(rows.norms.convex2, one.norms.convex2, 1e-12 * one.norms.convex2);
        CHECK_NEAR(rows.norms.coulomb2, one.norms.coulomb2, 1e-12 * one.norms.coulomb2);
        CHECK_INT(rows.convex.worst_contact, one.convex.worst_contact);
        CHECK_NEAR(rows.cone_violation, one.cone_violation, 0);
    }
    cairn_arena_destroy(&arena);
}

/* 13 disks on a floor, pressed by impulses of all kinds; 8 of them are judged side by side. */
enum { DISKS = 13 };

typedef struct disks {
    cairn_problem p;
    double mass_inverse[3 * DISKS], v_free[3 * DISKS], H[12 * DISKS], mu[DISKS], b[DISKS];
    double r[2 * DISKS], v[3 * DISKS], u[2 * DISKS];
    int32_t block[2 * DISKS];
} disks;

static void fill_disks(disks *d)
{
    *d = (disks){ 0 };
    for (int j = 0; j < DISKS; j++) {
        const double rows[6] = {
            0, 1, 0, -1, 0, 0.5
        }; /* normal up, tangent to the left, radius 1/2 */
        memcpy(d->H + 12 * j, rows, sizeof rows);
        d->block[2 * j] = j;
        d->block[2 * j + 1] = -1;
        d->mu[j] = j % 3 ? 0.3 : 0;
        d->b[j] = 0.01 * (j % 2);
        for (int c = 0; c < 3; c++) {
            d->mass_inverse[3 * j + c] = c < 2 ? 1 : 8;
            d->v_free[3 * j + c] = sin(3 * j + c);
        }
        d->r[2 * j] = j % 4 ? cos(j) : 0;
        d->r[2 * j + 1] = j % 4 ? 0.2 * sin(5 * j) : 0;
    }
    d->p = (cairn_problem){ .dimension = 2,
                            .block_size = 3,
                            .blocks = DISKS,
                            .contacts = DISKS,
                            .mass_inverse = d->mass_inverse,
                            .v_free = d->v_free,
                            .block = d->block,
                            .H = d->H,
                            .b = d->b,
                            .mu = d->mu };
}

/* e = w |r - P(r - u/w)| by hand, w = (1 + 1 + 8/4)/2: v = v_free + M^-1 H'r. */
static double error_by_hand(const disks *d, int j, cairn_law law)
{
    const double *v = d->v_free + 3 * j, *r = d->r + 2 * j;
    double w = 2, u = v[1] + r[0] + d->b[j], t = -v[0] + r[1] + 0.5 * (v[2] + 8 * 0.5 * r[1]);
    double x[2] = { r[0] - u / w, r[1] - t / w };
    if (law == CAIRN_LAW_COULOMB)
        x[0] -= d->mu[j] * fabs(t) / w;
    cairn_cone_project(2, d->mu[j], x);
    return w * hypot(x[0] - r[0], x[1] - r[1]);
}

TEST(contacts_in_2d_are_judged_side_by_side)
{
    disks d;
    fill_disks(&d);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        cairn_judgement judgement;
        double worst = 0;
        int where = -1;
        cairn_judge(&d.p, (cairn_law)law, d.r, d.v, d.u, &judgement);
        for (int j = 0; j < DISKS; j++) {
            double e = error_by_hand(&d, j, (cairn_law)law);
            where = e > worst ? j : where;
            worst = fmax(worst, e);
        }
        CHECK_NEAR(judgement.asked.worst, worst, 1e-14);
        CHECK_INT(judgement.asked.worst_contact, where);
    }
    for (int j = 0; j < DISKS; j++)
        CHECK_NEAR(d.u[2 * j], d.v_free[3 * j + 1] + d.r[2 * j], 1e-15);
}

/* Seven at a time is too few for a group: these are judged one by one. */
static void check_group(const lattice_problem *l, const double *r, int first)
{
    cairn_problem p = lattice_of_balls(l);
    double v[6 * 125], u[3 * CAIRN_JUDGED];
    cairn_judgement whole, part;
    double e2 = 0, worst = 0;
    p.block += 2 * first;
    p.normal += first;
    p.tangent += first;
    p.w += 3 * first;
    p.b += first;
    p.mu += first;
    p.contacts = CAIRN_JUDGED;
    cairn_judge(&p, CAIRN_LAW_CONVEX, r, v, u, &whole);
    cairn_problem_apply(&p, r, v, u);
    for (int j = 0; j < CAIRN_JUDGED; j++) {
        cairn_problem single = p;
        double own_v[6 * 125], own_u[3];
        single.block += 2 * j;
        single.normal += j;
        single.tangent += j;
        single.w += 3 * j;
        single.b += j;
        single.mu += j;
        single.contacts = 1;
        /* the others act through v_free */
        double zero[3 * CAIRN_JUDGED] = { 0 }, free_v[6 * 125];
        memcpy(zero, r, sizeof zero);
        memset(zero + 3 * j, 0, 3 * sizeof(double));
        cairn_problem_apply(&p, zero, free_v, u);
        single.v_free = free_v;
        cairn_judge(&single, CAIRN_LAW_CONVEX, r + 3 * j, own_v, own_u, &part);
        e2 += part.asked.worst * part.asked.worst;
        worst = fmax(worst, part.asked.worst);
    }
    CHECK_NEAR(whole.asked.worst, worst, 1e-13);
    CHECK(e2 > 0 && whole.asked.relative > 0);
}

TEST(a_group_is_as_bad_as_its_worst_contact_alone)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r;
    sample(&arena, &l, &r);
    for (int first = 0; first + CAIRN_JUDGED <= 64; first += CAIRN_JUDGED)
        check_group(&l, r + 3 * first, first);
    cairn_arena_destroy(&arena);
}

/* At mu = 1000 the conditions of contacts stand out, each by itself, not the natural map. */
TEST(conditions_are_judged_side_by_side_as_one_by_one)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r;
    cairn_problem p = sample(&arena, &l, &r);
    for (int j = 0; j < p.contacts; j++)
        l.mu[j] = 1000;
    for (int i = 0; i < 3 * p.contacts; i++) /* on, in and outside their cones */
        r[i] *= i % 3 ? 100 : 1;
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        double e2 = 0, q2 = 0, *v = cairn_arena_doubles(&arena, 6 * (size_t)p.blocks);
        double *u = cairn_arena_doubles(&arena, 3 * (size_t)p.contacts);
        cairn_judgement said;
        cairn_judge(&p, (cairn_law)law, r, v, u, &said);
        const cairn_judging judge = { .p = &p, .r = r, .v = v, .u = u };
        for (int j = 0; j < p.contacts; j++) {
            cairn_judged one = cairn_judge_one(&judge, (cairn_law)law, j);
            e2 += one.e2;
            q2 += one.q2;
        }
        CHECK_NEAR(said.asked.whole, sqrt(e2 / q2), 1e-11 * sqrt(e2 / q2));
    }
    cairn_arena_destroy(&arena);
}

/* What was found out about a problem once is not looked for again, and gives the same verdict. */
TEST(a_second_judgement_needs_no_norms)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    double *r;
    cairn_problem p = sample(&arena, &l, &r);
    double *v = cairn_arena_doubles(&arena, 6 * (size_t)p.blocks);
    double *u = cairn_arena_doubles(&arena, 3 * (size_t)p.contacts);
    cairn_norms norms = { 0 };
    cairn_judgement first, second;
    cairn_judge_again(&p, CAIRN_LAW_COULOMB, r, v, u, &norms, &first);
    CHECK(norms.known && norms.coulomb2 > 0);
    cairn_judge_again(&p, CAIRN_LAW_COULOMB, r, v, u, &norms, &second);
    CHECK(first.asked.relative == second.asked.relative && first.asked.relative > 0);
    CHECK(first.asked.fclib == second.asked.fclib);
    cairn_arena_destroy(&arena);
}

GROUP(test_judge_balls)
{
    RUN(CASE(all_widths_give_the_same_bits), CASE(the_largest_burden_is_found_in_every_width),
        CASE(without_friction_both_laws_are_one_and_give_the_bits_of_hardly_any),
        CASE(not_a_number_is_told_without_friction_too), CASE(rows_are_judged_as_balls_are),
        CASE(contacts_in_2d_are_judged_side_by_side),
        CASE(a_group_is_as_bad_as_its_worst_contact_alone),
        CASE(conditions_are_judged_side_by_side_as_one_by_one),
        CASE(a_second_judgement_needs_no_norms));
}
