/* pair_correlation.c - g(r): how much more often two centres are r apart than in an ideal gas.
 *
 * In a box W with sides L and N centres, rho = N/|W|, with the translation correction of the edge:
 *
 *     g(r) = 1/(rho^2 S(r)) sum over ordered pairs with |d| in the shell of 1/prod_k (L_k - |d_k|)
 *
 * S(r) is the volume of the shell. The product is the volume of the overlap of W with W moved by d:
 * the places from which d can be seen. So a pair counts as if the packing went on outside of W.
 * Only r up to half the shortest side is given. Shells are centred on k w, so that a contact of
 * equal balls, w being a whole share of the diameter, falls in the middle of one. */
#include <math.h>

#include "base/status.h"
#include "math/vec.h"
#include "measure/measure.h"

/* The centres in W by cells that are at least as wide as the largest distance. */
typedef struct cells {
    cairn_region box;
    int count;
    cairn_vec3 *x; /* sorted by cell */
    int side[3];
    int *start;   /* of each cell, and the end */
    double width; /* m: of a shell            */
    int shells;
    double *sum; /* by shell                  */
} cells;

static int cell_of(const cells *c, cairn_vec3 x)
{
    int index = 0;
    for (int k = c->box.dimension - 1; k >= 0; k--) {
        double share = (cairn_component(x, k) - c->box.low[k]) / (c->box.high[k] - c->box.low[k]);
        int at = (int)(share * c->side[k]);
        index = index * c->side[k] + (at < c->side[k] ? at : c->side[k] - 1);
    }
    return index;
}

/* Sort by counting: cell k has start[k] .. start[k + 1] - 1. */
static cairn_status sort_centres(cells *c, const cairn_vec3 *x, cairn_arena *arena)
{
    size_t total = (size_t)c->side[0] * (size_t)c->side[1] * (size_t)c->side[2];
    c->start = cairn_arena_take(arena, total + 2, sizeof *c->start);
    c->x = cairn_arena_take(arena, (size_t)c->count + 1, sizeof *c->x);
    if (!c->start || !c->x)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < total + 2; k++)
        c->start[k] = 0;
    for (int i = 0; i < c->count; i++)
        c->start[cell_of(c, x[i]) + 2]++;
    for (size_t k = 2; k < total + 2; k++)
        c->start[k] += c->start[k - 1];
    for (int i = 0; i < c->count; i++)
        c->x[c->start[cell_of(c, x[i]) + 1]++] = x[i];
    return CAIRN_OK;
}

/* The pair i, j, seen from both. */
static void add_pair(cells *c, cairn_vec3 a, cairn_vec3 b)
{
    cairn_vec3 d = cairn_sub(a, b);
    double apart = cairn_norm(d) / c->width + 0.5, seen = 1;
    if (!(apart < c->shells + 1))
        return;
    for (int k = 0; k < c->box.dimension; k++)
        seen *= c->box.high[k] - c->box.low[k] - fabs(cairn_component(d, k));
    c->sum[(int)apart] += 2 / seen;
}

static void add_cell(cells *c, int from, int to)
{
    for (int i = c->start[from]; i < c->start[from + 1]; i++)
        for (int j = from == to ? i + 1 : c->start[to]; j < c->start[to + 1]; j++)
            add_pair(c, c->x[i], c->x[j]);
}

/* A cell with itself and with those around it that have a greater number. */
static void add_around(cells *c, int x, int y, int z)
{
    int from = (z * c->side[1] + y) * c->side[0] + x;
    for (int k = 0; k < 27; k++) {
        int p = x + k % 3 - 1, q = y + k / 3 % 3 - 1, r = z + k / 9 - 1;
        bool there =
            p >= 0 && p < c->side[0] && q >= 0 && q < c->side[1] && r >= 0 && r < c->side[2];
        int to = (r * c->side[1] + q) * c->side[0] + p;
        if (there && to >= from)
            add_cell(c, from, to);
    }
}

