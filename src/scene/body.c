/* scene_body.c - the bodies of a scene, one by one: shape, pose, drivers, loads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/scene_build.h"

/* ---- drivers and loads --------------------------------------------------------------------- */

static cairn_status read_driver(cairn_scene_build *b, const cairn_yaml_node *node,
                                cairn_driver *out)
{
    int kind;
    const cairn_yaml_node *value;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_drivers, &kind, &value));
    *out = cairn_driver_default((cairn_driver_kind)kind);
    return cairn_scene_read_options(b, value, cairn_driver_record(kind), out);
}

static cairn_status read_load(cairn_scene_build *b, const cairn_yaml_node *node, cairn_load *out)
{
    int kind;
    const cairn_yaml_node *value;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_loads, &kind, &value));
    *out = cairn_load_default((cairn_load_kind)kind);
    return cairn_scene_read_options(b, value, cairn_load_record(kind), out);
}

static cairn_status read_drivers(cairn_scene_build *b, const cairn_yaml_node *list,
                                 cairn_body_def *def)
{
    TRY(cairn_scene_check_list(b, list, "drivers"));
    cairn_driver *drivers = cairn_arena_take(b->arena, (size_t)list->count, sizeof *drivers);
    if (!drivers)
        return cairn_scene_no_memory(b);
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_driver(b, n, &drivers[def->driver_count++]));
    def->drivers = drivers;
    return CAIRN_OK;
}

static cairn_status read_loads(cairn_scene_build *b, const cairn_yaml_node *list,
                               cairn_body_def *def)
{
    TRY(cairn_scene_check_list(b, list, "loads"));
    cairn_load *loads = cairn_arena_take(b->arena, (size_t)list->count, sizeof *loads);
    if (!loads)
        return cairn_scene_no_memory(b);
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_load(b, n, &loads[def->load_count++]));
    def->loads = loads;
    return CAIRN_OK;
}

/* ---- motion and pose ----------------------------------------------------------------------- */

static cairn_status read_motion(cairn_scene_build *b, const cairn_yaml_node *node,
                                cairn_motion *out)
{
    const char *known[CAIRN_MOTION_COUNT + 1] = { NULL }, *word;
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_read_name(b, node, &word));
    for (int i = 0; i < CAIRN_MOTION_COUNT; i++) {
        known[i] = cairn_motion_name(i);
        if (strcmp(known[i], word) == 0) {
            *out = (cairn_motion)i;
            return CAIRN_OK;
        }
    }
    return cairn_scene_fail_word(b, node, false, "motion", known);
}

/* cos(a/2) + sin(a/2) (unit axis) */
static cairn_quat turned_about(const cairn_scene_turn *turn, double length)
{
    double s = sin(turn->angle / 2) / length;
    return (cairn_quat){ cos(turn->angle / 2), s * turn->axis.x, s * turn->axis.y,
                         s * turn->axis.z };
}

static cairn_status read_turn(cairn_scene_build *b, const cairn_yaml_node *node, cairn_quat *out)
{
    const cairn_scene_keys keys = cairn_scene_orientation_keys();
    cairn_scene_turn turn;
    keys.record->set_default(&turn);
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(cairn_scene_read_record(b, node, keys.record, &turn));
    double length = hypot(hypot(turn.axis.x, turn.axis.y), turn.axis.z);
    if (!(length > 0 && isfinite(length)))
        return cairn_yaml_fail(cairn_yaml_find(node, "axis"), NULL, b->error,
                               "found an axis of length %g, expected a direction", length);
    *out = turned_about(&turn, length);
    return CAIRN_OK;
}

static cairn_status read_quaternion(cairn_scene_build *b, const cairn_yaml_node *node,
                                    cairn_quat *out)
{
    double q[4];
    char found[80];
    int count = 0;
    for (const cairn_yaml_node *n = node->first; n; n = n->next) {
        cairn_yaml_describe(n, found, sizeof found);
        if (!cairn_yaml_real(n, &q[count++]))
            return cairn_yaml_fail(n, NULL, b->error, "found %s, expected a number", found);
    }
    double length = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
    if (!(length > 0 && isfinite(length)))
        return cairn_yaml_fail(node, NULL, b->error,
                               "found a quaternion of length %g, expected one that can be "
                               "brought to length 1",
                               length);
    *out = (cairn_quat){ q[0] / length, q[1] / length, q[2] / length, q[3] / length };
    return CAIRN_OK;
}

cairn_status cairn_scene_read_orientation(cairn_scene_build *b, const cairn_yaml_node *node,
                                          cairn_quat *out)
{
    char found[80];
    if (!node)
        return CAIRN_OK;
    if (b->dimension == 2)
        return cairn_yaml_fail_key(node, b->error, "only in 3D; in 2D give 'angle'");
    if (node->kind == CAIRN_YAML_MAPPING)
        return read_turn(b, node, out);
    if (node->kind == CAIRN_YAML_LIST && node->count == 4)
        return read_quaternion(b, node, out);
    cairn_yaml_describe(node, found, sizeof found);
    return cairn_yaml_fail(node, NULL, b->error,
                           "found %s, expected {axis: [x, y, z], angle: rad} or a quaternion "
                           "[w, x, y, z]",
                           found);
}

/* What would be ignored is refused. */
static cairn_status check_motion(cairn_scene_build *b, const cairn_yaml_node *node,
                                 const cairn_body_def *def)
{
    static const char *const dynamic_only[] = { "velocity", "angular_velocity", "loads" };
    const cairn_yaml_node *found = cairn_yaml_find(node, "drivers");
    if (found && def->motion != CAIRN_MOTION_DRIVEN)
        return cairn_yaml_fail_key(found, b->error, "only with motion: driven");
    for (size_t i = 0; i < sizeof dynamic_only / sizeof dynamic_only[0]; i++) {
        found = cairn_yaml_find(node, dynamic_only[i]);
        if (found && def->motion != CAIRN_MOTION_DYNAMIC)
            return cairn_yaml_fail_key(found, b->error, "only with motion: dynamic");
    }
    found = cairn_yaml_find(node, "angle");
    if (found && b->dimension == 3)
        return cairn_yaml_fail_key(found, b->error, "only in 2D; in 3D give 'orientation'");
    return cairn_scene_refuse_both(b, node, "mass", "density");
}

