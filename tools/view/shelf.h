/* shelf.h - the bodies of a run as shapes, read back from its file. */
#ifndef CAIRN_VIEW_SHELF_H
#define CAIRN_VIEW_SHELF_H

#include "cairn/cairn.h"

/* Zero is valid: empty. */
typedef struct cairn_view_shelf {
    int dimension;
    int count;           /* bodies, rows of /bodies                          */
    cairn_shape *shapes; /* of each; they hold geometries of the shelf       */
    cairn_pose *poses;   /* of each shape in its body                        */
    const cairn_geometry **geometries;
    int geometry_count;
} cairn_view_shelf;

/* Read all bodies. Containers have no geometry. */
cairn_status cairn_view_shelf_fill(cairn_recording *run, int dimension, cairn_view_shelf *out,
                                   cairn_error *error);
/* Whether a shape can be drawn; containers, and shapes without their geometry, cannot. */
bool cairn_view_is_drawn(const cairn_shape *shape);

/* The pose of a shape in space: that of its body, after its own in the body. */
cairn_pose cairn_view_pose(const cairn_pose *body, const cairn_pose *own);

void cairn_view_shelf_clear(cairn_view_shelf *shelf);

#endif
