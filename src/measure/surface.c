/* surface.c - the free surface of a heap of balls.
 *
 * Above a point x the surface is the envelope h(x) = max over balls of x_up + sqrt(R^2 - d^2), d
 * the horizontal distance from x. In 3D it is probed on a square grid; a row sums up the points
 * with the same coordinate along the axis. */
#include <math.h>

#include "base/status.h"
#include "measure/measure.h"

/* The grid: `bins` points along the axis, and as many across it in 3D. */
typedef struct surface {
    int along, across; /* axes; across -1: 2D */
    cairn_region range;
    int bins, lines;
    double *height; /* m, bins x lines; -infinity: nothing there */
} surface;

static double place(const surface *f, int axis, int k, int count)
{
    return f->range.low[axis] + (k + 0.5) * (f->range.high[axis] - f->range.low[axis]) / count;
}

/* The points of an axis within `radius` of a coordinate: first to *last. */
static int points_near(const surface *f, int axis, double at, double radius, int *last)
{
    double width = (f->range.high[axis] - f->range.low[axis]) / f->bins;
    double first = ceil((at - radius - f->range.low[axis]) / width - 0.5);
    double end = floor((at + radius - f->range.low[axis]) / width - 0.5);
    *last = end >= f->bins ? f->bins - 1 : end < -1 ? -1 : (int)end;
    return first < 0 ? 0 : first > f->bins ? f->bins : (int)first;
}

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

/* The horizontal axes, and how far the balls reach along them. */
static cairn_status prepare(const cairn_measure *m, surface *f)
{
    cairn_region other;
    bool flat = m->box.dimension == 2;
    f->along = m->axis != m->up ? m->axis : m->up == 0 ? 1 : 0;
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

static cairn_status profile(cairn_measure *m)
{
    surface f = { 0 };
    TRY(prepare(m, &f));
    if (!(f.range.high[f.along] > f.range.low[f.along]))
        return CAIRN_OK;
    for (int k = 0; k < f.bins * f.lines; k++)
        f.height[k] = -INFINITY;
    for (int i = 0; i < m->sample->count; i++)
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
