/* directory.h - where each body stands: from uids, which never change, to rows, which do. */
#ifndef CAIRN_BASE_DIRECTORY_H
#define CAIRN_BASE_DIRECTORY_H

#include "cairn/base.h"

/* A hash table with open addressing: each uid in the first free place from its own one on. Zero is
 * an empty one. */
typedef struct cairn_directory {
    struct cairn_place {
        uint64_t uid;
        int32_t next; /* row + 1; 0: the place is free */
    } * places;
    size_t capacity; /* a power of two, more than count */
    size_t count;
} cairn_directory;

/* Room for so many bodies. */
cairn_status cairn_directory_reserve(cairn_directory *directory, size_t count);
void cairn_directory_release(cairn_directory *directory);
/* Write down the row of a body; there is room for it. */
void cairn_directory_set(cairn_directory *directory, uint64_t uid, int row);
/* Strike a body out. */
void cairn_directory_remove(cairn_directory *directory, uint64_t uid);
/* Its row; -1: it is not there. */
int cairn_directory_find(const cairn_directory *directory, uint64_t uid);

#endif
