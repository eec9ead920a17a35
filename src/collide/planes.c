/* planes.c - convex shapes against half-spaces: one, the six (2D: four) of the inside of a box, or
 * the two of a wedge.
 *
 * Each point p of the face that looks at the plane is a constraint p.n >= c of its own, exact for
 * any motion. If the shape has a lower point than those (curved rims) that joins. */
#include "collide/convex.h"
#include "collide/narrow.h"
#include "math/vec.h"

enum { MANIFOLD = 4 }; /* points kept per plane; 2 in 2D */

/* The half-space n.p >= level, relative to an origin. */
typedef struct plane {
    cairn_vec3 origin, n;
    double level;
    int32_t feature; /* added to the features of its points */
} plane;

static cairn_witness point_on(const plane *p, const cairn_convex *a, cairn_vec3 point, int vertex)
{
    cairn_vec3 d = cairn_add(cairn_sub(a->x, p->origin), point);
    double distance = cairn_dot(d, p->n) - p->level;
    cairn_vec3 here = cairn_add(a->x, point);
    return (cairn_witness){ .on_a = cairn_add_scaled(here, -a->rounding, p->n),
                            .on_b = cairn_add_scaled(here, -distance, p->n),
                            .normal = p->n,
                            .gap = distance - a->rounding,
                            .feature = p->feature + vertex };
}

static int touch(const plane *p, const cairn_convex *a, int dimension, double margin,
                 cairn_witness *out)
{
    cairn_face face;
    cairn_witness points[CAIRN_FACE_POINTS + 1];
    int count = 0;
    cairn_vec3 down = cairn_scale(-1, p->n);
    if (cairn_dot(cairn_sub(a->x, p->origin), p->n) - p->level > a->extent + margin)
        return 0;
    cairn_witness lowest = point_on(p, a, cairn_convex_support(a, down), 0);
    if (!(lowest.gap <= margin))
        return 0;
    cairn_convex_face(a, down, &face);
    double least = INFINITY;
    for (int k = 0; k < face.count; k++) {
        points[count] = point_on(p, a, face.point[k], 1 + face.vertex[k]);
        least = fmin(least, points[count].gap);
        count += points[count].gap <= margin;
    }
    if (least > lowest.gap + 1e-9 * a->extent)
        points[count++] = lowest;
    count = cairn_witnesses_reduce(points, count, dimension == 2 ? 2 : MANIFOLD);
    for (int k = 0; k < count; k++)
        out[k] = points[k];
    return count;
}

int cairn_convex_half_space(const cairn_collider *a, const cairn_collider *b, int dimension,
                            double margin, cairn_witness *out)
{
    cairn_convex convex;
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    plane p = { .origin = b->x, .n = cairn_rotate(b->q, cairn_unit(b->shape->axis)) };
    return touch(&p, &convex, dimension, margin, out);
}

int cairn_convex_inside_box(const cairn_collider *a, const cairn_collider *b, int dimension,
                            double margin, cairn_witness *out)
{
    static const cairn_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const double size[3] = { b->shape->size.x, b->shape->size.y, b->shape->size.z };
    cairn_convex convex;
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    int found = 0;
    for (int k = 0; k < 2 * dimension; k++) {
        plane p = { .origin = b->x, .level = -0.5 * size[k / 2], .feature = k << 24 };
        p.n = cairn_rotate(b->q, cairn_scale(k % 2 ? -1 : 1, axes[k / 2]));
        found += touch(&p, &convex, dimension, margin, out + found);
    }
    return found;
}

int cairn_convex_inside_wedge(const cairn_collider *a, const cairn_collider *b, int dimension,
                              double margin, cairn_witness *out)
{
    cairn_convex convex;
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    cairn_vec3 axis = cairn_rotate(b->q, cairn_unit(b->shape->axis));
    double sine = sin(b->shape->half_angle), cosine = cos(b->shape->half_angle);
    int found = 0;
    for (int k = 0; k < 2; k++) {
        double side = k ? -cosine : cosine;
        plane p = { .origin = b->x, .feature = k << 24 };
        p.n = cairn_add_scaled(cairn_scale(sine, axis), side, cairn_vec(axis.y, -axis.x, 0));
        found += touch(&p, &convex, dimension, margin, out + found);
    }
    return found;
}
