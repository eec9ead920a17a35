/* distance.c - the signed distance of two convex cores: the choice of the method, and
 * Newton on the common normal.
 *
 *   apart                   GJK: exact to rounding
 *   overlapping, touching   EPA for the direction (if it fails, a search), then refined
 *   both smooth             GJK or EPA only to start with, then Newton on the common normal
 *
 * Refinement: the normal is well defined for shapes that are far enough apart. The shapes are moved
 * apart along the normal n found so far, and GJK gives the normal n' of that position. A normal
 * that does not change (n' = n) is the exact one. The error is multiplied by shift/(R + gap +
 * shift) in each round, R being the radius of curvature: flat faces take one round. */
#include <float.h>

#include "collide/convex.h"
#include "math/vec.h"

enum { MAX_ROUNDS = 12 };

static const double CLIMB_STEP = 1e-6; /* rad: accuracy of the direction */

static bool is_smooth(const cairn_couple *c)
{
    return cairn_convex_is_smooth(c->a) && cairn_convex_is_smooth(c->b);
}

static void judge(const cairn_couple *c, cairn_distance *d)
{
    d->gap = cairn_couple_gap_along(c, d->normal);
    cairn_vec3 between = cairn_sub(d->on_a, d->on_b);
    d->residual = cairn_norm(cairn_add_scaled(between, -d->gap, d->normal)) / c->size;
}

/* The closest points after a is moved away along d->normal; false when they still touch. */
static bool look_from_afar(const cairn_couple *c, const cairn_distance *d, cairn_distance *out)
{
    double shift = 1e-3 * c->size - d->gap;
    cairn_couple moved = *c;
    moved.offset = cairn_add_scaled(c->offset, shift, d->normal);
    *out = *d;
    if (cairn_gjk(&moved, DBL_MAX, 0, out) != CAIRN_GJK_APART)
        return false;
    out->on_a = cairn_add_scaled(out->on_a, -shift, d->normal);
    judge(c, out);
    return true;
}

static void sharpen(const cairn_couple *c, cairn_distance *d)
{
    for (int k = 0; k < MAX_ROUNDS && d->residual > 1e-14; k++) {
        cairn_distance next;
        if (!look_from_afar(c, d, &next))
            return;
        int spent = d->iterations + next.iterations;
        double gain = next.gap - d->gap, slack = 1e-13 * c->size;
        if (gain < -slack || (gain < slack && next.residual >= d->residual))
            return;
        *d = next;
        d->iterations = spent;
    }
}

static void take_better(const cairn_couple *c, cairn_vec3 n, cairn_distance *d)
{
    double gap = cairn_couple_gap_along(c, n);
    d->iterations++;
    if (gap > d->gap) {
        d->gap = gap;
        d->normal = n;
    }
}

/* A search for a larger gap from d->normal, with decreasing steps. */
static void climb_from(const cairn_couple *c, cairn_distance *d)
{
    for (double step = 0.25; step > CLIMB_STEP;) {
        cairn_vec3 n = d->normal, t = cairn_perpendicular(n);
        t = c->dimension == 2 ? cairn_vec(-n.y, n.x, 0) : t;
        double before = d->gap;
        for (int k = 0; k < 2 * (c->dimension - 1); k++) {
            cairn_vec3 side = k < 2 ? t : cairn_cross(n, t);
            take_better(c, cairn_unit(cairn_add_scaled(n, k % 2 ? -step : step, side)), d);
        }
        step = d->gap > before + 0.01 * step * step * c->size ? step : 0.5 * step;
    }
}

/* The best result of searches from the known direction and from the axes of both shapes. Cases in
 * which EPA fails (a ball's centre on the axis of a cylinder, where all sides are equally near)
 * thus get a direction in which the way out is locally the shortest. */
static void climb(const cairn_couple *c, cairn_distance *d)
{
    climb_from(c, d);
    for (int k = 0; k < 12; k++) {
        cairn_vec3 axis = k < 6 ? c->a->axes[k / 2] : c->b->axes[k / 2 - 3];
        if (cairn_dot(axis, axis) < 0.5 || (c->dimension == 2 && axis.z != 0))
            continue;
        cairn_distance other = *d;
        other.normal = cairn_scale(k % 2 ? -1 : 1, axis);
        other.gap = cairn_couple_gap_along(c, other.normal);
        climb_from(c, &other);
        if (other.gap > d->gap)
            *d = other;
    }
    cairn_difference p = cairn_couple_support(c, cairn_scale(-1, d->normal));
    d->on_a = p.a;
    d->on_b = cairn_add_scaled(p.a, -d->gap, d->normal);
    d->residual = CLIMB_STEP;
}

