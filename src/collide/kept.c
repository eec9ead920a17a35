/* kept.c - pairs that are found once and used for many steps.
 *
 * The list contains the pairs of zones that are wider than those of the step by a skin,
 *
 *     skin = share * max(reach, 1/50 of the half length),
 *
 * but at most a radius or, for bodies that move further than that in a step, LEAST_SHARE of their
 * reach: a share that was right for slow bodies would list thousands of pairs for each fast body.
 * The list is valid as long as every zone lies within the one it was built with. If a few have left
 * theirs, they get new ones, and their pairs are added to the list (strays, below). The pairs of a
 * step are those of the list whose present zones meet: the same pairs in the same order, whenever
 * the list was built. A list therefore never changes a result, and need not be saved.
 *
 * With a wide skin the list lasts longer, with a thin one it is shorter. The share continues to
 * grow (or shrink) from list to list while that reduces the number of tests per step. A new list
 * counts as REBUILD tests per zone, an update of the list as LOOK tests per zone and STRAY for each
 * stray. If updates have cost as much as a new list, or the list has grown by GROWN, a new one is
 * built. With more than MOST_PAIRS pairs per zone the share shrinks, to save memory. */
#include "collide/collide.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "math/vec.h"

enum { GRAIN = 4096, REBUILD = 100, TRIAL = 16, WASTE = 3, MOST_PAIRS = 32 };
enum { AHEAD = 16 };                      /* pairs between prefetching a zone and using it */
enum { STRAY = 200, LOOK = 2, FEW = 64 }; /* few: at most one in so many */

static const double FIRST_SHARE = 2, LEAST_SHARE = 0.25, MOST_SHARE = 32, GROWTH = 1.5;
static const double MOST_SKIN = 1;    /* of the half length without the reach           */
static const double GROWN = 1.25;     /* of the list as it was built                     */
static const double ROUNDING = 1e-12; /* relative: far above rounding, far below a skin */

void cairn_kept_pairs_destroy(cairn_kept_pairs *kept)
{
    cairn_pair_list_destroy(&kept->list);
    cairn_pair_list_destroy(&kept->fresh);
    cairn_memory_free(kept->zones);
    *kept = (cairn_kept_pairs){ 0 };
}

/* ---- whether a list still serves ------------------------------------------------------------ */

static bool box_covers(const cairn_zone *made, const cairn_zone *now)
{
    cairn_vec3 d = cairn_sub(now->centre, made->centre), s = made->half, h = now->half;
    return (fabs(d.x) + h.x <= s.x) & (fabs(d.y) + h.y <= s.y) & (fabs(d.z) + h.z <= s.z);
}

/* A plane may move along its normal, not turn. */
static bool plane_covers(const cairn_zone *made, const cairn_zone *now)
{
    cairn_vec3 n = made->half;
    bool same = n.x == now->half.x && n.y == now->half.y && n.z == now->half.z;
    double risen = cairn_dot(cairn_sub(now->centre, made->centre), n);
    return same && risen + now->radius <= made->radius;
}

static bool covers(const cairn_zone *made, const cairn_zone *now)
{
    if (now->kind == CAIRN_ZONE_NONE)
        return true;
    if (now->movable && !made->movable)
        return false;
    if (cairn_zone_bounded(now))
        return cairn_zone_bounded(made) && box_covers(made, now);
    return made->kind == now->kind && (now->kind != CAIRN_ZONE_PLANE || plane_covers(made, now));
}

typedef struct cover_job {
    const cairn_zone *made;
    const cairn_layout *at;
    const cairn_places *places; /* NULL: where they are in the layout             */
    int32_t *left;              /* each range fills its own part: strays          */
    int *found;                 /* of each range                                  */
} cover_job;

static void cover_range(int begin, int end, void *context)
{
    const cover_job *job = context;
    const cairn_places *p = job->places;
    int32_t *left = job->left + begin;
    for (int i = begin; i < end; i++) {
        cairn_zone made;
        const cairn_zone *now = p ? p->zone(p->context, job->at, i, &made) : &job->at->zones[i];
        *left = i;
        left += !covers(&job->made[i], now);
    }
    job->found[begin / GRAIN] = (int)(left - (job->left + begin));
}

