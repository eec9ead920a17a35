/* check.c - `cairn check`: is the scene right, and what does it hold? */
#include <stdio.h>

#include "command.h"
#include "describe.h"

static int check(const cairn_arguments *arguments)
{
    cairn_scene *scene = NULL;
    int code = cairn_arguments_scene(arguments, &scene);
    if (code != EXIT_DONE)
        return code;
    if (!arguments->quiet) {
        printf("%s: ok\n", arguments->operand);
        cairn_scene_describe(scene);
    }
    cairn_scene_destroy(scene);
    return EXIT_DONE;
}

static const cairn_flag *const flags[] = { &cairn_flag_set, &cairn_flag_quiet, NULL };

const cairn_command cairn_command_check = {
    .name = "check",
    .operand = "SCENE",
    .summary = "Read a scene, build its world, and say what it holds or what is wrong",
    .details = "Errors are printed as file:line:column: key: what was found and expected.",
    .flags = flags,
    .run = check,
};
