/* shape.h - what a body looks like: shapes by value, and the shared data of those that need more
 * than a few numbers (hulls, meshes, height fields, compounds). SI units. In 2D everything lies in
 * the plane z = 0. */
#ifndef CAIRN_SHAPE_H
#define CAIRN_SHAPE_H

#include "cairn/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cairn_shape_kind {
    CAIRN_SHAPE_SPHERE,          /* ball, in 2D a disk                                          */
    CAIRN_SHAPE_POINT,           /* a particle without size                                     */
    CAIRN_SHAPE_HALF_SPACE,      /* solid below the plane (2D: line) through the body's origin  */
    CAIRN_SHAPE_INSIDE_CYLINDER, /* the inside of an infinite cylinder (2D: of a circle)        */
    CAIRN_SHAPE_INSIDE_CONE,     /* inside of an infinite cone, apex at the origin (2D: wedge)  */
    CAIRN_SHAPE_FUNNEL,          /* thin frustum wall, both sides; bottom circle at the origin  */
    CAIRN_SHAPE_INSIDE_BOX,      /* the inside of a box (2D: of a rectangle) about the origin   */
    CAIRN_SHAPE_BOX,             /* box (2D: rectangle) about the origin, edges may be rounded  */
    CAIRN_SHAPE_CAPSULE,         /* ball swept along a segment; in 2D radius 0 makes a segment  */
    CAIRN_SHAPE_CYLINDER,        /* solid cylinder about the origin, 3D only                    */
    CAIRN_SHAPE_CONE,            /* solid cone, 3D only; the origin is its centre of mass, a
                                    quarter of the height above the base                        */
    CAIRN_SHAPE_ELLIPSOID,       /* ellipsoid, in 2D an ellipse                                 */
    CAIRN_SHAPE_SUPERELLIPSOID,  /* superellipsoid, in 2D a superellipse                        */
    CAIRN_SHAPE_POLYHEDRON,      /* convex hull, in 2D a polygon; may be swept by a ball        */
    CAIRN_SHAPE_MESH,            /* triangles with an outer side, 3D only                       */
    CAIRN_SHAPE_POLYLINE,        /* chain of segments, 2D only; outside is to the right of each */
    CAIRN_SHAPE_HEIGHT_FIELD,    /* ground over a grid in x and y, 3D only                      */
    CAIRN_SHAPE_COMPOUND,        /* several shapes, rigidly joined                              */
    CAIRN_SHAPE_COUNT
} cairn_shape_kind;

/** Data of a hull, mesh, polyline, height field or compound: immutable and reference counted. */
typedef struct cairn_geometry cairn_geometry;

/** A convex piece of a body: a part of a compound, a triangle (2D: segment) of a mesh, polyline or
 *  height field, or such a triangle of a part. -1: the whole. */
typedef struct cairn_piece {
    int32_t part, face;
} cairn_piece;

/** A shape by value; only the fields of its kind are used. Start from cairn_shape_default. */
typedef struct cairn_shape {
    cairn_shape_kind kind;
    double radius;        /* m: sphere, inside cylinder, capsule, cylinder, base of a cone     */
    double half_angle;    /* rad, between axis and wall: inside cone                           */
    double bottom_radius; /* m: funnel                                                         */
    double top_radius;    /* m: funnel                                                         */
    double height;        /* m, along the axis: funnel, cylinder, cone                         */
    double length;        /* m: straight part of a capsule                                     */
    double rounding;      /* m: box: radius of its edges, within `size`; polyhedron: of the ball
                             that sweeps it, outside its points                                */
    double exponent;      /* superellipsoid: n in |x/a|^n + |y/b|^n                            */
    double exponent_z;    /* superellipsoid, 3D: towards z; 0: the same                        */
    cairn_vec3 size;      /* m, full lengths (2D: z = 0): box, inside box                      */
    cairn_vec3 semi_axes; /* m (2D: z = 0): ellipsoid, superellipsoid                          */
    cairn_vec3 axis;      /* direction in the shape frame: outward normal of a half-space, axis
                             of cylinder, cone (from the apex to the opening), funnel (upward),
                             capsule, solid cone (from base to apex)                           */
    const cairn_geometry *geometry; /* polyhedron, mesh, polyline, height field, compound     */
} cairn_shape;

