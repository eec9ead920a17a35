/* world.c - creating and destroying a world, and queries about it as a whole: memory, hash,
 * overlap. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "solve/solver.h"
#include "world/touch.h"

cairn_world_def cairn_world_def_default(void)
{
    return (cairn_world_def){ .dimension = 3, .gravity = { 0, 0, -9.81 } };
}

/* A world of zeros is empty but valid, so that a failure can destroy it half-built. */
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

/* Lists that own further memory are released first, then the plain arrays. NULL is allowed. */
void cairn_world_destroy(cairn_world *world)
{
    if (!world)
        return;
    cairn_drivers_remove(world, CAIRN_NO_BODY);
    cairn_varied_release(world);
    cairn_applied_release(&world->loaded.applied);
    cairn_inlets_release(world);
    cairn_bodies_release(&world->bodies);
    cairn_contacts_release(&world->contacts);
    cairn_contacts_release(&world->last);
    cairn_kept_pairs_destroy(&world->kept_pairs);
    cairn_images_destroy(&world->periodic.images);
    cairn_pair_list_destroy(&world->pair_list);
    cairn_leaf_list_destroy(&world->leaf_list);
    cairn_arena_destroy(&world->scratch);
    cairn_arena_destroy(&world->materials.friction_lists);
    cairn_exchange_release(&world->exchange);
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

cairn_status cairn_world_set_gravity(cairn_world *world, cairn_vec3 gravity)
{
    world->error = (cairn_error){ 0 };
    if (!cairn_is_finite(gravity))
        return cairn_fail(&world->error, CAIRN_NOT_FINITE, "gravity", "gravity must be finite");
    if (world->dimension == 2 && gravity.z != 0)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "gravity", "in 2D z must be 0");
    world->gravity = gravity;
    return CAIRN_OK;
}

/* A clock without a step starts a new count at the next step. */
cairn_status cairn_world_restart(cairn_world *world, double time)
{
    world->error = (cairn_error){ 0 };
    if (!isfinite(time))
        return cairn_fail(&world->error, CAIRN_NOT_FINITE, "time", "the time must be finite");
    if (cairn_drivers_integrate(world))
        return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "drivers",
                          "a driver follows a speed, whose integral up to another time is not "
                          "known");
    world->time = time;
    for (int i = 0; i < world->bodies.count; i++) /* none was created after now */
        world->bodies.born[i] = fmin(world->bodies.born[i], time);
    world->clock = (cairn_world_clock){ .start = time };
    world->contacts.count = world->last.count = 0;
    world->contacts.elsewhere = world->last.elsewhere = 0;
    world->workspace->pile_is_last = false;
    world->contacts.step = world->last.step = 0;
    world->problem_r = NULL;
    cairn_kept_pairs_forget(&world->kept_pairs);
    cairn_world_forget_changes(world);
    return CAIRN_OK;
}

const cairn_error *cairn_world_error(const cairn_world *world)
{
    return &world->error;
}

/* The problem of the last step is in the scratch. It ends when the scratch is reset or rows change;
 * problem_r is NULL from then on. */
const cairn_problem *cairn_world_problem(const cairn_world *world, const double **r)
{
    if (r)
        *r = world->problem_r;
    return world->problem_r ? &world->problem : NULL;
}

cairn_step_inputs cairn_world_step_inputs(const cairn_world *world)
{
    if (world->contacts.elsewhere > 0) /* biases come with the contacts */
        cairn_world_name_rows((cairn_world *)world);
    if (world->exchange.gathered)
        cairn_pile_show_inputs((cairn_world *)world);
    bool there = world->problem_r || world->exchange.gathered;
    return there ? world->inputs : (cairn_step_inputs){ 0 };
}

/* Bytes by purpose; capacities count, not what is used of them. */
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

/* offset basis of FNV-1a */
static const uint64_t HASH_START = 0xcbf29ce484222325u;

/* 64-bit FNV-1a over the bytes of numbers: only states that are equal to the bit are sure to have
 * equal hashes; 0 and -0 differ. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_body(const cairn_body_store *b, int i)
{
    uint64_t hash = hash_bytes(HASH_START, &b->uid[i], sizeof b->uid[i]);
    hash = hash_bytes(hash, &b->x[i], sizeof b->x[i]);
    hash = hash_bytes(hash, &b->q[i], sizeof b->q[i]);
    hash = hash_bytes(hash, &b->angle[i], sizeof b->angle[i]);
    hash = hash_bytes(hash, &b->v[i], sizeof b->v[i]);
    return hash_bytes(hash, &b->omega[i], sizeof b->omega[i]);
}

/* A hash of the state. The hashes of bodies are added, so that the order of rows does not matter;
 * the uid in each of them keeps bodies distinct. Of several members each adds its own bodies, and
 * the first one those that all have. */
uint64_t cairn_world_hash(const cairn_world *world)
{
    cairn_pile_return((cairn_world *)world);
    const cairn_body_store *b = &world->bodies;
    cairn_link *link = world->exchange.link;
    uint64_t sum = 0;
    for (int i = 0; i < b->count; i++)
        if (cairn_world_moves(world, i) || (i < b->held && (!link || link->member == 0)))
            sum += hash_body(b, i);
    sum = (uint64_t)cairn_link_sum(link, (int64_t)sum);
    return sum + hash_bytes(HASH_START, &world->time, sizeof world->time);
}

