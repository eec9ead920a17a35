/* batch_general_sweep.h - one pass over batches of contacts of any bodies; the text of the kernel,
 * for one type of register. Included by batch_general_sweep.c with REAL, TINY, SMALL, BATCH, JOB,
 * WIDE, MASK, LANES, NAME(name) and WIDE_(name) set.
 *
 * The one-contact problem has the three cases of problem/local.c: take-off, stick, slide. Sliding,
 * r = rho a(phi) with a = (1, mu cos phi, mu sin phi), and phi is a root of the slope u.a':
 *     convex law   rho = -q.a/(a'W a),   rho' = -(q.a' + 2 rho a'W a')/(a'W a)
 *     Coulomb      rho = -q_N/(W a)_N,   rho' = -rho (W a')_N/(W a)_N
 * Newton's method on the slope starts from the direction of the sticking impulse. Each lane stops
 * by itself; one that does not settle on a solution is solved by cairn_local_solve. */

#include "backend/batch_lanes.h"

typedef struct NAME(three) {
    WIDE x[3];
} NAME(three);

CAIRN_WIDE NAME(three) NAME(load3)(const REAL *from)
{
    return (NAME(three)){ { WIDE_(load)(from), WIDE_(load)(from + CAIRN_BATCH),
                            WIDE_(load)(from + 2 * CAIRN_BATCH) } };
}

CAIRN_WIDE void NAME(store3)(REAL *to, const NAME(three) * p)
{
    for (int i = 0; i < 3; i++)
        WIDE_(store)(to + i * CAIRN_BATCH, p->x[i]);
}

CAIRN_WIDE WIDE NAME(dot)(const NAME(three) * p, const NAME(three) * q)
{
    return p->x[0] * q->x[0] + p->x[1] * q->x[1] + p->x[2] * q->x[2];
}

CAIRN_WIDE NAME(three) NAME(times)(const WIDE *W, const NAME(three) * p)
{
    const WIDE *x = p->x;
    return (NAME(three)){ { W[0] * x[0] + W[1] * x[1] + W[3] * x[2],
                            W[1] * x[0] + W[2] * x[1] + W[4] * x[2],
                            W[3] * x[0] + W[4] * x[1] + W[5] * x[2] } };
}

/* ---- one contact ---------------------------------------------------------------------------- */

/* The one-contact problem of each lane; q is the velocity without its impulse. */
typedef struct NAME(local) {
    WIDE W[6], mu;
    NAME(three) q;
    cairn_law law;
} NAME(local);

/* x = -W^-1 q by Cholesky; lanes in which W is singular to rounding are not of the mask. */
CAIRN_WIDE MASK NAME(stick)(const NAME(local) * c, NAME(three) * out)
{
    const WIDE *W = c->W, *q = c->q.x;
    WIDE least = (W[0] + W[2] + W[5]) * WIDE_(spread)(SMALL);
    WIDE l10 = W[1] / W[0], l20 = W[3] / W[0], d1 = W[2] - l10 * W[1];
    WIDE s21 = W[4] - l10 * W[3], l21 = s21 / d1, d2 = W[5] - l20 * W[3] - l21 * s21;
    WIDE y0 = -q[0], y1 = -q[1] - l10 * y0, y2 = -q[2] - l20 * y0 - l21 * y1;
    out->x[2] = y2 / d2;
    out->x[1] = y1 / d1 - l21 * out->x[2];
    out->x[0] = y0 / W[0] - l10 * out->x[1] - l20 * out->x[2];
    return (W[0] > least) & (d1 > least) & (d2 > least);
}

/* Lanes of a sliding direction (1, mu c, mu s): its impulse, and what Newton's method needs. */
typedef struct NAME(edge) {
    NAME(three) a;
    WIDE rho, slope, bend;
    MASK settled, solves; /* the slope is 0 to rounding; and the law holds */
} NAME(edge);

CAIRN_WIDE NAME(edge) NAME(edge_at)(const NAME(local) * l, const WIDE direction[2])
{
    const WIDE zero = WIDE_(spread)(0), *p = l->q.x;
    WIDE c = l->mu * direction[0], s = l->mu * direction[1];
    NAME(edge) e = { .a = { { WIDE_(spread)(1), c, s } } };
    NAME(three) across = { { zero, -s, c } };
    NAME(three) Wa = NAME(times)(l->W, &e.a), Wd = NAME(times)(l->W, &across);
    WIDE stiffness = NAME(dot)(&e.a, &Wa), q_across = NAME(dot)(&l->q, &across);
    WIDE coupled = NAME(dot)(&Wa, &across), pulled = c * Wa.x[1] + s * Wa.x[2], change;
    WIDE along = c * p[1] + s * p[2];
    if (l->law == CAIRN_LAW_CONVEX) {
        e.rho = -(p[0] + along) / stiffness;
        e.rho = WIDE_(choose)(e.rho > zero, e.rho, zero);
        change = -(q_across + 2 * e.rho * coupled) / stiffness;
        e.solves = (e.rho > zero) & (p[0] + e.rho * Wa.x[0] >= zero);
    } else {
        e.rho = -p[0] / Wa.x[0];
        change = -e.rho * Wd.x[0] / Wa.x[0];
        e.solves = (Wa.x[0] > zero) & (e.rho > zero) & (along + e.rho * pulled <= zero);
    }
    e.slope = q_across + e.rho * coupled;
    e.bend = change * coupled + e.rho * NAME(dot)(&Wd, &across) - along - e.rho * pulled;
    WIDE size =
        NAME(size)(p[1]) + NAME(size)(p[2]) + e.rho * (NAME(size)(Wa.x[1]) + NAME(size)(Wa.x[2]));
    e.settled = NAME(size)(e.slope) <= WIDE_(spread)(SMALL) * l->mu * size;
    e.solves &= e.settled;
    return e;
}

