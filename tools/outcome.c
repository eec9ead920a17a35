/* outcome.c - see outcome.h. */
#include "outcome.h"

#include <stdio.h>

#include "command.h"
#include "ending/interrupt.h"
#include "summary.h"

bool cairn_outcome_step(const cairn_progress *progress, void *context)
{
    cairn_progress_show(context, progress);
    return cairn_interrupt_signal() == 0;
}

/* What a run that came to some end means for the exit code. */
static int exit_code(const cairn_outcome *o)
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
                "cairn: interrupted; what was computed is kept; to go on: cairn resume %s\n",
                o->folder);
        return EXIT_SIGNAL_BASE + cairn_interrupt_signal();
    }
    return EXIT_DONE;
}

int cairn_outcome_tell(const cairn_outcome *o, bool quiet)
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
