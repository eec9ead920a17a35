/* overlap.h - how deep two bodies of any shapes overlap. */
#ifndef CHECK_OVERLAP_H
#define CHECK_OVERLAP_H

#include "convex.h"

/* Two bodies, and the poses of all. */
typedef struct check_couple {
    int a, b;
    const vec *x; /* by body */
    const quat *q;
    const vec *hints; /* directions from b to a to try first */
    int hint_count;
    double enough; /* m: a depth of no more than this needs not be known better */
} check_couple;

/* The range in which the depth of the pair is, made wider by how well it is promised to be found;
 * false: the file has not the measures of its shapes. */
bool check_overlap(const check_run *run, const check_couple *pair, check_range *out);
/* m: how well depths of two solids of these classes and of that size are promised to be found. */
double check_promise(check_class one, check_class two, bool ball, double depth, double size);

#endif
