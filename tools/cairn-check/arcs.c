/* arcs.c - contacts that move along a round wall: the term of second order in their bias.
 *
 * A point p of a body, at a from its centre, passes a wall of revolution (inside_cylinder; in 3D
 * also inside_cone and funnel) at the distance of the radius about the core. Seen from the wall,
 * which turns with W, p moves with z and is accelerated by w x (w x a) - W x (W x y) - 2 W x z, y
 * the way to it from the wall's centre. The gap bends by
 *
 *     g" = n.(this acceleration) + (n.e) (z.(k x e))^2/rho
 *
 * about the axis k, at the distance rho in the direction e. The term is max(h g"/2, u_N before) if
 * both are negative, else 0. Balls and cores with corners have such a point. Of an ellipsoid it is
 * the point of contact, which moves over its surface: the least of all distances bends by
 *     s.(A^-1 - B)^-1 s
 * less than that of the point, with s = (w - W) x n + B z how fast the normals part there, B the
 * curvature of the wall about its axis, and A = (D^2 - d d')/|D m| the radii of curvature of an
 * ellipsoid with half lengths D at its point d = D^2 m/|D m| of normal m. The inverse is that of a
 * matrix of rank one more: A + A t t'A kappa/(1 - kappa t.A t). Where A^-1 - B is not positive, the
 * ellipsoid does not touch there, and has no term. */
#include "law.h"
#include "shapes.h"

/* The side of contact j that is such a wall; -1: neither. */
static int round_side(const check_run *run, int j)
{
    for (int side = 1; side >= 0; side--) {
        int body = run->contacts.body[2 * j + side], shape = run->bodies.shape[body];
        bool tapers = shape == CHECK_CONE || shape == CHECK_FUNNEL;
        if (run->bodies.motion[body] != CHECK_DYNAMIC &&
            (shape == CHECK_CYLINDER || (tapers && run->settings.dimension == 3)))
            return side;
    }
    return -1;
}

/* Whether a solid, of a body or a part of one, has such a point. Parts that are ellipsoids have
 * none, and ellipsoids had none by older rules. */
static bool has_point(const check_run *run, const check_solid *s, bool is_part)
{
    return s->shape == CHECK_SPHERE || s->shape == CHECK_POINT || s->shape == CHECK_BOX ||
           s->shape == CHECK_CAPSULE || s->shape == CHECK_HULL || check_is_surface(s->shape) ||
           (s->shape == CHECK_ELLIPSOID && !is_part && run->settings.rules >= 4);
}

/* How a body moves before the step: v and its angular velocity in space. */
typedef struct course {
    vec v, w;
} course;

static course course_of(const check_run *run, int body)
{
    int row = run->before.row[body];
    bool dynamic = run->bodies.motion[body] == CHECK_DYNAMIC;
    vec w = dynamic ? run->before.omega[row] : run->omega_start[body];
    return (course){ dynamic ? run->before.v[row] : run->v_start[body],
                     quat_rotate(check_rows_q(run, body), w) };
}

/* A v for an ellipsoid where its normal is m, in space. */
static vec radii_times(const check_solid *s, vec m, vec v)
{
    vec half = s->semi_axes, in = quat_rotate_back(s->at.q, m), way = quat_rotate_back(s->at.q, v);
    double xx = half.x * half.x, yy = half.y * half.y, zz = s->flat ? 0 : half.z * half.z;
    vec pulled = { xx * in.x, yy * in.y, zz * in.z };
    double length = sqrt(vec_dot(pulled, in));
    vec d = vec_times(1 / length, pulled);
    vec out = vec_add((vec){ xx * way.x, yy * way.y, zz * way.z }, -vec_dot(d, way), d);
    return quat_rotate(s->at.q, vec_times(1 / length, out));
}

/* How a wall bends about its axis at a point, and how bodies move there. */
typedef struct bend {
    vec n, t, z, spin; /* normal; around the axis; velocities of the body seen from the wall */
    double kappa;
} bend;

/* By how much g" is less over an ellipsoid; false: it has no term. *size: of the terms. */
static bool over_ellipsoid(const check_solid *s, const bend *at, double *less, double *size)
{
    vec out = vec_times(-1, at->n);
    vec part = vec_add(vec_cross(at->spin, at->n), at->kappa * vec_dot(at->t, at->z), at->t);
    vec moved = radii_times(s, out, part), round = radii_times(s, out, at->t);
    double sharp = 1 - at->kappa * vec_dot(at->t, round), far = vec_dot(at->t, moved);
    *less = vec_dot(part, moved) + at->kappa * far * far / sharp;
    *size = (1 + fabs(at->kappa) * vec_norm(round)) / (sharp * sharp) * vec_norm(part) *
            vec_norm(moved);
    return sharp > 0;
}

