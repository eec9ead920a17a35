/* sparse.h - building and checking sparse matrices in compressed rows. */
#ifndef CAIRN_MATH_SPARSE_H
#define CAIRN_MATH_SPARSE_H

#include "base/arena.h"
#include "cairn/base.h"

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
