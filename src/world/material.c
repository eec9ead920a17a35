/* material.c - materials, the law of a contact between two of them, and friction that depends on
 * the sliding speed (docs/scene-format.md, docs/friction.md).
 *
 * The law of a pair is the one given for it, or else combines both materials: the smaller value of
 * every property counts. Surface laws that become rows or data of the one-step problem are at the
 * end. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "world/step.h"
#include "world/world.h"

/* The names of the restitution laws. Laws are compared by name, not by pointer. */
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
    { "friction", CAIRN_OPTION_VARYING, false, offsetof(cairn_material_def, friction), 0, 1e6, "",
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

/* Enlarges the table of pairs from (n-1)^2 to n^2 entries. Its rows get longer, so all entries
 * move. */
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

/* Fills in defaults and checks a definition. Its lists still belong to the caller. Only a pair may
 * leave its friction to the smaller of both materials (CAIRN_FRICTION_SMALLER). */
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
    /* errors of the friction law get the full path of the key */
    cairn_error wrong = { 0 };
    cairn_status status = cairn_friction_law_check(&out->friction_law, &wrong);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    const cairn_record *record = cairn_friction_law_record((int)out->friction_law.kind);
    char key[sizeof wrong.key];
    snprintf(key, sizeof key, "friction_law.%s.%s", record ? record->name : "", wrong.key);
    return cairn_fail(&world->error, status, record ? key : "friction_law", "%s", wrong.message);
}

/* Copies a list into the arena of the world. Copies live as long as the world, also those of a pair
 * that is set again. */
static cairn_status own(cairn_world *world, cairn_list *list)
{
    double *copy = cairn_arena_doubles(&world->materials.friction_lists, (size_t)list->count);
    if (!copy)
        return CAIRN_NO_MEMORY;
    memcpy(copy, list->values, (size_t)list->count * sizeof(double));
    list->values = copy;
    return CAIRN_OK;
}

/* Laws without a table drop their lists, so that no pointer of the caller remains. */
static cairn_status own_law(cairn_world *world, cairn_friction_law *law)
{
    if (law->kind != CAIRN_FRICTION_TABLE) {
        law->speeds = law->values = (cairn_list){ NULL, 0 };
        return CAIRN_OK;
    }
    TRY(own(world, &law->speeds));
    return own(world, &law->values);
}

/* Whether mu depends on the sliding speed. */
static bool varies(const cairn_material_def *def)
{
    return def->friction_law.kind == CAIRN_FRICTION_STRIBECK ||
           def->friction_law.kind == CAIRN_FRICTION_TABLE;
}

/* Notes what a step must be able to handle from now on. Flags are never cleared, even if the law
 * that set them is replaced: that only costs time. */
static void note_needs(cairn_world *world, const cairn_material_def *def)
{
    world->materials.friction_varies = world->materials.friction_varies || varies(def);
    world->materials.bouncing = world->materials.bouncing || def->restitution > 0;
    world->materials.laws.anisotropic = world->materials.laws.anisotropic || def->friction_2 > 0;
    world->materials.laws.adhesive = world->materials.laws.adhesive || def->adhesion > 0;
    world->materials.laws.rolling = world->materials.laws.rolling || def->rolling_friction > 0;
    world->materials.laws.spinning = world->materials.laws.spinning || def->spinning_friction > 0;
}

/* Fails before the world changes, apart from memory that it keeps. 4096 materials bound the table
 * of pairs to 16 million entries. */
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

/* Friction that follows a function of time (vary.c) has no other law. */
static cairn_status check_law(cairn_world *world, int material, const cairn_material_def *def)
{
    const cairn_varied_list *list = &world->driven.varied;
    for (size_t k = 0; k < list->count; k++)
        if (list->items[k].what == CAIRN_VARIED_FRICTION && list->items[k].index == material &&
            def->friction_law.kind != CAIRN_FRICTION_CONSTANT)
            return cairn_fail(&world->error, CAIRN_BAD_INPUT, "friction_law",
                              "the friction of this material follows a function of time");
    return CAIRN_OK;
}

