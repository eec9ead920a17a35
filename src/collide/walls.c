/* walls.c - balls and convex shapes against walls and containers: half-spaces, and surfaces of
 * revolution. */
#include "collide/convex.h"
#include "collide/narrow.h"
#include "math/vec.h"

/* ---- half-spaces ------------------------------------------------------------------------- */

/* Convex shapes against half-spaces: one, the six (2D: four) of the inside of a box, or
 * the two of a wedge.
 *
 * Each point p of the face that looks at the plane is a constraint p.n >= c of its own, exact for
 * any motion. If the shape has a lower point than those (curved rims), it is added. */

/* The half-space n.p >= level, relative to an origin. */
typedef struct plane {
    cairn_vec3 origin, n;
    double level;
    int32_t feature; /* added to the features of its points */
} plane;

static cairn_witness point_on(const plane *p, const cairn_convex *a, cairn_vec3 point, int vertex)
{
    cairn_vec3 d = cairn_add(cairn_sub(a->x, p->origin), point);
    double distance = cairn_dot(d, p->n) - p->level;
    cairn_vec3 here = cairn_add(a->x, point);
    return (cairn_witness){ .on_a = cairn_add_scaled(here, -a->rounding, p->n),
                            .on_b = cairn_add_scaled(here, -distance, p->n),
                            .normal = p->n,
                            .gap = distance - a->rounding,
                            .feature = p->feature + vertex };
}

static int touch(const plane *p, const cairn_convex *a, int dimension, double margin,
                 cairn_witness *out)
{
    cairn_face face;
    cairn_witness points[CAIRN_FACE_POINTS + 1];
    int count = 0;
    cairn_vec3 down = cairn_scale(-1, p->n);
    if (cairn_dot(cairn_sub(a->x, p->origin), p->n) - p->level > a->extent + margin)
        return 0;
    cairn_witness lowest = point_on(p, a, cairn_convex_support(a, down), 0);
    if (!(lowest.gap <= margin))
        return 0;
    cairn_convex_face(a, down, &face);
    double least = INFINITY;
    for (int k = 0; k < face.count; k++) {
        points[count] = point_on(p, a, face.point[k], 1 + face.vertex[k]);
        least = fmin(least, points[count].gap);
        count += points[count].gap <= margin;
    }
    if (least > lowest.gap + 1e-9 * a->extent)
        points[count++] = lowest;
    count = cairn_witnesses_reduce(points, count,
                                   cairn_witnesses_kept(dimension, face.count, margin / a->extent));
    for (int k = 0; k < count; k++)
        out[k] = points[k];
    return count;
}

int cairn_convex_half_space(const cairn_collider *a, const cairn_collider *b, int dimension,
                            double margin, cairn_witness *out)
{
    cairn_convex convex;
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    plane p = { .origin = b->x, .n = cairn_rotate(b->q, cairn_unit(b->shape->axis)) };
    return touch(&p, &convex, dimension, margin, out);
}

int cairn_convex_inside_box(const cairn_collider *a, const cairn_collider *b, int dimension,
                            double margin, cairn_witness *out)
{
    static const cairn_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const double size[3] = { b->shape->size.x, b->shape->size.y, b->shape->size.z };
    cairn_convex convex;
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    int found = 0;
    for (int k = 0; k < 2 * dimension; k++) {
        plane p = { .origin = b->x, .level = -0.5 * size[k / 2], .feature = k << 24 };
        p.n = cairn_rotate(b->q, cairn_scale(k % 2 ? -1 : 1, axes[k / 2]));
        found += touch(&p, &convex, dimension, margin, out + found);
    }
    return found;
}

