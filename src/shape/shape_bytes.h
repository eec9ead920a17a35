/* shape_bytes.h - shapes with their shared data to bytes and back, to the last bit. */
#ifndef CAIRN_SHAPE_SHAPE_BYTES_H
#define CAIRN_SHAPE_SHAPE_BYTES_H

#include "base/bytes.h"
#include "cairn/shape.h"

/* Shapes that stand `stride` bytes apart: those of bodies, or of the parts of a compound. */
typedef struct cairn_shape_list {
    cairn_shape *first;
    size_t stride;
    int count, dimension;
    bool parts; /* of a compound: no compounds among them */
} cairn_shape_list;

/* Data that several shapes of the list share are written once. */
void cairn_shapes_write(cairn_writer *w, const cairn_shape_list *list);
/* Into shapes that are zero: each gets a hold on its data. Data are kept as vertices, faces and
 * parts, and all that follows from them is computed again. Fails with CAIRN_BAD_INPUT when the
 * bytes make no sense, CAIRN_NO_MEMORY; what was read until then is held all the same. */
cairn_status cairn_shapes_read(cairn_reader *r, const cairn_shape_list *list, cairn_error *error);

#endif
