/* random_shapes.h - shapes at random and pairs of colliders, for tests and benchmarks. */
#ifndef CAIRN_TESTS_RANDOM_SHAPES_H
#define CAIRN_TESTS_RANDOM_SHAPES_H

#include "base/common.h"
#include "collide/collide.h"
#include "collide/convex.h"
#include "math/vec.h"
#include "shape/shape.h"

/* ==== bounded shapes of every convex kind at random, for tests and benchmarks ================= */

/* The kinds that have a support map; the second list: those of the plane. */
static const cairn_shape_kind convex_kinds_3d[] = {
    CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_BOX,       CAIRN_SHAPE_CAPSULE,        CAIRN_SHAPE_CYLINDER,
    CAIRN_SHAPE_CONE,   CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_SUPERELLIPSOID, CAIRN_SHAPE_POLYHEDRON,
};
static const cairn_shape_kind convex_kinds_2d[] = {
    CAIRN_SHAPE_SPHERE,         CAIRN_SHAPE_BOX,        CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_ELLIPSOID,
    CAIRN_SHAPE_SUPERELLIPSOID, CAIRN_SHAPE_POLYHEDRON,
};

enum { KINDS_3D = 8, KINDS_2D = 6 };

static inline double draw(uint64_t *state, double low, double high)
{
    return cairn_random_between(state, low, high);
}

static inline cairn_vec3 draw_lengths(uint64_t *state, int dimension)
{
    double x = draw(state, 0.3, 1.5), y = draw(state, 0.3, 1.5), z = draw(state, 0.3, 1.5);
    return cairn_vec(x, y, dimension == 3 ? z : 0);
}

static inline cairn_vec3 draw_unit(uint64_t *state, int dimension)
{
    double x = cairn_random_normal(state), y = cairn_random_normal(state);
    double z = dimension == 3 ? cairn_random_normal(state) : 0;
    return cairn_unit(cairn_vec(x, y, z));
}

static inline cairn_quat draw_turn(uint64_t *state, int dimension)
{
    cairn_vec3 axis = dimension == 3 ? draw_unit(state, 3) : cairn_vec(0, 0, 1);
    return cairn_quat_exp(cairn_scale(draw(state, -3, 3), axis));
}

/* The hull of a dozen points on an ellipsoid; lives as long as the program. */
static inline const cairn_geometry *draw_hull(uint64_t *state, int dimension)
{
    enum { POINTS = 12 };
    cairn_vec3 points[POINTS], scale = draw_lengths(state, dimension);
    const cairn_geometry *hull = NULL;
    for (int k = 0; k < POINTS; k++)
        points[k] = cairn_times(scale, draw_unit(state, dimension));
    return cairn_hull_create(points, POINTS, dimension, &hull, NULL) == CAIRN_OK ? hull : NULL;
}

/* Sizes between 0.3 and 1.5 m; sharp and rounded in turn. The caller releases `geometry`. */
static inline cairn_shape draw_shape(cairn_shape_kind kind, int dimension, uint64_t *state)
{
    cairn_shape s = cairn_shape_default(kind, dimension);
    bool rounded = draw(state, 0, 1) < 0.5;
    s.radius = draw(state, 0.2, 1);
    s.height = draw(state, 0.3, 2);
    s.length = draw(state, 0.3, 2);
    s.axis = draw_unit(state, dimension);
    s.size = s.semi_axes = draw_lengths(state, dimension);
    s.rounding = rounded ? draw(state, 0.01, 0.14) : 0;
    s.exponent = draw(state, 1.3, 6);
    s.exponent_z = draw(state, 1.3, 6);
    if (kind == CAIRN_SHAPE_POLYHEDRON)
        s.geometry = draw_hull(state, dimension);
    return s;
}

/* A collider at random; two of them at most `spread` apart along each axis. */
static inline cairn_collider draw_collider(const cairn_shape *shape, int dimension, double spread,
                                           uint64_t *state)
{
    cairn_collider c = { .shape = shape, .movable = true };
    double x = draw(state, -0.5, 0.5), y = draw(state, -0.5, 0.5), z = draw(state, -0.5, 0.5);
    c.x = cairn_scale(spread, cairn_vec(x, y, dimension == 3 ? z : 0));
    c.q = draw_turn(state, dimension);
    c.extent = cairn_shape_extent(shape);
    return c;
}

/* ==== pairs of colliders, for tests and benchmarks that place colliders ======================= */

/* The zones of colliders, in scratch; NULL: no memory. */
static inline cairn_zone *zones_of(const cairn_collider *colliders, int count, cairn_arena *scratch)
{
    cairn_zone *zones = cairn_arena_take(scratch, (size_t)count, sizeof *zones);
    for (int i = 0; zones && i < count; i++)
        zones[i] = cairn_zone_of(&colliders[i]);
    return zones;
}

static inline cairn_status pairs_of(const cairn_broad_phase *broad, const cairn_collider *colliders,
                                    int count, cairn_arena *scratch, cairn_pair_list *out)
{
    const cairn_zone *zones = zones_of(colliders, count, scratch);
    return zones ? cairn_pairs_find(broad, zones, count, scratch, out) : CAIRN_NO_MEMORY;
}

#endif
