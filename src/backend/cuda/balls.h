/* balls.h - sweeps over problems whose contacts are all of balls and walls, in float or double.
 *
 * A body is a record of its velocity v, the speed s = R w of its surface, 1/m and R^2/I, in the
 * order of the blocks, which neighbours in space share. A contact has its normal n and its
 * impulse r in space axes, so that the sweep needs no tangents:
 *     u = va - vb + n x (sa + sb) + w,          W_N = 1/ma + 1/mb,  W_T = W_N + R^2/I of both,
 *     v += +-r/m,  s += (R^2/I) r x n.
 *
 * Blocks are cut into tiles of consecutive ones. A team loads the bodies of a tile into shared
 * memory and visits the contacts inside it, colour by colour with a barrier between; contacts
 * between tiles follow, colour by colour over all of them. Momentum is applied on the way: to a
 * body when its tile is loaded, to a contact when it is visited. */
#ifndef CAIRN_BACKEND_CUDA_BALLS_H
#define CAIRN_BACKEND_CUDA_BALLS_H

#include "backend/cuda/colours.h"

enum { INSIDE, BETWEEN }; /* groups of contacts */
enum { SMALLEST_TILE = 128, LARGEST_TILE = 1024, TILES_WANTED = 528 };

/* ---- one contact ----------------------------------------------------------------------------- */

template <class Real> struct alignas(16) Ball {
    Real v[3], m; /* m/s; 1/kg                       */
    Real s[3], k; /* m/s; R^2/I, 1/kg; 0 for a wall  */
};

struct SweepSum {
    double change2 = 0, uphill = 0;

    ANYWHERE void add(const SweepSum &more)
    {
        change2 += more.change2;
        uphill += more.uphill;
    }
};

/* Numbers of a sweep: the law, and momentum as in cairn_momentum. */
template <class Real> struct Pace {
    cairn_law law;
    Real beta, lean;
};

