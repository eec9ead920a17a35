/* convex.h - distances between convex shapes.
 *
 * A convex shape is a core with a ball of radius `rounding` swept over it. The core is known by its
 * support map s(d) = the farthest point in direction d and by the face that looks in a direction.
 * All algorithms work on the difference C = { a - b } of two cores through its support map: the
 * distance of the cores is that of C from the origin, and they overlap if C contains it. */
#ifndef CAIRN_COLLIDE_CONVEX_H
#define CAIRN_COLLIDE_CONVEX_H

#include "collide/collide.h"
#include "shape/shape.h"

/* A convex shape in space, or a triangle of a mesh (then `shape` is NULL). */
typedef struct cairn_convex {
    cairn_vec3 x;       /* m: origin of the shape                                        */
    cairn_vec3 axes[3]; /* its axes in space                                             */
    double rounding;    /* m: radius of the ball swept over the core                     */
    double extent;      /* m: radius about x that holds core and rounding                */
    const cairn_shape *shape;
    const cairn_shape_class *class;
    cairn_vec3 corners[3];  /* m, relative to x: of a triangle (2D: two, of a side)       */
    int32_t corner_name[3]; /* the numbers of its corners in features                     */
    int corner_count;
} cairn_convex;

/* triangles.c: the face that a collider of a mesh, polyline or height field stands for; false for
 * others. */
bool cairn_convex_make_face(const cairn_collider *collider, cairn_convex *out);
/* The shape of a collider, or the face that it stands for, as a convex shape; false for kinds that
 * are not convex and bounded. */
bool cairn_convex_make(const cairn_collider *collider, cairn_convex *out);
/* A triangle (2D: a side, `count` 2) given by its corners in space, counterclockwise seen from
 * outside (2D: outside is on the right on the way from the first to the second). */
cairn_convex cairn_convex_triangle(const cairn_vec3 *corners, int count);
/* The farthest point of the core in a direction, relative to x. */
cairn_vec3 cairn_convex_support(const cairn_convex *c, cairn_vec3 direction);
/* Corner number k of a core that is the hull of its corners, relative to x; false: there is none,
 * or the core is curved. */
bool cairn_convex_corner(const cairn_convex *c, int k, cairn_vec3 *out);
/* The face of the core that looks in a direction; points relative to x. */
void cairn_convex_face(const cairn_convex *c, cairn_vec3 direction, cairn_face *out);
/* A symmetric 2 x 2 matrix in the plane of two vectors t and u. */
typedef struct cairn_bend {
    double tt, tu, uu;
} cairn_bend;

/* The derivative H of the support point with respect to the unit direction n: t.H t, t.H u, u.H u.
 */
cairn_bend cairn_convex_curvature(const cairn_convex *c, cairn_vec3 n, cairn_vec3 t, cairn_vec3 u);
/* Whether support points are unique and move smoothly with the direction. */
bool cairn_convex_is_smooth(const cairn_convex *c);

/* ---- two cores ------------------------------------------------------------------------------ */

/* Two convex shapes; positions are relative to the origin of b. */
typedef struct cairn_couple {
    const cairn_convex *a, *b;
    cairn_vec3 offset; /* m: origin of a                                               */
    cairn_vec3 sweep;  /* m: a is all places on its way along this vector; 0: one place */
    double size;       /* m: sum of both extents, what tolerances are relative to      */
    int dimension;
} cairn_couple;

/* A point of C and the points of a and b that give it. */
typedef struct cairn_difference {
    cairn_vec3 a, b, w; /* w = a - b */
} cairn_difference;

cairn_couple cairn_couple_make(const cairn_convex *a, const cairn_convex *b, int dimension);
/* The farthest point of C in a direction. */
cairn_difference cairn_couple_support(const cairn_couple *c, cairn_vec3 direction);
/* The gap along the unit vector n: min over a of n.a - max over b of n.b. */
double cairn_couple_gap_along(const cairn_couple *c, cairn_vec3 n);

/* Where two cores are closest, or how deep they overlap; relative to the origin of b. */
typedef struct cairn_distance {
    cairn_vec3 on_a, on_b; /* m: points of the cores                                             */
    cairn_vec3 normal;     /* unit, from b to a                                                  */
    double gap;            /* m, of the cores: negative when they overlap                        */
    double residual;       /* |on_a - on_b - gap(normal) normal| / size: 0 for the exact answer  */
    int iterations;        /* number of support points computed, approximately                   */
} cairn_distance;

