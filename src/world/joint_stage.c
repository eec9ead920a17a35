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
#include "world/step.h"

static const double MENDING = 0.34314575050761986; /* 6 - sqrt(32): swing.c */

static bool in_force(const cairn_joint *joint)
{
    return joint->alive && !joint->broken;
}

static cairn_joint_view view_of(const cairn_step *step, const cairn_joint *joint,
                                const cairn_vec3 *x, const cairn_quat *q)
{
    cairn_joint_view view = { .dimension = step->world->dimension,
                              .h = step->h,
                              .gamma = step->options->stabilisation,
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

/* The orientation whose frame the rows of joints have for a body. */
static cairn_quat frame_of(const cairn_step *step, const cairn_mechanism *joints, int body)
{
    return cairn_mechanism_swings(joints, body) ? joints->swing[body].q_end
                                                : step->world->bodies.q[body];
}

/* A joint in the step, and what the rates of its rows follow from. */
typedef struct acting {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_joint *joint;
} acting;

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
static double imposed_rate(const acting *a, const cairn_row *row)
{
    const cairn_body_store *b = &a->step->world->bodies;
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        int body = a->joint->body[side];
        if (body >= 0 && b->motion[body] == CAIRN_MOTION_DRIVEN)
            rate += rate_of(row, side, b->q[body], a->motion->v_free[body],
                            a->motion->omega_free[body]);
    }
    return rate;
}

/* The rate of a row with given velocities of the dynamic bodies. */
static double rate_with(const acting *a, const cairn_row *row, const cairn_vec3 *v,
                        const cairn_vec3 *omega)
{
    double rate = imposed_rate(a, row);
    for (int side = 0; side < 2; side++) {
        int body = a->joint->body[side];
        if (body >= 0 && cairn_step_block(a->step, body) >= 0)
            rate += rate_of(row, side, frame_of(a->step, a->joints, body), v[body], omega[body]);
    }
    return rate;
}

static int blocks_for(int rows, int components)
{
    return (rows + components - 1) / components;
}

/* The rate of a row of a joint whose bodies swing, with the velocities they are about to have. */
static double rate_at_end(const cairn_mechanism *joints, const cairn_joint *joint,
                          const cairn_row *row)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body >= 0 && cairn_mechanism_swings(joints, body)) {
            const cairn_swing *s = &joints->swing[body];
            rate += rate_of(row, side, s->q_end, s->v_end, s->omega_end);
        }
    }
    return rate;
}

/* Its rows at mid-step, for the defects of the start: rate + (H_e - H_m) v^ + gain defect = 0. */
static void make_swinging(const cairn_step *step, const cairn_mechanism *joints,
                          const cairn_joint *joint, cairn_row *rows)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_row mid[CAIRN_JOINT_ROWS], end[CAIRN_JOINT_ROWS];
    cairn_joint_view at_mid = view_of(step, joint, b->x, b->q), at_end = at_mid;
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body < 0 || !cairn_mechanism_swings(joints, body))
            continue;
        const cairn_swing *s = &joints->swing[body];
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
        mid[i].bias = rate_at_end(joints, joint, &end[i]) - rate_at_end(joints, joint, &mid[i]);
        rows[i] = mid[i];
    }
}

static bool is_swinging(const cairn_mechanism *joints, const cairn_joint *joint)
{
    bool swings = false;
    for (int side = 0; side < 2 && joint->rows > 0; side++)
        swings |= joint->body[side] >= 0 && cairn_mechanism_swings(joints, joint->body[side]);
    return swings;
}

/* Once all rows of the start are there. */
static cairn_status make_swings(const cairn_step *step, const cairn_free_motion *motion,
                                cairn_mechanism *joints)
{
    const cairn_world *world = step->world;
    TRY(cairn_joints_tension(step, joints));
    TRY(cairn_joints_find_swings(step, motion, joints));
    for (size_t k = 0; k < world->joints.count; k++)
        if (is_swinging(joints, &world->joints.items[k]))
            make_swinging(step, joints, &world->joints.items[k],
                          joints->rows + k * CAIRN_JOINT_ROWS);
    return CAIRN_OK;
}

cairn_status cairn_step_joints(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_mechanism *joints)
{
    cairn_world *world = step->world;
    *joints = (cairn_mechanism){ 0 };
    if (world->joints.count == 0)
        return CAIRN_OK;
    size_t rows = world->joints.count * CAIRN_JOINT_ROWS;
    joints->rows = cairn_arena_take(&world->scratch, rows, sizeof *joints->rows);
    if (!joints->rows)
        return CAIRN_NO_MEMORY;
    memset(joints->rows, 0, rows * sizeof *joints->rows);
    TRY(cairn_joints_feel(world));
    for (size_t k = 0; k < world->joints.count; k++) {
        cairn_joint *joint = &world->joints.items[k];
        cairn_row *own = joints->rows + k * CAIRN_JOINT_ROWS;
        const acting a = { step, motion, joints, joint };
        joint->rows = 0;
        if (!in_force(joint))
            continue;
        cairn_joint_view view = view_of(step, joint, motion->x_eval, motion->q_eval);
        joint->rows = cairn_joint_rows(joint, &view, own);
        double ahead = step->h * cairn_scheme_ahead(step->scheme, step->linearisations);
        for (int i = 0; ahead > 0 && i < joint->rows; i++)
            own[i].defect -= ahead * rate_with(&a, &own[i], motion->v_eval, motion->omega_eval);
        joints->blocks += blocks_for(joint->rows, step->components);
    }
    return make_swings(step, motion, joints);
}

