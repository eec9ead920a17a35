/* joint_felt.c - the effective inertia along the coordinate of a motor, with all other joints
 * locked, and the added inertia that keeps joints under high tension stable (second half of the
 * file).
 *
 * For the bodies connected to one side of the joint, with the axis e through its point p on a,
 *     turn   I = sum of e.R J R'e + m |e x (x - p)|^2         slide  I = sum of m
 * The motor feels 1/(1/I_a + 1/I_b). A side that is, or is connected to, the world, a fixed or a
 * driven body does not move and has 1/I = 0. In a screw both coordinates move together, coupled by
 * the pitch.
 *
 * The bodies of a side are those connected by joints that hold some motion, without other joints
 * between the same two bodies. If both sides are held, or are connected to each other, the joint is
 * part of a loop; then only its own two bodies count. The default gains of a motor follow from this
 * inertia (joint_rows.c). Outside loops it is an upper bound, because joints that are free in
 * reality count as locked; a motor on a free linkage is therefore damped more than critically. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

/* The joints of each body, and a breadth-first search over the bodies of one side. */
typedef struct walk {
    const cairn_world *world;
    int32_t *first, *joint; /* of body i: joint[first[i]] to joint[first[i + 1] - 1]   */
    int32_t *seen;          /* of each body: number of the last search that reached it */
    int32_t *queue;         /* bodies reached, in order                                */
    int number;             /* of the current search, so that `seen` is never cleared  */
} walk;

/* Inertia of a rigid set of bodies along the two coordinates of a joint. */
typedef struct inertia {
    double turn, slide; /* kg m^2, kg */
} inertia;

/* A line in space: unit direction e and a point p, in m. */
typedef struct line {
    cairn_vec3 e, p;
} line;

/* Joints that make two bodies move as one when they are locked. Gears, ropes and bushings do not:
 * they leave or only soften the relative motion. */
static bool is_link(const cairn_world *world, const cairn_joint *j)
{
    const unsigned loose = CAIRN_HOLDS_GEAR | CAIRN_HOLDS_ROPE | CAIRN_HOLDS_SOFTLY;
    const cairn_joint_class *class = cairn_joint_class_of(j->def.kind);
    unsigned holds = world->dimension == 2 ? class->holds_2d : class->holds_3d;
    return j->alive && !j->broken && (holds & ~loose) != 0;
}

/* Whether forces do not move a body: the world (-1), a fixed or a driven body. */
static bool stands(const cairn_world *world, int body)
{
    return body < 0 || world->bodies.motion[body] != CAIRN_MOTION_DYNAMIC;
}

/* ---- the joints of each body ---------------------------------------------------------------- */

/* All arrays are in the scratch of the world and live for one step. */
static cairn_status take_walk(cairn_world *world, walk *w)
{
    cairn_arena *scratch = &world->scratch;
    size_t bodies = (size_t)world->bodies.count, joints = world->joints.count;
    w->world = world;
    w->first = cairn_arena_take(scratch, bodies + 2, sizeof *w->first);
    w->joint = cairn_arena_take(scratch, 2 * joints, sizeof *w->joint);
    w->seen = cairn_arena_take(scratch, bodies, sizeof *w->seen);
    w->queue = cairn_arena_take(scratch, bodies, sizeof *w->queue);
    if (!w->first || !w->joint || !w->seen || !w->queue)
        return CAIRN_NO_MEMORY;
    memset(w->first, 0, (bodies + 2) * sizeof *w->first);
    memset(w->seen, 0, bodies * sizeof *w->seen);
    return CAIRN_OK;
}

/* Lists of joints by counting sort: count each body's joints one place further on, form prefix
 * sums, then fill. In the end first[i + 1] is where the list of body i ends. */
static void list_links(walk *w)
{
    const cairn_world *world = w->world;
    int32_t *first = w->first + 1;
    for (size_t k = 0; k < 2 * world->joints.count; k++)
        if (is_link(world, &world->joints.items[k / 2]) &&
            world->joints.items[k / 2].body[k % 2] >= 0)
            first[world->joints.items[k / 2].body[k % 2] + 1]++;
    for (int i = 0; i < world->bodies.count; i++)
        first[i + 1] += first[i];
    for (size_t k = 0; k < 2 * world->joints.count; k++)
        if (is_link(world, &world->joints.items[k / 2]) &&
            world->joints.items[k / 2].body[k % 2] >= 0)
            w->joint[first[world->joints.items[k / 2].body[k % 2]]++] = (int32_t)(k / 2);
}

