/* touch.c - what touches what: broad phase, pieces of bodies that are not convex, narrow phase. */
#include "world/touch.h"

#include <math.h>

#include "base/parallel.h"
#include "base/status.h"
#include "collide/plain.h"

enum { TURN_GRAIN = 16384 }; /* pairs in one piece of parallel work */

/* ---- layout --------------------------------------------------------------------------------- */

cairn_status cairn_world_layout_at(cairn_world *world, const cairn_vec3 *x, const cairn_quat *q,
                                   const double *reach, cairn_layout *out)
{
    int count = world->bodies.count;
    cairn_zone *zones = cairn_arena_take(&world->scratch, (size_t)count, sizeof *zones);
    cairn_collider *colliders = cairn_arena_take(&world->scratch, (size_t)count, sizeof *colliders);
    if (!zones || !colliders)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        const cairn_pose body = { x[i], q[i] };
        colliders[i] = cairn_body_collider_at(world, i, &body);
        colliders[i].reach = reach ? reach[i] : 0;
        zones[i] = cairn_zone_of(&colliders[i]);
    }
    *out = (cairn_layout){ count, zones, colliders, reach };
    return CAIRN_OK;
}

cairn_status cairn_world_layout(cairn_world *world, cairn_layout *out)
{
    return cairn_world_layout_at(world, world->bodies.x, world->bodies.q, NULL, out);
}

/* The collider of a body: there already, or made from the zone of a ball. */
static const cairn_collider *collider_of(const cairn_world *world, const cairn_layout *layout,
                                         int i, cairn_collider *made)
{
    const cairn_zone *zone = &layout->zones[i];
    if (zone->kind != CAIRN_ZONE_BALL)
        return &layout->colliders[i];
    *made = (cairn_collider){ .shape = cairn_body_shape(&world->bodies, i),
                              .x = zone->centre,
                              .q = { 1, 0, 0, 0 },
                              .extent = zone->radius,
                              .reach = layout->reach ? layout->reach[i] : 0,
                              .movable = zone->movable };
    cairn_collider_enclose(made);
    return made;
}

/* ---- narrow phase --------------------------------------------------------------------------- */

typedef struct narrow_job {
    const cairn_world *world;
    const cairn_layout *layout;
    const cairn_touches *touches;
} narrow_job;

/* Two balls, or a ball and a plane: what they have in common was settled by their zones. */
static bool is_plain(const cairn_zone *a, const cairn_zone *b)
{
    bool ball_a = a->kind == CAIRN_ZONE_BALL, ball_b = b->kind == CAIRN_ZONE_BALL;
    return (ball_a && (ball_b || b->kind == CAIRN_ZONE_PLANE)) ||
           (ball_b && a->kind == CAIRN_ZONE_PLANE);
}

static int find_any(const narrow_job *job, size_t k, bool *swapped, cairn_witness *out)
{
    const cairn_leaf leaf = cairn_touches_leaf(job->touches, k);
    const cairn_pair pair = job->touches->pairs[leaf.pair];
    cairn_collider whole[2], part[2];
    const cairn_collider *one = collider_of(job->world, job->layout, pair.first, &whole[0]);
    const cairn_collider *two = collider_of(job->world, job->layout, pair.second, &whole[1]);
    return cairn_witnesses_find(cairn_collider_piece(one, leaf.first, &part[0]),
                                cairn_collider_piece(two, leaf.second, &part[1]),
                                job->world->dimension, swapped, out);
}

static void narrow_range(int begin, int end, void *context)
{
    const narrow_job *job = context;
    const cairn_touches *t = job->touches;
    const cairn_zone *zones = job->layout->zones;
    size_t total = 0;
    for (size_t k = (size_t)begin; k < (size_t)end; k++) {
        const cairn_pair pair = t->pairs[cairn_touches_leaf(t, k).pair];
        const cairn_zone *one = &zones[pair.first], *two = &zones[pair.second];
        cairn_witness *out = t->found + t->first[k];
        int number = 1;
        if (is_plain(one, two))
            cairn_zones_witness(one, two, job->world->dimension, &t->swapped[k], out);
        else
            number = find_any(job, k, &t->swapped[k], out);
        t->number[k] = (int8_t)number;
        total += number > 0 ? (size_t)number : 0;
    }
    t->before[begin / CAIRN_TOUCH_GRAIN] = total;
}

