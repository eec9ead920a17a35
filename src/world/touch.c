/* touch.c - collision detection of a world: broad phase, pieces of bodies that are not convex,
 * narrow phase; and the reduction of contact points on faces (docs/collision.md).
 *
 * Leaves (pairs of convex pieces) are independent, so the narrow phase runs over ranges of them.
 * Each leaf writes to its own place, so the result does not depend on the threads. */
#include "world/touch.h"

#include <math.h>

#include "base/common.h"
#include "base/parallel.h"
#include "collide/convex.h"
#include "collide/narrow.h"
#include "math/vec.h"

enum { TURN_GRAIN = 16384 }; /* pairs in one piece of parallel work */

/* ---- layout --------------------------------------------------------------------------------- */

cairn_status cairn_world_layout_at(cairn_world *world, const cairn_vec3 *x, const cairn_quat *q,
                                   const double *reach, cairn_layout *out)
{
    int count = world->bodies.count;
    cairn_zone *zones = cairn_arena_take(&world->scratch, (size_t)count, sizeof *zones);
    cairn_collider *colliders = cairn_arena_take(&world->scratch, (size_t)count, sizeof *colliders);
    cairn_lattice *cell = cairn_arena_take(&world->scratch, 1, sizeof *cell);
    if (!zones || !colliders || !cell)
        return CAIRN_NO_MEMORY;
    *cell = cairn_lattice_for(&world->periodic.cell, 0, 0);
    for (int i = 0; i < count; i++) {
        const cairn_pose body = { x[i], q[i] };
        colliders[i] = cairn_body_collider_at(world, i, &body);
        colliders[i].reach = reach ? reach[i] : 0;
        zones[i] = cairn_zone_of(&colliders[i]);
    }
    *out = (cairn_layout){ .count = count,
                           .zones = zones,
                           .colliders = colliders,
                           .reach = reach,
                           .cell = cairn_lattice_of(world) ? cell : NULL };
    return CAIRN_OK;
}

cairn_status cairn_world_layout(cairn_world *world, cairn_layout *out)
{
    return cairn_world_layout_at(world, world->bodies.x, world->bodies.q, NULL, out);
}

cairn_lattice cairn_lattice_for(const cairn_lattice *cell, double ahead, double time)
{
    cairn_lattice out = cairn_lattice_ahead(cell, ahead);
    for (int i = 0; i < 3; i++)
        out.rate[i] = cairn_scale(time, cell->rate[i]);
    return out;
}

/* m: from the second body of pair k to its image. */
static cairn_vec3 shift_of(const cairn_world *world, const cairn_layout *layout, size_t k)
{
    const cairn_image *image = world->pair_list.image;
    return layout->cell && image ? cairn_lattice_shift(layout->cell, image[k]) : cairn_vec(0, 0, 0);
}

const cairn_zone *cairn_second_zone(const cairn_world *world, const cairn_layout *layout, size_t k,
                                    cairn_zone *made)
{
    const cairn_zone *zone = &layout->zones[world->pair_list.items[k].second];
    if (!layout->cell || !cairn_image_is_other(world->pair_list.image[k]))
        return zone;
    *made = *zone;
    made->centre = cairn_add(made->centre, shift_of(world, layout, k));
    return made;
}

/* The collider of a body: the one of the layout, or, for a ball, made from its zone, since layouts
 * may leave out the colliders of balls. */
static const cairn_collider *collider_of(const cairn_world *world, const cairn_layout *layout,
                                         int i, cairn_collider *made)
{
    const cairn_zone *zone = &layout->zones[i];
    if (zone->kind != CAIRN_ZONE_BALL)
        return &layout->colliders[i];
    *made = (cairn_collider){ .shape = cairn_body_shape(&world->bodies, i),
                              .x = zone->centre,
                              .q = { 1, 0, 0, 0 },
                              .extent = zone->radius,
                              .reach = layout->reach ? layout->reach[i] : 0,
                              .movable = zone->movable,
                              .sunk = layout->sunk };
    made->way = layout->way ? layout->way[i] : made->way;
    cairn_collider_enclose(made);
    return made;
}

