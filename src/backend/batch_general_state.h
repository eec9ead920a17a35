/* batch_general_state.h - the state of sweeps over batches of contacts of any bodies, for one type
 * of number and one dimension. Included by batch_general_state.c and batch_plane_state.c with
 *   REAL, NAME(name)      the type of number, and what is made of it
 *   D, N, RECORD          dimension, numbers of a block, and of a body's record: (v, 1/m, 0)
 *   NUMBERS, BATCH        of each contact of a batch, filled by find_lane; a batch of them
 *   JOB, PASS             one pass over batches, and what runs it
 *   INERTIA               numbers of inverse inertia beside each record
 *   COMPLETE(s, job)      what a job has in this dimension alone
 *   KERNELS, TEXT         the result and its name */

typedef struct NAME(state) {
    const cairn_problem *p;
    const cairn_batches *batches;
    BATCH *data;
    REAL *inertia;
    REAL *v, *v_previous, *r, *r_previous;
    cairn_special_rows special;
    cairn_width width;
} NAME(state);

static size_t NAME(record_count)(const NAME(state) * s)
{
    return (size_t)s->p->blocks + CAIRN_EXTRA_RECORDS;
}

static size_t NAME(impulse_count)(const NAME(state) * s)
{
    return (size_t)s->batches->count * D * CAIRN_BATCH;
}

/* The first number of a lane's impulse; the others follow CAIRN_BATCH apart. */
static REAL *NAME(impulse_at)(const NAME(state) * s, int lane)
{
    return s->r + (size_t)(lane / CAIRN_BATCH) * D * CAIRN_BATCH + lane % CAIRN_BATCH;
}

