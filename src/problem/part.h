/* part.h - some contacts of a one-step problem, as a problem of its own. */
#ifndef CAIRN_PROBLEM_PART_H
#define CAIRN_PROBLEM_PART_H

#include "base/arena.h"
#include "cairn/problem.h"

/* Contacts and blocks of the part, in the order of the whole; all arrays are scratch. */
typedef struct cairn_problem_part {
    cairn_problem problem;
    const int32_t *contact; /* of the whole, for each one of the part */
    int32_t *block;         /* likewise                               */
} cairn_problem_part;

/* The part of a problem with blocks that has the given contacts, in ascending order, and the blocks
 * that they touch. What is written into the arrays of the whole later does not change it. */
cairn_status cairn_problem_take_part(const cairn_problem *whole, const int32_t *contacts, int count,
                                     cairn_arena *scratch, cairn_problem_part *out);
/* Numbers of the part into those of the whole: `width` for each item of a list of numbers. */
void cairn_part_spread(const int32_t *items, int count, int width, const double *part,
                       double *whole);

#endif