/* h g"/2 of contact j at a wall on `side`, for this solid. *size: of its terms. */
static double bent(const check_run *run, int j, int side, const check_solid *solid, double *size)
{
    double radius = check_rounding_of(solid), less = 0, more = 0;
    const check_contacts *c = &run->contacts;
    int wall = c->body[2 * j + side], body = c->body[2 * j + !side];
    vec n = vec_times(side ? 1 : -1, c->normal[j]);
    vec on = vec_add(c->point[j], 0.5 * c->gap[j] + radius, n);
    vec y = vec_add(on, -1, check_x_of(run, j, side)), a = { 0, 0, 0 };
    if (!check_is_ball(run, body))
        a = vec_add(on, -1, check_x_of(run, j, !side));
    course one = course_of(run, body), two = course_of(run, wall);
    vec own = vec_cross(one.w, a), carried = vec_cross(two.w, y);
    vec z = vec_add(vec_add(one.v, 1, own), -1, vec_add(two.v, 1, carried));
    if (run->cell.there)
        z = vec_add(z, side ? -1 : 1, check_drift(run, j));
    vec pull = vec_add(vec_cross(one.w, own), -1, vec_cross(two.w, carried));
    pull = vec_add(pull, -2, vec_cross(two.w, z));
    quat q = check_rows_q(run, wall);
    vec axis = run->bodies.axis[wall];
    vec k =
        quat_rotate(q, quat_rotate(run->bodies.shape_q[wall], vec_times(1 / vec_norm(axis), axis)));
    vec from = vec_add(y, -1, quat_rotate(q, run->bodies.shape_x[wall]));
    vec across = vec_add(from, -vec_dot(from, k), k);
    double rho = vec_norm(across), half = 0.5 * run->settings.h;
    vec e = vec_times(rho > 0 ? 1 / rho : 0, across);
    double round = vec_dot(z, vec_cross(k, e)), far = vec_norm(on) + vec_norm(y);
    double kappa = rho > 0 ? -vec_dot(n, e) / rho : 0;
    bend here = { n, vec_cross(k, e), z, vec_add(one.w, -1, two.w), kappa };
    double speed = vec_norm(z) + vec_norm(carried) + vec_norm(own);
    bool touches = solid->shape != CHECK_ELLIPSOID || over_ellipsoid(solid, &here, &less, &more);
    *size = half * speed * speed * (rho > 0 ? (1 + far / rho) / rho : 1) +
            half * (vec_norm(one.w) + 3 * vec_norm(two.w)) * speed + half * more;
    return touches ? half * (vec_dot(n, pull) - kappa * round * round - less) : 0;
}

/* The next part; -1 and -2: before the first. */
static bool next_part(const check_run *run, int j, int side, check_arc *arc)
{
    double before = run->by_contact.before[(size_t)j * (size_t)run->settings.components];
    int body = run->contacts.body[2 * j + !side];
    check_place_of at = { check_x_of(run, j, !side), check_rows_q(run, body) };
    check_piece piece = { arc->part, arc->face };
    if (!check_piece_next(run, body, at, at.x, HUGE_VAL, &piece))
        return false;
    check_solid solid = check_piece_at(run, body, at, piece);
    *arc = (check_arc){ piece.part, piece.face, 0, 0 };
    double term = bent(run, j, side, &solid, &arc->size);
    if (has_point(run, &solid, piece.part >= 0))
        arc->term = fmin(0, fmax(term, before));
    return true;
}

bool check_arc_next(const check_run *run, int j, check_arc *arc)
{
    enum { ENDED = -3 };
    int side = round_side(run, j);
    double before = run->by_contact.before[(size_t)j * (size_t)run->settings.components];
    bool first = arc->face == CHECK_FIRST_ARC.face;
    check_arc last = *arc;
    if (arc->face == ENDED)
        return false;
    if (run->settings.arcs && side >= 0 && before < 0)
        while (next_part(run, j, side, arc)) /* faces of one surface have one term */
            if (first || arc->term != last.term || arc->size != last.size)
                return true;
    *arc = (check_arc){ -1, ENDED, 0, 0 };
    return first;
}
