/* sleep.c - groups of bodies at rest are not solved again.
 *
 * Bodies connected by candidate contacts form a group; nothing that happens to one group in this
 * step can affect another. A body is slow when the velocity v(r) that its impulses give it
 * satisfies
 *
 *     |v| + R |omega| <= SLOW tolerance h |g + F/m|,     R its radius,
 *
 * that is, when it rests as far as the tolerance can tell. A group whose bodies have all been slow
 * for CALM steps falls asleep: they are stopped, v = 0, and stay where they are.
 *
 * Each later step of the group starts from v = 0, so v_free = h (g + F/m). The impulses kept from
 * the last step are judged for it, group by group, as the judge does (residual.c):
 *
 *     |e|_2 <= tolerance |q|_c,   and all bodies are slow with v(r) = v_free + M^-1 H'r.
 *
 * If this holds, the impulses stay valid, and the contacts of the group are left out of the
 * problem. Errors do not accumulate: as long as nothing else changes, the next step makes the same
 * test with the same numbers. If it does not hold, the group is drowsy: it is solved alone, to a
 * tenth of the tolerance (CLOSER in impulses.c). It stays asleep if its bodies are slow with the
 * result; if not, it wakes in this very step, with these velocities. Whatever disturbs a
 * group - a contact that closes, a load, a neighbour, a wall that is removed - changes v(r). Groups
 * that something moves (a driven body, a belt) or that joints hold never sleep.
 *
 * A group may extend over several members. Each joins the bodies that it knows; then members at
 * whose borders groups touch tell each other the labels and marks of their groups, until nothing
 * changes any more.
 *
 * If each group is within the tolerance of its own norm, so is the whole step. The impulse -M v(r)
 * that stops a body does the work -(v + 0)/2 . M v(r): the entry `sleep_loss` of the ledger. It is
 * 0 except in the step in which the body falls asleep. */
#include "world/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/judge.h"
#include "problem/operator.h"

/* SLOW: of the speed that forces add in a step, times the tolerance. CALM: steps in a row that a
 * body must be slow. GRAIN: contacts in one piece of parallel work. */
static const double SLOW = 10;
enum { CALM = 10, GRAIN = 1024 };

/* Marks of a group: joints hold it, or something moves it; some body of it does not rest; is not
 * slow; has not been slow for long enough. */
enum { HELD = 1, AWAKE = 2, FAST = 4, RESTLESS = 8 };

/* A group; it is stored in the entry of its first block. */
typedef struct cairn_group {
    double e2, q2;           /* (m/s)^2: |e|^2 and |q|_c^2 of the kept impulses    */
    double part_e2, part_q2; /* of the contacts of one part                        */
    int64_t label;           /* the row of its first body in the whole world       */
    uint8_t marks;
    bool sleeper;         /* asleep when the step began                            */
    bool drowsy;          /* a sleeper whose impulses are no longer valid          */
    bool own, shared;     /* this member, or another one, has some of its bodies   */
    bool met;             /* it has contacts in the part that is being summed      */
    int32_t begin, count; /* its contacts in the list, if drowsy                   */
} cairn_group;

/* Groups by their labels, ascending. */
typedef struct cairn_group_name {
    int64_t label;
    int32_t first; /* block */
} cairn_group_name;

/* Judging kept impulses: each contact writes its own numbers, which are summed in order
 * afterwards. */
typedef struct kept_job {
    const cairn_answer *answer;
    cairn_law law;
    double *e2, *q2; /* (m/s)^2: of each contact */
} kept_job;

/* ---- groups --------------------------------------------------------------------------------- */

/* The first block of the group of a block, by union-find with path halving. */
static int32_t first_of(int32_t *first, int32_t block)
{
    while (first[block] != block) {
        first[block] = first[first[block]];
        block = first[block];
    }
    return block;
}

/* Contacts with held bodies do not connect: a floor must not make one group of everything on it.
 * The smaller block becomes the first one, so the groups do not depend on the order of contacts. */
