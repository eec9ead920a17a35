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
 *                                            (angular ones: w~ of integrate.c)
 *     F = sum min(r_T.u-, r_T.u+)            friction that drives what slides
 *
 * c <= 0 is the part of b that pushes overlaps apart. By Poisson's law r belongs to two phases, and
 * F is left out. Rows of joints add to E only, with their rates z, without what their laws demand
 * in w:
 *
 *     r (z- + z+)/2 - max(0, r z+ - max(0, r y)),     y of the law: notation.md
 *
 * What a law supplies is r z+ (a motor, a spring, the correction of a defect); what is taken off is
 * what it does supply, not what its bound would allow. An error of the solver is no supply: where
 * the law holds, r y <= 0, but for motors of a given force, which may have any y. So rods and ropes
 * supply what corrects them and no more. A group gains energy if, with K = |v-|_M^2/2 and
 * f = v_free - v-,
 *
 *     max(E, F) > SHARE (K + sum (|r.u-| + |r.u+|)/2) + |f|_M^2/8,    or
 *     E + D - sum C w+.(w- + w+)/2 > MENDS K + |f|_M^2/8 + sum m (SLOW R)^2/2.
 *
 * D is what rows supply that correct the drift of joints, R the sizes of bodies, and C the moments
 * that tension adds (joint_rows.c), which are not in K and f here. In time D is what the curvature
 * of the paths of bodies took, and E + D is about 0; but what drifted while the load was small, or
 * in steps that missed their tolerance, may be pulled together at a higher price.
 *
 * Where b >= c, no gain is possible: both laws have r.u+ + r_N c <= 0 and r_T.u+ <= 0, so F <= 0,
 * and with P = M^-1 H'r, u+ - u- = H (P + f), rows adding min(r z+, max(0, r y)) <= 0 to r.u+,
 *
 *     E = r.u+ + r_N c - |P|_M^2/2 - P.M f/2 <= -|P + f/2|_M^2/2 + |f|_M^2/8.
 *
 * A rough look, without multiplications with rows, is enough where no group gains. Else sums are
 * integers, which do not depend on the order of the terms, and hence not on who computes them.
 * restrain.c says what follows. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/operator.h"
#include "world/gain.h"

static const double ROUNDING = 1e-12;  /* of the size of a body                         */
static const double MENDS = 1e-3;      /* of the energy of a group: see above           */
static const double SLOW = 0.1;        /* 1/s: what stands still closes up so fast      */
static const double TOO_LARGE = 1e300; /* J: for what is too large for a number         */
enum { BITS = 40, GRAIN = 2048 };

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
static bool hear(const cairn_problem *p, cairn_labels *l)
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
void cairn_labels_find(const cairn_step *step, const cairn_problem *p, const uint8_t *marks,
                       cairn_labels *l)
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

int64_t cairn_label_of(const cairn_problem *p, const cairn_labels *l, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    return l->of[block[0] >= 0 ? block[0] : block[1]];
}

cairn_status cairn_labels_take(const cairn_step *step, const cairn_problem *p, cairn_labels *l)
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
    cairn_labels groups;
    uint8_t *joined; /* of contacts: they join their bodies to groups */
    double *term;    /* of contacts: what they add to E ...           */
    double *drive;   /* ... and to F, both less SHARE of their size   */
    double *mends;   /* ... and to E + D; NULL without joints         */
    double *allowed; /* of blocks: SHARE K + |f|_M^2/8, and rounding                */
    double *spared;  /* of blocks: the same for `mends`; NULL: no joints */
} tally;

static bool is_joined(const cairn_work *work, int j)
{
    size_t d = (size_t)work->p->dimension;
    const double *r = work->r + (size_t)j * d;
    if (r[0] != 0 || cairn_is_bounded(work->p, j) || (work->earlier && work->earlier[j] != 0))
        return true;
    bool joined = false;
    for (size_t i = 1; i < d; i++)
        joined = joined || r[i] != 0;
    return joined;
}

/* J: what a row of a joint errs, r y > 0, which no law has. A motor of a given force has any y. */
static double row_error(const cairn_problem *p, size_t entry, double r, double u)
{
    double y = u + (p->compliance ? p->compliance[entry] * r : 0);
    return p->lower[entry] < p->upper[entry] ? cairn_larger(0, r * y) : 0;
}

