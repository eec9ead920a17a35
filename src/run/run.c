/* run.c - runs a scene to its end: step, add to the totals, ask the caller, store.
 *
 * The number of steps is duration/time_step rounded to the nearest whole number; a time step longer
 * than the run is refused. Substeps of a step that is divided are treated like steps, and the step
 * after them begins where it would have begun otherwise. Frames are stored at the start, whenever
 * the time passes the next multiple of frame_interval, and at the end, however the run ends. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/joint.h"
#include "cairn/run.h"
#include "file/file.h"
#include "math/vec.h"
#include "run/output.h"
#include "run/run_file.h"
#include "run/together.h"
#include "scene/stages.h"

/* A body that is thrown up stands still for a moment, so a run is at rest only after this many slow
 * steps. */
enum { REST_STEPS = 10 };

/* What a caller with a loop of its own must leave alone between steps, since the run file could not
 * tell: the clock, which bodies there are, and gravity. */
typedef struct untouched {
    double time;      /* s                    */
    int bodies;       /* how many there are   */
    uint64_t uid_sum; /* of their uids        */
    cairn_vec3 gravity;
} untouched;

/* The state of a run. `ending` is the name of the ending if the run stopped now. */
typedef struct cairn_running {
    cairn_scene *scene;
    cairn_progress_fn *progress;
    void *context;
    cairn_run_summary summary;
    cairn_error error;
    cairn_run_output output;
    cairn_team team;   /* the processes that compute it */
    int lock;          /* descriptor of the folder's lock; -1: none */
    bool write_failed; /* the folder cannot be written: do not try again at the end */
    const char *ending;
    /* s on the clock; after a resume earlier by the time of the previous parts */
    double began;
    double start;       /* s: time of the world at the start           */
    double next_frame;  /* the next frame is due at start + next_frame * interval */
    int64_t stored;     /* step of the last stored frame; -1: none */
    int64_t taken;      /* bodies that outlets took up to the last step */
    cairn_vec3 *places; /* m, by uid: positions at the start of the bodies that existed then */
    int place_count;
    int slow_steps;     /* consecutive steps in which nothing was faster than rest_speed */
    double checkpoints; /* number of those due so far */
    bool rests, ends;   /* it is over: nothing moves any more, or an event ended it */
    /* of a run that the caller steps */
    char *folder;        /* the caller's text, copied */
    cairn_status failed; /* of the step that failed; CAIRN_OK: none */
    untouched left;      /* as the last step left it */
} run;

/* ---- writing -------------------------------------------------------------------------------- */

/* Add the time that writing took, and remember that a failure came from writing. */
static cairn_status written(run *r, double since, cairn_status status)
{
    r->summary.write_seconds += cairn_clock_seconds() - since;
    r->write_failed |= status != CAIRN_OK;
    return status;
}

/* Collect the state of all processes, for what reads scene->world. */
static cairn_status look(run *r)
{
    cairn_status status = cairn_team_look(&r->team, r->scene);
    r->write_failed |= status != CAIRN_OK;         /* what would be written is not known */
    if (status == CAIRN_OK || r->error.message[0]) /* what went wrong first says more */
        return status;
    return cairn_fail(&r->error, status, NULL,
                      "the state cannot be collected from the other ranks: %s",
                      cairn_status_text(status));
}

/* Does nothing if the frame of this step is stored already: the last step may also be a frame. */
static cairn_status store_frame(run *r)
{
    double now = cairn_clock_seconds();
    if (r->stored == r->summary.steps)
        return CAIRN_OK;
    if (r->team.spread) {
        TRY(written(r, now, cairn_team_frame(&r->team, &r->output, r->summary.steps, &r->error)));
    } else {
        TRY(look(r));
        TRY(written(r, now, cairn_run_output_frame(&r->output, r->summary.steps, &r->error)));
    }
    r->stored = r->summary.steps;
    r->summary.frames = r->output.frames;
    return CAIRN_OK;
}

static cairn_status store_step(run *r, const cairn_step_report *report)
{
    double now = cairn_clock_seconds();
    bool full = r->output.folder && cairn_run_file_is_full(r->output.file);
    /* only a full certificate needs the state of every step */
    if (full && r->team.spread)
        TRY(written(r, now, cairn_team_detail(&r->team, &r->output, r->summary.steps, &r->error)));
    else if (full)
        TRY(look(r));
    now = cairn_clock_seconds();
    cairn_status status =
        cairn_run_output_step(&r->output, r->summary.steps, r->summary.time, report, &r->error);
    r->summary.problems = r->output.problems.written;
    r->summary.missed_problems = r->output.problems.missed;
    return written(r, now, status);
}

