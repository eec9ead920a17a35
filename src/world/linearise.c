/* linearise.c - contacts linearised where the step ends ([ST96] 3.6).
 *
 * With gap, normal and rows of q^ = q + h v^ the problem asks for
 *     g(q^) + h n(q^).(v - v^) >= 0  ⟂  r_N >= 0.
 * v^ is the velocity before the step at first, then the v that was found, until v = v^: there the
 * gap itself is what is asked for, g(q + h v) >= 0 ⟂ r_N >= 0, with the normal and the friction
 * plane of the new position. This is a fixed point iteration; each turn finds candidates anew. */
#include <math.h>

#include "math/vec.h"
#include "world/scheme.h"

static const double FINEST = 1e-12; /* change of velocities that counts as rounding */

/* Bounds of |v - v^| and of |v| over the surface of a body. */
static void compare(const cairn_stage *stage, int i, double *change, double *speed)
{
    double extent = cairn_body_extent(stage->world, i);
    cairn_vec3 v, omega;
    cairn_stage_new_velocity(stage, i, &v, &omega);
    double linear = cairn_norm(cairn_sub(v, stage->v_eval[i]));
    double angular = cairn_norm(cairn_sub(omega, stage->omega_eval[i]));
    *change = fmax(*change, linear + extent * angular);
    *speed = fmax(*speed, cairn_norm(stage->v_free[i]) + extent * cairn_norm(omega));
}

/* Whether v is v^ for all bodies with candidates, as far as the solver's tolerance can tell. */
static bool is_settled(cairn_stage *stage)
{
    const cairn_contact_store *c = &stage->world->contacts;
    double change = 0, speed = 0;
    for (int j = 0; j < 2 * c->count; j++)
        if (stage->block[c->body[j]] >= 0)
            compare(stage, c->body[j], &change, &speed);
    stage->report->linearisation_error = stage->h * change;
    return change <= fmax(stage->options->tolerance, FINEST) * speed;
}

static void linearise_at_end(cairn_stage *stage)
{
    for (int i = 0; i < stage->world->bodies.count; i++) {
        if (stage->block[i] < 0)
            continue;
        cairn_stage_new_velocity(stage, i, &stage->v_eval[i], &stage->omega_eval[i]);
        cairn_stage_place(stage, i, stage->h);
    }
}

bool cairn_stage_linearised(cairn_stage *stage)
{
    cairn_step_report *report = stage->report;
    report->linearisations++;
    bool finite = isfinite(report->solve.judgement.asked.worst); /* if not, the step fails */
    if (!stage->linearisations || !finite || is_settled(stage))
        return true;
    if (report->linearisations >= stage->linearisations) {
        /* one alone is the linearised scheme itself, [ST96] (29) */
        report->solve.converged = report->solve.converged && stage->linearisations == 1;
        return true;
    }
    linearise_at_end(stage);
    return false;
}
