/* step.c - one time step: the method on one page.
 *
 *     M (v - v_free) = H'r,   K  ∋  r  ⟂  H v + w + (b + mu s) n  ∈  K*,   x += h v
 *
 * A step is a sequence of values, each computed from the earlier ones: see step.h. A step in which
 * bodies move too far is tried again with half its length, and so becomes substeps; substeps.c puts
 * them together. A step that fails leaves the bodies, joints and time of the world as they were:
 * the new state is written only after every stage that can fail has succeeded. */
#include <stddef.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "solve/solver.h"
#include "world/step.h"

enum { MOST_ATTEMPTS = 20 }; /* in a row, after which bodies count as too fast for the step */

/* All values of a step. Only this file sees them together. */
typedef struct values {
    cairn_free_motion motion;    /* v_free = v + h M^-1 F; where contacts are evaluated     */
    cairn_candidates candidates; /* contacts within reach                                   */
    cairn_mechanism joints;      /* rows of joints                                          */
    cairn_posed posed;           /* the one-step problem                                    */
    cairn_answer answer;         /* impulses and velocities                                 */
    cairn_mending mending;       /* penetration correction: a displacement without velocity */
    cairn_arrival arrival;       /* the poses x + h v, with that displacement               */
} values;

/* Wall-clock seconds since the last call, for the report. */
static double lap(double *last)
{
    double now = cairn_clock_seconds(), passed = now - *last;
    *last = now;
    return passed;
}

/* A body moved beyond its reach in every attempt, although each attempt enlarges it to 1.5 times
 * the motion of the last one. The message names a time step that would be short enough. */
static cairn_status refuse_step(const cairn_step *step, const cairn_moves *moves)
{
    int body;
    double needed =
        step->pile ? cairn_pile_needed(step, &body) : cairn_step_needed(step, moves, &body);
    step->world->exchange.long_here = true;
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "bodies move too far in one step of %g s (first of all body %lld), expected "
                      "at most %.2g s",
                      step->h, cairn_row_uid(step->world, body), needed);
}

/* Each attempt is a separate solve and may take up to max_iterations: contacts that were found late
 * must be solved as well. The report gives the largest number of iterations of any attempt, so that
 * it can be compared with max_iterations. */
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

/* Whether the velocities are final: every body stayed within its reach, and the linearised gaps
 * hold at the end of the step. If not, prepare the next attempt. Attempts count since the last
 * change of the linearisation, because each linearisation may find new contacts. */
static cairn_status look_back(const cairn_step *step, int *attempt, values *a, bool *done)
{
    const cairn_moves moves = { &a->motion, &a->joints, &a->answer, &a->mending };
    bool outran;
    TRY(step->pile ? cairn_pile_outran(step, &outran)
                   : cairn_step_outran(step, &moves, &a->candidates, &outran));
    *done = !outran && cairn_step_linearised(step, &a->answer, &a->motion);
    if (*done)
        return CAIRN_OK;
    if (outran && *attempt == MOST_ATTEMPTS)
        return refuse_step(step, &moves);
    *attempt = outran ? *attempt + 1 : 1;
    step->report->attempts += outran;
    return step->pile ? cairn_pile_set_aside(step, &a->candidates)
                      : cairn_step_set_aside(step, &a->answer, &a->candidates);
}

/* Candidates, problem, impulses and penetration correction. These are repeated with more candidates
 * if a body moved beyond its reach, and with contacts linearised at the end of the step if the
 * scheme requires it. If the new candidates stay open, the impulses of the last attempt are still
 * the solution, and the solver finds this out in its first check of the residual. */
static cairn_status attempt_step(const cairn_step *step, values *a)
{
    cairn_step_report *report = step->report;
    double clock = cairn_clock_seconds();
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
    return CAIRN_OK;
}

/* The same on a device. */
static cairn_status attempt_pile(const cairn_step *step, values *a)
{
    int64_t before = step->report->solve.iterations;
    return note_solve(step, before, cairn_pile_velocities(step, &a->candidates));
}

/* Repeated until nothing moves beyond its reach, and the linearisation holds. */
static cairn_status find_velocities(const cairn_step *step, values *a)
{
    bool done = false;
    step->report->attempts = 1;
    for (int attempt = 1; !done;) {
        TRY(step->pile ? attempt_pile(step, a) : attempt_step(step, a));
        TRY(look_back(step, &attempt, a, &done));
    }
    return CAIRN_OK;
}

