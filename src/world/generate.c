/* generate.c - many bodies at once: the tables of the generators, the regular ones, and
 * random placement.
 *
 * Random numbers are drawn body by body in the order radius, jitter x, y (3D: z), orientation,
 * mass; constants and gradings (distribution.c) draw nothing. Bodies are numbered with i fastest,
 * then j, then k. Both orders are part of what a scene file means: a change would give other bodies
 * for the same seed. */
#include "world/lists.h"

#include <math.h>
#include <stdlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/world.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "world/touch.h"
#include "world/world.h"

/* ---- tables -------------------------------------------------------------------------------- */

/* Options that several generators share, as lines of their tables. */
#define OPTION_COUNT                                                                               \
    {                                                                                              \
        "count", CAIRN_OPTION_VECTOR, true, offsetof(cairn_generator, count), 1, INT32_MAX, "",    \
            "bodies along x, y and z", NULL                                                        \
    }
#define OPTION_GAP                                                                                 \
    {                                                                                              \
        "gap", CAIRN_OPTION_REAL, false, offsetof(cairn_generator, gap), 0, CAIRN_UNBOUNDED, "m",  \
            "distance left between neighbours", NULL                                               \
    }
#define OPTION_ORIGIN                                                                              \
    {                                                                                              \
        "origin", CAIRN_OPTION_VECTOR, false, offsetof(cairn_generator, origin), -CAIRN_UNBOUNDED, \
            CAIRN_UNBOUNDED, "m", "centre of the first body", NULL                                 \
    }
#define OPTIONS_SHARED                                                                             \
    { "velocity",                                                                                  \
      CAIRN_OPTION_VECTOR,                                                                         \
      false,                                                                                       \
      offsetof(cairn_generator, velocity),                                                         \
      -CAIRN_UNBOUNDED,                                                                            \
      CAIRN_UNBOUNDED,                                                                             \
      "m/s",                                                                                       \
      "of every body at the start",                                                                \
      NULL },                                                                                      \
        { "turned", CAIRN_OPTION_FLAG,                                                             \
          false,    offsetof(cairn_generator, turned),                                             \
          0,        0,                                                                             \
          "",       "bodies that are no spheres get a random orientation",                         \
          NULL },                                                                                  \
        { "glued", CAIRN_OPTION_FLAG,                                                              \
          false,   offsetof(cairn_generator, glued),                                               \
          0,       0,                                                                              \
          "",      "the bodies never move: a rough floor or wall",                                 \
          NULL },                                                                                  \
        { "seed", CAIRN_OPTION_INTEGER,          false, offsetof(cairn_generator, seed), 0, 9e15,  \
          "",     "start of the random numbers", NULL },                                           \
        { "group", CAIRN_OPTION_INTEGER,                                                           \
          false,   offsetof(cairn_generator, group),                                               \
          0,       30,                                                                             \
          "",      "collision group of every body",                                                \
          NULL },                                                                                  \
        { "mask", CAIRN_OPTION_INTEGER,                                                            \
          false,  offsetof(cairn_generator, mask),                                                 \
          0,      CAIRN_ALL_GROUPS,                                                                \
          "",     "groups that they may touch: the sum of 2^g over these groups g",                \
          NULL },                                                                                  \
    {                                                                                              \
        "density", CAIRN_OPTION_REAL, false, offsetof(cairn_generator, density), CAIRN_POSITIVE,   \
            CAIRN_UNBOUNDED, "kg/m^3", "gives the mass when none is given; kg/m^2 in 2D", NULL     \
    }

static const cairn_option grid_options[] = {
    OPTION_COUNT,
    { "spacing", CAIRN_OPTION_VECTOR, true, offsetof(cairn_generator, spacing), CAIRN_POSITIVE,
      CAIRN_UNBOUNDED, "m", "from one centre to the next along x, y and z", NULL },
    { "jitter", CAIRN_OPTION_REAL, false, offsetof(cairn_generator, jitter), 0, CAIRN_UNBOUNDED,
      "m", "each centre moves at random by at most this along each axis", NULL },
    OPTION_ORIGIN,
    OPTIONS_SHARED,
};

static const cairn_option hexagonal_options[] = {
    OPTION_COUNT,
    OPTION_GAP,
    OPTION_ORIGIN,
    OPTIONS_SHARED,
};