/* The direction of (x, y), or of -(p, q) where that has none; then the first axis. */
CAIRN_WIDE void NAME(direct)(MASK known, const WIDE *x, const WIDE *q, WIDE out[2])
{
    const WIDE tiny = WIDE_(spread)(TINY);
    known &= x[1] * x[1] + x[2] * x[2] > tiny;
    out[0] = WIDE_(choose)(known, x[1], -q[1]);
    out[1] = WIDE_(choose)(known, x[2], -q[2]);
    WIDE square = out[0] * out[0] + out[1] * out[1], length = WIDE_(root)(square);
    MASK none = ~(square > tiny);
    out[0] = WIDE_(choose)(none, WIDE_(spread)(1), out[0] / length);
    out[1] = WIDE_(choose)(none, WIDE_(spread)(0), out[1] / length);
}

/* One step of Newton's method, at most half a radian: turn by the arc tangent of slope/bend. */
CAIRN_WIDE void NAME(turn)(const NAME(edge) * e, WIDE direction[2])
{
    const WIDE most = WIDE_(spread)((REAL)0.5), zero = WIDE_(spread)(0);
    WIDE by = e->slope / e->bend;
    by = WIDE_(choose)(by > most, most, by);
    by = WIDE_(choose)(by < -most, -most, by);
    by = WIDE_(choose)((e->bend > zero) & (by == by), by, zero);
    WIDE c = direction[0] + direction[1] * by, s = direction[1] - direction[0] * by;
    WIDE length = WIDE_(root)(c * c + s * s);
    direction[0] = c / length;
    direction[1] = s / length;
}

/* Lanes that are left: one by one, in double. */
CAIRN_WIDE void NAME(solve_left)(MASK left, const NAME(local) * c, NAME(three) * r)
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
            r->x[k][i] = (REAL)found[k];
    }
}

CAIRN_WIDE void NAME(slide)(MASK left, const NAME(local) * c, WIDE direction[2], NAME(three) * r)
{
    enum { STEPS = 8 };
    for (int k = 0; k < STEPS && NAME(any)(left); k++) {
        NAME(edge) e = NAME(edge_at)(c, direction);
        MASK now = left & e.solves;
        for (int i = 0; i < 3; i++)
            r->x[i] = WIDE_(choose)(now, e.rho * e.a.x[i], r->x[i]);
        left &= ~now;
        NAME(turn)(&e, direction);
    }
    NAME(solve_left)(left, c, r);
}

/* The exact solution of each lane's own contact. */
CAIRN_WIDE NAME(three) NAME(solve)(const NAME(local) * c)
{
    const WIDE zero = WIDE_(spread)(0), mu = c->mu, *p = c->q.x;
    NAME(three) x, r;
    MASK definite = NAME(stick)(c, &x);
    WIDE bound = mu * x.x[0], tangential = x.x[1] * x.x[1] + x.x[2] * x.x[2];
    MASK open = p[0] >= zero;
    if (c->law == CAIRN_LAW_CONVEX)
        open &= mu * mu * (p[1] * p[1] + p[2] * p[2]) <= p[0] * p[0];
    MASK sticks = definite & (x.x[0] >= zero) & (tangential <= bound * bound) & ~open;
    for (int i = 0; i < 3; i++)
        r.x[i] = WIDE_(choose)(sticks, x.x[i], zero);
    MASK slides = ~(open | sticks);
    if (NAME(any)(slides)) {
        WIDE direction[2];
        NAME(direct)(definite, x.x, p, direction);
        NAME(slide)(slides, c, direction, &r);
    }
    return r;
}

/* ---- a batch -------------------------------------------------------------------------------- */

typedef struct NAME(bodies) {
    WIDE a[8], b[8], inertia_a[4], inertia_b[4];
} NAME(bodies);

CAIRN_WIDE void NAME(fetch)(const JOB *job, const BATCH *batch, int lane, NAME(bodies) * s)
{
    WIDE_(gather)(job->v, batch->a + lane, 8, s->a);
    WIDE_(gather)(job->v, batch->b + lane, 8, s->b);
    WIDE_(gather)(job->inertia, batch->a + lane, 4, s->inertia_a);
    WIDE_(gather)(job->inertia, batch->b + lane, 4, s->inertia_b);
}

