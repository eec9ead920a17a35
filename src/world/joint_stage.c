/* joint_stage.c - joints in a step: their rows in the one-step problem, packed into blocks of as
 * many rows as a contact has components; afterwards their impulses, reactions and energies.
 *
 * Row i of a block has H = (e, R'(p x e + t)) for body a and the negative for body b, see joint.h.
 * Where rows are made for a pose q* = q + c h v*, the defect that the end of the step has is
 * theta(q*) + h (rate - c rate*), so c h rate* is taken off the defect. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "world/scheme.h"

static const double MENDING = 0.34314575050761986; /* 6 - sqrt(32): swing.c */

static bool in_force(const cairn_joint *joint)
{
    return joint->alive && !joint->broken;
}

static cairn_joint_view view_of(const cairn_stage *stage, const cairn_joint *joint,
                                const cairn_vec3 *x, const cairn_quat *q)
{
    cairn_joint_view view = { .dimension = stage->world->dimension,
                              .h = stage->h,
                              .gamma = stage->options->stabilisation,
                              .q = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } };
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body >= 0) {
            view.x[side] = x[body];
            view.q[side] = q[body];
        }
    }
    return view;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* What one body's motion (v; omega in the frame q) adds to the rate of a row. */
static double rate_of(const cairn_row *row, int side, cairn_quat q, cairn_vec3 v, cairn_vec3 omega)
{
    cairn_vec3 turning = cairn_rotate(q, omega);
    cairn_vec3 arm = side ? row->arm_b : row->arm_a;
    double rate = cairn_dot(row->e, cairn_add(v, cairn_cross(turning, arm)));
    rate += cairn_dot(side ? row->turn_b : row->turn_a, turning);
    return side ? -rate : rate;
}

/* The rate of a row that driven bodies impose. */
static double imposed_rate(const cairn_stage *stage, const cairn_joint *joint, const cairn_row *row)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body >= 0 && stage->world->bodies.motion[body] == CAIRN_MOTION_DRIVEN)
            rate += rate_of(row, side, stage->world->bodies.q[body], stage->v_free[body],
                            stage->omega_free[body]);
    }
    return rate;
}

/* The rate of a row with given velocities of the dynamic bodies. */
static double rate_with(const cairn_stage *stage, const cairn_joint *joint, const cairn_row *row,
                        const cairn_vec3 *v, const cairn_vec3 *omega)
{
    double rate = imposed_rate(stage, joint, row);
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body >= 0 && stage->block[body] >= 0)
            rate += rate_of(row, side, cairn_stage_rows_q(stage, body), v[body], omega[body]);
    }
    return rate;
}

static double rate_before(const cairn_stage *stage, const cairn_joint *joint, const cairn_row *row)
{
    return rate_with(stage, joint, row, stage->world->bodies.v, stage->world->bodies.omega);
}

static int blocks_for(int rows, int components)
{
    return (rows + components - 1) / components;
}

/* The rate of a row of a joint whose bodies swing, with the velocities they are about to have. */
static double rate_at_end(const cairn_stage *stage, const cairn_joint *joint, const cairn_row *row)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body >= 0 && cairn_stage_swings(stage, body)) {
            const cairn_swing *s = &stage->joints.swing[body];
            rate += rate_of(row, side, s->q_end, s->v_end, s->omega_end);
        }
    }
    return rate;
}

/* Its rows at mid-step, for the defects of the start: rate + (H_e - H_m) v^ + gain defect = 0. */
static void make_swinging(const cairn_stage *stage, const cairn_joint *joint, cairn_row *rows)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_row mid[CAIRN_JOINT_ROWS], end[CAIRN_JOINT_ROWS];
    cairn_joint_view at_mid = view_of(stage, joint, b->x, b->q), at_end = at_mid;
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body < 0 || !cairn_stage_swings(stage, body))
            continue;
        const cairn_swing *s = &stage->joints.swing[body];
        at_mid.x[side] = s->x_mid;
        at_mid.q[side] = s->q_mid;
        at_end.x[side] = s->x_end;
        at_end.q[side] = s->q_end;
    }
    cairn_joint_rows(joint, &at_mid, mid);
    cairn_joint_rows(joint, &at_end, end);
    for (int i = 0; i < joint->rows; i++) {
        mid[i].defect = rows[i].defect;
        mid[i].gain *= MENDING;
        mid[i].bias = rate_at_end(stage, joint, &end[i]) - rate_at_end(stage, joint, &mid[i]);
        rows[i] = mid[i];
    }
}

