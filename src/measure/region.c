/* region.c - boxes in which statistics are measured.
 *
 * The volume of the intersection of a ball and a box is the integral over z of the area of the
 * intersection of a circle and a rectangle, which has a closed form. The integral is computed by
 * Gauss's rule in the angle t, z = R sin t, piece by piece between the kinks of that area. */
#include <math.h>
#include <stdlib.h>

#include "base/common.h"
#include "base/link.h"
#include "math/vec.h"
#include "measure/measure.h"

bool cairn_region_contains(const cairn_region *region, cairn_vec3 x)
{
    for (int k = 0; k < region->dimension; k++)
        if (!(cairn_component(x, k) >= region->low[k] && cairn_component(x, k) < region->high[k]))
            return false;
    return true;
}

double cairn_region_volume(const cairn_region *region)
{
    double volume = 1;
    for (int k = 0; k < region->dimension; k++)
        volume *= fmax(0, region->high[k] - region->low[k]);
    return volume;
}

/* Clip the segment a + t (b - a), 0 <= t <= 1, at the two planes of each axis. */
double cairn_region_share(const cairn_region *region, cairn_vec3 a, cairn_vec3 b)
{
    double begin = 0, end = 1;
    for (int k = 0; k < region->dimension; k++) {
        double from = cairn_component(a, k), way = cairn_component(b, k) - from;
        double enter = (region->low[k] - from) / way, leave = (region->high[k] - from) / way;
        if (way == 0) {
            if (!(from >= region->low[k] && from < region->high[k]))
                return 0;
            continue;
        }
        begin = fmax(begin, fmin(enter, leave));
        end = fmin(end, fmax(enter, leave));
    }
    return fmax(0, end - begin);
}

/* ---- where boxes end ------------------------------------------------------------------------ */

/* The coordinates k of the grains of a whole sample; of others their number alone. */
typedef struct coordinates {
    int k;
    int64_t count;
    double *x; /* m */
} coordinates;

