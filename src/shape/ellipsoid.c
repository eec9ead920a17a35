/* ellipsoid.c - ellipsoids and superellipsoids, in 2D ellipses and superellipses, with the axes of
 * their frames. */
#include <math.h>

#include "base/common.h"
#include "math/vec.h"
#include "shape/shape.h"

/* ---- ellipsoids -------------------------------------------------------------------------- */

/* An ellipsoid, in 2D an ellipse, aligned with its axes.
 *
 * A = diag(a, b, c), in 2D c = 0.
 *   support point     p(d) = A^2 d/|A d|
 *   its derivative    dp/dd = (A^2 - p p')/|A d|
 *   normal at p       A^-2 p/|A^-2 p|
 *   m = 4/3 pi abc rho, J_x = m (b^2 + c^2)/5;  2D: m = pi ab rho, J = m (a^2 + b^2)/4 */

static cairn_status ellipsoid_check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    return cairn_shape_check_lengths(shape->semi_axes, dimension, "semi_axes", error);
}

static bool ellipsoid_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    double a = shape->semi_axes.x, b = shape->semi_axes.y, c = shape->semi_axes.z;
    double volume = dimension == 2 ? M_PI * a * b : 4.0 / 3 * M_PI * a * b * c;
    double part = volume / (dimension == 2 ? 4 : 5);
    *out = cairn_moments_symmetric(volume, part * a * a, part * b * b, part * c * c);
    return true;
}

static double ellipsoid_extent(const cairn_shape *shape)
{
    return fmax(fmax(shape->semi_axes.x, shape->semi_axes.y), shape->semi_axes.z);
}

static cairn_vec3 ellipsoid_support(const cairn_shape *shape, cairn_vec3 d)
{
    cairn_vec3 ad = cairn_times(shape->semi_axes, d);
    return cairn_times(shape->semi_axes, cairn_unit(ad));
}

static void ellipsoid_face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_face_of_point(ellipsoid_support(shape, d), d, out);
}

static cairn_vec3 ellipsoid_normal_at(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_vec3 a = shape->semi_axes;
    return cairn_unit(
        cairn_vec(p.x / (a.x * a.x), p.y / (a.y * a.y), a.z > 0 ? p.z / (a.z * a.z) : 0));
}

static void ellipsoid_curvature(const cairn_shape *shape, cairn_vec3 d, cairn_symmetric *out)
{
    cairn_vec3 a = shape->semi_axes, p = ellipsoid_support(shape, d);
    double s = 1 / cairn_norm(cairn_times(a, d));
    *out = (cairn_symmetric){ s * (a.x * a.x - p.x * p.x),
                              s * (a.y * a.y - p.y * p.y),
                              s * (a.z * a.z - p.z * p.z),
                              -s * p.x * p.y,
                              -s * p.y * p.z,
                              -s * p.z * p.x };
}

static const cairn_option ellipsoid_options[] = {
    { "semi_axes", CAIRN_OPTION_VECTOR, true, offsetof(cairn_shape, semi_axes), 0, 1e12, "m",
      "half lengths along x, y, z (2D: x, y)", NULL },
};

const cairn_shape_class cairn_shape_class_ellipsoid = {
    .record = { "ellipsoid", "ellipsoid, in 2D an ellipse", sizeof(cairn_shape),
                cairn_shape_set_default, ellipsoid_options, 1 },
    .check = ellipsoid_check,
    .moments = ellipsoid_moments,
    .extent = ellipsoid_extent,
    .support = ellipsoid_support,
    .face = ellipsoid_face,
    .normal_at = ellipsoid_normal_at,
    .curvature = ellipsoid_curvature,
    .smooth = true,
};

/* ---- superellipsoids --------------------------------------------------------------------- */

/* A superellipsoid, in 2D a superellipse, aligned with its axes:
 *
 *   ((|x/a|^n + |y/b|^n)^(k/n) + |z/c|^k)^(1/k) <= 1,   n = exponent, k = exponent_z
 *
 * The left side is a norm made of two nested p-norms, so the solid is convex for n, k >= 1. Its
 * support function is the dual norm, with n' = n/(n-1), k' = k/(k-1) and with a, b, c as
 * factors. The support point is the gradient of that, its derivative the second derivative, all
 * in closed form. Exponents above 2 make flat spots at the ends of the axes (there the support
 * point moves infinitely fast), those below 2 make sharp ones; exponents from 1.2 to 20 are
 * accepted.
 *
 * Moments, with the beta function B; a layer at height z is the plane figure scaled by s = (1 -
 * |z/c|^k)^(1/k):
 *   area          A    = 4 ab/n B(1/n, 1/n + 1)
 *   int x^2 dA    A_xx = 4 a^3 b/n B(3/n, 1/n + 1), likewise y
 *   int s^i |z|^j dz   = 2 c^(j+1)/k B((j + 1)/k, i/k + 1) */

