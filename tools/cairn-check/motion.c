/* motion.c - the motion of bodies over a step: its inputs, its result, and how free bodies turn. */
#include <string.h>

#include "run.h"

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The inputs of a step: poses at which contacts were evaluated, loads, and velocities without
 * contact,
 *     v_free = v + h (g + F/m),   J (w_free - w) = h (T - wm x J wm),   wm = (w + w_free)/2.
 * The law of a contact compares velocities before and after the step. Without impulses w changes by
 * its own turning, which does no work: what counts as the angular velocity before the step is w~,
 * which is w_free without T. The torque then adds the work J (w_free - w~).(w~ + w+)/2, and a body
 * with an impulse p has, besides, exactly p.(u~ + u+)/2 more. By rules before 4 it was w, and the
 * work of the gyroscopic moment was an entry of the ledger. */

static const vec zero = { 0, 0, 0 };

/* ---- poses ---------------------------------------------------------------------------------- */

static void place_body(check_run *run, int body, int row)
{
    const check_state *s = &run->before;
    double half = 0.5 * run->settings.h;
    run->x_eval[body] = s->x[row];
    run->q_eval[body] = s->q[row];
    if (!run->settings.scheme->middle || run->bodies.motion[body] != CHECK_DYNAMIC)
        return;
    quat q = quat_product(s->q[row], quat_turn(vec_times(half, s->omega[row])));
    double norm = quat_norm(q);
    run->x_eval[body] = vec_add(s->x[row], half, s->v[row]);
    run->q_eval[body] = (quat){ q.w / norm, q.x / norm, q.y / norm, q.z / norm };
}

/* Contacts where the step ends: driven bodies are in their final poses. */
static void place_at_end(check_run *run, int i, check_place place)
{
    int body = run->poses.body[i], row = run->after.row[body];
    if (row < 0)
        return;
    check_same_vec(run->report, place, run->poses.x[i], run->after.x[row], 0);
    check_same_quat(run->report, place, run->poses.q[i], run->after.q[row], 0);
    run->x_eval[body] = run->poses.x[i];
    run->q_eval[body] = run->poses.q[i];
}

/* Driven bodies: after half a step they are where the file says; other bodies where they were. */
static void place_driven(check_run *run)
{
    long driven_bodies = 0;
    for (int row = 0; row < run->before.count; row++)
        driven_bodies += run->bodies.motion[run->before.index[row]] == CHECK_DRIVEN &&
                         run->after.row[run->before.index[row]] >= 0;
    check_same(run->report, check_at(run, NULL, 0, "poses of driven bodies"), run->poses.count,
               (double)driven_bodies, 0);
    for (int i = 0; i < run->poses.count; i++) {
        int body = run->poses.body[i], row = run->before.row[body];
        check_place place = check_at(run, "body", body, "pose for contacts");
        bool driven = run->bodies.motion[body] == CHECK_DRIVEN && row >= 0;
        bool in_order = i == 0 || body > run->poses.body[i - 1];
        check_true(run->report, place, driven && in_order, "not a driven body, or out of order");
        if (driven && run->settings.linearisations > 0) {
            place_at_end(run, i, place);
        } else if (driven && !run->settings.scheme->middle) {
            check_same_vec(run->report, place, run->poses.x[i], run->before.x[row], 0);
            check_same_quat(run->report, place, run->poses.q[i], run->before.q[row], 0);
        } else if (driven) {
            check_same(run->report, place, quat_norm(run->poses.q[i]), 1, 1);
            run->x_eval[body] = run->poses.x[i];
            run->q_eval[body] = run->poses.q[i];
        }
    }
}

/* ---- turning -------------------------------------------------------------------------------- */

static vec gyroscopic(vec J, vec omega)
{
    return vec_times(-1, vec_cross(omega, vec_scale(J, omega)));
}

/* x with A x = b, A by columns: Cramer's rule. */
static vec solve(const vec A[3], vec b)
{
    double all = vec_dot(A[0], vec_cross(A[1], A[2]));
    return (vec){ vec_dot(b, vec_cross(A[1], A[2])) / all, vec_dot(A[0], vec_cross(b, A[2])) / all,
                  vec_dot(A[0], vec_cross(A[1], b)) / all };
}

/* Newton's method on the middle velocity m: f(m) = 2 J (m - w) - h (T - m x J m) = 0, with
 * f'(m) d = 2 J d + h (d x J m + m x J d). */
