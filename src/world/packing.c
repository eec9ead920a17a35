/* packing.c - the packing fraction by quasi-random points.
 *
 * Up is against gravity. The region lies between two quantiles of the heights of the dynamic
 * balls, inside every half-space, cylinder and cone. Points of the R-sequence (additive recurrence
 * with the plastic number's powers) are counted inside the region and inside balls. Sideways the
 * region must be closed: rays from the middle of the balls have to meet a container. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/world.h"

enum { RAYS = 48, LEVELS = 3 };

typedef struct probe {
    const cairn_world *world;
    cairn_vec3 up, side, across; /* unit; across is 0 in 2D                     */
    cairn_vec3 middle;           /* m: mean of the centres                      */
    double low, high;            /* m: along up                                 */
    double half_width;           /* m: of the sampled square about the middle   */
    int balls;
    int *ball;                 /* indices                                     */
    int cells, *start, *entry; /* balls by column of a grid on (side, across) */
} probe;

static bool is_ball(const cairn_world *world, int i)
{
    const cairn_body_store *b = &world->bodies;
    return i >= b->held && cairn_body_shape(b, i)->kind == CAIRN_SHAPE_SPHERE;
}

/* Distance inside the container that body i is; infinite for other bodies. */
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

/* How far one can go from `from` along a unit vector before leaving the containers: steps of the
 * depth itself never jump over a wall. Infinite when there is no wall that way. */
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

static cairn_vec3 lateral(const probe *p, int k)
{
    if (p->world->dimension == 2)
        return cairn_scale(k % 2 ? -1 : 1, p->side);
    double angle = 2 * M_PI * k / RAYS;
    return cairn_add_scaled(cairn_scale(cos(angle), p->side), sin(angle), p->across);
}

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

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cairn_status find_heights(probe *p, double trim, cairn_arena *arena)
{
    const cairn_body_store *b = &p->world->bodies;
    double *heights = cairn_arena_take(arena, (size_t)b->count, sizeof *heights);
    p->ball = cairn_arena_take(arena, (size_t)b->count, sizeof *p->ball);
    if (!heights || !p->ball)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < b->count; i++)
        if (is_ball(p->world, i)) {
            heights[p->balls] = cairn_dot(b->x[i], p->up);
            p->middle = cairn_add(p->middle, b->x[i]);
            p->ball[p->balls++] = i;
        }
    if (p->balls < 2)
        return CAIRN_UNSUPPORTED;
    p->middle = cairn_scale(1.0 / p->balls, p->middle);
    qsort(heights, (size_t)p->balls, sizeof *heights, compare_doubles);
    p->low = heights[(int)(trim * (p->balls - 1))];
    p->high = heights[(int)((1 - trim) * (p->balls - 1))];
    return p->high > p->low ? CAIRN_OK : CAIRN_UNSUPPORTED;
}

/* ---- balls by column ------------------------------------------------------------------------ */

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

/* Visit the columns a ball may lie in: count them (entry NULL) or enter the ball. */
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
    return sort_balls(p, arena);
}

/* Whether there are dynamic bodies with a size that are no spheres: they would not be counted. */
static bool has_other_shapes(const cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    for (int i = b->held; i < b->count; i++)
        if (cairn_body_shape(b, i)->kind != CAIRN_SHAPE_SPHERE &&
            cairn_body_shape(b, i)->kind != CAIRN_SHAPE_POINT)
            return true;
    return false;
}

cairn_status cairn_world_packing(const cairn_world *world, double trim, int64_t samples,
                                 cairn_packing *out)
{
    cairn_arena arena = { 0 };
    probe p = { .world = world };
    *out = (cairn_packing){ 0 };
    if (!(trim >= 0 && trim < 0.5) || samples < 1)
        return CAIRN_BAD_INPUT;
    if (has_other_shapes(world))
        return CAIRN_UNSUPPORTED;
    cairn_status status = prepare(&p, trim, &arena);
    int64_t filled = 0;
    for (int64_t k = 0; status == CAIRN_OK && k < samples; k++) {
        cairn_vec3 at = sample(&p, k);
        if (depth_in_containers(world, at) <= 0)
            continue;
        out->samples++;
        filled += in_a_ball(&p, at);
    }
    cairn_arena_destroy(&arena);
    if (status != CAIRN_OK)
        return status;
    out->low = p.low;
    out->high = p.high;
    out->fraction = out->samples ? (double)filled / (double)out->samples : 0;
    return out->samples ? CAIRN_OK : CAIRN_UNSUPPORTED;
}
