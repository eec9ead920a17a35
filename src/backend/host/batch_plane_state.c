/* batch_plane_state.c - the state of sweeps over batches of contacts in 2D, a unit compiled for
 * float and for double (src/units.cmake): impulses in contact frames, records (v, w, 1/m) of the
 * bodies. It shares batch_general_state.h with the 3D unit. */
#include "backend/host/batch_unit.h"

typedef plane_batch batch_data;
typedef plane_pass pass_job;
typedef plane_kernels pass_kernels;

enum {
    D = 2,
    N = 3,
    RECORD = 4,
    NUMBERS = CAIRN_PLANE_NUMBERS,
    INERTIA = 0, /* none: the lanes hold turn/J as `push` */
};

/* The data of a contact in one lane, in the order of the rows of a batch. */
typedef union lane_numbers {
    struct {
        double line[4], turn[2][2], push[2][2], W[3], shift[2], mu;
    };
    double number[CAIRN_PLANE_NUMBERS];
} lane_numbers;

#include "backend/host/batch_general_state.h"

/* Add one side: its rows, and W += H M^-1 H'. */
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

/* The data of contact j; -1: padding. Padding has W = 1 and u_N = 1, so that it opens, gets no
 * impulse and never divides by zero. */
static void find_lane(const cairn_problem *p, int j, lane_numbers *out)
{
    static const lane_numbers padding = { .W = { 1, 0, 1 }, .shift = { 1, 0 } };
    *out = padding;
    if (j < 0)
        return;
    out->W[0] = out->W[2] = 0;
    /* side 0 last: `line` is then that of body a where both sides have a block */
    for (int side = 1; side >= 0; side--)
        if (p->block[2 * j + side] >= 0)
            add_side(p, j, side, out);
    for (int i = 0; i < 2; i++)
        out->shift[i] = p->w ? p->w[2 * (size_t)j + (size_t)i] : 0;
    out->shift[0] += cairn_contact_shift(p, j);
    out->mu = p->mu[j];
}

static const pass_kernels *kernels_of(cairn_width width)
{
    return plane_kernels_of(width);
}

static void complete_job(const kept_state *s, pass_job *job)
{
    job->smooth = s->batches->smooth;
}

const cairn_sweeps CAIRN_UNIT = {
    .name = sizeof(real) < sizeof(double) ? "plane float" : "plane double",
    .single = sizeof(real) < sizeof(double),
    .begin = begin_sweeps,
    .sweep = sweep,
    .unload = unload,
    .load_velocities = load_velocities,
    .refresh = refresh,
    .forget = forget,
};
