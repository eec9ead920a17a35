/* cuda.cu - the back end "cuda" (docs/gpu.md): a plug-in. One unit holds all of it, with the
 * sources of one contact, so that the compiler sees every function that a kernel calls.
 * Compiled as ordinary C++ it is the same back end on a virtual device, for tests. */
#include <new>

#include "backend/cuda/device.h"

#include "math/dense.c"
#include "problem/cone.c"
#include "problem/local.c"

#include "backend/scalar/contact.c"
#include "backend/scalar/judge.c"

#include "backend/cuda/sweeps.h"

#include "backend/cuda/pile_end.h"

/* ---- systems and vectors --------------------------------------------------------------------- */

static void destroy(cairn_system *s)
{
    if (!s)
        return;
    s->device.release();
    for (cairn_vector *x : s->vectors)
        delete x;
    for (Sweeps *x : s->sweeps)
        delete x;
    delete s->graph;
    delete s;
}

static cairn_status create(const cairn_problem *p, const cairn_room *room, cairn_system **out)
{
    (void)room; /* all memory is the device's */
    cairn_system *s = new (std::nothrow) cairn_system();
    *out = nullptr;
    if (!s)
        return CAIRN_NO_MEMORY;
    s->p = p;
    if (s->device.open())
        fill_system(s);
    if (s->device.failed) {
        destroy(s);
        return CAIRN_NO_MEMORY;
    }
    *out = s;
    return CAIRN_OK;
}