/* Speeds of centres of mass only; rotation is not considered. */
double cairn_world_speed2(const cairn_world *world)
{
    cairn_pile_return((cairn_world *)world);
    const cairn_body_store *b = &world->bodies;
    double largest = 0;
    for (int i = b->held; i < b->count; i++) {
        double square = cairn_dot(b->v[i], b->v[i]);
        if (cairn_world_moves(world, i) && !(square <= largest) && !isnan(largest))
            largest = square;
    }
    return cairn_link_largest(world->exchange.link, largest);
}

/* ---- overlap -------------------------------------------------------------------------------- */

/* The deepest overlap so far. */
typedef struct deepest {
    bool as_share;         /* measure: share of the smaller radius, else m */
    double measure, depth; /* what is compared; m                          */
    cairn_pair who;
} deepest;

/* Sizes of 0 (points) and infinite ones (planes) do not count. 1 mm keeps shares finite for two
 * bodies without size. */
double cairn_pair_radius(const cairn_world *world, int a, int b)
{
    const double sizes[2] = { cairn_body_size(world, a), cairn_body_size(world, b) };
    double size = INFINITY;
    for (int i = 0; i < 2; i++)
        if (sizes[i] > 0)
            size = cairn_smaller(size, sizes[i]);
    return isfinite(size) ? size : 1e-3;
}

/* The witnesses of one leaf. */
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

/* A body that lies behind all faces of a mesh or polyline touches none of them, so the witnesses do
 * not show it. */
static void deepen_inside(const cairn_world *world, const cairn_collider *colliders, size_t k,
                          deepest *found)
{
    const cairn_pair pair = world->pair_list.items[k];
    const cairn_collider *a = &colliders[pair.first];
    cairn_collider image = colliders[pair.second], *b = &image;
    if (world->pair_list.image)
        image.x = cairn_add(image.x,
                            cairn_lattice_shift(&world->periodic.cell, world->pair_list.image[k]));
    double depth = fmax(cairn_collider_swallowed(a, b), cairn_collider_swallowed(b, a));
    double size = found->as_share ? cairn_pair_radius(world, pair.first, pair.second) : 1;
    double measure = depth / size;
    if (measure > found->measure)
        *found = (deepest){ found->as_share, measure, depth, pair };
}

/* The rows to search. Members get regions of space and the ghosts around them, as in a step. */
static cairn_status gather_rows(cairn_world *world)
{
    cairn_step_options options = cairn_step_options_default();
    cairn_link *link = world->exchange.link;
    options.parts = link ? link->members : 0;
    if (link)
        return cairn_world_put_in_order(world, &options);
    cairn_world_name_rows(world);
    cairn_arena_reset(&world->scratch);
    world->problem_r = NULL;
    world->exchange.gathered = false;
    return CAIRN_OK;
}

/* A search over all bodies with reach 0. It resets the scratch, so the problem of the last step
 * ends. */
static cairn_status find_deepest(cairn_world *world, deepest *found)
{
    cairn_layout layout;
    cairn_touches touches;
    world->error = (cairn_error){ 0 };
    TRY(gather_rows(world));
    TRY(cairn_world_layout(world, &layout));
    TRY(cairn_world_touches(world, &cairn_broad_phase_auto, &layout, &touches));
    for (size_t k = 0; k < touches.count; k++)
        deepen(world, &touches, k, found);
    for (size_t k = 0; k < world->pair_list.count; k++)
        deepen_inside(world, layout.colliders, k, found);
    return CAIRN_OK;
}

static cairn_body_id id_of(const cairn_world *world, int body)
{
    return (cairn_body_id){ body >= 0 ? world->bodies.uid[body] : CAIRN_NO_BODY };
}

/* What a member has found. */
typedef struct finding {
    double measure, depth;
    cairn_body_id a, b;
} finding;

/* The deepest one of all members; of equal ones that of the lowest member. */
static cairn_status agree_on_deepest(cairn_world *world, finding *own)
{
    cairn_link *link = world->exchange.link;
    if (!link)
        return CAIRN_OK;
    finding *all = cairn_memory_zeroed((size_t)link->members, sizeof *all);
    cairn_status status = cairn_exchange_agree(world, all ? CAIRN_OK : CAIRN_NO_MEMORY);
    if (status == CAIRN_OK) {
        all[link->member] = *own;
        cairn_link_share(link, link->members, all, sizeof *all);
        *own = all[0];
        for (int k = 1; k < link->members; k++)
            *own = all[k].measure > own->measure ? all[k] : *own;
        status = link->status;
    }
    cairn_memory_free(all);
    return status;
}

/* a and b may be NULL; they name no body if nothing overlaps. */
static cairn_status overlap(cairn_world *world, deepest *found, cairn_body_id *a, cairn_body_id *b)
{
    found->who = (cairn_pair){ -1, -1 };
    TRY(cairn_exchange_agree(world, find_deepest(world, found)));
    finding own = { found->measure, found->depth, id_of(world, found->who.first),
                    id_of(world, found->who.second) };
    TRY(agree_on_deepest(world, &own));
    found->measure = own.measure;
    found->depth = own.depth;
    if (a)
        *a = own.a;
    if (b)
        *b = own.b;
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
