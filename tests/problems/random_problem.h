/* random_problem.h - one-step problems made at random or by hand: contacts, rows with bounds,
 * both; and balls on a lattice. */
#ifndef CAIRN_TESTS_RANDOM_PROBLEM_H
#define CAIRN_TESTS_RANDOM_PROBLEM_H

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/problem.h"
#include "math/vec.h"

/* ==== random one-step problems for tests, reproducible from a seed.
 * Each contact has identity rows on a block of its own and a little random coupling to another:
 * a well-posed family, W is safely positive definite. */

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

/* ==== random problems in which contacts and rows with bounds of all sorts meet ================ */

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

/* ==== one-step problems with rows of bounds, made by hand: chains, loops, motors,
 * limits, springs. 3D bodies whose frames are the world's. */

enum { ROW_BODIES = 128, ROW_CONTACTS = 256 };

typedef struct row_problem {
    cairn_problem p;
    double mass_inverse[ROW_BODIES * 6], v_free[ROW_BODIES * 6];
    int32_t block[2 * ROW_CONTACTS];
    double H[ROW_CONTACTS * 36], w[ROW_CONTACTS * 3], b[ROW_CONTACTS], mu[ROW_CONTACTS];
    uint8_t bounded[ROW_CONTACTS];
    double lower[ROW_CONTACTS * 3], upper[ROW_CONTACTS * 3], compliance[ROW_CONTACTS * 3];
} row_problem;

static inline void rows_begin(row_problem *x)
{
    memset(x, 0, sizeof *x);
    x->p = (cairn_problem){ .dimension = 3,
                            .block_size = 6,
                            .mass_inverse = x->mass_inverse,
                            .v_free = x->v_free,
                            .block = x->block,
                            .H = x->H,
                            .w = x->w,
                            .b = x->b,
                            .mu = x->mu,
                            .bounded = x->bounded,
                            .lower = x->lower,
                            .upper = x->upper,
                            .compliance = x->compliance };
}

/* A body of this mass and inertia, falling with -down along z. */
static inline int rows_body(row_problem *x, double mass, double inertia, double down)
{
    int body = x->p.blocks++;
    for (int i = 0; i < 6; i++)
        x->mass_inverse[6 * body + i] = 1 / (i < 3 ? mass : inertia);
    x->v_free[6 * body + 2] = -down;
    return body;
}

/* A block of unused rows between two bodies (-1: the world): H = 0, both bounds 0. */
static inline int rows_block(row_problem *x, int a, int b)
{
    int j = x->p.contacts++;
    x->block[2 * j] = a;
    x->block[2 * j + 1] = b;
    x->bounded[j] = 1;
    return j;
}

/* Row i of block j: the velocity along `axis` of a's point (arm from its centre) relative to b's;
 * without arms (NULL) the angular velocity about `axis`. Bounds infinite. */
static inline void rows_set(row_problem *x, int j, int i, const double *axis, const double *arm_a,
                            const double *arm_b)
{
    for (int side = 0; side < 2; side++) {
        double *row = x->H + (2 * j + side) * 18 + 6 * i, sign = side ? -1 : 1;
        const double *arm = side ? arm_b : arm_a;
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            row[k] = arm ? sign * axis[k] : 0;
            row[3 + k] = sign * (arm ? arm[l] * axis[m] - arm[m] * axis[l] : axis[k]);
        }
    }
    x->lower[3 * j + i] = -INFINITY;
    x->upper[3 * j + i] = INFINITY;
}

static inline void rows_bound(row_problem *x, int j, int i, double lower, double upper)
{
    x->lower[3 * j + i] = lower;
    x->upper[3 * j + i] = upper;
}

static const double row_axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

static inline int rows_ball(row_problem *x, int a, int b, const double *arm_a, const double *arm_b)
{
    int j = rows_block(x, a, b);
    for (int i = 0; i < 3; i++)
        rows_set(x, j, i, row_axes[i], arm_a, arm_b);
    return j;
}

/* A revolute joint about y: a ball joint, and no turning about x and z. */
static inline void rows_revolute(row_problem *x, int a, int b, const double *arm_a,
                                 const double *arm_b)
{
    rows_ball(x, a, b, arm_a, arm_b);
    int j = rows_block(x, a, b);
    rows_set(x, j, 0, row_axes[0], NULL, NULL);
    rows_set(x, j, 1, row_axes[2], NULL, NULL);
}

