/* kept.h - pairs that are found once and serve many steps. */
#ifndef CAIRN_COLLIDE_KEPT_H
#define CAIRN_COLLIDE_KEPT_H

#include "collide/collide.h"

/* All bodies as geometry sees them in one step. */
typedef struct cairn_layout {
    int count;
    const cairn_zone *zones;
    const cairn_collider *colliders; /* of all but balls, whose zones say everything         */
    const double *reach;             /* m, of each; NULL: 0                                  */
} cairn_layout;

/* A list of pairs and the zones it was made with. Zero is an empty one. */
typedef struct cairn_kept_pairs {
    cairn_pair_list list;
    cairn_zone *zones; /* with the skin                                               */
    size_t capacity;
    int count;    /* zones                                                       */
    bool made;    /* the list is there                                           */
    double share; /* skin over reach                                             */
    double growth, cost;
    size_t most;           /* pairs that the list may grow to                             */
    double usual;          /* m: mean edge of the bounded zones                           */
    double mending;        /* tests that mending the list has cost                        */
    cairn_pair_list fresh; /* pairs of zones that left, on their way into the list        */
    int64_t uses;          /* steps that the list served                                  */
    int64_t lists;         /* that were made                                              */
    int64_t mended;        /* steps in which one was mended                               */
} cairn_kept_pairs;

void cairn_kept_pairs_destroy(cairn_kept_pairs *kept);
/* The next step makes a new list. */
void cairn_kept_pairs_forget(cairn_kept_pairs *kept);
/* The pairs of a step: of two bounded zones, or of one with a wall, those that meet and of which
 * one is movable; sorted by (first, second). */
cairn_status cairn_kept_pairs_live(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                                   const cairn_layout *at, cairn_arena *scratch,
                                   cairn_pair_list *out);

#endif
