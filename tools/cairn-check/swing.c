/* swing.c - bodies on joints: second-order motion, and the inertia that tension adds. */
#include "run.h"

/* ---- second order ---------------------------------------------------------------------------- */

/* Bodies that are held by joints and touched by nothing else: docs/joint-methods.md#second-order.
 * With v^, w^ the velocities after the step if joints pulled as in the step before, and a = h (w +
 * w^)/2:
 *     rows at x + h v/2, q exp(h w/2), for w in the frame of q exp(a)
 *     J w_free = exp(-a) J w + h exp(-a/2) T
 *     rate + (rows at x + h (v + v^)/2, q exp(a), less these, of v^, w^) + 0.343 gamma theta/h = 0
 *     x+ = x + h (v + v+)/2,   q+ = q exp(h (w + w+)/2)
 * What excludes one body (a candidate contact, a joint that does more than hold, a driven
 * neighbour, moments added for tension, rotation that is not resolved, by rules 5 also v^, w^ that
 * miss the rows of a joint by too much) excludes all bodies connected to it. */

static const vec zero = { 0, 0, 0 };

static bool is_dynamic(const check_run *run, int body)
{
    return body >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC && run->before.row[body] >= 0;
}

/* ---- which bodies swing --------------------------------------------------------------------- */

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

/* First guess: all bodies on joints, except those with a reason not to. */
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

static int first_of(int *first, int body)
{
    while (first[body] != body)
        body = first[body] = first[first[body]];
    return body;
}

/* By rules 5 no body swings that joints connect in a loop, through what is held or not. */
static void refuse_loops(check_run *run)
{
    int *first = run->group_first;
    for (int body = 0; body < run->bodies.count; body++)
        first[body] = body;
    for (int joint = 0; joint < run->joints.count; joint++) {
        int a = run->joints.body[2 * joint], b = run->joints.body[2 * joint + 1];
        if (!has_rows(run, joint) || !is_dynamic(run, a) || !is_dynamic(run, b))
            continue;
        if (first_of(first, a) == first_of(first, b))
            run->swing[a].swings = false;
        first[first_of(first, a)] = first_of(first, b);
    }
    for (int joint = 0; joint < run->joints.count; joint++) {
        int a = run->joints.body[2 * joint], b = run->joints.body[2 * joint + 1];
        if (!has_rows(run, joint) || is_dynamic(run, a) == is_dynamic(run, b))
            continue;
        int body = is_dynamic(run, a) ? a : b;
        check_swing *group = &run->swing[first_of(first, body)];
        if (group->grounded)
            run->swing[body].swings = false;
        group->grounded = true;
    }
}

/* Connected bodies swing together; true: a body was removed. */
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
    double h = run->settings.h;
    pose.x[1] = vec_add(pose.x[1], 1, check_joint_shift(run, joint, end ? h : 0.5 * h));
    return pose;
}

static void pull_by_joint(check_run *run, int joint)
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
    s->gained = vec_add(quat_rotate_back(quat_turn(a), L), -1, L);
    s->gained = vec_add(s->gained, h, quat_rotate_back(quat_turn(vec_times(0.5, a)), T));
}

/* The free motion of a body that swings. */
static void adopt(check_run *run, int body)
{
    vec w = run->before.omega[run->before.row[body]], J = run->bodies.inertia[body];
    vec gained = run->swing[body].gained;
    run->gyroscopic[body] = vec_add(vec_times(1 / run->settings.h, gained), -1, run->torque[body]);
    run->omega_before[body] = w;
    run->omega_free[body] =
        vec_add(w, 1, (vec){ over(gained.x, J.x), over(gained.y, J.y), over(gained.z, J.z) });
}

/* ---- rows ----------------------------------------------------------------------------------- */

