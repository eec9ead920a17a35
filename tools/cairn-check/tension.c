/* tension.c - what the one-step problem starts from: velocities without contact, with the pull of
 * adhesion; and the moments of inertia that joints under tension add (docs/joints.md).
 *
 * The force f of a joint at the arm p of a body, of the step before, makes it swing back with
 * K = (p.f) I - (p f' + f p')/2 in the body's frame. What h^2 times the row sums of |K| (its
 * diagonal as it is) has above 2 J counts as moment of inertia: C = max(0, h^2 K^ - 2 J), and
 * (J + C) w = J w_free. Then rates of rows, and their weights in the residual. */
#include "run.h"

/* ---- tension -------------------------------------------------------------------------------- */

/* Arm and force of a joint at one of its bodies, in the body's frame. */
static void find_pull(const check_run *run, int joint, int side, vec *arm, vec *force)
{
    const check_joints *j = &run->joints;
    int a = j->body[2 * joint], body = j->body[2 * joint + side];
    const check_state *s = &run->before;
    quat q = s->q[s->row[body]];
    *arm = side ? j->anchor_b[joint] : j->anchor_a[joint];
    if (side && !check_has_two_points(run, joint)) { /* both feel it at the point of a */
        int row = s->row[a];
        vec point = vec_add(s->x[row], 1, quat_rotate(s->q[row], j->anchor_a[joint]));
        *arm = quat_rotate_back(q, vec_add(point, -1, s->x[s->row[body]]));
    }
    vec f = run->joints_before.force[run->joints_before.row[joint]];
    *force = quat_rotate_back(q, vec_times(side ? -1 : 1, f));
}

/* Adds to `run->added` the diagonal of K, to `off` its other entries yz, xz, xy. */
static void add_stiffness(check_run *run, int joint, int side, vec *off)
{
    int body = run->joints.body[2 * joint + side];
    if (body < 0 || run->bodies.motion[body] != CHECK_DYNAMIC || run->before.row[body] < 0)
        return;
    vec p, f, *K = &run->added[body];
    find_pull(run, joint, side, &p, &f);
    K->x += p.y * f.y + p.z * f.z;
    K->y += p.x * f.x + p.z * f.z;
    K->z += p.x * f.x + p.y * f.y;
    off[body].x -= 0.5 * (p.y * f.z + p.z * f.y);
    off[body].y -= 0.5 * (p.x * f.z + p.z * f.x);
    off[body].z -= 0.5 * (p.x * f.y + p.y * f.x);
}

/* C from K. */
static vec excess(vec K, vec off, vec J, double h)
{
    double x = fabs(off.x), y = fabs(off.y), z = fabs(off.z), hh = h * h;
    return (vec){ fmax(0, hh * (K.x + y + z) - 2 * J.x), fmax(0, hh * (K.y + x + z) - 2 * J.y),
                  fmax(0, hh * (K.z + x + y) - 2 * J.z) };
}

static double slowed(double omega, double J, double C)
{
    return J > 0 && C > 0 ? omega * J / (J + C) : omega;
}

/* omega_start serves as room for the off-diagonal entries. */
void check_find_added(check_run *run)
{
    static const vec zero = { 0, 0, 0 };
    for (int i = 0; i < run->bodies.count; i++)
        run->added[i] = run->omega_start[i] = zero;
    for (int i = 0, last = -1; i < run->row_count; i++) {
        int joint = run->rows[i].joint;
        if (joint != last) {
            add_stiffness(run, joint, 0, run->omega_start);
            add_stiffness(run, joint, 1, run->omega_start);
        }
        last = joint;
    }
    for (int i = 0; i < run->bodies.count && run->row_count > 0; i++)
        run->added[i] =
            excess(run->added[i], run->omega_start[i], run->bodies.inertia[i], run->settings.h);
}

/* ---- adhesion ------------------------------------------------------------------------------- */

/* v_free -= h c M^-1 H' n */
static void pull(check_run *run, int j, int side)
{
    const check_contacts *c = &run->contacts;
    int body = c->body[2 * j + side];
    if (c->adhesion[j] == 0 || run->bodies.motion[body] != CHECK_DYNAMIC)
        return;
    vec n = c->normal[j], on = vec_add(c->point[j], (side ? -0.5 : 0.5) * c->gap[j], n);
    vec p = vec_times(-run->settings.h * c->adhesion[j] * (side ? -1 : 1), n);
    vec turn = vec_cross(vec_add(on, -1, run->x_eval[body]), p);
    turn = quat_rotate_back(check_rows_q(run, body), turn);
    run->v_adhesion[body] = vec_add(run->v_adhesion[body], 1 / run->bodies.mass[body], p);
    run->omega_adhesion[body] =
        vec_add(run->omega_adhesion[body], 1, vec_scale(check_inverse_inertia(run, body), turn));
}

