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
    int count;
    int *grain;     /* indices                                     */
    uint8_t *first; /* by body: 1: of the first class              */
    double share;   /* p                                           */
    cairn_region box;
    double edge;     /* m: edge of a cell */
    int64_t side[3]; /* number of cells along each axis */
} mixture;

/* ---- classes -------------------------------------------------------------------------------- */

/* Divide the grains into two classes. By radius: the first class is above the middle between
 * smallest and largest. By material: it is the one with the smallest number. */
static void split(const cairn_measure *m, mixture *x)
{
    const cairn_sample *s = m->sample;
    bool by_radius = strcmp(m->options->classes, "radius") == 0;
    double low = INFINITY, high = -INFINITY, firsts = 0;
    for (int k = 0; k < x->count; k++) {
        int i = x->grain[k];
        double value = by_radius ? cairn_measure_radius(s, i) : s->material[i];
        low = fmin(low, value);
        high = fmax(high, value);
    }
    for (int k = 0; k < x->count; k++) {
        int i = x->grain[k];
        x->first[i] =
            by_radius ? cairn_measure_radius(s, i) > 0.5 * (low + high) : s->material[i] == low;
        firsts += x->first[i];
    }
    x->share = firsts / x->count;
}

/* `first` is indexed by body, because contacts name bodies; `grain` lists the counted ones. */
static cairn_status list_grains(const cairn_measure *m, mixture *x)
{
    size_t room = (size_t)m->sample->count + 1;
    x->grain = cairn_arena_take(m->arena, room, sizeof *x->grain);
    x->first = cairn_arena_take(m->arena, room, sizeof *x->first);
    if (!x->grain || !x->first)
        return CAIRN_NO_MEMORY;
    memset(x->first, 0, room);
    for (int i = 0; i < m->sample->count; i++)
        if (cairn_measure_counts(m, i))
            x->grain[x->count++] = i;
    return CAIRN_OK;
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

/* Choose the bounding box of the centres, and cells in it: with the given edge, or so that the
 * volume of a cell is that of 20 grains on average. CAIRN_BAD_INPUT: the cells are so small that
 * there are far too many of them. */
static cairn_status choose_cells(const cairn_measure *m, mixture *x)
{
    int dimension = m->sample->dimension;
    double total = 1;
    x->box = (cairn_region){ dimension,
                             { INFINITY, INFINITY, INFINITY },
                             { -INFINITY, -INFINITY, -INFINITY } };
    for (int k = 0; k < dimension; k++) {
        for (int j = 0; j < x->count; j++) {
            double at = cairn_component(m->sample->x[x->grain[j]], k);
            x->box.low[k] = fmin(x->box.low[k], at);
            x->box.high[k] = fmax(x->box.high[k], at);
        }
    }
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
    if (!all || !firsts)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < x->count; k++) {
        int64_t c = cell_of(x, m->sample->x[x->grain[k]]);
        all[c]++;
        firsts[c] += x->first[x->grain[k]];
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

/* ---- neighbours and heights ----------------------------------------------------------------- */

/* The index by contacts between grains; NaN without contacts. */
static double by_neighbours(const cairn_measure *m, const mixture *x)
{
    const cairn_sample *s = m->sample;
    double pairs = 0, unlike = 0, n = x->count;
    for (int c = 0; s->has_contacts && c < s->contacts; c++) {
        int32_t a = s->pair[2 * c], b = s->pair[2 * c + 1];
        if (a < 0 || b < 0 || !cairn_measure_pushes(m, c, NULL) || !cairn_measure_counts(m, a) ||
            !cairn_measure_counts(m, b))
            continue;
        pairs++;
        unlike += x->first[a] != x->first[b];
    }
    double expected = 2 * x->share * (1 - x->share) * n / (n - 1);
    return pairs > 0 && expected > 0 ? unlike / pairs / expected : NAN;
}

/* The mean height of the first class minus that of the second. Neither is empty here. */
static double lift(const cairn_measure *m, const mixture *x)
{
    double sum[2] = { 0, 0 }, count[2] = { 0, 0 };
    for (int k = 0; k < x->count; k++) {
        int i = x->grain[k], of = x->first[i];
        sum[of] += m->upward * cairn_component(m->sample->x[i], m->up);
        count[of]++;
    }
    return sum[1] / count[1] - sum[0] / count[0];
}

/* Grains of one class only give no row. */
static cairn_status mixing(cairn_measure *m)
{
    mixture x = { 0 };
    double index, cells;
    TRY(list_grains(m, &x));
    if (x.count < 2)
        return CAIRN_OK;
    split(m, &x);
    if (!(x.share > 0 && x.share < 1))
        return CAIRN_OK;
    TRY(choose_cells(m, &x));
    TRY(lacey(m, &x, &index, &cells));
    const double row[] = { index, by_neighbours(m, &x), lift(m, &x), x.share, cells };
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