static vec turn_freely(vec J, vec omega, vec torque, double h)
{
    static const vec units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    vec m = omega;
    for (int k = 0; k < 30; k++) {
        vec f = vec_times(2, vec_scale(J, vec_add(m, -1, omega))), columns[3];
        f = vec_add(f, -h, vec_add(torque, 1, gyroscopic(J, m)));
        for (int i = 0; i < 3; i++) {
            vec Jd = vec_scale(J, units[i]);
            vec turn = vec_add(vec_cross(units[i], vec_scale(J, m)), 1, vec_cross(m, Jd));
            columns[i] = vec_add(vec_times(2, Jd), h, turn);
        }
        vec change = solve(columns, f);
        m = vec_add(m, -1, change);
        if (vec_norm(change) <= 1e-16 * vec_norm(m))
            break;
    }
    return vec_add(vec_times(2, m), -1, omega);
}

vec check_midpoint(const check_run *run, int body, vec torque)
{
    vec J = run->bodies.inertia[body], omega = run->before.omega[run->before.row[body]];
    double h = run->settings.h;
    bool equal = run->settings.dimension == 2 || (J.x == J.y && J.y == J.z);
    if (!equal)
        return turn_freely(J, omega, torque, h);
    return J.z > 0 ? vec_add(omega, h / J.z, torque) : omega;
}

bool check_is_servo(const check_run *run, int body)
{
    return run->bodies.motion[body] == CHECK_DYNAMIC && run->bodies.shape[body] == CHECK_BOX &&
           run->bodies.inertia[body].z == 0;
}

/* One component of the free velocity of a wall of a cell with damping c: implicit, or given. */
static double damped(double M, double c, double h, const double v[2], double force)
{
    return isinf(c) ? v[1] : (M * v[0] + h * force) / (M + h * c);
}

/* A wall of a cell: M (v+ - v) = h (M g + F) - h c v+ + p in each direction. */
static void guide(check_run *run, int body, int row)
{
    double h = run->settings.h, M = run->bodies.mass[body];
    int end = run->after.row[body];
    vec c = run->damping[body], v = run->before.v[row], g = run->settings.gravity;
    vec now = end >= 0 ? run->after.v[end] : v;
    vec F = vec_add(run->force[body], M, g);
    run->v_free[body] = (vec){ damped(M, c.x, h, (double[]){ v.x, now.x }, F.x),
                               damped(M, c.y, h, (double[]){ v.y, now.y }, F.y),
                               damped(M, c.z, h, (double[]){ v.z, now.z }, F.z) };
    run->omega_free[body] = run->omega_before[body] = run->gyroscopic[body] = zero;
}

static void fly(check_run *run, int body, int row)
{
    if (check_is_servo(run, body)) {
        guide(run, body, row);
        return;
    }
    const check_bodies *b = &run->bodies;
    const check_state *s = &run->before;
    double h = run->settings.h;
    vec J = b->inertia[body], omega = s->omega[row];
    vec pull = vec_add(run->settings.gravity, 1 / b->mass[body], run->force[body]);
    bool equal = run->settings.dimension == 2 || (J.x == J.y && J.y == J.z);
    bool older = run->settings.rules < 4;
    run->v_free[body] = vec_add(s->v[row], h, pull);
    run->omega_free[body] = check_midpoint(run, body, run->torque[body]);
    run->omega_before[body] = older ? omega : check_midpoint(run, body, zero);
    run->gyroscopic[body] = zero;
    if (older && !equal)
        run->gyroscopic[body] =
            gyroscopic(J, vec_times(0.5, vec_add(omega, 1, run->omega_free[body])));
}

/* Fixed bodies stand; driven ones move as given by the state after the step. */
static void go(check_run *run, int body)
{
    bool driven = run->bodies.motion[body] == CHECK_DRIVEN;
    int row = run->after.row[body];
    run->v_free[body] = driven && row >= 0 ? run->after.v[row] : zero;
    run->omega_free[body] = driven && row >= 0 ? run->after.omega[row] : zero;
    run->omega_before[body] = run->before.omega[run->before.row[body]];
    run->gyroscopic[body] = zero;
}

