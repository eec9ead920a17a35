/* test_parallel.c - loops over ranges, links between members, random numbers and the clock. */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "tests/check.h"
#include "tests/problems/members.h"

/* ==== test_parallel: the one loop: every item once, in ranges that do not depend on threads; and
 * pieces of work, in an order that does not depend on them. */

enum { MOST = 10007 };

typedef struct job {
    int visits[MOST];
    int begin_of[MOST]; /* of the range an item was visited in */
    int end_of[MOST];
} job;

static void visit(int begin, int end, void *context)
{
    job *j = context;
    for (int i = begin; i < end; i++) {
        j->visits[i]++;
        j->begin_of[i] = begin;
        j->end_of[i] = end;
    }
}

static const job *run(int threads, int count, int grain)
{
    static job j;
    memset(&j, 0, sizeof j);
    cairn_parallel_threads(threads);
    cairn_parallel_for(count, grain, visit, &j);
    return &j;
}

/* Item i lies in the range that begins at grain * (i / grain). */
TEST(every_item_is_visited_once_in_its_range)
{
    const int counts[] = { 1, 7, 8, 9, 100, MOST }, grains[] = { 1, 8, 256, 20000 };
    for (int t = 0; t <= 3; t++)
        for (int c = 0; c < 6; c++)
            for (int g = 0; g < 4; g++) {
                const job *j = run(t, counts[c], grains[g]);
                for (int i = 0; i < counts[c]; i++) {
                    int begin = i / grains[g] * grains[g], end = begin + grains[g];
                    CHECK_INT(j->visits[i], 1);
                    CHECK_INT(j->begin_of[i], begin);
                    CHECK_INT(j->end_of[i], end < counts[c] ? end : counts[c]);
                }
                for (int i = counts[c]; i < MOST; i++)
                    CHECK_INT(j->visits[i], 0);
            }
}

TEST(no_items_no_call)
{
    const job *j = run(2, 0, 16);
    for (int i = 0; i < MOST; i++)
        CHECK_INT(j->visits[i], 0);
}

static void sum_range(int begin, int end, void *context)
{
    double *sums = context, sum = 0;
    for (int i = begin; i < end; i++)
        sum += 1.0 / (1 + i);
    sums[begin / 100] = sum;
}

TEST(sums_by_range_have_the_same_bits_on_1_to_4_threads)
{
    double first[101], other[101];
    cairn_parallel_threads(1);
    cairn_parallel_for(MOST, 100, sum_range, first);
    for (int t = 2; t <= 4; t++) {
        cairn_parallel_threads(t);
        cairn_parallel_for(MOST, 100, sum_range, other);
        CHECK_INT(memcmp(first, other, sizeof first), 0);
    }
    cairn_parallel_threads(0);
}

/* ---- reductions ----------------------------------------------------------------------------- */

static void add_range(int begin, int end, void *context, void *value)
{
    (void)context;
    for (int i = begin; i < end; i++)
        *(double *)value += 1.0 / (1 + i);
}

static void add_value(void *result, const void *value)
{
    *(double *)result += *(const double *)value;
}

static double harmonic(int count, double from)
{
    static const double zero = 0;
    double room[101];
    const cairn_reduction r = { .count = count,
                                .grain = 100,
                                .work = add_range,
                                .join = add_value,
                                .neutral = &zero,
                                .size = sizeof zero };
    CHECK_INT(cairn_reduction_values(&r), (count + 99) / 100);
    cairn_reduce(&r, room, &from);
    return from;
}

/* 1 + 1/2 + ... + 1/n is ln n + 0.5772156649 + 1/2n, here range by range in ascending order */
TEST(a_reduction_has_the_same_bits_on_1_to_4_threads)
{
    cairn_parallel_threads(1);
    double first = harmonic(MOST, 0), sums[101], sum = 0;
    cairn_parallel_for(MOST, 100, sum_range, sums);
    for (int k = 0; k < 101; k++)
        sum += sums[k];
    CHECK_NEAR(first, sum, 0);
    CHECK_NEAR(first, log(MOST) + 0.57721566490153 + 0.5 / MOST, 1e-8);
    for (int t = 2; t <= 4; t++) {
        cairn_parallel_threads(t);
        CHECK_NEAR(harmonic(MOST, 0), first, 0);
    }
    CHECK_NEAR(harmonic(0, 7), 7, 0);
    cairn_parallel_threads(0);
}

