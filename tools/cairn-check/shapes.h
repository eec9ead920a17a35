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

/* A ball against the inside of cylinder or cone b: what a contact along the direction nearest to
 * `normal` is, of those where the ball is nearest to the wall (`all` false: the nearest alone). */
typedef struct check_ball {
    vec x;
    double radius;
} check_ball;
check_witness check_in_wall(const check_run *run, check_ball ball, int b, vec normal, bool all);

/* A unit vector at right angles to the unit vector n: the documented formula; `other` takes the
 * second branch of it. */
vec check_perpendicular(vec n, bool other);

#endif
