/* swing.c - bodies that joints hold and nothing else pushes (docs/joints.md#second-order). With v^,
 * w^ the velocities after the step if joints pulled as in the step before, and a = h (w + w^)/2:
 *     rows at x + h v/2, q exp(h w/2), for w in the frame of q exp(a)
 *     J w_free = exp(-a) J w + h exp(-a/2) T
 *     rate + (rows at x + h (v + v^)/2, q exp(a), less these, of v^, w^) + 0.343 gamma theta/h = 0
 *     x+ = x + h (v + v+)/2,   q+ = q exp(h (w + w+)/2)
 * What refuses one body (a candidate contact, a joint that does more than hold, something driven at
 * it, moments added for tension, turning that is not resolved) refuses all that hang together. */
#include "run.h"

static const vec zero = { 0, 0, 0 };

static bool is_dynamic(const check_run *run, int body)
{
    return body >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC && run->before.row[body] >= 0;
}

/* ---- who ------------------------------------------------------------------------------------ */

static bool only_holds(const check_run *run, int joint)
{
    bool holds = run->joints.kind[joint] != CHECK_GEAR;
    for (int i = run->row_first[joint]; i < run->row_first[joint + 1]; i++)
        holds = holds && (run->rows[i].role == CHECK_HOLD || run->rows[i].role == CHECK_HOLD_TURN);
    for (int side = 0; side < 2; side++) {
        int body = run->joints.body[2 * joint + side];
        holds = holds && (body < 0 || run->bodies.motion[body] != CHECK_DRIVEN);
    }
    return holds;
}

static bool is_resolved(const check_run *run, int body)
{
    static const double fastest = 1, tumbling = 0.25; /* rad in a step */
    vec w = run->before.omega[run->before.row[body]], L = vec_scale(run->bodies.inertia[body], w);
    double h = run->settings.h;
    return h * vec_norm(w) <= fastest && h * vec_norm(vec_cross(w, L)) <= tumbling * vec_norm(L);
}

static bool has_rows(const check_run *run, int joint)
{
    return run->row_first[joint] < run->row_first[joint + 1];
}

/* First guess: all that are joined, but for those with a reason not to. */
static void choose(check_run *run)
{
    for (int body = 0; body < run->bodies.count; body++)
        run->swing[body] = (check_swing){ .swings = false, .force = zero, .moment = zero };
    for (int joint = 0; joint < run->joints.count; joint++)
        for (int side = 0; side < 2 && has_rows(run, joint); side++) {
            int body = run->joints.body[2 * joint + side];
            if (!is_dynamic(run, body))
                continue;
            vec C = run->added[body];
            bool flat = run->settings.dimension == 2, added = C.z > 0 || (!flat && C.x + C.y > 0);
            run->swing[body].swings = !added && is_resolved(run, body);
        }
    for (int joint = 0; joint < run->joints.count; joint++)
        for (int side = 0; side < 2 && has_rows(run, joint) && !only_holds(run, joint); side++)
            if (run->joints.body[2 * joint + side] >= 0)
                run->swing[run->joints.body[2 * joint + side]].swings = false;
    for (int k = 0; k < 2 * run->contacts.count; k++)
        run->swing[run->contacts.body[k]].swings = false;
}

/* What hangs together swings together; true: somebody was taken out. */
static bool pass_on(check_run *run)
{
    bool changed = false;
    for (int joint = 0; joint < run->joints.count; joint++) {
        int a = run->joints.body[2 * joint], b = run->joints.body[2 * joint + 1];
        if (!has_rows(run, joint) || !is_dynamic(run, a) || !is_dynamic(run, b))
            continue;
        changed = changed || run->swing[a].swings != run->swing[b].swings;
        run->swing[a].swings = run->swing[b].swings = run->swing[a].swings && run->swing[b].swings;
    }
    return changed;
}

/* ---- where ---------------------------------------------------------------------------------- */

static quat turned(quat q, vec angle)
{
    q = quat_product(q, quat_turn(angle));
    double norm = quat_norm(q);
    return (quat){ q.w / norm, q.x / norm, q.y / norm, q.z / norm };
}

static void place(check_run *run, int body)
{
    int row = run->before.row[body];
    double half = 0.5 * run->settings.h;
    check_swing *s = &run->swing[body];
    s->x_mid = vec_add(run->before.x[row], half, run->before.v[row]);
    s->q_mid = turned(run->before.q[row], vec_times(half, run->before.omega[row]));
}

/* A joint in the pose of mid-step, or of the end. */
static check_joint_pose pose_at(const check_run *run, int joint, bool end)
{
    static const quat straight = { 1, 0, 0, 0 };
    check_joint_pose pose = { .q = { straight, straight },
                              .turn = run->joints_before.turn[run->joints_before.row[joint]] };
    for (int side = 0; side < 2; side++) {
        int body = run->joints.body[2 * joint + side];
        if (body < 0)
            continue;
        const check_swing *s = &run->swing[body];
        int row = run->before.row[body];
        pose.x[side] = !s->swings ? run->before.x[row] : end ? s->x_end : s->x_mid;
        pose.q[side] = !s->swings ? run->before.q[row] : end ? s->q_end : s->q_mid;
    }
    return pose;
}