static double foreseen_rate(const check_run *run, const check_joint_row *row)
{
    double rate = -vec_dot(row->e, check_joint_drift(run, row->joint));
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

/* Whether v^, w^ satisfy the rows of a joint at the end, up to half of the speeds of its bodies and
 * twice what loads change of them in the step. */
static bool is_foreseen(const check_run *run, int joint)
{
    static const double stray = 0.5, sudden = 2;
    check_joint_row rows[CHECK_JOINT_ROWS];
    check_joint_pose at_end = pose_at(run, joint, true);
    int count = check_joint_rows(run, joint, &at_end, rows);
    double slide = 0, turn = 0;
    for (int side = 0; side < 2; side++) {
        int body = run->joints.body[2 * joint + side];
        if (!is_dynamic(run, body) || !run->swing[body].swings)
            continue;
        int row = run->before.row[body];
        vec v = run->before.v[row], T = run->torque[body], J = run->bodies.inertia[body];
        vec turned = { over(T.x, J.x), over(T.y, J.y), over(T.z, J.z) };
        double lever = vec_norm(side ? run->joints.anchor_b[joint] : run->joints.anchor_a[joint]);
        double own =
            stray * vec_norm(run->before.omega[row]) + sudden * run->settings.h * vec_norm(turned);
        turn += own;
        slide += stray * vec_norm(v) + sudden * vec_norm(vec_add(run->v_free[body], -1, v)) +
                 lever * own;
    }
    for (int i = 0; i < count; i++)
        if (!(fabs(foreseen_rate(run, &rows[i])) <= (rows[i].role == CHECK_HOLD ? slide : turn)))
            return false;
    return true;
}

static bool is_swinging(const check_run *run, int joint)
{
    int a = run->joints.body[2 * joint], b = run->joints.body[2 * joint + 1];
    return has_rows(run, joint) && (run->swing[a].swings || (b >= 0 && run->swing[b].swings));
}

/* Bodies on joints whose ends are not foreseen, and all that are connected to them, swing no
 * more. */
static void stop_strays(check_run *run)
{
    for (int joint = 0; joint < run->joints.count; joint++)
        for (int side = 0; side < 2 && is_swinging(run, joint) && !is_foreseen(run, joint); side++)
            if (run->joints.body[2 * joint + side] >= 0)
                run->swing[run->joints.body[2 * joint + side]].strays = true;
    for (int body = 0; body < run->bodies.count; body++)
        run->swing[body].swings = run->swing[body].swings && !run->swing[body].strays;
    while (pass_on(run))
        ;
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
    if (run->settings.rules >= 5)
        refuse_loops(run);
    while (pass_on(run))
        ;
    for (int body = 0; body < run->bodies.count; body++)
        if (run->swing[body].swings)
            place(run, body);
    for (int joint = 0; joint < run->joints.count; joint++)
        if (has_rows(run, joint))
            pull_by_joint(run, joint);
    for (int body = 0; body < run->bodies.count; body++)
        if (run->swing[body].swings)
            foresee(run, body);
    if (run->settings.rules >= 5)
        stop_strays(run);
    for (int body = 0; body < run->bodies.count; body++)
        if (run->swing[body].swings)
            adopt(run, body);
    for (int joint = 0; joint < run->joints.count; joint++)
        if (is_swinging(run, joint))
            remake(run, joint);
}

/* ---- tension, and where the one-step problem starts ------------------------------------------ */

/* Where the one-step problem starts: velocities without contact, with the pull of adhesion; and the
 * moments of inertia that joints under tension add (docs/joint-methods.md).
 *
 * The force f of a joint at the arm p of a body, of the step before, makes it swing back with
 * K = (p.f) I - (p f' + f p')/2 in the body's frame. The excess of h^2 times the row sums K^ of |K|
 * (its diagonal with its sign) over 2 J counts as moment of inertia: C = max(0, h^2 K^ - 2 J), and
 * (J + C) w = J w_free. Then rates of rows, and their weights in the residual. */

/* ---- tension -------------------------------------------------------------------------------- */

/* Arm and force of a joint at one of its bodies, in the body's frame. */
static void find_pull(const check_run *run, int joint, int side, vec *arm, vec *force)
{
    const check_joints *j = &run->joints;
    int a = j->body[2 * joint], body = j->body[2 * joint + side];
    const check_state *s = &run->before;
    quat q = s->q[s->row[body]];
    *arm = side ? j->anchor_b[joint] : j->anchor_a[joint];
    if (side && !check_has_two_points(run, joint)) { /* it acts on both at the point of a */
        int row = s->row[a];
        vec point = vec_add(s->x[row], 1, quat_rotate(s->q[row], j->anchor_a[joint]));
        vec centre = vec_add(s->x[s->row[body]], 1, check_joint_shift(run, joint, 0));
        *arm = quat_rotate_back(q, vec_add(point, -1, centre));
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

/* omega_start serves as scratch for the off-diagonal entries. */
void check_find_added(check_run *run)
{
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
static void pull_by_adhesion(check_run *run, int j, int side)
{
    const check_contacts *c = &run->contacts;
    int body = c->body[2 * j + side];
    if (c->adhesion[j] == 0 || run->bodies.motion[body] != CHECK_DYNAMIC)
        return;
    vec n = c->normal[j], on = vec_add(c->point[j], (side ? -0.5 : 0.5) * c->gap[j], n);
    vec p = vec_times(-run->settings.h * c->adhesion[j] * (side ? -1 : 1), n);
    vec turn = vec_cross(vec_add(on, -1, check_x_of(run, j, side)), p);
    turn = quat_rotate_back(check_rows_q(run, body), turn);
    run->v_adhesion[body] =
        vec_add(run->v_adhesion[body], 1, vec_scale(check_inverse_mass(run, body), p));
    run->omega_adhesion[body] =
        vec_add(run->omega_adhesion[body], 1, vec_scale(check_inverse_inertia(run, body), turn));
}

/* ---- rates ---------------------------------------------------------------------------------- */

/* Contribution of one body's motion to the rate of a row; rounding is relative to `size`. */
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

/* s: time after the start of the step at which rows are evaluated. */
static double ahead_of(const check_run *run)
{
    double h = run->settings.h;
    return run->settings.scheme->middle ? 0.5 * h : run->settings.linearisations > 0 ? h : 0;
}

static void move_row(check_run *run, check_joint_row *row)
{
    vec drift = check_joint_drift(run, row->joint);
    double ahead = ahead_of(run), away = -vec_dot(row->e, drift), guess = away;
    row->after = row->free = row->before = row->imposed = away;
    row->rate_size = vec_norm(drift);
    row->weight = row->eps;
    for (int side = 0; side < 2; side++) {
        int body = row->body[side];
        if (body < 0 || run->bodies.motion[body] == CHECK_FIXED)
            continue;
        int i = run->before.row[body], k = run->after.row[body];
        bool dynamic = run->bodies.motion[body] == CHECK_DYNAMIC;
        vec free[2] = { run->v_start[body], run->omega_start[body] };
        vec old[2] = { run->before.v[i], run->omega_before[body] };
        vec new[2] = { run->after.v[k], run->after.omega[k] };
        vec guessed[2] = { run->v_eval[body], run->omega_eval[body] };
        vec moved[2] = { run->before.v[i], run->before.omega[i] };
        const vec *there = run->settings.scheme->middle ? moved : guessed;
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

/* A row without compliance has the mean weight of its block. */
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
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row];
        start_body(run, body);
        run->v_adhesion[body] = run->omega_adhesion[body] = zero;
    }
    for (int j = 0; j < run->contacts.count; j++) {
        pull_by_adhesion(run, j, 0);
        pull_by_adhesion(run, j, 1);
    }
}

/* After the motion was checked from impulses: the rates that the law is evaluated on. */
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
