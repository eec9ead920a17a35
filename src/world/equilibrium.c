/* equilibrium.c - what can rest, rests: the question whether a group of bodies has an equilibrium.
 *
 * Exact friction has several solutions where a pile can both stand and fall, and errors within the
 * tolerance make it creep until it falls. So for groups (groups.h) that are quiet before the step,
 *     |v_a - v_b| + R_a |omega_a| + R_b |omega_b| <= h |g + F/m|    for every contact that pushes,
 * at walls |(max(0, u_N), u_T)| in place of |v_a - v_b|, so that what is set down all at once is
 * quiet at any speed, the step first asks whether forces of contacts and joints exist that hold
 * them. With u = 0 any r in K satisfies Coulomb's law at every contact that is
 * closed, so this is the convex program
 *     min 1/2 r'W r + q' r,   r in K,     q = H v_free + w + b' n,
 * b' = 0 where the gap counts as closed (cairn_step_closed), else b. It has one velocity. The
 * impulses of the last step are kept if they solve it to FINER of the tolerance, which is what
 * bodies at rest may creep (to ENOUGH where some body is faster than CALM). If not, it is solved to
 * FINEST, so that errors, which add up from step to step, leave many steps in which nothing is to
 * be done: by sweeps, and where these do not get there by Newton's method. Of all impulses that
 * hold, both find some near those that they start from, while interior points go to the middle,
 * which may be far away. There is an equilibrium if the program is solved to ENOUGH of the
 * tolerance, since otherwise impulses grow without end. A group is held if its impulses satisfy the
 * law of the scheme, with the true b, within the tolerance, as the judge measures it: the
 * certificate is that of any other step. If only the program is solved, they are what the solve
 * starts from. Contacts of groups that are held are not solved again; all others are solved as
 * always.
 *
 * Groups of more than MOST_CONTACTS contacts, and piles on a device, are not asked. The work is
 * bounded by MOST_UPDATES contacts swept, or FEWEST sweeps, and by a tenth of the iterations; where
 * Newton's method cannot be used (run.parts), by half of them. Newton's method is for groups whose
 * bodies are slower than CALM; it takes at most MOST_NEWTON steps for a group of up to
 * BATCH contacts, and for a larger one MOST_NEWTON BATCH contacts times steps. A group that stands
 * still and nearly solves the program gets BRIEF sweeps first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/judge.h"
#include "problem/operator.h"
#include "world/groups.h"
#include "world/scheme.h"

/* Of the tolerance: what is kept; what is aimed at, by sweeps and by Newton's method, whose
 * equations round errors to about 2e-9 of h |g| where contacts are redundant; what is accepted.
 * Tolerances count up to COARSEST, so that bodies at rest do not creep with larger ones, and what
 * follows from them down to LEAST and FINE: less is hard to reach, and shows no more. */
static const double FINER = 1e-3, FINEST = 1e-6, FINEST_NEWTON = 1e-5, ENOUGH = 1e-2;
static const double COARSEST = 1e-3, LEAST = 1e-11, FINE = 1e-8;
static const double CALM = 0.05;    /* h |g + F/m|: speed of bodies that have come to rest        */
static const double STILL = 1e-4;   /* likewise: of bodies that stand still                       */
static const double LASTING = 10;   /* steps for which impulses can be kept, at least           */
static const double MARGIN = 0.999; /* of the tolerance: the judge of all may differ by rounding */
enum { MOST_CONTACTS = 4000, MOST_UPDATES = 1000000, FEWEST = 50 };
enum { MOST_NEWTON = 60, BATCH = 800, LOOK_GRAIN = 512 };
enum { BRIEF = 15 }; /* sweeps where Newton's method takes little time */

/* Marks of a group: something moves it or it is not quiet; the program is not solved well enough to
 * be kept; is not solved; the law of the scheme is missed; a body has not come to rest, or
 * stirs. */
enum { LOUD = 1, LOOSE = 2, FALLS = 4, UNHELD = 8, LIVELY = 16, STIRS = 32 };

