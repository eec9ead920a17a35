/* test_segments.c - contacts by kind: found once, and never those of another problem. */
#include "problem/segments.h"

#include "failing_allocator.h"
#include "hard_problems.h"
#include "problem/operator.h"

/* Two balls of 1 kg and radius 0.5, blocks 0 and 1. The contacts in turn: ball 0 on the floor and
 * on ball 1, both of balls; a stored row of each with a wall; one that acts on nothing; a joint. */
typedef struct example {
    double mass_inverse[12], v_free[12], H[3 * 36], b[6], mu[6], radius[2], lower[18], upper[18];
    cairn_vec3 normal[6], tangent[6];
    int32_t block[12], rows[6];
    uint8_t bounded[6];
    cairn_problem p;
} example;

static void make(example *e)
{
    *e = (example){ .radius = { 0.5, 0.5 },
                    .block = { 0, -1, 0, 1, 0, -1, 1, -1, -1, -1, 0, 1 },
                    .rows = { -1, -1, 0, 1, -1, 2 },
                    .bounded = { 0, 0, 0, 0, 0, 1 },
                    .mu = { 0, 0, 0, 0.3, 0.3, 0.3 } };
    for (int i = 0; i < 12; i++)
        e->mass_inverse[i] = i % 6 < 3 ? 1 : 10;
    for (int i = 0; i < 6; i++) {
        e->normal[i] = (cairn_vec3){ 0, 0, 1 };
        e->tangent[i] = (cairn_vec3){ 1, 0, 0 };
    }
    for (int k = 0; k < 3; k++)
        e->H[36 * k + 2] = 1; /* u_N is the upward velocity of side a */
    e->p = (cairn_problem){ .dimension = 3,
                            .block_size = 6,
                            .blocks = 2,
                            .contacts = 6,
                            .mass_inverse = e->mass_inverse,
                            .v_free = e->v_free,
                            .block = e->block,
                            .H = e->H,
                            .normal = e->normal,
                            .tangent = e->tangent,
                            .radius = e->radius,
                            .rows = e->rows,
                            .b = e->b,
                            .mu = e->mu,
                            .bounded = e->bounded,
                            .lower = e->lower,
                            .upper = e->upper };
}

static void check_segment(const cairn_segment *s, cairn_contact_kind kind, int begin, int count,
                          bool friction)
{
    CHECK_INT(s->kind, kind);
    CHECK_INT(s->begin, begin);
    CHECK_INT(s->count, count);
    CHECK_INT(s->friction, friction);
}

TEST(six_contacts_are_four_segments)
{
    example e;
    cairn_segment s[4];
    make(&e);
    CHECK_OK(cairn_problem_check(&e.p, NULL));
    CHECK_INT(cairn_problem_segments(&e.p, s, 4), 4);
    check_segment(&s[0], CAIRN_KIND_BALLS, 0, 2, false);
    check_segment(&s[1], CAIRN_KIND_GENERAL, 2, 2, true);
    check_segment(&s[2], CAIRN_KIND_LONE, 4, 1, true);
    check_segment(&s[3], CAIRN_KIND_ROWS, 5, 1, false); /* mu of rows is not looked at */
    CHECK_INT(cairn_problem_segments(&e.p, s, 1), 4);   /* no more than one is written */
}

TEST(a_walk_is_cut_at_both_ends_whether_segments_are_known_or_not)
{
    example e;
    cairn_arena arena = { 0 };
    make(&e);
    for (int known = 0; known < 2; known++) {
        cairn_walk w = cairn_walk_over(&e.p, 1, 3);
        CHECK(cairn_walk_next(&w));
        check_segment(&w.now, CAIRN_KIND_BALLS, 1, 1, false);
        CHECK(cairn_walk_next(&w));
        CHECK_INT(w.now.kind, CAIRN_KIND_GENERAL);
        CHECK_INT(w.now.begin, 2);
        CHECK_INT(w.at, 3);
        CHECK(!cairn_walk_next(&w));
        CHECK(cairn_problem_has(&e.p, CAIRN_KIND_ROWS) && cairn_problem_has_friction(&e.p));
        CHECK(!cairn_problem_has(&e.p, CAIRN_KIND_ROLLING));
        CHECK(!cairn_problem_is_all(&e.p, CAIRN_KIND_BALLS));
        CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
        CHECK(e.p.segments != NULL);
    }
    CHECK_OK(cairn_problem_check(&e.p, NULL));
    cairn_arena_destroy(&arena);
}

