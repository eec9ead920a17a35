/* witness.h - gaps of shapes without a formula for them: whether stored points prove the gap. */
#ifndef CHECK_WITNESS_H
#define CHECK_WITNESS_H

#include "run.h"

/* Check contact j where contacts are evaluated. false: the file has not the measures of its shapes,
 * nothing was checked. */
bool check_witness_points(check_run *run, int j);
/* m: how deep a solid is in a wall of planes (half-space, inside of a box), with its rounding in
 * *doubt; false: it is no such pair. */
bool check_depth(const check_run *run, int a, int b, const vec *x, const quat *q, double depth[2]);

#endif
