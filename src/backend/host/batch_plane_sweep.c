/* batch_plane_sweep.c - the passes over batches of contacts of any bodies in 2D, with SIMD: a unit,
 * compiled once for each number type and register width (src/units.cmake).
 *
 * The one-contact problem has the three cases of problem/local.c, all in closed form: take-off,
 * stick r = -W^-1 q, and slide on one of the two edges r = rho (1, +-mu):
 *     convex law   rho = -q.a/(a'W a), the edge of the larger (q.a)^2/(a'W a)
 *     Coulomb      rho = -q_N/(W a)_N, the first edge that friction opposes */
#include "backend/host/batch_unit.h"

typedef plane_pass pass_job;

#include "backend/host/batch_passes.h"
#include "math/simd.h"

/* Relative, some units of rounding: W is singular if its determinant is below this share. */
static const real small_real = (real)(sizeof(real) == sizeof(float) ? 5e-7f : 1e-15);

typedef struct two {
    wide x, y;
} two;

CAIRN_WIDE two load2(const real *from)
{
    return (two){ wide_load(from), wide_load(from + CAIRN_BATCH) };
}

CAIRN_WIDE void store2(real *to, two p)
{
    wide_store(to, p.x);
    wide_store(to + CAIRN_BATCH, p.y);
}

CAIRN_WIDE wide dot(two p, two q)
{
    return p.x * q.x + p.y * q.y;
}

CAIRN_WIDE two times(const wide *W, two p)
{
    return (two){ W[0] * p.x + W[1] * p.y, W[1] * p.x + W[2] * p.y };
}

CAIRN_WIDE two choose2(mask where, two yes, two no)
{
    return (two){ wide_choose(where, yes.x, no.x), wide_choose(where, yes.y, no.y) };
}

/* ---- one contact ---------------------------------------------------------------------------- */

/* The one-contact problem of each lane; q is the velocity without its own impulse. W is the lower
 * triangle W_NN, W_TN, W_TT. */
typedef struct local {
    wide W[3], mu;
    two q;
    cairn_law law;
} local;

/* Sticking impulses, and the lanes in which they lie in the cone. */
CAIRN_WIDE mask stick(const local *c, two *out)
{
    const wide *W = c->W;
    wide product = W[0] * W[2], determinant = product - W[1] * W[1], inverse = 1 / determinant;
    out->x = (W[1] * c->q.y - W[2] * c->q.x) * inverse;
    out->y = (W[1] * c->q.x - W[0] * c->q.y) * inverse;
    return (determinant > product * wide_spread(small_real)) &
           (magnitude(out->y) <= c->mu * out->x);
}

/* Sliding by the convex law on the edge (1, side); *gain is twice the decrease of the dual
 * objective 1/2 r'W r + q'r. */
CAIRN_WIDE two convex_edge(const local *c, wide side, wide *gain)
{
    const wide zero = wide_spread(0), *W = c->W;
    wide along = c->q.x + side * c->q.y, coupled = side * W[1];
    wide stiffness = W[0] + (coupled + coupled) + side * side * W[2], rho = -along / stiffness;
    mask closes = (along < zero) & (stiffness > zero);
    rho = wide_choose(closes, rho, zero);
    *gain = -along * rho;
    return (two){ rho, side * rho };
}

/* The convex program has one solution: the edge on which the objective decreases more. */
CAIRN_WIDE two slide_convex(const local *c)
{
    wide gain_low, gain_high;
    two low = convex_edge(c, -c->mu, &gain_low);
    two high = convex_edge(c, c->mu, &gain_high);
    return choose2(gain_high > gain_low, high, low);
}

/* Sliding by Coulomb's law, with u_N = 0, on the edge (1, side), side = +-mu. Returns the lanes in
 * which this is a solution: r_N >= 0, and friction opposes sliding. */
