/* neighbours.c - contacts of grains and their forces; distances of centres; stress and fabric. */
#include <math.h>

#include "base/common.h"
#include "math/vec.h"
#include "measure/measure.h"

/* ---- coordination and forces ------------------------------------------------------------- */

/* Coordination numbers and the distribution of normal forces. A contact pushes if its normal
 * force is more than a millionth of the largest one, so that the tiny impulses that iterative
 * solvers leave do not count. */

/* -1 is a body that no longer exists. */
static bool is_grain(const cairn_sample *s, int32_t body)
{
    return body >= 0 && s->is_grain[body];
}

/* A source has counted them. */
cairn_status cairn_measure_touch(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    if (s->source)
        return CAIRN_OK;
    m->touching = cairn_arena_doubles(m->arena, (size_t)s->count + 1);
    for (int c = 0; m->touching && s->has_contacts && c < s->contacts; c++)
        for (int side = 0; side < 2; side++)
            if (cairn_measure_pushes(m, c, NULL) && s->pair[2 * c + side] >= 0)
                m->touching[s->pair[2 * c + side]]++;
    return m->touching ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- coordination --------------------------------------------------------------------------- */

/* The number of ends of pushing contacts on counted grains: all, and those with another grain. A
 * contact between two counted grains has two ends. */
static double count_ends(const cairn_measure *m, double *between)
{
    const cairn_sample *s = m->sample;
    double ends = 0;
    int c;
    *between = 0;
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &c);)
        for (int side = 0; side < 2; side++) {
            int32_t me = s->pair[2 * c + side], other = s->pair[2 * c + 1 - side];
            if (me < 0 || !cairn_measure_counts(m, me) || !cairn_measure_pushes(m, c, NULL))
                continue;
            ends++;
            *between += is_grain(s, other);
        }
    return ends;
}

/* Grains with fewer contacts than dimensions are rattlers; one mean leaves them out. */
static cairn_status coordination(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    double grains = 0, rattlers = 0, held = 0, between;
    double ends = count_ends(m, &between);
    int i;
    TRY(cairn_measure_touch(m));
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);) {
        if (!cairn_measure_counts(m, i))
            continue;
        double contacts = cairn_measure_touching(m, i);
        grains++;
        if (contacts < s->dimension)
            rattlers++;
        else
            held += contacts;
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

/* A histogram of the number of contacts, from 0 to the largest one. */
static cairn_status neighbours(cairn_measure *m)
{
    double grains = 0, most = 0;
    int i;
    TRY(cairn_measure_touch(m));
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (cairn_measure_counts(m, i)) {
            most = fmax(most, cairn_measure_touching(m, i));
            grains++;
        }
    double *share = cairn_arena_doubles(m->arena, (size_t)most + 1);
    if (!share)
        return CAIRN_NO_MEMORY;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (cairn_measure_counts(m, i))
            share[(int)cairn_measure_touching(m, i)] += 1 / grains;
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

/* Whether contact c pushes on a grain, at a point in the box. */
static bool is_measured(const cairn_measure *m, int c, double *force)
{
    const cairn_sample *s = m->sample;
    return cairn_measure_pushes(m, c, force) && cairn_region_contains(&m->box, s->point[c]) &&
           (is_grain(s, s->pair[2 * c]) || is_grain(s, s->pair[2 * c + 1]));
}

/* count/(contacts width) is a density: the sum over bins times their width is 1. */
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

/* Bins from 0 to the largest force, relative to the mean; the density integrates to 1. */
static cairn_status forces(cairn_measure *m)
{
    double sum = 0, largest = 0, contacts = 0, force;
    int bins = (int)m->options->bins, c;
    double *count = cairn_arena_doubles(m->arena, (size_t)bins);
    if (!count)
        return CAIRN_NO_MEMORY;
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &c);)
        if (is_measured(m, c, &force)) {
            contacts++;
            sum += force;
            largest = fmax(largest, force);
        }
    if (contacts == 0)
        return CAIRN_OK;
    double mean = sum / contacts, width = largest / mean / bins;
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &c);)
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

/* ---- pair correlation -------------------------------------------------------------------- */

/* g(r): how much more often two centres are at a distance r than in an ideal gas.
 *
 * For N centres in a box W with sides L, rho = N/|W|, with the translation correction at the
 * edge:
 *
 *     g(r) = 1/(rho^2 S(r)) sum over ordered pairs with |d| in the shell of 1/prod_k (L_k - |d_k|)
 *
 * S(r) is the volume of the shell. The product is the volume of the intersection of W with W
 * shifted by d: the points from which d ends inside W. A pair therefore counts as if the packing
 * continued outside W. Only r up to half the shortest side is given. Shells are centred on k w,
 * so that the contacts of equal balls fall in the middle of a shell if the diameter is a
 * multiple of w. */

