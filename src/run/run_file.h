/* run_file.h - writes run.h5; docs/run-format.md is its schema. */
#ifndef CAIRN_RUN_RUN_FILE_H
#define CAIRN_RUN_RUN_FILE_H

#include "cairn/run.h"
#include "run/frame.h"

/* The root attributes `format` and `format_version`, which every reader checks. Version 1 had texts
 * of any length and no checksums; it is still read, and no longer written. */
#define CAIRN_RUN_FORMAT "cairn run"
enum { CAIRN_RUN_FORMAT_OLDEST = 1, CAIRN_RUN_FORMAT_VERSION = 2 };
/* The root attribute `rules`: the version of the rules by which bodies move, as numbered in
 * docs/run-format.md. cairn-check needs it to recompute a run. */
enum { CAIRN_RUN_RULES = 2 };

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

/* How far a file goes: the number of rows in its tables. Rows that belong to frames follow from the
 * offsets in the file itself. */
typedef struct cairn_run_extent {
    int64_t steps, frames, bodies, joints;
    int64_t statistics[CAIRN_MOST_NAMES]; /* in the order of run.statistics             */
    /* J: works and losses so far, as the statistics sum them */
    cairn_energy totals;
} cairn_run_extent;

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
/* Whether the scene requests `certificate: full`. If and only if it does, call
 * cairn_run_file_detail after the first frame (step 0) and after every step, with the arrays that
 * cairn_run_frame_detail filled. */
bool cairn_run_file_is_full(const cairn_run_file *file);
cairn_status cairn_run_file_detail(cairn_run_file *file, const cairn_run_frame *frame,
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

#endif
