/* batch_passes.h - the passes over batches of contacts with stored rows. A unit that includes it
 * defines pass_job and two functions for LANES contacts of batch k, beginning at `lane`: visit and
 * bring. */
#ifndef CAIRN_BACKEND_BATCH_PASSES_H
#define CAIRN_BACKEND_BATCH_PASSES_H

#include "backend/host/batch_unit.h"

/* Solve these contacts, update their bodies, and add to the sums. */
CAIRN_WIDE void visit(const pass_job *job, int k, int lane, lane_notes *notes);
/* Apply their present impulses to the bodies. */
CAIRN_WIDE void bring(const pass_job *job, int k, int lane);

/* Batches after which the sums of the lanes, which may be in float, are added to those in
 * double. */
enum { STRETCH = 32 };

/* Each pass works on a local copy of the job. The compiler then knows that no store to a body can
 * change it, and keeps its fields in registers. */

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
