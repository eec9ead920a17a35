/* order.c - the order of bodies in memory: rows along a space-filling curve, and rows by uid.
 *
 * The curve visits the cells of a grid in the order of the interleaved bits of their coordinates
 * (Morton). Neighbours in space are then close in memory, and a range of rows is a region. Rows are
 * sorted again when bodies in neighbouring rows are on average DISORDER times as far apart as right
 * after the last sort. This rule depends only on the positions of bodies and on their rows, so a
 * resumed run sorts in the same step. A common motion of all bodies, or a few stray ones, does not
 * trigger it. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "world/store.h"
#include "world/world.h"

/* WORTH_ORDER: fewest bodies that are sorted. IN_A_CELL: bodies in a cell of the curve. GRAIN:
 * bodies in one piece of parallel work. DISORDER: ratio of distances at which rows are sorted
 * again. FAR: in cells; a larger distance counts as this, so that single bodies hardly matter. */
enum { WORTH_ORDER = 2048, IN_A_CELL = 4, GRAIN = 4096, DISORDER = 2, FAR = 16 };
enum { BITS = 20 }; /* of a cell coordinate, on either side of the middle */

/* ---- names ---------------------------------------------------------------------------------- */

/* `was` maps new rows to old ones; contacts need the inverse. The list of kept pairs names rows as
 * well. */
static void rename_rows(cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    if (b->moved) {
        int32_t *now = b->list;
        for (int i = 0; i < b->named; i++)
            now[i] = -1;
        for (int i = 0; i < b->count; i++)
            if (b->was[i] >= 0)
                now[b->was[i]] = i;
        cairn_contacts_rename(&world->contacts, now, world->dimension);
        world->contacts_sorted = cairn_contacts_are_sorted(&world->contacts);
        cairn_kept_pairs_rename(&world->kept_pairs, b->was, b->count, now, b->named);
        if (cairn_lattice_of(world)) /* its list has images after the bodies */
            cairn_kept_pairs_forget(&world->kept_pairs);
    }
    if (b->moved || world->joints.changed)
        cairn_joints_index(world);
    b->moved = false;
}

/* Contacts on a device are named by uids: they get their rows when they are copied. */
void cairn_world_name_rows(cairn_world *world)
{
    rename_rows(world);
    cairn_pile_return(world);
    if (world->contacts.elsewhere > 0)
        cairn_pile_show(world);
}

/* Sorts into the store of the last step, whose contacts are no longer needed, and swaps both. */
static cairn_status sort_contacts(cairn_world *world)
{
    if (world->contacts_sorted || world->contacts.count == 0)
        return CAIRN_OK;
    TRY(cairn_contacts_sort(&world->contacts, world->bodies.count, world->dimension,
                            &world->scratch, &world->last));
    cairn_contact_store sorted = world->last;
    world->last = world->contacts;
    world->contacts = sorted;
    world->contacts_sorted = true;
    return CAIRN_OK;
}

/* ---- the curve ------------------------------------------------------------------------------ */

/* Spreads the 21 bits of a number so that two zeros follow each of them. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

/* The grid of the curve. */
typedef struct grid {
    cairn_vec3 middle; /* m: a corner of a cell */
    double edge;       /* m: of a cell          */
} grid;

/* The cell along one axis, 0 to 2^21 - 1. Bodies outside the grid share its outermost cells. */
static uint64_t cell_along(double x, double edge)
{
    double cell = floor(x / edge), most = ldexp(1, BITS);
    return (uint64_t)(cairn_larger(-most, cairn_smaller(cell, most - 1)) + most);
}

static uint64_t place_on_curve(cairn_vec3 x, const grid *g)
{
    cairn_vec3 d = cairn_sub(x, g->middle);
    return spread(cell_along(d.x, g->edge)) | spread(cell_along(d.y, g->edge)) << 1 |
           spread(cell_along(d.z, g->edge)) << 2;
}

/* The dynamic bodies that this member owns; all of them if there is only one member. */
typedef struct crowd {
    const cairn_vec3 *x;
    int count;
    int64_t all; /* of all members */
    cairn_link *link;
} crowd;

static crowd crowd_of(const cairn_world *world)
{
    const cairn_exchange *e = &world->exchange;
    int first = e->link ? e->own : world->bodies.held;
    int end = e->link ? e->own_end : world->bodies.count;
    return (crowd){ world->bodies.x + first, end - first, cairn_link_sum(e->link, end - first),
                    e->link };
}

