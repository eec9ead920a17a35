/* narrow.h - what the narrow-phase benchmark shares with its peers. */
#ifndef CAIRN_BENCH_NARROW_H
#define CAIRN_BENCH_NARROW_H

#include <time.h>

#include "collide/convex.h"

/* Seconds that this thread has run, whatever else the machine does. */
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

/* Seconds for all pairs; negative: this peer is not there. */
typedef struct cairn_bench_times {
    double gjk, mpr;
} cairn_bench_times;

/* Signed distances of all pairs: seconds, and how far they are from ours, over the size of each
 * pair. Negative: this peer is not there. */
typedef struct cairn_bench_answers {
    double seconds, median_error, worst_error;
} cairn_bench_answers;

/* narrow_ccd.c with libccd, narrow_alone.c without */
cairn_bench_times cairn_bench_ccd(const cairn_bench_pairs *pairs);
/* narrow_with_bullet.c with Bullet, narrow_no_bullet.c without; 3D */
cairn_bench_answers cairn_bench_bullet(const cairn_bench_pairs *pairs);

#endif
