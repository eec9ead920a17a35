/* pivoting.h - internals of the solvers that pivot: Lemke's algorithm on a linear complementarity
 * problem, and the factor of an active set. */
#ifndef CAIRN_SOLVE_PIVOTING_H
#define CAIRN_SOLVE_PIVOTING_H

#include "base/arena.h"
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

/* ---- the factor of the active constraints ---------------------------------------------------- */

/* The factor of the active constraints, updated when the set changes. */

/* G_AA = L L' for the active members A of a symmetric positive semidefinite G. */
typedef struct cairn_active {
    int size;
    const double *G; /* size x size, by rows                                   */
    int most;        /* members at most                                        */
    int count;       /* members                                                */
    int *member;     /* their indices, in the order of L                       */
    double *L;       /* most rows of `most` numbers                            */
    double *row;     /* L^-1 G_Ap of the last cairn_active_probe               */
} cairn_active;

/* An empty set. */
cairn_status cairn_active_create(int size, const double *G, int most, cairn_arena *arena,
                                 cairn_active *out);
/* Compare index p with the members: d_A = -G_AA^-1 G_Ap, and the curvature
 * G_pp - G_pA G_AA^-1 G_Ap, which is 0 if p depends on them to working precision. */
double cairn_active_probe(cairn_active *a, int p, double *d);
/* Make p a member; right after its probe, which must have given a curvature > 0. */
void cairn_active_add(cairn_active *a, int p, double curvature);
/* Remove the member at position k. */
void cairn_active_drop(cairn_active *a, int k);
/* x = G_AA^-1 x */
void cairn_active_solve(const cairn_active *a, double *x);

#endif
