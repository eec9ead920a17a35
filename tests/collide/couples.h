/* couples.h - two convex shapes placed by hand, for the tests of the distance algorithms. */
#ifndef CAIRN_TESTS_COUPLES_H
#define CAIRN_TESTS_COUPLES_H

#include "collide/convex.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/random_shapes.h"

#define CHECK_VEC(found, ex, ey, ez, tolerance)                                                    \
    do {                                                                                           \
        cairn_vec3 vec_ = (found);                                                                 \
        CHECK_NEAR(vec_.x, ex, tolerance);                                                         \
        CHECK_NEAR(vec_.y, ey, tolerance);                                                         \
        CHECK_NEAR(vec_.z, ez, tolerance);                                                         \
    } while (0)

typedef struct placed {
    cairn_shape shape[2];
    cairn_collider at[2];
    cairn_convex convex[2];
    cairn_couple couple;
} placed;

static inline cairn_collider upright(const cairn_shape *shape, double x, double y, double z)
{
    return (cairn_collider){ .shape = shape,
                             .x = { x, y, z },
                             .q = { 1, 0, 0, 0 },
                             .extent = cairn_shape_extent(shape),
                             .movable = true };
}

/* Make the couple once shapes and poses are there. */
static inline void couple_up(placed *p, int dimension)
{
    for (int k = 0; k < 2; k++)
        CHECK(cairn_convex_make(&p->at[k], &p->convex[k]));
    p->couple = cairn_couple_make(&p->convex[0], &p->convex[1], dimension);
}

/* Shape a at (x, y, z), shape b at the origin, neither turned. */
static inline void put(placed *p, int dimension, double x, double y, double z)
{
    p->at[0] = upright(&p->shape[0], x, y, z);
    p->at[1] = upright(&p->shape[1], 0, 0, 0);
    couple_up(p, dimension);
}

static inline cairn_shape box_of(double x, double y, double z)
{
    return (cairn_shape){ .kind = CAIRN_SHAPE_BOX, .size = { x, y, z } };
}

#endif
