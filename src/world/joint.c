/* joint.c - the kinds of joints by name; creating, checking and removing joints. Their rows are in
 * joint_rows.c, and joint_stage.c adds the rows to a step. The formulas are in
 * docs/joint-methods.md. */
#include "world/joint.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "world/world.h"

/* ---- tables --------------------------------------------------------------------------------- */

const char *cairn_motor_name(int kind)
{
    static const char *const names[CAIRN_MOTOR_COUNT] = { "none", "velocity", "position", "force" };
    return kind >= 0 && kind < CAIRN_MOTOR_COUNT ? names[kind] : NULL;
}

cairn_joint_drive cairn_joint_drive_default(void)
{
    return (cairn_joint_drive){
        .lower = -INFINITY, .upper = INFINITY, .motor = "none", .effort = INFINITY
    };
}

cairn_joint_def cairn_joint_def_default(void)
{
    return (cairn_joint_def){ .kind = CAIRN_JOINT_BALL,
                              .a = cairn_body_none(),
                              .b = cairn_body_none(),
                              .axis = { 0, 0, 1 },
                              .ratio = 1,
                              .turn = cairn_joint_drive_default(),
                              .slide = cairn_joint_drive_default() };
}

cairn_body_id cairn_body_none(void)
{
    return (cairn_body_id){ CAIRN_NO_BODY };
}

/* The two functions of this form let the option tables set defaults without knowing the struct. */
static void set_drive_default(void *drive)
{
    *(cairn_joint_drive *)drive = cairn_joint_drive_default();
}

static void set_default(void *def)
{
    *(cairn_joint_def *)def = cairn_joint_def_default();
}

/* Abbreviations for the option tables below: a range without bounds, and optional numbers. */
#define ANY    -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED
#define REAL   CAIRN_OPTION_REAL, false
#define VECTOR CAIRN_OPTION_VECTOR, false

static const cairn_option drive_options[] = {
    { "lower", REAL, offsetof(cairn_joint_drive, lower), -INFINITY, CAIRN_UNBOUNDED, "m or rad",
      "lower limit of the coordinate", NULL },
    { "upper", REAL, offsetof(cairn_joint_drive, upper), -CAIRN_UNBOUNDED, INFINITY, "m or rad",
      "upper limit of the coordinate", NULL },
    { "friction", REAL, offsetof(cairn_joint_drive, friction), 0, CAIRN_UNBOUNDED, "N or N m",
      "bound of dry friction", NULL },
    { "motor", CAIRN_OPTION_NAME, false, offsetof(cairn_joint_drive, motor), 0, 0, "",
      "what the motor keeps to", cairn_motor_name },
    { "target", CAIRN_OPTION_VARYING, false, offsetof(cairn_joint_drive, target), ANY, "",
      "speed, coordinate or effort that the motor aims at", NULL },
    { "effort", REAL, offsetof(cairn_joint_drive, effort), 0, INFINITY, "N or N m",
      "most that the motor can give", NULL },
    { "stiffness", REAL, offsetof(cairn_joint_drive, stiffness), 0, 1e300, "N/m or N m/rad",
      "of a spring, or of a position motor (0: from damping or effort)", NULL },
    { "damping", REAL, offsetof(cairn_joint_drive, damping), 0, 1e300, "N s/m or N m s/rad",
      "of a damper, or of a position (0: critical) or velocity motor (0: stiff)", NULL },
    { "rest", REAL, offsetof(cairn_joint_drive, rest), ANY, "m or rad",
      "coordinate at which the spring is at rest", NULL },
};

const cairn_record *cairn_joint_drive_record(void)
{
    static const cairn_record record = {
        .name = "drive",
        .summary = "limits, motor, dry friction and spring along a free coordinate of a joint",
        .size = sizeof(cairn_joint_drive),
        .set_default = set_drive_default,
        .options = drive_options,
        .option_count = sizeof drive_options / sizeof drive_options[0],
    };
    return &record;
}

/* Options that several kinds share. The option table of each kind is a sequence of them. */
#define COLLIDE                                                                                    \
    {                                                                                              \
        "collide", CAIRN_OPTION_FLAG, false, offsetof(cairn_joint_def, collide), 0, 0, "",         \
            "whether the two bodies also meet as shapes", NULL                                     \
    }
