/* narrow.h - declarations that the narrow-phase benchmark shares with its peers. */
#ifndef CAIRN_BENCH_NARROW_H
#define CAIRN_BENCH_NARROW_H

#include <time.h>

#include "collide/convex.h"

/* CPU seconds of this thread. */
static inline double cairn_bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct cairn_bench_pairs {
    int count;
    cairn_collider (*at)[2];
    cairn_convex (*convex)[2];
    int overlapping;
} cairn_bench_pairs;

/* Seconds for all pairs; negative: not measured. */
typedef struct cairn_bench_times {
    double gjk, mpr;
} cairn_bench_times;

/* narrow_ccd.c, in 3D; a null pointer where libccd is not installed. */
__attribute__((weak)) cairn_bench_times cairn_bench_ccd(const cairn_bench_pairs *pairs);

#endif