static void join(const cairn_problem *p, int32_t *first)
{
    for (int i = 0; i < p->blocks; i++)
        first[i] = i;
    for (int j = 0; j < p->contacts; j++) {
        if (p->block[2 * j] < 0 || p->block[2 * j + 1] < 0)
            continue;
        int32_t a = first_of(first, p->block[2 * j]), b = first_of(first, p->block[2 * j + 1]);
        first[a > b ? a : b] = a < b ? a : b;
    }
    for (int i = 0; i < p->blocks; i++)
        first[i] = first_of(first, i);
}

/* ---- groups of several members --------------------------------------------------------------- */

/* What members tell each other about a group: its marks, of which any counts, or its label, of
 * which the smallest counts. */
static int64_t combine(bool marks, int64_t a, int64_t b)
{
    return marks ? a | b : a < b ? a : b;
}

/* One exchange with the neighbours; whether a group of this member changed. */
static bool hear(const cairn_problem *p, cairn_groups *g, bool marks)
{
    bool changed = false;
    int64_t *told = g->told;
    for (int i = 0; i < p->blocks; i++)
        told[i] = marks ? g->group[g->first[i]].marks : g->group[g->first[i]].label;
    cairn_problem_fetch(p, told, sizeof *told);
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &g->group[g->first[i]];
        int64_t before = marks ? own->marks : own->label, now = combine(marks, before, told[i]);
        changed = changed || now != before;
        if (marks)
            own->marks = (uint8_t)now;
        else
            own->label = now;
    }
    return changed;
}

/* A group may come back to a member by way of others, hence until nothing changes anywhere. */
static void spread(const cairn_problem *p, cairn_groups *g, bool marks)
{
    cairn_link *link = cairn_problem_link(p);
    while (link && cairn_link_any(link, hear(p, g, marks)) && link->status == CAIRN_OK)
        continue;
}

static int compare_names(const void *a, const void *b)
{
    const cairn_group_name *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Lists the groups by their labels. Groups of this member that are connected by way of others have
 * the same label: they become one. */
static void name_groups(const cairn_problem *p, cairn_groups *g)
{
    for (int i = 0; i < p->blocks; i++)
        if (g->first[i] == i)
            g->name[g->names++] = (cairn_group_name){ g->group[i].label, i };
    if (!cairn_problem_link(p))
        return; /* labels rise with the blocks, and differ */
    qsort(g->name, (size_t)g->names, sizeof *g->name, compare_names);
    int kept = 0;
    for (int k = 0; k < g->names; k++)
        if (kept > 0 && g->name[kept - 1].label == g->name[k].label)
            g->first[g->name[k].first] = g->name[kept - 1].first;
        else
            g->name[kept++] = g->name[k];
    g->names = kept;
    for (int i = 0; i < p->blocks; i++)
        g->first[i] = g->first[g->first[i]];
}

/* Labels of all groups, and who has their bodies. */
static void label_groups(const cairn_step *step, const cairn_problem *p, cairn_groups *g)
{
    const cairn_world *world = step->world;
    const int64_t *order = world->exchange.link ? world->exchange.order + step->held : NULL;
    for (int i = 0; i < p->blocks; i++)
        g->group[i].label = INT64_MAX;
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &g->group[g->first[i]];
        own->label = combine(false, own->label, order ? order[i] : i);
    }
    spread(p, g, false);
    name_groups(p, g);
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &g->group[g->first[i]];
        bool here = cairn_world_moves(world, step->held + i);
        own->own = own->own || here;
        own->shared = own->shared || !here;
    }
}

/* ---- who sleeps ------------------------------------------------------------------------------ */

/* The group of contact j; NULL if neither side can move. */
static cairn_group *group_of(const cairn_problem *p, const cairn_groups *g, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    int32_t any = block[0] >= 0 ? block[0] : block[1];
    return any >= 0 ? &g->group[g->first[any]] : NULL;
}

/* The group of the body in a row; NULL if it is held. Marks are made for own bodies alone: a member
 * does not know all contacts of a ghost, and so not its velocity. */
static cairn_group *group_of_row(const cairn_step *step, const cairn_groups *g, int row)
{
    int block = cairn_step_block(step, row);
    return block >= 0 ? &g->group[g->first[block]] : NULL;
}

/* Whether contact j may move its group: w != 0 comes from driven bodies and belts. Rows of joints
 * count as well. */
