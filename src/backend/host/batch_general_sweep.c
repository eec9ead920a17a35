/* batch_general_sweep.c - the passes over batches of contacts of any bodies in 3D, with SIMD: a
 * unit, compiled once for each number type and register width (src/units.cmake).
 *
 * The one-contact problem has the three cases of problem/local.c: take-off, stick, slide. Sliding,
 * r = rho a(phi) with a = (1, mu cos phi, mu sin phi), and phi is a root of the slope u.a':
 *     convex law   rho = -q.a/(a'W a),   rho' = -(q.a' + 2 rho a'W a')/(a'W a)
 *     Coulomb      rho = -q_N/(W a)_N,   rho' = -rho (W a')_N/(W a)_N
 * Newton's method on the slope starts from the direction of the sticking impulse. Each lane stops
 * on its own; a lane that does not converge to a solution is solved by cairn_local_solve. */
#include "backend/host/batch_unit.h"

typedef general_pass pass_job;

#include "backend/host/batch_passes.h"
#include "math/simd.h"
#include "problem/cone.h"

/* Squares below the first have no direction; the second, some units of rounding, is the relative
 * tolerance for singular blocks and for the slope. */
static const real tiny_real = (real)(sizeof(real) == sizeof(float) ? 1e-30f : 1e-300);
static const real small_real = (real)(sizeof(real) == sizeof(float) ? 2e-6f : 4e-15);

/* A vector of three components for each lane, in the contact frame. */
typedef struct three {
    wide x[3];
} three;

CAIRN_WIDE three load3(const real *from)
{
    return (three){ { wide_load(from), wide_load(from + CAIRN_BATCH),
                      wide_load(from + 2 * CAIRN_BATCH) } };
}

CAIRN_WIDE void store3(real *to, const three *p)
{
    for (int i = 0; i < 3; i++)
        wide_store(to + i * CAIRN_BATCH, p->x[i]);
}

CAIRN_WIDE wide dot(const three *p, const three *q)
{
    return p->x[0] * q->x[0] + p->x[1] * q->x[1] + p->x[2] * q->x[2];
}

/* W p, W given by its lower triangle: W_NN, W_1N, W_11, W_2N, W_21, W_22. */
CAIRN_WIDE three times(const wide *W, const three *p)
{
    const wide *x = p->x;
    return (three){ { W[0] * x[0] + W[1] * x[1] + W[3] * x[2],
                      W[1] * x[0] + W[2] * x[1] + W[4] * x[2],
                      W[3] * x[0] + W[4] * x[1] + W[5] * x[2] } };
}

/* ---- one contact ---------------------------------------------------------------------------- */

/* The one-contact problem of each lane; q is the velocity without its own impulse. */
typedef struct local {
    wide W[6], mu;
    three q;
    cairn_law law;
} local;

/* x = -W^-1 q by W = L D L'. The mask excludes lanes in which W is singular to rounding. */
CAIRN_WIDE mask stick(const local *c, three *out)
{
    const wide *W = c->W, *q = c->q.x;
    wide least = (W[0] + W[2] + W[5]) * wide_spread(small_real);
    wide l10 = W[1] / W[0], l20 = W[3] / W[0], d1 = W[2] - l10 * W[1];
    wide s21 = W[4] - l10 * W[3], l21 = s21 / d1, d2 = W[5] - l20 * W[3] - l21 * s21;
    wide y0 = -q[0], y1 = -q[1] - l10 * y0, y2 = -q[2] - l20 * y0 - l21 * y1;
    out->x[2] = y2 / d2;
    out->x[1] = y1 / d1 - l21 * out->x[2];
    out->x[0] = y0 / W[0] - l10 * out->x[1] - l20 * out->x[2];
    return (W[0] > least) & (d1 > least) & (d2 > least);
}

/* The impulse rho a on the edge a = (1, mu c, mu s) of the cone, and the slope u.a' and its
 * derivative (`bend`) for Newton's method. */
typedef struct edge {
    three a;
    wide rho, slope, bend;
    mask settled, solves; /* the slope is 0 to rounding; and the law is satisfied */
} edge;

/* `across` is a' = da/dphi, `coupled` a'.W a, `stiffness` a.W a, `change` rho' by the formulas at
 * the head of this file. */
