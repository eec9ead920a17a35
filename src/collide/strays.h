/* strays.h - the pairs of a few zones among many. */
#ifndef CAIRN_COLLIDE_STRAYS_H
#define CAIRN_COLLIDE_STRAYS_H

#include "collide/collide.h"

typedef struct cairn_strays {
    const cairn_zone *zones;
    int count;
    const int32_t *few; /* numbers of the zones whose pairs are wanted */
    int few_count;
    double usual; /* m: mean edge of the zones */
} cairn_strays;

/* Whether the few can be looked for by themselves: bounded, not much larger than usual and not so
 * far out that places cannot be told. */
bool cairn_strays_suit(const cairn_zone *zones, const int32_t *few, int count, double usual);
/* All pairs of one of the few with any zone that it meets, one of the two movable; sorted, each
 * once. The few must suit. */
cairn_status cairn_strays_find(const cairn_strays *strays, cairn_arena *scratch,
                               cairn_pair_list *out);

#endif
