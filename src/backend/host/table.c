/* table.c - the back end "host": vectors are arrays of doubles, at their home where they have one,
 * so that nothing is moved up or down. Sums go in a fixed order. */
#include <math.h>
#include <string.h>

#include "backend/host/normals.h"
#include "base/status.h"
#include "problem/operator.h"
#include "problem/segments.h"

/* ---- systems and vectors -------------------------------------------------------------------- */

static cairn_status create(const cairn_problem *p, const cairn_room *room, cairn_system **out)
{
    cairn_arena *arena = room->from; /* what solvers of this library lend */
    *out = cairn_arena_take(arena, 1, sizeof **out);
    return *out ? cairn_system_create(p, arena, *out) : CAIRN_NO_MEMORY;
}

/* All memory is the arena's. */
static void destroy(cairn_system *s)
{
    (void)s;
}

static cairn_status take_vector(cairn_system *s, cairn_space space, double *home,
                                cairn_vector **out)
{
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
                         .normals = normals };
    if (!home)
        x->x = cairn_arena_take(s->arena, x->count, sizeof(double));
    return x->x || x->count == 0 ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_vector cairn_host_view(const double *x, size_t count)
{
    return (cairn_vector){ .x = (double *)x, .count = count };
}

/* A vector with a home is there already. */
static void stay(const cairn_system *s, const cairn_vector *x)
{
    (void)s, (void)x;
}

static void upload(const cairn_system *s, cairn_vector *x)
{
    stay(s, x);
}

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

static void probe(const cairn_system *s, cairn_vector *x)
{
    (void)s;
    for (size_t i = 0; i < x->count; i++)
        x->x[i] = 1 + 0.5 * (double)(i % 7);
}

static void combine(const cairn_system *s, double a, const cairn_vector *x, double b,
                    cairn_vector *y)
{
    (void)s;
    cairn_host_combine(x->count, a, x->x, b, y->x);
}

static void extrapolate(const cairn_system *s, double beta, const cairn_vector *r,
                        const cairn_vector *last, cairn_vector *y)
{
    (void)s;
    for (size_t i = 0; i < r->count; i++)
        y->x[i] = r->x[i] + beta * (r->x[i] - last->x[i]);
}

static double dot(const cairn_system *s, const cairn_vector *x, const cairn_vector *y)
{
    (void)s;
    return cairn_host_dot(x->count, x->x, y->x);
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

static double approach(const cairn_system *s, const cairn_vector *u)
{
    const cairn_problem *p = s->p;
    double fastest = 0;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; w.now.kind != CAIRN_KIND_ROWS && j < w.at; j++) {
            double u_N = u->x[(size_t)j * (size_t)p->dimension];
            fastest = fmax(fastest, -(u_N + cairn_contact_bias(p, j)));
        }
    return fastest;
}

/* ---- gradient methods ----------------------------------------------------------------------- */

static void descend(const cairn_system *s, double L, const cairn_vector *weight,
                    const cairn_vector *y, const cairn_vector *g, cairn_vector *r)
{
    const double *w = weight ? weight->x : NULL;
    for (size_t i = 0; i < r->count; i++)
        r->x[i] = y->x[i] - g->x[i] / (w ? L * w[i] : L);
    project(s, r);
}

static cairn_descent_sums measure_descent(const cairn_system *s, const cairn_descent *d)
{
    (void)s;
    cairn_descent_sums m = { 0 };
    const double *r = d->r->x, *last = d->last->x, *y = d->y->x, *g = d->g->x, *r_g = d->r_g->x;
    const double *w = d->weight ? d->weight->x : NULL;
    for (size_t i = 0; i < d->r->count; i++) {
        double move = r[i] - y[i], way = (w ? w[i] : 1) * move, change = r[i] - last[i];
        m.curvature += move * (r_g[i] - g[i]);
        m.length2 += way * move;
        m.way2 += way * way;
        m.uphill += g[i] * change;
        m.change = fabs(change) > m.change ? fabs(change) : m.change;
        m.size = fabs(last[i]) > m.size ? fabs(last[i]) : m.size;
    }
    return m;
}

static double aim(const cairn_system *s, double lambda, const cairn_spectral *at)
{
    const double *r = at->r->x, *g = at->g->x, *w = at->w->x;
    double *d = at->d->x, sum = 0;
    for (size_t i = 0; i < at->r->count; i++)
        d[i] = r[i] - lambda / w[i] * g[i];
    project(s, at->d);
    for (size_t i = 0; i < at->r->count; i++) {
        d[i] -= r[i];
        sum += w[i] * w[i] * d[i] * d[i];
    }
    return sum;
}

static cairn_spectral_sums measure_spectral(const cairn_system *s, const cairn_spectral *at)
{
    (void)s;
    cairn_spectral_sums sums = { 0 };
    for (size_t i = 0; i < at->r->count; i++) {
        double w = at->w->x[i], d = at->d->x[i], g = at->g->x[i], y = at->next_g->x[i] - g;
        sums.slope += g * d;
        sums.curvature += y * d;
        sums.own += w * d * d;
        sums.inverse += y * y / w;
    }
    return sums;
}

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

/* The first kind that is made for the problem; none: *out has no state. */
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
    static const cairn_sweeps *const in_float[] = { &cairn_sweeps_f32, &cairn_sweeps_general_f32,
                                                    &cairn_sweeps_plane_f32, NULL };
    static const cairn_sweeps *const in_double[] = { &cairn_sweeps_f64, &cairn_sweeps_general_f64,
                                                     &cairn_sweeps_plane_f64, &cairn_sweeps_scalar,
                                                     NULL };
    sweeping *own = cairn_arena_take(s->arena, 1, sizeof *own);
    if (!own)
        return CAIRN_NO_MEMORY;
    *own = (sweeping){ 0 };
    if (coarse && s->p->contacts >= CAIRN_WORTH_BATCHES)
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

static double measure(const cairn_sweeping *state, cairn_law law)
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
