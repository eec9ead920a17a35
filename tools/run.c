/* run.c - `cairn run`: run a scene, show progress, sum up. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "ending/interrupt.h"
#include "outcome.h"
#include "view/show.h"

/* "out/pebble_bed" for "scenes/pebble_bed.yaml"; false when it does not fit. */
static bool default_folder(const char *scene, char *out, size_t capacity)
{
    const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene;
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    int needed = snprintf(out, capacity, "out/%.*s", length, name);
    return needed > 0 && (size_t)needed < capacity;
}

/* EXIT_DONE, or an exit code after a message: nobody's run is lost by a name used twice. */
static int check_folder(const char *folder, bool force)
{
    cairn_error error = { 0 };
    if (force || cairn_run_folder_check(folder, &error) == CAIRN_OK)
        return EXIT_DONE;
    cairn_error_print(CAIRN_IO_FAILED, &error);
    return EXIT_FAILED;
}

static int run_scene(cairn_scene *scene, const char *folder, bool quiet)
{
    cairn_run_summary summary = { 0 };
    cairn_error error = { 0 };
    cairn_progress_view view = cairn_progress_start(quiet);
    cairn_status status = cairn_run(scene, folder, cairn_outcome_step, &view, &summary, &error);
    cairn_progress_end(&view);
    const cairn_outcome outcome = { status, scene, &summary, &error, folder };
    return cairn_outcome_tell(&outcome, quiet);
}

/* The same with a viewer beside it, which stays when the run is over. */
static int run_in_view(cairn_scene *scene, const char *folder, const cairn_arguments *arguments)
{
    pid_t viewer = cairn_view_begin_beside(folder, !arguments->no_browser);
    if (viewer < 0)
        return EXIT_FAILED;
    int code = run_scene(scene, folder, arguments->quiet);
    cairn_view_end_beside(viewer, cairn_interrupt_signal() != 0);
    return code;
}

static const char *take_view(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->view = true;
    return NULL;
}

static const cairn_flag flag_view = {
    .name = "--view",
    .text = "show the run in the browser while it goes on",
    .take = take_view,
};

static int run(const cairn_arguments *arguments)
{
    char folder[4096];
    const char *out = arguments->out ? arguments->out : folder;
    cairn_scene *scene = NULL;
    if (!arguments->out && !default_folder(arguments->operand, folder, sizeof folder)) {
        fprintf(stderr, "cairn run: the name of the scene is too long; use --out\n");
        return EXIT_USAGE;
    }
    cairn_interrupt_watch();
    int code = cairn_arguments_scene(arguments, &scene);
    if (code == EXIT_DONE)
        code = check_folder(out, arguments->force);
    if (code == EXIT_DONE)
        code = arguments->view ? run_in_view(scene, out, arguments)
                               : run_scene(scene, out, arguments->quiet);
    cairn_scene_destroy(scene);
    return code;
}

static const cairn_flag *const flags[] = {
    &cairn_flag_out,          &cairn_flag_set,
    &cairn_flag_quiet,        &cairn_flag_threads,
    &cairn_flag_save_problem, &cairn_flag_strict,
    &cairn_flag_force,        &flag_view,
    &cairn_flag_no_browser,   NULL,
};

const cairn_command cairn_command_run = {
    .name = "run",
    .operand = "SCENE",
    .summary = "Run a scene to its end and write a run folder",
    .details =
        "Ctrl-C ends a run cleanly: what was computed is kept, and 'cairn resume' goes on with "
        "it.\n"
        "A second one kills it. A folder that holds a run is refused without --force.\n"
        "Exit codes: 0 done, 1 failed, 2 usage, 3 bad scene, 4 stopped at a step that missed\n"
        "its tolerance, 129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.",
    .flags = flags,
    .run = run,
};
