/* lattice_problem.h - one-step problems of any size: n x n x n balls on a lattice, each in contact
 * with its neighbours in x, y and z and the lowest with the floor, under their weight. Normals are
 * tilted at random and orientations are random. For tests of what needs many contacts, and for the
 * benchmark of sweeps. */
#ifndef CAIRN_TESTS_LATTICE_PROBLEM_H
#define CAIRN_TESTS_LATTICE_PROBLEM_H

#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "cairn/problem.h"
#include "math/vec.h"

typedef struct lattice_problem {
    cairn_problem p;
    int n;
    double *mass_inverse, *v_free, *H, *w, *b, *mu;
    int32_t *block;
    cairn_quat *q;
    uint64_t state;
} lattice_problem;

static inline void fill_lattice_rows(lattice_problem *l, int j, int side, cairn_vec3 n)
{
    const cairn_vec3 t1 = cairn_perpendicular(n);
    const cairn_vec3 frame[3] = { n, t1, cairn_cross(n, t1) };
    int block = l->block[2 * j + side];
    double *H = l->H + ((size_t)j * 2 + (size_t)side) * 18;
    cairn_vec3 arm = cairn_scale(side ? 0.5 : -0.5, n);
    for (int i = 0; i < 3 && block >= 0; i++, H += 6) {
        cairn_vec3 e = cairn_scale(side ? -1 : 1, frame[i]);
        cairn_vec3 turn = cairn_rotate_back(l->q[block], cairn_cross(arm, e));
        const double row[6] = { e.x, e.y, e.z, turn.x, turn.y, turn.z };
        memcpy(H, row, sizeof row);
    }
}

/* Contact of ball a with ball b (-1: a wall) below or beside it; n points from b to a. */
static inline void add_lattice_contact(lattice_problem *l, int a, int b, cairn_vec3 n)
{
    int j = l->p.contacts++;
    n.x += 0.4 * (cairn_random_uniform(&l->state) - 0.5);
    n.y += 0.4 * (cairn_random_uniform(&l->state) - 0.5);
    n = cairn_scale(1 / cairn_norm(n), n);
    l->block[2 * j] = a;
    l->block[2 * j + 1] = b;
    l->b[j] = cairn_random_uniform(&l->state) < 0.3 ? 0.02 : 0;
    fill_lattice_rows(l, j, 0, n);
    fill_lattice_rows(l, j, 1, n);
}

static inline void fill_lattice_ball(lattice_problem *l, int i)
{
    double m = cairn_random_between(&l->state, 0.5, 1), k = 10 * m;
    const double inverse[6] = { m, m, m, k, k, k }, v[6] = { 0, 0, -0.1, 0, 0, 0 };
    memcpy(l->mass_inverse + (size_t)i * 6, inverse, sizeof inverse);
    memcpy(l->v_free + (size_t)i * 6, v, sizeof v);
    l->q[i] = cairn_quat_normalised((cairn_quat){ 1, cairn_random_uniform(&l->state),
                                                  cairn_random_uniform(&l->state),
                                                  cairn_random_uniform(&l->state) });
}

static inline void fill_lattice(lattice_problem *l)
{
    const cairn_vec3 x = { 1, 0, 0 }, y = { 0, 1, 0 }, z = { 0, 0, 1 };
    int n = l->n;
    for (int i = 0; i < n * n * n; i++)
        fill_lattice_ball(l, i);
    for (int i = 0; i < n * n * n; i++) {
        add_lattice_contact(l, i, i < n * n ? -1 : i - n * n, z);
        if (i % n > 0)
            add_lattice_contact(l, i, i - 1, x);
        if (i / n % n > 0)
            add_lattice_contact(l, i, i - n, y);
    }
}

/* n^3 balls and about 3 n^3 contacts with one friction coefficient; false: no memory. */
static inline bool make_lattice_problem(int n, double mu, cairn_arena *arena, lattice_problem *out)
{
    size_t balls = (size_t)n * (size_t)n * (size_t)n, most = 3 * balls;
    *out = (lattice_problem){ .n = n, .state = 7 };
    double **arrays[] = { &out->mass_inverse, &out->v_free, &out->H, &out->w, &out->b, &out->mu };
    const size_t sizes[] = { 6 * balls, 6 * balls, 36 * most, 3 * most, most, most };
    for (int k = 0; k < 6; k++) {
        *arrays[k] = cairn_arena_doubles(arena, sizes[k]);
        if (!*arrays[k])
            return false;
    }
    out->block = cairn_arena_take(arena, 2 * most, sizeof *out->block);
    out->q = cairn_arena_take(arena, balls, sizeof *out->q);
    if (!out->block || !out->q)
        return false;
    for (size_t j = 0; j < most; j++)
        out->mu[j] = mu;
    fill_lattice(out);
    out->p = (cairn_problem){ .dimension = 3,
                              .block_size = 6,
                              .blocks = (int)balls,
                              .contacts = out->p.contacts,
                              .mass_inverse = out->mass_inverse,
                              .v_free = out->v_free,
                              .block = out->block,
                              .H = out->H,
                              .w = out->w,
                              .b = out->b,
                              .mu = out->mu };
    return true;
}

#endif
