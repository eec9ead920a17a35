/* impulses.c - from the one-step problem to its impulses: the scheme's solve, with what it cannot
 * do by itself around it.
 *
 * Friction that depends on the sliding speed: mu is found together with the speed,
 *   (1) mu = mu(|u_T|) with the velocity before the step
 *   (2) solve with this mu
 *   (3) mu = mu(|u_T|) with the velocity found; done when its impulses still satisfy the law, as
 *       the judge says with the new mu, else (2). With fixed_point_tolerance > 0 the change of mu
 *       is held against that instead.
 * mu falls with speed and speed with mu, so for one contact the iterates move one way and converge
 * whatever the step. Where several mu are solutions (steps too long for a steep law) the motion so
 * far decides: what sticks goes on sticking if it can.
 *
 * Poisson's law of impact, in a step in which something hits and a contact of that law is near:
 *   (1) compression: from mid-step, M (v_c - (v + v_free)/2) = H' r_c, hit contacts with b = 0
 *   (2) decompression: M (v+ - v_free) = H'(r_c + x), x_N >= e r_cN, solve/decompression.c
 * Half of the forces act before the impact and half after it: then a ball with e = 1 leaves with
 * the speed |v| with which the step began, and as x += h v+ keeps v^2/2 + g x - h g v/2, so does
 * the bounce. A body at rest has r_cN + e r_cN <= its weight times h and does not leave. Contacts
 * without Poisson's e take part in both phases with their own bias. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "problem/operator.h"
#include "problem/part.h"
#include "solve/decompression.h"
#include "world/sleep.h"

static const double CLOSER = 0.1; /* of the tolerance, for groups that should sleep on */
enum { MOST_MISSED = 3 }; /* solves in a row that miss their tolerance: more will not help */

/* One call that finds answer->r, and the judge of what it found. */
typedef struct phase {
    cairn_status (*solve)(const cairn_step *, const cairn_free_motion *, cairn_answer *);
    void (*judge)(const cairn_step *, cairn_answer *, cairn_judgement *out);
} phase;

/* ---- friction laws -------------------------------------------------------------------------- */

static double friction_at(const cairn_world *world, int j, const double *u)
{
    const int32_t *body = world->contacts.body + 2 * j, *material = world->bodies.material;
    double speed = cairn_sliding_speed(world->dimension, 0, u);
    return cairn_material_friction(world, material[body[0]], material[body[1]], speed);
}

/* The same in all directions: step_options.c refuses friction_2 with a law of speed. */
static void set_friction(cairn_contact_store *c, int j, double mu, cairn_answer *answer)
{
    answer->mu[j] = c->mu[j] = c->mu_2[j] = mu;
}

