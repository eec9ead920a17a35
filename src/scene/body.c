/* body.c - the bodies of a scene, one by one (shape, pose, drivers, loads), and the joints
 * between them. Lists live in the arena of the scene; the world copies what it needs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/joint.h"
#include "scene/stages.h"

/* ---- drivers and loads --------------------------------------------------------------------- */

/* {kind: {...}} or a bare kind; options that are not given keep the defaults of the kind. */
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

/* The list lives in the arena. The count rises with each entry, so it is 0 for an empty list. */
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

/* As read_drivers, for loads. */
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

/* The word of the key `motion`; without a node the default stays. */
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

/* The unit quaternion of a rotation by the angle a about the unit vector n = axis/length:
 * q = (cos(a/2), sin(a/2) n) */
static cairn_quat turned_about(const cairn_scene_turn *turn, double length)
{
    double s = sin(turn->angle / 2) / length;
    return (cairn_quat){ cos(turn->angle / 2), s * turn->axis.x, s * turn->axis.y,
                         s * turn->axis.z };
}

/* {axis: [x, y, z], angle: rad}. The axis may have any length but 0; hypot keeps the length from
 * overflowing or underflowing where a sum of squares would. */
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

/* [w, x, y, z], normalised here: people round the components. The caller has checked that the
 * list has 4 entries. */
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

/* Two notations, told apart by their form: a mapping is axis and angle, a list of four a
 * quaternion. */
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

/* Refuse keys that would have no effect with this motion or in this dimension. A user who gives
 * one expects it to matter. */
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

/* Read everything that a body is made from. The motion comes first, because it decides which
 * other keys are allowed. A geometry that has been read is released by read_body, also after a
 * failure. */
static cairn_status read_def(cairn_scene_build *b, const cairn_yaml_node *node, cairn_body_def *def)
{
    const cairn_scene_keys keys = cairn_scene_body_keys();
    const cairn_yaml_node *drivers = cairn_yaml_find(node, "drivers");
    const cairn_yaml_node *loads = cairn_yaml_find(node, "loads");
    TRY(cairn_scene_refuse_stray(b, node, "shape", &cairn_scene_shapes));
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

/* The name of a body, copied into the scene; NULL if it has none. */
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

/* The options in `one` ({kind: options}) if they have `key`, and count that; else `before`. */
static const cairn_yaml_node *with_key(const cairn_yaml_node *one, const char *key, int *found,
                                       const cairn_yaml_node *before)
{
    if (one->kind != CAIRN_YAML_MAPPING || !cairn_yaml_find(one->first, key))
        return before;
    ++*found;
    return one->first;
}

/* The node that an error about `key` refers to. The world names only the key, such as `radius`:
 * this finds the body itself, or the shape, driver or load that has the key. If several have it,
 * the error is reported at the body. */
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

/* Make room for the name of a body; new entries are NULL. Uids rise one by one, but those of a
 * start may begin anywhere. */
static cairn_status reserve_name(cairn_scene_build *b, uint64_t uid)
{
    if (uid < (uint64_t)b->name_room)
        return CAIRN_OK;
    if (uid >= INT32_MAX / 2)
        return cairn_scene_no_memory(b);
    size_t room = 2 * (size_t)uid + 16;
    const char **names = cairn_arena_take(b->arena, room, sizeof *names);
    if (!names)
        return cairn_scene_no_memory(b);
    for (size_t i = 0; i < room; i++)
        names[i] = i < (size_t)b->scene->body_count ? b->body_names[i] : NULL;
    b->name_room = (int)room;
    b->scene->body_names = b->body_names = names;
    return CAIRN_OK;
}

/* Bodies are created in the order of the file, before all generators, so their uids are 0, 1,
 * ... and index body_names; after a start they follow those of the state. A body of the state that
 * has the same name makes room for this one. */
static cairn_status make_body(cairn_scene_build *b, const cairn_yaml_node *node,
                              cairn_body_def *def)
{
    cairn_body_id id;
    const char *name;
    bool replaces;
    TRY(read_def(b, node, def));
    TRY(read_body_name(b, node, &name));
    if (name)
        TRY(cairn_scene_remove_named(b, name, &replaces));
    cairn_status status = cairn_body_create(b->scene->world, def, &id);
    const cairn_error *said = cairn_world_error(b->scene->world);
    TRY(cairn_scene_blame(b, status, concerned(node, said->key), said));
    TRY(reserve_name(b, id.uid));
    b->body_names[id.uid] = name;
    b->origins[b->origin_count++] = (cairn_scene_origin){ (int)id.uid, node };
    b->scene->body_count = (int)id.uid + 1;
    return CAIRN_OK;
}

/* The world keeps its own reference to the geometry; the reference that the reader took is
 * released here, whether or not the body was made. */
static cairn_status read_body(cairn_scene_build *b, const cairn_yaml_node *node)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_status status = make_body(b, node, &def);
    cairn_geometry_release(def.shape.geometry);
    return status;
}

