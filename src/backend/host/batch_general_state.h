/* batch_general_state.h - the state of sweeps over batches of contacts of any bodies, for 2D or 3D.
 * A unit that includes it (batch_general_state.c, batch_plane_state.c) defines
 *   D, N, RECORD, INERTIA   dimension, numbers of a block, of a body's record: (v, 1/m, 0), and of
 *                           inverse inertia beside each record
 *   lane_numbers, NUMBERS   the data of a contact in one lane
 *   batch_data, pass_job, pass_kernels
 * and the functions that depend on the dimension: find_lane, kernels_of and complete_job.
 *
 * Inverse inertia is stored beside the records, because a record with it would not fit the 4 or 8
 * numbers that wide_gather transposes; it never changes in a solve. */
#ifndef CAIRN_BACKEND_BATCH_GENERAL_STATE_H
#define CAIRN_BACKEND_BATCH_GENERAL_STATE_H

#include <string.h>

#include "backend/host/batch.h"
#include "base/common.h"
#include "base/parallel.h"
#include "problem/operator.h"

typedef struct kept_state {
    const cairn_problem *p;
    const cairn_batches *batches;
    batch_data *data;
    real *inertia;
    real *v, *v_previous, *r, *r_previous;
    cairn_special_rows special;
    cairn_sweep *partial; /* the sums of each group */
    const pass_kernels *kernels;
} kept_state;

/* Defined by the unit: the data of contact j; -1: padding, which never gets an impulse. */
static void find_lane(const cairn_problem *p, int j, lane_numbers *out);
/* Defined by the unit: the kernels for a register width. */
static const pass_kernels *kernels_of(cairn_width width);
/* Defined by the unit: fields of a job that exist in this dimension only. */
static void complete_job(const kept_state *s, pass_job *job);

static size_t record_count(const kept_state *s)
{
    return (size_t)s->p->blocks + cairn_batches_extra(s->batches);
}

static size_t impulse_count(const kept_state *s)
{
    return (size_t)s->batches->count * D * CAIRN_BATCH;
}

/* The first number of a lane's impulse; the others follow CAIRN_BATCH apart. */
static real *impulse_at(const kept_state *s, int lane)
{
    return s->r + (size_t)(lane / CAIRN_BATCH) * D * CAIRN_BATCH + lane % CAIRN_BATCH;
}

