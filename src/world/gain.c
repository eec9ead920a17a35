/* gain.c - contacts create no energy.
 *
 * Newton's restitution demands velocities of separation without asking whether they are possible
 * together. Between two walls they may not be, and then impulses grow without bound; with friction,
 * or with several coefficients of restitution, they may be possible and still take more energy than
 * the impact brings. And a solver that stops early can make energy without any restitution. So in
 * every step the energy that impulses r add is computed group by group, a group being bodies
 * connected by contacts that push, or by joints:
 *
 *     E = sum r.(u- + u+)/2 + sum r_N c,     u- = H v- + w,  v- the velocity before, without forces
 *     F = sum min(r_T.u-, r_T.u+)            friction that drives what slides
 *
 * c <= 0 is the part of b that pushes overlaps apart. Rows of joints add to E only, less what they
 * supply: r (u- + u+)/2 - max(0, r u+). By Poisson's law r belongs to two phases, and F is left
 * out.
 * A group gains energy if, with K = |v-|_M^2/2 and f = v_free - v-,
 *
 *     max(E, F) > SHARE (K + sum (|r.u-| + |r.u+|)/2) + |f|_M^2/8.
 *
 * Where b >= c, no gain is possible: both laws have r.u+ + r_N c <= 0 and r_T.u+ <= 0, so F <= 0,
 * and with P = M^-1 H'r, u+ - u- = H (P + f),
 *
 *     E = r.u+ + r_N c - |P|_M^2/2 - P.M f/2 <= -|P + f/2|_M^2/2 + |f|_M^2/8.
 *
 * So a group that gains is first solved again, from r = 0 and more closely. If it still gains, and
 * restitution or a round wall (arc.c) has b < c, it is made to demand less: with b0 = max(b', c),
 * where b' is b without these,
 *
 *     b = b0 + lag (b' - b0) + rest (b - b')
 *
 * `rest` and `lag` fall by the table below, until it gains none. `lag` matters only after impacts
 * within the step, where b' < 0 says where bodies are on their paths (chain.c). At the end of the
 * table b = b0 >= c. Where a group gains all the same, the better of the first and the last answer
 * is kept, and the step has not converged.
 *
 * Each time, the bodies connected by candidates with those that gain are solved again; all others
 * keep their impulses, or start from them: by Poisson's law, and where friction depends on the
 * speed, everything is solved again. Sums are integers, so that they do not depend on the order of
 * their terms, and hence not on who computes them. The first look is one multiplication with the
 * rows of contacts that push. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "world/scheme.h"
#include "world/step.h"

static const double SHARE = 2e-7;  /* of the energy of a group: less than this is no gain      */
static const double CLOSER = 1e-3; /* of the tolerance: how closely groups that gain are solved */
static const double CLOSEST = 1e-12;
static const double ROUNDING = 1e-12;  /* of the size of a body                          */
static const double TOO_LARGE = 1e300; /* J: for what is too large for a number */
enum { BITS = 40, MOST_SOLVES = 20, GRAIN = 2048 };

/* Shares of restitution and of lag. The first entry is Newton's law. */
typedef struct mildness {
    double rest, lag;
} mildness;

static const mildness milder[] = { { 1, 1 }, { 0.75, 1 }, { 0.5, 1 }, { 0, 1 }, { 0, 0 } };

enum { MILDEST = sizeof milder / sizeof milder[0] - 1 };

/* Groups of blocks that some contacts connect. A label is the place of a block in the whole
 * world. */
typedef struct labels {
    int64_t *of;    /* of blocks: the smallest label in the group            */
    int64_t *told;  /* of blocks: what other members say                     */
    int32_t *first; /* of blocks: the first one of the group, of this member */
    int64_t count;  /* labels are below it                                   */
} labels;

/* NULL: no memory. */
static void *zeros(cairn_arena *scratch, size_t count, size_t size)
{
    void *all = cairn_arena_take(scratch, count, size);
    if (all)
        memset(all, 0, count * size);
    return all;
}

/* ---- groups --------------------------------------------------------------------------------- */

static int64_t place_of(const cairn_step *step, int block)
{
    const int64_t *order = step->world->exchange.link ? step->world->exchange.order : NULL;
    return order ? order[step->held + block] : block;
}

