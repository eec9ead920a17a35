/* touch.h - what touches what: from colliders through pairs and pieces to witnesses. */
#ifndef CAIRN_WORLD_TOUCH_H
#define CAIRN_WORLD_TOUCH_H

#include "world/world.h"

enum { CAIRN_TOUCH_GRAIN = 2048 }; /* leaves in one piece of parallel work */

/* The witnesses of all pairs, sorted by (first body, second body, pieces, feature). */
typedef struct cairn_touches {
    const cairn_pair *pairs;
    const cairn_leaf *leaves; /* NULL: every pair is its own leaf                         */
    size_t count;             /* leaves                                                   */
    size_t *first;            /* of each leaf: where its witnesses begin in `found`       */
    int8_t *number;           /* of each leaf: how many it has                            */
    bool *swapped;            /* of each leaf: the second collider plays a                */
    size_t *before;           /* of each CAIRN_TOUCH_GRAIN leaves: witnesses before them  */
    size_t total;             /* witnesses                                                */
    cairn_witness *found;
} cairn_touches;

static inline cairn_leaf cairn_touches_leaf(const cairn_touches *t, size_t k)
{
    return t->leaves ? t->leaves[k] : (cairn_leaf){ (int32_t)k, { -1, -1 }, { -1, -1 } };
}

/* The zones and colliders of all bodies where they are now, without reach; in the scratch. */
cairn_status cairn_world_layout(cairn_world *world, cairn_layout *out);
/* Likewise where each body is at x with orientation q and may move by `reach` (NULL: 0). */
cairn_status cairn_world_layout_at(cairn_world *world, const cairn_vec3 *x, const cairn_quat *q,
                                   const double *reach, cairn_layout *out);
/* The pairs of a layout, in world->pair_list. */
cairn_status cairn_world_pairs(cairn_world *world, const cairn_broad_phase *broad,
                               const cairn_layout *layout);
/* The touches of a layout numbered as the bodies; scratch of the world holds the answer. A pair
 * whose distance cannot be found fails with CAIRN_UNSUPPORTED and is named in the world's error. */
cairn_status cairn_world_touches(cairn_world *world, const cairn_broad_phase *broad,
                                 const cairn_layout *layout, cairn_touches *out);
/* A witness of two bodies of which one has faces, and the flat regions it lies in. */
typedef struct cairn_touch {
    const cairn_witness *found;
    size_t leaf;
    cairn_piece low, high; /* of the body of smaller and of larger index */
} cairn_touch;

/* merge.c: the witnesses of the leaves [begin, end), all of one pair, without those that say
 * nothing new; sorted by (low, high, feature). They and the scratch are of the world's arena. */
cairn_status cairn_touches_merge(cairn_world *world, const cairn_touches *t, size_t begin,
                                 size_t end, cairn_touch **out, size_t *count);
/* Whether the pair of a leaf needs that: one of the two pieces is a face. */
bool cairn_leaf_has_face(const cairn_leaf *leaf);

/* Whether two colliders without reach touch or overlap; also when that cannot be told. */
bool cairn_world_meet(cairn_world *world, const cairn_collider *a, const cairn_collider *b);

#endif
