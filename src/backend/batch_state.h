/* batch_state.h - the state of sweeps over batches, for one type of number. Included by
 * batch_state.c. */

typedef struct NAME(state) {
    const cairn_problem *p;
    const cairn_batches *batches;
    BATCH *data;
    REAL *mu; /* NULL: no friction */
    REAL *v, *v_previous, *r, *r_previous;
    int record, parts; /* numbers of a body, and of an impulse */
    cairn_width width;
} NAME(state);

static size_t NAME(velocity_count)(const NAME(state) * s)
{
    return ((size_t)s->p->blocks + CAIRN_EXTRA_RECORDS) * (size_t)s->record;
}

static size_t NAME(impulse_count)(const NAME(state) * s)
{
    return (size_t)s->batches->count * (size_t)s->parts * CAIRN_BATCH;
}

/* The first number of a lane's impulse; the others follow CAIRN_BATCH apart. */
static REAL *NAME(impulse_at)(const NAME(state) * s, int lane)
{
    return s->r + (size_t)(lane / CAIRN_BATCH) * (size_t)s->parts * CAIRN_BATCH +
           lane % CAIRN_BATCH;
}

static cairn_status NAME(reserve)(NAME(state) * s, cairn_arena *arena)
{
    size_t records = NAME(velocity_count)(s), impulses = NAME(impulse_count)(s);
    s->data = cairn_arena_take(arena, (size_t)s->batches->count, sizeof *s->data);
    s->v = cairn_arena_take(arena, records, sizeof(REAL));
    s->v_previous = cairn_arena_take(arena, records, sizeof(REAL));
    s->r = cairn_arena_take(arena, impulses, sizeof(REAL));
    s->r_previous = cairn_arena_take(arena, impulses, sizeof(REAL));
    s->mu = NULL;
    if (!s->batches->smooth) {
        s->mu = cairn_arena_take(arena, (size_t)s->batches->count * CAIRN_BATCH, sizeof(REAL));
        if (!s->mu)
            return CAIRN_NO_MEMORY;
    }
    bool complete = s->data && s->v && s->v_previous && s->r && s->r_previous;
    return complete ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void NAME(fill_batch)(const NAME(state) * s, int k)
{
    BATCH *batch = &s->data[k];
    for (int i = 0; i < CAIRN_BATCH; i++) {
        size_t lane = (size_t)k * CAIRN_BATCH + (size_t)i;
        double values[5];
        fetch_lane(s->batches, (int)lane + AHEAD);
        lane_of(s->batches, k, i, values);
        batch->a[i] = s->batches->bodies[2 * lane];
        batch->b[i] = s->batches->bodies[2 * lane + 1];
        for (int c = 0; c < 3; c++)
            batch->n[c][i] = (REAL)values[c];
        batch->shift[i] = (REAL)values[3];
        if (s->mu)
            s->mu[lane] = (REAL)values[4];
    }
}

typedef struct NAME(loading) {
    const NAME(state) * s;
    const double *v, *r;
    double *found;
} NAME(loading);

static void NAME(fill_batches)(int begin, int end, void *context)
{
    const NAME(loading) *job = context;
    for (int k = begin; k < end; k++)
        NAME(fill_batch)(job->s, k);
}

/* The velocities of records. */
static void NAME(load_records)(int begin, int end, void *context)
{
    const NAME(loading) *job = context;
    const NAME(state) *s = job->s;
    for (int i = begin; i < end; i++) {
        const double *v = job->v + (size_t)i * 6;
        REAL *to = s->v + (size_t)i * (size_t)s->record;
        for (int c = 0; c < 3; c++)
            to[c] = (REAL)v[c];
        if (s->batches->smooth)
            continue;
        cairn_vec3 y = turning_of(s->batches, i, v);
        to[3] = (REAL)y.x;
        to[4] = (REAL)y.y;
        to[5] = (REAL)y.z;
    }
}

/* What stays in them: 1/m and R^2/J. */
static void NAME(load_masses)(int begin, int end, void *context)
{
    const NAME(loading) *job = context;
    const NAME(state) *s = job->s;
    for (int i = begin; i < end; i++) {
        const double *m = s->p->mass_inverse + (size_t)i * 6;
        REAL *to = s->v + (size_t)i * (size_t)s->record;
        double R = fmax(0, s->batches->radius[i]);
        to[s->batches->smooth ? 3 : 6] = (REAL)m[0];
        if (!s->batches->smooth)
            to[7] = (REAL)(R * R * m[3]);
    }
}

static void NAME(set_velocities)(NAME(state) * s, const double *v)
{
    NAME(loading) job = { .s = s, .v = v };
    cairn_parallel_for(s->p->blocks, LOADED, NAME(load_records), &job);
    /* walls stand and have no inverse mass; padding has some, and never moves */
    REAL *wall = s->v + (size_t)s->p->blocks * (size_t)s->record;
    memset(wall, 0, (size_t)(s->record * CAIRN_EXTRA_RECORDS) * sizeof(REAL));
    for (int k = 1; k < CAIRN_EXTRA_RECORDS; k += CAIRN_WALL_RECORDS)
        for (int c = s->mu ? 6 : 3; c < s->record; c++)
            wall[k * s->record + c] = 1;
}

static void NAME(load_lanes)(int begin, int end, void *context)
{
    const NAME(loading) *job = context;
    const NAME(state) *s = job->s;
    for (int lane = begin; lane < end; lane++) {
        int j = s->batches->contact[lane];
        REAL *to = NAME(impulse_at)(s, lane);
        fetch_impulse(s->batches, lane + AHEAD, job->r);
        cairn_vec3 p = { 0, 0, 0 };
        if (j >= 0 && s->mu)
            p = impulse_in_space(s->p, j, job->r + (size_t)j * 3);
        else if (j >= 0)
            p.x = job->r[(size_t)j * 3];
        const double parts[3] = { p.x, p.y, p.z };
        for (int c = 0; c < s->parts; c++)
            to[c * CAIRN_BATCH] = (REAL)parts[c];
    }
}

static void NAME(load_impulses)(NAME(state) * s, const double *r)
{
    NAME(loading) job = { .s = s, .r = r };
    cairn_parallel_for(s->batches->count * CAIRN_BATCH, LOADED, NAME(load_lanes), &job);
}

/* Impulses out of the state, on their cones in double. */
static void NAME(unload_lanes)(int begin, int end, void *context)
{
    const NAME(loading) *job = context;
    const NAME(state) *s = job->s;
    for (int lane = begin; lane < end; lane++) {
        int j = s->batches->contact[lane];
        const REAL *from = NAME(impulse_at)(s, lane);
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

static void NAME(unload)(const void *state, double *r)
{
    const NAME(state) *s = state;
    NAME(loading) job = { .s = s, .found = r };
    cairn_parallel_for(s->batches->count * CAIRN_BATCH, LOADED, NAME(unload_lanes), &job);
}

/* What the previous ones were no longer counts. */
static void NAME(forget)(void *state)
{
    NAME(state) *s = state;
    memcpy(s->v_previous, s->v, NAME(velocity_count)(s) * sizeof(REAL));
    memcpy(s->r_previous, s->r, NAME(impulse_count)(s) * sizeof(REAL));
}

typedef struct NAME(work) {
    const NAME(state) * s;
    JOB job;
    cairn_sweep partial[CAIRN_GROUPS];
} NAME(work);

/* v <- v + beta (v - v_previous), v_previous <- v + lean (the move), in a slab; the constant
 * entries of a record stay */
static void NAME(extrapolate)(const NAME(work) * w, int slab)
{
    REAL beta = (REAL)w->job.momentum.beta, lean = (REAL)w->job.momentum.lean;
    REAL *v = w->s->v, *previous = w->s->v_previous;
    size_t size = (size_t)w->s->record;
    const int *first = w->s->batches->first;
    for (size_t i = (size_t)first[slab] * size; i < (size_t)first[slab + 1] * size; i++) {
        REAL old = v[i], move = beta * (old - previous[i]);
        v[i] = old + move;
        previous[i] = old + lean * move;
    }
}

/* v = v_free + M^-1 H' r, computed anew in this type of number. */
static void NAME(push_groups)(int begin, int end, void *context)
{
    NAME(work) *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++)
        PASS(w->s->width, &w->job, start[g], start[g + 1] - 1, NULL);
}

/* The previous velocities from the present ones, and back. */
static void NAME(hold_move)(int begin, int end, void *context)
{
    const NAME(work) *w = context;
    size_t size = (size_t)w->s->record;
    for (size_t i = (size_t)begin * size; i < (size_t)end * size; i++)
        w->s->v_previous[i] = w->s->v[i] - w->s->v_previous[i];
}

/* Velocities made anew: rounding leaves them, and must leave the previous ones as well. Were it
 * only taken from v, momentum would take it for a move and repeat it 1/(1 - beta) times. */
static void NAME(renew)(NAME(state) * s, const double *v, bool add_impulses)
{
    int last = s->batches->pieces.count;
    NAME(work) w = { .s = s, .job = { .batches = s->data, .mu = s->mu, .v = s->v, .r = s->r } };
    cairn_parallel_for(s->p->blocks, MOVED, NAME(hold_move), &w);
    NAME(set_velocities)(s, v);
    if (add_impulses) {
        cairn_parallel_pieces(&s->batches->pieces, NAME(push_groups), &w);
        NAME(push_groups)(last, last + 1, &w);
    }
    cairn_parallel_for(s->p->blocks, MOVED, NAME(hold_move), &w);
}

static void NAME(refresh)(void *state)
{
    NAME(state) *s = state;
    NAME(renew)(s, s->p->v_free, true);
}

static void NAME(load_velocities)(void *state, const double *v)
{
    NAME(renew)(state, v, false);
}

/* The bodies of a slab move on just before its contacts need them; pieces between slabs follow. */
static void NAME(groups)(int begin, int end, void *context)
{
    NAME(work) *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++) {
        cairn_sweep noted = { 0, 0 };
        if (g < w->s->batches->slabs && !w->job.measures)
            NAME(extrapolate)(w, g);
        PASS(w->s->width, &w->job, start[g], start[g + 1] - 1, &noted);
        w->partial[g] = noted; /* once: other threads have theirs in the same cache line */
    }
}

static cairn_sweep NAME(sum_groups)(NAME(work) * w)
{
    const cairn_pieces *pieces = &w->s->batches->pieces;
    int last = pieces->count;
    cairn_sweep sum = { 0, 0 };
    cairn_parallel_pieces(pieces, NAME(groups), w);
    NAME(groups)(last, last + 1, w);
    for (int g = 0; g <= last; g++) {
        sum.change2 += w->partial[g].change2;
        sum.uphill += w->partial[g].uphill;
    }
    return sum;
}

static NAME(work) NAME(work_of)(const NAME(state) * s, cairn_law law, cairn_momentum momentum)
{
    return (NAME(work)){ .s = s,
                         .job = { .batches = s->data,
                                  .mu = s->mu,
                                  .convex = law == CAIRN_LAW_CONVEX,
                                  .momentum = momentum,
                                  .v = s->v,
                                  .r = s->r,
                                  .previous = s->r_previous } };
}

static cairn_sweep NAME(sweep)(void *state, cairn_law law, cairn_momentum momentum)
{
    NAME(work) w = NAME(work_of)(state, law, momentum);
    return NAME(sum_groups)(&w);
}

static double NAME(measure)(const void *state, cairn_law law)
{
    NAME(work) w = NAME(work_of)(state, law, (cairn_momentum){ 0 });
    w.job.measures = true;
    return sqrt(NAME(sum_groups)(&w).change2);
}

static cairn_status NAME(begin)(cairn_system *system, cairn_arena *arena, const double *r,
                                const double *v, void **out)
{
    NAME(state) *s = cairn_arena_take(arena, 1, sizeof *s);
    *out = NULL;
    if (!s)
        return CAIRN_NO_MEMORY;
    TRY(make_batches(system, arena));
    if (!system->batches->usable)
        return CAIRN_OK;
    s->p = system->p;
    s->batches = system->batches;
    s->record = s->batches->smooth ? 4 : 8;
    s->parts = s->batches->smooth ? 1 : 3;
    s->width = cairn_width_best();
    TRY(NAME(reserve)(s, arena));
    NAME(loading) job = { .s = s };
    cairn_parallel_for(s->batches->count, LOADED / CAIRN_BATCH, NAME(fill_batches), &job);
    cairn_parallel_for(s->p->blocks, LOADED, NAME(load_masses), &job);
    NAME(set_velocities)(s, v);
    NAME(load_impulses)(s, r);
    NAME(forget)(s);
    if (s->batches->smooth)
        NAME(refresh)(s); /* v may count tangential impulses that a warm start has left in r */
    NAME(forget)(s);
    *out = s;
    return CAIRN_OK;
}

const cairn_sweeps KERNELS = {
    .name = TEXT,
    .single = sizeof(REAL) < sizeof(double),
    .begin = NAME(begin),
    .sweep = NAME(sweep),
    .measure = NAME(measure),
    .unload = NAME(unload),
    .load_velocities = NAME(load_velocities),
    .refresh = NAME(refresh),
    .forget = NAME(forget),
};
