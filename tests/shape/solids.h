/* solids.h - what tests of shapes share: integrals by counting points, and facts that hold for the
 * support points and faces of any convex core. */
#ifndef CAIRN_TESTS_SOLIDS_H
#define CAIRN_TESTS_SOLIDS_H

#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"
#include "tests/check.h"

/* Digit-reversed fraction of i in base b: the Halton sequence. */
static inline double halton(int i, int base)
{
    double f = 1, sum = 0;
    for (; i > 0; i /= base) {
        f /= base;
        sum += f * (i % base);
    }
    return sum;
}

typedef bool inside_fn(const cairn_shape *shape, cairn_vec3 p);

/* Volume integrals by counting 200000 points of the cube (2D: square) of half length `half`. */
static inline cairn_moments counted(const cairn_shape *shape, int dimension, inside_fn *inside,
                                    double half)
{
    enum { POINTS = 200000 };
    cairn_moments m = { 0 };
    double piece = pow(2 * half, dimension) / POINTS;
    for (int i = 1; i <= POINTS; i++) {
        cairn_vec3 p = { half * (2 * halton(i, 2) - 1), half * (2 * halton(i, 3) - 1),
                         dimension == 3 ? half * (2 * halton(i, 5) - 1) : 0 };
        if (!inside(shape, p))
            continue;
        m.volume += piece;
        m.first = cairn_add_scaled(m.first, piece, p);
        cairn_symmetric_add(&m.second, piece, p, p);
    }
    return m;
}

static inline void check_tensor(const cairn_symmetric *found, const cairn_symmetric *expected,
                                double tolerance)
{
    CHECK_NEAR(found->xx, expected->xx, tolerance);
    CHECK_NEAR(found->yy, expected->yy, tolerance);
    CHECK_NEAR(found->zz, expected->zz, tolerance);
    CHECK_NEAR(found->xy, expected->xy, tolerance);
    CHECK_NEAR(found->yz, expected->yz, tolerance);
    CHECK_NEAR(found->zx, expected->zx, tolerance);
}

static inline void check_mass_equal(const cairn_mass *found, const cairn_mass *expected,
                                    double tolerance)
{
    CHECK_NEAR(found->mass, expected->mass, tolerance);
    CHECK_NEAR(cairn_norm(cairn_sub(found->centre, expected->centre)), 0, tolerance);
    check_tensor(&found->inertia, &expected->inertia, tolerance);
}

/* The closed form agrees with counting, to `tolerance` of the solid's own numbers. */
static inline void check_counted(const cairn_shape *shape, int dimension, inside_fn *inside,
                                 double tolerance)
{
    const cairn_moments m = counted(shape, dimension, inside, cairn_shape_extent(shape));
    const cairn_mass expected = cairn_moments_mass(&m, dimension);
    cairn_mass found;
    CHECK_OK(cairn_shape_mass_tensor(shape, dimension, &found));
    double size = expected.inertia.xx + expected.inertia.yy + expected.inertia.zz;
    CHECK_CLOSE(found.mass, expected.mass, tolerance);
    CHECK_NEAR(cairn_norm(cairn_sub(found.centre, expected.centre)), 0,
               tolerance * cairn_shape_extent(shape));
    check_tensor(&found.inertia, &expected.inertia, tolerance * size);
}

static inline cairn_vec3 random_direction(uint64_t *state, int dimension)
{
    cairn_vec3 d;
    do
        d = cairn_vec(2 * cairn_random_uniform(state) - 1, 2 * cairn_random_uniform(state) - 1,
                      dimension == 3 ? 2 * cairn_random_uniform(state) - 1 : 0);
    while (!(cairn_norm(d) > 0.1 && cairn_norm(d) <= 1));
    return d;
}

/* Of a core that is the hull of its corners the farthest of them is the support point. */
static inline void check_corners(const cairn_shape *shape, cairn_vec3 d, double reach, double slack)
{
    const cairn_shape_class *class = cairn_shape_class_of(shape);
    double most = -INFINITY;
    cairn_vec3 corner;
    for (int k = 0; class->corner && class->corner(shape, k, &corner); k++)
        most = fmax(most, cairn_dot(d, corner));
    CHECK(!class->corner || fabs(most - reach) <= slack);
}