/* What the stages of this file share. */
typedef struct stilling {
    const cairn_solving *s;
    const cairn_stillness *by;
    cairn_answer *answer;
    cairn_groups groups;    /* those of the answer, with marks of their own         */
    int32_t *contact;       /* of quiet groups, then those that are solved as always */
    int count;              /* of quiet groups                                      */
    int64_t all;            /* likewise, of all members                             */
    cairn_problem question; /* the problem with b'                               */
    double *r;              /* of contacts: impulses                             */
    uint8_t *found;         /* marks that each contact of quiet groups gives     */
    double keep;            /* of the tolerance: what a look does not call loose */
} stilling;

/* ---- quiet groups --------------------------------------------------------------------------- */

/* What finding quiet groups reads, and the marks that each contact gives its group. */
typedef struct quiet_job {
    const cairn_step *step;
    const cairn_answer *answer;
    uint8_t *found;
} quiet_job;

/* m/s: how fast the bodies of contact j move relative to each other: what bodies that move all
 * alike do not. A wall counts with the velocity of its surface, but not with how fast a body comes
 * to it: what stops bodies that all come alike is what holds them against gravity. */
static double relative_speed(const quiet_job *job, int j)
{
    const cairn_world *world = job->step->world;
    const cairn_body_store *b = &world->bodies;
    const cairn_problem *p = &job->answer->problem;
    const int32_t *body = world->contacts.body + 2 * (size_t)j;
    double u[CAIRN_MAX_DIMENSION], sum = 0, turns = 0;
    bool both = p->block[2 * (size_t)j] >= 0 && p->block[2 * (size_t)j + 1] >= 0;
    for (int side = 0; side < 2; side++)
        if (cairn_step_block(job->step, body[side]) >= 0)
            turns += b->extent[body[side]] * cairn_norm(b->omega[body[side]]);
    if (both)
        return cairn_norm(cairn_sub(b->v[body[0]], b->v[body[1]])) + turns;
    cairn_contact_velocity(p, j, NULL, job->answer->v_old, u);
    u[0] = cairn_larger(0, u[0]);
    for (int i = 0; i < world->dimension; i++)
        sum += u[i] * u[i];
    return sqrt(sum) + turns;
}

/* Marks by that, where the bodies touch or soon will. Rows of joints are not asked: a motor that
 * cannot move what it pushes at is at rest. */
static uint8_t unrest_of(const quiet_job *job, int j)
{
    const cairn_problem *p = &job->answer->problem;
    if (p->bounded && p->bounded[j])
        return 0;
    double pull = cairn_contact_forced(p, job->answer->v_old, job->step->world->dimension, j);
    bool pushed = job->answer->r[(size_t)j * (size_t)p->dimension] > 0;
    if (!pushed && p->b[j] > pull)
        return 0;
    double speed = relative_speed(job, j);
    return (uint8_t)((speed <= pull ? 0 : LOUD) | (speed <= CALM * pull ? 0 : LIVELY) |
                     (speed <= STILL * pull ? 0 : STIRS));
}

static void unrest_range(int begin, int end, void *context)
{
    const quiet_job *job = context;
    for (int j = begin; j < end; j++)
        job->found[j] = unrest_of(job, j);
}

static void mark_groups(const quiet_job *job, cairn_groups *g)
{
    const cairn_step *step = job->step;
    const cairn_problem *p = &job->answer->problem;
    cairn_parallel_for(p->contacts, LOOK_GRAIN, unrest_range, (void *)job);
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = cairn_group_of(p, g, j);
        if (own)
            own->marks |= job->found[j];
    }
    cairn_groups_spread(p, g, CAIRN_TOLD_MARKS);
    for (int i = 0; i < step->blocks; i++)
        g->group[i].sleeper = g->first[i] == i && !(g->group[i].marks & LOUD);
}

/* Count the contacts of each quiet group, and leave the large ones out. */
static cairn_status leave_large(const cairn_problem *p, cairn_arena *scratch, cairn_groups *g)
{
    double *one = cairn_arena_doubles(scratch, (size_t)p->contacts);
    if (!one)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < p->contacts; j++)
        one[j] = 1;
    TRY(cairn_groups_sum(p, one, scratch, g));
    for (int i = 0; i < p->blocks; i++)
        g->group[i].sleeper = g->group[i].sleeper && g->group[i].sum <= MOST_CONTACTS;
    return CAIRN_OK;
}