CAIRN_WIDE edge edge_at(const local *l, const wide direction[2])
{
    const wide zero = wide_spread(0), *p = l->q.x;
    wide c = l->mu * direction[0], s = l->mu * direction[1];
    edge e = { .a = { { wide_spread(1), c, s } } };
    three across = { { zero, -s, c } };
    three Wa = times(l->W, &e.a), Wd = times(l->W, &across);
    wide stiffness = dot(&e.a, &Wa), q_across = dot(&l->q, &across);
    wide coupled = dot(&Wa, &across), pulled = c * Wa.x[1] + s * Wa.x[2], change;
    wide along = c * p[1] + s * p[2];
    if (l->law == CAIRN_LAW_CONVEX) {
        e.rho = -(p[0] + along) / stiffness;
        e.rho = wide_choose(e.rho > zero, e.rho, zero);
        change = -(q_across + 2 * e.rho * coupled) / stiffness;
        e.solves = (e.rho > zero) & (p[0] + e.rho * Wa.x[0] >= zero);
    } else {
        e.rho = -p[0] / Wa.x[0];
        change = -e.rho * Wd.x[0] / Wa.x[0];
        e.solves = (Wa.x[0] > zero) & (e.rho > zero) & (along + e.rho * pulled <= zero);
    }
    e.slope = q_across + e.rho * coupled;
    e.bend = change * coupled + e.rho * dot(&Wd, &across) - along - e.rho * pulled;
    wide size =
        magnitude(p[1]) + magnitude(p[2]) + e.rho * (magnitude(Wa.x[1]) + magnitude(Wa.x[2]));
    e.settled = magnitude(e.slope) <= wide_spread(small_real) * l->mu * size;
    e.solves &= e.settled;
    return e;
}

/* The starting direction: that of the tangential part of the sticking impulse x; if it is not known
 * or 0, that of -q_T; if this is 0 too, the first tangent. */
CAIRN_WIDE void direct(mask known, const wide *x, const wide *q, wide out[2])
{
    const wide tiny = wide_spread(tiny_real);
    known &= x[1] * x[1] + x[2] * x[2] > tiny;
    out[0] = wide_choose(known, x[1], -q[1]);
    out[1] = wide_choose(known, x[2], -q[2]);
    wide square = out[0] * out[0] + out[1] * out[1], length = wide_root(square);
    mask none = ~(square > tiny);
    out[0] = wide_choose(none, wide_spread(1), out[0] / length);
    out[1] = wide_choose(none, wide_spread(0), out[1] / length);
}

/* One step of Newton's method: turn by the arc tangent of slope/bend, bounded by 0.5 before the arc
 * tangent. Lanes in which the derivative is not positive or the quotient is NaN stay. */
CAIRN_WIDE void turn_direction(const edge *e, wide direction[2])
{
    const wide most = wide_spread((real)0.5), zero = wide_spread(0);
    wide by = e->slope / e->bend;
    by = wide_choose(by > most, most, by);
    by = wide_choose(by < -most, -most, by);
    by = wide_choose((e->bend > zero) & (by == by), by, zero);
    wide c = direction[0] + direction[1] * by, s = direction[1] - direction[0] * by;
    wide length = wide_root(c * c + s * s);
    direction[0] = c / length;
    direction[1] = s / length;
}

/* Solve the remaining lanes one by one, in double. */
CAIRN_WIDE void solve_left(mask left, const local *c, three *r)
{
    for (int i = 0; i < LANES; i++) {
        double own[6], free[3], found[3];
        if (!left[i])
            continue;
        for (int k = 0; k < 6; k++)
            own[k] = (double)c->W[k][i];
        for (int k = 0; k < 3; k++)
            free[k] = (double)c->q.x[k][i];
        cairn_local_solve(3, c->law, own, (double)c->mu[i], free, found);
        for (int k = 0; k < 3; k++)
            r->x[k][i] = (real)found[k];
    }
}

/* Up to STEPS Newton steps in all lanes at once. A lane takes the first solution that it finds. */
CAIRN_WIDE void slide(mask left, const local *c, wide direction[2], three *r)
{
    enum { STEPS = 8 };
    for (int k = 0; k < STEPS && any(left); k++) {
        edge e = edge_at(c, direction);
        mask now = left & e.solves;
        for (int i = 0; i < 3; i++)
            r->x[i] = wide_choose(now, e.rho * e.a.x[i], r->x[i]);
        left &= ~now;
        turn_direction(&e, direction);
    }
    solve_left(left, c, r);
}

/* The exact solution of the contact in each lane. */
CAIRN_WIDE three solve(const local *c)
{
    const wide zero = wide_spread(0), mu = c->mu, *p = c->q.x;
    three x, r;
    mask definite = stick(c, &x);
    wide bound = mu * x.x[0], tangential = x.x[1] * x.x[1] + x.x[2] * x.x[2];
    mask open = p[0] >= zero;
    if (c->law == CAIRN_LAW_CONVEX)
        open &= mu * mu * (p[1] * p[1] + p[2] * p[2]) <= p[0] * p[0];
    mask sticks = definite & (x.x[0] >= zero) & (tangential <= bound * bound) & ~open;
    for (int i = 0; i < 3; i++)
        r.x[i] = wide_choose(sticks, x.x[i], zero);
    mask slides = ~(open | sticks);
    if (any(slides)) {
        wide direction[2];
        direct(definite, x.x, p, direction);
        slide(slides, c, direction, &r);
    }
    return r;
}

/* ---- a batch -------------------------------------------------------------------------------- */