cairn_status cairn_kept_pairs_strays(const cairn_kept_pairs *kept, const cairn_layout *at,
                                     const cairn_places *places, cairn_arena *scratch,
                                     cairn_zone_numbers *out)
{
    size_t count = (size_t)at->count, ranges = (count + GRAIN - 1) / GRAIN;
    cover_job job = { kept->zones, at, places, cairn_arena_take(scratch, count, sizeof(int32_t)),
                      cairn_arena_take(scratch, ranges, sizeof(int)) };
    if (!job.left || !job.found)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(at->count, GRAIN, cover_range, &job);
    *out = (cairn_zone_numbers){ job.left, 0 };
    for (size_t k = 0; k < ranges; k++) {
        memmove(job.left + out->count, job.left + k * GRAIN,
                (size_t)job.found[k] * sizeof *job.left);
        out->count += job.found[k];
    }
    return CAIRN_OK;
}

/* ---- a new list ----------------------------------------------------------------------------- */

/* Balls become boxes, so that no pair near a plane is missed because of rounding. */
cairn_zone cairn_zone_widened(const cairn_zone *zone, double share)
{
    cairn_zone wide = *zone;
    bool ball = zone->kind == CAIRN_ZONE_BALL;
    double reach = ball ? zone->half.x - zone->radius : zone->radius;
    double size = fmax(zone->half.x, fmax(zone->half.y, zone->half.z));
    if (zone->kind == CAIRN_ZONE_PLANE)
        wide.radius = (1 + share + ROUNDING) * reach;
    if (!cairn_zone_bounded(zone))
        return wide;
    double most = fmax(MOST_SKIN * (size - reach), LEAST_SHARE * reach);
    double skin = fmin(share * fmax(reach, zone->movable ? 0.02 * size : 0), most);
    wide.kind = CAIRN_ZONE_BOX;
    wide.half = cairn_add(cairn_scale(1 + ROUNDING, zone->half), cairn_vec(skin, skin, skin));
    return wide;
}

/* The next share, from the cost of the last list. */
void cairn_kept_pairs_tune(cairn_kept_pairs *kept)
{
    if (kept->share == 0)
        *kept = (cairn_kept_pairs){ .list = kept->list,
                                    .zones = kept->zones,
                                    .fresh = kept->fresh,
                                    .capacity = kept->capacity,
                                    .share = FIRST_SHARE,
                                    .growth = GROWTH };
    if (kept->uses == 0)
        return;
    double making = (double)REBUILD * kept->count + kept->mending;
    double tests = (double)kept->list.count + making / (double)kept->uses;
    bool long_list = kept->list.count > (size_t)MOST_PAIRS * (size_t)kept->count;
    if (kept->cost > 0 && tests > kept->cost)
        kept->growth = 1 / kept->growth;
    if (long_list)
        kept->growth = 1 / GROWTH;
    kept->cost = tests;
    kept->share = fmin(fmax(kept->growth * kept->share, LEAST_SHARE), MOST_SHARE);
}

static double mean_edge(const cairn_zone *zones, int count)
{
    double sum = 0;
    int bounded = 0;
    for (int i = 0; i < count; i++) {
        bool counts = cairn_zone_bounded(&zones[i]) && zones[i].movable;
        sum += counts ? 2 * zones[i].half.x : 0;
        bounded += counts;
    }
    return bounded ? sum / bounded : 0;
}

cairn_status cairn_kept_pairs_begin(cairn_kept_pairs *kept, int count)
{
    kept->made = false;
    kept->uses = 0;
    kept->count = count;
    return cairn_memory_reserve((void **)&kept->zones, &kept->capacity, (size_t)count,
                                sizeof *kept->zones);
}