int cairn_convex_inside_wedge(const cairn_collider *a, const cairn_collider *b, int dimension,
                              double margin, cairn_witness *out)
{
    cairn_convex convex;
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    cairn_vec3 axis = cairn_rotate(b->q, cairn_unit(b->shape->axis));
    double sine = sin(b->shape->half_angle), cosine = cos(b->shape->half_angle);
    int found = 0;
    for (int k = 0; k < 2; k++) {
        double side = k ? -cosine : cosine;
        plane p = { .origin = b->x, .feature = k << 24 };
        p.n = cairn_add_scaled(cairn_scale(sine, axis), side, cairn_vec(axis.y, -axis.x, 0));
        found += touch(&p, &convex, dimension, margin, out + found);
    }
    return found;
}

/* ---- surfaces of revolution -------------------------------------------------------------- */

/* Balls and convex shapes within surfaces of revolution.
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
 * Of another convex shape every point p of its core is a ball of radius `rounding` with an e of its
 * own, along its radial part. The inside is convex, so a shape that is the hull of corners stays
 * within it as long as they do: all corners within the margin are contacts. A curved shape reaches
 * F(e) = max over p of p.m(e) along m(e); it is nearest to the wall where F has a maximum. With phi
 * the angle round the axis and s the support point along m, F' = s.dm/dphi: all maxima are found
 * from changes of its sign on a ring of directions, and there the points of the face. Two more
 * directions hold a shape that fits tightly. In 2D a wedge is two half-planes, see above. A
 * funnel, which other shapes can touch from both sides and with its rims, meets balls only. */

enum { DIRECTIONS = 3, RING = 32, HALVINGS = 9, MAXIMA = 8, MAX_ROUNDS = 60 };

/* A ball's centre in the frame of a surface of revolution. */
static cairn_revolution revolution_of(const cairn_collider *a, const cairn_collider *b,
                                      int dimension)
{
    cairn_vec3 axis = b->shape->axis;
    bool wedge = dimension == 2 && b->shape->kind != CAIRN_SHAPE_INSIDE_CYLINDER;
    axis = cairn_rotate(b->q, cairn_scale(1 / cairn_norm(axis), axis));
    return cairn_revolution_of(axis, cairn_sub(a->x, b->x), wedge);
}

int cairn_ball_inside_cylinder(const cairn_collider *a, const cairn_collider *b, int dimension,
                               double margin, cairn_witness *out)
{
    cairn_revolution s = revolution_of(a, b, dimension);
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        cairn_vec3 normal;
        double distance = cairn_tube_distance(&s, k, b->shape->radius, &normal);
        out[found] = cairn_ball_witness(a, normal, distance, k);
        found += out[found].gap <= margin;
    }
    return found;
}

int cairn_ball_inside_cone(const cairn_collider *a, const cairn_collider *b, int dimension,
                           double margin, cairn_witness *out)
{
    cairn_revolution s = revolution_of(a, b, dimension);
    double sine = sin(b->shape->half_angle), cosine = cos(b->shape->half_angle);
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        cairn_vec3 normal;
        double distance = cairn_cone_distance(&s, k, sine, cosine, &normal);
        out[found] = cairn_ball_witness(a, normal, distance, k);
        found += out[found].gap <= margin;
    }
    return found;
}

int cairn_ball_funnel(const cairn_collider *a, const cairn_collider *b, int dimension,
                      double margin, cairn_witness *out)
{
    cairn_revolution s = revolution_of(a, b, dimension);
    const cairn_shape *f = b->shape;
    int found = 0;
    for (int k = 0; k < s.count; k++) {
        cairn_vec3 normal;
        double distance =
            cairn_funnel_distance(&s, k, f->bottom_radius, f->top_radius, f->height, &normal);
        out[found] = cairn_ball_witness(a, normal, distance, k);
        found += out[found].gap <= margin;
    }
    return found;
}

/* ---- convex shapes -------------------------------------------------------------------------- */

/* A wall as a function of points: the gap and normal of a point p relative to the wall's origin. */
typedef struct wall {
    const cairn_convex *a;
    cairn_vec3 d;        /* origin of a minus that of the wall                       */
    cairn_vec3 axis;     /* unit                                                     */
    cairn_vec3 t, u;     /* unit: e = t cos(phi) + u sin(phi)                        */
    double level;        /* p.m(e) <= level: the radius of a cylinder, 0 of a cone   */
    double sine, cosine; /* of the angle between axis and wall                   */
    double margin;
} wall;

