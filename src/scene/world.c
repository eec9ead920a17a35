/* world.c - the top of a scene: version, title, space, run, statistics, the periodic cell and
 * materials; and its generators and inlets. */
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "cairn/joint.h"
#include "scene/stages.h"

/* read_pairs takes count x count bytes, so the count must be bounded. */
enum { MAX_MATERIALS = 1000 };

/* ---- version, title, space ----------------------------------------------------------------- */

/* Check the version before any other key, so that a key of a later version is not reported as a
 * misspelling. */
cairn_status cairn_scene_check_version(cairn_scene_build *b, const cairn_yaml_node *root)
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

/* The title is copied into a fixed array of the public struct, so it is limited by that. */
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

static const cairn_varied gravity_parts[] = { CAIRN_VARIED_GRAVITY_X, CAIRN_VARIED_GRAVITY_Y,
                                              CAIRN_VARIED_GRAVITY_Z };

/* The gravity of the scene replaces that of the state, with its functions of time. */
static cairn_status change_gravity(cairn_scene_build *b, const cairn_yaml_node *root,
                                   cairn_vec3 gravity)
{
    cairn_world *world = b->scene->world;
    if (!cairn_yaml_find(root, "gravity"))
        return CAIRN_OK;
    for (int i = 0; i < b->dimension; i++)
        TRY(cairn_world_vary(world, gravity_parts[i], 0, NULL));
    cairn_status status = cairn_world_set_gravity(world, gravity);
    TRY(cairn_scene_blame(b, status, root, cairn_world_error(world)));
    return cairn_scene_vary(b, gravity_parts, 0);
}

/* The world of a start has a dimension and a gravity; a scene may change the latter. */
static cairn_status change_space(cairn_scene_build *b, const cairn_yaml_node *root)
{
    const cairn_record *record = cairn_scene_world_record();
    cairn_world *world = b->scene->world;
    cairn_world_def def = { cairn_world_dimension(world), cairn_world_gravity(world) };
    b->dimension = cairn_world_dimension(world);
    TRY(cairn_scene_read_record(b, root, record, &def));
    if (def.dimension != b->dimension)
        return cairn_yaml_fail(cairn_yaml_find(root, "dimension"), NULL, b->error,
                               "found %d, expected %d, the dimension of the state that the scene "
                               "starts from",
                               (int)def.dimension, b->dimension);
    return change_gravity(b, root, def.gravity);
}

/* The dimension is read first: it decides the default gravity and how long vectors are. */
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
    TRY(cairn_scene_blame(b, status, root, &(cairn_error){ 0 }));
    return cairn_scene_vary(b, gravity_parts, 0);
}

cairn_status cairn_scene_read_world(cairn_scene_build *b)
{
    const cairn_yaml_node *root = b->tree.root;
    const cairn_scene_keys keys = cairn_scene_root_keys();
    if (root->kind != CAIRN_YAML_MAPPING)
        return cairn_scene_check_keys(b, root, &keys);
    TRY(cairn_scene_check_version(b, root));
    TRY(cairn_scene_check_keys(b, root, &keys));
    TRY(read_title(b, cairn_yaml_find(root, "title")));
    const cairn_yaml_node *start = cairn_yaml_find(root, "start");
    if (start)
        TRY(cairn_scene_read_start(b, start));
    TRY(start ? change_space(b, root) : read_space(b, root));
    return cairn_scene_make_names(b);
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
    b->chooses_backend = strcmp(b->scene->step.backend, "auto") == 0;
    if (b->chooses_backend) /* until all bodies are known */
        b->scene->step.backend = cairn_step_options_default().backend;
    cairn_error wrong = { 0 }; /* options must fit together as well */
    int dimension = cairn_world_dimension(b->scene->world);
    cairn_status status = cairn_step_options_check(&b->scene->step, dimension, &wrong);
    TRY(cairn_scene_blame(b, status, node, &wrong));
    status = cairn_run_check_steps(b->scene, &wrong);
    return cairn_scene_blame(b, status, b->tree.root, &wrong);
}

/* Read how statistics are measured. The mapping is optional; without it the defaults hold. */
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

/* ---- the periodic cell ---------------------------------------------------------------------- */

