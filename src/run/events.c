/* events.c - what happens once in a run, when something else does: a gate opens when the bodies
 * have settled, the run ends when the flow stops.
 *
 * Events are examined after every step, in the order of the scene, from the state of the world
 * alone, by the process that leads the run; the others do what it tells them. Their own state
 * (whether they happened, since when it is quiet) is part of the scene and of checkpoints, so that
 * a resumed run goes on with the same bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "cairn/generate.h"
#include "cairn/run.h"
#include "file/file.h"
#include "math/vec.h"
#include "run/output.h"
#include "run/together.h"

/* ---- conditions ----------------------------------------------------------------------------- */

/* Slow for long enough. `since` is the time of the first slow step in a row. Speeds of centres of
 * mass only; rotation is not considered. */
static bool has_settled(const cairn_team *team, cairn_event *event)
{
    double now = cairn_world_time(team->world);
    if (!cairn_team_is_slow(team, event->speed))
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

/* Mass and forces need the bodies and contacts of all processes in one order: they are collected
 * in every step in which such an event is examined. All else every process knows. */
static cairn_status examine(cairn_team *team, const cairn_scene *scene, cairn_event *event,
                            bool *due)
{
    const cairn_world *world = team->world;
    /* the slack, a share of the step, absorbs rounding in the time */
    double slack = 1e-6 * scene->step.time_step;
    *due = false;
    if (event->step >= 0 || cairn_world_time(world) < event->from - slack)
        return CAIRN_OK;
    switch (event->kind) {
    case CAIRN_EVENT_SETTLED:
        *due = has_settled(team, event);
        return CAIRN_OK;
    case CAIRN_EVENT_MASS_BELOW:
        TRY(cairn_team_look(team, scene));
        *due = mass_of(scene->world) < event->mass;
        return CAIRN_OK;
    case CAIRN_EVENT_FORCE_ABOVE:
        TRY(cairn_team_look(team, scene));
        *due = force_on(scene->world, scene->step.time_step, event->body) > event->force;
        return CAIRN_OK;
    case CAIRN_EVENT_FLOW_STOPS:
        *due = has_stopped(world, event);
        return CAIRN_OK;
    default:
        *due = true;
        return CAIRN_OK;
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
static cairn_status act(cairn_team *team, cairn_scene *scene, const char *folder,
                        const cairn_event *event, cairn_error *error)
{
    cairn_deed deed = { event->action, (uint64_t)event->target };
    if (event->action == CAIRN_ACTION_STOP_RUN)
        return CAIRN_OK;
    TRY(cairn_team_look(team, scene));
    if (event->action == CAIRN_ACTION_SAVE_STATE)
        return save_state(scene, folder, event->file, error);
    if (cairn_body_row(scene->world, (cairn_body_id){ deed.target }) < 0)
        return CAIRN_OK;
    cairn_status status = cairn_team_act(team, scene, &deed);
    if (status != CAIRN_OK)
        return cairn_fail(error, status, "events", "%s", cairn_world_error(scene->world)->message);
    return CAIRN_OK;
}

cairn_status cairn_run_events_step(cairn_run_output *output, cairn_team *team, cairn_scene *scene,
                                   int64_t step, cairn_error *error)
{
    bool any = false;
    for (int k = 0; k < scene->event_count; k++) {
        cairn_event *event = &scene->events[k];
        bool due;
        TRY(examine(team, scene, event, &due));
        if (!due)
            continue;
        any = true;
        event->step = step;
        event->time = cairn_world_time(team->world);
        TRY(act(team, scene, output->folder, event, error));
    }
    return any && output->file ? cairn_run_file_events(output->file, step, error) : CAIRN_OK;
}
