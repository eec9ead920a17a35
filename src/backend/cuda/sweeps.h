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

enum Precision { GENERAL, SINGLE, DOUBLE };

/* Impulses and velocities that sweeps work on; one of the three states is in use. */
struct Sweeps {
    cairn_sweeping face;
    cairn_system *s;
    Precision precision;
    Balls<float> single;
    Balls<double> twice;
    cairn_scalar_state general;
    const cairn_scalar_state *general_there; /* its copy on the device */
    ByColour colours;
    SweepSum *sums; /* of the teams of a sweep */
    int64_t teams;
};

static int64_t teams_for(int64_t count)
{
    return (count + TEAM - 1) / TEAM;
}

/* ---- balls ----------------------------------------------------------------------------------- */

/* A body with other velocities. What rounding had added to the old ones was no movement: the points
 * from which momentum is measured are shifted by the same amount, or momentum would multiply it. */
template <class Real>
ANYWHERE static inline void replace_body(const Balls<Real> &x, int64_t k, const Ball<Real> &now)
{
    const Ball<Real> old = x.body[k];
    for (int i = 0; i < 3; i++) {
        x.body_point[6 * k + i] += now.v[i] - old.v[i];
        x.body_point[6 * k + 3 + i] += now.s[i] - old.s[i];
    }
    x.body[k] = now;
}

