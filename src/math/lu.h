/* lu.h - factorisation of unsymmetric matrices: dense with partial pivoting when small, by UMFPACK
 * when large. UMFPACK keeps memory of its own; it does not pass through cairn's allocator. */
#ifndef CAIRN_MATH_LU_H
#define CAIRN_MATH_LU_H

#include "cairn/problem.h"

typedef struct cairn_lu cairn_lu;

cairn_status cairn_lu_create(cairn_lu **out);
void cairn_lu_destroy(cairn_lu *lu);

/* Factor the square matrix A. The ordering of the last call is used again while the pattern stays
 * the same; a changed pattern is noticed. *regular is false when A is singular: there is
 * then no factor. */
cairn_status cairn_lu_factor(cairn_lu *lu, const cairn_matrix *A, bool *regular);

/* x = A^-1 b with the last factor; x may be b. */
cairn_status cairn_lu_solve(cairn_lu *lu, const double *b, double *x);

#endif
