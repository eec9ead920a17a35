/* columns.c - the lists of cairn/columns.h as tables. */
#include "world/columns.h"

#include <string.h>

#include "world/world.h"

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

void cairn_columns_show(const cairn_column_list *list, const void *store, void *view)
{
    for (int k = 0; k < list->count; k++)
        memcpy((char *)view + list->items[k].shown, (const char *)store + list->place[k],
               sizeof(void *));
}
