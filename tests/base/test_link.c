/* test_link.c - what members of a computation know together. */
#include "base/arena.h"
#include "base/parallel.h"
#include "tests/problems/members.h"

typedef struct job {
    member m;
    double largest;
    int64_t sum, sums[2];
    int64_t most_sent; /* messages for one reduction or one all-gather */
    bool any, all;
    double values[7]; /* of parts     */
    double joined;    /* of spans     */
    uint64_t last[MOST_MEMBERS];
    int in[MOST_MEMBERS]; /* own numbers in each range */
    int64_t split_sent;   /* messages for the ranges */
    cairn_status status;
} job;

static void add(void *result, const void *value)
{
    *(double *)result += *(const double *)value;
}

/* 1e16, 1, -1e16, 1, ...: sums that depend on their order. */
static double item(int i)
{
    return i % 3 == 0 ? 1e16 : i % 3 == 1 ? 1 : -1e16;
}

static void add_items(int begin, int end, void *context, void *value)
{
    (void)context;
    for (int i = begin; i < end; i++)
        *(double *)value += item(i);
}

enum { PARTS = 7, ITEMS = 70 };

/* Part k has items 10 k to 10 k + 9, in two spans. */
static double sum_of_parts(cairn_link *link, int first, int end)
{
    static const double none = 0;
    cairn_span span[2 * PARTS];
    double result = 0;
    void *room = malloc(cairn_parted_bytes(PARTS, 2 * PARTS));
    cairn_parted by = { PARTS, first, end, .span = span, .link = link, .room = room };
    for (int part = first; part < end; part++) {
        span[by.count++] = (cairn_span){ 10 * part, 10 * part + 4, part };
        span[by.count++] = (cairn_span){ 10 * part + 4, 10 * part + 10, part };
    }
    const cairn_reduction all = { .count = ITEMS,
                                  .parted = &by,
                                  .work = add_items,
                                  .join = add,
                                  .neutral = &none,
                                  .size = sizeof none };
    cairn_reduce(&all, NULL, &result);
    free(room);
    return result;
}

/* Messages sent since `before`, if these are more than in earlier calls. */
static int64_t note_messages(job *j, int64_t before)
{
    int64_t sent = j->m.link.traffic.messages;
    j->most_sent = sent - before > j->most_sent ? sent - before : j->most_sent;
    return sent;
}

static void *talk(void *context)
{
    job *j = context;
    cairn_link *link = &j->m.link;
    int64_t sent = 0;
    int first = cairn_link_first(link, link->member, PARTS);
    int end = cairn_link_first(link, link->member + 1, PARTS);
    j->largest = cairn_link_largest(link, 3.0 - link->member);
    sent = note_messages(j, sent);
    j->sum = cairn_link_sum(link, 10 + link->member);
    sent = note_messages(j, sent);
    j->sums[0] = 1;
    j->sums[1] = link->member;
    cairn_link_sums(link, j->sums, 2);
    sent = note_messages(j, sent);
    j->any = cairn_link_any(link, link->member == 1);
    j->all = cairn_link_all(link, link->member != 1);
    for (int part = first; part < end; part++)
        j->values[part] = 100 + part;
    sent = link->traffic.messages;
    cairn_link_share(link, PARTS, j->values, sizeof *j->values);
    note_messages(j, sent);
    j->joined = sum_of_parts(link, first, end);
    j->status = link->status;
    free(j->m.read);
    return NULL;
}

static int rounds_of(int members)
{
    int rounds = 0;
    while (1 << rounds < members)
        rounds++;
    return rounds;
}