static int64_t count_taken(const run *r)
{
    int64_t count = 0;
    for (int k = 0; k < cairn_world_outlet_count(r->team.world); k++)
        count += cairn_world_outlet(r->team.world, k).left;
    return count;
}

/* Whether an event has done this after the last step. */
static bool has_done(const run *r, cairn_action action)
{
    bool done = false;
    for (int k = 0; k < r->scene->event_count; k++)
        done = done || (r->scene->events[k].action == action &&
                        r->scene->events[k].step == r->summary.steps);
    return done;
}

/* The last step is a frame, unless its bodies are not all there any more: an event has opened a
 * gate after it, or outlets have taken bodies before a step that then failed. */
static cairn_status store_last_frame(run *r)
{
    bool all = count_taken(r) == r->taken && !has_done(r, CAIRN_ACTION_OPEN);
    return all ? store_frame(r) : CAIRN_OK;
}

/* Whether the time has passed the next multiple of the frame interval. The slack, a share of the
 * step, absorbs rounding in the time. If a step is longer than the interval, the multiples in
 * between are skipped. An interval of 0 means every step. */
static bool frame_is_due(run *r)
{
    double interval = r->scene->run.frame_interval, slack = 1e-6 * r->scene->step.time_step;
    double elapsed = r->summary.time - r->start + slack;
    if (interval > 0 && elapsed < r->next_frame * interval)
        return false;
    r->next_frame = interval > 0 ? floor(elapsed / interval) + 1 : 0;
    return true;
}

/* Store a checkpoint of the state after this step. The files that it refers to are flushed first;
 * only then is their extent known and safe. marks.places is lent. */
static cairn_status store_checkpoint(run *r)
{
    double now = cairn_clock_seconds();
    if (!r->output.folder)
        return CAIRN_OK;
    if (!r->team.spread)
        TRY(look(r));
    cairn_run_marks marks = { .summary = r->summary,
                              .start = r->start,
                              .next_frame = r->next_frame,
                              .stored = r->stored,
                              .slow_steps = r->slow_steps,
                              .places = r->places,
                              .place_count =
                                  r->team.spread ? (int)r->team.window.uids : r->place_count,
                              .team = &r->team };
    marks.summary.wall_seconds = now - r->began;
    marks.summary.interrupted = false;
    cairn_status status = cairn_run_output_flush(&r->output, &r->error);
    marks.extent = cairn_run_file_tell(r->output.file);
    if (status == CAIRN_OK)
        status = cairn_checkpoint_write(r->output.folder, r->scene, &marks, &r->output, &r->error);
    return written(r, now, status);
}

/* Number of checkpoints due up to now. It follows from the time alone, so that a resumed run writes
 * them at the same steps. */
static double count_checkpoints(const run *r)
{
    double every = r->scene->run.checkpoint_every, slack = 1e-6 * r->scene->step.time_step;
    return every > 0 ? floor((r->summary.time - r->start + slack) / every) : 0;
}

/* An interrupted run always gets a checkpoint, whatever the interval. */
static cairn_status keep_up(run *r)
{
    double due = count_checkpoints(r);
    if (due <= r->checkpoints && !r->summary.interrupted)
        return CAIRN_OK;
    r->checkpoints = due;
    return store_checkpoint(r);
}

/* ---- stepping ------------------------------------------------------------------------------- */

/* duration/time_step rounded; at least 1. */
static int64_t count_steps(const cairn_scene *scene)
{
    return (int64_t)fmax(1, round(scene->run.duration / scene->step.time_step));
}

/* Joints that exist and are not broken. */
static int64_t count_joints(const cairn_world *world)
{
    int64_t count = 0;
    for (int i = 0; i < cairn_world_joint_count(world); i++) {
        cairn_joint_state s = cairn_world_joint(world, i);
        count += s.alive && !s.broken;
    }
    return count;
}

static bool is_at_rest(run *r)
{
    double speed = r->scene->run.rest_speed;
    if (!(speed > 0))
        return false;
    r->slow_steps = cairn_team_is_slow(&r->team, speed) ? r->slow_steps + 1 : 0;
    return r->slow_steps >= REST_STEPS;
}

/* Steps that are done; a divided one counts when its last substep is. */
static int64_t count_done(const run *r)
{
    return r->summary.steps - r->summary.substeps + r->summary.divided;
}