/* Lists of the old law stay in the arena of the world. */
cairn_status cairn_material_set(cairn_world *world, int material, const cairn_material_def *def)
{
    cairn_material_def own_def;
    world->error = (cairn_error){ 0 };
    if (material < 0 || (size_t)material >= world->materials.count)
        return cairn_fail(&world->error, CAIRN_NOT_FOUND, "materials", "no such material");
    TRY(complete(world, def, false, &own_def));
    TRY(check_law(world, material, &own_def));
    TRY(own_law(world, &own_def.friction_law));
    world->materials.items[material] = own_def;
    note_needs(world, &own_def);
    return CAIRN_OK;
}

/* The table is symmetric; both entries are set. */
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

/* ---- saved states ---------------------------------------------------------------------------- */

/* The friction law is a record of its own kind. A pair that takes the smaller friction has none. */
static void write_material(cairn_writer *w, const cairn_material_def *def)
{
    const cairn_record *law = cairn_friction_law_record((int)def->friction_law.kind);
    cairn_write_record(w, cairn_material_record(), def);
    cairn_write_whole(w, (int64_t)def->friction_law.kind);
    if (law)
        cairn_write_record(w, law, &def->friction_law);
}

/* Pairs are symmetric, so only those with a <= b are written. */
void cairn_materials_write(cairn_writer *w, const cairn_world *world)
{
    size_t n = world->materials.count;
    cairn_write_whole(w, (int64_t)n);
    for (size_t a = 0; a < n; a++)
        write_material(w, &world->materials.items[a]);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++) {
            cairn_write_whole(w, world->materials.pair_given[a * n + b]);
            if (world->materials.pair_given[a * n + b])
                write_material(w, &world->materials.pairs[a * n + b]);
        }
}

