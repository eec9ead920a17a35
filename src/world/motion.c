/* motion.c - the motion that a step would produce, examined before anything is changed: its entries
 * in the energy ledger, the new poses, and whether all of it is finite.
 *
 * A number that is not finite spoils everything computed from it, and is easily overlooked: a
 * comparison with NaN is false, and a ratio of infinities can pass any test. So a step that
 * produces one fails at once, and the world stays as it was. Squares must be finite too, because
 * energies and distances consist of them.
 *
 * Bodies that are held by joints alone move by a rule of their own: the second half of the file. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "world/step.h"

enum { GRAIN = 1024 }; /* bodies in one range of the reduction */

/* Sums and extremes over one range of bodies. */
typedef struct tally {
    cairn_energy added;
    double energy;  /* J: kinetic energy plus |potential energy| after the step          */
    double most;    /* J: largest energy of one body; not finite: too large for a number */
    long long body; /* uid of that body; -1: no body was counted                         */
    double longest; /* m: the longest motion of a point of any body                      */
    double least;   /* m: the smallest radius of the dynamic bodies                      */
} tally;

static const tally nothing = { .body = -1, .least = INFINITY };

/* The energy of a body with velocities v, omega at x; not finite if one of these, or its square, is
 * not. The absolute potential is added so that it cannot cancel the kinetic energy. */
static double energy_of(const cairn_world *world, int i, cairn_vec3 x, const cairn_vec3 v[2])
{
    double potential = world->bodies.mass[i] * cairn_dot(world->gravity, x);
    double energy = cairn_body_kinetic(world, i, v[0], v[1]) + fabs(potential);
    return isfinite(cairn_dot(x, x)) ? energy : INFINITY;
}

/* The first body that is not finite stays in the tally, so that the message names it; !(<=) also
 * catches NaN. */
static void count_body(tally *t, long long uid, double energy)
{
    t->energy += energy;
    if (t->body < 0 || (isfinite(t->most) && !(energy <= t->most))) {
        t->most = energy;
        t->body = uid;
    }
}

/* A length whose square may overflow; it appears only in messages. */
static double length_of(cairn_vec3 a)
{
    return hypot(hypot(a.x, a.y), a.z);
}

static cairn_status refuse_speed(const cairn_step *step, int i, cairn_vec3 v, cairn_vec3 omega)
{
    return cairn_fail(
        &step->world->error, CAIRN_NOT_FINITE, NULL,
        "body %lld would get a velocity of %g m/s and %g rad/s: its energy is too large "
        "for a number",
        cairn_row_uid(step->world, i), length_of(v), length_of(omega));
}

/* Joins two tallies. count_body adds the energy of the named body, so the sum is set afterwards. */
static void add_tally(void *result, const void *value)
{
    tally *all = result;
    const tally *t = value;
    cairn_energy_add_up(&t->added, 1, &all->added);
    all->longest = fmax(all->longest, t->longest);
    all->least = fmin(all->least, t->least);
    if (t->body < 0)
        return;
    double before = all->energy;
    count_body(all, t->body, t->most);
    all->energy = before + t->energy;
}

/* Reduces over ranges in a fixed order, and adds the energy entries to the report. */
static cairn_status tally_bodies(const cairn_step *step, cairn_value_fn *count, void *context,
                                 tally *out)
{
    const cairn_reduction of_bodies = { .count = step->world->bodies.count,
                                        .grain = GRAIN,
                                        .parted = cairn_world_parted(step->world),
                                        .work = count,
                                        .join = add_tally,
                                        .context = context,
                                        .neutral = &nothing,
                                        .size = sizeof nothing };
    *out = nothing;
    TRY(cairn_arena_reduce(&step->world->scratch, &of_bodies, out));
    cairn_energy_add_up(&out->added, 1, &step->report->energy);
    return CAIRN_OK;
}

/* The row of the body of a tally; -1 if another member has it. */
static int row_of(const cairn_step *step, const tally *t)
{
    return cairn_directory_find(&step->world->bodies.directory, (uint64_t)t->body);
}

