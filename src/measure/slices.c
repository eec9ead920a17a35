/* slices.c - the share of a box that grains fill, as a whole and in slices, and the free
 * surface.
 *
 * Balls that the box cuts count by the volume inside (region.c); overlaps count twice. Other
 * shapes count as balls of the same volume about their centre of mass. What the box wrongly cuts
 * off one such ball it adds to another, so the mean is right if the packing continues beyond the
 * box. */
#include <math.h>

#include "base/common.h"
#include "math/vec.h"
#include "measure/measure.h"

/* The volume of all grains within the region. Also grains whose centre is outside may reach into
 * it. */
static double solid_in(const cairn_measure *m, const cairn_region *region)
{
    const cairn_sample *s = m->sample;
    double solid = 0;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i])
            solid += cairn_region_ball(region, s->x[i], cairn_measure_radius(s, i));
    return solid;
}

/* The volume of all grains: in a periodic cell is all of each, in part as images. */
static double solid_of_all(const cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    double solid = 0;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        solid += s->is_grain[i] ? s->volume[i] : 0;
    return solid;
}

/* solid/volume is not finite without a volume; the row is then not added. */
static cairn_status packing(cairn_measure *m)
{
    cairn_region region;
    double volume = cairn_measure_cell(m), solid;
    if (volume > 0) {
        solid = solid_of_all(m);
    } else {
        TRY(cairn_region_bulk(m, &region));
        volume = cairn_region_volume(&region);
        solid = solid_in(m, &region);
    }
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

/* The sums of a slice. */
typedef struct slice {
    double solid;                    /* m^3 */
    double grains, contacts, square; /* sums over the grains with their centre here */
    cairn_vec3 v;
} slice;

/* The slice of a position; positions outside go to the first or last one. */
static int slice_at(const cairn_region *region, int axis, double position, int bins)
{
    double along = (position - region->low[axis]) / (region->high[axis] - region->low[axis]);
    double k = floor(along * bins);
    return k < 0 ? 0 : k >= bins ? bins - 1 : (int)k;
}

/* Slice k of the region, cut across the axis. */
static cairn_region slice_region(const cairn_region *region, int axis, int k, int bins)
{
    cairn_region cut = *region;
    double width = (region->high[axis] - region->low[axis]) / bins;
    cut.low[axis] = region->low[axis] + k * width;
    cut.high[axis] = region->low[axis] + (k + 1) * width;
    return cut;
}

/* A grain, or an image of it. */
typedef struct grain {
    int i;
    cairn_vec3 x, v;
} grain;

/* Divide the volume of a ball among all slices that it reaches. */
static void add_ball(const cairn_measure *m, const cairn_region *region, const grain *g,
                     slice *slices)
{
    int bins = (int)m->options->bins;
    double at = cairn_component(g->x, m->axis), radius = cairn_measure_radius(m->sample, g->i);
    int last = slice_at(region, m->axis, at + radius, bins);
    for (int k = slice_at(region, m->axis, at - radius, bins); k <= last; k++) {
        cairn_region cut = slice_region(region, m->axis, k, bins);
        slices[k].solid += cairn_region_ball(&cut, g->x, radius);
    }
}

/* Grain counts, velocities and contacts belong to the slice of the centre. */
static void add_grain(const cairn_measure *m, const cairn_region *region, const grain *g,
                      slice *slices)
{
    if (!cairn_region_contains(region, g->x))
        return;
    double at = cairn_component(g->x, m->axis);
    slice *mine = &slices[slice_at(region, m->axis, at, (int)m->options->bins)];
    mine->grains++;
    mine->v = cairn_add(mine->v, g->v);
    mine->square += cairn_dot(g->v, g->v);
    mine->contacts += cairn_measure_touching(m, g->i);
}

/* Grain i with all its images that reach the region. */
static void add_images(const cairn_measure *m, const cairn_image_space *space,
                       const cairn_region *region, int i, slice *slices)
{
    const cairn_sample *s = m->sample;
    cairn_region rim = *region;
    double radius = cairn_measure_radius(s, i);
    for (int k = 0; k < rim.dimension; k++) {
        rim.low[k] -= radius;
        rim.high[k] += radius;
    }
    cairn_image_range all = cairn_measure_images(space, &rim, s->x[i], s->x[i]);
    while (cairn_measure_next_image(&all)) {
        const grain g = { i, cairn_add(s->x[i], cairn_measure_shift(space, &all)),
                          cairn_add(s->v[i], cairn_measure_drift(space, &all)) };
        add_ball(m, region, &g, slices);
        add_grain(m, region, &g, slices);
    }
}

/* Temperature from the sums, |v|^2 - |u|^2 averaged over the dimensions; rounding may make it
 * slightly negative, hence the clamp. */
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

/* Open sides along periodic axes are those of the cell, unless there are no grains. */
static void take_cell(const cairn_measure *m, const cairn_image_space *space, cairn_region *region)
{
    bool any = region->high[m->axis] > region->low[m->axis];
    for (int k = 0; k < region->dimension && any; k++) {
        if (!cairn_measure_repeats(space, k) || !isinf(m->box.low[k]) || !isinf(m->box.high[k]))
            continue;
        region->low[k] = cairn_component(space->lattice->corner, k);
        region->high[k] = region->low[k] + fabs(cairn_component(space->lattice->edge[k], k));
    }
}

/* Profiles along the axis. Along it the box ends where the balls end, across it at quantiles,
 * away from walls, and along periodic axes at the faces of the cell. The volume of a ball is
 * divided among slices, but its other quantities belong to one. */
static cairn_status slices(cairn_measure *m)
{
    cairn_region region;
    const cairn_sample *s = m->sample;
    int bins = (int)m->options->bins, i;
    const cairn_image_space space = cairn_measure_space(s);
    TRY(cairn_region_column(m, m->axis, &region));
    take_cell(m, &space, &region);
    TRY(cairn_measure_touch(m));
    slice *all = cairn_arena_take(m->arena, (size_t)bins, sizeof *all);
    if (!all)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < bins; k++)
        all[k] = (slice){ 0 };
    if (!(cairn_region_volume(&region) > 0))
        return CAIRN_OK;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i])
            add_images(m, &space, &region, i, all);
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

