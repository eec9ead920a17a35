/* operator.c - v = v_free + M^-1 H' r and u = H v + w without forming W; u = W r + q with it. */
#include "problem/operator.h"

#include <string.h>

#include "base/parallel.h"
#include "problem/cut.h"

/* Contacts: fewer are not worth threads; taken at a time by a thread; prefetched ahead. */
enum { WORTH_THREADS = 4096, GRAIN = 1024, AHEAD = 12 };
enum { IN_CACHE = 4096 }; /* blocks: up to so many are not prefetched */

typedef struct product {
    const cairn_problem *p;
    const double *r;
    const double *known; /* v, if it is an input      */
    double *v, *u;
    int ranges; /* of blocks                  */
} product;

/* ---- v = v_free + M^-1 H' r ----------------------------------------------------------------- */

/* Whether a contact has an impulse. The rows of open contacts need not be read. */
CAIRN_INLINE bool pushes(int d, const double *r)
{
    bool any = false;
    for (int i = 0; i < d; i++)
        any = any || r[i] != 0; /* true for NaN */
    return any;
}

/* Apply the impulses of the contacts of one segment. */
CAIRN_INLINE void push_segment(const product *job, bool balls, int d, int n, cairn_segment s)
{
    const cairn_problem *p = job->p;
    const double *r = job->r + (size_t)s.begin * (size_t)d;
    bool far = p->blocks > IN_CACHE;
    for (int j = s.begin; j < s.begin + s.count; j++, r += d) {
        if (far) {
            cairn_contact_fetch(p, n, j + AHEAD, job->v);
            cairn_contact_fetch(p, n, j + AHEAD, p->mass_inverse);
        }
        if (pushes(d, r))
            cairn_kind_push(p, balls, d, n, j, r, job->v);
    }
}

CAIRN_INLINE void push_all(const product *job, int d, int n)
{
    for (cairn_walk w = cairn_walk_over(job->p, 0, job->p->contacts); cairn_walk_next(&w);)
        if (d == 3 && n == 6 && w.now.kind == CAIRN_KIND_BALLS)
            push_segment(job, true, d, n, w.now);
        else
            push_segment(job, false, d, n, w.now);
}

/* Blocks first .. last-1. */
typedef struct blocks {
    int first, last;
} blocks;

/* Apply impulses to some blocks only. A block gets the same terms in the same order however the
 * blocks are divided, so that the bits do not depend on the number of threads. */
CAIRN_INLINE void push_part(const product *job, bool balls, int d, int n, cairn_segment s,
                            blocks to)
{
    const cairn_problem *p = job->p;
    const double *r = job->r + (size_t)s.begin * (size_t)d;
    for (int j = s.begin; j < s.begin + s.count; j++, r += d)
        for (int side = 0; side < 2; side++) {
            int block = p->block[2 * j + side];
            if (block >= to.first && block < to.last && pushes(d, r))
                cairn_side_push(p, balls, d, n, j, side, r, job->v);
        }
}

CAIRN_INLINE void push_some(const product *job, int d, int n, blocks to)
{
    for (cairn_walk w = cairn_walk_over(job->p, 0, job->p->contacts); cairn_walk_next(&w);)
        if (d == 3 && n == 6 && w.now.kind == CAIRN_KIND_BALLS)
            push_part(job, true, d, n, w.now, to);
        else
            push_part(job, false, d, n, w.now, to);
}

static void push_ranges(int begin, int end, void *context)
{
    const product *job = context;
    int64_t all = job->p->blocks;
    const blocks to = { (int)(begin * all / job->ranges), (int)(end * all / job->ranges) };
    if (job->p->dimension == 3 && job->p->block_size == 6)
        push_some(job, 3, 6, to);
    else if (job->p->dimension == 2 && job->p->block_size == 3)
        push_some(job, 2, 3, to);
    else
        push_some(job, job->p->dimension, job->p->block_size, to);
}

