/* global.h - contact problems with a general mass matrix, and their local form.
 *
 *     M v = H r + f,   u = H' v + w,   K  ∋  r  ⟂  u + mu |u_T| n  ∈  K*
 *
 * The letters are those of FCLib files: H has one row per degree of freedom, so it is the
 * transpose of the H of problem.h. */
#ifndef CAIRN_GLOBAL_H
#define CAIRN_GLOBAL_H

#include "cairn/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A global problem. All arrays belong to the caller and are only read. */
typedef struct cairn_global {
    int dimension;    /* components of a contact: 2 or 3, + rolling                               */
    int rolling;      /* rolling components of a contact: 0; 1 in 2D, 2 in 3D                     */
    int contacts;     /* number of contacts                                                       */
    cairn_matrix M;   /* n x n, positive definite, kg                                             */
    cairn_matrix H;   /* n x (dimension * contacts)                                               */
    const double *f;  /* n, N s: M times the velocity without contact                             */
    const double *w;  /* per contact `dimension`, m/s: velocity imposed from outside, and bias    */
    const double *mu; /* per contact: friction coefficient                                       */
    const double *mu_rolling; /* as in cairn_problem, and so the rest                            */
    const uint8_t *bounded;
    const double *lower, *upper, *compliance;
} cairn_global;

/** A global problem brought to the local form. */
typedef struct cairn_condensed cairn_condensed;

/** W = H' M^-1 H and q = H' M^-1 f + w. M is factored part by part: blocks that its entries do not
 *  connect are factored separately, small ones by dense and large ones by sparse Cholesky, so that
 *  a block-diagonal M costs little. An M that is not symmetric is factored by LU, provided that M +
 *  M' is positive definite. `g` is copied, its arrays must outlive the result. Fails with
 *  CAIRN_BAD_INPUT (sizes, indices, M not positive definite), CAIRN_NOT_FINITE or CAIRN_NO_MEMORY;
 *  `error` (may be NULL) says what was found. */
CAIRN_API cairn_status cairn_condense(const cairn_global *g, cairn_condensed **out,
                                      cairn_error *error);
/** The local form; valid as long as the condensed problem exists. */
CAIRN_API const cairn_problem *cairn_condensed_problem(const cairn_condensed *condensed);
/** v = M^-1 (f + H r). Fails with CAIRN_NO_MEMORY. */
CAIRN_API cairn_status cairn_condensed_velocity(cairn_condensed *condensed, const double *r,
                                                double *v);
/** How far M is from symmetric: the largest |M_ij - M_ji| / sqrt(M_ii M_jj); 0: symmetric. */
CAIRN_API double cairn_condensed_asymmetry(const cairn_condensed *condensed);
/** Free; NULL is allowed. */
CAIRN_API void cairn_condensed_destroy(cairn_condensed *condensed);

#ifdef __cplusplus
}
#endif
#endif
