/* collider.c - placing a shape in space. */
#include <math.h>

#include "collide/collide.h"
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
