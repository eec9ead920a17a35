/* lemke.h - Lemke's algorithm on a linear complementarity problem. */
#ifndef CAIRN_SOLVE_LEMKE_H
#define CAIRN_SOLVE_LEMKE_H

#include "problem/forms.h"
#include "solve/solver.h"

/* How a run of Lemke's algorithm ended. */
typedef enum cairn_lemke_end {
    CAIRN_LEMKE_SOLVED,
    CAIRN_LEMKE_RAY,      /* a secondary ray: for contact problems mostly infeasible  */
    CAIRN_LEMKE_STOPPED,  /* iterations or time were used up                          */
    CAIRN_LEMKE_SINGULAR, /* the free unknowns contradict each other                  */
    CAIRN_LEMKE_LOST      /* the final basis is wrong because of rounding             */
} cairn_lemke_end;

/* The text for a report; NULL for SOLVED. */
const char *cairn_lemke_words(cairn_lemke_end end);

/* Whether an LCP of this size fits: matrix and tableau take at most about 200 MB. */
bool cairn_lemke_fits(int64_t size);

/* z of the LCP; zero if it is not solved. Only the arena, the limits and the report of the task are
 * used; each pivot counts as an iteration. */
cairn_status cairn_lemke(const cairn_lcp *lcp, cairn_task *task, double *z, cairn_lemke_end *end);

#endif
