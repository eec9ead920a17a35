/* link.c - reductions over all members, built from messages between two of them; and what is
 * divided between members. */
#include "base/link.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"

void cairn_link_send(cairn_link *link, int to, const void *bytes, size_t count)
{
    if (link->status != CAIRN_OK)
        return;
    double before = cairn_clock_seconds();
    link->status = link->send(link->context, to, bytes, count);
    link->traffic.sending += cairn_clock_seconds() - before;
    link->traffic.messages++;
    link->traffic.bytes += (int64_t)count;
}

const void *cairn_link_receive(cairn_link *link, int from, size_t *count)
{
    const void *bytes = NULL;
    *count = 0;
    if (link->status == CAIRN_OK) {
        double before = cairn_clock_seconds();
        link->status = link->receive(link->context, from, &bytes, count);
        link->traffic.waiting += cairn_clock_seconds() - before;
    }
    if (link->status != CAIRN_OK)
        *count = 0;
    return *count > 0 ? bytes : NULL;
}

bool cairn_link_arrived(const cairn_link *link, int from)
{
    return link->status != CAIRN_OK || (link->arrived && link->arrived(link->context, from));
}

void cairn_link_receive_into(cairn_link *link, int from, void *bytes, size_t count)
{
    size_t found;
    const void *message = cairn_link_receive(link, from, &found);
    if (link->status == CAIRN_OK && found != count)
        link->status = CAIRN_BAD_INPUT;
    if (count == 0)
        return;
    if (link->status == CAIRN_OK)
        memcpy(bytes, message, count);
    else
        memset(bytes, 0, count);
}

/* ---- parts ---------------------------------------------------------------------------------- */

int cairn_link_even(const cairn_link *link, int member, int count)
{
    return (int)((int64_t)member * count / link->members);
}

int cairn_link_first(const cairn_link *link, int member, int parts)
{
    return link->bound && link->parts == parts ? link->bound[member]
                                               : cairn_link_even(link, member, parts);
}

