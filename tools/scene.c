/* scene.c - loading the scene that a command works on. */
#include <stdio.h>

#include "command.h"

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