static const cairn_option pile_options[] = {
    { "rows", CAIRN_OPTION_INTEGER, true, offsetof(cairn_generator, rows), 1, 1e6, "",
      "rows (3D: layers); the lowest has as many bodies (3D: squared)", NULL },
    OPTION_GAP,
    OPTION_ORIGIN,
    OPTIONS_SHARED,
};

static const cairn_option fill_options[] = {
    { "bodies", CAIRN_OPTION_INTEGER, true, offsetof(cairn_generator, bodies), 1, INT32_MAX, "",
      "how many", NULL },
    { "centre", CAIRN_OPTION_VECTOR, false, offsetof(cairn_generator, centre), -CAIRN_UNBOUNDED,
      CAIRN_UNBOUNDED, "m", "middle of the region", NULL },
    { "size", CAIRN_OPTION_VECTOR, true, offsetof(cairn_generator, size), CAIRN_POSITIVE,
      CAIRN_UNBOUNDED, "m", "extents of the region, in which all bodies lie wholly", NULL },
    { "disk_radius", CAIRN_OPTION_REAL, false, offsetof(cairn_generator, disk_radius), 0,
      CAIRN_UNBOUNDED, "m", "3D: if > 0 the region is an upright cylinder of this radius", NULL },
    OPTIONS_SHARED,
};

/* A mass of 0 means: from the density. */
static cairn_generator default_of(cairn_generator_kind kind)
{
    return (cairn_generator){
        .kind = kind,
        .count = { 1, 1, 1 },
        .spacing = { 1, 1, 1 },
        .rows = 1,
        .bodies = 1,
        .size = { 1, 1, 1 },
        .seed = 1,
        .radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT),
        .mass = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT),
        .density = 1000,
        .mask = CAIRN_ALL_GROUPS,
    };
}

/* A record needs a function that sets the defaults without being told the kind: one for each. */
static void grid_default(void *options)
{
    *(cairn_generator *)options = default_of(CAIRN_GENERATOR_GRID);
}

static void hexagonal_default(void *options)
{
    *(cairn_generator *)options = default_of(CAIRN_GENERATOR_HEXAGONAL);
}

static void pile_default(void *options)
{
    *(cairn_generator *)options = default_of(CAIRN_GENERATOR_PILE);
}

static void fill_default(void *options)
{
    *(cairn_generator *)options = default_of(CAIRN_GENERATOR_FILL);
}

static const cairn_record records[CAIRN_GENERATOR_COUNT] = {
    [CAIRN_GENERATOR_GRID] = { "grid", "spheres on a regular grid, with jitter",
                               sizeof(cairn_generator), grid_default, grid_options,
                               CAIRN_COUNT(grid_options) },
    [CAIRN_GENERATOR_HEXAGONAL] = { "hexagonal",
                                    "equal spheres, close-packed: hexagonal rows in 2D, hcp layers "
                                    "in 3D",
                                    sizeof(cairn_generator), hexagonal_default, hexagonal_options,
                                    CAIRN_COUNT(hexagonal_options) },
    [CAIRN_GENERATOR_PILE] = { "pile",
                               "equal spheres that touch: a triangle in 2D, a square pyramid in 3D",
                               sizeof(cairn_generator), pile_default, pile_options,
                               CAIRN_COUNT(pile_options) },
    [CAIRN_GENERATOR_FILL] = { "fill", "spheres at random free places of a box or upright cylinder",
                               sizeof(cairn_generator), fill_default, fill_options,
                               CAIRN_COUNT(fill_options) },
};

/* The dimension is a parameter for defaults that may depend on it; at present none does. */
cairn_generator cairn_generator_default(cairn_generator_kind kind, int dimension)
{
    (void)dimension;
    return default_of(kind);
}

const cairn_record *cairn_generator_record(int kind)
{
    return kind >= 0 && kind < CAIRN_GENERATOR_COUNT ? &records[kind] : NULL;
}

/* ---- one body ------------------------------------------------------------------------------ */

/* Constants and gradings draw no random number, as the head of this file promises. Radius and mass
 * are shuffled in different orders. */
