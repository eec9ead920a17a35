/* blas.c - the BLAS under the sparse factorisations runs on one thread: its blocks are small, idle
 * threads cost more than they give, and the same bits come out whatever the machine has. Only
 * OpenBLAS has threads of its own and a call to say so; with another BLAS the symbol is missing. */
#include "math/blas.h"

extern void openblas_set_num_threads(int threads) __attribute__((weak));

void cairn_blas_use_one_thread(void)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
}
