/* fields.c - density, momentum, stress, fabric and solid fraction as fields on a grid, by coarse
 * graining (Goldhirsch, Granular Matter 12, 239 (2010); walls: Weinhart, Thornton, Luding and
 * Bokhove, Granular Matter 14, 289 (2012)).
 *
 * With a kernel W >= 0 whose integral is 1, grains i at x_i and contacts c with the force f on a,
 * the branch l from b to a (from the contact point p, where b is a wall) and the normal n:
 *     density    rho  = sum m_i W(x - x_i)          momentum  rho u = sum m_i v_i W(x - x_i)
 *     solid      phi  = sum V_i W(x - x_i)
 *     stress     s_jk = sum f_j l_k int_0^1 W(x - x_b - t l) dt
 *     kinetic    k_jk = sum m_i v_ij v_ik W(x - x_i) - rho u_j u_k
 *     wall force t    = sum over contacts with walls of f W(x - p)
 *     fabric     F_jk = sum n_j n_k W(x - p), contacts with int F_jj
 * Then, whatever W is, d/dt(rho u) + div(rho u u + k) = rho g - div s + t: exact, also near walls.
 *
 * W is the product of cubic B-splines of the three coordinates, with knots a = sqrt(3) w apart, so
 * that its standard deviation along every axis is the width w. Each field is the mean over a cell:
 * the integral of W over a cell is a product of differences of the integral S of the spline, so a
 * sum over all cells is exact for every grid. The integral over t is taken by Gauss's rule with 2
 * points in pieces of at most a/4; its weights sum to 1, so the sum over all cells of s is exact,
 * and the balance above holds to about 4e-4 of the largest force density.
 *
 * In a periodic world all images of grains and contacts count that reach the grid, with v + h' k as
 * velocities. Along periodic axes an open side of the grid is as long as the cell: each image of
 * the grid has the same content, and together they fill space, so that the sum over all cells of
 * the grid still is exact. This needs edges of which one lies along an axis, the next one in a
 * plane of two axes, as those of a cell in simple shear. With other edges the grid is that of the
 * bodies in the cell, with branches to the images that they touch, and ends outside of the cell. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "math/vec.h"
#include "measure/measure.h"

/* In the order of the columns after x, y, z; the velocities are made in the end. */
enum {
    DENSITY,
    SOLID,
    MOMENTUM,
    VELOCITY = MOMENTUM + 3,
    STRESS = VELOCITY + 3,
    KINETIC = STRESS + 9,
    WALL = KINETIC + 6,
    FABRIC = WALL + 3,
    CONTACTS = FABRIC + 6,
    FIELDS
};

enum { MOST_CELLS = 1 << 20, MOST_PIECES = 64 };

/* Cells [first, first + count) of one axis, and the integral of the kernel over each. */
typedef struct span {
    int first, count;
    const double *weight;
} span;

/* The grid and its sums; cell (i, j, k) is number (k ny + j) nx + i. */
typedef struct grid {
    int dimension, cells[3];
    double low[3], edge[3];       /* m */
    double knot;                  /* m: a */
    cairn_image_space space;
    size_t count;
    double *sum[FIELDS];
    double *weight[3]; /* scratch: of the cells of each axis */
    double *line;      /* scratch: of all cells that one branch reaches */
} grid;

/* ---- the kernel ----------------------------------------------------------------------------- */

/* The integral of the cubic B-spline from -2 to t; B(t) = 2/3 - t^2 + |t|^3/2 for |t| < 1 and
 * (2 - |t|)^3/6 for 1 <= |t| < 2. */
static double integral(double t)
{
    double s = fmin(fabs(t), 2), half;
    if (s < 1)
        half = s * (2.0 / 3 + s * s * (-1.0 / 3 + s / 8));
    else
        half = 0.5 - (2 - s) * (2 - s) * (2 - s) * (2 - s) / 24;
    return t < 0 ? 0.5 - half : 0.5 + half;
}

/* The share of the kernel about x that lies in each cell of axis k, divided by the edge. */
static span reach(const grid *g, int k, double x)
{
    double edge = g->edge[k], from = (x - 2 * g->knot - g->low[k]) / edge;
    double to = (x + 2 * g->knot - g->low[k]) / edge;
    int first = from < 0 ? 0 : from >= g->cells[k] ? g->cells[k] : (int)from;
    int end = to < 0 ? 0 : to >= g->cells[k] ? g->cells[k] : (int)to + 1;
    double before = integral((g->low[k] + first * edge - x) / g->knot);
    for (int i = first; i < end; i++) {
        double after = integral((g->low[k] + (i + 1) * edge - x) / g->knot);
        g->weight[k][i - first] = (after - before) / edge;
        before = after;
    }
    return (span){ first, end > first ? end - first : 0, g->weight[k] };
}