/* Let inlets add bodies. The energy that they bring is an entry of the ledger, taken as a
 * difference of the whole energy. */
static void pour(cairn_world *world, cairn_step_report *report)
{
    cairn_energy *energy = &report->energy;
    const cairn_body_store *b = &world->bodies;
    int count = b->count;
    if (!report->resident) /* then the device has summed them */
        cairn_step_energy(world, &energy->kinetic, &energy->potential);
    double before = energy->kinetic + energy->potential;
    report->entered = cairn_inlets_pour(world);
    if (report->entered == 0)
        return;
    cairn_step_add_energy(world, report->entered, &energy->kinetic, &energy->potential);
    energy->entered = energy->kinetic + energy->potential - before;
    double mass = 0;
    for (int i = count; i < b->count; i++) /* new bodies have the last rows */
        mass += b->mass[i];
    energy->entered_mass = cairn_link_largest(world->exchange.link, mass); /* one member has them */
}

/* What left through outlets when this step began, or before one that failed. */
static void report_left(cairn_outlet_list *outlets, cairn_step_report *report)
{
    report->left = outlets->left;
    report->energy.left_mass = outlets->mass;
    report->energy.entered -= outlets->energy;
    outlets->left = 0;
    outlets->mass = outlets->energy = 0;
}

/* Work of putting bodies back into the cell when this step began, or before one that failed. It
 * belongs to the motion of the cell, as the work of images that touch does. */
static void report_put_back(cairn_periodic *periodic, cairn_step_report *report)
{
    report->energy.driver_work += periodic->work;
    periodic->work = 0;
}

/* Reserve memory for the bodies that inlets will add, so that nothing after this can fail. */
static cairn_status make_room(const cairn_step *step)
{
    cairn_body_store *bodies = &step->world->bodies;
    size_t due = cairn_inlets_due(step->world, step->world->time + step->h);
    TRY(cairn_shapes_reserve(&bodies->shapes, (size_t)bodies->shapes.count + due));
    TRY(cairn_exchange_reserve(&step->world->exchange, (size_t)bodies->count + due));
    return cairn_bodies_reserve(bodies, (size_t)bodies->count + due);
}

/* x += h v and the penetration correction; the deepest overlap at the end of the step, and whether
 * a body moved farther than linearised gaps are valid. */
static cairn_status arrive(const cairn_step *step, values *a)
{
    TRY(cairn_step_arrive(step, &a->motion, &a->joints, &a->answer, &a->arrival));
    TRY(cairn_step_move_apart(step, &a->answer.balls, &a->mending, &a->arrival));
    TRY(cairn_step_penetration(step, &a->motion, &a->candidates, &a->answer, &a->arrival));
    TRY(cairn_step_limit(step, &a->motion, a->candidates.plain, &a->answer, &a->arrival));
    return cairn_joints_limit(step, &a->answer, &a->arrival);
}

/* All stages that can fail. They change nothing in the world but its list of contacts, which
 * swap_contacts can restore, and the pairs kept for the broad phase. */
static cairn_status advance(const cairn_step *step, values *a)
{
    /* v_free = v + h M^-1 F; the poses of driven bodies at the end */
    if (!step->pile)
        TRY(cairn_step_free_motion(step, &a->motion));
    /* contacts within reach, the one-step problem, its impulses and velocities */
    TRY(find_velocities(step, a));
    /* how well the law holds, and where the energy went */
    double clock = cairn_clock_seconds();
    TRY(step->pile ? cairn_pile_certify(step, &a->candidates)
                   : cairn_step_certify(step, &a->answer));
    /* forces, torques and works that the options ask for */
    TRY(cairn_step_probe(step, &a->motion, &a->joints, &a->answer));
    TRY(cairn_step_feel(step, &a->answer, &a->motion));
    /* x += h v and the penetration correction; then the deepest overlap, and whether a body moved
     * farther than linearised gaps are valid */
    cairn_status status = step->pile ? cairn_pile_arrive(step, &a->candidates) : arrive(step, a);
    /* a member in which a body moves too far takes part in what follows, as the others do */
    if (!step->world->exchange.long_here)
        TRY(status);
    TRY(cairn_exchange_report(step->world, step->components, step->report));
    TRY(make_room(step));
    step->report->timing.finish = lap(&clock);
    return status;
}