enum { GRADIENT = 3 }; /* place of gradient_x in the table of the cell; y and z follow */

/* One line of the table. A gradient may have functions of time, which the reader collects for one
 * vector at a time. */
static cairn_status read_line(cairn_scene_build *b, const cairn_yaml_node *node, int line,
                              cairn_lattice_def *def)
{
    const cairn_record only = { .options = cairn_lattice_record()->options + line,
                                .option_count = 1 };
    return cairn_scene_read_record(b, node, &only, def);
}

static cairn_status set_cell(cairn_scene_build *b, const cairn_yaml_node *node,
                             const cairn_lattice_def *def)
{
    cairn_world *world = b->scene->world;
    const cairn_lattice before = cairn_world_lattice(world);
    bool given = cairn_yaml_find(node, "axes") || cairn_yaml_find(node, "low") ||
                 cairn_yaml_find(node, "high");
    if (!given && cairn_lattice_exists(&before)) /* a start that now deforms */
        return cairn_scene_blame(b, cairn_world_set_lattice_gradient(world, def), node,
                                 cairn_world_error(world));
    if (def->axes.count == 0)
        return cairn_yaml_fail(node, "axes", b->error,
                               "the key 'axes' is missing: one or more of x, y, z");
    return cairn_scene_blame(b, cairn_world_set_lattice(world, def), node,
                             cairn_world_error(world));
}

/* Lines with functions of time are read twice: the cell must be there before its gradient can
 * vary. */
cairn_status cairn_scene_read_periodic(cairn_scene_build *b)
{
    static const cairn_varied parts[] = { CAIRN_VARIED_LATTICE_X, CAIRN_VARIED_LATTICE_Y,
                                          CAIRN_VARIED_LATTICE_Z };
    const cairn_yaml_node *node = cairn_yaml_find(b->tree.root, "periodic");
    const cairn_scene_keys keys = cairn_scene_periodic_keys();
    cairn_lattice_def def = cairn_lattice_def_default();
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_check_keys(b, node, &keys));
    for (int line = 0; line < keys.record->option_count; line++) {
        TRY(read_line(b, node, line, &def));
        b->varying_count = 0;
    }
    TRY(set_cell(b, node, &def));
    for (int row = 0; row < b->dimension; row++) {
        for (int part = 0; part < b->dimension; part++)
            TRY(cairn_world_vary(b->scene->world, parts[part], row, NULL));
        TRY(read_line(b, node, GRADIENT + row, &def));
        TRY(cairn_scene_vary(b, parts, row));
    }
    return CAIRN_OK;
}

cairn_status cairn_scene_check_periodic(cairn_scene_build *b)
{
    const cairn_yaml_node *node = cairn_yaml_find(b->tree.root, "periodic");
    const cairn_lattice cell = cairn_world_lattice(b->scene->world);
    cairn_error wrong = { 0 };
    if (!cairn_lattice_exists(&cell))
        return CAIRN_OK;
    cairn_status status = cairn_world_step_check(b->scene->world, &b->scene->step, &wrong);
    bool of_cell = strcmp(wrong.key, "periodic") == 0; /* or of an option of the run */
    if (of_cell)
        wrong.key[0] = '\0';
    else
        node = cairn_yaml_find(b->tree.root, "run");
    return cairn_scene_blame(b, status, node ? node : b->tree.root, &wrong);
}

/* ---- materials ----------------------------------------------------------------------------- */

/* The number of a material; -1 if there is none of that name. */
static int find_material(const cairn_scene_build *b, const char *name)
{
    int i = b->scene->material_count - 1;
    while (i >= 0 && strcmp(b->material_names[i], name) != 0)
        i--;
    return i;
}

/* The world numbers materials 0, 1, ... in the order of creation, which is also that of the
 * names. */
static cairn_status add_material(cairn_scene_build *b, const char *name,
                                 const cairn_material_def *def, const cairn_yaml_node *node)
{
    int number;
    cairn_status status = cairn_material_create(b->scene->world, def, &number);
    TRY(cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world)));
    b->material_names[b->scene->material_count++] = name;
    return cairn_scene_vary(b, (const cairn_varied[]){ CAIRN_VARIED_FRICTION }, number);
}

