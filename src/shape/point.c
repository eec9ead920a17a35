/* point.c - a particle without size: it has a mass (which must be given) and does not turn. */
#include "shape/shape.h"

const cairn_shape_class cairn_shape_class_point = {
    .record = { "point", "particle without size; its mass must be given", sizeof(cairn_shape),
                cairn_shape_set_default, NULL, 0 },
    .bounded = true,
};
