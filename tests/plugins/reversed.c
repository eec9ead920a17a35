/* reversed.c - a back end in a shared object, built for the tests alone: the scalar one behind
 * vectors in a layout of their own. Numbers are kept last first and times -2, in memory of malloc:
 * a solver that looked inside would go wrong at once, and a system or vector that nobody frees is a
 * leak.
 *
 * Each function writes its inputs out for the scalar back end, calls that, and takes the results
 * back; what was written out is spoiled afterwards. */
#include "backend/backend.h"

#include <math.h>
#include <stdlib.h>

struct cairn_vector {
    double *kept;  /* -2 x, last first                              */
    double *plain; /* x for the scalar back end, while a call lasts */
    double *home;
    size_t count;
    cairn_vector *inner; /* of the scalar back end, at home in `plain` */
    cairn_vector *next;
};

struct cairn_system {
    cairn_system *inner;
    const cairn_problem *p;
    cairn_vector *vectors;
    struct sweeping *sweepings;
};

typedef struct sweeping {
    cairn_sweeping face;
    const cairn_system *s;
    cairn_sweeping *inner;
    struct sweeping *next;
} sweeping;

static const cairn_backend *const scalar = &cairn_backend_scalar;

/* ---- writing out and taking back ------------------------------------------------------------ */

static cairn_vector *written(const cairn_system *s, const cairn_vector *x)
{
    for (size_t i = 0; i < x->count; i++)
        x->plain[i] = x->kept[x->count - 1 - i] / -2;
    scalar->upload(s->inner, x->inner);
    return x->inner;
}

static void spoil(const cairn_system *s, const cairn_vector *x)
{
    for (size_t i = 0; i < x->count; i++)
        x->plain[i] = NAN;
    scalar->upload(s->inner, x->inner);
}

static void taken(const cairn_system *s, cairn_vector *x)
{
    scalar->download(s->inner, x->inner);
    for (size_t i = 0; i < x->count; i++)
        x->kept[x->count - 1 - i] = -2 * x->plain[i];
    spoil(s, x);
}

/* ---- systems and vectors -------------------------------------------------------------------- */

static void destroy(cairn_system *s)
{
    while (s->vectors) {
        cairn_vector *x = s->vectors;
        s->vectors = x->next;
        free(x->kept);
        free(x->plain);
        free(x);
    }
    while (s->sweepings) {
        sweeping *own = s->sweepings;
        s->sweepings = own->next;
        free(own);
    }
    scalar->destroy(s->inner);
    free(s);
}

static cairn_status create(const cairn_problem *p, const cairn_room *room, cairn_system **out)
{
    cairn_system *s = calloc(1, sizeof *s);
    if (!s)
        return CAIRN_NO_MEMORY;
    s->p = p;
    cairn_status status = scalar->create(p, room, &s->inner);
    if (status != CAIRN_OK)
        free(s);
    else
        *out = s;
    return status;
}

static cairn_status take_vector(cairn_system *s, cairn_space space, double *home,
                                cairn_vector **out)
{
    bool speeds = space == CAIRN_SPACE_VELOCITIES;
    int count = speeds ? s->p->blocks * s->p->block_size : s->p->contacts * s->p->dimension;
    cairn_vector *x = calloc(1, sizeof *x);
    if (!x)
        return CAIRN_NO_MEMORY;
    x->next = s->vectors;
    s->vectors = x;
    x->home = home;
    x->count = s->p->W && speeds ? 0 : (size_t)count;
    x->kept = calloc(x->count + 1, sizeof(double));
    x->plain = calloc(x->count + 1, sizeof(double));
    *out = x;
    if (!x->kept || !x->plain)
        return CAIRN_NO_MEMORY;
    return scalar->vector(s->inner, space, x->plain, &x->inner);
}

static void upload(const cairn_system *s, cairn_vector *x)
{
    for (size_t i = 0; i < x->count; i++)
        x->plain[i] = x->home[i];
    scalar->upload(s->inner, x->inner);
    taken(s, x);
}

static void download(const cairn_system *s, const cairn_vector *x)
{
    (void)s;
    for (size_t i = 0; i < x->count; i++)
        x->home[i] = x->kept[x->count - 1 - i] / -2;
}

static void copy(const cairn_system *s, const cairn_vector *from, cairn_vector *to)
{
    (void)s;
    for (size_t i = 0; i < from->count; i++)
        to->kept[i] = from->kept[i];
}

static void clear(const cairn_system *s, cairn_vector *x)
{
    (void)s;
    for (size_t i = 0; i < x->count; i++)
        x->kept[i] = 0;
}

static void probe(const cairn_system *s, cairn_vector *x)
{
    scalar->probe(s->inner, x->inner);
    taken(s, x);
}

static void combine(const cairn_system *s, double a, const cairn_vector *x, double b,
                    cairn_vector *y)
{
    written(s, x);
    scalar->combine(s->inner, a, x->inner, b, written(s, y));
    taken(s, y);
    spoil(s, x);
}

static void extrapolate(const cairn_system *s, double beta, const cairn_vector *r,
                        const cairn_vector *last, cairn_vector *y)
{
    scalar->extrapolate(s->inner, beta, written(s, r), written(s, last), y->inner);
    taken(s, y);
    spoil(s, r);
    spoil(s, last);
}

