/* funnel.c - a thin wall with the form of a truncated cone, open at both ends; things may touch
 * it from inside and from outside, and its two edges. Equal radii make a tube. */
#include "base/status.h"
#include "shape/shape.h"

static cairn_status check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    (void)dimension;
    if (shape->bottom_radius == 0 && shape->top_radius == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "top_radius",
                          "both radii are 0, expected at least one > 0");
    return CAIRN_OK;
}

static const cairn_option options[] = {
    { "bottom_radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, bottom_radius), 0, 1e12, "m",
      "radius of the opening at the body's position", NULL },
    { "top_radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, top_radius), 0, 1e12, "m",
      "radius of the opening at the other end", NULL },
    { "height", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, height), CAIRN_POSITIVE, 1e12, "m",
      "distance between the openings along the axis", NULL },
    CAIRN_SHAPE_AXIS("from bottom to top, in the body frame; default +z, in 2D +y"),
};

const cairn_shape_class cairn_shape_class_funnel = {
    .record = { "funnel", "thin wall of a truncated cone or tube, open at both ends",
                sizeof(cairn_shape), cairn_shape_set_default, options, 4 },
    .check = check,
    .has_axis = true,
};
