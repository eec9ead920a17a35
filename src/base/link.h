/* link.h - communication between the members of one computation: messages between any two of them,
 * and reductions over all. A member is a process, a rank of MPI, or in the tests a thread. */
#ifndef CAIRN_BASE_LINK_H
#define CAIRN_BASE_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "cairn/base.h"

/* What a member sent, and how long it took. */
typedef struct cairn_traffic {
    int64_t messages, bytes; /* sent                                   */
    double sending;          /* s                                      */
    double waiting;          /* s: for messages of others, and copying */
} cairn_traffic;

/* The functions below keep the first failure in `status`; after it nothing is sent or received. */
struct cairn_link {
    int member, members;
    /* Send a message to another member. It is copied, so that this never waits for the receiver,
     * and messages between two members keep their order. */
    cairn_status (*send)(void *context, int to, const void *bytes, size_t count);
    /* Wait for the next message of another member. It is valid until the next call. */
    cairn_status (*receive)(void *context, int from, const void **bytes, size_t *count);
    /* Whether the next message of another member is here already, or will never come; NULL: this is
     * not known. */
    bool (*arrived)(void *context, int from);
    /* This member gives up: members that wait for it fail with its status. */
    void (*leave)(void *context);
    void *context;
    cairn_status status;   /* the first failure */
    cairn_traffic traffic; /* for reports; no result depends on it */
    int parts;             /* of `bound` */
    const int *bound;      /* the first part of each member, and the end; NULL: even numbers */
};

void cairn_link_send(cairn_link *link, int to, const void *bytes, size_t count);
/* The next message of a member; NULL with `count` 0 after a failure. */
const void *cairn_link_receive(cairn_link *link, int from, size_t *count);
/* Whether that message need not be waited for. No result may depend on the answer. */
bool cairn_link_arrived(const cairn_link *link, int from);
/* The next message, copied; the message must have `count` bytes. Zeros after a failure. */
void cairn_link_receive_into(cairn_link *link, int from, void *bytes, size_t count);

/* The first of a member's items if all members have the same number of them, as far as possible. */
int cairn_link_even(const cairn_link *link, int member, int count);
/* The first part of a member; its parts end where those of the next member begin. A link that has
 * no bounds for this number of parts divides them evenly. */
int cairn_link_first(const cairn_link *link, int member, int parts);
/* The member that has a part. */
int cairn_link_holder(const cairn_link *link, int part, int parts);
/* All-gather: `values` has `size` bytes for each of all parts. Each member fills in those of its
 * own parts; afterwards it has those of all. Takes log2(members) rounds. */
void cairn_link_share(cairn_link *link, int parts, void *values, size_t size);

/* Reductions over all members: the largest number, the sum of integers, whether all or any are
 * true. All members must call the same function at the same point, which takes log2(members) rounds
 * of messages. NULL: there is one member. */
double cairn_link_largest(cairn_link *link, double own);
int64_t cairn_link_sum(cairn_link *link, int64_t own);
void cairn_link_sums(cairn_link *link, int64_t *values, int count);
void cairn_link_largests(cairn_link *link, int64_t *values, int count);
bool cairn_link_all(cairn_link *link, bool own);
bool cairn_link_any(cairn_link *link, bool own);

struct cairn_arena;
/* Divide the range of the numbers of all members into as many ranges as there are members,
 * with about the same number of numbers in each: `last` gets the last number of each range but the
 * last one. All members must call it together, with any numbers of their own. */
cairn_status cairn_link_split(cairn_link *link, const uint64_t *number, int count,
                              struct cairn_arena *scratch, uint64_t *last);
/* A whole number that grows with a real one. */
uint64_t cairn_rank_of(double x);
/* The real number before which `rank` of those of all members come in ascending order. All members
 * must call it together, with any numbers of their own; NULL: there is one member. */
double cairn_link_ranked(cairn_link *link, const double *number, int count, int64_t rank);
/* The range of a number. */
int cairn_link_range(const cairn_link *link, const uint64_t *last, uint64_t number);

/* Divide parts, which take so many seconds each, between members: in their order, each member gets
 * one part or more (there are as many parts as members, or more), and the largest sum of a member
 * is as small as possible. `bound` gets the first part of each member, and the end. */
void cairn_parts_divide(const double *seconds, int parts, int members, int *bound);
/* The largest sum of a member. */
double cairn_parts_slowest(const double *seconds, int members, const int *bound);

/* When parts move from one member to another: imbalance has cost more than moving. Zero: the
 * beginning. */
typedef struct cairn_balance {
    double moving; /* s: that the last move of parts took            */
    double lost;   /* s: that a better division would have saved since */
} cairn_balance;

typedef struct cairn_division {
    const double *seconds; /* of each part in a step                    */
    int parts, members;
    const int *bound; /* the first part of each member, and the end */
} cairn_division;

/* `steps` steps were computed in this division. If it pays to move parts, put a new one into
 * `better` and return true. */
bool cairn_balance_moves(cairn_balance *b, const cairn_division *now, int steps, int *better);

#endif