static bool is_quiet_contact(const stilling *q, int j)
{
    const cairn_group *own = cairn_group_of(&q->answer->problem, &q->groups, j);
    return own && own->sleeper;
}

/* How contacts of some groups are solved. */
typedef struct method {
    const char *solver;
    int64_t sweeps;             /* iterations, at most            */
    double finest;              /* of the tolerance: aimed at     */
    uint8_t with, all, without; /* marks of the groups: some of, all of, none of */
} method;

static bool is_meant(const method *by, uint8_t marks)
{
    return (marks & by->with) && (marks & by->all) == by->all && !(marks & by->without);
}

/* The contacts of quiet groups of all members, each counted once, of which this one lists so many;
 * `by` NULL: of all groups. */
static int64_t count_quiet(const stilling *q, const method *by, int listed)
{
    const cairn_problem *p = &q->answer->problem;
    int64_t count = 0;
    if (!p->cut)
        return listed;
    const cairn_parted *own = &p->cut->contacts;
    for (int k = 0; k < own->count; k++)
        for (int j = own->span[k].begin; j < own->span[k].end; j++) {
            const cairn_group *group = cairn_group_of(p, &q->groups, j);
            count += group && group->sleeper && (!by || is_meant(by, group->marks));
        }
    return cairn_link_sum(cairn_problem_link(p), count);
}

/* Of the contacts to solve those of quiet groups first, then all others; both in their order. */
static void list_quiet(stilling *q)
{
    const cairn_stillness *by = q->by;
    int quiet = 0, others = 0;
    q->count = 0;
    for (int i = 0; i < by->count; i++)
        q->count += is_quiet_contact(q, by->contact ? by->contact[i] : i);
    for (int i = 0; i < by->count; i++) {
        int j = by->contact ? by->contact[i] : i;
        bool first = is_quiet_contact(q, j);
        q->contact[first ? quiet++ : q->count + others++] = j;
    }
    q->all = count_quiet(q, NULL, q->count);
}

static cairn_status find_quiet(stilling *q)
{
    const cairn_problem *p = &q->answer->problem;
    cairn_arena *scratch = q->s->scratch;
    size_t blocks = (size_t)p->blocks;
    cairn_group *group = cairn_arena_take(scratch, blocks, sizeof *group);
    q->contact = cairn_arena_take(scratch, (size_t)p->contacts, sizeof *q->contact);
    q->found = cairn_arena_take(scratch, (size_t)p->contacts, sizeof *q->found);
    if (!q->contact || !group || !q->found)
        return CAIRN_NO_MEMORY;
    memcpy(group, q->groups.group, blocks * sizeof *group);
    q->groups.group = group;
    cairn_groups_clear(p, &q->groups);
    for (size_t i = 0; i < blocks && q->by->contact; i++) { /* who sleeps on is not asked */
        const cairn_group *own = &q->answer->rest.groups.group[i];
        group[i].marks |= own->sleeper && !own->drowsy ? LOUD : 0;
    }
    const quiet_job job = { q->by->step, q->answer, q->found };
    mark_groups(&job, &q->groups);
    list_quiet(q);
    if (q->all <= MOST_CONTACTS)
        return CAIRN_OK;
    TRY(leave_large(p, scratch, &q->groups));
    list_quiet(q);
    return CAIRN_OK;
}

/* ---- the question --------------------------------------------------------------------------- */

/* m/s: b up to which contact j counts as closed; its size is that of the smaller body that moves.
 * The bias of rows of joints is not asked. */
static double closed_bias(const stilling *q, int j)
{
    const cairn_step *step = q->by->step;
    const cairn_world *world = step->world;
    double size = INFINITY;
    for (int side = 0; side < 2 && j < world->contacts.count; side++) {
        int body = world->contacts.body[2 * (size_t)j + (size_t)side];
        if (cairn_step_block(step, body) >= 0)
            size = cairn_smaller(size, world->bodies.extent[body]);
    }
    return cairn_step_closed(step, size) / step->h;
}