/* The records and inverse inertias of both bodies of LANES contacts, transposed. */
typedef struct bodies {
    wide a[8], b[8], inertia_a[4], inertia_b[4];
} bodies;

CAIRN_WIDE void fetch(const pass_job *job, const general_batch *batch, int lane, bodies *s)
{
    wide_gather(job->v, batch->a + lane, 8, s->a);
    wide_gather(job->v, batch->b + lane, 8, s->b);
    wide_gather(job->inertia, batch->a + lane, 4, s->inertia_a);
    wide_gather(job->inertia, batch->b + lane, 4, s->inertia_b);
}

/* Row i of three rows times v. */
CAIRN_WIDE wide row_times(const real (*rows)[CAIRN_BATCH], int i, int lane, const wide *v)
{
    return wide_load(rows[3 * i] + lane) * v[0] + wide_load(rows[3 * i + 1] + lane) * v[1] +
           wide_load(rows[3 * i + 2] + lane) * v[2];
}

/* u = H v + shift */
CAIRN_WIDE three relative(const general_batch *batch, int lane, const bodies *s)
{
    const wide line[3] = { s->a[0] - s->b[0], s->a[1] - s->b[1], s->a[2] - s->b[2] };
    three u = load3(batch->shift[0] + lane);
    for (int i = 0; i < 3; i++)
        u.x[i] +=
            row_times(batch->line, i, lane, line) + (row_times(batch->turn_a, i, lane, s->a + 3) +
                                                     row_times(batch->turn_b, i, lane, s->b + 3));
    return u;
}

/* Component k of H' p */
CAIRN_WIDE wide column_times(const real (*rows)[CAIRN_BATCH], int k, int lane, const three *p)
{
    return wide_load(rows[k] + lane) * p->x[0] + wide_load(rows[3 + k] + lane) * p->x[1] +
           wide_load(rows[6 + k] + lane) * p->x[2];
}

/* v += M^-1 H' p, back to the records */
CAIRN_WIDE void push_bodies(const pass_job *job, const general_batch *batch, int lane,
                            const three *p, bodies *s)
{
    for (int k = 0; k < 3; k++) {
        wide force = column_times(batch->line, k, lane, p);
        s->a[k] += s->a[6] * force;
        s->b[k] -= s->b[6] * force;
        s->a[3 + k] += s->inertia_a[k] * column_times(batch->turn_a, k, lane, p);
        s->b[3 + k] += s->inertia_b[k] * column_times(batch->turn_b, k, lane, p);
    }
    wide_scatter(job->v, batch->a + lane, 8, s->a);
    wide_scatter(job->v, batch->b + lane, 8, s->b);
}

/* One group of LANES contacts of a batch. */
CAIRN_WIDE void visit(const pass_job *job, int k, int lane, lane_notes *notes)
{
    const general_batch *batch = &job->batches[k];
    real *r = job->r + (size_t)k * 3 * CAIRN_BATCH + lane;
    real *previous = job->previous + (size_t)k * 3 * CAIRN_BATCH + lane;
    const wide beta = wide_spread((real)job->momentum.beta);
    const wide lean = wide_spread((real)job->momentum.lean);
    bodies s;
    local c = { .mu = wide_load(batch->mu + lane), .law = job->law };
    fetch(job, batch, lane, &s);
    for (int i = 0; i < 6; i++)
        c.W[i] = wide_load(batch->W[i] + lane);
    /* (1) y = r + beta (r - point), the next point */
    three y = load3(r), point = load3(previous), change, progress;
    for (int i = 0; i < 3; i++) {
        wide move = beta * (y.x[i] - point.x[i]);
        point.x[i] = y.x[i] + lean * move;
        y.x[i] += move;
    }
    store3(previous, &point);
    /* (2) q = u - W y, and its exact solution */
    three u = relative(batch, lane, &s), own = times(c.W, &y);
    for (int i = 0; i < 3; i++)
        c.q.x[i] = u.x[i] - own.x[i];
    three found = solve(&c);
    store3(r, &found);
    /* (3) apply the change to the bodies, and add to the sums of cairn_sweep */
    for (int i = 0; i < 3; i++) {
        change.x[i] = found.x[i] - y.x[i];
        progress.x[i] = found.x[i] - point.x[i];
    }
    push_bodies(job, batch, lane, &change, &s);
    wide w = (c.W[0] + c.W[2] + c.W[5]) * wide_spread((real)(1.0 / 3));
    notes->change2[lane / LANES] += w * w * dot(&change, &change);
    notes->uphill[lane / LANES] -= dot(&change, &progress);
}

CAIRN_WIDE void bring(const pass_job *job, int k, int lane)
{
    const general_batch *batch = &job->batches[k];
    three r = load3(job->r + (size_t)k * 3 * CAIRN_BATCH + lane);
    bodies s;
    fetch(job, batch, lane, &s);
    push_bodies(job, batch, lane, &r, &s);
}

const general_kernels CAIRN_UNIT = { .sweep = sweep, .add_up = add_up };
