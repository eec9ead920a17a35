/* balls.h - colours of contacts, and sweeps over problems whose contacts are all of balls and
 * walls, in float or double.
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

#include "backend/cuda/system.h"

/* ---- colours --------------------------------------------------------------------------------- */

/* Contacts that may be visited at the same time: no two of one colour act on the same block. The
 * colours depend on the problem alone, not on how threads run. */

/* Contacts of the colour TAIL found all others taken, since a block has more than TAIL contacts:
 * they are visited one after the other. */
enum { TAIL = 63, NO_COLOUR = 64 };
enum { ROUNDS_AT_ONCE = 4 }; /* of the colouring, before the host looks whether all is done */

/* Each contact has a different number, in an order that has nothing to do with its place. The one
 * with the smallest number at both of its blocks is the next to get a colour. */
ANYWHERE static inline unsigned long long lot_of(int64_t j)
{
    uint64_t x = (uint64_t)j * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    return ((x >> 32) << 32) | (uint64_t)(uint32_t)j;
}

/* What a colouring works on. Only contacts with group[j] == chosen take part. */
struct Colouring {
    const int32_t *block; /* two of each contact; < 0: none           */
    const uint8_t *group;
    uint8_t chosen;
    uint8_t *colour;           /* of each contact                     */
    uint64_t *used;            /* bits of each block: colours in use  */
    unsigned long long *claim; /* smallest lot at each block          */

    ANYWHERE bool waits(int64_t j) const
    {
        return group[j] == chosen && colour[j] == NO_COLOUR;
    }

    FOR_DEVICE void draw(int64_t j) const
    {
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                lower_to(&claim[block[2 * j + side]], lot_of(j));
    }

    ANYWHERE bool wins(int64_t j) const
    {
        bool all = true;
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                all = all && claim[block[2 * j + side]] == lot_of(j);
        return all;
    }

    /* The first colour that both blocks have free. */
    ANYWHERE void take(int64_t j) const
    {
        uint64_t taken = 0;
        int c = 0;
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                taken |= used[block[2 * j + side]];
        while (c < TAIL && (taken >> c & 1))
            c++;
        colour[j] = (uint8_t)c;
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                used[block[2 * j + side]] |= (uint64_t)1 << c;
    }
};

/* The contacts of a list that still wait, in the same order, to `to`; returns their number. `place`
 * is room. The list NULL: all contacts. */
static int keep_waiting(Device &d, int count, const int32_t *list, const Colouring &with,
                        int32_t *place, int32_t *to)
{
    each(d, count, [=] ANYWHERE(int64_t i) { place[i] = with.waits(list ? list[i] : i); });
    int left = sum_before(d, count, place);
    each(d, count, [=] ANYWHERE(int64_t i) {
        int64_t j = list ? list[i] : i;
        if (with.waits(j))
            to[place[i]] = (int32_t)j;
    });
    return left;
}

/* Give a colour to all contacts of a group; the others are not looked at. */
static void colour_group(Device &d, int contacts, int blocks, const Colouring &with)
{
    uint64_t *used = with.used;
    unsigned long long *claim = with.claim;
    int32_t *place = d.take<int32_t>((size_t)contacts), *list = d.take<int32_t>((size_t)contacts);
    int32_t *other = d.take<int32_t>((size_t)contacts);
    each(d, blocks, [=] ANYWHERE(int64_t k) { used[k] = 0; });
    int left = keep_waiting(d, contacts, nullptr, with, place, list);
    while (left > 0 && !d.failed) {
        const int32_t *now = list;
        for (int round = 0; round < ROUNDS_AT_ONCE; round++) {
            each(d, left, [=] ANYWHERE(int64_t i) {
                for (int side = 0; side < 2; side++)
                    if (with.block[2 * (int64_t)now[i] + side] >= 0)
                        claim[with.block[2 * (int64_t)now[i] + side]] = ~0ull;
            });
            each(d, left, [=] FOR_DEVICE(int64_t i) {
                if (with.waits(now[i]))
                    with.draw(now[i]);
            });
            each(d, left, [=] ANYWHERE(int64_t i) {
                if (with.waits(now[i]) && with.wins(now[i]))
                    with.take(now[i]);
            });
        }
        left = keep_waiting(d, left, list, with, place, other);
        int32_t *held = list;
        list = other;
        other = held;
    }
}