void cairn_problem_velocity(const cairn_problem *p, const double *r, double *v)
{
    if (p->W || p->blocks == 0)
        return;
    memcpy(v, p->v_free, sizeof(double) * (size_t)p->blocks * (size_t)p->block_size);
    /* each thread reads all contacts and writes to its own blocks: no conflicts, and a fixed
     * order */
    int threads = p->contacts < WORTH_THREADS ? 1 : cairn_parallel_width();
    product job = { .p = p, .r = r, .v = v, .ranges = 2 * threads };
    if (threads > 1)
        cairn_parallel_for(job.ranges, 1, push_ranges, &job);
    else if (p->dimension == 3 && p->block_size == 6)
        push_all(&job, 3, 6);
    else if (p->dimension == 2 && p->block_size == 3)
        push_all(&job, 2, 3);
    else
        push_all(&job, p->dimension, p->block_size);
    cairn_problem_fetch(p, v, (size_t)p->block_size * sizeof *v);
}

/* ---- u = H v + w ---------------------------------------------------------------------------- */

CAIRN_INLINE void relative_segment(const product *job, bool balls, int d, int n, cairn_segment s)
{
    for (int j = s.begin; j < s.begin + s.count; j++)
        cairn_kind_relative(job->p, balls, d, n, j, job->known, job->u + (size_t)j * (size_t)d);
}

CAIRN_INLINE void relative_some(const product *job, int d, int n, int begin, int end)
{
    for (cairn_walk w = cairn_walk_over(job->p, begin, end); cairn_walk_next(&w);)
        if (d == 3 && n == 6 && w.now.kind == CAIRN_KIND_BALLS)
            relative_segment(job, true, d, n, w.now);
        else
            relative_segment(job, false, d, n, w.now);
}

void cairn_contact_relative_local(const cairn_problem *p, int j, const double *r, double *u)
{
    int d = p->dimension;
    for (int i = 0; i < d; i++) {
        size_t row = (size_t)j * (size_t)d + (size_t)i;
        u[i] = p->q[row];
        for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++)
            u[i] += p->W->value[k] * r[p->W->column[k]];
    }
}

void cairn_contact_velocity(const cairn_problem *p, int j, const double *r, const double *v,
                            double *u)
{
    if (p->W)
        cairn_contact_relative_local(p, j, r, u);
    else if (p->dimension == 3 && p->block_size == 6)
        cairn_contact_relative(p, 3, 6, j, v, u);
    else if (p->dimension == 2 && p->block_size == 3)
        cairn_contact_relative(p, 2, 3, j, v, u);
    else
        cairn_contact_relative(p, p->dimension, p->block_size, j, v, u);
}

static void relative_range(int begin, int end, void *context)
{
    const product *job = context;
    const cairn_problem *p = job->p;
    if (p->W)
        for (int j = begin; j < end; j++)
            cairn_contact_relative_local(p, j, job->r, job->u + (size_t)j * (size_t)p->dimension);
    else if (p->dimension == 3 && p->block_size == 6)
        relative_some(job, 3, 6, begin, end);
    else if (p->dimension == 2 && p->block_size == 3)
        relative_some(job, 2, 3, begin, end);
    else
        relative_some(job, p->dimension, p->block_size, begin, end);
}

void cairn_problem_relative(const cairn_problem *p, const double *r, const double *v, double *u)
{
    product job = { .p = p, .r = r, .known = v, .u = u };
    cairn_parallel_for(p->contacts, GRAIN, relative_range, &job);
}

void cairn_problem_apply(const cairn_problem *p, const double *r, double *v, double *u)
{
    cairn_problem_velocity(p, r, v);
    cairn_problem_relative(p, r, v, u);
}

/* ---- diagonal blocks ------------------------------------------------------------------------ */

/* Entry (i, l) of contact j's own block of a given W; 0 where none is stored. */
static double own_entry(const cairn_problem *p, int j, int i, int l)
{
    size_t row = (size_t)j * (size_t)p->dimension + (size_t)i;
    int32_t column = (int32_t)(j * p->dimension + l);
    for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++)
        if (p->W->column[k] == column)
            return p->W->value[k];
    return 0;
}

static void local_delassus(const cairn_problem *p, int j, double *W)
{
    for (int i = 0, entry = 0; i < p->dimension; i++)
        for (int l = 0; l <= i; l++, entry++)
            W[entry] = i == l ? own_entry(p, j, i, i)
                              : 0.5 * (own_entry(p, j, i, l) + own_entry(p, j, l, i));
}

/* trace(W_jj)/d of a given W, by searching the diagonal entries only. */
static double local_inverse_mass(const cairn_problem *p, int j)
{
    double trace = 0;
    for (int i = 0; i < p->dimension; i++)
        trace += own_entry(p, j, i, i);
    return trace / p->dimension;
}

