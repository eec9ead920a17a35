/* lagrangian_runs.h - the experiments of the papers in generalised coordinates: systems, initial
 * states, and what is measured. Tests and entries share them. A step that misses its tolerance
 * ends a run with CAIRN_STOPPED. */
#ifndef CAIRN_STUDIES_LAGRANGIAN_RUNS_H
#define CAIRN_STUDIES_LAGRANGIAN_RUNS_H

#include <math.h>

#include "cairn/lagrange.h"
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

/* ---- systems --------------------------------------------------------------------------------- */

/* Small systems in generalised coordinates: a particle and a bar over a
 * floor ([A06] 10), a rod with round ends ([ST96] 5), the double pendulum of [C09] 5.1, the ellipse
 * of [A05]. */

static const double pi = 3.14159265358979323846;

/* ---- a plane body over the floor y = 0: q = (x, y, theta) ------------------------------------ */

/* Unit mass. The particle has no theta, the bar has half length 1 and two tips. */
typedef struct plane_body {
    int coordinates;   /* 2: a particle                            */
    double inertia;    /* kg m^2                                   */
    double gravity;    /* m/s^2                                    */
    double mu, e;      /* of its contacts                          */
    double long_axis;  /* m: semi-axes, of the ellipse             */
    double short_axis; /* m                                        */
} plane_body;

static inline void plane_mass(void *context, const double *q, double *M)
{
    const plane_body *body = context;
    int m = body->coordinates;
    (void)q;
    M[0] = M[m + 1] = 1;
    if (m == 3)
        M[8] = body->inertia;
}

static inline void plane_force(void *context, double time, const double *q, const double *v,
                               double *F)
{
    (void)time, (void)q, (void)v;
    F[1] = -((const plane_body *)context)->gravity;
}

static inline double plane_potential(void *context, const double *q)
{
    return ((const plane_body *)context)->gravity * q[1];
}

static inline void particle_contact(void *context, const double *q, int index,
                                    cairn_lagrange_contact *out)
{
    const plane_body *body = context;
    (void)index;
    out->gap = q[1];
    out->mu = body->mu;
    out->restitution = body->e;
    out->rows[1] = 1; /* n = (0, 1) */
    out->rows[2] = 1; /* t = (1, 0) */
}

/* Tip (x, y) + e (cos, sin): e = -1 for contact 0, +1 for contact 1. */
static inline void bar_contact(void *context, const double *q, int index,
                               cairn_lagrange_contact *out)
{
    const plane_body *body = context;
    double e = index ? 1 : -1, *n = out->rows, *t = out->rows + 3;
    out->gap = q[1] + e * sin(q[2]);
    out->mu = body->mu;
    n[1] = 1;
    n[2] = e * cos(q[2]);
    t[0] = 1;
    t[2] = -e * sin(q[2]);
}

static inline void ellipse_contact(void *context, const double *q, int index,
                                   cairn_lagrange_contact *out)
{
    const plane_body *body = context;
    double a = body->long_axis, b = body->short_axis, s = sin(q[2]), c = cos(q[2]);
    double height = sqrt(a * a * s * s + b * b * c * c), *n = out->rows, *t = out->rows + 3;
    (void)index;
    out->gap = q[1] - height;
    out->mu = body->mu;
    n[1] = 1;
    n[2] = -(a * a - b * b) * s * c / height;
    t[0] = 1;
    t[2] = height;
}

/* A rod of length 0.5 with round ends of radius 0.05 ([ST96] 5): end e = -1 or +1. */
static inline void rod_contact(void *context, const double *q, int index,
                               cairn_lagrange_contact *out)
{
    const plane_body *body = context;
    double half = 0.25, radius = 0.05, e = index ? 1 : -1, *n = out->rows, *t = out->rows + 3;
    out->gap = q[1] + e * half * sin(q[2]) - radius;
    out->mu = body->mu;
    n[1] = 1;
    n[2] = e * half * cos(q[2]);
    t[0] = 1;
    t[2] = -e * half * sin(q[2]) + radius;
}

static inline cairn_lagrange_system plane_system(plane_body *body)
{
    return (cairn_lagrange_system){ .coordinates = body->coordinates,
                                    .dimension = 2,
                                    .contacts = 1,
                                    .context = body,
                                    .mass = plane_mass,
                                    .force = plane_force,
                                    .contact = particle_contact,
                                    .potential = plane_potential };
}

static inline cairn_lagrange_system particle_system(plane_body *body)
{
    body->coordinates = 2;
    return plane_system(body);
}

static inline cairn_lagrange_system bar_system(plane_body *body)
{
    body->coordinates = 3;
    cairn_lagrange_system system = plane_system(body);
    system.contacts = 2;
    system.contact = bar_contact;
    return system;
}

static inline cairn_lagrange_system rod_system(plane_body *body)
{
    cairn_lagrange_system system = bar_system(body);
    system.contact = rod_contact;
    return system;
}

static inline cairn_lagrange_system ellipse_system(plane_body *body)
{
    double a = body->long_axis, b = body->short_axis;
    body->coordinates = 3;
    body->inertia = (a * a + b * b) / 4;
    cairn_lagrange_system system = plane_system(body);
    system.contact = ellipse_contact;
    return system;
}

/* ---- the double pendulum: q = (theta1, theta2) from the vertical ----------------------------- */

/* Unit masses on rods of lengths 1 and 2; the second one meets a floor at y = -2.6. */
static const double arm[2] = { 1, 2 }, floor_depth = 2.6, pendulum_gravity = 9.81;

static inline void pendulum_mass(void *context, const double *q, double *M)
{
    (void)context;
    M[0] = 2 * arm[0] * arm[0];
    M[1] = M[2] = arm[0] * arm[1] * cos(q[0] - q[1]);
    M[3] = arm[1] * arm[1];
}

static inline void pendulum_force(void *context, double time, const double *q, const double *v,
                                  double *F)
{
    double coupling = arm[0] * arm[1] * sin(q[0] - q[1]);
    (void)context, (void)time;
    F[0] = -2 * pendulum_gravity * arm[0] * sin(q[0]) - coupling * v[1] * v[1];
    F[1] = -pendulum_gravity * arm[1] * sin(q[1]) + coupling * v[0] * v[0];
}

static inline void pendulum_contact(void *context, const double *q, int index,
                                    cairn_lagrange_contact *out)
{
    (void)context, (void)index;
    out->gap = floor_depth;
    out->mu = 0.01;
    for (int i = 0; i < 2; i++) {
        out->gap -= arm[i] * cos(q[i]);
        out->rows[i] = arm[i] * sin(q[i]);
        out->rows[2 + i] = arm[i] * cos(q[i]);
    }
}

static inline double pendulum_potential(void *context, const double *q)
{
    (void)context;
    return -pendulum_gravity * (2 * arm[0] * cos(q[0]) + arm[1] * cos(q[1]));
}

static inline cairn_lagrange_system pendulum_system(void)
{
    return (cairn_lagrange_system){ .coordinates = 2,
                                    .dimension = 2,
                                    .contacts = 1,
                                    .mass = pendulum_mass,
                                    .force = pendulum_force,
                                    .contact = pendulum_contact,
                                    .potential = pendulum_potential };
}

/* `convex` or `lcp`, solved exactly; h in seconds. */
static inline cairn_lagrange_options exact_options(const char *scheme, double h)
{
    cairn_lagrange_options options = cairn_lagrange_options_default();
    options.scheme = scheme;
    options.time_step = h;
    options.tolerance = 1e-12;
    return options;
}

#endif
