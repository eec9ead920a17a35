/* batch_sweep.c - the passes over batches of contacts of balls, with SIMD: a unit, compiled once
 * for each number type and register width (src/units.cmake).
 *
 * Contacts of a ball involve its motion only through v and y = R w (w in the world frame): with p
 * the impulse as a vector in the world frame and n the normal,
 *     u = va - vb + n x (ya + yb),   u_N = n.u,   u_T = u - u_N n
 *     v += p/m,  y += k (p x n),  k = R^2/J          (b: v -= p/m, y as for a)
 *     W = diag(w_N, w_T, w_T),  w_N = 1/ma + 1/mb,  w_T = w_N + ka + kb.
 * A record of a body is (v, y, 1/m, k). Without friction nothing turns: one multiplier for a
 * contact, p = r n, and records (v, 1/m). */
#include "backend/host/batch_unit.h"
#include "math/simd.h"

/* Added to divisors that may be 0 where the dividend is 0 as well; too small to change others. */
static const real tiny_real = (real)(sizeof(real) == sizeof(float) ? 1e-37f : 1e-300);

/* The records (v, y, 1/m, k) of both bodies of LANES contacts, transposed: one register for each
 * component. */
typedef struct bodies {
    wide a[8], b[8];
} bodies;

/* A vector in the world frame for each lane: an impulse, a velocity or a normal. */
typedef struct impulse {
    wide x, y, z;
} impulse;

CAIRN_WIDE wide dot(impulse p, impulse q)
{
    return p.x * q.x + p.y * q.y + p.z * q.z;
}

CAIRN_WIDE impulse load3(const real *from)
{
    return (impulse){ wide_load(from), wide_load(from + CAIRN_BATCH),
                      wide_load(from + 2 * CAIRN_BATCH) };
}

CAIRN_WIDE void store3(real *to, impulse p)
{
    wide_store(to, p.x);
    wide_store(to + CAIRN_BATCH, p.y);
    wide_store(to + 2 * CAIRN_BATCH, p.z);
}

