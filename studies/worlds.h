/* worlds.h - the worlds of the papers: balls, disks and walls with one material, and their runs. */
#ifndef CAIRN_STUDIES_WORLDS_H
#define CAIRN_STUDIES_WORLDS_H

#include "cairn/cairn.h"

/* ---- bodies with one material, and a step that must meet its tolerance ----------------------- */

/* A world with one material without restitution. */
cairn_status cairn_plain_world(int dimension, cairn_vec3 gravity, double mu, cairn_world **out);

/* A body to add to it. */
typedef struct cairn_ball {
    double radius, mass;
    double inertia; /* kg m^2; 0: of a solid ball or disk */
    cairn_vec3 x, v;
} cairn_ball;

cairn_status cairn_add_ball(cairn_world *world, const cairn_ball *ball);
/* A fixed half-space through x with the outward normal. */
cairn_status cairn_add_wall(cairn_world *world, cairn_vec3 normal, cairn_vec3 x);

/* One step; CAIRN_STOPPED when it missed its tolerance. */
cairn_status cairn_solved_step(cairn_world *world, const cairn_step_options *options,
                               cairn_step_report *report);

/* ---- [BL23] 3.1 and 3.2: a disk on an incline, and one that falls on it ---------------------- */

/* Radius 1, mass 1, gravity 1, incline pi/6, centre at distance 2 from the plane. In the frame of
 * the plane: impact at t_i = sqrt(2/cos a); it slips on when mu < tan(a)/3, else it rolls. */

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

/* ---- [ST96] 4: a thrown ball lands, rolls and hits a row of three ---------------------------- */

enum { BALLS = 4, BALL_COMPONENTS = 6 * BALLS, BALL_STEPS = 800 };

/* One run to t = 1: of each ball 3 linear and 3 angular components in the world frame. */
typedef struct cairn_throw {
    int steps;
    double v[BALL_STEPS + 1][BALL_COMPONENTS];
    double q[BALL_STEPS + 1][BALL_COMPONENTS]; /* angles: sums of the angular velocities         */
    double table, collision;        /* s: start of the step that first has an impulse             */
    double penetration;             /* m: deepest                                                 */
    double rise;                    /* J: largest rise of energy in a step                        */
    int linearisations, candidates; /* most of a step                                             */
} cairn_throw;

/* Throw in `steps` steps, at most BALL_STEPS. */
cairn_status cairn_balls_throw(int steps, cairn_throw *out);

/* The largest total variation of a component of the velocity. */
double cairn_throw_variation(const cairn_throw *t);

/* Integral of |v - v_fine|, velocities being constant in a step; largest |q - q_fine|. */
void cairn_throw_compare(const cairn_throw *t, const cairn_throw *fine, double *velocity,
                         double *position);

/* ---- many balls or disks: the scenes of [BL23] 3.3 and the shaken boxes of [A06], [A05] ------ */

/* [BL23] 3.3.1: n^3 spheres on a jittered grid in an open box of side 10, gravity 1. The walls come
 * first. */
cairn_status cairn_grains_box(int n, cairn_world **out);

enum { BOX_WALLS = 5 };

/* Its time step: no sphere moves more than 20 % of 0.9 of the mean radius. */
double cairn_grains_box_step(int n);

/* [BL23] 3.3.2: n^dimension equal balls or disks on a grid of width 10 over a plane, the lowest
 * layer shifted by half a radius, gravity 1. The plane comes first. */
cairn_status cairn_grains_column(int dimension, int n, double mu, cairn_world **out);
double cairn_grains_column_radius(int n);
/* Nothing moves more than 10 % of a radius in it. */
double cairn_grains_column_step(int n);

/* [BL23] 3.3.3: ten by ten ellipses, vertical semi-axis 0.45, the other between 0.22 and 0.68, over
 * a floor of fixed disks of radius 0.045, which come first; gravity 5, no friction. */
cairn_status cairn_grains_ellipses(cairn_world **out);

enum { ELLIPSE_GLUED = 601, ELLIPSES = 100 };

/* A box of disks, shaken up and down; one disk at the middle of its floor has another size. */
typedef struct cairn_nut_box {
    double width, amplitude, period; /* m, m, s                                        */
    double settle;                   /* s before the shaking                           */
    int disks;                       /* small ones, radius 0.5 (1 +- 0.1)              */
    double big;                      /* m: radius of the other                         */
    double restitution;              /* of every impact                                */
    uint64_t seed;
} cairn_nut_box;

/* The three walls come first, then the big disk. */
cairn_status cairn_grains_nut(const cairn_nut_box *box, cairn_world **out);

enum { NUT_WALLS = 3, NUT_BIG = 3 };

/* Small disks whose centre is above that of the big one. */
int cairn_grains_above(const cairn_world *world);

#endif
