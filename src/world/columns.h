/* columns.h - what follows from the lists of cairn/columns.h: memory, views, saved states. */
#ifndef CAIRN_WORLD_COLUMNS_H
#define CAIRN_WORLD_COLUMNS_H

#include "cairn/columns.h"

/* A column in a store, a struct with a pointer of that name. */
#define CAIRN_COLUMN_STORED(name, type, ...) type *name;

/* A list, and where the pointers of its columns are in the store. */
typedef struct cairn_column_list {
    const cairn_column *items;
    const size_t *place;
    int count;
} cairn_column_list;

extern const cairn_column_list cairn_columns_of_bodies, cairn_columns_of_contacts;

/* The rows of column k of a store, and others in their place. */
void *cairn_column_get(const cairn_column_list *list, int k, const void *store);
void cairn_column_set(const cairn_column_list *list, int k, void *store, void *rows);
/* The pointers of a store into a view. */
void cairn_columns_show(const cairn_column_list *list, const void *store, void *view);

#endif
