/* parallel.h - the only parallel loop, the only reduction, and pieces of work of which some must
 * wait for others. */
#ifndef CAIRN_BASE_PARALLEL_H
#define CAIRN_BASE_PARALLEL_H

#include <stddef.h>

#include "base/link.h"

/* Process items begin .. end-1. Results must not depend on how a loop is cut into ranges. */
typedef void cairn_range_fn(int begin, int end, void *context);

/* Call `work` on ranges of at most `grain` items that cover 0 .. count-1, on several threads if
 * that is worthwhile. The ranges depend on count and grain alone, never on the number of
 * threads. */
void cairn_parallel_for(int count, int grain, cairn_range_fn *work, void *context);

/* Combine items begin .. end-1 into *value, which is the neutral value at first. */
typedef void cairn_value_fn(int begin, int end, void *context, void *value);

/* Items that belong to parts, in spans of one part each: first the spans of this member's parts, in
 * the order of the parts; then those that another member counts, but which are processed here
 * too. */
typedef struct cairn_span {
    int begin, end, part;
} cairn_span;

typedef struct cairn_parted {
    int parts;              /* of all members                                      */
    int first, end;         /* the parts of this member: [first, end)              */
    int count, others;      /* spans that are counted here, and that are not       */
    const cairn_span *span; /* of CAIRN_SPAN items at most                         */
    cairn_link *link;       /* to the other members; NULL: this one has all parts  */
    void *room;             /* scratch of cairn_parted_bytes, for one reduction    */
} cairn_parted;

enum { CAIRN_SPAN = 2048, CAIRN_VALUE = 1024 /* bytes of a value, at most */ };

/* The size of `room` in bytes. */
size_t cairn_parted_bytes(int parts, int spans);

/* A reduction: each range of items gives a value, and the values are joined in ascending order, so
 * that the result depends on count and grain alone. If the items are divided into parts, the values
 * of the spans of each part are joined first, then those of all parts in their order: the result
 * then depends on the parts alone, and every member gets it. */
typedef struct cairn_reduction {
    int count, grain;
    const cairn_parted *parted; /* spans in place of ranges; may be NULL     */
    cairn_value_fn *work;
    void (*join)(void *result, const void *value);
    void *context;       /* of `work`                             */
    const void *neutral; /* value of no items                     */
    size_t size;         /* bytes of a value, also of the result */
} cairn_reduction;

/* The number of values that cairn_reduce needs room for. */
int cairn_reduction_values(const cairn_reduction *r);
/* Join the values of all ranges to *result; `room` is scratch for that many values. */
void cairn_reduce(const cairn_reduction *r, void *room, void *result);

/* Pieces of work, each on one part of something or on two. Pieces that share a part are processed
 * in the order in which they were added; others may run at the same time. Zero: no pieces. */
typedef struct cairn_pieces {
    int count, parts;
    int (*part)[2];    /* of each piece; the same one twice: one part                */
    int (*turn)[2];    /* the number of earlier pieces on each of its parts          */
    int *on;           /* the number of pieces on each part                          */
    struct crew *crew; /* progress of the threads, while pieces are processed        */
} cairn_pieces;

/* Bytes for `most` pieces on `parts` parts. */
size_t cairn_pieces_bytes(int parts, int most);
/* Start with no pieces, in memory of that size, aligned to a cache line; the caller keeps it. */
void cairn_pieces_start(cairn_pieces *p, int parts, int most, void *room);
/* Add a piece on one part, or on two. */
void cairn_pieces_add(cairn_pieces *p, int one, int other);

/* Call `work(k, k + 1, context)` for each piece k; pieces that share no part may run at the same
 * time. Only one such call at a time for the same pieces. Every part sees the same work in the same
 * order on any number of threads. */
void cairn_parallel_pieces(const cairn_pieces *p, cairn_range_fn *work, void *context);

/* Set how many threads the loops of the calling thread may use; 0: as many as the machine has. The
 * settings of OpenMP, which other libraries share, do not change. */
void cairn_parallel_threads(int threads);
/* That number. It may decide how work is done, never what the result is. */
int cairn_parallel_width(void);
/* Threads that can run at the same time. */
int cairn_parallel_cores(void);

#endif
