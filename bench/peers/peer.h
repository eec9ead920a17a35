/* peer.h - what all engines of the comparison share, cairn among them: the scene they read, the
 * loop that steps them and measures CPU time, the frames they write for quality.c. C and C++;
 * peer.py is the same for Python. */
#ifndef CAIRN_BENCH_PEER_H
#define CAIRN_BENCH_PEER_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Balls (2D: disks) at rest over a floor at height 0, perhaps between walls. Up is z, in 2D y. */
typedef struct peer_scene {
    int dimension;    /* 2 or 3                                                               */
    int count;        /* balls                                                                */
    int steps;        /* time steps of the run                                                */
    int frame_every;  /* steps between two frames                                             */
    double side;      /* m: walls at 0 and `side` across gravity; 0: floor alone              */
    double gravity;   /* m/s^2, downwards                                                     */
    double friction;  /* mu between balls and with walls; restitution is 0                    */
    double time_step; /* s                                                                    */
    double *position; /* m: 3 a ball                                                          */
    double *radius;   /* m                                                                    */
    double *mass;     /* kg; inertia is that of a solid ball (disk)                           */
} peer_scene;

/* The scene file: names and values of the numbers above, then x,y,z,radius,mass of each ball.
 * Failures are reported and end the program. */
peer_scene peer_scene_read(const char *path);
void peer_scene_write(const char *path, const peer_scene *scene);
void peer_scene_destroy(peer_scene *scene);
/* Planes n.x >= offset that bound the scene, at most 5; returns their number. */
int peer_scene_planes(const peer_scene *scene, double normal[5][3], double offset[5]);

/* Numbers in a frame for each ball: position, velocity, angular velocity (in any frame). */
enum { PEER_STATE = 9 };

/* An engine keeps its resources until the program ends. */
typedef struct peer_engine {
    const char *name;
    void *(*create)(const peer_scene *scene, const char *setting); /* NULL: unknown setting    */
    void (*step)(void *engine); /* by scene->time_step                                        */
    void (*state)(void *engine, double *out); /* PEER_STATE numbers a ball                    */
} peer_engine;

/* The whole program: NAME SCENE SETTING FRAMES TIMES. A setting that ends in ":4x" (any number)
 * takes steps four times longer than the scene's; the engine gets the part before it. Writes frames
 * (doubles: time, then all states; the start is the first) and appends to TIMES a line
 *     engine,setting,steps,CPU seconds of all steps,CPU seconds of their last quarter */
int peer_main(int argc, char **argv, const peer_engine *engine);

/* ---- quality.c: how good the states of a run are, from positions and velocities alone -------- */

/* Overlaps of all pairs of balls and of balls with planes, shares of the mean radius. */
typedef struct peer_overlaps {
    double largest;  /* share of the mean radius                                              */
    double sum;      /* likewise, over the overlapping pairs                                   */
    double approach; /* (m/s)^2: sum of squared approach speeds over the overlapping pairs      */
    int count;       /* overlapping pairs                                                      */
} peer_overlaps;

/* Of one frame: `state` has PEER_STATE numbers a ball. */
peer_overlaps peer_overlaps_find(const peer_scene *scene, const double *state);
/* Kinetic (with rotation) and potential energy of one frame, J. */
double peer_kinetic(const peer_scene *scene, const double *state);
double peer_potential(const peer_scene *scene, const double *state);

/* Of a run. "Settled": over the frames of its last quarter. */
typedef struct peer_quality {
    double overlap_max;   /* %: largest, settled                                               */
    double overlap_mean;  /* %: mean over overlapping pairs, settled                           */
    double overlap_worst; /* %: largest over all frames                                        */
    double approach;      /* rms approach speed at overlapping pairs in units of g h, settled  */
    double kinetic;       /* M g r: mean, settled                                              */
    double energy_rise;   /* M g r: largest growth of the total energy between frames          */
    double height;        /* m: mean height of the centres in the last frame                   */
    int frames;
} peer_quality;

/* From a file of frames; ends the program when it cannot be read. */
peer_quality peer_quality_of(const peer_scene *scene, const char *frames);

#ifdef __cplusplus
}
#endif

#endif