/* (1) */
static void start_friction(const cairn_step *step, cairn_answer *answer)
{
    const cairn_problem *p = &answer->problem;
    for (int j = 0; j < step->world->contacts.count; j++) {
        double before[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(p, p->dimension, p->block_size, j, answer->v_old, before);
        set_friction(&step->world->contacts, j, friction_at(step->world, j, before), answer);
    }
}

/* (3); the largest change at a contact that pushes */
static double update_friction(const cairn_step *step, cairn_answer *answer)
{
    double largest = 0;
    for (int j = 0; j < step->world->contacts.count; j++) {
        size_t first = (size_t)j * (size_t)answer->problem.dimension;
        double mu = friction_at(step->world, j, answer->u + first);
        if (answer->r[first] > 0)
            largest = fmax(largest, fabs(mu - answer->mu[j]));
        set_friction(&step->world->contacts, j, mu, answer);
    }
    return largest;
}

static void remark_friction(cairn_solve_report *report, int64_t updates, double change)
{
    snprintf(report->remark, sizeof report->remark,
             "friction law: mu changed by %.1e in update %lld, the last one", change,
             (long long)updates);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* (2), a little closer than asked, so that (3) can end there. */
static cairn_status solve_closer(const cairn_step *step, const cairn_free_motion *motion,
                                 const phase *by, cairn_answer *answer)
{
    cairn_step_options closer = *step->options;
    cairn_step other = *step;
    closer.tolerance = 0.5 * step->options->tolerance;
    other.options = &closer;
    return by->solve(&other, motion, answer);
}

static cairn_status solve_with_law(const cairn_step *step, const cairn_free_motion *motion,
                                   const phase *by, cairn_answer *answer)
{
    const cairn_step_options *options = step->options;
    cairn_solve_report *report = &step->report->solve;
    double stop = options->fixed_point_tolerance, change = 0;
    int64_t iterations = 0, outer = 0, updates = 0;
    int missed = 0;
    bool done = false;
    start_friction(step, answer);
    while (!done && updates < options->max_fixed_point && missed < MOST_MISSED) {
        TRY(solve_closer(step, motion, by, answer));
        missed = report->converged ? 0 : missed + 1;
        change = update_friction(step, answer);
        by->judge(step, answer, &report->judgement);
        done = stop > 0 ? change <= stop && report->converged
                        : report->judgement.asked.relative <= options->tolerance;
        iterations = larger(iterations, report->iterations); /* each is a problem of its own */
        outer += report->outer_iterations;
        updates++;
    }
    report->converged = done;
    report->iterations = iterations;
    report->outer_iterations = outer;
    step->report->certificate.friction_law = change;
    if (!done)
        remark_friction(report, updates, change);
    return CAIRN_OK;
}

static bool friction_varies(const cairn_step *step)
{
    return step->world->materials.friction_varies && !step->scheme->frictionless;
}

static cairn_status solve_phase(const cairn_step *step, const cairn_free_motion *motion,
                                const phase *by, cairn_answer *answer)
{
    return friction_varies(step) ? solve_with_law(step, motion, by, answer)
                                 : by->solve(step, motion, answer);
}

/* ---- one phase ------------------------------------------------------------------------------ */

static const double SHALLOW = 2e-3; /* of a radius */

/* m/s: the speed mu |u_T| at which a convex contact may lift: neither the gap that it keeps, h
 * times that, nor the height to which it throws, its square over 2 |gravity|, exceeds the
 * tolerance. */
static double allowed_lift(const cairn_step *step)
{
    double height = step->options->model_tolerance, g = cairn_norm(step->world->gravity);
    return fmin(height / step->h, sqrt(2 * g * height));
}

/* What scheme auto needs beside the others. */
static cairn_status prepare_upgrade(const cairn_step *step, cairn_answer *answer,
                                    cairn_scheme_job *job)
{
    job->allowed = allowed_lift(step);
    job->exact = cairn_arena_take(&step->world->scratch, (size_t)answer->problem.contacts, 1);
    job->upgraded = &step->report->upgraded;
    answer->exact = job->exact;
    answer->s_held = answer->s;
    return job->exact ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* m/s: the speed at which contacts sink into each other by SHALLOW of the smallest radius in a
 * step. A step of exact friction that stalls does not end above it. */
static double shallow_approach(const cairn_step *step)
{
    const cairn_body_store *b = &step->world->bodies;
    double least = INFINITY;
    for (int i = 0; i < b->count; i++)
        if (step->block[i] >= 0 && b->extent[i] > 0)
            least = fmin(least, b->extent[i]);
    return SHALLOW * least / step->h;
}

static cairn_scheme_job job_of(const cairn_step *step, const cairn_answer *answer)
{
    const cairn_step_options *options = step->options;
    cairn_scheme_job job = { .problem = &answer->problem,
                             .options = cairn_solve_options_default(),
                             .loop = { options->fixed_point_tolerance, options->max_fixed_point,
                                       answer->s, answer->r, answer->v, answer->u },
                             .workspace = step->world->workspace,
                             .report = &step->report->solve };
    job.options.solver = options->solver;
    job.options.backend = options->backend;
    job.options.tolerance = options->tolerance;
    job.options.max_iterations = options->max_iterations;
    if (step->scheme->law == CAIRN_LAW_COULOMB)
        job.options.approach = shallow_approach(step);
    return job;
}

static cairn_status solve_all(const cairn_step *step, cairn_answer *answer)
{
    cairn_scheme_job job = job_of(step, answer);
    answer->s_held = NULL;
    answer->exact = NULL;
    if (cairn_scheme_is_mixed(step->scheme))
        TRY(prepare_upgrade(step, answer, &job));
    return cairn_scheme_solve(step->scheme, &job);
}

/* ---- what is awake -------------------------------------------------------------------------- */

/* Numbers of some contacts out of those of all. */
static double *collect(cairn_arena *scratch, const int32_t *contacts, int count, int width,
                       const double *from)
{
    size_t n = (size_t)width;
    double *to = cairn_arena_doubles(scratch, (size_t)count * n);
    for (size_t k = 0; to && k < (size_t)count; k++)
        memcpy(to + k * n, from + (size_t)contacts[k] * n, n * sizeof *to);
    return to;
}

/* Some contacts as a problem of their own. */
static cairn_status solve_some(const cairn_step *step, cairn_answer *answer,
                               const int32_t *contacts, int count, double tolerance,
                               cairn_solve_report *report)
{
    cairn_problem_part part;
    cairn_arena *scratch = &step->world->scratch;
    cairn_scheme_job job = job_of(step, answer);
    int d = answer->problem.dimension;
    *report = (cairn_solve_report){ .converged = true, .solver = step->options->solver };
    if (count == 0)
        return CAIRN_OK;
    TRY(cairn_problem_take_part(&answer->problem, contacts, count, scratch, &part));
    const cairn_problem *p = &part.problem;
    job.problem = p;
    job.options.tolerance = tolerance;
    job.report = report;
    cairn_sliding_loop *loop = &job.loop;
    loop->r = collect(scratch, contacts, count, d, answer->r);
    loop->s = collect(scratch, contacts, count, 1, answer->s);
    loop->u = cairn_arena_doubles(scratch, (size_t)count * (size_t)d);
    loop->v = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    if (!loop->r || !loop->s || !loop->u || !loop->v)
        return CAIRN_NO_MEMORY;
    TRY(cairn_scheme_solve(step->scheme, &job));
    cairn_part_spread(contacts, count, d, loop->r, answer->r);
    cairn_part_spread(contacts, count, 1, loop->s, answer->s);
    return CAIRN_OK;
}

/* What sleeps keeps its impulses; drowsy groups are solved one by one, the others together. A sweep
 * over each group is one over all: iterations are those of the slowest. */
static cairn_status solve_groups(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer)
{
    cairn_solve_report *report = &step->report->solve, part;
    double tolerance = step->options->tolerance;
    const int32_t *contacts;
    int count, next = 0;
    TRY(cairn_rest_find_groups(step, motion, answer));
    if (answer->rest.groups.sleepers == 0)
        return solve_all(step, answer);
    answer->s_held = NULL;
    answer->exact = NULL;
    TRY(solve_some(step, answer, answer->rest.groups.list, answer->rest.groups.awake, tolerance,
                   report));
    while (cairn_groups_next_drowsy(&answer->rest.groups, step->blocks, &next, &contacts, &count)) {
        TRY(solve_some(step, answer, contacts, count, CLOSER * tolerance, &part));
        report->iterations = larger(part.iterations, report->iterations);
        report->outer_iterations += part.outer_iterations;
        report->converged = report->converged && part.judgement.asked.relative <= tolerance;
    }
    cairn_judge(&answer->problem, step->scheme->law, answer->r, answer->v, answer->u,
                &report->judgement);
    return CAIRN_OK;
}

static cairn_status solve_whole(const cairn_step *step, const cairn_free_motion *motion,
                                cairn_answer *answer)
{
    return answer->rest.by_groups ? solve_groups(step, motion, answer) : solve_all(step, answer);
}

static void judge_whole(const cairn_step *step, cairn_answer *answer, cairn_judgement *out)
{
    cairn_judge(&answer->problem, step->scheme->law, answer->r, answer->v, answer->u, out);
}

static const phase whole = { solve_whole, judge_whole };

/* ---- Poisson's law -------------------------------------------------------------------------- */

static bool bounces(const cairn_contact_store *c, int j)
{
    return c->poisson && c->poisson[j] && c->restitution[j] > 0;
}

/* The velocity before closes the gap in this step (of what can bounce, that or the free one: else
 * it would be stopped where it touches), and is more than what forces give in a step: slower than
 * that is rest. */
static bool hits(const cairn_step *step, const cairn_free_motion *motion,
                 const cairn_answer *answer, int j)
{
    const cairn_problem *p = &answer->problem;
    int d = p->dimension, n = p->block_size;
    double before[CAIRN_MAX_DIMENSION], free[CAIRN_MAX_DIMENSION];
    double gap = step->scheme->velocity_level ? 0 : cairn_contact_gap(step, motion, j);
    cairn_contact_relative(p, d, n, j, answer->v_old, before);
    cairn_contact_relative(p, d, n, j, p->v_free, free);
    double closing = bounces(&step->world->contacts, j) ? fmin(before[0], free[0]) : before[0];
    return before[0] < -fabs(free[0] - before[0]) && gap + step->h * closing <= 0;
}

/* A copy of the numbers of contacts that a problem has. */
static double *own_copy(cairn_arena *scratch, const double *from, int count)
{
    double *own = cairn_arena_take(scratch, (size_t)count, sizeof *own);
    if (own && count > 0)
        memcpy(own, from, (size_t)count * sizeof *own);
    return own;
}

/* Poisson's contacts that hit end the step with u_N >= 0 instead of filling the gap that is left:
 * whether any contact hits. */
static cairn_status let_bounce(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer, bool *hit)
{
    const cairn_contact_store *c = &step->world->contacts;
    double *b = own_copy(&step->world->scratch, answer->problem.b, answer->problem.contacts);
    if (!b)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < c->count; j++) {
        if (!hits(step, motion, answer, j))
            continue;
        *hit = true;
        if (bounces(c, j))
            b[j] = fmin(b[j], 0);
    }
    answer->problem.b = b;
    return CAIRN_OK;
}

/* Whether something hits and some contact can give back. */
static cairn_status find_impacts(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer, bool *hit)
{
    const cairn_contact_store *c = &step->world->contacts;
    bool can_bounce = false;
    *hit = false;
    for (int j = 0; step->world->materials.bouncing && !can_bounce && j < c->count; j++)
        can_bounce = bounces(c, j);
    return can_bounce ? let_bounce(step, motion, answer, hit) : CAIRN_OK;
}

static cairn_decompression decompression_of(const cairn_answer *answer)
{
    return (cairn_decompression){ &answer->problem, answer->compression, answer->floor };
}

static cairn_status solve_decompression(const cairn_step *step, const cairn_free_motion *motion,
                                        cairn_answer *answer)
{
    (void)motion;
    const cairn_decompression d = decompression_of(answer);
    cairn_solve_options options = cairn_solve_options_default();
    options.law = step->scheme->law;
    options.tolerance = step->options->tolerance;
    options.max_iterations = step->options->max_iterations;
    return cairn_decompression_solve(&d, &options, answer->r, answer->v, answer->u,
                                     &step->report->solve);
}

static void judge_decompression(const cairn_step *step, cairn_answer *answer, cairn_judgement *out)
{
    const cairn_decompression d = decompression_of(answer);
    cairn_decompression_judge(&d, step->scheme->law, answer->r, answer->v, answer->u, out);
}

static const phase decompression = { solve_decompression, judge_decompression };

/* The problem of (1): velocities at mid-step; overlaps must not bounce and are left to (2). */
static cairn_status pose_compression(const cairn_step *step, const cairn_answer *answer,
                                     cairn_problem *out)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t contacts = (size_t)answer->problem.contacts;
    size_t velocities = (size_t)step->blocks * (size_t)step->block_size;
    double *b = cairn_arena_doubles(scratch, contacts);
    double *middle = cairn_arena_take(scratch, velocities, sizeof *middle);
    if (!b || !middle)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < velocities; i++)
        middle[i] = 0.5 * (answer->v_old[i] + answer->problem.v_free[i]);
    for (size_t j = 0; j < contacts; j++)
        b[j] = bounces(&step->world->contacts, (int)j) ? fmax(answer->problem.b[j], 0)
                                                       : answer->problem.b[j];
    *out = answer->problem;
    out->v_free = middle;
    out->b = b;
    return CAIRN_OK;
}

