/* restrain.c - what to do where contacts create energy (gain.c).
 *
 * A group that gains is first solved again, from r = 0 and more closely. If it still gains, and
 * restitution or a round wall (arc.c) demands more than b >= c, it is made to demand less: with
 * b0 = max(b', c), where b' is b without these,
 *
 *     b = b0 + lag (b' - b0) + rest (b - b')
 *
 * `rest` and `lag` fall by the table below, until it gains none. `lag` matters only after impacts
 * within the step, where b' < 0 says where bodies are on their paths (chain.c). At the end of the
 * table b = b0 >= c. Joints of the group correct the share `mend` of their drift, in the end none:
 * their rows then take energy, and what has drifted is corrected when that costs less. Where a
 * group gains all the same, the better of the first and the last answer is kept, and the step has
 * not converged.
 *
 * Each time, the bodies connected by candidates with those that gain are solved again; all others
 * keep their impulses. By Poisson's law, and where friction depends on the speed, everything is
 * solved again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "world/gain.h"
#include "world/scheme.h"

static const double SHARE = 2e-7;  /* of the energy of a group: less than this is no gain       */
static const double CLOSER = 1e-3; /* of the tolerance: how closely groups that gain are solved */
static const double CLOSEST = 1e-12;
enum { MOST_SOLVES = 20 };

/* Shares of restitution, of lag, and of the correction of joints. The first entry is Newton's
 * law. */
typedef struct mildness {
    double rest, lag, mend;
} mildness;

static const mildness milder[] = {
    { 1, 1, 1 },          { 0.75, 1, 1.0 / 2 }, { 0.5, 1, 1.0 / 4 },
    { 0, 1, 1.0 / 16 },   { 0, 0, 1.0 / 64 },   { 0, 0, 1.0 / 256 },
    { 0, 0, 1.0 / 1024 }, { 0, 0, 1.0 / 4096 }, { 0, 0, 0 },
};

enum { MILDEST = sizeof milder / sizeof milder[0] - 1 };

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
    const double *full_w;       /* of rows of joints: with all they correct  */
    const double *full_demand;
    double *w, *demand, *eased; /* NULL without joints                       */
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

/* What easing the corrections of joints needs. */
static cairn_status take_rows(restraint *a)
{
    cairn_answer *answer = a->answer;
    cairn_arena *scratch = &a->step->world->scratch;
    size_t contacts = (size_t)answer->problem.contacts;
    size_t entries = contacts * (size_t)answer->problem.dimension;
    if (!answer->corrects)
        return CAIRN_OK;
    a->full_w = answer->problem.w;
    a->full_demand = answer->demand;
    a->w = cairn_arena_doubles(scratch, entries);
    a->demand = cairn_arena_doubles(scratch, entries);
    a->eased = cairn_arena_doubles(scratch, contacts);
    if (!a->w || !a->demand || !a->eased)
        return CAIRN_NO_MEMORY;
    memcpy(a->w, a->full_w, entries * sizeof *a->w);
    memcpy(a->demand, a->full_demand, entries * sizeof *a->demand);
    answer->problem.w = a->w;
    answer->demand = a->demand;
    answer->eased = a->eased;
    return CAIRN_OK;
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
    a->level = cairn_arena_zeros(scratch, contacts, 1);
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
    TRY(take_rows(a));
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
                              .v = answer->v,
                              .before = a->before,
                              .push = a->push,
                              .earlier = answer->impacts.work,
                              .demand = answer->demand,
                              .corrects = answer->corrects,
                              .added = answer->added,
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
    cairn_labels l;
    TRY(cairn_labels_take(a->step, p, &l));
    int64_t *marked = cairn_arena_zeros(scratch, (size_t)l.count, sizeof *marked);
    if (!marked)
        return CAIRN_NO_MEMORY;
    cairn_labels_find(a->step, p, NULL, &l);
    for (int j = 0; j < p->contacts; j++)
        if (a->gains[j])
            marked[cairn_label_of(p, &l, j)] = 1;
    if (cairn_problem_link(p))
        cairn_link_largests(cairn_problem_link(p), marked, (int)l.count);
    a->count = 0;
    for (int j = 0; j < p->contacts; j++)
        if (marked[cairn_label_of(p, &l, j)])
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

/* Whether block j of a joint demands anything of which it may demand less. */
static bool can_ease(const restraint *a, int j)
{
    size_t d = (size_t)a->answer->problem.dimension, first = (size_t)j * d;
    bool any = false;
    for (size_t i = first; a->eased && i < first + d; i++)
        any = any || (a->answer->corrects[i] && a->full_demand[i] != 0);
    return any;
}

/* What the rows of block j of a joint demand. */
static void ease(restraint *a, int j)
{
    size_t d = (size_t)a->answer->problem.dimension, first = (size_t)j * d;
    a->eased[j] = 0;
    for (size_t i = first; i < first + d; i++) {
        double share = a->answer->corrects[i] ? 1 - milder[a->level[j]].mend : 0;
        a->w[i] = a->full_w[i] - share * a->full_demand[i];
        a->demand[i] = a->full_demand[i] - share * a->full_demand[i];
        a->eased[j] = fmax(a->eased[j], share);
    }
}

static void set_biases(restraint *a)
{
    int contacts = a->step->world->contacts.count;
    for (int j = 0; j < contacts; j++)
        a->b[j] = bias_at(a, j, a->level[j]);
    for (int j = contacts; a->eased && j < a->answer->problem.contacts; j++)
        ease(a, j);
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
    job.exact = cairn_arena_zeros(scratch, count, 1);
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

/* Scheme auto: no contact pushes by the convex law that slides too fast for it. */
static bool has_exact(const restraint *a)
{
    const cairn_answer *answer = a->answer;
    size_t d = (size_t)answer->problem.dimension;
    bool lacks = false;
    for (int j = 0; answer->exact && j < a->step->world->contacts.count && !lacks; j++)
        lacks = !answer->exact[j] && answer->r[(size_t)j * d] > 0 &&
                cairn_scheme_slides_fast(a->solving, answer, j);
    return !cairn_link_any(cairn_problem_link(&answer->problem), lacks);
}

static void note_converged(restraint *a)
{
    cairn_solve_report *report = a->solving->report;
    bool met = report->judgement.asked.relative <= a->solving->options.tolerance;
    report->converged = has_exact(a) && met;
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
    note_converged(a);
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
    note_converged(a);
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
    for (int j = a->step->world->contacts.count; j < a->answer->problem.contacts; j++)
        if (a->gains[j] && a->level[j] < MILDEST) {
            a->level[j]++;
            changed = changed || can_ease(a, j);
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