/* Write the new state of the world. Nothing here can fail. */
static void commit(const cairn_step *step, values *a)
{
    double clock = cairn_clock_seconds();
    /* the new state */
    step->world->workspace->pile_is_last = step->pile != NULL;
    if (step->pile)
        cairn_pile_keep(step);
    else
        cairn_step_store_contacts(step, &a->answer);
    cairn_step_store_joints(step, &a->joints, &a->answer, &a->mending);
    cairn_step_commit(step, &a->motion, &a->answer, &a->arrival);
    cairn_lattice_advance(step->world, step->h);
    cairn_step_commit_joints(step, &a->answer);
    cairn_step_commit_cells(step, &a->motion);
    /* after the commit, because inlets look for places that are free at the end of the step */
    pour(step->world, step->report);
    report_left(&step->world->inlets.outlets, step->report);
    report_put_back(&step->world->periodic, step->report);
    cairn_applied_report(&step->world->loaded.applied, cairn_world_in_step(step->world),
                         step->report);
    step->report->length = step->h;
    step->report->substeps = 1;
    step->report->timing.finish += lap(&clock);
}

/* The contacts of the last step become the warm start of this one. Called again after a failure, it
 * restores them. */
static void swap_contacts(cairn_world *world)
{
    cairn_contact_store held = world->contacts;
    world->contacts = world->last;
    world->last = held;
}

/* The inputs of the step stay in the scratch until the next step: cairn_world_step_inputs shows
 * them, for example to a program that checks the step. */
static void keep_inputs(const cairn_step *step, int bodies, const values *a)
{
    cairn_world *world = step->world;
    const cairn_free_motion *motion = &a->motion;
    const cairn_answer *answer = &a->answer;
    const cairn_impacts *impacts = &answer->impacts;
    const cairn_applied *applied = &world->loaded.applied;
    world->problem = answer->shown_r ? answer->shown : answer->problem;
    world->problem_r = answer->shown_r ? answer->shown_r : answer->r;
    world->exchange.gathered = step->pile != NULL; /* inputs without a problem */
    if (step->pile) {
        world->inputs.count = bodies;
        world->inputs.changes = (int)applied->shown.count;
        world->inputs.change = applied->shown.items;
        return; /* the rest is the pile's */
    }
    if (world->exchange.link)
        world->problem.cut = NULL; /* a member that looks at it must not wait for others */
    world->inputs = (cairn_step_inputs){ .count = bodies,
                                         .force = motion->force,
                                         .torque = motion->torque,
                                         .damping = motion->damping,
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
                                         .impact_impulse = impacts->impulse,
                                         .changes = (int)applied->shown.count,
                                         .change = applied->shown.items };
}

/* If no stage has written an error message, use the text of the status. */
static cairn_status explain(cairn_world *world, cairn_status status)
{
    if (status != CAIRN_OK && !world->error.message[0])
        cairn_fail(&world->error, status, NULL, "%s", cairn_status_text(status));
    return status;
}

/* Numbers that are functions of time get their values for this step. When gravity changes, so does
 * the potential of bodies that have not moved yet: an entry of the ledger. */
static cairn_status vary(cairn_world *world, double h, cairn_energy *energy)
{
    bool gravity = cairn_world_varies(world, CAIRN_VARIED_GRAVITY_X) ||
                   cairn_world_varies(world, CAIRN_VARIED_GRAVITY_Y) ||
                   cairn_world_varies(world, CAIRN_VARIED_GRAVITY_Z);
    double kinetic, before = 0, after = 0;
    if (gravity)
        cairn_step_energy(world, &kinetic, &before);
    TRY(cairn_varied_set(world, h));
    if (gravity)
        cairn_step_energy(world, &kinetic, &after);
    energy->gravity_work = after - before;
    return CAIRN_OK;
}

/* The world becomes what it was. `again` is no failure: the step is tried once more, so no message
 * is written. */
static cairn_status take_back(cairn_world *world, const cairn_lattice_undo *undo,
                            cairn_status status)
{
    cairn_lattice_take_back(world, undo);
    cairn_varied_restore(world);
    return world->exchange.again ? status : explain(world, status);
}

/* One try at a step, or at a substep of one of length `whole`. Nothing is committed before all
 * members know that all of them can commit. */
