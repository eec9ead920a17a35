/* joint_rows.c - the rows of a joint, and the gains of its motors. */
#include "run.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* The rows of a joint in a pose (docs/joint-methods.md). With pa, pb its points, ea, eb its frames
 * (first axis: the joint's), d = pa - pb:
 *
 *   sliding   theta = eb_i.d       rate eb_i.(va + wa x (pa - xa)) - eb_i.(vb + wb x (pa - xb))
 *   tilting   theta = ea_i.eb_k    rate (ea_i x eb_k).(wa - wb)
 *   length    theta = |d|          rate e.(va + wa x (pa - xa) - vb - wb x (pb - xb)), e = d/|d|
 *   turning   the angle            rate axis.(wa - wb)
 *
 * in the order: along the axis, across it, tilting, right angle, turning about it, screw, gear,
 * length or rope, springs of a bushing; then what acts along the coordinate slide, and turn: lower
 * and upper limit, motor, friction, spring. */

/* A joint in a pose. */
typedef struct view {
    const check_run *run;
    int joint;
    check_joint_pose *pose;
    vec ea[3], eb[3], d;
    vec arm_a, arm_b, arm_ab; /* pa - xa, pb - xb, pa - xb */
    double reach;
    bool flat;
} view;

/* What a kind constrains, in 2D and 3D, and the coordinates that it leaves free. */
enum {
    ALONG = 1,
    ACROSS = 2,
    TILT = 4,
    SQUARE = 8,
    ABOUT = 16,
    SCREW = 32,
    GEAR = 64,
    LENGTH = 128,
    ROPE = 256,
    SOFT = 512,
    POINT = ALONG | ACROSS
};

static const struct {
    int flat, full;
    bool slides, turns, two_points;
} kinds[CHECK_JOINT_KINDS] = {
    [CHECK_BALL] = { 0, POINT, false, false, false },
    [CHECK_FIXED_JOINT] = { POINT | ABOUT, POINT | TILT | ABOUT, false, false, false },
    [CHECK_REVOLUTE] = { POINT, POINT | TILT, false, true, false },
    [CHECK_PRISMATIC] = { ACROSS | ABOUT, ACROSS | TILT | ABOUT, true, false, false },
    [CHECK_CYLINDRICAL] = { 0, ACROSS | TILT, true, true, false },
    [CHECK_UNIVERSAL] = { 0, POINT | SQUARE, false, false, false },
    [CHECK_PLANAR] = { 0, ALONG | TILT, false, true, false },
    [CHECK_SCREW] = { 0, ACROSS | TILT | SCREW, true, true, false },
    [CHECK_DISTANCE] = { LENGTH, LENGTH, false, false, true },
    [CHECK_ROPE] = { ROPE, ROPE, false, false, true },
    [CHECK_GEAR] = { GEAR, GEAR, false, false, false },
    [CHECK_SPRING] = { 0, 0, true, false, true },
    [CHECK_TORSION_SPRING] = { 0, 0, false, true, false },
    [CHECK_BUSHING] = { SOFT, SOFT, false, false, false },
};

bool check_has_two_points(const check_run *run, int joint)
{
    return kinds[run->joints.kind[joint]].two_points;
}

bool check_is_link(const check_run *run, int joint)
{
    int kind = run->joints.kind[joint];
    int holds = run->settings.dimension == 2 ? kinds[kind].flat : kinds[kind].full;
    return (holds & ~(GEAR | ROPE | SOFT)) != 0;
}

bool check_has_coordinate(const check_run *run, int joint, bool turn)
{
    int kind = run->joints.kind[joint];
    return turn ? kinds[kind].turns : kinds[kind].slides;
}

/* ---- geometry ------------------------------------------------------------------------------- */

static void axes_of(quat q, quat frame, vec out[3])
{
    static const vec units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < 3; i++)
        out[i] = quat_rotate(q, quat_rotate(frame, units[i]));
}

static view look(const check_run *run, int joint, check_joint_pose *pose)
{
    const check_joints *j = &run->joints;
    view v = { .run = run, .joint = joint, .pose = pose, .flat = run->settings.dimension == 2 };
    v.arm_a = quat_rotate(pose->q[0], j->anchor_a[joint]);
    v.arm_b = quat_rotate(pose->q[1], j->anchor_b[joint]);
    vec pa = vec_add(pose->x[0], 1, v.arm_a), pb = vec_add(pose->x[1], 1, v.arm_b);
    v.d = vec_add(pa, -1, pb);
    v.arm_a = vec_add(pa, -1, pose->x[0]);
    v.arm_b = vec_add(pb, -1, pose->x[1]);
    v.arm_ab = vec_add(pa, -1, pose->x[1]);
    axes_of(pose->q[0], j->frame_a[joint], v.ea);
    axes_of(pose->q[1], j->frame_b[joint], v.eb);
    v.reach = vec_norm(pose->x[0]) + vec_norm(pose->x[1]) + vec_norm(j->anchor_a[joint]) +
              vec_norm(j->anchor_b[joint]);
    return v;
}