/* A colouring of contacts in groups; the arrays are the device's. */
static Colouring make_colouring(Device &d, int contacts, int blocks, const int32_t *block,
                                const uint8_t *group)
{
    Colouring c = { block,
                    group,
                    0,
                    d.take<uint8_t>(contacts),
                    d.take<uint64_t>(blocks),
                    d.take<unsigned long long>(blocks) };
    uint8_t *colour = c.colour;
    each(d, contacts, [=] ANYWHERE(int64_t j) { colour[j] = NO_COLOUR; });
    return c;
}

/* Colours by the pattern of W, on the host: contacts of one colour share no entry of W either way.
 * W may couple everything with everything: there is no limit to their number. */
static std::vector<int32_t> colours_by_matrix(const cairn_problem *p)
{
    int d = p->dimension;
    std::vector<std::vector<int32_t>> near(p->contacts);
    for (int j = 0; j < p->contacts; j++)
        for (int64_t k = p->W->start[(int64_t)j * d]; k < p->W->start[(int64_t)(j + 1) * d]; k++) {
            int32_t other = p->W->column[k] / d;
            if (other != j) {
                near[j].push_back(other);
                near[other].push_back(j);
            }
        }
    std::vector<int32_t> colour(p->contacts, -1), last(p->contacts + 1, -1);
    for (int j = 0; j < p->contacts; j++) {
        for (int32_t other : near[j])
            if (colour[other] >= 0)
                last[colour[other]] = j;
        int32_t c = 0;
        while (last[c] == j)
            c++;
        colour[j] = c;
    }
    return colour;
}

enum { INSIDE, BETWEEN }; /* groups of contacts */
/* Bodies of a tile. Without friction a body takes half the memory: tiles are twice as large. */
enum { SMALLEST_TILE = 128, LARGEST_TILE = 1024, TILES_WANTED = 528 };

/* ---- one contact ----------------------------------------------------------------------------- */

/* Without friction (SMOOTH) bodies keep their spins, which sweeps then do not need. */
template <class Real, bool SMOOTH> struct alignas(16) Ball {
    Real v[3], m; /* m/s; 1/kg                       */
    Real s[3], k; /* m/s; R^2/I, 1/kg; 0 for a wall  */
};

template <class Real> struct alignas(16) Ball<Real, true> {
    Real v[3], m;
};

/* The velocity i of a body: of its centre, then of its surface. */
template <class Real> ANYWHERE static inline Real &speed_of(Ball<Real, false> &ball, int i)
{
    return i < 3 ? ball.v[i] : ball.s[i - 3];
}

template <class Real> ANYWHERE static inline Real &speed_of(Ball<Real, true> &ball, int i)
{
    return ball.v[i];
}

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
ANYWHERE static inline void relative_of(const Ball<Real, false> &a, const Ball<Real, false> &b,
                                        const Real *n, const Real *w, Real *u)
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
    bool smooth;                  /* no contact has friction                                 */
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
template <class Real, bool SMOOTH> struct Balls {
    /* numbers of the impulse of a contact, and of the velocity of a body */
    enum { AXES = SMOOTH ? 1 : 3, SPEEDS = SMOOTH ? 3 : 6 };

    int64_t contacts;
    const int32_t *block;
    const Real *n, *mu, *shift, *w; /* w NULL: none */
    Real *r, *point;
    Ball<Real, SMOOTH> *body;
    Real *body_point; /* SPEEDS of each */

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
            out[axis] = SMOOTH ? r[i] * n[axis] : r[axis * contacts + i];
    }

    ANYWHERE void start_impulse(int64_t i, const double *in_space, double normal) const
    {
        for (int axis = 0; axis < AXES; axis++)
            r[axis * contacts + i] = point[axis * contacts + i] =
                (Real)(SMOOTH ? normal : in_space[axis]);
    }
};

