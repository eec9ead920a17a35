/* grid.c - broad phase by a hierarchical grid in a hash table; linear for any mix of sizes.
 *
 * A collider of box edge e lives on level l = ceil(log2(e/e_min)), whose cells have edge
 * e_min 2^l >= e, in the one cell that holds its centre. Two boxes that overlap have centres at
 * most (e_i + e_j)/2 apart on each axis, that is one cell of the coarser of their levels: so each
 * collider looks, on its own level and on every coarser level that is occupied, into the cell of
 * its centre and the neighbours of it. Every pair is found once: on equal levels by the collider
 * of smaller index, on different levels by the smaller box. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "collide/collide.h"

enum { LEVELS = 64 };

typedef struct cell {
    int64_t x, y, z;
    int level;
} cell;

typedef struct grid {
    const cairn_collider *colliders;
    int count;
    double smallest;  /* m: e_min                                             */
    cell *cells;      /* of each collider; level -1: not in the grid          */
    uint32_t mask;    /* buckets - 1                                          */
    uint32_t *start;  /* first entry of each bucket, buckets + 1              */
    int32_t *entries; /* colliders by bucket, ascending within                */
    bool occupied[LEVELS];
    bool flat; /* all z are equal: 2D                                  */
} grid;

static double edge(const cairn_collider *c)
{
    cairn_vec3 half = c->box.half;
    return 2 * (fmax(half.x, fmax(half.y, half.z)) + c->reach);
}

static uint32_t bucket_of(const grid *g, cell c)
{
    uint64_t h = (uint64_t)c.x * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29)) + (uint64_t)c.y * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 31)) + (uint64_t)c.z * 0x94d049bb133111ebu;
    h = (h ^ (h >> 30)) + (uint64_t)c.level * 0xd6e8feb86659fd93u;
    h *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) & g->mask;
}

static cell cell_on_level(const grid *g, cairn_vec3 x, int level)
{
    double size = ldexp(g->smallest, level);
    return (cell){ (int64_t)floor(x.x / size), (int64_t)floor(x.y / size),
                   (int64_t)floor(x.z / size), level };
}

/* e_min: the smallest box, but not so small that levels or cell numbers run out. */
static void measure(grid *g)
{
    double smallest = INFINITY, largest = 0, furthest = 0, z = NAN;
    g->flat = true;
    for (int i = 0; i < g->count; i++) {
        const cairn_collider *c = &g->colliders[i];
        if (!cairn_collider_bounded(c))
            continue;
        smallest = fmin(smallest, edge(c));
        largest = fmax(largest, edge(c));
        furthest = fmax(furthest, fmax(fabs(c->box.centre.x),
                                       fmax(fabs(c->box.centre.y), fabs(c->box.centre.z))));
        g->flat = g->flat && (isnan(z) || z == c->box.centre.z);
        z = c->box.centre.z;
    }
    /* at most 1e12 cells from the origin: a place in cells is then known to 1e-4 of a cell, and
     * cells wider than boxes by 1e-3 hold boxes that touch only by rounding */
    double floor_size = 1e-12 * fmax(furthest, largest);
    g->smallest = 1.001 * fmax(smallest, floor_size > 0 ? floor_size : 1);
}

/* Place every collider, then sort them into buckets by counting. */
static void fill(grid *g)
{
    for (int i = 0; i < g->count; i++) {
        const cairn_collider *c = &g->colliders[i];
        g->cells[i].level = -1;
        if (!cairn_collider_bounded(c))
            continue;
        /* clamped as a double: the level of a point is -infinity */
        int level = (int)fmin(fmax(ceil(log2(edge(c) / g->smallest)), 0), LEVELS - 1);
        g->cells[i] = cell_on_level(g, c->box.centre, level);
        g->occupied[level] = true;
        g->start[bucket_of(g, g->cells[i]) + 1]++;
    }
    for (uint32_t b = 0; b <= g->mask; b++)
        g->start[b + 1] += g->start[b];
    g->start[g->mask + 2] = g->start[g->mask + 1];
    for (int i = g->count - 1; i >= 0; i--)
        if (g->cells[i].level >= 0)
            g->entries[--g->start[bucket_of(g, g->cells[i]) + 1]] = i;
}

static cairn_status build(const cairn_collider *colliders, int count, cairn_arena *scratch, grid *g)
{
    *g = (grid){ .colliders = colliders, .count = count };
    uint32_t buckets = 16;
    while (buckets < 2 * (uint32_t)count && buckets < (1u << 30))
        buckets *= 2;
    g->mask = buckets - 1;
    g->cells = cairn_arena_take(scratch, (size_t)count, sizeof(cell));
    g->entries = cairn_arena_take(scratch, (size_t)count, sizeof(int32_t));
    g->start = cairn_arena_take(scratch, (size_t)buckets + 2, sizeof(uint32_t));
    if (!g->cells || !g->entries || !g->start)
        return CAIRN_NO_MEMORY;
    memset(g->start, 0, ((size_t)buckets + 2) * sizeof(uint32_t));
    measure(g);
    fill(g);
    return CAIRN_OK;
}

static bool same_cell(cell a, cell b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.level == b.level;
}

/* Colliders of one cell that collider i has to report. */
static cairn_status look_into(const grid *g, int i, cell c, cairn_pair_list *out)
{
    const cairn_collider *me = &g->colliders[i];
    uint32_t bucket = bucket_of(g, c);
    /* fill() moved the starts: bucket b now spans start[b + 1] .. start[b + 2] */
    for (uint32_t k = g->start[bucket + 1]; k < g->start[bucket + 2]; k++) {
        int j = g->entries[k];
        if (j == i || (c.level == g->cells[i].level && j < i) || !same_cell(g->cells[j], c))
            continue;
        const cairn_collider *other = &g->colliders[j];
        if ((me->movable || other->movable) && cairn_boxes_overlap(me, other))
            TRY(cairn_pair_list_add(out, i, j));
    }
    return CAIRN_OK;
}

static cairn_status look_around(const grid *g, int i, int level, cairn_pair_list *out)
{
    cell centre = cell_on_level(g, g->colliders[i].box.centre, level);
    int64_t depth = g->flat ? 0 : 1;
    for (int64_t z = -depth; z <= depth; z++)
        for (int64_t y = -1; y <= 1; y++)
            for (int64_t x = -1; x <= 1; x++) {
                cell c = { centre.x + x, centre.y + y, centre.z + z, level };
                TRY(look_into(g, i, c, out));
            }
    return CAIRN_OK;
}

static cairn_status run(const cairn_collider *colliders, int count, cairn_arena *scratch,
                        cairn_pair_list *out)
{
    grid g;
    TRY(build(colliders, count, scratch, &g));
    for (int i = 0; i < count; i++)
        for (int level = g.cells[i].level; level >= 0 && level < LEVELS; level++)
            if (g.occupied[level])
                TRY(look_around(&g, i, level, out));
    return CAIRN_OK;
}

const cairn_broad_phase cairn_broad_phase_grid = {
    "grid", "hierarchical grid in a hash table: linear for any mix of sizes", run
};
