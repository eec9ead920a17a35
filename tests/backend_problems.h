/* backend_problems.h - small problems of every kind, for products of solvers and back ends: 2D and
 * 3D, rows that are stored, balls, both, the local form, rows with bounds, rolling, edges. */
#ifndef CAIRN_TESTS_BACKEND_PROBLEMS_H
#define CAIRN_TESTS_BACKEND_PROBLEMS_H

#include "base/arena.h"
#include "check.h"
#include "lattice_problem.h"
#include "mixed_problem.h"
#include "problem/delassus.h"

enum { BACKEND_PROBLEMS = 12 };

typedef struct backend_problems {
    cairn_arena arena;
    random_problem plane, space, smooth, turning;
    mixed_problem joints[2];
    lattice_problem balls, both, many;
    cairn_matrix W;
    double s[MOST_CONTACTS], mu_rolling[MOST_CONTACTS], mu_spinning[MOST_CONTACTS];
    cairn_problem p[BACKEND_PROBLEMS];
} backend_problems;

/* 8 contacts with sliding, rolling and spinning friction: rows of 6 components, the identity on a
 * block of their own and a little of the next one. */
static inline cairn_problem turning_problem(backend_problems *x)
{
    random_problem *t = &x->turning;
    uint64_t state = 5;
    make_random_problem(t, 3, 9, 8, 17);
    for (int j = 0; j < 8; j++) {
        t->block[2 * j + 1] = j + 1;
        for (int i = 0; i < 72; i++) {
            int side = i / 36, row = i % 36 / 6, column = i % 6;
            t->H[72 * j + i] = side ? 0.1 * cairn_random_normal(&state) : row == column;
        }
        x->mu_rolling[j] = cairn_random_between(&state, 0.05, 0.3);
        x->mu_spinning[j] = cairn_random_between(&state, 0.05, 0.3);
    }
    cairn_problem p = t->p;
    p.dimension = 6;
    p.rolling = 2;
    p.spinning = 1;
    p.w = NULL;
    p.mu_rolling = x->mu_rolling;
    p.mu_spinning = x->mu_spinning;
    return p;
}

/* False: no memory. `x` must not move. */
static inline bool make_backend_problems(backend_problems *x)
{
    cairn_problem *p = x->p;
    x->arena = (cairn_arena){ 0 };
    make_random_problem(&x->plane, 2, 18, 15, 3);
    make_random_problem(&x->space, 3, 18, 15, 4);
    make_random_problem(&x->smooth, 3, 18, 15, 5);
    memset(x->smooth.mu, 0, sizeof x->smooth.mu);
    x->space.block[9] = x->space.block[8]; /* a contact of a body with itself */
    make_mixed_problem(&x->joints[0], 2, 14, 11);
    make_mixed_problem(&x->joints[1], 3, 14, 12);
    if (!make_lattice_problem(3, 0.3, &x->arena, &x->balls) ||
        !make_lattice_problem(3, 0.4, &x->arena, &x->both) ||
        !make_lattice_problem(5, 0.3, &x->arena, &x->many))
        return false;
    p[0] = x->plane.p;
    p[1] = x->space.p;
    p[2] = x->smooth.p;
    p[3] = x->joints[0].random.p;
    p[4] = x->joints[1].random.p;
    p[5] = lattice_of_balls(&x->balls);
    p[6] = lattice_of_both(&x->both);
    p[7] = lattice_of_balls(&x->many); /* 300 contacts: batches, and float */
    p[8] = turning_problem(x);
    p[9] = x->space.p;
    p[9].directions = 6;
    p[10] = x->space.p; /* s given: one outer iterate of exact friction */
    for (int j = 0; j < 15; j++)
        x->s[j] = 0.1 * j;
    p[10].s = x->s;
    return cairn_delassus_localise(&x->space.p, &x->arena, &x->W, &p[11]) == CAIRN_OK;
}

#endif
