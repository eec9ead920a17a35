/* mixing.c - how well two classes of grains are mixed.
 *
 * Lacey's index in cells: M = (s0^2 - s^2)/(s0^2 - sr^2), with s^2 the variance of the share of
 * the first class over the cells, each weighted by its grains. s0^2 = p (1 - p) is its value if
 * all cells are pure, and sr^2 = p (1 - p) (K - 1)/(N - 1) its mean over all ways to distribute
 * N grains over K filled cells. So M = 0 if every cell is pure, and 1 on average if the classes
 * are distributed at random. By neighbours: the share of contacts between grains of different
 * class, divided by its value for random classes, 2 p (1 - p) N/(N - 1). */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "measure/measure.h"

/* Two arrays of doubles with one entry per cell: 256 MiB at most. */
enum { MOST_CELLS = 1 << 24 };

/* The counted grains, their classes and the cells. */
typedef struct mixture {
    double count;
    bool by_radius;
    double low, high; /* the smallest and the largest radius (m), or number of a material */
    double share;     /* p                                           */
    cairn_region box; /* of the centres                              */
    double edge;      /* m: edge of a cell */
    int64_t side[3];  /* number of cells along each axis */
} mixture;

/* ---- classes -------------------------------------------------------------------------------- */

static double value_of(const cairn_measure *m, const mixture *x, int i)
{
    return x->by_radius ? cairn_measure_radius(m->sample, i) : m->sample->material[i];
}

/* By radius: the first class is above the middle between smallest and largest. By material: it is
 * the one with the smallest number. */
static bool is_first(const cairn_measure *m, const mixture *x, int i)
{
    double value = value_of(m, x, i);
    return x->by_radius ? value > 0.5 * (x->low + x->high) : value == x->low;
}

/* Count the grains; find the bounds of their radii or materials, and the box of their centres. */
static void survey(const cairn_measure *m, mixture *x)
{
    int dimension = m->sample->dimension, i;
    x->by_radius = strcmp(m->options->classes, "radius") == 0;
    x->low = INFINITY;
    x->high = -INFINITY;
    x->box = (cairn_region){ dimension,
                             { INFINITY, INFINITY, INFINITY },
                             { -INFINITY, -INFINITY, -INFINITY } };
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);) {
        if (!cairn_measure_counts(m, i))
            continue;
        x->count++;
        x->low = fmin(x->low, value_of(m, x, i));
        x->high = fmax(x->high, value_of(m, x, i));
        for (int k = 0; k < dimension; k++) {
            double at = cairn_component(m->sample->x[i], k);
            x->box.low[k] = fmin(x->box.low[k], at);
            x->box.high[k] = fmax(x->box.high[k], at);
        }
    }
}

/* Divide the grains into two classes: the share of the first one, and the mean height of the first
 * class minus that of the second, which means nothing if one of them is empty. */
static double split(const cairn_measure *m, mixture *x)
{
    double sum[2] = { 0, 0 }, count[2] = { 0, 0 };
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);) {
        if (!cairn_measure_counts(m, i))
            continue;
        int of = is_first(m, x, i);
        sum[of] += m->upward * cairn_component(m->sample->x[i], m->up);
        count[of]++;
    }
    x->share = count[1] / x->count;
    return sum[1] / count[1] - sum[0] / count[0];
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* The edge of cells that hold 20 grains on average. Axes along which the box is flat do not count:
 * a layer has cells as flat as itself. */
static double edge_for(const mixture *x, int dimension)
{
    double longest = 0, volume = 1;
    int axes = 0;
    for (int k = 0; k < dimension; k++)
        longest = fmax(longest, x->box.high[k] - x->box.low[k]);
    for (int k = 0; k < dimension; k++) {
        double length = x->box.high[k] - x->box.low[k];
        bool flat = length <= 1e-9 * longest;
        volume *= flat ? 1 : length;
        axes += !flat;
    }
    return axes > 0 ? pow(volume * 20 / x->count, 1.0 / axes) : 1;
}

/* Choose cells in the box of the centres: with the given edge, or so that the volume of a cell is
 * that of 20 grains on average. CAIRN_BAD_INPUT: the cells are so small that
 * there are far too many of them. */