/* ---- the free surface -------------------------------------------------------------------- */

/* The free surface of a heap of balls.
 *
 * Above a point x the surface is the envelope h(x) = max over balls of x_up + sqrt(R^2 - d^2), d
 * the horizontal distance from x. In 3D it is sampled on a square grid; a row combines the
 * points with the same coordinate along the axis. Shapes other than balls are left out. */

/* The grid: `bins` points along the axis, and as many across it in 3D. */
typedef struct surface {
    int along, across; /* axes; across -1: 2D */
    cairn_region range;
    int bins, lines;
    double *height; /* m, bins x lines; -infinity: no ball there */
} surface;

/* The coordinate of grid point k, in the middle of its interval. */
static double place(const surface *f, int axis, int k, int count)
{
    return f->range.low[axis] + (k + 0.5) * (f->range.high[axis] - f->range.low[axis]) / count;
}

/* The grid points of an axis within `radius` of a coordinate: from the returned one to *last;
 * none if *last is smaller. The clamps come before the conversion to int, which could overflow. */
static int points_near(const surface *f, int axis, double at, double radius, int *last)
{
    double width = (f->range.high[axis] - f->range.low[axis]) / f->bins;
    double first = ceil((at - radius - f->range.low[axis]) / width - 0.5);
    double end = floor((at + radius - f->range.low[axis]) / width - 0.5);
    *last = end >= f->bins ? f->bins - 1 : end < -1 ? -1 : (int)end;
    return first < 0 ? 0 : first > f->bins ? f->bins : (int)first;
}

/* Raise the points across the axis at grid point k. `square` is R^2 minus the squared distance
 * along the axis. */
