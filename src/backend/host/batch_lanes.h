/* batch_lanes.h - what the units of sweeps over batches share: what a pass notices, and questions
 * to all lanes. */
#ifndef CAIRN_BACKEND_BATCH_LANES_H
#define CAIRN_BACKEND_BATCH_LANES_H

#include <stdbool.h>

#include "backend/host/batch.h"
#include "math/simd.h"

/* What a pass notices, lane by lane of a batch: the same sums for every width. */
typedef struct lane_notes {
    wide change2[CAIRN_BATCH / LANES], uphill[CAIRN_BATCH / LANES];
} lane_notes;

/* What lanes have noticed goes to the sum, in the order of the lanes. */
CAIRN_WIDE void collect(const lane_notes *notes, cairn_sweep *out)
{
    for (int i = 0; i < CAIRN_BATCH; i++) {
        out->change2 += (double)notes->change2[i / LANES][i % LANES];
        out->uphill += (double)notes->uphill[i / LANES][i % LANES];
    }
}

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
