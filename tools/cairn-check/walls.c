/* walls.c - see walls.h. A wall is the set of points with n.p >= level for its planes; a round one
 * has a plane for every unit vector e at right angles to its axis,
 *
 *     cylinder   n = -e                              level = -R
 *     cone       n = axis sin(alpha) - e cos(alpha)  level = 0, from the apex
 *
 * and a solid is in it by max over e of level - min n.p. Where the solid is spanned by points
 * that is the largest over these, each with e along its own radius. Else it is the largest of
 * f(t) = reach(-n(e(t))) over the angle t of e. Each point of the body adds a sine of t to f,
 * with an amplitude of at most B, its distance from the origin of the wall: f is the largest of
 * these sines, f'' >= -B, and between two angles f is at most the larger of its values there + B
 * (t2 - t1)^2/8. Intervals where that is too little are left out, the others halved. */
#include "walls.h"

#include "pieces.h"

enum { ANGLES = 32 };
static const double pi = 3.14159265358979323846;

static vec unit_axis(const check_run *run, int wall, quat q)
{
    vec axis = run->bodies.axis[wall];
    return quat_rotate(q, vec_times(1 / vec_norm(axis), axis));
}

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

/* Around a round wall the deepest point of a curved body is found by a walk that may creep where
 * the body is about as round as the wall; it is promised as well as between other curved bodies. */
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
    vec x, axis, e, f; /* e and f span what is at right angles to the axis; f is 0 in 2D */
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

/* Of the point p with a ball around it: how deep along its own radius. */
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
