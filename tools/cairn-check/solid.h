/* solid.h - convex solids of which the file has the measures: how far out a point is, and how far
 * the solid reaches in a direction. */
#ifndef CHECK_SOLID_H
#define CHECK_SOLID_H

#include "run.h"

/* Of the size of bodies: a point of a contact that is as low as this is taken as the lowest.
 * Which points of a face are kept, and where the lowest point of a curved body is, is found to
 * some 1e-8. */
#define CHECK_LOWEST 4e-8

/* How well the library promises to find where two of them are closest. */
typedef enum check_class {
    CHECK_NO_SOLID,
    CHECK_FLAT,   /* balls, boxes, capsules, hulls, faces: rounding          */
    CHECK_SMOOTH, /* ellipsoids, superellipsoids: Newton's method            */
    CHECK_RIMMED  /* solid cylinders and cones: curved and with edges        */
} check_class;

/* Of a kind of shape; bodies of several pieces are no solids themselves. */
check_class check_class_of(int32_t shape);
/* Whether a shape is made of faces. */
bool check_is_surface(int32_t shape);

/* Where a body is. */
typedef struct check_place_of {
    vec x;
    quat q;
} check_place_of;

/* A solid where it is: a body, a part of one, or a face of one. */
typedef struct check_solid {
    int32_t shape; /* of check_shape; that of a face is the kind of its surface */
    bool flat;     /* in 2D                                                     */
    check_place_of at;
    double radius, height, length, rounding, exponents[2];
    vec size, semi_axes, axis;
    const check_geometries *data; /* hulls and faces: their row, and which face */
    const check_geometry *row;
    int face;
} check_solid;

/* m: how far outside the surface a point is, negative inside; exact but for ellipsoids and
 * superellipsoids, where it is right to first order near the surface. A face has no inside. */
double check_outside(const check_solid *s, vec point);
/* m: max of p.direction over the solid, for a unit direction; p in space. */
double check_reach(const check_solid *s, vec direction);
/* The farthest point of its core (without the ball that sweeps it) along a direction, in space. */
vec check_support(const check_solid *s, vec direction);
/* Corners of the core of flat solids and faces, in space: how many, and which. Solids that are
 * curved have none. */
int check_point_count(const check_solid *s);
vec check_point(const check_solid *s, int k);
/* A point inside, in space; of a face one on it. */
vec check_middle(const check_solid *s);
/* m: radius about the origin of its shape that holds it; of a face: all of its surface. */
double check_solid_extent(const check_solid *s);
/* m: radius of the ball that sweeps its core. */
double check_rounding_of(const check_solid *s);

#endif
