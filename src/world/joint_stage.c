/* joint_stage.c - joints in a step: their rows enter the one-step problem, packed into blocks of as
 * many rows as a contact has components; after the solve, their impulses, reactions and energies.
 *
 * Row i of a block has H = (e, R'(p x e + t)) for body a and the negative for body b; see joint.h.
 * If rows are computed for a pose q* = q + c h v*, the defect at the end of the step is
 *     theta(q*) + h (rate - c rate*),
 * so c h rate* is subtracted from the defect.
 *
 * The blocks of joints follow those of the contacts, joint by joint. Every function below that
 * walks over impulses or velocities counts blocks in this order. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "world/step.h"

static const double MENDING = 0.34314575050761986; /* 6 - sqrt(32): see swing.c */

/* Whether a joint acts, and here. A broken joint stays in the list, and its state can still be
 * read. */
static bool in_force(const cairn_joint *joint)
{
    return joint->alive && !joint->broken && !joint->elsewhere;
}

/* Moves the second body to its image that is joined. */
static void show_image(const cairn_world *world, const cairn_joint *joint, double ahead,
                       cairn_joint_view *view)
{
    if (cairn_image_is_other(joint->image))
        view->x[1] = cairn_add(view->x[1], cairn_joint_shift(world, joint, ahead));
}

/* The poses x, q of the joint's bodies; the world has x = 0 and no rotation. */
static cairn_joint_view view_of(const cairn_step *step, const cairn_joint *joint,
                                const cairn_vec3 *x, const cairn_quat *q)
{
    cairn_joint_view view = { .dimension = step->world->dimension,
                              .h = step->h,
                              .whole = step->whole,
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

/* The orientation in whose frame the rows of joints give the angular velocity of a body. */
static cairn_quat frame_of(const cairn_step *step, const cairn_mechanism *joints, int body)
{
    return cairn_mechanism_swings(joints, body) ? joints->swing[body].q_end
                                                : step->world->bodies.q[body];
}

/* A joint in a step, with the values that the rates of its rows depend on. */
typedef struct acting {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_joint *joint;
} acting;

/* The contribution of one body to the rate of a row; v in the world frame, omega in the frame q. */
static double rate_of(const cairn_row *row, int side, cairn_quat q, cairn_vec3 v, cairn_vec3 omega)
{
    cairn_vec3 turning = cairn_rotate(q, omega);
    cairn_vec3 arm = side ? row->arm_b : row->arm_a;
    double rate = cairn_dot(row->e, cairn_add(v, cairn_cross(turning, arm)));
    rate += cairn_dot(side ? row->turn_b : row->turn_a, turning);
    return side ? -rate : rate;
}

/* The rate of a row imposed by driven bodies, and by the motion of an image relative to its body.
 * They are not in the problem, so it goes into w. */
static double imposed_rate(const acting *a, const cairn_row *row)
{
    const cairn_body_store *b = &a->step->world->bodies;
    double rate = -cairn_dot(row->e, cairn_joint_drift(a->step->world, a->joint));
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

/* A block holds as many rows as a contact has components; the last block of a joint may be padded
 * with empty rows. */
static int blocks_for(int rows, int components)
{
    return (rows + components - 1) / components;
}

/* The rate of a row with the predicted velocities v^ of the bodies that swing (swing.c). */
static double rate_at_end(const cairn_mechanism *joints, const cairn_joint *joint, cairn_vec3 drift,
                          const cairn_row *row)
{
    double rate = -cairn_dot(row->e, drift);
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body >= 0 && cairn_mechanism_swings(joints, body)) {
            const cairn_swing *s = &joints->swing[body];
            rate += rate_of(row, side, s->q_end, s->v_end, s->omega_end);
        }
    }
    return rate;
}

/* The rows of a joint between swinging bodies at mid-step, or at the predicted end, and their
 * rates with v^. */
static void look_ahead(const cairn_step *step, const cairn_mechanism *joints,
                       const cairn_joint *joint, bool end, cairn_row *rows, double *rates)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_joint_view view = view_of(step, joint, b->x, b->q);
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        if (body < 0 || !cairn_mechanism_swings(joints, body))
            continue;
        const cairn_swing *s = &joints->swing[body];
        view.x[side] = end ? s->x_end : s->x_mid;
        view.q[side] = end ? s->q_end : s->q_mid;
    }
    cairn_vec3 drift = cairn_joint_drift(step->world, joint);
    show_image(step->world, joint, end ? step->h : 0.5 * step->h, &view);
    cairn_joint_rows(joint, &view, rows);
    for (int i = 0; i < joint->rows; i++)
        rates[i] = rate_at_end(joints, joint, drift, &rows[i]);
}