double cairn_generation_draw(cairn_generation *g, const cairn_distribution *d, int64_t body)
{
    uint64_t seed = (uint64_t)g->generator->seed;
    if (d->kind == CAIRN_DISTRIBUTION_CONSTANT)
        return d->value;
    if (cairn_distribution_graded(d))
        return cairn_distribution_pick(d, d == &g->generator->mass ? ~seed : seed, body, g->count,
                                       g->count);
    return cairn_distribution_draw(d, &g->state);
}

/* The shape with all its lengths times s. Angles, exponents and the axis have no length; a shape
 * with geometry data is not scaled (cairn_grain_check refuses it). */
static cairn_shape scaled(const cairn_shape *shape, double s)
{
    cairn_shape out = *shape;
    double *const lengths[] = { &out.radius, &out.bottom_radius, &out.top_radius,
                                &out.height, &out.length,        &out.rounding };
    for (int i = 0; i < CAIRN_COUNT(lengths); i++)
        *lengths[i] *= s;
    out.size = cairn_scale(s, out.size);
    out.semi_axes = cairn_scale(s, out.semi_axes);
    return out;
}

/* Uniform among all orientations: from three numbers by Shoemake's formula; in 2D an angle. */
void cairn_grain_turn(int dimension, uint64_t *state, cairn_body_def *def)
{
    double u = cairn_random_uniform(state);
    if (dimension == 2) {
        def->angle = 2 * M_PI * u;
        return;
    }
    double a = 2 * M_PI * cairn_random_uniform(state);
    double b = 2 * M_PI * cairn_random_uniform(state), s = sqrt(1 - u), t = sqrt(u);
    def->orientation = (cairn_quat){ t * cos(b), s * sin(a), s * cos(a), t * sin(b) };
}

/* A shape of exactly the right size is returned as it is, so that its numbers are not rounded. */
cairn_shape cairn_grain_shape(const cairn_shape *shape, double radius, int dimension)
{
    if (shape->kind == CAIRN_SHAPE_SPHERE) {
        cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, dimension);
        ball.radius = radius;
        return ball;
    }
    double extent = cairn_shape_extent(shape);
    return radius == extent ? *shape : scaled(shape, radius / extent);
}

/* The error of the world is copied to the caller's, which may be another one or NULL. Bodies
 * created before a failure stay. */
cairn_status cairn_generation_place(cairn_generation *g, double radius, cairn_vec3 position)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_grain_shape(&g->generator->shape, radius, g->dimension);
    if (g->generator->turned && def.shape.kind != CAIRN_SHAPE_SPHERE)
        cairn_grain_turn(g->dimension, &g->state, &def);
    def.motion = g->generator->glued ? CAIRN_MOTION_FIXED : CAIRN_MOTION_DYNAMIC;
    def.material = g->generator->material;
    def.position = position;
    def.velocity = g->generator->velocity;
    def.density = g->generator->density;
    def.group = g->generator->group;
    def.mask = g->generator->mask;
    def.mass = cairn_generation_draw(g, &g->generator->mass, g->made);
    /* z of the origin and velocity is ignored in 2D */
    if (g->dimension == 2)
        def.position.z = def.velocity.z = 0;
    cairn_status status = cairn_body_create(g->world, &def, &id);
    if (status == CAIRN_NO_MEMORY)
        return cairn_fail(g->error, status, "", "out of memory");
    if (status != CAIRN_OK)
        return cairn_fail(g->error, status, cairn_world_error(g->world)->key, "%s",
                          cairn_world_error(g->world)->message);
    g->made++;
    return CAIRN_OK;
}

/* ---- the regular generators ---------------------------------------------------------------- */

/* Uniform in [-jitter, jitter], along one axis. */
static double jitter(cairn_generation *g)
{
    double reach = g->generator->jitter;
    return reach > 0 ? cairn_random_between(&g->state, -reach, reach) : 0;
}

/* x = origin + (i, j, k) spacing + jitter */
static cairn_status grid_body(cairn_generation *g, int64_t i, int64_t j, int64_t k)
{
    const cairn_generator *a = g->generator;
    double radius = cairn_generation_draw(g, &a->radius, g->made);
    cairn_vec3 x = a->origin;
    x.x += (double)i * a->spacing.x + jitter(g);
    x.y += (double)j * a->spacing.y + jitter(g);
    if (g->dimension == 3)
        x.z += (double)k * a->spacing.z + jitter(g);
    return cairn_generation_place(g, radius, x);
}

