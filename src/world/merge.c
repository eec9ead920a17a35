/* merge.c - the witnesses of bodies made of faces, without those that say nothing new.
 *
 * Each triangle under a body gives contact points of its own: corners of the body over it, its
 * own corners, crossings of edges. Where the triangles make up a flat region (a patch of
 * shape/geometry.h) all these points lie in one plane, and those that span the same polygon hold
 * the body as all of them do: at most 4, in 2D 2. A point is named by the vertices it comes from
 * and by the patch, not by the triangle, so it keeps its name while the body slides from triangle
 * to triangle, and two triangles that share an edge give the points on it once. */
#include "collide/convex.h"
#include "math/vec.h"
#include "world/touch.h"

bool cairn_leaf_has_face(const cairn_leaf *leaf)
{
    return leaf->first.face >= 0 || leaf->second.face >= 0;
}

/* ---- order ---------------------------------------------------------------------------------- */

static int compare_regions(const cairn_touch *a, const cairn_touch *b)
{
    int order = cairn_piece_compare(a->low, b->low);
    return order ? order : cairn_piece_compare(a->high, b->high);
}

static bool comes_before(const cairn_touch *a, const cairn_touch *b)
{
    int order = compare_regions(a, b);
    if (order == 0)
        order = (a->found->feature > b->found->feature) - (a->found->feature < b->found->feature);
    return order < 0 || (order == 0 && a->leaf < b->leaf);
}

/* Shell's sort: needs no memory. */
static void sort(cairn_touch *items, size_t count)
{
    size_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            cairn_touch item = items[i];
            size_t k = i;
            for (; k >= gap && comes_before(&item, &items[k - gap]); k -= gap)
                items[k] = items[k - gap];
            items[k] = item;
        }
}

/* ---- one flat region ------------------------------------------------------------------------ */

typedef struct merge {
    int limit;          /* points kept of one region: 4, in 2D 2           */
    cairn_touch *items; /* those that are kept so far are at its beginning */
    size_t kept;
    cairn_touch *group;    /* room for all                                    */
    cairn_witness *points; /* likewise                                        */
} merge;

/* Flat to 1e-6 rad is flat: normals that differ by less than 4.5e-5 rad may share a polygon. */
static bool are_parallel(const cairn_witness *a, const cairn_witness *b)
{
    return cairn_dot(a->normal, b->normal) > 1 - 1e-9;
}

/* Equal to rounding: the depth along one normal is that along the other. */
static bool have_one_normal(const cairn_witness *a, const cairn_witness *b)
{
    return cairn_norm(cairn_sub(a->normal, b->normal)) <= 1e-9;
}

/* Two triangles at an edge, each with the same point there. Witnesses of curved rims all have the
 * feature 0, wherever they are; parallel faces of two parts meet one corner at different depths. */
static bool are_same(const cairn_witness *a, const cairn_witness *b)
{
    double size = 1e-9 * (fabs(b->gap) + cairn_norm(b->on_a));
    return a->feature == b->feature && have_one_normal(a, b) && fabs(a->gap - b->gap) <= size &&
           cairn_norm(cairn_sub(a->on_a, b->on_a)) <= size;
}

static bool is_repeated(const merge *m, const cairn_touch *t)
{
    for (size_t k = 0; k < m->kept; k++)
        if (are_same(m->items[k].found, t->found))
            return true;
    return false;
}

/* The deepest of the points of a group that have the normal of point k. */
static int deepest_along(const merge *m, int count, int k)
{
    int deepest = k;
    for (int i = 0; i < count; i++)
        if (m->points[i].gap < m->points[deepest].gap &&
            have_one_normal(&m->points[i], &m->points[k]))
            deepest = i;
    return deepest;
}

/* Whether point k has the normal of the deepest and is as deep, to rounding of its place. */
static bool is_as_deep(const merge *m, int k, int deepest)
{
    const cairn_witness *one = &m->points[k], *most = &m->points[deepest];
    return one->gap - most->gap <= 4e-15 * cairn_norm(most->on_a) && have_one_normal(one, most);
}

