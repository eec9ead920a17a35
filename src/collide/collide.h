/* collide.h - from shapes in space to candidate contacts.
 *
 * A collider may move by `reach` (and turn by `turn`) in the coming step. Two colliders are a
 * candidate if their gap is at most the sum of the distances that both may cover. A pair that is
 * left out therefore cannot touch in the step, as long as no body moves beyond its reach. */
#ifndef CAIRN_COLLIDE_COLLIDE_H
#define CAIRN_COLLIDE_COLLIDE_H

#include <math.h>

#include "base/memory.h"
#include "cairn/shape.h"
#include "math/vec.h"
#include "shape/shape.h"

/* The geometry of one body, or of one piece of it. */
typedef struct cairn_collider {
    const cairn_shape *shape; /* NULL: not there                                        */
    cairn_vec3 x;             /* m: origin of the shape                                 */
    cairn_quat q;
    cairn_box box;  /* holds the shape as it stands, when that is bounded     */
    double extent;  /* m: radius about x that holds the shape; may be infinite */
    double reach;   /* m: how far any of its points may move in this step     */
    double behind;  /* m: how far its points may have moved to the present pose */
    double turn;    /* rad: how far an unbounded shape may turn               */
    cairn_vec3 way; /* m: in this step, with the velocity before it          */
    double sunk;    /* m: how deep bodies that lie on others may overlap them */
    int32_t face;   /* of a mesh, polyline or height field: the piece meant   */
    bool movable;   /* two colliders that are not movable never collide       */
} cairn_collider;

/* Set pose, extent and box of a collider whose shape is set. */
void cairn_collider_place(cairn_collider *collider, cairn_pose pose);
/* Set the box to that of a ball of radius `extent` about x. */
void cairn_collider_enclose(cairn_collider *collider);
/* Whether it fits in a box. */
bool cairn_collider_bounded(const cairn_collider *collider);

/* The region in which a collider may be in this step, in one cache line: all the data that the
 * broad phase and the distances of balls and planes need. */
typedef enum cairn_zone_kind {
    CAIRN_ZONE_NONE,     /* not there                                                      */
    CAIRN_ZONE_BALL,     /* a ball of `radius` about the centre                            */
    CAIRN_ZONE_BOX,      /* anything else that is bounded                                  */
    CAIRN_ZONE_PLANE,    /* a half-space that does not turn: `half` is its unit normal, the
                            centre a point of its plane, `radius` its reach               */
    CAIRN_ZONE_UNBOUNDED /* anything else                                                  */
} cairn_zone_kind;

typedef struct cairn_zone {
    cairn_vec3 centre;
    cairn_vec3 half; /* m: half lengths of the box, with the reach                         */
    double radius;   /* m: of a ball; else the reach                                       */
    uint8_t kind;
    bool movable;
} cairn_zone;

/* The zone of a collider. */
cairn_zone cairn_zone_of(const cairn_collider *collider);

static inline bool cairn_zone_bounded(const cairn_zone *zone)
{
    return zone->kind == CAIRN_ZONE_BALL || zone->kind == CAIRN_ZONE_BOX;
}

/* Whether the boxes of two bounded zones overlap. */
static inline bool cairn_zones_overlap(const cairn_zone *a, const cairn_zone *b)
{
    const cairn_vec3 p = a->centre, q = b->centre, s = a->half, t = b->half;
    return (fabs(p.x - q.x) <= s.x + t.x) & (fabs(p.y - q.y) <= s.y + t.y) &
           (fabs(p.z - q.z) <= s.z + t.z);
}

/* Whether two balls can touch in this step. */
static inline bool cairn_balls_meet(const cairn_zone *a, const cairn_zone *b)
{
    double x = a->centre.x - b->centre.x, y = a->centre.y - b->centre.y,
           z = a->centre.z - b->centre.z, far = a->half.x + b->half.x;
    return x * x + y * y + z * z <= far * far;
}

/* Two colliders that may touch, first < second. */
typedef struct cairn_pair {
    int32_t first, second;
} cairn_pair;

static inline cairn_pair cairn_pair_of(int32_t a, int32_t b)
{
    return (cairn_pair){ a < b ? a : b, a < b ? b : a };
}

