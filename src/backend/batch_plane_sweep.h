/* batch_plane_sweep.h - one pass over batches of contacts in 2D; the text of the kernel, for one
 * type of register. Included by batch_plane_sweep.c with REAL, SMALL, BATCH, JOB, WIDE, MASK,
 * LANES, NAME(name) and WIDE_(name) set.
 *
 * The one-contact problem has the three cases of problem/local.c, all in closed form: take-off,
 * stick r = -W^-1 q, and slide on one of the two edges r = rho (1, +-mu):
 *     convex law   rho = -q.a/(a'W a), the edge of the larger (q.a)^2/(a'W a)
 *     Coulomb      rho = -q_N/(W a)_N, the first edge that friction opposes */

#include "backend/batch_lanes.h"

typedef struct NAME(two) {
    WIDE x, y;
} NAME(two);

CAIRN_WIDE NAME(two) NAME(load2)(const REAL *from)
{
    return (NAME(two)){ WIDE_(load)(from), WIDE_(load)(from + CAIRN_BATCH) };
}

CAIRN_WIDE void NAME(store2)(REAL *to, NAME(two) p)
{
    WIDE_(store)(to, p.x);
    WIDE_(store)(to + CAIRN_BATCH, p.y);
}

CAIRN_WIDE WIDE NAME(dot)(NAME(two) p, NAME(two) q)
{
    return p.x * q.x + p.y * q.y;
}

CAIRN_WIDE NAME(two) NAME(times)(const WIDE *W, NAME(two) p)
{
    return (NAME(two)){ W[0] * p.x + W[1] * p.y, W[1] * p.x + W[2] * p.y };
}

CAIRN_WIDE NAME(two) NAME(choose2)(MASK mask, NAME(two) yes, NAME(two) no)
{
    return (NAME(two)){ WIDE_(choose)(mask, yes.x, no.x), WIDE_(choose)(mask, yes.y, no.y) };
}

/* ---- one contact ---------------------------------------------------------------------------- */

/* The one-contact problem of each lane; q is the velocity without its impulse. */
typedef struct NAME(local) {
    WIDE W[3], mu;
    NAME(two) q;
    cairn_law law;
} NAME(local);

/* Sticking impulses, and the lanes in which they lie in the cone. */
CAIRN_WIDE MASK NAME(stick)(const NAME(local) * c, NAME(two) * out)
{
    const WIDE *W = c->W;
    WIDE product = W[0] * W[2], determinant = product - W[1] * W[1], inverse = 1 / determinant;
    out->x = (W[1] * c->q.y - W[2] * c->q.x) * inverse;
    out->y = (W[1] * c->q.x - W[0] * c->q.y) * inverse;
    return (determinant > product * WIDE_(spread)(SMALL)) & (NAME(size)(out->y) <= c->mu * out->x);
}

/* Sliding by the convex law on the edge (1, side); *gain is twice the energy that it takes. */
CAIRN_WIDE NAME(two) NAME(convex_edge)(const NAME(local) * c, WIDE side, WIDE *gain)
{
    const WIDE zero = WIDE_(spread)(0), *W = c->W;
    WIDE along = c->q.x + side * c->q.y, coupled = side * W[1];
    WIDE stiffness = W[0] + (coupled + coupled) + side * side * W[2], rho = -along / stiffness;
    MASK closes = (along < zero) & (stiffness > zero);
    rho = WIDE_(choose)(closes, rho, zero);
    *gain = -along * rho;
    return (NAME(two)){ rho, side * rho };
}

CAIRN_WIDE NAME(two) NAME(slide_convex)(const NAME(local) * c)
{
    WIDE gain_low, gain_high;
    NAME(two) low = NAME(convex_edge)(c, -c->mu, &gain_low);
    NAME(two) high = NAME(convex_edge)(c, c->mu, &gain_high);
    return NAME(choose2)(gain_high > gain_low, high, low);
}

/* Sliding by Coulomb's law on the edge (1, side), side = +-mu; the lanes in which it does. */
CAIRN_WIDE MASK NAME(coulomb_edge)(const NAME(local) * c, WIDE side, WIDE sign, NAME(two) * out)
{
    const WIDE zero = WIDE_(spread)(0), *W = c->W;
    WIDE stiffness = W[0] + side * W[1], rho = -c->q.x / stiffness;
    *out = (NAME(two)){ rho, side * rho };
    WIDE sliding = c->q.y + W[1] * rho + W[2] * out->y;
    return (stiffness > zero) & (rho >= zero) & (sliding * sign <= zero);
}

