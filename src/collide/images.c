/* images.c - pairs in a periodic world.
 *
 * A body at x has images at x + h k, with the edges of the cell as the columns of h and integers k.
 * The broad phase knows no images. So it gets, after the zones of all bodies, further ones: those
 * of images that may meet a body. Of k and -k only the one whose first component other than 0 is
 * positive is needed: if the image -k of j meets i, then the image k of i meets j. Pairs of two
 * images, and of images with walls, are dropped.
 *
 * The list of pairs is kept over many steps (kept.c), while bodies that leave the cell are put back
 * into it. In the list they stay where they are: a body that has left n times has the place
 *     x + h (n + base),    base = (place in the cell when the list was made) - n at that time,
 * which is continuous. A pair with image k in the list has the image k + s_second - s_first with
 * s = n + base. Positions of the list decide only which pairs are looked at. Whether a pair is live
 * is decided with x and h k alone, so that a list never changes a result.
 *
 * The images are chosen with a slack, by which zones may grow and the edges of the cell may move;
 * beyond it they are chosen again. */
#include "collide/collide.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { GRAIN = 4096 }; /* pairs in one piece of parallel work */

static const double SLACK = 0.25; /* of the mean edge of the zones */

void cairn_images_destroy(cairn_images *m)
{
    void *blocks[] = { m->base, m->owner, m->image, m->room, m->zones };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        cairn_memory_free(blocks[i]);
    cairn_pair_list_destroy(&m->list);
    *m = (cairn_images){ 0 };
}

/* ---- the lattice ----------------------------------------------------------------------------- */

int cairn_image_compare(cairn_image a, cairn_image b)
{
    for (int i = 0; i < 3; i++)
        if (a.k[i] != b.k[i])
            return a.k[i] < b.k[i] ? -1 : 1;
    return 0;
}

