/* batch_plane_state.c - what sweeps over batches of contacts in 2D run on, float or double, a unit
 * compiled once for each (src/units.cmake): impulses in contact frames, records (v, w, 1/m) of the
 * bodies. The text is that of 3D. */
#include "backend/host/batch_plane_sweep.h"

enum {
    D = 2,
    N = 3,
    RECORD = 4,
    NUMBERS = CAIRN_PLANE_NUMBERS,
    INERTIA = 0, /* the lanes have it */
};

/* What a lane needs to know of its contact. */
typedef union lane_numbers {
    struct {
        double line[4], turn[2][2], push[2][2], W[3], shift[2], mu;
    };
    double number[CAIRN_PLANE_NUMBERS];
} lane_numbers;

#include "backend/host/batch_general_state.h"

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
