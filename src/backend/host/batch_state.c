/* batch_state.c - the state of sweeps over batches of balls, a unit compiled for float and for
 * double (src/units.cmake): impulses as vectors in the world frame, records (v, R w, 1/m, R^2/J) of
 * the bodies, and in each slab one record for all walls and one for padding. Without friction there
 * is one multiplier for a contact, and records are (v, 1/m).
 *
 * World-frame impulses make tangents unnecessary: the sweeps need the normal alone. */
#include <math.h>
#include <string.h>

#include "backend/host/batch_unit.h"
#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/operator.h"

/* The frame of contact j: n, t1, t2. If rows are stored, it is read from a side that has a
 * block. */
typedef struct axes {
    cairn_vec3 n, t1, t2;
} axes;

CAIRN_INLINE axes axes_of(const cairn_problem *p, int j)
{
    if (p->normal) /* all are of balls, or none */
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

/* R w of a block in world axes, from its six velocities; w is stored in body axes. */
CAIRN_INLINE cairn_vec3 turning_of(const cairn_batches *s, int block, const double *v)
{
    cairn_vec3 w = cairn_vec(v[3], v[4], v[5]);
    if (s->frame)
        w = cairn_rotate(s->frame[block], w);
    return cairn_scale(fmax(0, s->radius[block]), w);
}

/* Lane i of batch k: its normal, shift and mu. Padding has the shift 1: it opens and never gets an
 * impulse. */
static void lane_of(const cairn_batches *s, int k, int i, double out[5])
{
    int j = s->contact[(size_t)k * CAIRN_BATCH + (size_t)i];
    const double padding[5] = { 0, 0, 1, 1, 0 };
    memcpy(out, padding, sizeof padding);
    if (j < 0)
        return;
    cairn_vec3 n = s->p->normal ? s->p->normal[j] : axes_of(s->p, j).n;
    double mu = s->smooth ? 0 : s->p->mu[j];
    const double values[5] = { n.x, n.y, n.z, cairn_contact_shift(s->p, j), mu };
    memcpy(out, values, sizeof values);
}

/* Contacts have another order in the problem than in the batches, so that the hardware cannot
 * predict the addresses. The data of lanes that follow AHEAD lanes later are prefetched. */
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

enum { MOVED = 16384 }; /* bodies that a thread takes at a time in hold_move */

/* Set s->batches; done once for a problem, since float and double share them. */
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

typedef struct balls_state {
    const cairn_problem *p;
    const cairn_batches *batches;
    ball_batch *data;
    real *mu;          /* NULL: no friction */
    ball_share *share; /* NULL: the problem has no scales */
    real *v, *v_previous, *r, *r_previous;
    int record, parts;          /* numbers of a body, and of an impulse */
    cairn_sweep *partial;       /* the sums of each group   */
    cairn_batch_errors *errors; /* the errors of each group */
    const ball_kernels *kernels;
} balls_state;

static size_t velocity_count(const balls_state *s)
{
    return ((size_t)s->p->blocks + cairn_batches_extra(s->batches)) * (size_t)s->record;
}

static size_t impulse_count(const balls_state *s)
{
    return (size_t)s->batches->count * (size_t)s->parts * CAIRN_BATCH;
}

/* The first number of a lane's impulse; the others follow CAIRN_BATCH apart. */
static real *impulse_at(const balls_state *s, int lane)
{
    return s->r + (size_t)(lane / CAIRN_BATCH) * (size_t)s->parts * CAIRN_BATCH +
           lane % CAIRN_BATCH;
}

static cairn_status reserve(balls_state *s, cairn_arena *arena)
{
    size_t records = velocity_count(s), impulses = impulse_count(s);
    s->data = cairn_arena_take(arena, (size_t)s->batches->count, sizeof *s->data);
    s->v = cairn_arena_take(arena, records, sizeof(real));
    s->v_previous = cairn_arena_take(arena, records, sizeof(real));
    s->r = cairn_arena_take(arena, impulses, sizeof(real));
    s->r_previous = cairn_arena_take(arena, impulses, sizeof(real));
    size_t groups = (size_t)s->batches->pieces.count + 1;
    s->partial = cairn_arena_take(arena, groups, sizeof *s->partial);
    s->errors = cairn_arena_take(arena, groups, sizeof *s->errors);
    s->share = NULL;
    if (s->p->scale) {
        s->share = cairn_arena_take(arena, (size_t)s->batches->count, sizeof *s->share);
        if (!s->share)
            return CAIRN_NO_MEMORY;
    }
    s->mu = NULL;
    if (!s->batches->smooth) {
        s->mu = cairn_arena_take(arena, (size_t)s->batches->count * CAIRN_BATCH, sizeof(real));
        if (!s->mu)
            return CAIRN_NO_MEMORY;
    }
    bool complete = s->data && s->v && s->v_previous && s->r && s->r_previous;
    return complete && s->partial && s->errors ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* What the error of lane i of batch k is related to; padding has no error. */
static void fill_share(const balls_state *s, int k, int i)
{
    const cairn_problem *p = s->p;
    int j = s->batches->contact[(size_t)k * CAIRN_BATCH + (size_t)i];
    double w = 0;
    for (int side = 0; j >= 0 && side < 2; side++) {
        int block = p->block[2 * (size_t)j + (size_t)side];
        if (block < 0)
            continue;
        const double *m = p->mass_inverse + (size_t)block * 6;
        double R = fmax(0, s->batches->radius[block]);
        w += m[0] + 2.0 / 3 * R * R * m[3];
    }
    s->share[k].scale[i] = j < 0 ? 1 : (real)p->scale[j];
    s->share[k].most[i] = j < 0 ? 0 : (real)p->most[j];
    s->share[k].w[i] = (real)w;
}

static void fill_batch(const balls_state *s, int k)
{
    ball_batch *batch = &s->data[k];
    for (int i = 0; i < CAIRN_BATCH; i++) {
        size_t lane = (size_t)k * CAIRN_BATCH + (size_t)i;
        double values[5];
        fetch_lane(s->batches, (int)lane + AHEAD);
        lane_of(s->batches, k, i, values);
        batch->a[i] = s->batches->bodies[2 * lane];
        batch->b[i] = s->batches->bodies[2 * lane + 1];
        for (int c = 0; c < 3; c++)
            batch->n[c][i] = (real)values[c];
        batch->shift[i] = (real)values[3];
        if (s->mu)
            s->mu[lane] = (real)values[4];
        if (s->share)
            fill_share(s, k, i);
    }
}

/* Context of the loops that load (v, r) or unload (found). */
typedef struct loading {
    const balls_state *s;
    const double *v, *r;
    double *found;
} loading;

static void fill_batches(int begin, int end, void *context)
{
    const loading *job = context;
    for (int k = begin; k < end; k++)
        fill_batch(job->s, k);
}

/* Set the velocities in the records. */
static void load_records(int begin, int end, void *context)
{
    const loading *job = context;
    const balls_state *s = job->s;
    for (int i = begin; i < end; i++) {
        const double *v = job->v + (size_t)i * 6;
        real *to = s->v + (size_t)i * (size_t)s->record;
        for (int c = 0; c < 3; c++)
            to[c] = (real)v[c];
        if (s->batches->smooth)
            continue;
        cairn_vec3 y = turning_of(s->batches, i, v);
        to[3] = (real)y.x;
        to[4] = (real)y.y;
        to[5] = (real)y.z;
    }
}

/* Set the constant entries of the records: 1/m and R^2/J. */
static void load_masses(int begin, int end, void *context)
{
    const loading *job = context;
    const balls_state *s = job->s;
    for (int i = begin; i < end; i++) {
        const double *m = s->p->mass_inverse + (size_t)i * 6;
        real *to = s->v + (size_t)i * (size_t)s->record;
        double R = fmax(0, s->batches->radius[i]);
        to[s->batches->smooth ? 3 : 6] = (real)m[0];
        if (!s->batches->smooth)
            to[7] = (real)(R * R * m[3]);
    }
}

static void set_velocities(balls_state *s, const double *v)
{
    loading job = { .s = s, .v = v };
    cairn_parallel_for(s->p->blocks, CAIRN_LOADED, load_records, &job);
    /* walls do not move and have no inverse mass; padding gets a nonzero one, so that its W is not
     * 0, and does not move because it gets no impulse */
    real *wall = s->v + (size_t)s->p->blocks * (size_t)s->record;
    size_t record = (size_t)s->record, extra = cairn_batches_extra(s->batches);
    memset(wall, 0, record * extra * sizeof(real));
    for (size_t k = 1; k < extra; k += CAIRN_WALL_RECORDS)
        for (size_t c = s->mu ? 6 : 3; c < record; c++)
            wall[k * record + c] = 1;
}

static void load_lanes(int begin, int end, void *context)
{
    const loading *job = context;
    const balls_state *s = job->s;
    for (int lane = begin; lane < end; lane++) {
        int j = s->batches->contact[lane];
        real *to = impulse_at(s, lane);
        fetch_impulse(s->batches, lane + AHEAD, job->r);
        cairn_vec3 p = { 0, 0, 0 };
        if (j >= 0 && s->mu)
            p = impulse_in_space(s->p, j, job->r + (size_t)j * 3);
        else if (j >= 0)
            p.x = job->r[(size_t)j * 3];
        const double parts[3] = { p.x, p.y, p.z };
        for (int c = 0; c < s->parts; c++)
            to[c * CAIRN_BATCH] = (real)parts[c];
    }
}

static void load_impulses(balls_state *s, const double *r)
{
    loading job = { .s = s, .r = r };
    cairn_parallel_for(s->batches->count * CAIRN_BATCH, CAIRN_LOADED, load_lanes, &job);
}

/* Copy the impulses out of the state. They are projected again, because in float they satisfy r in
 * K only up to float rounding, and the judge works in double. */
static void unload_lanes(int begin, int end, void *context)
{
    const loading *job = context;
    const balls_state *s = job->s;
    for (int lane = begin; lane < end; lane++) {
        int j = s->batches->contact[lane];
        const real *from = impulse_at(s, lane);
        double *r = job->found + (size_t)j * 3;
        fetch_impulse(s->batches, lane + AHEAD, job->found);
        if (j < 0)
            continue;
        r[0] = from[0] < 0 ? 0 : from[0];
        r[1] = r[2] = 0;
        if (!s->mu)
            continue;
        impulse_in_frame(s->p, j, cairn_vec(from[0], from[CAIRN_BATCH], from[2 * CAIRN_BATCH]), r);
        cairn_circle_project(3, s->p->mu[j], r);
    }
}

static void unload(const void *state, double *r)
{
    const balls_state *s = state;
    loading job = { .s = s, .found = r };
    cairn_parallel_for(s->batches->count * CAIRN_BATCH, CAIRN_LOADED, unload_lanes, &job);
}

/* Restart momentum: previous values equal the present ones. */
static void forget(void *state)
{
    balls_state *s = state;
    memcpy(s->v_previous, s->v, velocity_count(s) * sizeof(real));
    memcpy(s->r_previous, s->r, impulse_count(s) * sizeof(real));
}

typedef struct sweep_work {
    const balls_state *s;
    ball_pass job;
} sweep_work;

/* v <- v + beta (v - v_previous), v_previous <- v + lean (the move), in a slab. Constant entries of
 * a record, such as 1/m, equal their previous values and stay as they are. */
static void extrapolate(const sweep_work *w, int slab)
{
    real beta = (real)w->job.momentum.beta, lean = (real)w->job.momentum.lean;
    real *v = w->s->v, *previous = w->s->v_previous;
    size_t size = (size_t)w->s->record;
    const int *first = w->s->batches->first;
    for (size_t i = (size_t)first[slab] * size; i < (size_t)first[slab + 1] * size; i++) {
        real old = v[i], move = beta * (old - previous[i]);
        v[i] = old + move;
        previous[i] = old + lean * move;
    }
}

/* v += M^-1 H' r over groups; with v = v_free before, all velocities are recomputed. */
static void push_groups(int begin, int end, void *context)
{
    sweep_work *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++)
        w->s->kernels->add_up(&w->job, start[g], start[g + 1] - 1);
}

/* v_previous = v - v_previous: turns the previous velocities into the last move, and back. */
static void hold_move(int begin, int end, void *context)
{
    const sweep_work *w = context;
    size_t size = (size_t)w->s->record;
    for (size_t i = (size_t)begin * size; i < (size_t)end * size; i++)
        w->s->v_previous[i] = w->s->v[i] - w->s->v_previous[i];
}

/* Replace the velocities by accurate ones, which removes accumulated rounding errors. The previous
 * velocities are shifted by the same amount. If only v were corrected, momentum would take the
 * correction for a move and repeat it 1/(1 - beta) times. */
static void renew(balls_state *s, const double *v, bool add_impulses)
{
    sweep_work w = { .s = s, .job = { .batches = s->data, .mu = s->mu, .v = s->v, .r = s->r } };
    cairn_parallel_for(s->p->blocks, MOVED, hold_move, &w);
    set_velocities(s, v);
    if (add_impulses)
        cairn_batches_pass(s->batches, push_groups, &w, NULL);
    cairn_parallel_for(s->p->blocks, MOVED, hold_move, &w);
}

static void refresh(void *state)
{
    balls_state *s = state;
    renew(s, s->p->v_free, true);
}

static void load_velocities(void *state, const double *v)
{
    renew(state, v, false);
}

/* Sweep groups. The velocities of a slab are extrapolated by the group of the slab itself, just
 * before its contacts read them and while they are in the cache. Groups between two slabs wait for
 * both (cairn_pieces). The last batch of a group is empty, see batch.c. */
static void sweep_groups(int begin, int end, void *context)
{
    sweep_work *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++) {
        cairn_sweep noted = { 0, 0 };
        if (g < w->s->batches->slabs)
            extrapolate(w, g);
        w->s->kernels->sweep(&w->job, start[g], start[g + 1] - 1, &noted);
        w->s->partial[g] = noted; /* one store: other threads write to the same cache line */
    }
}

