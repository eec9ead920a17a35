/* equilibrium.c - what can rest, rests: the question whether a group of bodies has an equilibrium.
 *
 * Exact friction has several solutions where a pile can both stand and fall, and errors within the
 * tolerance make it creep until it falls. So for groups (groups.h) that are quiet,
 *     |v| + R |omega| <= h |g + F/m|   for every body before the step,
 *     |w| <= h |g|                     for every contact: nothing carries it along,
 * the step first asks whether forces of contacts and joints exist that hold them. With v = 0 any r
 * in K satisfies Coulomb's law at every contact that is closed, so this is the convex program
 *     min 1/2 r'W r + q' r,   r in K,     q = H v_free + w + b' n,
 * b' = 0 where the gap counts as closed (cairn_step_closed), else b. It has one velocity, and
 * sweeps converge to it. It is solved to FINER of the tolerance, which is what bodies at rest may
 * creep, from the impulses of the last step: once an equilibrium is found it persists.
 * A group is held by these impulses if they solve its program to ENOUGH of the tolerance, since
 * where there is no equilibrium they grow without end, and satisfy the law of the scheme, with
 * the true b, within the tolerance, as the judge measures it: the certificate is that of any
 * other step. Contacts of groups that are held are not solved again; all others are solved as
 * always.
 *
 * Groups of more than MOST_CONTACTS contacts, and piles on a device, are not asked. The work is
 * bounded by MOST_UPDATES contacts swept, or FEWEST sweeps, and by a third of the iterations. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/judge.h"
#include "problem/operator.h"
#include "world/groups.h"
#include "world/scheme.h"

static const double FINER = 1e-3;   /* of the tolerance: what is aimed at */
static const double ENOUGH = 1e-2;  /* of the tolerance: what is accepted */
static const double MARGIN = 0.999; /* of the tolerance: the judge of all may differ by rounding */
enum { MOST_CONTACTS = 4000, MOST_UPDATES = 1000000, FEWEST = 50, MOST_NEWTON = 50 };

/* Marks of a group: something moves it or it is not quiet; it has no equilibrium. */
enum { LOUD = 1, UNHELD = 2 };

/* What the stages of this file share. */
typedef struct stilling {
    const cairn_solving *s;
    const cairn_stillness *by;
    cairn_answer *answer;
    cairn_groups groups; /* those of the answer, with marks of their own         */
    int32_t *contact;    /* of quiet groups, then those that are solved as always */
    int count;           /* of quiet groups                                      */
    int64_t all;         /* likewise, of all members                             */
} stilling;

/* ---- quiet groups --------------------------------------------------------------------------- */

static bool is_quiet(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 pull = cairn_sub(motion->v_free[i], b->v[i]);
    return cairn_norm(b->v[i]) + b->extent[i] * cairn_norm(b->omega[i]) <= cairn_norm(pull);
}

/* Whether a driven body, a belt or a cell carries contact j along. Rows of joints are not asked:
 * a motor that cannot move what it pushes at is at rest. */
static bool is_driven(const cairn_problem *p, double slow, int j)
{
    const double *w = p->w ? p->w + (size_t)j * (size_t)p->dimension : NULL;
    double speed2 = 0;
    for (int i = 0; w && i < p->dimension; i++)
        speed2 += w[i] * w[i];
    return speed2 > slow * slow && !(p->bounded && p->bounded[j]);
}

static void mark_groups(const cairn_step *step, const cairn_free_motion *motion,
                        const cairn_problem *p, cairn_groups *g)
{
    double slow = step->h * cairn_norm(step->world->gravity);
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = cairn_group_of(p, g, j);
        if (own && is_driven(p, slow, j))
            own->marks |= LOUD;
    }
    for (int i = step->held; i < step->world->bodies.count; i++) {
        cairn_group *own = cairn_group_of_row(step, g, i);
        if (own && cairn_world_moves(step->world, i) && !is_quiet(step, motion, i))
            own->marks |= LOUD;
    }
    cairn_groups_spread(p, g, CAIRN_TOLD_MARKS);
    for (int i = 0; i < step->blocks; i++)
        g->group[i].sleeper = g->first[i] == i && !g->group[i].marks;
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