static void pull(check_run *run, int joint)
{
    check_joint_pose pose = pose_at(run, joint, false);
    int state = run->joints_before.row[joint];
    vec f = run->joints_before.force[state], t = run->joints_before.torque[state];
    for (int side = 0; side < 2; side++) {
        int body = run->joints.body[2 * joint + side];
        int at = check_has_two_points(run, joint) ? side : 0;
        if (!is_dynamic(run, body) || !run->swing[body].swings)
            continue;
        vec anchor = at ? run->joints.anchor_b[joint] : run->joints.anchor_a[joint];
        vec point = vec_add(pose.x[at], 1, quat_rotate(pose.q[at], anchor));
        vec arm = vec_add(point, -1, pose.x[side]);
        vec moment = quat_rotate_back(pose.q[side], vec_add(vec_cross(arm, f), 1, t));
        check_swing *s = &run->swing[body];
        s->force = vec_add(s->force, side ? -1 : 1, f);
        s->moment = vec_add(s->moment, side ? -1 : 1, moment);
    }
}

static double over(double x, double J)
{
    return J > 0 ? x / J : 0;
}

static void foresee(check_run *run, int body)
{
    int row = run->before.row[body];
    double h = run->settings.h;
    check_swing *s = &run->swing[body];
    vec w = run->before.omega[row], J = run->bodies.inertia[body], T = run->torque[body];
    s->v_end = vec_add(run->v_free[body], h / run->bodies.mass[body], s->force);
    s->x_end = vec_add(run->before.x[row], 0.5 * h, vec_add(run->before.v[row], 1, s->v_end));
    s->w_end = check_midpoint(run, body, vec_add(T, 1, s->moment));
    vec a = vec_times(0.5 * h, vec_add(w, 1, s->w_end)), L = vec_scale(J, w);
    s->q_end = turned(run->before.q[row], a);
    vec gained = vec_add(quat_rotate_back(quat_turn(a), L), -1, L);
    gained = vec_add(gained, h, quat_rotate_back(quat_turn(vec_times(0.5, a)), T));
    run->gyroscopic[body] = vec_add(vec_times(1 / h, gained), -1, T);
    run->omega_free[body] =
        vec_add(w, 1, (vec){ over(gained.x, J.x), over(gained.y, J.y), over(gained.z, J.z) });
}

/* ---- rows ----------------------------------------------------------------------------------- */

static double foreseen_rate(const check_run *run, const check_joint_row *row)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        int body = row->body[side];
        if (!is_dynamic(run, body))
            continue;
        const check_swing *s = &run->swing[body];
        vec w = quat_rotate(s->q_end, s->w_end);
        double one = vec_dot(row->e, vec_add(s->v_end, 1, vec_cross(w, row->arm[side]))) +
                     vec_dot(row->turn[side], w);
        rate += side ? -one : one;
    }
    return rate;
}

static void remake(check_run *run, int joint)
{
    static const double mending = 0.34314575050761986; /* 6 - 4 sqrt(2) */
    check_joint_row mid[CHECK_JOINT_ROWS], end[CHECK_JOINT_ROWS];
    check_joint_pose at_mid = pose_at(run, joint, false), at_end = pose_at(run, joint, true);
    check_joint_row *rows = run->rows + run->row_first[joint];
    int count = check_joint_rows(run, joint, &at_mid, mid);
    check_joint_rows(run, joint, &at_end, end);
    for (int i = 0; i < count; i++) {
        mid[i].r = rows[i].r;
        mid[i].z = rows[i].z;
        mid[i].block = rows[i].block;
        mid[i].defect = rows[i].defect;
        mid[i].gain *= mending;
        mid[i].bias = foreseen_rate(run, &end[i]) - foreseen_rate(run, &mid[i]);
        rows[i] = mid[i];
    }
}

void check_swings(check_run *run)
{
    bool ahead = run->settings.scheme->middle || run->settings.linearisations > 0;
    choose(run);
    for (int body = 0; body < run->bodies.count && (ahead || run->settings.rules < 2); body++)
        run->swing[body].swings = false;
    while (pass_on(run))
        ;
    for (int body = 0; body < run->bodies.count; body++)
        if (run->swing[body].swings)
            place(run, body);
    for (int joint = 0; joint < run->joints.count; joint++)
        if (has_rows(run, joint))
            pull(run, joint);
    for (int body = 0; body < run->bodies.count; body++)
        if (run->swing[body].swings)
            foresee(run, body);
    for (int joint = 0; joint < run->joints.count; joint++) {
        int a = run->joints.body[2 * joint], b = run->joints.body[2 * joint + 1];
        bool swings = run->swing[a].swings || (b >= 0 && run->swing[b].swings);
        if (has_rows(run, joint) && swings)
            remake(run, joint);
    }
}
