/* run_summary.h - totals over the steps of a run, and summary.json. */
#ifndef CAIRN_IO_RUN_SUMMARY_H
#define CAIRN_IO_RUN_SUMMARY_H

#include "cairn/run.h"
#include "io/run_file.h"

/* Nothing done yet; initial_energy and the energies are those of the world as it stands. */
cairn_run_summary cairn_run_summary_start(const cairn_world *world);

/* Add a step to a list of steps; they come in increasing order. */
void cairn_run_spans_add(cairn_run_spans *spans, int64_t step);

/* Add one step. Means hold sums until cairn_run_summary_finish. */
void cairn_run_summary_add(cairn_run_summary *summary, const cairn_step_report *report);

/* Turn sums into means. Call it once, after the last step. */
void cairn_run_summary_finish(cairn_run_summary *summary);

/* Write folder/summary.json, all or nothing. */
cairn_status cairn_run_summary_write(const cairn_run_summary *summary, const cairn_scene *scene,
                                     const cairn_run_ending *ending, const char *folder,
                                     cairn_error *error);

#endif
