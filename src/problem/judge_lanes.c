/* judge_lanes.c - contacts with circular cones judged side by side, of balls or of any bodies: a
 * unit, compiled once for each register width (src/units.cmake), with SIMD.
 *
 * The formulas are those of residual.c with w r in place of r: for a cone
 *     w |r - P(r - u/w)| = |w r - P(w r - u)|,
 * and the conditions e_N and e_T of a contact are the same as there. Sums are kept for each of the
 * CAIRN_JUDGED lanes of a group, not for each register, so that all widths give the same bits. */
#include "problem/judge.h"

#include <string.h>

#include "math/simd.h"
#include "problem/operator.h"

/* A group of contacts, component by component: the data that the laws need. */
typedef struct group {
    double r[3][CAIRN_JUDGED], mu[CAIRN_JUDGED], bias[CAIRN_JUDGED], shift[CAIRN_JUDGED];
    double inverse_mass[CAIRN_JUDGED], number[CAIRN_JUDGED];
    double scale[CAIRN_JUDGED], most[CAIRN_JUDGED];
    double u[3][CAIRN_JUDGED], terms2[CAIRN_JUDGED];      /* without the bias; squares of terms */
    double q[3][CAIRN_JUDGED], free_terms2[CAIRN_JUDGED]; /* the same without impulses          */
    bool slides;                                          /* some mu is not 0                   */
} group;

/* Velocities of the balls of a group, side a and side b: linear and angular. */
typedef struct sides {
    double v[2][3][CAIRN_JUDGED], w[2][3][CAIRN_JUDGED];
} sides;

/* The data that determine the velocities of contacts of balls; w is the imposed velocity. */
typedef struct balls {
    double n[3][CAIRN_JUDGED], t[3][CAIRN_JUDGED], w[3][CAIRN_JUDGED], radius[2][CAIRN_JUDGED];
    sides now, free;
} balls;

/* ---- in and out ----------------------------------------------------------------------------- */

CAIRN_INLINE void spread3(double to[3][CAIRN_JUDGED], int i, const double *from)
{
    to[0][i] = from[0];
    to[1][i] = from[1];
    to[2][i] = from[2];
}

/* Load impulse, friction and bias of contact j into lane i. In 2D the third component is 0. */
CAIRN_INLINE void load_law(const cairn_judging *judge, int d, int j, int i, group *in)
{
    const cairn_problem *p = judge->p;
    const double *r = judge->r + (size_t)d * (size_t)j;
    const double own[3] = { r[0], r[1], d == 3 ? r[2] : 0 };
    spread3(in->r, i, own);
    in->mu[i] = p->mu[j];
    in->bias[i] = p->b ? p->b[j] : 0;
    in->shift[i] = p->s ? p->mu[j] * p->s[j] : 0;
    in->number[i] = j;
    in->scale[i] = p->scale ? p->scale[j] : 0;
    in->most[i] = p->scale ? p->most[j] : 0;
    in->slides = in->slides || p->mu[j] != 0;
}

/* Load one side of contact j into lane i; returns its part of w = trace(W_jj)/3. Walls have zero
 * velocity and inverse mass. */
CAIRN_INLINE double load_side(const cairn_judging *judge, int j, int side, int i, balls *in)
{
    static const double nothing[6] = { 0 };
    const cairn_problem *p = judge->p;
    int block = p->block[2 * j + side];
    size_t first = (size_t)block * 6;
    bool wall = block < 0;
    const double *v = wall ? nothing : judge->v + first, R = wall ? 0 : p->radius[block];
    const double *inverse = wall ? nothing : p->mass_inverse + first;
    in->radius[side][i] = R;
    spread3(in->now.v[side], i, v);
    spread3(in->now.w[side], i, v + 3);
    if (judge->measures) {
        v = wall ? nothing : p->v_free + first;
        spread3(in->free.v[side], i, v);
        spread3(in->free.w[side], i, v + 3);
    }
    return inverse[0] + 2.0 / 3 * R * R * inverse[3];
}

CAIRN_INLINE void fetch_balls(const cairn_judging *judge, int j)
{
    cairn_contact_fetch(judge->p, 6, j, judge->v);
    cairn_contact_fetch(judge->p, 6, j, judge->p->mass_inverse);
    if (judge->measures)
        cairn_contact_fetch(judge->p, 6, j, judge->p->v_free);
}