/* Read the key friction_law; without it `law` keeps its value. A law other than the constant one
 * brings its own coefficients, so `friction` next to it would have no effect and is refused. */
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

/* Change a material that a start brought. Its friction may be a function of time, which the scene
 * replaces. */
static cairn_status change_material(cairn_scene_build *b, const cairn_yaml_node *node, int number,
                                    cairn_material_def *def)
{
    const cairn_record *record = cairn_material_record();
    TRY(cairn_material_get(b->scene->world, number, def));
    /* a plain coefficient replaces a law */
    if (cairn_yaml_find(node, "friction"))
        def->friction_law.kind = CAIRN_FRICTION_CONSTANT;
    TRY(cairn_scene_read_record(b, node, record, def));
    TRY(read_friction_law(b, node, &def->friction_law));
    if (cairn_yaml_find(node, "friction") || cairn_yaml_find(node, "friction_law"))
        TRY(cairn_world_vary(b->scene->world, CAIRN_VARIED_FRICTION, number, NULL));
    cairn_status status = cairn_material_set(b->scene->world, number, def);
    TRY(cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world)));
    return cairn_scene_vary(b, (const cairn_varied[]){ CAIRN_VARIED_FRICTION }, number);
}

static cairn_status read_material_def(cairn_scene_build *b, const cairn_yaml_node *node)
{
    const cairn_scene_keys keys = cairn_scene_material_keys();
    cairn_material_def def = cairn_material_def_default();
    /* the name is a key, which has no node of its own: make one, for the checks and their
     * messages */
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
    int number = find_material(b, name);
    if (number >= 0) /* keys of a mapping differ, so it is one of the state */
        return change_material(b, node, number, &def);
    TRY(cairn_scene_read_record(b, node, keys.record, &def));
    TRY(read_friction_law(b, node, &def.friction_law));
    TRY(cairn_scene_keep_text(b, name, &name));
    return add_material(b, name, &def, node);
}

cairn_status cairn_scene_find_material(cairn_scene_build *b, const cairn_yaml_node *node, int *out)
{
    const char *name;
    TRY(cairn_scene_read_name(b, node, &name));
    *out = find_material(b, name);
    return *out >= 0 ? CAIRN_OK
                     : cairn_scene_fail_word(b, node, false, "material", b->material_names);
}

/* Read one pair of materials. `seen` has an entry for each ordered pair, so that a pair given
 * twice is found whichever material comes first. */
static cairn_status read_pair(cairn_scene_build *b, const cairn_yaml_node *node, uint8_t *seen)
{
    const cairn_scene_keys keys = cairn_scene_pair_keys();
    TRY(cairn_scene_check_keys(b, node, &keys));
    const cairn_yaml_node *sides = cairn_yaml_find(node, "materials");
    int one, other, count = b->scene->material_count;
    if (sides->kind != CAIRN_YAML_LIST || sides->count != 2)
        return cairn_yaml_fail(sides, NULL, b->error, "expected a list of two materials");
    TRY(cairn_scene_find_material(b, sides->first, &one));
    TRY(cairn_scene_find_material(b, sides->last, &other));
    if (seen[one * count + other])
        return cairn_yaml_fail(sides, NULL, b->error, "the pair '%s', '%s' is given twice",
                               b->material_names[one], b->material_names[other]);
    seen[one * count + other] = seen[other * count + one] = 1;
    /* keys that are not given keep the values that the two materials give without this pair */
    cairn_material_def def;
    TRY(cairn_material_pair_get(b->scene->world, one, other, &def));
    TRY(cairn_scene_read_record(b, node, keys.record, &def));
    if (b->varying_count > 0)
        return cairn_yaml_fail(b->varying[0].node, NULL, b->error,
                               "expected a number: friction varies by the material, not by the "
                               "pair");
    /* a plain coefficient replaces a law that the materials may have */
    if (cairn_yaml_find(node, "friction"))
        def.friction_law.kind = CAIRN_FRICTION_CONSTANT;
    TRY(read_friction_law(b, node, &def.friction_law));
    cairn_status status = cairn_material_pair_set(b->scene->world, one, other, &def);
    return cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world));
}

/* Pairs are read after all materials, because they refer to them by name in any order. */
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