static cairn_status reserve(kept_state *s, cairn_arena *arena)
{
    size_t records = record_count(s), impulses = impulse_count(s);
    s->data = cairn_arena_take(arena, (size_t)s->batches->count, sizeof *s->data);
    s->inertia = cairn_arena_take(arena, INERTIA * records, sizeof(real));
    s->v = cairn_arena_take(arena, RECORD * records, sizeof(real));
    s->v_previous = cairn_arena_take(arena, RECORD * records, sizeof(real));
    s->r = cairn_arena_take(arena, impulses, sizeof(real));
    s->r_previous = cairn_arena_take(arena, impulses, sizeof(real));
    s->partial = cairn_arena_take(arena, (size_t)s->batches->pieces.count + 1, sizeof *s->partial);
    bool complete = s->data && s->inertia && s->v && s->v_previous && s->r && s->r_previous;
    return complete && s->partial ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- in and out ----------------------------------------------------------------------------- */

static void fill_batches(int begin, int end, void *context)
{
    const kept_state *s = context;
    for (int lane = begin * CAIRN_BATCH; lane < end * CAIRN_BATCH; lane++) {
        batch_data *batch = &s->data[lane / CAIRN_BATCH];
        int i = lane % CAIRN_BATCH;
        lane_numbers n;
        find_lane(s->p, s->batches->contact[lane], &n);
        batch->a[i] = s->batches->bodies[2 * lane];
        batch->b[i] = s->batches->bodies[2 * lane + 1];
        for (int c = 0; c < NUMBERS; c++)
            batch->number[c][i] = (real)n.number[c];
    }
}

static void fill_inertia(kept_state *s)
{
    memset(s->inertia, 0, INERTIA * record_count(s) * sizeof(real));
    for (size_t i = 0; i < (size_t)s->p->blocks; i++)
        for (int c = 0; c < INERTIA - 1; c++)
            s->inertia[INERTIA * i + (size_t)c] = (real)s->p->mass_inverse[N * i + D + (size_t)c];
}

/* Records of walls and padding are 0: they do not move and have no inverse mass. */
static void set_velocities(kept_state *s, const double *v)
{
    memset(s->v, 0, RECORD * record_count(s) * sizeof(real));
    for (size_t i = 0; i < (size_t)s->p->blocks; i++) {
        for (size_t c = 0; c < N; c++)
            s->v[RECORD * i + c] = (real)v[N * i + c];
        s->v[RECORD * i + N] = (real)s->p->mass_inverse[N * i];
    }
}

static void load_impulses(kept_state *s, const double *r)
{
    for (int lane = 0; lane < s->batches->count * CAIRN_BATCH; lane++) {
        int j = s->batches->contact[lane];
        real *to = impulse_at(s, lane);
        for (int c = 0; c < D; c++)
            to[c * CAIRN_BATCH] = j < 0 ? 0 : (real)r[D * (size_t)j + (size_t)c];
    }
    cairn_special_load(&s->special, r);
}

/* Copy the impulses out. They are projected again, because in float they satisfy r in K only up to
 * float rounding, and the judge works in double. */
static void unload(const void *state, double *r)
{
    const kept_state *s = state;
    for (int lane = 0; lane < s->batches->count * CAIRN_BATCH; lane++) {
        int j = s->batches->contact[lane];
        if (j < 0)
            continue;
        double *to = r + D * (size_t)j;
        for (int c = 0; c < D; c++)
            to[c] = (double)impulse_at(s, lane)[c * CAIRN_BATCH];
        cairn_circle_project(D, s->p->mu[j], to);
    }
    cairn_special_unload(&s->special, r);
}

/* Restart momentum: previous values equal the present ones. */
static void forget(void *state)
{
    kept_state *s = state;
    memcpy(s->v_previous, s->v, RECORD * record_count(s) * sizeof(real));
    memcpy(s->r_previous, s->r, impulse_count(s) * sizeof(real));
    cairn_special_forget(&s->special);
}

/* ---- rows with bounds, one by one ----------------------------------------------------------- */

static void fetch_special(const kept_state *s, int k, double v[2][6])
{
    const int32_t *block = s->p->block + 2 * (size_t)s->special.contact[k];
    for (size_t side = 0; side < 2; side++)
        for (size_t c = 0; c < N; c++)
            v[side][c] = block[side] < 0 ? 0 : (double)s->v[RECORD * (size_t)block[side] + c];
}

static void push_special(kept_state *s, int k, const double change[D])
{
    const int32_t *block = s->p->block + 2 * (size_t)s->special.contact[k];
    for (int side = 0; side < 2; side++) {
        double force[N];
        if (block[side] < 0)
            continue;
        size_t at = (size_t)block[side];
        cairn_special_force(&s->special, k, side, change, force);
        for (size_t c = 0; c < N; c++)
            s->v[RECORD * at + c] += (real)(s->p->mass_inverse[N * at + c] * force[c]);
    }
}

/* One by one after the batches, in their order: a chain of joints cannot be batched. If the problem
 * is cut into parts, the sums go to those of the part, which is the group of the same number. */
static void sweep_special(kept_state *s, cairn_momentum momentum, cairn_sweep *out)
{
    s->special.noted = *out;
    for (int k = 0; k < s->special.count; k++) {
        double v[2][6], change[D];
        cairn_sweep *part =
            s->p->cut ? &s->partial[cairn_contact_part(s->p, s->special.contact[k])] : NULL;
        if (part)
            s->special.noted = *part;
        fetch_special(s, k, v);
        cairn_special_solve(&s->special, k, momentum, v, change);
        push_special(s, k, change);
        if (part)
            *part = s->special.noted;
    }
    *out = s->special.noted;
}

/* ---- sweeps --------------------------------------------------------------------------------- */

typedef struct sweep_work {
    kept_state *s;
    pass_job job;
} sweep_work;

/* v <- v + beta (v - v_previous), v_previous <- v + lean (the move), in a slab. Constant entries of
 * a record, such as 1/m, equal their previous values and stay as they are. */
static void extrapolate(const sweep_work *w, int slab)
{
    real beta = (real)w->job.momentum.beta, lean = (real)w->job.momentum.lean;
    real *v = w->s->v, *previous = w->s->v_previous;
    const int *first = w->s->batches->first;
    for (size_t i = RECORD * (size_t)first[slab]; i < RECORD * (size_t)first[slab + 1]; i++) {
        real old = v[i], move = beta * (old - previous[i]);
        v[i] = old + move;
        previous[i] = old + lean * move;
    }
}

static pass_job job_of(const kept_state *s, cairn_law law, cairn_momentum momentum)
{
    pass_job job = { .batches = s->data,
                     .law = law,
                     .momentum = momentum,
                     .v = s->v,
                     .r = s->r,
                     .previous = s->r_previous };
    complete_job(s, &job);
    return job;
}

/* Sweep groups. The velocities of a slab are extrapolated by the group of the slab itself, just
 * before its contacts read them and while they are in the cache. Groups between two slabs wait for
 * both (cairn_pieces). */
static void groups(int begin, int end, void *context)
{
    sweep_work *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++) {
        cairn_sweep noted = { 0, 0 };
        if (g < w->s->batches->slabs)
            extrapolate(w, g);
        w->s->kernels->sweep(&w->job, start[g], start[g + 1], &noted);
        w->s->partial[g] = noted; /* one store: other threads write to the same cache line */
    }
}

