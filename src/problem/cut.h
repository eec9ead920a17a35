/* cut.h - a one-step problem cut into parts: its blocks in ranges, its contacts by the part of
 * their lower block and, if several members compute, the data that two parts exchange.
 *
 * A member has the blocks of its own parts and, as ghosts, the blocks of other parts that touch
 * them. It has all contacts of its own blocks, in the order of the whole problem. A contact between
 * two parts is computed by the members of both, with the same numbers, and counted by one of
 * them. */
#ifndef CAIRN_PROBLEM_CUT_H
#define CAIRN_PROBLEM_CUT_H

#include "base/memory.h"
#include "cairn/problem.h"

/* The border between a part of this member and a part of another one. */
typedef struct cairn_border {
    int part, other; /* of this member; of the other one                          */
    int member;      /* the member that has the other part                        */
    int outs, ins;
    int32_t *out; /* blocks of the part that touch the other one, ascending    */
    int32_t *in;  /* blocks of the other one that touch the part: ghosts       */
} cairn_border;

typedef struct cairn_cut {
    const uint16_t *part;  /* of each block, ascending                                 */
    const int32_t *wall;   /* of each contact; may be NULL: see cairn_cutting          */
    cairn_parted contacts; /* each contact counted once                                */
    int64_t all;           /* contacts of all members                                  */
    int borders;           /* in the order of their lower parts, then of their higher ones */
    cairn_border *border;
    const cairn_border *const *by_member; /* the same, sorted by member                */
    void *message;                        /* buffer for the blocks of all borders      */
} cairn_cut;

enum { CAIRN_CUT_RECORD = 8 * sizeof(double) }; /* bytes of a block in a message, at most */

/* How to cut: the number of parts, and the part of each block. link NULL: this member has all. */
typedef struct cairn_cutting {
    int parts;
    const uint16_t *part; /* of each block                                                */
    const int32_t *wall;  /* of each contact: the wall that it is with, -1: none; NULL: not
                             known. In the whole problem contacts of other parts may lie
                             between those of one part with two walls: a span therefore ends
                             where the wall changes, with and without the other parts     */
    cairn_link *link;
} cairn_cutting;

/* Cut a problem: sets p->parts and p->cut. All arrays are the arena's. */
cairn_status cairn_problem_cut(cairn_problem *p, const cairn_cutting *by, cairn_arena *arena);

/* Contacts of the whole problem. */
static inline int64_t cairn_problem_size(const cairn_problem *p)
{
    return p->cut ? p->cut->all : p->contacts;
}

/* The link to the members that have the other parts; NULL: there are none. */
static inline cairn_link *cairn_problem_link(const cairn_problem *p)
{
    return p->cut ? p->cut->contacts.link : NULL;
}

static inline const cairn_parted *cairn_problem_parted(const cairn_problem *p)
{
    return p->cut ? &p->cut->contacts : NULL;
}

/* Records of blocks that members exchange: `stride` bytes each, of which `used` at their beginning
 * change. */
typedef struct cairn_records {
    void *bytes;
    size_t stride, used; /* used: at most CAIRN_CUT_RECORD */
} cairn_records;

/* The end of the borders with the same member from `begin` on, in a list sorted by member. */
int cairn_borders_end(const cairn_border *const *border, int begin, int end);
/* One message with the records of all these borders, which are with one member; and the reverse.
 * Both members list their borders in the same order. */
void cairn_borders_send(const cairn_cut *cut, const cairn_border *const *border, int count,
                        const cairn_records *records);
void cairn_borders_receive(const cairn_cut *cut, const cairn_border *const *border, int count,
                           const cairn_records *records);
/* Fetch the data of all ghosts from their owners, with one message from each: x has `size` bytes
 * for each block, at most CAIRN_CUT_RECORD. Does nothing without a link. */
void cairn_problem_fetch(const cairn_problem *p, void *x, size_t size);

/* ---- one contact after the other ------------------------------------------------------------- */

/* The order in which a sweep visits the contacts one after the other:
 *
 *     for (int round = 0, k = 0; round < visits.rounds; round++)
 *         for (cairn_visits_meet(&visits, round, v); k < cairn_visits_end(&visits, round); k++)
 *             ... contact cairn_visits_contact(&visits, k)
 *
 * It depends on the parts alone. A problem that is not cut has one round, of all contacts in their
 * order. */
typedef struct cairn_visits {
    const cairn_problem *p;
    int rounds;
    int *end;         /* of each round in `contact`       */
    int32_t *contact; /* NULL: all of them in their order */
} cairn_visits;

/* The arena may be NULL if the problem is not cut. */
cairn_status cairn_visits_find(const cairn_problem *p, cairn_arena *arena, cairn_visits *out);
static inline int cairn_visits_end(const cairn_visits *visits, int round)
{
    return visits->contact ? visits->end[round] : visits->p->contacts;
}

/* Before a round: exchange the velocities v of the blocks that two members visit in it. */
void cairn_visits_meet(const cairn_visits *visits, int round, double *v);
static inline int cairn_visits_contact(const cairn_visits *visits, int k)
{
    return visits->contact ? visits->contact[k] : k;
}

/* The part that counts a contact of a cut problem, the lower one of its two blocks. */
int cairn_contact_part(const cairn_problem *p, int j);
/* Whether this member counts a contact: of those that two members have, one does. */
static inline bool cairn_contact_counts(const cairn_problem *p, int j)
{
    if (!cairn_problem_link(p))
        return true;
    int part = cairn_contact_part(p, j);
    return part >= p->cut->contacts.first && part < p->cut->contacts.end;
}

#endif
