/* run_file.h - what a run records: run.h5 (docs/run-format.md is its schema), summary.json, and the
 * statistics of its frames. */
#ifndef CAIRN_RUN_RUN_FILE_H
#define CAIRN_RUN_RUN_FILE_H

#include "base/memory.h"
#include "cairn/run.h"
#include "cairn/scene.h"
#include "cairn/world.h"
#include "file/hdf5.h"
#include "measure/measure.h"
#include "run/frame.h"

/* The root attributes `format` and `format_version`, which every reader checks. Version 1 had texts
 * of any length and no checksums; in version 2 `asked_relative` was what is `asked_whole` now. Both
 * are still read, and no longer written. */
#define CAIRN_RUN_FORMAT "cairn run"
enum { CAIRN_RUN_FORMAT_OLDEST = 1, CAIRN_RUN_FORMAT_VERSION = 3 };
/* The root attribute `rules`: the version of the rules by which bodies move, as numbered in
 * docs/run-format.md. cairn-check needs it to recompute a run. */
enum { CAIRN_RUN_RULES = 5 };

/* How a run ended: "complete", "rest", "interrupted", "stopped" or "failed". */
typedef struct cairn_run_ending {
    const char *name;
    const char *message; /* what went wrong; "" if nothing did */
} cairn_run_ending;

/* Find the run file of a path: the path itself, or run.h5 in the folder that it names. `out` has
 * room for CAIRN_PATH_BYTES. CAIRN_NOT_FOUND: there is no such file. */
cairn_status cairn_run_find_file(const char *path, char *out, cairn_error *error);

/* A run file that is being written. */
typedef struct cairn_run_file cairn_run_file;

/* How far a series goes: its rows, and the steps since the last row with the sums of what they
 * read, for a row that is a mean. */
typedef struct cairn_run_series_mark {
    int64_t rows;
    double steps; /* a substep counts as its share of a step */
    cairn_probe_reading sum;
} cairn_run_series_mark;

/* How far a file goes: the number of rows in its tables. Rows that belong to frames follow from the
 * offsets in the file itself. */
typedef struct cairn_run_extent {
    int64_t steps, frames, bodies, joints;
    int64_t statistics[CAIRN_MOST_NAMES]; /* in the order of run.statistics             */
    /* J: works and losses so far, as the statistics sum them */
    cairn_energy totals;
    cairn_run_series_mark series[CAIRN_MOST_PROBES]; /* in the order of the scene */
} cairn_run_extent;

/* info.c: the root attributes, and the names of materials. In a file that is being continued the
 * attributes are written again, and `ending` becomes "unfinished" again. */
cairn_status cairn_run_write_settings(hid_t file, const cairn_scene *scene, cairn_error *error);
/* With `to` NULL, create folder/run.h5.part with the settings of the scene. Otherwise open it,
 * check its checksums, cut it to the extent `to`, which it had at a checkpoint, and continue from
 * there. `folder` and `scene` must outlive the file. */
cairn_status cairn_run_file_open(const char *folder, const cairn_scene *scene,
                                 const cairn_run_extent *to, cairn_run_file **out,
                                 cairn_error *error);
/* How far it goes, without the steps that wait in memory for a flush. */
cairn_run_extent cairn_run_file_tell(const cairn_run_file *file);
/* Rows of /geometry. */
int32_t cairn_run_file_geometries(const cairn_run_file *file);
/* Append a step. Steps are collected in memory and written some hundred at a time, or by a flush: a
 * step may take less time than a call of HDF5 for each of its columns. */
cairn_status cairn_run_file_step(cairn_run_file *file, int64_t step, double time,
                                 const cairn_step_report *report, cairn_error *error);
/* Append a frame. Waits for a flush that is in progress. */
cairn_status cairn_run_file_frame(cairn_run_file *file, const cairn_run_frame *frame,
                                  cairn_error *error);
/* A frame in pieces: some of its bodies by increasing rows, then some of its contacts in their
 * order, then the end, which makes it count. A flush must have been ended before. */
cairn_status cairn_run_file_bodies(cairn_run_file *file, const cairn_run_frame *frame,
                                   cairn_error *error);
cairn_status cairn_run_file_contacts(cairn_run_file *file, const cairn_run_frame *frame,
                                     cairn_error *error);
cairn_status cairn_run_file_end_frame(cairn_run_file *file, const cairn_run_frame *frame,
                                      cairn_error *error);
/* Whether the scene requests `certificate: full`. If and only if it does, call
 * cairn_run_file_detail after the first frame (step 0) and after every step, with the arrays that
 * cairn_run_frame_detail filled. */
