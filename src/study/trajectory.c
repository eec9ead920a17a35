/* trajectory.c - see trajectory.h.
 *
 * A step moves a body along a straight line. With x+ = x + h v+ the place at a time t within it is
 * x+ - (t+ - t) v+, exactly as the scheme has it. A scheme that moves by the mean of v and v+ is
 * missed by (t+ - t) |v+ - v|/2: of second order, but for the one step in which a body hits. */
#include "io/trajectory.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

cairn_sample_times cairn_sample_times_make(double start, double duration, double coarsest)
{
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

/* Where the body of row i is at a time `ahead` of the state. */
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
    size_t both = reference->first[k + 1] - reference->first[k];
    double ahead = time - cairn_world_time(world), sum = 0, greatest = 0;
    int count = 0;
    for (int i = bodies.held; i < bodies.count; i++) {
        if (bodies.uid[i] >= both)
            continue;
        cairn_vec3 here = place(&bodies, i, ahead), then = there[bodies.uid[i]];
        double x = here.x - then.x, y = here.y - then.y, z = here.z - then.z;
        double square = x * x + y * y + z * z;
        if (isnan(square))
            continue;
        sum += square;
        greatest = fmax(greatest, sqrt(square));
        count++;
    }
    if (count > 0)
        conclude(meter, time, sum, greatest, count);
}
