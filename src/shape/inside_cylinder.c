/* inside_cylinder.c - the inside of an infinite cylinder (2D: of a circle): things stay within. */
#include "shape/shape.h"

static const cairn_option options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), CAIRN_POSITIVE, 1e12, "m",
      "inner radius", NULL },
    CAIRN_SHAPE_AXIS("direction of the axis, in the body frame; default +z"),
};

const cairn_shape_class cairn_shape_class_inside_cylinder = {
    .record = { "inside_cylinder", "inside of an infinite cylinder (2D: of a circle)",
                sizeof(cairn_shape), cairn_shape_set_default, options, 2 },
    .has_axis = true,
};