static wall wall_of(const cairn_convex *a, const cairn_collider *b, double margin)
{
    wall w = { .a = a, .d = cairn_sub(a->x, b->x), .cosine = 1, .margin = margin };
    w.axis = cairn_rotate(b->q, cairn_unit(b->shape->axis));
    w.t = cairn_perpendicular(w.axis);
    w.u = cairn_cross(w.axis, w.t);
    w.level = b->shape->radius;
    if (b->shape->kind == CAIRN_SHAPE_INSIDE_CONE) {
        w.sine = sin(b->shape->half_angle);
        w.cosine = cos(b->shape->half_angle);
        w.level = 0;
    }
    return w;
}

/* m(e): out of the inside, through the wall */
static cairn_vec3 outward(const wall *w, cairn_vec3 e)
{
    return cairn_add_scaled(cairn_scale(w->cosine, e), -w->sine, w->axis);
}

/* A point of the core, relative to its origin, as a ball against the wall. */
static cairn_witness point_at(const wall *w, cairn_vec3 point, int32_t feature)
{
    cairn_vec3 p = cairn_add(w->d, point), here = cairn_add(w->a->x, point);
    cairn_vec3 e = cairn_radial(p, w->axis);
    cairn_vec3 m = outward(w, cairn_dot(e, e) > 0 ? e : w->t);
    double distance = w->level - cairn_dot(p, m), r = w->a->rounding;
    return (cairn_witness){ .on_a = cairn_add_scaled(here, r, m),
                            .on_b = cairn_add_scaled(here, distance, m),
                            .normal = cairn_scale(-1, m),
                            .gap = distance - r,
                            .feature = feature };
}

/* How far a point is from the nearest of some others. */
static double away_from(const cairn_witness *points, int count, const cairn_witness *p)
{
    double least = INFINITY;
    for (int k = 0; k < count; k++)
        least = fmin(least, cairn_norm(cairn_sub(points[k].on_a, p->on_a)));
    return least;
}

/* ---- hulls of corners ----------------------------------------------------------------------- */

/* Corner number k, false: there is none. Faces of one mesh name a corner alike. */
static bool corner_at(const wall *w, int k, cairn_witness *out)
{
    cairn_vec3 corner;
    bool there = cairn_convex_corner(w->a, k, &corner);
    if (there)
        *out = point_at(w, corner, w->a->shape ? k : w->a->corner_name[k]);
    return there;
}

/* Whether a corner is within the margin and not behind others: in a shape that is larger than its
 * container a rounded corner may point inward, and its ball is not near the surface. */
static bool is_wanted(const wall *w, const cairn_witness *p)
{
    double r = w->a->rounding;
    if (!(p->gap <= w->margin) || r == 0)
        return p->gap <= w->margin;
    cairn_vec3 m = cairn_scale(-1, p->normal), here = cairn_sub(p->on_a, w->a->x);
    return cairn_dot(m, cairn_convex_support(w->a, m)) <= cairn_dot(m, here);
}

/* If more corners are near than can be stored: the deepest, then repeatedly the one that is
 * farthest from those already chosen. */
static int spread_corners(const wall *w, cairn_witness *out)
{
    cairn_witness p;
    out[0].gap = INFINITY;
    for (int k = 0; corner_at(w, k, &p); k++)
        out[0] = p.gap < out[0].gap ? p : out[0];
    for (int found = 1; found < CAIRN_WALL_WITNESSES; found++) {
        double farthest = -1;
        for (int k = 0; corner_at(w, k, &p); k++) {
            double away = is_wanted(w, &p) ? away_from(out, found, &p) : -1;
            out[found] = away > farthest ? p : out[found];
            farthest = fmax(farthest, away);
        }
    }
    return cairn_witnesses_reduce(out, CAIRN_WALL_WITNESSES, CAIRN_WALL_WITNESSES);
}