CAIRN_WIDE impulse cross(impulse a, impulse b)
{
    return (impulse){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

/* p += s q */
CAIRN_WIDE impulse add(impulse p, wide s, impulse q)
{
    return (impulse){ p.x + s * q.x, p.y + s * q.y, p.z + s * q.z };
}

/* u = va - vb + n x (ya + yb) */
CAIRN_WIDE impulse relative(const bodies *s, impulse n)
{
    impulse turning = { s->a[3] + s->b[3], s->a[4] + s->b[4], s->a[5] + s->b[5] };
    impulse u = cross(n, turning);
    u.x += s->a[0] - s->b[0];
    u.y += s->a[1] - s->b[1];
    u.z += s->a[2] - s->b[2];
    return u;
}

/* v += p/m, y += k (p x n) for body a; v -= p/m, y += k (p x n) for body b. */
CAIRN_WIDE void push_bodies(bodies *s, impulse n, impulse p)
{
    impulse turn = cross(p, n);
    const wide linear[3] = { p.x, p.y, p.z }, angular[3] = { turn.x, turn.y, turn.z };
    for (int i = 0; i < 3; i++) {
        s->a[i] += s->a[6] * linear[i];
        s->b[i] -= s->b[6] * linear[i];
        s->a[3 + i] += s->a[7] * angular[i];
        s->b[3 + i] += s->b[7] * angular[i];
    }
}

/* ---- with friction -------------------------------------------------------------------------- */

/* A visit of LANES contacts between begin_visit and end_visit: its bodies, W, and the velocity
 * without its own impulse, q = u - W y + b n, split into its normal part and the rest. */
typedef struct ball_visit {
    bodies s;
    wide wn, wt, q_normal;
    impulse q_sliding;
} ball_visit;

/* A batch takes VISITS visits. Visit number `at` belongs to batch at / VISITS and begins there at
 * lane at % VISITS * LANES. */
enum { VISITS = CAIRN_BATCH / LANES };

CAIRN_WIDE const ball_batch *batch_at(const ball_pass *job, int at)
{
    return &job->batches[at / VISITS];
}

/* The index of the first number of a visit in an array with `parts` numbers for each contact. */
CAIRN_WIDE size_t first_number(int at, int parts)
{
    return (size_t)(at / VISITS * parts * CAIRN_BATCH + at % VISITS * LANES);
}

/* (1) y = r + beta (r - point), stored in place of r, and the next point; (2) q. With
 * W = w_T I - (w_T - w_N) n n', W y needs no tangents. */
CAIRN_WIDE void begin_visit(const ball_pass *job, int at, ball_visit *visit)
{
    const ball_batch *batch = batch_at(job, at);
    int lane = at % VISITS * LANES;
    real *r = job->r + first_number(at, 3), *previous = job->previous + first_number(at, 3);
    bodies *s = &visit->s;
    wide_gather(job->v, batch->a + lane, 8, s->a);
    wide_gather(job->v, batch->b + lane, 8, s->b);
    impulse old = load3(r), before = load3(previous);
    impulse n = load3(batch->n[0] + lane);
    const wide beta = wide_spread((real)job->momentum.beta);
    impulse move = { beta * (old.x - before.x), beta * (old.y - before.y),
                     beta * (old.z - before.z) };
    impulse y = add(old, wide_spread(1), move);
    store3(previous, add(old, wide_spread((real)job->momentum.lean), move));
    store3(r, y);
    wide turning = s->a[7] + s->b[7];
    visit->wn = s->a[6] + s->b[6];
    visit->wt = visit->wn + turning;
    impulse q = add(relative(s, n), -visit->wt, y);
    wide along = dot(q, n);
    visit->q_sliding = add(q, -along, n);
    visit->q_normal = along + (turning * dot(y, n) + wide_load(batch->shift + lane));
}

/* The exact solution of the contact in each lane: it sticks if r = -q/w lies inside the cone, and
 * slides on the cone otherwise, see problem/cone.h. All cases are computed for all lanes and then
 * selected, since lanes cannot branch. An open contact results as sliding with r_N = 0. */
CAIRN_WIDE impulse solve(const ball_pass *job, int at, const ball_visit *visit)
{
    const wide one = wide_spread(1), tiny = wide_spread(tiny_real);
    impulse n = load3(batch_at(job, at)->n[0] + at % VISITS * LANES);
    impulse q = visit->q_sliding;
    wide mu = wide_load(job->mu + first_number(at, 1)), wn = visit->wn, wt = visit->wt;
    wide speed = wide_root(dot(q, q)), push = -visit->q_normal, resists = wn;
    mask sticks = speed * wn < mu * wide_positive(push) * wt; /* never true if it opens */
    if (job->convex) {
        push = wide_choose(sticks, push, push + mu * speed);
        resists = wide_choose(sticks, wn, wn + mu * mu * wt);
    }
    wide normal = wide_positive(push) / resists;
    wide pull = wide_choose(sticks, one, mu * normal) / wide_choose(sticks, wt, speed + tiny);
    impulse r = { normal * n.x, normal * n.y, normal * n.z };
    return add(r, -pull, q);
}

/* (3) apply the change to the bodies, and add to the sums of cairn_sweep */
CAIRN_WIDE void end_visit(const ball_pass *job, int at, ball_visit *visit, impulse found,
                          lane_notes *notes)
{
    const ball_batch *batch = batch_at(job, at);
    int part = at % VISITS, lane = part * LANES;
    real *r = job->r + first_number(at, 3);
    impulse y = load3(r), point = load3(job->previous + first_number(at, 3));
    impulse change = { found.x - y.x, found.y - y.y, found.z - y.z };
    impulse progress = { found.x - point.x, found.y - point.y, found.z - point.z };
    store3(r, found);
    push_bodies(&visit->s, load3(batch->n[0] + lane), change);
    wide_scatter(job->v, batch->a + lane, 8, visit->s.a);
    wide_scatter(job->v, batch->b + lane, 8, visit->s.b);
    wide w = (visit->wn + 2 * visit->wt) * wide_spread((real)(1.0 / 3));
    notes->change2[part] += w * w * dot(change, change);
    notes->uphill[part] -= dot(change, progress);
}

/* ---- without: r >= 0, u_N = n.(va - vb) ----------------------------------------------------- */

typedef struct smooth_visit {
    wide a[4], b[4], y, point, w, step; /* step: r+ = max(y - step, 0) */
} smooth_visit;

/* step = (u_N + b)/w: with u_N the velocity that contains the impulse y, -step is the change of r
 * that makes u_N + b = 0. */
CAIRN_WIDE void begin_smooth(const ball_pass *job, int at, smooth_visit *visit)
{
    const ball_batch *batch = batch_at(job, at);
    int lane = at % VISITS * LANES;
    wide *a = visit->a, *b = visit->b;
    wide_gather(job->v, batch->a + lane, 4, a);
    wide_gather(job->v, batch->b + lane, 4, b);
    impulse n = load3(batch->n[0] + lane);
    wide old = wide_load(job->r + first_number(at, 1));
    wide before = wide_load(job->previous + first_number(at, 1));
    wide move = wide_spread((real)job->momentum.beta) * (old - before);
    visit->y = old + move;
    visit->point = old + wide_spread((real)job->momentum.lean) * move;
    visit->w = a[3] + b[3];
    wide u = n.x * (a[0] - b[0]) + n.y * (a[1] - b[1]) + n.z * (a[2] - b[2]);
    visit->step = (u + wide_load(batch->shift + lane)) / visit->w;
}

CAIRN_WIDE void end_smooth(const ball_pass *job, int at, smooth_visit *visit, lane_notes *notes)
{
    const ball_batch *batch = batch_at(job, at);
    int part = at % VISITS, lane = part * LANES;
    real *r = job->r + first_number(at, 1);
    wide *a = visit->a, *b = visit->b, found = wide_positive(visit->y - visit->step);
    wide change = found - visit->y, to_a = a[3] * change, to_b = b[3] * change;
    for (int i = 0; i < 3; i++) {
        wide n = wide_load(batch->n[i] + lane);
        a[i] += to_a * n;
        b[i] -= to_b * n;
    }
    wide_store(job->previous + first_number(at, 1), visit->point);
    wide_store(r, found);
    wide_scatter(job->v, batch->a + lane, 4, a);
    wide_scatter(job->v, batch->b + lane, 4, b);
    notes->change2[part] += visit->w * visit->w * change * change;
    notes->uphill[part] -= change * (found - visit->point);
}

/* ---- passes --------------------------------------------------------------------------------- */

/* One visit. The next one begins before this one ends, so that its loads and shuffles fill the time
 * in which this one waits for square roots and divisions. The two share no body, see batch.c. */
CAIRN_WIDE void take_turn(const ball_pass *job, int at, ball_visit *now, ball_visit *next,
                          lane_notes *notes)
{
    impulse found = solve(job, at, now);
    begin_visit(job, at + 1, next);
    end_visit(job, at, now, found, notes);
}

CAIRN_WIDE void take_turn_smooth(const ball_pass *job, int at, smooth_visit *now,
                                 smooth_visit *next, lane_notes *notes)
{
    begin_smooth(job, at + 1, next);
    end_smooth(job, at, now, notes);
}

/* Visits, those of 32 batches, after which the sums of the lanes, which may be in float, are added
 * to those in double. */
enum { STRETCH = 32 * VISITS };

/* Two visits a turn, so that `one` and `two` swap roles without a copy: hence an even number. The
 * last turn begins a visit of the empty batch behind the end, which is never finished. */
CAIRN_WIDE void sweep_rough(const ball_pass *job, int begin, int end, cairn_sweep *out)
{
    ball_visit one, two;
    begin_visit(job, begin, &one);
    for (int start = begin; start < end; start += STRETCH) {
        int stop = start + STRETCH < end ? start + STRETCH : end;
        lane_notes notes = { 0 };
        for (int at = start; at < stop; at += 2) {
            take_turn(job, at, &one, &two, &notes);
            take_turn(job, at + 1, &two, &one, &notes);
        }
        collect(&notes, out);
    }
}

CAIRN_WIDE void sweep_smooth(const ball_pass *job, int begin, int end, cairn_sweep *out)
{
    smooth_visit one, two;
    begin_smooth(job, begin, &one);
    for (int start = begin; start < end; start += STRETCH) {
        int stop = start + STRETCH < end ? start + STRETCH : end;
        lane_notes notes = { 0 };
        for (int at = start; at < stop; at += 2) {
            take_turn_smooth(job, at, &one, &two, &notes);
            take_turn_smooth(job, at + 1, &two, &one, &notes);
        }
        collect(&notes, out);
    }
}

/* ---- the residual --------------------------------------------------------------------------- */

/* The judge's residual, contact by contact, with x = w r in place of r as in problem/judge_lanes.c:
 * the largest of |x - P(x - u^)| and the conditions e_N and e_T of problem/residual.c. For the
 * convex law u_N + b is that of s = 0; with another s the judge's residual may be a little
 * larger. In a problem with scales also the largest share, e_j^2 / max(S_j, min(|x|, C_j))^2. */

/* The errors of a stretch, lane by lane as in lane_notes. */
typedef struct lane_errors {
    wide e2[VISITS], share2[VISITS];
} lane_errors;

CAIRN_WIDE wide larger(wide a, wide b)
{
    return wide_choose(b > a, b, a);
}

/* e_N^2 of a contact that opens with velocity o by its law; u_N contains the bias. x - max(x - o,
 * 0) is min(x, o). */
CAIRN_WIDE wide signorini2(wide x, wide o, wide u_N)
{
    wide both = x - wide_positive(x - o), approach = x - wide_positive(x - u_N);
    wide e = larger(wide_positive(both), wide_positive(-approach));
    return e * e;
}

/* e_T^2 = |x_T - P_D(x_T - u_T)|^2, D the disk of radius mu max(x_N, 0) */
CAIRN_WIDE wide friction_error2(wide mu, wide along, impulse across, impulse sliding)
{
    const wide one = wide_spread(1), tiny = wide_spread(tiny_real);
    impulse y = add(across, -one, sliding);
    wide T = wide_root(dot(y, y)), bound = mu * wide_positive(along);
    impulse off = add(across, -wide_choose(T <= bound, one, bound / (T + tiny)), y);
    return dot(off, off);
}

/* |x - P_K(x - u^)|^2, K the cone of mu around n; u^ is given by its normal part u and the rest. */
CAIRN_WIDE wide map_error2(impulse n, wide mu, impulse x, wide u, impulse sliding)
{
    const wide one = wide_spread(1), tiny = wide_spread(tiny_real);
    wide along = dot(x, n), y = along - u;
    impulse rest = add(x, -along, n), across = add(rest, -one, sliding);
    wide T = wide_root(dot(across, across));
    mask inside = T <= mu * y; /* or mu = T = 0: then y may be negative */
    wide on_side = wide_positive(y + mu * T) / (one + mu * mu);
    wide normal = wide_choose(inside, wide_positive(y), on_side);
    wide scale = wide_choose(inside, one, mu * on_side / (T + tiny));
    impulse off = add(rest, -scale, across);
    return (along - normal) * (along - normal) + dot(off, off);
}

/* Add the errors of a visit, given their squares and |x|^2. */
CAIRN_WIDE void note_errors(const ball_pass *job, int at, wide e2, wide x2, lane_errors *errors)
{
    const wide zero = wide_spread(0);
    int part = at % VISITS, lane = part * LANES;
    errors->e2[part] += e2;
    if (!job->share)
        return;
    const ball_share *share = &job->share[at / VISITS];
    wide scale = wide_load(share->scale + lane), most = wide_load(share->most + lane);
    wide carried2 = wide_choose(x2 < most * most, x2, most * most);
    wide share2 = wide_choose(e2 == zero, zero, e2 / larger(scale * scale, carried2));
    wide worst = errors->share2[part];
    errors->share2[part] = wide_choose(share2 <= worst, worst, share2); /* NaN stays */
}

/* The contacts of a visit; w = (w_N + 2 w_T)/3. */
CAIRN_WIDE void find_errors(const ball_pass *job, int at, lane_errors *errors)
{
    const ball_batch *batch = batch_at(job, at);
    int lane = at % VISITS * LANES;
    bodies s;
    wide_gather(job->v, batch->a + lane, 8, s.a);
    wide_gather(job->v, batch->b + lane, 8, s.b);
    impulse n = load3(batch->n[0] + lane), u = relative(&s, n);
    impulse r = load3(job->r + first_number(at, 3));
    wide mu = wide_load(job->mu + first_number(at, 1)), along = dot(u, n);
    impulse sliding = add(u, -along, n);
    along += wide_load(batch->shift + lane);
    wide lift = mu * wide_root(dot(sliding, sliding));
    wide w = s.a[6] + s.b[6] + (s.a[7] + s.b[7]) * wide_spread((real)(2.0 / 3));
    r.x *= w;
    r.y *= w;
    r.z *= w;
    wide x = dot(r, n);
    wide friction2 = friction_error2(mu, x, add(r, -x, n), sliding);
    wide normal2 = signorini2(x, job->convex ? along - lift : along, along);
    wide map2 = map_error2(n, mu, r, job->convex ? along : along + lift, sliding);
    note_errors(job, at, larger(map2, larger(normal2, friction2)), dot(r, r), errors);
}

/* Without friction: |w r - max(0, w r - u)|^2 = min(w r, u)^2. Records without friction have no
 * R^2/J: in a problem without scales w_N stands for w, and the judge's residual may be a little
 * larger at contacts that open with a small impulse. */
CAIRN_WIDE void find_smooth_errors(const ball_pass *job, int at, lane_errors *errors)
{
    smooth_visit visit;
    begin_smooth(job, at, &visit);
    int lane = at % VISITS * LANES;
    wide w = job->share ? wide_load(job->share[at / VISITS].w + lane) : visit.w;
    wide wr = w * wide_load(job->r + first_number(at, 1));
    wide off = wr - wide_positive(wr - visit.w * visit.step);
    note_errors(job, at, off * off, wr * wr, errors);
}

/* Join the lanes, in their order and in double. */
CAIRN_WIDE void collect_errors(const lane_errors *errors, cairn_batch_errors *out)
{
    for (int i = 0; i < CAIRN_BATCH; i++) {
        double share2 = (double)errors->share2[i / LANES][i % LANES];
        out->e2 += (double)errors->e2[i / LANES][i % LANES];
        out->share2 = share2 <= out->share2 ? out->share2 : share2;
    }
}

CAIRN_WIDE void measure(const ball_pass *job, int begin, int end, cairn_batch_errors *out)
{
    for (int start = begin; start < end; start += STRETCH) {
        int stop = start + STRETCH < end ? start + STRETCH : end;
        lane_errors errors = { 0 };
        for (int at = start; at < stop; at++)
            if (job->mu)
                find_errors(job, at, &errors);
            else
                find_smooth_errors(job, at, &errors);
        collect_errors(&errors, out);
    }
}

/* ---- impulses ------------------------------------------------------------------------------- */

/* Add the effect of the impulses of LANES contacts to v and y. */
CAIRN_WIDE void add_impulses(const ball_pass *job, int k, int lane)
{
    const ball_batch *batch = &job->batches[k];
    const real *r = job->r + (size_t)k * 3 * CAIRN_BATCH + lane;
    bodies s;
    wide_gather(job->v, batch->a + lane, 8, s.a);
    wide_gather(job->v, batch->b + lane, 8, s.b);
    push_bodies(&s, load3(batch->n[0] + lane), load3(r));
    wide_scatter(job->v, batch->a + lane, 8, s.a);
    wide_scatter(job->v, batch->b + lane, 8, s.b);
}

CAIRN_WIDE void add_smooth(const ball_pass *job, int k, int lane)
{
    const ball_batch *batch = &job->batches[k];
    wide r = wide_load(job->r + (size_t)k * CAIRN_BATCH + lane), a[4], b[4];
    wide_gather(job->v, batch->a + lane, 4, a);
    wide_gather(job->v, batch->b + lane, 4, b);
    for (int i = 0; i < 3; i++) {
        wide along = r * wide_load(batch->n[i] + lane);
        a[i] += a[3] * along;
        b[i] -= b[3] * along;
    }
    wide_scatter(job->v, batch->a + lane, 4, a);
    wide_scatter(job->v, batch->b + lane, 4, b);
}

/* ---- the unit ------------------------------------------------------------------------------- */

/* Each pass works on a local copy of the job. The compiler then knows that no store to a body can
 * change it, and keeps its fields in registers. */

/* Not inlined: if gcc 12 inlines it beside the sweep with friction, it is 3 to 4 % slower (double,
 * AVX2). */
static __attribute__((noinline)) void sweep_without_friction(const ball_pass *job, int begin,
                                                             int end, cairn_sweep *out)
{
    const ball_pass own = *job;
    sweep_smooth(&own, begin * VISITS, end * VISITS, out);
}

static void sweep(const ball_pass *job, int begin, int end, cairn_sweep *out)
{
    const ball_pass own = *job;
    if (begin < end && own.mu)
        sweep_rough(&own, begin * VISITS, end * VISITS, out);
    else if (begin < end)
        sweep_without_friction(job, begin, end, out);
}

static void measure_batches(const ball_pass *job, int begin, int end, cairn_batch_errors *out)
{
    const ball_pass own = *job;
    measure(&own, begin * VISITS, end * VISITS, out);
}

static void add_up(const ball_pass *job, int begin, int end)
{
    const ball_pass own = *job;
    for (int k = begin; k < end; k++)
        for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
            if (own.mu)
                add_impulses(&own, k, lane);
            else
                add_smooth(&own, k, lane);
}

const ball_kernels CAIRN_UNIT = { .sweep = sweep, .measure = measure_batches, .add_up = add_up };
