/* run_output.h - everything a run writes while it goes on: run.h5, paraview/, problems/,
 * summary.json. */
#ifndef CAIRN_IO_RUN_OUTPUT_H
#define CAIRN_IO_RUN_OUTPUT_H

#include "io/run_file.h"
#include "io/run_paraview.h"
#include "io/run_problems.h"

/* Zero is valid: nothing is open and nothing is written. */
typedef struct cairn_run_output {
    const char *folder; /* NULL: write nothing */
    const cairn_scene *scene;
    cairn_run_file *file;
    cairn_run_paraview paraview;
    cairn_run_roll roll;
    cairn_arena arena; /* holds one frame                  */
    int64_t frames;    /* written                          */
    cairn_run_problems problems;
    double last_flush;  /* s, on the clock                  */
    double flush_costs; /* s: of the last one               */
} cairn_run_output;

/* Make the folder and start the files. `folder` NULL: every later call does nothing. */
cairn_status cairn_run_output_create(const char *folder, const cairn_scene *scene,
                                     cairn_run_output *out, cairn_error *error);
/* Go on with the files of a run where a checkpoint left them: frames, roll, problems and the series
 * for ParaView are set already. What was written later is cut off. */
cairn_status cairn_run_output_go_on(const char *folder, const cairn_scene *scene,
                                    const cairn_run_extent *extent, cairn_run_output *out,
                                    cairn_error *error);
/* Bring everything to the disk in a state that can be read. */
cairn_status cairn_run_output_flush(cairn_run_output *output, cairn_error *error);
/* Store a step, and its contact problem when that is due. */
cairn_status cairn_run_output_step(cairn_run_output *output, int64_t step,
                                   const cairn_step_report *report, cairn_error *error);
/* Store the world as it stands, as the state after `step` steps. */
cairn_status cairn_run_output_frame(cairn_run_output *output, int64_t step, cairn_error *error);
/* Complete all files and give them their names. */
cairn_status cairn_run_output_commit(cairn_run_output *output, const cairn_run_summary *summary,
                                     const cairn_run_ending *ending, cairn_error *error);
/* Free; what was not committed stays under its temporary name. */
void cairn_run_output_destroy(cairn_run_output *output);

#endif
