/* energy.c - where energy goes in a step; closed to rounding.
 *
 * With vm = (v + v+)/2 the change of kinetic energy is vm.M(v+ - v), exactly, and
 * M (v+ - v) = h (m g + F + gyroscopic) + H'r. So
 *     load work      h F.vm
 *     driver work    - sum r.w
 *     friction loss  - sum r_T.um_T      um = H vm + w
 *     impact loss    - sum r_N um_N      r_N with what adhesion pulls
 *     numerical loss h m g.(v+ - v)/2 - h gyroscopic.vm - m g.y
 *     sleep loss     vm.M v(r) of bodies that are stopped: sleep.c
 * The first part of the numerical loss is what moving by v+ instead of vm does to the potential;
 * what swings (swing.c) moves by vm. The last is what the way y does that a body lacks after
 * impacts within the step: chain.c. */
#include <math.h>

#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "problem/segments.h"
#include "world/step.h"

double cairn_body_kinetic(const cairn_world *world, int i, cairn_vec3 v, cairn_vec3 omega)
{
    cairn_vec3 J = world->bodies.inertia[i];
    return 0.5 * world->bodies.mass[i] * cairn_dot(v, v) +
           0.5 * cairn_dot(omega, cairn_times(J, omega));
}

void cairn_world_energy(const cairn_world *world, double *kinetic, double *potential)
{
    const cairn_body_store *b = &world->bodies;
    *kinetic = *potential = 0;
    for (int i = b->held; i < b->count; i++) {
        *kinetic += cairn_body_kinetic(world, i, b->v[i], b->omega[i]);
        *potential -= b->mass[i] * cairn_dot(world->gravity, b->x[i]);
    }
}

void cairn_energy_add_body(const cairn_step *step, const cairn_free_motion *motion,
                           const cairn_body_end *end, cairn_energy *energy)
{
    const cairn_body_store *b = &step->world->bodies;
    int i = end->body;
    cairn_vec3 g = step->world->gravity;
    cairn_vec3 vm = cairn_scale(0.5, cairn_add(end->v[0], b->v[i]));
    cairn_vec3 wm = cairn_scale(0.5, cairn_add(end->v[1], b->omega[i]));
    double h = step->h, m = b->mass[i];
    if (step->world->loaded.count > 0)
        energy->load_work +=
            h * (cairn_dot(motion->force[i], vm) + cairn_dot(motion->torque[i], wm));
    double fall = end->swings ? 0 : cairn_dot(g, cairn_sub(end->v[0], b->v[i]));
    energy->numerical_loss += 0.5 * h * m * fall - h * cairn_dot(*end->gyroscopic, wm);
    if (end->behind)
        energy->numerical_loss -= m * cairn_dot(g, cairn_block_moving(step, i, end->behind));
}

/* H v of contact j before the step; where nothing holds along the tangent its normal part alone, in
 * which the turning of balls has none. */
static inline void relative_before(const cairn_world *world, const cairn_answer *answer, bool balls,
                                   int j, bool slides, double *before)
{
    const cairn_problem *p = &answer->problem;
    if (slides || p->w || !balls) {
        cairn_contact_velocity(p, j, answer->r, answer->v_old, before);
        return;
    }
    const int32_t *body = world->contacts.body + 2 * (size_t)j;
    const cairn_vec3 *v = world->bodies.v; /* neighbours in the list, unlike blocks */
    before[0] = cairn_dot(p->normal[j], cairn_sub(v[body[0]], v[body[1]]));
}

/* Most candidates have no impulse and do no work. */
static inline void add_contact(const cairn_step *step, const cairn_answer *answer, bool balls,
                               int j, cairn_energy *energy)
{
    const double *w = answer->problem.w;
    int d = answer->problem.dimension;
    size_t first = (size_t)j * (size_t)d;
    const double *r = answer->r + first, *u = answer->u + first;
    double before[CAIRN_MAX_DIMENSION], pull = step->h * step->world->contacts.adhesion[j];
    bool slides = false;
    for (int i = 1; i < d; i++)
        slides |= r[i] != 0;
    if (!slides && r[0] == 0 && pull == 0)
        return;
    double normal = r[0] - pull;
    relative_before(step->world, answer, balls, j, slides, before);
    energy->impact_loss -= normal * 0.5 * (u[0] + before[0]);
    for (int i = 1; slides && i < d; i++)
        energy->friction_loss -= r[i] * 0.5 * (u[i] + before[i]);
    if (!w)
        return;
    energy->driver_work -= normal * w[first];
    for (int i = 1; i < d; i++)
        energy->driver_work -= r[i] * w[first + (size_t)i];
}

/* ---- sums in ranges, in order --------------------------------------------------------------- */

/* The velocities of the bodies of a contact are elsewhere in memory. */
CAIRN_ASKING void ask_for(const cairn_problem *p, const double *v_old, int j)
{
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * (size_t)j + (size_t)side];
        if (block >= 0)
            cairn_prefetch(v_old + (size_t)block * (size_t)p->block_size,
                           p->block_size * (int)sizeof *v_old);
    }
}

void cairn_energy_add_contacts(const cairn_step *step, const cairn_answer *answer, int begin,
                               int end, cairn_energy *energy)
{
    int last = step->scheme->frictionless ? begin : step->world->contacts.count - CAIRN_AHEAD;
    cairn_energy sum = { 0 };
    for (cairn_walk w = cairn_walk_over(&answer->problem, begin, end); cairn_walk_next(&w);)
        for (int j = w.now.begin; j < w.at; j++) {
            if (j < last)
                ask_for(&answer->problem, answer->v_old, j + CAIRN_AHEAD);
            add_contact(step, answer, w.now.kind == CAIRN_KIND_BALLS, j, &sum);
        }
    cairn_energy_add_up(&sum, 1, energy);
}

void cairn_energy_add_up(const cairn_energy *sum, int ranges, cairn_energy *energy)
{
    for (int k = 0; k < ranges; k++) {
        energy->load_work += sum[k].load_work;
        energy->numerical_loss += sum[k].numerical_loss;
        energy->impact_loss += sum[k].impact_loss;
        energy->friction_loss += sum[k].friction_loss;
        energy->driver_work += sum[k].driver_work;
    }
}