void check_prepare(check_run *run)
{
    size_t bytes = (size_t)run->bodies.count * sizeof(vec);
    memset(run->force, 0, bytes);
    memset(run->torque, 0, bytes);
    memset(run->damping, 0, bytes);
    for (int i = 0; i < run->loads.count; i++) {
        int body = run->loads.body[i];
        if (run->settings.dimension == 2)
            check_same_vec(run->report, check_at(run, "body", body, "torque of its loads"),
                           run->loads.torque[i], (vec){ 0, 0, run->loads.torque[i].z }, 0);
        run->force[body] = vec_add(run->force[body], 1, run->loads.force[i]);
        run->torque[body] = vec_add(run->torque[body], 1, run->loads.torque[i]);
        if (run->loads.damping)
            run->damping[body] = run->loads.damping[i];
    }
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row];
        place_body(run, body, row);
        if (run->bodies.motion[body] == CHECK_DYNAMIC)
            fly(run, body, row);
        else
            go(run, body);
    }
    place_driven(run);
    check_place_guesses(run);
    for (int row = 0; row < run->after.count; row++) {
        run->x_after[run->after.index[row]] = run->after.x[row];
        run->q_after[run->after.index[row]] = run->after.q[row];
    }
}

/* ---- free turning ---------------------------------------------------------------------------- */

/* How a free body rotates in a step (no impulse, no adhesion, no joint, not asleep). With
 * wm = (w + w+)/2, x = h |wm|, and l the direction of J w it rotates first about l by
 *     (x - 2 atan(x/2)) l.wm/|wm|,    then about wm by 2 atan(x/2),
 * both in its own frame before the step: its angular momentum in space is constant. In 2D the angle
 * grows by h wm. A swinging body (swing.c) rotates by h wm. In runs by the older rules all bodies
 * rotate by h w+ (docs/run-format.md). */

static void mark_pushed(check_run *run, int body)
{
    if (body >= 0)
        run->pushed[body] = 1;
}

static bool contact_pushes(const check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    int d = run->settings.dimension, turns = d == 2 ? 1 : 3;
    bool pushes = c->adhesion[j] != 0;
    for (int i = 0; i < d; i++)
        pushes = pushes || c->impulse[j * d + i] != 0;
    for (int i = 0; i < turns; i++)
        pushes = pushes || c->moment[j * turns + i] != 0;
    return pushes;
}

void check_find_pushed(check_run *run)
{
    for (int body = 0; body < run->bodies.count; body++) {
        int row = run->after.row[body];
        run->pushed[body] = run->settings.rules < 2 || (row >= 0 && run->after.asleep[row] != 0);
    }
    for (int j = 0; j < run->contacts.count; j++)
        if (contact_pushes(run, j)) {
            mark_pushed(run, run->contacts.body[2 * j]);
            mark_pushed(run, run->contacts.body[2 * j + 1]);
        }
    for (int i = 0; i < run->row_count; i++) {
        mark_pushed(run, run->rows[i].body[0]);
        mark_pushed(run, run->rows[i].body[1]);
    }
}

/* x - 2 atan(x/2) = x^3/12 - x^5/80 + x^7/448 - ...: small angles by these terms */
static double missing(double x)
{
    if (x > 0.02)
        return x - 2 * atan(x / 2);
    return x * x * x * (1.0 / 12 - x * x / 80 + x * x * x * x / 448);
}

quat check_turn_of(const check_run *run, int body, vec old, vec new)
{
    static const quat none = { 1, 0, 0, 0 };
    double h = run->settings.h;
    vec mean = vec_times(0.5, vec_add(old, 1, new)), L = vec_scale(run->bodies.inertia[body], old);
    if (run->pushed[body])
        return quat_turn(vec_times(h, run->swing[body].swings ? mean : new));
    double speed = vec_norm(mean), size = vec_norm(L);
    if (!(speed > 0))
        return none;
    vec l = vec_times(size > 0 ? 1 / size : 0, L); /* no products of small numbers below */
    double share = missing(h * speed) * vec_dot(l, mean) / speed;
    return quat_product(quat_turn(vec_times(share, l)),
                        quat_turn(vec_times(2 * atan(0.5 * h * speed) / speed, mean)));
}

double check_angle_of(const check_run *run, int body, double old, double new)
{
    bool by_new = run->pushed[body] && !run->swing[body].swings;
    return run->settings.h * (by_new ? new : 0.5 * (old + new));
}

/* ---- motion ---------------------------------------------------------------------------------- */

/* Momentum and motion of every body over a step:
 *     v+ = v_free + 1/m sum +-p,   w+ = w_free + J^-1 R' sum +-(arm x p),   p = n r_N + t r_T
 *     x+ = x + h v+,   q+ = q exp(h w+),   in 2D angle+ = angle + h w+
 * (free bodies rotate as above, swinging ones move with mean velocities: swing.c), then the same
 * with the velocities z that the correction r_z produces from rest, z = M^-1 H_N' r_z;
 * R is the orientation before the step. Rolling and spinning add moments, rows of joints add
 * +-r (e, R'(p x e + t)); where a joint pulls hard J is J + C (swing.c).
 * The compression of an impact starts from the mean of v and v_free. Impacts at times t within the
 * step reduce the displacement by t M^-1 H'r (impacts.c).
 * Sleeping bodies have v+ = 0 instead; fixed bodies stay; driven ones have v = (x+ - x)/h, and w
 * likewise. */

