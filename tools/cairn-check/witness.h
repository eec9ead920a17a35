/* witness.h - gaps of shapes without a formula for them: whether stored points prove the gap. */
#ifndef CHECK_WITNESS_H
#define CHECK_WITNESS_H

#include "run.h"

/* Check contact j where contacts are evaluated. false: the file has not the measures of its shapes,
 * nothing was checked. */
bool check_witness_points(check_run *run, int j);

#endif
