/* batch_balls.c - deciding whether all bodies of a problem are balls.
 *
 * Contacts of the kind "balls" state it. Stored rows, as in problems made by hand or read from a
 * file, are examined: with the contact frame (n, t1, t2), radius R and orientation Q of a block,
 * those of a ball are
 *     side a: (n, 0), (t1, -R Q't2), (t2, R Q't1);   side b: the linear part negative.
 * R and Q follow from the first contact of a block; all other contacts must agree. */
#include <math.h>
#include <string.h>

#include "backend/host/batch.h"
#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/operator.h"

/* Relative. Well above the rounding of stored rows, and far below anything that changes a result:
 * a problem of balls that is not recognised is only solved more slowly. */
static const double close_enough = 1e-9;

typedef struct rows {
    cairn_vec3 n, t1, t2;  /* the frame of the contact */
    cairn_vec3 a0, a1, a2; /* angular parts            */
} rows;

static cairn_vec3 vector_at(const double *x, double sign)
{
    return cairn_vec(sign * x[0], sign * x[1], sign * x[2]);
}

/* The rows of one side. The linear part of side b is negated, so that both sides give (n, t1,
 * t2). */
static rows rows_of(const cairn_problem *p, int j, int side)
{
    const double *H = cairn_rows_stored(p, 3, 6, j, side);
    double sign = side ? -1 : 1;
    return (rows){ vector_at(H, sign),  vector_at(H + 6, sign), vector_at(H + 12, sign),
                   vector_at(H + 3, 1), vector_at(H + 9, 1),    vector_at(H + 15, 1) };
}

/* The rotation that takes the body frame's (c0, c1, c2) to the world's (e0, e1, e2). */
static cairn_quat rotation_between(const cairn_vec3 c[3], const cairn_vec3 e[3])
{
    /* R = sum e_i c_i', then Shepperd's choice of the largest component */
    double R[3][3] = { { 0 } };
    for (int i = 0; i < 3; i++) {
        const double to[3] = { e[i].x, e[i].y, e[i].z }, from[3] = { c[i].x, c[i].y, c[i].z };
        for (int k = 0; k < 9; k++)
            R[k / 3][k % 3] += to[k / 3] * from[k % 3];
    }
    double trace = R[0][0] + R[1][1] + R[2][2];
    const double squares[4] = { trace, R[0][0], R[1][1], R[2][2] };
    int largest = 0;
    for (int i = 1; i < 4; i++)
        largest = squares[i] > squares[largest] ? i : largest;
    double x = R[2][1] - R[1][2], y = R[0][2] - R[2][0], z = R[1][0] - R[0][1];
    double xy = R[0][1] + R[1][0], yz = R[1][2] + R[2][1], zx = R[2][0] + R[0][2];
    const cairn_quat candidates[4] = {
        { 1 + trace, x, y, z },
        { x, 1 + R[0][0] - R[1][1] - R[2][2], xy, zx },
        { y, xy, 1 - R[0][0] + R[1][1] - R[2][2], yz },
        { z, zx, yz, 1 - R[0][0] - R[1][1] + R[2][2] },
    };
    return cairn_quat_normalised(candidates[largest]);
}

/* Context of the reductions over all blocks or contacts. */
typedef struct survey {
    const cairn_batches *s;
    double *radius; /* of each block: output, with its frame                               */
    cairn_quat *frame;
    const int32_t *first; /* of each block: the first side that acts on it, 2 j + side; -1: none */
    bool known;           /* the contacts are of the kind "balls": no rows to examine            */
} survey;

/* Radius and orientation of a block, from the first side that acts on it. By the rows of a ball,
 * Q't1 = a2/R and Q't2 = -a1/R, which with Q'n gives three pairs of corresponding axes. */
static void learn_ball(const survey *q, int block, int side_of_all)
{
    q->radius[block] = 0;
    q->frame[block] = (cairn_quat){ 1, 0, 0, 0 };
    if (side_of_all < 0)
        return; /* nothing touches it */
    rows r = rows_of(q->s->p, side_of_all / 2, side_of_all % 2);
    double lever = cairn_norm(r.a1);
    q->radius[block] = lever;
    if (lever > 0) {
        cairn_vec3 c1 = cairn_scale(1 / lever, r.a2), c2 = cairn_scale(-1 / lever, r.a1);
        const cairn_vec3 body[3] = { cairn_cross(c1, c2), c1, c2 };
        const cairn_vec3 world[3] = { r.n, r.t1, r.t2 };
        q->frame[block] = rotation_between(body, world);
    }
}