/* The centres of a layer of cells, sorted by cell. */
typedef struct layer {
    cairn_vec3 *x;
    int *start; /* of each cell, and the end */
} layer;

/* Cells of W. A cell is at least as wide as the largest distance, so all partners of a centre are
 * in its own cell or in one next to it. Cells along the axis with most of them are in layers, of
 * which only two are in memory at a time. */
typedef struct cells {
    cairn_region box;
    int count;        /* centres                                   */
    int axis[3];      /* of side[k]; in the last one are layers    */
    int side[3];      /* cells along each axis; 2D: side[1] is 1   */
    int in_layer[64]; /* centres of each layer                     */
    layer here, above;
    cairn_vec3 *unsorted; /* scratch: of one layer                 */
    double width;         /* m: of a shell                         */
    int shells;
    double *sum; /* by shell                                       */
} cells;

enum { LAYER = 2 };

/* The number of the cell of a centre along an axis; rounding may put it behind the last cell, hence
 * the clamp. */
static int cell_along(const cells *c, int k, cairn_vec3 x)
{
    int axis = c->axis[k];
    if (c->side[k] == 1)
        return 0;
    double share =
        (cairn_component(x, axis) - c->box.low[axis]) / (c->box.high[axis] - c->box.low[axis]);
    int at = (int)(share * c->side[k]);
    return at < c->side[k] ? at : c->side[k] - 1;
}

static int cell_in_layer(const cells *c, cairn_vec3 x)
{
    return cell_along(c, 1, x) * c->side[0] + cell_along(c, 0, x);
}

/* Counting sort: cell k has start[k] .. start[k + 1] - 1. Counts are kept two places ahead, so
 * that filling moves start[k + 1] from the beginning of cell k to its end, where it has to be. */
static void sort_centres(const cells *c, int count, layer *out)
{
    int cells_in_layer = c->side[0] * c->side[1];
    for (int k = 0; k < cells_in_layer + 2; k++)
        out->start[k] = 0;
    for (int i = 0; i < count; i++)
        out->start[cell_in_layer(c, c->unsorted[i]) + 2]++;
    for (int k = 2; k < cells_in_layer + 2; k++)
        out->start[k] += out->start[k - 1];
    for (int i = 0; i < count; i++)
        out->x[out->start[cell_in_layer(c, c->unsorted[i]) + 1]++] = c->unsorted[i];
}

static bool is_centre(const cairn_sample *s, const cells *c, int i)
{
    return s->is_grain[i] && cairn_region_contains(&c->box, s->x[i]);
}

/* The centres of layer z. A little beyond its faces is visited too: which layer a centre is in is
 * found with rounding. */
static void load_layer(const cairn_measure *m, const cells *c, int z, layer *out)
{
    const cairn_sample *s = m->sample;
    int axis = c->axis[LAYER], count = 0, i;
    double from = c->box.low[axis], length = c->box.high[axis] - from, more = 1e-6 * length;
    double low = from + length * z / c->side[LAYER] - more;
    double high = from + length * (z + 1) / c->side[LAYER] + more;
    for (cairn_visit w = cairn_visit_between(m, axis, low, high); cairn_visit_next(&w, &i);) {
        double at = cairn_component(s->x[i], axis);
        if (at >= low && at <= high && is_centre(s, c, i) && cell_along(c, LAYER, s->x[i]) == z &&
            count < c->in_layer[z])
            c->unsorted[count++] = s->x[i];
    }
    sort_centres(c, count, out);
}

/* Add the pair a, b, which counts twice: once from each centre. Shell k has r/w from k - 1/2 to
 * k + 1/2. */
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

/* Pair a cell of the layer with one of the same layer, or of the one above. */
static void add_cell(cells *c, int from, const layer *other, int to)
{
    const layer *own = &c->here;
    bool same = own == other && from == to;
    for (int i = own->start[from]; i < own->start[from + 1]; i++)
        for (int j = same ? i + 1 : other->start[to]; j < other->start[to + 1]; j++)
            add_pair(c, own->x[i], other->x[j]);
}

/* Pair a cell with itself and with its neighbours of higher number, so that each pair of cells
 * is visited once. */
