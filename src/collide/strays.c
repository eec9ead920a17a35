/* strays.c - the pairs of a few zones among many.
 *
 * Cells have an edge c that is at least that of every zone in question. Two boxes that overlap have
 * centres at most c apart on each axis, so each of the few is entered in the cell of its centre and
 * in the 26 around it, and each of the many looks into the cell of its own centre. Cells share
 * numbers through a hash: what does not overlap is told apart by its box. Zones larger than c, and
 * walls, look at all of the few. */
#include "collide/strays.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

enum { AROUND = 27 };

static const double WIDER = 1.5; /* cells over the usual zone                            */
static const double MOST = 4;    /* edge of a stray over the usual zone                  */
static const double FAR = 1e11;  /* cells from the origin: places are known to 2e-5 there */

typedef struct cell {
    int64_t x, y, z;
} cell;

typedef struct table {
    const cairn_zone *zones;
    const int32_t *few;
    int count;
    double edge, cells_per_length;
    uint32_t mask;   /* buckets - 1                                             */
    uint32_t *start; /* first entry of each bucket, buckets + 1                 */
    int32_t *entry;  /* zones                                                   */
} table;

static double edge_of(const cairn_zone *zone)
{
    return 2 * fmax(zone->half.x, fmax(zone->half.y, zone->half.z));
}

static int64_t along(double x, double cells_per_length)
{
    double place = x * cells_per_length;
    place = place > -2 * FAR ? (place < 2 * FAR ? place : 2 * FAR) : -2 * FAR; /* or no number */
    int64_t whole = (int64_t)place;                                            /* towards 0 */
    return whole - (place < (double)whole);
}

static cell cell_of(const table *t, cairn_vec3 x)
{
    return (cell){ along(x.x, t->cells_per_length), along(x.y, t->cells_per_length),
                   along(x.z, t->cells_per_length) };
}

static uint32_t bucket_of(const table *t, cell c)
{
    uint64_t h = (uint64_t)c.x * 0x9e3779b97f4a7c15u + (uint64_t)c.y * 0xbf58476d1ce4e5b9u +
                 (uint64_t)c.z * 0x94d049bb133111ebu;
    return (uint32_t)(h >> 32) & t->mask;
}

static uint32_t bucket_around(const table *t, int32_t zone, int k)
{
    cell c = cell_of(t, t->zones[zone].centre);
    return bucket_of(t, (cell){ c.x + k % 3 - 1, c.y + k / 3 % 3 - 1, c.z + k / 9 - 1 });
}

/* Sorted by bucket, by counting. */
static cairn_status fill(table *t, cairn_arena *scratch)
{
    uint32_t buckets = 64;
    while (buckets < 2u * AROUND * (uint32_t)t->count)
        buckets *= 2;
    t->mask = buckets - 1;
    t->start = cairn_arena_take(scratch, (size_t)buckets + 1, sizeof *t->start);
    t->entry = cairn_arena_take(scratch, (size_t)t->count * AROUND, sizeof *t->entry);
    if (!t->start || !t->entry)
        return CAIRN_NO_MEMORY;
    memset(t->start, 0, ((size_t)buckets + 1) * sizeof *t->start);
    for (int i = 0; i < t->count; i++)
        for (int k = 0; k < AROUND; k++)
            t->start[bucket_around(t, t->few[i], k)]++;
    for (uint32_t b = 0; b < buckets; b++)
        t->start[b + 1] += t->start[b];
    for (int i = 0; i < t->count; i++)
        for (int k = 0; k < AROUND; k++)
            t->entry[--t->start[bucket_around(t, t->few[i], k)]] = t->few[i];
    return CAIRN_OK;
}

/* The pairs of zone i with `count` zones. */
static cairn_status meet(const cairn_zone *zones, int32_t i, const int32_t *others, size_t count,
                         cairn_pair_list *out)
{
    const cairn_zone *me = &zones[i];
    for (size_t k = 0; k < count; k++) {
        const cairn_zone *other = &zones[others[k]];
        if (others[k] != i && (me->movable | other->movable) && cairn_zones_meet(me, other))
            TRY(cairn_pair_list_add(out, i, others[k]));
    }
    return CAIRN_OK;
}

static cairn_status look(const table *t, int32_t i, cairn_pair_list *out)
{
    const cairn_zone *zone = &t->zones[i];
    if (zone->kind == CAIRN_ZONE_NONE)
        return CAIRN_OK;
    if (!cairn_zone_bounded(zone) || edge_of(zone) > t->edge)
        return meet(t->zones, i, t->few, (size_t)t->count, out);
    uint32_t bucket = bucket_of(t, cell_of(t, zone->centre));
    return meet(t->zones, i, t->entry + t->start[bucket], t->start[bucket + 1] - t->start[bucket],
                out);
}

static bool is_same(cairn_pair one, cairn_pair other)
{
    return one.first == other.first && one.second == other.second;
}

/* Hashed cells may show the same two more than once, and two of the few see each other. */
static void drop_repeated(cairn_pair_list *list)
{
    size_t kept = 0;
    for (size_t k = 0; k < list->count; k++) {
        const cairn_pair pair = list->items[k];
        if (kept == 0 || !is_same(pair, list->items[kept - 1]))
            list->items[kept++] = pair;
    }
    list->count = kept;
}

bool cairn_strays_suit(const cairn_zone *zones, const int32_t *few, int count, double usual)
{
    bool suit = usual > 0 && isfinite(usual);
    for (int i = 0; i < count && suit; i++) {
        const cairn_zone *zone = &zones[few[i]];
        cairn_vec3 x = zone->centre;
        double most = FAR * usual;
        suit = cairn_zone_bounded(zone) && edge_of(zone) <= MOST * usual && fabs(x.x) <= most &&
               fabs(x.y) <= most && fabs(x.z) <= most;
    }
    return suit;
}

cairn_status cairn_strays_find(const cairn_strays *s, cairn_arena *scratch, cairn_pair_list *out)
{
    table t = { .zones = s->zones, .few = s->few, .count = s->few_count };
    double edge = WIDER * s->usual;
    for (int i = 0; i < t.count; i++)
        edge = fmax(edge, edge_of(&t.zones[t.few[i]]));
    t.edge = edge;
    t.cells_per_length = 1 / (1.001 * edge);
    out->count = 0;
    TRY(fill(&t, scratch));
    for (int i = 0; i < s->count; i++)
        TRY(look(&t, i, out));
    TRY(cairn_pair_list_sort(out, s->count, scratch));
    drop_repeated(out);
    return CAIRN_OK;
}
