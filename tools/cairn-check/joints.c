/* joints.c - the joints of a run: what they are, and their rows in the loaded step. Names of kinds
 * and motors are those of the file. */
#include "memory.h"
#include "run.h"

static const char *const kind_names[] = {
    [CHECK_BALL] = "ball",
    [CHECK_FIXED_JOINT] = "fixed",
    [CHECK_REVOLUTE] = "revolute",
    [CHECK_PRISMATIC] = "prismatic",
    [CHECK_CYLINDRICAL] = "cylindrical",
    [CHECK_UNIVERSAL] = "universal",
    [CHECK_PLANAR] = "planar",
    [CHECK_SCREW] = "screw",
    [CHECK_DISTANCE] = "distance",
    [CHECK_ROPE] = "rope",
    [CHECK_GEAR] = "gear",
    [CHECK_SPRING] = "spring",
    [CHECK_TORSION_SPRING] = "torsion_spring",
    [CHECK_BUSHING] = "bushing",
    [CHECK_JOINT_KINDS] = NULL,
};
static const char *const motor_names[] = { "none", "velocity", "position", "force", NULL };

static const check_field joint_fields[] = {
    { "kind", 1, true, offsetof(check_joints, kind), false },
    { "body", 2, true, offsetof(check_joints, body), false },
    { "collide", 1, true, offsetof(check_joints, collide), false },
    { "anchor_a", 3, false, offsetof(check_joints, anchor_a), false },
    { "anchor_b", 3, false, offsetof(check_joints, anchor_b), false },
    { "frame_a", 4, false, offsetof(check_joints, frame_a), false },
    { "frame_b", 4, false, offsetof(check_joints, frame_b), false },
    { "turn_motor", 1, true, offsetof(check_joints, turn.motor), false },
    { "slide_motor", 1, true, offsetof(check_joints, slide.motor), false },
    { "length", 1, false, offsetof(check_joints, length), false },
    { "pitch", 1, false, offsetof(check_joints, pitch), false },
    { "ratio", 1, false, offsetof(check_joints, ratio), false },
    { "stiffness", 1, false, offsetof(check_joints, stiffness), false },
    { "damping", 1, false, offsetof(check_joints, damping), false },
    { "turn_stiffness", 1, false, offsetof(check_joints, turn_stiffness), false },
    { "turn_damping", 1, false, offsetof(check_joints, turn_damping), false },
    { "break_force", 1, false, offsetof(check_joints, break_force), false },
    { "break_torque", 1, false, offsetof(check_joints, break_torque), false },
    { "turn_lower", 1, false, offsetof(check_joints, turn.lower), false },
    { "turn_upper", 1, false, offsetof(check_joints, turn.upper), false },
    { "turn_friction", 1, false, offsetof(check_joints, turn.friction), false },
    { "turn_effort", 1, false, offsetof(check_joints, turn.effort), false },
    { "turn_spring", 1, false, offsetof(check_joints, turn.spring), false },
    { "turn_damper", 1, false, offsetof(check_joints, turn.damper), false },
    { "turn_rest", 1, false, offsetof(check_joints, turn.rest), false },
    { "slide_lower", 1, false, offsetof(check_joints, slide.lower), false },
    { "slide_upper", 1, false, offsetof(check_joints, slide.upper), false },
    { "slide_friction", 1, false, offsetof(check_joints, slide.friction), false },
    { "slide_effort", 1, false, offsetof(check_joints, slide.effort), false },
    { "slide_spring", 1, false, offsetof(check_joints, slide.spring), false },
    { "slide_damper", 1, false, offsetof(check_joints, slide.damper), false },
    { "slide_rest", 1, false, offsetof(check_joints, slide.rest), false },
};

