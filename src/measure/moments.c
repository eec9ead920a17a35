/* moments.c - sums over the grains: position, velocity, temperature and energy. */
#include <math.h>

#include "base/common.h"
#include "math/vec.h"
#include "measure/measure.h"

/* ---- centre --------------------------------------------------------------------------------- */

/* Mass and mass-weighted sums of position and velocity over the counted grains. */
static double sum_mass(const cairn_measure *m, cairn_vec3 *x, cairn_vec3 *v)
{
    const cairn_sample *s = m->sample;
    double mass = 0;
    int i;
    *x = *v = cairn_vec(0, 0, 0);
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (cairn_measure_counts(m, i)) {
            mass += s->mass[i];
            *x = cairn_add_scaled(*x, s->mass[i], s->x[i]);
            *v = cairn_add_scaled(*v, s->mass[i], s->v[i]);
        }
    return mass;
}

/* Without grains in the box there is no row. */
static cairn_status centre(cairn_measure *m)
{
    cairn_vec3 x, v;
    double mass = sum_mass(m, &x, &v);
    if (!(mass > 0))
        return CAIRN_OK;
    x = cairn_scale(1 / mass, x);
    v = cairn_scale(1 / mass, v);
    const double row[] = { x.x, x.y, x.z, v.x, v.y, v.z, mass };
    return cairn_measure_row(m, row);
}

static const cairn_statistic_field centre_fields[] = {
    { { "x", "m", "centre of mass", true }, NULL, false },
    { { "y", "m", "centre of mass", true }, NULL, false },
    { { "z", "m", "centre of mass", true }, NULL, true },
    { { "vx", "m/s", "its velocity", true }, NULL, false },
    { { "vy", "m/s", "its velocity", true }, NULL, false },
    { { "vz", "m/s", "its velocity", true }, NULL, true },
    { { "mass", "kg", "of the grains", false }, NULL, false },
};

const cairn_statistic cairn_statistic_centre = {
    .name = "centre",
    .summary = "centre of mass and its velocity",
    .needs = "grains (dynamic bodies) in the region",
    .fields = centre_fields,
    .field_count = CAIRN_COUNT(centre_fields),
    .series = true,
    .measure = centre,
};

/* ---- height --------------------------------------------------------------------------------- */

/* The unit vector against gravity; without gravity the upward axis. */
static cairn_vec3 upward(const cairn_measure *m)
{
    double g = cairn_norm(m->sample->gravity);
    cairn_vec3 axis = { m->up == 0, m->up == 1, m->up == 2 };
    return g > 0 ? cairn_scale(-1 / g, m->sample->gravity) : axis;
}

/* Mean and spread of the heights of the centres, weighted by mass; top and bottom of the balls.
 * Other shapes have radius 0 here, so their centres count. */
static cairn_status height(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    cairn_vec3 up = upward(m), x, v;
    double mass = sum_mass(m, &x, &v), square = 0, low = INFINITY, high = -INFINITY;
    if (!(mass > 0))
        return CAIRN_OK;
    double mean = cairn_dot(up, x) / mass;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (cairn_measure_counts(m, i)) {
            double at = cairn_dot(up, s->x[i]);
            square += s->mass[i] * (at - mean) * (at - mean);
            low = fmin(low, at - s->radius[i]);
            high = fmax(high, at + s->radius[i]);
        }
    const double row[] = { mean, high, low, sqrt(square / mass) };
    return cairn_measure_row(m, row);
}

static const cairn_statistic_field height_fields[] = {
    { { "mean", "m", "height of the centre of mass", true }, NULL, false },
    { { "top", "m", "highest point of a grain", true }, NULL, false },
    { { "bottom", "m", "lowest point of a grain", true }, NULL, false },
    { { "spread", "m", "root mean square of the heights about their mean", false }, NULL, false },
};