/* Whether the rows of one side are those of a ball with the radius and orientation of its block. */
static bool is_ball_side(const cairn_batches *s, int j, int side)
{
    int block = s->p->block[2 * j + side];
    if (block < 0)
        return true;
    rows r = rows_of(s->p, j, side);
    double R = s->radius[block], small = close_enough * R;
    cairn_quat q = s->frame[block];
    cairn_vec3 e1 = cairn_add_scaled(cairn_rotate(q, r.a1), R, r.t2);
    cairn_vec3 e2 = cairn_add_scaled(cairn_rotate(q, r.a2), -R, r.t1);
    return cairn_norm(r.a0) <= small && cairn_norm(e1) <= small && cairn_norm(e2) <= small &&
           fabs(cairn_dot(r.n, r.n) - 1) <= close_enough;
}

enum { RANGE = 2048 }; /* blocks or contacts that a thread takes at a time */

/* A ball has equal inverse masses and equal inverse moments of inertia in all directions; blocks
 * without contacts may have any. */
static void learn_balls(int begin, int end, void *context, void *value)
{
    const survey *q = context;
    bool *balls = value;
    for (int i = begin; i < end; i++) {
        const double *m = q->s->p->mass_inverse + (size_t)i * 6;
        bool even = m[0] == m[1] && m[1] == m[2] && m[3] == m[4] && m[4] == m[5];
        *balls = *balls && (q->first[i] < 0 || even);
        learn_ball(q, i, q->first[i]);
    }
}

/* Batches of balls have no place for velocities w that driven bodies impose: all must be 0. */
static void check_balls(int begin, int end, void *context, void *value)
{
    const survey *q = context;
    const cairn_problem *p = q->s->p;
    bool balls = true;
    for (int j = begin; j < end && balls; j++) {
        for (int i = 0; p->w && i < 3; i++)
            balls = balls && p->w[(size_t)j * 3 + (size_t)i] == 0;
        if (!q->known)
            balls = balls && is_ball_side(q->s, j, 0) && is_ball_side(q->s, j, 1);
    }
    *(bool *)value = balls;
}

static void both(void *result, const void *value)
{
    *(bool *)result = *(bool *)result && *(const bool *)value;
}

/* *yes = whether `ask` gives true for all ranges of `count` blocks or contacts. */
static cairn_status ask_all(survey *q, int count, cairn_value_fn *ask, cairn_arena *arena,
                            bool *yes)
{
    static const bool neutral = true;
    const cairn_reduction all = { .count = count,
                                  .grain = RANGE,
                                  .work = ask,
                                  .join = both,
                                  .context = q,
                                  .neutral = &neutral,
                                  .size = sizeof neutral };
    return cairn_arena_reduce(arena, &all, yes);
}

/* Backwards, so that the first side is the last one written. */
static void find_first_sides(const cairn_problem *p, int32_t *first)
{
    for (int i = 0; i < p->blocks; i++)
        first[i] = -1;
    for (int side = 2 * p->contacts - 1; side >= 0; side--)
        if (p->block[side] >= 0)
            first[p->block[side]] = side;
}

/* First stage for stored rows: the radius and frame that each block would have as a ball. Whether
 * all its contacts agree is checked afterwards. */
static cairn_status recognise(cairn_batches *s, survey *q, cairn_arena *arena, bool *out)
{
    const cairn_problem *p = s->p;
    int32_t *first = cairn_arena_take(arena, (size_t)p->blocks, sizeof *first);
    q->radius = cairn_arena_take(arena, (size_t)p->blocks, sizeof *q->radius);
    q->frame = cairn_arena_take(arena, (size_t)p->blocks, sizeof *q->frame);
    if (!first || !q->radius || !q->frame)
        return CAIRN_NO_MEMORY;
    q->first = first;
    s->radius = q->radius;
    s->frame = q->frame;
    find_first_sides(p, first);
    return ask_all(q, p->blocks, learn_balls, arena, out);
}

cairn_status cairn_batches_find_balls(cairn_batches *s, bool known, cairn_arena *arena, bool *out)
{
    const cairn_problem *p = s->p;
    survey q = { .s = s, .known = known };
    *out = true;
    s->radius = p->radius;
    if (!known)
        TRY(recognise(s, &q, arena, out));
    if (*out && (!known || p->w))
        TRY(ask_all(&q, p->contacts, check_balls, arena, out));
    return CAIRN_OK;
}
