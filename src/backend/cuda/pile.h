/* pile.h - the contacts of balls and walls on the device, from step to step: candidates by a
 * sorted grid and the one-step problem; bodies are in pile_bodies.h, walls other than planes and
 * wide cylinders in pile_walls.h, correction and certificate in pile_end.h. The formulas are those
 * of src/collide (balls.c, walls.c) and src/world (contacts.c, assemble.c, correct.c,
 * certificate.c, penetration.c), for balls.
 *
 * Cells are cubes as wide as the largest ball with its reach is thick, in a window of 1,024 cells
 * along each axis about the mean position; bodies outside share its outermost cells. Bodies are
 * sorted by cell, cells along x follow each other, so a ball looks at nine ranges. It lists the
 * partners of larger rows, in the order of rows; a count, a sum and a second pass give each ball
 * its place. Nothing depends on the order in which threads run. */
#ifndef CAIRN_BACKEND_CUDA_PILE_H
#define CAIRN_BACKEND_CUDA_PILE_H

#include "backend/cuda/pile_bodies.h"

enum { WINDOW = 1024 };

/* ---- the grid -------------------------------------------------------------------------------- */

/* What the grid is made of: the mean position and the largest ball with its reach. */
struct Spread {
    double x[3] = { 0, 0, 0 }, most = 0;
    int64_t balls = 0;

    ANYWHERE void add(const Spread &more)
    {
        for (int i = 0; i < 3; i++)
            x[i] += more.x[i];
        most = more.most > most ? more.most : most;
        balls += more.balls;
    }
};

/* Balls sorted by cell. */
struct PileGrid {
    double corner[3], inverse; /* m; 1/m: of the edge of a cell */
    int64_t balls;
    const uint32_t *key;
    const int32_t *row;
    const cairn_vec3 *x; /* of each place */

    ANYWHERE int along(double x, int axis) const
    {
        double cell = floor((x - corner[axis]) * inverse);
        return cell < 0 ? 0 : cell > WINDOW - 1 ? WINDOW - 1 : (int)cell;
    }
};

/* Held bodies that are planes have no place in the grid: their key is the largest. */
static PileGrid make_grid(Device &d, const PileBodies &b)
{
    PileGrid g = {};
    Spread all = total<Spread>(d, b.count, [=] ANYWHERE(int64_t i, Spread & to) {
        if (b.radius[i] < 0)
            return;
        Spread own;
        own.x[0] = b.x[i].x;
        own.x[1] = b.x[i].y;
        own.x[2] = b.x[i].z;
        own.most = b.radius[i] + b.reach[i];
        own.balls = 1;
        to.add(own);
    });
    double edge = 2 * all.most * (1 + 1e-9), count = (double)(all.balls > 0 ? all.balls : 1);
    g.balls = all.balls;
    g.inverse = edge > 0 ? 1 / edge : 1;
    for (int i = 0; i < 3; i++)
        g.corner[i] = all.x[i] / count - 0.5 * (double)WINDOW * edge;
    uint32_t *key = d.take<uint32_t>((size_t)b.count);
    int32_t *row = d.take<int32_t>((size_t)b.count);
    cairn_vec3 *x = d.take<cairn_vec3>((size_t)b.count);
    each(d, b.count, [=] ANYWHERE(int64_t i) {
        uint32_t cx = (uint32_t)g.along(b.x[i].x, 0), cy = (uint32_t)g.along(b.x[i].y, 1);
        uint32_t cz = (uint32_t)g.along(b.x[i].z, 2);
        key[i] = b.radius[i] < 0 ? 1u << 30 : cz << 20 | cy << 10 | cx;
        row[i] = (int32_t)i;
    });
    sort_by(d, b.count, 31, key, row);
    const int32_t *sorted = row;
    each(d, g.balls, [=] ANYWHERE(int64_t k) { x[k] = b.x[sorted[k]]; });
    g.key = key;
    g.row = row;
    g.x = x;
    return g;
}

/* Normal and distance of a ball's centre from the wall in row j: a plane, or the inside of a
 * cylinder about `axis`, whose normal points to the axis. A ball that is much smaller than the
 * cylinder meets it at one point: as walls.c. */
