/* near.c - see near.h. Bodies are in hash grids, one for each power of two of their diameter: in
 * the grid of level e the cells are 2^e wide, and a ball of diameter at most 2^e, whose centre
 * is in a cell, can overlap only with balls of its own or smaller diameter in the 27 cells (in
 * 2D 9) around. Each body looks into its own level and into those of larger bodies, so that a
 * pair is met once and the work is that of the pairs that are near, whatever the sizes. */
#include "near.h"

#include <stdint.h>

#include "memory.h"
#include "pieces.h"
#include "walls.h"

enum { LEVELS = 40 }; /* bodies smaller than 2^-40 of the largest are taken as so large */

typedef struct cell {
    int64_t x, y, z;
    int level;
} cell;

typedef struct grid {
    const check_run *run;
    const vec *x;
    check_visit *visit;
    void *context;
    int *body, *wall; /* those with bounds; those without */
    int count, walls;
    double *radius; /* of each body with bounds       */
    cell *cells;    /* likewise                       */
    int *next, *bucket;
    unsigned buckets; /* a power of 2 */
    bool there[LEVELS];
    int top; /* exponent of the highest level */
} grid;

/* ---- sorting -------------------------------------------------------------------------------- */

static bool is_there(const check_run *run, int body)
{
    return run->before.row[body] >= 0 && run->after.row[body] >= 0;
}

static void sort_bodies(grid *g, int *unknown)
{
    *unknown = 0;
    for (int i = 0; i < g->run->bodies.count; i++) {
        if (!is_there(g->run, i))
            continue;
        double extent = check_is_wall(g->run, i) ? 0 : check_extent(g->run, i);
        if (check_has_faces(g->run, i)) /* they see thin bodies behind them as well (overlap.c) */
            extent *= 1.02;
        bool known = check_has_pieces(g->run, i);
        if (check_is_wall(g->run, i))
            g->wall[g->walls++] = i;
        else if (known)
            g->radius[g->count] = extent, g->body[g->count++] = i;
        else
            ++*unknown;
    }
}

/* The least e with x <= 2^e. */
static int exponent_of(double x)
{
    int e = 0;
    double share = frexp(x, &e);
    return share == 0.5 ? e - 1 : e;
}

static int64_t whole(double x)
{
    return fabs(x) < 1e15 ? (int64_t)floor(x) : 0;
}

static cell cell_of(const grid *g, vec x, int level)
{
    double width = ldexp(1, g->top - level);
    return (cell){ whole(x.x / width), whole(x.y / width), whole(x.z / width), level };
}

static unsigned hash(const grid *g, cell c)
{
    uint64_t mixed = (uint64_t)c.x * 73856093u ^ (uint64_t)c.y * 19349663u ^
                     (uint64_t)c.z * 83492791u ^ (uint64_t)c.level * 40503u;
    return (unsigned)(mixed ^ mixed >> 17) & (g->buckets - 1);
}

/* Levels count down from the largest body. */
static void fill(grid *g)
{
    double largest = 0;
    for (int i = 0; i < g->count; i++)
        largest = fmax(largest, g->radius[i]);
    g->top = largest > 0 ? exponent_of(2 * largest) : 0;
    for (unsigned i = 0; i < g->buckets; i++)
        g->bucket[i] = -1;
    for (int i = 0; i < g->count; i++) {
        int below = g->radius[i] > 0 ? g->top - exponent_of(2 * g->radius[i]) : LEVELS;
        int level = below < LEVELS ? below : LEVELS - 1;
        g->cells[i] = cell_of(g, g->x[g->body[i]], level);
        g->there[level] = true;
        unsigned place = hash(g, g->cells[i]);
        g->next[i] = g->bucket[place];
        g->bucket[place] = i;
    }
}

/* ---- looking -------------------------------------------------------------------------------- */

static void meet(const grid *g, int a, int b)
{
    const int32_t *motion = g->run->bodies.motion;
    if (motion[a] == CHECK_DYNAMIC || motion[b] == CHECK_DYNAMIC)
        g->visit(g->context, a, b);
}

/* Everything in cell c; of its own cell a body meets those that come after it. */
static void look_into(const grid *g, int i, cell c, bool own)
{
    for (int k = g->bucket[hash(g, c)]; k >= 0; k = g->next[k]) {
        const cell *o = &g->cells[k];
        bool same = o->x == c.x && o->y == c.y && o->z == c.z && o->level == c.level;
        if (!same || (own && k <= i))
            continue;
        vec d = vec_add(g->x[g->body[i]], -1, g->x[g->body[k]]);
        double reach = g->radius[i] + g->radius[k];
        if (vec_dot(d, d) <= reach * reach)
            meet(g, g->body[i], g->body[k]);
    }
}

/* In its own level that half of the cells around that comes later in order, and its own. */
static void look_around(const grid *g, int i, int level)
{
    bool own = level == g->cells[i].level;
    int deep = g->run->settings.dimension == 3 ? 1 : 0;
    cell c = cell_of(g, g->x[g->body[i]], level);
    for (int dx = own ? 0 : -1; dx <= 1; dx++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dz = -deep; dz <= deep; dz++)
                if (!own || dx > 0 || dy > 0 || (dy == 0 && dz >= 0))
                    look_into(g, i, (cell){ c.x + dx, c.y + dy, c.z + dz, level },
                              own && dx == 0 && dy == 0 && dz == 0);
}

static void look(const grid *g)
{
    for (int i = 0; i < g->count; i++) {
        for (int level = 0; level <= g->cells[i].level; level++)
            if (g->there[level])
                look_around(g, i, level);
        for (int k = 0; k < g->walls; k++)
            meet(g, g->body[i], g->wall[k]);
    }
}

bool check_near_pairs(const check_run *run, const vec *x, check_visit *visit, void *context,
                      int *unknown)
{
    grid g = { .run = run, .x = x, .visit = visit, .context = context, .buckets = 16 };
    size_t n = (size_t)run->bodies.count;
    while (g.buckets < n)
        g.buckets *= 2;
    bool good = check_memory_take(&g.body, n, sizeof *g.body) &&
                check_memory_take(&g.wall, n, sizeof *g.wall) &&
                check_memory_take(&g.radius, n, sizeof *g.radius) &&
                check_memory_take(&g.cells, n, sizeof *g.cells) &&
                check_memory_take(&g.next, n, sizeof *g.next) &&
                check_memory_take(&g.bucket, g.buckets, sizeof *g.bucket);
    if (good) {
        sort_bodies(&g, unknown);
        fill(&g);
        look(&g);
    }
    void *blocks[] = { &g.body, &g.wall, &g.radius, &g.cells, &g.next, &g.bucket };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        check_memory_free(blocks[i]);
    return good;
}
