/* run.c - `cairn run` and `cairn resume`: run or resume a scene, show progress, sum up. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "view/view.h"

/* ---- how a run that came to some end is reported --------------------------------------------- */

typedef struct outcome {
    cairn_status status;
    const cairn_scene *scene; /* NULL: there was none */
    const cairn_run_summary *summary;
    const cairn_error *error;
    const char *folder;
} outcome;

/* A cairn_progress_fn: shows progress (`context` is a cairn_progress_view) until a signal comes. */
static bool show_step(const cairn_progress *progress, void *context)
{
    cairn_progress_show(context, progress);
    return cairn_interrupt_signal() == 0;
}

/* The exit code of a run that ended, after a message if needed. */
static int exit_code(const outcome *o)
{
    if (o->status == CAIRN_STOPPED && !o->summary->interrupted) {
        char reason[4 * sizeof o->error->message];
        cairn_text_escape(o->error->message, reason, sizeof reason);
        fprintf(stderr, "cairn: stopped: %s (run.on_uncertified: stop, or --strict)\n", reason);
        return EXIT_UNCERTIFIED;
    }
    if (o->status != CAIRN_OK && o->status != CAIRN_STOPPED) {
        cairn_error_print(o->status, o->error);
        return EXIT_FAILED;
    }
    if (o->summary->interrupted) {
        fprintf(stderr,
                "cairn: interrupted; the results so far are kept; to continue: cairn resume %s\n",
                o->folder);
        return EXIT_SIGNAL_BASE + cairn_interrupt_signal();
    }
    return EXIT_DONE;
}

/* Print the summary unless `quiet`, warnings, and what went wrong. Returns the exit code. */
static int report(const outcome *o, bool quiet)
{
    bool complete = o->status == CAIRN_OK || o->status == CAIRN_STOPPED;
    if (complete && !quiet) {
        cairn_summary_print(o->scene, o->summary, o->folder);
        fflush(stdout);
    }
    if (complete)
        cairn_summary_warn(o->scene, o->summary, o->folder);
    return exit_code(o);
}

/* ---- cairn run ------------------------------------------------------------------------------- */

/* "out/pebble_bed" for "scenes/pebble_bed.yaml"; false when it does not fit. */
static bool default_folder(const char *scene, char *out, size_t capacity)
{
    const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene;
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    int needed = snprintf(out, capacity, "out/%.*s", length, name);
    return needed > 0 && (size_t)needed < capacity;
}

/* EXIT_DONE, or an exit code after a message: no run is lost because a name is used twice. */
static int check_folder(const char *folder, bool force)
{
    cairn_error error = { 0 };
    if (force || cairn_run_folder_check(folder, &error) == CAIRN_OK)
        return EXIT_DONE;
    cairn_error_print(CAIRN_IO_FAILED, &error);
    return EXIT_FAILED;
}

/* ---- several processes ----------------------------------------------------------------------- */

/* A rank other than 0. Signals end the run in rank 0. Most failures are known there as well, and
 * are printed there, with its exit code. */
static int serve(cairn_link *link)
{
    cairn_error error = { 0 };
    cairn_interrupt_watch();
    cairn_status status = cairn_ranks_serve(link, &error);
    if (status != CAIRN_NO_MEMORY)
        return EXIT_DONE;
    fprintf(stderr, "cairn: rank %d: %s\n", cairn_ranks_own(link), error.message);
    return EXIT_FAILED;
}

int cairn_with_ranks(const cairn_arguments *arguments, cairn_ranks_fn *work)
{
    cairn_link *link;
    cairn_error error = { 0 };
    cairn_status status = cairn_ranks_open(&link, &error);
    if (status != CAIRN_OK) {
        if (error.message[0])
            cairn_error_print(status, &error);
        return EXIT_FAILED;
    }
    int code = link && cairn_ranks_own(link) > 0 ? serve(link) : work(arguments, link);
    fflush(stdout);
    cairn_ranks_close(link);
    return code;
}

/* ---- cairn run ------------------------------------------------------------------------------- */

static int run_scene(cairn_scene *scene, const char *folder, bool quiet)
{
    cairn_run_summary summary = { 0 };
    cairn_error error = { 0 };
    cairn_progress_view view = cairn_progress_start(quiet);
    cairn_status status = cairn_run(scene, folder, show_step, &view, &summary, &error);
    cairn_progress_end(&view);
    const outcome result = { status, scene, &summary, &error, folder };
    return report(&result, quiet);
}

/* The same with a viewer, which stays open when the run is over. */
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
    .text = "show the run in the browser as it progresses",
    .take = take_view,
};

static int run_first(const cairn_arguments *arguments, cairn_link *link)
{
    char folder[4096];
    const char *out = arguments->out ? arguments->out : folder;
    cairn_scene *scene = NULL;
    if (!arguments->out && !default_folder(arguments->operand, folder, sizeof folder)) {
        fprintf(stderr, "cairn run: the name of the scene is too long; use --out\n");
        return EXIT_USAGE;
    }
    if (arguments->view && link && cairn_ranks_count(link) > 1) {
        fprintf(stderr, "cairn run: --view is for one process; 'cairn view %s' shows the run\n",
                out);
        return EXIT_USAGE;
    }
    cairn_interrupt_watch();
    int code = cairn_arguments_scene(arguments, link, &scene);
    if (code == EXIT_DONE)
        code = check_folder(out, arguments->force);
    if (code == EXIT_DONE)
        code = arguments->view ? run_in_view(scene, out, arguments)
                               : run_scene(scene, out, arguments->quiet);
    cairn_scene_destroy(scene);
    return code;
}

static int run(const cairn_arguments *arguments)
{
    return cairn_with_ranks(arguments, run_first);
}

static const cairn_flag *const run_flags[] = {
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
        "Ctrl-C ends a run cleanly: the results so far are kept, and 'cairn resume' continues it.\n"
        "A second Ctrl-C kills it. A folder that holds a run is refused without --force.\n"
        "Exit codes: 0 success, 1 failure, 2 usage error, 3 invalid scene, 4 stopped at a step\n"
        "that missed its tolerance; 129, 130 and 143: ended by SIGHUP, SIGINT and SIGTERM.",
    .flags = run_flags,
    .run = run,
};

/* ---- cairn resume ---------------------------------------------------------------------------- */

static int resume_first(const cairn_arguments *arguments, cairn_link *link)
{
    cairn_scene *scene = NULL;
    cairn_run_summary summary = { 0 };
    cairn_error error = { 0 };
    cairn_progress_view view = cairn_progress_start(arguments->quiet);
    cairn_resume_options options = { .progress = show_step, .context = &view, .link = link };
    if (arguments->thread_count > 0)
        options.threads = arguments->thread_count;
    cairn_interrupt_watch();
    cairn_status status = cairn_run_resume(arguments->operand, &options, &scene, &summary, &error);
    cairn_progress_end(&view);
    outcome result = { status, scene, &summary, &error, arguments->operand };
    int code = report(&result, arguments->quiet);
    cairn_scene_destroy(scene);
    return code;
}

static int resume(const cairn_arguments *arguments)
{
    return cairn_with_ranks(arguments, resume_first);
}

static const cairn_flag *const resume_flags[] = { &cairn_flag_quiet, &cairn_flag_threads, NULL };

const cairn_command cairn_command_resume = {
    .name = "resume",
    .operand = "RUN",
    .summary = "Continue a run from its last checkpoint",
    .details =
        "The result is identical, bit for bit, to that of an uninterrupted run. Output written\n"
        "after the checkpoint is written again. Exit codes are those of 'cairn run'.",
    .flags = resume_flags,
    .run = resume,
};
