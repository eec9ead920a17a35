/* normals.h - frictionless problems as problems in their normal impulses alone.
 *
 * With mu = 0 everywhere the tangents are 0: a method that works on r whole moves three times (in
 * 2D twice) the numbers for nothing. A system of normals has one number for each contact:
 *     v = v_free + M^-1 N' r,   g = N v + w_N + b,   K = { r >= 0 },
 * N the normal rows of H. */
#ifndef CAIRN_BACKEND_NORMALS_H
#define CAIRN_BACKEND_NORMALS_H

#include "backend/host/host.h"

/* Whether the impulses of a problem are its normals: in blocks, without friction, rows with bounds,
 * rolling and spinning. */
bool cairn_problem_is_normal(const cairn_problem *p);

/* What a system of such a problem has besides. */
typedef struct cairn_normals {
    bool usable;   /* the problem is normal              */
    double *shift; /* w_N + b of each contact, where it is */
} cairn_normals;

/* Sees to it that the system has its normals, usable or not: made once. */
cairn_status cairn_normals_find(cairn_system *s);

/* As in the table of the back end, on arrays of one number for each contact; where normals are
 * usable. */
void cairn_normals_gradient(const cairn_system *s, const double *r, double *v, double *g);
void cairn_normals_project(const cairn_system *s, double *r);

/* The normal impulses of r, and r from them with tangents 0. */
void cairn_normals_pack(const cairn_problem *p, const double *r, double *normals);
void cairn_normals_unpack(const cairn_problem *p, const double *normals, double *r);

#endif
