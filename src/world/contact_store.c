/* contact_store.c - the columns of a list of contacts.
 *
 * A list has memory for what its contacts can need: the columns of laws that no material has are
 * one column of zeros, mu_2 is mu where friction is the same in all directions, and bodies that are
 * not taken apart need no pieces. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/world.h"

enum { SPARE = 8 }; /* a list that grows gets 1/SPARE more than it needs */

/* Whether a column has memory of its own. */
static bool is_own(const cairn_contact_store *c, int k)
{
    return (cairn_columns_of_contacts.items[k].set & ~c->set) == 0;
}

/* Columns without memory of their own. */
static void borrow(cairn_contact_store *c)
{
    if (!(c->set & CAIRN_CONTACTS_AXES))
        c->mu_2 = c->mu;
    if (!(c->set & CAIRN_CONTACTS_BOUNCE))
        c->restitution = c->zeros;
    if (!(c->set & CAIRN_CONTACTS_ADHERE))
        c->adhesion = c->zeros;
    if (!(c->set & CAIRN_CONTACTS_TURN))
        c->mu_rolling = c->mu_spinning = c->moment = c->turning = c->zeros;
}

/* Columns that are borrowed so far and wanted from now on start without memory. */
static void stop_borrowing(cairn_contact_store *c, unsigned set)
{
    unsigned fresh = set & ~c->set;
    if (fresh & CAIRN_CONTACTS_AXES)
        c->mu_2 = NULL;
    if (fresh & CAIRN_CONTACTS_BOUNCE)
        c->restitution = NULL;
    if (fresh & CAIRN_CONTACTS_ADHERE)
        c->adhesion = NULL;
    if (fresh & CAIRN_CONTACTS_TURN)
        c->mu_rolling = c->mu_spinning = c->moment = c->turning = NULL;
    c->set |= set;
}

static cairn_status resize(cairn_contact_store *c, size_t capacity, int dimension)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    size_t each = sizeof *c->zeros;
    double *zeros = cairn_memory_resize(c->zeros, capacity, sizeof *zeros);
    if (!zeros)
        return CAIRN_NO_MEMORY;
    c->zeros = zeros;
    memset(zeros, 0, capacity * sizeof *zeros);
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], dimension);
        if (!is_own(c, k))
            continue;
        void *grown = cairn_memory_resize(cairn_column_get(list, k, c), capacity, size);
        if (!grown)
            return CAIRN_NO_MEMORY;
        cairn_column_set(list, k, c, grown);
        each += size;
    }
    c->capacity = capacity;
    c->bytes = capacity * each;
    return CAIRN_OK;
}

cairn_status cairn_contacts_reserve(cairn_contact_store *c, size_t count, unsigned set,
                                    int dimension)
{
    bool enough = count <= c->capacity, complete = (set & ~c->set) == 0;
    if ((enough && complete) || count == 0)
        return CAIRN_OK;
    stop_borrowing(c, set);
    size_t capacity = enough ? c->capacity : count + count / SPARE;
    c->capacity = 0; /* until all columns are there */
    TRY(resize(c, capacity, dimension));
    borrow(c);
    return CAIRN_OK;
}

void cairn_contacts_release(cairn_contact_store *c)
{
    for (int k = 0; k < cairn_columns_of_contacts.count; k++)
        if (is_own(c, k))
            cairn_memory_free(cairn_column_get(&cairn_columns_of_contacts, k, c));
    cairn_memory_free(c->zeros);
    *c = (cairn_contact_store){ 0 };
}

/* ---- rows ----------------------------------------------------------------------------------- */

bool cairn_contacts_are_sorted(const cairn_contact_store *c)
{
    for (int j = 1; j < c->count; j++)
        if (cairn_contact_key(c, j - 1) > cairn_contact_key(c, j))
            return false;
    return true;
}