static int32_t first_of(int32_t *first, int32_t block)
{
    while (first[block] != block) {
        first[block] = first[first[block]];
        block = first[block];
    }
    return block;
}

/* What neighbours know; whether a label changed. */
static bool hear(const cairn_problem *p, labels *l)
{
    bool changed = false;
    for (int i = 0; i < p->blocks; i++)
        l->told[i] = l->of[l->first[i]];
    cairn_problem_fetch(p, l->told, sizeof *l->told);
    for (int i = 0; i < p->blocks; i++)
        if (l->told[i] < l->of[l->first[i]]) {
            l->of[l->first[i]] = l->told[i];
            changed = true;
        }
    return changed;
}

/* Labels of the groups that the marked contacts connect; `marks` NULL: all contacts do. */
static void find_labels(const cairn_step *step, const cairn_problem *p, const uint8_t *marks,
                        labels *l)
{
    cairn_link *link = cairn_problem_link(p);
    for (int i = 0; i < p->blocks; i++)
        l->first[i] = i;
    for (int j = 0; j < p->contacts; j++) {
        const int32_t *block = p->block + 2 * (size_t)j;
        if (block[0] < 0 || block[1] < 0 || (marks && !marks[j]))
            continue;
        int32_t a = first_of(l->first, block[0]), b = first_of(l->first, block[1]);
        l->first[a > b ? a : b] = a < b ? a : b;
    }
    for (int i = 0; i < p->blocks; i++) {
        l->first[i] = first_of(l->first, i);
        l->of[i] = INT64_MAX;
    }
    for (int i = 0; i < p->blocks; i++)
        if (place_of(step, i) < l->of[l->first[i]])
            l->of[l->first[i]] = place_of(step, i);
    while (link && cairn_link_any(link, hear(p, l)) && link->status == CAIRN_OK)
        continue;
    for (int i = p->blocks - 1; i >= 0; i--) /* the first of a group has the smallest number */
        l->of[i] = l->of[l->first[i]];
}

static int64_t label_of(const cairn_problem *p, const labels *l, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    return l->of[block[0] >= 0 ? block[0] : block[1]];
}

static cairn_status take_labels(const cairn_step *step, const cairn_problem *p, labels *l)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t blocks = (size_t)p->blocks;
    double most = 0;
    for (int i = 0; i < p->blocks; i++)
        most = fmax(most, (double)place_of(step, i) + 1);
    l->count = (int64_t)cairn_link_largest(cairn_problem_link(p), most);
    l->of = cairn_arena_take(scratch, blocks, sizeof *l->of);
    l->told = cairn_arena_take(scratch, blocks, sizeof *l->told);
    l->first = cairn_arena_take(scratch, blocks, sizeof *l->first);
    return l->of && l->told && l->first ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- energy --------------------------------------------------------------------------------- */

/* What the bodies of a problem and their contacts add to the energies of their groups, J. */
typedef struct tally {
    const cairn_step *step;
    const cairn_work *work;
    uint8_t *joined; /* of contacts: they join their bodies to groups */
    double *term;    /* of contacts: what they add to E ...           */
    double *drive;   /* ... and to F, both less SHARE of their size   */
    double *allowed; /* of blocks: SHARE K + |f|_M^2/8, and rounding                */
} tally;

static bool is_joined(const cairn_work *work, int j)
{
    size_t d = (size_t)work->p->dimension;
    bool joined = cairn_is_bounded(work->p, j) || (work->earlier && work->earlier[j] != 0);
    for (size_t i = (size_t)j * d; i < ((size_t)j + 1) * d; i++)
        joined = joined || work->r[i] != 0;
    return joined;
}

/* A row of a joint: what the joint supplies, r u+ > 0, is not the work of contacts. */
static double row_term(double r, double before, double after)
{
    return 0.5 * r * (before + after) - fmax(0, r * after);
}

