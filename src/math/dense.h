/* dense.h - LU factors of small dense matrices, stored by rows. */
#ifndef CAIRN_MATH_DENSE_H
#define CAIRN_MATH_DENSE_H

#include <stdbool.h>

/* P A = L U in place, with partial pivoting; `pivot` (n) says which rows changed places. False when
 * a column has no pivot: A is singular or not finite, and there are no factors. */
bool cairn_dense_factor(int n, double *A, int *pivot);

/* x = A^-1 x with these factors. */
void cairn_dense_solve(int n, const double *factors, const int *pivot, double *x);

#endif