/* A growing list of pairs that lives from step to step. */
typedef struct cairn_pair_list {
    cairn_pair *items;
    size_t count, capacity;
    cairn_image *image; /* of the second of each pair, in periodic worlds; else NULL */
    size_t image_capacity;
} cairn_pair_list;

/* A broad phase adds to `out` all pairs whose boxes overlap, where both are bounded and at least
 * one is movable. Any order, each pair once. */
typedef struct cairn_broad_phase {
    const char *name;
    const char *summary;
    cairn_status (*run)(const cairn_zone *zones, int count, cairn_arena *scratch,
                        cairn_pair_list *out);
} cairn_broad_phase;

extern const cairn_broad_phase cairn_broad_phase_auto;
extern const cairn_broad_phase cairn_broad_phase_grid;
extern const cairn_broad_phase cairn_broad_phase_tree;
extern const cairn_broad_phase cairn_broad_phase_all_pairs;

/* The broad phase of a name, NULL when unknown. */
const cairn_broad_phase *cairn_broad_phase_find(const char *name);
/* Whether the boxes of two bounded colliders, with their reaches, overlap. */
bool cairn_boxes_overlap(const cairn_collider *a, const cairn_collider *b);
cairn_status cairn_pair_list_add(cairn_pair_list *list, int32_t a, int32_t b);
void cairn_pair_list_destroy(cairn_pair_list *list);
/* Sort pairs of bodies 0 .. bodies - 1 by (first, second). */
cairn_status cairn_pair_list_sort(cairn_pair_list *list, int bodies, cairn_arena *scratch);
/* All pairs: those of the broad phase; every movable ball or box with every plane that it reaches
 * and with every unbounded zone; sorted by (first, second). */
cairn_status cairn_pairs_find(const cairn_broad_phase *broad, const cairn_zone *zones, int count,
                              cairn_arena *scratch, cairn_pair_list *out);
/* Whether two zones can touch. The test is exact for two balls and for a ball with a plane. */
bool cairn_zones_meet(const cairn_zone *a, const cairn_zone *b);

/* ---- pieces --------------------------------------------------------------------------------- */

/* Two pieces that may touch: of the first and the second collider of pair number `pair`. */
typedef struct cairn_leaf {
    int32_t pair;
    cairn_piece first, second;
} cairn_leaf;

/* A growing list of leaves that lives from step to step. */
typedef struct cairn_leaf_list {
    cairn_leaf *items;
    size_t count, capacity;
} cairn_leaf_list;

void cairn_leaf_list_destroy(cairn_leaf_list *list);
/* Append the leaves of pair number `pair`: all pieces that can meet within both reaches, found by
 * their boxes; sorted by piece of a, then of b. */
cairn_status cairn_leaves_add(const cairn_collider *a, const cairn_collider *b, int32_t pair,
                              cairn_leaf_list *list);
/* Whether a collider is divided into pieces. */
bool cairn_collider_has_pieces(const cairn_collider *collider);
/* The shape that a piece is of. */
const cairn_shape *cairn_piece_shape(const cairn_collider *whole, cairn_piece piece);
/* A piece of a collider, as a collider without its own box: the whole itself, or written to
 * `made`. */
const cairn_collider *cairn_collider_piece(const cairn_collider *whole, cairn_piece piece,
                                           cairn_collider *made);
/* pieces.c: m: how deep a body, or a point of it, is inside the volume of a closed mesh or polyline
 * of another: the distance to its planes plus the body's own size; 0: it is outside. The contacts
 * of faces do not detect this. */
double cairn_collider_swallowed(const cairn_collider *inner, const cairn_collider *outer);
/* The flat region of a mesh, polyline or height field that a piece belongs to: the piece with the
 * smallest number of a face there; other pieces are their own. */
cairn_piece cairn_piece_patch(const cairn_shape *whole, cairn_piece piece);
/* Order of pieces: by part, then by face. */
int cairn_piece_compare(cairn_piece a, cairn_piece b);

/* ---- narrow phase --------------------------------------------------------------------------- */

/* Where two shapes are closest. */
typedef struct cairn_witness {
    cairn_vec3 on_a, on_b; /* m: the points                                             */
    cairn_vec3 normal;     /* unit, from b to a                                         */
    double gap;            /* m, negative when shapes overlap                           */
    int32_t feature;       /* distinguishes several contacts of one pair                */
    float residual;        /* of the iteration that found the distance, see cairn_distance;
                              0 for closed forms                                        */
} cairn_witness;