static cairn_status NAME(reserve)(NAME(state) * s, cairn_arena *arena)
{
    size_t records = NAME(record_count)(s), impulses = NAME(impulse_count)(s);
    s->data = cairn_arena_take(arena, (size_t)s->batches->count, sizeof *s->data);
    s->inertia = cairn_arena_take(arena, INERTIA * records, sizeof(REAL));
    s->v = cairn_arena_take(arena, RECORD * records, sizeof(REAL));
    s->v_previous = cairn_arena_take(arena, RECORD * records, sizeof(REAL));
    s->r = cairn_arena_take(arena, impulses, sizeof(REAL));
    s->r_previous = cairn_arena_take(arena, impulses, sizeof(REAL));
    bool complete = s->data && s->inertia && s->v && s->v_previous && s->r && s->r_previous;
    return complete ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- in and out ----------------------------------------------------------------------------- */

static void NAME(fill_batches)(int begin, int end, void *context)
{
    const NAME(state) *s = context;
    for (int lane = begin * CAIRN_BATCH; lane < end * CAIRN_BATCH; lane++) {
        BATCH *batch = &s->data[lane / CAIRN_BATCH];
        int i = lane % CAIRN_BATCH;
        lane_numbers n;
        find_lane(s->p, s->batches->contact[lane], &n);
        batch->a[i] = s->batches->bodies[2 * lane];
        batch->b[i] = s->batches->bodies[2 * lane + 1];
        for (int c = 0; c < NUMBERS; c++)
            batch->number[c][i] = (REAL)n.number[c];
    }
}

static void NAME(fill_inertia)(NAME(state) * s)
{
    memset(s->inertia, 0, INERTIA * NAME(record_count)(s) * sizeof(REAL));
    for (size_t i = 0; i < (size_t)s->p->blocks; i++)
        for (int c = 0; c < INERTIA - 1; c++)
            s->inertia[INERTIA * i + (size_t)c] = (REAL)s->p->mass_inverse[N * i + D + (size_t)c];
}

/* Walls and padding stand and have no inverse mass. */
static void NAME(set_velocities)(NAME(state) * s, const double *v)
{
    memset(s->v, 0, RECORD * NAME(record_count)(s) * sizeof(REAL));
    for (size_t i = 0; i < (size_t)s->p->blocks; i++) {
        for (size_t c = 0; c < N; c++)
            s->v[RECORD * i + c] = (REAL)v[N * i + c];
        s->v[RECORD * i + N] = (REAL)s->p->mass_inverse[N * i];
    }
}

static void NAME(load_impulses)(NAME(state) * s, const double *r)
{
    for (int lane = 0; lane < s->batches->count * CAIRN_BATCH; lane++) {
        int j = s->batches->contact[lane];
        REAL *to = NAME(impulse_at)(s, lane);
        for (int c = 0; c < D; c++)
            to[c * CAIRN_BATCH] = j < 0 ? 0 : (REAL)r[D * (size_t)j + (size_t)c];
    }
    cairn_special_load(&s->special, r);
}

/* Impulses out of the state, on their cones in double. */
static void NAME(unload)(const void *state, double *r)
{
    const NAME(state) *s = state;
    for (int lane = 0; lane < s->batches->count * CAIRN_BATCH; lane++) {
        int j = s->batches->contact[lane];
        if (j < 0)
            continue;
        double *to = r + D * (size_t)j;
        for (int c = 0; c < D; c++)
            to[c] = (double)NAME(impulse_at)(s, lane)[c * CAIRN_BATCH];
        cairn_circle_project(D, s->p->mu[j], to);
    }
    cairn_special_unload(&s->special, r);
}

/* What the previous ones were no longer counts. */
static void NAME(forget)(void *state)
{
    NAME(state) *s = state;
    memcpy(s->v_previous, s->v, RECORD * NAME(record_count)(s) * sizeof(REAL));
    memcpy(s->r_previous, s->r, NAME(impulse_count)(s) * sizeof(REAL));
    cairn_special_forget(&s->special);
}

/* ---- rows with bounds, one by one ----------------------------------------------------------- */

static void NAME(fetch_special)(const NAME(state) * s, int k, double v[2][6])
{
    const int32_t *block = s->p->block + 2 * (size_t)s->special.contact[k];
    for (size_t side = 0; side < 2; side++)
        for (size_t c = 0; c < N; c++)
            v[side][c] = block[side] < 0 ? 0 : (double)s->v[RECORD * (size_t)block[side] + c];
}

static void NAME(push_special)(NAME(state) * s, int k, const double change[D])
{
    const int32_t *block = s->p->block + 2 * (size_t)s->special.contact[k];
    for (int side = 0; side < 2; side++) {
        double force[N];
        if (block[side] < 0)
            continue;
        size_t at = (size_t)block[side];
        cairn_special_force(&s->special, k, side, change, force);
        for (size_t c = 0; c < N; c++)
            s->v[RECORD * at + c] += (REAL)(s->p->mass_inverse[N * at + c] * force[c]);
    }
}

static void NAME(sweep_special)(NAME(state) * s, cairn_momentum momentum, cairn_sweep *out)
{
    s->special.noted = *out;
    for (int k = 0; k < s->special.count; k++) {
        double v[2][6], change[D];
        NAME(fetch_special)(s, k, v);
        cairn_special_solve(&s->special, k, momentum, v, change);
        NAME(push_special)(s, k, change);
    }
    *out = s->special.noted;
}

/* ---- sweeps --------------------------------------------------------------------------------- */

typedef struct NAME(work) {
    NAME(state) * s;
    JOB job;
    cairn_sweep partial[CAIRN_GROUPS];
} NAME(work);

/* v <- v + beta (v - v_previous), v_previous <- v + lean (the move), in a slab; the constant
 * entries of a record stay */
static void NAME(extrapolate)(const NAME(work) * w, int slab)
{
    REAL beta = (REAL)w->job.momentum.beta, lean = (REAL)w->job.momentum.lean;
    REAL *v = w->s->v, *previous = w->s->v_previous;
    const int *first = w->s->batches->first;
    for (size_t i = RECORD * (size_t)first[slab]; i < RECORD * (size_t)first[slab + 1]; i++) {
        REAL old = v[i], move = beta * (old - previous[i]);
        v[i] = old + move;
        previous[i] = old + lean * move;
    }
}

static JOB NAME(job_of)(const NAME(state) * s, cairn_law law, cairn_momentum momentum)
{
    JOB job = { .batches = s->data,
                .law = law,
                .momentum = momentum,
                .v = s->v,
                .r = s->r,
                .previous = s->r_previous };
    COMPLETE(s, job);
    return job;
}

/* The bodies of a slab move on just before its contacts need them; pieces between slabs follow. */
static void NAME(groups)(int begin, int end, void *context)
{
    NAME(work) *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++) {
        cairn_sweep noted = { 0, 0 };
        if (g < w->s->batches->slabs)
            NAME(extrapolate)(w, g);
        PASS(w->s->width, &w->job, start[g], start[g + 1], &noted);
        w->partial[g] = noted; /* once: other threads have theirs in the same cache line */
    }
}