/* The message of members that do not have the body and cannot name its velocity. */
static cairn_status refuse_energy(const cairn_step *step, const tally *t)
{
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the energy of body %lld would be too large for a number", t->body);
}

/* ---- before contacts are looked for --------------------------------------------------------- */

typedef struct free_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
} free_job;

/* Checks the free motion: a position, velocity or energy that overflows is found before collision
 * detection uses it. */
static void free_range(int begin, int end, void *context, void *value)
{
    const free_job *job = context;
    const cairn_step *step = job->step;
    const cairn_free_motion *motion = job->motion;
    const cairn_body_store *b = &step->world->bodies;
    tally *t = value;
    for (int i = begin; i < end; i++) {
        const cairn_vec3 v[2] = { motion->v_free[i], motion->omega_free[i] };
        if (b->motion[i] != CAIRN_MOTION_FIXED)
            count_body(t, cairn_row_uid(step->world, i),
                       energy_of(step->world, i, cairn_add_scaled(b->x[i], step->h, v[0]), v));
    }
}

/* The implicit midpoint rule of integrate.c found no rotation and returned NaN. It always converges
 * for half a radian per step, hence the recommended time step. */
static cairn_status refuse_turning(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 J = b->inertia[i];
    double least = cairn_smaller(J.x, cairn_smaller(J.y, J.z));
    double fast = cairn_norm(b->omega[i]) + step->h * cairn_norm(motion->torque[i]) / least;
    if (!isfinite(fast)) /* of a force function */
        return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, "torque",
                          "the torque on body %lld is not a finite number",
                          cairn_row_uid(step->world, i));
    step->world->exchange.long_here = true;
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "body %lld turns too far in one step of %g s, by about %.2g rad, expected at "
                      "most %.2g s",
                      cairn_row_uid(step->world, i), step->h, step->h * fast, 0.5 / fast);
}

/* The status of members that do not have the body that turns too far. */
static cairn_status wait_for_owner(const cairn_step *step, const tally *t)
{
    step->world->exchange.long_here = true;
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "body %lld turns too far in one step of %g s", t->body, step->h);
}

cairn_status cairn_step_check_free_motion(const cairn_step *step, const cairn_free_motion *motion)
{
    free_job job = { step, motion };
    tally all;
    TRY(tally_bodies(step, free_range, &job, &all));
    if (isfinite(all.energy))
        return CAIRN_OK;
    /* all members come here, and those that do not have the body wait for its owner to say whether
     * a shorter step would help */
    int body = row_of(step, &all);
    bool turning = body >= 0 && isnan(motion->omega_free[body].x);
    bool anywhere = cairn_link_any(step->world->exchange.link, turning);
    if (turning)
        return refuse_turning(step, motion, body);
    if (anywhere)
        return wait_for_owner(step, &all);
    if (body < 0)
        return refuse_energy(step, &all);
    return refuse_speed(step, body, motion->v_free[body], motion->omega_free[body]);
}

/* ---- before the new state ------------------------------------------------------------------- */

/* Bound on the motion of the points of a body with these velocities. */
static void count_way(const cairn_step *step, int i, const cairn_vec3 v[2], tally *t)
{
    double arm = cairn_body_arm(step->world, i), turning = cairn_norm(v[1]);
    double speed = cairn_norm(v[0]) + (turning > 0 && arm > 0 ? arm * turning : 0);
    t->longest = cairn_larger(t->longest, step->h * speed);
}

/* Everything that the end of a body depends on. */
typedef struct end_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_answer *answer;
    cairn_arrival *arrival;
} end_job;

/* The velocities with which a body ends the step, and the rule that moves it. */
static void find_end(const end_job *job, int i, cairn_body_end *end)
{
    end->body = i;
    end->swings = cairn_mechanism_swings(job->joints, i);
    end->swing = end->swings ? &job->joints->swing[i] : NULL;
    end->behind = job->answer->impacts.behind;
    cairn_answer_velocity(job->step, job->answer, i, &end->v[0], &end->v[1]);
}

