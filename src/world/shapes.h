/* shapes.h - the shapes of a world, each once: bodies name them by id. */
#ifndef CAIRN_WORLD_SHAPES_H
#define CAIRN_WORLD_SHAPES_H

#include "base/directory.h"
#include "cairn/shape.h"

/* A table. Equal shapes share an entry; one that nobody uses any more is given to the next shape
 * that comes. Zero is an empty one. */
typedef struct cairn_shape_table {
    cairn_shape *items; /* by id                                                  */
    int32_t *users;     /* of each; 0: the entry is free                          */
    int32_t *next_free; /* of each that is free: the next one; -1: there is none  */
    size_t capacity;
    int count;             /* entries                                                */
    int free;              /* the first that is free; -1: none                       */
    cairn_directory known; /* ids by a number made from what a shape is               */
} cairn_shape_table;

/* Room for one more shape. */
cairn_status cairn_shapes_reserve(cairn_shape_table *table, size_t count);
void cairn_shapes_release(cairn_shape_table *table);
/* The id of a shape, for which there is room; one more uses it, and it holds its geometry. */
int32_t cairn_shapes_use(cairn_shape_table *table, const cairn_shape *shape);
/* One fewer uses it. */
void cairn_shapes_leave(cairn_shape_table *table, int32_t id);
/* A table whose entries were filled by hand, each with a hold on its geometry: count who uses them,
 * and let go of those that nobody does. */
void cairn_shapes_count(cairn_shape_table *table, const int32_t *ids, int count);
/* Bytes that a table takes. */
size_t cairn_shapes_bytes(const cairn_shape_table *table);

#endif
