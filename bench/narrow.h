/* narrow.h - declarations that the narrow-phase benchmark shares with its peers. Bullet is C++ and
 * sees no types of cairn. */
#ifndef CAIRN_BENCH_NARROW_H
#define CAIRN_BENCH_NARROW_H

/* ---- Bullet's GJK and EPA on convex shapes known by their support maps ----------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* The farthest point of a shape in a direction, relative to its origin. */
typedef void cairn_bullet_support(const void *shape, const double direction[3], double point[3]);

typedef struct cairn_bullet_shape {
    const void *shape;
    double x[3];   /* m: origin                                        */
    double margin; /* m: radius of the ball that is swept over it      */
} cairn_bullet_shape;

/* Signed distance of one pair; a null pointer where Bullet is not installed. */
__attribute__((weak)) double cairn_bullet_distance(const cairn_bullet_shape *a,
                                                   const cairn_bullet_shape *b,
                                                   cairn_bullet_support *support);

#ifdef __cplusplus
}
#endif

/* ---- cairn and libccd ------------------------------------------------------------------------ */

#ifndef __cplusplus
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
#endif