static cairn_status try_step(cairn_world *world, const cairn_step_options *options, double whole,
                             cairn_step_report *report)
{
    *report = (cairn_step_report){ 0 };
    world->exchange.again = world->exchange.long_here = world->exchange.too_long = false;
    /* sort rows so that neighbours in space are neighbours in memory; move bodies to the member of
     * their part */
    const cairn_backend *pile = cairn_pile_backend(world, options);
    if (!pile)
        cairn_world_name_rows(world); /* the host needs what a device has */
    TRY(explain(world, cairn_exchange_agree(world, cairn_world_put_in_order(world, options))));
    TRY(explain(world,
                cairn_exchange_agree(world, vary(world, options->time_step, &report->energy))));
    /* bodies that left a periodic cell are put back into it */
    cairn_lattice_undo undo;
    cairn_status status = cairn_lattice_begin(world, options->time_step, &undo);
    if (status != CAIRN_OK)
        return take_back(world, &undo, status);
    swap_contacts(world);
    values a = { .candidates = cairn_candidates_none(world, options->time_step) };
    int bodies = world->bodies.count; /* inlets may add more */
    cairn_step step = cairn_step_begin(world, options, report);
    step.pile = pile;
    step.whole = whole;
    status = cairn_exchange_agree_length(world, advance(&step, &a));
    if (status == CAIRN_OK) {
        commit(&step, &a);
        world->contacts_sorted = true;
        world->contacts.step = step.h;
        keep_inputs(&step, bodies, &a);
        /* members talk to each other while bodies enter: without an answer the world is lost */
        return world->inlets.count > 0 ? cairn_exchange_agree(world, CAIRN_OK) : CAIRN_OK;
    }
    swap_contacts(world);
    return take_back(world, &undo, status);
}

/* Whether a step that failed is tried again: with ghosts from farther away, each time twice as far,
 * or with half the length, since bodies move too far in it. Both end. */
static bool tries_again(cairn_world *world, const cairn_step_options *options,
                        cairn_step_options *now)
{
    if (world->exchange.again)
        return true;
    /* functions of another process have told their means over the whole step only */
    double shortest = options->time_step / (double)options->max_substeps;
    if (!world->exchange.too_long || cairn_varied_told(world) || !(now->time_step >= 2 * shortest))
        return false;
    now->time_step *= 0.5;
    world->error = (cairn_error){ 0 };
    return true;
}

/* A step that is too long, and cannot be divided any further. Members whose bodies do not move too
 * far learn that another one has failed. */
static cairn_status give_up(cairn_world *world, double h, double whole)
{
    bool here = world->exchange.long_here;
    cairn_error *error = &world->error;
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    if (here && h < whole)
        cairn_fail(error, CAIRN_BAD_INPUT, "run.time_step",
                   "%.380s; this is 1/%.0f of the time step, the shortest substep that "
                   "run.max_substeps allows",
                   message, whole / h);
    return cairn_exchange_agree(world, here ? CAIRN_BAD_INPUT : CAIRN_OK);
}

/* The options are checked before anything changes. */
static cairn_status begin(cairn_world *world, const cairn_step_options *options)
{
    world->error = (cairn_error){ 0 };
    world->exchange.again = false;
    TRY(cairn_exchange_agree(world, cairn_world_step_check(world, options, &world->error)));
    cairn_parallel_threads((int)options->threads);
    /* bodies that the last step brought to an outlet leave; they do so even if this step fails */
    return explain(world, cairn_outlets_drain(world));
}

/* One substep, which is the whole step if that need not be divided. The substeps of a step are
 * equal, or become shorter on the way; the next step is tried whole again. */
static cairn_status substep(cairn_world *world, const cairn_step_options *options,
                            cairn_step_report *report)
{
    *report = (cairn_step_report){ 0 };
    TRY(begin(world, options));
    double whole = options->time_step;
    cairn_step_options now = *options;
    if (cairn_world_in_step(world) && world->clock.step == whole)
        now.time_step = world->clock.share * whole;
    cairn_status status;
    do
        status = try_step(world, &now, whole, report);
    while (status != CAIRN_OK && tries_again(world, options, &now));
    return world->exchange.too_long ? give_up(world, now.time_step, whole) : status;
}

cairn_status cairn_step_take(cairn_world *world, const cairn_step_options *options, bool to_end,
                             cairn_step_report *report)
{
    /* a caller who does not want a report passes NULL */
    cairn_step_report unread, before;
    report = report ? report : &unread;
    for (bool first = true; first || (to_end && cairn_world_in_step(world)); first = false) {
        if (!first)
            before = *report;
        TRY(substep(world, options, report));
        if (!first)
            cairn_step_report_add(&before, report);
    }
    return CAIRN_OK;
}
