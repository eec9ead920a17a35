/* factor.h - matrices: dense and sparse LU, sparse Cholesky, the principal axes of a 3 x 3 matrix,
 * and sparse matrices in compressed rows. */
#ifndef CAIRN_MATH_FACTOR_H
#define CAIRN_MATH_FACTOR_H

#include <stdbool.h>

#include "base/memory.h"
#include "cairn/base.h"

/* ---- the BLAS below ---------------------------------------------------------------------- */

/* The number of threads of the BLAS that the sparse factorisations use. */

/* Set it to one until cairn_blas_give_back, which takes the value returned here. Call the two
 * around each factorisation and solve: the setting is one of the whole process, and belongs to the
 * program that uses the library. */
int cairn_blas_borrow(void);
void cairn_blas_give_back(int threads);

/* ---- dense LU ---------------------------------------------------------------------------- */

/* LU factors of small dense matrices, stored by rows. */

/* P A = L U in place, with partial pivoting; pivot[k] is the row that was swapped with row k. False
 * if a column has no pivot: A is singular or not finite, and there are no factors. */
bool cairn_dense_factor(int n, double *A, int *pivot);

/* x = A^-1 x with these factors. */
void cairn_dense_solve(int n, const double *factors, const int *pivot, double *x);

/* ---- LU ---------------------------------------------------------------------------------- */

/* Factorisation of unsymmetric matrices: dense with partial pivoting when small, by UMFPACK when
 * large. UMFPACK keeps memory of its own; it does not pass through cairn's allocator. */

typedef struct cairn_lu cairn_lu;

cairn_status cairn_lu_create(cairn_lu **out);
void cairn_lu_destroy(cairn_lu *lu);

/* Factor the square matrix A. The ordering of the last call is reused if the pattern is the same,
 * which is checked here. *regular is false if A is singular: there is then no factor. */
cairn_status cairn_lu_factor(cairn_lu *lu, const cairn_matrix *A, bool *regular);

/* x = A^-1 b with the last factor; x may be b. */
cairn_status cairn_lu_solve(cairn_lu *lu, const double *b, double *x);

/* ---- Cholesky ---------------------------------------------------------------------------- */

/* Sparse factorisation of symmetric positive definite matrices, by CHOLMOD. CHOLMOD keeps memory
 * of its own; it does not pass through cairn's allocator. */

typedef struct cairn_cholesky cairn_cholesky;

cairn_status cairn_cholesky_create(cairn_cholesky **out);
void cairn_cholesky_destroy(cairn_cholesky *c);

/* Factor the symmetric matrix A, of which only the entries with column >= row are read (its upper
 * triangle by rows). The ordering of the last call is reused if the pattern is the same, which is
 * checked here. *positive is false if A is not positive definite to working precision; there is
 * then no factor. */
cairn_status cairn_cholesky_factor(cairn_cholesky *c, const cairn_matrix *A, bool *positive);

/* x = A^-1 b with the last factor; x may be b. */
cairn_status cairn_cholesky_solve(cairn_cholesky *c, const double *b, double *x);

/* Floating-point operations of a factorisation of the last pattern; entries of its factor. */
double cairn_cholesky_flops(const cairn_cholesky *c);
double cairn_cholesky_fill(const cairn_cholesky *c);

/* ---- principal axes ---------------------------------------------------------------------- */

/* Principal axes of a symmetric 3 x 3 matrix. */

/* A = R(q) diag(values) R(q)': the axes are the columns of R(q). The values are not sorted: a
 * matrix that is diagonal to rounding gives q = 1 and its diagonal. */
void cairn_eigen_symmetric(const cairn_symmetric *a, cairn_vec3 *values, cairn_quat *q);
/* The unit quaternion of a rotation matrix given by its columns. */
cairn_quat cairn_quat_of_columns(cairn_vec3 x, cairn_vec3 y, cairn_vec3 z);

/* ---- sparse matrices in compressed rows ------------------------------------------------------ */

/* Entries of a matrix in any order; entries at one place are added up. */
typedef struct cairn_triplets {
    int64_t count;
    const int32_t *row, *column;
    const double *value;
} cairn_triplets;

/* The matrix of these entries, whose indices must be in range; columns ascend in each row. Memory
 * is the arena's. */
cairn_status cairn_sparse_gather(int rows, int columns, const cairn_triplets *entries,
                                 cairn_arena *arena, cairn_matrix *out);

/* A'; columns ascend in each row. */
cairn_status cairn_sparse_transpose(const cairn_matrix *A, cairn_arena *arena, cairn_matrix *out);

/* Entry (row, column); 0 where none is stored. */
double cairn_sparse_entry(const cairn_matrix *A, int row, int column);

/* Check that starts do not decrease, columns are in range and ascending, and numbers are finite.
 * `name` is the name of the matrix in `error` (may be NULL). */
cairn_status cairn_sparse_check(const cairn_matrix *A, const char *name, cairn_error *error);

#endif