/* Hexagonal close packing (hcp) with half distance a:
 *     x = (2i + (j + k) mod 2) a,  y = sqrt(3) (j + (k mod 2)/3) a,  z = (2/3) sqrt(6) k a
 * The layer k = 0 is the hexagonal packing of the plane. */
static cairn_status hexagonal_body(cairn_generation *g, int64_t i, int64_t j, int64_t k)
{
    double radius = g->generator->radius.value, a = radius + g->generator->gap / 2;
    cairn_vec3 x = g->generator->origin;
    x.x += (double)(2 * i + (j + k) % 2) * a;
    x.y += sqrt(3) * ((double)j + (double)(k % 2) / 3) * a;
    x.z += 2 * sqrt(6) / 3 * (double)k * a;
    return cairn_generation_place(g, radius, x);
}

typedef cairn_status body_fn(cairn_generation *g, int64_t i, int64_t j, int64_t k);

/* i fastest, then j, then k. */
static cairn_status lattice(cairn_generation *g, body_fn *make)
{
    const cairn_vec3 *n = &g->generator->count;
    for (int64_t k = 0; k < (int64_t)n->z; k++)
        for (int64_t j = 0; j < (int64_t)n->y; j++)
            for (int64_t i = 0; i < (int64_t)n->x; i++)
                TRY(make(g, i, j, k));
    return CAIRN_OK;
}

static cairn_status grid(cairn_generation *g)
{
    return lattice(g, grid_body);
}

static cairn_status hexagonal(cairn_generation *g)
{
    return lattice(g, hexagonal_body);
}

/* Equal spheres with half distance a between centres:
 *     2D, row k:    x = (2i + k) a,  y = sqrt(3) k a
 *     3D, layer k:  x = (2i + k) a,  y = (2j + k) a,  z = sqrt(2) k a
 * Each body of a layer rests on two (3D: four) of the layer below. The first body is at the
 * origin. */
static cairn_status pile(cairn_generation *g)
{
    double radius = g->generator->radius.value, a = radius + g->generator->gap / 2;
    bool flat = g->dimension == 2;
    for (int64_t k = 0; k < g->generator->rows; k++) {
        int64_t wide = g->generator->rows - k;
        for (int64_t place = 0; place < (flat ? wide : wide * wide); place++) {
            cairn_vec3 x = g->generator->origin;
            x.x += (double)(2 * (place % wide) + k) * a;
            x.y += flat ? sqrt(3) * (double)k * a : (double)(2 * (place / wide) + k) * a;
            x.z += flat ? 0 : sqrt(2) * (double)k * a;
            TRY(cairn_generation_place(g, radius, x));
        }
    }
    return CAIRN_OK;
}

/* ---- checks -------------------------------------------------------------------------------- */

/* The number of bodies that will be made: n(n+1)/2 in a triangle, n(n+1)(2n+1)/6 in a square
 * pyramid. A double, because it may exceed any integer. */
static double total(const cairn_generator *a, int dimension)
{
    double n = (double)a->rows;
    switch (a->kind) {
    case CAIRN_GENERATOR_PILE:
        return dimension == 2 ? n * (n + 1) / 2 : n * (n + 1) * (2 * n + 1) / 6;
    case CAIRN_GENERATOR_FILL:
        return (double)a->bodies;
    default:
        return a->count.x * a->count.y * a->count.z;
    }
}

/* `count` is a vector of doubles in scene files, so whole numbers must be checked. */
static cairn_status check_count(const cairn_generation *g)
{
    const cairn_vec3 *n = &g->generator->count;
    if (n->x != floor(n->x) || n->y != floor(n->y) || n->z != floor(n->z))
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "count",
                          "found [%g, %g, %g], expected whole numbers", n->x, n->y, n->z);
    if (g->dimension == 2 && n->z != 1)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "count", "found %g along z, expected 1 in 2D",
                          n->z);
    double room = INT32_MAX - (double)cairn_world_body_count(g->world);
    double wanted = total(g->generator, g->dimension);
    if (wanted > room)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "",
                          "found %.0f bodies, expected at most %.0f: a world holds %d", wanted,
                          room, INT32_MAX);
    return CAIRN_OK;
}

