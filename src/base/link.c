/* link.c - reductions over all members, built from messages between two of them. */
#include "base/link.h"

#include <math.h>
#include <string.h>

#include "base/common.h"

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