/* What contact j, or block of rows j of a joint, adds. */
static void find_terms(const tally *all, int j)
{
    const cairn_work *work = all->work;
    const cairn_problem *p = work->p;
    int d = p->dimension;
    const double *r = work->r + (size_t)j * (size_t)d, *after = work->u + (size_t)j * (size_t)d;
    bool row = cairn_is_bounded(p, j);
    double before[CAIRN_MAX_DIMENSION], old = 0, new = 0, slides = 0;
    double sum = work->earlier ? work->earlier[j] : 0,
           pushed = work->push ? r[0] * work->push[j] : 0;
    double size = fabs(sum) + fabs(pushed);
    sum += pushed;
    cairn_contact_relative(p, d, p->block_size, j, work->before, before);
    for (int i = 0; i < d; i++) {
        double part = 0.5 * fabs(r[i]) * (fabs(before[i]) + fabs(after[i]));
        sum += row ? row_term(r[i], before[i], after[i]) : 0.5 * r[i] * (before[i] + after[i]);
        size += part;
        slides += i > 0 ? part : 0;
        old += i > 0 ? r[i] * before[i] : 0;
        new += i > 0 ? r[i] * after[i] : 0;
    }
    sum -= work->share * size;
    all->term[j] = isfinite(sum) ? sum : TOO_LARGE;
    all->drive[j] = row || work->twice ? 0 : fmin(old, new) - work->share * slides;
}

static void find_terms_range(int begin, int end, void *context)
{
    const tally *all = context;
    const cairn_work *work = all->work;
    for (int j = begin; j < end; j++) {
        all->joined[j] = work->joined ? work->joined[j] : is_joined(work, j);
        all->term[j] = all->drive[j] = 0;
        if (all->joined[j] && cairn_contact_counts(work->p, j))
            find_terms(all, j);
    }
}

/* J: kinetic energy of a block at a speed that is rounding, of the size of its body in a step. */
static double rounding_of(const tally *all, int block)
{
    const cairn_problem *p = all->work->p;
    double mass_inverse = p->mass_inverse[(size_t)block * (size_t)p->block_size];
    double extent = all->step->world->bodies.extent[all->step->held + block];
    double speed = ROUNDING * extent / all->step->h;
    return mass_inverse > 0 && isfinite(extent) ? 0.5 * speed * speed / mass_inverse : 0;
}

/* What a block may gain. */
static void find_allowed_range(int begin, int end, void *context)
{
    const tally *all = context;
    const cairn_work *work = all->work;
    const cairn_problem *p = work->p;
    for (int block = begin; block < end; block++) {
        double kinetic = 0, forced = 0;
        for (int k = 0; k < p->block_size; k++) {
            size_t i = (size_t)block * (size_t)p->block_size + (size_t)k;
            double v = work->before[i], f = p->v_free[i] - v, mass_inverse = p->mass_inverse[i];
            kinetic += mass_inverse > 0 ? v * v / mass_inverse : 0;
            forced += mass_inverse > 0 ? f * f / mass_inverse : 0;
        }
        bool moves = cairn_world_moves(all->step->world, all->step->held + block);
        double allowed = 0.5 * work->share * kinetic + 0.125 * forced + rounding_of(all, block);
        all->allowed[block] = moves ? allowed : 0;
    }
}

/* A servo does work on its wall, as much as its control asks for: groups that it pushes may gain
 * anything. */
static void allow_servos(const tally *all)
{
    const cairn_free_motion *motion = all->work->motion;
    for (int s = 0; motion && s < motion->servo_count; s++)
        if (motion->servos[s].row >= 0 && motion->servos[s].moves)
            all->allowed[cairn_step_block(all->step, motion->servos[s].row)] = TOO_LARGE;
}

/* In one pass over the contacts, by several threads. */
static cairn_status take_tally(tally *all)
{
    const cairn_problem *p = all->work->p;
    cairn_arena *scratch = &all->step->world->scratch;
    size_t contacts = (size_t)p->contacts;
    all->joined = cairn_arena_take(scratch, contacts, sizeof *all->joined);
    all->term = cairn_arena_take(scratch, contacts, sizeof *all->term);
    all->drive = cairn_arena_take(scratch, contacts, sizeof *all->drive);
    all->allowed = cairn_arena_take(scratch, (size_t)p->blocks, sizeof *all->allowed);
    if (!all->joined || !all->term || !all->drive || !all->allowed)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(p->contacts, GRAIN, find_terms_range, all);
    cairn_parallel_for(p->blocks, GRAIN, find_allowed_range, all);
    allow_servos(all);
    return CAIRN_OK;
}