/* ---- momentum ------------------------------------------------------------------------------- */

typedef struct push {
    vec linear, angular; /* N s; N m s in the body frame */
} push;

/* Impulse that r and moment m of contact j give to body a (side 0) or b (side 1). */
static push push_of(const check_run *run, int j, int side, const double *r, vec moment)
{
    const check_contacts *c = &run->contacts;
    int d = run->settings.dimension, body = c->body[2 * j + side];
    vec n = c->normal[j], t = c->tangent[j];
    vec p = vec_add(vec_times(r[0], n), r[1], t);
    if (d == 3)
        p = vec_add(p, r[2], vec_cross(n, t));
    p = vec_times(side ? -1 : 1, p);
    /* witness points: half a gap from the stored point to each side */
    vec on = vec_add(c->point[j], (side ? -0.5 : 0.5) * c->gap[j], n);
    vec arm = vec_add(on, -1, check_x_of(run, j, side));
    vec turn = vec_add(vec_cross(arm, p), side ? -1 : 1, moment);
    return (push){ p, quat_rotate_back(check_rows_q(run, body), turn) };
}

/* The moment of rolling and spinning friction, world frame. */
static vec moment_of(const check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    if (run->settings.dimension == 2)
        return (vec){ 0, 0, c->moment[j] };
    const double *m = c->moment + 3 * (size_t)j;
    vec n = c->normal[j], t = c->tangent[j];
    return vec_add(vec_add(vec_times(m[0], t), m[1], vec_cross(n, t)), m[2], n);
}

static double inverse(double x)
{
    return x > 0 ? 1 / x : 0;
}

vec check_inverse_inertia(const check_run *run, int body)
{
    vec J = run->bodies.inertia[body], C = run->added[body];
    if (run->settings.dimension == 2)
        return (vec){ 0, 0, J.z > 0 ? inverse(J.z + C.z) : 0 };
    return (vec){ J.x > 0 ? inverse(J.x + C.x) : 0, J.y > 0 ? inverse(J.y + C.y) : 0,
                  J.z > 0 ? inverse(J.z + C.z) : 0 };
}

/* 1/(M + h c) in each direction; 0 where the velocity is given. */
vec check_inverse_mass(const check_run *run, int body)
{
    double M = run->bodies.mass[body], h = run->settings.h;
    vec c = run->damping[body];
    return (vec){ isinf(c.x) ? 0 : inverse(M + h * c.x), isinf(c.y) ? 0 : inverse(M + h * c.y),
                  isinf(c.z) ? 0 : inverse(M + h * c.z) };
}

static double largest(vec v)
{
    return fmax(v.x, fmax(v.y, v.z));
}

/* Velocities without contact; rounding is relative to the sizes. */
static check_velocity start(const check_run *run, int body, int row)
{
    double h = run->settings.h, m = largest(check_inverse_mass(run, body));
    vec J = check_inverse_inertia(run, body), old = run->before.omega[row];
    check_velocity out = { run->v_start[body], run->omega_start[body], 0, 0 };
    out.v_size = vec_norm(run->before.v[row]) + vec_norm(run->v_free[body]) +
                 h * vec_norm(run->settings.gravity) + h * m * vec_norm(run->force[body]);
    out.omega_size = vec_norm(old) + vec_norm(run->omega_free[body]) +
                     h * vec_norm(vec_scale(J, run->torque[body]));
    return out;
}

/* Adds an impulse; rounding of its arm is relative to `reach`. */
static void give(const check_run *run, int body, push p, double reach, check_velocity *out)
{
    vec J = check_inverse_inertia(run, body);
    vec m = check_inverse_mass(run, body);
    double most = largest(J);
    out->v = vec_add(out->v, 1, vec_scale(m, p.linear));
    out->omega = vec_add(out->omega, 1, vec_scale(J, p.angular));
    out->v_size += largest(m) * vec_norm(p.linear);
    out->omega_size += most * (reach * vec_norm(p.linear) + vec_norm(p.angular));
}

