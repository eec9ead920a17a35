/* batch_sweep.h - one pass over the batches; the text of the kernel, for one type of register.
 * Included by batch_sweep.c with REAL, WIDE, MASK, LANES, NAME(name) and WIDE_(name) set.
 *
 * A ball feels its contacts only through v and y = R w (w in the world frame): with p the impulse
 * as a vector in space and n the normal,
 *     u = va - vb + n x (ya + yb),   u_N = n.u,   u_T = u - u_N n
 *     v += p/m,  y += k (p x n),  k = R^2/J          (b: v -= p/m, y as for a)
 *     W = diag(w_N, w_T, w_T),  w_N = 1/ma + 1/mb,  w_T = w_N + ka + kb.
 * A record of a body is (v, y, 1/m, k). Without friction nothing turns: one multiplier for a
 * contact, p = r n, and records (v, 1/m). */

typedef struct NAME(bodies) {
    WIDE a[8], b[8];
} NAME(bodies);

typedef struct NAME(impulse) {
    WIDE x, y, z;
} NAME(impulse);

/* What a pass notices, lane by lane of a batch: the same sums for every width. */
typedef struct NAME(notes) {
    WIDE change2[CAIRN_BATCH / LANES], uphill[CAIRN_BATCH / LANES];
} NAME(notes);

CAIRN_WIDE WIDE NAME(dot)(NAME(impulse) p, NAME(impulse) q)
{
    return p.x * q.x + p.y * q.y + p.z * q.z;
}

CAIRN_WIDE NAME(impulse) NAME(load3)(const REAL *from)
{
    return (NAME(impulse)){ WIDE_(load)(from), WIDE_(load)(from + CAIRN_BATCH),
                            WIDE_(load)(from + 2 * CAIRN_BATCH) };
}

CAIRN_WIDE void NAME(store3)(REAL *to, NAME(impulse) p)
{
    WIDE_(store)(to, p.x);
    WIDE_(store)(to + CAIRN_BATCH, p.y);
    WIDE_(store)(to + 2 * CAIRN_BATCH, p.z);
}