/* The collider of the second body of pair k. */
static const cairn_collider *second_of(const cairn_world *world, const cairn_layout *layout,
                                       size_t k, cairn_collider *made)
{
    const cairn_collider *whole =
        collider_of(world, layout, world->pair_list.items[k].second, made);
    if (!layout->cell || !cairn_image_is_other(world->pair_list.image[k]))
        return whole;
    cairn_vec3 shift = shift_of(world, layout, k);
    *made = *whole;
    made->x = cairn_add(made->x, shift);
    made->box.centre = cairn_add(made->box.centre, shift);
    /* it moves with the edges of the cell as well */
    cairn_vec3 drift = cairn_lattice_drift(layout->cell, world->pair_list.image[k]);
    double way = cairn_norm(drift);
    made->way = cairn_add(made->way, drift);
    made->reach += way;
    made->behind += made->behind > 0 ? way : 0;
    return made;
}

cairn_meeting cairn_contact_meeting(const cairn_contact_store *c, int j)
{
    const int32_t *body = c->body + 2 * (size_t)j;
    static const cairn_image none = { { 0, 0, 0 } };
    return (cairn_meeting){ { body[0], body[1] }, c->image ? c->image[j] : none };
}

cairn_meeting cairn_pair_meeting(const cairn_pair_list *list, size_t k)
{
    static const cairn_image none = { { 0, 0, 0 } };
    return (cairn_meeting){ { list->items[k].first, list->items[k].second },
                            list->image ? list->image[k] : none };
}

/* ---- narrow phase --------------------------------------------------------------------------- */

typedef struct narrow_job {
    const cairn_world *world;
    const cairn_layout *layout;
    const cairn_touches *touches;
} narrow_job;

/* Two balls, or a ball and a plane: their zones contain all that is needed for the witness. */
static bool is_plain(const cairn_zone *a, const cairn_zone *b)
{
    bool ball_a = a->kind == CAIRN_ZONE_BALL, ball_b = b->kind == CAIRN_ZONE_BALL;
    return (ball_a && (ball_b || b->kind == CAIRN_ZONE_PLANE)) ||
           (ball_b && a->kind == CAIRN_ZONE_PLANE);
}

/* The witnesses of two general pieces; < 0 if their distance cannot be computed. */
static int find_any(const narrow_job *job, size_t k, bool *swapped, cairn_witness *out)
{
    const cairn_leaf leaf = cairn_touches_leaf(job->touches, k);
    const cairn_pair pair = job->touches->pairs[leaf.pair];
    cairn_collider whole[2], part[2];
    const cairn_collider *one = collider_of(job->world, job->layout, pair.first, &whole[0]);
    const cairn_collider *two = second_of(job->world, job->layout, (size_t)leaf.pair, &whole[1]);
    return cairn_witnesses_find(cairn_collider_piece(one, leaf.first, &part[0]),
                                cairn_collider_piece(two, leaf.second, &part[1]),
                                job->world->dimension, swapped, out);
}

/* `before` first holds the number of witnesses of each range; add_up turns it into prefix sums. */
static void narrow_range(int begin, int end, void *context)
{
    const narrow_job *job = context;
    const cairn_touches *t = job->touches;
    const cairn_zone *zones = job->layout->zones;
    size_t total = 0;
    for (size_t k = (size_t)begin; k < (size_t)end; k++) {
        size_t of = (size_t)cairn_touches_leaf(t, k).pair;
        cairn_zone made;
        const cairn_zone *one = &zones[t->pairs[of].first];
        const cairn_zone *two = cairn_second_zone(job->world, job->layout, of, &made);
        cairn_witness *out = t->found + t->first[k];
        int number = 1;
        if (is_plain(one, two))
            cairn_zones_witness(one, two, job->world->dimension, &t->swapped[k], out);
        else
            number = find_any(job, k, &t->swapped[k], out);
        t->number[k] = (int8_t)number;
        total += number > 0 ? (size_t)number : 0;
    }
    t->before[begin / CAIRN_TOUCH_GRAIN] = total;
}

/* Balls and planes never have pieces, and only for the other zones a collider exists. */
static bool has_pieces(const cairn_layout *layout)
{
    for (int i = 0; i < layout->count; i++) {
        uint8_t kind = layout->zones[i].kind;
        if ((kind == CAIRN_ZONE_BOX || kind == CAIRN_ZONE_UNBOUNDED) &&
            cairn_collider_has_pieces(&layout->colliders[i]))
            return true;
    }
    return false;
}

/* Splits all pairs into leaves. If no body has pieces, every pair is its own leaf; all members
 * decide alike. */
