/* batch_general_state.c - what sweeps over batches of contacts of any bodies run on, float or
 * double: impulses in contact frames, records (v, w, 1/m, 0) of the bodies. Rows with bounds
 * (joints, limits, motors) follow after the batches, one by one in their order, in double. */
#include <math.h>
#include <string.h>

#include "backend/batch_general.h"
#include "backend/batch_special.h"
#include "base/parallel.h"
#include "base/status.h"
#include "problem/local.h"
#include "problem/operator.h"

/* What a lane needs to know of its contact. */
typedef union lane_numbers {
    struct {
        double line[9], turn[2][9], W[6], shift[3], mu;
    };
    double number[CAIRN_GENERAL_NUMBERS];
} lane_numbers;

/* Of contact j; -1: padding, which never pushes. */
static void find_lane(const cairn_problem *p, int j, lane_numbers *out)
{
    *out = (lane_numbers){ .W = { 1, 0, 1, 0, 0, 1 }, .shift = { 1, 0, 0 } };
    if (j < 0)
        return;
    for (int side = 1; side >= 0; side--) {
        double H[18];
        if (p->block[2 * j + side] < 0)
            continue;
        cairn_problem_rows(p, j, side, H);
        for (int i = 0; i < 9; i++) {
            out->line[i] = (side ? -1 : 1) * H[6 * (i / 3) + i % 3];
            out->turn[side][i] = H[6 * (i / 3) + 3 + i % 3];
        }
    }
    cairn_contact_delassus(p, j, out->W);
    for (int i = 0; i < 3; i++)
        out->shift[i] = p->w ? p->w[3 * (size_t)j + (size_t)i] : 0;
    out->shift[0] += cairn_contact_shift(p, j);
    out->mu = p->mu[j];
}

/* ---- float and double ----------------------------------------------------------------------- */

#define D                3
#define N                6
#define RECORD           8
#define NUMBERS          CAIRN_GENERAL_NUMBERS
#define INERTIA          4
#define COMPLETE(s, job) ((job).inertia = (s)->inertia)

#define REAL       float
#define NAME(name) f32_##name
#define BATCH      cairn_general_f32
#define JOB        cairn_general_pass_f32
#define PASS       cairn_general_sweep_f32
#define KERNELS    cairn_sweeps_general_f32
#define TEXT       "general float"
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
#define BATCH      cairn_general_f64
#define JOB        cairn_general_pass_f64
#define PASS       cairn_general_sweep_f64
#define KERNELS    cairn_sweeps_general_f64
#define TEXT       "general double"
#include "backend/batch_general_state.h"
