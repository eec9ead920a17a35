/* scene_world.c - the top of a scene: version, title, space, materials, and the run part. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "io/scene_build.h"

enum { MAX_MATERIALS = 1000 };

/* ---- version, title, space ----------------------------------------------------------------- */

/* Before any other key, so that a file of a later version is not called misspelt. */
static cairn_status check_version(cairn_scene_build *b, const cairn_yaml_node *root)
{
    char found[80];
    int64_t version;
    const cairn_yaml_node *node = cairn_yaml_find(root, "cairn");
    if (!node)
        return cairn_yaml_fail(root, "cairn", b->error,
                               "the key 'cairn' is missing: version of the scene format, 1");
    if (cairn_yaml_integer(node, &version) && version == 1)
        return CAIRN_OK;
    cairn_yaml_describe(node, found, sizeof found);
    return cairn_yaml_fail(node, NULL, b->error,
                           "found %s, expected 1, the version of the scene format", found);
}

static cairn_status read_title(cairn_scene_build *b, const cairn_yaml_node *node)
{
    if (!node)
        return CAIRN_OK;
    char found[80];
    cairn_yaml_describe(node, found, sizeof found);
    if (node->kind != CAIRN_YAML_SCALAR)
        return cairn_yaml_fail(node, NULL, b->error, "found %s, expected a text", found);
    if (strlen(node->text) >= sizeof b->scene->title)
        return cairn_yaml_fail(node, NULL, b->error,
                               "found %zu bytes of text, expected at most %zu", strlen(node->text),
                               sizeof b->scene->title - 1);
    memcpy(b->scene->title, node->text, strlen(node->text) + 1);
    return CAIRN_OK;
}

static cairn_status read_space(cairn_scene_build *b, const cairn_yaml_node *root)
{
    cairn_world_def def = cairn_world_def_default();
    const cairn_record *record = cairn_scene_world_record();
    const cairn_record dimension_only = { .options = record->options, .option_count = 1 };
    TRY(cairn_scene_read_record(b, root, &dimension_only, &def));
    b->dimension = (int)def.dimension;
    if (def.dimension == 2)
        def.gravity = (cairn_vec3){ 0, -9.81, 0 };
    TRY(cairn_scene_read_record(b, root, record, &def));
    cairn_status status = cairn_world_create(&def, &b->scene->world);
    return cairn_scene_blame(b, status, root, &(cairn_error){ 0 });
}

cairn_status cairn_scene_read_world(cairn_scene_build *b)
{
    const cairn_yaml_node *root = b->tree.root;
    const cairn_scene_keys keys = cairn_scene_root_keys();
    if (root->kind != CAIRN_YAML_MAPPING)
        return cairn_scene_check_keys(b, root, &keys);
    TRY(check_version(b, root));
    TRY(cairn_scene_check_keys(b, root, &keys));
    TRY(read_title(b, cairn_yaml_find(root, "title")));
    return read_space(b, root);
}

/* ---- the run part -------------------------------------------------------------------------- */

cairn_status cairn_scene_read_run(cairn_scene_build *b)
{
    const cairn_yaml_node *node = cairn_yaml_find(b->tree.root, "run");
    const cairn_scene_keys keys = cairn_scene_run_keys();
    TRY(cairn_scene_check_keys(b, node, &keys));
    b->scene->step = cairn_step_options_default();
    b->scene->run = cairn_run_options_default();
    TRY(cairn_scene_read_record(b, node, keys.record, &b->scene->step));
    TRY(cairn_scene_read_record(b, node, keys.second, &b->scene->run));
    cairn_error wrong = { 0 }; /* what goes with what: the solver with the scheme */
    int dimension = cairn_world_dimension(b->scene->world);
    cairn_status status = cairn_step_options_check(&b->scene->step, dimension, &wrong);
    TRY(cairn_scene_blame(b, status, node, &wrong));
    status = cairn_run_check_steps(b->scene, &wrong);
    return cairn_scene_blame(b, status, b->tree.root, &wrong);
}

cairn_status cairn_scene_read_measure(cairn_scene_build *b)
{
    const cairn_yaml_node *node = cairn_yaml_find(b->tree.root, "measure");
    const cairn_scene_keys keys = cairn_scene_measure_keys();
    cairn_error wrong = { 0 };
    b->scene->measure = cairn_measure_options_default();
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(cairn_scene_read_record(b, node, keys.record, &b->scene->measure));
    int dimension = cairn_world_dimension(b->scene->world);
    cairn_status status = cairn_measure_options_check(&b->scene->measure, dimension, &wrong);
    return cairn_scene_blame(b, status, node, &wrong);
}

/* ---- materials ----------------------------------------------------------------------------- */

static int find_material(const cairn_scene_build *b, const char *name)
{
    int i = b->scene->material_count - 1;
    while (i >= 0 && strcmp(b->material_names[i], name) != 0)
        i--;
    return i;
}

static cairn_status add_material(cairn_scene_build *b, const char *name,
                                 const cairn_material_def *def, const cairn_yaml_node *node)
{
    int number;
    cairn_status status = cairn_material_create(b->scene->world, def, &number);
    TRY(cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world)));
    b->material_names[b->scene->material_count++] = name;
    return CAIRN_OK;
}

