/* error.c - how failures are told, and loading the scene that a command works on. */
#include <stdio.h>

#include "command.h"

/* The operating system's business, or the scene's? */
static int exit_code(cairn_status status, const cairn_error *error)
{
    switch (status) {
    case CAIRN_OK:
        return EXIT_DONE;
    case CAIRN_NO_MEMORY:
    case CAIRN_IO_FAILED:
        return EXIT_FAILED;
    case CAIRN_NOT_FOUND:
        return error->line > 0 || error->key[0] ? EXIT_SCENE : EXIT_FAILED;
    default:
        return EXIT_SCENE;
    }
}

int cairn_error_print(cairn_status status, const cairn_error *error)
{
    char shown[4 * sizeof error->message];
    cairn_text_escape(error->file[0] ? error->file : "cairn", shown, sizeof shown);
    fprintf(stderr, "%s", shown);
    if (error->line > 0)
        fprintf(stderr, ":%d:%d", error->line, error->column);
    cairn_text_escape(error->key, shown, sizeof shown);
    if (error->key[0])
        fprintf(stderr, ": %s", shown);
    cairn_text_escape(error->message[0] ? error->message : cairn_status_text(status), shown,
                      sizeof shown);
    fprintf(stderr, ": %s\n", shown);
    return exit_code(status, error);
}

/* What is a little wrong with a scene that runs all the same. */
static void note_overlap(const cairn_scene *scene)
{
    const double rounding = 1e-6;
    if (scene->overlap > rounding)
        fprintf(
            stderr,
            "NOTE: bodies overlap at the start, by %.2g %% of a radius at most; run.overlaps is "
            "%s.\n",
            100 * scene->overlap, scene->step.overlaps);
}

int cairn_arguments_scene(const cairn_arguments *arguments, cairn_scene **out)
{
    cairn_error error = { 0 };
    cairn_status status = cairn_scene_load(arguments->operand, arguments->overrides,
                                           arguments->override_count, out, &error);
    if (status == CAIRN_OK) {
        note_overlap(*out);
        return EXIT_DONE;
    }
    if (!error.file[0])
        snprintf(error.file, sizeof error.file, "%s", arguments->operand);
    return cairn_error_print(status, &error);
}
