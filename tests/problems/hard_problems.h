/* hard_problems.h - one-step problems that are hard or degenerate, made by code, in block form.
 *
 *   column      n cubes on a floor, 4 contacts a face, the top one heavier by a ratio
 *   wall        bricks in running bond, 4 contacts an overlap: far more contacts than needed
 *   pile        triangular pile of disks (2D), close packed, from rest
 *   bead        a point mass in a corner: for s = 0 and mu > tan(alpha) only v = 0 is feasible
 *   vice        a point mass between two plates that close: no velocity is feasible
 *   duplicated  every contact of another problem twice
 *   heap        the next step of a world of balls that settled (see settled_heap)
 *
 * A problem owns its arrays: hard_problem_free gives them back. Gravity acts along the last axis. */
#ifndef CAIRN_TESTS_HARD_PROBLEMS_H
#define CAIRN_TESTS_HARD_PROBLEMS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "tests/problems/worlds.h"
#include "world/step.h"

typedef struct hard_problem {
    cairn_problem p;
    double *mass_inverse, *v_free, *H, *b, *mu;
    int32_t *block;
    double *x; /* centre of each body, dimension numbers */
} hard_problem;

static inline void hard_problem_free(hard_problem *h)
{
    void *const arrays[] = { h->mass_inverse, h->v_free, h->H, h->b, h->mu, h->block, h->x };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

/* `blocks` bodies that rest, and room for `contacts` contacts; there are none yet. */
static inline hard_problem hard_problem_new(int dimension, int block_size, int blocks, int contacts)
{
    size_t d = (size_t)dimension, n = (size_t)block_size, c = (size_t)contacts;
    hard_problem h = { .mass_inverse = calloc((size_t)blocks * n, sizeof(double)),
                       .v_free = calloc((size_t)blocks * n, sizeof(double)),
                       .H = calloc(c * 2 * d * n + 1, sizeof(double)),
                       .b = calloc(c + 1, sizeof(double)),
                       .mu = calloc(c + 1, sizeof(double)),
                       .block = calloc(2 * c + 1, sizeof(int32_t)),
                       .x = calloc((size_t)blocks * d, sizeof(double)) };
    h.p = (cairn_problem){ .dimension = dimension,
                           .block_size = block_size,
                           .blocks = blocks,
                           .mass_inverse = h.mass_inverse,
                           .v_free = h.v_free,
                           .block = h.block,
                           .H = h.H,
                           .b = h.b,
                           .mu = h.mu };
    return h;
}

/* Body k: centre, mass, moments of inertia (3D: three of them; 2D: one), and gravity for h s. */
static inline void hard_body(hard_problem *h, int k, const double *x, double mass,
                             const double *inertia, double impact)
{
    int d = h->p.dimension, n = h->p.block_size;
    for (int i = 0; i < n; i++)
        h->mass_inverse[k * n + i] = 1 / (i < d ? mass : inertia[i - d]);
    memcpy(h->x + k * d, x, sizeof(double) * (size_t)d);
    h->v_free[k * n + d - 1] = -impact;
}

/* One side's rows: sign (n, t1, t2) on the velocity of the point at `arm` from the centre. */
static inline void hard_rows(int d, const double *frame, const double *arm, double sign, double *H)
{
    int n = d == 3 ? 6 : 3;
    for (int i = 0; i < d; i++) {
        const double *t = frame + i * d;
        for (int k = 0; k < d; k++)
            H[i * n + k] = sign * t[k];
        if (d == 2) {
            H[i * n + 2] = sign * (arm[0] * t[1] - arm[1] * t[0]);
            continue;
        }
        for (int k = 0; k < 3; k++) { /* t.(omega x arm) = omega.(arm x t) */
            int l = (k + 1) % 3, m = (k + 2) % 3;
            H[i * n + 3 + k] = sign * (arm[l] * t[m] - arm[m] * t[l]);
        }
    }
}

/* A contact at point x between blocks a and b (-1: fixed); `frame` is n, t1 (and t2) in a row, the
 * normal from b to a. Bodies have 3 or 6 velocity components. */
static inline void hard_contact(hard_problem *h, int a, int b, const double *x, const double *frame,
                                double mu)
{
    int j = h->p.contacts++, d = h->p.dimension, n = h->p.block_size;
    const int sides[2] = { a, b };
    for (int side = 0; side < 2; side++) {
        double arm[3] = { 0, 0, 0 };
        h->block[2 * j + side] = sides[side];
        if (sides[side] < 0)
            continue;
        for (int i = 0; i < d; i++)
            arm[i] = x[i] - h->x[sides[side] * d + i];
        hard_rows(d, frame, arm, side ? -1 : 1, h->H + (2 * j + side) * d * n);
    }
    h->mu[j] = mu;
}

/* 4 contacts of a on b: corners of the rectangle [x0, x1] x [0, 1] at a height; in the plane 2, the
 * ends of [x0, x1]. */
static inline void hard_overlap(hard_problem *h, int a, int b, const double *x01, double height,
                                double mu)
{
    static const double upright[9] = { 0, 0, 1, 1, 0, 0, 0, 1, 0 }, plane[4] = { 0, 1, 1, 0 };
    bool flat = h->p.dimension == 2;
    for (int corner = 0; corner < (flat ? 2 : 4); corner++) {
        double x[3] = { x01[corner % 2], flat ? height : corner / 2, height };
        hard_contact(h, a, b, x, flat ? plane : upright, mu);
    }
}

/* `count` unit cubes of mass 1 (the top one `ratio` times heavier); gravity 1, step 0.03. */
static inline hard_problem make_column(int count, double ratio, double mu)
{
    hard_problem h = hard_problem_new(3, 6, count, 4 * count);
    const double edge[2] = { 0, 1 };
    for (int k = 0; k < count; k++) {
        double mass = k == count - 1 ? ratio : 1, x[3] = { 0.5, 0.5, k + 0.5 };
        const double inertia[3] = { mass / 6, mass / 6, mass / 6 };
        hard_body(&h, k, x, mass, inertia, 0.03);
        hard_overlap(&h, k, k - 1, edge, k, mu);
    }
    return h;
}

/* Brick i of a row, and its contacts with the row below. */
static inline void hard_brick(hard_problem *h, int rows, int row, int i, double mass, double mu)
{
    int k = row * rows + i;
    bool flat = h->p.dimension == 2;
    double left = 2 * i + row % 2;
    const double x[3] = { left + 1, flat ? row + 0.5 : 0.5, row + 0.5 };
    const double inertia[3] = { mass * (flat ? 5 : 2) / 12, mass * 5 / 12, mass * 5 / 12 };
    const double whole[2] = { left, left + 2 };
    hard_body(h, k, x, mass, inertia, 0.03);
    if (row == 0)
        hard_overlap(h, k, -1, whole, 0, mu);
    for (int below = i - 1; row > 0 && below <= i + 1; below++) {
        double other = 2 * below + (row - 1) % 2;
        const double shared[2] = { fmax(left, other), fmin(left, other) + 2 };
        if (below >= 0 && below < rows && shared[0] < shared[1])
            hard_overlap(h, k, k - i - rows + below, shared, row, mu);
    }
}

/* rows x rows bricks of 2 x 1 x 1, mass 1 (the top row `ratio` times heavier), every other row
 * moved by half a brick; gravity 1, step 0.03. 20 rows: 3044 contacts, 50 rows: 19604. */
static inline hard_problem make_wall(int rows, double ratio, double mu)
{
    hard_problem h = hard_problem_new(3, 6, rows * rows, 8 * rows * rows);
    for (int k = 0; k < rows * rows; k++)
        hard_brick(&h, rows, k / rows, k % rows, k / rows == rows - 1 ? ratio : 1, mu);
    return h;
}

/* The same in the plane, bricks of 2 x 1: 2 n + 2 (n - 1)(2 n - 1) contacts with n rows. */
static inline hard_problem make_plane_wall(int rows, double ratio, double mu)
{
    hard_problem h = hard_problem_new(2, 3, rows * rows, 4 * rows * rows);
    for (int k = 0; k < rows * rows; k++)
        hard_brick(&h, rows, k / rows, k % rows, k / rows == rows - 1 ? ratio : 1, mu);
    return h;
}

/* Rows of n, n - 1, ... 1 disks: radius 1, mass 1, inertia 1/2, gravity 9.81, step 0.05, from
 * rest; n (n + 1)/2 disks, 3 n (n - 1)/2 + n contacts. */
static inline hard_problem make_hard_pile(int rows, double mu)
{
    int count = rows * (rows + 1) / 2, k = 0;
    hard_problem h = hard_problem_new(2, 3, count, 3 * count);
    const double inertia = 0.5, half = 0.5, height = 0.5 * sqrt(3);
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < rows - row; i++, k++) {
            const double x[2] = { 2 * i + row, 1 + row * sqrt(3) };
            const double below[2] = { x[0], 0 }, upright[4] = { 0, 1, 1, 0 };
            const double beside[2] = { x[0] - 1, x[1] }, level[4] = { 1, 0, 0, 1 };
            hard_body(&h, k, x, 1, &inertia, 9.81 * 0.05);
            if (row == 0)
                hard_contact(&h, k, -1, below, upright, mu);
            if (i > 0)
                hard_contact(&h, k, k - 1, beside, level, mu);
            for (int side = -1; row > 0 && side <= 1; side += 2) {
                double n[4] = { -side * half, height, height, side * half };
                const double at[2] = { x[0] + side * half, x[1] - height };
                hard_contact(&h, k, k - (rows - row) - 1 + (side > 0), at, n, mu);
            }
        }
    return h;
}