TEST(wrong_segments_are_refused)
{
    example e;
    cairn_arena arena = { 0 };
    cairn_segment items[4];
    cairn_error error;
    make(&e);
    CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    cairn_segments wrong = *e.p.segments;
    memcpy(items, wrong.item, sizeof items);
    items[1].kind = CAIRN_KIND_BALLS;
    wrong.item = items;
    e.p.segments = &wrong;
    CHECK_INT(cairn_problem_check(&e.p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "contacts from 2 on are 2 of kind 0, expected 2 of kind 1");
    cairn_arena_destroy(&arena);
}

/* A copy with other friction: what the first one was found to be does not count for it. */
TEST(a_copy_with_other_arrays_is_looked_at_anew)
{
    example e;
    cairn_arena arena = { 0 };
    make(&e);
    memset(e.mu, 0, sizeof e.mu);
    CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    CHECK(!cairn_problem_has_friction(&e.p));
    const double rough[6] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
    cairn_problem copy = e.p;
    copy.mu = rough;
    CHECK(cairn_problem_has_friction(&copy));
    copy = e.p;
    copy.contacts = 5;
    CHECK(!cairn_problem_has(&copy, CAIRN_KIND_ROWS));
    const cairn_segments *first = e.p.segments;
    CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    CHECK(e.p.segments == first); /* still those */
    CHECK_OK(cairn_problem_find_segments(&copy, &arena));
    CHECK(copy.segments != first && copy.segments->count == 3);
    cairn_arena_destroy(&arena);
}

TEST(a_world_of_balls_poses_one_segment_and_disks_one_of_stored_rows)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_world *world;
        const cairn_problem p = settled_heap(dimension, 0.3, 4, 100, &world);
        CHECK(p.segments != NULL);
        CHECK_INT(p.segments->count, 1);
        check_segment(p.segments->item, dimension == 3 ? CAIRN_KIND_BALLS : CAIRN_KIND_GENERAL, 0,
                      p.contacts, true);
        CHECK_OK(cairn_problem_check(&p, NULL));
        cairn_world_destroy(world);
    }
}

/* With or without segments, u and the judgement have the same bits. */
TEST(segments_change_no_bit)
{
    example e;
    cairn_arena arena = { 0 };
    double r[18], v[12], u[2][18];
    cairn_judgement said[2];
    make(&e);
    for (int i = 0; i < 18; i++)
        r[i] = 0.1 * (i % 5);
    for (int known = 0; known < 2; known++) {
        cairn_problem_apply(&e.p, r, v, u[known]);
        cairn_judge(&e.p, CAIRN_LAW_COULOMB, r, v, u[known], &said[known]);
        CHECK_OK(cairn_problem_find_segments(&e.p, &arena));
    }
    CHECK(memcmp(u[0], u[1], sizeof u[0]) == 0);
    CHECK(said[0].asked.worst == said[1].asked.worst && said[0].asked.worst > 0);
    CHECK_INT(said[0].asked.worst_contact, said[1].asked.worst_contact);
    cairn_arena_destroy(&arena);
}

TEST(every_allocation_may_fail)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status == CAIRN_NO_MEMORY; n++) {
        example e;
        cairn_arena arena = { 0 };
        meter m = { .fail_at = n };
        make(&e);
        meter_install(&m);
        status = cairn_problem_find_segments(&e.p, &arena);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        cairn_arena_destroy(&arena);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
}

int main(void)
{
    RUN(CASE(six_contacts_are_four_segments),
        CASE(a_walk_is_cut_at_both_ends_whether_segments_are_known_or_not),
        CASE(wrong_segments_are_refused), CASE(a_copy_with_other_arrays_is_looked_at_anew),
        CASE(a_world_of_balls_poses_one_segment_and_disks_one_of_stored_rows),
        CASE(segments_change_no_bit), CASE(every_allocation_may_fail));
}