/* Replaces the rows of a joint between swinging bodies by those of mid-step, with the defects of
 * the start: rate + (H_e - H_m) v^ + gain defect = 0. */
static void make_swinging(const cairn_step *step, const cairn_mechanism *joints,
                          const cairn_joint *joint, cairn_row *rows)
{
    cairn_row mid[CAIRN_JOINT_ROWS], end[CAIRN_JOINT_ROWS];
    double rate[CAIRN_JOINT_ROWS], rate_end[CAIRN_JOINT_ROWS];
    look_ahead(step, joints, joint, false, mid, rate);
    look_ahead(step, joints, joint, true, end, rate_end);
    for (int i = 0; i < joint->rows; i++) {
        mid[i].defect = rows[i].defect;
        mid[i].gain *= MENDING;
        mid[i].bias = rate_end[i] - rate[i];
        rows[i] = mid[i];
    }
}

/* Whether one of the joint's bodies swings. All dynamic bodies of the joint then do, because groups
 * swing as a whole. */
static bool is_swinging(const cairn_mechanism *joints, const cairn_joint *joint)
{
    bool swings = false;
    for (int side = 0; side < 2 && joint->rows > 0; side++)
        swings |= joint->body[side] >= 0 && cairn_mechanism_swings(joints, joint->body[side]);
    return swings;
}

/* Bodies of which v^ is no prediction do not swing (swing.c). */
static void stop_strays(const cairn_step *step, const cairn_free_motion *motion,
                        cairn_mechanism *joints)
{
    const cairn_world *world = step->world;
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        cairn_row rows[CAIRN_JOINT_ROWS];
        double rates[CAIRN_JOINT_ROWS];
        if (!is_swinging(joints, joint))
            continue;
        look_ahead(step, joints, joint, true, rows, rates);
        if (!cairn_joint_is_foreseen(step, motion, joints, joint, rows, rates))
            cairn_joint_strays(joint, joints);
    }
    cairn_joints_stop_strays(world, joints);
}

/* Which bodies swing depends on the rows of all joints, so this follows when all of them are
 * known. */
static cairn_status make_swings(const cairn_step *step, const cairn_free_motion *motion,
                                cairn_mechanism *joints)
{
    const cairn_world *world = step->world;
    TRY(cairn_joints_tension(step, joints));
    TRY(cairn_joints_find_swings(step, motion, joints));
    stop_strays(step, motion, joints);
    for (size_t k = 0; k < world->joints.count; k++)
        if (is_swinging(joints, &world->joints.items[k]))
            make_swinging(step, joints, &world->joints.items[k],
                          joints->rows + k * CAIRN_JOINT_ROWS);
    return CAIRN_OK;
}

/* The rows of every joint at the poses where contacts are evaluated. Unused rows are zero. The
 * inertia felt by motors is needed by the rows, so it comes first. */
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
        double ahead = step->h * cairn_scheme_ahead(step->scheme, step->linearisations);
        show_image(world, joint, ahead, &view);
        joint->rows = cairn_joint_rows(joint, &view, own);
        for (int i = 0; ahead > 0 && i < joint->rows; i++)
            own[i].defect -= ahead * rate_with(&a, &own[i], motion->v_eval, motion->omega_eval);
        joints->blocks += blocks_for(joint->rows, step->components);
    }
    joints->any = cairn_link_any(world->exchange.link, joints->blocks > 0);
    return make_swings(step, motion, joints);
}