/* Cores that a large rounding has made flat have corners in one place. */
static int meet_corners(const wall *w, cairn_witness *out)
{
    cairn_witness p;
    int found = 0;
    for (int k = 0; corner_at(w, k, &p); k++) {
        if (!is_wanted(w, &p) || away_from(out, found, &p) <= 1e-9 * w->a->extent)
            continue;
        if (found == CAIRN_WALL_WITNESSES)
            return spread_corners(w, out);
        out[found++] = p;
    }
    return cairn_witnesses_reduce(out, found, CAIRN_WALL_WITNESSES);
}

/* ---- curved shapes -------------------------------------------------------------------------- */

static cairn_vec3 direction_at(const wall *w, double angle)
{
    return cairn_add_scaled(cairn_scale(cos(angle), w->t), sin(angle), w->u);
}

/* The support of a shape at an angle. */
typedef struct view {
    double angle;
    cairn_vec3 point; /* m: the support point along m(e), relative to the origin of the wall */
    double reach;     /* m: F                                                               */
    double slope;     /* m: F' = point.dm/dphi                                              */
} view;

static view view_at(const wall *w, double angle)
{
    cairn_vec3 e = direction_at(w, angle), m = outward(w, e);
    view v = { .angle = angle, .point = cairn_add(w->d, cairn_convex_support(w->a, m)) };
    v.reach = cairn_dot(v.point, m);
    v.slope = w->cosine * cairn_dot(v.point, cairn_cross(w->axis, e));
    return v;
}

/* The maximum of F between low, where F increases, and high, where it does not: by false position,
 * with half the weight for an end that stays (Illinois method). */
static double maximum_between(const wall *w, view low, view high)
{
    for (int k = 0; k < MAX_ROUNDS && high.angle - low.angle > 1e-15; k++) {
        double share = k % 8 == 7 ? 0.5 : low.slope / (low.slope - high.slope);
        view middle = view_at(w, low.angle + (high.angle - low.angle) * share);
        if (middle.slope == 0 || middle.angle <= low.angle || middle.angle >= high.angle)
            return middle.angle;
        if (middle.slope > 0) {
            low = middle;
            high.slope *= 0.5;
        } else {
            high = middle;
            low.slope *= 0.5;
        }
    }
    return 0.5 * (low.angle + high.angle);
}

typedef struct point_list {
    int count;
    cairn_witness points[(MAXIMA + DIRECTIONS) * (CAIRN_FACE_POINTS + 1)];
} point_list;

static void add_point(const wall *w, cairn_vec3 point, int32_t feature, point_list *list)
{
    cairn_witness p = point_at(w, point, feature);
    if (p.gap <= w->margin && away_from(list->points, list->count, &p) > 1e-9 * w->a->extent)
        list->points[list->count++] = p;
}

/* Angles where F has a maximum. */
typedef struct maxima {
    double angle[MAXIMA];
    int count;
} maxima;

/* Whether F may have more maxima between low and high than the slopes there show. F' increases only
 * if the support point moves, and by no more than its motion along the wall: slopes of one sign
 * that are steeper than that keep their sign in between. */
static bool may_turn(const wall *w, const view *low, const view *high)
{
    double moved = cairn_norm(cairn_sub(high->point, low->point));
    double least = fmin(fabs(low->slope), fabs(high->slope));
    bool one_sign = (low->slope > 0) == (high->slope > 0);
    return moved > 0.01 * w->a->extent && (!one_sign || moved > least);
}

/* Those between low and high. */
static void find_between(const wall *w, const view *low, const view *high, int depth, maxima *out)
{
    if (depth > 0 && may_turn(w, low, high)) {
        view middle = view_at(w, 0.5 * (low->angle + high->angle));
        find_between(w, low, &middle, depth - 1, out);
        find_between(w, &middle, high, depth - 1, out);
    } else if (low->slope > 0 && high->slope <= 0 && out->count < MAXIMA) {
        out->angle[out->count++] = maximum_between(w, *low, *high);
    }
}

