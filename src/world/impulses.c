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
#include "world/scheme.h"
#include "world/sleep.h"

static const double CLOSER = 0.1; /* of the tolerance, for groups that should sleep on */
enum { MOST_MISSED = 3 }; /* solves in a row that miss their tolerance: more will not help */

/* One call that finds stage->r, and the judge of what it found. */
typedef struct phase {
    cairn_status (*solve)(cairn_stage *stage);
    void (*judge)(cairn_stage *stage, cairn_judgement *out);
} phase;

/* ---- friction laws -------------------------------------------------------------------------- */

static double friction_at(const cairn_stage *stage, int j, const double *u)
{
    const cairn_world *world = stage->world;
    const int32_t *body = world->contacts.body + 2 * j, *material = world->bodies.material;
    double speed = cairn_sliding_speed(world->dimension, 0, u);
    return cairn_material_friction(world, material[body[0]], material[body[1]], speed);
}

/* The same in all directions: step_options.c refuses friction_2 with a law of speed. */
static void set_friction(cairn_stage *stage, int j, double mu)
{
    cairn_contact_store *c = &stage->world->contacts;
    stage->mu[j] = c->mu[j] = c->mu_2[j] = mu;
}

/* (1) */
static void start_friction(cairn_stage *stage)
{
    const cairn_problem *p = &stage->problem;
    for (int j = 0; j < stage->world->contacts.count; j++) {
        double before[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(p, p->dimension, p->block_size, j, stage->v_old, before);
        set_friction(stage, j, friction_at(stage, j, before));
    }
}

/* (3); the largest change at a contact that pushes */
static double update_friction(cairn_stage *stage)
{
    double largest = 0;
    for (int j = 0; j < stage->world->contacts.count; j++) {
        size_t first = (size_t)j * (size_t)stage->problem.dimension;
        double mu = friction_at(stage, j, stage->u + first);
        if (stage->r[first] > 0)
            largest = fmax(largest, fabs(mu - stage->mu[j]));
        set_friction(stage, j, mu);
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
static cairn_status solve_closer(cairn_stage *stage, const phase *by)
{
    const cairn_step_options *asked = stage->options;
    cairn_step_options closer = *asked;
    closer.tolerance = 0.5 * asked->tolerance;
    stage->options = &closer;
    cairn_status status = by->solve(stage);
    stage->options = asked;
    return status;
}

static cairn_status solve_with_law(cairn_stage *stage, const phase *by)
{
    const cairn_step_options *options = stage->options;
    cairn_solve_report *report = &stage->report->solve;
    double stop = options->fixed_point_tolerance, change = 0;
    int64_t iterations = 0, outer = 0, updates = 0;
    int missed = 0;
    bool done = false;
    start_friction(stage);
    while (!done && updates < options->max_fixed_point && missed < MOST_MISSED) {
        TRY(solve_closer(stage, by));
        missed = report->converged ? 0 : missed + 1;
        change = update_friction(stage);
        by->judge(stage, &report->judgement);
        done = stop > 0 ? change <= stop && report->converged
                        : report->judgement.asked.relative <= options->tolerance;
        iterations = larger(iterations, report->iterations); /* each is a problem of its own */
        outer += report->outer_iterations;
        updates++;
    }
    report->converged = done;
    report->iterations = iterations;
    report->outer_iterations = outer;
    stage->report->certificate.friction_law = change;
    if (!done)
        remark_friction(report, updates, change);
    return CAIRN_OK;
}

static cairn_status solve_phase(cairn_stage *stage, const phase *by)
{
    bool varies = stage->world->friction_varies && !stage->scheme->frictionless;
    return varies ? solve_with_law(stage, by) : by->solve(stage);
}

/* ---- one phase ------------------------------------------------------------------------------ */

static const double SHALLOW = 2e-3; /* of a radius */

/* m/s: the speed mu |u_T| at which a convex contact may lift: neither the gap that it keeps, h
 * times that, nor the height to which it throws, its square over 2 |gravity|, exceeds the
 * tolerance. */
static double allowed_lift(const cairn_stage *stage)
{
    double height = stage->options->model_tolerance, g = cairn_norm(stage->world->gravity);
    return fmin(height / stage->h, sqrt(2 * g * height));
}

/* What scheme auto needs beside the others. */
static cairn_status prepare_upgrade(cairn_stage *stage, cairn_scheme_job *job)
{
    job->allowed = allowed_lift(stage);
    job->exact = cairn_arena_take(&stage->world->scratch, (size_t)stage->problem.contacts, 1);
    job->upgraded = &stage->report->upgraded;
    stage->exact = job->exact;
    stage->s_held = stage->s;
    return job->exact ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* m/s: the speed at which contacts sink into each other by SHALLOW of the smallest radius in a
 * step. A step of exact friction that stalls does not end above it. */
static double shallow_approach(const cairn_stage *stage)
{
    const cairn_body_store *b = &stage->world->bodies;
    double least = INFINITY;
    for (int i = 0; i < b->count; i++)
        if (stage->block[i] >= 0 && b->extent[i] > 0)
            least = fmin(least, b->extent[i]);
    return SHALLOW * least / stage->h;
}

static cairn_scheme_job job_of(const cairn_stage *stage)
{
    const cairn_step_options *options = stage->options;
    cairn_scheme_job job = { .problem = &stage->problem,
                             .options = cairn_solve_options_default(),
                             .loop = { options->fixed_point_tolerance, options->max_fixed_point,
                                       stage->s, stage->r, stage->v, stage->u },
                             .workspace = stage->world->workspace,
                             .report = &stage->report->solve };
    job.options.solver = options->solver;
    job.options.backend = options->backend;
    job.options.tolerance = options->tolerance;
    job.options.max_iterations = options->max_iterations;
    if (stage->scheme->law == CAIRN_LAW_COULOMB)
        job.options.approach = shallow_approach(stage);
    return job;
}

static cairn_status solve_all(cairn_stage *stage)
{
    cairn_scheme_job job = job_of(stage);
    stage->s_held = NULL;
    stage->exact = NULL;
    if (cairn_scheme_is_mixed(stage->scheme))
        TRY(prepare_upgrade(stage, &job));
    return cairn_scheme_solve(stage->scheme, &job);
}

/* ---- what is awake -------------------------------------------------------------------------- */

/* Numbers of some contacts out of those of all. */
static double *collect(cairn_stage *stage, const int32_t *contacts, int count, int width,
                       const double *from)
{
    size_t n = (size_t)width;
    double *to = cairn_arena_doubles(&stage->world->scratch, (size_t)count * n);
    for (size_t k = 0; to && k < (size_t)count; k++)
        memcpy(to + k * n, from + (size_t)contacts[k] * n, n * sizeof *to);
    return to;
}

/* Some contacts as a problem of their own. */
static cairn_status solve_some(cairn_stage *stage, const int32_t *contacts, int count,
                               double tolerance, cairn_solve_report *report)
{
    cairn_problem_part part;
    cairn_arena *scratch = &stage->world->scratch;
    cairn_scheme_job job = job_of(stage);
    int d = stage->problem.dimension;
    *report = (cairn_solve_report){ .converged = true, .solver = stage->options->solver };
    if (count == 0)
        return CAIRN_OK;
    TRY(cairn_problem_take_part(&stage->problem, contacts, count, scratch, &part));
    const cairn_problem *p = &part.problem;
    job.problem = p;
    job.options.tolerance = tolerance;
    job.report = report;
    cairn_sliding_loop *loop = &job.loop;
    loop->r = collect(stage, contacts, count, d, stage->r);
    loop->s = collect(stage, contacts, count, 1, stage->s);
    loop->u = cairn_arena_doubles(scratch, (size_t)count * (size_t)d);
    loop->v = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    if (!loop->r || !loop->s || !loop->u || !loop->v)
        return CAIRN_NO_MEMORY;
    TRY(cairn_scheme_solve(stage->scheme, &job));
    cairn_part_spread(contacts, count, d, loop->r, stage->r);
    cairn_part_spread(contacts, count, 1, loop->s, stage->s);
    return CAIRN_OK;
}

/* What sleeps keeps its impulses; drowsy groups are solved one by one, the others together. A sweep
 * over each group is one over all: iterations are those of the slowest. */
static cairn_status solve_groups(cairn_stage *stage)
{
    cairn_solve_report *report = &stage->report->solve, part;
    double tolerance = stage->options->tolerance;
    const int32_t *contacts;
    int count, next = 0;
    TRY(cairn_stage_find_groups(stage));
    if (stage->groups.sleepers == 0)
        return solve_all(stage);
    stage->s_held = NULL;
    stage->exact = NULL;
    TRY(solve_some(stage, stage->groups.list, stage->groups.awake, tolerance, report));
    while (cairn_stage_next_drowsy(stage, &next, &contacts, &count)) {
        TRY(solve_some(stage, contacts, count, CLOSER * tolerance, &part));
        report->iterations = larger(part.iterations, report->iterations);
        report->outer_iterations += part.outer_iterations;
        report->converged = report->converged && part.judgement.asked.relative <= tolerance;
    }
    cairn_judge(&stage->problem, stage->scheme->law, stage->r, stage->v, stage->u,
                &report->judgement);
    return CAIRN_OK;
}

static cairn_status solve_whole(cairn_stage *stage)
{
    return stage->by_groups ? solve_groups(stage) : solve_all(stage);
}

static void judge_whole(cairn_stage *stage, cairn_judgement *out)
{
    cairn_judge(&stage->problem, stage->scheme->law, stage->r, stage->v, stage->u, out);
}

static const phase whole = { solve_whole, judge_whole };

/* ---- Poisson's law -------------------------------------------------------------------------- */

static bool bounces(const cairn_stage *stage, int j)
{
    const cairn_contact_store *c = &stage->world->contacts;
    return c->poisson && c->poisson[j] && c->restitution[j] > 0;
}

/* The velocity before closes the gap in this step (of what can bounce, that or the free one: else
 * it would be stopped where it touches), and is more than what forces give in a step: slower than
 * that is rest. */
static bool hits(const cairn_stage *stage, int j)
{
    const cairn_problem *p = &stage->problem;
    int d = p->dimension, n = p->block_size;
    double before[CAIRN_MAX_DIMENSION], free[CAIRN_MAX_DIMENSION];
    double gap = stage->scheme->velocity_level ? 0 : cairn_stage_gap(stage, j);
    cairn_contact_relative(p, d, n, j, stage->v_old, before);
    cairn_contact_relative(p, d, n, j, p->v_free, free);
    double closing = bounces(stage, j) ? fmin(before[0], free[0]) : before[0];
    return before[0] < -fabs(free[0] - before[0]) && gap + stage->h * closing <= 0;
}

/* Whether something hits and some contact can give back. Of Poisson's contacts those that hit end
 * the step with u_N >= 0 instead of filling the gap that is left. */
static bool find_impacts(cairn_stage *stage)
{
    bool hit = false, can_bounce = false;
    int contacts = stage->world->contacts.count;
    for (int j = 0; stage->world->bouncing && !can_bounce && j < contacts; j++)
        can_bounce = bounces(stage, j);
    for (int j = 0; can_bounce && j < contacts; j++) {
        if (!hits(stage, j))
            continue;
        hit = true;
        if (bounces(stage, j))
            stage->b[j] = fmin(stage->b[j], 0);
    }
    return hit;
}

static cairn_decompression decompression_of(const cairn_stage *stage)
{
    return (cairn_decompression){ &stage->problem, stage->compression, stage->floor };
}

static cairn_status solve_decompression(cairn_stage *stage)
{
    const cairn_decompression d = decompression_of(stage);
    cairn_solve_options options = cairn_solve_options_default();
    options.law = stage->scheme->law;
    options.tolerance = stage->options->tolerance;
    options.max_iterations = stage->options->max_iterations;
    return cairn_decompression_solve(&d, &options, stage->r, stage->v, stage->u,
                                     &stage->report->solve);
}

static void judge_decompression(cairn_stage *stage, cairn_judgement *out)
{
    const cairn_decompression d = decompression_of(stage);
    cairn_decompression_judge(&d, stage->scheme->law, stage->r, stage->v, stage->u, out);
}

static const phase decompression = { solve_decompression, judge_decompression };

/* The problem of (1): velocities at mid-step; overlaps must not bounce and are left to (2). */
static cairn_status pose_compression(const cairn_stage *stage, cairn_problem *out)
{
    cairn_arena *scratch = &stage->world->scratch;
    size_t contacts = (size_t)stage->problem.contacts;
    size_t velocities = (size_t)stage->blocks * (size_t)stage->block_size;
    double *b = cairn_arena_doubles(scratch, contacts);
    double *middle = cairn_arena_take(scratch, velocities, sizeof *middle);
    if (!b || !middle)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < velocities; i++)
        middle[i] = 0.5 * (stage->v_old[i] + stage->v_problem[i]);
    for (size_t j = 0; j < contacts; j++)
        b[j] = bounces(stage, (int)j) ? fmax(stage->b[j], 0) : stage->b[j];
    *out = stage->problem;
    out->v_free = middle;
    out->b = b;
    return CAIRN_OK;
}

/* What (2) and the certificate need of (1): its impulses, its mu, the floors. */
static cairn_status keep_compression(cairn_stage *stage)
{
    cairn_arena *scratch = &stage->world->scratch;
    size_t d = (size_t)stage->problem.dimension, contacts = (size_t)stage->problem.contacts;
    double *mu = cairn_arena_doubles(scratch, contacts);
    stage->floor = cairn_arena_doubles(scratch, contacts);
    stage->compression = cairn_arena_doubles(scratch, contacts * d);
    if (!mu || !stage->floor || !stage->compression)
        return CAIRN_NO_MEMORY;
    for (size_t j = 0; j < contacts; j++)
        if (bounces(stage, (int)j))
            stage->floor[j] = stage->world->contacts.restitution[j] * fmax(0, stage->r[j * d]);
    memcpy(mu, stage->mu, contacts * sizeof(double));
    memcpy(stage->compression, stage->r, contacts * d * sizeof(double));
    stage->posed = stage->problem;
    stage->posed.mu = mu; /* (2) finds its own */
    stage->posed_r = stage->compression;
    return CAIRN_OK;
}

/* (1) */
static cairn_status compress(cairn_stage *stage)
{
    const cairn_problem step = stage->problem;
    cairn_problem first;
    TRY(pose_compression(stage, &first));
    stage->problem = first;
    TRY(solve_phase(stage, &whole));
    if (step.directions)
        cairn_stage_judge_circular(stage, &stage->report->solve.judgement);
    TRY(keep_compression(stage));
    stage->problem = step;
    return CAIRN_OK;
}

/* A phase that may take only some of the iterations of a step. */
static cairn_status limited(cairn_stage *stage, cairn_status (*solve)(cairn_stage *), int64_t most)
{
    const cairn_step_options *asked = stage->options;
    cairn_step_options fewer = *asked;
    fewer.max_iterations = most;
    stage->options = &fewer;
    cairn_status status = solve(stage);
    stage->options = asked;
    return status;
}

static cairn_status decompress(cairn_stage *stage)
{
    return solve_phase(stage, &decompression);
}

static cairn_status solve_impact(cairn_stage *stage)
{
    int64_t all = stage->options->max_iterations;
    TRY(limited(stage, compress, all - all / 2));
    stage->s_held = NULL; /* (2) is judged with s = 0 or the law's own */
    const cairn_solve_report first = stage->report->solve;
    double change = stage->report->certificate.friction_law;
    for (int j = 0; j < stage->problem.contacts; j++)
        stage->r[(size_t)j * (size_t)stage->problem.dimension] += stage->floor[j];
    TRY(limited(stage, decompress, all - first.iterations));
    stage->report->certificate.friction_law = fmax(change, stage->report->certificate.friction_law);
    cairn_decompression_report(&first, &stage->report->solve);
    return CAIRN_OK;
}

/* ---- after impacts within the step ---------------------------------------------------------- */

/* Whether they leave nothing to do: u + b n lies in K* without any impulse, by either law. */
static bool is_done(const cairn_stage *stage)
{
    const cairn_problem *p = &stage->problem;
    bool done = true;
    for (int j = 0; j < p->contacts && done; j++) {
        double q[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(p, p->dimension, p->block_size, j, p->v_free, q);
        double slides = cairn_sliding_speed(stage->world->dimension, 0, q);
        done = q[0] + p->b[j] >= p->mu[j] * slides;
    }
    return done;
}

/* The solve from what they leave; then their impulses count with those of the solve. Where they
 * leave nothing to do, residuals have nothing to be relative to: it starts from the answer. */
static cairn_status solve_rest(cairn_stage *stage)
{
    size_t rows = (size_t)stage->problem.contacts * (size_t)stage->problem.dimension;
    double *r = cairn_arena_take(&stage->world->scratch, rows, sizeof *r);
    if (!r)
        return CAIRN_NO_MEMORY;
    if (is_done(stage))
        memset(stage->r, 0, rows * sizeof *stage->r);
    TRY(solve_phase(stage, &whole));
    if (stage->problem.directions)
        cairn_stage_judge_circular(stage, &stage->report->solve.judgement);
    memcpy(r, stage->r, rows * sizeof *r);
    for (size_t i = 0; i < rows; i++)
        stage->r[i] += stage->impulses_before[i];
    stage->compression = stage->impulses_before;
    stage->posed = stage->problem;
    stage->posed_r = r;
    return CAIRN_OK;
}

cairn_status cairn_stage_impulses(cairn_stage *stage)
{
    bool chain;
    stage->compression = stage->floor = NULL;
    stage->posed_r = NULL;
    bool impact = find_impacts(stage);
    stage->by_groups = stage->options->sleep && !impact; /* two phases are for all together */
    TRY(cairn_stage_chain(stage, &chain));
    if (chain)
        TRY(solve_rest(stage));
    else
        TRY(impact ? solve_impact(stage) : solve_phase(stage, &whole));
    return cairn_stage_settle(stage);
}
