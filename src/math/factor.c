/* lu.c - see lu.h.
 *
 * Up to DENSE_UP_TO unknowns dense.c; above, UMFPACK, which is given the rows of A as the columns
 * of A' and solves with its transpose. */
#include "math/lu.h"

#include <string.h>
#include <umfpack.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/blas.h"
#include "math/dense.h"

enum { DENSE_UP_TO = 180 };

struct cairn_lu {
    int size;
    /* dense */
    double *entry; /* size x size by rows                        */
    int *pivot;    /* size                                       */
    size_t entry_room, pivot_room;
    /* sparse: a copy of A, and of the right side */
    double *work;
    size_t work_room;
    SuiteSparse_long *start, *column;
    double *value;
    size_t start_room, column_room, value_room;
    void *symbolic, *numeric;
    double control[UMFPACK_CONTROL];
};

cairn_status cairn_lu_create(cairn_lu **out)
{
    cairn_blas_use_one_thread();
    cairn_lu *lu = cairn_memory_zeroed(1, sizeof *lu);
    *out = lu;
    if (!lu)
        return CAIRN_NO_MEMORY;
    umfpack_dl_defaults(lu->control);
    lu->control[UMFPACK_PRL] = 0;
    lu->control[UMFPACK_IRSTEP] = 0; /* no iterative refinement: the caller iterates anyway */
    return CAIRN_OK;
}

void cairn_lu_destroy(cairn_lu *lu)
{
    if (!lu)
        return;
    umfpack_dl_free_numeric(&lu->numeric);
    umfpack_dl_free_symbolic(&lu->symbolic);
    cairn_memory_free(lu->entry);
    cairn_memory_free(lu->work);
    cairn_memory_free(lu->pivot);
    cairn_memory_free(lu->start);
    cairn_memory_free(lu->column);
    cairn_memory_free(lu->value);
    cairn_memory_free(lu);
}

/* ---- dense ---------------------------------------------------------------------------------- */

static void spread(const cairn_matrix *A, double *entry)
{
    size_t n = (size_t)A->rows;
    memset(entry, 0, n * n * sizeof(double));
    for (size_t row = 0; row < n; row++)
        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++)
            entry[row * n + (size_t)A->column[k]] += A->value[k];
}

static cairn_status factor_dense(cairn_lu *lu, const cairn_matrix *A, bool *regular)
{
    size_t size = (size_t)A->rows;
    lu->size = A->rows;
    *regular = true;
    if (size == 0)
        return CAIRN_OK;
    TRY(cairn_memory_reserve((void **)&lu->entry, &lu->entry_room, size * size, sizeof(double)));
    TRY(cairn_memory_reserve((void **)&lu->pivot, &lu->pivot_room, size, sizeof(int)));
    spread(A, lu->entry);
    *regular = cairn_dense_factor(A->rows, lu->entry, lu->pivot);
    return CAIRN_OK;
}

/* ---- sparse --------------------------------------------------------------------------------- */

/* Warnings (a singular matrix) are not failures. */
static cairn_status meaning(SuiteSparse_long status)
{
    if (status >= UMFPACK_OK)
        return CAIRN_OK;
    return status == UMFPACK_ERROR_out_of_memory ? CAIRN_NO_MEMORY : CAIRN_BAD_INPUT;
}

/* Copy A; *same tells whether its pattern is the one already there. */
static cairn_status copy_matrix(cairn_lu *lu, const cairn_matrix *A, bool *same)
{
    size_t rows = (size_t)A->rows, entries = (size_t)A->start[A->rows];
    size_t size = sizeof(SuiteSparse_long);
    *same = lu->symbolic && (size_t)lu->size == rows && (size_t)lu->start[rows] == entries;
    TRY(cairn_memory_reserve((void **)&lu->start, &lu->start_room, rows + 1, size));
    TRY(cairn_memory_reserve((void **)&lu->column, &lu->column_room, entries, size));
    TRY(cairn_memory_reserve((void **)&lu->value, &lu->value_room, entries, sizeof(double)));
    for (size_t i = 0; i <= rows; i++) {
        *same = *same && lu->start[i] == A->start[i];
        lu->start[i] = A->start[i];
    }
    for (size_t k = 0; k < entries; k++) {
        *same = *same && lu->column[k] == A->column[k];
        lu->column[k] = A->column[k];
    }
    memcpy(lu->value, A->value, entries * sizeof(double));
    return CAIRN_OK;
}

static cairn_status factor_sparse(cairn_lu *lu, const cairn_matrix *A, bool *regular)
{
    SuiteSparse_long n = A->rows, status;
    bool same;
    *regular = false;
    umfpack_dl_free_numeric(&lu->numeric);
    TRY(copy_matrix(lu, A, &same));
    lu->size = A->rows;
    if (!same) {
        umfpack_dl_free_symbolic(&lu->symbolic);
        status = umfpack_dl_symbolic(n, n, lu->start, lu->column, lu->value, &lu->symbolic,
                                     lu->control, NULL);
        TRY(meaning(status));
    }
    status = umfpack_dl_numeric(lu->start, lu->column, lu->value, lu->symbolic, &lu->numeric,
                                lu->control, NULL);
    *regular = status == UMFPACK_OK;
    return meaning(status);
}

/* ---- both ----------------------------------------------------------------------------------- */

cairn_status cairn_lu_factor(cairn_lu *lu, const cairn_matrix *A, bool *regular)
{
    if (A->rows > DENSE_UP_TO)
        return factor_sparse(lu, A, regular);
    return factor_dense(lu, A, regular);
}

cairn_status cairn_lu_solve(cairn_lu *lu, const double *b, double *x)
{
    size_t bytes = (size_t)lu->size * sizeof(double);
    if (lu->size <= DENSE_UP_TO) {
        if (lu->size && x != b)
            memcpy(x, b, bytes);
        cairn_dense_solve(lu->size, lu->entry, lu->pivot, x);
        return CAIRN_OK;
    }
    TRY(cairn_memory_reserve((void **)&lu->work, &lu->work_room, (size_t)lu->size, sizeof(double)));
    memcpy(lu->work, b, bytes);
    SuiteSparse_long status = umfpack_dl_solve(UMFPACK_At, lu->start, lu->column, lu->value, x,
                                               lu->work, lu->numeric, lu->control, NULL);
    return meaning(status);
}
