/* summary.h - totals over the steps of a run, and summary.json; names and units of what a step
 * reports. */
#ifndef CAIRN_RUN_SUMMARY_H
#define CAIRN_RUN_SUMMARY_H

#include "cairn/run.h"
#include "cairn/world.h"
#include "run/run_file.h"

/* ---- what a step reports ----------------------------------------------------------------- */

/* Names and units of the quantities that a step reports: one set of tables for the columns of
 * run.h5, for totals, for checkpoints and for summary.json. A new quantity is a new line in
 * summary.c. */

/* One member of a struct, of type double. */
typedef struct cairn_report_entry {
    const char *name;
    const char *unit;
    size_t offset;
} cairn_report_entry;

/* The members of a struct that are reported. */
typedef struct cairn_report_entries {
    const cairn_report_entry *items;
    int count;
} cairn_report_entries;

extern const cairn_report_entries cairn_certificate_entries; /* of cairn_certificate */
extern const cairn_report_entries cairn_energy_entries;      /* of cairn_energy      */
extern const cairn_report_entries cairn_timing_entries;      /* of cairn_timing      */

/* Read and write the member of `record`, a struct of the entry's type. */
double cairn_report_entry_get(const cairn_report_entry *entry, const void *record);
void cairn_report_entry_set(const cairn_report_entry *entry, void *record, double value);

/* ---- totals ------------------------------------------------------------------------------ */

/* The summary before the first step; initial_energy and the energies are those of the current
 * state. */
cairn_run_summary cairn_run_summary_start(const cairn_world *world);

/* Add a step to a list of ranges of steps. Steps must be added in increasing order. */
void cairn_run_spans_add(cairn_run_spans *spans, int64_t step);

/* Add one step. Members called mean_... and `mean` hold sums until cairn_run_summary_finish, so
 * that a resumed run gets the same bits. */
void cairn_run_summary_add(cairn_run_summary *summary, const cairn_step_report *report);

/* Turn sums into means. Call it once, after the last step. */
void cairn_run_summary_finish(cairn_run_summary *summary);

/* Write folder/summary.json, all or nothing. */
cairn_status cairn_run_summary_write(const cairn_run_summary *summary, const cairn_scene *scene,
                                     const cairn_run_ending *ending, const char *folder,
                                     cairn_error *error);

#endif