/* A point mass 1 in a corner of half angle alpha that opens upwards, pulled out with velocity
 * (0, 1/cos alpha) [C09]. Two contacts; b = 0; s is for the caller to set in p.s. */
static inline hard_problem make_hard_bead(double alpha, double mu)
{
    hard_problem h = hard_problem_new(2, 2, 1, 2);
    double c = cos(alpha), s = sin(alpha);
    h.mass_inverse[0] = h.mass_inverse[1] = 1;
    h.v_free[1] = 1 / c;
    for (int j = 0; j < 2; j++) {
        int side = j ? 1 : -1; /* the wall on this side, along (side s, c) */
        const double rows[4] = { -side * c, s, side * s, c };
        h.block[2 * j + 1] = -1;
        memcpy(h.H + 8 * j, rows, sizeof rows);
        h.mu[j] = mu;
    }
    h.p.contacts = 2;
    return h;
}

/* A point mass 1 at rest between two plates that each want it to leave with speed 1: b = -1. */
static inline hard_problem make_vice(double mu)
{
    hard_problem h = hard_problem_new(2, 2, 1, 2);
    h.mass_inverse[0] = h.mass_inverse[1] = 1;
    for (int j = 0; j < 2; j++) {
        h.block[2 * j + 1] = -1;
        h.H[8 * j] = j ? -1 : 1;
        h.H[8 * j + 3] = 1;
        h.b[j] = -1;
        h.mu[j] = mu;
    }
    h.p.contacts = 2;
    return h;
}