/* Adhesion is subtracted and added again: what cancels is rounded as well. */
static void give_rounding(const check_run *run, int body, double impulse, double reach,
                          check_velocity *out)
{
    vec J = check_inverse_inertia(run, body);
    out->v_size += largest(check_inverse_mass(run, body)) * impulse;
    out->omega_size += fmax(J.x, fmax(J.y, J.z)) * reach * impulse;
}

static void add_push(const check_run *run, int j, int side, const double *r, vec moment,
                     check_velocity *out)
{
    int body = run->contacts.body[2 * j + side];
    double reach = vec_norm(check_x_of(run, j, side)) + vec_norm(run->contacts.point[j]);
    give(run, body, push_of(run, j, side, r, moment), reach, out);
    give_rounding(run, body, run->settings.h * run->contacts.adhesion[j], reach, out);
}

/* Rows of joints: r (e, p x e + t) on a, the opposite on b. */
static void add_row(check_run *run, const check_joint_row *row, int side)
{
    int body = row->body[side];
    if (body < 0 || run->bodies.motion[body] != CHECK_DYNAMIC)
        return;
    double sign = side ? -1 : 1;
    vec turn = vec_add(vec_cross(row->arm[side], row->e), 1, row->turn[side]);
    push one = { vec_times(sign, row->e),
                 quat_rotate_back(check_rows_q(run, body), vec_times(sign, turn)) };
    push p = { vec_times(row->r, one.linear), vec_times(row->r, one.angular) };
    push z = { vec_times(row->z, one.linear), vec_times(row->z, one.angular) };
    give(run, body, p, row->reach, &run->expected[body]);
    give(run, body, z, row->reach, &run->moved[body]);
}

void check_strike(const check_run *run, int j, const double *r, check_velocity *motion)
{
    static const vec none = { 0, 0, 0 };
    for (int side = 0; side < 2; side++) {
        int body = run->contacts.body[2 * j + side];
        if (run->bodies.motion[body] == CHECK_DYNAMIC)
            add_push(run, j, side, r, none, &motion[body]);
    }
}

/* ---- poses ---------------------------------------------------------------------------------- */

/* Displacement over h beyond v: correction of overlaps, and the loss by impacts in the step. */
static check_velocity shift_of(const check_run *run, int body)
{
    const check_velocity *z = &run->moved[body], *y = &run->late[body];
    double h = run->settings.h;
    return (check_velocity){ vec_add(z->v, -1 / h, y->v), vec_add(z->omega, -1 / h, y->omega),
                             z->v_size + y->v_size / h, z->omega_size + y->omega_size / h };
}

static quat turned(quat q, quat turn)
{
    q = quat_product(q, turn);
    double norm = quat_norm(q);
    return (quat){ q.w / norm, q.x / norm, q.y / norm, q.z / norm };
}

static void check_turn(check_run *run, int body, int before, int after)
{
    const check_state *a = &run->before, *b = &run->after;
    double h = run->settings.h;
    const check_velocity shift = shift_of(run, body), *z = &shift;
    if (run->settings.dimension == 2) {
        double old = a->omega[before].z, new = b->omega[after].z,
               way = fabs(h * old) + fabs(h * new);
        double angle = a->angle[before] + check_angle_of(run, body, old, new) + h * z->omega.z;
        quat q = { cos(0.5 * angle), 0, 0, sin(0.5 * angle) };
        check_same(run->report, check_at(run, "body", body, "angle"), b->angle[after], angle,
                   fabs(a->angle[before]) + way + h * z->omega_size);
        check_same_quat(run->report, check_at(run, "body", body, "q"), b->q[after], q,
                        1 + fabs(angle) + h * z->omega_size);
        return;
    }
    vec old = a->omega[before], new = b->omega[after];
    quat q = turned(a->q[before], check_turn_of(run, body, old, new));
    if (z->omega_size > 0)
        q = turned(q, quat_turn(vec_times(h, z->omega)));
    check_same_quat(run->report, check_at(run, "body", body, "q"), b->q[after], q,
                    1 + h * (vec_norm(old) + vec_norm(new)) + h * z->omega_size);
}