void cairn_lattice_reciprocal(const cairn_lattice *cell, cairn_vec3 b[3])
{
    static const cairn_vec3 axis[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    cairn_vec3 e[3];
    for (int i = 0; i < 3; i++)
        e[i] = cairn_edge_is_periodic(cell, i) ? cell->edge[i] : axis[i];
    double volume = cairn_dot(e[0], cairn_cross(e[1], e[2]));
    for (int i = 0; i < 3; i++)
        b[i] = cairn_scale(1 / volume, cairn_cross(e[(i + 1) % 3], e[(i + 2) % 3]));
}

cairn_image cairn_lattice_home(const cairn_lattice *cell, const cairn_vec3 b[3], cairn_vec3 x)
{
    cairn_image home = { { 0, 0, 0 } };
    for (int i = 0; i < 3; i++)
        if (cairn_edge_is_periodic(cell, i))
            home.k[i] = -(int32_t)floor(cairn_dot(b[i], cairn_sub(x, cell->corner)));
    return home;
}

cairn_lattice cairn_lattice_ahead(const cairn_lattice *cell, double time)
{
    cairn_lattice then = *cell;
    for (int i = 0; i < 3; i++)
        then.edge[i] = cairn_add_scaled(cell->edge[i], time, cell->rate[i]);
    return then;
}

/* ---- zones ----------------------------------------------------------------------------------- */

/* The place of a body in the list, in edges from where it is. */
static cairn_image place_of(const cairn_images *m, const cairn_crowd *crowd, int body)
{
    static const cairn_image none = { { 0, 0, 0 } };
    return cairn_image_from(m->base[body], crowd->image[body], none);
}

/* To an image, which moves with the edges in the step: the rates of a layout are their ways. */
static void move_zone(cairn_zone *zone, const cairn_lattice *cell, cairn_image image)
{
    if (!cairn_image_is_other(image))
        return;
    double way = cairn_norm(cairn_lattice_drift(cell, image));
    zone->centre = cairn_add(zone->centre, cairn_lattice_shift(cell, image));
    zone->half = cairn_add(zone->half, cairn_vec(way, way, way));
}

/* The zones of bodies at their places in the list, and of the images. */
static cairn_status lay_out(cairn_images *m, const cairn_crowd *crowd)
{
    const cairn_layout *at = crowd->at;
    TRY(cairn_memory_reserve((void **)&m->zones, &m->zone_capacity,
                             (size_t)m->bodies + (size_t)m->count, sizeof *m->zones));
    for (int i = 0; i < m->bodies; i++) {
        m->zones[i] = at->zones[i];
        if (cairn_zone_bounded(&m->zones[i]))
            move_zone(&m->zones[i], at->cell, place_of(m, crowd, i));
    }
    for (int k = 0; k < m->count; k++) {
        m->zones[m->bodies + k] = m->zones[m->owner[k]];
        move_zone(&m->zones[m->bodies + k], at->cell, m->image[k]);
    }
    return CAIRN_OK;
}

/* Whether the images still are those that are needed: the edges of the cell moved little. */
static bool are_right(const cairn_images *m, const cairn_layout *at)
{
    double moved = 0;
    for (int i = 0; i < 3; i++)
        moved += cairn_norm(cairn_sub(at->cell->edge[i], m->edge[i]));
    return m->bodies == at->count && moved <= m->slack;
}

/* ---- which images are needed ----------------------------------------------------------------- */

/* A range along each edge, in edges. */
typedef struct span {
    double low[3], high[3];
} span;

static span span_of(const cairn_zone *zone, const cairn_lattice *cell, const cairn_vec3 b[3],
                    double more)
{
    span s;
    cairn_vec3 d = cairn_sub(zone->centre, cell->corner), h = zone->half;
    for (int i = 0; i < 3; i++) {
        double middle = cairn_dot(b[i], d);
        double half =
            fabs(b[i].x) * h.x + fabs(b[i].y) * h.y + fabs(b[i].z) * h.z + more * cairn_norm(b[i]);
        s.low[i] = middle - half;
        s.high[i] = middle + half;
    }
    return s;
}

static cairn_status add_image(cairn_images *m, int body, cairn_image image)
{
    size_t next = (size_t)m->count + 1;
    TRY(cairn_memory_reserve((void **)&m->owner, &m->owner_capacity, next, sizeof *m->owner));
    TRY(cairn_memory_reserve((void **)&m->image, &m->image_capacity, next, sizeof *m->image));
    m->owner[m->count] = body;
    m->image[m->count++] = image;
    return m->bodies > INT32_MAX - m->count - 1 ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* All images of a body that overlap the span of all bodies and whose first component other than 0
 * is positive. */
static cairn_status add_images(cairn_images *m, int body, const cairn_lattice *cell,
                               const span *own, const span *all)
{
    static const cairn_image none = { { 0, 0, 0 } };
    int32_t from[3] = { 0, 0, 0 }, to[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++)
        if (cairn_edge_is_periodic(cell, i)) {
            from[i] = (int32_t)ceil(all->low[i] - own->high[i]);
            to[i] = (int32_t)floor(all->high[i] - own->low[i]);
        }
    for (int32_t x = from[0]; x <= to[0]; x++)
        for (int32_t y = from[1]; y <= to[1]; y++)
            for (int32_t z = from[2]; z <= to[2]; z++) {
                const cairn_image image = { { x, y, z } };
                if (cairn_image_compare(image, none) > 0)
                    TRY(add_image(m, body, image));
            }
    return CAIRN_OK;
}

/* m: mean edge of the bounded movable zones. */
static double mean_edge(const cairn_layout *at)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < at->count; i++)
        if (cairn_zone_bounded(&at->zones[i]) && at->zones[i].movable) {
            sum += 2 * at->zones[i].half.x;
            count++;
        }
    return count ? sum / count : 0;
}

/* Put all bodies into the cell: their places in the next list. */
static cairn_status place(cairn_images *m, const cairn_crowd *crowd, const cairn_vec3 b[3])
{
    const cairn_layout *at = crowd->at;
    static const cairn_image none = { { 0, 0, 0 } };
    TRY(cairn_memory_reserve((void **)&m->base, &m->body_capacity, (size_t)at->count,
                             sizeof *m->base));
    m->bodies = at->count;
    m->count = 0;
    for (int i = 0; i < at->count; i++) {
        const cairn_zone *zone = &at->zones[i];
        cairn_image home =
            cairn_zone_bounded(zone) ? cairn_lattice_home(at->cell, b, zone->centre) : none;
        m->base[i] = cairn_image_from(home, none, crowd->image[i]);
    }
    return lay_out(m, crowd);
}

/* The span of all bounded rooms. */
static span span_of_all(const cairn_images *m, const cairn_lattice *cell, const cairn_vec3 b[3])
{
    span all = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int i = 0; i < m->bodies; i++) {
        if (!cairn_zone_bounded(&m->room[i]))
            continue;
        span own = span_of(&m->room[i], cell, b, 0);
        for (int axis = 0; axis < 3; axis++) {
            all.low[axis] = fmin(all.low[axis], own.low[axis]);
            all.high[axis] = fmax(all.high[axis], own.high[axis]);
        }
    }
    return all;
}

/* The room of a body, or of an image, which moves with the edges as well: its zone in the list, and
 * the slack. */
