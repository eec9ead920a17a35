/* certificate.c - what a step can prove about itself, in units a person understands.
 * With w = trace(W_jj)/d the contact's own inverse mass:
 *     open             o = u_N + b, for the convex law u_N + b - mu |u_T|
 *     gap error        h |min(o, w r_N)|, 0 when the contact is open or pushes, not both
 *     complementarity  r_N o
 *     friction         (r_T.u_T + |r_T||u_T|)/h, 0 when friction opposes sliding
 *     dilatation       h mu |u_T| where the convex law pushes: the gap it keeps while sliding
 *     spurious work    sum r_N mu |u_T|, see below
 * Rolling and spinning friction count beside sliding: mu |u_T| + mu_R |u_R| + mu_S |u_S|. r_N is
 * the normal impulse with what makes up for adhesion (surface.c), r_T and u_T are those of the
 * scaled tangents where friction is anisotropic: dot products and work are the same.
 * A contact that slides and pushes has u_N + b = mu |u_T| by the convex law and 0 by Coulomb's.
 * Its impulse has r.(u + b n) = 0: what friction takes when sliding begins, mu r_N |u_T|, comes
 * back as work r_N (u_N + b) in lifting the contact. While the speed stays the same that energy is
 * held: normal force r_N/h times the gap h mu |u_T|. Coulomb's law has none. With a sliding
 * correction s, |u_T| - s stands for |u_T|.
 * In an impact by Poisson's law r is the impulse of the decompression, and r_N in the second and
 * third line what it has above its least value. The penetration is found afterwards, by
 * penetration.c. */
#include <math.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/cone.h"
#include "problem/operator.h"
#include "world/sleep.h"

enum { GRAIN = 2048 }; /* contacts in one piece of parallel work */

static double tangent_norm(int d, const double *x)
{
    return d == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : fabs(x[1]);
}

static double tangent_dot(int d, const double *x, const double *y)
{
    return x[1] * y[1] + (d == 3 ? x[2] * y[2] : 0);
}

/* What the contact law of the end of the step speaks of: the impulse, without its compression. */
static inline const double *last_impulse(const cairn_answer *answer, int j, double *room)
{
    size_t d = (size_t)answer->problem.dimension, first = (size_t)j * d;
    for (size_t i = 0; answer->compression && i < d; i++)
        room[i] = answer->r[first + i] - answer->compression[first + i];
    return answer->compression ? room : answer->r + first;
}

/* What rolling and spinning add to the shift of the convex law, and how far their moments are from
 * opposing them. */
static double add_turning(const cairn_problem *p, int j, const double *r, const double *u,
                          double *against)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    int parts = cairn_cone_parts(p, j, part);
    double lift = 0;
    for (int k = 1; k < parts; k++) {
        double speed = cairn_cone_length(&part[k], u), dot = 0;
        for (int i = part[k].first; i < part[k].first + part[k].count; i++)
            dot += r[i] * u[i];
        *against = fmax(*against, dot + cairn_cone_length(&part[k], r) * speed);
        lift += part[k].mu * speed;
    }
    return lift;
}

/* What contacts are certified by. */
typedef struct certify_job {
    const cairn_step *step;
    const cairn_answer *answer;
} certify_job;

/* |u_T| - s */
static double uncorrected(const cairn_answer *answer, int dimension, int j, const double *u)
{
    double speed = cairn_sliding_speed(dimension, answer->problem.directions, u);
    return answer->s_held ? fmax(speed - answer->s_held[j], 0) : speed;
}

/* The gap error so far, or that of contact j where it is larger. A contact that pushes has at most
 * h |o|, so its weight w, for which two bodies must be fetched, hardly ever matters. */
static inline double largest_gap_error(const certify_job *job, int j, double open, double above,
                                       double so_far)
{
    const cairn_problem *p = &job->answer->problem;
    double h = job->step->h, error = h * (open < 0 ? -open : 0);
    if ((above > 0) & (h * open > so_far))
        error = h * cairn_smaller(open, cairn_contact_inverse_mass(p, j) * above);
    else if (above < 0)
        error = h * fabs(cairn_smaller(open, cairn_contact_inverse_mass(p, j) * above));
    return cairn_larger(so_far, error);
}

/* Candidates without impulse that stay open, most of them, add nothing: they are not told apart,
 * since arithmetic costs less than a branch that cannot be foreseen. */
static inline void certify_contact(const certify_job *job, int j, cairn_certificate *c)
{
    const cairn_step *step = job->step;
    const cairn_answer *answer = job->answer;
    const cairn_problem *p = &answer->problem;
    int d = step->world->dimension;
    const double *u = answer->u + (size_t)j * (size_t)p->dimension;
    double room[CAIRN_MAX_DIMENSION], h = step->h;
    const double *r = last_impulse(answer, j, room);
    double above = r[0] - (answer->floor ? answer->floor[j] : 0), speed = tangent_norm(d, u);
    double against = tangent_dot(d, r, u) + tangent_norm(d, r) * speed;
    double lift = p->rolling + p->spinning ? add_turning(p, j, r, u, &against) : 0;
    if (p->directions || answer->s_held)
        speed = uncorrected(answer, d, j, u);
    lift = step->scheme->law == CAIRN_LAW_CONVEX ? lift + p->mu[j] * speed : 0;
    double open = u[0] + p->b[j] - lift, pushing = above > 0 ? 1 : 0;
    c->gap_error = largest_gap_error(job, j, open, above, c->gap_error);
    c->complementarity = cairn_larger(c->complementarity, fabs(above * open));
    c->friction_direction = cairn_larger(c->friction_direction, against); /* not yet over h */
    c->dilatation = cairn_larger(c->dilatation, pushing * h * lift);
    c->spurious_work += pushing * r[0] * lift;
}

