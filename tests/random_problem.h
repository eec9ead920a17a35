/* random_problem.h - random one-step problems for tests, reproducible from a seed.
 * Each contact has identity rows on a block of its own and a little random coupling to another:
 * a well-posed family, W is safely positive definite. */
#ifndef CAIRN_TESTS_RANDOM_PROBLEM_H
#define CAIRN_TESTS_RANDOM_PROBLEM_H

#include "base/random.h"
#include "cairn/problem.h"

enum { MOST_CONTACTS = 64, MOST_BLOCKS = 64 };

typedef struct random_problem {
    cairn_problem p;
    double mass_inverse[MOST_BLOCKS * 6], v_free[MOST_BLOCKS * 6];
    int32_t block[2 * MOST_CONTACTS];
    double H[MOST_CONTACTS * 36], w[MOST_CONTACTS * 3], b[MOST_CONTACTS], mu[MOST_CONTACTS];
} random_problem;

/* Contact j acts on block j and on a random other block, or on nothing else; contacts <= blocks. */
static inline void make_random_problem(random_problem *out, int dimension, int blocks, int contacts,
                                       uint64_t seed)
{
    uint64_t state = seed;
    int n = dimension == 3 ? 6 : 3, rows = dimension * n;
    for (int i = 0; i < blocks * n; i++) {
        out->mass_inverse[i] = cairn_random_between(&state, 0.5, 1);
        out->v_free[i] = 3 * cairn_random_normal(&state);
    }
    for (int j = 0; j < contacts; j++) {
        int b = (int)(cairn_random_uniform(&state) * (blocks + 1)) - 1;
        out->block[2 * j] = j;
        out->block[2 * j + 1] = b == j ? -1 : b;
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < rows; i++) {
                double *entry = &out->H[(2 * j + side) * rows + i];
                *entry = side ? 0.15 * cairn_random_normal(&state) : i / n == i % n;
            }
        for (int i = 0; i < dimension; i++)
            out->w[j * dimension + i] = 0.1 * cairn_random_normal(&state);
        out->b[j] = 0.2 * cairn_random_uniform(&state);
        out->mu[j] = cairn_random_between(&state, 0.1, 0.8);
    }
    out->p = (cairn_problem){ .dimension = dimension,
                              .block_size = n,
                              .blocks = blocks,
                              .contacts = contacts,
                              .mass_inverse = out->mass_inverse,
                              .v_free = out->v_free,
                              .block = out->block,
                              .H = out->H,
                              .w = out->w,
                              .b = out->b,
                              .mu = out->mu };
}

#endif
