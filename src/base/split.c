/* split.c - what is divided between members: numbers that they sort, and parts by the time that
 * they take.
 *
 * Numbers: ranges with about as many numbers of all members in each. The last number of a range is
 * found digit by digit, from the highest on, and for all ranges at once: each digit costs one sum
 * over all members, and no member has to know the numbers of others. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/link.h"
#include "base/status.h"

/* ---- numbers -------------------------------------------------------------------------------- */

enum { DIGIT = 4, VALUES = 1 << DIGIT, BUCKETS = VALUES + 1 }; /* DIGIT: bits */

typedef struct splitting {
    const uint64_t *number; /* of this member                                               */
    int numbers;
    int count;       /* of ranges, without the last one                                     */
    uint64_t *last;  /* of each range: the digits known so far; ascending                   */
    int64_t *wanted; /* of each: so many numbers of all members are to be in it or before   */
    int values;      /* different values among `last`                                       */
    uint64_t *value; /* these, ascending                                                    */
    int64_t *found;  /* numbers below the first value, then those in the buckets of each    */
} splitting;

static cairn_status start(splitting *s, int64_t all, int members, cairn_arena *scratch)
{
    size_t count = (size_t)members;
    s->count = members - 1;
    s->wanted = cairn_arena_take(scratch, count, sizeof *s->wanted);
    s->value = cairn_arena_take(scratch, count, sizeof *s->value);
    s->found = cairn_arena_take(scratch, 1 + count * BUCKETS, sizeof *s->found);
    if (!s->wanted || !s->value || !s->found)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < s->count; k++) {
        s->last[k] = 0;
        s->wanted[k] = (k + 1) * all / members;
    }
    return CAIRN_OK;
}

/* How many of the ascending values are below a number or, with `equal`, at most that. */
static int count_below(const uint64_t *value, int count, uint64_t number, bool equal)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (value[middle] < number || (equal && value[middle] == number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Count the own numbers: bucket d of a value has those whose next digit is d, and the last bucket
 * those behind these that are below the next value. */
static void fill_buckets(splitting *s, int shift)
{
    s->values = 0;
    for (int k = 0; k < s->count; k++)
        if (k == 0 || s->last[k] != s->last[k - 1])
            s->value[s->values++] = s->last[k];
    memset(s->found, 0, (1 + (size_t)s->values * BUCKETS) * sizeof *s->found);
    for (int i = 0; i < s->numbers; i++) {
        int k = count_below(s->value, s->values, s->number[i], true) - 1;
        uint64_t digit = k < 0 ? 0 : (s->number[i] - s->value[k]) >> shift;
        int bucket = digit < VALUES ? (int)digit : VALUES;
        s->found[k < 0 ? 0 : 1 + k * BUCKETS + bucket]++;
    }
}

/* The next digit of each range: the largest one with fewer numbers below it than wanted. */
static void take_digit(splitting *s, int shift)
{
    int64_t below = s->found[0];
    for (int k = 0, value = 0; value < s->values; value++) {
        const int64_t *bucket = s->found + 1 + value * BUCKETS;
        for (; k < s->count && s->last[k] == s->value[value]; k++) {
            uint64_t digit = 0;
            int64_t before = below + bucket[0];
            for (; digit + 1 < VALUES && before < s->wanted[k]; before += bucket[digit])
                digit++;
            s->last[k] += digit << shift;
        }
        for (int b = 0; b < BUCKETS; b++)
            below += bucket[b];
    }
}

cairn_status cairn_link_split(cairn_link *link, const uint64_t *number, int count,
                              cairn_arena *scratch, uint64_t *last)
{
    splitting s = { .number = number, .numbers = count, .last = last };
    TRY(start(&s, cairn_link_sum(link, count), link->members, scratch));
    for (int shift = 64 - DIGIT; shift >= 0; shift -= DIGIT) {
        fill_buckets(&s, shift);
        cairn_link_sums(link, s.found, 1 + s.values * BUCKETS);
        take_digit(&s, shift);
    }
    return CAIRN_OK;
}

int cairn_link_range(const cairn_link *link, const uint64_t *last, uint64_t number)
{
    return count_below(last, link->members - 1, number, false);
}

/* ---- parts ---------------------------------------------------------------------------------- */

double cairn_parts_slowest(const double *seconds, int members, const int *bound)
{
    double slowest = 0;
    for (int k = 0; k < members; k++) {
        double sum = 0;
        for (int part = bound[k]; part < bound[k + 1]; part++)
            sum += seconds[part];
        slowest = fmax(slowest, sum);
    }
    return slowest;
}

/* Give each member as many parts as it can compute within a limit, at least one, and leave one for
 * each later member. The last member gets the rest, whatever it takes. */
static void fill_members(const double *seconds, int parts, int members, double limit, int *bound)
{
    bound[0] = 0;
    for (int k = 0, part = 0; k < members; k++) {
        double sum = seconds[part++];
        while (part < parts - (members - 1 - k) && sum + seconds[part] <= limit)
            sum += seconds[part++];
        bound[k + 1] = k < members - 1 ? part : parts;
    }
}

/* Bisection over the limit, which lies between the mean and the sum of all. */
void cairn_parts_divide(const double *seconds, int parts, int members, int *bound)
{
    double high = 0;
    for (int part = 0; part < parts; part++)
        high += seconds[part];
    double low = high / members;
    for (int k = 0; k < 40 && high > low; k++) {
        double limit = 0.5 * (low + high);
        fill_members(seconds, parts, members, limit, bound);
        if (cairn_parts_slowest(seconds, members, bound) <= limit)
            high = limit;
        else
            low = limit;
    }
    fill_members(seconds, parts, members, high, bound);
}

/* A division that is better by less than this share is not: times of steps vary as much. */
static const double noticeable = 0.03;

/* What a better division would have saved adds up over the steps. When it exceeds the seconds that
 * a move takes, parts move. Whatever happens later, this costs at most twice as much as to move, or
 * not to move, with knowledge of the future. */
bool cairn_balance_moves(cairn_balance *b, const cairn_division *now, int steps, int *better)
{
    double slowest = cairn_parts_slowest(now->seconds, now->members, now->bound);
    cairn_parts_divide(now->seconds, now->parts, now->members, better);
    double saved = slowest - cairn_parts_slowest(now->seconds, now->members, better);
    b->lost += saved > noticeable * slowest ? steps * saved : 0;
    if (!(b->lost > b->moving) || !(saved > noticeable * slowest))
        return false;
    b->lost = 0;
    return true;
}