/* All maxima, at least one: if the shape is a body of revolution about the axis, F is constant. */
static maxima find_maxima(const wall *w)
{
    maxima all = { .count = 0 };
    view first = view_at(w, 0), low = first, best = first;
    for (int k = 1; k <= RING; k++) {
        view high = first;
        if (k < RING)
            high = view_at(w, k * 2 * M_PI / RING);
        high.angle = k * 2 * M_PI / RING;
        find_between(w, &low, &high, HALVINGS, &all);
        best = high.reach > best.reach ? high : best;
        low = high;
    }
    if (all.count == 0)
        all.angle[all.count++] = best.angle;
    return all;
}

/* The angle of the deepest of them. */
static double deepest_of(const wall *w, const maxima *all)
{
    view best = view_at(w, all->angle[0]);
    for (int k = 1; k < all->count; k++) {
        view next = view_at(w, all->angle[k]);
        best = next.reach > best.reach ? next : best;
    }
    return best.angle;
}

/* The points where the shape is nearest, and those of the faces there, as many as can be stored:
 * the nearest points first, then repeatedly the one that is farthest from those already kept. */
static int give(point_list *list, int first, cairn_witness *out)
{
    int kept = first < CAIRN_WALL_WITNESSES ? first : CAIRN_WALL_WITNESSES;
    while (kept < CAIRN_WALL_WITNESSES && kept < list->count) {
        int best = kept;
        double farthest = -1;
        for (int k = kept; k < list->count; k++) {
            double away = away_from(list->points, kept, &list->points[k]);
            best = away > farthest ? k : best;
            farthest = fmax(farthest, away);
        }
        cairn_witness p = list->points[best];
        list->points[best] = list->points[kept];
        list->points[kept++] = p;
    }
    for (int k = 0; k < kept; k++)
        out[k] = list->points[k];
    return kept;
}

static void add_support(const wall *w, double angle, int32_t feature, point_list *list)
{
    cairn_vec3 m = outward(w, direction_at(w, angle));
    add_point(w, cairn_convex_support(w->a, m), feature, list);
}

static int meet_curved(const wall *w, cairn_witness *out)
{
    const maxima all = find_maxima(w);
    point_list list;
    list.count = 0;
    for (int k = 0; k < all.count; k++)
        add_support(w, all.angle[k], DIRECTIONS + k, &list);
    for (int k = 1; k < DIRECTIONS; k++)
        add_support(w, deepest_of(w, &all) + 2 * M_PI * k / DIRECTIONS, k, &list);
    int first = list.count;
    for (int k = 0; k < all.count; k++) {
        cairn_face face;
        cairn_convex_face(w->a, outward(w, direction_at(w, all.angle[k])), &face);
        for (int i = 0; i < face.count; i++)
            add_point(w, face.point[i], 64 * (k + 1) + face.vertex[i], &list);
    }
    return cairn_witnesses_reduce(out, give(&list, first, out), CAIRN_WALL_WITNESSES);
}

/* For a face of a mesh the origin of the face is used, not that of the mesh. */
int cairn_convex_inside_round(const cairn_collider *a, const cairn_collider *b, int dimension,
                              double margin, cairn_witness *out)
{
    cairn_convex convex;
    cairn_vec3 corner;
    if (b->shape->kind == CAIRN_SHAPE_INSIDE_CONE && dimension == 2)
        return cairn_convex_inside_wedge(a, b, dimension, margin, out);
    if (!cairn_convex_make(a, &convex))
        return CAIRN_UNRESOLVED;
    const wall w = wall_of(&convex, b, margin);
    double least = point_at(&w, cairn_vec(0, 0, 0), 0).gap + convex.rounding;
    if (least > convex.extent + margin)
        return 0;
    return cairn_convex_corner(&convex, 0, &corner) ? meet_corners(&w, out) : meet_curved(&w, out);
}
