/* grid.c - broad phase by a hierarchical grid; linear for any mix of sizes.
 *
 * A box of edge e lives on level l = ceil(log2(e/e_0)), whose cells have edge e_0 2^l >= e, in the
 * one cell that contains its centre. Among values of e_0 from the smallest edge to twice that, the
 * one with which boxes fill their cells best is chosen. Two boxes that overlap have centres at most
 * (e_i + e_j)/2 apart on each axis, that is one cell of the coarser of their levels: so each box
 * looks, on its own level and on every coarser level that is occupied, into the cell of its centre
 * and its neighbours. Every pair is found once: on the same level by the box whose cell comes
 * first, or which comes first in the same cell; on different levels by the smaller box.
 *
 * Boxes are sorted by cell, so that a row of cells is contiguous in memory. If the cells between
 * the outermost boxes are not many more than the boxes, each has its own number; otherwise they
 * share numbers through a hash. Ranges of boxes are searched in parallel, each with memory for a
 * usual number of pairs, and the results are then joined. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "collide/collide.h"

enum { LEVELS = 64, GRAIN = 512, ROOMY = 4, USUAL = 12, STEPS = 16 };

static const double FARTHEST = 0x1p52; /* cells from the origin: numbers beyond are not used   */
static const double TINIEST = 1e-280;  /* m: of e_0, so that cells per length are finite       */

typedef struct cell {
    int64_t x, y, z;
    int level;
} cell;

/* A box in the order of cells. */
typedef struct entry {
    cairn_zone zone;
    int32_t body;
} entry;

typedef struct level {
    bool occupied;
    double cells_per_length;
    cell low, high;    /* outermost cells that may be looked up                */
    int64_t base;      /* number of the cell `low`, where cells have their own */
    int64_t row, slab; /* cells in a row and in a slab of rows                 */
} level;

typedef struct grid {
    const cairn_zone *zones;
    int count;        /* zones                                                */
    int entry_count;  /* those in the grid                                    */
    double smallest;  /* m: e_0                                               */
    cell *cells;      /* of each zone; level -1: not in the grid              */
    uint32_t *bucket; /* of each zone                                         */
    uint32_t buckets; /* a power of two where hashed                          */
    uint32_t *start;  /* first entry of each bucket, buckets + 1              */
    entry *entries;
    level levels[LEVELS];
    int top;     /* coarsest level that is occupied                      */
    bool flat;   /* all z are equal: 2D                                  */
    bool hashed; /* cells share buckets                                  */
} grid;

