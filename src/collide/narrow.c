/* narrow.c - where two shapes are closest: one function per couple, in a labelled triangle. */
#include "collide/narrow.h"

#include "collide/convex.h"
#include "math/vec.h"
#include "shape/shape.h"

int cairn_convex_convex(const cairn_collider *a, const cairn_collider *b, int dimension,
                        double margin, cairn_witness *out)
{
    cairn_convex p, q;
    if (!cairn_convex_make(a, &p) || !cairn_convex_make(b, &q))
        return CAIRN_UNRESOLVED;
    cairn_couple c = cairn_couple_make(&p, &q, dimension);
    cairn_distance d;
    if (!cairn_distance_find(&c, margin + p.rounding + q.rounding, &d))
        return 0;
    if (!cairn_distance_is_sound(&c, &d))
        return CAIRN_UNRESOLVED;
    return cairn_manifold_find(&c, &d, margin, out);
}

/* ---- dispatch ------------------------------------------------------------------------------- */

/* The class of a kind in the narrow phase. */
typedef enum role {
    UNLISTED,
    BALL,
    BOX,
    CAPSULE,
    CONVEX,
    FACE,
    HALF_SPACE,
    TUBE,
    CONE,
    FUNNEL,
    INSIDE_BOX,
    ROLES
} role;

/* Other kinds are convex: only their support function is used. */
static const role roles[CAIRN_SHAPE_COUNT] = {
    [CAIRN_SHAPE_SPHERE] = BALL,           [CAIRN_SHAPE_POINT] = BALL,
    [CAIRN_SHAPE_HALF_SPACE] = HALF_SPACE, [CAIRN_SHAPE_INSIDE_CYLINDER] = TUBE,
    [CAIRN_SHAPE_INSIDE_CONE] = CONE,      [CAIRN_SHAPE_FUNNEL] = FUNNEL,
    [CAIRN_SHAPE_INSIDE_BOX] = INSIDE_BOX, [CAIRN_SHAPE_BOX] = BOX,
    [CAIRN_SHAPE_CAPSULE] = CAPSULE,       [CAIRN_SHAPE_MESH] = FACE,
    [CAIRN_SHAPE_POLYLINE] = FACE,         [CAIRN_SHAPE_HEIGHT_FIELD] = FACE,
    [CAIRN_SHAPE_COMPOUND] = ROLES,
};

typedef enum couple_kind {
    NONE,
    BALL_BALL,
    BALL_BOX,
    BALL_CAPSULE,
    BALL_PLANE,
    BALL_TUBE,
    BALL_CONE,
    BALL_FUNNEL,
    CAPSULES,
    ANY,
    ANY_FACE,
    ANY_PLANE,
    ANY_ROUND,
    ANY_INSIDE
} couple_kind;

typedef struct couple {
    cairn_couple_fn *find;
    int limit; /* witnesses at most */
} couple;

static const couple couples[] = {
    [BALL_BALL] = { cairn_ball_ball, 1 },
    [BALL_BOX] = { cairn_ball_box, 1 },
    [BALL_CAPSULE] = { cairn_ball_capsule, 1 },
    [BALL_PLANE] = { cairn_ball_half_space, 1 },
    [BALL_TUBE] = { cairn_ball_inside_cylinder, 3 },
    [BALL_CONE] = { cairn_ball_inside_cone, 3 },
    [BALL_FUNNEL] = { cairn_ball_funnel, 3 },
    [CAPSULES] = { cairn_capsule_capsule, 4 },
    [ANY] = { cairn_convex_convex, CAIRN_FLAT_WITNESSES },
    [ANY_FACE] = { cairn_convex_face_of, CAIRN_FLAT_WITNESSES },
    [ANY_PLANE] = { cairn_convex_half_space, CAIRN_FLAT_WITNESSES },
    [ANY_ROUND] = { cairn_convex_inside_round, CAIRN_WALL_WITNESSES },
    [ANY_INSIDE] = { cairn_convex_inside_box, CAIRN_WITNESSES },
};

/* clang-format off */
static const couple_kind triangle[ROLES][ROLES] = {
    /*            -     ball       box       capsule       convex  face */
    [BALL]    = { NONE, BALL_BALL, BALL_BOX, BALL_CAPSULE, ANY,    ANY_FACE,
                  BALL_PLANE, BALL_TUBE, BALL_CONE, BALL_FUNNEL, ANY_INSIDE },
    [BOX]     = { NONE, NONE,      ANY,      ANY,          ANY,    ANY_FACE,
                  ANY_PLANE,  ANY_ROUND, ANY_ROUND, NONE,        ANY_INSIDE },
    [CAPSULE] = { NONE, NONE,      NONE,     CAPSULES,     ANY,    ANY_FACE,
                  ANY_PLANE,  ANY_ROUND, ANY_ROUND, NONE,        ANY_INSIDE },
    [CONVEX]  = { NONE, NONE,      NONE,     NONE,         ANY,    ANY_FACE,
                  ANY_PLANE,  ANY_ROUND, ANY_ROUND, NONE,        ANY_INSIDE },
    [FACE]    = { NONE, NONE,      NONE,     NONE,         NONE,   ANY_FACE,
                  ANY_PLANE,  ANY_ROUND, ANY_ROUND, NONE,        ANY_INSIDE },
    /*            half-space  tube  cone  funnel  inside of a box: the second lines */
};
/* clang-format on */

static role role_of(const cairn_collider *c)
{
    role listed = roles[c->shape->kind];
    return listed == UNLISTED ? CONVEX : listed;
}

/* The function for two kinds, NULL: there is none. `swapped`: the second is a. */
static const couple *couple_of(const cairn_collider *first, const cairn_collider *second,
                               bool *swapped)
{
    role one = role_of(first), two = role_of(second);
    *swapped = two < one || (two == one && second->shape->kind < first->shape->kind);
    if (one == ROLES || two == ROLES)
        return NULL;
    couple_kind kind = *swapped ? triangle[two][one] : triangle[one][two];
    return kind == NONE ? NULL : &couples[kind];
}

/* By how much the gap can decrease in this step: both may move by their reach, and those points of
 * a turning wall that can come near a are within `arm` of its origin. */
static double margin_of(const cairn_collider *a, const cairn_collider *b)
{
    double margin = a->reach + b->reach;
    if (b->turn > 0) {
        double arm = cairn_norm(cairn_sub(a->x, b->x)) + a->extent + margin;
        margin += b->turn * arm / (b->turn < 0.5 ? 1 - b->turn : 0.5);
    }
    return margin;
}

int cairn_witnesses_find(const cairn_collider *first, const cairn_collider *second, int dimension,
                         bool *swapped, cairn_witness *out)
{
    const couple *match = couple_of(first, second, swapped);
    const cairn_collider *a = *swapped ? second : first, *b = *swapped ? first : second;
    return match ? match->find(a, b, dimension, margin_of(a, b), out) : CAIRN_UNRESOLVED;
}

int cairn_witnesses_limit(const cairn_collider *first, const cairn_collider *second)
{
    bool swapped;
    const couple *match = couple_of(first, second, &swapped);
    return match ? match->limit : 0;
}
