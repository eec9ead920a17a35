/* host.c - the host's kernels in double precision, and sweeps that take one contact after the
 * other. Loops over contacts are written once for any size and instantiated, by inlining with
 * constant arguments, for the sizes that worlds produce; see problem/operator.h. */
#include <math.h>
#include <string.h>

#include "backend/host/host.h"
#include "base/common.h"
#include "base/parallel.h"
#include "problem/cone.h"
#include "problem/operator.h"

enum { GRAIN = 1024 }; /* contacts that a thread takes at a time */

/* Entries of the lower triangle of a symmetric d x d matrix. */
static int triangle(int d)
{
    return d * (d + 1) / 2;
}

/* The isotropic solve is chosen by the numbers in W and not by the kind of the contact, so that
 * stored rows that happen to describe balls have the same speed. */
static cairn_local_kind kind_of(const cairn_problem *p, cairn_contact_kind kind, const double *W)
{
    if (kind == CAIRN_KIND_ROWS)
        return CAIRN_LOCAL_ROWS;
    if (kind == CAIRN_KIND_ROLLING)
        return CAIRN_LOCAL_PARTS;
    bool ball = p->dimension == 3 && cairn_local_is_isotropic(W);
    return ball ? CAIRN_LOCAL_BALL : CAIRN_LOCAL_CONE;
}

static void fill_segment(const cairn_system *s, cairn_segment segment)
{
    for (int j = segment.begin; j < segment.begin + segment.count; j++) {
        double *W = s->W + (size_t)j * (size_t)triangle(s->p->dimension);
        cairn_contact_delassus(s->p, j, W);
        s->kind[j] = (uint8_t)kind_of(s->p, segment.kind, W);
    }
}

static void fill_diagonals(int begin, int end, void *context)
{
    const cairn_system *s = context;
    for (cairn_walk w = cairn_walk_over(s->p, begin, end); cairn_walk_next(&w);)
        fill_segment(s, w.now);
}

cairn_status cairn_host_diagonals(cairn_system *s, cairn_arena *arena)
{
    size_t contacts = (size_t)s->p->contacts, entries = (size_t)triangle(s->p->dimension);
    if (s->W)
        return CAIRN_OK;
    if (s->p->cut)
        TRY(cairn_visits_find(s->p, arena, &s->visits));
    s->kind = cairn_arena_take(arena, contacts, sizeof(uint8_t));
    double *W = cairn_arena_take(arena, contacts * entries, sizeof(double));
    if (!s->kind || !W)
        return CAIRN_NO_MEMORY;
    /* set last: a system with W is complete */
    s->W = W;
    cairn_parallel_for(s->p->contacts, GRAIN, fill_diagonals, s);
    return CAIRN_OK;
}

void cairn_host_gradient(const cairn_system *s, const double *r, double *v, double *g)
{
    int d = s->p->dimension;
    cairn_problem_apply(s->p, r, v, g);
    for (int j = 0; j < s->p->contacts; j++)
        g[(size_t)j * (size_t)d] += s->shift[j];
    for (int j = 0; s->p->compliance && j < s->p->contacts; j++)
        cairn_contact_comply(s->p, j, r + (size_t)j * (size_t)d, g + (size_t)j * (size_t)d);
}

void cairn_host_project(const cairn_system *s, double *r)
{
    int d = s->p->dimension;
    for (int j = 0; j < s->p->contacts; j++)
        cairn_contact_project(s->p, d, j, r + (size_t)j * (size_t)d);
}

/* q^ = u - W_jj r: the velocity at the contact without its own impulse. W is a lower triangle, and
 * its upper half is read by symmetry. */
CAIRN_INLINE void remove_own(int d, const double *W, const double *r, double *u)
{
    for (int i = 0, row = 0; i < d; row += ++i)
        for (int k = 0; k < d; k++)
            u[i] -= (k <= i ? W[row + k] : W[k * (k + 1) / 2 + i]) * r[k];
}

/* trace(W_jj)/d, the w_j of docs/notation.md: it converts impulses of the contact to speeds. */
CAIRN_INLINE double own_inverse_mass(int d, const double *W)
{
    double sum = 0;
    for (int i = 0, diagonal = 0; i < d; i++, diagonal += i + 1)
        sum += W[diagonal];
    return sum / d;
}

/* Rows with bounds, rolling and spinning friction. On entry u is the relative velocity and `answer`
 * holds the present impulses, from which the iterative solves start. */
static void solve_special(const cairn_system *s, int j, cairn_law law, double *u, double *answer)
{
    const double *W = s->W + (size_t)j * (size_t)triangle(s->p->dimension);
    cairn_contact_comply(s->p, j, answer, u);
    remove_own(s->p->dimension, W, answer, u);
    cairn_contact_solve(s->p, j, law, W, u, answer);
}

/* Solve contact j exactly, given its relative velocity u, which is overwritten; r becomes the
 * solution r+, `change` becomes r+ - r. */
