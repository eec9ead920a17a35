/* shapes.c - see shapes.h. A ball of radius R at d from the origin of the other shape:
 *   ball        n = d/|d|, distance |d| - R_b
 *   half-space  n = axis, distance d.n
 *   cylinder    inside: for e of three directions at right angles to the axis, the nearest and
 *               two turned by 120 degrees: n = -e, distance R_c - d.e
 *   cone        inside: n = axis sin(alpha) - e cos(alpha), distance d.n
 *   funnel      n from the nearest point of the wall in the half-plane of e to the centre
 * gap = distance - R. In 2D cone and funnel have two directions, e and -e. */
#include "shapes.h"

/* Direction data of a surface of revolution. */
typedef struct revolution {
    vec axis, d, e[CHECK_WITNESSES];
    double along; /* of d, along the axis                     */
    double turn;  /* what rounding of the e is relative to    */
    int count;
} revolution;

vec check_perpendicular(vec n, bool other)
{
    bool first = (fabs(n.x) < 0.6) != other;
    vec t = first ? (vec){ 0, -n.z, n.y } : (vec){ n.z, 0, -n.x };
    return vec_times(1 / vec_norm(t), t);
}

static vec unit_axis(const check_run *run, int b, quat q)
{
    vec axis = run->bodies.axis[b];
    return quat_rotate(q, vec_times(1 / vec_norm(axis), axis));
}

static revolution revolution_of(const check_run *run, int b, vec d, quat q)
{
    revolution s = { .axis = unit_axis(run, b, q), .d = d };
    bool wedge = run->settings.dimension == 2 && run->bodies.shape[b] != CHECK_CYLINDER;
    s.along = vec_dot(d, s.axis);
    vec radial = vec_add(d, -s.along, s.axis);
    double length = vec_norm(radial);
    vec any = wedge ? (vec){ -s.axis.y, s.axis.x, 0 } : check_perpendicular(s.axis, false);
    s.e[0] = length > 0 ? vec_times(1 / length, radial) : any;
    s.turn = length > 0 ? 1 / length : 1;
    s.count = wedge ? 2 : 3;
    s.e[1] = vec_times(-1, s.e[0]);
    if (wedge)
        return s;
    vec side = vec_times(sqrt(0.75), vec_cross(s.axis, s.e[0]));
    s.e[1] = vec_add(side, -0.5, s.e[0]);
    s.e[2] = vec_add(vec_times(-1, side), -0.5, s.e[0]);
    return s;
}

/* The normal and the distance from the surface for direction e. */
static vec wall(const check_run *run, int b, const revolution *s, vec e, double *distance)
{
    const check_bodies *body = &run->bodies;
    if (body->shape[b] == CHECK_CYLINDER) {
        *distance = body->radius[b] - vec_dot(s->d, e);
        return vec_times(-1, e);
    }
    if (body->shape[b] == CHECK_CONE) {
        double alpha = body->half_angle[b];
        vec n = vec_add(vec_times(sin(alpha), s->axis), -cos(alpha), e);
        *distance = vec_dot(s->d, n);
        return n;
    }
    double low = body->bottom_radius[b], rise = body->height[b],
           run_out = body->top_radius[b] - low;
    double t =
        ((vec_dot(s->d, e) - low) * run_out + s->along * rise) / (run_out * run_out + rise * rise);
    t = fmin(1, fmax(0, t));
    vec away = vec_add(vec_add(s->d, -t * rise, s->axis), -(low + t * run_out), e);
    *distance = vec_norm(away);
    return *distance > 0 ? vec_times(1 / *distance, away) : vec_times(-1, e);
}

static check_witness witness(vec x, double radius, vec normal, double distance)
{
    return (check_witness){ .normal = normal,
                            .point = vec_add(x, -0.5 * (radius + distance), normal),
                            .gap = distance - radius };
}