/* ---- pieces --------------------------------------------------------------------------------- */

enum { PARTS = 32, PIECES = PARTS * (PARTS + 1) / 2, MOST_ON_A_PART = 64 };

/* What each part has seen, and who is at work on it. */
typedef struct diary {
    const cairn_pieces *pieces;
    int seen[PARTS][MOST_ON_A_PART], count[PARTS];
    atomic_int busy[PARTS];
    atomic_int clashes;
} diary;

static void write_diary(int begin, int end, void *context)
{
    diary *d = context;
    const int *part = d->pieces->part[begin];
    int sides = part[0] == part[1] ? 1 : 2;
    for (int side = 0; side < sides; side++)
        d->clashes += atomic_fetch_add(&d->busy[part[side]], 1) > 0;
    for (int side = 0; side < sides; side++)
        d->seen[part[side]][d->count[part[side]]++] = begin;
    for (volatile int wait = 0; wait < 200 * (begin % 7); wait++) /* some take longer */
        ;
    for (int side = 0; side < sides; side++)
        atomic_fetch_sub(&d->busy[part[side]], 1);
    d->clashes += end != begin + 1;
}

/* Each part alone, then each with each other: with 8 parts 8 + 28 pieces, 8 on each part. */
static cairn_pieces all_pieces(int parts, void *room)
{
    cairn_pieces pieces;
    cairn_pieces_start(&pieces, parts, parts * (parts + 1) / 2, room);
    for (int round = 0; round < parts; round++)
        for (int i = 0; i < parts; i++)
            if (i <= (i ^ round))
                cairn_pieces_add(&pieces, i, i ^ round);
    return pieces;
}

/* `trials` times on several numbers of threads. */
static void check_order(int parts, int trials)
{
    static const int threads[] = { 1, 2, 3, 8, 11 };
    void *room = aligned_alloc(64, (cairn_pieces_bytes(parts, PIECES) + 63) / 64 * 64);
    CHECK(room != NULL);
    const cairn_pieces pieces = all_pieces(parts, room);
    CHECK_INT(pieces.count, parts * (parts + 1) / 2);
    for (int trial = 0; trial < trials; trial++) {
        diary d = { .pieces = &pieces };
        cairn_parallel_threads(threads[trial % 5]);
        cairn_parallel_pieces(&pieces, write_diary, &d);
        CHECK_INT(d.clashes, 0);
        for (int i = 0; i < parts; i++) {
            CHECK_INT(d.count[i], parts);
            for (int k = 1; k < parts; k++)
                CHECK(d.seen[i][k] > d.seen[i][k - 1]);
        }
    }
    cairn_parallel_threads(0);
    free(room);
}

TEST(parts_see_their_pieces_in_order_and_one_at_a_time)
{
    check_order(8, 200);
    check_order(PARTS, 20);
}

TEST(no_pieces_no_call)
{
    const cairn_pieces none = { 0 };
    cairn_parallel_pieces(&none, write_diary, NULL);
}

int omp_get_max_threads(void); /* of the OpenMP that the library runs on */

/* Whoever embeds the library has loops of its own. */
TEST(the_threads_of_others_stay_as_they_are)
{
    int before = omp_get_max_threads();
    cairn_parallel_threads(before + 3);
    CHECK_INT(cairn_parallel_width(), before + 3);
    CHECK_INT(omp_get_max_threads(), before);
    cairn_parallel_threads(0);
    CHECK_INT(cairn_parallel_width(), cairn_parallel_cores());
    CHECK_INT(omp_get_max_threads(), before);
}

GROUP(test_parallel)
{
    RUN(CASE(every_item_is_visited_once_in_its_range), CASE(no_items_no_call),
        CASE(sums_by_range_have_the_same_bits_on_1_to_4_threads),
        CASE(a_reduction_has_the_same_bits_on_1_to_4_threads),
        CASE(the_threads_of_others_stay_as_they_are),
        CASE(parts_see_their_pieces_in_order_and_one_at_a_time), CASE(no_pieces_no_call));
}