/* Check that the scheme can treat the friction laws, which only some schemes do. Only now are
 * all materials and pairs known. */
static cairn_status check_scheme(cairn_scene_build *b)
{
    const cairn_yaml_node *run = cairn_yaml_find(b->tree.root, "run");
    cairn_error wrong = { 0 };
    cairn_status status = cairn_world_step_check(b->scene->world, &b->scene->step, &wrong);
    return cairn_scene_blame(b, status, run, &wrong);
}

/* A scene without materials has one, "default", so that bodies always have a material. */
cairn_status cairn_scene_read_materials(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "materials");
    int given = list ? list->count : 0, there = b->scene->material_count;
    if (list && list->kind != CAIRN_YAML_MAPPING && !cairn_yaml_is_null(list))
        return cairn_yaml_fail(list, NULL, b->error, "expected a mapping from names to materials");
    if (given + there > MAX_MATERIALS && given > 0)
        return cairn_yaml_fail(list, NULL, b->error, "found %d materials, expected at most %d",
                               given + there, MAX_MATERIALS);
    size_t room = (size_t)given + (size_t)there + 2; /* the default one, and a final NULL */
    const char **names = cairn_arena_take(b->arena, room, sizeof *names);
    if (!names)
        return cairn_scene_no_memory(b);
    for (size_t i = 0; i < room; i++)
        names[i] = i < (size_t)there ? b->material_names[i] : NULL;
    b->scene->material_names = b->material_names = names;
    for (const cairn_yaml_node *n = list ? list->first : NULL; n; n = n->next)
        TRY(read_material_def(b, n));
    if (given + there == 0) {
        const cairn_material_def def = cairn_material_def_default();
        TRY(add_material(b, "default", &def, b->tree.root));
    }
    TRY(read_pairs(b));
    return check_scheme(b);
}

/* With several materials the key is required: taking the first one silently would hide a
 * mistake. */
cairn_status cairn_scene_read_material(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                       int *out)
{
    const cairn_yaml_node *node = cairn_yaml_find(mapping, "material");
    *out = 0;
    if (node)
        return cairn_scene_find_material(b, node, out);
    if (b->scene->material_count == 1)
        return CAIRN_OK;
    return cairn_yaml_fail(mapping, "material", b->error,
                           "the key 'material' is missing: there are %d materials to choose from",
                           b->scene->material_count);
}

/* ---- generators and inlets --------------------------------------------------------------- */

/* All bodies, those of inlets included, must be countable by an int32. */
static cairn_status check_total(cairn_scene_build *b, const cairn_yaml_node *node)
{
    int64_t now = cairn_world_body_count(b->scene->world);
    if (now + b->bodies_to_come <= INT32_MAX)
        return CAIRN_OK;
    return cairn_yaml_fail(node, NULL, b->error, "found more than %d bodies in all",
                           (int)INT32_MAX);
}

/* Read shape and radii of generated bodies; at least one of the two must be given. Without a
 * radius a sphere keeps its own, and any other shape its own size, for which the radius is 0. */
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
        return cairn_scene_read_distribution(b, radius, radii);
    radii->value = shape->kind == CAIRN_SHAPE_SPHERE ? shape->radius : 0;
    return CAIRN_OK;
}

/* The plain options through the table, the others one by one. A mass replaces the density. */
static cairn_status read_generated(cairn_scene_build *b, const cairn_yaml_node *node, int kind,
                                   cairn_generator *g)
{
    const cairn_yaml_node *mass = cairn_yaml_find(node, "mass");
    TRY(cairn_scene_read_record(b, node, cairn_generator_record(kind), g));
    TRY(read_form(b, node, &g->shape, &g->radius));
    if (mass)
        TRY(cairn_scene_read_distribution(b, mass, &g->mass));
    if (mass && g->mass.kind == CAIRN_DISTRIBUTION_CONSTANT && !(g->mass.value > 0))
        return cairn_yaml_fail(mass, NULL, b->error, "found 0, expected a mass > 0 kg");
    return cairn_scene_read_material(b, node, &g->material);
}

/* Make the bodies of one generator at once. The bodies retain the geometry of the shape, so the
 * reference of the reader is released whether or not this succeeds. */
