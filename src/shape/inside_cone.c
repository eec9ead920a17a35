/* inside_cone.c - the inside of an infinite cone (2D: of a wedge), apex at the body's origin. */
#include "shape/shape.h"

static const cairn_option options[] = {
    { "half_angle", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, half_angle), CAIRN_POSITIVE,
      1.5707, "rad", "angle between axis and wall", NULL },
    CAIRN_SHAPE_AXIS("from the apex to the opening, in the body frame; default +z, in 2D +y"),
};

const cairn_shape_class cairn_shape_class_inside_cone = {
    .record = { "inside_cone",
                "inside of an infinite cone (2D: wedge), apex at the body's position",
                sizeof(cairn_shape), cairn_shape_set_default, options, 2 },
    .has_axis = true,
};