bool cairn_run_file_is_full(const cairn_run_file *file);
cairn_status cairn_run_file_detail(cairn_run_file *file, const cairn_run_frame *frame,
                                   cairn_error *error);
/* The same in pieces: some bodies by increasing rows with their inputs, some contacts in their
 * order, and impacts; then the end, which makes the step count. */
cairn_status cairn_run_file_detail_piece(cairn_run_file *file, const cairn_run_frame *frame,
                                         cairn_error *error);
cairn_status cairn_run_file_end_detail(cairn_run_file *file, const cairn_run_frame *frame,
                                       cairn_error *error);
/* Bring everything to the disk in a state that can be read. */
cairn_status cairn_run_file_flush(cairn_run_file *file, cairn_error *error);
/* The same in two parts, so that steps can continue while chunks are compressed. The second part
 * does nothing until the compression is done, unless `wait` is set. A frame or a detail that comes
 * before the second part waits for it. */
cairn_status cairn_run_file_begin_flush(cairn_run_file *file, cairn_error *error);
cairn_status cairn_run_file_end_flush(cairn_run_file *file, bool wait, cairn_error *error);
bool cairn_run_file_is_flushing(const cairn_run_file *file);
/* Store the events of the scene that happened after a step. */
cairn_status cairn_run_file_events(cairn_run_file *file, int64_t step, cairn_error *error);
/* Write the totals and close the file, which then is complete except for its name. */
cairn_status cairn_run_file_finish(cairn_run_file *file, const cairn_run_summary *summary,
                                   const cairn_run_ending *ending, cairn_error *error);
/* Rename a finished file to folder/run.h5. */
cairn_status cairn_run_file_commit(cairn_run_file *file, cairn_error *error);
/* Free. A file that was not finished stays as run.h5.part, as of its last flush. NULL is
 * allowed. */
void cairn_run_file_destroy(cairn_run_file *file);

/* ---- the summary ----------------------------------------------------------------------------- */

/* Totals over the steps of a run, and summary.json; names and units of what a step
 * reports. */

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
/* What the inlets of a world have released and what they have not. */
cairn_run_inlets cairn_run_inlets_of(const cairn_world *world);

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

/* ---- statistics ------------------------------------------------------------------------------ */

/* The statistics that a run measures at its frames: the group /statistics of
 * run.h5 and the files statistics/NAME.csv (docs/statistics.md); and the series of forces that it
 * reads in its steps: the group /series and the files series/NAME.csv (docs/series.md). */

/* Zero is valid: nothing is measured. */
typedef struct cairn_run_statistics {
    const cairn_scene *scene;
    const char *folder;
    /* set by the owner before cairn_run_statistics_create, which keeps it */
    cairn_hdf5_writer *writer;
    struct cairn_run_statistic *items; /* one for each name of run.statistics; owned */
    int count;
    struct cairn_run_statistic *series; /* one for each series of the scene; owned */
    int series_count;
    double time;         /* s: reached by the last step */
    int64_t frames;      /* measured so far             */
    cairn_energy totals; /* J: works and losses, summed over the steps so far */
    cairn_arena arena;
} cairn_run_statistics;

/* Create the groups and start the CSV files, if the scene requests statistics. Scene and folder
 * must outlive the statistics. */
cairn_status cairn_run_statistics_create(hid_t file, const char *folder, const cairn_scene *scene,
                                         cairn_run_statistics *out, cairn_error *error);
/* How far the tables go so far: sets the parts of the extent that belong to them. */
void cairn_run_statistics_tell(const cairn_run_statistics *s, cairn_run_extent *extent);
/* In a file that is being continued: keep the rows that the extent says, write them to the CSV
 * files again, and continue from its sums. */
cairn_status cairn_run_statistics_cut(cairn_run_statistics *s, const cairn_run_extent *to,
                                      cairn_error *error);
/* Add works and losses of a step that led to `time` (s), and what its probes read. Rows of series
 * wait in memory. */
cairn_status cairn_run_statistics_step(cairn_run_statistics *s, double time,
                                       const cairn_step_report *report);
/* Write the rows of series that wait. With `last`, also rows for the steps since the last complete
 * interval. */
cairn_status cairn_run_statistics_write(cairn_run_statistics *s, bool last, cairn_error *error);
/* Measure the state after `step` steps, and append the rows: a sample of it, whose totals are set
 * here, or, if that is NULL, the current state of the scene's world. */
cairn_status cairn_run_statistics_frame(cairn_run_statistics *s, int64_t step, cairn_sample *sample,
                                        cairn_error *error);
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

/* Whether a body is a grain: dynamic, and no wall of a cell. */
bool cairn_sample_is_grain(bool dynamic, double volume, cairn_vec3 inertia);

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
