/* run.h - runs a scene and writes its folder: run.h5 (everything), a ParaView series, summary.json;
 * and reads rows of any column of a run, also of one under way. */
#ifndef CAIRN_RUN_H
#define CAIRN_RUN_H

#include <stdio.h>

#include "cairn/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Contact problems that a run writes by itself: those of the first steps that missed their
 *  tolerance, up to this number, and up to this total size in bytes. */
enum { CAIRN_RUN_MOST_PROBLEMS = 20, CAIRN_RUN_PROBLEM_BYTES = 16 << 20 };

/** Ranges of steps that a list of steps keeps, at most. */
enum { CAIRN_RUN_MOST_SPANS = 32 };

/** An overlap above this share of the smaller body's radius causes a warning, for any residual. */
#define CAIRN_RUN_DEEP 0.01

/** Steps as ranges first to last: the first CAIRN_RUN_MOST_SPANS of them. */
typedef struct cairn_run_spans {
    int64_t count; /* ranges there are, also beyond those kept                              */
    int64_t last;  /* the newest step                                                       */
    int64_t span[CAIRN_RUN_MOST_SPANS][2];
} cairn_run_spans;

/** The processes of a run, and where their time in steps went. Zero: one process, without MPI. */
typedef struct cairn_run_ranks {
    int64_t ranks;       /* processes                                                  */
    int64_t members;     /* of these, the ones that have parts of the world            */
    int64_t parts;       /* that the world is cut into (run.parts)                     */
    int64_t messages;    /* sent in steps, by all; since the start or the last resume  */
    int64_t bytes;       /* likewise                                                   */
    double compute;      /* s: in steps without messages, mean over the members        */
    double sending;      /* s: sending messages, likewise                              */
    double waiting;      /* s: waiting for messages of others, likewise                */
    double most_compute; /* s: of the member that computes longest                     */
    double most_waiting; /* s: of the member that waits longest                        */
} cairn_run_ranks;

/** The new bodies of all inlets at the end of a run. Those that are missing were due and found no
 *  free place in the region of their inlet, or are due later. */
typedef struct cairn_run_inlets {
    int64_t bodies, released, unplaced, later;
    int worst; /* number of the inlet with the most unplaced bodies, -1: none */
} cairn_run_inlets;

/** Totals over the steps of a run. */
typedef struct cairn_run_summary {
    int64_t steps;                  /* substeps of divided steps included                     */
    int64_t divided;                /* steps that were divided, because bodies moved too far  */
    int64_t substeps;               /* of these, in all                                       */
    int64_t finest;                 /* largest number of substeps of one length in a step     */
    double time;                    /* s reached                                              */
    double wall_seconds;            /* of the whole run                                       */
    int64_t bodies;                 /* alive at the end                                       */
    int64_t frames;                 /* stored                                                 */
    int64_t uncertified;            /* steps that missed their tolerance                      */
    int64_t first_uncertified;      /* number of the first such step, -1: none                */
    cairn_run_spans missed;         /* which they are                                         */
    int64_t problems;               /* contact problems written                               */
    int64_t missed_problems;        /* of these, of steps that missed their tolerance         */
    int64_t repeated;               /* steps repeated because bodies moved beyond their reach */
    int64_t resident;               /* steps that were computed whole on a device: docs/gpu.md */
    int64_t joints;                 /* alive and whole at the end                             */
    int64_t broken;                 /* joints torn                                            */
    int max_candidates, max_active; /* largest numbers of contacts                            */
    double mean_candidates, mean_active;
    int max_upgraded; /* scheme auto: contacts with exact friction                           */
    double mean_upgraded;
    int max_asleep; /* bodies that rest, most and in a mean step; and how many times one woke */
    double mean_asleep;
    int64_t woken;
    int64_t changed; /* bodies that calls changed between steps: cairn_body_put and others     */
    int64_t impacts; /* resolved one after the other within steps                            */
    int max_impact_rounds;         /* in so many rounds at most                                  */
    int64_t impacts_left;          /* that still hit when the rounds were over ...               */
    int64_t impacts_left_steps;    /* ... in so many steps                                       */
    int64_t impacts_reduced;       /* contacts with reduced restitution: cairn_step_report ...   */
    int64_t impacts_reduced_steps; /* ... in so many steps                                    */
    int64_t energy_made_steps; /* steps in which contacts made energy that the law does not allow */
    int64_t first_energy_made; /* the first of them; -1: there is none                       */
    double energy_made;        /* J: in all of them, see cairn_step_report                   */
    double mean_iterations;
    int64_t max_iterations;
    cairn_certificate worst, mean; /* over the steps, entry by entry                         */
    int64_t distance_body[2];      /* uids of the pair of worst.distance; -1: none            */
    double overlap;                /* deepest overlap as a share of the smaller body's radius */
    int64_t overlap_body[2];       /* uids of that pair; -1: nothing overlapped               */
    int64_t overlap_step;          /* number of the step in which it was, 0: none             */
    int64_t deep_steps;            /* steps with an overlap above CAIRN_RUN_DEEP              */
    double lift_speed;             /* m/s: largest mu |u_T| at which a convex law lifts bodies */
    double lift_height;            /* m: height reached by it, speed^2/(2 |gravity|)         */
    cairn_energy energy;           /* last kinetic, potential, elastic; sums of the rest     */
    double initial_energy;         /* J: kinetic + potential + elastic at the start          */
    cairn_timing timing;           /* sums                                                   */
    double write_seconds;
    double displacement; /* m: largest distance of a dynamic body from where it was at the start */
    int64_t displaced;   /* uid of that body, -1: there was none                   */
    uint64_t hash;       /* of the final state                                     */
    bool interrupted;    /* ended by the caller's callback                         */
    bool has_packing;
    cairn_packing packing;
    cairn_run_inlets inlets;
    cairn_run_ranks ranks;
} cairn_run_summary;