/* What the rows of block j of a joint add. */
static void find_row_terms(const tally *all, int j)
{
    const cairn_work *work = all->work;
    const cairn_problem *p = work->p;
    size_t first = (size_t)j * (size_t)p->dimension;
    double before[CAIRN_MAX_DIMENSION], sum = 0, mended = 0;
    cairn_contact_relative(p, p->dimension, p->block_size, j, work->before, before);
    for (int i = 0; i < p->dimension; i++) {
        size_t entry = first + (size_t)i;
        double r = work->r[entry], u = work->u[entry], demand = work->demand[entry];
        double old = before[i] - demand, new = u - demand;
        double supply = cairn_larger(0, r * new - row_error(p, entry, r, u));
        double size = 0.5 * fabs(r) * (fabs(old) + fabs(new));
        sum += 0.5 * r * (old + new) - supply - work->share * size;
        mended += work->corrects && work->corrects[entry] ? supply : 0;
    }
    all->term[j] = isfinite(sum) ? sum : TOO_LARGE;
    if (all->mends)
        all->mends[j] = isfinite(sum + mended) ? sum + mended : TOO_LARGE;
}

/* What contact j adds; d and n are those of the problem, as constants if they are the usual
 * ones. */
CAIRN_INLINE void find_terms(const tally *all, int d, int n, int j)
{
    const cairn_work *work = all->work;
    const cairn_problem *p = work->p;
    const double *r = work->r + (size_t)j * (size_t)d, *after = work->u + (size_t)j * (size_t)d;
    double before[CAIRN_MAX_DIMENSION], old = 0, new = 0, slides = 0;
    double sum = work->earlier ? work->earlier[j] : 0,
           pushed = work->push ? r[0] * work->push[j] : 0;
    double size = fabs(sum) + fabs(pushed);
    sum += pushed;
    cairn_contact_relative(p, d, n, j, work->before, before);
    for (int i = 0; i < d; i++) {
        double part = 0.5 * fabs(r[i]) * (fabs(before[i]) + fabs(after[i]));
        sum += 0.5 * r[i] * (before[i] + after[i]);
        size += part;
        slides += i > 0 ? part : 0;
        old += i > 0 ? r[i] * before[i] : 0;
        new += i > 0 ? r[i] * after[i] : 0;
    }
    sum -= work->share * size;
    all->term[j] = isfinite(sum) ? sum : TOO_LARGE;
    if (all->mends)
        all->mends[j] = all->term[j];
    all->drive[j] = work->twice ? 0 : cairn_smaller(old, new) - work->share * slides;
}

