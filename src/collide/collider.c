/* collider.c - placing a shape in space, and the zone in which it may be. */
#include <math.h>

#include "collide/collide.h"
#include "math/vec.h"
#include "shape/shape.h"

void cairn_collider_enclose(cairn_collider *c)
{
    c->box = (cairn_box){ c->x, { c->extent, c->extent, c->extent } };
}

void cairn_collider_place(cairn_collider *c, cairn_pose pose)
{
    c->x = pose.x;
    c->q = pose.q;
    c->extent = cairn_shape_extent(c->shape);
    if (isfinite(c->extent))
        c->box = cairn_shape_box(c->shape, &pose);
}

bool cairn_collider_bounded(const cairn_collider *c)
{
    return c->shape && isfinite(c->extent);
}

/* ---- zones ---------------------------------------------------------------------------------- */

static cairn_zone wall_zone(const cairn_collider *c)
{
    cairn_vec3 axis = c->shape->axis;
    if (c->shape->kind != CAIRN_SHAPE_HALF_SPACE || c->turn > 0)
        return (cairn_zone){ .centre = c->x, .kind = CAIRN_ZONE_UNBOUNDED, .movable = c->movable };
    return (cairn_zone){ .centre = c->x,
                         .half = cairn_rotate(c->q, cairn_scale(1 / cairn_norm(axis), axis)),
                         .radius = c->reach,
                         .kind = CAIRN_ZONE_PLANE,
                         .movable = c->movable };
}

/* m: how far outside of its box a surface may hold off a body without size: points that sank in a
 * little are seen behind its faces (triangles.c). */
static double beyond_box(const cairn_collider *c)
{
    bool faces = cairn_collider_has_pieces(c) && c->shape->kind != CAIRN_SHAPE_COMPOUND;
    return faces ? 0.01 * c->extent : 0;
}

cairn_zone cairn_zone_of(const cairn_collider *c)
{
    if (!c->shape)
        return (cairn_zone){ .kind = CAIRN_ZONE_NONE };
    if (!cairn_collider_bounded(c))
        return wall_zone(c);
    bool ball = c->shape->kind == CAIRN_SHAPE_SPHERE || c->shape->kind == CAIRN_SHAPE_POINT;
    double reach = c->reach + beyond_box(c);
    return (cairn_zone){ .centre = c->box.centre,
                         .half = cairn_add(c->box.half, cairn_vec(reach, reach, reach)),
                         .radius = ball ? c->extent : c->reach,
                         .kind = ball ? CAIRN_ZONE_BALL : CAIRN_ZONE_BOX,
                         .movable = c->movable };
}

/* How far a box or ball is above a plane, its own size taken off. */
static double height_of(const cairn_zone *zone, const cairn_zone *plane)
{
    cairn_vec3 n = plane->half, h = zone->half;
    double height = cairn_dot(cairn_sub(zone->centre, plane->centre), n);
    if (zone->kind == CAIRN_ZONE_BALL)
        return height - h.x;
    double size = fabs(n.x) * h.x + fabs(n.y) * h.y + fabs(n.z) * h.z;
    return height - size - 1e-12 * (fabs(height) + size); /* more than rounding can hide */
}

bool cairn_zones_meet(const cairn_zone *a, const cairn_zone *b)
{
    if (a->kind == CAIRN_ZONE_BALL && b->kind == CAIRN_ZONE_BALL)
        return cairn_balls_meet(a, b);
    if (cairn_zone_bounded(a) && cairn_zone_bounded(b))
        return cairn_zones_overlap(a, b);
    if (cairn_zone_bounded(a) && b->kind == CAIRN_ZONE_PLANE)
        return !(height_of(a, b) > b->radius); /* also where a reach is infinite */
    if (cairn_zone_bounded(b) && a->kind == CAIRN_ZONE_PLANE)
        return !(height_of(b, a) > a->radius);
    return true;
}