/* The angle from b's frame to a's about the axis, nearest to the one counted so far. Where the axes
 * are at right angles, as those of a universal joint, there is none, and rounding makes one up. */
static double angle_of(const view *v)
{
    double sine = v->flat ? vec_cross(v->eb[0], v->ea[0]).z : vec_dot(v->ea[1], v->eb[2]);
    double cosine = v->flat ? vec_dot(v->eb[0], v->ea[0]) : vec_dot(v->ea[1], v->eb[1]);
    double angle = atan2(sine, cosine), last = v->pose->turn;
    v->pose->turn_size = fabs(angle) + 1 / fmax(hypot(sine, cosine), 1e-15);
    return angle + 2 * M_PI * round((last - angle) / (2 * M_PI));
}

/* ---- rates ---------------------------------------------------------------------------------- */

static check_joint_row sliding(const view *v, vec e)
{
    return (check_joint_row){
        .e = e, .arm = { v->arm_a, v->arm_ab }, .defect = vec_dot(e, v->d), .reach = v->reach
    };
}

static check_joint_row turning(vec axis, double angle)
{
    return (check_joint_row){ .turn = { axis, axis }, .defect = angle, .reach = 1 + fabs(angle) };
}

static check_joint_row stretching(const view *v)
{
    double length = vec_norm(v->d);
    return (check_joint_row){ .e = length > 0 ? vec_times(1 / length, v->d) : v->eb[0],
                              .arm = { v->arm_a, v->arm_b },
                              .defect = length,
                              .reach = v->reach };
}

