/* touch.c - what touches what: broad phase, pieces of bodies that are not convex, narrow phase. */
#include "world/touch.h"

#include <math.h>

#include "base/parallel.h"
#include "base/status.h"

enum { GRAIN = 4096 }; /* leaves in one piece of parallel work */

/* ---- narrow phase --------------------------------------------------------------------------- */

typedef struct narrow_job {
    const cairn_collider *colliders;
    const cairn_touches *touches;
    int dimension;
} narrow_job;

static void narrow_range(int begin, int end, void *context)
{
    const narrow_job *job = context;
    const cairn_touches *t = job->touches;
    for (int k = begin; k < end; k++) {
        const cairn_leaf *leaf = &t->leaves[k];
        const cairn_pair *pair = &t->pairs[leaf->pair];
        cairn_collider one, two;
        t->number[k] = (int8_t)cairn_witnesses_find(
            cairn_collider_piece(&job->colliders[pair->first], leaf->first, &one),
            cairn_collider_piece(&job->colliders[pair->second], leaf->second, &two), job->dimension,
            &t->swapped[k], t->found + t->first[k]);
    }
}

/* Leaves of all pairs. */
static cairn_status take_apart(cairn_world *world, const cairn_collider *colliders)
{
    const cairn_pair_list *pairs = &world->pair_list;
    world->leaf_list.count = 0;
    if (pairs->count > INT32_MAX / 4)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < pairs->count; k++)
        TRY(cairn_leaves_add(&colliders[pairs->items[k].first], &colliders[pairs->items[k].second],
                             (int32_t)k, &world->leaf_list));
    return world->leaf_list.count > INT32_MAX / 4 ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* Room for as many witnesses as each leaf can have. */
static cairn_status make_room(cairn_world *world, const cairn_collider *colliders, cairn_touches *t)
{
    size_t total = 0;
    t->first = cairn_arena_take(&world->scratch, t->count, sizeof *t->first);
    t->number = cairn_arena_take(&world->scratch, t->count, sizeof *t->number);
    t->swapped = cairn_arena_take(&world->scratch, t->count, sizeof *t->swapped);
    if (!t->first || !t->number || !t->swapped)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < t->count; k++) {
        const cairn_leaf *leaf = &t->leaves[k];
        const cairn_pair *pair = &t->pairs[leaf->pair];
        cairn_collider one = { .shape = cairn_piece_shape(&colliders[pair->first], leaf->first) };
        cairn_collider two = { .shape = cairn_piece_shape(&colliders[pair->second], leaf->second) };
        t->first[k] = total;
        total += (size_t)cairn_witnesses_limit(&one, &two);
    }
    t->found = cairn_arena_take(&world->scratch, total, sizeof *t->found);
    return t->found ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status refuse(cairn_world *world, const cairn_pair *pair)
{
    const cairn_body_store *b = &world->bodies;
    bool funnel = b->shape[pair->first].kind == CAIRN_SHAPE_FUNNEL ||
                  b->shape[pair->second].kind == CAIRN_SHAPE_FUNNEL;
    return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "bodies",
                      "the distance of body %d (%s) and body %d (%s) cannot be found%s",
                      pair->first, cairn_shape_record((int)b->shape[pair->first].kind)->name,
                      pair->second, cairn_shape_record((int)b->shape[pair->second].kind)->name,
                      funnel ? ": a funnel meets balls only, expected a mesh (2D: a polyline)"
                             : "");
}

/* Bodies of a joint do not meet unless it says so. */
static void leave_out_joined(cairn_world *world)
{
    cairn_pair_list *list = &world->pair_list;
    size_t kept = 0;
    for (size_t k = 0; world->joined_count > 0 && k < list->count; k++) {
        cairn_pair pair = list->items[k];
        if (!cairn_joints_forbid(world, pair.first, pair.second))
            list->items[kept++] = pair;
    }
    if (world->joined_count > 0)
        list->count = kept;
}

cairn_status cairn_world_touches(cairn_world *world, const cairn_broad_phase *broad,
                                 const cairn_collider *colliders, cairn_touches *out)
{
    TRY(cairn_pairs_find(broad, colliders, world->bodies.count, &world->scratch,
                         &world->pair_list));
    leave_out_joined(world);
    TRY(take_apart(world, colliders));
    *out = (cairn_touches){ .pairs = world->pair_list.items,
                            .leaves = world->leaf_list.items,
                            .count = world->leaf_list.count };
    TRY(make_room(world, colliders, out));
    narrow_job job = { colliders, out, world->dimension };
    cairn_parallel_for((int)out->count, GRAIN, narrow_range, &job);
    for (size_t k = 0; k < out->count; k++)
        if (out->number[k] < 0)
            return refuse(world, &out->pairs[out->leaves[k].pair]);
    return CAIRN_OK;
}

bool cairn_world_meet(cairn_world *world, const cairn_collider *a, const cairn_collider *b)
{
    cairn_leaf_list *list = &world->leaf_list;
    cairn_witness found[CAIRN_WITNESSES];
    bool swapped;
    list->count = 0;
    if (cairn_leaves_add(a, b, 0, list) != CAIRN_OK)
        return true;
    for (size_t k = 0; k < list->count; k++) {
        cairn_collider one, two;
        /* a witness within reach 0 touches or overlaps; without an answer it might */
        if (cairn_witnesses_find(cairn_collider_piece(a, list->items[k].first, &one),
                                 cairn_collider_piece(b, list->items[k].second, &two),
                                 world->dimension, &swapped, found) != 0)
            return true;
    }
    return false;
}
