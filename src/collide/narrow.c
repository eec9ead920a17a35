/* narrow.c - where two shapes are closest: one function per couple, in a labelled triangle.
 *
 * A ball of radius R (a point has R = 0) against:
 *   ball        n = d/|d|, gap = |d| - R_a - R_b
 *   half-space  gap = d.n - R
 *   cylinder    inside is the intersection of the half-spaces {d.e <= R_c} over all unit vectors e
 *               at right angles to the axis. The nearest has e along the radial part of d; two
 *               more, turned by 120 degrees, hold a ball that fits tightly. Each is a true
 *               constraint: none cuts into the inside.
 *   cone        the same with the half-spaces {-d.e cos(alpha) + d.axis sin(alpha) >= 0}
 *   funnel      thin wall: the nearest point of the meridian segment at each of these directions;
 *               gap = distance - R on whichever side the ball is.
 * In 2D the two walls of a wedge or funnel take the place of the three directions. */
#include "collide/collide.h"

#include "math/vec.h"
#include "shape/shape.h"

/* A couple's function: a is the ball. Fills witnesses with gap <= margin, returns their number. */
typedef int couple_fn(const cairn_collider *a, const cairn_collider *b, int dimension,
                      double margin, cairn_witness *out);

static double ball_radius(const cairn_collider *c)
{
    return c->shape->kind == CAIRN_SHAPE_SPHERE ? c->shape->radius : 0;
}

/* The witness of ball a against the surface point `on_b` seen along n. */
static cairn_witness ball_witness(const cairn_collider *a, cairn_vec3 normal, double distance,
                                  int feature)
{
    double radius = ball_radius(a);
    return (cairn_witness){ .on_a = cairn_add_scaled(a->x, -radius, normal),
                            .on_b = cairn_add_scaled(a->x, -distance, normal),
                            .normal = normal,
                            .gap = distance - radius,
                            .feature = feature };
}

static int ball_ball(const cairn_collider *a, const cairn_collider *b, int dimension, double margin,
                     cairn_witness *out)
{
    cairn_vec3 d = cairn_sub(a->x, b->x);
    double distance = cairn_norm(d), other = ball_radius(b);
    cairn_vec3 up = dimension == 2 ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
    cairn_vec3 normal = distance > 0 ? cairn_scale(1 / distance, d) : up;
    out[0] = ball_witness(a, normal, distance - other, 0);
    return out[0].gap <= margin;
}

static int ball_half_space(const cairn_collider *a, const cairn_collider *b, int dimension,
                           double margin, cairn_witness *out)
{
    (void)dimension;
    cairn_vec3 axis = b->shape->axis;
    cairn_vec3 normal = cairn_rotate(b->q, cairn_scale(1 / cairn_norm(axis), axis));
    out[0] = ball_witness(a, normal, cairn_dot(cairn_sub(a->x, b->x), normal), 0);
    return out[0].gap <= margin;
}

/* ---- surfaces of revolution ----------------------------------------------------------------- */

/* A ball's centre in the frame of a surface of revolution. */
typedef struct revolution {
    cairn_vec3 axis; /* unit, world                                            */
    cairn_vec3 d;    /* centre minus origin of the surface                     */
    double z;        /* along the axis                                         */
    cairn_vec3 directions[CAIRN_WITNESSES]; /* unit, at right angles to the axis; nearest first */
    int count;
} revolution;

