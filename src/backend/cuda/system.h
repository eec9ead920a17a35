/* system.h - a one-step problem on the device, its vectors, and what every solver asks of it: the
 * functions of one contact are those of the scalar back end (contact.c, judge.c), compiled for the
 * device; here they are called for all contacts at once.
 *
 * Sums over the contacts of a body follow lists, one for each block, in the order of contacts: no
 * thread adds to what another one writes. */
#ifndef CAIRN_BACKEND_CUDA_SYSTEM_H
#define CAIRN_BACKEND_CUDA_SYSTEM_H

#include <cmath>

#include "backend/cuda/device.h"
#include "backend/scalar/scalar.h"

struct Sweeps;
struct BallGraph;

/* An array on the device, and the caller's array that upload reads and download writes. */
struct cairn_vector {
    double *x, *home;
    int64_t count;
};

/* The contacts of each block: entries [start[k], start[k + 1]) of `entry`, 2 contact + side. */
struct Lists {
    const int32_t *entry = nullptr;
    const int32_t *start = nullptr;
};

struct cairn_system {
    Device device;
    const cairn_problem *p;           /* the caller's                          */
    cairn_problem held;               /* the same with arrays on the device    */
    cairn_scalar_system own;          /* likewise                              */
    const cairn_scalar_system *there; /* a copy of `own` on the device         */
    Lists lists;
    cairn_scalar_norms norms;
    std::vector<cairn_vector *> vectors;
    std::vector<Sweeps *> sweeps;
    BallGraph *graph; /* made when sweeps over balls begin first */
};

/* A number, and the largest of numbers, as sums of `total`. */
struct Sum {
    double x = 0;
    ANYWHERE void add(const Sum &more)
    {
        x += more.x;
    }
};

struct Largest {
    double x = 0;
    ANYWHERE void add(const Largest &more)
    {
        x = more.x > x ? more.x : x;
    }
};

/* ---- the copy on the device ------------------------------------------------------------------ */

/* How many pairs of matrices H has. */
static size_t stored_rows(const cairn_problem *p)
{
    size_t most = 0;
    if (!p->rows || !p->H)
        return p->normal || !p->H ? 0 : (size_t)p->contacts;
    for (int j = 0; j < p->contacts; j++)
        most = p->rows[j] >= 0 && (size_t)p->rows[j] + 1 > most ? (size_t)p->rows[j] + 1 : most;
    return most;
}

static const cairn_matrix *copy_matrix(Device &d, const cairn_matrix *W, size_t rows)
{
    cairn_matrix copy = *W;
    size_t entries = (size_t)W->start[rows];
    copy.start = d.copy_of(W->start, rows + 1);
    copy.column = d.copy_of(W->column, entries);
    copy.value = d.copy_of(W->value, entries);
    return d.copy_of(&copy, 1);
}

/* The arrays of a problem, copied to the device. */
static void copy_problem(Device &d, const cairn_problem *p, cairn_problem *held)
{
    size_t contacts = (size_t)p->contacts, rows = contacts * (size_t)p->dimension;
    size_t speeds = (size_t)p->blocks * (size_t)p->block_size;
    *held = *p;
    if (p->resident)
        return; /* they are there: pile.h */
    held->segments = nullptr;
    held->cut = nullptr;
    if (p->W) {
        held->W = copy_matrix(d, p->W, rows);
        held->q = d.copy_of(p->q, rows);
    } else {
        size_t matrix = 2 * (size_t)p->dimension * (size_t)p->block_size;
        held->mass_inverse = d.copy_of(p->mass_inverse, speeds);
        held->v_free = d.copy_of(p->v_free, speeds);
        held->block = d.copy_of(p->block, 2 * contacts);
        held->H = d.copy_of(p->H, p->H ? stored_rows(p) * matrix : 0);
        held->normal = d.copy_of(p->normal, contacts);
        held->tangent = d.copy_of(p->tangent, contacts);
        held->radius = d.copy_of(p->radius, p->radius ? (size_t)p->blocks : 0);
        held->rows = d.copy_of(p->rows, contacts);
        held->w = d.copy_of(p->w, rows);
    }
    held->b = d.copy_of(p->b, contacts);
    held->s = d.copy_of(p->s, contacts);
    held->mu = d.copy_of(p->mu, contacts);
    held->scale = d.copy_of(p->scale, contacts);
    held->most = d.copy_of(p->most, contacts);
    held->mu_rolling = d.copy_of(p->mu_rolling, contacts);
    held->mu_spinning = d.copy_of(p->mu_spinning, contacts);
    held->bounded = d.copy_of(p->bounded, contacts);
    held->lower = d.copy_of(p->lower, rows);
    held->upper = d.copy_of(p->upper, rows);
    held->compliance = d.copy_of(p->compliance, rows);
}

