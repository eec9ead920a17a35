/* vec.h - vectors, quaternions and poses, passed by value. */
#ifndef CAIRN_MATH_VEC_H
#define CAIRN_MATH_VEC_H

#include <math.h>

#include "base/common.h"

/* min and max in one instruction each. If b is NaN the result is a, as with fmin and fmax; if a is
 * NaN it is NaN, unlike with them. */
ANYWHERE static inline double cairn_smaller(double a, double b)
{
    return b < a ? b : a;
}

ANYWHERE static inline double cairn_larger(double a, double b)
{
    return b > a ? b : a;
}

ANYWHERE static inline cairn_vec3 cairn_vec(double x, double y, double z)
{
    return (cairn_vec3){ x, y, z };
}

ANYWHERE static inline cairn_vec3 cairn_add(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.x + b.x, a.y + b.y, a.z + b.z };
}

ANYWHERE static inline cairn_vec3 cairn_sub(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

ANYWHERE static inline cairn_vec3 cairn_scale(double s, cairn_vec3 a)
{
    return (cairn_vec3){ s * a.x, s * a.y, s * a.z };
}

/* a + s b */
ANYWHERE static inline cairn_vec3 cairn_add_scaled(cairn_vec3 a, double s, cairn_vec3 b)
{
    return (cairn_vec3){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}

ANYWHERE static inline double cairn_dot(cairn_vec3 a, cairn_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

ANYWHERE static inline cairn_vec3 cairn_cross(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

ANYWHERE static inline double cairn_norm(cairn_vec3 a)
{
    return sqrt(cairn_dot(a, a));
}

/* a / |a|; zero stays zero. */
ANYWHERE static inline cairn_vec3 cairn_unit(cairn_vec3 a)
{
    double norm = cairn_norm(a);
    return norm > 0 ? cairn_scale(1 / norm, a) : a;
}

/* Componentwise product: a diagonal matrix times a vector. */
ANYWHERE static inline cairn_vec3 cairn_times(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.x * b.x, a.y * b.y, a.z * b.z };
}

ANYWHERE static inline bool cairn_is_finite(cairn_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/* A unit vector perpendicular to the unit vector n. It depends on n alone, so that resumed runs
 * have the same tangents. The axis that n is not close to (|n_x| < 0.6) is used, so that the norm
 * is never near 0. */
ANYWHERE static inline cairn_vec3 cairn_perpendicular(cairn_vec3 n)
{
    cairn_vec3 t = fabs(n.x) < 0.6 ? (cairn_vec3){ 0, -n.z, n.y } : (cairn_vec3){ n.z, 0, -n.x };
    return cairn_scale(1 / cairn_norm(t), t);
}

/* ---- quaternions ---------------------------------------------------------------------------- */

/* The Hamilton product: R(a b) = R(a) R(b). */
ANYWHERE static inline cairn_quat cairn_quat_multiply(cairn_quat a, cairn_quat b)
{
    return (cairn_quat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                         a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                         a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                         a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w };
}

ANYWHERE static inline cairn_quat cairn_quat_conjugate(cairn_quat q)
{
    return (cairn_quat){ q.w, -q.x, -q.y, -q.z };
}

/* q / |q|; |q| must not be 0. */
ANYWHERE static inline cairn_quat cairn_quat_normalised(cairn_quat q)
{
    double s = 1 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (cairn_quat){ s * q.w, s * q.x, s * q.y, s * q.z };
}

/* The rotation by an angle, rad, about the z axis: that of a 2D body. */
ANYWHERE static inline cairn_quat cairn_quat_in_plane(double angle)
{
    return (cairn_quat){ cos(0.5 * angle), 0, 0, sin(0.5 * angle) };
}

/* R(q) v: body coordinates to world coordinates. */
ANYWHERE static inline cairn_vec3 cairn_rotate(cairn_quat q, cairn_vec3 v)
{
    /* v + 2 w (a x v) + 2 a x (a x v), a the vector part of q */
    cairn_vec3 axis = { q.x, q.y, q.z };
    cairn_vec3 t = cairn_scale(2, cairn_cross(axis, v));
    return cairn_add(cairn_add_scaled(v, q.w, t), cairn_cross(axis, t));
}

/* R(q)' v: world coordinates to body coordinates. */
ANYWHERE static inline cairn_vec3 cairn_rotate_back(cairn_quat q, cairn_vec3 v)
{
    return cairn_rotate(cairn_quat_conjugate(q), v);
}

/* The exponential map: the rotation by |angle|, rad, about the direction of `angle`. */
ANYWHERE static inline cairn_quat cairn_quat_exp(cairn_vec3 angle)
{
    double half = 0.5 * cairn_norm(angle);
    /* near 0 by series: the next terms, half^4/120 and half^4/24, are below rounding up to 1e-4 */
    bool near = !(half > 1e-4);
    double ratio = near ? 1 - half * half / 6 : sin(half) / half;
    cairn_vec3 s = cairn_scale(0.5 * ratio, angle);
    return (cairn_quat){ near ? 1 - 0.5 * half * half : cos(half), s.x, s.y, s.z };
}

/* Inverse of the exponential map, angle in [0, pi]. */
ANYWHERE static inline cairn_vec3 cairn_quat_log(cairn_quat q)
{
    cairn_vec3 s = { q.x, q.y, q.z };
    /* q and -q are the same rotation: the sign selects the angle of at most pi */
    double sine = cairn_norm(s), sign = q.w < 0 ? -1 : 1;
    double half = atan2(sine, fabs(q.w));
    double ratio = sine > 1e-8 ? half / sine : 1;
    return cairn_scale(2 * sign * ratio, s);
}

/* ---- poses ---------------------------------------------------------------------------------- */

/* Whether a pose is exactly the identity; q = -1 is the same rotation as q = 1. */
ANYWHERE static inline bool cairn_pose_is_identity(const cairn_pose *p)
{
    return p->x.x == 0 && p->x.y == 0 && p->x.z == 0 && p->q.x == 0 && p->q.y == 0 && p->q.z == 0;
}

/* x + R(q) p: from the inner frame to the outer one. */
ANYWHERE static inline cairn_vec3 cairn_pose_apply(const cairn_pose *pose, cairn_vec3 p)
{
    return cairn_add(pose->x, cairn_rotate(pose->q, p));
}

/* The pose in the outermost frame of an object that has the pose `inner` in the frame `outer`. If
 * `inner` is the identity, the result is `outer` to the last bit. */
ANYWHERE static inline cairn_pose cairn_pose_compose(const cairn_pose *outer,
                                                     const cairn_pose *inner)
{
    if (cairn_pose_is_identity(inner))
        return *outer;
    return (cairn_pose){ cairn_pose_apply(outer, inner->x),
                         cairn_quat_multiply(outer->q, inner->q) };
}

static inline double cairn_component(cairn_vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

#endif