static void give_room(cairn_images *m, int i, double share)
{
    double more = i < m->bodies ? m->slack : 2 * m->slack;
    m->room[i] = cairn_zone_widened(&m->zones[i], share);
    if (cairn_zone_bounded(&m->room[i]))
        m->room[i].half = cairn_add(m->room[i].half, cairn_vec(more, more, more));
}

static cairn_status make_room(cairn_images *m, int begin, double share)
{
    int total = m->bodies + m->count;
    TRY(cairn_memory_reserve((void **)&m->room, &m->room_capacity, (size_t)total, sizeof *m->room));
    for (int i = begin; i < total; i++)
        give_room(m, i, share);
    return CAIRN_OK;
}

static cairn_status choose(cairn_images *m, const cairn_crowd *crowd, double share)
{
    const cairn_lattice *cell = crowd->at->cell;
    cairn_vec3 b[3];
    cairn_lattice_reciprocal(cell, b);
    memcpy(m->edge, cell->edge, sizeof m->edge);
    m->slack = SLACK * mean_edge(crowd->at);
    TRY(place(m, crowd, b));
    TRY(make_room(m, 0, share));
    const span all = span_of_all(m, cell, b);
    for (int i = 0; i < m->bodies; i++) {
        if (!cairn_zone_bounded(&m->room[i]))
            continue;
        const span own = span_of(&m->room[i], cell, b, m->slack);
        TRY(add_images(m, i, cell, &own, &all));
    }
    TRY(lay_out(m, crowd));
    return make_room(m, m->bodies, share);
}

/* ---- the list by bodies ---------------------------------------------------------------------- */

/* A pair of the list by its bodies, the one in the lower row first; false: of two images, of an
 * image and a wall, or of a body and its own image. */
static bool resolve(const cairn_images *m, cairn_pair of_zones, cairn_pair *pair,
                    cairn_image *image)
{
    static const cairn_image none = { { 0, 0, 0 } };
    int32_t first = of_zones.first, second = of_zones.second, n = m->bodies;
    *image = none;
    *pair = of_zones;
    if (second < n) /* first < second */
        return true;
    if (first >= n || !cairn_zone_bounded(&m->zones[first]) || m->owner[second - n] == first)
        return false;
    int32_t owner = m->owner[second - n];
    *image = m->image[second - n];
    *pair = cairn_pair_of(first, owner);
    if (owner < first)
        *image = cairn_image_opposite(*image);
    return true;
}

/* An entry of the list while it is sorted. */
typedef struct entry {
    cairn_pair pair;
    cairn_image image; /* of the second body */
} entry;

/* By the second row, then by the image, which is compared as the body of larger uid has it, so that
 * its order does not depend on rows. */
static bool comes_before(const entry *a, const entry *b, const uint64_t *uid)
{
    if (a->pair.second != b->pair.second)
        return a->pair.second < b->pair.second;
    int order = cairn_image_compare(a->image, b->image);
    return uid[a->pair.first] < uid[a->pair.second] ? order < 0 : order > 0;
}

static void sort_run(entry *run, size_t count, const uint64_t *uid)
{
    for (size_t i = 1; i < count; i++) {
        entry item = run[i];
        size_t k = i;
        for (; k > 0 && comes_before(&item, &run[k - 1], uid); k--)
            run[k] = run[k - 1];
        run[k] = item;
    }
}

/* Counting sort by the first row, then each run by the rest: as cairn_pair_list_sort. */
static cairn_status sort(entry *items, size_t count, const cairn_crowd *crowd, cairn_arena *scratch)
{
    size_t rows = (size_t)crowd->at->count;
    size_t *start = cairn_arena_take(scratch, rows + 2, sizeof *start);
    entry *copy = cairn_arena_take(scratch, count, sizeof *copy);
    if (!start || !copy)
        return CAIRN_NO_MEMORY;
    memset(start, 0, (rows + 2) * sizeof *start);
    for (size_t k = 0; k < count; k++) {
        copy[k] = items[k];
        start[copy[k].pair.first + 2]++;
    }
    for (size_t i = 1; i < rows + 2; i++)
        start[i] += start[i - 1];
    for (size_t k = 0; k < count; k++)
        items[start[copy[k].pair.first + 1]++] = copy[k];
    for (size_t i = 0; i < rows; i++)
        sort_run(items + start[i], start[i + 1] - start[i], crowd->uid);
    return CAIRN_OK;
}

static cairn_status reserve(cairn_pair_list *list, size_t count)
{
    TRY(cairn_memory_reserve((void **)&list->items, &list->capacity, count, sizeof *list->items));
    return cairn_memory_reserve((void **)&list->image, &list->image_capacity, count,
                                sizeof *list->image);
}