/* ---- what hangs on a side ------------------------------------------------------------------- */

/* Parallel axis theorem: e.R J R'e + m |e x (x - p)|^2. */
static void add_body(const cairn_world *world, int i, line axis, inertia *sum)
{
    const cairn_body_store *b = &world->bodies;
    cairn_vec3 e = cairn_rotate_back(b->q[i], axis.e);
    cairn_vec3 arm = cairn_cross(axis.e, cairn_sub(b->x[i], axis.p));
    sum->turn += cairn_dot(e, cairn_times(b->inertia[i], e)) + b->mass[i] * cairn_dot(arm, arm);
    sum->slide += b->mass[i];
}

static bool same_pair(const cairn_joint *j, const cairn_joint *k)
{
    return (j->body[0] == k->body[0] && j->body[1] == k->body[1]) ||
           (j->body[0] == k->body[1] && j->body[1] == k->body[0]);
}

/* Results of gather that are not a number of bodies. */
enum { STANDS = 0, LOOP = -1 };

/* Collects the bodies connected to one side of the joint in the queue. Returns how many, STANDS if
 * one of them is held, or LOOP if the other side is reached. */
static int gather(walk *w, const cairn_joint *joint, int side)
{
    const cairn_world *world = w->world;
    bool standing = stands(world, joint->body[side]);
    int count = 0;
    w->number++;
    if (!standing)
        w->seen[w->queue[count++] = joint->body[side]] = w->number;
    for (int next = 0; next < count; next++) {
        int body = w->queue[next];
        for (int k = w->first[body]; k < w->first[body + 1]; k++) {
            const cairn_joint *link = &world->joints.items[w->joint[k]];
            int other = link->body[link->body[0] == body];
            if (same_pair(link, joint))
                continue;
            if (stands(world, other))
                standing = true;
            else if (other == joint->body[!side])
                return LOOP;
            else if (w->seen[other] != w->number)
                w->seen[w->queue[count++] = other] = w->number;
        }
    }
    return standing ? STANDS : count;
}

/* I of the bodies connected to a side; of the body of the joint alone if the side is held or in a
 * loop. */
static inertia of_side(walk *w, const cairn_joint *joint, int side, line axis)
{
    inertia sum = { 0, 0 };
    int count = gather(w, joint, side);
    for (int k = 0; k < count; k++)
        add_body(w->world, w->queue[k], axis, &sum);
    if (count <= 0 && !stands(w->world, joint->body[side]))
        add_body(w->world, joint->body[side], axis, &sum);
    return sum;
}

/* The joint's axis and point at the start of the step. */
static line axis_of(const cairn_world *world, const cairn_joint *joint)
{
    const cairn_body_store *b = &world->bodies;
    int a = joint->body[0], other = joint->body[1];
    cairn_quat q = other >= 0 ? cairn_quat_multiply(b->q[other], joint->frame[1]) : joint->frame[1];
    line axis = { cairn_rotate(q, cairn_vec(1, 0, 0)),
                  cairn_add(b->x[a], cairn_rotate(b->q[a], joint->anchor[0])) };
    if (world->dimension == 2)
        axis.e = cairn_vec(0, 0, 1);
    return axis;
}

/* Both sides are searched first, since whether the joint is in a loop depends on both. For a screw
 * with advance a = pitch/(2 pi), slide = a turn, so I_turn + a^2 I_slide is the inertia per rad,
 * and that over a^2 per m. */
