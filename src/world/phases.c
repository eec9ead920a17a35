/* phases.c - the impulses of a problem by the scheme, with outer iterations for what a scheme does
 * not treat itself.
 *
 * Friction that depends on the sliding speed: mu is found together with the speed,
 *    (1) mu = mu(|u_T|) with the velocity before the step
 *    (2) solve with this mu
 *    (3) mu = mu(|u_T|) with the velocity found; done if the impulses still satisfy the law with
 *        the new mu, by the judge, else (2). With fixed_point_tolerance > 0 the change of mu is
 *        compared with that instead.
 * mu falls with the speed and the speed with mu, so for one contact the iterates are monotone and
 * converge for any time step. Where several mu are solutions (steps too long for a steep law) the
 * motion before the step decides: a contact that sticks continues to stick if it can.
 *
 * Poisson's law of impact, in a step in which something hits and a contact with that law is near:
 *    (1) compression: r_c from the velocities that the caller gives, hit contacts with b = 0
 *    (2) decompression: M (v+ - v_free) = H'(r_c + x), x_N >= e r_cN, solve/decompression.c
 * Contacts without Poisson's e take part in both phases with their own bias. */
#include "world/step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "solve/decompression.h"

enum { MOST_MISSED = 3 }; /* consecutive solves that miss their tolerance: more do not help */

/* ---- one phase ------------------------------------------------------------------------------ */

/* The job of one solve, on the arrays of the answer, whose impulses are the warm start. */
cairn_scheme_job cairn_solving_job(const cairn_solving *s, const cairn_answer *answer)
{
    return (cairn_scheme_job){ .problem = &answer->problem,
                               .options = s->options,
                               .loop = { s->fixed_point_tolerance, s->max_fixed_point, answer->s,
                                         answer->r, answer->v, answer->u },
                               .workspace = s->workspace,
                               .report = s->report };
}

/* What scheme auto needs in addition: the marks of contacts with exact friction, and s as data of
 * the law by which the step is judged. */