static double edge(const cairn_zone *zone)
{
    return 2 * fmax(zone->half.x, fmax(zone->half.y, zone->half.z));
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* A histogram of the edges by their mantissa in [1/2, 1), in STEPS ranges: the number in each
 * range, and the largest. With the largest edge of a range as e_0, cells are as long as the boxes
 * of that range, and up to twice as long as those of the ranges above it. */
typedef struct edges {
    int64_t count[STEPS];
    double most[STEPS];
} edges;

static edges count_edges(const grid *g)
{
    edges all = { { 0 }, { 0 } };
    for (int i = 0; i < g->count; i++) {
        double e = edge(&g->zones[i]);
        int power;
        if (!cairn_zone_bounded(&g->zones[i]) || !(e > 0) || !isfinite(e))
            continue;
        double part = frexp(e, &power);
        int k = (int)((part - 0.5) * 2 * STEPS);
        all.count[k]++;
        all.most[k] = part > all.most[k] ? part : all.most[k];
    }
    return all;
}

/* The relative number of other boxes that boxes find in cells of the largest edge of a range: it
 * grows with the size of cells over the size of boxes. */
static double crowd(const edges *all, int range)
{
    double sum = 0;
    for (int k = 0; k < STEPS; k++) {
        double ratio = all->count[k] ? (k <= range ? 1 : 2) * all->most[range] / all->most[k] : 0;
        sum += (double)all->count[k] * ratio * ratio * ratio;
    }
    return sum;
}

/* e_0, at least `least`. */
static double best_edge(const grid *g, double least)
{
    const edges all = count_edges(g);
    int best = -1, power;
    for (int k = 0; k < STEPS; k++)
        if (all.count[k] && (best < 0 || crowd(&all, k) < crowd(&all, best)))
            best = k;
    if (best < 0 || !isfinite(least))
        return least;
    bool next = frexp(least, &power) > all.most[best];
    return ldexp(all.most[best], power + next);
}

/* e_0 is not so small that levels or cell numbers run out. */
static void measure(grid *g)
{
    double smallest = INFINITY, largest = 0, furthest = 0, z = NAN;
    g->flat = true;
    for (int i = 0; i < g->count; i++) {
        const cairn_zone *zone = &g->zones[i];
        if (!cairn_zone_bounded(zone))
            continue;
        smallest = fmin(smallest, edge(zone));
        largest = fmax(largest, edge(zone));
        furthest = fmax(
            furthest, fmax(fabs(zone->centre.x), fmax(fabs(zone->centre.y), fabs(zone->centre.z))));
        g->flat = g->flat && (isnan(z) || z == zone->centre.z);
        z = zone->centre.z;
    }
    /* at most 1e12 cells from the origin: a place in cells is then known to 2e-4 of a cell, and
     * cells wider than boxes by 1e-3 hold boxes that touch only by rounding */
    double floor_size = fmax(1e-12 * fmax(furthest, largest), TINIEST);
    g->smallest = 1.001 * best_edge(g, fmax(smallest, furthest + largest > 0 ? floor_size : 1));
    for (int l = 0; l < LEVELS; l++)
        g->levels[l].cells_per_length = 1 / ldexp(g->smallest, l);
}

/* The number of a cell from a position in units of cells, which is within 1e12 of 0 by the choice
 * of e_0. A NaN meets no box, and an infinite position is beyond the last cell. */
static int64_t cell_number(double place)
{
    double whole = floor(place);
    if (whole >= -FARTHEST && whole <= FARTHEST)
        return (int64_t)whole;
    return (int64_t)(whole > 0 ? FARTHEST : -FARTHEST);
}

static cell cell_on_level(const grid *g, cairn_vec3 x, int l)
{
    double scale = g->levels[l].cells_per_length;
    return (cell){ cell_number(x.x * scale), cell_number(x.y * scale), cell_number(x.z * scale),
                   l };
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A level extends one cell beyond its boxes, because boxes look into neighbouring cells. */
static void stretch(level *on, cell c)
{
    const cell low = { c.x - 1, c.y - 1, c.z - 1, c.level };
    const cell high = { c.x + 1, c.y + 1, c.z + 1, c.level };
    if (!on->occupied) {
        on->low = low;
        on->high = high;
        on->occupied = true;
    }
    on->low = (cell){ smaller(on->low.x, low.x), smaller(on->low.y, low.y),
                      smaller(on->low.z, low.z), c.level };
    on->high = (cell){ larger(on->high.x, high.x), larger(on->high.y, high.y),
                       larger(on->high.z, high.z), c.level };
}

static void place(grid *g)
{
    for (int i = 0; i < g->count; i++) {
        const cairn_zone *zone = &g->zones[i];
        g->cells[i].level = -1;
        if (!cairn_zone_bounded(zone))
            continue;
        /* clamped as a double: the level of a point is -infinity */
        double e = edge(zone);
        int l = e <= g->smallest ? 0 : (int)fmin(ceil(log2(e / g->smallest)), LEVELS - 1);
        g->cells[i] = cell_on_level(g, zone->centre, l);
        stretch(&g->levels[l], g->cells[i]);
        g->top = l > g->top ? l : g->top;
        g->entry_count++;
    }
}

/* Numbers for all cells between the outermost ones, or a hash if these are too many. */
static void number_cells(grid *g)
{
    double total = 0, most = (double)ROOMY * g->entry_count + 1000;
    for (int l = 0; l <= g->top && total <= most; l++) {
        level *on = &g->levels[l];
        if (!on->occupied)
            continue;
        on->base = (int64_t)total;
        on->row = on->high.x - on->low.x + 1;
        int64_t rows = on->high.y - on->low.y + 1;
        total += (double)on->row * (double)rows * (double)(on->high.z - on->low.z + 1);
        on->slab = total <= most ? on->row * rows : 0;
    }
    g->hashed = total > most;
    g->buckets = g->hashed ? 16 : (uint32_t)total + 1;
    while (g->hashed && g->buckets < 2 * (uint32_t)g->entry_count && g->buckets < (1u << 30))
        g->buckets *= 2;
}

/* Cells of a row follow each other. */
static uint32_t bucket_of(const grid *g, cell c)
{
    const level *on = &g->levels[c.level];
    if (!g->hashed)
        return (uint32_t)(on->base + (c.z - on->low.z) * on->slab + (c.y - on->low.y) * on->row +
                          c.x - on->low.x);
    uint64_t h = (uint64_t)c.y * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 31)) + (uint64_t)c.z * 0x94d049bb133111ebu;
    h = (h ^ (h >> 30)) + (uint64_t)c.level * 0xd6e8feb86659fd93u;
    h *= 0x9e3779b97f4a7c15u;
    return ((uint32_t)(h >> 32) + (uint32_t)c.x) & (g->buckets - 1);
}