/* ==== test_random: splitmix64 against its published numbers, and what is made of it =========== */

enum { DRAWS = 100000 };

/* The reference sequence of seed 1234567. */
TEST(the_bits_are_those_of_splitmix64)
{
    const uint64_t expected[5] = { 6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u };
    uint64_t state = 1234567;
    for (int i = 0; i < 5; i++)
        CHECK(cairn_random_next(&state) == expected[i]);
}

TEST(uniform_is_the_upper_53_bits)
{
    uint64_t state = 42, copy = 42;
    for (int i = 0; i < 1000; i++) {
        double u = cairn_random_uniform(&state);
        CHECK(u == (double)(cairn_random_next(&copy) >> 11) / 9007199254740992.0);
        CHECK(u >= 0 && u < 1);
    }
}

/* mean 1/2, variance 1/12; standard errors sqrt(1/12/n) and sqrt(1/180/n) */
TEST(uniform_has_mean_a_half_and_variance_a_twelfth)
{
    uint64_t state = 7;
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        double u = cairn_random_uniform(&state) - 0.5;
        sum += u;
        squares += u * u;
    }
    CHECK_NEAR(sum / DRAWS, 0, 5 * sqrt(1.0 / 12 / DRAWS));
    CHECK_NEAR(squares / DRAWS, 1.0 / 12, 5 * sqrt(1.0 / 180 / DRAWS));
}

TEST(between_fills_its_interval_and_stays_in_it)
{
    uint64_t state = 3;
    double low = 1e9, high = -1e9;
    for (int i = 0; i < DRAWS; i++) {
        double x = cairn_random_between(&state, -2, 5);
        CHECK(x >= -2 && x < 5);
        low = fmin(low, x);
        high = fmax(high, x);
    }
    CHECK_NEAR(low, -2, 1e-3); /* of 1e5 draws one falls into each 1e-3 but for exp(-14) */
    CHECK_NEAR(high, 5, 1e-3);
}

/* E z = 0, E z^2 = 1, E z^4 = 3; standard errors 1, sqrt 2, sqrt 96 over sqrt n */
TEST(normal_has_moments_0_1_and_3)
{
    uint64_t state = 11;
    double m1 = 0, m2 = 0, m4 = 0;
    for (int i = 0; i < DRAWS; i++) {
        double z = cairn_random_normal(&state), z2 = z * z;
        CHECK(isfinite(z));
        m1 += z;
        m2 += z2;
        m4 += z2 * z2;
    }
    CHECK_NEAR(m1 / DRAWS, 0, 5 / sqrt(DRAWS));
    CHECK_NEAR(m2 / DRAWS, 1, 5 * sqrt(2) / sqrt(DRAWS));
    CHECK_NEAR(m4 / DRAWS, 3, 5 * sqrt(96) / sqrt(DRAWS));
}

TEST(equal_seeds_give_equal_numbers_and_others_do_not)
{
    uint64_t a = 5, b = 5, c = 6;
    for (int i = 0; i < 100; i++) {
        double x = cairn_random_uniform(&a);
        CHECK(x == cairn_random_uniform(&b));
        CHECK(x != cairn_random_uniform(&c));
    }
}

GROUP(test_random)
{
    RUN(CASE(the_bits_are_those_of_splitmix64), CASE(uniform_is_the_upper_53_bits),
        CASE(uniform_has_mean_a_half_and_variance_a_twelfth),
        CASE(between_fills_its_interval_and_stays_in_it), CASE(normal_has_moments_0_1_and_3),
        CASE(equal_seeds_give_equal_numbers_and_others_do_not));
}

/* ==== test_clock: wall-clock time goes forward, in seconds ==================================== */

TEST(a_pause_of_20_ms_takes_at_least_that_and_the_clock_never_goes_back)
{
    const struct timespec pause = { .tv_nsec = 20000000 };
    struct timespec begin, end; /* by the clock of the system, read before and after */
    clock_gettime(CLOCK_MONOTONIC, &begin);
    double before = cairn_clock_seconds();
    nanosleep(&pause, NULL);
    double after = cairn_clock_seconds();
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK(after - before >= 0.0199);
    CHECK(after - before <=
          (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec) + 1e-3);
    for (int i = 0; i < 1000; i++) {
        double now = cairn_clock_seconds();
        CHECK(now >= after);
        after = now;
    }
}

