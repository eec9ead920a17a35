/* trajectory.c - positions of bodies at given times, and the distance of another run from them; see
 * study.h.
 *
 * A step moves a body along a straight line. With x+ = x + h v+, the position at a time t within
 * the step is x+ - (t+ - t) v+, exactly as in the scheme. For a scheme that moves bodies by the
 * mean of v and v+, this is wrong by (t+ - t) |v+ - v|/2: an error of second order, except in the
 * one step in which a body hits another one. */
#include "study/study.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

cairn_sample_times cairn_sample_times_make(double start, double duration, double coarsest)
{
    /* Rounded so that the samples coincide with the steps of the coarsest run, if its time step
     * divides the duration. */
    double count = fmin(fmax(round(duration / coarsest), 1), CAIRN_TRAJECTORY_SAMPLES);
    return (cairn_sample_times){ start, duration / count, (int)count };
}

void cairn_trajectory_destroy(cairn_trajectory *trajectory)
{
    cairn_memory_free(trajectory->x);
    trajectory->x = NULL;
    trajectory->count = trajectory->capacity = 0;
    trajectory->samples = 0;
}

/* x + ahead v: position of the body of row i, `ahead` seconds after the state (negative: before
 * it). */
static cairn_vec3 place(const cairn_bodies *b, int i, double ahead)
{
    cairn_vec3 x = b->x[i], v = b->v[i];
    return (cairn_vec3){ x.x + ahead * v.x, x.y + ahead * v.y, x.z + ahead * v.z };
}

cairn_status cairn_trajectory_add(cairn_trajectory *t, const cairn_world *world, double time)
{
    cairn_bodies bodies = cairn_world_bodies(world);
    double ahead = time - cairn_world_time(world);
    if (t->samples >= CAIRN_TRAJECTORY_SAMPLES)
        return CAIRN_OK;
    /* One entry for each uid up to the largest one that is in use. Held bodies are left out: their
     * motion is prescribed and the same in all runs. */
    uint64_t most = 0;
    for (int i = bodies.held; i < bodies.count; i++)
        most = bodies.uid[i] < most ? most : bodies.uid[i] + 1;
    TRY(cairn_memory_reserve((void **)&t->x, &t->capacity, t->count + (size_t)most, sizeof *t->x));
    cairn_vec3 *x = t->x + t->count;
    for (uint64_t uid = 0; uid < most; uid++)
        x[uid] = (cairn_vec3){ NAN, 0, 0 };
    for (int i = bodies.held; i < bodies.count; i++)
        x[bodies.uid[i]] = place(&bodies, i, ahead);
    t->count += (size_t)most;
    t->first[++t->samples] = t->count;
    return CAIRN_OK;
}

/* Add one sample of `count` > 0 distances. The root mean square over the whole run
 * weights every body at every time equally:
 *   end_rms = sqrt(sum / count),   whole_rms = sqrt(sum over all samples / count over all samples)
 */
static void conclude(cairn_distance_meter *m, double time, double sum, double greatest, int count)
{
    cairn_run_difference *d = &m->difference;
    m->sum += sum;
    m->count += count;
    m->greatest = fmax(m->greatest, greatest);
    d->samples++;
    d->end_time = time;
    d->end_max = greatest;
    d->end_rms = sqrt(sum / count);
    d->whole_max = m->greatest;
    d->whole_rms = sqrt(m->sum / (double)m->count);
}

void cairn_distance_meter_add(cairn_distance_meter *meter, const cairn_trajectory *reference, int k,
                              const cairn_world *world, double time)
{
    if (k < 0 || k >= reference->samples || reference->first[k + 1] == reference->first[k])
        return;
    cairn_bodies bodies = cairn_world_bodies(world);
    const cairn_vec3 *there = reference->x + reference->first[k];
    /* uids beyond `both` are those of bodies that the reference does not have */
    size_t both = reference->first[k + 1] - reference->first[k];
    double ahead = time - cairn_world_time(world), sum = 0, greatest = 0;
    int count = 0;
    for (int i = bodies.held; i < bodies.count; i++) {
        if (bodies.uid[i] >= both)
            continue;
        cairn_vec3 here = place(&bodies, i, ahead), then = there[bodies.uid[i]];
        double x = here.x - then.x, y = here.y - then.y, z = here.z - then.z;
        double square = x * x + y * y + z * z;
        if (isnan(square)) /* the reference has no dynamic body with this uid */
            continue;
        sum += square;
        greatest = fmax(greatest, sqrt(square));
        count++;
    }
    if (count > 0)
        conclude(meter, time, sum, greatest, count);
}
