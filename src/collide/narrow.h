/* narrow.h - the couples of the narrow phase: one function for each pair of shape kinds. */
#ifndef CAIRN_COLLIDE_NARROW_H
#define CAIRN_COLLIDE_NARROW_H

#include "collide/collide.h"

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

#endif