CAIRN_INLINE void solve_contact(const cairn_system *s, int d, int j, cairn_law law, double *u,
                                double *r, double *change)
{
    const double *W = s->W + (size_t)j * (size_t)(d * (d + 1) / 2);
    double answer[CAIRN_MAX_DIMENSION];
    u[0] += s->shift[j];
    if (s->kind[j] >= CAIRN_LOCAL_PARTS) {
        memcpy(answer, r, sizeof(double) * (size_t)d);
        solve_special(s, j, law, u, answer);
    } else {
        remove_own(d, W, r, u);
        if (d == 3 && s->kind[j] == CAIRN_LOCAL_BALL)
            cairn_local_solve_isotropic(law, W, s->p->mu[j], u, answer);
        else
            cairn_local_solve(d, law, W, s->p->mu[j], u, answer);
    }
    for (int i = 0; i < d; i++) {
        change[i] = answer[i] - r[i];
        r[i] = answer[i];
    }
}

/* Add to the sums of cairn_sweep: the size of the change, and whether momentum points uphill.
 * Returns whether r changed at all; contacts that stay open need no update of velocities. */
CAIRN_INLINE bool note_change(const cairn_system *s, int d, int j, const double *previous,
                              const double *r, const double *change, cairn_sweep *out)
{
    const double *W = s->W + (size_t)j * (size_t)(d * (d + 1) / 2);
    double length2 = 0, w = own_inverse_mass(d, W);
    for (int i = 0; i < d; i++) {
        length2 += change[i] * change[i];
        out->uphill -= change[i] * (r[i] - previous[i]);
    }
    out->change2 += w * w * length2;
    return length2 != 0;
}

/* One sweep, in place. */
typedef struct pass {
    const cairn_system *s;
    const cairn_visits *visits; /* of a problem that is cut into parts */
    cairn_law law;
    const double *previous;
    double *r, *v;
    cairn_sweep noted;
} pass;

CAIRN_INLINE void sweep_contact(const pass *job, bool balls, int d, int n, int j,
                                cairn_sweep *noted)
{
    const cairn_system *s = job->s;
    size_t first = (size_t)j * (size_t)d;
    const double *previous = job->previous + first;
    double *r = job->r + first;
    double u[CAIRN_MAX_DIMENSION] = { 0 }, change[CAIRN_MAX_DIMENSION];
    cairn_kind_relative(s->p, balls, d, n, j, job->v, u);
    solve_contact(s, d, j, job->law, u, r, change);
    if (note_change(s, d, j, previous, r, change, noted))
        cairn_kind_push(s->p, balls, d, n, j, change, job->v);
}

/* Local form: there are no velocities to update, so each contact computes its u from its rows of W
 * and all impulses. */
static void sweep_local(pass *job)
{
    const cairn_system *s = job->s;
    int d = s->p->dimension;
    for (int j = 0; j < s->p->contacts; j++) {
        double u[CAIRN_MAX_DIMENSION] = { 0 }, change[CAIRN_MAX_DIMENSION];
        size_t first = (size_t)j * (size_t)d;
        cairn_contact_relative_local(s->p, j, job->r, u);
        solve_contact(s, d, j, job->law, u, job->r + first, change);
        note_change(s, d, j, job->previous + first, job->r + first, change, &job->noted);
    }
}

CAIRN_INLINE void sweep_segment(pass *job, bool balls, int d, int n, cairn_segment segment)
{
    cairn_sweep noted = job->noted; /* a local copy, which stays in registers */
    for (int j = segment.begin; j < segment.begin + segment.count; j++)
        sweep_contact(job, balls, d, n, j, &noted);
    job->noted = noted;
}

CAIRN_INLINE void sweep_all(pass *job, int d, int n)
{
    const cairn_problem *p = job->s->p;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        if (d == 3 && n == 6 && w.now.kind == CAIRN_KIND_BALLS)
            sweep_segment(job, true, d, n, w.now);
        else
            sweep_segment(job, false, d, n, w.now);
}

/* A problem that is cut into parts: the sums are formed by parts, then over all parts in their
 * order. */
static void sweep_parts(pass *job)
{
    const cairn_problem *p = job->s->p;
    const cairn_visits *visits = job->visits;
    const cairn_parted *by = &p->cut->contacts;
    cairn_sweep *parts = by->room, unread = { 0, 0 };
    memset(parts, 0, (size_t)by->parts * sizeof *parts);
    for (int round = 0, k = 0; round < visits->rounds; round++)
        for (cairn_visits_meet(visits, round, job->v); k < cairn_visits_end(visits, round); k++) {
            int j = cairn_visits_contact(visits, k);
            sweep_contact(job, cairn_problem_kind(p, j) == CAIRN_KIND_BALLS, p->dimension,
                          p->block_size, j,
                          cairn_contact_counts(p, j) ? &parts[cairn_contact_part(p, j)] : &unread);
        }
    if (by->link)
        cairn_link_share(by->link, by->parts, parts, sizeof *parts);
    for (int part = 0; part < by->parts; part++) {
        job->noted.change2 += parts[part].change2;
        job->noted.uphill += parts[part].uphill;
    }
}

