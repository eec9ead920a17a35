/* capsule.c - a ball (2D: a disk) swept along a segment about the origin.
 *
 * l the length of the straight part, r the radius, z along the axis:
 *   3D  V = pi r^2 l + 4/3 pi r^3
 *       int z^2 = pi r^2 l^3/12 + V_b (l/2)^2 + l pi r^4/2 + V_b r^2/5,  V_b = 4/3 pi r^3
 *       int x^2 = l pi r^4/4 + V_b r^2/5
 *   2D  A = 2 r l + pi r^2
 *       int y^2 = 2 r l^3/12 + A_d (l/2)^2 + l 4 r^3/3 + A_d r^2/4,      A_d = pi r^2
 *       int x^2 = l 2 r^3/3 + A_d r^2/4
 * In 2D the radius may be 0: a segment, without mass of its own. */
#include <math.h>

#include "base/common.h"
#include "math/vec.h"
#include "shape/shape.h"

static cairn_status check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    if (dimension == 3 && shape->radius == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "radius", "found 0, expected a number > 0 in m");
    if (shape->radius == 0 && shape->length == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "length",
                          "radius and length are 0, expected at least one > 0");
    return CAIRN_OK;
}

static bool capsule_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    double r = shape->radius, l = shape->length;
    bool flat = dimension == 2;
    double section = flat ? 2 * r : M_PI * r * r;
    double of_section = flat ? 2 * r * r * r / 3 : M_PI * r * r * r * r / 4;
    double ends = flat ? M_PI * r * r : 4.0 / 3 * M_PI * r * r * r;
    double of_ends = ends * r * r / (flat ? 4 : 5);
    double shift = flat ? 4 * r * r * r / 3 : M_PI * r * r * r * r / 2;
    double across = l * of_section + of_ends;
    /* the two halves of the ball: their centres are at +-l/2, int |s| over the ball = shift */
    double along = section * l * l * l / 12 + ends * l * l / 4 + l * shift + of_ends;
    const cairn_moments upright =
        cairn_moments_symmetric(section * l + ends, across, across, along);
    *out = cairn_moments_about_axis(&upright, cairn_unit(shape->axis));
    if (flat)
        out->second.zz = 0;
    return out->volume > 0;
}

static double extent(const cairn_shape *shape)
{
    return 0.5 * shape->length + shape->radius;
}

static cairn_vec3 end(const cairn_shape *shape, bool upper)
{
    return cairn_scale((upper ? 0.5 : -0.5) * shape->length, cairn_unit(shape->axis));
}

static bool corner(const cairn_shape *shape, int k, cairn_vec3 *out)
{
    *out = end(shape, k > 0);
    return k < (shape->length > 0 ? 2 : 1);
}

static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    return end(shape, cairn_dot(d, shape->axis) > 0);
}

/* The segment if the direction points to its side, else one end, which is a point. The limit is
 * 45 degrees. */
static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis);
    cairn_vec3 radial = cairn_add_scaled(d, -z, axis);
    if (shape->length == 0 || fabs(z) > cairn_norm(radial)) {
        cairn_face_of_point(end(shape, z > 0), d, out);
        out->id = out->vertex[0] = z > 0 ? 1 : 2;
        return;
    }
    *out = (cairn_face){ .count = 2, .normal = cairn_unit(radial) };
    /* in 2D counterclockwise, that is along z x normal */
    cairn_vec3 onward = cairn_vec(-out->normal.y, out->normal.x, 0);
    int upper_first = cairn_dot(onward, axis) < 0;
    for (int k = 0; k < 2; k++) {
        bool upper = k == 0 ? upper_first : !upper_first;
        out->point[k] = end(shape, upper);
        out->vertex[k] = upper ? 1 : 2;
    }
}

static double rounding(const cairn_shape *shape)
{
    return shape->radius;
}

static const cairn_option options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), 0, 1e12, "m",
      "radius of the swept ball; in 2D 0 makes a segment", NULL },
    { "length", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, length), 0, 1e12, "m",
      "length of the straight part", NULL },
    CAIRN_SHAPE_AXIS("direction of the straight part, in the shape frame; default +z, in 2D +y"),
};

const cairn_shape_class cairn_shape_class_capsule = {
    .record = { "capsule", "ball (2D: disk) swept along a segment; in 2D also a segment",
                sizeof(cairn_shape), cairn_shape_set_default, options, 3 },
    .check = check,
    .moments = capsule_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .corner = corner,
    .rounding = rounding,
    .has_axis = true,
};
