/* batch_plane_state.c - what sweeps over batches of contacts in 2D run on, float or double:
 * impulses in contact frames, records (v, w, 1/m) of the bodies. The text is that of 3D. */
#include <math.h>
#include <string.h>

#include "backend/batch_general.h"
#include "backend/batch_plane.h"
#include "backend/batch_special.h"
#include "base/parallel.h"
#include "base/status.h"
#include "problem/operator.h"

/* What a lane needs to know of its contact. */
typedef union lane_numbers {
    struct {
        double line[4], turn[2][2], push[2][2], W[3], shift[2], mu;
    };
    double number[CAIRN_PLANE_NUMBERS];
} lane_numbers;

/* One side; W += H M^-1 H'. */
static void add_side(const cairn_problem *p, int j, int side, lane_numbers *out)
{
    const double *H = cairn_rows_stored(p, 2, 3, j, side);
    const double *inverse = p->mass_inverse + 3 * (size_t)p->block[2 * j + side];
    for (int i = 0; i < 2; i++) {
        out->line[2 * i] = side ? -H[3 * i] : H[3 * i];
        out->line[2 * i + 1] = side ? -H[3 * i + 1] : H[3 * i + 1];
        out->turn[side][i] = H[3 * i + 2];
        out->push[side][i] = inverse[2] * H[3 * i + 2];
    }
    for (int k = 0; k < 3; k++) {
        out->W[0] += H[k] * inverse[k] * H[k];
        out->W[1] += H[k] * inverse[k] * H[3 + k];
        out->W[2] += H[3 + k] * inverse[k] * H[3 + k];
    }
}

/* Of contact j; -1: padding, which never pushes. */
static void find_lane(const cairn_problem *p, int j, lane_numbers *out)
{
    static const lane_numbers padding = { .W = { 1, 0, 1 }, .shift = { 1, 0 } };
    *out = padding;
    if (j < 0)
        return;
    out->W[0] = out->W[2] = 0;
    for (int side = 1; side >= 0; side--)
        if (p->block[2 * j + side] >= 0)
            add_side(p, j, side, out);
    for (int i = 0; i < 2; i++)
        out->shift[i] = p->w ? p->w[2 * (size_t)j + (size_t)i] : 0;
    out->shift[0] += cairn_contact_shift(p, j);
    out->mu = p->mu[j];
}

/* ---- float and double ----------------------------------------------------------------------- */

#define D                2
#define N                3
#define RECORD           4
#define NUMBERS          CAIRN_PLANE_NUMBERS
#define INERTIA          0 /* the lanes have it */
#define COMPLETE(s, job) ((job).smooth = (s)->batches->smooth)

#define REAL       float
#define NAME(name) f32_##name
#define BATCH      cairn_plane_f32
#define JOB        cairn_plane_pass_f32
#define PASS       cairn_plane_sweep_f32
#define KERNELS    cairn_sweeps_plane_f32
#define TEXT       "plane float"
#include "backend/batch_general_state.h"
#undef REAL
#undef NAME
#undef BATCH
#undef JOB
#undef PASS
#undef KERNELS
#undef TEXT

#define REAL       double
#define NAME(name) f64_##name
#define BATCH      cairn_plane_f64
#define JOB        cairn_plane_pass_f64
#define PASS       cairn_plane_sweep_f64
#define KERNELS    cairn_sweeps_plane_f64
#define TEXT       "plane double"
#include "backend/batch_general_state.h"