#define BREAK                                                                                      \
    { "break_force",                                                                               \
      REAL,                                                                                        \
      offsetof(cairn_joint_def, break_force),                                                      \
      0,                                                                                           \
      1e300,                                                                                       \
      "N",                                                                                         \
      "breaks above it; 0: never",                                                                 \
      NULL },                                                                                      \
    {                                                                                              \
        "break_torque", REAL, offsetof(cairn_joint_def, break_torque), 0, 1e300, "N m",            \
            "breaks above it; 0: never", NULL                                                      \
    }
#define ANCHOR(text)                                                                               \
    {                                                                                              \
        "anchor", VECTOR, offsetof(cairn_joint_def, anchor), ANY, "m", text, NULL                  \
    }
#define ANCHOR_B                                                                                   \
    {                                                                                              \
        "anchor_b", VECTOR, offsetof(cairn_joint_def, anchor_b), ANY, "m", "point of b", NULL      \
    }
#define AXIS(text)                                                                                 \
    {                                                                                              \
        "axis", VECTOR, offsetof(cairn_joint_def, axis), ANY, "", text, NULL                       \
    }

static const cairn_option point_options[] = { COLLIDE, BREAK, ANCHOR("the shared point") };
static const cairn_option axis_options[] = { COLLIDE, BREAK, ANCHOR("a point of the axis"),
                                             AXIS("direction of the axis") };
static const cairn_option universal_options[] = {
    COLLIDE,
    BREAK,
    ANCHOR("the shared point"),
    AXIS("axis fixed to a"),
    { "axis_b", VECTOR, offsetof(cairn_joint_def, axis_b), ANY, "",
      "axis fixed to b, at right angles", NULL },
};
static const cairn_option screw_options[] = {
    COLLIDE,
    BREAK,
    ANCHOR("a point of the axis"),
    AXIS("direction of the axis"),
    { "pitch", CAIRN_OPTION_REAL, true, offsetof(cairn_joint_def, pitch), ANY, "m",
      "advance in a full turn", NULL },
};
static const cairn_option line_options[] = {
    COLLIDE,
    BREAK,
    ANCHOR("point of a"),
    ANCHOR_B,
    { "length", REAL, offsetof(cairn_joint_def, length), 0, 1e12, "m", "0: the distance as placed",
      NULL },
};
static const cairn_option spring_options[] = {
    COLLIDE,
    BREAK,
    ANCHOR("point of a"),
    ANCHOR_B,
};
static const cairn_option gear_options[] = {
    COLLIDE,
    BREAK,
    AXIS("axis of a"),
    { "axis_b", VECTOR, offsetof(cairn_joint_def, axis_b), ANY, "", "axis of b", NULL },
    { "ratio", REAL, offsetof(cairn_joint_def, ratio), ANY, "",
      "turning of a + ratio * turning of b is kept", NULL },
};
static const cairn_option bushing_options[] = {
    COLLIDE,
    BREAK,
    ANCHOR("the shared point"),
    { "stiffness", REAL, offsetof(cairn_joint_def, stiffness), 0, 1e300, "N/m", "against sliding",
      NULL },
    { "damping", REAL, offsetof(cairn_joint_def, damping), 0, 1e300, "N s/m", "against sliding",
      NULL },
    { "turn_stiffness", REAL, offsetof(cairn_joint_def, turn_stiffness), 0, 1e300, "N m/rad",
      "against turning", NULL },
    { "turn_damping", REAL, offsetof(cairn_joint_def, turn_damping), 0, 1e300, "N m s/rad",
      "against turning", NULL },
};

/* Short names for the table of kinds. POINT holds both points together. */
enum {
    ALONG = CAIRN_HOLDS_ALONG,
    ACROSS = CAIRN_HOLDS_ACROSS,
    ABOUT = CAIRN_HOLDS_ABOUT,
    TILT = CAIRN_HOLDS_TILT,
    POINT = ALONG | ACROSS
};

/* Each entry: the record of the kind; what it holds in 2D and in 3D; whether it exists in 2D;
 * whether it has a free rotation and a free translation that may be driven; whether it has two
 * points.
 *
 * A spring and a torsion spring hold nothing: all their forces come from the drive of their free
 * coordinate. A planar joint slides in two directions, which no single drive can act on, so only
 * its rotation may be driven. */
