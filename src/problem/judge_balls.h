/* judge_balls.h - contacts of balls judged side by side; the text, for one type of register.
 * Included by judge_balls.c with WIDE, MASK, LANES, NAME(name) and WIDE_(name) set.
 *
 * As residual.c does it, with w r for r: w |r - P(r - u/w)| = |w r - P(w r - u)| on a cone. */

typedef struct NAME(vector) {
    WIDE x, y, z;
} NAME(vector);

CAIRN_WIDE WIDE NAME(dot)(NAME(vector) a, NAME(vector) b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

CAIRN_WIDE NAME(vector) NAME(cross)(NAME(vector) a, NAME(vector) b)
{
    return (NAME(vector)){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

CAIRN_WIDE NAME(vector) NAME(load3)(const double from[3][CAIRN_JUDGED], int lane)
{
    return (NAME(vector)){ WIDE_(load)(from[0] + lane), WIDE_(load)(from[1] + lane),
                           WIDE_(load)(from[2] + lane) };
}

/* Sums, lane by lane of a group: the same for every width. */
typedef struct NAME(law) {
    WIDE e2[CAIRN_JUDGED / LANES], fclib2[CAIRN_JUDGED / LANES];
    WIDE worst2[CAIRN_JUDGED / LANES], where[CAIRN_JUDGED / LANES];
} NAME(law);

typedef struct NAME(sums) {
    NAME(law) convex, coulomb;
    WIDE plain[PLAIN_SUMS][CAIRN_JUDGED / LANES];
    WIDE off_cone2[CAIRN_JUDGED / LANES];
} NAME(sums);

/* The frame of a contact, its law, its impulse, and what its balls are. */
typedef struct NAME(contact) {
    NAME(vector) n, t, across, r;
    WIDE mu, bias, shift, Ra, Rb, w;
    WIDE part;   /* 1/(1 + mu^2)         */
    WIDE number; /* of the contact       */
    int at;      /* where its sums are   */
} NAME(contact);

CAIRN_WIDE NAME(contact) NAME(contact_of)(const loaded *in, int lane)
{
    NAME(contact) c = { .n = NAME(load3)(in->n, lane), .t = NAME(load3)(in->t, lane) };
    c.r = NAME(load3)(in->r, lane);
    c.w = WIDE_(load)(in->inverse_mass + lane);
    c.shift = WIDE_(load)(in->shift + lane);
    c.number = WIDE_(load)(in->number + lane);
    c.at = lane / LANES;
    c.across = NAME(cross)(c.n, c.t);
    c.mu = WIDE_(load)(in->mu + lane);
    c.bias = WIDE_(load)(in->bias + lane);
    c.Ra = WIDE_(load)(in->radius[0] + lane);
    c.Rb = WIDE_(load)(in->radius[1] + lane);
    c.part = 1 / (1 + c.mu * c.mu);
    return c;
}

/* u = va - vb + n x (Ra wa + Rb wb) + w in the frame of the contact, without the bias, and the
 * squares of its terms, with it. */
CAIRN_WIDE NAME(vector) NAME(relative)(const NAME(contact) * c, const loaded *in, const sides *of,
                                       int lane, WIDE *terms2)
{
    NAME(vector) va = NAME(load3)(of->v[0], lane), vb = NAME(load3)(of->v[1], lane);
    NAME(vector) wa = NAME(load3)(of->w[0], lane), wb = NAME(load3)(of->w[1], lane);
    const NAME(vector) y = { c->Ra * wa.x + c->Rb * wb.x, c->Ra * wa.y + c->Rb * wb.y,
                             c->Ra * wa.z + c->Rb * wb.z };
    NAME(vector) s = NAME(cross)(c->n, y), out, imposed = NAME(load3)(in->w, lane);
    s.x += va.x - vb.x;
    s.y += va.y - vb.y;
    s.z += va.z - vb.z;
    out.x = NAME(dot)(c->n, s) + imposed.x;
    out.y = NAME(dot)(c->t, s) + imposed.y;
    out.z = NAME(dot)(c->across, s) + imposed.z;
    *terms2 = NAME(dot)(va, va) + NAME(dot)(vb, vb) + c->Ra * c->Ra * NAME(dot)(wa, wa) +
              c->Rb * c->Rb * NAME(dot)(wb, wb) + c->bias * c->bias;
    return out;
}

/* |r - P_K(y)|^2 */
CAIRN_WIDE WIDE NAME(map2)(const NAME(contact) * c, NAME(vector) r, NAME(vector) y)
{
    const WIDE zero = WIDE_(spread)(0), tiny = WIDE_(spread)(1e-300);
    WIDE T = WIDE_(root)(y.y * y.y + y.z * y.z);
    MASK inside = T <= c->mu * y.x; /* or mu = T = 0: then y.x may be negative */
    WIDE along = y.x + c->mu * T;
    WIDE normal = WIDE_(choose)(along > zero, along * c->part, zero);
    WIDE scale = WIDE_(choose)(inside, WIDE_(spread)(1), c->mu * normal / (T + tiny));
    normal = WIDE_(choose)(inside, WIDE_(choose)(y.x > zero, y.x, zero), normal);
    const NAME(vector) off = { r.x - normal, r.y - scale * y.y, r.z - scale * y.z };
    return NAME(dot)(off, off);
}

/* One law: u carries bias and shift. */
CAIRN_WIDE void NAME(add_law)(const NAME(contact) * c, NAME(vector) u, NAME(law) * sums)
{
    NAME(vector) r = c->r, wr = { c->w * r.x, c->w * r.y, c->w * r.z };
    const NAME(vector) strict = { wr.x - u.x, wr.y - u.y, wr.z - u.z };
    const NAME(vector) plain = { r.x - u.x, r.y - u.y, r.z - u.z };
    WIDE e2 = NAME(map2)(c, wr, strict);
    MASK worse = ~(e2 <= sums->worst2[c->at]); /* NaN is */
    sums->e2[c->at] += e2;
    sums->fclib2[c->at] += NAME(map2)(c, r, plain);
    sums->worst2[c->at] = WIDE_(choose)(worse, e2, sums->worst2[c->at]);
    sums->where[c->at] = WIDE_(choose)(worse, c->number, sums->where[c->at]);
}

/* q without impulses: the norms. */
CAIRN_WIDE void NAME(measure)(const NAME(contact) * c, const loaded *in, int lane,
                              NAME(sums) * sums)
{
    const WIDE zero = WIDE_(spread)(0);
    const NAME(vector) nothing = { zero, zero, zero };
    WIDE terms2;
    NAME(vector) q = NAME(relative)(c, in, &in->free, lane, &terms2);
    q.x += c->bias;
    WIDE q2 = NAME(dot)(q, q);
    sums->plain[FREE_TERMS2][c->at] += terms2;
    sums->plain[Q2][c->at] += q2;
    sums->plain[COULOMB2][c->at] += WIDE_(choose)(q.x < zero, q2, zero);
    q.x += c->shift;
    const NAME(vector) back = { -q.x, -q.y, -q.z };
    sums->plain[CONVEX2][c->at] +=
        WIDE_(choose)(q.x < zero, NAME(dot)(q, q), NAME(map2)(c, nothing, back));
}

CAIRN_WIDE void NAME(judge_lanes)(loaded *in, int lane, bool measures, NAME(sums) * sums)
{
    NAME(contact) c = NAME(contact_of)(in, lane);
    WIDE terms2;
    NAME(vector) u = NAME(relative)(&c, in, &in->now, lane, &terms2);
    WIDE_(store)(in->u[0] + lane, u.x);
    WIDE_(store)(in->u[1] + lane, u.y);
    WIDE_(store)(in->u[2] + lane, u.z);
    u.x += c.bias;
    WIDE r2 = NAME(dot)(c.r, c.r);
    sums->plain[TERMS2][c.at] += terms2;
    sums->plain[R2][c.at] += r2;
    sums->plain[U2][c.at] += NAME(dot)(u, u);
    sums->plain[WEIGHED2][c.at] += c.w * c.w * r2;
    NAME(vector) shifted = u;
    shifted.x += c.shift;
    NAME(add_law)(&c, shifted, &sums->convex);
    shifted.x = u.x + c.mu * WIDE_(root)(u.y * u.y + u.z * u.z);
    NAME(add_law)(&c, shifted, &sums->coulomb);
    WIDE off = NAME(map2)(&c, c.r, c.r);
    sums->off_cone2[c.at] = WIDE_(choose)(off > sums->off_cone2[c.at], off, sums->off_cone2[c.at]);
    if (measures)
        NAME(measure)(&c, in, lane, sums);
}

/* What the lanes came to, in their order. */
CAIRN_WIDE void NAME(collect_law)(const NAME(law) * from, law_lanes *to)
{
    memcpy(to->e2, from->e2, sizeof to->e2);
    memcpy(to->fclib2, from->fclib2, sizeof to->fclib2);
    memcpy(to->worst2, from->worst2, sizeof to->worst2);
    memcpy(to->where, from->where, sizeof to->where);
}

/* Whole groups from begin on; returns where the next one would begin. */
CAIRN_WIDE int NAME(judge_groups)(cairn_judging *judge, int begin, int end, lanes *out)
{
    NAME(sums) sums = { 0 };
    int j = begin;
    for (; j + CAIRN_JUDGED <= end; j += CAIRN_JUDGED) {
        loaded in;
        load(judge, j, &in);
        for (int lane = 0; lane < CAIRN_JUDGED; lane += LANES)
            NAME(judge_lanes)(&in, lane, judge->measures, &sums);
        unload(&in, judge->u + 3 * (size_t)j);
    }
    NAME(collect_law)(&sums.convex, &out->convex);
    NAME(collect_law)(&sums.coulomb, &out->coulomb);
    memcpy(out->plain, sums.plain, sizeof out->plain);
    memcpy(out->off_cone2, sums.off_cone2, sizeof out->off_cone2);
    return j;
}

#undef WIDE
#undef MASK
#undef LANES
#undef NAME
#undef WIDE_