static cairn_status take_apart(cairn_world *world, const cairn_layout *layout, cairn_touches *t)
{
    const cairn_pair_list *pairs = &world->pair_list;
    cairn_leaf_list *list = &world->leaf_list;
    t->pairs = pairs->items;
    t->count = pairs->count;
    if (!cairn_link_any(world->exchange.link, has_pieces(layout)))
        return CAIRN_OK;
    list->count = 0;
    for (size_t k = 0; k < pairs->count; k++) {
        cairn_collider one, two;
        TRY(cairn_leaves_add(collider_of(world, layout, pairs->items[k].first, &one),
                             second_of(world, layout, k, &two), (int32_t)k, list));
    }
    t->leaves = list->items;
    t->count = list->count;
    return list->count > INT32_MAX / 4 ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* Only the kinds of the two pieces matter for this bound, so no pose is computed. */
static size_t most_witnesses(const cairn_world *world, const cairn_layout *layout,
                             const cairn_touches *t, size_t k)
{
    const cairn_leaf leaf = cairn_touches_leaf(t, k);
    const cairn_pair pair = t->pairs[leaf.pair];
    if (is_plain(&layout->zones[pair.first], &layout->zones[pair.second]))
        return 1;
    cairn_collider made[2];
    const cairn_collider *one = collider_of(world, layout, pair.first, &made[0]);
    const cairn_collider *two = collider_of(world, layout, pair.second, &made[1]);
    const cairn_collider first = { .shape = cairn_piece_shape(one, leaf.first) };
    const cairn_collider second = { .shape = cairn_piece_shape(two, leaf.second) };
    return (size_t)cairn_witnesses_limit(&first, &second);
}

/* Reserves room for as many witnesses as each leaf can have, so that leaves can be processed in
 * parallel without knowing the numbers of the others. */
static cairn_status make_room(cairn_world *world, const cairn_layout *layout, cairn_touches *t)
{
    cairn_arena *scratch = &world->scratch;
    size_t total = 0, ranges = (t->count + CAIRN_TOUCH_GRAIN - 1) / CAIRN_TOUCH_GRAIN;
    t->first = cairn_arena_take(scratch, t->count, sizeof *t->first);
    t->number = cairn_arena_take(scratch, t->count, sizeof *t->number);
    t->swapped = cairn_arena_take(scratch, t->count, sizeof *t->swapped);
    t->before = cairn_arena_take(scratch, ranges, sizeof *t->before);
    if (!t->first || !t->number || !t->swapped || !t->before)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < t->count; k++) {
        t->first[k] = total;
        total += most_witnesses(world, layout, t, k);
    }
    t->found = cairn_arena_take(scratch, total, sizeof *t->found);
    return t->found ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Fails by name instead of dropping the pair: a contact must never be lost silently. */
static cairn_status refuse(cairn_world *world, const cairn_pair *pair)
{
    const cairn_body_store *b = &world->bodies;
    bool funnel = cairn_body_shape(b, pair->first)->kind == CAIRN_SHAPE_FUNNEL ||
                  cairn_body_shape(b, pair->second)->kind == CAIRN_SHAPE_FUNNEL;
    return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "bodies",
                      "the distance of body %lld (%s) and body %lld (%s) cannot be found%s",
                      cairn_row_uid(world, pair->first),
                      cairn_shape_record((int)cairn_body_shape(b, pair->first)->kind)->name,
                      cairn_row_uid(world, pair->second),
                      cairn_shape_record((int)cairn_body_shape(b, pair->second)->kind)->name,
                      funnel ? ": a funnel meets balls only, expected a mesh (2D: a polyline)"
                             : "");
}

/* Removes pairs of bodies that are joined, unless their joint lets them collide, and pairs that
 * their groups exclude. */
static void leave_out_forbidden(cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    cairn_pair_list *list = &world->pair_list;
    size_t kept = 0;
    if (world->joints.joined_count == 0 && !b->grouped)
        return;
    for (size_t k = 0; k < list->count; k++) {
        cairn_pair pair = list->items[k];
        const cairn_image image = list->image ? list->image[k] : (cairn_image){ { 0, 0, 0 } };
        if (!cairn_bodies_meet(b, pair.first, pair.second) ||
            cairn_joints_forbid(world, pair.first, pair.second, image))
            continue;
        if (list->image)
            list->image[kept] = list->image[k];
        list->items[kept++] = pair;
    }
    list->count = kept;
}

