/* batch_general_state.h - the state of sweeps over batches of contacts of any bodies, in one
 * dimension. A unit that includes it (batch_general_state.c, batch_plane_state.c) has
 *   D, N, RECORD, INERTIA   dimension, numbers of a block, of a body's record: (v, 1/m, 0), and of
 *                           inverse inertia beside each record
 *   lane_numbers, NUMBERS   what a lane needs to know of its contact
 * and says how they are found: find_lane and complete_job. */
#ifndef CAIRN_BACKEND_BATCH_GENERAL_STATE_H
#define CAIRN_BACKEND_BATCH_GENERAL_STATE_H

#include <string.h>

#include "backend/host/batch_special.h"
#include "base/parallel.h"
#include "base/status.h"
#include "problem/operator.h"

typedef struct kept_state {
    const cairn_problem *p;
    const cairn_batches *batches;
    batch_data *data;
    real *inertia;
    real *v, *v_previous, *r, *r_previous;
    cairn_special_rows special;
    cairn_sweep *partial; /* what each group came to */
    const pass_kernels *kernels;
} kept_state;

/* Of contact j, by the unit; -1: padding, which never pushes. */
static void find_lane(const cairn_problem *p, int j, lane_numbers *out);
/* What a job has in this dimension alone, by the unit. */
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

/* Walls and padding stand and have no inverse mass. */
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

/* Impulses out of the state, on their cones in double. */
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

/* What the previous ones were no longer counts. */
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

static void sweep_special(kept_state *s, cairn_momentum momentum, cairn_sweep *out)
{
    s->special.noted = *out;
    for (int k = 0; k < s->special.count; k++) {
        double v[2][6], change[D];
        fetch_special(s, k, v);
        cairn_special_solve(&s->special, k, momentum, v, change);
        push_special(s, k, change);
    }
    *out = s->special.noted;
}

/* ---- sweeps --------------------------------------------------------------------------------- */

typedef struct sweep_work {
    kept_state *s;
    pass_job job;
} sweep_work;

/* v <- v + beta (v - v_previous), v_previous <- v + lean (the move), in a slab; the constant
 * entries of a record stay */
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

/* The bodies of a slab move on just before its contacts need them; pieces between slabs follow. */
static void groups(int begin, int end, void *context)
{
    sweep_work *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++) {
        cairn_sweep noted = { 0, 0 };
        if (g < w->s->batches->slabs)
            extrapolate(w, g);
        w->s->kernels->sweep(&w->job, start[g], start[g + 1], &noted);
        w->s->partial[g] = noted; /* once: other threads have theirs in the same cache line */
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
    int last = s->batches->pieces.count;
    sweep_work w = { .s = s, .job = job_of(s, law, momentum) };
    cairn_sweep sum = { 0, 0 };
    cairn_parallel_pieces(&s->batches->pieces, groups, &w);
    groups(last, last + 1, &w);
    for (int g = 0; g <= last; g++) {
        sum.change2 += s->partial[g].change2;
        sum.uphill += s->partial[g].uphill;
    }
    sweep_special(s, momentum, &sum);
    return sum;
}

/* Velocities made anew. Rounding leaves them, and must leave the previous ones as well: were it
 * only taken from v, momentum would take it for a move and repeat it 1/(1 - beta) times. */
static void renew(kept_state *s, const double *v, bool add_impulses)
{
    size_t count = RECORD * record_count(s);
    int last = s->batches->pieces.count;
    sweep_work w = { .s = s, .job = job_of(s, CAIRN_LAW_CONVEX, (cairn_momentum){ 0 }) };
    for (size_t i = 0; i < count; i++)
        s->v_previous[i] = s->v[i] - s->v_previous[i];
    set_velocities(s, v);
    if (add_impulses) {
        cairn_parallel_pieces(&s->batches->pieces, push_groups, &w);
        push_groups(last, last + 1, &w);
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
