/* generate.c - many bodies at once: the tables of the generators, and the regular ones.
 *
 * Random numbers are drawn body by body in the order radius, jitter x, y (3D: z), orientation,
 * mass; constants draw nothing. Bodies are numbered with i fastest, then j, then k. Both orders are
 * part of what a scene file means: a change would give other bodies for the same seed. */
#include "world/lists.h"

#include <math.h>

#include "base/common.h"
#include "base/status.h"
#include "cairn/world.h"
#include "math/vec.h"
#include "shape/shape.h"

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
        .mass = { .kind = CAIRN_DISTRIBUTION_CONSTANT, .value = 0 },
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

/* A constant draws no random number, as the head of this file promises. */
double cairn_generation_draw(cairn_generation *g, const cairn_distribution *distribution)
{
    return distribution->kind == CAIRN_DISTRIBUTION_CONSTANT
               ? distribution->value
               : cairn_distribution_draw(distribution, &g->state);
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
    def.mass = cairn_generation_draw(g, &g->generator->mass);
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
    double radius = cairn_generation_draw(g, &a->radius);
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
    double room = INT32_MAX - (double)cairn_world_bodies(g->world).count;
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
    if (a->mass.kind != CAIRN_DISTRIBUTION_CONSTANT || a->mass.value != 0)
        TRY(check_distribution(g, "mass", &a->mass));
    if (equal && a->radius.kind != CAIRN_DISTRIBUTION_CONSTANT)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "radius",
                          "found a distribution, expected one number: these bodies are equal");
    return check_count(g);
}

cairn_status cairn_generate(cairn_world *world, const cairn_generator *generator, int64_t *made,
                            cairn_error *error)
{
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
    cairn_status status = check(&g);
    if (status == CAIRN_OK)
        status = makers[generator->kind](&g);
    /* also after a failure: how many bodies there are now */
    if (made)
        *made = g.made;
    return status;
}
