/* trajectory.h - where bodies were at given times, and how far another run is from that. */
#ifndef CAIRN_IO_TRAJECTORY_H
#define CAIRN_IO_TRAJECTORY_H

#include "cairn/compare.h"

enum { CAIRN_TRAJECTORY_SAMPLES = 1000 };

/* Times common to all runs: start + k interval, k = 1 .. count. */
typedef struct cairn_sample_times {
    double start, interval; /* s */
    int count;              /* at most CAIRN_TRAJECTORY_SAMPLES */
} cairn_sample_times;

/* One for each of the coarsest time steps in `duration`, within the limit. */
cairn_sample_times cairn_sample_times_make(double start, double duration, double coarsest);

/* Places of the dynamic bodies at the sample times reached so far. Zero is valid: none. */
typedef struct cairn_trajectory {
    cairn_vec3 *x; /* m, by body; x.x is NaN where there is no dynamic body   */
    size_t count, capacity;
    size_t first[CAIRN_TRAJECTORY_SAMPLES + 1]; /* in x, of each sample; then the end */
    int samples;
} cairn_trajectory;

void cairn_trajectory_destroy(cairn_trajectory *trajectory);

/* Add the next sample: the world as it was (or will be) at `time`, taken along straight lines. */
cairn_status cairn_trajectory_add(cairn_trajectory *trajectory, const cairn_world *world,
                                  double time);

/* Distances of a run from a trajectory, summed up sample after sample. Zero is valid. */
typedef struct cairn_distance_meter {
    double sum;      /* m^2 */
    double greatest; /* m   */
    int64_t count;   /* distances */
    cairn_run_difference difference;
} cairn_distance_meter;

/* Compare the world at `time` with sample `k` (from 0); nothing happens when there is none. */
void cairn_distance_meter_add(cairn_distance_meter *meter, const cairn_trajectory *reference, int k,
                              const cairn_world *world, double time);

#endif