/* d.s(d) >= d.s(e) for all directions d, e: no surface point is farther than the support point; and
 * none is beyond the extent. */
static inline void check_support(const cairn_shape *shape, int dimension)
{
    uint64_t state = 7;
    double extent = cairn_shape_extent(shape);
    for (int i = 0; i < 3000; i++) {
        cairn_vec3 d = random_direction(&state, dimension);
        cairn_vec3 e = random_direction(&state, dimension);
        cairn_vec3 best = cairn_shape_support(shape, d), other = cairn_shape_support(shape, e);
        CHECK(cairn_dot(d, best) >= cairn_dot(d, other) - 1e-13 * extent);
        CHECK(cairn_norm(best) + cairn_shape_rounding(shape) <= extent * (1 + 1e-14));
        CHECK(dimension == 3 || best.z == 0);
        check_corners(shape, d, cairn_dot(d, best), 1e-13 * extent);
    }
}

/* Corners run counterclockwise about the normal; in 2D the normal is to the right of the side. */
static inline void check_sense(const cairn_face *face, int dimension)
{
    cairn_vec3 sum = { 0, 0, 0 };
    for (int k = 1; k + 1 < face->count; k++)
        sum = cairn_add(sum, cairn_cross(cairn_sub(face->point[k], face->point[0]),
                                         cairn_sub(face->point[k + 1], face->point[0])));
    if (face->count > 2)
        CHECK_CLOSE(cairn_dot(sum, face->normal), cairn_norm(sum), 1e-12);
    cairn_vec3 along = cairn_sub(face->point[1], face->point[0]);
    if (face->count == 2 && dimension == 2)
        CHECK(cairn_cross(along, face->normal).z <= 0);
}

/* The points of a face lie on the support plane of its normal, within the core, in the right
 * sense; the same direction gives the same names. */
static inline void check_faces(const cairn_shape *shape, int dimension)
{
    uint64_t state = 11;
    double extent = cairn_shape_extent(shape);
    for (int i = 0; i < 500; i++) {
        cairn_vec3 d = random_direction(&state, dimension), e = random_direction(&state, dimension);
        cairn_face face, again;
        cairn_shape_face(shape, d, &face);
        cairn_shape_face(shape, cairn_scale(3, d), &again);
        CHECK(face.count >= 1 && face.count <= CAIRN_FACE_POINTS);
        CHECK(face.id == again.id && face.count == again.count);
        CHECK_CLOSE(cairn_norm(face.normal), 1, 1e-14);
        double plane = cairn_dot(face.normal, cairn_shape_support(shape, face.normal));
        double most = cairn_dot(e, cairn_shape_support(shape, e));
        for (int k = 0; k < face.count; k++) {
            CHECK_NEAR(cairn_dot(face.normal, face.point[k]), plane, 1e-13 * extent);
            CHECK(cairn_dot(e, face.point[k]) <= most + 1e-13 * extent);
            CHECK(face.vertex[k] == again.vertex[k]);
        }
        check_sense(&face, dimension);
    }
}

/* Smooth cores: the normal at the support point is the direction, and the derivative of the support
 * point agrees with differences. */
static inline void check_smooth(const cairn_shape *shape, int dimension, double tolerance)
{
    const cairn_shape_class *class = cairn_shape_class_of(shape);
    uint64_t state = 13;
    for (int i = 0; i < 300; i++) {
        cairn_vec3 d = cairn_unit(random_direction(&state, dimension));
        cairn_vec3 step = cairn_scale(1e-6, random_direction(&state, dimension));
        cairn_vec3 p = class->support(shape, d);
        CHECK_NEAR(cairn_norm(cairn_sub(class->normal_at(shape, p), d)), 0, 1e-9);
        cairn_symmetric h;
        class->curvature(shape, d, &h);
        cairn_vec3 moved = cairn_sub(class->support(shape, cairn_add(d, step)),
                                     class->support(shape, cairn_sub(d, step)));
        cairn_vec3 told = { h.xx * step.x + h.xy * step.y + h.zx * step.z,
                            h.xy * step.x + h.yy * step.y + h.yz * step.z,
                            h.zx * step.x + h.yz * step.y + h.zz * step.z };
        CHECK_NEAR(cairn_norm(cairn_add_scaled(moved, -2, told)) / 2e-6, 0, tolerance);
    }
}

#endif
