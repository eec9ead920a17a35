/* joint_state.c - what joints did in a step: force and torque from impulses, coordinates, defects
 * and stored energy where the bodies are after it, what a gear let slip, whether it broke; and that
 * what mended overlaps left all but held rows alone. */
#include "run.h"

/* Energy of springs and defects of a joint in a pose. */
typedef struct measure {
    double elastic, elastic_size, drift, turn_drift, reach;
    int rows;
} measure;

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

/* What a gear let slip: h times the rate of its only row. */
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

/* A turn by half a circle may be counted either way: rounding decides. */
static double nearest_turn(double stored, double computed, double last)
{
    double by = computed - last, other = computed - copysign(2 * M_PI, by);
    bool half = fabs(fabs(by) - M_PI) < 1e-6;
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
               nearest_turn(s->turn[row], pose.turn, turn), fabs(turn) + pose.turn_size);
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

/* Of a joint without rows, or broken before, nothing changes. */
static void check_idle(check_run *run, int joint, int before, int after)
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

/* Targets that no motor aims at stay as they are. */
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
    check_true(run->report, check_at(run, "joint", joint, "state"), (before < 0) == (after < 0),
               "it came or went during the step");
    if (before < 0 || after < 0)
        return;
    double turn = run->joints_before.turn[before];
    check_point(run, joint, after);
    check_target(run, joint, before, after);
    if (run->row_first[joint] == run->row_first[joint + 1]) {
        check_idle(run, joint, before, after);
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

/* Only what is held goes on to hold while overlaps are mended. */
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