static void raise_line(surface *f, int k, double square, double at, cairn_vec3 x)
{
    double across = f->across < 0 ? 0 : cairn_component(x, f->across);
    int last = 0;
    int line = f->across < 0 ? 0 : points_near(f, f->across, across, sqrt(square), &last);
    for (; line <= last; line++) {
        double d = f->across < 0 ? 0 : place(f, f->across, line, f->lines) - across;
        double top = at + sqrt(fmax(0, square - d * d));
        double *height = &f->height[k * f->lines + line];
        *height = fmax(*height, top);
    }
}

/* Heights are measured along `up`, with the sign of upward. */
static void raise_ball(const cairn_measure *m, surface *f, int i)
{
    const cairn_sample *s = m->sample;
    double radius = s->radius[i], at = cairn_component(s->x[i], f->along);
    double up = m->upward * cairn_component(s->x[i], m->up);
    int last, k = points_near(f, f->along, at, radius, &last);
    for (; k <= last; k++) {
        double d = place(f, f->along, k, f->bins) - at;
        raise_line(f, k, fmax(0, radius * radius - d * d), up, s->x[i]);
    }
}

/* Points without a ball below do not count in the mean; their share is 1 - `cover`. */
static cairn_status write_row(cairn_measure *m, const surface *f, int k)
{
    double sum = 0, top = -INFINITY;
    int found = 0;
    for (int line = 0; line < f->lines; line++) {
        double height = f->height[k * f->lines + line];
        if (isinf(height))
            continue;
        sum += height;
        top = fmax(top, height);
        found++;
    }
    const double row[] = { place(f, f->along, k, f->bins), found ? sum / found : NAN,
                           found ? top : NAN, (double)found / f->lines };
    return cairn_measure_row(m, row);
}

/* Choose the horizontal axes, and the range of the balls along them. If `axis` is vertical, the
 * first horizontal one is used. */
static cairn_status prepare(const cairn_measure *m, surface *f)
{
    cairn_region other;
    bool flat = m->box.dimension == 2;
    f->along = m->axis != m->up ? m->axis : m->up == 0 ? 1 : 0;
    /* the three axes are 0, 1 and 2, so the third one is 3 minus the other two */
    f->across = flat ? -1 : 3 - f->along - m->up;
    f->bins = (int)m->options->bins;
    f->lines = flat ? 1 : f->bins;
    TRY(cairn_region_column(m, f->along, &f->range));
    if (!flat) {
        TRY(cairn_region_column(m, f->across, &other));
        f->range.low[f->across] = other.low[f->across];
        f->range.high[f->across] = other.high[f->across];
    }
    f->height = cairn_arena_take(m->arena, (size_t)(f->bins * f->lines), sizeof *f->height);
    return f->height ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* -infinity marks points that no ball covers. */
static cairn_status profile(cairn_measure *m)
{
    surface f = { 0 };
    int i;
    TRY(prepare(m, &f));
    if (!(f.range.high[f.along] > f.range.low[f.along]))
        return CAIRN_OK;
    for (int k = 0; k < f.bins * f.lines; k++)
        f.height[k] = -INFINITY;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (m->sample->is_grain[i] && m->sample->radius[i] > 0)
            raise_ball(m, &f, i);
    for (int k = 0; k < f.bins; k++)
        TRY(write_row(m, &f, k));
    return CAIRN_OK;
}

static const cairn_statistic_field fields[] = {
    { { "position", "m", "along the axis", false }, NULL, false },
    { { "height", "m", "of the surface there, mean over the points across", true }, NULL, false },
    { { "top", "m", "the highest of them", false }, NULL, false },
    { { "cover", "", "share of the points across that have balls below", false }, NULL, false },
};

const cairn_statistic cairn_statistic_surface = {
    .name = "surface",
    .summary = "height of the free surface along a horizontal axis",
    .needs = "grains (dynamic bodies) that are balls, or a region that is given",
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .measure = profile,
};