/* The first nine are also in /frames/joints. */
static const check_field state_fields[] = {
    { "index", 1, true, offsetof(check_joint_states, index), false },
    { "broken", 1, true, offsetof(check_joint_states, broken), false },
    { "point", 3, false, offsetof(check_joint_states, point), false },
    { "force", 3, false, offsetof(check_joint_states, force), false },
    { "torque", 3, false, offsetof(check_joint_states, torque), false },
    { "turn", 1, false, offsetof(check_joint_states, turn), false },
    { "slide", 1, false, offsetof(check_joint_states, slide), false },
    { "drift", 1, false, offsetof(check_joint_states, drift), false },
    { "turn_drift", 1, false, offsetof(check_joint_states, turn_drift), false },
    { "phase", 1, false, offsetof(check_joint_states, phase), false },
    { "turn_target", 1, false, offsetof(check_joint_states, turn_target), false },
    { "slide_target", 1, false, offsetof(check_joint_states, slide_target), false },
};

static const check_field row_fields[] = {
    { "joint", 1, true, offsetof(check_row_list, joint), false },
    { "impulse", 1, false, offsetof(check_row_list, impulse), false },
    { "correction", 1, false, offsetof(check_row_list, correction), false },
};

check_group check_joint_group(const char *name, int dimension, bool certificate)
{
    return (check_group){ .name = name,
                          .fields = state_fields,
                          .count = certificate ? CHECK_COUNT(state_fields) : 9,
                          .dimension = dimension };
}

