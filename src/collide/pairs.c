/* pairs.c - the pair list, the oracle broad phase, and the sorted list of all pairs. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "collide/collide.h"

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

/* What boxes a world has. */
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

/* The grid's cells are cubes of few sizes: good for boxes that nearly are that as well. */
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
