/* normals.h - frictionless problems as problems in their normal impulses alone.
 *
 * With mu = 0 everywhere the tangents are 0: a method that works on r whole moves three times (in
 * 2D twice) the numbers for nothing. A system of normals has one number for each contact:
 *     v = v_free + M^-1 N' r,   g = N v + w_N + b,   K = { r >= 0 },
 * N the normal rows of H. */
#ifndef CAIRN_BACKEND_NORMALS_H
#define CAIRN_BACKEND_NORMALS_H

#include "backend/backend.h"

/* Whether the impulses of a problem are its normals: in blocks, without friction, rows with bounds,
 * rolling and spinning. */
bool cairn_problem_is_normal(const cairn_problem *p);

/* The kernels of such a system: of problems that are normal only, one number for each contact.
 * `diagonals` and `sweep` are NULL. */
extern const cairn_kernels cairn_kernels_normals;

/* The normal impulses of r, and r from them with tangents 0. */
void cairn_normals_pack(const cairn_problem *p, const double *r, double *normals);
void cairn_normals_unpack(const cairn_problem *p, const double *normals, double *r);

#endif
