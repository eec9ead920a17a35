/* motor.c - gains of motors (docs/joints.md#motors), and the inertia that they feel.
 *
 * Both bodies of the joint are marked, then again and again what hangs on marked bodies by joints
 * that hold some motion, until nothing is added. A mark that reaches what does not move by itself
 * stands; marks that meet, or that both stand, are a loop, in which each of the two bodies counts
 * alone. The inertia of a mark is that of its bodies about the axis, or their mass; that of the
 * motor is 1/(1/I_a + 1/I_b), without what stands. */
#include "run.h"

enum { SIDE_A = 1, SIDE_B = 2 };

typedef struct spread {
    bool stands[2], loop, grown;
} spread;

static bool moves(const check_run *run, int body)
{
    return body >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC && run->before.row[body] >= 0;
}

static bool are_same_two(const int32_t *p, const int32_t *q)
{
    return (p[0] == q[0] && p[1] == q[1]) || (p[0] == q[1] && p[1] == q[0]);
}

/* The mark of one end of a link goes over to the other. */
static void pass_on(const check_run *run, int from, int to, spread *s)
{
    char mark = moves(run, from) ? run->side[from] : 0;
    if (!mark)
        return;
    if (!moves(run, to)) {
        s->stands[mark - 1] = true;
        return;
    }
    s->loop = s->loop || (run->side[to] && run->side[to] != mark);
    if (run->side[to])
        return;
    run->side[to] = mark;
    s->grown = true;
}

static spread mark_sides(const check_run *run, int joint)
{
    const int32_t *own = run->joints.body + 2 * joint;
    spread s = { { !moves(run, own[0]), !moves(run, own[1]) }, false, true };
    for (int i = 0; i < run->bodies.count; i++)
        run->side[i] = 0;
    if (moves(run, own[0]))
        run->side[own[0]] = SIDE_A;
    if (moves(run, own[1]))
        run->side[own[1]] = SIDE_B;
    while (s.grown) {
        s.grown = false;
        for (int k = 0; k < run->joints.count; k++) {
            const int32_t *two = run->joints.body + 2 * k;
            if (!check_joint_in_force(run, k) || !check_is_link(run, k) || are_same_two(two, own))
                continue;
            pass_on(run, two[0], two[1], &s);
            pass_on(run, two[1], two[0], &s);
        }
    }
    s.loop = s.loop || (s.stands[0] && s.stands[1]);
    return s;
}

/* Of a body: about the axis e through p; its mass. */
static void weigh(const check_run *run, int body, vec e, vec p, double out[2])
{
    int row = run->before.row[body];
    vec own = quat_rotate_back(run->before.q[row], e);
    vec arm = vec_add(run->before.x[row], -1, p);
    double along = vec_dot(arm, e), away = vec_dot(arm, arm) - along * along;
    out[0] += vec_dot(own, vec_scale(run->bodies.inertia[body], own)) +
              run->bodies.mass[body] * fmax(0, away);
    out[1] += run->bodies.mass[body];
}

static void find_axis(const check_run *run, int joint, vec *e, vec *p)
{
    static const vec first = { 1, 0, 0 }, up = { 0, 0, 1 };
    const check_state *s = &run->before;
    int a = s->row[run->joints.body[2 * joint]], b = run->joints.body[2 * joint + 1];
    *e = quat_rotate(run->joints.frame_b[joint], first);
    if (b >= 0)
        *e = quat_rotate(s->q[s->row[b]], *e);
    if (run->settings.dimension == 2)
        *e = up;
    *p = vec_add(s->x[a], 1, quat_rotate(s->q[a], run->joints.anchor_a[joint]));
}

void check_felt(const check_run *run, int joint, double *turn, double *slide)
{
    spread s = mark_sides(run, joint);
    double inverse[2] = { 0, 0 }, advance = run->joints.pitch[joint] / (2 * M_PI);
    vec e, p;
    find_axis(run, joint, &e, &p);
    for (int side = 0; side < 2; side++) {
        double sum[2] = { 0, 0 };
        int own = run->joints.body[2 * joint + side];
        if (!moves(run, own) || (s.stands[side] && !s.loop))
            continue;
        for (int body = 0; body < run->bodies.count; body++)
            if (s.loop ? body == own : run->side[body] == side + 1)
                weigh(run, body, e, p, sum);
        inverse[0] += 1 / sum[0];
        inverse[1] += 1 / sum[1];
    }
    *turn = 1 / inverse[0];
    *slide = 1 / inverse[1];
    if (run->joints.kind[joint] == CHECK_SCREW) {
        *turn += *slide * advance * advance;
        *slide = *turn / (advance * advance);
    }
}

/* The row of a motor, its defect the coordinate: gain, bias and eps. */
check_joint_row check_motor_gains(const check_run *run, check_joint_row row, int motor,
                                  check_gains g)
{
    static const double braking = 0.25; /* share of the effort */
    double h = run->settings.h, k = g.stiffness, c = g.damping;
    bool soft = run->settings.rules >= 2;
    if (motor == CHECK_VELOCITY) {
        row.bias = -g.target;
        row.eps = soft && c > 0 ? 1 / (h * c) : 0;
    }
    if (motor != CHECK_POSITION)
        return row;
    row.defect -= g.target;
    row.reach += fabs(g.target);
    row.gain = 1 / h;
    if (soft && k == 0 && c == 0) {
        double fast = sqrt(2 * braking * g.effort / g.felt * fabs(row.defect));
        row.gain = fast * h < fabs(row.defect) ? fast / fabs(row.defect) : 1 / h;
    } else if (soft) {
        double stiffness = k > 0 ? k : c * c / (4 * g.felt);
        double drag = h * stiffness + (c > 0 ? c : 2 * sqrt(k * g.felt));
        row.gain = stiffness < HUGE_VAL ? stiffness / drag : 1 / h;
        row.eps = 1 / (h * drag);
    }
    return row;
}
