/* touch.h - what touches what: from colliders through pairs and pieces to witnesses. */
#ifndef CAIRN_WORLD_TOUCH_H
#define CAIRN_WORLD_TOUCH_H

#include "world/world.h"

/* The witnesses of all pairs, sorted by (first body, second body, pieces, feature). */
typedef struct cairn_touches {
    const cairn_pair *pairs;
    const cairn_leaf *leaves;
    size_t count;   /* leaves                                                   */
    size_t *first;  /* of each leaf: where its witnesses begin in `found`       */
    int8_t *number; /* of each leaf: how many it has                            */
    bool *swapped;  /* of each leaf: the second collider plays a                */
    cairn_witness *found;
} cairn_touches;

/* Find them, for colliders numbered as the bodies; scratch of the world holds the answer. A pair
 * whose distance cannot be found fails with CAIRN_UNSUPPORTED and is named in the world's error. */
cairn_status cairn_world_touches(cairn_world *world, const cairn_broad_phase *broad,
                                 const cairn_collider *colliders, cairn_touches *out);
/* Whether two colliders without reach touch or overlap; also when that cannot be told. */
bool cairn_world_meet(cairn_world *world, const cairn_collider *a, const cairn_collider *b);

#endif
