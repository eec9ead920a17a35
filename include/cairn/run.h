/* run.h - the run folder: run.h5 (everything), a ParaView series, summary.json. */
#ifndef CAIRN_RUN_H
#define CAIRN_RUN_H

#include <stdio.h>

#include "cairn/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Contact problems that a run writes without being asked for: those of the first steps that missed
 *  their tolerance, at most so many, and none more once they have so many bytes together. */
enum { CAIRN_RUN_MOST_PROBLEMS = 20, CAIRN_RUN_PROBLEM_BYTES = 16 << 20 };

/** Ranges of steps that a list of steps keeps, at most. */
enum { CAIRN_RUN_MOST_SPANS = 32 };

/** An overlap above this share of the smaller body's radius is warned of, whatever the residuals
 *  are. */
#define CAIRN_RUN_DEEP 0.01

/** Steps as ranges first to last: the first CAIRN_RUN_MOST_SPANS of them. */
typedef struct cairn_run_spans {
    int64_t count; /* ranges there are, also beyond those kept                              */
    int64_t last;  /* the newest step                                                       */
    int64_t span[CAIRN_RUN_MOST_SPANS][2];
} cairn_run_spans;

/** Totals over the steps of a run. */
typedef struct cairn_run_summary {
    int64_t steps;
    double time;                    /* s reached                                              */
    double wall_seconds;            /* of the whole run                                       */
    int64_t bodies;                 /* alive at the end                                       */
    int64_t frames;                 /* stored                                                 */
    int64_t uncertified;            /* steps that missed their tolerance                      */
    int64_t first_uncertified;      /* number of the first such step, -1: none                */
    cairn_run_spans missed;         /* which they are                                         */
    int64_t problems;               /* contact problems written                               */
    int64_t missed_problems;        /* of these, of steps that missed their tolerance         */
    int64_t repeated;               /* steps solved again because bodies outran the margin    */
    int64_t joints;                 /* alive and whole at the end                             */
    int64_t broken;                 /* joints torn                                            */
    int max_candidates, max_active; /* largest numbers of contacts                            */
    double mean_candidates, mean_active;
    int max_upgraded; /* scheme auto: contacts with exact friction                           */
    double mean_upgraded;
    int max_asleep; /* bodies that rest, most and in a mean step; and how many times one woke */
    double mean_asleep;
    int64_t woken;
    int64_t impacts; /* resolved one after the other within steps                            */
    int max_impact_rounds;      /* in so many rounds at most                                  */
    int64_t impacts_left;       /* that still hit when the rounds were over ...               */
    int64_t impacts_left_steps; /* ... in so many steps                                       */
    double mean_iterations;
    int64_t max_iterations;
    cairn_certificate worst, mean; /* over the steps, entry by entry                         */
    int64_t distance_body[2];      /* uids of the pair of worst.distance; -1: none            */
    double overlap;                /* deepest overlap as a share of the smaller body's radius */
    int64_t overlap_body[2];       /* uids of that pair; -1: nothing overlapped               */
    int64_t overlap_step;          /* number of the step in which it was, 0: none             */
    int64_t deep_steps;            /* steps with an overlap above CAIRN_RUN_DEEP              */
    double lift_speed;             /* m/s: largest mu |u_T| at which a convex law lifts bodies */
    double lift_height;            /* m: how high that throws a body, speed^2/(2 |gravity|)   */
    cairn_energy energy;           /* last kinetic, potential, elastic; sums of the rest     */
    double initial_energy;         /* J: kinetic + potential + elastic at the start          */
    cairn_timing timing;           /* sums                                                   */
    double write_seconds;
    double displacement; /* m: largest distance of a dynamic body from where it was at the start */
    int64_t displaced;   /* uid of that body, -1: there was none                   */
    uint64_t hash;       /* of the final state                                     */
    bool interrupted;    /* ended by the caller's stop                             */
    bool has_packing;
    cairn_packing packing;
} cairn_run_summary;

/** Progress of a run, given to the callback after every step. */
typedef struct cairn_progress {
    int64_t step;    /* steps done                                  */
    double time;     /* s reached                                   */
    double duration; /* s asked for                                 */
    int64_t bodies;  /* alive                                       */
    const cairn_step_report *report;
} cairn_progress;

/** Called after every step; returning false ends the run cleanly with what was computed kept. */
typedef bool cairn_progress_fn(const cairn_progress *progress, void *context);

/** Whether `folder` can take a new run. CAIRN_BAD_INPUT: it holds one, and `error` (may be NULL)
 *  says how that one ended and how to go on with it; CAIRN_IO_FAILED: a run is under way there. */
CAIRN_API cairn_status cairn_run_folder_check(const char *folder, cairn_error *error);

/** Run a scene to its end and write the run folder `folder` (created if missing; a run that it
 *  holds is replaced, see cairn_run_folder_check; files are written under temporary names and
 *  renamed). `folder` NULL: compute only. A CAIRN_STOPPED status means on_uncertified was "stop"
 *  and a step missed its tolerance; the folder is complete up to there. `error` (may be NULL)
 *  explains failures. */
CAIRN_API cairn_status cairn_run(cairn_scene *scene, const char *folder,
                                 cairn_progress_fn *progress, void *context,
                                 cairn_run_summary *summary, cairn_error *error);

/** How to go on with a run. Zero is valid. */
typedef struct cairn_resume_options {
    cairn_progress_fn *progress; /* called after every step; NULL: nobody                       */
    void *context;
    int64_t threads; /* > 0: instead of what the scene says                                     */
} cairn_resume_options;

/** Go on with the run in `folder` from its last checkpoint, with the same bits as if it had never
 *  stopped. What it wrote after that checkpoint is written again. `scene` receives its scene, to be
 *  destroyed by the caller (NULL when there is none). CAIRN_NOT_FOUND: there is no checkpoint, or
 *  the run is finished; CAIRN_BAD_INPUT: the checkpoint is damaged; CAIRN_UNSUPPORTED: it is of
 *  another version; the rest as cairn_run. */
CAIRN_API cairn_status cairn_run_resume(const char *folder, const cairn_resume_options *options,
                                        cairn_scene **scene, cairn_run_summary *summary,
                                        cairn_error *error);

/** What a run file says about itself. */
typedef struct cairn_run_info {
    char title[128];
    char version[32]; /* of cairn that wrote it */
    int dimension;
    int64_t steps, frames, bodies, max_contacts;
    double time, time_step;
    char scheme[32], solver[32];
    double tolerance;
    char certificate[16];   /* what it keeps: "off", "summary", "full"                       */
    int64_t uncertified;    /* steps that missed their tolerance                             */
    cairn_run_spans missed; /* which they are                                                */
    double worst_relative;  /* largest relative residual of the asked law; NaN: not kept     */
    double mean_relative;   /* mean over the steps                                           */
    int64_t joints;         /* ever made                                                     */
    int64_t broken;         /* torn                                                          */
    double joint_drift;     /* m: the largest                                                */
    char ending[16];        /* "complete", "rest", "interrupted", "stopped", "failed",
                               "unfinished"; "": not told                                    */
    uint64_t hash;
} cairn_run_info;

/** Read the header of a run file (a folder or its run.h5). */
CAIRN_API cairn_status cairn_run_read_info(const char *path, cairn_run_info *out,
                                           cairn_error *error);

/** Write one page about a run (a folder or its run.h5): what was slow, where accuracy was lost,
 *  which contacts did not settle, what to change. Fails as cairn_run_read_info. */
CAIRN_API cairn_status cairn_run_explain(const char *path, FILE *out, cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
