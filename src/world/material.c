/* material.c - materials, and what happens where two of them meet. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "world/world.h"

static const char NEWTON[] = "newton", POISSON[] = "poisson";

const char *cairn_restitution_name(int index)
{
    static const char *const names[] = { NEWTON, POISSON };
    return index >= 0 && index < 2 ? names[index] : NULL;
}

cairn_material_def cairn_material_def_default(void)
{
    return (cairn_material_def){ .friction = 0.5, .restitution_law = NEWTON };
}

static void set_default(void *def)
{
    *(cairn_material_def *)def = cairn_material_def_default();
}

static const cairn_option options[] = {
    { "friction", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, friction), 0, 1e6, "",
      "Coulomb coefficient mu", NULL },
    { "friction_2", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, friction_2), 0, 1e6, "",
      "3D: mu across the friction_axis of a body, `friction` is then along it; 0: the same", NULL },
    { "rolling_friction", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, rolling_friction),
      0, 1e6, "m", "largest rolling moment over the normal force", NULL },
    { "spinning_friction", CAIRN_OPTION_REAL, false,
      offsetof(cairn_material_def, spinning_friction), 0, 1e6, "m",
      "3D: largest moment about the normal over the normal force", NULL },
    { "adhesion", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, adhesion), 0, 1e30, "N",
      "pull that a contact withstands while it touches", NULL },
    { "adhesion_range", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, adhesion_range), 0,
      1e6, "m", "gap up to which a contact touches; 0: 1e-5 of the smaller body's radius", NULL },
    { "restitution", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, restitution), 0, 1, "",
      "coefficient e of the restitution law", NULL },
    { "restitution_law", CAIRN_OPTION_NAME, false, offsetof(cairn_material_def, restitution_law), 0,
      0, "",
      "newton: e is speed after over speed before an impact; poisson: impulse of decompression "
      "over that of compression",
      cairn_restitution_name },
};

const cairn_record *cairn_material_record(void)
{
    static const cairn_record record = {
        .name = "material",
        .summary = "surface properties; where two materials meet the smaller values count",
        .size = sizeof(cairn_material_def),
        .set_default = set_default,
        .options = options,
        .option_count = sizeof options / sizeof options[0],
    };
    return &record;
}

/* The table of pairs grows from (n-1)^2 to n^2 entries: laid out anew. */
static cairn_status grow_pairs(cairn_world *world, size_t n)
{
    cairn_material_def *pairs = cairn_memory_zeroed(n * n, sizeof *pairs);
    bool *given = cairn_memory_zeroed(n * n, sizeof *given);
    if (!pairs || !given) {
        cairn_memory_free(pairs);
        cairn_memory_free(given);
        return CAIRN_NO_MEMORY;
    }
    for (size_t a = 0; a + 1 < n; a++)
        for (size_t b = 0; b + 1 < n; b++) {
            pairs[a * n + b] = world->materials.pairs[a * (n - 1) + b];
            given[a * n + b] = world->materials.pair_given[a * (n - 1) + b];
        }
    cairn_memory_free(world->materials.pairs);
    cairn_memory_free(world->materials.pair_given);
    world->materials.pairs = pairs;
    world->materials.pair_given = given;
    return CAIRN_OK;
}

/* A definition with its defaults filled in, checked, its lists not yet owned. */
static cairn_status complete(cairn_world *world, const cairn_material_def *given, bool is_pair,
                             cairn_material_def *out)
{
    *out = *given;
    if (!out->restitution_law)
        out->restitution_law = NEWTON;
    TRY(cairn_record_check(cairn_material_record(), out, &world->error));
    if (world->dimension == 2 && (out->friction_2 > 0 || out->spinning_friction > 0))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT,
                          out->friction_2 > 0 ? "friction_2" : "spinning_friction",
                          "found %g, expected 0 in 2D",
                          out->friction_2 > 0 ? out->friction_2 : out->spinning_friction);
    if (is_pair && out->friction_law.kind == CAIRN_FRICTION_SMALLER)
        return CAIRN_OK;
    cairn_error wrong = { 0 };
    cairn_status status = cairn_friction_law_check(&out->friction_law, &wrong);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    const cairn_record *record = cairn_friction_law_record((int)out->friction_law.kind);
    char key[sizeof wrong.key];
    snprintf(key, sizeof key, "friction_law.%s.%s", record ? record->name : "", wrong.key);
    return cairn_fail(&world->error, status, record ? key : "friction_law", "%s", wrong.message);
}

