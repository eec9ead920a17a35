/* judge_balls.h - contacts judged side by side; the text, for one type of register.
 * Included by judge_balls.c with WIDE, MASK, LANES, NAME(name) and WIDE_(name) set.
 *
 * As residual.c does it, with w r for r: w |r - P(r - u/w)| = |w r - P(w r - u)| on a cone, and the
 * conditions of a contact, e_N and e_T, as they stand there. */

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

/* ---- velocities of contacts of balls -------------------------------------------------------- */

CAIRN_WIDE void NAME(store3)(double to[3][CAIRN_JUDGED], int lane, NAME(vector) x)
{
    WIDE_(store)(to[0] + lane, x.x);
    WIDE_(store)(to[1] + lane, x.y);
    WIDE_(store)(to[2] + lane, x.z);
}

/* u = va - vb + n x (Ra wa + Rb wb) + w in the frame of the contact, without the bias, and the
 * squares of its terms, with it. */
CAIRN_WIDE NAME(vector)
    NAME(relative)(const balls *in, const sides *of, WIDE bias, int lane, WIDE *terms2)
{
    NAME(vector) n = NAME(load3)(in->n, lane), t = NAME(load3)(in->t, lane);
    WIDE Ra = WIDE_(load)(in->radius[0] + lane), Rb = WIDE_(load)(in->radius[1] + lane);
    NAME(vector) va = NAME(load3)(of->v[0], lane), vb = NAME(load3)(of->v[1], lane);
    NAME(vector) wa = NAME(load3)(of->w[0], lane), wb = NAME(load3)(of->w[1], lane);
    const NAME(vector) y = { Ra * wa.x + Rb * wb.x, Ra * wa.y + Rb * wb.y, Ra * wa.z + Rb * wb.z };
    NAME(vector) s = NAME(cross)(n, y), out, imposed = NAME(load3)(in->w, lane);
    s.x += va.x - vb.x;
    s.y += va.y - vb.y;
    s.z += va.z - vb.z;
    out.x = NAME(dot)(n, s) + imposed.x;
    out.y = NAME(dot)(t, s) + imposed.y;
    out.z = NAME(dot)(NAME(cross)(n, t), s) + imposed.z;
    *terms2 = NAME(dot)(va, va) + NAME(dot)(vb, vb) + Ra * Ra * NAME(dot)(wa, wa) +
              Rb * Rb * NAME(dot)(wb, wb) + bias * bias;
    return out;
}

