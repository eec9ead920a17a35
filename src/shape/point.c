/* point.c - a particle without size: it has a mass (which must be given) and does not turn. Its
 * core, the origin, is also that of a sphere. */
#include "math/vec.h"
#include "shape/shape.h"

cairn_vec3 cairn_point_support(const cairn_shape *shape, cairn_vec3 direction)
{
    (void)shape;
    (void)direction;
    return cairn_vec(0, 0, 0);
}

void cairn_point_face(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out)
{
    (void)shape;
    cairn_face_of_point(cairn_vec(0, 0, 0), direction, out);
}

cairn_vec3 cairn_point_normal_at(const cairn_shape *shape, cairn_vec3 point)
{
    (void)shape;
    return cairn_unit(point);
}

void cairn_point_curvature(const cairn_shape *shape, cairn_vec3 direction, cairn_symmetric *out)
{
    (void)shape;
    (void)direction;
    *out = (cairn_symmetric){ 0 };
}

static double no_extent(const cairn_shape *shape)
{
    (void)shape;
    return 0;
}

const cairn_shape_class cairn_shape_class_point = {
    .record = { "point", "particle without size; its mass must be given", sizeof(cairn_shape),
                cairn_shape_set_default, NULL, 0 },
    .extent = no_extent,
    .support = cairn_point_support,
    .face = cairn_point_face,
    .normal_at = cairn_point_normal_at,
    .curvature = cairn_point_curvature,
    .smooth = true,
};
