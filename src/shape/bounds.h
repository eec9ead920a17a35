/* bounds.h - boxes along the axes of space about placed shapes. */
#ifndef CAIRN_SHAPE_BOUNDS_H
#define CAIRN_SHAPE_BOUNDS_H

#include "shape/mesh_tree.h"
#include "shape/shape.h"

/* A box along the axes. */
typedef struct cairn_box {
    cairn_vec3 centre, half; /* m: middle and half lengths */
} cairn_box;

/* The box about a bounded shape at a pose: the smallest one for convex shapes, that of the turned
 * box of the parts or triangles for the others. */
cairn_box cairn_shape_box(const cairn_shape *shape, const cairn_pose *pose);
/* The box in the inner frame of a pose that holds a box of the outer frame. */
cairn_bounds cairn_box_inside(const cairn_box *box, const cairn_pose *pose);

#endif