CAIRN_WIDE void NAME(find_velocities)(const balls *in, bool measures, int lane, group *out)
{
    WIDE terms2, bias = WIDE_(load)(out->bias + lane);
    NAME(store3)(out->u, lane, NAME(relative)(in, &in->now, bias, lane, &terms2));
    WIDE_(store)(out->terms2 + lane, terms2);
    if (!measures)
        return;
    NAME(store3)(out->q, lane, NAME(relative)(in, &in->free, bias, lane, &terms2));
    WIDE_(store)(out->free_terms2 + lane, terms2);
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* A contact's law and impulse. */
typedef struct NAME(contact) {
    NAME(vector) r;
    WIDE mu, bias, shift, w;
    WIDE part;   /* 1/(1 + mu^2)         */
    WIDE number; /* of the contact       */
    int at;      /* where its sums are   */
    int d;       /* dimension            */
} NAME(contact);

CAIRN_WIDE NAME(contact) NAME(contact_of)(const group *in, int d, int lane)
{
    NAME(contact) c = { .r = NAME(load3)(in->r, lane), .at = lane / LANES, .d = d };
    c.w = WIDE_(load)(in->inverse_mass + lane);
    c.shift = WIDE_(load)(in->shift + lane);
    c.number = WIDE_(load)(in->number + lane);
    c.mu = WIDE_(load)(in->mu + lane);
    c.bias = WIDE_(load)(in->bias + lane);
    c.part = 1 / (1 + c.mu * c.mu);
    return c;
}

/* |y_T| */
CAIRN_WIDE WIDE NAME(tangential)(const NAME(contact) * c, NAME(vector) y)
{
    if (c->d == 2)
        return WIDE_(choose)(y.y < WIDE_(spread)(0), -y.y, y.y);
    return WIDE_(root)(y.y * y.y + y.z * y.z);
}

/* |r - P_K(y)|^2 */
CAIRN_WIDE WIDE NAME(map2)(const NAME(contact) * c, NAME(vector) r, NAME(vector) y)
{
    const WIDE zero = WIDE_(spread)(0), tiny = WIDE_(spread)(1e-300);
    WIDE T = NAME(tangential)(c, y);
    MASK inside = T <= c->mu * y.x; /* or mu = T = 0: then y.x may be negative */
    WIDE along = y.x + c->mu * T;
    WIDE normal = WIDE_(choose)(along > zero, along * c->part, zero);
    WIDE scale = WIDE_(choose)(inside, WIDE_(spread)(1), c->mu * normal / (T + tiny));
    normal = WIDE_(choose)(inside, WIDE_(choose)(y.x > zero, y.x, zero), normal);
    const NAME(vector) off = { r.x - normal, r.y - scale * y.y, r.z - scale * y.z };
    return NAME(dot)(off, off);
}

CAIRN_WIDE void NAME(add_errors)(const NAME(contact) * c, WIDE e2, WIDE fclib2, NAME(law) * sums)
{
    MASK worse = ~(e2 <= sums->worst2[c->at]); /* NaN is */
    sums->e2[c->at] += e2;
    sums->fclib2[c->at] += fclib2;
    sums->worst2[c->at] = WIDE_(choose)(worse, e2, sums->worst2[c->at]);
    sums->where[c->at] = WIDE_(choose)(worse, c->number, sums->where[c->at]);
}

CAIRN_WIDE WIDE NAME(larger)(WIDE a, WIDE b)
{
    return WIDE_(choose)(b > a, b, a); /* a NaN in a stays */
}

/* e_T^2 = |x_T - P_D(x_T - u_T)|^2, x = w r, D the disk of radius mu max(x_N, 0) */
CAIRN_WIDE WIDE NAME(friction2)(const NAME(contact) * c, NAME(vector) x, NAME(vector) u)
{
    const WIDE zero = WIDE_(spread)(0), one = WIDE_(spread)(1), tiny = WIDE_(spread)(1e-300);
    const NAME(vector) y = { zero, x.y - u.y, x.z - u.z };
    WIDE T = NAME(tangential)(c, y), bound = c->mu * NAME(larger)(zero, x.x);
    WIDE scale = WIDE_(choose)(T <= bound, one, bound / (T + tiny));
    const NAME(vector) off = { zero, x.y - scale * y.y, x.z - scale * y.z };
    return NAME(dot)(off, off);
}

/* min(x, y), rounded as in x - P(x - y) */
CAIRN_WIDE WIDE NAME(least_of)(WIDE x, WIDE y)
{
    return x - NAME(larger)(WIDE_(spread)(0), x - y);
}

/* e_N^2, x = w r_N: of a contact that opens at speed o under its law, and at u_N with the bias */
CAIRN_WIDE WIDE NAME(signorini2)(WIDE x, WIDE o, WIDE u_N)
{
    const WIDE zero = WIDE_(spread)(0);
    WIDE both = NAME(least_of)(x, o), approach = NAME(least_of)(x, NAME(larger)(u_N, o));
    WIDE e = WIDE_(choose)(both > zero, both, WIDE_(choose)(approach < zero, approach, zero));
    return e * e;
}

/* One law: u carries bias and shift; apart2 is what its conditions come to, each by itself. */
CAIRN_WIDE void NAME(add_law)(const NAME(contact) * c, NAME(vector) u, WIDE apart2,
                              NAME(law) * sums)
{
    NAME(vector) r = c->r, wr = { c->w * r.x, c->w * r.y, c->w * r.z };
    const NAME(vector) strict = { wr.x - u.x, wr.y - u.y, wr.z - u.z };
    const NAME(vector) plain = { r.x - u.x, r.y - u.y, r.z - u.z };
    NAME(add_errors)
    (c, NAME(larger)(NAME(map2)(c, wr, strict), apart2), NAME(map2)(c, r, plain), sums);
}

/* Both laws; u carries the bias. */
CAIRN_WIDE void NAME(add_laws)(const NAME(contact) * c, NAME(vector) u, NAME(sums) * sums)
{
    NAME(vector) x = { c->w * c->r.x, c->w * c->r.y, c->w * c->r.z }, shifted = u;
    WIDE slide = c->mu * NAME(tangential)(c, u), friction2 = NAME(friction2)(c, x, u);
    shifted.x = u.x + c->shift;
    WIDE normal2 = NAME(signorini2)(x.x, shifted.x - slide, u.x);
    NAME(add_law)(c, shifted, NAME(larger)(normal2, friction2), &sums->convex);
    shifted.x = u.x + slide;
    normal2 = NAME(signorini2)(x.x, u.x, u.x);
    NAME(add_law)(c, shifted, NAME(larger)(normal2, friction2), &sums->coulomb);
}

/* q without impulses: the norms. */
CAIRN_WIDE void NAME(measure)(const NAME(contact) * c, const group *in, int lane, NAME(sums) * sums)
{
    const WIDE zero = WIDE_(spread)(0);
    const NAME(vector) nothing = { zero, zero, zero };
    NAME(vector) q = NAME(load3)(in->q, lane);
    q.x += c->bias;
    WIDE q2 = NAME(dot)(q, q);
    sums->plain[FREE_TERMS2][c->at] += WIDE_(load)(in->free_terms2 + lane);
    sums->plain[Q2][c->at] += q2;
    sums->plain[COULOMB2][c->at] += WIDE_(choose)(q.x < zero, q2, zero);
    q.x += c->shift;
    const NAME(vector) back = { -q.x, -q.y, -q.z };
    sums->plain[CONVEX2][c->at] +=
        WIDE_(choose)(q.x < zero, NAME(dot)(q, q), NAME(map2)(c, nothing, back));
}

/* What does not depend on a law; u carries the bias. */
CAIRN_WIDE void NAME(add_plain)(const NAME(contact) * c, const group *in, int lane, NAME(vector) u,
                                NAME(sums) * sums)
{
    WIDE r2 = NAME(dot)(c->r, c->r);
    sums->plain[TERMS2][c->at] += WIDE_(load)(in->terms2 + lane);
    sums->plain[R2][c->at] += r2;
    sums->plain[U2][c->at] += NAME(dot)(u, u);
    sums->plain[WEIGHED2][c->at] += c->w * c->w * r2;
}

CAIRN_WIDE void NAME(add_off_cone)(int at, WIDE off, NAME(sums) * sums)
{
    sums->off_cone2[at] = WIDE_(choose)(off > sums->off_cone2[at], off, sums->off_cone2[at]);
}

CAIRN_WIDE void NAME(judge_lanes)(const group *in, int d, int lane, bool measures,
                                  NAME(sums) * sums)
{
    NAME(contact) c = NAME(contact_of)(in, d, lane);
    NAME(vector) u = NAME(load3)(in->u, lane);
    u.x += c.bias;
    NAME(add_plain)(&c, in, lane, u, sums);
    NAME(add_laws)(&c, u, sums);
    NAME(add_off_cone)(c.at, NAME(map2)(&c, c.r, c.r), sums);
    if (measures)
        NAME(measure)(&c, in, lane, sums);
}

/* ---- without friction ----------------------------------------------------------------------- */

/* Both laws are one, and K is a ray: the same bits as above, without roots and quotients. */

/* |r - P_K(y)|^2 = (r_N - max(0, y_N))^2 + |r_T|^2; NaN stays NaN */
CAIRN_WIDE WIDE NAME(ray2)(NAME(vector) r, WIDE y)
{
    const WIDE zero = WIDE_(spread)(0);
    const NAME(vector) off = { r.x - WIDE_(choose)(y <= zero, zero, y), r.y, r.z };
    return NAME(dot)(off, off);
}

CAIRN_WIDE void NAME(measure_smooth)(const NAME(contact) * c, const group *in, int lane,
                                     NAME(sums) * sums)
{
    const WIDE zero = WIDE_(spread)(0);
    NAME(vector) q = NAME(load3)(in->q, lane);
    q.x += c->bias;
    WIDE q2 = NAME(dot)(q, q), closing2 = WIDE_(choose)(q.x < zero, q2, zero);
    sums->plain[FREE_TERMS2][c->at] += WIDE_(load)(in->free_terms2 + lane);
    sums->plain[Q2][c->at] += q2;
    sums->plain[COULOMB2][c->at] += closing2;
    sums->plain[CONVEX2][c->at] += closing2;
}

CAIRN_WIDE void NAME(judge_smooth)(const group *in, int d, int lane, bool measures,
                                   NAME(sums) * sums)
{
    NAME(contact) c = NAME(contact_of)(in, d, lane);
    NAME(vector) u = NAME(load3)(in->u, lane), r = c.r, wr = { c.w * r.x, c.w * r.y, c.w * r.z };
    u.x += c.bias;
    NAME(add_plain)(&c, in, lane, u, sums);
    WIDE e2 = NAME(ray2)(wr, wr.x - u.x), fclib2 = NAME(ray2)(r, r.x - u.x);
    NAME(add_errors)(&c, e2, fclib2, &sums->convex);
    NAME(add_errors)(&c, e2, fclib2, &sums->coulomb);
    NAME(add_off_cone)(c.at, NAME(ray2)(r, r.x), sums);
    if (measures)
        NAME(measure_smooth)(&c, in, lane, sums);
}

CAIRN_WIDE void NAME(judge_group)(const group *in, int d, bool measures, NAME(sums) * sums)
{
    for (int lane = 0; lane < CAIRN_JUDGED; lane += LANES)
        if (in->slides)
            NAME(judge_lanes)(in, d, lane, measures, sums);
        else
            NAME(judge_smooth)(in, d, lane, measures, sums);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* What the lanes came to, in their order. */
CAIRN_WIDE void NAME(collect_law)(const NAME(law) * from, law_lanes *to)
{
    memcpy(to->e2, from->e2, sizeof to->e2);
    memcpy(to->fclib2, from->fclib2, sizeof to->fclib2);
    memcpy(to->worst2, from->worst2, sizeof to->worst2);
    memcpy(to->where, from->where, sizeof to->where);
}

CAIRN_WIDE void NAME(collect)(const NAME(sums) * sums, lanes *out)
{
    NAME(collect_law)(&sums->convex, &out->convex);
    NAME(collect_law)(&sums->coulomb, &out->coulomb);
    memcpy(out->plain, sums->plain, sizeof out->plain);
    memcpy(out->off_cone2, sums->off_cone2, sizeof out->off_cone2);
}

/* Whole groups from begin on; returns where the next one would begin. */
CAIRN_WIDE int NAME(judge_balls)(cairn_judging *judge, int begin, int end, lanes *out)
{
    NAME(sums) sums = { 0 };
    int j = begin;
    for (; j + CAIRN_JUDGED <= end; j += CAIRN_JUDGED) {
        balls in;
        group now;
        load_balls(judge, j, &in, &now);
        for (int lane = 0; lane < CAIRN_JUDGED; lane += LANES)
            NAME(find_velocities)(&in, judge->measures, lane, &now);
        unload(&now, 3, judge->u + 3 * (size_t)j);
        NAME(judge_group)(&now, 3, judge->measures, &sums);
    }
    NAME(collect)(&sums, out);
    return j;
}

/* Likewise of contacts whose rows are stored. */
CAIRN_WIDE int NAME(judge_rows)(cairn_judging *judge, int d, int n, int begin, int end, lanes *out)
{
    NAME(sums) sums = { 0 };
    int j = begin;
    for (; j + CAIRN_JUDGED <= end; j += CAIRN_JUDGED) {
        group now;
        load_rows(judge, d, n, j, &now);
        unload(&now, d, judge->u + (size_t)d * (size_t)j);
        NAME(judge_group)(&now, d, judge->measures, &sums);
    }
    NAME(collect)(&sums, out);
    return j;
}

#undef WIDE
#undef TARGET
#undef MASK
#undef LANES
#undef NAME
#undef WIDE_
