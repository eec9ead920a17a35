/* classic_problems.h - one-step problems of the literature whose answers are known. */
#ifndef CAIRN_STUDIES_CLASSIC_PROBLEMS_H
#define CAIRN_STUDIES_CLASSIC_PROBLEMS_H

#include <math.h>
#include <string.h>

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

#endif
