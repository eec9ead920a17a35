/* explain.c - `cairn explain`: what a run says about its speed and accuracy, and what to change. */
#include <stdio.h>

#include "command.h"

static int explain(const cairn_arguments *arguments)
{
    cairn_error error = { 0 };
    cairn_status status = cairn_run_explain(arguments->operand, stdout, &error);
    if (status == CAIRN_OK)
        return EXIT_DONE;
    cairn_error_print(status, &error);
    return EXIT_FAILED;
}

static const cairn_flag *const flags[] = { NULL };

const cairn_command cairn_command_explain = {
    .name = "explain",
    .operand = "RUN",
    .summary = "Say what was slow in a run, where accuracy was lost, and what to change",
    .flags = flags,
    .run = explain,
};
