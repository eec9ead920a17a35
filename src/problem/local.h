/* local.h - the one-contact problem, solved exactly. */
#ifndef CAIRN_PROBLEM_LOCAL_H
#define CAIRN_PROBLEM_LOCAL_H

#include <math.h>

#include "base/common.h"
#include "cairn/problem.h"

/* W_jj is the lower triangle stored by rows: NN; TN, TT in 2D, NN; 1N, 11; 2N, 21, 22 in 3D. */

/* r_j with K ∋ r ⟂ W r + q [+ mu |u_T| n for exact Coulomb] ∈ K*. W is positive semidefinite. */
void cairn_local_solve(int dimension, cairn_law law, const double *W, double mu, const double *q,
                       double *r);

/* r_j of a contact with rolling or spinning friction: the same with all parts of its cone. On entry
 * r is the start, on return the solution. */
void cairn_local_solve_parts(const cairn_problem *p, int j, cairn_law law, const double *W,
                             const double *q, double *r);

/* r_j of rows with bounds, W with the compliance: lower <= r <= upper, y = W r + q by the rules of
 * docs/notation.md. On entry r is the start, on return the solution. */
void cairn_local_solve_rows(const cairn_problem *p, int j, const double *W, const double *q,
                            double *r);

/* r_j of contact j of any kind; polyhedral cones are replaced by circular ones. On entry r is the
 * start, on return the solution. */
void cairn_contact_solve(const cairn_problem *p, int j, cairn_law law, const double *W,
                         const double *q, double *r);

/* Whether W = diag(W_N, W_T, W_T) to rounding, as for balls; 3D. */
bool cairn_local_is_isotropic(const double *W);

/* cairn_local_solve for such a W: the solution lies in the plane of n and q_T. Inline, for sweeps
 * over balls. */
ANYWHERE static inline void cairn_local_solve_isotropic(cairn_law law, const double *W, double mu,
                                                        const double *q, double *r)
{
    double wn = W[0], wt = 0.5 * (W[2] + W[5]), speed = sqrt(q[1] * q[1] + q[2] * q[2]);
    double normal = wn > 0 && q[0] < 0 ? -q[0] / wn : 0;
    double pull;                     /* r_T = -pull q_T */
    if (speed <= mu * normal * wt) { /* stick; the quotient is 0/0 only for W_T = 0 */
        pull = wt > 0 ? 1 / wt : 0;
    } else {
        double stiffness = wn + mu * mu * wt, along = mu * speed - q[0];
        if (law == CAIRN_LAW_CONVEX)
            normal = stiffness > 0 && along > 0 ? along / stiffness : 0;
        pull = mu * normal / speed;
    }
    r[0] = normal;
    r[1] = -pull * q[1];
    r[2] = -pull * q[2];
}

/* ---- the nonsmooth equation -------------------------------------------------------------- */

/* The nonsmooth equation of one contact, r = Phi(r - rho u), and its derivative. */

/* phi = Phi(y) and G = dPhi/dy (dimension x dimension by rows) of contact j at y = r - rho u, for
 * circular cones. False if both are zero, because the contact is open; rows with bounds never
 * are. */
bool cairn_contact_map(const cairn_problem *p, int j, cairn_law law, const double *y, double *phi,
                       double *G);

#endif
