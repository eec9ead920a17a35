/* lagrangian_runs.h - the experiments of the papers in generalised coordinates: initial states, and
 * what is measured. Tests and entries share them. A step that misses its tolerance ends a run with
 * CAIRN_STOPPED. */
#ifndef CAIRN_STUDIES_LAGRANGIAN_RUNS_H
#define CAIRN_STUDIES_LAGRANGIAN_RUNS_H

#include "studies/lagrangian_systems.h"
#include "studies/study.h"

/* Sees the state after each step, and the first state with report NULL. */
typedef struct cairn_lagrange_watch {
    void (*see)(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report);
    void *context;
} cairn_lagrange_watch;

/* Initial state and end time. */
typedef struct cairn_start {
    const double *q, *v;
    double until; /* s */
} cairn_start;

/* Step a system; both watches may be NULL. */
cairn_status cairn_follow(const cairn_lagrange_system *system, const cairn_start *start,
                          const cairn_lagrange_options *options, const cairn_lagrange_watch *own,
                          const cairn_lagrange_watch *also);

/* sqrt(sum |q - q'|^2) over the steps of the schemes convex and lcp from the same state. */
cairn_status cairn_scheme_distance(const cairn_lagrange_system *system, const cairn_start *start,
                                   double h, double *out);

/* [A06] Example 2: a particle that starts to slide at 3 m/s, to t = 1.2. */
typedef struct cairn_hop {
    double highest; /* m: largest y */
    double when;    /* s            */
    double x;       /* m: at the end */
} cairn_hop;

cairn_status cairn_particle_hop(double mu, const cairn_lagrange_options *options,
                                const cairn_lagrange_watch *also, cairn_hop *out);

/* [A06] Example 4: a bar at 72 degrees whose lower tip touches at the origin, moving along the
 * floor, to t = 0.4. */
typedef struct cairn_bar_run {
    double v1[3];   /* velocity after the first step     */
    double angle;   /* at the end                        */
    double highest; /* m: of the lower tip, and when     */
    double when;    /* s                                 */
} cairn_bar_run;

cairn_status cairn_bar_slide(double speed, const cairn_lagrange_options *options,
                             const cairn_lagrange_watch *also, cairn_bar_run *out);

/* [C09] 5.1: the double pendulum from theta1 = theta2 = pi/3 at rest, at velocity level. */
typedef struct cairn_swing {
    double half[2], one[2], two[2]; /* angles at t = 0.5, 1, 2                    */
    double energy;                  /* J, at the end                              */
    double push;                    /* N s: normal impulses                       */
    double rise;                    /* J: largest rise of energy in contact       */
    double first;                   /* s: end of the first step with an impulse   */
} cairn_swing;

cairn_status cairn_pendulum_swing(const char *scheme, double h, double until,
                                  const cairn_lagrange_watch *also, cairn_swing *out);

/* [A05]: an ellipse, centre at 8 m, turning at 3 rad/s. */
typedef struct cairn_fall {
    double q2[3];  /* positions at t = 2                                    */
    double q10[3]; /* and at t = 10                                         */
    double lowest; /* m: the smallest gap                                   */
    double last;   /* m: overlap at the end                                 */
    double energy; /* J: at the end                                         */
    double first;  /* s: end of the first step with an impulse              */
} cairn_fall;

cairn_status cairn_ellipse_drop(const double axes[2], const cairn_lagrange_options *options,
                                double until, const cairn_lagrange_watch *also, cairn_fall *out);

/* [ST96] 4: a rod falls from y = 1 at 30 degrees, turning at 4 rad/s, to t = 1. */
typedef struct cairn_rod_run {
    double start[2];    /* s: start of the step in which each end is first pushed       */
    double stop;        /* s: end of the last step in which the rod moves               */
    double after[3];    /* velocity at the end of the step after the first push         */
    double q[3];        /* positions at the end                                         */
    double spin;        /* rad/s: largest                                               */
    double push;        /* N s: sum of normal impulses                                  */
    double penetration; /* m: largest                                                   */
} cairn_rod_run;

cairn_status cairn_rod_drop(double h, int linearisations, const cairn_lagrange_watch *also,
                            cairn_rod_run *out);

/* ---- a watch that draws the motion into a series of a study ---------------------------------- */

typedef double cairn_reading(const cairn_lagrange *l);

typedef struct cairn_trace {
    cairn_study *study;
    int series;
    cairn_reading *x, *y;
    int every; /* steps between points; 0: 1 */
    int steps; /* seen */
} cairn_trace;

/* The `see` of a cairn_lagrange_watch whose context is a cairn_trace. */
void cairn_trace_see(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report);

/* Readings: time, coordinates, their velocities. */
double cairn_reading_time(const cairn_lagrange *l);
double cairn_reading_q0(const cairn_lagrange *l);
double cairn_reading_q1(const cairn_lagrange *l);
double cairn_reading_q2(const cairn_lagrange *l);
double cairn_reading_v0(const cairn_lagrange *l);
double cairn_reading_v1(const cairn_lagrange *l);
double cairn_reading_v2(const cairn_lagrange *l);

#endif
