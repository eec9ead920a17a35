/* solid.c - see solid.h. In the frame of the shape, with r = |p across the axis|, z along it:
 *
 *   box             corners of half the size, less the rounding, swept by a ball of it
 *   capsule         the segment |z| <= length/2, swept by the radius
 *   cylinder        r <= R, |z| <= height/2
 *   cone            from the base z = -height/4 to the apex z = 3/4 height
 *   ellipsoid       F = |(x/a, y/b, z/c)| = 1
 *   superellipsoid  F = ((|x/a|^n + |y/b|^n)^(k/n) + |z/c|^k)^(1/k) = 1
 * The last two are norms; their reach is the dual norm, with n/(n - 1) and k/(k - 1). */
#include "solid.h"

#include "shapes.h"

check_class check_class_of(const check_run *run, int body)
{
    switch (run->bodies.shape[body]) {
    case CHECK_SPHERE:
    case CHECK_POINT:
    case CHECK_BOX:
    case CHECK_CAPSULE:
        return CHECK_FLAT;
    case CHECK_ELLIPSOID:
    case CHECK_SUPERELLIPSOID:
        return CHECK_SMOOTH;
    case CHECK_SOLID_CYLINDER:
    case CHECK_SOLID_CONE:
        return CHECK_RIMMED;
    default:
        return CHECK_NO_SOLID;
    }
}

double check_rounding_of(const check_run *run, int body)
{
    int kind = run->bodies.shape[body];
    bool swept = kind == CHECK_SPHERE || kind == CHECK_CAPSULE;
    return swept ? run->bodies.radius[body] : kind == CHECK_BOX ? run->bodies.rounding[body] : 0;
}

/* ---- frames --------------------------------------------------------------------------------- */

static vec centre_of(const check_run *run, int body, check_place_of at)
{
    return vec_add(at.x, 1, quat_rotate(at.q, run->bodies.shape_x[body]));
}

static vec into_shape(const check_run *run, int body, check_place_of at, vec direction)
{
    return quat_rotate_back(run->bodies.shape_q[body], quat_rotate_back(at.q, direction));
}

/* Parts of a vector along the unit axis of a body's shape, and across it. */
static void split(const check_run *run, int body, vec p, double *along, double *across)
{
    vec axis = run->bodies.axis[body];
    axis = vec_times(1 / vec_norm(axis), axis);
    *along = vec_dot(p, axis);
    *across = vec_norm(vec_add(p, -*along, axis));
}

/* Half the core of a box; in 2D there is no z. */
static vec half_core(const check_run *run, int body)
{
    vec size = run->bodies.size[body];
    double round = run->bodies.rounding[body];
    vec half = { 0.5 * size.x - round, 0.5 * size.y - round, 0.5 * size.z - round };
    half.z = run->settings.dimension == 2 ? 0 : half.z;
    return half;
}

/* ---- powers --------------------------------------------------------------------------------- */

/* (|x|^n + |y|^n)^(1/n) without overflow. */
static double norm_of(double x, double y, double n)
{
    double most = fmax(fabs(x), fabs(y));
    return most > 0 ? most * pow(pow(fabs(x) / most, n) + pow(fabs(y) / most, n), 1 / n) : 0;
}

static void exponents_of(const check_run *run, int body, double *n, double *k)
{
    bool plain = run->bodies.shape[body] == CHECK_ELLIPSOID;
    const double *stored = run->bodies.exponents + 2 * body;
    *n = plain ? 2 : stored[0];
    *k = plain ? 2 : stored[1] > 0 ? stored[1] : stored[0];
}

/* p with each part divided by the semi-axis, or multiplied. */
static vec stretch(const check_run *run, int body, vec p, bool divide)
{
    vec a = run->bodies.semi_axes[body];
    bool flat = run->settings.dimension == 2;
    if (divide)
        return (vec){ p.x / a.x, p.y / a.y, flat ? 0 : p.z / a.z };
    return (vec){ p.x * a.x, p.y * a.y, flat ? 0 : p.z * a.z };
}

/* dF/ds of F = |(|(s_x, s_y)|_n, s_z)|_k: powers of s_i/F, which are at most 1. */
static vec gradient_of(vec s, double n, double k)
{
    double flat = norm_of(s.x, s.y, n), all = norm_of(flat, s.z, k);
    double lift = flat > 0 ? pow(flat / all, k - 1) : 0;
    vec g = { 0, 0, copysign(pow(fabs(s.z) / all, k - 1), s.z) };
    if (flat > 0) {
        g.x = lift * copysign(pow(fabs(s.x) / flat, n - 1), s.x);
        g.y = lift * copysign(pow(fabs(s.y) / flat, n - 1), s.y);
    }
    return g;
}