static void count_substep(run *r, const cairn_step_report *report)
{
    cairn_run_summary *s = &r->summary;
    double number = r->scene->step.time_step / report->length; /* a power of 2 */
    if (!(number > 1))
        return;
    s->substeps++;
    s->divided += !cairn_world_in_step(r->team.world);
    s->finest = (int64_t)number > s->finest ? (int64_t)number : s->finest;
}

/* Describe a step that failed: the reason from the world, with the names of bodies from the scene
 * in place of their uids, and which step it was. */
static cairn_status explain_step(run *r, cairn_status status)
{
    const cairn_error *found = cairn_world_error(r->team.world);
    const char *message = found && found->message[0] ? found->message : cairn_status_text(status);
    char reason[sizeof found->message];
    cairn_scene_name_bodies(r->scene, message, reason, sizeof reason);
    if (found)
        memcpy(r->error.key, found->key, sizeof r->error.key);
    return cairn_fail(&r->error, status, NULL, "step %" PRId64 " from t = %g s failed: %.400s",
                      r->summary.steps + 1, r->summary.time, reason);
}

static cairn_status step(run *r, cairn_step_report *report)
{
    cairn_status status = cairn_team_step(&r->team, r->scene, report);
    if (status != CAIRN_OK)
        return explain_step(r, status);
    cairn_run_summary_add(&r->summary, report);
    count_substep(r, report);
    r->summary.time = cairn_world_time(r->team.world);
    r->taken = count_taken(r);
    return CAIRN_OK;
}

/* The caller's callback decides whether the run continues; without one it does. */
static bool caller_goes_on(run *r, const cairn_step_report *report)
{
    if (!r->progress)
        return true;
    cairn_progress progress = { r->summary.steps,
                                r->summary.time,
                                r->scene->run.duration,
                                cairn_world_body_count(r->team.world),
                                report,
                                r->summary.divided };
    return r->progress(&progress, r->context);
}

/* on_uncertified: stop. A step counts as not converged for one of two reasons: the solver missed
 * its tolerance, or the linearisations did not settle; the message names the right one. */
static cairn_status check_certified(run *r, const cairn_step_report *report)
{
    if (report->solve.converged || strcmp(r->scene->run.on_uncertified, "stop") != 0)
        return CAIRN_OK;
    r->ending = "stopped";
    bool solved = report->solve.judgement.asked.relative <= r->scene->step.tolerance;
    if (solved && report->linearisations > 1)
        return cairn_fail(
            &r->error, CAIRN_STOPPED, "run.on_uncertified",
            "step %" PRId64 " to t = %g s did not settle in %d linearisations: it ends "
            "%.2e m from the last",
            r->summary.steps, r->summary.time, report->linearisations, report->linearisation_error);
    return cairn_fail(&r->error, CAIRN_STOPPED, "run.on_uncertified",
                      "step %" PRId64 " to t = %g s missed its tolerance: relative residual %.2e, "
                      "expected %.2e",
                      r->summary.steps, r->summary.time, report->solve.judgement.asked.relative,
                      r->scene->step.tolerance);
}

/* Whether there is a step to take. */
static bool goes_on(const run *r)
{
    return count_done(r) < count_steps(r->scene) && !r->summary.interrupted && !r->rests &&
           !r->ends;
}

/* An interruption wins: a run that was stopped by the caller must not look finished. */
static const char *ending_of(const run *r)
{
    bool early = count_done(r) < count_steps(r->scene);
    return r->summary.interrupted ? "interrupted" : r->ends ? "event" : early ? "rest" : "complete";
}

/* One step, or one substep, with all that is written of it.
 *
 * The order matters. A step is stored before the caller is asked, so that an interrupted run keeps
 * it. The check of the tolerance comes after storing too, so that the step that stopped the run is
 * in the file. Events act after the output of the step, which is that of the bodies that took part
 * in it; so is the last frame. The checkpoint is last, since it includes all of these. */
static cairn_status take_step(run *r, cairn_step_report *report)
{
    TRY(step(r, report));
    TRY(store_step(r, report));
    if (frame_is_due(r))
        TRY(store_frame(r));
    r->summary.interrupted = !caller_goes_on(r, report);
    TRY(check_certified(r, report));
    r->rests = is_at_rest(r);
    TRY(cairn_run_events_examine(&r->team, r->scene, r->summary.steps));
    r->ends = has_done(r, CAIRN_ACTION_STOP_RUN);
    if (!goes_on(r) && !r->summary.interrupted)
        TRY(store_frame(r));
    TRY(cairn_run_events_act(&r->output, &r->team, r->scene, r->summary.steps, &r->error));
    return keep_up(r);
}

