/* cylinder.c - a solid cylinder about the origin, 3D only.
 * m = pi r^2 h rho, J = m r^2/2 about the axis, m (3 r^2 + h^2)/12 across.
 * Features: face 0 the upper cap, 1 the lower, 2 the side. Rim points stand at eight fixed angles,
 * vertices 0..7 above and 8..15 below; 16 and 17 are the ends of the generator asked for. */
#include <math.h>

#include "math/vec.h"
#include "shape/shape.h"

static bool cylinder_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    (void)dimension;
    double r = shape->radius, h = shape->height, volume = M_PI * r * r * h;
    const cairn_moments upright = cairn_moments_symmetric(volume, volume * r * r / 4,
                                                          volume * r * r / 4, volume * h * h / 12);
    *out = cairn_moments_about_axis(&upright, cairn_unit(shape->axis));
    return true;
}

static double extent(const cairn_shape *shape)
{
    return hypot(shape->radius, 0.5 * shape->height);
}

static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis);
    cairn_vec3 out = cairn_radial(d, axis);
    return cairn_add_scaled(cairn_scale((z > 0 ? 0.5 : -0.5) * shape->height, axis), shape->radius,
                            out);
}

static void side(const cairn_shape *shape, cairn_vec3 axis, cairn_vec3 out, cairn_face *face)
{
    cairn_vec3 foot = cairn_scale(shape->radius, out);
    *face = (cairn_face){ .count = 2, .id = 2, .normal = out };
    for (int k = 0; k < 2; k++) {
        face->point[k] = cairn_add_scaled(foot, (k == 0 ? 0.5 : -0.5) * shape->height, axis);
        face->vertex[k] = 16 + k;
    }
}

static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis);
    cairn_vec3 radial = cairn_add_scaled(d, -z, axis);
    if (cairn_norm(radial) > fabs(z)) {
        side(shape, axis, cairn_radial(d, axis), out);
        return;
    }
    const cairn_disk cap = { .centre = cairn_scale((z > 0 ? 0.5 : -0.5) * shape->height, axis),
                             .normal = cairn_scale(z > 0 ? 1 : -1, axis),
                             .axis = axis,
                             .radius = shape->radius };
    cairn_face_of_disk(&cap, out);
    out->id = z > 0 ? 0 : 1;
    for (int k = 0; k < out->count && z <= 0; k++)
        out->vertex[k] += 8;
}

static const cairn_option options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), CAIRN_POSITIVE, 1e12, "m",
      "radius", NULL },
    { "height", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, height), CAIRN_POSITIVE, 1e12, "m",
      "length along the axis", NULL },
    CAIRN_SHAPE_AXIS("direction of the axis, in the shape frame; default +z"),
};

const cairn_shape_class cairn_shape_class_cylinder = {
    .record = { "cylinder", "solid cylinder, 3D only", sizeof(cairn_shape), cairn_shape_set_default,
                options, 3 },
    .moments = cylinder_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .has_axis = true,
    .only_in = 3,
};
