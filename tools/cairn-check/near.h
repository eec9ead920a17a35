/* near.h - pairs of bodies that may touch. */
#ifndef CHECK_NEAR_H
#define CHECK_NEAR_H

#include "run.h"

typedef void check_visit(void *context, int a, int b);

/* Visit every pair of bodies, of which at least one is dynamic, whose bounding balls overlap where
 * the bodies are; what has no bounds overlaps with everything. Bodies of which the file does not
 * tell the size are left out, their number is in *unknown. false: no memory. */
bool check_near_pairs(const check_run *run, const vec *x, check_visit *visit, void *context,
                      int *unknown);

#endif
