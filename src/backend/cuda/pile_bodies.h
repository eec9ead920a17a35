/* pile_bodies.h - the bodies of a pile on the device, from step to step: what is known about them,
 * their states, their motion without contact and how far they may move in a step, and their states
 * at its end. The formulas are those of src/world (integrate.c, contacts.c, motion.c, correct.c,
 * certificate.c), for balls that only gravity and contacts act on. */
#ifndef CAIRN_BACKEND_CUDA_PILE_BODIES_H
#define CAIRN_BACKEND_CUDA_PILE_BODIES_H

#include "backend/cuda/pile_walls.h"

/* ---- what is held ---------------------------------------------------------------------------- */

/* What seldom changes about bodies. It is copied to the device when it differs from the copy of the
 * host that is kept here. */
struct PileFacts {
    Device device;
    int held = 0;
    std::vector<double> radius, mass, inertia;
    std::vector<uint32_t> uid;
    std::vector<int32_t> material;
    std::vector<cairn_vec3> axis;                                           /* of held rows */
    std::vector<double> inside;                                             /* likewise */
    const double *radius_there, *mass_there, *inertia_there, *mass_inverse; /* last: 6 of a block */
    const uint32_t *uid_there;
    const int32_t *material_there;
    const cairn_vec3 *axis_there;
    const double *inside_there;
    const uint32_t *uid_sorted = nullptr; /* made when they are needed */
    const int32_t *row_of_uid = nullptr;

    ~PileFacts()
    {
        device.release();
    }
};

/* The state of every row, as the columns of the host. */
struct PileStates {
    Device device;
    cairn_vec3 *x, *v, *omega;
    cairn_quat *q;

    ~PileStates()
    {
        device.release();
    }
};

/* The start of a step. */
struct PileMotion {
    Device device;
    double *v_old, *free; /* 6 of each block: v, omega in space axes; with gravity */
    double *reach;        /* m, of each row: how far it may move in the step       */

    ~PileMotion()
    {
        device.release();
    }
};

/* Bodies as kernels see them, by rows; blocks are rows - held. */
struct PileBodies {
    int count, held, blocks;
    const cairn_vec3 *x, *axis;
    const double *inside, *radius, *reach, *v_old, *mass, *inertia, *mass_inverse;
    const uint32_t *uid;
    const int32_t *material;
    double *free;
    const Wall *walls; /* those that are neither planes nor wide cylinders */
    int wall_count;

    /* Whether row j is one of `walls`. */
    ANYWHERE bool is_wall(int64_t j) const
    {
        return radius[j] < 0 && inside[j] < 0;
    }

    /* The wall of a row; there are few. */
    ANYWHERE const Wall &wall_of(int64_t j) const
    {
        int k = 0;
        while (k < wall_count - 1 && walls[k].is.row != j)
            k++;
        return walls[k];
    }
};

/* Contacts by number. */
struct PileContacts {
    int count;
    int32_t *body, *block; /* 2 of each: rows; blocks */
    cairn_vec3 *normal, *tangent;
    double *gap, *b, *mu, *r, *u;
    double *arc;           /* m/s: its part of b                           */
    double *correction;    /* NULL: nothing was moved                      */
    cairn_pile_part *part; /* NULL: no pair of bodies has several contacts */
};

/* The contacts of one attempt at a step. */
struct PileSet {
    Device device;
    std::shared_ptr<PileFacts> facts;
    std::shared_ptr<PileWalls> walls;
    std::shared_ptr<PileStates> begin, end;
    std::shared_ptr<PileMotion> motion;
    PileBodies bodies;
    PileContacts contacts;
    double h;
    cairn_vec3 gravity;
    double *v;
    cairn_resident resident, mending;
    cairn_pile_problem part; /* of the penetration correction */
    int32_t *ring, *chosen;  /* of blocks; of contacts of the part: which contact */
};

/* Impulses of contacts by the uids of their bodies, sorted: what the next solve starts from. */
struct PileWarm {
    Device device;
    int64_t count = 0;
    const uint64_t *key = nullptr;
    const cairn_vec3 *impulse = nullptr;
    const cairn_pile_part *part = nullptr; /* nullptr: no pair has several contacts */
};