static void add_around(cells *c, int x, int y, bool top)
{
    int from = y * c->side[0] + x;
    for (int k = 0; k < 18; k++) {
        int p = x + k % 3 - 1, q = y + k / 3 % 3 - 1, to = q * c->side[0] + p;
        bool there = p >= 0 && p < c->side[0] && q >= 0 && q < c->side[1], up = k >= 9;
        if (there && up && !top)
            add_cell(c, from, &c->above, to);
        else if (there && !up && to >= from)
            add_cell(c, from, &c->here, to);
    }
}

static void add_all(const cairn_measure *m, cells *c)
{
    int layers = c->side[LAYER];
    load_layer(m, c, 0, &c->here);
    for (int z = 0; z < layers; z++) {
        if (z + 1 < layers)
            load_layer(m, c, z + 1, &c->above);
        for (int y = 0; y < c->side[1]; y++)
            for (int x = 0; x < c->side[0]; x++)
                add_around(c, x, y, z + 1 == layers);
        layer done = c->here;
        c->here = c->above;
        c->above = done;
    }
}

/* ---- the box and the shells ----------------------------------------------------------------- */

/* Mean diameter of the grains in the box, for other shapes that of a ball of the same volume; if
 * no volume is known, the mean distance of centres. Also counts the centres. */
static double diameter(const cairn_measure *m, cells *c)
{
    const cairn_sample *s = m->sample;
    double sum = 0, known = 0;
    int i;
    c->count = 0;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (is_centre(s, c, i)) {
            double radius = cairn_measure_radius(s, i);
            sum += 2 * radius;
            known += radius > 0;
            c->count++;
        }
    double apart = pow(cairn_region_volume(&c->box) / c->count, 1.0 / c->box.dimension);
    return known > 0 ? sum / known : apart;
}

/* The axis with most cells is that of layers; in 2D the middle one is not used. */
static void choose_axes(cells *c, const int cells_along[3])
{
    int longest = 0, others = 0;
    for (int k = 0; k < c->box.dimension; k++)
        longest = cells_along[k] >= cells_along[longest] ? k : longest;
    for (int k = 0; k < 3; k++) {
        int place = k == longest ? LAYER : others++;
        c->axis[place] = k;
        c->side[place] = cells_along[k];
    }
}

/* Shells end at half the shortest side, or at `bins`. At most 64 cells per axis bound the memory;
 * larger cells only cost time. */
static void choose_shells(const cairn_measure *m, double size, cells *c)
{
    double shortest = INFINITY;
    int cells_along[3];
    for (int k = 0; k < c->box.dimension; k++)
        shortest = fmin(shortest, c->box.high[k] - c->box.low[k]);
    c->width = m->options->range * size / (double)m->options->bins;
    double most = floor(0.5 * shortest / c->width - 0.5);
    c->shells = most < (double)m->options->bins ? (int)fmax(0, most) : (int)m->options->bins;
    double reach = (c->shells + 0.5) * c->width;
    for (int k = 0; k < 3; k++) {
        double fit = k < c->box.dimension ? floor((c->box.high[k] - c->box.low[k]) / reach) : 1;
        cells_along[k] = (int)fmax(1, fmin(fit, 64));
    }
    choose_axes(c, cells_along);
}