/* The world's own copy of a list. */
static cairn_status own(cairn_world *world, cairn_list *list)
{
    double *copy = cairn_arena_doubles(&world->materials.friction_lists, (size_t)list->count);
    if (!copy)
        return CAIRN_NO_MEMORY;
    memcpy(copy, list->values, (size_t)list->count * sizeof(double));
    list->values = copy;
    return CAIRN_OK;
}

static cairn_status own_law(cairn_world *world, cairn_friction_law *law)
{
    if (law->kind != CAIRN_FRICTION_TABLE) {
        law->speeds = law->values = (cairn_list){ NULL, 0 };
        return CAIRN_OK;
    }
    TRY(own(world, &law->speeds));
    return own(world, &law->values);
}

static bool varies(const cairn_material_def *def)
{
    return def->friction_law.kind == CAIRN_FRICTION_STRIBECK ||
           def->friction_law.kind == CAIRN_FRICTION_TABLE;
}

/* What the step must be able to treat from now on. */
static void note_needs(cairn_world *world, const cairn_material_def *def)
{
    world->materials.friction_varies = world->materials.friction_varies || varies(def);
    world->materials.bouncing = world->materials.bouncing || def->restitution > 0;
    world->materials.laws.anisotropic = world->materials.laws.anisotropic || def->friction_2 > 0;
    world->materials.laws.adhesive = world->materials.laws.adhesive || def->adhesion > 0;
    world->materials.laws.rolling = world->materials.laws.rolling || def->rolling_friction > 0;
    world->materials.laws.spinning = world->materials.laws.spinning || def->spinning_friction > 0;
}

cairn_status cairn_material_create(cairn_world *world, const cairn_material_def *def, int *out)
{
    size_t n = world->materials.count + 1;
    cairn_material_def own_def;
    world->error = (cairn_error){ 0 };
    TRY(complete(world, def, false, &own_def));
    if (n > 4096)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "materials", "more than 4096 materials");
    TRY(cairn_memory_reserve((void **)&world->materials.items, &world->materials.capacity, n,
                             sizeof *world->materials.items));
    TRY(own_law(world, &own_def.friction_law));
    TRY(grow_pairs(world, n));
    world->materials.items[n - 1] = own_def;
    world->materials.count = n;
    note_needs(world, &own_def);
    if (out)
        *out = (int)n - 1;
    return CAIRN_OK;
}

cairn_status cairn_material_pair_set(cairn_world *world, int a, int b,
                                     const cairn_material_def *def)
{
    size_t n = world->materials.count;
    cairn_material_def own_def;
    world->error = (cairn_error){ 0 };
    TRY(complete(world, def, true, &own_def));
    if (a < 0 || b < 0 || (size_t)a >= n || (size_t)b >= n)
        return cairn_fail(&world->error, CAIRN_NOT_FOUND, "materials", "no such material");
    TRY(own_law(world, &own_def.friction_law));
    size_t there = (size_t)a * n + (size_t)b, back = (size_t)b * n + (size_t)a;
    world->materials.pairs[there] = world->materials.pairs[back] = own_def;
    world->materials.pair_given[there] = world->materials.pair_given[back] = true;
    note_needs(world, &own_def);
    return CAIRN_OK;
}

/* ---- where two materials meet --------------------------------------------------------------- */

bool cairn_material_is_poisson(const cairn_material_def *def)
{
    return strcmp(def->restitution_law, POISSON) == 0;
}

