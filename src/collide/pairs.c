/* pairs.c - colliders and their zones, lists of pairs, and the broad phases `all_pairs` and
 * `tree`. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "collide/collide.h"
#include "math/vec.h"
#include "shape/shape.h"

/* ---- colliders and zones ----------------------------------------------------------------- */

/* Placing a shape in space, and the zone in which it may be. */

void cairn_collider_enclose(cairn_collider *c)
{
    c->box = (cairn_box){ c->x, { c->extent, c->extent, c->extent } };
}

void cairn_collider_place(cairn_collider *c, cairn_pose pose)
{
    c->x = pose.x;
    c->q = pose.q;
    c->extent = cairn_shape_extent(c->shape);
    if (isfinite(c->extent))
        c->box = cairn_shape_box(c->shape, &pose);
}

bool cairn_collider_bounded(const cairn_collider *c)
{
    return c->shape && isfinite(c->extent);
}

/* ---- zones ---------------------------------------------------------------------------------- */

static cairn_zone wall_zone(const cairn_collider *c)
{
    cairn_vec3 axis = c->shape->axis;
    if (c->shape->kind != CAIRN_SHAPE_HALF_SPACE || c->turn > 0)
        return (cairn_zone){ .centre = c->x, .kind = CAIRN_ZONE_UNBOUNDED, .movable = c->movable };
    return (cairn_zone){ .centre = c->x,
                         .half = cairn_rotate(c->q, cairn_scale(1 / cairn_norm(axis), axis)),
                         .radius = c->reach,
                         .kind = CAIRN_ZONE_PLANE,
                         .movable = c->movable };
}

/* m: how far outside its box a surface may have contacts with a body without size: points that have
 * penetrated a little are detected behind its faces (triangles.c). */
static double beyond_box(const cairn_collider *c)
{
    bool faces = cairn_collider_has_pieces(c) && c->shape->kind != CAIRN_SHAPE_COMPOUND;
    return faces ? 0.01 * c->extent : 0;
}

cairn_zone cairn_zone_of(const cairn_collider *c)
{
    if (!c->shape)
        return (cairn_zone){ .kind = CAIRN_ZONE_NONE };
    if (!cairn_collider_bounded(c))
        return wall_zone(c);
    bool ball = c->shape->kind == CAIRN_SHAPE_SPHERE || c->shape->kind == CAIRN_SHAPE_POINT;
    double reach = c->reach + beyond_box(c);
    return (cairn_zone){ .centre = c->box.centre,
                         .half = cairn_add(c->box.half, cairn_vec(reach, reach, reach)),
                         .radius = ball ? c->extent : c->reach,
                         .kind = ball ? CAIRN_ZONE_BALL : CAIRN_ZONE_BOX,
                         .movable = c->movable };
}

/* The distance of a box or ball from a plane, reduced by its own size. */
static double height_of(const cairn_zone *zone, const cairn_zone *plane)
{
    cairn_vec3 n = plane->half, h = zone->half;
    double height = cairn_dot(cairn_sub(zone->centre, plane->centre), n);
    if (zone->kind == CAIRN_ZONE_BALL)
        return height - h.x;
    double size = fabs(n.x) * h.x + fabs(n.y) * h.y + fabs(n.z) * h.z;
    return height - size - 1e-12 * (fabs(height) + size); /* more than rounding can hide */
}

