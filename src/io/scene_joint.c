/* scene_joint.c - the joints of a scene: {kind: {a: name, b: name, ...}}, with a drive for each
 * free coordinate. Bodies are named; without b the joint holds a to the world. */
#include <string.h>

#include "base/status.h"
#include "cairn/joint.h"
#include "io/scene_build.h"

static cairn_status read_side(cairn_scene_build *b, const cairn_yaml_node *node, cairn_body_id *out)
{
    const char *name;
    *out = cairn_body_none();
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_read_name(b, node, &name));
    for (int i = 0; i < b->scene->body_count; i++) {
        if (b->body_names[i] && strcmp(b->body_names[i], name) == 0) {
            out->uid = (uint64_t)i;
            return CAIRN_OK;
        }
    }
    return cairn_scene_fail_word(b, node, false, "body", b->named_bodies);
}

static cairn_status read_drive(cairn_scene_build *b, const cairn_yaml_node *node,
                               cairn_joint_drive *out)
{
    const cairn_scene_keys keys = { .record = cairn_joint_drive_record() };
    if (!node)
        return CAIRN_OK;
    TRY(cairn_scene_check_keys(b, node, &keys));
    return cairn_scene_read_record(b, node, keys.record, out);
}

/* The part of a joint that a complaint about `key` concerns. */
static const cairn_yaml_node *concerned(const cairn_yaml_node *joint, const char *key)
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

static cairn_status read_joint(cairn_scene_build *b, const cairn_yaml_node *node)
{
    int kind;
    const cairn_yaml_node *options;
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_joints, &kind, &options));
    const cairn_scene_keys keys = cairn_scene_joint_keys(kind);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = (cairn_joint_kind)kind;
    if (b->dimension == 2) /* turns about z; slides along x */
        def.axis = (cairn_vec3){ 1, 0, 0 };
    TRY(cairn_scene_check_keys(b, options, &keys));
    TRY(cairn_scene_read_record(b, options, keys.record, &def));
    TRY(read_side(b, cairn_yaml_find(options, "a"), &def.a));
    TRY(read_side(b, cairn_yaml_find(options, "b"), &def.b));
    TRY(read_drive(b, cairn_yaml_find(options, "turn"), &def.turn));
    TRY(read_drive(b, cairn_yaml_find(options, "slide"), &def.slide));
    cairn_status status = cairn_joint_create(b->scene->world, &def, NULL);
    cairn_error said = *cairn_world_error(b->scene->world);
    if (strcmp(said.key, "kind") == 0) /* in a scene the kind is itself the key */
        said.key[0] = '\0';
    return cairn_scene_blame(b, status, concerned(options, said.key), &said);
}

/* The names that bodies have, for complaints; ends with NULL. */
static cairn_status list_names(cairn_scene_build *b)
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

cairn_status cairn_scene_read_joints(cairn_scene_build *b)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, "joints");
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "joints"));
    TRY(list_names(b));
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(read_joint(b, n));
    return CAIRN_OK;
}
