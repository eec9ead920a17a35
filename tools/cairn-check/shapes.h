/* shapes.h - shapes of bodies: closed forms, convex solids, walls, depth of overlap. */
#ifndef CHECK_SHAPES_H
#define CHECK_SHAPES_H

#include "run.h"

/* ---- a ball and another shape, by closed forms ----------------------------------------------- */

enum { CHECK_WITNESSES = 3 }; /* contacts of one pair, at most */

/* One contact of a pair: a is a ball (or a point), n from b to a. */
typedef struct check_witness {
    vec normal, point; /* m: the point is the middle between the witness points */
    double gap;        /* m                                                     */
    double size;       /* m: what rounding of the gap is relative to            */
    double turn;       /* what rounding of the normal is relative to            */
} check_witness;

/* All contacts that bodies a and b can have, by feature number; 0 when there is no closed form or
 * a is no ball. Poses are by body. */
int check_witnesses(const check_run *run, int a, int b, const vec *x, const quat *q,
                    check_witness *out);

static inline bool check_is_ball(const check_run *run, int body)
{
    return run->bodies.shape[body] == CHECK_SPHERE || run->bodies.shape[body] == CHECK_POINT;
}

static inline double check_radius(const check_run *run, int body)
{
    return run->bodies.shape[body] == CHECK_SPHERE ? run->bodies.radius[body] : 0;
}

/* A ball against the inside of cylinder or cone b: what a contact along the direction nearest to
 * `normal` is, of those where the ball is nearest to the wall (`all` false: the nearest alone). */
typedef struct check_ball {
    vec x;
    double radius;
} check_ball;
check_witness check_in_wall(const check_run *run, check_ball ball, int b, vec normal, bool all);

/* A unit vector at right angles to the unit vector n: the documented formula; `other` takes the
 * second branch of it. */
vec check_perpendicular(vec n, bool other);

/* ---- convex solids --------------------------------------------------------------------------- */

/* Convex solids whose dimensions are in the file: how far outside a point is, and how far the solid
 * extends in a direction. */

/* Relative to the size of bodies: a contact point within this height of the lowest counts as
 * lowest. The points kept on a face, and the lowest point of a curved body, are accurate to about
 * 1e-8. */
#define CHECK_LOWEST 4e-8

/* How accurately the library promises to find their closest points. */
typedef enum check_class {
    CHECK_NO_SOLID,
    CHECK_FLAT,   /* balls, boxes, capsules, hulls, faces: rounding          */
    CHECK_SMOOTH, /* ellipsoids, superellipsoids: Newton's method            */
    CHECK_RIMMED  /* solid cylinders and cones: curved and with edges        */
} check_class;

/* The class of a kind of shape; bodies of several pieces are not solids themselves. */
check_class check_class_of(int32_t shape);
/* Whether a shape is made of faces. */
bool check_is_surface(int32_t shape);

/* Where a body is. */
typedef struct check_place_of {
    vec x;
    quat q;
} check_place_of;

/* A solid where it is: a body, a part of one, or a face of one. */
typedef struct check_solid {
    int32_t shape; /* of check_shape; that of a face is the kind of its surface */
    bool flat;     /* in 2D                                                     */
    check_place_of at;
    double radius, height, length, rounding, exponents[2];
    vec size, semi_axes, axis;
    const check_geometries *data; /* hulls and faces: their row, and which face */
    const check_geometry *row;
    int face;
} check_solid;

/* m: how far outside the surface a point is, negative inside; exact except for ellipsoids and
 * superellipsoids, where it is correct to first order near the surface. A face has no inside. */
double check_outside(const check_solid *s, vec point);
/* m: max of p.direction over the solid, for a unit direction; p in space. */
double check_reach(const check_solid *s, vec direction);
/* The farthest point of its core (without the ball that sweeps it) along a direction, in space. */
vec check_support(const check_solid *s, vec direction);
/* Corners of the core of flat solids and faces, in space: their number, and one of them. Curved
 * solids have none. */
int check_point_count(const check_solid *s);
vec check_point(const check_solid *s, int k);
/* A point inside, in space; of a face one on it. */
vec check_middle(const check_solid *s);
/* m: radius about the origin of its shape that holds it; of a face: all of its surface. */
double check_solid_extent(const check_solid *s);
/* m: radius of the ball that sweeps its core. */
double check_rounding_of(const check_solid *s);

/* ---- pieces of bodies ------------------------------------------------------------------------ */

/* Bodies as the convex solids that they are made of: themselves, the parts of a
 * compound, the faces of a mesh, height field or polyline. */

/* Which piece: of a compound the part, of a surface the face, else -1. */
typedef struct check_piece {
    int part, face;
} check_piece;

