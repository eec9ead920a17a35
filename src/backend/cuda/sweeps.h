/* sweeps.h - block Gauss-Seidel on the device: problems of balls in float or double (balls.h), all
 * others contact by contact as the scalar back end visits them, in double, colour by colour. */
#ifndef CAIRN_BACKEND_CUDA_SWEEPS_H
#define CAIRN_BACKEND_CUDA_SWEEPS_H

#include "backend/cuda/balls.h"

/* Contacts by colour: those of colour c are order[first[c]] to order[first[c + 1] - 1]. The last
 * one may be a tail, visited one after the other. */
struct ByColour {
    const int32_t *order = nullptr;
    std::vector<int64_t> first;
    bool has_tail = false;
};

/* Impulses and velocities that sweeps work on. */
struct Sweeps : cairn_sweeping {
    cairn_system *s = nullptr;
    SweepSum *sums = nullptr; /* of the teams of a sweep */

    virtual ~Sweeps() {}
    virtual void begin(const cairn_vector *r, const cairn_vector *v) = 0;
    virtual SweepSum sweep(cairn_law law, cairn_momentum momentum) = 0;
    virtual cairn_measured measure(cairn_law law) const = 0;
    virtual void unload(cairn_vector *r) const = 0;
    virtual void load_velocities(const cairn_vector *v) = 0;
    virtual void refresh() = 0;
};

static int64_t teams_for(int64_t count)
{
    return (count + TEAM - 1) / TEAM;
}

static SweepSum total_of(Device &d, const SweepSum *sums, int64_t count)
{
    return total<SweepSum>(d, count, [=] ANYWHERE(int64_t i, SweepSum & to) { to.add(sums[i]); });
}

/* ---- balls ----------------------------------------------------------------------------------- */

/* A body with other velocities. What rounding had added to the old ones was no movement: the points
 * from which momentum is measured are shifted by the same amount, or momentum would multiply it. */
template <class Real, bool SMOOTH>
ANYWHERE static inline void replace_body(const Balls<Real, SMOOTH> &x, int64_t k,
                                         Ball<Real, SMOOTH> now)
{
    Ball<Real, SMOOTH> old = x.body[k];
    for (int i = 0; i < x.SPEEDS; i++)
        x.body_point[x.SPEEDS * k + i] += speed_of(now, i) - speed_of(old, i);
    x.body[k] = now;
}

/* A body with velocity v, and its 1/m and 1/I, in its two forms. */
template <class Real>
ANYWHERE static inline Ball<Real, false> make_ball(const Balls<Real, false> &, double R,
                                                   const double *v, const double *inverse)
{
    Ball<Real, false> now;
    for (int i = 0; i < 3; i++) {
        now.v[i] = (Real)v[i];
        now.s[i] = (Real)(R * v[3 + i]);
    }
    now.m = (Real)inverse[0];
    now.k = (Real)(R * R * inverse[3]);
    return now;
}

template <class Real>
ANYWHERE static inline Ball<Real, true> make_ball(const Balls<Real, true> &, double,
                                                  const double *v, const double *inverse)
{
    return Ball<Real, true>{ { (Real)v[0], (Real)v[1], (Real)v[2] }, (Real)inverse[0] };
}

/* Bodies from velocities v of the blocks. `first`: there were none before. */
template <class Real, bool SMOOTH>
static void load_bodies(cairn_system *s, const double *v, const Balls<Real, SMOOTH> &x, bool first)
{
    const double *inverse = s->held.mass_inverse, *radius = s->held.radius;
    each(s->device, s->p->blocks, [=] ANYWHERE(int64_t k) {
        Ball<Real, SMOOTH> now = make_ball(x, radius[k], v + 6 * k, inverse + 6 * k);
        if (!first) {
            replace_body(x, k, now);
            return;
        }
        for (int i = 0; i < x.SPEEDS; i++)
            x.body_point[x.SPEEDS * k + i] = speed_of(now, i);
        x.body[k] = now;
    });
}

