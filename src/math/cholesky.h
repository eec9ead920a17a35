/* cholesky.h - sparse factorisation of symmetric positive definite matrices, by CHOLMOD.
 * CHOLMOD keeps memory of its own; it does not pass through cairn's allocator. */
#ifndef CAIRN_MATH_CHOLESKY_H
#define CAIRN_MATH_CHOLESKY_H

#include "cairn/problem.h"

typedef struct cairn_cholesky cairn_cholesky;

cairn_status cairn_cholesky_create(cairn_cholesky **out);
void cairn_cholesky_destroy(cairn_cholesky *c);

/* Factor the symmetric matrix A, of which only the entries with column >= row are read (its upper
 * triangle by rows). The ordering of the last call is used again while the pattern stays the same;
 * a changed pattern is noticed. *positive is false when A is not positive definite to working
 * precision; there is then no factor. */
cairn_status cairn_cholesky_factor(cairn_cholesky *c, const cairn_matrix *A, bool *positive);

/* x = A^-1 b with the last factor; x may be b. */
cairn_status cairn_cholesky_solve(cairn_cholesky *c, const double *b, double *x);

/* Multiplications that a factorisation of the last pattern takes; entries of its factor. */
double cairn_cholesky_flops(const cairn_cholesky *c);
double cairn_cholesky_fill(const cairn_cholesky *c);

#endif