static cairn_status choose_cells(const cairn_measure *m, mixture *x)
{
    int dimension = m->sample->dimension;
    double total = 1;
    x->edge = m->options->cell > 0 ? m->options->cell : edge_for(x, dimension);
    for (int k = 0; k < 3; k++) {
        double cells = k < dimension ? ceil((x->box.high[k] - x->box.low[k]) / x->edge) : 1;
        total *= fmax(1, cells);
        if (!(total <= MOST_CELLS))
            return CAIRN_BAD_INPUT;
        x->side[k] = (int64_t)fmax(1, cells);
    }
    return CAIRN_OK;
}

/* The cell of a point; points on the upper side belong to the last cell. */
static int64_t cell_of(const mixture *x, cairn_vec3 at)
{
    int64_t index = 0;
    for (int k = x->box.dimension - 1; k >= 0; k--) {
        double along = (cairn_component(at, k) - x->box.low[k]) / x->edge;
        int64_t c = along < (double)x->side[k] ? (int64_t)along : x->side[k] - 1;
        index = index * x->side[k] + c;
    }
    return index;
}

/* The index and the number of filled cells. NaN where it is undefined: with as many filled cells
 * as grains every cell is pure in any distribution. */
static cairn_status lacey(const cairn_measure *m, const mixture *x, double *out, double *filled)
{
    int64_t cells = x->side[0] * x->side[1] * x->side[2];
    double *all = cairn_arena_doubles(m->arena, (size_t)cells);
    double *firsts = cairn_arena_doubles(m->arena, (size_t)cells), variance = 0;
    int i;
    if (!all || !firsts)
        return CAIRN_NO_MEMORY;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (cairn_measure_counts(m, i)) {
            int64_t c = cell_of(x, m->sample->x[i]);
            all[c]++;
            firsts[c] += is_first(m, x, i);
        }
    *filled = 0;
    for (int64_t c = 0; c < cells; c++)
        if (all[c] > 0) {
            double off = firsts[c] / all[c] - x->share;
            variance += all[c] / x->count * off * off;
            (*filled)++;
        }
    double pure = x->share * (1 - x->share), random = pure * (*filled - 1) / (x->count - 1);
    *out = pure > random ? (pure - variance) / (pure - random) : NAN;
    return CAIRN_OK;
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* The index by contacts between grains; NaN without contacts. */
static double by_neighbours(const cairn_measure *m, const mixture *x)
{
    const cairn_sample *s = m->sample;
    double pairs = 0, unlike = 0, n = x->count;
    int c;
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &c);) {
        int32_t a = s->pair[2 * c], b = s->pair[2 * c + 1];
        if (a < 0 || b < 0 || !cairn_measure_pushes(m, c, NULL) || !cairn_measure_counts(m, a) ||
            !cairn_measure_counts(m, b))
            continue;
        pairs++;
        unlike += is_first(m, x, a) != is_first(m, x, b);
    }
    double expected = 2 * x->share * (1 - x->share) * n / (n - 1);
    return pairs > 0 && expected > 0 ? unlike / pairs / expected : NAN;
}

/* Grains of one class only give no row. */
static cairn_status mixing(cairn_measure *m)
{
    mixture x = { 0 };
    double index, cells;
    survey(m, &x);
    if (x.count < 2)
        return CAIRN_OK;
    double lift = split(m, &x);
    if (!(x.share > 0 && x.share < 1))
        return CAIRN_OK;
    TRY(choose_cells(m, &x));
    TRY(lacey(m, &x, &index, &cells));
    const double row[] = { index, by_neighbours(m, &x), lift, x.share, cells };
    return cairn_measure_row(m, row);
}

static const cairn_statistic_field fields[] = {
    { { "lacey", "", "0: every cell is pure, 1: as at random", true }, NULL, false },
    { { "neighbours", "", "contacts of unlike grains, over those at random", true }, NULL, false },
    { { "lift", "m", "mean height of the first class less that of the second", false },
      NULL,
      false },
    { { "share", "", "of the grains in the first class", false }, NULL, false },
    { { "cells", "", "that hold grains", false }, NULL, false },
};

const cairn_statistic cairn_statistic_mixing = {
    .name = "mixing",
    .summary = "mixing index of two classes of grains",
    .needs = "grains of two classes in the region: of two materials, or radii that differ",
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .series = true,
    .measure = mixing,
};
