/* directory.h - a map from the uids of bodies, which never change, to their rows, which do. */
#ifndef CAIRN_BASE_DIRECTORY_H
#define CAIRN_BASE_DIRECTORY_H

#include "cairn/base.h"

/* A hash table with open addressing and linear probing: each uid is stored in the first free place
 * from its own place on. Zero is a valid, empty table. */
typedef struct cairn_directory {
    struct cairn_place {
        uint64_t uid;
        int32_t next; /* row + 1; 0: the place is free */
    } * places;
    size_t capacity; /* a power of two, at least 2 count; 0: empty */
    size_t count;
} cairn_directory;

/* Make room for `count` bodies in all. On failure the table stays as it was. */
cairn_status cairn_directory_reserve(cairn_directory *directory, size_t count);
void cairn_directory_release(cairn_directory *directory);
/* Set the row of a body, known or new. The caller has reserved room for it. */
void cairn_directory_set(cairn_directory *directory, uint64_t uid, int row);
/* Remove a body, which must be in the table. */
void cairn_directory_remove(cairn_directory *directory, uint64_t uid);
/* The row of a body; -1: unknown. */
int cairn_directory_find(const cairn_directory *directory, uint64_t uid);

#endif