static int against_wall(const check_run *run, int a, int b, const vec *x, const quat *q,
                        check_witness *out)
{
    vec d = vec_add(x[a], -1, x[b]);
    double size = vec_norm(x[a]) + vec_norm(x[b]), radius = check_radius(run, a), distance;
    revolution s = revolution_of(run, b, d, q[b]);
    size += run->bodies.radius[b] + run->bodies.top_radius[b] + run->bodies.bottom_radius[b];
    for (int k = 0; k < s.count; k++) {
        vec n = wall(run, b, &s, s.e[k], &distance);
        bool thin = run->bodies.shape[b] == CHECK_FUNNEL;
        out[k] = witness(x[a], radius, n, distance);
        out[k].size = size * (1 + size * s.turn * (k > 0));
        out[k].turn = 1 + size * s.turn + (thin && distance > 0 ? out[k].size / distance : 0);
    }
    return s.count;
}

int check_witnesses(const check_run *run, int a, int b, const vec *x, const quat *q,
                    check_witness *out)
{
    check_shape other = (check_shape)run->bodies.shape[b];
    vec d = vec_add(x[a], -1, x[b]);
    double radius = check_radius(run, a), size = vec_norm(x[a]) + vec_norm(x[b]) + radius;
    if (!check_is_ball(run, a) || other >= CHECK_BOX)
        return 0;
    if (other == CHECK_HALF_SPACE) {
        vec n = unit_axis(run, b, q[b]);
        out[0] = witness(x[a], radius, n, vec_dot(d, n));
        out[0].turn = 1;
    } else if (check_is_ball(run, b)) {
        double distance = vec_norm(d);
        vec up = run->settings.dimension == 2 ? (vec){ 0, 1, 0 } : (vec){ 0, 0, 1 };
        vec n = distance > 0 ? vec_times(1 / distance, d) : up;
        out[0] = witness(x[a], radius, n, distance - check_radius(run, b));
        out[0].turn = distance > 0 ? 1 + size / distance : 1;
        size += check_radius(run, b);
    } else {
        return against_wall(run, a, b, x, q, out);
    }
    out[0].size = size;
    return 1;
}

/* The farthest of (x^n + y^n)^(1/n) <= 1 stretched by a and b: by Hoelder's inequality the norm of
 * (a, b) with the exponent 2n/(n - 2); a corner of the axes for n <= 2. */
static double farthest(double a, double b, double n)
{
    double most = fmax(a, b);
    if (n <= 2 || !(most > 0))
        return most;
    double e = 2 * n / (n - 2);
    return most * pow(pow(a / most, e) + pow(b / most, e), 1 / e);
}

static double extent_of_shape(const check_run *run, int body)
{
    const check_bodies *b = &run->bodies;
    vec half = vec_times(0.5, b->size[body]), a = b->semi_axes[body];
    double round = b->rounding[body], h = b->height[body];
    bool flat = run->settings.dimension == 2;
    const double *n = b->exponents + 2 * body;
    switch (b->shape[body]) {
    case CHECK_BOX:
        half = vec_add(half, -round, (vec){ 1, 1, 1 });
        half.z = flat ? 0 : half.z;
        return vec_norm(half) + round;
    case CHECK_CAPSULE:
        return 0.5 * b->length[body] + b->radius[body];
    case CHECK_SOLID_CYLINDER:
        return hypot(b->radius[body], 0.5 * h);
    case CHECK_SOLID_CONE:
        return fmax(0.75 * h, hypot(b->radius[body], 0.25 * h));
    case CHECK_ELLIPSOID:
        return fmax(a.x, fmax(a.y, flat ? 0 : a.z));
    case CHECK_SUPERELLIPSOID:
        return farthest(farthest(a.x, a.y, n[0]), flat ? 0 : a.z, n[1] > 0 ? n[1] : n[0]);
    case CHECK_OTHER:
        return -1;
    default:
        return check_radius(run, body);
    }
}

double check_extent(const check_run *run, int body)
{
    double extent = extent_of_shape(run, body);
    return extent > 0 ? extent + vec_norm(run->bodies.shape_x[body]) : extent;
}

check_witness check_nearest_wall(const check_run *run, vec x, double radius, int b, vec xb, quat q)
{
    double distance;
    vec d = vec_add(x, -1, xb);
    revolution s = revolution_of(run, b, d, q);
    vec n = wall(run, b, &s, s.e[0], &distance);
    check_witness out = witness(x, radius, n, distance);
    out.size = vec_norm(x) + vec_norm(xb) + radius + run->bodies.radius[b];
    out.turn = 1 + out.size * s.turn;
    return out;
}