static cairn_status read_material(cairn_reader *r, cairn_material_def *def)
{
    *def = cairn_material_def_default();
    cairn_read_record(r, cairn_material_record(), def);
    int kind = (int)cairn_read_within(r, 0, CAIRN_FRICTION_COUNT - 1);
    const cairn_record *law = cairn_friction_law_record(kind);
    def->friction_law = cairn_friction_law_default((cairn_friction_kind)kind);
    if (law && !r->failed)
        cairn_read_record(r, law, &def->friction_law);
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* Materials first: pairs refer to them by index. */
cairn_status cairn_materials_read(cairn_reader *r, cairn_world *world)
{
    int n = (int)cairn_read_count(r, 8);
    cairn_material_def def;
    for (int a = 0; a < n; a++) {
        TRY(read_material(r, &def));
        if ((size_t)a < world->materials.count)
            TRY(cairn_material_set(world, a, &def));
        else
            TRY(cairn_material_create(world, &def, NULL));
    }
    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++) {
            if (cairn_read_within(r, 0, 1) == 0)
                continue;
            TRY(read_material(r, &def));
            TRY(cairn_material_pair_set(world, a, b, &def));
        }
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* ---- where two materials meet --------------------------------------------------------------- */

bool cairn_material_is_poisson(const cairn_material_def *def)
{
    return strcmp(def->restitution_law, POISSON) == 0;
}

/* With e = 0 both restitution laws are the same, and no second phase is needed. */
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

/* The law given for a pair; NULL if there is none. */
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

/* The smaller restitution, with the law of the material that has it; Newton's if both are equal and
 * differ in the law. */
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

/* mu across the friction axis; without friction_2 it is the same as along it. */
static double across(const cairn_material_def *def)
{
    return def->friction_2 > 0 ? def->friction_2 : friction_of(def, 0);
}

/* 0 stands for the default: a range that one of the two gives counts. */
static double smaller_range(double a, double b)
{
    return a == 0 || b == 0 ? fmax(a, b) : fmin(a, b);
}

/* The smaller of each of the other properties. friction_2 stays 0 if neither material is
 * anisotropic. */
static void set_surface(const cairn_material_def *a, const cairn_material_def *b,
                        cairn_material_def *out)
{
    if (a->friction_2 > 0 || b->friction_2 > 0)
        out->friction_2 = fmin(across(a), across(b));
    out->adhesion = fmin(a->adhesion, b->adhesion);
    out->adhesion_range = smaller_range(a->adhesion_range, b->adhesion_range);
    out->rolling_friction = fmin(a->rolling_friction, b->rolling_friction);
    out->spinning_friction = fmin(a->spinning_friction, b->spinning_friction);
}

/* The law of two materials. `friction` is that at rest; friction laws are evaluated for each
 * contact. */
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

/* ==== friction that depends on speed ========================================================== */

/* Friction that depends on the sliding speed ([A06] 5.1): mu is continuous and never rises with it.
 *
 *     stribeck   mu = mu_d + (mu_s - mu_d) exp(-(|u_T|/v_s)^p)
 *     table      values at speeds, linear in between, constant outside
 * A rising mu is refused, because the iteration for mu converges only for a falling one:
 * scheme.c. */

cairn_friction_law cairn_friction_law_default(cairn_friction_kind kind)
{
    return (cairn_friction_law){ .kind = kind, .exponent = 2 };
}

static void constant_default(void *law)
{
    *(cairn_friction_law *)law = cairn_friction_law_default(CAIRN_FRICTION_CONSTANT);
}

static void stribeck_default(void *law)
{
    *(cairn_friction_law *)law = cairn_friction_law_default(CAIRN_FRICTION_STRIBECK);
}

static void table_default(void *law)
{
    *(cairn_friction_law *)law = cairn_friction_law_default(CAIRN_FRICTION_TABLE);
}

static const cairn_option stribeck_options[] = {
    { "static", CAIRN_OPTION_REAL, true, offsetof(cairn_friction_law, mu_static), 0, 1e6, "",
      "mu at rest", NULL },
    { "dynamic", CAIRN_OPTION_REAL, true, offsetof(cairn_friction_law, mu_dynamic), 0, 1e6, "",
      "mu at high speed, at most the static one", NULL },
    { "speed", CAIRN_OPTION_REAL, true, offsetof(cairn_friction_law, speed), CAIRN_POSITIVE, 1e12,
      "m/s", "sliding speed at which 1/e of the difference is left", NULL },
    { "exponent", CAIRN_OPTION_REAL, false, offsetof(cairn_friction_law, exponent), CAIRN_POSITIVE,
      100, "", "p in exp(-(|u_T|/speed)^p)", NULL },
};
static const cairn_option table_options[] = {
    { "speeds", CAIRN_OPTION_LIST, true, offsetof(cairn_friction_law, speeds), 0, 1e12, "m/s",
      "sliding speeds, rising", NULL },
    { "values", CAIRN_OPTION_LIST, true, offsetof(cairn_friction_law, values), 0, 1e6, "",
      "mu at these speeds, never rising; linear in between, constant outside", NULL },
};

const cairn_record *cairn_friction_law_record(int kind)
{
    static const cairn_record records[] = {
        { "constant", "mu is the friction of the material at any speed", sizeof(cairn_friction_law),
          constant_default, NULL, 0 },
        { "stribeck", "from static to dynamic friction as sliding gets faster",
          sizeof(cairn_friction_law), stribeck_default, stribeck_options, 4 },
        { "table", "mu from a table of sliding speeds", sizeof(cairn_friction_law), table_default,
          table_options, 2 },
    };
    return kind >= 0 && kind <= CAIRN_FRICTION_TABLE ? &records[kind] : NULL;
}

/* Speeds must rise strictly, so that interpolation never divides by 0. */
static cairn_status check_table(const cairn_friction_law *law, cairn_error *error)
{
    const double *speeds = law->speeds.values, *values = law->values.values;
    if (law->speeds.count < 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, "speeds", "the list is empty");
    if (law->values.count != law->speeds.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "values",
                          "found %d numbers, expected %d as in speeds", law->values.count,
                          law->speeds.count);
    for (int i = 1; i < law->speeds.count; i++) {
        if (!(speeds[i] > speeds[i - 1]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "speeds",
                              "entry %d is %g, expected more than %g before it", i + 1, speeds[i],
                              speeds[i - 1]);
        if (!(values[i] <= values[i - 1]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "values",
                              "entry %d is %g, expected at most %g before it: friction must not "
                              "rise with the sliding speed",
                              i + 1, values[i], values[i - 1]);
    }
    return CAIRN_OK;
}

cairn_status cairn_friction_law_check(const cairn_friction_law *law, cairn_error *error)
{
    const cairn_record *record = cairn_friction_law_record((int)law->kind);
    if (!record)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "unknown friction law %d", (int)law->kind);
    TRY(cairn_record_check(record, law, error));
    if (law->kind == CAIRN_FRICTION_TABLE)
        return check_table(law, error);
    if (law->kind == CAIRN_FRICTION_STRIBECK && law->mu_dynamic > law->mu_static)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dynamic",
                          "found %g, expected at most %g, the static friction: friction must not "
                          "rise with the sliding speed",
                          law->mu_dynamic, law->mu_static);
    return CAIRN_OK;
}

/* Piecewise linear interpolation; the interval is found by bisection. */
static double interpolate(cairn_list at, cairn_list value, double x)
{
    int low = 0, high = at.count - 1;
    if (x <= at.values[low])
        return value.values[low];
    if (x >= at.values[high])
        return value.values[high];
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        *(at.values[middle] <= x ? &low : &high) = middle;
    }
    double share = (x - at.values[low]) / (at.values[high] - at.values[low]);
    return value.values[low] + share * (value.values[high] - value.values[low]);
}

