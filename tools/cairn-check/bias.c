/* bias.c - the bias b of a contact, and impacts by Poisson's law.
 *
 * b = gamma g/h, of overlaps only where they are pushed apart; where Newton's restitution e acts
 * and the contact closes in this step, min(that, e u_N); contacts taken at mid-step:
 * e min(0, u_N). Where contacts are linearised at q + h v^, g is g - h n.v^. After impacts within
 * the step u_N and g are what these leave: chain.c; g may then be below 0 without any overlap, and
 * b is as low as that, but no lower than minus the speed at which the bodies leave already and that
 * of impacts which are not followed.
 *
 * An impact: some contact has Poisson's e > 0, and some contact is hit: its velocity before the
 * step, with that e also the free one, closes the gap in this step, and the former is more than
 * what forces change. Then
 * contacts with that e which are hit have b = min(b, 0), and the step has two phases: the
 * compression r_c from mid-step with max(b, 0) at contacts with that e, and what comes after it,
 * with at least e r_cN. */
#include <string.h>

#include "run.h"

double check_gap(const check_run *run, int j)
{
    double gap = run->contacts.gap[j] - run->by_contact.lag[j];
    return run->settings.linearisations > 0 ? gap - run->settings.h * run->by_contact.guess[j]
                                            : gap;
}

/* The velocity before, or as impacts within the step leave it, without forces. */
static double before_of(const check_run *run, int j)
{
    const check_derived *c = &run->by_contact;
    size_t first = (size_t)j * (size_t)run->settings.components;
    double gained = run->impacts.count > 0 ? c->struck[first] - c->free[first] : 0;
    return c->before[first] + gained;
}

/* What rounding of a way of this step is relative to, m. */
double check_way_size(const check_run *run, int j)
{
    return fabs(run->contacts.gap[j]) + run->settings.h * run->by_contact.size[j];
}

/* ---- impacts -------------------------------------------------------------------------------- */

static bool bounces(const check_run *run, int j)
{
    return check_is_poisson(run, j) && run->contacts.restitution[j] > 0;
}

typedef enum answer { NO, PERHAPS, YES } answer;

static answer is_negative(double x, double doubt)
{
    return x < -doubt ? YES : x > doubt ? NO : PERHAPS;
}

static answer is_hit(const check_run *run, int j)
{
    size_t first = (size_t)j * (size_t)run->settings.components;
    double before = before_of(run, j), forced = fabs(run->by_contact.free[first] - before);
    double gap = run->settings.scheme->middle ? 0 : check_gap(run, j);
    bool plain = run->settings.impact_rounds < 0 || !bounces(run, j);
    double fastest = plain ? before : fmin(before, run->by_contact.free[first]);
    double way = gap + run->settings.h * fastest;
    answer fast = is_negative(before + forced, CHECK_ROUNDING * run->by_contact.size[j]);
    answer closes = is_negative(way, CHECK_ROUNDING * check_way_size(run, j));
    return fast < closes ? fast : closes;
}

/* Whether the step has a compression; where rounding decides, the file does. */
static bool is_impact(const check_run *run)
{
    bool bouncy = false, stored = false;
    answer hit = NO;
    for (int j = 0; j < run->contacts.count; j++) {
        answer here = is_hit(run, j);
        bouncy = bouncy || bounces(run, j);
        hit = here > hit ? here : hit;
    }
    for (int k = 0; k < run->contacts.count * run->settings.dimension; k++)
        stored = stored || run->contacts.compression[k] != 0;
    return bouncy && (hit == YES || (hit == PERHAPS && stored));
}

/* Friction and bias of the compression (there are no components that turn); what comes after it,
 * and its least normal impulse. */
static void split(check_run *run, int j)
{
    int d = run->settings.dimension;
    size_t first = (size_t)j * (size_t)d;
    check_derived *c = &run->by_contact;
    bool older = run->settings.impact_rounds < 0;
    const double *u = c->compressed + first, *r = run->contacts.compression + first;
    double speed = d == 3 ? hypot(u[1], u[2]) : fabs(u[1]), b = run->contacts.bias[j];
    double doubt = CHECK_ROUNDING * c->size[j];
    bool bouncy = bounces(run, j);
    c->compression_mu[j] = c->mu[j];
    if (run->materials.vary && !run->settings.scheme->frictionless) {
        c->compression_mu[j] = check_friction(run, j, speed);
        double change =
            check_friction(run, j, fmax(0, speed - doubt)) - check_friction(run, j, speed + doubt);
        c->size[j] += c->weight[j] * fabs(r[0]) * change / CHECK_ROUNDING;
    }
    c->compression_bias[j] = bouncy ? fmax(b, 0) : b;
    c->least[j] = bouncy ? run->contacts.restitution[j] * fmax(0, r[0]) : 0;
    for (size_t i = first; i < first + (size_t)d; i++) {
        c->decompression[i] = c->r[i] - r[i - first];
        c->middle[i] = older ? c->before[i] : 0.5 * (c->before[i] + c->free[i]);
    }
}

void check_impact(check_run *run)
{
    run->impact = run->settings.components == run->settings.dimension && is_impact(run);
    for (int j = 0; j < run->contacts.count; j++) {
        const double *r = run->contacts.compression + (size_t)j * (size_t)run->settings.dimension;
        for (int i = 0; i < run->settings.dimension && !run->impact; i++)
            check_same(run->report, check_at(run, "contact", j, "compression"), r[i], 0, 0);
        if (run->impact)
            split(run, j);
    }
}

/* ---- the bias ------------------------------------------------------------------------------- */

/* m/s: gamma g/h, see above. */
static double apart_of(const check_run *run, int j, double gap)
{
    double rate = run->settings.gamma / run->settings.h, leaves = 0;
    double overlap = fmin(0, run->impacts.count > 0 ? run->contacts.gap[j] : gap);
    if (run->impacts.count > 0)
        leaves = fmax(0, run->by_contact.struck[(size_t)j * (size_t)run->settings.components]) +
                 check_faded(run, j);
    double apart = fmax(rate * (gap - overlap), -leaves);
    return run->settings.push ? apart + rate * overlap : apart;
}

/* Two values where rounding decides whether the contact closes, or is hit. */
static void expect(const check_run *run, int j, double out[2])
{
    double h = run->settings.h, before = before_of(run, j), gap = check_gap(run, j);
    double e = check_is_poisson(run, j) ? 0 : run->contacts.restitution[j];
    double apart = apart_of(run, j, gap), closed = fmin(apart, e * before);
    answer closes = is_negative(gap + h * before, CHECK_ROUNDING * check_way_size(run, j));
    bool comes = e > 0 && before < 0;
    out[0] = comes && closes != NO ? closed : apart;
    out[1] = comes && closes == YES ? closed : apart;
    if (run->settings.scheme->middle)
        out[0] = out[1] = e * fmin(0, before);
    answer hit = run->impact && bounces(run, j) ? is_hit(run, j) : NO;
    out[0] = hit != NO ? fmin(out[0], 0) : out[0];
    out[1] = hit == YES ? fmin(out[1], 0) : out[1];
}

void check_bias(check_run *run, int j)
{
    double stored = run->contacts.bias[j], expected[2];
    double size =
        run->by_contact.size[j] + run->settings.gamma * check_way_size(run, j) / run->settings.h;
    expect(run, j, expected);
    bool first = fabs(stored - expected[0]) < fabs(stored - expected[1]);
    check_same(run->report, check_at(run, "contact", j, "bias"), stored, expected[first ? 0 : 1],
               size);
}
