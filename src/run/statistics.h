/* statistics.h - the statistics that a run measures at its frames: the group /statistics of
 * run.h5 and the files statistics/NAME.csv (docs/statistics.md). */
#ifndef CAIRN_RUN_STATISTICS_H
#define CAIRN_RUN_STATISTICS_H

#include "base/arena.h"
#include "cairn/scene.h"
#include "file/hdf5_column.h"
#include "measure/measure.h"

/* Zero is valid: nothing is measured. */
typedef struct cairn_run_statistics {
    const cairn_scene *scene;
    const char *folder;
    /* set by the owner before cairn_run_statistics_create, which keeps it */
    cairn_hdf5_writer *writer;
    struct cairn_run_statistic *items; /* one for each name of run.statistics; owned */
    int count;
    cairn_energy totals; /* J: works and losses, summed over the steps so far */
    cairn_arena arena;
} cairn_run_statistics;

/* Create the groups and start the CSV files, if the scene requests statistics. Scene and folder
 * must outlive the statistics. */
cairn_status cairn_run_statistics_create(hid_t file, const char *folder, const cairn_scene *scene,
                                         cairn_run_statistics *out, cairn_error *error);
/* Rows of each table so far; `rows` has room for CAIRN_MOST_NAMES. */
void cairn_run_statistics_rows(const cairn_run_statistics *s, int64_t *rows);
/* In a file that is being continued: keep the first `rows[i]` rows of table i, write them to the
 * CSV files again, and continue from `totals`. */
cairn_status cairn_run_statistics_cut(cairn_run_statistics *s, const int64_t *rows,
                                      const cairn_energy *totals, cairn_error *error);
/* Add works and losses of a step. */
void cairn_run_statistics_step(cairn_run_statistics *s, const cairn_step_report *report);
/* Measure the current state of the world, which is the state after `step` steps, and append the
 * rows. */
cairn_status cairn_run_statistics_frame(cairn_run_statistics *s, int64_t step, cairn_error *error);
/* Close what is open in the HDF5 file. */
void cairn_run_statistics_close(cairn_run_statistics *s);
/* Give the CSV files their final names. Files of statistics that only an earlier run measured are
 * removed, so that the folder never mixes two runs. */
cairn_status cairn_run_statistics_commit(cairn_run_statistics *s, cairn_error *error);
/* Free; files that were not committed are removed. */
void cairn_run_statistics_destroy(cairn_run_statistics *s);

/* ---- samples ----------------------------------------------------------------------------- */

/* Samples for statistics, taken from a world. */

/* The current state of the world. Arrays are lent by the world or taken from the arena. `time_step`
 * (s) converts impulses into forces; 0: there was no step, so the contacts are unknown. */
cairn_status cairn_sample_take(const cairn_world *world, double time_step, cairn_arena *arena,
                               cairn_sample *out);

/* Volume (m^3, 2D: m^2) of a shape; 0 if it has no finite volume. */
double cairn_sample_volume(const cairn_shape *shape, int dimension);

/* Contacts as stored in files and worlds: impulses are given in the contact frame, normal first. */
typedef struct cairn_sample_contacts {
    int count;
    const cairn_vec3 *normal, *tangent;
    const double *impulse; /* N s, `dimension` each */
} cairn_sample_contacts;

/* Forces (N) on body a, in the world frame, one for each contact; NULL: no memory. */
const cairn_vec3 *cairn_sample_forces(const cairn_sample_contacts *contacts, int dimension,
                                      double time_step, cairn_arena *arena);

#endif