CAIRN_WIDE WIDE NAME(row)(const REAL (*rows)[CAIRN_BATCH], int i, int lane, const WIDE *v)
{
    return WIDE_(load)(rows[3 * i] + lane) * v[0] + WIDE_(load)(rows[3 * i + 1] + lane) * v[1] +
           WIDE_(load)(rows[3 * i + 2] + lane) * v[2];
}

/* u = H v + shift */
CAIRN_WIDE NAME(three) NAME(relative)(const BATCH *batch, int lane, const NAME(bodies) * s)
{
    const WIDE line[3] = { s->a[0] - s->b[0], s->a[1] - s->b[1], s->a[2] - s->b[2] };
    NAME(three) u = NAME(load3)(batch->shift[0] + lane);
    for (int i = 0; i < 3; i++)
        u.x[i] +=
            NAME(row)(batch->line, i, lane, line) + (NAME(row)(batch->turn_a, i, lane, s->a + 3) +
                                                     NAME(row)(batch->turn_b, i, lane, s->b + 3));
    return u;
}

/* Component k of H' p */
CAIRN_WIDE WIDE NAME(column)(const REAL (*rows)[CAIRN_BATCH], int k, int lane,
                             const NAME(three) * p)
{
    return WIDE_(load)(rows[k] + lane) * p->x[0] + WIDE_(load)(rows[3 + k] + lane) * p->x[1] +
           WIDE_(load)(rows[6 + k] + lane) * p->x[2];
}

/* v += M^-1 H' p, back to the records */
CAIRN_WIDE void NAME(push)(const JOB *job, const BATCH *batch, int lane, const NAME(three) * p,
                           NAME(bodies) * s)
{
    for (int k = 0; k < 3; k++) {
        WIDE force = NAME(column)(batch->line, k, lane, p);
        s->a[k] += s->a[6] * force;
        s->b[k] -= s->b[6] * force;
        s->a[3 + k] += s->inertia_a[k] * NAME(column)(batch->turn_a, k, lane, p);
        s->b[3 + k] += s->inertia_b[k] * NAME(column)(batch->turn_b, k, lane, p);
    }
    WIDE_(scatter)(job->v, batch->a + lane, 8, s->a);
    WIDE_(scatter)(job->v, batch->b + lane, 8, s->b);
}

/* One group of LANES contacts of a batch. */
CAIRN_WIDE void NAME(visit)(const JOB *job, int k, int lane, NAME(notes) * notes)
{
    const BATCH *batch = &job->batches[k];
    REAL *r = job->r + (size_t)k * 3 * CAIRN_BATCH + lane;
    REAL *previous = job->previous + (size_t)k * 3 * CAIRN_BATCH + lane;
    const WIDE beta = WIDE_(spread)((REAL)job->momentum.beta);
    const WIDE lean = WIDE_(spread)((REAL)job->momentum.lean);
    NAME(bodies) s;
    NAME(local) c = { .mu = WIDE_(load)(batch->mu + lane), .law = job->law };
    NAME(fetch)(job, batch, lane, &s);
    for (int i = 0; i < 6; i++)
        c.W[i] = WIDE_(load)(batch->W[i] + lane);
    /* (1) y = r + beta (r - point), the next point */
    NAME(three) y = NAME(load3)(r), point = NAME(load3)(previous), change, progress;
    for (int i = 0; i < 3; i++) {
        WIDE move = beta * (y.x[i] - point.x[i]);
        point.x[i] = y.x[i] + lean * move;
        y.x[i] += move;
    }
    NAME(store3)(previous, &point);
    /* (2) q = u - W y, and its exact solution */
    NAME(three) u = NAME(relative)(batch, lane, &s), own = NAME(times)(c.W, &y);
    for (int i = 0; i < 3; i++)
        c.q.x[i] = u.x[i] - own.x[i];
    NAME(three) found = NAME(solve)(&c);
    NAME(store3)(r, &found);
    /* (3) pass the change on, note its size and whether momentum points uphill */
    for (int i = 0; i < 3; i++) {
        change.x[i] = found.x[i] - y.x[i];
        progress.x[i] = found.x[i] - point.x[i];
    }
    NAME(push)(job, batch, lane, &change, &s);
    WIDE w = (c.W[0] + c.W[2] + c.W[5]) * WIDE_(spread)((REAL)(1.0 / 3));
    notes->change2[lane / LANES] += w * w * NAME(dot)(&change, &change);
    notes->uphill[lane / LANES] -= NAME(dot)(&change, &progress);
}

CAIRN_WIDE void NAME(bring)(const JOB *job, int k, int lane)
{
    const BATCH *batch = &job->batches[k];
    NAME(three) r = NAME(load3)(job->r + (size_t)k * 3 * CAIRN_BATCH + lane);
    NAME(bodies) s;
    NAME(fetch)(job, batch, lane, &s);
    NAME(push)(job, batch, lane, &r, &s);
}

#include "backend/batch_passes.h"