/* What sweeps read of the contact at place i: it does not depend on other contacts. */
template <class Real, bool SMOOTH> struct Visited {
    int32_t block[2];
    Real n[3], r[SMOOTH ? 1 : 3], point[SMOOTH ? 1 : 3], mu, shift;

    ANYWHERE Visited(const Balls<Real, SMOOTH> &x, int64_t i)
    {
        block[0] = x.block[2 * i];
        block[1] = x.block[2 * i + 1];
        x.load(x.n, i, n);
        for (int axis = 0; axis < x.AXES; axis++) {
            r[axis] = x.r[axis * x.contacts + i];
            point[axis] = x.point[axis * x.contacts + i];
        }
        mu = SMOOTH ? 0 : x.mu[i];
        shift = x.shift[i];
    }

    /* The contacts of a tile stand one after the other: while threads visit some, the next ones
     * come nearer. */
    FOR_DEVICE static void prefetch(const Balls<Real, SMOOTH> &x, int64_t i)
    {
        if (i >= x.contacts)
            return;
        fetch_soon(x.block + 2 * i);
        fetch_soon(x.shift + i);
        if (!SMOOTH)
            fetch_soon(x.mu + i);
        for (int axis = 0; axis < 3; axis++)
            fetch_soon(x.n + axis * x.contacts + i);
        for (int axis = 0; axis < x.AXES; axis++) {
            fetch_soon(x.r + axis * x.contacts + i);
            fetch_soon(x.point + axis * x.contacts + i);
        }
    }

    /* y = r + beta (r - point), and the point from which the next momentum is measured */
    ANYWHERE void move_on(Pace<Real> pace, Real *y)
    {
        for (int axis = 0; axis < (SMOOTH ? 1 : 3); axis++) {
            y[axis] = r[axis] + pace.beta * (r[axis] - point[axis]);
            point[axis] = r[axis] + pace.lean * (y[axis] - r[axis]);
        }
    }

    ANYWHERE void store(const Balls<Real, SMOOTH> &x, int64_t i) const
    {
        for (int axis = 0; axis < x.AXES; axis++) {
            x.r[axis * x.contacts + i] = r[axis];
            x.point[axis * x.contacts + i] = point[axis];
        }
    }
};

/* Visit a contact without friction: r = max(0, y - (u_N + shift)/W_N). */
template <class Real>
ANYWHERE static inline void visit_ball(const Balls<Real, true> &x, int64_t i,
                                       Visited<Real, true> at, Pace<Real> pace, Ball<Real, true> *a,
                                       Ball<Real, true> *b, SweepSum &sum)
{
    Ball<Real, true> wall = {}, first = a ? *a : wall, second = b ? *b : wall;
    Real y, W = first.m + second.m, u = at.shift;
    at.move_on(pace, &y);
    for (int axis = 0; axis < 3; axis++)
        u += at.n[axis] * (first.v[axis] - second.v[axis]);
    Real r = W > 0 ? y - u / W : 0;
    at.r[0] = r > 0 ? r : 0;
    at.store(x, i);
    Real change = at.r[0] - y;
    sum.change2 += (double)(W * W * change * change);
    sum.uphill -= (double)(change * (at.r[0] - at.point[0]));
    for (int axis = 0; axis < 3; axis++) {
        first.v[axis] += first.m * change * at.n[axis];
        second.v[axis] -= second.m * change * at.n[axis];
    }
    if (a)
        *a = first;
    if (b)
        *b = second;
}