static const cairn_joint_class classes[CAIRN_JOINT_COUNT] = {
    [CAIRN_JOINT_BALL] = { { "ball", "3D: one point shared", sizeof(cairn_joint_def), set_default,
                             point_options, CAIRN_COUNT(point_options) },
                           0,
                           POINT,
                           false,
                           false,
                           false,
                           false },
    [CAIRN_JOINT_FIXED] = { { "fixed", "nothing moves", sizeof(cairn_joint_def), set_default,
                              point_options, CAIRN_COUNT(point_options) },
                            POINT | ABOUT,
                            POINT | ABOUT | TILT,
                            true,
                            false,
                            false,
                            false },
    [CAIRN_JOINT_REVOLUTE] = { { "revolute", "turns about an axis (2D: a point)",
                                 sizeof(cairn_joint_def), set_default, axis_options,
                                 CAIRN_COUNT(axis_options) },
                               POINT,
                               POINT | TILT,
                               true,
                               true,
                               false,
                               false },
    [CAIRN_JOINT_PRISMATIC] = { { "prismatic", "slides along an axis", sizeof(cairn_joint_def),
                                  set_default, axis_options, CAIRN_COUNT(axis_options) },
                                ACROSS | ABOUT,
                                ACROSS | ABOUT | TILT,
                                true,
                                false,
                                true,
                                false },
    [CAIRN_JOINT_CYLINDRICAL] = { { "cylindrical", "3D: turns about and slides along an axis",
                                    sizeof(cairn_joint_def), set_default, axis_options,
                                    CAIRN_COUNT(axis_options) },
                                  0,
                                  ACROSS | TILT,
                                  false,
                                  true,
                                  true,
                                  false },
    [CAIRN_JOINT_UNIVERSAL] = { { "universal",
                                  "3D: one point shared, two axes stay at right angles",
                                  sizeof(cairn_joint_def), set_default, universal_options,
                                  CAIRN_COUNT(universal_options) },
                                0,
                                POINT | CAIRN_HOLDS_CROSS,
                                false,
                                false,
                                false,
                                false },
    [CAIRN_JOINT_PLANAR] = { { "planar", "3D: slides in a plane, turns about its normal",
                               sizeof(cairn_joint_def), set_default, axis_options,
                               CAIRN_COUNT(axis_options) },
                             0,
                             ALONG | TILT,
                             false,
                             true,
                             false,
                             false },
    [CAIRN_JOINT_SCREW] = { { "screw", "3D: a full turn about the axis advances by the pitch",
                              sizeof(cairn_joint_def), set_default, screw_options,
                              CAIRN_COUNT(screw_options) },
                            0,
                            ACROSS | TILT | CAIRN_HOLDS_SCREW,
                            false,
                            true,
                            true,
                            false },
    [CAIRN_JOINT_DISTANCE] = { { "distance", "a rigid rod without mass between two points",
                                 sizeof(cairn_joint_def), set_default, line_options,
                                 CAIRN_COUNT(line_options) },
                               CAIRN_HOLDS_LENGTH,
                               CAIRN_HOLDS_LENGTH,
                               true,
                               false,
                               false,
                               true },
    [CAIRN_JOINT_ROPE] = { { "rope", "two points at most a length apart", sizeof(cairn_joint_def),
                             set_default, line_options, CAIRN_COUNT(line_options) },
                           CAIRN_HOLDS_ROPE,
                           CAIRN_HOLDS_ROPE,
                           true,
                           false,
                           false,
                           true },
    [CAIRN_JOINT_GEAR] = { { "gear", "couples the turning of two bodies about their axes",
                             sizeof(cairn_joint_def), set_default, gear_options,
                             CAIRN_COUNT(gear_options) },
                           CAIRN_HOLDS_GEAR,
                           CAIRN_HOLDS_GEAR,
                           true,
                           false,
                           false,
                           false },
    [CAIRN_JOINT_SPRING] = { { "spring", "spring and damper between two points (key slide)",
                               sizeof(cairn_joint_def), set_default, spring_options,
                               CAIRN_COUNT(spring_options) },
                             0,
                             0,
                             true,
                             false,
                             true,
                             true },
    [CAIRN_JOINT_TORSION_SPRING] = { { "torsion_spring",
                                       "spring and damper about an axis (key turn)",
                                       sizeof(cairn_joint_def), set_default, axis_options,
                                       CAIRN_COUNT(axis_options) },
                                     0,
                                     0,
                                     true,
                                     true,
                                     false,
                                     false },
    [CAIRN_JOINT_BUSHING] = { { "bushing", "springs and dampers against all relative motion",
                                sizeof(cairn_joint_def), set_default, bushing_options,
                                CAIRN_COUNT(bushing_options) },
                              CAIRN_HOLDS_SOFTLY,
                              CAIRN_HOLDS_SOFTLY,
                              true,
                              false,
                              false,
                              false },
};

