/* narrow.c - where two shapes are closest: one function per couple, in a labelled triangle. */
#include "collide/narrow.h"

#include "collide/convex.h"
#include "math/vec.h"
#include "shape/shape.h"

/* Bodies that pass each other. The plane between the nearest points of two bodies is not always one
 * that keeps them apart on their way: a box that slides from one slab to the next, or passes a
 * corner closely, would run against a plane that stands across its way, although it touches
 * nothing. Any plane that both bodies lie beside is as good. So where they would close the gap
 * with the velocities before the step, a plane is looked for beside which a lies on its whole way,
 * up to SHALLOW of the smaller body and what resting bodies may overlap. If there is one, it is the
 * only witness of the pair, at the point of a that is nearest to b, if that is on the side of the
 * plane, and its foot. A plane that keeps them apart AHEAD steps is better: a round body that comes
 * to a seam lies beside a plane through it that stands less and less across its way. */

static const double SHALLOW = 1e-5; /* of the smaller body             */
static const double AHEAD = 3;      /* of the way in a step: see above */

/* The point of a that is nearest to b, or else one that is lowest, and its foot on the plane. */
static cairn_witness plane_between(const cairn_couple *c, cairn_vec3 n, const cairn_distance *near,
                                   double slack)
{
    cairn_difference lowest = cairn_couple_support(c, cairn_scale(-1, n));
    bool low = cairn_dot(n, cairn_sub(near->on_a, lowest.a)) <= slack;
    cairn_vec3 on_a = low ? near->on_a : lowest.a;
    cairn_vec3 out = cairn_add_scaled(on_a, -c->a->rounding, n);
    double level = cairn_dot(n, lowest.b) + c->b->rounding, gap = cairn_dot(n, out) - level;
    out = cairn_add(out, c->b->x);
    return (cairn_witness){ .on_a = out,
                            .on_b = cairn_add_scaled(out, -gap, n),
                            .normal = n,
                            .gap = gap,
                            .feature = CAIRN_FEATURE_PASSING };
}

static double slack_of(const cairn_collider *a, const cairn_collider *b)
{
    return SHALLOW * cairn_smaller(a->extent, b->extent) + cairn_larger(a->sunk, b->sunk);
}

/* Whether a would close this gap along n. */
static bool closes(const cairn_collider *a, const cairn_collider *b, double gap, cairn_vec3 n)
{
    return gap + cairn_dot(n, cairn_sub(a->way, b->way)) < -slack_of(a, b);
}

/* Whether a passes b; then *out is the witness. */
static bool passes(const cairn_collider *a, const cairn_collider *b, cairn_couple *c,
                   const cairn_distance *d, cairn_witness *out)
{
    double round = c->a->rounding + c->b->rounding, slack = slack_of(a, b);
    cairn_distance swept;
    if (!closes(a, b, d->gap - round, d->normal))
        return false;
    bool beside = false;
    for (int k = 0; k < 2 && !beside; k++) {
        c->sweep = cairn_scale(k ? 1 : AHEAD, cairn_sub(a->way, b->way));
        beside = cairn_distance_passing(c, slack - round, &swept);
    }
    c->sweep = cairn_vec(0, 0, 0);
    if (beside)
        *out = plane_between(c, swept.normal, d, slack);
    return beside;
}

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
    if (passes(a, b, &c, &d, out))
        return 1;
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