/* Bits of a key that is less than `count`. */
static int bits_for(uint64_t count)
{
    int bits = 1;
    while (bits < 32 && (1ull << bits) < count)
        bits++;
    return bits;
}

/* The lists of `blocks` blocks; block has two of them for each contact. Entries of no block come
 * last, after those of all others. */
static Lists make_lists(Device &d, int blocks, int contacts, const int32_t *block)
{
    int64_t entries = 2 * (int64_t)contacts;
    uint32_t *key = d.take<uint32_t>((size_t)entries);
    int32_t *entry = d.take<int32_t>((size_t)entries);
    int32_t *start = d.take<int32_t>((size_t)blocks + 1);
    each(d, entries, [=] ANYWHERE(int64_t i) {
        key[i] = (uint32_t)(block[i] < 0 ? blocks : block[i]);
        entry[i] = (int32_t)i;
    });
    sort_by(d, entries, bits_for((uint64_t)blocks + 1), key, entry);
    const uint32_t *sorted = key;
    each(d, (int64_t)blocks + 1, [=] ANYWHERE(int64_t k) {
        start[k] = (int32_t)first_at_least(sorted, entries, (uint32_t)k);
    });
    return Lists{ entry, start };
}

static void fill_system(cairn_system *s)
{
    Device &d = s->device;
    const cairn_problem *p = s->p;
    cairn_scalar_system *own = &s->own;
    copy_problem(d, p, &s->held);
    own->contacts = p->contacts;
    own->d = p->dimension;
    own->blocks = p->W ? 0 : p->blocks;
    own->n = p->W ? 0 : p->block_size;
    own->p = d.copy_of(&s->held, 1);
    /* rows of balls are computed where they are needed: that is faster than to read them */
    own->H = p->resident ? nullptr : d.take<double>((size_t)2 * p->contacts * own->d * own->n);
    own->W = p->resident ? nullptr : d.take<double>((size_t)p->contacts * own->d * own->d);
    own->shift = d.take<double>(p->contacts);
    s->there = d.copy_of(own, 1);
    const cairn_scalar_system *there = s->there;
    each(d, p->contacts, [=] ANYWHERE(int64_t j) { cairn_scalar_fill(there, (int)j); });
    if (!p->W)
        s->lists = make_lists(d, p->blocks, p->contacts, s->held.block);
}

/* ---- balls of a pile ------------------------------------------------------------------------- */

/* The same products and the same judge for contacts of balls and walls with circular cones, written
 * out: what the general functions leave in arrays is then in registers. */

/* The contact of two balls, a or b may be a wall. */
struct BallContact {
    double n[3], t[3], b[3]; /* its axes, b = n x t       */
    double W_N, K;           /* 1/kg: W_T = W_N + K       */
    int32_t block[2];

    ANYWHERE BallContact(const cairn_problem &p, int64_t j)
    {
        const cairn_vec3 normal = p.normal[j], tangent = p.tangent[j];
        const cairn_vec3 third = { normal.y * tangent.z - normal.z * tangent.y,
                                   normal.z * tangent.x - normal.x * tangent.z,
                                   normal.x * tangent.y - normal.y * tangent.x };
        n[0] = normal.x, n[1] = normal.y, n[2] = normal.z;
        t[0] = tangent.x, t[1] = tangent.y, t[2] = tangent.z;
        b[0] = third.x, b[1] = third.y, b[2] = third.z;
        W_N = K = 0;
        for (int side = 0; side < 2; side++) {
            int64_t k = block[side] = p.block[2 * j + side];
            if (k < 0)
                continue;
            double R = p.radius[k];
            W_N += p.mass_inverse[6 * k];
            K += R * R * p.mass_inverse[6 * k + 3];
        }
    }

    ANYWHERE double mean() const
    {
        return W_N + 2 * K / 3;
    }

    /* u = H v; returns the sum of the squares of all terms. */
    ANYWHERE double relative(const cairn_problem &p, const double *v, double *u) const
    {
        double terms2 = 0;
        u[0] = u[1] = u[2] = 0;
        for (int side = 0; side < 2; side++) {
            if (block[side] < 0)
                continue;
            const double *x = v + 6 * (int64_t)block[side];
            double R = p.radius[block[side]], sign = side ? -1 : 1;
            for (int i = 0; i < 3; i++) {
                double along[3] = { n[i] * x[i], t[i] * x[i], b[i] * x[i] };
                double turn[2] = { -R * b[i] * x[3 + i], R * t[i] * x[3 + i] };
                u[0] += sign * along[0];
                u[1] += sign * along[1] + turn[0];
                u[2] += sign * along[2] + turn[1];
                terms2 += along[0] * along[0] + along[1] * along[1] + along[2] * along[2] +
                          turn[0] * turn[0] + turn[1] * turn[1];
            }
        }
        return terms2;
    }
};

