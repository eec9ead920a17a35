/* sample.h - states for statistics out of a world. */
#ifndef CAIRN_IO_SAMPLE_H
#define CAIRN_IO_SAMPLE_H

#include "measure/measure.h"

/* The world as it stands: arrays are lent by the world or taken from the arena. `time_step` (s)
 * turns impulses into forces; 0: there was no step, so nobody knows the contacts. */
cairn_status cairn_sample_take(const cairn_world *world, double time_step, cairn_arena *arena,
                               cairn_sample *out);

/* Volume (m^3, 2D: m^2) of a shape; 0: it has none that is finite. */
double cairn_sample_volume(const cairn_shape *shape, int dimension);

/* Contacts as files and worlds have them: impulses in the contact frame. */
typedef struct cairn_sample_contacts {
    int count;
    const cairn_vec3 *normal, *tangent;
    const double *impulse; /* N s, `dimension` each */
} cairn_sample_contacts;

/* Forces (N) in the world frame on a; NULL: no memory. */
const cairn_vec3 *cairn_sample_forces(const cairn_sample_contacts *contacts, int dimension,
                                      double time_step, cairn_arena *arena);

#endif
