/* factor.c - factors of matrices, see factor.h: small ones by dense.c, large ones by UMFPACK and
 * CHOLMOD. A core without SuiteSparse has factor_none.c in its place. */
#include "math/factor.h"

#include <cholmod.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <umfpack.h>

#include "base/common.h"
#include "base/memory.h"

/* ---- the BLAS below ---------------------------------------------------------------------- */

/* The BLAS under the sparse factorisations runs on one thread: its blocks are small, idle threads
 * cost more than they gain, and the bits of the result do not depend on the machine. Only OpenBLAS
 * has threads of its own and functions to set their number; with another BLAS the weak symbols are
 * missing, that is, NULL. */

extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

int cairn_blas_borrow(void)
{
    if (!openblas_get_num_threads || !openblas_set_num_threads)
        return 1;
    int threads = openblas_get_num_threads();
    if (threads > 1)
        openblas_set_num_threads(1);
    return threads;
}

void cairn_blas_give_back(int threads)
{
    if (threads > 1)
        openblas_set_num_threads(threads);
}

/* ---- LU ---------------------------------------------------------------------------------- */

/* Up to DENSE_UP_TO unknowns the dense factorisation is used, above it UMFPACK. UMFPACK stores
 * matrices by columns: the rows of A are passed as the columns of A', and solves are those with the
 * transpose of A' (UMFPACK_At). */

enum { DENSE_UP_TO = 180 };

struct cairn_lu {
    int size;
    /* dense */
    double *entry; /* size x size by rows                        */
    int *pivot;    /* size                                       */
    size_t entry_room, pivot_room;
    /* sparse: a copy of A, whose pattern the next call is compared with, and of the right side */
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
    cairn_lu *lu = cairn_memory_zeroed(1, sizeof *lu);
    *out = lu;
    if (!lu)
        return CAIRN_NO_MEMORY;
    umfpack_dl_defaults(lu->control);
    lu->control[UMFPACK_PRL] = 0;    /* print nothing */
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

/* The full matrix; entries at the same place are added. */
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

/* UMFPACK's status as ours. Warnings, such as a singular matrix, are positive and not failures. */
static cairn_status meaning(SuiteSparse_long status)
{
    if (status >= UMFPACK_OK)
        return CAIRN_OK;
    return status == UMFPACK_ERROR_out_of_memory ? CAIRN_NO_MEMORY : CAIRN_BAD_INPUT;
}

/* Copy A; *same becomes whether its pattern equals that of the last call. */
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
    int threads = cairn_blas_borrow();
    status = umfpack_dl_numeric(lu->start, lu->column, lu->value, lu->symbolic, &lu->numeric,
                                lu->control, NULL);
    cairn_blas_give_back(threads);
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
    /* UMFPACK requires different arrays for the right side and the solution; ours may be the
     * same */
    TRY(cairn_memory_reserve((void **)&lu->work, &lu->work_room, (size_t)lu->size, sizeof(double)));
    memcpy(lu->work, b, bytes);
    int threads = cairn_blas_borrow();
    SuiteSparse_long status = umfpack_dl_solve(UMFPACK_At, lu->start, lu->column, lu->value, x,
                                               lu->work, lu->numeric, lu->control, NULL);
    cairn_blas_give_back(threads);
    return meaning(status);
}

/* ---- Cholesky ---------------------------------------------------------------------------- */

struct cairn_cholesky {
    cholmod_common common;
    cholmod_sparse *A; /* copy: lower triangle by columns = upper triangle by rows */
    cholmod_factor *L;
    cholmod_dense *x, *y, *e; /* work space that CHOLMOD reuses between solves      */
    double flops, fill;
};

/* The library never prints; failures are returned as a status. */
static void be_silent(int status, const char *file, int line, const char *message)
{
    (void)status, (void)file, (void)line, (void)message;
}

cairn_status cairn_cholesky_create(cairn_cholesky **out)
{
    cairn_cholesky *c = cairn_memory_zeroed(1, sizeof *c);
    *out = c;
    if (!c)
        return CAIRN_NO_MEMORY;
    cholmod_l_start(&c->common);
    c->common.print = 0;
    c->common.error_handler = be_silent;
    c->common.quick_return_if_not_posdef = 1; /* such a factor is not used */
    c->common.final_ll = 1; /* L L' detects an indefinite matrix; L D L' would not */
    c->common.nmethods = 2; /* try the given order and AMD; METIS is not needed at these sizes */
    return CAIRN_OK;
}

