/* energy.c - where energy goes in a step; closed to rounding.
 *
 * With vm = (v + v+)/2 the change of kinetic energy is vm.M(v+ - v), exactly, and
 * M (v+ - v) = h (m g + F + gyroscopic) + H'r. So
 *     load work      h F.vm
 *     driver work    - sum r.w
 *     friction loss  - sum r_T.um_T      um = H vm + w
 *     impact loss    - sum r_N um_N      r_N with what adhesion pulls
 *     numerical loss h m g.(v+ - v)/2 - h gyroscopic.vm
 *     sleep loss     vm.M v(r) of bodies that are stopped: sleep.c
 * The first part of the last line is what moving by v+ instead of vm does to the potential. */
#include <math.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "world/world.h"

enum { GRAIN = 2048 }; /* contacts in one piece of parallel work */

static double kinetic_energy(double mass, cairn_vec3 J, cairn_vec3 v, cairn_vec3 omega)
{
    return 0.5 * mass * cairn_dot(v, v) + 0.5 * cairn_dot(omega, cairn_times(J, omega));
}

void cairn_world_energy(const cairn_world *world, double *kinetic, double *potential)
{
    const cairn_body_store *b = &world->bodies;
    *kinetic = *potential = 0;
    for (int i = 0; i < b->count; i++) {
        if (!b->alive[i] || b->motion[i] != CAIRN_MOTION_DYNAMIC)
            continue;
        *kinetic += kinetic_energy(b->mass[i], b->inertia[i], b->v[i], b->omega[i]);
        *potential -= b->mass[i] * cairn_dot(world->gravity, b->x[i]);
    }
}

void cairn_energy_add_body(const cairn_stage *stage, int i, cairn_vec3 v, cairn_vec3 omega,
                           cairn_energy *energy)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_vec3 g = stage->world->gravity;
    cairn_vec3 vm = cairn_scale(0.5, cairn_add(v, b->v[i]));
    cairn_vec3 wm = cairn_scale(0.5, cairn_add(omega, b->omega[i]));
    double h = stage->h, m = b->mass[i];
    if (stage->world->loaded_count > 0)
        energy->load_work += h * (cairn_dot(stage->force[i], vm) + cairn_dot(stage->torque[i], wm));
    energy->numerical_loss +=
        0.5 * h * m * cairn_dot(g, cairn_sub(v, b->v[i])) - h * cairn_dot(stage->gyroscopic[i], wm);
}

/* Most candidates have no impulse and do no work. */
static bool does_nothing(const cairn_stage *stage, int j)
{
    int d = stage->problem.dimension;
    const double *r = stage->r + (size_t)j * (size_t)d;
    bool idle = stage->world->contacts.adhesion[j] == 0;
    for (int i = 0; i < d; i++)
        idle = idle && r[i] == 0;
    return idle;
}

static void add_contact(const cairn_stage *stage, int j, const double *v_old, cairn_energy *energy)
{
    const cairn_problem *p = &stage->problem;
    int d = p->dimension;
    size_t first = (size_t)j * (size_t)d;
    const double *r = stage->r + first, *u = stage->u + first;
    if (does_nothing(stage, j))
        return;
    double before[CAIRN_MAX_DIMENSION];
    double normal = r[0] - stage->h * stage->world->contacts.adhesion[j];
    cairn_contact_relative(p, d, p->block_size, j, v_old, before);
    energy->impact_loss -= normal * 0.5 * (u[0] + before[0]);
    for (int i = 1; i < d; i++)
        energy->friction_loss -= r[i] * 0.5 * (u[i] + before[i]);
    if (!stage->w)
        return;
    energy->driver_work -= normal * stage->w[first];
    for (int i = 1; i < d; i++)
        energy->driver_work -= r[i] * stage->w[first + (size_t)i];
}

/* ---- sums in ranges, in order --------------------------------------------------------------- */

typedef struct energy_job {
    const cairn_stage *stage;
    cairn_energy *sum; /* of each range */
} energy_job;

static void contact_range(int begin, int end, void *context)
{
    const energy_job *job = context;
    cairn_energy *sum = &job->sum[begin / GRAIN];
    *sum = (cairn_energy){ 0 };
    for (int j = begin; j < end; j++)
        add_contact(job->stage, j, job->stage->v_old, sum);
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

cairn_status cairn_stage_energy(cairn_stage *stage)
{
    int contacts = stage->world->contacts.count, ranges = (contacts + GRAIN - 1) / GRAIN;
    cairn_arena *scratch = &stage->world->scratch;
    energy_job job = { stage, cairn_arena_take(scratch, (size_t)ranges, sizeof(cairn_energy)) };
    if (!job.sum)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(contacts, GRAIN, contact_range, &job);
    cairn_energy_add_up(job.sum, ranges, &stage->report->energy);
    cairn_stage_joints_energy(stage);
    return cairn_stage_make_ledger(stage);
}