static bool is_moved(const cairn_problem *p, int j)
{
    const double *w = p->w ? p->w + (size_t)j * (size_t)p->dimension : NULL;
    bool moved = p->bounded && p->bounded[j]; /* rows of joints */
    for (int i = 0; w && i < p->dimension; i++)
        moved = moved || w[i] != 0;
    return moved;
}

/* Marked asleep, and not set in motion by the user since then. */
static bool rests(const cairn_body_store *b, int i)
{
    return b->asleep[i] && cairn_norm(b->v[i]) == 0 && cairn_norm(b->omega[i]) == 0;
}

/* A group is a sleeper if all its bodies rest, and nothing moves it. A member may know single
 * bodies of groups of others, which it leaves to them. */
static void look_at_bodies(const cairn_step *step, const cairn_problem *p, cairn_groups *g)
{
    const cairn_body_store *b = &step->world->bodies;
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = group_of(p, g, j);
        if (own && is_moved(p, j))
            own->marks |= HELD;
    }
    for (int i = 0; i < b->count; i++) {
        cairn_group *own = group_of_row(step, g, i);
        if (own && cairn_world_moves(step->world, i) && !rests(b, i))
            own->marks |= AWAKE;
    }
    spread(p, g, true);
    for (int i = 0; i < step->blocks; i++) {
        cairn_group *own = &g->group[i];
        own->sleeper = g->first[i] == i && own->own && !(own->marks & (HELD | AWAKE));
        g->sleepers += own->sleeper;
    }
    g->sleepers = (int)cairn_link_sum(cairn_problem_link(p), g->sleepers);
}

/* ---- slow or not ---------------------------------------------------------------------------- */

/* Whether a body is slow with the velocities of the answer; a velocity that is not finite is not
 * slow. v_free - v is the velocity that forces add in the step, h (g + F/m). */
static bool is_slow(const cairn_step *step, const cairn_free_motion *motion, double tolerance,
                    const cairn_answer *answer, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 v, omega, pull = cairn_sub(motion->v_free[i], b->v[i]);
    cairn_answer_velocity(step, answer, i, &v, &omega);
    double speed = cairn_norm(v) + b->extent[i] * cairn_norm(omega);
    return speed <= SLOW * tolerance * cairn_norm(pull);
}

/* Marks the groups in which some body is not slow. */
static void find_fast(const cairn_step *step, const cairn_free_motion *motion, double tolerance,
                      cairn_answer *answer)
{
    cairn_groups *g = &answer->rest.groups;
    for (int i = 0; i < step->blocks; i++)
        g->group[i].marks &= (uint8_t)~FAST;
    for (int i = 0; i < step->world->bodies.count; i++) {
        cairn_group *own = group_of_row(step, g, i);
        if (own && cairn_world_moves(step->world, i) &&
            !is_slow(step, motion, tolerance, answer, i))
            own->marks |= FAST;
    }
    spread(&answer->problem, g, true);
}

/* ---- how well kept impulses do -------------------------------------------------------------- */

static void measure_range(int begin, int end, void *context)
{
    const kept_job *job = context;
    const cairn_answer *answer = job->answer;
    const cairn_judging judge = {
        .p = &answer->problem, .r = answer->r, .v = answer->v, .u = answer->u
    };
    for (int j = begin; j < end; j++) {
        const cairn_group *own = group_of(&answer->problem, &answer->rest.groups, j);
        if (own && own->sleeper)
            cairn_judge_one(&judge, job->law, j, &job->e2[j], &job->q2[j]);
    }
}

/* The sums of a part are added to those of their groups: at once, or by all members that have a
 * share in the group, from a message. */
typedef struct summing {
    cairn_groups *g;
    int32_t *met; /* first blocks of the groups with contacts in the part */
    int count;
    cairn_writer out; /* records of groups that others share */
} summing;

typedef struct sum_record {
    int64_t label;
    double e2, q2;
} sum_record;

static void add_contact(summing *s, cairn_group *own, double e2, double q2)
{
    if (!own->met)
        s->met[s->count++] = (int32_t)(own - s->g->group);
    own->met = true;
    own->part_e2 += e2;
    own->part_q2 += q2;
}