ANYWHERE static inline double wall_distance(const PileBodies &b, int64_t j, cairn_vec3 apart,
                                            cairn_vec3 *normal)
{
    cairn_vec3 axis = b.axis[j];
    *normal = axis;
    if (!(b.inside[j] > 0))
        return cairn_dot(apart, axis);
    cairn_vec3 radial = cairn_add_scaled(apart, -cairn_dot(apart, axis), axis);
    double length = cairn_norm(radial);
    *normal =
        length > 0 ? cairn_scale(-1 / length, radial) : cairn_scale(-1, cairn_perpendicular(axis));
    return b.inside[j] - length;
}

/* Whether the reaches of two bodies can close the gap between them; i is a ball. */
ANYWHERE static inline bool may_meet(const PileBodies &b, int64_t i, int64_t j, cairn_vec3 xj)
{
    double reach = b.reach[i] + b.reach[j];
    cairn_vec3 apart = cairn_sub(b.x[i], xj), normal;
    if (b.radius[j] < 0)
        return wall_distance(b, j, apart, &normal) - b.radius[i] <= reach;
    double most = b.radius[i] + b.radius[j] + reach;
    return cairn_dot(apart, apart) <= most * most;
}

/* Calls f(row) for every partner of the dynamic ball in row i that it meets at one point: planes,
 * wide cylinders, held balls, and balls of larger rows. */
template <class F>
FOR_DEVICE static inline void each_partner(const PileBodies &b, const PileGrid &g, int64_t i, F f)
{
    for (int j = 0; j < b.held; j++)
        if (b.radius[j] < 0 && !(b.inside[j] < 0) && may_meet(b, i, j, b.x[j]))
            f(j);
    int cx = g.along(b.x[i].x, 0), cy = g.along(b.x[i].y, 1), cz = g.along(b.x[i].z, 2);
    for (int z = cz > 0 ? cz - 1 : 0; z <= cz + 1 && z < WINDOW; z++)
        for (int y = cy > 0 ? cy - 1 : 0; y <= cy + 1 && y < WINDOW; y++) {
            uint32_t line = (uint32_t)z << 20 | (uint32_t)y << 10;
            uint32_t from = line + (uint32_t)(cx > 0 ? cx - 1 : 0);
            uint32_t last = line + (uint32_t)(cx < WINDOW - 1 ? cx + 1 : cx);
            for (int64_t k = first_at_least(g.key, g.balls, from); k < g.balls && g.key[k] <= last;
                 k++) {
                int32_t j = g.row[k];
                if ((j > i || j < b.held) && may_meet(b, i, j, g.x[k]))
                    f(j);
            }
        }
}

/* How many contacts each block lists; one call for each place of the grid. */
struct CountPartners {
    PileBodies b;
    PileGrid g;
    int32_t *count;

    FOR_DEVICE void operator()(int64_t place) const
    {
        int64_t i = g.row[place];
        int32_t found = 0;
        if (i < b.held)
            return;
        each_partner(b, g, i, [&](int) { found++; });
        count[i - b.held] = found;
    }
};

/* The rows of both bodies of each contact, in the order of rows. a is the ball at a plane, of two
 * balls the one of the smaller uid. */
struct ListPartners {
    PileBodies b;
    PileGrid g;
    const int32_t *start;
    int32_t *body;

    FOR_DEVICE void operator()(int64_t place) const
    {
        int64_t i = g.row[place];
        if (i < b.held)
            return;
        int32_t *list = body + 2 * (int64_t)start[i - b.held];
        int count = 0;
        each_partner(b, g, i, [&](int j) {
            int at = count++;
            for (; at > 0 && list[2 * at - 1] > j; at--)
                list[2 * at + 1] = list[2 * at - 1];
            list[2 * at + 1] = j;
        });
        for (int k = 0; k < count; k++) {
            int32_t j = list[2 * k + 1];
            bool first = b.radius[j] < 0 || b.uid[i] < b.uid[j];
            list[2 * k] = first ? (int32_t)i : j;
            list[2 * k + 1] = first ? j : (int32_t)i;
        }
    }
};

/* ---- other walls ----------------------------------------------------------------------------- */

/* The points where balls meet walls of other form. Their number is found first, then the points are
 * listed, and those that are equal are left out. */
struct Touches {
    const int32_t *start = nullptr; /* of each block: where its points begin */
    int32_t *count = nullptr;       /* of each block                         */
    Touch *list = nullptr;
};

/* Calls f(touch) for the points of block k. */
template <class F> FOR_DEVICE static inline void each_touch_of(const PileBodies &b, int64_t k, F f)
{
    int64_t i = k + b.held;
    const Sphere ball = { b.x[i], b.radius[i], b.reach[i] };
    for (int w = 0; w < b.wall_count; w++)
        each_touch(b.walls[w], ball, ball.margin, [&](const Touch &found) {
            Touch touch = found;
            touch.wall = w;
            f(touch);
        });
}