CAIRN_WIDE NAME(impulse) NAME(cross)(NAME(impulse) a, NAME(impulse) b)
{
    return (NAME(impulse)){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

/* p += s q */
CAIRN_WIDE NAME(impulse) NAME(add)(NAME(impulse) p, WIDE s, NAME(impulse) q)
{
    return (NAME(impulse)){ p.x + s * q.x, p.y + s * q.y, p.z + s * q.z };
}

/* u = va - vb + n x (ya + yb) */
CAIRN_WIDE NAME(impulse) NAME(relative)(const NAME(bodies) * s, NAME(impulse) n)
{
    NAME(impulse) turning = { s->a[3] + s->b[3], s->a[4] + s->b[4], s->a[5] + s->b[5] };
    NAME(impulse) u = NAME(cross)(n, turning);
    u.x += s->a[0] - s->b[0];
    u.y += s->a[1] - s->b[1];
    u.z += s->a[2] - s->b[2];
    return u;
}

/* v and y of both bodies move by what the impulse p does. */
CAIRN_WIDE void NAME(push)(NAME(bodies) * s, NAME(impulse) n, NAME(impulse) p)
{
    NAME(impulse) turn = NAME(cross)(p, n);
    const WIDE linear[3] = { p.x, p.y, p.z }, angular[3] = { turn.x, turn.y, turn.z };
    for (int i = 0; i < 3; i++) {
        s->a[i] += s->a[6] * linear[i];
        s->b[i] -= s->b[6] * linear[i];
        s->a[3 + i] += s->a[7] * angular[i];
        s->b[3 + i] += s->b[7] * angular[i];
    }
}

/* ---- with friction -------------------------------------------------------------------------- */

/* A visit of LANES contacts that has begun: its bodies, W, and what moves the contact without its
 * own impulse, q = u - W y + b n, by its part along n and the rest. */
typedef struct NAME(visit) {
    NAME(bodies) s;
    WIDE wn, wt, q_normal;
    NAME(impulse) q_sliding;
} NAME(visit);

/* Visit number `at`: its batch, and the first of its lanes there. */
enum { NAME(VISITS) = CAIRN_BATCH / LANES };

CAIRN_WIDE const BATCH *NAME(batch)(const JOB *job, int at)
{
    return &job->batches[at / NAME(VISITS)];
}

CAIRN_WIDE size_t NAME(first)(int at, int parts)
{
    return (size_t)(at / NAME(VISITS) * parts * CAIRN_BATCH + at % NAME(VISITS) * LANES);
}

/* (1) y = r + beta (r - point), kept in place of r; the next point; (2) q */
CAIRN_WIDE void NAME(begin)(const JOB *job, int at, NAME(visit) * visit)
{
    const BATCH *batch = NAME(batch)(job, at);
    int lane = at % NAME(VISITS) * LANES;
    REAL *r = job->r + NAME(first)(at, 3), *previous = job->previous + NAME(first)(at, 3);
    NAME(bodies) *s = &visit->s;
    WIDE_(gather)(job->v, batch->a + lane, 8, s->a);
    WIDE_(gather)(job->v, batch->b + lane, 8, s->b);
    NAME(impulse) old = NAME(load3)(r), before = NAME(load3)(previous);
    NAME(impulse) n = NAME(load3)(batch->n[0] + lane);
    const WIDE beta = WIDE_(spread)((REAL)job->momentum.beta);
    NAME(impulse)
    move = { beta * (old.x - before.x), beta * (old.y - before.y), beta * (old.z - before.z) };
    NAME(impulse) y = NAME(add)(old, WIDE_(spread)(1), move);
    NAME(store3)(previous, NAME(add)(old, WIDE_(spread)((REAL)job->momentum.lean), move));
    NAME(store3)(r, y);
    WIDE turning = s->a[7] + s->b[7];
    visit->wn = s->a[6] + s->b[6];
    visit->wt = visit->wn + turning;
    NAME(impulse) q = NAME(add)(NAME(relative)(s, n), -visit->wt, y);
    WIDE along = NAME(dot)(q, n);
    visit->q_sliding = NAME(add)(q, -along, n);
    visit->q_normal = along + (turning * NAME(dot)(y, n) + WIDE_(load)(batch->shift + lane));
}

/* The exact solution of each lane's own contact. It sticks where r = -q/w is within the cone;
 * slides on the cone otherwise, see problem/local.h. */
CAIRN_WIDE NAME(impulse) NAME(solve)(const JOB *job, int at, const NAME(visit) * visit)
{
    const WIDE one = WIDE_(spread)(1), tiny = WIDE_(spread)(TINY);
    NAME(impulse) n = NAME(load3)(NAME(batch)(job, at)->n[0] + at % NAME(VISITS) * LANES);
    NAME(impulse) q = visit->q_sliding;
    WIDE mu = WIDE_(load)(job->mu + NAME(first)(at, 1)), wn = visit->wn, wt = visit->wt;
    WIDE speed = WIDE_(root)(NAME(dot)(q, q)), push = -visit->q_normal, resists = wn;
    MASK sticks = speed * wn < mu * WIDE_(positive)(push) * wt; /* never where it opens */
    if (job->convex) {
        push = WIDE_(choose)(sticks, push, push + mu * speed);
        resists = WIDE_(choose)(sticks, wn, wn + mu * mu * wt);
    }
    WIDE normal = WIDE_(positive)(push) / resists;
    WIDE pull = WIDE_(choose)(sticks, one, mu * normal) / WIDE_(choose)(sticks, wt, speed + tiny);
    NAME(impulse) r = { normal * n.x, normal * n.y, normal * n.z };
    return NAME(add)(r, -pull, q);
}

/* (3) pass the change on, note its size and whether momentum points uphill */
CAIRN_WIDE void NAME(end)(const JOB *job, int at, NAME(visit) * visit, NAME(impulse) found,
                          NAME(notes) * notes)
{
    const BATCH *batch = NAME(batch)(job, at);
    int part = at % NAME(VISITS), lane = part * LANES;
    REAL *r = job->r + NAME(first)(at, 3);
    NAME(impulse) y = NAME(load3)(r), point = NAME(load3)(job->previous + NAME(first)(at, 3));
    NAME(impulse) change = { found.x - y.x, found.y - y.y, found.z - y.z };
    NAME(impulse) progress = { found.x - point.x, found.y - point.y, found.z - point.z };
    NAME(store3)(r, found);
    NAME(push)(&visit->s, NAME(load3)(batch->n[0] + lane), change);
    WIDE_(scatter)(job->v, batch->a + lane, 8, visit->s.a);
    WIDE_(scatter)(job->v, batch->b + lane, 8, visit->s.b);
    WIDE w = (visit->wn + 2 * visit->wt) * WIDE_(spread)((REAL)(1.0 / 3));
    notes->change2[part] += w * w * NAME(dot)(change, change);
    notes->uphill[part] -= NAME(dot)(change, progress);
}

/* ---- without: r >= 0, u_N = n.(va - vb) ----------------------------------------------------- */

typedef struct NAME(smooth_visit) {
    WIDE a[4], b[4], y, point, w, step; /* step: how far r would go from y */
} NAME(smooth_visit);

CAIRN_WIDE void NAME(begin_smooth)(const JOB *job, int at, NAME(smooth_visit) * visit)
{
    const BATCH *batch = NAME(batch)(job, at);
    int lane = at % NAME(VISITS) * LANES;
    WIDE *a = visit->a, *b = visit->b;
    WIDE_(gather)(job->v, batch->a + lane, 4, a);
    WIDE_(gather)(job->v, batch->b + lane, 4, b);
    NAME(impulse) n = NAME(load3)(batch->n[0] + lane);
    WIDE old = WIDE_(load)(job->r + NAME(first)(at, 1));
    WIDE before = WIDE_(load)(job->previous + NAME(first)(at, 1));
    WIDE move = WIDE_(spread)((REAL)job->momentum.beta) * (old - before);
    visit->y = old + move;
    visit->point = old + WIDE_(spread)((REAL)job->momentum.lean) * move;
    visit->w = a[3] + b[3];
    WIDE u = n.x * (a[0] - b[0]) + n.y * (a[1] - b[1]) + n.z * (a[2] - b[2]);
    visit->step = (u + WIDE_(load)(batch->shift + lane)) / visit->w;
}

CAIRN_WIDE void NAME(end_smooth)(const JOB *job, int at, NAME(smooth_visit) * visit,
                                 NAME(notes) * notes)
{
    const BATCH *batch = NAME(batch)(job, at);
    int part = at % NAME(VISITS), lane = part * LANES;
    REAL *r = job->r + NAME(first)(at, 1);
    WIDE *a = visit->a, *b = visit->b, found = WIDE_(positive)(visit->y - visit->step);
    WIDE change = found - visit->y, to_a = a[3] * change, to_b = b[3] * change;
    for (int i = 0; i < 3; i++) {
        WIDE n = WIDE_(load)(batch->n[i] + lane);
        a[i] += to_a * n;
        b[i] -= to_b * n;
    }
    WIDE_(store)(job->previous + NAME(first)(at, 1), visit->point);
    WIDE_(store)(r, found);
    WIDE_(scatter)(job->v, batch->a + lane, 4, a);
    WIDE_(scatter)(job->v, batch->b + lane, 4, b);
    notes->change2[part] += visit->w * visit->w * change * change;
    notes->uphill[part] -= change * (found - visit->point);
}

/* ---- passes --------------------------------------------------------------------------------- */

/* One visit. The next begins before it ends, so that its loads and shuffles fill the time in which
 * this one waits for roots and quotients: they share no body, see batch.c. */
CAIRN_WIDE void NAME(turn)(const JOB *job, int at, NAME(visit) * now, NAME(visit) * next,
                           NAME(notes) * notes)
{
    NAME(impulse) found = NAME(solve)(job, at, now);
    NAME(begin)(job, at + 1, next);
    NAME(end)(job, at, now, found, notes);
}

CAIRN_WIDE void NAME(turn_smooth)(const JOB *job, int at, NAME(smooth_visit) * now,
                                  NAME(smooth_visit) * next, NAME(notes) * notes)
{
    NAME(begin_smooth)(job, at + 1, next);
    NAME(end_smooth)(job, at, now, notes);
}

/* What lanes have noticed goes to the sum, in the order of the lanes. */
CAIRN_WIDE void NAME(collect)(const NAME(notes) * notes, cairn_sweep *out)
{
    for (int i = 0; i < CAIRN_BATCH; i++) {
        out->change2 += notes->change2[i / LANES][i % LANES];
        out->uphill += notes->uphill[i / LANES][i % LANES];
    }
}

/* Visits whose lanes are summed before they are collected: those of 32 batches. */
enum { NAME(STRETCH) = 32 * NAME(VISITS) };

CAIRN_WIDE void NAME(pass)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    NAME(visit) one, two;
    NAME(begin)(job, begin, &one);
    for (int start = begin; start < end; start += NAME(STRETCH)) {
        int stop = start + NAME(STRETCH) < end ? start + NAME(STRETCH) : end;
        NAME(notes) notes = { 0 };
        for (int at = start; at < stop; at += 2) {
            NAME(turn)(job, at, &one, &two, &notes);
            NAME(turn)(job, at + 1, &two, &one, &notes);
        }
        NAME(collect)(&notes, out);
    }
}

CAIRN_WIDE void NAME(pass_smooth)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    NAME(smooth_visit) one, two;
    NAME(begin_smooth)(job, begin, &one);
    for (int start = begin; start < end; start += NAME(STRETCH)) {
        int stop = start + NAME(STRETCH) < end ? start + NAME(STRETCH) : end;
        NAME(notes) notes = { 0 };
        for (int at = start; at < stop; at += 2) {
            NAME(turn_smooth)(job, at, &one, &two, &notes);
            NAME(turn_smooth)(job, at + 1, &two, &one, &notes);
        }
        NAME(collect)(&notes, out);
    }
}