/* Every normal that is left keeps its deepest point: the depth of the bodies along it. Returns how
 * many are chosen, at most twice as many as before. */
static int add_deepest(const merge *m, int count, int *chosen, int kept)
{
    int total = kept;
    for (int k = 0; k < kept; k++) {
        int deepest = deepest_along(m, count, chosen[k]), known = 0;
        while (known < total && !is_as_deep(m, chosen[known], deepest))
            known++;
        deepest = known < total ? chosen[known] : deepest;
        chosen[known] = deepest;
        total += known == total;
    }
    return total;
}

/* The points of one region with one normal, to 4.5e-5 rad. */
static void keep_group(merge *m, int count)
{
    int chosen[8] = { 0, 1, 2, 3 }, kept = count;
    for (int k = 0; k < count; k++)
        m->points[k] = *m->group[k].found;
    if (count > m->limit) {
        kept = cairn_witnesses_choose(m->points, count, m->limit, chosen);
        kept = add_deepest(m, count, chosen, kept);
    }
    for (int k = 0; k < kept; k++) {
        cairn_touch t = m->group[chosen[k]];
        if (!is_repeated(m, &t))
            m->items[m->kept++] = t;
    }
}

/* The place in the group of a point that t repeats; `count`: none. Features there descend. */
static int place_in_group(const merge *m, int count, const cairn_touch *t)
{
    for (int k = count; k-- > 0 && m->group[k].found->feature == t->found->feature;)
        if (are_same(m->group[k].found, t->found))
            return k;
    return count;
}

/* The items [begin, end), sorted by feature, are of one region: one group for each normal. */
static void keep_region(merge *m, size_t begin, size_t end)
{
    while (begin < end) {
        const cairn_witness *first = m->items[begin].found;
        int count = 0;
        size_t left = end;
        for (size_t i = end; i-- > begin;) {
            cairn_touch t = m->items[i];
            if (!are_parallel(first, t.found)) {
                m->items[--left] = t;
                continue;
            }
            /* of two the one of the triangle with the smaller number */
            int place = place_in_group(m, count, &t);
            m->group[place] = t;
            count += place == count;
        }
        keep_group(m, count);
        begin = left;
    }
}

/* ---- a pair --------------------------------------------------------------------------------- */

static size_t collect(const cairn_world *world, const cairn_touches *t, size_t begin, size_t end,
                      cairn_touch *out)
{
    const cairn_pair *pair = &t->pairs[t->leaves[begin].pair];
    const cairn_shape *low = cairn_body_shape(&world->bodies, pair->first);
    const cairn_shape *high = cairn_body_shape(&world->bodies, pair->second);
    size_t count = 0;
    for (size_t k = begin; k < end; k++)
        for (int i = 0; i < t->number[k]; i++)
            out[count++] = (cairn_touch){ &t->found[t->first[k] + (size_t)i], k,
                                          cairn_piece_patch(low, t->leaves[k].first),
                                          cairn_piece_patch(high, t->leaves[k].second) };
    return count;
}

cairn_status cairn_touches_merge(cairn_world *world, const cairn_touches *t, size_t begin,
                                 size_t end, cairn_touch **out, size_t *count)
{
    size_t total = 0;
    for (size_t k = begin; k < end; k++)
        total += (size_t)t->number[k];
    merge m = { .limit = world->dimension == 2 ? 2 : 4 };
    m.items = cairn_arena_take(&world->scratch, total, sizeof *m.items);
    m.group = cairn_arena_take(&world->scratch, total, sizeof *m.group);
    m.points = cairn_arena_take(&world->scratch, total, sizeof *m.points);
    if (!m.items || !m.group || !m.points)
        return CAIRN_NO_MEMORY;
    total = collect(world, t, begin, end, m.items);
    sort(m.items, total);
    for (size_t i = 0, next = 0; i < total; i = next) {
        for (next = i; next < total && compare_regions(&m.items[next], &m.items[i]) == 0;)
            next++;
        keep_region(&m, i, next);
    }
    sort(m.items, m.kept);
    *out = m.items;
    *count = m.kept;
    return CAIRN_OK;
}
