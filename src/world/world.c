/* world.c - creating, destroying and looking at a world as a whole. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "solve/solver.h"
#include "world/touch.h"

cairn_world_def cairn_world_def_default(void)
{
    return (cairn_world_def){ .dimension = 3, .gravity = { 0, 0, -9.81 } };
}

cairn_status cairn_world_create(const cairn_world_def *def, cairn_world **out)
{
    *out = NULL;
    if (def->dimension != 2 && def->dimension != 3)
        return CAIRN_BAD_INPUT;
    if (!cairn_is_finite(def->gravity))
        return CAIRN_NOT_FINITE;
    cairn_world *world = cairn_memory_zeroed(1, sizeof *world);
    if (!world)
        return CAIRN_NO_MEMORY;
    world->dimension = (int)def->dimension;
    world->gravity = def->gravity;
    if (def->dimension == 2)
        world->gravity.z = 0;
    cairn_status status = cairn_workspace_create(&world->workspace);
    if (status != CAIRN_OK) {
        cairn_world_destroy(world);
        return status;
    }
    *out = world;
    return CAIRN_OK;
}

void cairn_world_destroy(cairn_world *world)
{
    if (!world)
        return;
    cairn_drivers_remove(world, CAIRN_NO_BODY);
    cairn_inlets_release(world);
    cairn_bodies_release(&world->bodies);
    cairn_contacts_release(&world->contacts);
    cairn_contacts_release(&world->last);
    cairn_kept_pairs_destroy(&world->kept_pairs);
    cairn_pair_list_destroy(&world->pair_list);
    cairn_leaf_list_destroy(&world->leaf_list);
    cairn_arena_destroy(&world->scratch);
    cairn_arena_destroy(&world->materials.friction_lists);
    cairn_workspace_destroy(world->workspace);
    void *blocks[] = { world->materials.items, world->materials.pairs, world->materials.pair_given,
                       world->driven.items,    world->loaded.items,    world->inlets.items,
                       world->joints.items,    world->joints.joined };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        cairn_memory_free(blocks[i]);
    cairn_memory_free(world);
}

int cairn_world_dimension(const cairn_world *world)
{
    return world->dimension;
}

double cairn_world_time(const cairn_world *world)
{
    return world->time;
}

cairn_vec3 cairn_world_gravity(const cairn_world *world)
{
    return world->gravity;
}

const cairn_error *cairn_world_error(const cairn_world *world)
{
    return &world->error;
}

const cairn_problem *cairn_world_problem(const cairn_world *world, const double **r)
{
    if (r)
        *r = world->problem_r;
    return world->problem_r ? &world->problem : NULL;
}

cairn_step_inputs cairn_world_step_inputs(const cairn_world *world)
{
    return world->problem_r ? world->inputs : (cairn_step_inputs){ 0 };
}

cairn_memory_use cairn_world_memory(const cairn_world *world)
{
    const cairn_pair_list *pairs = &world->pair_list;
    const cairn_leaf_list *leaves = &world->leaf_list;
    const cairn_kept_pairs *kept = &world->kept_pairs;
    size_t all_pairs = pairs->capacity + kept->list.capacity + kept->fresh.capacity;
    return (cairn_memory_use){
        .bodies = world->bodies.bytes + cairn_shapes_bytes(&world->bodies.shapes),
        .contacts = world->contacts.bytes + world->last.bytes,
        .pairs = all_pairs * sizeof *pairs->items + leaves->capacity * sizeof *leaves->items +
                 kept->capacity * sizeof *kept->zones,
        .step = cairn_arena_capacity(&world->scratch),
        .solver = cairn_arena_capacity(&world->workspace->arena),
    };
}

/* ---- hash ----------------------------------------------------------------------------------- */

static const uint64_t HASH_START = 0xcbf29ce484222325u;