/* The three directions n, t, n x t of a contact, in space. */
ANYWHERE static inline void axes_of(const cairn_problem *p, int64_t j, double axis[3][3])
{
    const double n[3] = { p->normal[j].x, p->normal[j].y, p->normal[j].z };
    const double t[3] = { p->tangent[j].x, p->tangent[j].y, p->tangent[j].z };
    for (int i = 0; i < 3; i++) {
        axis[0][i] = n[i];
        axis[1][i] = t[i];
    }
    cross3r(n, t, axis[2]);
}

/* A vector given along these directions, in space. */
ANYWHERE static inline double in_space(const double axis[3][3], const double *x, int i)
{
    return x[0] * axis[0][i] + x[1] * axis[1][i] + x[2] * axis[2][i];
}

/* Everything of the contacts but their impulses. */
template <class Real, bool SMOOTH>
static void load_contacts(cairn_system *s, Balls<Real, SMOOTH> *x)
{
    const cairn_scalar_system *there = s->there;
    const int32_t *contact = s->graph->contact;
    int64_t count = x->contacts;
    Device &d = s->device;
    Real *n = d.take<Real>(3 * (size_t)count), *mu = d.take<Real>((size_t)count);
    Real *shift = d.take<Real>((size_t)count), *w = nullptr;
    if (s->p->w)
        w = d.take<Real>(3 * (size_t)count);
    each(d, count, [=] ANYWHERE(int64_t i) {
        int64_t j = contact[i];
        double axis[3][3];
        axes_of(there->p, j, axis);
        mu[i] = (Real)there->p->mu[j];
        shift[i] = (Real)there->shift[j];
        for (int k = 0; k < 3; k++) {
            n[k * count + i] = (Real)axis[0][k];
            if (w)
                w[k * count + i] = (Real)in_space(axis, there->p->w + 3 * j, k);
        }
    });
    x->n = n;
    x->mu = mu;
    x->shift = shift;
    x->w = w;
}

template <class Real, bool SMOOTH>
static void begin_balls(cairn_system *s, const double *r, const double *v, Balls<Real, SMOOTH> *x)
{
    Device &d = s->device;
    const BallGraph *g = s->graph;
    int64_t count = g->contacts, blocks = s->p->blocks;
    x->contacts = count;
    x->block = g->block;
    x->r = d.take<Real>(x->AXES * (size_t)count);
    x->point = d.take<Real>(x->AXES * (size_t)count);
    x->body = d.take<Ball<Real, SMOOTH>>((size_t)blocks);
    x->body_point = d.take<Real>(x->SPEEDS * (size_t)blocks);
    load_contacts(s, x);
    load_bodies(s, v, *x, true);
    Balls<Real, SMOOTH> own = *x;
    const cairn_scalar_system *there = s->there;
    const int32_t *contact = g->contact;
    each(d, count, [=] ANYWHERE(int64_t i) {
        double axis[3][3], impulse[3];
        int64_t j = contact[i];
        axes_of(there->p, j, axis);
        for (int k = 0; k < 3; k++)
            impulse[k] = in_space(axis, r + 3 * j, k);
        own.start_impulse(i, impulse, r[3 * j]);
    });
}

template <class Real, bool SMOOTH>
static SweepSum sweep_balls(Sweeps *own, const Balls<Real, SMOOTH> &x, cairn_law law,
                            cairn_momentum m)
{
    Device &d = own->s->device;
    const BallGraph *g = own->s->graph;
    Pace<Real> pace = { law, (Real)m.beta, (Real)m.lean };
    SweepSum *sums = own->sums;
    size_t shared =
        (size_t)g->tile * sizeof(Ball<Real, SMOOTH>) + (size_t)(g->colours + 2) * sizeof(int32_t);
    teams<SweepSum>(
        d, g->tiles, shared,
        TileSweep<Real, SMOOTH>{ x, pace, g->first, g->tile, own->s->p->blocks, g->colours, sums });
    sums += g->tiles;
    for (int c = 0; c <= TAIL; c++) {
        int64_t begin = g->between[c], end = g->between[c + 1];
        int64_t count = c == TAIL ? (end > begin) : teams_for(end - begin);
        teams<SweepSum>(d, (int)count, 0,
                        BetweenSweep<Real, SMOOTH>{ x, pace, begin, end, c == TAIL, sums }, EARLY);
        sums += count;
    }
    return total_of(d, own->sums, sums - own->sums);
}

