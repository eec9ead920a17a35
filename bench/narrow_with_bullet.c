/* narrow_with_bullet.c - Bullet on the same pairs, and how far its distances are from ours. */
#include <math.h>
#include <stdlib.h>

#include "math/vec.h"
#include "narrow.h"
#include "narrow_bullet.h"

static void support(const void *shape, const double direction[3], double point[3])
{
    cairn_vec3 d = { direction[0], direction[1], direction[2] };
    cairn_vec3 p = cairn_convex_support(shape, d);
    point[0] = p.x;
    point[1] = p.y;
    point[2] = p.z;
}

static cairn_bullet_shape shape_of(const cairn_convex *c)
{
    return (cairn_bullet_shape){ c, { c->x.x, c->x.y, c->x.z }, c->rounding };
}

/* |its distance - ours| over the size of the pair. */
static double error_of(const cairn_convex *a, const cairn_convex *b, double gap)
{
    cairn_couple c = cairn_couple_make(a, b, 3);
    cairn_distance d;
    cairn_distance_find(&c, 1e9, &d);
    return fabs(gap - (d.gap - a->rounding - b->rounding)) / c.size;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

cairn_bench_answers cairn_bench_bullet(const cairn_bench_pairs *pairs)
{
    double *number = calloc((size_t)pairs->count, sizeof *number);
    if (!number)
        return (cairn_bench_answers){ -1, -1, -1 };
    double start = cairn_bench_seconds();
    for (int k = 0; k < pairs->count; k++) {
        cairn_bullet_shape a = shape_of(&pairs->convex[k][0]), b = shape_of(&pairs->convex[k][1]);
        number[k] = cairn_bullet_distance(&a, &b, support);
    }
    cairn_bench_answers out = { cairn_bench_seconds() - start, 0, 0 };
    for (int k = 0; k < pairs->count; k++)
        number[k] = error_of(&pairs->convex[k][0], &pairs->convex[k][1], number[k]);
    qsort(number, (size_t)pairs->count, sizeof *number, by_size);
    out.median_error = number[pairs->count / 2];
    out.worst_error = number[pairs->count - 1];
    free(number);
    return out;
}
