/* batch.c - recognising balls in a problem, and cutting its contacts into batches.
 *
 * With the contact frame (n, t1, t2), lever R and orientation Q of a block, the rows of a ball are
 *     side a: (n, 0), (t1, -R Q't2), (t2, R Q't1);   side b: the linear part negative.
 * Q is read off the first contact of a block; all others must agree. Batches are filled through
 * a window of open ones: a contact goes into the first in which neither of its bodies is. */
#include "backend/batch.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"

static const double close_enough = 1e-9;

/* ---- balls ---------------------------------------------------------------------------------- */

typedef struct rows {
    cairn_vec3 n, t1, t2;  /* the frame of the contact */
    cairn_vec3 a0, a1, a2; /* angular parts            */
} rows;

static cairn_vec3 vector_at(const double *x, double sign)
{
    return cairn_vec(sign * x[0], sign * x[1], sign * x[2]);
}

static rows rows_of(const cairn_problem *p, int j, int side)
{
    const double *H = cairn_rows(p, 3, 6, j, side);
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

/* Lever and orientation of a block, from the first side that acts on it. */
static void learn_ball(cairn_batches *s, int block, int side_of_all)
{
    s->lever[block] = 0;
    s->frame[block] = (cairn_quat){ 1, 0, 0, 0 };
    if (side_of_all < 0)
        return; /* nothing touches it */
    rows r = rows_of(s->p, side_of_all / 2, side_of_all % 2);
    double lever = cairn_norm(r.a1);
    s->lever[block] = lever;
    if (lever > 0) {
        cairn_vec3 c1 = cairn_scale(1 / lever, r.a2), c2 = cairn_scale(-1 / lever, r.a1);
        const cairn_vec3 body[3] = { cairn_cross(c1, c2), c1, c2 };
        const cairn_vec3 world[3] = { r.n, r.t1, r.t2 };
        s->frame[block] = rotation_between(body, world);
    }
}

static bool is_ball_side(const cairn_batches *s, int j, int side)
{
    int block = s->p->block[2 * j + side];
    if (block < 0)
        return true;
    rows r = rows_of(s->p, j, side);
    double R = s->lever[block], small = close_enough * R;
    cairn_quat q = s->frame[block];
    cairn_vec3 e1 = cairn_add_scaled(cairn_rotate(q, r.a1), R, r.t2);
    cairn_vec3 e2 = cairn_add_scaled(cairn_rotate(q, r.a2), -R, r.t1);
    return cairn_norm(r.a0) <= small && cairn_norm(e1) <= small && cairn_norm(e2) <= small &&
           fabs(cairn_dot(r.n, r.n) - 1) <= close_enough;
}

/* Questions about all blocks or contacts, asked in ranges. */
typedef struct survey {
    cairn_batches *s;
    const int32_t *first; /* of each block: the first side that acts on it, 2 j + side; -1: none */
    bool *no;             /* of each range                                                       */
} survey;

enum { RANGE = 2048 };

static void learn_balls(int begin, int end, void *context)
{
    survey *q = context;
    for (int i = begin; i < end; i++) {
        const double *m = q->s->p->mass_inverse + (size_t)i * 6;
        bool even = m[0] == m[1] && m[1] == m[2] && m[3] == m[4] && m[4] == m[5];
        if (q->first[i] >= 0 && !even)
            q->no[begin / RANGE] = true;
        learn_ball(q->s, i, q->first[i]);
    }
}

static void check_balls(int begin, int end, void *context)
{
    survey *q = context;
    const cairn_problem *p = q->s->p;
    bool balls = true;
    for (int j = begin; j < end && balls; j++) {
        for (int i = 0; p->w && i < 3; i++)
            balls = balls && p->w[(size_t)j * 3 + (size_t)i] == 0;
        balls = balls && p->block[2 * j] != p->block[2 * j + 1]; /* neither nothing nor itself */
        balls = balls && is_ball_side(q->s, j, 0) && is_ball_side(q->s, j, 1);
    }
    q->no[begin / RANGE] = q->no[begin / RANGE] || !balls;
}

static bool any(const bool *flags, int count)
{
    bool found = false;
    for (int i = 0; i < count; i++)
        found = found || flags[i];
    return found;
}

static void find_first_sides(const cairn_problem *p, int32_t *first)
{
    for (int i = 0; i < p->blocks; i++)
        first[i] = -1;
    for (int side = 2 * p->contacts - 1; side >= 0; side--)
        if (p->block[side] >= 0)
            first[p->block[side]] = side;
}

static cairn_status are_balls(cairn_batches *s, cairn_arena *arena, bool *out)
{
    const cairn_problem *p = s->p;
    int most = p->contacts > p->blocks ? p->contacts : p->blocks, ranges = most / RANGE + 1;
    int32_t *first = cairn_arena_take(arena, (size_t)p->blocks, sizeof *first);
    survey q = { s, first, cairn_arena_take(arena, (size_t)ranges, sizeof(bool)) };
    if (!first || !q.no)
        return CAIRN_NO_MEMORY;
    memset(q.no, 0, (size_t)ranges * sizeof *q.no);
    find_first_sides(p, first);
    cairn_parallel_for(p->blocks, RANGE, learn_balls, &q);
    if (!any(q.no, ranges))
        cairn_parallel_for(p->contacts, RANGE, check_balls, &q);
    *out = !any(q.no, ranges);
    return CAIRN_OK;
}

/* ---- batches -------------------------------------------------------------------------------- */

enum { WINDOW = 32, WORTH_SLABS = 8192 };

typedef struct filling {
    cairn_batches *s;
    uint32_t *used;    /* of each block: slots of the window that hold it  */
    int batch[WINDOW]; /* open batches                                     */
    int held[WINDOW];  /* contacts in them                                 */
    int most;          /* batches that there is room for                   */
    int32_t *order;    /* the contacts in the order of their blocks        */
    int at;            /* the next of them                                 */
    int now;           /* the group being filled                           */
} filling;

/* Walls and padding have records after those of the blocks, of their own in each group. */
static int wall_record(const filling *f)
{
    return f->s->p->blocks + 2 * f->now;
}

static int ghost_record(const filling *f)
{
    return wall_record(f) + 1;
}

static void open_batch(filling *f, int slot)
{
    cairn_batches *s = f->s;
    if (s->count == f->most)
        return; /* noticed at the end */
    f->batch[slot] = s->count++;
    f->held[slot] = 0;
    size_t first = (size_t)f->batch[slot] * CAIRN_BATCH;
    for (size_t i = first; i < first + CAIRN_BATCH; i++) {
        s->contact[i] = -1;
        s->bodies[2 * i] = ghost_record(f);
        s->bodies[2 * i + 1] = wall_record(f);
    }
}

/* The bodies of a full batch may meet again. */
static void close_batch(filling *f, int slot)
{
    const cairn_batches *s = f->s;
    size_t first = (size_t)f->batch[slot] * CAIRN_BATCH;
    for (size_t i = 2 * first; i < 2 * (first + CAIRN_BATCH); i++)
        if (s->bodies[i] < s->p->blocks)
            f->used[s->bodies[i]] &= ~(1u << slot);
    open_batch(f, slot);
}

static uint32_t used_by(const filling *f, int block)
{
    return block < 0 ? 0 : f->used[block];
}

static int fullest(const filling *f)
{
    int best = 0;
    for (int k = 1; k < WINDOW; k++)
        best = f->held[k] > f->held[best] ? k : best;
    return best;
}

static void place(filling *f, int j)
{
    cairn_batches *s = f->s;
    const int32_t *block = s->p->block + 2 * (size_t)j;
    uint32_t taken = used_by(f, block[0]) | used_by(f, block[1]);
    if (taken == UINT32_MAX)
        close_batch(f, fullest(f));
    taken = used_by(f, block[0]) | used_by(f, block[1]);
    int slot = __builtin_ctz(~taken);
    size_t lane = (size_t)f->batch[slot] * CAIRN_BATCH + (size_t)f->held[slot]++;
    s->contact[lane] = j;
    for (int side = 0; side < 2; side++) {
        s->bodies[2 * lane + (size_t)side] = block[side] < 0 ? wall_record(f) : block[side];
        if (block[side] >= 0)
            f->used[block[side]] |= 1u << slot;
    }
    if (f->held[slot] == CAIRN_BATCH)
        close_batch(f, slot);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Contacts whose bodies all lie in one slab of the numbering are a group of their own, which runs
 * beside the others; those between slabs come last. The slabs depend on the problem alone. */
static int slab_of(const cairn_batches *s, int block)
{
    return (int)((int64_t)block * s->slabs / s->p->blocks);
}

static int lower_block(const cairn_problem *p, int j)
{
    int a = p->block[2 * j], b = p->block[2 * j + 1];
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int group_of(const cairn_batches *s, int j)
{
    int a = s->p->block[2 * j], b = s->p->block[2 * j + 1];
    if (a < 0 || b < 0)
        return slab_of(s, a < 0 ? b : a);
    return slab_of(s, a) == slab_of(s, b) ? slab_of(s, a) : s->slabs;
}

/* Contacts by the lower of their blocks, then by number: neighbours in space where the numbering of
 * the blocks follows space, whatever order they came in. */
static cairn_status order_contacts(const cairn_problem *p, cairn_arena *arena, int32_t **out)
{
    int32_t *next = cairn_arena_take(arena, (size_t)p->blocks + 1, sizeof *next);
    int32_t *order = cairn_arena_take(arena, (size_t)p->contacts, sizeof *order);
    if (!next || !order)
        return CAIRN_NO_MEMORY;
    memset(next, 0, ((size_t)p->blocks + 1) * sizeof *next);
    for (int j = 0; j < p->contacts; j++)
        next[lower_block(p, j) + 1]++;
    for (int i = 0; i < p->blocks; i++)
        next[i + 1] += next[i];
    for (int j = 0; j < p->contacts; j++)
        order[next[lower_block(p, j)]++] = j;
    *out = order;
    return CAIRN_OK;
}

/* In the order of contacts, those of a slab stand together, with those between slabs among them. */
static void fill_group(filling *f, int group)
{
    const cairn_problem *p = f->s->p;
    f->now = group;
    memset(f->used, 0, (size_t)p->blocks * sizeof *f->used);
    for (int k = 0; k < WINDOW; k++)
        open_batch(f, k);
    bool between = group == f->s->slabs;
    for (int k = between ? 0 : f->at; k < p->contacts; k++) {
        int j = f->order[k], own = slab_of(f->s, lower_block(p, j));
        f->at = k;
        if (!between && own != group)
            return;
        if (group_of(f->s, j) == group)
            place(f, j);
    }
}

/* Open batches that hold nothing are taken back: they are at the end, or swapped there. */
static void drop_empty(cairn_batches *s, int first)
{
    int kept = first;
    for (int k = first; k < s->count; k++) {
        size_t from = (size_t)k * CAIRN_BATCH, to = (size_t)kept * CAIRN_BATCH;
        if (s->contact[from] < 0)
            continue;
        memmove(s->contact + to, s->contact + from, CAIRN_BATCH * sizeof *s->contact);
        memmove(s->bodies + 2 * to, s->bodies + 2 * from, 2 * CAIRN_BATCH * sizeof *s->bodies);
        kept++;
    }
    s->count = kept;
}

/* Not filled: some body has so many contacts that batches stay half empty. */
static cairn_status fill_batches(cairn_batches *s, cairn_arena *arena, int most)
{
    filling f = { .s = s, .most = most };
    f.used = cairn_arena_take(arena, (size_t)s->p->blocks, sizeof *f.used);
    if (!f.used)
        return CAIRN_NO_MEMORY;
    TRY(order_contacts(s->p, arena, &f.order));
    for (int group = 0; group <= s->slabs && s->count < most; group++) {
        s->start[group] = s->count;
        fill_group(&f, group);
        drop_empty(s, s->start[group]);
    }
    s->start[s->slabs + 1] = s->count;
    s->usable = s->count < most;
    return CAIRN_OK;
}

static bool is_smooth(const cairn_problem *p)
{
    bool smooth = true;
    for (int j = 0; j < p->contacts; j++)
        smooth = smooth && p->mu[j] == 0;
    return smooth;
}

cairn_status cairn_batches_create(const cairn_problem *p, cairn_arena *arena, cairn_batches *out)
{
    *out = (cairn_batches){ .p = p, .slabs = p->contacts < WORTH_SLABS ? 1 : CAIRN_SLABS };
    bool balls = p->dimension == 3 && p->block_size == 6 && !p->directions && !p->bounded;
    if (p->W || !balls || p->blocks == 0)
        return CAIRN_OK;
    int most = p->contacts / (CAIRN_BATCH / 2) + 2 * WINDOW * (out->slabs + 1);
    size_t lanes = (size_t)most * CAIRN_BATCH;
    out->lever = cairn_arena_take(arena, (size_t)p->blocks, sizeof *out->lever);
    out->frame = cairn_arena_take(arena, (size_t)p->blocks, sizeof *out->frame);
    if (!out->lever || !out->frame)
        return CAIRN_NO_MEMORY;
    TRY(are_balls(out, arena, &balls));
    if (!balls)
        return CAIRN_OK;
    out->contact = cairn_arena_take(arena, lanes, sizeof *out->contact);
    out->bodies = cairn_arena_take(arena, 2 * lanes, sizeof *out->bodies);
    if (!out->contact || !out->bodies)
        return CAIRN_NO_MEMORY;
    out->smooth = is_smooth(p);
    return fill_batches(out, arena, most);
}