/* Orders the two bodies of each pair by uid: what is computed for a pair must not depend on
 * rows. */
static void turn_range(int begin, int end, void *context)
{
    const cairn_world *world = context;
    const uint64_t *uid = world->bodies.uid;
    cairn_pair *pairs = world->pair_list.items;
    cairn_image *image = world->pair_list.image;
    for (int k = begin; k < end; k++) {
        cairn_pair pair = pairs[k];
        bool turned = uid[pair.first] > uid[pair.second]; /* for half of them: avoid a branch */
        pairs[k].first = turned ? pair.second : pair.first;
        pairs[k].second = turned ? pair.first : pair.second;
        if (image && turned)
            image[k] = cairn_image_opposite(image[k]);
    }
}

/* Turns the number of witnesses of each range into the number before it. Fails if a leaf has no
 * result. */
static cairn_status add_up(cairn_world *world, cairn_touches *t)
{
    for (size_t k = 0; k < t->count; k++)
        if (t->number[k] < 0)
            return refuse(world, &t->pairs[cairn_touches_leaf(t, k).pair]);
    for (size_t r = 0; r * CAIRN_TOUCH_GRAIN < t->count; r++) {
        size_t here = t->before[r];
        t->before[r] = t->total;
        t->total += here;
    }
    return t->total > INT32_MAX / 2 ? CAIRN_NO_MEMORY : CAIRN_OK;
}

cairn_status cairn_world_pairs(cairn_world *world, const cairn_broad_phase *broad,
                               const cairn_layout *layout)
{
    const cairn_crowd crowd = { layout, world->bodies.image, world->bodies.uid, broad };
    if (layout->cell)
        TRY(cairn_images_live(&world->periodic.images, &world->kept_pairs, &crowd, &world->scratch,
                              &world->pair_list));
    else
        TRY(cairn_kept_pairs_live(&world->kept_pairs, broad, layout, &world->scratch,
                                  &world->pair_list));
    leave_out_forbidden(world);
    if (world->pair_list.count > INT32_MAX / 4)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for((int)world->pair_list.count, TURN_GRAIN, turn_range, world);
    return CAIRN_OK;
}

cairn_status cairn_world_touches(cairn_world *world, const cairn_broad_phase *broad,
                                 const cairn_layout *layout, cairn_touches *out)
{
    *out = (cairn_touches){ 0 };
    TRY(cairn_world_pairs(world, broad, layout));
    TRY(take_apart(world, layout, out));
    TRY(make_room(world, layout, out));
    narrow_job job = { world, layout, out };
    cairn_parallel_for((int)out->count, CAIRN_TOUCH_GRAIN, narrow_range, &job);
    return add_up(world, out);
}

/* With reach 0 a witness exists only if the pieces touch or overlap. Without a result (< 0) they
 * might. */
static bool meet(const cairn_world *world, const cairn_collider *a, const cairn_collider *b)
{
    cairn_witness found[CAIRN_WITNESSES];
    bool swapped;
    return cairn_witnesses_find(a, b, world->dimension, &swapped, found) != 0;
}

/* Used to place new bodies, so every doubt counts as a collision. A body behind all faces of a mesh
 * touches none of them; it counts as swallowed. */
bool cairn_world_meet(cairn_world *world, const cairn_collider *a, const cairn_collider *b)
{
    cairn_leaf_list *list = &world->leaf_list;
    if (!cairn_collider_has_pieces(a) && !cairn_collider_has_pieces(b))
        return meet(world, a, b);
    list->count = 0;
    if (cairn_leaves_add(a, b, 0, list) != CAIRN_OK)
        return true;
    for (size_t k = 0; k < list->count; k++) {
        cairn_collider one, two;
        if (meet(world, cairn_collider_piece(a, list->items[k].first, &one),
                 cairn_collider_piece(b, list->items[k].second, &two)))
            return true;
    }
    return cairn_collider_swallowed(a, b) > 0 || cairn_collider_swallowed(b, a) > 0;
}

/* ==== points on faces ========================================================================= */

/* The witnesses of bodies made of faces, without redundant ones.
 *
 * Each triangle under a body gives its own contact points: corners of the body above it, its own
 * corners, crossings of edges. Where triangles form a flat region (a patch of shape/geometry.h),
 * all these points lie in one plane, and the corners of the polygon that they span support the body
 * as well as all of them: at most 8, in 2D 2. A point is identified by the vertices it comes from
 * and by the patch, not by the triangle. So it keeps its identity, and its warm start, while the
 * body slides from triangle to triangle, and two triangles that share an edge give the points on it
 * only once. */

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

