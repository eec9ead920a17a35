/* coordination.c - who touches whom, and how hard: coordination numbers and the distribution of
 * normal forces. A contact pushes when its normal force is more than a millionth of the largest
 * one, so that the dust that iterative solvers leave does not count. */
#include <math.h>

#include "base/count.h"
#include "base/status.h"
#include "measure/measure.h"

static bool is_grain(const cairn_sample *s, int32_t body)
{
    return body >= 0 && s->is_grain[body];
}

double *cairn_measure_contacts(const cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    double *contacts = cairn_arena_doubles(m->arena, (size_t)s->count + 1);
    for (int c = 0; contacts && s->has_contacts && c < s->contacts; c++)
        for (int side = 0; side < 2; side++)
            if (cairn_measure_pushes(m, c, NULL) && s->pair[2 * c + side] >= 0)
                contacts[s->pair[2 * c + side]]++;
    return contacts;
}

/* ---- coordination --------------------------------------------------------------------------- */

/* Ends of pushing contacts on counted grains: all, and those with another grain. */
static double count_ends(const cairn_measure *m, double *between)
{
    const cairn_sample *s = m->sample;
    double ends = 0;
    *between = 0;
    for (int c = 0; c < s->contacts; c++)
        for (int side = 0; side < 2; side++) {
            int32_t me = s->pair[2 * c + side], other = s->pair[2 * c + 1 - side];
            if (me < 0 || !cairn_measure_counts(m, me) || !cairn_measure_pushes(m, c, NULL))
                continue;
            ends++;
            *between += is_grain(s, other);
        }
    return ends;
}

static cairn_status coordination(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    double grains = 0, rattlers = 0, held = 0, between;
    double ends = count_ends(m, &between), *contacts = cairn_measure_contacts(m);
    if (!contacts)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < s->count; i++) {
        if (!cairn_measure_counts(m, i))
            continue;
        grains++;
        if (contacts[i] < s->dimension)
            rattlers++;
        else
            held += contacts[i];
    }
    double backbone = grains - rattlers;
    const double row[] = { ends / grains, between / grains, backbone > 0 ? held / backbone : NAN,
                           rattlers / grains, grains };
    return grains > 0 ? cairn_measure_row(m, row) : CAIRN_OK;
}

static const cairn_statistic_field coordination_fields[] = {
    { { "mean", "", "contacts that push on a grain", true }, NULL, false },
    { { "between_grains", "", "those with other grains", true }, NULL, false },
    { { "without_rattlers", "", "mean over the other grains", true }, NULL, false },
    { { "rattlers", "", "share of grains with fewer contacts than dimensions", false },
      NULL,
      false },
    { { "grains", "", "counted", false }, NULL, false },
};

const cairn_statistic cairn_statistic_coordination = {
    .name = "coordination",
    .summary = "mean number of contacts of a grain",
    .needs = "grains (dynamic bodies) in the region, and contacts stored by run.contacts: true",
    .fields = coordination_fields,
    .field_count = CAIRN_COUNT(coordination_fields),
    .series = true,
    .contacts = true,
    .measure = coordination,
};

static cairn_status neighbours(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    double *contacts = cairn_measure_contacts(m), grains = 0, most = 0;
    if (!contacts)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < s->count; i++)
        if (cairn_measure_counts(m, i)) {
            most = fmax(most, contacts[i]);
            grains++;
        }
    double *share = cairn_arena_doubles(m->arena, (size_t)most + 1);
    if (!share)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < s->count; i++)
        if (cairn_measure_counts(m, i))
            share[(int)contacts[i]] += 1 / grains;
    for (int z = 0; grains > 0 && z <= (int)most; z++) {
        const double row[] = { z, share[z] };
        TRY(cairn_measure_row(m, row));
    }
    return CAIRN_OK;
}

static const cairn_statistic_field neighbour_fields[] = {
    { { "contacts", "", "that push on a grain", false }, NULL, false },
    { { "share", "", "of the grains with so many", true }, NULL, false },
};

const cairn_statistic cairn_statistic_neighbours = {
    .name = "neighbours",
    .summary = "how many grains have how many contacts",
    .needs = "grains (dynamic bodies) in the region, and contacts stored by run.contacts: true",
    .fields = neighbour_fields,
    .field_count = CAIRN_COUNT(neighbour_fields),
    .contacts = true,
    .measure = neighbours,
};

/* ---- forces --------------------------------------------------------------------------------- */

/* Whether contact c pushes on a grain at a point in the box. */
static bool is_measured(const cairn_measure *m, int c, double *force)
{
    const cairn_sample *s = m->sample;
    return cairn_measure_pushes(m, c, force) && cairn_region_contains(&m->box, s->point[c]) &&
           (is_grain(s, s->pair[2 * c]) || is_grain(s, s->pair[2 * c + 1]));
}

static cairn_status write_forces(cairn_measure *m, const double *count, double contacts,
                                 double width, double mean)
{
    for (int k = 0; k < (int)m->options->bins; k++) {
        const double row[] = { (k + 0.5) * width, count[k] / (contacts * width),
                               (k + 0.5) * width * mean };
        TRY(cairn_measure_row(m, row));
    }
    return CAIRN_OK;
}

/* Bins from 0 to the largest force; the density integrates to 1. */
static cairn_status forces(cairn_measure *m)
{
    double sum = 0, largest = 0, contacts = 0, force;
    int bins = (int)m->options->bins;
    double *count = cairn_arena_doubles(m->arena, (size_t)bins);
    if (!count)
        return CAIRN_NO_MEMORY;
    for (int c = 0; c < m->sample->contacts; c++)
        if (is_measured(m, c, &force)) {
            contacts++;
            sum += force;
            largest = fmax(largest, force);
        }
    if (contacts == 0)
        return CAIRN_OK;
    double mean = sum / contacts, width = largest / mean / bins;
    for (int c = 0; c < m->sample->contacts; c++)
        if (is_measured(m, c, &force)) {
            int k = (int)(force / mean / width);
            count[k < bins ? k : bins - 1]++;
        }
    return write_forces(m, count, contacts, width, mean);
}

static const cairn_statistic_field force_fields[] = {
    { { "ratio", "", "normal force over its mean, middle of the bin", false }, NULL, false },
    { { "density", "", "probability density of the ratio", true }, NULL, false },
    { { "force", "N", "normal force there", false }, NULL, false },
};

const cairn_statistic cairn_statistic_forces = {
    .name = "forces",
    .summary = "distribution of the normal forces",
    .needs = "contacts that push on grains in the region, stored by run.contacts: true",
    .fields = force_fields,
    .field_count = CAIRN_COUNT(force_fields),
    .contacts = true,
    .measure = forces,
};
