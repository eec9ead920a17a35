/* scheme.h - a time-stepping scheme: a choice of bias, of law and of how the step is solved. The
 * same table serves worlds of bodies and Lagrangian systems. */
#ifndef CAIRN_WORLD_SCHEME_H
#define CAIRN_WORLD_SCHEME_H

#include "cairn/world.h"

/* A one-step problem for a scheme to solve, and how. */
typedef struct cairn_scheme_job {
    const cairn_problem *problem;
    cairn_solve_options options; /* solver, tolerance, iterations, the law of the scheme     */
    cairn_workspace *workspace;
    double allowed; /* m/s: scheme auto: largest mu |u_T| that stays without exact friction  */
    uint8_t *exact; /* scheme auto: room for a mark of each contact                          */
    int *upgraded;  /* scheme auto: how many have exact friction                             */
    cairn_sliding_loop loop; /* sliding, impulses, velocities; how a loop on s ends          */
    cairn_solve_report *report;
} cairn_scheme_job;

typedef struct cairn_scheme {
    const char *name;
    const char *summary;
    cairn_law law;        /* by which the step is judged            */
    unsigned solver_laws; /* its solver must treat one of these bits 1 << law */
    bool frictionless;    /* mu = 0 everywhere                      */
    bool edges;           /* cones with edges, in 3D                */
    bool velocity_level;  /* contacts that overlap at mid-step, without the gap in the bias */
    int linearisations;   /* most times that contacts are linearised where the step ends, first at
                             q + h v; 0: once, at the start                                       */
    cairn_status (*solve)(const cairn_scheme_job *job);
} cairn_scheme;

/* The scheme of a name, NULL when unknown. */
const cairn_scheme *cairn_scheme_find(const char *name);

/* Whether a solver on a back end treats what the scheme asks of it, for problems of the kind of
 * `p`. */
bool cairn_scheme_accepts(const cairn_scheme *scheme, const char *backend, const char *solver,
                          const cairn_problem *p);
/* How often contacts are linearised at most when the user asked for `asked` (0: nothing asked);
 * 0: at the start of the step alone. */
int cairn_scheme_linearisations(const cairn_scheme *scheme, int64_t asked);
/* How the bodies of a contact come. */
typedef struct cairn_approach {
    double gap;         /* m: where their paths begin                                          */
    double apart;       /* m/s: b that keeps the gap                                           */
    double before;      /* m/s: normal velocity before the step                                */
    double restitution; /* Newton's e                                                          */
} cairn_approach;

/* b: min(apart, e u_N) where the contact closes in the step and bounces; e min(0, u_N) at velocity
 * level. */
double cairn_scheme_bias(bool velocity_level, double h, const cairn_approach *at);
/* Where in a step contacts are evaluated first: 0 at its start, 1/2, or 1 at q + h v. */
double cairn_scheme_ahead(const cairn_scheme *scheme, int linearisations);
/* Whether s is found for some contacts, and is data of the law that the step is judged by. */
bool cairn_scheme_is_mixed(const cairn_scheme *scheme);

/* mixed.c: the solve of scheme auto */
cairn_status cairn_scheme_upgrade(const cairn_scheme_job *job);

#endif