/* Sums of cairn_measured, and of one contact e^2 and |w r|^2. */
struct Errors {
    double e2 = 0, share = 0;

    ANYWHERE void add(const Errors &more)
    {
        e2 += more.e2;
        share = more.share <= share ? share : more.share; /* NaN stays */
    }
};

struct ContactError {
    double e2, weighed2;
};

/* The contact at place i. */
template <class Real>
ANYWHERE static inline ContactError
contact_error(const cairn_problem &, const Balls<Real, false> &x, int64_t i, cairn_law law)
{
    int32_t a = x.block[2 * i], b = x.block[2 * i + 1];
    Ball<Real, false> wall = {}, first = a < 0 ? wall : x.body[a];
    Ball<Real, false> second = b < 0 ? wall : x.body[b];
    Real n[3], w[3], r[3], u[3], W_N = first.m + second.m;
    x.load(x.n, i, n);
    x.load(x.w, i, w);
    x.load_impulse(i, n, r);
    relative_of(first, second, n, w, u);
    for (int k = 0; k < 3; k++)
        u[k] += x.shift[i] * n[k];
    Real weight = W_N + (Real)2 / 3 * (first.k + second.k);
    double weighed2 = (double)weight * (double)weight * (double)dot3r(r, r);
    return ContactError{ error2_of(law, weight, x.mu[i], n, r, u), weighed2 };
}

/* Without friction: e = min(w r, u_N). Spins are not at hand, masses are those of the problem. */
template <class Real>
ANYWHERE static inline ContactError contact_error(const cairn_problem &p,
                                                  const Balls<Real, true> &x, int64_t i, cairn_law)
{
    Real n[3], u = x.shift[i], w = 0;
    x.load(x.n, i, n);
    for (int side = 0; side < 2; side++) {
        int32_t k = x.block[2 * i + side];
        if (k < 0)
            continue;
        const Ball<Real, true> ball = x.body[k];
        Real R = (Real)p.radius[k], along = dot3r(n, ball.v);
        u += side ? -along : along;
        w += ball.m + (Real)2 / 3 * R * R * (Real)p.mass_inverse[6 * (int64_t)k + 3];
    }
    double pushes = (double)(w * x.r[i]), e = pushes < (double)u ? pushes : (double)u;
    return ContactError{ e * e + 0 * (pushes + (double)u), pushes * pushes }; /* NaN stays */
}

template <class Real, bool SMOOTH>
static cairn_measured measure_balls(const Sweeps *own, const Balls<Real, SMOOTH> &x, cairn_law law)
{
    const cairn_problem held = own->s->held;
    const int32_t *contact = own->s->graph->contact;
    Errors sum = total<Errors>(own->s->device, x.contacts, [=] ANYWHERE(int64_t i, Errors & to) {
        ContactError found = contact_error(held, x, i, law);
        double scale = cairn_scalar_error_scale(&held, contact[i], found.weighed2);
        Errors one;
        one.e2 = found.e2;
        one.share = found.e2 == 0 || !held.scale ? 0 : sqrt(found.e2) / scale;
        to.add(one);
    });
    return cairn_measured{ std::sqrt(sum.e2), sum.share };
}

/* Sweeps have impulses in space: along the directions of the contact, rounding may leave them a
 * little outside the cone, and without friction a little tangential. They are put back. */
template <class Real, bool SMOOTH>
static void unload_balls(const Sweeps *own, const Balls<Real, SMOOTH> &x, double *r)
{
    const cairn_scalar_system *there = own->s->there;
    const int32_t *contact = own->s->graph->contact;
    each(own->s->device, x.contacts, [=] ANYWHERE(int64_t i) {
        double axis[3][3];
        Real now[3], n[3];
        int64_t j = contact[i];
        if (SMOOTH) {
            r[3 * j] = x.r[i];
            r[3 * j + 1] = r[3 * j + 2] = 0;
            return;
        }
        x.load(x.n, i, n);
        x.load_impulse(i, n, now);
        axes_of(there->p, j, axis);
        for (int k = 0; k < 3; k++)
            r[3 * j + k] = now[0] * axis[k][0] + now[1] * axis[k][1] + now[2] * axis[k][2];
        cairn_cone_project(3, there->p->mu[j], r + 3 * j);
    });
}

