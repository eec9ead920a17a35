/* scheme.h - time-stepping schemes, and the options that worlds of bodies and Lagrangian systems
 * share. */
#ifndef CAIRN_WORLD_SCHEME_H
#define CAIRN_WORLD_SCHEME_H

#include <stddef.h>

#include "base/memory.h"
#include "cairn/backend.h"
#include "cairn/lagrange.h"
#include "cairn/solve.h"
#include "cairn/world.h"

/* ---- schemes --------------------------------------------------------------------------------- */

/* A time-stepping scheme chooses the bias, the law, and how the one-step problem is solved. The
 * same table serves worlds of bodies and Lagrangian systems. */

/* A one-step problem that a scheme is to solve, and how. Arrays belong to the caller. */
typedef struct cairn_scheme_job {
    const cairn_problem *problem;
    cairn_solve_options options; /* solver, tolerance, iterations, the law of the scheme */
    cairn_workspace *workspace;
    double allowed;          /* m/s: scheme auto: largest mu |u_T| without exact friction */
    uint8_t *exact;          /* scheme auto: room for one mark per contact, set on return */
    int *upgraded;           /* scheme auto: number of contacts with exact friction, out  */
    cairn_sliding_loop loop; /* s, impulses, velocities; when an outer loop on s ends     */
    cairn_solve_report *report;
    bool nothing; /* a problem on a device: it has no warm start */
} cairn_scheme_job;

/* One scheme: a line of the table in scheme.c. */
typedef struct cairn_scheme {
    const char *name;
    const char *summary;  /* one line for cairn list schemes                           */
    cairn_law law;        /* by which a step is judged                                 */
    unsigned solver_laws; /* bits 1 << law: the solver must treat one of these laws    */
    bool frictionless;    /* mu = 0 everywhere                                         */
    bool edges;           /* polyhedral cones in 3D; in 2D a cone always has two edges */
    bool velocity_level;  /* contacts that overlap at mid-step; no gap in the bias     */
    int linearisations;   /* at most, where the step ends, the first at q + h v; 0: contacts are
                             linearised once, at the start                                        */
    cairn_status (*solve)(const cairn_scheme_job *job);
} cairn_scheme;

/* The scheme with this name; NULL if there is none. */
const cairn_scheme *cairn_scheme_find(const char *name);

/* Whether a solver on a back end can treat what the scheme requires, for problems of the form of
 * `p` (its dimension, rolling, edges and bounds; numbers do not matter). */
bool cairn_scheme_accepts(const cairn_scheme *scheme, const char *backend, const char *solver,
                          const cairn_problem *p);
/* The largest number of linearisations if the user requested `asked` (0: no request). The result is
 * 0 if contacts are linearised only at the start of the step. */
int cairn_scheme_linearisations(const cairn_scheme *scheme, int64_t asked);
/* How the two bodies of a contact approach each other. */
typedef struct cairn_approach {
    double gap;         /* m: at the start of the step                                  */
    double apart;       /* m/s: b that keeps the gap open, gamma g/h                    */
    double before;      /* m/s: normal velocity before the step, < 0 when they approach */
    double restitution; /* Newton's e                                                   */
    double error;       /* m/s: a slower approach may be what the tolerance left        */
} cairn_approach;

/* The bias b: min(apart, e u_N) where the contact closes in the step and bounces, else `apart`; at
 * velocity level e min(0, u_N). Approaches of at most `error` do not bounce. */
double cairn_scheme_bias(bool velocity_level, double h, const cairn_approach *at);
/* Where in a step contacts are evaluated first, in units of h: 0 at its start, 1/2 at mid-step, or
 * 1 at q + h v. */
double cairn_scheme_ahead(const cairn_scheme *scheme, int linearisations);
/* Whether the scheme finds s for some contacts only, so that s is part of the law by which the step
 * is judged. */
bool cairn_scheme_is_mixed(const cairn_scheme *scheme);

/* scheme.c: the solve of scheme auto. */
cairn_status cairn_scheme_upgrade(const cairn_scheme_job *job);

/* ---- lines of options ------------------------------------------------------------------------ */

/* Lines of option tables that worlds of bodies and Lagrangian systems share: how a one-step problem
 * is formed and solved. `type` is the struct whose fields the lines describe. */

/* clang-format off */
#define CAIRN_LINES_SOLVING(type)                                                                  \
    { "time_step", CAIRN_OPTION_REAL, true, offsetof(type, time_step), CAIRN_POSITIVE, 1e9, "s",   \
      "length of a step", NULL },                                                                  \
    { "scheme", CAIRN_OPTION_NAME, false, offsetof(type, scheme), 0, 0, "",                        \
      "time-stepping scheme", cairn_scheme_name },                                                 \
    { "solver", CAIRN_OPTION_NAME, false, offsetof(type, solver), 0, 0, "",                        \
      "method for the one-step problem", cairn_solver_name },                                      \
    { "backend", CAIRN_OPTION_WORD, false, offsetof(type, backend), 0, 0, "",                      \
      "where the one-step problem is solved; in scenes also auto", cairn_backend_name },           \
    { "tolerance", CAIRN_OPTION_REAL, false, offsetof(type, tolerance), 0, 1, "",                  \
      "relative residual of the scheme's law at which a step is solved", NULL },                   \
    { "max_iterations", CAIRN_OPTION_INTEGER, false, offsetof(type, max_iterations), 1, 1e12, "",  \
      "sweeps or gradient steps after which a solve gives up and says so", NULL }

#define CAIRN_LINE_STABILISATION(type)                                                             \
    { "stabilisation", CAIRN_OPTION_REAL, false, offsetof(type, stabilisation), CAIRN_POSITIVE, 1, \
      "", "gamma: share of a gap or overlap that one step may close", NULL }

#define CAIRN_LINE_DIRECTIONS(type)                                                                \
    { "directions", CAIRN_OPTION_INTEGER, false, offsetof(type, directions), 4, 1000, "",          \
      "lcp, stewart-trinkle, convex-polyhedral in 3D: edges of a friction cone, an even number",   \
      NULL }

#define CAIRN_LINE_LINEARISATIONS(type)                                                            \
    { "linearisations", CAIRN_OPTION_INTEGER, false, offsetof(type, linearisations), 0, 1000, "",  \
      "n: gaps linearised at q + h v, then at the result, n times at most; 0: as the scheme has "  \
      "it", NULL }

#define CAIRN_LINE_MODEL_TOLERANCE(type)                                                           \
    { "model_tolerance", CAIRN_OPTION_REAL, false, offsetof(type, model_tolerance), 0,             \
      CAIRN_UNBOUNDED, "m", "auto: largest gap h mu |u_T| that a sliding contact may keep", NULL }
/* clang-format on */

#endif