const cairn_statistic cairn_statistic_height = {
    .name = "height",
    .summary = "mean, highest and lowest height, against gravity",
    .needs = "grains (dynamic bodies) in the region",
    .fields = height_fields,
    .field_count = CAIRN_COUNT(height_fields),
    .series = true,
    .measure = height,
};

/* ---- temperature ---------------------------------------------------------------------------- */

/* T = 1/(D N) sum |v - u|^2 over N grains in D dimensions, u the mean velocity. Two passes,
 * because the mean of squares minus the square of the mean would cancel if u is large. Each
 * grain counts the same, whatever its mass. */
static cairn_status temperature(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    cairn_vec3 u = { 0, 0, 0 }, square = { 0, 0, 0 };
    double grains = 0, speed = 0;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (cairn_measure_counts(m, i)) {
            u = cairn_add(u, s->v[i]);
            speed += cairn_norm(s->v[i]);
            grains++;
        }
    u = cairn_scale(1 / grains, u);
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (cairn_measure_counts(m, i)) {
            cairn_vec3 own = cairn_sub(s->v[i], u);
            square = cairn_add(square, cairn_times(own, own));
        }
    square = cairn_scale(1 / grains, square);
    const double row[] = { (square.x + square.y + square.z) / s->dimension, square.x, square.y,
                           square.z, speed / grains };
    return grains > 0 ? cairn_measure_row(m, row) : CAIRN_OK;
}

static const cairn_statistic_field temperature_fields[] = {
    { { "temperature", "m^2/s^2", "mean of the parts along the axes", true }, NULL, false },
    { { "x", "m^2/s^2", "variance of the velocities", true }, NULL, false },
    { { "y", "m^2/s^2", "variance of the velocities", true }, NULL, false },
    { { "z", "m^2/s^2", "variance of the velocities", true }, NULL, true },
    { { "speed", "m/s", "mean speed", false }, NULL, false },
};

const cairn_statistic cairn_statistic_temperature = {
    .name = "temperature",
    .summary = "granular temperature",
    .needs = "grains (dynamic bodies) in the region",
    .fields = temperature_fields,
    .field_count = CAIRN_COUNT(temperature_fields),
    .series = true,
    .measure = temperature,
};

/* ---- energy --------------------------------------------------------------------------------- */

/* Kinetic and potential energy of all grains, in the box or not, so that the balance with the
 * sums since the start holds. Sums that are not known are NaN. */
static cairn_status energy(cairn_measure *m)
{
    static const cairn_energy unknown = { .entered = NAN,
                                          .load_work = NAN,
                                          .driver_work = NAN,
                                          .friction_loss = NAN,
                                          .impact_loss = NAN,
                                          .correction = NAN,
                                          .numerical_loss = NAN,
                                          .sleep_loss = NAN };
    const cairn_sample *s = m->sample;
    const cairn_energy *sum = s->totals ? s->totals : &unknown;
    double kinetic = 0, potential = 0;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i]) {
            kinetic += 0.5 * s->mass[i] * cairn_dot(s->v[i], s->v[i]);
            kinetic += 0.5 * cairn_dot(s->omega[i], cairn_times(s->inertia[i], s->omega[i]));
            potential -= s->mass[i] * cairn_dot(s->gravity, s->x[i]);
        }
    const double row[] = { kinetic,
                           potential,
                           sum->entered,
                           sum->load_work,
                           sum->driver_work,
                           sum->correction,
                           sum->friction_loss,
                           sum->impact_loss,
                           sum->numerical_loss,
                           sum->sleep_loss };
    return cairn_measure_row(m, row);
}

