/* inside.c - bodies that lie inside of what a closed mesh or polyline encloses.
 *
 * Faces see only what is in front of them (triangles.c): a body wholly behind them touches none of
 * them. Where bodies are put into a world it is looked for by the winding number of the surface
 * about a point p, from the angles (2D) or solid angles that its faces fill as seen from p:
 *
 *     tan(angle/2 of a triangle) = a.(b x c) / (abc + (a.b) c + (b.c) a + (c.a) b)
 *
 * with a, b, c the corners relative to p, and in the denominator their lengths. */
#include <math.h>

#include "collide/collide.h"
#include "math/vec.h"
#include "shape/geometry.h"

static bool is_solid_surface(const cairn_shape *shape)
{
    bool surface = shape->kind == CAIRN_SHAPE_MESH || shape->kind == CAIRN_SHAPE_POLYLINE;
    return surface && shape->geometry->view.closed;
}

static double angle_of(const cairn_vec3 *c, int dimension)
{
    if (dimension == 2)
        return atan2(c[0].x * c[1].y - c[0].y * c[1].x, cairn_dot(c[0], c[1]));
    double l[3] = { cairn_norm(c[0]), cairn_norm(c[1]), cairn_norm(c[2]) };
    double below = l[0] * l[1] * l[2] + cairn_dot(c[0], c[1]) * l[2] +
                   cairn_dot(c[1], c[2]) * l[0] + cairn_dot(c[2], c[0]) * l[1];
    return atan2(cairn_dot(c[0], cairn_cross(c[1], c[2])), below);
}

/* m: how far p, in the frame of the surface, is from the planes of its faces; 0: not inside. */
static double depth_inside(const cairn_geometry_view *view, cairn_vec3 p)
{
    double filled = 0, nearest = INFINITY;
    for (int f = 0; f < view->face_count; f++) {
        cairn_vec3 corner[3];
        const int32_t *vertex = view->face_vertex + view->face_first[f];
        for (int k = 0; k < view->dimension; k++)
            corner[k] = cairn_sub(view->vertices[vertex[k]], p);
        filled += angle_of(corner, view->dimension);
        nearest = fmin(nearest, fabs(cairn_dot(view->face_normal[f], corner[0])));
    }
    return filled > M_PI ? nearest : 0; /* 2 pi inside, in 3D of halves of solid angles */
}

/* Some point of a body; of a convex one its middle. */
static cairn_vec3 point_of(const cairn_collider *c)
{
    const cairn_pose pose = { c->x, c->q };
    if (!cairn_collider_has_pieces(c))
        return c->box.centre;
    const cairn_geometry_view *view = &c->shape->geometry->view;
    if (c->shape->kind != CAIRN_SHAPE_COMPOUND)
        return cairn_pose_apply(&pose, view->vertices[0]);
    cairn_collider part = { .shape = &view->parts[0].shape };
    cairn_collider_place(&part, cairn_pose_compose(&pose, &view->parts[0].pose));
    return point_of(&part);
}

static double depth_at(const cairn_shape *shape, cairn_pose pose, cairn_vec3 p)
{
    if (!is_solid_surface(shape))
        return 0;
    cairn_vec3 local = cairn_rotate_back(pose.q, cairn_sub(p, pose.x));
    return depth_inside(&shape->geometry->view, local);
}

double cairn_collider_swallowed(const cairn_collider *inner, const cairn_collider *outer)
{
    const cairn_pose pose = { outer->x, outer->q };
    if (!cairn_collider_has_pieces(outer) || !cairn_collider_bounded(inner))
        return 0;
    cairn_vec3 p = point_of(inner);
    double depth = depth_at(outer->shape, pose, p);
    const cairn_geometry_view *view = &outer->shape->geometry->view;
    for (int k = 0; k < view->part_count; k++) {
        cairn_pose at = cairn_pose_compose(&pose, &view->parts[k].pose);
        depth = fmax(depth, depth_at(&view->parts[k].shape, at, p));
    }
    return depth > 0 ? depth + inner->extent : 0;
}
