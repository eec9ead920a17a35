/* classic_problems.h - one-step problems of the literature whose answers are known, and the
 * random ones of [C09]. */
#ifndef CAIRN_STUDIES_CLASSIC_PROBLEMS_H
#define CAIRN_STUDIES_CLASSIC_PROBLEMS_H

#include <math.h>
#include <string.h>

#include "cairn/cairn.h"
#include "cairn/problem.h"

/* ---- 'bad boy' for Newton's method [C09] 5.4 ------------------------------------------------ */

/* One contact in 2D, M = (2 -3; -3 5) in (tangent, normal), f = (-1, 0), mu = 1: u = W r + q. */
typedef struct bad_boy {
    cairn_problem p;
    cairn_matrix W;
    int64_t start[3];
    int32_t column[4];
    double value[4], q[2], mu[1];
} bad_boy;

static inline void make_bad_boy(bad_boy *out)
{
    *out = (bad_boy){ .start = { 0, 2, 4 },
                      .column = { 0, 1, 0, 1 },
                      .value = { 2, 3, 3, 5 },
                      .q = { 3, 5 },
                      .mu = { 1 } };
    out->W = (cairn_matrix){ 2, 2, out->start, out->column, out->value };
    out->p =
        (cairn_problem){ .dimension = 2, .contacts = 1, .W = &out->W, .q = out->q, .mu = out->mu };
}

/* ---- bead in a corner [C09] 5.3 ------------------------------------------------------------- */

/* A point of mass 1 between two walls at alpha to the axis, pulled out along it. */
typedef struct bead {
    cairn_problem p;
    double mass_inverse[2], v_free[2], H[16], mu[2];
    int32_t block[4];
} bead;

static inline void make_bead(bead *out, double alpha, double mu)
{
    double c = cos(alpha), s = sin(alpha);
    *out = (bead){ .mass_inverse = { 1, 1 },
                   .v_free = { 0, 1 / c },
                   .H = { -c, s, s, c, 0, 0, 0, 0, c, s, -s, c, 0, 0, 0, 0 },
                   .mu = { mu, mu },
                   .block = { 0, -1, 0, -1 } };
    out->p = (cairn_problem){ .dimension = 2,
                              .block_size = 2,
                              .blocks = 1,
                              .contacts = 2,
                              .mass_inverse = out->mass_inverse,
                              .v_free = out->v_free,
                              .block = out->block,
                              .H = out->H,
                              .mu = out->mu };
}

/* ---- table with six legs [A05] -------------------------------------------------------------- */

/* Mass 1, centre 0.5 m above the floor, legs on the unit circle, mu = 0.5, one step of 0.05 s from
 * rest under 9.81 m/s^2. */
typedef struct table {
    cairn_problem p;
    double mass_inverse[6], v_free[6], H[6 * 36], mu[6];
    int32_t block[12];
} table;

static inline void make_table(table *out, int directions)
{
    *out = (table){ .mass_inverse = { 1, 1, 1, 1, 1, 1 }, .v_free = { 0, 0, -9.81 * 0.05 } };
    for (int j = 0; j < 6; j++) {
        double x = cos(M_PI / 3 * j), y = sin(M_PI / 3 * j), z = -0.5;
        /* rows n = e_z, t1 = e_x, t2 = e_y: (e, arm x e) */
        const double rows[18] = { 0, 0, 1, y, -x, 0, 1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x };
        memcpy(out->H + 36 * j, rows, sizeof rows);
        out->block[2 * j] = 0;
        out->block[2 * j + 1] = -1;
        out->mu[j] = 0.5;
    }
    out->p = (cairn_problem){ .dimension = 3,
                              .directions = directions,
                              .block_size = 6,
                              .blocks = 1,
                              .contacts = 6,
                              .mass_inverse = out->mass_inverse,
                              .v_free = out->v_free,
                              .block = out->block,
                              .H = out->H,
                              .mu = out->mu };
}

/* ---- triangular piles of disks [A05] -------------------------------------------------------- */

enum { PILE_ROWS = 20, PILE_BODIES = 210, PILE_CONTACTS = 590 };

/* Row k from the floor has rows - k disks of radius 1, mass 1, inertia 1/2, all touching; one step
 * of 0.05 s from rest under 9.81 m/s^2. The floor's contacts come first. */
typedef struct pile {
    cairn_problem p;
    double mass_inverse[3 * PILE_BODIES], v_free[3 * PILE_BODIES];
    double H[12 * PILE_CONTACTS], mu[PILE_CONTACTS];
    int32_t block[2 * PILE_CONTACTS];
} pile;

/* A contact of disk a with disk b (-1: the floor) along the unit normal (x, y) from b to a. */
static inline void add_pile_contact(pile *out, int a, int b, double x, double y)
{
    int j = out->p.contacts++;
    /* tangent (-y, x); the points are -n from a's centre and +n from b's */
    const double rows[12] = { x, y, 0, -y, x, -1, -x, -y, 0, y, -x, -1 };
    memcpy(out->H + 12 * j, rows, sizeof rows);
    out->block[2 * j] = a;
    out->block[2 * j + 1] = b;
}

static inline void make_pile(pile *out, int rows, double mu)
{
    *out = (pile){ .p = { .dimension = 2, .block_size = 3 } };
    for (int j = 0; j < rows; j++)
        add_pile_contact(out, j, -1, 0, 1);
    for (int k = 0, first = 0; k < rows; first += rows - k, k++)
        for (int j = 0; j < rows - k; j++) {
            int below = first - (rows - k + 1) + j; /* left of the two it lies on */
            if (j > 0)
                add_pile_contact(out, first + j, first + j - 1, 1, 0);
            if (k > 0) {
                add_pile_contact(out, first + j, below, 0.5, sqrt(0.75));
                add_pile_contact(out, first + j, below + 1, -0.5, sqrt(0.75));
            }
            out->p.blocks++;
        }
    for (int i = 0; i < out->p.blocks; i++) {
        out->mass_inverse[3 * i] = out->mass_inverse[3 * i + 1] = 1;
        out->mass_inverse[3 * i + 2] = 2;
        out->v_free[3 * i + 1] = -9.81 * 0.05;
    }
    for (int j = 0; j < out->p.contacts; j++)
        out->mu[j] = mu;
    out->p.mass_inverse = out->mass_inverse;
    out->p.v_free = out->v_free;
    out->p.block = out->block;
    out->p.H = out->H;
    out->p.mu = out->mu;
}

/* ---- random problems of [C09] 5.2 ------------------------------------------------------------ */

/* Random one-step problems in the manner of [C09] 5.2, and its function phi.
 *
 * The paper's matrices cannot be reproduced. This family is one of three that were tried, and the
 * one on which the method converges: H is the identity with two more small entries in each row, M
 * is diagonal with m small pairs of off-diagonal entries. */

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
