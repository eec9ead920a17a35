/* common_normal.c - the distance of two smooth strictly convex shapes by Newton's method.
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
#include "collide/convex.h"
#include "math/vec.h"

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