/** Progress of a run, given to the callback after every step. */
typedef struct cairn_progress {
    int64_t step;    /* steps done, a substep counts as one         */
    double time;     /* s reached                                   */
    double duration; /* s asked for                                 */
    int64_t bodies;  /* alive                                       */
    const cairn_step_report *report;
    int64_t divided; /* steps that were divided so far              */
} cairn_progress;

/** Called after every step and substep; returning false ends the run cleanly and keeps all results
 *  so far. */
typedef bool cairn_progress_fn(const cairn_progress *progress, void *context);

/** Check that a new run can be written to `folder`. CAIRN_BAD_INPUT: it contains a run, and `error`
 *  (may be NULL) says how that one ended and how to continue it; CAIRN_IO_FAILED: a run is in
 *  progress there. */
CAIRN_API cairn_status cairn_run_folder_check(const char *folder, cairn_error *error);

/** Rank 0: cairn_scene_load for a scene that all ranks will run, with scene->link set. If it can,
 *  each rank reads the files that the scene names and makes a share of its bodies, so that no rank
 *  ever has all of them: scene->world is then without the bodies of generators. A scene with
 *  `start`, one that fills bodies in between those of other generators, and one whose files are not
 *  seen by all ranks is made by rank 0 alone. The others are in cairn_ranks_serve. `link` may be
 *  NULL. */
CAIRN_API cairn_status cairn_ranks_load(cairn_link *link, const char *path,
                                        const char *const *overrides, int override_count,
                                        cairn_scene **out, cairn_error *error);

/** A rank other than 0: compute a part of the run of rank 0 until it ends. Fails, with the reason
 *  in `error` (may be NULL), if something went wrong in this rank. */
CAIRN_API cairn_status cairn_ranks_serve(cairn_link *link, cairn_error *error);

/** Run a scene to its end and write the run folder `folder` (created if missing; a run that it
 *  holds is replaced, see cairn_run_folder_check; files are written under temporary names and
 *  renamed). `folder` NULL: compute only. A CAIRN_STOPPED status means on_uncertified was "stop"
 *  and a step missed its tolerance; the folder is complete up to there. `error` (may be NULL)
 *  explains failures. */
CAIRN_API cairn_status cairn_run(cairn_scene *scene, const char *folder,
                                 cairn_progress_fn *progress, void *context,
                                 cairn_run_summary *summary, cairn_error *error);