/* A sleeping body has velocity 0, and its impulses would leave it almost at rest. */
static void check_sleeper(check_run *run, int body, const check_velocity *expected)
{
    static const double slow = 10; /* of tolerance h |g + F/m|: docs/steps.md */
    int before = run->before.row[body], after = run->after.row[body];
    vec pull = vec_add(run->v_free[body], -1, run->before.v[before]);
    check_true(run->report, check_at(run, "body", body, "asleep"),
               run->settings.sleep && run->after.asleep[after] == 1,
               "bodies may not sleep in this run");
    check_same_vec(run->report, check_at(run, "body", body, "v"), run->after.v[after], zero, 0);
    check_same_vec(run->report, check_at(run, "body", body, "omega"), run->after.omega[after], zero,
                   0);
    check_between(run->report, check_at(run, "body", body, "speed that its impulses leave"),
                  vec_norm(expected->v), 0,
                  slow * run->settings.tolerance * vec_norm(pull) +
                      CHECK_ROUNDING * expected->v_size);
}

static void check_dynamic(check_run *run, int body, const check_velocity *expected)
{
    const check_state *a = &run->before, *b = &run->after;
    int before = a->row[body], after = b->row[body];
    double h = run->settings.h;
    const check_velocity shift = shift_of(run, body), *z = &shift;
    if (b->asleep[after]) {
        check_sleeper(run, body, expected);
    } else {
        check_same_vec(run->report, check_at(run, "body", body, "v"), b->v[after], expected->v,
                       expected->v_size);
        check_same_vec(run->report, check_at(run, "body", body, "omega"), b->omega[after],
                       expected->omega, expected->omega_size);
    }
    vec v = b->v[after], mean = vec_times(0.5, vec_add(a->v[before], 1, v));
    vec x = vec_add(a->x[before], h, run->swing[body].swings ? mean : v);
    check_same_vec(run->report, check_at(run, "body", body, "x"), b->x[after], vec_add(x, h, z->v),
                   vec_norm(a->x[before]) + h * (vec_norm(v) + vec_norm(mean)) + h * z->v_size);
    check_turn(run, body, before, after);
}

static void check_fixed(check_run *run, int body)
{
    const check_state *a = &run->before, *b = &run->after;
    int i = a->row[body], k = b->row[body];
    check_same_vec(run->report, check_at(run, "body", body, "x"), b->x[k], a->x[i], 0);
    check_same_quat(run->report, check_at(run, "body", body, "q"), b->q[k], a->q[i], 0);
    check_same_vec(run->report, check_at(run, "body", body, "v"), b->v[k], zero, 0);
    check_same_vec(run->report, check_at(run, "body", body, "omega"), b->omega[k], zero, 0);
    check_same(run->report, check_at(run, "body", body, "|q|"), quat_norm(b->q[k]), 1, 1);
    if (run->settings.dimension == 2)
        check_same(run->report, check_at(run, "body", body, "angle"), b->angle[k], a->angle[i], 0);
}

static void check_driven(check_run *run, int body)
{
    const check_state *a = &run->before, *b = &run->after;
    int i = a->row[body], k = b->row[body];
    double h = run->settings.h;
    vec moved = vec_add(b->x[k], -1, a->x[i]), turned;
    double size = (vec_norm(b->x[k]) + vec_norm(a->x[i])) / h, turn_size = 4 / h;
    check_same_vec(run->report, check_at(run, "body", body, "v"), b->v[k], vec_times(1 / h, moved),
                   size);
    check_same(run->report, check_at(run, "body", body, "|q|"), quat_norm(b->q[k]), 1, 1);
    if (run->settings.dimension == 2) {
        double half = 0.5 * b->angle[k];
        quat q = { cos(half), 0, 0, sin(half) };
        double sign = q.w * b->q[k].w + q.z * b->q[k].z < 0 ? -1 : 1;
        q = (quat){ sign * q.w, 0, 0, sign * q.z };
        check_same_quat(run->report, check_at(run, "body", body, "q"), b->q[k], q, 1 + fabs(half));
        turned = (vec){ 0, 0, b->angle[k] - a->angle[i] };
        turn_size = (fabs(b->angle[k]) + fabs(a->angle[i])) / h;
    } else {
        turned = quat_angle(quat_product(quat_conjugate(a->q[i]), b->q[k]));
    }
    check_same_vec(run->report, check_at(run, "body", body, "omega"), b->omega[k],
                   vec_times(1 / h, turned), turn_size);
}

/* ---- all bodies ----------------------------------------------------------------------------- */

/* How many events happened right before the loaded step. */
static long events_before(const check_run *run)
{
    long count = 0;
    for (int64_t i = 0; i < run->event_count; i++)
        count += run->events.step[i] == (double)(run->step - 1);
    return count;
}

/* The bodies that entered and those that left: their numbers and masses. Bodies leave before the
 * step, and only dynamic ones are counted; each held body that is gone was a gate that an event
 * opened. No body comes back. */
