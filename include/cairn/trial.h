/* trial.h - solvers against problems: who solves what, how well, how fast. */
#ifndef CAIRN_TRIAL_H
#define CAIRN_TRIAL_H

#include "cairn/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a solver did on a problem. */
typedef enum cairn_verdict {
    CAIRN_VERDICT_SOLVED,      /* the tolerance is met, so says the judge                      */
    CAIRN_VERDICT_MISSED,      /* it ended without meeting it                                   */
    CAIRN_VERDICT_FAILED,      /* it returned no impulses; `status` says why                    */
    CAIRN_VERDICT_NOT_TREATED, /* it does not claim to treat this law on this problem           */
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

/** Solve each problem up to `repeats` times more, for at most a second, and tell the shortest time:
 *  what a solve takes when memory and code are warm. 0, the default: once. */
CAIRN_API void cairn_trials_set_repeats(cairn_trials *trials, int repeats);

/** Solve `p` by the solver of `options` from `start` (dimension per contact; NULL: zero), and keep
 *  what came of it. `name` is copied. A solver that fails is a verdict; the call itself fails with
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
 *  Problems that nobody solved count as unsolved by all; solvers that treat none of the problems
 *  are left out. */
CAIRN_API cairn_status cairn_trials_write_profile(const cairn_trials *trials, const char *path,
                                                  cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
