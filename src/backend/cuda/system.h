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

/* ---- products -------------------------------------------------------------------------------- */

static void velocity(const cairn_system *system, const cairn_vector *r, cairn_vector *v)
{
    cairn_system *s = const_cast<cairn_system *>(system);
    const cairn_scalar_system *there = s->there;
    const double *impulse = r->x;
    double *speed = v->x;
    Lists lists = s->lists;
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

/* `zero` are impulses of 0. */
static void find_norms(cairn_system *s, const double *zero)
{
    const cairn_scalar_system *there = s->there;
    s->norms = total<Norms>(s->device, s->own.contacts, [=] ANYWHERE(int64_t j, Norms & to) {
                   cairn_scalar_measure_contact(there, (int)j, zero, &to.sums);
               }).sums;
    s->norms.known = true;
}

static void judge(cairn_system *s, cairn_law law, const cairn_vector *r, cairn_vector *v,
                  cairn_vector *u, cairn_judgement *out)
{
    const cairn_scalar_system *there = s->there;
    const double *impulse = r->x, *speed = v->x;
    double *relative = u->x;
    if (!s->norms.known) {
        each(s->device, u->count, [=] ANYWHERE(int64_t i) { relative[i] = 0; });
        find_norms(s, relative);
    }
    velocity(s, r, v);
    Verdict found =
        total<Verdict>(s->device, s->own.contacts, [=] ANYWHERE(int64_t j, Verdict & to) {
            cairn_scalar_judge_contact(there, (int)j, impulse, speed, relative, &to.sums);
        });
    if (s->device.failed)
        found.sums.law[0].e2 = found.sums.law[1].e2 = NAN;
    cairn_scalar_conclude(&s->norms, law, &found.sums, out);
}

static double scale(const cairn_system *s, cairn_law law)
{
    return cairn_scalar_scale_of(&s->norms, law);
}

#endif
