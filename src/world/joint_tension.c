/* joint_tension.c - keeps bodies under heavily loaded joints steady when the time step is long.
 *
 * The force f of a joint at the arm p of a body has the torque p x f. When the body turns by phi
 * its arms turn along and the torque changes by -K phi,
 *     K = sum over its joints of (p.f) I - (p f' + f p')/2          (2D: p.f).
 * Rows take their directions from the start of a step, so this stiffness acts explicitly and is
 * stable only for h^2 K < 4 J. A link that carries a thousand times its weight is far beyond. So
 * what is above 2 J counts implicitly, with the forces of the step before:
 *     (J + C) w+ = J w_free + H'r,    C = max(0, h^2 K^ - 2 J)
 * in principal axes, K^ >= K the diagonal of row sums of |K|. The limit 2 (J + C) + 2 J > h^2 K
 * then always holds, and motion that the step resolves has C = 0. What C takes from the energy is
 * counted as numerical loss. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

/* Force on a body and its arm, in the body's frame. */
typedef struct pull {
    cairn_vec3 arm, force;
} pull;

static pull pull_of(const cairn_world *world, const cairn_joint *joint, int side)
{
    const cairn_body_store *b = &world->bodies;
    int a = joint->body[0], body = joint->body[side];
    pull p = { .arm = joint->anchor[side] };
    bool shared = !cairn_joint_class_of(joint->def.kind)->two_points;
    if (side && shared) { /* both feel the force at the point of a */
        cairn_vec3 point = cairn_add(b->x[a], cairn_rotate(b->q[a], joint->anchor[0]));
        p.arm = cairn_rotate_back(b->q[body], cairn_sub(point, b->x[body]));
    }
    p.force = cairn_rotate_back(b->q[body], cairn_scale(side ? -1 : 1, joint->force));
    return p;
}

/* K, upper half: xx, yy, zz, yz, xz, xy. */
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

static cairn_vec3 excess(const double K[6], cairn_vec3 J, double h)
{
    double x = K[0] + fabs(K[5]) + fabs(K[4]), y = K[1] + fabs(K[5]) + fabs(K[3]);
    double z = K[2] + fabs(K[4]) + fabs(K[3]);
    return cairn_vec(fmax(0, h * h * x - 2 * J.x), fmax(0, h * h * y - 2 * J.y),
                     fmax(0, h * h * z - 2 * J.z));
}

/* J becomes J + C in the entries of one axis. */
static void thicken(double J, double C, double *mass_inverse, double *omega)
{
    if (J > 0 && C > 0) {
        *mass_inverse = 1 / (J + C);
        *omega *= J / (J + C);
    }
}

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

void cairn_joints_steady(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed)
{
    for (int i = 0; joints->added && i < step->world->bodies.count; i++)
        if (cairn_step_block(step, i) >= 0)
            apply(step, i, joints->added[i], posed);
}

/* The energy that C takes: C w+.wm with wm the mean of the old and the new. */
void cairn_joints_steady_loss(const cairn_step *step, const cairn_mechanism *joints,
                              const double *x)
{
    const cairn_body_store *b = &step->world->bodies;
    for (int i = 0; joints->added && i < b->count; i++) {
        if (cairn_step_block(step, i) < 0)
            continue;
        const double *v = x + (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
        bool flat = step->world->dimension == 2;
        cairn_vec3 w = flat ? cairn_vec(0, 0, v[2]) : cairn_vec(v[3], v[4], v[5]);
        cairn_vec3 mean = cairn_scale(0.5, cairn_add(w, b->omega[i]));
        step->report->energy.numerical_loss += cairn_dot(cairn_times(joints->added[i], w), mean);
    }
}
