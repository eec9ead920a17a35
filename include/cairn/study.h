/* study.h - analysis of runs and solvers: statistics and a one-page report of a finished run;
 * comparisons of schemes, solvers and time steps on the same scene; trials of solvers on
 * problems. */
#ifndef CAIRN_STUDY_H
#define CAIRN_STUDY_H

#include "cairn/run.h"
#include "cairn/solve.h"
#include "cairn/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- finished runs --------------------------------------------------------------------------- */

/** Measure every frame of a finished run (a folder or its run.h5) into `tables`, one for each of
 *  the names; destroy them. `error` (may be NULL) says what is wrong with the file, a name or the
 *  options; there are no tables then. */
CAIRN_API cairn_status cairn_run_measure(const char *path, const cairn_names *names,
                                         const cairn_measure_options *options,
                                         cairn_statistic_table *tables, cairn_error *error);

/** The names of the series of forces in a run. */
typedef struct cairn_series_names {
    int count;
    char items[CAIRN_MOST_PROBES][48];
} cairn_series_names;

/** Which series of forces a run (a folder or its run.h5) has, sorted by name; none is no failure.
 */
CAIRN_API cairn_status cairn_run_series_names(const char *path, cairn_series_names *out,
                                              cairn_error *error);
/** Read a series of forces of a run into `table`; destroy it. `name` must outlive the table.
 *  CAIRN_NOT_FOUND: the run has no such series. */
CAIRN_API cairn_status cairn_run_series(const char *path, const char *name,
                                        cairn_statistic_table *table, cairn_error *error);

/** Write one page about a run (a folder or its run.h5): what was slow, where accuracy was lost,
 *  which contacts did not settle, what to change. Fails as cairn_run_read_info. */
CAIRN_API cairn_status cairn_run_explain(const char *path, FILE *out, cairn_error *error);

/* ---- is the step of a run short enough? ------------------------------------------------------ */

/** The runs of a check: the scene as it was, with half its time step, with a tenth of its
 *  tolerance. */
enum { CAIRN_STEP_PLAIN, CAIRN_STEP_HALVED, CAIRN_STEP_STRICT, CAIRN_STEP_RUNS };

/** What the check says of a quantity. */
typedef enum cairn_step_verdict {
    CAIRN_STEP_FINE,     /* neither changes it by more than CAIRN_STEP_LIMIT                      */
    CAIRN_STEP_TOO_LONG, /* half the step does, and more than twice as much as the tolerance      */
    CAIRN_STEP_SENSITIVE /* the tolerance does, by at least half of what half the step does: chance
                            or the tolerance                                                      */
} cairn_step_verdict;

/** A change of this share counts; a check takes about so many times as long as the run. */
#define CAIRN_STEP_LIMIT 0.01
#define CAIRN_STEP_COST  4.5

/** A quantity in the runs of a check. */
typedef struct cairn_step_quantity {
    const char *name, *unit;
    const char *scale_name;         /* what `scale` is */
    double scale;                   /* what changes are shares of; in the same unit               */
    double value[CAIRN_STEP_RUNS];  /* of the run; for places 0 in the first                      */
    double change[CAIRN_STEP_RUNS]; /* its difference from the first as a share of `scale`        */
    cairn_step_verdict verdict;
} cairn_step_quantity;

enum { CAIRN_STEP_QUANTITIES = 8, CAIRN_STEP_SAMPLES = 200 };

/** The result of a check. */
typedef struct cairn_step_check {
    char title[128];
    double time_step, tolerance; /* s, 1: of the first run */
    double duration;             /* s: of each run         */
    bool whole;                  /* as long as the scene's */
    bool same_hash;              /* the first run ended in the state of the run that is checked; not
                                    known unless `whole`  */
    cairn_run_summary summary[CAIRN_STEP_RUNS];
    cairn_step_quantity quantities[CAIRN_STEP_QUANTITIES];
    int samples;                     /* of the series below, at equal distances    */
    double time[CAIRN_STEP_SAMPLES]; /* s */
    double series[CAIRN_STEP_QUANTITIES][CAIRN_STEP_RUNS][CAIRN_STEP_SAMPLES];
} cairn_step_check;

/** Progress, passed to the callback when a run begins and after each of its steps. */
typedef struct cairn_step_progress {
    int run;                    /* CAIRN_STEP_PLAIN, ...                                        */
    double duration;            /* s: of each run                                               */
    double wall_seconds;        /* of the run that is checked; 0: not known                     */
    const cairn_progress *step; /* NULL: the run begins                                         */
} cairn_step_progress;

/** Returning false ends the check. */
typedef bool cairn_step_progress_fn(const cairn_step_progress *progress, void *context);

/** How to check. Zero is valid: the whole run, from the scene that it holds. */
typedef struct cairn_step_check_options {
    const char *scene; /* path; NULL: the text that the run holds                              */
    double duration;   /* s: simulated time from the start of the scene; 0: all of it, or as much as
                          `seconds` allows                                                       */
    double seconds;    /* wall time for all runs, about; 0: no limit                             */
    const char *const *overrides;
    int override_count;
    cairn_step_progress_fn *progress; /* NULL: nobody */
    void *context;
} cairn_step_check_options;

