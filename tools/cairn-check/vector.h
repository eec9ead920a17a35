/* vector.h - vectors and quaternions of the checker, written anew on purpose. */
#ifndef CHECK_VECTOR_H
#define CHECK_VECTOR_H

#include <math.h>

typedef struct vec {
    double x, y, z;
} vec;

/* Body to world; w is the real part. */
typedef struct quat {
    double w, x, y, z;
} quat;

static inline vec vec_add(vec a, double s, vec b) /* a + s b */
{
    return (vec){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}

static inline vec vec_times(double s, vec a)
{
    return (vec){ s * a.x, s * a.y, s * a.z };
}

static inline double vec_dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec vec_cross(vec a, vec b)
{
    return (vec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline double vec_norm(vec a)
{
    return sqrt(vec_dot(a, a));
}

/* Componentwise: a diagonal matrix times a vector. */
static inline vec vec_scale(vec d, vec a)
{
    return (vec){ d.x * a.x, d.y * a.y, d.z * a.z };
}

static inline quat quat_product(quat a, quat b)
{
    return (quat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                   a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
                   a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x };
}

static inline quat quat_conjugate(quat q)
{
    return (quat){ q.w, -q.x, -q.y, -q.z };
}

static inline double quat_norm(quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

/* The turn by |angle| about the direction of `angle`. */
static inline quat quat_turn(vec angle)
{
    double half = 0.5 * vec_norm(angle);
    double ratio = half > 1e-4 ? 0.5 * sin(half) / half : 0.5 - half * half / 12;
    return (quat){ cos(half), ratio * angle.x, ratio * angle.y, ratio * angle.z };
}

/* The angle vector of a turn, at most pi long. */
static inline vec quat_angle(quat q)
{
    vec s = q.w < 0 ? (vec){ -q.x, -q.y, -q.z } : (vec){ q.x, q.y, q.z };
    double sine = vec_norm(s), angle = 2 * atan2(sine, fabs(q.w));
    return vec_times(sine > 1e-8 ? angle / sine : 2, s);
}

/* R(q) a */
static inline vec quat_rotate(quat q, vec a)
{
    vec axis = { q.x, q.y, q.z }, t = vec_times(2, vec_cross(axis, a));
    return vec_add(vec_add(a, q.w, t), 1, vec_cross(axis, t));
}

/* R(q)' a */
static inline vec quat_rotate_back(quat q, vec a)
{
    return quat_rotate(quat_conjugate(q), a);
}

#endif
