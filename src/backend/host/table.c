/* table.c - the table of the back end "host", and the choice of kernels by register width.
 *
 * Vectors are arrays of doubles. A vector with a home uses that array itself, so that upload and
 * download do nothing. Sums are formed in a fixed order. */
#include <math.h>
#include <string.h>

#include "backend/host/batch.h"
#include "backend/host/host.h"
#include "base/common.h"
#include "problem/cut.h"
#include "problem/operator.h"

/* ---- systems and vectors -------------------------------------------------------------------- */

static cairn_status create(const cairn_problem *p, const cairn_room *room, cairn_system **out)
{
    cairn_arena *arena = room->from; /* the solvers of this library always pass an arena */
    *out = cairn_arena_take(arena, 1, sizeof **out);
    return *out ? cairn_system_create(p, arena, *out) : CAIRN_NO_MEMORY;
}

/* Nothing to free: all memory is the arena's. */
static void destroy(cairn_system *s)
{
    (void)s;
}

static cairn_status take_vector(cairn_system *s, cairn_space space, double *home,
                                cairn_vector **out)
{
    /* the first vectors are part of the system, which saves small allocations in every solve */
    cairn_vector *x = s->vectors < CAIRN_FIRST_VECTORS ? &s->first[s->vectors++]
                                                       : cairn_arena_take(s->arena, 1, sizeof *x);
    *out = x;
    if (!x)
        return CAIRN_NO_MEMORY;
    if (space == CAIRN_SPACE_REDUCED)
        TRY(cairn_normals_find(s));
    bool normals = space == CAIRN_SPACE_REDUCED && s->normals->usable;
    size_t count = space == CAIRN_SPACE_VELOCITIES ? s->v_count : s->r_count;
    *x = (cairn_vector){ .x = home,
                         .count = normals ? (size_t)s->p->contacts : count,
                         .home = home,
                         .normals = normals,
                         .of_contacts = space != CAIRN_SPACE_VELOCITIES };
    if (!home)
        x->x = cairn_arena_take(s->arena, x->count, sizeof(double));
    return x->x || x->count == 0 ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_vector cairn_host_view(const double *x, size_t count)
{
    return (cairn_vector){ .x = (double *)x, .count = count };
}

/* A vector with a home needs no copy. */
static void stay(const cairn_system *s, const cairn_vector *x)
{
    (void)s, (void)x;
}

static void upload(const cairn_system *s, cairn_vector *x)
{
    stay(s, x);
}

/* Between a reduced vector and a full one, tangential components are dropped or set to 0. */
static void copy(const cairn_system *s, const cairn_vector *from, cairn_vector *to)
{
    if (to->normals && !from->normals)
        cairn_normals_pack(s->p, from->x, to->x);
    else if (from->normals && !to->normals)
        cairn_normals_unpack(s->p, from->x, to->x);
    else if (from->count > 0)
        memcpy(to->x, from->x, from->count * sizeof(double));
}

static void clear(const cairn_system *s, cairn_vector *x)
{
    (void)s;
    if (x->count > 0)
        memset(x->x, 0, x->count * sizeof(double));
}

/* A number from 1 to 4 that varies with the direction of a contact, and not with its index, which
 * differs between members. */
static double number_of(const cairn_problem *p, int j)
{
    double room[CAIRN_MAX_DIMENSION * 6];
    int side = p->block[2 * (size_t)j] >= 0 ? 0 : 1;
    if (p->block[2 * (size_t)j + (size_t)side] < 0)
        return 1;
    const double *H = cairn_rows(p, j, side, room);
    double x = fabs(12.9898 * H[0] + 78.233 * H[1] + 37.719 * H[2]) * 43.758;
    return 1 + 3 * (x - floor(x));
}

/* The same numbers as in the scalar back end, where the period of 7 is explained; others if the
 * problem is cut into parts. */
static void probe(const cairn_system *s, cairn_vector *x)
{
    size_t each = s->p->contacts > 0 ? x->count / (size_t)s->p->contacts : 1;
    for (size_t i = 0; i < x->count; i++)
        x->x[i] = s->p->cut ? number_of(s->p, (int)(i / each)) + 0.5 * (double)(i % each)
                            : 1 + 0.5 * (double)(i % 7);
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* A sum over the numbers of vectors that have some for each contact: `work` adds those of a range
 * of numbers. */
typedef struct summing {
    void (*work)(size_t begin, size_t end, const void *context, void *value);
    const void *context;
    size_t each; /* numbers of a contact */
} summing;

static void sum_range(int begin, int end, void *context, void *value)
{
    const summing *job = context;
    job->work((size_t)begin * job->each, (size_t)end * job->each, job->context, value);
}

/* All numbers in one range or, if the problem is cut into parts, by parts. A value is at most
 * CAIRN_VALUE bytes of zeros at first. */
static void sum_up(const cairn_system *s, const cairn_vector *like, summing job,
                   void (*join)(void *, const void *), void *value, size_t size)
{
    static const char zeros[CAIRN_VALUE];
    if (!s->p->cut || !like->of_contacts) {
        job.work(0, like->count, job.context, value);
        return;
    }
    job.each = (size_t)s->p->dimension;
    const cairn_reduction all = { .count = s->p->contacts,
                                  .parted = cairn_problem_parted(s->p),
                                  .work = sum_range,
                                  .join = join,
                                  .context = &job,
                                  .neutral = zeros,
                                  .size = size };
    cairn_reduce(&all, NULL, value);
}

static void add_number(void *sum, const void *value)
{
    *(double *)sum += *(const double *)value;
}

static void combine(const cairn_system *s, double a, const cairn_vector *x, double b,
                    cairn_vector *y)
{
    (void)s;
    cairn_host_combine(x->count, a, x->x, b, y->x);
}

/* y = r + beta (r - last) */
static void extrapolate(const cairn_system *s, double beta, const cairn_vector *r,
                        const cairn_vector *last, cairn_vector *y)
{
    (void)s;
    for (size_t i = 0; i < r->count; i++)
        y->x[i] = r->x[i] + beta * (r->x[i] - last->x[i]);
}

typedef struct two_vectors {
    const cairn_vector *x, *y;
} two_vectors;

static void dot_range(size_t begin, size_t end, const void *context, void *value)
{
    const two_vectors *job = context;
    *(double *)value += cairn_host_dot(end - begin, job->x->x + begin, job->y->x + begin);
}

static double dot(const cairn_system *s, const cairn_vector *x, const cairn_vector *y)
{
    const two_vectors both = { x, y };
    double sum = 0;
    sum_up(s, x, (summing){ dot_range, &both, 1 }, add_number, &sum, sizeof sum);
    return sum;
}

/* ---- the operator --------------------------------------------------------------------------- */

static void velocity(const cairn_system *s, const cairn_vector *r, cairn_vector *v)
{
    cairn_problem_velocity(s->p, r->x, v->x);
}

static void gradient(const cairn_system *s, const cairn_vector *r, cairn_vector *v, cairn_vector *g)
{
    (r->normals ? cairn_normals_gradient : cairn_host_gradient)(s, r->x, v->x, g->x);
}

static void project(const cairn_system *s, cairn_vector *r)
{
    (r->normals ? cairn_normals_project : cairn_host_project)(s, r->x);
}

static void scales(const cairn_system *s, cairn_vector *w)
{
    size_t each = w->normals ? 1 : (size_t)s->p->dimension;
    double scale[CAIRN_MAX_DIMENSION];
    for (int j = 0; j < s->p->contacts; j++) {
        cairn_contact_scales(s->p, j, scale);
        memcpy(w->x + (size_t)j * each, scale, each * sizeof(double));
    }
}

/* ---- the judge ------------------------------------------------------------------------------ */

static void judge(cairn_system *s, cairn_law law, const cairn_vector *r, cairn_vector *v,
                  cairn_vector *u, cairn_judgement *out)
{
    cairn_judge_again(s->p, law, r->x, v->x, u->x, &s->norms, out);
}

static double scale(const cairn_system *s, cairn_law law)
{
    return cairn_norms_scale(&s->norms, law);
}

/* The largest approach velocity -(u_N + b), over all members that share the problem. */
static double approach(const cairn_system *s, const cairn_vector *u)
{
    const cairn_problem *p = s->p;
    double fastest = 0;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; w.now.kind != CAIRN_KIND_ROWS && j < w.at; j++) {
            double u_N = u->x[(size_t)j * (size_t)p->dimension];
            fastest = fmax(fastest, -(u_N + cairn_contact_bias(p, j)));
        }
    return cairn_link_largest(cairn_problem_link(p), fastest);
}

/* ---- gradient methods ----------------------------------------------------------------------- */

/* r = P_K(y - g/(L w)) */
static void descend(const cairn_system *s, double L, const cairn_vector *weight,
                    const cairn_vector *y, const cairn_vector *g, cairn_vector *r)
{
    const double *w = weight ? weight->x : NULL;
    for (size_t i = 0; i < r->count; i++)
        r->x[i] = y->x[i] - g->x[i] / (w ? L * w[i] : L);
    project(s, r);
}

/* One pass for all sums of a step; the comparisons ignore a NaN, which the other sums keep. */
static void descent_range(size_t begin, size_t end, const void *context, void *value)
{
    const cairn_descent *d = context;
    cairn_descent_sums m = *(cairn_descent_sums *)value;
    const double *r = d->r->x, *last = d->last->x, *y = d->y->x, *g = d->g->x, *r_g = d->r_g->x;
    const double *w = d->weight ? d->weight->x : NULL;
    for (size_t i = begin; i < end; i++) {
        double move = r[i] - y[i], way = (w ? w[i] : 1) * move, change = r[i] - last[i];
        m.curvature += move * (r_g[i] - g[i]);
        m.length2 += way * move;
        m.way2 += way * way;
        m.uphill += g[i] * change;
        m.change = fabs(change) > m.change ? fabs(change) : m.change;
        m.size = fabs(last[i]) > m.size ? fabs(last[i]) : m.size;
    }
    *(cairn_descent_sums *)value = m;
}

static void add_descent(void *result, const void *value)
{
    cairn_descent_sums *m = result;
    const cairn_descent_sums *part = value;
    m->curvature += part->curvature;
    m->length2 += part->length2;
    m->way2 += part->way2;
    m->uphill += part->uphill;
    m->change = fmax(m->change, part->change);
    m->size = fmax(m->size, part->size);
}

static cairn_descent_sums measure_descent(const cairn_system *s, const cairn_descent *d)
{
    cairn_descent_sums m = { 0 };
    sum_up(s, d->r, (summing){ descent_range, d, 1 }, add_descent, &m, sizeof m);
    return m;
}

static void aim_range(size_t begin, size_t end, const void *context, void *value)
{
    const cairn_spectral *at = context;
    const double *r = at->r->x, *w = at->w->x;
    double *d = at->d->x, *sum = value;
    for (size_t i = begin; i < end; i++) {
        d[i] -= r[i];
        *sum += w[i] * w[i] * d[i] * d[i];
    }
}

/* d = P_K(r - lambda g/w) - r; returns sum (w d)^2 */
static double aim(const cairn_system *s, double lambda, const cairn_spectral *at)
{
    const double *r = at->r->x, *g = at->g->x, *w = at->w->x;
    double *d = at->d->x, sum = 0;
    for (size_t i = 0; i < at->r->count; i++)
        d[i] = r[i] - lambda / w[i] * g[i];
    project(s, at->d);
    sum_up(s, at->r, (summing){ aim_range, at, 1 }, add_number, &sum, sizeof sum);
    return sum;
}

static void spectral_range(size_t begin, size_t end, const void *context, void *value)
{
    const cairn_spectral *at = context;
    cairn_spectral_sums sums = *(cairn_spectral_sums *)value;
    for (size_t i = begin; i < end; i++) {
        double w = at->w->x[i], d = at->d->x[i], g = at->g->x[i], y = at->next_g->x[i] - g;
        sums.slope += g * d;
        sums.curvature += y * d;
        sums.own += w * d * d;
        sums.inverse += y * y / w;
    }
    *(cairn_spectral_sums *)value = sums;
}

static void add_spectral(void *result, const void *value)
{
    cairn_spectral_sums *sums = result;
    const cairn_spectral_sums *part = value;
    sums->slope += part->slope;
    sums->curvature += part->curvature;
    sums->own += part->own;
    sums->inverse += part->inverse;
}

static cairn_spectral_sums measure_spectral(const cairn_system *s, const cairn_spectral *at)
{
    cairn_spectral_sums sums = { 0 };
    sum_up(s, at->r, (summing){ spectral_range, at, 1 }, add_spectral, &sums, sizeof sums);
    return sums;
}

/* The gradient is affine in r, so that g at r + t d follows from g at r and at r + d. */
static void follow(const cairn_system *s, double t, const cairn_spectral *at)
{
    (void)s;
    double *r = at->r->x, *g = at->g->x;
    for (size_t i = 0; i < at->r->count; i++) {
        r[i] += t * at->d->x[i];
        g[i] += t * (at->next_g->x[i] - g[i]);
    }
}

/* ---- sweeps --------------------------------------------------------------------------------- */

typedef struct sweeping {
    cairn_sweeping face;
    const cairn_sweeps *kind;
    void *state;
} sweeping;

/* Start the first implementation of sweeps that applies to the problem. If none does, out->state
 * stays NULL. */
static cairn_status try_kinds(cairn_system *s, const cairn_sweeps *const *kinds,
                              const cairn_vector *r, const cairn_vector *v, sweeping *out)
{
    for (int k = 0; kinds[k] && !out->state; k++) {
        out->kind = kinds[k];
        TRY(kinds[k]->begin(s, s->arena, r->x, v->x, &out->state));
    }
    return CAIRN_OK;
}

static cairn_status begin(cairn_system *s, bool coarse, const cairn_vector *r,
                          const cairn_vector *v, cairn_sweeping **out)
{
    /* in the order of preference: the most special, and fastest, first; the last one takes
     * anything */
    static const cairn_sweeps *const in_float[] = { &cairn_sweeps_f32, &cairn_sweeps_general_f32,
                                                    &cairn_sweeps_plane_f32, NULL };
    static const cairn_sweeps *const in_double[] = { &cairn_sweeps_f64, &cairn_sweeps_general_f64,
                                                     &cairn_sweeps_plane_f64, &cairn_sweeps_scalar,
                                                     NULL };
    sweeping *own = cairn_arena_take(s->arena, 1, sizeof *own);
    if (!own)
        return CAIRN_NO_MEMORY;
    *own = (sweeping){ 0 };
    if (coarse && (s->p->cut || s->p->contacts >= CAIRN_WORTH_BATCHES))
        TRY(try_kinds(s, in_float, r, v, own));
    if (!own->state)
        TRY(try_kinds(s, in_double, r, v, own));
    own->face = (cairn_sweeping){ own->kind->single, own->kind->measure != NULL };
    *out = &own->face;
    return CAIRN_OK;
}

static cairn_sweep sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum)
{
    const sweeping *own = (const sweeping *)state;
    return own->kind->sweep(own->state, law, momentum);
}