static void find_terms_range(int begin, int end, void *context)
{
    const tally *all = context;
    const cairn_work *work = all->work;
    bool usual = work->p->dimension == 3 && work->p->block_size == 6;
    for (int j = begin; j < end; j++) {
        all->joined[j] = work->joined ? work->joined[j] : is_joined(work, j);
        if (!all->joined[j])
            continue;
        all->term[j] = all->drive[j] = 0;
        if (all->mends)
            all->mends[j] = 0;
        if (!cairn_contact_counts(work->p, j))
            continue;
        if (cairn_is_bounded(work->p, j))
            find_row_terms(all, j);
        else if (usual)
            find_terms(all, 3, 6, j);
        else
            find_terms(all, work->p->dimension, work->p->block_size, j);
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
static double allowed_of(const tally *all, int block)
{
    const cairn_work *work = all->work;
    const cairn_problem *p = work->p;
    double kinetic = 0, forced = 0;
    for (int k = 0; k < p->block_size; k++) {
        size_t i = (size_t)block * (size_t)p->block_size + (size_t)k;
        double v = work->before[i], f = p->v_free[i] - v, mass_inverse = p->mass_inverse[i];
        kinetic += mass_inverse > 0 ? v * v / mass_inverse : 0;
        forced += mass_inverse > 0 ? f * f / mass_inverse : 0;
    }
    bool moves = cairn_world_moves(all->step->world, all->step->held + block);
    double allowed = 0.5 * work->share * kinetic + 0.125 * forced + rounding_of(all, block);
    return moves ? allowed : 0;
}

/* kg m^2: the moment that tension adds to component k of a block. */
static double added_of(const tally *all, int block, int k)
{
    const cairn_vec3 *added = all->work->added;
    int angular = k - all->step->world->dimension;
    if (!added || angular < 0)
        return 0;
    cairn_vec3 C = added[all->step->held + block];
    return all->step->world->dimension == 2 || angular == 2 ? C.z : angular == 0 ? C.x : C.y;
}

/* What the rows of joints that correct their drift may give a block, less the work of C. */
static double spared_of(const tally *all, int block)
{
    const cairn_work *work = all->work;
    const cairn_problem *p = work->p;
    double slow = SLOW * all->step->world->bodies.extent[all->step->held + block];
    double mass_inverse = p->mass_inverse[(size_t)block * (size_t)p->block_size];
    double spared = rounding_of(all, block);
    if (!cairn_world_moves(all->step->world, all->step->held + block))
        return 0;
    spared += mass_inverse > 0 && isfinite(slow) ? 0.5 * slow * slow / mass_inverse : 0;
    for (int k = 0; k < p->block_size; k++) {
        size_t i = (size_t)block * (size_t)p->block_size + (size_t)k;
        if (!(p->mass_inverse[i] > 0))
            continue;
        double C = added_of(all, block, k), both = 1 / p->mass_inverse[i], own = both - C;
        double v = work->before[i], after = work->v[i];
        double f = own > 0 ? p->v_free[i] * both / own - v : 0;
        spared += 0.5 * MENDS * own * v * v + 0.125 * own * f * f + 0.5 * C * after * (v + after);
    }
    return spared;
}

static void find_allowed_range(int begin, int end, void *context)
{
    const tally *all = context;
    for (int block = begin; block < end; block++)
        all->allowed[block] = allowed_of(all, block);
    for (int block = begin; block < end && all->spared; block++)
        all->spared[block] = spared_of(all, block);
}

/* A servo does work on its wall, as much as its control asks for: groups that it pushes may gain
 * anything. */
static void allow_servos(const tally *all)
{
    const cairn_free_motion *motion = all->work->motion;
    for (int s = 0; motion && s < motion->servo_count; s++) {
        if (motion->servos[s].row < 0 || !motion->servos[s].moves)
            continue;
        int block = cairn_step_block(all->step, motion->servos[s].row);
        all->allowed[block] = TOO_LARGE;
        if (all->spared)
            all->spared[block] = TOO_LARGE;
    }
}

/* In one pass over the contacts, by several threads. Terms are those of contacts that join. */
static cairn_status take_terms(tally *all)
{
    cairn_arena *scratch = &all->step->world->scratch;
    size_t contacts = (size_t)all->work->p->contacts;
    all->joined = cairn_arena_take(scratch, contacts, sizeof *all->joined);
    all->term = cairn_arena_take(scratch, contacts, sizeof *all->term);
    all->drive = cairn_arena_take(scratch, contacts, sizeof *all->drive);
    if (!all->joined || !all->term || !all->drive)
        return CAIRN_NO_MEMORY;
    if (all->work->corrects) {
        all->mends = cairn_arena_take(scratch, contacts, sizeof *all->mends);
        TRY(all->mends ? CAIRN_OK : CAIRN_NO_MEMORY);
    }
    cairn_parallel_for(all->work->p->contacts, GRAIN, find_terms_range, all);
    return CAIRN_OK;
}

static cairn_status take_allowed(tally *all)
{
    int blocks = all->work->p->blocks;
    all->allowed =
        cairn_arena_take(&all->step->world->scratch, (size_t)blocks, sizeof *all->allowed);
    if (!all->allowed)
        return CAIRN_NO_MEMORY;
    if (all->mends) {
        all->spared =
            cairn_arena_take(&all->step->world->scratch, (size_t)blocks, sizeof *all->spared);
        TRY(all->spared ? CAIRN_OK : CAIRN_NO_MEMORY);
    }
    cairn_parallel_for(blocks, GRAIN, find_allowed_range, all);
    allow_servos(all);
    return CAIRN_OK;
}

/* Whether some group may gain, of any member: only if some contact adds energy. */
static bool any_adds(const tally *all)
{
    bool any = false;
    for (int j = 0; j < all->work->p->contacts && !any; j++)
        any = all->joined[j] &&
              (all->term[j] > 0 || all->drive[j] > 0 || (all->mends && all->mends[j] > 0));
    return cairn_link_any(cairn_problem_link(all->work->p), any);
}

/* ---- a rough look ---------------------------------------------------------------------------- */

/* The work of all contacts on one body is (v+ - v_free).M (v- + v+)/2, where the bodies that are
 * held add r.w. With F <= sum r_T.u+ this needs no multiplication with rows. A group that may gain
 * twice of that clearly does not gain. */

/* Of a block, or of a group: bounds on E and F, and what it may gain, J. */
typedef struct rough {
    double made, driven, allowed;
} rough;

/* What contact j adds, kept with one of its bodies: only sums of groups matter. */
static void add_roughly(const cairn_work *work, int d, int j, rough *of_block)
{
    const cairn_problem *p = work->p;
    const int32_t *block = p->block + 2 * (size_t)j;
    const double *r = work->r + (size_t)j * (size_t)d, *u = work->u + (size_t)j * (size_t)d;
    const double *w = p->w ? p->w + (size_t)j * (size_t)d : NULL;
    rough *of = &of_block[block[0] >= 0 ? block[0] : block[1]];
    for (int i = 1; i < d; i++)
        of->driven += r[i] * u[i];
    for (int i = 0; w && i < d; i++)
        of->made += r[i] * w[i];
}

static double made_on(const cairn_work *work, int block)
{
    const cairn_problem *p = work->p;
    double made = 0;
    for (int k = 0; k < p->block_size; k++) {
        size_t i = (size_t)block * (size_t)p->block_size + (size_t)k;
        double pushed = work->v[i] - p->v_free[i], mass_inverse = p->mass_inverse[i];
        made += pushed != 0 ? pushed * (work->before[i] + work->v[i]) / mass_inverse : 0;
    }
    return 0.5 * made;
}

/* True for what is not a number. */
static bool adds(const rough *of)
{
    return !(of->made <= 0 && of->driven <= 0);
}

static bool may_gain(const rough *of)
{
    return adds(of) && !(2 * of->made <= of->allowed && 2 * of->driven <= of->allowed);
}

/* Whether some group is in doubt, from the sums of their blocks. */
static cairn_status find_doubts(tally *all, const rough *of_block, bool *any)
{
    const cairn_problem *p = all->work->p;
    cairn_labels *l = &all->groups;
    TRY(cairn_labels_take(all->step, p, l));
    rough *sum = cairn_arena_zeros(&all->step->world->scratch, (size_t)l->count, sizeof *sum);
    if (!sum)
        return CAIRN_NO_MEMORY;
    cairn_labels_find(all->step, p, all->joined, l);
    for (int i = 0; i < p->blocks; i++) {
        rough *of = &sum[l->of[i]];
        of->made += of_block[i].made;
        of->driven += of_block[i].driven;
    }
    for (int i = 0; i < p->blocks; i++)
        if (adds(&sum[l->of[i]]))
            sum[l->of[i]].allowed += allowed_of(all, i);
    *any = false;
    for (int64_t i = 0; i < l->count && !*any; i++)
        *any = may_gain(&sum[i]);
    return CAIRN_OK;
}

/* *any: whether a closer look is needed. */
static cairn_status look_roughly(tally *all, bool *any)
{
    const cairn_work *work = all->work;
    const cairn_problem *p = work->p;
    cairn_arena *scratch = &all->step->world->scratch;
    rough *of_block = cairn_arena_zeros(scratch, (size_t)p->blocks, sizeof *of_block);
    all->joined = cairn_arena_take(scratch, (size_t)p->contacts, sizeof *all->joined);
    if (!of_block || !all->joined)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < p->contacts; j++) {
        all->joined[j] = is_joined(work, j);
        if (all->joined[j])
            add_roughly(work, p->dimension, j, of_block);
    }
    *any = false;
    for (int i = 0; i < p->blocks; i++) {
        of_block[i].made += made_on(work, i);
        *any = *any || adds(&of_block[i]);
    }
    return *any ? find_doubts(all, of_block, any) : CAIRN_OK;
}

/* Where the rough look knows all works. Members have only a part of each sum. */
static bool is_plain(const cairn_work *work)
{
    return work->v && !cairn_problem_link(work->p) && !work->p->bounded && !work->earlier &&
           !work->push && !work->joined;
}

/* ---- exact sums ------------------------------------------------------------------------------ */

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

/* Of all groups, by label: the largest term; E, F and E + D less what is allowed. */
typedef struct sums {
    int64_t *largest, *made, *driven, *mended;
} sums;

/* The first pass over numbers that are already there finds the largest terms, the second one the
 * sums. */
static void find_largest(const tally *all, const sums *s)
{
    const cairn_problem *p = all->work->p;
    const cairn_labels *l = &all->groups;
    for (int i = 0; i < p->blocks; i++) {
        note_largest(&s->largest[l->of[i]], all->allowed[i]);
        note_largest(&s->largest[l->of[i]], all->mends ? all->spared[i] : 0);
    }
    for (int j = 0; j < p->contacts; j++) {
        if (!all->joined[j])
            continue;
        int64_t *largest = &s->largest[cairn_label_of(p, l, j)];
        note_largest(largest, all->term[j]);
        note_largest(largest, all->drive[j]);
        note_largest(largest, all->mends ? all->mends[j] : 0);
    }
}

static void add_up(const tally *all, const sums *s)
{
    const cairn_problem *p = all->work->p;
    const cairn_labels *l = &all->groups;
    for (int i = 0; i < p->blocks; i++) {
        int64_t label = l->of[i], allowed = units_of(all->allowed[i], s->largest[label]);
        s->made[label] -= allowed;
        s->driven[label] -= allowed;
        s->mended[label] -= all->mends ? units_of(all->spared[i], s->largest[label]) : 0;
    }
    for (int j = 0; j < p->contacts; j++) {
        if (!all->joined[j])
            continue;
        int64_t label = cairn_label_of(p, l, j);
        s->made[label] += units_of(all->term[j], s->largest[label]);
        s->driven[label] += units_of(all->drive[j], s->largest[label]);
        s->mended[label] += all->mends ? units_of(all->mends[j], s->largest[label]) : 0;
    }
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* In units: by how much a group exceeds what is allowed; <= 0: it does not gain. */
static int64_t excess_of(const sums *s, int64_t label)
{
    return larger(s->made[label], larger(s->driven[label], s->mended[label]));
}

static bool has_gain(const cairn_labels *l, const sums *s, int32_t block)
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
static cairn_gain total_of(const cairn_labels *l, const sums *s)
{
    cairn_gain gain = { 0 };
    for (int64_t label = 0; label < l->count; label++)
        if (excess_of(s, label) > 0) {
            gain.groups++;
            gain.made += joules_of(excess_of(s, label), s->largest[label]);
        }
    return gain;
}

static cairn_status take_sums(const tally *all, sums *s)
{
    cairn_link *link = cairn_problem_link(all->work->p);
    cairn_arena *scratch = &all->step->world->scratch;
    int64_t count = all->groups.count;
    s->largest = cairn_arena_zeros(scratch, (size_t)count, sizeof *s->largest);
    s->made = cairn_arena_zeros(scratch, (size_t)count, sizeof *s->made);
    s->driven = cairn_arena_zeros(scratch, (size_t)count, sizeof *s->driven);
    s->mended = cairn_arena_zeros(scratch, (size_t)count, sizeof *s->mended);
    if (!s->largest || !s->made || !s->driven || !s->mended)
        return CAIRN_NO_MEMORY;
    find_largest(all, s);
    if (link)
        cairn_link_largests(link, s->largest, (int)count);
    add_up(all, s);
    if (link) {
        cairn_link_sums(link, s->made, (int)count);
        cairn_link_sums(link, s->driven, (int)count);
        cairn_link_sums(link, s->mended, (int)count);
    }
    return CAIRN_OK;
}

/* `gains` are all 0. */
static cairn_status find_gains(tally *all, uint8_t *gains, cairn_gain *gain)
{
    const cairn_problem *p = all->work->p;
    sums s;
    TRY(cairn_labels_take(all->step, p, &all->groups));
    cairn_labels_find(all->step, p, all->joined, &all->groups);
    TRY(take_allowed(all));
    TRY(take_sums(all, &s));
    for (int j = 0; j < p->contacts; j++) {
        const int32_t *block = p->block + 2 * (size_t)j;
        gains[j] = has_gain(&all->groups, &s, block[0]) || has_gain(&all->groups, &s, block[1]);
    }
    *gain = total_of(&all->groups, &s);
    return CAIRN_OK;
}

cairn_status cairn_work_gains(const cairn_step *step, const cairn_work *work, uint8_t *gains,
                              cairn_gain *gain)
{
    cairn_arena *scratch = &step->world->scratch;
    cairn_arena_moment before = cairn_arena_now(scratch);
    tally all = { .step = step, .work = work };
    bool any = true;
    *gain = (cairn_gain){ 0 };
    memset(gains, 0, (size_t)work->p->contacts * sizeof *gains);
    if (is_plain(work))
        TRY(look_roughly(&all, &any));
    if (any)
        TRY(take_terms(&all));
    if (any && any_adds(&all))
        TRY(find_gains(&all, gains, gain));
    cairn_arena_return(scratch, before);
    return CAIRN_OK;
}
