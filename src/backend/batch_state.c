/* batch_state.c - what sweeps over batches run on, float or double: impulses as vectors in space,
 * records (v, R w, 1/m, R^2/J) of the bodies, one for all walls and one for padding. Without
 * friction one multiplier for a contact, and records (v, 1/m). */
#include <math.h>
#include <string.h>

#include "backend/batch.h"
#include "base/parallel.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"

/* The frame of contact j: n, t1, t2; where rows are stored, from whichever side has a block. */
typedef struct axes {
    cairn_vec3 n, t1, t2;
} axes;

CAIRN_INLINE axes axes_of(const cairn_problem *p, int j)
{
    if (cairn_is_of_balls(p, j))
        return (axes){ p->normal[j], p->tangent[j], cairn_cross(p->normal[j], p->tangent[j]) };
    int side = p->block[2 * j] >= 0 ? 0 : 1;
    const double *H = cairn_rows_stored(p, 3, 6, j, side), sign = side ? -1 : 1;
    return (axes){ cairn_vec(sign * H[0], sign * H[1], sign * H[2]),
                   cairn_vec(sign * H[6], sign * H[7], sign * H[8]),
                   cairn_vec(sign * H[12], sign * H[13], sign * H[14]) };
}

/* p = r_N n + r_1 t1 + r_2 t2 */
static cairn_vec3 impulse_in_space(const cairn_problem *p, int j, const double *r)
{
    axes e = axes_of(p, j);
    cairn_vec3 sum = cairn_scale(r[0], e.n);
    return cairn_add_scaled(cairn_add_scaled(sum, r[1], e.t1), r[2], e.t2);
}

static void impulse_in_frame(const cairn_problem *p, int j, cairn_vec3 in, double *r)
{
    axes e = axes_of(p, j);
    r[0] = cairn_dot(in, e.n);
    r[1] = cairn_dot(in, e.t1);
    r[2] = cairn_dot(in, e.t2);
}

/* R w of a block in space axes, from its six velocities. */
CAIRN_INLINE cairn_vec3 turning_of(const cairn_batches *s, int block, const double *v)
{
    cairn_vec3 w = cairn_vec(v[3], v[4], v[5]);
    if (s->frame)
        w = cairn_rotate(s->frame[block], w);
    return cairn_scale(fmax(0, s->radius[block]), w);
}

/* Lane i of batch k: its normal, shift and mu; padding never pushes. */
static void lane_of(const cairn_batches *s, int k, int i, double out[5])
{
    int j = s->contact[(size_t)k * CAIRN_BATCH + (size_t)i];
    const double padding[5] = { 0, 0, 1, 1, 0 };
    memcpy(out, padding, sizeof padding);
    if (j < 0)
        return;
    cairn_vec3 n = cairn_is_of_balls(s->p, j) ? s->p->normal[j] : axes_of(s->p, j).n;
    double mu = s->smooth ? 0 : s->p->mu[j];
    const double values[5] = { n.x, n.y, n.z, cairn_contact_shift(s->p, j), mu };
    memcpy(out, values, sizeof values);
}

/* Contacts stand in other places of the problem than of the batches: what lanes need a little later
 * is asked for now, by the first and the last of each three numbers, which may be in two lines. */
enum { AHEAD = 32 }; /* lanes */

CAIRN_INLINE int contact_ahead(const cairn_batches *s, int lane)
{
    return lane < s->count * CAIRN_BATCH ? s->contact[lane] : -1;
}

CAIRN_INLINE void fetch3(const double *three)
{
    cairn_prefetch(three, 3 * sizeof *three);
}

CAIRN_INLINE void fetch_lane(const cairn_batches *s, int lane)
{
    int j = contact_ahead(s, lane);
    if (j < 0 || !s->p->normal)
        return;
    fetch3(&s->p->normal[j].x);
    if (s->p->b)
        cairn_prefetch(s->p->b + j, sizeof *s->p->b);
    if (!s->smooth)
        cairn_prefetch(s->p->mu + j, sizeof *s->p->mu);
}

CAIRN_INLINE void fetch_impulse(const cairn_batches *s, int lane, const double *r)
{
    int j = contact_ahead(s, lane);
    if (j < 0)
        return;
    fetch3(r + 3 * (size_t)j);
    if (!s->smooth && s->p->normal) {
        fetch3(&s->p->normal[j].x);
        fetch3(&s->p->tangent[j].x);
        cairn_prefetch(s->p->mu + j, sizeof *s->p->mu);
    }
}

enum { LOADED = 4096, MOVED = 16384 }; /* lanes or bodies that a thread takes at a time */

/* Once for a problem, whatever numbers the sweeps use. */
static cairn_status make_batches(cairn_system *s, cairn_arena *arena)
{
    if (s->batches)
        return CAIRN_OK;
    cairn_batches *batches = cairn_arena_take(arena, 1, sizeof *batches);
    if (!batches)
        return CAIRN_NO_MEMORY;
    TRY(cairn_batches_create(s->p, arena, batches));
    s->batches = batches;
    return CAIRN_OK;
}

#define REAL       float
#define NAME(name) f32_##name
#define BATCH      cairn_batch_f32
#define JOB        cairn_pass_f32
#define PASS       cairn_batch_pass_f32
#define KERNELS    cairn_sweeps_f32
#define TEXT       "float"
#include "backend/batch_state.h"
#undef REAL
#undef NAME
#undef BATCH
#undef JOB
#undef PASS
#undef KERNELS
#undef TEXT

#define REAL       double
#define NAME(name) f64_##name
#define BATCH      cairn_batch_f64
#define JOB        cairn_pass_f64
#define PASS       cairn_batch_pass_f64
#define KERNELS    cairn_sweeps_f64
#define TEXT       "double"
#include "backend/batch_state.h"
