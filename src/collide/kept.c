/* kept.c - pairs that are found once and serve many steps.
 *
 * The list holds the pairs of zones that are wider than those of the step by a skin,
 *
 *     skin = share * max(reach, 1/50 of the half length),
 *
 * but at most a radius or, for what flies further than that in a step, LEAST_SHARE of its reach:
 * a share that was right while all was slow would list thousands for each body when they are fast.
 * It serves as long as every zone lies in the one it was made with; where a few have left, they get
 * new ones and their pairs are added to the list (strays.c). The pairs of a step are those
 * of the list whose zones meet as they are now: the same ones, in the same order, whenever the list
 * was made. So a list never changes a result, and nobody needs to save one.
 *
 * A wide skin makes the list last, a thin one makes it short. The share goes on growing (or
 * shrinking) from list to list while that lowers the tests a step. A new list counts as REBUILD
 * tests a zone, a list that is mended as LOOK tests a zone and STRAY for each zone that left. When
 * mending has cost as much as a new list, or the list has grown by GROWN, there is a new one. One
 * of more than MOST_PAIRS a zone shrinks: it costs memory. */
#include "collide/kept.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "collide/strays.h"
#include "math/vec.h"

enum { GRAIN = 4096, REBUILD = 100, TRIAL = 16, WASTE = 3, MOST_PAIRS = 32 };
enum { AHEAD = 16 };                      /* pairs between asking for a zone and looking at it */
enum { STRAY = 200, LOOK = 2, FEW = 64 }; /* few: at most one in so many */

static const double FIRST_SHARE = 2, LEAST_SHARE = 0.25, MOST_SHARE = 32, GROWTH = 1.5;
static const double MOST_SKIN = 1;    /* of the half length without the reach           */
static const double GROWN = 1.25;     /* of the list as it was made                      */
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
    const cairn_zone *made, *now;
    int32_t *left; /* each range fills its own part: zones that have left theirs */
    int *found;    /* of each range                                              */
} cover_job;

static void cover_range(int begin, int end, void *context)
{
    const cover_job *job = context;
    int32_t *left = job->left + begin;
    for (int i = begin; i < end; i++) {
        *left = i;
        left += !covers(&job->made[i], &job->now[i]);
    }
    job->found[begin / GRAIN] = (int)(left - (job->left + begin));
}

/* Zones that have left the ones that the list was made with. */
typedef struct strays {
    int32_t *zone;
    int count;
} strays;

static cairn_status find_strays(const cairn_kept_pairs *kept, const cairn_layout *at,
                                cairn_arena *scratch, strays *out)
{
    size_t count = (size_t)at->count, ranges = (count + GRAIN - 1) / GRAIN;
    cover_job job = { kept->zones, at->zones, cairn_arena_take(scratch, count, sizeof(int32_t)),
                      cairn_arena_take(scratch, ranges, sizeof(int)) };
    if (!job.left || !job.found)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(at->count, GRAIN, cover_range, &job);
    *out = (strays){ job.left, 0 };
    for (size_t k = 0; k < ranges; k++) {
        memmove(job.left + out->count, job.left + k * GRAIN,
                (size_t)job.found[k] * sizeof *job.left);
        out->count += job.found[k];
    }
    return CAIRN_OK;
}

/* ---- a new list ----------------------------------------------------------------------------- */

/* Balls become boxes: what is near a plane is then never missed by rounding. */
static cairn_zone widened(const cairn_zone *zone, double share)
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

/* The next share, from what the last list cost. */
static void tune(cairn_kept_pairs *kept)
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

static cairn_status make(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                         const cairn_zone *zones, int count, cairn_arena *scratch)
{
    tune(kept);
    kept->made = false;
    kept->uses = 0;
    TRY(cairn_memory_reserve((void **)&kept->zones, &kept->capacity, (size_t)count,
                             sizeof *kept->zones));
    for (int i = 0; i < count; i++)
        kept->zones[i] = widened(&zones[i], kept->share);
    kept->usual = mean_edge(kept->zones, count);
    kept->mending = 0;
    TRY(cairn_pairs_find(broad, kept->zones, count, scratch, &kept->list));
    kept->count = count;
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

/* The first of the pairs [from, count) that does not come before one: steps that double, then
 * halve. */
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

/* The list with the fresh pairs, in the memory of `spare`, which gets the old list. */
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
    cairn_pair_list merged = { spare->items, total, spare->capacity };
    *spare = kept->list;
    kept->list = merged;
    return CAIRN_OK;
}