/* `constant` is the mu of laws that do not depend on the speed. */
double cairn_friction_law_at(const cairn_friction_law *law, double constant, double speed)
{
    switch (law->kind) {
    case CAIRN_FRICTION_STRIBECK:
        return law->mu_dynamic +
               (law->mu_static - law->mu_dynamic) * exp(-pow(speed / law->speed, law->exponent));
    case CAIRN_FRICTION_TABLE:
        return interpolate(law->speeds, law->values, speed);
    default:
        return constant;
    }
}

/* ---- surface laws ---------------------------------------------------------------------------- */

/* Surface laws beyond Coulomb friction with one mu (docs/friction.md). All of them
 * become data of the one-step problem, so that solvers need to know only about rolling rows:
 *
 * Anisotropic friction, mu_1 along an axis of a body and mu_2 across it: with mu the larger of
 * both, D = diag(mu_1, mu_2)/mu, r_T = D r~ and u~ = D u_T, the ellipse becomes the circle |r~| <=
 * mu r_N, and r~.u~ = r_T.u_T. So the tangent rows are multiplied by D, and the result is converted
 * back before it is stored.
 *
 * Adhesion c: r' = r + h c n obeys the contact law. -h c n acts as an external impulse (in v_free)
 * if the contact touches at the start of the step, and is subtracted from the impulse that is
 * stored.
 *
 * Rolling and spinning friction: rows of the relative angular velocity along both tangents (in 2D
 * about z) and along the normal.
 *
 * Surface velocity: its part along the contact is in w. */

static const double DROWNED = 1e-9;  /* of the radius: largest motion that is rounding            */
static const double TOUCHING = 1e-5; /* of the smaller body: default gap at which adhesion pulls  */
static const double SIZELESS = 1e-3; /* m: size for this purpose if neither body has one          */
static const double UPRIGHT = 1e-6;  /* least tangential part of an axis that defines a direction */
static const double FLATTEST = 1e-6; /* of the larger mu: lower bound of the smaller one          */

cairn_surface_laws cairn_world_surface_laws(const cairn_world *world)
{
    cairn_surface_laws laws = world->materials.laws;
    laws.grouped = world->bodies.grouped;
    return laws;
}

/* ---- the law of a pair ---------------------------------------------------------------------- */

/* The direction in the contact along which c->mu acts: the projected axis of the body that has one,
 * of two the one created first, whatever their rows are. False if there is none, or if it is normal
 * to the contact; `tangent` is then unchanged. */
static bool along_axis(const cairn_world *world, const cairn_quat *q_eval, int j,
                       cairn_vec3 *tangent)
{
    const cairn_contact_store *c = &world->contacts;
    const cairn_vec3 *axes = world->bodies.friction_axis;
    const uint64_t *uid = world->bodies.uid;
    int a = c->body[2 * j], b = c->body[2 * j + 1], first = uid[a] < uid[b] ? a : b;
    int body = cairn_norm(axes[first]) > 0 ? first : a + b - first;
    double length = cairn_norm(axes[body]);
    if (length == 0)
        return false;
    cairn_vec3 axis = cairn_rotate(q_eval[body], cairn_scale(1 / length, axes[body]));
    axis = cairn_add_scaled(axis, -cairn_dot(axis, c->normal[j]), c->normal[j]);
    double left = cairn_norm(axis);
    if (left > UPRIGHT)
        *tangent = cairn_scale(1 / left, axis);
    return left > UPRIGHT;
}

