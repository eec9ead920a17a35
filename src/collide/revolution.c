/* revolution.c - balls and convex shapes within surfaces of revolution.
 *
 * The inside of a cylinder is the intersection of the half-spaces {p.e <= R} over all unit vectors
 * e at right angles to the axis, that of a cone of {p.m(e) <= 0} with m = e cos(alpha) - axis
 * sin(alpha): each of them is a true constraint, none cuts into the inside. In 2D the two walls of
 * a wedge or funnel take the place of the directions e.
 *
 * A ball meets the nearest wall where e is along the radial part of its centre; two more
 * directions, turned by 120 degrees, hold a ball that fits tightly. The funnel is a thin wall: the
 * nearest point of its meridian segment at each of these directions, gap = distance - R on
 * whichever side the ball is.
 *
 * Another convex shape starts from the same three directions and climbs to where it is nearest to
 * the wall: e <- radial part of the support point along m(e), which never moves away. The points
 * of the face there are balls of radius `rounding` with an e of their own. A funnel, which other
 * shapes can touch from both sides and with its rims, meets balls only. */
#include "collide/convex.h"
#include "collide/narrow.h"
#include "math/vec.h"

enum { DIRECTIONS = 3, MAX_CLIMB = 60 };

/* A point (the centre of a ball, the origin of a convex shape) in the frame of a surface of
 * revolution. */
typedef struct revolution {
    cairn_vec3 axis;                   /* unit, world                                            */
    cairn_vec3 d;                      /* the point minus the origin of the surface              */
    double z;                          /* along the axis                                         */
    cairn_vec3 directions[DIRECTIONS]; /* unit, at right angles to the axis; nearest first */
    int count;
} revolution;

static revolution revolution_of(cairn_vec3 x, const cairn_collider *b, int dimension)
{
    revolution s = { .d = cairn_sub(x, b->x) };
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

int cairn_ball_inside_cylinder(const cairn_collider *a, const cairn_collider *b, int dimension,
                               double margin, cairn_witness *out)
{
    revolution s = revolution_of(a->x, b, dimension);
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        double distance = b->shape->radius - cairn_dot(s.d, s.directions[k]);
        out[found] = cairn_ball_witness(a, cairn_scale(-1, s.directions[k]), distance, k);
        found += out[found].gap <= margin;
    }
    return found;
}

int cairn_ball_inside_cone(const cairn_collider *a, const cairn_collider *b, int dimension,
                           double margin, cairn_witness *out)
{
    revolution s = revolution_of(a->x, b, dimension);
    double sine = sin(b->shape->half_angle), cosine = cos(b->shape->half_angle);
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        cairn_vec3 normal = cairn_add_scaled(cairn_scale(sine, s.axis), -cosine, s.directions[k]);
        out[found] = cairn_ball_witness(a, normal, cairn_dot(s.d, normal), k);
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

int cairn_ball_funnel(const cairn_collider *a, const cairn_collider *b, int dimension,
                      double margin, cairn_witness *out)
{
    revolution s = revolution_of(a->x, b, dimension);
    const cairn_shape *f = b->shape;
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        cairn_vec3 away = cairn_sub(s.d, nearest_on_meridian(&s, f, s.directions[k]));
        double distance = cairn_norm(away);
        cairn_vec3 normal =
            distance > 0 ? cairn_scale(1 / distance, away) : cairn_scale(-1, s.directions[k]);
        out[found] = cairn_ball_witness(a, normal, distance, k);
        found += out[found].gap <= margin;
    }
    return found;
}

/* ---- convex shapes -------------------------------------------------------------------------- */

/* A wall seen by points: the gap and normal of a point p relative to the wall's origin. */
typedef struct wall {
    revolution s;
    const cairn_shape *shape;
    double sine, cosine; /* of the angle between axis and wall                       */
    bool wedge;          /* 2D: the wall at e, and no other, is meant                */
    cairn_vec3 e;
    void (*meet)(const struct wall *w, cairn_vec3 p, cairn_vec3 *normal, double *distance);
} wall;

/* Unit radial direction of p; that of the wall in a wedge, and for points on the axis. */
static cairn_vec3 radial_of(const wall *w, cairn_vec3 p)
{
    cairn_vec3 e = w->wedge ? w->e : cairn_radial(p, w->s.axis);
    return cairn_dot(e, e) > 0 ? e : w->e;
}

/* m(e): out of the inside, through the wall */
static cairn_vec3 outward(const wall *w, cairn_vec3 e)
{
    return cairn_add_scaled(cairn_scale(w->cosine, e), -w->sine, w->s.axis);
}

