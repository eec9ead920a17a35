/* swing.c - bodies that are held by joints and pushed by nothing else move by a second-order rule.
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
 * no gear) and close no loop, none of them has a candidate contact or is joined to a driven body,
 * none needs added moments for stability (joint_rows.c), and the step resolves their rotation,
 *     h |w| <= FASTEST,    h |w x J w| <= TUMBLING |J w|.
 * Nor do they swing if v^ is no prediction. The forces of the step before are none if a contact
 * pushed there, or if they swing back and forth faster than steps follow, as those of a light link
 * between heavy ones do; (H_e - H_m) v^ would then make energy. v^ satisfies the rows to order h^2
 * where it is one. So no joint may have
 *     |H_e v^|  >  STRAY (s_a + s_b) + SUDDEN (c_a + c_b)
 * with s = |v| + |w| p of each of its bodies, p the lever of the joint, and c = |dv| + |dw| p what
 * loads change of them in the step; rows that hold angles, |w| and |dw| alone.
 *
 * In schemes that evaluate contacts ahead of the start no body swings. All others move by x += h
 * v+. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "math/vec.h"
#include "world/step.h"

static const double FASTEST = 1;     /* rad in a step                                             */
static const double TUMBLING = 0.25; /* rad in a step: rotation of the momentum in the body frame */
static const double STRAY = 0.5;     /* of the speeds of bodies: how far v^ may be off            */
static const double SUDDEN = 2;      /* of what loads change: a step from rest knows no forces    */

/* Groups of bodies connected by joints, by union-find: each points towards the first of its
 * group. */
typedef struct groups {
    int32_t *parent;   /* of each body                               */
    uint8_t *joined;   /* of each body: a joint acts on it           */
    uint8_t *refused;  /* of the first of a group: it must not swing */
    uint8_t *grounded; /* of the first of a group: a joint holds it to what does not move */
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
    g->grounded = cairn_arena_zeros(scratch, n, 1);
    joints->swing = cairn_arena_take(scratch, n, sizeof *joints->swing);
    if (!g->parent || !g->joined || !g->refused || !g->grounded || !joints->swing)
        return CAIRN_NO_MEMORY;
    memset(joints->swing, 0, n * sizeof *joints->swing);
    memset(g->joined, 0, n);
    memset(g->refused, 0, n);
    for (int i = 0; i < count; i++)
        g->parent[i] = i;
    return CAIRN_OK;
}

/* Two bodies that move: their groups become one, with a loop if they were one already, or if both
 * are held. */
static void connect(const groups *g, int a, int b)
{
    int first = first_of(g, a), second = first_of(g, b);
    bool loop = first == second || (g->grounded[first] && g->grounded[second]);
    g->refused[second] |= g->refused[first] || loop;
    g->grounded[second] |= g->grounded[first];
    g->parent[first] = second;
}

/* A joint with the world, or with a body that is held. Two of them close a loop through it. */
static void ground(const groups *g, int body)
{
    int first = first_of(g, body);
    g->refused[first] |= g->grounded[first];
    g->grounded[first] = 1;
}

/* Held bodies do not connect: two pendulums on one ceiling are two groups. In a loop rows may say
 * the same twice; at mid-step they contradict each other by h^2, and only bodies that stand still
 * satisfy them all. So loops are refused. */
static void join(const cairn_step *step, const groups *g)
{
    const cairn_world *world = step->world;
    for (size_t k = 0; k < world->joints.count; k++) {
        int a = world->joints.items[k].body[0], b = world->joints.items[k].body[1];
        bool moves[2] = { is_dynamic(step, a), is_dynamic(step, b) };
        if (world->joints.items[k].rows == 0)
            continue;
        if (moves[0])
            g->joined[a] = 1;
        if (moves[1])
            g->joined[b] = 1;
        if (moves[0] && moves[1])
            connect(g, a, b);
        else if (moves[0] || moves[1])
            ground(g, moves[0] ? a : b);
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
    for (int i = 0; i < world->bodies.count; i++) {
        joints->swing[i].group = first_of(&g, i);
        if (g.joined[i] && !g.refused[first_of(&g, i)])
            place(step, i, &joints->swing[i]);
    }
    for (size_t k = 0; k < world->joints.count; k++)
        for (int side = 0; side < 2 && world->joints.items[k].rows > 0; side++)
            pull(step, &world->joints.items[k], side, joints);
    for (int i = 0; i < world->bodies.count; i++)
        if (joints->swing[i].swings)
            foresee(step, motion, i, &joints->swing[i]);
    return CAIRN_OK;
}

/* ---- whether the end is foreseen ------------------------------------------------------------- */

/* What a joint may err in H_e v^, m/s and rad/s. */
typedef struct stray {
    double slide, turn;
} stray;

static void allow(const cairn_step *step, const cairn_free_motion *motion,
                  const cairn_mechanism *joints, int i, double lever, stray *most)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 w = b->omega[i], T = motion->torque[i], J = b->inertia[i];
    cairn_vec3 turned = { per_moment(T.x, J.x), per_moment(T.y, J.y), per_moment(T.z, J.z) };
    double pushed = cairn_norm(cairn_sub(motion->v_free[i], b->v[i]));
    double turn = STRAY * cairn_norm(w) + SUDDEN * step->h * cairn_norm(turned);
    if (!cairn_mechanism_swings(joints, i))
        return;
    most->turn += turn;
    most->slide += STRAY * cairn_norm(b->v[i]) + SUDDEN * pushed + lever * turn;
}

bool cairn_joint_is_foreseen(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_mechanism *joints, const cairn_joint *joint,
                             const cairn_row *rows, const double *rates)
{
    stray most = { 0 };
    bool good = true;
    for (int side = 0; side < 2; side++)
        if (joint->body[side] >= 0)
            allow(step, motion, joints, joint->body[side], cairn_norm(joint->anchor[side]), &most);
    for (int i = 0; i < joint->rows; i++) {
        bool turn = rows[i].role == CAIRN_ROW_HOLD_TURN;
        good = good && fabs(rates[i]) <= (turn ? most.turn : most.slide);
    }
    return good;
}

void cairn_joint_strays(const cairn_joint *joint, cairn_mechanism *joints)
{
    for (int side = 0; side < 2; side++)
        if (joint->body[side] >= 0 && cairn_mechanism_swings(joints, joint->body[side]))
            joints->swing[joints->swing[joint->body[side]].group].strays = true;
}

void cairn_joints_stop_strays(const cairn_world *world, cairn_mechanism *joints)
{
    for (int i = 0; joints->swing && i < world->bodies.count; i++)
        if (joints->swing[i].swings && joints->swing[joints->swing[i].group].strays)
            joints->swing[i].swings = false;
}
