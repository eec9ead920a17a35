/* parallel.c - the one parallel loop, on OpenMP. */
#include "base/parallel.h"

#include <omp.h>

enum { WORTH_IT = 4 }; /* ranges: below that, waking threads costs more than it saves */

void cairn_parallel_threads(int threads)
{
    omp_set_num_threads(threads > 0 ? threads : omp_get_num_procs());
}

int cairn_parallel_width(void)
{
    return omp_get_max_threads();
}

int cairn_parallel_cores(void)
{
    return omp_get_num_procs();
}

static void work_on(int k, int count, int grain, cairn_range_fn *work, void *context)
{
    int begin = k * grain;
    work(begin, begin + grain < count ? begin + grain : count, context);
}

/* OpenMP makes a team even of one thread, which takes longer than some sweeps do. */
void cairn_parallel_for(int count, int grain, cairn_range_fn *work, void *context)
{
    int ranges = (count + grain - 1) / grain;
    if (ranges < WORTH_IT || omp_get_max_threads() == 1) {
        for (int k = 0; k < ranges; k++)
            work_on(k, count, grain, work, context);
        return;
    }
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < ranges; k++)
        work_on(k, count, grain, work, context);
}
