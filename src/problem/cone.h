/* cone.h - the sets of admissible impulses of a contact: a cone of several parts, or bounds;
 * and the problem of one contact. */
#ifndef CAIRN_PROBLEM_CONE_H
#define CAIRN_PROBLEM_CONE_H

#include <float.h>
#include <math.h>

#include "base/common.h"
#include "cairn/problem.h"

/* cairn_cone_project, inline, for loops over many contacts. */
ANYWHERE static inline void cairn_circle_project(int dimension, double mu, double *r)
{
    if (mu == 0) { /* a ray: no square root; r_T *= 0 keeps a NaN */
        r[0] = r[0] > 0 ? r[0] : 0;
        for (int i = 1; i < dimension; i++)
            r[i] *= 0;
        return;
    }
    double tangent = dimension == 3 ? sqrt(r[1] * r[1] + r[2] * r[2]) : fabs(r[1]);
    if (r[0] >= 0 && tangent <= mu * r[0])
        return;
    /* in the polar cone: to the apex; else to the nearest point of the generator through r_T */
    double along = r[0] + mu * tangent;
    double normal = along > 0 ? along / (1 + mu * mu) : 0;
    double scale = tangent > 0 ? mu * normal / tangent : 0;
    r[0] = normal;
    for (int i = 1; i < dimension; i++)
        r[i] *= scale;
}

/* Tangents of a contact: 1 in 2D, 2 in 3D. */
ANYWHERE static inline int cairn_tangents(const cairn_problem *p)
{
    return p->dimension - 1 - p->rolling - p->spinning;
}

/* A part of a cone: |(r_first, ...)| <= mu r_N, `count` components. */
typedef struct cairn_cone_part {
    int first, count;
    double mu;
} cairn_cone_part;

enum { CAIRN_CONE_PARTS = 3 };

/* The parts of contact j's cone, sliding friction first; returns their number. */
int cairn_cone_parts(const cairn_problem *p, int j, cairn_cone_part *part);
/* Length of a part of a vector. */
double cairn_cone_length(const cairn_cone_part *part, const double *r);

/* Projection onto the cone of all parts of contact j, in place. */
void cairn_cone_project_parts(const cairn_problem *p, int j, double *r);
/* The shift of the exact law: mu |u_T| + mu_R |u_R| + mu_S |u_S|; 0 for rows with bounds. */
double cairn_contact_sliding(const cairn_problem *p, int j, const double *u);

/* Signorini's condition and the friction law of contact j, measured separately: the larger of e_N^2
 * and e_T^2, (m/s)^2 (formulas in residual.c). u contains the bias but not mu s, which is `lift`.
 * The condition on r_N is r_N >= least; least is 0 except in the second phase of an impact. */
double cairn_contact_conditions2(const cairn_problem *p, int j, double w, double least,
                                 const double *r, const double *u, double lift);

/* Contact j alone, in units in which rolling and spinning are speeds: with the length l of a part,
 * r' = r/l, u' = l u and mu' = mu/l, so that r'u' = r u and the cone is of the same kind. */
typedef struct cairn_scaled_contact {
    cairn_problem p; /* one contact: parts, mu', s; no matrices               */
    double mu[CAIRN_CONE_PARTS];
    double length[CAIRN_MAX_DIMENSION]; /* of each component, m; 1 for normal and tangents   */
} cairn_scaled_contact;

/* l = sqrt(W_NN/(mean of W_kk)) for each part; W_jj is a triangle, see below. `out` contains
 * pointers into itself and must not be copied or moved. */
void cairn_contact_scale(const cairn_problem *p, int j, const double *W, cairn_scaled_contact *out);

/* Projection onto the bounds of contact j's rows, in place. */
void cairn_rows_project(const cairn_problem *p, int j, double *r);
/* Whether row i of contact j has no bounds: it is an equation. */
bool cairn_row_is_free(const cairn_problem *p, int j, int i);

/* ---- the one-contact problem, solved exactly ------------------------------------------------- */

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

/* ---- errors related to a velocity ---------------------------------------------------------- */

static const double cairn_largest_share = 10;

/* The residual of a share x = e_j / S_j: x/(10 - 9 x) for x <= 1, else x; of contacts without
 * impulse x is at most 1. The largest of many errors is some 10 times their root mean square, and
 * so a tolerance of 1e-3 is about as strict as for the norm over all contacts. */
ANYWHERE static inline double cairn_share_residual(double share)
{
    const double most = 10;
    return share < 1 ? share / (most - (most - 1) * share) : share <= DBL_MAX ? share : DBL_MAX;
}

#endif