#define LEAST_EXPONENT 1.2
#define MOST_EXPONENT  20

/* 0 in the options means: as `exponent`. */
static double exponent_z(const cairn_shape *shape)
{
    return shape->exponent_z > 0 ? shape->exponent_z : shape->exponent;
}

static cairn_status superellipsoid_check(const cairn_shape *shape, int dimension,
                                         cairn_error *error)
{
    TRY(cairn_shape_check_lengths(shape->semi_axes, dimension, "semi_axes", error));
    if (shape->exponent_z != 0 && shape->exponent_z < LEAST_EXPONENT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "exponent_z",
                          "found %g, expected 0 (as exponent) or a number between %g and %d",
                          shape->exponent_z, LEAST_EXPONENT, MOST_EXPONENT);
    return CAIRN_OK;
}

/* ---- moments -------------------------------------------------------------------------------- */

/* B(p, q) = G(p) G(q)/G(p + q); the arguments are moderate, so the gamma functions do not
 * overflow. */
static double beta(double p, double q)
{
    return tgamma(p) * tgamma(q) / tgamma(p + q);
}

static bool super_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    double a = shape->semi_axes.x, b = shape->semi_axes.y, c = shape->semi_axes.z;
    double n = shape->exponent, k = exponent_z(shape);
    double area = 4 * a * b / n * beta(1 / n, 1 / n + 1);
    double second = 4 * a * b / n * beta(3 / n, 1 / n + 1);
    if (dimension == 2) {
        *out = cairn_moments_symmetric(area, second * a * a, second * b * b, 0);
        return true;
    }
    /* integrals over z of s^2, s^4 and s^2 z^2: a layer's area scales with s^2, its moments with
     * s^4 */
    double layers = 2 * c / k * beta(1 / k, 2 / k + 1);
    double layers_4 = 2 * c / k * beta(1 / k, 4 / k + 1);
    double layers_z = 2 * c * c * c / k * beta(3 / k, 2 / k + 1);
    *out = cairn_moments_symmetric(area * layers, second * a * a * layers_4,
                                   second * b * b * layers_4, area * layers_z);
    return true;
}

/* ---- nested norms --------------------------------------------------------------------------- */

/* N(s, t) = (s^m + t^m)^(1/m) for s, t >= 0, not both 0, with its derivatives. */
typedef struct norm {
    double value, s, t, ss, st, tt;
} norm;

/* N for s >= t > 0. With w = t/s <= 1 and p = w^m, so that no power overflows:
 *   N = s (1 + p)^(1/m),   N_s = (N/s)/(1 + p),   N_t = N_s p/w,
 *   N_ss = f p N_s/(1 + p) (N/s),   N_tt = f N_t/(1 + p) (N/t),   N_st = -f N_s N_t
 * with f = (m - 1)/N: only two powers for all of them. */
static norm ordered_norm(double s, double t, double m)
{
    double w = t / s, p = pow(w, m), root = pow(1 + p, 1 / m);
    norm n = { .value = s * root, .s = root / (1 + p) };
    n.t = n.s * p / w;
    double f = (m - 1) / n.value;
    n.ss = f * p * n.s / (1 + p) * root;
    n.tt = f * n.t / (1 + p) * root / w;
    n.st = -f * n.s * n.t;
    return n;
}

/* N is symmetric: for s < t exchange the arguments and the derivatives. */
static norm norm_of(double s, double t, double m)
{
    if (!(s + t > 0))
        return (norm){ 0 };
    if (s >= t)
        return ordered_norm(s, t, m);
    norm n = ordered_norm(t, s, m);
    return (norm){ n.value, n.t, n.s, n.tt, n.st, n.ss };
}

/* The nested norm of (x, y, z), each multiplied by its scale first. */
typedef struct nested {
    double n, k;      /* exponents of the inner and the outer norm   */
    cairn_vec3 scale; /* z = 0: the plane                            */
    norm inner, outer;
    double x, y, z; /* sign times scale: derivatives of s, t, u by x, y, z */
} nested;

static double signed_scale(double scale, double v)
{
    return v < 0 ? -scale : scale;
}

/* Components that vanish compared to the others are lifted to this fraction of the largest: the
 * value changes by less than rounding, and the second derivative stays finite. */
#define LIFT 1e-10

/* The factors s/floor keep the gradient continuous where a component was lifted: it goes to 0
 * with it. */