/* ---- names that occur twice ---------------------------------------------------------------- */

/* Order by name, then by line, so that the later of two equal names follows the earlier one. */
static int by_name(const void *left, const void *right)
{
    const cairn_yaml_node *a = *(const cairn_yaml_node *const *)left;
    const cairn_yaml_node *b = *(const cairn_yaml_node *const *)right;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Refuse a name that two bodies share, at its first repetition in the file. All bodies exist by
 * now: their names have been checked one by one, so every name is a scalar. */
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

/* List the names in use, for messages; the list ends with NULL. */
cairn_status cairn_scene_list_names(cairn_scene_build *b)
{
    size_t count = 0, room = (size_t)b->scene->body_count + 1;
    b->named_bodies = cairn_arena_take(b->arena, room, sizeof *b->named_bodies);
    if (!b->named_bodies)
        return cairn_scene_no_memory(b);
    for (int i = 0; i < b->scene->body_count; i++)
        if (b->body_names[i])
            b->named_bodies[count++] = b->body_names[i];
    b->named_bodies[count] = NULL;
    return CAIRN_OK;
}

/* Bodies without a name have NULL in body_names. */
cairn_status cairn_scene_read_bodies(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "bodies");
    if (!list)
        return cairn_scene_list_names(b); /* a start may have some */
    TRY(cairn_scene_check_list(b, list, "bodies"));
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_body(b, n));
    TRY(refuse_same_names(b, list));
    return cairn_scene_list_names(b);
}

/* The body with the name in `node`. */
cairn_status cairn_scene_read_body(cairn_scene_build *b, const cairn_yaml_node *node,
                                   cairn_body_id *out)
{
    static const char *const none[] = { NULL };
    const char *name;
    TRY(cairn_scene_read_name(b, node, &name));
    for (int i = 0; i < b->scene->body_count; i++) {
        if (b->body_names[i] && strcmp(b->body_names[i], name) == 0) {
            out->uid = (uint64_t)i;
            return CAIRN_OK;
        }
    }
    return cairn_scene_fail_word(b, node, false, "body", b->named_bodies ? b->named_bodies : none);
}

/* ---- groups driven as one ------------------------------------------------------------------- */

/* All bodies of a group get the same drivers with the same point, and so keep their places relative
 * to each other. */

/* The position of the first body is the point of drivers that give none. */
static void set_points(cairn_scene_build *b, cairn_body_id first, cairn_body_def *group)
{
    const cairn_bodies bodies = cairn_world_bodies(b->scene->world);
    cairn_driver *drivers = (cairn_driver *)group->drivers; /* of the arena: read_drivers */
    for (int k = 0; k < group->driver_count; k++)
        if (!isfinite(drivers[k].point.x))
            drivers[k].point = bodies.x[cairn_body_row(b->scene->world, first)];
}

/* A body of a start has no drivers in the scene: a group replaces those of the state. */
static cairn_status read_group(cairn_scene_build *b, const cairn_yaml_node *node, uint8_t *seen)
{
    const cairn_scene_keys keys = cairn_scene_driven_group_keys();
    TRY(cairn_scene_check_keys(b, node, &keys));
    const cairn_yaml_node *list = cairn_yaml_find(node, "bodies");
    const cairn_yaml_node *drivers = cairn_yaml_find(node, "drivers");
    cairn_body_def group = cairn_body_def_default();
    TRY(cairn_scene_check_list(b, list, "names of bodies"));
    TRY(read_drivers(b, drivers, &group));
    for (const cairn_yaml_node *n = list->first; n; n = n->next) {
        cairn_body_id id = cairn_body_none();
        TRY(cairn_scene_read_body(b, n, &id));
        if (n == list->first)
            set_points(b, id, &group);
        if (seen[id.uid] || cairn_yaml_find(cairn_scene_origin_of(b, id), "drivers"))
            return cairn_yaml_fail(n, NULL, b->error, "'%s' has drivers already", n->text);
        seen[id.uid] = 1;
        cairn_status status =
            cairn_body_drive(b->scene->world, id, group.drivers, group.driver_count);
        cairn_error said = *cairn_world_error(b->scene->world);
        bool of_body = strcmp(said.key, "drivers") == 0;
        said.key[0] = of_body ? '\0' : said.key[0];
        TRY(cairn_scene_blame(b, status, of_body ? n : concerned(node, said.key), &said));
    }
    return CAIRN_OK;
}

