/* double_pendulum.c - a double pendulum that slides along the floor ([C09] 5.1), as a Lagrangian
 * system: unit masses on rods of 1 m and 2 m, the floor 2.6 m below, friction 0.01. Prints the
 * angles from the vertical, the normal impulse and the energy every 0.2 s. */
#include <math.h>
#include <stdio.h>

#include "cairn/cairn.h"

static const double length[2] = { 1, 2 }, gravity = 9.81, floor_depth = 2.6;

static void mass(void *context, const double *q, double *M)
{
    (void)context;
    M[0] = 2 * length[0] * length[0];
    M[1] = M[2] = length[0] * length[1] * cos(q[0] - q[1]);
    M[3] = length[1] * length[1];
}

/* Weight, and the terms of d/dt (M v) that are quadratic in v. */
static void force(void *context, double time, const double *q, const double *v, double *F)
{
    double coupling = length[0] * length[1] * sin(q[0] - q[1]);
    (void)context, (void)time;
    F[0] = -2 * gravity * length[0] * sin(q[0]) - coupling * v[1] * v[1];
    F[1] = -gravity * length[1] * sin(q[1]) + coupling * v[0] * v[0];
}

/* The height of the lower mass over the floor; rows: derivatives of its y and of its x. */
static void contact(void *context, const double *q, int index, cairn_lagrange_contact *out)
{
    (void)context, (void)index;
    out->gap = floor_depth;
    out->mu = 0.01;
    for (int i = 0; i < 2; i++) {
        out->gap -= length[i] * cos(q[i]);
        out->rows[i] = length[i] * sin(q[i]);
        out->rows[2 + i] = length[i] * cos(q[i]);
    }
}

static double potential(void *context, const double *q)
{
    (void)context;
    return -gravity * (2 * length[0] * cos(q[0]) + length[1] * cos(q[1]));
}

static cairn_status swing(cairn_lagrange *pendulum, cairn_error *error)
{
    cairn_lagrange_options options = cairn_lagrange_options_default();
    options.time_step = 0.001;
    options.scheme = "coulomb-newton";
    options.velocity_level = true;
    double impulse = 0;
    printf("time  theta1       theta2       impulse    energy\n");
    for (int k = 1; k <= 2000; k++) {
        cairn_lagrange_report report;
        cairn_status status = cairn_lagrange_step(pendulum, &options, &report, error);
        if (status != CAIRN_OK)
            return status;
        if (!report.solve.converged)
            fprintf(stderr, "step %d: residual %.1e\n", k, report.solve.judgement.asked.relative);
        impulse += cairn_lagrange_impulse(pendulum)[0];
        const double *q = cairn_lagrange_position(pendulum);
        if (k % 200 == 0)
            printf("%.1f  %11.8f  %11.8f  %9.6f  %.6f\n", 0.001 * k, q[0], q[1], impulse,
                   report.kinetic + report.potential);
    }
    return CAIRN_OK;
}

int main(void)
{
    cairn_lagrange_system system = { .coordinates = 2,
                                     .dimension = 2,
                                     .contacts = 1,
                                     .mass = mass,
                                     .force = force,
                                     .contact = contact,
                                     .potential = potential };
    const double third = 1.04719755119659775; /* pi/3: both rods 60 degrees to the right */
    double q[2] = { third, third };
    cairn_lagrange *pendulum;
    cairn_error error = { 0 };
    cairn_status status = cairn_lagrange_create(&system, q, NULL, &pendulum, &error);
    if (status == CAIRN_OK)
        status = swing(pendulum, &error);
    cairn_lagrange_destroy(pendulum);
    if (status != CAIRN_OK)
        fprintf(stderr, "double_pendulum: %s\n",
                error.message[0] ? error.message : cairn_status_text(status));
    return status != CAIRN_OK;
}
