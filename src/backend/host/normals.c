/* normals.c - frictionless problems as problems in their normal impulses alone, see host.h.
 *
 * The velocity of a block is a sum over its contacts. It is formed in the order of the contacts,
 * whichever thread does it: threads share the blocks, not the contacts, and each reads the whole
 * list of contacts. The bits therefore do not depend on the number of threads. */
#include "backend/host/host.h"

#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "problem/operator.h"

enum { WORTH_THREADS = 4096, GRAIN = 1024 }; /* contacts */

bool cairn_problem_is_normal(const cairn_problem *p)
{
    if (p->W || p->blocks == 0 || p->rolling + p->spinning)
        return false;
    return !cairn_problem_has_friction(p) && !cairn_problem_has(p, CAIRN_KIND_ROWS);
}

void cairn_normals_pack(const cairn_problem *p, const double *r, double *normals)
{
    for (int j = 0; j < p->contacts; j++)
        normals[j] = r[(size_t)j * (size_t)p->dimension];
}

void cairn_normals_unpack(const cairn_problem *p, const double *normals, double *r)
{
    memset(r, 0, sizeof(double) * (size_t)p->dimension * (size_t)p->contacts);
    for (int j = 0; j < p->contacts; j++)
        r[(size_t)j * (size_t)p->dimension] = normals[j];
}

static cairn_status fill_shift(const cairn_system *s, cairn_normals *normals)
{
    normals->shift = cairn_arena_take(s->arena, (size_t)s->p->contacts, sizeof(double));
    if (!normals->shift)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < s->p->contacts; j++) {
        double w = s->p->w ? s->p->w[(size_t)j * (size_t)s->p->dimension] : 0;
        normals->shift[j] = w + cairn_contact_bias(s->p, j);
    }
    return CAIRN_OK;
}

cairn_status cairn_normals_find(cairn_system *s)
{
    if (s->normals)
        return CAIRN_OK;
    cairn_normals *normals = cairn_arena_take(s->arena, 1, sizeof *normals);
    if (!normals)
        return CAIRN_NO_MEMORY;
    /* not in parts: members would have to agree, and exchange velocities, here as well */
    *normals = (cairn_normals){ .usable = !s->p->cut && cairn_problem_is_normal(s->p) };
    if (normals->usable)
        TRY(fill_shift(s, normals));
    s->normals = normals;
    return CAIRN_OK;
}

/* ---- v = v_free + M^-1 N' r ------------------------------------------------------------------ */

typedef struct product {
    const cairn_system *s;
    const double *r, *known; /* impulses; velocities that are only read */
    double *v, *g;
    int ranges; /* of blocks */
} product;

/* Add the velocity change by the normal impulse r of contact j to the block on one side. A normal
 * impulse on a ball passes through its centre and does not turn it. */
CAIRN_INLINE void push_side(const cairn_problem *p, bool balls, int j, int side, double r,
                            double *v)
{
    size_t n = balls ? 6 : (size_t)p->block_size, first = (size_t)p->block[2 * j + side] * n;
    const double *inverse = p->mass_inverse + first;
    v += first;
    if (balls) {
        double push = (side ? -r : r) * inverse[0];
        v[0] += push * p->normal[j].x;
        v[1] += push * p->normal[j].y;
        v[2] += push * p->normal[j].z;
        return;
    }
    const double *H = cairn_rows_stored(p, p->dimension, p->block_size, j, side);
    for (size_t k = 0; k < n; k++)
        v[k] += inverse[k] * H[k] * r;
}

CAIRN_INLINE void push_each(const product *job, bool balls, cairn_segment s, int first, int last)
{
    const cairn_problem *p = job->s->p;
    for (int j = s.begin; j < s.begin + s.count; j++)
        for (int side = 0; side < 2 && job->r[j] != 0; side++) {
            int block = p->block[2 * j + side];
            if (block >= first && block < last)
                push_side(p, balls, j, side, job->r[j], job->v);
        }
}

/* Apply the impulses of all contacts to blocks first .. last-1. */
static void push_some(const product *job, int first, int last)
{
    const cairn_problem *p = job->s->p;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        if (w.now.kind == CAIRN_KIND_BALLS)
            push_each(job, true, w.now, first, last);
        else
            push_each(job, false, w.now, first, last);
}

static void push_ranges(int begin, int end, void *context)
{
    const product *job = context;
    int64_t blocks = job->s->p->blocks;
    push_some(job, (int)(begin * blocks / job->ranges), (int)(end * blocks / job->ranges));
}

static void velocity(const cairn_system *s, const double *r, double *v)
{
    int threads = s->p->contacts < WORTH_THREADS ? 1 : cairn_parallel_width();
    /* two ranges a thread even out the load; more would read the list of contacts more often */
    product job = { .s = s, .r = r, .v = v, .ranges = 2 * threads };
    memcpy(v, s->p->v_free, s->v_count * sizeof(double));
    if (threads > 1)
        cairn_parallel_for(job.ranges, 1, push_ranges, &job);
    else
        push_some(&job, 0, s->p->blocks);
}

/* ---- g = N v + w_N + b ----------------------------------------------------------------------- */

/* The contribution of one side to the normal velocity of contact j. */
CAIRN_INLINE double closing(const cairn_problem *p, bool balls, int j, int side, const double *v)
{
    int block = p->block[2 * j + side];
    if (block < 0)
        return 0;
    v += (size_t)block * (balls ? 6 : (size_t)p->block_size);
    if (balls) {
        double along = p->normal[j].x * v[0] + p->normal[j].y * v[1] + p->normal[j].z * v[2];
        return side ? -along : along;
    }
    const double *H = cairn_rows_stored(p, p->dimension, p->block_size, j, side);
    double sum = 0;
    for (int k = 0; k < p->block_size; k++)
        sum += H[k] * v[k];
    return sum;
}

CAIRN_INLINE void closing_each(const product *job, bool balls, cairn_segment s)
{
    const cairn_problem *p = job->s->p;
    for (int j = s.begin; j < s.begin + s.count; j++)
        job->g[j] = closing(p, balls, j, 0, job->known) + closing(p, balls, j, 1, job->known) +
                    job->s->normals->shift[j];
}

static void closing_range(int begin, int end, void *context)
{
    const product *job = context;
    for (cairn_walk w = cairn_walk_over(job->s->p, begin, end); cairn_walk_next(&w);)
        if (w.now.kind == CAIRN_KIND_BALLS)
            closing_each(job, true, w.now);
        else
            closing_each(job, false, w.now);
}

void cairn_normals_gradient(const cairn_system *s, const double *r, double *v, double *g)
{
    product job = { .s = s, .known = v, .g = g };
    velocity(s, r, v);
    cairn_parallel_for(s->p->contacts, GRAIN, closing_range, &job);
}

/* r = max(r, 0). A NaN stays, so that the judge can report it. */
void cairn_normals_project(const cairn_system *s, double *r)
{
    for (int j = 0; j < s->p->contacts; j++)
        r[j] = r[j] < 0 ? 0 : r[j];
}
