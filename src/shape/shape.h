/* shape.h - what the rest needs to know of a shape kind. One file per kind; shape.c lists them.
 *
 * A convex shape is its core swept by a ball of radius cairn_shape_rounding: a sphere is a point,
 * a capsule a segment, a box with rounded edges a smaller box, each swept. support and face speak
 * of the core, in the shape frame. Compounds, meshes, polylines, height fields and containers are
 * not convex and have neither. */
#ifndef CAIRN_SHAPE_SHAPE_H
#define CAIRN_SHAPE_SHAPE_H

#include "cairn/world.h"
#include "shape/moments.h"

enum { CAIRN_FACE_POINTS = 32 }; /* at most; a face with more is thinned out evenly */

/* A flat piece of a core's surface. */
typedef struct cairn_face {
    int count;         /* 1: a vertex; 2: an edge (2D: a side); more: a polygon,
                          counterclockwise seen from outside                                 */
    int32_t id;        /* the same for the same piece, whatever the pose                     */
    cairn_vec3 normal; /* unit, outward normal of the piece; of a vertex: the direction asked */
    cairn_vec3 point[CAIRN_FACE_POINTS]; /* m, shape frame */
    int32_t vertex[CAIRN_FACE_POINTS];   /* names the points within the shape                */
} cairn_face;

typedef struct cairn_shape_class {
    cairn_record record;
    /* Refuse impossible values beyond the ranges of the table; NULL: nothing more to check. */
    cairn_status (*check)(const cairn_shape *shape, int dimension, cairn_error *error);
    /* Volume integrals at density 1, false: none (an open mesh); NULL: no finite volume. */
    bool (*moments)(const cairn_shape *shape, int dimension, cairn_moments *out);
    /* Radius about the shape's origin that holds it, rounding included; NULL: unbounded. */
    double (*extent)(const cairn_shape *shape);
    /* Farthest point of the core along `direction` (any length > 0); NULL: not convex. */
    cairn_vec3 (*support)(const cairn_shape *shape, cairn_vec3 direction);
    /* The piece of the core whose outward normal is nearest to `direction` (any length > 0): of a
     * polyhedron always a face (2D: a side), also when the direction points at an edge. */
    void (*face)(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out);
    /* Corner number k of a core that is the hull of its corners, false: there is none; NULL: the
     * core is curved. */
    bool (*corner)(const cairn_shape *shape, int k, cairn_vec3 *out);
    /* Radius of the ball that sweeps the core; NULL: 0. */
    double (*rounding)(const cairn_shape *shape);
    /* Smooth cores only: outward unit normal at a point of the surface (of another point but the
     * origin: of the scaled copy of the surface through it). */
    cairn_vec3 (*normal_at)(const cairn_shape *shape, cairn_vec3 point);
    /* Smooth cores only: derivative of the support point with respect to the direction, the
     * second derivative of the support function; degree -1 in the direction. */
    void (*curvature)(const cairn_shape *shape, cairn_vec3 direction, cairn_symmetric *out);
    /* Kinds with geometry: what follows from its vertices and faces, or parts, once they are there;
     * refuses those that make no such shape. */
    cairn_status (*complete)(cairn_geometry *geometry, cairn_error *error);
    bool smooth;       /* the core has one support point for each direction, which moves smoothly */
    bool has_axis;     /* `axis` counts                                                           */
    bool has_geometry; /* `geometry` counts                                                   */
    int only_in;       /* 2 or 3: exists in that dimension alone; 0: in both                      */
} cairn_shape_class;

/* The class of a shape. */
const cairn_shape_class *cairn_shape_class_of(const cairn_shape *shape);
/* Whether it fits in a ball. */
bool cairn_shape_bounded(const cairn_shape *shape);
/* Radius about the shape's origin that holds it, m; infinite for unbounded shapes. */
double cairn_shape_extent(const cairn_shape *shape);
/* Whether its surface is faces that are collided one by one: a mesh, polyline or height field. */
bool cairn_shape_has_faces(const cairn_shape *shape);
/* Radius of the ball that sweeps the core, m. */
double cairn_shape_rounding(const cairn_shape *shape);
/* Farthest point of a convex shape's core along `direction`, in the shape frame. */
cairn_vec3 cairn_shape_support(const cairn_shape *shape, cairn_vec3 direction);
/* See cairn_shape_class.face. */
void cairn_shape_face(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out);

/* Table lines that several kinds share. */
#define CAIRN_SHAPE_AXIS(text)                                                                     \
    {                                                                                              \
        "axis", CAIRN_OPTION_VECTOR, false, offsetof(cairn_shape, axis), -CAIRN_UNBOUNDED,         \
            CAIRN_UNBOUNDED, "", text, NULL                                                        \
    }

/* set_default of every kind */
void cairn_shape_set_default(void *shape);
/* Refuse three lengths that are not > 0 (2D: two, and z not 0); `key` is their field's name. */
cairn_status cairn_shape_check_lengths(cairn_vec3 lengths, int dimension, const char *key,
                                       cairn_error *error);
/* The core of point and sphere. */
cairn_vec3 cairn_point_support(const cairn_shape *shape, cairn_vec3 direction);
void cairn_point_face(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out);
cairn_vec3 cairn_point_normal_at(const cairn_shape *shape, cairn_vec3 point);
void cairn_point_curvature(const cairn_shape *shape, cairn_vec3 direction, cairn_symmetric *out);
/* Unit vector along the part of d across the unit vector `axis`; zero when d is along it. */
cairn_vec3 cairn_radial(cairn_vec3 d, cairn_vec3 axis);
/* A flat round end; `axis` fixes where its eight rim points stand. */
typedef struct cairn_disk {
    cairn_vec3 centre, normal, axis; /* axis: unit, normal or its opposite */
    double radius;
} cairn_disk;
/* A face of the rim points of a disk, vertices 0..7 by rising angle about the axis. */
void cairn_face_of_disk(const cairn_disk *disk, cairn_face *out);
/* A face of one point. */
void cairn_face_of_point(cairn_vec3 point, cairn_vec3 direction, cairn_face *out);

#endif
