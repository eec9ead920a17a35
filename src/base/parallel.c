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

void cairn_parallel_for(int count, int grain, cairn_range_fn *work, void *context)
{
    int ranges = (count + grain - 1) / grain;
#pragma omp parallel for schedule(dynamic) if (ranges >= WORTH_IT)
    for (int k = 0; k < ranges; k++) {
        int begin = k * grain;
        int end = begin + grain < count ? begin + grain : count;
        work(begin, end, context);
    }
}