/* The contacts of quiet groups of all members, each counted once. */
static int64_t count_quiet(const stilling *q)
{
    const cairn_problem *p = &q->answer->problem;
    int64_t count = 0;
    if (!cairn_problem_link(p))
        return q->count;
    for (int k = 0; k < p->cut->contacts.count; k++)
        for (int j = p->cut->contacts.span[k].begin; j < p->cut->contacts.span[k].end; j++)
            count += is_quiet_contact(q, j);
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
    q->all = count_quiet(q);
}

static cairn_status find_quiet(stilling *q)
{
    const cairn_problem *p = &q->answer->problem;
    cairn_arena *scratch = q->s->scratch;
    size_t blocks = (size_t)p->blocks;
    cairn_group *group = cairn_arena_take(scratch, blocks, sizeof *group);
    q->contact = cairn_arena_take(scratch, (size_t)p->contacts, sizeof *q->contact);
    if (!q->contact || !group)
        return CAIRN_NO_MEMORY;
    memcpy(group, q->groups.group, blocks * sizeof *group);
    q->groups.group = group;
    cairn_groups_clear(p, &q->groups);
    for (size_t i = 0; i < blocks && q->by->contact; i++) { /* who sleeps on is not asked */
        const cairn_group *own = &q->answer->rest.groups.group[i];
        group[i].marks |= own->sleeper && !own->drowsy ? LOUD : 0;
    }
    mark_groups(q->by->step, q->by->motion, p, &q->groups);
    list_quiet(q);
    if (q->all <= MOST_CONTACTS)
        return CAIRN_OK;
    TRY(leave_large(p, scratch, &q->groups));
    list_quiet(q);
    return CAIRN_OK;
}

/* ---- the question --------------------------------------------------------------------------- */

/* A problem of quiet groups with the arrays of its answer. */
typedef struct asked {
    cairn_problem problem; /* with the true b */
    const double *b;       /* b'              */
    double *r, *v, *u;
} asked;

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

/* All of them, or a copy of some. */
static cairn_status take(const stilling *q, asked *a)
{
    const cairn_problem *p = &q->answer->problem;
    cairn_arena *scratch = q->s->scratch;
    cairn_problem_part part = { .problem = *p };
    if (q->all < cairn_problem_size(p)) /* else the list is that of all contacts */
        TRY(cairn_problem_take_part(p, q->contact, q->count, scratch, &part));
    size_t d = (size_t)p->dimension, m = (size_t)part.problem.contacts;
    *a = (asked){ .problem = part.problem,
                  .r = cairn_arena_doubles(scratch, m * d),
                  .u = cairn_arena_doubles(scratch, m * d),
                  .v = cairn_arena_doubles(scratch,
                                           (size_t)part.problem.blocks * (size_t)p->block_size) };
    double *b = cairn_arena_doubles(scratch, m);
    if (!a->r || !a->u || !a->v || !b)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < m; k++)
        memcpy(a->r + k * d, q->answer->r + (size_t)q->contact[k] * d, d * sizeof(double));
    for (size_t k = 0; k < m; k++) {
        double b_k = part.problem.b[k];
        b[k] = b_k > 0 && b_k <= closed_bias(q, q->contact[k]) ? 0 : b_k;
    }
    a->b = b;
    return CAIRN_OK;
}

/* Solve the convex program: by sweeps, from the impulses of the last step, and where these do not
 * get there by Newton's method. Of all impulses that hold, both find some near those that they
 * start from, while interior points go to the middle, which may be far away. A solve that fails
 * has no answer: nothing is held. */
