/* admm.h - x = (W + rho D)^-1 h with a sparse factor, for changing rho. */
#ifndef CAIRN_SOLVE_ADMM_H
#define CAIRN_SOLVE_ADMM_H

#include "base/arena.h"
#include "cairn/problem.h"
#include "math/factor.h"

typedef struct cairn_admm_system {
    const cairn_problem *p;
    double rho;
    double *w;         /* components: D, kg^-1                                            */
    double *root;      /* block form: M^-1/2                                              */
    double *y;         /* block form: one number for each velocity                        */
    cairn_matrix base; /* block form: G'D^-1 G, local form: W; upper triangle by rows     */
    double *value;     /* the numbers of the matrix that is factored                      */
    cairn_cholesky *factor;
} cairn_admm_system;

/* Set up the system. Memory comes from the arena, except for the factor. It must be destroyed even
 * if this fails. */
cairn_status cairn_admm_system_create(const cairn_problem *p, cairn_arena *arena,
                                      cairn_admm_system *out);
void cairn_admm_system_destroy(cairn_admm_system *s);

/* Factor for this rho; *positive is false when W + rho D is not positive definite. */
cairn_status cairn_admm_system_factor(cairn_admm_system *s, double rho, bool *positive);

/* h = (W + rho D)^-1 h */
cairn_status cairn_admm_system_solve(cairn_admm_system *s, double *h);

#endif
