/* batch_lanes.h - what the kernels over batches of contacts that keep their rows share, for one
 * type of register: what a pass notices, and questions to all lanes. Included by their texts, with
 * WIDE, MASK, LANES, NAME(name) and WIDE_(name) set. */

/* What a pass notices, lane by lane of a batch: the same sums for every width. */
typedef struct NAME(notes) {
    WIDE change2[CAIRN_BATCH / LANES], uphill[CAIRN_BATCH / LANES];
} NAME(notes);

CAIRN_WIDE bool NAME(any)(MASK mask)
{
    uint64_t part[sizeof mask / 8], found = 0;
    memcpy(part, &mask, sizeof mask);
    for (size_t i = 0; i < sizeof mask / 8; i++)
        found |= part[i];
    return found != 0;
}

CAIRN_WIDE WIDE NAME(size)(WIDE x)
{
    return WIDE_(choose)(x < WIDE_(spread)(0), -x, x);
}
