/* joints.c - the joints of a stored frame, see frame.h. The plain numbers of a joint are one list,
 * which defines both their columns and where they come from. */
#include "run/frame.h"

#include <string.h>

#include "base/common.h"
#include "base/status.h"
#include "run/columns.h"

/* Name of the column, unit, member of a cairn_joint_setup. A macro list, because enum, offsets and
 * columns must have the same entries in the same order. */
#define NUMBERS(X)                                                                                 \
    X(length, "m", def.length)                                                                     \
    X(pitch, "m", def.pitch)                                                                       \
    X(ratio, "1", def.ratio)                                                                       \
    X(stiffness, "N/m", def.stiffness)                                                             \
    X(damping, "N s/m", def.damping)                                                               \
    X(turn_stiffness, "N m/rad", def.turn_stiffness)                                               \
    X(turn_damping, "N m s/rad", def.turn_damping)                                                 \
    X(break_force, "N", def.break_force)                                                           \
    X(break_torque, "N m", def.break_torque)                                                       \
    X(turn_lower, "rad", def.turn.lower)                                                           \
    X(turn_upper, "rad", def.turn.upper)                                                           \
    X(turn_friction, "N m", def.turn.friction)                                                     \
    X(turn_effort, "N m", def.turn.effort)                                                         \
    X(turn_spring, "N m/rad", def.turn.stiffness)                                                  \
    X(turn_damper, "N m s/rad", def.turn.damping)                                                  \
    X(turn_rest, "rad", def.turn.rest)                                                             \
    X(slide_lower, "m", def.slide.lower)                                                           \
    X(slide_upper, "m", def.slide.upper)                                                           \
    X(slide_friction, "N", def.slide.friction)                                                     \
    X(slide_effort, "N", def.slide.effort)                                                         \
    X(slide_spring, "N/m", def.slide.stiffness)                                                    \
    X(slide_damper, "N s/m", def.slide.damping)                                                    \
    X(slide_rest, "m", def.slide.rest)

#define PLACE(name, unit, field) NUMBER_##name,
enum { NUMBERS(PLACE) COUNT };
_Static_assert((int)COUNT == (int)CAIRN_RUN_JOINT_NUMBERS, "one column a number");

#define OFFSET(name, unit, field) offsetof(cairn_joint_setup, field),
static const size_t offsets[COUNT] = { NUMBERS(OFFSET) };

/* ---- columns -------------------------------------------------------------------------------- */

/* NULL past the last kind, as `value_name` of a column requires. */
static const char *joint_name(int kind)
{
    const cairn_record *record = cairn_joint_record(kind);
    return record ? record->name : NULL;
}

#define NUMBER(name, unit, field)                                                                  \
    {                                                                                              \
        #name, unit, CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.number[NUMBER_##name]),   \
        NULL                                                                                       \
    },
static const cairn_run_source joints[] = {
    { "kind", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.kind), joint_name },
    { "body", "", CAIRN_HDF5_INT, 2, offsetof(cairn_run_frame, joint.pair), NULL },
    { "collide", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.collide), NULL },
    { "anchor_a", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.anchor_a), NULL },
    { "anchor_b", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.anchor_b), NULL },
    { "frame_a", "1", CAIRN_HDF5_REAL, 4, offsetof(cairn_run_frame, joint.frame_a), NULL },
    { "frame_b", "1", CAIRN_HDF5_REAL, 4, offsetof(cairn_run_frame, joint.frame_b), NULL },
    { "turn_motor", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.turn_motor),
      cairn_motor_name },
    { "slide_motor", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.slide_motor),
      cairn_motor_name },
    NUMBERS(NUMBER)
};

static const cairn_run_source states[] = {
    { "index", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, joint.index), NULL },
    { "broken", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.broken), NULL },
    { "point", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.point), NULL },
    { "force", "N", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.force), NULL },
    { "torque", "N m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.torque), NULL },
    { "turn", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.turn), NULL },
    { "slide", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.slide), NULL },
    { "drift", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.drift), NULL },
    { "turn_drift", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.turn_drift), NULL },
    /* the first FRAME_STATE columns go into frames; the next ones only into certificates */
    { "phase", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.phase), NULL },
    { "turn_target", "", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.turn_target), NULL },
    { "slide_target", "", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.slide_target), NULL },
};

enum { FRAME_STATE = 9 };

/* Rows of joints in the one-step problem. Units differ from row to row: a row is a translation or a
 * rotation, as its joint defines. */
static const cairn_run_source rows[] = {
    { "joint", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, joint.row_joint), NULL },
    { "impulse", "N s, N m s", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.row_impulse),
      NULL },
    { "correction", "kg m/s, kg m^2/s", CAIRN_HDF5_REAL, 1,
      offsetof(cairn_run_frame, joint.row_correction), NULL },
};

cairn_run_sources cairn_run_joint_sources(void)
{
    return cairn_run_sources_of(joints, CAIRN_COUNT(joints));
}

cairn_run_sources cairn_run_joint_state_sources(void)
{
    return cairn_run_sources_of(states, FRAME_STATE);
}

cairn_run_sources cairn_run_joint_detail_sources(void)
{
    return cairn_run_sources_of(states, CAIRN_COUNT(states));
}

cairn_run_sources cairn_run_joint_row_sources(void)
{
    return cairn_run_sources_of(rows, CAIRN_COUNT(rows));
}

/* ---- one frame ------------------------------------------------------------------------------ */

