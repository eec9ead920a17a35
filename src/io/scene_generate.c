/* scene_generate.c - the generators of a scene: many bodies at once, and inlets. */
#include <string.h>

#include "base/status.h"
#include "io/scene_build.h"

/* A number, or {kind: {...}}. */
static cairn_status read_distribution(cairn_scene_build *b, const cairn_yaml_node *node,
                                      cairn_distribution *out)
{
    double value;
    int kind;
    const cairn_yaml_node *options;
    cairn_error said = { 0 };
    if (cairn_yaml_real(node, &value)) {
        *out = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
        out->value = value;
        said.key[0] = '\0';
        cairn_status status = cairn_distribution_check(out, &said);
        said.key[0] = '\0';
        return cairn_scene_blame(b, status, node, &said);
    }
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_distributions, &kind, &options));
    *out = cairn_distribution_default((cairn_distribution_kind)kind);
    const cairn_scene_keys keys = { .record = cairn_distribution_record(kind) };
    if (options->kind == CAIRN_YAML_SCALAR && !cairn_yaml_is_null(options))
        return cairn_yaml_fail(options, NULL, b->error,
                               "found '%.40s', expected a number or a mapping {%s: {...}}",
                               options->text, keys.record->name);
    TRY(cairn_scene_check_keys(b, options, &keys));
    TRY(cairn_scene_read_record(b, options, keys.record, out));
    return cairn_scene_blame(b, cairn_distribution_check(out, &said), options, &said);
}

/* Everything that comes from generator lines and inlets must be countable by an int32. */
static cairn_status check_total(cairn_scene_build *b, const cairn_yaml_node *node)
{
    int64_t now = cairn_world_bodies(b->scene->world).count;
    if (now + b->bodies_to_come <= INT32_MAX)
        return CAIRN_OK;
    return cairn_yaml_fail(node, NULL, b->error, "found more than %d bodies in all",
                           (int)INT32_MAX);
}

/* Shape and radii of what is made: one of them at least. */
static cairn_status read_form(cairn_scene_build *b, const cairn_yaml_node *node, cairn_shape *shape,
                              cairn_distribution *radii)
{
    const cairn_yaml_node *radius = cairn_yaml_find(node, "radius");
    const cairn_yaml_node *given = cairn_yaml_find(node, "shape");
    if (given)
        TRY(cairn_scene_read_shape(b, given, shape));
    else if (!radius)
        return cairn_yaml_fail(node, "radius", b->error,
                               "the key 'radius' is missing: a number or a distribution");
    if (radius)
        return read_distribution(b, radius, radii);
    radii->value = shape->kind == CAIRN_SHAPE_SPHERE ? shape->radius : 0;
    return CAIRN_OK;
}

static cairn_status read_generated(cairn_scene_build *b, const cairn_yaml_node *node, int kind,
                                   cairn_generator *g)
{
    const cairn_yaml_node *mass = cairn_yaml_find(node, "mass");
    TRY(cairn_scene_read_record(b, node, cairn_generator_record(kind), g));
    TRY(read_form(b, node, &g->shape, &g->radius));
    if (mass)
        TRY(read_distribution(b, mass, &g->mass));
    return cairn_scene_read_material(b, node, &g->material);
}

static cairn_status generate(cairn_scene_build *b, const cairn_yaml_node *node, int kind)
{
    cairn_generator g = cairn_generator_default((cairn_generator_kind)kind, b->dimension);
    cairn_error said = { 0 };
    int first = cairn_world_bodies(b->scene->world).count;
    cairn_status status = read_generated(b, node, kind, &g);
    if (status == CAIRN_OK) {
        status = cairn_generate(b->scene->world, &g, NULL, &said);
        status = cairn_scene_blame(b, status, node, &said);
    }
    cairn_geometry_release(g.shape.geometry);
    TRY(status);
    b->origins[b->origin_count++] = (cairn_scene_origin){ first, node };
    return check_total(b, node);
}

static cairn_status read_inlet(cairn_scene_build *b, const cairn_yaml_node *node,
                               cairn_inlet_def *def)
{
    TRY(cairn_scene_read_record(b, node, cairn_inlet_record(), def));
    TRY(read_form(b, node, &def->shape, &def->radius));
    TRY(cairn_scene_read_material(b, node, &def->material));
    if (def->count > INT32_MAX - b->bodies_to_come)
        return cairn_yaml_fail(cairn_yaml_find(node, "count"), NULL, b->error,
                               "found more than %d bodies in all", (int)INT32_MAX);
    b->bodies_to_come += def->count;
    return check_total(b, node);
}

static cairn_status add_inlet(cairn_scene_build *b, const cairn_yaml_node *node)
{
    cairn_inlet_def def = cairn_inlet_def_default();
    cairn_status status = read_inlet(b, node, &def);
    if (status == CAIRN_OK) {
        status = cairn_inlet_create(b->scene->world, &def);
        status = cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world));
    }
    cairn_geometry_release(def.shape.geometry);
    return status;
}

static cairn_status read_generator(cairn_scene_build *b, const cairn_yaml_node *node)
{
    int kind;
    const cairn_yaml_node *options;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_generators, &kind, &options));
    const cairn_scene_keys keys = cairn_scene_generator_keys(kind);
    TRY(cairn_scene_check_keys(b, options, &keys));
    TRY(cairn_scene_refuse_both(b, options, "mass", "density"));
    return kind == cairn_scene_inlet_kind() ? add_inlet(b, options) : generate(b, options, kind);
}

cairn_status cairn_scene_read_generators(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "generators");
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "generators"));
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_generator(b, n));
    return CAIRN_OK;
}