/* Whether some group may gain, of any member: only if some contact does. */
static bool any_gains(const tally *all)
{
    bool any = false;
    for (int j = 0; j < all->work->p->contacts && !any; j++)
        any = all->term[j] > 0 || all->drive[j] > 0;
    return cairn_link_any(cairn_problem_link(all->work->p), any);
}

/* Whole units, 2^-BITS of the largest term of the group. */
static int64_t units_of(double term, int64_t largest)
{
    double scale;
    int exponent;
    memcpy(&scale, &largest, sizeof scale);
    frexp(scale, &exponent);
    return isfinite(term) ? llrint(ldexp(term, BITS - exponent)) : 0;
}

/* Numbers that are not negative have the order of their bits. */
static void note_largest(int64_t *largest, double term)
{
    int64_t bits;
    double size = fabs(term);
    memcpy(&bits, &size, sizeof bits);
    *largest = isfinite(term) && bits > *largest ? bits : *largest;
}

/* Of all groups, by label: the largest term, and E and F less what is allowed. */
typedef struct sums {
    int64_t *largest, *made, *driven;
} sums;

/* The first pass over numbers that are already there finds the largest terms, the second one the
 * sums. */
static void find_largest(const tally *all, const labels *l, const sums *s)
{
    const cairn_problem *p = all->work->p;
    for (int i = 0; i < p->blocks; i++)
        note_largest(&s->largest[l->of[i]], all->allowed[i]);
    for (int j = 0; j < p->contacts; j++) {
        if (!all->joined[j])
            continue;
        int64_t *largest = &s->largest[label_of(p, l, j)];
        note_largest(largest, all->term[j]);
        note_largest(largest, all->drive[j]);
    }
}

static void add_up(const tally *all, const labels *l, const sums *s)
{
    const cairn_problem *p = all->work->p;
    for (int i = 0; i < p->blocks; i++) {
        int64_t label = l->of[i], allowed = units_of(all->allowed[i], s->largest[label]);
        s->made[label] -= allowed;
        s->driven[label] -= allowed;
    }
    for (int j = 0; j < p->contacts; j++) {
        if (!all->joined[j])
            continue;
        int64_t label = label_of(p, l, j);
        s->made[label] += units_of(all->term[j], s->largest[label]);
        s->driven[label] += units_of(all->drive[j], s->largest[label]);
    }
}

/* In units: by how much a group exceeds what is allowed; <= 0: it does not gain. */
static int64_t excess_of(const sums *s, int64_t label)
{
    return s->made[label] > s->driven[label] ? s->made[label] : s->driven[label];
}

static bool has_gain(const labels *l, const sums *s, int32_t block)
{
    return block >= 0 && excess_of(s, l->of[block]) > 0;
}

static double joules_of(int64_t units, int64_t largest)
{
    double scale;
    int exponent;
    memcpy(&scale, &largest, sizeof scale);
    frexp(scale, &exponent);
    return ldexp((double)units, exponent - BITS);
}

/* In the order of the labels, which all members know. */
static cairn_gain total_of(const labels *l, const sums *s)
{
    cairn_gain gain = { 0 };
    for (int64_t label = 0; label < l->count; label++)
        if (excess_of(s, label) > 0) {
            gain.groups++;
            gain.made += joules_of(excess_of(s, label), s->largest[label]);
        }
    return gain;
}

static cairn_status find_gains(const tally *all, uint8_t *gains, cairn_gain *gain)
{
    const cairn_problem *p = all->work->p;
    cairn_link *link = cairn_problem_link(p);
    cairn_arena *scratch = &all->step->world->scratch;
    labels l;
    TRY(take_labels(all->step, p, &l));
    sums s = { zeros(scratch, (size_t)l.count, sizeof *s.largest),
               zeros(scratch, (size_t)l.count, sizeof *s.made),
               zeros(scratch, (size_t)l.count, sizeof *s.driven) };
    if (!s.largest || !s.made || !s.driven)
        return CAIRN_NO_MEMORY;
    find_labels(all->step, p, all->joined, &l);
    find_largest(all, &l, &s);
    if (link)
        cairn_link_largests(link, s.largest, (int)l.count);
    add_up(all, &l, &s);
    if (link) {
        cairn_link_sums(link, s.made, (int)l.count);
        cairn_link_sums(link, s.driven, (int)l.count);
    }
    for (int j = 0; j < p->contacts; j++) {
        const int32_t *block = p->block + 2 * (size_t)j;
        gains[j] = has_gain(&l, &s, block[0]) || has_gain(&l, &s, block[1]);
    }
    *gain = total_of(&l, &s);
    return CAIRN_OK;
}

