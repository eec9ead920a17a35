/* generate_fill.c - random sequential placement: spheres at random free places of a region.
 *
 * All radii are drawn first and placed from the largest to the smallest, each at the first of a
 * fixed number of random places that is free. Large ones first, because they would find no place
 * among many small ones. Neighbours are found in a hierarchy of grids: level l has cells of size
 * c_l = 2 R / 2^l, R the largest radius, and holds the spheres with c_l/4 < r <= c_l/2. A sphere
 * that is not larger than those of a level touches only what lies in the 3^d cells around it, so
 * the cost is linear in the number of bodies for any mix of sizes.
 *
 * Bodies of other shapes that exist already are entered with their bounding ball; if a sphere meets
 * that ball, the shape itself decides. Walls without bounds are few and are tested one by one. */
#include <math.h>
#include <stdlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "shape/shape.h"
#include "world/lists.h"
#include "world/touch.h"

/* Tries per body, after which the region counts as full; levels, of which 48 cover a ratio of radii
 * of 2^47; and the number of bodies from which a test of the total volume comes before all else. */
enum {
    TRIES = 1000,
    MAX_LEVELS = 48,
    MANY = 100000 /* bodies: the volume is checked before memory is taken for so many */
};

/* A placed sphere, or the bounding ball of a body that was there before. */
typedef struct ball {
    cairn_vec3 x;
    double radius;
    int32_t next;  /* index of the next ball in its bucket; -1: none                      */
    uint64_t body; /* uid of the body that it bounds; CAIRN_NO_BODY: the ball is the body */
} ball;

/* Balls in the cells of all levels. Cells are hashed into buckets, since most cells are empty and
 * the region may be large. */
typedef struct cells {
    cairn_world *world;
    ball *balls;
    int32_t *walls;   /* rows of bodies without bounds           */
    int32_t *buckets; /* first ball of each; -1: none            */
    double *radii;    /* m, of the bodies to be made, descending */
    int64_t room;     /* capacity of `balls`                     */
    int64_t count;
    int wall_count;
    uint64_t mask;  /* number of buckets - 1; the number is a power of 2      */
    double largest; /* m: the largest radius, which sets the cells of level 0 */
    int dimension, levels;
    bool used[MAX_LEVELS]; /* levels that hold a ball: the others are not searched */
} cells;

static void cells_destroy(cells *c)
{
    cairn_memory_free(c->balls);
    cairn_memory_free(c->walls);
    cairn_memory_free(c->buckets);
    cairn_memory_free(c->radii);
}

static cairn_status no_memory(const cairn_generation *g)
{
    return cairn_fail(g->error, CAIRN_NO_MEMORY, "", "out of memory");
}

/* ---- cells --------------------------------------------------------------------------------- */

/* c_l = 2 R / 2^l; ldexp is exact, so all levels nest. */
static double cell_size(const cells *c, int level)
{
    return ldexp(2 * c->largest, -level);
}

/* The finest level whose cells are at least as wide as the ball. */
static int level_of(const cells *c, double radius)
{
    int level = 0;
    while (level + 1 < MAX_LEVELS && cell_size(c, level + 1) >= 2 * radius)
        level++;
    return level;
}

/* floor(x / size) as an integer, clamped to 2^52, up to which doubles hold every integer. */
static int64_t cell_index(double x, double size)
{
    double index = floor(x / size);
    return index < -0x1p52 ? -(1LL << 52) : index > 0x1p52 ? 1LL << 52 : (int64_t)index;
}

/* A hash of level and cell. Different cells may share a bucket: that only costs further distance
 * tests. */
static uint64_t bucket_of(const cells *c, int level, const int64_t cell[3])
{
    uint64_t state = (uint64_t)level;
    for (int axis = 0; axis < 3; axis++) {
        state ^= (uint64_t)cell[axis] * 0x9e3779b97f4a7c15u;
        state = cairn_random_next(&state);
    }
    return state & c->mask;
}

static void cell_of(const cells *c, cairn_vec3 x, int level, int64_t out[3])
{
    double size = cell_size(c, level);
    out[0] = cell_index(x.x, size);
    out[1] = cell_index(x.y, size);
    out[2] = c->dimension == 3 ? cell_index(x.z, size) : 0;
}

/* At the front of its bucket. There is room for all balls: cells_allocate counted them. */
static void insert(cells *c, const ball *b, int level)
{
    int64_t cell[3];
    cell_of(c, b->x, level, cell);
    int32_t *first = &c->buckets[bucket_of(c, level, cell)];
    c->balls[c->count] = *b;
    c->balls[c->count].next = *first;
    *first = (int32_t)c->count++;
    c->used[level] = true;
    c->levels = level + 1 > c->levels ? level + 1 : c->levels;
}

