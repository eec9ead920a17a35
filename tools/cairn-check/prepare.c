/* prepare.c - the inputs of a step: poses at which contacts were evaluated, loads, and velocities
 * without contact,
 *     v_free = v + h (g + F/m),   J (w_free - w) = h (T - wm x J wm),   wm = (w + w_free)/2. */
#include <string.h>

#include "run.h"

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

/* Contacts where the step ends: driven bodies are there as they will be. */
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

/* Driven bodies: half a step on they are where the file says; else where they were. */
static void place_driven(check_run *run)
{
    long driven_bodies = 0;
    for (int row = 0; row < run->before.count; row++)
        driven_bodies += run->bodies.motion[run->before.index[row]] == CHECK_DRIVEN;
    check_same(run->report, check_at(run, NULL, 0, "poses of driven bodies"), run->poses.count,
               (double)driven_bodies, 0);
    for (int i = 0; i < run->poses.count; i++) {
        int body = run->poses.body[i], row = run->before.row[body];
        check_place place = check_at(run, "body", body, "pose for contacts");
        bool driven = run->bodies.motion[body] == CHECK_DRIVEN && row >= 0;
        bool in_order = i == 0 || body > run->poses.body[i - 1];
        check_true(run->report, place, driven && in_order, "not a driven body, in order");
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

static void fly(check_run *run, int body, int row)
{
    const check_bodies *b = &run->bodies;
    const check_state *s = &run->before;
    double h = run->settings.h;
    vec J = b->inertia[body], omega = s->omega[row];
    vec pull = vec_add(run->settings.gravity, 1 / b->mass[body], run->force[body]);
    bool equal = run->settings.dimension == 2 || (J.x == J.y && J.y == J.z);
    run->v_free[body] = vec_add(s->v[row], h, pull);
    run->omega_free[body] = check_midpoint(run, body, run->torque[body]);
    run->gyroscopic[body] =
        equal ? zero : gyroscopic(J, vec_times(0.5, vec_add(omega, 1, run->omega_free[body])));
}

/* Fixed bodies stand; driven ones move as the state after the step says. */
static void go(check_run *run, int body)
{
    bool driven = run->bodies.motion[body] == CHECK_DRIVEN;
    int row = run->after.row[body];
    run->v_free[body] = driven && row >= 0 ? run->after.v[row] : zero;
    run->omega_free[body] = driven && row >= 0 ? run->after.omega[row] : zero;
    run->gyroscopic[body] = zero;
}

void check_prepare(check_run *run)
{
    size_t bytes = (size_t)run->bodies.count * sizeof(vec);
    memset(run->force, 0, bytes);
    memset(run->torque, 0, bytes);
    for (int i = 0; i < run->loads.count; i++) {
        int body = run->loads.body[i];
        if (run->settings.dimension == 2)
            check_same_vec(run->report, check_at(run, "body", body, "torque of its loads"),
                           run->loads.torque[i], (vec){ 0, 0, run->loads.torque[i].z }, 0);
        run->force[body] = vec_add(run->force[body], 1, run->loads.force[i]);
        run->torque[body] = vec_add(run->torque[body], 1, run->loads.torque[i]);
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
