/* output.c - everything that a run writes while it computes; the contact problems of single steps;
 * and events. */
#include "run/output.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/common.h"
#include "cairn/fclib.h"
#include "cairn/generate.h"
#include "file/file.h"
#include "math/vec.h"
#include "run/drawing.h"
#include "run/run_file.h"
#include "run/together.h"

/* Flushes may take at most this share of the run time. A crash loses what came after the last
 * flush, so flushing more often loses less and costs more. */
static const double FLUSH_SHARE = 0.05;

/* run.h5 is written under these two names. Anything there that is not a plain file, such as a link
 * or a device, is not ours: refuse to replace it. */
static cairn_status check_names(const char *folder, cairn_error *error)
{
    static const char *const names[] = { "run.h5.part", "run.h5" };
    for (int i = 0; i < 2; i++) {
        char path[CAIRN_PATH_BYTES];
        struct stat about;
        TRY(cairn_path_join(folder, names[i], path, error));
        if (lstat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
            continue; /* a folder is refused later, when the file is created */
        cairn_error_set_file(error, path);
        return cairn_fail(error, CAIRN_IO_FAILED, NULL,
                          "found %s, expected a plain file of an earlier run, or nothing",
                          S_ISLNK(about.st_mode) ? "a link" : "something else");
    }
    return CAIRN_OK;
}

static bool measures_fields(const cairn_scene *scene)
{
    for (int i = 0; i < scene->run.statistics.count; i++)
        if (strcmp(scene->run.statistics.items[i], "fields") == 0)
            return true;
    return false;
}

/* Which series only some runs have. */
static void choose_series(const cairn_scene *scene, cairn_run_paraview *out)
{
    cairn_lattice cell = cairn_world_lattice(scene->world);
    out->scene = scene;
    out->fields = measures_fields(scene);
    out->cell = cairn_lattice_exists(&cell);
}

/* run.h5 first: it fails if the folder cannot be written to, before the problems of an earlier run
 * are removed. */
cairn_status cairn_run_output_create(const char *folder, const cairn_scene *scene,
                                     cairn_run_output *out, cairn_error *error)
{
    *out = (cairn_run_output){ .folder = folder, .scene = scene };
    if (!folder)
        return CAIRN_OK;
    TRY(check_names(folder, error));
    TRY(cairn_run_file_open(folder, scene, NULL, &out->file, error));
    TRY(cairn_run_problems_clear(folder, error));
    if (scene->run.paraview)
        TRY(cairn_run_paraview_create(folder, scene->run.contacts, &out->paraview, error));
    choose_series(scene, &out->paraview);
    return CAIRN_OK;
}

/* A run that was interrupted cleanly has a run.h5: rename it to run.h5.part again. If the writer
 * was killed during a commit, complete that. */
static cairn_status take_back(const char *folder, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES], part[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(folder, "run.h5", path, error));
    TRY(cairn_path_join(folder, "run.h5.part", part, error));
    if (!cairn_is_file(part) && rename(path, part) != 0) {
        cairn_error_set_file(error, folder);
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "there is no run.h5.part to go on with: %s",
                          strerror(errno));
    }
    return cairn_overlay_recover(part, error);
}

cairn_status cairn_run_output_go_on(const char *folder, const cairn_scene *scene,
                                    const cairn_run_extent *extent, cairn_run_output *out,
                                    cairn_error *error)
{
    out->folder = folder;
    out->scene = scene;
    TRY(take_back(folder, error));
    TRY(cairn_run_file_open(folder, scene, extent, &out->file, error));
    if (scene->run.paraview)
        TRY(cairn_run_paraview_go_on(folder, scene->run.contacts, &out->paraview, error));
    choose_series(scene, &out->paraview);
    return CAIRN_OK;
}

/* Store a step with all its inputs, for `certificate: full`. Taking the frame gives rows to new
 * bodies, which cairn_run_file_detail writes. */
static cairn_status store_detail(cairn_run_output *o, int64_t step, cairn_error *error)
{
    cairn_run_frame frame;
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    TRY(cairn_run_frame_detail(o->scene->world, &o->roll, &o->arena, &frame));
    frame.step = step;
    return cairn_run_file_detail(o->file, &frame, error);
}

/* End the flush that is in progress, if its chunks are compressed by now. Only the time spent here
 * counts as its cost: the compression runs beside the steps. */
static cairn_status flush_on(cairn_run_output *o, cairn_error *error)
{
    if (!cairn_run_file_is_flushing(o->file))
        return CAIRN_OK;
    double now = cairn_clock_seconds();
    TRY(cairn_run_file_end_flush(o->file, false, error));
    o->flush_costs += cairn_clock_seconds() - now;
    return CAIRN_OK;
}