/* Sort by bucket, by counting. */
static cairn_status fill(grid *g, cairn_arena *scratch)
{
    g->entries = cairn_arena_take(scratch, (size_t)g->entry_count, sizeof *g->entries);
    g->start = cairn_arena_take(scratch, (size_t)g->buckets + 1, sizeof *g->start);
    if (!g->entries || !g->start)
        return CAIRN_NO_MEMORY;
    memset(g->start, 0, ((size_t)g->buckets + 1) * sizeof *g->start);
    for (int i = 0; i < g->count; i++)
        if (g->cells[i].level >= 0)
            g->start[g->bucket[i] = bucket_of(g, g->cells[i])]++;
    for (uint32_t b = 0; b < g->buckets; b++)
        g->start[b + 1] += g->start[b];
    for (int i = g->count - 1; i >= 0; i--)
        if (g->cells[i].level >= 0)
            g->entries[--g->start[g->bucket[i]]] = (entry){ g->zones[i], i };
    return CAIRN_OK;
}

static cairn_status build(const cairn_zone *zones, int count, cairn_arena *scratch, grid *g)
{
    *g = (grid){ .zones = zones, .count = count };
    g->cells = cairn_arena_take(scratch, (size_t)count, sizeof(cell));
    g->bucket = cairn_arena_take(scratch, (size_t)count, sizeof(uint32_t));
    if (!g->cells || !g->bucket)
        return CAIRN_NO_MEMORY;
    measure(g);
    place(g);
    number_cells(g);
    return fill(g, scratch);
}

/* ---- search --------------------------------------------------------------------------------- */

/* The output of one range of entries: pairs are stored as far as there is room, and all counted. */
typedef struct sink {
    cairn_pair *out;
    size_t room, found;
} sink;

/* Of one row of cells those from x to `last`, as seen by entry k; entries before `from` are left
 * out. */
typedef struct look {
    int k;
    cell first;
    int64_t last;
    uint32_t from;
} look;

static bool is_in(const cell *c, const look *at)
{
    return c->y == at->first.y && c->z == at->first.z && c->level == at->first.level &&
           c->x >= at->first.x && c->x <= at->last;
}

/* The pairs with entries `from` to `to` - 1. */
static void meet(const grid *g, const look *at, uint32_t from, uint32_t to, sink *s)
{
    const entry *me = &g->entries[at->k];
    for (uint32_t j = from; j < to; j++) {
        const entry *other = &g->entries[j];
        if (g->hashed && !is_in(&g->cells[other->body], at))
            continue;
        if (!cairn_zones_overlap(&me->zone, &other->zone) ||
            !(me->zone.movable | other->zone.movable))
            continue;
        if (s->found < s->room)
            s->out[s->found] = cairn_pair_of(me->body, other->body);
        s->found++;
    }
}

/* Rows of hashed cells may go on at bucket 0. */
static void meet_row(const grid *g, const look *at, sink *s)
{
    uint32_t first = bucket_of(g, at->first), cells = (uint32_t)(at->last - at->first.x) + 1;
    uint32_t end = first + cells < g->buckets ? first + cells : g->buckets;
    uint32_t from = g->start[first] > at->from ? g->start[first] : at->from;
    meet(g, at, from, g->start[end], s);
    if (first + cells > g->buckets)
        meet(g, at, 0, g->start[first + cells - g->buckets], s);
}

