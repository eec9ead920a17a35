/* run_statistics.h - the statistics that a run measures at its frames: the group /statistics of
 * run.h5 and the files statistics/NAME.csv (docs/statistics.md). */
#ifndef CAIRN_IO_RUN_STATISTICS_H
#define CAIRN_IO_RUN_STATISTICS_H

#include "base/arena.h"
#include "cairn/scene.h"
#include "io/hdf5_column.h"

/* Zero is valid: nothing is measured. */
typedef struct cairn_run_statistics {
    const cairn_scene *scene;
    const char *folder;
    cairn_hdf5_writer *writer;         /* set by the owner, before all else */
    struct cairn_run_statistic *items; /* one for each name of run.statistics */
    int count;
    cairn_energy totals; /* over the steps so far */
    cairn_arena arena;
} cairn_run_statistics;

/* Make the groups and start the files, when the scene asks for statistics. Scene and folder must
 * outlive them. */
cairn_status cairn_run_statistics_create(hid_t file, const char *folder, const cairn_scene *scene,
                                         cairn_run_statistics *out, cairn_error *error);
/* Rows of each table so far; `rows` has room for CAIRN_MOST_NAMES. */
void cairn_run_statistics_rows(const cairn_run_statistics *s, int64_t *rows);
/* In a file that goes on: keep so many rows of each table, write these to the files anew, and go on
 * from `totals`. */
cairn_status cairn_run_statistics_cut(cairn_run_statistics *s, const int64_t *rows,
                                      const cairn_energy *totals, cairn_error *error);
/* Add works and losses of a step. */
void cairn_run_statistics_step(cairn_run_statistics *s, const cairn_step_report *report);
/* Measure the world as it stands after `step` steps. */
cairn_status cairn_run_statistics_frame(cairn_run_statistics *s, int64_t step, cairn_error *error);
/* Close what is open in the HDF5 file. */
void cairn_run_statistics_close(cairn_run_statistics *s);
/* Give the files their names; those of statistics that an earlier run wrote are removed. */
cairn_status cairn_run_statistics_commit(cairn_run_statistics *s, cairn_error *error);
/* Free; files that were not committed are removed. */
void cairn_run_statistics_destroy(cairn_run_statistics *s);

#endif