cairn_status cairn_work_gains(const cairn_step *step, const cairn_work *work, uint8_t *gains,
                              cairn_gain *gain)
{
    cairn_arena *scratch = &step->world->scratch;
    cairn_arena_moment before = cairn_arena_now(scratch);
    tally all = { .step = step, .work = work };
    *gain = (cairn_gain){ 0 };
    TRY(take_tally(&all));
    if (any_gains(&all))
        TRY(find_gains(&all, gains, gain));
    else
        memset(gains, 0, (size_t)work->p->contacts * sizeof *gains);
    cairn_arena_return(scratch, before);
    return CAIRN_OK;
}

/* ---- milder demands ------------------------------------------------------------------------- */

/* The answer before anything was solved again. */
typedef struct first_answer {
    double *r, *s;
    uint8_t *exact;
    cairn_gain gain;
} first_answer;

typedef struct restraint {
    const cairn_step *step;
    const cairn_solving *solving;
    cairn_answer *answer;
    const cairn_bounce *bounce; /* Poisson's law; NULL: Newton's             */
    const double *full;         /* of contacts: b by Newton's law            */
    double *apart, *least;      /* of contacts: b' and b0                    */
    double *b, *push;           /* of contacts: b and c                      */
    double *e;                  /* of contacts: as reduced, by Poisson's law */
    const double *before;       /* of blocks: v-                             */
    uint8_t *level;             /* of contacts: entry of `milder`            */
    uint8_t *gains;             /* of contacts: those of groups that gain    */
    const cairn_free_motion *motion;
    cairn_gain gain; /* of them: what they gain                   */
    int32_t *list;   /* contacts to solve again                   */
    int count;
    first_answer first;
} restraint;

