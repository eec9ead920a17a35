/* plain.h - the witnesses of balls and planes, for loops over very many of them. */
#ifndef CAIRN_COLLIDE_PLAIN_H
#define CAIRN_COLLIDE_PLAIN_H

#include "collide/collide.h"
#include "math/vec.h"

/* The witness of a ball against the point at `distance` from its centre, against the normal. */
static inline cairn_witness cairn_point_witness(cairn_vec3 centre, double radius, cairn_vec3 normal,
                                                double distance)
{
    return (cairn_witness){ .on_a = cairn_add_scaled(centre, -radius, normal),
                            .on_b = cairn_add_scaled(centre, -distance, normal),
                            .normal = normal,
                            .gap = distance - radius };
}

/* The witness against a ball of radius `other` whose centre is at a's centre minus d. */
static inline cairn_witness cairn_centre_witness(const cairn_zone *a, cairn_vec3 d, double other,
                                                 cairn_vec3 up)
{
    double distance = cairn_norm(d);
    cairn_vec3 normal = distance > 0 ? cairn_scale(1 / distance, d) : up;
    return cairn_point_witness(a->centre, a->radius, normal, distance - other);
}

static inline cairn_witness cairn_balls_witness(const cairn_zone *a, const cairn_zone *b,
                                                int dimension)
{
    cairn_vec3 up = dimension == 2 ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
    return cairn_centre_witness(a, cairn_sub(a->centre, b->centre), b->radius, up);
}

static inline cairn_witness cairn_plane_witness(const cairn_zone *a, const cairn_zone *b)
{
    double distance = cairn_dot(cairn_sub(a->centre, b->centre), b->half);
    return cairn_point_witness(a->centre, a->radius, b->half, distance);
}

/* The witness of two balls or of a ball and a plane, as cairn_witnesses_find but for any gap. a is
 * a ball; a point is a only against another point. */
static inline void cairn_zones_witness(const cairn_zone *first, const cairn_zone *second,
                                       int dimension, bool *swapped, cairn_witness *out)
{
    bool balls = first->kind == second->kind;
    *swapped = balls ? first->radius == 0 && second->radius > 0 : first->kind == CAIRN_ZONE_PLANE;
    const cairn_zone *a = *swapped ? second : first, *b = *swapped ? first : second;
    *out = balls ? cairn_balls_witness(a, b, dimension) : cairn_plane_witness(a, b);
}

#endif