static void count_entered(check_run *run)
{
    long entered = 0, left = 0, gates = 0, step = run->step - 1;
    double in = 0, out = 0;
    bool masses = check_has(run->file, "steps/left_mass"); /* not in older files */
    for (int i = 0; i < run->bodies.count; i++) {
        bool before = run->before.row[i] >= 0, after = run->after.row[i] >= 0;
        bool dynamic = run->bodies.motion[i] == CHECK_DYNAMIC;
        entered += !before && after;
        left += before && !after && dynamic;
        gates += before && !after && !dynamic;
        in += !before && after ? run->bodies.mass[i] : 0;
        out += before && !after && dynamic ? run->bodies.mass[i] : 0;
        check_true(run->report, check_at(run, "body", i, "after it left"),
                   !(after && !before && run->gone[i]), "a body that left is there again");
        run->gone[i] = run->gone[i] || (before && !after);
    }
    check_same(run->report, check_at(run, NULL, 0, "entered"), run->steps.entered[step],
               (double)entered, 0);
    check_same(run->report, check_at(run, NULL, 0, "left"), run->steps.left[step], (double)left, 0);
    check_true(run->report, check_at(run, NULL, 0, "gates"), gates <= events_before(run),
               "a held body is gone, and no event says so");
    if (!masses)
        return;
    check_same(run->report, check_at(run, NULL, 0, "entered_mass"), run->steps.entered_mass[step],
               in, in);
    check_same(run->report, check_at(run, NULL, 0, "left_mass"), run->steps.left_mass[step], out,
               out);
}

/* How many bodies sleep, and how many woke up. */
static void count_asleep(check_run *run)
{
    long asleep = 0, woken = 0, i = run->step - 1;
    for (int body = 0; body < run->bodies.count; body++) {
        int before = run->before.row[body], after = run->after.row[body];
        bool now = after >= 0 && run->after.asleep[after];
        asleep += now;
        woken += before >= 0 && after >= 0 && run->before.asleep[before] && !now;
    }
    check_same(run->report, check_at(run, NULL, 0, "asleep"), run->steps.asleep[i], (double)asleep,
               0);
    check_same(run->report, check_at(run, NULL, 0, "woken"), run->steps.woken[i], (double)woken, 0);
}

static void check_body(check_run *run, int body)
{
    if (run->before.row[body] < 0 || run->after.row[body] < 0)
        return;
    if (run->bodies.motion[body] == CHECK_DYNAMIC)
        check_dynamic(run, body, &run->expected[body]);
    else if (run->bodies.motion[body] == CHECK_DRIVEN)
        check_driven(run, body);
    else
        check_fixed(run, body);
}

/* The correction of overlaps only pushes, and only in runs that allow it. */
static void check_correction(check_run *run, int j)
{
    double r = run->contacts.correction[j];
    check_between(run->report, check_at(run, "contact", j, "correction"), r, 0,
                  run->settings.move ? HUGE_VAL : 0);
}

static void add_pushes(check_run *run, int j, int side)
{
    const check_contacts *c = &run->contacts;
    int body = c->body[2 * j + side];
    int d = run->settings.dimension;
    size_t first = (size_t)j * (size_t)d;
    const double apart[3] = { c->correction[j], 0, 0 };
    double share[2], hit[3] = { c->compression[first], 0, 0 };
    static const vec none = { 0, 0, 0 };
    if (run->bodies.motion[body] != CHECK_DYNAMIC)
        return;
    check_shares(run, j, share);
    for (int i = 1; i < d; i++)
        hit[i] = share[i - 1] * c->compression[first + (size_t)i];
    add_push(run, j, side, c->impulse + first, moment_of(run, j), &run->expected[body]);
    add_push(run, j, side, apart, none, &run->moved[body]);
    add_push(run, j, side, hit, none, &run->hit[body]);
}

/* The compression of an impact starts from mid-step velocities; in older files from those
 * before. */
static check_velocity start_hit(const check_run *run, int body, int row)
{
    vec v = run->before.v[row], omega = run->omega_before[body];
    double half = run->settings.impact_rounds < 0 ? 0 : 0.5;
    vec free = vec_add(run->v_start[body], 1, run->v_adhesion[body]),
        turning = vec_add(run->omega_start[body], 1, run->omega_adhesion[body]);
    return (check_velocity){ vec_add(v, half, vec_add(free, -1, v)),
                             vec_add(omega, half, vec_add(turning, -1, omega)),
                             vec_norm(v) + half * vec_norm(free),
                             vec_norm(omega) + half * vec_norm(turning) };
}

