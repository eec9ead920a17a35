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
 *               rate + k x/(c + h k) + r/(h (c + h k)) = 0: implicit in time.
 *
 * The second half has the inertia along the coordinate of a motor, and what joints add to it. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "math/vec.h"
#include "world/joint.h"
#include "world/step.h"

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

static const double ROUNDING = 1e-15; /* of a length, or rad: a few units in the last place */

/* ---- laws ----------------------------------------------------------------------------------- */

/* An equality: any impulse, and a share gamma of the defect is corrected in one step. In its
 * substeps the velocity that does so is the same: it would grow as they become shorter. */
static cairn_row held(const pose *s, cairn_row row, cairn_row_role role)
{
    row.role = role;
    row.lower = -INFINITY;
    row.upper = INFINITY;
    row.gain = s->view->gamma / s->view->whole;
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
    row.gain = s->view->gamma / (row.defect > 0 ? s->view->h : s->view->whole);
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
 *     rate = -d min(1/h, sqrt(2 a/|d|)),    d = x - target,   a = BRAKING effort/m,
 * with the whole step for h, however it is divided. */
static const double BRAKING = 0.25; /* of the effort; the rest is available for loads */

static cairn_row position_motor(const pose *s, cairn_row row, const cairn_joint_drive *drive,
                                double felt)
{
    double h = s->view->h, k = drive->stiffness, c = drive->damping;
    row.defect -= drive->target;
    if (k == 0 && c == 0) {
        double a = BRAKING * drive->effort / felt;
        row.gain = fmin(1 / s->view->whole, sqrt(2 * a / fabs(row.defect)));
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

/* Defects that are rounding of the places that they are differences of. What redundant rows make of
 * them could not be told from a motion where nothing moves. */
static void drop_rounding(const cairn_joint *joint, const cairn_joint_view *view, cairn_row *rows,
                          int count)
{
    double size = cairn_norm(joint->anchor[0]) + cairn_norm(joint->anchor[1]) +
                  cairn_norm(view->x[0]) + cairn_norm(view->x[1]);
    for (int i = 0; i < count; i++) {
        double whole = rows[i].role == CAIRN_ROW_HOLD ? size : 1;
        bool held = rows[i].role == CAIRN_ROW_HOLD || rows[i].role == CAIRN_ROW_HOLD_TURN;
        if (held && fabs(rows[i].defect) <= ROUNDING * whole)
            rows[i].defect = 0;
    }
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
    drop_rounding(joint, view, rows, n);
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

/* ---- the inertia that a joint feels ---------------------------------------------------------- */

/* The effective inertia along the coordinate of a motor, with all other joints
 * locked, and the added inertia that keeps joints under high tension stable (last section).
 *
 * For the bodies connected to one side of the joint, with the axis e through its point p on a,
 *     turn   I = sum of e.R J R'e + m |e x (x - p)|^2         slide  I = sum of m
 * The motor feels 1/(1/I_a + 1/I_b). A side that is, or is connected to, the world, a fixed or a
 * driven body does not move and has 1/I = 0. In a screw both coordinates move together, coupled by
 * the pitch.
 *
 * The bodies of a side are those connected by joints that hold some motion, without other joints
 * between the same two bodies. If both sides are held, or are connected to each other, the joint is
 * part of a loop; then only its own two bodies count. The default gains of a motor follow from this
 * inertia. Outside loops it is an upper bound, because joints that are free in
 * reality count as locked; a motor on a free linkage is therefore damped more than critically. */

/* The joints of each body, and a breadth-first search over the bodies of one side. */
typedef struct walk {
    const cairn_world *world;
    int32_t *first, *joint; /* of body i: joint[first[i]] to joint[first[i + 1] - 1]   */
    int32_t *seen;          /* of each body: number of the last search that reached it */
    int32_t *queue;         /* bodies reached, in order                                */
    cairn_image *image;     /* of each body reached: that hangs there                  */
    int number;             /* of the current search, so that `seen` is never cleared  */
} walk;

/* Inertia of a rigid set of bodies along the two coordinates of a joint. */
typedef struct inertia {
    double turn, slide; /* kg m^2, kg */
} inertia;

/* A line in space: unit direction e and a point p, in m. */
typedef struct line {
    cairn_vec3 e, p;
} line;

/* Joints that make two bodies move as one when they are locked. Gears, ropes and bushings do not:
 * they leave or only soften the relative motion. */
static bool is_link(const cairn_world *world, const cairn_joint *j)
{
    const unsigned loose = CAIRN_HOLDS_GEAR | CAIRN_HOLDS_ROPE | CAIRN_HOLDS_SOFTLY;
    const cairn_joint_class *class = cairn_joint_class_of(j->def.kind);
    unsigned holds = world->dimension == 2 ? class->holds_2d : class->holds_3d;
    return j->alive && !j->broken && (holds & ~loose) != 0;
}

/* Whether forces do not move a body: the world (-1), a fixed or a driven body. */
static bool stands(const cairn_world *world, int body)
{
    return body < 0 || world->bodies.motion[body] != CAIRN_MOTION_DYNAMIC;
}

/* ---- the joints of each body ---------------------------------------------------------------- */

/* All arrays are in the scratch of the world and live for one step. */
static cairn_status take_walk(cairn_world *world, walk *w)
{
    cairn_arena *scratch = &world->scratch;
    size_t bodies = (size_t)world->bodies.count, joints = world->joints.count;
    w->world = world;
    w->first = cairn_arena_take(scratch, bodies + 2, sizeof *w->first);
    w->joint = cairn_arena_take(scratch, 2 * joints, sizeof *w->joint);
    w->seen = cairn_arena_take(scratch, bodies, sizeof *w->seen);
    w->queue = cairn_arena_take(scratch, bodies, sizeof *w->queue);
    w->image = cairn_arena_take(scratch, bodies, sizeof *w->image);
    if (!w->first || !w->joint || !w->seen || !w->queue || !w->image)
        return CAIRN_NO_MEMORY;
    memset(w->first, 0, (bodies + 2) * sizeof *w->first);
    memset(w->seen, 0, bodies * sizeof *w->seen);
    return CAIRN_OK;
}

/* Lists of joints by counting sort: count each body's joints one place further on, form prefix
 * sums, then fill. In the end first[i + 1] is where the list of body i ends. */
static void list_links(walk *w)
{
    const cairn_world *world = w->world;
    int32_t *first = w->first + 1;
    for (size_t k = 0; k < 2 * world->joints.count; k++)
        if (is_link(world, &world->joints.items[k / 2]) &&
            world->joints.items[k / 2].body[k % 2] >= 0)
            first[world->joints.items[k / 2].body[k % 2] + 1]++;
    for (int i = 0; i < world->bodies.count; i++)
        first[i + 1] += first[i];
    for (size_t k = 0; k < 2 * world->joints.count; k++)
        if (is_link(world, &world->joints.items[k / 2]) &&
            world->joints.items[k / 2].body[k % 2] >= 0)
            w->joint[first[world->joints.items[k / 2].body[k % 2]]++] = (int32_t)(k / 2);
}

/* ---- what hangs on a side ------------------------------------------------------------------- */

/* Parallel axis theorem: e.R J R'e + m |e x (x - p)|^2. */
static void add_body(const walk *w, int i, line axis, inertia *sum)
{
    const cairn_body_store *b = &w->world->bodies;
    cairn_vec3 e = cairn_rotate_back(b->q[i], axis.e), x = b->x[i];
    if (cairn_image_is_other(w->image[i]))
        x = cairn_add(x, cairn_lattice_shift(&w->world->periodic.cell, w->image[i]));
    cairn_vec3 arm = cairn_cross(axis.e, cairn_sub(x, axis.p));
    sum->turn += cairn_dot(e, cairn_times(b->inertia[i], e)) + b->mass[i] * cairn_dot(arm, arm);
    sum->slide += b->mass[i];
}

static bool same_pair(const cairn_joint *j, const cairn_joint *k)
{
    return (j->body[0] == k->body[0] && j->body[1] == k->body[1]) ||
           (j->body[0] == k->body[1] && j->body[1] == k->body[0]);
}

/* Results of gather that are not a number of bodies. */
enum { STANDS = 0, LOOP = -1 };

/* The image of the other body of a link that hangs on an image of one of its bodies. */
static cairn_image image_beyond(const walk *w, const cairn_joint *link, int body)
{
    const cairn_image none = { { 0, 0, 0 } };
    bool from_a = link->body[0] == body;
    return cairn_image_from(w->image[body], from_a ? link->image : none,
                            from_a ? none : link->image);
}

/* Collects the bodies connected to one side of the joint in the queue. Returns how many, STANDS if
 * one of them is held, or LOOP if the other side is reached. */
static int gather(walk *w, const cairn_joint *joint, int side)
{
    const cairn_world *world = w->world;
    bool standing = stands(world, joint->body[side]);
    int count = 0;
    w->number++;
    if (!stands(world, joint->body[side]))
        w->image[joint->body[side]] = side ? joint->image : (cairn_image){ { 0, 0, 0 } };
    if (!standing)
        w->seen[w->queue[count++] = joint->body[side]] = w->number;
    for (int next = 0; next < count; next++) {
        int body = w->queue[next];
        for (int k = w->first[body]; k < w->first[body + 1]; k++) {
            const cairn_joint *link = &world->joints.items[w->joint[k]];
            int other = link->body[link->body[0] == body];
            if (same_pair(link, joint))
                continue;
            if (stands(world, other))
                standing = true;
            else if (other == joint->body[!side])
                return LOOP;
            else if (w->seen[other] != w->number) {
                w->seen[w->queue[count++] = other] = w->number;
                w->image[other] = image_beyond(w, link, body);
            }
        }
    }
    return standing ? STANDS : count;
}

/* I of the bodies connected to a side; of the body of the joint alone if the side is held or in a
 * loop. */
static inertia of_side(walk *w, const cairn_joint *joint, int side, line axis)
{
    inertia sum = { 0, 0 };
    int count = gather(w, joint, side);
    for (int k = 0; k < count; k++)
        add_body(w, w->queue[k], axis, &sum);
    if (count <= 0 && !stands(w->world, joint->body[side]))
        add_body(w, joint->body[side], axis, &sum);
    return sum;
}

/* The joint's axis and point at the start of the step. */
static line axis_of(const cairn_world *world, const cairn_joint *joint)
{
    const cairn_body_store *b = &world->bodies;
    int a = joint->body[0], other = joint->body[1];
    cairn_quat q = other >= 0 ? cairn_quat_multiply(b->q[other], joint->frame[1]) : joint->frame[1];
    line axis = { cairn_rotate(q, cairn_vec(1, 0, 0)),
                  cairn_add(b->x[a], cairn_rotate(b->q[a], joint->anchor[0])) };
    if (world->dimension == 2)
        axis.e = cairn_vec(0, 0, 1);
    return axis;
}

/* Both sides are searched first, since whether the joint is in a loop depends on both. For a screw
 * with advance a = pitch/(2 pi), slide = a turn, so I_turn + a^2 I_slide is the inertia per rad,
 * and that over a^2 per m. */
static void feel(walk *w, cairn_joint *joint)
{
    line axis = axis_of(w->world, joint);
    double turn = 0, slide = 0, advance = joint->def.pitch / (2 * M_PI);
    int hanging[2] = { gather(w, joint, 0), gather(w, joint, 1) };
    bool loop = hanging[0] <= 0 && hanging[1] <= 0;
    for (int side = 0; side < 2; side++) { /* 1/I_a + 1/I_b */
        if (stands(w->world, joint->body[side]) || (!loop && hanging[side] == STANDS))
            continue;
        inertia sum = of_side(w, joint, side, axis);
        turn += 1 / sum.turn;
        slide += 1 / sum.slide;
    }
    turn = 1 / turn;
    slide = 1 / slide;
    if (joint->def.kind == CAIRN_JOINT_SCREW) {
        turn += slide * advance * advance;
        slide = turn / (advance * advance);
    }
    joint->felt_turn = turn;
    joint->felt_slide = slide;
}

/* ---- all joints ----------------------------------------------------------------------------- */

/* Whether the stiffness or the damping of a position motor is to be derived from the inertia. */
static bool wants(const cairn_joint_drive *d)
{
    bool given = d->stiffness > 0 && d->damping > 0;
    return strcmp(d->motor, "position") == 0 && !given;
}

static bool is_wanted(const cairn_joint *j)
{
    return j->alive && !j->broken && !j->elsewhere && (wants(&j->def.turn) || wants(&j->def.slide));
}

/* Most worlds have no such motor; they pay one pass over the joints. */
cairn_status cairn_joints_feel(cairn_world *world)
{
    bool wanted = false;
    walk w = { .number = 0 };
    for (size_t k = 0; k < world->joints.count; k++)
        wanted = wanted || is_wanted(&world->joints.items[k]);
    if (!wanted)
        return CAIRN_OK;
    TRY(take_walk(world, &w));
    list_links(&w);
    for (size_t k = 0; k < world->joints.count; k++)
        if (is_wanted(&world->joints.items[k]))
            feel(&w, &world->joints.items[k]);
    return CAIRN_OK;
}

/* ==== joints under tension ==================================================================== */

/* Stabilises bodies under heavily loaded joints when the time step is long.
 *
 * The force f of a joint at the arm p of a body has the torque p x f. When the body rotates by phi,
 * its arms rotate with it, and the torque changes by -K phi,
 *     K = sum over its joints of (p.f) I - (p f' + f p')/2          (2D: p.f).
 * Rows take their directions from the start of a step, so this stiffness acts explicitly, which is
 * stable only for h^2 K < 4 J. A link that carries a thousand times its weight is far beyond this.
 * So the part above 2 J is treated implicitly, with the forces of the step before:
 *     (J + C) w+ = J w_free + H'r,    C = max(0, h^2 K^ - 2 J)
 * in principal axes, where K^ >= K is a diagonal matrix that bounds K: see excess. The stability
 * limit 2 (J + C) + 2 J > h^2 K then always holds, and C = 0 for motion that the step resolves. The
 * energy that C removes is counted as numerical loss. */

/* Force on a body and its arm, in the body's frame. */
typedef struct pull {
    cairn_vec3 arm, force;
} pull;

/* The reaction of the last step on the body of one side. Joints with one shared point act on both
 * bodies at the point of a, as their rows do. */
static pull pull_of(const cairn_world *world, const cairn_joint *joint, int side)
{
    const cairn_body_store *b = &world->bodies;
    int a = joint->body[0], body = joint->body[side];
    pull p = { .arm = joint->anchor[side] };
    bool shared = !cairn_joint_class_of(joint->def.kind)->two_points;
    if (side && shared) { /* the force acts on both at the point of a */
        cairn_vec3 point = cairn_add(b->x[a], cairn_rotate(b->q[a], joint->anchor[0]));
        cairn_vec3 arm = cairn_sub(point, b->x[body]);
        if (cairn_image_is_other(joint->image))
            arm = cairn_sub(arm, cairn_joint_shift(world, joint, 0));
        p.arm = cairn_rotate_back(b->q[body], arm);
    }
    p.force = cairn_rotate_back(b->q[body], cairn_scale(side ? -1 : 1, joint->force));
    return p;
}

/* Adds the part of one joint to K, stored as its upper triangle: xx, yy, zz, yz, xz, xy. */
static void add_stiffness(pull p, double K[6])
{
    cairn_vec3 a = p.arm, f = p.force;
    double all = cairn_dot(a, f);
    K[0] += all - a.x * f.x;
    K[1] += all - a.y * f.y;
    K[2] += all - a.z * f.z;
    K[3] -= 0.5 * (a.y * f.z + a.z * f.y);
    K[4] -= 0.5 * (a.x * f.z + a.z * f.x);
    K[5] -= 0.5 * (a.x * f.y + a.y * f.x);
}

/* C of a body, with K^_ii = K_ii + sum over j != i of |K_ij|. K^ - K is diagonally dominant, so K^
 * >= K. */
static cairn_vec3 excess(const double K[6], cairn_vec3 J, double h)
{
    double x = K[0] + fabs(K[5]) + fabs(K[4]), y = K[1] + fabs(K[5]) + fabs(K[3]);
    double z = K[2] + fabs(K[4]) + fabs(K[3]);
    return cairn_vec(fmax(0, h * h * x - 2 * J.x), fmax(0, h * h * y - 2 * J.y),
                     fmax(0, h * h * z - 2 * J.z));
}

/* Replaces J by J + C for one axis: w_free becomes J w_free/(J + C). */
static void thicken(double J, double C, double *mass_inverse, double *omega)
{
    if (J > 0 && C > 0) {
        *mass_inverse = 1 / (J + C);
        *omega *= J / (J + C);
    }
}

/* Angular components follow the linear ones in a block: entry 2 in 2D, 3 to 5 in 3D. */
static void apply(const cairn_step *step, int i, cairn_vec3 C, cairn_posed *posed)
{
    cairn_vec3 J = step->world->bodies.inertia[i];
    size_t first = (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
    double *mass = posed->mass_inverse + first, *v = posed->v_free + first;
    if (step->world->dimension == 2) {
        thicken(J.z, C.z, mass + 2, v + 2);
        return;
    }
    thicken(J.x, C.x, mass + 3, v + 3);
    thicken(J.y, C.y, mass + 4, v + 4);
    thicken(J.z, C.z, mass + 5, v + 5);
}

/* Computes C of every body; joints->added stays NULL if no joint has rows. */
cairn_status cairn_joints_tension(const cairn_step *step, cairn_mechanism *joints)
{
    cairn_world *world = step->world;
    size_t bodies = (size_t)world->bodies.count;
    joints->added = NULL;
    if (joints->blocks == 0)
        return CAIRN_OK;
    double *K = cairn_arena_doubles(&world->scratch, 6 * bodies);
    joints->added = (cairn_vec3 *)cairn_arena_doubles(&world->scratch, 3 * bodies);
    if (!K || !joints->added)
        return CAIRN_NO_MEMORY;
    memset(K, 0, 6 * bodies * sizeof *K);
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        for (int side = 0; side < 2 && joint->rows > 0; side++)
            if (joint->body[side] >= 0)
                add_stiffness(pull_of(world, joint, side), K + 6 * (size_t)joint->body[side]);
    }
    for (size_t i = (size_t)step->held; i < bodies; i++)
        joints->added[i] = excess(K + 6 * i, world->bodies.inertia[i], step->h);
    return CAIRN_OK;
}

/* Puts C into the posed problem. */
void cairn_joints_steady(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed)
{
    for (int i = 0; joints->added && i < step->world->bodies.count; i++)
        if (cairn_step_block(step, i) >= 0)
            apply(step, i, joints->added[i], posed);
}

/* The energy that C removes: C w+.wm, where wm is the mean of the old and the new angular
 * velocity. */
void cairn_joints_steady_loss(const cairn_step *step, const cairn_moves *moves,
                              cairn_energy *energy)
{
    const cairn_body_store *b = &step->world->bodies;
    const cairn_mechanism *joints = moves->joints;
    const uint16_t *part = step->world->exchange.part;
    for (int i = 0; joints->added && i < b->count; i++) {
        if (!cairn_world_moves(step->world, i))
            continue;
        size_t first = (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
        const double *v = moves->answer->v + first;
        bool flat = step->world->dimension == 2;
        cairn_vec3 w = flat ? cairn_vec(0, 0, v[2]) : cairn_vec(v[3], v[4], v[5]);
        cairn_vec3 old = cairn_turning_before(step, moves->motion, joints, i);
        cairn_vec3 mean = cairn_scale(0.5, cairn_add(w, old));
        energy[part ? part[i - step->held] : 0].numerical_loss +=
            cairn_dot(cairn_times(joints->added[i], w), mean);
    }
}
