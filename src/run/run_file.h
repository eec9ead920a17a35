/* run_file.h - writes run.h5; docs/run-format.md is its schema. */
#ifndef CAIRN_IO_RUN_FILE_H
#define CAIRN_IO_RUN_FILE_H

#include "cairn/run.h"
#include "io/run_frame.h"

/* What every reader must find in the root attributes `format` and `format_version`. Version 1 had
 * texts of any length, and no checksums. */
#define CAIRN_RUN_FORMAT "cairn run"
enum { CAIRN_RUN_FORMAT_OLDEST = 1, CAIRN_RUN_FORMAT_VERSION = 2 };
/* The root attribute `rules`: by which rules bodies move, as docs/run-format.md numbers them. */
enum { CAIRN_RUN_RULES = 2 };

/* How a run ended: "complete", "rest", "interrupted", "stopped" or "failed". */
typedef struct cairn_run_ending {
    const char *name;
    const char *message; /* what went wrong, "" when nothing did */
} cairn_run_ending;

/* The run file that a path means: itself, or run.h5 in the folder that it names. `out` holds
 * CAIRN_PATH_BYTES. */
cairn_status cairn_run_find_file(const char *path, char *out, cairn_error *error);

typedef struct cairn_run_file cairn_run_file;

/* How far a file goes: rows of its tables. What belongs to a frame follows from the offsets that
 * the file has itself. */
typedef struct cairn_run_extent {
    int64_t steps, frames, bodies, joints;
    int64_t statistics[CAIRN_MOST_NAMES]; /* in the order of run.statistics             */
    cairn_energy totals;                  /* works and losses, as the statistics add them up */
} cairn_run_extent;

/* Create folder/run.h5.part with the settings of the scene, which must outlive it (`to` NULL);
 * or open it, cut it `to` an extent that it had before, and go on from there. */
cairn_status cairn_run_file_open(const char *folder, const cairn_scene *scene,
                                 const cairn_run_extent *to, cairn_run_file **out,
                                 cairn_error *error);
/* How far it goes, without the steps that wait for a flush. */
cairn_run_extent cairn_run_file_tell(const cairn_run_file *file);
/* Rows of /geometry. */
int32_t cairn_run_file_geometries(const cairn_run_file *file);
/* Add a step; kept in memory until some hundred are together or a flush. */
cairn_status cairn_run_file_step(cairn_run_file *file, int64_t step, double time,
                                 const cairn_step_report *report, cairn_error *error);
/* Add a frame. */
cairn_status cairn_run_file_frame(cairn_run_file *file, const cairn_run_frame *frame,
                                  cairn_error *error);
/* Whether the scene asks for `certificate: full`; then, and only then, call cairn_run_file_detail
 * after the first frame (step 0) and after every step, with what cairn_run_frame_detail filled. */
bool cairn_run_file_is_full(const cairn_run_file *file);
cairn_status cairn_run_file_detail(cairn_run_file *file, const cairn_run_frame *frame,
                                   cairn_error *error);
/* Bring everything to the disk in a state that can be read. */
cairn_status cairn_run_file_flush(cairn_run_file *file, cairn_error *error);
/* The same in two parts, so that steps can go on while chunks are packed: the second does nothing
 * until they are, unless it is to wait. A frame or a detail that comes before ends it first. */
cairn_status cairn_run_file_begin_flush(cairn_run_file *file, cairn_error *error);
cairn_status cairn_run_file_end_flush(cairn_run_file *file, bool wait, cairn_error *error);
bool cairn_run_file_is_flushing(const cairn_run_file *file);
/* Add the totals and close: all is there but the name. */
cairn_status cairn_run_file_finish(cairn_run_file *file, const cairn_run_summary *summary,
                                   const cairn_run_ending *ending, cairn_error *error);
/* Rename a finished one to folder/run.h5. */
cairn_status cairn_run_file_commit(cairn_run_file *file, cairn_error *error);
/* Free; a file that was not committed stays as run.h5.part. NULL is allowed. */
void cairn_run_file_destroy(cairn_run_file *file);

#endif