static void measure_groups(int begin, int end, void *context)
{
    sweep_work *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++) {
        cairn_batch_errors noted = { 0, 0 };
        w->s->kernels->measure(&w->job, start[g], start[g + 1] - 1, &noted);
        w->s->errors[g] = noted;
    }
}

static void pass_over(const balls_state *s, cairn_range_fn *work, sweep_work *w)
{
    /* without friction 3 of 4 numbers change, else 6 of 8: the others are masses */
    size_t stride = (size_t)s->record * sizeof(real);
    const cairn_records records = { s->v, stride, stride / 4 * 3 };
    cairn_batches_pass(s->batches, work, w, &records);
}

static sweep_work work_of(const balls_state *s, cairn_law law, cairn_momentum momentum)
{
    return (sweep_work){ .s = s,
                         .job = { .batches = s->data,
                                  .mu = s->mu,
                                  .convex = law == CAIRN_LAW_CONVEX,
                                  .momentum = momentum,
                                  .v = s->v,
                                  .r = s->r,
                                  .previous = s->r_previous,
                                  .share = s->share } };
}

static cairn_sweep sweep(void *state, cairn_law law, cairn_momentum momentum)
{
    const balls_state *s = state;
    sweep_work w = work_of(s, law, momentum);
    pass_over(s, sweep_groups, &w);
    return cairn_batches_sum(s->batches, s->partial);
}

