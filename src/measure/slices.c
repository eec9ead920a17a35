/* slices.c - the share of a box that grains fill, as a whole and in slices.
 *
 * Volumes of balls cut by the box are those of region.c; overlaps count twice. Other shapes count
 * as balls of the same volume about their centre of mass: what the box cuts off one it gives to
 * another, so the mean is right where the packing goes on beyond the box. */
#include <math.h>

#include "base/count.h"
#include "base/status.h"
#include "math/vec.h"
#include "measure/measure.h"

static double solid_in(const cairn_sample *s, const cairn_region *region)
{
    double solid = 0;
    for (int i = 0; i < s->count; i++)
        if (s->is_grain[i])
            solid += cairn_region_ball(region, s->x[i], cairn_measure_radius(s, i));
    return solid;
}

static cairn_status packing(cairn_measure *m)
{
    cairn_region region;
    TRY(cairn_region_bulk(m, &region));
    double volume = cairn_region_volume(&region), solid = solid_in(m->sample, &region);
    const double row[] = { solid / volume, solid, volume };
    return volume > 0 ? cairn_measure_row(m, row) : CAIRN_OK;
}

static const cairn_statistic_field packing_fields[] = {
    { { "fraction", "", "share of the box that grains fill", true }, NULL, false },
    { { "solid", "m^3", "volume of the grains in the box", false }, "m^2", false },
    { { "volume", "m^3", "of the box", false }, "m^2", false },
};

const cairn_statistic cairn_statistic_packing = {
    .name = "packing",
    .summary = "packing fraction in a box",
    .needs = "grains (dynamic bodies) that span a volume, or a region that is given",
    .fields = packing_fields,
    .field_count = CAIRN_COUNT(packing_fields),
    .series = true,
    .measure = packing,
};

/* ---- slices --------------------------------------------------------------------------------- */

/* What is added up in a slice. */
typedef struct slice {
    double solid;                    /* m^3 */
    double grains, contacts, square; /* sums over the grains with their centre here */
    cairn_vec3 v;
} slice;

static int slice_at(const cairn_region *region, int axis, double position, int bins)
{
    double along = (position - region->low[axis]) / (region->high[axis] - region->low[axis]);
    double k = floor(along * bins);
    return k < 0 ? 0 : k >= bins ? bins - 1 : (int)k;
}

static cairn_region slice_region(const cairn_region *region, int axis, int k, int bins)
{
    cairn_region cut = *region;
    double width = (region->high[axis] - region->low[axis]) / bins;
    cut.low[axis] = region->low[axis] + k * width;
    cut.high[axis] = region->low[axis] + (k + 1) * width;
    return cut;
}

static void add_ball(const cairn_measure *m, const cairn_region *region, int i, slice *slices)
{
    const cairn_sample *s = m->sample;
    int bins = (int)m->options->bins;
    double at = cairn_component(s->x[i], m->axis), radius = cairn_measure_radius(s, i);
    int last = slice_at(region, m->axis, at + radius, bins);
    for (int k = slice_at(region, m->axis, at - radius, bins); k <= last; k++) {
        cairn_region cut = slice_region(region, m->axis, k, bins);
        slices[k].solid += cairn_region_ball(&cut, s->x[i], radius);
    }
}

static void add_grain(const cairn_measure *m, const cairn_region *region, int i, slice *slices)
{
    const cairn_sample *s = m->sample;
    if (!cairn_region_contains(region, s->x[i]))
        return;
    double at = cairn_component(s->x[i], m->axis);
    slice *mine = &slices[slice_at(region, m->axis, at, (int)m->options->bins)];
    mine->grains++;
    mine->v = cairn_add(mine->v, s->v[i]);
    mine->square += cairn_dot(s->v[i], s->v[i]);
}

static cairn_status write_slice(cairn_measure *m, const cairn_region *region, const slice *k,
                                int index)
{
    cairn_region cut = slice_region(region, m->axis, index, (int)m->options->bins);
    double n = k->grains;
    cairn_vec3 u = cairn_scale(1 / n, k->v);
    const double row[] = { 0.5 * (cut.low[m->axis] + cut.high[m->axis]),
                           k->solid / cairn_region_volume(&cut),
                           n,
                           m->sample->has_contacts ? k->contacts / n : NAN,
                           n > 0 ? u.x : NAN,
                           n > 0 ? u.y : NAN,
                           n > 0 ? u.z : NAN,
                           n > 0 ? fmax(0, k->square / n - cairn_dot(u, u)) / region->dimension
                                 : NAN };
    return cairn_measure_row(m, row);
}

static void add_contacts(const cairn_measure *m, const cairn_region *region, const double *contacts,
                         slice *slices)
{
    const cairn_sample *s = m->sample;
    for (int i = 0; i < s->count; i++)
        if (s->is_grain[i] && cairn_region_contains(region, s->x[i])) {
            double at = cairn_component(s->x[i], m->axis);
            slices[slice_at(region, m->axis, at, (int)m->options->bins)].contacts += contacts[i];
        }
}

static cairn_status slices(cairn_measure *m)
{
    cairn_region region;
    const cairn_sample *s = m->sample;
    int bins = (int)m->options->bins;
    TRY(cairn_region_column(m, m->axis, &region));
    slice *all = cairn_arena_take(m->arena, (size_t)bins, sizeof *all);
    double *contacts = cairn_measure_contacts(m);
    if (!all || !contacts)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < bins; k++)
        all[k] = (slice){ 0 };
    if (!(cairn_region_volume(&region) > 0))
        return CAIRN_OK;
    for (int i = 0; i < s->count; i++)
        if (s->is_grain[i]) {
            add_ball(m, &region, i, all);
            add_grain(m, &region, i, all);
        }
    add_contacts(m, &region, contacts, all);
    for (int k = 0; k < bins; k++)
        TRY(write_slice(m, &region, &all[k], k));
    return CAIRN_OK;
}

static const cairn_statistic_field slice_fields[] = {
    { { "position", "m", "middle of the slice", false }, NULL, false },
    { { "fraction", "", "share of the slice that balls fill", true }, NULL, false },
    { { "grains", "", "with their centre in the slice", false }, NULL, false },
    { { "coordination", "", "their mean number of contacts that push", false }, NULL, false },
    { { "vx", "m/s", "their mean velocity", true }, NULL, false },
    { { "vy", "m/s", "their mean velocity", true }, NULL, false },
    { { "vz", "m/s", "their mean velocity", true }, NULL, true },
    { { "temperature", "m^2/s^2", "granular temperature about that velocity", true }, NULL, false },
};

const cairn_statistic cairn_statistic_slices = {
    .name = "slices",
    .summary = "packing fraction, velocity and temperature in slices along an axis",
    .needs = "grains (dynamic bodies) that span a volume, or a region that is given",
    .fields = slice_fields,
    .field_count = CAIRN_COUNT(slice_fields),
    .measure = slices,
};
