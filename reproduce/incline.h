/* incline.h - [BL23] 3.1 and 3.2: a disk on an incline, and one that falls on it.
 *
 * Radius 1, mass 1, gravity 1, incline pi/6, centre at distance 2 from the plane. In the frame of
 * the plane: impact at t_i = sqrt(2/cos a); it slips on when mu < tan(a)/3, else it rolls. */
#ifndef CAIRN_REPRODUCE_INCLINE_H
#define CAIRN_REPRODUCE_INCLINE_H

#include "cairn/cairn.h"

typedef struct cairn_incline {
    const char *scheme;
    double mu, dt;
    double fixed_point_tolerance; /* 0: to the tolerance of exact Coulomb friction            */
    double margin;                /* m: contacts within this distance are in the list         */
} cairn_incline;

/* What a run shows after each step: centre (normal, tangential), angle, and their velocities. */
typedef struct cairn_incline_state {
    double time;
    cairn_vec3 x, v;
} cairn_incline_state;

typedef struct cairn_incline_watch {
    void (*see)(void *context, const cairn_incline_state *state);
    void *context;
} cairn_incline_watch;

typedef struct cairn_incline_run {
    double x, theta;     /* L2 errors in time, absolute                              */
    double mean_outer;   /* convex solves a step                                     */
    double last_gap;     /* m, at the end                                            */
    double last_sliding; /* m/s, of the contact in the last step                     */
    cairn_vec3 last;     /* normal, tangential coordinate, angle                     */
} cairn_incline_run;

/* Exact normal and tangential coordinate of the centre and angle; their velocities. */
cairn_vec3 cairn_incline_exact(double mu, double t);
cairn_vec3 cairn_incline_exact_velocity(double mu, double t);

/* Run to t = 10; `watch` may be NULL. */
cairn_status cairn_incline_roll(const cairn_incline *in, const cairn_incline_watch *watch,
                                cairn_incline_run *out);

/* [BL23] Table 1: the first step of a disk at rest, as a scalar problem Q = dt^2/m = 0.0025,
 * C = -dt^2 cos(alpha), with minimiser cos(alpha). Stops on the paper's test when `increment` > 0,
 * else on the judge at 1e-10. */
cairn_status cairn_incline_solve(const char *solver, double increment, int64_t max_iterations,
                                 double *answer, cairn_solve_report *report);

#endif