static cairn_status pose_question(stilling *q)
{
    const cairn_problem *p = &q->answer->problem;
    cairn_arena *scratch = q->s->scratch;
    size_t contacts = (size_t)p->contacts, numbers = contacts * (size_t)p->dimension;
    double *b = cairn_arena_take(scratch, contacts, sizeof *b);
    q->r = cairn_arena_take(scratch, numbers, sizeof *q->r);
    if (!b || !q->r)
        return CAIRN_NO_MEMORY;
    memcpy(q->r, q->answer->r, numbers * sizeof *q->r);
    memcpy(b, p->b, contacts * sizeof *b);
    for (int k = 0; k < q->count; k++) {
        int j = q->contact[k];
        b[j] = b[j] > 0 && b[j] <= closed_bias(q, j) ? 0 : b[j];
    }
    q->question = *p;
    q->question.b = b;
    return CAIRN_OK;
}

/* ---- how well impulses do ------------------------------------------------------------------- */

/* A share of the tolerance that counts, see above. */
static double share_of_tolerance(const stilling *q, double share)
{
    double tolerance = cairn_smaller(q->s->options.tolerance, COARSEST);
    return cairn_larger(share * tolerance, cairn_smaller(LEAST, FINER * tolerance));
}

/* Written so that NaN has all marks. */
static uint8_t marks_of(const stilling *q, int j)
{
    const cairn_answer *answer = q->answer;
    const cairn_problem *p = &answer->problem;
    const cairn_judging program = { .p = &q->question, .r = q->r, .v = answer->v, .u = answer->u };
    cairn_judging judge = program;
    judge.p = p;
    double tolerance = q->s->options.tolerance;
    bool lively = cairn_group_of(p, &q->groups, j)->marks & LIVELY;
    double keep = share_of_tolerance(q, lively ? ENOUGH : q->keep);
    double law = cairn_judge_relative(&judge, q->s->scheme->law, j);
    /* scheme auto has s = 0 here, which is right only while contact j slides slowly */
    bool fast = cairn_scheme_slides_fast(q->s, answer, j);
    uint8_t marks = law <= MARGIN * tolerance && !fast ? 0 : UNHELD;
    if (p->b[j] == q->question.b[j] && law <= keep)
        return marks; /* so does the program, up to mu |u_T| */
    double open = cairn_judge_relative(&program, CAIRN_LAW_CONVEX, j);
    marks |= open <= keep ? 0 : LOOSE;
    marks |= open <= cairn_larger(FINE, ENOUGH * tolerance) ? 0 : FALLS;
    return marks;
}

/* Contacts to look at. */
typedef struct look_job {
    stilling *q;
    const int32_t *contact;
} look_job;

static void look_range(int begin, int end, void *context)
{
    const look_job *job = context;
    for (int k = begin; k < end; k++)
        job->q->found[k] = marks_of(job->q, job->contact[k]);
}

/* The marks of these groups; NULL: of all. The contacts are theirs. Other members know the groups
 * by the same marks. */
static void look(stilling *q, const method *by, const int32_t *contact, int count)
{
    const cairn_problem *p = &q->answer->problem;
    look_job job = { q, contact };
    cairn_problem_velocity(p, q->r, q->answer->v);
    cairn_parallel_for(count, LOOK_GRAIN, look_range, &job);
    for (int i = 0; i < p->blocks; i++)
        if (!by || is_meant(by, q->groups.group[i].marks))
            q->groups.group[i].marks &= LOUD | LIVELY | STIRS;
    for (int k = 0; k < count; k++)
        cairn_group_of(p, &q->groups, contact[k])->marks |= q->found[k];
    cairn_groups_spread(p, &q->groups, CAIRN_TOLD_MARKS);
}