/* The key of the message is replaced: the distribution does not know which option it is. */
static cairn_status check_distribution(const cairn_generation *g, const char *key,
                                       const cairn_distribution *d)
{
    cairn_error said = { 0 };
    cairn_status status = cairn_distribution_check(d, &said);
    return status == CAIRN_OK ? status : cairn_fail(g->error, status, key, "%s", said.message);
}

/* Spheres are checked when they are created. Other shapes need a finite size, to which the radius
 * refers; data such as meshes are not copied for every size, so they cannot be scaled. */
cairn_status cairn_grain_check(const cairn_shape *shape, const cairn_distribution *radius,
                               int dimension, cairn_error *error)
{
    if (shape->kind == CAIRN_SHAPE_SPHERE)
        return CAIRN_OK;
    TRY(cairn_shape_check(shape, dimension, error));
    bool sized =
        radius->kind == CAIRN_DISTRIBUTION_CONSTANT && radius->value == cairn_shape_extent(shape);
    const char *name = cairn_shape_record((int)shape->kind)->name;
    if (!cairn_shape_bounded(shape) || !(cairn_shape_extent(shape) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "shape",
                          "found a %s, expected a shape with a size", name);
    if (shape->geometry && !sized)
        return cairn_fail(error, CAIRN_BAD_INPUT, "radius",
                          "a %s cannot be scaled here, expected no radius", name);
    return CAIRN_OK;
}

/* For a shape with missing data its size cannot be computed; the check refuses it later. */
cairn_distribution cairn_grain_radii(const cairn_shape *shape, const cairn_distribution *radius)
{
    cairn_distribution own = *radius;
    bool known = (unsigned)shape->kind < CAIRN_SHAPE_COUNT && shape->kind != CAIRN_SHAPE_SPHERE;
    bool has_data = known && (!cairn_shape_class_of(shape)->has_geometry || shape->geometry);
    if (has_data && own.kind == CAIRN_DISTRIBUTION_CONSTANT && own.value == 0)
        own.value = cairn_shape_extent(shape);
    return own;
}

/* Glued bodies are fixed bodies, which have no velocity. */
static cairn_status check_glued(const cairn_generation *g)
{
    if (g->generator->glued && cairn_norm(g->generator->velocity) > 0)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "velocity", "glued bodies have none");
    return CAIRN_OK;
}

/* A grading is of bodies whose mass follows from their size. */
cairn_status cairn_grain_check_grading(const cairn_distribution *radius, bool mass_given,
                                       cairn_error *error)
{
    if (!mass_given || !cairn_distribution_graded(radius))
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_BAD_INPUT, "mass",
                      "found a mass beside radii by mass, expected a density: the mass of a body "
                      "then follows from its radius");
}

/* A sieve curve has sizes; masses have none. */
static cairn_status check_mass(const cairn_generation *g)
{
    const cairn_generator *a = g->generator;
    bool given = a->mass.kind != CAIRN_DISTRIBUTION_CONSTANT || a->mass.value != 0;
    TRY(cairn_grain_check_grading(&a->radius, given, g->error));
    if (a->mass.kind == CAIRN_DISTRIBUTION_SIEVE)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "mass",
                          "found a sieve curve, which is a distribution of the radius");
    return given ? check_distribution(g, "mass", &a->mass) : CAIRN_OK;
}

/* All checks before the first body is made. A mass of 0 means that none is given, so it is not
 * checked as a distribution of positive numbers. */
static cairn_status check(const cairn_generation *g)
{
    const cairn_generator *a = g->generator;
    bool equal = a->kind == CAIRN_GENERATOR_HEXAGONAL || a->kind == CAIRN_GENERATOR_PILE;
    const cairn_record *record = cairn_generator_record((int)a->kind);
    if (!record)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "kind", "unknown kind of generator");
    TRY(cairn_record_check(record, a, g->error));
    TRY(cairn_grain_check(&a->shape, &a->radius, g->dimension, g->error));
    TRY(check_glued(g));
    TRY(check_distribution(g, "radius", &a->radius));
    TRY(check_mass(g));
    if (equal && a->radius.kind != CAIRN_DISTRIBUTION_CONSTANT)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "radius",
                          "found a distribution, expected one number: these bodies are equal");
    return check_count(g);
}

