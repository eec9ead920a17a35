/* rescale.h - a problem with rolling or spinning friction in units in which these are speeds. */
#ifndef CAIRN_PROBLEM_RESCALE_H
#define CAIRN_PROBLEM_RESCALE_H

#include "base/arena.h"
#include "cairn/problem.h"

/* With l the length of each component: r = l r', u' = l u, mu = l mu'; velocities are the same. */
typedef struct cairn_rescaled {
    cairn_problem p;
    cairn_matrix W; /* of p, local form; so `out` must not move */
    double *length; /* dimension per contact, m; 1 where nothing is scaled */
} cairn_rescaled;

/* Memory from the arena; what needs no scaling is shared. */
cairn_status cairn_problem_rescale(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out);

#endif