/* Step until the end of the duration, rest, the caller's stop, or a failure. */
static cairn_status advance(run *r)
{
    r->ending = "failed";
    while (goes_on(r)) {
        cairn_step_report report = { 0 };
        TRY(take_step(r, &report));
    }
    r->ending = ending_of(r);
    return CAIRN_OK;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

/* Lock the folder, and only then remove what an earlier run left for resuming: its checkpoint, and
 * the journal of a commit that was not completed; and its last state, from which scenes start. They
 * must never be combined with the files of this one. */
static cairn_status take_folder(run *r, const char *folder)
{
    char part[CAIRN_PATH_BYTES], state[CAIRN_PATH_BYTES];
    if (!folder)
        return CAIRN_OK;
    TRY(cairn_folder_create(folder, &r->error));
    TRY(cairn_folder_lock(folder, &r->lock, &r->error));
    TRY(cairn_checkpoint_remove(folder, &r->error));
    TRY(cairn_path_join(folder, "state", state, &r->error));
    unlink(state);
    TRY(cairn_path_join(folder, "run.h5.part", part, &r->error));
    int reason = cairn_overlay_clear(part);
    if (!reason)
        return CAIRN_OK;
    cairn_error_set_file(&r->error, part);
    return cairn_fail(&r->error, CAIRN_IO_FAILED, NULL, "cannot remove its journal: %s",
                      strerror(reason));
}

/* The first checkpoint is written before the first step, so that a run that is killed early can be
 * resumed. */
static cairn_status begin(run *r, const char *folder)
{
    double now = cairn_clock_seconds();
    r->next_frame = 1;
    r->stored = -1;
    TRY(written(r, now, take_folder(r, folder)));
    TRY(written(r, now, cairn_run_output_create(folder, r->scene, &r->output, &r->error)));
    r->output.in_pieces = r->team.spread;
    TRY(store_frame(r));
    return r->scene->run.checkpoint_every > 0 ? store_checkpoint(r) : CAIRN_OK;
}

/* A packing that cannot be measured (CAIRN_UNSUPPORTED) is no failure; the summary says that there
 * is none. */
static cairn_status measure_packing(run *r)
{
    if (!r->scene->run.packing || (r->team.spread && r->write_failed))
        return CAIRN_OK;
    cairn_status status = cairn_team_packing(&r->team, r->scene, &r->summary.packing);
    r->summary.has_packing = status == CAIRN_OK;
    return status == CAIRN_UNSUPPORTED ? CAIRN_OK : status;
}

/* ---- what is left of a run ------------------------------------------------------------------ */

/* Write the file `state`, from which other scenes start. A world that cannot be saved, because
 * it has functions of the caller, has none. */
static cairn_status store_state(run *r)
{
    char path[CAIRN_PATH_BYTES];
    double now = cairn_clock_seconds();
    if (!r->output.folder)
        return CAIRN_OK;
    if (!r->scene->run.state)
        return CAIRN_OK;
    TRY(cairn_path_join(r->output.folder, "state", path, &r->error));
    const cairn_saver saver = cairn_team_saver(&r->team, r->scene);
    cairn_status status = cairn_state_save(r->scene, &saver, path, &r->error);
    return status == CAIRN_UNSUPPORTED ? CAIRN_OK : written(r, now, status);
}

/* Of a world that no rank has as a whole. */
static cairn_status store_picture(run *r)
{
    double now = cairn_clock_seconds();
    if (!r->output.folder || !r->scene->run.picture)
        return CAIRN_OK;
    return written(r, now, cairn_team_picture(&r->team, &r->output, &r->error));
}

/* Whether a run with this ending has nothing more to compute, and is not to be resumed. */
static bool is_over(const char *ending)
{
    return strcmp(ending, "complete") == 0 || strcmp(ending, "rest") == 0 ||
           strcmp(ending, "event") == 0;
}

/* How fast and how high the convex law throws bodies that slide. The gap of a step is h mu |u_T|,
 * so the speed is gap/h and the height speed^2/(2 |gravity|). The gap is a state of one step, not a
 * sum, so the largest speed of a step is that of the run. */
static void measure_lift(run *r)
{
    cairn_run_summary *s = &r->summary;
    cairn_vec3 g = cairn_world_gravity(r->scene->world);
    double gravity = cairn_norm(g);
    s->lift_height = gravity > 0 ? s->lift_speed * s->lift_speed / (2 * gravity) : 0;
}

/* What is measured of all bodies at the end. Ranks that have parts of them also store the last
 * frame, the state and the picture now, before they are dismissed. */
static cairn_status measure_end(run *r)
{
    cairn_status status = CAIRN_OK;
    if (r->team.spread) {
        if (!r->write_failed)
            status = cairn_team_measure(&r->team, &r->summary);
        r->write_failed |= status != CAIRN_OK;
        TRY(r->write_failed ? status : store_last_frame(r));
        TRY(r->write_failed ? status : store_state(r));
        return r->write_failed ? status : store_picture(r);
    }
    if (!r->write_failed)
        status = look(r);
    r->summary.bodies = cairn_world_body_count(r->scene->world);
    r->summary.hash = cairn_world_hash(r->scene->world);
    cairn_run_displacement(r->scene->world, r->places, r->place_count, &r->summary);
    return status;
}

/* Compute the totals, store the last frame, complete the files. `status` is how the run itself
 * ended. After a failure of the run, the files are completed as well, so that all steps before it
 * can be read; after a failure of writing they are left as they are. The first failure is the one
 * that is returned. The checkpoint goes only after run.h5 has its name. */
static cairn_status finish(run *r, cairn_status status)
{
    cairn_status seen = measure_end(r);
    cairn_status measured = measure_packing(r), last = CAIRN_OK;
    status = status != CAIRN_OK ? status : seen;
    r->summary.ranks = cairn_team_dismiss(&r->team, r->scene);
    r->summary.joints = count_joints(r->team.world);
    r->summary.inlets = cairn_run_inlets_of(r->team.world);
    cairn_run_summary_finish(&r->summary);
    measure_lift(r);
    if (!r->write_failed)
        last = store_last_frame(r);
    if (!r->write_failed && !r->team.spread)
        last = store_state(r);
    if (!r->write_failed) {
        double now = cairn_clock_seconds();
        cairn_run_ending ending = { measured == CAIRN_OK ? r->ending : "failed", r->error.message };
        r->summary.wall_seconds = now - r->began;
        last =
            written(r, now, cairn_run_output_commit(&r->output, &r->summary, &ending, &r->error));
        if (last == CAIRN_OK && is_over(ending.name) && r->output.folder)
            last = cairn_checkpoint_remove(r->output.folder, &r->error);
    }
    r->summary.wall_seconds = cairn_clock_seconds() - r->began;
    return status != CAIRN_OK ? status : measured != CAIRN_OK ? measured : last;
}

static cairn_status check_series(const cairn_scene *scene, cairn_error *error)
{
    for (int i = 0; i < scene->series_count; i++) {
        double interval = scene->series[i].interval;
        if (!(interval >= 0) || !isfinite(interval))
            return cairn_fail(error, isfinite(interval) ? CAIRN_BAD_INPUT : CAIRN_NOT_FINITE,
                              "series.interval", "found %g, expected a number >= 0 in s", interval);
    }
    return CAIRN_OK;
}

/* The scene may have been built in C, so all options are checked again before anything is
 * written. */
static cairn_status check(const cairn_scene *scene, cairn_error *error)
{
    if (!scene || !scene->world)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the scene has no world");
    TRY(cairn_step_options_check(&scene->step, cairn_world_dimension(scene->world), error));
    TRY(cairn_record_check(cairn_run_record(), &scene->run, error));
    TRY(cairn_run_check_steps(scene, error));
    TRY(check_series(scene, error));
    if (scene->run.statistics.count > 0)
        TRY(cairn_measure_options_check(&scene->measure, cairn_world_dimension(scene->world),
                                        error));
    const cairn_list *steps = &scene->run.save_problem;
    for (int i = 0; i < steps->count; i++)
        if (steps->values[i] != floor(steps->values[i]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "run.save_problem",
                              "found %g, expected the number of a step", steps->values[i]);
    return CAIRN_OK;
}

/* Check the scene and start its totals. What was changed before is part of the initial state. */
static cairn_status prepare(run *r)
{
    TRY(check(r->scene, &r->error));
    cairn_world_end_step(r->scene->world);
    TRY(cairn_team_begin(&r->team, r->scene, &r->error));
    cairn_world_forget_changes(r->scene->world);
    r->summary = cairn_run_summary_start(r->scene->world);
    if (r->scene->shared) { /* the world of the scene has not got all bodies yet */
        cairn_run_summary *s = &r->summary;
        s->energy.kinetic = r->scene->shared->kinetic;
        s->energy.potential = r->scene->shared->potential;
        s->initial_energy = s->energy.kinetic + s->energy.potential + s->energy.elastic;
    }
    r->start = r->summary.time;
    r->taken = count_taken(r);
    if (!r->team.spread)
        TRY(look(r));
    return r->team.spread ? cairn_team_remember(&r->team)
                          : cairn_run_remember(r->scene->world, &r->places, &r->place_count);
}

/* finish() runs even if begin() or advance() failed. */
static cairn_status run_scene(run *r, const char *folder)
{
    TRY(prepare(r));
    cairn_status status = begin(r, folder);
    if (status == CAIRN_OK)
        status = advance(r);
    return finish(r, status);
}

/* Free everything and hand summary and error to the caller. A failure without a message of its own,
 * such as CAIRN_NO_MEMORY, gets that of its status. */
static cairn_status conclude(run *r, cairn_status status, cairn_run_summary *summary,
                             cairn_error *error)
{
    cairn_team_destroy(&r->team);
    cairn_run_output_destroy(&r->output);
    cairn_folder_unlock(&r->lock);
    cairn_memory_free(r->places);
    if (status != CAIRN_OK && !r->error.message[0])
        cairn_fail(&r->error, status, NULL, "%s", cairn_status_text(status));
    if (summary)
        *summary = r->summary;
    if (error)
        *error = r->error;
    return status;
}

cairn_status cairn_run(cairn_scene *scene, const char *folder, cairn_progress_fn *progress,
                       void *context, cairn_run_summary *summary, cairn_error *error)
{
    run r = { .scene = scene, .progress = progress, .context = context, .ending = "failed" };
    r.lock = -1;
    r.began = cairn_clock_seconds();
    return conclude(&r, run_scene(&r, folder), summary, error);
}

/* ---- going on ------------------------------------------------------------------------------- */

/* Explain a folder without a checkpoint, and what can still be read of its run. */
static cairn_status explain_no_checkpoint(const char *folder, cairn_error *error)
{
    char part[CAIRN_PATH_BYTES];
    cairn_run_info info;
    cairn_error unused = { 0 };
    TRY(cairn_path_join(folder, "run.h5.part", part, error));
    if (!cairn_is_file(part))
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL,
                          "there is no checkpoint in this folder: run.checkpoint_every makes them");
    if (cairn_run_read_info(part, &info, &unused) != CAIRN_OK)
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL,
                          "this run was ended before its first checkpoint, and run.h5.part holds "
                          "nothing that can be read yet; run the scene again");
    return cairn_fail(error, CAIRN_NOT_FOUND, NULL,
                      "this run has no checkpoint yet (run.checkpoint_every makes them), so it "
                      "cannot be resumed; run.h5.part can be read up to t = %g s, %" PRId64
                      " frames: cairn info %.150s",
                      info.time, info.frames, part);
}