void cairn_problem_rows(const cairn_problem *p, int j, int side, double *H)
{
    double room[18];
    size_t numbers = (size_t)p->dimension * (size_t)p->block_size;
    memcpy(H, cairn_rows(p, j, side, room), numbers * sizeof *H);
}

/* W = diag(wN, wT, wT) */
static void ball_weights(const cairn_problem *p, int j, double *wN, double *wT)
{
    double linear = 0, angular = 0;
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        const double *inverse = p->mass_inverse + (size_t)block * 6;
        if (block < 0)
            continue;
        linear += inverse[0];
        angular += p->radius[block] * p->radius[block] * inverse[3];
    }
    *wN = linear;
    *wT = linear + angular;
}

static void ball_delassus(const cairn_problem *p, int j, double *W)
{
    double wN, wT;
    ball_weights(p, j, &wN, &wT);
    const double values[6] = { wN, 0, wT, 0, 0, wT };
    memcpy(W, values, sizeof values);
}

/* The sum of the rows of both sides, for a contact whose two sides act on the same block. */
static void joined_rows(const cairn_problem *p, int j, double *H)
{
    const double *a = cairn_rows_stored(p, p->dimension, p->block_size, j, 0);
    const double *b = cairn_rows_stored(p, p->dimension, p->block_size, j, 1);
    for (int i = 0; i < p->dimension * p->block_size; i++)
        H[i] = a[i] + b[i];
}

CAIRN_INLINE void block_delassus(const cairn_problem *p, int d, int n, int j, double *W)
{
    memset(W, 0, sizeof(double) * (size_t)(d * (d + 1) / 2));
    bool with_itself = p->block[2 * j] == p->block[2 * j + 1];
    double joined[CAIRN_MAX_DIMENSION * 6];
    if (with_itself)
        joined_rows(p, j, joined);
    for (int side = 0; side < (with_itself ? 1 : 2); side++) {
        int block = p->block[2 * j + side];
        if (block < 0)
            continue;
        const double *H = with_itself ? joined : cairn_rows_stored(p, d, n, j, side);
        const double *inverse = p->mass_inverse + (size_t)block * (size_t)n;
        for (int i = 0, entry = 0; i < d; i++)
            for (int l = 0; l <= i; l++, entry++)
                for (int k = 0; k < n; k++)
                    W[entry] += H[i * n + k] * inverse[k] * H[l * n + k];
    }
}

void cairn_contact_delassus(const cairn_problem *p, int j, double *W)
{
    if (p->W)
        local_delassus(p, j, W);
    else if (cairn_is_of_balls(p, j))
        ball_delassus(p, j, W);
    else if (p->dimension == 3 && p->block_size == 6)
        block_delassus(p, 3, 6, j, W);
    else
        block_delassus(p, p->dimension, p->block_size, j, W);
    if (!p->compliance || !cairn_is_bounded(p, j))
        return;
    for (int i = 0, diagonal = 0; i < p->dimension; i++, diagonal += i + 1)
        W[diagonal] += p->compliance[(size_t)j * (size_t)p->dimension + (size_t)i];
}

static double mean_diagonal(int d, const double *W)
{
    double sum = 0;
    for (int i = 0, diagonal = 0; i < d; i++, diagonal += i + 1)
        sum += W[diagonal];
    return sum / d;
}

double cairn_contact_inverse_mass(const cairn_problem *p, int j)
{
    double W[CAIRN_TRIANGLE];
    if (!p->W && !p->bounded && cairn_is_of_balls(p, j)) {
        ball_weights(p, j, &W[0], &W[1]);
        return (W[0] + W[1] + W[1]) / 3;
    }
    if (p->W && !cairn_is_bounded(p, j))
        return local_inverse_mass(p, j);
    cairn_contact_delassus(p, j, W);
    return mean_diagonal(p->dimension, W);
}

void cairn_contact_scales(const cairn_problem *p, int j, double *scale)
{
    double W[CAIRN_TRIANGLE];
    int d = p->dimension;
    cairn_contact_delassus(p, j, W);
    double mean = mean_diagonal(d, W), least = 1e-12 * mean;
    for (int i = 0, diagonal = 0; i < d; i++, diagonal += i + 1) {
        bool own = cairn_is_bounded(p, j) && W[diagonal] > least;
        scale[i] = own ? W[diagonal] : mean > 0 ? mean : 1;
    }
}