static bool bounces_by_poisson(const cairn_material_def *def)
{
    return def->restitution > 0 && cairn_material_is_poisson(def);
}

bool cairn_materials_have_poisson(const cairn_world *world)
{
    size_t n = world->materials.count;
    for (size_t i = 0; i < n; i++)
        if (bounces_by_poisson(&world->materials.items[i]))
            return true;
    for (size_t i = 0; i < n * n; i++)
        if (world->materials.pair_given[i] && bounces_by_poisson(&world->materials.pairs[i]))
            return true;
    return false;
}

static double friction_of(const cairn_material_def *def, double speed)
{
    return cairn_friction_law_at(&def->friction_law, def->friction, speed);
}

/* The pair as given; NULL: nobody said anything. */
static const cairn_material_def *given_pair(const cairn_world *world, int a, int b)
{
    size_t entry = (size_t)a * world->materials.count + (size_t)b;
    return world->materials.pair_given[entry] ? &world->materials.pairs[entry] : NULL;
}

double cairn_material_friction(const cairn_world *world, int a, int b, double speed)
{
    const cairn_material_def *pair = given_pair(world, a, b);
    if (pair && pair->friction_law.kind != CAIRN_FRICTION_SMALLER)
        return friction_of(pair, speed);
    return fmin(friction_of(&world->materials.items[a], speed),
                friction_of(&world->materials.items[b], speed));
}

/* The smaller restitution with its law; Newton's when equal. */
static void set_restitution(const cairn_material_def *a, const cairn_material_def *b,
                            cairn_material_def *out)
{
    double ea = a->restitution, eb = b->restitution;
    bool poisson =
        (ea <= eb && cairn_material_is_poisson(a)) || (eb <= ea && cairn_material_is_poisson(b));
    bool newton =
        (ea <= eb && !cairn_material_is_poisson(a)) || (eb <= ea && !cairn_material_is_poisson(b));
    out->restitution = fmin(ea, eb);
    out->restitution_law = poisson && !newton ? POISSON : NEWTON;
}

static double across(const cairn_material_def *def)
{
    return def->friction_2 > 0 ? def->friction_2 : friction_of(def, 0);
}

/* The smaller of each. */
static void set_surface(const cairn_material_def *a, const cairn_material_def *b,
                        cairn_material_def *out)
{
    if (a->friction_2 > 0 || b->friction_2 > 0)
        out->friction_2 = fmin(across(a), across(b));
    out->adhesion = fmin(a->adhesion, b->adhesion);
    out->adhesion_range = fmin(a->adhesion_range, b->adhesion_range);
    out->rolling_friction = fmin(a->rolling_friction, b->rolling_friction);
    out->spinning_friction = fmin(a->spinning_friction, b->spinning_friction);
}

cairn_material_def cairn_material_pair(const cairn_world *world, int a, int b)
{
    const cairn_material_def *pair = given_pair(world, a, b);
    cairn_material_def out = { .friction_law.kind = CAIRN_FRICTION_SMALLER };
    if (pair) {
        out = *pair;
    } else {
        set_restitution(&world->materials.items[a], &world->materials.items[b], &out);
        set_surface(&world->materials.items[a], &world->materials.items[b], &out);
    }
    out.friction = cairn_material_friction(world, a, b, 0);
    return out;
}

cairn_status cairn_material_get(const cairn_world *world, int material, cairn_material_def *out)
{
    *out = (cairn_material_def){ 0 };
    if (material < 0 || (size_t)material >= world->materials.count)
        return CAIRN_NOT_FOUND;
    *out = world->materials.items[material];
    return CAIRN_OK;
}

cairn_status cairn_material_pair_get(const cairn_world *world, int a, int b,
                                     cairn_material_def *out)
{
    size_t n = world->materials.count;
    *out = (cairn_material_def){ 0 };
    if (a < 0 || b < 0 || (size_t)a >= n || (size_t)b >= n)
        return CAIRN_NOT_FOUND;
    *out = cairn_material_pair(world, a, b);
    return CAIRN_OK;
}