/* Every array is attempted even if one failed before: none is left undefined. */
static bool take_states(cairn_run_joints *j, cairn_arena *arena)
{
    bool good = true;
    good = CAIRN_TAKE(arena, j->index, j->count) && good;
    good = CAIRN_TAKE(arena, j->slot, 2 * j->count) && good;
    good = CAIRN_TAKE(arena, j->broken, j->count) && good;
    good = CAIRN_TAKE(arena, j->force, j->count) && good;
    good = CAIRN_TAKE(arena, j->torque, j->count) && good;
    good = CAIRN_TAKE(arena, j->point, j->count) && good;
    good = CAIRN_TAKE(arena, j->point_b, j->count) && good;
    good = CAIRN_TAKE(arena, j->turn, j->count) && good;
    good = CAIRN_TAKE(arena, j->slide, j->count) && good;
    good = CAIRN_TAKE(arena, j->drift, j->count) && good;
    good = CAIRN_TAKE(arena, j->turn_drift, j->count) && good;
    good = CAIRN_TAKE(arena, j->phase, j->count) && good;
    good = CAIRN_TAKE(arena, j->turn_target, j->count) && good;
    good = CAIRN_TAKE(arena, j->slide_target, j->count) && good;
    good = CAIRN_TAKE(arena, j->row_joint, j->rows) && good;
    good = CAIRN_TAKE(arena, j->row_impulse, j->rows) && good;
    good = CAIRN_TAKE(arena, j->row_correction, j->rows) && good;
    return good;
}

static bool take_properties(cairn_run_joints *j, cairn_arena *arena)
{
    bool good = true;
    good = CAIRN_TAKE(arena, j->kind, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->pair, 2 * j->fresh) && good;
    good = CAIRN_TAKE(arena, j->collide, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->anchor_a, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->anchor_b, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->frame_a, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->frame_b, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->turn_motor, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->slide_motor, j->fresh) && good;
    for (int k = 0; k < COUNT; k++)
        good = CAIRN_TAKE(arena, j->number[k], j->fresh) && good;
    return good;
}

/* The number of a motor in the attribute `names`. An unknown name cannot occur: definitions are
 * checked when a joint is made. */
static uint8_t motor_number(const char *name)
{
    int kind = 0;
    while (kind < CAIRN_MOTOR_COUNT - 1 && strcmp(cairn_motor_name(kind), name) != 0)
        kind++;
    return (uint8_t)kind;
}

static void fill_properties(cairn_run_joints *j, size_t row, const cairn_joint_setup *s)
{
    j->kind[row] = (uint8_t)s->def.kind;
    j->collide[row] = s->def.collide;
    j->anchor_a[row] = s->anchor[0];
    j->anchor_b[row] = s->anchor[1];
    j->frame_a[row] = s->frame[0];
    j->frame_b[row] = s->frame[1];
    j->turn_motor[row] = motor_number(s->def.turn.motor);
    j->slide_motor[row] = motor_number(s->def.slide.motor);
    for (int k = 0; k < COUNT; k++)
        memcpy(&j->number[k][row], (const char *)s + offsets[k], sizeof(double));
}

static void fill_state(cairn_run_joints *j, size_t row, const cairn_joint_state *s)
{
    j->slot[2 * row] = s->body[0];
    j->slot[2 * row + 1] = s->body[1];
    j->broken[row] = s->broken;
    j->force[row] = s->force;
    j->torque[row] = s->torque;
    j->point[row] = s->point;
    j->point_b[row] = s->point_b;
    j->turn[row] = s->turn;
    j->slide[row] = s->slide;
    j->drift[row] = s->drift;
    j->turn_drift[row] = s->turn_drift;
    j->phase[row] = s->phase;
}

/* All rows of one joint, from row `first` of the frame on. */
static void fill_rows(cairn_run_joints *j, size_t first, int joint, const cairn_joint_state *s)
{
    for (int i = 0; i < s->rows; i++) {
        j->row_joint[first + (size_t)i] = joint;
        j->row_impulse[first + (size_t)i] = s->impulse[i];
        j->row_correction[first + (size_t)i] = s->correction[i];
    }
}

/* One pass over the joints of the world. Definitions are stored for new joints (index beyond the
 * roll), alive or not, so that the row in /joints stays equal to the index; states only for those
 * alive. */
static void fill(const cairn_world *world, const cairn_run_roll *roll, cairn_run_frame *f)
{
    cairn_run_joints *j = &f->joint;
    int count = cairn_world_joint_count(world);
    size_t alive = 0, fresh = 0, row = 0;
    for (int i = 0; i < count; i++) {
        cairn_joint_state s = cairn_world_joint(world, i);
        cairn_joint_setup setup = cairn_world_joint_setup(world, i);
        if (i >= roll->joints) {
            fill_properties(j, fresh, &setup);
            j->pair[2 * fresh] = cairn_run_row_of(f, s.body[0]);
            j->pair[2 * fresh++ + 1] = cairn_run_row_of(f, s.body[1]);
        }
        if (!s.alive)
            continue;
        j->index[alive] = i;
        j->turn_target[alive] = setup.def.turn.target;
        j->slide_target[alive] = setup.def.slide.target;
        fill_state(j, alive++, &s);
        fill_rows(j, row, i, &s);
        row += (size_t)s.rows;
    }
}

/* Counts first, because the arena needs the sizes of the arrays. */
cairn_status cairn_run_joints_take(const cairn_world *world, cairn_run_roll *roll,
                                   cairn_arena *arena, cairn_run_frame *f)
{
    cairn_run_joints *j = &f->joint;
    int count = cairn_world_joint_count(world);
    for (int i = 0; i < count; i++) {
        cairn_joint_state s = cairn_world_joint(world, i);
        j->count += s.alive;
        j->rows += s.alive ? (size_t)s.rows : 0;
    }
    j->fresh = (size_t)(count - roll->joints);
    if (!take_states(j, arena) || !take_properties(j, arena))
        return CAIRN_NO_MEMORY;
    fill(world, roll, f);
    roll->joints = count;
    return CAIRN_OK;
}