/* Overlapping cores: a coarse EPA is enough for deep overlaps, and if it can be refined. */
static void find_depth(const cairn_couple *c, cairn_distance *out)
{
    static const double precision[2] = { 1e-8, 0 };
    for (int k = is_smooth(c) ? 1 : 0; k < 2; k++) {
        cairn_epa(c, precision[k], out);
        judge(c, out);
        if (out->residual > 0.1 * CAIRN_DEEP_RESIDUAL && k == 1)
            climb(c, out);
        if (out->residual > 1e-10 && out->gap > -CAIRN_DEEP * c->size)
            sharpen(c, out);
        bool deep = out->gap < -CAIRN_DEEP * c->size;
        if (out->residual <= (deep ? 0.5 * CAIRN_DEEP_RESIDUAL : 1e-8))
            return;
    }
}

/* Precise for any pair; slow for smooth ones. */
static bool find_precisely(const cairn_couple *c, double limit, cairn_distance *out)
{
    cairn_gjk_end end = cairn_gjk(c, limit, 0, out);
    if (end == CAIRN_GJK_TOUCH)
        find_depth(c, out);
    if (end != CAIRN_GJK_APART)
        return end == CAIRN_GJK_TOUCH;
    judge(c, out);
    double gap = out->gap / c->size;
    if (gap < 1e-6 || (gap < 1e-3 && out->residual > 1e-12))
        sharpen(c, out);
    /* apart by rounding only: then the direction of GJK is rounding, too */
    if (out->residual > CAIRN_CONVEX_RESIDUAL)
        find_depth(c, out);
    return true;
}

static bool find_smooth(const cairn_couple *c, double limit, cairn_distance *out)
{
    cairn_gjk_end end = cairn_gjk(c, limit, 0.01, out);
    if (end == CAIRN_GJK_FAR)
        return false;
    if (end == CAIRN_GJK_TOUCH)
        cairn_epa(c, 1e-3, out);
    if (cairn_common_normal(c, out))
        return true;
    int spent = out->iterations;
    if (!find_precisely(c, limit, out))
        return false;
    cairn_distance newton = *out;
    if (cairn_common_normal(c, &newton) || newton.residual < out->residual)
        *out = newton;
    out->iterations += spent;
    return true;
}

bool cairn_distance_find(const cairn_couple *c, double limit, cairn_distance *out)
{
    double length = cairn_norm(c->offset);
    cairn_vec3 up = c->dimension == 2 ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
    *out = (cairn_distance){ .normal = length > 0 ? cairn_scale(1 / length, c->offset) : up };
    bool near = is_smooth(c) ? find_smooth(c, limit, out) : find_precisely(c, limit, out);
    return near && !(out->gap > limit);
}

bool cairn_distance_passing(const cairn_couple *c, double slack, cairn_distance *out)
{
    cairn_couple swept = *c;
    swept.size += cairn_norm(c->sweep);
    *out = (cairn_distance){ .normal = cairn_vec(0, 1, 0) };
    return find_precisely(&swept, INFINITY, out) && cairn_is_finite(out->normal) &&
           out->gap >= -slack;
}

bool cairn_distance_is_sound(const cairn_couple *c, const cairn_distance *d)
{
    double allowed = is_smooth(c)                     ? CAIRN_SMOOTH_RESIDUAL
                     : d->gap < -CAIRN_DEEP * c->size ? CAIRN_DEEP_RESIDUAL
                                                      : CAIRN_CONVEX_RESIDUAL;
    return d->residual <= allowed && cairn_is_finite(d->normal) && isfinite(d->gap);
}

/* ---- convex shapes in space -------------------------------------------------------------- */

/* Convex shapes in space, and the difference of two of them. */

static cairn_vec3 to_local(const cairn_convex *c, cairn_vec3 d)
{
    return cairn_vec(cairn_dot(c->axes[0], d), cairn_dot(c->axes[1], d), cairn_dot(c->axes[2], d));
}

