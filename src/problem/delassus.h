/* delassus.h - W = H M^-1 H' as a sparse matrix, for the methods that need it formed. */
#ifndef CAIRN_PROBLEM_DELASSUS_H
#define CAIRN_PROBLEM_DELASSUS_H

#include "base/arena.h"
#include "cairn/problem.h"

/* W of a problem by compressed rows, columns ascending; memory from the arena. In the local form
 * `out` is the problem's own W. Compliance is not in it. A contact couples with every contact
 * on one of its blocks. */
cairn_status cairn_delassus_form(const cairn_problem *p, cairn_arena *arena, cairn_matrix *out);

/* The same problem in the local form: W and q formed, memory from the arena. `W` is where the
 * matrix lives; it must stay as long as `out` is used. All else is shared. */
cairn_status cairn_delassus_localise(const cairn_problem *p, cairn_arena *arena, cairn_matrix *W,
                                     cairn_problem *out);

#endif
