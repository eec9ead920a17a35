/* joint_rows.c - the rows of a joint: the constraints that it holds, and the drives along its free
 * coordinates.
 *
 * With pa, pb the joint's points and ea, eb its frames on the two bodies, d = pa - pb:
 *     sliding along eb_i        theta = eb_i.d            its rate acts on b at the point pa
 *     axes parallel             theta = ea_0.eb_k, k = 1, 2    row (ea_0 x eb_k).(wa - wb)
 *     no turning about the axis theta = ea_1.eb_2              row (ea_1 x eb_2).(wa - wb)
 *     axes at right angles      theta = ea_0.eb_0              row (ea_0 x eb_0).(wa - wb)
 *     distance                  theta = |d| - length           row (d/|d|).(rate of d)
 * Each row is the exact derivative of its theta. With x the coordinate of a row, the laws are:
 *     held      rate + gamma theta/h = 0
 *     limit     rate + gamma gap/h >= 0, impulse >= 0
 *     motor     rate = target, or towards a position, |impulse| <= h effort: see below
 *     friction  rate = 0, |impulse| <= h bound                          [ST96] (30)-(32)
 *     spring    r = -h k (x + h rate) - h c rate, that is
 *               rate + k x/(c + h k) + r/(h (c + h k)) = 0: implicit in time. */
#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "world/joint.h"

/* A joint in a pose of its bodies; everything in the world frame. */
typedef struct pose {
    const cairn_joint *joint;
    const cairn_joint_view *view;
    cairn_vec3 point[2];             /* m: pa, pb                                             */
    cairn_vec3 ea[3], eb[3];         /* axes of the joint frames; the first is the joint axis */
    cairn_vec3 d;                    /* m: pa - pb                                            */
    cairn_vec3 arm_a, arm_b, arm_ab; /* m: pa from xa, pb from xb, pa from xb                 */
} pose;

static void frame_axes(cairn_quat q, cairn_quat frame, cairn_vec3 out[3])
{
    cairn_quat all = cairn_quat_multiply(q, frame);
    out[0] = cairn_rotate(all, cairn_vec(1, 0, 0));
    out[1] = cairn_rotate(all, cairn_vec(0, 1, 0));
    out[2] = cairn_rotate(all, cairn_vec(0, 0, 1));
}

static pose pose_of(const cairn_joint *joint, const cairn_joint_view *view)
{
    pose s = { .joint = joint, .view = view };
    for (int side = 0; side < 2; side++)
        s.point[side] = cairn_add(view->x[side], cairn_rotate(view->q[side], joint->anchor[side]));
    frame_axes(view->q[0], joint->frame[0], s.ea);
    frame_axes(view->q[1], joint->frame[1], s.eb);
    s.d = cairn_sub(s.point[0], s.point[1]);
    s.arm_a = cairn_sub(s.point[0], view->x[0]);
    s.arm_b = cairn_sub(s.point[1], view->x[1]);
    s.arm_ab = cairn_sub(s.point[0], view->x[1]);
    return s;
}

/* ---- directions ----------------------------------------------------------------------------- */

/* Sliding along an axis e of body b. Since e turns with b, the derivative of e.d has the arm pa -
 * xb on b, not pb - xb. */
static cairn_row sliding(const pose *s, cairn_vec3 e)
{
    return (
        cairn_row){ .e = e, .arm_a = s->arm_a, .arm_b = s->arm_ab, .defect = cairn_dot(e, s->d) };
}

/* Relative rotation about an axis. */
static cairn_row turning(cairn_vec3 axis, double defect)
{
    return (cairn_row){ .turn_a = axis, .turn_b = axis, .defect = defect };
}

/* Derivative of a.c with a fixed to body a and c to body b. */
static cairn_row tilting(cairn_vec3 a, cairn_vec3 c)
{
    return turning(cairn_cross(a, c), cairn_dot(a, c));
}

/* The distance of the two points. At distance 0 its gradient is undefined, and any unit vector will
 * do. */
static cairn_row stretching(const pose *s)
{
    double length = cairn_norm(s->d);
    cairn_vec3 e = length > 0 ? cairn_scale(1 / length, s->d) : s->eb[0];
    return (cairn_row){ .e = e, .arm_a = s->arm_a, .arm_b = s->arm_b, .defect = length };
}