#include "backend/batch_measure.h"

/* v and y by the impulses of the batches alone, on top of what the records hold. */
CAIRN_WIDE void NAME(add_impulses)(const JOB *job, int k, int lane)
{
    const BATCH *batch = &job->batches[k];
    const REAL *r = job->r + (size_t)k * 3 * CAIRN_BATCH + lane;
    NAME(bodies) s;
    WIDE_(gather)(job->v, batch->a + lane, 8, s.a);
    WIDE_(gather)(job->v, batch->b + lane, 8, s.b);
    NAME(push)(&s, NAME(load3)(batch->n[0] + lane), NAME(load3)(r));
    WIDE_(scatter)(job->v, batch->a + lane, 8, s.a);
    WIDE_(scatter)(job->v, batch->b + lane, 8, s.b);
}

CAIRN_WIDE void NAME(add_smooth)(const JOB *job, int k, int lane)
{
    const BATCH *batch = &job->batches[k];
    WIDE r = WIDE_(load)(job->r + (size_t)k * CAIRN_BATCH + lane), a[4], b[4];
    WIDE_(gather)(job->v, batch->a + lane, 4, a);
    WIDE_(gather)(job->v, batch->b + lane, 4, b);
    for (int i = 0; i < 3; i++) {
        WIDE along = r * WIDE_(load)(batch->n[i] + lane);
        a[i] += a[3] * along;
        b[i] -= b[3] * along;
    }
    WIDE_(scatter)(job->v, batch->a + lane, 4, a);
    WIDE_(scatter)(job->v, batch->b + lane, 4, b);
}

CAIRN_WIDE void NAME(accumulate)(const JOB *job, int begin, int end)
{
    for (int k = begin; k < end; k++)
        for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
            if (job->mu)
                NAME(add_impulses)(job, k, lane);
            else
                NAME(add_smooth)(job, k, lane);
}

/* One of the passes over a range of batches. */
CAIRN_WIDE void NAME(work)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    if (!out)
        NAME(accumulate)(job, begin, end);
    else if (job->measures)
        NAME(measure)(job, begin * NAME(VISITS), end * NAME(VISITS), out);
    else if (begin < end && job->mu)
        NAME(pass)(job, begin * NAME(VISITS), end * NAME(VISITS), out);
    else if (begin < end)
        NAME(pass_smooth)(job, begin * NAME(VISITS), end * NAME(VISITS), out);
}

#undef WIDE
#undef TARGET
#undef MASK
#undef LANES
#undef NAME
#undef WIDE_