/* (F - 1)/|grad F| */
static double outside_norm(const check_run *run, int body, vec p)
{
    double n, k;
    vec s = stretch(run, body, p, true);
    exponents_of(run, body, &n, &k);
    double F = norm_of(norm_of(s.x, s.y, n), s.z, k);
    if (!(F > 0))
        return -vec_norm(run->bodies.semi_axes[body]);
    vec g = stretch(run, body, gradient_of(s, n, k), true);
    return (F - 1) / vec_norm(g);
}

/* ---- how far out ---------------------------------------------------------------------------- */

/* Of a rectangle or box, by the distances from its sides; the third may be -infinite. */
static double outside_sides(double x, double y, double z)
{
    vec out = { fmax(x, 0), fmax(y, 0), fmax(z, 0) };
    return vec_norm(out) + fmin(0, fmax(x, fmax(y, z)));
}

static double outside_cone(double R, double height, double r, double z)
{
    double low = -0.25 * height, top = 0.75 * height, slope = hypot(R, height);
    double base = low - z, side = (r * height + (z - top) * R) / slope;
    if (base <= 0 && side <= 0)
        return fmax(base, side);
    double t = (r * R + (top - z) * height) / (slope * slope); /* along the side, from the apex */
    t = fmin(1, fmax(0, t));
    double to_side = hypot(r - t * R, z - top + t * height);
    return fmin(to_side, hypot(fmax(0, r - R), z - low));
}

double check_outside(const check_run *run, int body, check_place_of at, vec point)
{
    const check_bodies *b = &run->bodies;
    vec p = into_shape(run, body, at, vec_add(point, -1, centre_of(run, body, at)));
    double along = 0, across = 0;
    vec half;
    switch (b->shape[body]) {
    case CHECK_BOX:
        half = half_core(run, body);
        return outside_sides(fabs(p.x) - half.x, fabs(p.y) - half.y,
                             run->settings.dimension == 2 ? -HUGE_VAL : fabs(p.z) - half.z) -
               b->rounding[body];
    case CHECK_CAPSULE:
        split(run, body, p, &along, &across);
        return hypot(fmax(0, fabs(along) - 0.5 * b->length[body]), across) - b->radius[body];
    case CHECK_SOLID_CYLINDER:
        split(run, body, p, &along, &across);
        return outside_sides(across - b->radius[body], fabs(along) - 0.5 * b->height[body],
                             -HUGE_VAL);
    case CHECK_SOLID_CONE:
        split(run, body, p, &along, &across);
        return outside_cone(b->radius[body], b->height[body], across, along);
    case CHECK_ELLIPSOID:
    case CHECK_SUPERELLIPSOID:
        return outside_norm(run, body, p);
    default:
        return vec_norm(p) - check_radius(run, body);
    }
}

/* ---- how far it reaches --------------------------------------------------------------------- */

static double reach_of_norm(const check_run *run, int body, vec d)
{
    double n, k;
    vec s = stretch(run, body, d, false);
    exponents_of(run, body, &n, &k);
    return norm_of(norm_of(s.x, s.y, n / (n - 1)), s.z, k / (k - 1));
}

double check_reach(const check_run *run, int body, check_place_of at, vec direction)
{
    const check_bodies *b = &run->bodies;
    vec d = into_shape(run, body, at, direction), half;
    double origin = vec_dot(centre_of(run, body, at), direction), along = 0, across = 0;
    switch (b->shape[body]) {
    case CHECK_BOX:
        half = half_core(run, body);
        return origin + half.x * fabs(d.x) + half.y * fabs(d.y) + half.z * fabs(d.z) +
               b->rounding[body];
    case CHECK_CAPSULE:
        split(run, body, d, &along, &across);
        return origin + 0.5 * b->length[body] * fabs(along) + b->radius[body];
    case CHECK_SOLID_CYLINDER:
        split(run, body, d, &along, &across);
        return origin + 0.5 * b->height[body] * fabs(along) + b->radius[body] * across;
    case CHECK_SOLID_CONE:
        split(run, body, d, &along, &across);
        return origin + fmax(0.75 * b->height[body] * along,
                             b->radius[body] * across - 0.25 * b->height[body] * along);
    case CHECK_ELLIPSOID:
    case CHECK_SUPERELLIPSOID:
        return origin + reach_of_norm(run, body, d);
    default:
        return origin + check_radius(run, body);
    }
}