cairn_status cairn_run_output_step(cairn_run_output *output, int64_t step, double time,
                                   const cairn_step_report *report, cairn_error *error)
{
    if (!output->folder)
        return CAIRN_OK;
    TRY(flush_on(output, error));
    TRY(cairn_run_problems_step(&output->problems, output->folder, output->scene, step, report,
                                error));
    if (cairn_run_file_is_full(output->file) && !output->in_pieces)
        TRY(store_detail(output, step, error));
    return cairn_run_file_step(output->file, step, time, report, error);
}

cairn_status cairn_run_output_flush(cairn_run_output *o, cairn_error *error)
{
    if (!o->folder)
        return CAIRN_OK;
    TRY(cairn_run_file_flush(o->file, error));
    return o->scene->run.paraview ? cairn_run_paraview_flush(&o->paraview, error) : CAIRN_OK;
}

/* Begin a flush after a frame, unless flushes would then take more than their share of the time:
 * the next one may begin cost / FLUSH_SHARE after the last. The .pvd files are part of it, so that
 * run.h5 and ParaView show the same frames. */
static cairn_status flush_in_time(cairn_run_output *o, cairn_error *error)
{
    double now = cairn_clock_seconds();
    bool first = o->last_flush == 0;
    if (now - o->last_flush < o->flush_costs / FLUSH_SHARE)
        return CAIRN_OK;
    TRY(cairn_run_file_begin_flush(o->file, error));
    /* the first flush is completed at once, so that there is a file to read from now on */
    if (first)
        TRY(cairn_run_file_end_flush(o->file, true, error));
    if (o->scene->run.paraview)
        TRY(cairn_run_paraview_flush(&o->paraview, error));
    o->last_flush = cairn_clock_seconds();
    o->flush_costs = o->last_flush - now;
    return CAIRN_OK;
}

cairn_status cairn_run_output_frame_end(cairn_run_output *o, cairn_error *error)
{
    o->frames++;
    return flush_in_time(o, error);
}

cairn_status cairn_run_output_frame(cairn_run_output *o, int64_t step, cairn_error *error)
{
    cairn_run_frame frame;
    if (!o->folder)
        return CAIRN_OK;
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    frame.step = step;
    frame.time_step = cairn_world_last_length(o->scene->world);
    /* a world that has stepped before, such as that of a start, has contacts of another run */
    if (step == 0)
        frame.contacts = (size_t)(frame.touch.count = 0);
    TRY(cairn_run_file_frame(o->file, &frame, error));
    /* The state before the first step is the first block of the certificate; it needs no inputs of
     * a step. */
    if (step == 0 && cairn_run_file_is_full(o->file))
        TRY(cairn_run_file_detail(o->file, &frame, error));
    if (o->scene->run.paraview)
        TRY(cairn_run_paraview_frame(&o->paraview, &frame, &o->arena, error));
    return cairn_run_output_frame_end(o, error);
}

cairn_status cairn_run_output_picture(cairn_run_output *o, cairn_error *error)
{
    cairn_run_frame frame;
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    frame.time_step = cairn_world_last_length(o->scene->world);
    return cairn_picture_write(&frame, NULL, o->scene, o->folder, &o->arena, error);
}

/* run.h5 gets its name last: if run.h5 exists, all other files do. */
cairn_status cairn_run_output_commit(cairn_run_output *o, const cairn_run_summary *summary,
                                     const cairn_run_ending *ending, cairn_error *error)
{
    if (!o->folder)
        return CAIRN_OK;
    if (o->scene->run.paraview)
        TRY(cairn_run_paraview_finish(&o->paraview, error));
    if (o->scene->run.picture && !o->in_pieces)
        TRY(cairn_run_output_picture(o, error));
    TRY(cairn_run_file_finish(o->file, summary, ending, error));
    TRY(cairn_run_summary_write(summary, o->scene, ending, o->folder, error));
    return cairn_run_file_commit(o->file, error);
}

void cairn_run_output_destroy(cairn_run_output *o)
{
    cairn_run_file_destroy(o->file);
    cairn_run_paraview_destroy(&o->paraview);
    cairn_run_roll_destroy(&o->roll);
    cairn_arena_destroy(&o->arena);
    *o = (cairn_run_output){ .folder = NULL };
}

/* ---- problems ---------------------------------------------------------------------------- */

/* The file format is described in docs/fclib.md. */

/* Whether a name has our form: step_, digits, .hdf5. Only such files are removed; a user may keep
 * others in the folder. */
static bool is_ours(const char *name)
{
    if (strncmp(name, "step_", 5) != 0)
        return false;
    size_t digits = strspn(name + 5, "0123456789");
    return digits > 0 && strcmp(name + 5 + digits, ".hdf5") == 0;
}

