/* distance.c - the signed distance of two convex cores: who does what.
 *
 *   apart                   GJK: exact to rounding
 *   overlapping, touching   EPA for the direction (where it fails, a search), then made sharp
 *   both smooth             GJK or EPA only to start with, then Newton on the common normal
 *
 * Making sharp: seen from far enough, a normal is well defined also for shapes that touch. The
 * shapes are pulled apart along the normal n found so far, and GJK gives the normal n' of that
 * position. A normal that does not change (n' = n) is the exact one. The error shrinks by
 * shift/(R + gap + shift) a round, R being the radius of curvature: at once for flat faces. */
#include <float.h>

#include "collide/convex.h"
#include "math/vec.h"

enum { MAX_ROUNDS = 12 };

static const double CLIMB_STEP = 1e-6; /* rad: to this the direction is found */

static bool is_smooth(const cairn_couple *c)
{
    return cairn_convex_is_smooth(c->a) && cairn_convex_is_smooth(c->b);
}

static void judge(const cairn_couple *c, cairn_distance *d)
{
    d->gap = cairn_couple_gap_along(c, d->normal);
    cairn_vec3 between = cairn_sub(d->on_a, d->on_b);
    d->residual = cairn_norm(cairn_add_scaled(between, -d->gap, d->normal)) / c->size;
}

/* The closest points after a is moved away along d->normal; false when they still touch. */
static bool look_from_afar(const cairn_couple *c, const cairn_distance *d, cairn_distance *out)
{
    double shift = 1e-3 * c->size - d->gap;
    cairn_couple moved = *c;
    moved.offset = cairn_add_scaled(c->offset, shift, d->normal);
    *out = *d;
    if (cairn_gjk(&moved, DBL_MAX, 0, out) != CAIRN_GJK_APART)
        return false;
    out->on_a = cairn_add_scaled(out->on_a, -shift, d->normal);
    judge(c, out);
    return true;
}

static void sharpen(const cairn_couple *c, cairn_distance *d)
{
    for (int k = 0; k < MAX_ROUNDS && d->residual > 1e-14; k++) {
        cairn_distance next;
        if (!look_from_afar(c, d, &next))
            return;
        int spent = d->iterations + next.iterations;
        double gain = next.gap - d->gap, slack = 1e-13 * c->size;
        if (gain < -slack || (gain < slack && next.residual >= d->residual))
            return;
        *d = next;
        d->iterations = spent;
    }
}

static void take_better(const cairn_couple *c, cairn_vec3 n, cairn_distance *d)
{
    double gap = cairn_couple_gap_along(c, n);
    d->iterations++;
    if (gap > d->gap) {
        d->gap = gap;
        d->normal = n;
    }
}

/* Uphill from d->normal in ever smaller steps. */
static void climb_from(const cairn_couple *c, cairn_distance *d)
{
    for (double step = 0.25; step > CLIMB_STEP;) {
        cairn_vec3 n = d->normal, t = cairn_perpendicular(n);
        t = c->dimension == 2 ? cairn_vec(-n.y, n.x, 0) : t;
        double before = d->gap;
        for (int k = 0; k < 2 * (c->dimension - 1); k++) {
            cairn_vec3 side = k < 2 ? t : cairn_cross(n, t);
            take_better(c, cairn_unit(cairn_add_scaled(n, k % 2 ? -step : step, side)), d);
        }
        step = d->gap > before + 0.01 * step * step * c->size ? step : 0.5 * step;
    }
}

/* The best that is found uphill from the direction known and from the axes of both shapes. What EPA
 * leaves undone (a ball's centre on the axis of a cylinder, where all sides are equally near) is so
 * brought to a way out that is locally the shortest. */