static check_joint_row about_axis(const view *v)
{
    check_joint_row row = turning(v->flat ? (vec){ 0, 0, 1 } : v->eb[0], angle_of(v));
    row.reach += v->pose->turn_size;
    return row;
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* s: in which a defect is corrected: by rules 5 the whole step, however it is divided. */
static double whole_of(const check_run *run)
{
    return run->settings.rules >= 5 ? run->settings.time_step : run->settings.h;
}

static check_joint_row held(const view *v, check_joint_row row, check_role role)
{
    row.role = role;
    row.lower = -HUGE_VAL;
    row.upper = HUGE_VAL;
    row.gain = v->run->settings.gamma / whole_of(v->run);
    return row;
}

/* rate + k theta/(c + h k) + r/(h (c + h k)) = 0 */
static check_joint_row softly(const view *v, check_joint_row row, double k, double c)
{
    double h = v->run->settings.h;
    row = held(v, row, CHECK_SOFT);
    row.gain = k / (c + h * k);
    row.eps = 1 / (h * (c + h * k));
    row.stiffness = k;
    row.damping = c;
    return row;
}

/* sign (coordinate - bound) >= 0 */
static check_joint_row stopped(const view *v, check_joint_row row, double bound, double sign)
{
    row = held(v, row, CHECK_LIMIT);
    row.lower = 0;
    row.defect = sign * (row.defect - bound);
    if (row.defect > 0)
        row.gain = v->run->settings.gamma / v->run->settings.h;
    row.reach += fabs(bound);
    row.e = vec_times(sign, row.e);
    row.turn[0] = vec_times(sign, row.turn[0]);
    row.turn[1] = vec_times(sign, row.turn[1]);
    return row;
}

static check_joint_row driven(const view *v, check_joint_row row, const check_drive *drive,
                              bool turn)
{
    double target = turn ? v->pose->turn_target : v->pose->slide_target;
    double h = v->run->settings.h, bound = h * drive->effort[v->joint];
    int motor = drive->motor[v->joint];
    check_gains gains = { .target = target,
                          .effort = drive->effort[v->joint],
                          .stiffness = drive->spring[v->joint],
                          .damping = drive->damper[v->joint],
                          .felt = turn ? v->pose->felt_turn : v->pose->felt_slide };
    row.role = CHECK_MOTOR;
    row.lower = motor == CHECK_FORCE ? h * target : -bound;
    row.upper = motor == CHECK_FORCE ? h * target : bound;
    return check_motor_gains(v->run, row, motor, gains);
}

static check_joint_row dry(const view *v, check_joint_row row, double friction)
{
    row.role = CHECK_DRY;
    row.upper = v->run->settings.h * friction;
    row.lower = -row.upper;
    return row;
}

/* All that acts along a coordinate, whose row is given with the coordinate as its defect. The
 * stiffness and damping of a motor are not those of a spring. */
static int act(const view *v, check_joint_row row, const check_drive *drive, bool turn,
               check_joint_row *out)
{
    int n = 0, i = v->joint;
    bool soft = v->run->settings.rules >= 2, position = soft && drive->motor[i] == CHECK_POSITION;
    double spring = position ? 0 : drive->spring[i];
    double damper = position || (soft && drive->motor[i] == CHECK_VELOCITY) ? 0 : drive->damper[i];
    if (drive->lower[i] > -HUGE_VAL)
        out[n++] = stopped(v, row, drive->lower[i], 1);
    if (drive->upper[i] < HUGE_VAL)
        out[n++] = stopped(v, row, drive->upper[i], -1);
    if (drive->motor[i] != CHECK_NO_MOTOR)
        out[n++] = driven(v, row, drive, turn);
    if (drive->friction[i] > 0)
        out[n++] = dry(v, row, drive->friction[i]);
    if (spring > 0 || damper > 0) {
        row.defect -= drive->rest[i];
        row.reach += fabs(drive->rest[i]);
        out[n++] = softly(v, row, spring, damper);
    }
    return n;
}

/* ---- what kinds hold ------------------------------------------------------------------------ */

static int hold_points(const view *v, int holds, check_joint_row *out)
{
    int n = 0, d = v->run->settings.dimension;
    if (holds & ALONG)
        out[n++] = held(v, sliding(v, v->eb[0]), CHECK_HOLD);
    for (int k = 1; (holds & ACROSS) && k < d; k++)
        out[n++] = held(v, sliding(v, v->eb[k]), CHECK_HOLD);
    return n;
}

static check_joint_row tilting(const view *v, int i, int k)
{
    vec a = v->ea[i], b = v->eb[k];
    return held(v, turning(vec_cross(a, b), vec_dot(a, b)), CHECK_HOLD_TURN);
}

static int hold_turning(const view *v, int holds, check_joint_row *out)
{
    int n = 0;
    if (holds & TILT) {
        out[n++] = tilting(v, 0, 1);
        out[n++] = tilting(v, 0, 2);
    }
    if (holds & SQUARE)
        out[n++] = tilting(v, 0, 0);
    if (holds & ABOUT)
        out[n++] = v->flat ? held(v, about_axis(v), CHECK_HOLD_TURN) : tilting(v, 1, 2);
    return n;
}

static check_joint_row screw(const view *v)
{
    double advance = v->run->joints.pitch[v->joint] / (2 * M_PI), angle = angle_of(v);
    check_joint_row row = sliding(v, v->eb[0]);
    row.turn[0] = row.turn[1] = vec_times(-advance, v->eb[0]);
    row.defect -= advance * angle;
    row.reach += fabs(advance * angle);
    return held(v, row, CHECK_HOLD);
}

static check_joint_row gear(const view *v)
{
    static const vec up = { 0, 0, 1 };
    check_joint_row row = { .defect = v->pose->phase, .reach = fabs(v->pose->phase) };
    row.turn[0] = v->flat ? up : v->ea[0];
    row.turn[1] = vec_times(-v->run->joints.ratio[v->joint], v->flat ? up : v->eb[0]);
    return held(v, row, CHECK_HOLD_TURN);
}

static check_joint_row rod(const view *v)
{
    check_joint_row row = stretching(v);
    row.defect -= v->run->joints.length[v->joint];
    row.reach += v->run->joints.length[v->joint];
    return held(v, row, CHECK_HOLD);
}

/* Sliding against springs, and turning by the rotation vector between the frames. */
static int hold_softly(const view *v, check_joint_row *out)
{
    const check_joints *j = &v->run->joints;
    int n = 0, i = v->joint, d = v->run->settings.dimension;
    double k = j->stiffness[i], c = j->damping[i];
    for (int axis = 0; (k > 0 || c > 0) && axis < d; axis++)
        out[n++] = softly(v, sliding(v, v->eb[axis]), k, c);
    k = j->turn_stiffness[i];
    c = j->turn_damping[i];
    if (!(k > 0 || c > 0))
        return n;
    quat a = quat_product(v->pose->q[0], j->frame_a[i]);
    quat b = quat_product(v->pose->q[1], j->frame_b[i]);
    vec angle = quat_angle(quat_product(quat_conjugate(b), a));
    const double parts[3] = { angle.x, angle.y, angle.z };
    if (v->flat)
        out[n++] = softly(v, about_axis(v), k, c);
    for (int axis = 0; axis < 3 && !v->flat; axis++)
        out[n++] = softly(v, turning(v->eb[axis], parts[axis]), k, c);
    return n;
}

int check_joint_rows(const check_run *run, int joint, check_joint_pose *pose, check_joint_row *rows)
{
    const check_joints *j = &run->joints;
    int kind = j->kind[joint];
    view v = look(run, joint, pose);
    int holds = v.flat ? kinds[kind].flat : kinds[kind].full;
    int n = hold_points(&v, holds, rows);
    n += hold_turning(&v, holds, rows + n);
    if (holds & SCREW)
        rows[n++] = screw(&v);
    if (holds & GEAR)
        rows[n++] = gear(&v);
    if (holds & LENGTH)
        rows[n++] = rod(&v);
    if (holds & ROPE)
        rows[n++] = stopped(&v, stretching(&v), j->length[joint], -1);
    if (holds & SOFT)
        n += hold_softly(&v, rows + n);
    check_joint_row along = kinds[kind].two_points ? stretching(&v) : sliding(&v, v.eb[0]);
    if (kinds[kind].slides)
        n += act(&v, along, &j->slide, false, rows + n);
    if (kinds[kind].turns)
        n += act(&v, about_axis(&v), &j->turn, true, rows + n);
    for (int i = 0; i < n; i++) {
        rows[i].joint = joint;
        rows[i].body[0] = j->body[2 * joint];
        rows[i].body[1] = j->body[2 * joint + 1];
    }
    pose->turn = angle_of(&v);
    pose->slide = along.defect;
    pose->reach = v.reach;
    return n;
}

/* ---- motors ---------------------------------------------------------------------------------- */

/* Gains of motors (docs/joint-methods.md#motors), and the inertia that they feel.
 *
 * Both bodies of the joint are marked, then repeatedly all bodies connected to marked ones by
 * joints that constrain some motion, until nothing is added. A mark that reaches a fixed or driven
 * body is fixed; marks that meet, or are both fixed, form a loop, in which each of the two bodies
 * counts alone. The inertia of a mark is that of its bodies about the axis, or their mass; that of
 * the motor is 1/(1/I_a + 1/I_b), without fixed marks. */

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

/* Pass the mark of one end of a link on to the other, which hangs there `away` from itself. */
static void pass_on(const check_run *run, int from, int to, vec away, spread *s)
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
    run->hang[to] = vec_add(run->hang[from], 1, away);
    s->grown = true;
}

