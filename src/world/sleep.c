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
#include "world/scheme.h"

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
    cairn_stage *stage;
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

static void join(cairn_stage *stage)
{
    const cairn_problem *p = &stage->problem;
    int32_t *first = stage->groups.first;
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
static cairn_group *group_of(const cairn_stage *stage, int j)
{
    const int32_t *block = stage->problem.block + 2 * (size_t)j;
    int32_t any = block[0] >= 0 ? block[0] : block[1];
    return any >= 0 ? &stage->groups.group[stage->groups.first[any]] : NULL;
}

static bool is_moved(const cairn_stage *stage, int j)
{
    const double *w =
        stage->problem.w ? stage->problem.w + (size_t)j * (size_t)stage->components : NULL;
    bool moved = j >= stage->world->contacts.count; /* rows of joints */
    for (int i = 0; w && i < stage->components; i++)
        moved = moved || w[i] != 0;
    return moved;
}

static bool rests(const cairn_body_store *b, int i)
{
    return b->asleep[i] && cairn_norm(b->v[i]) == 0 && cairn_norm(b->omega[i]) == 0;
}

static void look_at_bodies(cairn_stage *stage)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_groups *g = &stage->groups;
    for (int i = 0; i < stage->blocks; i++)
        g->group[i].sleeper = g->first[i] == i;
    for (int j = 0; j < stage->problem.contacts; j++) {
        cairn_group *own = group_of(stage, j);
        if (own && is_moved(stage, j))
            own->held = true;
    }
    for (int i = 0; i < b->count; i++)
        if (stage->block[i] >= 0 && !rests(b, i))
            g->group[g->first[stage->block[i]]].sleeper = false;
    for (int i = 0; i < stage->blocks; i++) {
        g->group[i].sleeper = g->group[i].sleeper && !g->group[i].held;
        g->sleepers += g->group[i].sleeper;
    }
}

/* ---- slow or not ---------------------------------------------------------------------------- */

/* With the velocities of the stage; anything not finite is not slow. */
static bool is_slow(const cairn_stage *stage, int i)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_vec3 v, omega, pull = cairn_sub(stage->v_free[i], b->v[i]);
    cairn_stage_new_velocity(stage, i, &v, &omega);
    double speed = cairn_norm(v) + b->extent[i] * cairn_norm(omega);
    return speed <= SLOW * stage->options->tolerance * cairn_norm(pull);
}

static void find_fast(cairn_stage *stage)
{
    cairn_groups *g = &stage->groups;
    for (int i = 0; i < stage->blocks; i++)
        g->group[i].fast = false;
    for (int i = 0; i < stage->world->bodies.count; i++)
        if (stage->block[i] >= 0 && !is_slow(stage, i))
            g->group[g->first[stage->block[i]]].fast = true;
}

/* ---- how well kept impulses do -------------------------------------------------------------- */

static void measure_range(int begin, int end, void *context)
{
    const kept_job *job = context;
    const cairn_stage *stage = job->stage;
    const cairn_judging judge = {
        .p = &stage->problem, .r = stage->r, .v = stage->v, .u = stage->u
    };
    for (int j = begin; j < end; j++) {
        const cairn_group *own = group_of(stage, j);
        if (own && own->sleeper)
            cairn_judge_one(&judge, stage->scheme->law, j, &job->e2[j], &job->q2[j]);
    }
}

/* Which of the sleepers have impulses that do not do any more. */
static cairn_status judge_sleepers(cairn_stage *stage)
{
    cairn_arena *scratch = &stage->world->scratch;
    size_t contacts = (size_t)stage->problem.contacts;
    double tolerance = stage->options->tolerance;
    kept_job job = { stage, cairn_arena_doubles(scratch, contacts),
                     cairn_arena_doubles(scratch, contacts) };
    if (!job.e2 || !job.q2)
        return CAIRN_NO_MEMORY;
    cairn_problem_velocity(&stage->problem, stage->r, stage->v);
    cairn_parallel_for(stage->problem.contacts, GRAIN, measure_range, &job);
    for (size_t j = 0; j < contacts; j++) {
        cairn_group *own = group_of(stage, (int)j);
        if (own && own->sleeper) {
            own->e2 += job.e2[j];
            own->q2 += job.q2[j];
        }
    }
    find_fast(stage);
    for (int i = 0; i < stage->blocks; i++) {
        cairn_group *own = &stage->groups.group[i];
        bool holds = own->e2 <= tolerance * tolerance * own->q2 && !own->fast;
        own->drowsy = own->sleeper && !holds;
    }
    return CAIRN_OK;
}

/* Contacts in ascending order: first those of groups awake, then those of each drowsy one. */
static void list_contacts(cairn_stage *stage)
{
    cairn_groups *g = &stage->groups;
    for (int j = 0; j < stage->problem.contacts; j++) {
        cairn_group *own = group_of(stage, j);
        if (!own || !own->sleeper)
            g->list[g->awake++] = j;
        else if (own->drowsy)
            own->count++;
    }
    int32_t next = g->awake;
    for (int i = 0; i < stage->blocks; i++) {
        g->group[i].begin = next;
        next += g->group[i].count;
        g->group[i].count = 0;
    }
    for (int j = 0; j < stage->problem.contacts; j++) {
        cairn_group *own = group_of(stage, j);
        if (own && own->drowsy)
            g->list[own->begin + own->count++] = j;
    }
}