void cairn_judge_circular(const cairn_problem *p, const double *r, double *v, double *u,
                          cairn_judgement *judgement)
{
    cairn_problem circular = *p;
    cairn_judgement exact;
    circular.directions = 0;
    cairn_judge(&circular, CAIRN_LAW_COULOMB, r, v, u, &exact);
    judgement->coulomb = exact.coulomb;
}

/* What one range of contacts says. */
typedef struct finding {
    cairn_certificate certificate;
    cairn_energy energy;
    int active;
} finding;

static void certify_range(int begin, int end, void *context, void *value)
{
    const certify_job *job = context;
    const cairn_step *step = job->step;
    const cairn_answer *answer = job->answer;
    const cairn_problem *p = &answer->problem;
    cairn_certificate c = { 0 };
    finding *found = value;
    int active = 0;
    for (int j = begin; j < end; j++) {
        cairn_contact_fetch(p, p->block_size, j + CAIRN_AHEAD, p->mass_inverse);
        certify_contact(job, j, &c);
        active += answer->r[(size_t)j * (size_t)p->dimension] > 0;
    }
    c.friction_direction /= step->h;
    *found = (finding){ .certificate = c, .active = active };
    /* they are in the cache now */
    cairn_energy_add_contacts(step, answer, begin, end, &found->energy);
}

static void add_finding(void *result, const void *value)
{
    cairn_step_report *report = result;
    const finding *found = value;
    const cairn_certificate *part = &found->certificate;
    cairn_certificate *c = &report->certificate;
    c->gap_error = fmax(c->gap_error, part->gap_error);
    c->complementarity = fmax(c->complementarity, part->complementarity);
    c->friction_direction = fmax(c->friction_direction, part->friction_direction);
    c->dilatation = fmax(c->dilatation, part->dilatation);
    c->spurious_work += part->spurious_work;
    report->active += found->active;
    cairn_energy_add_up(&found->energy, 1, &report->energy);
}

static cairn_status certify_contacts(const cairn_step *step, const cairn_answer *answer)
{
    static const finding none = { 0 };
    certify_job job = { step, answer };
    const cairn_reduction all = { .count = step->world->contacts.count,
                                  .grain = GRAIN,
                                  .work = certify_range,
                                  .join = add_finding,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    return cairn_arena_reduce(&step->world->scratch, &all, step->report);
}

/* Whether all that was found about the contacts can be written as numbers. NaN, and an infinity of
 * either sign, stay in sums. */
static bool is_finite(const cairn_step_report *report)
{
    const cairn_certificate *c = &report->certificate;
    const cairn_energy *e = &report->energy;
    const cairn_residual *asked = &c->judgement.asked, *coulomb = &c->judgement.coulomb;
    return isfinite(asked->worst + asked->relative + coulomb->worst + coulomb->relative) &&
           isfinite(c->gap_error + c->complementarity + c->friction_direction + c->dilatation) &&
           isfinite(c->spurious_work + c->cone_violation) &&
           isfinite(e->impact_loss + e->friction_loss + e->driver_work);
}

/* Name the contact with the largest impulse, or the first that is none. */
static cairn_status refuse_impulse(const cairn_step *step, const cairn_answer *answer)
{
    size_t d = (size_t)answer->problem.dimension;
    const int32_t *body = step->world->contacts.body;
    double largest = -1;
    int worst = -1;
    for (int j = 0; j < step->world->contacts.count && !isnan(largest); j++) {
        double size = fabs(answer->r[(size_t)j * d]);
        if (size > largest || isnan(size)) {
            largest = size;
            worst = j;
        }
    }
    if (worst < 0)
        return CAIRN_NOT_FINITE;
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the impulses of this step are too large for numbers, first of all %g N s "
                      "between body %lld and body %lld",
                      largest, cairn_row_uid(step->world, body[2 * worst]),
                      cairn_row_uid(step->world, body[2 * worst + 1]));
}

cairn_status cairn_step_certify(const cairn_step *step, cairn_answer *answer)
{
    cairn_step_report *report = step->report;
    cairn_certificate *c = &report->certificate;
    c->judgement = report->solve.judgement;
    c->cone_violation = c->judgement.cone_violation;
    if (answer->problem.directions && !answer->compression) {
        cairn_judge_circular(&answer->problem, answer->r, answer->v, answer->u, &c->judgement);
        cairn_rest_hold_still(step, answer);
    }
    report->candidates = step->world->contacts.count;
    TRY(certify_contacts(step, answer));
    return is_finite(report) ? CAIRN_OK : refuse_impulse(step, answer);
}