/* ---- the problem ---------------------------------------------------------------------------- */

/* Arrays that only problems with bounded rows have. Contacts leave `bounded` at 0 and their bounds
 * unused. */
static cairn_status take_arrays(const cairn_step *step, int blocks, cairn_posed *posed)
{
    size_t d = (size_t)step->components;
    size_t m = (size_t)step->world->contacts.count + (size_t)blocks;
    cairn_arena *scratch = &step->world->scratch;
    posed->lower = cairn_arena_doubles(scratch, m * d);
    posed->upper = cairn_arena_doubles(scratch, m * d);
    posed->compliance = cairn_arena_doubles(scratch, m * d);
    posed->bounded = cairn_arena_take(scratch, m, sizeof *posed->bounded);
    posed->demand = cairn_arena_doubles(scratch, m * d);
    posed->corrects = cairn_arena_zeros(scratch, m * d, sizeof *posed->corrects);
    if (!posed->lower || !posed->upper || !posed->compliance || !posed->demand ||
        !posed->corrects || !posed->bounded)
        return CAIRN_NO_MEMORY;
    memset(posed->bounded, 0, m);
    return CAIRN_OK;
}

/* H of one row on one side: direction, then p x e + t, in 3D in the frame of the body. */
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

/* Writes a row as component i of block j. Sides without a dynamic body keep H = 0. */
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
    posed->demand[entry] = row->gain * row->defect + row->bias;
    posed->corrects[entry] = row->role == CAIRN_ROW_HOLD || row->role == CAIRN_ROW_HOLD_TURN ||
                             (row->role == CAIRN_ROW_LIMIT && row->defect < 0);
    posed->w[entry] = imposed_rate(a, row) + row->gain * row->defect + row->bias;
    posed->lower[entry] = row->lower;
    posed->upper[entry] = row->upper;
    posed->compliance[entry] = row->compliance;
}

/* Likewise -1 for the world, whose row is -1. */
static int block_of(const cairn_step *step, int body)
{
    return body < 0 ? -1 : cairn_step_block(step, body);
}

/* Fills the blocks of one joint from block j on; returns the block after them. */
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

/* Appends the rows of all joints to the problem; without joints it keeps its form with contacts
 * alone. */
cairn_status cairn_joints_pose(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, cairn_posed *posed)
{
    const cairn_world *world = step->world;
    if (!joints->any)
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
    posed->added = joints->added;
    return CAIRN_OK;
}

/* Warm start: the impulses of the last step, scaled with the ratio of the time steps. */
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

/* Reaction on a: the sum of the rows' impulses over h. A joint breaks when it exceeds a limit, and
 * is gone from the next step on. */
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

/* The share of the correction that a joint did without, whose first block this is. */
static double eased_of(const cairn_answer *answer, size_t block)
{
    return answer->eased ? answer->eased[block] : 0;
}

/* `correction` is cleared in full, since a step without penetration correction leaves none. */
void cairn_step_store_joints(const cairn_step *step, const cairn_mechanism *joints,
                             const cairn_answer *answer, const cairn_mending *mending)
{
    cairn_world *world = step->world;
    size_t d = (size_t)step->components, entry = (size_t)world->contacts.count * d;
    int64_t broken = 0;
    for (size_t k = 0; k < world->joints.count; k++) {
        cairn_joint *joint = &world->joints.items[k];
        if (!joint->alive || joint->broken) /* its bodies may be with two members */
            joint->force = joint->torque = cairn_vec(0, 0, 0);
        if (!in_force(joint))
            continue;
        size_t bytes = (size_t)joint->rows * sizeof(double);
        memcpy(joint->impulse, answer->r + entry, bytes);
        joint->eased = joint->rows > 0 ? eased_of(answer, entry / d) : 0;
        memset(joint->correction, 0, sizeof joint->correction);
        if (mending->impulses)
            memcpy(joint->correction, mending->impulses + entry, bytes);
        react(joint, joints->rows + k * CAIRN_JOINT_ROWS, step->h);
        broken += joint->broken;
        entry += (size_t)(blocks_for(joint->rows, step->components) * step->components);
    }
    if (world->joints.count > 0)
        step->report->broken = (int)cairn_link_sum(world->exchange.link, broken);
}