/* Count the centres of each layer, and take memory for the largest ones. */
static cairn_status open_layers(const cairn_measure *m, cells *c)
{
    const cairn_sample *s = m->sample;
    size_t most = 0, starts = (size_t)(c->side[0] * c->side[1]) + 2;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (is_centre(s, c, i))
            c->in_layer[cell_along(c, LAYER, s->x[i])]++;
    for (int z = 0; z < c->side[LAYER]; z++)
        most = (size_t)c->in_layer[z] > most ? (size_t)c->in_layer[z] : most;
    c->sum = cairn_arena_doubles(m->arena, (size_t)m->options->bins + 1);
    bool good = c->sum && CAIRN_TAKE(m->arena, c->unsorted, most);
    good = good && CAIRN_TAKE(m->arena, c->here.x, most);
    good = good && CAIRN_TAKE(m->arena, c->above.x, most);
    good = good && CAIRN_TAKE(m->arena, c->here.start, starts);
    good = good && CAIRN_TAKE(m->arena, c->above.start, starts);
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Volume of the shell about r = k w, in 2D the area of the ring. */
static double shell_volume(const cells *c, int k)
{
    double inner = (k - 0.5) * c->width, outer = (k + 0.5) * c->width;
    return c->box.dimension == 2 ? M_PI * (outer * outer - inner * inner)
                                 : 4.0 / 3 * M_PI * (outer * outer * outer - inner * inner * inner);
}

/* `found` is rho times the integral of g: the mean number of other centres within r. */
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

/* Centres outside the box are ignored: the correction accounts for them. */
static cairn_status pair_correlation(cairn_measure *m)
{
    cells c = { .count = 0 };
    TRY(cairn_region_bulk(m, &c.box));
    if (!(cairn_region_volume(&c.box) > 0))
        return CAIRN_OK;
    double size = diameter(m, &c);
    if (c.count < 2)
        return CAIRN_OK;
    choose_shells(m, size, &c);
    TRY(open_layers(m, &c));
    add_all(m, &c);
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

/* ---- stress and fabric ----------------------------------------------------------------------- */

/* Stress and fabric.
 *
 * Stress by Love and Weber: sigma_ij = 1/V sum over contacts of f_i l_j, with f the force on a
 * and l the branch vector from the centre of b to that of a (to the contact point if one of them
 * is not a grain). Pressure is positive. A contact counts by the share of its branch that lies
 * in the box, so that the stress is the mean over the box wherever the box cuts. Fabric: the
 * mean of n_i n_j over pushing contacts. */

typedef struct tensor {
    double a[3][3];
} tensor;

/* t += s u v' */
static void add_product(tensor *t, double s, cairn_vec3 u, cairn_vec3 v)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t->a[i][j] += s * cairn_component(u, i) * cairn_component(v, j);
}

static double mean_diagonal(const tensor *t, int dimension)
{
    double trace = 0;
    for (int i = 0; i < dimension; i++)
        trace += t->a[i][i];
    return trace / dimension;
}

/* Size of the deviatoric part s of the symmetric part, sqrt(3/2 s:s), in 2D sqrt(2 s:s). With
 * this scale it is the difference of the principal values in 2D, and in 3D if two of them are
 * equal. */
static double deviator(const tensor *t, int dimension)
{
    double mean = mean_diagonal(t, dimension), sum = 0;
    for (int i = 0; i < dimension; i++)
        for (int j = 0; j < dimension; j++) {
            double s = 0.5 * (t->a[i][j] + t->a[j][i]) - (i == j ? mean : 0);
            sum += s * s;
        }
    return sqrt((dimension == 2 ? 2 : 1.5) * sum);
}

/* The ratio |t - t'|/(2 |t|), the share of the antisymmetric part; 0 for a zero tensor. In
 * equilibrium the moments on each grain vanish and the stress is symmetric. */
static double asymmetry(const tensor *t)
{
    double whole = 0, odd = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double d = 0.5 * (t->a[i][j] - t->a[j][i]);
            whole += t->a[i][j] * t->a[i][j];
            odd += d * d;
        }
    return whole > 0 ? sqrt(odd / whole) : 0;
}

/* xx, yy, xy, zz, yz, zx of the symmetric part: the components of 2D come first */
static void components(const tensor *t, double out[6])
{
    static const int place[6][2] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { 2, 2 }, { 1, 2 }, { 2, 0 } };
    for (int k = 0; k < 6; k++) {
        int i = place[k][0], j = place[k][1];
        out[k] = 0.5 * (t->a[i][j] + t->a[j][i]);
    }
}

/* ---- stress --------------------------------------------------------------------------------- */

/* All contacts count, not only pushing ones: small forces add little. `region` NULL: the periodic
 * cell, which has all of each. */
static void add_contacts(const cairn_measure *m, const cairn_region *region, tensor *sum)
{
    const cairn_sample *s = m->sample;
    int c;
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &c);) {
        cairn_vec3 from, to;
        if (!cairn_measure_branch(s, c, &from, &to))
            continue;
        double share = region ? cairn_region_share(region, from, to) : 1;
        add_product(sum, share, s->force[c], cairn_sub(to, from));
    }
}

/* The sum of m (v - u)(v - u)' over the grains in the region, u their mean velocity weighted by
 * mass */
static void add_motion(const cairn_measure *m, const cairn_region *region, tensor *sum)
{
    const cairn_sample *s = m->sample;
    cairn_vec3 momentum = { 0, 0, 0 };
    double mass = 0;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i] && (!region || cairn_region_contains(region, s->x[i]))) {
            momentum = cairn_add_scaled(momentum, s->mass[i], s->v[i]);
            mass += s->mass[i];
        }
    cairn_vec3 u = cairn_scale(mass > 0 ? 1 / mass : 0, momentum);
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i] && (!region || cairn_region_contains(region, s->x[i]))) {
            cairn_vec3 own = cairn_sub(s->v[i], u);
            add_product(sum, s->mass[i], own, own);
        }
}

