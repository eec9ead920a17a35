/* run_problems.h - contact problems of single steps, in the folder problems/ of a run. */
#ifndef CAIRN_IO_RUN_PROBLEMS_H
#define CAIRN_IO_RUN_PROBLEMS_H

#include "cairn/run.h"

typedef struct cairn_run_problems {
    int64_t written;
    int64_t missed; /* of these, of steps that missed their tolerance and were not asked for */
    int64_t bytes;  /* of those files                                                         */
} cairn_run_problems;

/* Remove what an earlier run left in folder/problems; nothing else is touched there. */
cairn_status cairn_run_problems_clear(const char *folder, cairn_error *error);

/* Write folder/problems/step_000123.hdf5 when the scene asks for this step, or when it missed its
 * tolerance and fewer than CAIRN_RUN_MOST_PROBLEMS of such steps, with fewer than
 * CAIRN_RUN_PROBLEM_BYTES, are there. */
cairn_status cairn_run_problems_step(cairn_run_problems *problems, const char *folder,
                                     const cairn_scene *scene, int64_t step,
                                     const cairn_step_report *report, cairn_error *error);

#endif
