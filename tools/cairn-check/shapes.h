/* shapes.h - where a ball is closest to another shape, by closed forms. */
#ifndef CHECK_SHAPES_H
#define CHECK_SHAPES_H

#include "run.h"

enum { CHECK_WITNESSES = 3 }; /* contacts of one pair, at most */

/* One contact of a pair: a is a ball (or a point), n from b to a. */
typedef struct check_witness {
    vec normal, point; /* m: the point is the middle between the witness points */
    double gap;        /* m                                                     */
    double size;       /* m: what rounding of the gap is relative to            */
    double turn;       /* what rounding of the normal is relative to            */
} check_witness;

/* All contacts that bodies a and b can have, by feature number; 0 when there is no closed form or
 * a is no ball. Poses are by body. */
int check_witnesses(const check_run *run, int a, int b, const vec *x, const quat *q,
                    check_witness *out);

static inline bool check_is_ball(const check_run *run, int body)
{
    return run->bodies.shape[body] == CHECK_SPHERE || run->bodies.shape[body] == CHECK_POINT;
}

static inline double check_radius(const check_run *run, int body)
{
    return run->bodies.shape[body] == CHECK_SPHERE ? run->bodies.radius[body] : 0;
}

/* Radius about the centre of mass that holds a body, m: 0 for what has no bounds, -1 where the file
 * does not say. */
double check_extent(const check_run *run, int body);

/* A ball of that radius at x against the inside of a cylinder or cone, where it is nearest. */
check_witness check_nearest_wall(const check_run *run, vec x, double radius, int b, vec xb, quat q);

/* A unit vector at right angles to the unit vector n: the documented formula; `other` takes the
 * second branch of it. */
vec check_perpendicular(vec n, bool other);

#endif