static cairn_status list_coordinates(const cairn_measure *m, int k, coordinates *out)
{
    const cairn_sample *s = m->sample;
    *out = (coordinates){ .k = k, .count = s->source ? s->source->grains : 0 };
    if (s->source)
        return CAIRN_OK;
    out->x = cairn_arena_take(m->arena, (size_t)s->count, sizeof *out->x);
    for (int i = 0; out->x && i < s->count; i++)
        if (s->is_grain[i])
            out->x[out->count++] = cairn_component(s->x[i], k);
    return out->x ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static double quantile(const cairn_measure *m, const coordinates *c, double share)
{
    const cairn_source *source = m->sample->source;
    int64_t rank = (int64_t)(share * (double)(c->count - 1));
    return source ? source->ranked(source->context, c->k, rank)
                  : cairn_link_ranked(NULL, c->x, (int)c->count, rank);
}

/* Close open sides at the quantiles `trim` and 1 - `trim` of the grains' coordinates k. They are
 * taken over all grains, also those outside given sides. */
static cairn_status close_by_quantiles(const cairn_measure *m, int k, cairn_region *out)
{
    coordinates c;
    cairn_arena_moment before = cairn_arena_now(m->arena);
    TRY(list_coordinates(m, k, &c));
    if (c.count > 0 && isinf(out->low[k]))
        out->low[k] = quantile(m, &c, m->options->trim);
    if (c.count > 0 && isinf(out->high[k]))
        out->high[k] = quantile(m, &c, 1 - m->options->trim);
    cairn_arena_return(m->arena, before);
    return CAIRN_OK;
}

/* Other shapes count as balls of the same volume: V = 4/3 pi r^3, in 2D A = pi r^2. */
double cairn_measure_radius(const cairn_sample *s, int i)
{
    if (s->radius[i] > 0)
        return s->radius[i];
    return s->dimension == 2 ? sqrt(s->volume[i] / M_PI) : cbrt(3 * s->volume[i] / (4 * M_PI));
}

/* Close open sides along k where the balls end. */
static void close_by_extent(const cairn_measure *m, int k, cairn_region *out)
{
    const cairn_sample *s = m->sample;
    double low = INFINITY, high = -INFINITY;
    int i;
    for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
        if (s->is_grain[i]) {
            low = fmin(low, cairn_component(s->x[i], k) - cairn_measure_radius(s, i));
            high = fmax(high, cairn_component(s->x[i], k) + cairn_measure_radius(s, i));
        }
    if (isinf(out->low[k]))
        out->low[k] = low;
    if (isinf(out->high[k]))
        out->high[k] = high;
}

cairn_status cairn_region_column(const cairn_measure *m, int axis, cairn_region *out)
{
    *out = m->box;
    for (int k = 0; k < out->dimension; k++) {
        if (k == axis)
            close_by_extent(m, k, out);
        else if (isinf(out->low[k]) || isinf(out->high[k]))
            TRY(close_by_quantiles(m, k, out));
        /* without grains the sides are still infinite: make the box empty */
        if (!isfinite(out->low[k]) || !isfinite(out->high[k]))
            out->low[k] = out->high[k] = 0;
    }
    return CAIRN_OK;
}

double cairn_measure_cell(const cairn_measure *m)
{
    const cairn_vec3 *e = m->sample->lattice.edge;
    bool open = true;
    for (int k = 0; k < m->sample->dimension; k++)
        open = open && isinf(m->box.low[k]) && isinf(m->box.high[k]) && cairn_norm(e[k]) > 0;
    if (!open)
        return 0;
    if (m->sample->dimension == 2)
        return fabs(e[0].x * e[1].y - e[0].y * e[1].x);
    return fabs(cairn_dot(e[0], cairn_cross(e[1], e[2])));
}

cairn_status cairn_region_bulk(const cairn_measure *m, cairn_region *out)
{
    return cairn_region_column(m, -1, out);
}

/* ---- balls in boxes ------------------------------------------------------------------------- */

/* The integral of sqrt(R^2 - x^2) from 0 to x. The clamps absorb rounding for |x| = R. */
static double half_disk(double radius, double x)
{
    double s = fmax(0, radius * radius - x * x);
    return 0.5 * (x * sqrt(s) + radius * radius * asin(fmax(-1, fmin(1, x / radius))));
}

/* The signed area of the intersection of the circle and the rectangle between the origin and (x,
 * y): the integral from 0 to x of clamp(y, -s, s) with s = sqrt(R^2 - x^2). Up to `flat` the
 * rectangle is lower than the circle. */
static double below(double radius, double x, double y)
{
    double height = fmin(fabs(y), radius);
    double flat = sqrt(fmax(0, radius * radius - height * height));
    double far = fmin(fabs(x), radius), area = height * fmin(far, flat);
    if (far > flat)
        area += half_disk(radius, far) - half_disk(radius, flat);
    return (x < 0) == (y < 0) ? area : -area;
}

/* The area of the intersection of a circle about the origin and the rectangle [x0, x1] x [y0,
 * y1], by inclusion and exclusion of the four corners. */
static double disk_area(double radius, const double low[2], const double high[2])
{
    return below(radius, high[0], high[1]) - below(radius, low[0], high[1]) -
           below(radius, high[0], low[1]) + below(radius, low[0], low[1]);
}

/* Gauss's rule with 16 points on [-1, 1]: the positive points and their weights. The others are
 * symmetric. */
static const double gauss[8][2] = {
    { 0.0950125098376374, 0.1894506104550685 }, { 0.2816035507792589, 0.1826034150449236 },
    { 0.4580167776572274, 0.1691565193950025 }, { 0.6178762444026437, 0.1495959888165767 },
    { 0.7554044083550030, 0.1246289712555339 }, { 0.8656312023878318, 0.0951585116824928 },
    { 0.9445750230732326, 0.0622535239386479 }, { 0.9894009349916499, 0.0271524594117541 },
};

/* The integral of the area at height z = R sin t over a range of t; dz = R cos t dt. The
 * substitution removes the square root at the poles. */
static double piece_volume(double radius, double first, double last, const double *low,
                           const double *high)
{
    double middle = 0.5 * (first + last), half = 0.5 * (last - first), sum = 0;
    for (int k = 0; k < 16; k++) {
        double t = middle + (k % 2 ? half : -half) * gauss[k / 2][0];
        sum += gauss[k / 2][1] * disk_area(radius * cos(t), low, high) * radius * cos(t);
    }
    return sum * half;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The angles between which the area is smooth: those where the circle, of radius R cos t,
 * touches a side or a corner of the rectangle. At most 2 (4 + 4). */
static int find_kinks(double radius, const double *low, const double *high, double *kinks)
{
    const double x[2] = { low[0], high[0] }, y[2] = { low[1], high[1] };
    int count = 0;
    for (int k = 0; k < 8; k++) {
        double reach = k < 2 ? fabs(x[k]) : k < 4 ? fabs(y[k - 2]) : hypot(x[k & 1], y[k >> 1 & 1]);
        if (reach >= radius)
            continue;
        kinks[count++] = acos(reach / radius);
        kinks[count++] = -acos(reach / radius);
    }
    return count;
}

/* Integrate along the third side, from kink to kink. Between two kinks the integrand is smooth,
 * where Gauss's rule converges fast; across a kink it would not. */
static double ball_volume(double radius, const double *low, const double *high)
{
    double kinks[18], volume = 0;
    double first = asin(fmax(-1, low[2] / radius)), last = asin(fmin(1, high[2] / radius));
    int count = find_kinks(radius, low, high, kinks);
    kinks[count++] = last;
    qsort(kinks, (size_t)count, sizeof *kinks, compare_doubles);
    for (int k = 0; k < count; k++) {
        double end = fmin(kinks[k], last);
        if (end <= first)
            continue;
        volume += piece_volume(radius, first, end, low, high);
        first = end;
    }
    return volume;
}

static void swap(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

double cairn_region_ball(const cairn_region *region, cairn_vec3 centre, double radius)
{
    double low[3] = { 0 }, high[3] = { 0 };
    bool inside = true, flat = region->dimension == 2;
    for (int k = 0; k < region->dimension; k++) {
        low[k] = region->low[k] - cairn_component(centre, k);
        high[k] = region->high[k] - cairn_component(centre, k);
        if (!(low[k] < radius && high[k] > -radius && low[k] < high[k] && radius > 0))
            return 0;
        inside = inside && low[k] <= -radius && high[k] >= radius;
    }
    if (inside)
        return flat ? M_PI * radius * radius : 4.0 / 3 * M_PI * radius * radius * radius;
    if (flat)
        return disk_area(radius, low, high);
    /* a side that cuts the ball goes last: if it is the only one, there are no kinks */
    for (int k = 0; k < 2; k++)
        if (low[k] > -radius || high[k] < radius) {
            swap(&low[k], &low[2]);
            swap(&high[k], &high[2]);
            break;
        }
    return ball_volume(radius, low, high);
}
