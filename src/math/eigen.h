/* eigen.h - principal axes of a symmetric 3 x 3 matrix. */
#ifndef CAIRN_MATH_EIGEN_H
#define CAIRN_MATH_EIGEN_H

#include "cairn/base.h"

/* A = R(q) diag(values) R(q)': the axes are the columns of R(q). A matrix that is diagonal to
 * rounding gives q = 1 and its diagonal in place. */
void cairn_eigen_symmetric(const cairn_symmetric *a, cairn_vec3 *values, cairn_quat *q);
/* The unit quaternion of a rotation matrix given by its columns. */
cairn_quat cairn_quat_of_columns(cairn_vec3 x, cairn_vec3 y, cairn_vec3 z);

#endif