static cairn_measured measure(const cairn_sweeping *state, cairn_law law)
{
    const sweeping *own = (const sweeping *)state;
    return own->kind->measure(own->state, law);
}

static void unload(const cairn_sweeping *state, cairn_vector *r)
{
    const sweeping *own = (const sweeping *)state;
    own->kind->unload(own->state, r->x);
}

static void load_velocities(cairn_sweeping *state, const cairn_vector *v)
{
    const sweeping *own = (const sweeping *)state;
    own->kind->load_velocities(own->state, v->x);
}

static void refresh(cairn_sweeping *state)
{
    const sweeping *own = (const sweeping *)state;
    own->kind->refresh(own->state);
}

const cairn_backend cairn_backend_host = {
    .version = CAIRN_BACKEND_VERSION,
    .name = "host",
    .summary = "this machine's cores: threads, wide registers, float where that will do",
    .create = create,
    .destroy = destroy,
    .vector = take_vector,
    .upload = upload,
    .download = stay,
    .copy = copy,
    .clear = clear,
    .probe = probe,
    .combine = combine,
    .extrapolate = extrapolate,
    .dot = dot,
    .velocity = velocity,
    .gradient = gradient,
    .project = project,
    .scales = scales,
    .judge = judge,
    .scale = scale,
    .approach = approach,
    .descend = descend,
    .measure_descent = measure_descent,
    .aim = aim,
    .measure_spectral = measure_spectral,
    .follow = follow,
    .begin = begin,
    .sweep = sweep,
    .measure = measure,
    .unload = unload,
    .load_velocities = load_velocities,
    .refresh = refresh,
};

