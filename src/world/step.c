/* step.c - one time step: the method on one page.
 *
 *     M (v - v_free) = H'r,   K  ∋  r  ⟂  H v + w + (b + mu s) n  ∈  K*,   x += h v
 *
 * The stages stand in the files named after them; what they pass on is cairn_stage in world.h. */
#include <stddef.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "base/status.h"
#include "world/scheme.h"

enum { MOST_ATTEMPTS = 20 };

/* Seconds since the last call, for the report. */
static double lap(double *last)
{
    double now = cairn_clock_seconds(), passed = now - *last;
    *last = now;
    return passed;
}

static void swap(cairn_contact_store *a, cairn_contact_store *b)
{
    cairn_contact_store held = *a;
    *a = *b;
    *b = held;
}

/* Attempt after attempt somebody went further: say which step would do. */
static cairn_status refuse_step(const cairn_stage *stage)
{
    int body;
    double needed = cairn_stage_needed_step(stage, &body);
    return cairn_fail(&stage->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "bodies move too far in one step of %g s (first of all body %d), expected at "
                      "most %.2g s",
                      stage->h, body, needed);
}

/* Each attempt is a solve of its own, and may take all the iterations of one: contacts found late
 * must be solved as well. The report tells the most. */
static cairn_status find_impulses(cairn_stage *stage)
{
    int64_t before = stage->report->solve.iterations;
    cairn_status status = cairn_stage_impulses(stage);
    if (status == CAIRN_NOT_FINITE)
        return cairn_fail(&stage->world->error, status, NULL,
                          "the solver %s finds no finite impulses for the %d contacts of this step",
                          stage->options->solver, stage->world->contacts.count);
    TRY(status);
    if (stage->report->solve.iterations < before)
        stage->report->solve.iterations = before;
    return CAIRN_OK;
}

/* Candidates, problem, impulses, what mends overlaps; again with more candidates when a body outran
 * its reach. Where the new candidates stay open the impulses stand, and the solver sees it at its
 * first look. */
static cairn_status find_velocities(cairn_stage *stage)
{
    cairn_step_report *report = stage->report;
    double clock = cairn_clock_seconds();
    bool outran;
    for (int attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
        TRY(cairn_stage_collide(stage));
        report->timing.collide += lap(&clock);
        TRY(cairn_stage_assemble(stage));
        report->timing.assemble += lap(&clock);
        TRY(find_impulses(stage));
        TRY(cairn_stage_correct(stage));
        report->timing.solve += lap(&clock);
        TRY(cairn_stage_outran(stage, &outran));
        if (!outran)
            return CAIRN_OK;
        if (attempt == MOST_ATTEMPTS)
            break;
        TRY(cairn_stage_set_aside(stage));
        report->attempts++;
    }
    return refuse_step(stage);
}

/* Velocities for contacts as they are where the step ends: linearise, solve, and again there. */
static cairn_status find_end(cairn_stage *stage)
{
    stage->report->attempts = 1;
    TRY(find_velocities(stage));
    while (!cairn_stage_linearised(stage)) {
        TRY(cairn_stage_set_aside(stage));
        TRY(find_velocities(stage));
    }
    return CAIRN_OK;
}

static void pour(cairn_world *world, cairn_step_report *report)
{
    cairn_energy *energy = &report->energy;
    cairn_world_energy(world, &energy->kinetic, &energy->potential);
    double before = energy->kinetic + energy->potential;
    report->entered = cairn_inlets_pour(world);
    if (report->entered == 0)
        return;
    cairn_world_energy(world, &energy->kinetic, &energy->potential);
    energy->entered = energy->kinetic + energy->potential - before;
}

/* Room for what the inlets owe: after this nothing in a step can fail. */
static cairn_status make_room(const cairn_stage *stage)
{
    cairn_body_store *bodies = &stage->world->bodies;
    size_t due = cairn_inlets_due(stage->world, stage->world->time + stage->h);
    return cairn_bodies_reserve(bodies, (size_t)bodies->count + due);
}