static cairn_vec3 to_space(const cairn_convex *c, cairn_vec3 p)
{
    cairn_vec3 x = cairn_scale(p.x, c->axes[0]);
    return cairn_add_scaled(cairn_add_scaled(x, p.y, c->axes[1]), p.z, c->axes[2]);
}

bool cairn_convex_make(const cairn_collider *collider, cairn_convex *out)
{
    const cairn_shape_class *class = cairn_shape_class_of(collider->shape);
    if (!class->support)
        return cairn_convex_make_face(collider, out);
    *out = (cairn_convex){ .x = collider->x,
                           .rounding = cairn_shape_rounding(collider->shape),
                           .extent = cairn_shape_extent(collider->shape),
                           .shape = collider->shape,
                           .class = class };
    out->axes[0] = cairn_rotate(collider->q, cairn_vec(1, 0, 0));
    out->axes[1] = cairn_rotate(collider->q, cairn_vec(0, 1, 0));
    out->axes[2] = cairn_cross(out->axes[0], out->axes[1]);
    return true;
}

cairn_convex cairn_convex_triangle(const cairn_vec3 *corners, int count)
{
    cairn_convex c = { .corner_count = count };
    for (int k = 0; k < count; k++)
        c.x = cairn_add_scaled(c.x, 1.0 / count, corners[k]);
    for (int k = 0; k < count; k++) {
        c.corners[k] = cairn_sub(corners[k], c.x);
        c.corner_name[k] = k;
        c.extent = fmax(c.extent, cairn_norm(c.corners[k]));
    }
    return c;
}

static cairn_vec3 corner_support(const cairn_convex *c, cairn_vec3 direction)
{
    int best = 0;
    for (int k = 1; k < c->corner_count; k++)
        if (cairn_dot(c->corners[k], direction) > cairn_dot(c->corners[best], direction))
            best = k;
    return c->corners[best];
}

cairn_vec3 cairn_convex_support(const cairn_convex *c, cairn_vec3 direction)
{
    if (!c->shape)
        return corner_support(c, direction);
    return to_space(c, c->class->support(c->shape, to_local(c, direction)));
}

bool cairn_convex_corner(const cairn_convex *c, int k, cairn_vec3 *out)
{
    if (!c->shape && k < c->corner_count)
        *out = c->corners[k];
    if (!c->shape)
        return k < c->corner_count;
    if (!c->class->corner || !c->class->corner(c->shape, k, out))
        return false;
    *out = to_space(c, *out);
    return true;
}

static cairn_vec3 corner_normal(const cairn_convex *c)
{
    cairn_vec3 e = cairn_sub(c->corners[1], c->corners[0]);
    if (c->corner_count == 2)
        return cairn_unit(cairn_vec(e.y, -e.x, 0));
    return cairn_unit(cairn_cross(e, cairn_sub(c->corners[2], c->corners[0])));
}

/* The triangle as seen from the side of `direction`. */
static void corner_face(const cairn_convex *c, cairn_vec3 direction, cairn_face *out)
{
    bool front = cairn_dot(corner_normal(c), direction) >= 0;
    out->count = c->corner_count;
    out->id = front ? 0 : 1;
    out->normal = cairn_scale(front ? 1 : -1, corner_normal(c));
    for (int k = 0; k < c->corner_count; k++) {
        int from = front ? k : c->corner_count - 1 - k;
        out->point[k] = c->corners[from];
        out->vertex[k] = c->corner_name[from];
    }
}

void cairn_convex_face(const cairn_convex *c, cairn_vec3 direction, cairn_face *out)
{
    if (!c->shape) {
        corner_face(c, direction, out);
        return;
    }
    c->class->face(c->shape, to_local(c, direction), out);
    out->normal = to_space(c, out->normal);
    for (int k = 0; k < out->count; k++)
        out->point[k] = to_space(c, out->point[k]);
}

cairn_bend cairn_convex_curvature(const cairn_convex *c, cairn_vec3 n, cairn_vec3 t, cairn_vec3 u)
{
    if (!c->shape || !c->class->curvature)
        return (cairn_bend){ 0 };
    cairn_symmetric H;
    c->class->curvature(c->shape, to_local(c, n), &H);
    cairn_vec3 p = to_local(c, t), q = to_local(c, u);
    cairn_vec3 Hp = cairn_symmetric_times(&H, p), Hq = cairn_symmetric_times(&H, q);
    return (cairn_bend){ cairn_dot(p, Hp), cairn_dot(q, Hp), cairn_dot(q, Hq) };
}