static void meet_cylinder(const wall *w, cairn_vec3 p, cairn_vec3 *normal, double *distance)
{
    cairn_vec3 e = radial_of(w, p);
    *normal = cairn_scale(-1, e);
    *distance = w->shape->radius - cairn_dot(p, e);
}

static void meet_cone(const wall *w, cairn_vec3 p, cairn_vec3 *normal, double *distance)
{
    *normal = cairn_scale(-1, outward(w, radial_of(w, p)));
    *distance = cairn_dot(p, *normal);
}

/* Turn w->e to where the shape is nearest to the wall. */
static void climb(wall *w, const cairn_convex *a)
{
    for (int k = 0; k < MAX_CLIMB; k++) {
        cairn_vec3 p = cairn_add(w->s.d, cairn_convex_support(a, outward(w, w->e)));
        cairn_vec3 next = radial_of(w, p);
        double change = cairn_norm(cairn_sub(next, w->e));
        w->e = next;
        if (change < 1e-14)
            break;
    }
}

typedef struct point_list {
    int count;
    double margin;
    cairn_witness points[DIRECTIONS * (CAIRN_FACE_POINTS + 1)];
} point_list;

/* A corner near both walls of a wedge is a contact with each of them: the normals tell. */
static bool is_same_contact(const cairn_witness *p, const cairn_witness *q, double size)
{
    return cairn_norm(cairn_sub(p->on_a, q->on_a)) <= 1e-9 * size &&
           cairn_norm(cairn_sub(p->normal, q->normal)) <= 1e-9;
}

static void add_point(const wall *w, const cairn_convex *a, cairn_vec3 point, int32_t feature,
                      point_list *list)
{
    cairn_witness *p = &list->points[list->count];
    double distance;
    cairn_vec3 here = cairn_add(a->x, point);
    w->meet(w, cairn_add(w->s.d, point), &p->normal, &distance);
    p->gap = distance - a->rounding;
    p->on_a = cairn_add_scaled(here, -a->rounding, p->normal);
    p->on_b = cairn_add_scaled(here, -distance, p->normal);
    p->feature = feature;
    p->residual = 0;
    bool known = !(p->gap <= list->margin);
    for (int k = 0; k < list->count; k++)
        known |= is_same_contact(&list->points[k], p, a->extent);
    list->count += !known;
}

/* Points of the face at direction k, and the support point unless it is one of them. */
static void add_direction(const wall *all, const cairn_convex *a, int k, point_list *list)
{
    wall w = *all;
    w.e = w.s.directions[k];
    climb(&w, a);
    cairn_vec3 toward = outward(&w, w.e);
    int32_t base = DIRECTIONS + (w.wedge ? k << 24 : 0);
    cairn_face face;
    cairn_convex_face(a, toward, &face);
    for (int i = 0; i < face.count; i++)
        add_point(&w, a, face.point[i], base + face.vertex[i], list);
    add_point(&w, a, cairn_convex_support(a, toward), k, list);
}

/* The wall of b, seen by the shape a. */
static wall wall_of(const cairn_convex *a, const cairn_collider *b, int dimension)
{
    wall w = { .s = revolution_of(a->x, b, dimension), .shape = b->shape, .cosine = 1 };
    w.meet = meet_cylinder;
    w.wedge = dimension == 2 && b->shape->kind != CAIRN_SHAPE_INSIDE_CYLINDER;
    if (b->shape->kind == CAIRN_SHAPE_INSIDE_CONE) {
        w.sine = sin(b->shape->half_angle);
        w.cosine = cos(b->shape->half_angle);
        w.meet = meet_cone;
    }
    w.e = w.s.directions[0];
    return w;
}

/* Few enough to be stored: the deepest of each part of the list first. */
static int give(point_list *list, cairn_witness *out)
{
    int count = list->count <= CAIRN_WALL_WITNESSES
                    ? cairn_witnesses_reduce(list->points, list->count, CAIRN_WALL_WITNESSES)
                    : cairn_witnesses_reduce(list->points, list->count, 4);
    for (int k = 0; k < count; k++)
        out[k] = list->points[k];
    return count;
}

/* Of a face of a mesh the origin of the face counts, not that of the mesh. */
int cairn_convex_inside_round(const cairn_collider *a, const cairn_collider *b, int dimension,
                              double margin, cairn_witness *out)
{
    cairn_convex convex;
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    const wall w = wall_of(&convex, b, dimension);
    cairn_vec3 normal;
    double distance; /* of the origin of the shape */
    w.meet(&w, w.s.d, &normal, &distance);
    if (distance > convex.extent + margin)
        return 0;
    point_list list;
    list.count = 0;
    list.margin = margin;
    for (int k = 0; k < w.s.count; k++)
        add_direction(&w, &convex, k, &list);
    return give(&list, out);
}
