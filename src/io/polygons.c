/* polygons.c - see polygons.h. */
#include "io/polygons.h"

#include "base/memory.h"
#include "base/status.h"

void cairn_polygons_clear(cairn_polygons *p)
{
    p->points = p->corners = p->cells = 0;
}

void cairn_polygons_destroy(cairn_polygons *p)
{
    cairn_memory_free(p->x);
    cairn_memory_free(p->connectivity);
    cairn_memory_free(p->offsets);
    cairn_memory_free(p->body);
    *p = (cairn_polygons){ 0 };
}

static cairn_status make_room(cairn_polygons *p, size_t count)
{
    void *x = p->x, *connectivity = p->connectivity, *offsets = p->offsets, *bodies = p->body;
    cairn_status status = cairn_memory_reserve(&x, &p->x_room, p->points + count, sizeof *p->x);
    p->x = x;
    TRY(status);
    status = cairn_memory_reserve(&connectivity, &p->connectivity_room, p->corners + count,
                                  sizeof *p->connectivity);
    p->connectivity = connectivity;
    TRY(status);
    status = cairn_memory_reserve(&offsets, &p->offsets_room, p->cells + 1, sizeof *p->offsets);
    p->offsets = offsets;
    TRY(status);
    status = cairn_memory_reserve(&bodies, &p->body_room, p->cells + 1, sizeof *p->body);
    p->body = bodies;
    return status;
}

cairn_status cairn_polygons_add(cairn_polygons *p, const cairn_vec3 *corners, size_t count,
                                int32_t body)
{
    TRY(make_room(p, count));
    for (size_t i = 0; i < count; i++) {
        p->connectivity[p->corners++] = (int64_t)p->points;
        p->x[p->points++] = corners[i];
    }
    p->offsets[p->cells] = (int64_t)p->corners;
    p->body[p->cells++] = body;
    return CAIRN_OK;
}

/* ---- bodies --------------------------------------------------------------------------------- */

typedef struct target {
    cairn_polygons *polygons;
    int32_t body;
    bool outlined;
} target;

/* A closed outline names its first corner once more at its end. */
static cairn_status add(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    const target *t = context;
    cairn_polygons *p = t->polygons;
    size_t first = p->corners;
    TRY(cairn_polygons_add(p, corners, (size_t)count, t->body));
    if (!t->outlined || !closed)
        return CAIRN_OK;
    TRY(make_room(p, 1));
    p->connectivity[p->corners++] = p->connectivity[first];
    p->offsets[p->cells - 1] = (int64_t)p->corners;
    return CAIRN_OK;
}

cairn_status cairn_polygons_add_body(cairn_polygons *polygons, const cairn_bodies *bodies,
                                     int index, const cairn_polygons_of *how)
{
    target t = { polygons, how->body, how->outlined };
    cairn_pose pose = cairn_bodies_shape_pose(bodies, index);
    return cairn_shape_draw(cairn_bodies_shape(bodies, index), how->dimension, &pose, add, &t);
}