cairn_sweep cairn_host_sweep(const cairn_system *s, cairn_law law, const double *previous,
                             double *r, double *v)
{
    int d = s->p->dimension, n = s->p->block_size;
    pass job = { .s = s, .law = law, .previous = previous, .r = r, .v = v, .visits = &s->visits };
    /* constant sizes let the compiler unroll the loops over components */
    if (s->p->W)
        sweep_local(&job);
    else if (s->p->cut)
        sweep_parts(&job);
    else if (d == 3 && n == 6)
        sweep_all(&job, 3, 6);
    else if (d == 2 && n == 3)
        sweep_all(&job, 2, 3);
    else
        sweep_all(&job, d, n);
    return job.noted;
}

/* y = x + beta (x - previous), previous = x + lean (y - x), x = y */
static void extrapolate(size_t n, cairn_momentum momentum, double *previous, double *x)
{
    for (size_t i = 0; i < n; i++) {
        double move = momentum.beta * (x[i] - previous[i]);
        previous[i] = x[i] + momentum.lean * move;
        x[i] += move;
    }
}

void cairn_host_combine(size_t n, double a, const double *x, double b, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = a * x[i] + b * y[i];
}

/* Four partial sums, so that the compiler may use one SIMD register. The order of additions is
 * fixed by the source and therefore the same on every machine. */
double cairn_host_dot(size_t n, const double *x, const double *y)
{
    double sum[4] = { 0, 0, 0, 0 };
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* ---- sweeps --------------------------------------------------------------------------------- */

typedef struct state {
    const cairn_system *system;
    double *r, *v, *r_previous, *v_previous;
} state;

static void copy(double *to, const double *from, size_t count)
{
    if (count > 0) /* the local form has no velocities */
        memcpy(to, from, count * sizeof *to);
}

static void forget(void *context)
{
    state *s = context;
    copy(s->r_previous, s->r, s->system->r_count);
    copy(s->v_previous, s->v, s->system->v_count);
}

static cairn_status begin(cairn_system *system, cairn_arena *arena, const double *r,
                          const double *v, void **out)
{
    state *s = cairn_arena_take(arena, 1, sizeof *s);
    *out = NULL;
    if (!s)
        return CAIRN_NO_MEMORY;
    TRY(cairn_host_diagonals(system, arena));
    s->system = system;
    s->r = cairn_arena_take(arena, system->r_count, sizeof(double));
    s->v = cairn_arena_take(arena, system->v_count, sizeof(double));
    s->r_previous = cairn_arena_take(arena, system->r_count, sizeof(double));
    s->v_previous = cairn_arena_take(arena, system->v_count, sizeof(double));
    if (!s->r || !s->v || !s->r_previous || !s->v_previous)
        return CAIRN_NO_MEMORY;
    copy(s->r, r, system->r_count);
    copy(s->v, v, system->v_count);
    forget(s);
    *out = s;
    return CAIRN_OK;
}

static cairn_sweep accelerated_sweep(void *context, cairn_law law, cairn_momentum momentum)
{
    state *s = context;
    extrapolate(s->system->r_count, momentum, s->r_previous, s->r);
    extrapolate(s->system->v_count, momentum, s->v_previous, s->v);
    return cairn_host_sweep(s->system, law, s->r_previous, s->r, s->v);
}

static void unload(const void *context, double *r)
{
    const state *s = context;
    copy(r, s->r, s->system->r_count);
}

static void load_velocities(void *context, const double *v)
{
    state *s = context;
    copy(s->v, v, s->system->v_count);
}

static void refresh(void *context)
{
    state *s = context;
    cairn_problem_velocity(s->system->p, s->r, s->v);
}

const cairn_sweeps cairn_sweeps_scalar = {
    .name = "scalar",
    .begin = begin,
    .sweep = accelerated_sweep,
    .unload = unload,
    .load_velocities = load_velocities,
    .refresh = refresh,
    .forget = forget,
};

cairn_status cairn_system_create(const cairn_problem *p, cairn_arena *arena, cairn_system *out)
{
    *out = (cairn_system){ .p = p,
                           .arena = arena,
                           .r_count = (size_t)p->dimension * (size_t)p->contacts,
                           .v_count = (size_t)p->block_size * (size_t)p->blocks };
    out->shift = cairn_arena_take(arena, (size_t)p->contacts, sizeof(double));
    for (int j = 0; out->shift && j < p->contacts; j++)
        out->shift[j] = cairn_contact_shift(p, j);
    return out->shift ? CAIRN_OK : CAIRN_NO_MEMORY;
}
