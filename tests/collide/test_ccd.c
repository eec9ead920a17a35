/* test_ccd.c - overlap and depth of random pairs against libccd, which shares no code with cairn.
 * Built where libccd is installed. */
#include <ccd/ccd.h>

#include "tests/collide/meetings.h"

static void ccd_support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out)
{
    const cairn_convex *c = object;
    cairn_vec3 d = { direction->v[0], direction->v[1], direction->v[2] };
    cairn_vec3 p = cairn_add(c->x, cairn_convex_support(c, d));
    ccdVec3Set(out, p.x, p.y, p.z);
}

/* Whether libccd finds an overlap, and in which direction it would part them. */
static bool ccd_overlap(const placed *p, cairn_vec3 *way_out)
{
    ccd_t ccd;
    ccd_real_t depth;
    ccd_vec3_t direction, position;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = ccd_support;
    ccd.max_iterations = 200;
    ccd.epa_tolerance = 1e-8;
    if (ccdGJKPenetration(&p->convex[0], &p->convex[1], &ccd, &depth, &direction, &position) != 0)
        return false;
    *way_out = cairn_unit(cairn_vec(direction.v[0], direction.v[1], direction.v[2]));
    return true;
}

typedef struct tally {
    int pairs, overlapping, longer;
} tally;

/* Both say the same about overlap. How far the cores have to go along libccd's direction (it gives
 * that of b) is an upper bound of the depth: ours must not be larger, and should often be equal. */
static void compare(const placed *p, tally *sum)
{
    cairn_distance d;
    cairn_vec3 way_out;
    CHECK(cairn_distance_find(&p->couple, 1e9, &d));
    if (fabs(d.gap) < 1e-6 * p->couple.size)
        return;
    bool overlap = ccd_overlap(p, &way_out);
    sum->pairs++;
    CHECK(overlap == (d.gap < 0));
    if (!overlap)
        return;
    double along = fmax(cairn_couple_gap_along(&p->couple, way_out),
                        cairn_couple_gap_along(&p->couple, cairn_scale(-1, way_out)));
    sum->overlapping++;
    CHECK(d.gap >= along - 1e-6 * p->couple.size);
    sum->longer += along < d.gap - 1e-4 * p->couple.size;
}

TEST(overlaps_and_depths_agree_with_libccd)
{
    uint64_t state = 21;
    tally sum = { 0 };
    for (int k = 0; k < 20000; k++) {
        placed p;
        for (int i = 0; i < 2; i++) {
            cairn_shape_kind kind = convex_kinds_3d[1 + cairn_random_next(&state) % 6];
            p.shape[i] = draw_shape(kind, 3, &state);
            p.at[i] = draw_collider(&p.shape[i], 3, 3, &state);
        }
        couple_up(&p, 3);
        compare(&p, &sum);
    }
    print_message("%d pairs, %d overlap; libccd's way out is longer in %d\n", sum.pairs,
                  sum.overlapping, sum.longer);
    CHECK(sum.overlapping > 2000);
    CHECK(sum.longer < sum.overlapping / 2); /* else the comparison says little */
}

GROUP(test_ccd)
{
    RUN(CASE(overlaps_and_depths_agree_with_libccd));
}
