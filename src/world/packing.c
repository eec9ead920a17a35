/* packing.c - the packing fraction of balls by quasi-random points.
 *
 * Up is against gravity. The region lies between two quantiles of the heights of the dynamic balls,
 * inside every half-space, cylinder and cone. Points of a low-discrepancy sequence, which cover
 * space more evenly than random ones, are counted inside the region and inside balls; the fraction
 * is the ratio of both. To the sides the region must be closed: rays from the middle of the balls
 * have to hit a container.
 *
 * Members that compute a world together measure it together: each has all containers and visits all
 * points, but only its own balls. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/generate.h"
#include "math/vec.h"
#include "world/world.h"

enum { RAYS = 48, LEVELS = 3 }; /* rays at each of so many heights */

/* The region in which points are counted, and the balls sorted for it. */
typedef struct probe {
    const cairn_world *world;
    cairn_vec3 up, side, across; /* unit; across is 0 in 2D                     */
    cairn_vec3 middle;           /* m: about the mean of the centres            */
    double low, high;            /* m: along up                                 */
    double half_width;           /* m: of the sampled square about the middle   */
    int balls;
    int *ball;                 /* rows of the balls that this member moves    */
    int cells, *start, *entry; /* balls by column of a grid on (side, across) */
} probe;

static bool is_ball(const cairn_world *world, int i)
{
    const cairn_body_store *b = &world->bodies;
    return cairn_world_moves(world, i) && cairn_body_shape(b, i)->kind == CAIRN_SHAPE_SPHERE;
}

/* Distance of a point from the wall of body i, if that is a container; infinite for other bodies.
 * Containers are the unbounded shapes, apart from funnels. */
static double depth_inside(const cairn_world *world, int i, cairn_vec3 point)
{
    static const cairn_shape particle = { .kind = CAIRN_SHAPE_POINT };
    cairn_collider wall = cairn_body_collider(world, i);
    if (!wall.shape || isfinite(wall.extent) || wall.shape->kind == CAIRN_SHAPE_FUNNEL)
        return INFINITY;
    cairn_collider me = { .shape = &particle, .x = point, .q = { 1, 0, 0, 0 }, .reach = INFINITY };
    cairn_witness found[CAIRN_WITNESSES];
    bool swapped;
    int count = cairn_witnesses_find(&me, &wall, world->dimension, &swapped, found);
    double depth = INFINITY;
    for (int k = 0; k < count; k++)
        depth = fmin(depth, found[k].gap);
    return depth;
}

static double depth_in_containers(const cairn_world *world, cairn_vec3 point)
{
    double depth = INFINITY;
    for (int i = 0; i < world->bodies.count && depth > 0; i++)
        if (world->bodies.motion[i] != CAIRN_MOTION_DYNAMIC)
            depth = fmin(depth, depth_inside(world, i, point));
    return depth;
}

/* Distance from `from` along a unit vector to the wall of the containers. Each advance is the
 * distance to the nearest wall (sphere tracing), so it never jumps over a wall. Infinite if there
 * is no wall in that direction. */
static double ray_length(const probe *p, cairn_vec3 from, cairn_vec3 direction)
{
    double travelled = 0, far = 1e6 * (1 + p->high - p->low);
    for (int k = 0; k < 10000 && travelled < far; k++) {
        cairn_vec3 at = cairn_add_scaled(from, travelled, direction);
        double depth = depth_in_containers(p->world, at);
        if (!isfinite(depth))
            return INFINITY;
        if (depth < 1e-6 * (1 + travelled))
            return travelled;
        travelled += depth;
    }
    return INFINITY;
}

/* A horizontal direction; in 2D there are only two. */
static cairn_vec3 lateral(const probe *p, int k)
{
    if (p->world->dimension == 2)
        return cairn_scale(k % 2 ? -1 : 1, p->side);
    double angle = 2 * M_PI * k / RAYS;
    return cairn_add_scaled(cairn_scale(cos(angle), p->side), sin(angle), p->across);
}

/* Half the width of the sampled square: the longest ray, and 1 % more, because rays between those
 * that were traced may be longer. Fails if the region is open to one side. */
static cairn_status find_width(probe *p)
{
    double height = cairn_dot(p->middle, p->up);
    for (int level = 0; level < LEVELS; level++) {
        double wanted = p->low + (p->high - p->low) * level / (LEVELS - 1);
        cairn_vec3 from = cairn_add_scaled(p->middle, wanted - height, p->up);
        for (int k = 0; k < RAYS; k++) {
            double length = ray_length(p, from, lateral(p, k));
            if (!isfinite(length))
                return CAIRN_UNSUPPORTED;
            p->half_width = fmax(p->half_width, 1.01 * length);
        }
    }
    return p->half_width > 0 ? CAIRN_OK : CAIRN_UNSUPPORTED;
}

/* The mean of the centres along an axis, in units of a 2^31th of their extent: sums of whole
 * numbers are the same in any order, whoever has the balls. */
