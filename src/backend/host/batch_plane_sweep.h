/* batch_plane_sweep.h - what the units for contacts in 2D have, by their type of number: batches,
 * passes over them, and the kernels of a width. */
#ifndef CAIRN_BACKEND_BATCH_PLANE_SWEEP_H
#define CAIRN_BACKEND_BATCH_PLANE_SWEEP_H

#include "backend/host/batch_plane.h"
#include "math/real.h"

#if CAIRN_REAL_BYTES == 4
typedef cairn_plane_f32 batch_data;
typedef cairn_plane_pass_f32 pass_job;
typedef cairn_plane_kernels_f32 pass_kernels;
#else
typedef cairn_plane_f64 batch_data;
typedef cairn_plane_pass_f64 pass_job;
typedef cairn_plane_kernels_f64 pass_kernels;
#endif

static inline const pass_kernels *kernels_of(cairn_width width)
{
#if CAIRN_REAL_BYTES == 4
    return cairn_plane_kernels_f32_of(width);
#else
    return cairn_plane_kernels_f64_of(width);
#endif
}

#endif