/* The last member whose first part is not beyond it, by bisection. */
int cairn_link_holder(const cairn_link *link, int part, int parts)
{
    int low = 0, high = link->members; /* first(low) <= part < first(high) */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (cairn_link_first(link, middle, parts) <= part)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- all-gather ------------------------------------------------------------------------------ */

/* Values of parts, as bytes. */
typedef struct gathered {
    char *bytes;
    size_t size; /* of a part */
    int parts;
} gathered;

/* Send to a member, or receive from it, the values of members [begin, end). */
static void pass(cairn_link *link, const gathered *v, int other, int begin, int end, bool out)
{
    if (begin >= end)
        return;
    size_t from = (size_t)cairn_link_first(link, begin, v->parts) * v->size;
    size_t to = (size_t)cairn_link_first(link, end, v->parts) * v->size;
    if (out)
        cairn_link_send(link, other, v->bytes + from, to - from);
    else
        cairn_link_receive_into(link, other, v->bytes + from, to - from);
}

/* The same for `count` members from `first` on; after the last member follows member 0. */
static void pass_around(cairn_link *link, const gathered *v, int other, int first, int count,
                        bool out)
{
    int end = first + count, all = link->members;
    pass(link, v, other, first, end < all ? end : all, out);
    pass(link, v, other, 0, end - all, out);
}

/* Dissemination: a member has the values of `known` members from itself on. In each round it sends
 * them to the member that is `known` before it, and so all double what they know. This takes
 * ceil(log2(members)) rounds of at most two messages. */
void cairn_link_share(cairn_link *link, int parts, void *bytes, size_t size)
{
    const gathered v = { bytes, size, parts };
    int all = link->members, me = link->member;
    for (int known = 1; known < all; known *= 2) {
        int more = known < all - known ? known : all - known;
        int before = (me + all - known) % all, after = (me + known) % all;
        pass_around(link, &v, before, me, more, true);
        pass_around(link, &v, after, after, more, false);
    }
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* A number of 8 bytes is joined to another one. */
typedef void join_fn(void *own, const void *other);
enum { NUMBER = 8 };

static void receive_and_join(cairn_link *link, int from, void *own, size_t count, join_fn *join)
{
    size_t found;
    const char *other = cairn_link_receive(link, from, &found);
    if (link->status == CAIRN_OK && found != count * NUMBER)
        link->status = CAIRN_BAD_INPUT;
    for (size_t i = 0; link->status == CAIRN_OK && i < count; i++)
        join((char *)own + i * NUMBER, other + i * NUMBER);
}

/* Join `count` numbers of all members. Members that exceed a power of two hand their numbers to one
 * below it, and get the result from it. The others double what they know in each round: partners
 * differ in one bit. The order differs between members, so that only exact operations (largest,
 * integer sum) are allowed: all members then get the same bits. */
static void reduce(cairn_link *link, void *own, size_t count, join_fn *join)
{
    if (!link || count == 0)
        return;
    int all = 1, me = link->member;
    while (2 * all <= link->members)
        all *= 2;
    if (me >= all) {
        cairn_link_send(link, me - all, own, count * NUMBER);
        cairn_link_receive_into(link, me - all, own, count * NUMBER);
        return;
    }
    if (me + all < link->members)
        receive_and_join(link, me + all, own, count, join);
    for (int bit = 1; bit < all; bit *= 2) {
        cairn_link_send(link, me ^ bit, own, count * NUMBER);
        receive_and_join(link, me ^ bit, own, count, join);
    }
    if (me + all < link->members)
        cairn_link_send(link, me + all, own, count * NUMBER);
}

static void take_larger(void *own, const void *other)
{
    double x, y;
    memcpy(&x, own, sizeof x);
    memcpy(&y, other, sizeof y);
    x = !(y <= x) && !isnan(x) ? y : x; /* what is no number stays, with every member */
    memcpy(own, &x, sizeof x);
}

static void add_up(void *own, const void *other)
{
    int64_t x, y;
    memcpy(&x, own, sizeof x);
    memcpy(&y, other, sizeof y);
    x = (int64_t)((uint64_t)x + (uint64_t)y); /* hashes wrap around */
    memcpy(own, &x, sizeof x);
}

static void take_greater(void *own, const void *other)
{
    int64_t x, y;
    memcpy(&x, own, sizeof x);
    memcpy(&y, other, sizeof y);
    x = y > x ? y : x;
    memcpy(own, &x, sizeof x);
}

double cairn_link_largest(cairn_link *link, double own)
{
    reduce(link, &own, 1, take_larger);
    return own;
}

int64_t cairn_link_sum(cairn_link *link, int64_t own)
{
    reduce(link, &own, 1, add_up);
    return own;
}

void cairn_link_sums(cairn_link *link, int64_t *values, int count)
{
    reduce(link, values, (size_t)count, add_up);
}

void cairn_link_largests(cairn_link *link, int64_t *values, int count)
{
    reduce(link, values, (size_t)count, take_greater);
}

bool cairn_link_any(cairn_link *link, bool own)
{
    return link ? cairn_link_sum(link, own) > 0 : own;
}

bool cairn_link_all(cairn_link *link, bool own)
{
    return !cairn_link_any(link, !own);
}

/* ---- what is divided between members --------------------------------------------------------- */

/* What is divided between members: numbers that they sort, and parts by the time that
 * they take.
 *
 * Numbers: ranges with about as many numbers of all members in each. The last number of a range is
 * found digit by digit, from the highest on, and for all ranges at once: each digit costs one sum
 * over all members, and no member has to know the numbers of others. */

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

uint64_t cairn_rank_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Digit by digit, as above: each one costs a sum over all members. */
double cairn_link_ranked(cairn_link *link, const double *number, int count, int64_t rank)
{
    enum { BITS = 8, MOST = (1 << BITS) - 1 };
    uint64_t found = 0; /* its digits so far */
    double x;
    for (int shift = 64 - BITS; shift >= 0; shift -= BITS) {
        int64_t have[MOST + 1] = { 0 };
        uint64_t digit = 0;
        for (int i = 0; i < count; i++) {
            uint64_t bits = cairn_rank_of(number[i]) >> shift;
            have[bits & MOST] += bits >> BITS == found;
        }
        cairn_link_sums(link, have, MOST + 1);
        for (; digit < MOST && rank >= have[digit]; digit++)
            rank -= have[digit];
        found = found << BITS | digit;
    }
    found = found >> 63 ? found ^ UINT64_C(1) << 63 : ~found;
    memcpy(&x, &found, sizeof x);
    return x;
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
