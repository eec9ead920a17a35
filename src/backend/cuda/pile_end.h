/* pile_end.h - the contacts of a pile once their impulses are known (pile.h): penetration
 * correction, sums of the certificate, deepest overlap, and copies for the host; and the table. */
#ifndef CAIRN_BACKEND_CUDA_PILE_END_H
#define CAIRN_BACKEND_CUDA_PILE_END_H

#include "backend/cuda/pile.h"

/* ---- penetration correction ------------------------------------------------------------------ */

/* m: the radius of the smaller body; planes and containers have none. */
ANYWHERE static inline double smaller_radius(const PileBodies &b, const PileContacts &c, int64_t j)
{
    int32_t other = c.body[2 * j + 1];
    double one = b.radius[c.body[2 * j]], two = b.radius[other];
    if (two < 0)
        two = -b.inside[other];
    return two > 0 && two < one ? two : one;
}

/* c of a contact, m/s: how far it stays open over h; < 0: an overlap to be corrected. As correct.c:
 * a closing velocity of a contact that overlaps already is an error of the solver. */
ANYWHERE static inline double left_open_of(const PileBodies &b, const PileContacts &c, int64_t j,
                                           const cairn_pile_overlaps &o)
{
    double gap = c.gap[j], u = c.u[3 * j];
    if (gap < 0 && u < 0)
        u = 0;
    double open = u + c.arc[j] + o.gamma * gap;
    if (!(gap < 0 && -open > o.slack))
        return open > 0 ? open : 0;
    double size = smaller_radius(b, c, j), most = -o.portion * size / o.h;
    return -open * o.h <= o.negligible * size ? 0 : open > most ? open : most;
}

/* The least of numbers, at most 0. */
struct Least {
    double x = 0;
    ANYWHERE void add(const Least &more)
    {
        x = more.x < x ? more.x : x;
    }
};

/* The rings of blocks around overlaps: 1 at an overlap, one more for each contact farther away. Two
 * threads that reach a block write the same number. */
static void find_rings(PileSet *s, const double *open, double widest, int rings)
{
    Device &d = s->device;
    const int32_t *block = s->contacts.block;
    int32_t *ring = s->ring = d.take<int32_t>((size_t)s->bodies.blocks);
    each(d, s->bodies.blocks, [=] ANYWHERE(int64_t k) { ring[k] = 0; });
    each(d, s->contacts.count, [=] ANYWHERE(int64_t j) {
        for (int side = 0; side < 2 && open[j] < 0; side++)
            if (block[2 * j + side] >= 0)
                ring[block[2 * j + side]] = 1;
    });
    for (int now = 1; now <= rings; now++)
        each(d, s->contacts.count, [=] ANYWHERE(int64_t j) {
            int32_t a = block[2 * j], b = block[2 * j + 1];
            int32_t one = a < 0 ? 0 : ring[a], two = b < 0 ? 0 : ring[b];
            if (open[j] > widest)
                return;
            if (a >= 0 && one == 0 && two >= 1 && two <= now)
                ring[a] = now + 1;
            if (b >= 0 && two == 0 && one >= 1 && one <= now)
                ring[b] = now + 1;
        });
}

/* The contacts between blocks that were reached, as a problem of their own without friction, from
 * rest. */
static void pose_part(PileSet *s, const double *open, double widest, int rings)
{
    Device &d = s->device;
    const PileContacts c = s->contacts;
    const int32_t *ring = s->ring;
    int32_t *place = d.take<int32_t>((size_t)c.count);
    each(d, c.count, [=] ANYWHERE(int64_t j) {
        bool near = false;
        for (int side = 0; side < 2; side++) {
            int32_t k = c.block[2 * j + side], at = k < 0 ? 0 : ring[k];
            near = near || (at >= 1 && at <= rings);
        }
        place[j] = open[j] <= widest && near;
    });
    int count = sum_before(d, c.count, place);
    size_t room = (size_t)count, blocks = (size_t)s->bodies.blocks;
    int32_t *chosen = d.take<int32_t>(room), *block = d.take<int32_t>(2 * room);
    cairn_vec3 *normal = d.take<cairn_vec3>(room), *tangent = d.take<cairn_vec3>(room);
    double *b = d.take<double>(room), *mu = d.take<double>(room), *r = d.take<double>(3 * room);
    double *u = d.take<double>(3 * room), *z = d.take<double>(6 * blocks);
    double *rest = d.take<double>(6 * blocks);
    each(d, c.count, [=] ANYWHERE(int64_t j) {
        int32_t k = place[j], next = j + 1 < c.count ? place[j + 1] : count;
        if (next == k)
            return;
        chosen[k] = (int32_t)j;
        block[2 * k] = c.block[2 * j];
        block[2 * k + 1] = c.block[2 * j + 1];
        normal[k] = c.normal[j];
        tangent[k] = c.tangent[j];
        b[k] = open[j];
        mu[k] = r[3 * k] = r[3 * k + 1] = r[3 * k + 2] = 0;
    });
    each(d, 6 * (int64_t)blocks, [=] ANYWHERE(int64_t i) { rest[i] = z[i] = 0; });
    s->chosen = chosen;
    s->mending.friction = 0;
    cairn_problem p = { .dimension = 3, .block_size = 6, .contacts = count };
    p.blocks = (int)blocks;
    p.mass_inverse = s->bodies.mass_inverse;
    p.v_free = rest;
    p.block = block;
    p.normal = normal;
    p.tangent = tangent;
    p.radius = s->bodies.radius + s->bodies.held;
    p.b = b;
    p.mu = mu;
    p.resident = &s->mending;
    s->part = cairn_pile_problem{ p, r, z, u, false, -1 };
}