/* New pose, energy and motion of one dynamic body, in one pass over the data. */
static void end_dynamic(const end_job *job, int i, tally *t)
{
    const cairn_step *step = job->step;
    cairn_body_end end;
    find_end(job, i, &end);
    cairn_body_arrive(step, job->motion, &end, job->arrival);
    cairn_energy_add_body(step, job->motion, &end, &t->added);
    count_body(t, cairn_row_uid(step->world, i),
               energy_of(step->world, i, job->arrival->x[i], end.v));
    count_way(step, i, end.v, t);
    t->least = cairn_smaller(t->least, step->world->bodies.extent[i]);
}

/* Driven bodies have their new poses already, in the same arrays; fixed ones keep theirs. */
static void end_range(int begin, int end, void *context, void *value)
{
    const end_job *job = context;
    const cairn_step *step = job->step;
    const cairn_body_store *b = &step->world->bodies;
    tally *t = value;
    for (int i = begin; i < end; i++) {
        if (cairn_step_block(step, i) >= 0) {
            end_dynamic(job, i, t);
        } else if (b->motion[i] == CAIRN_MOTION_DRIVEN) {
            const cairn_vec3 v[2] = { job->motion->v_free[i], job->motion->omega_free[i] };
            count_way(step, i, v, t);
        } else {
            job->arrival->x[i] = b->x[i];
            job->arrival->q[i] = b->q[i];
        }
    }
}

/* A sum is not finite if any of its terms is not. */
bool cairn_energy_is_finite(const cairn_energy *e)
{
    return isfinite(e->load_work + e->driver_work + e->motor_work + e->friction_loss +
                    e->impact_loss + e->damping_loss + e->numerical_loss + e->sleep_loss);
}

cairn_status cairn_step_arrive(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, const cairn_answer *answer,
                               cairn_arrival *arrival)
{
    end_job job = { step, motion, joints, answer, arrival };
    tally all;
    *arrival = (cairn_arrival){ motion->x_next, motion->q_next, motion->angle_next,
                                cairn_lattice_ahead(&step->world->periodic.cell, step->h) };
    TRY(cairn_joints_energy(step, motion, joints, answer));
    TRY(cairn_step_find_pushed(step, motion, answer, arrival));
    TRY(tally_bodies(step, end_range, &job, &all));
    /* two bodies move at most twice the longest motion relative to each other; images also move
     * with the edges of the cell */
    double drift = 0;
    for (int i = 0; i < 3; i++)
        drift += step->h * cairn_norm(step->world->periodic.cell.rate[i]);
    arrival->far = 2 * all.longest + drift > all.least;
    if (!isfinite(all.energy)) {
        cairn_vec3 v, omega;
        int body = row_of(step, &all);
        if (body < 0)
            return refuse_energy(step, &all);
        cairn_answer_velocity(step, answer, body, &v, &omega);
        return refuse_speed(step, body, v, omega);
    }
    if (cairn_energy_is_finite(&step->report->energy))
        return CAIRN_OK;
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the work of this step is too large for a number");
}

/* ---- bodies that swing ----------------------------------------------------------------------- */

