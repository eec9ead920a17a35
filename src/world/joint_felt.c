/* joint_felt.c - the inertia that a motor feels along its coordinate, with all other joints locked.
 *
 * Of the bodies that hang on one side of the joint, axis e through its point p on a,
 *     turn   I = sum of e.R J R'e + m |e x (x - p)|^2         slide  I = sum of m
 * and the motor feels 1/(1/I_a + 1/I_b); a side that stands, because it is or holds on to the
 * world, a fixed or a driven body, has 1/I = 0. Of a screw both belong together, by its pitch. The
 * bodies of a side hang together by joints that hold some motion, other joints of the same two
 * bodies left out. Where both sides stand, or hang on each other, the joint is in a loop: then its
 * two bodies count alone. A motor's default gains follow from this inertia (joint_rows.c). Outside
 * loops locked joints make it an upper bound: what swings along is damped more than critically. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

/* Joints of each body, and a walk over the bodies of one side. */
typedef struct walk {
    const cairn_world *world;
    int32_t *first, *joint; /* of body i: joint[first[i]] to joint[first[i + 1] - 1]  */
    int32_t *seen;          /* of each body: the number of the last walk that met it  */
    int32_t *queue;         /* bodies met                                             */
    int number;
} walk;

typedef struct inertia {
    double turn, slide; /* kg m^2, kg */
} inertia;

/* An axis in space. */
typedef struct line {
    cairn_vec3 e, p;
} line;

/* Joints that keep bodies together when they are locked. */
static bool is_link(const cairn_world *world, const cairn_joint *j)
{
    const unsigned loose = CAIRN_HOLDS_GEAR | CAIRN_HOLDS_ROPE | CAIRN_HOLDS_SOFTLY;
    const cairn_joint_class *class = cairn_joint_class_of(j->def.kind);
    unsigned holds = world->dimension == 2 ? class->holds_2d : class->holds_3d;
    return j->alive && !j->broken && (holds & ~loose) != 0;
}

static bool stands(const cairn_world *world, int body)
{
    return body < 0 || world->bodies.motion[body] != CAIRN_MOTION_DYNAMIC;
}

/* ---- the joints of each body ---------------------------------------------------------------- */

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

/* Counted one place on, then added up, then filled in: first[i + 1] ends where body i does. */
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

enum { STANDS = 0, LOOP = -1 };

/* The bodies that hang on a side of the joint, in the queue: how many, STANDS or LOOP. */
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

/* I of what hangs on a side; of its body alone where nothing does. */
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

/* Whether gains are left to the joint. */
static bool wants(const cairn_joint_drive *d)
{
    bool given = d->stiffness > 0 && d->damping > 0;
    return strcmp(d->motor, "position") == 0 && !given;
}

static bool is_wanted(const cairn_joint *j)
{
    return j->alive && !j->broken && (wants(&j->def.turn) || wants(&j->def.slide));
}

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
