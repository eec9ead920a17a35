/* batch_passes.h - the passes over batches of contacts that keep their rows. A unit that includes
 * it has a pass_job, and says what happens to LANES contacts of batch k from a lane on: visit and
 * bring. */
#ifndef CAIRN_BACKEND_BATCH_PASSES_H
#define CAIRN_BACKEND_BATCH_PASSES_H

#include "backend/host/batch_lanes.h"

/* They have their turn. */
CAIRN_WIDE void visit(const pass_job *job, int k, int lane, lane_notes *notes);
/* Their impulses act on the bodies. */
CAIRN_WIDE void bring(const pass_job *job, int k, int lane);

enum { STRETCH = 32 }; /* batches whose lanes are summed before they are collected */

/* Each pass works on its own copy of the job: no store to a body can change it, and what it says
 * stays in registers. */

static void sweep(const pass_job *job, int begin, int end, cairn_sweep *out)
{
    const pass_job own = *job;
    for (int start = begin; start < end; start += STRETCH) {
        int stop = start + STRETCH < end ? start + STRETCH : end;
        lane_notes notes = { 0 };
        for (int k = start; k < stop; k++)
            for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
                visit(&own, k, lane, &notes);
        collect(&notes, out);
    }
}

static void add_up(const pass_job *job, int begin, int end)
{
    const pass_job own = *job;
    for (int k = begin; k < end; k++)
        for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
            bring(&own, k, lane);
}

#endif
