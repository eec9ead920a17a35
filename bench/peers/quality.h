/* quality.h - how good the states of a run are, from positions and velocities alone. */
#ifndef CAIRN_BENCH_QUALITY_H
#define CAIRN_BENCH_QUALITY_H

#include "peer.h"

/* Overlaps of all pairs of balls and of balls with planes, shares of the mean radius. */
typedef struct peer_overlaps {
    double largest;  /* share of the mean radius                                              */
    double sum;      /* likewise, over the overlapping pairs                                   */
    double approach; /* (m/s)^2: sum of squared approach speeds over the overlapping pairs      */
    int count;       /* overlapping pairs                                                      */
} peer_overlaps;

/* Of one frame: `state` has PEER_STATE numbers a ball. */
peer_overlaps peer_overlaps_find(const peer_scene *scene, const double *state);
/* Kinetic (turning included) and potential energy of one frame, J. */
double peer_kinetic(const peer_scene *scene, const double *state);
double peer_potential(const peer_scene *scene, const double *state);

/* Of a run. "Settled": over the frames of its last quarter. */
typedef struct peer_quality {
    double overlap_max;   /* %: largest, settled                                               */
    double overlap_mean;  /* %: mean over overlapping pairs, settled                           */
    double overlap_worst; /* %: largest over all frames                                        */
    double approach;      /* rms approach speed at overlapping pairs in units of g h, settled  */
    double kinetic;       /* M g r: mean, settled                                              */
    double energy_rise;   /* M g r: most that the total energy grew from one frame to a later  */
    double height;        /* m: mean height of the centres in the last frame                   */
    int frames;
} peer_quality;

/* From a file of frames; ends the program when it cannot be read. */
peer_quality peer_quality_of(const peer_scene *scene, const char *frames);

#endif