/* Where neither edge slides with u_N = 0: as the convex law has it. */
CAIRN_WIDE NAME(two) NAME(slide_coulomb)(MASK slides, const NAME(local) * c)
{
    const WIDE one = WIDE_(spread)(1);
    NAME(two) low, high;
    MASK first = NAME(coulomb_edge)(c, -c->mu, -one, &low);
    MASK second = NAME(coulomb_edge)(c, c->mu, one, &high);
    NAME(two) r = NAME(choose2)(first, low, high);
    MASK left = slides & ~(first | second);
    return NAME(any)(left) ? NAME(choose2)(left, NAME(slide_convex)(c), r) : r;
}

/* The exact solution of each lane's own contact. */
CAIRN_WIDE NAME(two) NAME(solve)(const NAME(local) * c)
{
    const WIDE zero = WIDE_(spread)(0), q = c->q.x, sliding = c->mu * c->q.y;
    const NAME(two) nothing = { zero, zero };
    NAME(two) r;
    MASK open = q >= zero;
    if (c->law == CAIRN_LAW_CONVEX)
        open &= sliding * sliding <= q * q;
    MASK sticks = NAME(stick)(c, &r), slides = ~(open | sticks);
    if (NAME(any)(slides)) {
        NAME(two)
        edge = c->law == CAIRN_LAW_CONVEX ? NAME(slide_convex)(c) : NAME(slide_coulomb)(slides, c);
        r = NAME(choose2)(slides, edge, r);
    }
    return NAME(choose2)(open, nothing, r);
}

/* ---- a batch -------------------------------------------------------------------------------- */

typedef struct NAME(bodies) {
    WIDE a[4], b[4]; /* v, w, 1/m */
} NAME(bodies);

CAIRN_WIDE void NAME(fetch)(const JOB *job, const BATCH *batch, int lane, NAME(bodies) * s)
{
    WIDE_(gather)(job->v, batch->a + lane, 4, s->a);
    WIDE_(gather)(job->v, batch->b + lane, 4, s->b);
}

/* u = H v + shift */
CAIRN_WIDE NAME(two) NAME(relative)(const BATCH *batch, int lane, const NAME(bodies) * s)
{
    const NAME(two) along = { s->a[0] - s->b[0], s->a[1] - s->b[1] };
    const NAME(two) turn_a = NAME(load2)(batch->turn_a[0] + lane);
    const NAME(two) turn_b = NAME(load2)(batch->turn_b[0] + lane);
    NAME(two) u = NAME(load2)(batch->shift[0] + lane);
    u.x += NAME(dot)(NAME(load2)(batch->line[0] + lane), along) +
           (turn_a.x * s->a[2] + turn_b.x * s->b[2]);
    u.y += NAME(dot)(NAME(load2)(batch->line[2] + lane), along) +
           (turn_a.y * s->a[2] + turn_b.y * s->b[2]);
    return u;
}

/* v += M^-1 H' p, back to the records */
CAIRN_WIDE void NAME(push)(const JOB *job, const BATCH *batch, int lane, NAME(two) p,
                           NAME(bodies) * s)
{
    const NAME(two) n = NAME(load2)(batch->line[0] + lane), t = NAME(load2)(batch->line[2] + lane);
    const NAME(two) force = { n.x * p.x + t.x * p.y, n.y * p.x + t.y * p.y };
    s->a[0] += s->a[3] * force.x;
    s->a[1] += s->a[3] * force.y;
    s->a[2] += NAME(dot)(NAME(load2)(batch->push_a[0] + lane), p);
    s->b[0] -= s->b[3] * force.x;
    s->b[1] -= s->b[3] * force.y;
    s->b[2] += NAME(dot)(NAME(load2)(batch->push_b[0] + lane), p);
    WIDE_(scatter)(job->v, batch->a + lane, 4, s->a);
    WIDE_(scatter)(job->v, batch->b + lane, 4, s->b);
}