/* How GJK ended. */
typedef enum cairn_gjk_end {
    CAIRN_GJK_APART, /* `out` is the closest pair                            */
    CAIRN_GJK_FAR,   /* the gap is larger than the limit; no pair            */
    CAIRN_GJK_TOUCH  /* the origin is in C, to rounding                      */
} cairn_gjk_end;

/* gjk.c: the closest points of two cores that are apart, to a relative `precision` of the gap or as
 * well as rounding allows. On entry out->normal is a starting direction from b to a. */
cairn_gjk_end cairn_gjk(const cairn_couple *c, double limit, double precision, cairn_distance *out);
/* gjk.c: the shortest way out of an overlap (or the widest gap along a face normal); `precision`
 * is relative to the size. */
void cairn_epa(const cairn_couple *c, double precision, cairn_distance *out);
/* distance.c: Newton's method on the normal, from the one in `d`. Both shapes must be smooth.
 * True when the residual got below CAIRN_SMOOTH_RESIDUAL. */
bool cairn_common_normal(const cairn_couple *c, cairn_distance *d);
/* distance.c: the distance by the method that suits the pair. False: the gap is above `limit`. */
bool cairn_distance_find(const cairn_couple *c, double limit, cairn_distance *out);
/* distance.c: a direction along which b stays beside a on all of its way along c->sweep, or comes
 * deeper than anywhere else by less than `slack`, with the gap of the cores along it on the way. */
bool cairn_distance_passing(const cairn_couple *c, double slack, cairn_distance *out);
/* Whether a distance is good enough to be used. */
bool cairn_distance_is_sound(const cairn_couple *c, const cairn_distance *d);

/* The largest residual of a valid distance: of two smooth shapes; of others; of others that overlap
 * by more than CAIRN_DEEP of their size, where any direction that separates them is good enough. */
#define CAIRN_SMOOTH_RESIDUAL 1e-10
#define CAIRN_CONVEX_RESIDUAL 1e-5
#define CAIRN_DEEP_RESIDUAL   1e-3
#define CAIRN_DEEP            0.02

/* manifold.c: the witnesses of a pair at distance d with gap <= margin, sorted by feature; as many
 * as cairn_witnesses_kept says. Returns their number. */
int cairn_manifold_find(const cairn_couple *c, const cairn_distance *d, double margin,
                        cairn_witness *out);
/* The same along a given normal, and without the witness: points only where the faces that look at
 * each other along n lie over each other. */
int cairn_manifold_along(const cairn_couple *c, cairn_vec3 n, double margin, cairn_witness *out);
/* The corners of the face of a that looks along -n, and how far they are from the plane of b's face
 * there, wherever its edges are. */
int cairn_manifold_corners(const cairn_couple *c, cairn_vec3 n, double margin, cairn_witness *out);

/* manifold.c: the feature of a contact at a corner of a, whose number is `vertex`. */
int32_t cairn_corner_feature(int32_t vertex);

/* manifold.c: keep at most `limit` of the points, which span about the same area as all and include
 * the deepest; then sort them by feature. Returns how many were kept. */
int cairn_witnesses_reduce(cairn_witness *points, int count, int limit);

/* ---- triangles of a mesh -------------------------------------------------------------------- */

/* A triangle of a mesh; in 2D a side of a polyline (two corners, outside on the right). */
typedef struct cairn_triangle {
    cairn_vec3 corner[3]; /* m, counterclockwise seen from outside                              */
    int32_t name[3];      /* of the corners: numbers of the vertices                           */
    cairn_vec3 beyond[3]; /* outward normal of the neighbour across the edge from corner k to the
                             next (2D: at corner k); zero: an open edge                         */
    bool two_sided;       /* may be touched from both sides                                     */
    double behind;        /* m: how far another face may have passed through it                 */
    const cairn_collider *of; /* the mesh, and the index of this face; NULL: the faces around its
                                 corners are not known                                          */
} cairn_triangle;

/* triangles.c: the witnesses of a convex shape and a triangle, as cairn_manifold_find; none with
 * normals that belong to a neighbour. CAIRN_UNRESOLVED as cairn_witnesses_find. */
int cairn_triangle_witnesses(const cairn_convex *a, const cairn_triangle *t, int dimension,
                             double margin, cairn_witness *out);

#endif