/* Every contact of a block-form problem without w and s, twice. */
static inline hard_problem make_duplicated(const cairn_problem *p)
{
    hard_problem h = hard_problem_new(p->dimension, p->block_size, p->blocks, 2 * p->contacts);
    size_t velocities = (size_t)p->blocks * (size_t)p->block_size, c = (size_t)p->contacts;
    size_t rows = 2 * (size_t)p->dimension * (size_t)p->block_size;
    memcpy(h.mass_inverse, p->mass_inverse, velocities * sizeof(double));
    memcpy(h.v_free, p->v_free, velocities * sizeof(double));
    for (size_t j = 0; j < 2 * c; j++) {
        memcpy(h.H + j * rows, p->H + j % c * rows, rows * sizeof(double));
        memcpy(h.block + 2 * j, p->block + 2 * (j % c), 2 * sizeof(int32_t));
        h.b[j] = p->b ? p->b[j % c] : 0;
        h.mu[j] = p->mu[j % c];
    }
    h.p.contacts = 2 * p->contacts;
    return h;
}

/* The stages of the step that a world is about to make, up to its problem; they live in the world's
 * scratch. */
typedef struct stages {
    cairn_step step;
    cairn_posed posed;
} stages;

static inline stages stages_of(cairn_world *world, const cairn_step_options *options,
                               cairn_step_report *report)
{
    stages of;
    cairn_free_motion motion;
    cairn_mechanism joints;
    cairn_candidates candidates = cairn_candidates_none(world, options->time_step);
    CHECK_OK(cairn_world_put_in_order(world, options));
    of.step = cairn_step_begin(world, options, report);
    CHECK_OK(cairn_step_free_motion(&of.step, &motion));
    CHECK_OK(cairn_step_candidates(&of.step, &motion, &candidates));
    CHECK_OK(cairn_step_joints(&of.step, &motion, &joints));
    CHECK_OK(cairn_step_pose(&of.step, &motion, &candidates, &joints, &of.posed));
    return of;
}

static inline cairn_problem next_problem(cairn_world *world, const cairn_step_options *options)
{
    cairn_step_report report = { 0 };
    return stages_of(world, options, &report).posed.problem;
}

/* A heap of 9 balls a layer (2D: 3) that fell for `steps` steps of 5 ms; *world is for the caller
 * to destroy, after the problem was used. Small overlaps are there: some b are negative. */
static inline cairn_problem settled_heap(int dimension, double mu, int layers, int steps,
                                         cairn_world **world)
{
    cairn_step_options options = step_by(0.005, "convex", 1e-4);
    cairn_step_report report;
    *world = new_heap(dimension, mu, layers);
    for (int k = 0; k < steps; k++)
        CHECK_OK(cairn_world_step(*world, &options, &report));
    options.warm_start = false;
    return next_problem(*world, &options);
}

#endif
