/* contact_store.c - the columns of a list of contacts, and the tables of all columns.
 *
 * A list has memory only for what its contacts can need. The columns of laws that no material has
 * all point to one column of zeros; mu_2 points to mu if friction is the same in all directions;
 * lists of bodies that are not taken apart have no pieces; and only periodic worlds have images.
 * Readers need not know which columns are borrowed; writers must. */
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "world/store.h"
#include "world/world.h"

enum { SPARE = 8 }; /* a list that grows gets 1/SPARE more memory than it needs */

/* A column has memory of its own if the list has every set that the column belongs to. */
bool cairn_contacts_own(const cairn_contact_store *c, int k)
{
    return (cairn_columns_of_contacts.items[k].set & ~c->set) == 0;
}

/* Point the columns without memory of their own to the zeros, or to mu. */
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

/* Columns that were borrowed and get memory of their own from now on start as NULL: to resize or
 * free the borrowed pointer would destroy another column. */
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

/* All own columns to `capacity` rows. After a failure some columns are larger; the caller has set
 * the capacity to 0, so that they are not used. */
static cairn_status resize(cairn_contact_store *c, size_t capacity, int dimension)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    size_t each = sizeof *c->zeros;
    double *zeros = cairn_memory_resize(c->zeros, capacity, sizeof *zeros);
    if (!zeros)
        return CAIRN_NO_MEMORY;
    c->zeros = zeros;
    /* all of it, not only the new entries: this costs little */
    memset(zeros, 0, capacity * sizeof *zeros);
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], dimension);
        if (!cairn_contacts_own(c, k))
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

/* The set only grows: a column that was needed once is kept, and its memory is reused in later
 * steps. */
cairn_status cairn_contacts_reserve(cairn_contact_store *c, size_t count, unsigned set,
                                    int dimension)
{
    bool enough = count <= c->capacity, complete = (set & ~c->set) == 0;
    if ((enough && complete) || count == 0)
        return CAIRN_OK;
    stop_borrowing(c, set);
    size_t capacity = enough ? c->capacity : count + count / SPARE;
    c->capacity = 0; /* until all columns have been resized */
    TRY(resize(c, capacity, dimension));
    borrow(c);
    return CAIRN_OK;
}

/* Borrowed columns are not freed: their memory is that of the zeros or of mu. */
void cairn_contacts_release(cairn_contact_store *c)
{
    for (int k = 0; k < cairn_columns_of_contacts.count; k++)
        if (cairn_contacts_own(c, k))
            cairn_memory_free(cairn_column_get(&cairn_columns_of_contacts, k, c));
    cairn_memory_free(c->zeros);
    *c = (cairn_contact_store){ 0 };
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* By (smaller row, larger row); contacts of one pair count as sorted in any order. */
bool cairn_contacts_are_sorted(const cairn_contact_store *c)
{
    for (int j = 1; j < c->count; j++)
        if (cairn_contact_key(c, j - 1) > cairn_contact_key(c, j))
            return false;
    return true;
}

/* Copy the columns that list a owns; b must own them as well. */
void cairn_contacts_copy(const cairn_contact_store *a, int from, cairn_contact_store *b, int to,
                         int dimension)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], dimension);
        if (cairn_contacts_own(a, k))
            memcpy((char *)cairn_column_get(list, k, b) + (size_t)to * size,
                   (const char *)cairn_column_get(list, k, a) + (size_t)from * size, size);
    }
}

/* ---- records -------------------------------------------------------------------------------- */

/* Only columns with memory of their own are in a record: the members of a computation have the same
 * materials and so the same columns. */

size_t cairn_contact_bytes(const cairn_contact_store *c, int dimension)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    size_t bytes = 0;
    for (int k = 0; k < list->count; k++)
        bytes += cairn_contacts_own(c, k) ? cairn_column_row(&list->items[k], dimension) : 0;
    return bytes;
}

void cairn_contact_write(const cairn_contact_store *c, int j, int dimension, cairn_writer *out)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], dimension);
        if (cairn_contacts_own(c, k))
            cairn_write_raw(out, (const char *)cairn_column_get(list, k, c) + (size_t)j * size,
                            size);
    }
}

void cairn_contact_append(cairn_contact_store *c, const unsigned char *record, int dimension)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    size_t j = (size_t)c->count++;
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], dimension);
        if (!cairn_contacts_own(c, k))
            continue;
        memcpy((char *)cairn_column_get(list, k, c) + j * size, record, size);
        record += size;
    }
}

/* ---- rows by name --------------------------------------------------------------------------- */

/* In place: rows move only towards the front, so none is overwritten before it is read. */
void cairn_contacts_rename(cairn_contact_store *c, const int32_t *named, int dimension)
{
    int kept = 0;
    for (int j = 0; j < c->count; j++) {
        int32_t a = named[c->body[2 * (size_t)j]], b = named[c->body[2 * (size_t)j + 1]];
        if (a < 0 || b < 0)
            continue;
        if (kept < j)
            cairn_contacts_copy(c, j, c, kept, dimension);
        c->body[2 * (size_t)kept] = a;
        c->body[2 * (size_t)kept + 1] = b;
        kept++;
    }
    c->count = kept;
}

/* A stable counting sort of `count` items by numbers below `limit`, in linear time; `start` has
 * limit + 1 entries. `items` is the order so far; NULL: 0, 1, 2, ... */
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