/* ---- passes by width --------------------------------------------------------------------- */

/* The passes over batches by register width: the tables of the units (src/units.cmake), which are
 * compiled once for each width. The functions are called only with a width that this machine has,
 * because a unit for wider registers contains instructions that others cannot execute. */

extern const cairn_batch_kernels_f32 cairn_batch_f32_baseline, cairn_batch_f32_avx2,
    cairn_batch_f32_avx512;
extern const cairn_batch_kernels_f64 cairn_batch_f64_baseline, cairn_batch_f64_avx2,
    cairn_batch_f64_avx512;
extern const cairn_general_kernels_f32 cairn_general_f32_baseline, cairn_general_f32_avx2,
    cairn_general_f32_avx512;
extern const cairn_general_kernels_f64 cairn_general_f64_baseline, cairn_general_f64_avx2,
    cairn_general_f64_avx512;
extern const cairn_plane_kernels_f32 cairn_plane_f32_baseline, cairn_plane_f32_avx2,
    cairn_plane_f32_avx512;
extern const cairn_plane_kernels_f64 cairn_plane_f64_baseline, cairn_plane_f64_avx2,
    cairn_plane_f64_avx512;

const cairn_batch_kernels_f32 *cairn_batch_kernels_f32_of(cairn_width width)
{
    static const cairn_batch_kernels_f32 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_batch_f32_baseline, &cairn_batch_f32_avx2, &cairn_batch_f32_avx512
    };
    return tables[width];
}