/* Whether a ball touches or overlaps the shape of a body. */
static bool meets(const cells *c, int row, cairn_vec3 x, double radius)
{
    const cairn_shape shape = { .kind = CAIRN_SHAPE_SPHERE, .radius = radius };
    cairn_collider me = { .shape = &shape }, other = cairn_body_collider(c->world, row);
    cairn_collider_place(&me, (cairn_pose){ x, { 1, 0, 0, 0 } });
    return cairn_world_meet(c->world, &me, &other);
}

/* Balls of a bucket may lie anywhere, since cells share buckets, so every one is tested. Bodies are
 * named by uid, because creating a body can move rows. */
static bool bucket_is_free(const cells *c, int32_t first, cairn_vec3 x, double radius)
{
    for (int32_t i = first; i >= 0; i = c->balls[i].next) {
        const ball *other = &c->balls[i];
        double dx = x.x - other->x.x, dy = x.y - other->x.y, dz = x.z - other->x.z;
        double apart = radius + other->radius;
        if (dx * dx + dy * dy + dz * dz < apart * apart &&
            (other->body == CAIRN_NO_BODY ||
             meets(c, cairn_body_row(c->world, (cairn_body_id){ other->body }), x, radius)))
            return false;
    }
    return true;
}

/* The cells around the place: 27 in 3D, 9 in 2D. */
static bool level_is_free(const cells *c, int level, cairn_vec3 x, double radius)
{
    int64_t middle[3], cell[3];
    int deep = c->dimension == 3 ? 1 : 0;
    cell_of(c, x, level, middle);
    for (int around = 0; around < (deep ? 27 : 9); around++) {
        cell[0] = middle[0] + around % 3 - 1;
        cell[1] = middle[1] + around / 3 % 3 - 1;
        cell[2] = middle[2] + (deep ? around / 9 - 1 : 0);
        if (!bucket_is_free(c, c->buckets[bucket_of(c, level, cell)], x, radius))
            return false;
    }
    return true;
}

/* Whether a ball meets nothing: first the cells of every level in use, then the walls. */
static bool is_free(const cells *c, cairn_vec3 x, double radius)
{
    for (int level = 0; level < c->levels; level++)
        if (c->used[level] && !level_is_free(c, level, x, radius))
            return false;
    for (int k = 0; k < c->wall_count; k++)
        if (meets(c, c->walls[k], x, radius))
            return false;
    return true;
}

/* ---- room ---------------------------------------------------------------------------------- */

/* Whether a ball of this radius fits into the region at all. */
static bool fits(const cairn_generation *g, double radius)
{
    const cairn_generator *a = g->generator;
    bool round = g->dimension == 3 && a->disk_radius > 0;
    bool flat =
        round ? radius <= a->disk_radius : 2 * radius <= a->size.x && 2 * radius <= a->size.y;
    return flat && (g->dimension == 2 || 2 * radius <= a->size.z);
}

static cairn_status check_fit(const cairn_generation *g, double radius)
{
    if (fits(g, radius))
        return CAIRN_OK;
    return cairn_fail(g->error, CAIRN_BAD_INPUT, "size",
                      "found a body of radius %g m, expected one that fits into the region",
                      radius);
}

/* m^3, in 2D m^2 */
static double region_volume(const cairn_generation *g)
{
    const cairn_generator *a = g->generator;
    if (g->dimension == 2)
        return a->size.x * a->size.y;
    bool round = a->disk_radius > 0;
    return a->size.z * (round ? M_PI * a->disk_radius * a->disk_radius : a->size.x * a->size.y);
}

/* Whether the total volume of the balls is below that of the region: a necessary condition, checked
 * before memory is taken. The generation is passed by value, so the random numbers drawn here are
 * drawn again later for the balls. */
static cairn_status check_room(cairn_generation g)
{
    const cairn_generator *a = g.generator;
    double room = region_volume(&g), volume = 0;
    for (int64_t i = 0; i < a->bodies; i++) {
        double r = cairn_generation_draw(&g, &a->radius);
        TRY(check_fit(&g, r));
        volume += g.dimension == 2 ? M_PI * r * r : 4 * M_PI / 3 * r * r * r;
        if (volume > room)
            return cairn_fail(g.error, CAIRN_BAD_INPUT, "bodies",
                              "no room: the first %lld of %lld bodies have %g m^%d, the region %g",
                              (long long)i + 1, (long long)a->bodies, volume, g.dimension, room);
    }
    return CAIRN_OK;
}

/* ---- filling the cells --------------------------------------------------------------------- */

/* For qsort, descending. Equal radii are interchangeable, so it does not matter that qsort is not
 * stable. */
