/* run.c - runs a scene to its end: step, count, ask the caller, store.
 *
 * The number of steps is duration/time_step rounded to the nearest whole number; no step is
 * shortened, and a step longer than the run is refused. Frames are stored at the start, whenever
 * the time passes the next multiple of frame_interval, and at the end, however the run ends. */
#include "cairn/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cairn/joint.h"
#include "io/checkpoint.h"
#include "io/overlay.h"
#include "io/run_summary.h"
#include "io/scene_build.h"
#include "math/vec.h"

/* A body thrown up stands still for a moment; at rest means slow for this many steps. */
enum { REST_STEPS = 10 };

static const double PACKING_TRIM = 0.15; /* share of the spheres left out at bottom and top */
enum { PACKING_SAMPLES = 200000 };

typedef struct run {
    cairn_scene *scene;
    cairn_progress_fn *progress;
    void *context;
    cairn_run_summary summary;
    cairn_error error;
    cairn_run_output output;
    int lock; /* of the folder; -1: none */
    bool write_failed;
    const char *ending;
    double began;       /* s on the clock                              */
    double start;       /* s: time of the world at the start           */
    double next_frame;  /* frames due so far: the next is due at start + next_frame * interval */
    int64_t stored;     /* the step of the last stored frame, -1: none */
    cairn_vec3 *places; /* m: by uid, of the `place_count` first bodies at the start            */
    int place_count;
    int slow_steps;     /* steps in a row in which nothing was faster than rest_speed */
    double checkpoints; /* due so far */
} run;

/* ---- writing -------------------------------------------------------------------------------- */

/* Remember that a failure came from writing, and the time it took. */
static cairn_status written(run *r, double since, cairn_status status)
{
    r->summary.write_seconds += cairn_clock_seconds() - since;
    r->write_failed |= status != CAIRN_OK;
    return status;
}

static cairn_status store_frame(run *r)
{
    double now = cairn_clock_seconds();
    if (r->stored == r->summary.steps)
        return CAIRN_OK;
    TRY(written(r, now, cairn_run_output_frame(&r->output, r->summary.steps, &r->error)));
    r->stored = r->summary.steps;
    r->summary.frames = r->output.frames;
    return CAIRN_OK;
}

static cairn_status store_step(run *r, const cairn_step_report *report)
{
    double now = cairn_clock_seconds();
    cairn_status status = cairn_run_output_step(&r->output, r->summary.steps, report, &r->error);
    r->summary.problems = r->output.problems.written;
    r->summary.missed_problems = r->output.problems.missed;
    return written(r, now, status);
}

/* Whether the time has passed the next multiple of the frame interval. */
static bool frame_is_due(run *r)
{
    double interval = r->scene->run.frame_interval, slack = 1e-6 * r->scene->step.time_step;
    double elapsed = r->summary.time - r->start + slack;
    if (interval > 0 && elapsed < r->next_frame * interval)
        return false;
    r->next_frame = interval > 0 ? floor(elapsed / interval) + 1 : 0;
    return true;
}

/* The state after this step, to go on from: first the files that it refers to. */
static cairn_status store_checkpoint(run *r)
{
    double now = cairn_clock_seconds();
    if (!r->output.folder)
        return CAIRN_OK;
    cairn_run_marks marks = { .summary = r->summary,
                              .start = r->start,
                              .next_frame = r->next_frame,
                              .stored = r->stored,
                              .slow_steps = r->slow_steps,
                              .places = r->places,
                              .place_count = r->place_count };
    marks.summary.wall_seconds = now - r->began;
    marks.summary.interrupted = false;
    cairn_status status = cairn_run_output_flush(&r->output, &r->error);
    marks.extent = cairn_run_file_tell(r->output.file);
    if (status == CAIRN_OK)
        status = cairn_checkpoint_write(r->output.folder, r->scene, &marks, &r->output, &r->error);
    return written(r, now, status);
}

/* Checkpoints that are due up to now. */
static double count_checkpoints(const run *r)
{
    double every = r->scene->run.checkpoint_every, slack = 1e-6 * r->scene->step.time_step;
    return every > 0 ? floor((r->summary.time - r->start + slack) / every) : 0;
}

static cairn_status keep_up(run *r)
{
    double due = count_checkpoints(r);
    if (due <= r->checkpoints && !r->summary.interrupted)
        return CAIRN_OK;
    r->checkpoints = due;
    return store_checkpoint(r);
}

/* ---- stepping ------------------------------------------------------------------------------- */

static int64_t count_steps(const cairn_scene *scene)
{
    return (int64_t)fmax(1, round(scene->run.duration / scene->step.time_step));
}

static int64_t count_bodies(const cairn_world *world)
{
    return cairn_world_bodies(world).count;
}

/* Joints that hold. */
static int64_t count_joints(const cairn_world *world)
{
    int64_t count = 0;
    for (int i = 0; i < cairn_world_joint_count(world); i++) {
        cairn_joint_state s = cairn_world_joint(world, i);
        count += s.alive && !s.broken;
    }
    return count;
}

