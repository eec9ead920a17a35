/* lattice_problem.h - one-step problems of any size: n x n x n balls on a lattice, each in contact
 * with its neighbours in x, y and z and the lowest with the floor, under their weight. Normals are
 * tilted at random and orientations are random. For tests of what needs many contacts, and for the
 * benchmark of sweeps. */
#ifndef CAIRN_TESTS_LATTICE_PROBLEM_H
#define CAIRN_TESTS_LATTICE_PROBLEM_H

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/problem.h"
#include "math/vec.h"

typedef struct lattice_problem {
    cairn_problem p;
    int n;
    double *mass_inverse, *v_free, *H, *w, *b, *mu;
    int32_t *block, *rows;
    cairn_vec3 *normal, *tangent;
    double *radius;
    cairn_quat *q;
    uint64_t state;
} lattice_problem;

static inline void fill_lattice_rows(lattice_problem *l, int j, int side, cairn_vec3 n)
{
    const cairn_vec3 t1 = l->tangent[j], frame[3] = { n, t1, cairn_cross(n, t1) };
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
    l->normal[j] = n;
    l->tangent[j] = cairn_perpendicular(n);
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
    out->rows = cairn_arena_take(arena, most, sizeof *out->rows);
    out->q = cairn_arena_take(arena, balls, sizeof *out->q);
    out->normal = cairn_arena_take(arena, most, sizeof *out->normal);
    out->tangent = cairn_arena_take(arena, most, sizeof *out->tangent);
    out->radius = cairn_arena_doubles(arena, balls);
    if (!out->block || !out->rows || !out->q || !out->normal || !out->tangent || !out->radius)
        return false;
    for (size_t i = 0; i < balls; i++)
        out->radius[i] = 0.5;
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

/* The same problem by normals and tangents, without rows; angular velocities in space axes. */
static inline cairn_problem lattice_of_balls(const lattice_problem *l)
{
    cairn_problem p = l->p;
    p.H = NULL;
    p.normal = l->normal;
    p.tangent = l->tangent;
    p.radius = l->radius;
    return p;
}

/* Axes of the bodies become those of space. */
static inline void stand_lattice_upright(lattice_problem *l)
{
    for (int i = 0; i < l->p.blocks; i++)
        l->q[i] = (cairn_quat){ 1, 0, 0, 0 };
    for (int j = 0; j < l->p.contacts; j++)
        for (int side = 0; side < 2; side++)
            fill_lattice_rows(l, j, side, l->normal[j]);
}

/* Every third contact with rows, the others without; upright. */
static inline cairn_problem lattice_of_both(lattice_problem *l)
{
    stand_lattice_upright(l);
    cairn_problem p = lattice_of_balls(l);
    for (int j = 0; j < p.contacts; j++)
        l->rows[j] = j % 3 ? -1 : j;
    p.H = l->H;
    p.rows = l->rows;
    return p;
}

#endif