/* The cells of the kernel about x. In 2D there is one layer, of weight 1. */
static void reach_all(const grid *g, cairn_vec3 x, span out[3])
{
    for (int k = 0; k < g->dimension; k++)
        out[k] = reach(g, k, cairn_component(x, k));
    if (g->dimension == 2) {
        g->weight[2][0] = 1;
        out[2] = (span){ 0, 1, g->weight[2] };
    }
}

/* Add values[f] W to field first + f, for all cells near x. */
static void spread(const grid *g, cairn_vec3 x, int first, const double *values, int count)
{
    span s[3];
    reach_all(g, x, s);
    for (int k = 0; k < s[2].count; k++)
        for (int j = 0; j < s[1].count; j++) {
            size_t row =
                ((size_t)(s[2].first + k) * (size_t)g->cells[1] + (size_t)(s[1].first + j)) *
                    (size_t)g->cells[0] +
                (size_t)s[0].first;
            double across = s[2].weight[k] * s[1].weight[j];
            for (int f = 0; f < count; f++) {
                double *sum = g->sum[first + f] + row, value = values[f] * across;
                for (int i = 0; i < s[0].count; i++)
                    sum[i] += value * s[0].weight[i];
            }
        }
}

/* ---- branches ------------------------------------------------------------------------------- */

/* The cells that the kernel reaches on its way from one point to another. */
typedef struct tube {
    int first[3], count[3];
} tube;

static bool find_tube(const grid *g, cairn_vec3 from, cairn_vec3 to, tube *out)
{
    out->first[2] = 0;
    out->count[2] = 1;
    for (int k = 0; k < g->dimension; k++) {
        double x = cairn_component(from, k), y = cairn_component(to, k);
        double low = (fmin(x, y) - 2 * g->knot - g->low[k]) / g->edge[k];
        double high = (fmax(x, y) + 2 * g->knot - g->low[k]) / g->edge[k];
        int first = low < 0 ? 0 : low >= g->cells[k] ? g->cells[k] : (int)low;
        int end = high < 0 ? 0 : high >= g->cells[k] ? g->cells[k] : (int)high + 1;
        out->first[k] = first;
        out->count[k] = end - first;
        if (end <= first)
            return false;
    }
    return true;
}

/* Add share W(x - point) to the line of a tube. */
static void add_to_line(const grid *g, const tube *t, cairn_vec3 point, double share)
{
    span s[3];
    reach_all(g, point, s);
    for (int k = 0; k < s[2].count; k++)
        for (int j = 0; j < s[1].count; j++) {
            int row = (s[2].first + k - t->first[2]) * t->count[1] + s[1].first + j - t->first[1];
            double *line = g->line + (size_t)row * (size_t)t->count[0] + (s[0].first - t->first[0]);
            double across = share * s[2].weight[k] * s[1].weight[j];
            for (int i = 0; i < s[0].count; i++)
                line[i] += across * s[0].weight[i];
        }
}

/* The mean of W along the way, by Gauss's rule in equal pieces. */
static void fill_line(const grid *g, const tube *t, cairn_vec3 from, cairn_vec3 way)
{
    static const double gauss[2] = { 0.21132486540518713, 0.7886751345948129 };
    size_t cells = (size_t)t->count[0] * (size_t)t->count[1] * (size_t)t->count[2];
    double pieces = fmin(fmax(1, ceil(4 * cairn_norm(way) / g->knot)), MOST_PIECES);
    memset(g->line, 0, cells * sizeof *g->line);
    for (int p = 0; p < (int)pieces; p++)
        for (int q = 0; q < 2; q++)
            add_to_line(g, t, cairn_add_scaled(from, (p + gauss[q]) / pieces, way), 0.5 / pieces);
}

/* Add f_j l_k times the mean of W along l. */
static void spread_branch(const grid *g, cairn_vec3 from, cairn_vec3 to, cairn_vec3 force)
{
    cairn_vec3 way = cairn_sub(to, from);
    tube t;
    if (!find_tube(g, from, to, &t))
        return;
    fill_line(g, &t, from, way);
    for (int row = 0; row < t.count[1] * t.count[2]; row++) {
        size_t at = ((size_t)(t.first[2] + row / t.count[1]) * (size_t)g->cells[1] +
                     (size_t)(t.first[1] + row % t.count[1])) *
                        (size_t)g->cells[0] +
                    (size_t)t.first[0];
        const double *line = g->line + (size_t)row * (size_t)t.count[0];
        for (int f = 0; f < 9; f++) {
            double value = cairn_component(force, f / 3) * cairn_component(way, f % 3);
            double *sum = g->sum[STRESS + f] + at;
            for (int i = 0; i < t.count[0] && value != 0; i++)
                sum[i] += value * line[i];
        }
    }
}