/* Explain why there is nothing to resume: no folder, a finished run, or no checkpoint. */
static cairn_status explain_missing(const char *folder, cairn_error *error)
{
    cairn_run_info info;
    cairn_error unused = { 0 };
    *error = (cairn_error){ 0 };
    bool there = cairn_run_read_info(folder, &info, &unused) == CAIRN_OK;
    cairn_error_set_file(error, folder);
    if (!cairn_is_folder(folder))
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL, "%s, expected the folder of a run",
                          cairn_is_file(folder) ? "found a file"
                          : errno == ENOENT     ? "there is no such folder"
                                                : strerror(errno));
    if (there && is_over(info.ending))
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL,
                          "this run is finished (%s, t = %g s): there is nothing to resume",
                          info.ending, info.time);
    return explain_no_checkpoint(folder, error);
}

/* Whether the run is in fact complete: it was killed after run.h5 got its name and before the
 * checkpoint was removed. */
static bool is_complete(const char *folder)
{
    char part[CAIRN_PATH_BYTES];
    cairn_run_info info;
    cairn_error unused = { 0 };
    if (cairn_path_join(folder, "run.h5.part", part, &unused) != CAIRN_OK || cairn_is_file(part))
        return false;
    return cairn_run_read_info(folder, &info, &unused) == CAIRN_OK && is_over(info.ending);
}

