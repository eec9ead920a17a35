/* gain.c - impacts create no energy.
 *
 * Newton's restitution demands velocities of separation without asking whether they are possible
 * together. Between two walls they may not be, and then impulses grow without bound; with friction,
 * or with several coefficients of restitution, they may be possible and still take more energy than
 * the impact brings. So the energy that impulses r add is computed group by group, a group being
 * bodies connected by contacts that push:
 *
 *     E = sum r.(u- + u+)/2 + sum r_N c,     u- = H v- + w,  v- the velocity before, without forces
 *
 * c <= 0 is the part of b that pushes overlaps apart. A group gains energy if
 *
 *     E > SHARE (K + sum (|r.u-| + |r.u+|)/2) + |v_free - v-|_M^2/8,      K = |v-|_M^2/2.
 *
 * Its demands are then reduced: with b0 = max(b', c), where b' is b without restitution,
 *
 *     b = b0 + lag (b' - b0) + rest (b - b')
 *
 * `rest` and `lag` fall by the table below, until it gains none. `lag` matters only after impacts
 * within the step, where b' < 0 says where bodies are on their paths (chain.c). At the end of the
 * table b = b0 >= c, for which no gain is possible: r.u+ + r_N c <= 0 by both laws, and with
 * P = M^-1 H'r, f = v_free - v-
 *
 *     E = r.u+ + r_N c - |P|_M^2/2 - P.M f/2 <= -|P + f/2|_M^2/2 + |f|_M^2/8.
 *
 * Each time, the bodies connected by candidates with those that gain are solved again, from r = 0,
 * more closely. All others keep their impulses, or start from them: by Poisson's law, and where
 * friction depends on the speed, everything is solved again. Sums are integers, so that they do not depend on the order of
 * their terms, and hence not on who computes them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "world/scheme.h"
#include "world/step.h"

static const double SHARE = 2e-7;  /* of the energy of a group: less than this is no gain      */
static const double CLOSER = 1e-3; /* of the tolerance: how closely groups that gain are solved */
static const double CLOSEST = 1e-12;
enum { BITS = 40, MOST_SOLVES = 20 };

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

/* What contact j adds to E, J, and the sum of the magnitudes of its terms. */
static double work_of(const cairn_work *work, int j, double *size)
{
    const cairn_problem *p = work->p;
    int d = p->dimension;
    const double *r = work->r + (size_t)j * (size_t)d, *after = work->u + (size_t)j * (size_t)d;
    double before[CAIRN_MAX_DIMENSION], sum = r[0] * work->push[j];
    cairn_contact_relative(p, d, p->block_size, j, work->before, before);
    *size = fabs(sum);
    if (work->earlier) {
        sum += work->earlier[j];
        *size += fabs(work->earlier[j]);
    }
    for (int i = 0; i < d; i++) {
        sum += 0.5 * r[i] * (before[i] + after[i]);
        *size += 0.5 * fabs(r[i]) * (fabs(before[i]) + fabs(after[i]));
    }
    return sum;
}