/* bound: the first part of each member, and the end; NULL: even numbers. */
static void check_talk(int members, const int *bound)
{
    static job jobs[MOST_MEMBERS];
    static post_office office;
    open_office(&office);
    for (int k = 0; k < members; k++) {
        jobs[k] = (job){ 0 };
        join_office(&office, k, members, &jobs[k].m);
        jobs[k].m.link.parts = PARTS;
        jobs[k].m.link.bound = bound;
    }
    run_together(members, talk, jobs, sizeof *jobs);
    close_office(&office);
    for (int k = 0; k < members; k++) {
        CHECK_OK(jobs[k].status);
        CHECK_NEAR(jobs[k].largest, 3, 0);
        CHECK_INT(jobs[k].sum, 10 * members + members * (members - 1) / 2);
        CHECK_INT(jobs[k].sums[0], members);
        CHECK_INT(jobs[k].sums[1], members * (members - 1) / 2);
        /* two messages for each doubling of what is known, where the members are in a ring */
        CHECK(jobs[k].most_sent <= 2 * rounds_of(members));
        CHECK(jobs[k].any == (members > 1));
        CHECK(jobs[k].all == (members == 1));
        for (int part = 0; part < PARTS; part++)
            CHECK_NEAR(jobs[k].values[part], 100 + part, 0);
        CHECK_NEAR(jobs[k].joined, sum_of_parts(NULL, 0, PARTS), 0);
    }
}

TEST(all_members_know_the_same_and_sums_do_not_depend_on_their_number)
{
    for (int members = 1; members <= 9; members++) /* more than parts as well */
        check_talk(members, NULL);
    check_talk(MOST_MEMBERS, NULL); /* at most 8 messages, where 15 others listen */
}

TEST(members_may_have_different_numbers_of_parts)
{
    static const int two[] = { 0, 6, 7 }, three[] = { 0, 1, 2, 7 }, five[] = { 0, 1, 2, 5, 6, 7 };
    check_talk(2, two);
    check_talk(3, three);
    check_talk(5, five);
    const cairn_link link = { .members = 3, .parts = 7, .bound = three };
    CHECK_INT(cairn_link_holder(&link, 1, 7), 1);
    CHECK_INT(cairn_link_holder(&link, 6, 7), 2);
    CHECK_INT(cairn_link_first(&link, 2, 7), 2);
    CHECK_INT(cairn_link_first(&link, 2, 9), 6); /* of nine parts, two thirds are before it */
    CHECK_INT(cairn_link_even(&link, 2, 7), 4);
}

/* Member k has the numbers 7 (k + members i)^3, i < 60: those of all are 7 n^3, n < 60 members. */
static void *split(void *context)
{
    job *j = context;
    cairn_link *link = &j->m.link;
    uint64_t number[60];
    cairn_arena arena = { 0 };
    for (int i = 0; i < 60; i++) {
        uint64_t n = (uint64_t)(link->member + link->members * i);
        number[i] = 7 * n * n * n;
    }
    j->status = cairn_link_split(link, number, 60, &arena, j->last);
    j->split_sent = link->traffic.messages;
    for (int i = 0; i < 60; i++)
        j->in[cairn_link_range(link, j->last, number[i])]++;
    cairn_arena_destroy(&arena);
    free(j->m.read);
    return NULL;
}

/* Range k ends with 7 (60 (k + 1) - 1)^3. It takes 17 sums: of the numbers, and one a digit. */
TEST(numbers_of_all_members_are_split_into_even_ranges)
{
    static job jobs[MOST_MEMBERS];
    static post_office office;
    for (int members = 1; members <= 8; members++) {
        open_office(&office);
        for (int k = 0; k < members; k++) {
            jobs[k] = (job){ 0 };
            join_office(&office, k, members, &jobs[k].m);
        }
        run_together(members, split, jobs, sizeof *jobs);
        close_office(&office);
        for (int range = 0; range < members; range++) {
            int64_t n = 60 * (range + 1) - 1, sum = 0;
            for (int k = 0; k < members; k++) {
                CHECK_OK(jobs[k].status);
                CHECK(range == members - 1 || (int64_t)jobs[k].last[range] == 7 * n * n * n);
                CHECK(jobs[k].split_sent <= 17 * rounds_of(members));
                sum += jobs[k].in[range];
            }
            CHECK_INT(sum, 60);
        }
    }
}

