/* shapes.c - a ball and another shape, by closed forms; and how deep bodies are in walls. */
#include "shapes.h"

/* ---- a ball and another shape ---------------------------------------------------------------- */

/* A ball of radius R at d from the origin of the other shape:
 *   ball        n = d/|d|, distance |d| - R_b
 *   half-space  n = axis, distance d.n
 *   cylinder    inside: for e of three directions perpendicular to the axis, the nearest and
 *               two rotated by 120 degrees: n = -e, distance R_c - d.e
 *   cone        inside: n = axis sin(alpha) - e cos(alpha), distance d.n
 *   funnel      n from the nearest point of the wall in the half-plane of e to the centre
 * gap = distance - R. In 2D cone and funnel have two directions, e and -e. */

/* Direction data of a surface of revolution. */
typedef struct revolution {
    vec axis, d, e[CHECK_WITNESSES];
    double along; /* of d, along the axis                     */
    double turn;  /* size that rounding of e is relative to   */
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

/* ---- walls ----------------------------------------------------------------------------------- */

/* A wall is the set of points with n.p >= level for its planes; a round one has a plane for every
 * unit vector e perpendicular to its axis,
 *
 *     cylinder   n = -e                              level = -R
 *     cone       n = axis sin(alpha) - e cos(alpha)  level = 0, from the apex
 *
 * and a solid is in it by max over e of level - min n.p. Where the solid is spanned by points
 * that is the largest over these, each with e along its own radius. Else it is the largest of
 * f(t) = reach(-n(e(t))) over the angle t of e. Each point of the body adds a sine of t to f,
 * with an amplitude of at most B, its distance from the origin of the wall: f is the largest of
 * these sines, f'' >= -B, and between two angles f is at most the larger of its values there + B
 * (t2 - t1)^2/8. Intervals where that is too small are skipped, the others halved. */

enum { ANGLES = 32 };
static const double pi = 3.14159265358979323846;

/* ---- planes --------------------------------------------------------------------------------- */

static int planes_of_box(const check_run *run, int wall, quat q, check_plane *out)
{
    const vec units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    vec size = run->bodies.size[wall];
    const double sides[3] = { size.x, size.y, size.z };
    for (int k = 0; k < 2 * run->settings.dimension; k++)
        out[k] = (check_plane){ quat_rotate(q, vec_times(k % 2 ? -1 : 1, units[k / 2])),
                                -0.5 * sides[k / 2] };
    return 2 * run->settings.dimension;
}

int check_planes(const check_run *run, int wall, quat q, check_plane out[CHECK_PLANES])
{
    int32_t shape = run->bodies.shape[wall];
    if (shape == CHECK_INSIDE_BOX)
        return planes_of_box(run, wall, q, out);
    if (shape == CHECK_HALF_SPACE) {
        out[0] = (check_plane){ unit_axis(run, wall, q), 0 };
        return 1;
    }
    if (shape != CHECK_CONE || run->settings.dimension == 3)
        return 0;
    double sine = sin(run->bodies.half_angle[wall]), cosine = cos(run->bodies.half_angle[wall]);
    vec axis = unit_axis(run, wall, q), e = { -axis.y, axis.x, 0 };
    out[0] = (check_plane){ vec_add(vec_times(sine, axis), -cosine, e), 0 };
    out[1] = (check_plane){ vec_add(vec_times(sine, axis), cosine, e), 0 };
    return 2;
}

double check_plane_depth(const check_run *run, int a, check_place_of at, vec wall,
                         const check_plane *plane)
{
    double low = -check_body_reach(run, a, at, vec_times(-1, plane->n));
    return plane->level + vec_dot(wall, plane->n) - low;
}

double check_lowest_doubt(const check_run *run, int body)
{
    bool flat = check_pieces_class(run, body) == CHECK_FLAT && check_is_one_piece(run, body);
    return flat ? 0 : CHECK_LOWEST * check_extent(run, body);
}

/* In a round wall the deepest point of a curved body is found by an iteration that may converge
 * slowly where the curvatures are similar; the promised accuracy is that of other curved bodies. */
double check_round_doubt(const check_run *run, int body)
{
    bool flat = check_pieces_class(run, body) == CHECK_FLAT;
    return flat ? 0 : 2e-5 * check_extent(run, body);
}

/* ---- round walls ---------------------------------------------------------------------------- */

bool check_is_round_wall(const check_run *run, int body)
{
    bool cone = run->bodies.shape[body] == CHECK_CONE && run->settings.dimension == 3;
    return cone || run->bodies.shape[body] == CHECK_CYLINDER;
}

bool check_is_wall(const check_run *run, int body)
{
    int32_t shape = run->bodies.shape[body];
    return shape == CHECK_HALF_SPACE || shape == CHECK_INSIDE_BOX || shape == CHECK_CYLINDER ||
           shape == CHECK_CONE || shape == CHECK_FUNNEL;
}

typedef struct round_wall {
    vec x, axis, e, f; /* e and f span the plane perpendicular to the axis; f is 0 in 2D */
    double sine, cosine, radius;
} round_wall;

static round_wall round_of(const check_run *run, int wall, check_place_of at)
{
    bool cone = run->bodies.shape[wall] == CHECK_CONE;
    bool flat = run->settings.dimension == 2; /* of a cylinder: its axis is z */
    double alpha = cone ? run->bodies.half_angle[wall] : 0;
    round_wall w = { .x = at.x, .axis = unit_axis(run, wall, at.q) };
    w.axis = flat ? (vec){ 0, 0, 1 } : w.axis;
    vec off = fabs(w.axis.x) < 0.6 ? (vec){ 1, 0, 0 } : (vec){ 0, 1, 0 };
    w.e = vec_cross(w.axis, off);
    w.e = vec_times(1 / vec_norm(w.e), w.e);
    w.f = vec_cross(w.axis, w.e);
    w.sine = sin(alpha);
    w.cosine = cos(alpha);
    w.radius = cone ? 0 : run->bodies.radius[wall];
    return w;
}

/* Depth of the point p, with a ball around it, along its own radius. */
static double depth_of_point(const round_wall *w, vec p, double rounding)
{
    vec d = vec_add(p, -1, w->x);
    double along = vec_dot(d, w->axis), radial = vec_norm(vec_add(d, -along, w->axis));
    return radial * w->cosine - along * w->sine + rounding - w->radius;
}

static double depth_at(const round_wall *w, const check_solid *s, double angle)
{
    vec e = vec_add(vec_times(cos(angle), w->e), sin(angle), w->f);
    vec out = vec_add(vec_times(w->cosine, e), -w->sine, w->axis);
    return check_reach(s, out) - vec_dot(out, w->x) - w->radius;
}

/* Halves the interval until no value in it can be larger than the largest so far, *most, by more
 * than 1e-8 of the amplitude B. */
static void search_between(const round_wall *w, const check_solid *s, const double t[2],
                           const double f[2], double B, double *most)
{
    double width = t[1] - t[0];
    if (fmax(f[0], f[1]) + B * width * width / 8 <= *most + 1e-8 * B)
        return;
    double middle = 0.5 * (t[0] + t[1]), value = depth_at(w, s, middle);
    *most = fmax(*most, value);
    search_between(w, s, (const double[2]){ t[0], middle }, (const double[2]){ f[0], value }, B,
                   most);
    search_between(w, s, (const double[2]){ middle, t[1] }, (const double[2]){ value, f[1] }, B,
                   most);
}

static double depth_of_curved(const round_wall *w, const check_solid *s)
{
    double value[ANGLES + 1], most = -HUGE_VAL, step = 2 * pi / ANGLES;
    double B = vec_norm(vec_add(s->at.x, -1, w->x)) + check_solid_extent(s);
    for (int k = 0; k <= ANGLES; k++) {
        value[k] = depth_at(w, s, k * step);
        most = fmax(most, value[k]);
    }
    for (int k = 0; k < ANGLES; k++)
        search_between(w, s, (const double[2]){ k * step, (k + 1) * step }, value + k, B, &most);
    return most;
}

static double depth_of_solid(const round_wall *w, const check_solid *s)
{
    int count = check_point_count(s);
    double most = count > 0 ? -HUGE_VAL : depth_of_curved(w, s);
    for (int k = 0; k < count; k++)
        most = fmax(most, depth_of_point(w, check_point(s, k), check_rounding_of(s)));
    return most;
}

double check_round_depth(const check_run *run, int a, check_place_of at, int wall,
                         check_place_of at_wall)
{
    round_wall w = round_of(run, wall, at_wall);
    check_piece piece = CHECK_FIRST_PIECE;
    double most = depth_of_point(&w, at.x, check_extent(run, a));
    if (most <= 0) /* a ball around all of it is inside */
        return most;
    most = -HUGE_VAL;
    while (check_piece_next(run, a, at, at.x, HUGE_VAL, &piece)) {
        check_solid s = check_piece_at(run, a, at, piece);
        most = fmax(most, depth_of_solid(&w, &s));
    }
    return most;
}