static void add_all(cells *c)
{
    for (int z = 0; z < c->side[2]; z++)
        for (int y = 0; y < c->side[1]; y++)
            for (int x = 0; x < c->side[0]; x++)
                add_around(c, x, y, z);
}

/* ---- the box and the shells ----------------------------------------------------------------- */

/* Mean diameter of the grains in the box, of equal volume where they are no balls; when no volume
 * is known, the mean distance of centres. */
static double diameter(const cairn_sample *s, const cairn_region *box, int centres)
{
    double sum = 0, known = 0;
    for (int i = 0; i < s->count; i++)
        if (s->is_grain[i] && cairn_region_contains(box, s->x[i])) {
            double radius = cairn_measure_radius(s, i);
            sum += 2 * radius;
            known += radius > 0;
        }
    double apart = pow(cairn_region_volume(box) / centres, 1.0 / box->dimension);
    return known > 0 ? sum / known : apart;
}

static void choose_shells(const cairn_measure *m, cells *c)
{
    double shortest = INFINITY;
    for (int k = 0; k < c->box.dimension; k++)
        shortest = fmin(shortest, c->box.high[k] - c->box.low[k]);
    c->width =
        m->options->range * diameter(m->sample, &c->box, c->count) / (double)m->options->bins;
    double most = floor(0.5 * shortest / c->width - 0.5);
    c->shells = most < (double)m->options->bins ? (int)fmax(0, most) : (int)m->options->bins;
    double reach = (c->shells + 0.5) * c->width;
    for (int k = 0; k < 3; k++) {
        double fit = k < c->box.dimension ? floor((c->box.high[k] - c->box.low[k]) / reach) : 1;
        c->side[k] = (int)fmax(1, fmin(fit, 64));
    }
}

/* Volume of the shell about r = k w. */
static double shell_volume(const cells *c, int k)
{
    double inner = (k - 0.5) * c->width, outer = (k + 0.5) * c->width;
    return c->box.dimension == 2 ? M_PI * (outer * outer - inner * inner)
                                 : 4.0 / 3 * M_PI * (outer * outer * outer - inner * inner * inner);
}

static cairn_status write_shells(cairn_measure *m, const cells *c)
{
    double density = c->count / cairn_region_volume(&c->box), found = c->sum[0] / density;
    for (int k = 1; k <= c->shells; k++) {
        found += c->sum[k] / density;
        const double row[] = { k * c->width, c->sum[k] / (density * density * shell_volume(c, k)),
                               found };
        TRY(cairn_measure_row(m, row));
    }
    return CAIRN_OK;
}

static cairn_status pair_correlation(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    cells c = { .count = 0 };
    TRY(cairn_region_bulk(m, &c.box));
    cairn_vec3 *x = cairn_arena_take(m->arena, (size_t)s->count + 1, sizeof *x);
    c.sum = cairn_arena_doubles(m->arena, (size_t)m->options->bins + 1);
    if (!x || !c.sum)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < s->count; i++)
        if (s->is_grain[i] && cairn_region_contains(&c.box, s->x[i]))
            x[c.count++] = s->x[i];
    if (c.count < 2 || !(cairn_region_volume(&c.box) > 0))
        return CAIRN_OK;
    choose_shells(m, &c);
    TRY(sort_centres(&c, x, m->arena));
    add_all(&c);
    return write_shells(m, &c);
}

static const cairn_statistic_field fields[] = {
    { { "r", "m", "distance of centres, middle of the shell", false }, NULL, false },
    { { "g", "", "pairs so far apart, over those of an ideal gas", true }, NULL, false },
    { { "neighbours", "", "mean number of other centres up to the end of the shell", false },
      NULL,
      false },
};

const cairn_statistic cairn_statistic_pair_correlation = {
    .name = "pair-correlation",
    .summary = "pair correlation function g(r) in a box",
    .needs = "two grains (dynamic bodies) in a region with a volume",
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .measure = pair_correlation,
};