/* What (2) and the certificate need of (1): its impulses, its mu, the floors. */
static cairn_status keep_compression(const cairn_step *step, cairn_answer *answer)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t d = (size_t)answer->problem.dimension, contacts = (size_t)answer->problem.contacts;
    double *mu = cairn_arena_doubles(scratch, contacts);
    answer->floor = cairn_arena_doubles(scratch, contacts);
    answer->compression = cairn_arena_doubles(scratch, contacts * d);
    if (!mu || !answer->floor || !answer->compression)
        return CAIRN_NO_MEMORY;
    for (size_t j = 0; j < contacts; j++)
        if (bounces(&step->world->contacts, (int)j))
            answer->floor[j] = step->world->contacts.restitution[j] * fmax(0, answer->r[j * d]);
    memcpy(mu, answer->problem.mu, contacts * sizeof(double));
    memcpy(answer->compression, answer->r, contacts * d * sizeof(double));
    answer->shown = answer->problem;
    answer->shown.mu = mu; /* (2) finds its own */
    answer->shown_r = answer->compression;
    return CAIRN_OK;
}

/* A phase takes only some of the iterations of a step. */
static cairn_status solve_limited(const cairn_step *step, const cairn_free_motion *motion,
                                  const phase *by, int64_t most, cairn_answer *answer)
{
    cairn_step_options fewer = *step->options;
    cairn_step other = *step;
    fewer.max_iterations = most;
    other.options = &fewer;
    return solve_phase(&other, motion, by, answer);
}

