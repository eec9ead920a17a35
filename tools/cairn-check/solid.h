/* solid.h - convex solids of which the file has the measures: how far out a point is, and how far
 * the solid reaches in a direction. */
#ifndef CHECK_SOLID_H
#define CHECK_SOLID_H

#include "run.h"

/* How well the library promises to find where two of them are closest. */
typedef enum check_class {
    CHECK_NO_SOLID,
    CHECK_FLAT,   /* balls, boxes, capsules: rounding                        */
    CHECK_SMOOTH, /* ellipsoids, superellipsoids: Newton's method            */
    CHECK_RIMMED  /* solid cylinders and cones: curved and with edges        */
} check_class;

check_class check_class_of(const check_run *run, int body);

/* Where a body is. */
typedef struct check_place_of {
    vec x;
    quat q;
} check_place_of;

/* m: how far outside the surface a point is, negative inside; exact but for ellipsoids and
 * superellipsoids, where it is right to first order near the surface. */
double check_outside(const check_run *run, int body, check_place_of at, vec point);
/* m: max of p.direction over the solid, for a unit direction; p in space. */
double check_reach(const check_run *run, int body, check_place_of at, vec direction);
/* m: radius of the ball that sweeps its core. */
double check_rounding_of(const check_run *run, int body);

#endif