/* Bodies in groups in which nothing hits start from the end of free motion. Only after
 * check_start_law, which adds adhesion to it. */
void check_unhit(check_run *run, int body)
{
    int row = run->before.row[body];
    check_velocity *hit = &run->hit[body];
    hit->v = vec_add(hit->v, 0.5, vec_add(run->v_start[body], -1, run->before.v[row]));
    hit->omega =
        vec_add(hit->omega, 0.5, vec_add(run->omega_start[body], -1, run->omega_before[body]));
}

/* The displacement lost to impacts within the step. */
static void add_late(check_run *run)
{
    int d = run->settings.dimension;
    for (int i = 0; i < run->impacts.count; i++) {
        int j = run->impacts.contact[i];
        double late[3];
        for (int k = 0; k < d; k++)
            late[k] = run->impacts.time[i] * run->impacts.impulse[i * d + k];
        if (j >= 0 && j < run->contacts.count)
            check_strike(run, j, late, run->late);
    }
}

void check_motion_of(check_run *run)
{
    static const check_velocity rest = { .v_size = 0 };
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row];
        run->expected[body] = start(run, body, row);
        run->moved[body] = run->late[body] = rest;
        run->hit[body] = start_hit(run, body, row);
    }
    add_late(run);
    for (int j = 0; j < run->contacts.count; j++) {
        check_correction(run, j);
        add_pushes(run, j, 0);
        add_pushes(run, j, 1);
    }
    for (int i = 0; i < run->row_count; i++) {
        add_row(run, &run->rows[i], 0);
        add_row(run, &run->rows[i], 1);
    }
    check_find_pushed(run);
    for (int body = 0; body < run->bodies.count; body++)
        check_body(run, body);
    count_entered(run);
    count_asleep(run);
}

/* ---- walls of cells -------------------------------------------------------------------------- */

/* The momentum of a wall in one direction: h F = M (v+ - v) + h c v+ - h M g - p, where c does not
 * count if the velocity is given. `v` is before and after, `p` the impulse and the sum of the sizes
 * of its terms. */
typedef struct balance {
    double F, c, g, v[2], p[2];
} balance;

static void check_balance(check_run *run, int body, const balance *b)
{
    double h = run->settings.h, M = run->bodies.mass[body];
    double hc = isinf(b->c) ? 0 : h * b->c;
    double expected = M * (b->v[1] - b->v[0]) + hc * b->v[1] - h * M * b->g - b->p[0];
    double size = (M + hc) * (fabs(b->v[0]) + fabs(b->v[1])) + h * M * fabs(b->g) + b->p[1] +
                  h * fabs(b->F);
    check_same(run->report, check_at(run, "body", body, "impulse of its servo"), h * b->F, expected,
               size);
}

/* The impulse of all contacts on a body, and the sizes of its terms. */
static vec felt_by(const check_run *run, int body, double *size)
{
    const check_contacts *c = &run->contacts;
    vec sum = zero;
    *size = 0;
    for (int j = 0; j < c->count; j++)
        for (int side = 0; side < 2; side++) {
            if (c->body[2 * j + side] != body)
                continue;
            const double *r = c->impulse + (size_t)j * (size_t)run->settings.dimension;
            vec p = push_of(run, j, side, r, zero).linear;
            sum = vec_add(sum, 1, p);
            *size += vec_norm(p);
        }
    return sum;
}

/* A wall does not turn, and at most one component of its velocity is not 0. */
void check_servos(check_run *run)
{
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row], end = run->after.row[body];
        if (!check_is_servo(run, body) || end < 0)
            continue;
        double size;
        vec p = felt_by(run, body, &size), F = run->force[body], c = run->damping[body];
        vec g = run->settings.gravity, v = run->before.v[row], now = run->after.v[end];
        check_balance(run, body, &(balance){ F.x, c.x, g.x, { v.x, now.x }, { p.x, size } });
        check_balance(run, body, &(balance){ F.y, c.y, g.y, { v.y, now.y }, { p.y, size } });
        if (run->settings.dimension == 3)
            check_balance(run, body, &(balance){ F.z, c.z, g.z, { v.z, now.z }, { p.z, size } });
        double most = fmax(fabs(now.x), fmax(fabs(now.y), fabs(now.z)));
        check_same(run->report, check_at(run, "body", body, "speed across its axis"),
                   fabs(now.x) + fabs(now.y) + fabs(now.z), most, 0);
    }
}