static int by_falling_radius(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* Twice as many buckets as balls, or more, so that most have at most one. */
static cairn_status cells_allocate(cairn_generation *g, cells *c)
{
    int64_t standing = cairn_world_bodies(g->world).count;
    uint64_t buckets = 16;
    c->room = g->generator->bodies + standing;
    while (buckets < 2 * (uint64_t)c->room)
        buckets *= 2;
    c->mask = buckets - 1;
    c->world = g->world;
    c->dimension = g->dimension;
    /* one more, because a request for 0 bytes may return NULL */
    c->walls = cairn_memory_zeroed((size_t)standing + 1, sizeof *c->walls);
    c->balls = cairn_memory_zeroed((size_t)c->room, sizeof *c->balls);
    c->buckets = cairn_memory_zeroed((size_t)buckets, sizeof *c->buckets);
    c->radii = cairn_memory_zeroed((size_t)g->generator->bodies, sizeof *c->radii);
    if (!c->balls || !c->walls || !c->buckets || !c->radii)
        return no_memory(g);
    for (uint64_t i = 0; i < buckets; i++)
        c->buckets[i] = -1;
    return CAIRN_OK;
}

/* All radii before the first place, so that they do not depend on how many places had to be
 * tried. */
static void draw_radii(cairn_generation *g, cells *c)
{
    int64_t count = g->generator->bodies;
    for (int64_t i = 0; i < count; i++)
        c->radii[i] = cairn_generation_draw(g, &g->generator->radius);
    qsort(c->radii, (size_t)count, sizeof *c->radii, by_falling_radius);
}

/* A body that exists already: a ball as it is, another shape with its bounding ball. */
static ball standing_ball(const cairn_bodies *bodies, int i)
{
    cairn_shape_kind kind = cairn_bodies_shape(bodies, i)->kind;
    bool round = kind == CAIRN_SHAPE_SPHERE || kind == CAIRN_SHAPE_POINT;
    return (ball){ .x = cairn_bodies_shape_pose(bodies, i).x,
                   .radius = cairn_shape_extent(cairn_bodies_shape(bodies, i)),
                   .next = -1,
                   .body = round ? CAIRN_NO_BODY : bodies->uid[i] };
}

/* Existing bodies smaller than the largest new one are entered at its level: a search looks one
 * cell around, so a ball must lie in cells at least as wide as any ball that has to find it. */
static void insert_standing(const cairn_generation *g, cells *c)
{
    const cairn_bodies bodies = cairn_world_bodies(g->world);
    c->largest = c->radii[0];
    for (int i = 0; i < bodies.count; i++)
        if (isfinite(cairn_shape_extent(cairn_bodies_shape(&bodies, i))))
            c->largest = fmax(c->largest, cairn_shape_extent(cairn_bodies_shape(&bodies, i)));
    for (int i = 0; i < bodies.count; i++) {
        const ball b = standing_ball(&bodies, i);
        if (isfinite(b.radius))
            insert(c, &b, level_of(c, fmax(b.radius, c->radii[0])));
        else
            c->walls[c->wall_count++] = i;
    }
}

/* ---- places -------------------------------------------------------------------------------- */

/* Uniform among the centres for which the ball lies entirely in the region. The square root makes
 * the density uniform over the area of a disk. */
static cairn_vec3 random_place(cairn_generation *g, double radius)
{
    const cairn_generator *a = g->generator;
    cairn_vec3 x = a->centre,
               reach = { a->size.x / 2 - radius, a->size.y / 2 - radius, a->size.z / 2 - radius };
    if (g->dimension == 3 && a->disk_radius > 0) {
        double away = (a->disk_radius - radius) * sqrt(cairn_random_uniform(&g->state));
        double angle = cairn_random_between(&g->state, 0, 2 * M_PI);
        x.x += away * cos(angle);
        x.y += away * sin(angle);
    } else {
        x.x += cairn_random_between(&g->state, -reach.x, reach.x);
        x.y += cairn_random_between(&g->state, -reach.y, reach.y);
    }
    if (g->dimension == 3)
        x.z += cairn_random_between(&g->state, -reach.z, reach.z);
    else
        x.z = 0;
    return x;
}

/* Place one body, or fail with the number of the body that found no place. */
static cairn_status place(cairn_generation *g, cells *c, int64_t number)
{
    double radius = c->radii[number];
    TRY(check_fit(g, radius));
    for (int try = 0; try < TRIES; try++) {
        cairn_vec3 x = random_place(g, radius);
        if (!is_free(c, x, radius))
            continue;
        const ball b = { x, radius, -1, CAIRN_NO_BODY };
        insert(c, &b, level_of(c, radius));
        return cairn_generation_place(g, radius, x);
    }
    return cairn_fail(g->error, CAIRN_BAD_INPUT, "bodies",
                      "no room for body %lld of %lld after %d tries", (long long)number + 1,
                      (long long)g->generator->bodies, TRIES);
}

static cairn_status fill(cairn_generation *g, cells *c)
{
    if (g->generator->bodies >= MANY)
        TRY(check_room(*g));
    TRY(cells_allocate(g, c));
    draw_radii(g, c);
    insert_standing(g, c);
    for (int64_t i = 0; i < g->generator->bodies; i++)
        TRY(place(g, c, i));
    return CAIRN_OK;
}

/* Frees the cells on every path. */
cairn_status cairn_generation_fill(cairn_generation *g)
{
    cells c = { 0 };
    cairn_status status = fill(g, &c);
    cells_destroy(&c);
    return status;
}