static bool is_swinging(const cairn_stage *stage, const cairn_joint *joint)
{
    bool swings = false;
    for (int side = 0; side < 2 && joint->rows > 0; side++)
        swings |= joint->body[side] >= 0 && cairn_stage_swings(stage, joint->body[side]);
    return swings;
}

/* Once all rows of the start are there. */
static cairn_status make_swings(cairn_stage *stage)
{
    const cairn_world *world = stage->world;
    TRY(cairn_stage_joints_tension(stage));
    TRY(cairn_stage_find_swings(stage));
    for (size_t k = 0; k < world->joint_count; k++)
        if (is_swinging(stage, &world->joints[k]))
            make_swinging(stage, &world->joints[k], stage->joints.rows + k * CAIRN_JOINT_ROWS);
    return CAIRN_OK;
}

cairn_status cairn_stage_joints_prepare(cairn_stage *stage)
{
    cairn_world *world = stage->world;
    cairn_joint_stage *s = &stage->joints;
    s->blocks = 0;
    s->added = NULL;
    s->swing = NULL;
    if (world->joint_count == 0)
        return CAIRN_OK;
    size_t rows = world->joint_count * CAIRN_JOINT_ROWS;
    s->rows = cairn_arena_take(&world->scratch, rows, sizeof *s->rows);
    if (!s->rows)
        return CAIRN_NO_MEMORY;
    memset(s->rows, 0, rows * sizeof *s->rows);
    TRY(cairn_stage_joints_feel(stage));
    for (size_t k = 0; k < world->joint_count; k++) {
        cairn_joint *joint = &world->joints[k];
        cairn_row *own = s->rows + k * CAIRN_JOINT_ROWS;
        joint->rows = 0;
        if (!in_force(joint))
            continue;
        cairn_joint_view view = view_of(stage, joint, stage->x_eval, stage->q_eval);
        joint->rows = cairn_joint_rows(joint, &view, own);
        double ahead = stage->h * cairn_scheme_ahead(stage->scheme, stage->linearisations);
        for (int i = 0; ahead > 0 && i < joint->rows; i++)
            own[i].defect -=
                ahead * rate_with(stage, joint, &own[i], stage->v_eval, stage->omega_eval);
        s->blocks += blocks_for(joint->rows, stage->components);
    }
    return make_swings(stage);
}

/* ---- the problem ---------------------------------------------------------------------------- */

static cairn_status take_arrays(cairn_stage *stage)
{
    size_t d = (size_t)stage->components;
    size_t m = (size_t)stage->world->contacts.count + (size_t)stage->joints.blocks;
    cairn_joint_stage *s = &stage->joints;
    cairn_arena *scratch = &stage->world->scratch;
    s->lower = cairn_arena_doubles(scratch, m * d);
    s->upper = cairn_arena_doubles(scratch, m * d);
    s->compliance = cairn_arena_doubles(scratch, m * d);
    s->bounded = cairn_arena_take(scratch, m, sizeof *s->bounded);
    if (!s->lower || !s->upper || !s->compliance || !s->bounded)
        return CAIRN_NO_MEMORY;
    memset(s->bounded, 0, m);
    return CAIRN_OK;
}

static void fill_side(const cairn_stage *stage, const cairn_row *row, int side, int body, double *H)
{
    double sign = side ? -1 : 1;
    cairn_vec3 e = cairn_scale(sign, row->e), arm = side ? row->arm_b : row->arm_a;
    cairn_vec3 turn = cairn_add_scaled(cairn_cross(arm, e), sign, side ? row->turn_b : row->turn_a);
    if (stage->world->dimension == 2) {
        const double values[3] = { e.x, e.y, turn.z };
        memcpy(H, values, sizeof values);
        return;
    }
    turn = cairn_rotate_back(cairn_stage_rows_q(stage, body), turn);
    const double values[6] = { e.x, e.y, e.z, turn.x, turn.y, turn.z };
    memcpy(H, values, sizeof values);
}