/* The feature of a plane between two bodies that pass each other (narrow.c). */
#define CAIRN_FEATURE_PASSING INT32_MAX

/* At most, per flat contact (one normal), and per pair: six walls of a box. cairn_witnesses_limit
 * says how many a given pair can have. */
enum {
    CAIRN_FLAT_WITNESSES = 8,
    CAIRN_WITNESSES = 48,
    CAIRN_WALL_WITNESSES = 12,
    CAIRN_UNRESOLVED = -1
};

/* The witnesses of a pair whose gap is at most the distance that both may cover, sorted by feature.
 * The narrow phase decides which collider is a and which is b: *swapped is true if a is the second
 * one. Returns their number, or CAIRN_UNRESOLVED: these kinds cannot meet (two unbounded shapes),
 * or their distance was not found to the accuracy promised in docs/collision.md. */
int cairn_witnesses_find(const cairn_collider *first, const cairn_collider *second, int dimension,
                         bool *swapped, cairn_witness *out);
/* manifold.c: which points of one flat contact (one normal) to keep: at most `limit`, 2, 4 or 8,
 * which span about the same area as all and include the deepest. Returns how many of `chosen` are
 * set. */
int cairn_witnesses_choose(const cairn_witness *points, int count, int limit,
                           int chosen[CAIRN_FLAT_WITNESSES]);
/* How many points of a flat contact are kept: 2 in 2D, 4, and 8 if a face has more than 4 corners,
 * as the ends of cylinders have. But 4 if the two may come nearer in the step by more than 1/20 of
 * their size (the least reach is 1/50): then they strike or tumble and do not stand, and 8 points
 * with friction on one body make sweeps slow. `share`: how far they may, over the size. */
int cairn_witnesses_kept(int dimension, int corners, double share);
/* How many witnesses cairn_witnesses_find can give for this pair. */
int cairn_witnesses_limit(const cairn_collider *first, const cairn_collider *second);

/* ---- pairs that are kept --------------------------------------------------------------------- */

/* Pairs that are found once and used for many steps, and the pairs of a few zones among
 * many. */

/* The geometry of all bodies in one step. */
typedef struct cairn_layout {
    int count;
    const cairn_zone *zones;
    const cairn_collider *colliders; /* of all but balls, whose zones are sufficient         */
    const double *reach;             /* m, of each; NULL: 0                                  */
    const cairn_vec3 *way;           /* m, of balls: as in cairn_collider; NULL: 0           */
    double sunk;                     /* m, likewise                                          */
    const cairn_lattice *cell;       /* NULL: not periodic; rate: m, the way of edges to cover */
} cairn_layout;

/* A list of pairs and the zones it was built with. Zero is an empty list. */
typedef struct cairn_kept_pairs {
    cairn_pair_list list;
    cairn_zone *zones; /* with the skin                                               */
    size_t capacity;
    int count;    /* zones                                                       */
    bool made;    /* the list is there                                           */
    double share; /* skin over reach                                             */
    double growth, cost;
    size_t most;           /* pairs that the list may grow to                             */
    double usual;          /* m: mean edge of the bounded zones                           */
    double mending;        /* tests that updates of the list have cost                    */
    cairn_pair_list fresh; /* pairs of strays, before they are merged into the list       */
    int64_t uses;          /* steps for which the list was used                           */
    int64_t lists;         /* lists that were built                                       */
    int64_t mended;        /* steps in which a list was updated                           */
} cairn_kept_pairs;

void cairn_kept_pairs_destroy(cairn_kept_pairs *kept);
/* Make the next step build a new list. */
void cairn_kept_pairs_forget(cairn_kept_pairs *kept);
/* Bodies have other numbers now: `was` has the old number of each of `count` bodies, -1: it is new;
 * `now` the new number of each old one, -1: it is gone. The list is kept if bodies keep their
 * order, else forgotten. New bodies are strays in the next step. */
void cairn_kept_pairs_rename(cairn_kept_pairs *kept, const int32_t *was, int count,
                             const int32_t *now, int before);
/* The pairs of a step: of two bounded zones, or of one with a wall, those that meet and of which
 * one is movable; sorted by (first, second). */