/* Sums of lengths are formed in integers, in units of 2^-32 of the longest length. They then depend
 * neither on the order of the bodies nor on which member has which of them. */
static const double fine = 4294967296.0;

static double coordinate(cairn_vec3 x, int axis)
{
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

/* m: the mean of |x - from| along an axis; no distance is longer than `longest`. */
static double mean_away(const crowd *c, int axis, double from, double longest)
{
    int64_t sum = 0;
    for (int i = 0; i < c->count && longest > 0; i++)
        sum += (int64_t)(fabs(coordinate(c->x[i], axis) - from) / longest * fine);
    return longest * ((double)cairn_link_sum(c->link, sum) / (double)c->all / fine);
}

/* The mean position along an axis, and the mean distance from it, in m. */
static double middle_of(const crowd *c, int axis, double *away)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < c->count; i++) {
        low = cairn_smaller(low, coordinate(c->x[i], axis));
        high = cairn_larger(high, coordinate(c->x[i], axis));
    }
    low = -cairn_link_largest(c->link, -low);
    high = cairn_link_largest(c->link, high);
    double middle = low + mean_away(c, axis, low, high - low);
    *away = mean_away(c, axis, middle, high - low);
    return middle;
}

/* A grid about the mean position of the dynamic bodies, with about IN_A_CELL of them in a cell if
 * they filled a cube. Its side is four times their mean distance from the middle along the longest
 * axis (the exact value for a uniform distribution), so that a few distant bodies hardly count. */
static grid grid_of(const crowd *c, int dimension)
{
    double away[3], middle[3];
    for (int axis = 0; axis < 3; axis++)
        middle[axis] = middle_of(c, axis, &away[axis]);
    double side = 4 * cairn_larger(away[0], cairn_larger(away[1], away[2]));
    int halvings = 0;
    while ((int64_t)IN_A_CELL << (dimension * halvings) < c->all)
        halvings++;
    return (grid){ { middle[0], middle[1], middle[2] }, side > 0 ? ldexp(side, -halvings) : 1 };
}

typedef struct place_job {
    const cairn_vec3 *x; /* from the first own body on, as are the places */
    uint64_t *place;
    grid g;
} place_job;

static void place_range(int begin, int end, void *context)
{
    const place_job *job = context;
    for (int i = begin; i < end; i++)
        job->place[i] = place_on_curve(job->x[i], &job->g);
}

typedef struct way_job {
    const cairn_vec3 *x; /* from the first own body on        */
    double most;         /* m: longer distances count as this */
} way_job;

/* The distance of two bodies (sum of the components), in units of 2^-32 of the longest that
 * counts. */
static int64_t way_between(cairn_vec3 a, cairn_vec3 b, double most)
{
    cairn_vec3 d = cairn_sub(b, a);
    return (int64_t)(cairn_smaller(fabs(d.x) + fabs(d.y) + fabs(d.z), most) / most * fine);
}

/* The sum of the distances from each body to that of the next row. */
static void way_range(int begin, int end, void *context, void *value)
{
    const way_job *job = context;
    int64_t sum = 0;
    for (int i = begin; i < end; i++)
        sum += way_between(job->x[i], job->x[i + 1], job->most);
    *(int64_t *)value = sum;
}

static void add_way(void *result, const void *value)
{
    *(int64_t *)result += *(const int64_t *)value;
}

/* The first own body of each member, if it has one. */
typedef struct head {
    cairn_vec3 x;
    bool there;
} head;

/* The distance from the last own body to the first one of the next member that has any. */
static cairn_status way_on(const crowd *c, double most, cairn_arena *scratch, int64_t *way)
{
    head *heads = cairn_arena_take(scratch, (size_t)c->link->members, sizeof *heads);
    if (!heads)
        return CAIRN_NO_MEMORY;
    head *own = &heads[c->link->member];
    memset(own, 0, sizeof *own);
    own->there = c->count > 0;
    if (own->there)
        own->x = c->x[0];
    cairn_link_share(c->link, c->link->members, heads, sizeof *heads);
    int next = c->link->member + 1;
    while (next < c->link->members && !heads[next].there)
        next++;
    *way = 0;
    if (next < c->link->members && c->count > 0)
        *way = way_between(c->x[c->count - 1], heads[next].x, most);
    return CAIRN_OK;
}

