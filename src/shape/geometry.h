/* geometry.h - the private part of the shared data of hulls, meshes, height fields and
 * compounds.
 *
 * A geometry is immutable once it is finished, apart from its reference count. Any number of
 * shapes, worlds and threads may share it. */
#ifndef CAIRN_SHAPE_GEOMETRY_H
#define CAIRN_SHAPE_GEOMETRY_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "cairn/shape.h"
#include "shape/shape.h"

struct cairn_geometry {
    atomic_int holders;       /* reference count                                              */
    cairn_shape_kind kind;    /* the only kind of shape it is for                             */
    cairn_geometry_view view; /* the public view; the geometry owns its arrays                */
    cairn_mesh_tree tree;     /* over the faces, of a compound over the parts; a hull has none */
    int32_t *neighbour;       /* for each corner of a face: the face across the side that begins
                                 there (2D: the side that shares the corner); -1: none        */
    int32_t *patch;           /* for each face of a surface with neighbours: its flat region, named
                                 by the smallest number of a face there                       */
    cairn_moments moments;    /* at density 1; volume 0: none                                 */
    double extent;            /* m: radius about the origin of all vertices or parts          */
};

/* An empty geometry with one reference, to be filled; NULL if memory runs out. */
cairn_geometry *cairn_geometry_begin(cairn_shape_kind kind, int dimension);
/* Finish a geometry: on success pass it to *out, on failure free it. `g` may be NULL; running
 * out of memory is reported here. */
cairn_status cairn_geometry_finish(cairn_geometry *g, cairn_status status,
                                   const cairn_geometry **out, cairn_error *error);
/* `moments` and `extent` of the kinds that only look them up in their geometry. */
bool cairn_geometry_moments_of(const cairn_shape *shape, int dimension, cairn_moments *out);
double cairn_geometry_extent_of(const cairn_shape *shape);
/* See cairn_shape_class.complete. */
cairn_status cairn_hull_complete(cairn_geometry *g, cairn_error *error);
/* The size of a surface. */
typedef struct cairn_surface_size {
    int vertices, faces, corners; /* corners: vertices of all faces together */
} cairn_surface_size;
/* Allocate vertices and faces; the caller fills face_first, face_vertex and vertices. */
cairn_status cairn_geometry_size(cairn_geometry *g, const cairn_surface_size *size);
/* The arrays to be filled while a geometry is created; the public view has them as const. */
cairn_vec3 *cairn_geometry_vertices(cairn_geometry *g);
int32_t *cairn_geometry_face_first(cairn_geometry *g);
int32_t *cairn_geometry_face_vertex(cairn_geometry *g);
/* With vertices and faces: compute the extent, and the normals by Newell's formula (2D: to the
 * right of the edge). Returns the number of the first face without area, -1 if there is none. */
int cairn_geometry_find_normals(cairn_geometry *g);
/* With the faces: find the edges between them, and whether the surface is closed. Refuses an
 * edge with more than two faces, or with two that run through it in the same direction. 3D only. */
cairn_status cairn_geometry_find_edges(cairn_geometry *g, cairn_error *error);
/* With the faces (3D: and the edges): find the neighbours of each face, and the flat regions
 * that they form. */
cairn_status cairn_geometry_find_neighbours(cairn_geometry *g);
/* With the faces: build the tree over them. */
cairn_status cairn_geometry_build_tree(cairn_geometry *g);
/* With the faces: compute the volume integrals of the enclosed solid (divergence theorem). */
void cairn_geometry_find_moments(cairn_geometry *g);

/* ---- bytes ------------------------------------------------------------------------------- */

/* Shapes with their shared data as bytes and back, without changing a bit. */

/* Shapes that are `stride` bytes apart: those of bodies, or of the parts of a compound. */
typedef struct cairn_shape_list {
    cairn_shape *first;
    size_t stride;
    int count, dimension;
    bool parts; /* parts of a compound, which are never compounds */
} cairn_shape_list;

/* Write the shapes. Data that several of them share are written once. */
void cairn_shapes_write(cairn_writer *w, const cairn_shape_list *list);
/* Read shapes into zeroed memory; each gets a reference to its data. Only vertices, faces and
 * parts are stored; everything that follows from them is computed again. Fails with
 * CAIRN_BAD_INPUT if the bytes are invalid, or with CAIRN_NO_MEMORY; shapes read until then keep
 * their references. */
cairn_status cairn_shapes_read(cairn_reader *r, const cairn_shape_list *list, cairn_error *error);

#endif