cairn_status cairn_kept_pairs_live(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                                   const cairn_layout *at, cairn_arena *scratch,
                                   cairn_pair_list *out);

/* Whether two zones meet and one of them is movable. */
static inline bool cairn_zones_are_live(const cairn_zone *a, const cairn_zone *b)
{
    if (a->kind == CAIRN_ZONE_BALL && b->kind == CAIRN_ZONE_BALL)
        return cairn_balls_meet(a, b) & (a->movable | b->movable); /* half pass: no branch */
    return a->kind != CAIRN_ZONE_NONE && b->kind != CAIRN_ZONE_NONE && (a->movable || b->movable) &&
           cairn_zones_meet(a, b);
}

/* Where the zones of a layout are in a list, if that is not where they are. */
typedef struct cairn_places {
    const cairn_zone *(*zone)(const void *context, const cairn_layout *at, int i, cairn_zone *made);
    const void *context;
} cairn_places;
typedef struct cairn_zone_numbers {
    int32_t *zone;
    int count;
} cairn_zone_numbers;
/* Find the strays: zones that have left those that the list was built with. */
cairn_status cairn_kept_pairs_strays(const cairn_kept_pairs *kept, const cairn_layout *at,
                                     const cairn_places *places, cairn_arena *scratch,
                                     cairn_zone_numbers *out);
/* Whether the strays are few enough to update the list, and there is no other reason for a new one.
 * `zones` has their present zones. */
bool cairn_kept_pairs_mendable(const cairn_kept_pairs *kept, const cairn_zone *zones,
                               const cairn_zone_numbers *strays);
/* Add the pairs of strays, whose new zones are in kept->zones; `spare` is overwritten. */
cairn_status cairn_kept_pairs_mend(cairn_kept_pairs *kept, const cairn_zone_numbers *strays,
                                   cairn_arena *scratch, cairn_pair_list *spare);
/* A zone with the skin of a list, and the share of the next list, from the cost of the last one. */
cairn_zone cairn_zone_widened(const cairn_zone *zone, double share);
void cairn_kept_pairs_tune(cairn_kept_pairs *kept);
/* Begin a new list: room for its zones in kept->zones, which keeps what it has. */
cairn_status cairn_kept_pairs_begin(cairn_kept_pairs *kept, int count);
/* Find the pairs of kept->zones. */
cairn_status cairn_kept_pairs_make(cairn_kept_pairs *kept, const cairn_broad_phase *broad,
                                   cairn_arena *scratch);
/* A step has used the list and found so many pairs: a list that is much too long is given up. */
void cairn_kept_pairs_used(cairn_kept_pairs *kept, size_t pairs);

/* ---- strays ------------------------------------------------------------------------------ */

/* The pairs of a few zones among many. */

typedef struct cairn_strays {
    const cairn_zone *zones;
    int count;
    const int32_t *few; /* numbers of the zones whose pairs are wanted */
    int few_count;
    double usual; /* m: mean edge of the zones */
} cairn_strays;

/* Whether the few can be searched separately: they are bounded, not much larger than usual, and not
 * so far from the origin that positions lose their accuracy. */
bool cairn_strays_suit(const cairn_zone *zones, const int32_t *few, int count, double usual);
/* All pairs of one of the few with any zone that it meets, one of the two movable; sorted, each
 * once. The few must suit. */
cairn_status cairn_strays_find(const cairn_strays *strays, cairn_arena *scratch,
                               cairn_pair_list *out);

/* ---- periodic cells: their lattice, and pairs with images of others ------------------------- */

/* ---- the lattice ----------------------------------------------------------------------------- */

static inline bool cairn_edge_is_periodic(const cairn_lattice *cell, int axis)
{
    cairn_vec3 e = cell->edge[axis];
    return e.x != 0 || e.y != 0 || e.z != 0;
}

static inline bool cairn_lattice_is_periodic(const cairn_lattice *cell)
{
    return cairn_edge_is_periodic(cell, 0) || cairn_edge_is_periodic(cell, 1) ||
           cairn_edge_is_periodic(cell, 2);
}

static inline cairn_vec3 cairn_edges_sum(const cairn_vec3 edge[3], cairn_image image)
{
    cairn_vec3 sum = cairn_scale(image.k[0], edge[0]);
    sum = cairn_add_scaled(sum, image.k[1], edge[1]);
    return cairn_add_scaled(sum, image.k[2], edge[2]);
}

