/* step.c - one time step: the method on one page.
 *
 *     M (v - v_free) = H'r,   K  ∋  r  ⟂  H v + w + (b + mu s) n  ∈  K*,   x += h v
 *
 * A step is a row of values, each made from the ones before: step.h. */
#include <stddef.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "base/status.h"
#include "world/step.h"

enum { MOST_ATTEMPTS = 20 };

/* All values of a step. Only this file sees them together. */
typedef struct values {
    cairn_free_motion motion;    /* v_free = v + h M^-1 F; where contacts are evaluated        */
    cairn_candidates candidates; /* contacts within reach                                      */
    cairn_mechanism joints;      /* rows of joints                                             */
    cairn_posed posed;           /* the one-step problem                                       */
    cairn_answer answer;         /* impulses and velocities                                    */
    cairn_mending mending;       /* a displacement without velocity: overlaps apart            */
    cairn_arrival arrival;       /* x + h v, and that                                          */
} values;

/* Seconds since the last call, for the report. */
static double lap(double *last)
{
    double now = cairn_clock_seconds(), passed = now - *last;
    *last = now;
    return passed;
}

/* Attempt after attempt somebody went further: say which step would do. */
static cairn_status refuse_step(const cairn_step *step, const cairn_moves *moves)
{
    int body;
    double needed = cairn_step_needed(step, moves, &body);
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "bodies move too far in one step of %g s (first of all body %lld), expected "
                      "at most %.2g s",
                      step->h, cairn_row_uid(step->world, body), needed);
}

/* Each attempt is a solve of its own, and may take all the iterations of one: contacts found late
 * must be solved as well. The report tells the most. */
static cairn_status note_solve(const cairn_step *step, int64_t before, cairn_status status)
{
    cairn_solve_report *report = &step->report->solve;
    if (status == CAIRN_NOT_FINITE)
        return cairn_fail(&step->world->error, status, NULL,
                          "the solver %s finds no finite impulses for the %d contacts of this step",
                          step->options->solver, step->world->contacts.count);
    TRY(status);
    report->iterations = report->iterations < before ? before : report->iterations;
    return CAIRN_OK;
}

/* Whether the velocities stand: all went as far as contacts were looked for, and these are as they
 * are where the step ends. Else what the next attempt starts from. */
static cairn_status look_back(const cairn_step *step, int *attempt, values *a, bool *done)
{
    const cairn_moves moves = { &a->motion, &a->joints, &a->answer, &a->mending };
    bool outran;
    TRY(cairn_step_outran(step, &moves, &a->candidates, &outran));
    *done = !outran && cairn_step_linearised(step, &a->answer, &a->motion);
    if (*done)
        return CAIRN_OK;
    if (outran && *attempt == MOST_ATTEMPTS)
        return refuse_step(step, &moves);
    *attempt = outran ? *attempt + 1 : 1;
    step->report->attempts += outran;
    return cairn_step_set_aside(step, &a->answer, &a->candidates);
}

/* Candidates, problem, impulses, what mends overlaps; again with more candidates when a body outran
 * its reach, and with contacts linearised where the step ends. Where new candidates stay open the
 * impulses stand, and the solver sees it at its first look. */
