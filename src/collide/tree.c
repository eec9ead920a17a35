/* tree.c - broad phase by a tree of boxes, built anew in each step in linear time; for boxes of
 * very different size or form, where the cubes of the grid fit badly.
 *
 * Each box asks the tree for those that overlap it and keeps those of larger index, so that every
 * pair is found once. The answer is the box test of the oracle: the tree only leaves out what its
 * own boxes, made larger than any rounding, do not hold. */
#include <math.h>

#include "base/status.h"
#include "collide/collide.h"
#include "math/vec.h"

typedef struct search {
    const cairn_zone *zones;
    const int32_t *owner; /* zone of each box in the tree                    */
    int me;
    cairn_pair_list *out;
    cairn_status status;
} search;

/* A box, wider by more than rounding can hide. */
static cairn_bounds bounds_of(const cairn_zone *zone)
{
    cairn_vec3 x = zone->centre, h = zone->half;
    double place = fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
    double more = 1e-14 * (place + h.x + h.y + h.z);
    cairn_vec3 half = cairn_add(h, cairn_vec(more, more, more));
    return (cairn_bounds){ cairn_sub(x, half), cairn_add(x, half) };
}

static bool visit(void *context, int32_t item)
{
    search *s = context;
    int other = s->owner[item];
    const cairn_zone *a = &s->zones[s->me], *b = &s->zones[other];
    if (other <= s->me || !(a->movable || b->movable) || !cairn_zones_overlap(a, b))
        return true;
    s->status = cairn_pair_list_add(s->out, s->me, other);
    return s->status == CAIRN_OK;
}

static cairn_status run(const cairn_zone *zones, int count, cairn_arena *scratch,
                        cairn_pair_list *out)
{
    cairn_bounds *boxes = cairn_arena_take(scratch, (size_t)count, sizeof *boxes);
    int32_t *owner = cairn_arena_take(scratch, (size_t)count, sizeof *owner);
    cairn_mesh_tree tree;
    int bounded = 0;
    if (!boxes || !owner)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++)
        if (cairn_zone_bounded(&zones[i])) {
            boxes[bounded] = bounds_of(&zones[i]);
            owner[bounded++] = i;
        }
    TRY(cairn_mesh_tree_build_in(boxes, bounded, scratch, &tree));
    search s = { .zones = zones, .owner = owner, .out = out };
    for (int k = 0; k < bounded; k++) {
        s.me = owner[k];
        cairn_mesh_tree_query(&tree, &boxes[k], visit, &s);
        TRY(s.status);
    }
    return CAIRN_OK;
}

const cairn_broad_phase cairn_broad_phase_tree = {
    "tree", "tree of boxes, built in each step: for boxes of very different size or form", run
};
