/* cylinder.c - solid cylinders and cones, 3D only. */
#include <math.h>

#include "math/vec.h"
#include "shape/shape.h"

/* ---- cylinders --------------------------------------------------------------------------- */

/* A solid cylinder about the origin, 3D only.
 * m = pi r^2 h rho, J = m r^2/2 about the axis, m (3 r^2 + h^2)/12 across.
 * Features: face 0 is the upper cap, 1 the lower, 2 the side. Rim points are at eight fixed
 * angles, vertices 0..7 above and 8..15 below; 16 and 17 are the ends of the generator nearest
 * to the given direction. */

static bool cylinder_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    (void)dimension;
    double r = shape->radius, h = shape->height, volume = M_PI * r * r * h;
    const cairn_moments upright = cairn_moments_symmetric(volume, volume * r * r / 4,
                                                          volume * r * r / 4, volume * h * h / 12);
    *out = cairn_moments_about_axis(&upright, cairn_unit(shape->axis));
    return true;
}

static double cylinder_extent(const cairn_shape *shape)
{
    return hypot(shape->radius, 0.5 * shape->height);
}

/* A direction along the axis has no radial part; the support point is then the centre of a cap. */
static cairn_vec3 cylinder_support(const cairn_shape *shape, cairn_vec3 d)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis);
    cairn_vec3 out = cairn_radial(d, axis);
    return cairn_add_scaled(cairn_scale((z > 0 ? 0.5 : -0.5) * shape->height, axis), shape->radius,
                            out);
}

/* The generator (a line along the surface) on the side `out`, from top to bottom. */
static void side(const cairn_shape *shape, cairn_vec3 axis, cairn_vec3 out, cairn_face *face)
{
    cairn_vec3 foot = cairn_scale(shape->radius, out);
    *face = (cairn_face){ .count = 2, .id = 2, .normal = out };
    for (int k = 0; k < 2; k++) {
        face->point[k] = cairn_add_scaled(foot, (k == 0 ? 0.5 : -0.5) * shape->height, axis);
        face->vertex[k] = 16 + k;
    }
}

/* The side or a cap, whichever normal is nearer to the direction: the limit is 45 degrees. */
static void cylinder_face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
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

static const cairn_option cylinder_options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), CAIRN_POSITIVE, 1e12, "m",
      "radius", NULL },
    { "height", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, height), CAIRN_POSITIVE, 1e12, "m",
      "length along the axis", NULL },
    CAIRN_SHAPE_AXIS("direction of the axis, in the shape frame; default +z"),
};

const cairn_shape_class cairn_shape_class_cylinder = {
    .record = { "cylinder", "solid cylinder, 3D only", sizeof(cairn_shape), cairn_shape_set_default,
                cylinder_options, 3 },
    .moments = cylinder_moments,
    .extent = cylinder_extent,
    .support = cylinder_support,
    .face = cylinder_face,
    .has_axis = true,
    .only_in = 3,
};

/* ---- cones ------------------------------------------------------------------------------- */

/* A solid cone, 3D only. Its origin is the centre of mass, on the axis, h/4 above the base; the
 * axis runs from the base to the apex.
 * m = pi r^2 h rho/3, J = 3/10 m r^2 about the axis, m (3/20 r^2 + 3/80 h^2) across.
 * Features: face 0 is the base, 1 the side. Vertices 0..7 are on the rim of the base at eight
 * fixed angles; 16 is the apex and 17 the foot of the generator nearest to the given direction. */

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

/* The apex or the rim of the base, whichever is farther. */
static double cone_extent(const cairn_shape *shape)
{
    return fmax(0.75 * shape->height, hypot(shape->radius, 0.25 * shape->height));
}

/* The point of the base's rim in the radial direction `out`. */
static cairn_vec3 foot(const cairn_shape *shape, cairn_vec3 axis, cairn_vec3 out)
{
    return cairn_add_scaled(cairn_scale(-0.25 * shape->height, axis), shape->radius, out);
}

/* The apex is the support point if h d_z > r |d_radial|, from comparing d.apex with d.foot. */
static cairn_vec3 cone_support(const cairn_shape *shape, cairn_vec3 d)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis);
    cairn_vec3 radial = cairn_add_scaled(d, -z, axis);
    if (shape->height * z > shape->radius * cairn_norm(radial))
        return cairn_scale(0.75 * shape->height, axis);
    return foot(shape, axis, cairn_radial(d, axis));
}

static void cone_face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_vec3 axis = cairn_unit(shape->axis);
    double z = cairn_dot(d, axis), r = shape->radius, h = shape->height, slant = hypot(r, h);
    cairn_vec3 radial = cairn_add_scaled(d, -z, axis);
    /* the normal of the side is (h out + r axis)/slant; compare d with both normals */
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

static const cairn_option cone_options[] = {
    { "radius", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, radius), CAIRN_POSITIVE, 1e12, "m",
      "radius of the base", NULL },
    { "height", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, height), CAIRN_POSITIVE, 1e12, "m",
      "from base to apex; the origin is a quarter of it above the base", NULL },
    CAIRN_SHAPE_AXIS("from base to apex, in the shape frame; default +z"),
};

const cairn_shape_class cairn_shape_class_cone = {
    .record = { "cone", "solid cone, 3D only; its origin is the centre of mass",
                sizeof(cairn_shape), cairn_shape_set_default, cone_options, 3 },
    .moments = cone_moments,
    .extent = cone_extent,
    .support = cone_support,
    .face = cone_face,
    .has_axis = true,
    .only_in = 3,
};