/* (1) */
static cairn_status compress(const cairn_step *step, const cairn_free_motion *motion, int64_t most,
                             cairn_answer *answer)
{
    const cairn_problem both = answer->problem;
    cairn_problem first;
    TRY(pose_compression(step, answer, &first));
    answer->problem = first;
    TRY(solve_limited(step, motion, &whole, most, answer));
    if (both.directions)
        cairn_judge_circular(&first, answer->r, answer->v, answer->u,
                             &step->report->solve.judgement);
    TRY(keep_compression(step, answer));
    answer->problem = both;
    return CAIRN_OK;
}

static cairn_status solve_impact(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer)
{
    int64_t all = step->options->max_iterations;
    TRY(compress(step, motion, all - all / 2, answer));
    answer->s_held = NULL; /* (2) is judged with s = 0 or the law's own */
    const cairn_solve_report first = step->report->solve;
    double change = step->report->certificate.friction_law;
    for (int j = 0; j < answer->problem.contacts; j++)
        answer->r[(size_t)j * (size_t)answer->problem.dimension] += answer->floor[j];
    TRY(solve_limited(step, motion, &decompression, all - first.iterations, answer));
    step->report->certificate.friction_law = fmax(change, step->report->certificate.friction_law);
    cairn_decompression_report(&first, &step->report->solve);
    return CAIRN_OK;
}

