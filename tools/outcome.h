/* outcome.h - what `cairn run` and `cairn resume` share: progress after a step, and how a run that
 * came to some end is told. */
#ifndef CAIRN_TOOLS_OUTCOME_H
#define CAIRN_TOOLS_OUTCOME_H

#include "cairn/cairn.h"
#include "progress.h"

typedef struct cairn_outcome {
    cairn_status status;
    const cairn_scene *scene; /* NULL: there was none */
    const cairn_run_summary *summary;
    const cairn_error *error;
    const char *folder;
} cairn_outcome;

/* A cairn_progress_fn: shows progress (`context` is a cairn_progress_view) until a signal comes. */
bool cairn_outcome_step(const cairn_progress *progress, void *context);
/* Print the summary unless `quiet`, warnings, and what went wrong. Returns the exit code. */
int cairn_outcome_tell(const cairn_outcome *outcome, bool quiet);

#endif