static void forget_factor(cairn_cholesky *c)
{
    cholmod_l_free_factor(&c->L, &c->common);
    cholmod_l_free_sparse(&c->A, &c->common);
}

void cairn_cholesky_destroy(cairn_cholesky *c)
{
    if (!c)
        return;
    forget_factor(c);
    cholmod_l_free_dense(&c->x, &c->common);
    cholmod_l_free_dense(&c->y, &c->common);
    cholmod_l_free_dense(&c->e, &c->common);
    cholmod_l_finish(&c->common);
    cairn_memory_free(c);
}

/* Entries on and above the diagonal. */
static int64_t upper_entries(const cairn_matrix *A)
{
    int64_t count = 0;
    for (int row = 0; row < A->rows; row++)
        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++)
            count += A->column[k] >= row;
    return count;
}

/* Copy the upper triangle into c->A; true if the pattern equals the one already there. */
static bool copy_upper(cairn_cholesky *c, const cairn_matrix *A)
{
    SuiteSparse_long *start = c->A->p, *index = c->A->i;
    double *value = c->A->x;
    int64_t at = 0;
    bool same = true;
    for (int row = 0; row < A->rows; row++) {
        same = same && start[row] == at;
        start[row] = at;
        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) {
            if (A->column[k] < row)
                continue;
            same = same && index[at] == A->column[k];
            index[at] = A->column[k];
            value[at++] = A->value[k];
        }
    }
    same = same && start[A->rows] == at;
    start[A->rows] = at;
    return same;
}

/* The ordering and symbolic factorisation of a new pattern. */
static cairn_status analyse(cairn_cholesky *c)
{
    cholmod_l_free_factor(&c->L, &c->common);
    c->L = cholmod_l_analyze(c->A, &c->common);
    c->flops = c->common.fl;
    c->fill = c->common.lnz;
    return c->L ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_status cairn_cholesky_factor(cairn_cholesky *c, const cairn_matrix *A, bool *positive)
{
    size_t size = (size_t)A->rows;
    int64_t entries = upper_entries(A);
    bool fits = c->A && c->A->nrow == size && c->A->nzmax == (size_t)entries;
    *positive = false;
    if (!fits) {
        forget_factor(c);
        c->A = cholmod_l_allocate_sparse(size, size, (size_t)entries, 1, 1, -1, CHOLMOD_REAL,
                                         &c->common);
        if (!c->A)
            return CAIRN_NO_MEMORY;
        /* -1 everywhere, so that copy_upper finds another pattern */
        memset(c->A->p, 0xff, (size + 1) * sizeof(SuiteSparse_long));
        if (entries)
            memset(c->A->i, 0xff, (size_t)entries * sizeof(SuiteSparse_long));
    }
    bool same = copy_upper(c, A);
    if (!same || !c->L)
        TRY(analyse(c));
    int threads = cairn_blas_borrow();
    bool done = cholmod_l_factorize(c->A, c->L, &c->common);
    cairn_blas_give_back(threads);
    if (!done && c->common.status < CHOLMOD_OK)
        return CAIRN_NO_MEMORY;
    /* `minor` is the column at which the factorisation broke down; n: it did not */
    *positive = c->L->minor == c->L->n;
    return CAIRN_OK;
}

cairn_status cairn_cholesky_solve(cairn_cholesky *c, const double *b, double *x)
{
    size_t size = c->A->nrow;
    cholmod_dense right = { .nrow = size,
                            .ncol = 1,
                            .nzmax = size,
                            .d = size,
                            .x = (void *)b,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE };
    if (size == 0)
        return CAIRN_OK;
    int threads = cairn_blas_borrow();
    bool done =
        cholmod_l_solve2(CHOLMOD_A, c->L, &right, NULL, &c->x, NULL, &c->y, &c->e, &c->common);
    cairn_blas_give_back(threads);
    if (!done)
        return CAIRN_NO_MEMORY;
    memcpy(x, c->x->x, size * sizeof(double));
    return CAIRN_OK;
}

double cairn_cholesky_flops(const cairn_cholesky *c)
{
    return c->flops;
}

double cairn_cholesky_fill(const cairn_cholesky *c)
{
    return c->fill;
}
