/* phases.h - impulses of a problem by the scheme: in one phase, or in the two of an impact by
 * Poisson's law. Bodies and Lagrangian systems share it; the methods are told in phases.c. */
#ifndef CAIRN_WORLD_PHASES_H
#define CAIRN_WORLD_PHASES_H

#include "world/step.h"

/* Friction that depends on the sliding speed: both functions set mu of the answer, `start` with the
 * velocities before the step, `update` with those of the answer; it returns the largest change. */
typedef struct cairn_speed_friction {
    void (*start)(const void *context, cairn_answer *answer);
    double (*update)(const void *context, cairn_answer *answer);
    const void *context;
    double *change; /* of the last update, out */
} cairn_speed_friction;

/* How a problem is solved. */
typedef struct cairn_solving {
    const cairn_scheme *scheme;
    cairn_solve_options options;          /* with the law of the scheme                       */
    double fixed_point_tolerance;         /* loops on s and mu: > 0: end by the change ...    */
    int64_t max_fixed_point;              /* ... and after so many solves                     */
    double allowed;                       /* m/s: scheme auto: largest mu |u_T| that stays    */
    bool circular;                        /* Coulomb's law is judged with circular cones      */
    const cairn_speed_friction *friction; /* NULL: mu is given                                */
    cairn_arena *scratch;
    cairn_workspace *workspace;
    cairn_solve_report *report;
    int *upgraded; /* scheme auto: contacts with exact friction, out                   */
} cairn_solving;

/* One way to find r, v and u of the answer, and the judge of what it found. */
typedef struct cairn_phase {
    cairn_status (*solve)(const cairn_solving *, const void *context, cairn_answer *answer);
    void (*judge)(const cairn_solving *, cairn_answer *answer, cairn_judgement *out);
    const void *context;
} cairn_phase;

extern const cairn_phase cairn_phase_whole; /* all contacts together */

/* What a scheme asks for to solve the problem of an answer. */
cairn_scheme_job cairn_solving_job(const cairn_solving *solving, const cairn_answer *answer);
/* A phase with the loop of the friction law around it. */
cairn_status cairn_phase_with_law(const cairn_solving *solving, const cairn_phase *phase,
                                  cairn_answer *answer);

/* Whether a contact hits: normal velocities before the step, without contact, and the one that must
 * close the gap within it, m/s. */
bool cairn_impact_hits(double before, double free, double closing, double gap, double h);
/* Poisson's law with e of each contact, 0 where it does not bounce: compression by `first`, the
 * problem of the answer with the velocities of that phase, then decompression by the problem
 * itself; r is the sum of both. */
cairn_status cairn_impact_solve(const cairn_solving *solving, const cairn_problem *first,
                                const double *e, cairn_answer *answer);

#endif