ANYWHERE static inline double length_of2(const double *x)
{
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
}

/* |x - P_K(x - u)|^2, K the cone of mu */
ANYWHERE static inline double map_error2(double mu, const double *x, const double *u)
{
    double y[3] = { x[0] - u[0], x[1] - u[1], x[2] - u[2] };
    double length = sqrt(y[1] * y[1] + y[2] * y[2]), across = 1;
    if (!(y[0] >= 0 && length <= mu * y[0])) {
        double along = y[0] + mu * length;
        y[0] = along > 0 ? along / (1 + mu * mu) : 0;
        across = length > 0 ? mu * y[0] / length : 0;
    }
    double off[3] = { x[0] - y[0], x[1] - across * y[1], x[2] - across * y[2] };
    return length_of2(off);
}

/* max(e_N^2, e_T^2) at w r, with `lift` = mu s: conditions2 of judge.c */
ANYWHERE static inline double ball_conditions2(double mu, const double *wr, const double *u,
                                               double lift)
{
    double opens = u[0] + lift - mu * sqrt(u[1] * u[1] + u[2] * u[2]), e_N = fmin(wr[0], opens);
    if (e_N <= 0)
        e_N = fmin(fmin(wr[0], fmax(opens, u[0])), 0.0);
    double bound = mu * fmax(wr[0], 0.0), x[2] = { wr[1] - u[1], wr[2] - u[2] };
    double length = sqrt(x[0] * x[0] + x[1] * x[1]), cut = length > bound ? bound / length : 1;
    double off[2] = { wr[1] - cut * x[0], wr[2] - cut * x[1] };
    return fmax(e_N * e_N, off[0] * off[0] + off[1] * off[1]);
}

/* v = v_free + M^-1 H' r of block k */
ANYWHERE static inline void ball_velocity(const cairn_problem &p, const Lists &lists, int64_t k,
                                          const double *r, double *v)
{
    double push[3] = { 0, 0, 0 }, spin[3] = { 0, 0, 0 }, R = p.radius[k];
    for (int32_t e = lists.start[k]; e < lists.start[k + 1]; e++) {
        int64_t j = lists.entry[e] / 2;
        double sign = lists.entry[e] % 2 ? -1 : 1;
        const double *own = r + 3 * j;
        if (own[0] == 0 && own[1] == 0 && own[2] == 0)
            continue;
        const cairn_vec3 n = p.normal[j], t = p.tangent[j];
        const cairn_vec3 b = { n.y * t.z - n.z * t.y, n.z * t.x - n.x * t.z,
                               n.x * t.y - n.y * t.x };
        /* r x n = r_2 t - r_1 b */
        push[0] += sign * (own[0] * n.x + own[1] * t.x + own[2] * b.x);
        push[1] += sign * (own[0] * n.y + own[1] * t.y + own[2] * b.y);
        push[2] += sign * (own[0] * n.z + own[1] * t.z + own[2] * b.z);
        spin[0] += own[2] * t.x - own[1] * b.x;
        spin[1] += own[2] * t.y - own[1] * b.y;
        spin[2] += own[2] * t.z - own[1] * b.z;
    }
    for (int i = 0; i < 3; i++) {
        v[6 * k + i] = p.v_free[6 * k + i] + p.mass_inverse[6 * k] * push[i];
        v[6 * k + 3 + i] = p.v_free[6 * k + 3 + i] + R * p.mass_inverse[6 * k + 3] * spin[i];
    }
}

/* Whether a problem is one for these functions. */
static bool is_resident(const cairn_problem *p)
{
    return p->resident && !p->s && !p->w;
}

/* ---- products -------------------------------------------------------------------------------- */

