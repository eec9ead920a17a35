/* test_judge_balls.c - contacts judged side by side: the same bits for every width, and to rounding
 * what they come to one by one. */
#include "problem/judge.h"

#include <math.h>

#include "check.h"
#include "lattice_problem.h"

/* 325 contacts of 125 balls with impulses of all kinds: none, inside, outside and beyond the cone. */
static cairn_problem sample(cairn_arena *arena, lattice_problem *l, double **r)
{
    CHECK(make_lattice_problem(5, 0.3, arena, l));
    *r = cairn_arena_doubles(arena, 3 * (size_t)l->p.contacts);
    for (int i = 0; i < 3 * l->p.contacts; i++) {
        (*r)[i] = i / 3 % 4 ? (i % 3 ? 0.3 : 1) * cos(i) : 0;
        l->w[i] = 0.01 * sin(i);
    }
    for (int j = 0; j < l->p.contacts; j += 5)
        l->mu[j] = 0;
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
    RUN(CASE(all_widths_give_the_same_bits), CASE(a_group_is_as_bad_as_its_worst_contact_alone),
        CASE(a_second_judgement_needs_no_norms));
}