static cairn_status generate(cairn_scene_build *b, const cairn_yaml_node *node, int kind)
{
    cairn_generator g = cairn_generator_default((cairn_generator_kind)kind, b->dimension);
    cairn_error said = { 0 };
    int first = (int)cairn_world_body_count(b->scene->world);
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

/* The mass of an inlet is a plain option of its table, unlike that of a generator. */
static cairn_status read_inlet(cairn_scene_build *b, const cairn_yaml_node *node,
                               cairn_inlet_def *def)
{
    TRY(cairn_scene_read_record(b, node, cairn_inlet_record(), def));
    TRY(read_form(b, node, &def->shape, &def->radius));
    TRY(cairn_scene_doubt_inlet(b, node, def));
    TRY(cairn_scene_read_material(b, node, &def->material));
    /* checked before the sum, which could overflow */
    if (def->count > INT32_MAX - b->bodies_to_come)
        return cairn_yaml_fail(cairn_yaml_find(node, "count"), NULL, b->error,
                               "found more than %d bodies in all", (int)INT32_MAX);
    b->bodies_to_come += def->count;
    return check_total(b, node);
}

/* The name of an inlet or outlet, unlike those before; "" without one. */
static cairn_status read_new_name(cairn_scene_build *b, const cairn_yaml_node *node,
                                  const char *const *others, const char **out)
{
    const cairn_yaml_node *given = cairn_yaml_find(node, "name");
    const char *name = "";
    if (given)
        TRY(cairn_scene_read_name(b, given, &name));
    for (; given && *others; others++)
        if (strcmp(*others, name) == 0)
            return cairn_yaml_fail(given, NULL, b->error, "the name '%s' is given twice", name);
    return cairn_scene_keep_text(b, name, out);
}

/* As generate(), but the bodies are made during the run, so only the definition is checked now. */
static cairn_status add_inlet(cairn_scene_build *b, const cairn_yaml_node *node)
{
    cairn_inlet_def def = cairn_inlet_def_default();
    cairn_status status = read_inlet(b, node, &def);
    if (status == CAIRN_OK) {
        status = cairn_inlet_create(b->scene->world, &def);
        status = cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world));
    }
    cairn_geometry_release(def.shape.geometry);
    TRY(status);
    int number = b->scene->inlet_count;
    TRY(read_new_name(b, node, b->inlet_names, &b->inlet_names[number]));
    b->scene->inlet_count++;
    return cairn_scene_vary(b, (const cairn_varied[]){ CAIRN_VARIED_RATE }, number);
}

/* Keys are checked before anything is made, so a misspelt key does not cost the time of
 * generating. */
static cairn_status read_generator(cairn_scene_build *b, const cairn_yaml_node *node)
{
    int kind;
    const cairn_yaml_node *options;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_generators, &kind, &options));
    const cairn_scene_keys keys = cairn_scene_generator_keys(kind);
    TRY(cairn_scene_check_keys(b, options, &keys));
    TRY(cairn_scene_refuse_both(b, options, "mass", "density"));
    if (kind == cairn_scene_table_kind()) {
        TRY(cairn_scene_read_table(b, options));
        return check_total(b, options);
    }
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

/* ---- outlets -------------------------------------------------------------------------------- */

/* The number of the inlet with the name in `node`. */
static cairn_status read_inlet_name(cairn_scene_build *b, const cairn_yaml_node *node, int *out)
{
    const char *name;
    TRY(cairn_scene_read_name(b, node, &name));
    for (*out = 0; *out < b->scene->inlet_count; ++*out)
        if (strcmp(b->inlet_names[*out], name) == 0)
            return CAIRN_OK;
    return cairn_scene_fail_word(b, node, false, "inlet", b->inlet_names);
}

