/* order.c - the order of bodies in memory: rows along a curve through space.
 *
 * The curve goes through the cells of a grid in the order of the interleaved bits of their places
 * (Morton). Neighbours in space then lie close in memory, and a range of rows is a region. Rows are
 * sorted again when bodies of rows side by side are on average twice as far apart as right after
 * the last time: a rule of where bodies are, and in which rows, alone. All of them may move
 * together, and a few may be anywhere, without that. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/world.h"

enum { WORTH_ORDER = 2048, IN_A_CELL = 4, GRAIN = 4096, DISORDER = 2, FAR = 16 };
enum { BITS = 20 }; /* of a cell along an axis, either way from the origin */

/* ---- names ---------------------------------------------------------------------------------- */

void cairn_world_name_rows(cairn_world *world)
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
        cairn_kept_pairs_forget(&world->kept_pairs);
    }
    if (b->moved || world->joints.changed)
        cairn_joints_index(world);
    b->moved = false;
}

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

/* The bits of a number of 21 with two zeros after each. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

/* The grid through which the curve goes. */
typedef struct grid {
    cairn_vec3 middle; /* m: a corner of a cell */
    double edge;       /* m: of a cell          */
} grid;

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

/* About the mean place of dynamic bodies, with cells of about IN_A_CELL of them if they filled a
 * cube. Its side is four times their mean distance from the middle along the longest axis, so that
 * a few which are far away hardly count. */
static grid grid_of(const cairn_body_store *b, int dimension)
{
    double share = 1.0 / (b->count - b->held);
    cairn_vec3 middle = { 0, 0, 0 }, away = { 0, 0, 0 };
    for (int i = b->held; i < b->count; i++)
        middle = cairn_add_scaled(middle, share, b->x[i]);
    for (int i = b->held; i < b->count; i++) {
        cairn_vec3 d = cairn_sub(b->x[i], middle);
        away = cairn_add_scaled(away, share, cairn_vec(fabs(d.x), fabs(d.y), fabs(d.z)));
    }
    double side = 4 * cairn_larger(away.x, cairn_larger(away.y, away.z));
    int halvings = 0;
    while ((int64_t)IN_A_CELL << (dimension * halvings) < b->count - b->held)
        halvings++;
    return (grid){ middle, side > 0 ? ldexp(side, -halvings) : 1 };
}

typedef struct place_job {
    const cairn_vec3 *x; /* of the first dynamic body on, like the rest */
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
    const cairn_vec3 *x; /* of the first dynamic body on */
    double most;         /* m: what is further counts so */
} way_job;

/* m: sum over bodies of how far the one of the next row is away. */
static void way_range(int begin, int end, void *context, void *value)
{
    const way_job *job = context;
    double sum = 0;
    for (int i = begin; i < end; i++) {
        cairn_vec3 d = cairn_sub(job->x[i + 1], job->x[i]);
        sum += cairn_smaller(fabs(d.x) + fabs(d.y) + fabs(d.z), job->most);
    }
    *(double *)value = sum;
}

static void add_way(void *result, const void *value)
{
    *(double *)result += *(const double *)value;
}

/* m: its mean. */
static cairn_status measure_step(const cairn_body_store *b, cairn_arena *scratch, double *mean)
{
    static const double none = 0;
    int count = b->count - b->held - 1;
    way_job job = { b->x + b->held, b->far };
    const cairn_reduction all = { .count = count,
                                  .grain = GRAIN,
                                  .work = way_range,
                                  .join = add_way,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    double sum = 0;
    TRY(cairn_arena_reduce(scratch, &all, &sum));
    *mean = sum / count;
    return CAIRN_OK;
}

/* ---- sorting -------------------------------------------------------------------------------- */

/* By 16 bits of each number, from the lowest on; items that are equal keep their order. */
static cairn_status sort_by_place(const uint64_t *place, int count, cairn_arena *scratch,
                                  int32_t **out)
{
    enum { DIGIT = 16, VALUES = 1 << DIGIT };
    int32_t *from = cairn_arena_take(scratch, (size_t)count, sizeof *from);
    int32_t *to = cairn_arena_take(scratch, (size_t)count, sizeof *to);
    int32_t *start = cairn_arena_take(scratch, VALUES + 1, sizeof *start);
    if (!from || !to || !start)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++)
        from[i] = i;
    for (int shift = 0; shift < 64; shift += DIGIT) {
        memset(start, 0, (VALUES + 1) * sizeof *start);
        for (int i = 0; i < count; i++)
            start[(place[i] >> shift & (VALUES - 1)) + 1]++;
        for (int k = 0; k < VALUES; k++)
            start[k + 1] += start[k];
        for (int i = 0; i < count; i++)
            to[start[place[from[i]] >> shift & (VALUES - 1)]++] = from[i];
        int32_t *held = from;
        from = to;
        to = held;
    }
    *out = from;
    return CAIRN_OK;
}

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

/* Rows of numbers as an order says, by way of some room. */
static void put_rows(void *rows, size_t size, const int32_t *order, int count, void *room)
{
    gather_job job = { rows, order, size, room };
    cairn_parallel_for(count, GRAIN, gather_range, &job);
    memcpy(rows, room, (size_t)count * size);
}

/* The dynamic bodies in another order. */
static cairn_status put_bodies(cairn_body_store *b, const int32_t *order, cairn_arena *scratch)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    int first = b->held, count = b->count - b->held;
    size_t most = sizeof *b->was;
    for (int k = 0; k < list->count; k++)
        if (cairn_column_row(&list->items[k], 3) > most)
            most = cairn_column_row(&list->items[k], 3);
    void *room = cairn_arena_take(scratch, (size_t)count, most);
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

static cairn_status sort_bodies(cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    int count = b->count - b->held;
    double apart;
    if (count < WORTH_ORDER)
        return CAIRN_OK;
    TRY(measure_step(b, &world->scratch, &apart));
    if (b->apart > 0 && apart <= DISORDER * b->apart)
        return CAIRN_OK;
    place_job job = { b->x + b->held,
                      cairn_arena_take(&world->scratch, (size_t)count, sizeof *job.place),
                      grid_of(b, world->dimension) };
    int32_t *order;
    if (!job.place)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(count, GRAIN, place_range, &job);
    TRY(sort_by_place(job.place, count, &world->scratch, &order));
    TRY(put_bodies(b, order, &world->scratch));
    b->far = FAR * job.g.edge;
    return measure_step(b, &world->scratch, &b->apart);
}

cairn_status cairn_world_put_in_order(cairn_world *world)
{
    cairn_arena_reset(&world->scratch);
    world->problem_r = NULL;
    TRY(sort_bodies(world));
    cairn_world_name_rows(world);
    return sort_contacts(world);
}