static double dot(const cairn_system *s, const cairn_vector *x, const cairn_vector *y)
{
    written(s, x);
    double sum = scalar->dot(s->inner, x->inner, written(s, y));
    spoil(s, x);
    spoil(s, y);
    return sum;
}

/* ---- contact by contact --------------------------------------------------------------------- */

static void velocity(const cairn_system *s, const cairn_vector *r, cairn_vector *v)
{
    scalar->velocity(s->inner, written(s, r), v->inner);
    taken(s, v);
    spoil(s, r);
}

static void gradient(const cairn_system *s, const cairn_vector *r, cairn_vector *v, cairn_vector *g)
{
    scalar->gradient(s->inner, written(s, r), v->inner, g->inner);
    taken(s, v);
    taken(s, g);
    spoil(s, r);
}

static void project(const cairn_system *s, cairn_vector *r)
{
    scalar->project(s->inner, written(s, r));
    taken(s, r);
}

static void scales(const cairn_system *s, cairn_vector *w)
{
    scalar->scales(s->inner, w->inner);
    taken(s, w);
}

static void judge(cairn_system *s, cairn_law law, const cairn_vector *r, cairn_vector *v,
                  cairn_vector *u, cairn_judgement *out)
{
    scalar->judge(s->inner, law, written(s, r), v->inner, u->inner, out);
    taken(s, v);
    taken(s, u);
    spoil(s, r);
}

static double scale(const cairn_system *s, cairn_law law)
{
    return scalar->scale(s->inner, law);
}

static double approach(const cairn_system *s, const cairn_vector *u)
{
    double fastest = scalar->approach(s->inner, written(s, u));
    spoil(s, u);
    return fastest;
}

/* ---- gradient methods ----------------------------------------------------------------------- */

static void descend(const cairn_system *s, double L, const cairn_vector *weight,
                    const cairn_vector *y, const cairn_vector *g, cairn_vector *r)
{
    const cairn_vector *w = weight ? written(s, weight) : NULL;
    scalar->descend(s->inner, L, w, written(s, y), written(s, g), r->inner);
    taken(s, r);
    spoil(s, y);
    spoil(s, g);
}

static cairn_descent_sums measure_descent(const cairn_system *s, const cairn_descent *d)
{
    const cairn_descent inner = { written(s, d->y),    written(s, d->g),
                                  written(s, d->r),    written(s, d->r_g),
                                  written(s, d->last), d->weight ? written(s, d->weight) : NULL };
    return scalar->measure_descent(s->inner, &inner);
}

static cairn_spectral written_spectral(const cairn_system *s, const cairn_spectral *at)
{
    return (cairn_spectral){ written(s, at->r), written(s, at->g), written(s, at->d),
                             written(s, at->next_g), written(s, at->w) };
}

static double aim(const cairn_system *s, double lambda, const cairn_spectral *at)
{
    const cairn_spectral inner = written_spectral(s, at);
    double sum = scalar->aim(s->inner, lambda, &inner);
    taken(s, at->d);
    return sum;
}

static cairn_spectral_sums measure_spectral(const cairn_system *s, const cairn_spectral *at)
{
    const cairn_spectral inner = written_spectral(s, at);
    return scalar->measure_spectral(s->inner, &inner);
}

static void follow(const cairn_system *s, double t, const cairn_spectral *at)
{
    const cairn_spectral inner = written_spectral(s, at);
    scalar->follow(s->inner, t, &inner);
    taken(s, at->r);
    taken(s, at->g);
}

/* ---- sweeps --------------------------------------------------------------------------------- */

static cairn_status begin(cairn_system *s, bool coarse, const cairn_vector *r,
                          const cairn_vector *v, cairn_sweeping **out)
{
    sweeping *own = calloc(1, sizeof *own);
    if (!own)
        return CAIRN_NO_MEMORY;
    own->s = s;
    own->next = s->sweepings;
    s->sweepings = own;
    *out = &own->face;
    return scalar->begin(s->inner, coarse, written(s, r), written(s, v), &own->inner);
}

static cairn_sweep sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum)
{
    return scalar->sweep(((sweeping *)state)->inner, law, momentum);
}

static void unload(const cairn_sweeping *state, cairn_vector *r)
{
    const sweeping *own = (const sweeping *)state;
    scalar->unload(own->inner, r->inner);
    taken(own->s, r);
}

static void load_velocities(cairn_sweeping *state, const cairn_vector *v)
{
    const sweeping *own = (const sweeping *)state;
    scalar->load_velocities(own->inner, written(own->s, v));
    spoil(own->s, v);
}

static void refresh(cairn_sweeping *state)
{
    scalar->refresh(((sweeping *)state)->inner);
}

__attribute__((visibility("default"))) cairn_backend_table_function cairn_backend_table;

const cairn_backend *cairn_backend_table(void)
{
    static const cairn_backend table = {
        .version = CAIRN_BACKEND_VERSION,
        .name = "reversed",
        .summary = "for tests: numbers last first, times -2",
        .create = create,
        .destroy = destroy,
        .vector = take_vector,
        .upload = upload,
        .download = download,
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
        .unload = unload,
        .load_velocities = load_velocities,
        .refresh = refresh,
    };
    return &table;
}
