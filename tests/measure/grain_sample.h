/* grain_sample.h - states made by hand for the tests of statistics: balls, lattices, contacts. */
#ifndef CAIRN_TESTS_GRAIN_SAMPLE_H
#define CAIRN_TESTS_GRAIN_SAMPLE_H

#include "measure/measure.h"
#include "tests/check.h"

enum { MOST_GRAINS = 40000, MOST_TOUCHES = 40000 };

/* Grains and contacts with room for all that the tests need. */
typedef struct heap {
    cairn_sample sample; /* points into the rest */
    uint8_t is_grain[MOST_GRAINS];
    cairn_vec3 x[MOST_GRAINS], v[MOST_GRAINS], omega[MOST_GRAINS], inertia[MOST_GRAINS];
    double mass[MOST_GRAINS], radius[MOST_GRAINS], volume[MOST_GRAINS];
    int32_t material[MOST_GRAINS];
    int32_t pair[2 * MOST_TOUCHES];
    cairn_vec3 point[MOST_TOUCHES], normal[MOST_TOUCHES], force[MOST_TOUCHES];
} heap;

/* The one heap of a test program, empty. */
static inline heap *heap_empty(int dimension)
{
    static heap h;
    memset(&h, 0, sizeof h);
    h.sample = (cairn_sample){ .dimension = dimension,
                               .gravity = { 0, dimension == 2 ? -10 : 0, dimension == 2 ? 0 : -10 },
                               .is_grain = h.is_grain,
                               .x = h.x,
                               .v = h.v,
                               .omega = h.omega,
                               .inertia = h.inertia,
                               .mass = h.mass,
                               .radius = h.radius,
                               .volume = h.volume,
                               .material = h.material,
                               .has_contacts = true,
                               .pair = h.pair,
                               .point = h.point,
                               .normal = h.normal,
                               .force = h.force };
    return &h;
}

/* A ball of mass 1 kg at rest; returns its index. */
static inline int heap_ball(heap *h, double radius, cairn_vec3 x)
{
    int i = h->sample.count;
    CHECK(i < MOST_GRAINS);
    if (i >= MOST_GRAINS)
        return -1;
    h->sample.count++;
    h->is_grain[i] = 1;
    h->x[i] = x;
    h->mass[i] = 1;
    h->radius[i] = radius;
    return i;
}

/* A contact that pushes a away from b with a force along the line of centres; b -1: a wall below,
 * touched at x_a - radius. Returns its index. */
static inline int heap_touch(heap *h, int a, int b, double force)
{
    int c = h->sample.contacts, k = h->sample.dimension - 1;
    CHECK(c < MOST_TOUCHES);
    if (c >= MOST_TOUCHES)
        return -1;
    h->sample.contacts++;
    cairn_vec3 n = { 0, k == 1, k == 2 }, x = h->x[a];
    if (b >= 0) {
        cairn_vec3 d = { x.x - h->x[b].x, x.y - h->x[b].y, x.z - h->x[b].z };
        double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        n = (cairn_vec3){ d.x / length, d.y / length, d.z / length };
    }
    h->pair[2 * c] = a;
    h->pair[2 * c + 1] = b;
    h->normal[c] = n;
    h->point[c] = (cairn_vec3){ x.x - h->radius[a] * n.x, x.y - h->radius[a] * n.y,
                                x.z - h->radius[a] * n.z };
    h->force[c] = (cairn_vec3){ force * n.x, force * n.y, force * n.z };
    return c;
}

/* Balls of radius 0.5 at the corners of n^3 (2D: n^2) unit cells. */
static inline heap *heap_simple_cubic(int dimension, int n)
{
    heap *h = heap_empty(dimension);
    for (int z = 0; z < (dimension == 3 ? n : 1); z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                heap_ball(h, 0.5, (cairn_vec3){ x, y, z });
    return h;
}

/* Balls of radius 1/sqrt(8), touching, at corners and face centres of n^3 unit cells. */
static inline heap *heap_fcc(int n)
{
    heap *h = heap_empty(3);
    for (int c = 0; c < n * n * n; c++) {
        double x = c % n, y = c / n % n, z = c / (n * n), r = 1 / sqrt(8);
        heap_ball(h, r, (cairn_vec3){ x, y, z });
        heap_ball(h, r, (cairn_vec3){ x + 0.5, y + 0.5, z });
        heap_ball(h, r, (cairn_vec3){ x + 0.5, y, z + 0.5 });
        heap_ball(h, r, (cairn_vec3){ x, y + 0.5, z + 0.5 });
    }
    return h;
}

/* A force of 1 N at every pair of balls that touch. */
static inline void heap_touch_all(heap *h)
{
    for (int a = 0; a < h->sample.count; a++)
        for (int b = 0; b < a; b++) {
            double x = h->x[a].x - h->x[b].x, y = h->x[a].y - h->x[b].y, z = h->x[a].z - h->x[b].z;
            if (sqrt(x * x + y * y + z * z) < h->radius[a] + h->radius[b] + 1e-9)
                heap_touch(h, a, b, 1);
        }
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* Options for a box. */
static inline cairn_measure_options box_options(cairn_vec3 low, cairn_vec3 high)
{
    cairn_measure_options o = cairn_measure_options_default();
    o.low = low;
    o.high = high;
    return o;
}

/* The heap measured by a statistic; free it with cairn_statistic_table_destroy. */
static inline cairn_statistic_table heap_measure(const heap *h, const char *name,
                                                 const cairn_measure_options *options)
{
    cairn_statistic_table table;
    cairn_arena arena = { 0 };
    CHECK_OK(cairn_statistic_table_create(name, h->sample.dimension, &table));
    CHECK_OK(cairn_statistic_measure(&h->sample, options, &arena, &table));
    cairn_arena_destroy(&arena);
    return table;
}

static inline double table_at(const cairn_statistic_table *t, size_t row, const char *column)
{
    CHECK(row < t->rows);
    for (int i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, column) == 0)
            return t->values[row * (size_t)t->column_count + (size_t)i];
    fail_msg("no column '%s'", column);
    return NAN;
}

/* One number of a statistic with one row. */
static inline double heap_number(const heap *h, const char *name, const char *column,
                                 const cairn_measure_options *options)
{
    cairn_statistic_table t = heap_measure(h, name, options);
    CHECK_INT(t.rows, 1);
    double value = table_at(&t, 0, column);
    cairn_statistic_table_destroy(&t);
    return value;
}

#endif
