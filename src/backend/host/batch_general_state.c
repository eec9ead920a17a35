/* batch_general_state.c - the state of sweeps over batches of contacts of any bodies in 3D, a unit
 * compiled for float and for double (src/units.cmake): impulses in contact frames, records
 * (v, w, 1/m, 0) of the bodies. Rows with bounds (joints, limits, motors) are swept after the
 * batches, one by one in their order, in double. */
#include "backend/host/batch_unit.h"

typedef general_batch batch_data;
typedef general_pass pass_job;
typedef general_kernels pass_kernels;

enum { D = 3, N = 6, RECORD = 8, NUMBERS = CAIRN_GENERAL_NUMBERS, INERTIA = 4 };

/* The data of a contact in one lane, in the order of the rows of a batch. */
typedef union lane_numbers {
    struct {
        double line[9], turn[2][9], W[6], shift[3], mu;
    };
    double number[CAIRN_GENERAL_NUMBERS];
} lane_numbers;

#include "backend/host/batch_general_state.h"
#include "problem/cone.h"

/* The data of contact j; -1: padding. Padding has W = 1 and u_N = 1, so that it opens, gets no
 * impulse and never divides by zero. */
static void find_lane(const cairn_problem *p, int j, lane_numbers *out)
{
    *out = (lane_numbers){ .W = { 1, 0, 1, 0, 0, 1 }, .shift = { 1, 0, 0 } };
    if (j < 0)
        return;
    /* side 0 last: `line` is then that of body a where both sides have a block */
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

static const pass_kernels *kernels_of(cairn_width width)
{
    return general_kernels_of(width);
}

static void complete_job(const kept_state *s, pass_job *job)
{
    job->inertia = s->inertia;
}

const cairn_sweeps CAIRN_UNIT = {
    .name = sizeof(real) < sizeof(double) ? "general float" : "general double",
    .single = sizeof(real) < sizeof(double),
    .begin = begin_sweeps,
    .sweep = sweep,
    .unload = unload,
    .load_velocities = load_velocities,
    .refresh = refresh,
    .forget = forget,
};
