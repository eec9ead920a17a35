/* scene_overlap.c - a scene may start with bodies a little inside each other (run.start_overlap);
 * the steps move them apart. Deeper overlaps are refused by name. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "io/scene_build.h"

static const cairn_yaml_node *node_of(const cairn_scene_build *b, int uid)
{
    int i = b->origin_count - 1;
    while (i > 0 && b->origins[i].first > uid)
        i--;
    return i >= 0 ? b->origins[i].node : b->tree.root;
}

/* "'ball'", "body 3", "body 17 (made by generators.0.grid)" */
static void describe(const cairn_scene_build *b, int uid, char *text, size_t capacity)
{
    char path[96];
    if (uid < b->scene->body_count && b->body_names[uid]) {
        snprintf(text, capacity, "'%s'", b->body_names[uid]);
    } else if (uid < b->scene->body_count) {
        snprintf(text, capacity, "body %d", uid);
    } else {
        cairn_yaml_path(node_of(b, uid), path, sizeof path);
        snprintf(text, capacity, "body %d (made by %s)", uid, path);
    }
}

static cairn_status refuse(const cairn_scene_build *b, int one, int other, double depth)
{
    char earlier[160], later[160];
    int low = one < other ? one : other, high = one < other ? other : one;
    describe(b, low, earlier, sizeof earlier);
    describe(b, high, later, sizeof later);
    return cairn_yaml_fail(node_of(b, high), NULL, b->error,
                           "%s and %s overlap by %g m at the start, expected at most "
                           "run.start_overlap = %g of the smaller radius",
                           later, earlier, depth, b->scene->run.start_overlap);
}

cairn_status cairn_scene_check_overlap(cairn_scene_build *b)
{
    double share, depth;
    cairn_body_id one = { 0 }, other = { 0 };
    cairn_world *world = b->scene->world;
    cairn_status status = cairn_world_overlap_share(world, &share, &depth, &one, &other);
    cairn_error said = *cairn_world_error(world);
    cairn_scene_name_bodies(b->scene, cairn_world_error(world)->message, said.message,
                            sizeof said.message);
    TRY(cairn_scene_blame(b, status, b->tree.root, &said));
    b->scene->overlap = share;
    if (!(share > b->scene->run.start_overlap))
        return CAIRN_OK;
    return refuse(b, (int)one.uid, (int)other.uid, depth);
}