/* Whether kept impulses balance the loads at contact j, up to a share of what may be kept. Impulses
 * that have stopped bodies at v in the last step are too large by what stops them, and move them
 * at -v in this one, which may be kept, and at -2 v in the next one, which may not: such groups
 * were solved in every other step. With e = u(r) - u_old they leave u_old + n e after n steps, so
 * that e must be much less than what u(r) may be. Even then they are not kept for ever: with
 * constant impulses a stack is a pendulum upside down. Where eight boxes of 0.2 m stand on each
 * other, e grew by 14 % in a step of 4 ms. */
static bool is_balanced(const stilling *q, int j)
{
    const cairn_problem *p = &q->answer->problem;
    const double *u = q->answer->u + (size_t)j * (size_t)p->dimension;
    double before[CAIRN_MAX_DIMENSION], change = 0;
    double share = cairn_residual_share(share_of_tolerance(q, FINER)) / LASTING;
    cairn_contact_velocity(p, j, NULL, q->answer->v_old, before);
    for (int i = 0; i < p->dimension; i++)
        change += (u[i] - before[i]) * (u[i] - before[i]);
    return change <= share * share * p->scale[j] * p->scale[j];
}

/* Groups that stand still and could keep their impulses in this step, but not for long. Large ones
 * keep them: sweeps rarely get that close. */
static cairn_status mark_unbalanced(stilling *q)
{
    const cairn_problem *p = &q->answer->problem;
    int32_t *size = cairn_arena_take(q->s->scratch, (size_t)p->blocks, sizeof *size);
    if (!size)
        return CAIRN_NO_MEMORY;
    memset(size, 0, (size_t)p->blocks * sizeof *size);
    for (int k = 0; k < q->count; k++)
        size[cairn_group_of(p, &q->groups, q->contact[k]) - q->groups.group]++;
    for (int k = 0; k < q->count; k++) {
        cairn_group *own = cairn_group_of(p, &q->groups, q->contact[k]);
        bool small = size[own - q->groups.group] <= BATCH;
        bool asked = small && !(own->marks & (LOOSE | LIVELY | STIRS));
        if (asked && !is_balanced(q, q->contact[k]))
            own->marks |= LOOSE;
    }
    return CAIRN_OK;
}

/* ---- better impulses ------------------------------------------------------------------------ */

/* The contacts of these groups, ascending; *all: their number, of all members. */
static int list_marked(const stilling *q, const method *by, int32_t *list, int64_t *all)
{
    const cairn_problem *p = &q->answer->problem;
    int count = 0;
    for (int k = 0; k < q->count; k++) { /* quiet ones come first */
        uint8_t marks = cairn_group_of(p, &q->groups, q->contact[k])->marks;
        if (is_meant(by, marks))
            list[count++] = q->contact[k];
    }
    *all = count_quiet(q, by, count);
    return count;
}

/* Solves the program for the contacts of a list. A solve that fails has no answer: these impulses
 * are not numbers, and hold nothing. */
static cairn_status solve_list(stilling *q, const method *by, const int32_t *list, int count)
{
    cairn_arena *scratch = q->s->scratch;
    cairn_solve_report *report = q->s->report;
    cairn_solve_options o = q->s->options;
    cairn_problem_part part;
    TRY(cairn_problem_take_part(&q->question, list, count, scratch, &part));
    const cairn_problem *p = &part.problem;
    size_t d = (size_t)p->dimension, numbers = (size_t)count * d;
    double *r = cairn_arena_doubles(scratch, numbers), *u = cairn_arena_doubles(scratch, numbers);
    double *v = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    if (!r || !u || !v)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < (size_t)count; k++)
        memcpy(r + k * d, q->r + (size_t)list[k] * d, d * sizeof *r);
    o.law = CAIRN_LAW_CONVEX;
    o.tolerance = share_of_tolerance(q, by->finest);
    o.approach = 0;
    o.solver = by->solver;
    o.max_iterations = by->sweeps;
    int64_t before = report->iterations;
    cairn_status status = cairn_solve(p, &o, q->s->workspace, r, v, u, report);
    report->iterations += before;
    if (status == CAIRN_NO_MEMORY)
        return status;
    for (size_t i = 0; status != CAIRN_OK && i < numbers; i++)
        r[i] = NAN;
    cairn_part_spread(list, count, (int)d, r, q->r);
    return CAIRN_OK;
}

