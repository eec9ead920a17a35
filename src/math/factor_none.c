/* factor_none.c - the sparse factors of factor.h in a build without SuiteSparse: they are refused.
 * A core without file formats may be built so, see CMakeLists.txt. */
#include <stddef.h>

#include "math/factor.h"

int cairn_blas_borrow(void)
{
    return 1;
}

void cairn_blas_give_back(int threads)
{
    (void)threads;
}

cairn_status cairn_lu_create(cairn_lu **out)
{
    *out = NULL;
    return CAIRN_UNSUPPORTED;
}

void cairn_lu_destroy(cairn_lu *lu)
{
    (void)lu;
}

cairn_status cairn_lu_factor(cairn_lu *lu, const cairn_matrix *A, bool *regular)
{
    (void)lu, (void)A;
    *regular = false;
    return CAIRN_UNSUPPORTED;
}

cairn_status cairn_lu_solve(cairn_lu *lu, const double *b, double *x)
{
    (void)lu, (void)b, (void)x;
    return CAIRN_UNSUPPORTED;
}

cairn_status cairn_cholesky_create(cairn_cholesky **out)
{
    *out = NULL;
    return CAIRN_UNSUPPORTED;
}

void cairn_cholesky_destroy(cairn_cholesky *c)
{
    (void)c;
}

cairn_status cairn_cholesky_factor(cairn_cholesky *c, const cairn_matrix *A, bool *positive)
{
    (void)c, (void)A;
    *positive = false;
    return CAIRN_UNSUPPORTED;
}

cairn_status cairn_cholesky_solve(cairn_cholesky *c, const double *b, double *x)
{
    (void)c, (void)b, (void)x;
    return CAIRN_UNSUPPORTED;
}

double cairn_cholesky_flops(const cairn_cholesky *c)
{
    (void)c;
    return 0;
}

double cairn_cholesky_fill(const cairn_cholesky *c)
{
    (void)c;
    return 0;
}