struct CountTouches {
    PileBodies b;
    int32_t *count;

    FOR_DEVICE void operator()(int64_t k) const
    {
        int32_t found = 0;
        each_touch_of(b, k, [&](const Touch &) { found++; });
        count[k] = found;
    }
};

struct ListTouches {
    PileBodies b;
    Touches t;

    FOR_DEVICE void operator()(int64_t k) const
    {
        int64_t i = k + b.held;
        Touch *list = t.list + t.start[k];
        int32_t found = 0;
        each_touch_of(b, k, [&](const Touch &touch) { list[found++] = touch; });
        t.count[k] = merge_touches(list, found, Sphere{ b.x[i], b.radius[i], b.reach[i] });
    }
};

static Touches find_touches(Device &d, const PileBodies &b)
{
    Touches t;
    if (b.wall_count == 0)
        return t;
    int32_t *start = d.take<int32_t>((size_t)b.blocks);
    each(d, b.blocks, CountTouches{ b, start });
    t.list = d.take<Touch>((size_t)sum_before(d, b.blocks, start));
    t.start = start;
    t.count = d.take<int32_t>((size_t)b.blocks);
    each(d, b.blocks, ListTouches{ b, t });
    return t;
}

/* The points become contacts: the last ones of each block, which has `start` contacts before it. */
static void list_touches(Device &d, const PileBodies &b, const Touches &t, const int32_t *start,
                         const PileContacts &c)
{
    each(d, c.count, [=] ANYWHERE(int64_t j) { c.part[j] = cairn_pile_part{ 0, -1, -1 }; });
    each(d, b.blocks, [=] ANYWHERE(int64_t k) {
        int32_t end = k + 1 < b.blocks ? start[k + 1] : c.count, first = end - t.count[k];
        for (int32_t j = first; j < end; j++) {
            const Touch &from = t.list[t.start[k] + j - first];
            c.body[2 * (int64_t)j] = (int32_t)k + b.held;
            c.body[2 * (int64_t)j + 1] = b.walls[from.wall].is.row;
            c.normal[j] = from.normal;
            c.gap[j] = from.gap;
            c.part[j] = from.part;
        }
    });
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* n x z; any perpendicular direction where n is close to z: as contacts.c. */
ANYWHERE static inline cairn_vec3 tangent_at(cairn_vec3 n)
{
    bool level = fabs(n.z) <= 0.9;
    return level ? cairn_scale(1 / sqrt(n.x * n.x + n.y * n.y), cairn_vec(n.y, -n.x, 0))
                 : cairn_perpendicular(n);
}

/* Normal and gap of two bodies at x, as balls.c and walls.c. */
ANYWHERE static inline double gap_of(const PileBodies &b, const cairn_vec3 *x, int32_t one,
                                     int32_t two, cairn_vec3 *normal)
{
    cairn_vec3 apart = cairn_sub(x[one], x[two]);
    if (b.radius[two] < 0)
        return wall_distance(b, two, apart, normal) - b.radius[one];
    double distance = cairn_norm(apart);
    *normal = distance > 0 ? cairn_scale(1 / distance, apart) : cairn_vec(0, 0, 1);
    return distance - b.radius[two] - b.radius[one];
}

ANYWHERE static inline uint64_t key_of(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* The impulse of a contact at the start: that of the same two bodies, along the new directions. */
struct WarmStart {
    const uint64_t *key;
    const cairn_vec3 *impulse;
    const cairn_pile_part *part; /* NULL: bodies have one contact */
    int64_t count;
    double ratio;

    /* The contact of one pair, of those from `at` on, in the same place: of two in one flat region
     * that of the smaller face. */
    ANYWHERE int64_t same_place(int64_t at, uint64_t wanted, const cairn_pile_part &own) const
    {
        int64_t best = count;
        for (; at < count && key[at] == wanted; at++)
            if (part[at].feature == own.feature && part[at].patch == own.patch &&
                (best == count || part[at].face < part[best].face))
                best = at;
        return best;
    }

    ANYWHERE void operator()(uint64_t wanted, const cairn_pile_part *own, cairn_vec3 n,
                             cairn_vec3 t, double *r) const
    {
        int64_t at = ratio != 0 ? first_at_least(key, count, wanted) : count;
        if (part && own)
            at = same_place(at, wanted, *own);
        bool found = at < count && key[at] == wanted;
        cairn_vec3 p = found ? cairn_scale(ratio, impulse[at]) : cairn_vec(0, 0, 0);
        r[0] = cairn_dot(p, n);
        r[1] = cairn_dot(p, t);
        r[2] = cairn_dot(p, cairn_cross(n, t));
    }
};

/* The term of second order in b of a ball at a wall of revolution, which does not move: as arc.c of
 * the world. half: h/2. */
ANYWHERE static inline double arc_of(const PileBodies &b, int32_t ball, int32_t wall, cairn_vec3 n,
                                     double half)
{
    if (ball < b.held || wall >= b.held) /* walls are held, and only of them `inside` is known */
        return 0;
    bool round = b.inside[wall] > 0;
    if (b.is_wall(wall))
        round = b.wall_of(wall).is.kind <= CAIRN_WALL_FUNNEL;
    if (!round)
        return 0;
    const double *v = b.v_old + 6 * (int64_t)(ball - b.held);
    cairn_vec3 z = cairn_vec(v[0], v[1], v[2]);
    double before = cairn_dot(n, z);
    cairn_vec3 from = cairn_sub(b.x[ball], b.x[wall]);
    double bent = half * cairn_revolution_bend(b.axis[wall], from, n, z);
    if (!(before < 0 && bent < 0))
        return 0;
    return bent > before ? bent : before;
}

/* Everything that follows from the pairs. */
static void fill_contacts(PileSet *s, const cairn_pile_rule *rule, const WarmStart &warm)
{
    Device &d = s->device;
    const PileBodies b = s->bodies;
    const PileContacts c = s->contacts;
    double closing = rule->closing, pushing = rule->pushing;
    double half = rule->arcs ? 0.5 * rule->h : 0;
    int materials = rule->materials;
    const double *friction = d.copy_of(rule->friction, (size_t)materials * (size_t)materials);
    each(d, c.count, [=] ANYWHERE(int64_t j) {
        int32_t one = c.body[2 * j], two = c.body[2 * j + 1];
        bool known = b.is_wall(two); /* its point was found already */
        cairn_vec3 n = known ? c.normal[j] : cairn_vec(0, 0, 0);
        double gap = known ? c.gap[j] : gap_of(b, b.x, one, two, &n);
        cairn_vec3 t = tangent_at(n);
        c.block[2 * j] = one < b.held ? -1 : one - b.held;
        c.block[2 * j + 1] = two < b.held ? -1 : two - b.held;
        c.normal[j] = n;
        c.tangent[j] = t;
        c.gap[j] = gap;
        c.arc[j] = half > 0 ? arc_of(b, one, two, n, half) : 0;
        c.b[j] = (gap > 0 ? closing * gap : pushing * gap) + c.arc[j];
        c.mu[j] = friction[b.material[one] * materials + b.material[two]];
        warm(key_of(b.uid[one], b.uid[two]), c.part ? &c.part[j] : nullptr, n, t, c.r + 3 * j);
        if (c.mu[j] == 0) /* the directions have turned since the last step */
            c.r[3 * j + 1] = c.r[3 * j + 2] = 0;
    });
}

static void take_contacts(Device &d, int contacts, bool parts, PileContacts *c)
{
    size_t count = (size_t)contacts;
    c->count = contacts;
    c->body = d.take<int32_t>(2 * count);
    c->block = d.take<int32_t>(2 * count);
    c->normal = d.take<cairn_vec3>(count);
    c->tangent = d.take<cairn_vec3>(count);
    c->gap = d.take<double>(count);
    c->b = d.take<double>(count);
    c->arc = d.take<double>(count);
    c->mu = d.take<double>(count);
    c->r = d.take<double>(3 * count);
    c->u = d.take<double>(3 * count);
    c->correction = nullptr;
    c->part = parts ? d.take<cairn_pile_part>(count) : nullptr;
}

/* What solvers ask about all contacts: whether some start is not 0, and the largest mu. */
struct Start {
    double friction = 0;
    int64_t warm = 0;

    ANYWHERE void add(const Start &more)
    {
        friction = more.friction > friction ? more.friction : friction;
        warm += more.warm;
    }
};

static cairn_pile_problem pose_pile(PileSet *s)
{
    const PileBodies &b = s->bodies;
    const PileContacts c = s->contacts;
    Start start = total<Start>(s->device, c.count, [=] ANYWHERE(int64_t j, Start & to) {
        const double *r = c.r + 3 * j;
        to.add(Start{ c.mu[j], r[0] != 0 || r[1] != 0 || r[2] != 0 });
    });
    s->resident.friction = start.friction;
    cairn_problem p = { .dimension = 3, .block_size = 6, .blocks = b.blocks, .contacts = c.count };
    p.mass_inverse = b.mass_inverse;
    p.v_free = b.free;
    p.block = c.block;
    p.normal = c.normal;
    p.tangent = c.tangent;
    p.radius = b.radius + b.held;
    p.b = c.b;
    p.mu = c.mu;
    p.resident = &s->resident;
    return cairn_pile_problem{ p, c.r, s->v, c.u, start.warm > 0, -1 };
}

/* ---- the warm start -------------------------------------------------------------------------- */

/* Sort impulses by keys; the arrays belong to the device of `w`. part: NULL, or of any device. */
static void settle_warm(PileWarm *w, int64_t count, uint64_t *key, cairn_vec3 *impulse,
                        const cairn_pile_part *part)
{
    Device &d = w->device;
    int32_t *from = d.take<int32_t>((size_t)count);
    cairn_vec3 *sorted = d.take<cairn_vec3>((size_t)count);
    each(d, count, [=] ANYWHERE(int64_t j) { from[j] = (int32_t)j; });
    sort_by(d, count, 64, key, from);
    const int32_t *order = from;
    each(d, count, [=] ANYWHERE(int64_t j) { sorted[j] = impulse[order[j]]; });
    if (part) {
        cairn_pile_part *place = d.take<cairn_pile_part>((size_t)count);
        each(d, count, [=] ANYWHERE(int64_t j) { place[j] = part[order[j]]; });
        w->part = place;
    }
    w->count = count;
    w->key = key;
    w->impulse = sorted;
}

/* The impulses of contacts, in space axes. NULL: no memory. */
static PileWarm *warm_of(PileSet *s)
{
    PileWarm *w = make_held<PileWarm>();
    if (!w)
        return nullptr;
    Device &d = w->device;
    const PileBodies b = s->bodies;
    const PileContacts c = s->contacts;
    uint64_t *key = d.take<uint64_t>((size_t)c.count);
    cairn_vec3 *impulse = d.take<cairn_vec3>((size_t)c.count);
    s->device.wait();
    each(d, c.count, [=] ANYWHERE(int64_t j) {
        cairn_vec3 n = c.normal[j], t = c.tangent[j], p = cairn_scale(c.r[3 * j], n);
        p = cairn_add_scaled(p, c.r[3 * j + 1], t);
        impulse[j] = cairn_add_scaled(p, c.r[3 * j + 2], cairn_cross(n, t));
        key[j] = key_of(b.uid[c.body[2 * j]], b.uid[c.body[2 * j + 1]]);
    });
    settle_warm(w, c.count, key, impulse, c.part);
    d.wait();
    if (d.failed)
        discard(w);
    return w;
}

static cairn_status pile_start(cairn_pile *pile, int count, const uint64_t *uids,
                               const cairn_vec3 *impulse, const cairn_pile_part *part)
{
    PileWarm *w = make_held<PileWarm>();
    if (!w)
        return CAIRN_NO_MEMORY;
    Device &d = w->device;
    const uint64_t *pair = d.copy_of(uids, 2 * (size_t)count);
    cairn_vec3 *p = d.copy_of(impulse, (size_t)count);
    uint64_t *key = d.take<uint64_t>((size_t)count);
    each(d, count, [=] ANYWHERE(int64_t j) {
        key[j] = key_of((uint32_t)pair[2 * j], (uint32_t)pair[2 * j + 1]);
    });
    settle_warm(w, count, key, p, part ? d.copy_of(part, (size_t)count) : nullptr);
    d.wait();
    if (d.failed)
        discard(w);
    if (!w)
        return CAIRN_NO_MEMORY;
    discard(pile->warm);
    discard(pile->kept);
    pile->warm = w;
    return CAIRN_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static cairn_status pile_create(cairn_pile **out)
{
    *out = new (std::nothrow) cairn_pile();
    return *out ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void pile_destroy(cairn_pile *pile)
{
    if (!pile)
        return;
    discard(pile->now);
    discard(pile->kept);
    discard(pile->warm);
    discard(pile->next);
    delete pile;
}

/* The contacts of the set, from the warm start. */
static void find_contacts(PileSet *s, const cairn_pile_rule *rule, const PileWarm *from)
{
    Device &d = s->device;
    const PileBodies &b = s->bodies;
    PileGrid grid = make_grid(d, b);
    int32_t *start = d.take<int32_t>((size_t)b.blocks);
    each(d, grid.balls, CountPartners{ b, grid, start });
    Touches touches = find_touches(d, b);
    const int32_t *more = touches.count;
    if (more)
        each(d, b.blocks, [=] ANYWHERE(int64_t k) { start[k] += more[k]; });
    take_contacts(d, sum_before(d, b.blocks, start), more != nullptr, &s->contacts);
    if (d.failed)
        return;
    each(d, grid.balls, ListPartners{ b, grid, start, s->contacts.body });
    if (more)
        list_touches(d, b, touches, start, s->contacts);
    WarmStart warm = { nullptr, nullptr, nullptr, 0, 0 };
    if (from)
        warm = WarmStart{ from->key, from->impulse, from->part, from->count, rule->ratio };
    fill_contacts(s, rule, warm);
}

/* A set of contacts of the bodies as they are when the step begins. NULL: no memory. */
static PileSet *open_set(const cairn_pile *pile, const cairn_pile_rule *rule)
{
    PileSet *s = make_held<PileSet>();
    if (!s)
        return s;
    PileBodies *b = &s->bodies;
    *b = bodies_of(pile);
    b->reach = pile->motion->reach;
    b->v_old = pile->motion->v_old;
    b->free = pile->motion->free;
    s->facts = pile->facts;
    s->walls = pile->walls;
    s->begin = pile->states;
    s->motion = pile->motion;
    s->h = rule->h;
    s->gravity = rule->gravity;
    s->v = s->device.take<double>(6 * (size_t)b->blocks);
    return s;
}

static cairn_status pile_find(cairn_pile *pile, const cairn_pile_rule *rule, bool again,
                              cairn_pile_problem *out)
{
    PileWarm *aside = again && pile->now ? warm_of(pile->now) : nullptr;
    if (again && !aside)
        return CAIRN_NO_MEMORY;
    discard(pile->next);
    discard(pile->now);
    *out = cairn_pile_problem{};
    out->wild = -1;
    if (!again)
        pile->motion = depart(pile, rule, bodies_of(pile), &out->wild);
    bool still = pile->motion && out->wild >= 0;
    PileSet *s = pile->now = pile->motion && !still ? open_set(pile, rule) : nullptr;
    if (s) {
        find_contacts(s, rule, aside ? aside : pile->warm);
        *out = pose_pile(s);
        s->device.wait();
    }
    discard(aside);
    return still || (s && !s->device.failed) ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status pile_velocities(cairn_pile *pile, double *v, double *shift, uint8_t *shifted)
{
    PileSet *s = pile->now;
    Device &d = s->device;
    size_t blocks = (size_t)s->bodies.blocks;
    d.download_bytes(v, s->v, 6 * blocks * sizeof *v);
    if (shift && s->ring) {
        uint8_t *marks = d.take<uint8_t>(blocks);
        double *linear = d.take<double>(3 * blocks); /* no friction: balls do not turn */
        const int32_t *ring = s->ring;
        const double *z = s->part.v;
        each(d, (int64_t)blocks, [=] ANYWHERE(int64_t k) {
            marks[k] = (uint8_t)ring[k];
            for (int i = 0; i < 3; i++)
                linear[3 * k + i] = z[6 * k + i];
        });
        d.download_bytes(shift, linear, 3 * blocks * sizeof *shift);
        d.download_bytes(shifted, marks, blocks);
    }
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static void pile_keep(cairn_pile *pile)
{
    discard(pile->warm);
    discard(pile->kept);
    pile->kept = pile->now;
    pile->warm = pile->next;
    pile->states = pile->kept->end;
    pile->kept->motion.reset(); /* nobody asks for it any more */
    pile->now = nullptr;
    pile->next = nullptr;
    pile->motion.reset();
}

static size_t pile_bytes(const cairn_pile *pile)
{
    size_t bytes = pile->facts ? pile->facts->device.bytes : 0;
    bytes += pile->walls ? pile->walls->device.bytes : 0;
    bytes += pile->states ? pile->states->device.bytes : 0;
    bytes += pile->motion ? pile->motion->device.bytes : 0;
    for (const PileSet *set : { pile->now, pile->kept })
        bytes += set ? set->device.bytes : 0;
    for (const PileWarm *warm : { pile->warm, pile->next })
        bytes += warm ? warm->device.bytes : 0;
    return bytes;
}

#endif
