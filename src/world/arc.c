/* arc.c - contacts that move along a round wall, to second order.
 *
 * A step is a straight line, x += h v, and its contacts use gaps that are linear in v. Along a wall
 * that bends towards the body the true gap is smaller, by -h^2 g"/2, where g" < 0 is the second
 * derivative of the gap while velocities are constant. If the step held only the linear gap, the
 * body would run into the wall by that much in every step, and lose the normal speed h |g"| with
 * which it does so: a ball that goes round with w rad/s, a share w^2 h/2 of its speed a second. So
 * the bias has one term more:
 *
 *     u_N + gamma g/h + c >= 0,     c = max(h g"/2, min(u_N before, 0))
 *
 * and c <= 0. With g = 0 and no friction the body arrives with u_N = h g"/2 and leaves with
 * -h g"/2: it moves along chords of the wall, and its speed stays. The bound keeps energy from
 * growing: the work of an impulse is r_N times the mean of u_N before and after the step, which is
 * at most 0 if the u_N = -c after it is at most -u_N before. So nothing is asked of a contact that
 * does not approach. For the same reason all demands together are nearly those of the last step
 * backwards, which the bodies can do. On convex surfaces, g" > 0, bodies keep a gap of h^2 g"/2 and
 * gamma g/h does the same, so they need no term.
 *
 * The walls are those of revolution: inside_cylinder (2D: a ring), inside_cone and funnel. What
 * moves along them is the core of a ball, or of a shape with corners: a point p, fixed in its body
 * at `a` from its centre. With y the way to p from the centre of the wall, z the velocity of p
 * relative to the point of the wall there, and n pointing into the inside,
 *
 *     g" = (n.e) (z.(k x e))^2/rho - n.(W x (W x y) + 2 W x z) + n.(w x (w x a))
 *
 * where k is the axis, rho e the way from the axis to p, and W and w are the angular velocities of
 * wall and body. Over an ellipsoid the point of contact moves. There p is the point of its surface
 * that is nearest now, and the gap, the least distance of all points, bends by
 *
 *     - s.A (1 - B A)^-1 s,     s = -B z - (w - W) x n,     B = kappa t t'
 *
 * more: s is how fast the normals of both surfaces part at p, A the radii of curvature of the body
 * (how its support point moves with the direction), and kappa = -(n.e)/rho the curvature of the
 * wall along t = k x e. For a ball this is the formula above with its centre for p. A body that
 * bends less than the wall touches it elsewhere, and gets no term. All velocities are those before
 * the step; of driven bodies, those of the step. */
#include <math.h>

#include "base/common.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "world/step.h"

/* ---- which contacts -------------------------------------------------------------------------- */

/* Whether a body is a wall of revolution. In 2D a cone and a funnel are two flat walls. */
static bool is_round(const cairn_step *step, int body)
{
    cairn_shape_kind kind = cairn_body_shape(&step->world->bodies, body)->kind;
    bool tapers = kind == CAIRN_SHAPE_INSIDE_CONE || kind == CAIRN_SHAPE_FUNNEL;
    return kind == CAIRN_SHAPE_INSIDE_CYLINDER || (tapers && step->world->dimension == 3);
}

/* Schemes that evaluate gaps elsewhere than at the start of the step have terms of their own. */
bool cairn_step_has_arcs(const cairn_step *step)
{
    bool any = false;
    if (!step->options->arcs || step->scheme->velocity_level || step->linearisations)
        return false;
    for (int i = 0; i < step->held && !any; i++)
        any = is_round(step, i);
    return any;
}

static bool is_ellipsoid(const cairn_step *step, int body)
{
    return cairn_body_shape(&step->world->bodies, body)->kind == CAIRN_SHAPE_ELLIPSOID;
}

/* m: the radius about the core of the body on one side of contact j; 0 for ellipsoids, which have
 * p on their surface; negative: other curved cores. */
static double core_radius(const cairn_step *step, int j, int side)
{
    const cairn_contact_store *c = &step->world->contacts;
    const cairn_body_store *b = &step->world->bodies;
    const int32_t *body = c->body + 2 * (size_t)j;
    if (b->ball[body[side]] >= 0)
        return b->ball[body[side]];
    if (is_ellipsoid(step, body[side]))
        return 0;
    int which = (b->uid[body[side]] < b->uid[body[!side]]) ? 0 : 1;
    const cairn_collider whole = { .shape = cairn_body_shape(b, body[side]) };
    const cairn_shape *shape = cairn_piece_shape(&whole, cairn_contact_piece(c, j, which));
    bool point = shape->kind == CAIRN_SHAPE_SPHERE || shape->kind == CAIRN_SHAPE_POINT;
    bool sharp = point || cairn_shape_class_of(shape)->corner || cairn_shape_has_faces(shape);
    return sharp ? cairn_shape_rounding(shape) : -1;
}

/* ---- the second derivative of a gap ---------------------------------------------------------- */

/* How a body moves, velocities in world axes. */
typedef struct course {
    cairn_vec3 v, omega;
} course;

static course course_of(const cairn_step *step, const cairn_free_motion *free, int body)
{
    const cairn_body_store *b = &step->world->bodies;
    bool driven = b->motion[body] == CAIRN_MOTION_DRIVEN;
    cairn_vec3 omega = driven ? free->omega_free[body] : b->omega[body];
    return (course){ driven ? free->v_free[body] : b->v[body], cairn_rotate(b->q[body], omega) };
}