static bool accepts(const stilling *q, const char *solver)
{
    return cairn_solver_accepts_on(q->s->options.backend, solver, CAIRN_LAW_CONVEX, &q->question);
}

/* Groups whose impulses cannot be kept: those in which some body stirs, so that the next step has
 * other impulses again; and of those whose bodies all stand still those that nearly solve the
 * program, and the others. */
typedef enum sought { STIRRING, NEAR, FAR } sought;

/* Sweeps for them; few for those that Newton's method solves in a few steps from where they are. */
static cairn_status sweep_groups(stilling *q, sought which, bool alone, int32_t *list)
{
    static const uint8_t all_of[] = { STIRS, 0, FALLS }, none_of[] = { 0, STIRS | FALLS, STIRS };
    int64_t all, most = q->s->options.max_iterations / (alone ? 2 : 10);
    method by = { .solver = accepts(q, "ngs") ? "ngs" : "auto",
                  .finest = which == STIRRING && !alone ? FINER / 2 : FINEST,
                  .with = LOOSE | UNHELD,
                  .all = all_of[which],
                  .without = none_of[which] };
    int count = list_marked(q, &by, list, &all);
    if (all == 0)
        return CAIRN_OK;
    bool brief = which == NEAR && !alone && all <= BATCH;
    int64_t budget = MOST_UPDATES / (1 + all);
    budget = budget < FEWEST ? FEWEST : budget;
    budget = brief ? BRIEF : budget;
    by.sweeps = budget < most ? budget : most;
    TRY(solve_list(q, &by, list, count));
    q->keep = brief ? FINEST_NEWTON : FINER;
    look(q, &by, list, count);
    return CAIRN_OK;
}

/* A contact and the first block of its group. */
typedef struct member {
    int32_t group, contact;
} member;

static int by_group(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                : (x->contact > y->contact) - (x->contact < y->contact);
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Where the group at `begin` ends. */
static int end_of_group(const member *of, int begin, int count)
{
    int end = begin + 1;
    while (end < count && of[end].group == of[begin].group)
        end++;
    return end;
}

/* Newton's method for those where sweeps did not get there, one group after the other, so that none
 * is iterated longer than it needs; of their iterations the most count. */
static cairn_status finish_groups(stilling *q, int32_t *list)
{
    const cairn_problem *p = &q->answer->problem;
    cairn_arena *scratch = q->s->scratch;
    int64_t all, most = q->s->options.max_iterations / 10;
    method by = { .solver = "newton", .finest = FINEST_NEWTON, .with = LOOSE, .without = LIVELY };
    int count = list_marked(q, &by, list, &all);
    if (count == 0)
        return CAIRN_OK;
    member *of = cairn_arena_take(scratch, (size_t)count, sizeof *of);
    if (!of)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < count; k++) {
        const cairn_group *own = cairn_group_of(p, &q->groups, list[k]);
        of[k] = (member){ (int32_t)(own - q->groups.group), list[k] };
    }
    qsort(of, (size_t)count, sizeof *of, by_group);
    int64_t spent = q->s->report->iterations, largest = spent;
    for (int begin = 0, end; begin < count; begin = end) {
        q->s->report->iterations = spent;
        cairn_arena_moment before = cairn_arena_now(scratch);
        end = end_of_group(of, begin, count);
        for (int k = begin; k < end; k++)
            list[k] = of[k].contact;
        qsort(list + begin, (size_t)(end - begin), sizeof *list, ascending);
        by.sweeps = end - begin <= BATCH ? MOST_NEWTON : MOST_NEWTON * BATCH / (end - begin);
        by.sweeps = by.sweeps < most ? by.sweeps : most;
        TRY(solve_list(q, &by, list + begin, end - begin));
        cairn_arena_return(scratch, before);
        largest = q->s->report->iterations > largest ? q->s->report->iterations : largest;
    }
    q->s->report->iterations = largest;
    look(q, &by, list, count);
    return CAIRN_OK;
}