static void velocity(const cairn_system *system, const cairn_vector *r, cairn_vector *v)
{
    cairn_system *s = const_cast<cairn_system *>(system);
    const cairn_scalar_system *there = s->there;
    const double *impulse = r->x;
    double *speed = v->x;
    Lists lists = s->lists;
    if (is_resident(s->p)) {
        const cairn_problem held = s->held;
        each(s->device, s->own.blocks,
             [=] ANYWHERE(int64_t k) { ball_velocity(held, lists, k, impulse, speed); });
        return;
    }
    each(s->device, s->own.blocks, [=] ANYWHERE(int64_t k) {
        double sum[CAIRN_MAX_DIMENSION];
        int n = there->n;
        for (int i = 0; i < n; i++)
            sum[i] = there->p->v_free[k * n + i];
        for (int32_t i = lists.start[k]; i < lists.start[k + 1]; i++) {
            int j = lists.entry[i] / 2, side = lists.entry[i] % 2;
            cairn_scalar_push_side(there, j, side, impulse + (ptrdiff_t)j * there->d, sum);
        }
        for (int i = 0; i < n; i++)
            speed[k * n + i] = sum[i];
    });
}

/* g_j = H_j v + w_j + eps r_j + (b + mu s) n: the gradient of the dual program at r. */
static void gradient(const cairn_system *s, const cairn_vector *r, cairn_vector *v, cairn_vector *g)
{
    const cairn_scalar_system *there = s->there;
    const double *impulse = r->x, *speed = v->x;
    double *to = g->x;
    velocity(s, r, v);
    each(const_cast<cairn_system *>(s)->device, s->own.contacts, [=] ANYWHERE(int64_t j) {
        ptrdiff_t first = j * there->d;
        cairn_scalar_relative(there, (int)j, impulse, speed, to + first);
        cairn_scalar_comply(there, (int)j, impulse + first, to + first);
        to[first] += there->shift[j];
    });
}

static void project(const cairn_system *s, cairn_vector *r)
{
    const cairn_scalar_system *there = s->there;
    double *x = r->x;
    each(const_cast<cairn_system *>(s)->device, s->own.contacts,
         [=] ANYWHERE(int64_t j) { cairn_scalar_project(there->p, (int)j, x + j * there->d); });
}

static void scales(const cairn_system *s, cairn_vector *w)
{
    const cairn_scalar_system *there = s->there;
    double *x = w->x;
    each(const_cast<cairn_system *>(s)->device, s->own.contacts,
         [=] ANYWHERE(int64_t j) { cairn_scalar_scales(there, (int)j, x + j * there->d); });
}

static double approach(const cairn_system *s, const cairn_vector *u)
{
    const cairn_scalar_system *there = s->there;
    const double *x = u->x;
    return total<Largest>(const_cast<cairn_system *>(s)->device, s->own.contacts,
                          [=] ANYWHERE(int64_t j, Largest & most) {
                              double opening = x[j * there->d] + cairn_scalar_bias(there, (int)j);
                              if (!cairn_is_bounded(there->p, (int)j))
                                  most.add(Largest{ -opening });
                          })
        .x;
}

/* ---- the judge ------------------------------------------------------------------------------- */

/* Sums of the judge over some contacts. */
struct Verdict {
    cairn_scalar_verdict sums;

    ANYWHERE Verdict() : sums()
    {
        for (int law = 0; law < CAIRN_LAW_COUNT; law++)
            sums.law[law].worst_contact = -1;
    }

    ANYWHERE void add(const Verdict &more)
    {
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            cairn_scalar_law_sums *to = &sums.law[law];
            const cairn_scalar_law_sums *from = &more.sums.law[law];
            to->e2 += from->e2;
            to->fclib2 += from->fclib2;
            to->share = from->share <= to->share ? to->share : from->share;
            /* the first of equals, NaN as the worst of all */
            bool equal = from->worst == to->worst && from->worst_contact < to->worst_contact;
            if (from->worst_contact >= 0 && (!(from->worst <= to->worst) || equal)) {
                to->worst = from->worst;
                to->worst_contact = from->worst_contact;
            }
        }
        sums.r2 += more.sums.r2;
        sums.u2 += more.sums.u2;
        sums.terms2 += more.sums.terms2;
        sums.drowned2 += more.sums.drowned2;
        sums.burden = fmax(sums.burden, more.sums.burden);
        sums.violation = fmax(sums.violation, more.sums.violation);
    }
};

struct Norms {
    cairn_scalar_norms sums;

    ANYWHERE Norms() : sums() {}

    ANYWHERE void add(const Norms &more)
    {
        for (int law = 0; law < CAIRN_LAW_COUNT; law++)
            sums.closing2[law] += more.sums.closing2[law];
        sums.q2 += more.sums.q2;
        sums.terms2 += more.sums.terms2;
    }
};

/* cairn_scalar_measure_contact for balls. */
struct BallNorms {
    cairn_problem p;