/* A point against a wall of revolution. */
typedef struct passage {
    int wall, body;    /* rows                                                   */
    cairn_vec3 inward; /* n                                                      */
    cairn_vec3 a, y;   /* m: the point from the centre of its body; from that of the wall */
    cairn_vec3 drift;  /* m/s: of the image of the wall, relative to the wall    */
    cairn_vec3 axis;   /* k                                                      */
    cairn_vec3 from;   /* m: the point from the origin of the wall's shape       */
} passage;

static passage passage_of(const cairn_step *step, const cairn_vec3 *x, int j, int side)
{
    const cairn_contact_store *c = &step->world->contacts;
    const cairn_body_store *b = &step->world->bodies;
    double sign = side ? 1 : -1, radius = core_radius(step, j, !side);
    passage p = { .wall = c->body[2 * (size_t)j + (size_t)side],
                  .body = c->body[2 * (size_t)j + (size_t)!side],
                  .inward = cairn_scale(sign, c->normal[j]) };
    const cairn_pose *shape = &b->pose[p.wall];
    cairn_quat q = b->q[p.wall];
    if (b->ball[p.body] < 0) /* else a = 0 */
        p.a = cairn_add_scaled(cairn_contact_arm(c, x, j, !side), radius, p.inward);
    p.y = cairn_add_scaled(cairn_contact_arm(c, x, j, side), c->gap[j] + radius, p.inward);
    p.axis = cairn_rotate(shape->q, cairn_unit(cairn_body_shape(b, p.wall)->axis));
    p.axis = cairn_rotate(q, p.axis);
    p.from = cairn_sub(p.y, cairn_rotate(q, shape->x));
    if (c->image)
        p.drift = cairn_scale(sign, cairn_lattice_drift(&step->world->periodic.cell, c->image[j]));
    return p;
}

/* A v in world axes: how the support point of the body moves with its direction. */
static cairn_vec3 radii_times(const cairn_step *step, const passage *p, cairn_vec3 v)
{
    const cairn_body_store *b = &step->world->bodies;
    const cairn_shape *shape = cairn_body_shape(b, p->body);
    cairn_quat q = cairn_quat_multiply(b->q[p->body], b->pose[p->body].q);
    cairn_symmetric A;
    cairn_vec3 out = cairn_rotate_back(q, cairn_scale(-1, p->inward)), d = cairn_rotate_back(q, v);
    cairn_shape_class_of(shape)->curvature(shape, out, &A);
    return cairn_rotate(q, cairn_symmetric_times(&A, d));
}

/* By how much g" is less because the point of contact moves over an ellipsoid: with `part` for s,
 *     s.A (1 - B A)^-1 s = s.A s + kappa (t.A s)^2/(1 - kappa t.A t),
 * `spin` being w - W. -INFINITY: the body bends less than the wall. */
static double bend_of_body(const cairn_step *step, const passage *p, cairn_vec3 z, cairn_vec3 spin)
{
    cairn_vec3 radial = cairn_add_scaled(p->from, -cairn_dot(p->from, p->axis), p->axis);
    double rho = cairn_norm(radial);
    if (!(rho > 0))
        return -INFINITY;
    double kappa = -cairn_dot(p->inward, radial) / (rho * rho);
    cairn_vec3 around = cairn_scale(1 / rho, cairn_cross(p->axis, radial));
    cairn_vec3 part = cairn_cross(p->inward, spin);
    part = cairn_add_scaled(part, -kappa * cairn_dot(around, z), around);
    cairn_vec3 moved = radii_times(step, p, part);
    double across = cairn_dot(around, moved);
    double sharp = 1 - kappa * cairn_dot(around, radii_times(step, p, around));
    return sharp > 0 ? cairn_dot(part, moved) + kappa * across * across / sharp : -INFINITY;
}

/* g" */
static double second_derivative(const cairn_step *step, const cairn_free_motion *free,
                                const passage *p)
{
    course wall = course_of(step, free, p->wall), body = course_of(step, free, p->body);
    cairn_vec3 W = wall.omega, w = body.omega, turned = cairn_cross(W, p->y);
    cairn_vec3 own = cairn_cross(w, p->a);
    cairn_vec3 z = cairn_sub(cairn_add(body.v, own), cairn_add(wall.v, turned));
    z = cairn_sub(z, p->drift);
    cairn_vec3 frame = cairn_add_scaled(cairn_cross(W, turned), 2, cairn_cross(W, z));
    double apart = cairn_dot(p->inward, cairn_sub(cairn_cross(w, own), frame));
    double bend = apart + cairn_revolution_bend(p->axis, p->from, p->inward, z);
    return is_ellipsoid(step, p->body) ? bend - bend_of_body(step, p, z, cairn_sub(w, W)) : bend;
}

double cairn_contact_arc(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    const int32_t *body = step->world->contacts.body + 2 * (size_t)j;
    int side = body[1] < step->held && is_round(step, body[1]) ? 1 : 0;
    bool round = side || (body[0] < step->held && is_round(step, body[0]));
    if (!round || core_radius(step, j, !side) < 0)
        return 0;
    double before = cairn_contact_before(step, motion, j);
    if (!(before < 0))
        return 0;
    const passage p = passage_of(step, motion->x_eval, j, side);
    return fmin(0, fmax(0.5 * step->h * second_derivative(step, motion, &p), before));
}