bool cairn_convex_is_smooth(const cairn_convex *c)
{
    return c->shape && c->class->smooth;
}

/* ---- two cores ------------------------------------------------------------------------------ */

cairn_couple cairn_couple_make(const cairn_convex *a, const cairn_convex *b, int dimension)
{
    return (cairn_couple){ .a = a,
                           .b = b,
                           .offset = cairn_sub(a->x, b->x),
                           .size = a->extent + b->extent,
                           .dimension = dimension };
}

cairn_difference cairn_couple_support(const cairn_couple *c, cairn_vec3 direction)
{
    cairn_difference p;
    p.a = cairn_add(c->offset, cairn_convex_support(c->a, direction));
    if (cairn_dot(c->sweep, direction) > 0)
        p.a = cairn_add(p.a, c->sweep);
    p.b = cairn_convex_support(c->b, cairn_scale(-1, direction));
    p.w = cairn_sub(p.a, p.b);
    return p;
}

double cairn_couple_gap_along(const cairn_couple *c, cairn_vec3 n)
{
    return cairn_dot(n, cairn_couple_support(c, cairn_scale(-1, n)).w);
}

/* ---- the common normal of smooth shapes ------------------------------------------------------ */

/* The distance of two smooth strictly convex shapes by Newton's method.
 *
 * The gap is the maximum over unit vectors n of  g(n) = min_a n.a - max_b n.b = n.d(n)  with
 * d(n) = s_A(-n) - s_B(n), whose gradient on the sphere is F = d - (n.d) n: at the solution the
 * witnesses lie on one line along their common normal. d'(n) = -(H_A(-n) + H_B(n)) with the
 * derivatives H of the support maps, so that Newton's step solves, in the tangent plane,
 *     (H_A + H_B + g I) dn = F.
 * The matrix is positive definite for shapes that are apart, and for overlaps shallower than the
 * radii of curvature; otherwise it is shifted, which still gives an ascent direction. A step is
 * halved until g increases or at least F decreases.
 *
 * Where a surface is flat (superellipsoids at the ends of their axes), H is so large that n, known
 * to 1e-16, determines the points only to 1e-16 H. The last step then moves the points alone:
 * a - H_A dn and b + H_B dn, with a dn that may be smaller than the rounding of n. */

enum { MAX_STEPS = 60, MAX_HALVINGS = 30 };

static void evaluate(const cairn_couple *c, cairn_vec3 n, cairn_distance *d)
{
    cairn_difference p = cairn_couple_support(c, cairn_scale(-1, n));
    d->normal = n;
    d->on_a = p.a;
    d->on_b = p.b;
    d->gap = cairn_dot(n, p.w);
    d->residual = cairn_norm(cairn_add_scaled(p.w, -d->gap, n)) / c->size;
    d->iterations++;
}

/* Axes t, u of the tangent plane at n, and the derivatives of the support maps there. */
typedef struct tangent {
    cairn_vec3 t, u;
    cairn_bend a, b;
    double f[2]; /* F in these axes */
} tangent;

/* Kept finite where a surface is flat; in 2D u stands across the plane. */
static cairn_bend bend_of(const cairn_couple *c, const cairn_convex *shape, cairn_vec3 n,
                          const tangent *p)
{
    bool plane = c->dimension == 2;
    double most = 1e12 * c->size;
    cairn_bend h = cairn_convex_curvature(shape, n, p->t, p->u);
    if (plane)
        h.tu = h.uu = 0;
    bool finite = isfinite(h.tt) && isfinite(h.uu) && isfinite(h.tu);
    return finite ? (cairn_bend){ fmin(h.tt, most), h.tu, fmin(h.uu, most) }
                  : (cairn_bend){ most, 0, most };
}

static tangent tangent_at(const cairn_couple *c, const cairn_distance *d)
{
    cairn_vec3 n = d->normal, F = cairn_sub(d->on_a, d->on_b);
    bool plane = c->dimension == 2;
    tangent p = { .t = plane ? cairn_vec(-n.y, n.x, 0) : cairn_perpendicular(n) };
    p.u = cairn_cross(n, p.t);
    p.a = bend_of(c, c->a, cairn_scale(-1, n), &p);
    p.b = bend_of(c, c->b, n, &p);
    p.f[0] = cairn_dot(F, p.t);
    p.f[1] = plane ? 0 : cairn_dot(F, p.u);
    return p;
}

