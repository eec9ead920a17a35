/* solve.h - solvers of the one-step problem, by name. */
#ifndef CAIRN_SOLVE_H
#define CAIRN_SOLVE_H

#include "cairn/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Scratch memory that grows to what a problem needs and is reused from step to step. */
typedef struct cairn_workspace cairn_workspace;

/** Create an empty workspace. Fails with CAIRN_NO_MEMORY. */
CAIRN_API cairn_status cairn_workspace_create(cairn_workspace **out);
/** Free a workspace; NULL is allowed. */
CAIRN_API void cairn_workspace_destroy(cairn_workspace *workspace);

/** How to solve. Start from cairn_solve_options_default(). */
typedef struct cairn_solve_options {
    const char *solver;     /* a name of cairn_solver_name                                        */
    const char *backend;    /* a name of cairn_backend_name, or that of a shared object (see
                               cairn/backend.h); NULL: the default                                */
    cairn_law law;          /* the requested law                                                  */
    double tolerance;       /* stop when the judge's relative residual of that law is below it: of
                               every contact, if the problem has scales, otherwise of their norm  */
    bool fclib_measure;     /* the tolerance refers to the literature's measure instead (fclib)   */
    int64_t max_iterations; /* give up, and report it, after this many sweeps or gradient steps   */
    double time_limit;      /* s: give up, and report it, after this time; 0: never               */
    double approach;        /* m/s: > 0: sweeps with exact friction end when they no longer make
                               progress and no contacts approach each other faster than this      */
    double step_length;     /* gradient methods: first step (kg); 0: chosen from the problem      */
    double increment_tolerance; /* > 0: stop on |r+ - r|_inf/(|r|_inf + 1) instead of the judge,
                                   as the algorithms of [BL23] do; the judge still reports        */
} cairn_solve_options;

/** Defaults: solver "auto", back end "host", convex law, tolerance 1e-3, 20000 iterations. */
CAIRN_API cairn_solve_options cairn_solve_options_default(void);
/** The table of cairn_solve_options. */
CAIRN_API const cairn_record *cairn_solve_record(void);

/** The report of a solver. */
typedef struct cairn_solve_report {
    bool converged;            /* the stopping test was met                                  */
    bool stalled;              /* given up: too little progress to meet the test in time     */
    int64_t iterations;        /* sweeps or gradient steps                                   */
    int64_t outer_iterations;  /* solves of a convex problem by an outer loop; 1 without one */
    const char *solver;        /* which one ran (what "auto" picked)                         */
    char remark[160];          /* a remark of the solver on its work; may be empty           */
    double step_length;        /* last step of a gradient method, for the next call          */
    cairn_judgement judgement; /* of the impulses returned                                   */
} cairn_solve_report;

/** Solve. On entry `r` (dimension per contact, N s) is the warm start, on return the answer. On
 *  return `v` and `u` are the velocities of r as the judge computed them. A solver that does not
 *  converge says so in the report; the call succeeds.
 *  Fails with CAIRN_NOT_FOUND (unknown solver), CAIRN_UNSUPPORTED (the solver does not accept the
 *  problem with this law on this back end), CAIRN_NO_MEMORY, CAIRN_NOT_FINITE (a number of the
 *  start, or of the velocities without impulses, is not finite or so large that its square is
 *  not), and as cairn_backend_check; if the back end is the reason, the remark of the report says
 *  why. A method that breaks off has not converged: the best impulses before that are returned. */
CAIRN_API cairn_status cairn_solve(const cairn_problem *p, const cairn_solve_options *options,
                                   cairn_workspace *workspace, double *r, double *v, double *u,
                                   cairn_solve_report *report);

/** A loop on the sliding speeds s around convex solves: when it ends, and what it works on. */
typedef struct cairn_sliding_loop {
    double increment_tolerance; /* > 0: stop when max |s+ - s|/(s+ + 1) is at most this, else when
                                   the judge's Coulomb residual meets the tolerance of the solver */
    int64_t max_outer;          /* convex solves at most                                          */
    double *s;                  /* m/s, one per contact: start in, answer out                     */
    double *r, *v, *u;          /* as in cairn_solve                                              */
} cairn_sliding_loop;

/** Exact Coulomb friction by the fixed point s <- |u_T(s)| around convex solves [BL23]. */
CAIRN_API cairn_status cairn_solve_fixed_point(const cairn_problem *p,
                                               const cairn_solve_options *options,
                                               const cairn_sliding_loop *loop,
                                               cairn_workspace *workspace,
                                               cairn_solve_report *report);

/** Exact Coulomb friction by a damped nonsmooth Newton method on s - |u_T(s)| around convex solves
 *  [C09]; circular cones. phi = 1/2 sum (s - |u_T|)^2 decreases at every step. If it gets stuck at
 *  a phi > 0, the report says so: not converged, with a remark. Fails with CAIRN_UNSUPPORTED on
 *  cones with edges. */
CAIRN_API cairn_status cairn_solve_coulomb_newton(const cairn_problem *p,
                                                  const cairn_solve_options *options,
                                                  const cairn_sliding_loop *loop,
                                                  cairn_workspace *workspace,
                                                  cairn_solve_report *report);

/** Where exact Coulomb friction is used. */
typedef struct cairn_upgrade {
    double allowed; /* m/s: largest mu |u_T| of a pushing contact under the convex law        */
    uint8_t *exact; /* per contact, in and out: 1: upgraded to exact friction                 */
    cairn_sliding_loop loop; /* s: start where upgraded in; |u_T| there, else 0 out; ends by the
                                tolerance of the solver alone                                 */
    int count;               /* out: how many are upgraded                                    */
} cairn_upgrade;

/** The convex law with exact Coulomb friction at the contacts of `exact`, which grows until no
 *  other pushing contact has mu |u_T| > allowed. judgement.asked is the residual of that mixed law:
 *  the convex one with the s returned. */
CAIRN_API cairn_status cairn_solve_upgrade(const cairn_problem *p,
                                           const cairn_solve_options *options,
                                           cairn_upgrade *upgrade, cairn_workspace *workspace,
                                           cairn_solve_report *report);

/** Name of solver `index`, NULL past the last. */
CAIRN_API const char *cairn_solver_name(int index);
/** One line about a solver, NULL when unknown. */
CAIRN_API const char *cairn_solver_summary(const char *name);
/** Whether the solver treats the law with circular cones. */
CAIRN_API bool cairn_solver_treats(const char *name, cairn_law law);
/** Whether the solver treats rows with bounds: joints, limits, motors, springs. */
CAIRN_API bool cairn_solver_treats_rows(const char *name);
/** Whether the solver treats rolling and spinning friction. */
CAIRN_API bool cairn_solver_treats_rolling(const char *name);
/** Whether the solver treats the law on this problem: its cones, its rows, its form, its size. */
CAIRN_API bool cairn_solver_accepts(const char *name, cairn_law law, const cairn_problem *p);

/** The same on a back end: solvers that factorise run on "host" alone. */
CAIRN_API bool cairn_solver_accepts_on(const char *backend, const char *name, cairn_law law,
                                       const cairn_problem *p);
/** Whether the solver runs on back ends other than "host". */
CAIRN_API bool cairn_solver_runs_elsewhere(const char *name);
/** Check that there is such a back end and that the solver runs on it; `error` (may be NULL) names
 *  the solvers that do. Fails as cairn_backend_check, or with CAIRN_UNSUPPORTED. */
CAIRN_API cairn_status cairn_solver_check(const char *name, const char *backend,
                                          cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
