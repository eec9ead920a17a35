/* moments.h - volume integrals of solids at density 1, summed piece by piece. */
#ifndef CAIRN_SHAPE_MOMENTS_H
#define CAIRN_SHAPE_MOMENTS_H

#include "cairn/shape.h"

/* In 2D integrals over the area, z = 0. Zero is the empty solid. */
typedef struct cairn_moments {
    double volume;          /* int 1     */
    cairn_vec3 first;       /* int x     */
    cairn_symmetric second; /* int x x'  */
} cairn_moments;

/* S += factor (a b' + b a')/2 */
void cairn_symmetric_add(cairn_symmetric *s, double factor, cairn_vec3 a, cairn_vec3 b);
/* A solid that is symmetric to the three planes of its frame: volume V and int x^2, y^2, z^2. */
cairn_moments cairn_moments_symmetric(double volume, double xx, double yy, double zz);
/* Add a piece. */
void cairn_moments_add(cairn_moments *sum, const cairn_moments *piece);
/* The same solid seen from the outer frame of a pose. */
cairn_moments cairn_moments_placed(const cairn_moments *m, const cairn_pose *pose);
/* Solid of revolution about z, turned so that z goes to the unit vector `axis`. */
cairn_moments cairn_moments_about_axis(const cairn_moments *m, cairn_vec3 axis);
/* Add the tetrahedron (0, a, b, c), negative when a, b, c run clockwise seen from outside. The sum
 * over the triangles of a closed surface is the solid inside (divergence theorem). */
void cairn_moments_add_tetrahedron(cairn_moments *sum, cairn_vec3 a, cairn_vec3 b, cairn_vec3 c);
/* Add the triangle (0, a, b) of the plane, negative when it runs clockwise. */
void cairn_moments_add_triangle(cairn_moments *sum, cairn_vec3 a, cairn_vec3 b);
/* Mass, centre, and inertia about the centre: J = tr(S) 1 - S, S the central second moments. In 2D
 * only J_zz = S_xx + S_yy is set. */
cairn_mass cairn_moments_mass(const cairn_moments *m, int dimension);

#endif
