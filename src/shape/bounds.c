/* bounds.c - axis-aligned boxes, about shapes at a pose and in a tree. */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "shape/geometry.h"

/* ---- boxes about shapes ------------------------------------------------------------------ */

/* Boxes of shapes at a pose.
 *
 * A convex shape extends along a unit vector e up to e.s(e) + rounding, with the support point s
 * of its core. The box of the parts of a compound, or of the triangles of a mesh, is rotated
 * with the shape: its half lengths are |R| h. This is larger than necessary, but needs no loop
 * over triangles. */

/* The box about a box with half lengths `half` about `centre` that is moved to a pose. */
static cairn_box turned(const cairn_pose *pose, cairn_vec3 centre, cairn_vec3 half)
{
    cairn_vec3 e[3] = { cairn_rotate(pose->q, cairn_vec(half.x, 0, 0)),
                        cairn_rotate(pose->q, cairn_vec(0, half.y, 0)),
                        cairn_rotate(pose->q, cairn_vec(0, 0, half.z)) };
    cairn_vec3 sum = { fabs(e[0].x) + fabs(e[1].x) + fabs(e[2].x),
                       fabs(e[0].y) + fabs(e[1].y) + fabs(e[2].y),
                       fabs(e[0].z) + fabs(e[1].z) + fabs(e[2].z) };
    return (cairn_box){ cairn_pose_apply(pose, centre), sum };
}

/* How far a core extends along a unit vector of the outer frame, from its origin. */
static double reach_along(const cairn_shape *shape, cairn_quat q, cairn_vec3 e)
{
    cairn_vec3 local = cairn_rotate_back(q, e);
    return cairn_dot(local, cairn_shape_support(shape, local));
}

/* Support points in six directions give the exact box. The core need not be symmetric, so both
 * ends are needed along each axis. */
static cairn_box convex_box(const cairn_shape *shape, const cairn_pose *pose)
{
    static const cairn_vec3 units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double rounding = cairn_shape_rounding(shape), middle[3], half[3];
    for (int i = 0; i < 3; i++) {
        double high = reach_along(shape, pose->q, units[i]);
        double low = -reach_along(shape, pose->q, cairn_scale(-1, units[i]));
        middle[i] = 0.5 * (low + high);
        half[i] = 0.5 * (high - low) + rounding;
    }
    return (cairn_box){ cairn_add(pose->x, cairn_vec(middle[0], middle[1], middle[2])),
                        cairn_vec(half[0], half[1], half[2]) };
}

cairn_box cairn_shape_box(const cairn_shape *shape, const cairn_pose *pose)
{
    const cairn_shape_class *class = cairn_shape_class_of(shape);
    /* a ball needs no support points: its box is the extent, below */
    if (class->support && shape->kind != CAIRN_SHAPE_SPHERE && shape->kind != CAIRN_SHAPE_POINT)
        return convex_box(shape, pose);
    if (class->has_geometry && shape->geometry->tree.item_count > 0) {
        const cairn_bounds *all = &shape->geometry->tree.nodes[0];
        return turned(pose, cairn_scale(0.5, cairn_add(all->low, all->high)),
                      cairn_scale(0.5, cairn_sub(all->high, all->low)));
    }
    double r = cairn_shape_extent(shape);
    return (cairn_box){ pose->x, { r, r, r } };
}

cairn_bounds cairn_box_inside(const cairn_box *box, const cairn_pose *pose)
{
    cairn_quat back = cairn_quat_conjugate(pose->q);
    const cairn_pose inverse = { cairn_rotate(back, cairn_scale(-1, pose->x)), back };
    cairn_box local = turned(&inverse, box->centre, box->half);
    return (cairn_bounds){ cairn_sub(local.centre, local.half),
                           cairn_add(local.centre, local.half) };
}

/* ---- boxes in a tree --------------------------------------------------------------------- */