/* One group of LANES contacts of a batch. */
CAIRN_WIDE void NAME(visit_rough)(const JOB *job, int k, int lane, NAME(notes) * notes)
{
    const BATCH *batch = &job->batches[k];
    REAL *r = job->r + (size_t)k * 2 * CAIRN_BATCH + lane;
    REAL *previous = job->previous + (size_t)k * 2 * CAIRN_BATCH + lane;
    const WIDE beta = WIDE_(spread)((REAL)job->momentum.beta);
    const WIDE lean = WIDE_(spread)((REAL)job->momentum.lean);
    NAME(bodies) s;
    NAME(local) c = { .mu = WIDE_(load)(batch->mu + lane), .law = job->law };
    NAME(fetch)(job, batch, lane, &s);
    for (int i = 0; i < 3; i++)
        c.W[i] = WIDE_(load)(batch->W[i] + lane);
    /* (1) y = r + beta (r - point), the next point */
    const NAME(two) old = NAME(load2)(r), before = NAME(load2)(previous);
    const NAME(two) move = { beta * (old.x - before.x), beta * (old.y - before.y) };
    const NAME(two) y = { old.x + move.x, old.y + move.y };
    const NAME(two) point = { old.x + lean * move.x, old.y + lean * move.y };
    NAME(store2)(previous, point);
    /* (2) q = u - W y, and its exact solution */
    NAME(two) u = NAME(relative)(batch, lane, &s), own = NAME(times)(c.W, y);
    c.q = (NAME(two)){ u.x - own.x, u.y - own.y };
    NAME(two) found = NAME(solve)(&c);
    NAME(store2)(r, found);
    /* (3) pass the change on, note its size and whether momentum points uphill */
    const NAME(two) change = { found.x - y.x, found.y - y.y };
    const NAME(two) progress = { found.x - point.x, found.y - point.y };
    NAME(push)(job, batch, lane, change, &s);
    WIDE w = (c.W[0] + c.W[2]) * WIDE_(spread)((REAL)0.5);
    notes->change2[lane / LANES] += w * w * NAME(dot)(change, change);
    notes->uphill[lane / LANES] -= NAME(dot)(change, progress);
}

/* The same without friction: the normal alone, r = max(0, -q/W_NN). */
CAIRN_WIDE void NAME(visit_smooth)(const JOB *job, int k, int lane, NAME(notes) * notes)
{
    const BATCH *batch = &job->batches[k];
    REAL *r = job->r + (size_t)k * 2 * CAIRN_BATCH + lane;
    REAL *previous = job->previous + (size_t)k * 2 * CAIRN_BATCH + lane;
    const WIDE zero = WIDE_(spread)(0), W = WIDE_(load)(batch->W[0] + lane);
    const NAME(two) n = NAME(load2)(batch->line[0] + lane);
    NAME(bodies) s;
    NAME(fetch)(job, batch, lane, &s);
    WIDE old = WIDE_(load)(r), before = WIDE_(load)(previous);
    WIDE move = WIDE_(spread)((REAL)job->momentum.beta) * (old - before), y = old + move;
    WIDE point = old + WIDE_(spread)((REAL)job->momentum.lean) * move;
    WIDE_(store)(previous, point);
    WIDE q = WIDE_(load)(batch->shift[0] + lane) + n.x * (s.a[0] - s.b[0]) +
             n.y * (s.a[1] - s.b[1]) +
             (WIDE_(load)(batch->turn_a[0] + lane) * s.a[2] +
              WIDE_(load)(batch->turn_b[0] + lane) * s.b[2]) -
             W * y;
    WIDE found = WIDE_(choose)(q < zero, -q / W, zero), change = found - y;
    WIDE_(store)(r, found);
    NAME(push)(job, batch, lane, (NAME(two)){ change, zero }, &s);
    WIDE w = (W + WIDE_(load)(batch->W[2] + lane)) * WIDE_(spread)((REAL)0.5);
    notes->change2[lane / LANES] += w * w * change * change;
    notes->uphill[lane / LANES] -= change * (found - point);
}

CAIRN_WIDE void NAME(visit)(const JOB *job, int k, int lane, NAME(notes) * notes)
{
    if (job->smooth)
        NAME(visit_smooth)(job, k, lane, notes);
    else
        NAME(visit_rough)(job, k, lane, notes);
}

CAIRN_WIDE void NAME(bring)(const JOB *job, int k, int lane)
{
    const BATCH *batch = &job->batches[k];
    NAME(two) r = NAME(load2)(job->r + (size_t)k * 2 * CAIRN_BATCH + lane);
    NAME(bodies) s;
    NAME(fetch)(job, batch, lane, &s);
    NAME(push)(job, batch, lane, r, &s);
}

#include "backend/batch_passes.h"
