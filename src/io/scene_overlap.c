/* scene_overlap.c - a scene must not start with bodies inside each other. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "io/scene_build.h"

/* Allowed depth as a share of the smaller radius: what rounding leaves of bodies that touch. */
#define ALLOWED_SHARE 1e-6
/* The same in m where neither body has a radius. */
#define ALLOWED_DEPTH 1e-9

static double allowed_depth(const cairn_bodies *bodies, cairn_body_id a, cairn_body_id b)
{
    double one = bodies->shape[a.index].radius, other = bodies->shape[b.index].radius;
    double smaller = one > 0 && (one < other || !(other > 0)) ? one : other;
    return smaller > 0 ? ALLOWED_SHARE * smaller : ALLOWED_DEPTH;
}

static const cairn_yaml_node *node_of(const cairn_scene_build *b, int index)
{
    int i = b->origin_count - 1;
    while (i > 0 && b->origins[i].first > index)
        i--;
    return i >= 0 ? b->origins[i].node : b->tree.root;
}

/* "'ball'", "body 3", "body 17 (made by generators.0.grid)" */
static void describe(const cairn_scene_build *b, int index, char *text, size_t capacity)
{
    char path[96];
    if (index < b->scene->body_count && b->body_names[index]) {
        snprintf(text, capacity, "'%s'", b->body_names[index]);
    } else if (index < b->scene->body_count) {
        snprintf(text, capacity, "body %d", index);
    } else {
        cairn_yaml_path(node_of(b, index), path, sizeof path);
        snprintf(text, capacity, "body %d (made by %s)", index, path);
    }
}

cairn_status cairn_scene_check_overlap(cairn_scene_build *b)
{
    double depth;
    cairn_body_id one = { 0, 0 }, other = { 0, 0 };
    cairn_world *world = b->scene->world;
    cairn_status status = cairn_world_overlap(world, &depth, &one, &other);
    TRY(cairn_scene_blame(b, status, b->tree.root, cairn_world_error(world)));
    const cairn_bodies bodies = cairn_world_bodies(world);
    if (!(depth > 0) || depth <= allowed_depth(&bodies, one, other))
        return CAIRN_OK;
    char earlier[160], later[160];
    int low = one.index < other.index ? one.index : other.index;
    int high = one.index < other.index ? other.index : one.index;
    describe(b, low, earlier, sizeof earlier);
    describe(b, high, later, sizeof later);
    return cairn_yaml_fail(node_of(b, high), NULL, b->error,
                           "%s and %s overlap by %g m, expected bodies that do not overlap at the "
                           "start",
                           later, earlier, depth);
}