/* Whether those that left are few enough, and nothing else speaks for a new list. */
static bool can_be_mended(const cairn_kept_pairs *kept, const cairn_layout *at, const strays *s)
{
    double cost = kept->mending + (double)STRAY * s->count + (double)LOOK * at->count;
    return (int64_t)s->count * FEW <= at->count && cost <= (double)REBUILD * at->count &&
           kept->list.count <= kept->most &&
           cairn_strays_suit(at->zones, s->zone, s->count, kept->usual);
}

/* New zones for those that left, and their pairs. */
static cairn_status mend(cairn_kept_pairs *kept, const cairn_layout *at, const strays *s,
                         cairn_arena *scratch, cairn_pair_list *spare)
{
    const cairn_strays few = { kept->zones, at->count, s->zone, s->count, kept->usual };
    kept->made = false; /* until it is whole again */
    for (int i = 0; i < s->count; i++)
        kept->zones[s->zone[i]] = widened(&at->zones[s->zone[i]], kept->share);
    TRY(cairn_strays_find(&few, scratch, &kept->fresh));
    TRY(merge(kept, spare));
    kept->mending += (double)STRAY * s->count + (double)LOOK * at->count;
    kept->mended++;
    kept->made = true;
    return CAIRN_OK;
}

/* A list that serves: the one there is, mended, or a new one. */
static cairn_status make_sure(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                              const cairn_layout *at, cairn_arena *scratch, cairn_pair_list *spare)
{
    strays s;
    if (!kept->made || at->count != kept->count)
        return make(kept, broad, at->zones, at->count, scratch);
    TRY(find_strays(kept, at, scratch, &s));
    if (s.count == 0)
        return CAIRN_OK;
    return can_be_mended(kept, at, &s) ? mend(kept, at, &s, scratch, spare)
                                       : make(kept, broad, at->zones, at->count, scratch);
}

/* ---- the pairs of a step -------------------------------------------------------------------- */

typedef struct live_job {
    const cairn_pair *pairs;
    const cairn_zone *zones;
    cairn_pair *out; /* each range fills its own part */
    int *found;      /* of each range                 */
} live_job;

static bool is_live(const cairn_zone *a, const cairn_zone *b)
{
    if (a->kind == CAIRN_ZONE_BALL && b->kind == CAIRN_ZONE_BALL)
        return cairn_balls_meet(a, b) & (a->movable | b->movable); /* half of them: no branch */
    return a->kind != CAIRN_ZONE_NONE && b->kind != CAIRN_ZONE_NONE && (a->movable || b->movable) &&
           cairn_zones_meet(a, b);
}

static void live_range(int begin, int end, void *context)
{
    const live_job *job = context;
    cairn_pair *out = job->out + begin;
    for (int k = begin; k < end; k++) {
        const cairn_pair pair = job->pairs[k];
        int soon = k + AHEAD < end ? k + AHEAD : k;
        cairn_prefetch(&job->zones[job->pairs[soon].second], sizeof(cairn_zone));
        *out = pair;
        out += is_live(&job->zones[pair.first], &job->zones[pair.second]);
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

cairn_status cairn_kept_pairs_live(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                                   const cairn_layout *at, cairn_arena *scratch,
                                   cairn_pair_list *out)
{
    TRY(make_sure(kept, broad, at, scratch, out));
    TRY(list_live(kept, at->zones, scratch, out));
    kept->uses++;
    /* made while things moved more: a new one is shorter */
    if (kept->uses >= TRIAL && kept->list.count > WASTE * out->count + (size_t)at->count)
        kept->made = false;
    return CAIRN_OK;
}