static void feel(walk *w, cairn_joint *joint)
{
    line axis = axis_of(w->world, joint);
    double turn = 0, slide = 0, advance = joint->def.pitch / (2 * M_PI);
    int hanging[2] = { gather(w, joint, 0), gather(w, joint, 1) };
    bool loop = hanging[0] <= 0 && hanging[1] <= 0;
    for (int side = 0; side < 2; side++) { /* 1/I_a + 1/I_b */
        if (stands(w->world, joint->body[side]) || (!loop && hanging[side] == STANDS))
            continue;
        inertia sum = of_side(w, joint, side, axis);
        turn += 1 / sum.turn;
        slide += 1 / sum.slide;
    }
    turn = 1 / turn;
    slide = 1 / slide;
    if (joint->def.kind == CAIRN_JOINT_SCREW) {
        turn += slide * advance * advance;
        slide = turn / (advance * advance);
    }
    joint->felt_turn = turn;
    joint->felt_slide = slide;
}

/* ---- all joints ----------------------------------------------------------------------------- */

/* Whether the stiffness or the damping of a position motor is to be derived from the inertia. */
static bool wants(const cairn_joint_drive *d)
{
    bool given = d->stiffness > 0 && d->damping > 0;
    return strcmp(d->motor, "position") == 0 && !given;
}

static bool is_wanted(const cairn_joint *j)
{
    return j->alive && !j->broken && !j->elsewhere && (wants(&j->def.turn) || wants(&j->def.slide));
}

/* Most worlds have no such motor; they pay one pass over the joints. */
cairn_status cairn_joints_feel(cairn_world *world)
{
    bool wanted = false;
    walk w = { .number = 0 };
    for (size_t k = 0; k < world->joints.count; k++)
        wanted = wanted || is_wanted(&world->joints.items[k]);
    if (!wanted)
        return CAIRN_OK;
    TRY(take_walk(world, &w));
    list_links(&w);
    for (size_t k = 0; k < world->joints.count; k++)
        if (is_wanted(&world->joints.items[k]))
            feel(&w, &world->joints.items[k]);
    return CAIRN_OK;
}

/* ==== joints under tension ==================================================================== */

/* Stabilises bodies under heavily loaded joints when the time step is long.
 *
 * The force f of a joint at the arm p of a body has the torque p x f. When the body rotates by phi,
 * its arms rotate with it, and the torque changes by -K phi,
 *     K = sum over its joints of (p.f) I - (p f' + f p')/2          (2D: p.f).
 * Rows take their directions from the start of a step, so this stiffness acts explicitly, which is
 * stable only for h^2 K < 4 J. A link that carries a thousand times its weight is far beyond this.
 * So the part above 2 J is treated implicitly, with the forces of the step before:
 *     (J + C) w+ = J w_free + H'r,    C = max(0, h^2 K^ - 2 J)
 * in principal axes, where K^ >= K is a diagonal matrix that bounds K: see excess. The stability
 * limit 2 (J + C) + 2 J > h^2 K then always holds, and C = 0 for motion that the step resolves. The
 * energy that C removes is counted as numerical loss. */

/* Force on a body and its arm, in the body's frame. */
typedef struct pull {
    cairn_vec3 arm, force;
} pull;

/* The reaction of the last step on the body of one side. Joints with one shared point act on both
 * bodies at the point of a, as their rows do. */
static pull pull_of(const cairn_world *world, const cairn_joint *joint, int side)
{
    const cairn_body_store *b = &world->bodies;
    int a = joint->body[0], body = joint->body[side];
    pull p = { .arm = joint->anchor[side] };
    bool shared = !cairn_joint_class_of(joint->def.kind)->two_points;
    if (side && shared) { /* the force acts on both at the point of a */
        cairn_vec3 point = cairn_add(b->x[a], cairn_rotate(b->q[a], joint->anchor[0]));
        p.arm = cairn_rotate_back(b->q[body], cairn_sub(point, b->x[body]));
    }
    p.force = cairn_rotate_back(b->q[body], cairn_scale(side ? -1 : 1, joint->force));
    return p;
}

/* Adds the part of one joint to K, stored as its upper triangle: xx, yy, zz, yz, xz, xy. */
static void add_stiffness(pull p, double K[6])
{
    cairn_vec3 a = p.arm, f = p.force;
    double all = cairn_dot(a, f);
    K[0] += all - a.x * f.x;
    K[1] += all - a.y * f.y;
    K[2] += all - a.z * f.z;
    K[3] -= 0.5 * (a.y * f.z + a.z * f.y);
    K[4] -= 0.5 * (a.x * f.z + a.z * f.x);
    K[5] -= 0.5 * (a.x * f.y + a.y * f.x);
}

