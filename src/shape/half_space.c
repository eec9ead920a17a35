/* half_space.c - everything below a plane (2D: a line) through the body's origin is solid. */
#include "shape/shape.h"

static const cairn_option options[] = {
    CAIRN_SHAPE_AXIS("outward normal, in the body frame; default +z, in 2D +y"),
};

const cairn_shape_class cairn_shape_class_half_space = {
    .record = { "half_space", "solid below a plane (2D: line) through the body's position",
                sizeof(cairn_shape), cairn_shape_set_default, options, 1 },
    .has_axis = true,
};