CAIRN_WIDE mask coulomb_edge(const local *c, wide side, wide sign, two *out)
{
    const wide zero = wide_spread(0), *W = c->W;
    wide stiffness = W[0] + side * W[1], rho = -c->q.x / stiffness;
    *out = (two){ rho, side * rho };
    wide sliding = c->q.y + W[1] * rho + W[2] * out->y;
    return (stiffness > zero) & (rho >= zero) & (sliding * sign <= zero);
}

/* Lanes in which neither edge has a solution with u_N = 0 take that of the convex law. */
CAIRN_WIDE two slide_coulomb(mask slides, const local *c)
{
    const wide one = wide_spread(1);
    two low, high;
    mask first = coulomb_edge(c, -c->mu, -one, &low);
    mask second = coulomb_edge(c, c->mu, one, &high);
    two r = choose2(first, low, high);
    mask left = slides & ~(first | second);
    return any(left) ? choose2(left, slide_convex(c), r) : r;
}

/* The exact solution of the contact in each lane. */
CAIRN_WIDE two solve(const local *c)
{
    const wide zero = wide_spread(0), q = c->q.x, sliding = c->mu * c->q.y;
    const two nothing = { zero, zero };
    two r;
    mask open = q >= zero;
    if (c->law == CAIRN_LAW_CONVEX)
        open &= sliding * sliding <= q * q;
    mask sticks = stick(c, &r), slides = ~(open | sticks);
    if (any(slides)) {
        two edge = c->law == CAIRN_LAW_CONVEX ? slide_convex(c) : slide_coulomb(slides, c);
        r = choose2(slides, edge, r);
    }
    return choose2(open, nothing, r);
}

/* ---- a batch -------------------------------------------------------------------------------- */

typedef struct bodies {
    wide a[4], b[4]; /* v, w, 1/m */
} bodies;

CAIRN_WIDE void fetch(const pass_job *job, const plane_batch *batch, int lane, bodies *s)
{
    wide_gather(job->v, batch->a + lane, 4, s->a);
    wide_gather(job->v, batch->b + lane, 4, s->b);
}

/* u = H v + shift */
CAIRN_WIDE two relative(const plane_batch *batch, int lane, const bodies *s)
{
    const two along = { s->a[0] - s->b[0], s->a[1] - s->b[1] };
    const two turn_a = load2(batch->turn_a[0] + lane);
    const two turn_b = load2(batch->turn_b[0] + lane);
    two u = load2(batch->shift[0] + lane);
    u.x += dot(load2(batch->line[0] + lane), along) + (turn_a.x * s->a[2] + turn_b.x * s->b[2]);
    u.y += dot(load2(batch->line[2] + lane), along) + (turn_a.y * s->a[2] + turn_b.y * s->b[2]);
    return u;
}

/* v += M^-1 H' p, back to the records */
CAIRN_WIDE void push_bodies(const pass_job *job, const plane_batch *batch, int lane, two p,
                            bodies *s)
{
    const two n = load2(batch->line[0] + lane), t = load2(batch->line[2] + lane);
    const two force = { n.x * p.x + t.x * p.y, n.y * p.x + t.y * p.y };
    s->a[0] += s->a[3] * force.x;
    s->a[1] += s->a[3] * force.y;
    s->a[2] += dot(load2(batch->push_a[0] + lane), p);
    s->b[0] -= s->b[3] * force.x;
    s->b[1] -= s->b[3] * force.y;
    s->b[2] += dot(load2(batch->push_b[0] + lane), p);
    wide_scatter(job->v, batch->a + lane, 4, s->a);
    wide_scatter(job->v, batch->b + lane, 4, s->b);
}

