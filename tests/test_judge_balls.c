/* test_judge_balls.c - contacts judged side by side: the same bits for every width, and to rounding
 * what they come to one by one. */
#include "problem/judge.h"

#include <math.h>

#include "check.h"
#include "lattice_problem.h"
#include "problem/cone.h"

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
        double e2 = 0, q2 = 0, one[2], *v = cairn_arena_doubles(&arena, 6 * (size_t)p.blocks);
        double *u = cairn_arena_doubles(&arena, 3 * (size_t)p.contacts);
        cairn_judgement said;
        cairn_judge(&p, (cairn_law)law, r, v, u, &said);
        const cairn_judging judge = { .p = &p, .r = r, .v = v, .u = u };
        for (int j = 0; j < p.contacts; j++) {
            cairn_judge_one(&judge, (cairn_law)law, j, &one[0], &one[1]);
            e2 += one[0];
            q2 += one[1];
        }
        CHECK_NEAR(said.asked.relative, sqrt(e2 / q2), 1e-11 * sqrt(e2 / q2));
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

int main(void)
{
    RUN(CASE(all_widths_give_the_same_bits),
        CASE(without_friction_both_laws_are_one_and_give_the_bits_of_hardly_any),
        CASE(not_a_number_is_told_without_friction_too), CASE(rows_are_judged_as_balls_are),
        CASE(contacts_in_2d_are_judged_side_by_side),
        CASE(a_group_is_as_bad_as_its_worst_contact_alone),
        CASE(conditions_are_judged_side_by_side_as_one_by_one),
        CASE(a_second_judgement_needs_no_norms));
}
