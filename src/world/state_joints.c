/* state_joints.c - joints to bytes and back: as they were defined, where they sit in their bodies,
 * and what the next step starts from (counted turns, slipped gears, impulses, stored energy). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "world/state.h"

/* Reals of a joint that stand side by side. */
typedef struct reals {
    size_t offset;
    int count;
} reals;

#define REALS(field)                                                                               \
    {                                                                                              \
        offsetof(cairn_joint, field), sizeof(((cairn_joint *)0)->field) / (sizeof(double))         \
    }
static const reals kept[] = {
    REALS(def.anchor),
    REALS(def.anchor_b),
    REALS(def.axis),
    REALS(def.axis_b),
    REALS(def.length),
    REALS(def.pitch),
    REALS(def.ratio),
    REALS(def.stiffness),
    REALS(def.damping),
    REALS(def.break_force),
    REALS(def.turn_stiffness),
    REALS(anchor),
    REALS(def.turn_damping),
    REALS(def.break_torque),
    REALS(frame),
    REALS(turn),
    REALS(slide),
    REALS(phase),
    REALS(impulse),
    REALS(force),
    REALS(torque),
    REALS(drift),
    REALS(turn_drift),
    REALS(elastic),
    REALS(correction),
};

enum { KEPT = sizeof kept / sizeof kept[0] };

/* ---- writing -------------------------------------------------------------------------------- */

static void write_reals(cairn_writer *w, const cairn_joint *joint)
{
    for (int k = 0; k < KEPT; k++)
        for (int i = 0; i < kept[k].count; i++) {
            double value;
            memcpy(&value, (const char *)joint + kept[k].offset + (size_t)i * sizeof value,
                   sizeof value);
            cairn_write_real(w, value);
        }
}

static void write_joint(cairn_writer *w, const cairn_joint *joint)
{
    cairn_write_whole(w, (int64_t)joint->def.kind);
    cairn_write_whole(w, joint->alive);
    cairn_write_whole(w, joint->broken);
    cairn_write_whole(w, joint->generation);
    cairn_write_whole(w, joint->def.collide);
    cairn_write_whole(w, (int64_t)joint->def.a.uid);
    cairn_write_whole(w, (int64_t)joint->def.b.uid); /* the world: -1 */
    cairn_write_whole(w, joint->rows);
    cairn_write_record(w, cairn_joint_drive_record(), &joint->def.turn);
    cairn_write_record(w, cairn_joint_drive_record(), &joint->def.slide);
    write_reals(w, joint);
}

void cairn_state_write_joints(cairn_writer *w, const cairn_world *world)
{
    cairn_write_whole(w, (int64_t)world->joints.count);
    for (size_t k = 0; k < world->joints.count; k++)
        write_joint(w, &world->joints.items[k]);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void read_reals(cairn_reader *r, cairn_joint *joint)
{
    for (int k = 0; k < KEPT; k++)
        for (int i = 0; i < kept[k].count; i++) {
            double value = cairn_read_real(r);
            r->failed = r->failed || isnan(value);
            memcpy((char *)joint + kept[k].offset + (size_t)i * sizeof value, &value, sizeof value);
        }
}

static void read_joint(cairn_reader *r, cairn_joint *joint)
{
    *joint = (cairn_joint){ .def = cairn_joint_def_default() };
    joint->def.kind = (cairn_joint_kind)cairn_read_within(r, 0, CAIRN_JOINT_COUNT - 1);
    joint->alive = cairn_read_within(r, 0, 1) != 0;
    joint->broken = cairn_read_within(r, 0, 1) != 0;
    joint->generation = (uint32_t)cairn_read_within(r, 0, UINT32_MAX);
    joint->def.collide = cairn_read_within(r, 0, 1) != 0;
    joint->def.a.uid = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
    joint->def.b.uid = (uint64_t)cairn_read_within(r, -1, INT64_MAX);
    joint->rows = (int)cairn_read_within(r, 0, CAIRN_JOINT_ROWS);
    cairn_read_record(r, cairn_joint_drive_record(), &joint->def.turn);
    cairn_read_record(r, cairn_joint_drive_record(), &joint->def.slide);
    read_reals(r, joint);
}

/* What holds is between bodies that are there. */
static cairn_status check_joint(cairn_world *world, const cairn_joint *joint)
{
    cairn_body_id a = joint->def.a, b = joint->def.b;
    if (!joint->alive)
        return CAIRN_OK;
    if (!cairn_joint_exists(joint->def.kind, world->dimension) || cairn_body_row(world, a) < 0 ||
        (b.uid != CAIRN_NO_BODY && cairn_body_row(world, b) < 0))
        return CAIRN_BAD_INPUT;
    TRY(cairn_record_check(cairn_joint_drive_record(), &joint->def.turn, &world->error));
    return cairn_record_check(cairn_joint_drive_record(), &joint->def.slide, &world->error);
}

cairn_status cairn_state_read_joints(cairn_reader *r, cairn_world *world)
{
    size_t count = cairn_read_count(r, sizeof(double));
    r->failed = r->failed || count > INT32_MAX / CAIRN_JOINT_ROWS;
    TRY(cairn_state_settle(r));
    TRY(cairn_memory_reserve((void **)&world->joints.items, &world->joints.capacity, count,
                             sizeof *world->joints.items));
    TRY(cairn_memory_reserve((void **)&world->joints.joined, &world->joints.joined_capacity, count,
                             sizeof *world->joints.joined));
    for (size_t k = 0; k < count; k++) {
        read_joint(r, &world->joints.items[k]);
        TRY(cairn_state_settle(r));
        TRY(check_joint(world, &world->joints.items[k]));
    }
    world->joints.count = count;
    cairn_joints_index(world);
    return CAIRN_OK;
}