cairn_status cairn_generate(cairn_world *world, const cairn_generator *generator, int64_t *made,
                            cairn_error *error)
{
    cairn_pile_return(world);
    /* one function for each kind */
    static cairn_status (*const makers[CAIRN_GENERATOR_COUNT])(cairn_generation *) = {
        [CAIRN_GENERATOR_GRID] = grid,
        [CAIRN_GENERATOR_HEXAGONAL] = hexagonal,
        [CAIRN_GENERATOR_PILE] = pile,
        [CAIRN_GENERATOR_FILL] = cairn_generation_fill,
    };
    cairn_generator own = *generator;
    cairn_generation g = { .world = world, .generator = &own, .error = error };
    own.radius = cairn_grain_radii(&own.shape, &own.radius);
    g.dimension = cairn_world_dimension(world);
    g.state = (uint64_t)generator->seed;
    own.radius.power = g.dimension;
    own.mass.power = 1;
    cairn_status status = check(&g);
    g.count = status == CAIRN_OK ? (int64_t)total(&own, g.dimension) : 0;
    if (status == CAIRN_OK)
        status = makers[generator->kind](&g);
    /* also after a failure: how many bodies there are now */
    if (made)
        *made = g.made;
    return status;
}

/* ---- random sequential placement ------------------------------------------------------------- */

/* Random sequential placement: spheres at random free places of a region.
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
    int64_t balls = g->generator->bodies + cairn_world_bodies(g->world).count;
    double bytes = (double)balls * (sizeof(ball) + sizeof(double) + 2 * sizeof(int32_t));
    return cairn_fail(g->error, CAIRN_NO_MEMORY, "",
                      "out of memory: filling needs the places of all bodies at once, %.1f GB in "
                      "each process",
                      1e-9 * bytes);
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

/* m^3, in 2D m^2 */
static double ball_volume(int dimension, double r)
{
    return dimension == 2 ? M_PI * r * r : 4 * M_PI / 3 * r * r * r;
}

/* A body that finds no place, with the share of the region that all of them ask for. */
static cairn_status no_room(const cairn_generation *g, int64_t body, const char *how, double volume)
{
    return cairn_fail(g->error, CAIRN_BAD_INPUT, "bodies",
                      "no room for body %lld of %lld %s: all of them take about %.3g %% of the "
                      "region, where random places are enough for about %d %%",
                      (long long)body + 1, (long long)g->generator->bodies, how,
                      100 * volume / region_volume(g), g->dimension == 2 ? 45 : 30);
}

/* Whether the total volume of the balls is below that of the region: a necessary condition, checked
 * before memory is taken. The generation is passed by value, so the random numbers drawn here are
 * drawn again later for the balls. */
static cairn_status check_room(cairn_generation g)
{
    const cairn_generator *a = g.generator;
    double room = region_volume(&g), volume = 0;
    for (int64_t i = 0; i < a->bodies; i++) {
        double r = cairn_generation_draw(&g, &a->radius, i);
        TRY(check_fit(&g, r));
        volume += ball_volume(g.dimension, r);
        if (volume > room)
            return no_room(&g, i, "by their volume alone",
                           volume * (double)a->bodies / (double)(i + 1));
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
        c->radii[i] = cairn_generation_draw(g, &g->generator->radius, i);
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

static double all_volume(const cairn_generation *g, const cells *c)
{
    double volume = 0;
    for (int64_t i = 0; i < g->generator->bodies; i++)
        volume += ball_volume(g->dimension, c->radii[i]);
    return volume;
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
    return no_room(g, number, "after 1000 tries", all_volume(g, c));
}

/* Each process of a world that is made in shares finds the places of all bodies, so it must know
 * those that are in the way. */
static cairn_status check_share(const cairn_generation *g)
{
    const cairn_making *m = g->world->exchange.making;
    if (!m || m->count == m->common)
        return CAIRN_OK;
    return cairn_fail(g->error, CAIRN_UNSUPPORTED, "",
                      "bodies cannot be filled in between those of other generators while several "
                      "processes make shares of the world");
}

static cairn_status fill(cairn_generation *g, cells *c)
{
    TRY(check_share(g));
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