static bool is_slow(const cairn_world *world, double speed)
{
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = b.held; i < b.count; i++) {
        double square = b.v[i].x * b.v[i].x + b.v[i].y * b.v[i].y + b.v[i].z * b.v[i].z;
        if (!(square <= speed * speed))
            return false;
    }
    return cairn_world_inlet_pending(world) == 0;
}

static bool is_at_rest(run *r)
{
    double speed = r->scene->run.rest_speed;
    if (!(speed > 0))
        return false;
    r->slow_steps = is_slow(r->scene->world, speed) ? r->slow_steps + 1 : 0;
    return r->slow_steps >= REST_STEPS;
}

/* What the world says about a step it could not do. */
static cairn_status explain_step(run *r, cairn_status status)
{
    const cairn_error *found = cairn_world_error(r->scene->world);
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
    cairn_status status = cairn_world_step(r->scene->world, &r->scene->step, report);
    if (status != CAIRN_OK)
        return explain_step(r, status);
    cairn_run_summary_add(&r->summary, report);
    r->summary.time = cairn_world_time(r->scene->world);
    return CAIRN_OK;
}

static bool caller_goes_on(run *r, const cairn_step_report *report)
{
    if (!r->progress)
        return true;
    cairn_progress progress = { r->summary.steps, r->summary.time, r->scene->run.duration,
                                count_bodies(r->scene->world), report };
    return r->progress(&progress, r->context);
}

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

