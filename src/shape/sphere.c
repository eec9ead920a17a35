/* sphere.c - a ball, in 2D a disk.
 * 3D: m = 4/3 pi r^3 rho, J = 2/5 m r^2.  2D: m = pi r^2 rho, J = 1/2 m r^2. */
#include <math.h>

#include "math/vec.h"
#include "shape/shape.h"

static void sphere_mass(const cairn_shape *shape, int dimension, double *mass, cairn_vec3 *inertia)
{
    double r = shape->radius;
    if (dimension == 2) {
        *mass = M_PI * r * r;
        *inertia = cairn_vec(0, 0, 0.5 * *mass * r * r);
    } else {
        *mass = 4.0 / 3 * M_PI * r * r * r;
        double j = 0.4 * *mass * r * r;
        *inertia = cairn_vec(j, j, j);
    }
}

static const cairn_option options[] = {
    { "radius", CAIRN_OPTION_REAL, true, CAIRN_SHAPE_FIELD(radius), CAIRN_POSITIVE, 1e12, "m",
      "radius of the ball or disk", NULL },
};

const cairn_shape_class cairn_shape_class_sphere = {
    .record = { "sphere", "ball, in 2D a disk", sizeof(cairn_shape), cairn_shape_set_default,
                options, 1 },
    .mass = sphere_mass,
    .bounded = true,
};