/** A shape of a kind with its defaults: radius and lengths 0 (to be given), axis +z (+y in 2D). */
CAIRN_API cairn_shape cairn_shape_default(cairn_shape_kind kind, int dimension);
/** The table of a shape kind: name, summary, options within cairn_shape. NULL past the last. */
CAIRN_API const cairn_record *cairn_shape_record(int kind);
/** 2 or 3 when the kind exists in that dimension alone, else 0. */
CAIRN_API int cairn_shape_dimension(cairn_shape_kind kind);
/** Check the values of a shape, and that its kind exists in this dimension; `error` (may be NULL)
 *  names the field. */
CAIRN_API cairn_status cairn_shape_check(const cairn_shape *shape, int dimension,
                                         cairn_error *error);

/** Mass, centre of mass and inertia of a solid of density 1. */
typedef struct cairn_mass {
    double mass;             /* kg: the volume in m^3 (2D: the area in m^2)                    */
    cairn_vec3 centre;       /* m, in the shape frame                                          */
    cairn_symmetric inertia; /* kg m^2, about the centre, axes of the shape frame; the tensor:
                                zz = int x^2 + y^2, xy = - int x y. 2D: zz only                */
} cairn_mass;

/** Mass, centre and inertia tensor at density 1, exact. CAIRN_UNSUPPORTED for shapes without
 *  finite volume. */
CAIRN_API cairn_status cairn_shape_mass_tensor(const cairn_shape *shape, int dimension,
                                               cairn_mass *out);
/** The frame in which a body moves: origin in the centre of mass, axes along the principal axes.
 *  `shape_in_body` is the pose of the shape frame in it: the identity when centre and axes already
 *  are the shape's. `inertia` are the moments about the body's axes (2D: z only). */
CAIRN_API void cairn_mass_principal(const cairn_mass *mass, int dimension, cairn_vec3 *inertia,
                                    cairn_pose *shape_in_body);
/** Mass and principal inertia (2D: z only) of a shape of given density (kg/m^3, in 2D kg/m^2).
 *  CAIRN_UNSUPPORTED for shapes without finite volume. */
CAIRN_API cairn_status cairn_shape_mass(const cairn_shape *shape, int dimension, double density,
                                        double *mass, cairn_vec3 *inertia);

/** Takes one polygon (`closed`; counterclockwise seen from outside) or line; the corners are lent
 *  for the call. Anything but CAIRN_OK ends the drawing. */
typedef cairn_status cairn_polygon_fn(void *context, const cairn_vec3 *corners, int count,
                                      bool closed);
/** Draw a bounded shape at a pose: its faces (2D: its outline) as polygons, round ones in pieces
 *  with corners on the surface. A point has none. CAIRN_UNSUPPORTED for unbounded shapes and
 *  containers, else what `add` says. */
CAIRN_API cairn_status cairn_shape_draw(const cairn_shape *shape, int dimension,
                                        const cairn_pose *pose, cairn_polygon_fn *add,
                                        void *context);

/** Largest side of the box about a shape, along the axes of its frame, m; infinite for unbounded
 *  shapes and containers. Of round shapes but balls it is up to 1 % less. */
CAIRN_API double cairn_shape_size(const cairn_shape *shape, int dimension);

/* ---- shared data --------------------------------------------------------------------------- */

/** A shape and where it sits in its compound. */
typedef struct cairn_part {
    cairn_shape shape;
    cairn_pose pose;
} cairn_part;

/** The convex hull of points (3D: at least 4, not in one plane; 2D: at least 3, not on a line). The
 *  caller owns one hold on *out. Fails with CAIRN_BAD_INPUT, CAIRN_NOT_FINITE, CAIRN_NO_MEMORY. */
CAIRN_API cairn_status cairn_hull_create(const cairn_vec3 *points, int count, int dimension,
                                         const cairn_geometry **out, cairn_error *error);

/** Triangles over shared vertices; copied by cairn_mesh_create. */
typedef struct cairn_mesh_def {
    const cairn_vec3 *vertices; /* m */
    int vertex_count;
    const int32_t *triangles; /* three vertices each, counterclockwise seen from outside */
    int triangle_count;
} cairn_mesh_def;

