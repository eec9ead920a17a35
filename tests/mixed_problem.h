/* mixed_problem.h - random problems in which contacts and rows with bounds of all sorts meet. */
#ifndef CAIRN_TESTS_MIXED_PROBLEM_H
#define CAIRN_TESTS_MIXED_PROBLEM_H

#include <math.h>

#include "random_problem.h"

typedef struct mixed_problem {
    random_problem random;
    uint8_t bounded[MOST_CONTACTS];
    double lower[MOST_CONTACTS * 3], upper[MOST_CONTACTS * 3], compliance[MOST_CONTACTS * 3];
} mixed_problem;

/* Bounds of one row by its number: equation, limit from below, from above, motor, spring, fixed
 * impulse, unused (H = 0). */
static inline void mix_row(mixed_problem *x, int at, int sort, uint64_t *state)
{
    int d = x->random.p.dimension, n = x->random.p.block_size, j = at / d, i = at % d;
    double bound = cairn_random_between(state, 0.1, 2);
    x->lower[at] = sort == 1 ? 0 : sort == 3 ? -bound : sort == 5 ? bound : -INFINITY;
    x->upper[at] = sort == 2 ? 0 : sort == 3 || sort == 5 ? bound : INFINITY;
    x->compliance[at] = sort == 4 ? cairn_random_between(state, 0.01, 10) : 0;
    for (int k = 0; sort == 6 && k < n; k++)
        x->random.H[(2 * j) * d * n + i * n + k] = x->random.H[(2 * j + 1) * d * n + i * n + k] = 0;
    if (sort == 6) {
        x->lower[at] = x->upper[at] = 0;
        x->random.w[at] = 0;
    }
}

/* Every other contact of a random problem becomes rows. */
static inline void make_mixed_problem(mixed_problem *x, int dimension, int contacts, uint64_t seed)
{
    uint64_t state = seed;
    make_random_problem(&x->random, dimension, contacts + 2, contacts, seed);
    for (int j = 0; j < contacts; j++) {
        x->bounded[j] = (uint8_t)(j % 2);
        for (int i = 0; i < dimension; i++)
            if (j % 2)
                mix_row(x, j * dimension + i, (j / 2 + i * 3) % 7, &state);
    }
    cairn_problem *p = &x->random.p;
    p->bounded = x->bounded;
    p->lower = x->lower;
    p->upper = x->upper;
    p->compliance = x->compliance;
}

#endif
