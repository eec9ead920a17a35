/* batch_state.h - the state of sweeps over batches, for one type of number. Included by
 * batch_state.c. */

typedef struct NAME(state) {
    const cairn_problem *p;
    const cairn_batches *batches;
    BATCH *data;
    REAL *v, *v_previous, *r, *r_previous;
    cairn_width width;
} NAME(state);

static cairn_status NAME(reserve)(NAME(state) * s, cairn_arena *arena)
{
    size_t records = ((size_t)s->p->blocks + CAIRN_EXTRA_RECORDS) * 8;
    size_t impulses = (size_t)s->batches->count * 3 * CAIRN_BATCH;
    s->data = cairn_arena_take(arena, (size_t)s->batches->count, sizeof *s->data);
    s->v = cairn_arena_take(arena, records, sizeof(REAL));
    s->v_previous = cairn_arena_take(arena, records, sizeof(REAL));
    s->r = cairn_arena_take(arena, impulses, sizeof(REAL));
    s->r_previous = cairn_arena_take(arena, impulses, sizeof(REAL));
    bool complete = s->data && s->v && s->v_previous && s->r && s->r_previous;
    return complete ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void NAME(fill_batch)(const NAME(state) * s, int k)
{
    BATCH *batch = &s->data[k];
    for (int i = 0; i < CAIRN_BATCH; i++) {
        size_t lane = (size_t)k * CAIRN_BATCH + (size_t)i;
        double values[5];
        lane_of(s->batches, k, i, values);
        batch->a[i] = s->batches->bodies[2 * lane];
        batch->b[i] = s->batches->bodies[2 * lane + 1];
        for (int c = 0; c < 3; c++)
            batch->n[c][i] = (REAL)values[c];
        batch->shift[i] = (REAL)values[3];
        batch->mu[i] = (REAL)values[4];
    }
}

static void NAME(load_velocities)(void *state, const double *v)
{
    NAME(state) *s = state;
    int blocks = s->p->blocks;
    for (int i = 0; i < blocks; i++) {
        double record[8];
        record_of(s->batches, i, v + (size_t)i * 6, record);
        for (int c = 0; c < 8; c++)
            s->v[(size_t)i * 8 + (size_t)c] = (REAL)record[c];
    }
    /* walls stand and have no inverse mass; padding has some, and never moves */
    REAL *wall = s->v + (size_t)blocks * 8;
    memset(wall, 0, 8 * CAIRN_EXTRA_RECORDS * sizeof(REAL));
    for (int k = 1; k < CAIRN_EXTRA_RECORDS; k += 2)
        wall[8 * k + 6] = wall[8 * k + 7] = 1;
}

static void NAME(load_impulses)(NAME(state) * s, const double *r)
{
    const cairn_batches *b = s->batches;
    for (int lane = 0; lane < b->count * CAIRN_BATCH; lane++) {
        double p[3] = { 0, 0, 0 };
        REAL *to = s->r + (size_t)(lane / CAIRN_BATCH) * 3 * CAIRN_BATCH + lane % CAIRN_BATCH;
        if (b->contact[lane] >= 0)
            impulse_in_space(b->p, b->contact[lane], r + (size_t)b->contact[lane] * 3, p);
        for (int c = 0; c < 3; c++)
            to[c * CAIRN_BATCH] = (REAL)p[c];
    }
}

/* Impulses out of the state, on their cones in double. */
static void NAME(unload)(const void *state, double *r)
{
    const NAME(state) *s = state;
    const cairn_batches *b = s->batches;
    for (int lane = 0; lane < b->count * CAIRN_BATCH; lane++) {
        int j = b->contact[lane];
        const REAL *from =
            s->r + (size_t)(lane / CAIRN_BATCH) * 3 * CAIRN_BATCH + lane % CAIRN_BATCH;
        const double p[3] = { from[0], from[CAIRN_BATCH], from[2 * CAIRN_BATCH] };
        if (j < 0)
            continue;
        impulse_in_frame(b->p, j, p, r + (size_t)j * 3);
        cairn_cone_project(3, b->p->mu[j], r + (size_t)j * 3);
    }
}

/* What the previous ones were no longer counts. */
static void NAME(forget)(void *state)
{
    NAME(state) *s = state;
    memcpy(s->v_previous, s->v, ((size_t)s->p->blocks + CAIRN_EXTRA_RECORDS) * 8 * sizeof(REAL));
    memcpy(s->r_previous, s->r, (size_t)s->batches->count * 3 * CAIRN_BATCH * sizeof(REAL));
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
    s->width = cairn_width_best();
    TRY(NAME(reserve)(s, arena));
    for (int k = 0; k < s->batches->count; k++)
        NAME(fill_batch)(s, k);
    NAME(load_velocities)(s, v);
    NAME(load_impulses)(s, r);
    NAME(forget)(s);
    *out = s;
    return CAIRN_OK;
}

typedef struct NAME(work) {
    const NAME(state) * s;
    JOB job;
    cairn_sweep partial[CAIRN_SLABS + 1];
} NAME(work);

/* v <- v + beta (v - v_previous); the constant entries of a record stay */
static void NAME(extrapolate)(int begin, int end, void *context)
{
    const NAME(work) *w = context;
    REAL beta = (REAL)w->job.beta, *v = w->s->v, *previous = w->s->v_previous;
    for (size_t i = (size_t)begin * 8; i < (size_t)end * 8; i++) {
        REAL old = v[i];
        v[i] = old + beta * (old - previous[i]);
        previous[i] = old;
    }
}

/* v = v_free + M^-1 H' r, computed anew in this type of number. */
static void NAME(push_groups)(int begin, int end, void *context)
{
    NAME(work) *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++)
        PASS(w->s->width, &w->job, start[g], start[g + 1], NULL);
}

static void NAME(refresh)(void *state)
{
    NAME(state) *s = state;
    int slabs = s->batches->slabs;
    NAME(work) w = { .s = s, .job = { .batches = s->data, .v = s->v, .r = s->r } };
    NAME(load_velocities)(s, s->p->v_free);
    cairn_parallel_for(slabs, 1, NAME(push_groups), &w);
    NAME(push_groups)(slabs, slabs + 1, &w);
}

static void NAME(groups)(int begin, int end, void *context)
{
    NAME(work) *w = context;
    const int *start = w->s->batches->start;
    for (int g = begin; g < end; g++)
        PASS(w->s->width, &w->job, start[g], start[g + 1], &w->partial[g]);
}

static cairn_sweep NAME(sweep)(void *state, cairn_law law, double beta)
{
    NAME(state) *s = state;
    int slabs = s->batches->slabs;
    NAME(work)
    w = { .s = s,
          .job = { .batches = s->data,
                   .convex = law == CAIRN_LAW_CONVEX,
                   .beta = beta,
                   .v = s->v,
                   .r = s->r,
                   .previous = s->r_previous } };
    cairn_sweep sum = { 0, 0 };
    cairn_parallel_for(s->p->blocks, 16384, NAME(extrapolate), &w);
    cairn_parallel_for(slabs, 1, NAME(groups), &w);
    NAME(groups)(slabs, slabs + 1, &w);
    for (int g = 0; g <= slabs; g++) {
        sum.change2 += w.partial[g].change2;
        sum.uphill += w.partial[g].uphill;
    }
    return sum;
}

const cairn_sweeps KERNELS = {
    .name = TEXT,
    .begin = NAME(begin),
    .sweep = NAME(sweep),
    .unload = NAME(unload),
    .load_velocities = NAME(load_velocities),
    .refresh = NAME(refresh),
    .forget = NAME(forget),
};