/* Bodies that are held by joints and pushed by nothing else move by a second-order rule.
 *
 * Their rows are formed at mid-step, and they move with the mean of both velocities:
 *     x_m = x + h v/2,   q_m = q exp(h w/2)
 *     m (v+ - v) = h (m g + F) + p
 *     J w+ = exp(-a) J w + h exp(-a/2) T + R_e'm           R_e the frame of q_e = q exp(a)
 *     H_m v+ + (H_e - H_m) v^ + MENDING gamma theta/h = 0  theta the defects of the start
 *     x+ = x + h (v + v+)/2,   q+ = q exp(h (w + w+)/2)
 * Here p, m are the impulse and the moment in space of the rows H_m of x_m, q_m. v^, w^ are the
 * velocities after the step if the joints exerted the same forces as in the step before (w^ by the
 * implicit midpoint rule of integrate.c), a = h (w + w^)/2, and H_e are the rows of x + h (v +
 * v^)/2, q_e. exp(-a) transforms the angular momentum from the frame of the start to that of the
 * end, so that only torques and moments change it. With (H_e - H_m) v^ the new velocities satisfy
 * the rows at the end of the step. The error of v^ is of order h^2, which is sufficient for second
 * order. In one step a defect theta and the rate c = H v that remains of it become
 *     theta+ = (1 - beta/2) theta + h c/2,    h c+ = -beta theta,    beta = MENDING gamma;
 * with beta = 6 - sqrt(32) both eigenvalues of this map are (1 - beta/2)/2 = 0.41, and no other
 * beta reduces defects faster.
 *
 * Bodies connected by joints swing if their joints only hold (no limit, motor, friction or spring,
 * no gear), none of them has a candidate contact or is joined to a driven body, none needs added
 * moments for stability (joint_rows.c), and the step resolves their rotation,
 *     h |w| <= FASTEST,    h |w x J w| <= TUMBLING |J w|.
 * In schemes that evaluate contacts ahead of the start no body does. All others move by x += h
 * v+. */

static const double FASTEST = 1;     /* rad in a step                                             */
static const double TUMBLING = 0.25; /* rad in a step: rotation of the momentum in the body frame */

/* Groups of bodies connected by joints, by union-find: each points towards the first of its
 * group. */
typedef struct groups {
    int32_t *parent;  /* of each body                               */
    uint8_t *joined;  /* of each body: a joint acts on it           */
    uint8_t *refused; /* of the first of a group: it must not swing */
} groups;

/* Find with path halving. */
static int first_of(const groups *g, int i)
{
    while (g->parent[i] != i)
        i = g->parent[i] = g->parent[g->parent[i]];
    return i;
}

static bool is_dynamic(const cairn_step *step, int body)
{
    return body >= 0 && cairn_step_block(step, body) >= 0;
}

/* One body that may not swing excludes its whole group: joints connect only bodies with the same
 * rule. */
static void refuse(const cairn_step *step, const groups *g, int body)
{
    if (is_dynamic(step, body))
        g->refused[first_of(g, body)] = 1;
}

/* ---- who swings ----------------------------------------------------------------------------- */

/* `swing` outlives this file: the rest of the step reads it from joints. */
static cairn_status take_groups(const cairn_step *step, cairn_mechanism *joints, groups *g)
{
    cairn_arena *scratch = &step->world->scratch;
    int count = step->world->bodies.count;
    size_t n = (size_t)count;
    g->parent = cairn_arena_take(scratch, n, sizeof *g->parent);
    g->joined = cairn_arena_take(scratch, n, 1);
    g->refused = cairn_arena_take(scratch, n, 1);
    joints->swing = cairn_arena_take(scratch, n, sizeof *joints->swing);
    if (!g->parent || !g->joined || !g->refused || !joints->swing)
        return CAIRN_NO_MEMORY;
    memset(joints->swing, 0, n * sizeof *joints->swing);
    memset(g->joined, 0, n);
    memset(g->refused, 0, n);
    for (int i = 0; i < count; i++)
        g->parent[i] = i;
    return CAIRN_OK;
}

/* Held bodies do not connect: two pendulums on one ceiling are two groups. */
static void join(const cairn_step *step, const groups *g)
{
    const cairn_world *world = step->world;
    for (size_t k = 0; k < world->joints.count; k++) {
        int a = world->joints.items[k].body[0], b = world->joints.items[k].body[1];
        if (world->joints.items[k].rows == 0)
            continue;
        if (is_dynamic(step, a))
            g->joined[a] = 1;
        if (is_dynamic(step, b))
            g->joined[b] = 1;
        if (is_dynamic(step, a) && is_dynamic(step, b))
            g->parent[first_of(g, a)] = first_of(g, b);
    }
}

