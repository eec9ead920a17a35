/* test_parallel.c - the one loop: every item once, in ranges that do not depend on threads. */
#include "base/parallel.h"
#include "check.h"

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

int main(void)
{
    RUN(CASE(every_item_is_visited_once_in_its_range), CASE(no_items_no_call),
        CASE(sums_by_range_have_the_same_bits_on_1_to_4_threads));
}