/* Restore the state of the run from its checkpoint. What was read belongs to r even on failure, so
 * that conclude() frees it. `began` is shifted so that wall times count all parts of the run. */
static cairn_status restore(run *r, const char *folder, cairn_link *ranks, cairn_run_extent *extent)
{
    cairn_run_marks marks = { .team = &(cairn_team){ .ranks = ranks, .whole = r->team.whole } };
    if (!cairn_is_folder(folder))
        return explain_missing(folder, &r->error);
    TRY(cairn_folder_lock(folder, &r->lock, &r->error));
    if (is_complete(folder)) {
        TRY(cairn_checkpoint_remove(folder, &r->error));
        return explain_missing(folder, &r->error);
    }
    cairn_status status = cairn_checkpoint_read(folder, &r->scene, &marks, &r->output, &r->error);
    r->places = marks.places;
    r->place_count = marks.place_count;
    *extent = marks.extent;
    if (status == CAIRN_NOT_FOUND)
        return explain_missing(folder, &r->error);
    TRY(status);
    r->summary = marks.summary;
    r->start = marks.start;
    r->next_frame = marks.next_frame;
    r->stored = marks.stored;
    r->slow_steps = (int)marks.slow_steps;
    r->began -= marks.summary.wall_seconds;
    r->checkpoints = count_checkpoints(r);
    return CAIRN_OK;
}

