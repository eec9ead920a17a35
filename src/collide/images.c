/* images.c - pairs in a periodic world.
 *
 * A body at x has images at x + h k, with the edges of the cell as the columns of h and integers k.
 * The broad phase knows no images. So it gets, after the zones of all bodies, further ones: those
 * of images that may meet a body. They count as not movable, so that it leaves out pairs of two
 * images and of an image and a held body. For dynamic bodies, of k and -k only the one whose first
 * component other than 0 is positive is needed: if the image -k of j meets i, then the image k of i
 * meets j. Held bodies have all images.
 *
 * The list of pairs is kept over many steps (kept.c), while bodies that leave the cell are put back
 * into it. In the list they stay where they are: a body that has left n times has the place
 *     x + h (n + base),    base = (place in the cell when the list was made) - n at that time,
 * which is continuous. A pair with image k in the list has the image k + s_second - s_first with
 * s = n + base. Positions of the list decide only which pairs are looked at. Whether a pair is live
 * is decided with x and h k alone, so that a list never changes a result.
 *
 * Only bodies are watched: the zone of an image in the list is that of its body, moved by h k, and
 * wider by the way that the edges may move until the images are chosen again. A body that has left
 * its zone gets a new one, together with its images, as long as these are all that it needs.
 *
 * In a step, pairs of two bodies that are at their places in the list are tested as without a cell.
 * The others are few: they are set aside, resolved to bodies and images, sorted, and merged into
 * the rest. */
#include "collide/collide.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { GRAIN = 4096, AHEAD = 16 }; /* pairs in one piece of parallel work; to prefetch zones */

static const double SLACK = 0.25;     /* of the mean edge of the zones                     */
static const double ROUNDING = 1e-12; /* of the edges of the cell                          */

