/* shapes.c - see shapes.h.
 *
 * A shape is looked up by a number that is made from all its fields. Two that share the number by
 * chance get entries under numbers that follow each other; when one of them goes, the other may be
 * entered once more, which costs an entry and changes nothing. */
#include "world/shapes.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* ---- what a shape is ------------------------------------------------------------------------ */

enum { NUMBERS = 20 };

/* All of its fields, without the gaps between them. */
static void write_down(const cairn_shape *s, double out[NUMBERS])
{
    const double numbers[NUMBERS] = {
        (double)s->kind, s->radius, s->half_angle, s->bottom_radius, s->top_radius,
        s->height,       s->length, s->rounding,   s->exponent,      s->exponent_z,
        s->size.x,       s->size.y, s->size.z,     s->semi_axes.x,   s->semi_axes.y,
        s->semi_axes.z,  s->axis.x, s->axis.y,     s->axis.z,        0
    };
    memcpy(out, numbers, sizeof numbers);
    memcpy(&out[NUMBERS - 1], &s->geometry, sizeof s->geometry);
}

static bool are_same(const cairn_shape *a, const cairn_shape *b)
{
    double p[NUMBERS], q[NUMBERS];
    write_down(a, p);
    write_down(b, q);
    return memcmp(p, q, sizeof p) == 0;
}

/* Its bits, mixed by multiplication; no uid ever has the highest one, and no key here. */
static uint64_t key_of(const cairn_shape *s)
{
    double numbers[NUMBERS];
    uint64_t key = 0;
    write_down(s, numbers);
    for (int k = 0; k < NUMBERS; k++) {
        uint64_t bits;
        memcpy(&bits, &numbers[k], sizeof bits);
        key = (key ^ bits ^ bits >> 29) * 0xff51afd7ed558ccdu;
        key ^= key >> 32;
    }
    return key >> 1;
}

/* Where a shape is known: its key, or the first after it that is free. */
static uint64_t find_key(const cairn_shape_table *t, const cairn_shape *shape, int *id)
{
    uint64_t key = key_of(shape);
    while ((*id = cairn_directory_find(&t->known, key)) >= 0 && !are_same(&t->items[*id], shape))
        key++;
    return key;
}

/* ---- the table ------------------------------------------------------------------------------ */

cairn_status cairn_shapes_reserve(cairn_shape_table *t, size_t count)
{
    size_t capacity = t->capacity;
    if (count <= capacity)
        return CAIRN_OK;
    TRY(cairn_memory_reserve((void **)&t->items, &capacity, count, sizeof *t->items));
    capacity = t->capacity;
    TRY(cairn_memory_reserve((void **)&t->users, &capacity, count, sizeof *t->users));
    capacity = t->capacity;
    TRY(cairn_memory_reserve((void **)&t->next_free, &capacity, count, sizeof *t->next_free));
    TRY(cairn_directory_reserve(&t->known, capacity));
    if (t->capacity == 0)
        t->free = -1;
    t->capacity = capacity;
    return CAIRN_OK;
}

void cairn_shapes_release(cairn_shape_table *t)
{
    for (int id = 0; id < t->count; id++) /* free entries have none */
        cairn_geometry_release(t->items[id].geometry);
    cairn_memory_free(t->items);
    cairn_memory_free(t->users);
    cairn_memory_free(t->next_free);
    cairn_directory_release(&t->known);
    *t = (cairn_shape_table){ 0 };
}

int32_t cairn_shapes_use(cairn_shape_table *t, const cairn_shape *shape)
{
    int id;
    uint64_t key = find_key(t, shape, &id);
    if (id < 0) {
        id = t->free >= 0 ? t->free : t->count++;
        if (id == t->free)
            t->free = t->next_free[id];
        t->items[id] = *shape;
        t->users[id] = 0;
        cairn_geometry_retain(shape->geometry);
        cairn_directory_set(&t->known, key, id);
    }
    t->users[id]++;
    return id;
}

static void let_go(cairn_shape_table *t, int id)
{
    cairn_geometry_release(t->items[id].geometry);
    t->items[id] = (cairn_shape){ 0 };
    t->next_free[id] = t->free;
    t->free = id;
}

void cairn_shapes_leave(cairn_shape_table *t, int32_t id)
{
    int known;
    if (--t->users[id] > 0)
        return;
    uint64_t key = find_key(t, &t->items[id], &known);
    if (known == id)
        cairn_directory_remove(&t->known, key);
    let_go(t, id);
}

void cairn_shapes_count(cairn_shape_table *t, const int32_t *ids, int count)
{
    for (int i = 0; i < count; i++)
        t->users[ids[i]]++;
    for (int id = t->count - 1; id >= 0; id--) {
        int known;
        uint64_t key = find_key(t, &t->items[id], &known);
        if (t->users[id] == 0)
            let_go(t, id);
        else if (known < 0)
            cairn_directory_set(&t->known, key, id);
    }
}

size_t cairn_shapes_bytes(const cairn_shape_table *t)
{
    return t->capacity * (sizeof *t->items + 2 * sizeof *t->users) +
           t->known.capacity * sizeof *t->known.places;
}
