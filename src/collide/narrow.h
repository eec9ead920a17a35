/* narrow.h - the couples of the narrow phase: one function for each pair of shape kinds,
 * and those of balls and planes inline. */
#ifndef CAIRN_COLLIDE_NARROW_H
#define CAIRN_COLLIDE_NARROW_H

#include "collide/collide.h"
#include "math/vec.h"

/* Fills the witnesses of a and b with gap <= margin, sorted by feature; returns their number, or
 * CAIRN_UNRESOLVED. */
typedef int cairn_couple_fn(const cairn_collider *a, const cairn_collider *b, int dimension,
                            double margin, cairn_witness *out);

/* balls.c: a is a ball or a point */
cairn_couple_fn cairn_ball_ball;
cairn_couple_fn cairn_ball_half_space;
cairn_couple_fn cairn_ball_box;
cairn_couple_fn cairn_ball_capsule;
/* The witness of ball a against the point at `distance` from its centre, against the normal. */
cairn_witness cairn_ball_witness(const cairn_collider *a, cairn_vec3 normal, double distance,
                                 int feature);
/* Radius of a ball, 0 of a point. */
double cairn_ball_radius(const cairn_collider *c);

cairn_couple_fn cairn_capsule_capsule;

/* walls.c: b is a surface of revolution */
cairn_couple_fn cairn_ball_inside_cylinder;
cairn_couple_fn cairn_ball_inside_cone;
cairn_couple_fn cairn_ball_funnel;
cairn_couple_fn cairn_convex_inside_round; /* of a cylinder or a cone (2D: a wedge) */

/* b is made of half-spaces */
cairn_couple_fn cairn_convex_half_space;
cairn_couple_fn cairn_convex_inside_box;
cairn_couple_fn cairn_convex_inside_wedge; /* 2D: inside of a cone */

/* triangles.c: b is a triangle of a mesh or height field, or a segment of a polyline */
cairn_couple_fn cairn_convex_face_of;

/* narrow.c: any two convex shapes */
cairn_couple_fn cairn_convex_convex;

/* ---- balls and planes ------------------------------------------------------------------------ */

/* The witnesses of balls and planes, for loops over very many of them. */

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