/** How to continue a run. Zero is valid. */
typedef struct cairn_resume_options {
    cairn_progress_fn *progress; /* called after every step; may be NULL                        */
    void *context;
    int64_t threads;  /* > 0: replaces the value of the scene                                   */
    cairn_link *link; /* the processes that go on with it, any number; NULL: this one           */
} cairn_resume_options;

/** Continue the run in `folder` from its last checkpoint, with the same bits as if it had never
 *  stopped. Output after that checkpoint is written again. `scene` receives its scene, to be
 *  destroyed by the caller (NULL if there is none). CAIRN_NOT_FOUND: there is no checkpoint, or the
 *  run is finished; CAIRN_BAD_INPUT: the checkpoint is damaged; CAIRN_UNSUPPORTED: it was written
 *  by another version; otherwise as cairn_run. */
CAIRN_API cairn_status cairn_run_resume(const char *folder, const cairn_resume_options *options,
                                        cairn_scene **scene, cairn_run_summary *summary,
                                        cairn_error *error);

/* ---- a loop of one's own -------------------------------------------------------------------- */

/* The run folder of cairn_run, with the caller between the steps: it looks at scene->world, pushes
 * and changes bodies (body.h), and takes the next step.
 *
 *     cairn_run_begin(scene, "out", &run, &error);
 *     while (cairn_run_goes_on(run)) {
 *         cairn_body_push(scene->world, cart, force, torque);
 *         cairn_run_step(run, NULL, &error);
 *     }
 *     cairn_run_end(&run, &summary, &error);
 *
 * Without a change the folder and its hash are those of cairn_run. What was pushed and changed is
 * in run.h5, so that cairn-check recomputes every step. A refused call changes nothing, and
 * `error` (may be NULL) says why. With several processes scene->world has all bodies between the
 * steps. Force functions, and callbacks that drivers, loads or cells follow, are then refused. */

/** A run that the caller steps. */
typedef struct cairn_running cairn_running;

/** Begin a run; folder and failures as cairn_run. `scene` must outlive it. With scene->link rank 0
 *  alone makes these calls, and the others are in cairn_ranks_serve. */
CAIRN_API cairn_status cairn_run_begin(cairn_scene *scene, const char *folder, cairn_running **out,
                                       cairn_error *error);
/** Go on with a run that was ended early or killed, from its last checkpoint; failures as
 *  cairn_run_resume. The bits are those of a run that never stopped if the caller does the same
 *  again in each step. `link`: the processes that go on with it, NULL: this one. `scene` is to be
 *  destroyed after the run (NULL if there is none). */
CAIRN_API cairn_status cairn_run_continue(const char *folder, cairn_link *link, cairn_scene **scene,
                                          cairn_running **out, cairn_error *error);
/** Whether there is a step left: the duration is not over, the run is not at rest, no event has
 *  ended it and no step failed. */
CAIRN_API bool cairn_run_goes_on(const cairn_running *run);
/** Take a step and write it, with the frame, checkpoint and events that are due. CAIRN_BAD_INPUT:
 *  there is no run or no step left, or the world was stepped, its gravity set, or bodies created or
 *  removed meanwhile; the run can go on once that is undone. Other failures are those of cairn_run:
 *  then the run can only be ended. `report` may be NULL. */
CAIRN_API cairn_status cairn_run_step(cairn_running *run, cairn_step_report *report,
                                      cairn_error *error);
/** End a run at any point: complete its folder, and set *run to NULL. If there was a step left it
 *  ends as "interrupted", with a checkpoint for cairn_run_continue. Returns the failure of the step
 *  that failed, if one did. `summary` may be NULL. */
CAIRN_API cairn_status cairn_run_end(cairn_running **run, cairn_run_summary *summary,
                                     cairn_error *error);

/** The header of a run file. */
typedef struct cairn_run_info {
    char title[128];
    char version[32]; /* of cairn that wrote it */
    int dimension;
    int64_t steps, frames, bodies, max_contacts;
    int64_t whole_steps; /* fewer than `steps`, which has substeps, where some were divided      */
    double time, time_step;
    char scheme[32], solver[32];
    double tolerance;       /* of the relative residual, see cairn_residual                  */
    char certificate[16];   /* what it keeps: "off", "summary", "full"                       */
    int64_t uncertified;    /* steps that missed their tolerance                             */
    cairn_run_spans missed; /* which they are                                                */
    double worst_relative;  /* largest relative residual of the asked law; NaN: not kept     */
    double mean_relative;   /* mean over the steps                                           */
    int64_t joints;         /* ever made                                                     */
    int64_t broken;         /* torn                                                          */
    double joint_drift;     /* m: the largest                                                */
    char ending[16];        /* "complete", "rest", "interrupted", "stopped", "failed",
                               "event", "unfinished"; "": not told                           */
    uint64_t hash;
} cairn_run_info;

