/* batch_unit.h - shared by the units of sweeps over batches: the names of batches, passes and
 * kernels without their number type and, in units for registers, the sums of a pass and operations
 * over all lanes. */
#ifndef CAIRN_BACKEND_HOST_BATCH_UNIT_H
#define CAIRN_BACKEND_HOST_BATCH_UNIT_H

#include <stdbool.h>

#include "backend/host/batch.h"
#include "math/width.h"

#if CAIRN_REAL_BYTES == 4
typedef cairn_batch_f32 ball_batch;
typedef cairn_pass_f32 ball_pass;
typedef cairn_share_f32 ball_share;
typedef cairn_batch_kernels_f32 ball_kernels;
typedef cairn_general_f32 general_batch;
typedef cairn_general_pass_f32 general_pass;
typedef cairn_general_kernels_f32 general_kernels;
typedef cairn_plane_f32 plane_batch;
typedef cairn_plane_pass_f32 plane_pass;
typedef cairn_plane_kernels_f32 plane_kernels;
#else
typedef cairn_batch_f64 ball_batch;
typedef cairn_pass_f64 ball_pass;
typedef cairn_share_f64 ball_share;
typedef cairn_batch_kernels_f64 ball_kernels;
typedef cairn_general_f64 general_batch;
typedef cairn_general_pass_f64 general_pass;
typedef cairn_general_kernels_f64 general_kernels;
typedef cairn_plane_f64 plane_batch;
typedef cairn_plane_pass_f64 plane_pass;
typedef cairn_plane_kernels_f64 plane_kernels;
#endif

static inline const ball_kernels *ball_kernels_of(cairn_width width)
{
#if CAIRN_REAL_BYTES == 4
    return cairn_batch_kernels_f32_of(width);
#else
    return cairn_batch_kernels_f64_of(width);
#endif
}

static inline const general_kernels *general_kernels_of(cairn_width width)
{
#if CAIRN_REAL_BYTES == 4
    return cairn_general_kernels_f32_of(width);
#else
    return cairn_general_kernels_f64_of(width);
#endif
}

static inline const plane_kernels *plane_kernels_of(cairn_width width)
{
#if CAIRN_REAL_BYTES == 4
    return cairn_plane_kernels_f32_of(width);
#else
    return cairn_plane_kernels_f64_of(width);
#endif
}

#ifdef CAIRN_REGISTER_BYTES

#include "math/simd.h"

/* The sums of cairn_sweep, one for each of the CAIRN_BATCH lanes and not for each register: they
 * are then the same for every width. */
typedef struct lane_notes {
    wide change2[CAIRN_BATCH / LANES], uphill[CAIRN_BATCH / LANES];
} lane_notes;

/* Add the lanes to the total, in the order of the lanes and in double. */
CAIRN_WIDE void collect(const lane_notes *notes, cairn_sweep *out)
{
    for (int i = 0; i < CAIRN_BATCH; i++) {
        out->change2 += (double)notes->change2[i / LANES][i % LANES];
        out->uphill += (double)notes->uphill[i / LANES][i % LANES];
    }
}

/* Whether any lane is set. A mask is all ones or all zeros in each lane, so its bytes can be read
 * as 64-bit words, which the compiler turns into a few instructions for any width. */
CAIRN_WIDE bool any(mask lanes)
{
    uint64_t part[sizeof lanes / 8], found = 0;
    memcpy(part, &lanes, sizeof lanes);
    for (size_t i = 0; i < sizeof lanes / 8; i++)
        found |= part[i];
    return found != 0;
}

/* |x| */
CAIRN_WIDE wide magnitude(wide x)
{
    return wide_choose(x < wide_spread(0), -x, x);
}

#endif

#endif