static cairn_status read_outlet(cairn_scene_build *b, const cairn_yaml_node *node)
{
    int kind;
    const cairn_yaml_node *options;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_outlets, &kind, &options));
    const cairn_scene_keys keys = cairn_scene_outlet_keys(kind);
    const cairn_yaml_node *to = cairn_yaml_find(options, "to");
    cairn_outlet_def def = cairn_outlet_default((cairn_outlet_kind)kind);
    TRY(cairn_scene_check_keys(b, options, &keys));
    TRY(cairn_scene_read_record(b, options, keys.record, &def));
    TRY(read_new_name(b, options, b->outlet_names, &b->outlet_names[b->scene->outlet_count]));
    if (to)
        TRY(read_inlet_name(b, to, &def.inlet));
    cairn_status status = cairn_outlet_create(b->scene->world, &def);
    TRY(cairn_scene_blame(b, status, options, cairn_world_error(b->scene->world)));
    b->scene->outlet_count++;
    return CAIRN_OK;
}

cairn_status cairn_scene_read_outlets(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "outlets");
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "outlets"));
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_outlet(b, n));
    return CAIRN_OK;
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* One axis of a cell; without a node it has no walls. */
static cairn_status read_axis(cairn_scene_build *b, const cairn_yaml_node *node,
                              cairn_cell_axis *out)
{
    const cairn_scene_keys keys = cairn_scene_cell_axis_keys();
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(cairn_scene_read_record(b, node, keys.record, out));
    const cairn_yaml_node *low = cairn_yaml_find(node, "low");
    const cairn_yaml_node *high = cairn_yaml_find(node, "high");
    if (!low && !high)
        return cairn_yaml_fail(node, NULL, b->error,
                               "found no wall, expected the key 'low' or 'high'");
    if (low)
        TRY(cairn_scene_read_body(b, low, &out->low));
    return high ? cairn_scene_read_body(b, high, &out->high) : CAIRN_OK;
}

/* Cells are read after the generators, because the default damping is that of the sample. */
static cairn_status read_cell(cairn_scene_build *b, const cairn_yaml_node *node)
{
    static const char *const names[] = { "x", "y", "z" };
    const cairn_scene_keys keys = cairn_scene_cell_keys();
    cairn_cell_def def = cairn_cell_def_default();
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(cairn_scene_read_record(b, node, keys.record, &def));
    for (int k = 0; k < 3; k++)
        TRY(read_axis(b, cairn_yaml_find(node, names[k]), &def.axis[k]));
    cairn_status status = cairn_cell_create(b->scene->world, &def);
    return cairn_scene_blame(b, status, node, cairn_world_error(b->scene->world));
}

cairn_status cairn_scene_read_cells(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "cells");
    cairn_error wrong = { 0 };
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "cells"));
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_cell(b, n));
    cairn_status status = cairn_world_step_check(b->scene->world, &b->scene->step, &wrong);
    return cairn_scene_blame(b, status, cairn_yaml_find(b->tree.root, "run"), &wrong);
}

/* ---- events --------------------------------------------------------------------------------- */

static cairn_status read_outlet_name(cairn_scene_build *b, const cairn_yaml_node *node, int *out)
{
    const char *name;
    TRY(cairn_scene_read_name(b, node, &name));
    for (*out = 0; *out < b->scene->outlet_count; ++*out)
        if (strcmp(b->outlet_names[*out], name) == 0)
            return CAIRN_OK;
    return cairn_scene_fail_word(b, node, false, "outlet", b->outlet_names);
}

static cairn_status read_condition(cairn_scene_build *b, const cairn_yaml_node *node,
                                   cairn_event *event)
{
    int kind;
    const cairn_yaml_node *value;
    cairn_body_id id = cairn_body_none();
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_conditions, &kind, &value));
    const cairn_scene_keys keys = cairn_scene_condition_keys(kind);
    keys.record->set_default(event);
    event->kind = (cairn_event_kind)kind;
    TRY(cairn_scene_check_keys(b, value, &keys));
    TRY(cairn_scene_read_record(b, value, keys.record, event));
    const cairn_yaml_node *body = cairn_yaml_find(value, "body");
    const cairn_yaml_node *outlet = cairn_yaml_find(value, "outlet");
    if (body)
        TRY(cairn_scene_read_body(b, body, &id));
    event->body = body ? (int64_t)id.uid : -1;
    if (kind == CAIRN_EVENT_FLOW_STOPS && !outlet && cairn_world_outlet_count(b->scene->world) == 0)
        return cairn_yaml_fail_key(value, b->error,
                                   "the scene has no outlets, expected some under the key "
                                   "'outlets'");
    return outlet ? read_outlet_name(b, outlet, &event->outlet) : CAIRN_OK;
}