/* Row `row` as component i of block j of the problem. */
static void fill_row(cairn_stage *stage, const cairn_joint *joint, const cairn_row *row, int j,
                     int i)
{
    size_t entry = (size_t)j * (size_t)stage->components + (size_t)i;
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        double *H = cairn_stage_rows(stage, j, side) + i * stage->block_size;
        if (body >= 0 && stage->block[body] >= 0)
            fill_side(stage, row, side, body, H);
    }
    stage->w[entry] = imposed_rate(stage, joint, row) + row->gain * row->defect + row->bias;
    stage->joints.lower[entry] = row->lower;
    stage->joints.upper[entry] = row->upper;
    stage->joints.compliance[entry] = row->compliance;
}

static int block_of(const cairn_stage *stage, int body)
{
    return body < 0 ? -1 : stage->block[body];
}

/* The blocks of one joint from block j on; the impulses of the last step are its warm start. */
static int fill_joint(cairn_stage *stage, const cairn_joint *joint, const cairn_row *rows, int j)
{
    int d = stage->components;
    for (int i = 0; i < joint->rows; i++) {
        int at = j + i / d;
        stage->contact_block[2 * at] = block_of(stage, joint->body[0]);
        stage->contact_block[2 * at + 1] = block_of(stage, joint->body[1]);
        stage->joints.bounded[at] = 1;
        fill_row(stage, joint, &rows[i], at, i % d);
        if (stage->options->warm_start)
            stage->r[(size_t)at * (size_t)d + (size_t)(i % d)] =
                stage->warm_ratio * joint->impulse[i];
    }
    return j + blocks_for(joint->rows, d);
}

cairn_status cairn_stage_joints_fill(cairn_stage *stage)
{
    cairn_world *world = stage->world;
    if (stage->joints.blocks == 0)
        return CAIRN_OK;
    TRY(take_arrays(stage));
    int j = world->contacts.count;
    for (size_t k = 0; k < world->joint_count; k++)
        j = fill_joint(stage, &world->joints[k], stage->joints.rows + k * CAIRN_JOINT_ROWS, j);
    stage->problem.contacts = j;
    stage->problem.bounded = stage->joints.bounded;
    stage->problem.lower = stage->joints.lower;
    stage->problem.upper = stage->joints.upper;
    stage->problem.compliance = stage->joints.compliance;
    return CAIRN_OK;
}

/* ---- after the solve ------------------------------------------------------------------------ */

static void react(cairn_joint *joint, const cairn_row *rows, double h)
{
    joint->force = joint->torque = cairn_vec(0, 0, 0);
    for (int i = 0; i < joint->rows; i++) {
        joint->force = cairn_add_scaled(joint->force, joint->impulse[i] / h, rows[i].e);
        joint->torque = cairn_add_scaled(joint->torque, joint->impulse[i] / h, rows[i].turn_a);
    }
    double force = joint->def.break_force, torque = joint->def.break_torque;
    joint->broken = (force > 0 && cairn_norm(joint->force) > force) ||
                    (torque > 0 && cairn_norm(joint->torque) > torque);
}

void cairn_stage_joints_store(cairn_stage *stage)
{
    cairn_world *world = stage->world;
    size_t entry = (size_t)world->contacts.count * (size_t)stage->components;
    for (size_t k = 0; k < world->joint_count; k++) {
        cairn_joint *joint = &world->joints[k];
        if (!in_force(joint)) {
            joint->force = joint->torque = cairn_vec(0, 0, 0);
            continue;
        }
        size_t bytes = (size_t)joint->rows * sizeof(double);
        memcpy(joint->impulse, stage->r + entry, bytes);
        memset(joint->correction, 0, sizeof joint->correction);
        if (stage->shift_r)
            memcpy(joint->correction, stage->shift_r + entry, bytes);
        react(joint, stage->joints.rows + k * CAIRN_JOINT_ROWS, stage->h);
        stage->report->broken += joint->broken;
        entry += (size_t)(blocks_for(joint->rows, stage->components) * stage->components);
    }
}

/* ---- energy --------------------------------------------------------------------------------- */

/* One row: its impulse r does r.(mean rate) of work on the bodies, of which driven bodies do
 * their part; the rest is what the row stores, gives or loses. */
