/* cone.c - a solid cone, 3D only. Its origin is the centre of mass, on the axis, h/4 above the
 * base; the axis runs from the base to the apex.
 * m = pi r^2 h rho/3, J = 3/10 m r^2 about the axis, m (3/20 r^2 + 3/80 h^2) across.
 * Features: face 0 the base, 1 the side. Vertices 0..7 the rim of the base at eight fixed angles,
 * 16 the apex and 17 the foot of the generator asked for. */
#include <math.h>

#include "math/vec.h"
#include "shape/shape.h"

static bool cone_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    (void)dimension;
    double r = shape->radius, h = shape->height, volume = M_PI * r * r * h / 3;
    double across = volume * 3 * r * r / 20;
    const cairn_moments upright =
        cairn_moments_symmetric(volume, across, across, volume * 3 * h * h / 80);
    *out = cairn_moments_about_axis(&upright, cairn_unit(shape->axis));
    return true;
}

static double extent(const cairn_shape *shape)
{
    return fmax(0.75 * shape->height, hypot(shape->radius, 0.25 * shape->height));
}

static cairn_vec3 foot(const cairn_shape *shape, cairn_vec3 axis, cairn_vec3 out)
{
    return cairn_add_scaled(cairn_scale(-0.25 * shape->height, axis), shape->radius, out);
}

/* The apex wins when h d_z > r |d_radial|. */
static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis);
    cairn_vec3 radial = cairn_add_scaled(d, -z, axis);
    if (shape->height * z > shape->radius * cairn_norm(radial))
        return cairn_scale(0.75 * shape->height, axis);
    return foot(shape, axis, cairn_radial(d, axis));
}

static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis), r = shape->radius, h = shape->height, slant = hypot(r, h);
    cairn_vec3 radial = cairn_add_scaled(d, -z, axis);
    /* the side's normal is (h out + r axis)/slant */
    if (-z >= (h * cairn_norm(radial) + r * z) / slant) {
        const cairn_disk base = { .centre = cairn_scale(-0.25 * h, axis),
                                  .normal = cairn_scale(-1, axis),
                                  .axis = axis,
                                  .radius = r };
        cairn_face_of_disk(&base, out);
        return;
    }
    cairn_vec3 away = cairn_radial(d, axis);
    if (!(cairn_norm(away) > 0))
        away = cairn_perpendicular(axis);
    *out = (cairn_face){
        .count = 2,
        .id = 1,
        .normal = cairn_add_scaled(cairn_scale(h / slant, away), r / slant, axis),
        .point = { cairn_scale(0.75 * h, axis), foot(shape, axis, away) },
        .vertex = { 16, 17 },
    };
}

static const cairn_option options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), CAIRN_POSITIVE, 1e12, "m",
      "radius of the base", NULL },
    { "height", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, height), CAIRN_POSITIVE, 1e12, "m",
      "from base to apex; the origin is a quarter of it above the base", NULL },
    CAIRN_SHAPE_AXIS("from base to apex, in the shape frame; default +z"),
};

const cairn_shape_class cairn_shape_class_cone = {
    .record = { "cone", "solid cone, 3D only; its origin is the centre of mass",
                sizeof(cairn_shape), cairn_shape_set_default, options, 3 },
    .moments = cone_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .has_axis = true,
    .only_in = 3,
};