/* ---- the problem ---------------------------------------------------------------------------- */

static cairn_status take_arrays(const cairn_step *step, int blocks, cairn_posed *posed)
{
    size_t d = (size_t)step->components;
    size_t m = (size_t)step->world->contacts.count + (size_t)blocks;
    cairn_arena *scratch = &step->world->scratch;
    posed->lower = cairn_arena_doubles(scratch, m * d);
    posed->upper = cairn_arena_doubles(scratch, m * d);
    posed->compliance = cairn_arena_doubles(scratch, m * d);
    posed->bounded = cairn_arena_take(scratch, m, sizeof *posed->bounded);
    if (!posed->lower || !posed->upper || !posed->compliance || !posed->bounded)
        return CAIRN_NO_MEMORY;
    memset(posed->bounded, 0, m);
    return CAIRN_OK;
}

static void fill_side(int dimension, cairn_quat q, const cairn_row *row, int side, double *H)
{
    double sign = side ? -1 : 1;
    cairn_vec3 e = cairn_scale(sign, row->e), arm = side ? row->arm_b : row->arm_a;
    cairn_vec3 turn = cairn_add_scaled(cairn_cross(arm, e), sign, side ? row->turn_b : row->turn_a);
    if (dimension == 2) {
        const double values[3] = { e.x, e.y, turn.z };
        memcpy(H, values, sizeof values);
        return;
    }
    turn = cairn_rotate_back(q, turn);
    const double values[6] = { e.x, e.y, e.z, turn.x, turn.y, turn.z };
    memcpy(H, values, sizeof values);
}

/* Row `row` as component i of block j of the problem. */
static void fill_row(const acting *a, const cairn_row *row, int j, int i, const cairn_posed *posed)
{
    const cairn_step *step = a->step;
    int dimension = step->world->dimension;
    size_t entry = (size_t)j * (size_t)step->components + (size_t)i;
    for (int side = 0; side < 2; side++) {
        int body = a->joint->body[side];
        double *H = cairn_posed_rows(posed, j, side) + i * step->block_size;
        if (body >= 0 && cairn_step_block(step, body) >= 0)
            fill_side(dimension, frame_of(step, a->joints, body), row, side, H);
    }
    posed->w[entry] = imposed_rate(a, row) + row->gain * row->defect + row->bias;
    posed->lower[entry] = row->lower;
    posed->upper[entry] = row->upper;
    posed->compliance[entry] = row->compliance;
}

static int block_of(const cairn_step *step, int body)
{
    return body < 0 ? -1 : cairn_step_block(step, body);
}

/* The blocks of one joint from block j on. */
static int fill_joint(const acting *a, const cairn_row *rows, int j, const cairn_posed *posed)
{
    const cairn_step *step = a->step;
    const cairn_joint *joint = a->joint;
    int d = step->components;
    for (int i = 0; i < joint->rows; i++) {
        int at = j + i / d;
        posed->block[2 * at] = block_of(step, joint->body[0]);
        posed->block[2 * at + 1] = block_of(step, joint->body[1]);
        posed->bounded[at] = 1;
        fill_row(a, &rows[i], at, i % d, posed);
    }
    return j + blocks_for(joint->rows, d);
}

cairn_status cairn_joints_pose(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, cairn_posed *posed)
{
    const cairn_world *world = step->world;
    if (joints->blocks == 0)
        return CAIRN_OK;
    TRY(take_arrays(step, joints->blocks, posed));
    int j = world->contacts.count;
    for (size_t k = 0; k < world->joints.count; k++) {
        const acting a = { step, motion, joints, &world->joints.items[k] };
        j = fill_joint(&a, joints->rows + k * CAIRN_JOINT_ROWS, j, posed);
    }
    posed->problem.contacts = j;
    posed->problem.bounded = posed->bounded;
    posed->problem.lower = posed->lower;
    posed->problem.upper = posed->upper;
    posed->problem.compliance = posed->compliance;
    return CAIRN_OK;
}

/* The impulses of the last step. */
void cairn_joints_first_guess(const cairn_step *step, double ratio, double *r)
{
    const cairn_world *world = step->world;
    int d = step->components, j = world->contacts.count;
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        for (int i = 0; i < joint->rows; i++)
            r[j * d + i] = ratio * joint->impulse[i];
        j += blocks_for(joint->rows, d);
    }
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

