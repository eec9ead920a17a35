/* events.c - what happens once in a run, when something else does: a gate opens when the bodies
 * have settled, the run ends when the flow stops.
 *
 * Events are examined after every step, in the order of the scene, from the state of the world
 * alone; their own state (whether they happened, since when it is quiet) is part of the scene and
 * of checkpoints, so that a resumed run goes on with the same bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "cairn/generate.h"
#include "cairn/run.h"
#include "file/file.h"
#include "math/vec.h"
#include "run/output.h"

/* ---- conditions ----------------------------------------------------------------------------- */

/* Speeds of centres of mass only; rotation is not considered. The comparison is written so that NaN
 * is not slow. Nothing is at rest while an inlet still has bodies to add. */
static bool is_slow(const cairn_world *world, double speed)
{
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = b.held; i < b.count; i++)
        if (!(cairn_dot(b.v[i], b.v[i]) <= speed * speed))
            return false;
    return cairn_world_inlet_pending(world) == 0;
}

/* Slow for long enough. `since` is the time of the first slow step in a row. */
static bool has_settled(const cairn_world *world, cairn_event *event)
{
    double now = cairn_world_time(world);
    if (!is_slow(world, event->speed))
        event->since = INFINITY;
    else
        event->since = fmin(event->since, now);
    return now - event->since >= event->quiet * (1 - 1e-12);
}

static double mass_of(const cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    double mass = 0;
    for (int i = b.held; i < b.count; i++)
        mass += b.mass[i];
    return mass;
}

/* The impulse of contact j on its body a, in the world frame: r_N n + r_1 t + r_2 n x t. */
static cairn_vec3 impulse_of(const cairn_contacts *c, int j)
{
    const double *r = c->impulse + (size_t)j * (size_t)c->dimension;
    cairn_vec3 n = c->normal[j], t = c->tangent[j];
    cairn_vec3 sum = cairn_add_scaled(cairn_scale(r[0], n), r[1], t);
    return c->dimension == 3 ? cairn_add_scaled(sum, r[2], cairn_cross(n, t)) : sum;
}

/* N: the magnitude of the sum of the contact forces on a body in the last step; 0 if it is gone. */
static double force_on(const cairn_world *world, double time_step, int64_t uid)
{
    cairn_contacts c = cairn_world_contacts(world);
    int row = cairn_body_row(world, (cairn_body_id){ (uint64_t)uid });
    cairn_vec3 sum = { 0, 0, 0 };
    for (int j = 0; j < c.count && row >= 0; j++)
        for (int side = 0; side < 2; side++)
            if (c.body[2 * j + side] == row)
                sum = cairn_add_scaled(sum, side ? -1 : 1, impulse_of(&c, j));
    return cairn_norm(sum) / time_step;
}

/* Bodies have left through the outlet (-1: any), but none for some time. */
static bool has_stopped(const cairn_world *world, const cairn_event *event)
{
    double last = -INFINITY;
    for (int k = 0; k < cairn_world_outlet_count(world); k++)
        if (event->outlet < 0 || event->outlet == k)
            last = fmax(last, cairn_world_outlet(world, k).last);
    return isfinite(last) && cairn_world_time(world) - last >= event->quiet * (1 - 1e-12);
}

static bool is_due(const cairn_scene *scene, cairn_event *event)
{
    const cairn_world *world = scene->world;
    /* the slack, a share of the step, absorbs rounding in the time */
    if (event->step >= 0 || cairn_world_time(world) < event->from - 1e-6 * scene->step.time_step)
        return false;
    switch (event->kind) {
    case CAIRN_EVENT_SETTLED:
        return has_settled(world, event);
    case CAIRN_EVENT_MASS_BELOW:
        return mass_of(world) < event->mass;
    case CAIRN_EVENT_FORCE_ABOVE:
        return force_on(world, scene->step.time_step, event->body) > event->force;
    case CAIRN_EVENT_FLOW_STOPS:
        return has_stopped(world, event);
    default:
        return true;
    }
}

/* ---- actions -------------------------------------------------------------------------------- */

/* FOLDER/NAME.state, from which another scene can start. A run that writes no folder saves
 * nothing. */
static cairn_status save_state(const cairn_scene *scene, const char *folder, const char *name,
                               cairn_error *error)
{
    char path[CAIRN_PATH_BYTES], file_name[64];
    if (!folder)
        return CAIRN_OK;
    snprintf(file_name, sizeof file_name, "%.40s.state", name);
    TRY(cairn_path_join(folder, file_name, path, error));
    return cairn_state_write(scene, path, error);
}

/* A body that is gone already needs no action. */
static cairn_status act(cairn_scene *scene, const char *folder, const cairn_event *event,
                        cairn_error *error)
{
    cairn_body_id target = { (uint64_t)event->target };
    bool gone = event->target >= 0 && cairn_body_row(scene->world, target) < 0;
    cairn_status status = CAIRN_OK;
    if (gone)
        return CAIRN_OK;
    switch (event->action) {
    case CAIRN_ACTION_OPEN:
        return cairn_body_destroy(scene->world, target);
    case CAIRN_ACTION_START_DRIVER:
        status = cairn_body_start(scene->world, target);
        break;
    case CAIRN_ACTION_STOP_DRIVER:
        status = cairn_body_stop(scene->world, target);
        break;
    case CAIRN_ACTION_SAVE_STATE:
        return save_state(scene, folder, event->file, error);
    default:
        return CAIRN_OK;
    }
    if (status != CAIRN_OK)
        return cairn_fail(error, status, "events", "%s", cairn_world_error(scene->world)->message);
    return CAIRN_OK;
}

cairn_status cairn_run_events_step(cairn_run_output *output, cairn_scene *scene, int64_t step,
                                   bool *stops, cairn_error *error)
{
    bool any = false;
    *stops = false;
    for (int k = 0; k < scene->event_count; k++) {
        cairn_event *event = &scene->events[k];
        if (!is_due(scene, event))
            continue;
        any = true;
        event->step = step;
        event->time = cairn_world_time(scene->world);
        *stops = *stops || event->action == CAIRN_ACTION_STOP_RUN;
        TRY(act(scene, output->folder, event, error));
    }
    return any && output->file ? cairn_run_file_events(output->file, step, error) : CAIRN_OK;
}
