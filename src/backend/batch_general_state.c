/* batch_general_state.c - what sweeps over batches of contacts of any bodies run on, float or
 * double: impulses in contact frames, records (v, w, 1/m, 0) of the bodies. Rows with bounds
 * (joints, limits, motors) follow after the batches, one by one in their order, in double. */
#include <math.h>
#include <string.h>

#include "backend/batch_general.h"
#include "base/parallel.h"
#include "base/status.h"
#include "problem/local.h"
#include "problem/operator.h"

enum { LOADED = 4096, MOVED = 16384 }; /* lanes or bodies that a thread takes at a time */

/* What a lane needs to know of its contact. */
typedef struct lane_numbers {
    double line[9], turn[2][9], W[6], shift[3], mu;
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

/* ---- rows with bounds ----------------------------------------------------------------------- */

typedef struct special_rows {
    const cairn_problem *p;
    int count;
    int32_t *contact;
    double *H;            /* 3 x 6 of each side     */
    double *W;            /* 6 each                 */
    double *r, *previous; /* 3 each                 */
    cairn_sweep noted;    /* by the sweep that is under way */
} special_rows;

static cairn_status special_reserve(const cairn_problem *p, cairn_arena *arena, special_rows *out)
{
    size_t count = 0;
    for (int j = 0; p->bounded && j < p->contacts; j++)
        count += p->bounded[j] != 0;
    *out = (special_rows){ .p = p };
    out->contact = cairn_arena_take(arena, count, sizeof *out->contact);
    out->H = cairn_arena_doubles(arena, 36 * count);
    out->W = cairn_arena_doubles(arena, 6 * count);
    out->r = cairn_arena_doubles(arena, 3 * count);
    out->previous = cairn_arena_doubles(arena, 3 * count);
    if (!out->contact || !out->H || !out->W || !out->r || !out->previous)
        return CAIRN_NO_MEMORY;
    for (int j = 0; p->bounded && j < p->contacts; j++) {
        if (!p->bounded[j])
            continue;
        int k = out->count++;
        out->contact[k] = j;
        cairn_contact_delassus(p, j, out->W + 6 * k);
        for (int side = 0; side < 2; side++)
            if (p->block[2 * j + side] >= 0)
                cairn_problem_rows(p, j, side, out->H + 36 * k + 18 * side);
    }
    return CAIRN_OK;
}

static void special_load(special_rows *s, const double *r)
{
    for (int k = 0; k < s->count; k++)
        memcpy(s->r + 3 * k, r + 3 * (size_t)s->contact[k], 3 * sizeof *r);
}

static void special_unload(const special_rows *s, double *r)
{
    for (int k = 0; k < s->count; k++)
        memcpy(r + 3 * (size_t)s->contact[k], s->r + 3 * k, 3 * sizeof *r);
}

static void special_forget(special_rows *s)
{
    if (s->count > 0)
        memcpy(s->previous, s->r, 3 * (size_t)s->count * sizeof *s->r);
}

/* u = H v + w of block k, with the velocities of both sides. */
static void special_relative(const special_rows *s, int k, double v[2][6], double u[3])
{
    for (int i = 0; i < 3; i++) {
        u[i] = s->p->w ? s->p->w[3 * (size_t)s->contact[k] + (size_t)i] : 0;
        for (int c = 0; c < 12; c++)
            u[i] += s->H[36 * k + 18 * (c / 6) + 6 * i + c % 6] * v[c / 6][c % 6];
    }
}

/* The exact solution of block k; `change` is what it adds to r + beta (r - r_previous). */
static void special_solve(special_rows *s, int k, double beta, double v[2][6], double change[3])
{
    const double *W = s->W + 6 * k;
    double *r = s->r + 3 * k, *previous = s->previous + 3 * k, u[3], old[3], y[3];
    double scale = (W[0] + W[2] + W[5]) / 3;
    int j = s->contact[k];
    for (int i = 0; i < 3; i++) {
        old[i] = r[i];
        y[i] = r[i] = old[i] + beta * (old[i] - previous[i]);
        previous[i] = old[i];
    }
    special_relative(s, k, v, u);
    cairn_contact_comply(s->p, j, y, u);
    u[0] -= W[0] * y[0] + W[1] * y[1] + W[3] * y[2];
    u[1] -= W[1] * y[0] + W[2] * y[1] + W[4] * y[2];
    u[2] -= W[3] * y[0] + W[4] * y[1] + W[5] * y[2];
    cairn_contact_solve(s->p, j, CAIRN_LAW_CONVEX, W, u, r); /* bounds know no law */
    for (int i = 0; i < 3; i++) {
        change[i] = r[i] - y[i];
        s->noted.change2 += scale * scale * change[i] * change[i];
        s->noted.uphill -= change[i] * (r[i] - old[i]);
    }
}

/* ---- float and double ----------------------------------------------------------------------- */

/* Once for a problem, whatever numbers the sweeps use. */
static cairn_status make_batches(cairn_system *s, cairn_arena *arena)
{
    if (s->general)
        return CAIRN_OK;
    cairn_batches *batches = cairn_arena_take(arena, 1, sizeof *batches);
    if (!batches)
        return CAIRN_NO_MEMORY;
    TRY(cairn_batches_create_general(s->p, arena, batches));
    s->general = batches;
    return CAIRN_OK;
}

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