/* ---- images --------------------------------------------------------------------------------- */

/* The images of a thing between two points of which kernels may reach the grid. */
static cairn_image_range images_of(const grid *g, cairn_vec3 one, cairn_vec3 other)
{
    cairn_region rim = { .dimension = g->dimension };
    for (int k = 0; k < g->dimension; k++) {
        rim.low[k] = g->low[k] - 2 * g->knot;
        rim.high[k] = g->low[k] + g->cells[k] * g->edge[k] + 2 * g->knot;
    }
    return cairn_measure_images(&g->space, &rim, one, other);
}

/* ---- the sums ------------------------------------------------------------------------------- */

/* xx, yy, xy, zz, yz, zx, as in other statistics. */
static const int place[6][2] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { 2, 2 }, { 1, 2 }, { 2, 0 } };

/* A grain, or an image of it: its place and velocity. */
static void add_grain(const cairn_sample *s, const grid *g, int i, cairn_vec3 x, cairn_vec3 v)
{
    double m = s->mass[i], r = cairn_measure_radius(s, i), products[6];
    double volume = s->volume[i] > 0    ? s->volume[i]
                    : g->dimension == 2 ? M_PI * r * r
                                        : 4.0 / 3 * M_PI * r * r * r;
    const double values[] = { m, volume, m * v.x, m * v.y, m * v.z };
    for (int k = 0; k < 6; k++)
        products[k] = m * cairn_component(v, place[k][0]) * cairn_component(v, place[k][1]);
    spread(g, x, DENSITY, values, 5);
    spread(g, x, KINETIC, products, 6);
}

static void add_grains(const cairn_measure *m, const grid *g)
{
    const cairn_sample *s = m->sample;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);) {
        if (!s->is_grain[i])
            continue;
        cairn_image_range all = images_of(g, s->x[i], s->x[i]);
        while (cairn_measure_next_image(&all))
            add_grain(s, g, i, cairn_add(s->x[i], cairn_measure_shift(&g->space, &all)),
                      cairn_add(s->v[i], cairn_measure_drift(&g->space, &all)));
    }
}

/* What a contact, or an image of it, has at its point. */
static void add_point(const cairn_measure *m, const grid *g, int c, cairn_vec3 point)
{
    const cairn_sample *s = m->sample;
    int32_t a = s->pair[2 * c], b = s->pair[2 * c + 1];
    bool on_a = a >= 0 && s->is_grain[a], on_b = b >= 0 && s->is_grain[b];
    cairn_vec3 f = s->force[c], n = s->normal[c];
    if (!on_a || !on_b) {
        double sign = on_a ? 1 : -1; /* the force on the grain */
        const double wall[] = { sign * f.x, sign * f.y, sign * f.z };
        spread(g, point, WALL, wall, 3);
    }
    if (!cairn_measure_pushes(m, c, NULL))
        return;
    double values[7];
    for (int k = 0; k < 6; k++)
        values[k] = cairn_component(n, place[k][0]) * cairn_component(n, place[k][1]);
    values[6] = 1;
    spread(g, point, FABRIC, values, 7);
}

static void add_contact(const cairn_measure *m, const grid *g, int c)
{
    const cairn_sample *s = m->sample;
    cairn_vec3 f = s->force[c], from, to;
    /* most candidates carry no force */
    if (!cairn_measure_branch(s, c, &from, &to) || cairn_dot(f, f) == 0)
        return;
    cairn_image_range all = images_of(g, from, to);
    while (cairn_measure_next_image(&all)) {
        cairn_vec3 shift = cairn_measure_shift(&g->space, &all);
        spread_branch(g, cairn_add(from, shift), cairn_add(to, shift), f);
    }
    all = images_of(g, s->point[c], s->point[c]);
    while (cairn_measure_next_image(&all))
        add_point(m, g, c, cairn_add(s->point[c], cairn_measure_shift(&g->space, &all)));
}

/* u = (rho u)/rho, and the kinetic stress with the velocities relative to u. */
static void finish(const grid *g, size_t cell)
{
    double u[3] = { 0, 0, 0 }, rho = g->sum[DENSITY][cell];
    for (int k = 0; k < 3; k++) {
        u[k] = rho > 0 ? g->sum[MOMENTUM + k][cell] / rho : 0;
        g->sum[VELOCITY + k][cell] = u[k];
    }
    for (int k = 0; k < 6; k++)
        g->sum[KINETIC + k][cell] -= rho * u[place[k][0]] * u[place[k][1]];
}

