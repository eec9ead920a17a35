/* convex.h - how deep two convex solids overlap, with proof: a number that the depth has at least,
 * and one that it has at most. */
#ifndef CHECK_CONVEX_H
#define CHECK_CONVEX_H

#include "solid.h"

/* m: a depth, negative where two are apart; `low` may be -infinite where nobody needs it. */
typedef struct check_range {
    double low, high;
    vec n; /* unit: moving the first solid by `high` along n takes the two apart */
} check_range;

/* What is asked of two solids. */
typedef struct check_question {
    const check_solid *a, *b;
    const vec *hints; /* directions n to try first */
    int hint_count;
    double enough; /* m: a depth of no more than this needs not be known better */
    bool facing;   /* of two faces: the body of one, closed, is in front of the other */
} check_question;

/* The least way along any direction that takes solid a out of solid b. */
check_range check_convex_depth(const check_question *question);
/* m: the way along the unit direction n alone. */
double check_depth_along(const check_solid *a, const check_solid *b, vec n);

#endif