/* Points with the same region and feature are ordered by leaf, so that the order is unique. */
static bool comes_before(const cairn_touch *a, const cairn_touch *b)
{
    int order = compare_regions(a, b);
    if (order == 0)
        order = (a->found->feature > b->found->feature) - (a->found->feature < b->found->feature);
    return order < 0 || (order == 0 && a->leaf < b->leaf);
}

/* Shell sort: needs no memory, and the lists of one pair are short. */
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

/* The reduction of the witnesses of one pair. */
typedef struct merge {
    int limit;          /* points kept of one region: 8, in 2D 2     */
    cairn_touch *items; /* all; the kept ones are moved to the front */
    size_t kept;
    cairn_touch *group;    /* room for all: points of one region and normal */
    cairn_witness *points; /* likewise: their witnesses                     */
} merge;

/* Patches are flat to 1e-6 rad. Normals that differ by less than 4.5e-5 rad, acos(1 - 1e-9), may
 * share a polygon. */
static bool are_parallel(const cairn_witness *a, const cairn_witness *b)
{
    return cairn_dot(a->normal, b->normal) > 1 - 1e-9;
}

/* Normals that are equal to rounding: the depth along one is the depth along the other. */
static bool have_one_normal(const cairn_witness *a, const cairn_witness *b)
{
    return cairn_norm(cairn_sub(a->normal, b->normal)) <= 1e-9;
}

/* Whether two witnesses are the same point, seen by two triangles at their common edge. The feature
 * alone is not enough: witnesses of curved rims all have the feature 0, and parallel faces of two
 * parts may meet one corner at different depths. */
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

/* The deepest point of a group among those with the same normal as point k. */
static int deepest_along(const merge *m, int count, int k)
{
    int deepest = k;
    for (int i = 0; i < count; i++)
        if (m->points[i].gap < m->points[deepest].gap &&
            have_one_normal(&m->points[i], &m->points[k]))
            deepest = i;
    return deepest;
}

/* Whether point k has the normal of the deepest point and is as deep, up to the rounding of its
 * position. */
static bool is_as_deep(const merge *m, int k, int deepest)
{
    const cairn_witness *one = &m->points[k], *most = &m->points[deepest];
    return one->gap - most->gap <= 4e-15 * cairn_norm(most->on_a) && have_one_normal(one, most);
}

/* Adds the deepest point of every normal that occurs among the chosen ones, because it determines
 * the depth of the overlap along this normal. Returns the number of chosen points, at most twice as
 * many as before. */
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

/* Keeps the points of one group, which has one region and one normal to 4.5e-5 rad. `chosen` has
 * room for twice the limit of 8. */
static void keep_group(merge *m, int count)
{
    int chosen[2 * CAIRN_FLAT_WITNESSES] = { 0, 1, 2, 3, 4, 5, 6, 7 }, kept = count;
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

/* The index in the group of a point that t repeats; `count` if there is none. Features in a group
 * descend, so the search ends at the first different one. */
static int place_in_group(const merge *m, int count, const cairn_touch *t)
{
    for (int k = count; k-- > 0 && m->group[k].found->feature == t->found->feature;)
        if (are_same(m->group[k].found, t->found))
            return k;
    return count;
}

/* Reduces the items [begin, end) of one region, sorted by feature: one group for each normal. Items
 * of other normals move to the end, and the loop continues with them. */
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
            /* of two equal points, that of the triangle with the smaller number */
            int place = place_in_group(m, count, &t);
            m->group[place] = t;
            count += place == count;
        }
        keep_group(m, count);
        begin = left;
    }
}

/* ---- a pair --------------------------------------------------------------------------------- */

/* All witnesses of a pair, with faces replaced by their patches. */
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

/* Sorted before, so that regions are contiguous; sorted after, because the groups of a region were
 * kept one after the other. */
cairn_status cairn_touches_merge(cairn_world *world, const cairn_touches *t, size_t begin,
                                 size_t end, cairn_touch **out, size_t *count)
{
    size_t total = 0;
    for (size_t k = begin; k < end; k++)
        total += (size_t)t->number[k];
    merge m = { .limit = world->dimension == 2 ? 2 : CAIRN_FLAT_WITNESSES };
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