static void check_division(const double *seconds, int parts, int members, const int *expected)
{
    int bound[8];
    cairn_parts_divide(seconds, parts, members, bound);
    for (int k = 0; k <= members; k++)
        CHECK_INT(bound[k], expected[k]);
}

/* 8 parts of 1 s: 4 and 4. If the first four take 3 s each: 3 and 5, of 9 and 7 s. One that takes
 * 9 s is alone; every member has a part, also of no time. */
TEST(parts_are_divided_by_the_time_they_take)
{
    static const double even[] = { 1, 1, 1, 1, 1, 1, 1, 1 }, slow[] = { 3, 3, 3, 3, 1, 1, 1, 1 };
    static const double one[] = { 1, 1, 9, 1, 1 }, none[] = { 0, 0, 0 };
    check_division(even, 8, 2, (const int[]){ 0, 4, 8 });
    check_division(even, 8, 3, (const int[]){ 0, 3, 6, 8 });
    check_division(slow, 8, 2, (const int[]){ 0, 3, 8 });
    CHECK_NEAR(cairn_parts_slowest(slow, 2, (const int[]){ 0, 3, 8 }), 9, 0);
    check_division(one, 5, 3, (const int[]){ 0, 2, 3, 5 });
    check_division(none, 3, 3, (const int[]){ 0, 1, 2, 3 });
}

/* Four parts of 3 s and four of 1 s: 12 s a step with 4 and 4, 9 s with 3 and 5. A move
 * takes 20 s: after 6 steps 18 s are lost, after 7 steps 21 s. */
TEST(parts_move_when_imbalance_has_cost_more_than_moving)
{
    static const double slow[] = { 3, 3, 3, 3, 1, 1, 1, 1 };
    static const int even[] = { 0, 4, 8 };
    const cairn_division now = { slow, 8, 2, even };
    cairn_balance balance = { .moving = 20 };
    int better[3] = { 0, 0, 0 };
    CHECK(!cairn_balance_moves(&balance, &now, 4, better));
    CHECK(!cairn_balance_moves(&balance, &now, 2, better));
    CHECK(cairn_balance_moves(&balance, &now, 1, better));
    CHECK_INT(better[1], 3);
    const cairn_division best = { slow, 8, 2, better };
    int same[3];
    for (int k = 0; k < 100; k++)
        CHECK(!cairn_balance_moves(&balance, &best, 8, same));
}

/* Two messages of 3 and 5 bytes. */
TEST(what_is_sent_is_counted)
{
    static post_office office;
    static member m;
    open_office(&office);
    join_office(&office, 0, 2, &m);
    cairn_link_send(&m.link, 1, "abc", 3);
    cairn_link_send(&m.link, 1, "defgh", 5);
    CHECK_INT(m.link.traffic.messages, 2);
    CHECK_INT(m.link.traffic.bytes, 8);
    close_office(&office);
}

TEST(every_part_has_one_holder)
{
    for (int members = 1; members <= 16; members++)
        for (int parts = 1; parts <= 40; parts++) {
            cairn_link link = { .members = members };
            CHECK_INT(cairn_link_first(&link, 0, parts), 0);
            CHECK_INT(cairn_link_first(&link, members, parts), parts);
            for (int part = 0; part < parts; part++) {
                int holder = cairn_link_holder(&link, part, parts);
                CHECK(part >= cairn_link_first(&link, holder, parts));
                CHECK(part < cairn_link_first(&link, holder + 1, parts));
            }
        }
}

GROUP(test_link)
{
    RUN(CASE(all_members_know_the_same_and_sums_do_not_depend_on_their_number),
        CASE(members_may_have_different_numbers_of_parts), CASE(what_is_sent_is_counted),
        CASE(parts_are_divided_by_the_time_they_take),
        CASE(parts_move_when_imbalance_has_cost_more_than_moving),
        CASE(numbers_of_all_members_are_split_into_even_ranges), CASE(every_part_has_one_holder));
}