cairn_status cairn_stage_find_groups(cairn_stage *stage)
{
    const cairn_problem *p = &stage->problem;
    cairn_arena *scratch = &stage->world->scratch;
    size_t blocks = (size_t)p->blocks;
    stage->groups = (cairn_groups){
        .first = cairn_arena_take(scratch, blocks, sizeof(int32_t)),
        .group = cairn_arena_take(scratch, blocks, sizeof(cairn_group)),
        .list = cairn_arena_take(scratch, (size_t)p->contacts, sizeof(int32_t)),
    };
    if (!stage->groups.first || !stage->groups.group || !stage->groups.list)
        return CAIRN_NO_MEMORY;
    memset(stage->groups.group, 0, blocks * sizeof(cairn_group));
    join(stage);
    look_at_bodies(stage);
    if (stage->groups.sleepers == 0)
        return CAIRN_OK;
    TRY(judge_sleepers(stage));
    list_contacts(stage);
    return CAIRN_OK;
}

bool cairn_stage_next_drowsy(const cairn_stage *stage, int *next, const int32_t **contacts,
                             int *count)
{
    const cairn_groups *g = &stage->groups;
    while (*next < stage->blocks && (!g->group[*next].drowsy || g->group[*next].count == 0))
        (*next)++;
    if (*next == stage->blocks)
        return false;
    *contacts = g->list + g->group[*next].begin;
    *count = g->group[*next].count;
    (*next)++;
    return true;
}

/* ---- who rests ------------------------------------------------------------------------------ */

/* Steps in a row that bodies are slow, and groups of which some is not for long enough. */
static void count_calm(cairn_stage *stage)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_groups *g = &stage->groups;
    for (int i = 0; i < b->count; i++) {
        if (stage->block[i] < 0)
            continue;
        int32_t calm = is_slow(stage, i) ? b->calm[i] + 1 : 0;
        stage->calm[i] = calm < CALM ? calm : CALM;
        if (stage->calm[i] < CALM && !b->asleep[i])
            g->group[g->first[stage->block[i]]].restless = true;
    }
}

/* v.M v(r)/2 of a body that is stopped. */
static double stopping_work(const cairn_stage *stage, int i)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_vec3 v, omega;
    cairn_stage_new_velocity(stage, i, &v, &omega);
    return 0.5 * b->mass[i] * cairn_dot(b->v[i], v) +
           0.5 * cairn_dot(b->omega[i], cairn_times(b->inertia[i], omega));
}

void cairn_stage_hold_still(cairn_stage *stage)
{
    int d = stage->problem.dimension, n = stage->block_size;
    if (!stage->asleep)
        return;
    for (int i = 0; i < stage->world->bodies.count; i++)
        if (stage->asleep[i])
            memset(stage->v + (size_t)stage->block[i] * (size_t)n, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < stage->world->contacts.count; j++) {
        const int32_t *body = stage->world->contacts.body + 2 * (size_t)j;
        if (stage->asleep[body[0]] || stage->asleep[body[1]])
            memset(stage->u + (size_t)j * (size_t)d, 0, (size_t)d * sizeof(double));
    }
}

static void put_to_rest(cairn_stage *stage)
{
    const cairn_body_store *b = &stage->world->bodies;
    const cairn_groups *g = &stage->groups;
    cairn_step_report *report = stage->report;
    for (int i = 0; i < b->count; i++) {
        if (stage->block[i] < 0)
            continue;
        const cairn_group *own = &g->group[g->first[stage->block[i]]];
        stage->asleep[i] = !own->held && !own->fast && (own->sleeper || !own->restless);
        report->asleep += stage->asleep[i];
        report->woken += b->asleep[i] && !stage->asleep[i];
        report->energy.sleep_loss += stage->asleep[i] ? stopping_work(stage, i) : 0;
    }
}

cairn_status cairn_stage_settle(cairn_stage *stage)
{
    const cairn_body_store *b = &stage->world->bodies;
    size_t count = (size_t)b->count;
    stage->report->asleep = stage->report->woken = 0;
    stage->report->energy.sleep_loss = 0;
    stage->asleep = NULL;
    stage->calm = NULL;
    for (size_t i = 0; i < count && !stage->by_groups; i++)
        stage->report->woken += b->asleep[i];
    if (!stage->by_groups)
        return CAIRN_OK;
    stage->asleep = cairn_arena_take(&stage->world->scratch, count, sizeof *stage->asleep);
    stage->calm = cairn_arena_take(&stage->world->scratch, count, sizeof *stage->calm);
    if (!stage->asleep || !stage->calm)
        return CAIRN_NO_MEMORY;
    memset(stage->asleep, 0, count * sizeof *stage->asleep);
    memset(stage->calm, 0, count * sizeof *stage->calm);
    find_fast(stage);
    count_calm(stage);
    put_to_rest(stage);
    cairn_stage_hold_still(stage);
    return CAIRN_OK;
}
