/* rocking_block.c - a tall block that rocks on its two lower corners until it comes to rest.
 *
 * q = (x, y, theta): centre and tilt of a block of mass 1, half width b, half height a. The corners
 * stick to the floor and do not bounce. At each impact the block moves from one corner to the other.
 * Its angular momentum about the new corner is conserved, which gives Housner's ratio
 *     w+/w = 1 - 3/2 sin^2(alpha),  tan(alpha) = b/a
 * of the angular velocities. The program releases the block at 0.1 rad and prints the measured ratios. */
#include <math.h>
#include <stdio.h>

#include "cairn/lagrange.h"

static const double b = 0.25, a = 1, gravity = 9.81; /* m, m, m/s^2 */

static void mass(void *context, const double *q, double *M)
{
    (void)context, (void)q;
    M[0] = M[4] = 1;
    M[8] = (a * a + b * b) / 3;
}

static void force(void *context, double time, const double *q, const double *v, double *F)
{
    (void)context, (void)time, (void)q, (void)v;
    F[1] = -gravity;
}

/* Corner 0 is on the left, corner 1 on the right; (rx, ry) leads to it from the centre. */
static void corner(void *context, const double *q, int index, cairn_lagrange_contact *out)
{
    double side = index ? b : -b, s = sin(q[2]), c = cos(q[2]);
    double rx = side * c + a * s, ry = side * s - a * c;
    (void)context;
    out->gap = q[1] + ry;
    out->mu = 5;
    out->rows[1] = 1;
    out->rows[2] = rx;
    out->rows[3] = 1;
    out->rows[5] = -ry;
}

/* Ten steps of 0.1 ms: from the angular velocity before to the one after them. */
static cairn_status advance(cairn_lagrange *block, double *before, double *after,
                            cairn_error *error)
{
    cairn_lagrange_options options = cairn_lagrange_options_default();
    cairn_lagrange_report report;
    cairn_status status = CAIRN_OK;
    options.time_step = 1e-4;
    options.scheme = "lcp";
    *before = cairn_lagrange_velocity(block)[2];
    for (int k = 0; k < 10 && status == CAIRN_OK; k++)
        status = cairn_lagrange_step(block, &options, &report, error);
    *after = cairn_lagrange_velocity(block)[2];
    return status;
}

/* Four impacts: where the block is upright and loses more than 3 % of its speed in 1 ms. */
static cairn_status rock(cairn_lagrange *block, cairn_error *error)
{
    double before, after, rest, expected = 1 - 1.5 * b * b / (a * a + b * b);
    printf("time   before    after     ratio   Housner\n");
    for (int impacts = 0; impacts < 4;) {
        cairn_status status = advance(block, &before, &after, error);
        bool upright = fabs(cairn_lagrange_position(block)[2]) < 0.005;
        if (status == CAIRN_OK && !(upright && fabs(after) < 0.97 * fabs(before)))
            continue;
        if (status == CAIRN_OK) /* an impact may take a few steps more */
            status = advance(block, &rest, &after, error);
        if (status != CAIRN_OK)
            return status;
        printf("%.3f  %8.5f  %8.5f  %.4f  %.4f\n", cairn_lagrange_time(block), before, after,
               after / before, expected);
        impacts++;
    }
    return CAIRN_OK;
}

int main(void)
{
    const cairn_lagrange_system system = { .coordinates = 3,
                                           .dimension = 2,
                                           .contacts = 2,
                                           .mass = mass,
                                           .force = force,
                                           .contact = corner };
    /* tilted by 0.1 rad on its left corner */
    const double q[3] = { b * cos(0.1) - a * sin(0.1), b * sin(0.1) + a * cos(0.1), 0.1 };
    cairn_lagrange *block;
    cairn_error error = { 0 };
    cairn_status status = cairn_lagrange_create(&system, q, NULL, &block, &error);
    if (status == CAIRN_OK)
        status = rock(block, &error);
    cairn_lagrange_destroy(block);
    if (status != CAIRN_OK)
        fprintf(stderr, "rocking_block: %s\n",
                error.message[0] ? error.message : cairn_status_text(status));
    return status != CAIRN_OK;
}