cairn_status cairn_run_problems_clear(const char *folder, cairn_error *error)
{
    char inside[CAIRN_PATH_BYTES], path[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(folder, "problems", inside, error));
    DIR *entries = opendir(inside);
    const struct dirent *entry;
    cairn_status status = CAIRN_OK;
    while (entries && status == CAIRN_OK && (entry = readdir(entries))) {
        if (!is_ours(entry->d_name))
            continue;
        status = cairn_path_join(inside, entry->d_name, path, error);
        if (status == CAIRN_OK && unlink(path) != 0) {
            status = cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot remove: %s", strerror(errno));
            cairn_error_set_file(error, path);
        }
    }
    if (entries)
        closedir(entries);
    return status;
}

static bool is_asked_for(const cairn_scene *scene, int64_t step)
{
    const cairn_list *list = &scene->run.save_problem;
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == (double)step)
            return true;
    return false;
}

/* The folder is created with the first problem, so that runs without one have no such folder. */
static cairn_status problem_path(const char *folder, int64_t step, char *path, cairn_error *error)
{
    char inside[CAIRN_PATH_BYTES], name[64];
    TRY(cairn_path_join(folder, "problems", inside, error));
    TRY(cairn_folder_create(inside, error));
    snprintf(name, sizeof name, "step_%06" PRId64 ".hdf5", step);
    return cairn_path_join(inside, name, path, error);
}

/* The problem as it was solved, with its impulses, as the world keeps it until the next step. */
static cairn_status write_problem(const char *path, const cairn_scene *scene, int64_t step,
                                  const char *solver, cairn_error *error)
{
    char text[320];
    const double *r;
    const cairn_problem *p = cairn_world_problem(scene->world, &r);
    if (!p)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "the world keeps no problem");
    snprintf(text, sizeof text, "%s: step %" PRId64 " to t = %g s, scheme %s", scene->title, step,
             cairn_world_time(scene->world), scene->step.scheme);
    return cairn_fclib_save_problem(path, p, text, solver, r, error);
}

static int64_t file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

cairn_status cairn_run_problems_step(cairn_run_problems *problems, const char *folder,
                                     const cairn_scene *scene, int64_t step,
                                     const cairn_step_report *report, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    bool asked = is_asked_for(scene, step);
    bool full =
        problems->missed >= CAIRN_RUN_MOST_PROBLEMS || problems->bytes >= CAIRN_RUN_PROBLEM_BYTES;
    if (!asked && (report->solve.converged || full))
        return CAIRN_OK;
    /* a world that several ranks compute keeps none */
    if (!asked && !cairn_world_problem(scene->world, NULL))
        return CAIRN_OK;
    TRY(problem_path(folder, step, path, error));
    cairn_status status = write_problem(path, scene, step, report->solve.solver, error);
    if (status == CAIRN_UNSUPPORTED && !asked) {
        *error = (cairn_error){ 0 };
        /* The format cannot hold such a problem. It was to be written only because the step missed
         * its tolerance, and the scene did not request it, so this is no failure of the run. */
        return CAIRN_OK;
    }
    TRY(status);
    problems->written++;
    if (!asked) {
        problems->missed++;
        problems->bytes += file_bytes(path);
    }
    return CAIRN_OK;
}

/* ---- events ------------------------------------------------------------------------------ */

/* What happens once in a run, when something else does: a gate opens when the bodies have settled,
 * the run ends when the flow stops.
 *
 * Events are examined after every step, in the order of the scene, from the state of the world
 * alone, by the process that leads the run; the others do what it tells them. Their own state
 * (whether they happened, since when it is quiet) is part of the scene and of checkpoints, so that
 * a resumed run goes on with the same bits. */

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

/* The impulse of contact j on its body a, in the world frame: r_N n + r_1 t + r_2 n x t. */
static cairn_vec3 impulse_of(const cairn_contacts *c, int j)
{
    const double *r = c->impulse + (size_t)j * (size_t)c->dimension;
    cairn_vec3 n = c->normal[j], t = c->tangent[j];
    cairn_vec3 sum = cairn_add_scaled(cairn_scale(r[0], n), r[1], t);
    return c->dimension == 3 ? cairn_add_scaled(sum, r[2], cairn_cross(n, t)) : sum;
}

/* Add the impulses on a body in the last step. Of several members the owner of the body has all its
 * contacts; those of a held body belong to the owners of the other bodies. */
static void add_impulses(const cairn_team *t, uint64_t uid, cairn_vec3 *sum)
{
    const cairn_contacts c = cairn_world_contacts(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    int row = cairn_body_row(t->world, (cairn_body_id){ uid });
    bool held = row < cairn_world_bodies(t->world).held;
    for (int j = 0; j < c.count && row >= 0; j++)
        for (int side = 0; side < 2; side++) {
            int other = c.body[2 * j + (side ^ 1)], counted = held ? other : row;
            if (c.body[2 * j + side] == row && counted >= own.begin && counted < own.end)
                *sum = cairn_add_scaled(*sum, side ? -1 : 1, impulse_of(&c, j));
        }
}

static void add_own(const cairn_team *t, const cairn_order *o, cairn_vec3 *sum)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    for (int i = own.begin; o->what == CAIRN_ORDER_MASS && i < own.end; i++)
        sum->x += b.mass[i];
    if (o->what == CAIRN_ORDER_IMPULSE)
        add_impulses(t, (uint64_t)o->from, sum);
}