cairn_status cairn_scene_read_driven_groups(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "drivers");
    size_t count = (size_t)b->scene->body_count;
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "groups of driven bodies"));
    uint8_t *seen = cairn_arena_take(b->arena, count + 1, 1);
    if (!seen)
        return cairn_scene_no_memory(b);
    memset(seen, 0, count + 1);
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_group(b, n, seen));
    return CAIRN_OK;
}

/* ---- joints ------------------------------------------------------------------------------ */

/* The joints of a scene: {kind: {a: name, b: name, ...}}, with a drive for each free coordinate.
 * Bodies are given by name; without b the joint connects a to the world. */

/* The body with the name in `node`; without a node no body, which stands for the world. */
static cairn_status read_side(cairn_scene_build *b, const cairn_yaml_node *node, cairn_body_id *out)
{
    *out = cairn_body_none();
    return node ? cairn_scene_read_body(b, node, out) : CAIRN_OK;
}

/* Limits, motor, friction and spring of one free coordinate; without a node there are none. */
static cairn_status read_drive(cairn_scene_build *b, const cairn_yaml_node *node,
                               cairn_joint_drive *out)
{
    const cairn_scene_keys keys = { .record = cairn_joint_drive_record() };
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_check_keys(b, node, &keys));
    return cairn_scene_read_record(b, node, keys.record, out);
}

/* The node that an error about `key` refers to: the drive that has the key, or else the joint. */
static const cairn_yaml_node *drive_or_joint(const cairn_yaml_node *joint, const char *key)
{
    static const char *const drives[] = { "turn", "slide" };
    for (int i = 0; i < 2; i++) {
        const cairn_yaml_node *drive = cairn_yaml_find(joint, drives[i]);
        if (drive && drive->kind == CAIRN_YAML_MAPPING && !cairn_yaml_find(joint, key) &&
            cairn_yaml_find(drive, key))
            return drive;
    }
    return joint;
}

/* The name by which series find the joint; without one it gets "". */
static cairn_status read_joint_name(cairn_scene_build *b, const cairn_yaml_node *options,
                                    const char **out)
{
    const cairn_yaml_node *node = cairn_yaml_find(options, "name");
    *out = "";
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_read_name(b, node, out));
    for (int i = 0; b->joint_names[i]; i++)
        if (strcmp(b->joint_names[i], *out) == 0)
            return cairn_yaml_fail(node, NULL, b->error, "the name '%s' is given twice", *out);
    return CAIRN_OK;
}

static cairn_status read_joint(cairn_scene_build *b, const cairn_yaml_node *node, const char **name)
{
    int kind;
    const cairn_yaml_node *options;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_joints, &kind, &options));
    const cairn_scene_keys keys = cairn_scene_joint_keys(kind);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = (cairn_joint_kind)kind;
    if (b->dimension == 2) /* 2D joints turn about z, so the default axis, that of sliding, is x */
        def.axis = (cairn_vec3){ 1, 0, 0 };
    TRY(cairn_scene_check_keys(b, options, &keys));
    TRY(cairn_scene_read_record(b, options, keys.record, &def));
    TRY(read_joint_name(b, options, name));
    TRY(read_side(b, cairn_yaml_find(options, "a"), &def.a));
    TRY(read_side(b, cairn_yaml_find(options, "b"), &def.b));
    TRY(read_drive(b, cairn_yaml_find(options, "turn"), &def.turn));
    b->part = 1;
    TRY(read_drive(b, cairn_yaml_find(options, "slide"), &def.slide));
    b->part = 0;
    cairn_joint_id id;
    cairn_status status = cairn_joint_create(b->scene->world, &def, &id);
    cairn_error said = *cairn_world_error(b->scene->world);
    if (strcmp(said.key, "kind") == 0) /* in a scene the kind is itself the key */
        said.key[0] = '\0';
    TRY(cairn_scene_blame(b, status, drive_or_joint(options, said.key), &said));
    return cairn_scene_vary(b, (const cairn_varied[]){ CAIRN_VARIED_TURN, CAIRN_VARIED_SLIDE },
                            id.index);
}

cairn_status cairn_scene_read_joints(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "joints");
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "joints"));
    b->joint_names =
        cairn_arena_take(&b->tree.arena, (size_t)list->count + 1, sizeof *b->joint_names);
    if (!b->joint_names)
        return cairn_scene_no_memory(b);
    memset(b->joint_names, 0, ((size_t)list->count + 1) * sizeof *b->joint_names);
    b->first_joint = cairn_world_joint_count(b->scene->world);
    int count = 0;
    for (const cairn_yaml_node *n = list->first; n; n = n->next) {
        const char *name;
        TRY(read_joint(b, n, &name));
        b->joint_names[count++] = name;
    }
    return CAIRN_OK;
}