static spread mark_sides(const check_run *run, int joint)
{
    const int32_t *own = run->joints.body + 2 * joint;
    spread s = { { !moves(run, own[0]), !moves(run, own[1]) }, false, true };
    for (int i = 0; i < run->bodies.count; i++)
        run->side[i] = 0;
    if (moves(run, own[0])) {
        run->side[own[0]] = SIDE_A;
        run->hang[own[0]] = (vec){ 0, 0, 0 };
    }
    if (moves(run, own[1])) {
        run->side[own[1]] = SIDE_B;
        run->hang[own[1]] = check_joint_shift(run, joint, 0);
    }
    while (s.grown) {
        s.grown = false;
        for (int k = 0; k < run->joints.count; k++) {
            const int32_t *two = run->joints.body + 2 * k;
            if (!check_joint_in_force(run, k) || !check_is_link(run, k) || are_same_two(two, own))
                continue;
            vec away = check_joint_shift(run, k, 0);
            pass_on(run, two[0], two[1], away, &s);
            pass_on(run, two[1], two[0], vec_times(-1, away), &s);
        }
    }
    s.loop = s.loop || (s.stands[0] && s.stands[1]);
    return s;
}

/* Of a body: moment of inertia about the axis e through p; its mass. */
static void weigh(const check_run *run, int body, vec e, vec p, double out[2])
{
    int row = run->before.row[body];
    vec own = quat_rotate_back(run->before.q[row], e);
    vec arm = vec_add(vec_add(run->before.x[row], 1, run->hang[body]), -1, p);
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
        double whole = whole_of(run);
        row.gain = fast * whole < fabs(row.defect) ? fast / fabs(row.defect) : 1 / whole;
    } else if (soft) {
        double stiffness = k > 0 ? k : c * c / (4 * g.felt);
        double drag = h * stiffness + (c > 0 ? c : 2 * sqrt(k * g.felt));
        row.gain = stiffness < HUGE_VAL ? stiffness / drag : 1 / h;
        row.eps = 1 / (h * drag);
    }
    return row;
}