static void close_part(summing *s)
{
    for (int k = 0; k < s->count; k++) {
        cairn_group *own = &s->g->group[s->met[k]];
        const sum_record record = { own->label, own->part_e2, own->part_q2 };
        if (own->shared) {
            cairn_write_raw(&s->out, &record, sizeof record);
        } else {
            own->e2 += record.e2;
            own->q2 += record.q2;
        }
        own->part_e2 = own->part_q2 = 0;
        own->met = false;
    }
    s->count = 0;
}

static void take_records(cairn_groups *g, const char *data, size_t size)
{
    for (size_t at = 0; at + sizeof(sum_record) <= size; at += sizeof(sum_record)) {
        sum_record record;
        memcpy(&record, data + at, sizeof record);
        const cairn_group_name wanted = { record.label, 0 };
        int low = 0, high = g->names;
        while (low < high) {
            int middle = low + (high - low) / 2;
            if (g->name[middle].label < wanted.label)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == g->names || g->name[low].label != wanted.label)
            continue;
        g->group[g->name[low].first].e2 += record.e2;
        g->group[g->name[low].first].q2 += record.q2;
    }
}

/* Members have the parts in their order, and so have the records. */
static void share_records(summing *s, cairn_link *link)
{
    if (s->out.failed)
        link->status = CAIRN_NO_MEMORY;
    for (int k = 0; k < link->members; k++)
        if (k != link->member)
            cairn_link_send(link, k, s->out.data, s->out.size);
    for (int k = 0; k < link->members; k++) {
        size_t size = s->out.size;
        const void *data = s->out.data;
        if (k != link->member)
            data = cairn_link_receive(link, k, &size);
        if (data)
            take_records(s->g, data, size);
    }
}

/* Sums over the contacts of each sleeper: in their order or, if the problem is cut into parts, by
 * parts. */
static cairn_status sum_up(const cairn_problem *p, const kept_job *job, cairn_arena *scratch,
                           cairn_groups *g)
{
    const cairn_span all = { 0, p->contacts, 0 };
    const cairn_parted whole = { .count = 1, .span = &all };
    const cairn_parted *by = p->cut ? &p->cut->contacts : &whole;
    summing s = { .g = g, .met = cairn_arena_take(scratch, (size_t)p->blocks, sizeof *s.met) };
    if (!s.met)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < by->count; k++) {
        for (int j = by->span[k].begin; j < by->span[k].end; j++) {
            cairn_group *own = group_of(p, g, j);
            if (own && own->sleeper)
                add_contact(&s, own, job->e2[j], job->q2[j]);
        }
        if (k + 1 == by->count || by->span[k + 1].part != by->span[k].part)
            close_part(&s);
    }
    if (cairn_problem_link(p))
        share_records(&s, cairn_problem_link(p));
    cairn_writer_destroy(&s.out);
    return CAIRN_OK;
}

/* Finds the drowsy groups: sleepers whose kept impulses no longer meet the tolerance. */
static cairn_status judge_sleepers(const cairn_step *step, const cairn_free_motion *motion,
                                   double tolerance, cairn_answer *answer)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t contacts = (size_t)answer->problem.contacts;
    kept_job job = { answer, step->scheme->law, cairn_arena_doubles(scratch, contacts),
                     cairn_arena_doubles(scratch, contacts) };
    if (!job.e2 || !job.q2)
        return CAIRN_NO_MEMORY;
    cairn_problem_velocity(&answer->problem, answer->r, answer->v);
    cairn_parallel_for(answer->problem.contacts, GRAIN, measure_range, &job);
    TRY(sum_up(&answer->problem, &job, scratch, &answer->rest.groups));
    find_fast(step, motion, tolerance, answer);
    for (int i = 0; i < step->blocks; i++) {
        cairn_group *own = &answer->rest.groups.group[i];
        bool holds = own->e2 <= tolerance * tolerance * own->q2 && !(own->marks & FAST);
        own->drowsy = own->sleeper && !holds;
    }
    return CAIRN_OK;
}

/* Lists the contacts to be solved, in ascending order: first those of groups awake, then those of
 * each drowsy group. Those of other sleepers are left out. */
