/* mesh_tree.h - boxes in a tree, to find those that overlap a given one. */
#ifndef CAIRN_SHAPE_MESH_TREE_H
#define CAIRN_SHAPE_MESH_TREE_H

#include "base/arena.h"

/* A box along the axes. */
typedef struct cairn_bounds {
    cairn_vec3 low, high; /* m */
} cairn_bounds;

/* Zero is valid: an empty tree. Never changes once built. */
typedef struct cairn_mesh_tree {
    cairn_bounds *nodes; /* children of node i are 2 i + 1 and 2 i + 2; leaves last   */
    cairn_bounds *boxes; /* of the items, in the order of `items`                     */
    int32_t *items;      /* numbers of the items; leaf k has those from k * LEAF on   */
    int leaf_count, item_count;
} cairn_mesh_tree;

/* Build the tree of boxes 0..count-1, in time linear in their number. */
cairn_status cairn_mesh_tree_build(const cairn_bounds *boxes, int count, cairn_mesh_tree *out);
/* The same with memory of an arena: nothing to be destroyed. */
cairn_status cairn_mesh_tree_build_in(const cairn_bounds *boxes, int count, cairn_arena *arena,
                                      cairn_mesh_tree *out);
void cairn_mesh_tree_destroy(cairn_mesh_tree *tree);
/* Calls visit(context, item) for each item whose box overlaps or touches `where`, in an order that
 * depends on the tree alone, until it returns false. */
typedef bool cairn_mesh_visit(void *context, int32_t item);
void cairn_mesh_tree_query(const cairn_mesh_tree *tree, const cairn_bounds *where,
                           cairn_mesh_visit *visit, void *context);

/* The smallest box that holds both. */
cairn_bounds cairn_bounds_join(const cairn_bounds *a, const cairn_bounds *b);
/* Whether two boxes overlap or touch. */
bool cairn_bounds_meet(const cairn_bounds *a, const cairn_bounds *b);

#endif
