/* kept.h - pairs that are found once and used for many steps, and the pairs of a few zones among
 * many. */
#ifndef CAIRN_COLLIDE_KEPT_H
#define CAIRN_COLLIDE_KEPT_H

#include "collide/collide.h"

/* The geometry of all bodies in one step. */
typedef struct cairn_layout {
    int count;
    const cairn_zone *zones;
    const cairn_collider *colliders; /* of all but balls, whose zones are sufficient         */
    const double *reach;             /* m, of each; NULL: 0                                  */
} cairn_layout;

/* A list of pairs and the zones it was built with. Zero is an empty list. */
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
    double mending;        /* tests that updates of the list have cost                    */
    cairn_pair_list fresh; /* pairs of strays, before they are merged into the list       */
    int64_t uses;          /* steps for which the list was used                           */
    int64_t lists;         /* lists that were built                                       */
    int64_t mended;        /* steps in which a list was updated                           */
} cairn_kept_pairs;

void cairn_kept_pairs_destroy(cairn_kept_pairs *kept);
/* Make the next step build a new list. */
void cairn_kept_pairs_forget(cairn_kept_pairs *kept);
/* Bodies have other numbers now: `was` has the old number of each of `count` bodies, -1: it is new;
 * `now` the new number of each old one, -1: it is gone. The list is kept if bodies keep their
 * order, else forgotten. New bodies are strays in the next step. */
void cairn_kept_pairs_rename(cairn_kept_pairs *kept, const int32_t *was, int count,
                             const int32_t *now, int before);
/* The pairs of a step: of two bounded zones, or of one with a wall, those that meet and of which
 * one is movable; sorted by (first, second). */
cairn_status cairn_kept_pairs_live(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                                   const cairn_layout *at, cairn_arena *scratch,
                                   cairn_pair_list *out);

/* ---- strays ------------------------------------------------------------------------------ */

/* The pairs of a few zones among many. */

typedef struct cairn_strays {
    const cairn_zone *zones;
    int count;
    const int32_t *few; /* numbers of the zones whose pairs are wanted */
    int few_count;
    double usual; /* m: mean edge of the zones */
} cairn_strays;

/* Whether the few can be searched separately: they are bounded, not much larger than usual, and not
 * so far from the origin that positions lose their accuracy. */
bool cairn_strays_suit(const cairn_zone *zones, const int32_t *few, int count, double usual);
/* All pairs of one of the few with any zone that it meets, one of the two movable; sorted, each
 * once. The few must suit. */
cairn_status cairn_strays_find(const cairn_strays *strays, cairn_arena *scratch,
                               cairn_pair_list *out);

#endif
