/* instance.h - random one-step problems in the manner of [C09] 5.2, and its function phi.
 *
 * The paper's matrices cannot be reproduced. This family is one of three that were tried, and the
 * one on which the method converges: H is the identity with two more small entries in each row, M
 * is diagonal with m small pairs of off-diagonal entries. */
#ifndef CAIRN_STUDIES_INSTANCE_H
#define CAIRN_STUDIES_INSTANCE_H

#include "cairn/cairn.h"

enum { INSTANCE_CONTACTS = 60, INSTANCE_ROWS = 180, INSTANCE_VELOCITIES = 240 };

typedef struct cairn_instance_def {
    int dimension, contacts; /* 4 velocities for each contact */
    double mu_min, mu_max;
    int seed;
} cairn_instance_def;

/* M v + f = H'r, u = H v, contacts in rows (normal, tangents), brought to u = W r + q. */
typedef struct cairn_instance {
    cairn_condensed *condensed;
    const cairn_problem *p; /* of it */
    int rows, velocities;
    double H[INSTANCE_ROWS][INSTANCE_VELOCITIES], M[INSTANCE_VELOCITIES][INSTANCE_VELOCITIES];
    double f[INSTANCE_VELOCITIES], mu[INSTANCE_CONTACTS], w[INSTANCE_ROWS];
    int64_t M_start[INSTANCE_VELOCITIES + 1], H_start[INSTANCE_VELOCITIES + 1];
    int32_t M_column[INSTANCE_VELOCITIES * INSTANCE_VELOCITIES];
    int32_t H_column[INSTANCE_VELOCITIES * INSTANCE_ROWS];
    double M_value[INSTANCE_VELOCITIES * INSTANCE_VELOCITIES];
    double H_value[INSTANCE_VELOCITIES * INSTANCE_ROWS];
} cairn_instance;

/* Draw one; too large for the stack. */
cairn_status cairn_instance_make(const cairn_instance_def *def, cairn_instance *out);
/* Free its contents; a zero one is allowed. */
void cairn_instance_clear(cairn_instance *instance);
/* |v|, v = M^-1 (H'r - f). */
cairn_status cairn_instance_speed(const cairn_instance *instance, const double *r, double *out);

/* What the method of [C09] found; INSTANCE_ROWS numbers of each at most. */
typedef struct cairn_newton_answer {
    cairn_solve_report report;
    int steps; /* of Newton's method */
    double r[INSTANCE_ROWS], v[INSTANCE_VELOCITIES], u[INSTANCE_ROWS];
} cairn_newton_answer;

/* Exact Coulomb friction by Newton's method on s around `inner`, to 1e-11 or, if `increment` > 0,
 * to that change of s; s is the start in, the answer out. */
cairn_status cairn_newton_solve(const cairn_problem *p, const char *inner, double increment,
                                double *s, cairn_newton_answer *out);

/* phi(s) = 1/2 sum (s - |u_T(s)|)^2, with u of the convex problem there (NULL: not wanted). */
cairn_status cairn_phi(const cairn_problem *p, const double *s, double *u, double *phi);

#endif