void cairn_images_destroy(cairn_images *m)
{
    void *blocks[] = { m->base, m->place, m->owner, m->image };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        cairn_memory_free(blocks[i]);
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

/* ---- images in one number -------------------------------------------------------------------- */

/* k_0 + 2^21 k_1 + 2^42 k_2 modulo 2^64: sums and differences of images are those of their codes.
 * Components between two bodies of a list stay below FARTHEST. */
enum { BITS = 21, FARTHEST = 1 << 18 };

static uint64_t code_of(cairn_image image)
{
    return (uint64_t)image.k[0] + ((uint64_t)image.k[1] << BITS) +
           ((uint64_t)image.k[2] << (2 * BITS));
}

static cairn_image image_of(uint64_t code)
{
    const int32_t range = 1 << BITS;
    cairn_image image;
    for (int i = 0; i < 3; i++) {
        int32_t low = (int32_t)(code & (uint64_t)(range - 1));
        image.k[i] = low >= range / 2 ? low - range : low;
        code = (code - (uint64_t)image.k[i]) >> BITS;
    }
    return image;
}

/* ---- zones ----------------------------------------------------------------------------------- */

/* To an image, which moves with the edges in the step: the rates of a layout are their ways. */
static void move_zone(cairn_zone *zone, const cairn_lattice *cell, cairn_image image)
{
    const cairn_vec3 drift = cairn_lattice_drift(cell, image);
    zone->centre = cairn_add(zone->centre, cairn_lattice_shift(cell, image));
    if (drift.x == 0 && drift.y == 0 && drift.z == 0) /* the cell does not deform */
        return;
    double way = cairn_norm(drift);
    zone->half = cairn_add(zone->half, cairn_vec(way, way, way));
}

/* The places of bodies in the list, in edges from where they are. */
static cairn_status find_places(cairn_images *m, const cairn_crowd *crowd)
{
    TRY(cairn_memory_reserve((void **)&m->place, &m->place_capacity, (size_t)m->bodies,
                             sizeof *m->place));
    for (int i = 0; i < m->bodies; i++)
        m->place[i] = m->base[i] + code_of(crowd->image[i]);
    return CAIRN_OK;
}

/* The zone of a body at its place in the list: its own one, or written to `made`. */
static const cairn_zone *zone_at_place(const void *context, const cairn_layout *at, int i,
                                       cairn_zone *made)
{
    const cairn_images *m = context;
    if (m->place[i] == 0 || !cairn_zone_bounded(&at->zones[i])) /* few have left the cell */
        return &at->zones[i];
    *made = at->zones[i];
    move_zone(made, at->cell, image_of(m->place[i]));
    return made;
}

/* m: how far an edge has moved since the images were chosen, and will move in the step. */
static double way_of_edges(const cairn_images *m, const cairn_lattice *cell)
{
    double most = 0;
    for (int i = 0; i < 3; i++) {
        double moved = cairn_norm(cairn_sub(cell->edge[i], m->edge[i]));
        most = fmax(most, moved + cairn_norm(cell->rate[i]));
    }
    return most;
}

/* m: by how much the zone of an image is wider than that of its body. */
static double widening(const cairn_images *m, cairn_image k)
{
    return m->slack * (abs(k.k[0]) + abs(k.k[1]) + abs(k.k[2]));
}

/* The zone of an image in the list, from that of its body. */
static cairn_zone zone_of_image(const cairn_images *m, const cairn_zone *body, cairn_image image)
{
    cairn_zone zone = *body;
    double more = widening(m, image);
    zone.movable = false;
    zone.centre = cairn_add(zone.centre, cairn_edges_sum(m->edge, image));
    zone.half = cairn_add(zone.half, cairn_vec(more, more, more));
    return zone;
}

/* ---- which images are needed ----------------------------------------------------------------- */

static cairn_edge_span span_of(const cairn_images *m, const cairn_zone *zone, double more)
{
    cairn_edge_span s;
    cairn_vec3 d = cairn_sub(zone->centre, m->corner), h = zone->half;
    for (int i = 0; i < 3; i++) {
        cairn_vec3 b = m->reciprocal[i];
        double middle = cairn_dot(b, d);
        double half = fabs(b.x) * h.x + fabs(b.y) * h.y + fabs(b.z) * h.z + more * m->steepness[i];
        s.low[i] = middle - half;
        s.high[i] = middle + half;
    }
    return s;
}

static bool is_periodic(const cairn_images *m, int axis)
{
    cairn_vec3 e = m->edge[axis];
    return e.x != 0 || e.y != 0 || e.z != 0;
}

/* Whether the zone of an image can overlap that of a body. */
static bool is_needed(const cairn_images *m, const cairn_zone *body, cairn_image k)
{
    const cairn_edge_span own = span_of(m, body, widening(m, k));
    bool needed = true;
    for (int i = 0; i < 3; i++)
        needed = needed && (!is_periodic(m, i) || (own.low[i] + k.k[i] <= m->all.high[i] &&
                                                   own.high[i] + k.k[i] >= m->all.low[i]));
    return needed;
}

typedef cairn_status image_fn(cairn_images *m, int body, cairn_image image);

/* Whether a zone is so close to a face of the cell that an image may be needed, from its span. */
static bool is_near_face(const cairn_images *m, const cairn_edge_span *own)
{
    bool near = false;
    for (int i = 0; i < 3; i++) {
        double more = m->slack * m->farthest * m->steepness[i];
        near |= is_periodic(m, i) && !(m->all.high[i] - own->low[i] + more < 1 &&
                                       own->high[i] - m->all.low[i] + more < 1);
    }
    return near;
}

/* Visit all images of a body that may overlap another one; of a dynamic body, those whose first
 * component other than 0 is positive. */
static cairn_status visit_images(cairn_images *m, int body, const cairn_zone *zone, image_fn *visit)
{
    static const cairn_image none = { { 0, 0, 0 } };
    const cairn_edge_span own = span_of(m, zone, m->slack * m->farthest);
    int32_t from[3] = { 0, 0, 0 }, to[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        double low = ceil(m->all.low[i] - own.high[i]), high = floor(m->all.high[i] - own.low[i]);
        if (!is_periodic(m, i))
            continue;
        if (!(low > -FARTHEST && high < FARTHEST))
            return CAIRN_NOT_FINITE;
        from[i] = (int32_t)low;
        to[i] = (int32_t)high;
    }
    for (int32_t x = from[0]; x <= to[0]; x++)
        for (int32_t y = from[1]; y <= to[1]; y++)
            for (int32_t z = from[2]; z <= to[2]; z++) {
                const cairn_image image = { { x, y, z } };
                int order = cairn_image_compare(image, none);
                if ((zone->movable ? order > 0 : order != 0) && is_needed(m, zone, image))
                    TRY(visit(m, body, image));
            }
    return CAIRN_OK;
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

/* The first image of a body, or of the next one that has any; owners ascend. */
static int first_image(const cairn_images *m, int body)
{
    int low = 0, high = m->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (m->owner[middle] < body)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static cairn_status look_up_image(cairn_images *m, int body, cairn_image image)
{
    for (int k = first_image(m, body); k < m->count && m->owner[k] == body; k++)
        if (cairn_image_compare(m->image[k], image) == 0)
            return CAIRN_OK;
    return CAIRN_NOT_FOUND;
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
static cairn_status settle(cairn_images *m, const cairn_crowd *crowd)
{
    const cairn_layout *at = crowd->at;
    TRY(cairn_memory_reserve((void **)&m->base, &m->body_capacity, (size_t)at->count,
                             sizeof *m->base));
    m->bodies = at->count;
    m->count = 0;
    for (int i = 0; i < at->count; i++) {
        const cairn_zone *zone = &at->zones[i];
        cairn_image home = { { 0, 0, 0 } };
        if (cairn_zone_bounded(zone) &&
            !cairn_lattice_holds(at->cell, m->reciprocal, zone->centre)) /* few are outside */
            home = cairn_lattice_home(at->cell, m->reciprocal, zone->centre);
        for (int k = 0; k < 3; k++)
            if (abs(home.k[k]) >= FARTHEST)
                return CAIRN_NOT_FINITE;
        m->base[i] = code_of(home) - code_of(crowd->image[i]);
    }
    return find_places(m, crowd);
}

/* The spans of the bodies in the list, and that of all, with the room that bodies which leave their
 * zones may use. */
static void find_spans(cairn_images *m, const cairn_zone *zones, double room, cairn_edge_span *each)
{
    cairn_edge_span all = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int i = 0; i < m->bodies; i++) {
        if (!cairn_zone_bounded(&zones[i]))
            continue;
        each[i] = span_of(m, &zones[i], 0);
        for (int axis = 0; axis < 3; axis++) {
            double low = each[i].low[axis], high = each[i].high[axis];
            all.low[axis] = low < all.low[axis] ? low : all.low[axis];
            all.high[axis] = high > all.high[axis] ? high : all.high[axis];
        }
    }
    m->farthest = 0;
    for (int axis = 0; axis < 3; axis++) {
        all.low[axis] -= room * m->steepness[axis];
        all.high[axis] += room * m->steepness[axis];
        if (is_periodic(m, axis) && all.high[axis] > all.low[axis])
            m->farthest += 1 + (all.high[axis] - all.low[axis]);
    }
    m->all = all;
}

/* The zones of the next list: of the bodies, and of the images that they need. */
static cairn_status choose(cairn_images *m, cairn_kept_pairs *kept, const cairn_crowd *crowd,
                           cairn_arena *scratch)
{
    const cairn_lattice *cell = crowd->at->cell;
    double usual = mean_edge(crowd->at), edges = 0;
    cairn_lattice_reciprocal(cell, m->reciprocal);
    memcpy(m->edge, cell->edge, sizeof m->edge);
    m->corner = cell->corner;
    for (int i = 0; i < 3; i++) {
        edges += cairn_norm(cell->edge[i]);
        m->steepness[i] = cairn_norm(m->reciprocal[i]);
    }
    double way = way_of_edges(m, cell);
    m->slack = ROUNDING * edges + (way > 0 ? way + SLACK * usual : 0);
    TRY(settle(m, crowd));
    TRY(cairn_kept_pairs_begin(kept, m->bodies));
    for (int i = 0; i < m->bodies; i++) {
        cairn_zone made;
        kept->zones[i] = cairn_zone_widened(zone_at_place(m, crowd->at, i, &made), kept->share);
    }
    cairn_edge_span *each = cairn_arena_take(scratch, (size_t)m->bodies, sizeof *each);
    if (!each)
        return CAIRN_NO_MEMORY;
    find_spans(m, kept->zones, SLACK * usual, each);
    for (int i = 0; i < m->bodies; i++)
        if (cairn_zone_bounded(&kept->zones[i]) && is_near_face(m, &each[i])) /* few are */
            TRY(visit_images(m, i, &kept->zones[i], add_image));
    TRY(cairn_kept_pairs_begin(kept, m->bodies + m->count));
    for (int k = 0; k < m->count; k++)
        kept->zones[m->bodies + k] = zone_of_image(m, &kept->zones[m->owner[k]], m->image[k]);
    return CAIRN_OK;
}

/* ---- bodies that left their zones ------------------------------------------------------------ */

/* Whether the zone of a stray lies within the span of all, and needs no image that is not there. */
static bool has_images(cairn_images *m, int body, const cairn_zone *zone)
{
    const cairn_edge_span own = span_of(m, zone, 0);
    bool within = cairn_zone_bounded(zone);
    for (int i = 0; i < 3 && within; i++)
        within =
            !is_periodic(m, i) || (own.low[i] >= m->all.low[i] && own.high[i] <= m->all.high[i]);
    return within && visit_images(m, body, zone, look_up_image) == CAIRN_OK;
}

/* The strays and their images, with their new zones; *serve: there are all images that they
 * need. */
static cairn_status renew(cairn_images *m, cairn_kept_pairs *kept, const cairn_layout *at,
                          cairn_zone_numbers *strays, cairn_arena *scratch, bool *serve)
{
    int32_t *all = cairn_arena_take(scratch, (size_t)(m->bodies + m->count), sizeof *all);
    int count = 0;
    cairn_zone made;
    if (!all)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < strays->count && *serve; i++) {
        const cairn_zone *zone = zone_at_place(m, at, strays->zone[i], &made);
        const cairn_zone wide = cairn_zone_widened(zone, kept->share);
        *serve = has_images(m, strays->zone[i], &wide);
    }
    for (int i = 0; i < strays->count && *serve; i++) {
        int body = strays->zone[i];
        const cairn_zone *zone = zone_at_place(m, at, body, &made);
        kept->zones[body] = cairn_zone_widened(zone, kept->share);
        all[count++] = body;
        for (int k = first_image(m, body); k < m->count && m->owner[k] == body; k++) {
            kept->zones[m->bodies + k] = zone_of_image(m, &kept->zones[body], m->image[k]);
            all[count++] = m->bodies + k;
        }
    }
    *strays = (cairn_zone_numbers){ all, count };
    return CAIRN_OK;
}

/* Whether the list is valid; it is updated if few bodies left their zones. */
static cairn_status serves(cairn_images *m, cairn_kept_pairs *kept, const cairn_crowd *crowd,
                           cairn_arena *scratch, cairn_pair_list *spare, bool *serve)
{
    cairn_zone_numbers strays;
    *serve = false;
    if (!kept->made || m->bodies != crowd->at->count || kept->count != m->bodies + m->count ||
        way_of_edges(m, crowd->at->cell) > m->slack)
        return CAIRN_OK;
    TRY(find_places(m, crowd));
    const cairn_places places = { zone_at_place, m };
    TRY(cairn_kept_pairs_strays(kept, crowd->at, &places, scratch, &strays));
    *serve = strays.count == 0 || cairn_kept_pairs_mendable(kept, crowd->at->zones, &strays);
    if (strays.count == 0 || !*serve)
        return CAIRN_OK;
    TRY(renew(m, kept, crowd->at, &strays, scratch, serve));
    return *serve ? cairn_kept_pairs_mend(kept, &strays, scratch, spare) : CAIRN_OK;
}

/* ---- pairs with images, by bodies ------------------------------------------------------------ */

/* A pair by its bodies, that in the lower row first. */
typedef struct entry {
    cairn_pair pair;
    cairn_image image; /* of the second body */
} entry;

/* A pair of the list by bodies, with the code of the image of the second one in this step; false:
 * of an image and a wall, or of a body and its own image. */
static bool resolve(const cairn_images *m, const cairn_zone *zones, cairn_pair of_zones,
                    cairn_pair *pair, uint64_t *code)
{
    int32_t first = of_zones.first, second = of_zones.second, n = m->bodies;
    uint64_t between = 0;
    if (second >= n) {
        between = code_of(m->image[second - n]);
        second = m->owner[second - n];
        if (first >= n || !cairn_zone_bounded(&zones[first]) || second == first)
            return false;
    }
    between += m->place[second] - m->place[first];
    *pair = cairn_pair_of(first, second);
    *code = second < first ? 0 - between : between;
    return true;
}

/* By rows, then by the image, which is compared as the body of larger uid has it, so that its order
 * does not depend on rows. */
static bool comes_before(const entry *a, const entry *b, const uint64_t *uid)
{
    if (a->pair.first != b->pair.first)
        return a->pair.first < b->pair.first;
    if (a->pair.second != b->pair.second)
        return a->pair.second < b->pair.second;
    int order = cairn_image_compare(a->image, b->image);
    return uid[a->pair.first] < uid[a->pair.second] ? order < 0 : order > 0;
}

/* Counting sort by the first row, then by insertion, which moves entries within their row only. */
static cairn_status sort(entry *items, size_t count, const cairn_crowd *crowd, cairn_arena *scratch)
{
    size_t rows = (size_t)crowd->at->count;
    int32_t *start = cairn_arena_take(scratch, rows + 1, sizeof *start);
    entry *copy = cairn_arena_take(scratch, count, sizeof *copy);
    if (!start || !copy)
        return CAIRN_NO_MEMORY;
    memset(start, 0, (rows + 1) * sizeof *start);
    for (size_t k = 0; k < count; k++) {
        copy[k] = items[k];
        start[copy[k].pair.first + 1]++;
    }
    for (size_t i = 1; i <= rows; i++)
        start[i] += start[i - 1];
    for (size_t k = 0; k < count; k++)
        items[start[copy[k].pair.first]++] = copy[k];
    for (size_t k = 1; k < count; k++) {
        entry item = items[k];
        size_t i = k;
        for (; i > 0 && comes_before(&item, &items[i - 1], crowd->uid); i--)
            items[i] = items[i - 1];
        items[i] = item;
    }
    return CAIRN_OK;
}

/* ---- the pairs of a step --------------------------------------------------------------------- */

/* An image in this step: where it is, and by how much zones there are wider. */
typedef struct seen_image {
    cairn_image image;
    cairn_vec3 shift; /* m */
    double way;       /* m */
} seen_image;

enum { AROUND = 27 };

typedef struct live_job {
    const cairn_images *images;
    const cairn_kept_pairs *kept;
    const cairn_layout *at;
    uint8_t *elsewhere;        /* of each zone of the list: 1 if it is not where a body is   */
    cairn_pair *plain;         /* live pairs of bodies; each range fills its own part        */
    int32_t *others;           /* other live pairs, by their numbers in the list; as well    */
    int *found, *aside;        /* how many of both each range has                            */
    seen_image around[AROUND]; /* images with components from -1 to 1                        */
} live_job;

static seen_image see(const cairn_lattice *cell, cairn_image image)
{
    return (seen_image){ image, cairn_lattice_shift(cell, image),
                         cairn_norm(cairn_lattice_drift(cell, image)) };
}

static void see_around(live_job *job)
{
    for (int i = 0; i < AROUND; i++)
        job->around[i] =
            see(job->at->cell, (cairn_image){ { i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1 } });
}

/* Nearly all images are neighbours of the cell. With 1 added to each, their components are not
 * negative, and so stand for themselves in the code. */
static const seen_image *image_in_step(const live_job *job, uint64_t code, seen_image *made)
{
    const uint64_t ones = 1 + ((uint64_t)1 << BITS) + ((uint64_t)1 << (2 * BITS));
    const uint64_t mask = ((uint64_t)1 << BITS) - 1, c = code + ones;
    uint64_t x = c & mask, y = c >> BITS & mask, z = c >> (2 * BITS);
    if (x <= 2 && y <= 2 && z <= 2)
        return &job->around[x + 3 * y + 9 * z];
    *made = see(job->at->cell, image_of(code));
    return made;
}

/* Whether a pair of the list with an image is live, and which it is by bodies. Walls have no
 * images. */
static bool is_live(const live_job *job, int32_t k, entry *out)
{
    uint64_t code;
    if (!resolve(job->images, job->kept->zones, job->kept->list.items[k], &out->pair, &code))
        return false;
    const cairn_zone *first = &job->at->zones[out->pair.first];
    cairn_zone second = job->at->zones[out->pair.second];
    out->image = (cairn_image){ { 0, 0, 0 } };
    if (cairn_zone_bounded(first) && cairn_zone_bounded(&second)) {
        seen_image made;
        const seen_image *seen = image_in_step(job, code, &made);
        out->image = seen->image;
        second.centre = cairn_add(second.centre, seen->shift);
        second.half = cairn_add(second.half, cairn_vec(seen->way, seen->way, seen->way));
    }
    return cairn_zones_are_live(first, &second);
}

/* Images, and bodies that have left the cell, or are back, since the list was made. */
static void find_elsewhere(live_job *job)
{
    const cairn_images *m = job->images;
    for (int i = 0; i < m->bodies; i++)
        job->elsewhere[i] = m->place[i] != 0;
    memset(job->elsewhere + m->bodies, 1, (size_t)m->count);
}

static void live_range(int begin, int end, void *context)
{
    const live_job *job = context;
    const cairn_zone *zones = job->at->zones;
    const cairn_pair *pairs = job->kept->list.items;
    const uint8_t *elsewhere = job->elsewhere;
    const int32_t last = job->images->bodies - 1;
    cairn_pair *plain = job->plain + begin;
    int32_t *const others = job->others + begin;
    int count = 0, live = 0;
    for (int k = begin; k < end; k++) {
        const cairn_pair pair = pairs[k];
        const int32_t soon = pairs[k + AHEAD < end ? k + AHEAD : k].second;
        cairn_prefetch(&zones[soon < last ? soon : last], sizeof(cairn_zone));
        if (elsewhere[pair.first] | elsewhere[pair.second]) { /* few */
            others[count++] = k;
            continue;
        }
        *plain = pair;
        plain += cairn_zones_are_live(&zones[pair.first], &zones[pair.second]);
    }
    for (int k = 0; k < count; k++) {
        entry one;
        int32_t number = others[k];
        others[live] = number;
        live += is_live(job, number, &one);
    }
    job->found[begin / GRAIN] = (int)(plain - (job->plain + begin));
    job->aside[begin / GRAIN] = live;
}

/* Test all pairs of the list, and join the parts of the ranges. */
static void test_all(live_job *job, size_t *plain, size_t *others)
{
    size_t count = job->kept->list.count;
    *plain = *others = 0;
    if (cairn_parallel_width() == 1) { /* there are no parts to join */
        live_range(0, (int)count, job);
        *plain = (size_t)job->found[0];
        *others = (size_t)job->aside[0];
        return;
    }
    cairn_parallel_for((int)count, GRAIN, live_range, job);
    for (size_t k = 0; k * GRAIN < count; k++) {
        size_t found = (size_t)job->found[k], aside = (size_t)job->aside[k];
        memmove(job->plain + *plain, job->plain + k * GRAIN, found * sizeof *job->plain);
        memmove(job->others + *others, job->others + k * GRAIN, aside * sizeof *job->others);
        *plain += found;
        *others += aside;
    }
}

/* Merge sorted entries into the sorted pairs of `out`, which have no images, from the back. */
static void merge(cairn_pair_list *out, const entry *entries, size_t count, const uint64_t *uid)
{
    size_t left = out->count;
    out->count += count;
    memset(out->image, 0, out->count * sizeof *out->image);
    for (size_t k = count; k > 0; k--) {
        const entry *one = &entries[k - 1];
        entry plain = { .pair = one->pair };
        for (; left > 0; left--) {
            plain.pair = out->items[left - 1];
            if (comes_before(&plain, one, uid))
                break;
            out->items[left + k - 1] = plain.pair;
        }
        out->items[left + k - 1] = one->pair;
        out->image[left + k - 1] = one->image;
    }
}

static cairn_status list_live(const cairn_images *m, const cairn_kept_pairs *kept,
                              const cairn_crowd *crowd, cairn_arena *scratch, cairn_pair_list *out)
{
    size_t count = kept->list.count, ranges = (count + GRAIN - 1) / GRAIN, others;
    out->count = 0;
    if (count == 0)
        return CAIRN_OK;
    TRY(cairn_memory_reserve((void **)&out->items, &out->capacity, count, sizeof *out->items));
    TRY(cairn_memory_reserve((void **)&out->image, &out->image_capacity, count,
                             sizeof *out->image));
    live_job job = { .images = m, .kept = kept, .at = crowd->at, .plain = out->items };
    job.elsewhere = cairn_arena_take(scratch, (size_t)kept->count, sizeof *job.elsewhere);
    job.others = cairn_arena_take(scratch, count, sizeof *job.others);
    job.found = cairn_arena_take(scratch, ranges, sizeof *job.found);
    job.aside = cairn_arena_take(scratch, ranges, sizeof *job.aside);
    if (!job.elsewhere || !job.others || !job.found || !job.aside)
        return CAIRN_NO_MEMORY;
    see_around(&job);
    find_elsewhere(&job);
    test_all(&job, &out->count, &others);
    entry *entries = cairn_arena_take(scratch, others, sizeof *entries);
    if (!entries)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < others; k++)
        is_live(&job, job.others[k], &entries[k]);
    TRY(sort(entries, others, crowd, scratch));
    merge(out, entries, others, crowd->uid);
    return CAIRN_OK;
}

cairn_status cairn_images_live(cairn_images *m, cairn_kept_pairs *kept, const cairn_crowd *crowd,
                               cairn_arena *scratch, cairn_pair_list *out)
{
    bool serve;
    TRY(serves(m, kept, crowd, scratch, out, &serve));
    if (!serve) {
        cairn_kept_pairs_tune(kept);
        TRY(choose(m, kept, crowd, scratch));
        TRY(cairn_kept_pairs_make(kept, crowd->broad, scratch));
    }
    TRY(list_live(m, kept, crowd, scratch, out));
    cairn_kept_pairs_used(kept, out->count);
    return CAIRN_OK;
}