/* One group of LANES contacts of a batch. */
CAIRN_WIDE void visit_rough(const pass_job *job, int k, int lane, lane_notes *notes)
{
    const plane_batch *batch = &job->batches[k];
    real *r = job->r + (size_t)k * 2 * CAIRN_BATCH + lane;
    real *previous = job->previous + (size_t)k * 2 * CAIRN_BATCH + lane;
    const wide beta = wide_spread((real)job->momentum.beta);
    const wide lean = wide_spread((real)job->momentum.lean);
    bodies s;
    local c = { .mu = wide_load(batch->mu + lane), .law = job->law };
    fetch(job, batch, lane, &s);
    for (int i = 0; i < 3; i++)
        c.W[i] = wide_load(batch->W[i] + lane);
    /* (1) y = r + beta (r - point), the next point */
    const two old = load2(r), before = load2(previous);
    const two move = { beta * (old.x - before.x), beta * (old.y - before.y) };
    const two y = { old.x + move.x, old.y + move.y };
    const two point = { old.x + lean * move.x, old.y + lean * move.y };
    store2(previous, point);
    /* (2) q = u - W y, and its exact solution */
    two u = relative(batch, lane, &s), own = times(c.W, y);
    c.q = (two){ u.x - own.x, u.y - own.y };
    two found = solve(&c);
    store2(r, found);
    /* (3) apply the change to the bodies, and add to the sums of cairn_sweep */
    const two change = { found.x - y.x, found.y - y.y };
    const two progress = { found.x - point.x, found.y - point.y };
    push_bodies(job, batch, lane, change, &s);
    wide w = (c.W[0] + c.W[2]) * wide_spread((real)0.5);
    notes->change2[lane / LANES] += w * w * dot(change, change);
    notes->uphill[lane / LANES] -= dot(change, progress);
}

/* The same without friction: the normal component alone, r = max(0, -q/W_NN). The sum of the
 * changes is still weighted with the mean of the diagonal, so that it estimates the judge's
 * residual. */
CAIRN_WIDE void visit_smooth(const pass_job *job, int k, int lane, lane_notes *notes)
{
    const plane_batch *batch = &job->batches[k];
    real *r = job->r + (size_t)k * 2 * CAIRN_BATCH + lane;
    real *previous = job->previous + (size_t)k * 2 * CAIRN_BATCH + lane;
    const wide zero = wide_spread(0), W = wide_load(batch->W[0] + lane);
    const two n = load2(batch->line[0] + lane);
    bodies s;
    fetch(job, batch, lane, &s);
    wide old = wide_load(r), before = wide_load(previous);
    wide move = wide_spread((real)job->momentum.beta) * (old - before), y = old + move;
    wide point = old + wide_spread((real)job->momentum.lean) * move;
    wide_store(previous, point);
    wide q = wide_load(batch->shift[0] + lane) + n.x * (s.a[0] - s.b[0]) + n.y * (s.a[1] - s.b[1]) +
             (wide_load(batch->turn_a[0] + lane) * s.a[2] +
              wide_load(batch->turn_b[0] + lane) * s.b[2]) -
             W * y;
    wide found = wide_choose(q < zero, -q / W, zero), change = found - y;
    wide_store(r, found);
    push_bodies(job, batch, lane, (two){ change, zero }, &s);
    wide w = (W + wide_load(batch->W[2] + lane)) * wide_spread((real)0.5);
    notes->change2[lane / LANES] += w * w * change * change;
    notes->uphill[lane / LANES] -= change * (found - point);
}

CAIRN_WIDE void visit(const pass_job *job, int k, int lane, lane_notes *notes)
{
    if (job->smooth)
        visit_smooth(job, k, lane, notes);
    else
        visit_rough(job, k, lane, notes);
}

CAIRN_WIDE void bring(const pass_job *job, int k, int lane)
{
    const plane_batch *batch = &job->batches[k];
    two r = load2(job->r + (size_t)k * 2 * CAIRN_BATCH + lane);
    bodies s;
    fetch(job, batch, lane, &s);
    push_bodies(job, batch, lane, r, &s);
}

const plane_kernels CAIRN_UNIT = { .sweep = sweep, .add_up = add_up };