/* ---- energy --------------------------------------------------------------------------------- */

/* The rate of a row before the step. Either both bodies swing or none does. */
static double rate_before(const acting *a, const cairn_row *row)
{
    const cairn_body_store *b = &a->step->world->bodies;
    bool swings = false;
    for (int side = 0; side < 2; side++) {
        int body = a->joint->body[side];
        swings = swings || (body >= 0 && cairn_mechanism_swings(a->joints, body));
    }
    return rate_with(a, row, b->v, swings ? b->omega : a->motion->omega_coast);
}

/* The energy of one row. Its impulse r does the work r.(mean rate) on the bodies; driven bodies
 * contribute their part of it. The rest is what the row stores, supplies or dissipates, by its
 * role. */
static void add_row(const acting *a, const cairn_row *row, const cairn_answer *answer, size_t entry,
                    cairn_energy *energy)
{
    double r = answer->r[entry], imposed = imposed_rate(a, row), h = a->step->h;
    double after = answer->u[entry] - answer->demand[entry];
    double work = r * 0.5 * (after + rate_before(a, row));
    energy->driver_work -= r * imposed;
    switch (row->role) {
    case CAIRN_ROW_MOTOR:
        energy->motor_work += work;
        break;
    case CAIRN_ROW_FRICTION:
        energy->friction_loss -= work;
        break;
    case CAIRN_ROW_SPRING: /* its stored energy is counted after the bodies have moved */
        energy->damping_loss += h * row->damping * after * after;
        energy->numerical_loss -= work + h * row->damping * after * after;
        break;
    case CAIRN_ROW_LIMIT: /* a stop is hit, or a rope becomes taut */
        energy->impact_loss -= work;
        break;
    default: /* held rows do no work, except for the curvature within a step */
        energy->numerical_loss -= work;
    }
}

/* The energy of all rows and of added moments, in one sum or by the parts of the world. */
static void add_joints(const acting *all, const cairn_answer *answer, cairn_energy *energy)
{
    const cairn_step *step = all->step;
    const cairn_world *world = step->world;
    int d = step->components, j = world->contacts.count;
    for (size_t k = 0; all->joints->blocks > 0 && k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        if (!in_force(joint))
            continue;
        const cairn_row *rows = all->joints->rows + k * CAIRN_JOINT_ROWS;
        const acting a = { step, all->motion, all->joints, joint };
        int part = world->exchange.parts > 0 ? cairn_contact_part(&answer->problem, j) : 0;
        for (int i = 0; i < joint->rows; i++)
            add_row(&a, &rows[i], answer, (size_t)(j * d + i), &energy[part]);
        j += blocks_for(joint->rows, d);
    }
    const cairn_moves moves = { all->motion, all->joints, answer, NULL };
    cairn_joints_steady_loss(step, &moves, energy);
}

/* Called before cairn_step_store_joints, which may mark joints as broken: a joint still counts in
 * the step that breaks it. */
cairn_status cairn_joints_energy(const cairn_step *step, const cairn_free_motion *motion,
                                 const cairn_mechanism *joints, const cairn_answer *answer)
{
    const cairn_exchange *x = &step->world->exchange;
    const acting all = { step, motion, joints, NULL };
    if (!joints->any)
        return CAIRN_OK;
    if (x->parts == 0) {
        add_joints(&all, answer, &step->report->energy);
        return CAIRN_OK;
    }
    cairn_energy *parts = cairn_arena_take(&step->world->scratch, (size_t)x->parts, sizeof *parts);
    if (!parts)
        return CAIRN_NO_MEMORY;
    memset(parts, 0, (size_t)x->parts * sizeof *parts);
    add_joints(&all, answer, parts);
    if (x->link)
        cairn_link_share(x->link, x->parts, parts, sizeof *parts);
    cairn_energy_add_up(parts, x->parts, &step->report->energy);
    return CAIRN_OK;
}

