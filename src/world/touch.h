/* touch.h - collision detection of a world: from colliders through pairs and pieces to
 * witnesses. */
#ifndef CAIRN_WORLD_TOUCH_H
#define CAIRN_WORLD_TOUCH_H

#include "world/world.h"

enum { CAIRN_TOUCH_GRAIN = 2048 }; /* leaves in one piece of parallel work */

/* The witnesses of all pairs, sorted by (first body, second body, pieces, feature). */
typedef struct cairn_touches {
    const cairn_pair *pairs;
    const cairn_leaf *leaves; /* NULL: every pair is its own leaf                           */
    size_t count;             /* leaves                                                     */
    size_t *first;            /* of each leaf: index of its first witness in `found`        */
    int8_t *number;           /* of each leaf: number of witnesses; < 0: none can be found  */
    bool *swapped;            /* of each leaf: the second collider is body a of the contact */
    size_t *before;           /* of each CAIRN_TOUCH_GRAIN leaves: witnesses before them    */
    size_t total;             /* witnesses                                                  */
    cairn_witness *found;     /* with unused entries where a leaf has fewer than its limit  */
} cairn_touches;

/* Leaf k. Without pieces it is pair k as a whole, and no list of leaves is needed. */
static inline cairn_leaf cairn_touches_leaf(const cairn_touches *t, size_t k)
{
    return t->leaves ? t->leaves[k] : (cairn_leaf){ (int32_t)k, { -1, -1 }, { -1, -1 } };
}

/* The zones and colliders of all bodies in their present poses, with reach 0; in the scratch. */
cairn_status cairn_world_layout(cairn_world *world, cairn_layout *out);
/* Likewise with each body at x with orientation q and a reach, m (NULL: 0). */
cairn_status cairn_world_layout_at(cairn_world *world, const cairn_vec3 *x, const cairn_quat *q,
                                   const double *reach, cairn_layout *out);
/* Finds the pairs of a layout, in world->pair_list. Bodies joined without collision are left
 * out. */
cairn_status cairn_world_pairs(cairn_world *world, const cairn_broad_phase *broad,
                               const cairn_layout *layout);
/* The cell of a layout: `ahead` s from now, with the ways of its edges in `time` s as rates, m. */
cairn_lattice cairn_lattice_for(const cairn_lattice *cell, double ahead, double time);
/* The zone of the second body of pair k; in a periodic world that of its image, in `made`. */
const cairn_zone *cairn_second_zone(const cairn_world *world, const cairn_layout *layout, size_t k,
                                    cairn_zone *made);
/* Two bodies that touch in the step, the second of them as its image. */
typedef struct cairn_meeting {
    int body[2];
    cairn_image image; /* of the second body; 0 unless the world is periodic */
} cairn_meeting;

/* The bodies of contact j, and of pair k of the pair list. */
cairn_meeting cairn_contact_meeting(const cairn_contact_store *contacts, int j);
cairn_meeting cairn_pair_meeting(const cairn_pair_list *list, size_t k);
/* The same with the bodies exchanged. */
static inline cairn_meeting cairn_meeting_turned(const cairn_meeting *c)
{
    return (cairn_meeting){ { c->body[1], c->body[0] }, cairn_image_opposite(c->image) };
}

/* Finds the witnesses of a layout whose entries are the rows of bodies; the result is in the
 * scratch of the world. Fails with CAIRN_UNSUPPORTED if the distance of a pair cannot be computed;
 * the world's error names the pair. */
cairn_status cairn_world_touches(cairn_world *world, const cairn_broad_phase *broad,
                                 const cairn_layout *layout, cairn_touches *out);
/* A witness of two bodies of which at least one has faces, and the flat regions in which it
 * lies. */
typedef struct cairn_touch {
    const cairn_witness *found;
    size_t leaf;
    cairn_piece low, high; /* patches of the first and of the second body of the pair */
} cairn_touch;

/* touch.c: the witnesses of the leaves [begin, end), all of one pair, without redundant ones;
 * sorted by (low, high, feature). They are in the scratch of the world. */
cairn_status cairn_touches_merge(cairn_world *world, const cairn_touches *t, size_t begin,
                                 size_t end, cairn_touch **out, size_t *count);
/* Whether the pair of a leaf needs cairn_touches_merge: one of its pieces is a face. */
bool cairn_leaf_has_face(const cairn_leaf *leaf);

/* Whether two colliders with reach 0 touch or overlap; also true if this cannot be computed. */
bool cairn_world_meet(cairn_world *world, const cairn_collider *a, const cairn_collider *b);

#endif