GROUP(test_clock)
{
    RUN(CASE(a_pause_of_20_ms_takes_at_least_that_and_the_clock_never_goes_back));
}

/* ==== members that share nothing but messages ================================================ */

typedef struct exchange_job {
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
    double ranked[4];
    cairn_status status;
} exchange_job;

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

enum { LINK_PARTS = 7, ITEMS = 70 };

/* Part k has items 10 k to 10 k + 9, in two spans. */
static double sum_of_parts(cairn_link *link, int first, int end)
{
    static const double none = 0;
    cairn_span span[2 * LINK_PARTS];
    double result = 0;
    void *room = malloc(cairn_parted_bytes(LINK_PARTS, 2 * LINK_PARTS));
    cairn_parted by = { LINK_PARTS, first, end, .span = span, .link = link, .room = room };
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
static int64_t note_messages(exchange_job *j, int64_t before)
{
    int64_t sent = j->m.link.traffic.messages;
    j->most_sent = sent - before > j->most_sent ? sent - before : j->most_sent;
    return sent;
}

static void *talk(void *context)
{
    exchange_job *j = context;
    cairn_link *link = &j->m.link;
    int64_t sent = 0;
    int first = cairn_link_first(link, link->member, LINK_PARTS);
    int end = cairn_link_first(link, link->member + 1, LINK_PARTS);
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
    cairn_link_share(link, LINK_PARTS, j->values, sizeof *j->values);
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
    static exchange_job jobs[MOST_MEMBERS];
    static post_office office;
    open_office(&office);
    for (int k = 0; k < members; k++) {
        jobs[k] = (exchange_job){ 0 };
        join_office(&office, k, members, &jobs[k].m);
        jobs[k].m.link.parts = LINK_PARTS;
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
        for (int part = 0; part < LINK_PARTS; part++)
            CHECK_NEAR(jobs[k].values[part], 100 + part, 0);
        CHECK_NEAR(jobs[k].joined, sum_of_parts(NULL, 0, LINK_PARTS), 0);
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
    exchange_job *j = context;
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
    static exchange_job jobs[MOST_MEMBERS];
    static post_office office;
    for (int members = 1; members <= 8; members++) {
        open_office(&office);
        for (int k = 0; k < members; k++) {
            jobs[k] = (exchange_job){ 0 };
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

/* Member k has the numbers (k + members i)/8 - 5, i < 20: those of all are n/8 - 5, n < 20 members. */
static void *rank(void *context)
{
    exchange_job *j = context;
    cairn_link *link = &j->m.link;
    double number[20];
    for (int i = 0; i < 20; i++)
        number[i] = (link->member + link->members * i) / 8.0 - 5;
    for (int k = 0; k < 4; k++) /* the first, the last, and two between them */
        j->ranked[k] = cairn_link_ranked(link, number, 20, k * (20 * link->members - 1) / 3);
    free(j->m.read);
    return NULL;
}

TEST(the_number_of_a_rank_is_found_by_all_members)
{
    static exchange_job jobs[MOST_MEMBERS];
    static post_office office;
    static const double alone[] = { 3, -0.5, INFINITY, -2, 1e-300, -INFINITY, -2 };
    static const double sorted[] = { -INFINITY, -2, -2, -0.5, 1e-300, 3, INFINITY };
    for (int k = 0; k < 7; k++)
        CHECK(cairn_link_ranked(NULL, alone, 7, k) == sorted[k]);
    for (int members = 1; members <= 5; members++) {
        open_office(&office);
        for (int k = 0; k < members; k++) {
            jobs[k] = (exchange_job){ 0 };
            join_office(&office, k, members, &jobs[k].m);
        }
        run_together(members, rank, jobs, sizeof *jobs);
        close_office(&office);
        for (int k = 0; k < 4 * members; k++)
            CHECK(jobs[k / 4].ranked[k % 4] == k % 4 * (20 * members - 1) / 3 / 8.0 - 5);
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
        CASE(numbers_of_all_members_are_split_into_even_ranges),
        CASE(the_number_of_a_rank_is_found_by_all_members), CASE(every_part_has_one_holder));
}