/* The bodies of contacts are scattered in memory: those of the group after next are prefetched. */
CAIRN_INLINE void load_balls(const cairn_judging *judge, int first, balls *in, group *out)
{
    static const double nothing[3] = { 0 };
    const cairn_problem *p = judge->p;
    out->slides = false;
    for (int j = first; j < first + CAIRN_JUDGED; j++) {
        int i = j - first;
        fetch_balls(judge, j + 2 * CAIRN_JUDGED);
        load_law(judge, 3, j, i, out);
        spread3(in->n, i, &p->normal[j].x);
        spread3(in->t, i, &p->tangent[j].x);
        spread3(in->w, i, p->w ? p->w + 3 * (size_t)j : nothing);
        double w = load_side(judge, j, 0, i, in);
        out->inverse_mass[i] = w + load_side(judge, j, 1, i, in);
    }
}

CAIRN_INLINE void unload(const group *in, int d, double *u)
{
    for (int i = 0; i < d * CAIRN_JUDGED; i++)
        u[i] = in->u[i % d][i / d];
}

/* ---- vectors -------------------------------------------------------------------------------- */

typedef struct vector {
    wide x, y, z;
} vector;

CAIRN_WIDE wide dot(vector a, vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

CAIRN_WIDE vector cross(vector a, vector b)
{
    return (vector){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

CAIRN_WIDE vector load3(const double from[3][CAIRN_JUDGED], int lane)
{
    return (vector){ wide_load(from[0] + lane), wide_load(from[1] + lane),
                     wide_load(from[2] + lane) };
}

/* Sums for each lane of a group: the same for every width. */
typedef struct law_sums {
    wide e2[CAIRN_JUDGED / LANES], fclib2[CAIRN_JUDGED / LANES];
    wide worst2[CAIRN_JUDGED / LANES], where[CAIRN_JUDGED / LANES];
    wide share2[CAIRN_JUDGED / LANES];
} law_sums;

typedef struct group_sums {
    law_sums convex, coulomb;
    wide plain[CAIRN_PLAIN_SUMS][CAIRN_JUDGED / LANES];
    wide off_cone2[CAIRN_JUDGED / LANES], burden2[CAIRN_JUDGED / LANES];
} group_sums;

/* ---- velocities of contacts of balls -------------------------------------------------------- */

CAIRN_WIDE void store3(double to[3][CAIRN_JUDGED], int lane, vector x)
{
    wide_store(to[0] + lane, x.x);
    wide_store(to[1] + lane, x.y);
    wide_store(to[2] + lane, x.z);
}

/* u = va - vb + n x (Ra wa + Rb wb) + w in the frame of the contact, without the bias, and the
 * squares of its terms, with it. */
CAIRN_WIDE vector relative(const balls *in, const sides *of, wide bias, int lane, wide *terms2)
{
    vector n = load3(in->n, lane), t = load3(in->t, lane);
    wide Ra = wide_load(in->radius[0] + lane), Rb = wide_load(in->radius[1] + lane);
    vector va = load3(of->v[0], lane), vb = load3(of->v[1], lane);
    vector wa = load3(of->w[0], lane), wb = load3(of->w[1], lane);
    const vector y = { Ra * wa.x + Rb * wb.x, Ra * wa.y + Rb * wb.y, Ra * wa.z + Rb * wb.z };
    vector s = cross(n, y), out, imposed = load3(in->w, lane);
    s.x += va.x - vb.x;
    s.y += va.y - vb.y;
    s.z += va.z - vb.z;
    out.x = dot(n, s) + imposed.x;
    out.y = dot(t, s) + imposed.y;
    out.z = dot(cross(n, t), s) + imposed.z;
    *terms2 =
        dot(va, va) + dot(vb, vb) + Ra * Ra * dot(wa, wa) + Rb * Rb * dot(wb, wb) + bias * bias;
    return out;
}

CAIRN_WIDE void find_velocities(const balls *in, bool measures, int lane, group *out)
{
    wide terms2, bias = wide_load(out->bias + lane);
    store3(out->u, lane, relative(in, &in->now, bias, lane, &terms2));
    wide_store(out->terms2 + lane, terms2);
    if (!measures)
        return;
    store3(out->q, lane, relative(in, &in->free, bias, lane, &terms2));
    wide_store(out->free_terms2 + lane, terms2);
}

/* ---- velocities of contacts whose rows are stored ------------------------------------------- */

/* Pointers to the data of one side of each contact of a group; to zeros if it has no block. */
typedef struct places {
    const double *H[CAIRN_JUDGED], *v[CAIRN_JUDGED], *free[CAIRN_JUDGED];
    const double *mass_inverse[CAIRN_JUDGED];
} places;

CAIRN_INLINE void find_places(const cairn_judging *judge, int d, int n, int first, int side,
                              places *out)
{
    static const double nothing[18] = { 0 };
    const cairn_problem *p = judge->p;
    for (int i = 0; i < CAIRN_JUDGED; i++) {
        int block = p->block[2 * (first + i) + side];
        size_t at = (size_t)block * (size_t)n;
        bool wall = block < 0;
        out->H[i] = wall ? nothing : cairn_rows_stored(p, d, n, first + i, side);
        out->v[i] = wall ? nothing : judge->v + at;
        out->free[i] = wall ? nothing : p->v_free + at;
        out->mass_inverse[i] = wall ? nothing : p->mass_inverse + at;
    }
}

/* Component k of each contact. */
CAIRN_WIDE wide collect_number(const double *const *from, int k)
{
    wide x;
    for (int i = 0; i < LANES; i++)
        x[i] = from[i][k];
    return x;
}

/* u = H v + w, and the squares of its terms, the bias included. */
typedef struct motion {
    wide u[3], terms2;
} motion;

CAIRN_WIDE motion start_motion(const cairn_problem *p, const group *in, int d, int first, int lane)
{
    wide bias = wide_load(in->bias + lane), zero = wide_spread(0);
    motion m = { { zero, zero, zero }, bias * bias };
    for (int i = 0; p->w && i < LANES; i++)
        for (int k = 0; k < d; k++)
            m.u[k][i] = p->w[(size_t)d * (size_t)(first + lane + i) + (size_t)k];
    return m;
}

CAIRN_WIDE void add_motion(int d, int n, const wide *H, const double *const *v, motion *m)
{
    for (int k = 0; k < n; k++) {
        wide squares = wide_spread(0), x = collect_number(v, k);
        for (int i = 0; i < d; i++) {
            squares += H[i * n + k] * H[i * n + k];
            m->u[i] += H[i * n + k] * x;
        }
        m->terms2 += squares * x * x;
    }
}

/* trace(H M^-1 H') */
CAIRN_WIDE wide trace_of(int d, int n, const wide *H, const double *const *mass_inverse)
{
    wide trace = wide_spread(0), inverse[6];
    for (int k = 0; k < n; k++)
        inverse[k] = collect_number(mass_inverse, k);
    for (int i = 0; i < d; i++)
        for (int k = 0; k < n; k++)
            trace += H[i * n + k] * H[i * n + k] * inverse[k];
    return trace;
}

/* The velocities with impulses and, if needed, without them, and w = trace(W_jj)/d. */
CAIRN_WIDE void find_motions(const cairn_judging *judge, const places of[2], int d, int n,
                             int first, int lane, group *out)
{
    motion now = start_motion(judge->p, out, d, first, lane), free = now;
    wide w = wide_spread(0);
    for (int side = 0; side < 2; side++) {
        wide H[18];
        for (int i = 0; i < d * n; i++)
            H[i] = collect_number(of[side].H + lane, i);
        add_motion(d, n, H, of[side].v + lane, &now);
        if (judge->measures)
            add_motion(d, n, H, of[side].free + lane, &free);
        w += trace_of(d, n, H, of[side].mass_inverse + lane) / d;
    }
    store3(out->u, lane, (vector){ now.u[0], now.u[1], now.u[2] });
    store3(out->q, lane, (vector){ free.u[0], free.u[1], free.u[2] });
    wide_store(out->terms2 + lane, now.terms2);
    wide_store(out->free_terms2 + lane, free.terms2);
    wide_store(out->inverse_mass + lane, w);
}

CAIRN_WIDE void load_rows(const cairn_judging *judge, int d, int n, int first, group *out)
{
    places of[2];
    out->slides = false;
    for (int i = 0; i < CAIRN_JUDGED; i++)
        load_law(judge, d, first + i, i, out);
    find_places(judge, d, n, first, 0, &of[0]);
    find_places(judge, d, n, first, 1, &of[1]);
    for (int lane = 0; lane < CAIRN_JUDGED; lane += LANES)
        find_motions(judge, of, d, n, first, lane, out);
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* A contact's law and impulse. */
typedef struct contact {
    vector r;
    wide mu, bias, shift, w;
    wide part;   /* 1/(1 + mu^2)         */
    wide number; /* of the contact       */
    wide scale2; /* S_j squared, raised by w |r_j|; 0: errors are not related to scales */
    wide noise2; /* the rounding of u, squared                                         */
    int at;      /* where its sums are   */
    int d;       /* dimension            */
} contact;

CAIRN_WIDE contact contact_of(const group *in, int d, int lane)
{
    contact c = { .r = load3(in->r, lane), .at = lane / LANES, .d = d };
    c.w = wide_load(in->inverse_mass + lane);
    c.shift = wide_load(in->shift + lane);
    c.number = wide_load(in->number + lane);
    c.mu = wide_load(in->mu + lane);
    c.bias = wide_load(in->bias + lane);
    c.part = 1 / (1 + c.mu * c.mu);
    wide scale = wide_load(in->scale + lane), carried2 = c.w * c.w * dot(c.r, c.r);
    wide most = wide_load(in->most + lane), most2 = most * most;
    carried2 = wide_choose(carried2 < most2, carried2, most2);
    c.scale2 = wide_choose(scale * scale > carried2, scale * scale, carried2);
    c.noise2 = cairn_own_rounding * cairn_own_rounding * wide_load(in->terms2 + lane);
    return c;
}

/* |y_T| */
CAIRN_WIDE wide tangential(const contact *c, vector y)
{
    if (c->d == 2)
        return wide_choose(y.y < wide_spread(0), -y.y, y.y);
    return wide_root(y.y * y.y + y.z * y.z);
}

/* |r - P_K(y)|^2 */
CAIRN_WIDE wide map2(const contact *c, vector r, vector y)
{
    const wide zero = wide_spread(0), tiny = wide_spread(1e-300);
    wide T = tangential(c, y);
    mask inside = T <= c->mu * y.x; /* or mu = T = 0: then y.x may be negative */
    wide along = y.x + c->mu * T;
    wide normal = wide_choose(along > zero, along * c->part, zero);
    wide scale = wide_choose(inside, wide_spread(1), c->mu * normal / (T + tiny));
    normal = wide_choose(inside, wide_choose(y.x > zero, y.x, zero), normal);
    const vector off = { r.x - normal, r.y - scale * y.y, r.z - scale * y.z };
    return dot(off, off);
}

CAIRN_WIDE void add_errors(const contact *c, wide e2, wide fclib2, law_sums *sums)
{
    mask worse = ~(e2 <= sums->worst2[c->at]); /* true for NaN */
    sums->e2[c->at] += e2;
    sums->fclib2[c->at] += fclib2;
    sums->worst2[c->at] = wide_choose(worse, e2, sums->worst2[c->at]);
    sums->where[c->at] = wide_choose(worse, c->number, sums->where[c->at]);
    wide share2 = wide_choose(e2 <= c->noise2, wide_spread(0), e2 / c->scale2);
    sums->share2[c->at] =
        wide_choose(share2 <= sums->share2[c->at], sums->share2[c->at], share2); /* NaN stays */
}

CAIRN_WIDE wide larger(wide a, wide b)
{
    return wide_choose(b > a, b, a); /* a NaN in a stays */
}

/* e_T^2 = |x_T - P_D(x_T - u_T)|^2, x = w r, D the disk of radius mu max(x_N, 0) */
CAIRN_WIDE wide friction_error2(const contact *c, vector x, vector u)
{
    const wide zero = wide_spread(0), one = wide_spread(1), tiny = wide_spread(1e-300);
    const vector y = { zero, x.y - u.y, x.z - u.z };
    wide T = tangential(c, y), bound = c->mu * larger(zero, x.x);
    wide scale = wide_choose(T <= bound, one, bound / (T + tiny));
    const vector off = { zero, x.y - scale * y.y, x.z - scale * y.z };
    return dot(off, off);
}

/* min(x, y), rounded as in x - P(x - y) */
CAIRN_WIDE wide least_of(wide x, wide y)
{
    return x - larger(wide_spread(0), x - y);
}

/* e_N^2 with x = w r_N, for a contact that opens with velocity o by its law; u_N contains the
 * bias */
CAIRN_WIDE wide signorini2(wide x, wide o, wide u_N)
{
    const wide zero = wide_spread(0);
    wide both = least_of(x, o), approach = least_of(x, larger(u_N, o));
    wide e = wide_choose(both > zero, both, wide_choose(approach < zero, approach, zero));
    return e * e;
}

/* Add the errors of one law: u contains bias and shift; apart2 is the larger of e_N^2 and e_T^2. */
CAIRN_WIDE void add_law(const contact *c, vector u, wide apart2, law_sums *sums)
{
    vector r = c->r, wr = { c->w * r.x, c->w * r.y, c->w * r.z };
    const vector strict = { wr.x - u.x, wr.y - u.y, wr.z - u.z };
    const vector plain = { r.x - u.x, r.y - u.y, r.z - u.z };
    add_errors(c, larger(map2(c, wr, strict), apart2), map2(c, r, plain), sums);
}

/* Coulomb's law always, the convex law unless `exact`; u contains the bias. */
CAIRN_WIDE void add_laws(const contact *c, vector u, bool exact, group_sums *sums)
{
    vector x = { c->w * c->r.x, c->w * c->r.y, c->w * c->r.z }, shifted = u;
    wide slide = c->mu * tangential(c, u), friction2 = friction_error2(c, x, u);
    shifted.x = u.x + slide;
    add_law(c, shifted, larger(signorini2(x.x, u.x, u.x), friction2), &sums->coulomb);
    if (exact)
        return;
    shifted.x = u.x + c->shift;
    wide normal2 = signorini2(x.x, shifted.x - slide, u.x);
    add_law(c, shifted, larger(normal2, friction2), &sums->convex);
}

/* Add to the norms, from the velocities q without impulses. */
CAIRN_WIDE void measure(const contact *c, const group *in, int lane, group_sums *sums)
{
    const wide zero = wide_spread(0);
    const vector nothing = { zero, zero, zero };
    vector q = load3(in->q, lane);
    q.x += c->bias;
    wide q2 = dot(q, q);
    sums->plain[CAIRN_SUM_FREE_TERMS2][c->at] += wide_load(in->free_terms2 + lane);
    sums->plain[CAIRN_SUM_Q2][c->at] += q2;
    sums->plain[CAIRN_SUM_COULOMB2][c->at] += wide_choose(q.x < zero, q2, zero);
    q.x += c->shift;
    const vector back = { -q.x, -q.y, -q.z };
    sums->plain[CAIRN_SUM_CONVEX2][c->at] +=
        wide_choose(q.x < zero, dot(q, q), map2(c, nothing, back));
}

/* Add to the sums that do not depend on the law; u contains the bias. */
CAIRN_WIDE void add_plain(const contact *c, const group *in, int lane, vector u, group_sums *sums)
{
    wide r2 = dot(c->r, c->r);
    sums->plain[CAIRN_SUM_TERMS2][c->at] += wide_load(in->terms2 + lane);
    sums->plain[CAIRN_SUM_R2][c->at] += r2;
    sums->plain[CAIRN_SUM_U2][c->at] += dot(u, u);
    wide weighed2 = c->w * c->w * r2, zero = wide_spread(0);
    wide drowned2 = (4 * DBL_EPSILON * DBL_EPSILON) * weighed2;
    wide burden2 = wide_choose(drowned2 <= c->noise2, zero, weighed2 / c->scale2);
    sums->plain[CAIRN_SUM_WEIGHED2][c->at] += weighed2;
    sums->burden2[c->at] =
        wide_choose(burden2 > sums->burden2[c->at], burden2, sums->burden2[c->at]);
}

CAIRN_WIDE void add_off_cone(int at, wide off, group_sums *sums)
{
    sums->off_cone2[at] = wide_choose(off > sums->off_cone2[at], off, sums->off_cone2[at]);
}

CAIRN_WIDE void judge_lanes(const cairn_judging *judge, const group *in, int d, int lane,
                            group_sums *sums)
{
    contact c = contact_of(in, d, lane);
    vector u = load3(in->u, lane);
    u.x += c.bias;
    add_plain(&c, in, lane, u, sums);
    add_laws(&c, u, judge->exact, sums);
    add_off_cone(c.at, map2(&c, c.r, c.r), sums);
    if (judge->measures)
        measure(&c, in, lane, sums);
}

/* ---- without friction ----------------------------------------------------------------------- */

/* Without friction both laws are the same and K is a ray. This gives the same bits as above,
 * without square roots and divisions. */

/* |r - P_K(y)|^2 = (r_N - max(0, y_N))^2 + |r_T|^2; NaN stays NaN */
CAIRN_WIDE wide ray2(vector r, wide y)
{
    const wide zero = wide_spread(0);
    const vector off = { r.x - wide_choose(y <= zero, zero, y), r.y, r.z };
    return dot(off, off);
}

CAIRN_WIDE void measure_smooth(const contact *c, const group *in, int lane, group_sums *sums)
{
    const wide zero = wide_spread(0);
    vector q = load3(in->q, lane);
    q.x += c->bias;
    wide q2 = dot(q, q), closing2 = wide_choose(q.x < zero, q2, zero);
    sums->plain[CAIRN_SUM_FREE_TERMS2][c->at] += wide_load(in->free_terms2 + lane);
    sums->plain[CAIRN_SUM_Q2][c->at] += q2;
    sums->plain[CAIRN_SUM_COULOMB2][c->at] += closing2;
    sums->plain[CAIRN_SUM_CONVEX2][c->at] += closing2;
}

CAIRN_WIDE void judge_smooth(const group *in, int d, int lane, bool measures, group_sums *sums)
{
    contact c = contact_of(in, d, lane);
    vector u = load3(in->u, lane), r = c.r, wr = { c.w * r.x, c.w * r.y, c.w * r.z };
    u.x += c.bias;
    add_plain(&c, in, lane, u, sums);
    wide e2 = ray2(wr, wr.x - u.x), fclib2 = ray2(r, r.x - u.x);
    add_errors(&c, e2, fclib2, &sums->convex);
    add_errors(&c, e2, fclib2, &sums->coulomb);
    add_off_cone(c.at, ray2(r, r.x), sums);
    if (measures)
        measure_smooth(&c, in, lane, sums);
}

CAIRN_WIDE void judge_group(const cairn_judging *judge, const group *in, int d, group_sums *sums)
{
    for (int lane = 0; lane < CAIRN_JUDGED; lane += LANES)
        if (in->slides)
            judge_lanes(judge, in, d, lane, sums);
        else
            judge_smooth(in, d, lane, judge->measures, sums);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Copy the sums of the lanes out, in their order. */
CAIRN_WIDE void collect_law(const law_sums *from, cairn_law_lanes *to)
{
    memcpy(to->e2, from->e2, sizeof to->e2);
    memcpy(to->fclib2, from->fclib2, sizeof to->fclib2);
    memcpy(to->worst2, from->worst2, sizeof to->worst2);
    memcpy(to->where, from->where, sizeof to->where);
    memcpy(to->share2, from->share2, sizeof to->share2);
}

CAIRN_WIDE void collect(const group_sums *sums, cairn_judged_lanes *out)
{
    collect_law(&sums->convex, &out->convex);
    collect_law(&sums->coulomb, &out->coulomb);
    memcpy(out->plain, sums->plain, sizeof out->plain);
    memcpy(out->off_cone2, sums->off_cone2, sizeof out->off_cone2);
    memcpy(out->burden2, sums->burden2, sizeof out->burden2);
}

/* Judge whole groups from `begin` on; returns where the next group would begin. */
CAIRN_WIDE int judge_ball_groups(cairn_judging *judge, int begin, int end, cairn_judged_lanes *out)
{
    group_sums sums = { 0 };
    int j = begin;
    for (; j + CAIRN_JUDGED <= end; j += CAIRN_JUDGED) {
        balls in;
        group now;
        load_balls(judge, j, &in, &now);
        for (int lane = 0; lane < CAIRN_JUDGED; lane += LANES)
            find_velocities(&in, judge->measures, lane, &now);
        unload(&now, 3, judge->u + 3 * (size_t)j);
        judge_group(judge, &now, 3, &sums);
    }
    collect(&sums, out);
    return j;
}

/* The same for contacts with stored rows. */
CAIRN_WIDE int judge_rows(cairn_judging *judge, int d, int n, int begin, int end,
                          cairn_judged_lanes *out)
{
    group_sums sums = { 0 };
    int j = begin;
    for (; j + CAIRN_JUDGED <= end; j += CAIRN_JUDGED) {
        group now;
        load_rows(judge, d, n, j, &now);
        unload(&now, d, judge->u + (size_t)d * (size_t)j);
        judge_group(judge, &now, d, &sums);
    }
    collect(&sums, out);
    return j;
}

/* ---- the unit ------------------------------------------------------------------------------- */

static int judge_balls(cairn_judging *judge, int begin, int end, cairn_judged_lanes *out)
{
    return judge_ball_groups(judge, begin, end, out);
}

static int judge_space(cairn_judging *judge, int begin, int end, cairn_judged_lanes *out)
{
    return judge_rows(judge, 3, 6, begin, end, out);
}

static int judge_plane(cairn_judging *judge, int begin, int end, cairn_judged_lanes *out)
{
    return judge_rows(judge, 2, 3, begin, end, out);
}

const cairn_judges CAIRN_UNIT = { .balls = judge_balls, .rows = { judge_plane, judge_space } };