static cairn_status take_vector(cairn_system *s, cairn_space space, double *home,
                                cairn_vector **out)
{
    cairn_vector *x = new (std::nothrow) cairn_vector();
    if (!x)
        return CAIRN_NO_MEMORY;
    s->vectors.push_back(x);
    x->home = home;
    x->count = space == CAIRN_SPACE_VELOCITIES ? (int64_t)s->own.blocks * s->own.n
                                               : (int64_t)s->own.contacts * s->own.d;
    /* the caller's arrays of a resident problem are on the device already */
    x->x = s->p->resident && home ? home : s->device.take<double>((size_t)x->count);
    *out = x;
    return x->x ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Work on a system that the table passes as const: the device only keeps its failure there. */
static Device &device_of(const cairn_system *s)
{
    return const_cast<cairn_system *>(s)->device;
}

static void upload(const cairn_system *s, cairn_vector *x)
{
    if (x->x != x->home)
        device_of(s).upload_bytes(x->x, x->home, (size_t)x->count * sizeof(double));
}

static void download(const cairn_system *s, const cairn_vector *x)
{
    if (x->x != x->home)
        device_of(s).download_bytes(x->home, x->x, (size_t)x->count * sizeof(double));
}

/* ---- component by component ------------------------------------------------------------------ */

static void copy(const cairn_system *s, const cairn_vector *from, cairn_vector *to)
{
    const double *x = from->x;
    double *y = to->x;
    each(device_of(s), from->count, [=] ANYWHERE(int64_t i) { y[i] = x[i]; });
}

static void clear(const cairn_system *s, cairn_vector *x)
{
    double *y = x->x;
    each(device_of(s), x->count, [=] ANYWHERE(int64_t i) { y[i] = 0; });
}

/* The same numbers as the host's. */
static void probe(const cairn_system *s, cairn_vector *x)
{
    double *y = x->x;
    each(device_of(s), x->count, [=] ANYWHERE(int64_t i) { y[i] = 1 + 0.5 * (double)(i % 7); });
}

static void combine(const cairn_system *s, double a, const cairn_vector *x, double b,
                    cairn_vector *y)
{
    const double *from = x->x;
    double *to = y->x;
    each(device_of(s), x->count, [=] ANYWHERE(int64_t i) { to[i] = a * from[i] + b * to[i]; });
}

static void extrapolate(const cairn_system *s, double beta, const cairn_vector *r,
                        const cairn_vector *last, cairn_vector *y)
{
    const double *x = r->x, *before = last->x;
    double *to = y->x;
    each(device_of(s), r->count,
         [=] ANYWHERE(int64_t i) { to[i] = x[i] + beta * (x[i] - before[i]); });
}

static double dot(const cairn_system *s, const cairn_vector *x, const cairn_vector *y)
{
    const double *a = x->x, *b = y->x;
    double sum = total<Sum>(device_of(s), x->count, [=] ANYWHERE(int64_t i, Sum & to) {
                     to.x += a[i] * b[i];
                 }).x;
    return s->device.failed ? NAN : sum;
}

/* ---- gradient methods ------------------------------------------------------------------------ */

static void descend(const cairn_system *s, double L, const cairn_vector *weight,
                    const cairn_vector *y, const cairn_vector *g, cairn_vector *r)
{
    const double *from = y->x, *slope = g->x, *w = weight ? weight->x : nullptr;
    double *to = r->x;
    each(device_of(s), r->count,
         [=] ANYWHERE(int64_t i) { to[i] = from[i] - slope[i] / (L * (w ? w[i] : 1)); });
    project(s, r);
}

struct DescentSums {
    cairn_descent_sums x = {};

    ANYWHERE void add(const DescentSums &more)
    {
        x.curvature += more.x.curvature;
        x.length2 += more.x.length2;
        x.way2 += more.x.way2;
        x.uphill += more.x.uphill;
        x.change = fmax(x.change, more.x.change);
        x.size = fmax(x.size, more.x.size);
    }
};

static cairn_descent_sums measure_descent(const cairn_system *s, const cairn_descent *d)
{
    const double *at_r = d->r->x, *at_rg = d->r_g->x, *at_y = d->y->x, *at_g = d->g->x;
    const double *at_last = d->last->x, *weight = d->weight ? d->weight->x : nullptr;
    return total<DescentSums>(device_of(s), d->r->count,
                              [=] ANYWHERE(int64_t i, DescentSums & to) {
                                  double r = at_r[i], y = at_y[i], g = at_g[i], last = at_last[i];
                                  double w = weight ? weight[i] : 1;
                                  to.x.curvature += (r - y) * (at_rg[i] - g);
                                  to.x.length2 += w * (r - y) * (r - y);
                                  to.x.way2 += w * w * (r - y) * (r - y);
                                  to.x.uphill += g * (r - last);
                                  to.x.change = fmax(to.x.change, fabs(r - last));
                                  to.x.size = fmax(to.x.size, fabs(last));
                              })
        .x;
}

/* d = P_K(r - lambda g/w) - r; returns sum (w d)^2 */
static double aim(const cairn_system *s, double lambda, const cairn_spectral *at)
{
    const double *r = at->r->x, *g = at->g->x, *w = at->w->x;
    double *d = at->d->x;
    each(device_of(s), at->r->count,
         [=] ANYWHERE(int64_t i) { d[i] = r[i] - lambda / w[i] * g[i]; });
    project(s, at->d);
    double sum = total<Sum>(device_of(s), at->r->count, [=] ANYWHERE(int64_t i, Sum & to) {
                     d[i] -= r[i];
                     to.x += w[i] * d[i] * w[i] * d[i];
                 }).x;
    return s->device.failed ? NAN : sum;
}

struct SpectralSums {
    cairn_spectral_sums x = {};

    ANYWHERE void add(const SpectralSums &more)
    {
        x.slope += more.x.slope;
        x.curvature += more.x.curvature;
        x.own += more.x.own;
        x.inverse += more.x.inverse;
    }
};

static cairn_spectral_sums measure_spectral(const cairn_system *s, const cairn_spectral *at)
{
    const double *weight = at->w->x, *step = at->d->x, *now = at->g->x, *next = at->next_g->x;
    return total<SpectralSums>(device_of(s), at->r->count,
                               [=] ANYWHERE(int64_t i, SpectralSums & to) {
                                   double w = weight[i], d = step[i], y = next[i] - now[i];
                                   to.x.slope += now[i] * d;
                                   to.x.curvature += y * d;
                                   to.x.own += w * d * d;
                                   to.x.inverse += y * y / w;
                               })
        .x;
}

static void follow(const cairn_system *s, double t, const cairn_spectral *at)
{
    double *r = at->r->x, *g = at->g->x;
    const double *d = at->d->x, *next = at->next_g->x;
    each(device_of(s), at->r->count, [=] ANYWHERE(int64_t i) {
        r[i] += t * d[i];
        g[i] += t * (next[i] - g[i]);
    });
}

/* ---- the table ------------------------------------------------------------------------------- */

#ifdef __CUDACC__
#define BACKEND_NAME "cuda"
#define BACKEND_SUMMARY                                                                            \
    "NVIDIA cards: sweeps in float or double, judge in double, the same bits each time"
#else
#define BACKEND_NAME "virtual-cuda"
#define BACKEND_SUMMARY                                                                            \
    "the back end cuda computed by the processor: slow, for tests without a card"
#endif

static const cairn_backend table = {
    .version = CAIRN_BACKEND_VERSION,
    .name = BACKEND_NAME,
    .summary = BACKEND_SUMMARY,
    .reason = device_reason,
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
    .measure = measure,
    .unload = unload,
    .load_velocities = load_velocities,
    .refresh = refresh,
    .pile = &pile_table,
};

extern "C" __attribute__((visibility("default"))) const cairn_backend *cairn_backend_table(void)
{
    return &table;
}