/* Open the run again. The numbers of threads and of processes may be changed, since results do not
 * depend on them. */
static cairn_status open_again(run *r, const char *folder, const cairn_resume_options *options)
{
    cairn_run_extent extent;
    TRY(restore(r, folder, options->link, &extent));
    if (options->threads > 0)
        r->scene->step.threads = options->threads;
    r->scene->link = options->link;
    TRY(check(r->scene, &r->error));
    TRY(cairn_team_begin(&r->team, r->scene, &r->error));
    r->output.in_pieces = r->team.spread;
    r->taken = count_taken(r);
    TRY(cairn_run_output_go_on(folder, r->scene, &extent, &r->output, &r->error));
    return cairn_team_shelf(&r->team, &r->output);
}

static cairn_status go_on(run *r, const char *folder, const cairn_resume_options *options)
{
    TRY(open_again(r, folder, options));
    return finish(r, advance(r));
}

cairn_status cairn_run_resume(const char *folder, const cairn_resume_options *options,
                              cairn_scene **scene, cairn_run_summary *summary, cairn_error *error)
{
    run r = { .progress = options->progress, .context = options->context, .ending = "failed" };
    r.lock = -1;
    r.began = cairn_clock_seconds();
    cairn_status status = go_on(&r, folder, options);
    *scene = r.scene;
    return conclude(&r, status, summary, error);
}

/* ---- a loop of the caller ------------------------------------------------------------------- */

static untouched look_at(const run *r)
{
    const cairn_bodies b = cairn_world_bodies(r->scene->world);
    untouched now = { .time = cairn_world_time(r->scene->world),
                      .bodies = b.count,
                      .gravity = cairn_world_gravity(r->scene->world) };
    for (int i = 0; i < b.count; i++)
        now.uid_sum += b.uid[i];
    return now;
}

static cairn_status check_untouched(const run *r, cairn_error *error)
{
    untouched now = look_at(r), left = r->left;
    bool same = cairn_norm(cairn_sub(now.gravity, left.gravity)) == 0;
    if (now.time != left.time)
        return cairn_fail(error, CAIRN_BAD_INPUT, "world",
                          "the world is at t = %g s, the run at t = %g s: only cairn_run_step may "
                          "step it",
                          now.time, left.time);
    if (now.bodies != left.bodies || now.uid_sum != left.uid_sum)
        return cairn_fail(error, CAIRN_BAD_INPUT, "world",
                          "bodies were created or removed between two steps of a run: only inlets, "
                          "outlets and events may do so");
    if (!same)
        return cairn_fail(error, CAIRN_BAD_INPUT, "gravity",
                          "gravity was set between two steps of a run: let it be a function of "
                          "time (cairn_world_vary)");
    return CAIRN_OK;
}

/* A run with a copy of the folder's name; NULL: no memory. */
static run *new_run(cairn_scene *scene, const char *folder)
{
    run *r = cairn_memory_zeroed(1, sizeof *r);
    size_t bytes = folder ? strlen(folder) + 1 : 0;
    if (!r)
        return NULL;
    *r = (run){ .scene = scene, .ending = "failed", .lock = -1, .began = cairn_clock_seconds() };
    r->team.whole = true;
    r->folder = folder ? cairn_memory_zeroed(bytes, 1) : NULL;
    if (folder && !r->folder) {
        cairn_memory_free(r);
        return NULL;
    }
    if (folder)
        memcpy(r->folder, folder, bytes);
    return r;
}

