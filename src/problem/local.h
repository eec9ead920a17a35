/* local.h - the one-contact problem, solved exactly. */
#ifndef CAIRN_PROBLEM_LOCAL_H
#define CAIRN_PROBLEM_LOCAL_H

#include "cairn/problem.h"

/* W_jj is the lower triangle stored by rows: NN; TN, TT in 2D, NN; 1N, 11; 2N, 21, 22 in 3D. */

/* r_j with K ∋ r ⟂ W r + q [+ mu |u_T| n for exact Coulomb] ∈ K*. W is positive semidefinite. */
void cairn_local_solve(int dimension, cairn_law law, const double *W, double mu, const double *q,
                       double *r);

#endif
