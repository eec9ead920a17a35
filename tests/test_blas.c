/* test_blas.c - the linear algebra below the factorisations keeps to one thread. */
#include "math/blas.h"

#include "check.h"
#include "math/cholesky.h"

extern int openblas_get_num_threads(void) __attribute__((weak));

TEST(the_blas_uses_one_thread_where_it_can_be_asked)
{
    cairn_cholesky *factor;
    CHECK_OK(cairn_cholesky_create(&factor)); /* asks for one thread */
    cairn_cholesky_destroy(factor);
    if (!openblas_get_num_threads)
        skip();
    CHECK_INT(openblas_get_num_threads(), 1);
}

int main(void)
{
    RUN(CASE(the_blas_uses_one_thread_where_it_can_be_asked));
}