static cairn_status advance(cairn_stage *stage)
{
    /* v_free = v + h M^-1 F; where driven bodies will be */
    TRY(cairn_stage_free_motion(stage));
    /* contacts within reach, the one-step problem, its impulses and velocities */
    TRY(find_end(stage));
    /* how well the law holds, and where the energy went */
    double clock = cairn_clock_seconds();
    TRY(cairn_stage_certify(stage));
    TRY(cairn_stage_energy(stage));
    /* x += h v, and overlaps apart: what is deepest then, and whether it went too far */
    cairn_stage_move_apart(stage);
    TRY(cairn_stage_penetration(stage));
    TRY(cairn_stage_limit(stage));
    TRY(make_room(stage));
    /* the new state */
    cairn_stage_store_contacts(stage);
    cairn_stage_joints_store(stage);
    cairn_stage_commit(stage);
    cairn_stage_joints_commit(stage);
    /* what comes in through inlets */
    pour(stage->world, stage->report);
    stage->report->timing.finish = lap(&clock);
    return CAIRN_OK;
}

/* The contacts of the last step become the warm start of this one, and come back on failure. */
static void swap_contacts(cairn_world *world)
{
    double step = world->contacts_step;
    world->contacts_step = world->last_step;
    world->last_step = step;
    swap(&world->contacts, &world->last);
}

/* What the step was made of stays in the scratch, for whoever asks until the next one. */
static void keep_inputs(const cairn_stage *stage, int bodies)
{
    cairn_world *world = stage->world;
    world->problem = stage->posed_r ? stage->posed : stage->problem;
    world->problem_r = stage->posed_r ? stage->posed_r : stage->r;
    world->inputs = (cairn_step_inputs){ .count = bodies,
                                         .force = stage->force,
                                         .torque = stage->torque,
                                         .x = stage->x_eval,
                                         .q = stage->q_eval,
                                         .v = stage->linearisations ? stage->v_eval : NULL,
                                         .omega = stage->linearisations ? stage->omega_eval : NULL,
                                         .bias = stage->b,
                                         .exact = stage->exact,
                                         .compression = stage->floor ? stage->compression : NULL,
                                         .correction = stage->correction,
                                         .impacts = stage->impacts.count,
                                         .impact_round = stage->impacts.round,
                                         .impact_contact = stage->impacts.contact,
                                         .impact_time = stage->impacts.time,
                                         .impact_impulse = stage->impacts.impulse };
}

cairn_status cairn_world_step(cairn_world *world, const cairn_step_options *options,
                              cairn_step_report *report)
{
    cairn_step_report unread;
    report = report ? report : &unread;
    *report = (cairn_step_report){ 0 };
    world->error = (cairn_error){ 0 };
    TRY(cairn_world_step_check(world, options, &world->error));
    cairn_stage stage = { .world = world,
                          .options = options,
                          .h = options->time_step,
                          .scheme = cairn_scheme_find(options->scheme),
                          .overlaps = cairn_overlaps_find(options->overlaps),
                          .broad = cairn_broad_phase_find(options->broad_phase),
                          .block_size = world->dimension == 2 ? 3 : 6,
                          .report = report };
    stage.linearisations = cairn_scheme_linearisations(stage.scheme, options->linearisations);
    if (stage.linearisations) /* the gap where the step ends is what counts, whatever it was */
        stage.overlaps = CAIRN_OVERLAPS_PUSH;
    cairn_parallel_threads((int)options->threads);
    cairn_arena_reset(&world->scratch);
    world->problem_r = NULL;
    swap_contacts(world);
    world->contacts.count = 0;
    int bodies = world->bodies.count; /* inlets may add more */
    stage.warm = &world->last;
    stage.warm_ratio = world->last_step > 0 ? stage.h / world->last_step : 0;
    cairn_status status = advance(&stage);
    if (status == CAIRN_OK) {
        world->contacts_step = stage.h;
        keep_inputs(&stage, bodies);
        return CAIRN_OK;
    }
    swap_contacts(world);
    if (!world->error.message[0])
        cairn_fail(&world->error, status, NULL, "%s", cairn_status_text(status));
    return status;
}
