/* resume.c - `cairn resume`: go on with a run from its last checkpoint. */
#include "command.h"
#include "ending/interrupt.h"
#include "outcome.h"

static int resume(const cairn_arguments *arguments)
{
    cairn_scene *scene = NULL;
    cairn_run_summary summary = { 0 };
    cairn_error error = { 0 };
    cairn_progress_view view = cairn_progress_start(arguments->quiet);
    cairn_resume_options options = { .progress = cairn_outcome_step, .context = &view };
    if (arguments->thread_count > 0)
        options.threads = arguments->thread_count;
    cairn_interrupt_watch();
    cairn_status status = cairn_run_resume(arguments->operand, &options, &scene, &summary, &error);
    cairn_progress_end(&view);
    cairn_outcome outcome = { status, scene, &summary, &error, arguments->operand };
    int code = cairn_outcome_tell(&outcome, arguments->quiet);
    cairn_scene_destroy(scene);
    return code;
}

static const cairn_flag *const flags[] = { &cairn_flag_quiet, &cairn_flag_threads, NULL };

const cairn_command cairn_command_resume = {
    .name = "resume",
    .operand = "RUN",
    .summary = "Go on with a run folder from its last checkpoint",
    .details =
        "The result is the same, bit by bit, as if the run had never stopped. What it wrote\n"
        "after the checkpoint is written again. Exit codes as for 'cairn run'.",
    .flags = flags,
    .run = resume,
};
