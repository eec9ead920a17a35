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
 * the last step are judged for it, contact by contact, as the judge does (residual.c, scales.c):
 *
 *     e_j <= 10 tolerance S_j,   and all bodies are slow with v(r) = v_free + M^-1 H'r.
 *
 * If this holds, the impulses stay valid, and the contacts of the group are left out of the
 * problem. Errors do not accumulate: as long as nothing else changes, the next step makes the same
 * test with the same numbers. If it does not hold, the group is drowsy: it is solved again, and
 * since its bodies are at rest, the question is first whether it can stay so (equilibrium.c). It
 * stays asleep if its bodies are slow with the result; if not, it wakes in this very step, with
 * these velocities. Whatever disturbs a group - a contact that closes, a load, a neighbour, a wall
 * that is removed - changes v(r). Groups
 * that something moves (a driven body, a belt) or that joints hold never sleep.
 *
 * groups.c finds the groups, also those that extend over several members.
 *
 * If each contact is within the tolerance, so is the whole step. The impulse -M v(r) that stops a
 * body does the work -(v + 0)/2 . M v(r): the entry `sleep_loss` of the ledger. It is 0 except in
 * the step in which the body falls asleep. */
#include "world/step.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/judge.h"
#include "problem/operator.h"
#include "world/groups.h"

/* SLOW: of the speed that forces add in a step, times the tolerance. CALM: steps in a row that a
 * body must be slow. GRAIN: contacts in one piece of parallel work. */
static const double SLOW = 10;
enum { CALM = 10, GRAIN = 1024 };

/* Marks of a group: joints hold it, or something moves it; some body of it does not rest; is not
 * slow; has not been slow for long enough; some contact misses the tolerance. */
enum { HELD = 1, AWAKE = 2, FAST = 4, RESTLESS = 8, MISSED = 16 };

/* Judging kept impulses. */
typedef struct kept_job {
    const cairn_answer *answer;
    cairn_law law;
    double tolerance;
    uint8_t *missed; /* of each contact of a sleeper: it is beyond that */
} kept_job;

/* ---- who sleeps ------------------------------------------------------------------------------ */

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
        cairn_group *own = cairn_group_of(p, g, j);
        if (own && is_moved(p, j))
            own->marks |= HELD;
    }
    for (int i = 0; i < b->count; i++) {
        cairn_group *own = cairn_group_of_row(step, g, i);
        if (own && cairn_world_moves(step->world, i) && !rests(b, i))
            own->marks |= AWAKE;
    }
    cairn_groups_spread(p, g, CAIRN_TOLD_MARKS);
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
        cairn_group *own = cairn_group_of_row(step, g, i);
        if (own && cairn_world_moves(step->world, i) &&
            !is_slow(step, motion, tolerance, answer, i))
            own->marks |= FAST;
    }
    cairn_groups_spread(&answer->problem, g, CAIRN_TOLD_MARKS);
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
        const cairn_group *own = cairn_group_of(&answer->problem, &answer->rest.groups, j);
        if (own && own->sleeper)
            job->missed[j] = !(cairn_judge_one(&judge, job->law, j).relative <= job->tolerance);
    }
}

/* Finds the drowsy groups: sleepers whose kept impulses no longer meet the tolerance. */
static cairn_status judge_sleepers(const cairn_step *step, const cairn_free_motion *motion,
                                   double tolerance, cairn_answer *answer)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t contacts = (size_t)answer->problem.contacts;
    kept_job job = { answer, step->scheme->law, tolerance, cairn_arena_take(scratch, contacts, 1) };
    if (!job.missed)
        return CAIRN_NO_MEMORY;
    cairn_problem_velocity(&answer->problem, answer->r, answer->v);
    cairn_parallel_for(answer->problem.contacts, GRAIN, measure_range, &job);
    for (size_t j = 0; j < contacts; j++) {
        cairn_group *own = cairn_group_of(&answer->problem, &answer->rest.groups, (int)j);
        if (own && own->sleeper && job.missed[j])
            own->marks |= MISSED;
    }
    find_fast(step, motion, tolerance, answer); /* tells others all marks */
    for (int i = 0; i < step->blocks; i++) {
        cairn_group *own = &answer->rest.groups.group[i];
        own->drowsy = own->sleeper && own->marks & (FAST | MISSED);
    }
    return CAIRN_OK;
}

/* Lists the contacts to be solved, in ascending order: those of groups awake and drowsy. */
static void list_contacts(const cairn_problem *p, cairn_groups *g)
{
    for (int j = 0; j < p->contacts; j++) {
        const cairn_group *own = cairn_group_of(p, g, j);
        if (!own || !own->sleeper || own->drowsy)
            g->list[g->awake++] = j;
    }
}

/* Without sleepers the list stays empty; the whole problem is then solved as it is. */
cairn_status cairn_rest_find_groups(const cairn_step *step, const cairn_free_motion *motion,
                                    double tolerance, cairn_answer *answer)
{
    const cairn_problem *p = &answer->problem;
    cairn_groups *g = &answer->rest.groups;
    cairn_groups_clear(p, g);
    look_at_bodies(step, p, g);
    if (g->sleepers == 0)
        return CAIRN_OK;
    TRY(judge_sleepers(step, motion, tolerance, answer));
    list_contacts(p, g);
    return CAIRN_OK;
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
        cairn_group *own = cairn_group_of_row(step, g, i);
        if (!own || !cairn_world_moves(step->world, i))
            continue;
        int32_t calm =
            is_slow(step, motion, step->options->tolerance, answer, i) ? b->calm[i] + 1 : 0;
        answer->rest.calm[i] = calm < CALM ? calm : CALM;
        if (answer->rest.calm[i] < CALM && !b->asleep[i])
            own->marks |= RESTLESS;
    }
    cairn_groups_spread(&answer->problem, g, CAIRN_TOLD_MARKS);
}

/* J: v.M v(r)/2, the energy lost when a body is stopped; 0 if it was at rest before the step. */
static double stopping_work(const cairn_step *step, const cairn_free_motion *motion,
                            const cairn_answer *answer, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 v, omega;
    cairn_answer_velocity(step, answer, i, &v, &omega);
    return 0.5 * b->mass[i] * cairn_dot(b->v[i], v) +
           0.5 * cairn_dot(motion->omega_coast[i], cairn_times(b->inertia[i], omega));
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
    const cairn_free_motion *motion;
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
        const cairn_group *own = cairn_group_of_row(job->step, &job->answer->rest.groups, i);
        if (!own)
            continue;
        bool calm = own->sleeper || !(own->marks & RESTLESS);
        asleep[i] = !(own->marks & (HELD | FAST)) && calm;
        sum->asleep += asleep[i];
        sum->woken += b->asleep[i] && !asleep[i];
        sum->loss += asleep[i] ? stopping_work(job->step, job->motion, job->answer, i) : 0;
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
static cairn_status put_to_rest(const cairn_step *step, const cairn_free_motion *motion,
                                cairn_answer *answer)
{
    static const resting none = { 0 };
    rest_job job = { step, motion, answer };
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
    TRY(put_to_rest(step, motion, answer));
    cairn_rest_hold_still(step, answer);
    return CAIRN_OK;
}
