/* lagrangian_systems.h - small systems in generalised coordinates: a particle and a bar over a
 * floor ([A06] 10), a rod with round ends ([ST96] 5), the double pendulum of [C09] 5.1, the ellipse
 * of [A05]. */
#ifndef CAIRN_STUDIES_LAGRANGIAN_SYSTEMS_H
#define CAIRN_STUDIES_LAGRANGIAN_SYSTEMS_H

#include <math.h>

#include "cairn/lagrange.h"

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
