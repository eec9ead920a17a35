/* linearise.c - contacts linearised where the step ends ([ST96] 3.6).
 *
 * With gap, normal and rows of q^ = q + h v^ the problem asks for
 *     g(q^) + h n(q^).(v - v^) >= 0  ⟂  r_N >= 0.
 * v^ is the velocity before the step at first, then the v that was found, until v = v^: there the
 * gap itself is what is asked for, g(q + h v) >= 0 ⟂ r_N >= 0, with the normal and the friction
 * plane of the new position. This is a fixed point iteration; each turn finds candidates anew. */
#include <math.h>

#include "math/vec.h"
#include "world/step.h"

static const double FINEST = 1e-12; /* change of velocities that counts as rounding */

/* Bounds of |v - v^| and of |v| over the surface of a body. */
typedef struct comparison {
    double change, speed; /* m/s */
} comparison;

static void compare(const cairn_step *step, const cairn_free_motion *motion,
                    const cairn_answer *answer, int i, comparison *c)
{
    double extent = cairn_body_extent(step->world, i);
    cairn_vec3 v, omega;
    cairn_answer_velocity(step, answer, i, &v, &omega);
    double linear = cairn_norm(cairn_sub(v, motion->v_eval[i]));
    double angular = cairn_norm(cairn_sub(omega, motion->omega_eval[i]));
    c->change = fmax(c->change, linear + extent * angular);
    c->speed = fmax(c->speed, cairn_norm(motion->v_free[i]) + extent * cairn_norm(omega));
}

/* Whether v is v^ for all bodies with candidates, as far as the solver's tolerance can tell. */
static bool is_settled(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_answer *answer)
{
    const cairn_contact_store *c = &step->world->contacts;
    comparison most = { 0, 0 };
    for (int j = 0; j < 2 * c->count; j++)
        if (cairn_step_block(step, c->body[j]) >= 0)
            compare(step, motion, answer, c->body[j], &most);
    step->report->linearisation_error = step->h * most.change;
    return most.change <= fmax(step->options->tolerance, FINEST) * most.speed;
}

static void linearise_at_end(const cairn_step *step, const cairn_answer *answer,
                             cairn_free_motion *motion)
{
    for (int i = 0; i < step->world->bodies.count; i++) {
        if (cairn_step_block(step, i) < 0)
            continue;
        cairn_answer_velocity(step, answer, i, &motion->v_eval[i], &motion->omega_eval[i]);
        cairn_body_place(step, i, step->h, motion);
    }
}

bool cairn_step_linearised(const cairn_step *step, const cairn_answer *answer,
                           cairn_free_motion *motion)
{
    cairn_step_report *report = step->report;
    report->linearisations++;
    bool finite = isfinite(report->solve.judgement.asked.worst); /* if not, the step fails */
    if (!step->linearisations || !finite || is_settled(step, motion, answer))
        return true;
    if (report->linearisations >= step->linearisations) {
        /* one alone is the linearised scheme itself, [ST96] (29) */
        report->solve.converged = report->solve.converged && step->linearisations == 1;
        return true;
    }
    linearise_at_end(step, answer, motion);
    return false;
}