/* ---- after impacts within the step ---------------------------------------------------------- */

/* Whether they leave nothing to do: u + b n lies in K* without any impulse, by either law. */
static bool is_done(const cairn_problem *p, int dimension)
{
    bool done = true;
    for (int j = 0; j < p->contacts && done; j++) {
        double q[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(p, p->dimension, p->block_size, j, p->v_free, q);
        double slides = cairn_sliding_speed(dimension, 0, q);
        done = q[0] + p->b[j] >= p->mu[j] * slides;
    }
    return done;
}

/* The solve from what they leave; then their impulses count with those of the solve. Where they
 * leave nothing to do, residuals have nothing to be relative to: it starts from the answer. */
static cairn_status solve_rest(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer)
{
    size_t rows = (size_t)answer->problem.contacts * (size_t)answer->problem.dimension;
    double *r = cairn_arena_take(&step->world->scratch, rows, sizeof *r);
    if (!r)
        return CAIRN_NO_MEMORY;
    if (is_done(&answer->problem, step->world->dimension))
        memset(answer->r, 0, rows * sizeof *answer->r);
    TRY(solve_phase(step, motion, &whole, answer));
    if (answer->problem.directions)
        cairn_judge_circular(&answer->problem, answer->r, answer->v, answer->u,
                             &step->report->solve.judgement);
    memcpy(r, answer->r, rows * sizeof *r);
    for (size_t i = 0; i < rows; i++)
        answer->r[i] += answer->impacts.total[i];
    answer->compression = answer->impacts.total;
    answer->shown = answer->problem;
    answer->shown_r = r;
    return CAIRN_OK;
}

cairn_status cairn_step_impulses(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer)
{
    bool chain, impact;
    if (friction_varies(step)) {
        answer->mu = own_copy(&step->world->scratch, answer->problem.mu, answer->problem.contacts);
        answer->problem.mu = answer->mu;
        if (!answer->mu)
            return CAIRN_NO_MEMORY;
    }
    TRY(find_impacts(step, motion, answer, &impact));
    answer->rest.by_groups = step->options->sleep && !impact; /* two phases are for all together */
    TRY(cairn_step_chain(step, answer, &chain));
    if (chain)
        TRY(solve_rest(step, motion, answer));
    else
        TRY(impact ? solve_impact(step, motion, answer)
                   : solve_phase(step, motion, &whole, answer));
    return cairn_rest_settle(step, motion, answer);
}
