/* ellipsoid.c - an ellipsoid, in 2D an ellipse, with the axes of its frame.
 *
 * A = diag(a, b, c), in 2D c = 0.
 *   support point     p(d) = A^2 d/|A d|
 *   its derivative    dp/dd = (A^2 - p p')/|A d|
 *   normal at p       A^-2 p/|A^-2 p|
 *   m = 4/3 pi abc rho, J_x = m (b^2 + c^2)/5;  2D: m = pi ab rho, J = m (a^2 + b^2)/4 */
#include <math.h>

#include "math/vec.h"
#include "shape/shape.h"

static cairn_status check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    return cairn_shape_check_lengths(shape->semi_axes, dimension, "semi_axes", error);
}

static bool ellipsoid_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    double a = shape->semi_axes.x, b = shape->semi_axes.y, c = shape->semi_axes.z;
    double volume = dimension == 2 ? M_PI * a * b : 4.0 / 3 * M_PI * a * b * c;
    double part = volume / (dimension == 2 ? 4 : 5);
    *out = cairn_moments_symmetric(volume, part * a * a, part * b * b, part * c * c);
    return true;
}

static double extent(const cairn_shape *shape)
{
    return fmax(fmax(shape->semi_axes.x, shape->semi_axes.y), shape->semi_axes.z);
}

static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    cairn_vec3 ad = cairn_times(shape->semi_axes, d);
    return cairn_times(shape->semi_axes, cairn_unit(ad));
}

static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_face_of_point(support(shape, d), d, out);
}

static cairn_vec3 normal_at(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_vec3 a = shape->semi_axes;
    return cairn_unit(
        cairn_vec(p.x / (a.x * a.x), p.y / (a.y * a.y), a.z > 0 ? p.z / (a.z * a.z) : 0));
}

static void curvature(const cairn_shape *shape, cairn_vec3 d, cairn_symmetric *out)
{
    cairn_vec3 a = shape->semi_axes, p = support(shape, d);
    double s = 1 / cairn_norm(cairn_times(a, d));
    *out = (cairn_symmetric){ s * (a.x * a.x - p.x * p.x),
                              s * (a.y * a.y - p.y * p.y),
                              s * (a.z * a.z - p.z * p.z),
                              -s * p.x * p.y,
                              -s * p.y * p.z,
                              -s * p.z * p.x };
}

static const cairn_option options[] = {
    { "semi_axes", CAIRN_OPTION_VECTOR, true, offsetof(cairn_shape, semi_axes), 0, 1e12, "m",
      "half lengths along x, y, z (2D: x, y)", NULL },
};

const cairn_shape_class cairn_shape_class_ellipsoid = {
    .record = { "ellipsoid", "ellipsoid, in 2D an ellipse", sizeof(cairn_shape),
                cairn_shape_set_default, options, 1 },
    .check = check,
    .moments = ellipsoid_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .normal_at = normal_at,
    .curvature = curvature,
    .smooth = true,
};