/* Whether a joint has only held rows, and no driven body is attached. */
static bool only_holds(const cairn_step *step, const cairn_mechanism *joints, size_t k)
{
    const cairn_world *world = step->world;
    const cairn_joint *joint = &world->joints.items[k];
    const cairn_row *rows = joints->rows + k * CAIRN_JOINT_ROWS;
    bool holds = joint->def.kind != CAIRN_JOINT_GEAR;
    for (int i = 0; i < joint->rows; i++)
        holds = holds && (rows[i].role == CAIRN_ROW_HOLD || rows[i].role == CAIRN_ROW_HOLD_TURN);
    for (int side = 0; side < 2; side++) {
        int body = joint->body[side];
        holds = holds && (body < 0 || world->bodies.motion[body] != CAIRN_MOTION_DRIVEN);
    }
    return holds;
}

/* Whether the step resolves the rotation of a body; see the top of the file. */
static bool is_resolved(const cairn_step *step, int i)
{
    cairn_vec3 w = step->world->bodies.omega[i];
    cairn_vec3 L = cairn_times(step->world->bodies.inertia[i], w);
    return step->h * cairn_norm(w) <= FASTEST &&
           step->h * cairn_norm(cairn_cross(w, L)) <= TUMBLING * cairn_norm(L);
}

/* Whether high tension adds inertia to a body; in 2D only about z. */
static bool is_thickened(const cairn_step *step, const cairn_mechanism *joints, int i)
{
    cairn_vec3 C = joints->added[i];
    return C.z > 0 || (step->world->dimension == 3 && (C.x > 0 || C.y > 0));
}

/* A candidate contact excludes a group even if it stays open, since its gap assumes x += h v+. */
static void refuse_groups(const cairn_step *step, const cairn_mechanism *joints, const groups *g)
{
    const cairn_world *world = step->world;
    for (int j = 0; j < 2 * world->contacts.count; j++)
        refuse(step, g, world->contacts.body[j]);
    for (size_t k = 0; k < world->joints.count; k++)
        for (int side = 0; side < 2 && !only_holds(step, joints, k); side++)
            refuse(step, g, world->joints.items[k].body[side]);
    for (int i = 0; i < world->bodies.count; i++)
        if (g->joined[i] && (is_thickened(step, joints, i) || !is_resolved(step, i)))
            refuse(step, g, i);
}

/* ---- half a step on ------------------------------------------------------------------------- */

/* The pose at mid-step, x_m and q_m. */
static void place(const cairn_step *step, int i, cairn_swing *s)
{
    const cairn_body_store *b = &step->world->bodies;
    double half = 0.5 * step->h;
    cairn_quat turn = cairn_quat_exp(cairn_scale(half, b->omega[i]));
    s->swings = true;
    s->x_mid = cairn_add_scaled(b->x[i], half, b->v[i]);
    s->q_mid = cairn_quat_normalised(cairn_quat_multiply(b->q[i], turn));
}

/* The point at which the force of a joint acts on a body, at mid-step. */
static cairn_vec3 point_of(const cairn_step *step, const cairn_mechanism *joints,
                           const cairn_joint *joint, int side)
{
    bool two = cairn_joint_class_of(joint->def.kind)->two_points;
    int at = two ? side : 0; /* else it acts on both at the point of a */
    int body = joint->body[at];
    if (body < 0)
        return joint->anchor[at];
    const cairn_swing *s = &joints->swing[body];
    const cairn_body_store *b = &step->world->bodies;
    return cairn_add(s->swings ? s->x_mid : b->x[body],
                     cairn_rotate(s->swings ? s->q_mid : b->q[body], joint->anchor[at]));
}

