/* box.c - a box (2D: a rectangle) about the origin, aligned with its axes. Edges may be rounded:
 * the core is then smaller than the box by the rounding on every side, and a ball of that radius
 * sweeps it.
 *
 * m = abc rho, J_x = m (b^2 + c^2)/12.  2D: m = ab rho, J = m (a^2 + b^2)/12.
 * Rounded, with core half lengths h and radius r: the sum over core, slabs on its faces,
 * quarters of cylinders on its edges and eighths of balls on its corners (2D: strips and
 * quarters of disks).
 *
 * Features: faces 0..5 are +x, -x, +y, -y, +z, -z; vertex bits 1, 2, 4 mean x, y, z > 0. */
#include <math.h>

#include "base/common.h"
#include "math/vec.h"
#include "shape/shape.h"

/* Half lengths of the core; in 2D z = 0. */
static void core(const cairn_shape *shape, double half[3])
{
    double r = shape->rounding;
    half[0] = 0.5 * shape->size.x - r;
    half[1] = 0.5 * shape->size.y - r;
    half[2] = shape->size.z > 0 ? 0.5 * shape->size.z - r : 0;
}

static cairn_status check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    TRY(cairn_shape_check_lengths(shape->size, dimension, "size", error));
    double least = fmin(shape->size.x, shape->size.y);
    least = dimension == 3 ? fmin(least, shape->size.z) : least;
    if (shape->rounding > 0.5 * least)
        return cairn_fail(error, CAIRN_BAD_INPUT, "rounding",
                          "found %g, expected at most half the smallest size, %g", shape->rounding,
                          0.5 * least);
    return CAIRN_OK;
}

/* ---- moments -------------------------------------------------------------------------------- */

/* Integrals along one axis of the rounded box: over the core, and over the strips beyond it on
 * both sides. */
typedef struct sides {
    double length, second;  /* 2 h, 2 h^3/3                                 */
    double strip, of_strip; /* slab: 2 r, int x^2 over it                   */
    double h;
} sides;

static sides sides_of(double h, double r)
{
    return (sides){ .length = 2 * h,
                    .second = 2 * h * h * h / 3,
                    .strip = 2 * r,
                    .of_strip = 2 * (pow(h + r, 3) - h * h * h) / 3,
                    .h = h };
}

/* The integral of (h + s)^2 over all copies of a corner piece: volume h^2 + 2 h f + g, with f
 * and g the first and second moment of the piece about its corner. */
static double shifted(double h, double volume, double f, double g)
{
    return volume * h * h + 2 * h * f + g;
}

static bool moments_2d(const sides s[2], double r, cairn_moments *out)
{
    /* four quarters of a disk: area, first and second moment of each about its corner */
    double disk = M_PI * r * r, first = 4 * r * r * r / 3, second = M_PI * r * r * r * r / 4;
    double volume =
        s[0].length * s[1].length + s[0].strip * s[1].length + s[0].length * s[1].strip + disk;
    double along[2];
    for (int i = 0; i < 2; i++) {
        const sides *a = &s[i], *b = &s[1 - i];
        along[i] = a->second * (b->length + b->strip) + a->of_strip * b->length +
                   shifted(a->h, disk, first, second);
    }
    *out = cairn_moments_symmetric(volume, along[0], along[1], 0);
    return true;
}

/* The integral of x_a^2 over the rounded box. The pieces are products over the axes, except
 * those that lie beyond the core along two or three axes. */
static double second_3d(const sides *a, const sides *b, const sides *c, double r)
{
    double disk = M_PI * r * r, ball = 4.0 / 3 * M_PI * r * r * r;
    double disk_first = 4 * r * r * r / 3, disk_second = M_PI * r * r * r * r / 4;
    double ball_first = M_PI * r * r * r * r / 2, ball_second = ball * r * r / 5;
    double core_and_slabs =
        a->second * (b->length * c->length + b->strip * c->length + b->length * c->strip) +
        a->of_strip * b->length * c->length;
    double cylinders =
        a->second * disk + shifted(a->h, disk, disk_first, disk_second) * (b->length + c->length);
    return core_and_slabs + cylinders + shifted(a->h, ball, ball_first, ball_second);
}