/* J: what a block may gain, SHARE K + |f|_M^2/8. */
static double allowance(const cairn_work *work, int block)
{
    const cairn_problem *p = work->p;
    double kinetic = 0, forced = 0;
    for (int k = 0; k < p->block_size; k++) {
        size_t i = (size_t)block * (size_t)p->block_size + (size_t)k;
        double v = work->before[i], f = p->v_free[i] - v, mass_inverse = p->mass_inverse[i];
        kinetic += mass_inverse > 0 ? v * v / mass_inverse : 0;
        forced += mass_inverse > 0 ? f * f / mass_inverse : 0;
    }
    return 0.5 * work->share * kinetic + 0.125 * forced;
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

/* Largest terms and sums of all groups, by label. */
typedef struct sums {
    int64_t *largest, *sum;
} sums;

static void add_term(const sums *s, bool second, int64_t label, double term)
{
    if (second)
        s->sum[label] += units_of(term, s->largest[label]);
    else
        note_largest(&s->largest[label], term);
}

/* The first pass finds the largest terms, the second one the sums. */
static void pass(const cairn_step *step, const cairn_work *work, const labels *l, const sums *s,
                 bool second)
{
    const cairn_problem *p = work->p;
    for (int i = 0; i < p->blocks; i++)
        if (cairn_world_moves(step->world, step->held + i))
            add_term(s, second, l->of[i], -allowance(work, i));
    for (int j = 0; j < p->contacts; j++) {
        if (!work->joined[j] || !cairn_contact_counts(p, j))
            continue;
        double size, term = work_of(work, j, &size);
        add_term(s, second, label_of(p, l, j), term - work->share * size);
    }
}

/* Whether a body of contact j is in a group that gains energy. */
static bool gains_there(const cairn_problem *p, const labels *l, const sums *s, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    return (block[0] >= 0 && s->sum[l->of[block[0]]] > 0) ||
           (block[1] >= 0 && s->sum[l->of[block[1]]] > 0);
}

cairn_status cairn_work_gains(const cairn_step *step, const cairn_work *work, uint8_t *gains,
                              bool *any)
{
    const cairn_problem *p = work->p;
    cairn_link *link = cairn_problem_link(p);
    cairn_arena *scratch = &step->world->scratch;
    cairn_arena_moment before = cairn_arena_now(scratch);
    bool found = false;
    labels l;
    TRY(take_labels(step, p, &l));
    sums s = { zeros(scratch, (size_t)l.count, sizeof *s.largest),
               zeros(scratch, (size_t)l.count, sizeof *s.sum) };
    if (!s.largest || !s.sum)
        return CAIRN_NO_MEMORY;
    find_labels(step, p, work->joined, &l);
    pass(step, work, &l, &s, false);
    if (link)
        cairn_link_largests(link, s.largest, (int)l.count);
    pass(step, work, &l, &s, true);
    if (link)
        cairn_link_sums(link, s.sum, (int)l.count);
    for (int j = 0; j < p->contacts; j++) {
        gains[j] = gains_there(p, &l, &s, j);
        found = found || gains[j];
    }
    *any = cairn_link_any(link, found);
    cairn_arena_return(scratch, before);
    return CAIRN_OK;
}

/* ---- milder demands ------------------------------------------------------------------------- */

typedef struct restraint {
    const cairn_step *step;
    const cairn_solving *solving;
    cairn_answer *answer;
    const cairn_bounce *bounce; /* Poisson's law; NULL: Newton's             */
    const double *full;         /* of contacts: b by Newton's law            */
    double *apart, *least;      /* of contacts: b' and b0                    */
    double *b, *push;           /* of contacts: b and c                      */
    double *e;                  /* of contacts: as reduced, by Poisson's law */
    double *before;             /* of blocks: v-                             */
    uint8_t *level;             /* of contacts: entry of `milder`            */
    uint8_t *joined;            /* of contacts: they push; rows of joints    */
    uint8_t *gains;             /* of contacts: those of groups that gain    */
    int32_t *list;              /* contacts to solve again                   */
    int count;
} restraint;

static cairn_status take_arrays(restraint *a)
{
    const cairn_problem *p = &a->answer->problem;
    cairn_arena *scratch = &a->step->world->scratch;
    size_t contacts = (size_t)p->contacts;
    a->apart = cairn_arena_doubles(scratch, contacts);
    a->least = cairn_arena_doubles(scratch, contacts);
    a->push = cairn_arena_doubles(scratch, contacts);
    a->b = cairn_arena_doubles(scratch, contacts);
    a->before = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    a->level = zeros(scratch, contacts, 1);
    a->joined = zeros(scratch, contacts, 1);
    a->gains = zeros(scratch, contacts, 1);
    a->list = cairn_arena_take(scratch, contacts, sizeof *a->list);
    a->e = cairn_arena_doubles(scratch, contacts);
    return a->e && a->apart && a->least && a->push && a->b && a->before && a->level && a->joined &&
                   a->gains && a->list
               ? CAIRN_OK
               : CAIRN_NO_MEMORY;
}

/* b', b0 and c of contact j; rows of joints have none. After impacts within the step b' is known;
 * otherwise it keeps the gap open. Poisson's law demands no velocity. */
static void set_parts(restraint *a, const cairn_free_motion *motion, int j)
{
    const cairn_step *step = a->step;
    double gap = cairn_contact_gap(step, motion, j);
    double plain = step->scheme->velocity_level
                       ? 0
                       : cairn_contact_apart(step, gap, fmin(0, gap), 0);
    bool poisson = a->bounce && a->bounce->e[j] > 0;
    a->apart[j] = a->answer->impacts.apart ? a->answer->impacts.apart[j] : plain;
    a->push[j] = fmin(0, plain);
    a->apart[j] = poisson ? a->full[j] : a->apart[j];
    a->least[j] = fmax(a->apart[j], a->push[j]);
}

/* v-: after impacts within the step, what these leave without forces. */
static void set_before(restraint *a)
{
    const cairn_answer *answer = a->answer;
    const cairn_problem *p = &answer->problem;
    const double *free = answer->impacts.v_free;
    for (size_t i = 0; i < (size_t)p->blocks * (size_t)p->block_size; i++)
        a->before[i] = answer->v_old[i] + (free ? p->v_free[i] - free[i] : 0);
}

/* There are no rows of joints after impacts within the step. */
static void note_joined(restraint *a)
{
    const cairn_problem *p = &a->answer->problem;
    const double *r = a->answer->r, *total = a->answer->impacts.total;
    size_t d = (size_t)p->dimension;
    for (size_t j = 0; j < (size_t)p->contacts; j++) {
        a->joined[j] = cairn_is_bounded(p, (int)j);
        for (size_t i = j * d; i < (j + 1) * d; i++)
            a->joined[j] = a->joined[j] || r[i] != 0 || (total && total[i] != 0);
    }
}

/* Whether some contact pushes to obey restitution, of any member; else nothing can gain energy. */
static bool any_demands(const restraint *a)
{
    const cairn_problem *p = &a->answer->problem;
    bool any = a->bounce != NULL;
    for (int j = 0; j < a->step->world->contacts.count && !any; j++)
        any = a->answer->r[(size_t)j * (size_t)p->dimension] > 0 && a->full[j] < a->least[j];
    return cairn_link_any(cairn_problem_link(p), any);
}

static cairn_status look(restraint *a, bool *any)
{
    const cairn_answer *answer = a->answer;
    const cairn_work work = { .p = &answer->problem,
                              .r = answer->r,
                              .u = answer->u,
                              .before = a->before,
                              .push = a->push,
                              .earlier = answer->impacts.work,
                              .joined = a->joined,
                              .share = SHARE };
    note_joined(a);
    return cairn_work_gains(a->step, &work, a->gains, any);
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

static void set_biases(restraint *a)
{
    for (int j = 0; j < a->step->world->contacts.count; j++) {
        const mildness *m = &milder[a->level[j]];
        if (a->level[j] > 0)
            a->b[j] = a->least[j] + m->lag * (a->apart[j] - a->least[j]) +
                      m->rest * (a->full[j] - a->apart[j]);
    }
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
        *a->solving->upgraded =
            (int)cairn_link_sum(cairn_problem_link(&answer->problem), upgraded);
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

/* Contacts of groups that gain energy get the next entry of `milder`; whether any could, of any
 * member. */
static bool make_milder(restraint *a)
{
    bool changed = false;
    for (int j = 0; j < a->step->world->contacts.count; j++)
        if (a->gains[j] && a->level[j] < MILDEST) {
            a->level[j]++;
            changed = true;
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

/* Solves that did not converge may gain energy without any restitution. */
static void remark_gain(cairn_solve_report *report)
{
    report->converged = false;
    snprintf(report->remark, sizeof report->remark,
             "impacts create energy, also with their restitution reduced");
}

cairn_status cairn_step_restrain(const cairn_step *step, const cairn_free_motion *motion,
                                 const cairn_solving *solving, const cairn_bounce *bounce,
                                 cairn_answer *answer)
{
    restraint a = { .step = step,
                    .solving = solving,
                    .answer = answer,
                    .bounce = bounce,
                    .full = answer->problem.b };
    bool any;
    step->report->impacts_reduced = 0;
    if (!step->world->materials.bouncing)
        return CAIRN_OK;
    cairn_arena_moment before = cairn_arena_now(&step->world->scratch);
    TRY(take_arrays(&a));
    for (int j = 0; j < step->world->contacts.count; j++)
        set_parts(&a, motion, j);
    set_before(&a);
    any = any_demands(&a);
    if (any)
        TRY(look(&a, &any));
    if (!any) {
        cairn_arena_return(&step->world->scratch, before);
        return CAIRN_OK;
    }
    memcpy(a.b, a.full, (size_t)answer->problem.contacts * sizeof *a.b);
    answer->problem.b = a.b;
    bool milder_still = true;
    for (int solves = 0; any && milder_still && solves < MOST_SOLVES; solves++) {
        TRY(solve_again(&a));
        TRY(look(&a, &any));
        milder_still = any && make_milder(&a);
    }
    if (any)
        remark_gain(solving->report);
    step->report->impacts_reduced = (int)count_reduced(&a);
    return CAIRN_OK;
}