/* ---- what joints do to bodies --------------------------------------------------------------- */

/* Where the rows of a joint were written: body frames there, and their mean velocities. */
typedef struct side_view {
    int body; /* -1: the world */
    cairn_vec3 x, v[2];
    cairn_quat q;
} side_view;

static side_view look_at(const cairn_step *step, const cairn_moves *m, int body)
{
    side_view s = { .body = body, .q = { 1, 0, 0, 0 } };
    if (body < 0)
        return s;
    bool swings = cairn_mechanism_swings(m->joints, body);
    s.x = swings ? m->joints->swing[body].x_mid : m->motion->x_eval[body];
    s.q = frame_of(step, m->joints, body);
    cairn_step_mean_velocity(step, m, body, s.v);
    return s;
}

/* Impulse r of a row on side a: r e at the arm, and the couple r turn; on b their opposites. */
static void push_row(const cairn_row *row, double r, const side_view *at, int side, cairn_push *out)
{
    double signed_r = side ? -r : r;
    cairn_vec3 point = cairn_add(at->x, side ? row->arm_b : row->arm_a);
    cairn_vec3 impulse = cairn_scale(signed_r, row->e);
    out->impulse = cairn_add(out->impulse, impulse);
    out->moment = cairn_add(out->moment, cairn_cross(point, impulse));
    out->moment = cairn_add_scaled(out->moment, signed_r, side ? row->turn_b : row->turn_a);
    if (at->body >= 0)
        out->work += r * rate_of(row, side, at->q, at->v[0], at->v[1]);
}

static void push_joint(const cairn_joint *joint, const cairn_row *rows, const double *r,
                       const side_view at[2], cairn_joint_push *out)
{
    for (int i = 0; i < joint->rows; i++) {
        for (int side = 0; side < 2; side++)
            push_row(&rows[i], r[i], &at[side], side, &out->side[side]);
        out->couple = cairn_add_scaled(out->couple, r[i], rows[i].turn_a);
    }
}

void cairn_joints_visit(const cairn_step *step, const cairn_moves *m, cairn_joint_visit_fn *visit,
                        void *context)
{
    const cairn_world *world = step->world;
    int d = step->components, j = world->contacts.count;
    for (size_t k = 0; m->joints->blocks > 0 && k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        if (!in_force(joint))
            continue;
        const side_view at[2] = { look_at(step, m, joint->body[0]),
                                  look_at(step, m, joint->body[1]) };
        cairn_joint_push push = { .joint = k };
        push.part = world->exchange.parts > 0 ? cairn_contact_part(&m->answer->problem, j) : 0;
        push_joint(joint, m->joints->rows + k * CAIRN_JOINT_ROWS,
                   m->answer->r + (size_t)j * (size_t)d, at, &push);
        visit(&push, context);
        j += blocks_for(joint->rows, d);
    }
}

/* ---- after the bodies have moved ------------------------------------------------------------ */

/* Of the smaller body: by how much a step may pull a joint apart. */
static const double APART = 0.1;
/* Of a step, in which what drifts is still divided: with less the error is not one of the step. */
static const double FINEST = 32;

/* m: the size of the smaller body that a joint holds and that moves, or the lever by which it holds
 * it, if that is longer. */
static double smaller_of(const cairn_step *step, const cairn_joint *joint)
{
    double size = INFINITY;
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        bool moves = body >= 0 && cairn_step_block(step, body) >= 0;
        double arm = cairn_norm(joint->anchor[side]);
        double own = moves ? fmax(arm, cairn_body_extent(step->world, body)) : 0;
        size = own > 0 ? fmin(size, own) : size;
    }
    return size;
}

/* m: the drift of a joint in a pose, `ahead` s from the start of the step. */
static double drift_at(const cairn_step *step, const cairn_joint *joint, const cairn_vec3 *x,
                       const cairn_quat *q, double ahead)
{
    cairn_joint there = *joint;
    cairn_joint_view view = view_of(step, joint, x, q);
    show_image(step->world, joint, ahead, &view);
    cairn_joint_measure(&there, &view);
    return there.drift;
}

