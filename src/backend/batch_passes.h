/* batch_passes.h - the passes over batches of contacts that keep their rows, for one type of
 * register. Included at the end of the texts of their kernels, which have
 *
 *     NAME(visit)(job, k, lane, notes)   a group of LANES contacts of batch k has its turn
 *     NAME(bring)(job, k, lane)          its impulses act on the bodies */

enum { NAME(STRETCH) = 32 }; /* batches whose lanes are summed before they are collected */

CAIRN_WIDE void NAME(pass)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    for (int start = begin; start < end; start += NAME(STRETCH)) {
        int stop = start + NAME(STRETCH) < end ? start + NAME(STRETCH) : end;
        NAME(notes) notes = { 0 };
        for (int k = start; k < stop; k++)
            for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
                NAME(visit)(job, k, lane, &notes);
        for (int i = 0; i < CAIRN_BATCH; i++) {
            out->change2 += (double)notes.change2[i / LANES][i % LANES];
            out->uphill += (double)notes.uphill[i / LANES][i % LANES];
        }
    }
}

/* One of the two passes over a range of batches. */
CAIRN_WIDE void NAME(work)(const JOB *job, int begin, int end, cairn_sweep *out)
{
    if (out) {
        NAME(pass)(job, begin, end, out);
        return;
    }
    for (int k = begin; k < end; k++)
        for (int lane = 0; lane < CAIRN_BATCH; lane += LANES)
            NAME(bring)(job, k, lane);
}

#undef WIDE
#undef TARGET
#undef MASK
#undef LANES
#undef NAME
#undef WIDE_