/* m: the mean of distances whose sum is given in units of 2^-32 of the longest that counts. */
static double mean_of(const crowd *c, double far, int64_t sum)
{
    return far * ((double)sum / (double)(c->all - 1) / fine);
}

/* m: the mean distance of bodies in neighbouring rows, over all members. */
static cairn_status measure_step(const crowd *c, double far, cairn_arena *scratch, double *mean)
{
    static const int64_t none = 0;
    way_job job = { c->x, far };
    const cairn_reduction all = { .count = c->count > 0 ? c->count - 1 : 0,
                                  .grain = GRAIN,
                                  .work = way_range,
                                  .join = add_way,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    int64_t sum = 0, on = 0;
    TRY(cairn_arena_reduce(scratch, &all, &sum));
    if (c->link)
        TRY(way_on(c, far, scratch, &on));
    sum = cairn_link_sum(c->link, sum + on);
    *mean = mean_of(c, far, sum);
    return CAIRN_OK;
}

/* ---- sorting -------------------------------------------------------------------------------- */

typedef struct gather_job {
    const char *rows;
    const int32_t *order;
    size_t size;
    char *out;
} gather_job;

static void gather_range(int begin, int end, void *context)
{
    const gather_job *job = context;
    for (int i = begin; i < end; i++)
        memcpy(job->out + (size_t)i * job->size, job->rows + (size_t)job->order[i] * job->size,
               job->size);
}

/* Permutes the rows of one column; `room` holds as many rows. */
static void put_rows(void *rows, size_t size, const int32_t *order, int count, void *room)
{
    gather_job job = { rows, order, size, room };
    cairn_parallel_for(count, GRAIN, gather_range, &job);
    memcpy(rows, room, (size_t)count * size);
}

/* Permutes the dynamic bodies in all columns. Memory for the widest column comes first: after that
 * nothing can fail. */
static cairn_status put_bodies(cairn_body_store *b, const int32_t *order, cairn_arena *scratch)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    int first = b->held, count = b->count - b->held;
    void *room = cairn_arena_take(scratch, (size_t)count, cairn_bodies_widest());
    if (!room)
        return CAIRN_NO_MEMORY;
    cairn_bodies_start_moving(b);
    put_rows(b->was + first, sizeof *b->was, order, count, room);
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], 3);
        put_rows((char *)cairn_column_get(list, k, b) + (size_t)first * size, size, order, count,
                 room);
    }
    for (int i = first; i < b->count; i++)
        cairn_directory_set(&b->directory, b->uid[i], i);
    return CAIRN_OK;
}

cairn_status cairn_world_sort_rows(cairn_world *world, const uint64_t *place)
{
    cairn_body_store *b = &world->bodies;
    int32_t *order;
    TRY(cairn_sort_by_number(place, b->count - b->held, &world->scratch, &order));
    return put_bodies(b, order, &world->scratch);
}

/* Whether bodies of neighbouring rows have moved too far apart, or were never sorted (apart =
 * 0). */
static cairn_status is_disordered(cairn_world *world, const crowd *c, bool *out)
{
    const cairn_body_store *b = &world->bodies;
    double apart = 0;
    *out = b->apart == 0;
    if (*out)
        return CAIRN_OK;
    if (b->elsewhere & CAIRN_STATES_ELSEWHERE) {
        int64_t sum = 0;
        TRY(cairn_pile_apart(world, b->far, &sum));
        apart = mean_of(c, b->far, sum);
    } else {
        TRY(measure_step(c, b->far, &world->scratch, &apart));
    }
    *out = apart > DISORDER * b->apart;
    return CAIRN_OK;
}

/* The places of own bodies on the curve, and the edge of its cells in m. */
static cairn_status find_places(cairn_world *world, const crowd *c, uint64_t **place, double *edge)
{
    place_job job = { c->x, cairn_arena_take(&world->scratch, (size_t)c->count, sizeof *job.place),
                      grid_of(c, world->dimension) };
    if (!job.place)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(c->count, GRAIN, place_range, &job);
    *place = job.place;
    *edge = job.g.edge;
    return CAIRN_OK;
}

/* Sorts the bodies if it is due. The mean distance right after the sort is kept as the measure of
 * later disorder, and saved with the state. */