static double mean_along(const probe *p, int axis, int64_t all)
{
    const double units = 2147483648.0; /* 2^31 balls add up to less than 2^63 */
    const cairn_vec3 *x = p->world->bodies.x;
    cairn_link *link = p->world->exchange.link;
    double low = -HUGE_VAL, high = -HUGE_VAL;
    int64_t sum = 0;
    for (int k = 0; k < p->balls; k++) {
        low = fmax(low, -cairn_component(x[p->ball[k]], axis));
        high = fmax(high, cairn_component(x[p->ball[k]], axis));
    }
    low = -cairn_link_largest(link, low);
    high = cairn_link_largest(link, high);
    if (!(high > low) || !isfinite(high - low))
        return low;
    for (int k = 0; k < p->balls; k++)
        sum += (int64_t)(units * ((cairn_component(x[p->ball[k]], axis) - low) / (high - low)));
    return low + (double)cairn_link_sum(link, sum) / (double)all * ((high - low) / units);
}

static cairn_status list_balls(probe *p, cairn_arena *arena, double **heights)
{
    const cairn_body_store *b = &p->world->bodies;
    *heights = cairn_arena_take(arena, (size_t)b->count, sizeof **heights);
    p->ball = cairn_arena_take(arena, (size_t)b->count, sizeof *p->ball);
    if (!*heights || !p->ball)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < b->count; i++)
        if (is_ball(p->world, i)) {
            (*heights)[p->balls] = cairn_dot(b->x[i], p->up);
            p->ball[p->balls++] = i;
        }
    return CAIRN_OK;
}

/* The quantiles `trim` and 1 - trim of the heights of the balls, so that the region ends inside the
 * packing and not at its surface. */
static cairn_status find_heights(probe *p, double trim, cairn_arena *arena)
{
    cairn_link *link = p->world->exchange.link;
    double *heights;
    TRY(cairn_exchange_agree((cairn_world *)p->world, list_balls(p, arena, &heights)));
    int64_t all = cairn_link_sum(link, p->balls);
    if (all < 2)
        return CAIRN_UNSUPPORTED;
    p->middle = (cairn_vec3){ mean_along(p, 0, all), mean_along(p, 1, all), mean_along(p, 2, all) };
    double first = trim * (double)(all - 1), last = (1 - trim) * (double)(all - 1);
    p->low = cairn_link_ranked(link, heights, p->balls, (int64_t)first);
    p->high = cairn_link_ranked(link, heights, p->balls, (int64_t)last);
    return p->high > p->low ? CAIRN_OK : CAIRN_UNSUPPORTED;
}

/* ---- balls by column ------------------------------------------------------------------------ */

/* Positions outside the square count as in the outermost column. */
static int column_index(const probe *p, double offset)
{
    int k = (int)floor((offset / p->half_width + 1) * 0.5 * p->cells);
    return k < 0 ? 0 : k >= p->cells ? p->cells - 1 : k;
}

static int column_at(const probe *p, cairn_vec3 point)
{
    cairn_vec3 d = cairn_sub(point, p->middle);
    int across = p->world->dimension == 3 ? column_index(p, cairn_dot(d, p->across)) : 0;
    return across * p->cells + column_index(p, cairn_dot(d, p->side));
}

/* Visits the columns that a ball may overlap: counts them, or enters the ball. With counts two
 * places ahead, start[c + 1] is where column c begins while it is filled, and where it ends after
 * that. */
static void touch_columns(probe *p, int i, bool enter)
{
    const cairn_body_store *b = &p->world->bodies;
    cairn_vec3 d = cairn_sub(b->x[i], p->middle);
    double r = cairn_body_shape(b, i)->radius, s = cairn_dot(d, p->side),
           t = cairn_dot(d, p->across);
    bool deep = p->world->dimension == 3;
    int last_row = deep ? column_index(p, t + r) : 0;
    for (int row = deep ? column_index(p, t - r) : 0; row <= last_row; row++)
        for (int k = column_index(p, s - r); k <= column_index(p, s + r); k++) {
            int c = row * p->cells + k;
            if (enter)
                p->entry[p->start[c + 1]++] = i;
            else
                p->start[c + 2]++;
        }
}

/* Counting sort of the balls into about as many columns as there are balls. */
static cairn_status sort_balls(probe *p, cairn_arena *arena)
{
    bool deep = p->world->dimension == 3;
    p->cells = 1 + (int)sqrt((double)p->balls);
    int columns = deep ? p->cells * p->cells : p->cells;
    double *zero = cairn_arena_doubles(arena, (size_t)columns + 2); /* cleared, and large enough */
    if (!zero)
        return CAIRN_NO_MEMORY;
    p->start = (int *)zero;
    for (int k = 0; k < p->balls; k++)
        touch_columns(p, p->ball[k], false);
    for (int c = 1; c < columns + 2; c++)
        p->start[c] += p->start[c - 1];
    p->entry = cairn_arena_take(arena, (size_t)p->start[columns + 1] + 1, sizeof *p->entry);
    if (!p->entry)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < p->balls; k++)
        touch_columns(p, p->ball[k], true);
    return CAIRN_OK;
}

