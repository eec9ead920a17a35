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

/* The exact solution of each lane's own contact: q = u - W y + b n without its impulse.
 * Stick: r = -q/w. Slide: on the cone, see problem/local.h. */
CAIRN_WIDE NAME(impulse)
    NAME(solve)(NAME(impulse) q, NAME(impulse) n, WIDE wn, WIDE wt, WIDE mu, int convex)
{
    const WIDE zero = WIDE_(spread)(0), tiny = WIDE_(spread)(TINY);
    WIDE q_normal = NAME(dot)(q, n);
    NAME(impulse) q_sliding = NAME(add)(q, -q_normal, n);
    WIDE speed = WIDE_(root)(NAME(dot)(q_sliding, q_sliding));
    WIDE normal = -q_normal / wn;
    normal = WIDE_(choose)(normal > zero, normal, zero);
    MASK sticks = speed <= mu * normal * wt;
    WIDE slid = normal;
    if (convex) {
        slid = (mu * speed - q_normal) / (wn + mu * mu * wt);
        slid = WIDE_(choose)(slid > zero, slid, zero);
    }
    WIDE pull = WIDE_(choose)(sticks, 1 / wt, mu * slid / (speed + tiny));
    normal = WIDE_(choose)(sticks, normal, slid);
    NAME(impulse) r = { normal * n.x, normal * n.y, normal * n.z };
    return NAME(add)(r, -pull, q_sliding);
}

/* One group of LANES contacts of a batch. */
CAIRN_WIDE void NAME(visit)(const JOB *job, int k, int lane, NAME(notes) * notes)
{
    const BATCH *batch = &job->batches[k];
    size_t first = (size_t)k * 3 * CAIRN_BATCH;
    REAL *r = job->r + first, *previous = job->previous + first;
    const WIDE beta = WIDE_(spread)((REAL)job->beta);
    NAME(bodies) s;
    NAME(impulse) n = NAME(load3)(batch->n[0] + lane);
    WIDE_(gather)(job->v, batch->a + lane, 8, s.a);
    WIDE_(gather)(job->v, batch->b + lane, 8, s.b);
    /* (1) y = r + beta (r - r_previous) */
    NAME(impulse) old = NAME(load3)(r + lane), before = NAME(load3)(previous + lane), y = old;
    NAME(store3)(previous + lane, old);
    y.x += beta * (old.x - before.x);
    y.y += beta * (old.y - before.y);
    y.z += beta * (old.z - before.z);
    /* (2) q = u - W y + b n, and its exact solution */
    WIDE wn = s.a[6] + s.b[6], wt = wn + (s.a[7] + s.b[7]);
    WIDE mu = WIDE_(load)(job->mu + (size_t)k * CAIRN_BATCH + lane);
    NAME(impulse) q = NAME(relative)(&s, n);
    WIDE along = NAME(dot)(y, n);
    q = NAME(add)(q, -wt, y);
    q = NAME(add)(q, (wt - wn) * along + WIDE_(load)(batch->shift + lane), n);
    NAME(impulse) found = NAME(solve)(q, n, wn, wt, mu, job->convex);
    NAME(store3)(r + lane, found);
    /* (3) pass the change on, note its size and whether momentum points uphill */
    NAME(impulse) change = { found.x - y.x, found.y - y.y, found.z - y.z };
    NAME(impulse) progress = { found.x - old.x, found.y - old.y, found.z - old.z };
    NAME(push)(&s, n, change);
    WIDE_(scatter)(job->v, batch->a + lane, 8, s.a);
    WIDE_(scatter)(job->v, batch->b + lane, 8, s.b);
    WIDE w = (wn + 2 * wt) * WIDE_(spread)((REAL)(1.0 / 3));
    notes->change2[lane / LANES] += w * w * NAME(dot)(change, change);
    notes->uphill[lane / LANES] -= NAME(dot)(change, progress);
}

/* The same without friction: r >= 0, u_N = n.(va - vb). */
CAIRN_WIDE void NAME(visit_smooth)(const JOB *job, int k, int lane, NAME(notes) * notes)
{
    const BATCH *batch = &job->batches[k];
    const WIDE beta = WIDE_(spread)((REAL)job->beta), zero = WIDE_(spread)(0);
    REAL *r = job->r + (size_t)k * CAIRN_BATCH + lane;
    REAL *previous = job->previous + (size_t)k * CAIRN_BATCH + lane;
    WIDE a[4], b[4];
    NAME(impulse) n = NAME(load3)(batch->n[0] + lane);
    WIDE_(gather)(job->v, batch->a + lane, 4, a);
    WIDE_(gather)(job->v, batch->b + lane, 4, b);
    WIDE old = WIDE_(load)(r), y = old + beta * (old - WIDE_(load)(previous)), w = a[3] + b[3];
    WIDE u = n.x * (a[0] - b[0]) + n.y * (a[1] - b[1]) + n.z * (a[2] - b[2]);
    WIDE found = y - (u + WIDE_(load)(batch->shift + lane)) / w;
    found = WIDE_(choose)(found > zero, found, zero);
    WIDE_(store)(previous, old);
    WIDE_(store)(r, found);
    WIDE change = found - y;
    const WIDE to_a = a[3] * change, to_b = b[3] * change, axis[3] = { n.x, n.y, n.z };
    for (int i = 0; i < 3; i++) {
        a[i] += to_a * axis[i];
        b[i] -= to_b * axis[i];
    }
    WIDE_(scatter)(job->v, batch->a + lane, 4, a);
    WIDE_(scatter)(job->v, batch->b + lane, 4, b);
    notes->change2[lane / LANES] += w * w * change * change;
    notes->uphill[lane / LANES] -= change * (found - old);
}

/* What lanes have noticed goes to the sum, in the order of the lanes. */
CAIRN_WIDE void NAME(collect)(const NAME(notes) * notes, cairn_sweep *out)
{
    for (int i = 0; i < CAIRN_BATCH; i++) {
        out->change2 += notes->change2[i / LANES][i % LANES];
        out->uphill += notes->uphill[i / LANES][i % LANES];
    }
}

enum { NAME(STRETCH) = 32 }; /* batches whose lanes are summed before they are collected */

CAIRN_WIDE void NAME(pass)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    for (int start = begin; start < end; start += NAME(STRETCH)) {
        int stop = start + NAME(STRETCH) < end ? start + NAME(STRETCH) : end;
        NAME(notes) notes = { 0 };
        for (int k = start; k < stop && job->mu; k++)
            for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
                NAME(visit)(job, k, lane, &notes);
        for (int k = start; k < stop && !job->mu; k++)
            for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
                NAME(visit_smooth)(job, k, lane, &notes);
        NAME(collect)(&notes, out);
    }
}

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

/* One of the two passes over a range of batches. */
CAIRN_WIDE void NAME(work)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    if (out)
        NAME(pass)(job, begin, end, out);
    else
        NAME(accumulate)(job, begin, end);
}

#undef WIDE
#undef MASK
#undef LANES
#undef NAME
#undef WIDE_