/* n links of 1 m and 1 kg that hang straight down, ball joints between them, the first held by the
 * world; the last has mass 1000 kg. Free they would fall with 0.1 m/s and the last drift with 1. */
static inline void rows_chain(row_problem *x, int n)
{
    const double top[3] = { 0, 0, 0.5 }, bottom[3] = { 0, 0, -0.5 };
    rows_begin(x);
    for (int i = 0; i < n; i++) {
        double mass = i == n - 1 ? 1000 : 1;
        rows_body(x, mass, mass / 12, 0.1);
        rows_ball(x, i, i - 1, top, bottom);
    }
    x->v_free[6 * (n - 1)] = 1;
}

/* A square of three moving bars and the ground, four revolute joints: 20 equations, of which 3 are
 * redundant; gravity and a push along x on the upper bar. */
static inline void rows_four_bar(row_problem *x)
{
    const double low[3] = { 0, 0, -0.5 }, high[3] = { 0, 0, 0.5 }, left[3] = { -0.5, 0, 0 };
    const double right[3] = { 0.5, 0, 0 }, ground[3] = { 0, 0, 0 };
    rows_begin(x);
    for (int i = 0; i < 3; i++)
        rows_body(x, 2, 0.2, 0.1);
    x->v_free[6 * 1] = 1;
    rows_revolute(x, 0, -1, low, ground);
    rows_revolute(x, 1, 0, left, high);
    rows_revolute(x, 2, 1, high, right);
    rows_revolute(x, 2, -1, low, ground);
}

/* What joint i of a machine does about y: motor, limit, spring, or nothing. */
static inline void rows_drive(row_problem *x, int j, int sort, uint64_t *state)
{
    double most = pow(10, cairn_random_between(state, -4, 2));
    if (sort == 0)
        rows_bound(x, j, 2, -most, most);
    else if (sort == 1)
        rows_bound(x, j, 2, 0, INFINITY);
    else if (sort == 2)
        x->compliance[3 * j + 2] = most;
    else
        rows_bound(x, j, 2, 0, 0);
    x->w[3 * j + 2] = sort == 3 ? 0 : cairn_random_between(state, -3, 3);
}

/* A point of a body. */
static inline void rows_arm(uint64_t *state, double *arm)
{
    for (int k = 0; k < 3; k++)
        arm[k] = cairn_random_between(state, -0.5, 0.5);
}

/* n bodies of 0.01 to 100 kg in chains of five; each joint is a ball joint with two equations (every
 * third: bounded friction) and a drive about its axis. Twice as many contacts with friction, on the
 * ground and among the bodies. */
static inline void rows_machine(row_problem *x, int n, uint64_t seed)
{
    uint64_t state = seed;
    double a[3], b[3];
    const double ground[3] = { 0, 0, 0 };
    rows_begin(x);
    for (int i = 0; i < n; i++) {
        double mass = pow(10, cairn_random_between(&state, -2, 2));
        rows_body(x, mass, mass / 6, 0.1);
    }
    for (int i = 1; i < n; i++) {
        if (i % 5 == 0)
            continue;
        rows_arm(&state, a);
        rows_arm(&state, b);
        rows_ball(x, i, i - 1, a, b);
        int j = rows_block(x, i, i - 1);
        for (int k = 0; k < 3; k++) {
            rows_set(x, j, k, row_axes[(k + 1) % 3], NULL, NULL);
            if (i % 3 == 0)
                rows_bound(x, j, k, -0.1, 0.1);
        }
        rows_drive(x, j, i % 4, &state);
    }
    for (int k = 0; k < 2 * n; k++) {
        int i = k % n, j = rows_block(x, i, k % 3 ? -1 : (i + 7) % n);
        rows_arm(&state, a);
        for (int c = 0; c < 3; c++)
            rows_set(x, j, c, row_axes[(c + 2) % 3], a, ground);
        x->bounded[j] = 0;
        x->mu[j] = cairn_random_between(&state, 0, 0.8);
        x->b[j] = k % 4 ? 0 : 0.3;
    }
}

/* ==== one-step problems of any size: n x n x n balls on a lattice, each in contact with its
 * neighbours in x, y and z and the lowest with the floor, under their weight. Normals are tilted at
 * random and orientations are random. For tests of what needs many contacts, and for the benchmark of
 * sweeps. */

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
