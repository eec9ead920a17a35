/* sleep.c - what is at rest is not solved again.
 *
 * Bodies joined by candidate contacts form a group; nothing that happens to one group in this step
 * can matter to another. A body is slow when the velocity v(r) that its impulses give it is
 *
 *     |v| + R |omega| <= SLOW tolerance h |g + F/m|,     R its radius,
 *
 * that is, when it rests as far as the tolerance can tell. A group of which all bodies have been
 * slow for CALM steps falls asleep: they are stopped, v = 0, and stay where they are.
 *
 * Each later step of the group starts from v = 0, so v_free = h (g + F/m), and the impulses kept
 * from the last step are judged for it, group by group, as the judge does (residual.c):
 *
 *     |e|_2 <= tolerance |q|_2,   and all bodies are slow with v(r) = v_free + M^-1 H'r.
 *
 * Then the impulses stand and its contacts are not in the problem that is solved. Nothing adds up:
 * as long as nothing else changes, the next step asks the same of the same numbers. Else the group
 * is drowsy: it is solved alone, from v = 0, to CLOSER of the tolerance, and rests on if its bodies
 * are slow with what was found; if not it wakes, in this very step and with these velocities. What
 * disturbs a group - a contact that closes, a load, a neighbour, a wall that is taken away - does
 * so through v(r). Groups that something moves (a driven body, a belt) or that joints hold never
 * sleep.
 *
 * With each group within the tolerance of its own norm the whole step is within it. The impulse
 * -M v(r) that stops a body has the work -(v + 0)/2 . M v(r): the line `sleep_loss` of the ledger,
 * 0 but for the step in which it falls asleep. */
#include "world/sleep.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/judge.h"
#include "problem/operator.h"

static const double SLOW = 10;
enum { CALM = 10, GRAIN = 1024 };

typedef struct cairn_group {
    double e2, q2;        /* (m/s)^2: of the kept impulses                        */
    bool held;            /* by joints, or something moves it                     */
    bool sleeper;         /* slept when the step began                            */
    bool drowsy;          /* slept, but its impulses do not do any more           */
    bool fast;            /* some body of it is not slow                          */
    bool restless;        /* some body of it has not been slow for long enough    */
    int32_t begin, count; /* its contacts in the list, when drowsy         */
} cairn_group;

typedef struct kept_job {
    const cairn_answer *answer;
    cairn_law law;
    double *e2, *q2; /* of each contact */
} kept_job;

/* ---- groups --------------------------------------------------------------------------------- */

static int32_t first_of(int32_t *first, int32_t block)
{
    while (first[block] != block) {
        first[block] = first[first[block]];
        block = first[block];
    }
    return block;
}

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

/* The group of contact j; NULL: nothing in it can move. */
static cairn_group *group_of(const cairn_problem *p, const cairn_groups *g, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    int32_t any = block[0] >= 0 ? block[0] : block[1];
    return any >= 0 ? &g->group[g->first[any]] : NULL;
}

static bool is_moved(const cairn_problem *p, int j)
{
    const double *w = p->w ? p->w + (size_t)j * (size_t)p->dimension : NULL;
    bool moved = p->bounded && p->bounded[j]; /* rows of joints */
    for (int i = 0; w && i < p->dimension; i++)
        moved = moved || w[i] != 0;
    return moved;
}

static bool rests(const cairn_body_store *b, int i)
{
    return b->asleep[i] && cairn_norm(b->v[i]) == 0 && cairn_norm(b->omega[i]) == 0;
}

static void look_at_bodies(const cairn_step *step, const cairn_problem *p, cairn_groups *g)
{
    const cairn_body_store *b = &step->world->bodies;
    for (int i = 0; i < step->blocks; i++)
        g->group[i].sleeper = g->first[i] == i;
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = group_of(p, g, j);
        if (own && is_moved(p, j))
            own->held = true;
    }
    for (int i = 0; i < b->count; i++)
        if (cairn_step_block(step, i) >= 0 && !rests(b, i))
            g->group[g->first[cairn_step_block(step, i)]].sleeper = false;
    for (int i = 0; i < step->blocks; i++) {
        g->group[i].sleeper = g->group[i].sleeper && !g->group[i].held;
        g->sleepers += g->group[i].sleeper;
    }
}

/* ---- slow or not ---------------------------------------------------------------------------- */

/* With the velocities of the answer; anything not finite is not slow. */
static bool is_slow(const cairn_step *step, const cairn_free_motion *motion, double tolerance,
                    const cairn_answer *answer, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 v, omega, pull = cairn_sub(motion->v_free[i], b->v[i]);
    cairn_answer_velocity(step, answer, i, &v, &omega);
    double speed = cairn_norm(v) + b->extent[i] * cairn_norm(omega);
    return speed <= SLOW * tolerance * cairn_norm(pull);
}