/* H_A + H_B + g I; in 2D nothing happens along u. */
static cairn_bend matrix_of(const cairn_couple *c, const tangent *p, double gap)
{
    cairn_bend m = { p->a.tt + p->b.tt + gap, p->a.tu + p->b.tu, p->a.uu + p->b.uu + gap };
    m.uu = c->dimension == 2 ? c->size : m.uu;
    return m;
}

/* What to add to the diagonal to make a matrix clearly positive definite. */
static double shift_of(const cairn_bend *m, double size)
{
    double half = 0.5 * (m->tt - m->uu), mean = 0.5 * (m->tt + m->uu);
    double least = mean - sqrt(half * half + m->tu * m->tu);
    return least < 1e-6 * size ? 0.1 * size - least : 0;
}

static void solve(const cairn_bend *m, const double f[2], double x[2])
{
    double determinant = m->tt * m->uu - m->tu * m->tu;
    x[0] = (m->uu * f[0] - m->tu * f[1]) / determinant;
    x[1] = (m->tt * f[1] - m->tu * f[0]) / determinant;
}

static cairn_vec3 newton_step(const cairn_couple *c, const cairn_distance *d)
{
    tangent p = tangent_at(c, d);
    cairn_bend m = matrix_of(c, &p, d->gap);
    double x[2], shift = shift_of(&m, c->size);
    m.tt += shift;
    m.uu += shift;
    solve(&m, p.f, x);
    return cairn_add_scaled(cairn_scale(x[0], p.t), x[1], p.u);
}

static cairn_vec3 bent(const tangent *p, const cairn_bend *h, const double x[2])
{
    cairn_vec3 along = cairn_scale(h->tt * x[0] + h->tu * x[1], p->t);
    return cairn_add_scaled(along, h->tu * x[0] + h->uu * x[1], p->u);
}

/* One more step, of the points alone; only if it is so short that the surfaces are flat over it. */
static void polish(const cairn_couple *c, cairn_distance *d)
{
    tangent p = tangent_at(c, d);
    cairn_bend m = matrix_of(c, &p, d->gap);
    double x[2];
    solve(&m, p.f, x);
    cairn_distance next = *d;
    next.on_a = cairn_sub(d->on_a, bent(&p, &p.a, x));
    next.on_b = cairn_add(d->on_b, bent(&p, &p.b, x));
    cairn_vec3 between = cairn_sub(next.on_a, next.on_b);
    next.normal = cairn_add_scaled(cairn_add_scaled(d->normal, x[0], p.t), x[1], p.u);
    next.normal = cairn_unit(next.normal);
    next.gap = cairn_dot(between, next.normal);
    next.residual = cairn_norm(cairn_add_scaled(between, -next.gap, next.normal)) / c->size;
    if (next.residual < d->residual && d->residual < 1e-6)
        *d = next;
}

static bool improve(const cairn_couple *c, cairn_distance *d)
{
    cairn_vec3 step = newton_step(c, d);
    double length = cairn_norm(step), scale = length > 0.5 ? 0.5 / length : 1;
    for (int k = 0; k < MAX_HALVINGS; k++, scale *= 0.5) {
        cairn_distance next = *d;
        evaluate(c, cairn_unit(cairn_add_scaled(d->normal, scale, step)), &next);
        double slack = 1e-13 * c->size;
        bool climbs = next.gap > d->gap + slack;
        bool settles = next.gap >= d->gap - slack && next.residual < 0.9 * d->residual;
        d->iterations = next.iterations;
        if (climbs || settles) {
            *d = next;
            return true;
        }
    }
    return false;
}

bool cairn_common_normal(const cairn_couple *c, cairn_distance *d)
{
    evaluate(c, d->normal, d);
    for (int k = 0; k < MAX_STEPS && d->residual > 1e-13; k++)
        if (!improve(c, d))
            break;
    if (d->residual > CAIRN_SMOOTH_RESIDUAL)
        polish(c, d);
    return d->residual <= CAIRN_SMOOTH_RESIDUAL;
}
