/* directory.c - the map from uids to rows. At most half of the places are used, so that a search
 * looks at about two of them on average. */
#include "base/directory.h"

#include "base/memory.h"
#include "base/status.h"

/* The smallest capacity. */
enum { LEAST = 16 };

/* The place of a uid if there were no collisions: upper bits of its product with 2^64 divided by
 * the golden ratio, which spreads consecutive numbers evenly (Fibonacci hashing). */
static size_t own_place(const cairn_directory *d, uint64_t uid)
{
    return (size_t)((uid * 0x9e3779b97f4a7c15u) >> 32) & (d->capacity - 1);
}

/* The place of a uid, or the free place where it would be stored. It ends, since half are free. */
static size_t place_of(const cairn_directory *d, uint64_t uid)
{
    size_t k = own_place(d, uid);
    while (d->places[k].next != 0 && d->places[k].uid != uid)
        k = (k + 1) & (d->capacity - 1);
    return k;
}

cairn_status cairn_directory_reserve(cairn_directory *d, size_t count)
{
    if (2 * count <= d->capacity)
        return CAIRN_OK;
    size_t capacity = LEAST;
    while (capacity < 2 * count)
        capacity *= 2;
    cairn_directory grown = { cairn_memory_zeroed(capacity, sizeof *d->places), capacity,
                              d->count };
    if (!grown.places)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < d->capacity; k++)
        if (d->places[k].next != 0)
            grown.places[place_of(&grown, d->places[k].uid)] = d->places[k];
    cairn_memory_free(d->places);
    *d = grown;
    return CAIRN_OK;
}

void cairn_directory_release(cairn_directory *d)
{
    cairn_memory_free(d->places);
    *d = (cairn_directory){ 0 };
}

void cairn_directory_set(cairn_directory *d, uint64_t uid, int row)
{
    struct cairn_place *place = &d->places[place_of(d, uid)];
    d->count += place->next == 0;
    *place = (struct cairn_place){ uid, row + 1 };
}

/* Close the gap: an entry behind it whose own place is not between the gap and the entry would no
 * longer be found, and moves into the gap, which leaves a new one. Without deletion marks the table
 * never degrades. */
void cairn_directory_remove(cairn_directory *d, uint64_t uid)
{
    size_t mask = d->capacity - 1, gap = place_of(d, uid);
    for (size_t k = (gap + 1) & mask; d->places[k].next != 0; k = (k + 1) & mask) {
        size_t own = own_place(d, d->places[k].uid);
        if (((k - own) & mask) >= ((k - gap) & mask)) {
            d->places[gap] = d->places[k];
            gap = k;
        }
    }
    d->places[gap].next = 0;
    d->count--;
}

int cairn_directory_find(const cairn_directory *d, uint64_t uid)
{
    return d->capacity > 0 ? d->places[place_of(d, uid)].next - 1 : -1;
}
