/* joints.c - the joints of a run: what they are, and what they did in a step. */
#include "run.h"

/* ---- joints ---------------------------------------------------------------------------------- */

/* Definitions of joints, and their rows in the loaded step. Names of kinds and motors are those of
 * the file. */

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
    { "image", 3, true, offsetof(check_joint_states, image), true },
};

static const check_field row_fields[] = {
    { "joint", 1, true, offsetof(check_row_list, joint), false },
    { "impulse", 1, false, offsetof(check_row_list, impulse), false },
    { "correction", 1, false, offsetof(check_row_list, correction), false },
    { "eased", 1, false, offsetof(check_row_list, eased), true },
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

/* Translate numbers of the file to those of an enum, by name. */
static bool translate(check_run *run, const char *dataset, const char *const *known, int32_t *value)
{
    int names[64], count = check_names(run->file, dataset, known, CHECK_COUNT(names), names);
    for (int i = 0; i < run->joints.count; i++) {
        if (value[i] < 0 || value[i] >= count || names[value[i]] < 0)
            return check_fail(run->report, "%s: joint %d is of an unknown kind", dataset, i);
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

/* Whether one of its bodies left before the step: the joint then ends. */
static bool has_left(const check_run *run, int joint)
{
    bool left = false;
    for (int side = 0; side < 2; side++) {
        int body = run->joints.body[2 * joint + side];
        left = left || (body >= 0 && run->before.row[body] >= 0 && run->after.row[body] < 0);
    }
    return left;
}

bool check_joint_in_force(const check_run *run, int joint)
{
    int row = run->joints_before.row[joint];
    return row >= 0 && run->joints_before.broken[row] == 0 && !has_left(run, joint);
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
    if (run->cell.there && after >= 0)
        pose.x[1] =
            vec_add(pose.x[1], 1, check_shift_eval(run, run->joints_after.image + 3 * after));
    if (run->joints.turn.motor[joint] == CHECK_POSITION ||
        run->joints.slide.motor[joint] == CHECK_POSITION)
        check_felt(run, joint, &pose.felt_turn, &pose.felt_slide);
    return pose;
}

/* The stored impulses match the rows, one by one. */
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

/* Rows that hold correct less than all where that would make energy, all rows of a joint the
 * same share. */
void check_rows_ease(check_run *run)
{
    static const double shares[] = { 1,        1. / 2,    1. / 4,    1. / 16, 1. / 64,
                                     1. / 256, 1. / 1024, 1. / 4096, 0 };
    const double *eased = run->row_list.eased;
    for (int i = 0; i < run->row_count; i++) {
        check_joint_row *row = &run->rows[i];
        bool known = false,
             same = i == 0 || row->joint != run->rows[i - 1].joint || eased[i] == eased[i - 1];
        for (int k = 0; k < CHECK_COUNT(shares); k++)
            known = known || eased[i] == 1 - shares[k];
        check_true(run->report, check_at(run, "row", i, "eased"), known && same,
                   "not what a joint may do without");
        bool corrects = row->role == CHECK_HOLD || row->role == CHECK_HOLD_TURN ||
                        (row->role == CHECK_LIMIT && row->defect < 0);
        if (!corrects)
            continue;
        row->gain *= 1 - eased[i];
        row->bias *= 1 - eased[i];
    }
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

/* Whether a joint excludes contacts of a with the image k of b; a wall without bounds is the same
 * in each image. */
bool check_is_joined(const check_run *run, int a, int b, const int32_t k[3])
{
    const check_joints *j = &run->joints;
    bool wall = !run->cell.there || !check_is_bounded(run, a) || !check_is_bounded(run, b);
    for (int i = 0; i < j->count; i++) {
        int p = j->body[2 * i], q = j->body[2 * i + 1], row = run->joints_after.row[i];
        bool same = (p == a && q == b) || (p == b && q == a);
        if (!same || j->collide[i] || !check_joint_in_force(run, i))
            continue;
        const int32_t *n = row >= 0 ? run->joints_after.image + 3 * row : NULL;
        int sign = p == a ? 1 : -1;
        if (wall || !n || (n[0] == sign * k[0] && n[1] == sign * k[1] && n[2] == sign * k[2]))
            return true;
    }
    return false;
}

/* ---- what they did --------------------------------------------------------------------------- */

/* What joints did in a step: force and torque from impulses; coordinates, defects and stored energy
 * after it; the slip of a gear; whether it broke; and that the correction of overlaps changed
 * holding rows only. */

/* Energy of springs and defects of a joint in a pose. */
typedef struct measure {
    double elastic, elastic_size, drift, turn_drift, reach;
    int rows;
} measure;

/* In the state before the step, with its bodies put back, or after it: images are where they are
 * then. */
static check_joint_pose pose_in(const check_run *run, int joint, const check_state *s)
{
    static const quat straight = { 1, 0, 0, 0 };
    check_joint_pose pose = { .q = { straight, straight } };
    for (int side = 0; side < 2; side++) {
        int body = run->joints.body[2 * joint + side];
        if (body < 0 || s->row[body] < 0)
            continue;
        pose.x[side] = s->x[s->row[body]];
        pose.q[side] = s->q[s->row[body]];
    }
    int row = run->joints_after.row[joint];
    if (run->cell.there && row >= 0)
        pose.x[1] =
            vec_add(pose.x[1], 1,
                    s == &run->after ? check_shift_after(run, run->joints_after.image + 3 * row)
                                     : check_joint_shift(run, joint, 0));
    return pose;
}

static measure measure_of(const check_run *run, int joint, check_joint_pose *pose)
{
    check_joint_row rows[CHECK_JOINT_ROWS];
    measure out = { .rows = check_joint_rows(run, joint, pose, rows) };
    for (int i = 0; i < out.rows; i++) {
        double defect = fabs(rows[i].defect), k = rows[i].stiffness;
        out.reach = fmax(out.reach, rows[i].reach);
        if (rows[i].role == CHECK_HOLD)
            out.drift = fmax(out.drift, defect);
        if (rows[i].role == CHECK_HOLD_TURN)
            out.turn_drift = fmax(out.turn_drift, defect);
        out.elastic += 0.5 * k * defect * defect;
        out.elastic_size += k * (defect + 1e-3 * rows[i].reach) * rows[i].reach;
    }
    return out;
}

/* ---- one joint ------------------------------------------------------------------------------ */

static void check_reaction(check_run *run, int joint, int row)
{
    const check_joint_states *s = &run->joints_after;
    double h = run->settings.h, size = 0, turn_size = 0;
    vec force = { 0, 0, 0 }, torque = { 0, 0, 0 };
    for (int i = run->row_first[joint]; i < run->row_first[joint + 1]; i++) {
        const check_joint_row *r = &run->rows[i];
        force = vec_add(force, r->r / h, r->e);
        torque = vec_add(torque, r->r / h, r->turn[0]);
        size += fabs(r->r) / h;
        turn_size += fabs(r->r) / h * vec_norm(r->turn[0]);
    }
    check_same_vec(run->report, check_at(run, "joint", joint, "force"), s->force[row], force, size);
    check_same_vec(run->report, check_at(run, "joint", joint, "torque"), s->torque[row], torque,
                   turn_size);
    double most = run->joints.break_force[joint], most_torque = run->joints.break_torque[joint];
    bool broken = (most > 0 && vec_norm(s->force[row]) > most) ||
                  (most_torque > 0 && vec_norm(s->torque[row]) > most_torque);
    check_same(run->report, check_at(run, "joint", joint, "broken"), s->broken[row], broken, 0);
}

/* The slip of a gear: h times the rate of its only row. */
static void check_phase_of(check_run *run, int joint, int row, double before)
{
    double phase = before, size = fabs(before);
    if (run->joints.kind[joint] == CHECK_GEAR) {
        const check_joint_row *only = &run->rows[run->row_first[joint]];
        phase += run->settings.h * only->after;
        size += run->settings.h * only->rate_size;
    }
    check_same(run->report, check_at(run, "joint", joint, "phase"), run->joints_after.phase[row],
               phase, size);
}

/* A rotation by half a circle may be counted either way: rounding decides. */
static double nearest_turn(double stored, double computed, double last, double size)
{
    double by = computed - last, other = computed - copysign(2 * M_PI, by);
    bool half = fabs(fabs(by) - M_PI) < fmax(1e-6, CHECK_ROUNDING * size);
    return half && fabs(stored - other) < fabs(stored - computed) ? other : computed;
}

static void check_coordinates(check_run *run, int joint, int row, double turn)
{
    const check_joint_states *s = &run->joints_after;
    check_joint_pose pose = pose_in(run, joint, &run->after);
    pose.turn = turn;
    pose.phase = s->phase[row];
    measure m = measure_of(run, joint, &pose);
    bool broken = s->broken[row] == 1;
    check_same(run->report, check_at(run, "joint", joint, "turn"), s->turn[row],
               nearest_turn(s->turn[row], pose.turn, turn, pose.turn_size),
               fabs(turn) + pose.turn_size);
    check_same(run->report, check_at(run, "joint", joint, "slide"), s->slide[row], pose.slide,
               pose.reach);
    check_same(run->report, check_at(run, "joint", joint, "drift"), s->drift[row],
               broken ? 0 : m.drift, broken ? 0 : m.reach);
    check_same(run->report, check_at(run, "joint", joint, "turn_drift"), s->turn_drift[row],
               broken ? 0 : m.turn_drift, broken ? 0 : 1 + m.reach);
    run->elastic += broken ? 0 : m.elastic;
    run->elastic_lost -= broken ? 0 : m.elastic;
    run->elastic_size += m.elastic_size;
    run->drift = fmax(run->drift, s->drift[row]);
    run->turn_drift = fmax(run->turn_drift, s->turn_drift[row]);
}

/* A joint without rows, or broken before, does not change. */
static void check_unchanged(check_run *run, int joint, int before, int after)
{
    const check_joint_states *a = &run->joints_before, *b = &run->joints_after;
    const double numbers[][2] = {
        { b->broken[after], a->broken[before] },
        { b->turn[after], a->turn[before] },
        { b->slide[after], a->slide[before] },
        { b->drift[after], a->drift[before] },
        { b->turn_drift[after], a->turn_drift[before] },
        { b->phase[after], a->phase[before] },
        { vec_norm(b->force[after]), 0 },
        { vec_norm(b->torque[after]), 0 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        check_same(run->report, check_at(run, "joint", joint, "state without rows"), numbers[i][0],
                   numbers[i][1], 0);
}

static void check_point(check_run *run, int joint, int row)
{
    check_joint_pose pose = pose_in(run, joint, &run->after);
    vec arm = run->joints.anchor_a[joint];
    vec point = vec_add(pose.x[0], 1, quat_rotate(pose.q[0], arm));
    check_same_vec(run->report, check_at(run, "joint", joint, "point"),
                   run->joints_after.point[row], point, vec_norm(pose.x[0]) + vec_norm(arm));
}

/* Targets without a motor do not change. */
static void check_target(check_run *run, int joint, int before, int after)
{
    const check_joint_states *a = &run->joints_before, *b = &run->joints_after;
    if (run->joints.turn.motor[joint] == CHECK_NO_MOTOR)
        check_same(run->report, check_at(run, "joint", joint, "turn_target"), b->turn_target[after],
                   a->turn_target[before], 0);
    if (run->joints.slide.motor[joint] == CHECK_NO_MOTOR)
        check_same(run->report, check_at(run, "joint", joint, "slide_target"),
                   b->slide_target[after], a->slide_target[before], 0);
}

static void check_joint(check_run *run, int joint)
{
    int before = run->joints_before.row[joint], after = run->joints_after.row[joint];
    check_true(run->report, check_at(run, "joint", joint, "state"),
               (before < 0 || has_left(run, joint)) == (after < 0),
               "it appeared or vanished during the step");
    if (before < 0 || after < 0)
        return;
    double turn = run->joints_before.turn[before];
    check_point(run, joint, after);
    check_target(run, joint, before, after);
    if (run->row_first[joint] == run->row_first[joint + 1]) {
        check_unchanged(run, joint, before, after);
        return;
    }
    check_joint_pose pose = pose_in(run, joint, &run->before);
    pose.turn = turn;
    pose.phase = run->joints_before.phase[before];
    measure old = measure_of(run, joint, &pose);
    run->elastic_lost += old.elastic;
    run->elastic_size += old.elastic_size;
    check_reaction(run, joint, after);
    check_phase_of(run, joint, after, run->joints_before.phase[before]);
    check_coordinates(run, joint, after, turn);
    run->broken += run->joints_after.broken[after] == 1;
}

/* ---- all joints ----------------------------------------------------------------------------- */

/* Only holding rows act in the correction of overlaps. */
static void check_corrections(check_run *run)
{
    bool any = false;
    for (int j = 0; j < run->contacts.count; j++)
        any = any || run->contacts.correction[j] != 0;
    for (int i = 0; i < run->row_count; i++) {
        const check_joint_row *row = &run->rows[i];
        bool free = row->lower == -HUGE_VAL && row->upper == HUGE_VAL && row->eps == 0;
        double most = free && any ? HUGE_VAL : 0;
        check_between(run->report, check_at(run, "row", i, "correction"), row->z, -most, most);
    }
}

void check_joints_of(check_run *run)
{
    long i = run->step - 1;
    run->elastic = run->elastic_lost = run->elastic_size = run->drift = run->turn_drift = 0;
    run->broken = 0;
    check_corrections(run);
    for (int joint = 0; joint < run->joints.count; joint++)
        check_joint(run, joint);
    check_same(run->report, check_at(run, NULL, 0, "broken"), run->steps.broken[i], run->broken, 0);
    check_same(run->report, check_at(run, NULL, 0, "joint_drift"), run->steps.joint_drift[i],
               run->drift, 0);
    check_same(run->report, check_at(run, NULL, 0, "joint_turn_drift"),
               run->steps.joint_turn_drift[i], run->turn_drift, 0);
}

double check_elastic_start(check_run *run, double *size)
{
    double sum = 0;
    for (int joint = 0; joint < run->joints.count; joint++) {
        int row = run->joints_after.row[joint];
        if (row < 0 || run->joints_after.broken[row])
            continue;
        check_joint_pose pose = pose_in(run, joint, &run->after);
        pose.turn = run->joints_after.turn[row];
        pose.phase = run->joints_after.phase[row];
        measure m = measure_of(run, joint, &pose);
        sum += m.elastic;
        *size += m.elastic_size;
    }
    return sum;
}
