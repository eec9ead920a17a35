/* batch_measure.h - the judge's residual in the numbers of a sweep, contact by contact; the text,
 * for one type of register. Included by batch_sweep.h.
 *
 * With x = w r for r, as problem/judge_balls.h has it: the larger of |x - P(x - u^)| and of the
 * conditions e_N and e_T of problem/residual.c. Of the convex law u_N + b is taken for s = 0; with
 * another s the judge may find a little more. */

CAIRN_WIDE WIDE NAME(larger)(WIDE a, WIDE b)
{
    return WIDE_(choose)(b > a, b, a);
}

/* e_N^2 of a contact that opens at speed o under its law, and at u_N with the bias */
CAIRN_WIDE WIDE NAME(signorini2)(WIDE x, WIDE o, WIDE u_N)
{
    WIDE both = x - WIDE_(positive)(x - o), approach = x - WIDE_(positive)(x - u_N);
    WIDE e = NAME(larger)(WIDE_(positive)(both), WIDE_(positive)(-approach));
    return e * e;
}

/* e_T^2, by x along n and across it */
CAIRN_WIDE WIDE NAME(friction2)(WIDE mu, WIDE along, NAME(impulse) across, NAME(impulse) sliding)
{
    const WIDE one = WIDE_(spread)(1), tiny = WIDE_(spread)(TINY);
    NAME(impulse) y = NAME(add)(across, -one, sliding);
    WIDE T = WIDE_(root)(NAME(dot)(y, y)), bound = mu * WIDE_(positive)(along);
    NAME(impulse) off = NAME(add)(across, -WIDE_(choose)(T <= bound, one, bound / (T + tiny)), y);
    return NAME(dot)(off, off);
}

/* |x - P_K(x - u)|^2, K the cone of mu about n; u by its part along n and the rest. */
CAIRN_WIDE WIDE NAME(map2)(NAME(impulse) n, WIDE mu, NAME(impulse) x, WIDE u, NAME(impulse) sliding)
{
    const WIDE one = WIDE_(spread)(1), tiny = WIDE_(spread)(TINY);
    WIDE along = NAME(dot)(x, n), y = along - u;
    NAME(impulse) rest = NAME(add)(x, -along, n), across = NAME(add)(rest, -one, sliding);
    WIDE T = WIDE_(root)(NAME(dot)(across, across));
    MASK inside = T <= mu * y; /* or mu = T = 0: then y may be negative */
    WIDE on_side = WIDE_(positive)(y + mu * T) / (one + mu * mu);
    WIDE normal = WIDE_(choose)(inside, WIDE_(positive)(y), on_side);
    WIDE scale = WIDE_(choose)(inside, one, mu * on_side / (T + tiny));
    NAME(impulse) off = NAME(add)(rest, -scale, across);
    return (along - normal) * (along - normal) + NAME(dot)(off, off);
}

CAIRN_WIDE WIDE NAME(error2)(const JOB *job, int at)
{
    const BATCH *batch = NAME(batch)(job, at);
    int lane = at % NAME(VISITS) * LANES;
    NAME(bodies) s;
    WIDE_(gather)(job->v, batch->a + lane, 8, s.a);
    WIDE_(gather)(job->v, batch->b + lane, 8, s.b);
    NAME(impulse) n = NAME(load3)(batch->n[0] + lane), u = NAME(relative)(&s, n);
    NAME(impulse) r = NAME(load3)(job->r + NAME(first)(at, 3));
    WIDE mu = WIDE_(load)(job->mu + NAME(first)(at, 1)), along = NAME(dot)(u, n);
    NAME(impulse) sliding = NAME(add)(u, -along, n);
    along += WIDE_(load)(batch->shift + lane);
    WIDE lift = mu * WIDE_(root)(NAME(dot)(sliding, sliding));
    WIDE w = s.a[6] + s.b[6] + (s.a[7] + s.b[7]) * WIDE_(spread)((REAL)(2.0 / 3));
    r.x *= w;
    r.y *= w;
    r.z *= w;
    WIDE x = NAME(dot)(r, n);
    WIDE friction2 = NAME(friction2)(mu, x, NAME(add)(r, -x, n), sliding);
    WIDE normal2 = NAME(signorini2)(x, job->convex ? along - lift : along, along);
    WIDE map2 = NAME(map2)(n, mu, r, job->convex ? along : along + lift, sliding);
    return NAME(larger)(map2, NAME(larger)(normal2, friction2));
}

/* Without friction: |w r - max(0, w r - u)|^2 = min(w r, u)^2, with w_N for w: the judge finds a
 * little more where a contact opens with hardly any impulse left. */
CAIRN_WIDE WIDE NAME(error2_smooth)(const JOB *job, int at)
{
    NAME(smooth_visit) visit;
    NAME(begin_smooth)(job, at, &visit);
    WIDE wr = visit.w * WIDE_(load)(job->r + NAME(first)(at, 1));
    WIDE off = wr - WIDE_(positive)(wr - visit.w * visit.step);
    return off * off;
}

CAIRN_WIDE void NAME(measure)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    for (int start = begin; start < end; start += NAME(STRETCH)) {
        int stop = start + NAME(STRETCH) < end ? start + NAME(STRETCH) : end;
        NAME(notes) notes = { 0 };
        for (int at = start; at < stop; at++)
            notes.change2[at % NAME(VISITS)] +=
                job->mu ? NAME(error2)(job, at) : NAME(error2_smooth)(job, at);
        NAME(collect)(&notes, out);
    }
}