/* v = v_free + M^-1 H' r of block k, summed in double. */
template <class Real, bool SMOOTH>
ANYWHERE static inline void sum_impulses(const cairn_problem &p, const Balls<Real, SMOOTH> &x,
                                         const Lists &lists, int64_t k, double v[6])
{
    double push[3] = { 0, 0, 0 }, spin[3] = { 0, 0, 0 };
    for (int32_t e = lists.start[k]; e < lists.start[k + 1]; e++) {
        int64_t i = lists.entry[e] / 2;
        double sign = lists.entry[e] % 2 ? -1 : 1, n[3], r[3], turn[3];
        Real normal[3], impulse[3];
        x.load(x.n, i, normal);
        x.load_impulse(i, normal, impulse);
        for (int axis = 0; axis < 3; axis++) {
            n[axis] = normal[axis];
            r[axis] = impulse[axis];
        }
        cross3r(r, n, turn);
        for (int axis = 0; axis < 3; axis++) {
            push[axis] += sign * r[axis];
            spin[axis] += turn[axis];
        }
    }
    const double *inverse = p.mass_inverse + 6 * k, *free = p.v_free + 6 * k;
    for (int axis = 0; axis < 3; axis++) {
        v[axis] = free[axis] + inverse[0] * push[axis];
        v[3 + axis] = free[3 + axis] + p.radius[k] * inverse[3] * spin[axis];
    }
}

template <class Real, bool SMOOTH>
static void refresh_balls(const Sweeps *own, const Balls<Real, SMOOTH> &x)
{
    const cairn_problem held = own->s->held;
    Lists lists = own->s->graph->lists;
    each(own->s->device, own->s->p->blocks, [=] ANYWHERE(int64_t k) {
        double v[6];
        sum_impulses(held, x, lists, k, v);
        replace_body(x, k, make_ball(x, held.radius[k], v, held.mass_inverse + 6 * k));
    });
}

template <class Real, bool SMOOTH> struct BallSweeps : Sweeps {
    Balls<Real, SMOOTH> x;

    void begin(const cairn_vector *r, const cairn_vector *v) override
    {
        single = sizeof(Real) == sizeof(float);
        measures = !s->p->s;
        begin_balls(s, r->x, v->x, &x);
        sums = s->device.take<SweepSum>(
            (size_t)(teams_for(s->p->contacts) + s->graph->tiles + TAIL + 2));
    }

    SweepSum sweep(cairn_law law, cairn_momentum momentum) override
    {
        return sweep_balls(this, x, law, momentum);
    }

    cairn_measured measure(cairn_law law) const override
    {
        return measure_balls(this, x, law);
    }

    void unload(cairn_vector *r) const override
    {
        unload_balls(this, x, r->x);
    }

    void load_velocities(const cairn_vector *v) override
    {
        load_bodies(s, v->x, x, false);
    }

    void refresh() override
    {
        refresh_balls(this, x);
    }
};

/* ---- any contacts ---------------------------------------------------------------------------- */

/* Contacts [begin, end) of an order, all of one colour. */
struct GeneralSweep {
    const cairn_scalar_state *state;
    const int32_t *order;
    int64_t begin, end;
    cairn_law law;
    bool one_by_one;
    SweepSum *sums;

    FOR_DEVICE void visit(int64_t i, SweepSum &sum) const
    {
        cairn_sweep found = { 0, 0 };
        cairn_scalar_visit(state, order[i], law, &found);
        sum.change2 += found.change2;
        sum.uphill += found.uphill;
    }