static void push_groups(int begin, int end, void *context)
{
    const sweep_work *w = context;
    const int *start = w->s->batches->start;
    w->s->kernels->add_up(&w->job, start[begin], start[end]);
}

static cairn_sweep sweep(void *state, cairn_law law, cairn_momentum momentum)
{
    kept_state *s = state;
    sweep_work w = { .s = s, .job = job_of(s, law, momentum) };
    const cairn_records records = { s->v, RECORD * sizeof(real), N * sizeof(real) };
    cairn_batches_pass(s->batches, groups, &w, &records);
    cairn_sweep sum = { 0, 0 };
    if (s->p->cut)
        sweep_special(s, momentum, &sum);
    sum = cairn_batches_sum(s->batches, s->partial);
    if (!s->p->cut)
        sweep_special(s, momentum, &sum);
    return sum;
}

/* Replace the velocities by accurate ones, which removes accumulated rounding errors. The previous
 * velocities are shifted by the same amount. If only v were corrected, momentum would take the
 * correction for a move and repeat it 1/(1 - beta) times. In between, v_previous holds the move. */
static void renew(kept_state *s, const double *v, bool add_impulses)
{
    size_t count = RECORD * record_count(s);
    sweep_work w = { .s = s, .job = job_of(s, CAIRN_LAW_CONVEX, (cairn_momentum){ 0 }) };
    for (size_t i = 0; i < count; i++)
        s->v_previous[i] = s->v[i] - s->v_previous[i];
    set_velocities(s, v);
    if (add_impulses) {
        cairn_batches_pass(s->batches, push_groups, &w, NULL);
        for (int k = 0; k < s->special.count; k++)
            push_special(s, k, s->special.r + D * (size_t)k);
    }
    for (size_t i = 0; i < count; i++)
        s->v_previous[i] = s->v[i] - s->v_previous[i];
}

static void refresh(void *state)
{
    kept_state *s = state;
    renew(s, s->p->v_free, true);
}

static void load_velocities(void *state, const double *v)
{
    renew(state, v, false);
}

static cairn_status begin_sweeps(cairn_system *system, cairn_arena *arena, const double *r,
                                 const double *v, void **out)
{
    kept_state *s = cairn_arena_take(arena, 1, sizeof *s);
    *out = NULL;
    if (!s)
        return CAIRN_NO_MEMORY;
    TRY(cairn_system_cut(system, arena));
    /* not an error: *out stays NULL, and the back end tries the next implementation */
    if (system->p->dimension != D || !system->general->usable)
        return CAIRN_OK;
    *s = (kept_state){ .p = system->p, .batches = system->general };
    s->kernels = kernels_of(cairn_width_best());
    TRY(reserve(s, arena));
    TRY(cairn_special_create(system->p, arena, &s->special));
    cairn_parallel_for(s->batches->count, CAIRN_LOADED / CAIRN_BATCH, fill_batches, s);
    fill_inertia(s);
    set_velocities(s, v);
    load_impulses(s, r);
    forget(s);
    *out = s;
    return CAIRN_OK;
}

#endif
