/* scalar.c - the table of the scalar back end, and the operations that work component by component.
 * Its vectors are arrays in the order of cairn_problem. Reduced vectors have all components, since
 * this back end leaves none out. cairn/backend.h defines each operation by a formula; loops and
 * sums here follow that formula literally, without reordering. */
#include <math.h>
#include <stddef.h>

#include "backend/scalar/scalar.h"
#include "problem/operator.h"

/* Nothing to free: all memory comes from the caller's cairn_room. */
static void destroy(cairn_system *s)
{
    (void)s;
}

/* ---- vectors -------------------------------------------------------------------------------- */

static int count_of(const cairn_vector *x)
{
    return ((const cairn_scalar_vector *)x)->count;
}

static cairn_status take_vector(cairn_system *system, cairn_space space, double *home,
                                cairn_vector **out)
{
    const cairn_scalar_system *s = cairn_scalar_of(system);
    cairn_scalar_vector *x = s->room.take(s->room.from, 1, sizeof *x);
    if (!x)
        return CAIRN_NO_MEMORY;
    x->home = home;
    x->count = space == CAIRN_SPACE_VELOCITIES ? s->blocks * s->n : s->contacts * s->d;
    x->x = cairn_scalar_take(s, x->count);
    *out = (cairn_vector *)x;
    return x->x ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void upload(const cairn_system *s, cairn_vector *x)
{
    (void)s;
    for (int i = 0; i < count_of(x); i++)
        cairn_scalar_numbers(x)[i] = ((cairn_scalar_vector *)x)->home[i];
}

static void download(const cairn_system *s, const cairn_vector *x)
{
    (void)s;
    for (int i = 0; i < count_of(x); i++)
        ((const cairn_scalar_vector *)x)->home[i] = cairn_scalar_numbers(x)[i];
}

static void copy(const cairn_system *s, const cairn_vector *from, cairn_vector *to)
{
    (void)s;
    for (int i = 0; i < count_of(from); i++)
        cairn_scalar_numbers(to)[i] = cairn_scalar_numbers(from)[i];
}

static void clear(const cairn_system *s, cairn_vector *x)
{
    (void)s;
    for (int i = 0; i < count_of(x); i++)
        cairn_scalar_numbers(x)[i] = 0;
}

/* The period 7 has no factor in common with the number of components of a contact or block (2 to
 * 6), so that the vector is orthogonal to no simple mode. The host back end has the same
 * numbers. */
static void probe(const cairn_system *s, cairn_vector *x)
{
    (void)s;
    for (int i = 0; i < count_of(x); i++)
        cairn_scalar_numbers(x)[i] = 1 + 0.5 * (i % 7);
}

static void combine(const cairn_system *s, double a, const cairn_vector *x, double b,
                    cairn_vector *y)
{
    (void)s;
    for (int i = 0; i < count_of(x); i++)
        cairn_scalar_numbers(y)[i] =
            a * cairn_scalar_numbers(x)[i] + b * cairn_scalar_numbers(y)[i];
}

static void extrapolate(const cairn_system *s, double beta, const cairn_vector *r,
                        const cairn_vector *last, cairn_vector *y)
{
    (void)s;
    const double *x = cairn_scalar_numbers(r), *before = cairn_scalar_numbers(last);
    for (int i = 0; i < count_of(r); i++)
        cairn_scalar_numbers(y)[i] = x[i] + beta * (x[i] - before[i]);
}

static double dot(const cairn_system *s, const cairn_vector *x, const cairn_vector *y)
{
    (void)s;
    double sum = 0;
    for (int i = 0; i < count_of(x); i++)
        sum += cairn_scalar_numbers(x)[i] * cairn_scalar_numbers(y)[i];
    return sum;
}

/* ---- contact by contact --------------------------------------------------------------------- */

static void velocity(const cairn_system *s, const cairn_vector *r, cairn_vector *v)
{
    cairn_scalar_velocity(cairn_scalar_of(s), cairn_scalar_numbers(r), cairn_scalar_numbers(v));
}

/* g_j = H_j v + w_j + eps r_j + (b + mu s) n: the gradient of the dual program at r. */
static void gradient(const cairn_system *system, const cairn_vector *r, cairn_vector *v,
                     cairn_vector *g)
{
    const cairn_scalar_system *s = cairn_scalar_of(system);
    velocity(system, r, v);
    for (int j = 0; j < s->contacts; j++) {
        ptrdiff_t first = (ptrdiff_t)j * s->d;
        double *g_j = cairn_scalar_numbers(g) + first;
        cairn_scalar_relative(s, j, cairn_scalar_numbers(r), cairn_scalar_numbers(v), g_j);
        cairn_scalar_comply(s, j, cairn_scalar_numbers(r) + first, g_j);
        g_j[0] += s->shift[j];
    }
}

static void project(const cairn_system *system, cairn_vector *r)
{
    const cairn_scalar_system *s = cairn_scalar_of(system);
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_project(s->p, j, cairn_scalar_numbers(r) + (ptrdiff_t)j * s->d);
}

static void scales(const cairn_system *system, cairn_vector *w)
{
    const cairn_scalar_system *s = cairn_scalar_of(system);
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_scales(s, j, cairn_scalar_numbers(w) + (ptrdiff_t)j * s->d);
}

/* Rows with bounds do not count: they have no normal, and may move either way. */
static double approach(const cairn_system *system, const cairn_vector *u)
{
    const cairn_scalar_system *s = cairn_scalar_of(system);
    double fastest = 0;
    for (int j = 0; j < s->contacts; j++) {
        double opening = cairn_scalar_numbers(u)[(ptrdiff_t)j * s->d] + cairn_scalar_bias(s, j);
        if (!cairn_is_bounded(s->p, j))
            fastest = fmax(fastest, -opening);
    }
    return fastest;
}

/* ---- gradient methods ----------------------------------------------------------------------- */

static double weight_at(const cairn_vector *weight, int i)
{
    return weight ? cairn_scalar_numbers(weight)[i] : 1;
}

/* r = P_K(y - g/(L w)) */
static void descend(const cairn_system *s, double L, const cairn_vector *weight,
                    const cairn_vector *y, const cairn_vector *g, cairn_vector *r)
{
    for (int i = 0; i < count_of(r); i++)
        cairn_scalar_numbers(r)[i] =
            cairn_scalar_numbers(y)[i] - cairn_scalar_numbers(g)[i] / (L * weight_at(weight, i));
    project(s, r);
}

static cairn_descent_sums measure_descent(const cairn_system *s, const cairn_descent *d)
{
    (void)s;
    cairn_descent_sums sums = { 0 };
    for (int i = 0; i < count_of(d->r); i++) {
        double r = cairn_scalar_numbers(d->r)[i], r_g = cairn_scalar_numbers(d->r_g)[i];
        double y = cairn_scalar_numbers(d->y)[i], g = cairn_scalar_numbers(d->g)[i];
        double last = cairn_scalar_numbers(d->last)[i], w = weight_at(d->weight, i);
        sums.curvature += (r - y) * (r_g - g);
        sums.length2 += w * (r - y) * (r - y);
        sums.way2 += w * w * (r - y) * (r - y);
        sums.uphill += g * (r - last);
        sums.change = fmax(sums.change, fabs(r - last));
        sums.size = fmax(sums.size, fabs(last));
    }
    return sums;
}

/* d = P_K(r - lambda g/w) - r; returns sum (w d)^2 */
static double aim(const cairn_system *s, double lambda, const cairn_spectral *at)
{
    const double *r = cairn_scalar_numbers(at->r), *g = cairn_scalar_numbers(at->g);
    const double *w = cairn_scalar_numbers(at->w);
    double *d = cairn_scalar_numbers(at->d), sum = 0;
    for (int i = 0; i < count_of(at->r); i++)
        d[i] = r[i] - lambda / w[i] * g[i];
    project(s, at->d);
    for (int i = 0; i < count_of(at->r); i++) {
        d[i] -= r[i];
        sum += w[i] * d[i] * w[i] * d[i];
    }
    return sum;
}

/* With d the step and y the change of the gradient along it: the sums for the line search and for
 * both step lengths of Barzilai and Borwein. */
static cairn_spectral_sums measure_spectral(const cairn_system *s, const cairn_spectral *at)
{
    (void)s;
    cairn_spectral_sums sums = { 0 };
    for (int i = 0; i < count_of(at->r); i++) {
        double w = cairn_scalar_numbers(at->w)[i], d = cairn_scalar_numbers(at->d)[i];
        double g = cairn_scalar_numbers(at->g)[i], y = cairn_scalar_numbers(at->next_g)[i] - g;
        sums.slope += g * d;
        sums.curvature += y * d;
        sums.own += w * d * d;
        sums.inverse += y * y / w;
    }
    return sums;
}

/* The gradient is affine in r, so that g at r + t d follows from g at r and at r + d. */
static void follow(const cairn_system *s, double t, const cairn_spectral *at)
{
    (void)s;
    for (int i = 0; i < count_of(at->r); i++) {
        double *g = cairn_scalar_numbers(at->g) + i, *r = cairn_scalar_numbers(at->r) + i;
        *r += t * cairn_scalar_numbers(at->d)[i];
        *g += t * (cairn_scalar_numbers(at->next_g)[i] - *g);
    }
}

/* No `measure`: sweeps do not compute a residual of their own, and the solver calls the judge. */
const cairn_backend cairn_backend_scalar = {
    .version = CAIRN_BACKEND_VERSION,
    .name = "scalar",
    .summary = "the formulas in plain C, in double, on one thread: slow, to check others against",
    .create = cairn_scalar_create,
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
    .judge = cairn_scalar_judge,
    .scale = cairn_scalar_scale,
    .approach = approach,
    .descend = descend,
    .measure_descent = measure_descent,
    .aim = aim,
    .measure_spectral = measure_spectral,
    .follow = follow,
    .begin = cairn_scalar_begin,
    .sweep = cairn_scalar_sweep,
    .unload = cairn_scalar_unload,
    .load_velocities = cairn_scalar_load_velocities,
    .refresh = cairn_scalar_refresh,
};

/* ---- problems, and what is computed over all contacts ---------------------------------------- */

/* Problems as the scalar back end holds them, their velocities, the judge over all
 * contacts, and sweeps.
 *
 * Problems come in two forms. In blocks they have velocities and rows H; in the local form they
 * have the matrix W and the vector q alone, `H` is empty and there are no velocities. */

double *cairn_scalar_take(const cairn_scalar_system *s, size_t count)
{
    /* one more than needed: NULL then always means that memory ran out, also for count 0 */
    double *x = s->room.take(s->room.from, count + 1, sizeof *x);
    for (size_t i = 0; x && i < count; i++)
        x[i] = 0;
    return x;
}

/* ---- the copy ------------------------------------------------------------------------------- */

cairn_status cairn_scalar_create(const cairn_problem *p, const cairn_room *room, cairn_system **out)
{
    cairn_scalar_system *s = room->take(room->from, 1, sizeof *s);
    if (!s)
        return CAIRN_NO_MEMORY;
    *s = (cairn_scalar_system){ .p = p, .room = *room, .contacts = p->contacts, .d = p->dimension };
    s->blocks = p->W ? 0 : p->blocks;
    s->n = p->W ? 0 : p->block_size;
    s->H = cairn_scalar_take(s, (size_t)2 * s->contacts * s->d * s->n);
    s->W = cairn_scalar_take(s, (size_t)s->contacts * s->d * s->d);
    s->shift = cairn_scalar_take(s, s->contacts);
    if (!s->H || !s->W || !s->shift)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_fill(s, j);
    *out = (cairn_system *)s;
    return CAIRN_OK;
}

void cairn_scalar_velocity(const cairn_scalar_system *s, const double *r, double *v)
{
    if (s->p->W)
        return; /* the local form has none */
    for (int i = 0; i < s->blocks * s->n; i++)
        v[i] = s->p->v_free[i];
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_push(s, j, r + (ptrdiff_t)j * s->d, v);
}

/* ---- the judge ---------------------------------------------------------------------------- */

double cairn_scalar_scale(const cairn_system *s, cairn_law law)
{
    return cairn_scalar_scale_of(&cairn_scalar_of(s)->norms, law);
}

void cairn_scalar_judge(cairn_system *system, cairn_law law, const cairn_vector *r, cairn_vector *v,
                        cairn_vector *u, cairn_judgement *out)
{
    cairn_scalar_system *s = (cairn_scalar_system *)system;
    double *numbers = cairn_scalar_numbers(r), *speeds = cairn_scalar_numbers(v);
    double *relative = cairn_scalar_numbers(u);
    cairn_scalar_verdict found = { .law = { { .worst_contact = -1 }, { .worst_contact = -1 } } };
    for (int i = 0; i < s->contacts * s->d; i++)
        relative[i] = 0; /* used as r = 0 while the norms are computed, and overwritten below */
    for (int j = 0; j < s->contacts && !s->norms.known; j++)
        cairn_scalar_measure_contact(s, j, relative, &s->norms);
    s->norms.known = true;
    cairn_scalar_velocity(s, numbers, speeds);
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_judge_contact(s, j, numbers, speeds, relative, &found);
    cairn_scalar_conclude(&s->norms, law, s->p->scale != NULL, &found, out);
}

/* ---- sweeps ------------------------------------------------------------------------------ */

/* Block Gauss-Seidel of the scalar back end: contacts one after the other, in their order, each
 * solved exactly while the others keep their impulses (problem/cone.h). */

typedef struct sweeping {
    cairn_sweeping face;
    int r_count, v_count;
    cairn_scalar_state now;
} sweeping;

static void copy_numbers(int count, const double *from, double *to)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

cairn_status cairn_scalar_begin(cairn_system *system, bool coarse, const cairn_vector *r,
                                const cairn_vector *v, cairn_sweeping **out)
{
    (void)coarse; /* always in double */
    const cairn_scalar_system *s = cairn_scalar_of(system);
    sweeping *own = s->room.take(s->room.from, 1, sizeof *own);
    if (!own)
        return CAIRN_NO_MEMORY;
    *own = (sweeping){ .r_count = s->contacts * s->d, .v_count = s->blocks * s->n };
    cairn_scalar_state *now = &own->now;
    *now = (cairn_scalar_state){ s, cairn_scalar_take(s, own->r_count),
                                 cairn_scalar_take(s, own->v_count),
                                 cairn_scalar_take(s, own->r_count),
                                 cairn_scalar_take(s, own->v_count) };
    if (!now->r || !now->v || !now->r_point || !now->v_point)
        return CAIRN_NO_MEMORY;
    copy_numbers(own->r_count, cairn_scalar_numbers(r), now->r);
    copy_numbers(own->v_count, cairn_scalar_numbers(v), now->v);
    copy_numbers(own->r_count, now->r, now->r_point);
    copy_numbers(own->v_count, now->v, now->v_point);
    *out = &own->face;
    return CAIRN_OK;
}

/* y = x + beta (x - point), point = x + lean (y - x), x = y */
static void move_on(int count, cairn_momentum momentum, double *x, double *point)
{
    for (int i = 0; i < count; i++) {
        double y = x[i] + momentum.beta * (x[i] - point[i]);
        point[i] = x[i] + momentum.lean * (y - x[i]);
        x[i] = y;
    }
}

cairn_sweep cairn_scalar_sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum)
{
    sweeping *own = (sweeping *)state;
    cairn_sweep out = { 0, 0 };
    const cairn_scalar_state *now = &own->now;
    move_on(own->r_count, momentum, now->r, now->r_point);
    /* v is affine in r: the same extrapolation keeps the two consistent */
    move_on(own->v_count, momentum, now->v, now->v_point);
    for (int j = 0; j < now->s->contacts; j++)
        cairn_scalar_visit(now, j, law, &out);
    return out;
}

void cairn_scalar_unload(const cairn_sweeping *state, cairn_vector *r)
{
    const sweeping *own = (const sweeping *)state;
    copy_numbers(own->r_count, own->now.r, cairn_scalar_numbers(r));
}

void cairn_scalar_load_velocities(cairn_sweeping *state, const cairn_vector *v)
{
    sweeping *own = (sweeping *)state;
    copy_numbers(own->v_count, cairn_scalar_numbers(v), own->now.v);
}

void cairn_scalar_refresh(cairn_sweeping *state)
{
    sweeping *own = (sweeping *)state;
    cairn_scalar_velocity(own->now.s, own->now.r, own->now.v);
}
