/* bounds.c - boxes along the axes of space about placed shapes.
 *
 * A convex shape reaches along a unit vector e as far as e.s(e) + rounding, with the support point
 * s of its core. The box of the parts of a compound, or of the triangles of a mesh, is turned with
 * the shape: half lengths |R| h. */
#include "shape/bounds.h"

#include <math.h>

#include "math/vec.h"
#include "shape/geometry.h"

/* The box with half lengths `half` about `centre`, turned by q about the origin and moved by x. */
static cairn_box turned(const cairn_pose *pose, cairn_vec3 centre, cairn_vec3 half)
{
    cairn_vec3 e[3] = { cairn_rotate(pose->q, cairn_vec(half.x, 0, 0)),
                        cairn_rotate(pose->q, cairn_vec(0, half.y, 0)),
                        cairn_rotate(pose->q, cairn_vec(0, 0, half.z)) };
    cairn_vec3 sum = { fabs(e[0].x) + fabs(e[1].x) + fabs(e[2].x),
                       fabs(e[0].y) + fabs(e[1].y) + fabs(e[2].y),
                       fabs(e[0].z) + fabs(e[1].z) + fabs(e[2].z) };
    return (cairn_box){ cairn_pose_apply(pose, centre), sum };
}

/* How far a core reaches along a unit vector of space, from its origin. */
static double reach_along(const cairn_shape *shape, cairn_quat q, cairn_vec3 e)
{
    cairn_vec3 local = cairn_rotate_back(q, e);
    return cairn_dot(local, cairn_shape_support(shape, local));
}

static cairn_box convex_box(const cairn_shape *shape, const cairn_pose *pose)
{
    static const cairn_vec3 units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double rounding = cairn_shape_rounding(shape), middle[3], half[3];
    for (int i = 0; i < 3; i++) {
        double high = reach_along(shape, pose->q, units[i]);
        double low = -reach_along(shape, pose->q, cairn_scale(-1, units[i]));
        middle[i] = 0.5 * (low + high);
        half[i] = 0.5 * (high - low) + rounding;
    }
    return (cairn_box){ cairn_add(pose->x, cairn_vec(middle[0], middle[1], middle[2])),
                        cairn_vec(half[0], half[1], half[2]) };
}

cairn_box cairn_shape_box(const cairn_shape *shape, const cairn_pose *pose)
{
    const cairn_shape_class *class = cairn_shape_class_of(shape);
    if (class->support && shape->kind != CAIRN_SHAPE_SPHERE && shape->kind != CAIRN_SHAPE_POINT)
        return convex_box(shape, pose);
    if (class->has_geometry && shape->geometry->tree.item_count > 0) {
        const cairn_bounds *all = &shape->geometry->tree.nodes[0];
        return turned(pose, cairn_scale(0.5, cairn_add(all->low, all->high)),
                      cairn_scale(0.5, cairn_sub(all->high, all->low)));
    }
    double r = cairn_shape_extent(shape);
    return (cairn_box){ pose->x, { r, r, r } };
}

cairn_bounds cairn_box_inside(const cairn_box *box, const cairn_pose *pose)
{
    cairn_quat back = cairn_quat_conjugate(pose->q);
    const cairn_pose inverse = { cairn_rotate(back, cairn_scale(-1, pose->x)), back };
    cairn_box local = turned(&inverse, box->centre, box->half);
    return (cairn_bounds){ cairn_sub(local.centre, local.half),
                           cairn_add(local.centre, local.half) };
}