/* ---- the grid ------------------------------------------------------------------------------- */

/* 0: the mean diameter of the grains. */
static double find_width(const cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    double sum = 0, grains = 0;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i]) {
            sum += 2 * cairn_measure_radius(s, i);
            grains++;
        }
    return m->options->width > 0 ? m->options->width : grains > 0 ? sum / grains : 0;
}

/* An open side along a periodic axis is that of the cell, in a whole number of cells. */
static void take_side(const cairn_measure *m, grid *g, int k)
{
    double length = fabs(cairn_component(g->space.lattice->edge[k], k));
    double cells = fmin(fmax(1, round(length / g->edge[k])), MOST_CELLS + 1.0);
    g->low[k] = cairn_component(m->sample->lattice.corner, k);
    g->cells[k] = (int)cells;
    g->edge[k] = length / cells;
}

static void include(cairn_region *all, cairn_vec3 x)
{
    for (int k = 0; k < all->dimension; k++) {
        all->low[k] = fmin(all->low[k], cairn_component(x, k));
        all->high[k] = fmax(all->high[k], cairn_component(x, k));
    }
}

/* The box of all grains and contacts. */
static cairn_region find_extent(const cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    cairn_region all = { s->dimension,
                         { INFINITY, INFINITY, INFINITY },
                         { -INFINITY, -INFINITY, -INFINITY } };
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i])
            include(&all, s->x[i]);
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &i);) {
        cairn_vec3 from = s->point[i], to = from; /* images lie outside of the periodic cell */
        if (s->image)
            cairn_measure_branch(s, i, &from, &to);
        include(&all, s->point[i]);
        include(&all, from);
        include(&all, to);
    }
    return all;
}

/* Open sides end where the kernels of all grains and contacts do, at a multiple of the edge. */
static bool find_side(const cairn_measure *m, const cairn_region *all, grid *g, int k)
{
    if (cairn_measure_repeats(&g->space, k) && isinf(m->box.low[k]) && isinf(m->box.high[k])) {
        take_side(m, g, k);
        return g->cells[k] <= MOST_CELLS;
    }
    double reaches = 2 * g->knot;
    double low = floor((all->low[k] - reaches) / g->edge[k]) * g->edge[k];
    double high = all->high[k] + reaches;
    g->low[k] = isinf(m->box.low[k]) ? low : m->box.low[k];
    double size = (isinf(m->box.high[k]) ? high : m->box.high[k]) - g->low[k];
    double cells = ceil(size / g->edge[k] * (1 - 1e-12));
    g->cells[k] = cells >= 1 && cells <= MOST_CELLS ? (int)cells : 0;
    return g->cells[k] > 0;
}

