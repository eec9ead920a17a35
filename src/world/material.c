/* material.c - materials, and what happens where two of them meet. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "world/world.h"

cairn_material_def cairn_material_def_default(void)
{
    return (cairn_material_def){ .friction = 0.5, .restitution = 0 };
}

static void set_default(void *def)
{
    *(cairn_material_def *)def = cairn_material_def_default();
}

static const cairn_option options[] = {
    { "friction", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, friction), 0, 1e6, "",
      "Coulomb coefficient mu", NULL },
    { "restitution", CAIRN_OPTION_REAL, false, offsetof(cairn_material_def, restitution), 0, 1, "",
      "Newton's coefficient e: speed after over speed before an impact", NULL },
};

const cairn_record *cairn_material_record(void)
{
    static const cairn_record record = {
        .name = "material",
        .summary = "surface properties; where two materials meet the smaller values count",
        .size = sizeof(cairn_material_def),
        .set_default = set_default,
        .options = options,
        .option_count = 2,
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
            pairs[a * n + b] = world->pairs[a * (n - 1) + b];
            given[a * n + b] = world->pair_given[a * (n - 1) + b];
        }
    cairn_memory_free(world->pairs);
    cairn_memory_free(world->pair_given);
    world->pairs = pairs;
    world->pair_given = given;
    return CAIRN_OK;
}

cairn_status cairn_material_create(cairn_world *world, const cairn_material_def *def, int *out)
{
    size_t n = world->material_count + 1;
    world->error = (cairn_error){ 0 };
    TRY(cairn_record_check(cairn_material_record(), def, &world->error));
    if (n > 4096)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "materials", "more than 4096 materials");
    TRY(cairn_memory_reserve((void **)&world->materials, &world->material_capacity, n,
                             sizeof *world->materials));
    TRY(grow_pairs(world, n));
    world->materials[n - 1] = *def;
    world->material_count = n;
    if (out)
        *out = (int)n - 1;
    return CAIRN_OK;
}

cairn_status cairn_material_pair_set(cairn_world *world, int a, int b,
                                     const cairn_material_def *def)
{
    size_t n = world->material_count;
    world->error = (cairn_error){ 0 };
    TRY(cairn_record_check(cairn_material_record(), def, &world->error));
    if (a < 0 || b < 0 || (size_t)a >= n || (size_t)b >= n)
        return cairn_fail(&world->error, CAIRN_NOT_FOUND, "materials", "no such material");
    size_t there = (size_t)a * n + (size_t)b, back = (size_t)b * n + (size_t)a;
    world->pairs[there] = world->pairs[back] = *def;
    world->pair_given[there] = world->pair_given[back] = true;
    return CAIRN_OK;
}

cairn_material_def cairn_material_pair(const cairn_world *world, int a, int b)
{
    size_t entry = (size_t)a * world->material_count + (size_t)b;
    if (world->pair_given[entry])
        return world->pairs[entry];
    const cairn_material_def *ma = &world->materials[a], *mb = &world->materials[b];
    return (cairn_material_def){ .friction = fmin(ma->friction, mb->friction),
                                 .restitution = fmin(ma->restitution, mb->restitution) };
}
