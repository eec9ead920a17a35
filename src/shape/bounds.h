/* bounds.h - axis-aligned boxes: about shapes at a pose, and in a tree to find those that
 * overlap a given one. */
#ifndef CAIRN_SHAPE_BOUNDS_H
#define CAIRN_SHAPE_BOUNDS_H

#include "base/arena.h"
#include "shape/shape.h"

/* ---- boxes in a tree --------------------------------------------------------------------- */

/* A static bounding volume hierarchy. */

/* A box along the axes. */
typedef struct cairn_bounds {
    cairn_vec3 low, high; /* m */
} cairn_bounds;

/* All zero is valid: an empty tree. It never changes once built. */
typedef struct cairn_mesh_tree {
    cairn_bounds *nodes; /* node i has the children 2 i + 1 and 2 i + 2; leaves last */
    cairn_bounds *boxes; /* boxes of the items, in the order of `items` */
    int32_t *items;      /* numbers of the items; leaf k has LEAF of them, from k * LEAF on */
    int leaf_count, item_count;
} cairn_mesh_tree;

/* Build the tree of boxes 0..count-1 in linear time. */
cairn_status cairn_mesh_tree_build(const cairn_bounds *boxes, int count, cairn_mesh_tree *out);
/* The same with memory of an arena: it must not be destroyed. */
cairn_status cairn_mesh_tree_build_in(const cairn_bounds *boxes, int count, cairn_arena *arena,
                                      cairn_mesh_tree *out);
void cairn_mesh_tree_destroy(cairn_mesh_tree *tree);
/* Call visit(context, item) for each item whose box overlaps or touches `where`, until it
 * returns false. The order depends on the tree alone, so results are deterministic. */
typedef bool cairn_mesh_visit(void *context, int32_t item);
void cairn_mesh_tree_query(const cairn_mesh_tree *tree, const cairn_bounds *where,
                           cairn_mesh_visit *visit, void *context);

/* The smallest box that contains both. */
cairn_bounds cairn_bounds_join(const cairn_bounds *a, const cairn_bounds *b);
/* Whether two boxes overlap or touch. */
bool cairn_bounds_meet(const cairn_bounds *a, const cairn_bounds *b);

/* ---- boxes about shapes ------------------------------------------------------------------ */

/* A box along the axes. */
typedef struct cairn_box {
    cairn_vec3 centre, half; /* m: centre and half lengths */
} cairn_box;

/* The box of a bounded shape at a pose: the smallest one for convex shapes; for the others that
 * of the rotated box of their parts or triangles. */
cairn_box cairn_shape_box(const cairn_shape *shape, const cairn_pose *pose);
/* The box, in the inner frame of a pose, that contains a box given in the outer frame. */
cairn_bounds cairn_box_inside(const cairn_box *box, const cairn_pose *pose);

#endif