bool cairn_zones_meet(const cairn_zone *a, const cairn_zone *b)
{
    if (a->kind == CAIRN_ZONE_BALL && b->kind == CAIRN_ZONE_BALL)
        return cairn_balls_meet(a, b);
    if (cairn_zone_bounded(a) && cairn_zone_bounded(b))
        return cairn_zones_overlap(a, b);
    if (cairn_zone_bounded(a) && b->kind == CAIRN_ZONE_PLANE)
        return !(height_of(a, b) > b->radius); /* also where a reach is infinite */
    if (cairn_zone_bounded(b) && a->kind == CAIRN_ZONE_PLANE)
        return !(height_of(b, a) > a->radius);
    return true;
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* The pair list, the oracle broad phase, and the sorted list of all pairs. */

static const cairn_broad_phase *const phases[] = {
    &cairn_broad_phase_auto,
    &cairn_broad_phase_grid,
    &cairn_broad_phase_tree,
    &cairn_broad_phase_all_pairs,
};

enum { PHASES = sizeof phases / sizeof phases[0] };

const char *cairn_broad_phase_name(int index)
{
    return index >= 0 && index < PHASES ? phases[index]->name : NULL;
}

const cairn_broad_phase *cairn_broad_phase_find(const char *name)
{
    for (int i = 0; i < PHASES; i++)
        if (name && strcmp(phases[i]->name, name) == 0)
            return phases[i];
    return NULL;
}

const char *cairn_broad_phase_summary(const char *name)
{
    const cairn_broad_phase *phase = cairn_broad_phase_find(name);
    return phase ? phase->summary : NULL;
}

cairn_status cairn_pair_list_add(cairn_pair_list *list, int32_t a, int32_t b)
{
    TRY(cairn_memory_reserve((void **)&list->items, &list->capacity, list->count + 1,
                             sizeof(cairn_pair)));
    list->items[list->count++] = cairn_pair_of(a, b);
    return CAIRN_OK;
}

void cairn_pair_list_destroy(cairn_pair_list *list)
{
    cairn_memory_free(list->items);
    cairn_memory_free(list->image);
    *list = (cairn_pair_list){ 0 };
}

bool cairn_boxes_overlap(const cairn_collider *a, const cairn_collider *b)
{
    const cairn_zone p = cairn_zone_of(a), q = cairn_zone_of(b);
    return cairn_zones_overlap(&p, &q);
}

/* ---- the oracle ----------------------------------------------------------------------------- */

static cairn_status all_pairs(const cairn_zone *zones, int count, cairn_arena *scratch,
                              cairn_pair_list *out)
{
    (void)scratch;
    for (int i = 0; i < count; i++) {
        if (!cairn_zone_bounded(&zones[i]))
            continue;
        for (int j = i + 1; j < count; j++) {
            const cairn_zone *a = &zones[i], *b = &zones[j];
            if (cairn_zone_bounded(b) && (a->movable || b->movable) && cairn_zones_overlap(a, b))
                TRY(cairn_pair_list_add(out, i, j));
        }
    }
    return CAIRN_OK;
}

const cairn_broad_phase cairn_broad_phase_all_pairs = {
    "all-pairs", "every pair is tested: quadratic, the oracle for the others", all_pairs
};

/* ---- the choice ----------------------------------------------------------------------------- */

/* Statistics of the boxes of a world. */
typedef struct sizes {
    int count;
    double smallest, largest; /* m: longest edges of the boxes                          */
    double slimness;          /* sum of longest over middle edge                        */
} sizes;

static sizes measure(const cairn_zone *zones, int count)
{
    sizes s = { .smallest = INFINITY };
    for (int i = 0; i < count; i++) {
        cairn_vec3 h = zones[i].half;
        double longest = fmax(h.x, fmax(h.y, h.z)), shortest = fmin(h.x, fmin(h.y, h.z));
        if (!cairn_zone_bounded(&zones[i]) || !(longest > 0))
            continue;
        s.count++;
        s.smallest = fmin(s.smallest, longest);
        s.largest = fmax(s.largest, longest);
        s.slimness += longest / fmax(h.x + h.y + h.z - longest - shortest, 1e-3 * longest);
    }
    return s;
}

/* The grid's cells are cubes of few sizes, which suit boxes that are nearly cubes of few sizes. */
static cairn_status chosen(const cairn_zone *zones, int count, cairn_arena *scratch,
                           cairn_pair_list *out)
{
    sizes s = measure(zones, count);
    bool alike = s.largest <= 8 * s.smallest && s.slimness <= 3 * s.count;
    return (alike ? cairn_broad_phase_grid : cairn_broad_phase_tree)
        .run(zones, count, scratch, out);
}

const cairn_broad_phase cairn_broad_phase_auto = { "auto",
                                                   "the grid for boxes of like size, else the tree",
                                                   chosen };

/* ---- sorting -------------------------------------------------------------------------------- */

/* Short runs with the same first body: insertion sort by the second. */
static void sort_run(cairn_pair *run, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        cairn_pair item = run[i];
        size_t k = i;
        for (; k > 0 && run[k - 1].second > item.second; k--)
            run[k] = run[k - 1];
        run[k] = item;
    }
}

/* Counting sort by the first body, then each run by the second: linear for granular scenes. */
cairn_status cairn_pair_list_sort(cairn_pair_list *list, int count, cairn_arena *scratch)
{
    size_t *start = cairn_arena_take(scratch, (size_t)count + 2, sizeof *start);
    cairn_pair *copy = cairn_arena_take(scratch, list->count, sizeof *copy);
    if (!start || !copy)
        return CAIRN_NO_MEMORY;
    memset(start, 0, ((size_t)count + 2) * sizeof *start);
    if (list->count == 0)
        return CAIRN_OK;
    memcpy(copy, list->items, list->count * sizeof *copy);
    for (size_t k = 0; k < list->count; k++)
        start[copy[k].first + 2]++;
    for (int i = 1; i < count + 2; i++)
        start[i] += start[i - 1];
    for (size_t k = 0; k < list->count; k++)
        list->items[start[copy[k].first + 1]++] = copy[k];
    for (int i = 0; i < count; i++)
        sort_run(list->items + start[i], start[i + 1] - start[i]);
    return CAIRN_OK;
}

static cairn_status add_wall(const cairn_zone *zones, int count, int wall, cairn_pair_list *out)
{
    for (int i = 0; i < count; i++)
        if (cairn_zone_bounded(&zones[i]) && (zones[i].movable || zones[wall].movable) &&
            cairn_zones_meet(&zones[i], &zones[wall]))
            TRY(cairn_pair_list_add(out, i, wall));
    return CAIRN_OK;
}

cairn_status cairn_pairs_find(const cairn_broad_phase *broad, const cairn_zone *zones, int count,
                              cairn_arena *scratch, cairn_pair_list *out)
{
    out->count = 0;
    TRY(broad->run(zones, count, scratch, out));
    for (int i = 0; i < count; i++)
        if (zones[i].kind == CAIRN_ZONE_PLANE || zones[i].kind == CAIRN_ZONE_UNBOUNDED)
            TRY(add_wall(zones, count, i, out));
    return cairn_pair_list_sort(out, count, scratch);
}

/* ---- broad phase by a tree --------------------------------------------------------------- */

/* Broad phase by a tree of boxes, rebuilt in each step in linear time; for boxes of
 * very different size or form, where the cubes of the grid fit badly.
 *
 * Each box asks the tree for those that overlap it and keeps those of larger index, so that every
 * pair is found once. The answer is the box test of the oracle: the tree only leaves out what its
 * own boxes, made larger than any rounding, do not hold. */

typedef struct search {
    const cairn_zone *zones;
    const int32_t *owner; /* zone of each box in the tree                    */
    int me;
    cairn_pair_list *out;
    cairn_status status;
} search;

/* A box, enlarged by more than the rounding error. */
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
