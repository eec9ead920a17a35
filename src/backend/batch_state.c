/* batch_state.c - what sweeps over batches run on, float or double: impulses as vectors in space,
 * records (v, R w, 1/m, R^2/J) of the bodies, one for all walls and one for padding. Without
 * friction one multiplier for a contact, and records (v, 1/m). */
#include <math.h>
#include <string.h>

#include "backend/batch.h"
#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"

/* The frame of contact j, from whichever side has a block. */
static const double *frame_of(const cairn_problem *p, int j, double *sign)
{
    int side = p->block[2 * j] >= 0 ? 0 : 1;
    *sign = side ? -1 : 1;
    return cairn_rows(p, 3, 6, j, side);
}

/* p = r_N n + r_1 t1 + r_2 t2 */
static void impulse_in_space(const cairn_problem *p, int j, const double *r, double *out)
{
    double sign;
    const double *H = frame_of(p, j, &sign);
    for (int i = 0; i < 3; i++)
        out[i] = sign * (r[0] * H[i] + r[1] * H[6 + i] + r[2] * H[12 + i]);
}

static void impulse_in_frame(const cairn_problem *p, int j, const double *in, double *r)
{
    double sign;
    const double *H = frame_of(p, j, &sign);
    for (int i = 0; i < 3; i++)
        r[i] = sign * (in[0] * H[6 * i] + in[1] * H[6 * i + 1] + in[2] * H[6 * i + 2]);
}

static void record_of(const cairn_batches *s, int block, const double *v, double *out)
{
    const double *m = s->p->mass_inverse + (size_t)block * 6;
    if (s->smooth) {
        const double record[4] = { v[0], v[1], v[2], m[0] };
        memcpy(out, record, sizeof record);
        return;
    }
    double R = fmax(0, s->lever[block]);
    cairn_vec3 w = cairn_rotate(s->frame[block], cairn_vec(v[3], v[4], v[5]));
    const double record[8] = { v[0], v[1], v[2], R * w.x, R * w.y, R * w.z, m[0], R * R * m[3] };
    memcpy(out, record, sizeof record);
}

/* Lane i of batch k: its normal, shift and mu; padding never pushes. */
static void lane_of(const cairn_batches *s, int k, int i, double out[5])
{
    int j = s->contact[(size_t)k * CAIRN_BATCH + (size_t)i];
    const double padding[5] = { 0, 0, 1, 1, 0 };
    memcpy(out, padding, sizeof padding);
    if (j < 0)
        return;
    double sign;
    const double *H = frame_of(s->p, j, &sign);
    for (int c = 0; c < 3; c++)
        out[c] = sign * H[c];
    out[3] = cairn_contact_shift(s->p, j);
    out[4] = s->p->mu[j];
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