/* Bodies from velocities v of the blocks. `first`: there were none before. */
template <class Real>
static void load_bodies(cairn_system *s, const double *v, const Balls<Real> &x, bool first)
{
    const double *inverse = s->held.mass_inverse, *radius = s->held.radius;
    each(s->device, s->p->blocks, [=] ANYWHERE(int64_t k) {
        Ball<Real> now;
        double R = radius[k];
        for (int i = 0; i < 3; i++) {
            now.v[i] = (Real)v[6 * k + i];
            now.s[i] = (Real)(R * v[6 * k + 3 + i]);
        }
        now.m = (Real)inverse[6 * k];
        now.k = (Real)(R * R * inverse[6 * k + 3]);
        for (int i = 0; first && i < 3; i++) {
            x.body_point[6 * k + i] = now.v[i];
            x.body_point[6 * k + 3 + i] = now.s[i];
        }
        if (first)
            x.body[k] = now;
        else
            replace_body(x, k, now);
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
template <class Real> static void load_contacts(cairn_system *s, Balls<Real> *x)
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

template <class Real>
static void begin_balls(cairn_system *s, const double *r, const double *v, Balls<Real> *x)
{
    Device &d = s->device;
    const BallGraph *g = s->graph;
    int64_t count = g->contacts, blocks = s->p->blocks;
    x->contacts = count;
    x->block = g->block;
    x->smooth = is_resident(s->p) && s->p->resident->friction == 0;
    x->r = d.take<Real>((x->smooth ? 1 : 3) * (size_t)count);
    x->point = d.take<Real>((x->smooth ? 1 : 3) * (size_t)count);
    x->body = d.take<Ball<Real>>((size_t)blocks);
    x->body_point = d.take<Real>(6 * (size_t)blocks);
    load_contacts(s, x);
    load_bodies(s, v, *x, true);
    Balls<Real> own = *x;
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

template <bool SMOOTH, class Real>
static SweepSum sweep_contacts(Sweeps *own, const Balls<Real> &x, cairn_law law, cairn_momentum m)
{
    Device &d = own->s->device;
    const BallGraph *g = own->s->graph;
    Pace<Real> pace = { law, (Real)m.beta, (Real)m.lean };
    SweepSum *sums = own->sums;
    teams<SweepSum>(
        d, g->tiles, (size_t)g->tile * sizeof(Ball<Real>),
        TileSweep<Real, SMOOTH>{ x, pace, g->first, g->tile, own->s->p->blocks, g->colours, sums });
    sums += g->tiles;
    for (int c = 0; c <= TAIL; c++) {
        int64_t begin = g->between[c], end = g->between[c + 1];
        int64_t count = c == TAIL ? (end > begin) : teams_for(end - begin);
        teams<SweepSum>(d, (int)count, 0,
                        BetweenSweep<Real, SMOOTH>{ x, pace, begin, end, c == TAIL, sums });
        sums += count;
    }
    const SweepSum *all = own->sums;
    return total<SweepSum>(d, sums - own->sums,
                           [=] ANYWHERE(int64_t i, SweepSum & to) { to.add(all[i]); });
}

template <class Real>
static SweepSum sweep_balls(Sweeps *own, const Balls<Real> &x, cairn_law law, cairn_momentum m)
{
    return x.smooth ? sweep_contacts<true>(own, x, law, m) : sweep_contacts<false>(own, x, law, m);
}

template <class Real>
static double measure_balls(const Sweeps *own, const Balls<Real> &x, cairn_law law)
{
    Sum sum = total<Sum>(own->s->device, x.contacts, [=] ANYWHERE(int64_t i, Sum & to) {
        int32_t a = x.block[2 * i], b = x.block[2 * i + 1];
        Ball<Real> wall = {}, first = a < 0 ? wall : x.body[a], second = b < 0 ? wall : x.body[b];
        Real n[3], w[3], r[3], u[3], W_N = first.m + second.m;
        x.load(x.n, i, n);
        x.load(x.w, i, w);
        x.load_impulse(i, n, r);
        relative_of(first, second, n, w, u);
        for (int k = 0; k < 3; k++)
            u[k] += x.shift[i] * n[k];
        to.x += error2_of(law, W_N + (Real)2 / 3 * (first.k + second.k), x.mu[i], n, r, u);
    });
    return std::sqrt(sum.x);
}

/* Sweeps have impulses in space: along the directions of the contact, rounding may leave them a
 * little outside the cone, and without friction a little tangential. They are put back. */
template <class Real> static void unload_balls(const Sweeps *own, const Balls<Real> &x, double *r)
{
    const cairn_scalar_system *there = own->s->there;
    const int32_t *contact = own->s->graph->contact;
    each(own->s->device, x.contacts, [=] ANYWHERE(int64_t i) {
        double axis[3][3];
        Real now[3], n[3];
        int64_t j = contact[i];
        if (x.smooth) {
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

/* v = v_free + M^-1 H' r, summed in double. */
template <class Real> static void refresh_balls(const Sweeps *own, const Balls<Real> &x)
{
    const cairn_problem held = own->s->held;
    Lists lists = own->s->graph->lists;
    each(own->s->device, own->s->p->blocks, [=] ANYWHERE(int64_t k) {
        double push[3] = { 0, 0, 0 }, spin[3] = { 0, 0, 0 }, R = held.radius[k];
        Ball<Real> now = x.body[k];
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
        const double *inverse = held.mass_inverse + 6 * k, *free = held.v_free + 6 * k;
        for (int axis = 0; axis < 3; axis++) {
            now.v[axis] = (Real)(free[axis] + inverse[0] * push[axis]);
            now.s[axis] = (Real)(R * free[3 + axis] + R * R * inverse[3] * spin[axis]);
        }
        replace_body(x, k, now);
    });
}

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

static void begin_general(Sweeps *own, const cairn_vector *r, const cairn_vector *v)
{
    cairn_system *s = own->s;
    Device &d = s->device;
    cairn_scalar_state *now = &own->general;
    *now = cairn_scalar_state{ s->there, d.take<double>((size_t)r->count),
                               d.take<double>((size_t)v->count), d.take<double>((size_t)r->count),
                               d.take<double>((size_t)v->count) };
    own->general_there = d.copy_of(now, 1);
    cairn_scalar_state state = *now;
    const double *impulse = r->x, *speed = v->x;
    each(d, r->count, [=] ANYWHERE(int64_t i) { state.r[i] = state.r_point[i] = impulse[i]; });
    each(d, v->count, [=] ANYWHERE(int64_t i) { state.v[i] = state.v_point[i] = speed[i]; });
    if (s->p->W)
        colour_matrix(s, &own->colours);
    else
        colour_blocks(s, &own->colours);
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

static SweepSum sweep_general(Sweeps *own, cairn_law law, cairn_momentum momentum)
{
    cairn_system *s = own->s;
    Device &d = s->device;
    const ByColour &by = own->colours;
    SweepSum *sums = own->sums;
    move_on(d, (int64_t)s->own.contacts * s->own.d, momentum, own->general.r, own->general.r_point);
    move_on(d, (int64_t)s->own.blocks * s->own.n, momentum, own->general.v, own->general.v_point);
    for (size_t c = 0; c + 1 < by.first.size(); c++) {
        int64_t begin = by.first[c], end = by.first[c + 1];
        bool tail = by.has_tail && c == TAIL;
        int64_t count = tail ? (end > begin) : teams_for(end - begin);
        teams<SweepSum>(d, (int)count, 0,
                        GeneralSweep{ own->general_there, by.order, begin, end, law, tail, sums });
        sums += count;
    }
    const SweepSum *all = own->sums;
    return total<SweepSum>(d, sums - own->sums,
                           [=] ANYWHERE(int64_t i, SweepSum & to) { to.add(all[i]); });
}

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

static cairn_status begin(cairn_system *s, bool coarse, const cairn_vector *r,
                          const cairn_vector *v, cairn_sweeping **out)
{
    Sweeps *own = new (std::nothrow) Sweeps();
    if (!own)
        return CAIRN_NO_MEMORY;
    s->sweeps.push_back(own);
    own->s = s;
    bool balls = s->graph || is_of_balls(s->p);
    if (balls && !s->graph)
        s->graph = make_graph(s);
    if (balls && !s->graph)
        return CAIRN_NO_MEMORY;
    own->precision = !balls ? GENERAL : coarse ? SINGLE : DOUBLE;
    own->face.single = own->precision == SINGLE;
    own->face.measures = balls && !s->p->s;
    if (own->precision == GENERAL)
        begin_general(own, r, v);
    else if (own->precision == SINGLE)
        begin_balls(s, r->x, v->x, &own->single);
    else
        begin_balls(s, r->x, v->x, &own->twice);
    own->teams = teams_for(s->p->contacts) + (balls ? s->graph->tiles + 65 : 0) +
                 (int64_t)own->colours.first.size();
    own->sums = s->device.take<SweepSum>((size_t)own->teams);
    *out = &own->face;
    return s->device.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static Sweeps *sweeps_of(const cairn_sweeping *state)
{
    return reinterpret_cast<Sweeps *>(const_cast<cairn_sweeping *>(state));
}

static cairn_sweep sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum)
{
    Sweeps *own = sweeps_of(state);
    SweepSum sum = own->precision == GENERAL  ? sweep_general(own, law, momentum)
                   : own->precision == SINGLE ? sweep_balls(own, own->single, law, momentum)
                                              : sweep_balls(own, own->twice, law, momentum);
    if (own->s->device.failed)
        sum.change2 = sum.uphill = NAN;
    return cairn_sweep{ sum.change2, sum.uphill };
}

static double measure(const cairn_sweeping *state, cairn_law law)
{
    const Sweeps *own = sweeps_of(state);
    double error = own->precision == SINGLE ? measure_balls(own, own->single, law)
                                            : measure_balls(own, own->twice, law);
    return own->s->device.failed ? NAN : error;
}

static void unload(const cairn_sweeping *state, cairn_vector *r)
{
    const Sweeps *own = sweeps_of(state);
    const double *from = own->general.r;
    double *to = r->x;
    if (own->precision == SINGLE)
        unload_balls(own, own->single, to);
    else if (own->precision == DOUBLE)
        unload_balls(own, own->twice, to);
    else
        each(own->s->device, r->count, [=] ANYWHERE(int64_t i) { to[i] = from[i]; });
}

static void load_velocities(cairn_sweeping *state, const cairn_vector *v)
{
    Sweeps *own = sweeps_of(state);
    const double *from = v->x;
    double *to = own->general.v;
    if (own->precision == SINGLE)
        load_bodies(own->s, from, own->single, false);
    else if (own->precision == DOUBLE)
        load_bodies(own->s, from, own->twice, false);
    else
        each(own->s->device, v->count, [=] ANYWHERE(int64_t i) { to[i] = from[i]; });
}

static void refresh(cairn_sweeping *state)
{
    Sweeps *own = sweeps_of(state);
    cairn_vector r = { own->general.r, nullptr, 0 }, v = { own->general.v, nullptr, 0 };
    if (own->precision == SINGLE)
        refresh_balls(own, own->single);
    else if (own->precision == DOUBLE)
        refresh_balls(own, own->twice);
    else
        velocity(own->s, &r, &v);
}

#endif
