/* vec.h - vectors, quaternions and poses, passed by value; and how far a point is from walls of
 * simple form. */
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

/* ---- walls ---------------------------------------------------------------------------------- */

/* How far a point is from a wall, and the unit normal from the wall towards the point: for balls on
 * the host (collide/walls.c, balls.c) and on devices (backend/cuda/pile_walls.h). d is the point
 * relative to the origin of the wall. */

/* value, no larger than `most` and no smaller than -most */
ANYWHERE static inline double cairn_clamped(double value, double most)
{
    return value < -most ? -most : value > most ? most : value;
}

/* A point in the frame of a surface of revolution. The wall is met at three directions, turned by
 * 120 degrees, in 2D (a wedge) at two. */
typedef struct cairn_revolution {
    cairn_vec3 axis;          /* unit                                                    */
    cairn_vec3 d;             /* m                                                       */
    double z;                 /* m, along the axis                                       */
    cairn_vec3 directions[3]; /* unit, at right angles to the axis; towards d first      */
    int count;
} cairn_revolution;

ANYWHERE static inline cairn_revolution cairn_revolution_of(cairn_vec3 axis, cairn_vec3 d,
                                                            bool wedge)
{
    cairn_revolution s;
    s.axis = axis;
    s.d = d;
    s.z = cairn_dot(d, axis);
    cairn_vec3 radial = cairn_add_scaled(d, -s.z, axis);
    double length = cairn_norm(radial);
    /* near the axis rounding leaves a part of the difference along it: remove that */
    if (length < 1e-3 * fabs(s.z)) {
        radial = cairn_add_scaled(radial, -cairn_dot(radial, axis), axis);
        length = cairn_norm(radial);
    }
    cairn_vec3 any = wedge ? cairn_vec(-axis.y, axis.x, 0) : cairn_perpendicular(axis);
    cairn_vec3 e = length > 0 ? cairn_scale(1 / length, radial) : any;
    cairn_vec3 side = cairn_scale(sqrt(0.75), cairn_cross(axis, e));
    s.count = wedge ? 2 : 3;
    s.directions[0] = e;
    s.directions[1] = wedge ? cairn_scale(-1, e) : cairn_add_scaled(side, -0.5, e);
    s.directions[2] = cairn_add_scaled(cairn_scale(-1, side), -0.5, e);
    return s;
}

/* A v */
static inline cairn_vec3 cairn_symmetric_times(const cairn_symmetric *A, cairn_vec3 v)
{
    return cairn_vec(A->xx * v.x + A->xy * v.y + A->zx * v.z,
                     A->xy * v.x + A->yy * v.y + A->yz * v.z,
                     A->zx * v.x + A->yz * v.y + A->zz * v.z);
}

/* The second derivative of the distance of a point from a surface of revolution along a straight
 * path with velocity z, as far as the surface bends about its axis: (n.e) (z.(k x e))^2/rho, where
 * rho e is the part of d across the axis k, and n the normal. */
ANYWHERE static inline double cairn_revolution_bend(cairn_vec3 axis, cairn_vec3 d, cairn_vec3 n,
                                                    cairn_vec3 z)
{
    cairn_vec3 radial = cairn_add_scaled(d, -cairn_dot(d, axis), axis);
    double rho2 = cairn_dot(radial, radial), round = cairn_dot(z, cairn_cross(axis, radial));
    return rho2 > 0 ? cairn_dot(n, radial) * round * round / (rho2 * rho2) : 0;
}

/* The inside of a cylinder, at direction k. */
ANYWHERE static inline double cairn_tube_distance(const cairn_revolution *s, int k, double radius,
                                                  cairn_vec3 *normal)
{
    *normal = cairn_scale(-1, s->directions[k]);
    return radius - cairn_dot(s->d, s->directions[k]);
}

/* The inside of a cone with the angle between axis and wall given. */
ANYWHERE static inline double cairn_cone_distance(const cairn_revolution *s, int k, double sine,
                                                  double cosine, cairn_vec3 *normal)
{
    *normal = cairn_add_scaled(cairn_scale(sine, s->axis), -cosine, s->directions[k]);
    return cairn_dot(s->d, *normal);
}

/* A funnel: from the nearest point of its meridian, a segment, in the half-plane of direction k. */
ANYWHERE static inline double cairn_funnel_distance(const cairn_revolution *s, int k, double bottom,
                                                    double top, double height, cairn_vec3 *normal)
{
    cairn_vec3 e = s->directions[k];
    double slope = top - bottom;
    double along = (cairn_dot(s->d, e) - bottom) * slope + s->z * height;
    double t = along / (slope * slope + height * height);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    cairn_vec3 nearest = cairn_add_scaled(cairn_scale(t * height, s->axis), bottom + t * slope, e);
    cairn_vec3 away = cairn_sub(s->d, nearest);
    double distance = cairn_norm(away);
    *normal = distance > 0 ? cairn_scale(1 / distance, away) : cairn_scale(-1, e);
    return distance;
}

/* From inside a box: the outward normal of the nearest face, and how deep. */
ANYWHERE static inline cairn_vec3 cairn_box_way_out(cairn_vec3 p, cairn_vec3 half, int dimension,
                                                    double *depth)
{
    double room[3] = { half.x - fabs(p.x), half.y - fabs(p.y), half.z - fabs(p.z) };
    int axis = 0;
    for (int k = 1; k < dimension; k++)
        axis = room[k] < room[axis] ? k : axis;
    *depth = room[axis];
    return cairn_vec(axis == 0 ? (p.x < 0 ? -1 : 1) : 0, axis == 1 ? (p.y < 0 ? -1 : 1) : 0,
                     axis == 2 ? (p.z < 0 ? -1 : 1) : 0);
}

/* A solid box with half lengths `half`; p and the normal are in its frame. */
ANYWHERE static inline double cairn_box_distance(cairn_vec3 p, cairn_vec3 half, int dimension,
                                                 cairn_vec3 *normal)
{
    cairn_vec3 q = cairn_vec(cairn_clamped(p.x, half.x), cairn_clamped(p.y, half.y),
                             cairn_clamped(p.z, half.z));
    cairn_vec3 d = cairn_sub(p, q);
    double distance = cairn_norm(d), depth;
    *normal = cairn_box_way_out(p, half, dimension, &depth);
    if (distance == 0)
        return -depth;
    *normal = cairn_scale(1 / distance, d);
    return distance;
}

#endif
