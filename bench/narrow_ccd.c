/* narrow_ccd.c - libccd on the same pairs: overlap and depth, by GJK with EPA and by MPR. */
#include <ccd/ccd.h>

#include "math/vec.h"
#include "narrow.h"

static void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out)
{
    const cairn_convex *c = object;
    cairn_vec3 d = { direction->v[0], direction->v[1], direction->v[2] };
    cairn_vec3 p = cairn_add(c->x, cairn_convex_support(c, d));
    ccdVec3Set(out, p.x, p.y, p.z);
}

static void centre(const void *object, ccd_vec3_t *out)
{
    const cairn_convex *c = object;
    ccdVec3Set(out, c->x.x, c->x.y, c->x.z);
}

typedef int method(const void *a, const void *b, const ccd_t *ccd, ccd_real_t *depth,
                   ccd_vec3_t *direction, ccd_vec3_t *position);

static double seconds(const cairn_bench_pairs *pairs, method *find)
{
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = support;
    ccd.center1 = ccd.center2 = centre;
    ccd.max_iterations = 100;
    double start = cairn_bench_seconds();
    for (int k = 0; k < pairs->count; k++) {
        ccd_real_t depth;
        ccd_vec3_t direction, position;
        find(&pairs->convex[k][0], &pairs->convex[k][1], &ccd, &depth, &direction, &position);
    }
    return cairn_bench_seconds() - start;
}

cairn_bench_times cairn_bench_ccd(const cairn_bench_pairs *pairs)
{
    return (cairn_bench_times){ seconds(pairs, ccdGJKPenetration),
                                seconds(pairs, ccdMPRPenetration) };
}