static void climb(const cairn_couple *c, cairn_distance *d)
{
    climb_from(c, d);
    for (int k = 0; k < 12; k++) {
        cairn_vec3 axis = k < 6 ? c->a->axes[k / 2] : c->b->axes[k / 2 - 3];
        if (cairn_dot(axis, axis) < 0.5 || (c->dimension == 2 && axis.z != 0))
            continue;
        cairn_distance other = *d;
        other.normal = cairn_scale(k % 2 ? -1 : 1, axis);
        other.gap = cairn_couple_gap_along(c, other.normal);
        climb_from(c, &other);
        if (other.gap > d->gap)
            *d = other;
    }
    cairn_difference p = cairn_couple_support(c, cairn_scale(-1, d->normal));
    d->on_a = p.a;
    d->on_b = cairn_add_scaled(p.a, -d->gap, d->normal);
    d->residual = CLIMB_STEP;
}

/* Overlapping cores: a coarse EPA will do deep inside, and where it can be made sharp. */
static void find_depth(const cairn_couple *c, cairn_distance *out)
{
    static const double precision[2] = { 1e-8, 0 };
    for (int k = is_smooth(c) ? 1 : 0; k < 2; k++) {
        cairn_epa(c, precision[k], out);
        judge(c, out);
        if (out->residual > 0.1 * CAIRN_DEEP_RESIDUAL && k == 1)
            climb(c, out);
        if (out->residual > 1e-10 && out->gap > -CAIRN_DEEP * c->size)
            sharpen(c, out);
        bool deep = out->gap < -CAIRN_DEEP * c->size;
        if (out->residual <= (deep ? 0.5 * CAIRN_DEEP_RESIDUAL : 1e-8))
            return;
    }
}

/* Precise for any pair; slow for smooth ones. */
static bool find_precisely(const cairn_couple *c, double limit, cairn_distance *out)
{
    cairn_gjk_end end = cairn_gjk(c, limit, 0, out);
    if (end == CAIRN_GJK_TOUCH)
        find_depth(c, out);
    if (end != CAIRN_GJK_APART)
        return end == CAIRN_GJK_TOUCH;
    judge(c, out);
    double gap = out->gap / c->size;
    if (gap < 1e-6 || (gap < 1e-3 && out->residual > 1e-12))
        sharpen(c, out);
    /* apart by rounding alone: the direction that GJK has is rounding, too */
    if (out->residual > CAIRN_CONVEX_RESIDUAL)
        find_depth(c, out);
    return true;
}

static bool find_smooth(const cairn_couple *c, double limit, cairn_distance *out)
{
    cairn_gjk_end end = cairn_gjk(c, limit, 0.01, out);
    if (end == CAIRN_GJK_FAR)
        return false;
    if (end == CAIRN_GJK_TOUCH)
        cairn_epa(c, 1e-3, out);
    if (cairn_common_normal(c, out))
        return true;
    int spent = out->iterations;
    if (!find_precisely(c, limit, out))
        return false;
    cairn_distance newton = *out;
    if (cairn_common_normal(c, &newton) || newton.residual < out->residual)
        *out = newton;
    out->iterations += spent;
    return true;
}

bool cairn_distance_find(const cairn_couple *c, double limit, cairn_distance *out)
{
    double length = cairn_norm(c->offset);
    cairn_vec3 up = c->dimension == 2 ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
    *out = (cairn_distance){ .normal = length > 0 ? cairn_scale(1 / length, c->offset) : up };
    bool near = is_smooth(c) ? find_smooth(c, limit, out) : find_precisely(c, limit, out);
    return near && !(out->gap > limit);
}

bool cairn_distance_is_sound(const cairn_couple *c, const cairn_distance *d)
{
    double allowed = is_smooth(c)                     ? CAIRN_SMOOTH_RESIDUAL
                     : d->gap < -CAIRN_DEEP * c->size ? CAIRN_DEEP_RESIDUAL
                                                      : CAIRN_CONVEX_RESIDUAL;
    return d->residual <= allowed && cairn_is_finite(d->normal) && isfinite(d->gap);
}