/* Steps until the end of the duration, rest, the caller's stop, or a failure. */
static cairn_status advance(run *r)
{
    int64_t steps = count_steps(r->scene);
    r->ending = "failed";
    while (r->summary.steps < steps) {
        cairn_step_report report = { 0 };
        TRY(step(r, &report));
        TRY(store_step(r, &report));
        if (frame_is_due(r))
            TRY(store_frame(r));
        r->summary.interrupted = !caller_goes_on(r, &report);
        TRY(check_certified(r, &report));
        bool rests = is_at_rest(r);
        TRY(keep_up(r));
        if (r->summary.interrupted || rests)
            break;
    }
    bool early = r->summary.steps < steps;
    r->ending = r->summary.interrupted ? "interrupted" : early ? "rest" : "complete";
    return CAIRN_OK;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

/* Be the only one who writes into the folder, and only then remove what an earlier run left to go
 * on from: a checkpoint, and a commit that was cut short. */
static cairn_status take_folder(run *r, const char *folder)
{
    char part[CAIRN_PATH_BYTES];
    if (!folder)
        return CAIRN_OK;
    TRY(cairn_folder_create(folder, &r->error));
    TRY(cairn_folder_lock(folder, &r->lock, &r->error));
    TRY(cairn_checkpoint_remove(folder, &r->error));
    TRY(cairn_path_join(folder, "run.h5.part", part, &r->error));
    int reason = cairn_overlay_clear(part);
    if (!reason)
        return CAIRN_OK;
    cairn_error_set_file(&r->error, part);
    return cairn_fail(&r->error, CAIRN_IO_FAILED, NULL, "cannot remove its journal: %s",
                      strerror(reason));
}

static cairn_status begin(run *r, const char *folder)
{
    double now = cairn_clock_seconds();
    r->next_frame = 1;
    r->stored = -1;
    TRY(written(r, now, take_folder(r, folder)));
    TRY(written(r, now, cairn_run_output_create(folder, r->scene, &r->output, &r->error)));
    TRY(store_frame(r));
    return r->scene->run.checkpoint_every > 0 ? store_checkpoint(r) : CAIRN_OK;
}

static cairn_status measure_packing(run *r)
{
    if (!r->scene->run.packing)
        return CAIRN_OK;
    cairn_status status =
        cairn_world_packing(r->scene->world, PACKING_TRIM, PACKING_SAMPLES, &r->summary.packing);
    r->summary.has_packing = status == CAIRN_OK;
    return status == CAIRN_UNSUPPORTED ? CAIRN_OK : status;
}

/* ---- displacement --------------------------------------------------------------------------- */

static cairn_status remember_places(run *r)
{
    const cairn_bodies bodies = cairn_world_bodies(r->scene->world);
    uint64_t count = 0;
    for (int i = 0; i < bodies.count; i++)
        count = bodies.uid[i] < count ? count : bodies.uid[i] + 1;
    r->places = cairn_memory_zeroed((size_t)count + 1, sizeof *r->places);
    if (!r->places)
        return CAIRN_NO_MEMORY;
    r->place_count = (int)count;
    for (int i = 0; i < bodies.count; i++)
        r->places[bodies.uid[i]] = bodies.x[i];
    return CAIRN_OK;
}

static void measure_displacement(run *r)
{
    const cairn_bodies bodies = cairn_world_bodies(r->scene->world);
    r->summary.displaced = -1;
    for (int i = bodies.held; i < bodies.count; i++) {
        uint64_t uid = bodies.uid[i];
        if (uid >= (uint64_t)r->place_count)
            continue;
        double moved = cairn_norm(cairn_sub(bodies.x[i], r->places[uid]));
        if (r->summary.displaced < 0 || moved > r->summary.displacement) {
            r->summary.displacement = moved;
            r->summary.displaced = (int64_t)uid;
        }
    }
}

/* Whether a run that ended so has nothing more to do. */
static bool is_over(const char *ending)
{
    return strcmp(ending, "complete") == 0 || strcmp(ending, "rest") == 0;
}

/* How fast and how high the convex law throws what slides: a state of one step, so that the largest
 * gap says it. */
static void measure_lift(run *r)
{
    cairn_run_summary *s = &r->summary;
    cairn_vec3 g = cairn_world_gravity(r->scene->world);
    double gravity = cairn_norm(g);
    s->lift_speed = s->worst.dilatation / r->scene->step.time_step;
    s->lift_height = gravity > 0 ? s->lift_speed * s->lift_speed / (2 * gravity) : 0;
}

/* Totals, last frame, names of the files. `status` is how the run itself ended. */
static cairn_status finish(run *r, cairn_status status)
{
    cairn_status measured = measure_packing(r), last = CAIRN_OK;
    r->summary.bodies = count_bodies(r->scene->world);
    r->summary.joints = count_joints(r->scene->world);
    r->summary.hash = cairn_world_hash(r->scene->world);
    measure_displacement(r);
    cairn_run_summary_finish(&r->summary);
    measure_lift(r);
    if (!r->write_failed)
        last = store_frame(r);
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

static cairn_status check(const cairn_scene *scene, cairn_error *error)
{
    if (!scene || !scene->world)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the scene has no world");
    TRY(cairn_step_options_check(&scene->step, cairn_world_dimension(scene->world), error));
    TRY(cairn_record_check(cairn_run_record(), &scene->run, error));
    TRY(cairn_run_check_steps(scene, error));
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

static cairn_status run_scene(run *r, const char *folder)
{
    TRY(check(r->scene, &r->error));
    r->summary = cairn_run_summary_start(r->scene->world);
    r->start = r->summary.time;
    TRY(remember_places(r));
    cairn_status status = begin(r, folder);
    if (status == CAIRN_OK)
        status = advance(r);
    return finish(r, status);
}

/* Free, and tell the caller. */
static cairn_status conclude(run *r, cairn_status status, cairn_run_summary *summary,
                             cairn_error *error)
{
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

/* A folder without a checkpoint: what can be read of the run all the same. */
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

/* Why there is nothing to go on from. */
static cairn_status explain_missing(const char *folder, cairn_error *error)
{
    cairn_run_info info;
    cairn_error unused = { 0 };
    *error = (cairn_error){ 0 };
    bool there = cairn_run_read_info(folder, &info, &unused) == CAIRN_OK;
    cairn_error_set_file(error, folder);
    if (!cairn_is_folder(folder))
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL, "%s, expected the folder of a run",
                          cairn_is_file(folder) ? "found a file" : "there is no such folder");
    if (there && is_over(info.ending))
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL,
                          "this run is finished (%s, t = %g s): there is nothing to resume",
                          info.ending, info.time);
    return explain_no_checkpoint(folder, error);
}

/* A run that was killed after its last file got its name, and before the checkpoint was removed. */
static bool is_complete(const char *folder)
{
    char part[CAIRN_PATH_BYTES];
    cairn_run_info info;
    cairn_error unused = { 0 };
    if (cairn_path_join(folder, "run.h5.part", part, &unused) != CAIRN_OK || cairn_is_file(part))
        return false;
    return cairn_run_read_info(folder, &info, &unused) == CAIRN_OK && is_over(info.ending);
}

static cairn_status restore(run *r, const char *folder, cairn_run_extent *extent)
{
    cairn_run_marks marks = { .places = NULL };
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

static cairn_status go_on(run *r, const char *folder, int64_t threads)
{
    cairn_run_extent extent;
    TRY(restore(r, folder, &extent));
    if (threads > 0)
        r->scene->step.threads = threads;
    TRY(check(r->scene, &r->error));
    TRY(cairn_run_output_go_on(folder, r->scene, &extent, &r->output, &r->error));
    return finish(r, advance(r));
}

cairn_status cairn_run_resume(const char *folder, const cairn_resume_options *options,
                              cairn_scene **scene, cairn_run_summary *summary, cairn_error *error)
{
    run r = { .progress = options->progress, .context = options->context, .ending = "failed" };
    r.lock = -1;
    r.began = cairn_clock_seconds();
    cairn_status status = go_on(&r, folder, options->threads);
    *scene = r.scene;
    return conclude(&r, status, summary, error);
}