static void NAME(push_groups)(int begin, int end, void *context)
{
    const NAME(work) *w = context;
    const int *start = w->s->batches->start;
    PASS(w->s->width, &w->job, start[begin], start[end], NULL);
}

static cairn_sweep NAME(sweep)(void *state, cairn_law law, cairn_momentum momentum)
{
    NAME(state) *s = state;
    int last = s->batches->pieces.count;
    NAME(work) w = { .s = s, .job = NAME(job_of)(s, law, momentum) };
    cairn_sweep sum = { 0, 0 };
    cairn_parallel_pieces(&s->batches->pieces, NAME(groups), &w);
    NAME(groups)(last, last + 1, &w);
    for (int g = 0; g <= last; g++) {
        sum.change2 += w.partial[g].change2;
        sum.uphill += w.partial[g].uphill;
    }
    NAME(sweep_special)(s, momentum, &sum);
    return sum;
}

/* Velocities made anew. Rounding leaves them, and must leave the previous ones as well: were it
 * only taken from v, momentum would take it for a move and repeat it 1/(1 - beta) times. */
static void NAME(renew)(NAME(state) * s, const double *v, bool add_impulses)
{
    size_t count = RECORD * NAME(record_count)(s);
    int last = s->batches->pieces.count;
    NAME(work) w = { .s = s, .job = NAME(job_of)(s, CAIRN_LAW_CONVEX, (cairn_momentum){ 0 }) };
    for (size_t i = 0; i < count; i++)
        s->v_previous[i] = s->v[i] - s->v_previous[i];
    NAME(set_velocities)(s, v);
    if (add_impulses) {
        cairn_parallel_pieces(&s->batches->pieces, NAME(push_groups), &w);
        NAME(push_groups)(last, last + 1, &w);
        for (int k = 0; k < s->special.count; k++)
            NAME(push_special)(s, k, s->special.r + D * (size_t)k);
    }
    for (size_t i = 0; i < count; i++)
        s->v_previous[i] = s->v[i] - s->v_previous[i];
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

static cairn_status NAME(begin)(cairn_system *system, cairn_arena *arena, const double *r,
                                const double *v, void **out)
{
    NAME(state) *s = cairn_arena_take(arena, 1, sizeof *s);
    *out = NULL;
    if (!s)
        return CAIRN_NO_MEMORY;
    TRY(cairn_system_cut(system, arena));
    if (system->p->dimension != D || !system->general->usable)
        return CAIRN_OK;
    *s = (NAME(state)){ .p = system->p, .batches = system->general };
    s->width = cairn_width_best();
    TRY(NAME(reserve)(s, arena));
    TRY(cairn_special_create(system->p, arena, &s->special));
    cairn_parallel_for(s->batches->count, CAIRN_LOADED / CAIRN_BATCH, NAME(fill_batches), s);
    NAME(fill_inertia)(s);
    NAME(set_velocities)(s, v);
    NAME(load_impulses)(s, r);
    NAME(forget)(s);
    *out = s;
    return CAIRN_OK;
}

const cairn_sweeps KERNELS = {
    .name = TEXT,
    .single = sizeof(REAL) < sizeof(double),
    .begin = NAME(begin),
    .sweep = NAME(sweep),
    .unload = NAME(unload),
    .load_velocities = NAME(load_velocities),
    .refresh = NAME(refresh),
    .forget = NAME(forget),
};