template <class Real> ANYWHERE static inline Real dot3r(const Real *a, const Real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <class Real> ANYWHERE static inline void cross3r(const Real *a, const Real *b, Real *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* u = va - vb + n x (sa + sb) + w; a and b may be walls. */
template <class Real>
ANYWHERE static inline void relative_of(const Ball<Real> &a, const Ball<Real> &b, const Real *n,
                                        const Real *w, Real *u)
{
    Real s[3] = { a.s[0] + b.s[0], a.s[1] + b.s[1], a.s[2] + b.s[2] };
    cross3r(n, s, u);
    for (int i = 0; i < 3; i++)
        u[i] += a.v[i] - b.v[i] + w[i];
}

/* The impulse that solves a contact whose velocity is u at impulse y: K contains r, orthogonal to
 * W r + q in K*, q = u - W y + shift n. W = diag(W_N, W_T, W_T): the formulas of
 * cairn_local_solve_isotropic. */
template <class Real>
ANYWHERE static inline void solve_ball(cairn_law law, Real W_N, Real W_T, Real mu, Real shift,
                                       const Real *n, const Real *u, const Real *y, Real *r)
{
    Real y_N = dot3r(y, n), u_N = dot3r(u, n), q[3];
    Real q_N = u_N - W_N * y_N + shift;
    for (int i = 0; i < 3; i++)
        q[i] = u[i] - u_N * n[i] - W_T * (y[i] - y_N * n[i]);
    Real speed = sqrt(dot3r(q, q)), normal = W_N > 0 && q_N < 0 ? -q_N / W_N : 0, pull;
    if (speed <= mu * normal * W_T) {
        pull = W_T > 0 ? 1 / W_T : 0;
    } else {
        Real stiffness = W_N + mu * mu * W_T, along = mu * speed - q_N;
        if (law == CAIRN_LAW_CONVEX)
            normal = stiffness > 0 && along > 0 ? along / stiffness : 0;
        pull = mu * normal / speed;
    }
    for (int i = 0; i < 3; i++)
        r[i] = normal * n[i] - pull * q[i];
}

/* e^2 of a contact at impulse r and velocity u (with the bias), as the judge defines it for the
 * convex law with s = 0 or for Coulomb's: the larger of the natural map and of both conditions. */
template <class Real>
ANYWHERE static inline double error2_of(cairn_law law, Real w, Real mu, const Real *n,
                                        const Real *r, const Real *u)
{
    Real r_N = dot3r(r, n), u_N = dot3r(u, n), u_T[3], r_T[3], x_T[3], map2 = 0, friction2 = 0;
    for (int i = 0; i < 3; i++) {
        u_T[i] = u[i] - u_N * n[i];
        r_T[i] = r[i] - r_N * n[i];
        x_T[i] = w * r_T[i] - u_T[i];
    }
    Real slip = sqrt(dot3r(u_T, u_T)), lift = law == CAIRN_LAW_COULOMB ? mu * slip : 0;
    /* w (r - P_K(r - u/w)) = w r - P_K(w r - u), K being a cone */
    Real x_N = w * r_N - u_N - lift, length = sqrt(dot3r(x_T, x_T));
    Real p_N = x_N, cut = 1;
    if (!(x_N >= 0 && length <= mu * x_N)) {
        Real along = x_N + mu * length;
        p_N = along > 0 ? along / (1 + mu * mu) : 0;
        cut = length > 0 ? mu * p_N / length : 0;
    }
    Real bound = w * mu * (r_N > 0 ? r_N : 0), kept = length > bound ? bound / length : 1;
    for (int i = 0; i < 3; i++) {
        Real off = w * r_T[i] - cut * x_T[i], loose = w * r_T[i] - kept * x_T[i];
        map2 += off * off;
        friction2 += loose * loose;
    }
    map2 += (w * r_N - p_N) * (w * r_N - p_N);
    Real pushes = w * r_N, opens = u_N + lift - mu * slip, e_N = pushes < opens ? pushes : opens;
    if (!(e_N > 0)) {
        Real wider = opens > u_N ? opens : u_N, least = pushes < wider ? pushes : wider;
        e_N = least < 0 ? least : 0;
    }
    Real apart2 = e_N * e_N > friction2 ? e_N * e_N : friction2;
    return (double)(apart2 > map2 ? apart2 : map2) + 0 * (double)(apart2 + map2); /* NaN stays */
}

/* ---- all contacts ---------------------------------------------------------------------------- */

/* The contacts of a problem in the order in which they are visited, and their tiles. */
struct BallGraph {
    int tile, tiles;              /* bodies of a tile, number of tiles                       */
    int contacts, inside;         /* those between tiles are the last ones                   */
    int colours;                  /* of contacts inside tiles, the tail not counted          */
    const int32_t *contact;       /* of each place: its contact in the problem               */
    const int32_t *block;         /* of each place: two blocks                               */
    const int32_t *first;         /* colours + 2 of each tile: where its colours begin, where
                                     its tail begins and ends                                */
    Lists lists;                  /* places of the contacts of each block                    */
    std::vector<int64_t> between; /* where each colour of contacts between tiles begins, the
                                     beginning of the tail, and its end                      */
};

/* Arrays by place with `contacts` numbers for each of three axes, and bodies. Kernels get a
 * copy. Without friction impulses are along n: r and point have one number of each contact. */
template <class Real> struct Balls {
    int64_t contacts;
    bool smooth; /* no contact has friction */
    const int32_t *block;
    const Real *n, *mu, *shift, *w; /* w NULL: none */
    Real *r, *point;
    Ball<Real> *body;
    Real *body_point; /* 6 of each */

    ANYWHERE void load(const Real *x, int64_t i, Real *out) const
    {
        for (int axis = 0; axis < 3; axis++)
            out[axis] = x ? x[axis * contacts + i] : 0;
    }

    ANYWHERE void store(Real *x, int64_t i, const Real *in) const
    {
        for (int axis = 0; axis < 3; axis++)
            x[axis * contacts + i] = in[axis];
    }

    /* The impulse in space of the contact with normal n. */
    ANYWHERE void load_impulse(int64_t i, const Real *n, Real *out) const
    {
        for (int axis = 0; axis < 3; axis++)
            out[axis] = smooth ? r[i] * n[axis] : r[axis * contacts + i];
    }

    ANYWHERE void start_impulse(int64_t i, const double *in_space, double normal) const
    {
        if (smooth)
            r[i] = point[i] = (Real)normal;
        for (int axis = 0; !smooth && axis < 3; axis++)
            r[axis * contacts + i] = point[axis * contacts + i] = (Real)in_space[axis];
    }
};

/* Visit a contact without friction: r = max(0, y - (u_N + shift)/W_N). Bodies keep their spin. */
template <class Real>
ANYWHERE static inline void visit_smooth(const Balls<Real> &x, int64_t i, Pace<Real> pace,
                                         Ball<Real> *a, Ball<Real> *b, SweepSum &sum)
{
    Ball<Real> wall = {}, first = a ? *a : wall, second = b ? *b : wall;
    Real n[3], before = x.r[i], y = before + pace.beta * (before - x.point[i]);
    Real point = before + pace.lean * (y - before), W = first.m + second.m, u = x.shift[i];
    x.load(x.n, i, n);
    for (int axis = 0; axis < 3; axis++)
        u += n[axis] * (first.v[axis] - second.v[axis]);
    Real r = W > 0 ? y - u / W : 0, weight = W + (Real)2 / 3 * (first.k + second.k);
    r = r > 0 ? r : 0;
    Real change = r - y;
    x.r[i] = r;
    x.point[i] = point;
    sum.change2 += (double)(weight * weight * change * change);
    sum.uphill -= (double)(change * (r - point));
    for (int axis = 0; axis < 3; axis++) {
        first.v[axis] += first.m * change * n[axis];
        second.v[axis] -= second.m * change * n[axis];
    }
    if (a)
        *a = first;
    if (b)
        *b = second;
}

/* Visit the contact at place i between bodies a and b; NULL: a wall. */
template <class Real, bool SMOOTH>
ANYWHERE static inline void visit_ball(const Balls<Real> &x, int64_t i, Pace<Real> pace,
                                       Ball<Real> *a, Ball<Real> *b, SweepSum &sum)
{
    if (SMOOTH) {
        visit_smooth(x, i, pace, a, b, sum);
        return;
    }
    Ball<Real> wall = {}, first = a ? *a : wall, second = b ? *b : wall;
    Real n[3], w[3], r[3], y[3], point[3], u[3], change[3], turn[3];
    x.load(x.n, i, n);
    x.load(x.w, i, w);
    x.load(x.r, i, r);
    x.load(x.point, i, point);
    for (int axis = 0; axis < 3; axis++) {
        y[axis] = r[axis] + pace.beta * (r[axis] - point[axis]);
        point[axis] = r[axis] + pace.lean * (y[axis] - r[axis]);
    }
    Real W_N = first.m + second.m, W_T = W_N + first.k + second.k;
    relative_of(first, second, n, w, u);
    solve_ball(pace.law, W_N, W_T, x.mu[i], x.shift[i], n, u, y, r);
    Real along = 0, length2 = 0, weight = (W_N + 2 * W_T) / 3;
    for (int axis = 0; axis < 3; axis++) {
        change[axis] = r[axis] - y[axis];
        length2 += change[axis] * change[axis];
        along += change[axis] * (r[axis] - point[axis]);
    }
    sum.change2 += (double)(weight * weight * length2);
    sum.uphill -= (double)along;
    x.store(x.r, i, r);
    x.store(x.point, i, point);
    cross3r(change, n, turn);
    for (int axis = 0; axis < 3; axis++) {
        first.v[axis] += first.m * change[axis];
        first.s[axis] += first.k * turn[axis];
        second.v[axis] -= second.m * change[axis];
        second.s[axis] += second.k * turn[axis];
    }
    if (a)
        *a = first;
    if (b)
        *b = second;
}

/* The sweep over the contacts inside a tile. */
template <class Real, bool SMOOTH> struct TileSweep {
    Balls<Real> x;
    Pace<Real> pace;
    const int32_t *first;
    int tile, blocks, colours;
    SweepSum *sums;

    /* Load a body with its momentum. */
    FOR_DEVICE void load(int64_t k, Ball<Real> *to) const
    {
        Ball<Real> now = x.body[k];
        for (int i = 0; i < (SMOOTH ? 3 : 6); i++) {
            Real *speed = i < 3 ? &now.v[i] : &now.s[i - 3], *point = &x.body_point[6 * k + i];
            Real moved = *speed + pace.beta * (*speed - *point);
            *point = *speed + pace.lean * (moved - *speed);
            *speed = moved;
        }
        *to = now;
    }

    FOR_DEVICE void visit(int64_t i, int base, Ball<Real> *body, SweepSum &sum) const
    {
        int32_t a = x.block[2 * i], b = x.block[2 * i + 1];
        visit_ball<Real, SMOOTH>(x, i, pace, a < 0 ? nullptr : body + (a - base),
                                 b < 0 ? nullptr : body + (b - base), sum);
    }

    FOR_DEVICE void operator()(Team<SweepSum> &team, int t) const
    {
        Ball<Real> *body = reinterpret_cast<Ball<Real> *>(team.shared);
        int base = t * tile, count = blocks - base < tile ? blocks - base : tile;
        const int32_t *begin = first + (int64_t)t * (colours + 2);
        team.each(0, count, [&](int k) { load(base + k, body + k); });
        for (int c = 0; c < colours; c++)
            team.each(begin[c], begin[c + 1], [&](int i) { visit(i, base, body, team.own); });
        team.each(0, 1, [&](int) {
            for (int32_t i = begin[colours]; i < begin[colours + 1]; i++)
                visit(i, base, body, team.own);
        });
        team.each(0, count, [&](int k) { x.body[base + k] = body[k]; });
        team.store_sum(sums + t);
    }
};

/* The sweep over contacts [begin, end) between tiles, all of one colour: TEAM of them each
 * team. For the tail one team visits them one after the other. */
template <class Real, bool SMOOTH> struct BetweenSweep {
    Balls<Real> x;
    Pace<Real> pace;
    int64_t begin, end;
    bool one_by_one;
    SweepSum *sums;

    FOR_DEVICE void visit(int64_t i, SweepSum &sum) const
    {
        int32_t a = x.block[2 * i], b = x.block[2 * i + 1];
        visit_ball<Real, SMOOTH>(x, i, pace, a < 0 ? nullptr : x.body + a,
                                 b < 0 ? nullptr : x.body + b, sum);
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

/* ---- the graph ------------------------------------------------------------------------------- */

static int tile_for(int blocks)
{
    int tile = SMALLEST_TILE;
    while (tile < LARGEST_TILE && blocks / tile > TILES_WANTED)
        tile *= 2;
    return tile;
}

/* Keys: tile x 64 + colour inside tiles; beyond all of them, the colour between tiles. */
static uint32_t *keys_of(Device &d, int contacts, int tile, int tiles, const Colouring &with)
{
    uint32_t *key = d.take<uint32_t>((size_t)contacts);
    each(d, contacts, [=] ANYWHERE(int64_t j) {
        int32_t a = with.block[2 * j], b = with.block[2 * j + 1], any = a < 0 ? b : a;
        int home = with.group[j] == INSIDE ? any / tile : tiles;
        key[j] = (uint32_t)home * 64 + with.colour[j];
    });
    return key;
}

static int largest_colour(Device &d, int contacts, const Colouring &with)
{
    Largest most = total<Largest>(d, contacts, [=] ANYWHERE(int64_t j, Largest & to) {
        if (with.group[j] == INSIDE && with.colour[j] != TAIL)
            to.add(Largest{ (double)with.colour[j] + 1 });
    });
    return (int)most.x;
}

/* Where the colours of each tile begin, where its tail begins, and where it ends. */
static const int32_t *tile_starts(Device &d, const BallGraph *g, const uint32_t *key)
{
    int64_t stride = g->colours + 2, contacts = g->contacts;
    int colours = g->colours;
    int32_t *first = d.take<int32_t>((size_t)(g->tiles * stride));
    each(d, g->tiles * stride, [=] ANYWHERE(int64_t i) {
        int64_t tile = i / stride, c = i % stride;
        uint32_t colour = (uint32_t)(c < colours ? c : c == colours ? TAIL : 64);
        first[i] = (int32_t)first_at_least(key, contacts, (uint32_t)tile * 64 + colour);
    });
    return first;
}

static void between_starts(Device &d, BallGraph *g, const uint32_t *key)
{
    int64_t contacts = g->contacts;
    uint32_t base = (uint32_t)g->tiles * 64;
    int64_t *first = d.take<int64_t>(65);
    each(d, 65,
         [=] ANYWHERE(int64_t c) { first[c] = first_at_least(key, contacts, base + (uint32_t)c); });
    g->between.resize(65);
    d.download_bytes(g->between.data(), first, 65 * sizeof(int64_t));
    g->inside = (int)g->between[0];
}

static void arrange(Device &d, const cairn_problem &held, BallGraph *g)
{
    int contacts = g->contacts, tile = g->tile;
    const int32_t *block = held.block;
    uint8_t *group = d.take<uint8_t>((size_t)contacts);
    each(d, contacts, [=] ANYWHERE(int64_t j) {
        int32_t a = block[2 * j], b = block[2 * j + 1];
        group[j] = a < 0 || b < 0 || a / tile == b / tile ? INSIDE : BETWEEN;
    });
    Colouring with = make_colouring(d, contacts, held.blocks, block, group);
    for (uint8_t chosen : { INSIDE, BETWEEN }) {
        with.chosen = chosen;
        colour_group(d, contacts, held.blocks, with);
    }
    uint32_t *key = keys_of(d, contacts, tile, g->tiles, with);
    int32_t *order = d.take<int32_t>((size_t)contacts);
    each(d, contacts, [=] ANYWHERE(int64_t j) { order[j] = (int32_t)j; });
    sort_by(d, contacts, bits_for(((uint64_t)g->tiles + 1) * 64), key, order);
    g->colours = largest_colour(d, contacts, with);
    g->contact = order;
    g->first = tile_starts(d, g, key);
    between_starts(d, g, key);
}

/* NULL: no memory. */
static BallGraph *make_graph(cairn_system *s)
{
    Device &d = s->device;
    BallGraph *g = new (std::nothrow) BallGraph();
    if (!g)
        return nullptr;
    g->tile = tile_for(s->p->blocks);
    g->tiles = (s->p->blocks + g->tile - 1) / g->tile;
    g->contacts = s->p->contacts;
    arrange(d, s->held, g);
    int32_t *block = d.take<int32_t>(2 * (size_t)g->contacts);
    const int32_t *from = s->held.block, *contact = g->contact;
    each(d, g->contacts, [=] ANYWHERE(int64_t i) {
        block[2 * i] = from[2 * (int64_t)contact[i]];
        block[2 * i + 1] = from[2 * (int64_t)contact[i] + 1];
    });
    g->block = block;
    g->lists = make_lists(d, s->p->blocks, g->contacts, block);
    return g;
}

#endif
