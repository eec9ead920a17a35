/* run_solids.c - see run_solids.h. */
#include "io/run_solids.h"

#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* All that follows the kind is numbers and a pointer, without gaps. */
static bool is_same(const cairn_shape *a, const cairn_shape *b)
{
    const size_t first = offsetof(cairn_shape, radius);
    return a->kind == b->kind &&
           memcmp((const char *)a + first, (const char *)b + first, sizeof *a - first) == 0;
}

typedef struct target {
    cairn_polygons *mesh;
    int32_t number;
} target;

static cairn_status add(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    const target *t = context;
    (void)closed;
    return cairn_polygons_add(t->mesh, corners, (size_t)count, t->number);
}

cairn_status cairn_run_solids_find(cairn_run_solids *s, const cairn_shape *shape, int dimension,
                                   int32_t *number)
{
    static const cairn_pose here = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
    /* bodies of one shape mostly come one after the other */
    for (size_t i = s->count; i > 0; i--)
        if (is_same(&s->shapes[i - 1], shape)) {
            *number = (int32_t)i - 1;
            return CAIRN_OK;
        }
    void *block = s->shapes;
    cairn_status status = cairn_memory_reserve(&block, &s->room, s->count + 1, sizeof *s->shapes);
    s->shapes = block;
    TRY(status);
    target t = { &s->mesh, (int32_t)s->count };
    TRY(cairn_shape_draw(shape, dimension, &here, add, &t));
    *number = (int32_t)s->count;
    s->shapes[s->count++] = *shape;
    return CAIRN_OK;
}

void cairn_run_solids_destroy(cairn_run_solids *s)
{
    cairn_memory_free(s->shapes);
    cairn_polygons_destroy(&s->mesh);
    *s = (cairn_run_solids){ .count = 0 };
}