static cairn_status improve(stilling *q)
{
    int32_t *list = cairn_arena_take(q->s->scratch, (size_t)q->count, sizeof *list);
    bool newton = !q->question.cut && accepts(q, "newton"); /* members cannot factorise */
    if (!list)
        return CAIRN_NO_MEMORY;
    TRY(sweep_groups(q, STIRRING, !newton, list));
    TRY(sweep_groups(q, NEAR, !newton, list));
    TRY(sweep_groups(q, FAR, !newton, list));
    return newton ? finish_groups(q, list) : CAIRN_OK;
}

/* Take the impulses over; s = |u_T| is 0. Those of groups that have an equilibrium, but gaps that
 * are still to be closed, are where the solve starts from. */
static void hold(stilling *q)
{
    cairn_answer *answer = q->answer;
    const cairn_problem *p = &answer->problem;
    size_t d = (size_t)p->dimension;
    for (int k = 0; k < q->count; k++) {
        size_t j = (size_t)q->contact[k];
        if (cairn_group_of(p, &q->groups, (int)j)->marks & FALLS)
            continue;
        memcpy(answer->r + j * d, q->r + j * d, d * sizeof *answer->r);
        answer->s[j] = 0;
    }
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &q->groups.group[i];
        own->sleeper = own->sleeper && !(own->marks & (FALLS | UNHELD));
    }
}

/* ---- the phase ------------------------------------------------------------------------------ */

/* All of the contacts. */
static cairn_status solve_all(const cairn_solving *s, const cairn_stillness *by,
                              cairn_answer *answer)
{
    return by->contact ? cairn_solve_some(s, by->contact, by->count, answer)
                       : cairn_phase_whole.solve(s, NULL, answer);
}

/* The contacts of groups that are not held, in the remaining iterations. */
static cairn_status solve_others(const cairn_solving *s, stilling *q, cairn_answer *answer)
{
    int64_t spent = s->report->iterations;
    cairn_solving rest = *s;
    rest.options.max_iterations -= spent;
    list_quiet(q);
    if (q->all == 0) {
        TRY(solve_all(&rest, q->by, answer));
    } else {
        int others = q->by->count - q->count;
        TRY(cairn_solve_some(&rest, q->contact + q->count, others, answer));
        cairn_judge_whole(s, answer);
    }
    s->report->iterations += spent;
    return CAIRN_OK;
}

/* Whether all contacts are those of quiet groups, and their impulses still satisfy the law as
 * closely as can be wanted: the step of a world at rest. */
static bool rests_on(const cairn_solving *s, const stilling *q, cairn_answer *answer)
{
    if (q->all < cairn_problem_size(&answer->problem) || cairn_scheme_is_mixed(s->scheme))
        return false;
    answer->s_held = NULL;
    answer->exact = NULL;
    cairn_judge_whole(s, answer);
    return s->report->judgement.asked.relative <= share_of_tolerance(q, FINER);
}

static cairn_status solve_still(const cairn_solving *s, const void *context, cairn_answer *answer)
{
    const cairn_stillness *by = context;
    stilling q = { .s = s, .by = by, .answer = answer, .keep = FINER };
    q.groups = answer->rest.groups;
    if (s->fixed_point_tolerance > 0) /* [BL23]'s loop ends by the change of s, as published */
        return solve_all(s, by, answer);
    TRY(find_quiet(&q));
    if (q.all == 0)
        return solve_all(s, by, answer);
    *s->report = (cairn_solve_report){ .converged = true, .solver = s->options.solver };
    if (rests_on(s, &q, answer))
        return CAIRN_OK;
    TRY(pose_question(&q));
    look(&q, NULL, q.contact, q.count);
    if (!q.question.cut)
        TRY(mark_unbalanced(&q));
    TRY(improve(&q));
    hold(&q);
    return solve_others(s, &q, answer);
}

cairn_phase cairn_phase_still(const cairn_stillness *by)
{
    return (cairn_phase){ solve_still, cairn_phase_whole.judge, by };
}