static void evaluate(nested *e, cairn_vec3 v)
{
    double s = fabs(v.x) * e->scale.x, t = fabs(v.y) * e->scale.y, u = fabs(v.z) * e->scale.z;
    double floor = LIFT * fmax(fmax(s, t), u);
    e->inner = norm_of(fmax(s, floor), fmax(t, floor), e->n);
    if (e->scale.z > 0)
        e->outer = norm_of(e->inner.value, fmax(u, floor), e->k);
    else
        e->outer = (norm){ .value = e->inner.value, .s = 1 };
    e->x = signed_scale(e->scale.x, v.x) * (s >= floor ? 1 : s / floor);
    e->y = signed_scale(e->scale.y, v.y) * (t >= floor ? 1 : t / floor);
    e->z = signed_scale(e->scale.z, v.z) * (u >= floor ? 1 : u / floor);
}

static cairn_vec3 gradient(const nested *e)
{
    return cairn_vec(e->outer.s * e->inner.s * e->x, e->outer.s * e->inner.t * e->y,
                     e->outer.t * e->z);
}

static cairn_symmetric second_derivative(const nested *e)
{
    const norm *i = &e->inner, *o = &e->outer;
    double x = e->scale.x, y = e->scale.y, z = e->scale.z;
    return (cairn_symmetric){ .xx = x * x * (o->ss * i->s * i->s + o->s * i->ss),
                              .yy = y * y * (o->ss * i->t * i->t + o->s * i->tt),
                              .zz = z * z * o->tt,
                              .xy = e->x * e->y * (o->ss * i->s * i->t + o->s * i->st),
                              .yz = e->y * e->z * o->st * i->t,
                              .zx = e->z * e->x * o->st * i->s };
}

/* ---- form ----------------------------------------------------------------------------------- */

/* The support function at d, with its derivatives. */
static nested dual(const cairn_shape *shape, cairn_vec3 d)
{
    double n = shape->exponent, k = exponent_z(shape);
    nested e = { .n = n / (n - 1), .k = k / (k - 1), .scale = shape->semi_axes };
    evaluate(&e, d);
    return e;
}

static cairn_vec3 superellipsoid_support(const cairn_shape *shape, cairn_vec3 d)
{
    const nested e = dual(shape, d);
    return gradient(&e);
}

static void superellipsoid_face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_face_of_point(superellipsoid_support(shape, d), d, out);
}

static void superellipsoid_curvature(const cairn_shape *shape, cairn_vec3 d, cairn_symmetric *out)
{
    const nested e = dual(shape, d);
    *out = second_derivative(&e);
}

static cairn_vec3 superellipsoid_normal_at(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_vec3 a = shape->semi_axes;
    nested e = { .n = shape->exponent,
                 .k = exponent_z(shape),
                 .scale = cairn_vec(1 / a.x, 1 / a.y, a.z > 0 ? 1 / a.z : 0) };
    evaluate(&e, p);
    return cairn_unit(gradient(&e));
}

/* The largest p^2 + q^2 with (p/a)^n + (q/b)^n = 1: (a^(2 m) + b^(2 m))^(1/m), m = n/(n - 2), for
 * n > 2 (Hoelder), else the larger of a^2 and b^2. Returns its root. */
static double farthest(double a, double b, double n)
{
    double most = fmax(a, b), least = fmin(a, b);
    if (n <= 2)
        return most;
    double m = n / (n - 2);
    return most * pow(1 + pow(least / most, 2 * m), 0.5 / m);
}

static double superellipsoid_extent(const cairn_shape *shape)
{
    cairn_vec3 a = shape->semi_axes;
    return farthest(farthest(a.x, a.y, shape->exponent), a.z, exponent_z(shape));
}

static const cairn_option superellipsoid_options[] = {
    { "semi_axes", CAIRN_OPTION_VECTOR, true, offsetof(cairn_shape, semi_axes), 0, 1e12, "m",
      "half lengths along x, y, z (2D: x, y)", NULL },
    { "exponent", CAIRN_OPTION_REAL, true, offsetof(cairn_shape, exponent), LEAST_EXPONENT,
      MOST_EXPONENT, "", "n in |x/a|^n + |y/b|^n; 2: an ellipse, larger: blockier", NULL },
    { "exponent_z", CAIRN_OPTION_REAL, false, offsetof(cairn_shape, exponent_z), 0, MOST_EXPONENT,
      "", "3D: the exponent towards z; 0: as `exponent`", NULL },
};

const cairn_shape_class cairn_shape_class_superellipsoid = {
    .record = { "superellipsoid", "superellipsoid, in 2D a superellipse", sizeof(cairn_shape),
                cairn_shape_set_default, superellipsoid_options, 3 },
    .check = superellipsoid_check,
    .moments = super_moments,
    .extent = superellipsoid_extent,
    .support = superellipsoid_support,
    .face = superellipsoid_face,
    .normal_at = superellipsoid_normal_at,
    .curvature = superellipsoid_curvature,
    .smooth = true,
};
