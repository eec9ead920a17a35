/* shape.h - the interface of a shape kind. One file per kind or family; shape.c lists them.
 *
 * A convex shape is its core swept by a ball of radius cairn_shape_rounding: the core of a
 * sphere is a point, that of a capsule a segment, that of a box with rounded edges a smaller
 * box. `support` and `face` refer to the core, in the shape frame. Compounds, meshes, polylines,
 * height fields and containers are not convex and have neither. */
#ifndef CAIRN_SHAPE_SHAPE_H
#define CAIRN_SHAPE_SHAPE_H

#include "base/memory.h"
#include "cairn/shape.h"

/* ---- moments ----------------------------------------------------------------------------- */

/* Volume integrals of solids at density 1, summed piece by piece. */

/* In 2D integrals over the area, z = 0. All zero is the empty solid. Moments about a common
 * origin simply add up, unlike masses with centres and inertias: this is why pieces are summed
 * in this form. */
typedef struct cairn_moments {
    double volume;          /* int 1     */
    cairn_vec3 first;       /* int x     */
    cairn_symmetric second; /* int x x'  */
} cairn_moments;

/* S += factor (a b' + b a')/2 */
void cairn_symmetric_add(cairn_symmetric *s, double factor, cairn_vec3 a, cairn_vec3 b);
/* A solid that is symmetric with respect to the three planes of its frame: volume V and the
 * integrals of x^2, y^2, z^2. */
cairn_moments cairn_moments_symmetric(double volume, double xx, double yy, double zz);
/* Say that a density gives no mass to a shape without a volume. */
cairn_status cairn_shape_refuse_density(const cairn_shape *shape, cairn_error *error);
/* Add a piece. */
void cairn_moments_add(cairn_moments *sum, const cairn_moments *piece);
/* The moments of a solid at a pose, in the outer frame. */
cairn_moments cairn_moments_placed(const cairn_moments *m, const cairn_pose *pose);
/* A solid of revolution about z, rotated so that z becomes the unit vector `axis`. */
cairn_moments cairn_moments_about_axis(const cairn_moments *m, cairn_vec3 axis);
/* Add the tetrahedron (0, a, b, c), which counts negative if a, b, c run clockwise seen from
 * outside. The sum over the triangles of a closed surface is the solid inside (divergence
 * theorem). */
void cairn_moments_add_tetrahedron(cairn_moments *sum, cairn_vec3 a, cairn_vec3 b, cairn_vec3 c);
/* Add the triangle (0, a, b) of the plane, which counts negative if it runs clockwise. */
void cairn_moments_add_triangle(cairn_moments *sum, cairn_vec3 a, cairn_vec3 b);
/* Mass, centre, and inertia about the centre: J = tr(S) 1 - S, S the central second moments. In 2D
 * only J_zz = S_xx + S_yy is set. */
cairn_mass cairn_moments_mass(const cairn_moments *m, int dimension);

/* ---- classes ----------------------------------------------------------------------------- */

enum { CAIRN_FACE_POINTS = 32 }; /* at most; of a face with more, evenly spaced ones are taken */

/* A flat piece of a core's surface. */
typedef struct cairn_face {
    int count;                           /* 1: a vertex; 2: an edge (2D: a side); more: a polygon,
                          counterclockwise seen from outside                                 */
    int32_t id;                          /* identifies the piece, independent of the pose */
    cairn_vec3 normal;                   /* unit, outward; of a vertex: the given direction */
    cairn_vec3 point[CAIRN_FACE_POINTS]; /* m, shape frame */
    int32_t vertex[CAIRN_FACE_POINTS];   /* identify the points within the shape */
} cairn_face;

/* The functions of a shape kind; NULL members have the meaning stated with each. Contacts are
 * matched from step to step by the ids of faces and vertices, so these must not depend on the
 * pose. */