static revolution revolution_of(const cairn_collider *a, const cairn_collider *b, int dimension)
{
    revolution s = { .d = cairn_sub(a->x, b->x) };
    cairn_vec3 axis = b->shape->axis;
    s.axis = cairn_rotate(b->q, cairn_scale(1 / cairn_norm(axis), axis));
    s.z = cairn_dot(s.d, s.axis);
    bool wedge = dimension == 2 && b->shape->kind != CAIRN_SHAPE_INSIDE_CYLINDER;
    cairn_vec3 radial = cairn_add_scaled(s.d, -s.z, s.axis);
    double length = cairn_norm(radial);
    cairn_vec3 any = wedge ? cairn_vec(-s.axis.y, s.axis.x, 0) : cairn_perpendicular(s.axis);
    cairn_vec3 e = length > 0 ? cairn_scale(1 / length, radial) : any;
    s.directions[0] = e;
    if (wedge) {
        s.directions[1] = cairn_scale(-1, e);
        s.count = 2;
        return s;
    }
    cairn_vec3 side = cairn_scale(sqrt(0.75), cairn_cross(s.axis, e));
    s.directions[1] = cairn_add_scaled(side, -0.5, e);
    s.directions[2] = cairn_add_scaled(cairn_scale(-1, side), -0.5, e);
    s.count = 3;
    return s;
}

static int ball_cylinder(const cairn_collider *a, const cairn_collider *b, int dimension,
                         double margin, cairn_witness *out)
{
    revolution s = revolution_of(a, b, dimension);
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        double distance = b->shape->radius - cairn_dot(s.d, s.directions[k]);
        out[found] = ball_witness(a, cairn_scale(-1, s.directions[k]), distance, k);
        found += out[found].gap <= margin;
    }
    return found;
}

static int ball_cone(const cairn_collider *a, const cairn_collider *b, int dimension, double margin,
                     cairn_witness *out)
{
    revolution s = revolution_of(a, b, dimension);
    double sine = sin(b->shape->half_angle), cosine = cos(b->shape->half_angle);
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        cairn_vec3 normal = cairn_add_scaled(cairn_scale(sine, s.axis), -cosine, s.directions[k]);
        out[found] = ball_witness(a, normal, cairn_dot(s.d, normal), k);
        found += out[found].gap <= margin;
    }
    return found;
}

/* Nearest point of the wall's meridian in the half-plane of direction e, relative to the origin. */
static cairn_vec3 nearest_on_meridian(const revolution *s, const cairn_shape *f, cairn_vec3 e)
{
    double slope = f->top_radius - f->bottom_radius;
    double along = (cairn_dot(s->d, e) - f->bottom_radius) * slope + s->z * f->height;
    double t = along / (slope * slope + f->height * f->height);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return cairn_add_scaled(cairn_scale(t * f->height, s->axis), f->bottom_radius + t * slope, e);
}

static int ball_funnel(const cairn_collider *a, const cairn_collider *b, int dimension,
                       double margin, cairn_witness *out)
{
    revolution s = revolution_of(a, b, dimension);
    const cairn_shape *f = b->shape;
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        cairn_vec3 away = cairn_sub(s.d, nearest_on_meridian(&s, f, s.directions[k]));
        double distance = cairn_norm(away);
        cairn_vec3 normal =
            distance > 0 ? cairn_scale(1 / distance, away) : cairn_scale(-1, s.directions[k]);
        out[found] = ball_witness(a, normal, distance, k);
        found += out[found].gap <= margin;
    }
    return found;
}

/* ---- dispatch ------------------------------------------------------------------------------- */

static couple_fn *const couples[CAIRN_SHAPE_COUNT][CAIRN_SHAPE_COUNT] = {
    /*           sphere     point      half-space       cylinder       cone       funnel */
    /* sphere */ { ball_ball, ball_ball, ball_half_space, ball_cylinder, ball_cone, ball_funnel },
    /* point  */ { NULL, ball_ball, ball_half_space, ball_cylinder, ball_cone, ball_funnel },
};

/* How much the gap can shrink in this step: both may move by their reach, and the points of a
 * turning wall that can come near a lie within `arm` of its origin. */
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
    *swapped = second->shape->kind < first->shape->kind;
    const cairn_collider *a = *swapped ? second : first, *b = *swapped ? first : second;
    couple_fn *couple = couples[a->shape->kind][b->shape->kind];
    return couple ? couple(a, b, dimension, margin_of(a, b), out) : 0;
}