static void find_fast(const cairn_step *step, const cairn_free_motion *motion, double tolerance,
                      cairn_answer *answer)
{
    const cairn_groups *g = &answer->rest.groups;
    for (int i = 0; i < step->blocks; i++)
        g->group[i].fast = false;
    for (int i = 0; i < step->world->bodies.count; i++)
        if (cairn_step_block(step, i) >= 0 && !is_slow(step, motion, tolerance, answer, i))
            g->group[g->first[cairn_step_block(step, i)]].fast = true;
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

/* Which of the sleepers have impulses that do not do any more. */
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
    for (size_t j = 0; j < contacts; j++) {
        cairn_group *own = group_of(&answer->problem, &answer->rest.groups, (int)j);
        if (own && own->sleeper) {
            own->e2 += job.e2[j];
            own->q2 += job.q2[j];
        }
    }
    find_fast(step, motion, tolerance, answer);
    for (int i = 0; i < step->blocks; i++) {
        cairn_group *own = &answer->rest.groups.group[i];
        bool holds = own->e2 <= tolerance * tolerance * own->q2 && !own->fast;
        own->drowsy = own->sleeper && !holds;
    }
    return CAIRN_OK;
}

/* Contacts in ascending order: first those of groups awake, then those of each drowsy one. */
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
    for (int i = 0; i < p->blocks; i++) {
        g->group[i].begin = next;
        next += g->group[i].count;
        g->group[i].count = 0;
    }
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = group_of(p, g, j);
        if (own && own->drowsy)
            g->list[own->begin + own->count++] = j;
    }
}

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
    };
    if (!g->first || !g->group || !g->list)
        return CAIRN_NO_MEMORY;
    memset(g->group, 0, blocks * sizeof(cairn_group));
    join(p, g->first);
    look_at_bodies(step, p, g);
    if (g->sleepers == 0)
        return CAIRN_OK;
    TRY(judge_sleepers(step, motion, tolerance, answer));
    list_contacts(p, g);
    return CAIRN_OK;
}

bool cairn_groups_next_drowsy(const cairn_groups *g, int blocks, int *next,
                              const int32_t **contacts, int *count)
{
    while (*next < blocks && (!g->group[*next].drowsy || g->group[*next].count == 0))
        (*next)++;
    if (*next == blocks)
        return false;
    *contacts = g->list + g->group[*next].begin;
    *count = g->group[*next].count;
    (*next)++;
    return true;
}

/* ---- who rests ------------------------------------------------------------------------------ */

/* Steps in a row that bodies are slow, and groups of which some is not for long enough. */
static void count_calm(const cairn_step *step, const cairn_free_motion *motion,
                       cairn_answer *answer)
{
    const cairn_body_store *b = &step->world->bodies;
    const cairn_groups *g = &answer->rest.groups;
    for (int i = 0; i < b->count; i++) {
        if (cairn_step_block(step, i) < 0)
            continue;
        int32_t calm =
            is_slow(step, motion, step->options->tolerance, answer, i) ? b->calm[i] + 1 : 0;
        answer->rest.calm[i] = calm < CALM ? calm : CALM;
        if (answer->rest.calm[i] < CALM && !b->asleep[i])
            g->group[g->first[cairn_step_block(step, i)]].restless = true;
    }
}

/* v.M v(r)/2 of a body that is stopped. */
static double stopping_work(const cairn_step *step, const cairn_answer *answer, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 v, omega;
    cairn_answer_velocity(step, answer, i, &v, &omega);
    return 0.5 * b->mass[i] * cairn_dot(b->v[i], v) +
           0.5 * cairn_dot(b->omega[i], cairn_times(b->inertia[i], omega));
}

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

static void put_to_rest(const cairn_step *step, cairn_answer *answer)
{
    const cairn_body_store *b = &step->world->bodies;
    const cairn_groups *g = &answer->rest.groups;
    cairn_step_report *report = step->report;
    for (int i = 0; i < b->count; i++) {
        if (cairn_step_block(step, i) < 0)
            continue;
        const cairn_group *own = &g->group[g->first[cairn_step_block(step, i)]];
        answer->rest.asleep[i] = !own->held && !own->fast && (own->sleeper || !own->restless);
        report->asleep += answer->rest.asleep[i];
        report->woken += b->asleep[i] && !answer->rest.asleep[i];
        report->energy.sleep_loss += answer->rest.asleep[i] ? stopping_work(step, answer, i) : 0;
    }
}

cairn_status cairn_rest_settle(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_rest *rest = &answer->rest;
    size_t count = (size_t)b->count;
    step->report->asleep = step->report->woken = 0;
    step->report->energy.sleep_loss = 0;
    for (size_t i = 0; i < count && !rest->by_groups; i++)
        step->report->woken += b->asleep[i];
    if (!rest->by_groups)
        return CAIRN_OK;
    rest->asleep = cairn_arena_take(&step->world->scratch, count, sizeof *rest->asleep);
    rest->calm = cairn_arena_take(&step->world->scratch, count, sizeof *rest->calm);
    if (!rest->asleep || !rest->calm)
        return CAIRN_NO_MEMORY;
    memset(rest->asleep, 0, count * sizeof *rest->asleep);
    memset(rest->calm, 0, count * sizeof *rest->calm);
    find_fast(step, motion, step->options->tolerance, answer);
    count_calm(step, motion, answer);
    put_to_rest(step, answer);
    cairn_rest_hold_still(step, answer);
    return CAIRN_OK;
}