/* FNV-1a over the bytes of numbers, 64 bits. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* Bodies add up, so that it does not matter in which order they stand. */
uint64_t cairn_world_hash(const cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    uint64_t sum = hash_bytes(HASH_START, &world->time, sizeof world->time);
    for (int i = 0; i < b->count; i++) {
        uint64_t hash = hash_bytes(HASH_START, &b->uid[i], sizeof b->uid[i]);
        hash = hash_bytes(hash, &b->x[i], sizeof b->x[i]);
        hash = hash_bytes(hash, &b->q[i], sizeof b->q[i]);
        hash = hash_bytes(hash, &b->angle[i], sizeof b->angle[i]);
        hash = hash_bytes(hash, &b->v[i], sizeof b->v[i]);
        sum += hash_bytes(hash, &b->omega[i], sizeof b->omega[i]);
    }
    return sum;
}

/* ---- overlap -------------------------------------------------------------------------------- */

/* The deepest overlap so far, in m or as a share of the smaller body. */
typedef struct deepest {
    bool as_share;
    double measure, depth;
    cairn_pair who;
} deepest;

double cairn_pair_radius(const cairn_world *world, int a, int b)
{
    const double sizes[2] = { cairn_body_size(world, a), cairn_body_size(world, b) };
    double size = INFINITY;
    for (int i = 0; i < 2; i++)
        if (sizes[i] > 0)
            size = cairn_smaller(size, sizes[i]);
    return isfinite(size) ? size : 1e-3;
}

static void deepen(const cairn_world *world, const cairn_touches *t, size_t leaf, deepest *found)
{
    cairn_pair pair = t->pairs[cairn_touches_leaf(t, leaf).pair];
    double size = found->as_share ? cairn_pair_radius(world, pair.first, pair.second) : 1;
    for (int k = 0; k < t->number[leaf]; k++) {
        double depth = -t->found[t->first[leaf] + (size_t)k].gap;
        if (depth / size > found->measure)
            *found = (deepest){ found->as_share, depth / size, depth, pair };
    }
}

/* Who lies behind all faces of a mesh or polyline touches none of them. */
static void deepen_inside(const cairn_world *world, const cairn_collider *colliders,
                          cairn_pair pair, deepest *found)
{
    const cairn_collider *a = &colliders[pair.first], *b = &colliders[pair.second];
    double depth = fmax(cairn_collider_swallowed(a, b), cairn_collider_swallowed(b, a));
    double size = found->as_share ? cairn_pair_radius(world, pair.first, pair.second) : 1;
    double measure = depth / size;
    if (measure > found->measure)
        *found = (deepest){ found->as_share, measure, depth, pair };
}

static cairn_status find_deepest(cairn_world *world, deepest *found)
{
    cairn_layout layout;
    cairn_touches touches;
    cairn_world_name_rows(world);
    cairn_arena_reset(&world->scratch);
    world->problem_r = NULL;
    world->error = (cairn_error){ 0 };
    TRY(cairn_world_layout(world, &layout));
    TRY(cairn_world_touches(world, &cairn_broad_phase_auto, &layout, &touches));
    for (size_t k = 0; k < touches.count; k++)
        deepen(world, &touches, k, found);
    for (size_t k = 0; k < world->pair_list.count; k++)
        deepen_inside(world, layout.colliders, world->pair_list.items[k], found);
    return CAIRN_OK;
}

static cairn_body_id id_of(const cairn_world *world, int body)
{
    return (cairn_body_id){ body >= 0 ? world->bodies.uid[body] : CAIRN_NO_BODY };
}

static cairn_status overlap(cairn_world *world, deepest *found, cairn_body_id *a, cairn_body_id *b)
{
    found->who = (cairn_pair){ -1, -1 };
    TRY(find_deepest(world, found));
    if (a)
        *a = id_of(world, found->who.first);
    if (b)
        *b = id_of(world, found->who.second);
    return CAIRN_OK;
}

cairn_status cairn_world_overlap(cairn_world *world, double *depth, cairn_body_id *a,
                                 cairn_body_id *b)
{
    deepest found = { 0 };
    cairn_status status = overlap(world, &found, a, b);
    *depth = found.depth;
    return status;
}

cairn_status cairn_world_overlap_share(cairn_world *world, double *share, double *depth,
                                       cairn_body_id *a, cairn_body_id *b)
{
    deepest found = { .as_share = true };
    cairn_status status = overlap(world, &found, a, b);
    *share = found.measure;
    *depth = found.depth;
    return status;
}