/** A surface of triangles; open or closed, but every edge in at most two triangles that run through
 *  it in opposite senses. A closed one must enclose a positive volume. Fails as
 *  cairn_hull_create. */
CAIRN_API cairn_status cairn_mesh_create(const cairn_mesh_def *def, const cairn_geometry **out,
                                         cairn_error *error);
/** Segments from point to point in 2D, `closed`: and back to the first. What is solid lies to the
 *  left of each segment: a closed chain that runs counterclockwise is a solid polygon, one that
 *  runs clockwise a container. */
CAIRN_API cairn_status cairn_polyline_create(const cairn_vec3 *points, int count, bool closed,
                                             const cairn_geometry **out, cairn_error *error);

/** Heights over a grid; copied. */
typedef struct cairn_height_field_def {
    int columns, rows;     /* points along x and y, at least 2 each                         */
    double spacing[2];     /* m between points along x and y                                */
    const double *heights; /* m, z of point (column, row) at [row * columns + column]       */
} cairn_height_field_def;

/** Ground over a grid centred about the origin; each cell has two triangles, split along the
 *  diagonal from its first to its last point; solid below. */
CAIRN_API cairn_status cairn_height_field_create(const cairn_height_field_def *def,
                                                 const cairn_geometry **out, cairn_error *error);
/** Shapes joined rigidly; compounds among them are dissolved into their parts. Each part must be
 *  bounded. Parts that overlap count twice in the mass. The parts' data are held as well. */
CAIRN_API cairn_status cairn_compound_create(const cairn_part *parts, int count, int dimension,
                                             const cairn_geometry **out, cairn_error *error);

/** The surface in a file, .obj or .stl (ASCII or binary), its coordinates times `scale` (0.001 for
 *  a file in mm). Corners at the same place are joined. `error` (may be NULL) gets the file and, in
 *  text files, the line. Fails as cairn_mesh_create, and with CAIRN_NOT_FOUND, CAIRN_IO_FAILED. */
CAIRN_API cairn_status cairn_mesh_load(const char *path, double scale, const cairn_geometry **out,
                                       cairn_error *error);
/** The hull of the vertices in such a file; its faces do not count. */
CAIRN_API cairn_status cairn_hull_load(const char *path, double scale, const cairn_geometry **out,
                                       cairn_error *error);

/** Add a reference; returns its argument. NULL is allowed. */
CAIRN_API const cairn_geometry *cairn_geometry_retain(const cairn_geometry *geometry);
/** Remove a reference; the data are freed with the last one. NULL is allowed. */
CAIRN_API void cairn_geometry_release(const cairn_geometry *geometry);

/** The contents, valid as long as the geometry is referenced. Faces are polygons of a hull or
 *  triangles of a mesh, counterclockwise seen from outside; in 2D they are edges, two vertices
 *  each. */
typedef struct cairn_geometry_view {
    int dimension;
    int vertex_count;
    const cairn_vec3 *vertices; /* m                                                         */
    int face_count;
    const int32_t *face_first;     /* face_count + 1: where a face begins in face_vertex     */
    const int32_t *face_vertex;    /* vertices of the faces, one after the other             */
    const cairn_vec3 *face_normal; /* unit, outward                                          */
    int edge_count;                /* 3D: where faces end                                    */
    const int32_t *edge;           /* four each: from, to, face on the left, face on the right
                                      (-1: none)                                             */
    bool closed;                   /* encloses a volume                                      */
    int part_count;
    const cairn_part *parts; /* of a compound                                                */
} cairn_geometry_view;

/** Get the contents of a geometry. */
CAIRN_API cairn_geometry_view cairn_geometry_look(const cairn_geometry *geometry);

/* ---- broad phases: how pairs of shapes that may touch are found ----------------------------- */

/** Name of broad phase `index`, NULL past the last. */
CAIRN_API const char *cairn_broad_phase_name(int index);
/** One line about a broad phase, NULL when unknown. */
CAIRN_API const char *cairn_broad_phase_summary(const char *name);

#ifdef __cplusplus
}
#endif
#endif