    FOR_DEVICE void operator()(Team<SweepSum> &team, int t) const
    {
        int64_t from = begin + (int64_t)t * TEAM, to = end < from + TEAM ? end : from + TEAM;
        if (one_by_one)
            team.each(0, 1, [&](int) {
                for (int64_t i = begin; i < end; i++)
                    visit(i, team.own);
            });
        else
            team.each((int)from, (int)to, [&](int i) { visit(i, team.own); });
        team.store_sum(sums + t);
    }
};

/* Contacts by the colours of their blocks. */
static void colour_blocks(cairn_system *s, ByColour *out)
{
    Device &d = s->device;
    int contacts = s->p->contacts;
    uint8_t *group = d.take<uint8_t>((size_t)contacts);
    uint32_t *key = d.take<uint32_t>((size_t)contacts);
    int32_t *order = d.take<int32_t>((size_t)contacts);
    int64_t *first = d.take<int64_t>(TAIL + 2);
    each(d, contacts, [=] ANYWHERE(int64_t j) { group[j] = 0; });
    Colouring with = make_colouring(d, contacts, s->p->blocks, s->held.block, group);
    colour_group(d, contacts, s->p->blocks, with);
    each(d, contacts, [=] ANYWHERE(int64_t j) {
        key[j] = with.colour[j];
        order[j] = (int32_t)j;
    });
    sort_by(d, contacts, 7, key, order);
    const uint32_t *sorted = key;
    each(d, TAIL + 2,
         [=] ANYWHERE(int64_t c) { first[c] = first_at_least(sorted, contacts, (uint32_t)c); });
    out->order = order;
    out->first.resize(TAIL + 2);
    out->has_tail = true;
    d.download_bytes(out->first.data(), first, out->first.size() * sizeof(int64_t));
}

/* Contacts by the pattern of W. */
static void colour_matrix(cairn_system *s, ByColour *out)
{
    std::vector<int32_t> colour = colours_by_matrix(s->p), order(colour.size());
    int32_t count = colour.empty() ? 0 : *std::max_element(colour.begin(), colour.end()) + 1;
    out->first.assign((size_t)count + 1, 0);
    for (int32_t c : colour)
        out->first[(size_t)c + 1]++;
    for (size_t c = 0; c < (size_t)count; c++)
        out->first[c + 1] += out->first[c];
    std::vector<int64_t> next = out->first;
    for (size_t j = 0; j < colour.size(); j++)
        order[(size_t)next[(size_t)colour[j]]++] = (int32_t)j;
    out->order = s->device.copy_of(order.data(), order.size());
}

/* Impulses and velocities to begin with, in the form of the scalar back end. */
static cairn_scalar_state start_general(cairn_system *s, const cairn_vector *r,
                                        const cairn_vector *v)
{
    Device &d = s->device;
    cairn_scalar_state state = { s->there, d.take<double>((size_t)r->count),
                                 d.take<double>((size_t)v->count), d.take<double>((size_t)r->count),
                                 d.take<double>((size_t)v->count) };
    const double *impulse = r->x, *speed = v->x;
    each(d, r->count, [=] ANYWHERE(int64_t i) { state.r[i] = state.r_point[i] = impulse[i]; });
    each(d, v->count, [=] ANYWHERE(int64_t i) { state.v[i] = state.v_point[i] = speed[i]; });
    return state;
}

/* y = x + beta (x - point), point = x + lean (y - x), x = y */
static void move_on(Device &d, int64_t count, cairn_momentum momentum, double *x, double *point)
{
    each(d, count, [=] ANYWHERE(int64_t i) {
        double y = x[i] + momentum.beta * (x[i] - point[i]);
        point[i] = x[i] + momentum.lean * (y - x[i]);
        x[i] = y;
    });
}

static void copy_numbers(Device &d, int64_t count, const double *from, double *to)
{
    each(d, count, [=] ANYWHERE(int64_t i) { to[i] = from[i]; });
}

struct GeneralSweeps : Sweeps {
    cairn_scalar_state state;
    const cairn_scalar_state *there; /* its copy on the device */
    ByColour by;

    void begin(const cairn_vector *r, const cairn_vector *v) override
    {
        single = measures = false;
        state = start_general(s, r, v);
        there = s->device.copy_of(&state, 1);
        if (s->p->W)
            colour_matrix(s, &by);
        else
            colour_blocks(s, &by);
        sums = s->device.take<SweepSum>((size_t)teams_for(s->p->contacts) + by.first.size());
    }