    ANYWHERE void operator()(int64_t j, Norms &to) const
    {
        const BallContact at(p, j);
        double q[3], mu = p.mu[j], bias = p.b[j];
        to.sums.terms2 += at.relative(p, p.v_free, q) + bias * bias;
        q[0] += bias;
        double q2 = length_of2(q), nothing[3] = { 0, 0, 0 };
        to.sums.q2 += q2;
        to.sums.closing2[CAIRN_LAW_COULOMB] += q[0] < 0 ? q2 : 0;
        to.sums.closing2[CAIRN_LAW_CONVEX] += q[0] < 0 ? q2 : map_error2(mu, nothing, q);
    }
};

/* cairn_scalar_judge_contact for balls. */
struct BallJudge {
    cairn_problem p;
    const double *r, *v;
    double *u;

    ANYWHERE static void add_error(cairn_scalar_law_sums *sums, int64_t j, double e2, double scale,
                                   double noise2)
    {
        double e = sqrt(e2), share = e2 <= noise2 ? 0 : e / scale;
        sums->e2 += e2;
        sums->share = share <= sums->share ? sums->share : share;
        if (!(e <= sums->worst)) {
            sums->worst = e;
            sums->worst_contact = (int)j;
        }
    }

    ANYWHERE void operator()(int64_t j, Verdict &to) const
    {
        const BallContact at(p, j);
        const double own[3] = { r[3 * j], r[3 * j + 1], r[3 * j + 2] };
        double y[3], mu = p.mu[j], bias = p.b[j], w = at.mean();
        double wr[3] = { w * own[0], w * own[1], w * own[2] }, nothing[3] = { 0, 0, 0 };
        double terms2 = at.relative(p, v, y) + bias * bias;
        to.sums.noise2 = 1024 * DBL_EPSILON * DBL_EPSILON * terms2;
        to.sums.terms2 += terms2;
        u[3 * j] = y[0], u[3 * j + 1] = y[1], u[3 * j + 2] = y[2];
        y[0] += bias;
        to.sums.u2 += length_of2(y);
        to.sums.r2 += length_of2(own);
        double scale = cairn_scalar_error_scale(&p, (int)j, length_of2(wr));
        to.sums.drowned2 += length_of2(wr);
        cairn_scalar_take_burden(&p, length_of2(wr), scale, &to.sums);
        to.sums.violation = fmax(to.sums.violation, sqrt(map_error2(mu, own, nothing)));
        double slip = mu * sqrt(y[1] * y[1] + y[2] * y[2]);
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            double lift = law == CAIRN_LAW_COULOMB ? slip : 0;
            double lifted[3] = { y[0] + lift, y[1], y[2] };
            double map2 = map_error2(mu, wr, lifted), apart2 = ball_conditions2(mu, wr, y, lift);
            add_error(&to.sums.law[law], j, apart2 > map2 ? apart2 : map2, scale,
                      to.sums.noise2);
            to.sums.law[law].fclib2 += map_error2(mu, own, lifted);
        }
    }
};

/* `zero` are impulses of 0. */
static void find_norms(cairn_system *s, double *zero, int64_t count)
{
    const cairn_scalar_system *there = s->there;
    if (is_resident(s->p)) {
        s->norms = total<Norms>(s->device, s->own.contacts, BallNorms{ s->held }).sums;
    } else {
        each(s->device, count, [=] ANYWHERE(int64_t i) { zero[i] = 0; });
        s->norms = total<Norms>(s->device, s->own.contacts, [=] ANYWHERE(int64_t j, Norms & to) {
                       cairn_scalar_measure_contact(there, (int)j, zero, &to.sums);
                   }).sums;
    }
    s->norms.known = true;
}

static void judge(cairn_system *s, cairn_law law, const cairn_vector *r, cairn_vector *v,
                  cairn_vector *u, cairn_judgement *out)
{
    const cairn_scalar_system *there = s->there;
    const double *impulse = r->x, *speed = v->x;
    double *relative = u->x;
    if (!s->norms.known)
        find_norms(s, relative, u->count);
    velocity(s, r, v);
    Verdict found;
    if (is_resident(s->p))
        found = total<Verdict>(s->device, s->own.contacts,
                               BallJudge{ s->held, impulse, speed, relative });
    else
        found = total<Verdict>(s->device, s->own.contacts, [=] ANYWHERE(int64_t j, Verdict & to) {
            cairn_scalar_judge_contact(there, (int)j, impulse, speed, relative, &to.sums);
        });
    if (s->device.failed)
        found.sums.law[0].e2 = found.sums.law[1].e2 = NAN;
    cairn_scalar_conclude(&s->norms, law, s->p->scale != NULL, &found.sums, out);
}

static double scale(const cairn_system *s, cairn_law law)
{
    return cairn_scalar_scale_of(&s->norms, law);
}

#endif