/* Columns: pressure, deviator, asymmetry, then the six components. */
static cairn_status stress(cairn_measure *m)
{
    cairn_region region;
    tensor sigma = { 0 };
    double row[9];
    int dimension = m->sample->dimension;
    TRY(cairn_region_bulk(m, &region));
    double cell = cairn_measure_cell(m), volume = cell > 0 ? cell : cairn_region_volume(&region);
    const cairn_region *within = cell > 0 ? NULL : &region;
    if (!(volume > 0))
        return CAIRN_OK;
    add_contacts(m, within, &sigma);
    if (m->options->kinetic)
        add_motion(m, within, &sigma);
    for (int k = 0; k < 9; k++)
        sigma.a[k / 3][k % 3] /= volume;
    row[0] = mean_diagonal(&sigma, dimension);
    row[1] = deviator(&sigma, dimension);
    row[2] = asymmetry(&sigma);
    components(&sigma, row + 3);
    return cairn_measure_row(m, row);
}

static const cairn_statistic_field stress_fields[] = {
    { { "pressure", "Pa", "mean of the diagonal, positive when pushed together", true },
      "N/m",
      false },
    { { "deviator", "Pa", "size of the shear part", true }, "N/m", false },
    { { "asymmetry", "", "share of the tensor that is not symmetric", false }, NULL, false },
    { { "xx", "Pa", "stress", true }, "N/m", false },
    { { "yy", "Pa", "stress", true }, "N/m", false },
    { { "xy", "Pa", "stress", true }, "N/m", false },
    { { "zz", "Pa", "stress", true }, NULL, true },
    { { "yz", "Pa", "stress", true }, NULL, true },
    { { "zx", "Pa", "stress", true }, NULL, true },
};

const cairn_statistic cairn_statistic_stress = {
    .name = "stress",
    .summary = "mean stress in a box, by Love and Weber",
    .needs = "contacts stored by run.contacts: true, and grains that span a volume or a region",
    .fields = stress_fields,
    .field_count = sizeof stress_fields / sizeof stress_fields[0],
    .series = true,
    .contacts = true,
    .measure = stress,
};

/* ---- fabric --------------------------------------------------------------------------------- */

/* Contacts count by their point in the box, each with the same weight. The sum is symmetric,
 * because n n' is, and does not depend on the sign of n. */
static cairn_status fabric(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    tensor sum = { 0 };
    double contacts = 0, row[8];
    int c;
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &c);) {
        int32_t a = s->pair[2 * c], b = s->pair[2 * c + 1];
        bool on_grain = (a >= 0 && s->is_grain[a]) || (b >= 0 && s->is_grain[b]);
        if (!on_grain || !cairn_measure_pushes(m, c, NULL) ||
            !cairn_region_contains(&m->box, s->point[c]))
            continue;
        add_product(&sum, 1, s->normal[c], s->normal[c]);
        contacts++;
    }
    for (int k = 0; k < 9; k++)
        sum.a[k / 3][k % 3] /= contacts;
    row[0] = deviator(&sum, s->dimension);
    row[1] = contacts;
    components(&sum, row + 2);
    return contacts > 0 ? cairn_measure_row(m, row) : CAIRN_OK;
}

static const cairn_statistic_field fabric_fields[] = {
    { { "anisotropy", "", "size of the part that is not isotropic", true }, NULL, false },
    { { "contacts", "", "counted", false }, NULL, false },
    { { "xx", "", "mean product of the normals' components", true }, NULL, false },
    { { "yy", "", "mean product of the normals' components", true }, NULL, false },
    { { "xy", "", "mean product of the normals' components", true }, NULL, false },
    { { "zz", "", "mean product of the normals' components", true }, NULL, true },
    { { "yz", "", "mean product of the normals' components", true }, NULL, true },
    { { "zx", "", "mean product of the normals' components", true }, NULL, true },
};

const cairn_statistic cairn_statistic_fabric = {
    .name = "fabric",
    .summary = "mean product of the contact normals",
    .needs = "contacts that push on grains in the region, stored by run.contacts: true",
    .fields = fabric_fields,
    .field_count = sizeof fabric_fields / sizeof fabric_fields[0],
    .series = true,
    .contacts = true,
    .measure = fabric,
};
