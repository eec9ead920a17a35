/* shape.h - what the rest needs to know of a shape kind. One file per kind; shape.c lists them. */
#ifndef CAIRN_SHAPE_SHAPE_H
#define CAIRN_SHAPE_SHAPE_H

#include "cairn/world.h"

typedef struct cairn_shape_class {
    cairn_record record;
    /* Refuse impossible values beyond the ranges of the table; NULL: nothing more to check. */
    cairn_status (*check)(const cairn_shape *shape, int dimension, cairn_error *error);
    /* Mass and principal inertia at density 1; NULL: the shape has no finite volume. */
    void (*mass)(const cairn_shape *shape, int dimension, double *mass, cairn_vec3 *inertia);
    bool bounded; /* fits in a ball about the body's origin of radius cairn_shape_extent */
} cairn_shape_class;

extern const cairn_shape_class cairn_shape_class_sphere;
extern const cairn_shape_class cairn_shape_class_point;
extern const cairn_shape_class cairn_shape_class_half_space;
extern const cairn_shape_class cairn_shape_class_inside_cylinder;
extern const cairn_shape_class cairn_shape_class_inside_cone;
extern const cairn_shape_class cairn_shape_class_funnel;

/* The class of a shape. */
const cairn_shape_class *cairn_shape_class_of(const cairn_shape *shape);
/* Ranges and meaning of a shape's values; the axis must not be zero. */
cairn_status cairn_shape_check(const cairn_shape *shape, int dimension, cairn_error *error);
/* Radius about the body's origin that holds the shape, m; infinite for unbounded shapes. */
double cairn_shape_extent(const cairn_shape *shape);

/* Table lines that several kinds share. */
#define CAIRN_SHAPE_FIELD(name) offsetof(cairn_shape, name)
#define CAIRN_SHAPE_AXIS(text)                                                                     \
    {                                                                                              \
        "axis", CAIRN_OPTION_VECTOR, false, CAIRN_SHAPE_FIELD(axis), -CAIRN_UNBOUNDED,             \
            CAIRN_UNBOUNDED, "", text, NULL                                                        \
    }

/* set_default of every kind */
void cairn_shape_set_default(void *shape);

#endif