struct cairn_pile {
    PileSet *now = nullptr, *kept = nullptr; /* of this step; of the last one that was kept */
    PileWarm *warm = nullptr;                /* of the last one that was kept               */
    PileWarm *next = nullptr;                /* of this step, once it was measured          */
    std::shared_ptr<PileFacts> facts;
    std::shared_ptr<PileWalls> walls;
    std::shared_ptr<PileStates> states;
    std::shared_ptr<PileMotion> motion; /* of this step                                */
};

template <class T> static void discard(T *&x)
{
    if (x)
        x->device.release();
    delete x;
    x = nullptr;
}

template <class T> static T *make_held()
{
    T *x = new (std::nothrow) T();
    if (x && !x->device.open())
        discard(x);
    return x;
}

/* The same, shared; empty: no memory. */
template <class T> static std::shared_ptr<T> make_shared_one()
{
    try {
        std::shared_ptr<T> x = std::make_shared<T>();
        if (!x->device.open())
            x.reset();
        return x;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

/* ---- what is known about them ---------------------------------------------------------------- */

/* Whether the facts of a row are those that were copied. */
static bool is_same(const PileFacts &f, const cairn_pile_bodies *b, size_t i)
{
    return f.radius[i] == b->radius[i] && f.mass[i] == b->mass[i] &&
           f.inertia[i] == b->inertia[i].x && f.uid[i] == (uint32_t)b->uid[i] &&
           f.material[i] == b->material[i];
}

static bool are_same(const PileFacts &f, const cairn_pile_bodies *b)
{
    int count = b->count, changed = 0;
    if (f.uid.size() != (size_t)count || f.held != b->held)
        return false;
#pragma omp parallel for reduction(+ : changed)
    for (int i = 0; i < count; i++)
        changed += !is_same(f, b, (size_t)i);
    for (size_t i = 0; i < (size_t)b->held; i++)
        changed += std::memcmp(&f.axis[i], &b->axis[i], sizeof b->axis[i]) != 0 ||
                   f.inside[i] != b->inside[i];
    return changed == 0;
}

/* The copies of the host. */
static void note_facts(PileFacts *f, const cairn_pile_bodies *b)
{
    size_t count = (size_t)b->count;
    f->held = b->held;
    f->radius.assign(b->radius, b->radius + count);
    f->mass.assign(b->mass, b->mass + count);
    f->material.assign(b->material, b->material + count);
    f->axis.assign(b->axis, b->axis + b->held);
    f->inside.assign(b->inside, b->inside + b->held);
    f->inertia.resize(count);
    f->uid.resize(count);
#pragma omp parallel for
    for (int i = 0; i < b->count; i++) {
        f->inertia[(size_t)i] = b->inertia[i].x;
        f->uid[(size_t)i] = (uint32_t)b->uid[i];
    }
}

static void copy_facts(PileFacts *f, const cairn_pile_bodies *b)
{
    size_t count = (size_t)b->count, blocks = count - (size_t)b->held;
    Device &d = f->device;
    note_facts(f, b);
    f->radius_there = d.copy_of(f->radius.data(), count);
    f->uid_there = d.copy_of(f->uid.data(), count);
    f->material_there = d.copy_of(f->material.data(), count);
    f->axis_there = d.copy_of(f->axis.data(), f->axis.size());
    f->inside_there = d.copy_of(f->inside.data(), f->inside.size());
    const double *mass = f->mass_there = d.copy_of(f->mass.data(), count);
    const double *inertia = f->inertia_there = d.copy_of(f->inertia.data(), count);
    double *inverse = d.take<double>(6 * blocks);
    int held = b->held;
    each(d, 6 * (int64_t)blocks, [=] ANYWHERE(int64_t i) {
        double x = i % 6 < 3 ? mass[held + i / 6] : inertia[held + i / 6];
        inverse[i] = x > 0 ? 1 / x : 0;
    });
    f->mass_inverse = inverse;
    d.wait();
}

/* False: no memory. */
static bool know_facts(cairn_pile *pile, const cairn_pile_bodies *b)
{
    if (pile->facts && are_same(*pile->facts, b))
        return true;
    pile->facts = make_shared_one<PileFacts>();
    try {
        if (pile->facts)
            copy_facts(pile->facts.get(), b);
    } catch (const std::bad_alloc &) {
        pile->facts.reset();
    }
    if (pile->facts && pile->facts->device.failed)
        pile->facts.reset();
    return pile->facts != nullptr;
}

/* The same of walls. */
static bool know_walls(cairn_pile *pile, const cairn_pile_bodies *b)
{
    if (pile->walls && are_same_walls(*pile->walls, b))
        return true;
    pile->walls = make_shared_one<PileWalls>();
    try {
        if (pile->walls)
            copy_walls(pile->walls.get(), b);
    } catch (const std::bad_alloc &) {
        pile->walls.reset();
    }
    if (pile->walls && pile->walls->device.failed)
        pile->walls.reset();
    return pile->walls != nullptr;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Empty: no memory. */
static std::shared_ptr<PileStates> take_states(size_t count)
{
    std::shared_ptr<PileStates> s = make_shared_one<PileStates>();
    if (!s)
        return s;
    s->x = s->device.take<cairn_vec3>(count);
    s->v = s->device.take<cairn_vec3>(count);
    s->omega = s->device.take<cairn_vec3>(count);
    s->q = s->device.take<cairn_quat>(count);
    if (s->device.failed)
        s.reset();
    return s;
}

static cairn_status pile_take(cairn_pile *pile, const cairn_pile_bodies *b)
{
    size_t count = (size_t)b->count;
    pile->states.reset();
    if (!know_facts(pile, b) || !know_walls(pile, b))
        return CAIRN_NO_MEMORY;
    std::shared_ptr<PileStates> s = take_states(count);
    if (!s)
        return CAIRN_NO_MEMORY;
    Device &d = s->device;
    d.upload_bytes(s->x, b->x, count * sizeof *b->x);
    d.upload_bytes(s->q, b->q, count * sizeof *b->q);
    d.upload_bytes(s->v, b->v, count * sizeof *b->v);
    d.upload_bytes(s->omega, b->omega, count * sizeof *b->omega);
    d.wait();
    if (!d.failed)
        pile->states = s;
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static cairn_status pile_states(cairn_pile *pile, bool before, const cairn_pile_states *out)
{
    std::shared_ptr<PileStates> s = before ? pile->kept->begin : pile->states;
    size_t count = before ? (size_t)pile->kept->bodies.count : pile->facts->uid.size();
    Device &d = s->device;
    d.download_bytes(out->x, s->x, count * sizeof *s->x);
    d.download_bytes(out->q, s->q, count * sizeof *s->q);
    if (out->v)
        d.download_bytes(out->v, s->v, count * sizeof *s->v);
    if (out->omega)
        d.download_bytes(out->omega, s->omega, count * sizeof *s->omega);
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* As order.c measures it; a sum of integers does not depend on their order. */
static cairn_status pile_apart(cairn_pile *pile, double far, int64_t *sum)
{
    Device &d = pile->states->device;
    const cairn_vec3 *x = pile->states->x + pile->facts->held;
    int64_t count = (int64_t)pile->facts->uid.size() - pile->facts->held;
    *sum = total<Counted>(d, count - 1, [=] ANYWHERE(int64_t i, Counted & to) {
               cairn_vec3 way = cairn_sub(x[i + 1], x[i]);
               double length = fabs(way.x) + fabs(way.y) + fabs(way.z);
               to.x += (int64_t)(cairn_smaller(length, far) / far * 4294967296.0);
           }).x;
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* ---- the start of a step --------------------------------------------------------------------- */

/* How far bodies move without contact. */
struct Ways {
    double longest = 0, least_reach = INFINITY;
    int64_t wild = -1; /* the first row whose energy is not finite */

    ANYWHERE void add(const Ways &more)
    {
        longest = cairn_larger(longest, more.longest);
        least_reach = cairn_smaller(least_reach, more.least_reach);
        if (more.wild >= 0 && (wild < 0 || more.wild < wild))
            wild = more.wild;
    }
};

/* J: kinetic and |potential| energy of a body, so that nothing can cancel; not finite if one of its
 * numbers, or its square, is not. */
ANYWHERE static inline double energy_of(double mass, double inertia, cairn_vec3 gravity,
                                        cairn_vec3 x, const double *v)
{
    double kinetic = 0.5 * mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) +
                     0.5 * inertia * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
    return kinetic + fabs(mass * cairn_dot(gravity, x)) + 0 * cairn_dot(x, x);
}

ANYWHERE static inline bool is_finite_number(double x)
{
    return x - x == 0;
}

/* v_free = v + h g, and the first reach: as fly and first_reach of the host. */
struct Depart {
    PileBodies b;
    const cairn_vec3 *v, *omega;
    const cairn_quat *q;
    double *v_old, *free, *reach, *way;
    cairn_pile_rule rule;

    ANYWHERE void operator()(int64_t i, Ways &to) const
    {
        int64_t k = i - b.held;
        Ways own;
        way[i] = reach[i] = 0;
        if (k < 0)
            return;
        cairn_vec3 turning = cairn_rotate(q[i], omega[i]);
        cairn_vec3 fast = cairn_add_scaled(v[i], rule.h, rule.gravity);
        double old[6] = { v[i].x, v[i].y, v[i].z, turning.x, turning.y, turning.z };
        double now[6] = { fast.x, fast.y, fast.z, turning.x, turning.y, turning.z };
        for (int axis = 0; axis < 6; axis++) {
            v_old[6 * k + axis] = old[axis];
            free[6 * k + axis] = now[axis];
        }
        double speed = cairn_norm(fast), g = cairn_norm(rule.gravity);
        double first = 1.25 * rule.h * speed + 2 * rule.h * rule.h * g + 0.02 * b.radius[i];
        way[i] = own.longest = rule.h * speed;
        reach[i] = own.least_reach = cairn_larger(first, rule.margin);
        cairn_vec3 next = cairn_add_scaled(b.x[i], rule.h, fast);
        if (!is_finite_number(energy_of(b.mass[i], b.inertia[i], rule.gravity, next, now)))
            own.wild = i;
        to.add(own);
    }
};

/* The row of a uid; -1: there is none. */
struct RowOf {
    const uint32_t *uid;
    const int32_t *row;
    int64_t count;

    ANYWHERE int32_t operator()(uint32_t wanted) const
    {
        int64_t at = first_at_least(uid, count, wanted);
        return at < count && uid[at] == wanted ? row[at] : -1;
    }
};

static RowOf rows_by_uid(PileFacts *f)
{
    Device &d = f->device;
    int64_t count = (int64_t)f->uid.size();
    if (!f->uid_sorted) {
        uint32_t *key = d.take<uint32_t>((size_t)count);
        int32_t *row = d.take<int32_t>((size_t)count);
        const uint32_t *from = f->uid_there;
        each(d, count, [=] ANYWHERE(int64_t i) {
            key[i] = from[i];
            row[i] = (int32_t)i;
        });
        sort_by(d, count, 32, key, row);
        d.wait();
        f->uid_sorted = d.failed ? nullptr : key;
        f->row_of_uid = row;
    }
    return RowOf{ f->uid_sorted, f->row_of_uid, f->uid_sorted ? count : 0 };
}

enum { REACH_RINGS = 4 };

/* A body that is about to be hit is set in motion: it may move as far as its neighbours of the last
 * step, these push their own ones, and so on for a few rings; as share_reach of the host. The
 * largest of numbers >= 0 is that of their bits. */
static void share_reach(Device &d, const PileWarm *last, const PileBodies &b, const RowOf &row_of,
                        double *reach, double *way)
{
    const uint64_t *key = last->key;
    int held = b.held;
    int32_t *pair = d.take<int32_t>(2 * (size_t)last->count);
    each(d, last->count, [=] ANYWHERE(int64_t j) {
        pair[2 * j] = row_of((uint32_t)(key[j] >> 32));
        pair[2 * j + 1] = row_of((uint32_t)key[j]);
    });
    for (int ring = 0; ring < REACH_RINGS; ring++) {
        double share = ring == 0 ? 1.1 : 1;
        if (ring > 0)
            each(d, b.blocks, [=] ANYWHERE(int64_t k) {
                way[k + held] = cairn_larger(way[k + held], 0.7 * reach[k + held]);
            });
        each(d, 2 * last->count, [=] FOR_DEVICE(int64_t e) {
            int32_t i = pair[e], other = pair[e ^ 1];
            if (i >= held && other >= 0)
                raise_to(&reach[i], share * way[other]);
        });
    }
}

/* The motion without contact of the bodies of the pile. *wild: the first row that is not finite, or
 * -1. Empty: no memory. */
static std::shared_ptr<PileMotion> depart(cairn_pile *pile, const cairn_pile_rule *rule,
                                          const PileBodies &b, int32_t *wild)
{
    std::shared_ptr<PileMotion> m = make_shared_one<PileMotion>();
    if (!m)
        return m;
    Device &d = m->device;
    size_t count = (size_t)b.count, blocks = (size_t)b.blocks;
    const PileStates &s = *pile->states;
    m->v_old = d.take<double>(6 * blocks);
    m->free = d.take<double>(6 * blocks);
    m->reach = d.take<double>(count);
    double *way = d.take<double>(count);
    Ways all = total<Ways>(d, b.count,
                           Depart{ b, s.v, s.omega, s.q, m->v_old, m->free, m->reach, way, *rule });
    *wild = (int32_t)all.wild;
    if (pile->warm && 1.1 * all.longest > all.least_reach)
        share_reach(d, pile->warm, b, rows_by_uid(pile->facts.get()), m->reach, way);
    d.wait();
    if (d.failed || pile->facts->device.failed)
        m.reset();
    return m;
}

/* The bodies of a pile as kernels see them; what a step adds is not set. */
static PileBodies bodies_of(const cairn_pile *pile)
{
    const PileFacts &f = *pile->facts;
    PileBodies b = {};
    b.count = (int)f.uid.size();
    b.held = f.held;
    b.blocks = b.count - b.held;
    b.x = pile->states->x;
    b.axis = f.axis_there;
    b.inside = f.inside_there;
    b.radius = f.radius_there;
    b.mass = f.mass_there;
    b.inertia = f.inertia_there;
    b.mass_inverse = f.mass_inverse;
    b.uid = f.uid_there;
    b.material = f.material_there;
    b.walls = pile->walls->there;
    b.wall_count = (int)pile->walls->host.size();
    return b;
}

/* ---- the end of a step ----------------------------------------------------------------------- */

struct Race {
    cairn_pile_race x = { 0, 0, -1 };

    ANYWHERE void add(const Race &more)
    {
        x.outran += more.x.outran;
        bool equal = more.x.share == x.share && more.x.body < x.body;
        if (more.x.body >= 0 && (x.body < 0 || more.x.share > x.share || equal)) {
            x.share = more.x.share;
            x.body = more.x.body;
        }
    }
};

/* The velocity of block k and of the displacement that corrects overlaps. */
struct Moving {
    const double *v, *z; /* z NULL: there is none */

    ANYWHERE cairn_vec3 of(int64_t k) const
    {
        return cairn_vec(v[6 * k], v[6 * k + 1], v[6 * k + 2]);
    }

    ANYWHERE cairn_vec3 correction(int64_t k) const
    {
        return z ? cairn_vec(z[6 * k], z[6 * k + 1], z[6 * k + 2]) : cairn_vec(0, 0, 0);
    }
};

static Moving moving_of(const PileSet *s)
{
    return Moving{ s->v, s->ring ? s->part.v : nullptr };
}

/* As outran_range of the host. */
static cairn_status pile_race(cairn_pile *pile, cairn_pile_race *out)
{
    PileSet *s = pile->now;
    const PileBodies b = s->bodies;
    const Moving moving = moving_of(s);
    double h = s->h, *reach = s->motion->reach;
    *out = total<Race>(s->device, b.blocks, [=] ANYWHERE(int64_t k, Race & to) {
               int64_t i = k + b.held;
               double moved =
                   cairn_norm(cairn_scale(h, cairn_add(moving.of(k), moving.correction(k))));
               bool outran = moved > reach[i];
               if (outran)
                   reach[i] = 1.5 * moved;
               to.add(Race{ { outran, moved / b.radius[i], (int32_t)i } });
           }).x;
    return s->device.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

struct End {
    cairn_pile_end x = { 0, 0, 0, 0, 0, -1 };

    ANYWHERE void add(const End &more)
    {
        x.kinetic += more.x.kinetic;
        x.potential += more.x.potential;
        x.numerical_loss += more.x.numerical_loss;
        x.correction += more.x.correction;
        x.energy += more.x.energy;
        if (more.x.body >= 0 && (x.body < 0 || more.x.body < x.body))
            x.body = more.x.body;
    }
};

/* x += h v and the correction, q by the exponential map; and the sums. */
struct Arrive {
    PileBodies b;
    Moving moving;
    const cairn_quat *q;
    cairn_vec3 *to_x, *to_v, *to_omega;
    cairn_quat *to_q;
    double h;
    cairn_vec3 gravity;

    ANYWHERE void operator()(int64_t k, End &to) const
    {
        int64_t i = k + b.held;
        const double *speed = moving.v + 6 * k, *old = b.v_old + 6 * k;
        double m = b.mass[i];
        cairn_vec3 v = moving.of(k), shift = cairn_scale(h, moving.correction(k));
        cairn_vec3 omega = cairn_rotate_back(q[i], cairn_vec(speed[3], speed[4], speed[5]));
        cairn_vec3 x = cairn_add_scaled(b.x[i], h, v), end = cairn_add(x, shift);
        cairn_vec3 gained = cairn_sub(v, cairn_vec(old[0], old[1], old[2]));
        cairn_pile_end own = { 0, 0, 0, 0, 0, -1 };
        to_x[i] = end;
        to_v[i] = v;
        to_omega[i] = omega;
        to_q[i] =
            cairn_quat_normalised(cairn_quat_multiply(q[i], cairn_quat_exp(cairn_scale(h, omega))));
        own.kinetic = 0.5 * m * cairn_dot(v, v) + 0.5 * b.inertia[i] * cairn_dot(omega, omega);
        own.potential = -m * cairn_dot(gravity, end);
        own.numerical_loss = 0.5 * h * m * cairn_dot(gravity, gained);
        own.correction = -m * cairn_dot(gravity, shift);
        own.energy = energy_of(m, b.inertia[i], gravity, x, speed);
        own.body = is_finite_number(own.energy) ? -1 : (int32_t)i;
        to.add(End{ own });
    }
};

static cairn_status pile_arrive(cairn_pile *pile, cairn_pile_end *out)
{
    PileSet *s = pile->now;
    const PileBodies b = s->bodies;
    const PileStates &from = *s->begin;
    s->end = take_states((size_t)b.count);
    if (!s->end)
        return CAIRN_NO_MEMORY;
    PileStates &to = *s->end;
    Device &d = s->device;
    cairn_vec3 *x = to.x, *v = to.v, *omega = to.omega;
    cairn_quat *q = to.q;
    const cairn_vec3 *old_x = from.x, *old_v = from.v, *old_omega = from.omega;
    const cairn_quat *old_q = from.q;
    to.device.wait();
    each(d, b.held, [=] ANYWHERE(int64_t i) {
        x[i] = old_x[i];
        v[i] = old_v[i];
        omega[i] = old_omega[i];
        q[i] = old_q[i];
    });
    *out =
        total<End>(d, b.blocks, Arrive{ b, moving_of(s), old_q, x, v, omega, q, s->h, s->gravity })
            .x;
    return d.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

#endif
