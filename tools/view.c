/* view.c - `cairn view`: runs in the browser. */
#include <stdio.h>

#include "command.h"
#include "view/show.h"

static const char *take_no_browser(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->no_browser = true;
    return NULL;
}

const cairn_flag cairn_flag_no_browser = {
    .name = "--no-browser",
    .text = "only print the address of the viewer",
    .take = take_no_browser,
};

static int view(const cairn_arguments *arguments)
{
    if (arguments->operand_count > 2) {
        fprintf(stderr, "cairn view: found %d runs, expected one or two\n",
                arguments->operand_count);
        return EXIT_USAGE;
    }
    return cairn_view_show(arguments->operands, arguments->operand_count, !arguments->no_browser);
}

static const cairn_flag *const flags[] = { &cairn_flag_no_browser, NULL };

const cairn_command cairn_command_view = {
    .name = "view",
    .operand = "RUN...",
    .summary = "Show a run, or two side by side, in the browser",
    .details = "A run that is under way is followed. The page is served on 127.0.0.1, at an "
               "address with a\n"
               "random token; nothing leaves the machine. Ctrl-C, or 'End' in the page, ends it.",
    .flags = flags,
    .run = view,
};
