/* narrow.h - what the narrow-phase benchmark shares with its peers. */
#ifndef CAIRN_BENCH_NARROW_H
#define CAIRN_BENCH_NARROW_H

#include "collide/convex.h"

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

/* narrow_ccd.c with libccd, narrow_alone.c without */
cairn_bench_times cairn_bench_ccd(const cairn_bench_pairs *pairs);

#endif