check_group check_row_group(void)
{
    return (check_group){ "certificate/rows", row_fields, CHECK_COUNT(row_fields), 3, { 0 }, 0 };
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Numbers of the file to those of an enum, by name. */
static bool translate(check_run *run, const char *dataset, const char *const *known, int32_t *value)
{
    int names[64], count = check_names(run->file, dataset, known, CHECK_COUNT(names), names);
    for (int i = 0; i < run->joints.count; i++) {
        if (value[i] < 0 || value[i] >= count || names[value[i]] < 0)
            return check_fail(run->report, "%s: joint %d is of a kind that is not known here",
                              dataset, i);
        value[i] = names[value[i]];
    }
    return true;
}

/* Nothing acts along a coordinate that a kind does not have. */
static void check_idle(check_run *run, int i, const check_drive *d, bool turn)
{
    bool idle = d->motor[i] == CHECK_NO_MOTOR && d->lower[i] == -HUGE_VAL &&
                d->upper[i] == HUGE_VAL && d->friction[i] == 0 && d->spring[i] == 0 &&
                d->damper[i] == 0;
    check_place place = { 0, "joint", i, turn ? "turn" : "slide" };
    check_true(run->report, place, idle || check_has_coordinate(run, i, turn),
               "this kind has no such coordinate to act along");
}

static bool are_sound(check_run *run)
{
    const check_joints *j = &run->joints;
    for (int i = 0; i < 2 * j->count; i++)
        if (j->body[i] < (i % 2 ? -1 : 0) || j->body[i] >= run->bodies.count)
            return check_fail(run->report, "/joints/body: joint %d names body %d of %d", i / 2,
                              j->body[i], run->bodies.count);
    for (int i = 0; i < j->count; i++) {
        double norms[2] = { quat_norm(j->frame_a[i]), quat_norm(j->frame_b[i]) };
        check_place place = { 0, "joint", i, "|frame|" };
        check_same(run->report, place, norms[0], 1, 1);
        check_same(run->report, place, norms[1], 1, 1);
        check_idle(run, i, &j->turn, true);
        check_idle(run, i, &j->slide, false);
    }
    return true;
}

bool check_joints_read(check_run *run)
{
    check_joints *j = &run->joints;
    run->joint_group =
        (check_group){ "joints", joint_fields, CHECK_COUNT(joint_fields), 3, { 0 }, 0 };
    if (!check_group_open(run->file, &run->joint_group, run->report))
        return false;
    j->count = (int)run->joint_group.rows;
    size_t n = (size_t)j->count;
    if (!check_group_read(&run->joint_group, 0, j->count, j, run->report))
        return false;
    if (!check_memory_take(&run->joints_before.row, n, sizeof(int32_t)) ||
        !check_memory_take(&run->joints_after.row, n, sizeof(int32_t)) ||
        !check_memory_take(&run->row_first, n + 1, sizeof *run->row_first) ||
        !check_memory_take(&run->rows, n * CHECK_JOINT_ROWS, sizeof *run->rows))
        return check_fail(run->report, "no memory");
    return translate(run, "joints/kind", kind_names, j->kind) &&
           translate(run, "joints/turn_motor", motor_names, j->turn.motor) &&
           translate(run, "joints/slide_motor", motor_names, j->slide.motor) && are_sound(run);
}

void check_joints_free(check_run *run)
{
    check_memory_free(&run->rows);
    check_memory_free(&run->row_first);
    check_memory_free(&run->joints_before.row);
    check_memory_free(&run->joints_after.row);
    check_group_free(&run->joint_group, &run->joints);
    check_group_close(&run->joint_group);
}

bool check_joints_index(check_run *run, check_joint_states *s)
{
    for (int i = 0; i < run->joints.count; i++)
        s->row[i] = -1;
    for (int i = 0; i < s->count; i++) {
        int joint = s->index[i];
        if (joint < 0 || joint >= run->joints.count || s->row[joint] >= 0)
            return check_fail(run->report, "step %ld: joints row %d names joint %d of %d",
                              run->step, i, joint, run->joints.count);
        s->row[joint] = i;
    }
    return true;
}

bool check_joint_in_force(const check_run *run, int joint)
{
    int row = run->joints_before.row[joint];
    return row >= 0 && run->joints_before.broken[row] == 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Where a joint's bodies were when its rows were made. */
static check_joint_pose pose_of(const check_run *run, int joint)
{
    static const quat straight = { 1, 0, 0, 0 };
    int before = run->joints_before.row[joint], after = run->joints_after.row[joint];
    check_joint_pose pose = { .q = { straight, straight },
                              .turn = run->joints_before.turn[before],
                              .phase = run->joints_before.phase[before] };
    if (after >= 0) {
        pose.turn_target = run->joints_after.turn_target[after];
        pose.slide_target = run->joints_after.slide_target[after];
    }
    for (int side = 0; side < 2; side++) {
        int body = run->joints.body[2 * joint + side];
        if (body < 0)
            continue;
        pose.x[side] = run->x_eval[body];
        pose.q[side] = run->q_eval[body];
    }
    if (run->joints.turn.motor[joint] == CHECK_POSITION ||
        run->joints.slide.motor[joint] == CHECK_POSITION)
        check_felt(run, joint, &pose.felt_turn, &pose.felt_slide);
    return pose;
}

/* Stored impulses belong to the rows, one by one. */
static bool take_impulses(check_run *run)
{
    const check_row_list *l = &run->row_list;
    check_same(run->report, check_at(run, NULL, 0, "rows of joints"), l->count, run->row_count, 0);
    if (l->count != run->row_count)
        return check_fail(run->report, "step %ld: found %d rows of joints, expected %d", run->step,
                          l->count, run->row_count);
    for (int i = 0; i < l->count; i++) {
        check_same(run->report, check_at(run, "row", i, "joint"), l->joint[i], run->rows[i].joint,
                   0);
        run->rows[i].r = l->impulse[i];
        run->rows[i].z = l->correction[i];
    }
    return true;
}

/* Each joint begins a block of its own. */
bool check_rows_make(check_run *run)
{
    int m = run->settings.components;
    run->row_count = run->blocks = 0;
    for (int i = 0; i < run->joints.count; i++) {
        run->row_first[i + 1] = run->row_first[i] = run->row_count;
        if (!check_joint_in_force(run, i))
            continue;
        check_joint_row *rows = run->rows + run->row_count;
        check_joint_pose pose = pose_of(run, i);
        int count = check_joint_rows(run, i, &pose, rows);
        for (int k = 0; k < count; k++)
            rows[k].block = run->blocks + k / m;
        run->row_count += count;
        run->row_first[i + 1] = run->row_count;
        run->blocks += (count + m - 1) / m;
    }
    return take_impulses(run);
}

/* Bodies that a joint keeps from meeting. */
bool check_is_joined(const check_run *run, int a, int b)
{
    const check_joints *j = &run->joints;
    for (int i = 0; i < j->count; i++) {
        int p = j->body[2 * i], q = j->body[2 * i + 1];
        bool same = (p == a && q == b) || (p == b && q == a);
        if (same && !j->collide[i] && check_joint_in_force(run, i))
            return true;
    }
    return false;
}