typedef struct cairn_shape_class {
    cairn_record record;
    /* Refuse impossible values beyond the ranges of the table; NULL: nothing more to check. */
    cairn_status (*check)(const cairn_shape *shape, int dimension, cairn_error *error);
    /* Volume integrals at density 1; false: it has none (an open mesh); NULL: no finite volume. */
    bool (*moments)(const cairn_shape *shape, int dimension, cairn_moments *out);
    /* Radius of the smallest known ball about the shape's origin that contains the shape,
     * rounding included; NULL: unbounded. */
    double (*extent)(const cairn_shape *shape);
    /* Farthest point of the core along `direction` (any length > 0); NULL: not convex. */
    cairn_vec3 (*support)(const cairn_shape *shape, cairn_vec3 direction);
    /* The piece of the core whose outward normal is nearest to `direction` (any length > 0). Of
     * a polyhedron it is always a face (2D: a side), also if the direction points at an edge. */
    void (*face)(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out);
    /* Corner number k of a core that is the hull of its corners; false: there is none; NULL: the
     * core is curved. */
    bool (*corner)(const cairn_shape *shape, int k, cairn_vec3 *out);
    /* Radius of the ball that sweeps the core; NULL: 0. */
    double (*rounding)(const cairn_shape *shape);
    /* Smooth cores only: the outward unit normal at a point of the surface. For any other point
     * except the origin: that of the scaled copy of the surface through the point. */
    cairn_vec3 (*normal_at)(const cairn_shape *shape, cairn_vec3 point);
    /* Smooth cores only: the derivative of the support point with respect to the direction,
     * which is the second derivative of the support function; homogeneous of degree -1 in the
     * direction. */
    void (*curvature)(const cairn_shape *shape, cairn_vec3 direction, cairn_symmetric *out);
    /* Kinds with geometry: compute everything that follows from vertices and faces, or from
     * parts, and refuse data that do not form such a shape. Used when a geometry is created and
     * when it is read back. */
    cairn_status (*complete)(cairn_geometry *geometry, cairn_error *error);
    bool smooth;       /* the support point is unique and a smooth function of the direction */
    bool has_axis;     /* the member `axis` is used */
    bool has_geometry; /* the member `geometry` is used */
    int only_in;       /* 2 or 3: exists only in that dimension; 0: in both */
} cairn_shape_class;

/* The class of a shape. */
const cairn_shape_class *cairn_shape_class_of(const cairn_shape *shape);
/* Whether the shape fits into some ball. */
bool cairn_shape_bounded(const cairn_shape *shape);
/* Radius of a ball about the shape's origin that contains it, m; infinite for unbounded shapes. */
double cairn_shape_extent(const cairn_shape *shape);
/* Whether its surface consists of faces that are collided one by one: a mesh, polyline or height
 * field. */
bool cairn_shape_has_faces(const cairn_shape *shape);
/* Radius of the ball that sweeps the core, m. */
double cairn_shape_rounding(const cairn_shape *shape);
/* Farthest point of a convex shape's core along `direction`, in the shape frame. */
cairn_vec3 cairn_shape_support(const cairn_shape *shape, cairn_vec3 direction);
/* See cairn_shape_class.face. */
void cairn_shape_face(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out);

/* The option `axis`, which several kinds share. */
#define CAIRN_SHAPE_AXIS(text)                                                                     \
    {                                                                                              \
        "axis", CAIRN_OPTION_VECTOR, false, offsetof(cairn_shape, axis), -CAIRN_UNBOUNDED,         \
            CAIRN_UNBOUNDED, "", text, NULL                                                        \
    }

/* set_default of every kind */
void cairn_shape_set_default(void *shape);
/* Refuse three lengths unless all are > 0 (in 2D two, with z = 0); `key` is the name of their
 * option. */
cairn_status cairn_shape_check_lengths(cairn_vec3 lengths, int dimension, const char *key,
                                       cairn_error *error);
/* The core of point and sphere. */
cairn_vec3 cairn_point_support(const cairn_shape *shape, cairn_vec3 direction);
void cairn_point_face(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out);
cairn_vec3 cairn_point_normal_at(const cairn_shape *shape, cairn_vec3 point);
void cairn_point_curvature(const cairn_shape *shape, cairn_vec3 direction, cairn_symmetric *out);
/* The unit vector along the component of d perpendicular to the unit vector `axis`; zero if d is
 * parallel to it. */
cairn_vec3 cairn_radial(cairn_vec3 d, cairn_vec3 axis);
/* A flat round end of a cylinder or cone; `axis` determines where its eight rim points are. */
typedef struct cairn_disk {
    cairn_vec3 centre, normal, axis; /* axis: unit, normal or its opposite */
    double radius;
} cairn_disk;
/* A face of the rim points of a disk, vertices 0..7 by rising angle about the axis. */
void cairn_face_of_disk(const cairn_disk *disk, cairn_face *out);
/* A face of one point. */
void cairn_face_of_point(cairn_vec3 point, cairn_vec3 direction, cairn_face *out);

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Axis-aligned boxes: about shapes at a pose, and in a tree to find those that
 * overlap a given one. */

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