/* Adds the joint force and moment of the step before, applied to a body at mid-step. */
static void pull(const cairn_step *step, const cairn_joint *joint, int side,
                 cairn_mechanism *joints)
{
    int body = joint->body[side];
    double sign = side ? -1 : 1;
    if (body < 0 || !cairn_mechanism_swings(joints, body))
        return;
    cairn_swing *s = &joints->swing[body];
    cairn_vec3 arm = cairn_sub(point_of(step, joints, joint, side), s->x_mid);
    if (side && !cairn_joint_class_of(joint->def.kind)->two_points &&
        cairn_image_is_other(joint->image)) /* the point of a is at the image */
        arm = cairn_sub(arm, cairn_joint_shift(step->world, joint, 0.5 * step->h));
    cairn_vec3 moment = cairn_add(cairn_cross(arm, joint->force), joint->torque);
    s->force = cairn_add_scaled(s->force, sign, joint->force);
    s->moment = cairn_add_scaled(s->moment, sign, cairn_rotate_back(s->q_mid, moment));
}

/* ---- about the end -------------------------------------------------------------------------- */

/* exp(-a) L: L in the frame that has turned by a. */
static cairn_vec3 turned_back(cairn_vec3 a, cairn_vec3 L)
{
    return cairn_rotate_back(cairn_quat_exp(a), L);
}

/* In 2D the moments about x and y are 0 and have no angular velocity. */
static double per_moment(double torque, double J)
{
    return J > 0 ? torque / J : 0;
}

/* The free rotation, J (w_free - w) = exp(-a) J w - J w + h exp(-a/2) T. The part beyond h T is
 * reported as gyroscopic. */
static void turn(const cairn_step *step, cairn_vec3 T, int i, cairn_vec3 a, cairn_swing *s)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 J = b->inertia[i], L = cairn_times(J, b->omega[i]);
    cairn_vec3 G = cairn_scale(1 / step->h, cairn_sub(turned_back(a, L), L));
    cairn_vec3 total = cairn_add(G, turned_back(cairn_scale(0.5, a), T));
    cairn_vec3 gained = { per_moment(total.x, J.x), per_moment(total.y, J.y),
                          per_moment(total.z, J.z) };
    s->gyroscopic = cairn_sub(total, T);
    s->omega_free = cairn_add_scaled(b->omega[i], step->h, gained);
}

/* Predicts pose and velocities at the end, v^, if the joints exert the same forces as in the step
 * before. w^ = 2 wm - w, with wm the mean of the midpoint rule. */
static void foresee(const cairn_step *step, const cairn_free_motion *motion, int i, cairn_swing *s)
{
    const cairn_body_store *b = &step->world->bodies;
    double h = step->h;
    cairn_vec3 wm = cairn_body_mean_turning(step, motion, i, s->moment), a = cairn_scale(h, wm);
    s->v_end = cairn_add_scaled(motion->v_free[i], h / b->mass[i], s->force);
    s->x_end = cairn_add_scaled(b->x[i], 0.5 * h, cairn_add(b->v[i], s->v_end));
    s->omega_end = cairn_sub(cairn_scale(2, wm), b->omega[i]);
    s->q_end = cairn_quat_normalised(cairn_quat_multiply(b->q[i], cairn_quat_exp(a)));
    turn(step, motion->torque[i], i, a, s);
}

/* All poses at mid-step come before the forces, because a force acts at a point of the other
 * body. */
cairn_status cairn_joints_find_swings(const cairn_step *step, const cairn_free_motion *motion,
                                      cairn_mechanism *joints)
{
    cairn_world *world = step->world;
    groups g;
    if (joints->blocks == 0 || cairn_scheme_ahead(step->scheme, step->linearisations) != 0)
        return CAIRN_OK;
    TRY(take_groups(step, joints, &g));
    join(step, &g);
    refuse_groups(step, joints, &g);
    for (int i = 0; i < world->bodies.count; i++)
        if (g.joined[i] && !g.refused[first_of(&g, i)])
            place(step, i, &joints->swing[i]);
    for (size_t k = 0; k < world->joints.count; k++)
        for (int side = 0; side < 2 && world->joints.items[k].rows > 0; side++)
            pull(step, &world->joints.items[k], side, joints);
    for (int i = 0; i < world->bodies.count; i++)
        if (joints->swing[i].swings)
            foresee(step, motion, i, &joints->swing[i]);
    return CAIRN_OK;
}