/* Before the first piece. */
#define CHECK_FIRST_PIECE ((check_piece){ -1, -2 })

/* Whether the pieces of a body are in the file; false also for walls. */
bool check_has_pieces(const check_run *run, int body);
bool check_is_one_piece(const check_run *run, int body);
/* Whether faces are among its pieces. */
bool check_has_faces(const check_run *run, int body);
/* The worst class of its pieces. */
check_class check_pieces_class(const check_run *run, int body);
check_solid check_piece_at(const check_run *run, int body, check_place_of at, check_piece piece);
/* The next piece after *piece that p, in space, can be close to, `within` a distance; false: there
 * is none. HUGE_VAL: all pieces. */
bool check_piece_next(const check_run *run, int body, check_place_of at, vec p, double within,
                      check_piece *piece);
/* m: largest distance of corners of its hulls from their faces. */
double check_bent(const check_run *run, int body);
/* m: radius about the centre of mass that contains a body; 0: it is unbounded, -1: the file does
 * not say. */
double check_extent(const check_run *run, int body);
/* m: max of p.direction over all pieces. */
double check_body_reach(const check_run *run, int body, check_place_of at, vec direction);
/* Whether a face may push along the unit direction `out` at whatever touches it: its own normal,
 * of an open sheet either way. */
bool check_is_face_normal(const check_solid *face, vec out);

/* ---- how deep two convex solids overlap ------------------------------------------------------ */

/* How deep two convex solids overlap, with proof: a lower and an upper bound of the depth. */

/* m: a depth, negative where two are apart; `low` may be -infinite where it is not needed. */
typedef struct check_range {
    double low, high;
    vec n; /* unit: moving the first solid by `high` along n takes the two apart */
} check_range;

/* A query about two solids. */
typedef struct check_question {
    const check_solid *a, *b;
    const vec *hints; /* directions n to try first */
    int hint_count;
    double enough; /* m: a depth below this need not be known more accurately */
    bool facing;   /* of two faces: the body of one, closed, is in front of the other */
} check_question;

/* The shortest displacement, in any direction, that separates solid a from solid b. */
check_range check_convex_depth(const check_question *question);
/* m: the displacement along the unit direction n alone. */
double check_depth_along(const check_solid *a, const check_solid *b, vec n);

/* ---- walls: half-spaces, insides of boxes, cylinders and cones ------------------------------- */

enum { CHECK_PLANES = 6 }; /* of a wall, at most */

/* n.(p - origin of the wall) >= level for all points p that it allows. */
typedef struct check_plane {
    vec n; /* unit */
    double level;
} check_plane;

/* The planes of a wall that is made of planes (half-space, inside of a box, in 2D a wedge), rotated
 * by q. Returns their number; 0: it is no such wall. */
int check_planes(const check_run *run, int wall, quat q, check_plane out[CHECK_PLANES]);
/* The inside of a cylinder or, in 3D, of a cone. */
bool check_is_round_wall(const check_run *run, int body);
/* Any of these, or a funnel. */
bool check_is_wall(const check_run *run, int body);
/* m: how deep body a, where it is, reaches through the plane of a wall; negative: it does not. */
double check_plane_depth(const check_run *run, int a, check_place_of at, vec wall,
                         const check_plane *plane);
/* m: the same for a round wall, where it is deepest. */
double check_round_depth(const check_run *run, int a, check_place_of at, int wall,
                         check_place_of at_wall);
/* m: how far above the lowest point of a body the contacts with a wall may end. */
double check_lowest_doubt(const check_run *run, int body);
/* m: how far above the deepest point in a round wall they may end. */
double check_round_doubt(const check_run *run, int body);

/* ---- how deep two bodies of any shapes overlap ----------------------------------------------- */

/* Two bodies, and the poses of all. */
typedef struct check_couple {
    int a, b;
    const vec *x; /* by body */
    const quat *q;
    const vec *hints; /* directions from b to a to try first */
    int hint_count;
    double enough; /* m: a depth below this need not be known more accurately */
} check_couple;

/* The range of the depth of the pair, widened by the promised accuracy; false: the file lacks the
 * dimensions of its shapes. */
bool check_overlap(const check_run *run, const check_couple *pair, check_range *out);
/* m: promised accuracy of the depth of two solids of these classes and of this size. */
double check_promise(check_class one, check_class two, bool ball, double depth, double size);

/* ---- gaps of shapes without a formula: whether stored points prove the gap ------------------- */

/* Check contact j where contacts are evaluated. false: the file lacks the dimensions of its shapes,
 * and nothing was checked. */
bool check_witness_points(check_run *run, int j);

#endif