/* The key friction_law; without it `law` stays as it is. */
static cairn_status read_friction_law(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                      cairn_friction_law *law)
{
    const cairn_yaml_node *node = cairn_yaml_find(mapping, "friction_law"), *value;
    int kind;
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_friction_laws, &kind, &value));
    if (kind != CAIRN_FRICTION_CONSTANT)
        TRY(cairn_scene_refuse_both(b, mapping, "friction", "friction_law"));
    *law = cairn_friction_law_default((cairn_friction_kind)kind);
    return cairn_scene_read_options(b, value, cairn_friction_law_record(kind), law);
}

static cairn_status read_material_def(cairn_scene_build *b, const cairn_yaml_node *node)
{
    const cairn_scene_keys keys = cairn_scene_material_keys();
    cairn_material_def def = cairn_material_def_default();
    const cairn_yaml_node as_name = { .kind = CAIRN_YAML_SCALAR,
                                      .text = node->key,
                                      .file = node->file,
                                      .key = node->key,
                                      .quoted = true,
                                      .line = node->key_line,
                                      .column = node->key_column,
                                      .parent = node->parent };
    const char *name;
    TRY(cairn_scene_read_name(b, &as_name, &name));
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(cairn_scene_read_record(b, node, keys.record, &def));
    TRY(read_friction_law(b, node, &def.friction_law));
    TRY(cairn_scene_keep_text(b, name, &name));
    return add_material(b, name, &def, node);
}

static cairn_status read_pair_side(cairn_scene_build *b, const cairn_yaml_node *node, int *out)
{
    const char *name;
    TRY(cairn_scene_read_name(b, node, &name));
    *out = find_material(b, name);
    return *out >= 0 ? CAIRN_OK
                     : cairn_scene_fail_word(b, node, false, "material", b->material_names);
}

/* `seen` has a place for each ordered pair of materials. */
static cairn_status read_pair(cairn_scene_build *b, const cairn_yaml_node *node, uint8_t *seen)
{
    const cairn_scene_keys keys = cairn_scene_pair_keys();
    TRY(cairn_scene_check_keys(b, node, &keys));
    const cairn_yaml_node *sides = cairn_yaml_find(node, "materials");
    int one, other, count = b->scene->material_count;
    if (sides->kind != CAIRN_YAML_LIST || sides->count != 2)
        return cairn_yaml_fail(sides, NULL, b->error, "expected a list of two materials");
    TRY(read_pair_side(b, sides->first, &one));
    TRY(read_pair_side(b, sides->last, &other));
    if (seen[one * count + other])
        return cairn_yaml_fail(sides, NULL, b->error, "the pair '%s', '%s' is given twice",
                               b->material_names[one], b->material_names[other]);
    seen[one * count + other] = seen[other * count + one] = 1;
    /* what is not given stays what it is without this pair */
    cairn_material_def def;
    TRY(cairn_material_pair_get(b->scene->world, one, other, &def));
    TRY(cairn_scene_read_record(b, node, keys.record, &def));
    if (cairn_yaml_find(node, "friction"))
        def.friction_law.kind = CAIRN_FRICTION_CONSTANT;
    TRY(read_friction_law(b, node, &def.friction_law));
    cairn_status status = cairn_material_pair_set(b->scene->world, one, other, &def);
    return cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world));
}

static cairn_status read_pairs(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "pairs");
    size_t count = (size_t)b->scene->material_count;
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "pairs of materials"));
    uint8_t *seen = cairn_arena_take(b->arena, count * count, 1);
    if (!seen)
        return cairn_scene_no_memory(b);
    memset(seen, 0, count * count);
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_pair(b, n, seen));
    return CAIRN_OK;
}

/* The scheme of the run must treat the friction laws. */
static cairn_status check_scheme(cairn_scene_build *b)
{
    const cairn_yaml_node *run = cairn_yaml_find(b->tree.root, "run");
    cairn_error wrong = { 0 };
    cairn_status status = cairn_world_step_check(b->scene->world, &b->scene->step, &wrong);
    return cairn_scene_blame(b, status, run, &wrong);
}

cairn_status cairn_scene_read_materials(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "materials");
    int given = list ? list->count : 0;
    if (list && list->kind != CAIRN_YAML_MAPPING && !cairn_yaml_is_null(list))
        return cairn_yaml_fail(list, NULL, b->error, "expected a mapping from names to materials");
    if (given > MAX_MATERIALS)
        return cairn_yaml_fail(list, NULL, b->error, "found %d materials, expected at most %d",
                               given, MAX_MATERIALS);
    size_t room = (size_t)given + 2; /* one at least, and a NULL at the end of the names */
    b->material_names = cairn_arena_take(b->arena, room, sizeof *b->material_names);
    if (!b->material_names)
        return cairn_scene_no_memory(b);
    memset(b->material_names, 0, room * sizeof *b->material_names);
    b->scene->material_names = b->material_names;
    for (const cairn_yaml_node *n = list ? list->first : NULL; n; n = n->next)
        TRY(read_material_def(b, n));
    if (given == 0) {
        const cairn_material_def def = cairn_material_def_default();
        TRY(add_material(b, "default", &def, b->tree.root));
    }
    TRY(read_pairs(b));
    return check_scheme(b);
}

cairn_status cairn_scene_read_material(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                       int *out)
{
    const cairn_yaml_node *node = cairn_yaml_find(mapping, "material");
    *out = 0;
    if (node)
        return read_pair_side(b, node, out);
    if (b->scene->material_count == 1)
        return CAIRN_OK;
    return cairn_yaml_fail(mapping, "material", b->error,
                           "the key 'material' is missing: there are %d materials to choose from",
                           b->scene->material_count);
}