/* Row `from` of one list as row `to` of another one. */
static void copy_row(const cairn_contact_store *a, int from, cairn_contact_store *b, int to,
                     int dimension)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], dimension);
        if (is_own(a, k))
            memcpy((char *)cairn_column_get(list, k, b) + (size_t)to * size,
                   (const char *)cairn_column_get(list, k, a) + (size_t)from * size, size);
    }
}

void cairn_contacts_rename(cairn_contact_store *c, const int32_t *named, int dimension)
{
    int kept = 0;
    for (int j = 0; j < c->count; j++) {
        int32_t a = named[c->body[2 * (size_t)j]], b = named[c->body[2 * (size_t)j + 1]];
        if (a < 0 || b < 0)
            continue;
        if (kept < j)
            copy_row(c, j, c, kept, dimension);
        c->body[2 * (size_t)kept] = a;
        c->body[2 * (size_t)kept + 1] = b;
        kept++;
    }
    c->count = kept;
}

/* A stable sort of `count` items by numbers below `limit`; `start` has room for one more. */
static void sort_by(const int32_t *number, int limit, const int32_t *items, int count,
                    int32_t *start, int32_t *out)
{
    memset(start, 0, ((size_t)limit + 1) * sizeof *start);
    for (int j = 0; j < count; j++)
        start[number[j] + 1]++;
    for (int i = 0; i < limit; i++)
        start[i + 1] += start[i];
    for (int j = 0; j < count; j++) {
        int32_t item = items ? items[j] : j;
        out[start[number[item]]++] = item;
    }
}

cairn_status cairn_contacts_sort(const cairn_contact_store *from, int rows, int dimension,
                                 cairn_arena *scratch, cairn_contact_store *to)
{
    int count = from->count;
    size_t n = (size_t)count;
    int32_t *number = cairn_arena_take(scratch, n, sizeof *number);
    int32_t *by_larger = cairn_arena_take(scratch, n, sizeof *by_larger);
    int32_t *sorted = cairn_arena_take(scratch, n, sizeof *sorted);
    int32_t *start = cairn_arena_take(scratch, (size_t)rows + 1, sizeof *start);
    if (!number || !by_larger || !sorted || !start)
        return CAIRN_NO_MEMORY;
    if (to->set & ~from->set) /* what would be left of an earlier list there */
        cairn_contacts_release(to);
    TRY(cairn_contacts_reserve(to, n, from->set, dimension));
    for (int j = 0; j < count; j++)
        number[j] = (int32_t)(cairn_contact_key(from, j) & UINT32_MAX);
    sort_by(number, rows, NULL, count, start, by_larger);
    for (int j = 0; j < count; j++)
        number[j] = (int32_t)(cairn_contact_key(from, j) >> 32);
    sort_by(number, rows, by_larger, count, start, sorted);
    for (int j = 0; j < count; j++)
        copy_row(from, sorted[j], to, j, dimension);
    to->count = count;
    to->moments = from->moments;
    return CAIRN_OK;
}

/* ---- looking -------------------------------------------------------------------------------- */

cairn_contacts cairn_world_contacts(const cairn_world *world)
{
    cairn_world_name_rows((cairn_world *)world);
    const cairn_contact_store *c = &world->contacts;
    cairn_contacts view = { .count = c->count,
                            .dimension = world->dimension,
                            .moments = c->moments };
    cairn_columns_show(&cairn_columns_of_contacts, c, &view);
    return view;
}

cairn_piece cairn_contact_piece(const cairn_contact_store *c, int j, int which)
{
    return c->piece ? c->piece[2 * (size_t)j + (size_t)which] : (cairn_piece){ -1, -1 };
}

/* The witness points are half the gap from their middle. */
cairn_vec3 cairn_contact_arm(const cairn_contact_store *c, const cairn_vec3 *x, int j, int side)
{
    double half = side ? -0.5 * c->gap[j] : 0.5 * c->gap[j];
    cairn_vec3 on = cairn_add_scaled(c->point[j], half, c->normal[j]);
    return cairn_sub(on, x[c->body[2 * (size_t)j + (size_t)side]]);
}