static cairn_status pile_mend(cairn_pile *pile, const cairn_pile_overlaps *overlaps,
                              cairn_pile_problem *out)
{
    PileSet *s = pile->now;
    Device &d = s->device;
    const PileBodies b = s->bodies;
    const PileContacts c = s->contacts;
    const cairn_pile_overlaps o = *overlaps;
    double *open = d.take<double>((size_t)c.count);
    *out = cairn_pile_problem{};
    Least worst = total<Least>(d, c.count, [=] ANYWHERE(int64_t j, Least & to) {
        open[j] = left_open_of(b, c, j, o);
        to.add(Least{ open[j] });
    });
    if (!d.failed && worst.x < 0) {
        find_rings(s, open, -o.wide * worst.x, o.rings);
        pose_part(s, open, -o.wide * worst.x, o.rings);
        *out = s->part;
        d.wait();
    }
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* ---- certificate ----------------------------------------------------------------------------- */

struct PileSums {
    cairn_pile_sums x = {};

    ANYWHERE void add(const PileSums &more)
    {
        x.gap_error = fmax(x.gap_error, more.x.gap_error);
        x.complementarity = fmax(x.complementarity, more.x.complementarity);
        x.friction_direction = fmax(x.friction_direction, more.x.friction_direction);
        x.dilatation = fmax(x.dilatation, more.x.dilatation);
        x.spurious_work += more.x.spurious_work;
        x.impact_loss += more.x.impact_loss;
        x.friction_loss += more.x.friction_loss;
        x.active += more.x.active;
        x.far += more.x.far;
    }
};

/* What the sums over contacts read. */
struct Measuring {
    PileBodies b;
    PileContacts c;
    const double *v;
    double h;
    bool convex;

    /* u = H v of a contact for velocities of blocks, along n, t and n x t. */
    ANYWHERE void relative(int64_t j, const double *speed, double *u) const
    {
        cairn_vec3 at = cairn_vec(0, 0, 0), turn = at, n = c.normal[j], t = c.tangent[j];
        for (int side = 0; side < 2; side++) {
            int64_t k = c.block[2 * j + side];
            if (k < 0)
                continue;
            const double *x = speed + 6 * k;
            at = cairn_add_scaled(at, side ? -1 : 1, cairn_vec(x[0], x[1], x[2]));
            turn = cairn_add_scaled(turn, b.radius[k + b.held], cairn_vec(x[3], x[4], x[5]));
        }
        at = cairn_add(at, cairn_cross(n, turn));
        u[0] = cairn_dot(at, n);
        u[1] = cairn_dot(at, t);
        u[2] = cairn_dot(at, cairn_cross(n, t));
    }

    /* 1/kg: trace(W_jj)/3 */
    ANYWHERE double inverse_mass(int64_t j) const
    {
        double own = 0, turning = 0;
        for (int side = 0; side < 2; side++) {
            int64_t k = c.block[2 * j + side];
            double R = k < 0 ? 0 : b.radius[k + b.held];
            own += k < 0 ? 0 : b.mass_inverse[6 * k];
            turning += k < 0 ? 0 : R * R * b.mass_inverse[6 * k + 3];
        }
        return own + 2 * turning / 3;
    }

    /* Whether one body moves farther than the smaller one's radius relative to the other. */
    ANYWHERE bool is_far(int64_t j) const
    {
        cairn_vec3 way = cairn_vec(0, 0, 0);
        for (int side = 0; side < 2; side++) {
            const double *x = v + 6 * (int64_t)c.block[2 * j + side];
            if (c.block[2 * j + side] >= 0)
                way = cairn_add_scaled(way, side ? -h : h, cairn_vec(x[0], x[1], x[2]));
        }
        return !(cairn_norm(way) <= smaller_radius(b, c, j));
    }

    ANYWHERE void operator()(int64_t j, PileSums &to) const
    {
        const double *r = c.r + 3 * j, *u = c.u + 3 * j;
        double before[3], slip = sqrt(u[1] * u[1] + u[2] * u[2]);
        double lift = convex ? c.mu[j] * slip : 0, open = u[0] + c.b[j] - lift;
        double pull = sqrt(r[1] * r[1] + r[2] * r[2]), w = inverse_mass(j) * r[0];
        cairn_pile_sums own = {};
        own.gap_error = r[0] != 0 ? h * fabs(open < w ? open : w) : open < 0 ? -h * open : 0;
        own.complementarity = fabs(r[0] * open);
        own.friction_direction = (r[1] * u[1] + r[2] * u[2] + pull * slip) / h;
        own.dilatation = r[0] > 0 ? h * lift : 0;
        own.spurious_work = r[0] > 0 ? r[0] * lift : 0;
        own.active = r[0] > 0;
        int32_t wall = c.body[2 * j + 1]; /* along one that is no plane no gap is certain */
        bool curved = b.radius[wall] < 0 && b.inside[wall] != 0;
        own.far = (r[0] > 0 || curved) && is_far(j);
        if (r[0] != 0 || pull != 0) {
            relative(j, b.v_old, before);
            own.impact_loss = -r[0] * 0.5 * (u[0] + before[0]);
            own.friction_loss = -0.5 * (r[1] * (u[1] + before[1]) + r[2] * (u[2] + before[2]));
        }
        to.add(PileSums{ own });
    }
};

/* Also prepares what the next step starts from: nothing after this can fail. */
static cairn_status pile_measure(cairn_pile *pile, cairn_law law, cairn_pile_sums *out)
{
    PileSet *s = pile->now;
    Device &d = s->device;
    const Measuring sums = { s->bodies, s->contacts, s->v, s->h, law == CAIRN_LAW_CONVEX };
    *out = total<PileSums>(d, s->contacts.count, sums).x;
    if (s->ring) {
        const int32_t *chosen = s->chosen;
        const double *r = s->part.r;
        double *correction = s->contacts.correction = d.take<double>((size_t)s->contacts.count);
        each(d, s->contacts.count, [=] ANYWHERE(int64_t j) { correction[j] = 0; });
        each(d, s->part.problem.contacts,
             [=] ANYWHERE(int64_t k) { correction[chosen[k]] = r[3 * k]; });
    }
    discard(pile->next);
    pile->next = d.failed ? nullptr : warm_of(s);
    return pile->next ? CAIRN_OK : CAIRN_NO_MEMORY;
}

struct Deepest {
    double depth = 0, share = 0;
    int64_t contact = -1, lost = 0;

    ANYWHERE void add(const Deepest &more)
    {
        depth = fmax(depth, more.depth);
        lost += more.lost;
        bool equal = more.share == share && more.contact < contact;
        if (more.contact >= 0 && (contact < 0 || more.share > share || equal)) {
            share = more.share;
            contact = more.contact;
        }
    }
};

static constexpr double LOST = 0.1; /* of the smaller radius: faces may not detect a deeper ball */

/* How deep contacts are where bodies end, as penetration.c. The first contact of a ball with a wall
 * of `walls` stands for all of them; without WALLS there are none, and kernels are smaller. */
template <bool WALLS> struct Depths {
    PileBodies b;
    PileContacts c;
    const cairn_vec3 *end;

    ANYWHERE bool is_pair(int64_t j, int32_t one, int32_t two) const
    {
        return j >= 0 && j < c.count && c.body[2 * j] == one && c.body[2 * j + 1] == two;
    }

    /* By the contacts of the pair from j on, taken as planes that stand still. */
    ANYWHERE double by_planes(int64_t j, int32_t one, int32_t two) const
    {
        cairn_vec3 way = cairn_sub(end[one], b.x[one]);
        double depth = 0;
        for (int64_t k = j; is_pair(k, one, two); k++)
            depth = fmax(depth, -(c.gap[k] + cairn_dot(c.normal[k], way)));
        return depth;
    }

    /* The deepest point of a ball in a wall. Behind a surface there may be none: `lost`. */
    FOR_DEVICE double in_wall(int64_t j, int32_t one, int32_t two, bool *lost) const
    {
        const Wall &w = b.wall_of(two);
        bool surface = w.is.kind == CAIRN_WALL_SURFACE;
        double reach = surface ? b.reach[one] : 0, least = INFINITY;
        const Sphere ball = { end[one], b.radius[one], reach };
        each_touch(w, ball, 2 * reach, [&](const Touch &t) { least = fmin(least, t.gap); });
        if (!surface || least < INFINITY)
            return -least;
        double depth = by_planes(j, one, two);
        *lost = depth > LOST * smaller_radius(b, c, j);
        return *lost ? depth : 0;
    }

    FOR_DEVICE void operator()(int64_t j, Deepest &to) const
    {
        int32_t one = c.body[2 * j], two = c.body[2 * j + 1];
        bool lost = false;
        double depth = 0;
        cairn_vec3 n;
        if (!WALLS || !b.is_wall(two))
            depth = -gap_of(b, end, one, two, &n);
        else if constexpr (WALLS)
            depth = is_pair(j - 1, one, two) ? 0 : in_wall(j, one, two, &lost);
        if (depth > 0)
            to.add(Deepest{ depth, depth / smaller_radius(b, c, j), j, lost });
    }
};

static cairn_status pile_deepest(cairn_pile *pile, cairn_pile_depth *out)
{
    PileSet *s = pile->now;
    Device &d = s->device;
    const PileContacts &c = s->contacts;
    const PileBodies &b = s->bodies;
    const cairn_vec3 *end = s->end->x;
    Deepest found = b.wall_count > 0 ? total<Deepest>(d, c.count, Depths<true>{ b, c, end })
                                     : total<Deepest>(d, c.count, Depths<false>{ b, c, end });
    *out = cairn_pile_depth{ found.depth, found.share, { -1, -1 }, found.lost };
    if (found.contact >= 0)
        d.download_bytes(out->body, c.body + 2 * found.contact, sizeof out->body);
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* ---- contacts for the host ------------------------------------------------------------------- */

/* Features and pieces; contacts that are alone in their pair have none. */
static void show_parts(PileSet *s, const cairn_pile_contacts *out)
{
    Device &d = s->device;
    const PileBodies b = s->bodies;
    const PileContacts c = s->contacts;
    size_t count = (size_t)c.count;
    int32_t *feature = out->feature ? d.take<int32_t>(count) : nullptr;
    int32_t *piece = out->piece ? d.take<int32_t>(4 * count) : nullptr;
    each(d, c.count, [=] ANYWHERE(int64_t j) {
        bool first = b.uid[c.body[2 * j]] < b.uid[c.body[2 * j + 1]]; /* b is the wall */
        int32_t face = c.part ? c.part[j].face : -1;
        if (feature)
            feature[j] = c.part ? c.part[j].feature : 0;
        for (int i = 0; piece && i < 4; i++)
            piece[4 * j + i] = i == (first ? 3 : 1) ? face : -1;
    });
    if (feature)
        d.download_bytes(out->feature, feature, count * sizeof *feature);
    if (piece)
        d.download_bytes(out->piece, piece, 4 * count * sizeof *piece);
}

static cairn_status pile_show(cairn_pile *pile, bool now, const cairn_pile_contacts *out)
{
    PileSet *s = now ? pile->now : pile->kept;
    Device &d = s->device;
    const PileBodies b = s->bodies;
    const PileContacts c = s->contacts;
    size_t count = (size_t)c.count;
    int32_t *uid = d.take<int32_t>(2 * count);
    cairn_vec3 *point = d.take<cairn_vec3>(count);
    each(d, c.count, [=] ANYWHERE(int64_t j) {
        int32_t one = c.body[2 * j];
        double away = b.radius[one] + 0.5 * c.gap[j];
        point[j] = cairn_add_scaled(b.x[one], -away, c.normal[j]);
        uid[2 * j] = (int32_t)b.uid[one];
        uid[2 * j + 1] = (int32_t)b.uid[c.body[2 * j + 1]];
    });
    d.download_bytes(out->uid, uid, 2 * count * sizeof *uid);
    d.download_bytes(out->point, point, count * sizeof *point);
    d.download_bytes(out->normal, c.normal, count * sizeof *c.normal);
    d.download_bytes(out->tangent, c.tangent, count * sizeof *c.tangent);
    d.download_bytes(out->gap, c.gap, count * sizeof *c.gap);
    d.download_bytes(out->impulse, c.r, 3 * count * sizeof *c.r);
    d.download_bytes(out->velocity, c.u, 3 * count * sizeof *c.u);
    if (out->bias)
        d.download_bytes(out->bias, c.b, count * sizeof *c.b);
    if (out->correction && c.correction)
        d.download_bytes(out->correction, c.correction, count * sizeof *c.correction);
    else if (out->correction)
        memset(out->correction, 0, count * sizeof *out->correction);
    show_parts(s, out);
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static const cairn_pile_table pile_table = {
    .create = pile_create,
    .destroy = pile_destroy,
    .take = pile_take,
    .start = pile_start,
    .apart = pile_apart,
    .find = pile_find,
    .mend = pile_mend,
    .race = pile_race,
    .velocities = pile_velocities,
    .measure = pile_measure,
    .arrive = pile_arrive,
    .deepest = pile_deepest,
    .keep = pile_keep,
    .show = pile_show,
    .states = pile_states,
    .bytes = pile_bytes,
    .room = device_room,
};

#endif