/* The body of an action: a gate to be removed, or one whose drivers begin or end. */
static cairn_status read_target(cairn_scene_build *b, const cairn_yaml_node *node,
                                cairn_event *event)
{
    const cairn_world *world = b->scene->world;
    cairn_body_id id = cairn_body_none();
    TRY(cairn_scene_read_body(b, node, &id));
    event->target = (int64_t)id.uid;
    int row = cairn_body_row(world, id);
    if (event->action == CAIRN_ACTION_OPEN || row < 0 ||
        cairn_world_bodies(world).motion[row] == CAIRN_MOTION_DRIVEN)
        return CAIRN_OK;
    return cairn_yaml_fail(node, NULL, b->error,
                           "the body '%s' has no drivers, expected one with motion: driven",
                           node->text);
}

/* {action: body}, {save_state: name}, or stop_run. */
static cairn_status read_action(cairn_scene_build *b, const cairn_yaml_node *node,
                                cairn_event *event)
{
    int action;
    const cairn_yaml_node *value;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_actions, &action, &value));
    event->action = (cairn_action)action;
    if (action == CAIRN_ACTION_STOP_RUN)
        return CAIRN_OK;
    if (value == node)
        return cairn_yaml_fail(node, NULL, b->error, "found %s alone, expected {%s: NAME}",
                               node->text, node->text);
    if (action != CAIRN_ACTION_SAVE_STATE)
        return read_target(b, value, event);
    TRY(cairn_scene_read_name(b, value, &event->file));
    if (!cairn_is_word(event->file))
        return cairn_yaml_fail(value, NULL, b->error,
                               "found '%s', expected letters, digits, - and _", event->file);
    return cairn_scene_keep_text(b, event->file, &event->file);
}

static cairn_status read_event(cairn_scene_build *b, const cairn_yaml_node *node,
                               cairn_event *event)
{
    const cairn_scene_keys keys = cairn_scene_event_keys();
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(read_condition(b, cairn_yaml_find(node, "when"), event));
    return read_action(b, cairn_yaml_find(node, "do"), event);
}

cairn_status cairn_scene_read_events(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "events");
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "events"));
    b->scene->events = cairn_arena_take(b->arena, (size_t)list->count, sizeof *b->scene->events);
    if (!b->scene->events)
        return cairn_scene_no_memory(b);
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_event(b, n, &b->scene->events[b->scene->event_count++]));
    return CAIRN_OK;
}

/* ---- series --------------------------------------------------------------------------------- */

/* One name, or a list of names. */
static cairn_status read_series_bodies(cairn_scene_build *b, const cairn_yaml_node *node,
                                       cairn_probe *probe)
{
    bool one = node->kind == CAIRN_YAML_SCALAR;
    if (!one)
        TRY(cairn_scene_check_list(b, node, "names of bodies"));
    if (!one && !node->first)
        return cairn_yaml_fail(node, NULL, b->error, "found an empty list, expected names");
    uint64_t *uids = cairn_arena_take(b->arena, one ? 1 : (size_t)node->count, sizeof *uids);
    if (!uids)
        return cairn_scene_no_memory(b);
    for (const cairn_yaml_node *n = one ? node : node->first; n; n = one ? NULL : n->next) {
        cairn_body_id id = cairn_body_none();
        TRY(cairn_scene_read_body(b, n, &id));
        uids[probe->body_count++] = id.uid;
    }
    probe->bodies = uids;
    return CAIRN_OK;
}

static cairn_status read_series_joint(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                      const cairn_yaml_node *node, cairn_probe *probe)
{
    static const char *const others[] = { "bodies", "material", "group", "low", "high", NULL };
    static const char *const none[] = { NULL };
    const char *name;
    for (int i = 0; others[i]; i++)
        TRY(cairn_scene_refuse_both(b, mapping, "joint", others[i]));
    TRY(cairn_scene_read_name(b, node, &name));
    for (int i = 0; b->joint_names && b->joint_names[i]; i++)
        if (strcmp(b->joint_names[i], name) == 0) {
            probe->joint = b->first_joint + i;
            return CAIRN_OK;
        }
    return cairn_scene_fail_word(b, node, false, "joint", b->joint_names ? b->joint_names : none);
}

