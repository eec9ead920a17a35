/* parallel.h - the one parallel loop, the one reduction, and pieces of work of which some must wait
 * for others. */
#ifndef CAIRN_BASE_PARALLEL_H
#define CAIRN_BASE_PARALLEL_H

#include <stddef.h>

/* Works on items begin .. end-1; results must not depend on how a loop is cut into ranges. */
typedef void cairn_range_fn(int begin, int end, void *context);

/* Call `work` on ranges of at most `grain` items that cover 0 .. count-1, on several threads when
 * that pays. The ranges depend on count and grain alone, never on the number of threads. */
void cairn_parallel_for(int count, int grain, cairn_range_fn *work, void *context);

/* What items begin .. end-1 come to, into a value that begins as the neutral one. */
typedef void cairn_value_fn(int begin, int end, void *context, void *value);

/* Ranges of items come to values, and these together to a result: in ascending order, so that the
 * result depends on count and grain alone. */
typedef struct cairn_reduction {
    int count, grain;
    cairn_value_fn *work;
    void (*join)(void *result, const void *value);
    void *context;       /* of `work`                             */
    const void *neutral; /* value of no items                     */
    size_t size;         /* bytes of a value                      */
} cairn_reduction;

/* The values that cairn_reduce makes. */
int cairn_reduction_values(const cairn_reduction *r);
/* Join the values of all ranges to the result; `room` is for that many values. */
void cairn_reduce(const cairn_reduction *r, void *room, void *result);

/* Pieces of work, each on one part of something or on two: those that share a part have their turns
 * in the order in which they were added. Zero: none. */
typedef struct cairn_pieces {
    int count, parts;
    int (*part)[2];    /* of each piece; twice the same: one part                    */
    int (*turn)[2];    /* pieces on that part that were added before                 */
    int *on;           /* pieces on each part                                        */
    struct crew *crew; /* who is where, while they are worked on                     */
} cairn_pieces;

/* Bytes for `most` pieces on `parts` parts. */
size_t cairn_pieces_bytes(int parts, int most);
/* No pieces yet, in a room of that size that begins at a cache line. */
void cairn_pieces_start(cairn_pieces *p, int parts, int most, void *room);
/* One more. */
void cairn_pieces_add(cairn_pieces *p, int one, int other);

/* Call `work(k, k + 1, context)` for each piece k; pieces that share no part may run at the same
 * time. One call at a time for the same pieces. A part goes through the same work in the same order
 * on any number of threads. */
void cairn_parallel_pieces(const cairn_pieces *p, cairn_range_fn *work, void *context);

/* How many threads loops may use from now on; 0: as many as the machine has. */
void cairn_parallel_threads(int threads);
/* How many that is; to choose how to work, never what comes out. */
int cairn_parallel_width(void);
/* Threads that can run at the same time. */
int cairn_parallel_cores(void);

#endif