/* What a first look needs. */
static cairn_status take_first(restraint *a)
{
    const cairn_problem *p = &a->answer->problem;
    cairn_arena *scratch = &a->step->world->scratch;
    size_t velocities = (size_t)p->blocks * (size_t)p->block_size;
    const double *free = a->answer->impacts.v_free;
    a->gains = cairn_arena_take(scratch, (size_t)p->contacts, sizeof *a->gains);
    a->before = a->answer->v_old;
    if (!a->gains)
        return CAIRN_NO_MEMORY;
    if (!free)
        return CAIRN_OK;
    /* after impacts within the step: what these leave without forces */
    double *left = cairn_arena_take(scratch, velocities, sizeof *left);
    for (size_t i = 0; left && i < velocities; i++)
        left[i] = a->before[i] + p->v_free[i] - free[i];
    a->before = left;
    return left ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* m/s: b without restitution, where no impacts preceded; it keeps the gap open. */
static double plain_bias(const restraint *a, int j)
{
    const cairn_step *step = a->step;
    double gap = cairn_contact_gap(step, a->motion, j);
    return step->scheme->velocity_level ? 0 : cairn_contact_apart(step, gap, fmin(0, gap), 0);
}

/* c of all contacts. Rows of joints have none. NULL: all are 0. */
static cairn_status take_push(restraint *a)
{
    const cairn_step *step = a->step;
    if (step->overlaps != CAIRN_OVERLAPS_PUSH || step->scheme->velocity_level)
        return CAIRN_OK;
    a->push = cairn_arena_doubles(&step->world->scratch, (size_t)a->answer->problem.contacts);
    for (int j = 0; a->push && j < step->world->contacts.count; j++)
        a->push[j] = fmin(0, plain_bias(a, j));
    return a->push ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* b' and b0 of contact j. After impacts within the step b' is known. Poisson's law demands no
 * velocity. */
static void set_parts(restraint *a, int j)
{
    double plain = plain_bias(a, j);
    bool poisson = a->bounce && a->bounce->e[j] > 0;
    a->apart[j] = a->answer->impacts.apart ? a->answer->impacts.apart[j] : plain;
    a->apart[j] = poisson ? a->full[j] : a->apart[j];
    a->least[j] = fmax(a->apart[j], a->push ? a->push[j] : 0);
}

/* What solving again needs. */
static cairn_status take_arrays(restraint *a)
{
    const cairn_problem *p = &a->answer->problem;
    cairn_arena *scratch = &a->step->world->scratch;
    size_t contacts = (size_t)p->contacts, rows = contacts * (size_t)p->dimension;
    a->apart = cairn_arena_doubles(scratch, contacts);
    a->least = cairn_arena_doubles(scratch, contacts);
    a->b = cairn_arena_doubles(scratch, contacts);
    a->level = zeros(scratch, contacts, 1);
    a->list = cairn_arena_take(scratch, contacts, sizeof *a->list);
    a->e = cairn_arena_doubles(scratch, contacts);
    a->first.r = cairn_arena_doubles(scratch, rows);
    a->first.s = cairn_arena_doubles(scratch, contacts);
    a->first.exact = cairn_arena_take(scratch, contacts, 1);
    if (!a->e || !a->apart || !a->least || !a->b || !a->level || !a->list || !a->first.r ||
        !a->first.s || !a->first.exact)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < a->step->world->contacts.count; j++)
        set_parts(a, j);
    memcpy(a->b, a->full, contacts * sizeof *a->b);
    memcpy(a->first.r, a->answer->r, rows * sizeof *a->first.r);
    memcpy(a->first.s, a->answer->s, contacts * sizeof *a->first.s);
    if (a->answer->exact)
        memcpy(a->first.exact, a->answer->exact, contacts);
    a->first.gain = a->gain;
    return CAIRN_OK;
}

static cairn_status look(restraint *a)
{
    const cairn_answer *answer = a->answer;
    const cairn_work work = { .p = &answer->problem,
                              .r = answer->r,
                              .u = answer->u,
                              .before = a->before,
                              .push = a->push,
                              .earlier = answer->impacts.work,
                              .motion = a->motion,
                              .twice = a->bounce != NULL,
                              .share = SHARE };
    return cairn_work_gains(a->step, &work, a->gains, &a->gain);
}

/* ---- solving again -------------------------------------------------------------------------- */

/* The list of contacts of bodies that candidates connect with groups that gain energy. */
static cairn_status find_list(restraint *a)
{
    const cairn_problem *p = &a->answer->problem;
    cairn_arena *scratch = &a->step->world->scratch;
    cairn_arena_moment before = cairn_arena_now(scratch);
    labels l;
    TRY(take_labels(a->step, p, &l));
    int64_t *marked = zeros(scratch, (size_t)l.count, sizeof *marked);
    if (!marked)
        return CAIRN_NO_MEMORY;
    find_labels(a->step, p, NULL, &l);
    for (int j = 0; j < p->contacts; j++)
        if (a->gains[j])
            marked[label_of(p, &l, j)] = 1;
    if (cairn_problem_link(p))
        cairn_link_largests(cairn_problem_link(p), marked, (int)l.count);
    a->count = 0;
    for (int j = 0; j < p->contacts; j++)
        if (marked[label_of(p, &l, j)])
            a->list[a->count++] = j;
    cairn_arena_return(scratch, before);
    return CAIRN_OK;
}

static double bias_at(const restraint *a, int j, int level)
{
    const mildness *m = &milder[level];
    return level == 0 ? a->full[j]
                      : a->least[j] + m->lag * (a->apart[j] - a->least[j]) +
                            m->rest * (a->full[j] - a->apart[j]);
}

static void set_biases(restraint *a)
{
    for (int j = 0; j < a->step->world->contacts.count; j++)
        a->b[j] = bias_at(a, j, a->level[j]);
}

static cairn_status solve_list(restraint *a, const cairn_solving *s)
{
    cairn_answer *answer = a->answer;
    cairn_arena *scratch = &a->step->world->scratch;
    cairn_scheme_job job = cairn_solving_job(s, answer);
    size_t count = (size_t)a->count, d = (size_t)answer->problem.dimension;
    cairn_problem_part part;
    TRY(cairn_problem_take_part(&answer->problem, a->list, a->count, scratch, &part));
    const cairn_problem *p = &part.problem;
    job.problem = p;
    job.loop.r = cairn_arena_doubles(scratch, count * d);
    job.loop.s = cairn_arena_doubles(scratch, count);
    job.loop.u = cairn_arena_doubles(scratch, count * d);
    job.loop.v = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    job.exact = zeros(scratch, count, 1);
    job.allowed = s->allowed;
    job.upgraded = s->upgraded;
    if (!job.loop.r || !job.loop.s || !job.loop.u || !job.loop.v || !job.exact)
        return CAIRN_NO_MEMORY;
    cairn_status status = s->scheme->solve(&job);
    if (status != CAIRN_OK && status != CAIRN_NOT_FINITE)
        return status;
    if (status == CAIRN_NOT_FINITE) /* demands that are impossible together */
        memset(job.loop.r, 0, count * d * sizeof *job.loop.r);
    cairn_part_spread(a->list, a->count, (int)d, job.loop.r, answer->r);
    cairn_part_spread(a->list, a->count, 1, job.loop.s, answer->s);
    for (size_t k = 0; answer->exact && k < count; k++)
        answer->exact[a->list[k]] = job.exact[k];
    return CAIRN_OK;
}

static double closer_tolerance(const cairn_solving *s)
{
    return fmax(CLOSEST, CLOSER * s->options.tolerance);
}

/* Impacts by Poisson's law again: groups that gain energy from r = 0, all others from the impulses
 * of their compression. */
static cairn_status solve_bounce(restraint *a, const cairn_solving *s)
{
    cairn_answer *answer = a->answer;
    size_t contacts = (size_t)answer->problem.contacts, d = (size_t)answer->problem.dimension;
    const cairn_bounce bounce = { a->bounce->first, a->e, a->bounce->phase, a->step };
    TRY(find_list(a));
    memcpy(answer->r, answer->compression, contacts * d * sizeof *answer->r);
    for (int k = 0; k < a->count; k++)
        memset(answer->r + (size_t)a->list[k] * d, 0, d * sizeof *answer->r);
    for (size_t j = 0; j < contacts; j++)
        a->e[j] = milder[a->level[j]].rest * a->bounce->e[j];
    return cairn_impact_solve(s, &bounce, answer);
}

/* Laws that are found by iteration around the solve, or in two phases, for all contacts. */
static cairn_status solve_all(restraint *a, const cairn_solving *s)
{
    return a->bounce ? solve_bounce(a, s) : cairn_phase_with_law(s, &cairn_phase_whole, a->answer);
}

/* By scheme auto s is a part of the law; it also counts the contacts with exact friction. */
static void judge_all(restraint *a)
{
    cairn_answer *answer = a->answer;
    const double *s = answer->problem.s;
    int upgraded = 0;
    answer->problem.s = answer->s_held ? answer->s_held : s;
    cairn_phase_whole.judge(a->solving, answer, &a->solving->report->judgement);
    answer->problem.s = s;
    for (int j = 0; answer->exact && j < a->step->world->contacts.count; j++)
        upgraded += answer->exact[j] && cairn_contact_counts(&answer->problem, j);
    if (answer->exact)
        *a->solving->upgraded = (int)cairn_link_sum(cairn_problem_link(&answer->problem), upgraded);
}

/* The groups that gain energy alone; the report is that of the whole step. */
static cairn_status solve_groups(restraint *a)
{
    const cairn_solving *s = a->solving;
    cairn_solve_report part = { 0 }, *report = s->report;
    cairn_solving closer = *s;
    cairn_arena_moment before = cairn_arena_now(&a->step->world->scratch);
    closer.options.tolerance = closer_tolerance(s);
    closer.report = &part;
    TRY(find_list(a));
    TRY(solve_list(a, &closer));
    judge_all(a);
    report->converged = report->judgement.asked.relative <= s->options.tolerance;
    report->iterations =
        part.iterations > report->iterations ? part.iterations : report->iterations;
    cairn_arena_return(&a->step->world->scratch, before);
    return CAIRN_OK;
}

static cairn_status solve_again(restraint *a)
{
    cairn_solve_report *report = a->solving->report;
    cairn_solving closer = *a->solving;
    int64_t before = report->iterations;
    set_biases(a);
    cairn_step_rescale(a->step, a->answer);
    if (!a->bounce && !a->solving->friction)
        return solve_groups(a);
    closer.options.tolerance = closer_tolerance(a->solving);
    TRY(solve_all(a, &closer));
    report->converged = report->judgement.asked.relative <= a->solving->options.tolerance;
    report->iterations = report->iterations < before ? before : report->iterations;
    return CAIRN_OK;
}

/* Contacts of groups that gain energy get the next entry of `milder`; whether that changes what any
 * of them demands, of any member. */
static bool make_milder(restraint *a)
{
    bool changed = false;
    for (int j = 0; j < a->step->world->contacts.count; j++)
        if (a->gains[j] && a->level[j] < MILDEST) {
            a->level[j]++;
            changed = changed || (a->bounce && a->bounce->e[j] > 0);
            for (int level = a->level[j]; level <= MILDEST && !changed; level++)
                changed = bias_at(a, j, level) != a->b[j];
        }
    return cairn_link_any(cairn_problem_link(&a->answer->problem), changed);
}

static int64_t count_reduced(const restraint *a)
{
    const cairn_problem *p = &a->answer->problem;
    int64_t reduced = 0;
    for (int j = 0; j < a->step->world->contacts.count; j++) {
        size_t first = (size_t)j * (size_t)p->dimension;
        bool poisson = a->bounce && a->bounce->e[j] > 0 && a->level[j] > 0 &&
                       a->answer->compression[first] > 0;
        reduced += (poisson || a->b[j] != a->full[j]) && cairn_contact_counts(p, j);
    }
    return cairn_link_sum(cairn_problem_link(p), reduced);
}

/* Groups that gain even more than before get their first impulses back, and with them what they
 * demanded. */
static void keep_better(restraint *a)
{
    cairn_answer *answer = a->answer;
    cairn_solve_report *report = a->solving->report;
    size_t contacts = (size_t)answer->problem.contacts;
    if (a->bounce || a->solving->friction || !(a->gain.made >= a->first.gain.made))
        return;
    memset(a->level, 0, contacts);
    set_biases(a);
    cairn_step_rescale(a->step, answer);
    memcpy(answer->r, a->first.r, contacts * (size_t)answer->problem.dimension * sizeof *answer->r);
    memcpy(answer->s, a->first.s, contacts * sizeof *answer->s);
    if (answer->exact)
        memcpy(answer->exact, a->first.exact, contacts);
    judge_all(a);
    report->converged = false;
    a->gain = a->first.gain;
}

/* A step in which a group still gains misses what it promises, whatever its residual. */
static void report_gain(const restraint *a)
{
    cairn_step_report *report = a->step->report;
    report->energy_made = a->gain.made;
    report->energy_made_groups = (int)a->gain.groups;
    report->solve.converged = false;
    snprintf(report->solve.remark, sizeof report->solve.remark,
             "contacts create energy, also when solved more closely");
}

/* Until no group gains, or nothing milder is left to demand. */
static cairn_status solve_milder(restraint *a)
{
    bool milder_still = true;
    a->answer->problem.b = a->b;
    for (int solves = 0; a->gain.groups > 0 && milder_still && solves < MOST_SOLVES; solves++) {
        TRY(solve_again(a));
        TRY(look(a));
        milder_still = a->gain.groups > 0 && make_milder(a);
    }
    if (a->gain.groups > 0)
        keep_better(a);
    if (a->gain.groups > 0)
        report_gain(a);
    a->step->report->impacts_reduced = (int)count_reduced(a);
    return CAIRN_OK;
}

cairn_status cairn_step_restrain(const cairn_step *step, const cairn_free_motion *motion,
                                 const cairn_solving *solving, const cairn_bounce *bounce,
                                 cairn_answer *answer)
{
    restraint a = { .step = step,
                    .solving = solving,
                    .answer = answer,
                    .motion = motion,
                    .bounce = bounce,
                    .full = answer->problem.b };
    cairn_step_report *report = step->report;
    cairn_arena_moment before = cairn_arena_now(&step->world->scratch);
    report->impacts_reduced = report->energy_made_groups = 0;
    report->energy_made = 0;
    TRY(take_first(&a));
    TRY(take_push(&a));
    TRY(look(&a));
    if (a.gain.groups == 0) {
        cairn_arena_return(&step->world->scratch, before);
        return CAIRN_OK;
    }
    TRY(take_arrays(&a));
    return solve_milder(&a);
}
