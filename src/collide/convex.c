/* convex.c - convex shapes in space, and the difference of two of them. */
#include "collide/convex.h"

#include "math/vec.h"

static cairn_vec3 to_local(const cairn_convex *c, cairn_vec3 d)
{
    return cairn_vec(cairn_dot(c->axes[0], d), cairn_dot(c->axes[1], d), cairn_dot(c->axes[2], d));
}

static cairn_vec3 to_space(const cairn_convex *c, cairn_vec3 p)
{
    cairn_vec3 x = cairn_scale(p.x, c->axes[0]);
    return cairn_add_scaled(cairn_add_scaled(x, p.y, c->axes[1]), p.z, c->axes[2]);
}

bool cairn_convex_make(const cairn_collider *collider, cairn_convex *out)
{
    const cairn_shape_class *class = cairn_shape_class_of(collider->shape);
    if (!class->support)
        return cairn_convex_make_face(collider, out);
    *out = (cairn_convex){ .x = collider->x,
                           .rounding = cairn_shape_rounding(collider->shape),
                           .extent = cairn_shape_extent(collider->shape),
                           .shape = collider->shape,
                           .class = class };
    out->axes[0] = cairn_rotate(collider->q, cairn_vec(1, 0, 0));
    out->axes[1] = cairn_rotate(collider->q, cairn_vec(0, 1, 0));
    out->axes[2] = cairn_cross(out->axes[0], out->axes[1]);
    return true;
}

cairn_convex cairn_convex_triangle(const cairn_vec3 *corners, int count)
{
    cairn_convex c = { .corner_count = count };
    for (int k = 0; k < count; k++)
        c.x = cairn_add_scaled(c.x, 1.0 / count, corners[k]);
    for (int k = 0; k < count; k++) {
        c.corners[k] = cairn_sub(corners[k], c.x);
        c.corner_name[k] = k;
        c.extent = fmax(c.extent, cairn_norm(c.corners[k]));
    }
    return c;
}

static cairn_vec3 corner_support(const cairn_convex *c, cairn_vec3 direction)
{
    int best = 0;
    for (int k = 1; k < c->corner_count; k++)
        if (cairn_dot(c->corners[k], direction) > cairn_dot(c->corners[best], direction))
            best = k;
    return c->corners[best];
}

cairn_vec3 cairn_convex_support(const cairn_convex *c, cairn_vec3 direction)
{
    if (!c->shape)
        return corner_support(c, direction);
    return to_space(c, c->class->support(c->shape, to_local(c, direction)));
}

bool cairn_convex_corner(const cairn_convex *c, int k, cairn_vec3 *out)
{
    if (!c->shape && k < c->corner_count)
        *out = c->corners[k];
    if (!c->shape)
        return k < c->corner_count;
    if (!c->class->corner || !c->class->corner(c->shape, k, out))
        return false;
    *out = to_space(c, *out);
    return true;
}

static cairn_vec3 corner_normal(const cairn_convex *c)
{
    cairn_vec3 e = cairn_sub(c->corners[1], c->corners[0]);
    if (c->corner_count == 2)
        return cairn_unit(cairn_vec(e.y, -e.x, 0));
    return cairn_unit(cairn_cross(e, cairn_sub(c->corners[2], c->corners[0])));
}

/* The triangle as seen from the side of `direction`. */
static void corner_face(const cairn_convex *c, cairn_vec3 direction, cairn_face *out)
{
    bool front = cairn_dot(corner_normal(c), direction) >= 0;
    out->count = c->corner_count;
    out->id = front ? 0 : 1;
    out->normal = cairn_scale(front ? 1 : -1, corner_normal(c));
    for (int k = 0; k < c->corner_count; k++) {
        int from = front ? k : c->corner_count - 1 - k;
        out->point[k] = c->corners[from];
        out->vertex[k] = c->corner_name[from];
    }
}

void cairn_convex_face(const cairn_convex *c, cairn_vec3 direction, cairn_face *out)
{
    if (!c->shape) {
        corner_face(c, direction, out);
        return;
    }
    c->class->face(c->shape, to_local(c, direction), out);
    out->normal = to_space(c, out->normal);
    for (int k = 0; k < out->count; k++)
        out->point[k] = to_space(c, out->point[k]);
}

static cairn_vec3 times(const cairn_symmetric *H, cairn_vec3 p)
{
    return cairn_vec(H->xx * p.x + H->xy * p.y + H->zx * p.z,
                     H->xy * p.x + H->yy * p.y + H->yz * p.z,
                     H->zx * p.x + H->yz * p.y + H->zz * p.z);
}

cairn_bend cairn_convex_curvature(const cairn_convex *c, cairn_vec3 n, cairn_vec3 t, cairn_vec3 u)
{
    if (!c->shape || !c->class->curvature)
        return (cairn_bend){ 0 };
    cairn_symmetric H;
    c->class->curvature(c->shape, to_local(c, n), &H);
    cairn_vec3 p = to_local(c, t), q = to_local(c, u), Hp = times(&H, p), Hq = times(&H, q);
    return (cairn_bend){ cairn_dot(p, Hp), cairn_dot(q, Hp), cairn_dot(q, Hq) };
}

bool cairn_convex_is_smooth(const cairn_convex *c)
{
    return c->shape && c->class->smooth;
}

/* ---- two cores ------------------------------------------------------------------------------ */

cairn_couple cairn_couple_make(const cairn_convex *a, const cairn_convex *b, int dimension)
{
    return (cairn_couple){ .a = a,
                           .b = b,
                           .offset = cairn_sub(a->x, b->x),
                           .size = a->extent + b->extent,
                           .dimension = dimension };
}

cairn_difference cairn_couple_support(const cairn_couple *c, cairn_vec3 direction)
{
    cairn_difference p;
    p.a = cairn_add(c->offset, cairn_convex_support(c->a, direction));
    p.b = cairn_convex_support(c->b, cairn_scale(-1, direction));
    p.w = cairn_sub(p.a, p.b);
    return p;
}

double cairn_couple_gap_along(const cairn_couple *c, cairn_vec3 n)
{
    return cairn_dot(n, cairn_couple_support(c, cairn_scale(-1, n)).w);
}