static const cairn_statistic_field energy_fields[] = {
    { { "kinetic", "J", "of all grains", true }, NULL, false },
    { { "potential", "J", "of gravity, 0 at the origin", true }, NULL, false },
    { { "entered", "J", "brought in by inlets since the start", true }, NULL, false },
    { { "load_work", "J", "done by loads since the start", true }, NULL, false },
    { { "driver_work", "J", "done by driven bodies since the start", true }, NULL, false },
    { { "correction", "J", "added by moving overlaps apart since the start", true }, NULL, false },
    { { "friction_loss", "J", "since the start", true }, NULL, false },
    { { "impact_loss", "J", "since the start", true }, NULL, false },
    { { "numerical_loss", "J", "since the start", true }, NULL, false },
    { { "sleep_loss", "J", "since the start", true }, NULL, false },
};

const cairn_statistic cairn_statistic_energy = {
    .name = "energy",
    .summary = "energy of the grains, and where it came from and went",
    .needs = "nothing but a frame",
    .fields = energy_fields,
    .field_count = CAIRN_COUNT(energy_fields),
    .series = true,
    .measure = energy,
};

/* ---- flow ----------------------------------------------------------------------------------- */

/* The balance of mass: what there is, is what there was at the start, plus what entered, less what
 * left. */
static cairn_status flow(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    double grains = 0, mass = 0;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i]) {
            grains++;
            mass += s->mass[i];
        }
    const double row[] = { grains, mass, s->totals ? s->totals->entered_mass : NAN,
                           s->totals ? s->totals->left_mass : NAN };
    return cairn_measure_row(m, row);
}

static const cairn_statistic_field flow_fields[] = {
    { { "grains", "", "number of all grains", false }, NULL, false },
    { { "mass", "kg", "of all grains", true }, NULL, false },
    { { "entered_mass", "kg", "that entered by inlets since the start", true }, NULL, false },
    { { "left_mass", "kg", "that left through outlets since the start", true }, NULL, false },
};

const cairn_statistic cairn_statistic_flow = {
    .name = "flow",
    .summary = "mass of the grains, and of those that entered and left",
    .needs = "nothing but a frame",
    .fields = flow_fields,
    .field_count = CAIRN_COUNT(flow_fields),
    .series = true,
    .measure = flow,
};

/* ---- cell ----------------------------------------------------------------------------------- */

/* The numbers are measured by the cell itself, in every step. */
static cairn_status cell(cairn_measure *m)
{
    return m->sample->cell ? cairn_measure_row(m, m->sample->cell) : CAIRN_OK;
}

static const cairn_statistic_field cell_fields[] = {
    { { "length_x", "m", "between the faces of the walls along x", false }, NULL, false },
    { { "length_y", "m", "along y", false }, NULL, false },
    { { "length_z", "m", "along z", false }, NULL, true },
    { { "strain_x", "1", "ln(L0/L) along x: compression is positive", false }, NULL, false },
    { { "strain_y", "1", "along y", false }, NULL, false },
    { { "strain_z", "1", "along z", false }, NULL, true },
    { { "force_x", "N", "mean force of the walls of x on the grains", false }, NULL, false },
    { { "force_y", "N", "of those of y", false }, NULL, false },
    { { "force_z", "N", "of those of z", false }, NULL, true },
    { { "stress_x", "Pa", "that force over the area", true }, "N/m", false },
    { { "stress_y", "Pa", "likewise", true }, "N/m", false },
    { { "stress_z", "Pa", "likewise", true }, "N/m", true },
    { { "volume_strain", "1", "sum of the strains", true }, NULL, false },
    { { "friction_angle", "rad", "mobilised: asin((s1 - s3)/(s1 + s3)) of the stresses", true },
      NULL,
      false },
    { { "shear_x", "N", "sum of the contact forces on all walls, along x", true }, NULL, false },
    { { "shear_y", "N", "along y", false }, NULL, false },
    { { "shear_z", "N", "along z", false }, NULL, true },
};

const cairn_statistic cairn_statistic_cell = {
    .name = "cell",
    .summary = "stresses and strains of the first cell",
    .needs = "a cell that was measured while the scene ran",
    .fields = cell_fields,
    .field_count = CAIRN_COUNT(cell_fields),
    .series = true,
    .measure = cell,
};
