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

check_witness check_in_wall(const check_run *run, check_ball ball, int b, vec normal, bool all)
{
    vec xb = run->x_eval[b];
    revolution s = revolution_of(run, b, vec_add(ball.x, -1, xb), run->q_eval[b]);
    check_witness best = { .size = 0 };
    for (int k = 0; k < (all ? s.count : 1); k++) {
        double distance;
        vec n = wall(run, b, &s, s.e[k], &distance);
        if (k > 0 && vec_dot(n, normal) <= vec_dot(best.normal, normal))
            continue;
        best = witness(ball.x, ball.radius, n, distance);
        best.size = vec_norm(ball.x) + vec_norm(xb) + ball.radius + run->bodies.radius[b];
        best.turn = 1 + best.size * s.turn;
    }
    return best;
}