static bool in_a_ball(const probe *p, cairn_vec3 point)
{
    const cairn_body_store *b = &p->world->bodies;
    int c = column_at(p, point);
    for (int k = p->start[c]; k < p->start[c + 1]; k++) {
        int i = p->entry[k];
        cairn_vec3 d = cairn_sub(point, b->x[i]);
        if (cairn_dot(d, d) <= cairn_body_shape(b, i)->radius * cairn_body_shape(b, i)->radius)
            return true;
    }
    return false;
}

/* ---- counting ------------------------------------------------------------------------------- */

/* Point k of the additive recurrence with steps 1/p, 1/p^2, 1/p^3, where p = 1.2207 is the root of
 * p^4 = p + 1: the sequence R_3, which spreads points evenly in three dimensions. In 2D `across` is
 * 0, and the second number is not used. */
static cairn_vec3 sample(const probe *p, int64_t k)
{
    static const double steps[3] = { 0.8191725133961645, 0.6710436067037893, 0.5497004779019703 };
    double u[3], whole;
    for (int i = 0; i < 3; i++)
        u[i] = modf(0.5 + steps[i] * (double)(k + 1), &whole);
    double height = p->low + (p->high - p->low) * u[2] - cairn_dot(p->middle, p->up);
    cairn_vec3 at = cairn_add_scaled(p->middle, height, p->up);
    at = cairn_add_scaled(at, (2 * u[0] - 1) * p->half_width, p->side);
    return cairn_add_scaled(at, (2 * u[1] - 1) * p->half_width, p->across);
}

/* Without gravity, up is y in 2D and z in 3D. */
static cairn_status prepare(probe *p, double trim, cairn_arena *arena)
{
    double g = cairn_norm(p->world->gravity);
    bool flat = p->world->dimension == 2;
    cairn_vec3 standard = flat ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
    p->up = g > 0 ? cairn_scale(-1 / g, p->world->gravity) : standard;
    p->side = flat ? cairn_vec(-p->up.y, p->up.x, 0) : cairn_perpendicular(p->up);
    p->across = flat ? cairn_vec(0, 0, 0) : cairn_cross(p->up, p->side);
    TRY(find_heights(p, trim, arena));
    TRY(find_width(p));
    return cairn_exchange_agree((cairn_world *)p->world, sort_balls(p, arena));
}

/* Whether dynamic bodies other than spheres have a volume, which would not be counted. */
static bool has_other_shapes(const cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    bool any = false;
    for (int i = b->held; i < b->count; i++)
        any = any || (cairn_body_shape(b, i)->kind != CAIRN_SHAPE_SPHERE &&
                      cairn_body_shape(b, i)->kind != CAIRN_SHAPE_POINT);
    return cairn_link_any(world->exchange.link, any);
}

/* Points are counted in batches. Each has 16 bits of a whole number, in which the members that have
 * a ball there are counted: there are at most CAIRN_MOST_PARTS of them. */
enum { LANES = 4, WORDS = 256, BATCH = LANES * WORDS };
_Static_assert(CAIRN_MOST_PARTS < 1 << 15, "a lane has room for all members");

/* Points [first, end) that are in the containers, added to out->samples, and how many of them are
 * in balls of any member. */
static int64_t count_batch(const probe *p, int64_t first, int64_t end, cairn_packing *out)
{
    int64_t words[WORDS] = { 0 }, filled = 0;
    for (int64_t k = first; k < end; k++) {
        cairn_vec3 at = sample(p, k);
        if (depth_in_containers(p->world, at) <= 0)
            continue;
        out->samples++;
        if (in_a_ball(p, at))
            words[(k - first) / LANES] += INT64_C(1) << 16 * ((k - first) % LANES);
    }
    cairn_link_sums(p->world->exchange.link, words, WORDS);
    for (int i = 0; i < BATCH; i++)
        filled += (words[i / LANES] >> 16 * (i % LANES) & 0xffff) > 0;
    return filled;
}

cairn_status cairn_world_packing(const cairn_world *world, double trim, int64_t samples,
                                 cairn_packing *out)
{
    cairn_pile_return((cairn_world *)world);
    cairn_arena arena = { 0 };
    probe p = { .world = world };
    *out = (cairn_packing){ 0 };
    if (!(trim >= 0 && trim < 0.5) || samples < 1)
        return CAIRN_BAD_INPUT;
    if (has_other_shapes(world))
        return CAIRN_UNSUPPORTED;
    cairn_status status = prepare(&p, trim, &arena);
    int64_t filled = 0;
    for (int64_t k = 0; status == CAIRN_OK && k < samples; k += BATCH)
        filled += count_batch(&p, k, k + BATCH < samples ? k + BATCH : samples, out);
    cairn_arena_destroy(&arena);
    TRY(status);
    if (world->exchange.link)
        TRY(world->exchange.link->status);
    out->low = p.low;
    out->high = p.high;
    out->fraction = out->samples ? (double)filled / (double)out->samples : 0;
    return out->samples ? CAIRN_OK : CAIRN_UNSUPPORTED;
}