/* The name becomes that of a file and of a group. A statistic of the same name could not be told
 * from it by `cairn plot`. */
static cairn_status read_series_name(cairn_scene_build *b, const cairn_yaml_node *node,
                                     const cairn_force_series *before, const char **out)
{
    TRY(cairn_scene_read_name(b, node, out));
    if (!cairn_is_word(*out) || strlen(*out) > 40)
        return cairn_yaml_fail(node, NULL, b->error,
                               "found '%s', expected at most 40 letters, digits, - and _", *out);
    for (int i = 0; i < b->scene->series_count; i++)
        if (strcmp(before[i].name, *out) == 0)
            return cairn_yaml_fail(node, NULL, b->error, "the name '%s' is given twice", *out);
    for (int i = 0; cairn_statistic_name(i); i++)
        if (strcmp(cairn_statistic_name(i), *out) == 0)
            return cairn_yaml_fail(node, NULL, b->error,
                                   "found '%s', the name of a statistic, expected another name",
                                   *out);
    return cairn_scene_keep_text(b, *out, out);
}

/* In 2D the box has no third side. */
static cairn_status close_box(cairn_scene_build *b, const cairn_yaml_node *node, cairn_probe *probe)
{
    probe->boxed = cairn_yaml_find(node, "low") || cairn_yaml_find(node, "high");
    if (b->dimension == 2) {
        probe->low.z = -1e30;
        probe->high.z = 1e30;
    }
    const cairn_vec3 low = probe->low, high = probe->high;
    if (low.x < high.x && low.y < high.y && low.z < high.z)
        return CAIRN_OK;
    return cairn_yaml_fail(node, NULL, b->error,
                           "the box is empty, expected every number of low below that of high");
}

static cairn_status read_one_series(cairn_scene_build *b, const cairn_yaml_node *node,
                                    cairn_force_series *series, cairn_probe *probe)
{
    const cairn_scene_keys keys = cairn_scene_series_keys();
    cairn_scene_series read;
    TRY(cairn_scene_check_keys(b, node, &keys));
    keys.record->set_default(&read);
    TRY(cairn_scene_read_record(b, node, keys.record, &read));
    TRY(read_series_name(b, cairn_yaml_find(node, "name"), b->scene->series, &read.series.name));
    const cairn_yaml_node *bodies = cairn_yaml_find(node, "bodies");
    const cairn_yaml_node *material = cairn_yaml_find(node, "material");
    const cairn_yaml_node *joint = cairn_yaml_find(node, "joint");
    int number = -1;
    if (bodies)
        TRY(read_series_bodies(b, bodies, &read.probe));
    if (material)
        TRY(cairn_scene_find_material(b, material, &number));
    read.probe.material = number;
    if (joint)
        TRY(read_series_joint(b, node, joint, &read.probe));
    TRY(close_box(b, node, &read.probe));
    read.probe.about_point = cairn_yaml_find(node, "about") != NULL;
    if (!bodies && !material && !joint && !read.probe.boxed && read.probe.group < 0)
        return cairn_yaml_fail(node, NULL, b->error,
                               "expected bodies, material, group, low and high, or a joint");
    *series = read.series;
    *probe = read.probe;
    return CAIRN_OK;
}

cairn_status cairn_scene_read_series(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "series");
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "series"));
    if (list->count > CAIRN_MOST_PROBES)
        return cairn_yaml_fail(list, NULL, b->error, "found %d series, expected at most %d",
                               list->count, CAIRN_MOST_PROBES);
    cairn_force_series *series = cairn_arena_take(b->arena, (size_t)list->count, sizeof *series);
    cairn_probe *probes = cairn_arena_take(b->arena, (size_t)list->count, sizeof *probes);
    if (!series || !probes)
        return cairn_scene_no_memory(b);
    b->scene->series = series;
    b->scene->step.probes = probes;
    for (const cairn_yaml_node *n = list->first; n; n = n->next) {
        int k = b->scene->series_count;
        TRY(read_one_series(b, n, &series[k], &probes[k]));
        b->scene->series_count = b->scene->step.probe_count = k + 1;
    }
    return CAIRN_OK;
}