static cairn_status sort_bodies(cairn_world *world, const cairn_step_options *options)
{
    cairn_body_store *b = &world->bodies;
    crowd c = crowd_of(world);
    bool due;
    double edge;
    uint64_t *place;
    if (c.all < WORTH_ORDER)
        return CAIRN_OK;
    TRY(is_disordered(world, &c, &due));
    if (!due)
        return CAIRN_OK;
    cairn_pile_return(world);
    TRY(find_places(world, &c, &place, &edge));
    if (options->parts > 1)
        TRY(cairn_parts_gather(world, c.link ? world->exchange.own : b->held, place));
    if (c.link) {
        TRY(cairn_exchange_sort(world, options, place));
    } else {
        TRY(cairn_world_sort_rows(world, place));
    }
    b->far = FAR * edge;
    c = crowd_of(world);
    return measure_step(&c, b->far, &world->scratch, &b->apart);
}

/* The scratch is reset, so the problem of the last step ends here. Contacts are sorted twice,
 * because the exchange with other members may bring contacts out of order. */
cairn_status cairn_world_put_in_order(cairn_world *world, const cairn_step_options *options)
{
    cairn_arena_reset(&world->scratch);
    world->problem_r = NULL;
    world->exchange.gathered = false;
    TRY(cairn_exchange_restore(world, options));
    TRY(sort_bodies(world, options));
    rename_rows(world);
    TRY(sort_contacts(world));
    TRY(cairn_exchange_arrange(world, options));
    return sort_contacts(world);
}

/* As the next step would: contacts then have one order, whoever has their bodies. */
cairn_status cairn_world_tidy(cairn_world *world, const cairn_step_options *options)
{
    TRY(cairn_exchange_restore(world, options));
    cairn_world_name_rows(world);
    return sort_contacts(world);
}

/* ---- rows by uid ----------------------------------------------------------------------------- */

/* The map from uids to rows. At most half of the places are used, so that a search
 * looks at about two of them on average. */

/* The smallest capacity. */
enum { LEAST = 16 };

/* The place of a uid if there were no collisions: upper bits of its product with 2^64 divided by
 * the golden ratio, which spreads consecutive numbers evenly (Fibonacci hashing). */
static size_t own_place(const cairn_directory *d, uint64_t uid)
{
    return (size_t)((uid * 0x9e3779b97f4a7c15u) >> 32) & (d->capacity - 1);
}

/* The place of a uid, or the free place where it would be stored. It ends, since half are free. */
static size_t place_of(const cairn_directory *d, uint64_t uid)
{
    size_t k = own_place(d, uid);
    while (d->places[k].next != 0 && d->places[k].uid != uid)
        k = (k + 1) & (d->capacity - 1);
    return k;
}

cairn_status cairn_directory_reserve(cairn_directory *d, size_t count)
{
    if (2 * count <= d->capacity)
        return CAIRN_OK;
    size_t capacity = LEAST;
    while (capacity < 2 * count)
        capacity *= 2;
    cairn_directory grown = { cairn_memory_zeroed(capacity, sizeof *d->places), capacity,
                              d->count };
    if (!grown.places)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < d->capacity; k++)
        if (d->places[k].next != 0)
            grown.places[place_of(&grown, d->places[k].uid)] = d->places[k];
    cairn_memory_free(d->places);
    *d = grown;
    return CAIRN_OK;
}

void cairn_directory_release(cairn_directory *d)
{
    cairn_memory_free(d->places);
    *d = (cairn_directory){ 0 };
}

void cairn_directory_set(cairn_directory *d, uint64_t uid, int row)
{
    struct cairn_place *place = &d->places[place_of(d, uid)];
    d->count += place->next == 0;
    *place = (struct cairn_place){ uid, row + 1 };
}

/* Close the gap: an entry behind it whose own place is not between the gap and the entry would no
 * longer be found, and moves into the gap, which leaves a new one. Without deletion marks the table
 * never degrades. */
void cairn_directory_remove(cairn_directory *d, uint64_t uid)
{
    size_t mask = d->capacity - 1, gap = place_of(d, uid);
    for (size_t k = (gap + 1) & mask; d->places[k].next != 0; k = (k + 1) & mask) {
        size_t own = own_place(d, d->places[k].uid);
        if (((k - own) & mask) >= ((k - gap) & mask)) {
            d->places[gap] = d->places[k];
            gap = k;
        }
    }
    d->places[gap].next = 0;
    d->count--;
}

int cairn_directory_find(const cairn_directory *d, uint64_t uid)
{
    return d->capacity > 0 ? d->places[place_of(d, uid)].next - 1 : -1;
}