/* Each member adds its own to the sum of those before it, in the order of rows, as one process
 * does; the last one tells the first. */
cairn_status cairn_team_add(cairn_team *t, const cairn_order *o, cairn_vec3 *sum)
{
    cairn_link *link = t->link;
    *sum = (cairn_vec3){ 0, 0, 0 };
    if (t->copy && link->member > 0)
        cairn_link_receive_into(link, link->member - 1, sum, sizeof *sum);
    add_own(t, o, sum);
    if (!t->copy)
        return CAIRN_OK;
    cairn_link_send(link, (link->member + 1) % link->members, sum, sizeof *sum);
    if (link->member == 0)
        cairn_link_receive_into(link, link->members - 1, sum, sizeof *sum);
    return link->status;
}

/* What events ask for, of all processes. */
static cairn_status sum_of(cairn_team *t, cairn_order_kind what, int64_t uid, cairn_vec3 *sum)
{
    const cairn_order order = { .what = what, .from = uid };
    cairn_team_tell(t, &order);
    return cairn_team_add(t, &order, sum);
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

/* Mass and forces are sums over the bodies and contacts of all processes, in every step in which
 * such an event is examined. All else every process knows. */
static cairn_status examine(cairn_team *team, const cairn_scene *scene, cairn_event *event,
                            bool *due)
{
    const cairn_world *world = team->world;
    cairn_vec3 sum;
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
        TRY(sum_of(team, CAIRN_ORDER_MASS, 0, &sum));
        *due = sum.x < event->mass;
        return CAIRN_OK;
    case CAIRN_EVENT_FORCE_ABOVE:
        TRY(sum_of(team, CAIRN_ORDER_IMPULSE, event->body, &sum));
        *due = cairn_norm(sum) > event->force * cairn_world_last_length(world);
        return CAIRN_OK;
    case CAIRN_EVENT_FLOW_STOPS:
        *due = has_stopped(world, event);
        return CAIRN_OK;
    default:
        *due = true;
        return CAIRN_OK;
    }
}

/* FOLDER/NAME.state, from which another scene can start. A run that writes no folder saves
 * nothing. */
static cairn_status save_state(cairn_team *team, const cairn_scene *scene, const char *folder,
                               const char *name, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES], file_name[64];
    if (!folder)
        return CAIRN_OK;
    snprintf(file_name, sizeof file_name, "%.40s.state", name);
    TRY(cairn_path_join(folder, file_name, path, error));
    if (!team->spread)
        TRY(cairn_team_look(team, scene));
    const cairn_saver saver = cairn_team_saver(team, scene);
    return cairn_state_save(scene, &saver, path, error);
}

static cairn_status act(cairn_team *team, cairn_scene *scene, const char *folder,
                        const cairn_event *event, cairn_error *error)
{
    cairn_deed deed = { event->action, (uint64_t)event->target };
    if (event->action == CAIRN_ACTION_STOP_RUN)
        return CAIRN_OK;
    if (event->action == CAIRN_ACTION_SAVE_STATE)
        return save_state(team, scene, folder, event->file, error);
    cairn_status status = cairn_team_act(team, scene, &deed);
    if (status != CAIRN_OK)
        return cairn_fail(error, status, "events", "%s", cairn_world_error(team->world)->message);
    return CAIRN_OK;
}

cairn_status cairn_run_events_examine(cairn_team *team, cairn_scene *scene, int64_t step)
{
    for (int k = 0; k < scene->event_count; k++) {
        cairn_event *event = &scene->events[k];
        bool due;
        TRY(examine(team, scene, event, &due));
        if (!due)
            continue;
        event->step = step;
        event->time = cairn_world_time(team->world);
    }
    return CAIRN_OK;
}

/* After a failure the events that follow have not happened. */
cairn_status cairn_run_events_act(cairn_run_output *output, cairn_team *team, cairn_scene *scene,
                                  int64_t step, cairn_error *error)
{
    bool any = false;
    cairn_status status = CAIRN_OK;
    for (int k = 0; k < scene->event_count; k++) {
        cairn_event *event = &scene->events[k];
        if (event->step != step)
            continue;
        any = true;
        if (status == CAIRN_OK)
            status = act(team, scene, output->folder, event, error);
        else
            event->step = -1;
    }
    TRY(status);
    return any && output->file ? cairn_run_file_events(output->file, step, error) : CAIRN_OK;
}