/* CAIRN_BAD_INPUT: too many cells. No cells at all, because there are no grains, are no failure. */
static cairn_status find_grid(const cairn_measure *m, grid *g)
{
    double width = find_width(m);
    *g = (grid){ .dimension = m->sample->dimension, .cells = { 1, 1, 1 } };
    if (!(width > 0))
        return CAIRN_OK;
    g->knot = sqrt(3) * width;
    for (int k = 0; k < 3; k++)
        g->edge[k] = m->options->cell > 0 ? m->options->cell : 2 * width;
    g->space = cairn_measure_space(m->sample);
    double cells = 1;
    const cairn_region all = find_extent(m);
    for (int k = 0; k < g->dimension; k++) {
        if (!find_side(m, &all, g, k))
            return CAIRN_BAD_INPUT;
        cells *= g->cells[k];
    }
    if (cells > MOST_CELLS)
        return CAIRN_BAD_INPUT;
    g->count = (size_t)cells;
    for (int f = 0; f < FIELDS; f++)
        if (!(g->sum[f] = cairn_arena_doubles(m->arena, g->count)))
            return CAIRN_NO_MEMORY;
    for (int k = 0; k < 3; k++)
        if (!(g->weight[k] = cairn_arena_doubles(m->arena, (size_t)g->cells[k] + 1)))
            return CAIRN_NO_MEMORY;
    g->line = cairn_arena_doubles(m->arena, g->count);
    return g->line ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status add_row(cairn_measure *m, const grid *g, size_t cell)
{
    double row[3 + FIELDS];
    size_t at = cell;
    for (int k = 0; k < 3; k++) {
        row[k] = g->low[k] + ((double)(at % (size_t)g->cells[k]) + 0.5) * g->edge[k];
        at /= (size_t)g->cells[k];
    }
    for (int f = 0; f < FIELDS; f++)
        row[3 + f] = g->sum[f][cell];
    return cairn_measure_row(m, row);
}

static cairn_status fields(cairn_measure *m)
{
    grid g;
    int c;
    TRY(find_grid(m, &g));
    if (g.count == 0)
        return CAIRN_OK;
    add_grains(m, &g);
    for (cairn_visit w = cairn_visit_contacts(m); cairn_visit_next(&w, &c);)
        add_contact(m, &g, c);
    for (size_t cell = 0; cell < g.count; cell++) {
        finish(&g, cell);
        TRY(add_row(m, &g, cell));
    }
    return CAIRN_OK;
}

static const cairn_statistic_field columns[] = {
    { { "x", "m", "centre of the cell", false }, NULL, false },
    { { "y", "m", "centre of the cell", false }, NULL, false },
    { { "z", "m", "centre of the cell", false }, NULL, true },
    { { "density", "kg/m^3", "mass of the grains in a volume", true }, "kg/m^2", false },
    { { "solid", "", "volume of the grains in a volume", true }, NULL, false },
    { { "momentum_x", "kg/(m^2 s)", "momentum in a volume", false }, "kg/(m s)", false },
    { { "momentum_y", "kg/(m^2 s)", "momentum in a volume", false }, "kg/(m s)", false },
    { { "momentum_z", "kg/(m^2 s)", "momentum in a volume", false }, NULL, true },
    { { "velocity_x", "m/s", "momentum over density", false }, NULL, false },
    { { "velocity_y", "m/s", "momentum over density", false }, NULL, false },
    { { "velocity_z", "m/s", "momentum over density", false }, NULL, true },
    { { "stress_xx", "Pa", "of contacts: force along x, branch along x", false }, "N/m", false },
    { { "stress_xy", "Pa", "of contacts: force along x, branch along y", false }, "N/m", false },
    { { "stress_xz", "Pa", "of contacts: force along x, branch along z", false }, NULL, true },
    { { "stress_yx", "Pa", "of contacts", false }, "N/m", false },
    { { "stress_yy", "Pa", "of contacts", false }, "N/m", false },
    { { "stress_yz", "Pa", "of contacts", false }, NULL, true },
    { { "stress_zx", "Pa", "of contacts", false }, NULL, true },
    { { "stress_zy", "Pa", "of contacts", false }, NULL, true },
    { { "stress_zz", "Pa", "of contacts", false }, NULL, true },
    { { "kinetic_xx", "Pa", "of the motion relative to the velocity", false }, "N/m", false },
    { { "kinetic_yy", "Pa", "of the motion relative to the velocity", false }, "N/m", false },
    { { "kinetic_xy", "Pa", "of the motion relative to the velocity", false }, "N/m", false },
    { { "kinetic_zz", "Pa", "of the motion relative to the velocity", false }, NULL, true },
    { { "kinetic_yz", "Pa", "of the motion relative to the velocity", false }, NULL, true },
    { { "kinetic_zx", "Pa", "of the motion relative to the velocity", false }, NULL, true },
    { { "wall_x", "N/m^3", "force of walls in a volume", false }, "N/m^2", false },
    { { "wall_y", "N/m^3", "force of walls in a volume", false }, "N/m^2", false },
    { { "wall_z", "N/m^3", "force of walls in a volume", false }, NULL, true },
    { { "fabric_xx", "1/m^3", "products of normals in a volume", false }, "1/m^2", false },
    { { "fabric_yy", "1/m^3", "products of normals in a volume", false }, "1/m^2", false },
    { { "fabric_xy", "1/m^3", "products of normals in a volume", false }, "1/m^2", false },
    { { "fabric_zz", "1/m^3", "products of normals in a volume", false }, NULL, true },
    { { "fabric_yz", "1/m^3", "products of normals in a volume", false }, NULL, true },
    { { "fabric_zx", "1/m^3", "products of normals in a volume", false }, NULL, true },
    { { "contacts", "1/m^3", "pushing contacts in a volume", false }, "1/m^2", false },
};

_Static_assert(sizeof columns / sizeof columns[0] == 3 + FIELDS, "a column for each field");

const cairn_statistic cairn_statistic_fields = {
    .name = "fields",
    .summary = "density, velocity, stress and fabric on a grid, by coarse graining",
    .needs = "grains, and contacts stored by run.contacts: true",
    .fields = columns,
    .field_count = CAIRN_COUNT(columns),
    .contacts = true,
    .measure = fields,
};