/* ---- rates ---------------------------------------------------------------------------------- */

/* What one body's motion adds to the rate of a row; `size` what rounding is relative to. */
static double rate_of(const check_run *run, const check_joint_row *row, int side,
                      const vec motion[2], double *size)
{
    vec turning = quat_rotate(check_rows_q(run, row->body[side]), motion[1]);
    vec at = vec_add(motion[0], 1, vec_cross(turning, row->arm[side]));
    double length = vec_norm(row->e) + vec_norm(row->turn[side]);
    *size += length * (vec_norm(motion[0]) + vec_norm(turning) * (1 + row->reach));
    return (side ? -1 : 1) * (vec_dot(row->e, at) + vec_dot(row->turn[side], turning));
}

static double row_weight(const check_run *run, const check_joint_row *row, int side)
{
    int body = row->body[side];
    vec turn = vec_add(vec_cross(row->arm[side], row->e), 1, row->turn[side]);
    turn = quat_rotate_back(check_rows_q(run, body), turn);
    return vec_dot(row->e, row->e) / run->bodies.mass[body] +
           vec_dot(turn, vec_scale(check_inverse_inertia(run, body), turn));
}

/* How far ahead of the start rows are made, s. */
static double ahead_of(const check_run *run)
{
    double h = run->settings.h;
    return run->settings.scheme->middle ? 0.5 * h : run->settings.linearisations > 0 ? h : 0;
}

static void move_row(check_run *run, check_joint_row *row)
{
    double guess = 0, ahead = ahead_of(run);
    row->after = row->free = row->before = row->imposed = row->rate_size = 0;
    row->weight = row->eps;
    for (int side = 0; side < 2; side++) {
        int body = row->body[side];
        if (body < 0 || run->bodies.motion[body] == CHECK_FIXED)
            continue;
        int i = run->before.row[body], k = run->after.row[body];
        bool dynamic = run->bodies.motion[body] == CHECK_DYNAMIC;
        vec free[2] = { run->v_start[body], run->omega_start[body] };
        vec old[2] = { run->before.v[i], run->before.omega[i] };
        vec new[2] = { run->after.v[k], run->after.omega[k] };
        vec guessed[2] = { run->v_eval[body], run->omega_eval[body] };
        const vec *there = run->settings.scheme->middle ? old : guessed;
        row->after += rate_of(run, row, side, dynamic ? new : free, &row->rate_size);
        row->free += rate_of(run, row, side, free, &row->rate_size);
        row->before += rate_of(run, row, side, dynamic ? old : free, &row->rate_size);
        guess += rate_of(run, row, side, dynamic ? there : free, &row->rate_size);
        if (dynamic)
            row->weight += row_weight(run, row, side);
        else
            row->imposed += rate_of(run, row, side, free, &row->rate_size);
    }
    row->defect -= ahead * guess;
    row->size += row->rate_size + fabs(row->bias) + row->gain * (row->reach + fabs(row->defect)) +
                 row->eps * fabs(row->r);
}

/* A row that nothing answers to has the mean weight of its block. */
static void weigh_rows(check_run *run)
{
    int m = run->settings.components;
    for (int i = 0; i < run->row_count;) {
        int end = i;
        double mean = 0;
        for (; end < run->row_count && run->rows[end].block == run->rows[i].block; end++)
            mean += run->rows[end].weight / m;
        for (; i < end; i++)
            if (!(run->rows[i].weight > 1e-12 * mean))
                run->rows[i].weight = mean > 0 ? mean : 1;
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void start_body(check_run *run, int body)
{
    vec J = run->bodies.inertia[body], C = run->added[body], w = run->omega_free[body];
    run->v_start[body] = run->v_free[body];
    run->omega_start[body] = w;
    if (run->bodies.motion[body] == CHECK_DYNAMIC)
        run->omega_start[body] =
            (vec){ slowed(w.x, J.x, C.x), slowed(w.y, J.y, C.y), slowed(w.z, J.z, C.z) };
}

void check_start(check_run *run)
{
    static const vec zero = { 0, 0, 0 };
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row];
        start_body(run, body);
        run->v_adhesion[body] = run->omega_adhesion[body] = zero;
    }
    for (int j = 0; j < run->contacts.count; j++) {
        pull(run, j, 0);
        pull(run, j, 1);
    }
}

/* After the motion was checked from impulses: what the law is asked of. */
void check_start_law(check_run *run)
{
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row];
        run->v_start[body] = vec_add(run->v_start[body], 1, run->v_adhesion[body]);
        run->omega_start[body] = vec_add(run->omega_start[body], 1, run->omega_adhesion[body]);
    }
    for (int i = 0; i < run->row_count; i++)
        move_row(run, &run->rows[i]);
    weigh_rows(run);
}