const cairn_batch_kernels_f64 *cairn_batch_kernels_f64_of(cairn_width width)
{
    static const cairn_batch_kernels_f64 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_batch_f64_baseline, &cairn_batch_f64_avx2, &cairn_batch_f64_avx512
    };
    return tables[width];
}

const cairn_general_kernels_f32 *cairn_general_kernels_f32_of(cairn_width width)
{
    static const cairn_general_kernels_f32 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_general_f32_baseline, &cairn_general_f32_avx2, &cairn_general_f32_avx512
    };
    return tables[width];
}

const cairn_general_kernels_f64 *cairn_general_kernels_f64_of(cairn_width width)
{
    static const cairn_general_kernels_f64 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_general_f64_baseline, &cairn_general_f64_avx2, &cairn_general_f64_avx512
    };
    return tables[width];
}

const cairn_plane_kernels_f32 *cairn_plane_kernels_f32_of(cairn_width width)
{
    static const cairn_plane_kernels_f32 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_plane_f32_baseline, &cairn_plane_f32_avx2, &cairn_plane_f32_avx512
    };
    return tables[width];
}

const cairn_plane_kernels_f64 *cairn_plane_kernels_f64_of(cairn_width width)
{
    static const cairn_plane_kernels_f64 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_plane_f64_baseline, &cairn_plane_f64_avx2, &cairn_plane_f64_avx512
    };
    return tables[width];
}
