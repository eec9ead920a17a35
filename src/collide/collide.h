/* collide.h - from shapes in space to candidate contacts.
 *
 * A collider may move by `reach` (and turn by `turn`) in the coming step. Two colliders are a
 * candidate when their gap is at most the sum of what both may cover; so a pair that is left out
 * cannot touch in the step as long as nobody moves further than said. */
#ifndef CAIRN_COLLIDE_COLLIDE_H
#define CAIRN_COLLIDE_COLLIDE_H

#include "base/arena.h"
#include "cairn/world.h"

/* One body as geometry sees it. */
typedef struct cairn_collider {
    const cairn_shape *shape; /* NULL: not there                                        */
    cairn_vec3 x;             /* m                                                      */
    cairn_quat q;
    double extent; /* m: radius about x that holds the shape; may be infinite */
    double reach;  /* m: how far x may move in this step                     */
    double turn;   /* rad: how far an unbounded shape may turn               */
    bool movable;  /* two that are not movable never collide                 */
} cairn_collider;

/* Two colliders that may touch, first < second. */
typedef struct cairn_pair {
    int32_t first, second;
} cairn_pair;

/* A growing list of pairs that lives from step to step. */
typedef struct cairn_pair_list {
    cairn_pair *items;
    size_t count, capacity;
} cairn_pair_list;

/* A broad phase fills `out` with all pairs whose boxes (extent + reach about x) overlap, where
 * both are bounded and at least one is movable. Any order, each pair once. */
typedef struct cairn_broad_phase {
    const char *name;
    const char *summary;
    cairn_status (*run)(const cairn_collider *colliders, int count, cairn_arena *scratch,
                        cairn_pair_list *out);
} cairn_broad_phase;

extern const cairn_broad_phase cairn_broad_phase_grid;
extern const cairn_broad_phase cairn_broad_phase_all_pairs;

/* The broad phase of a name, NULL when unknown. */
const cairn_broad_phase *cairn_broad_phase_find(const char *name);
/* Whether the boxes of two bounded colliders overlap. */
bool cairn_boxes_overlap(const cairn_collider *a, const cairn_collider *b);
cairn_status cairn_pair_list_add(cairn_pair_list *list, int32_t a, int32_t b);
void cairn_pair_list_destroy(cairn_pair_list *list);
/* All pairs: those of the broad phase, and every movable bounded collider with every unbounded
 * one; sorted by (first, second). */
cairn_status cairn_pairs_find(const cairn_broad_phase *broad, const cairn_collider *colliders,
                              int count, cairn_arena *scratch, cairn_pair_list *out);

/* Where two shapes are closest. */
typedef struct cairn_witness {
    cairn_vec3 on_a, on_b; /* m: the points                                             */
    cairn_vec3 normal;     /* unit, from b to a                                         */
    double gap;            /* m, negative when shapes overlap                           */
    int32_t feature;       /* tells apart several contacts of one pair                  */
} cairn_witness;

enum { CAIRN_WITNESSES = 3 }; /* at most, per pair */

/* The witnesses of a pair with gap <= what both may cover. The narrow phase decides which collider
 * plays a and which b: *swapped says that a is the second one. Returns their number.
 * CAIRN_UNSUPPORTED pairs (two unbounded shapes) have none. */
int cairn_witnesses_find(const cairn_collider *first, const cairn_collider *second, int dimension,
                         bool *swapped, cairn_witness *out);

#endif