cairn_status cairn_kept_pairs_make(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                                   cairn_arena *scratch)
{
    int count = kept->count;
    kept->usual = mean_edge(kept->zones, count);
    kept->mending = 0;
    TRY(cairn_pairs_find(broad, kept->zones, count, scratch, &kept->list));
    kept->most = (size_t)(GROWN * (double)kept->list.count) + (size_t)count;
    kept->made = true;
    kept->lists++;
    return kept->list.count > INT32_MAX / 4 ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* ---- a list that is mended ------------------------------------------------------------------ */

static bool comes_before(const cairn_pair *a, const cairn_pair *b)
{
    return a->first < b->first || (a->first == b->first && a->second < b->second);
}

/* The first of the sorted pairs [from, count) that is not before a given one. By galloping: the
 * steps double, then halve. */
static size_t first_from(const cairn_pair_list *list, size_t from, const cairn_pair *one)
{
    size_t step = 1;
    while (from + step < list->count && comes_before(&list->items[from + step], one)) {
        from += step;
        step *= 2;
    }
    size_t low = from, high = from + step < list->count ? from + step : list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before(&list->items[middle], one))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merge the new pairs into the list, in the memory of `spare`, which then holds the old list. */
static cairn_status merge(cairn_kept_pairs *kept, cairn_pair_list *spare)
{
    const cairn_pair_list *list = &kept->list, *fresh = &kept->fresh;
    TRY(cairn_memory_reserve((void **)&spare->items, &spare->capacity, list->count + fresh->count,
                             sizeof *spare->items));
    size_t from = 0, total = 0;
    for (size_t k = 0; k <= fresh->count; k++) {
        size_t to = k < fresh->count ? first_from(list, from, &fresh->items[k]) : list->count;
        if (to > from)
            memcpy(spare->items + total, list->items + from, (to - from) * sizeof *spare->items);
        total += to - from;
        from = to;
        if (k < fresh->count)
            spare->items[total++] = fresh->items[k];
        /* known already */
        if (k < fresh->count && to < list->count &&
            !comes_before(&fresh->items[k], &list->items[to]))
            from++;
    }
    const cairn_pair_list old = kept->list;
    kept->list =
        (cairn_pair_list){ .items = spare->items, .count = total, .capacity = spare->capacity };
    spare->items = old.items;
    spare->count = old.count;
    spare->capacity = old.capacity;
    return CAIRN_OK;
}

bool cairn_kept_pairs_mendable(const cairn_kept_pairs *kept, const cairn_zone *zones,
                               const cairn_zone_numbers *s)
{
    double cost = kept->mending + (double)STRAY * s->count + (double)LOOK * kept->count;
    return (int64_t)s->count * FEW <= kept->count && cost <= (double)REBUILD * kept->count &&
           kept->list.count <= kept->most &&
           cairn_strays_suit(zones, s->zone, s->count, kept->usual);
}

cairn_status cairn_kept_pairs_mend(cairn_kept_pairs *kept, const cairn_zone_numbers *s,
                                   cairn_arena *scratch, cairn_pair_list *spare)
{
    const cairn_strays few = { kept->zones, kept->count, s->zone, s->count, kept->usual };
    kept->made = false; /* until the list is complete again */
    TRY(cairn_strays_find(&few, scratch, &kept->fresh));
    TRY(merge(kept, spare));
    kept->mending += (double)STRAY * s->count + (double)LOOK * kept->count;
    kept->mended++;
    kept->made = true;
    return CAIRN_OK;
}

/* Provide a valid list: the present one, updated if few zones have left theirs, or a new one. */
static cairn_status make_sure(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                              const cairn_layout *at, cairn_arena *scratch, cairn_pair_list *spare)
{
    cairn_zone_numbers s = { NULL, 0 };
    bool there = kept->made && at->count == kept->count;
    if (there)
        TRY(cairn_kept_pairs_strays(kept, at, NULL, scratch, &s));
    if (there && s.count == 0)
        return CAIRN_OK;
    if (there && cairn_kept_pairs_mendable(kept, at->zones, &s)) {
        for (int i = 0; i < s.count; i++)
            kept->zones[s.zone[i]] = cairn_zone_widened(&at->zones[s.zone[i]], kept->share);
        return cairn_kept_pairs_mend(kept, &s, scratch, spare);
    }
    cairn_kept_pairs_tune(kept);
    TRY(cairn_kept_pairs_begin(kept, at->count));
    for (int i = 0; i < at->count; i++)
        kept->zones[i] = cairn_zone_widened(&at->zones[i], kept->share);
    return cairn_kept_pairs_make(kept, broad, scratch);
}

/* ---- the pairs of a step -------------------------------------------------------------------- */

typedef struct live_job {
    const cairn_pair *pairs;
    const cairn_zone *zones;
    cairn_pair *out; /* each range fills its own part */
    int *found;      /* of each range                 */
} live_job;

static void live_range(int begin, int end, void *context)
{
    const live_job *job = context;
    cairn_pair *out = job->out + begin;
    for (int k = begin; k < end; k++) {
        const cairn_pair pair = job->pairs[k];
        int soon = k + AHEAD < end ? k + AHEAD : k;
        cairn_prefetch(&job->zones[job->pairs[soon].second], sizeof(cairn_zone));
        *out = pair;
        out += cairn_zones_are_live(&job->zones[pair.first], &job->zones[pair.second]);
    }
    job->found[begin / GRAIN] = (int)(out - (job->out + begin));
}

/* Join the parts of the ranges. */
static size_t close_up(cairn_pair *items, const int *found, size_t ranges)
{
    size_t total = 0;
    for (size_t k = 0; k < ranges; k++) {
        memmove(items + total, items + k * GRAIN, (size_t)found[k] * sizeof *items);
        total += (size_t)found[k];
    }
    return total;
}

static cairn_status list_live(const cairn_kept_pairs *kept, const cairn_zone *zones,
                              cairn_arena *scratch, cairn_pair_list *out)
{
    size_t count = kept->list.count, ranges = (count + GRAIN - 1) / GRAIN;
    int *found = cairn_arena_take(scratch, ranges, sizeof *found);
    out->count = 0;
    if (!found)
        return CAIRN_NO_MEMORY;
    TRY(cairn_memory_reserve((void **)&out->items, &out->capacity, count, sizeof *out->items));
    live_job job = { kept->list.items, zones, out->items, found };
    cairn_parallel_for((int)count, GRAIN, live_range, &job);
    out->count = count ? close_up(out->items, found, ranges) : 0;
    return CAIRN_OK;
}

void cairn_kept_pairs_forget(cairn_kept_pairs *kept)
{
    kept->made = false;
}

/* Whether the bodies that stay keep their order: the list then stays sorted. */
static bool keeps_order(const int32_t *was, int count)
{
    int last = -1;
    for (int i = 0; i < count; i++) {
        if (was[i] >= 0 && was[i] < last)
            return false;
        last = was[i] >= 0 ? was[i] : last;
    }
    return true;
}

/* Zones move up or down in place. With the order kept, a zone that moves down goes to a place whose
 * own zone has moved already if one begins at the first body; the reverse for those that move
 * up. */
static void move_zones(cairn_zone *zones, const int32_t *was, int count)
{
    for (int i = 0; i < count; i++)
        if (was[i] > i)
            zones[i] = zones[was[i]];
    for (int i = count - 1; i >= 0; i--)
        if (was[i] >= 0 && was[i] < i)
            zones[i] = zones[was[i]];
    for (int i = 0; i < count; i++)
        if (was[i] < 0)
            zones[i] = (cairn_zone){ .kind = CAIRN_ZONE_NONE };
}

/* If there is no memory for the zones, the next step builds a new list, as for any other reason. */
void cairn_kept_pairs_rename(cairn_kept_pairs *kept, const int32_t *was, int count,
                             const int32_t *now, int before)
{
    bool usable = kept->made && kept->count == before && keeps_order(was, count);
    kept->made = usable && cairn_memory_extend((void **)&kept->zones, &kept->capacity,
                                               (size_t)count + 1, sizeof *kept->zones) == CAIRN_OK;
    if (!kept->made)
        return;
    move_zones(kept->zones, was, count);
    size_t left = 0;
    for (size_t k = 0; k < kept->list.count; k++) {
        const cairn_pair pair = kept->list.items[k];
        const cairn_pair renamed = { now[pair.first], now[pair.second] };
        kept->list.items[left] = renamed;
        left += renamed.first >= 0 && renamed.second >= 0;
    }
    kept->list.count = left;
    kept->count = count;
}

cairn_status cairn_kept_pairs_live(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                                   const cairn_layout *at, cairn_arena *scratch,
                                   cairn_pair_list *out)
{
    TRY(make_sure(kept, broad, at, scratch, out));
    TRY(list_live(kept, at->zones, scratch, out));
    cairn_kept_pairs_used(kept, out->count);
    return CAIRN_OK;
}

/* Built while bodies moved faster: a new list is shorter. */
void cairn_kept_pairs_used(cairn_kept_pairs *kept, size_t pairs)
{
    kept->uses++;
    if (kept->uses >= TRIAL && kept->list.count > WASTE * pairs + (size_t)kept->count)
        kept->made = false;
}

/* ---- strays ------------------------------------------------------------------------------ */

/* The pairs of a few zones among many.
 *
 * Cells have an edge c that is at least that of every zone in question. Two boxes that overlap have
 * centres at most c apart on each axis, so each of the few is entered in the cell of its centre and
 * in the 26 around it, and each of the many looks into the cell of its own centre. Cells share
 * numbers through a hash; zones of other cells are excluded by the test of boxes. Zones larger than
 * c, and walls, are tested against all of the few. */

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
    place = place > -2 * FAR ? (place < 2 * FAR ? place : 2 * FAR) : -2 * FAR; /* or NaN */
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

/* Hashed cells may give the same pair more than once, and two of the few find each other twice. */
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