static bool box_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    double half[3], r = shape->rounding;
    core(shape, half);
    const sides s[3] = { sides_of(half[0], r), sides_of(half[1], r), sides_of(half[2], r) };
    if (dimension == 2)
        return moments_2d(s, r, out);
    /* Steiner's formula: V + r (surface) + pi r^2 (sum of edge lengths / 4) + 4/3 pi r^3 */
    double x = s[0].length, y = s[1].length, z = s[2].length;
    double volume = x * y * z + 2 * r * (x * y + y * z + z * x) + M_PI * r * r * (x + y + z) +
                    4.0 / 3 * M_PI * r * r * r;
    *out = cairn_moments_symmetric(volume, second_3d(&s[0], &s[1], &s[2], r),
                                   second_3d(&s[1], &s[2], &s[0], r),
                                   second_3d(&s[2], &s[0], &s[1], r));
    return true;
}

/* ---- form ----------------------------------------------------------------------------------- */

static double extent(const cairn_shape *shape)
{
    double half[3];
    core(shape, half);
    return sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]) + shape->rounding;
}

static cairn_vec3 corner(const double half[3], int32_t vertex)
{
    return cairn_vec(vertex & 1 ? half[0] : -half[0], vertex & 2 ? half[1] : -half[1],
                     vertex & 4 ? half[2] : -half[2]);
}

static bool core_corner(const cairn_shape *shape, int k, cairn_vec3 *out)
{
    double half[3];
    core(shape, half);
    *out = corner(half, k);
    return k < (shape->size.z > 0 ? 8 : 4);
}

/* Ties go to the negative side, so that the result is a definite corner. */
static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    double half[3];
    core(shape, half);
    return corner(half, (d.x > 0 ? 1 : 0) | (d.y > 0 ? 2 : 0) | (d.z > 0 ? 4 : 0));
}

/* Corners of the faces +x, +y, +z, counterclockwise seen from outside; the opposite face has the
 * other bit and runs backwards. */
static const int32_t loops[3][4] = { { 1, 3, 7, 5 }, { 2, 6, 7, 3 }, { 4, 5, 7, 6 } };
/* Ends of the sides +x, +y of a rectangle, counterclockwise; the opposite side has all bits
 * flipped. */
static const int32_t ends[2][2] = { { 1, 3 }, { 3, 2 } };

/* The face of the axis along which the direction is largest; ties go to the first axis. */
static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    bool flat = shape->size.z == 0;
    const double along[3] = { d.x, d.y, flat ? 0 : d.z };
    double half[3];
    int axis = fabs(along[1]) > fabs(along[0]) ? 1 : 0;
    axis = fabs(along[2]) > fabs(along[axis]) ? 2 : axis;
    bool back = !(along[axis] > 0);
    double sign = back ? -1 : 1;
    core(shape, half);
    out->count = flat ? 2 : 4;
    out->id = 2 * axis + (back ? 1 : 0);
    out->normal = cairn_vec(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
    for (int k = 0; k < out->count; k++) {
        int32_t vertex = flat ? ends[axis][k] ^ (back ? 3 : 0)
                              : loops[axis][back ? 3 - k : k] ^ (back ? 1 << axis : 0);
        out->vertex[k] = vertex;
        out->point[k] = corner(half, vertex);
    }
}

static double rounding(const cairn_shape *shape)
{
    return shape->rounding;
}

static const cairn_option options[] = {
    { "size", CAIRN_OPTION_VECTOR, true, offsetof(cairn_shape, size), 0, 1e12, "m",
      "full lengths along x, y, z (2D: x, y)", NULL },
    { "rounding", CAIRN_OPTION_REAL, false, offsetof(cairn_shape, rounding), 0, 1e12, "m",
      "radius of the edges, within the size", NULL },
};

const cairn_shape_class cairn_shape_class_box = {
    .record = { "box", "box, in 2D a rectangle; edges may be rounded", sizeof(cairn_shape),
                cairn_shape_set_default, options, 2 },
    .check = check,
    .moments = box_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .corner = core_corner,
    .rounding = rounding,
};