/** Run the scene of a run (a folder or its run.h5) three times and compare the runs, at common
 *  times. Writes nothing. CAIRN_STOPPED: the callback ended it; else fails as cairn_run_read_info,
 *  cairn_scene_load and cairn_run. */
CAIRN_API cairn_status cairn_run_check_step(const char *path,
                                            const cairn_step_check_options *options,
                                            cairn_step_check *out, cairn_error *error);
/** Write `folder`/step-length.gp (made if missing), a script by which gnuplot draws the series into
 *  step-length.svg.part. */
CAIRN_API cairn_status cairn_step_check_write(const cairn_step_check *check, const char *folder,
                                              cairn_error *error);

/* ---- comparisons: schemes, solvers and time steps on the same scene -------------------------- */

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
    double energy_rise;        /* J: largest increase of the energy in a step that is not due to
                                  inlets, loads, drivers or penetration correction; 0: it never
                                  increased                                                     */
    cairn_run_difference difference; /* from the reference                                      */
    double order;                    /* how fast the difference (whole_rms) falls with the time
                                        step, over the steps of this scheme and solver; NaN: not
                                        enough of them                                          */
} cairn_compared;

/** Progress, passed to the callback when a run begins and after each of its steps. */
typedef struct cairn_compare_progress {
    int run, runs;              /* number of the run, from 1, and how many there are             */
    const cairn_compared *now;  /* scheme, solver and time step are set                          */
    const cairn_progress *step; /* NULL: the run begins                                         */
} cairn_compare_progress;

/** Returning false ends the comparison; the current run is discarded. */
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

/* ---- trials: who solves what, how well, how fast --------------------------------------------- */

/** How a solver did on a problem. */
typedef enum cairn_verdict {
    CAIRN_VERDICT_SOLVED,      /* by the judge, the tolerance is met                           */
    CAIRN_VERDICT_MISSED,      /* it ended without meeting it                                   */
    CAIRN_VERDICT_FAILED,      /* it returned no impulses; `status` says why                    */
    CAIRN_VERDICT_NOT_TREATED, /* it does not support this law on this problem                  */
    CAIRN_VERDICT_COUNT
} cairn_verdict;

/** "solved", "missed", "failed", "not treated". */
CAIRN_API const char *cairn_verdict_name(cairn_verdict verdict);

/** One solver on one problem. */
typedef struct cairn_trial {
    const char *problem; /* its name                                                            */
    int dimension, contacts;
    const char *solver; /* the one asked for; report.solver is the one that ran                 */
    cairn_law law;
    int directions; /* edges of the cones; 0: circular                                          */
    double tolerance;
    bool fclib_measure; /* what the tolerance means                                             */
    cairn_verdict verdict;
    cairn_status status;
    double seconds;            /* of the solve alone                                            */
    cairn_solve_report report; /* zero when it failed or was not treated                        */
    cairn_residual coulomb;    /* of exact Coulomb friction with circular cones, of its impulses */
} cairn_trial;

/** Trials, one after the other. */
typedef struct cairn_trials cairn_trials;

/** Begin. Fails with CAIRN_NO_MEMORY. */
CAIRN_API cairn_status cairn_trials_create(cairn_trials **out);
/** Free; NULL is allowed. */
CAIRN_API void cairn_trials_destroy(cairn_trials *trials);

/** How many threads the solves use from now on; 0: as many as the machine has. Without this call it
 *  is the number that OpenMP has. The answers do not depend on it, to the bit. */
CAIRN_API void cairn_trials_set_threads(cairn_trials *trials, int threads);

/** Solve each problem up to `repeats` more times, for at most a second, and report the shortest
 *  time, which is that with warm caches. 0, the default: once. */
CAIRN_API void cairn_trials_set_repeats(cairn_trials *trials, int repeats);

/** Solve `p` by the solver of `options` from `start` (dimension per contact; NULL: zero), and store
 *  the result. `name` is copied. The failure of a solver is a verdict; the call itself fails with
 *  CAIRN_NO_MEMORY or, for an unknown solver, CAIRN_NOT_FOUND. */
CAIRN_API cairn_status cairn_trials_run(cairn_trials *trials, const char *name,
                                        const cairn_problem *p, const cairn_solve_options *options,
                                        const double *start);

/** How many there are. */
CAIRN_API int cairn_trials_count(const cairn_trials *trials);
/** Trial `index`, lent until the next is run; NULL past the last. */
CAIRN_API const cairn_trial *cairn_trials_at(const cairn_trials *trials, int index);

/** Impulses of the last trial (dimension per contact, N s), lent until the next is run; NULL: it
 *  failed, was not treated, or there is none. */
CAIRN_API const double *cairn_trials_impulses(const cairn_trials *trials);

/** Write all of them as comma-separated values, a line each under a line of names. */
CAIRN_API cairn_status cairn_trials_write_csv(const cairn_trials *trials, const char *path,
                                              cairn_error *error);

/** Draw the performance profile of Dolan and More as SVG: for each solver, the share of the
 *  problems that it solved within a factor of the time of the fastest solver on that problem.
 *  Problems that no solver solved count as unsolved by all; solvers that treat none of the problems
 *  are left out. */
CAIRN_API cairn_status cairn_trials_write_profile(const cairn_trials *trials, const char *path,
                                                  cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