void cairn_step_store_joints(const cairn_step *step, const cairn_mechanism *joints,
                             const cairn_answer *answer, const cairn_mending *mending)
{
    cairn_world *world = step->world;
    size_t entry = (size_t)world->contacts.count * (size_t)step->components;
    for (size_t k = 0; k < world->joints.count; k++) {
        cairn_joint *joint = &world->joints.items[k];
        if (!in_force(joint)) {
            joint->force = joint->torque = cairn_vec(0, 0, 0);
            continue;
        }
        size_t bytes = (size_t)joint->rows * sizeof(double);
        memcpy(joint->impulse, answer->r + entry, bytes);
        memset(joint->correction, 0, sizeof joint->correction);
        if (mending->impulses)
            memcpy(joint->correction, mending->impulses + entry, bytes);
        react(joint, joints->rows + k * CAIRN_JOINT_ROWS, step->h);
        step->report->broken += joint->broken;
        entry += (size_t)(blocks_for(joint->rows, step->components) * step->components);
    }
}

/* ---- energy --------------------------------------------------------------------------------- */

/* One row: its impulse r does r.(mean rate) of work on the bodies, of which driven bodies do
 * their part; the rest is what the row stores, gives or loses. */
static void add_row(const acting *a, const cairn_row *row, const cairn_answer *answer, size_t entry,
                    cairn_energy *energy)
{
    const cairn_body_store *b = &a->step->world->bodies;
    double r = answer->r[entry], imposed = imposed_rate(a, row), h = a->step->h;
    double after = answer->u[entry] - row->gain * row->defect - row->bias;
    double work = r * 0.5 * (after + rate_with(a, row, b->v, b->omega));
    energy->driver_work -= r * imposed;
    switch (row->role) {
    case CAIRN_ROW_MOTOR:
        energy->motor_work += work;
        break;
    case CAIRN_ROW_FRICTION:
        energy->friction_loss -= work;
        break;
    case CAIRN_ROW_SPRING: /* what it stores is counted when the bodies have moved */
        energy->damping_loss += h * row->damping * after * after;
        energy->numerical_loss -= work + h * row->damping * after * after;
        break;
    case CAIRN_ROW_LIMIT: /* a stop is met, a rope becomes taut */
        energy->impact_loss -= work;
        break;
    default: /* what is held does no work but for the curvature of a step */
        energy->numerical_loss -= work;
    }
}

void cairn_joints_energy(const cairn_step *step, const cairn_free_motion *motion,
                         const cairn_mechanism *joints, const cairn_answer *answer)
{
    const cairn_world *world = step->world;
    int d = step->components, j = world->contacts.count;
    for (size_t k = 0; joints->blocks > 0 && k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        if (!in_force(joint))
            continue;
        const cairn_row *rows = joints->rows + k * CAIRN_JOINT_ROWS;
        const acting a = { step, motion, joints, joint };
        for (int i = 0; i < joint->rows; i++)
            add_row(&a, &rows[i], answer, (size_t)(j * d + i), &step->report->energy);
        j += blocks_for(joint->rows, d);
    }
    cairn_joints_steady_loss(step, joints, answer->v);
}

/* ---- after the bodies have moved ------------------------------------------------------------ */

/* What a gear let slip in this step. */
static double gear_slip(const cairn_joint *joint, const cairn_row *row, double h, double u)
{
    bool gear = joint->def.kind == CAIRN_JOINT_GEAR && joint->rows > 0;
    return gear ? h * (u - row->gain * row->defect - row->bias) : 0;
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

void cairn_step_commit_joints(const cairn_step *step, const cairn_mechanism *joints,
                              const cairn_answer *answer)
{
    cairn_world *world = step->world;
    cairn_certificate *c = &step->report->certificate;
    int d = step->components, j = world->contacts.count;
    for (size_t k = 0; k < world->joints.count; k++) {
        cairn_joint *joint = &world->joints.items[k];
        if (!joint->alive || joint->rows == 0)
            continue;
        const cairn_row *rows = joints->rows + k * CAIRN_JOINT_ROWS;
        cairn_joint_view view = view_of(step, joint, world->bodies.x, world->bodies.q);
        joint->phase += gear_slip(joint, rows, step->h, answer->u[j * d]);
        cairn_joint_coordinates(joint, &view, &joint->turn, &joint->slide);
        double stored = joint->elastic;
        cairn_joint_measure(joint, &view);
        step->report->energy.elastic += joint->elastic;
        step->report->energy.numerical_loss -= joint->elastic - stored;
        c->joint_drift = fmax(c->joint_drift, joint->drift);
        c->joint_turn_drift = fmax(c->joint_turn_drift, joint->turn_drift);
        j += blocks_for(joint->rows, d);
    }
    if (step->report->broken > 0)
        cairn_joints_index(world);
}