static cairn_material_def law_of(const cairn_world *world, int j)
{
    const int32_t *body = world->contacts.body + 2 * (size_t)j, *material = world->bodies.material;
    return cairn_material_pair(world, material[body[0]], material[body[1]]);
}

/* Consecutive contacts mostly have the same two materials, so the last law is kept. */
static void know_law(const cairn_world *world, int a, int b, cairn_contact_law *known)
{
    if (known->a == a && known->b == b)
        return;
    *known = (cairn_contact_law){ a, b, .def = cairn_material_pair(world, a, b) };
    known->poisson = cairn_material_is_poisson(&known->def);
}

/* Sets the law of contact j, whose geometry is known; the tangent is turned to the friction axis.
 * Only columns in use have memory and are written. */
void cairn_contact_meet(cairn_world *world, const cairn_quat *q_eval, int j,
                        cairn_contact_law *known)
{
    cairn_contact_store *c = &world->contacts;
    const int32_t *body = c->body + 2 * (size_t)j, *material = world->bodies.material;
    know_law(world, material[body[0]], material[body[1]], known);
    const cairn_material_def *law = &known->def;
    c->mu[j] = c->mu_2[j] = law->friction;
    if (law->friction_2 > 0 && along_axis(world, q_eval, j, &c->tangent[j]))
        c->mu_2[j] = law->friction_2;
    if (c->set & CAIRN_CONTACTS_BOUNCE) {
        c->restitution[j] = law->restitution;
        c->poisson[j] = known->poisson;
    }
    if (c->set & CAIRN_CONTACTS_ADHERE)
        c->adhesion[j] = law->adhesion;
    if (c->set & CAIRN_CONTACTS_TURN) {
        c->mu_rolling[j] = law->rolling_friction;
        c->mu_spinning[j] = law->spinning_friction;
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

cairn_vec3 cairn_contact_bitangent(const cairn_contact_store *c, int j)
{
    return cairn_cross(c->normal[j], c->tangent[j]);
}

/* D. A share is never 0, because velocities and impulses are divided by it. */
void cairn_contact_shares(const cairn_contact_store *c, int j, double share[2])
{
    double largest = fmax(c->mu[j], c->mu_2[j]);
    bool same = c->mu[j] == c->mu_2[j];
    share[0] = same ? 1 : fmax(c->mu[j] / largest, FLATTEST);
    share[1] = same ? 1 : fmax(c->mu_2[j] / largest, FLATTEST);
}

/* Directions of the normal row and of the tangent rows, the latter multiplied by D. */
void cairn_contact_rows(const cairn_contact_store *c, int j, cairn_vec3 row[3])
{
    double share[2];
    cairn_contact_shares(c, j, share);
    row[0] = c->normal[j];
    row[1] = cairn_scale(share[0], c->tangent[j]);
    row[2] = cairn_scale(share[1], cairn_contact_bitangent(c, j));
}

/* Directions of the rows of rolling and spinning; unused ones are 0. In 2D there is one, about
 * z. */
void cairn_contact_turns(const cairn_step *step, int j, cairn_vec3 turn[3])
{
    const cairn_contact_store *c = &step->world->contacts;
    turn[0] = turn[1] = turn[2] = cairn_vec(0, 0, 0);
    if (step->rolling == 1)
        turn[0] = cairn_vec(0, 0, 1);
    if (step->rolling == 2) {
        turn[0] = c->tangent[j];
        turn[1] = cairn_contact_bitangent(c, j);
    }
    if (step->spinning)
        turn[step->rolling] = c->normal[j];
}

/* The normal part is removed: a belt moves along its surface and never into other bodies. */
cairn_vec3 cairn_surface_velocity(const cairn_body_store *bodies, cairn_quat q, int body,
                                  cairn_vec3 normal)
{
    cairn_vec3 v = cairn_rotate(q, bodies->surface_velocity[body]);
    return cairn_add_scaled(v, -cairn_dot(v, normal), normal);
}

/* ---- adhesion ------------------------------------------------------------------------------- */

/* Whether adhesion acts: the gap at the start of the step is within its range. */
static bool touches(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    double range = law_of(step->world, j).adhesion_range, size = INFINITY;
    for (int side = 0; side < 2; side++) {
        double extent = cairn_body_extent(step->world, c->body[2 * j + side]);
        size = extent > 0 ? fmin(size, extent) : size;
    }
    size = isfinite(size) ? size : SIZELESS;
    return cairn_contact_gap(step, motion, j) <= (range > 0 ? range : TOUCHING * size);
}

/* The impulse h c is added and subtracted again. The rounding error that remains, eps h c/m, must
 * not move a body by more than DROWNED of its radius in a step. Otherwise velocities and ledger
 * would consist of rounding errors, so the step is refused. */
static cairn_status check_pull(const cairn_step *step, int j)
{
    const cairn_world *world = step->world;
    const cairn_contact_store *c = &world->contacts;
    for (int side = 0; side < 2; side++) {
        int i = c->body[2 * j + side];
        double extent = cairn_body_extent(world, i), size = extent > 0 ? extent : SIZELESS;
        double most = DROWNED * size * world->bodies.mass[i] / (DBL_EPSILON * step->h * step->h);
        if (cairn_step_block(step, i) >= 0 && c->adhesion[j] > most)
            return cairn_fail(
                &step->world->error, CAIRN_BAD_INPUT, "adhesion",
                "a pull of %g N in one step of %g s drowns the motion of body %lld, of "
                "%g kg, in rounding, expected at most %.2g N",
                c->adhesion[j], step->h, cairn_row_uid(world, i), world->bodies.mass[i], most);
    }
    return CAIRN_OK;
}

/* Clears the adhesion of a contact that does not touch, so that storing the result subtracts
 * nothing. */
cairn_status cairn_contact_adhere(const cairn_step *step, const cairn_free_motion *motion, int j,
                                  cairn_posed *posed)
{
    cairn_contact_store *c = &step->world->contacts;
    if (!touches(step, motion, j))
        c->adhesion[j] = 0;
    TRY(check_pull(step, j));
    const double pull[CAIRN_MAX_DIMENSION] = { -step->h * c->adhesion[j] };
    cairn_contact_push(&posed->problem, step->components, step->block_size, j, pull, posed->v_free);
    return CAIRN_OK;
}

/* ---- what is stored ------------------------------------------------------------------------- */

/* The component of the problem that holds moment i of a contact; -1 if it has none. Stored moments
 * have a fixed order (rolling, then spinning), those of the problem only what the step needs. */
static int moment_row(const cairn_step *step, int i)
{
    int d = step->world->dimension;
    bool spin = d == 3 && i == 2;
    if (spin)
        return step->spinning ? d + step->rolling : -1;
    return step->rolling ? d + i : -1;
}

/* Stores impulse, velocity, moment and angular velocity of contact j, in true units: D and adhesion
 * are undone. */
void cairn_contact_store_result(const cairn_step *step, const cairn_answer *answer, int j)
{
    cairn_contact_store *c = &step->world->contacts;
    size_t d = (size_t)step->world->dimension, turns = (size_t)c->moments, at = (size_t)j * d;
    const double *r = answer->r + (size_t)j * (size_t)step->components;
    const double *u = answer->u + (size_t)j * (size_t)step->components;
    double share[2];
    cairn_contact_shares(c, j, share);
    c->impulse[at] = r[0] - step->h * c->adhesion[j];
    c->velocity[at] = u[0];
    for (size_t i = 1; i < d; i++) {
        c->impulse[at + i] = share[i - 1] * r[i];
        c->velocity[at + i] = u[i] / share[i - 1];
    }
    for (size_t i = 0; i < turns; i++) {
        int row = moment_row(step, (int)i);
        c->moment[(size_t)j * turns + i] = row < 0 ? 0 : r[row];
        c->turning[(size_t)j * turns + i] = row < 0 ? 0 : u[row];
    }
}
