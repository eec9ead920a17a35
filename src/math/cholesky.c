/* cholesky.c - see cholesky.h. */
#include "math/cholesky.h"

#include <cholmod.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/blas.h"

struct cairn_cholesky {
    cholmod_common common;
    cholmod_sparse *A; /* lower triangle by columns = upper triangle by rows       */
    cholmod_factor *L;
    cholmod_dense *x, *y, *e; /* kept between solves                                */
    double flops, fill;
};

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
    cairn_blas_use_one_thread();
    cholmod_l_start(&c->common);
    c->common.print = 0;
    c->common.error_handler = be_silent;
    c->common.quick_return_if_not_posdef = 1;
    c->common.final_ll = 1; /* L L': an indefinite matrix is noticed, unlike with L D L' */
    c->common.nmethods = 2; /* the given order, or AMD; METIS is not needed at these sizes */
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

static int64_t upper_entries(const cairn_matrix *A)
{
    int64_t count = 0;
    for (int row = 0; row < A->rows; row++)
        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++)
            count += A->column[k] >= row;
    return count;
}

/* Copy the upper triangle into c->A; true when the pattern is the one already there. */
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
        memset(c->A->p, 0xff, (size + 1) * sizeof(SuiteSparse_long));
        if (entries)
            memset(c->A->i, 0xff, (size_t)entries * sizeof(SuiteSparse_long));
    }
    bool same = copy_upper(c, A);
    if (!same || !c->L)
        TRY(analyse(c));
    if (!cholmod_l_factorize(c->A, c->L, &c->common) && c->common.status < CHOLMOD_OK)
        return CAIRN_NO_MEMORY;
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
    if (!cholmod_l_solve2(CHOLMOD_A, c->L, &right, NULL, &c->x, NULL, &c->y, &c->e, &c->common))
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
