/* geometry.h - the inside of the shared data of hulls, meshes, height fields and compounds. */
#ifndef CAIRN_SHAPE_GEOMETRY_H
#define CAIRN_SHAPE_GEOMETRY_H

#include <stdatomic.h>

#include "shape/mesh_tree.h"
#include "shape/moments.h"

struct cairn_geometry {
    atomic_int holders;
    cairn_shape_kind kind;    /* the one kind of shape it serves                              */
    cairn_geometry_view view; /* its arrays belong to the geometry                            */
    cairn_mesh_tree tree;     /* over the faces, of a compound over the parts; a hull has none */
    int32_t *neighbour;       /* of each corner of a face: the face across the side that begins
                                 there (2D: the side that shares the corner); -1: none        */
    int32_t *patch;           /* of each face that has neighbours: the flat region it is part of, by
                                 the smallest number of a face there                          */
    cairn_moments moments;    /* at density 1; volume 0: none                                 */
    double extent;            /* m: radius about the origin                                   */
};

/* An empty geometry with one holder, to be filled; NULL: no memory. */
cairn_geometry *cairn_geometry_begin(cairn_shape_kind kind, int dimension);
/* End of making: hand it out, or on failure say so when there is no memory, and free it. */
cairn_status cairn_geometry_finish(cairn_geometry *g, cairn_status status,
                                   const cairn_geometry **out, cairn_error *error);
/* moments and extent of the kinds that only look them up. */
bool cairn_geometry_moments_of(const cairn_shape *shape, int dimension, cairn_moments *out);
double cairn_geometry_extent_of(const cairn_shape *shape);
/* See cairn_shape_class.complete. */
cairn_status cairn_hull_complete(cairn_geometry *g, cairn_error *error);
/* Counts a surface is made with. */
typedef struct cairn_surface_size {
    int vertices, faces, corners; /* corners: vertices of all faces together */
} cairn_surface_size;
/* Take room for vertices and faces; face_first, face_vertex and vertices are to be filled. */
cairn_status cairn_geometry_size(cairn_geometry *g, const cairn_surface_size *size);
/* Arrays to be filled while a geometry is made. */
cairn_vec3 *cairn_geometry_vertices(cairn_geometry *g);
int32_t *cairn_geometry_face_first(cairn_geometry *g);
int32_t *cairn_geometry_face_vertex(cairn_geometry *g);
/* Once vertices and faces are there: the extent, and the normals by Newell's formula (2D: to the
 * right of the edge). Returns the number of the first face without area, -1: none. */
int cairn_geometry_find_normals(cairn_geometry *g);
/* Once the faces are there: the edges between them, and whether the surface is closed. Refuses an
 * edge with more than two faces, or two that run through it in the same sense. 3D. */
cairn_status cairn_geometry_find_edges(cairn_geometry *g, cairn_error *error);
/* Once the faces (3D: and the edges) are there: the neighbours of each face, and the flat regions
 * that they make up. */
cairn_status cairn_geometry_find_neighbours(cairn_geometry *g);
/* Once the faces are there: the tree over them. */
cairn_status cairn_geometry_build_tree(cairn_geometry *g);
/* Once the faces are there: volume integrals of what they enclose (divergence theorem). */
void cairn_geometry_find_moments(cairn_geometry *g);

#endif
