/* inside_box.c - the inside of a box (2D: of a rectangle) about the body's origin, with its axes:
 * things stay within. */
#include "shape/shape.h"

static cairn_status check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    return cairn_shape_check_lengths(shape->size, dimension, "size", error);
}

static const cairn_option options[] = {
    { "size", CAIRN_OPTION_VECTOR, true, offsetof(cairn_shape, size), 0, 1e12, "m",
      "full inner lengths along x, y, z (2D: x, y)", NULL },
};

const cairn_shape_class cairn_shape_class_inside_box = {
    .record = { "inside_box", "inside of a box (2D: rectangle) about the body's position",
                sizeof(cairn_shape), cairn_shape_set_default, options, 1 },
    .check = check,
};