/* The row at (y, z), three cells wide. */
static void meet_beside(const grid *g, int k, cell c, sink *s)
{
    const level *on = &g->levels[c.level];
    const look at = {
        k, { larger(c.x - 1, on->low.x), c.y, c.z, c.level }, smaller(c.x + 1, on->high.x), 0
    };
    bool outside = c.y < on->low.y || c.y > on->high.y || c.z < on->low.z || c.z > on->high.z;
    if (!outside && at.last >= at.first.x)
        meet_row(g, &at, s);
}

/* On its own level: the rest of its cell and the next one, and the rows that come later. */
static void look_ahead(const grid *g, int k, sink *s)
{
    cell c = g->cells[g->entries[k].body];
    const look own = { k, c, c.x + 1, (uint32_t)k + 1 };
    meet_row(g, &own, s);
    for (int64_t z = 0; z <= !g->flat; z++)
        for (int64_t y = z ? -1 : 1; y <= 1; y++)
            meet_beside(g, k, (cell){ c.x, c.y + y, c.z + z, c.level }, s);
}

/* On a coarser level. */
static void look_around(const grid *g, int k, int l, sink *s)
{
    cell c = cell_on_level(g, g->entries[k].zone.centre, l);
    int64_t depth = g->flat ? 0 : 1;
    for (int64_t z = -depth; z <= depth; z++)
        for (int64_t y = -1; y <= 1; y++)
            meet_beside(g, k, (cell){ c.x, c.y + y, c.z + z, l }, s);
}

typedef struct search {
    const grid *g;
    cairn_pair *found; /* USUAL for each entry: the pairs of a range, where they fit */
    size_t *count;     /* of each range                                              */
    size_t *first;     /* of each range: where its pairs begin in `out`              */
    cairn_pair *out;
} search;

static void search_entries(const grid *g, int begin, int end, sink *s)
{
    for (int k = begin; k < end; k++) {
        look_ahead(g, k, s);
        for (int l = g->cells[g->entries[k].body].level + 1; l <= g->top; l++)
            if (g->levels[l].occupied)
                look_around(g, k, l, s);
    }
}

static void search_range(int begin, int end, void *context)
{
    const search *job = context;
    sink s = { job->found + (size_t)begin * USUAL, (size_t)(end - begin) * USUAL, 0 };
    search_entries(job->g, begin, end, &s);
    job->count[begin / GRAIN] = s.found;
}

/* Ranges whose pairs did not fit are searched again. */
static void list_range(int begin, int end, void *context)
{
    const search *job = context;
    size_t range = (size_t)(begin / GRAIN), count = job->count[range];
    cairn_pair *out = job->out + job->first[range];
    sink s = { out, count, 0 };
    if (count <= (size_t)(end - begin) * USUAL)
        memcpy(out, job->found + (size_t)begin * USUAL, count * sizeof *out);
    else
        search_entries(job->g, begin, end, &s);
}

static cairn_status run(const cairn_zone *zones, int count, cairn_arena *scratch,
                        cairn_pair_list *out)
{
    grid g;
    TRY(build(zones, count, scratch, &g));
    size_t entries = (size_t)g.entry_count, ranges = (entries + GRAIN - 1) / GRAIN;
    search s = { .g = &g,
                 .found = cairn_arena_take(scratch, entries * USUAL, sizeof(cairn_pair)),
                 .count = cairn_arena_take(scratch, ranges, sizeof(size_t)),
                 .first = cairn_arena_take(scratch, ranges, sizeof(size_t)) };
    if (!s.found || !s.count || !s.first)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(g.entry_count, GRAIN, search_range, &s);
    size_t total = out->count;
    for (size_t k = 0; k < ranges; k++) {
        s.first[k] = total;
        total += s.count[k];
    }
    TRY(cairn_memory_reserve((void **)&out->items, &out->capacity, total, sizeof *out->items));
    s.out = out->items;
    if (total > out->count)
        cairn_parallel_for(g.entry_count, GRAIN, list_range, &s);
    out->count = total;
    return CAIRN_OK;
}

const cairn_broad_phase cairn_broad_phase_grid = { "grid",
                                                   "hierarchical grid: linear for any mix of sizes",
                                                   run };
