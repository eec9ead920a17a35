/* run_vector.h - the few vector formulas that output needs. */
#ifndef CAIRN_IO_RUN_VECTOR_H
#define CAIRN_IO_RUN_VECTOR_H

#include <math.h>

#include "cairn/base.h"

/* a + s b */
static inline cairn_vec3 vector_add(cairn_vec3 a, double s, cairn_vec3 b)
{
    return (cairn_vec3){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}

static inline double vector_dot(cairn_vec3 a, cairn_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline cairn_vec3 vector_cross(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline double vector_norm(cairn_vec3 a)
{
    return sqrt(vector_dot(a, a));
}

/* a / |a|; zero stays zero. */
static inline cairn_vec3 vector_unit(cairn_vec3 a)
{
    double norm = vector_norm(a);
    return norm > 0 ? (cairn_vec3){ a.x / norm, a.y / norm, a.z / norm } : a;
}

/* q a q*, from body to world coordinates: a + 2 w (u x a) + 2 u x (u x a) */
static inline cairn_vec3 vector_rotate(cairn_quat q, cairn_vec3 a)
{
    cairn_vec3 u = { q.x, q.y, q.z };
    cairn_vec3 c = vector_cross(u, a);
    return vector_add(vector_add(a, 2 * q.w, c), 2, vector_cross(u, c));
}

/* Some unit vector at right angles to the unit vector a; in the plane z = 0 when a is. */
static inline cairn_vec3 vector_across(cairn_vec3 a)
{
    cairn_vec3 z = { 0, 0, 1 }, x = { 1, 0, 0 };
    return vector_unit(vector_cross(fabs(a.z) < 0.9 ? z : x, a));
}

#endif