static cairn_status give_up(run *r, cairn_status status, cairn_error *error)
{
    status = conclude(r, status, NULL, error);
    cairn_memory_free(r->folder);
    cairn_memory_free(r);
    return status;
}

/* Hand a run out that has been opened, or free it if that failed. */
static cairn_status hand_over(run *r, cairn_status status, cairn_running **out, cairn_error *error)
{
    if (status != CAIRN_OK)
        return give_up(r, status, error);
    r->left = look_at(r);
    *out = r;
    return CAIRN_OK;
}

static cairn_status begin_own(run *r)
{
    TRY(prepare(r));
    cairn_status status = begin(r, r->folder);
    return status == CAIRN_OK ? CAIRN_OK : finish(r, status);
}

cairn_status cairn_run_begin(cairn_scene *scene, const char *folder, cairn_running **out,
                             cairn_error *error)
{
    *out = NULL;
    run *r = new_run(scene, folder);
    return r ? hand_over(r, begin_own(r), out, error) : CAIRN_NO_MEMORY;
}

cairn_status cairn_run_continue(const char *folder, cairn_link *link, cairn_scene **scene,
                                cairn_running **out, cairn_error *error)
{
    const cairn_resume_options options = { .link = link };
    *out = NULL;
    *scene = NULL;
    run *r = new_run(NULL, folder);
    if (!r)
        return CAIRN_NO_MEMORY;
    cairn_status status = open_again(r, r->folder, &options);
    *scene = r->scene;
    return hand_over(r, status, out, error);
}

bool cairn_run_goes_on(const cairn_running *running)
{
    return running && running->failed == CAIRN_OK && goes_on(running);
}

static cairn_status check_step(const run *r, cairn_error *error)
{
    if (!r)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "no run is under way: cairn_run_begin starts one");
    if (r->failed != CAIRN_OK)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "this run has failed and can only be ended: %.400s", r->error.message);
    if (!goes_on(r))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "this run is over (%s, t = %g s) and can only be ended", ending_of(r),
                          r->summary.time);
    return check_untouched(r, error);
}

/* One step with all its substeps, and one report for them. */
static cairn_status take_whole_step(run *r, cairn_step_report *report)
{
    TRY(take_step(r, report));
    while (cairn_world_in_step(r->team.world) && goes_on(r)) {
        const cairn_step_report before = *report;
        TRY(take_step(r, report));
        cairn_step_report_add(&before, report);
    }
    return CAIRN_OK;
}

/* A refused call changes nothing, not even the error that the run ends with. */
cairn_status cairn_run_step(cairn_running *r, cairn_step_report *report, cairn_error *error)
{
    cairn_step_report unread;
    cairn_error unused;
    error = error ? error : &unused;
    report = report ? report : &unread;
    *error = (cairn_error){ 0 };
    *report = (cairn_step_report){ 0 };
    TRY(check_step(r, error));
    r->failed = cairn_team_apply(&r->team, r->scene, &r->error);
    if (r->failed == CAIRN_UNSUPPORTED) { /* nothing was applied */
        r->failed = CAIRN_OK;
        *error = r->error;
        r->error = (cairn_error){ 0 };
        return CAIRN_UNSUPPORTED;
    }
    if (r->failed == CAIRN_OK)
        r->failed = take_whole_step(r, report);
    if (r->failed == CAIRN_OK)
        r->failed = look(r);
    r->left = look_at(r);
    *error = r->error;
    return r->failed;
}

/* A run that could go on gets a checkpoint. The failure of a step was reported when it happened. */
cairn_status cairn_run_end(cairn_running **running, cairn_run_summary *summary, cairn_error *error)
{
    cairn_error unused;
    run *r = *running;
    error = error ? error : &unused;
    *error = (cairn_error){ 0 };
    if (!r)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "no run is under way: cairn_run_begin starts one");
    *running = NULL;
    cairn_status status = r->failed;
    if (status == CAIRN_OK) {
        r->summary.interrupted = goes_on(r);
        status = r->summary.interrupted ? keep_up(r) : CAIRN_OK;
        r->ending = status == CAIRN_OK ? ending_of(r) : "failed";
    }
    status = finish(r, status);
    if (summary)
        *summary = r->summary;
    return give_up(r, status, error);
}