static void add_row(const cairn_stage *stage, const cairn_joint *joint, const cairn_row *row,
                    size_t entry, cairn_energy *energy)
{
    double r = stage->r[entry], imposed = imposed_rate(stage, joint, row);
    double after = stage->u[entry] - row->gain * row->defect - row->bias;
    double work = r * 0.5 * (after + rate_before(stage, joint, row));
    energy->driver_work -= r * imposed;
    switch (row->role) {
    case CAIRN_ROW_MOTOR:
        energy->motor_work += work;
        break;
    case CAIRN_ROW_FRICTION:
        energy->friction_loss -= work;
        break;
    case CAIRN_ROW_SPRING: /* what it stores is counted when the bodies have moved */
        energy->damping_loss += stage->h * row->damping * after * after;
        energy->numerical_loss -= work + stage->h * row->damping * after * after;
        break;
    case CAIRN_ROW_LIMIT: /* a stop is met, a rope becomes taut */
        energy->impact_loss -= work;
        break;
    default: /* what is held does no work but for the curvature of a step */
        energy->numerical_loss -= work;
    }
}

void cairn_stage_joints_energy(cairn_stage *stage)
{
    const cairn_world *world = stage->world;
    int d = stage->components, j = world->contacts.count;
    for (size_t k = 0; stage->joints.blocks > 0 && k < world->joint_count; k++) {
        const cairn_joint *joint = &world->joints[k];
        if (!in_force(joint))
            continue;
        const cairn_row *rows = stage->joints.rows + k * CAIRN_JOINT_ROWS;
        for (int i = 0; i < joint->rows; i++)
            add_row(stage, joint, &rows[i], (size_t)(j * d + i), &stage->report->energy);
        j += blocks_for(joint->rows, d);
    }
    cairn_stage_joints_steady_loss(stage);
}

/* ---- after the bodies have moved ------------------------------------------------------------ */

/* What a gear let slip in this step. */
static double gear_slip(const cairn_stage *stage, const cairn_joint *joint, const cairn_row *row,
                        size_t entry)
{
    bool gear = joint->def.kind == CAIRN_JOINT_GEAR && joint->rows > 0;
    return gear ? stage->h * (stage->u[entry] - row->gain * row->defect - row->bias) : 0;
}

/* Defects of what the joint should hold, and what its springs store where the bodies are now. */
void cairn_joint_measure(cairn_joint *joint, const cairn_joint_view *view)
{
    cairn_row rows[CAIRN_JOINT_ROWS];
    int count = joint->broken ? 0 : cairn_joint_rows(joint, view, rows);
    joint->drift = joint->turn_drift = joint->elastic = 0;
    for (int i = 0; i < count; i++) {
        double defect = fabs(rows[i].defect);
        if (rows[i].role == CAIRN_ROW_HOLD)
            joint->drift = fmax(joint->drift, defect);
        else if (rows[i].role == CAIRN_ROW_HOLD_TURN)
            joint->turn_drift = fmax(joint->turn_drift, defect);
        joint->elastic += 0.5 * rows[i].stiffness * defect * defect;
    }
}

void cairn_stage_joints_commit(cairn_stage *stage)
{
    cairn_world *world = stage->world;
    cairn_certificate *c = &stage->report->certificate;
    int d = stage->components, j = world->contacts.count;
    for (size_t k = 0; k < world->joint_count; k++) {
        cairn_joint *joint = &world->joints[k];
        if (!joint->alive || joint->rows == 0)
            continue;
        const cairn_row *rows = stage->joints.rows + k * CAIRN_JOINT_ROWS;
        cairn_joint_view view = view_of(stage, joint, world->bodies.x, world->bodies.q);
        joint->phase += gear_slip(stage, joint, rows, (size_t)(j * d));
        cairn_joint_coordinates(joint, &view, &joint->turn, &joint->slide);
        double stored = joint->elastic;
        cairn_joint_measure(joint, &view);
        stage->report->energy.elastic += joint->elastic;
        stage->report->energy.numerical_loss -= joint->elastic - stored;
        c->joint_drift = fmax(c->joint_drift, joint->drift);
        c->joint_turn_drift = fmax(c->joint_turn_drift, joint->turn_drift);
        j += blocks_for(joint->rows, d);
    }
    if (stage->report->broken > 0)
        cairn_joints_index(world);
}