/* C of a body, with K^_ii = K_ii + sum over j != i of |K_ij|. K^ - K is diagonally dominant, so K^
 * >= K. */
static cairn_vec3 excess(const double K[6], cairn_vec3 J, double h)
{
    double x = K[0] + fabs(K[5]) + fabs(K[4]), y = K[1] + fabs(K[5]) + fabs(K[3]);
    double z = K[2] + fabs(K[4]) + fabs(K[3]);
    return cairn_vec(fmax(0, h * h * x - 2 * J.x), fmax(0, h * h * y - 2 * J.y),
                     fmax(0, h * h * z - 2 * J.z));
}

/* Replaces J by J + C for one axis: w_free becomes J w_free/(J + C). */
static void thicken(double J, double C, double *mass_inverse, double *omega)
{
    if (J > 0 && C > 0) {
        *mass_inverse = 1 / (J + C);
        *omega *= J / (J + C);
    }
}

/* Angular components follow the linear ones in a block: entry 2 in 2D, 3 to 5 in 3D. */
static void apply(const cairn_step *step, int i, cairn_vec3 C, cairn_posed *posed)
{
    cairn_vec3 J = step->world->bodies.inertia[i];
    size_t first = (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
    double *mass = posed->mass_inverse + first, *v = posed->v_free + first;
    if (step->world->dimension == 2) {
        thicken(J.z, C.z, mass + 2, v + 2);
        return;
    }
    thicken(J.x, C.x, mass + 3, v + 3);
    thicken(J.y, C.y, mass + 4, v + 4);
    thicken(J.z, C.z, mass + 5, v + 5);
}

/* Computes C of every body; joints->added stays NULL if no joint has rows. */
cairn_status cairn_joints_tension(const cairn_step *step, cairn_mechanism *joints)
{
    cairn_world *world = step->world;
    size_t bodies = (size_t)world->bodies.count;
    joints->added = NULL;
    if (joints->blocks == 0)
        return CAIRN_OK;
    double *K = cairn_arena_doubles(&world->scratch, 6 * bodies);
    joints->added = (cairn_vec3 *)cairn_arena_doubles(&world->scratch, 3 * bodies);
    if (!K || !joints->added)
        return CAIRN_NO_MEMORY;
    memset(K, 0, 6 * bodies * sizeof *K);
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        for (int side = 0; side < 2 && joint->rows > 0; side++)
            if (joint->body[side] >= 0)
                add_stiffness(pull_of(world, joint, side), K + 6 * (size_t)joint->body[side]);
    }
    for (size_t i = (size_t)step->held; i < bodies; i++)
        joints->added[i] = excess(K + 6 * i, world->bodies.inertia[i], step->h);
    return CAIRN_OK;
}

/* Puts C into the posed problem. */
void cairn_joints_steady(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed)
{
    for (int i = 0; joints->added && i < step->world->bodies.count; i++)
        if (cairn_step_block(step, i) >= 0)
            apply(step, i, joints->added[i], posed);
}

/* The energy that C removes: C w+.wm, where wm is the mean of the old and the new angular
 * velocity. */
void cairn_joints_steady_loss(const cairn_step *step, const cairn_mechanism *joints,
                              const double *x, cairn_energy *energy)
{
    const cairn_body_store *b = &step->world->bodies;
    const uint16_t *part = step->world->exchange.part;
    for (int i = 0; joints->added && i < b->count; i++) {
        if (!cairn_world_moves(step->world, i))
            continue;
        const double *v = x + (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
        bool flat = step->world->dimension == 2;
        cairn_vec3 w = flat ? cairn_vec(0, 0, v[2]) : cairn_vec(v[3], v[4], v[5]);
        cairn_vec3 mean = cairn_scale(0.5, cairn_add(w, b->omega[i]));
        energy[part ? part[i - step->held] : 0].numerical_loss +=
            cairn_dot(cairn_times(joints->added[i], w), mean);
    }
}
