/* compare.h - schemes, solvers and time steps on the same scene, side by side. */
#ifndef CAIRN_COMPARE_H
#define CAIRN_COMPARE_H

#include "cairn/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How far apart two runs are: distances between the places of a dynamic body in both, at times
 *  common to both. Bodies are matched by index; one that a run does not have is left out. */
typedef struct cairn_run_difference {
    int samples;                 /* common times at which there were bodies to compare; 0: the rest
                                   means nothing                                                */
    double end_time;             /* s: the last of them                                          */
    double end_max, end_rms;     /* m: over the bodies, at that time                             */
    double whole_max, whole_rms; /* m: over the bodies and all common times                     */
} cairn_run_difference;

/** One run of a comparison. */
typedef struct cairn_compared {
    const char *scheme, *solver;
    double time_step;    /* s                                                                   */
    bool is_reference;   /* the others are measured against it                                  */
    cairn_status status; /* CAIRN_UNSUPPORTED: scheme and solver do not go together             */
    cairn_error error;   /* why there is no run, or no whole one                                */
    cairn_run_summary summary; /* zero when there is no run                                     */
    double energy_rise;        /* J: largest rise of the energy in a step that neither inlets nor
                                  loads nor drivers nor the mending of overlaps brought in; 0: it
                                  never rose                                                    */
    cairn_run_difference difference; /* from the reference                                      */
    double order;                    /* how fast the difference (whole_rms) falls with the time
                                        step, over the steps of this scheme and solver; NaN: not
                                        enough of them                                          */
} cairn_compared;

/** What is under way, given to the callback when a run begins and after each of its steps. */
typedef struct cairn_compare_progress {
    int run, runs;              /* number of the run, from 1, and how many there are             */
    const cairn_compared *now;  /* scheme, solver and time step are set                          */
    const cairn_progress *step; /* NULL: the run begins                                         */
} cairn_compare_progress;

/** Returning false ends the comparison; the run under way is dropped. */
typedef bool cairn_compare_fn(const cairn_compare_progress *progress, void *context);

/** What to compare. Zero is valid: every scheme, with the solver and the time step of the scene. */
typedef struct cairn_compare_options {
    const char *const *schemes;   /* names of cairn_scheme_name                                  */
    int scheme_count;             /* 0: all there are                                            */
    const char *const *solvers;   /* names of cairn_solver_name                                  */
    int solver_count;             /* 0: the one of the scene                                     */
    cairn_list time_steps;        /* s; empty: the one of the scene                              */
    const char *reference;        /* scheme of the reference run; NULL: "fixed-point"            */
    double reference_step;        /* s: its time step; 0: the one compared, a tenth of the smallest
                                   when there are several                                      */
    const char *const *overrides; /* of the scene, as cairn_scene_load takes them              */
    int override_count;
    cairn_compare_fn *progress; /* NULL: nobody                                                */
    void *context;
} cairn_compare_options;

/** Runs, the reference first. */
typedef struct cairn_comparison cairn_comparison;

/** Run every combination of scheme, solver and time step on the scene file `path`, each from a new
 *  load of it with the overrides; nothing is written. The reference runs first, with the first of
 *  the solvers that goes with its scheme, else "auto". Runs that miss tolerances go on to the end
 *  (run.on_uncertified is taken as warn). A run that fails, or a scheme and a solver that do not
 *  go together, is an entry like the others.
 *  Fails with what cairn_scene_load says of the scene, with CAIRN_BAD_INPUT (an unknown name, a
 *  time step out of range), CAIRN_NO_MEMORY, or with CAIRN_STOPPED when the callback
 *  said so: then *out holds the runs that ended before, else it is NULL. */
CAIRN_API cairn_status cairn_compare(const char *path, const cairn_compare_options *options,
                                     cairn_comparison **out, cairn_error *error);
/** Free; NULL is allowed. */
CAIRN_API void cairn_comparison_destroy(cairn_comparison *comparison);
/** How many runs there are. */
CAIRN_API int cairn_comparison_count(const cairn_comparison *comparison);
/** Run `index`, lent until the comparison is destroyed; NULL past the last. */
CAIRN_API const cairn_compared *cairn_comparison_at(const cairn_comparison *comparison, int index);

/** Write all runs into `folder` (created if missing): compare.csv, a line each under a line of
 *  names, and compare.gp, a script by which gnuplot draws the difference against the time step
 *  into compare.svg.part. No script is written when there is nothing to draw; `drawable` says. */
CAIRN_API cairn_status cairn_comparison_write(const cairn_comparison *comparison,
                                              const char *folder, bool *drawable,
                                              cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