static void list_contacts(const cairn_problem *p, cairn_groups *g)
{
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = group_of(p, g, j);
        if (!own || !own->sleeper)
            g->list[g->awake++] = j;
        else if (own->drowsy)
            own->count++;
    }
    int32_t next = g->awake;
    for (int k = 0; k < g->names; k++) {
        cairn_group *own = &g->group[g->name[k].first];
        own->begin = next;
        next += own->count;
        own->count = 0;
    }
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = group_of(p, g, j);
        if (own && own->drowsy)
            g->list[own->begin + own->count++] = j;
    }
}

/* Without sleepers the list stays empty; the whole problem is then solved as it is. */
cairn_status cairn_rest_find_groups(const cairn_step *step, const cairn_free_motion *motion,
                                    double tolerance, cairn_answer *answer)
{
    const cairn_problem *p = &answer->problem;
    cairn_arena *scratch = &step->world->scratch;
    size_t blocks = (size_t)p->blocks;
    cairn_groups *g = &answer->rest.groups;
    *g = (cairn_groups){
        .first = cairn_arena_take(scratch, blocks, sizeof(int32_t)),
        .group = cairn_arena_take(scratch, blocks, sizeof(cairn_group)),
        .list = cairn_arena_take(scratch, (size_t)p->contacts, sizeof(int32_t)),
        .name = cairn_arena_take(scratch, blocks, sizeof(cairn_group_name)),
        .told = cairn_arena_take(scratch, blocks, sizeof(int64_t)),
    };
    if (!g->first || !g->group || !g->list || !g->name || !g->told)
        return CAIRN_NO_MEMORY;
    memset(g->group, 0, blocks * sizeof(cairn_group));
    join(p, g->first);
    label_groups(step, p, g);
    look_at_bodies(step, p, g);
    if (g->sleepers == 0)
        return CAIRN_OK;
    TRY(judge_sleepers(step, motion, tolerance, answer));
    list_contacts(p, g);
    return CAIRN_OK;
}

/* The next one of all members, by its label. */
bool cairn_groups_next_drowsy(const cairn_groups *g, cairn_link *link, int *next,
                              const int32_t **contacts, int *count)
{
    const cairn_group *own = NULL;
    for (; *next < g->names && !own; (*next)++) {
        const cairn_group *found = &g->group[g->name[*next].first];
        own = found->drowsy && found->count > 0 ? found : NULL;
    }
    double label = own ? (double)own->label : INFINITY;
    double least = -cairn_link_largest(link, -label);
    bool here = label == least && own;
    *contacts = here ? g->list + own->begin : g->list;
    *count = here ? own->count : 0;
    *next -= own && !here; /* it comes later */
    return least < INFINITY;
}

/* ---- who rests ------------------------------------------------------------------------------ */

/* Counts for how many steps in a row each body has been slow, up to CALM, and marks groups with a
 * body that has not been slow for long enough. */
static void count_calm(const cairn_step *step, const cairn_free_motion *motion,
                       cairn_answer *answer)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_groups *g = &answer->rest.groups;
    for (int i = 0; i < b->count; i++) {
        cairn_group *own = group_of_row(step, g, i);
        if (!own || !cairn_world_moves(step->world, i))
            continue;
        int32_t calm =
            is_slow(step, motion, step->options->tolerance, answer, i) ? b->calm[i] + 1 : 0;
        answer->rest.calm[i] = calm < CALM ? calm : CALM;
        if (answer->rest.calm[i] < CALM && !b->asleep[i])
            own->marks |= RESTLESS;
    }
    spread(&answer->problem, g, true);
}

/* J: v.M v(r)/2, the energy lost when a body is stopped; 0 if it was at rest before the step. */
static double stopping_work(const cairn_step *step, const cairn_answer *answer, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 v, omega;
    cairn_answer_velocity(step, answer, i, &v, &omega);
    return 0.5 * b->mass[i] * cairn_dot(b->v[i], v) +
           0.5 * cairn_dot(b->omega[i], cairn_times(b->inertia[i], omega));
}

