/* shape.c - the list of shape kinds, and what holds for all of them. */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"

static const cairn_shape_class *const classes[CAIRN_SHAPE_COUNT] = {
    [CAIRN_SHAPE_SPHERE] = &cairn_shape_class_sphere,
    [CAIRN_SHAPE_POINT] = &cairn_shape_class_point,
    [CAIRN_SHAPE_HALF_SPACE] = &cairn_shape_class_half_space,
    [CAIRN_SHAPE_INSIDE_CYLINDER] = &cairn_shape_class_inside_cylinder,
    [CAIRN_SHAPE_INSIDE_CONE] = &cairn_shape_class_inside_cone,
    [CAIRN_SHAPE_FUNNEL] = &cairn_shape_class_funnel,
};

const cairn_record *cairn_shape_record(int kind)
{
    return kind >= 0 && kind < CAIRN_SHAPE_COUNT ? &classes[kind]->record : NULL;
}

const cairn_shape_class *cairn_shape_class_of(const cairn_shape *shape)
{
    return classes[shape->kind];
}

void cairn_shape_set_default(void *shape)
{
    *(cairn_shape *)shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
}

cairn_shape cairn_shape_default(cairn_shape_kind kind, int dimension)
{
    bool in_plane = dimension == 2 && kind != CAIRN_SHAPE_INSIDE_CYLINDER;
    return (cairn_shape){ .kind = kind,
                          .axis = in_plane ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1) };
}

cairn_status cairn_shape_check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    if ((unsigned)shape->kind >= CAIRN_SHAPE_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "shape", "unknown shape kind %d",
                          (int)shape->kind);
    const cairn_shape_class *class = classes[shape->kind];
    TRY(cairn_record_check(&class->record, shape, error));
    bool flat = shape->kind == CAIRN_SHAPE_INSIDE_CYLINDER;
    if (!class->bounded) {
        if (!(cairn_norm(shape->axis) > 0))
            return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found zero, expected a direction");
        if (dimension == 2 && flat && (shape->axis.x != 0 || shape->axis.y != 0))
            return cairn_fail(error, CAIRN_BAD_INPUT, "axis",
                              "in 2D a cylinder is a circle: its axis can only be [0, 0, 1]");
        if (dimension == 2 && !flat && shape->axis.z != 0)
            return cairn_fail(error, CAIRN_BAD_INPUT, "axis",
                              "found z = %g, expected a direction in the plane", shape->axis.z);
    }
    return class->check ? class->check(shape, dimension, error) : CAIRN_OK;
}

double cairn_shape_extent(const cairn_shape *shape)
{
    if (shape->kind == CAIRN_SHAPE_SPHERE)
        return shape->radius;
    return classes[shape->kind]->bounded ? 0 : INFINITY;
}

cairn_status cairn_shape_mass(const cairn_shape *shape, int dimension, double density, double *mass,
                              cairn_vec3 *inertia)
{
    const cairn_shape_class *class = classes[shape->kind];
    *mass = 0;
    *inertia = cairn_vec(0, 0, 0);
    if (!class->mass)
        return CAIRN_UNSUPPORTED;
    class->mass(shape, dimension, mass, inertia);
    *mass *= density;
    *inertia = cairn_scale(density, *inertia);
    return CAIRN_OK;
}
