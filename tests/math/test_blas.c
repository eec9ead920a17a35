/* test_blas.c - the linear algebra below the factorisations keeps to one thread, and leaves the
 * number of threads as the owner of the process has set it. */
#include "math/factor.h"

#include "tests/check.h"

/* In place of OpenBLAS' own, which in its serial build has no threads to set. */
static int blas_threads = 4, times_alone;

int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

int openblas_get_num_threads(void)
{
    return blas_threads;
}

void openblas_set_num_threads(int threads)
{
    blas_threads = threads;
    times_alone += threads == 1;
}

enum { SIZE = 200 }; /* more than what lu.c treats as dense */

/* The matrix with 2, 3, ... on its diagonal, and a right side of ones. */
typedef struct diagonal {
    int64_t start[SIZE + 1];
    int32_t column[SIZE];
    double value[SIZE], b[SIZE], x[SIZE];
    cairn_matrix A;
} diagonal;

static void make_diagonal(diagonal *d)
{
    for (int i = 0; i < SIZE; i++) {
        d->start[i] = i;
        d->column[i] = i;
        d->value[i] = 2 + i;
        d->b[i] = 1;
    }
    d->start[SIZE] = SIZE;
    d->A = (cairn_matrix){ SIZE, SIZE, d->start, d->column, d->value };
}

TEST(the_blas_has_one_thread_while_it_is_borrowed)
{
    blas_threads = 4;
    int threads = cairn_blas_borrow();
    CHECK_INT(threads, 4);
    CHECK_INT(blas_threads, 1);
    cairn_blas_give_back(threads);
    CHECK_INT(blas_threads, 4);
}

TEST(cholesky_leaves_the_threads_of_the_process_as_they_were)
{
    diagonal d;
    cairn_cholesky *factor;
    bool positive;
    make_diagonal(&d);
    blas_threads = 4;
    CHECK_OK(cairn_cholesky_create(&factor));
    CHECK_INT(blas_threads, 4);
    times_alone = 0;
    CHECK_OK(cairn_cholesky_factor(factor, &d.A, &positive));
    CHECK_OK(cairn_cholesky_solve(factor, d.b, d.x));
    CHECK_INT(blas_threads, 4);
    CHECK_INT(times_alone, 2); /* once to factorise, once to solve */
    CHECK_NEAR(d.x[2], 0.25, 1e-15);
    cairn_cholesky_destroy(factor);
}

TEST(lu_leaves_the_threads_of_the_process_as_they_were)
{
    diagonal d;
    cairn_lu *factor;
    bool regular;
    make_diagonal(&d);
    blas_threads = 4;
    CHECK_OK(cairn_lu_create(&factor));
    CHECK_INT(blas_threads, 4);
    times_alone = 0;
    CHECK_OK(cairn_lu_factor(factor, &d.A, &regular));
    CHECK_OK(cairn_lu_solve(factor, d.b, d.x));
    CHECK_INT(blas_threads, 4);
    CHECK_INT(times_alone, 2);
    CHECK_NEAR(d.x[2], 0.25, 1e-15);
    cairn_lu_destroy(factor);
}

GROUP(test_blas)
{
    RUN(CASE(the_blas_has_one_thread_while_it_is_borrowed),
        CASE(cholesky_leaves_the_threads_of_the_process_as_they_were),
        CASE(lu_leaves_the_threads_of_the_process_as_they_were));
}