static cairn_measured measure(const void *state, cairn_law law)
{
    const balls_state *s = state;
    sweep_work w = work_of(s, law, (cairn_momentum){ 0 });
    pass_over(s, measure_groups, &w);
    return cairn_batches_worst(s->batches, s->errors);
}

static cairn_status begin_sweeps(cairn_system *system, cairn_arena *arena, const double *r,
                                 const double *v, void **out)
{
    balls_state *s = cairn_arena_take(arena, 1, sizeof *s);
    *out = NULL;
    if (!s)
        return CAIRN_NO_MEMORY;
    TRY(make_batches(system, arena));
    /* not an error: *out stays NULL, and the back end tries the next implementation */
    if (!system->batches->usable)
        return CAIRN_OK;
    s->p = system->p;
    s->batches = system->batches;
    s->record = s->batches->smooth ? 4 : 8;
    s->parts = s->batches->smooth ? 1 : 3;
    s->kernels = ball_kernels_of(cairn_width_best());
    TRY(reserve(s, arena));
    loading job = { .s = s };
    cairn_parallel_for(s->batches->count, CAIRN_LOADED / CAIRN_BATCH, fill_batches, &job);
    cairn_parallel_for(s->p->blocks, CAIRN_LOADED, load_masses, &job);
    set_velocities(s, v);
    load_impulses(s, r);
    forget(s);
    if (s->batches->smooth)
        refresh(s); /* v may contain tangential impulses that a warm start has left in r */
    forget(s);
    *out = s;
    return CAIRN_OK;
}

const cairn_sweeps CAIRN_UNIT = {
    .name = sizeof(real) < sizeof(double) ? "float" : "double",
    .single = sizeof(real) < sizeof(double),
    .begin = begin_sweeps,
    .sweep = sweep,
    .measure = measure,
    .unload = unload,
    .load_velocities = load_velocities,
    .refresh = refresh,
    .forget = forget,
};