/* Trees of boxes, built in linear time.
 *
 * The boxes are sorted by the Morton code of their centres (a radix sort) and cut into leaves of
 * LEAF items; a complete binary tree in heap order stands over the leaves. Neighbours on the
 * Morton curve are mostly neighbours in space, so nodes are compact, and the tree needs no
 * pointers. */

/* Three coordinates of 10 bits fit into a 32-bit code, and 10 bits are also one digit of the
 * radix sort: three passes sort the whole code. */
enum { LEAF = 4, BITS = 10, RADIX = 1 << BITS, STACK = 64 };

cairn_bounds cairn_bounds_join(const cairn_bounds *a, const cairn_bounds *b)
{
    return (cairn_bounds){
        { fmin(a->low.x, b->low.x), fmin(a->low.y, b->low.y), fmin(a->low.z, b->low.z) },
        { fmax(a->high.x, b->high.x), fmax(a->high.y, b->high.y), fmax(a->high.z, b->high.z) }
    };
}

bool cairn_bounds_meet(const cairn_bounds *a, const cairn_bounds *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

/* The empty box: joining it with another gives the other, and it meets nothing. */
static const cairn_bounds nothing = { { INFINITY, INFINITY, INFINITY },
                                      { -INFINITY, -INFINITY, -INFINITY } };

/* ---- order ---------------------------------------------------------------------------------- */

/* Spread 10 bits: abcdefghij -> a00b00c00d00... */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

/* The cell of a coordinate, 0 to 2^10 - 1, also for infinite or NaN bounds. */
static uint32_t cell(double low, double high, double x)
{
    double t = high > low ? (x - low) / (high - low) * RADIX : 0;
    return t < 0 ? 0 : t < RADIX ? (uint32_t)t : RADIX - 1;
}

static uint32_t morton(const cairn_bounds *all, const cairn_bounds *box)
{
    cairn_vec3 c = cairn_scale(0.5, cairn_add(box->low, box->high));
    return spread(cell(all->low.x, all->high.x, c.x)) |
           spread(cell(all->low.y, all->high.y, c.y)) << 1 |
           spread(cell(all->low.z, all->high.z, c.z)) << 2;
}

/* One pass of a stable radix sort of the numbers `from`, by one digit of their codes. */
static void pass(const uint32_t *code, int shift, int count, const int32_t *from, int32_t *to)
{
    int32_t start[RADIX + 1] = { 0 };
    for (int i = 0; i < count; i++)
        start[(code[from[i]] >> shift & (RADIX - 1)) + 1]++;
    for (int d = 0; d < RADIX; d++)
        start[d + 1] += start[d];
    for (int i = 0; i < count; i++)
        to[start[code[from[i]] >> shift & (RADIX - 1)]++] = from[i];
}

/* Allocate from the arena, or from the heap if there is none. */
static void *take(cairn_arena *arena, size_t count, size_t size)
{
    return arena ? cairn_arena_take(arena, count, size) : cairn_memory_resize(NULL, count, size);
}

static cairn_status sort(const cairn_bounds *boxes, const cairn_bounds *all, cairn_arena *arena,
                         cairn_mesh_tree *t)
{
    int count = t->item_count;
    uint32_t *code = take(arena, (size_t)count, sizeof *code);
    int32_t *other = take(arena, (size_t)count, sizeof *other);
    cairn_status status = code && other ? CAIRN_OK : CAIRN_NO_MEMORY;
    for (int i = 0; i < count && status == CAIRN_OK; i++) {
        code[i] = morton(all, &boxes[i]);
        other[i] = i;
    }
    /* three digits, an odd number of passes, so the result is in t->items */
    if (status == CAIRN_OK) {
        pass(code, 0, count, other, t->items);
        pass(code, BITS, count, t->items, other);
        pass(code, 2 * BITS, count, other, t->items);
    }
    if (!arena) {
        cairn_memory_free(code);
        cairn_memory_free(other);
    }
    return status;
}

/* ---- tree ----------------------------------------------------------------------------------- */

/* The number of leaves is a power of 2, so that the tree is complete; leaves without items stay
 * empty. */
static cairn_status take_arrays(cairn_arena *arena, int count, cairn_mesh_tree *t)
{
    t->leaf_count = 1;
    while ((int64_t)t->leaf_count * LEAF < count)
        t->leaf_count *= 2;
    t->nodes = take(arena, 2 * (size_t)t->leaf_count - 1, sizeof *t->nodes);
    t->boxes = take(arena, (size_t)count, sizeof *t->boxes);
    t->items = take(arena, (size_t)count, sizeof *t->items);
    return t->nodes && t->boxes && t->items ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void fill_nodes(cairn_mesh_tree *t)
{
    cairn_bounds *leaves = t->nodes + t->leaf_count - 1;
    for (int k = 0; k < t->leaf_count; k++)
        leaves[k] = nothing;
    for (int i = 0; i < t->item_count; i++)
        leaves[i / LEAF] = cairn_bounds_join(&leaves[i / LEAF], &t->boxes[i]);
    for (int k = t->leaf_count - 2; k >= 0; k--)
        t->nodes[k] = cairn_bounds_join(&t->nodes[2 * k + 1], &t->nodes[2 * k + 2]);
}

/* The boxes are copied in the order of the leaves, so that a query reads memory in sequence. */
static cairn_status build(const cairn_bounds *boxes, int count, cairn_arena *arena,
                          cairn_mesh_tree *t)
{
    cairn_bounds all = nothing;
    TRY(take_arrays(arena, count, t));
    t->item_count = count;
    for (int i = 0; i < count; i++)
        all = cairn_bounds_join(&all, &boxes[i]);
    TRY(sort(boxes, &all, arena, t));
    for (int i = 0; i < count; i++)
        t->boxes[i] = boxes[t->items[i]];
    fill_nodes(t);
    return CAIRN_OK;
}

cairn_status cairn_mesh_tree_build(const cairn_bounds *boxes, int count, cairn_mesh_tree *out)
{
    *out = (cairn_mesh_tree){ 0 };
    if (count == 0)
        return CAIRN_OK;
    cairn_status status = build(boxes, count, NULL, out);
    if (status != CAIRN_OK)
        cairn_mesh_tree_destroy(out);
    return status;
}

cairn_status cairn_mesh_tree_build_in(const cairn_bounds *boxes, int count, cairn_arena *arena,
                                      cairn_mesh_tree *out)
{
    *out = (cairn_mesh_tree){ 0 };
    return count == 0 ? CAIRN_OK : build(boxes, count, arena, out);
}

void cairn_mesh_tree_destroy(cairn_mesh_tree *tree)
{
    cairn_memory_free(tree->nodes);
    cairn_memory_free(tree->boxes);
    cairn_memory_free(tree->items);
    *tree = (cairn_mesh_tree){ 0 };
}

/* ---- query ---------------------------------------------------------------------------------- */

static bool visit_leaf(const cairn_mesh_tree *t, int leaf, const cairn_bounds *where,
                       cairn_mesh_visit *visit, void *context)
{
    int end = (leaf + 1) * LEAF < t->item_count ? (leaf + 1) * LEAF : t->item_count;
    for (int i = leaf * LEAF; i < end; i++)
        if (cairn_bounds_meet(&t->boxes[i], where) && !visit(context, t->items[i]))
            return false;
    return true;
}

void cairn_mesh_tree_query(const cairn_mesh_tree *tree, const cairn_bounds *where,
                           cairn_mesh_visit *visit, void *context)
{
    int stack[STACK], top = 0, first_leaf = tree->leaf_count - 1;
    if (tree->item_count > 0)
        stack[top++] = 0;
    while (top > 0) {
        int k = stack[--top];
        if (!cairn_bounds_meet(&tree->nodes[k], where))
            continue;
        if (k >= first_leaf) {
            if (!visit_leaf(tree, k - first_leaf, where, visit, context))
                return;
        } else {
            /* depth < 32, and one sibling waits at each level: the stack is large enough */
            stack[top++] = 2 * k + 2;
            stack[top++] = 2 * k + 1;
        }
    }
}