/* The list of zones as one of bodies, if it has changed. */
static cairn_status translate(cairn_images *m, const cairn_kept_pairs *kept,
                              const cairn_crowd *crowd, cairn_arena *scratch)
{
    if (m->of_list[0] == kept->lists && m->of_list[1] == kept->mended)
        return CAIRN_OK;
    entry *items = cairn_arena_take(scratch, kept->list.count, sizeof *items);
    size_t count = 0;
    if (!items)
        return CAIRN_NO_MEMORY;
    m->of_list[0] = -1; /* until it is complete */
    for (size_t k = 0; k < kept->list.count; k++)
        count += resolve(m, kept->list.items[k], &items[count].pair, &items[count].image);
    TRY(sort(items, count, crowd, scratch));
    TRY(reserve(&m->list, count));
    for (size_t k = 0; k < count; k++) {
        m->list.items[k] = items[k].pair;
        m->list.image[k] = items[k].image;
    }
    m->list.count = count;
    m->of_list[0] = kept->lists;
    m->of_list[1] = kept->mended;
    return CAIRN_OK;
}

/* ---- the pairs of a step --------------------------------------------------------------------- */

typedef struct live_job {
    const cairn_images *images;
    const cairn_crowd *crowd;
    cairn_pair_list *out; /* each range fills its own part */
    int *found;           /* of each range                 */
} live_job;

/* The image that the second body of pair k has in this step. Walls have none. */
static cairn_image image_now(const live_job *job, size_t k)
{
    const cairn_images *m = job->images;
    const cairn_pair pair = m->list.items[k];
    const cairn_zone *zones = job->crowd->at->zones;
    if (!cairn_zone_bounded(&zones[pair.first]) || !cairn_zone_bounded(&zones[pair.second]))
        return m->list.image[k];
    return cairn_image_from(m->list.image[k], place_of(m, job->crowd, pair.second),
                            place_of(m, job->crowd, pair.first));
}

static void live_range(int begin, int end, void *context)
{
    const live_job *job = context;
    const cairn_layout *at = job->crowd->at;
    size_t next = (size_t)begin;
    for (int k = begin; k < end; k++) {
        const cairn_pair pair = job->images->list.items[k];
        const cairn_image image = image_now(job, (size_t)k);
        const cairn_zone *second = &at->zones[pair.second];
        cairn_zone made;
        if (cairn_image_is_other(image)) { /* few are */
            made = *second;
            move_zone(&made, at->cell, image);
            second = &made;
        }
        job->out->items[next] = pair;
        job->out->image[next] = image;
        next += cairn_zones_are_live(&at->zones[pair.first], second);
    }
    job->found[begin / GRAIN] = (int)(next - (size_t)begin);
}

static cairn_status list_live(const cairn_images *m, const cairn_crowd *crowd, cairn_arena *scratch,
                              cairn_pair_list *out)
{
    size_t count = m->list.count, ranges = (count + GRAIN - 1) / GRAIN, total = 0;
    live_job job = { m, crowd, out, cairn_arena_take(scratch, ranges, sizeof(int)) };
    out->count = 0;
    if (!job.found)
        return CAIRN_NO_MEMORY;
    TRY(reserve(out, count));
    cairn_parallel_for((int)count, GRAIN, live_range, &job);
    for (size_t k = 0; k < ranges; k++) {
        size_t found = (size_t)job.found[k];
        memmove(out->items + total, out->items + k * GRAIN, found * sizeof *out->items);
        memmove(out->image + total, out->image + k * GRAIN, found * sizeof *out->image);
        total += found;
    }
    out->count = total;
    return CAIRN_OK;
}

cairn_status cairn_images_live(cairn_images *m, cairn_kept_pairs *kept, const cairn_crowd *crowd,
                               cairn_arena *scratch, cairn_pair_list *out)
{
    bool serve = false;
    if (are_right(m, crowd->at)) {
        TRY(lay_out(m, crowd));
        const cairn_layout now = { .count = m->bodies + m->count, .zones = m->zones };
        TRY(cairn_kept_pairs_serve(kept, &now, m->room, scratch, out, &serve));
    }
    if (!serve) {
        cairn_kept_pairs_tune(kept);
        TRY(choose(m, crowd, kept->share));
        TRY(cairn_kept_pairs_make(kept, crowd->broad, m->zones, m->bodies + m->count, scratch));
    }
    TRY(translate(m, kept, crowd, scratch));
    TRY(list_live(m, crowd, scratch, out));
    cairn_kept_pairs_used(kept, out->count);
    return CAIRN_OK;
}