/* m: from a body to its image. */
static inline cairn_vec3 cairn_lattice_shift(const cairn_lattice *cell, cairn_image image)
{
    return cairn_edges_sum(cell->edge, image);
}

/* m/s: velocity of an image relative to its original. */
static inline cairn_vec3 cairn_lattice_drift(const cairn_lattice *cell, cairn_image image)
{
    return cairn_edges_sum(cell->rate, image);
}

static inline bool cairn_image_is_other(cairn_image image)
{
    return (image.k[0] | image.k[1] | image.k[2]) != 0;
}

static inline cairn_image cairn_image_opposite(cairn_image image)
{
    return (cairn_image){ { -image.k[0], -image.k[1], -image.k[2] } };
}

/* a + b - c */
static inline cairn_image cairn_image_from(cairn_image a, cairn_image b, cairn_image c)
{
    for (int i = 0; i < 3; i++)
        a.k[i] += b.k[i] - c.k[i];
    return a;
}

/* The order of images, axis by axis: < 0, 0 or > 0. */
int cairn_image_compare(cairn_image a, cairn_image b);
/* 1/m: the vectors with b_i.e_j = 1 for i = j, else 0. An axis without an edge counts as an edge of
 * 1 m along the axis. 1/|b_i| is the distance of two opposite faces. */
void cairn_lattice_reciprocal(const cairn_lattice *cell, cairn_vec3 b[3]);
/* The image of a point that lies within the cell, as the edges to add to it. */
cairn_image cairn_lattice_home(const cairn_lattice *cell, const cairn_vec3 b[3], cairn_vec3 x);
/* Whether that is the point itself: 0 <= b_i.(x - corner) < 1 for all edges. */
static inline bool cairn_lattice_holds(const cairn_lattice *cell, const cairn_vec3 b[3],
                                       cairn_vec3 x)
{
    cairn_vec3 d = cairn_sub(x, cell->corner);
    bool holds = true;
    for (int i = 0; i < 3; i++) {
        double share = cairn_dot(b[i], d);
        holds &= (bool)((share >= 0) & (share < 1)) || !cairn_edge_is_periodic(cell, i);
    }
    return holds;
}
/* The cell some time, s, after the start of the step. */
cairn_lattice cairn_lattice_ahead(const cairn_lattice *cell, double time);

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The bodies of a periodic world, for the search of pairs. */
typedef struct cairn_crowd {
    const cairn_layout *at;
    const cairn_image *image; /* of each body: how often it left the cell */
    const uint64_t *uid;      /* of each body                             */
    const cairn_broad_phase *broad;
} cairn_crowd;

/* A range along each edge, in edges. */
typedef struct cairn_edge_span {
    double low[3], high[3];
} cairn_edge_span;

/* The images that a list of pairs contains. Zero is empty. Codes are images in one number
 * (images.c). */
typedef struct cairn_images {
    int bodies, count;  /* bodies; images                                                 */
    uint64_t *base;     /* code, of each body: its place in the list minus how often it left */
    uint64_t *place;    /* code, of each body: its place in the list in this step         */
    int32_t *owner;     /* of each image: its body; ascending                             */
    cairn_image *image; /* of each image: where it is, relative to the place of its body  */
    cairn_vec3 edge[3]; /* m: of the cell when the images were chosen                     */
    cairn_vec3 reciprocal[3]; /* 1/m: of these edges                                            */
    double steepness[3];      /* 1/m: their lengths                                             */
    cairn_vec3 corner;        /* m: of the cell                                                 */
    cairn_edge_span all;      /* of all bodies in the list, with room for strays                */
    double farthest;          /* largest sum of the components of an image that can be needed   */
    double slack;             /* m: how far an edge may move until images are chosen again      */
    size_t body_capacity, place_capacity, image_capacity, owner_capacity;
} cairn_images;

void cairn_images_destroy(cairn_images *images);
/* The pairs of a step in a periodic world: as cairn_kept_pairs_live, with the image of the second
 * body of each pair; sorted by (first, second, image as the body of larger uid has it). */
cairn_status cairn_images_live(cairn_images *images, cairn_kept_pairs *kept,
                               const cairn_crowd *crowd, cairn_arena *scratch,
                               cairn_pair_list *out);

#endif
