/* output.h - everything that a run writes while it computes: run.h5, paraview/, problems/,
 * summary.json, and the checkpoint from which it can be resumed. */
#ifndef CAIRN_RUN_OUTPUT_H
#define CAIRN_RUN_OUTPUT_H

#include "cairn/run.h"
#include "run/drawing.h"
#include "run/run_file.h"

struct cairn_team;

/* ---- problems ---------------------------------------------------------------------------- */

/* Contact problems of single steps, in the folder problems/ of a run. */

/* Counts of the files, for the limits and for the summary. Zero is valid: none. */
typedef struct cairn_run_problems {
    int64_t written;
    int64_t missed; /* of these, those of missed steps that the scene did not request */
    int64_t bytes;  /* bytes of the files counted in `missed` */
} cairn_run_problems;

/* Remove the problems that an earlier run left in folder/problems; other files there stay. */
cairn_status cairn_run_problems_clear(const char *folder, cairn_error *error);

/* Write folder/problems/step_000123.hdf5 if the scene requests this step. Also write it if the step
 * missed its tolerance, until CAIRN_RUN_MOST_PROBLEMS such files or CAIRN_RUN_PROBLEM_BYTES are
 * reached: a run in which every step misses must not fill the disk. */
cairn_status cairn_run_problems_step(cairn_run_problems *problems, const char *folder,
                                     const cairn_scene *scene, int64_t step,
                                     const cairn_step_report *report, cairn_error *error);

/* ---- output ------------------------------------------------------------------------------ */

/* All files of a run. Zero is valid: nothing is open and nothing is written. */
typedef struct cairn_run_output {
    const char *folder; /* NULL: write nothing */
    const cairn_scene *scene;
    cairn_run_file *file;
    cairn_run_paraview paraview;
    cairn_run_roll roll;
    cairn_arena arena; /* holds the current frame and scratch memory of its writers */
    int64_t frames;    /* written                          */
    /* frames, certificates and the picture come from window.c and shown.c: no process has all
     * bodies */
    bool in_pieces;
    cairn_run_problems problems;
    double last_flush;  /* s, on the clock; 0: none yet */
    double flush_costs; /* s: cost of the last flush, for the limit on their share of the time */
} cairn_run_output;

/* Start the files in `folder`, which exists. `folder` and `scene` must outlive the output. With
 * `folder` NULL, every later call does nothing: the run is computed only. */
cairn_status cairn_run_output_create(const char *folder, const cairn_scene *scene,
                                     cairn_run_output *out, cairn_error *error);
/* Continue the files of a run at the point of a checkpoint. cairn_checkpoint_read has already set
 * frames, roll, problems and the ParaView series in `out`. Everything that was written later is
 * removed. */
cairn_status cairn_run_output_go_on(const char *folder, const cairn_scene *scene,
                                    const cairn_run_extent *extent, cairn_run_output *out,
                                    cairn_error *error);
/* Bring everything to the disk in a state that can be read. Waits for the compression. */
cairn_status cairn_run_output_flush(cairn_run_output *output, cairn_error *error);
/* Store a step that led to `time` (s), and its contact problem if one is to be written. */
cairn_status cairn_run_output_step(cairn_run_output *output, int64_t step, double time,
                                   const cairn_step_report *report, cairn_error *error);
/* Store the current state of the world as a frame, the state after `step` steps. */
cairn_status cairn_run_output_frame(cairn_run_output *output, int64_t step, cairn_error *error);
/* After a frame that was stored in pieces (run_file.h): count it, and flush in time. */
cairn_status cairn_run_output_frame_end(cairn_run_output *output, cairn_error *error);
/* Draw the state at the end, which need not be a stored frame. */
cairn_status cairn_run_output_picture(cairn_run_output *output, cairn_error *error);
/* Complete all files and give them their final names, run.h5 last. */
cairn_status cairn_run_output_commit(cairn_run_output *output, const cairn_run_summary *summary,
                                     const cairn_run_ending *ending, cairn_error *error);
/* Free. Files that were not committed keep their temporary names, so a run that was interrupted can
 * be resumed. */
void cairn_run_output_destroy(cairn_run_output *output);

/* ---- events ------------------------------------------------------------------------------ */

/* Examine the events of the scene after a step: those that are due have happened after it. Then do
 * what they say, and store them. */
cairn_status cairn_run_events_examine(struct cairn_team *team, cairn_scene *scene, int64_t step);
cairn_status cairn_run_events_act(cairn_run_output *output, struct cairn_team *team,
                                  cairn_scene *scene, int64_t step, cairn_error *error);

/* ---- checkpoints ------------------------------------------------------------------------- */

/* The file `checkpoint` of a run folder: everything that a run needs to continue as if it had never
 * stopped, with the same bits. docs/checkpoints.md lists the contents. */

/* The state of a run apart from its world and its files. */
typedef struct cairn_run_marks {
    /* so far: means are still sums; wall_seconds of all parts of the run */
    cairn_run_summary summary;
    double start;       /* s: time of the world at the start                       */
    double next_frame;  /* number of frames that were due so far, see frame_is_due */
    int64_t stored;     /* step of the last stored frame; -1: none */
    int64_t slow_steps; /* consecutive steps in which no body was fast */
    /* m, by uid: positions at the start; after reading, the caller frees them */
    cairn_vec3 *places; /* NULL although there are some: the team has them in shares */
    int place_count;
    struct cairn_team *team; /* that runs it; NULL: this process alone */
    cairn_run_extent extent; /* rows of run.h5 that belong to this state */
} cairn_run_marks;

/* Write folder/checkpoint, all or nothing, and return when it is on the disk. The files that it
 * refers to must have been flushed before: `marks->extent` must not go beyond them. */
cairn_status cairn_checkpoint_write(const char *folder, const cairn_scene *scene,
                                    const cairn_run_marks *marks, const cairn_run_output *output,
                                    cairn_error *error);
/* Read it into a new scene, the marks (with `team` set or NULL before), and the part of the output
 * that is in memory (zero before the call). CAIRN_NOT_FOUND: there is none. CAIRN_BAD_INPUT: it is
 * damaged; CAIRN_UNSUPPORTED: it has another version of the format. If several processes go on and
 * none of them needs all bodies, the scene has none either, but `shared`, from which
 * cairn_team_begin hands out shares. On failure *scene is NULL, but marks->places and the output
 * may hold memory that the caller frees. */
cairn_status cairn_checkpoint_read(const char *folder, cairn_scene **scene, cairn_run_marks *marks,
                                   cairn_run_output *output, cairn_error *error);
/* Remove it; succeeds if there is none. */
cairn_status cairn_checkpoint_remove(const char *folder, cairn_error *error);

#endif