/* ---- bodies -------------------------------------------------------------------------------- */

static cairn_status read_def(cairn_scene_build *b, const cairn_yaml_node *node, cairn_body_def *def)
{
    const cairn_scene_keys keys = cairn_scene_body_keys();
    const cairn_yaml_node *drivers = cairn_yaml_find(node, "drivers");
    const cairn_yaml_node *loads = cairn_yaml_find(node, "loads");
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(read_motion(b, cairn_yaml_find(node, "motion"), &def->motion));
    TRY(check_motion(b, node, def));
    TRY(cairn_scene_read_shape(b, cairn_yaml_find(node, "shape"), &def->shape));
    TRY(cairn_scene_read_material(b, node, &def->material));
    TRY(cairn_scene_read_orientation(b, cairn_yaml_find(node, "orientation"), &def->orientation));
    TRY(cairn_scene_read_record(b, node, keys.record, def));
    if (drivers)
        TRY(read_drivers(b, drivers, def));
    return loads ? read_loads(b, loads, def) : CAIRN_OK;
}

/* The name, kept for the scene's life; NULL when there is none. */
static cairn_status read_body_name(cairn_scene_build *b, const cairn_yaml_node *node,
                                   const char **out)
{
    const cairn_yaml_node *given = cairn_yaml_find(node, "name");
    const char *name;
    *out = NULL;
    if (!given)
        return CAIRN_OK;
    TRY(cairn_scene_read_name(b, given, &name));
    return cairn_scene_keep_text(b, name, out);
}

/* The options below `one` ({kind: options}) when they have `key`, else what was found before. */
static const cairn_yaml_node *with_key(const cairn_yaml_node *one, const char *key, int *found,
                                       const cairn_yaml_node *before)
{
    if (one->kind != CAIRN_YAML_MAPPING || !cairn_yaml_find(one->first, key))
        return before;
    ++*found;
    return one->first;
}

/* Whom a complaint about `key` concerns: the body, or the one shape, driver or load that has it. */
static const cairn_yaml_node *concerned(const cairn_yaml_node *body, const char *key)
{
    static const char *const lists[] = { "drivers", "loads" };
    const cairn_yaml_node *candidate = body;
    int found = 0;
    if (!key[0] || cairn_yaml_find(body, key))
        return body;
    candidate = with_key(cairn_yaml_find(body, "shape"), key, &found, candidate);
    for (int i = 0; i < 2; i++) {
        const cairn_yaml_node *list = cairn_yaml_find(body, lists[i]);
        for (const cairn_yaml_node *n = list ? list->first : NULL; n; n = n->next)
            candidate = with_key(n, key, &found, candidate);
    }
    return found == 1 ? candidate : body;
}

static cairn_status make_body(cairn_scene_build *b, const cairn_yaml_node *node,
                              cairn_body_def *def)
{
    cairn_body_id id;
    const char *name;
    TRY(read_def(b, node, def));
    TRY(read_body_name(b, node, &name));
    cairn_status status = cairn_body_create(b->scene->world, def, &id);
    const cairn_error *said = cairn_world_error(b->scene->world);
    TRY(cairn_scene_blame(b, status, concerned(node, said->key), said));
    b->body_names[id.uid] = name;
    b->origins[b->origin_count++] = (cairn_scene_origin){ (int)id.uid, node };
    b->scene->body_count = (int)id.uid + 1;
    return CAIRN_OK;
}

/* The body holds the data of its shape; the reader's own hold ends here. */
static cairn_status read_body(cairn_scene_build *b, const cairn_yaml_node *node)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_status status = make_body(b, node, &def);
    cairn_geometry_release(def.shape.geometry);
    return status;
}

/* ---- names that occur twice ---------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const cairn_yaml_node *a = *(const cairn_yaml_node *const *)left;
    const cairn_yaml_node *b = *(const cairn_yaml_node *const *)right;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static cairn_status refuse_same_names(cairn_scene_build *b, const cairn_yaml_node *list)
{
    const cairn_yaml_node **names = cairn_memory_zeroed((size_t)list->count + 1, sizeof *names);
    const cairn_yaml_node *twice = NULL;
    int count = 0;
    if (!names)
        return cairn_scene_no_memory(b);
    for (const cairn_yaml_node *n = list->first; n; n = n->next) {
        const cairn_yaml_node *name = cairn_yaml_find(n, "name");
        if (name)
            names[count++] = name;
    }
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 1; i < count; i++)
        if (strcmp(names[i - 1]->text, names[i]->text) == 0)
            twice = twice && twice->line <= names[i]->line ? twice : names[i];
    cairn_memory_free(names);
    return twice
               ? cairn_yaml_fail(twice, NULL, b->error, "the name '%s' is given twice", twice->text)
               : CAIRN_OK;
}

cairn_status cairn_scene_read_bodies(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "bodies");
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "bodies"));
    size_t room = (size_t)list->count;
    b->body_names = cairn_arena_take(b->arena, room, sizeof *b->body_names);
    if (!b->body_names)
        return cairn_scene_no_memory(b);
    for (size_t i = 0; i < room; i++)
        b->body_names[i] = NULL;
    b->scene->body_names = b->body_names;
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_body(b, n));
    return refuse_same_names(b, list);
}