static cairn_status prepare_upgrade(const cairn_solving *s, cairn_answer *answer,
                                    cairn_scheme_job *job)
{
    job->allowed = s->allowed;
    job->exact = cairn_arena_take(s->scratch, (size_t)answer->problem.contacts, 1);
    job->upgraded = s->upgraded;
    answer->exact = job->exact;
    answer->s_held = answer->s;
    return job->exact ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* All contacts in one problem. s_held and exact are set only by a mixed scheme, so they are
 * reset. */
static cairn_status solve_whole(const cairn_solving *s, const void *context, cairn_answer *answer)
{
    cairn_scheme_job job = cairn_solving_job(s, answer);
    (void)context;
    answer->s_held = NULL;
    answer->exact = NULL;
    if (cairn_scheme_is_mixed(s->scheme))
        TRY(prepare_upgrade(s, answer, &job));
    return s->scheme->solve(&job);
}

static void judge_whole(const cairn_solving *s, cairn_answer *answer, cairn_judgement *out)
{
    cairn_judge(&answer->problem, s->scheme->law, answer->r, answer->v, answer->u, out);
}

const cairn_phase cairn_phase_whole = { solve_whole, judge_whole, NULL };

/* ---- friction laws -------------------------------------------------------------------------- */

/* A report that did not converge says how much mu still changed. */
static void remark_friction(cairn_solve_report *report, int64_t updates, double change)
{
    snprintf(report->remark, sizeof report->remark,
             "friction law: mu changed by %.1e in update %lld, the last one", change,
             (long long)updates);
}

/* (2) with half the tolerance, so that (3) can end although its mu differs slightly. */
static cairn_status solve_closer(const cairn_solving *s, const cairn_phase *by,
                                 cairn_answer *answer)
{
    cairn_solving closer = *s;
    closer.options.tolerance = 0.5 * s->options.tolerance;
    return by->solve(&closer, by->context, answer);
}

/* The report gives the largest number of iterations of any of the solves, because each solves a
 * different problem, but the sum of the outer iterations. */
cairn_status cairn_phase_with_law(const cairn_solving *s, const cairn_phase *by,
                                  cairn_answer *answer)
{
    const cairn_speed_friction *friction = s->friction;
    cairn_solve_report *report = s->report;
    double stop = s->fixed_point_tolerance, change = 0;
    int64_t iterations = 0, outer = 0, updates = 0;
    int missed = 0;
    bool done = false;
    friction->start(friction->context, answer);
    while (!done && updates < s->max_fixed_point && missed < MOST_MISSED) {
        TRY(solve_closer(s, by, answer));
        missed = report->converged ? 0 : missed + 1;
        change = friction->update(friction->context, answer);
        by->judge(s, answer, &report->judgement);
        done = stop > 0 ? change <= stop && report->converged
                        : report->judgement.asked.relative <= s->options.tolerance;
        if (report->iterations > iterations)
            iterations = report->iterations; /* each solve is a problem of its own */
        outer += report->outer_iterations;
        updates++;
    }
    report->converged = done;
    report->iterations = iterations;
    report->outer_iterations = outer;
    *friction->change = change;
    if (!done)
        remark_friction(report, updates, change);
    return CAIRN_OK;
}

/* ---- Poisson's law -------------------------------------------------------------------------- */

/* Whether a contact hits: it closes faster than forces accelerate it within a step. A slower one
 * counts as resting contact, which must not bounce. */
bool cairn_impact_hits(double before, double free, double closing, double gap, double h)
{
    return before < -fabs(free - before) && gap + h * closing <= 0;
}

/* The second phase as a problem, with r_c and the lower bounds e r_cN of its normal impulses. */
static cairn_decompression decompression_of(const cairn_solving *s, const cairn_answer *answer)
{
    return (cairn_decompression){ &answer->problem, answer->compression, answer->floor,
                                  s->scratch };
}

/* It has a method of its own, whatever solver the options name; law and tolerance are theirs. */
static cairn_status solve_decompression(const cairn_solving *s, const void *context,
                                        cairn_answer *answer)
{
    const cairn_decompression d = decompression_of(s, answer);
    cairn_solve_options options = cairn_solve_options_default();
    (void)context;
    options.law = s->scheme->law;
    options.tolerance = s->options.tolerance;
    options.max_iterations = s->options.max_iterations;
    return cairn_decompression_solve(&d, &options, answer->r, answer->v, answer->u, s->report);
}

static void judge_decompression(const cairn_solving *s, cairn_answer *answer, cairn_judgement *out)
{
    const cairn_decompression d = decompression_of(s, answer);
    cairn_decompression_judge(&d, s->scheme->law, answer->r, answer->v, answer->u, out);
}

static const cairn_phase decompression = { solve_decompression, judge_decompression, NULL };

/* One phase, with a limited number of iterations and, where mu varies, the loop around it. */
static cairn_status solve_limited(const cairn_solving *s, const cairn_phase *by, int64_t most,
                                  cairn_answer *answer)
{
    cairn_solving fewer = *s;
    fewer.options.max_iterations = most;
    return s->friction ? cairn_phase_with_law(&fewer, by, answer)
                       : by->solve(&fewer, by->context, answer);
}

/* Keeps what (2) and the certificate need of (1): impulses, mu and lower bounds. `shown` makes the
 * problem of the compression visible to the user, since that of (2) has another form. */
static cairn_status keep_compression(const cairn_solving *s, const double *e, cairn_answer *answer)
{
    size_t d = (size_t)answer->problem.dimension, contacts = (size_t)answer->problem.contacts;
    double *mu = cairn_arena_doubles(s->scratch, contacts);
    answer->floor = cairn_arena_doubles(s->scratch, contacts);
    answer->compression = cairn_arena_doubles(s->scratch, contacts * d);
    if (!mu || !answer->floor || !answer->compression)
        return CAIRN_NO_MEMORY;
    for (size_t j = 0; j < contacts; j++)
        if (e[j] > 0)
            answer->floor[j] = e[j] * fmax(0, answer->r[j * d]);
    memcpy(mu, answer->problem.mu, contacts * sizeof(double));
    memcpy(answer->compression, answer->r, contacts * d * sizeof(double));
    answer->shown = answer->problem;
    answer->shown.mu = mu; /* (2) may change the other */
    answer->shown_r = answer->compression;
    return CAIRN_OK;
}

/* (1): a negative bias, which corrects an overlap, would be returned as a bounce. So b is at least
 * 0 at contacts that bounce, and overlaps are left to (2). */
static cairn_status compress(const cairn_solving *s, const cairn_problem *first, const double *e,
                             int64_t most, cairn_answer *answer)
{
    const cairn_problem both = answer->problem;
    double *b = cairn_arena_doubles(s->scratch, (size_t)both.contacts);
    if (!b)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < both.contacts; j++)
        b[j] = e[j] > 0 ? fmax(both.b[j], 0) : both.b[j];
    answer->problem = *first;
    answer->problem.b = b;
    TRY(solve_limited(s, &cairn_phase_whole, most, answer));
    if (both.directions && s->circular)
        cairn_judge_circular(&answer->problem, answer->r, answer->v, answer->u,
                             &s->report->judgement);
    TRY(keep_compression(s, e, answer));
    answer->problem = both;
    return CAIRN_OK;
}

/* Compression may use half of the iterations, decompression all that remain. The second phase
 * starts from r_c plus the lower bounds, which satisfies them. */
cairn_status cairn_impact_solve(const cairn_solving *s, const cairn_problem *first, const double *e,
                                cairn_answer *answer)
{
    size_t d = (size_t)first->dimension;
    int64_t all = s->options.max_iterations;
    TRY(compress(s, first, e, all - all / 2, answer));
    answer->s_held = NULL; /* (2) is judged with s = 0 or the law's own */
    const cairn_solve_report compressed = *s->report;
    double change = s->friction ? *s->friction->change : 0;
    for (int j = 0; j < answer->problem.contacts; j++)
        answer->r[(size_t)j * d] += answer->floor[j];
    TRY(solve_limited(s, &decompression, all - compressed.iterations, answer));
    if (s->friction)
        *s->friction->change = fmax(change, *s->friction->change);
    cairn_decompression_report(&compressed, s->report);
    return CAIRN_OK;
}