/* Contacts between a sleeping and a held body, or another sleeping one, have velocity 0 as well. */
void cairn_rest_hold_still(const cairn_step *step, cairn_answer *answer)
{
    int d = answer->problem.dimension, n = step->block_size;
    const uint8_t *asleep = answer->rest.asleep;
    if (!asleep)
        return;
    for (int i = 0; i < step->world->bodies.count; i++)
        if (asleep[i])
            memset(answer->v + (size_t)cairn_step_block(step, i) * (size_t)n, 0,
                   (size_t)n * sizeof(double));
    for (int j = 0; j < step->world->contacts.count; j++) {
        const int32_t *body = step->world->contacts.body + 2 * (size_t)j;
        if (asleep[body[0]] || asleep[body[1]])
            memset(answer->u + (size_t)j * (size_t)d, 0, (size_t)d * sizeof(double));
    }
}

/* What the bodies of a range add to the report. */
typedef struct resting {
    int64_t asleep, woken;
    double loss; /* J */
} resting;

typedef struct rest_job {
    const cairn_step *step;
    cairn_answer *answer;
} rest_job;

/* Decides for each group: a sleeper stays asleep while it is slow; others also need CALM steps. */
static void rest_range(int begin, int end, void *context, void *value)
{
    const rest_job *job = context;
    const cairn_body_store *b = &job->step->world->bodies;
    uint8_t *asleep = job->answer->rest.asleep;
    resting *sum = value;
    for (int i = begin; i < end; i++) {
        const cairn_group *own = group_of_row(job->step, &job->answer->rest.groups, i);
        if (!own)
            continue;
        bool calm = own->sleeper || !(own->marks & RESTLESS);
        asleep[i] = !(own->marks & (HELD | FAST)) && calm;
        sum->asleep += asleep[i];
        sum->woken += b->asleep[i] && !asleep[i];
        sum->loss += asleep[i] ? stopping_work(job->step, job->answer, i) : 0;
    }
}

static void add_resting(void *result, const void *value)
{
    resting *sum = result;
    const resting *part = value;
    sum->asleep += part->asleep;
    sum->woken += part->woken;
    sum->loss += part->loss;
}

/* In one range, or by the parts of the world. */
static cairn_status put_to_rest(const cairn_step *step, cairn_answer *answer)
{
    static const resting none = { 0 };
    rest_job job = { step, answer };
    resting all = none;
    const cairn_reduction of_bodies = { .count = step->world->bodies.count,
                                        .grain = step->world->bodies.count + 1,
                                        .parted = cairn_world_parted(step->world),
                                        .work = rest_range,
                                        .join = add_resting,
                                        .context = &job,
                                        .neutral = &none,
                                        .size = sizeof none };
    TRY(cairn_arena_reduce(&step->world->scratch, &of_bodies, &all));
    step->report->asleep = (int)all.asleep;
    step->report->woken = (int)all.woken;
    step->report->energy.sleep_loss = all.loss;
    return CAIRN_OK;
}

/* How many bodies slept before the step, of all members. */
static int count_sleepers(const cairn_world *world)
{
    int64_t count = 0;
    for (int i = world->bodies.held; i < world->bodies.count; i++)
        count += world->bodies.asleep[i] && cairn_world_moves(world, i);
    return (int)cairn_link_sum(world->exchange.link, count);
}

/* Without sleep, every body that slept before the step is counted as woken. */
cairn_status cairn_rest_settle(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_rest *rest = &answer->rest;
    size_t count = (size_t)b->count;
    step->report->asleep = step->report->woken = 0;
    step->report->energy.sleep_loss = 0;
    if (!rest->by_groups) {
        step->report->woken = count_sleepers(step->world);
        return CAIRN_OK;
    }
    rest->asleep = cairn_arena_take(&step->world->scratch, count, sizeof *rest->asleep);
    rest->calm = cairn_arena_take(&step->world->scratch, count, sizeof *rest->calm);
    if (!rest->asleep || !rest->calm)
        return CAIRN_NO_MEMORY;
    memset(rest->asleep, 0, count * sizeof *rest->asleep);
    memset(rest->calm, 0, count * sizeof *rest->calm);
    find_fast(step, motion, step->options->tolerance, answer);
    count_calm(step, motion, answer);
    TRY(put_to_rest(step, answer));
    cairn_rest_hold_still(step, answer);
    return CAIRN_OK;
}
