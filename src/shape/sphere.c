/* sphere.c - balls (in 2D disks), and points: cores of one point. */
#include <math.h>

#include "math/vec.h"
#include "shape/shape.h"

/* ---- spheres ----------------------------------------------------------------------------- */

/* A ball, in 2D a disk: a point swept by a ball.
 * 3D: m = 4/3 pi r^3 rho, J = 2/5 m r^2.  2D: m = pi r^2 rho, J = 1/2 m r^2. */

static bool sphere_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    double r = shape->radius;
    if (dimension == 2) {
        double area = M_PI * r * r, s = 0.25 * area * r * r;
        *out = cairn_moments_symmetric(area, s, s, 0);
    } else {
        double volume = 4.0 / 3 * M_PI * r * r * r, s = 0.2 * volume * r * r;
        *out = cairn_moments_symmetric(volume, s, s, s);
    }
    return true;
}

static double radius(const cairn_shape *shape)
{
    return shape->radius;
}

static const cairn_option options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), CAIRN_POSITIVE, 1e12, "m",
      "radius of the ball or disk", NULL },
};

const cairn_shape_class cairn_shape_class_sphere = {
    .record = { "sphere", "ball, in 2D a disk", sizeof(cairn_shape), cairn_shape_set_default,
                options, 1 },
    .moments = sphere_moments,
    .extent = radius,
    .support = cairn_point_support,
    .face = cairn_point_face,
    .rounding = radius,
    .normal_at = cairn_point_normal_at,
    .curvature = cairn_point_curvature,
    .smooth = true,
};

/* ---- points ------------------------------------------------------------------------------ */

/* A particle without size: it has a mass (which must be given) and does not turn. Its
 * core, the origin, is also that of a sphere. */

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