static cairn_status find_velocities(const cairn_step *step, values *a)
{
    cairn_step_report *report = step->report;
    double clock = cairn_clock_seconds();
    bool done = false;
    report->attempts = 1;
    for (int attempt = 1; !done;) {
        int64_t before = report->solve.iterations;
        TRY(cairn_step_candidates(step, &a->motion, &a->candidates));
        report->timing.collide += lap(&clock);
        TRY(cairn_step_joints(step, &a->motion, &a->joints));
        TRY(cairn_step_pose(step, &a->motion, &a->candidates, &a->joints, &a->posed));
        TRY(cairn_step_first_guess(step, &a->candidates, &a->joints, &a->posed, &a->answer));
        report->timing.assemble += lap(&clock);
        TRY(note_solve(step, before, cairn_step_impulses(step, &a->motion, &a->answer)));
        TRY(cairn_step_mend(step, &a->answer, &a->mending));
        report->timing.solve += lap(&clock);
        TRY(look_back(step, &attempt, a, &done));
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
static cairn_status make_room(const cairn_step *step)
{
    cairn_body_store *bodies = &step->world->bodies;
    size_t due = cairn_inlets_due(step->world, step->world->time + step->h);
    TRY(cairn_shapes_reserve(&bodies->shapes, (size_t)bodies->shapes.count + due));
    return cairn_bodies_reserve(bodies, (size_t)bodies->count + due);
}

static cairn_status advance(const cairn_step *step, values *a)
{
    /* v_free = v + h M^-1 F; where driven bodies will be */
    TRY(cairn_step_free_motion(step, &a->motion));
    /* contacts within reach, the one-step problem, its impulses and velocities */
    TRY(find_velocities(step, a));
    /* how well the law holds, and where the energy went */
    double clock = cairn_clock_seconds();
    TRY(cairn_step_certify(step, &a->answer));
    /* x += h v, and overlaps apart: what is deepest then, and whether it went too far */
    TRY(cairn_step_arrive(step, &a->motion, &a->joints, &a->answer, &a->arrival));
    cairn_step_move_apart(step, &a->answer.balls, &a->mending, &a->arrival);
    TRY(cairn_step_penetration(step, &a->motion, &a->candidates, &a->answer, &a->arrival));
    TRY(cairn_step_limit(step, &a->motion, a->candidates.plain, &a->answer, &a->arrival));
    TRY(make_room(step));
    /* the new state */
    cairn_step_store_contacts(step, &a->answer);
    cairn_step_store_joints(step, &a->joints, &a->answer, &a->mending);
    cairn_step_commit(step, &a->motion, &a->answer, &a->arrival);
    cairn_step_commit_joints(step, &a->joints, &a->answer);
    /* what comes in through inlets */
    pour(step->world, step->report);
    step->report->timing.finish = lap(&clock);
    return CAIRN_OK;
}

/* The contacts of the last step become the warm start of this one, and come back on failure. */
static void swap_contacts(cairn_world *world)
{
    double step = world->contacts_step;
    cairn_contact_store held = world->contacts;
    world->contacts_step = world->last_step;
    world->contacts = world->last;
    world->last_step = step;
    world->last = held;
}

/* What the step was made of stays in the scratch, for whoever asks until the next one. */
static void keep_inputs(const cairn_step *step, int bodies, const values *a)
{
    cairn_world *world = step->world;
    const cairn_free_motion *motion = &a->motion;
    const cairn_answer *answer = &a->answer;
    const cairn_impacts *impacts = &answer->impacts;
    world->problem = answer->shown_r ? answer->shown : answer->problem;
    world->problem_r = answer->shown_r ? answer->shown_r : answer->r;
    world->inputs = (cairn_step_inputs){ .count = bodies,
                                         .force = motion->force,
                                         .torque = motion->torque,
                                         .x = motion->x_eval,
                                         .q = motion->q_eval,
                                         .v = step->linearisations ? motion->v_eval : NULL,
                                         .omega = step->linearisations ? motion->omega_eval : NULL,
                                         .bias = answer->problem.b,
                                         .exact = answer->exact,
                                         .compression = answer->floor ? answer->compression : NULL,
                                         .correction = a->mending.correction,
                                         .impacts = impacts->count,
                                         .impact_round = impacts->round,
                                         .impact_contact = impacts->contact,
                                         .impact_time = impacts->time,
                                         .impact_impulse = impacts->impulse };
}

/* A failure that nobody has explained is told by its status. */
static cairn_status explain(cairn_world *world, cairn_status status)
{
    if (status != CAIRN_OK && !world->error.message[0])
        cairn_fail(&world->error, status, NULL, "%s", cairn_status_text(status));
    return status;
}

cairn_status cairn_world_step(cairn_world *world, const cairn_step_options *options,
                              cairn_step_report *report)
{
    cairn_step_report unread;
    report = report ? report : &unread;
    *report = (cairn_step_report){ 0 };
    world->error = (cairn_error){ 0 };
    TRY(cairn_world_step_check(world, options, &world->error));
    cairn_parallel_threads((int)options->threads);
    /* neighbours in space side by side in memory */
    TRY(explain(world, cairn_world_put_in_order(world)));
    swap_contacts(world);
    values a = { .candidates = cairn_candidates_none(world, options->time_step) };
    int bodies = world->bodies.count; /* inlets may add more */
    const cairn_step step = cairn_step_begin(world, options, report);
    cairn_status status = advance(&step, &a);
    if (status == CAIRN_OK) {
        world->contacts_sorted = true;
        world->contacts_step = step.h;
        keep_inputs(&step, bodies, &a);
        return CAIRN_OK;
    }
    swap_contacts(world);
    return explain(world, status);
}