    SweepSum sweep(cairn_law law, cairn_momentum momentum) override
    {
        Device &d = s->device;
        SweepSum *next = sums;
        move_on(d, (int64_t)s->own.contacts * s->own.d, momentum, state.r, state.r_point);
        move_on(d, (int64_t)s->own.blocks * s->own.n, momentum, state.v, state.v_point);
        for (size_t c = 0; c + 1 < by.first.size(); c++) {
            int64_t from = by.first[c], to = by.first[c + 1];
            bool tail = by.has_tail && c == TAIL;
            int64_t count = tail ? (to > from) : teams_for(to - from);
            teams<SweepSum>(d, (int)count, 0,
                            GeneralSweep{ there, by.order, from, to, law, tail, next });
            next += count;
        }
        return total_of(d, sums, next - sums);
    }

    cairn_measured measure(cairn_law) const override
    {
        return cairn_measured{ NAN, NAN };
    }

    void unload(cairn_vector *r) const override
    {
        copy_numbers(s->device, r->count, state.r, r->x);
    }

    void load_velocities(const cairn_vector *v) override
    {
        copy_numbers(s->device, v->count, v->x, state.v);
    }

    void refresh() override
    {
        cairn_vector r = { state.r, nullptr, 0 }, v = { state.v, nullptr, 0 };
        velocity(s, &r, &v);
    }
};

/* ---- the table's functions ------------------------------------------------------------------- */

/* Whether all contacts are of balls, with circular cones. */
static bool is_of_balls(const cairn_problem *p)
{
    bool circular = !p->W && p->rolling + p->spinning + p->directions == 0;
    if (p->resident)
        return true;
    return circular && p->segments && p->segments->count == 1 &&
           p->segments->item[0].kind == CAIRN_KIND_BALLS;
}

/* NULL: no memory. */
static Sweeps *make_sweeps(const cairn_system *s, bool coarse)
{
    if (!s->graph)
        return new (std::nothrow) GeneralSweeps();
    if (s->graph->smooth && coarse)
        return new (std::nothrow) BallSweeps<float, true>();
    if (s->graph->smooth)
        return new (std::nothrow) BallSweeps<double, true>();
    if (coarse)
        return new (std::nothrow) BallSweeps<float, false>();
    return new (std::nothrow) BallSweeps<double, false>();
}

static cairn_status begin(cairn_system *s, bool coarse, const cairn_vector *r,
                          const cairn_vector *v, cairn_sweeping **out)
{
    if (!s->graph && is_of_balls(s->p)) {
        s->graph = make_graph(s);
        if (!s->graph)
            return CAIRN_NO_MEMORY;
    }
    Sweeps *own = make_sweeps(s, coarse);
    if (!own)
        return CAIRN_NO_MEMORY;
    s->sweeps.push_back(own);
    own->s = s;
    own->begin(r, v);
    *out = own;
    return s->device.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static Sweeps *sweeps_of(const cairn_sweeping *state)
{
    return static_cast<Sweeps *>(const_cast<cairn_sweeping *>(state));
}

static cairn_sweep sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum)
{
    Sweeps *own = sweeps_of(state);
    SweepSum sum = own->sweep(law, momentum);
    if (own->s->device.failed)
        sum.change2 = sum.uphill = NAN;
    return cairn_sweep{ sum.change2, sum.uphill };
}

static cairn_measured measure(const cairn_sweeping *state, cairn_law law)
{
    const Sweeps *own = sweeps_of(state);
    cairn_measured found = own->measure(law);
    return own->s->device.failed ? cairn_measured{ NAN, NAN } : found;
}

static void unload(const cairn_sweeping *state, cairn_vector *r)
{
    sweeps_of(state)->unload(r);
}

static void load_velocities(cairn_sweeping *state, const cairn_vector *v)
{
    sweeps_of(state)->load_velocities(v);
}

static void refresh(cairn_sweeping *state)
{
    sweeps_of(state)->refresh();
}

#endif
