/* checkpoint.h - the file `checkpoint` of a run folder: all that a run needs to go on as if it had
 * never stopped. docs/run-format.md tells what it holds. */
#ifndef CAIRN_IO_CHECKPOINT_H
#define CAIRN_IO_CHECKPOINT_H

#include "cairn/run.h"
#include "io/run_output.h"

/* Where a run is, besides its world and its files. */
typedef struct cairn_run_marks {
    cairn_run_summary summary; /* of the steps so far, not finished; wall_seconds: so far */
    double start;              /* s: time of the world at the start                       */
    double next_frame;         /* frames due so far                                       */
    int64_t stored;            /* step of the last stored frame, -1: none                 */
    int64_t slow_steps;        /* steps in a row in which nothing was fast                */
    cairn_vec3 *places;        /* m: where bodies were at the start; read: caller's to free */
    int place_count;
    cairn_run_extent extent; /* of run.h5                                                 */
} cairn_run_marks;

/* Write folder/checkpoint, all or nothing, and see it on the disk. */
cairn_status cairn_checkpoint_write(const char *folder, const cairn_scene *scene,
                                    const cairn_run_marks *marks, const cairn_run_output *output,
                                    cairn_error *error);
/* Read it into a scene of its own, the marks, and the part of the output that is in memory (zero
 * before). CAIRN_NOT_FOUND: there is none. CAIRN_BAD_INPUT: it is damaged; CAIRN_UNSUPPORTED: of
 * another version. */
cairn_status cairn_checkpoint_read(const char *folder, cairn_scene **scene, cairn_run_marks *marks,
                                   cairn_run_output *output, cairn_error *error);
/* Remove it; none is fine. */
cairn_status cairn_checkpoint_remove(const char *folder, cairn_error *error);

#endif
