/* zones.h - pairs of colliders, for tests and benchmarks that place colliders. */
#ifndef CAIRN_TEST_ZONES_H
#define CAIRN_TEST_ZONES_H

#include "collide/collide.h"

/* The zones of colliders, in scratch; NULL: no memory. */
static inline cairn_zone *zones_of(const cairn_collider *colliders, int count, cairn_arena *scratch)
{
    cairn_zone *zones = cairn_arena_take(scratch, (size_t)count, sizeof *zones);
    for (int i = 0; zones && i < count; i++)
        zones[i] = cairn_zone_of(&colliders[i]);
    return zones;
}

static inline cairn_status pairs_of(const cairn_broad_phase *broad, const cairn_collider *colliders,
                                    int count, cairn_arena *scratch, cairn_pair_list *out)
{
    const cairn_zone *zones = zones_of(colliders, count, scratch);
    return zones ? cairn_pairs_find(broad, zones, count, scratch, out) : CAIRN_NO_MEMORY;
}

#endif