static cairn_status ask(const stilling *q, const asked *a, cairn_solve_report *report)
{
    cairn_problem question = a->problem;
    cairn_solve_options o = q->s->options;
    cairn_workspace *workspace = q->s->workspace;
    int64_t budget = MOST_UPDATES / (1 + q->all), most = o.max_iterations / 10;
    bool sweeps = cairn_solver_accepts_on(o.backend, "ngs", CAIRN_LAW_CONVEX, &question);
    question.b = a->b;
    o.law = CAIRN_LAW_CONVEX;
    o.tolerance = FINER * o.tolerance;
    o.approach = 0;
    budget = budget < FEWEST ? FEWEST : budget;
    o.max_iterations = budget < most ? budget : most;
    o.solver = sweeps ? "ngs" : "auto";
    cairn_status status = cairn_solve(&question, &o, workspace, a->r, a->v, a->u, report);
    bool newton = !question.cut && /* members cannot factorise */
                  cairn_solver_accepts_on(o.backend, "newton", CAIRN_LAW_CONVEX, &question);
    if (status == CAIRN_OK && !report->converged && newton) {
        int64_t spent = report->iterations;
        o.solver = "newton";
        o.max_iterations = MOST_NEWTON < most ? MOST_NEWTON : most;
        status = cairn_solve(&question, &o, workspace, a->r, a->v, a->u, report);
        report->iterations += spent;
    }
    if (status == CAIRN_NO_MEMORY)
        return status;
    if (status != CAIRN_OK) /* NaN fails every test of the judge */
        for (size_t i = 0; i < (size_t)a->problem.contacts * (size_t)a->problem.dimension; i++)
            a->r[i] = NAN;
    return CAIRN_OK;
}

/* Whether contact k of the problem satisfies the program, and the law of the scheme. Scheme auto
 * has s = 0 here, which is right only while the contact slides slowly. */
static bool is_held(const stilling *q, const cairn_judging *program, const cairn_judging *judge,
                    int k)
{
    const cairn_solving *s = q->s;
    const cairn_problem *p = judge->p;
    double tolerance = s->options.tolerance;
    if (!(cairn_judge_one(program, CAIRN_LAW_CONVEX, k).relative <= ENOUGH * tolerance))
        return false;
    double relative = cairn_judge_one(judge, s->scheme->law, k).relative;
    const double *u = judge->u + (size_t)k * (size_t)p->dimension;
    bool slow = !cairn_scheme_is_mixed(s->scheme) ||
                p->mu[k] * cairn_sliding_speed(p->dimension, p->directions, u) <= s->allowed;
    return relative <= MARGIN * tolerance && slow;
}

/* Marks the groups of which some contact does not satisfy the law of the scheme. */
static void find_unheld(stilling *q, const asked *a)
{
    const cairn_problem *p = &a->problem, *whole = &q->answer->problem;
    const cairn_judging judge = { .p = p, .r = a->r, .v = a->v, .u = a->u };
    cairn_problem question = *p;
    cairn_judging program = judge;
    question.b = a->b;
    program.p = &question;
    cairn_problem_velocity(p, a->r, a->v);
    for (int k = 0; k < p->contacts; k++) {
        if (!is_held(q, &program, &judge, k))
            cairn_group_of(whole, &q->groups, q->contact[k])->marks |= UNHELD;
    }
    cairn_groups_spread(whole, &q->groups, CAIRN_TOLD_MARKS);
    for (int i = 0; i < whole->blocks; i++) {
        cairn_group *own = &q->groups.group[i];
        own->sleeper = own->sleeper && !(own->marks & UNHELD);
    }
}

/* Take the impulses of groups that are held over; s = |u_T| is 0. */
static void hold(const stilling *q, const asked *a)
{
    cairn_answer *answer = q->answer;
    size_t d = (size_t)answer->problem.dimension;
    for (int k = 0; k < q->count; k++) {
        int j = q->contact[k];
        if (!is_quiet_contact(q, j))
            continue;
        memcpy(answer->r + (size_t)j * d, a->r + (size_t)k * d, d * sizeof(double));
        answer->s[j] = 0;
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

static cairn_status solve_still(const cairn_solving *s, const void *context, cairn_answer *answer)
{
    const cairn_stillness *by = context;
    stilling q = { .s = s, .by = by, .answer = answer, .groups = answer->rest.groups };
    asked a;
    if (s->fixed_point_tolerance > 0) /* [BL23]'s loop ends by the change of s, as published */
        return solve_all(s, by, answer);
    TRY(find_quiet(&q));
    if (q.all == 0)
        return solve_all(s, by, answer);
    TRY(take(&q, &a));
    TRY(ask(&q, &a, s->report));
    find_unheld(&q, &a);
    hold(&q, &a);
    return solve_others(s, &q, answer);
}

cairn_phase cairn_phase_still(const cairn_stillness *by)
{
    return (cairn_phase){ solve_still, cairn_phase_whole.judge, by };
}