static bool has_pieces(const cairn_layout *layout)
{
    for (int i = 0; i < layout->count; i++) {
        uint8_t kind = layout->zones[i].kind;
        if ((kind == CAIRN_ZONE_BOX || kind == CAIRN_ZONE_UNBOUNDED) &&
            cairn_collider_has_pieces(&layout->colliders[i]))
            return true;
    }
    return false;
}

/* Leaves of all pairs. */
static cairn_status take_apart(cairn_world *world, const cairn_layout *layout, cairn_touches *t)
{
    const cairn_pair_list *pairs = &world->pair_list;
    cairn_leaf_list *list = &world->leaf_list;
    t->pairs = pairs->items;
    t->count = pairs->count;
    if (!has_pieces(layout))
        return CAIRN_OK;
    list->count = 0;
    for (size_t k = 0; k < pairs->count; k++) {
        cairn_collider one, two;
        TRY(cairn_leaves_add(collider_of(world, layout, pairs->items[k].first, &one),
                             collider_of(world, layout, pairs->items[k].second, &two), (int32_t)k,
                             list));
    }
    t->leaves = list->items;
    t->count = list->count;
    return list->count > INT32_MAX / 4 ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static size_t most_witnesses(const cairn_world *world, const cairn_layout *layout,
                             const cairn_touches *t, size_t k)
{
    const cairn_leaf leaf = cairn_touches_leaf(t, k);
    const cairn_pair pair = t->pairs[leaf.pair];
    if (is_plain(&layout->zones[pair.first], &layout->zones[pair.second]))
        return 1;
    cairn_collider made[2];
    const cairn_collider *one = collider_of(world, layout, pair.first, &made[0]);
    const cairn_collider *two = collider_of(world, layout, pair.second, &made[1]);
    const cairn_collider first = { .shape = cairn_piece_shape(one, leaf.first) };
    const cairn_collider second = { .shape = cairn_piece_shape(two, leaf.second) };
    return (size_t)cairn_witnesses_limit(&first, &second);
}

/* Room for as many witnesses as each leaf can have. */
static cairn_status make_room(cairn_world *world, const cairn_layout *layout, cairn_touches *t)
{
    cairn_arena *scratch = &world->scratch;
    size_t total = 0, ranges = (t->count + CAIRN_TOUCH_GRAIN - 1) / CAIRN_TOUCH_GRAIN;
    t->first = cairn_arena_take(scratch, t->count, sizeof *t->first);
    t->number = cairn_arena_take(scratch, t->count, sizeof *t->number);
    t->swapped = cairn_arena_take(scratch, t->count, sizeof *t->swapped);
    t->before = cairn_arena_take(scratch, ranges, sizeof *t->before);
    if (!t->first || !t->number || !t->swapped || !t->before)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < t->count; k++) {
        t->first[k] = total;
        total += most_witnesses(world, layout, t, k);
    }
    t->found = cairn_arena_take(scratch, total, sizeof *t->found);
    return t->found ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status refuse(cairn_world *world, const cairn_pair *pair)
{
    const cairn_body_store *b = &world->bodies;
    bool funnel = cairn_body_shape(b, pair->first)->kind == CAIRN_SHAPE_FUNNEL ||
                  cairn_body_shape(b, pair->second)->kind == CAIRN_SHAPE_FUNNEL;
    return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "bodies",
                      "the distance of body %lld (%s) and body %lld (%s) cannot be found%s",
                      cairn_row_uid(world, pair->first),
                      cairn_shape_record((int)cairn_body_shape(b, pair->first)->kind)->name,
                      cairn_row_uid(world, pair->second),
                      cairn_shape_record((int)cairn_body_shape(b, pair->second)->kind)->name,
                      funnel ? ": a funnel meets balls only, expected a mesh (2D: a polyline)"
                             : "");
}

