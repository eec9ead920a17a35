/* triangles.c - a convex shape against one triangle of a mesh (2D: one side of a polyline).
 *
 * A triangle alone has normals all round its edges; within a mesh most of them point into a
 * neighbour, and a body that slides over a flat mesh would stumble over them. The rule:
 *
 *   - A body that is more than half way behind a one-sided triangle does not see it. A two-sided
 *     triangle turns its front to the larger half of the body.
 *   - A normal that leans over an edge is taken only if the edge is open, or if it bends away from
 *     the body and the normal lies between those of the triangle and of its neighbour.
 *   - Otherwise the normal of the triangle takes its place, and only points where the facing
 *     face lies over the triangle count; what lies beyond the edge is the neighbour's business. */
#include <math.h>

#include "collide/convex.h"
#include "math/vec.h"

/* The triangle with its front to the body. */
typedef struct front {
    const cairn_triangle *t;
    int count;
    cairn_vec3 corner[3];
    int32_t name[3];
    cairn_vec3 beyond[3];
    cairn_vec3 normal;
    double sunk; /* m: how far the body lies wholly behind it (thin ones may), else 0         */
} front;

static cairn_vec3 normal_of(const cairn_vec3 *corner, int count)
{
    cairn_vec3 e = cairn_sub(corner[1], corner[0]);
    return cairn_unit(count == 2 ? cairn_vec(e.y, -e.x, 0)
                                 : cairn_cross(e, cairn_sub(corner[2], corner[0])));
}

/* The back of a triangle as a front: corners in the opposite order, neighbours turned as well. */
static void turn_over(front *f)
{
    front old = *f;
    int n = f->count;
    f->normal = cairn_scale(-1, f->normal);
    for (int k = 0; k < n; k++) {
        int edge = n == 2 ? n - 1 - k : (2 * n - 2 - k) % n;
        f->corner[k] = old.corner[n - 1 - k];
        f->name[k] = old.name[n - 1 - k];
        f->beyond[k] = cairn_scale(-1, old.beyond[edge]);
    }
}

/* A thin body, a point above all, is half way through a face as soon as it touches it, and lost to
 * rounding there. Those thinner than this share of the triangle's size are seen as deep as if they
 * had it. */
static const double THINNEST = 0.02;

/* How far the middle of the body is in front of the triangle. It lies half way between the two
 * points that are furthest along its normal, wherever the shape has its origin. A face that plays
 * the body has its origin in its solid. */
static double in_front(const cairn_convex *a, front *f)
{
    double origin = cairn_dot(f->normal, cairn_sub(a->x, f->corner[0]));
    if (!a->shape)
        return origin;
    double high = cairn_dot(f->normal, cairn_convex_support(a, f->normal));
    double low = cairn_dot(f->normal, cairn_convex_support(a, cairn_scale(-1, f->normal)));
    double size = cairn_norm(cairn_sub(f->corner[1], f->corner[0]));
    double thickness = high - low + 2 * a->rounding;
    double missing = f->t->two_sided ? 0 : fmax(0, THINNEST * size - thickness);
    f->sunk = fmax(0, -(origin + high + a->rounding));
    return origin + 0.5 * (high + low + missing);
}

/* False: the body is behind a one-sided triangle. */
static bool make_front(const cairn_triangle *t, int dimension, const cairn_convex *a, front *f)
{
    *f = (front){ .t = t, .count = dimension };
    for (int k = 0; k < dimension; k++) {
        f->corner[k] = t->corner[k];
        f->name[k] = t->name[k];
        f->beyond[k] = t->beyond[k];
    }
    f->normal = normal_of(f->corner, dimension);
    bool behind = in_front(a, f) < 0;
    if (behind && t->two_sided) {
        turn_over(f);
        f->sunk = 0;
    }
    return !behind || t->two_sided;
}

/* In the plane of the triangle, at right angles to edge k, away from the triangle. */
static cairn_vec3 out_over(const front *f, int k)
{
    cairn_vec3 e = cairn_sub(f->corner[(k + 1) % f->count], f->corner[k]);
    return cairn_unit(f->count == 2 ? cairn_scale(-1, e) : cairn_cross(e, f->normal));
}

/* Whether the normal n, which leans over edge k, belongs to this triangle. */
static bool may_lean(const front *f, int k, cairn_vec3 n)
{
    cairn_vec3 other = f->beyond[k];
    if (!(cairn_norm(other) > 0))
        return true;
    bool bends_away = cairn_dot(other, out_over(f, k)) > 1e-9;
    return bends_away && cairn_dot(n, f->normal) >= cairn_dot(other, f->normal) - 1e-9;
}

static bool is_own_normal(const front *f, cairn_vec3 n)
{
    if (cairn_dot(n, f->normal) < 0)
        return false;
    for (int k = 0; k < f->count; k++)
        if (cairn_dot(n, out_over(f, k)) > 1e-7 && !may_lean(f, k, n))
            return false;
    return true;
}

int cairn_triangle_witnesses(const cairn_convex *a, const cairn_triangle *t, int dimension,
                             double margin, cairn_witness *out)
{
    front f;
    if (!make_front(t, dimension, a, &f))
        return 0;
    cairn_convex b = cairn_convex_triangle(f.corner, dimension);
    for (int k = 0; k < dimension; k++)
        b.corner_name[k] = f.name[k];
    cairn_couple c = cairn_couple_make(a, &b, dimension);
    cairn_distance d;
    if (!cairn_distance_find(&c, margin + a->rounding + f.sunk, &d))
        return 0;
    if (!cairn_distance_is_sound(&c, &d))
        return CAIRN_UNRESOLVED;
    return is_own_normal(&f, d.normal) ? cairn_manifold_find(&c, &d, margin, out)
                                       : cairn_manifold_along(&c, f.normal, margin, out);
}