/* The axis is taken from b, as are the directions of sliding. */
static cairn_vec3 turning_axis(const pose *s)
{
    return s->view->dimension == 2 ? cairn_vec(0, 0, 1) : s->eb[0];
}

/* The angle about the axis. atan2 gives it up to full turns; the one nearest to the last angle is
 * chosen, so that turns are counted as long as a step turns by less than pi. */
static double turned(const pose *s)
{
    bool flat = s->view->dimension == 2;
    double sine = flat ? cairn_cross(s->eb[0], s->ea[0]).z : cairn_dot(s->ea[1], s->eb[2]);
    double cosine = flat ? cairn_dot(s->eb[0], s->ea[0]) : cairn_dot(s->ea[1], s->eb[1]);
    double last = s->joint->turn;
    return last + remainder(atan2(sine, cosine) - last, 2 * M_PI);
}

/* The free translation: the distance of two points, or the position along the axis. */
static double slid(const pose *s)
{
    bool two = cairn_joint_class_of(s->joint->def.kind)->two_points;
    return two ? cairn_norm(s->d) : cairn_dot(s->eb[0], s->d);
}

void cairn_joint_coordinates(const cairn_joint *joint, const cairn_joint_view *view, double *turn,
                             double *slide)
{
    pose s = pose_of(joint, view);
    *turn = turned(&s);
    *slide = slid(&s);
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* An equality: any impulse, and a share gamma of the defect is corrected in one step. */
static cairn_row held(const pose *s, cairn_row row, cairn_row_role role)
{
    row.role = role;
    row.lower = -INFINITY;
    row.upper = INFINITY;
    row.gain = s->view->gamma / s->view->h;
    return row;
}

/* Implicit spring and damper; see the top of the file. The compliance makes the row soft. */
static cairn_row spring(const pose *s, cairn_row row, double stiffness, double damping)
{
    double h = s->view->h, drag = damping + h * stiffness;
    row.role = CAIRN_ROW_SPRING;
    row.lower = -INFINITY;
    row.upper = INFINITY;
    row.gain = stiffness / drag;
    row.compliance = 1 / (h * drag);
    row.stiffness = stiffness;
    row.damping = damping;
    return row;
}

/* The same row with the opposite sign: an upper limit becomes a lower one. */
static cairn_row reversed(cairn_row row)
{
    row.e = cairn_scale(-1, row.e);
    row.turn_a = cairn_scale(-1, row.turn_a);
    row.turn_b = cairn_scale(-1, row.turn_b);
    row.defect = -row.defect;
    return row;
}

/* A lower limit of the coordinate: the gap is coordinate - bound. The row acts even before the
 * limit is reached, as a candidate contact does. */
static cairn_row limited(const pose *s, cairn_row row, double bound)
{
    row.role = CAIRN_ROW_LIMIT;
    row.defect -= bound;
    row.lower = 0;
    row.upper = INFINITY;
    row.gain = s->view->gamma / s->view->h;
    return row;
}

/* Efforts from CAIRN_UNBOUNDED on count as infinite, so that h does not turn them into a bound. */
static double impulse_bound(double effort, double h)
{
    return effort >= CAIRN_UNBOUNDED ? INFINITY : h * effort;
}

/* ---- motors --------------------------------------------------------------------------------- */

/* A position motor with stiffness k and damping c moves to x = target; `felt` is the inertia m that
 * it accelerates:
 *     r = -h k (x+ - target) - h c rate,    |r| <= h effort,
 * implicit in time like a spring. If only one of k and c is given, the other makes the motor
 * critically damped, c = 2 sqrt(k m). With neither, the motor is stiff and moves at the speed from
 * which an effort of BRAKING can stop m at the target:
 *     rate = -d min(1/h, sqrt(2 a/|d|)),    d = x - target,   a = BRAKING effort/m. */
static const double BRAKING = 0.25; /* of the effort; the rest is available for loads */

static cairn_row position_motor(const pose *s, cairn_row row, const cairn_joint_drive *drive,
                                double felt)
{
    double h = s->view->h, k = drive->stiffness, c = drive->damping;
    row.defect -= drive->target;
    if (k == 0 && c == 0) {
        double a = BRAKING * drive->effort / felt;
        row.gain = fmin(1 / h, sqrt(2 * a / fabs(row.defect)));
        return row;
    }
    if (c == 0)
        c = 2 * sqrt(k * felt);
    else if (k == 0)
        k = c * c / (4 * felt);
    /* k/(c + h k) tends to 1/h as k grows */
    row.gain = isinf(k) ? 1 / h : k / (c + h * k);
    row.compliance = 1 / (h * (c + h * k));
    return row;
}

/* A velocity motor: rate = target, or, with a damping c, softly: r = h c (target - rate). */
static cairn_row velocity_motor(const pose *s, cairn_row row, const cairn_joint_drive *drive)
{
    row.bias = -drive->target;
    row.compliance = drive->damping > 0 ? 1 / (s->view->h * drive->damping) : 0;
    return row;
}

static bool has_motor(const cairn_joint_drive *drive, const char *name)
{
    return strcmp(drive->motor, name) == 0;
}

/* A force motor has equal bounds: its impulse is known, whatever the rate. */
static cairn_row motor(const pose *s, cairn_row row, const cairn_joint_drive *drive, double felt)
{
    double h = s->view->h, bound = impulse_bound(drive->effort, h);
    row.role = CAIRN_ROW_MOTOR;
    row.lower = -bound;
    row.upper = bound;
    if (has_motor(drive, "velocity"))
        return velocity_motor(s, row, drive);
    if (has_motor(drive, "position"))
        return position_motor(s, row, drive, felt);
    row.lower = row.upper = h * drive->target;
    return row;
}

/* ---- drives --------------------------------------------------------------------------------- */

/* [ST96] (30)-(32): the row sticks (rate = 0) as long as the bound is not reached. */
static cairn_row dry_friction(const pose *s, cairn_row row, double bound)
{
    row.role = CAIRN_ROW_FRICTION;
    row.upper = impulse_bound(bound, s->view->h);
    row.lower = -row.upper;
    return row;
}

/* Everything that acts along one free coordinate; `row` has the coordinate as its defect. Stiffness
 * and damping that do not belong to a motor are a spring. */
static int drive_rows(const pose *s, cairn_row row, const cairn_joint_drive *drive, double felt,
                      cairn_row *out)
{
    bool position = has_motor(drive, "position");
    double stiffness = position ? 0 : drive->stiffness;
    double damping = position || has_motor(drive, "velocity") ? 0 : drive->damping;
    int n = 0;
    if (drive->lower > -CAIRN_UNBOUNDED)
        out[n++] = limited(s, row, drive->lower);
    if (drive->upper < CAIRN_UNBOUNDED)
        out[n++] = limited(s, reversed(row), -drive->upper);
    if (!has_motor(drive, "none"))
        out[n++] = motor(s, row, drive, felt);
    if (drive->friction > 0)
        out[n++] = dry_friction(s, row, drive->friction);
    if (stiffness > 0 || damping > 0) {
        out[n] = spring(s, row, stiffness, damping);
        out[n++].defect -= drive->rest;
    }
    return n;
}

/* ---- what kinds hold ------------------------------------------------------------------------ */

/* Rows against translation, along the axis first. In 2D only one direction lies across it. */
static int hold_sliding(const pose *s, unsigned holds, cairn_row *out)
{
    int n = 0;
    if (holds & CAIRN_HOLDS_ALONG)
        out[n++] = held(s, sliding(s, s->eb[0]), CAIRN_ROW_HOLD);
    for (int k = 1; (holds & CAIRN_HOLDS_ACROSS) && k < s->view->dimension; k++)
        out[n++] = held(s, sliding(s, s->eb[k]), CAIRN_ROW_HOLD);
    return n;
}

/* Rows against rotation. The defect is the sine of the angle, which equals the angle to third
 * order. */
static int hold_turning(const pose *s, unsigned holds, cairn_row *out)
{
    bool flat = s->view->dimension == 2;
    int n = 0;
    for (int k = 1; (holds & CAIRN_HOLDS_TILT) && k < 3; k++)
        out[n++] = held(s, tilting(s->ea[0], s->eb[k]), CAIRN_ROW_HOLD_TURN);
    if (holds & CAIRN_HOLDS_CROSS)
        out[n++] = held(s, tilting(s->ea[0], s->eb[0]), CAIRN_ROW_HOLD_TURN);
    if (holds & CAIRN_HOLDS_ABOUT) {
        cairn_row row = flat ? turning(cairn_vec(0, 0, 1), turned(s)) : tilting(s->ea[1], s->eb[2]);
        out[n++] = held(s, row, CAIRN_ROW_HOLD_TURN);
    }
    return n;
}

/* Rows that couple several motions. A gear holds its accumulated slip `phase`, because the angles
 * of two bodies about different axes are not a function of the pose alone. */
static int hold_coupling(const pose *s, unsigned holds, cairn_row *out)
{
    const cairn_joint_def *def = &s->joint->def;
    int n = 0;
    if (holds & CAIRN_HOLDS_SCREW) {
        double advance = def->pitch / (2 * M_PI);
        cairn_row row = sliding(s, s->eb[0]);
        row.turn_a = row.turn_b = cairn_scale(-advance, s->eb[0]);
        row.defect -= advance * turned(s);
        out[n++] = held(s, row, CAIRN_ROW_HOLD);
    }
    if (holds & CAIRN_HOLDS_GEAR) {
        bool flat = s->view->dimension == 2;
        cairn_row row = { .defect = s->joint->phase };
        row.turn_a = flat ? cairn_vec(0, 0, 1) : s->ea[0];
        row.turn_b = cairn_scale(-def->ratio, flat ? cairn_vec(0, 0, 1) : s->eb[0]);
        out[n++] = held(s, row, CAIRN_ROW_HOLD_TURN);
    }
    return n;
}

/* A rope is a limit from above; a rod is an equality. */
static int hold_length(const pose *s, unsigned holds, cairn_row *out)
{
    cairn_row row = stretching(s);
    if (holds & CAIRN_HOLDS_ROPE) {
        out[0] = limited(s, reversed(row), -s->joint->def.length);
        return 1;
    }
    if (!(holds & CAIRN_HOLDS_LENGTH))
        return 0;
    row.defect -= s->joint->def.length;
    out[0] = held(s, row, CAIRN_ROW_HOLD);
    return 1;
}

/* Springs and dampers against all relative motion; for rotation, along the components of the
 * rotation vector between the two frames, log(qb^-1 qa). */
static int hold_softly(const pose *s, cairn_row *out)
{
    const cairn_joint_def *def = &s->joint->def;
    bool flat = s->view->dimension == 2;
    int n = 0;
    if (def->stiffness > 0 || def->damping > 0)
        for (int k = 0; k < s->view->dimension; k++)
            out[n++] = spring(s, sliding(s, s->eb[k]), def->stiffness, def->damping);
    if (!(def->turn_stiffness > 0 || def->turn_damping > 0))
        return n;
    cairn_quat a = cairn_quat_multiply(s->view->q[0], s->joint->frame[0]);
    cairn_quat b = cairn_quat_multiply(s->view->q[1], s->joint->frame[1]);
    cairn_vec3 phi = cairn_quat_log(cairn_quat_multiply(cairn_quat_conjugate(b), a));
    const double angle[3] = { phi.x, phi.y, phi.z };
    for (int k = 0; !flat && k < 3; k++)
        out[n++] = spring(s, turning(s->eb[k], angle[k]), def->turn_stiffness, def->turn_damping);
    if (flat)
        out[n++] = spring(s, turning(cairn_vec(0, 0, 1), turned(s)), def->turn_stiffness,
                          def->turn_damping);
    return n;
}

/* Held rows come first, then the drives: slide before turn. The warm start and the gear's slip rely
 * on the order being the same in every step. */
int cairn_joint_rows(const cairn_joint *joint, const cairn_joint_view *view, cairn_row *rows)
{
    const cairn_joint_class *class = cairn_joint_class_of(joint->def.kind);
    unsigned holds = view->dimension == 2 ? class->holds_2d : class->holds_3d;
    pose s = pose_of(joint, view);
    int n = hold_sliding(&s, holds, rows);
    n += hold_turning(&s, holds, rows + n);
    n += hold_coupling(&s, holds, rows + n);
    n += hold_length(&s, holds, rows + n);
    if (holds & CAIRN_HOLDS_SOFTLY)
        n += hold_softly(&s, rows + n);
    if (class->slides) {
        cairn_row along = class->two_points ? stretching(&s) : sliding(&s, s.eb[0]);
        n += drive_rows(&s, along, &joint->def.slide, joint->felt_slide, rows + n);
    }
    if (class->turns)
        n += drive_rows(&s, turning(turning_axis(&s), turned(&s)), &joint->def.turn,
                        joint->felt_turn, rows + n);
    return n;
}