/* Bodies of a joint do not meet unless it says so. */
static void leave_out_joined(cairn_world *world)
{
    cairn_pair_list *list = &world->pair_list;
    size_t kept = 0;
    for (size_t k = 0; world->joints.joined_count > 0 && k < list->count; k++) {
        cairn_pair pair = list->items[k];
        if (!cairn_joints_forbid(world, pair.first, pair.second))
            list->items[kept++] = pair;
    }
    if (world->joints.joined_count > 0)
        list->count = kept;
}

/* The first of two bodies is the one of smaller uid, wherever they stand: what is found out about a
 * pair must not depend on rows. */
static void turn_range(int begin, int end, void *context)
{
    const cairn_world *world = context;
    const uint64_t *uid = world->bodies.uid;
    cairn_pair *pairs = world->pair_list.items;
    for (int k = begin; k < end; k++) {
        cairn_pair pair = pairs[k];
        bool turned = uid[pair.first] > uid[pair.second]; /* half of them: no branch */
        pairs[k].first = turned ? pair.second : pair.first;
        pairs[k].second = turned ? pair.first : pair.second;
    }
}

/* From the number of witnesses in each range to that before it; a leaf without answer fails. */
static cairn_status add_up(cairn_world *world, cairn_touches *t)
{
    for (size_t k = 0; k < t->count; k++)
        if (t->number[k] < 0)
            return refuse(world, &t->pairs[cairn_touches_leaf(t, k).pair]);
    for (size_t r = 0; r * CAIRN_TOUCH_GRAIN < t->count; r++) {
        size_t here = t->before[r];
        t->before[r] = t->total;
        t->total += here;
    }
    return t->total > INT32_MAX / 2 ? CAIRN_NO_MEMORY : CAIRN_OK;
}

cairn_status cairn_world_pairs(cairn_world *world, const cairn_broad_phase *broad,
                               const cairn_layout *layout)
{
    TRY(cairn_kept_pairs_live(&world->kept_pairs, broad, layout, &world->scratch,
                              &world->pair_list));
    leave_out_joined(world);
    if (world->pair_list.count > INT32_MAX / 4)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for((int)world->pair_list.count, TURN_GRAIN, turn_range, world);
    return CAIRN_OK;
}

cairn_status cairn_world_touches(cairn_world *world, const cairn_broad_phase *broad,
                                 const cairn_layout *layout, cairn_touches *out)
{
    *out = (cairn_touches){ 0 };
    TRY(cairn_world_pairs(world, broad, layout));
    TRY(take_apart(world, layout, out));
    TRY(make_room(world, layout, out));
    narrow_job job = { world, layout, out };
    cairn_parallel_for((int)out->count, CAIRN_TOUCH_GRAIN, narrow_range, &job);
    return add_up(world, out);
}

/* A witness within reach 0 touches or overlaps; without an answer it might. */
static bool meet(const cairn_world *world, const cairn_collider *a, const cairn_collider *b)
{
    cairn_witness found[CAIRN_WITNESSES];
    bool swapped;
    return cairn_witnesses_find(a, b, world->dimension, &swapped, found) != 0;
}

bool cairn_world_meet(cairn_world *world, const cairn_collider *a, const cairn_collider *b)
{
    cairn_leaf_list *list = &world->leaf_list;
    if (!cairn_collider_has_pieces(a) && !cairn_collider_has_pieces(b))
        return meet(world, a, b);
    list->count = 0;
    if (cairn_leaves_add(a, b, 0, list) != CAIRN_OK)
        return true;
    for (size_t k = 0; k < list->count; k++) {
        cairn_collider one, two;
        if (meet(world, cairn_collider_piece(a, list->items[k].first, &one),
                 cairn_collider_piece(b, list->items[k].second, &two)))
            return true;
    }
    return cairn_collider_swallowed(a, b) > 0 || cairn_collider_swallowed(b, a) > 0;
}