/* Radix sort: first by the larger row, then, stably, by the smaller one. */
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
    if (to->set & ~from->set) /* columns that `from` lacks would keep values of an earlier list */
        cairn_contacts_release(to);
    TRY(cairn_contacts_reserve(to, n, from->set, dimension));
    for (int j = 0; j < count; j++)
        number[j] = (int32_t)(cairn_contact_key(from, j) & UINT32_MAX);
    sort_by(number, rows, NULL, count, start, by_larger);
    for (int j = 0; j < count; j++)
        number[j] = (int32_t)(cairn_contact_key(from, j) >> 32);
    sort_by(number, rows, by_larger, count, start, sorted);
    for (int j = 0; j < count; j++)
        cairn_contacts_copy(from, sorted[j], to, j, dimension);
    to->count = count;
    to->step = from->step;
    to->moments = from->moments;
    return CAIRN_OK;
}

/* ---- views ---------------------------------------------------------------------------------- */

/* The cast is safe in effect: naming rows changes nothing that a caller can distinguish. */
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

/* -1, -1: the whole body */
cairn_piece cairn_contact_piece(const cairn_contact_store *c, int j, int which)
{
    return c->piece ? c->piece[2 * (size_t)j + (size_t)which] : (cairn_piece){ -1, -1 };
}

/* The stored point is the middle between the two witness points, each half a gap away along n. */
cairn_vec3 cairn_contact_arm(const cairn_contact_store *c, const cairn_vec3 *x, int j, int side)
{
    double half = side ? -0.5 * c->gap[j] : 0.5 * c->gap[j];
    cairn_vec3 on = cairn_add_scaled(c->point[j], half, c->normal[j]);
    cairn_vec3 centre = x[c->body[2 * (size_t)j + (size_t)side]];
    return cairn_sub(on, side && c->shift ? cairn_add(centre, c->shift[j]) : centre);
}

/* ==== the lists of columns ==================================================================== */

/* The lists of cairn/columns.h as tables: one line per column, and the offset of its pointer in the
 * private store. A new column is one line there; memory, saved states and views follow. */

/* clang-format off */
#define BODY_LINE(name, c_type, type, width, unit, goes, range, meaning)                           \
    { #name, unit, meaning, type, width, sizeof(c_type), goes, range, 0,                           \
      offsetof(cairn_bodies, name) },
#define BODY_PLACE(name, ...) offsetof(cairn_body_store, name),
#define CONTACT_LINE(name, c_type, type, width, unit, goes, range, set, meaning)                   \
    { #name, unit, meaning, type, width, sizeof(c_type), goes, range, set,                         \
      offsetof(cairn_contacts, name) },
#define CONTACT_PLACE(name, ...) offsetof(cairn_contact_store, name),

static const cairn_column bodies[] = { CAIRN_BODY_COLUMNS(BODY_LINE) };
static const size_t body_places[] = { CAIRN_BODY_COLUMNS(BODY_PLACE) };
static const cairn_column contacts[] = { CAIRN_CONTACT_COLUMNS(CONTACT_LINE) };
static const size_t contact_places[] = { CAIRN_CONTACT_COLUMNS(CONTACT_PLACE) };
/* clang-format on */

enum { BODIES = sizeof bodies / sizeof bodies[0], CONTACTS = sizeof contacts / sizeof contacts[0] };

const cairn_column_list cairn_columns_of_bodies = { bodies, body_places, BODIES };
const cairn_column_list cairn_columns_of_contacts = { contacts, contact_places, CONTACTS };

const cairn_column *cairn_body_column(int index)
{
    return index >= 0 && index < BODIES ? &bodies[index] : NULL;
}

const cairn_column *cairn_contact_column(int index)
{
    return index >= 0 && index < CONTACTS ? &contacts[index] : NULL;
}

/* Bytes of one row. `turns` is the number of angular components: 1 in 2D, 3 in 3D. */
size_t cairn_column_row(const cairn_column *column, int dimension)
{
    static const size_t number[] = { [CAIRN_COLUMN_BYTE] = 1,
                                     [CAIRN_COLUMN_FLAG] = sizeof(bool),
                                     [CAIRN_COLUMN_INT] = sizeof(int32_t),
                                     [CAIRN_COLUMN_LONG] = sizeof(uint64_t),
                                     [CAIRN_COLUMN_REAL] = sizeof(double) };
    int turns = 2 * dimension - 3;
    int width = column->width == CAIRN_WIDTH_DIMENSION ? dimension
                : column->width == CAIRN_WIDTH_TURNS   ? turns
                                                       : column->width;
    return (size_t)width * number[column->type];
}

/* Pointers of all types are read as void * with memcpy, which strict aliasing allows. */
static void *pointer_at(const void *place)
{
    void *rows;
    memcpy(&rows, place, sizeof rows);
    return rows;
}

const void *cairn_column_rows(const cairn_column *column, const void *view)
{
    return pointer_at((const char *)view + column->shown);
}

void *cairn_column_get(const cairn_column_list *list, int k, const void *store)
{
    return pointer_at((const char *)store + list->place[k]);
}

void cairn_column_set(const cairn_column_list *list, int k, void *store, void *rows)
{
    memcpy((char *)store + list->place[k], &rows, sizeof rows);
}

/* Copy the pointers of a store into a view, which then shows its columns without copying them. */
void cairn_columns_show(const cairn_column_list *list, const void *store, void *view)
{
    for (int k = 0; k < list->count; k++)
        memcpy((char *)view + list->items[k].shown, (const char *)store + list->place[k],
               sizeof(void *));
}