static bool may_divide(const cairn_step *step)
{
    double parts = fmin(FINEST, (double)step->options->max_substeps);
    return parts * step->h >= 2 * step->whole;
}

/* Rows are linear in the velocities of a step. Where bodies turn so far in it that a joint comes
 * apart by APART of the smaller one, what it does is not what it was solved for, and may be any
 * work: the step is too long, like one in which a body moves past its contacts (limit.c). So it is
 * where a joint that is that far apart goes on drifting because it may not correct all of it
 * (restrain.c), up to FINEST parts of a step. */
cairn_status cairn_joints_limit(const cairn_step *step, const cairn_answer *answer,
                                const cairn_arrival *arrival)
{
    cairn_world *world = step->world;
    size_t entry = (size_t)world->contacts.count;
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        if (!joint->alive || joint->elsewhere || joint->rows == 0 || joint->broken)
            continue;
        double before = drift_at(step, joint, world->bodies.x, world->bodies.q, 0);
        double after = drift_at(step, joint, arrival->x, arrival->q, step->h);
        double most = APART * smaller_of(step, joint);
        bool eased = eased_of(answer, entry) > 0 && may_divide(step);
        entry += (size_t)blocks_for(joint->rows, step->components);
        if (!(after > before + most) && !(eased && after > most && after > before))
            continue;
        world->exchange.long_here = true;
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "run.time_step",
                          "joint %lld would come apart by %.3g m in one step of %g s, expected at "
                          "most %.3g m, a tenth of the smaller body",
                          (long long)k, after - before, step->h, most);
    }
    return CAIRN_OK;
}

/* The slip of a gear in this step, h times the rate of its row, without what that demands. */
static double gear_slip(const cairn_joint *joint, const cairn_answer *answer, double h,
                        size_t entry)
{
    bool gear = joint->def.kind == CAIRN_JOINT_GEAR && joint->rows > 0;
    return gear ? h * (answer->u[entry] - answer->demand[entry]) : 0;
}

/* Largest defects of the held rows, and the energy stored in the springs, in the pose of a view. */
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

/* Drift and stored energy of all joints, of all members. Springs did the work counted in add_row;
 * the difference to what they now store is an error of the time stepping. */
static void add_up(const cairn_step *step)
{
    const cairn_world *world = step->world;
    cairn_certificate *c = &step->report->certificate;
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        if (!joint->alive || joint->rows == 0)
            continue;
        step->report->energy.elastic += joint->elastic;
        step->report->energy.numerical_loss -= joint->gained;
        c->joint_drift = fmax(c->joint_drift, joint->drift);
        c->joint_turn_drift = fmax(c->joint_turn_drift, joint->turn_drift);
    }
}

/* After the bodies have moved: coordinates, drift and stored energy. */
void cairn_step_commit_joints(const cairn_step *step, const cairn_answer *answer)
{
    cairn_world *world = step->world;
    int d = step->components, j = world->contacts.count;
    for (size_t k = 0; k < world->joints.count; k++) {
        cairn_joint *joint = &world->joints.items[k];
        if (!joint->alive || joint->elsewhere || joint->rows == 0)
            continue;
        cairn_joint_view view = view_of(step, joint, world->bodies.x, world->bodies.q);
        show_image(world, joint, 0, &view);
        joint->phase += gear_slip(joint, answer, step->h, (size_t)(j * d));
        cairn_joint_coordinates(joint, &view, &joint->turn, &joint->slide);
        joint->gained = -joint->elastic;
        cairn_joint_measure(joint, &view);
        joint->gained += joint->elastic;
        j += blocks_for(joint->rows, d);
    }
    cairn_joints_share(world);
    add_up(step);
    /* the bodies of a broken joint may collide from now on */
    if (step->report->broken > 0)
        cairn_joints_index(world);
}
