/* test_residual.c - the judge, with numbers done by hand. */
#include "base/parallel.h"
#include "cairn/cairn.h"
#include "check.h"
#include "lattice_problem.h"
#include "problem/judge.h"
#include "problem/operator.h"

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

/* half the impulse needed, by itself: e = 1/2 and q = (-1, 0) as above */
TEST(one_contact_can_be_judged_alone)
{
    const double v_free[3] = { 0, -1, 0 }, mu[1] = { 0.3 }, r[2] = { 1, 0 };
    cairn_problem p = one_contact(v_free, NULL, mu);
    double v[3], u[2], e2, q2;
    cairn_problem_velocity(&p, r, v);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        const cairn_judging judging = { .p = &p, .r = r, .v = v, .u = u };
        cairn_judge_one(&judging, (cairn_law)law, 0, &e2, &q2);
        CHECK_NEAR(e2, 0.25, 1e-15);
        CHECK_NEAR(q2, 1, 1e-15);
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
    CHECK(isinf(j.asked.relative));
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

int main(void)
{
    RUN(CASE(sticking_contact_has_no_residual), CASE(doing_nothing_has_residual_one),
        CASE(the_norm_of_the_convex_law_is_that_of_the_manual),
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
        CASE(rows_are_judged_row_by_row), CASE(compliance_counts_in_the_residual),
        CASE(many_contacts_are_judged_in_parts_with_the_same_bits_on_threads),
        CASE(contacts_of_balls_are_judged_like_their_rows));
}