/* Visit the contact at place i between bodies a and b; NULL: a wall. */
template <class Real>
ANYWHERE static inline void visit_ball(const Balls<Real, false> &x, int64_t i,
                                       Visited<Real, false> at, Pace<Real> pace,
                                       Ball<Real, false> *a, Ball<Real, false> *b, SweepSum &sum)
{
    Ball<Real, false> wall = {}, first = a ? *a : wall, second = b ? *b : wall;
    Real w[3], y[3], u[3], change[3], turn[3];
    x.load(x.w, i, w);
    at.move_on(pace, y);
    Real W_N = first.m + second.m, W_T = W_N + first.k + second.k;
    relative_of(first, second, at.n, w, u);
    solve_ball(pace.law, W_N, W_T, at.mu, at.shift, at.n, u, y, at.r);
    at.store(x, i);
    Real along = 0, length2 = 0, weight = (W_N + 2 * W_T) / 3;
    for (int axis = 0; axis < 3; axis++) {
        change[axis] = at.r[axis] - y[axis];
        length2 += change[axis] * change[axis];
        along += change[axis] * (at.r[axis] - at.point[axis]);
    }
    sum.change2 += (double)(weight * weight * length2);
    sum.uphill -= (double)along;
    cross3r(change, at.n, turn);
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
    Balls<Real, SMOOTH> x;
    Pace<Real> pace;
    const int32_t *first;
    int tile, blocks, colours;
    SweepSum *sums;

    /* Load a body with its momentum. */
    FOR_DEVICE void load(int64_t k, Ball<Real, SMOOTH> *to) const
    {
        enum { SPEEDS = Balls<Real, SMOOTH>::SPEEDS };
        Ball<Real, SMOOTH> now = x.body[k];
        for (int i = 0; i < SPEEDS; i++) {
            Real *speed = &speed_of(now, i), *point = &x.body_point[SPEEDS * k + i];
            Real moved = *speed + pace.beta * (*speed - *point);
            *point = *speed + pace.lean * (moved - *speed);
            *speed = moved;
        }
        *to = now;
    }

    FOR_DEVICE void visit(int64_t i, int base, Ball<Real, SMOOTH> *body, SweepSum &sum) const
    {
        Visited<Real, SMOOTH>::prefetch(x, i + TEAM);
        const Visited<Real, SMOOTH> at(x, i);
        int32_t a = at.block[0], b = at.block[1];
        visit_ball(x, i, at, pace, a < 0 ? nullptr : body + (a - base),
                   b < 0 ? nullptr : body + (b - base), sum);
    }

    FOR_DEVICE void operator()(Team<SweepSum> &team, int t) const
    {
        Ball<Real, SMOOTH> *body = reinterpret_cast<Ball<Real, SMOOTH> *>(team.shared);
        int32_t *begin = reinterpret_cast<int32_t *>(body + tile);
        int base = t * tile, count = blocks - base < tile ? blocks - base : tile;
        team.let_next_begin();
        team.each(0, colours + 2, [&](int c) { begin[c] = first[(int64_t)t * (colours + 2) + c]; });
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
    Balls<Real, SMOOTH> x;
    Pace<Real> pace;
    int64_t begin, end;
    bool one_by_one;
    SweepSum *sums;

    FOR_DEVICE void visit(int64_t i, const Visited<Real, SMOOTH> &at, SweepSum &sum) const
    {
        int32_t a = at.block[0], b = at.block[1];
        visit_ball(x, i, at, pace, a < 0 ? nullptr : x.body + a, b < 0 ? nullptr : x.body + b, sum);
    }

    FOR_DEVICE void operator()(Team<SweepSum> &team, int t) const
    {
        int64_t from = begin + (int64_t)t * TEAM, to = end < from + TEAM ? end : from + TEAM;
        team.let_next_begin();
        if (one_by_one)
            team.each_later(
                0, 1, [&](int) { return 0; },
                [&](int, int) {
                    for (int64_t i = begin; i < end; i++)
                        visit(i, Visited<Real, SMOOTH>(x, i), team.own);
                });
        else
            team.each_later(
                (int)from, (int)to, [&](int i) { return Visited<Real, SMOOTH>(x, i); },
                [&](int i, const Visited<Real, SMOOTH> &at) { visit(i, at, team.own); });
        team.store_sum(sums + t);
    }
};

/* ---- the graph ------------------------------------------------------------------------------- */

static int tile_for(int blocks, bool smooth)
{
    int tile = SMALLEST_TILE, largest = smooth ? 2 * LARGEST_TILE : LARGEST_TILE;
    while (tile < largest && blocks / tile > TILES_WANTED)
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

/* Whether a problem has no friction anywhere. */
static bool is_smooth(const cairn_problem *p)
{
    return is_resident(p) && p->resident->friction == 0;
}

/* The lists of the problem's contacts, naming their places. */
static Lists by_place(Device &d, const BallGraph *g, const Lists &lists)
{
    int64_t contacts = g->contacts;
    int32_t *place = d.take<int32_t>((size_t)contacts);
    int32_t *entry = d.take<int32_t>(2 * (size_t)contacts);
    const int32_t *contact = g->contact;
    each(d, contacts, [=] ANYWHERE(int64_t i) { place[contact[i]] = (int32_t)i; });
    each(d, 2 * contacts, [=] ANYWHERE(int64_t e) {
        entry[e] = 2 * place[lists.entry[e] / 2] + lists.entry[e] % 2;
    });
    return Lists{ entry, lists.start };
}

/* NULL: no memory. */
static BallGraph *make_graph(cairn_system *s)
{
    Device &d = s->device;
    BallGraph *g = new (std::nothrow) BallGraph();
    if (!g)
        return nullptr;
    g->smooth = is_smooth(s->p);
    g->tile = tile_for(s->p->blocks, g->smooth);
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
    g->lists = by_place(d, g, s->lists);
    return g;
}

#endif