const cairn_joint_class *cairn_joint_class_of(cairn_joint_kind kind)
{
    return &classes[kind];
}

const cairn_record *cairn_joint_record(int kind)
{
    return kind >= 0 && kind < CAIRN_JOINT_COUNT ? &classes[kind].record : NULL;
}

bool cairn_joint_exists(cairn_joint_kind kind, int dimension)
{
    return dimension == 3 || classes[kind].exists_2d;
}

bool cairn_joint_turns(cairn_joint_kind kind)
{
    return classes[kind].turns;
}

bool cairn_joint_slides(cairn_joint_kind kind)
{
    return classes[kind].slides;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* Whether a drive does nothing, as its default does. */
static bool is_idle(const cairn_joint_drive *d)
{
    return d->lower <= -CAIRN_UNBOUNDED && d->upper >= CAIRN_UNBOUNDED && d->friction == 0 &&
           d->stiffness == 0 && d->damping == 0 && strcmp(d->motor, "none") == 0;
}

/* A drive of a coordinate that the joint does not have must be idle: a limit or motor that would be
 * ignored is an error. A position motor pulls to its target, so it has no rest position. */
static cairn_status check_drive(const cairn_joint_drive *d, bool exists, const char *name,
                                cairn_error *error)
{
    TRY(cairn_record_check(cairn_joint_drive_record(), d, error));
    if (!exists && !is_idle(d))
        return cairn_fail(error, CAIRN_BAD_INPUT, name, "this kind of joint has no %s to drive",
                          name);
    if (!(d->lower <= d->upper))
        return cairn_fail(error, CAIRN_BAD_INPUT, name, "found lower %g > upper %g", d->lower,
                          d->upper);
    if (d->rest != 0 && strcmp(d->motor, "position") == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, name,
                          "found rest %g beside a position motor, whose stiffness and damping pull "
                          "to its target",
                          d->rest);
    return CAIRN_OK;
}

static cairn_status check_body(const cairn_world *world, cairn_body_id id, const char *key,
                               cairn_error *error)
{
    return cairn_body_row(world, id) >= 0
               ? CAIRN_OK
               : cairn_fail(error, CAIRN_NOT_FOUND, key, "there is no such body");
}

/* Body b may be missing; a is then joined to the world. Two held bodies are refused, because no
 * impulse can move either of them, and the rows could not be satisfied. */
static cairn_status check_bodies(const cairn_world *world, const cairn_joint_def *def,
                                 cairn_error *error)
{
    TRY(check_body(world, def->a, "a", error));
    if (def->b.uid != CAIRN_NO_BODY)
        TRY(check_body(world, def->b, "b", error));
    if (def->a.uid == def->b.uid)
        return cairn_fail(error, CAIRN_BAD_INPUT, "b", "a joint needs two different bodies");
    int held = world->bodies.held;
    if (cairn_body_row(world, def->a) < held && cairn_body_row(world, def->b) < held)
        return cairn_fail(error, CAIRN_BAD_INPUT, "a", "at least one body must be dynamic");
    return CAIRN_OK;
}

/* In 2D every axis is z, except the direction of a prismatic joint, which lies in the plane. The
 * two axes of a universal joint must be perpendicular to 1e-9 when it is created, because its row
 * holds ea_0.eb_0 = 0; an angle left at the start would be a defect that the first step
 * corrects. */
static cairn_status check_axes(const cairn_joint_def *def, int dimension, cairn_error *error)
{
    bool second =
        def->kind == CAIRN_JOINT_UNIVERSAL || (def->kind == CAIRN_JOINT_GEAR && dimension == 3);
    bool flat = dimension == 2 && def->kind != CAIRN_JOINT_PRISMATIC;
    if (!flat && !(cairn_norm(def->axis) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found zero, expected a direction");
    if (second && !(cairn_norm(def->axis_b) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis_b", "found zero, expected a direction");
    if (dimension == 2 && def->kind == CAIRN_JOINT_PRISMATIC && def->axis.z != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis",
                          "found z = %g, expected a direction in the plane", def->axis.z);
    double cosine = second ? cairn_dot(cairn_unit(def->axis), cairn_unit(def->axis_b)) : 0;
    if (def->kind == CAIRN_JOINT_UNIVERSAL && !(fabs(cosine) < 1e-9))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis_b",
                          "found a cosine of %g to axis, expected a right angle", cosine);
    return CAIRN_OK;
}

/* Two distinct points are needed where their distance is a coordinate: its gradient is d/|d|. */
static cairn_status check_points(const cairn_joint_def *def, int dimension, cairn_error *error)
{
    const cairn_joint_class *class = &classes[def->kind];
    double apart = cairn_norm(cairn_sub(def->anchor, def->anchor_b));
    if (dimension == 2 && (def->anchor.z != 0 || (class->two_points && def->anchor_b.z != 0)))
        return cairn_fail(error, CAIRN_BAD_INPUT, "anchor", "in 2D z must be 0");
    if (class->two_points && !(apart > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "anchor_b",
                          "found the same point as anchor, expected another");
    return CAIRN_OK;
}

static cairn_status check(const cairn_world *world, const cairn_joint_def *def, cairn_error *error)
{
    if ((unsigned)def->kind >= CAIRN_JOINT_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "kind", "unknown kind of joint %d",
                          (int)def->kind);
    const cairn_joint_class *class = &classes[def->kind];
    if (!cairn_joint_exists(def->kind, world->dimension))
        return cairn_fail(error, CAIRN_BAD_INPUT, "kind", "a %s joint does not exist in 2D",
                          class->record.name);
    TRY(cairn_record_check(&class->record, def, error));
    TRY(check_bodies(world, def, error));
    TRY(check_axes(def, world->dimension, error));
    TRY(check_points(def, world->dimension, error));
    TRY(check_drive(&def->turn, class->turns, "turn", error));
    return check_drive(&def->slide, class->slides, "slide", error);
}

/* ---- placing -------------------------------------------------------------------------------- */

/* The rotation that takes the unit vectors to (axis, e1, e2). Only the first axis has a meaning; e1
 * and e2 are any two that complete the frame. */
static cairn_quat frame_along(cairn_vec3 axis, int dimension)
{
    if (dimension == 2)
        return cairn_quat_exp(cairn_vec(0, 0, atan2(axis.y, axis.x)));
    cairn_vec3 from = { 1, 0, 0 }, to = cairn_unit(axis);
    cairn_vec3 turn = cairn_cross(from, to);
    double sine = cairn_norm(turn), angle = atan2(sine, cairn_dot(from, to));
    /* parallel: no rotation; antiparallel: half a turn about y, since the cross product is 0 */
    if (sine < 1e-14)
        return angle < 1 ? (cairn_quat){ 1, 0, 0, 0 } : (cairn_quat){ 0, 0, 1, 0 };
    return cairn_quat_exp(cairn_scale(angle / sine, turn));
}

/* The image of a body that is nearest to a point. Rounding along the edges finds it up to one edge,
 * since these are short. */
static cairn_image nearest_image(const cairn_world *world, cairn_vec3 x, cairn_vec3 point)
{
    const cairn_lattice *cell = cairn_lattice_of(world);
    cairn_image near = { { 0, 0, 0 } }, best;
    cairn_vec3 b[3], apart = cairn_sub(point, x);
    double least = INFINITY;
    if (!cell)
        return near;
    cairn_lattice_reciprocal(cell, b);
    for (int i = 0; i < 3; i++)
        near.k[i] = cairn_edge_is_periodic(cell, i) ? (int32_t)round(cairn_dot(b[i], apart)) : 0;
    best = near;
    for (int n = 0; n < 27; n++) {
        const int32_t step[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
        cairn_image image = near;
        for (int i = 0; i < 3; i++)
            image.k[i] += cairn_edge_is_periodic(cell, i) ? step[i] : 0;
        double far = cairn_norm(cairn_sub(apart, cairn_lattice_shift(cell, image)));
        if (far < least * (1 - 1e-9)) {
            least = far;
            best = image;
        }
    }
    return best;
}

/* Anchors and frames of the joint in the frames of the two bodies, from the poses that they have
 * now. The joint is therefore free of defects when it is created. A body that is the world has x =
 * 0 and no rotation. In a periodic world the points belong to the images that are nearest. */
static void attach(const cairn_world *world, cairn_joint *j)
{
    const cairn_joint_def *def = &j->def;
    bool two = classes[def->kind].two_points;
    bool own_axis = def->kind == CAIRN_JOINT_UNIVERSAL || def->kind == CAIRN_JOINT_GEAR;
    cairn_image image[2] = { { { 0, 0, 0 } }, { { 0, 0, 0 } } };
    for (int side = 0; side < 2; side++) {
        int body = j->body[side];
        cairn_vec3 point = side && two ? def->anchor_b : def->anchor, x = { 0, 0, 0 };
        cairn_vec3 axis = side && own_axis ? def->axis_b : def->axis;
        cairn_quat frame = frame_along(axis, world->dimension), q = { 1, 0, 0, 0 };
        if (body >= 0) {
            x = world->bodies.x[body];
            q = world->bodies.q[body];
            image[side] = nearest_image(world, x, point);
            x = cairn_add(x, cairn_lattice_shift(&world->periodic.cell, image[side]));
        }
        j->anchor[side] = cairn_rotate_back(q, cairn_sub(point, x));
        j->frame[side] = cairn_quat_multiply(cairn_quat_conjugate(q), frame);
    }
    j->image = cairn_image_from(j->image, image[1], image[0]);
    double apart = cairn_norm(cairn_sub(def->anchor, def->anchor_b));
    /* a length of 0 means the distance at creation */
    if (two && def->length == 0)
        j->def.length = apart;
    j->slide = two ? apart : 0;
}

/* Energy stored in the springs at creation. The time step and gamma of the view do not matter for
 * it. */
static void wind_up(const cairn_world *world, cairn_joint *j)
{
    cairn_joint_view view = { .dimension = world->dimension,
                              .h = 1,
                              .whole = 1,
                              .gamma = 1,
                              .q = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } };
    for (int side = 0; side < 2; side++) {
        if (j->body[side] < 0)
            continue;
        view.x[side] = world->bodies.x[j->body[side]];
        view.q[side] = world->bodies.q[j->body[side]];
    }
    view.x[1] = cairn_add(view.x[1], cairn_joint_shift(world, j, 0));
    cairn_joint_measure(j, &view);
}

/* ---- images ---------------------------------------------------------------------------------- */

cairn_vec3 cairn_joint_drift(const cairn_world *world, const cairn_joint *joint)
{
    return cairn_lattice_drift(&world->periodic.cell, joint->image);
}

cairn_vec3 cairn_joint_shift(const cairn_world *world, const cairn_joint *joint, double ahead)
{
    return cairn_add_scaled(cairn_lattice_shift(&world->periodic.cell, joint->image), ahead,
                            cairn_joint_drift(world, joint));
}

/* ---- bodies that do not meet ---------------------------------------------------------------- */

/* The two rows of a pair as one number, the same in either order. */
static uint64_t pair_key(int a, int b)
{
    uint32_t low = (uint32_t)(a < b ? a : b), high = (uint32_t)(a < b ? b : a);
    return (uint64_t)low << 32 | high;
}

static int compare_joined(const void *a, const void *b)
{
    const cairn_joined *p = a, *q = b;
    int order = (p->key > q->key) - (p->key < q->key);
    return order != 0 ? order : cairn_image_compare(p->image, q->image);
}

/* The body of row a and an image of that of row b. A wall without bounds is the same in each
 * image. */
static cairn_joined joined_pair(const cairn_world *world, int a, int b, cairn_image image)
{
    bool wall = !isfinite(world->bodies.extent[a]) || !isfinite(world->bodies.extent[b]);
    if (wall)
        image = (cairn_image){ { 0, 0, 0 } };
    return (cairn_joined){ pair_key(a, b), a < b ? image : cairn_image_opposite(image) };
}

/* Whether another member has the joint: one of its bodies is dynamic and not an own body here. A
 * joint between held bodies alone belongs to the first member. */
static bool is_elsewhere(const cairn_world *world, const cairn_joint *j)
{
    const cairn_link *link = world->exchange.link;
    const uint64_t uid[2] = { j->def.a.uid, j->def.b.uid };
    bool held = true;
    for (int side = 0; link && side < 2; side++) {
        if (uid[side] == CAIRN_NO_BODY || (unsigned)j->body[side] < (unsigned)world->bodies.held)
            continue;
        held = false;
        if (j->body[side] < 0 || !cairn_world_moves(world, j->body[side]))
            return true;
    }
    return link && held && link->member > 0;
}

/* The state of a joint, from `turn` to its end, in a message. */
enum { STATE = offsetof(cairn_joint, turn), STATE_BYTES = sizeof(cairn_joint) - STATE };

static void write_states(const cairn_world *world, cairn_writer *out)
{
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *j = &world->joints.items[k];
        if (j->elsewhere || !j->alive)
            continue;
        cairn_write_whole(out, (int64_t)(2 * k + j->broken));
        cairn_write_raw(out, (const char *)j + STATE, STATE_BYTES);
    }
}

static void read_states(cairn_world *world, const char *data, size_t size)
{
    cairn_reader r = { .data = (const unsigned char *)data, .size = size };
    while (r.at < size && !r.failed) {
        size_t k = (size_t)cairn_read_whole(&r);
        if (k / 2 >= world->joints.count || size - r.at < STATE_BYTES) {
            world->exchange.link->status = CAIRN_BAD_INPUT;
            return;
        }
        cairn_joint *j = &world->joints.items[k / 2];
        memcpy((char *)j + STATE, data + r.at, STATE_BYTES);
        j->broken = k % 2;
        r.at += STATE_BYTES;
    }
}

/* Every member has all joints: their bodies may move to it in the next step. */
void cairn_joints_share(cairn_world *world)
{
    cairn_link *link = world->exchange.link;
    cairn_writer out = { 0 };
    if (!link || world->joints.count == 0)
        return;
    write_states(world, &out);
    if (out.failed)
        link->status = CAIRN_NO_MEMORY;
    for (int k = 0; k < link->members; k++)
        if (k != link->member)
            cairn_link_send(link, k, out.data, out.size);
    for (int k = 0; k < link->members; k++) {
        size_t size;
        const void *data = k != link->member ? cairn_link_receive(link, k, &size) : NULL;
        if (data)
            read_states(world, data, size);
    }
    cairn_writer_destroy(&out);
}

/* Looks up the rows of the jointed bodies again, and rebuilds the sorted list of pairs that must
 * not collide. It cannot fail: cairn_joint_create reserves room for one key per joint. */
void cairn_joints_index(cairn_world *world)
{
    size_t count = 0;
    for (size_t k = 0; k < world->joints.count; k++) {
        cairn_joint *j = &world->joints.items[k];
        j->body[0] = cairn_body_row(world, j->def.a);
        j->body[1] = cairn_body_row(world, j->def.b);
        j->elsewhere = is_elsewhere(world, j);
        if (j->alive && !j->broken && !j->def.collide && j->body[0] >= 0 && j->body[1] >= 0)
            world->joints.joined[count++] = joined_pair(world, j->body[0], j->body[1], j->image);
    }
    if (count > 1)
        qsort(world->joints.joined, count, sizeof *world->joints.joined, compare_joined);
    world->joints.joined_count = count;
    world->joints.changed = false;
}

/* Binary search in the list of pairs; called once for each pair of the broad phase. */
bool cairn_joints_forbid(const cairn_world *world, int a, int b, cairn_image image)
{
    if (world->joints.joined_count == 0)
        return false;
    const cairn_joined pair = joined_pair(world, a, b, image);
    return bsearch(&pair, world->joints.joined, world->joints.joined_count,
                   sizeof *world->joints.joined, compare_joined) != NULL;
}

/* ---- making and removing -------------------------------------------------------------------- */

/* Everything that can fail comes before the joint is written, so a failure leaves the world as it
 * was. The limit on n keeps the number of rows of all joints within an int. */
cairn_status cairn_joint_create(cairn_world *world, const cairn_joint_def *def, cairn_joint_id *out)
{
    cairn_pile_return(world);
    size_t n = world->joints.count;
    world->error = (cairn_error){ 0 };
    /* its frames follow from the poses of both bodies, which not every member has */
    if (world->exchange.link)
        return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "joints",
                          "joints cannot be added while several members compute the world");
    TRY(check(world, def, &world->error));
    if (n >= INT32_MAX / CAIRN_JOINT_ROWS)
        return CAIRN_NO_MEMORY;
    TRY(cairn_memory_reserve((void **)&world->joints.items, &world->joints.capacity, n + 1,
                             sizeof *world->joints.items));
    TRY(cairn_memory_reserve((void **)&world->joints.joined, &world->joints.joined_capacity, n + 1,
                             sizeof *world->joints.joined));
    world->joints.items[n] =
        (cairn_joint){ .alive = true,
                       .def = *def,
                       .body = { cairn_body_row(world, def->a), cairn_body_row(world, def->b) } };
    attach(world, &world->joints.items[n]);
    wind_up(world, &world->joints.items[n]);
    world->joints.count = n + 1;
    world->joints.changed = true;
    if (out)
        *out = (cairn_joint_id){ (int32_t)n, 0 };
    return CAIRN_OK;
}

/* NULL if the id names no joint that is alive. */
static cairn_joint *find(cairn_world *world, cairn_joint_id id)
{
    bool there = id.index >= 0 && (size_t)id.index < world->joints.count &&
                 world->joints.items[id.index].alive &&
                 world->joints.items[id.index].generation == id.generation;
    return there ? &world->joints.items[id.index] : NULL;
}

/* The entry stays in the list, so that the indices of the other joints remain valid. */
cairn_status cairn_joint_destroy(cairn_world *world, cairn_joint_id id)
{
    cairn_joint *joint = find(world, id);
    if (!joint)
        return CAIRN_NOT_FOUND;
    joint->alive = false;
    world->joints.changed = true;
    return CAIRN_OK;
}

/* Sets the target of a motor along `turn` or `slide`; it takes effect in the next step. */
cairn_status cairn_joint_aim(cairn_world *world, cairn_joint_id id, bool turn, double target)
{
    cairn_joint *joint = find(world, id);
    if (!joint)
        return CAIRN_NOT_FOUND;
    const cairn_joint_class *class = &classes[joint->def.kind];
    if (!(turn ? class->turns : class->slides))
        return CAIRN_BAD_INPUT;
    if (!isfinite(target))
        return CAIRN_NOT_FINITE;
    *(turn ? &joint->def.turn.target : &joint->def.slide.target) = target;
    return CAIRN_OK;
}

void cairn_joints_remove(cairn_world *world, uint64_t uid)
{
    for (size_t k = 0; k < world->joints.count; k++)
        if (world->joints.items[k].def.a.uid == uid || world->joints.items[k].def.b.uid == uid)
            world->joints.items[k].alive = false;
    world->joints.changed = world->joints.changed || world->joints.count > 0;
}

/* ---- looking -------------------------------------------------------------------------------- */

int cairn_world_joint_count(const cairn_world *world)
{
    return (int)world->joints.count;
}

/* The anchor in the world frame; for the world itself, or a joint that is gone, the stored one. */
static cairn_vec3 point_on(const cairn_world *world, const cairn_joint *j, int side)
{
    int body = cairn_body_row(world, side ? j->def.b : j->def.a);
    const cairn_vec3 none = { 0, 0, 0 };
    cairn_vec3 shift = side && j->alive ? cairn_joint_shift(world, j, 0) : none;
    if (!j->alive || body < 0)
        return cairn_add(j->anchor[side], shift);
    return cairn_add(
        cairn_add(world->bodies.x[body], cairn_rotate(world->bodies.q[body], j->anchor[side])),
        shift);
}

/* Rows of bodies are looked up by uid rather than taken from the joint, since they may have changed
 * after the last step. `impulse` and `correction` point into the joint and live until the next
 * change. */
cairn_joint_state cairn_world_joint(const cairn_world *world, int index)
{
    if (index < 0 || (size_t)index >= world->joints.count)
        return (cairn_joint_state){ 0 };
    const cairn_joint *j = &world->joints.items[index];
    return (cairn_joint_state){ .alive = j->alive,
                                .broken = j->broken,
                                .kind = j->def.kind,
                                .body = { cairn_body_row(world, j->def.a),
                                          cairn_body_row(world, j->def.b) },
                                .point = point_on(world, j, 0),
                                .point_b = point_on(world, j, 1),
                                .image = j->image,
                                .turn = j->turn,
                                .slide = j->slide,
                                .force = j->force,
                                .torque = j->torque,
                                .drift = j->drift,
                                .turn_drift = j->turn_drift,
                                .elastic = j->alive ? j->elastic : 0,
                                .phase = j->phase,
                                .rows = j->rows,
                                .impulse = j->impulse,
                                .correction = j->correction,
                                .eased = j->eased };
}

cairn_joint_setup cairn_world_joint_setup(const cairn_world *world, int index)
{
    cairn_joint_setup setup = { .def = cairn_joint_def_default(),
                                .frame = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } };
    if (index < 0 || (size_t)index >= world->joints.count)
        return setup;
    const cairn_joint *j = &world->joints.items[index];
    setup.def = j->def;
    for (int side = 0; side < 2; side++) {
        setup.anchor[side] = j->anchor[side];
        setup.frame[side] = j->frame[side];
    }
    return setup;
}