/** Read the header of a run file (a folder or its run.h5). */
CAIRN_API cairn_status cairn_run_read_info(const char *path, cairn_run_info *out,
                                           cairn_error *error);

/* ---- recordings: looking into a run --------------------------------------------------------- */

/* Opening a recording is fast for any size, since only the requested data are read. A run in
 * progress can be read as well, from another process; the run never waits for the reader. */

/** An open run. */
typedef struct cairn_recording cairn_recording;

/** How numbers are given. */
typedef enum cairn_number_type {
    CAIRN_NUMBER_FLOAT,  /* float   */
    CAIRN_NUMBER_DOUBLE, /* double  */
    CAIRN_NUMBER_INT     /* int32_t: of columns of whole numbers only */
} cairn_number_type;

/** Some rows of a column. */
typedef struct cairn_recording_rows {
    const char *column; /* its path in the file, as in "frames/bodies/x" */
    cairn_number_type type;
    int64_t first, count;
} cairn_recording_rows;

/** The largest result of cairn_recording_read, in bytes. */
enum { CAIRN_RECORDING_MOST_BYTES = 64 << 20 };

/** Open a run folder or its run.h5. If a run is in progress in the folder, that run is opened; this
 *  must be another process than the one that runs it. Fails as cairn_run_read_info. */
CAIRN_API cairn_status cairn_recording_open(const char *path, cairn_recording **out,
                                            cairn_error *error);
/** Close it; NULL is allowed. */
CAIRN_API void cairn_recording_close(cairn_recording *recording);

/** Whether the run was in progress when the recording was last read. */
CAIRN_API bool cairn_recording_grows(const cairn_recording *recording);
/** Whether the run was interrupted: it is not finished, and no program is writing it. It may be
 *  resumed, and is then in progress again. */
CAIRN_API bool cairn_recording_interrupted(const cairn_recording *recording);

/** Write what the file holds as JSON: `attributes` of the run; `columns` by path, each with `rows`,
 *  `width` (numbers in a row), `whole` (whether they are whole), `unit` and `names` (what whole
 *  numbers stand for); `texts` by path; `grows` and `interrupted`, as the functions above. `out`
 *  must be a file that can be rewound. */
CAIRN_API cairn_status cairn_recording_describe(cairn_recording *recording, FILE *out,
                                                cairn_error *error);

/** The description of a column. */
typedef struct cairn_recording_column {
    int64_t rows;
    int width;  /* numbers in a row               */
    bool whole; /* whether they are whole numbers */
} cairn_recording_column;

/** Describe a column. CAIRN_NOT_FOUND: the run has no such column, or it is not of numbers. */
CAIRN_API cairn_status cairn_recording_look(cairn_recording *recording, const char *column,
                                            cairn_recording_column *out, cairn_error *error);

/** The numbers of `parts` ranges of rows, one range after the other, each aligned to 8 bytes; valid
 *  until the next call. If the run is in progress, all are from the same moment. CAIRN_BAD_INPUT:
 *  there is no such column, it does not have these rows or is not of integers; CAIRN_UNSUPPORTED:
 *  more than CAIRN_RECORDING_MOST_BYTES; CAIRN_IO_FAILED: the file changes faster than it can be
 *  read, try again. */
CAIRN_API cairn_status cairn_recording_read(cairn_recording *recording,
                                            const cairn_recording_rows *rows, int parts,
                                            const void **data, size_t *bytes, cairn_error *error);

/** The texts of a column, as "materials/name": `texts` receives `count` of them, valid until the
 *  next call for this recording. A run without such a column has none. */
CAIRN_API cairn_status cairn_recording_texts(cairn_recording *recording, const char *column,
                                             const char *const **texts, int *count,
                                             cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
