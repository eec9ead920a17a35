/* narrow_bullet.h - Bullet's GJK and EPA on convex shapes known by their support maps. What C and
 * C++ share: no types of cairn. */
#ifndef CAIRN_BENCH_NARROW_BULLET_H
#define CAIRN_BENCH_NARROW_BULLET_H

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
#endif
